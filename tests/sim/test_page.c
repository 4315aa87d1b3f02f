/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The report's page of fabrics of three sizes: one file, whole, and small enough to be read.
 * IBCC_PAGES=FOLDER keeps the pages there.
 */
#include "loop.h"

#include <limits.h>

#include <ibcc/json.h>

#include "daemon/report/report.h"
#include "daemon/tune/page/fabric_page.h"
#include "daemon/tune/page/map.h"

#define PASS_PS (1000 * IBCC_PS_PER_US)

/* As ibcc_service_report() has it, but for what only a daemon knows. */
static json_t *report_of(const char *scenario, unsigned int passes, bool dry)
{
	struct loop l;
	json_t *o, *settings;

	loop_start(&l, scenario, PASS_PS, &loop_hardware, NULL);
	l.dry = dry;
	loop_passes(&l, passes);
	settings = ibcc_json_unfold(ibcc_report_settings(l.c.topo, &l.c.actual, NULL));
	o = json_pack("{ss sI ss s{ss si so so} so so sO s[]}", "version", "0", "made",
		      (json_int_t)1000000000, "host", "sm1", "status", "state", "ok", "roots",
		      (int)l.c.estimate.n_roots, "fabric", ibcc_report_fabric(&l.c, "test"), "now",
		      ibcc_report_now(&l.c), "plan",
		      ibcc_json_unfold(ibcc_report_plan(&l.c, "test")), "map",
		      ibcc_report_map(&l.c), "settings", json_object_get(settings, "nodes"),
		      "history");
	json_decref(settings);
	assert_non_null(o);
	loop_end(&l);
	return o;
}

static char *page_of(const json_t *report, const char *name)
{
	const char *folder = getenv("IBCC_PAGES");
	char *text = NULL, path[PATH_MAX];
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	ibcc_fabric_page(f, report);
	assert_int_equal(fclose(f), 0);
	assert_true(snprintf(path, sizeof(path), "%s/%s.html", folder ? folder : "", name) > 0);
	f = folder ? fopen(path, "w") : NULL;
	if (f) {
		fputs(text, f);
		fclose(f);
	}
	return text;
}

/* All that is opened is closed in the right order, and nothing comes from elsewhere. */
static void check_page(const char *text)
{
	static const char *const strange[] = {
		"<script", "<link", "<img", "@import", "url(", "src="
	};
	char open[64][16], name[16];
	unsigned int depth = 0;

	for (size_t i = 0; i < sizeof(strange) / sizeof(strange[0]); i++)
		if (strstr(text, strange[i]))
			fail_msg("%s in the page", strange[i]);
	assert_null(strstr(text, "(null)"));
	assert_null(strstr(text, "nan"));
	for (const char *at = text; (at = strchr(at, '<')); at++) {
		const char *end = strchr(at, '>');

		assert_non_null(end);
		if (at[1] == '!' || sscanf(at + 1 + (at[1] == '/'), "%15[a-z0-9]", name) != 1)
			continue;
		if (at[1] == '/') {
			assert_true(depth > 0);
			assert_string_equal(open[--depth], name);
		} else if (end[-1] != '/' && strcmp(name, "meta")) {
			assert_true(depth < 64);
			memcpy(open[depth++], name, sizeof(name));
		}
	}
	assert_int_equal(depth, 0);
}

static unsigned int count(const char *text, const char *word)
{
	unsigned int n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* Three ways lead to the slow sink over one link between two switches. */
static void test_small(void **state)
{
	json_t *report = report_of("perftest/scenarios/lustre.yaml", 12, false);
	char *text = page_of(report, "small");

	(void)state;
	check_page(text);
	assert_int_equal(count(text, "class=\"hot\""), 1);
	assert_int_equal(count(text, "class=\"role3\""), 3);
	assert_int_equal(count(text, "class=\"role4\""), 1);
	assert_non_null(strstr(text, "<h3>1: leaf2 port 2, slow receiver</h3>"));
	assert_non_null(strstr(text, "prefers-color-scheme:dark"));
	free(text);
	json_decref(report);
}

/* Adapters have their jobs, the worst ten jobs are listed, and a hostile name is text. */
static void test_jobs(void **state)
{
	json_t *report = report_of("perftest/scenarios/lustre.yaml", 12, false),
	       *list = json_array();
	json_t *root = json_array_get(json_object_get(json_object_get(report, "plan"), "roots"), 0);
	json_t *sources = json_object_get(root, "contributors"), *o;
	char *text, id[16];
	size_t i;

	(void)state;
	json_object_set_new(root, "jobs", json_object());
	json_array_foreach (sources, i, o)
		json_object_set_new(o, "jobs", json_pack("[ss]", "4711", "4713"));
	for (i = 0; i < 12; i++) {
		snprintf(id, sizeof(id), "%d", 900 + (int)i);
		json_array_append_new(
			list,
			json_pack("{ss ss ss ss si si si si si si si si}", "id", id, "user", "ann",
				  "name", "<b>&\"x", "worst_root", "destination1", "contributor_ms",
				  90000, "shared_contributor_ms", 12000, "suspect_ms", 0,
				  "victim_ms", i < 2 ? 60000 : 0, "shared_victim_ms", 0, "harm_ms",
				  45000, "blocked_ms", i == 1 ? 30000 : 20000, "sent_bytes", 0));
	}
	json_object_set_new(report, "jobs", list);
	text = page_of(report, "jobs");
	check_page(text);
	assert_non_null(strstr(text, "<h2>Jobs of the last 24 hours</h2>"));
	assert_int_equal(count(text, "&lt;b&gt;&amp;"), 12); /* ten of twelve, and two victims */
	assert_non_null(strstr(text, "and 2 more"));
	assert_non_null(strstr(text, ">909<"));
	assert_null(strstr(text, ">910<"));
	assert_true(strstr(strstr(text, "suffered from congestion"), ">901<") <
		    strstr(strstr(text, "suffered from congestion"), ">900<"));
	assert_int_equal(count(text, "job 4711,4713</title>"), 3);
	assert_int_equal(count(text, ">4711 +1</text>"), 3);
	assert_int_equal(count(text, ">4711,4713</td>"), 3);
	free(text);
	/* Where no batch system is known the page has nothing about jobs. */
	json_object_set_new(report, "jobs", json_null());
	json_object_del(root, "jobs");
	json_array_foreach (sources, i, o)
		json_object_del(o, "jobs");
	text = page_of(report, "no-jobs");
	assert_null(strstr(text, "Jobs"));
	assert_null(strstr(text, "Job<"));
	assert_null(strstr(text, "job "));
	free(text);
	json_decref(report);
}

/* 32 hosts in two levels: five of eight leaves have room, and all four above. */
static void test_tree(void **state)
{
	json_t *report = report_of("perftest/scenarios/tree.yaml", 6, true);
	char *text = page_of(report, "tree");
	unsigned int n[3] = { 0 };
	struct tune_map m;

	(void)state;
	check_page(text);
	assert_int_equal(tune_map_init(&m, report), 0);
	assert_int_equal(m.n_levels, 2);
	for (uint32_t i = 0; i < m.n_nodes; i++)
		n[m.node[i].level] += m.node[i].shown;
	assert_int_equal(n[0], 0);
	assert_int_equal(n[1], 5);
	assert_int_equal(n[2], 4);
	assert_int_equal(m.fold[1].n_switches, 3);
	assert_int_equal(m.fold[1].n_hosts, 12);
	assert_int_equal(m.fold[2].n_switches, 0);
	tune_map_fini(&m);
	free(text);
	json_decref(report);
}

/* 648 hosts: what has to do with congestion is shown, the rest counted, and each host is somewhere.
 */
static void test_large(void **state)
{
	json_t *report = report_of("perftest/scenarios/large.yaml", 8, true);
	char *text = page_of(report, "large");
	unsigned int n_hosts = 0, n_shown = 0;
	struct tune_map m;

	(void)state;
	check_page(text);
	assert_true(strlen(text) < 200000);
	assert_int_equal(tune_map_init(&m, report), 0);
	assert_true(m.width < 1400);
	for (uint32_t i = 0; i < m.n_nodes; i++) {
		n_hosts += m.node[i].shown && m.node[i].level == 1 ? m.node[i].n_hosts : 0;
		n_shown += m.node[i].shown;
	}
	n_hosts += m.fold[1].n_hosts;
	assert_int_equal(n_hosts,
			 json_integer_value(json_object_get(
				 json_object_get(json_object_get(report, "status"), "fabric"),
				 "channel_adapters")));
	assert_in_range(n_shown, 2, 12);
	assert_non_null(strstr(text, " more switches</text>"));
	tune_map_fini(&m);
	free(text);
	json_decref(report);
}

/* Names come from nodes, which their owners name. */
static void test_names(void **state)
{
	json_t *report = report_of("perftest/scenarios/lustre.yaml", 6, true);
	json_t *nodes = json_object_get(json_object_get(report, "map"), "nodes"), *o;
	char *text;
	size_t i;

	(void)state;
	json_array_foreach (nodes, i, o)
		json_object_set_new(o, "node", json_string("<script>&\"'</svg>"));
	json_array_foreach (json_object_get(report, "settings"), i, o)
		json_object_set_new(o, "node", json_string("<b onclick=\"x\">"));
	text = page_of(report, "names");
	check_page(text);
	assert_non_null(strstr(text, "&lt;script&gt;&amp;&quot;"));
	free(text);
	json_decref(report);
}

/* 8000 Mb/s are 1000 MB/s; what is measured later is a question mark, what never was is nothing. */
static void test_effect(void **state)
{
	json_t *before =
		json_pack("{si si si}", "roots", 3, "total_mbps", 8000, "victim_mbps", 800);
	json_t *after =
		json_pack("{si si si}", "roots", 0, "total_mbps", 16000, "victim_mbps", 2400);
	json_t *report = json_pack("{s[{si s{sO so s[{ss si si}]}} {si s{so sn}} {si}]}", "history",
				   "id", 71, "effect", "before", before, "after", after, "senders",
				   "node", "source4", "before_mbps", 4992, "after_mbps", 16623,
				   "id", 72, "effect", "before", before, "after", "id", 73);
	char *text = page_of(report, "effect");

	(void)state;
	check_page(text);
	assert_non_null(strstr(text, "<td class=\"n\">3 \u2192 0</td>"));
	assert_non_null(strstr(text, "<td class=\"n\">1000.0 \u2192 2000.0</td>"));
	assert_non_null(strstr(text, "<td class=\"n\">100.0 \u2192 300.0</td>"));
	assert_non_null(strstr(text, "<td class=\"n\">1000.0 \u2192 ?</td>"));
	assert_int_equal(count(text, "\u2192"), 6);
	assert_non_null(strstr(text, ">source4 x 3.33</td>"));
	free(text);
	json_decref(report);
}

/* A minute, an hour later another, and a change between them. */
static void test_series(void **state)
{
	json_t *report = json_pack("{s{s[ss] s[[ii][ii][ii]]} s[{si si}]}", "series", "fields",
				   "at", "total_mbps", "rows", 86400, 8000, 86460, 8000, 90000,
				   16000, "history", "id", 7, "started", 86430);
	char *text = page_of(report, "series");

	(void)state;
	check_page(text);
	assert_non_null(strstr(text, "<h2>The last 24 hours</h2>"));
	assert_int_equal(count(text, "<figure>"), 1);
	assert_non_null(strstr(text, ">Throughput</text>"));
	assert_non_null(strstr(text, ">7</text>"));
	/* Nothing was measured in between: no line leads there. */
	assert_int_equal(count(text, "class=\"mark\""), 1);
	free(text);
	json_object_set_new(report, "series", json_null());
	text = page_of(report, "no_series");
	assert_null(strstr(text, "24 hours"));
	free(text);
	json_decref(report);
}

/* Which senders the changes are to help, and by how much. */
static void test_prediction(void **state)
{
	json_t *report =
		json_pack("{s{s[] s{sb s{si si si si} sn}}}", "plan", "roots", "prediction",
			  "known", 1, "victims", "now_mbps", 800, "expected_mbps", 2400, "low_mbps",
			  1600, "high_mbps", 3200, "total");
	char *text = page_of(report, "prediction");

	(void)state;
	check_page(text);
	assert_non_null(
		strstr(text, "victims 100.0 MB/s \u2192 300.0 MB/s (200.0 MB/s to 400.0 MB/s)"));
	assert_null(strstr(text, "all adapters"));
	free(text);
	json_decref(report);
}

/* What is not there is left out. */
static void test_nothing(void **state)
{
	json_t *report = json_object();
	char *text = page_of(report, "nothing");

	(void)state;
	check_page(text);
	free(text);
	json_object_set_new(report, "error", json_string("no port"));
	json_object_set_new(report, "map",
			    json_pack("{s[{}{ss}] s[{}i{s[ii]s[ii]}] s[[[ii]]]}", "nodes", "type",
				      "switch", "links", 5, "a", 0, 1, "b", 1, 1, "trees", 77, 2));
	text = page_of(report, "odd");
	check_page(text);
	assert_non_null(strstr(text, "No plan: no port"));
	free(text);
	json_decref(report);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_small),   cmocka_unit_test(test_jobs),
		cmocka_unit_test(test_tree),    cmocka_unit_test(test_large),
		cmocka_unit_test(test_names),   cmocka_unit_test(test_prediction),
		cmocka_unit_test(test_effect),  cmocka_unit_test(test_series),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
