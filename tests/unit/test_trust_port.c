/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose counters are believed: what a port tells that cannot be in itself. */
#include "trusts.h"

/* 45 % sent and 70 % waited are 115 %, 35 and 70 may be; a port that cannot be right is distrusted,
 * the other end is not, though they contradict each other.
 */
static void test_time(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 450);
	at(&w, LUSTRE_SW2, 1)->wait_permille = 700;
	at(&w, LUSTRE_SW2, 2)->wait_permille = 600;
	at(&w, LUSTRE_SRC1, 1)->sent = 30;
	at(&w, LUSTRE_SRC1, 1)->wait_permille = 1330;
	at(&w, LUSTRE_SRC2, 1)->received = 3000; /* 135 % of the link */
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_TIME);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_TIME);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC2, 1), IBCC_DOUBT_TIME);
	assert_int_equal(w.s.n_doubted, 3);
	/* A port that only receives is believed again, too, when it tells what can be. */
	at(&w, LUSTRE_SRC2, 1)->received = 1000;
	at(&w, LUSTRE_SRC2, 1)->sent = 30;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_not_equal(doubt_of(&w, LUSTRE_SRC2, 1), IBCC_DOUBT_TIME);
	close_fabric(&w);
}

/* A link that is told to have a third of its rate: it is that rate, not the ports; and where one
 * end alone counts so much, it is the port.
 */
static void test_rate(void **state)
{
	char text[400];
	struct fabric w;

	(void)state;
	open_fabric(&w, 600);
	for (unsigned int k = 0; k < 2; k++)
		w.t->port[fabric_port(w.t, k ? LUSTRE_SW2 : LUSTRE_SW1, 5)].rate_mbps = 10667;
	at(&w, LUSTRE_SRC1, 1)->sent = 2000;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 5), IBCC_DOUBT_RATE);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 5), IBCC_DOUBT_RATE);
	assert_int_equal(doubt_of(&w, LUSTRE_SRC1, 1), IBCC_DOUBT_TIME);
	assert_int_equal(w.s.n_doubted, 3);
	assert_true(ibcc_trust_say(w.t, &w.s, text, sizeof(text)) > 0);
	assert_non_null(strstr(text, "sw1 port 5 (both ends count more data on its link than its "
				     "reported rate allows)"));
	/* Found again, as after a discovery, it has the right one. */
	for (unsigned int k = 0; k < 2; k++)
		w.t->port[fabric_port(w.t, k ? LUSTRE_SW2 : LUSTRE_SW1, 5)].rate_mbps = QDR_MBPS;
	passes(&w, IBCC_TRUST_RUN);
	assert_int_equal(doubt_of(&w, LUSTRE_SW1, 5), IBCC_DOUBT_NONE);
	close_fabric(&w);
}

/* Traffic may be over before a port could show that it is right again: what is quiet is no reason
 * to doubt for ever, but the first lie after it is one of those before.
 */
static void test_quiet(void **state)
{
	struct tells *liar;
	struct fabric w;

	(void)state;
	open_fabric(&w, 450);
	liar = at(&w, LUSTRE_SW2, 1);
	liar->wait_permille = 700;
	passes(&w, 1 + IBCC_TRUST_RUN);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_TIME);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		w.tells[i].sent = w.tells[i].received = w.tells[i].packets = 500; /* 22 % */
	liar->wait_permille = 0;
	passes(&w, IBCC_TRUST_RUN - 1);
	assert_int_equal(w.s.n_doubted, 1);
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 0);
	liar->wait_permille = 1200;
	passes(&w, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_TIME);
	assert_int_equal(w.s.n_doubted, 1);
	close_fabric(&w);
}

/* A link may fall silent while its ports are doubted, and carry nothing until they are believed:
 * what adapters send to a root may be BECNs alone, which end when control is taken off. Four
 * intervals without a packet end the doubt. It comes back with the packets if the port still lies.
 */
static void test_silent_link(void **state)
{
	unsigned int silent_from = 3 * IBCC_TRUST_RUN, silent_to = 6 * IBCC_TRUST_RUN;
	struct fabric w;
	uint32_t port;

	(void)state;
	open_fabric(&w, 450);
	port = fabric_port(w.t, LUSTRE_SW2, 1);
	for (unsigned int k = silent_from * SLOTS; k < MAX_SLOTS; k++)
		w.sum[port][k + 1] =
			w.sum[port][k] + (k < silent_to * SLOTS ? 0 : SLOT_BYTES / 1000 * 450);
	w.tells[port].sent = 30;
	passes(&w, silent_from);
	assert_int_equal(w.s.n_doubted, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_LINK);
	/* The first interval without a packet begins with the last packets of those before. */
	passes(&w, IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 1);
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 0);
	passes(&w, silent_to - w.n);
	assert_int_equal(w.s.n_doubted, 0);
	passes(&w, 2);
	assert_int_equal(doubt_of(&w, LUSTRE_SW2, 1), IBCC_DOUBT_LINK);
	close_fabric(&w);
}

/* All packets that come may be marked; not more. A port that gets hardly any more is believed again
 * when it has told what can be for four intervals, until it lies again.
 */
static void test_marks(void **state)
{
	struct fabric w;

	(void)state;
	open_fabric(&w, 450);
	for (uint32_t i = 0; i < w.t->n_ports; i++)
		for (unsigned int k = 2 * IBCC_TRUST_RUN * SLOTS; k < MAX_SLOTS; k++)
			w.sum[i][k + 1] = w.sum[i][k] + 4 * PACKET;
	at(&w, LUSTRE_SLOW, 1)->fecn_permille = 1000;
	at(&w, LUSTRE_FAST, 1)->fecn_permille = 2000;
	passes(&w, 2 * IBCC_TRUST_RUN);
	assert_int_equal(w.s.n_doubted, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_FAST, 1), IBCC_DOUBT_MARKS);
	at(&w, LUSTRE_FAST, 1)->fecn_permille = 300;
	passes(&w, IBCC_TRUST_RUN - 1);
	assert_int_equal(w.s.n_doubted, 1);
	passes(&w, 1);
	assert_int_equal(w.s.n_doubted, 0);
	at(&w, LUSTRE_FAST, 1)->fecn_permille = 100000;
	passes(&w, 1);
	assert_int_equal(doubt_of(&w, LUSTRE_FAST, 1), IBCC_DOUBT_MARKS);
	close_fabric(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time),  cmocka_unit_test(test_rate),
		cmocka_unit_test(test_quiet), cmocka_unit_test(test_silent_link),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
