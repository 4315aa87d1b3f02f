/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Multipath in a tree of two levels: four leaves with two hosts each, two roots. */
#include "engines.h"

#define US    IBCC_PS_PER_US
#define LEAF0 8u
#define UP1   3u /* ports of a leaf to the roots */
#define UP2   4u

struct tree {
	struct ibcc_topo *topo;
	struct ibcc_model model;
	struct ibcc_engine *e;
};

static void start(struct tree *t, enum ibcc_routing routing)
{
	t->topo = fabric_tree2(4);
	ibcc_model_defaults(&t->model);
	t->model.routing = routing;
	t->e = engine_new(t->topo, &t->model, 1);
}

static void finish(struct tree *t)
{
	ibcc_engine_free(t->e);
	ibcc_topo_free(t->topo);
}

/* The first output of leaf 0 on the way of the forwarding tables. */
static uint32_t first_up(const struct tree *t, uint32_t host)
{
	struct ibcc_route r;

	assert_int_equal(ibcc_route_follow(t->topo, fabric_port(t->topo, 0, 1),
					   t->topo->port[fabric_port(t->topo, host, 1)].lid, &r),
			 0);
	return r.out[1];
}

/* A host that the tables reach by the same root as `host`, at another leaf. */
static uint32_t same_root(const struct tree *t, uint32_t host)
{
	for (uint32_t h = 2; h < 8; h++)
		if (h / 2 != host / 2 && first_up(t, h) == first_up(t, host))
			return h;
	fail_msg("no host by the same root");
	return 0;
}

/* Both hosts of leaf 0 send to hosts by the same root: by the tables they share one link;
 * adaptively they have one each. At random, the link that got more of the packets is the limit.
 */
static void test_throughput(void **state)
{
	static const struct {
		enum ibcc_routing routing;
		double low, high; /* of two links */
	} want[] = { { IBCC_ROUTING_STATIC, 0.495, 0.505 },
		     { IBCC_ROUTING_RANDOM, 0.8, 1 },
		     { IBCC_ROUTING_ADAPTIVE, 0.99, 1 } };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct engine_rates r;
		struct tree t;
		double share;

		start(&t, want[i].routing);
		engine_flow(t.e, t.topo, 0, 2, 0);
		engine_flow(t.e, t.topo, 1, same_root(&t, 2), 0);
		engine_rates(t.e, 500 * US, 5000 * US, &r);
		share = (r.mbytes[0] + r.mbytes[1]) / (2 * 4000 * 2048.0 / 2074);
		print_message("routing %d: %.3f of both links\n", want[i].routing, share);
		assert_true(share >= want[i].low && share <= want[i].high * 1.001);
		finish(&t);
	}
}

/* Random: each of two links gets half, to within four standard deviations. */
static void test_spread(void **state)
{
	struct ibcc_engine_port a, b;
	struct tree t;
	double n;

	(void)state;
	start(&t, IBCC_ROUTING_RANDOM);
	engine_flow(t.e, t.topo, 0, 7, 0);
	engine_run(t.e, 10000 * US);
	a = engine_port_read(t.e, fabric_port(t.topo, LEAF0, UP1));
	b = engine_port_read(t.e, fabric_port(t.topo, LEAF0, UP2));
	n = (double)(a.xmit_pkts + b.xmit_pkts);
	assert_true(n > 15000);
	assert_true(fabs((double)a.xmit_pkts - n / 2) < 4 * sqrt(n) / 2);
	finish(&t);
}

/* One way: never out of order. Two ways, one of them with cross traffic: often. Counted once for
 * each late packet, so never more than were received; all arrive nevertheless.
 */
static void test_order(void **state)
{
	static const enum ibcc_routing routings[] = { IBCC_ROUTING_STATIC, IBCC_ROUTING_RANDOM,
						      IBCC_ROUTING_ADAPTIVE };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_engine_totals o;
		struct ibcc_engine_flow f;
		struct tree t;

		start(&t, routings[i]);
		for (uint32_t h = 0; h < 8; h++) {
			struct ibcc_flow_spec s = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
						    .load_permille = 700,
						    .stop_ps = 2000 * US };

			assert_true(ibcc_engine_add_flow(t.e, &s, fabric_port(t.topo, h, 1),
							 fabric_port(t.topo, (h + 3) % 8, 1)) >= 0);
		}
		engine_run(t.e, 10000 * US);
		ibcc_engine_totals(t.e, &o);
		assert_int_equal(o.injected, o.delivered);
		f = engine_flow_read(t.e, 0);
		print_message("routing %d: %llu of %llu out of order\n", routings[i],
			      (unsigned long long)f.reordered_pkts,
			      (unsigned long long)f.received_pkts);
		if (routings[i] == IBCC_ROUTING_STATIC)
			assert_int_equal(f.reordered_pkts, 0);
		else
			assert_true(f.reordered_pkts > 0 && f.reordered_pkts < f.received_pkts);
		finish(&t);
	}
}

/* A way that is down is not taken; hosts at the same switch never need one; new LIDs are known. */
static void test_changes(void **state)
{
	struct ibcc_engine_flow f;
	struct tree t;
	uint32_t port, near;

	(void)state;
	start(&t, IBCC_ROUTING_ADAPTIVE);
	port = fabric_port(t.topo, LEAF0, UP1);
	assert_int_equal(ibcc_engine_set_link(t.e, port, false), 0);
	engine_flow(t.e, t.topo, 0, 7, 0);
	near = engine_flow(t.e, t.topo, 1, 0, 0);
	engine_run(t.e, 1000 * US);
	f = engine_flow_read(t.e, 0);
	assert_int_equal(f.dropped_pkts, 0);
	assert_near((double)f.received_pkts, 1000 / 0.5185, 0.01);
	assert_near((double)engine_flow_read(t.e, near).received_pkts, 1000 / 0.5185, 0.01);
	assert_int_equal(engine_port_read(t.e, port).xmit_pkts, 0);
	assert_int_equal(ibcc_engine_set_link(t.e, port, true), 0);
	engine_run(t.e, 2000 * US);
	assert_true(engine_port_read(t.e, port).xmit_pkts > 0);
	finish(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_throughput),
		cmocka_unit_test(test_spread),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_changes),
	};

	return cmocka_run_group_tests_name("engine_paths", tests, NULL, NULL);
}
