/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The packet engine: a fabric in virtual time, deterministic for a seed.
 *
 * Time is in integer picoseconds from 0. Control plane state (tables, links, settings) may be
 * changed between calls of ibcc_engine_run() and counts from then on, as on hardware.
 */
#ifndef IBCC_ENGINE_H
#define IBCC_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/ccmad.h>
#include <ibcc/scenario.h>
#include <ibcc/topo.h>

struct ibcc_engine;

/* Builds the engine for a topology with routes (LIDs and LFTs; switches without a route drop
 * nothing but count the packet as unroutable at its source). Node and port indices are the
 * topology's. The topology is copied. NULL and *err = -EINVAL or -ENOMEM on failure.
 */
struct ibcc_engine *ibcc_engine_new(const struct ibcc_topo *t, const struct ibcc_model *m,
				    uint64_t seed, int *err);
void ibcc_engine_free(struct ibcc_engine *e);

/* Adds traffic between ports (fabric-wide indices); dst_port IBCC_NONE: uniformly to all other
 * channel adapter ports that have a link. Flows between the same ports on one SL share a queue
 * pair, hence its congestion control; packets that arrived before stop_ps are still sent after it.
 * from/to of the spec are not used. Returns the flow's index, -ENOMEM, or -EINVAL, also if a buffer
 * cannot hold a packet of the flow, or its packets have one size more than IBCC_OTHER_SIZES.
 */
int ibcc_engine_add_flow(struct ibcc_engine *e, const struct ibcc_flow_spec *f, uint32_t src_port,
			 uint32_t dst_port);

/* Gives paths the SLs that a scenario has for them (ibcc_scenario.sls), before flows are
 * added; packets and their answers then have the SL of their path in place of their flow's.
 * -ENOMEM.
 */
int ibcc_engine_load_paths(struct ibcc_engine *e, const struct ibcc_scenario *s);

/* Adds all flows and events of a scenario, found by node description in the engine's topology.
 * -ENOENT: *bad (may be NULL) names the missing node.
 */
int ibcc_engine_load(struct ibcc_engine *e, const struct ibcc_scenario *s, const char **bad);

/* Advances time to until_ps (not before now). Returns 0, -ENOMEM. */
int ibcc_engine_run(struct ibcc_engine *e, uint64_t until_ps);
uint64_t ibcc_engine_now_ps(const struct ibcc_engine *e);

/* Gives each port and VL of a switch, or of a channel adapter, a buffer of this size. Only before
 * time runs, and before flows are added. Returns 0, or -EINVAL: no such node, too late, or a buffer
 * of the model's packets that holds none; with PAUSE, one whose headroom is not above XON.
 */
int ibcc_engine_set_buffer(struct ibcc_engine *e, uint32_t node, uint32_t bytes);

/* Control plane. All return 0 or -EINVAL (no such node or port, value out of range), -ENOMEM. */
int ibcc_engine_set_lid(struct ibcc_engine *e, uint32_t port, uint16_t lid);
int ibcc_engine_set_lft(struct ibcc_engine *e, uint32_t node, const uint8_t *lft, uint32_t len);
int ibcc_engine_set_sl2vl(struct ibcc_engine *e, uint32_t node, unsigned int in, unsigned int out,
			  const uint8_t vl[16]);
/* A link going down loses what is on it and in the buffers that feed it (counted as dropped). */
int ibcc_engine_set_link(struct ibcc_engine *e, uint32_t port, bool up);
/* Both ends send at this rate from their next packet on. What flows offer in permille of a link
 * counts by the rate that it had when they were added.
 */
int ibcc_engine_set_link_rate(struct ibcc_engine *e, uint32_t port, uint32_t rate_mbps);
/* Only this end sends at this rate from its next packet on; the other end keeps its rate. */
int ibcc_engine_set_send_rate(struct ibcc_engine *e, uint32_t port, uint32_t rate_mbps);
/* From its next packet on, what this end sends takes this much longer to reach the other end;
 * credits do not. This models a longer path of equal rate. At most IBCC_LINK_DELAY_MAX_PS.
 */
#define IBCC_LINK_DELAY_MAX_PS 1000000000ull
int ibcc_engine_set_send_delay(struct ibcc_engine *e, uint32_t port, uint64_t extra_ps);
/* Rate at which the HCA at `port` takes payload out of its receive buffer; 0: as it comes. */
int ibcc_engine_set_sink_rate(struct ibcc_engine *e, uint32_t port, uint32_t rate_mbps);

int ibcc_engine_set_switch_cc(struct ibcc_engine *e, uint32_t node,
			      const struct ibcc_cc_sw_setting *v);
int ibcc_engine_set_switch_port_cc(struct ibcc_engine *e, uint32_t node, unsigned int port,
				   const struct ibcc_cc_sw_port_element *v);
int ibcc_engine_set_ca_cc(struct ibcc_engine *e, uint32_t port, const struct ibcc_cc_ca_setting *v);
int ibcc_engine_set_cct(struct ibcc_engine *e, uint32_t port, const struct ibcc_cct *v);
/* DCQCN at a port from now on, in place of the model's: how a switch's port marks, or how an
 * adapter notifies and reacts. `enabled` false: it does nothing of this. The members cnp_per_port,
 * cnp_sl, shaper_per_lid and source_only stay as the model has them. Limiters go on at their rates,
 * under the new parameters; without reaction they end. -EINVAL also for values that a model may not
 * have; without DCQCN in the model, right values have no effect.
 */
int ibcc_engine_set_dcqcn(struct ibcc_engine *e, uint32_t port, const struct ibcc_dcqcn *d);
/* DCQCN at a port, as it works now. NULL: the model has none, or there is no such port. */
const struct ibcc_dcqcn *ibcc_engine_dcqcn(const struct ibcc_engine *e, uint32_t port);
/* DCQCN of the model, as all ports have it before they get their own. NULL: the model has none. */
const struct ibcc_dcqcn *ibcc_engine_dcqcn_model(const struct ibcc_engine *e);

/* Counters of a port since the start; never reset, never saturating: the agents do that. */
struct ibcc_engine_port {
	uint64_t xmit_bytes, rcv_bytes; /* as PortXmitData: headers, no VCRC */
	uint64_t xmit_pkts, rcv_pkts;
	uint64_t xmit_data_pkts, rcv_data_pkts; /* those that are no ACKs or CNPs */
	uint64_t rcv_payload_bytes;             /* payload of these */
	uint64_t xmit_wait_ps;                  /* data to send and nothing sent */
	uint64_t xmit_time_cong_ps;             /* in congested state */
	uint64_t vl_xmit_wait_ps[16], vl_xmit_time_cong_ps[16];
	uint64_t rcv_fecn, rcv_becn;
	uint64_t sl_rcv_fecn[16], sl_rcv_becn[16], sl_xmit_bytes[16];
	uint64_t mark_fecn; /* packets that this port marked */
	/* Of an adapter under DCQCN: CNPs that it sent, and those that came and slowed it down, or
	 * did not because it does not react.
	 */
	uint64_t cnp_sent, cnp_handled, cnp_ignored;
	uint64_t dropped;
	uint64_t backlog_bytes; /* waiting at a switch for this output now, from all inputs */
	/* With PAUSE: time that this port was not allowed to send; how often it stopped its peer;
	 * bytes that came in here and are held in the buffer now.
	 */
	uint64_t pause_ps, pauses_sent, held_bytes;
	uint64_t bcn_negative, bcn_positive; /* messages about this output */
};
/* Brings counters that run with time up to now and copies them. -EINVAL. */
int ibcc_engine_port_read(struct ibcc_engine *e, uint32_t port, struct ibcc_engine_port *out);

struct ibcc_engine_flow {
	uint64_t offered_pkts, sent_pkts, received_pkts, received_bytes; /* payload bytes */
	uint64_t messages;     /* completed, of closed-loop flows */
	uint64_t refused_pkts; /* offered, but the send queue was full */
	/* Of received: after one of the same queue pair that was sent later (RFC 4737). Only
	 * counted with multipath routing; otherwise there are none.
	 */
	uint64_t reordered_pkts;
	uint64_t dropped_pkts; /* sent, but lost in the fabric */
	uint64_t fecn, becn;
	uint16_t ccti;       /* of the flow's QP (highest, for flows to many) */
	uint32_t limit_mbps; /* of its rate limiter (lowest, for flows to many); 0: none */
	/* First bit sent to delivered, over received_pkts; with connections, from when it was sent
	 * first until it and all before it had come, which is when it counts as received.
	 */
	uint64_t latency_sum_ps;
	/* Of closed-loop flows: messages that were delivered whole, and their latencies. A message
	 * begins when the window has room for it, in a time that the flow is on. It ends with the
	 * delivery of its last packet.
	 */
	uint64_t received_messages, message_latency_sum_ps;
};
/* What the ends of a flow's connection did; only where the model has them (ibcc_model.endpoint). */
#define IBCC_DEPTH_BINS 24u
struct ibcc_engine_conn {
	uint64_t resent;       /* sent again, not counted in the flow's sent_pkts */
	uint64_t out_of_order; /* dropped, since they were not the expected one but ahead of it */
	uint64_t duplicates;   /* dropped, since they had come before */
	uint64_t naks, timeouts;
	/* Of packets that were no duplicates, how far they were ahead of the first that had not
	 * come: bin 0 counts those in order, bin i those that were 2^(i - 1) to 2^i - 1 ahead.
	 */
	uint64_t depth[IBCC_DEPTH_BINS];
	uint32_t depth_max;
};
uint32_t ibcc_engine_n_flows(const struct ibcc_engine *e);
int ibcc_engine_flow_read(struct ibcc_engine *e, uint32_t flow, struct ibcc_engine_flow *out);
/* -EINVAL: no such flow; all zero where there are no connections. */
int ibcc_engine_conn_read(const struct ibcc_engine *e, uint32_t flow, struct ibcc_engine_conn *out);
const struct ibcc_flow_spec *ibcc_engine_flow_spec(const struct ibcc_engine *e, uint32_t flow);

/* Of what a latency is. */
enum ibcc_latency {
	IBCC_LATENCY_PACKETS,
	IBCC_LATENCY_MESSAGES,
};

/* Counts the latencies of each flow's packets and messages from now on, and forgets those counted
 * before. Flows added later are not counted. -ENOMEM.
 */
int ibcc_engine_latency_start(struct ibcc_engine *e);
/* The latency that this share (0.5, 0.99, 0.999) of all packets or messages of these flows since
 * then did not exceed, in ps, rounded up by at most 6.25 % or 1 ns; 0 if there were none. -EINVAL:
 * no such flow, not counted, no share.
 */
int ibcc_engine_latency_read(const struct ibcc_engine *e, enum ibcc_latency of,
			     const uint32_t *flow, uint32_t n_flows, double share, uint64_t *ps);

/* Congestion log of a node, newest entries first, as attribute 0x13 reports it. Reading clears the
 * event counter and the map, which are of what happened since the last reading.
 */
int ibcc_engine_log_read(struct ibcc_engine *e, uint32_t port, struct ibcc_cc_log *out);

/* Totals for benchmarks and conservation tests. */
struct ibcc_engine_totals {
	uint64_t packet_hops;                             /* data packets that crossed a link */
	uint64_t ack_hops;                                /* ACKs and CNPs that did so */
	uint64_t injected, delivered, dropped, in_flight; /* data packets */
	uint64_t discarded; /* data packets that arrived and that connections had no use for */
	uint64_t events;
};
void ibcc_engine_totals(const struct ibcc_engine *e, struct ibcc_engine_totals *out);

/* Checks invariants (credits never negative and never above the buffer, bytes in buffers add up,
 * no packet lost or twice). Returns 0, or -EIO with a sentence in buf.
 */
int ibcc_engine_check(const struct ibcc_engine *e, char *buf, size_t len);

/* Looks for a deadlock: outputs of switches that wait for each other's buffers in a circle and will
 * never send again, unless one of their links goes down. The comment in deadlock.c proves that each
 * circle found is a deadlock. It also proves that every deadlock is found as soon as packets have
 * come to rest around it, whatever moves elsewhere. The cost grows with the number of packets in
 * the fabric, so this is not for each event. Returns 0; -ENOMEM; or -EDEADLK with a sentence in
 * buf, which names the outputs in the circle and the time when the last of them sent: "deadlock at
 * 0.0123 ms: s1 port 3 waits for s2 port 3 waits for s1 port 3".
 */
#define IBCC_DEADLOCK_BYTES 1024u
int ibcc_engine_deadlock(const struct ibcc_engine *e, char *buf, size_t len);

#endif
