/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which nodes are asked about NVIDIA's congestion control, in which order, and what follows from
 * it. */
#include <ibcc/apply.h>

#include "tests/unit/vendors.h"

/* Where it is on, a node that announces it is asked for its algorithms, once, with a Get. */
static void test_algorithms(void **state)
{
	struct ibcc_vendor_endport *e;
	struct ibcc_why text;
	struct fixture x;
	char words[80];

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	give(&x, LUSTRE_SRC2, IBCC_NVIDIA_CC_OFF);
	ask(&x, 0);
	memset(x.line.n, 0, sizeof(x.line.n));
	assert_int_equal(ibcc_vendor_ask_algorithms(&x.line.base, x.f.topo, 0, &x.v), 0);
	assert_int_equal(x.line.n_sets, 0);
	assert_int_equal(x.line.n[0x21], 5); /* six adapters but one; no switch */
	e = &x.v.ep[agents_endport(&x.f, LUSTRE_SRC1)];
	assert_true(ibcc_vendor_algorithm(e, words, sizeof(words)));
	assert_string_equal(words, "algorithm slot 0 (algorithm 1, version 2.3)");
	ibcc_vendor_text(&x.v, &text);
	assert_string_equal(text.text,
			    "NVIDIA congestion control is on: 2 switches mark, 5 adapters react, "
			    "algorithm slot 0 (algorithm 1, version 2.3) at 5 of them; 1 node "
			    "has it off");
	e->algorithm.algo_status = false;
	assert_true(ibcc_vendor_algorithm(e, words, sizeof(words)));
	assert_string_equal(words, "an algorithm other than that of slot 0");
	e->algorithm.n_slots = 0;
	assert_false(ibcc_vendor_algorithm(e, words, sizeof(words)));
	/* Silence is no answer, and takes back what was known. */
	x.line.deaf[0x21] = true;
	assert_int_equal(ibcc_vendor_ask_algorithms(&x.line.base, x.f.topo, 0, &x.v), 0);
	ibcc_vendor_text(&x.v, &text);
	assert_null(strstr(text.text, "algorithm"));
	close_fixture(&x);
}

/* Other vendors' devices, and unknown ones, get no request that is NVIDIA's. */
static void test_strangers(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	for (uint32_t i = 0; i < x.f.topo->n_nodes; i++)
		x.f.topo->node[i].vendor_id = i % 2 ? IBCC_VENDOR_QLOGIC : 0;
	ask(&x, 0);
	assert_int_equal(x.line.n[1] + x.line.n[0x21], 0);
	assert_int_equal(x.v.n_on, 0);
	close_fixture(&x);
}

/* Three of a type, and when they know nothing of it, no more; nor ever again. */
static void test_canaries(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x);
	ask(&x, 0);
	assert_int_equal(x.line.n[1], 3 + 2);
	assert_int_equal(x.line.n[0x21], 0);
	assert_int_equal(cc_of(&x, LUSTRE_SRC1), IBCC_VENDOR_CC_NONE);
	ask(&x, 0);
	assert_int_equal(x.line.n[1] + x.line.n[0x21], 0);
	close_fixture(&x);
}

static void test_on_off(void **state)
{
	struct ibcc_settings s;
	struct ibcc_why text;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_OFF);
	ask(&x, 0);
	assert_int_equal(x.line.n[1], 8);
	assert_int_equal(x.line.n[0x21], 16);
	assert_int_equal(x.v.n_off, 8);
	assert_false(ibcc_vendor_rules(&x.v));
	ibcc_vendor_text(&x.v, &text);
	assert_string_equal(text.text, "NVIDIA congestion control is off: 8 nodes have it off");

	give(&x, LUSTRE_SW2, IBCC_NVIDIA_CC_ON);
	give(&x, LUSTRE_SRC2, IBCC_NVIDIA_CC_ON);
	ask(&x, 0); /* only whether it is on */
	assert_int_equal(x.line.n[1], 0);
	assert_int_equal(x.v.n_on, 2);
	assert_true(ibcc_vendor_rules(&x.v));
	ibcc_vendor_text(&x.v, &text);
	assert_string_equal(text.text, "NVIDIA congestion control is on: 1 switch marks, 1 "
				       "adapter reacts; 6 nodes have it off");

	assert_int_equal(ibcc_settings_init(&s, x.f.topo), 0);
	for (uint32_t i = 0; i < s.n; i++)
		ibcc_endport_judge(&s.ep[i], ibcc_vendor_block(&x.v, i));
	/* None has answered class 0x21 as yet. */
	for (uint32_t i = 0; i < x.f.topo->n_nodes; i++)
		assert_int_equal(s.ep[agents_endport(&x.f, i)].support,
				 i == LUSTRE_SW2 || i == LUSTRE_SRC2 ? IBCC_CC_VENDOR_ON
								     : IBCC_CC_UNKNOWN);
	ibcc_settings_fini(&s);
	close_fixture(&x);
}

/* A key that is lacking: one node of each type hears of it, and in five minutes again. */
static void test_key(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	x.line.deaf[0x21] = true;
	ask(&x, 0);
	assert_int_equal(x.line.n[0x21], 4);
	assert_int_equal(x.v.n_silent, 8);
	assert_int_equal(cc_of(&x, LUSTRE_SRC4), IBCC_VENDOR_CC_SILENT);
	x.line.now_ns += 4 * MINUTE_NS;
	ask(&x, 0);
	assert_int_equal(x.line.n[0x21], 0);
	assert_int_equal(x.v.n_silent, 8);
	x.line.deaf[0x21] = false;
	x.line.now_ns += 2 * MINUTE_NS;
	ask(&x, 0);
	assert_int_equal(x.v.n_silent, 0);
	assert_int_equal(x.v.n_on, 8);
	close_fixture(&x);
}

/* No node answers SMPs, which an M_Key may be the reason for: class 0x21 tells. */
static void test_protected_smps(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	x.line.deaf[1] = true;
	ask(&x, 0);
	assert_int_equal(x.line.n[1], 3 + 2);
	assert_int_equal(x.v.n_on, 8);
	close_fixture(&x);
	/* ... and that some do not have it. */
	open_fixture(&x);
	x.line.deaf[1] = true;
	ask(&x, 0);
	assert_int_equal(x.v.n_on + x.v.n_silent, 0);
	ask(&x, 0);
	assert_int_equal(x.line.n[1], 0);
	close_fixture(&x);
}

/* What a node told holds in another topology, silence does not. */
static void test_rebase(void **state)
{
	struct ibcc_topo *other;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	ask(&x, 0);
	other = ibcc_topo_clone(x.f.topo);
	assert_int_equal(ibcc_vendor_rebase(&x.v, x.f.topo, other), 0);
	assert_int_equal(x.v.n_on, 8);
	ask(&x, 0);
	assert_int_equal(x.line.n[1], 0);
	ibcc_topo_free(other);
	close_fixture(&x);
}

static void test_statistics(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	ask(&x, 0);
	memset(x.line.n, 0, sizeof(x.line.n));
	assert_int_equal(count(&x), 0);
	assert_int_equal(x.line.n[0x21], 6);
	x.line.now_ns += 9 * MINUTE_NS / 60;
	assert_int_equal(count(&x), 0);
	assert_int_equal(x.line.n[0x21], 6);
	x.line.now_ns += MINUTE_NS / 60;
	assert_int_equal(count(&x), 0);
	assert_int_equal(x.line.n[0x21], 12);
	assert_true(x.v.ep[agents_endport(&x.f, LUSTRE_SRC1)].last_known);
	assert_int_equal(x.line.n_sets, 0);
	close_fixture(&x);
}

/* Devices with NVIDIA's control, and a switch whose marks have been coming for a millisecond. */
static void open_marking(struct fixture *x)
{
	struct ibcc_cc_sw_setting sw = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
					 .Threshold = 15 };

	open_fixture(x);
	give_all(x, IBCC_NVIDIA_CC_ON);
	agents_congest(&x->f);
	memset(&sw.Victim_Mask, 0xff, sizeof(sw.Victim_Mask));
	assert_int_equal(ibcc_engine_set_switch_cc(x->f.engine, LUSTRE_SW2, &sw), 0);
	engine_run(x->f.engine, IBCC_PS_PER_MS);
	ask(x, 0);
}

/* Which senders slowed down is shown by what its adapter was notified of since it was read before.
 */
static void test_throttled(void **state)
{
	uint64_t before, now;
	struct fixture x;

	(void)state;
	open_marking(&x);
	before = engine_port_read(x.f.engine, fabric_port(x.f.topo, LUSTRE_SRC1, 1)).rcv_becn;
	assert_int_equal(count(&x), 0);
	assert_int_equal(x.v.ep[agents_endport(&x.f, LUSTRE_SRC1)].grown.cnp_handled, 0);
	engine_run(x.f.engine, 2 * IBCC_PS_PER_MS);
	now = engine_port_read(x.f.engine, fabric_port(x.f.topo, LUSTRE_SRC1, 1)).rcv_becn;
	x.line.now_ns += MINUTE_NS;
	assert_int_equal(count(&x), 0);
	assert_true(now > before);
	assert_int_equal(x.v.ep[agents_endport(&x.f, LUSTRE_SRC1)].grown.cnp_handled, now - before);
	/* This one sends nothing. */
	assert_int_equal(x.v.ep[agents_endport(&x.f, LUSTRE_SRC4)].grown.cnp_handled, 0);
	close_fixture(&x);
}

/* If wanted, CNPs and marked packets are in the sample as BECNs and FECNs, each time that they are
 * asked for. An adapter that counts BECNs itself keeps its own, and one that did not answer has
 * none of this interval.
 */
static void test_marks(void **state)
{
	struct ibcc_port_sample *src, *own;
	struct ibcc_vendor_endport *e;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	ask(&x, 0);
	src = &x.s.port[fabric_port(x.f.topo, LUSTRE_SRC1, 1)];
	own = &x.s.port[fabric_port(x.f.topo, LUSTRE_SRC4, 1)];
	own->now.width[IBCC_CTR_RCV_BECN] = 32;
	own->now.v[IBCC_CTR_RCV_BECN] = 7;
	for (unsigned int i = 0; i < 3; i++) {
		assert_int_equal(ibcc_vendor_count(&x.line.base, x.f.topo, 0, true, &x.s, &x.v), 0);
		assert_int_equal(src->now.width[IBCC_CTR_RCV_BECN], 64);
		assert_int_equal(src->now.width[IBCC_CTR_RCV_FECN], 64);
		assert_int_equal(src->delta.flags[IBCC_CTR_RCV_BECN], i ? IBCC_DELTA_VALID : 0);
		assert_int_equal(src->delta.v[IBCC_CTR_RCV_BECN], 0);
		assert_int_equal(own->now.width[IBCC_CTR_RCV_BECN], 32);
		assert_int_equal(own->now.v[IBCC_CTR_RCV_BECN], 7);
		src->now = (struct ibcc_counters){ .t_ns = 1 };
		e = &x.v.ep[agents_endport(&x.f, LUSTRE_SRC1)];
		assert_true(e->last_known);
	}
	close_fixture(&x);
}

/* Reads the statistics of a sender whose port was read `port_s` seconds after the time before, and
 * the statistics `span_s` after that. Returns the BECNs of the port's interval.
 */
static uint64_t becns(struct fixture *x, unsigned int span_s, unsigned int port_s, bool marks)
{
	struct ibcc_port_sample *src = &x->s.port[fabric_port(x->f.topo, LUSTRE_SRC1, 1)];

	src->now = (struct ibcc_counters){ .t_ns = 1 };
	src->delta = (struct ibcc_delta){ .dt_ns = port_s * MINUTE_NS / 60 };
	x->line.now_ns += span_s * MINUTE_NS / 60;
	assert_int_equal(ibcc_vendor_count(&x->line.base, x->f.topo, 0, marks, &x->s, &x->v), 0);
	return src->delta.v[IBCC_CTR_RCV_BECN];
}

/* Statistics can have another interval than the port's counters: they were read seldom until now,
 * or a node did not answer, or only the port was read in a pass between. Then the sample has as
 * many BECNs as came in its own interval.
 */
static void test_intervals(void **state)
{
	struct ibcc_vendor_endport *e;
	struct fixture x;
	uint64_t n;

	(void)state;
	open_marking(&x);
	e = &x.v.ep[agents_endport(&x.f, LUSTRE_SRC1)];
	x.line.now_ns += MINUTE_NS;
	assert_int_equal(becns(&x, 1, 1, false), 0);
	engine_run(x.f.engine, 2 * IBCC_PS_PER_MS);
	n = becns(&x, 10, 1, true);
	assert_true(e->grown.cnp_handled >= 20);
	assert_int_equal(n, (e->grown.cnp_handled + 5) / 10);
	/* The intervals are equal, but for the moments of the answers. */
	engine_run(x.f.engine, 4 * IBCC_PS_PER_MS);
	x.line.now_ns += MINUTE_NS / 600;
	n = becns(&x, 1, 1, true);
	assert_true(n > 0);
	assert_int_equal(n, e->grown.cnp_handled);
	/* The port was not read in the pass before. */
	engine_run(x.f.engine, 6 * IBCC_PS_PER_MS);
	n = becns(&x, 1, 2, true);
	assert_int_equal(n, 2 * e->grown.cnp_handled);
	/* The adapter did not answer in the pass before. */
	x.line.deaf[0x21] = true;
	assert_int_equal(becns(&x, 1, 1, true), 0);
	x.line.deaf[0x21] = false;
	engine_run(x.f.engine, 8 * IBCC_PS_PER_MS);
	n = becns(&x, 1, 1, true);
	assert_true(n > 0);
	assert_int_equal(n, (e->grown.cnp_handled + 1) / 2);
	close_fixture(&x);
}

/* Records what a port has sent and received by now, in bytes. */
static void record(struct fixture *x, uint32_t node, uint64_t t_ns, uint64_t sent, uint64_t got)
{
	struct ibcc_counters c = { .t_ns = t_ns };

	c.width[IBCC_CTR_XMIT_DATA] = c.width[IBCC_CTR_RCV_DATA] = 64;
	c.v[IBCC_CTR_XMIT_DATA] = sent / 4;
	c.v[IBCC_CTR_RCV_DATA] = got / 4;
	ibcc_snapshot_begin(&x->s);
	ibcc_snapshot_record(&x->s, fabric_port(x->f.topo, node, 1), &c, 0);
	ibcc_snapshot_end(&x->s, t_ns);
	x->line.now_ns += MINUTE_NS;
	assert_int_equal(count(x), 0);
}

/* The traffic of the interval in which notifications were counted; without both ends, none. */
static void test_traffic(void **state)
{
	struct ibcc_vendor_endport *e;
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give_all(&x, IBCC_NVIDIA_CC_ON);
	ask(&x, 0);
	e = &x.v.ep[agents_endport(&x.f, LUSTRE_SRC1)];
	record(&x, LUSTRE_SRC1, MINUTE_NS, 1000, 4000);
	assert_false(e->grown_known);
	record(&x, LUSTRE_SRC1, 2 * MINUTE_NS, 9000, 4400);
	assert_true(e->grown_known);
	assert_int_equal(e->interval_ns, MINUTE_NS);
	assert_int_equal(e->xmit_bytes, 8000);
	assert_int_equal(e->rcv_bytes, 400);
	/* This one's port was not read. */
	assert_true(x.v.ep[agents_endport(&x.f, LUSTRE_SRC2)].grown_known);
	assert_int_equal(x.v.ep[agents_endport(&x.f, LUSTRE_SRC2)].interval_ns, 0);
	/* Without the statistics the interval goes on. */
	x.line.deaf[0x21] = true;
	record(&x, LUSTRE_SRC1, 3 * MINUTE_NS, 10000, 4800);
	assert_false(e->grown_known);
	assert_int_equal(e->interval_ns, 0);
	x.line.deaf[0x21] = false;
	record(&x, LUSTRE_SRC1, 4 * MINUTE_NS, 12000, 5200);
	assert_int_equal(e->interval_ns, 2 * MINUTE_NS);
	assert_int_equal(e->xmit_bytes, 3000);
	/* Counters that were cleared, or not read at one of its ends, say nothing of it. */
	record(&x, LUSTRE_SRC1, 5 * MINUTE_NS, 400, 400);
	assert_int_equal(e->interval_ns, 0);
	record(&x, LUSTRE_SRC2, 6 * MINUTE_NS, 0, 0);
	assert_int_equal(e->interval_ns, 0);
	record(&x, LUSTRE_SRC1, 7 * MINUTE_NS, 800, 800);
	assert_int_equal(e->interval_ns, 0);
	record(&x, LUSTRE_SRC1, 8 * MINUTE_NS, 1200, 800);
	assert_int_equal(e->xmit_bytes, 400);
	/* Statistics that were cleared are no counts of the interval. */
	e->last.cnp_handled = UINT64_MAX;
	record(&x, LUSTRE_SRC1, 9 * MINUTE_NS, 1600, 800);
	assert_false(e->grown_known);
	assert_int_equal(e->interval_ns, 0);
	close_fixture(&x);
}

/* The last look before a Set: a node where it was switched on meanwhile gets none. */
static void test_last_look(void **state)
{
	static const uint32_t nodes[] = { LUSTRE_SRC1, LUSTRE_SRC2, LUSTRE_SW1 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result r;
	struct ibcc_why why = { "" };
	struct ibcc_apply_options o = { .left_out = &why };
	struct fixture x;

	(void)state;
	open_fixture(&x);
	give(&x, LUSTRE_SRC1, IBCC_NVIDIA_CC_ON);
	give(&x, LUSTRE_SRC2, IBCC_NVIDIA_CC_OFF);
	give(&x, LUSTRE_SW1, IBCC_NVIDIA_CC_ON);
	for (unsigned int i = 0; i < 3; i++) {
		bool is_switch = nodes[i] == LUSTRE_SW1;
		struct ibcc_change c = {
			.node_guid = x.f.topo->node[nodes[i]].guid,
			.lid = x.f.topo->port[x.f.topo->endport[agents_endport(&x.f, nodes[i])]]
				       .lid,
			.port = is_switch ? 0 : 1,
			.attr_id = is_switch ? IBCC_CC_ATTR_SW_SETTING : IBCC_CC_ATTR_CA_SETTING,
		};

		assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	}
	ibcc_vendor_mark(x.f.topo, &plan);
	assert_true(plan.change[0].ask_vendor);
	assert_int_equal(ibcc_result_init(&r, plan.n), 0);
	assert_int_equal(ibcc_apply_run(&x.line.base, &plan, &o, &r), -EIO);
	assert_int_equal(x.line.n_sets, 1);
	assert_int_equal(r.change[0].outcome, IBCC_OUTCOME_SKIPPED);
	assert_int_equal(r.change[0].err, -EPERM);
	assert_int_equal(r.change[1].outcome, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(r.change[2].err, -EPERM);
	assert_non_null(strstr(why.text, "NVIDIA's own congestion control is on"));
	/* Older devices have none and are not asked. */
	x.f.topo->node[LUSTRE_SRC1].device_id = CX3;
	ibcc_vendor_mark(x.f.topo, &plan);
	assert_false(plan.change[0].ask_vendor);
	ibcc_result_fini(&r);
	ibcc_plan_fini(&plan);
	close_fixture(&x);
}

/* The same plan for a fabric where LIDs have moved: no node gets what was another's. */
static void test_moved_lids(void **state)
{
	static const uint32_t nodes[] = { LUSTRE_SRC1, LUSTRE_SRC2, LUSTRE_SRC3 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result r;
	struct ibcc_why why = { "" };
	struct ibcc_apply_options o = { .left_out = &why, .prove_lids = true };
	struct fixture x;

	(void)state;
	open_fixture(&x);
	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_change c = {
			.node_guid = x.f.topo->node[nodes[i]].guid,
			.lid = x.f.topo->port[fabric_port(x.f.topo, nodes[i], 1)].lid,
			.port = 1,
			.attr_id = IBCC_CC_ATTR_CA_SETTING,
		};

		assert_int_equal(ibcc_plan_append(&plan, &c), 0);
		if (i) /* two Sets each */
			assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	}
	x.line.owner[plan.change[0].lid] = x.f.topo->node[LUSTRE_FAST].guid;
	x.line.owner[plan.change[1].lid] = plan.change[1].node_guid;
	assert_int_equal(ibcc_result_init(&r, plan.n), 0);
	assert_int_equal(ibcc_apply_run(&x.line.base, &plan, &o, &r), -EIO);
	assert_int_equal(r.change[0].err, -ESTALE);
	assert_int_equal(r.change[1].outcome, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(r.change[2].outcome, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(r.change[3].err, -EHOSTUNREACH);
	assert_int_equal(r.change[4].outcome, IBCC_OUTCOME_SKIPPED);
	assert_int_equal(x.line.n_sets, 2);
	assert_int_equal(x.line.n[1], 3 + 1); /* before each Set */
	assert_non_null(strstr(why.text, "belongs to another node now"));
	ibcc_result_fini(&r);
	ibcc_plan_fini(&plan);
	close_fixture(&x);
}

static void test_who_takes_part(void **state)
{
	struct fixture x;

	(void)state;
	open_fixture(&x);
	assert_true(ibcc_device_takes_part(x.f.topo, LUSTRE_SRC1));
	assert_true(ibcc_device_takes_part(x.f.topo, LUSTRE_SW1));
	x.f.topo->node[LUSTRE_SRC1].device_id = 0xcf09; /* aggregation node */
	x.f.topo->node[LUSTRE_SRC2].device_id = 0x101c; /* virtual function */
	x.f.topo->node[LUSTRE_SRC3].device_id = 0x9999; /* unknown */
	x.f.topo->node[LUSTRE_SRC4].type = IBCC_NODE_ROUTER;
	assert_false(ibcc_device_takes_part(x.f.topo, LUSTRE_SRC1));
	assert_false(ibcc_device_takes_part(x.f.topo, LUSTRE_SRC2));
	assert_true(ibcc_device_takes_part(x.f.topo, LUSTRE_SRC3));
	assert_false(ibcc_device_takes_part(x.f.topo, LUSTRE_SRC4));
	close_fixture(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_algorithms), cmocka_unit_test(test_strangers),
		cmocka_unit_test(test_canaries),   cmocka_unit_test(test_on_off),
		cmocka_unit_test(test_key),        cmocka_unit_test(test_protected_smps),
		cmocka_unit_test(test_rebase),     cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_marks),      cmocka_unit_test(test_intervals),
		cmocka_unit_test(test_throttled),  cmocka_unit_test(test_last_look),
		cmocka_unit_test(test_moved_lids), cmocka_unit_test(test_who_takes_part),
		cmocka_unit_test(test_traffic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
