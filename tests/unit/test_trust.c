/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose counters are believed: the ends of links against each other. */
#include "trusts.h"

/* Bursts of full rate, ends that are read most of an interval apart, at times that vary, and
 * answers that get lost: every node is honest, none is distrusted.
 */
static void test_honest(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 0);
	for (unsigned int k = 0; k < MAX_SLOTS / SLOTS - 2; k++) {
		for (uint32_t i = 0; i < w.t->n_ports; i++) {
			w.read_ns[i] = 1 + draw(&rng) % (9 * INTERVAL_NS / 10);
			w.tells[i].silent = draw(&rng) % 10 == 0;
			w.tells[i].wait_permille = 300; /* beside half of the rate */
			w.tells[i].fecn_permille = 1000;
		}
		passes(&w, 1);
		assert_int_equal(w.s.n_doubted, 0);
	}
	close_fabric(&w);
}

/* Of ten passes nine read one end of each link alone, bursts and times as before. Honest ends
 * agree, and one that is not is found by the passes that read both.
 */
static void test_one_end_left_out(void **state)
{
	bool only[MAX_PORTS];
	struct fabric w;

	(void)state;
	open_fabric(&w, 0);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		only[i] = is_linked(&w, i) && i < w.t->port[i].peer;
	for (unsigned int k = 0; k < 600; k++) {
		for (uint32_t i = 0; i < w.t->n_ports; i++)
			w.read_ns[i] = 1 + draw(&rng) % (9 * INTERVAL_NS / 10);
		w.only = k % 10 ? only : NULL;
		if (k == 300)
			at(&w, LUSTRE_SW1, 5)->sent = 500;
		passes(&w, 1);
		if (k < 300)
			assert_int_equal(w.s.n_doubted, 0);
	}
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 5), IBCC_DOUBT_LINK);
	close_fabric(&w);
}

/* Counters that a program clears every third pass, that a port lacks, or that have reached their
 * end, say nothing: not against their owner, and not against the other end.
 */
static void test_says_nothing(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 800);
	at(&w, LUSTRE_SW1, 1)->lacks_counters = true;
	at(&w, LUSTRE_SW2, 2)->sent = 0;
	w.ctr[fabric_port(w.t, LUSTRE_SW2, 2)].v[IBCC_CTR_XMIT_DATA] = UINT64_MAX;
	for (unsigned int k = 0; k < 100; k++) {
		struct ibcc_counters *c = &w.ctr[fabric_port(w.t, LUSTRE_SW2, 1)];

		if (k % 3 == 2)
			c->v[IBCC_CTR_XMIT_DATA] = c->v[IBCC_CTR_XMIT_PKTS] = 0;
		passes(&w, 1);
		assert_int_equal(w.s.n_doubted, 0);
	}
	close_fabric(&w);
}

/* One link whose ends differ: after some passes, the sender is distrusted, and no other. What the
 * other end sends is not in question.
 */
static void test_one_link(void **state)
{
	struct fabric w;
	char text[300];

	(void)state;
	open_fabric(&w, 800);
	passes(&w, 10);
	at(&w, LUSTRE_SW2, 1)->sent = 30;
	passes(&w, IBCC_TRUST_RUN - 1);
	assert_int_equal(w.s.n_doubted, 0);
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_LINK);
	assert_true(ibcc_trust_say(w.t, &w.s, text, sizeof(text)) > 0);
	assert_non_null(
		strstr(text, "sw2 port 1 (it sent another amount than the other end received)"));

	/* They agree once, on more than honest ends can differ by, and it is forgotten. */
	at(&w, LUSTRE_SW2, 1)->sent = 1000;
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 0);
	assert_int_equal(ibcc_trust_say(w.t, &w.s, text, sizeof(text)), 0);
	close_fabric(&w);
}

/* Other counters of the same packets: fewer received, fewer packets than at the other end. */
static void test_other_counters(void **state)
{
	struct fabric w;

	(void)state;
	for (unsigned int which = 0; which < 2; which++) {
		open_fabric(&w, 800);
		at(&w, LUSTRE_SRC1, 1)->received = which ? 1000 : 500;
		at(&w, LUSTRE_SRC1, 1)->packets = which ? 500 : 1000;
		passes(&w, 2 * IBCC_TRUST_RUN);
		assert_int_equal(w.s.n_doubted, 1);
		assert_int_equal(doubt_of(&w, which ? LUSTRE_SRC1 : LUSTRE_SW1, 1),
				 IBCC_DOUBT_LINK);
		close_fabric(&w);
	}
}

/* Ends that are read apart need many packets to be held against each other: here those of 54
 * intervals. A node that tells nothing wrong for four is believed again, until its next wrong
 * window.
 */
static void test_few_packets(void **state)
{
	struct tells *liar;
	struct fabric w;

	(void)state;
	open_fabric(&w, 300);
	read_switches_at(&w, INTERVAL_NS / 16);
	liar = at(&w, LUSTRE_SRC1, 1);
	liar->packets = 500;
	passes(&w, 50 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 0);
	passes(&w, 20 * IBCC_TRUST_RUN);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_LINK);
	liar->packets = 1000;
	passes(&w, IBCC_TRUST_RUN - 1);
	assert_int_equal(w.s.n_doubted, 1);
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 0);
	liar->packets = 500;
	passes(&w, 50);
	assert_int_equal(w.s.n_doubted, 0);
	passes(&w, 20);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_LINK);
	close_fabric(&w);
}

/* A tenth less is no contradiction: links lose packets, and hardware counts them differently. */
static void test_tolerance(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 800);
	lie_all(&w, LUSTRE_SW2, 900);
	passes(&w, 50);
	assert_int_equal(w.s.n_doubted, 0);
	close_fabric(&w);
}

/* All neighbours against one switch: it is the switch, and its ports alone. */
static void test_switch(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 300);
	lie_all(&w, LUSTRE_SW1, 30);
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 5);
	for (unsigned int num = 1; num <= 5; num++)
		assert_int_equal(doubt_of(&w, LUSTRE_SW1, num), IBCC_DOUBT_NODE);
	close_fabric(&w);
}

/* Two switches side by side: both, and no adapter. */
static void test_two_switches(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 300);
	lie_all(&w, LUSTRE_SW1, 30);
	lie_all(&w, LUSTRE_SW2, 2000);
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 8);
	for (unsigned int i = LUSTRE_SRC1; i <= LUSTRE_FAST; i++)
		assert_int_equal(doubt_of(&w, i, 1), IBCC_DOUBT_NONE);
	close_fabric(&w);
}

/* An honest switch between a lying one and a lying adapter: doubt about the former explains one of
 * the two that it is accused by, and the other is a matter of one link.
 */
static void test_in_between(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 300);
	lie_all(&w, LUSTRE_SW1, 30);
	at(&w, LUSTRE_SLOW, 1)->sent = 30;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 6);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 5), IBCC_DOUBT_NODE);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 5), IBCC_DOUBT_NONE);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_NONE);
	assert_int_equal(doubt_of(&w, LUSTRE_SLOW, 1), IBCC_DOUBT_LINK);
	close_fabric(&w);
}

/* Two of five links of a switch: they may as well be two broken adapters. */
static void test_minority(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 300);
	at(&w, LUSTRE_SW1, 1)->sent = at(&w, LUSTRE_SW1, 2)->sent = 30;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 2);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 1), IBCC_DOUBT_LINK);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_NONE);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 3), IBCC_DOUBT_NONE);
	close_fabric(&w);
}

/* Ends that are read half an interval apart: a lie is found out all the same, since what may lie
 * between the readings does not grow, and the lie does.
 */
static void test_far_apart(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 300);
	read_switches_at(&w, INTERVAL_NS / 2);
	at(&w, LUSTRE_SW2, 1)->sent = 30;
	passes(&w, 10 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 1);
	close_fabric(&w);
}

/* Silence of a port, or of all, neither accuses nor clears. A link that is idle does not accuse,
 * and clears only after four intervals.
 */
static void test_neither(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 800);
	for (uint32_t i = 0; i < w.t->n_ports; i++) /* from slot 80 on nothing is sent */
		for (unsigned int k = 80; k < MAX_SLOTS; k++)
			w.sum[i][k + 1] = w.sum[i][80];
	at(&w, LUSTRE_SW2, 1)->sent = 30;
	passes(&w, IBCC_TRUST_RUN - 1);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		w.tells[i].silent = true;
	passes(&w, 6);
	assert_int_equal(w.s.n_doubted, 0);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		w.tells[i].silent = false;
	passes(&w, 2);
	assert_int_equal(w.s.n_doubted, 1);
	passes(&w, 100);
	assert_int_equal(w.s.n_doubted, 0);
	close_fabric(&w);
}

/* More at one end, then more at the other: a node that is wrong by turns is not found to lie. */
static void test_by_turns(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 400);
	for (unsigned int k = 0; k < 50; k++) {
		at(&w, LUSTRE_SW2, 1)->sent = k % 2 ? 500 : 1500;
		passes(&w, 1);
		assert_int_equal(w.s.n_doubted, 0);
	}
	close_fabric(&w);
}

/* A new topology keeps what was found out, but not about another cable. */
static void test_rebase(void **state)
{
	struct ibcc_topo *next;
	struct fabric w;

	(void)state;
	open_fabric(&w, 300);
	at(&w, LUSTRE_SW2, 1)->sent = at(&w, LUSTRE_SW1, 1)->sent = 30;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 2);
	next = ibcc_topo_clone(w.t);
	assert_non_null(next);
	ibcc_topo_unlink(next, fabric_port(next, LUSTRE_SRC1, 1));
	ibcc_topo_unlink(next, fabric_port(next, LUSTRE_SRC2, 1));
	fabric_link(next, LUSTRE_SRC2, 1, LUSTRE_SW1, 1);
	fabric_link(next, LUSTRE_SRC1, 1, LUSTRE_SW1, 2);
	assert_int_equal(ibcc_snapshot_rebase(&w.s, w.t, next), 0);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_LINK);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 1), IBCC_DOUBT_NONE);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_NONE);
	ibcc_topo_free(next);
	close_fabric(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_honest),           cmocka_unit_test(test_says_nothing),
		cmocka_unit_test(test_one_end_left_out), cmocka_unit_test(test_one_link),
		cmocka_unit_test(test_other_counters),   cmocka_unit_test(test_tolerance),
		cmocka_unit_test(test_switch),           cmocka_unit_test(test_two_switches),
		cmocka_unit_test(test_minority),         cmocka_unit_test(test_in_between),
		cmocka_unit_test(test_few_packets),      cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_neither),          cmocka_unit_test(test_by_turns),
		cmocka_unit_test(test_rebase),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
