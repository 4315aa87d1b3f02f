/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When a tree is emptied, until when, and when again. */
#include "scenes.h"

/* 20 buffers of 65536 bytes leave through 3200 Mb/s in 3.28 ms: twice that and 2 are 8 passes. */
static struct ibcc_root *see_tree(struct fixture *f, uint32_t n_waiting)
{
	struct ibcc_root *r = see(f, 11, 1, IBCC_CONGESTION_OUTPUT, 0, 8);

	r->rate_mbps = 3200;
	r->wait_permille = 900;
	r->n_waiting = n_waiting;
	return r;
}

static unsigned int passes_in(struct fixture *f, const struct ibcc_root *r, enum ibcc_phase what)
{
	unsigned int n = 0;

	for (; n < 200 && phase(f, r) == what; n++)
		pass(f);
	return n;
}

/* Two buffers are gone in .33 ms, and eight times that is soon enough. */
static void test_passes(void **state)
{
	static const struct {
		enum ibcc_congestion kind;
		uint32_t n_waiting;
		unsigned int passes;
	} c[] = {
		{ IBCC_CONGESTION_OUTPUT, 2, 0 },     { IBCC_CONGESTION_OUTPUT, 3, 2 },
		{ IBCC_CONGESTION_OUTPUT, 20, 8 },    { IBCC_CONGESTION_OUTPUT, 176, 59 },
		{ IBCC_CONGESTION_OUTPUT, 1000, 60 }, { IBCC_CONGESTION_INPUT, 20, 0 },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = see_tree(f, c[i].n_waiting);

		r->kind = c[i].kind;
		passes(f, 2);
		assert_int_equal(passes_in(f, r, IBCC_PHASE_DRAIN), c[i].passes);
		assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
		start_anew(f);
	}
}

/* Two passes in a row in which it is less than 97 % busy, or in which no adapter waits, or no root.
 */
static void test_drained(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_tree(f, 20);

	passes(f, 2);
	for (unsigned int i = 0; i < 4; i++) {
		static const uint16_t wait[] = { 869, 870, 869, 869 };

		assert_int_equal(phase(f, r), IBCC_PHASE_DRAIN);
		r->wait_permille = wait[i];
		pass(f);
	}
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	only(f, IBCC_DECISION_DRAINED);
	start_anew(f);
	r = see_tree(f, 20);
	passes(f, 2);
	r->tree_wait_permille = 100;
	pass(f);
	assert_int_equal(phase(f, r), IBCC_PHASE_DRAIN);
	r->tree_wait_permille = 99;
	pass(f);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	start_anew(f);
	r = see_tree(f, 20);
	passes(f, 2);
	f->s.pic.n_roots = 0;
	pass(f);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
}

/* Six passes of sources that wait for 60 %, after two that settle; then twice as many, up to 96. */
static void test_again(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_tree(f, 20);

	passes(f, 2);
	for (unsigned int i = 0, n = 6; i < 6; i++, n *= n < 96 ? 2 : 1) {
		assert_int_equal(passes_in(f, r, IBCC_PHASE_DRAIN), 8);
		r->tree_wait_permille = 600;
		passes(f, n);
		r->tree_wait_permille = 599;
		pass(f);
		r->tree_wait_permille = 600;
		assert_int_equal(passes_in(f, r, IBCC_PHASE_HOLD), n);
		assert_non_null(said(f, IBCC_DECISION_DRAIN_AGAIN));
		assert_int_equal(said(f, IBCC_DECISION_DRAIN_AGAIN)->a, 600);
	}
}

/* Not where the root runs idle, at a full link, or where one buffer waits. Nor while one source is
 * marked far more than the others: it may have lost its settings.
 */
static void test_not_again(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 5; i++) {
		struct ibcc_root *r = see_tree(f, 2);

		for (uint32_t k = 0; k < r->n_sources; k++)
			r->source[k].role = k ? IBCC_ROLE_CONTRIBUTOR : IBCC_ROLE_VICTIM;
		if (i == 2) {
			r->kind = IBCC_CONGESTION_INPUT;
			r->rate_mbps = QDR_MBPS;
		}
		passes(f, 2);
		r->n_waiting = i == 3 ? 2 : 20;
		r->wait_permille = i == 1 ? 869 : i == 2 ? 0 : 870;
		r->source[3].becn = i == 4 ? 100 : 0;
		passes(f, 12);
		assert_int_equal(phase(f, r), i ? IBCC_PHASE_HOLD : IBCC_PHASE_DRAIN);
		start_anew(f);
	}
}

/* A root that was calm without a tree is not with one. */
static void test_calm_no_more(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_tree(f, 1), *other = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 0, 8);

	r->tree_wait_permille = 599;
	other->n_waiting = 2;
	hold(f, r);
	hold(f, other);
	tell(r, 8, 3200);
	passes(f, 5);
	assert_true(at(f, r->port)->tree_gone);
	r->tree_wait_permille = 600;
	r->n_waiting = 4;
	assert_int_equal(passes_in(f, r, IBCC_PHASE_HOLD), 6);
	assert_false(at(f, r->port)->tree_gone);
}

/* Its switch has lost its settings, no packet is marked, and its tree is back: it need not stand
 * for six passes more. Where marks went on only the answers were lost.
 */
static void test_unmarked(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_root *r = see_tree(f, 2);

		hold(f, r);
		cc(f, 11)->element[1].Valid = false;
		r->n_waiting = 20;
		r->tree_wait_permille = i == 1 ? 599 : 600;
		f->s.pic.fecn = 1000;
		r->fecn = i == 2;
		pass(f);
		assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
		r->fecn = 100;
		pass(f);
		assert_int_equal(phase(f, r), i ? IBCC_PHASE_HOLD : IBCC_PHASE_DRAIN);
		r->tree_wait_permille = 600;
		passes(f, 3);
		assert_int_equal(phase(f, r), i ? IBCC_PHASE_HOLD : IBCC_PHASE_DRAIN);
		start_anew(f);
	}
}

/* While it is emptied more adapters turn out to contribute: 30 % more than were seen to wait are
 * news. */
static void test_more(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_tree(f, 20);

	r->n_contributors = 10;
	r->n_sources = 7;
	passes(f, 3);
	mark(r, 13, 12, 0);
	r->n_sources = 8;
	pass(f);
	assert_int_equal(at(f, r->port)->n, 10);
	assert_true(at(f, r->port)->member[endport_of(f, 7)]);
	mark(r, 14, 12, 0);
	pass(f);
	assert_int_equal(only(f, IBCC_DECISION_MORE)->root.n, 14);
	assert_int_equal(at(f, r->port)->n, 14);
	assert_int_equal(at(f, r->port)->n_heavy, 12);
	assert_int_equal(at(f, r->port)->basis, IBCC_BASIS_MARKED);
	assert_int_equal(at(f, r->port)->rate_mbps, 3200);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_passes),    SCENE(test_drained),      SCENE(test_again),
		SCENE(test_not_again), SCENE(test_calm_no_more), SCENE(test_unmarked),
		SCENE(test_more),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
