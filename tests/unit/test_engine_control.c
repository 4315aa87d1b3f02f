/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes of the fabric while traffic runs: links, routes, LIDs, VLs, sinks; scenarios. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/engines.h"

#define US IBCC_PS_PER_US
#define MS IBCC_PS_PER_MS

static uint32_t flow_between(struct ibcc_engine *e, uint32_t src, uint32_t dst, uint64_t stop_ps)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED, .stop_ps = stop_ps };
	int i = ibcc_engine_add_flow(e, &f, src, dst);

	assert_true(i >= 0);
	return (uint32_t)i;
}

static void test_link_down_and_up(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	struct ibcc_engine_flow f, g;
	struct ibcc_engine_port p;
	struct ibcc_engine_totals o;
	uint32_t isl = fabric_port(t, LUSTRE_SW1, 5), src = fabric_port(t, LUSTRE_SRC1, 1);

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	flow_between(e, src, fabric_port(t, LUSTRE_FAST, 1), 10 * MS);
	flow_between(e, fabric_port(t, LUSTRE_SRC2, 1), fabric_port(t, LUSTRE_FAST, 1), 10 * MS);
	engine_run(e, 1 * MS);
	/* From either end. */
	assert_int_equal(ibcc_engine_set_link(e, fabric_port(t, LUSTRE_SW2, 5), false), 0);
	assert_int_equal(ibcc_engine_set_link(e, isl, false), 0);
	engine_run(e, 1 * MS + 10 * US);
	f = engine_flow_read(e, 0);
	assert_true(f.dropped_pkts > 0);
	engine_run(e, 2 * MS);
	g = engine_flow_read(e, 0);
	assert_int_equal(g.received_pkts, f.received_pkts);
	/* Without a way on, switches throw packets away: sources go on at full rate. */
	assert_near((double)(g.dropped_pkts - f.dropped_pkts), 990e6 / 518500, 0.01);
	p = engine_port_read(e, src);
	assert_in_range(p.dropped, g.dropped_pkts - 20, g.dropped_pkts);
	assert_int_equal(ibcc_engine_set_link(e, isl, true), 0);
	engine_run(e, 3 * MS);
	f = engine_flow_read(e, 0);
	assert_near((double)(f.received_pkts - g.received_pkts), 1e9 / 518500 / 2, 0.01);
	/* The source's own link. */
	assert_int_equal(ibcc_engine_set_link(e, src, false), 0);
	engine_run(e, 3 * MS + 10 * US);
	p = engine_port_read(e, src);
	engine_run(e, 4 * MS);
	assert_int_equal(engine_port_read(e, src).xmit_pkts, p.xmit_pkts);
	assert_true(engine_port_read(e, src).xmit_wait_ps == p.xmit_wait_ps);
	assert_int_equal(ibcc_engine_set_link(e, src, true), 0);
	engine_run(e, 11 * MS);
	assert_true(engine_port_read(e, src).xmit_pkts > p.xmit_pkts + 5000);
	for (uint32_t i = 0; i < 2; i++) {
		f = engine_flow_read(e, i);
		assert_int_equal(f.sent_pkts, f.received_pkts + f.dropped_pkts);
	}
	ibcc_engine_totals(e, &o);
	assert_int_equal(o.in_flight, 0);
	assert_int_equal(o.injected, o.delivered + o.dropped);
	assert_int_equal(ibcc_engine_set_link(e, fabric_port(t, LUSTRE_SW1, 8), true), -EINVAL);
	assert_int_equal(ibcc_engine_set_link(e, t->n_ports, true), -EINVAL);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* Another root switch from now on; a table without the LID loses packets at their source. */
static void test_tables(void **state)
{
	struct ibcc_topo *t = fabric_tree2(4);
	uint32_t leaf = 8, src = fabric_port(t, 0, 1), dst = fabric_port(t, 7, 1);
	uint16_t lid = t->port[dst].lid;
	uint32_t len = t->node[leaf].lft_len;
	uint8_t *lft = malloc(len);
	struct ibcc_model m;
	struct ibcc_engine *e;
	struct ibcc_engine_flow f;

	(void)state;
	assert_non_null(lft);
	memcpy(lft, t->node[leaf].lft, len);
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	flow_between(e, src, dst, 0);
	for (uint8_t up = 3; up <= 4; up++) {
		uint64_t before = engine_port_read(e, fabric_port(t, leaf, up)).xmit_pkts;
		uint64_t other = engine_port_read(e, fabric_port(t, leaf, 7u - up)).xmit_pkts;

		lft[lid] = up;
		assert_int_equal(ibcc_engine_set_lft(e, leaf, lft, len), 0);
		engine_run(e, ibcc_engine_now_ps(e) + 1 * MS);
		assert_true(engine_port_read(e, fabric_port(t, leaf, up)).xmit_pkts >
			    before + 1900);
		assert_in_range(engine_port_read(e, fabric_port(t, leaf, 7u - up)).xmit_pkts, other,
				other + 15);
	}
	lft[lid] = IBCC_LFT_NONE;
	assert_int_equal(ibcc_engine_set_lft(e, leaf, lft, len), 0);
	assert_int_equal(engine_port_read(e, src).dropped, 0);
	engine_run(e, ibcc_engine_now_ps(e) + 1 * MS);
	f = engine_flow_read(e, 0);
	assert_true(f.dropped_pkts > 1900);
	assert_int_equal(engine_port_read(e, src).dropped, f.dropped_pkts);
	/* A new LID that the tables know. */
	assert_int_equal(ibcc_engine_set_lid(e, dst, (uint16_t)(len + 5)), 0);
	engine_run(e, ibcc_engine_now_ps(e) + 100 * US);
	assert_true(engine_flow_read(e, 0).dropped_pkts > f.dropped_pkts);
	assert_int_equal(ibcc_engine_set_lft(e, 0, lft, len), -EINVAL);
	assert_int_equal(ibcc_engine_set_lid(e, fabric_port(t, leaf, 1), 9), -EINVAL);
	assert_int_equal(ibcc_engine_set_lid(e, src, IBCC_LID_MAX + 1), -EINVAL);
	free(lft);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* A packet whose LID is not the receiver's is lost there. */
static void test_wrong_receiver(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t dst = fabric_port(t, LUSTRE_FAST, 1);
	uint16_t lid = t->port[dst].lid;
	struct ibcc_model m;
	struct ibcc_engine *e;
	uint64_t before;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	flow_between(e, fabric_port(t, LUSTRE_SRC1, 1), dst, 0);
	engine_run(e, 100 * US);
	assert_int_equal(ibcc_engine_set_lid(e, dst, 0x100), 0);
	assert_int_equal(ibcc_engine_set_lid(e, fabric_port(t, LUSTRE_SLOW, 1), lid), 0);
	before = engine_flow_read(e, 0).received_pkts;
	/* Two packets with the old address are under way to the old receiver, later ones have an
	 * address that the first switch does not know.
	 */
	engine_run(e, 200 * US);
	assert_int_equal(engine_flow_read(e, 0).received_pkts, before);
	assert_in_range(engine_port_read(e, dst).rcv_pkts - before, 1, 2);
	assert_near((double)engine_flow_read(e, 0).dropped_pkts, 100e6 / 518500, 0.02);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

static void map_sl1(struct ibcc_engine *e, const struct ibcc_topo *t, uint8_t to)
{
	uint8_t vl[16] = { 0 };

	vl[1] = to;
	for (uint32_t n = 0; n < t->n_nodes; n++) {
		unsigned int ports = t->node[n].n_ports;

		for (unsigned int in = 0; in <= (ibcc_topo_is_switch(t, n) ? ports : 0); in++)
			for (unsigned int out = 1; out <= ports; out++)
				assert_int_equal(ibcc_engine_set_sl2vl(e, n, in, out, vl), 0);
	}
}

/* Congestion on one VL leaves another alone, as long as the SLs map to two. */
static void test_virtual_lanes(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t isl = fabric_port(t, LUSTRE_SW1, 5);
	uint8_t vl[16] = { 0 };
	struct ibcc_model m;
	struct ibcc_engine *e;
	struct ibcc_engine_port a, b;
	struct engine_rates r;

	(void)state;
	ibcc_model_defaults(&m);
	m.vls = 2;
	e = engine_new(t, &m, 1);
	map_sl1(e, t, 1);
	assert_int_equal(ibcc_engine_set_sink_rate(e, fabric_port(t, LUSTRE_SLOW, 1), 14960), 0);
	for (uint32_t i = 0; i < 3; i++)
		engine_flow(e, t, LUSTRE_SRC1 + i, LUSTRE_SLOW, 0);
	engine_flow(e, t, LUSTRE_SRC4, LUSTRE_FAST, 1);
	engine_run(e, 1 * MS);
	a = engine_port_read(e, isl);
	engine_rates(e, 1 * MS, 5 * MS, &r);
	b = engine_port_read(e, isl);
	assert_near(r.mbytes[0] + r.mbytes[1] + r.mbytes[2], 1870, 0.01);
	/* What the link, 4000 MB/s with headers, has left. */
	assert_near(r.mbytes[3], 4000. * 2048 / 2074 - 1870, 0.01);
	/* The link is never idle; VL 0 waits while it has no credits or VL 1 sends. */
	assert_true(b.xmit_wait_ps - a.xmit_wait_ps < 4 * MS / 100);
	assert_near((double)(b.vl_xmit_wait_ps[0] - a.vl_xmit_wait_ps[0]),
		    4e9 * (1 - 1870. * 2074 / 2048 / 4000), 0.02);
	/* Both on one VL: the victim gets a third of the drain again. */
	map_sl1(e, t, 0);
	engine_rates(e, 6 * MS, 10 * MS, &r);
	assert_near(r.mbytes[3], 623.3, 0.01);
	/* To VL 15: discarded by the switch. */
	vl[1] = 15;
	for (unsigned int in = 0; in <= 8; in++)
		assert_int_equal(ibcc_engine_set_sl2vl(e, LUSTRE_SW1, in, 5, vl), 0);
	engine_rates(e, 11 * MS, 12 * MS, &r);
	assert_near(r.mbytes[3], 0, 0);
	assert_true(engine_flow_read(e, 3).dropped_pkts > 1900);
	/* To VL 15 at the adapter: never sent. */
	assert_int_equal(ibcc_engine_set_sl2vl(e, LUSTRE_SRC4, 0, 1, vl), 0);
	engine_run(e, 12 * MS + 1 * US);
	a = engine_port_read(e, fabric_port(t, LUSTRE_SRC4, 1));
	engine_run(e, 13 * MS);
	assert_int_equal(engine_port_read(e, fabric_port(t, LUSTRE_SRC4, 1)).xmit_pkts,
			 a.xmit_pkts);
	assert_int_equal(ibcc_engine_set_sl2vl(e, LUSTRE_SRC4, 1, 1, vl), -EINVAL);
	assert_int_equal(ibcc_engine_set_sl2vl(e, LUSTRE_SW1, 0, 9, vl), -EINVAL);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

static void scenario_lustre(struct ibcc_scenario *s)
{
	memset(s, 0, sizeof(*s));
	s->topo = fabric_lustre();
	ibcc_model_defaults(&s->model);
	s->n_flows = 4;
	s->flow = calloc(4, sizeof(*s->flow));
	s->n_events = 3;
	s->event = calloc(3, sizeof(*s->event));
	s->n_no_cc = 1;
	s->no_cc = calloc(1, sizeof(*s->no_cc));
	assert_true(s->flow && s->event && s->no_cc);
	for (unsigned int i = 0; i < 4; i++) {
		snprintf(s->flow[i].from, IBCC_NAME_BYTES, "src%u", i + 1);
		strcpy(s->flow[i].to, i < 3 ? "slow" : "fast");
	}
	s->event[0] = (struct ibcc_event_spec){
		.at_ps = 1 * MS, .kind = IBCC_EVENT_SINK_RATE, .node = "slow", .value = 14960
	};
	s->event[1] = (struct ibcc_event_spec){
		.at_ps = 6 * MS, .kind = IBCC_EVENT_LINK_DOWN, .node = "sw2", .port = 2
	};
	s->event[2] = (struct ibcc_event_spec){
		.at_ps = 8 * MS, .kind = IBCC_EVENT_LINK_UP, .node = "sw2", .port = 2
	};
	strcpy(s->no_cc[0], "src2");
	s->cc.enabled = true;
	s->cc.sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	s->cc.ca.Control_Map = 0xffff;
	s->cc.ca.sl[0].CCTI_Min = 1;
	s->cc.cct.limit = 1;
}

static void test_scenario(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e;
	struct engine_rates r;
	const char *bad = NULL;

	(void)state;
	scenario_lustre(&s);
	e = engine_new(s.topo, &s.model, 1);
	assert_int_equal(ibcc_engine_load(e, &s, &bad), 0);
	assert_int_equal(ibcc_engine_n_flows(e), 4);
	assert_string_equal(ibcc_engine_flow_spec(e, 3)->to, "fast");
	assert_int_equal(engine_flow_read(e, 0).ccti, 1);
	assert_int_equal(engine_flow_read(e, 1).ccti, 0); /* src2 has no congestion control */
	engine_rates(e, 500 * US, 1 * MS, &r); /* the shared link is full: a quarter each */
	for (int i = 0; i < 4; i++)
		assert_near(r.mbytes[i], 3949.9 / 4, 0.01);
	engine_rates(e, 2 * MS, 6 * MS, &r);
	assert_near(r.mbytes[3], 623.3, 0.01);
	engine_rates(e, 6 * MS + 10 * US, 8 * MS, &r);
	assert_near(r.mbytes[3], 0, 0);
	engine_rates(e, 9 * MS, 12 * MS, &r);
	assert_near(r.mbytes[3], 623.3, 0.01);
	ibcc_engine_free(e);
	ibcc_scenario_fini(&s);
	ibcc_scenario_fini(NULL);
}

static void test_scenario_names(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e;
	const char *bad = NULL;

	(void)state;
	for (int i = 0; i < 4; i++) {
		scenario_lustre(&s);
		strcpy(i == 0   ? s.flow[2].from
		       : i == 1 ? s.flow[2].to
		       : i == 2 ? s.event[1].node
				: s.no_cc[0],
		       i == 1 ? "sw1" : "nobody"); /* traffic does not end at a switch */
		e = engine_new(s.topo, &s.model, 1);
		assert_int_equal(ibcc_engine_load(e, &s, &bad), -ENOENT);
		assert_string_equal(bad, i == 1 ? "sw1" : "nobody");
		assert_int_equal(ibcc_engine_load(e, &s, NULL), -ENOENT);
		ibcc_engine_free(e);
		ibcc_scenario_fini(&s);
	}
}

/* A sink becomes slow, at any moment, while the switch before it waits for credits: those of
 * packets on the link are given once. engine_run() counts them.
 */
static void test_sink_in_a_run(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t port = fabric_port(t, LUSTRE_FAST, 1);
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	m.hca_buffer_bytes = 2 * 33 * 64;
	m.link_delay_ps = IBCC_PS_PER_US;
	for (unsigned int i = 0; i < 40; i++) {
		struct ibcc_engine *e = engine_new(t, &m, 1);

		engine_flow(e, t, LUSTRE_SRC1, LUSTRE_FAST, 0);
		engine_flow(e, t, LUSTRE_SRC2, LUSTRE_FAST, 0);
		engine_run(e, 100 * IBCC_PS_PER_US + i * 100 * IBCC_PS_PER_NS);
		assert_int_equal(ibcc_engine_set_sink_rate(e, port, 4000), 0);
		engine_run(e, 110 * IBCC_PS_PER_US);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

/* The link of a slow sink goes down and comes up while packets wait in the sink's buffer: the
 * sender has credits only for what is free there, which engine_run() adds up.
 */
static void link_up_before_a_full_buffer(void **state)
{
	struct ibcc_topo *t = fabric_tree2(4);
	uint32_t sink = fabric_port(t, 0, 1);
	struct ibcc_engine *e;
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_set_sink_rate(e, sink, 100), 0);
	engine_flow(e, t, 1, 0, 0);
	engine_run(e, IBCC_PS_PER_MS);
	assert_int_equal(ibcc_engine_set_link(e, sink, false), 0);
	assert_int_equal(ibcc_engine_set_link(e, sink, true), 0);
	engine_run(e, IBCC_PS_PER_MS + IBCC_PS_PER_US);
	engine_run(e, 3 * IBCC_PS_PER_MS);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* An SL without packets moves to another VL, and so back: nothing has waited. */
static void test_empty_sl_moves(void **state)
{
	struct ibcc_flow_spec f = {
		.arrivals = IBCC_ARRIVALS_PERIODIC, .rate_mbps = 1000, .sl = 1, .start_ps = 10 * MS
	};
	struct ibcc_topo *t = fabric_lustre();
	uint32_t src = fabric_port(t, LUSTRE_SRC4, 1);
	struct ibcc_engine_port p;
	struct ibcc_model m;
	struct ibcc_engine *e;
	uint8_t vl[16] = { 0 };

	(void)state;
	ibcc_model_defaults(&m);
	m.vls = 2;
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_add_flow(e, &f, src, fabric_port(t, LUSTRE_FAST, 1)), 0);
	for (unsigned int i = 1; i <= 6; i++) {
		engine_run(e, i * 2 * MS);
		vl[1] = i % 2;
		assert_int_equal(ibcc_engine_set_sl2vl(e, LUSTRE_SRC4, 0, 1, vl), 0);
		p = engine_port_read(e, src);
		assert_true(p.xmit_wait_ps == 0);
		assert_true(p.vl_xmit_wait_ps[0] == 0 && p.vl_xmit_wait_ps[1] == 0);
	}
	assert_true(p.xmit_pkts > 0);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(link_up_before_a_full_buffer),
		cmocka_unit_test(test_link_down_and_up),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_wrong_receiver),
		cmocka_unit_test(test_virtual_lanes),
		cmocka_unit_test(test_empty_sl_moves),
		cmocka_unit_test(test_scenario),
		cmocka_unit_test(test_scenario_names),
		cmocka_unit_test(test_sink_in_a_run),
	};

	return cmocka_run_group_tests_name("engine_control", tests, NULL, NULL);
}
