/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <stdio.h>
#include <time.h>

#include <ibcc/table.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/tune.h"

static void time_text(char *buf, size_t len, json_int_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, len, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, len, "?");
}

static void add_transaction(struct libscols_table *t, const json_t *o)
{
	char id[24], when[32], writes[24], undone[24] = "";
	const char *row[] = { id,
			      when,
			      tune_str(o, "action"),
			      tune_str(o, "outcome"),
			      writes,
			      undone,
			      tune_str(o, "who"),
			      tune_str(o, "via"),
			      tune_str(o, "summary") };

	snprintf(id, sizeof(id), "%lld", tune_int(o, "id"));
	time_text(when, sizeof(when), tune_int(o, "started"));
	snprintf(writes, sizeof(writes), "%lld", tune_int(o, "changes"));
	if (json_is_integer(json_object_get(o, "undone_by")))
		snprintf(undone, sizeof(undone), "%lld", tune_int(o, "undone_by"));
	ibcc_table_add(t, row);
}

static void print_history(const json_t *a)
{
	static const struct ibcc_table_column columns[] = {
		{ "ID", IBCC_RIGHT },     { "WHEN", IBCC_LEFT },    { "ACTION", IBCC_LEFT },
		{ "OUTCOME", IBCC_LEFT }, { "WRITES", IBCC_RIGHT }, { "UNDONE BY", IBCC_RIGHT },
		{ "WHO", IBCC_LEFT },     { "VIA", IBCC_LEFT },     { "SUMMARY", IBCC_WRAP },
	};
	const json_t *list = json_object_get(a, "transactions"), *o;
	const json_t *one = json_object_get(a, "transaction");
	struct libscols_table *t = ibcc_table_new(columns, 9, stdout);
	size_t i;

	json_array_foreach (list, i, o)
		add_transaction(t, o);
	if (one)
		add_transaction(t, one);
	else if (!json_array_size(list))
		printf("Nothing was changed yet.\n");
	ibcc_table_print_under(t, "Transactions");
	if (one) {
		if (tune_str(one, "detail")[0])
			printf("\n%s\n", tune_str(one, "detail"));
		tune_print_changes(json_object_get(one, "change_list"), "Changes");
	}
}

int tune_history(struct tune *t)
{
	uint64_t id = 0;

	if (t->n_args && !tune_number(t->args[0], 1, INT64_MAX, "history", &id))
		return TUNE_ERROR;
	return tune_do_and_print(t, "history",
				 json_pack("{sI si}", "id", (json_int_t)id, "limit", (int)t->limit),
				 print_history);
}
