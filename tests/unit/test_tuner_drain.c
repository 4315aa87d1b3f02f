/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When a tree is emptied, until when, and when again; expected values by arithmetic. */
#include "tests/unit/tuner_fixture.h"

#define LINK 32000u
#define SLOW 3200u

/* Passes of 1 ms; 20 buffers of 65536 bytes leave through 3200 Mb/s in 3.28 ms. */
struct drain {
	struct ibcc_tuner_root r;
	struct ibcc_snapshot s;
	struct ibcc_root now;
	char buf[IBCC_REASON_BYTES];
};

static struct drain drain_at(uint16_t tree_wait_permille)
{
	struct drain d = {
		.r = { .kind = IBCC_CONGESTION_OUTPUT },
		.s = { .interval_ns = 1000000 },
		.now = { .rate_mbps = SLOW,
			 .link_mbps = LINK,
			 .wait_permille = 900,
			 .n_waiting = 20,
			 .tree_wait_permille = tree_wait_permille },
	};

	ibcc_tuner_number(&d.r, 20, 20, SLOW);
	return d;
}

static bool returned(struct drain *d)
{
	struct ibcc_text say = { .buf = d->buf, .len = sizeof(d->buf) };

	return ibcc_tuner_returned(&d->r, &d->s, &d->now, &say);
}

/* Twice the 3.28 ms and 2; one buffer is gone in 0.16 ms, and eight times that is soon enough. */
static void test_passes(void **state)
{
	struct drain d = drain_at(900);

	(void)state;
	assert_int_equal(ibcc_tuner_drain_passes(&d.r, &d.s, &d.now), 8);
	d.now.n_waiting = 1;
	assert_int_equal(ibcc_tuner_drain_passes(&d.r, &d.s, &d.now), 0);
	d.now.n_waiting = 1000;
	assert_int_equal(ibcc_tuner_drain_passes(&d.r, &d.s, &d.now), 60);
	d.r.kind = IBCC_CONGESTION_INPUT;
	assert_int_equal(ibcc_tuner_drain_passes(&d.r, &d.s, &d.now), 0);
}

/* Two passes in a row without packets, or nobody waits, or the time is over. */
static void test_drained(void **state)
{
	struct fixture *f = fixture_new(state);
	struct drain d = drain_at(900);

	d.r.drain = 8;
	assert_false(ibcc_tuner_drained(f->tn, &d.r, &d.now));
	d.now.wait_permille = 860; /* and 100 of sending: 960 */
	assert_false(ibcc_tuner_drained(f->tn, &d.r, &d.now));
	d.now.wait_permille = 900;
	assert_false(ibcc_tuner_drained(f->tn, &d.r, &d.now));
	d.now.wait_permille = 860;
	assert_false(ibcc_tuner_drained(f->tn, &d.r, &d.now));
	assert_true(ibcc_tuner_drained(f->tn, &d.r, &d.now));
	d = drain_at(99);
	d.r.drain = 8;
	assert_true(ibcc_tuner_drained(f->tn, &d.r, &d.now));
	d = drain_at(900);
	d.r.drain = 2;
	assert_false(ibcc_tuner_drained(f->tn, &d.r, &d.now));
	assert_true(ibcc_tuner_drained(f->tn, &d.r, &d.now));
	d.r.drain = 8;
	assert_true(ibcc_tuner_drained(f->tn, &d.r, NULL));
}

/* Six passes in a row of sources that wait for more than half of the time, then twelve. */
static void test_returned(void **state)
{
	struct drain d = drain_at(600);

	(void)state;
	for (int i = 0; i < 5; i++)
		assert_false(returned(&d));
	assert_true(returned(&d));
	assert_int_equal(d.r.drain, 8);
	for (int i = 0; i < 11; i++)
		assert_false(returned(&d));
	d.now.tree_wait_permille = 599;
	assert_false(returned(&d));
	d.now.tree_wait_permille = 600;
	for (int i = 0; i < 11; i++)
		assert_false(returned(&d));
	assert_true(returned(&d));
}

/* Not while settings settle, not where the root runs idle, and not at a full link. */
static void test_not_returned(void **state)
{
	struct drain d = drain_at(900);

	(void)state;
	d.r.settle = 1;
	for (int i = 0; i < 20; i++)
		assert_false(returned(&d));
	d.r.settle = 0;
	d.now.wait_permille = 860;
	for (int i = 0; i < 20; i++)
		assert_false(returned(&d));
	d.now.wait_permille = 900;
	d.r.kind = IBCC_CONGESTION_INPUT;
	for (int i = 0; i < 20; i++)
		assert_false(returned(&d));
	d.r.kind = IBCC_CONGESTION_OUTPUT;
	d.now.n_waiting = 1;
	for (int i = 0; i < 20; i++)
		assert_false(returned(&d));
	assert_int_equal(d.r.drain, 0);
}

/* What is in the tree leaves through all that the port carries, not through the share of those that
 * it was told to limit.
 */
static void test_passes_when_told(void **state)
{
	struct drain d = drain_at(900);

	(void)state;
	d.r.counts_pairs = true;
	d.r.rate_mbps = SLOW / 4;
	assert_int_equal(ibcc_tuner_drain_passes(&d.r, &d.s, &d.now), 8);
}

/* Who was calm, as its tree was gone, is not with one that stands. */
static void test_returned_to_calm(void **state)
{
	struct drain d = drain_at(600);

	(void)state;
	d.r.calm = true;
	d.r.turning = 1;
	for (int i = 0; i < 5; i++)
		assert_false(returned(&d));
	assert_true(d.r.calm);
	assert_true(returned(&d));
	assert_false(d.r.calm);
	assert_int_equal(d.r.turning, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_passes),
		cmocka_unit_test_teardown(test_drained, teardown),
		cmocka_unit_test(test_passes_when_told),
		cmocka_unit_test(test_returned),
		cmocka_unit_test(test_returned_to_calm),
		cmocka_unit_test(test_not_returned),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
