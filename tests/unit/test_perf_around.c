/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traffic around a command, and what is said of it: on the double of libibverbs, and of made-up
 * results.
 */
#include <math.h>

#include "perftest/verbs/around.h"
#include "perftest/verbs/report.h"
#include "tests/unit/perfs.h"

#define PLAN                                                                                       \
	"duration_ms: 30\nverbs: {message_bytes: 256, report_ms: 10}\ntraffic:\n"                  \
	"- {name: h, kind: hot, from: [b, c], to: a}\n- {name: v, kind: victim, from: d, to: c}\n"

/* Lines that a command left in a file. */
static int lines(const char *path)
{
	char *text = files_read(path);
	int n = 0;

	for (char *c = text; *c; c++)
		n += *c == '\n';
	free(text);
	return n;
}

static int run(struct ibcc_perf_around *a, struct perf *p, const char *plan)
{
	int rc;

	perf_start(p, plan);
	rc = ibcc_perf_hosts_plan(&p->hosts, &p->s, &p->e);
	if (!rc)
		rc = ibcc_perf_hosts_connect(&p->hosts, NULL, &p->e);
	return rc ? rc : ibcc_perf_around(a, &p->hosts, -1, NULL, NULL, NULL, &p->e);
}

static void test_order(void **state)
{
	struct ibcc_perf_around a = { .repeats = 3 };
	struct perf p = { 0 };
	char command[600], undo[600];

	(void)state;
	snprintf(command, sizeof(command), "echo do >>%s/did", files_dir);
	snprintf(undo, sizeof(undo), "echo undo >>%s/undid", files_dir);
	files_write("did", "");
	files_write("undid", "");
	a.command = command;
	assert_int_equal(run(&a, &p, PLAN), 0);
	assert_int_equal(a.n, 6);
	assert_true(!a.is_after[2] && a.is_after[3]); /* all before, all after */
	assert_int_equal(lines(files_path("did")), 1);
	assert_true(isfinite(ibcc_perf_around_kind(&a, &p.s, IBCC_FLOW_HOT).half_width));
	ibcc_perf_around_fini(&a);
	perf_end(&p);

	/* With a way back they take turns. */
	a.undo = undo;
	assert_int_equal(run(&a, &p, PLAN), 0);
	assert_int_equal(a.n, 6);
	assert_true(!a.is_after[0] && a.is_after[1] && !a.is_after[2] && a.is_after[5]);
	assert_int_equal(lines(files_path("did")), 4);
	assert_int_equal(lines(files_path("undid")), 3);
	ibcc_perf_around_fini(&a);
	perf_end(&p);
	assert_int_equal(double_verbs.live, 0);
}

/* A command that fails ends it and is not undone, nor is one that was not reached. */
static void test_failures(void **state)
{
	struct ibcc_perf_around a = { .repeats = 2, .command = "exit 3" };
	struct perf p = { 0 };
	char undo[600];

	(void)state;
	snprintf(undo, sizeof(undo), "echo undo >>%s/undid", files_dir);
	files_write("undid", "");
	a.undo = undo;
	assert_int_not_equal(run(&a, &p, PLAN), 0);
	assert_string_equal(p.e.text, "the command \"exit 3\" ended with status 3");
	assert_int_equal(lines(files_path("undid")), 0);
	ibcc_perf_around_fini(&a);
	perf_end(&p);

	a.command = "true";
	double_reset();
	perf_start(&p, PLAN);
	assert_int_equal(ibcc_perf_hosts_plan(&p.hosts, &p.s, &p.e), 0);
	assert_int_equal(ibcc_perf_hosts_connect(&p.hosts, NULL, &p.e), 0);
	double_verbs.fail_verb = "ibv_post_send";
	double_verbs.fail_nth = 1;
	double_verbs.hits = 0;
	assert_int_not_equal(ibcc_perf_around(&a, &p.hosts, -1, NULL, NULL, NULL, &p.e), 0);
	assert_non_null(strstr(p.e.text, "ibv_post_send"));
	assert_int_equal(lines(files_path("undid")), 0); /* it failed before the command */
	ibcc_perf_around_fini(&a);
	perf_end(&p);
}

/* Results as they come, with a window of one second. */
static void made_up(struct ibcc_perf_around *a, uint32_t n, const double mbps[][3])
{
	a->result = calloc(n, sizeof(*a->result));
	a->is_after = calloc(n, sizeof(*a->is_after));
	assert_non_null(a->result);
	assert_non_null(a->is_after);
	a->n = n;
	for (uint32_t i = 0; i < n; i++) {
		struct ibcc_perf_result *r = &a->result[i];

		r->n_flows = 3;
		r->flow = calloc(3, sizeof(*r->flow));
		assert_non_null(r->flow);
		r->window_s = 1;
		for (int k = 0; k < 3; k++)
			r->flow[k].measured_bytes = (uint64_t)(mbps[i][k] * 125000);
		a->is_after[i] = i >= n / 2;
	}
}

static void check_words(const double mbps[][3], uint32_t n, const char *want)
{
	struct ibcc_perf_around a = { .repeats = n / 2 };
	struct ibcc_scenario s;
	char words[400];

	text_ok(HEAD "hosts: [a, b, c, d]\ntraffic:\n"
		     "- {name: h, kind: hot, from: [b, c], to: a}\n"
		     "- {name: v, kind: victim, from: d, to: c}\n",
		&s);
	made_up(&a, n, mbps);
	ibcc_perf_around_words(&a, &s, words, sizeof(words));
	assert_string_equal(words, want);
	ibcc_perf_around_fini(&a);
	ibcc_scenario_fini(&s);
}

static void test_words(void **state)
{
	static const double sure[][3] = { { 100, 100, 100 }, { 101, 101, 101 }, { 99, 99, 99 },
					  { 99, 99, 312 },   { 100, 100, 315 }, { 101, 101, 309 } };
	static const double once[][3] = { { 100, 100, 100 }, { 50, 50, 200 } };
	static const double none[][3] = { { 0, 0, 0 }, { 50, 50, 200 } };

	(void)state;
	/* Before 100 +- 1, after 312 +- 3, three each: the ratio's deviation is sqrt((3.12^2 + 3^2)
	 * / 3) % = 2.50 % with 4.0 degrees of freedom, t = 2.777.
	 */
	check_words(sure, 6, "victims +212 % (+-7), hot receiver +0 % (+-2) not certain");
	check_words(
		once, 2,
		"victims +100.0 % (one repeat: no interval), hot receiver -50.0 % (one repeat: no "
		"interval)");
	check_words(none, 2, "victims cannot be compared, hot receiver cannot be compared");
}

/* JSON and a plot of a run, and what they have to have. */
static void test_report(void **state)
{
	static const char *const text[] = { "before" };
	struct perf p = { 0 };
	json_t *o, *flow;
	FILE *out;
	char *svg;
	int n = 0;

	(void)state;
	perf_start(&p, PLAN);
	assert_int_equal(perf_run(&p, NULL), 0);
	o = ibcc_perf_report_json(&p.hosts, &p.result);
	assert_int_equal(json_integer_value(json_object_get(o, "schema")), 1);
	assert_int_equal(json_array_size(json_object_get(o, "flows")), 3);
	assert_int_equal(json_array_size(json_object_get(o, "hosts")), 4);
	flow = json_array_get(json_object_get(o, "flows"), 2);
	assert_string_equal(json_string_value(json_object_get(flow, "kind")), "victim");
	assert_true(json_real_value(json_object_get(flow, "mbps")) ==
		    ibcc_perf_flow_mbps(&p.result, 2));
	assert_string_equal(json_string_value(json_object_get(
				    json_array_get(json_object_get(o, "hosts"), 0), "link_layer")),
			    "InfiniBand");
	json_decref(o);
	out = fopen(files_path("plot.svg"), "w");
	assert_non_null(out);
	assert_int_equal(ibcc_perf_report_plot(&p.s, &p.result, text, 1, out), 0);
	fclose(out);
	svg = files_read(files_path("plot.svg"));
	for (char *at = svg; (at = strstr(at, "<path")); at++)
		n++;
	assert_int_equal(n, 3);
	free(svg);
	perf_end(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_order, perf_setup),
		cmocka_unit_test_setup(test_failures, perf_setup),
		cmocka_unit_test_setup(test_words, perf_setup),
		cmocka_unit_test_setup(test_report, perf_setup),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
