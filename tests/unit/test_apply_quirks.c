/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans for nodes that have rules of their own, as the simulator's agents have them: QLogic's
 * tables (after Linux, drivers/infiniband/hw/qib/qib_mad.c), refusals with every MAD status, both
 * sizes of a block of switch port settings, CC_Keys.
 */
#include "tests/unit/agents.h"

#include <errno.h>
#include <string.h>

#include <ibcc/apply.h>
#include <ibcc/collect.h>
#include <ibcc/inproc.h>

struct fixture {
	struct agent_fabric f;
	struct ibcc_transport *tr;
	struct ibcc_settings actual;
	struct ibcc_target target;
	struct ibcc_plan plan;
	struct ibcc_result r;
	struct ibcc_apply_options o;
};

static void setup(struct fixture *x)
{
	memset(x, 0, sizeof(*x));
	agents_open(&x->f, IBCC_CC_SW_PORT_BLOCK_121);
	x->tr = ibcc_inproc_new(x->f.agents, x->f.engine, x->f.topo, NULL);
	assert_non_null(x->tr);
}

static void forget_plan(struct fixture *x)
{
	ibcc_plan_fini(&x->plan);
	ibcc_result_fini(&x->r);
	ibcc_settings_fini(&x->target.wanted);
}

static void teardown(struct fixture *x)
{
	forget_plan(x);
	ibcc_settings_fini(&x->actual);
	ibcc_transport_free(x->tr);
	agents_close(&x->f);
}

static struct ibcc_agent_quirks *quirks(struct fixture *x, uint32_t node)
{
	return ibcc_agents_quirks(x->f.agents, node);
}

static void read_back(struct fixture *x)
{
	assert_int_equal(ibcc_readback_run(x->tr, x->f.topo, x->o.cc_key, &x->actual), 0);
}

/* Begins a target that is what has been read. */
static struct ibcc_endport_cc *want(struct fixture *x, uint32_t node)
{
	forget_plan(x);
	assert_int_equal(ibcc_settings_copy(&x->target.wanted, &x->actual), 0);
	return &x->target.wanted.ep[agents_endport(&x->f, node)];
}

static int apply(struct fixture *x)
{
	assert_int_equal(ibcc_planner_run(x->f.topo, &x->actual, &x->target, &x->plan), 0);
	assert_int_equal(ibcc_result_init(&x->r, x->plan.n), 0);
	return ibcc_apply_run(x->tr, &x->plan, &x->o, &x->r);
}

static const struct ibcc_endport_cc *registers(struct fixture *x, uint32_t node)
{
	return ibcc_agents_settings(x->f.agents, agents_endport(&x->f, node));
}

/* A linear table to `limit`, all SLs with a timer. */
static void want_throttle(struct ibcc_endport_cc *ep, uint16_t limit, uint16_t timer, uint16_t step)
{
	memset(&ep->cct, 0, sizeof(ep->cct));
	ep->cct.limit = limit;
	for (unsigned int i = 0; i <= limit; i++)
		ep->cct.entry[i] = (uint16_t)(step * i);
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		ep->ca.sl[sl].CCTI_Timer = timer;
		ep->ca.sl[sl].CCTI_Increase = 2;
	}
}

static void assert_throttle(struct fixture *x, uint32_t node, uint16_t limit, uint16_t timer,
			    uint16_t step)
{
	const struct ibcc_endport_cc *r = registers(x, node);

	assert_int_equal(r->cct.limit, limit);
	assert_int_equal(r->cct.entry[limit], (uint16_t)(step * limit));
	assert_int_equal(r->ca.sl[0].CCTI_Timer, timer);
	assert_int_equal(r->ca.sl[15].CCTI_Timer, timer);
}

/* A table comes, is changed at its full length, and goes; a setting alone takes effect, too. */
static void test_qlogic_known(void **state)
{
	struct fixture x;

	(void)state;
	setup(&x);
	quirks(&x, LUSTRE_SRC1)->qlogic = true;
	read_back(&x);
	assert_true(x.actual.ep[agents_endport(&x.f, LUSTRE_SRC1)].by_block);
	assert_false(x.actual.ep[agents_endport(&x.f, LUSTRE_SRC2)].by_block);
	want_throttle(want(&x, LUSTRE_SRC1), 127, 10, 1);
	assert_int_equal(apply(&x), 0);
	assert_throttle(&x, LUSTRE_SRC1, 127, 10, 1);
	for (uint16_t round = 2; round < 5; round++) {
		read_back(&x);
		assert_true(x.actual.ep[agents_endport(&x.f, LUSTRE_SRC1)].by_block);
		want_throttle(want(&x, LUSTRE_SRC1), 127, 10, round);
		assert_int_equal(apply(&x), 0);
		assert_int_equal(x.r.set_mads, 2);
		assert_throttle(&x, LUSTRE_SRC1, 127, 10, round);
	}
	read_back(&x);
	want_throttle(want(&x, LUSTRE_SRC1), 127, 33, 4);
	assert_int_equal(apply(&x), 0);
	assert_int_equal(x.r.set_mads, 3); /* the table is sent again, for the setting's sake */
	assert_throttle(&x, LUSTRE_SRC1, 127, 33, 4);
	read_back(&x);
	want(&x, LUSTRE_SRC1);
	assert_int_equal(apply(&x), 0);
	assert_int_equal(x.r.set_mads, 0);
	teardown(&x);
}

/* The kind of node is unknown: it is learnt from its refusal, at the cost of one Set more.
 */
static void test_qlogic_learnt(void **state)
{
	struct fixture x;
	struct ibcc_endport_cc *ep;

	(void)state;
	setup(&x);
	read_back(&x);
	want_throttle(want(&x, LUSTRE_SRC1), 127, 10, 1);
	assert_int_equal(apply(&x), 0);
	quirks(&x, LUSTRE_SRC1)->qlogic = true;
	read_back(&x);
	ep = &x.actual.ep[agents_endport(&x.f, LUSTRE_SRC1)];
	ep->by_block = false;
	want_throttle(want(&x, LUSTRE_SRC1), 127, 20, 2);
	assert_int_equal(apply(&x), 0);
	assert_int_equal(x.r.n_verified, x.plan.n);
	assert_int_equal(x.r.n_failed, 0);
	assert_throttle(&x, LUSTRE_SRC1, 127, 20, 2);
	/* A mode that it does not have is no failure of the setting. */
	read_back(&x);
	ep = &x.actual.ep[agents_endport(&x.f, LUSTRE_SRC1)];
	assert_int_equal(ep->ca.Port_Control & IBCC_CC_PORT_CONTROL_SL, IBCC_CC_PORT_CONTROL_SL);
	ep->by_block = false;
	ep = want(&x, LUSTRE_SRC1);
	ep->ca.Port_Control = 0;
	want_throttle(ep, 127, 30, 3);
	assert_int_equal(apply(&x), 0);
	assert_throttle(&x, LUSTRE_SRC1, 127, 30, 3);
	teardown(&x);
}

/* Undone in the same way as done. */
static void test_qlogic_rollback(void **state)
{
	struct ibcc_plan undo;
	struct fixture x;

	(void)state;
	setup(&x);
	quirks(&x, LUSTRE_SRC1)->qlogic = true;
	read_back(&x);
	want_throttle(want(&x, LUSTRE_SRC1), 127, 10, 1);
	assert_int_equal(apply(&x), 0);
	assert_int_equal(ibcc_plan_reverse(&x.plan, &undo), 0);
	ibcc_result_fini(&x.r);
	assert_int_equal(ibcc_result_init(&x.r, undo.n), 0);
	assert_int_equal(ibcc_apply_run(x.tr, &undo, &x.o, &x.r), 0);
	assert_int_equal(registers(&x, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer, 0);
	for (unsigned int i = 0; i <= registers(&x, LUSTRE_SRC1)->cct.limit; i++)
		assert_int_equal(registers(&x, LUSTRE_SRC1)->cct.entry[i], 0);
	ibcc_plan_fini(&undo);
	teardown(&x);
}

/* IBA vol. 1, 13.4.7: busy, redirection, and the kinds of invalid field. */
static const uint16_t statuses[] = { 0x0001, 0x0002, 0x0004, 0x0008, 0x000c, 0x001c, 0x8000 };

static void test_set_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		struct fixture x;

		setup(&x);
		read_back(&x);
		quirks(&x, LUSTRE_SRC1)->set_status = statuses[i];
		want_throttle(want(&x, LUSTRE_SRC1), 127, 10, 1);
		want_throttle(&x.target.wanted.ep[agents_endport(&x.f, LUSTRE_SRC2)], 127, 10, 1);
		assert_int_equal(apply(&x), -EIO);
		/* The one is told with its status, nothing is left half-set; the other is done. */
		assert_int_equal(x.plan.n, 6);
		assert_int_equal(x.r.n_verified, 3);
		for (uint32_t k = 0; k < x.plan.n; k++) {
			bool refused =
				x.plan.change[k].node_guid == x.f.topo->node[LUSTRE_SRC1].guid;

			if (!refused) {
				assert_int_equal(x.r.change[k].outcome, IBCC_OUTCOME_VERIFIED);
			} else if (x.plan.change[k].attr_id == IBCC_CC_ATTR_CA_SETTING) {
				assert_int_equal(x.r.change[k].outcome, IBCC_OUTCOME_FAILED);
				/* A busy node may have carried out an earlier attempt. */
				assert_int_equal(x.r.change[k].err,
						 statuses[i] == IBCC_MAD_STATUS_BUSY ? -EBUSY
										     : -EREMOTEIO);
				assert_int_equal(x.r.change[k].status, statuses[i]);
			} else {
				assert_int_equal(x.r.change[k].outcome, IBCC_OUTCOME_SKIPPED);
			}
		}
		assert_int_equal(registers(&x, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer, 0);
		assert_int_equal(registers(&x, LUSTRE_SRC1)->cct.limit, 0);
		/* And can be made good when the node thinks better of it. */
		quirks(&x, LUSTRE_SRC1)->set_status = 0;
		read_back(&x);
		want_throttle(want(&x, LUSTRE_SRC1), 127, 10, 1);
		assert_int_equal(apply(&x), 0);
		assert_throttle(&x, LUSTRE_SRC1, 127, 10, 1);
		teardown(&x);
	}
}

/* Statuses that say "I do not know this" make a node one without congestion control; the others say
 * nothing for good. Neither is written to.
 */
static void test_all_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		bool unsupported = (statuses[i] & 0x001c) != 0;
		struct ibcc_endport_cc *ep;
		struct fixture x;

		setup(&x);
		quirks(&x, LUSTRE_SRC1)->status = statuses[i];
		read_back(&x);
		ep = &x.actual.ep[agents_endport(&x.f, LUSTRE_SRC1)];
		assert_int_equal(ep->support, unsupported ? IBCC_CC_UNSUPPORTED : IBCC_CC_UNKNOWN);
		assert_int_equal(ep->status, statuses[i]);
		want_throttle(want(&x, LUSTRE_SRC1), 127, 10, 1);
		assert_int_equal(apply(&x), 0);
		assert_int_equal(x.plan.n, 0);
		assert_int_equal(x.plan.n_unreachable, 1);
		assert_int_equal(registers(&x, LUSTRE_SRC1)->cct.limit, 0);
		teardown(&x);
	}
}

static void test_port_blocks(void **state)
{
	static const uint8_t sizes[] = { 32, 48, 0 };

	(void)state;
	for (size_t i = 0; i < sizeof(sizes); i++) {
		struct ibcc_endport_cc *ep;
		struct fixture x;
		uint32_t k = 0;

		setup(&x);
		assert_int_equal(ibcc_agents_set_port_block(x.f.agents, LUSTRE_SW1, sizes[i]), 0);
		assert_int_equal(ibcc_agents_set_port_block(x.f.agents, LUSTRE_SRC1, 32), -EINVAL);
		assert_int_equal(ibcc_agents_set_port_block(x.f.agents, LUSTRE_SW1, 33), -EINVAL);
		read_back(&x);
		ep = want(&x, LUSTRE_SW1);
		assert_int_equal(ep->n_element != 0, sizes[i] != 0);
		for (unsigned int p = 1; p < ep->n_element; p++)
			ep->element[p] = (struct ibcc_cc_sw_port_element){
				.Valid = true, .Threshold = (uint8_t)(p % 16), .Packet_Size = 3
			};
		assert_int_equal(apply(&x), 0);
		for (; k < x.plan.n; k++)
			assert_int_equal(x.plan.change[k].attr_id, IBCC_CC_ATTR_SW_PORT_SETTING);
		assert_int_equal(k != 0, sizes[i] != 0);
		for (unsigned int p = 1; sizes[i] && p < registers(&x, LUSTRE_SW1)->n_element; p++)
			assert_int_equal(registers(&x, LUSTRE_SW1)->element[p].Threshold, p % 16);
		teardown(&x);
	}
}

/* What lies where answers are cut off cannot have been read, nor can it be read back: no Set. */
static void test_cut_off(void **state)
{
	struct fixture x;

	(void)state;
	setup(&x);
	read_back(&x);
	want_throttle(want(&x, LUSTRE_SRC1), 127, 10, 1);
	x.tr->whole_bytes = IBCC_MAD_DATA_OFFS + 16;
	assert_int_equal(apply(&x), -EIO);
	assert_true(x.plan.n > 0);
	assert_int_equal(x.r.set_mads, 0);
	for (uint32_t k = 0; k < x.plan.n; k++)
		assert_int_equal(x.r.change[k].outcome, IBCC_OUTCOME_SKIPPED);
	assert_int_equal(x.r.change[0].err, -EMSGSIZE);
	assert_int_equal(registers(&x, LUSTRE_SRC1)->cct.limit, 0);
	teardown(&x);
}

/* Another program's key lets us read, not write; protected, not even that; ours does both. */
static void test_keys(void **state)
{
	struct ibcc_cc_key_info key = { .CC_Key = 0x1234 };
	struct fixture x;
	uint32_t ep;

	(void)state;
	setup(&x);
	ep = agents_endport(&x.f, LUSTRE_SRC1);
	for (int protect = 0; protect < 2; protect++) {
		key.CC_KeyProtectBit = protect != 0;
		memset(&x.f.mad, 0, sizeof(x.f.mad));
		ibcc_cc_key_pack(x.f.mad.b, protect ? 0x1234 : 0);
		ibcc_cc_key_info_pack(x.f.mad.b, &key);
		assert_int_equal(agents_send(&x.f, LUSTRE_SRC1, IBCC_MAD_CLASS_CC,
					     IBCC_CC_CLASS_VERSION, IBCC_MAD_SET,
					     IBCC_CC_ATTR_KEY_INFO, 0),
				 0);
		x.o.cc_key = 0;
		read_back(&x);
		assert_int_equal(x.actual.ep[ep].support,
				 protect ? IBCC_CC_UNKNOWN : IBCC_CC_KEY_REFUSED);
		x.o.cc_key = 0x1234;
		read_back(&x);
		assert_int_equal(x.actual.ep[ep].support, IBCC_CC_SUPPORTED);
		want_throttle(want(&x, LUSTRE_SRC1), 127, 10, (uint16_t)(1 + protect));
		assert_int_equal(apply(&x), 0);
		assert_throttle(&x, LUSTRE_SRC1, 127, 10, (uint16_t)(1 + protect));
	}
	/* With the wrong one the Set is dropped without a word: that is told as it is. */
	want_throttle(want(&x, LUSTRE_SRC1), 127, 99, 5);
	x.o.cc_key = 0x4321;
	assert_int_equal(apply(&x), -EIO);
	assert_int_equal(x.r.change[0].outcome, IBCC_OUTCOME_FAILED);
	assert_int_equal(x.r.change[0].err, -ETIMEDOUT);
	assert_throttle(&x, LUSTRE_SRC1, 127, 10, 2);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_qlogic_known),    cmocka_unit_test(test_qlogic_learnt),
		cmocka_unit_test(test_qlogic_rollback), cmocka_unit_test(test_set_refused),
		cmocka_unit_test(test_all_refused),     cmocka_unit_test(test_port_blocks),
		cmocka_unit_test(test_cut_off),         cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
