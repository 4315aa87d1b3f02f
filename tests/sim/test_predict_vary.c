/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How many flows the variants of a scenario have, and that they have memory for these alone. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "perftest/lab/draw.h"
#include "perftest/lab/predict.h"

static uint32_t count_hosts(const struct ibcc_topo *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_nodes; i++)
		n += !ibcc_topo_is_switch(t, i);
	return n;
}

/* V1 and V2 divide a flow to all others into one to each; V3 divides none. */
static uint32_t expected(const struct ibcc_scenario *s, enum ibcc_predict_variant v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->n_flows; i++)
		n += v == IBCC_PREDICT_V3 || strcmp(s->flow[i].to, "*") ? 1
		     : *s->flow[i].not_to                               ? count_hosts(s->topo) - 2
									: count_hosts(s->topo) - 1;
	return n;
}

static void flows_of_variants(void **state)
{
	(void)state;
	for (unsigned int v = IBCC_PREDICT_V1; v <= IBCC_PREDICT_V3; v++) {
		struct ibcc_yaml_errors e = { 0 };
		struct ibcc_scenario s;
		uint32_t want;

		assert_int_equal(ibcc_draw_load(89001, &s, &e), 0);
		want = expected(&s, v);
		assert_int_equal(ibcc_predict_vary(&s, (enum ibcc_predict_variant)v), 0);
		assert_int_equal(s.n_flows, want);
		/* One place for each flow to all is not used. */
		assert_true(malloc_usable_size(s.flow) <= (want * 5 / 4 + 2) * sizeof(*s.flow));
		ibcc_scenario_fini(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(flows_of_variants) };

	return cmocka_run_group_tests_name("predict_vary", tests, NULL, NULL);
}
