/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ooo-check: shows how many packets out of order the adapters of this host have counted. It only
 * reads files of the kernel and sends no MAD. A counter that an adapter does not have is unknown,
 * which is not zero.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>

#include "daemon/tune/prose.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

#define CLASS "sys/class/infiniband"

/* In hw_counters of a port, as the kernel's drivers name them (mlx5: "out_of_sequence" and others
 * since Linux 4.8). There is no counter of the specification for this.
 */
static const char *const counters[] = { "out_of_sequence", "packet_seq_err", "implied_nak_seq_err",
					"duplicate_request" };
#define N_COUNTERS (sizeof(counters) / sizeof(*counters))

static int is_name(const struct dirent *d)
{
	return d->d_name[0] != '.';
}

/* A number from a file; null if the file is missing, cannot be read, or has something else in it.
 */
static json_t *read_counter(const char *folder, const char *name)
{
	char path[PATH_MAX], text[32];
	unsigned long long v;
	bool got;
	char *end;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return json_null();
	f = fopen(path, "re");
	if (!f)
		return json_null();
	got = fgets(text, sizeof(text), f);
	fclose(f);
	if (!got || !isdigit((unsigned char)text[0]))
		return json_null();
	errno = 0;
	v = strtoull(text, &end, 10);
	if (errno || v > INT64_MAX || (*end && *end != '\n'))
		return json_null();
	return json_integer((json_int_t)v);
}

/* The counters of a port, and the share of its received packets that came out of order. */
static json_t *read_port(const char *folder, const char *device, const char *port)
{
	char sub[PATH_MAX];
	json_t *o = json_object(), *late, *all;

	json_object_set_new(o, "device", json_string(device));
	json_object_set_new(o, "port", json_integer(atoi(port)));
	if (snprintf(sub, sizeof(sub), "%s/counters", folder) >= (int)sizeof(sub))
		return json_decref(o), NULL;
	json_object_set_new(o, "received_packets", read_counter(sub, "port_rcv_packets"));
	if (snprintf(sub, sizeof(sub), "%s/hw_counters", folder) >= (int)sizeof(sub))
		return json_decref(o), NULL;
	for (size_t i = 0; i < N_COUNTERS; i++)
		json_object_set_new(o, counters[i], read_counter(sub, counters[i]));
	late = json_object_get(o, counters[0]);
	all = json_object_get(o, "received_packets");
	json_object_set_new(o, "out_of_sequence_share",
			    json_is_integer(late) && json_is_integer(all) && json_integer_value(all)
				    ? json_real((double)json_integer_value(late) /
						(double)json_integer_value(all))
				    : json_null());
	return o;
}

static int read_device(const char *folder, char *device, json_t *ports)
{
	char sub[PATH_MAX], path[PATH_MAX];
	struct dirent **d = NULL;
	int n;

	if (snprintf(sub, sizeof(sub), "%s/%s/ports", folder, device) >= (int)sizeof(sub))
		return -ENAMETOOLONG;
	n = scandir(sub, &d, is_name, versionsort);
	if (n < 0)
		return -errno;
	ibcc_clean(device, "");
	for (int i = 0; i < n; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", sub, d[i]->d_name) < (int)sizeof(path))
			json_array_append_new(ports, read_port(path, device, d[i]->d_name));
		free(d[i]);
	}
	free(d);
	return 0;
}

static const char *cell(const json_t *v, char *buf, size_t len)
{
	if (json_is_integer(v))
		snprintf(buf, len, "%" JSON_INTEGER_FORMAT, json_integer_value(v));
	else if (json_is_real(v))
		snprintf(buf, len, "%.3g", 1e6 * json_real_value(v));
	else
		snprintf(buf, len, "unknown");
	return buf;
}

static int print(json_t *ports)
{
	static const struct tune_column columns[] = {
		{ "PORT", IBCC_LEFT, "adapter and port of this host" },
		{ "RECEIVED", IBCC_RIGHT, "packets that the port received (port_rcv_packets)" },
		{ "OUT OF ORDER", IBCC_RIGHT,
		  "packets that overtook an earlier one (out_of_sequence)" },
		{ "PER MILLION", IBCC_RIGHT, "out-of-order packets in a million received ones" },
		{ "SEQUENCE ERRORS", IBCC_RIGHT,
		  "requests of this host that the other end received out of order "
		  "(packet_seq_err)" },
		{ "IMPLIED NAKS", IBCC_RIGHT,
		  "requests whose answer was lost, as a later answer shows "
		  "(implied_nak_seq_err)" },
		{ "DUPLICATE REQUESTS", IBCC_RIGHT,
		  "requests that arrived again (duplicate_request)" },
	};
	static const char *const keys[] = { "received_packets",      "out_of_sequence",
					    "out_of_sequence_share", "packet_seq_err",
					    "implied_nak_seq_err",   "duplicate_request" };
	struct libscols_table *t = tune_table_new(columns, 7);
	const json_t *p;
	size_t i;

	json_array_foreach (ports, i, p) {
		char buf[7][80];
		const char *row[7] = { buf[0] };

		snprintf(buf[0], sizeof(buf[0]), "%.60s/%d", tune_str(p, "device"),
			 (int)tune_int(p, "port"));
		for (size_t k = 0; k < 6; k++)
			row[k + 1] = cell(json_object_get(p, keys[k]), buf[k + 1], 80);
		tune_table_add(t, row, 0, TUNE_PLAIN);
	}
	if (!t)
		return tune_fail("no memory");
	tune_table_print_under(t, "Packets since the counters were reset");
	putchar('\n');
	tune_say("", "\"unknown\": the adapter or its driver does not count it.");
	return fflush(stdout) ? TUNE_ERROR : TUNE_OK;
}

int tune_ooo_check(struct tune *t)
{
	char folder[PATH_MAX - 8];
	json_t *ports = json_array(), *all;
	struct dirent **d = NULL;
	int n, rc;

	snprintf(folder, sizeof(folder), "%s/" CLASS, t->sysfs ? t->sysfs : "");
	n = scandir(folder, &d, is_name, versionsort);
	for (int i = 0; i < n; i++) {
		rc = read_device(folder, d[i]->d_name, ports);
		if (rc)
			tune_fail("%s/%s: its ports cannot be read: %s", folder, d[i]->d_name,
				  strerror(-rc));
		free(d[i]);
	}
	free(d);
	all = json_pack("{si so}", "schema", 1, "ports", ports);
	if (!json_array_size(ports))
		rc = tune_fail("%s: found no InfiniBand adapter with a port on this host", folder);
	else
		rc = t->json ? tune_print_json(all) : print(ports);
	json_decref(all);
	return rc;
}
