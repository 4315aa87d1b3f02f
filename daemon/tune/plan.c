/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* plan: what an apply would change, for people, as JSON, and as a file for later. */
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/text.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/look.h"
#include "daemon/tune/pager.h"
#include "daemon/tune/plan.h"
#include "daemon/tune/prediction.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/roots.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

#define UNREACHABLE_NAMED 8u

/* Prints faults that the plan does not cure. */
static void print_warnings(const json_t *list)
{
	const json_t *o;
	char label[48];
	size_t i;

	snprintf(label, sizeof(label), "%sWarning:%s ", tune_style(TUNE_YELLOW),
		 tune_style(TUNE_PLAIN));
	json_array_foreach (list, i, o)
		tune_say(label, "%s", json_string_value(o));
}

static void print_snapshot_age(const json_t *a)
{
	if (json_is_integer(json_object_get(a, "age_ms")))
		printf("Counters and settings as they were %.1f s ago.\n",
		       (double)tune_int(a, "age_ms") / 1000);
}

static void print_fabric(const json_t *f)
{
	json_int_t switches = tune_int(f, "switches"), adapters = tune_int(f, "channel_adapters"),
		   links = tune_int(f, "links"), fresh = tune_int(f, "ports_fresh");

	tune_say("Fabric: ",
		 "%lld switch%s, %lld channel adapter%s, %lld link%s (from %s); %lld port%s read%s "
		 "over %.1f ms by the %s's clock",
		 switches, ibcc_text_plural(switches, "", "es"), adapters,
		 ibcc_text_plural(adapters, "", "s"), links, ibcc_text_plural(links, "", "s"),
		 tune_str(f, "source"), fresh, ibcc_text_plural(fresh, "", "s"),
		 tune_int(f, "ports_stale") + tune_int(f, "ports_unreachable") ? ", others not"
									       : "",
		 (double)tune_int(f, "interval_us") / 1000, tune_str(f, "clock"));
	if (tune_int(f, "ports_saturated"))
		tune_say("",
			 "Counters of %lld port%s are saturated, so ibcc-tune cannot use them: "
			 "clear "
			 "them with perfquery -R. With clear_counters, a daemon in mode apply "
			 "clears them in time",
			 tune_int(f, "ports_saturated"),
			 ibcc_text_plural(tune_int(f, "ports_saturated"), "", "s"));
}

/* Lists the first endports, or all. */
static void print_unreachable(const json_t *list, bool all)
{
	size_t n = json_array_size(list), most = all ? n : UNREACHABLE_NAMED, i;
	const json_t *o;
	char node[160];

	if (n)
		puts("\nWithout settings");
	json_array_foreach (list, i, o) {
		if (i == most)
			break;
		tune_say("  ", "%s port %lld %s", tune_node_text(o, node, sizeof(node)),
			 tune_int(o, "port"), tune_str(o, "reason"));
	}
	if (n > most)
		tune_say("  ", "and %zu more: --full lists all", n - most);
}

/* The changes of nodes with a matching name; a new reference. */
static json_t *changes_of(const json_t *a, const char *glob)
{
	const json_t *all = json_object_get(a, "changes");
	json_t *some = json_array(), *o;
	size_t i;

	json_array_foreach (all, i, o)
		if (!glob || !fnmatch(glob, tune_str(o, "node"), 0))
			json_array_append(some, o);
	return some;
}

/* Does a pattern match anything that the plan names? */
static bool matches_node(const json_t *o, const char *glob)
{
	const char *key;
	json_t *part;
	size_t i;

	json_array_foreach ((json_t *)o, i, part)
		if (matches_node(part, glob))
			return true;
	json_object_foreach ((json_t *)o, key, part)
		if (!strcmp(key, "node")
			    ? !fnmatch(glob, json_string_value(part) ? json_string_value(part) : "",
				       0)
			    : matches_node(part, glob))
			return true;
	return false;
}

/* Prints one table: the sources of a root, or else all changes. */
static void print_csv(const struct tune *t, const json_t *roots, const json_t *prediction,
		      const json_t *changes, const char *heading)
{
	const json_t *root = t->root ? json_array_get(roots, (size_t)t->root - 1) : NULL;

	if (root)
		tune_print_root(root, (size_t)t->root, t->node, prediction);
	else
		tune_print_changes(changes, heading);
}

static void print_words(const char *label, const char *text)
{
	if (!text[0])
		return;
	putchar('\n');
	tune_say(label, "%s", text);
}

/* Why the plan has too little data to say anything; empty: it has enough. */
static const char *blind(const json_t *a)
{
	return tune_str(json_object_get(a, "fabric"), "blind");
}

/* Prints the plan in a line, at its top and at its bottom. A change is a write of an attribute, or
 * of a block of it. A row of the table stands for values at several nodes and service levels.
 */
static void print_sum(const json_t *a)
{
	json_int_t changes = tune_int(a, "writes"),
		   lacking = (json_int_t)json_array_size(json_object_get(a, "unreachable"));

	tune_say("Plan: ", "%lld change%s, %lld unchanged, %lld node%s unsupported.", changes,
		 ibcc_text_plural(changes, "", "s"), tune_int(a, "unchanged"), lacking,
		 ibcc_text_plural(lacking, "", "s"));
}

static void print_cost(const json_t *a)
{
	const json_t *push = json_object_get(a, "push"), *us = json_object_get(push, "expected_us");
	json_int_t writes = tune_int(a, "writes");
	size_t values = json_array_size(json_object_get(a, "changes"));
	char took[48] = "";

	if (json_is_integer(us))
		snprintf(took, sizeof(took), " in about %.*f ms",
			 json_integer_value(us) < 10000 ? 1 : 0,
			 (double)json_integer_value(us) / 1000);
	if (writes)
		tune_say("",
			 "Each change is one Set MAD, read back by one Get MAD: %lld MADs for %zu "
			 "value%s%s.",
			 tune_int(push, "mads"), values, ibcc_text_plural(values, "", "s"), took);
}

void tune_print_plan(const struct tune *t, const json_t *a, const char *heading)
{
	const json_t *roots = json_object_get(a, "roots"), *o;
	const json_t *prediction = json_object_get(a, "prediction");
	json_t *changes = changes_of(a, t->node);
	bool made = json_is_object(json_object_get(a, "result"));
	size_t i;

	if (tune_table_is_csv()) {
		print_csv(t, roots, prediction, changes, heading);
		json_decref(changes);
		return;
	}
	if (tune_str(a, "verdict")[0])
		tune_say("Verdict: ", "%s", tune_str(a, "verdict"));
	if (tune_str(a, "whose")[0])
		tune_say("Jobs: ", "%s", tune_str(a, "whose"));
	print_warnings(json_object_get(json_object_get(a, "fabric"), "warnings"));
	if (!made)
		print_sum(a);
	print_fabric(json_object_get(a, "fabric"));
	print_snapshot_age(a);
	json_array_foreach (roots, i, o)
		if (t->full || t->root == i + 1)
			tune_print_root(o, i + 1, t->node, prediction);
	if (blind(a)[0])
		printf("\n%sCongestion cannot be seen.%s\n", tune_style(TUNE_YELLOW),
		       tune_style(TUNE_PLAIN));
	else if (!json_array_size(roots))
		printf("\n%sNo congestion.%s\n", tune_style(TUNE_GREEN), tune_style(TUNE_PLAIN));
	else if (!t->full && !t->root)
		tune_print_roots(roots, t->node, prediction);
	if (t->full)
		tune_print_changes(changes, heading);
	else
		tune_print_groups(changes, heading);
	json_decref(changes);
	print_unreachable(json_object_get(a, "unreachable"), t->full);
	/* Once it is applied, the effect is measured; that nothing was predicted no longer matters.
	 */
	if (json_array_size(roots) && (!made || json_is_true(json_object_get(prediction, "known"))))
		tune_print_prediction(prediction, "plan");
	print_words("No answer from: ", tune_str(json_object_get(a, "fabric"), "silent"));
	print_words("Decision: ", tune_str(a, "summary"));
	print_words("Not proved: ", tune_str(a, "routing"));
	print_words("Paths: ", tune_str(a, "paths"));
	print_words("What its operator can do: ", tune_str(json_object_get(a, "nvidia"), "advice"));
	if (!made) {
		putchar('\n');
		print_sum(a);
		print_cost(a);
	}
}

void tune_print_writes(const struct tune *t, const json_t *a, const char *heading)
{
	const json_t *changes = json_object_get(a, "changes");

	print_warnings(json_object_get(a, "warnings"));
	if (t->full)
		tune_print_changes(changes, heading);
	else
		tune_print_groups(changes, heading);
	print_words("Decision: ", tune_str(a, "summary"));
}

bool tune_would_refuse(const struct tune *t, const json_t *a, struct ibcc_why *why)
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

int tune_plan(struct tune *t)
{
	struct ibcc_why why = { "" };
	json_t *a = NULL;
	int rc = tune_do(t, "plan", json_pack("{sb}", "data", t->output != NULL), &a, &why), code;

	if (rc || !a) {
		json_decref(a);
		return tune_fail("%s", why.text);
	}
	code = t->node && json_array_size(json_object_get(a, "roots")) && !matches_node(a, t->node)
		       ? tune_fail("--node: no node of the plan has a name that matches '%s'",
				   t->node)
		       : TUNE_OK;
	if (code == TUNE_OK && t->output)
		code = tune_plan_save(a, t->output);
	json_object_del(a, "data");
	json_object_del(a, "control");
	if (code == TUNE_OK && t->root > json_array_size(json_object_get(a, "roots")))
		code = tune_fail("--root: the plan has no root %llu; it has %zu",
				 (unsigned long long)t->root,
				 json_array_size(json_object_get(a, "roots")));
	if (code == TUNE_OK && t->json) {
		code = tune_print_json(a);
	} else if (code == TUNE_OK && tune_table_is_csv()) {
		tune_print_plan(t, a, "");
	} else if (code == TUNE_OK) {
		tune_pager_begin();
		tune_print_plan(t, a, "Changes to make");
	}
	if (code == TUNE_OK && t->detailed_exitcode && tune_int(a, "writes"))
		code = TUNE_PENDING;
	if (blind(a)[0])
		code = tune_fail("this is not a plan: %s", blind(a));
	else if (tune_would_refuse(t, a, &why))
		code = tune_fail("this plan could not be applied: %s", why.text);
	json_decref(a);
	return code;
}
