/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A switch's log against the BECNs and bytes of the adapters. Adapters 0 to 2 send to 6, which
 * takes 6000 Mb/s, through port 1 of leaf 11. All that is asserted follows from shares: of the log,
 * of the BECNs, and of 6000 Mb/s.
 */
#include "estimates.h"

#include <ibcc/trust.h>

#define LEAF 11u

static uint32_t slow_root(struct fixture *f)
{
	uint32_t port = hold(f, LEAF, 1, IBCC_CONGESTION_OUTPUT, 6000);

	f->tr.port[port] = load(6000, 810, 0);
	mark_at(f, LEAF, 1);
	return port;
}

struct sender {
	uint32_t mbps, becns, packets; /* in each pass; packets: in the log */
};

static enum ibcc_log_verdict verdict_of(struct fixture *f, const struct sender s[3])
{
	uint32_t port = f->last.root[0].r.port;
	enum ibcc_log_verdict v = IBCC_LOG_OPEN;

	begin_anew(f);
	f->tr.port[port] = load(6000, 810, 0);
	for (uint32_t i = 0; i < 3; i++) {
		*traffic_at(&f->tr, i, 1) = load(s[i].mbps, 500, s[i].becns);
		log_pair(f, port, i, 6, s[i].packets);
	}
	for (unsigned int i = 0; i < 8 && v == IBCC_LOG_OPEN; i++) {
		pass(f);
		v = at(f, port)->log;
		assert_true(at(f, port)->log_untrue == (v == IBCC_LOG_CONTRADICTED));
		assert_false(at(f, port)->logged && at(f, port)->log_untrue);
	}
	return v;
}

static void test_verdicts(void **state)
{
	static const struct {
		const char *what;
		struct sender s[3];
		enum ibcc_log_verdict want;
	} row[] = {
		{ "equal in all",
		  { { 2000, 100, 5 }, { 2000, 100, 5 }, { 2000, 100, 5 } },
		  IBCC_LOG_AGREES },
		{ "two to one in all",
		  { { 3000, 200, 8 }, { 1500, 100, 4 }, { 1500, 100, 4 } },
		  IBCC_LOG_AGREES },
		{ "one that is all there is",
		  { { 6000, 100, 15 }, { 0, 0, 0 }, { 0, 0, 0 } },
		  IBCC_LOG_AGREES },
		{ "one of three",
		  { { 2000, 100, 15 }, { 2000, 100, 0 }, { 2000, 100, 0 } },
		  IBCC_LOG_CONTRADICTED },
		{ "one of three, which sends much besides",
		  { { 20000, 100, 15 }, { 2000, 100, 0 }, { 2000, 100, 0 } },
		  IBCC_LOG_CONTRADICTED },
		{ "one of two",
		  { { 3000, 100, 15 }, { 3000, 100, 0 }, { 0, 0, 0 } },
		  IBCC_LOG_CONTRADICTED },
		{ "one that is marked never",
		  { { 20000, 0, 15 }, { 3000, 100, 0 }, { 3000, 100, 0 } },
		  IBCC_LOG_CONTRADICTED },
		{ "no BECNs at all, and one that sends a third",
		  { { 2000, 0, 15 }, { 2000, 0, 0 }, { 2000, 0, 0 } },
		  IBCC_LOG_CONTRADICTED },
		{ "no BECNs at all, and one that could send all",
		  { { 6000, 0, 15 }, { 2000, 0, 0 }, { 2000, 0, 0 } },
		  IBCC_LOG_AGREES },
		{ "two packets in a pass",
		  { { 2000, 100, 2 }, { 2000, 100, 0 }, { 2000, 100, 0 } },
		  IBCC_LOG_OPEN },
	};
	struct fixture *f = *state;

	slow_root(f);
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		print_message("%s\n", row[i].what);
		assert_int_equal(verdict_of(f, row[i].s), row[i].want);
	}
}

/* BECNs of an adapter that contributes to another root may be from there, and so may all where
 * other ports of the switch mark: then bytes alone count.
 */
static void test_bytes_alone(void **state)
{
	static const struct sender much[3] = { { 20000, 100, 15 }, { 2000, 100, 0 }, { 0 } };
	static const struct sender little[3] = { { 2000, 100, 15 }, { 2000, 100, 0 }, { 0 } };
	struct fixture *f = *state;
	uint32_t other;

	slow_root(f);
	assert_int_equal(verdict_of(f, much), IBCC_LOG_CONTRADICTED);
	other = hold(f, 8, 3, IBCC_CONGESTION_INPUT, 32000);
	ibcc_parameters_find(&f->last, other)->r.member[endport_of(f, 0)] = true;
	assert_int_equal(verdict_of(f, much), IBCC_LOG_AGREES);
	assert_int_equal(verdict_of(f, little), IBCC_LOG_CONTRADICTED);
	ibcc_parameters_find(&f->last, other)->r.member[endport_of(f, 0)] = false;
	sw_cc(f, LEAF)->sw.Threshold = 9;
	assert_int_equal(verdict_of(f, much), IBCC_LOG_AGREES);
	assert_int_equal(verdict_of(f, little), IBCC_LOG_CONTRADICTED);
}

static enum ibcc_doubt doubt_of_leaf(struct fixture *f, unsigned int passes)
{
	while (passes--) {
		traffic_pass(&f->tr);
		for (unsigned int i = 0; i < f->n_log; i++)
			assert_int_equal(ibcc_snapshot_mark(&f->tr.s, &f->log[i]), 0);
		ibcc_trust_judge(f->t, &f->tr.s);
		look(f);
		ibcc_estimate_tell_logs(&f->e, f->t, &f->tr.s);
	}
	ibcc_trust_judge(f->t, &f->tr.s);
	return f->tr.s.port[fabric_port(f->t, LEAF, 0)].trust.doubt;
}

/* A log is named after some comparisons, is not used then, and is believed again after as many that
 * agree, or passes in which it says nothing.
 */
static void test_named(void **state)
{
	struct fixture *f = *state;
	uint32_t port = slow_root(f);

	for (uint32_t i = 0; i < 3; i++)
		*traffic_at(&f->tr, i, 1) = load(2000, 500, 100);
	/* What came in is not counted here, so ends of links do not contradict each other. */
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		f->tr.ctr[i].width[IBCC_CTR_RCV_DATA] = f->tr.ctr[i].width[IBCC_CTR_RCV_PKTS] = 0;
	for (unsigned int again = 0; again < 2; again++) {
		f->n_log = 0;
		log_pair(f, port, 0, 6, 15);
		assert_int_equal(doubt_of_leaf(f, 4), IBCC_DOUBT_NONE);
		assert_int_equal(doubt_of_leaf(f, 30), IBCC_DOUBT_LOG);
		assert_false(at(f, port)->logged);
		f->n_log = 0;
		for (uint32_t i = 0; i < 3 && !again; i++)
			log_pair(f, port, i, 6, 5);
		assert_int_equal(doubt_of_leaf(f, 2), IBCC_DOUBT_LOG);
		assert_int_equal(doubt_of_leaf(f, 20), IBCC_DOUBT_NONE);
		assert_true(again || at(f, port)->logged);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE(test_verdicts),
		TREE(test_bytes_alone),
		TREE(test_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
