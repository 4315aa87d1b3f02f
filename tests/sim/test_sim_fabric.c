/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The simulator's fabric against changes of the control plane: traffic, counters and settings go on
 * where they should.
 */
#include <errno.h>
#include <string.h>

#include "tests/unit/engines.h"

#include <ibcc/pma.h>

#include "sim/fabric.h"
#include "sim/merge.h"

#define GUID(node) (0x1000u + 0x100u * (node))

struct fabric {
	struct ibcc_scenario s;
	struct ibcc_flow_spec flow[2];
	struct ibcc_event_spec event;
	struct ibcc_sim_fabric *fab;
};

/* src1 to slow and src4 to fast. */
static void fabric_open(struct fabric *x)
{
	static const char *const ends[2][2] = { { "src1", "slow" }, { "src4", "fast" } };

	memset(x, 0, sizeof(*x));
	x->s.seed = 1;
	ibcc_model_defaults(&x->s.model);
	x->s.flow = x->flow;
	x->s.n_flows = 2;
	for (int i = 0; i < 2; i++) {
		strcpy(x->flow[i].from, ends[i][0]);
		strcpy(x->flow[i].to, ends[i][1]);
	}
	x->fab = ibcc_sim_fabric_new(&x->s);
	assert_non_null(x->fab);
}

static void see(struct fabric *x, struct ibcc_topo *t)
{
	assert_int_equal(ibcc_sim_fabric_update(x->fab, t), 0);
}

static void run_ms(struct fabric *x, uint64_t ms)
{
	assert_int_equal(
		ibcc_sim_fabric_run(x->fab, ibcc_sim_fabric_now_ps(x->fab) + ms * IBCC_PS_PER_MS),
		0);
}

static uint64_t received(struct fabric *x, uint32_t i)
{
	struct ibcc_sim_fabric_flow f;

	ibcc_sim_fabric_flow_read(x->fab, i, &f);
	return f.sum.received_bytes;
}

/* What one flow delivers in a millisecond. */
static uint64_t delivers(struct fabric *x, uint32_t i)
{
	uint64_t before = received(x, i);

	run_ms(x, 1);
	return received(x, i) - before;
}

static int ask(struct fabric *x, uint32_t from, uint32_t to, uint8_t method, uint16_t attr_id,
	       uint8_t *mad)
{
	const struct ibcc_topo *t = ibcc_sim_fabric_topo(x->fab);
	uint16_t lid = t->port[fabric_port(t, to, ibcc_topo_is_switch(t, to) ? 0 : 1)].lid;
	struct ibcc_mad_header h = { .base_version = 1,
				     .mgmt_class = IBCC_MAD_CLASS_CC,
				     .class_version = 2,
				     .method = method,
				     .attr_id = attr_id };
	int err;

	ibcc_mad_header_pack(mad, &h);
	err = ibcc_sim_fabric_answer(x->fab, GUID(from), lid, 1, mad, mad);
	ibcc_mad_header_unpack(mad, &h);
	return err ? err : h.status;
}

static void test_traffic_follows_the_subnet_manager(void **state)
{
	struct ibcc_topo *t;
	struct fabric x;
	/* Payload of a millisecond. The two flows share the link between the switches. */
	uint64_t full = 1000ull * QDR_MBPS / 8 * 2048 / 2074;

	(void)state;
	fabric_open(&x);
	run_ms(&x, 1);
	assert_int_equal(ibcc_sim_fabric_now_ps(x.fab), 0); /* no fabric, no time */
	/* Before a subnet manager came: no LIDs, no tables, ports not active. */
	t = fabric_lustre();
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (t->port[i].peer != IBCC_NONE)
			t->port[i].state = 2;
	memset(t->lid_port, 0xff, sizeof(t->lid_port));
	for (uint32_t i = 0; i < t->n_endports; i++)
		t->port[t->endport[i]].lid = 0;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		t->node[i].lft_len = 0;
	see(&x, t);
	assert_int_equal(delivers(&x, 0), 0);
	see(&x, fabric_lustre());
	run_ms(&x, 1);
	assert_near((double)delivers(&x, 0), (double)full / 2, 0.01);
	assert_near((double)delivers(&x, 1), (double)full / 2, 0.01);
	/* Nothing new changes nothing. */
	see(&x, fabric_lustre());
	assert_near((double)delivers(&x, 1), (double)full / 2, 0.01);
	/* A table without the sink's LID. */
	t = fabric_lustre();
	t->node[LUSTRE_SW1].lft[t->port[fabric_port(t, LUSTRE_SLOW, 1)].lid] = IBCC_LFT_NONE;
	see(&x, t);
	run_ms(&x, 1);
	assert_int_equal(delivers(&x, 0), 0);
	assert_near((double)delivers(&x, 1), (double)full, 0.01);
	ibcc_sim_fabric_free(x.fab);
}

static void test_a_cable_pulled(void **state)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_engine_port before, after;
	struct ibcc_cc_ca_setting ca = { .Control_Map = 0xffff,
					 .sl = { [0] = { .CCTI_Timer = 77 } } };
	struct ibcc_topo *t;
	struct fabric x;
	uint32_t port;
	uint64_t n;

	(void)state;
	fabric_open(&x);
	see(&x, fabric_lustre());
	run_ms(&x, 1);
	ibcc_cc_ca_setting_pack(mad, &ca);
	assert_int_equal(
		ask(&x, LUSTRE_SRC1, LUSTRE_SRC4, IBCC_MAD_SET, IBCC_CC_ATTR_CA_SETTING, mad), 0);
	port = fabric_port(ibcc_sim_fabric_topo(x.fab), LUSTRE_SRC4, 1);
	assert_int_equal(ibcc_agents_counters(ibcc_sim_fabric_agents(x.fab), port, &before), 0);

	/* The node is out of sight now: there is no way to ask for it. */
	t = ibcc_topo_new();
	for (uint32_t i = 0; i < 8; i++) {
		struct ibcc_topo *all = fabric_lustre();

		if (i != LUSTRE_SRC4)
			assert_true(ibcc_topo_add_node(t, GUID(i), all->node[i].type,
						       all->node[i].n_ports,
						       all->node[i].desc) >= 0);
		ibcc_topo_free(all);
	}
	for (uint32_t i = 0; i < 3; i++)
		fabric_link(t, i, 1, LUSTRE_SW1 - 1, i + 1);
	fabric_link(t, LUSTRE_SW1 - 1, 5, LUSTRE_SW2 - 1, 5);
	fabric_link(t, LUSTRE_SLOW - 1, 1, LUSTRE_SW2 - 1, 1);
	fabric_link(t, LUSTRE_FAST - 1, 1, LUSTRE_SW2 - 1, 2);
	assert_int_equal(ibcc_route_compute(t), 0);
	see(&x, t);
	assert_int_equal(ibcc_sim_fabric_topo(x.fab)->n_nodes, 8);
	assert_true(delivers(&x, 0) > 0);
	assert_int_equal(delivers(&x, 1), 0);
	assert_int_equal(ask(&x, LUSTRE_SRC1, LUSTRE_SRC4, IBCC_MAD_GET, IBCC_CC_ATTR_INFO, mad),
			 -ETIMEDOUT);
	assert_int_equal(ask(&x, LUSTRE_SRC4, LUSTRE_SRC1, IBCC_MAD_GET, IBCC_CC_ATTR_INFO, mad),
			 -ETIMEDOUT);
	assert_int_equal(ask(&x, LUSTRE_SRC1, LUSTRE_SRC2, IBCC_MAD_GET, IBCC_CC_ATTR_INFO, mad),
			 0);

	see(&x, fabric_lustre());
	run_ms(&x, 1);
	assert_true(delivers(&x, 2) > 0);
	assert_int_equal(
		ask(&x, LUSTRE_SRC1, LUSTRE_SRC4, IBCC_MAD_GET, IBCC_CC_ATTR_CA_SETTING, mad), 0);
	ibcc_cc_ca_setting_unpack(mad, &ca);
	assert_int_equal(ca.sl[0].CCTI_Timer, 77);
	assert_int_equal(ibcc_agents_counters(ibcc_sim_fabric_agents(x.fab), port, &after), 0);
	assert_true(after.xmit_pkts > before.xmit_pkts);
	n = received(&x, 1);
	/* Without traffic time goes on, and so do the sums when it comes back. */
	assert_int_equal(ibcc_sim_fabric_set_traffic(x.fab, false), 0);
	assert_int_equal(received(&x, 1), n);
	assert_int_equal(delivers(&x, 1), 0);
	assert_int_equal(ibcc_sim_fabric_set_traffic(x.fab, true), 0);
	assert_true(delivers(&x, 2) > 0);
	assert_true(received(&x, 1) > n);
	ibcc_sim_fabric_free(x.fab);
}

static void on_link_event(void *arg, const struct ibcc_event_spec *v)
{
	*(const struct ibcc_event_spec **)arg = v;
}

static void test_sinks_and_events(void **state)
{
	const struct ibcc_event_spec *seen = NULL;
	struct fabric x;
	uint64_t half; /* of the link between the switches */

	(void)state;
	fabric_open(&x);
	x.event = (struct ibcc_event_spec){
		.at_ps = 10 * IBCC_PS_PER_MS, .kind = IBCC_EVENT_LINK_DOWN, .node = "sw1", .port = 4
	};
	x.s.event = &x.event;
	x.s.n_events = 1;
	ibcc_sim_fabric_on_link_event(x.fab, on_link_event, &seen);
	see(&x, fabric_lustre());
	run_ms(&x, 1);
	half = delivers(&x, 0);
	assert_int_equal(ibcc_sim_fabric_set_sink_rate(x.fab, "slow", QDR_MBPS / 4), 0);
	run_ms(&x, 1);
	assert_near((double)delivers(&x, 0), (double)half / 2, 0.02);
	assert_int_equal(ibcc_sim_fabric_set_sink_rate(x.fab, "nobody", 1), -ENOENT);
	assert_int_equal(ibcc_sim_fabric_set_support(x.fab, "nobody", false), -ENOENT);
	/* A new engine has the same sinks. */
	assert_int_equal(ibcc_sim_fabric_set_traffic(x.fab, false), 0);
	assert_int_equal(ibcc_sim_fabric_set_traffic(x.fab, true), 0);
	run_ms(&x, 1);
	assert_near((double)delivers(&x, 0), (double)half / 2, 0.02);
	assert_null(seen);
	run_ms(&x, 10);
	assert_ptr_equal(seen, &x.event);
	ibcc_sim_fabric_free(x.fab);
}

/* The scenario changes a link's rate; a new engine has it, too. */
static void test_link_rate(void **state)
{
	struct fabric x;
	uint64_t before;

	(void)state;
	fabric_open(&x);
	x.event = (struct ibcc_event_spec){ .at_ps = 2 * IBCC_PS_PER_MS,
					    .kind = IBCC_EVENT_LINK_RATE,
					    .node = "sw1",
					    .port = 5,
					    .value = QDR_MBPS / 4 };
	x.s.event = &x.event;
	x.s.n_events = 1;
	see(&x, fabric_lustre());
	run_ms(&x, 1);
	before = delivers(&x, 0);
	run_ms(&x, 1);
	assert_near((double)delivers(&x, 0), (double)before / 4, 0.02);
	assert_int_equal(ibcc_sim_fabric_set_traffic(x.fab, false), 0);
	assert_int_equal(ibcc_sim_fabric_set_traffic(x.fab, true), 0);
	run_ms(&x, 1);
	assert_near((double)delivers(&x, 0), (double)before / 4, 0.02);
	ibcc_sim_fabric_free(x.fab);
}

/* The scenario's link is slower one way, which no discovery tells; events change either way. */
static void test_directions(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct fabric x;
	uint64_t before;

	(void)state;
	fabric_open(&x);
	run_ms(&x, 1);
	see(&x, fabric_lustre());
	run_ms(&x, 1);
	before = delivers(&x, 0) + delivers(&x, 1);
	ibcc_sim_fabric_free(x.fab);
	fabric_open(&x);
	t->port[fabric_port(t, LUSTRE_SW1, 5)].rate_mbps = QDR_MBPS / 4;
	x.s.topo = t;
	x.event = (struct ibcc_event_spec){ .at_ps = 2 * IBCC_PS_PER_MS,
					    .kind = IBCC_EVENT_SEND_RATE,
					    .node = "sw2",
					    .port = 5,
					    .value = QDR_MBPS / 8 };
	x.s.event = &x.event;
	x.s.n_events = 1;
	see(&x, fabric_lustre());
	run_ms(&x, 1);
	assert_near((double)(delivers(&x, 0) + delivers(&x, 1)), (double)before / 4, 0.02);
	assert_near((double)(delivers(&x, 0) + delivers(&x, 1)), (double)before / 4, 0.02);
	assert_int_equal(ibcc_sim_fabric_set_traffic(x.fab, false), 0);
	strcpy(x.flow[1].from, "fast");
	strcpy(x.flow[1].to, "src4");
	assert_int_equal(ibcc_sim_fabric_set_traffic(x.fab, true), 0);
	run_ms(&x, 1);
	assert_near((double)delivers(&x, 0), (double)before / 4, 0.02);
	assert_near((double)delivers(&x, 1), (double)before / 8, 0.02);
	ibcc_sim_fabric_free(x.fab);
	ibcc_topo_free(t);
}

/* Nodes of both, in order; what is seen wins, what is not is down. */
static void test_merge(void **state)
{
	static const uint64_t guids[4] = { 1, 5, 7, 9 };
	struct ibcc_topo *old = ibcc_topo_new(), *seen = ibcc_topo_new(), *m;

	(void)state;
	assert_true(ibcc_topo_add_node(old, 1, IBCC_NODE_CA, 1, "a") == 0);
	assert_true(ibcc_topo_add_node(old, 5, IBCC_NODE_SWITCH, 4, "s") == 1);
	assert_true(ibcc_topo_add_node(old, 9, IBCC_NODE_CA, 1, "b") == 2);
	fabric_link(old, 0, 1, 1, 1);
	fabric_link(old, 2, 1, 1, 2);
	assert_int_equal(ibcc_route_compute(old), 0);
	assert_true(ibcc_topo_add_node(seen, 5, IBCC_NODE_SWITCH, 4, "s renamed") == 0);
	assert_true(ibcc_topo_add_node(seen, 7, IBCC_NODE_CA, 1, "c") == 1);
	assert_true(ibcc_topo_add_node(seen, 9, IBCC_NODE_CA, 1, "b") == 2);
	fabric_link(seen, 2, 1, 0, 2);
	fabric_link(seen, 1, 1, 0, 3);
	/* The LID that a had. */
	assert_int_equal(ibcc_topo_set_lid(seen, fabric_port(seen, 1, 1), old->port[1].lid, 0), 0);
	m = ibcc_merge_topo(old, seen);
	assert_non_null(m);
	assert_int_equal(m->n_nodes, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(m->node[i].guid, guids[i]);
	assert_string_equal(m->node[1].desc, "s renamed");
	assert_int_equal(m->port[fabric_port(m, 0, 1)].peer, fabric_port(m, 1, 1));
	assert_int_equal(m->port[fabric_port(m, 0, 1)].state, 1);
	assert_int_equal(m->port[fabric_port(m, 0, 1)].lid, 0);
	assert_int_equal(m->port[fabric_port(m, 3, 1)].peer, fabric_port(m, 1, 2));
	assert_int_equal(m->port[fabric_port(m, 3, 1)].state, 4);
	assert_int_equal(m->port[fabric_port(m, 2, 1)].lid, old->port[1].lid);
	assert_int_equal(m->node[1].lft_len, 0); /* as seen */
	ibcc_topo_free(m);
	ibcc_topo_free(seen);
	ibcc_topo_free(old);
}

/* A ring with small buffers stands still by and by, which the fabric can tell; pulling a cable of
 * it ends that.
 */
static void test_deadlock(void **state)
{
	struct ibcc_flow_spec flow[8] = { 0 };
	struct ibcc_scenario s = { .seed = 1, .n_flows = 8, .flow = flow };
	char buf[IBCC_DEADLOCK_BYTES];
	struct fabric x = { 0 };
	struct ibcc_topo *t;

	(void)state;
	ibcc_model_defaults(&s.model);
	s.model.routing = IBCC_ROUTING_RANDOM;
	s.model.buffer_bytes = 2 * 33 * 64;
	for (unsigned int i = 0; i < 8; i++) {
		snprintf(flow[i].from, sizeof(flow[i].from), "h%u", i);
		snprintf(flow[i].to, sizeof(flow[i].to), "h%u", (i + 4) % 8);
	}
	x.fab = ibcc_sim_fabric_new(&s);
	assert_non_null(x.fab);
	assert_int_equal(ibcc_sim_fabric_deadlock(x.fab, buf, sizeof(buf)), 0);
	see(&x, fabric_ring(4));
	run_ms(&x, 10);
	assert_int_equal(ibcc_sim_fabric_deadlock(x.fab, buf, sizeof(buf)), -EDEADLK);
	assert_non_null(strstr(buf, "waits for s3 port "));
	assert_int_equal(delivers(&x, 0), 0);
	t = fabric_ring(4);
	for (unsigned int num = 3; num <= 4; num++) {
		t->port[fabric_port(t, 8, num)].state = 1;
		t->port[t->port[fabric_port(t, 8, num)].peer].state = 1;
	}
	see(&x, t);
	run_ms(&x, 10);
	assert_int_equal(ibcc_sim_fabric_deadlock(x.fab, buf, sizeof(buf)), 0);
	assert_true(delivers(&x, 2) > 0);
	ibcc_sim_fabric_free(x.fab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_traffic_follows_the_subnet_manager),
		cmocka_unit_test(test_a_cable_pulled),
		cmocka_unit_test(test_sinks_and_events),
		cmocka_unit_test(test_link_rate),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_merge),
		cmocka_unit_test(test_deadlock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
