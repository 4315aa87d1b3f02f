/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which pairs have as much of a root as it leaves them, and whether they stand out. The level is
 * sum(marks^2) / sum(marks), over those with more than 0.65 of the one before, worked out by hand.
 */
#include "told.h"

static struct ibcc_tuner_root *a_root(struct fixture *f)
{
	struct ibcc_tuner_root *r = root_at(f, 11, 1, IBCC_CONGESTION_OUTPUT);

	give_load(r, QDR_MBPS);
	return r;
}

/* n pairs with so many marks each, whose relative variance is `chance`. */
static void give(struct fixture *f, struct ibcc_tuner_root *r, uint32_t n, double marks,
		 double chance)
{
	for (uint32_t i = 0; i < n; i++)
		give_pair(f, r, i % 8, i / 8, marks)->chance = chance;
}

static double level(const struct ibcc_tuner_root *r)
{
	return ibcc_tuner_level(&r->pairs);
}

static void test_level_equal(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	assert_true(level(r) == 0);
	give(f, r, 5, 40, 0);
	assert_about(level(r), 40);
}

/* 340 marks whose squares are 30400: 89.4. Of that 10 are no 0.65, and 100 are left. */
static void test_level_of_two(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 3, 100, 0);
	give(f, r, 4, 10, 0);
	assert_about(level(r), 100);
	assert_true(ibcc_tuner_at_level(65.1, level(r)));
	assert_false(ibcc_tuner_at_level(64.9, level(r)));
}

/* Two of 100 and two of 60, 320 marks, squares 27200: 85, of which 60 are more than 0.65. */
static void test_level_close(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 2, 100, 0);
	give(f, r, 2, 60, 0);
	assert_about(level(r), 85);
}

/* Many pairs that send little are 3 / 4 of all marks: 100 + 300, squares 10000 + 3000 = 32.5. Then
 * without them 100.
 */
static void test_level_of_one_among_many(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 1, 100, 0);
	give(f, r, 30, 10, 0);
	assert_about(level(r), 100);
}

/* 80 and 120 where each varies by a fifth: squares are 10400 in the mean, 4 % of which is chance.
 */
static void test_level_noise(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 4, 80, .04);
	give(f, r, 4, 120, .04);
	assert_about(level(r), 99.84);
}

/* Of what a packet or less tells half is believed. */
static void test_level_chance(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 4, 80, 3);
	assert_about(level(r), 40);
}

/* Half a deviation more than was counted: 50 * (1 + .5 * .7). */
static void test_most_marks(void **state)
{
	const struct ibcc_tuner_pair p = { .marks = 50, .chance = .49 };

	(void)state;
	assert_about(ibcc_tuner_most_marks(&p), 67.5);
}

static void test_known_samples(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 3, 15, 0);
	give(f, r, 1, 14, 0);
	assert_false(ibcc_tuner_pairs_known(r));
	r->pairs.samples = 60;
	assert_true(ibcc_tuner_pairs_known(r));
	/* Half of them keep a root told: three in each pass add up to 60, more or less. */
	r->told.on = true;
	r->pairs.samples = 30;
	assert_true(ibcc_tuner_pairs_known(r));
	r->pairs.samples = 29;
	assert_false(ibcc_tuner_pairs_known(r));
}

static void test_known_passes(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 4, 100, 0);
	r->pairs.passes = 3.9;
	assert_false(ibcc_tuner_pairs_known(r));
	r->pairs.passes = 4;
	assert_true(ibcc_tuner_pairs_known(r));
}

static void test_known_unlogged(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 4, 100, 0);
	r->pairs.unlogged = 7;
	assert_true(ibcc_tuner_pairs_known(r));
	r->pairs.unlogged = 8;
	assert_false(ibcc_tuner_pairs_known(r));
}

static void test_known_off(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 4, 100, 0);
	r->on = false;
	assert_false(ibcc_tuner_pairs_known(r));
}

/* Four packets of each pair, however many marks they stand for: 15 pairs of 64 have 4.3 each, and
 * 17 have 3.8.
 */
static void test_known_level(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 15, 100, 0);
	r->pairs.samples = 64;
	assert_true(ibcc_tuner_pairs_known(r));
	give(f, r, 2, 100, 0);
	r->pairs.samples = 64;
	assert_false(ibcc_tuner_pairs_known(r));
	r->told.on = true;
	assert_false(ibcc_tuner_pairs_known(r));
}

/* Two at the level have 200 of 470 marks, or of 530: at least 0.4 stand out. Who was told before
 * needs not.
 */
static void test_few_limited(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 2, 100, 0);
	give(f, r, 9, 30, 0);
	assert_about(level(r), 100);
	assert_true(ibcc_tuner_pairs_known(r));
	give(f, r, 2, 30, 0);
	assert_about(level(r), 100);
	assert_false(ibcc_tuner_pairs_known(r));
	r->told.on = true;
	assert_true(ibcc_tuner_pairs_known(r));
}

/* Pairs with half of the level could be either: at most half as many marks as those at it. */
static void test_many_between(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 4, 100, 0);
	give(f, r, 3, 50, 0);
	assert_about(level(r), 100);
	assert_true(ibcc_tuner_pairs_known(r));
	give(f, r, 2, 50, 0);
	assert_about(level(r), 100);
	assert_false(ibcc_tuner_pairs_known(r));
	r->told.on = true;
	assert_true(ibcc_tuner_pairs_known(r));
}

/* Ten of 100 and one of 200: level 140000 / 1200 = 116.7. 1.5 times that is 175, and 200 are more
 * than a tenth of 1200: nobody holds that one. Among 30 it would be one in 16.
 */
static void test_one_above(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 10, 100, 0);
	give(f, r, 1, 200, 0);
	assert_about(level(r), 140000 / 1200.);
	assert_false(ibcc_tuner_pairs_known(r));
	r->told.on = true;
	assert_true(ibcc_tuner_pairs_known(r));
	r->told.on = false;
	give(f, r, 20, 100, 0);
	assert_true(ibcc_tuner_pairs_known(r));
}

/* ... and if it varies by half of its marks it may well be 243: 1.5 * 130000 / 1200 * 1.5. */
static void test_one_above_by_chance(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = a_root(f);

	give(f, r, 10, 100, 0);
	give(f, r, 1, 200, .25);
	assert_about(level(r), 130000 / 1200.);
	assert_true(ibcc_tuner_pairs_known(r));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_told, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_level_equal),
		TEST(test_level_of_two),
		TEST(test_level_close),
		TEST(test_level_of_one_among_many),
		TEST(test_level_noise),
		TEST(test_level_chance),
		cmocka_unit_test(test_most_marks),
		TEST(test_known_samples),
		TEST(test_known_passes),
		TEST(test_known_unlogged),
		TEST(test_known_off),
		TEST(test_known_level),
		TEST(test_few_limited),
		TEST(test_many_between),
		TEST(test_one_above),
		TEST(test_one_above_by_chance),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
