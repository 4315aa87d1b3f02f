/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a root under control turns into: one of the other kind, or one whose tree is gone. Estimates
 * are made up, so that the tuner sees nothing but what each test is about.
 */
#include "told.h"

/* The root's port carries so much and waits, and n ports wait for it. */
static struct ibcc_root seen(const struct ibcc_tuner_root *r, uint32_t mbps, uint16_t wait_permille,
			     uint32_t n_waiting)
{
	return (struct ibcc_root){
		.port = r->port,
		.kind = r->kind,
		.link_mbps = QDR_MBPS,
		.rate_mbps = mbps,
		.wait_permille = wait_permille,
		.tree_wait_permille = 600,
		.n_waiting = n_waiting,
		.confidence_permille = 1000,
	};
}

static void passes(struct fixture *f, struct ibcc_root now, unsigned int n)
{
	struct ibcc_estimate e = { .n_cas = 8, .trustworthy = true, .n_roots = 1, .root = &now };
	struct ibcc_target target;

	f->tr.port[now.port] =
		(struct traffic_port){ .mbps = now.rate_mbps, .wait_permille = now.wait_permille };
	while (n--) {
		traffic_pass(&f->tr);
		assert_int_equal(ibcc_tuner_step(f->tn, f->t, &f->tr.s, &e, &f->actual, &target),
				 0);
		memcpy(f->summary, target.summary, sizeof(f->summary));
		ibcc_target_fini(&target);
	}
}

/* A full link of three adapters that send 24 pairs, which it was told to give a part of it. */
static void tell_pairs(struct ibcc_tuner_root *r)
{
	ibcc_tuner_number(r, 3, 3, QDR_MBPS);
	r->n = r->n_heavy = 24;
	r->rate_mbps = QDR_MBPS / 2;
	r->counts_pairs = true;
	r->threshold = ibcc_law_threshold(r->kind);
}

/* A port to an adapter that waits has a slow receiver, from the third pass on. How many pairs it
 * limits is to be learned again.
 */
static void test_adapter_becomes_slow(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = root_at(f, 11, 1, IBCC_CONGESTION_INPUT);

	tell_pairs(r);
	r->end_permille = 1250;
	passes(f, seen(r, SLOW_MBPS, 812, 3), 2);
	assert_int_equal(r->kind, IBCC_CONGESTION_INPUT);
	passes(f, seen(r, SLOW_MBPS, 812, 3), 1);
	assert_int_equal(r->kind, IBCC_CONGESTION_OUTPUT);
	assert_string_equal(f->summary, "the root carries 6000 Mb/s and is output-generated now: "
					"formulas again");
	assert_false(r->counts_pairs);
	assert_int_equal(r->n, 3);
	assert_int_equal(r->n_heavy, 3);
	assert_int_equal(r->rate_mbps, SLOW_MBPS);
	assert_int_equal(r->full_mbps, SLOW_MBPS);
	assert_int_equal(r->end_permille, 1000);
	assert_int_equal(r->threshold, ibcc_law_threshold(IBCC_CONGESTION_OUTPUT));
}

/* Where its pairs are known it is told at once what is left for them: of what it carries now. */
static void test_turned_and_told(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = root_at(f, 11, 1, IBCC_CONGESTION_INPUT);

	passes(f, seen(r, SLOW_MBPS, 812, 3), 2);
	for (uint32_t i = 0; i < 3; i++)
		give_pair(f, r, i, 6, 400);
	give_load(r, QDR_MBPS);
	r->pairs.unlogged = 0;
	passes(f, seen(r, SLOW_MBPS, 812, 3), 1);
	assert_int_equal(r->kind, IBCC_CONGESTION_OUTPUT);
	assert_true(r->told.on);
	assert_int_equal(r->n, 3);
	assert_int_equal(r->rate_mbps, SLOW_MBPS);
	assert_int_equal(r->full_mbps, SLOW_MBPS);
}

/* Between switches nobody but another root makes a port wait. */
static void test_link_between_switches(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);

	tell_pairs(r);
	passes(f, seen(r, SLOW_MBPS, 812, 3), 20);
	assert_int_equal(r->kind, IBCC_CONGESTION_INPUT);
	assert_int_equal(r->n, 24);
	assert_int_equal(r->rate_mbps, QDR_MBPS / 2);
}

/* What the link carried says nothing about what the receiver takes: that is what it takes now, and
 * then a tenth of the difference in each pass, 5900 and 5810.
 */
static void test_capacity_anew(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = root_at(f, 11, 1, IBCC_CONGESTION_INPUT);

	ibcc_tuner_number(r, 3, 3, QDR_MBPS);
	passes(f, seen(r, QDR_MBPS, 0, 3), 5);
	assert_about(r->pairs.capacity_mbps, QDR_MBPS);
	passes(f, seen(r, SLOW_MBPS, 812, 3), 3);
	assert_int_equal(r->kind, IBCC_CONGESTION_OUTPUT);
	passes(f, seen(r, SLOW_MBPS, 812, 3), 1);
	assert_about(r->pairs.capacity_mbps, SLOW_MBPS);
	passes(f, seen(r, 5000, 812, 3), 1);
	assert_about(r->pairs.capacity_mbps, 5900);
	passes(f, seen(r, 5000, 812, 3), 1);
	assert_about(r->pairs.capacity_mbps, 5810);
}

/* All three adapters wait, which are few for 24 pairs, but not for three adapters. */
static void test_calm_by_adapters(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct ibcc_root now;

	tell_pairs(r);
	passes(f, seen(r, QDR_MBPS, 0, 3), 10);
	assert_false(r->calm);
	/* Nor does it matter that they wait for little, as long as more ports do than adapters. */
	now = seen(r, QDR_MBPS, 0, 4);
	now.tree_wait_permille = 50;
	passes(f, now, 10);
	assert_false(r->calm);
	/* Nobody, in four passes. */
	passes(f, seen(r, QDR_MBPS, 0, 0), 3);
	assert_false(r->calm);
	passes(f, seen(r, QDR_MBPS, 0, 0), 1);
	assert_true(r->calm);
	/* Two ports for three adapters are a tree again, after two passes. */
	passes(f, seen(r, QDR_MBPS, 0, 2), 2);
	assert_false(r->calm);
}

static void calm(struct ibcc_tuner_root *r, const struct ibcc_root *now, unsigned int n)
{
	char buf[IBCC_REASON_BYTES];

	while (n--) {
		struct ibcc_text say = { .buf = buf, .len = sizeof(buf) };

		ibcc_tuner_calm(r, now, 100, &say);
	}
}

/* Full for four fifths of the time while all sources wait. The mean, from 1000 on, is 1000 - 200 (1
 * - .9^k): below 950 in the third pass, and the sixth is the fourth in a row, however often the
 * tree came back before. Busy again, it is above 970 when .9^k is below .15, in the 19th pass; the
 * mean of the pass in which it turned began at 1000, too.
 */
static void test_calm_when_idle(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct ibcc_root idle = seen(r, QDR_MBPS / 10 * 8, 0, 3), busy = seen(r, QDR_MBPS, 0, 3);

	tell_pairs(r);
	r->relapses = IBCC_TUNER_RELAPSES_MAX;
	r->told.on = true;
	calm(r, &idle, 5);
	assert_false(r->calm);
	calm(r, &idle, 1);
	assert_true(r->calm);
	calm(r, &idle, 60);
	assert_true(r->calm);
	calm(r, &busy, 18);
	assert_true(r->calm);
	calm(r, &busy, 2);
	assert_false(r->calm);
}

/* A tenth idle: below 950 in the seventh pass, and still below 970 when it has turned. */
static void test_stays_calm_when_idle(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct ibcc_root idle = seen(r, QDR_MBPS / 10 * 9, 0, 3);

	tell_pairs(r);
	r->told.on = true;
	calm(r, &idle, 9);
	assert_false(r->calm);
	for (unsigned int i = 0; i < 100; i++) {
		calm(r, &idle, 1);
		assert_true(r->calm);
	}
	assert_int_equal(r->relapses, 0);
}

/* A slow receiver that nobody waits for, until it is told long afterwards. */
static void test_told_late(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct ibcc_root now = seen(r, SLOW_MBPS, 500, 0);

	calm(r, &now, 256);
	assert_false(r->calm);
	r->told.on = true;
	calm(r, &now, 1);
	assert_true(r->calm);
}

/* Where others have its timer it marks less without a tree, if it knows that it holds its sources;
 * that the tree is back is seen whether or not it does.
 */
static void test_slow_among_others(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct ibcc_root now = seen(r, SLOW_MBPS, 500, 0);

	r->alone = r->told.on = true;
	calm(r, &now, 100);
	assert_false(r->calm);
	r->alone = r->told.on = false;
	calm(r, &now, 100);
	assert_false(r->calm);
	r->told.on = true;
	calm(r, &now, 1);
	assert_true(r->calm);
	r->told.on = false;
	now.n_waiting = 3;
	calm(r, &now, 1);
	assert_true(r->calm);
	calm(r, &now, 1);
	assert_false(r->calm);
}

/* By counters it is not known whether its sources are only held too much. */
static void test_idle_but_not_told(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct ibcc_root idle = seen(r, QDR_MBPS / 10 * 8, 0, 3);

	tell_pairs(r);
	calm(r, &idle, 100);
	assert_false(r->calm);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_told, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_adapter_becomes_slow),  TEST(test_turned_and_told),
		TEST(test_link_between_switches), TEST(test_capacity_anew),
		TEST(test_calm_by_adapters),      TEST(test_calm_when_idle),
		TEST(test_idle_but_not_told),     TEST(test_stays_calm_when_idle),
		TEST(test_slow_among_others),     TEST(test_told_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
