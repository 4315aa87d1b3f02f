/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Why a root is acted on, or is not: each status occurs. */
#include "scenes.h"

static bool occurred[IBCC_STATUSES];

static void assert_status(const struct fixture *f, uint32_t port, enum ibcc_root_status want)
{
	assert_int_equal(ibcc_parameters_status(ibcc_tuner_parameters(f->tn), port), want);
	occurred[want] = true;
}

/* A slow receiver from when it is seen until its congestion is over. */
static void test_a_life(void **state)
{
	struct fixture *f = *state;
	uint32_t port = fabric_port(f->t, 11, 1);
	struct ibcc_root *r;

	pass(f);
	assert_status(f, port, IBCC_STATUS_NO_ROOT);
	r = see_slow(f);
	pass(f);
	assert_status(f, port, IBCC_STATUS_NOT_CONFIRMED);
	pass(f);
	assert_status(f, port, IBCC_STATUS_CHANGED);
	for (unsigned int i = 0; i < 3; i++) {
		pass(f);
		assert_status(f, port, IBCC_STATUS_SETTLING);
	}
	pass(f);
	assert_status(f, port, IBCC_STATUS_HOLDING);
	r->confidence_permille = 699;
	pass(f);
	assert_status(f, port, IBCC_STATUS_NOT_READ);
	r->confidence_permille = 1000;
	f->s.pic.trustworthy = false;
	pass(f);
	assert_status(f, port, IBCC_STATUS_UNREADABLE);
	f->s.pic.trustworthy = true;
	f->s.pic.n_roots = 0;
	for (unsigned int i = 0; i < f->p.quiet_passes - 1u; i++) {
		pass(f);
		assert_status(f, port, IBCC_STATUS_ABSENT);
	}
	pass(f);
	assert_status(f, port, IBCC_STATUS_GONE);
	pass(f);
	assert_status(f, port, IBCC_STATUS_NO_ROOT);
}

/* What is not followed has a status, too. */
static void test_passed_over(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);

	f->s.pic.trustworthy = false;
	pass(f);
	assert_status(f, r->port, IBCC_STATUS_UNREADABLE);
	f->s.pic.trustworthy = true;
	r->confidence_permille = 699;
	pass(f);
	assert_status(f, r->port, IBCC_STATUS_NOT_READ);
	for (uint32_t i = 0; i < r->n_sources; i++)
		r->source[i].role = IBCC_ROLE_CONTRIBUTOR;
	r->confidence_permille = 1000;
	pass(f);
	assert_null(at(f, r->port));
	assert_status(f, r->port, IBCC_STATUS_HELPS_NOBODY);
}

/* More roots than there are places, ports 1 to 32, and a leaf's. */
static void test_no_room(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root like = *see_slow(f);

	for (uint32_t i = 0; i < like.n_sources; i++)
		like.source[i].xmit_mbps = IBCC_ROOTS_MAX * QDR_MBPS;
	for (uint32_t i = 0; i < IBCC_ROOTS_MAX; i++) {
		f->s.root[i] = like;
		f->s.root[i].port = 1 + i;
	}
	f->s.root[IBCC_ROOTS_MAX] = like;
	f->s.root[IBCC_ROOTS_MAX].port = 1 + IBCC_ROOTS_MAX;
	f->s.pic.n_roots = f->s.pic.n_known = IBCC_ROOTS_MAX + 1;
	pass(f);
	assert_status(f, 1 + IBCC_ROOTS_MAX, IBCC_STATUS_NO_ROOM);
}

/* Next to a slow receiver that is controlled. */
static void test_full_link_later(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *slow = see_slow(f), *full;

	passes(f, 2);
	full = see_full(f);
	pass(f);
	assert_status(f, full->port, IBCC_STATUS_BACKLOG);
	full->tree_wait_permille = 249;
	passes(f, 10);
	assert_status(f, full->port, IBCC_STATUS_FEEDERS_FREE);
	full->tree_wait_permille = 250;
	f->refuse[endport_of(f, 11)] = true;
	cc(f, 11)->element[1].Threshold = 1;
	passes(f, 3);
	assert_status(f, slow->port, IBCC_STATUS_NOT_IN_FORCE);
	assert_status(f, full->port, IBCC_STATUS_WAITS);
	for (uint32_t i = 0; i < full->n_sources; i++)
		full->source[i].xmit_mbps /= 4;
	pass(f);
	assert_status(f, full->port, IBCC_STATUS_HELPS_NOBODY);
}

/* One after the other: of two that are confirmed the second waits, and is next. */
static void test_waits(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *first = see_slow(f),
			 *second = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 0, 4);

	passes(f, 2);
	assert_status(f, first->port, IBCC_STATUS_CHANGED);
	assert_status(f, second->port, IBCC_STATUS_WAITS);
	pass(f);
	assert_status(f, second->port, IBCC_STATUS_CHANGED);
}

static void test_not_ours(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);
	bool within[ENDPORTS_MAX] = { false };

	ibcc_tuner_limits(f->tn)->within = within;
	passes(f, 3);
	assert_status(f, r->port, IBCC_STATUS_OUTSIDE);
	ibcc_tuner_limits(f->tn)->within = NULL;
	cc(f, 11)->support = IBCC_CC_UNSUPPORTED;
	pass(f);
	assert_status(f, r->port, IBCC_STATUS_NO_SUPPORT);
}

static void test_recommended(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);

	ibcc_tuner_limits(f->tn)->recommends = true;
	f->apply = false;
	passes(f, 3);
	assert_status(f, r->port, IBCC_STATUS_RECOMMENDED);
	ibcc_tuner_limits(f->tn)->recommends = false;
	pass(f);
	assert_status(f, r->port, IBCC_STATUS_NOT_IN_FORCE);
}

static void test_draining(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);

	r->n_waiting = 100;
	passes(f, 3);
	assert_status(f, r->port, IBCC_STATUS_DRAINING);
}

/* Adapters that hold all they send: marks first; without any there is nothing to be had. The bar
 * keeps its reason while it lasts, whatever is read.
 */
static void test_learning(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f), *other;

	ibcc_tuner_limits(f->tn)->may_learn = true;
	for (uint32_t i = 0; i < 4; i++)
		cc(f, i)->by_block = true;
	passes(f, 3);
	assert_status(f, r->port, IBCC_STATUS_LEARNING);
	other = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 4, 2);
	passes(f, 3);
	assert_status(f, other->port, IBCC_STATUS_WAITS);
	f->s.pic.n_roots = 1;
	passes(f, 4);
	assert_status(f, r->port, IBCC_STATUS_BARRED_IN_VAIN);
	f->s.pic.trustworthy = false;
	pass(f);
	assert_status(f, r->port, IBCC_STATUS_BARRED_IN_VAIN);
}

static void test_waits_to_learn(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r;

	ibcc_tuner_limits(f->tn)->may_learn = true;
	hold(f, see(f, 10, 1, IBCC_CONGESTION_OUTPUT, 4, 2));
	r = see_slow(f);
	for (uint32_t i = 0; i < 4; i++)
		cc(f, i)->by_block = true;
	passes(f, 3);
	assert_status(f, r->port, IBCC_STATUS_WAITS_TO_LEARN);
}

static void test_harm(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);

	for (uint32_t i = 0; i < 8; i++)
		f->s.load[endport_of(f, i)].mbps = 1000;
	passes(f, 2);
	for (uint32_t i = 0; i < 4; i++)
		f->s.load[endport_of(f, i)].mbps = 500;
	r->rate_mbps = SLOW_MBPS / 2;
	passes(f, 7);
	assert_status(f, r->port, IBCC_STATUS_BARRED_HARM);
	passes(f, 10);
	assert_status(f, r->port, IBCC_STATUS_BARRED_HARM);
}

/* A port that is idle while it marks, and then one source that gets nearly all marks. */
static void test_feedback(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);

	r->n_contributors = 20;
	hold(f, r);
	mark(r, 20, 20, 10);
	r->rate_mbps = r->rate_mbps * 9 / 10;
	passes(f, 4);
	assert_status(f, r->port, IBCC_STATUS_CHANGED);
	passes(f, 4);
	assert_status(f, r->port, IBCC_STATUS_ADJUSTED);
	for (uint32_t i = 0; i < 4; i++) {
		r->source[i].becn = i ? 1 : 1000;
		r->source[i].wait_permille = 1;
	}
	pass(f);
	assert_status(f, r->port, IBCC_STATUS_OUTLIER);
}

static void test_doubted(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);

	hold(f, r);
	f->s.pic.n_roots = 0;
	r->doubted = true;
	pass(f);
	assert_non_null(said(f, IBCC_DECISION_DOUBTED));
	assert_null(at(f, r->port));
	assert_status(f, r->port, IBCC_STATUS_DOUBTED);
}

/* The scenes above have each status. */
static void test_all(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < IBCC_STATUSES; i++)
		if (!occurred[i])
			fail_msg("no scene here ends in status \"%s\": add one",
				 ibcc_root_status_name((enum ibcc_root_status)i));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_a_life),          SCENE(test_passed_over),    SCENE(test_no_room),
		SCENE(test_full_link_later), SCENE(test_waits),          SCENE(test_not_ours),
		SCENE(test_recommended),     SCENE(test_draining),       SCENE(test_learning),
		SCENE(test_waits_to_learn),  SCENE(test_harm),           SCENE(test_feedback),
		SCENE(test_doubted),         cmocka_unit_test(test_all),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
