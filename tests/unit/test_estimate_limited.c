/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which pairs a root limits, by what switches logged and by BECNs, and what it leaves them: max-min
 * allocations worked out by hand. Links carry 32000 Mb/s. After five passes of the same counts are
 * 1 + .95 + ... = 4.524 times those of one.
 */
#include "estimates.h"

static uint32_t full_root(struct fixture *f)
{
	uint32_t port = hold(f, 8, 3, IBCC_CONGESTION_INPUT, 32000);

	f->tr.port[port] = load(30000, 0, 0);
	return port;
}

/* Takes 6000 Mb/s. */
static uint32_t slow_root(struct fixture *f)
{
	uint32_t port = hold(f, 11, 1, IBCC_CONGESTION_OUTPUT, 6000);

	f->tr.port[port] = load(6000, 500, 0);
	return port;
}

static void give_becns(struct fixture *f, uint32_t node, uint32_t n)
{
	traffic_at(&f->tr, node, 1)->becn = n;
}

static void assert_limits(const struct fixture *f, uint32_t port, uint32_t n, double mbps)
{
	assert_true(at(f, port)->logged);
	assert_int_equal(at(f, port)->n_limited, n);
	assert_about(at(f, port)->limited_mbps, mbps);
}

/* Pairs of so many BECNs, whose packets are in the log. */
struct group {
	uint32_t n, becns, packets;
};

/* A receiver of the tree of 8-port switches takes 10000 Mb/s and gets 6800, each pair of it what
 * its BECNs are of all, from another adapter: those may vary by a thousandth.
 */
static uint32_t give_groups(struct fixture *f, const struct group *g, unsigned int n)
{
	uint32_t port, node = 0;

	if (!f->last.n_roots)
		hold(f, 39, 1, IBCC_CONGESTION_OUTPUT, 10000);
	begin_anew(f);
	port = f->last.root[0].r.port;
	f->tr.port[port] = load(6800, 0, 0);
	for (unsigned int i = 0; i < n; i++)
		for (uint32_t k = 0; k < g[i].n; k++, node += node == 27 ? 2 : 1) {
			give_becns(f, node, 10000 * g[i].becns);
			log_pair(f, port, node, 28, g[i].packets);
		}
	return port;
}

/* The level of the limited pairs is sum(becns^2) / sum(becns) over those with .65 of the one
 * before; `level`: how many have that. It is believed if they stand out, or did before (`told`): -1
 * is not.
 */
static void test_level(void **state)
{
	static const struct {
		struct group g[2];
		bool told;
		int level;
		uint32_t rest; /* of the BECNs */
	} row[] = {
		{ { { 5, 40, 4 } }, false, 5, 0 },
		{ { { 3, 100, 4 }, { 4, 10, 1 } }, false, 3, 40 },
		{ { { 2, 100, 4 }, { 2, 60, 4 } }, false, 4, 0 }, /* level 85 */
		{ { { 10, 100, 4 }, { 1, 62, 4 } }, false, 10, 62 },
		{ { { 10, 100, 4 }, { 1, 68, 4 } }, false, 11, 0 },
		/* At least .4 are at it, */
		{ { { 1, 100, 4 }, { 30, 10, 4 } }, false, -1, 0 },
		{ { { 1, 100, 4 }, { 30, 10, 4 } }, true, 1, 300 },
		{ { { 2, 100, 4 }, { 9, 30, 4 } }, false, 2, 270 },
		{ { { 2, 100, 4 }, { 11, 30, 4 } }, false, -1, 0 },
		{ { { 2, 100, 4 }, { 11, 30, 4 } }, true, 2, 330 },
		/* half as many at most have .35 to .65 of it, */
		{ { { 8, 100, 4 }, { 9, 40, 4 } }, false, 8, 360 },
		{ { { 8, 100, 4 }, { 11, 40, 4 } }, false, -1, 0 },
		{ { { 8, 100, 4 }, { 11, 40, 4 } }, true, 8, 440 },
		/* and a tenth 1.5 times, unless that may be chance: 20 packets of 9 pass by. */
		{ { { 10, 100, 4 }, { 1, 160, 4 } }, false, 11, 0 },
		{ { { 10, 100, 4 }, { 1, 200, 4 } }, false, -1, 0 },
		{ { { 10, 100, 4 }, { 1, 200, 4 } }, true, 11, 0 },
		{ { { 20, 100, 4 }, { 1, 200, 4 } }, false, 21, 0 },
		{ { { 16, 100, 4 }, { 1, 200, 4 } }, false, -1, 0 },
		{ { { 10, 100, 2 }, { 1, 0, 4 } }, false, 11, 0 },
		{ { { 10, 100, 6 }, { 1, 0, 12 } }, false, -1, 0 },
		/* It needs 60 packets, or 30, and 6 of each pair. */
		{ { { 2, 100, 6 } }, false, -1, 0 },
		{ { { 2, 100, 7 } }, false, 2, 0 },
		{ { { 2, 100, 3 } }, true, -1, 0 },
		{ { { 1, 100, 4 }, { 1, 100, 3 } }, true, 2, 0 },
		{ { { 10, 100, 2 } }, false, 10, 0 },
		{ { { 6, 100, 2 }, { 4, 100, 1 } }, false, 10, 0 },
		{ { { 3, 100, 2 }, { 9, 100, 1 } }, false, -1, 0 },
		{ { { 3, 100, 2 }, { 9, 100, 1 } }, true, -1, 0 },
	};
	struct fixture *f = *state;

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct group *g = row[i].g;
		uint32_t all = g[0].n * g[0].becns + g[1].n * g[1].becns;
		uint32_t port = give_groups(f, g, 2);
		double want = row[i].level < 0 ? 0 : 10000 - 6800. * row[i].rest / all;
		const struct ibcc_root *r;

		f->last.root[0].r.limits_known = row[i].told;
		passes(f, 5);
		r = at(f, port);
		if (r->logged != (row[i].level >= 0) ||
		    (r->logged && (int)r->n_limited != row[i].level) ||
		    fabs(r->limited_mbps - want) > .01)
			fail_msg("row %u: %u of %.9g", i, r->n_limited, r->limited_mbps);
	}
}

/* Half a deviation more than was counted might be the pair's: 4.8 packets and 1.1 are .65 of 9.05,
 * 4.7 and 1.1 are not.
 */
static void test_in_doubt(void **state)
{
	static const unsigned int packets[2][5] = { { 0, 0, 1, 2, 2 }, { 0, 0, 2, 2, 1 } };
	static const struct group g = { 10, 100, 2 };
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 2; i++) {
		uint32_t port = give_groups(f, &g, 1);

		for (unsigned int k = 0; k < 5; k++) {
			f->n_log = 20;
			log_pair(f, port, 20, 28, packets[i][k]);
			pass(f);
		}
		assert_int_equal(at(f, port)->n_limited, i ? 10 : 11);
	}
}

/* One BECN varies by all of it, of which half is believed: the level of half a BECN for 18 packets
 * is 9 for one, and for 9 it is 4.5.
 */
static void test_chance(void **state)
{
	static const struct group g[] = { { 8, 0, 4 }, { 8, 0, 2 } };
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 2; i++) {
		uint32_t port = give_groups(f, &g[i], 1);

		passes(f, 4);
		for (uint32_t node = 0; node < 8; node++)
			give_becns(f, node, 1);
		pass(f);
		assert_int_equal(at(f, port)->logged, !i);
	}
}

/* Adapter 0 sends through one root alone: all its BECNs are from there, nine of ten for the pair
 * that has as many of its packets. They fade as packets do.
 */
static void test_becns(void **state)
{
	struct fixture *f = *state;
	uint32_t full = full_root(f);

	log_pair(f, full, 0, 2, 9);
	log_pair(f, full, 0, 4, 1);
	log_pair(f, full, 1, 2, 5);
	give_becns(f, 0, 1000);
	give_becns(f, 1, 800);
	passes(f, 5);
	assert_limits(f, full, 2, 32000 - 30000 * 100 / 1800.);
	/* They are void where nothing can be learned. */
	f->last.root[0].r.in_force = false;
	pass(f);
	f->last.root[0].r.in_force = true;
	f->n_log = 0;
	log_pair(f, full, 0, 2, 9);
	log_pair(f, full, 1, 2, 9);
	give_becns(f, 0, 1000);
	give_becns(f, 1, 1000);
	pass(f);
	give_becns(f, 0, 0);
	passes(f, 4);
	assert_limits(f, full, 1, 32000 - 30000 / (1 + (1 - pow(.95, 5)) / .05 / pow(.95, 4)));
}

/* A node that is silent for long, and then tells what came in all that time, is what it was; one
 * that did not answer from the start has as much as others, not as much as they have had since.
 */
static void test_missing_becns(void **state)
{
	struct fixture *f = *state;
	uint32_t full = full_root(f);

	log_pair(f, full, 0, 2, 9);
	log_pair(f, full, 1, 2, 9);
	give_becns(f, 0, 1000);
	give_becns(f, 1, 1000);
	passes(f, 30);
	assert_limits(f, full, 2, 32000);
	traffic_at(&f->tr, 1, 1)->silent = true;
	passes(f, 60);
	assert_limits(f, full, 2, 32000);
	traffic_at(&f->tr, 1, 1)->silent = false;
	passes(f, 2);
	assert_limits(f, full, 2, 32000);
	ibcc_estimator_reset(f->m);
	traffic_at(&f->tr, 1, 1)->silent = true;
	passes(f, 30);
	assert_limits(f, full, 2, 32000);
	traffic_at(&f->tr, 1, 1)->silent = false;
	pass(f);
	assert_limits(f, full, 2, 32000);
}

/* Where all ports of the switch mark, BECNs may be from any of them, and the log alone tells. */
static void test_becns_of_a_switch(void **state)
{
	struct fixture *f = *state;
	uint32_t full = full_root(f);

	sw_cc(f, f->t->port[full].node)->sw.Threshold = 9;
	log_pair(f, full, 0, 2, 9);
	log_pair(f, full, 0, 4, 9);
	log_pair(f, full, 1, 2, 9);
	give_becns(f, 0, 1000);
	give_becns(f, 1, 100);
	passes(f, 5);
	assert_limits(f, full, 3, 32000);
}

/* Adapter 1 was logged at both roots: whose BECNs it got is not known. Adapter 0's 2000 for 20
 * packets tell that two stand for 200 of 2200. Its pair to the slow root takes 3000 of the full
 * one.
 */
static void test_becns_of_two(void **state)
{
	struct fixture *f = *state;
	uint32_t full = full_root(f), slow = slow_root(f);

	log_pair(f, full, 0, 2, 10);
	log_pair(f, full, 0, 4, 10);
	log_pair(f, full, 1, 2, 2);
	log_pair(f, slow, 1, 6, 8);
	log_pair(f, slow, 2, 6, 8);
	give_becns(f, 0, 2000);
	give_becns(f, 1, 5000);
	passes(f, 5);
	assert_limits(f, full, 2, 29000 - 30000 * 200 / 2200.);
	assert_limits(f, slow, 2, 6000);
	/* Less than a packet at another root counts for none: with its 3000 it is the heaviest. */
	f->n_log = 0;
	log_pair(f, full, 0, 2, 5);
	log_pair(f, full, 0, 4, 5);
	log_pair(f, full, 1, 2, 5);
	log_pair(f, slow, 2, 6, 8);
	give_becns(f, 1, 3000);
	passes(f, 50); /* 36.2 * .95^50 = 2.8 */
	assert_int_equal(at(f, full)->n_limited, 3);
	passes(f, 21); /* .95 */
	assert_int_equal(at(f, full)->n_limited, 1);
}

/* Adapter 1 contributes to the slow root, too, of which nothing is learned: its BECNs may be from
 * there while that one marks. By the log it has a fifth of what adapter 0 has.
 */
static void test_becns_of_unlearned(void **state)
{
	static const struct {
		enum ibcc_phase phase;
		bool in_force, member, counts;
	} row[] = {
		{ IBCC_PHASE_WATCH, true, true, true },  { IBCC_PHASE_LEARN, true, true, false },
		{ IBCC_PHASE_DRAIN, true, true, false }, { IBCC_PHASE_BARRED, true, true, true },
		{ IBCC_PHASE_HOLD, true, true, true },   { IBCC_PHASE_HOLD, false, true, false },
		{ IBCC_PHASE_HOLD, false, false, true },
	};
	struct fixture *f = *state;
	uint32_t full = full_root(f), slow = slow_root(f);
	struct ibcc_root_parameters *r = &ibcc_parameters_find(&f->last, slow)->r;

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		begin_anew(f);
		f->tr.port[full] = load(30000, 0, 0);
		log_pair(f, full, 0, 2, 20);
		log_pair(f, full, 1, 2, 4);
		give_becns(f, 0, 1000);
		give_becns(f, 1, 1000);
		r->phase = row[i].phase;
		r->in_force = row[i].in_force;
		r->member[endport_of(f, 1)] = row[i].member;
		passes(f, 5);
		assert_int_equal(at(f, full)->n_limited, row[i].counts ? 2 : 1);
	}
	/* An adapter whose counters are not read, or stand at their end, has what the log says. */
	begin_anew(f);
	f->tr.port[full] = load(30000, 0, 0);
	log_pair(f, full, 0, 2, 20);
	log_pair(f, full, 1, 2, 4);
	give_becns(f, 0, 1000);
	traffic_at(&f->tr, 1, 1)->silent = true;
	passes(f, 5);
	assert_limits(f, full, 1, 27000);
	traffic_at(&f->tr, 1, 1)->silent = false;
	give_becns(f, 1, 5000);
	traffic_pass(&f->tr);
	f->tr.s.port[fabric_port(f->t, 1, 1)].delta.flags[IBCC_CTR_RCV_BECN] |=
		IBCC_DELTA_SATURATED;
	look(f);
	assert_limits(f, full, 1, 27000);
}

/* Pairs that are limited in the slow root, 2000 Mb/s each, leave 30000 of the full link for three.
 */
static void series(struct fixture *f, uint32_t full, uint32_t slow)
{
	log_pair(f, full, 0, 2, 10);
	log_pair(f, full, 1, 2, 10);
	log_pair(f, full, 1, 4, 10);
	for (uint32_t i = 0; i < 6; i += 2)
		log_pair(f, slow, i, 6, 10);
}

/* Whether or not the first root's switch happens to log the pair that passes both. */
static void test_series(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = slow_root(f), full = full_root(f);

	series(f, full, slow);
	/* A root whose pairs are not known limits none, and takes from none. */
	ibcc_parameters_find(&f->last, slow)->r.in_force = false;
	passes(f, 5);
	assert_limits(f, full, 3, 32000);
	assert_false(at(f, slow)->logged);
	assert_int_equal(at(f, slow)->n_limited, 0);
	ibcc_parameters_find(&f->last, slow)->r.in_force = true;
	passes(f, 5);
	assert_limits(f, full, 3, 30000);
	assert_limits(f, slow, 3, 6000);
	/* Adapters, however many pairs they send. */
	assert_int_equal(at(f, full)->n_senders, 2);
	assert_int_equal(at(f, slow)->n_senders, 3);
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(at(f, full)->sends[endport_of(f, i)], i < 2);
		assert_int_equal(at(f, slow)->sends[endport_of(f, i)], i < 6 && i % 2 == 0);
	}
	log_pair(f, full, 0, 6, 2);
	passes(f, 5);
	assert_limits(f, full, 3, 30000);
	assert_limits(f, slow, 3, 6000);
}

/* All that comes through what looks like a full root is held up at the slow one: 3000 Mb/s. */
static void test_limits_nobody(void **state)
{
	struct fixture *f = *state;
	uint32_t full = full_root(f), slow = slow_root(f);

	f->tr.port[full] = load(3000, 0, 0);
	log_pair(f, full, 0, 6, 10);
	log_pair(f, full, 1, 6, 10);
	for (uint32_t i = 0; i < 4; i++)
		log_pair(f, slow, i, 6, 10);
	passes(f, 5);
	assert_limits(f, full, 0, 0);
	assert_limits(f, slow, 4, 6000);
}

/* A pair that wants little is seen with 500 Mb/s at one root and 300 at the other: 400 are taken
 * off both.
 */
static void test_wants_little_of_both(void **state)
{
	struct fixture *f = *state;
	uint32_t full = full_root(f), slow = slow_root(f);

	f->tr.port[full] = load(30500, 0, 0); /* 61 packets */
	log_pair(f, full, 0, 2, 20);
	log_pair(f, full, 1, 2, 20);
	log_pair(f, full, 1, 4, 20);
	log_pair(f, full, 0, 6, 1);
	f->tr.port[slow] = load(6300, 0, 0); /* 63 packets */
	for (uint32_t i = 2; i < 5; i++)
		log_pair(f, slow, i, 6, 20);
	log_pair(f, slow, 0, 6, 3);
	passes(f, 5);
	assert_limits(f, full, 3, 31600);
	assert_limits(f, slow, 3, 5900);
}

/* With a link of 8000 adapter 0 cannot have more, which leaves 24000 of 32000 for two; two such
 * links for two pairs are not held by the root. A LID that no port has any more tells nothing.
 */
static void test_other_bounds(void **state)
{
	struct fixture *f = *state;
	uint32_t full = full_root(f);

	f->t->port[fabric_port(f->t, 0, 1)].rate_mbps = 8000;
	log_pair(f, full, 0, 2, 10);
	log_pair(f, full, 1, 2, 10);
	log_pair(f, full, 1, 4, 10);
	passes(f, 5);
	assert_limits(f, full, 2, 24000);
	f->t->lid_port[traffic_lid(&f->tr, 4)] = IBCC_NONE;
	f->t->port[fabric_port(f->t, 0, 1)].rate_mbps = 32000;
	look(f);
	assert_limits(f, full, 2, 32000);
	for (uint32_t i = 0; i < 2; i++)
		f->t->port[fabric_port(f->t, i, 1)].rate_mbps = 16000;
	look(f);
	assert_limits(f, full, 0, 0);
}

/* Many pairs that were not limited sent more, in the mean, than the receiver takes now: a fiftieth
 * of that is left for one.
 */
static void test_least_left(void **state)
{
	static const struct group g[] = { { 1, 100, 4 }, { 30, 10, 4 } };
	struct fixture *f = *state;
	uint32_t port = give_groups(f, g, 2);

	f->last.root[0].r.limits_known = true;
	f->tr.port[port] = load(10000, 0, 0);
	passes(f, 200);
	assert_limits(f, port, 1, 2500);
	f->tr.port[port] = load(1000, 500, 0);
	passes(f, 20);
	assert_about(at(f, port)->capacity_mbps, 1000 + 9000 * pow(.9, 20));
	assert_limits(f, port, 1, .02 * at(f, port)->capacity_mbps);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE8(test_level),
		TREE8(test_in_doubt),
		TREE8(test_chance),
		TREE(test_becns),
		TREE(test_missing_becns),
		TREE(test_becns_of_a_switch),
		TREE(test_becns_of_two),
		TREE(test_becns_of_unlearned),
		TREE(test_series),
		TREE(test_limits_nobody),
		TREE(test_wants_little_of_both),
		TREE(test_other_bounds),
		TREE8(test_least_left),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
