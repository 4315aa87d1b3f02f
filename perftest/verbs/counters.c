/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/counters.h"

#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

/* Each counts how often a sender of reliable connections started again: it heard nothing, heard of
 * a gap, or heard of a receiver that is not ready. The names are those of the drivers mlx5_ib and
 * rdma_rxe.
 */
static const char *const retries[] = { "local_ack_timeout_err", "packet_seq_err",
				       "implied_nak_seq_err",   "rnr_nak_retry_err",
				       "completer_retry_err",   "rcvd_rnr_err" };
#define N_RETRIES (sizeof(retries) / sizeof(*retries))

static bool is_retry(const char *name)
{
	for (size_t i = 0; i < N_RETRIES; i++)
		if (!strcmp(name, retries[i]))
			return true;
	return false;
}

/* Reads a number from a file; false if it holds none, such as "N/A (no PMA)". */
static int read_number(const char *folder, const char *name, uint64_t *v)
{
	char path[PATH_MAX];
	FILE *f;
	int ok;

	if (snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return 0;
	f = fopen(path, "re");
	ok = f && fscanf(f, "%" SCNu64, v) == 1;
	if (f)
		fclose(f);
	return ok;
}

static void read_folder(json_t *o, const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *d;
	uint64_t v;

	/* lifespan is how long the driver keeps what it has read, no counter. */
	/* cppcheck-suppress readdirCalled ; of glibc it is, for a stream of its own */
	while (dir && (d = readdir(dir)))
		if (d->d_name[0] != '.' && strcmp(d->d_name, "lifespan") &&
		    read_number(folder, d->d_name, &v))
			json_object_set_new(o, d->d_name, json_integer((json_int_t)v));
	if (dir)
		closedir(dir);
}

json_t *ibcc_perf_counters(const char *sysfs, const char *device, unsigned int port)
{
	static const char *const kinds[] = { "counters", "hw_counters" };
	json_t *o = json_object();
	char folder[PATH_MAX];

	for (int i = 0; o && i < 2; i++) {
		int n = snprintf(folder, sizeof(folder), "%s/class/infiniband/%s/ports/%u/%s",
				 sysfs, device, port, kinds[i]);

		if (n < (int)sizeof(folder))
			read_folder(o, folder);
	}
	return o;
}

json_t *ibcc_perf_counters_since(const json_t *before, const json_t *after)
{
	json_t *o = before && after ? json_object() : NULL, *value;
	const char *key;

	if (!o)
		return NULL;
	json_object_foreach ((json_t *)after, key, value) {
		const json_t *was = json_object_get(before, key);
		json_int_t d = json_integer_value(value) - json_integer_value(was);

		if (was && (d || is_retry(key)))
			json_object_set_new(o, key, json_integer(d));
	}
	return o;
}

json_int_t ibcc_perf_counters_retries(const json_t *since)
{
	json_int_t sum = -1;

	for (size_t i = 0; i < N_RETRIES; i++) {
		const json_t *v = json_object_get(since, retries[i]);

		if (v)
			sum = (sum < 0 ? 0 : sum) + json_integer_value(v);
	}
	return sum;
}
