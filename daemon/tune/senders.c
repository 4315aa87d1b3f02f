/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Blocked senders, before and after a change (senders.h). */
#include "daemon/tune/senders.h"

#include <stdio.h>
#include <stdlib.h>

#include <ibcc/text.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/look.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

#define NAMED 4u /* senders that a sentence names */

/* A list of senders in the order of their gain. */
struct gains {
	const json_t **o;
	size_t n;
};

static bool is_measured(const json_t *sender)
{
	return json_is_integer(json_object_get(sender, "after_mbps"));
}

/* A sender that sent nothing has no gain as a factor. */
static double factor(const json_t *sender)
{
	json_int_t before = tune_int(sender, "before_mbps");

	return before ? (double)tune_int(sender, "after_mbps") / (double)before : 0;
}

static int by_gain(const void *a, const void *b)
{
	const json_t *x = *(const json_t *const *)a, *y = *(const json_t *const *)b;
	double d = factor(y) - factor(x);

	return d < 0 ? -1 : d > 0;
}

/* Free g->o afterwards. Without memory the list is empty. */
static struct gains gains_of(const json_t *senders)
{
	size_t n = json_array_size(senders), i;
	struct gains g = { .o = calloc(n ? n : 1, sizeof(*g.o)) };
	const json_t *o;

	json_array_foreach (senders, i, o)
		if (g.o)
			g.o[g.n++] = o;
	if (g.n)
		qsort(g.o, g.n, sizeof(*g.o), by_gain);
	return g;
}

static const char *factor_text(const json_t *sender, char *buf, size_t len)
{
	buf[0] = '\0';
	if (is_measured(sender) && tune_int(sender, "before_mbps"))
		snprintf(buf, len, "x %.2f", factor(sender));
	return buf;
}

static void put_gain(struct ibcc_text *x, const json_t *sender)
{
	char before[32], after[32], gain[32];

	tune_rate((double)tune_int(sender, "before_mbps"), before, sizeof(before));
	tune_rate((double)tune_int(sender, "after_mbps"), after, sizeof(after));
	factor_text(sender, gain, sizeof(gain));
	ibcc_text_add(x, "%s %s -> %s %s%s%s%s", tune_str(sender, "node"), before,
		      is_measured(sender) ? after : "?", tune_rate_unit(), gain[0] ? " (" : "",
		      gain, gain[0] ? ")" : "");
}

static void put_more(struct ibcc_text *x, size_t all)
{
	if (all > NAMED)
		ibcc_text_add(x, " and %zu more", all - NAMED);
}

const char *tune_blocked_text(const json_t *status, char *buf, size_t len)
{
	const json_t *now = json_object_get(status, "now");
	const json_t *list = json_object_get(now, "blocked"), *o;
	struct ibcc_text x = { .buf = buf, .len = len };
	char rate[32];
	size_t i;

	buf[0] = '\0';
	json_array_foreach (list, i, o)
		if (i < NAMED)
			ibcc_text_add(
				&x, "%s%s %s %s", i ? ", " : "", tune_str(o, "node"),
				tune_rate((double)tune_int(o, "xmit_mbps"), rate, sizeof(rate)),
				tune_rate_unit());
	if (json_array_size(list))
		put_more(&x, (size_t)tune_int(now, "waiting"));
	return buf;
}

const char *tune_gain_text(const json_t *status, char *buf, size_t len)
{
	const json_t *gain = json_object_get(status, "gain");
	struct gains g = gains_of(json_object_get(gain, "senders"));
	struct ibcc_text x = { .buf = buf, .len = len };

	buf[0] = '\0';
	if (g.n)
		ibcc_text_add(&x, "since transaction %lld: ", tune_int(gain, "transaction"));
	for (size_t i = 0; i < g.n && i < NAMED; i++) {
		ibcc_text_add(&x, "%s", i ? ", " : "");
		put_gain(&x, g.o[i]);
	}
	put_more(&x, g.n);
	free(g.o);
	return buf;
}

const char *tune_best_gain(const json_t *senders, char *buf, size_t len)
{
	struct gains g = gains_of(senders);
	char text[32];

	buf[0] = '\0';
	if (g.n && factor_text(g.o[0], text, sizeof(text))[0])
		snprintf(buf, len, "%s %s", tune_str(g.o[0], "node"), text);
	free(g.o);
	return buf;
}

const char *tune_best_factor(const json_t *senders, char *buf, size_t len)
{
	struct gains g = gains_of(senders);

	buf[0] = '\0';
	if (g.n)
		factor_text(g.o[0], buf, len);
	free(g.o);
	return buf;
}

void tune_print_senders(const json_t *senders)
{
	const struct tune_column columns[] = {
		{ "NODE", IBCC_LEFT, "name and GUID of the sender" },
		{ "PORT", IBCC_RIGHT, "port of the sender" },
		{ "BEFORE", IBCC_RIGHT, "what it sent before the change" },
		{ "AFTER", IBCC_RIGHT, "what it sends after the change" },
		{ "GAIN", IBCC_RIGHT, "how many times as much it sends" },
	};
	struct gains g = gains_of(senders);
	struct libscols_table *t;
	char heading[80];

	if (g.n) {
		t = tune_table_new(columns, 5);
		for (size_t i = 0; i < g.n; i++) {
			char node[160], port[24], before[32], after[32] = "?", gain[32];
			const char *row[] = { tune_node_text(g.o[i], node, sizeof(node)), port,
					      before, after, gain };

			snprintf(port, sizeof(port), "%lld", tune_int(g.o[i], "port"));
			tune_rate((double)tune_int(g.o[i], "before_mbps"), before, sizeof(before));
			if (is_measured(g.o[i]))
				tune_rate((double)tune_int(g.o[i], "after_mbps"), after,
					  sizeof(after));
			factor_text(g.o[i], gain, sizeof(gain));
			ibcc_table_add(t, row);
		}
		snprintf(heading, sizeof(heading),
			 "Senders that were blocked, and what they send, %s", tune_rate_unit());
		tune_table_print_under(t, heading);
	}
	free(g.o);
}
