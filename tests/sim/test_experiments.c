/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The published experiments in their shortened forms, with the same bounds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "perftest/bench/experiment.h"

static void reproduced(void **state)
{
	const char *name = *state;
	struct ibcc_exp_options o = { .shortened = true };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_experiment x;
	struct ibcc_exp_result r;
	char path[256];
	size_t bound = 0;

	snprintf(path, sizeof(path), "perftest/experiments/%s.yaml", name);
	if (ibcc_experiment_load(path, &x, &e) || ibcc_experiment_run(&x, &o, &r, &e))
		fail_msg("%s: %s", name, e.text ? e.text : "cannot be run");
	assert_string_equal(x.name, name);
	for (size_t i = 0; i < x.n_rows; i++) {
		const struct ibcc_exp_row *row = &x.row[i];

		if (row->only_full)
			continue;
		bound += row->low <= row->high || row->low > -1e300 || row->high < 1e300;
		if (!row->ok)
			fail_msg("%s: %s: %g is not within %g and %g", name, row->name,
				 row->measured, row->low, row->high);
	}
	assert_true(bound > 0);
	assert_true(r.ok);
	ibcc_experiment_result_fini(&r);
	ibcc_experiment_fini(&x);
}

#define EXPERIMENT(n)                                                                              \
	{                                                                                          \
		.name = (n), .test_func = reproduced, .initial_state = (n)                         \
	}

int main(void)
{
	static char lustre[] = "lustre", corners[] = "zrl-corners", n128[] = "zrl-128",
		    output[] = "zrl-output", limit[] = "zrl-limit", rank[] = "zrl-rank";
	static char anchor[] = "ooo-anchor", collision[] = "ooo-collision", end[] = "ooo-endpoint",
		    tamed[] = "ooo-cc", table[] = "ooo-table";
	const struct CMUnitTest tests[] = {
		EXPERIMENT(lustre), EXPERIMENT(corners), EXPERIMENT(n128),   EXPERIMENT(output),
		EXPERIMENT(limit),  EXPERIMENT(rank),    EXPERIMENT(anchor), EXPERIMENT(collision),
		EXPERIMENT(end),    EXPERIMENT(tamed),   EXPERIMENT(table),
	};

	return cmocka_run_group_tests_name("experiments", tests, NULL, NULL);
}
