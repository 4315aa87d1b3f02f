/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Management agents of all endports: class 0x21 (Congestion Control) and PerfMgt, answered from the
 * packet engine, and what of subnet management is NVIDIA's own. No I/O: a datagram goes in, its
 * answer comes out.
 */
#ifndef IBCC_AGENTS_H
#define IBCC_AGENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/engine.h>
#include <ibcc/profile.h>
#include <ibcc/scenario.h>
#include <ibcc/settings.h>
#include <ibcc/topo.h>

struct ibcc_agents;

/* How a node's agents differ from good ones; of class 0x21 unless said. */
struct ibcc_agent_quirks {
	uint16_t status;     /* of the answer to every request; 0: as it should be */
	uint16_t set_status; /* of the answer to every Set of a setting, which has no effect then */
	/* As the qib driver's agent has it: CCTI_Limit must be cumulative for each block, a Get
	 * answers the block's own, a CA setting takes effect with the next table, and the mode is
	 * always SL. What it does not like it answers as if it had no such attribute.
	 */
	bool qlogic;
	bool ignores; /* takes settings from now on, and reads back right; they have no effect */
	/* Its ClassPortInfo of PerfMgt redirects to this QP of its own; at QP 1 it answers no other
	 * request of that class. 0: does not.
	 */
	uint32_t pma_qp;
	bool no_log; /* has no CongestionLog */
	/* All entries of its CongestionLog are from this LID, and to that one. 0, either: the
	 * truth. */
	uint16_t log_slid, log_dlid;
	bool no_sls;  /* has no PortXmitDataSL */
	bool no_wait; /* its ports' PortXmitWait stays zero, though claimed */
	/* The counters of its ports are wrong from now on: they report this many permille of what
	 * really happens. 0: the true count. marks: FECN and BECN, in permille of the packets
	 * received.
	 */
	uint16_t sent_permille, wait_permille, marks_permille;
	/* SymbolErrorCounter of its ports, in permille of the packets received: a bad cable. */
	uint16_t errors_permille;
	bool nvidia_cc;     /* has NVIDIA's control (ibcc_agents_set_nvidia_cc()) */
	bool no_parameters; /* is silent to NVIDIA's attributes of parameters */
	bool adaptive;      /* see struct ibcc_profile */
	uint16_t adaptive_sls;
	/* The rate of TimeStamp is off by this many thousandths, faster if positive. With -1000 it
	 * stands still at zero.
	 */
	int32_t clock_off_permille;
	int64_t clock_jump_ns; /* how far TimeStamp is ahead; negative: behind */
};

struct ibcc_agents_options {
	uint8_t cct_blocks; /* CongestionInfo:ControlTableCap of channel adapters */
	uint8_t wait_tick;  /* PortSamplesControl:Tick of nodes without IDs */
	/* Announce PortXmitWait in PortCountersExtended. It lies behind byte 224 of the datagram,
	 * where libumad2sim hands out garbage, so this is for transports that carry all bytes.
	 */
	bool ext_xmit_wait;
	/* Elements a block of SwitchPortCongestionSetting: 32 or 48; 0: switches lack it. */
	uint8_t sw_port_block;
};

/* Agents for the endports of a topology, which must be the engine's. Neither is copied; both must
 * live until the next ibcc_agents_bind() or the end. NULL without memory.
 */
struct ibcc_agents *ibcc_agents_new(const struct ibcc_topo *t, struct ibcc_engine *e,
				    const struct ibcc_agents_options *o);
void ibcc_agents_free(struct ibcc_agents *a);

/* Goes over to a new topology and engine: settings, keys and counters of ports that are in both (by
 * node GUID and number) live on, and the settings are given to the new engine. To be called while
 * the old ones still exist. -ENOMEM leaves everything as it was.
 */
int ibcc_agents_bind(struct ibcc_agents *a, const struct ibcc_topo *t, struct ibcc_engine *e);

/* Goes over to a topology of the same nodes and ports with other LIDs, tables or states; to be
 * called while the old one still exists.
 */
void ibcc_agents_rename(struct ibcc_agents *a, const struct ibcc_topo *t);

/* Answers a request for an endport (its index in the topology). `reply` gets the whole datagram.
 * Returns 0, or -ETIMEDOUT where a node would not answer: a wrong CC_Key, or no request at all.
 */
int ibcc_agents_answer(struct ibcc_agents *a, uint32_t endport, const uint8_t *rq, uint8_t *reply);

/* Nodes without support answer every request of class 0x21 with status 0x000c, but for attributes
 * that are NVIDIA's own. What was set before
 * does not work any longer, and does again when support returns.
 */
int ibcc_agents_set_support(struct ibcc_agents *a, uint32_t node, bool on);
bool ibcc_agents_support(const struct ibcc_agents *a, uint32_t node);

/* Sets which device a node is, and so its quirks. Before that, or with NULL, it is the device of
 * its IDs in the topology, or a plain one if it has none. ibcc_agents_bind() keeps it. 0 or
 * -EINVAL.
 */
int ibcc_agents_set_profile(struct ibcc_agents *a, uint32_t node, const struct ibcc_profile *p);
/* Sets the devices of all nodes of a scenario, by name, and whether they have congestion control.
 * With `known` (may be NULL) nodes that are in that topology, too, are left as they are. 0 or
 * -EINVAL.
 */
int ibcc_agents_equip(struct ibcc_agents *a, const struct ibcc_scenario *s,
		      const struct ibcc_topo *known);

/* To be read and changed at any time; NULL: there is no such node. */
struct ibcc_agent_quirks *ibcc_agents_quirks(struct ibcc_agents *a, uint32_t node);

/* Elements a block of SwitchPortCongestionSetting at a switch: 32, 48, or 0: it lacks it. -EINVAL.
 */
int ibcc_agents_set_port_block(struct ibcc_agents *a, uint32_t node, uint8_t n);

/* Share of the MADs to a node that get lost; the transport reads and applies it. 0 or -EINVAL. */
int ibcc_agents_set_loss(struct ibcc_agents *a, uint32_t node, uint16_t permille);
uint16_t ibcc_agents_loss(const struct ibcc_agents *a, uint32_t node);

/* Settings of all nodes from the start, as if written by MADs. 0 or -EINVAL. */
int ibcc_agents_load(struct ibcc_agents *a, const struct ibcc_static_cc *cc);

/* NVIDIA's control at a node: it has none, or it is off or on, as if a MAD had set the bits for
 * that. All other settings stay. Where the engine's model has DCQCN, that works at the node as its
 * settings say. A device without NVIDIA's control has no DCQCN, and a node that is no device in
 * particular works as the model says. 0, -EINVAL or -ENOMEM.
 */
int ibcc_agents_set_nvidia_cc(struct ibcc_agents *a, uint32_t node, enum ibcc_nvidia_cc v);
/* Gives a node another CC_Key, as the owner of the present one may do at any time; 0: none. What
 * else CongestionKeyInfo has stays. 0 or -EINVAL.
 */
int ibcc_agents_set_key(struct ibcc_agents *a, uint32_t node, uint64_t cc_key);
/* Sets rpg_ai_rate of an adapter in Mb/s, as an administrator does by hand; 0: the factory's. 0,
 * -EINVAL or -ENOMEM.
 */
int ibcc_agents_set_ai_rate(struct ibcc_agents *a, uint32_t node, uint16_t mbps);

/* A node reboots: its congestion control settings and its CC_Key are gone. 0 or -EINVAL. */
int ibcc_agents_forget(struct ibcc_agents *a, uint32_t node);

/* What an endport's registers hold; `element` has n_ports + 1 entries at a switch. */
const struct ibcc_endport_cc *ibcc_agents_settings(const struct ibcc_agents *a, uint32_t endport);

/* A port's counters since the start, over all engines; never reset. -EINVAL. */
int ibcc_agents_counters(struct ibcc_agents *a, uint32_t port, struct ibcc_engine_port *out);

#endif
