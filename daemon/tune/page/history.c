/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What was changed, and what was measured meanwhile. */
#include <time.h>

#include <ibcc/page.h>

#include "daemon/tune/page/page.h"
#include "daemon/tune/tune.h"

static void time_text(char *buf, size_t len, json_int_t seconds)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, len, "%Y-%m-%d %H:%M:%S", &tm))
		snprintf(buf, len, "?");
}

static void write_transactions(FILE *out, const json_t *list)
{
	static const char *const columns[] = { ">ID",     "When",       "Action", "Outcome",
					       ">Writes", ">Undone by", "Who",    "~Summary" };
	struct ibcc_page_table t;
	const json_t *o;
	size_t i;

	ibcc_page_table_begin(&t, out, columns, sizeof(columns) / sizeof(columns[0]));
	json_array_foreach (list, i, o) {
		char text[40];

		snprintf(text, sizeof(text), "%lld", tune_int(o, "id"));
		ibcc_page_cell(&t, text);
		time_text(text, sizeof(text), tune_int(o, "started"));
		ibcc_page_cell(&t, text);
		ibcc_page_cell(&t, tune_str(o, "action"));
		ibcc_page_cell(&t, tune_str(o, "outcome"));
		snprintf(text, sizeof(text), "%lld", tune_int(o, "changes"));
		ibcc_page_cell(&t, text);
		snprintf(text, sizeof(text), "%lld", tune_int(o, "undone_by"));
		ibcc_page_cell(&t, tune_int(o, "undone_by") ? text : "");
		ibcc_page_cell(&t, tune_str(o, "who"));
		ibcc_page_cell(&t, tune_str(o, "summary"));
	}
	ibcc_page_table_end(&t);
}

void tune_page_history(FILE *out, const json_t *report)
{
	const json_t *list = json_object_get(report, "history");

	if (!json_is_array(list))
		return;
	ibcc_page_heading(out, "What was changed");
	if (json_array_size(list))
		write_transactions(out, list);
	else
		ibcc_page_paragraph(out, "Nothing yet.");
}
