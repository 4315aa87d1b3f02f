/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The in-process transport: virtual time that MADs take, and what they find. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/inproc.h>
#include <ibcc/pma.h>

#include "tests/unit/engines.h"

#define N_OPS 100

static struct ibcc_scenario lustre(void)
{
	struct ibcc_scenario s = { .seed = 1 };

	s.topo = fabric_lustre();
	ibcc_model_defaults(&s.model);
	return s;
}

static struct ibcc_transport *inproc(const struct ibcc_scenario *s,
				     const struct ibcc_inproc_options *o)
{
	int err = 0;
	struct ibcc_transport *t = ibcc_inproc_open(s, o, &err, NULL);

	assert_int_equal(err, 0);
	assert_non_null(t);
	return t;
}

static void request(struct ibcc_mad_op *op, const struct ibcc_topo *t, uint32_t node,
		    uint8_t method, uint16_t attr_id)
{
	memset(op, 0, sizeof(*op));
	op->lid = t->port[fabric_port(t, node, ibcc_topo_is_switch(t, node) ? 0 : 1)].lid;
	ibcc_mad_request(op->mad, IBCC_MAD_CLASS_CC, (enum ibcc_mad_method)method, attr_id, 0);
}

static void test_time_of_a_batch(void **state)
{
	const struct ibcc_inproc_options o = { .rtt_ns = 8000, .timeout_ns = 50000, .window = 4 };
	struct ibcc_scenario s = lustre();
	struct ibcc_transport *t = inproc(&s, &o);
	struct ibcc_mad_op op[N_OPS];

	(void)state;
	for (int i = 0; i < N_OPS; i++)
		request(&op[i], s.topo, LUSTRE_SRC1, IBCC_MAD_GET, IBCC_CC_ATTR_TIMESTAMP);
	assert_int_equal(ibcc_transport_now_ns(t), 0);
	assert_int_equal(ibcc_transport_run(t, op, N_OPS), 0);
	for (int i = 0; i < N_OPS; i++) {
		assert_int_equal(op[i].err, 0);
		/* Four in 8 us: one every 2 us. Half way there, the node reads its clock. */
		assert_int_equal(op[i].t_ns, 2000 * i + 8000);
		assert_int_equal(ibcc_cc_timestamp_unpack(op[i].mad), (2000 * i + 4000) / 1024);
	}
	assert_int_equal(ibcc_transport_now_ns(t), op[N_OPS - 1].t_ns);
	/* Time goes on from there. No node has the LID: given up after the timeout. */
	request(&op[0], s.topo, LUSTRE_SRC1, IBCC_MAD_GET, IBCC_CC_ATTR_INFO);
	op[0].lid = 99;
	assert_int_equal(ibcc_transport_run(t, op, 1), 0);
	assert_int_equal(op[0].err, -ETIMEDOUT);
	assert_int_equal(ibcc_transport_now_ns(t), 2000 * (N_OPS - 1) + 8000 + 50000);
	/* A refusal is an answer. */
	request(&op[0], s.topo, LUSTRE_SRC1, IBCC_MAD_GET, IBCC_CC_ATTR_SW_SETTING);
	assert_int_equal(ibcc_transport_run(t, op, 1), 0);
	assert_int_equal(op[0].err, -EREMOTEIO);
	assert_int_equal(op[0].status, IBCC_MAD_STATUS_BAD_ATTR);
	assert_int_equal(t->stats.sent, N_OPS + 2);
	assert_int_equal(t->stats.answered, N_OPS + 1);
	assert_int_equal(t->stats.timed_out, 1);
	assert_int_equal(t->stats.sets, 0);
	assert_int_equal(ibcc_transport_run(t, NULL, 0), 0);
	ibcc_transport_free(t);
	ibcc_scenario_fini(&s);
}

/* One at a time to each node, while others have theirs. */
static void test_one_at_a_node(void **state)
{
	const struct ibcc_inproc_options o = { .rtt_ns = 8000, .window = 8, .node_window = 1 };
	static const uint64_t t_ns[] = { 8000, 16000, 24000, 11000, 12000, 20000 };
	struct ibcc_scenario s = lustre();
	struct ibcc_transport *t = inproc(&s, &o);
	struct ibcc_mad_op op[6];

	(void)state;
	for (int i = 0; i < 6; i++)
		request(&op[i], s.topo,
			i < 3   ? LUSTRE_SRC1
			: i < 4 ? LUSTRE_SRC2
				: LUSTRE_SRC3,
			IBCC_MAD_GET, IBCC_CC_ATTR_TIMESTAMP);
	assert_int_equal(ibcc_transport_run(t, op, 6), 0);
	for (int i = 0; i < 6; i++) {
		assert_int_equal(op[i].err, 0);
		assert_int_equal(op[i].t_ns, t_ns[i]);
		assert_int_equal(ibcc_cc_timestamp_unpack(op[i].mad), (t_ns[i] - 4000) / 1024);
	}
	assert_int_equal(ibcc_transport_now_ns(t), 24000);
	ibcc_transport_free(t);
	ibcc_scenario_fini(&s);
}

static void test_scenario(void **state)
{
	static char no_cc[1][IBCC_NAME_BYTES] = { "src3" };
	const struct ibcc_inproc_options o = { 0 };
	struct ibcc_scenario s = lustre();
	struct ibcc_flow_spec *flow = calloc(1, sizeof(*flow));
	struct ibcc_transport *t;
	struct ibcc_cc_ca_setting ca;
	struct ibcc_mad_op op;
	const char *bad = NULL;
	int err = 0;

	(void)state;
	assert_non_null(flow);
	strcpy(flow->from, "src1");
	strcpy(flow->to, "slow");
	s.flow = flow;
	s.n_flows = 1;
	s.no_cc = no_cc;
	s.n_no_cc = 1;
	s.cc = (struct ibcc_static_cc){ .enabled = true,
					.ca = { .sl = { [0] = { .CCTI_Timer = 33 } } } };
	t = inproc(&s, &o);
	request(&op, s.topo, LUSTRE_SRC1, IBCC_MAD_GET, IBCC_CC_ATTR_CA_SETTING);
	assert_int_equal(ibcc_transport_run(t, &op, 1), 0);
	assert_int_equal(op.err, 0);
	ibcc_cc_ca_setting_unpack(op.mad, &ca);
	assert_int_equal(ca.sl[0].CCTI_Timer, 33);
	request(&op, s.topo, LUSTRE_SRC3, IBCC_MAD_GET, IBCC_CC_ATTR_INFO);
	assert_int_equal(ibcc_transport_run(t, &op, 1), 0);
	assert_int_equal(op.status, IBCC_MAD_STATUS_BAD_ATTR);
	/* Here all bytes arrive, so the 64 bit PortXmitWait is announced. */
	memset(&op, 0, sizeof(op));
	op.lid = s.topo->port[fabric_port(s.topo, LUSTRE_SRC1, 1)].lid;
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_PERF, IBCC_MAD_GET, IBCC_PMA_ATTR_CLASS_PORT_INFO,
			 0);
	assert_int_equal(ibcc_transport_run(t, &op, 1), 0);
	assert_true(op.mad[64 + 7] & IBCC_PMA_CAP2_EXT_XMIT_WAIT << 5);
	engine_run(ibcc_inproc_engine(t), IBCC_PS_PER_MS);
	assert_true(engine_flow_read(ibcc_inproc_engine(t), 0).received_pkts > 0);
	ibcc_transport_free(t);
	strcpy(flow->to, "nobody");
	assert_null(ibcc_inproc_open(&s, &o, &err, &bad));
	assert_int_equal(err, -ENOENT);
	assert_string_equal(bad, "nobody");
	s.no_cc = NULL;
	ibcc_scenario_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_time_of_a_batch),
		cmocka_unit_test(test_one_at_a_node),
		cmocka_unit_test(test_scenario),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
