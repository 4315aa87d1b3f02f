/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PortXmitDataSL: what the engine counts by SL, against its flows, and which SLs a port is said to
 * send on.
 */
#include <ibcc/collect.h>
#include <ibcc/inproc.h>

#include "lib/agents/state.h"
#include "tests/unit/agents.h"

#define SL(n)     (uint16_t)(1u << (n))
#define DATA_SL   0x36
#define PASS_PS   IBCC_PS_PER_MS
#define IN_FLIGHT 64u /* packets between two ports, at most */

struct rig {
	struct agent_fabric f;
	struct ibcc_transport *tr;
	struct ibcc_collector *c;
	struct ibcc_snapshot s;
	uint32_t port[3]; /* to the slow sink, to the fast one, between the switches */
	uint16_t sls[3];
};

static void flow(struct rig *r, uint32_t from, uint32_t to, uint8_t sl, uint64_t stop_ps)
{
	struct ibcc_flow_spec spec = { .arrivals = IBCC_ARRIVALS_BACKLOGGED,
				       .sl = sl,
				       .stop_ps = stop_ps };

	assert_true(ibcc_engine_add_flow(r->f.engine, &spec, fabric_port(r->f.topo, from, 1),
					 fabric_port(r->f.topo, to, 1)) >= 0);
}

static void open_rig(struct rig *r)
{
	*r = (struct rig){ .s = { 0 } };
	agents_open(&r->f, 48);
	r->tr = ibcc_inproc_new(r->f.agents, r->f.engine, r->f.topo, NULL);
	r->c = ibcc_collector_new();
	assert_true(r->tr && r->c);
	assert_int_equal(ibcc_snapshot_init(&r->s, r->f.topo), 0);
	r->port[0] = fabric_port(r->f.topo, LUSTRE_SW2, 1);
	r->port[1] = fabric_port(r->f.topo, LUSTRE_SW2, 2);
	r->port[2] = fabric_port(r->f.topo, LUSTRE_SW1, 5);
}

static void close_rig(struct rig *r)
{
	ibcc_snapshot_fini(&r->s);
	ibcc_collector_free(r->c);
	ibcc_transport_free(r->tr);
	agents_close(&r->f);
}

static void pass(struct rig *r)
{
	engine_run(r->f.engine, ibcc_engine_now_ps(r->f.engine) + PASS_PS);
	assert_int_equal(ibcc_collector_pass(r->c, r->tr, r->f.topo, &r->s, 0, NULL), 0);
	assert_int_equal(ibcc_collector_read_sls(r->c, r->tr, r->f.topo, &r->s, r->port, 3, r->sls),
			 0);
}

static void look(struct rig *r)
{
	pass(r);
	assert_int_equal(r->tr->stats.sets, 0);
}

/* Words of an SL by the agent, as libibmad reads them. */
static uint64_t words(struct rig *r, uint32_t node, unsigned int port, unsigned int sl)
{
	agents_clear(&r->f);
	agents_put(&r->f, 0, IB_PC_PORT_SELECT_F, port);
	assert_int_equal(agents_send(&r->f, node, 4, 1, 1, DATA_SL, 0), OK);
	return agents_field(&r->f, 0, (enum MAD_FIELDS)(IB_PC_XMT_DATA_SL0_F + sl));
}

/* What comes at a sink on an SL was sent there by its switch, and between the switches. */
static void test_counts(void **state)
{
	static const struct {
		uint32_t from, to;
		uint8_t sl;
	} flows[] = {
		{ LUSTRE_SRC1, LUSTRE_SLOW, 3 },
		{ LUSTRE_SRC2, LUSTRE_SLOW, 0 },
		{ LUSTRE_SRC3, LUSTRE_FAST, 5 },
		{ LUSTRE_SRC4, LUSTRE_FAST, 3 },
	};
	struct ibcc_engine_port own;
	uint64_t packet, sum = 0;
	struct rig r;

	(void)state;
	open_rig(&r);
	/* One SL first, and the others when it has been counted for a while. */
	for (uint32_t i = 0; i < 4; i++) {
		flow(&r, flows[i].from, flows[i].to, flows[i].sl, 0);
		engine_run(r.f.engine, ibcc_engine_now_ps(r.f.engine) + PASS_PS);
	}
	own = engine_port_read(r.f.engine, fabric_port(r.f.topo, LUSTRE_SRC1, 1));
	packet = own.xmit_bytes / own.xmit_pkts;
	assert_int_equal(own.xmit_bytes % own.xmit_pkts, 0);
	assert_int_equal(words(&r, LUSTRE_SRC1, 1, 3), own.xmit_bytes / 4);
	for (uint32_t i = 0; i < 4; i++) {
		struct ibcc_engine_flow f = engine_flow_read(r.f.engine, i);
		unsigned int port = flows[i].to == LUSTRE_SLOW ? 1 : 2;

		assert_true(f.received_pkts > 100);
		assert_in_range(words(&r, LUSTRE_SW2, port, flows[i].sl),
				f.received_pkts * packet / 4,
				(f.received_pkts + IN_FLIGHT) * packet / 4);
	}
	for (unsigned int sl = 0; sl < 16; sl++) {
		sum += words(&r, LUSTRE_SW1, 5, sl);
		if (sl != 0 && sl != 3 && sl != 5)
			assert_int_equal(words(&r, LUSTRE_SW1, 5, sl), 0);
	}
	own = engine_port_read(r.f.engine, r.port[2]);
	assert_in_range(sum, own.xmit_bytes / 4 - 16, own.xmit_bytes / 4);
	close_rig(&r);
}

static void test_masks(void **state)
{
	struct rig r;

	(void)state;
	open_rig(&r);
	flow(&r, LUSTRE_SRC1, LUSTRE_SLOW, 0, 0);
	flow(&r, LUSTRE_SRC2, LUSTRE_SLOW, 3, 2 * PASS_PS);
	/* When the counts began is unknown. */
	look(&r);
	assert_int_equal(r.sls[0], 0);
	look(&r);
	assert_int_equal(r.sls[0], SL(0) | SL(3));
	assert_int_equal(r.sls[2], SL(0) | SL(3));
	/* Nor of a port that has sent nothing. */
	assert_int_equal(r.sls[1], 0);
	/* An adapter sends on what it has queued; from here on nothing. */
	for (int i = 0; i < 3; i++)
		look(&r);
	assert_int_equal(r.sls[0], SL(0));
	assert_int_equal(r.sls[2], SL(0));
	/* A counter at its end may have gone on. */
	r.f.agents->port[r.port[0]].carry.sl_xmit_bytes[3] = 1ull << 40;
	look(&r);
	look(&r);
	assert_int_equal(r.sls[0], SL(0) | SL(3));
	assert_int_equal(r.sls[2], SL(0));
	close_rig(&r);
}

/* Little of an SL, as of MADs, is nothing. */
static void test_share(void **state)
{
	struct rig r;

	(void)state;
	open_rig(&r);
	flow(&r, LUSTRE_SRC1, LUSTRE_FAST, 4, 0);
	look(&r);
	look(&r);
	assert_int_equal(r.sls[1], SL(4));
	r.f.agents->port[r.port[1]].carry.sl_xmit_bytes[0] += 40000; /* of some 4 MB */
	look(&r);
	assert_int_equal(r.sls[1], SL(4));
	r.f.agents->port[r.port[1]].carry.sl_xmit_bytes[0] += 400000;
	look(&r);
	assert_int_equal(r.sls[1], SL(0) | SL(4));
	close_rig(&r);
}

/* Not all that is sent is counted by SL: then others may have it. */
static void test_not_all(void **state)
{
	struct ibcc_agent_port *a;
	struct rig r;

	(void)state;
	open_rig(&r);
	flow(&r, LUSTRE_SRC1, LUSTRE_FAST, 4, 0);
	look(&r);
	a = &r.f.agents->port[r.port[1]];
	for (int i = 0; i < 4; i++) {
		a->carry.xmit_bytes += 10000000; /* beside some 4 MB */
		look(&r);
		assert_int_equal(r.sls[1], 0);
	}
	look(&r);
	assert_int_equal(r.sls[1], SL(4));
	close_rig(&r);
}

/* Counters that had come to their end before tell nothing. */
static void test_full_from_the_start(void **state)
{
	struct rig r;

	(void)state;
	open_rig(&r);
	flow(&r, LUSTRE_SRC1, LUSTRE_FAST, 4, 0);
	r.f.agents->port[r.port[1]].carry.sl_xmit_bytes[4] = 1ull << 40;
	for (int i = 0; i < 4; i++) {
		look(&r);
		assert_int_equal(r.sls[1], 0);
	}
	close_rig(&r);
}

/* Unless a program clears them, as it may. */
static void test_cleared(void **state)
{
	struct rig r;

	(void)state;
	open_rig(&r);
	flow(&r, LUSTRE_SRC1, LUSTRE_FAST, 4, 0);
	flow(&r, LUSTRE_SRC2, LUSTRE_SLOW, 2, 0);
	r.f.agents->port[r.port[1]].carry.sl_xmit_bytes[4] = 1ull << 40;
	look(&r);
	assert_int_equal(words(&r, LUSTRE_SW2, 2, 4), UINT32_MAX);
	assert_int_equal(ibcc_collector_clear_sls(r.c, r.tr, r.f.topo, r.port, 3), 0);
	assert_int_equal(words(&r, LUSTRE_SW2, 2, 4), 0);
	assert_true(words(&r, LUSTRE_SW2, 1, 2) > 0);
	assert_int_equal(r.tr->stats.sets, 1);
	pass(&r);
	assert_int_equal(r.sls[1], SL(4));
	assert_int_equal(r.sls[0], SL(2));
	/* None is near its end now. */
	assert_int_equal(ibcc_collector_clear_sls(r.c, r.tr, r.f.topo, r.port, 3), 0);
	assert_int_equal(r.tr->stats.sets, 1);
	close_rig(&r);
}

/* One that came to its end since then has counted as much at least: that is all that was sent, or
 * the rest is not known.
 */
static void test_full_again(void **state)
{
	const uint64_t end = 4ull * UINT32_MAX;
	struct rig r;

	(void)state;
	for (int k = 0; k < 2; k++) {
		struct ibcc_agent_port *a;

		open_rig(&r);
		flow(&r, LUSTRE_SRC1, LUSTRE_FAST, 4, 0);
		look(&r);
		a = &r.f.agents->port[r.port[1]];
		a->carry.sl_xmit_bytes[4] += end;
		a->carry.xmit_bytes += k ? 2 * end : end;
		look(&r);
		assert_int_equal(r.sls[1], k ? 0 : SL(4));
		close_rig(&r);
	}
}

static void test_silence(void **state)
{
	uint64_t sent;
	struct rig r;

	(void)state;
	open_rig(&r);
	flow(&r, LUSTRE_SRC1, LUSTRE_SLOW, 2, 0);
	look(&r);
	look(&r);
	assert_int_equal(r.sls[0], SL(2));
	assert_int_equal(ibcc_agents_set_loss(r.f.agents, LUSTRE_SW2, 1000), 0);
	for (int i = 0; i < 3; i++) {
		look(&r);
		assert_int_equal(r.sls[0], SL(2));
	}
	look(&r);
	assert_int_equal(r.sls[0], 0);
	assert_int_equal(r.sls[2], SL(2)); /* another switch's */
	/* It is asked ever more seldom, and believed again at once. */
	sent = r.tr->stats.sent;
	for (int i = 0; i < 3; i++)
		assert_int_equal(
			ibcc_collector_read_sls(r.c, r.tr, r.f.topo, &r.s, r.port, 1, r.sls), 0);
	assert_true(r.tr->stats.sent <= sent + 1);
	assert_int_equal(ibcc_agents_set_loss(r.f.agents, LUSTRE_SW2, 0), 0);
	for (int i = 0; i < 8; i++)
		look(&r);
	assert_int_equal(r.sls[0], SL(2));
	close_rig(&r);
}

/* An adapter whose driver takes every attribute for PortCounters tells nothing about SLs. */
static void test_other_answer(void **state)
{
	uint32_t port;
	uint16_t sls;
	struct rig r;

	(void)state;
	open_rig(&r);
	flow(&r, LUSTRE_SRC1, LUSTRE_SLOW, 2, 0);
	assert_int_equal(ibcc_agents_set_profile(r.f.agents, LUSTRE_SRC1, ibcc_profile(2)), 0);
	look(&r);
	port = fabric_port(r.f.topo, LUSTRE_SRC1, 1);
	assert_int_equal(ibcc_collector_read_sls(r.c, r.tr, r.f.topo, &r.s, &port, 1, &sls), 0);
	assert_int_equal(sls, 0);
	close_rig(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts),
		cmocka_unit_test(test_masks),
		cmocka_unit_test(test_share),
		cmocka_unit_test(test_silence),
		cmocka_unit_test(test_other_answer),
		cmocka_unit_test(test_not_all),
		cmocka_unit_test(test_full_from_the_start),
		cmocka_unit_test(test_cleared),
		cmocka_unit_test(test_full_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
