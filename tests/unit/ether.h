/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Small Ethernets: hosts a, b and c at one switch; c's link may be slower than the others. */
#ifndef TEST_ETHER_H
#define TEST_ETHER_H

#include "engines.h"

#define US           IBCC_PS_PER_US
#define ETHER_MBPS   10000u
#define ETHER_PACKET 1500u

enum { ETHER_A, ETHER_B, ETHER_C, ETHER_SWITCH };

struct ether {
	struct ibcc_topo *topo;
	struct ibcc_model model;
	struct ibcc_engine *e;
};

/* Packets of 1500 bytes; a switch that begins to send a packet as its first bit comes in, links of
 * 1 us, PAUSE in effect 0.5 us after that.
 */
static inline void ether_model(struct ether *x, uint32_t c_mbps)
{
	struct ibcc_model *m = &x->model;

	x->topo = ibcc_topo_new();
	assert_non_null(x->topo);
	fabric_node(x->topo, IBCC_NODE_CA, 1, "a");
	fabric_node(x->topo, IBCC_NODE_CA, 1, "b");
	fabric_node(x->topo, IBCC_NODE_CA, 1, "c");
	fabric_node(x->topo, IBCC_NODE_SWITCH, 4, "switch");
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(ibcc_topo_link(x->topo, i, 1, ETHER_SWITCH, i + 1,
						i == ETHER_C ? c_mbps : ETHER_MBPS, 2048),
				 0);
	assert_int_equal(ibcc_route_compute(x->topo), 0);
	ibcc_model_defaults(m);
	m->packet_bytes = ETHER_PACKET;
	m->header_bytes = 0;
	m->flow_control = IBCC_FLOW_CONTROL_PAUSE;
	m->arbitration = IBCC_ARBITRATION_FIFO;
	m->link_delay_ps = 1 * US;
	m->switch_delay_ps = 0;
	m->credit_delay_ps = US / 2;
	m->buffer_bytes = 600000;
	m->hca_buffer_bytes = 30000;
	m->pause_headroom_bytes = 15000;
	m->pause_xon_permille = 500;
}

static inline void ether_start(struct ether *x)
{
	x->e = engine_new(x->topo, &x->model, 1);
}

static inline void ether_free(struct ether *x)
{
	ibcc_engine_free(x->e);
	ibcc_topo_free(x->topo);
}

static inline uint32_t ether_flow(struct ether *x, uint32_t from, uint32_t to)
{
	return engine_flow(x->e, x->topo, from, to, 0);
}

/* Sends one packet in each interval. */
static inline uint32_t ether_periodic(struct ether *x, uint32_t from, uint32_t to, uint32_t mbps)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC, .rate_mbps = mbps };
	int i = ibcc_engine_add_flow(x->e, &f, fabric_port(x->topo, from, 1),
				     fabric_port(x->topo, to, 1));

	assert_true(i >= 0);
	return (uint32_t)i;
}

static inline struct ibcc_engine_port ether_port(struct ether *x, uint32_t node, unsigned int num)
{
	return engine_port_read(x->e, fabric_port(x->topo, node, num));
}

#endif
