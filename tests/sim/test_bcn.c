/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The experiments on lossless Ethernet, in their shortened forms: PAUSE alone, and BCN with the
 * published gain; the whole second each, for shorter ones give other figures. Bounds are those of
 * the experiments' files. Prints the seed; `test_bcn SEED` takes another one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "perftest/bench/experiment.h"

static uint64_t seed = 1;

static void run(const char *file)
{
	struct ibcc_exp_options o = { .shortened = true, .seed = seed, .threads = 2 };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_exp_result r;
	struct ibcc_experiment x;
	size_t judged = 0;

	print_message("seed %llu\n", (unsigned long long)seed);
	if (ibcc_experiment_load(file, &x, &e) || ibcc_experiment_run(&x, &o, &r, &e))
		fail_msg("%s", e.text);
	for (size_t i = 0; i < x.n_rows; i++) {
		const struct ibcc_exp_row *row = &x.row[i];

		if (row->only_full)
			continue;
		print_message("%-40s %9.3f: published %9.3f, %9.3f to %9.3f%s\n", row->name,
			      row->measured, row->published, row->low, row->high,
			      row->ok ? "" : " FAILED");
		judged++;
	}
	assert_true(judged >= 10);
	assert_true(r.ok);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

static void test_uniform(void **state)
{
	(void)state;
	run("perftest/experiments/bcn-1.yaml");
}

static void test_four_flows(void **state)
{
	(void)state;
	run("perftest/experiments/bcn-2.yaml");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_uniform),
		cmocka_unit_test(test_four_flows),
	};

	if (argc > 1)
		seed = strtoull(argv[1], NULL, 0);
	return cmocka_run_group_tests_name("bcn", tests, NULL, NULL);
}
