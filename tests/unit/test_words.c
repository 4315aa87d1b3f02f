/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Every reason has its evidence, its source, and room, whatever the numbers. */
#include <math.h>

#include "hotspots.h"

#define HOLD  IBCC_PHASE_HOLD
#define DRAIN IBCC_PHASE_DRAIN
#define FULL  IBCC_CONGESTION_INPUT
#define SLOW  IBCC_CONGESTION_OUTPUT

static const struct {
	enum ibcc_reason_code code;
	enum ibcc_congestion kind;
	enum ibcc_phase phase;
	enum ibcc_basis basis;
	const char *says;
} words[] = {
	{ IBCC_REASON_OVER, FULL, HOLD, 0, "any more" },
	{ IBCC_REASON_LEFT, FULL, HOLD, 0, "previously applied" },
	{ IBCC_REASON_SWITCHED_OFF, FULL, HOLD, 0, "disabled" },
	{ IBCC_REASON_NO_DELAY, FULL, HOLD, 0, "BECN" },
	{ IBCC_REASON_MASK, FULL, HOLD, 0, "leaf3 port 1 faces" },
	{ IBCC_REASON_MASK, SLOW, HOLD, 0, "leaf3 port 1 has no credits 53.2 % of the time (Port" },
	{ IBCC_REASON_SWITCH, FULL, HOLD, 0,
	  "full with 14960 Mb/s, and ports upstream are blocked 81.7 %" },
	{ IBCC_REASON_SWITCH, SLOW, HOLD, 0, "no setting for each port" },
	{ IBCC_REASON_PORT, SLOW, HOLD, 0,
	  "takes 14960 of 32000 Mb/s, and the port to it is blocked 53.2 %" },
	{ IBCC_REASON_PORT, FULL, HOLD, 0, "25 % of the queue on (Threshold 12), 1 of 60 packets" },
	{ IBCC_REASON_TABLE, SLOW, HOLD, IBCC_BASIS_WAITING,
	  "36 blocked senders (PortXmitWait) of leaf3" },
	{ IBCC_REASON_TABLE, SLOW, HOLD, IBCC_BASIS_MARKED,
	  "36 contributors (BECN) to leaf3 port" },
	{ IBCC_REASON_TABLE, SLOW, HOLD, IBCC_BASIS_LOGGED, "36 flows (CongestionLog) limited by" },
	{ IBCC_REASON_TABLE, SLOW, HOLD, IBCC_BASIS_MARKED, "at 3200 Mb/s (PortXmitData): fair" },
	{ IBCC_REASON_TABLE, SLOW, HOLD, IBCC_BASIS_LOGGED, "at 3200 Mb/s (max-min): fair share" },
	{ IBCC_REASON_TABLE, SLOW, HOLD, 0, "n C/R - 1 = 359.00 packet times (Gusat et al. 2006:" },
	{ IBCC_REASON_TABLE, SLOW, HOLD, 0, "(1.15 x + 0.5) * 0.90 by feedback = 372.02" },
	{ IBCC_REASON_TABLE, SLOW, DRAIN, 0, "3.5 (1.15 x + 0.5) until the tree is empty" },
	{ IBCC_REASON_BALANCE, SLOW, HOLD, 0, "14 % of the rate: CCTI_Increase 2; 0.71-fold by" },
	{ IBCC_REASON_BALANCE, SLOW, HOLD, 0, "CCTI_Timer 733 * 1.024 us balances 12 % marked" },
	{ IBCC_REASON_BALANCE, SLOW, HOLD, 0, "packets in 180.00 us each at leaf3 port 1 (Gusat" },
	{ IBCC_REASON_BALANCE, SLOW, DRAIN, 0, "4 BECNs to the table's end" },
	{ IBCC_REASON_BALANCE, SLOW, DRAIN, 0, "CCTI_Increase 2; CCTI_Timer 733" },
};

static void add(struct fixture *f, struct ibcc_target *t, size_t i)
{
	struct ibcc_reason *r = ibcc_target_add(t, endport_of(f, 0), (uint16_t)i, words[i].code);

	assert_non_null(r);
	r->root = (struct ibcc_root_parameters){
		.port = fabric_port(f->t, 11, 1),
		.kind = words[i].kind,
		.phase = words[i].phase,
		.basis = words[i].basis,
		.n = 36,
		.rate_mbps = 3200,
		.threshold = 12,
		.marking_rate = 59,
		.table_scale_permille = 900,
		.timer_scale_permille = 714,
		.link_mbps = 32000,
		.seen_mbps = 14960,
		.wait_permille = 532,
		.tree_wait_permille = 817,
	};
	r->law.fair_milli = 359000;
	r->law.end_milli = 372020;
	r->law.mark_permille = 120;
	r->law.n_int_ns = 180000;
	r->law.step_permille = 142;
	r->law.timer = 733;
	r->law.increase = 2;
}

static void test_reasons(void **state)
{
	struct fixture *f = *state;
	struct ibcc_target t = { 0 };
	char buf[IBCC_REASON_BYTES], small[20];

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		int n;

		add(f, &t, i);
		n = ibcc_target_explain(&t, f->t, endport_of(f, 0), (uint16_t)i, buf, sizeof(buf));
		assert_int_equal(n, strlen(buf));
		if (!strstr(buf, words[i].says))
			fail_msg("\"%s\" is not in: %s", words[i].says, buf);
		/* As snprintf(): the length that it would have. */
		assert_int_equal(ibcc_target_explain(&t, f->t, endport_of(f, 0), (uint16_t)i, small,
						     sizeof(small)),
				 n);
		assert_memory_equal(small, buf, sizeof(small) - 1);
	}
	assert_int_equal(ibcc_target_explain(&t, f->t, endport_of(f, 1), 0, buf, sizeof(buf)), 0);
	assert_string_equal(buf, "");
	assert_int_equal(ibcc_target_explain(&t, f->t, endport_of(f, 0), 99, NULL, 0), 0);
	ibcc_target_fini(&t);
}

/* A node whose description fills its room. */
static void name_at_length(struct fixture *f, uint32_t port)
{
	struct ibcc_topo_node *node = (struct ibcc_topo_node *)&f->t->node[f->t->port[port].node];

	memset(node->desc, 'n', sizeof(node->desc) - 1);
	node->desc[sizeof(node->desc) - 1] = '\0';
}

/* Whatever names and numbers there are, a reason has room. */
static void test_room(void **state)
{
	struct fixture *f = *state;
	struct ibcc_target t = { 0 };
	char buf[IBCC_REASON_BYTES];

	name_at_length(f, fabric_port(f->t, 11, 1));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
		struct ibcc_reason *r;

		add(f, &t, i);
		r = &t.reason[t.n_reasons - 1];
		r->root.n = r->root.rate_mbps = r->root.link_mbps = r->root.seen_mbps = UINT32_MAX;
		r->root.threshold = 15;
		r->root.marking_rate = UINT16_MAX;
		r->root.table_scale_permille = r->root.timer_scale_permille = UINT16_MAX;
		r->root.wait_permille = r->root.tree_wait_permille = UINT16_MAX;
		r->law.fair_milli = r->law.end_milli = r->law.cut_end_milli = UINT32_MAX;
		r->law.mark_permille = r->law.step_permille = UINT16_MAX;
		r->law.n_int_ns = UINT32_MAX;
		r->law.timer = r->law.cut_timer = UINT16_MAX;
		r->law.increase = UINT8_MAX;
		assert_in_range(ibcc_target_explain(&t, f->t, endport_of(f, 0), (uint16_t)i, buf,
						    sizeof(buf)),
				1, sizeof(buf) - 1);
	}
	ibcc_target_fini(&t);
}

/* Nor are the words about a root ever cut off. */
static void test_root(void **state)
{
	struct fixture *f = *state;
	struct ibcc_source source[3 * 64];
	struct ibcc_pair pair[64];
	struct ibcc_root r = { .port = fabric_port(f->t, 11, 1),
			       .kind = SLOW,
			       .link_mbps = UINT32_MAX,
			       .rate_mbps = UINT32_MAX,
			       .wait_permille = 1000,
			       .tree_wait_permille = 1000,
			       .n_sources = 3 * 64,
			       .source = source,
			       .n_pairs = 64,
			       .pair = pair };
	static const enum ibcc_role roles[] = { IBCC_ROLE_CONTRIBUTOR, IBCC_ROLE_CANDIDATE,
						IBCC_ROLE_VICTIM };
	const uint32_t ca = f->t->endport[endport_of(f, 0)];
	char buf[IBCC_ROOT_WORDS_BYTES];

	assert_true(f->t->port[ca].lid != 0);
	name_at_length(f, r.port);
	name_at_length(f, ca);
	for (uint32_t i = 0; i < r.n_sources; i++)
		source[i] = (struct ibcc_source){ .port = ca, .role = roles[i % 3] };
	for (uint32_t i = 0; i < r.n_pairs; i++)
		pair[i] = (struct ibcc_pair){ .src = ca,
					      .dlid = f->t->port[ca].lid,
					      .packets = UINT32_MAX / 64 };
	assert_in_range(ibcc_estimate_explain(f->t, &r, buf, sizeof(buf)), 1000, sizeof(buf) - 1);
}

/* Numbers of the law that a sentence gives come to what the law came to. */
static void test_sums(void **state)
{
	struct fixture *f = *state;
	struct ibcc_target t = { 0 };
	const enum ibcc_phase phases[] = { HOLD, DRAIN };
	char buf[IBCC_REASON_BYTES];
	double factor = 1, slope, extra, end;
	unsigned int steps, increase;

	for (uint16_t i = 0; i < 2; i++) {
		struct ibcc_reason *r = ibcc_target_add(&t, endport_of(f, 0), i, IBCC_REASON_TABLE);
		const char *at;

		assert_non_null(r);
		r->root = (struct ibcc_root_parameters){ .port = fabric_port(f->t, 11, 1),
							 .kind = SLOW,
							 .phase = phases[i],
							 .n = 36,
							 .n_heavy = 36,
							 .rate_mbps = 3200,
							 .packet_bytes = 2048,
							 .interval_ns = 1000000000,
							 .table_scale_permille = 1000,
							 .timer_scale_permille = 1000 };
		assert_int_equal(ibcc_law_compute(&r->root, 32000, 128, &r->law), 0);
		ibcc_target_explain(&t, f->t, endport_of(f, 0), i, buf, sizeof(buf));
		at = strstr(buf, "table to ");
		assert_non_null(at);
		if (phases[i] == DRAIN)
			assert_int_equal(sscanf(at,
						"table to %lf (%lf x + %lf) until the tree is "
						"empty = %lf",
						&factor, &slope, &extra, &end),
					 4);
		else
			assert_int_equal(
				sscanf(at, "table to %lf x + %lf = %lf", &slope, &extra, &end), 3);
		assert_true(fabs(factor * (slope * r->law.fair_milli / 1000 + extra) - end) < 0.01);
		assert_true(fabs(end - r->law.end_milli / 1000.0) < 0.01);
	}
	t.reason[1].code = IBCC_REASON_BALANCE;
	ibcc_target_explain(&t, f->t, endport_of(f, 0), 1, buf, sizeof(buf));
	assert_int_equal(sscanf(buf,
				"%u BECNs to the table's end while the tree is emptied: "
				"CCTI_Increase %u",
				&steps, &increase),
			 2);
	assert_in_range(t.reason[1].law.cct.limit, (increase - 1) * steps + 1, increase * steps);
	ibcc_target_fini(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_reasons, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_room, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_root, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_sums, setup_tree, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
