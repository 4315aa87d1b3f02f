/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots that could carry more, and control that does harm; expected values by arithmetic. */
#include <string.h>

#include "tests/unit/tuner_fixture.h"

#define LINK 32000u
#define SLOW 3200u

/* Adapters 0..5 on links of 32000 Mb/s send to a receiver that takes a tenth: x = 6 * 10 - 1. */
static int setup(void **state)
{
	struct fixture *f = fixture_new(state);

	f->r = ibcc_tuner_add(f->tn, 1);
	assert_non_null(f->r);
	f->r->kind = IBCC_CONGESTION_OUTPUT;
	f->r->on = f->r->in_force = true;
	ibcc_tuner_number(f->r, 6, 6, SLOW);
	f->r->packet_bytes = 2000;
	f->r->interval_ns = 1000000;
	for (uint32_t i = 0; i < 6; i++)
		f->r->member[f->t->port[fabric_port(f->t, i, 1)].endport] = true;
	return 0;
}

static enum ibcc_tuner_idle pass(struct fixture *f, uint32_t mbps, uint16_t wait, uint16_t tree,
				 uint64_t marks)
{
	const struct ibcc_tuner_port now = {
		.rate_mbps = mbps,
		.link_mbps = LINK,
		.wait_permille = wait,
		.tree_wait_permille = tree,
		.marks = marks,
	};
	struct ibcc_text say = { .buf = f->text, .len = sizeof(f->text) };

	f->text[0] = '\0';
	return ibcc_tuner_idle(&f->p, f->r, &now, LINK, &say);
}

/* The table ends at 1.15 * 59 + 0.5 = 68.35; at half the rate 1 + E is to be half: 33.675. */
static void test_lets_go(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(pass(f, SLOW / 2, 0, 0, 0), IBCC_TUNER_BUSY);
	assert_int_equal(pass(f, SLOW / 2, 0, 0, 0), IBCC_TUNER_RELEASED);
	assert_in_range(f->r->end_permille, 1000 * 33675 / 68350 - 1, 1000 * 33675 / 68350 + 1);
	assert_non_null(strstr(f->text, "held too much"));
	/* Then it is busy, and nothing more happens. */
	for (int i = 0; i < 10; i++)
		assert_int_equal(pass(f, SLOW, 0, 0, 0), IBCC_TUNER_BUSY);
}

static void test_not_idle(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 10; i++) {
		assert_int_equal(pass(f, SLOW / 2, 0, 0, 5), IBCC_TUNER_BUSY);   /* marks */
		assert_int_equal(pass(f, SLOW / 2, 0, 0, 0), IBCC_TUNER_BUSY);   /* one pass */
		assert_int_equal(pass(f, SLOW / 2, 500, 0, 0), IBCC_TUNER_BUSY); /* it waits */
		assert_int_equal(pass(f, SLOW / 2, 0, 0, 0), IBCC_TUNER_BUSY);
		assert_int_equal(pass(f, 0, 0, 0, 0), IBCC_TUNER_BUSY); /* all pause */
	}
	assert_int_equal(f->r->end_permille, 1000);
}

/* Marks that came since show that the table reaches: it is the timer that is too slow. */
static void test_sooner_after_marks(void **state)
{
	struct fixture *f = *state;

	pass(f, SLOW, 0, 0, 20);
	pass(f, SLOW / 2, 0, 0, 0);
	assert_int_equal(pass(f, SLOW / 2, 0, 0, 0), IBCC_TUNER_RELEASED);
	assert_int_equal(f->r->end_permille, 1000);
	assert_int_equal(f->r->loop_permille, 500);
}

/* Nothing more to send: 1 + E is a quarter of what it was each time, 69.35, 17.3, 4.3, and over. */
static void test_over(void **state)
{
	struct fixture *f = *state;
	enum ibcc_tuner_idle what = IBCC_TUNER_BUSY;
	int steps = 0;

	for (int i = 0; i < 8 && what != IBCC_TUNER_OVER; i++) {
		what = pass(f, SLOW / 8, 0, 0, 0);
		steps += what != IBCC_TUNER_BUSY;
	}
	assert_int_equal(what, IBCC_TUNER_OVER);
	assert_int_equal(steps, 3);
	assert_non_null(strstr(f->text, "congestion is over"));
}

/* What let the tree come back is taken back, and the next time takes twice as long. */
static void test_held_again(void **state)
{
	struct fixture *f = *state;

	pass(f, SLOW / 2, 0, 0, 0);
	assert_int_equal(pass(f, SLOW / 2, 0, 0, 0), IBCC_TUNER_RELEASED);
	assert_int_equal(pass(f, SLOW, 800, 600, 0), IBCC_TUNER_BUSY);
	assert_int_equal(pass(f, SLOW, 800, 600, 0), IBCC_TUNER_RELEASED);
	assert_int_equal(f->r->end_permille, 1000);
	assert_non_null(strstr(f->text, "held as before"));
	for (int i = 0; i < 3; i++)
		assert_int_equal(pass(f, SLOW / 2, 0, 0, 0), IBCC_TUNER_BUSY);
	assert_int_equal(pass(f, SLOW / 2, 0, 0, 0), IBCC_TUNER_RELEASED);
}

/* A receiver that takes a quarter more than it did while its port waited for it. */
static void test_receiver_fast_again(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 8; i++)
		assert_int_equal(pass(f, SLOW * 5 / 4, 700, 600, 9), IBCC_TUNER_BUSY);
	for (int i = 0; i < 8; i++) /* so much it took when it was slow, too */
		assert_int_equal(pass(f, SLOW * 5 / 4, 0, 0, 9), IBCC_TUNER_BUSY);
	for (int i = 0; i < 3; i++)
		assert_int_equal(pass(f, SLOW * 3 / 2, 0, 0, 9), IBCC_TUNER_BUSY);
	assert_int_equal(pass(f, SLOW * 3 / 2, 0, 0, 9), IBCC_TUNER_RELEASED);
	assert_int_equal(f->r->kind, IBCC_CONGESTION_INPUT);
	assert_int_equal(f->r->rate_mbps, LINK);
}

/* 400 Mb/s more in passes of 0.1 ms are 5000 bytes in each: 26 passes could fill a buffer. */
static void test_receive_buffer_fills(void **state)
{
	struct fixture *f = *state;

	f->r->interval_ns = 100000;
	for (int i = 0; i < 26; i++)
		assert_int_equal(pass(f, SLOW + 400, 0, 0, 9), IBCC_TUNER_BUSY);
	assert_int_equal(pass(f, SLOW + 400, 0, 0, 9), IBCC_TUNER_RELEASED);
	assert_int_equal(f->r->rate_mbps, LINK);
}

/* Four passes of a port that carries 95 % of its link, as when it was decided on. */
static bool judge(struct fixture *f, enum ibcc_congestion kind)
{
	struct ibcc_tuner_sources s = { .n = 6, .n_heavy = 6, .mbps = LINK, .marks = 100 };
	struct ibcc_root now = { .rate_mbps = LINK / 100 * 95, .link_mbps = LINK };
	struct ibcc_text say = { .buf = f->text, .len = sizeof(f->text) };
	bool changed = false;

	f->r->kind = kind;
	f->r->learned = true;
	ibcc_tuner_number(f->r, 6, 6, LINK / 100 * 95);
	for (int i = 0; i < 4; i++)
		changed = ibcc_tuner_judge(&f->p, f->r, &now, &s, true, &say);
	return changed;
}

/* That is all a slow receiver takes, but not all that a full link can carry. */
static void test_what_a_link_carries(void **state)
{
	struct fixture *f = *state;

	assert_false(judge(f, IBCC_CONGESTION_OUTPUT));
	assert_true(judge(f, IBCC_CONGESTION_INPUT));
	assert_non_null(strstr(f->text, "only 95.0 % busy: relax"));
}

/* Before: each of eight adapters sends 1000, of which six are controlled later. */
static void loads(struct fixture *f, uint32_t members, uint32_t others)
{
	for (uint32_t i = 0; i < 8; i++)
		f->tn->load[f->t->port[fabric_port(f->t, i, 1)].endport] =
			(struct ibcc_tuner_load){ .mbps = i < 6 ? members : others };
}

static bool guard(struct fixture *f, int passes, uint32_t root_mbps)
{
	f->tn->since_change = 100;
	for (int i = 0; i < passes - 1; i++)
		assert_false(ibcc_tuner_guard(f->tn, f->r, root_mbps));
	return ibcc_tuner_guard(f->tn, f->r, root_mbps);
}

static void test_guard(void **state)
{
	struct fixture *f = *state;

	loads(f, 1000, 1000);
	assert_int_equal(ibcc_tuner_guard_begin(f->tn, f->r), 0);
	loads(f, 700, 1000); /* 6200 of 8000 */
	f->tn->since_change = 1;
	assert_false(ibcc_tuner_guard(f->tn, f->r, SLOW / 2)); /* settles */
	assert_true(guard(f, 4, SLOW / 2));
	f->r->harmed = 0;
	assert_false(guard(f, 4, SLOW)); /* the root carries all it can: others' traffic ended */
	loads(f, 700, 700);
	assert_false(guard(f, 4, SLOW / 2)); /* demand fell alike where nothing is controlled */
	assert_false(guard(f, 4, SLOW / 2));
	loads(f, 700, 1000);
	assert_false(guard(f, 8, SLOW / 2)); /* too long after to compare */
	f->r->guarded = 0;
	assert_non_null(ibcc_tuner_add(f->tn, 2));
	f->tn->root[1].on = f->tn->root[1].in_force = true;
	f->tn->root[1].drain = 3;
	assert_false(guard(f, 8, SLOW / 2)); /* another tree is being emptied */
	f->tn->root[1].drain = 0;
	assert_true(guard(f, 4, SLOW / 2));
	f->r->guarded = 0;
	f->tn->p.guard_passes = 0;
	assert_false(guard(f, 8, SLOW / 2)); /* not wanted */
}

/* The port carries less than it did, though as much as the share of those that it limits was. */
static void test_guard_when_told(void **state)
{
	struct fixture *f = *state;

	f->r->rate_mbps = SLOW / 2;
	f->r->counts_pairs = true;
	loads(f, 1000, 1000);
	assert_int_equal(ibcc_tuner_guard_begin(f->tn, f->r), 0);
	loads(f, 700, 1000);
	assert_true(guard(f, 4, SLOW / 2));
}

/* 1000 and then 2000 Mb/s, and waiting for 400 and then 200 permille, in passes of 1 ms: a mean has
 * nothing but what was read.
 */
static void test_load(void **state)
{
	struct fixture *f = *state;
	uint32_t port = fabric_port(f->t, 0, 1), ep = f->t->port[port].endport;
	struct ibcc_delta *d;
	struct ibcc_snapshot s;

	assert_int_equal(ibcc_snapshot_init(&s, f->t), 0);
	s.port[port].state = IBCC_SAMPLE_FRESH;
	s.port[port].tick_ps = 1000;
	d = &s.port[port].delta;
	d->dt_ns = 1000000;
	d->flags[IBCC_CTR_XMIT_DATA] = d->flags[IBCC_CTR_XMIT_WAIT] = IBCC_DELTA_VALID;
	d->v[IBCC_CTR_XMIT_DATA] = 1000 * 1000 / 8 / 4;
	d->v[IBCC_CTR_XMIT_WAIT] = 400000;
	ibcc_tuner_note_load(f->tn, f->t, &s);
	assert_int_equal(f->tn->load[ep].mbps, 1000);
	assert_int_equal(f->tn->load[ep].wait_permille, 400);
	d->v[IBCC_CTR_XMIT_DATA] *= 2;
	d->v[IBCC_CTR_XMIT_WAIT] /= 2;
	ibcc_tuner_note_load(f->tn, f->t, &s);
	assert_int_equal(f->tn->load[ep].mbps, 1500);
	assert_int_equal(f->tn->load[ep].wait_permille, 300);
	s.port[port].state = IBCC_SAMPLE_STALE;
	ibcc_tuner_note_load(f->tn, f->t, &s);
	assert_int_equal(f->tn->load[ep].mbps, 1500);
	ibcc_snapshot_fini(&s);
}

static void test_bar(void **state)
{
	struct fixture *f = *state;
	struct ibcc_snapshot s;
	int first = 0, second = 0;

	assert_int_equal(ibcc_snapshot_init(&s, f->t), 0);
	assert_false(ibcc_tuner_barred(f->tn, 1));
	for (ibcc_tuner_bar(f->tn, 1); ibcc_tuner_barred(f->tn, 1) && first < 1000; first++)
		ibcc_tuner_note_load(f->tn, f->t, &s);
	for (ibcc_tuner_bar(f->tn, 1); ibcc_tuner_barred(f->tn, 1) && second < 1000; second++)
		ibcc_tuner_note_load(f->tn, f->t, &s);
	assert_int_equal(first, 32);
	assert_int_equal(second, 64);
	assert_false(ibcc_tuner_barred(f->tn, 2));
	ibcc_snapshot_fini(&s);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_lets_go),
		TEST(test_not_idle),
		TEST(test_sooner_after_marks),
		TEST(test_over),
		TEST(test_held_again),
		TEST(test_receiver_fast_again),
		TEST(test_receive_buffer_fills),
		TEST(test_what_a_link_carries),
		TEST(test_guard),
		TEST(test_guard_when_told),
		TEST(test_load),
		TEST(test_bar),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
