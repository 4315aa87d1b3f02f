/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The live loop against its targets, in the shortened form of what `ibcc-bench tune` runs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "perftest/bench/experiment.h"

static void check(const char *name)
{
	const struct ibcc_exp_options o = { .shortened = true };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;
	char path[200];
	unsigned int bad = 0;

	snprintf(path, sizeof(path), "perftest/tune/%s.yaml", name);
	assert_int_equal(ibcc_experiment_load(path, &x, &e), 0);
	if (ibcc_experiment_run(&x, &o, &r, &e))
		fail_msg("%s", e.text ? e.text : name);
	print_message("%s, seed %llu\n", name, (unsigned long long)r.run[0].scenario.seed);
	for (size_t i = 0; i < x.n_rows; i++) {
		const struct ibcc_exp_row *row = &x.row[i];

		if (row->only_full)
			continue;
		print_message("  %s: %g %s%s\n", row->name, row->measured, row->unit,
			      row->ok ? "" : ", NOT OK");
		bad += !row->ok;
	}
	assert_int_equal(bad, 0);
	assert_true(r.ok);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

static void test_lustre(void **state)
{
	(void)state;
	check("lustre");
}

static void test_input_generated(void **state)
{
	(void)state;
	check("zrl");
}

static void test_output_generated(void **state)
{
	(void)state;
	check("zrl-output");
}

/* Profiles of DCQCN that are given, and what ibcc-tune advise comes to. */
static void test_hdr(void **state)
{
	(void)state;
	check("hdr-slow");
	check("hdr-incast");
	check("hdr-moving");
	check("hdr-jobs");
	check("hdr-quiet");
}

static void test_torus(void **state)
{
	(void)state;
	check("torus");
}

static void test_faults(void **state)
{
	(void)state;
	check("faults");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lustre),
		cmocka_unit_test(test_input_generated),
		cmocka_unit_test(test_output_generated),
		cmocka_unit_test(test_hdr),
		cmocka_unit_test(test_torus),
		cmocka_unit_test(test_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
