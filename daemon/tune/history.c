/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The command history: transactions with the measurements before and after each. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <ibcc/text.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/history.h"
#include "daemon/tune/prediction.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/senders.h"
#include "daemon/tune/table.h"

const char *tune_minute_text(json_int_t seconds, char *buf, size_t len)
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!localtime_r(&t, &tm) || !strftime(buf, len, "%Y-%m-%d %H:%M", &tm))
		snprintf(buf, len, "?");
	return buf;
}

const char *tune_who_text(const json_t *transaction, char *buf, size_t len)
{
	const char *who = tune_str(transaction, "who");

	snprintf(buf, len, "%.*s", (int)strcspn(who, " "), who);
	return buf;
}

enum measure { COUNT, PERMILLE, MBPS };

/* The measurement as text, in whole MB/s. */
static const char *measured(const json_t *o, const char *key, enum measure what, char *buf,
			    size_t len)
{
	switch (what) {
	case COUNT: snprintf(buf, len, "%lld", tune_int(o, key)); break;
	case PERMILLE: snprintf(buf, len, "%.1f", (double)tune_int(o, key) / 10); break;
	case MBPS:
		tune_rate((double)tune_int(o, key), buf, len);
		if (!strcmp(tune_rate_unit(), "MB/s"))
			buf[strcspn(buf, ".")] = '\0';
		break;
	}
	return buf;
}

/* "1 -> 0"; a question mark stands for a value that is not measured yet. */
static void change_text(const json_t *effect, const char *key, enum measure what, char *buf,
			size_t len)
{
	const json_t *b = json_object_get(effect, "before"), *a = json_object_get(effect, "after");
	char before[IBCC_CELL_BYTES], after[IBCC_CELL_BYTES] = "?";

	buf[0] = '\0';
	if (!json_is_object(b))
		return;
	measured(b, key, what, before, sizeof(before));
	if (json_is_object(a))
		measured(a, key, what, after, sizeof(after));
	snprintf(buf, len, "%s -> %s", before, after);
}

static void print_effect(const json_t *effect)
{
	static const struct {
		const char *key, *name;
		enum measure what;
	} line[] = {
		{ "roots", "Roots", COUNT },
		{ "victims", "Victims", COUNT },
		{ "waiting", "Blocked adapters", COUNT },
		{ "wait_permille", "Longest blocked time, %", PERMILLE },
		{ "total_mbps", "All adapters send", MBPS },
		{ "victim_mbps", "Victims send", MBPS },
	};
	static const struct tune_column columns[] = {
		{ "MEASURED", IBCC_LEFT, "what the daemon measured" },
		{ "BEFORE", IBCC_RIGHT, "before the first change" },
		{ "AFTER", IBCC_RIGHT, "after the last change" },
	};
	const json_t *b = json_object_get(effect, "before"), *a = json_object_get(effect, "after");
	struct libscols_table *t;
	char heading[64], name[64], before[IBCC_CELL_BYTES], after[IBCC_CELL_BYTES] = "";
	const char *row[] = { name, before, after };

	if (!json_is_object(b))
		return;
	t = tune_table_new(columns, 3);
	for (size_t i = 0; i < sizeof(line) / sizeof(line[0]); i++) {
		snprintf(name, sizeof(name), "%s%s%s", line[i].name,
			 line[i].what == MBPS ? ", " : "",
			 line[i].what == MBPS ? tune_rate_unit() : "");
		measured(b, line[i].key, line[i].what, before, sizeof(before));
		if (json_is_object(a))
			measured(a, line[i].key, line[i].what, after, sizeof(after));
		ibcc_table_add(t, row);
	}
	if (json_is_object(a))
		snprintf(heading, sizeof(heading), "Effect, %lld polling cycle%s later",
			 tune_int(effect, "passes"),
			 ibcc_text_plural(tune_int(effect, "passes"), "", "s"));
	else if (tune_str(effect, "unmeasured")[0])
		snprintf(heading, sizeof(heading), "Effect, not measured");
	else
		snprintf(heading, sizeof(heading), "Effect, not measured yet");
	tune_table_print_under(t, heading);
	if (tune_str(effect, "unmeasured")[0])
		tune_say("", "The effect was not measured: %s.", tune_str(effect, "unmeasured"));
}

/* The outcome, with the result of a trial and the transaction that reverted it. "done" goes without
 * saying for what was undone or tried: the table has to fit 80 columns.
 */
static void outcome_text(const json_t *o, char *buf, size_t len)
{
	const char *trial = tune_str(json_object_get(o, "trial"), "outcome");
	const char *outcome = tune_str(o, "outcome");
	char later[40] = "", owed[40] = "";
	json_int_t nodes = tune_int(o, "owed");

	if (json_is_integer(json_object_get(o, "undone_by")))
		snprintf(later, sizeof(later), "undone by %lld", tune_int(o, "undone_by"));
	else if (!strcmp(trial, "pending"))
		snprintf(later, sizeof(later), "on trial");
	else if (trial[0])
		snprintf(later, sizeof(later), "%.24s", trial);
	if (later[0] && !strcmp(outcome, "done"))
		outcome = "";
	if (nodes)
		snprintf(owed, sizeof(owed), ", %lld node%s owed", nodes,
			 ibcc_text_plural(nodes, "", "s"));
	snprintf(buf, len, "%s%s%s%s", outcome, *outcome && later[0] ? ", " : "", later, owed);
}

static void add_transaction(struct libscols_table *t, const json_t *o)
{
	const json_t *effect = json_object_get(o, "effect");
	char id[24], when[32], changes[24], outcome[96], roots[64], total[64], gain[32], by[64];
	char summary[TUNE_SENTENCE_BYTES];
	const char *row[] = { id,
			      tune_minute_text(tune_int(o, "started"), when, sizeof(when)),
			      tune_str(o, "action"),
			      outcome,
			      changes,
			      roots,
			      total,
			      gain,
			      tune_who_text(o, by, sizeof(by)),
			      tune_rates_in(tune_str(o, "summary"), summary, sizeof(summary)) };

	snprintf(id, sizeof(id), "%lld", tune_int(o, "id"));
	outcome_text(o, outcome, sizeof(outcome));
	change_text(effect, "roots", COUNT, roots, sizeof(roots));
	change_text(effect, "total_mbps", MBPS, total, sizeof(total));
	tune_best_factor(json_object_get(effect, "senders"), gain, sizeof(gain));
	snprintf(changes, sizeof(changes), "%lld", tune_int(o, "changes"));
	ibcc_table_add(t, row);
}

static void print_one(const json_t *o)
{
	putchar('\n');
	tune_say("", "By %s via %s: %s", tune_str(o, "who"), tune_str(o, "via"),
		 tune_str(o, "summary"));
	if (tune_str(o, "detail")[0]) {
		putchar('\n');
		tune_say("", "%s", tune_str(o, "detail"));
	}
	print_effect(json_object_get(o, "effect"));
	tune_print_senders(json_object_get(json_object_get(o, "effect"), "senders"));
	if (json_is_object(json_object_get(o, "prediction")))
		tune_print_prediction(json_object_get(o, "prediction"), "plan");
	tune_print_changes(json_object_get(o, "change_list"), "Changes");
}

static void print_history(const json_t *a)
{
	const struct tune_column columns[] = {
		{ "ID", IBCC_RIGHT, "number of the transaction, for history ID" },
		{ "WHEN", IBCC_LEFT, "local time at which it began" },
		{ "ACTION", IBCC_LEFT,
		  "what asked for it: tune (the daemon itself), apply, rollback, disable" },
		{ "OUTCOME", IBCC_WRAP, "done, or what prevented it; what became of it later" },
		{ "CHANGES", IBCC_RIGHT, "number of changes" },
		{ "ROOTS", IBCC_RIGHT, "congestion roots before and after" },
		{ tune_rate_unit(), IBCC_RIGHT, "what all adapters send, before and after" },
		{ "GAIN", IBCC_RIGHT,
		  "how many times as much the blocked sender sends that gained most" },
		{ "WHO", IBCC_WRAP, "program or user" },
		{ "SUMMARY", IBCC_SPARE, "decision in a sentence" },
	};
	const json_t *list = json_object_get(a, "transactions"), *o;
	const json_t *one = json_object_get(a, "transaction");
	struct libscols_table *t = tune_table_new(columns, one ? 9 : 10);
	size_t i;

	json_array_foreach (list, i, o)
		add_transaction(t, o);
	if (one)
		add_transaction(t, one);
	else if (!json_array_size(list))
		printf("Nothing was changed yet.\n");
	tune_table_print_under(t, "Transactions");
	if (one)
		print_one(one);
	else if (json_array_size(list))
		printf("\nibcc-tune history ID says why.\n");
}

int tune_history(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL, *args;
	uint64_t id = 0;
	int rc, code;

	if (t->n_args && !tune_number(t->args[0], 1, INT64_MAX, "history", &id))
		return TUNE_ERROR;
	if (id && t->plot)
		return tune_fail("--plot: shows all of the last 24 hours, not one transaction");
	args = json_pack("{sI si sb}", "id", (json_int_t)id, "limit", (int)t->limit, "series",
			 t->series || t->plot);
	if (!t->plot)
		return tune_do_and_print(t, "history", args, print_history);
	rc = tune_do(t, "history", args, &a, &why);
	code = rc ? tune_fail("%s", why.text) : tune_history_plot(a, t->plot);
	if (code == TUNE_OK && t->json)
		code = tune_print_json(a);
	json_decref(a);
	return code;
}
