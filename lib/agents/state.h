/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The state that the agents of all classes share. Private to lib/agents. */
#ifndef LIB_AGENTS_STATE_H
#define LIB_AGENTS_STATE_H

#include <ibcc/agents.h>
#include <ibcc/mad.h>
#include <ibcc/vendor_cc.h>

/* ClassPortInfo:RespTimeValue: 4.096 us * 2^18, about a second. */
#define RESP_TIME_VALUE 18u

/* PerfMgt's counters as one row for each port: where an attribute's begin, in the order in which
 * its CounterSelect numbers them.
 */
enum {
	PMA_COUNTERS = 0,                    /* 16 and PortXmitWait */
	PMA_EXT = PMA_COUNTERS + 17,         /* 8 and PortXmitWait */
	PMA_VL_WAIT = PMA_EXT + 9,           /* 16 */
	PMA_VL_CONG = PMA_VL_WAIT + 16,      /* 16 */
	PMA_CON_CTRL = PMA_VL_CONG + 16,     /* 2 */
	PMA_SL_FECN = PMA_CON_CTRL + 2,      /* 16 */
	PMA_SL_BECN = PMA_SL_FECN + 16,      /* 16 */
	PMA_XMIT_CON = PMA_SL_BECN + 16,     /* 1 */
	PMA_VL_TIME_CONG = PMA_XMIT_CON + 1, /* 15 */
	PMA_SL_XMIT = PMA_VL_TIME_CONG + 15, /* 16 */
	PMA_ROW = PMA_SL_XMIT + 16,
};

enum { LIE_BYTES, LIE_PACKETS, LIE_WAIT, LIE_FECN, LIE_BECN, LIE_COUNT };

/* The false part of a port's counters (see struct ibcc_agent_quirks). When a port counts truthfully
 * again, its registers keep their distance from the truth, so that they never go back.
 */
struct ibcc_agent_lie {
	uint64_t seen[LIE_COUNT], seen_rcv_pkts; /* true counts at the last reading */
	int64_t more[LIE_COUNT];                 /* what is added to the true counts */
};

/* PerfMgt of one port. */
struct ibcc_agent_port {
	uint32_t rate_mbps;            /* the last that was not 0: a link may go down */
	struct ibcc_engine_port carry; /* counted by former engines (ibcc_agents_bind()) */
	struct ibcc_agent_lie lie;
	uint64_t base[PMA_ROW]; /* what the engines had counted at the last reset */
};

/* Class 0x21 of one endport. */
struct ibcc_agent_cc {
	struct ibcc_endport_cc regs;
	uint64_t cc_key;
	bool protect;
	uint16_t lease_s, violations;
	uint64_t lease_end_ps; /* engine time; 0: the lease timer does not run */
	/* QLogic's rules: */
	struct ibcc_cc_ca_setting ca_latent; /* takes effect with the next table */
	uint16_t cct_entries;                /* of the table that is being sent */
};

/* NVIDIA's settings of one port, as MADs have them. A switch has its general settings at port 0,
 * and profiles and SLs at the others. `set`: by a MAD, or by hand; else the engine's model holds.
 */
enum {
	VENDOR_GENERAL,
	VENDOR_PROFILE,
	VENDOR_SLS,
	VENDOR_RP = VENDOR_PROFILE, /* an adapter's */
	VENDOR_NP = VENDOR_SLS,
	VENDOR_REGISTERS
};
struct ibcc_agent_vendor {
	uint8_t reg[VENDOR_REGISTERS][IBCC_VCC_PARAMETER_BYTES];
	bool set[VENDOR_REGISTERS];
};

struct ibcc_agents {
	const struct ibcc_topo *topo;
	struct ibcc_engine *engine;
	struct ibcc_agents_options o;
	struct ibcc_agent_port *port;     /* by fabric-wide port index */
	struct ibcc_agent_vendor *vendor; /* by fabric-wide port index */
	struct ibcc_agent_cc *cc;         /* by endport index */
	bool *no_cc;                      /* by node index */
	uint16_t *loss_permille;          /* by node index */
	struct ibcc_agent_quirks *quirks; /* by node index */
	struct ibcc_profile *profile;     /* by node index */
};

/* Answer a request of class 0x21 and of PerfMgt, in place. Return the answer's MAD status, or
 * -ETIMEDOUT: the node does not answer.
 */
int ibcc_agents_cc(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		   uint8_t *mad);
int ibcc_agents_pma(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
		    uint8_t *mad);

/* Attributes from here on are NVIDIA's own, of class 0x21 and of subnet management. */
#define VENDOR_ATTR IBCC_VCC_ATTR_FIRST
int ibcc_agents_vendor_cc(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
			  uint8_t *mad);
/* Reads or writes a register of NVIDIA's settings; the answer's status. */
int ibcc_agents_vendor_register(struct ibcc_agents *a, uint32_t endport,
				const struct ibcc_mad_header *h, uint8_t *mad);
/* Whether an adapter slows down for CNPs. */
bool ibcc_agents_vendor_reacts(const struct ibcc_agents *a, uint32_t endport);
/* A node's registers become what they are at the start, with the control off. */
void ibcc_agents_vendor_reset(struct ibcc_agents *a, uint32_t node);
/* Gives an endport's settings to the engine. A device without NVIDIA's control has no DCQCN. */
int ibcc_agents_vendor_push(struct ibcc_agents *a, uint32_t endport);
int ibcc_agents_vendor_info(struct ibcc_agents *a, uint32_t endport,
			    const struct ibcc_mad_header *h, uint8_t *mad);
int ibcc_agents_vendor_smp(struct ibcc_agents *a, uint32_t endport, const struct ibcc_mad_header *h,
			   uint8_t *mad);

/* Gives an endport's registers (or none, where the node has no support) to the engine. */
int ibcc_agents_cc_push(struct ibcc_agents *a, uint32_t endport);

#endif
