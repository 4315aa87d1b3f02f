/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Control that does harm, or that could help no other traffic. */
#include "scenes.h"

static void load(struct fixture *f, uint32_t first, uint32_t last, uint32_t mbps)
{
	for (uint32_t i = first; i <= last; i++)
		f->s.load[endport_of(f, i)].mbps = mbps;
}

/* A root that adapters 0 to 3 contribute to is admitted while each of the eight sends 1000. */
static struct ibcc_root *admit(struct fixture *f)
{
	struct ibcc_root *r;

	start_anew(f);
	memset(f->s.load, 0, sizeof(f->s.load));
	r = see_slow(f);
	load(f, 0, 7, 1000);
	passes(f, 2);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	return r;
}

/* Passes until control is taken back; 0: it is not. */
static unsigned int harm(struct fixture *f, const struct ibcc_root *r)
{
	for (unsigned int i = 1; i <= 30; i++) {
		pass(f);
		if (phase(f, r) == IBCC_PHASE_BARRED)
			return i;
	}
	return 0;
}

/* Three passes settle, then four show 85 % of what was sent before. */
static void test_harm(void **state)
{
	static const struct {
		uint32_t members, others; /* send each, after 1000 */
		uint16_t wait;            /* of the others */
		uint32_t root;
		bool harm;
	} c[] = {
		{ 699, 1000, 0, 3000, true },
		{ 700, 1000, 0, 3000, false },
		/* The root carries what it did, or nearly, or it is idle. */
		{ 699, 1000, 0, 5400, false },
		{ 699, 1000, 0, 5399, true },
		{ 699, 1000, 0, 120, true },
		{ 699, 1000, 0, 119, false },
		/* Demand fell alike where nothing is controlled; there it shows unless they wait.
		 */
		{ 700, 700, 0, 3000, false },
		{ 489, 700, 0, 3000, true },
		{ 700, 700, 50, 3000, false },
		{ 700, 699, 51, 3000, true },
		/* By more than half it is not believed to, nor to have grown. */
		{ 850, 0, 0, 3000, false },
		{ 849, 0, 0, 3000, true },
		{ 600, 1200, 0, 3000, false },
		{ 499, 1200, 0, 3000, true },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = admit(f);

		load(f, 0, 3, c[i].members);
		load(f, 4, 7, c[i].others);
		for (uint32_t k = 4; k < 8; k++)
			f->s.load[endport_of(f, k)].wait_permille = c[i].wait;
		r->rate_mbps = c[i].root;
		if (harm(f, r) != (c[i].harm ? 7 : 0))
			fail_msg("case %zu", i);
	}
	assert_true(f->n_changed); /* of the last one, which was held to the end */
}

/* Those that are not controlled tell demand if they send an eighth of all. */
static void test_few_tell_nothing(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 2; i++) {
		struct ibcc_root *r;

		start_anew(f);
		r = see_slow(f);
		load(f, 0, 3, 1000);
		load(f, 4, 7, 142 + i); /* * 4 * 8 = 4544 of 4568, 4576 of 4572 */
		passes(f, 2);
		load(f, 0, 3, 800);
		load(f, 4, 7, 0);
		r->rate_mbps = SLOW_MBPS / 2;
		assert_int_equal(harm(f, r), i ? 0 : 7);
	}
}

/* Four passes in a row, of the first sixteen. */
static void test_when(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 2; i++) {
		struct ibcc_root *r = admit(f);

		passes(f, 3 + 12 + i);
		load(f, 0, 3, 500);
		r->rate_mbps = SLOW_MBPS / 2;
		assert_int_equal(harm(f, r), i ? 0 : 4);
		r = admit(f);
		r->rate_mbps = SLOW_MBPS / 2;
		load(f, 0, 3, 500);
		passes(f, 3 + 3);
		r->fresh = i; /* in the fourth it was not read, or carried enough */
		r->rate_mbps = i ? SLOW_MBPS : SLOW_MBPS / 2;
		pass(f);
		r->fresh = true;
		r->rate_mbps = SLOW_MBPS / 2;
		assert_int_equal(harm(f, r), i ? 4 : 1);
	}
	f->p.guard_passes = 0;
	retune(f);
	admit(f)->rate_mbps = SLOW_MBPS / 2;
	load(f, 0, 3, 500);
	assert_int_equal(harm(f, &f->s.root[0]), 0);
}

/* While another tree is emptied, what is lost is lost to that: 19 passes for 100 buffers. */
static void test_another_drains(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = admit(f), *other = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 4, 2);

	other->n_waiting = 100;
	load(f, 0, 3, 400);
	r->rate_mbps = SLOW_MBPS / 2;
	passes(f, 2);
	assert_int_equal(phase(f, other), IBCC_PHASE_DRAIN);
	assert_int_equal(harm(f, r), 19 + 7);
}

/* The port carries half of what it did, though as much as those that it limits were to get. */
static void test_told(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = admit(f);

	tell(r, 4, SLOW_MBPS / 2);
	pass(f);
	assert_int_equal(at(f, r->port)->rate_mbps, SLOW_MBPS / 2);
	r->rate_mbps = SLOW_MBPS / 2;
	load(f, 0, 3, 500);
	assert_int_equal(harm(f, r), 7);
}

/* All is as before, and it is not tried again for 32 passes, which double up to 1024. */
static void test_barred(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = admit(f);

	for (unsigned int i = 0, n = 32; i < 7; i++, n *= n < 1024 ? 2 : 1) {
		unsigned int passed = 0;

		load(f, 0, 3, 500);
		r->rate_mbps = SLOW_MBPS / 2;
		assert_int_equal(harm(f, r), 7);
		assert_non_null(said(f, IBCC_DECISION_HARM));
		assert_int_equal(said(f, IBCC_DECISION_HARM)->root.port, fabric_port(f->t, 11, 1));
		assert_false(cc(f, 11)->element[1].Valid);
		assert_int_equal(cc(f, 0)->cct.limit, 0);
		load(f, 0, 3, 1000);
		r->rate_mbps = SLOW_MBPS;
		f->s.pic.n_roots = 0; /* nor is it forgotten meanwhile */
		passes(f, 5);
		f->s.pic.n_roots = 1;
		for (passed = 5; passed < 2000 && !is_on(f, r); passed++)
			pass(f);
		assert_int_equal(passed, n + 1); /* the pass after is the first to confirm it */
	}
}

/* Adapters that hold all they send, as QLogic's do. */
static struct ibcc_root *see_alike(struct fixture *f, uint32_t n_alike)
{
	struct ibcc_root *r = see_slow(f);

	ibcc_tuner_limits(f->tn)->may_learn = true;
	for (uint32_t i = 0; i < n_alike; i++) {
		if (i % 2)
			cc(f, i)->by_block = true;
		else
			cc(f, i)->ca.Port_Control = IBCC_CC_PORT_CONTROL_SL;
	}
	memset(f->s.load, 0, sizeof(f->s.load));
	for (uint32_t i = 0; i < 4; i++)
		f->s.load[endport_of(f, i)].wait_permille = 101;
	return r;
}

/* Marks name three of the four that wait. */
static void name_three(struct fixture *f, struct ibcc_root *r)
{
	mark(r, 3, 2, 30);
	for (uint32_t i = 0; i < 4; i++)
		f->s.becns[0][endport_of(f, i)] = i < 3 ? 10 : 0;
}

/* Most of them are such ones: for eight passes the contributors are learnt before any is held, by
 * a switch that marks, while tables that were left there have no delay.
 */
static void test_learns(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_alike(f, 3), *other;
	struct ibcc_cct table;

	assert_int_equal(ibcc_cct_build(&table, IBCC_CCT_LINEAR, 64, 3000), 0);
	cc(f, 3)->cct = table;
	pass(f);
	assert_int_equal(pass(f), 2 + 1);
	assert_non_null(said(f, IBCC_DECISION_LEARN));
	assert_int_equal(cc(f, 3)->cct.limit, 0);
	name_three(f, r);
	other = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 4, 2);
	passes(f, 7);
	assert_int_equal(phase(f, r), IBCC_PHASE_LEARN);
	assert_int_equal(phase(f, other), IBCC_PHASE_WATCH);
	pass(f);
	assert_non_null(said(f, IBCC_DECISION_LEARNT));
	assert_int_equal(said(f, IBCC_DECISION_LEARNT)->root.n, 3);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	assert_int_equal(phase(f, other), IBCC_PHASE_HOLD);
	assert_int_equal(at(f, r->port)->n, 3);
	assert_int_equal(at(f, r->port)->n_heavy, 3); /* none is held yet */
	assert_int_equal(at(f, r->port)->basis, IBCC_BASIS_MARKED);
	assert_false(at(f, r->port)->member[endport_of(f, 3)]);
	assert_true(ibcc_cct_equal(&cc(f, 3)->cct, &table));
}

/* A switch that says it marks and does not. */
static void test_learns_nothing(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_alike(f, 4);

	passes(f, 2 + 7);
	assert_int_equal(phase(f, r), IBCC_PHASE_LEARN);
	assert_int_equal(pass(f), 2);
	assert_int_equal(phase(f, r), IBCC_PHASE_BARRED);
}

/* Not for other adapters, or where nothing is carried out. A BECN does not say which root it is
 * from: while another one marks there is no learning.
 */
static void test_learns_alone(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r;

	r = see_alike(f, 2);
	passes(f, 2);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	start_anew(f);
	r = see_alike(f, 4);
	ibcc_tuner_limits(f->tn)->may_learn = false;
	passes(f, 2);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	start_anew(f);
	hold(f, see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 4, 2));
	r = see_alike(f, 4);
	passes(f, 20);
	assert_int_equal(phase(f, r), IBCC_PHASE_WATCH);
	f->s.root[0].n_sources = 0;
	f->s.root[0] = *r;
	f->s.pic.n_roots = 1;
	passes(f, 31);
	assert_int_equal(phase(f, r), IBCC_PHASE_LEARN);
}

/* ... for which it waits, and others need not wait with it. */
static void test_learning_root_waits(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *first = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 4, 2), *r, *next;

	hold(f, first);
	r = see_alike(f, 4);
	next = see(f, 9, 2, IBCC_CONGESTION_OUTPUT, 5, 3);
	passes(f, 2);
	assert_int_equal(phase(f, r), IBCC_PHASE_WATCH);
	assert_int_equal(phase(f, next), IBCC_PHASE_HOLD);
}

/* All that waited contribute, or what they send elsewhere is a tenth of what the root carries: it
 * would be held with it.
 */
static void test_in_vain(void **state)
{
	static const struct {
		uint32_t n_alike;
		uint16_t wait; /* of the fourth */
		bool named;
		uint32_t sent; /* by each of the three */
		bool in_vain;
	} c[] = {
		{ 4, 100, true, 2000, true },  { 4, 101, true, 2000, false },
		{ 2, 100, true, 2000, false }, { 4, 100, false, 2000, false },
		{ 4, 101, true, 2200, false }, { 4, 101, true, 2201, true },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = see_alike(f, c[i].n_alike);

		f->s.load[endport_of(f, 3)].wait_permille = c[i].wait;
		load(f, 0, 2, c[i].sent);
		passes(f, 3);
		if (c[i].named)
			name_three(f, r);
		pass(f);
		assert_int_equal(phase(f, r) == IBCC_PHASE_BARRED, c[i].in_vain);
		assert_int_equal(said(f, IBCC_DECISION_IN_VAIN) != NULL, c[i].in_vain);
		if (c[i].in_vain)
			assert_int_equal(said(f, IBCC_DECISION_IN_VAIN)->root.port,
					 fabric_port(f->t, 11, 1));
		start_anew(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_harm),         SCENE(test_few_tell_nothing),
		SCENE(test_when),         SCENE(test_another_drains),
		SCENE(test_told),         SCENE(test_barred),
		SCENE(test_learns),       SCENE(test_learns_nothing),
		SCENE(test_learns_alone), SCENE(test_learning_root_waits),
		SCENE(test_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
