/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What roots are told of the pairs that they limit, and how often. Three pairs share what a slow
 * receiver takes, 6000 Mb/s unless said otherwise; what its values were made for before is up to
 * each test.
 */
#include "told.h"

struct tell {
	struct fixture *f;
	struct ibcc_tuner_root *r;
	struct trees trees;
	char text[IBCC_REASON_BYTES];
};

/* A slow root of three pairs whose tree stands, which had values for n adapters at a rate; those
 * that send the pairs have settings. So many packets were logged that chance is 1 / sqrt(40000) =
 * .005.
 */
static struct tell told(struct fixture *f, uint32_t n, uint32_t mbps)
{
	struct tell s = { .f = f, .r = slow_root(f) };

	for (uint32_t i = 0; i < 3; i++) {
		give_pair(f, s.r, i, 6, 100);
		s.r->member[endport_of(f, i)] = true;
	}
	give_load(s.r, SLOW_MBPS);
	s.r->pairs.samples = 40000;
	stand(&s.trees, s.r, 400);
	ibcc_tuner_number(s.r, n, n, mbps);
	return s;
}

/* One pass: true if something was said. */
static bool tell(struct tell *s)
{
	struct ibcc_text say = { .buf = s->text, .len = sizeof(s->text) };

	s->text[0] = '\0';
	s->trees.e.root = s->trees.root;
	assert_int_equal(ibcc_tuner_tell(s->f->tn, s->f->t, &s->trees.e, &s->f->actual, &say), 0);
	return s->text[0];
}

static void test_numbers(void **state)
{
	struct tell s = told(*state, 7, 9000);

	s.r->learned = false;
	s.r->end_permille = 1250;
	s.r->loop_permille = 1500;
	s.r->threshold = 9;
	s.r->member[endport_of(s.f, 0)] = false;
	s.f->tn->since_change = 50;
	assert_true(tell(&s));
	/* This is said alone, although adapter 0 is new. */
	assert_string_equal(s.text,
			    "the switch's CongestionLog names 3 pairs that the root limits to 6000 "
			    "Mb/s in all: formulas for them, which had 7 and 9000 Mb/s");
	assert_true(s.r->member[endport_of(s.f, 0)]);
	assert_true(s.r->told.on && s.r->learned && s.r->counts_pairs);
	assert_int_equal(s.r->n, 3);
	assert_int_equal(s.r->n_heavy, 3);
	assert_int_equal(s.r->n_adapters, 3);
	assert_int_equal(s.r->rate_mbps, 6000);
	/* What feedback made of the values before is void, but where marking begins is not. */
	assert_int_equal(s.r->end_permille, 1000);
	assert_int_equal(s.r->loop_permille, 1000);
	assert_int_equal(s.r->threshold, 9);
	assert_int_equal(s.r->settle, s.f->p.settle_passes);
	assert_int_equal(s.f->tn->since_change, 0);
}

/* Numbers that fit are no reason to change anything, not even in the first pass. */
static void test_numbers_that_fit(void **state)
{
	struct tell s = told(*state, 3, 6000);

	s.r->learned = false;
	s.r->end_permille = 1250;
	s.r->loop_permille = 1500;
	s.r->threshold = 9;
	s.f->tn->since_change = 50;
	assert_false(tell(&s));
	assert_true(s.r->told.on);
	assert_false(s.r->counts_pairs || s.r->learned);
	assert_int_equal(s.r->end_permille, 1250);
	assert_int_equal(s.r->loop_permille, 1500);
	assert_int_equal(s.r->threshold, 9);
	assert_int_equal(s.r->settle, 0);
	assert_int_equal(s.f->tn->since_change, 50);
}

/* A fourth pair sends 20 marks of 320, 400 of 6400 Mb/s: of 10000 that the receiver takes 9600 are
 * left for three, and the port carries 10000 all the same.
 */
static void test_part_of_the_port(void **state)
{
	struct fixture *f = *state;
	struct tell s = told(f, 4, 6400);

	give_pair(f, s.r, 3, 6, 20);
	give_load(s.r, 6400);
	s.r->pairs.capacity_mbps = 10000;
	assert_true(tell(&s));
	assert_int_equal(s.r->n, 3);
	assert_int_equal(s.r->rate_mbps, 9600);
	assert_int_equal(s.r->full_mbps, 10000);
}

/* With one of the three alone nobody shares what was for three. */
static void test_one_pair(void **state)
{
	struct tell s = told(*state, 3, 6000);

	s.r->pairs.n = 1;
	s.r->pairs.marks = 100;
	assert_true(tell(&s));
	assert_string_equal(s.text,
			    "the switch's CongestionLog names 1 pair that the root limits to 6000 "
			    "Mb/s in all: formulas for them, which had 3 and 6000 Mb/s");
}

/* What each pair gets: 0.85 to 1.15 (and .005 of chance) times what it was to get. */
static void test_small_differences(void **state)
{
	static const struct {
		uint32_t mbps; /* in place of 6000 */
		bool changes;
	} row[] = {
		{ 5040, true }, { 5160, false }, { 6000, false }, { 6900, false }, { 6960, true }
	};
	struct tell s = told(*state, 3, 6000);

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		s.r->told = (struct ibcc_tuner_told){ 0 };
		ibcc_tuner_number(s.r, 3, 3, 6000);
		s.r->end_permille = 1250;
		s.r->pairs.capacity_mbps = row[i].mbps;
		assert_int_equal(tell(&s), row[i].changes);
		assert_true(s.r->told.on);
		assert_int_equal(s.r->rate_mbps, row[i].changes ? row[i].mbps : 6000);
		assert_int_equal(s.r->end_permille, row[i].changes ? 1000 : 1250);
	}
}

/* Of 100 packets a tenth is chance: 1.2 times as much is within 1.25, and 1.27 is not. */
static void test_chance(void **state)
{
	struct tell s = told(*state, 3, 6000);

	s.r->pairs.samples = 100;
	s.r->pairs.capacity_mbps = 7200;
	assert_false(tell(&s));
	s.r->pairs.capacity_mbps = 7620;
	assert_true(tell(&s));
}

/* As many pairs more as the rate is higher need the same tables and timers. */
static void test_as_many_more(void **state)
{
	struct tell s = told(*state, 5, 10000);

	assert_false(tell(&s));
	assert_int_equal(s.r->n, 5);
}

/* Three that counted as two: the timer was made for two thirds of what it needs to be. */
static void test_equally_heavy(void **state)
{
	struct tell s = told(*state, 3, 6000);

	s.r->n_heavy = 2;
	assert_true(tell(&s));
	assert_int_equal(s.r->n_heavy, 3);
}

/* Values were made for ten adapters that counted as fewer or more. The timer was for packets of one
 * that has 20000 / n_heavy Mb/s, and ought to be for those of a pair that has mbps / 3: as many
 * times as long apart as the former is of the latter. 1.3 times (and .005 of chance) is left alone
 * either way; that each is to get 2000 is not far off in any row.
 */
static void test_timer(void **state)
{
	static const struct {
		uint32_t n_heavy, mbps;
		bool changes;
	} row[] = {
		{ 8, 6600, false },  /* 1.136 */
		{ 8, 5755, false },  /* 1.303 */
		{ 8, 5740, true },   /* 1.307 */
		{ 8, 5400, true },   /* 1.389 */
		{ 12, 6000, false }, /* .833 */
		{ 12, 6520, false }, /* .767, and 1 / 1.305 is .766 */
		{ 12, 6530, true },  /* .766 */
	};
	struct tell s = told(*state, 10, 20000);

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		s.r->told = (struct ibcc_tuner_told){ 0 };
		ibcc_tuner_number(s.r, 10, row[i].n_heavy, 20000);
		s.r->pairs.capacity_mbps = row[i].mbps;
		assert_int_equal(tell(&s), row[i].changes);
		assert_int_equal(s.r->n, row[i].changes ? 3 : 10);
	}
}

/* Passes until a rate is told that is far from the one before. */
static uint32_t passes_until(struct tell *s, uint32_t mbps)
{
	uint32_t n = 1;

	s->r->pairs.capacity_mbps = mbps;
	while (!tell(s) && n < 1000)
		n++;
	assert_int_equal(s->r->rate_mbps, mbps);
	return n;
}

/* The first one is told at once, each other one 8 passes after the one before; whenever it goes up
 * in place of down or the other way round this doubles, up to 128.
 */
static void test_pause(void **state)
{
	static const struct {
		uint32_t mbps, passes;
	} row[] = { { 6000, 1 },  { 4000, 8 },  { 8000, 8 },   { 4000, 16 },  { 2000, 32 },
		    { 4000, 32 }, { 2000, 64 }, { 4000, 128 }, { 2000, 128 }, { 4000, 128 } };
	struct tell s = told(*state, 3, 9000);

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_int_equal(passes_until(&s, row[i].mbps), row[i].passes);
}

/* Values that fitted when it was first told were not changed: the next ones need not wait. */
static void test_no_pause_yet(void **state)
{
	struct tell s = told(*state, 3, 6000);

	assert_false(tell(&s));
	assert_int_equal(passes_until(&s, 4000), 1);
	assert_int_equal(passes_until(&s, 2000), 8);
}

/* Passes in which pairs are not known count: seven more after the one until eight have gone by. */
static void test_told_anew(void **state)
{
	struct tell s = told(*state, 3, 9000);

	assert_true(tell(&s));
	s.r->pairs.unlogged = 8;
	assert_false(tell(&s));
	assert_false(s.r->told.on);
	s.r->pairs.unlogged = 0;
	assert_int_equal(passes_until(&s, 4000), 7);
}

/* Whoever sends a limited pair gets settings, if it can; who sends little does not need them. Such
 * changes are said where nothing else is. Five pairs of 520 marks have 5769 of 6000 Mb/s.
 */
static void test_members(void **state)
{
	struct fixture *f = *state;
	struct tell s = told(f, 5, 6000);

	for (uint32_t i = 0; i < 3; i++)
		s.r->member[endport_of(f, i)] = false;
	give_pair(f, s.r, 3, 6, 20);
	give_pair(f, s.r, 4, 6, 100);
	give_pair(f, s.r, 5, 6, 100);
	ca_cc(f, 1)->support = IBCC_CC_UNSUPPORTED;
	ca_cc(f, 2)->info.ControlTableCap = 0;
	assert_true(tell(&s));
	assert_string_equal(s.text, "3 more adapters are limited: settings for them, too");
	for (uint32_t i = 0; i < 8; i++) {
		bool gets = i == 0 || i == 4 || i == 5;

		assert_int_equal(s.r->member[endport_of(f, i)], gets);
		assert_int_equal(f->tn->touched[endport_of(f, i)], gets);
	}
	assert_true(s.r->lacking[endport_of(f, 1)]);
	assert_false(s.r->lacking[endport_of(f, 2)]);
	assert_int_equal(s.r->n, 5);
	assert_false(tell(&s));
}

/* A pair that is held at the slow root is held at the full one, too, when that one marks it. */
static void test_members_of_all_on_the_way(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f);
	struct tell s = told(f, 3, 6000);

	give_pair(f, full, 1, 2, 100);
	give_pair(f, full, 1, 4, 100);
	give_load(full, 28000);
	stand(&s.trees, full, 400);
	tell(&s);
	/* Adapters 0 and 1 send to 6 through it, 2000 each: 28000 are left for two. */
	assert_int_equal(full->n, 2);
	assert_int_equal(full->n_adapters, 2);
	assert_int_equal(full->rate_mbps, 28000);
	assert_false(full->member[endport_of(f, 0)]);
	assert_true(full->member[endport_of(f, 1)]);
	assert_false(full->member[endport_of(f, 2)]);
	full->pairs.logged[endport_of(f, 0)] = .5;
	tell(&s);
	assert_true(full->member[endport_of(f, 0)]);
}

/* Adapters 3 to 5 got settings while nobody could tell who contributes. Whom the switch does not
 * log as marked does not need them, of this root. A root that is the only one leaves them alone.
 */
static void test_dismisses(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f);
	struct tell s = told(f, 3, 6000);

	for (uint32_t i = 3; i < 6; i++)
		s.r->member[endport_of(f, i)] = full->member[endport_of(f, i)] = true;
	s.r->pairs.logged[endport_of(f, 4)] = .5;
	s.r->pairs.logged[endport_of(f, 5)] = .49;
	full->on = false;
	assert_false(tell(&s));
	assert_true(s.r->member[endport_of(f, 3)]);
	full->on = true;
	s.r->pairs.unlogged = 8; /* not known */
	assert_false(tell(&s));
	assert_true(s.r->member[endport_of(f, 3)]);
	s.r->pairs.unlogged = 0;
	assert_true(tell(&s));
	assert_string_equal(s.text, "2 adapters are not marked: no settings for that root");
	for (uint32_t i = 0; i < 8; i++) {
		assert_int_equal(s.r->member[endport_of(f, i)], i < 3 || i == 4);
		assert_int_equal(full->member[endport_of(f, i)], i >= 3 && i < 6);
	}
	assert_false(tell(&s));
}

/* Nobody is told what is not known. */
static void test_not_known(void **state)
{
	struct tell s = told(*state, 7, 9000);

	give_pair(s.f, s.r, 3, 6, 100);
	s.r->pairs.unlogged = 8;
	assert_false(tell(&s));
	assert_false(s.r->told.on);
	assert_int_equal(s.r->n, 7);
	assert_int_equal(s.r->rate_mbps, 9000);
	assert_false(s.r->member[endport_of(s.f, 3)]);
}

/* Passes in which nobody is limited, and nothing comes of it. */
static void limit_nobody(struct tell *s, unsigned int n)
{
	s->trees.e.n_roots = 0;
	while (n--)
		assert_false(tell(s));
}

/* Adapters send 2000 Mb/s each where nothing holds them: after five passes in a row it is given up
 * and not tried again for a while.
 */
static void test_limits_nobody(void **state)
{
	struct fixture *f = *state;
	struct tell s = told(f, 3, 6000);
	uint32_t port = s.r->port;

	limit_nobody(&s, 4);
	/* One in which it limits some. */
	s.trees.e.n_roots = 1;
	assert_false(tell(&s));
	limit_nobody(&s, 4);
	assert_false(ibcc_tuner_barred(f->tn, port));
	assert_true(tell(&s));
	assert_string_equal(
		s.text, "by the switch's CongestionLog nobody is limited by leaf3 port 1: control "
			"taken back, and not tried again for a while");
	assert_null(ibcc_tuner_find(f->tn, port));
	assert_true(ibcc_tuner_barred(f->tn, port));
	assert_int_equal(f->tn->n_roots, 0);
}

/* What was seen before its pairs were unknown for a while says nothing about now. */
static void test_limits_nobody_anew(void **state)
{
	struct fixture *f = *state;
	struct tell s = told(f, 3, 6000);
	uint32_t port = s.r->port;

	limit_nobody(&s, 4);
	s.r->pairs.unlogged = 8;
	assert_false(tell(&s));
	s.r->pairs.unlogged = 0;
	limit_nobody(&s, 4);
	assert_non_null(ibcc_tuner_find(f->tn, port));
	assert_true(tell(&s));
	assert_null(ibcc_tuner_find(f->tn, port));
}

/* All that comes through the full link, 4000 Mb/s, is held up at the slow receiver behind it. */
static void test_gives_up_the_right_one(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f);
	uint32_t port = full->port;
	struct tell s = told(f, 3, 6000);

	give_pair(f, full, 0, 6, 100);
	give_pair(f, full, 1, 6, 100);
	give_load(full, 4000);
	stand(&s.trees, full, 400);
	for (unsigned int i = 0; i < 4; i++)
		assert_false(tell(&s));
	assert_true(tell(&s));
	assert_null(ibcc_tuner_find(f->tn, port));
	assert_true(ibcc_tuner_barred(f->tn, port));
	assert_int_equal(f->tn->n_roots, 1);
	assert_true(f->tn->root[0].told.on);
	assert_false(ibcc_tuner_barred(f->tn, f->tn->root[0].port));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_told, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_numbers),
		TEST(test_numbers_that_fit),
		TEST(test_part_of_the_port),
		TEST(test_one_pair),
		TEST(test_small_differences),
		TEST(test_chance),
		TEST(test_as_many_more),
		TEST(test_equally_heavy),
		TEST(test_timer),
		TEST(test_pause),
		TEST(test_no_pause_yet),
		TEST(test_told_anew),
		TEST(test_members),
		TEST(test_members_of_all_on_the_way),
		TEST(test_dismisses),
		TEST(test_not_known),
		TEST(test_limits_nobody),
		TEST(test_limits_nobody_anew),
		TEST(test_gives_up_the_right_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
