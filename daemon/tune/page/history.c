/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What was changed, and its effect. */
#include <ibcc/page.h>

#include "daemon/tune/history.h"
#include "daemon/tune/look.h"
#include "daemon/tune/page/page.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/senders.h"
#include "daemon/tune/tune.h"

/* "3 -> 0" for before and after; a question mark stands for a value that is not measured yet. */
static void write_effect(struct ibcc_page_table *t, const json_t *effect, const char *key,
			 bool is_rate)
{
	static const char *const parts[] = { "before", "after" };
	char value[2][32] = { "?", "?" }, text[80];

	for (size_t i = 0; i < 2; i++) {
		const json_t *sample = json_object_get(effect, parts[i]);

		if (!json_is_object(sample))
			continue;
		if (is_rate)
			tune_rate((double)tune_int(sample, key), value[i], sizeof(value[i]));
		else
			snprintf(value[i], sizeof(value[i]), "%lld", tune_int(sample, key));
	}
	snprintf(text, sizeof(text), "%s \u2192 %s", value[0], value[1]);
	ibcc_page_cell(t, json_is_object(json_object_get(effect, "before")) ? text : "");
}

static void write_transaction(struct ibcc_page_table *t, const json_t *o)
{
	const json_t *effect = json_object_get(o, "effect");
	char text[40], words[TUNE_SENTENCE_BYTES];

	snprintf(text, sizeof(text), "%lld", tune_int(o, "id"));
	ibcc_page_cell(t, text);
	ibcc_page_cell(t, tune_minute_text(tune_int(o, "started"), text, sizeof(text)));
	ibcc_page_cell(t, tune_str(o, "action"));
	if (tune_int(o, "undone_by"))
		snprintf(words, sizeof(words), "%.200s, undone by %lld", tune_str(o, "outcome"),
			 tune_int(o, "undone_by"));
	ibcc_page_cell(t, tune_int(o, "undone_by") ? words : tune_str(o, "outcome"));
	snprintf(text, sizeof(text), "%lld", tune_int(o, "changes"));
	ibcc_page_cell(t, text);
	write_effect(t, effect, "roots", false);
	write_effect(t, effect, "total_mbps", true);
	write_effect(t, effect, "victim_mbps", true);
	ibcc_page_cell(t, tune_best_gain(json_object_get(effect, "senders"), words, sizeof(words)));
	ibcc_page_cell(t, tune_who_text(o, words, sizeof(words)));
	ibcc_page_cell(t, tune_rates_in(tune_str(o, "summary"), words, sizeof(words)));
}

static void write_transactions(FILE *out, const json_t *list)
{
	static const char *const columns[] = { ">ID",      "When",   "Action",    "Outcome",
					       ">Changes", ">Roots", ">All send", ">Victims send",
					       "Gain",     "Who",    "~Summary" };
	struct ibcc_page_table t;
	const json_t *o;
	size_t i;

	ibcc_page_table_begin(&t, out, columns, sizeof(columns) / sizeof(columns[0]));
	json_array_foreach (list, i, o)
		write_transaction(&t, o);
	ibcc_page_table_end(&t);
}

static int write_plots(const struct ibcc_plot *plot, size_t n, FILE *out)
{
	ibcc_page_heading(out, "The last 24 hours");
	ibcc_page_plots(out, plot, n);
	return 0;
}

void tune_page_history(FILE *out, const json_t *report)
{
	const json_t *list = json_object_get(report, "history");

	/* There may be no measurements. */
	tune_history_draw(json_object_get(report, "series"), list, write_plots, out);
	if (!json_is_array(list))
		return;
	ibcc_page_heading(out, "What was changed");
	if (json_array_size(list))
		write_transactions(out, list);
	else
		ibcc_page_paragraph(out, "Nothing yet.");
}
