/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* plan and apply: the same answer, before and after. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/table.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/tune.h"

/* What the prediction says of a port. -1 if nothing. */
static json_int_t expected_mbps(const json_t *prediction, const json_t *port)
{
	const json_t *list = json_object_get(prediction, "sources"), *o;
	size_t i;

	json_array_foreach (list, i, o)
		if (json_equal(json_object_get(o, "node_guid"),
			       json_object_get(port, "node_guid")) &&
		    tune_int(o, "port") == tune_int(port, "port"))
			return tune_int(o, "expected_mbps");
	return -1;
}

static void add_sources(struct libscols_table *t, const json_t *root, const char *key,
			const char *role, const json_t *prediction)
{
	const json_t *list = json_object_get(root, key), *o;
	size_t i;

	json_array_foreach (list, i, o) {
		char node[160], port[16], rate[24], wait[24], becn[24], expect[24] = "";
		json_int_t e = expected_mbps(prediction, o);
		const char *row[] = {
			role, tune_node_text(o, node, sizeof(node)), port, rate, wait, becn, expect
		};

		snprintf(port, sizeof(port), "%lld", tune_int(o, "port"));
		snprintf(rate, sizeof(rate), "%.1f", (double)tune_int(o, "xmit_mbps") / 8);
		snprintf(wait, sizeof(wait), "%.1f", (double)tune_int(o, "wait_permille") / 10);
		snprintf(becn, sizeof(becn), "%lld", tune_int(o, "becn"));
		if (e >= 0)
			snprintf(expect, sizeof(expect), "%.1f", (double)e / 8);
		ibcc_table_add(t, row);
	}
}

static void print_root(const json_t *root, size_t number, const json_t *prediction)
{
	static const struct ibcc_table_column columns[] = {
		{ "ROLE", IBCC_LEFT },      { "NODE", IBCC_LEFT },   { "PORT", IBCC_RIGHT },
		{ "MB/s", IBCC_RIGHT },     { "WAIT%", IBCC_RIGHT }, { "BECN", IBCC_RIGHT },
		{ "EXPECTED", IBCC_RIGHT },
	};
	struct libscols_table *t = ibcc_table_new(columns, 7, stdout);
	char heading[400], node[160];

	add_sources(t, root, "contributors", "contributor", prediction);
	add_sources(t, root, "candidates", "candidate", prediction);
	add_sources(t, root, "victims", "victim", prediction);
	printf("\nRoot %zu: %s port %lld, %s-generated\n  %s\n", number,
	       tune_node_text(root, node, sizeof(node)), tune_int(root, "port"),
	       tune_str(root, "kind"), tune_str(root, "explanation"));
	snprintf(heading, sizeof(heading), "Sources of root %zu", number);
	ibcc_table_print_under(t, heading);
}

static void print_fabric(const json_t *f)
{
	printf("Fabric: %lld switches, %lld channel adapters, %lld links (from %s); %lld ports "
	       "read%s over %.1f ms by the %s's clock\n",
	       tune_int(f, "switches"), tune_int(f, "channel_adapters"), tune_int(f, "links"),
	       tune_str(f, "source"), tune_int(f, "ports_fresh"),
	       tune_int(f, "ports_stale") + tune_int(f, "ports_unreachable") ? ", others not" : "",
	       (double)tune_int(f, "interval_us") / 1000, tune_str(f, "clock"));
	if (tune_int(f, "ports_saturated"))
		printf("Counters of %lld ports have stopped at their end and tell nothing: clear "
		       "them "
		       "with perfquery -R; with clear_counters a daemon in mode apply does so in "
		       "time\n",
		       tune_int(f, "ports_saturated"));
}

static void print_prediction(const json_t *p)
{
	if (!json_is_true(json_object_get(p, "known"))) {
		printf("\nPrediction: none, %s.\n", tune_str(p, "why"));
		return;
	}
	printf("\nPrediction (%s): contributors %.1f -> %.1f MB/s, victims %.1f -> at most %.1f "
	       "MB/s in all.\n",
	       tune_str(p, "method"), (double)tune_int(p, "hot_now_mbps") / 8,
	       (double)tune_int(p, "hot_expected_mbps") / 8,
	       (double)tune_int(p, "victim_now_mbps") / 8,
	       (double)tune_int(p, "victim_expected_mbps") / 8);
}

static void print_unreachable(const json_t *list)
{
	const json_t *o;
	char node[160];
	size_t i;

	json_array_foreach (list, i, o)
		printf("%s  %s port %lld %s\n", i ? "" : "\nWithout settings\n",
		       tune_node_text(o, node, sizeof(node)), tune_int(o, "port"),
		       tune_str(o, "reason"));
}

static void print_answer(const json_t *a, const char *heading)
{
	const json_t *roots = json_object_get(a, "roots"), *prediction, *o;
	size_t i;

	prediction = json_object_get(a, "prediction");
	print_fabric(json_object_get(a, "fabric"));
	json_array_foreach (roots, i, o)
		print_root(o, i + 1, prediction);
	if (!json_array_size(roots))
		printf("\nNo congestion.\n");
	tune_print_changes(json_object_get(a, "changes"), heading);
	print_unreachable(json_object_get(a, "unreachable"));
	if (json_array_size(roots))
		print_prediction(prediction);
	if (tune_str(a, "summary")[0])
		printf("\nDecision: %s\n", tune_str(a, "summary"));
}

/* Why an apply of this plan would be refused; false if it would not. */
static bool would_refuse(const struct tune *t, const json_t *a, struct ibcc_why *why)
{
	const json_t *lacking = json_object_get(a, "unreachable");
	const json_t *o = json_array_get(lacking, 0);
	char node[160], others[48] = "";

	if (json_is_string(json_object_get(a, "error"))) {
		ibcc_why_set(why, -EOPNOTSUPP, "%s", tune_str(a, "error"));
		return true;
	}
	if (t->skip_unsupported || !o || !tune_int(a, "writes"))
		return false;
	if (json_array_size(lacking) > 1)
		snprintf(others, sizeof(others), " (and %zu more)", json_array_size(lacking) - 1);
	ibcc_why_set(why, -EOPNOTSUPP, "%s port %lld %s%s; --skip-unsupported plans without it",
		     tune_node_text(o, node, sizeof(node)), tune_int(o, "port"),
		     tune_str(o, "reason"), others);
	return true;
}

static void print_push(const json_t *push)
{
	const json_t *us = json_object_get(push, "expected_us");

	if (!tune_int(push, "mads"))
		return;
	printf("This push: %lld MADs", tune_int(push, "mads"));
	if (json_is_integer(us))
		printf(", about %.*f ms", json_integer_value(us) < 10000 ? 1 : 0,
		       (double)json_integer_value(us) / 1000);
	puts(".");
}

int tune_plan(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int rc = tune_do(t, "plan", NULL, &a, &why), code;

	if (rc || !a) {
		json_decref(a);
		return tune_fail("%s", why.text);
	}
	code = TUNE_OK;
	if (t->json) {
		code = tune_print_json(a);
	} else {
		print_answer(a, "Changes to make");
		printf("\n%lld writes to make, %lld settings stay, %zu nodes without.\n",
		       tune_int(a, "writes"), tune_int(a, "unchanged"),
		       json_array_size(json_object_get(a, "unreachable")));
		print_push(json_object_get(a, "push"));
	}
	if (code == TUNE_OK && t->detailed_exitcode && tune_int(a, "writes"))
		code = TUNE_PENDING;
	if (would_refuse(t, a, &why))
		code = tune_fail("this plan could not be applied: %s", why.text);
	json_decref(a);
	return code;
}

int tune_apply(struct tune *t)
{
	struct ibcc_why why = { "" };
	const json_t *result;
	json_t *a = NULL;
	int rc = tune_do(t, "apply", json_pack("{sb}", "skip_unsupported", t->skip_unsupported), &a,
			 &why);
	int code = TUNE_OK;

	if (a && t->json) {
		code = tune_print_json(a);
	} else if (a) {
		result = json_object_get(a, "result");
		print_answer(a, rc ? "Changes" : "Changes made");
		if (json_is_object(result))
			printf("\n%lld writes verified, %lld failed, %lld Set MADs.\n",
			       tune_int(result, "verified"), tune_int(result, "failed"),
			       tune_int(result, "set_mads"));
		else if (!rc)
			printf("\nNothing to change.\n");
	}
	json_decref(a);
	return rc ? tune_fail("%s", why.text) : code;
}
