/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the agents of both classes share; private to them. */
#ifndef SIM_AGENTS_STATE_H
#define SIM_AGENTS_STATE_H

#include <ibcc/mad.h>
#include <ibcc/pma.h>

#include "sim/agents.h"

/* Registers of PerfMgt are differences: what the engine counted minus this. */
struct ibcc_pma_base {
	struct ibcc_pma_counters counters;
	uint64_t xmit_discards;
	struct ibcc_pma_counters_ext ext;
	uint64_t vl_wait[IBCC_PMA_VLS];
	uint64_t rcv_con_ctrl[2];
	uint64_t sl_fecn[IBCC_PMA_SLS], sl_becn[IBCC_PMA_SLS];
	uint64_t xmit_con_ctrl[1];
	uint64_t vl_time_cong[IBCC_PMA_VLS];
	uint64_t vl_congestion[IBCC_PMA_VLS];
};

struct ibcc_agent_port {
	struct ibcc_engine_port carry; /* counted by engines of the past */
	struct ibcc_pma_base base;
};

/* Class 0x21 of one endport. */
struct ibcc_agent_cc {
	struct ibcc_endport_cc regs;
	uint64_t cc_key;
	bool protect;
	uint16_t lease_s, violations;
	uint64_t lease_end_ps; /* engine time; 0: the lease timer does not run */
};

struct ibcc_agents {
	const struct ibcc_topo *topo;
	struct ibcc_engine *engine;
	struct ibcc_agents_options o;
	struct ibcc_agent_port *port; /* by fabric-wide port index */
	struct ibcc_agent_cc *cc;     /* by endport index */
	bool *no_cc;                  /* by node index */
};

int ibcc_agents_cc(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		   uint8_t *mad);
int ibcc_agents_pma(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		    uint8_t *mad);

/* Gives an endport's registers (or none, where the node has no support) to the engine. */
int ibcc_agents_cc_push(struct ibcc_agents *a, uint32_t endport);

#endif
