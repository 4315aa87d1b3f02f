/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How many a root holds and what they get in all; and what kind of root it is. */
#include "scenes.h"

/* A full link of 40 adapters: x + 1 is their number, since their links are as fast. */
static const struct ibcc_root_parameters *hold_forty(struct fixture *f)
{
	struct ibcc_root *r = see_full(f);

	r->n_contributors = 40;
	return hold(f, r);
}

/* The last pass found that a root is of the other kind now, for that rate. */
static void assert_turned(const struct fixture *f, enum ibcc_congestion kind, uint32_t mbps)
{
	const struct ibcc_decision *d = said(f, IBCC_DECISION_TURNED);

	assert_non_null(d);
	assert_int_equal(d->root.kind, kind);
	assert_int_equal(d->root.rate_mbps, mbps);
}

/* When contributors become known x may move by 15 %, later by 15 % up and 40 % down; the time
 * between packets of the heaviest by half, either way.
 */
static void test_numbers(void **state)
{
	static const struct {
		bool known;
		uint32_t n, n_heavy;
		bool formulas;
	} c[] = {
		{ false, 45, 40, false }, { false, 46, 40, true }, { false, 35, 35, false },
		{ false, 34, 34, true },  { true, 46, 40, false }, { true, 47, 40, true },
		{ true, 24, 24, false },  { true, 23, 23, true },  { true, 40, 20, false },
		{ true, 40, 19, true },   { true, 0, 0, false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		const struct ibcc_root_parameters *p = hold_forty(f);
		struct ibcc_root *r = f->s.root;

		if (c[i].known) {
			mark(r, 40, 40, 10);
			passes(f, 4);
			assert_int_equal(p->basis, IBCC_BASIS_MARKED);
		}
		mark(r, c[i].n, c[i].n_heavy, 10);
		passes(f, 3);
		assert_int_equal(p->n, 40);
		pass(f);
		assert_int_equal(p->basis, IBCC_BASIS_MARKED);
		assert_int_equal(p->n, c[i].formulas ? c[i].n : 40);
		assert_int_equal(p->n_heavy, c[i].formulas ? c[i].n_heavy : 40);
		assert_int_equal(said(f, IBCC_DECISION_NUMBERS) != NULL, c[i].formulas);
		if (c[i].formulas) {
			const struct ibcc_decision *d = said(f, IBCC_DECISION_NUMBERS);

			assert_int_equal(d->root.n, 40);
			assert_int_equal(d->root.n_heavy, 40);
			assert_int_equal(d->root.rate_mbps, 32000);
		}
		start_anew(f);
	}
}

/* Nothing is learnt of settings that are not there. */
static void test_not_in_force(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);

	f->apply = false;
	passes(f, 2);
	tell(r, 2, SLOW_MBPS);
	mark(r, 40, 40, 10);
	passes(f, 20);
	assert_int_equal(at(f, r->port)->n, 4);
}

/* A slow receiver at half its rate: what it carries now, if it is busy. */
static void test_rate(void **state)
{
	struct fixture *f = *state;

	for (unsigned int busy = 0; busy < 2; busy++) {
		struct ibcc_root *r = see_slow(f);
		const struct ibcc_root_parameters *p = hold(f, r);

		mark(r, 4, 4, 0);
		r->rate_mbps = SLOW_MBPS / 2; /* 93 permille */
		r->wait_permille = (uint16_t)(876 + busy);
		passes(f, 4);
		assert_int_equal(p->rate_mbps, busy ? SLOW_MBPS / 2 : SLOW_MBPS);
		start_anew(f);
	}
}

/* Where the table ends is the leader's business, how often its sources are marked is each root's.
 * Where roots share sources, one that is marked less at a slow receiver is not less demanding.
 */
static void test_leader_and_follower(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *slow, *full;

	slow = see_slow(f);
	slow->n_contributors = 4;
	hold(f, slow);
	full = see_full(f);
	full->n_contributors = 20;
	hold(f, full);
	mark(full, 40, 40, 0);
	mark(slow, 6, 4, 0);
	passes(f, 4);
	assert_int_equal(at(f, full->port)->n, 20);
	assert_int_equal(at(f, slow->port)->n, 6);
	assert_int_equal(at(f, slow->port)->n_heavy, 6);
	full->n_heavy = 41;
	passes(f, 3 + 4);
	assert_int_equal(at(f, full->port)->n, 40);
	assert_int_equal(at(f, full->port)->n_heavy, 41);
}

/* More marked adapters get values, too, whether or not formulas change. */
static void test_enlist(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);

	hold(f, r);
	r->n_sources = 6;
	for (uint32_t i = 4; i < 6; i++)
		r->source[i] = (struct ibcc_source){ .port = fabric_port(f->t, i, 1) };
	r->source[5].role = IBCC_ROLE_VICTIM;
	pass(f);
	assert_false(at(f, r->port)->member[endport_of(f, 4)]);
	r->becn = 1;
	assert_int_equal(pass(f), 2);
	assert_non_null(said(f, IBCC_DECISION_ENLIST));
	assert_true(at(f, r->port)->member[endport_of(f, 4)]);
	assert_false(at(f, r->port)->member[endport_of(f, 5)]);
}

/* One of several that goes on although it is marked may have lost its settings: nothing is judged
 * by that, or turned.
 */
static void test_outlier(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 2; i++) {
		struct ibcc_root *r = see_slow(f);
		const struct ibcc_root_parameters *p;

		r->source[0].role = IBCC_ROLE_CONTRIBUTOR;
		p = hold(f, r);
		mark(r, 40, 40, 100);
		r->source[0].becn = i ? 100 : 0;
		passes(f, 4);
		assert_int_equal(p->n, i ? 4 : 40);
		r->rate_mbps = QDR_MBPS;
		r->wait_permille = 0;
		passes(f, 20);
		assert_int_equal(p->kind, i ? IBCC_CONGESTION_OUTPUT : IBCC_CONGESTION_INPUT);
		start_anew(f);
	}
}

/* Four had 6000 Mb/s. 90 % of what each was to get are too few, 115 % too many, give or take what
 * chance makes of a sample: 1 / sqrt(100).
 */
static void test_pairs(void **state)
{
	static const struct {
		double mbps, samples;
		bool formulas;
	} c[] = {
		{ 5405, 1e6, false }, { 5395, 1e6, true },  { 6900, 1e6, false },
		{ 6910, 1e6, true },  { 5105, 100, false }, { 5095, 100, true },
		{ 7495, 100, false }, { 7505, 100, true },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = see_slow(f);
		const struct ibcc_root_parameters *p;

		passes(f, 2);
		p = at(f, r->port);
		tell(r, 4, c[i].mbps);
		r->samples = c[i].samples;
		pass(f);
		assert_true(p->limits_known);
		assert_int_equal(p->rate_mbps, c[i].formulas ? c[i].mbps : SLOW_MBPS);
		assert_int_equal(p->basis, IBCC_BASIS_LOGGED);
		start_anew(f);
	}
}

/* What is told goes before what is counted; so do its members and their number. */
static void test_told(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);
	const struct ibcc_root_parameters *p = hold(f, r);

	tell(r, 2, 4000.4);
	r->capacity_mbps = 7000;
	f->s.sends[0][endport_of(f, 5)] = true;
	pass(f);
	assert_non_null(said(f, IBCC_DECISION_PAIRS));
	assert_int_equal(said(f, IBCC_DECISION_PAIRS)->a, 2);
	assert_int_equal(said(f, IBCC_DECISION_PAIRS)->b, 4000);
	assert_non_null(said(f, IBCC_DECISION_ENLIST));
	assert_int_equal(p->n, 2);
	assert_int_equal(p->n_heavy, 2);
	assert_true(p->member[endport_of(f, 5)]);
	mark(r, 40, 40, 10);
	passes(f, 20);
	assert_int_equal(p->n, 2);
	/* It stays told while its switch logs at all. */
	r->n_limited = 0;
	pass(f);
	assert_true(p->limits_known);
	r->logged = false;
	r->wait_permille = 0; /* it does not show what it can take */
	pass(f);
	assert_false(p->limits_known);
	passes(f, 4);
	assert_int_equal(p->n, 40);
	assert_int_equal(p->basis, IBCC_BASIS_MARKED);
	assert_int_equal(p->rate_mbps, 7000);
}

/* A full link alone that is busy while hardly any adapter waits: better numbers would bring
 * nothing. */
static void test_well(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 5; i++) {
		struct ibcc_root *r = i == 4 ? see_slow(f) : see_full(f);
		bool well = !i;

		hold(f, r);
		if (i == 3)
			hold(f, see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 0, 4));
		r->tree_wait_permille = (uint16_t)(99 + (i == 1));
		r->rate_mbps -= i == 2 ? QDR_MBPS * 31 / 1000 : i == 4 ? 0 : QDR_MBPS * 3 / 100;
		tell(r, 2, QDR_MBPS / 4);
		passes(f, 1);
		assert_int_equal(at(f, r->port)->n, well ? 4 : 2);
		start_anew(f);
	}
}

/* Passes until a root has so many pairs. */
static unsigned int passes_to(struct fixture *f, const struct ibcc_root *r, uint32_t n)
{
	unsigned int i = 0;

	for (; i < 500 && at(f, r->port)->n != n; i++)
		pass(f);
	return i;
}

/* Numbers are others at most every eight passes, also while they go up and down. */
static void test_pauses(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);

	hold(f, r);
	for (uint32_t n = 8, i = 0; i < 4; i++, n *= 2) {
		tell(r, n, SLOW_MBPS);
		assert_int_equal(passes_to(f, r, n), i ? 8 : 1);
	}
	for (unsigned int i = 0; i < 7; i++) {
		tell(r, i % 2 ? 64 : 8, SLOW_MBPS);
		assert_int_equal(passes_to(f, r, i % 2 ? 64 : 8), 8);
	}
}

/* A port to an adapter that waits a fifth of the time has a slow receiver, from the third pass on.
 * Between switches nothing but another root makes a port wait.
 */
static void test_becomes_slow(void **state)
{
	static const struct {
		uint32_t node;
		unsigned int num;
		uint16_t wait;
		bool turns;
	} c[] = { { 11, 1, 200, true }, { 11, 1, 199, false }, { 12, 4, 800, false } };
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = see(f, c[i].node, c[i].num, IBCC_CONGESTION_INPUT, 0, 4);
		const struct ibcc_root_parameters *p = hold(f, r);

		tell(r, 8, QDR_MBPS / 2);
		pass(f);
		assert_int_equal(p->n, 8);
		r->logged = false;
		r->rate_mbps = SLOW_MBPS;
		r->n_senders = 0;
		for (unsigned int k = 0; k < 5; k++) {
			r->wait_permille = k == 2 ? 0 : c[i].wait; /* in a row */
			pass(f);
			assert_int_equal(p->kind, IBCC_CONGESTION_INPUT);
		}
		pass(f);
		assert_int_equal(p->kind == IBCC_CONGESTION_OUTPUT, c[i].turns);
		if (c[i].turns) {
			assert_turned(f, IBCC_CONGESTION_OUTPUT, 6000);
			assert_int_equal(p->n, 8);
			assert_int_equal(p->rate_mbps, SLOW_MBPS);
			assert_int_equal(p->threshold, 12);
			assert_int_equal(p->basis, IBCC_BASIS_MARKED);
		} else {
			assert_int_equal(p->rate_mbps, QDR_MBPS / 2);
		}
		start_anew(f);
	}
}

/* One that fills nine tenths of its link is slow no more. */
static void test_fills_its_link(void **state)
{
	struct fixture *f = *state;

	for (uint32_t more = 0; more < 2; more++) {
		struct ibcc_root *r = see_slow(f);

		hold(f, r);
		r->rate_mbps = QDR_MBPS / 10 * 9 - 1 + more;
		passes(f, 3);
		assert_int_equal(at(f, r->port)->kind,
				 more ? IBCC_CONGESTION_INPUT : IBCC_CONGESTION_OUTPUT);
		start_anew(f);
	}
}

/* A receiver that takes a tenth more than when its port waited for it, and lets no sender wait. 600
 * Mb/s more are 75000 bytes in 1 ms, and 7500 in .1 ms: 18 passes until no buffer has room for it.
 */
static void test_receiver_is_fast(void **state)
{
	static const struct {
		uint32_t jam, mbps; /* while the port waits, and then */
		uint16_t wait, tree_wait;
		uint64_t interval_ns;
		unsigned int passes; /* 0: never */
	} c[] = {
		{ 0, 6600, 99, 99, 1000000, 0 },  { 0, 6601, 99, 99, 1000000, 4 },
		{ 0, 6601, 100, 99, 1000000, 0 }, { 0, 6601, 99, 100, 1000000, 0 },
		{ 7000, 7700, 0, 0, 1000000, 0 }, { 7000, 7701, 0, 0, 1000000, 4 },
		{ 0, 6601, 0, 0, 100000, 18 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = see_slow(f);
		const struct ibcc_root_parameters *p;
		unsigned int n = 0;

		f->s.pic.interval_ns = r->interval_ns = c[i].interval_ns;
		r->n_waiting = 1;
		p = hold(f, r);
		r->wait_permille = 200;
		r->rate_mbps = c[i].jam;
		pass(f);
		r->wait_permille = 199; /* it may be its buffer that takes this */
		r->rate_mbps = 9000;
		pass(f);
		r->wait_permille = c[i].wait;
		r->tree_wait_permille = c[i].tree_wait;
		r->rate_mbps = c[i].mbps;
		while (n < 60 && p->kind == IBCC_CONGESTION_OUTPUT) {
			pass(f);
			n++;
		}
		assert_int_equal(n, c[i].passes ? c[i].passes : 60);
		if (c[i].passes)
			assert_int_equal(p->rate_mbps, QDR_MBPS);
		start_anew(f);
	}
}

/* ... for four passes in a row; not by old counters, while the log tells which flows it limits, or
 * while its sources have another root's values. It need be no root.
 */
static void test_receiver_is_fast_for_sure(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r;
	unsigned int n = 0;

	for (unsigned int i = 0; i < 5; i++) {
		const struct ibcc_root_parameters *p;

		r = see_slow(f);
		p = hold(f, r);
		if (i == 4)
			hold(f, see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 0, 8));
		r->rate_mbps = 8000;
		if (i == 2)
			tell(r, 4, SLOW_MBPS);
		r->fresh = i != 1;
		for (unsigned int k = 0; k < 7; k++) {
			r->wait_permille = k == 3 ? 100 : 0;
			r->tree_wait_permille = 0;
			f->s.pic.n_roots -= i == 3 && !k;
			assert_int_equal(p->kind, IBCC_CONGESTION_OUTPUT);
			pass(f);
		}
		pass(f);
		assert_int_equal(p->kind == IBCC_CONGESTION_INPUT, i == 0 || i == 3);
		assert_int_equal(said(f, IBCC_DECISION_TURNED) != NULL, i == 0 || i == 3);
		if (i == 0 || i == 3)
			assert_turned(f, IBCC_CONGESTION_INPUT, 32000);
		start_anew(f);
	}
	/* Nor in the pass after a change, which may be backlog's. */
	r = see_slow(f);
	passes(f, 2);
	r->rate_mbps = 8000;
	r->wait_permille = r->tree_wait_permille = 0;
	for (; n < 10 && at(f, r->port)->kind == IBCC_CONGESTION_OUTPUT; n++)
		pass(f);
	assert_int_equal(n, 1 + 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_numbers),
		SCENE(test_not_in_force),
		SCENE(test_rate),
		SCENE(test_leader_and_follower),
		SCENE(test_enlist),
		SCENE(test_outlier),
		SCENE(test_pairs),
		SCENE(test_told),
		SCENE(test_well),
		SCENE(test_pauses),
		SCENE(test_becomes_slow),
		SCENE(test_fills_its_link),
		SCENE(test_receiver_is_fast),
		SCENE(test_receiver_is_fast_for_sure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
