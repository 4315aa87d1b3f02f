/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes for people: what is equal at many nodes is one line. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

/* With more lines than this, values are printed as ranges. */
#define EXACT_GROUPS 12u
#define NODES_NAMED  5u
#define REASONS      5u
#define CELL         48u

/* Values of a group: all equal, or numbers from a to b, or a mixture. */
struct values {
	const char *text;
	double min, max;
	bool same, numbers;
};

struct group {
	const json_t *first;
	char sl[16], mark[2];
	struct values old, new;
	char where[200];
	const char *last_node;
	json_int_t last_port;
	unsigned int n_places;
};

struct groups {
	struct group *g;
	size_t n;
	bool exact; /* values are equal within a group */
};

static bool equal(const json_t *a, const json_t *b, const char *key)
{
	return !strcmp(tune_str(a, key), tune_str(b, key));
}

/* "CCT[1..31]" of one node corresponds to "CCT[1..40]" of another. */
static bool same_field(const json_t *a, const json_t *b)
{
	const char *x = tune_str(a, "field"), *y = tune_str(b, "field");
	size_t n = strcspn(x, "[");

	return n == strcspn(y, "[") && !strncmp(x, y, n);
}

static bool belongs(const struct groups *all, const struct group *g, const json_t *o,
		    const char *sl)
{
	if (!equal(g->first, o, "attribute") || strcmp(g->sl, sl) || !equal(g->first, o, "outcome"))
		return false;
	if (!all->exact)
		return same_field(g->first, o);
	return equal(g->first, o, "field") && equal(g->first, o, "old") &&
	       equal(g->first, o, "new");
}

static void take_value(struct values *v, const char *text)
{
	char *end;
	double x = strtod(text, &end);
	bool number = *text && !*end;

	if (!v->text) {
		*v = (struct values){ text, x, x, true, number };
		return;
	}
	v->same = v->same && !strcmp(v->text, text);
	v->numbers = v->numbers && number;
	v->min = fmin(v->min, x);
	v->max = fmax(v->max, x);
}

static const char *value_text(const struct values *v, char *buf)
{
	if (v->same || !v->text)
		return v->text ? v->text : "";
	if (!v->numbers)
		return "various";
	snprintf(buf, CELL, "%.15g to %.15g", v->min, v->max);
	return buf;
}

/* A place is a port of a switch, or an adapter. */
static void take_place(struct group *g, const json_t *o)
{
	const char *attribute = tune_str(o, "attribute");
	bool port = !strcmp(attribute, "SwitchPortCongestionSetting") ||
		    !strcmp(attribute, "PortProfileSettings");
	size_t len = strlen(g->where);
	char number[16] = "";

	if (g->last_node && !strcmp(g->last_node, tune_str(o, "node_guid")) &&
	    (!port || g->last_port == tune_int(o, "port")))
		return;
	g->last_node = tune_str(o, "node_guid");
	g->last_port = tune_int(o, "port");
	if (++g->n_places > NODES_NAMED)
		return;
	if (port)
		snprintf(number, sizeof(number), "/%lld", tune_int(o, "port"));
	snprintf(g->where + len, sizeof(g->where) - len, "%s%.32s%s", len ? ", " : "",
		 tune_str(o, "node"), number);
}

static int take(struct groups *all, const json_t *o, const char *sl)
{
	struct group *g;
	char mark;
	size_t i;

	for (i = all->n; i && !belongs(all, &all->g[i - 1], o, sl); i--)
		;
	if (!i) {
		g = realloc(all->g, (all->n + 1) * sizeof(*g));
		if (!g)
			return -1;
		all->g = g;
		g = &all->g[all->n++];
		*g = (struct group){ .first = o };
		snprintf(g->sl, sizeof(g->sl), "%s", sl);
	} else {
		g = &all->g[i - 1];
	}
	mark = tune_change_mark(tune_str(o, "old"), tune_str(o, "new"));
	g->mark[0] = !g->mark[0] || g->mark[0] == mark ? mark : '~';
	take_value(&g->old, tune_str(o, "old"));
	take_value(&g->new, tune_str(o, "new"));
	take_place(g, o);
	return 0;
}

static int collect(struct groups *all, const json_t *changes, bool exact)
{
	size_t n = json_array_size(changes);
	bool *covered = calloc(n ? n : 1, sizeof(*covered));
	int rc = covered ? 0 : -1;

	free(all->g);
	*all = (struct groups){ .exact = exact };
	for (size_t i = 0; !rc && i < n; i++) {
		char sl[16];

		if (covered[i])
			continue;
		tune_sl_text(json_array_get(changes, i), tune_end_of_run(changes, i, covered), sl,
			     sizeof(sl));
		rc = take(all, json_array_get(changes, i), sl);
	}
	free(covered);
	return rc;
}

static void tell_group(const struct groups *all, struct group *g, const struct tune_group_fn *fn)
{
	const char *field = tune_str(g->first, "field");
	size_t len = strlen(g->where), name = all->exact ? strlen(field) : strcspn(field, "[");
	char places[16], setting[CELL], old[CELL], new[CELL];
	const char *row[TUNE_GROUP_CELLS] = { g->mark,
					      places,
					      setting,
					      g->sl,
					      value_text(&g->old, old),
					      value_text(&g->new, new),
					      g->where,
					      tune_str(g->first, "outcome") };

	if (g->n_places > NODES_NAMED)
		snprintf(g->where + len, sizeof(g->where) - len, " and %u more",
			 g->n_places - NODES_NAMED);
	snprintf(places, sizeof(places), "%u", g->n_places);
	snprintf(setting, sizeof(setting), "%.*s", (int)name, field);
	fn->row(fn->arg, row);
}

/* Do two reasons differ only in ports and numbers? */
static bool alike(const char *a, const char *b)
{
	static const char figures[] = "0123456789.";

	for (;;) {
		a += strspn(a, figures);
		b += strspn(b, figures);
		if (*a != *b || !*a)
			return *a == *b;
		a++;
		b++;
	}
}

static void tell_reasons(const struct groups *all, const struct tune_group_fn *fn)
{
	unsigned int n = 0;

	for (size_t i = 0, k; i < all->n; i++) {
		const char *reason = tune_str(all->g[i].first, "reason");

		for (k = 0; k < i; k++)
			if (alike(reason, tune_str(all->g[k].first, "reason")))
				break;
		if (k < i || !reason[0] || ++n > REASONS)
			continue;
		fn->reason(fn->arg, n == 1, tune_str(all->g[i].first, "field"), reason);
	}
}

void tune_group_changes(const json_t *changes, const struct tune_group_fn *fn)
{
	struct groups all = { 0 };
	int rc = collect(&all, changes, true);

	if (!rc && all.n > EXACT_GROUPS)
		rc = collect(&all, changes, false);
	for (size_t i = 0; !rc && i < all.n; i++)
		tell_group(&all, &all.g[i], fn);
	fn->end(fn->arg);
	if (!rc)
		tell_reasons(&all, fn);
	free(all.g);
}

struct printer {
	struct libscols_table *t;
	char heading[96];
};

static void print_row(void *arg, const char *const *cell)
{
	tune_table_add(((struct printer *)arg)->t, cell, TUNE_GROUP_CELLS - 1,
		       tune_style_of_outcome(cell[TUNE_GROUP_CELLS - 1]));
}

static void print_table(void *arg)
{
	struct printer *p = arg;

	tune_table_print_under(p->t, p->heading);
}

static void print_reason(void *arg, bool first, const char *field, const char *reason)
{
	(void)arg;
	if (first)
		puts("\n  Reasons (one node shown per setting)");
	tune_say("    ", "%s: %s", field, reason);
}

void tune_print_groups(const json_t *changes, const char *heading)
{
	static const struct tune_column columns[] = {
		{ "OP", IBCC_LEFT, TUNE_MARKS_LEGEND },
		{ "COUNT", IBCC_RIGHT, "nodes or ports with this change" },
		{ "SETTING", IBCC_LEFT, "setting" },
		{ "SL", IBCC_LEFT, "service levels with this change" },
		{ "OLD", IBCC_WRAP, "value before the change" },
		{ "NEW", IBCC_WRAP, "value after the change" },
		{ "WHERE", IBCC_WRAP, "nodes with this change; leaf2/2 is port 2 of leaf2" },
		{ "OUTCOME", IBCC_LEFT, "verified: read back as it was written" },
	};
	bool outcomes = json_object_get(json_array_get(changes, 0), "outcome") != NULL;
	struct printer p = { tune_table_new(columns, outcomes ? 8 : 7), "" };

	snprintf(p.heading, sizeof(p.heading), "%s (%s)", heading, TUNE_MARKS_LEGEND);

	tune_group_changes(changes,
			   &(struct tune_group_fn){ &p, print_row, print_table, print_reason });
}
