/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* MADs a second, in all and to the node that gets most; SMPs of the last minute. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#include <ibcc/topo.h>

#include "daemon/service/mad_rate.h"

#define S 1000000000ull

static void test_rates(void **state)
{
	struct ibcc_node_stats *node = calloc(IBCC_LID_MAX + 1, sizeof(*node));
	struct ibcc_transport_stats s = { .node = node, .sent = 5293, .smps = 5293 };
	struct ibcc_mad_rate r = { 0 };

	(void)state;
	assert_non_null(node);
	node[7].sent = 1000;
	ibcc_mad_rate_look(&r, &s, 100 * S);
	assert_int_equal(r.busiest_lid, 0);
	assert_true(r.per_s == 0);
	s.sent += 60;
	node[7].sent += 20;
	node[3].sent += 40;
	ibcc_mad_rate_look(&r, &s, 110 * S);
	assert_true(r.per_s == 6);
	assert_int_equal(r.busiest_lid, 3);
	assert_true(r.busiest_per_s == 4);
	/* Two looks at once are one. */
	ibcc_mad_rate_look(&r, &s, 110 * S);
	assert_true(r.per_s == 6);
	ibcc_mad_rate_look(&r, &s, 120 * S);
	assert_true(r.per_s == 0);
	assert_int_equal(r.busiest_lid, 0);
	ibcc_mad_rate_fini(&r);
	free(node);
}

/* Those of a discovery are forgotten after two minutes. */
static void test_smps(void **state)
{
	struct ibcc_transport_stats s = { .sent = 5293, .smps = 5293 };
	struct ibcc_mad_rate r = { 0 };

	(void)state;
	for (uint64_t t = 0; t <= 50; t += 10) {
		ibcc_mad_rate_look(&r, &s, (1000 + t) * S);
		assert_int_equal(ibcc_mad_rate_smps(&r, &s), 5293);
	}
	s.smps += 7;
	ibcc_mad_rate_look(&r, &s, 1060 * S);
	assert_int_equal(ibcc_mad_rate_smps(&r, &s), 5300);
	s.smps += 3;
	ibcc_mad_rate_look(&r, &s, 1120 * S);
	assert_int_equal(ibcc_mad_rate_smps(&r, &s), 3);
	ibcc_mad_rate_look(&r, &s, 1180 * S);
	assert_int_equal(ibcc_mad_rate_smps(&r, &s), 0);
	ibcc_mad_rate_fini(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_smps),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
