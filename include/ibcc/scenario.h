/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A simulated experiment as plain data: fabric, models, traffic, events. */
#ifndef IBCC_SCENARIO_H
#define IBCC_SCENARIO_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/ccmad.h>
#include <ibcc/dcqcn.h>
#include <ibcc/profile.h>
#include <ibcc/route.h>
#include <ibcc/topo.h>

#define IBCC_NAME_BYTES 64u
#define IBCC_PS_PER_US  1000000ull
#define IBCC_PS_PER_MS  1000000000ull
#define IBCC_PS_PER_NS  1000ull

/* In which order an HCA serves its send queues. */
enum ibcc_hca_service {
	IBCC_HCA_ARRIVAL,     /* order of arrival of the packets, throttled flows are passed over */
	IBCC_HCA_ROUND_ROBIN, /* a packet of each flow in turn: the one served longest ago is next
			       */
};

/* How a receiver keeps its buffer from overflowing. */
enum ibcc_flow_control {
	IBCC_FLOW_CONTROL_CREDITS, /* InfiniBand: credits for each VL's buffer of an input port */
	IBCC_FLOW_CONTROL_PAUSE,   /* Ethernet: IEEE 802.3 PAUSE by what each ingress port holds */
};

/* Which of the packets that wait for a switch's output and VL goes next. */
enum ibcc_arbitration {
	IBCC_ARBITRATION_INPUT, /* a packet of each input in turn, by number */
	IBCC_ARBITRATION_FIFO,  /* in the order of their arrival */
	/* A packet of each queue pair in turn; in a fabric of more than 256 some share a turn. */
	IBCC_ARBITRATION_FLOW,
};

/* When a switch may send on what comes in. */
enum ibcc_switching {
	/* When its header has been there for the switch's delay; where it comes slower than it
	 * goes, when its last bits will follow one another.
	 */
	IBCC_SWITCHING_CUT_THROUGH,
	IBCC_SWITCHING_STORE_AND_FORWARD, /* when its last bit has been there for that delay */
};

/* How many packets a switch reads at once from the buffer of an input port. */
enum ibcc_switch_reads {
	IBCC_SWITCH_READS_ALL, /* one for each output */
	IBCC_SWITCH_READS_ONE, /* one; the outputs' turns pass over an input that is being read */
};

/* How a notification goes from the destination to the source. */
enum ibcc_becn_path {
	IBCC_BECN_IN_BAND,     /* as a packet, on an ACK or by itself */
	IBCC_BECN_OUT_OF_BAND, /* in no time but becn_delay_ps, without a packet */
};

/* VL arbitration tables of all outputs, of switches and of channel adapters (IBA vol. 1, 7.6.9).
 * Without entries switches serve VLs in turn, and channel adapters all queues as hca_service has
 * it.
 */
#define IBCC_VLARB_ENTRIES 64u
struct ibcc_vlarb_table {
	uint8_t n;
	struct ibcc_vlarb_entry {
		uint8_t vl;
		uint8_t weight; /* blocks of 64 bytes; 0: not served */
	} entry[IBCC_VLARB_ENTRIES];
};
struct ibcc_vlarb {
	struct ibcc_vlarb_table high, low;
	uint8_t high_limit; /* 4096 bytes; 0: a packet, 255: no limit */
};

/* Which of several shortest ways a packet takes. */
enum ibcc_routing {
	IBCC_ROUTING_STATIC,      /* the forwarding tables' */
	IBCC_ROUTING_RANDOM,      /* a random one for each packet, at each switch */
	IBCC_ROUTING_ADAPTIVE,    /* for each packet, the output with the fewest packets waiting */
	IBCC_ROUTING_ROUND_ROBIN, /* each switch sends a queue pair's packets by all in turn */
};

/* What channel adapters do about the order of packets. */
enum ibcc_endpoint {
	IBCC_ENDPOINT_DATAGRAM, /* nothing: what comes is delivered, what is lost is lost */
	/* Each flow is a connection: acknowledged, and sent again from what is missing on. */
	IBCC_ENDPOINT_RC,  /* what is not the expected packet is dropped (IBA vol. 1, 9.7) */
	IBCC_ENDPOINT_OOO, /* placed as it comes, complete when all before it is */
};

/* Backward congestion notification: congestion control for Ethernet as proposed to IEEE 802.1
 * (D. Bergamasco, R. Pan: Backward congestion notification version 2.0, 2005). Switches sample the
 * frames that come for an output queue and notify their sources by how much it is off its
 * equilibrium; sources have a rate limiter for each destination.
 */
struct ibcc_bcn {
	bool enabled;
	uint32_t sample_bytes;      /* that come for an output between two samples */
	uint32_t equilibrium_bytes; /* Qeq */
	double w;                   /* weight of the queue's change in the feedback */
	/* For feedback Fb in packets: rate += gi * Fb * Ru if positive, rate *= 1 - gd * |Fb| if
	 * negative.
	 */
	double gi, gd;
	uint32_t ru_mbps;  /* Ru: unit of rates, and the lowest that a limiter goes to */
	uint64_t delay_ps; /* from the sample to the limiter's new rate */
};

/* DCQCN at the InfiniBand layer, as switches and adapters of HDR and NDR have it ("ver0" of
 * NVIDIA's congestion control). Members named as in mlxconfig and in the class of MADs have their
 * meaning.
 *
 * A switch marks packets by the queue of an output and VL, and a profile for the packet's SL. Below
 * `min` it marks none, at `max` the share `percent`, and in proportion in between; beyond `max`
 * all, as is usual for RED and not documented for the device. A destination answers a marked packet
 * with a CNP. The source of the packet then has a limiter (dcqcn.h).
 */
#define IBCC_DCQCN_PROFILES  3u
#define IBCC_DCQCN_PACKET_SL UINT8_MAX
struct ibcc_dcqcn {
	bool enabled;
	/* The queue is an exponential average: each 64 ns << aqs_time it goes 2^-aqs_weight of the
	 * way to the present one. aqs_time is at most 24, aqs_weight 15.
	 */
	uint8_t aqs_weight, aqs_time;
	bool source_only; /* an output that waited for credits does not mark, as in annex A10 */
	/* Of an adapter, for ibcc_engine_set_dcqcn(): it does not answer marked packets; it does
	 * not slow down for a CNP. No scenario sets them.
	 */
	bool no_notify, no_react;
	struct ibcc_dcqcn_profile {
		/* min and max are percent of the reference that Threshold has, and the queue is the
		 * present one. Else they are bytes, and the queue is the average.
		 */
		bool percentage;
		uint32_t min, max;
		uint8_t percent;
	} profile[IBCC_DCQCN_PROFILES];
	uint8_t sl2profile[16]; /* the profile from 1 on; 0: packets of the SL are not marked */
	bool cnp_per_port;      /* the least time is between any two CNPs of a port, not of a QP */
	uint32_t min_time_between_cnps_us;
	uint8_t cnp_sl;      /* or IBCC_DCQCN_PACKET_SL: the marked packet's */
	bool shaper_per_lid; /* all QPs of a port to one port share a limiter, else each has its own
			      */
	struct ibcc_dcqcn_rp rp;
};

/* Models of switches and channel adapters; one set for the whole fabric. */
struct ibcc_model {
	uint32_t packet_bytes; /* payload of a full packet, <= MTU; flows may have another */
	uint32_t header_bytes; /* added to each packet on the wire */
	/* Input buffer for each port and VL of a switch, receive buffer of an HCA for each VL.
	 * Nodes of a scenario may have others.
	 */
	uint32_t buffer_bytes, hca_buffer_bytes;
	uint64_t link_delay_ps;   /* propagation, one way */
	uint64_t switch_delay_ps; /* header in to earliest header out; see switching */
	uint64_t credit_delay_ps; /* buffer freed to credits known at the sender, beyond the link */
	/* Backlog of an output port (all inputs) beyond which Threshold T marks: (16 - T) / 16 of
	 * this; 0: one input buffer of the switch. Marking ends when the backlog has fallen to
	 * mark_hysteresis_permille of that, or below.
	 */
	uint32_t mark_reference_bytes;
	uint16_t mark_hysteresis_permille;
	enum ibcc_hca_service hca_service;
	uint64_t becn_delay_ps; /* FECN received to BECN ready to be sent; out of band, received */
	enum ibcc_becn_path becn_path;
	bool acks;          /* destinations acknowledge packets in band (BECN rides on them) */
	uint32_t ack_bytes; /* of an ACK or CNP on the wire */
	uint8_t vls;        /* data VLs, 1..15 */
	uint8_t cct_blocks; /* CongestionInfo:ControlTableCap of HCAs */
	uint8_t wait_tick;  /* PortSamplesControl:Tick that PortXmitWait counts by */
	enum ibcc_arbitration arbitration;
	enum ibcc_routing routing;
	enum ibcc_switching switching;
	enum ibcc_switch_reads switch_reads;
	struct ibcc_vlarb vlarb;
	enum ibcc_flow_control flow_control;
	/* With PAUSE, buffers are not divided: a switch has buffer_bytes for each of its ports in
	 * one memory for all. An ingress port stops its peer when it holds more than the buffer
	 * less the headroom, and lets it go on at pause_xon_permille of the buffer. PAUSE takes
	 * effect link_delay_ps + credit_delay_ps later. An HCA does so with hca_buffer_bytes.
	 */
	uint32_t pause_headroom_bytes;
	uint16_t pause_xon_permille;
	struct ibcc_bcn bcn;
	struct ibcc_dcqcn dcqcn;
	/* Limits on the packets queued at an adapter. Each queue pair that is held may have this
	 * many packets of uniform flows, and each SL this many ACKs and CNPs. What comes beyond is
	 * refused, or lost unless a window waits for it. 0: no limit, for runs that have an end.
	 */
	uint32_t adapter_packets;
	/* A switch sends a queue pair's packets by one output until this many have left by it, and
	 * until none has left for path_gap_ps. With 0 or 1 packets the count is no restriction, so
	 * path_gap_ps alone gives each flowlet a path of its own. Queue pairs may share the memory
	 * for this; each switch has as much as 256 queue pairs need.
	 */
	uint32_t path_burst_packets;
	uint64_t path_gap_ps;
	enum ibcc_endpoint endpoint; /* with others than the first, there are acks */
	uint32_t endpoint_window;    /* packets that a connection may have on the way, 1..65536 */
	uint8_t ack_timeout; /* Local ACK Timeout: of 4.096 us * 2^n; 0: never, at most 31 */
};
void ibcc_model_defaults(struct ibcc_model *m);

enum ibcc_flow_kind { /* for the reports: how a flow is summed up */
		      IBCC_FLOW_BACKGROUND,
		      IBCC_FLOW_HOT,
		      IBCC_FLOW_VICTIM,
};
#define IBCC_FLOW_KINDS (IBCC_FLOW_VICTIM + 1)

enum ibcc_arrivals {
	IBCC_ARRIVALS_BACKLOGGED, /* always something to send */
	IBCC_ARRIVALS_PERIODIC,
	IBCC_ARRIVALS_EXPONENTIAL, /* negative exponential gaps between packets */
	IBCC_ARRIVALS_CLOSED,      /* messages, as soon as fewer than the window are on their way */
};

static inline bool ibcc_arrivals_paced(enum ibcc_arrivals a)
{
	return a == IBCC_ARRIVALS_PERIODIC || a == IBCC_ARRIVALS_EXPONENTIAL;
}

/* By what a message is moved. Data always goes from the flow's `from` to its `to`. */
enum ibcc_verbs_operation {
	IBCC_VERBS_WRITE, /* RDMA write, posted by the source */
	IBCC_VERBS_SEND,  /* send, received into posted buffers */
	IBCC_VERBS_READ,  /* RDMA read, posted by the destination */
};

/* How many sizes of packets the flows of an engine may have beside the model's: with that one, all
 * MTUs from 64 to 4096 bytes.
 */
#define IBCC_OTHER_SIZES 6u

/* Traffic from one channel adapter to one other, or to all others uniformly. */
struct ibcc_flow_spec {
	char name[IBCC_NAME_BYTES];
	char from[IBCC_NAME_BYTES]; /* as ibcc_topo_node_text() has the node */
	char to[IBCC_NAME_BYTES];   /* a node as in `from`, or "*": uniformly to all other hosts */
	char not_to[IBCC_NAME_BYTES]; /* with "*": one that is left out, or "" */
	enum ibcc_flow_kind kind;
	enum ibcc_arrivals arrivals;
	uint32_t load_permille; /* of the source's link rate; for paced arrivals */
	uint32_t rate_mbps;     /* offered, headers included; in place of load_permille unless 0 */
	uint32_t packet_bytes;  /* payload of its packets, <= MTU; 0: the model's */
	uint8_t sl;
	uint64_t start_ps, stop_ps; /* stop 0: never */
	uint32_t queue_packets;     /* send queue limit; 0: infinite (open loop) */
	/* With exponential gaps and queue_packets: packets that find the queue full are neither
	 * drawn nor counted, as offered or as refused. These gaps have no memory, so the queue
	 * fills as it would, but by other random numbers.
	 */
	bool omit_refused;
	/* Packets come only in the first on_ps of each on_ps + off_ps; off_ps 0: always. */
	uint64_t on_ps, off_ps;
	/* Closed loop: message_bytes is the size of a message in bytes, sent as whole packets to
	 * one destination. A message counts against `window` until its last packet is acknowledged
	 * (delivered, if there are no acknowledgements) or lost.
	 */
	uint32_t message_bytes, window;
	/* For ibcc-perf; the engine has one queue pair for each pair of nodes, and writes. */
	enum ibcc_verbs_operation operation;
	uint16_t queue_pairs; /* for each pair of nodes; 0 counts as 1 */
};

/* The payload of a flow's packets. */
static inline uint32_t ibcc_flow_packet_bytes(const struct ibcc_model *m,
					      const struct ibcc_flow_spec *f)
{
	return f->packet_bytes ? f->packet_bytes : m->packet_bytes;
}

/* The share of payload in what a flow sends. */
static inline double ibcc_flow_payload_share(const struct ibcc_model *m,
					     const struct ibcc_flow_spec *f)
{
	double payload = ibcc_flow_packet_bytes(m, f);

	return payload / (payload + m->header_bytes);
}

/* A change of the fabric at a time. */
enum ibcc_event_kind {
	IBCC_EVENT_SINK_RATE, /* node drains at value Mb/s; 0: at link rate */
	IBCC_EVENT_LINK_DOWN, /* link at port of node */
	IBCC_EVENT_LINK_UP,
	IBCC_EVENT_LINK_RATE,  /* that link carries value Mb/s, both ways */
	IBCC_EVENT_SEND_RATE,  /* what that port sends does; the other way stays as it is */
	IBCC_EVENT_SEND_DELAY, /* what that port sends takes value ps longer */
};
struct ibcc_event_spec {
	uint64_t at_ps;
	enum ibcc_event_kind kind;
	char node[IBCC_NAME_BYTES];
	uint8_t port;
	uint32_t value;
};

/* Settings on all nodes from the start, as the annex's registers. */
struct ibcc_static_cc {
	bool enabled;
	struct ibcc_cc_sw_setting sw;
	struct ibcc_cc_ca_setting ca;
	struct ibcc_cct cct;
};

/* A host of a plan, which is a scenario that ibcc-perf may run on a fabric. */
#define IBCC_ADDRESS_BYTES 128u
struct ibcc_verbs_host {
	char name[IBCC_NAME_BYTES];            /* as in traffic */
	char address[IBCC_ADDRESS_BYTES];      /* where ibcc-perf serves there; "": the name */
	char rdma_address[IBCC_ADDRESS_BYTES]; /* IP of its port, for librdmacm; "": address */
	char device[IBCC_NAME_BYTES];          /* "": the first that is active */
	uint8_t port;                          /* 0: the first that is active */
	int16_t gid_index;                     /* -1: found by itself */
};

/* What scenarios that run on a fabric have besides. */
struct ibcc_verbs_plan {
	uint32_t n_hosts;
	struct ibcc_verbs_host *host; /* owned */
	enum ibcc_verbs_operation operation;
	bool cm; /* connections by librdmacm; false: over the connections of ibcc-perf itself */
	uint32_t message_bytes; /* of flows that are not closed, which have their own */
	uint32_t window;        /* of such flows, in messages */
	uint16_t queue_pairs;
	uint16_t mtu_bytes;  /* 0: what the ports have */
	uint8_t ack_timeout; /* 1..31: a sender tries again after 4.096 us << this */
	uint8_t retries;     /* 0..7: retries before the peer counts as gone */
	bool polling;        /* completions are polled for; false: events wake us */
	bool verify;         /* the receiver compares what came */
	uint32_t report_ms;  /* between two lines of the live table */
};
void ibcc_verbs_defaults(struct ibcc_verbs_plan *v);

struct ibcc_scenario {
	char name[IBCC_NAME_BYTES];
	char title[128];
	uint64_t seed;
	uint64_t duration_ps, measure_from_ps;
	struct ibcc_topo *topo; /* owned; LIDs and routes may be replaced by a subnet manager's */
	struct ibcc_route_sls sls; /* owned; paths without: packets have the SLs of their flows */
	struct ibcc_model model;
	uint32_t n_flows, n_events;
	struct ibcc_flow_spec *flow;
	struct ibcc_event_spec *event;
	struct ibcc_static_cc cc;
	struct ibcc_profile *profile; /* by node of topo, owned; NULL: by the nodes' IDs */
	uint32_t *buffer_bytes;       /* by node of topo, owned; 0, or NULL: the model's */
	uint32_t n_no_cc;             /* nodes without congestion control support */
	char (*no_cc)[IBCC_NAME_BYTES];
	struct ibcc_verbs_plan verbs;
};
void ibcc_scenario_fini(struct ibcc_scenario *s);

/* The node of `t`, a topology of the scenario's fabric, that a name of the scenario means;
 * IBCC_NONE: `t` does not have it. Without a topology of its own, the scenario's names are those of
 * `t`.
 */
uint32_t ibcc_scenario_find(const struct ibcc_scenario *s, const char *name,
			    const struct ibcc_topo *t);

#endif
