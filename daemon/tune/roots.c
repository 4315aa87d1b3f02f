/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots of congestion and the adapters behind them, the worst first. */
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/tune/changes.h"
#include "daemon/tune/jobs_of.h"
#include "daemon/tune/look.h"
#include "daemon/tune/prose.h"
#include "daemon/tune/roots.h"
#include "daemon/tune/table.h"

#define ROOTS_SHOWN   6u
#define SOURCES_SHOWN 12u

static const char *const role_keys[] = { "contributors", "candidates", "victims" };
static const char *const role_names[] = { "contributor", "suspect", "victim" };

static bool is_slow_receiver(const json_t *root)
{
	return !strcmp(tune_str(root, "kind"), "output");
}

const char *tune_root_kind(const json_t *root)
{
	return is_slow_receiver(root) ? "slow receiver" : "oversubscribed link";
}

const char *tune_root_kind_short(const json_t *root)
{
	return is_slow_receiver(root) ? "receiver" : "link";
}

json_int_t tune_expected_mbps(const json_t *prediction, const json_t *port)
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

static int by_wait(const void *a, const void *b)
{
	const struct tune_source *x = a, *y = b;
	json_int_t d = tune_int(y->o, "wait_permille") - tune_int(x->o, "wait_permille");

	if (!d)
		d = tune_int(y->o, "xmit_mbps") - tune_int(x->o, "xmit_mbps");
	return d < 0 ? -1 : d > 0;
}

struct tune_source *tune_sources_of(const json_t *root, const char *glob, size_t *n)
{
	struct tune_source *s;
	size_t all = 0, k, i;
	const json_t *o;

	for (k = 0; k < 3; k++)
		all += json_array_size(json_object_get(root, role_keys[k]));
	s = calloc(all ? all : 1, sizeof(*s));
	*n = 0;
	for (k = 0; s && k < 3; k++)
		json_array_foreach (json_object_get(root, role_keys[k]), i, o)
			if (!glob || !fnmatch(glob, tune_str(o, "node"), 0))
				s[(*n)++] = (struct tune_source){ o, role_names[k] };
	if (s)
		qsort(s, *n, sizeof(*s), by_wait);
	return s;
}

static struct libscols_table *source_table(bool with_jobs)
{
	const struct tune_column columns[] = {
		{ "ROOT", IBCC_RIGHT, "number of the congestion root, the worst first" },
		{ "ROLE", IBCC_LEFT,
		  "contributor: marks show that it causes the congestion; suspect: blocked, and no "
		  "mark shows yet whether it contributes; victim: it suffers" },
		{ "NODE", IBCC_LEFT, "name and GUID of the sender" },
		{ "PORT", IBCC_RIGHT, "port of the sender" },
		{ tune_rate_unit(), IBCC_RIGHT, "what it sends now" },
		{ "XMITWAIT%", IBCC_RIGHT,
		  "share of the time in which it is blocked (PortXmitWait)" },
		{ "BECN", IBCC_RIGHT, "notifications that it received in the last polling cycle" },
		{ "EXPECTED", IBCC_RIGHT, "what it will send after the changes, as predicted" },
		{ "JOB", IBCC_LEFT, TUNE_JOB_LEGEND },
	};

	return tune_table_new(columns, with_jobs ? 9 : 8);
}

static enum tune_style style_of(const char *role)
{
	if (!strcmp(role, role_names[0]))
		return TUNE_RED;
	return strcmp(role, role_names[2]) ? TUNE_PLAIN : TUNE_YELLOW;
}

static void add_source(struct libscols_table *t, size_t root, const struct tune_source *s,
		       const json_t *prediction)
{
	char number[24], node[160], port[16], rate[24], wait[24], becn[24], expect[24] = "";
	char jobs[TUNE_JOBS_BYTES];
	json_int_t e = tune_expected_mbps(prediction, s->o);
	const char *row[] = { number, s->role, tune_node_text(s->o, node, sizeof(node)),
			      port,   rate,    wait,
			      becn,   expect,  tune_jobs_at(s->o, jobs, sizeof(jobs)) };

	snprintf(number, sizeof(number), "%zu", root);
	snprintf(port, sizeof(port), "%lld", tune_int(s->o, "port"));
	tune_rate((double)tune_int(s->o, "xmit_mbps"), rate, sizeof(rate));
	snprintf(wait, sizeof(wait), "%.1f", (double)tune_int(s->o, "wait_permille") / 10);
	snprintf(becn, sizeof(becn), "%lld", tune_int(s->o, "becn"));
	if (e >= 0)
		tune_rate((double)e, expect, sizeof(expect));
	tune_table_add(t, row, 1, style_of(s->role));
}

static void print_explained(const json_t *root, size_t number)
{
	char node[160];

	printf("\n%sRoot %zu: %s port %lld, %s%s\n", tune_style(TUNE_BOLD), number,
	       tune_node_text(root, node, sizeof(node)), tune_int(root, "port"),
	       tune_root_kind(root), tune_style(TUNE_PLAIN));
	tune_say("  ", "%s", tune_str(root, "explanation"));
	if (tune_str(json_object_get(root, "jobs"), "text")[0])
		tune_say("  ", "%s", tune_str(json_object_get(root, "jobs"), "text"));
}

void tune_print_root(const json_t *root, size_t number, const char *glob, const json_t *prediction)
{
	struct libscols_table *t = source_table(json_is_object(json_object_get(root, "jobs")));
	char heading[64];
	size_t n = 0, i;
	struct tune_source *s = tune_sources_of(root, glob, &n);

	for (i = 0; i < n; i++)
		add_source(t, number, &s[i], prediction);
	free(s);
	if (!tune_table_is_csv())
		print_explained(root, number);
	snprintf(heading, sizeof(heading), "Sources of root %zu", number);
	tune_table_print_under(t, heading);
}

static void add_root(struct libscols_table *t, const json_t *o, size_t number)
{
	char cell[7][32], node[160], job[TUNE_JOBS_BYTES];
	const char *row[] = { cell[0], tune_node_text(o, node, sizeof(node)),
			      cell[1], tune_root_kind_short(o),
			      cell[2], cell[3],
			      cell[4], cell[5],
			      cell[6], tune_job_of_root(o, job, sizeof(job)) };

	snprintf(cell[0], sizeof(cell[0]), "%zu", number);
	snprintf(cell[1], sizeof(cell[1]), "%lld", tune_int(o, "port"));
	tune_rate((double)tune_int(o, "rate_mbps"), cell[2], sizeof(cell[2]));
	snprintf(cell[3], sizeof(cell[3]), "%.1f", (double)tune_int(o, "tree_wait_permille") / 10);
	for (int k = 0; k < 3; k++)
		snprintf(cell[4 + k], sizeof(cell[0]), "%zu",
			 json_array_size(json_object_get(o, role_keys[k])));
	tune_table_add(t, row, 0, TUNE_PLAIN);
}

static void print_root_table(const json_t *roots)
{
	const struct tune_column columns[] = {
		{ "ROOT", IBCC_RIGHT, "number of the congestion root, the worst first" },
		{ "NODE", IBCC_LEFT, "name and GUID of the switch" },
		{ "PORT", IBCC_RIGHT, "port of the switch where congestion starts" },
		{ "KIND", IBCC_LEFT, TUNE_KIND_LEGEND },
		{ tune_rate_unit(), IBCC_RIGHT, "what the port sends" },
		{ "UPSTREAM%", IBCC_RIGHT, "PortXmitWait share of the most blocked port upstream" },
		{ "CONTR", IBCC_RIGHT, "number of contributors" },
		{ "SUSP", IBCC_RIGHT, "number of suspected contributors" },
		{ "VICT", IBCC_RIGHT, "number of victims" },
		{ "JOB", IBCC_LEFT, TUNE_ROOT_LEGEND },
	};
	struct libscols_table *t = tune_table_new(columns, tune_roots_have_jobs(roots) ? 10 : 9);
	size_t n = json_array_size(roots), i;

	for (i = 0; i < n && i < ROOTS_SHOWN; i++)
		add_root(t, json_array_get(roots, i), i + 1);
	tune_table_print_under(t, "Where congestion starts");
	if (n > i)
		printf("and %zu more (--full, --root N)\n", n - i);
}

/* Takes turns: each root gets a place before the first root gets another. */
static void print_top_sources(const json_t *roots, const char *glob, const json_t *prediction)
{
	size_t n_roots = json_array_size(roots), shown = 0, all = 0, i, k, n;
	size_t each = n_roots > ROOTS_SHOWN ? ROOTS_SHOWN : n_roots;
	struct libscols_table *t = source_table(tune_roots_have_jobs(roots));

	for (i = 0; i < n_roots; i++) {
		struct tune_source *s = tune_sources_of(json_array_get(roots, i), glob, &n);

		for (k = 0; k < n && i < each && k < SOURCES_SHOWN / each; k++)
			add_source(t, i + 1, &s[k], prediction);
		shown += k;
		all += n;
		free(s);
	}
	tune_table_print_under(t, "Most blocked senders");
	if (all > shown)
		printf("and %zu more (--full, --root N, --node GLOB)\n", all - shown);
}

void tune_print_roots(const json_t *roots, const char *glob, const json_t *prediction)
{
	if (json_array_size(roots) == 1) {
		print_explained(json_array_get(roots, 0), 1);
	} else {
		print_root_table(roots);
	}
	print_top_sources(roots, glob, prediction);
}
