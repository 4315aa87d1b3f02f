/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* P. Huang, A. Chu: Reducing head-of-line blocking in InfiniBand fabrics for Lustre filesystem with
 * Congestion Control (LLNL): three sources share a sink of half speed, a fourth one is the victim.
 */
#include <string.h>

#include "tests/unit/engines.h"

#define DRAIN_MBPS 14960u /* 1870 MB/s */

struct lustre {
	struct ibcc_topo *topo;
	struct ibcc_engine *e;
	uint32_t hot[3], victim;
};

static void lustre_new(struct lustre *l)
{
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	l->topo = fabric_lustre();
	l->e = engine_new(l->topo, &m, 1);
	assert_int_equal(
		ibcc_engine_set_sink_rate(l->e, fabric_port(l->topo, LUSTRE_SLOW, 1), DRAIN_MBPS),
		0);
	for (uint32_t i = 0; i < 3; i++)
		l->hot[i] = engine_flow(l->e, l->topo, LUSTRE_SRC1 + i, LUSTRE_SLOW, 0);
	l->victim = engine_flow(l->e, l->topo, LUSTRE_SRC4, LUSTRE_FAST, 0);
}

static void lustre_free(struct lustre *l)
{
	ibcc_engine_free(l->e);
	ibcc_topo_free(l->topo);
}

static double hot_mbytes(struct lustre *l, const struct engine_rates *r)
{
	return r->mbytes[l->hot[0]] + r->mbytes[l->hot[1]] + r->mbytes[l->hot[2]];
}

static void test_off(void **state)
{
	struct lustre l;
	struct engine_rates r;
	struct ibcc_engine_port p;

	(void)state;
	lustre_new(&l);
	engine_rates(l.e, 2 * IBCC_PS_PER_MS, 10 * IBCC_PS_PER_MS, &r);
	print_message("off: hot %.1f victim %.1f MB/s\n", hot_mbytes(&l, &r), r.mbytes[l.victim]);
	assert_near(hot_mbytes(&l, &r), 1870, 0.01);
	for (int i = 0; i < 3; i++)
		assert_near(r.mbytes[l.hot[i]], 623.3, 0.01);
	assert_near(r.mbytes[l.victim], 623.3, 0.01);
	assert_int_equal(ibcc_engine_port_read(l.e, fabric_port(l.topo, LUSTRE_SLOW, 1), &p), 0);
	assert_int_equal(p.rcv_fecn, 0);
	lustre_free(&l);
}

static void test_marking_at_the_sink(void **state)
{
	struct lustre l;
	struct engine_rates r;

	(void)state;
	lustre_new(&l);
	engine_reaction(l.e, l.topo, 5, 2, 7000);
	engine_marking(l.e, l.topo, LUSTRE_SW2, 1, 9, 0);
	engine_rates(l.e, 10 * IBCC_PS_PER_MS, 40 * IBCC_PS_PER_MS, &r);
	print_message("on: hot %.1f victim %.1f MB/s\n", hot_mbytes(&l, &r), r.mbytes[l.victim]);
	assert_true(r.mbytes[l.victim] > 2 * 623);
	assert_true(hot_mbytes(&l, &r) > 0.9 * 1870);
	lustre_free(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_off),
		cmocka_unit_test(test_marking_at_the_sink),
	};

	return cmocka_run_group_tests_name("engine_lustre", tests, NULL, NULL);
}
