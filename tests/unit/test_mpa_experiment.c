/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Experiments that measure real octets: the file's form, assignments, and what comes out. That data
 * is right and that what is counted is there; how fast anything is does not matter here.
 */
#include <glob.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files.h"
#include "perftest/bench/experiment.h"
#include "perftest/bench/report.h"
#include "perftest/bench/wire.h"

#define HEAD "name: e\ntitle: t\nsource: s\n"
#define MPA                                                                                        \
	"mpa:\n  measure: bandwidth\n  message_bytes: 100\n  messages: 5\n  repeats: 1\n"          \
	"  subjects: [{name: a, design: host-based, markers: 0}, "                                 \
	"{name: b, design: host-offloaded, crc: none}]\n"
#define BODY                                                                                       \
	"limits: [one, two]\nshort: [messages=3]\n"                                                \
	"variants: [{name: v}, {name: big, set: [message_bytes=1400, subjects.a.crc=none]}]\n"     \
	"series: [{name: s, title: t, label: l, key: message_bytes, values: [1, 14], "             \
	"columns: [{name: c, unit: u, value: \"iwarp({}, b, pieces)\"}]}]\n"

static void load_ok(const char *text, struct ibcc_experiment *x)
{
	struct ibcc_yaml_errors e = { 0 };
	int rc = ibcc_experiment_load(files_write("e.yaml", text), x, &e);

	assert_string_equal(e.text ? e.text : "", "");
	assert_int_equal(rc, 0);
}

static void load_bad(const char *text, const char *want)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;

	assert_int_equal(ibcc_experiment_load(files_write("e.yaml", text), &x, &e), -EINVAL);
	if (!e.text || !strstr(e.text, want))
		fail_msg("got \"%s\", want \"%s\"", e.text ? e.text : "", want);
	ibcc_yaml_errors_fini(&e);
}

static void rows_are_measured(void **state)
{
	struct ibcc_words set = { 0 };
	struct ibcc_exp_options o = { .set = &set };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;
	json_t *all;

	(void)state;
	load_ok(HEAD MPA BODY "rows:\n"
			      "  - {name: touched, unit: b, value: \"iwarp(v, a, "
			      "host_tx_touched)\", low: 3, high: 3,"
			      " reason: by hand}\n"
			      "  - {name: less, unit: b, value: \"iwarp(big, a, "
			      "host_tx_touched)\", low: 2, high: 2,"
			      " reason: by hand}\n"
			      "  - {name: most, unit: b, value: \"max(iwarp(v, b, nic_rx_touched), "
			      "min(1, 7)) + 1\","
			      " low: 3, high: 3, reason: by hand}\n"
			      "  - {name: none, unit: us, value: \"iwarp(v, a, latency_us)\"}\n"
			      "  - {name: fast, unit: Mb/s, value: \"iwarp(big, b, mbps)\", low: "
			      "0, reason: any}\n",
		&x);
	assert_int_equal(ibcc_experiment_run(&x, &o, &r, &e), 0);
	assert_int_equal(r.n_runs, 4);
	assert_true(r.ok && r.cpu_s > 0);
	assert_true(isnan(x.row[3].measured));
	assert_true(x.row[4].measured > 0);
	assert_true(x.series[0].y[1] > 2);
	all = ibcc_report_experiment(&x, &o, &r);
	assert_int_equal(json_array_size(json_object_get(all, "limits")), 2);
	assert_true(json_is_null(
		json_object_get(json_array_get(json_object_get(all, "rows"), 4), "published")));
	json_decref(all);
	ibcc_experiment_result_fini(&r);
	assert_int_equal(ibcc_words_add(&set, "subjects.a.design=host-assisted"), 0);
	assert_int_equal(ibcc_experiment_run(&x, &o, &r, &e), 0);
	assert_false(x.row[0].ok);
	ibcc_experiment_result_fini(&r);
	assert_int_equal(ibcc_words_add(&set, "subjects.a.markers=7"), 0);
	assert_int_equal(ibcc_experiment_run(&x, &o, &r, &e), -EINVAL);
	assert_non_null(strstr(e.text, "a multiple of 4"));
	ibcc_yaml_errors_fini(&e);
	ibcc_experiment_result_fini(&r);
	ibcc_words_fini(&set);
	ibcc_experiment_fini(&x);
}

static void bad_files(void **state)
{
	(void)state;
	load_bad(HEAD MPA BODY "scenario: x.yaml\n", "either scenario or mpa");
	load_bad(HEAD "limits: [a]\n", "either scenario or mpa");
	load_bad(HEAD "mpa: {measure: speed, subjects: [{name: a}]}\n", "measure");
	load_bad(HEAD "mpa: {measure: latency, subjects: []}\n", "at least one");
	load_bad(HEAD "mpa: {measure: latency, subjects: [{name: a}, {name: a}]}\n",
		 "different names");
	load_bad(HEAD "mpa: {measure: latency, subjects: [{name: a, markers: 32}]}\n",
		 "a multiple of 4 from 64");
	load_bad(HEAD MPA BODY "rows: [{name: r, unit: u, value: \"iwarp(v, c, mbps)\"}]\n",
		 "want a subject of mpa and one of its figures");
	load_bad(HEAD MPA BODY "rows: [{name: r, unit: u, value: \"iwarp(v, a, speed)\"}]\n",
		 "want a subject of mpa and one of its figures");
	load_bad(HEAD MPA BODY "rows: [{name: r, unit: u, value: \"MBps(v, all)\"}]\n",
		 "the figure MBps is only for scenarios");
	load_bad(HEAD MPA BODY "rows: [{name: r, unit: u, value: \"min(1 2)\"}]\n", "want ,");
	load_bad(HEAD MPA BODY "rows: [{name: r, unit: u, value: \"max(1, 2\"}]\n", "want )");
}

/* Each of ours runs, as short as can be, with data that is right. Of the claims only those that are
 * counted are held against their bounds.
 */
static void all_of_ours_run(void **state)
{
	glob_t g = { 0 };

	(void)state;
	assert_int_equal(glob("perftest/experiments/iwarp-*.yaml", 0, NULL, &g), 0);
	assert_int_equal(g.gl_pathc, 4);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		struct ibcc_exp_options o = { .shortened = true };
		struct ibcc_yaml_errors e = { 0 };
		struct ibcc_experiment x;
		struct ibcc_exp_result r;
		struct ibcc_words set = { 0 };

		assert_int_equal(ibcc_words_add(&set, "messages=2"), 0);
		o.set = &set;
		assert_int_equal(ibcc_experiment_load(g.gl_pathv[i], &x, &e), 0);
		assert_int_equal(x.limits.n, 2);
		if (ibcc_experiment_run(&x, &o, &r, &e))
			fail_msg("%s: %s", g.gl_pathv[i], e.text ? e.text : "cannot be run");
		for (size_t k = 0; k < x.n_rows; k++) {
			assert_true(isnan(x.row[k].published));
			assert_true(x.row[k].reason[0]);
			assert_false(isnan(x.row[k].measured));
			if (strstr(x.row[k].value, "touched") || strstr(x.row[k].value, "pieces"))
				assert_true(x.row[k].ok);
		}
		ibcc_words_fini(&set);
		ibcc_experiment_result_fini(&r);
		ibcc_experiment_fini(&x);
	}
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_are_measured),
		cmocka_unit_test(bad_files),
		cmocka_unit_test(all_of_ours_run),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
