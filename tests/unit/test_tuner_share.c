/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which pairs find their bottleneck in which root, and what they are to get of it: max-min
 * allocations worked out by hand. Links carry 32000 Mb/s. The full root is the port by which
 * adapters 0 and 1 send to those with even numbers, the slow one that of the receiver 6.
 */
#include "told.h"

/* The table of adapter i ends at a delay of so many packet times. */
static void end_at(struct fixture *f, uint32_t i, uint32_t delay)
{
	struct ibcc_endport_cc *ep = ca_cc(f, i);

	ep->cct = (struct ibcc_cct){ .limit = 1 };
	ep->cct.entry[1] = ibcc_cct_entry_encode(1000 * delay);
}

static struct ibcc_tuner_shares *find(struct fixture *f, const struct trees *s)
{
	struct ibcc_tuner_shares *shares = ibcc_tuner_shares_find(f->tn, f->t, &s->e, &f->actual);

	assert_non_null(shares);
	return shares;
}

static uint32_t index_of(const struct fixture *f, const struct ibcc_tuner_root *r)
{
	return (uint32_t)(r - f->tn->root);
}

static void assert_limits(const struct fixture *f, const struct ibcc_tuner_shares *s,
			  const struct ibcc_tuner_root *r, uint32_t n, double mbps)
{
	double got = -1;

	assert_int_equal(ibcc_tuner_limited_by(s, index_of(f, r), &got), n);
	assert_about(got, mbps);
}

static void check_limits(struct fixture *f, const struct trees *t, const struct ibcc_tuner_root *r,
			 uint32_t n, double mbps)
{
	struct ibcc_tuner_shares *s = find(f, t);

	assert_limits(f, s, r, n, mbps);
	ibcc_tuner_shares_free(s);
}

/* 340 marks for 6800 Mb/s. Two pairs have 400 each, which they keep: of 10000 that the receiver
 * takes 9200 are left for three.
 */
static void test_one_root(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct ibcc_tuner_shares *s;
	struct trees trees = { 0 };
	size_t at = 0;

	for (uint32_t i = 0; i < 3; i++)
		give_pair(f, r, i, 6, 100);
	give_pair(f, r, 3, 6, 20);
	give_pair(f, r, 4, 6, 20);
	give_load(r, 6800);
	r->pairs.capacity_mbps = 10000;
	stand(&trees, r, 400);
	s = find(f, &trees);
	assert_limits(f, s, r, 3, 9200);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ibcc_tuner_next_limited(s, index_of(f, r), &at),
				 fabric_port(f->t, i, 1));
	assert_int_equal(ibcc_tuner_next_limited(s, index_of(f, r), &at), IBCC_NONE);
	ibcc_tuner_shares_free(s);
}

/* A full link carries what it is made for, whatever else was learned; a slow receiver what it
 * takes.
 */
static void test_capacity(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct trees trees = { 0 };

	for (uint32_t i = 0; i < 4; i++)
		give_pair(f, r, i, 6, 100);
	give_load(r, 4000);
	stand(&trees, r, 400);
	r->pairs.capacity_mbps = 4500;
	check_limits(f, &trees, r, 4, 4500);
	r->kind = IBCC_CONGESTION_INPUT;
	check_limits(f, &trees, r, 4, 32000);
}

/* Pairs that are limited in the slow root, 2000 Mb/s each, leave 30000 of the full link for three.
 * One of the former was logged there too, by little.
 */
static void series(struct fixture *f, struct ibcc_tuner_root *full, struct ibcc_tuner_root *slow,
		   struct trees *trees)
{
	give_pair(f, full, 0, 2, 100);
	give_pair(f, full, 1, 2, 100);
	give_pair(f, full, 1, 4, 100);
	give_load(full, 30000);
	for (uint32_t i = 0; i < 6; i += 2)
		give_pair(f, slow, i, 6, 100);
	give_load(slow, SLOW_MBPS);
	stand(trees, full, 400);
	stand(trees, slow, 400);
}

static void test_series(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	struct trees trees = { 0 };
	struct ibcc_tuner_shares *s;

	series(f, full, slow, &trees);
	give_pair(f, full, 0, 6, 20);
	s = find(f, &trees);
	assert_limits(f, s, full, 3, 30000);
	assert_limits(f, s, slow, 3, 6000);
	ibcc_tuner_shares_free(s);
}

/* The same by its route alone, if the full root's switch did not happen to log that pair. All that
 * is limited somewhere is named at each root on its way, an adapter once however many pairs it
 * sends there.
 */
static void test_series_by_route(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	static const uint32_t at_full[] = { 0, 1 }, at_slow[] = { 0, 2, 4 };
	struct trees trees = { 0 };
	struct ibcc_tuner_shares *s;
	size_t at = 0;

	series(f, full, slow, &trees);
	s = find(f, &trees);
	assert_limits(f, s, full, 3, 30000);
	assert_limits(f, s, slow, 3, 6000);
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(ibcc_tuner_next_limited(s, index_of(f, full), &at),
				 fabric_port(f->t, at_full[i], 1));
	assert_int_equal(ibcc_tuner_next_limited(s, index_of(f, full), &at), IBCC_NONE);
	at = 0;
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ibcc_tuner_next_limited(s, index_of(f, slow), &at),
				 fabric_port(f->t, at_slow[i], 1));
	assert_int_equal(ibcc_tuner_next_limited(s, index_of(f, slow), &at), IBCC_NONE);
	ibcc_tuner_shares_free(s);
}

/* All that comes through what looks like a full root is held up at the slow one: 3000 Mb/s. */
static void test_limits_nobody(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	struct trees trees = { 0 };
	struct ibcc_tuner_shares *s;

	give_pair(f, full, 0, 6, 100);
	give_pair(f, full, 1, 6, 100);
	give_load(full, 3000);
	for (uint32_t i = 0; i < 4; i++)
		give_pair(f, slow, i, 6, 100);
	give_load(slow, SLOW_MBPS);
	stand(&trees, full, 400);
	stand(&trees, slow, 400);
	s = find(f, &trees);
	assert_limits(f, s, full, 0, 0);
	assert_limits(f, s, slow, 4, 6000);
	ibcc_tuner_shares_free(s);
}

/* A pair that wants little is seen with 500 Mb/s at one root and 300 at the other: 400 are taken
 * off both.
 */
static void test_wants_little_of_both(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	struct trees trees = { 0 };
	struct ibcc_tuner_shares *s;

	give_pair(f, full, 0, 2, 100);
	give_pair(f, full, 1, 2, 100);
	give_pair(f, full, 1, 4, 100);
	give_pair(f, full, 0, 6, 5);
	give_load(full, 30500); /* 305 marks */
	for (uint32_t i = 2; i < 5; i++)
		give_pair(f, slow, i, 6, 100);
	give_pair(f, slow, 0, 6, 15);
	give_load(slow, 6300); /* 315 marks */
	stand(&trees, full, 400);
	stand(&trees, slow, 400);
	s = find(f, &trees);
	assert_limits(f, s, full, 3, 31600);
	assert_limits(f, s, slow, 3, 5600);
	ibcc_tuner_shares_free(s);
}

/* A root whose pairs are not known limits nobody, and takes from nobody. */
static void test_not_known(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	struct trees trees = { 0 };
	struct ibcc_tuner_shares *s;

	series(f, full, slow, &trees);
	slow->pairs.unlogged = 8;
	s = find(f, &trees);
	assert_limits(f, s, slow, 0, 0);
	assert_limits(f, s, full, 3, 32000);
	ibcc_tuner_shares_free(s);
}

/* With links of 8000 adapter 0 cannot have more, which leaves 24000 of 32000 for two. */
static void test_own_link(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct trees trees = { 0 };

	f->t->port[fabric_port(f->t, 0, 1)].rate_mbps = 8000;
	give_pair(f, r, 0, 2, 100);
	give_pair(f, r, 1, 2, 100);
	give_pair(f, r, 1, 4, 100);
	give_load(r, 30000);
	stand(&trees, r, 400);
	check_limits(f, &trees, r, 2, 24000);
}

/* Two links of 16000 fill the root, which holds neither. */
static void test_own_links(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct trees trees = { 0 };

	for (uint32_t i = 0; i < 2; i++) {
		f->t->port[fabric_port(f->t, i, 1)].rate_mbps = 16000;
		give_pair(f, r, i, 2, 100);
	}
	give_load(r, 32000);
	stand(&trees, r, 400);
	check_limits(f, &trees, r, 0, 0);
}

/* At a delay of 12 packet times a source sends 32000 / 13 = 2462 Mb/s, at one of 11 it sends 2667.
 * Who sends 2000 is held if that is 0.8 of what the table's end leaves it: 1969, but not 2133. Then
 * its 2000 are its own, and 4000 are left for two.
 */
static void test_at_tables_end(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct trees trees = { 0 };

	for (uint32_t i = 0; i < 3; i++) {
		give_pair(f, r, i, 6, 100);
		end_at(f, i, 12);
	}
	give_load(r, SLOW_MBPS);
	check_limits(f, &trees, r, 3, 6000);
	end_at(f, 1, 11);
	check_limits(f, &trees, r, 2, 4000);
	/* Without a table nothing holds it. */
	ca_cc(f, 1)->cct = (struct ibcc_cct){ 0 };
	check_limits(f, &trees, r, 2, 4000);
}

/* While the tree stands its sources send less than their tables allow. */
static void test_stands(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct trees trees = { 0 };

	for (uint32_t i = 0; i < 3; i++)
		give_pair(f, r, i, 6, 100);
	give_load(r, SLOW_MBPS);
	check_limits(f, &trees, r, 0, 0);
	stand(&trees, r, 300);
	check_limits(f, &trees, r, 0, 0);
	trees.root[0].tree_wait_permille = 301;
	check_limits(f, &trees, r, 3, 6000);
}

/* 50 marks of a level of 100 are too few; if they vary by 0.7 of that they may be 67.5, which is
 * more than 0.65 of it.
 */
static void test_in_doubt(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct trees trees = { 0 };

	for (uint32_t i = 0; i < 3; i++)
		give_pair(f, r, i, 6, 100);
	give_pair(f, r, 3, 6, 50);
	give_load(r, 7000);
	stand(&trees, r, 400);
	check_limits(f, &trees, r, 3, 5000); /* but for 1000 of 7000 */
	r->pairs.pair[3].chance = .49;
	check_limits(f, &trees, r, 4, 6000);
}

/* One pair sends more than the receiver was said to take: a fiftieth of that is left for three. */
static void test_least_left(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct trees trees = { 0 };

	for (uint32_t i = 0; i < 3; i++)
		give_pair(f, r, i, 6, 100);
	give_pair(f, r, 3, 6, 50);
	give_load(r, 7000);
	stand(&trees, r, 400);
	r->pairs.capacity_mbps = 900;
	check_limits(f, &trees, r, 3, 18);
}

/* Two pairs that are not limited send 1000 and 300 Mb/s, 20 for each mark, and 900 were said to be
 * taken: a fiftieth of those is left, whichever of the two comes first.
 */
static void test_least_left_of_many(void **state)
{
	static const double marks[][2] = { { 50, 15 }, { 15, 50 } };
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct trees trees = { 0 };

	stand(&trees, r, 400);
	for (unsigned int order = 0; order < 2; order++) {
		r->pairs.n = 0;
		r->pairs.samples = r->pairs.marks = 0;
		for (uint32_t i = 0; i < 3; i++)
			give_pair(f, r, i, 6, 100);
		for (uint32_t i = 0; i < 2; i++)
			give_pair(f, r, 3 + i, 6, marks[order][i]);
		give_load(r, 7300); /* 365 marks */
		r->pairs.capacity_mbps = 900;
		check_limits(f, &trees, r, 3, 18);
	}
}

/* A LID that nobody has any more: nothing is known of its way. */
static void test_no_route(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct trees trees = { 0 };

	for (uint32_t i = 0; i < 3; i++)
		give_pair(f, r, i, 6, 100);
	r->pairs.pair[1].dlid = 0xbfff;
	give_load(r, SLOW_MBPS);
	stand(&trees, r, 400);
	check_limits(f, &trees, r, 2, 6000);
}

static void test_no_roots(void **state)
{
	struct fixture *f = *state;
	struct trees trees = { 0 };
	size_t at = 0;
	struct ibcc_tuner_shares *s = find(f, &trees);

	assert_int_equal(ibcc_tuner_next_limited(s, 0, &at), IBCC_NONE);
	ibcc_tuner_shares_free(s);
	ibcc_tuner_shares_free(NULL);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_told, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_root),      TEST(test_capacity),
		TEST(test_series),        TEST(test_series_by_route),
		TEST(test_limits_nobody), TEST(test_wants_little_of_both),
		TEST(test_not_known),     TEST(test_own_link),
		TEST(test_own_links),     TEST(test_at_tables_end),
		TEST(test_stands),        TEST(test_in_doubt),
		TEST(test_least_left),    TEST(test_least_left_of_many),
		TEST(test_no_route),      TEST(test_no_roots),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
