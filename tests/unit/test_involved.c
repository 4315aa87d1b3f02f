/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which traffic can be blocked, on fabrics where that is seen by eye; and that the twin gives the
 * rest the rates and latencies that it would have as packets.
 */
#include <math.h>
#include <stdlib.h>

#include <ibcc/route.h>
#include <ibcc/twin.h>

#include "fabrics.h"

#include "lib/engine/involved.h"

enum { M = 4 }; /* adapters 0 and 1 at the first leaf, 2 and 3 at the next, ... 7 */

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_traffic tr;
	struct ibcc_traffic_root root;
	double *wait, link;
	bool involved[16];
};

static void begin(struct fixture *f)
{
	*f = (struct fixture){ .t = fabric_tree2(M) };
	f->wait = calloc(f->t->n_ports, sizeof(*f->wait));
	assert_non_null(f->wait);
	f->link = f->t->port[fabric_port(f->t, 0, 1)].rate_mbps;
}

static void end(struct fixture *f)
{
	ibcc_traffic_fini(&f->tr);
	free(f->wait);
	ibcc_topo_free(f->t);
}

static struct ibcc_traffic_pair *add(struct fixture *f, uint32_t from, uint32_t to, double mbps)
{
	int err;
	struct ibcc_traffic_pair *p = ibcc_traffic_add(&f->tr, f->t, fabric_port(f->t, from, 1),
						       fabric_port(f->t, to, 1), &err);

	assert_non_null(p);
	p->carried = p->demand = mbps;
	return p;
}

/* A receiver that takes no more than a rate, and a sender to it that waits. */
static void block(struct fixture *f, uint32_t from, uint32_t to, uint32_t mbps)
{
	struct ibcc_traffic_pair *p = add(f, from, to, mbps);

	p->demand = f->link;
	p->root = 0;
	f->root = (struct ibcc_traffic_root){ .port = f->t->port[p->dst].peer,
					      .kind = IBCC_CONGESTION_OUTPUT,
					      .rate_mbps = mbps };
	f->wait[p->src] = 0.9;
}

static void find(struct fixture *f)
{
	assert_int_equal(ibcc_involved_pairs(f->t, &f->tr, f->root.port ? 1 : 0, &f->root, f->wait,
					     f->involved),
			 0);
}

/* The first adapter of another leaf to which a host goes by the same port of its leaf as to `to`,
 * or by another one.
 */
static uint32_t other_leaf(const struct fixture *f, uint32_t from, uint32_t to, bool same)
{
	struct ibcc_route a, b;

	assert_int_equal(ibcc_route_follow(f->t, fabric_port(f->t, from, 1),
					   f->t->port[fabric_port(f->t, to, 1)].lid, &a),
			 0);
	for (uint32_t i = 2; i < M * M / 2; i++) {
		if (i / 2 == from / 2 || i / 2 == to / 2)
			continue;
		assert_int_equal(ibcc_route_follow(f->t, fabric_port(f->t, from, 1),
						   f->t->port[fabric_port(f->t, i, 1)].lid, &b),
				 0);
		if ((a.out[1] == b.out[1]) == same)
			return i;
	}
	fail();
	return 0;
}

/* 0 waits for 7. All of 0 is involved. Of its neighbour, which does not wait, only that which goes
 * through the same port of the leaf.
 */
static void the_tree_of_a_root(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	block(&f, 0, 7, 2000);
	add(&f, 0, 1, 100);
	add(&f, 0, other_leaf(&f, 0, 7, false), 100);
	add(&f, 1, other_leaf(&f, 0, 7, true), 100);
	add(&f, 1, other_leaf(&f, 0, 7, false), 100);
	add(&f, 1, 0, 100);
	add(&f, 4, 5, 100);
	find(&f);
	assert_true(f.involved[0] && f.involved[1] && f.involved[2] && f.involved[3]);
	assert_false(f.involved[4] || f.involved[5] || f.involved[6]);
	/* As soon as the neighbour waits, all of it. */
	f.wait[fabric_port(f.t, 1, 1)] = 0.02;
	find(&f);
	assert_true(f.involved[4] && f.involved[5]);
	assert_false(f.involved[6]);
	/* Of an adapter that waits, also where no root is seen. */
	f.wait[fabric_port(f.t, 4, 1)] = 0.02;
	find(&f);
	assert_true(f.involved[6]);
	end(&f);
}

/* 0 and 2 wait for 7, and would send 5 more than its link carries if they did not. Then 4, which
 * sends to 5, would wait, too, and all it sends with it, although it does not now.
 */
static void a_link_that_may_be_full(void **state)
{
	struct fixture f;

	(void)state;
	begin(&f);
	block(&f, 0, 7, 2000);
	block(&f, 2, 7, 2000);
	add(&f, 0, 5, 100)->demand = 0.4 * f.link;
	add(&f, 2, 5, 100)->demand = 0.4 * f.link;
	add(&f, 4, 5, 0.05 * f.link);
	add(&f, 4, 6, 100);
	find(&f);
	assert_false(f.involved[4] || f.involved[5]);
	f.tr.pair[4].carried = f.tr.pair[4].demand = 0.15 * f.link;
	find(&f);
	assert_true(f.involved[4] && f.involved[5]);
	/* Full now, it holds no more adapters up later: 4 is not blocked now. */
	f.tr.pair[2].carried = f.tr.pair[2].demand;
	f.tr.pair[3].carried = f.tr.pair[3].demand;
	find(&f);
	assert_true(f.involved[4]);
	assert_false(f.involved[5]);
	end(&f);
}

static void run(struct fixture *f, const double *wait, struct ibcc_twin_state *now,
		struct ibcc_twin_state *then)
{
	struct ibcc_settings none;
	const struct ibcc_twin_in in = { .t = f->t,
					 .traffic = &f->tr,
					 .n_roots = 1,
					 .root = &f->root,
					 .now = &none,
					 .wait = wait };
	struct ibcc_twin *w;
	int err;

	assert_int_equal(ibcc_settings_init(&none, f->t), 0);
	w = ibcc_twin_new(&in, &err);
	assert_non_null(w);
	assert_int_equal(ibcc_twin_replay(w, now), 0);
	assert_int_equal(ibcc_twin_try(w, &none, then), 0);
	ibcc_twin_free(w);
	ibcc_settings_fini(&none);
}

static void near(const char *what, uint32_t i, double got, double want, double share, double least)
{
	if (fabs(got - want) > fmax(share * want, least))
		fail_msg("%s %u: %g, and %g with all packets", what, i, got, want);
}

/* Three standard deviations of the packets of 6 ms that arrive at random, as a rate. */
static double noise(double mbps)
{
	return 3 * sqrt(mbps * 2074 * 8 / 6000);
}

static void same(const struct fixture *f, const struct ibcc_twin_state *a,
		 const struct ibcc_twin_state *b)
{
	for (uint32_t i = 0; i < f->t->n_ports; i++) {
		near("rate of port", i, a->mbps[i], b->mbps[i], 0, noise(a->mbps[i]));
		near("wait of port", i, a->wait[i], b->wait[i], 0.04, 0.01);
	}
	for (uint32_t i = 0; i < f->tr.n_pairs; i++) {
		near("rate of pair", i, a->pair_mbps[i], b->pair_mbps[i], 0,
		     noise(a->pair_mbps[i]));
		/* The formula is for packets from many inputs; two bring less than that together.
		 */
		near("latency of pair", i, a->pair_us[i], b->pair_us[i], 0.20, 0);
	}
}

/* A blocked sender beside others, which load links by up to 70 %: with and without packets for
 * these it is the same. The pair that has no packets also has no wait.
 */
static void rates_in_place_of_packets(void **state)
{
	struct fixture f;
	struct ibcc_twin_state now[2], then[2];

	(void)state;
	begin(&f);
	block(&f, 0, 7, 2000);
	add(&f, 0, 1, 2000);
	add(&f, 2, 5, 0.3 * f.link);
	add(&f, 3, 5, 0.4 * f.link);
	add(&f, 4, 3, 0.2 * f.link);
	add(&f, 1, 2, 500);
	find(&f);
	assert_true(f.involved[0] && f.involved[1]);
	assert_false(f.involved[2] || f.involved[3] || f.involved[4]);
	run(&f, NULL, &now[0], &then[0]);
	run(&f, f.wait, &now[1], &then[1]);
	same(&f, &now[1], &now[0]);
	same(&f, &then[1], &then[0]);
	assert_true(now[1].pair_mbps[2] == f.tr.pair[2].carried);
	for (int i = 0; i < 2; i++) {
		ibcc_twin_state_fini(&now[i]);
		ibcc_twin_state_fini(&then[i]);
	}
	end(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_tree_of_a_root),
		cmocka_unit_test(a_link_that_may_be_full),
		cmocka_unit_test(rates_in_place_of_packets),
	};

	return cmocka_run_group_tests_name("involved", tests, NULL, NULL);
}
