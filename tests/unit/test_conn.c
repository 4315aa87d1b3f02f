/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections by themselves: PSNs that wrap, NAKs, going back, placement out of order. The witness
 * numbers packets from 0 in 64 bits, keeps each fact in an array of its own, and shares no
 * arithmetic with lib/engine/conn.c.
 */
#include "tests/unit/engines.h"

#include <stdlib.h>

#include <ibcc/rng.h>

#include "lib/engine/conn.h"

static void test_psn(void **state)
{
	(void)state;
	assert_int_equal(psn_add(0xffffff, 1), 0);
	assert_int_equal(psn_add(0xfffff0, 0x20), 0x10);
	assert_int_equal(psn_diff(0, 0xffffff), 1);
	assert_int_equal(psn_diff(0xffffff, 0), -1);
	assert_int_equal(psn_diff(0x7fffff, 0), 0x7fffff);
	assert_int_equal(psn_diff(0x800000, 0), -0x800000);
	assert_int_equal(psn_diff(5, 5), 0);
}

static uint32_t send(struct conn *c, bool want_again)
{
	bool again;
	uint32_t psn = ibcc_conn_send(c, 0, &again);

	assert_int_equal(again, want_again);
	return psn;
}

/* By hand, across the wrap: 0xfffffe is late; the two behind it are dropped and asked for once, and
 * when it has come, again.
 */
static void test_rc_by_hand(void **state)
{
	struct conn c;
	struct conn_receipt r;

	(void)state;
	assert_int_equal(ibcc_conn_init(&c, false, 4, 0xfffffe), 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(send(&c, false), (0xfffffe + i) & 0xffffff);
	assert_false(conn_open(&c));
	r = ibcc_conn_receive(&c, 0xffffff);
	assert_true(!r.accepted && r.answer && r.nak && c.expected == 0xfffffe);
	r = ibcc_conn_receive(&c, 0);
	assert_true(!r.accepted && !r.answer);
	r = ibcc_conn_receive(&c, 0xfffffe);
	assert_true(r.accepted && r.answer && !r.nak && r.complete == 1 && c.expected == 0xffffff);
	r = ibcc_conn_receive(&c, 1);
	assert_true(!r.accepted && r.nak);
	r = ibcc_conn_receive(&c, 0xfffffe); /* again */
	assert_true(!r.accepted && r.answer && !r.nak && !r.complete);
	/* The first NAK is late: it acknowledges nothing and goes back all the way. */
	assert_int_equal(ibcc_conn_acked(&c, 0xfffffe, true), 0);
	assert_int_equal(send(&c, true), 0xfffffe);
	/* The second one has passed an acknowledgement of the same, which tells nothing new. */
	assert_int_equal(ibcc_conn_acked(&c, 0xffffff, true), 1);
	assert_int_equal(ibcc_conn_acked(&c, 0xffffff, false), 0);
	assert_int_equal(ibcc_conn_acked(&c, 0xfffffe, true), 0);
	assert_int_equal(send(&c, true), 0xffffff);
	assert_int_equal(send(&c, true), 0);
	assert_int_equal(send(&c, true), 1);
	assert_true(!conn_goes_back(&c) && conn_open(&c));
	ibcc_conn_timed_out(&c);
	assert_int_equal(send(&c, true), 0xffffff);
	/* All of it had come: nothing is left to be sent again. */
	assert_int_equal(ibcc_conn_acked(&c, 2, false), 3);
	assert_false(conn_goes_back(&c));
	assert_int_equal(send(&c, false), 2);
	assert_int_equal(c.count.naks, 2);
	assert_int_equal(c.count.out_of_order, 3);
	assert_int_equal(c.count.duplicates, 1);
	assert_int_equal(c.count.resent, 5);
	assert_int_equal(c.count.timeouts, 1);
	/* In order; 1, 2, 2 ahead. */
	assert_true(c.count.depth[0] == 1 && c.count.depth[1] == 1 && c.count.depth[2] == 2);
	assert_int_equal(c.count.depth_max, 2);
	ibcc_conn_fini(&c);
}

static void test_ooo_by_hand(void **state)
{
	struct conn c;
	struct conn_receipt r;

	(void)state;
	assert_int_equal(ibcc_conn_init(&c, true, 8, 0xfffffe), 0);
	for (unsigned int i = 0; i < 8; i++)
		send(&c, false);
	r = ibcc_conn_receive(&c, 1);
	assert_true(r.accepted && r.answer && !r.nak && !r.complete && c.expected == 0xfffffe);
	r = ibcc_conn_receive(&c, 0xffffff);
	assert_true(r.accepted && !r.complete);
	r = ibcc_conn_receive(&c, 1);
	assert_true(!r.accepted && r.answer);
	r = ibcc_conn_receive(&c, 0xfffffe);
	assert_true(r.accepted && r.complete == 2 && r.from == 0xfffffe && c.expected == 0);
	r = ibcc_conn_receive(&c, 0);
	assert_true(r.accepted && r.complete == 2 && r.from == 0 && c.expected == 2);
	assert_int_equal(ibcc_conn_acked(&c, 2, false), 4);
	assert_true(conn_open(&c));
	assert_int_equal(c.count.duplicates, 1);
	assert_int_equal(c.count.out_of_order + c.count.naks, 0);
	assert_int_equal(c.count.depth_max, 3);
	ibcc_conn_fini(&c);
}

#define PACKETS 3000u
#define FLIGHT  64u /* packets and answers on the way */

/* Packets and answers are late, lost and doubled at random; some time-outs. */
struct chaos {
	struct conn c;
	uint64_t rng, first; /* PSN of packet 0 */
	bool ooo;
	uint64_t sent_to, next, una, expected; /* the witness's, in packets */
	bool asked, has[PACKETS];
	uint64_t data[FLIGHT], answer[FLIGHT]; /* answers: 2 * packet + NAK */
	uint32_t n_data, n_answers;
};

static uint64_t take(struct chaos *x, uint64_t *of, uint32_t *n)
{
	uint32_t at = ibcc_rng_below(&x->rng, *n);
	uint64_t v = of[at];

	if (ibcc_rng_below(&x->rng, 10)) /* else it stays, and comes once more */
		of[at] = of[--*n];
	return v;
}

static void chaos_send(struct chaos *x)
{
	bool again;
	uint32_t psn;

	assert_int_equal(conn_goes_back(&x->c), x->next < x->sent_to);
	assert_int_equal(conn_open(&x->c), x->sent_to - x->una < 16);
	if (x->n_data == FLIGHT ||
	    (x->next == x->sent_to && (x->sent_to - x->una >= 16 || x->sent_to == PACKETS)))
		return;
	psn = ibcc_conn_send(&x->c, 0, &again);
	assert_int_equal(psn, (x->first + x->next) % (1u << 24));
	assert_int_equal(again, x->next < x->sent_to);
	if (ibcc_rng_below(&x->rng, 20)) /* else it is lost */
		x->data[x->n_data++] = x->next;
	x->next++;
	x->sent_to = x->next > x->sent_to ? x->next : x->sent_to;
}

static void chaos_receive(struct chaos *x)
{
	uint64_t k = take(x, x->data, &x->n_data), before = x->expected;
	struct conn_receipt r = ibcc_conn_receive(&x->c, (uint32_t)((x->first + k) % (1u << 24)));
	bool take_it = !x->has[k] && (x->ooo || k == x->expected);
	bool ask = !x->has[k] && !x->ooo && k > x->expected && !x->asked;

	assert_int_equal(r.accepted, take_it);
	assert_int_equal(r.nak, ask);
	assert_int_equal(r.answer, ask || x->ooo || k <= x->expected);
	x->asked = x->asked || ask;
	x->has[k] = x->has[k] || take_it;
	while (x->expected < PACKETS && x->has[x->expected])
		x->expected++;
	if (x->expected > before)
		x->asked = false;
	assert_int_equal(r.complete, x->expected - before);
	assert_int_equal(x->c.expected, (x->first + x->expected) % (1u << 24));
	if (r.answer && x->n_answers < FLIGHT && ibcc_rng_below(&x->rng, 20))
		x->answer[x->n_answers++] = 2 * x->expected + r.nak;
}

static void chaos_answer(struct chaos *x)
{
	uint64_t a = take(x, x->answer, &x->n_answers), k = a / 2, n = k > x->una ? k - x->una : 0;

	assert_int_equal(ibcc_conn_acked(&x->c, (uint32_t)((x->first + k) % (1u << 24)), a & 1), n);
	if (k < x->una)
		return;
	x->una = k;
	if (a & 1 || x->next < k)
		x->next = k;
}

static void run_chaos(bool ooo, uint64_t seed)
{
	struct chaos *x = calloc(1, sizeof(*x));

	assert_non_null(x);
	x->rng = seed;
	x->ooo = ooo;
	x->first = (1u << 24) - 1 - ibcc_rng_below(&x->rng, PACKETS);
	assert_int_equal(ibcc_conn_init(&x->c, ooo, 16, (uint32_t)x->first), 0);
	for (unsigned int i = 0; x->una < PACKETS; i++) {
		assert_true(i < 100 * PACKETS);
		switch (ibcc_rng_below(&x->rng, 3)) {
		case 0: chaos_send(x); break;
		case 1:
			if (x->n_data)
				chaos_receive(x);
			break;
		case 2:
			if (x->n_answers)
				chaos_answer(x);
			break;
		}
		if (!x->n_data && !x->n_answers && x->next == x->sent_to) {
			ibcc_conn_timed_out(&x->c);
			x->next = x->una;
		}
	}
	assert_int_equal(x->expected, PACKETS);
	assert_int_equal(x->c.n_placed, PACKETS);
	ibcc_conn_fini(&x->c);
	free(x);
}

static void test_chaos(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 60; seed++) {
		run_chaos(false, seed);
		run_chaos(true, seed);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_psn),
		cmocka_unit_test(test_rc_by_hand),
		cmocka_unit_test(test_ooo_by_hand),
		cmocka_unit_test(test_chaos),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
