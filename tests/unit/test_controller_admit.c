/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which roots are controlled, when, and for how long. */
#include "scenes.h"

/* Passes that left a root out do not count: it is neither confirmed nor judged by them, and it is
 * not gone. The settings that it has stay.
 */
static void test_left_out(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);
	const struct ibcc_root_parameters *p;

	pass(f);
	r->kept = true;
	passes(f, 50);
	assert_int_equal(phase(f, r), IBCC_PHASE_WATCH);
	r->kept = false;
	r->interval_ns = 7000000;
	pass(f);
	assert_true(is_on(f, r));
	p = hold(f, r);
	assert_int_equal(p->interval_ns, 7000000);
	f->n_changed = 0;
	r->kept = true;
	f->s.pic.n_roots = 0;
	passes(f, 200);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	assert_true(p->in_force);
	assert_int_equal(f->n_changed, 0);
	r->kept = false;
	assert_int_equal(passes_on(f, r, 100), f->p.quiet_passes);
}

/* Half of what a source sends on the mean, of two: 4 * (sent - 32000) is more than sent from 42667
 * on.
 */
static void test_sources_send_elsewhere(void **state)
{
	static const struct {
		uint32_t first, second;
		enum ibcc_role role; /* of the second */
		bool worth;
	} c[] = {
		{ 16000, 26666, IBCC_ROLE_CANDIDATE, false },
		{ 16000, 26667, IBCC_ROLE_CANDIDATE, true },
		{ 10000, 32666, IBCC_ROLE_NEAR, false },
		{ 10000, 32667, IBCC_ROLE_NEAR, true },
		{ 10000, 10000, IBCC_ROLE_CANDIDATE, false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = see(f, 12, 4, IBCC_CONGESTION_INPUT, 0, 2);

		r->source[0].xmit_mbps = c[i].first;
		r->source[1].xmit_mbps = c[i].second;
		r->source[1].role = c[i].role;
		pass(f);
		assert_int_equal(at(f, r->port) != NULL, c[i].worth);
		assert_int_equal(found(f),
				 c[i].worth ? IBCC_SITUATION_UNCONFIRMED : IBCC_SITUATION_HARMLESS);
		/* An adapter that does not wait is not blocked, whatever it sends. */
		r->source[0].role = r->source[1].role = IBCC_ROLE_NEAR;
		forget(f);
		pass(f);
		assert_null(at(f, r->port));
		start_anew(f);
	}
}

/* Four sources are held up if they send an eighth of it elsewhere. What another root carries that
 * their switch has, by their part of what its sources send, is not elsewhere; another switch's may
 * carry the same packets.
 */
static void test_roots_of_one_switch(void **state)
{
	static const struct {
		uint32_t node, first; /* of the other root, and of its four sources */
		uint32_t carried;     /* by the other root */
		bool worth;
	} c[] = {
		{ 12, 0, 24000, false }, { 12, 0, 23999, true }, { 12, 2, 32000, true },
		{ 12, 4, 32000, true },  { 13, 0, 32000, true },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = see_full(f);
		struct ibcc_root *other =
			see(f, c[i].node, 3, IBCC_CONGESTION_INPUT, c[i].first, 4);

		other->rate_mbps = c[i].carried;
		pass(f);
		if ((at(f, r->port) != NULL) != c[i].worth)
			fail_msg("case %zu", i);
		f->s.pic.n_known = f->s.pic.n_roots = 0;
		start_anew(f);
	}
}

/* Marks name the contributors, so that any other blocked adapter sends elsewhere. */
static void test_victims_wait(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);

	for (uint32_t i = 0; i < 4; i++)
		r->source[i].role = IBCC_ROLE_CONTRIBUTOR;
	passes(f, 3);
	assert_null(at(f, r->port));
	r->source[3].role = IBCC_ROLE_VICTIM;
	r->source[3].wait_permille = 100;
	passes(f, 3);
	assert_null(at(f, r->port));
	r->source[3].wait_permille = 101;
	passes(f, 2);
	assert_true(is_on(f, r));
	assert_int_equal(at(f, r->port)->basis, IBCC_BASIS_MARKED);
	assert_true(at(f, r->port)->member[endport_of(f, 0)]);
	assert_false(at(f, r->port)->member[endport_of(f, 3)]);
}

/* The formulas are given what was seen in the last of the passes that confirm a root. The buffer of
 * a slow receiver may have had room before.
 */
static void test_what_is_decided(void **state)
{
	static const uint8_t threshold[] = { 8, 12 }; /* (16 - T) / 16: a half, a quarter */
	struct fixture *f = *state;

	for (unsigned int kind = IBCC_CONGESTION_INPUT; kind <= IBCC_CONGESTION_OUTPUT; kind++) {
		struct ibcc_root *r = see(f, 11, 1, kind, 0, 4);
		const struct ibcc_root_parameters *p;
		uint32_t mbps = r->rate_mbps;

		r->rate_mbps += 1000;
		assert_int_equal(pass(f), 0);
		r->rate_mbps = mbps;
		assert_int_equal(pass(f), 2 + 4 * 2);
		assert_non_null(said(f, IBCC_DECISION_ADMIT));
		assert_int_equal(said(f, IBCC_DECISION_ADMIT)->root.n, 4);
		assert_false(f->said.recommended);
		p = at(f, r->port);
		assert_int_equal(p->kind, kind);
		assert_int_equal(p->phase, IBCC_PHASE_HOLD);
		assert_int_equal(p->basis, IBCC_BASIS_WAITING);
		assert_int_equal(p->n, 4);
		assert_int_equal(p->n_heavy, 4);
		assert_int_equal(p->rate_mbps, mbps);
		assert_int_equal(p->packet_bytes, 2000);
		assert_int_equal(p->threshold, threshold[kind]);
		assert_int_equal(p->interval_ns, 1000000);
		assert_int_equal(p->seen_mbps, mbps);
		assert_int_equal(p->link_mbps, QDR_MBPS);
		assert_int_equal(p->wait_permille, r->wait_permille);
		assert_int_equal(p->tree_wait_permille, 600);
		assert_false(p->in_force || p->tree_gone || p->limits_known);
		pass(f);
		assert_true(p->in_force);
		assert_int_equal(found(f), IBCC_SITUATION_CONTROLLED);
		assert_int_equal(f->said.situation.roots, 1);
		assert_false(f->said.situation.lacking);
		start_anew(f);
	}
}

/* Two passes in a row, of the same kind, with most of the ports on the way read. */
static void test_confirmed(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);

	for (unsigned int i = 0; i < 20; i++) {
		f->s.pic.n_roots = i % 2;
		pass(f);
		assert_false(is_on(f, r));
	}
	f->s.pic.n_roots = 1;
	for (unsigned int i = 0; i < 21; i++) {
		r->kind = i % 2 ? IBCC_CONGESTION_INPUT : IBCC_CONGESTION_OUTPUT;
		pass(f);
		assert_false(is_on(f, r));
	}
	for (unsigned int i = 0; i < 20; i++) {
		r->confidence_permille = i % 2 ? 700 : 699;
		pass(f);
		assert_false(is_on(f, r));
	}
	f->s.pic.trustworthy = false;
	r->confidence_permille = 700;
	passes(f, 20);
	assert_false(is_on(f, r));
	assert_int_equal(found(f), IBCC_SITUATION_NO_COUNTERS);
	f->s.pic.trustworthy = true;
	pass(f);
	assert_true(is_on(f, r));
	/* What is set stays, for as long as nothing is known. */
	f->s.pic.trustworthy = false;
	f->s.pic.n_roots = 0;
	passes(f, 100);
	assert_true(is_on(f, r));
	assert_int_equal(f->n_changed, 1);
}

/* Backlog that is repaid fills links: five passes are let go by after a change, then two confirm,
 * if the link's feeders wait for a quarter of the time.
 */
static void test_full_link_later(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *full;

	see_slow(f);
	full = see_full(f);
	full->tree_wait_permille = 249;
	passes(f, 2 + 30);
	assert_false(is_on(f, full));
	start_anew(f);
	see_slow(f);
	full = see_full(f);
	full->tree_wait_permille = 250;
	passes(f, 2 + 5);
	assert_false(is_on(f, full));
	pass(f);
	assert_true(is_on(f, full));
	/* Alone it need not. */
	start_anew(f);
	full = see_full(f);
	full->tree_wait_permille = 10;
	passes(f, 2);
	assert_true(is_on(f, full));
}

/* Changes in every fourth pass do not hide a link that has stood for ten. */
static void test_stands_through_changes(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *full, *slow[3];

	for (uint32_t i = 0; i < 3; i++)
		slow[i] = see(f, 9 + i, 2, IBCC_CONGESTION_OUTPUT, 0, 2);
	full = see_full(f);
	for (unsigned int i = 1; i <= 10; i++) {
		/* Those that are not to be seen yet have no sources that could be helped. */
		for (uint32_t k = 0; k < 3; k++)
			slow[k]->n_sources = i > 4 * k ? 2 : 0;
		pass(f);
		assert_false(is_on(f, full));
		assert_int_equal(is_on(f, slow[2]), i > 9);
	}
	pass(f);
	assert_true(is_on(f, full));
}

/* Not while another root's settings are not there, or its tree is being emptied. */
static void test_full_link_waits(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *slow = see_slow(f), *full = see_full(f);

	f->refuse[endport_of(f, 11)] = true;
	passes(f, 40);
	assert_false(is_on(f, full));
	assert_int_equal(found(f), IBCC_SITUATION_NOT_SET);
	assert_false(f->said.recommended);
	f->refuse[endport_of(f, 11)] = false;
	passes(f, 2);
	assert_true(is_on(f, full));
	start_anew(f);
	slow = see_slow(f);
	slow->n_waiting = 100; /* x 65536 bytes take 8.7 ms at 6000 Mb/s: twice that and 2 */
	full = see_full(f);
	passes(f, 2 + 18);
	assert_int_equal(phase(f, slow), IBCC_PHASE_DRAIN);
	assert_false(is_on(f, full));
	passes(f, 2);
	assert_true(is_on(f, full));
}

/* A recommendation goes by what is seen now; with settings on the fabric other rules see to that.
 */
static void test_recommended(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);
	uint32_t mbps = r->rate_mbps;

	ibcc_tuner_limits(f->tn)->recommends = true;
	for (uint32_t i = 0; i < f->t->n_endports; i++)
		f->refuse[i] = true; /* nothing gets there */
	r->rate_mbps = mbps + 700;
	passes(f, 2);
	assert_int_equal(at(f, r->port)->rate_mbps, mbps + 700);
	assert_non_null(said(f, IBCC_DECISION_ADMIT));
	assert_int_equal(said(f, IBCC_DECISION_ADMIT)->root.n, 4);
	assert_true(f->said.recommended);
	r->rate_mbps = mbps;
	passes(f, 8);
	assert_int_equal(at(f, r->port)->rate_mbps, mbps);
	assert_int_equal(found(f), IBCC_SITUATION_NOT_SET);
	assert_int_equal(f->said.situation.root.n, 4);
	assert_true(f->said.recommended);
	ibcc_tuner_limits(f->tn)->recommends = false;
	start_anew(f);
}

/* A switch that cannot mark: nothing is set, and it is said why; the next root gets its turn. An
 * adapter without tables is left out.
 */
static void test_no_support(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f), *next;

	cc(f, 11)->support = IBCC_CC_UNSUPPORTED;
	passes(f, 5);
	assert_int_equal(f->n_changed, 0);
	assert_non_null(said(f, IBCC_DECISION_NO_SUPPORT));
	next = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 0, 4);
	cc(f, 0)->support = IBCC_CC_UNSUPPORTED;
	cc(f, 1)->info.ControlTableCap = 0;
	pass(f);
	assert_int_equal(pass(f), 2 + 2 * 2);
	assert_false(is_on(f, r));
	assert_true(is_on(f, next));
	assert_true(at(f, next->port)->lacking[endport_of(f, 0)]);
	assert_false(at(f, next->port)->member[endport_of(f, 0)]);
	assert_false(at(f, next->port)->member[endport_of(f, 1)]);
	assert_int_equal(f->last.n_without, 1);
	assert_int_equal(f->last.without[0], endport_of(f, 0));
}

/* A full link that blocks no adapter, as far as counters tell. */
static struct ibcc_root *see_doubtful(struct fixture *f, bool told)
{
	struct ibcc_root *slow = see_slow(f), *r;

	hold(f, slow);
	if (told)
		tell(slow, 4, SLOW_MBPS);
	pass(f);
	assert_int_equal(at(f, slow->port)->limits_known, told);
	r = see(f, 12, 4, IBCC_CONGESTION_INPUT, 0, 2);
	r->source[0].role = r->source[1].role = IBCC_ROLE_CONTRIBUTOR;
	r->tree_wait_permille = 50;
	r->confidence_permille = 700;
	r->present = 6;
	return r;
}

/* ... is admitted if its pairs may show more, as if its tree were gone: others hold its sources. */
static void test_admitted_in_doubt(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 6; i++) {
		struct ibcc_root *r = see_doubtful(f, i != 1);

		r->present -= i == 2;
		r->tree_wait_permille = (uint16_t)(50 - (i == 3));
		r->confidence_permille = (uint16_t)(700 - (i == 4));
		if (i == 5)
			r->kind = IBCC_CONGESTION_OUTPUT;
		passes(f, i ? 10 : 1);
		assert_int_equal(is_on(f, r), !i);
		if (!i) {
			assert_true(at(f, r->port)->tree_gone);
			assert_int_equal(at(f, r->port)->basis, IBCC_BASIS_MARKED);
			assert_true(at(f, r->port)->member[endport_of(f, 0)]);
		}
		start_anew(f);
	}
}

/* Half of the places are left for roots that are worth acting on, of which no more are followed
 * than there are places.
 */
static void test_room(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root like = *see_doubtful(f, true);

	for (uint32_t i = 0; i < IBCC_ROOTS_MAX; i++) {
		f->s.root[1 + i] = like;
		f->s.root[1 + i].port = 1 + i;
		f->s.root[1 + i].present = 0;
	}
	f->s.pic.n_roots = f->s.pic.n_known = 1 + IBCC_ROOTS_MAX;
	pass(f);
	assert_int_equal(ibcc_tuner_parameters(f->tn)->n_roots, IBCC_ROOTS_MAX / 2);
	for (uint32_t i = 0; i < 2; i++) {
		like.source[i].role = IBCC_ROLE_CANDIDATE;
		like.source[i].xmit_mbps = IBCC_ROOTS_MAX * QDR_MBPS;
	}
	pass(f);
	assert_int_equal(ibcc_tuner_parameters(f->tn)->n_roots, IBCC_ROOTS_MAX);
}

/* Settings stay for so many passes after the last in which the root was seen. If it is back within
 * twice that they stay for twice as long, up to 64 times; later it is a new one, and so is another
 * root.
 */
static void test_gone(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);
	unsigned int quiet = f->p.quiet_passes = 12;

	retune(f);
	hold(f, r);
	f->s.pic.n_roots = 0;
	passes(f, quiet - 1);
	f->s.pic.n_roots = 1;
	pass(f);
	for (unsigned int i = 0, patience = 1; i < 9; i++, patience *= patience < 64 ? 2 : 1) {
		f->s.pic.n_roots = 0;
		assert_int_equal(passes_on(f, r, 3000), quiet * patience);
		assert_int_equal(found(f), IBCC_SITUATION_OVER);
		passes(f, i == 8 ? 2 * quiet * patience : 2 * quiet * patience - 1);
		assert_int_equal(found(f), IBCC_SITUATION_NO_CONGESTION);
		f->s.pic.n_roots = 1;
		hold(f, r);
	}
	f->s.pic.n_roots = f->s.pic.n_known = 0;
	assert_int_equal(passes_on(f, r, 3000), quiet);
	r = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 0, 4);
	hold(f, r);
	f->s.pic.n_roots = 0;
	assert_int_equal(passes_on(f, r, 3000), quiet);
}

/* Nothing is to be removed that never was there: two passes. */
static void test_gone_before_begun(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);

	f->apply = false;
	passes(f, 20);
	f->s.pic.n_roots = 0;
	assert_int_equal(passes_on(f, r, 100), 2);
	assert_int_equal(pass(f), 0);
}

/* Held too much looks like gone until the sources have recovered. Packets of one of 20 are 20 *
 * 2000
 * * 8 / 3200 = 100 us apart, the timer is 100 / .12 us = 833, 128 of which are 106.7 ms.
 */
static void test_recovers_first(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);

	r->rate_mbps = 3200;
	r->n_contributors = 20;
	r->n_waiting = 1;
	hold(f, r);
	f->s.pic.n_roots = 0;
	assert_int_equal(passes_on(f, r, 1000), 106);
}

/* Settings of one in eight members may be missing, and none of the switch's. */
static void test_in_force(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see(f, 11, 1, IBCC_CONGESTION_OUTPUT, 0, 8);

	f->refuse[endport_of(f, 0)] = true;
	passes(f, 3);
	assert_true(at(f, r->port)->in_force);
	assert_int_equal(found(f), IBCC_SITUATION_CONTROLLED);
	assert_int_equal(f->said.situation.roots, 1);
	assert_true(f->said.situation.lacking);
	f->refuse[endport_of(f, 1)] = true;
	cc(f, 1)->ca.sl[0].CCTI_Timer += 1000;
	passes(f, 1);
	assert_false(at(f, r->port)->in_force);
	f->refuse[endport_of(f, 1)] = false;
	passes(f, 2);
	assert_true(at(f, r->port)->in_force);
	cc(f, 11)->element[1].Threshold = 1;
	passes(f, 1);
	assert_false(at(f, r->port)->in_force);
	passes(f, 1);
	assert_true(at(f, r->port)->in_force);
}

/* State of one fabric is never used for another. */
static void test_other_topology(void **state)
{
	struct fixture *f = *state, *g;
	void *other;

	hold(f, see_slow(f));
	setup_for(&other, fabric_lustre());
	g = other;
	ibcc_tuner_free(g->tn);
	g->tn = f->tn;
	g->ledger = f->ledger;
	f->tn = NULL;
	f->ledger = (struct ibcc_ledger){ 0 };
	steps(g, 3);
	assert_int_equal(g->n_changed, 0);
	assert_int_equal(ibcc_tuner_parameters(g->tn)->n_roots, 0);
	teardown(&other);
	ibcc_tuner_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_left_out),
		SCENE(test_sources_send_elsewhere),
		SCENE(test_roots_of_one_switch),
		SCENE(test_victims_wait),
		SCENE(test_what_is_decided),
		SCENE(test_confirmed),
		SCENE(test_full_link_later),
		SCENE(test_stands_through_changes),
		SCENE(test_full_link_waits),
		SCENE(test_recommended),
		SCENE(test_no_support),
		SCENE(test_admitted_in_doubt),
		SCENE(test_room),
		SCENE(test_gone),
		SCENE(test_gone_before_begun),
		SCENE(test_recovers_first),
		SCENE(test_in_force),
		SCENE(test_other_topology),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
