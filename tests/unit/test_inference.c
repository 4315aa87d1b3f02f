/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traffic inferred from loads of links, against matrices that the loads were made from. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/rng.h>
#include <ibcc/traffic.h>

#include "fabrics.h"

#include "lib/engine/least.h"

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_loads before, now;
};

static void begin(struct fixture *f, struct ibcc_topo *t)
{
	f->t = t;
	assert_int_equal(ibcc_loads_init(&f->before, t->n_ports), 0);
	assert_int_equal(ibcc_loads_init(&f->now, t->n_ports), 0);
	f->before.n = f->now.n = 3;
}

static void end(struct fixture *f, struct ibcc_traffic *t)
{
	ibcc_traffic_fini(t);
	ibcc_loads_fini(&f->before);
	ibcc_loads_fini(&f->now);
	ibcc_topo_free(f->t);
}

static uint32_t host(const struct fixture *f, const char *desc)
{
	uint32_t node = ibcc_topo_find_desc(f->t, desc);

	assert_true(node != IBCC_NONE);
	return fabric_port(f->t, node, 1);
}

/* What a source sends to a destination loads all links of its way. */
static void send(struct fixture *f, struct ibcc_loads *l, const char *from, const char *to,
		 double mbps)
{
	struct ibcc_route r;

	assert_int_equal(ibcc_route_follow(f->t, host(f, from), f->t->port[host(f, to)].lid, &r),
			 0);
	for (unsigned int i = 0; i < r.n; i++)
		l->mbps[r.out[i]] += mbps;
}

static void infer(struct fixture *f, struct ibcc_traffic_root *root, bool history,
		  struct ibcc_traffic *out)
{
	const struct ibcc_traffic_in in = { .t = f->t,
					    .before = history ? &f->before : NULL,
					    .now = &f->now,
					    .n_roots = root ? 1 : 0,
					    .root = root };

	assert_int_equal(ibcc_traffic_infer(&in, out), 0);
}

/* Of a pair, old and new together. */
static void pair_of(const struct fixture *f, const struct ibcc_traffic *t, const char *from,
		    const char *to, double *carried, double *demand)
{
	*carried = *demand = 0;
	for (uint32_t i = 0; i < t->n_pairs; i++)
		if (t->pair[i].src == host(f, from) && t->pair[i].dst == host(f, to)) {
			*carried += t->pair[i].carried;
			*demand += t->pair[i].demand;
		}
}

static void about(double got, double want, double off)
{
	if (!(fabs(got - want) <= off * want))
		fail_msg("%g instead of %g", got, want);
}

/* Three hosts, by hand: before, a sends 4000 to b and 2000 to c, that is all. Now b takes nothing
 * beyond 1000, so a waits, and gets 500 through to c: all of a is cut to a quarter.
 */
static void three_hosts(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	struct ibcc_traffic_root root;
	struct ibcc_traffic out;
	struct fixture f;
	double carried, demand;

	(void)state;
	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "a");
	fabric_node(t, IBCC_NODE_CA, 1, "b");
	fabric_node(t, IBCC_NODE_CA, 1, "c");
	fabric_node(t, IBCC_NODE_SWITCH, 4, "s");
	for (uint32_t i = 0; i < 3; i++)
		fabric_link(t, i, 1, 3, i + 1);
	assert_int_equal(ibcc_route_compute(t), 0);
	begin(&f, t);
	send(&f, &f.before, "a", "b", 4000);
	send(&f, &f.before, "a", "c", 2000);
	send(&f, &f.now, "a", "b", 1000);
	send(&f, &f.now, "a", "c", 500);
	f.now.wait[host(&f, "a")] = 0.95;
	root = (struct ibcc_traffic_root){ .port = fabric_port(t, 3, 2),
					   .kind = IBCC_CONGESTION_OUTPUT,
					   .rate_mbps = 1000 };
	infer(&f, &root, true, &out);
	pair_of(&f, &out, "a", "c", &carried, &demand);
	about(carried, 500, 0.01);
	about(demand, 2000, 0.01);
	pair_of(&f, &out, "a", "b", &carried, &demand);
	about(carried, 1000, 0.01);
	assert_true(demand >= 3960);
	end(&f, &out);
}

/* A matrix by chance; sources of a hotspot at h0 wait and are cut. */
static void draw(struct fixture *f, uint64_t seed, unsigned int n)
{
	uint64_t rng = seed;

	for (unsigned int s = 0; s < n; s++) {
		bool hot = s && ibcc_rng_below(&rng, 3) == 0;
		double cut = hot ? 0.3 + 0.05 * ibcc_rng_below(&rng, 10) : 1;
		char from[16], to[16];

		snprintf(from, sizeof(from), "h%u", s);
		for (unsigned int d = 0; d < n; d++) {
			double mbps = 20.0 + ibcc_rng_below(&rng, 300);

			snprintf(to, sizeof(to), "h%u", d);
			if (s == d)
				continue;
			send(f, &f->before, from, to, mbps);
			send(f, &f->now, from, to, cut * mbps);
		}
		if (!hot)
			continue;
		send(f, &f->now, from, "h0", 1500);
		f->now.wait[host(f, from)] = 0.6;
	}
}

static struct ibcc_traffic_root root_at(const struct fixture *f, const char *desc)
{
	uint32_t port = f->t->port[host(f, desc)].peer;

	return (struct ibcc_traffic_root){ .port = port,
					   .kind = IBCC_CONGESTION_OUTPUT,
					   .rate_mbps = (uint32_t)f->now.mbps[port] };
}

static void loads_are_met(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct ibcc_traffic_root root;
		struct ibcc_traffic out;
		struct fixture f;
		double *sum;

		begin(&f, fabric_tree2(6));
		draw(&f, seed, 18);
		root = root_at(&f, "h0");
		infer(&f, &root, true, &out);
		assert_true(out.misfit <= 0.01);
		sum = calloc(f.t->n_ports, sizeof(*sum));
		assert_non_null(sum);
		for (uint32_t i = 0; i < out.n_pairs; i++) {
			assert_true(out.pair[i].carried >= 0);
			assert_true(out.pair[i].demand >= out.pair[i].carried * (1 - 1e-9));
			for (uint32_t k = 0; k < out.pair[i].hops; k++)
				sum[out.hop[out.pair[i].first_hop + k]] += out.pair[i].carried;
		}
		for (uint32_t i = 0; i < f.t->n_ports; i++)
			if (f.now.mbps[i] > 100)
				about(sum[i], f.now.mbps[i], 0.01);
		free(sum);
		end(&f, &out);
	}
}

/* The same fabric with its hosts added in another order, on the same ports. */
static struct ibcc_topo *renumbered(const struct ibcc_topo *from, const uint32_t *order)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		const struct ibcc_topo_node *n = &from->node[order[i]];

		assert_true(ibcc_topo_add_node(t, n->guid, n->type, n->n_ports, n->desc) >= 0);
	}
	for (uint32_t i = 0; i < from->n_ports; i++) {
		const struct ibcc_topo_port *p = &from->port[i];
		const struct ibcc_topo_port *q;

		if (p->peer == IBCC_NONE || p->peer < i)
			continue;
		q = &from->port[p->peer];
		assert_int_equal(ibcc_topo_link(t, ibcc_topo_find_guid(t, from->node[p->node].guid),
						p->num,
						ibcc_topo_find_guid(t, from->node[q->node].guid),
						q->num, p->rate_mbps, p->mtu_bytes),
				 0);
	}
	for (uint32_t i = 0; i < from->n_nodes; i++) {
		uint32_t node = ibcc_topo_find_guid(t, from->node[i].guid);
		bool sw = ibcc_topo_is_switch(from, i);
		uint32_t port = from->node[i].first_port + (sw ? 0 : 1);

		assert_int_equal(ibcc_topo_set_lid(t, t->node[node].first_port + (sw ? 0 : 1),
						   from->port[port].lid, 0),
				 0);
		if (sw)
			assert_int_equal(ibcc_topo_set_lft(t, node, from->node[i].lft,
							   from->node[i].lft_len),
					 0);
	}
	return t;
}

static void numbers_of_hosts_do_not_count(void **state)
{
	struct ibcc_traffic_root root;
	struct ibcc_traffic one, other;
	struct fixture f, g;
	uint32_t order[64];

	(void)state;
	begin(&f, fabric_tree2(6));
	for (uint32_t i = 0; i < f.t->n_nodes; i++)
		order[i] = f.t->n_nodes - 1 - i;
	begin(&g, renumbered(f.t, order));
	draw(&f, 4711, 18);
	draw(&g, 4711, 18);
	root = root_at(&f, "h0");
	infer(&f, &root, true, &one);
	root = root_at(&g, "h0");
	infer(&g, &root, true, &other);
	assert_int_equal(one.n_pairs, other.n_pairs);
	for (uint32_t i = 0; i < one.n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &one.pair[i];
		const char *from = f.t->node[f.t->port[p->src].node].desc;
		const char *to = f.t->node[f.t->port[p->dst].node].desc;
		double carried, demand, want, wish;

		pair_of(&f, &one, from, to, &want, &wish);
		pair_of(&g, &other, from, to, &carried, &demand);
		about(carried, want, 1e-9);
		about(demand, wish, 1e-9);
	}
	end(&f, &one);
	end(&g, &other);
}

/* Of a large fabric a part of all pairs does, and meets the loads all the same. */
static void large_fabrics_are_sparse(void **state)
{
	struct ibcc_traffic out;
	struct fixture f;
	uint64_t rng = 5;

	(void)state;
	begin(&f, fabric_tree2(24));
	for (unsigned int i = 0; i < 288 * 40; i++) {
		char from[16], to[16];
		uint32_t s = ibcc_rng_below(&rng, 288), d = ibcc_rng_below(&rng, 288);

		snprintf(from, sizeof(from), "h%u", s);
		snprintf(to, sizeof(to), "h%u", d);
		if (s != d)
			send(&f, &f.now, from, to, 100);
	}
	infer(&f, NULL, false, &out);
	assert_true(out.n_pairs <= 16384 + 288);
	assert_true(out.misfit <= 0.02);
	end(&f, &out);
}

#define SENDERS 6u
#define TAKES   6000.0 /* what their receiver does */

/* All six may send without end; under the plan each has a sixth of what the receiver takes. */
static void carry(struct fixture *f, struct ibcc_traffic *out, double first_two, double others)
{
	int err;

	ibcc_traffic_fini(out);
	for (uint32_t i = 0; i < SENDERS; i++) {
		struct ibcc_traffic_pair *p = ibcc_traffic_add(out, f->t, fabric_port(f->t, i, 1),
							       fabric_port(f->t, SENDERS, 1), &err);

		assert_non_null(p);
		p->root = 0;
		p->carried = i < 2 ? first_two : others;
		p->demand = QDR_MBPS;
	}
}

/* All ports mark, and a marked flow ends with so much. */
static void hold_at(struct ibcc_settings *s, double mbps)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct ibcc_endport_cc *ep = &s->ep[i];
		double times = QDR_MBPS / mbps - 1;

		ep->support = IBCC_CC_SUPPORTED;
		ep->ca.sl[0].CCTI_Increase = 1;
		ep->cct.limit = 1;
		ep->cct.entry[1] = ibcc_cct_entry_encode((uint32_t)lround(1000 * times));
		ep->sw.Threshold = 15;
	}
}

static void assert_least(const struct ibcc_traffic_in *in, const struct ibcc_traffic *t,
			 const struct ibcc_settings *wanted, double want)
{
	double least[1];

	assert_int_equal(ibcc_least_rates(in, t, wanted, least), 0);
	assert_true(fabs(least[0] - want) < 0.01);
}

/* By hand: where two of six contribute a plan for six leaves the root at a third, until they
 * recover; where all do, or none is held, it stays as it is, and does not matter.
 */
static void who_contributes_may_matter(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	struct ibcc_traffic out = { 0 };
	struct ibcc_traffic_root root;
	struct ibcc_settings wanted;
	struct fixture f;

	(void)state;
	assert_non_null(t);
	for (uint32_t i = 0; i <= SENDERS; i++) {
		char name[] = { (char)('a' + i), '\0' };

		fabric_node(t, IBCC_NODE_CA, 1, name);
	}
	fabric_node(t, IBCC_NODE_SWITCH, 8, "s");
	for (uint32_t i = 0; i <= SENDERS; i++)
		fabric_link(t, i, 1, SENDERS + 1, i + 1);
	assert_int_equal(ibcc_route_compute(t), 0);
	begin(&f, t);
	root = (struct ibcc_traffic_root){ .port = t->port[fabric_port(t, SENDERS, 1)].peer,
					   .kind = IBCC_CONGESTION_OUTPUT };
	f.now.mbps[root.port] = TAKES;
	assert_int_equal(ibcc_settings_init(&wanted, t), 0);
	hold_at(&wanted, TAKES / SENDERS);
	{
		const struct ibcc_traffic_in in = {
			.t = t, .now = &f.now, .n_roots = 1, .root = &root
		};

		carry(&f, &out, TAKES / 2, 0);
		assert_least(&in, &out, &wanted, 1.0 / 3);
		carry(&f, &out, TAKES / SENDERS, TAKES / SENDERS);
		assert_least(&in, &out, &wanted, 1);
		carry(&f, &out, TAKES / 2, 0);
		for (uint32_t i = 0; i < wanted.n; i++)
			wanted.ep[i].sw.Threshold = 0;
		assert_least(&in, &out, &wanted, 1);
		/* Emptied first: all are held to a quarter of their shares, without a difference.
		 */
		carry(&f, &out, TAKES / SENDERS, TAKES / SENDERS);
		hold_at(&wanted, TAKES / SENDERS / 4);
		assert_least(&in, &out, &wanted, 0.25);
	}
	ibcc_settings_fini(&wanted);
	end(&f, &out);
}

/* All-to-all traffic: each host sends to as many others as are asked for and receives from as many,
 * also where twice as many less two would divide evenly (32 hosts). The fullest link is as busy as
 * asked for.
 */
static void all_to_all(void **state)
{
	static const struct {
		uint32_t ports, peers, each; /* of a tree of ports * ports / 2 hosts */
	} c[] = { { 4, 16, 7 }, { 6, 16, 16 }, { 8, 16, 16 }, { 8, 31, 31 }, { 10, 16, 16 } };

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		struct ibcc_topo *t = fabric_tree2(c[i].ports);
		uint32_t n = c[i].ports * c[i].ports / 2;
		double *load = calloc(t->n_ports, sizeof(*load)), most = 0;
		struct ibcc_traffic all;

		assert_non_null(load);
		assert_int_equal(ibcc_traffic_all(t, c[i].peers, 0.8, &all), 0);
		for (uint32_t h = 0; h < n; h++) {
			uint32_t port = fabric_port(t, h, 1), sends = 0, receives = 0;

			for (uint32_t k = 0; k < all.n_pairs; k++) {
				assert_int_not_equal(all.pair[k].src, all.pair[k].dst);
				sends += all.pair[k].src == port;
				receives += all.pair[k].dst == port;
			}
			assert_int_equal(sends, c[i].each);
			assert_int_equal(receives, c[i].each);
		}
		for (uint32_t k = 0; k < all.n_pairs; k++)
			for (uint32_t hop = 0; hop < all.pair[k].hops; hop++)
				load[all.hop[all.pair[k].first_hop + hop]] += all.pair[k].carried;
		for (uint32_t k = 0; k < t->n_ports; k++)
			most = fmax(most, load[k]);
		assert_true(fabs(most - 0.8 * QDR_MBPS) < 1);
		ibcc_traffic_fini(&all);
		free(load);
		ibcc_topo_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(three_hosts),
		cmocka_unit_test(who_contributes_may_matter),
		cmocka_unit_test(loads_are_met),
		cmocka_unit_test(numbers_of_hosts_do_not_count),
		cmocka_unit_test(large_fabrics_are_sparse),
		cmocka_unit_test(all_to_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
