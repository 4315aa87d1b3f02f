/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the inventory as a table, and stores it as a record in a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/text.h>

#include "daemon/tune/prose.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

#define CELL         256
#define NVIDIA       7 /* of the properties below */
#define N_PROPERTIES 11
/* Columns in front of the properties. */
#define FIRST_PROPERTY 4

/* Values of a property: "yes", or "off (3); on (5)" if devices differ. A rate is that of a port, of
 * which a device has several: "4000.0 (190 ports)".
 */
static const char *values(char *cell, const json_t *type, const char *property, json_int_t all)
{
	bool of_ports = !strcmp(property, "link_mbps");
	json_t *o = json_object_get(type, property), *n;
	const char *value;
	size_t len = 0;

	cell[0] = '\0';
	json_object_foreach (o, value, n) {
		const char *text = value;
		char rate[32], number[40] = "";
		json_int_t of = json_integer_value(n);

		if (len >= CELL)
			break;
		if (of_ports) {
			text = tune_rate(strtod(value, NULL), rate, sizeof(rate));
			snprintf(number, sizeof(number), " (%lld port%s)", (long long)of,
				 ibcc_text_plural(of, "", "s"));
		} else if (of != all) {
			snprintf(number, sizeof(number), " (%lld)", (long long)of);
		}
		len += (size_t)snprintf(cell + len, CELL - len, "%s%s%s", len ? "; " : "", text,
					number);
	}
	return cell;
}

static void add_type(struct libscols_table *t, const json_t *type)
{
	static const char *const properties[] = { "annex_a10",  "table_entries", "port_block",
						  "attributes", "counters",      "tick",
						  "link_mbps",  "nvidia_cc",     "adaptive_routing",
						  "cc_key",     "firmware" };
	json_int_t count = tune_int(type, "count");
	char device[96], number[24], documented[CELL], cell[N_PROPERTIES][CELL], algorithm[CELL];
	size_t len;
	const char *row[FIRST_PROPERTY + N_PROPERTIES] = { device, tune_str(type, "type"), number,
							   documented };

	snprintf(device, sizeof(device), "%s%s%s/%s", tune_str(type, "name"),
		 tune_str(type, "name")[0] ? " " : "", tune_str(type, "vendor_id"),
		 tune_str(type, "device_id"));
	snprintf(number, sizeof(number), "%lld", (long long)count);
	snprintf(documented, sizeof(documented), "%s: %s", tune_str(type, "mechanism"),
		 tune_str(type, "action"));
	for (size_t i = 0; i < N_PROPERTIES; i++)
		row[FIRST_PROPERTY + i] = values(cell[i], type, properties[i], count);
	len = strlen(cell[NVIDIA]);
	if (values(algorithm, type, "nvidia_algorithm", count)[0])
		snprintf(cell[NVIDIA] + len, CELL - len, ", %s", algorithm);
	tune_table_add(t, row, 0, TUNE_PLAIN);
}

static void print_types(const json_t *a)
{
	const struct tune_column columns[] = {
		{ "DEVICE", IBCC_LEFT, "vendor and device identifiers" },
		{ "TYPE", IBCC_LEFT, "switch or channel adapter" },
		{ "COUNT", IBCC_RIGHT, "devices of this type" },
		{ "DOCUMENTED", IBCC_WRAP,
		  "congestion control of this generation, and what ibcc-tune does there" },
		{ "ANNEX A10", IBCC_LEFT,
		  "whether the device supports congestion control as ibcc-tune sets it" },
		{ "TABLE", IBCC_LEFT, "entries of the congestion control table" },
		{ "BLOCK", IBCC_LEFT, "ports in one block of SwitchPortCongestionSetting" },
		{ "ATTRIBUTES", IBCC_WRAP, "attributes that the device answers" },
		{ "COUNTERS", IBCC_WRAP, "counters that the device has" },
		{ "TICK", IBCC_LEFT, "unit of PortXmitWait" },
		{ tune_rate_unit(), IBCC_LEFT, "data rate of the links" },
		{ "NVIDIA CC", IBCC_LEFT, "NVIDIA's own congestion control" },
		{ "AR", IBCC_LEFT, "adaptive routing" },
		{ "CC_KEY", IBCC_LEFT, "key that the device wants for congestion control" },
		{ "FIRMWARE", IBCC_LEFT, "version of the firmware" },
	};
	struct libscols_table *t = tune_table_new(columns, FIRST_PROPERTY + N_PROPERTIES);
	const json_t *o;
	size_t i;

	json_array_foreach (json_object_get(a, "types"), i, o)
		add_type(t, o);
	tune_table_print_under(t, "Device types");
	for (i = 0; i < 2 && !tune_table_is_csv(); i++) {
		const char *text = tune_str(a, i ? "routing" : "nvidia");

		if (text[0]) {
			putchar('\n');
			tune_say("", "%s.", text);
		}
	}
}

/* Does not overwrite a file, which may be the user's. */
static int save(const char *file, const json_t *record)
{
	FILE *f = fopen(file, "wxe");
	int rc;

	if (!f)
		return tune_fail("%s: %s", file, strerror(errno));
	rc = json_dumpf(record, f, JSON_INDENT(2)) || fputc('\n', f) == EOF;
	if (fclose(f) || rc)
		return tune_fail("%s: cannot be written", file);
	return TUNE_OK;
}

int tune_probe(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int rc = tune_do(t, "probe", NULL, &a, &why), code = TUNE_OK;

	/* Print the rest even if the discovery has missed nodes. A record would not show that they
	 * are missing.
	 */
	if (a && !rc && t->save)
		code = save(t->save, a);
	if (a && code == TUNE_OK && t->json)
		code = tune_print_json(a);
	else if (a && code == TUNE_OK)
		print_types(a);
	json_decref(a);
	return rc ? tune_fail("%s", why.text) : code;
}
