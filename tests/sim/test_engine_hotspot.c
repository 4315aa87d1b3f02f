/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* M. Gusat et al. (IBM Zurich): InfiniBand CM Parameter Tuning, 2006: the corner "large hotspot,
 * 90 % load": 32 nodes on 12X SDR links send 10 % of their load to one of them, the rest to all.
 * Congestion control off, traffic that has nothing to do with the hotspot collapses to a third;
 * with the tuned parameters it is as if there were no hotspot.
 */
#include <string.h>

#include "tests/unit/engines.h"

#define MS        IBCC_PS_PER_MS
#define NODES     32u
#define HOT       31u
#define LOAD      900u
#define RATE_MBPS 24000u /* 12X SDR */

struct corner {
	struct ibcc_topo *topo;
	struct ibcc_engine *e;
};

static void add(struct corner *c, uint32_t from, uint32_t to, uint32_t load_permille)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
				    .load_permille = load_permille };

	assert_true(ibcc_engine_add_flow(c->e, &f, fabric_port(c->topo, from, 1),
					 to == IBCC_NONE ? to : fabric_port(c->topo, to, 1)) >= 0);
}

static void corner_new(struct corner *c)
{
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	m.buffer_bytes = 72 * 1024;
	c->topo = fabric_tree2(8);
	for (uint32_t p = 0; p < c->topo->n_ports; p++)
		if (c->topo->port[p].rate_mbps)
			c->topo->port[p].rate_mbps = RATE_MBPS;
	c->e = engine_new(c->topo, &m, 1);
	for (uint32_t i = 0; i < NODES; i++) {
		add(c, i, IBCC_NONE, LOAD * 9 / 10);
		if (i != HOT)
			add(c, i, HOT, LOAD / 10);
	}
}

static uint64_t data_pkts(struct corner *c, uint32_t node)
{
	struct ibcc_engine_port p = engine_port_read(c->e, fabric_port(c->topo, node, 1));

	return p.rcv_pkts - p.rcv_becn; /* all CNPs, and only they, have BECN set */
}

/* Packets that reached all but the hot node, as a share of those offered to them; and the hot
 * node's share of its link.
 */
static void measure(struct corner *c, uint64_t from, uint64_t to, double *others, double *hot)
{
	uint64_t before = 0, after = 0, hot_before;
	double slots = (double)(to - from) / ((2048 + 26) * 8e6 / RATE_MBPS);

	engine_run(c->e, from);
	hot_before = data_pkts(c, HOT);
	for (uint32_t i = 0; i < HOT; i++)
		before += data_pkts(c, i);
	engine_run(c->e, to);
	for (uint32_t i = 0; i < HOT; i++)
		after += data_pkts(c, i);
	*others = (double)(after - before) / (slots * HOT * LOAD * 0.9 / 1000);
	*hot = (double)(data_pkts(c, HOT) - hot_before) / slots;
	print_message("others %.3f hot %.3f\n", *others, *hot);
}

static void test_large_hotspot_high_load(void **state)
{
	struct ibcc_cc_sw_setting s = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL, .Threshold = 2 };
	struct corner c;
	double others, hot;

	(void)state;
	corner_new(&c);
	measure(&c, 5 * MS, 10 * MS, &others, &hot);
	assert_near(others, 0.31, 0.15);
	assert_true(hot > 0.99);
	/* 90 % of the queue; min(N/6, HSD/2); 10 us; the table's end at 2/3 HSD us = 31 packets. */
	engine_reaction(c.e, c.topo, 5, 10, 31000);
	for (uint32_t n = NODES; n < c.topo->n_nodes; n++)
		assert_int_equal(ibcc_engine_set_switch_cc(c.e, n, &s), 0);
	measure(&c, 30 * MS, 50 * MS, &others, &hot);
	assert_true(others > 0.98);
	assert_true(hot > 0.94);
	ibcc_engine_free(c.e);
	ibcc_topo_free(c.topo);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_large_hotspot_high_load),
	};

	return cmocka_run_group_tests_name("engine_hotspot", tests, NULL, NULL);
}
