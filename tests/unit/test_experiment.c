/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Experiment files, the arithmetic of their rows, and the JSON that scripts rely on. */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files.h"
#include "perftest/bench/experiment.h"
#include "perftest/bench/figure.h"
#include "perftest/bench/report.h"

static const char scenario[] =
	"name: x\nduration_ms: 1\nmeasure_from_ms: 0.2\n"
	"topology:\n  rate: 8 Gb/s\n  nodes:\n  - {host: [a, b, c]}\n  - {switch: s, ports: 4}\n"
	"  links: [[a, s/1], [b, s/2], [c, s/3]]\n"
	"model: {header_bytes: 0}\n"
	"traffic: [{name: f, from: a, to: c, kind: hot}, {name: g, from: b, to: c, kind: victim,"
	" load_percent: 20, arrivals: periodic}]\n";

#define HEAD                                                                                       \
	"name: e\ntitle: t\nsource: s\nscenario: x.yaml\n"                                         \
	"short: [duration_ms=0.5]\n"                                                               \
	"variants:\n  - name: both\n  - {name: one, set: [traffic.g=null]}\n"                      \
	"  - {name: half, like: one, set: [traffic.f.load_percent=50, "                            \
	"traffic.f.arrivals=periodic], seeds: 2}\n"

#define SERIES                                                                                     \
	"series:\n  - {name: load, title: t, label: l, key: traffic.g.load_percent,"               \
	" values: [10, 20, 40], columns: [{name: f, unit: MB/s, value: \"MBps({}, f)\"},"          \
	" {name: g, unit: MB/s, value: \"MBps({}, victim)\"}]}\n"

/* The experiment's folder and the scenarios' beside it. */
static const char *write_both(const char *text)
{
	static char path[600];

	files_write("x.yaml", scenario);
	snprintf(path, sizeof(path), "%s", files_path(""));
	mkdir(files_path("experiments"), 0777);
	mkdir(files_path("scenarios"), 0777);
	files_write("scenarios/x.yaml", scenario);
	snprintf(path, sizeof(path), "%s", files_write("experiments/e.yaml", text));
	return path;
}

static void load_ok(const char *text, struct ibcc_experiment *x)
{
	struct ibcc_yaml_errors e = { 0 };
	int rc = ibcc_experiment_load(write_both(text), x, &e);

	assert_string_equal(e.text ? e.text : "", "");
	assert_int_equal(rc, 0);
}

static void load_bad(const char *text, const char *place, const char *want)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;

	assert_int_equal(ibcc_experiment_load(write_both(text), &x, &e), -EINVAL);
	assert_int_equal(e.n, 1);
	if (!strstr(e.text, place) || !strstr(e.text, want))
		fail_msg("got \"%s\", want \"%s\" at %s", e.text, want, place);
	ibcc_yaml_errors_fini(&e);
}

static void run_ok(struct ibcc_experiment *x, const struct ibcc_exp_options *o,
		   struct ibcc_exp_result *r)
{
	struct ibcc_yaml_errors e = { 0 };
	int rc = ibcc_experiment_run(x, o, r, &e);

	assert_string_equal(e.text ? e.text : "", "");
	assert_int_equal(rc, 0);
}

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance * fabs(want)))
		fail_msg("%g is not %g", got, want);
}

/* A port of 8 Gb/s takes 1000 MB/s; what b does not use is a's. */
static void rows_are_measured_and_judged(void **state)
{
	static const double want[] = { 800, 200, 1000, 1000, 500, 4, 1, 0.6, 0, -1, 300 };
	struct ibcc_exp_options o = { .threads = 2 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;

	(void)state;
	load_ok(HEAD SERIES
		"rows:\n"
		"  - {name: f, unit: MB/s, value: \"MBps(both, hot)\", published: 810,"
		" tolerance_percent: 2}\n"
		"  - {name: g, unit: MB/s, value: \"MBps(both, g)\", published: 300, tolerance: "
		"1}\n"
		"  - {name: c, unit: MB/s, value: \"Mbps(both, to:c) / 8\", low: 900,"
		" reason: why}\n"
		"  - {name: alone, unit: MB/s, value: \"MBps(one, from:a)\"}\n"
		"  - {name: \"{} load\", unit: MB/s, value: \"offered({}, all) / 8\", each: "
		"[half]}\n"
		"  - {name: ratio, unit: x, value: \"-(2 - 2 * 3) * (MBps(both, f) / MBps(both, "
		"f))\"}\n"
		"  - {name: used, unit: x, value: \"utilisation(both, to:c)\"}\n"
		"  - {name: fair, unit: x, value: \"fairness(both, all, 4000)\"}\n"
		"  - {name: marked, unit: x, value: \"marked(both, all)\"}\n"
		"  - {name: trend, unit: x, value: \"trend(load, f)\", in_short: false}\n"
		"  - {name: spread, unit: x, value: \"spread(load, f)\", in_short: false}\n",
		&x);
	run_ok(&x, &o, &r);
	assert_int_equal(x.n_rows, 11);
	for (size_t i = 0; i < x.n_rows; i++)
		near(x.row[i].measured, want[i], 0.02);
	assert_true(x.row[0].ok);
	assert_false(x.row[1].ok);
	assert_true(x.row[2].ok && x.row[3].ok);
	assert_false(r.ok);
	near(x.row[0].low, 810 * 0.98, 1e-9);
	near(x.row[0].high, 810 * 1.02, 1e-9);
	assert_string_equal(x.row[4].name, "half load");
	assert_int_equal(r.n_runs, 1 + 1 + 2 + 3);
	near(r.simulated_s, 7e-3, 1e-9);
	ibcc_experiment_result_fini(&r);
	/* Shortened: neither the series nor the rows of it. */
	o.shortened = true;
	run_ok(&x, &o, &r);
	assert_int_equal(r.n_runs, 4);
	near(r.simulated_s, 2e-3, 1e-9);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

/* The given profile is the scenario's. All is congested from the start, so there is no advice to
 * turn DCQCN on, although the variant has it on. The best of the search is none that delivers less
 * than no DCQCN.
 */
static void marking_profiles(void **state)
{
	struct ibcc_exp_options o = { .threads = 1 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;

	(void)state;
	load_ok("name: e\ntitle: t\nsource: s\nscenario: x.yaml\nvariants:\n  - name: off\n"
		"  - {name: given, set: [\"dcqcn={profiles: [{min: 9000, max: 30000, percent: "
		"7}]}\"]}\n"
		"  - {name: advised, like: given, profile: advised}\n"
		"  - {name: best, like: given, profile: best}\n"
		"rows:\n  - {name: off, unit: \"%\", value: percent(off)}\n"
		"  - {name: given, unit: \"%\", value: percent(given)}\n"
		"  - {name: advised, unit: \"%\", value: percent(advised)}\n"
		"  - {name: best, unit: x, value: \"MBps(best, all) / MBps(off, all)\", low: 1,"
		" reason: x}\n",
		&x);
	run_ok(&x, &o, &r);
	assert_true(x.row[0].measured == 0);
	assert_true(x.row[1].measured == 7);
	assert_true(x.row[2].measured == 0);
	assert_true(r.ok);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

/* Three hosts fill the buffers before a slow receiver, and a fourth waits behind them. A profile
 * lets it go on, so the search finds one, also in a scenario without the mapping dcqcn.
 */
static void search_without_profiles(void **state)
{
	struct ibcc_exp_options o = { .threads = 1 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;

	(void)state;
	load_ok("name: e\ntitle: t\nsource: s\nscenario: slow.yaml\nvariants:\n  - name: off\n"
		"  - {name: best, profile: best}\n"
		"rows:\n  - {name: marks, unit: \"%\", value: percent(best)}\n"
		"  - {name: best, unit: x, value: \"MBps(best, all) / MBps(off, all)\"}\n",
		&x);
	files_write(
		"scenarios/slow.yaml",
		"name: slow\nduration_ms: 12\nmeasure_from_ms: 6\ntopology:\n"
		"  rate: 200 Gb/s\n  mtu_bytes: 4096\n"
		"  nodes: [{host: [a, b, c, d, v, w]}, {switch: [s, t], ports: 8}]\n"
		"  links: [[a, s/1], [b, s/2], [v, s/3], [d, s/4], [s/8, t/8], [c, t/1], [w, "
		"t/2]]\n"
		"model: {packet_bytes: 4096, header_bytes: 26, buffer_bytes: 131072,"
		" hca_buffer_bytes: 131072}\ntraffic:\n"
		"  - {from: [a, b, d], to: c, kind: hot, rate: 60000 Mb/s, queue_packets: 200}\n"
		"  - {from: v, to: w, kind: victim, rate: 80000 Mb/s, queue_packets: 200}\n"
		"events: [{sink: c, at_ms: 0, rate: 80000 Mb/s}]\n");
	run_ok(&x, &o, &r);
	assert_true(x.row[0].measured > 0);
	assert_true(x.row[1].measured > 1.2);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

static void settling_time(void **state)
{
	struct ibcc_exp_options o = { .threads = 1 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;

	(void)state;
	/* a is held back by b's burst until 0.6 ms: 0.4 ms after the window's beginning. */
	load_ok("name: e\ntitle: t\nsource: s\nscenario: x.yaml\nvariants:\n  - name: v\n"
		"    set: [\"traffic=[{name: f, from: a, to: c, load_percent: 90, arrivals: "
		"periodic,"
		" queue_packets: 4}, {name: g, from: b, to: c, stop_ms: 0.6}]\"]\n"
		"rows:\n  - {name: s, unit: ms, value: \"settle(v, f, 0.95)\"}\n"
		"  - {name: never, unit: ms, value: \"settle(v, f, 1.5)\", high: 1, reason: x}\n",
		&x);
	run_ok(&x, &o, &r);
	/* What stands in the buffers, and the mean of ten samples, come on top. */
	near(x.row[0].measured, 0.45, 0.12);
	assert_true(isinf(x.row[1].measured));
	assert_false(x.row[1].ok);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

static void bad_files(void **state)
{
	(void)state;
	load_bad(HEAD "rows: [{name: n, unit: u, value: \"MBps(off, hot)\"}]\n",
		 ":10:", "got \"off\", want a variant");
	load_bad(HEAD "rows: [{name: n, unit: u, value: \"1 +\"}]\n", ":10:", "want a number or");
	load_bad(HEAD "rows: [{name: n, unit: u, value: \"(1\"}]\n", ":10:", "want )");
	load_bad(HEAD "rows: [{name: n, unit: u, value: \"1 2\"}]\n", ":10:", "after the end");
	load_bad(HEAD "rows: [{name: n, unit: u, value: \"MBps(one)\"}]\n",
		 ":10:", "got 1 argument for MBps, want 2");
	load_bad(HEAD "rows: [{name: n, unit: u, value: \"fairness(one, all, x)\"}]\n",
		 ":10:", "got \"x\", want a number");
	load_bad(HEAD "rows: [{name: n, unit: u, value: \"trend(a, b)\"}]\n",
		 ":10:", "want a series");
	load_bad(HEAD "rows: [{name: n, unit: u, value: 1, published: 5}]\n", ":10:", "tolerance");
	load_bad(HEAD "rows: [{name: n, unit: u, value: 1, low: 5}]\n", ":10:", "a reason");
	load_bad(HEAD "rows: [{name: n, unit: u, value: 1}, {name: n, unit: u, value: 2}]\n",
		 ":10:", "different names");
	load_bad(HEAD "  - {name: one}\nrows: []\n", ":10:", "different names");
	load_bad(HEAD "  - {name: z, like: none}\nrows: []\n", ":10:", "variants that come before");
	load_bad(HEAD "  - {name: z, profile: guessed}\nrows: []\n",
		 ":10:", "given, advised or best");
	load_bad(HEAD "rows: []\nplot: [none]\n", ":11:", "variants, not \"none\"");
	load_bad(HEAD "rows: []\nspeed: 3\n", ":11:", "unknown key");
}

/* What only a run can tell: names of flows, and values that the scenario refuses. */
static void bad_runs(void **state)
{
	struct ibcc_exp_options o = { .threads = 1 };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;
	struct ibcc_words set = { 0 };

	(void)state;
	load_ok(HEAD "rows: [{name: n, unit: u, value: \"MBps(one, nobody)\"}]\n", &x);
	assert_int_equal(ibcc_experiment_run(&x, &o, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "got \"nobody\", want a flow"));
	ibcc_yaml_errors_fini(&e);
	ibcc_experiment_result_fini(&r);
	assert_int_equal(ibcc_words_add(&set, "model.vls=99"), 0);
	o.set = &set;
	assert_int_equal(ibcc_experiment_run(&x, &o, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "--set model.vls=99: model.vls: got \"99\""));
	ibcc_yaml_errors_fini(&e);
	ibcc_experiment_result_fini(&r);
	ibcc_words_fini(&set);
	ibcc_experiment_fini(&x);
	load_ok("name: e\ntitle: t\nsource: s\nscenario: x.yaml\nvariants:\n"
		"  - {name: both, profile: best, set: [\"congestion_control={switch: {threshold: "
		"15}, ca: {ccti_timer: 9, ccti_increase: 1}, cct: {shape: linear, "
		"max_delay_packets: 9}}\"]}\n"
		"rows: [{name: n, unit: u, value: \"MBps(both, all)\"}]\n",
		&x);
	o.set = NULL;
	assert_int_equal(ibcc_experiment_run(&x, &o, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "x.yaml: got congestion_control or bcn with the profile of "
				       "variant \"both\", want neither"));
	ibcc_yaml_errors_fini(&e);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

static bool has_keys(const json_t *o, const char *const *keys, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!json_object_get(o, keys[i]))
			return false;
	return true;
}

static void json_contract(void **state)
{
	static const char *const top[] = { "schema", "experiment", "rows", "ok", "engine" };
	static const char *const row[] = { "name", "unit", "published", "measured",
					   "low",  "high", "ok" };
	static const char *const engine[] = { "packet_hops", "cpu_s", "wall_s", "simulated_s" };
	struct ibcc_exp_options o = { .threads = 1 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;
	json_t *all, *rows;

	(void)state;
	load_ok(HEAD "rows:\n  - {name: p, unit: u, value: \"MBps(one, f)\", published: 1000,"
		     " tolerance_percent: 1}\n  - {name: q, unit: u, value: \"MBps(one, f)\"}\n",
		&x);
	run_ok(&x, &o, &r);
	all = ibcc_report_experiment(&x, &o, &r);
	assert_true(has_keys(all, top, 5));
	assert_int_equal(json_object_size(all), 5);
	assert_int_equal(json_integer_value(json_object_get(all, "schema")), 1);
	assert_string_equal(json_string_value(json_object_get(all, "experiment")), "e");
	assert_true(json_is_true(json_object_get(all, "ok")));
	assert_true(has_keys(json_object_get(all, "engine"), engine, 4));
	rows = json_object_get(all, "rows");
	assert_int_equal(json_array_size(rows), 2);
	for (size_t i = 0; i < 2; i++) {
		assert_true(has_keys(json_array_get(rows, i), row, 7));
		assert_int_equal(json_object_size(json_array_get(rows, i)), 7);
	}
	near(json_number_value(json_object_get(json_array_get(rows, 0), "low")), 990, 1e-9);
	assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "published")));
	assert_true(json_is_null(json_object_get(json_array_get(rows, 1), "low")));
	json_decref(all);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

#define CASES                                                                                      \
	"cases:\n  - {name: two, set: traffic.g.load_percent=80, published: "                      \
	"\"congestion_control={switch: {threshold: 15}, "                                          \
	"ca: {ccti_timer: 9, ccti_increase: 1}, cct: {shape: linear, max_delay_packets: 9}}\"}\n"  \
	"  - {name: alone, like: two, set: traffic.g=null, rules: false}\n"

/* A port that two nodes share is a root with two sources; with one there is none. */
static void cases_have_columns(void **state)
{
	const struct ibcc_exp_options o = { .columns = true };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;
	const struct ibcc_scenario *s;
	double off, live;
	json_t *j;

	(void)state;
	load_ok("name: e\ntitle: t\nsource: s\nscenario: x.yaml\n" CASES, &x);
	assert_int_equal(x.n_cases, 2);
	assert_int_equal(x.n_variants, 7);
	assert_string_equal(x.variant[1].name, "two/published");
	assert_int_equal(x.n_rows, 3);
	run_ok(&x, &o, &r);
	assert_int_equal(r.n_runs, 7);
	assert_string_equal(x.row[1].name, "two: mean latency of others, live over off");
	off = r.run[0].measure.latency[IBCC_FLOW_VICTIM].mean_us;
	live = r.run[3].measure.latency[IBCC_FLOW_VICTIM].mean_us;
	near(x.row[1].measured, 100 * (live / off - 1), 1e-9);
	j = ibcc_report_variants_json(&x, &r);
	near(json_number_value(json_object_get(
		     json_object_get(json_array_get(j, 0), "victim_latency_us"), "mean")),
	     off, 1e-9);
	assert_true(json_is_null(json_object_get(
		json_object_get(json_array_get(j, 0), "background_latency_us"), "p99")));
	assert_true(json_is_null(json_object_get(
		json_object_get(json_array_get(j, 0), "victim_message_us"), "mean")));
	json_decref(j);
	assert_false(r.run[0].scenario.cc.enabled);
	assert_int_equal(r.run[1].scenario.cc.sw.Threshold, 15);
	s = &r.run[2].scenario;
	assert_true(s->cc.enabled && s->cc.sw.Threshold == 2 && s->cc.ca.sl[0].CCTI_Increase == 1);
	assert_int_equal(r.run[5].scenario.cc.enabled, false);
	assert_true(r.ok);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

static void best_settings_are_found(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;

	(void)state;
	mkdir(files_path("experiments"), 0777);
	mkdir(files_path("experiments/oracle"), 0777);
	files_write("experiments/oracle/e.json",
		    "{\"cases\": {\"alone\": {\"set\": [\"model.buffer_bytes=9999\"]}}}");
	load_ok("name: e\ntitle: t\nsource: s\nscenario: x.yaml\n" CASES, &x);
	assert_int_equal(x.n_variants, 8);
	assert_string_equal(x.variant[6].name, "alone/best");
	assert_string_equal(x.variant[6].set.w[2], "model.buffer_bytes=9999");
	ibcc_experiment_fini(&x);
	files_write("experiments/oracle/e.json", "{\"cases\": 1}");
	assert_int_equal(ibcc_experiment_load(files_path("experiments/e.yaml"), &x, &e), -EINVAL);
	assert_non_null(strstr(e.text, "oracle/e.json"));
	ibcc_yaml_errors_fini(&e);
	unlink(files_path("experiments/oracle/e.json"));
}

static void all_files_are_right(void **state)
{
	glob_t g = { 0 };

	(void)state;
	assert_int_equal(glob("perftest/experiments/*.yaml", 0, NULL, &g), 0);
	assert_int_equal(glob("perftest/open/*.yaml", GLOB_APPEND, NULL, &g), 0);
	assert_int_equal(glob("perftest/tune/*.yaml", GLOB_APPEND, NULL, &g), 0);
	assert_true(g.gl_pathc >= 20);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct ibcc_yaml_errors e = { 0 };
		struct ibcc_experiment x;

		if (ibcc_experiment_load(g.gl_pathv[i], &x, &e))
			fail_msg("%s", e.text ? e.text : g.gl_pathv[i]);
		assert_true(x.n_rows > 0);
		ibcc_experiment_fini(&x);
	}
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_measured_and_judged),
		cmocka_unit_test(marking_profiles),
		cmocka_unit_test(search_without_profiles),
		cmocka_unit_test(settling_time),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(bad_runs),
		cmocka_unit_test(json_contract),
		cmocka_unit_test(all_files_are_right),
		cmocka_unit_test(cases_have_columns),
		cmocka_unit_test(best_settings_are_found),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
