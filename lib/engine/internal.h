/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The engine's state, which the files of lib/engine share. README.md describes the parts and the
 * way of a packet through them.
 *
 *   heap of a group (ready.h) -> outq of the adapter's port -> link -> VOQ of (output, VL, input)
 *   -> outq of the switch's port -> link -> ... -> receive FIFO of the adapter -> deliver()
 *
 * References between objects are indices into arrays, so that memory may move when it grows.
 * Packets and cells (events, deferred packets) come from two pools, last in, first out.
 *
 * A hop costs one event or two: the header's arrival, and EV_FREE if the output has more to send.
 * A credit is an event only while its sender is short of credits (credits.c). A delivery that has
 * no consequence is no event (EV_QUIET, sink.c).
 */
#ifndef IBCC_ENGINE_INTERNAL_H
#define IBCC_ENGINE_INTERNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/engine.h>
#include <ibcc/link.h>

#include "events.h"

/* Ports fill cache lines; their array begins at one. */
#define LINE_BYTES 64u

/* Kinds of packets by their size: data packets of the model's size, ACKs or CNPs, and from OTHER on
 * data packets of the other sizes that flows have.
 */
enum { DATA, CTRL, OTHER, N_KINDS = OTHER + IBCC_OTHER_SIZES };
#define KIND_BITS 3u
#define KIND_MASK ((1u << KIND_BITS) - 1)
_Static_assert(N_KINDS <= 1u << KIND_BITS, "a credit names its kind in these bits");
/* HELD: it waits at a switch (switch.c). LOST: its link went down while it was on it. */
enum { PKT_CTRL = CTRL, PKT_FECN = 2, PKT_BECN = 4, PKT_HELD = 8, PKT_LOST = 16 };
#define PKT_OTHER_SHIFT 5u

struct pkt {
	uint64_t born_ps; /* first bit on the source's link; of an ACK or CNP, ready to be sent */
	uint32_t next;    /* in the queue it stands in */
	uint32_t flow;
	uint32_t qp; /* queue pair; or BARE_QP | destination port if the pair has no state */
	uint32_t
		from; /* port that sent it last: its link and the buffer at the other end hold it */
	uint16_t dlid;
	uint8_t sl;
	uint8_t vl;     /* whose buffer it occupies at that port */
	uint8_t flags;  /* PKT_*, and from PKT_OTHER_SHIFT on the kind less CTRL where it is another
			 */
	uint16_t clock; /* of its message, if its flow is a closed loop (messages.h) */
};

#define BARE_QP (1u << 31)

/* PORT_* are those of a port, and stand at its VL 0; OUTQ_* are those of a VL. */
enum {
	PORT_SWITCH = 1,
	PORT_UP = 2,
	PORT_TO_SWITCH = 4, /* a switch is at the other end */
	PORT_SENT = 8,      /* has sent, and its EV_FREE has not come yet */
	OUTQ_WANT = 16,     /* waits for credits */
	OUTQ_STARVED = 32,  /* had to wait for credits since it last sent */
	OUTQ_CONG = 64,     /* backlog above the threshold */
	OUTQ_FRESH = 128,   /* all its packets came at this time; its port has not chosen yet */
};
#define PORT_SENT_SHIFT 3u
_Static_assert(1u << PORT_SENT_SHIFT == PORT_SENT, "one bit");

/* The sending side of a port and VL, which fills a line of the cache: nearly all that a packet
 * needs of its output. Down to `speed`, and PORT_* of `flags`, all is the port's, and in use at its
 * VL 0 only: its link, its counters, its XmitWait.
 */
struct port {
	_Alignas(LINE_BYTES) uint64_t busy_ps; /* it sends until then */
	uint64_t tx[OTHER];                    /* packets sent: all data packets; ACKs and CNPs */
	uint64_t wait_ps; /* XmitWait until then, less what outq_add() subtracted: may be below 0 */
	uint32_t to;      /* where its packets arrive: a place and a slot there (struct place) */
	uint32_t queued;  /* entries that could be sent, on all VLs */
	uint32_t free_at; /* the place of its last EV_FREE, and in LANE_BITS its lane (evq.h) */
	uint16_t speed;
	uint8_t flags;   /* PORT_*, and OUTQ_* of the VL */
	uint8_t served;  /* the VL's VOQ that was served last */
	uint64_t holds;  /* which VOQs hold packets (voq.h) */
	int32_t credits; /* blocks */
	int32_t room;    /* bytes that its VOQs may take until it is congested (room_of()) */
};

/* Packets of a port that have arrived at the other end of its link, as in `tx`: the lower halves,
 * so that eight ports share a line. What is missing is on the link, was lost with it, or is a quiet
 * delivery that has not been counted: less than 2^32 packets (received() in counters.c).
 */
struct arrived {
	uint32_t rx[OTHER];
};

/* Where links lead: a switch, or, with numbers from n_sw on, a channel adapter's port. Beside its
 * number stands the VOQ, at each output there, that packets of the link wait in (slot_of()).
 */
struct place {
	const uint8_t *out;  /* the switch's table: output number by LID; 0: no route */
	uint32_t first_port; /* its port 0, or the adapter's port, to which its table leads */
};
#define SLOT_SHIFT 23u
#define SLOT_MASK  0xffu
#define PLACE_MASK ((1u << SLOT_SHIFT) - 1)

/* XmitWait of one VL, as struct port has it for all. Not in use where there is one VL. */
struct outq_wait {
	uint64_t busy_ps, wait_ps;
	uint32_t queued; /* entries that could be sent */
};

/* Bits of a mask of VOQs; words that hold the mask of the largest switch (256 VOQs). */
#define VOQ_WORD  64u
#define FAR_WORDS 4u

/* The packets that wait for one output and VL and share a turn: those of one input, unless the
 * model has another arbitration.
 */
struct voq {
	uint32_t head, tail; /* head NONE: empty; tail is then any packet's index */
};

/* Counters of a port that few packets touch. */
struct port_stat {
	uint64_t cong_ps, cong_since_ps;
	uint64_t n_cong; /* VLs in congested state */
	uint64_t mark, dropped;
};

/* Counters of a port and SL: packets that came in with a mark, and packets sent. The SL that was
 * used first has no count of its own for the latter: it has what the other SLs leave of the
 * port's total.
 */
struct sl_marks {
	uint64_t fecn, becn;
	uint64_t tx[OTHER];
};

/* By how many bytes the data packets of a port are more than as many of the model's size. */
struct other_bytes {
	int64_t tx, rx, sl_tx[16];
};

/* Marking of an output and VL (mark.c). */
struct outq_cong {
	uint64_t cong_ps, since_ps;
	uint64_t rng;     /* draws `skip` */
	uint32_t on, off; /* backlogs: more begins it, this one ends it */
	uint32_t skip;    /* eligible packets to pass before a mark */
	uint16_t rate;    /* Marking_Rate */
	uint8_t blocks;   /* Packet_Size: smaller packets are not marked; 64 bytes */
	bool victims;     /* Victim_Mask: marks also without credits */
};

/* What follows when a port sends a packet: the port is free again, and the packet arrives. */
struct way {
	_Alignas(LINE_BYTES) uint64_t pkt_ps;
	uint64_t free_due, due; /* the delays until both, with the tags of their events */
	struct lane *free, *lane;
	uint8_t event;
};

/* A port's ways are chosen by flags of packet and port, at the bits that they have there. */
enum { WAY_CTRL = PKT_CTRL, WAY_LOUD = PKT_FECN, WAY_TO_SWITCH = PORT_TO_SWITCH, N_WAYS = 8 };

/* What all ports of one rate share, beside their ways. */
struct speed {
	struct way other[IBCC_OTHER_SIZES][2]; /* of kinds from OTHER on; the second: to a switch */
	uint64_t pkt_ps[N_KINDS];              /* time on the link */
	uint32_t rate_mbps;
	uint64_t extra_ps; /* of links that are longer than the others */
};

/* The LIDs of a port: `n` from `first` on. */
struct lids {
	uint16_t first, n;
};

struct fab_switch {
	uint32_t node, first_port, buffer_bytes;
	uint8_t n_ports;
	uint8_t *out;         /* output number by LID, for every LID in use; 0: no route */
	uint8_t (*sl2vl)[16]; /* NULL: SL modulo the VLs in use */
	struct ibcc_cc_sw_setting cc;
	struct ibcc_cc_sw_port_element *elem; /* by port number */
	struct ibcc_cc_log log;
};

/* An entry of an adapter's heap, which may be sent now. The lowest key is served first. */
struct ready {
	uint64_t key;
	uint32_t id; /* flow, or READY_QP | queue pair with deferred packets */
};
#define READY_QP (1u << 31)

/* All that an adapter's port sends on one SL. */
struct group {
	_Alignas(LINE_BYTES) uint32_t port;
	uint8_t sl;
	uint8_t vl;          /* 255: the SL maps to no VL, nothing can be sent */
	bool gated;          /* SL mode: the SL rests, EV_GATE ends that */
	bool sl_mode;        /* CCTI is the SL's */
	struct ready *ready; /* heap, from 1 on; entry 0 is a sentinel with the lowest key */
	uint32_t n_ready, cap_ready;
	uint32_t ctrl, ctrl_end; /* packets */
	uint32_t n_ctrl;
	uint16_t timer; /* copies of CCTI_Timer and CCTI_Min, near what each packet needs */
	uint8_t min_ccti;
	struct qp_hash *qp; /* its queue pairs by destination, NULL: none (qps.h) */
	uint64_t end_ps;    /* until when the CCTI timer runs (reaction.c) */
	uint64_t fall;      /* the SL's CCTI, as struct qp has it for a queue pair */
};

/* What determines how a channel adapter reacts to BECNs. */
struct hca_cc {
	struct ibcc_cc_ca_setting set;
	struct ibcc_cct cct;
	struct ibcc_cc_log log;
};

struct hca {
	_Alignas(LINE_BYTES) uint64_t turn; /* data packets sent */
	uint16_t data_sls, ctrl_sls;        /* SLs with ready entries, with ACKs or CNPs */
	bool draining, no_cc;
	uint32_t node, port;
	uint32_t sink_mbps, buffer_bytes;
	uint32_t rx, rx_end;
	uint32_t group[16];
	uint8_t sl2vl[16];
	struct hca_cc *cc;
};

/* All flows between two HCAs on one SL share a queue pair, and so its throttling. If only uniform
 * traffic uses it, it gets an entry when it first has something to remember (qps.h).
 */
struct qp {
	uint64_t ready_ps; /* end of the injection rate delay */
	uint32_t dst_port;
	uint32_t defer; /* cells: packets passed over while throttled */
	uint64_t fall;  /* when the timer will have brought CCTI to 0; without a timer, CCTI */
	bool pending;   /* EV_QP is under way */
	bool ready;     /* its deferred packets stand in the heap */
	uint32_t group;
	uint32_t defer_end;
	uint32_t wait, wait_end; /* flows that wait for the end of the delay */
	uint32_t n_deferred;
	uint64_t turn; /* hca.turn when it last sent a deferred packet */
};

/* A replayable sequence of arrival times. */
struct arrivals {
	uint64_t next_ps, rng;
};

struct flow {
	_Alignas(LINE_BYTES) uint32_t src_port;
	uint32_t group; /* of the packet at the head */
	uint32_t dst;   /* port that it goes to */
	union {
		uint32_t ahead[2]; /* uniform: those of the next ones */
		uint32_t qp;       /* else: of all packets */
	};
	uint32_t next; /* in the list of flows that wait for a queue pair */
	/* Infinite queues are not stored: `head` replays what `offer` counts. Finite ones keep the
	 * arrival times of what they accepted.
	 */
	struct arrivals head;
	uint64_t gap_ps, stop_ps; /* NEVER: it does not end */
	uint64_t rng;             /* chooses destinations */
	/* The second line: what else is needed for each packet. */
	uint32_t n_choices; /* uniform: destinations without those that are left out */
	uint8_t kind;       /* enum ibcc_arrivals */
	uint8_t sl;
	bool uniform;             /* to all others */
	uint8_t size : KIND_BITS; /* the kind of its packets */
	bool on_off : 1;          /* packets come only at times */
	/* direct: head.next_ps says when its next packet is due, and a paced flow's queue has no
	 * limit; part: its island is not all hosts.
	 */
	bool direct : 1, part : 1;
	uint64_t sent, received, latency_ps;
	uint32_t left_out[2];          /* of its destinations: positions in rising order, or NONE */
	uint64_t turn;                 /* hca.turn when it last sent */
	uint32_t *latency;             /* histogram (latency.h), or NULL */
	uint32_t message_pkts, window; /* closed loop; else 0 */
	/* The rest. */
	uint64_t fecn, becn, dropped;
	uint32_t dests, n_dests; /* its island's part of the list of destinations */
	uint32_t n_deferred, ring_at, ring_n, ring_cap;
	uint64_t *ring;
	struct arrivals offer;
	bool stalled;      /* closed loop: waits for a message to be complete */
	bool omit_refused; /* as the specification has it, and gaps are exponential */
	uint64_t start_ps, on_ps, off_ps;
	uint64_t done;             /* closed loop: packets known to be delivered or lost */
	struct messages *messages; /* NULL: no closed loop */
	uint64_t offered, refused, reordered;
};

/* The congestion control that holds senders back. Of the marks of annex A10, the others make no
 * use.
 */
enum control {
	CONTROL_A10,   /* reaction.c; it is off as long as its settings are */
	CONTROL_BCN,   /* bcn.c */
	CONTROL_DCQCN, /* dcqcn.c */
};

struct fab_scenario_event {
	enum ibcc_event_kind kind;
	uint32_t port, value;
};

struct fab_dcqcn;
struct fab_eth;
struct fab_paths;
struct fab_ends;
struct vlarb_port;
struct fab_reading;
struct messages;

#define HCA_STEPS 5u

struct ibcc_engine {
	uint64_t now_ps;
	struct cell *cell;
	struct pkt *pkt;
	struct port *port;       /* by port and VL */
	uint32_t *peer;          /* by port: the other end of its link, or NONE */
	uint32_t *owner;         /* by port: index of its switch or HCA */
	uint8_t *rr_vl;          /* by port: the VL whose turn it is */
	struct arrived *arrived; /* by port that sends */
	struct place *place;
	struct voq *voq;
	uint64_t *far_holds; /* FAR_WORDS by outq, if there are more than VOQ_WORD VOQs; or NULL */
	/* VOQs of an output and VL; what of a packet's input and queue pair chooses among them. */
	uint32_t n_slots, slot_by_input, slot_by_qp;
	struct fab_switch *sw;
	struct hca *hca;
	struct group *group;
	struct qp *qp;
	struct flow *flow;
	struct ibcc_flow_spec *spec; /* by flow */
	struct hca_cc *hca_cc;       /* by HCA */
	struct port_stat *stat;
	struct sl_marks *marks[16]; /* of SLs that are in use, by port */
	struct other_bytes *other;  /* by port; NULL: all data packets have the model's size */
	struct outq_cong *cong;
	struct outq_wait *wait;      /* NULL: one VL */
	struct fab_eth *eth;         /* NULL: credits */
	struct fab_dcqcn *dcqcn;     /* NULL: another congestion control */
	struct fab_paths *paths;     /* NULL: static routes */
	struct fab_ends *ends;       /* NULL: no connections */
	struct vlarb_port *vlarb;    /* by port; NULL: VLs in turn */
	struct fab_reading *reading; /* by input port; NULL: outputs do not care */
	struct way *way;             /* N_WAYS by speed */
	struct speed *speed;
	bool plain; /* see tx.h; no path has an SL of its own either */
	enum control control;
	uint8_t first_sl; /* in use; > 15: none is */
	bool stores;      /* switches wait for a packet's last bit */
	uint8_t loud;     /* WAY_LOUD if deliveries may have consequences, else 0 */
	bool far_apart;   /* ports' state does not stay in a core's own cache */
	bool all_qps;     /* all queue pairs that send have state */
	bool maps;        /* some switch has a table of SLs to VLs */
	uint32_t n_vls;
	uint32_t n_speeds, cap_speeds, cap_ways, n_rates; /* n_rates: speeds without 0, ever */
	uint32_t n_kinds;                                 /* in use */
	uint32_t blocks[N_KINDS], bytes[N_KINDS];
	uint64_t hop_ps;    /* first bit sent to eligible for output at a switch */
	uint64_t link_ps;   /* propagation */
	uint64_t credit_ps; /* buffer freed to credits at the sender */
	uint32_t least_buffer_bytes;
	int32_t plenty; /* blocks of credits that end being short: half of that */
	struct evq evq;
	uint32_t hca_ahead[HCA_STEPS]; /* adapters' ports that will send soon (fetch.h) */
	uint32_t free_cell, n_free_cells, cap_cells, free_pkt, n_free_pkts, cap_pkts;
	uint32_t n_ports, n_outqs, n_voqs, n_sw, n_hca;
	uint32_t n_group, cap_group, n_qp, cap_qp, n_flow, cap_flow, cap_spec, n_scen, cap_scen;
	struct fab_scenario_event *scen;
	uint32_t *dest, n_dest, *island; /* ports of uniform traffic by islands; of each node */
	uint16_t *answering;             /* by place in `dest`; see all_answer() in traffic.c */
	struct lids *lid;                /* by port */
	uint32_t n_lids;                 /* one more than the highest ever */
	uint8_t *nowhere;                /* a table that leads there */
	uint64_t injected, delivered, dropped, events;
	int err; /* sticky: out of memory in the middle of an event */
	uint64_t seed, discarded;
	uint8_t *path_sl; /* by two ends, from and to; NULL: flows have SLs */
	uint32_t n_ends;
	bool ends_are_hcas;      /* else the switches that they are linked to */
	uint32_t exp_table[257]; /* ln(1 + i/256) in 2^-24 */
	struct ibcc_model model;
	struct ibcc_topo *topo;
};

_Static_assert(LINE_BYTES % sizeof(struct pkt) == 0, "no packet lies across two lines");
_Static_assert(offsetof(struct flow, fecn) == 2 * LINE_BYTES, "two lines of a flow are enough");
_Static_assert(sizeof(struct group) == LINE_BYTES, "a group fills a line");
_Static_assert(sizeof(struct port) == LINE_BYTES, "a port fills a line");
_Static_assert(LINE_BYTES % sizeof(struct arrived) == 0, "none lies across two lines");

/* Chooses one of two without a branch, for choices that the processor cannot predict. */
static inline uint64_t either(bool first, uint64_t a, uint64_t b)
{
	uint64_t m = -(uint64_t)first;

	return (a & m) | (b & ~m);
}

static inline unsigned int pkt_kind(const struct pkt *p)
{
	unsigned int other = p->flags >> PKT_OTHER_SHIFT;

	return other ? other + CTRL : p->flags & PKT_CTRL;
}

static inline struct port *port_outq(const struct ibcc_engine *e, uint32_t port, unsigned int vl)
{
	return &e->port[port * e->n_vls + vl];
}

/* A port, with all that does not depend on a VL. */
static inline struct port *port_of(const struct ibcc_engine *e, uint32_t port)
{
	return port_outq(e, port, 0);
}

/* What `room` counts from: the backlog that begins congested state, unless that is so large that
 * the difference would have no sign.
 */
static inline uint32_t room_of(const struct outq_cong *v)
{
	return v->on < INT32_MAX ? v->on : INT32_MAX;
}

/* Bytes in all VOQs of an output and VL. */
static inline uint32_t backlog_of(const struct ibcc_engine *e, const struct port *q)
{
	return room_of(&e->cong[q - e->port]) - (uint32_t)q->room;
}

/* The backlog changes by some bytes; beyond 2 GiB `room` goes around. */
static inline void room_add(struct port *q, uint32_t bytes)
{
	q->room = (int32_t)((uint32_t)q->room + bytes);
}

/* The buffer of an input port, of each VL. */
static inline uint32_t buffer_bytes(const struct ibcc_engine *e, uint32_t in_port)
{
	uint32_t owner = e->owner[in_port];

	return port_of(e, in_port)->flags & PORT_SWITCH ? e->sw[owner].buffer_bytes
							: e->hca[owner].buffer_bytes;
}

/* The input port that a packet arrives at or waits in. */
static inline uint32_t input_of(const struct ibcc_engine *e, const struct pkt *k)
{
	return e->peer[k->from];
}

/* The VOQ in which a packet waits for an output and VL; `to` as in struct port. */
static inline uint32_t slot_of(const struct ibcc_engine *e, uint32_t to, uint32_t qp)
{
	return (to >> SLOT_SHIFT & SLOT_MASK) + (qp & e->slot_by_qp);
}

/* pool.c: memory. Reserving guarantees that many allocations; 0 or -ENOMEM. */
int ibcc_fab_reserve(struct ibcc_engine *e, uint32_t cells, uint32_t pkts);
/* Zeroed memory at a cache line for n (0 becomes 1) objects; NULL: out of memory. */
void *ibcc_fab_alloc(size_t n, size_t size);
/* Makes a vector large enough for `need` objects and moves it. 0 or -ENOMEM. */
int ibcc_fab_grow(void *vec, uint32_t *cap, uint32_t need, size_t size);

/* build.c */
uint8_t ibcc_fab_default_vl(const struct ibcc_engine *e, uint32_t out_port, unsigned int sl);
/* Index of the speed with this rate and extra delay, created with its lanes if new; -ENOMEM. */
int64_t ibcc_fab_speed_get(struct ibcc_engine *e, uint32_t rate_mbps, uint64_t extra_ps);
/* The kind of data packets with this payload (0: the model's), made if it is new; -EINVAL: a buffer
 * cannot hold one, or there are too many sizes; -ENOMEM.
 */
int ibcc_fab_kind_get(struct ibcc_engine *e, uint32_t packet_bytes);
/* VL of an SL at a channel adapter, or 255 if it maps to none that is in use. */
uint8_t ibcc_fab_hca_vl(const struct ibcc_engine *e, const struct hca *h, unsigned int sl);

/* tables.c. Gives a switch a forwarding table; 0 or -ENOMEM. */
int ibcc_fab_lft_set(struct ibcc_engine *e, struct fab_switch *s, const uint8_t *lft, uint32_t len);
/* Makes all tables long enough for the LIDs below n; 0 or -ENOMEM. */
int ibcc_fab_lids_reserve(struct ibcc_engine *e, uint32_t n);

/* credits.c */
void ibcc_fab_credits_init(struct ibcc_engine *e, uint32_t in_port);
/* The outq no longer waits for credits. */
void ibcc_fab_credits_met(struct port *q);
/* Discards the credits that are under way to a port: its link was down. */
void ibcc_fab_credits_forget(struct ibcc_engine *e, uint32_t port);
/* Adds all credits that have come to their outqs. */
void ibcc_fab_credits_drain(struct ibcc_engine *e);
void ibcc_fab_credits_come(struct ibcc_engine *e, uint32_t index);

/* switch.c. A packet arrives; a port may send; the packets that wait for a port are lost. */
void ibcc_fab_arrive(struct ibcc_engine *e, uint32_t pkt, uint32_t to);
/* Routes have changed: outputs found in advance for packets under way are looked up again. */
void ibcc_fab_routes_forget(struct ibcc_engine *e);
void ibcc_fab_switch_send(struct ibcc_engine *e, uint32_t port);
/* Bytes of the VL's packet whose turn it is, which it sent; 0: there is none, or it may not. */
uint32_t ibcc_fab_switch_send_vl(struct ibcc_engine *e, uint32_t port, unsigned int vl);
void ibcc_fab_switch_flush(struct ibcc_engine *e, uint32_t port);

/* drop.c: takes a packet out of the fabric and counts it at a port. */
void ibcc_fab_drop(struct ibcc_engine *e, uint32_t pkt, uint32_t port);
/* The port that the packet started from. */
uint32_t ibcc_fab_origin(const struct ibcc_engine *e, const struct pkt *p);

/* hca.c: sending. */
void ibcc_fab_hca_send(struct ibcc_engine *e, uint32_t port);
/* Bytes of the VL's packet whose turn it is, which it sent; 0: there is none, or it may not. */
uint32_t ibcc_fab_hca_send_vl(struct ibcc_engine *e, uint32_t port, unsigned int vl);
void ibcc_fab_flow_due(struct ibcc_engine *e, uint32_t flow);
void ibcc_fab_qp_due(struct ibcc_engine *e, uint32_t qp);
void ibcc_fab_ctrl_send(struct ibcc_engine *e, uint32_t pkt);
void ibcc_fab_gate_open(struct ibcc_engine *e, uint32_t group);
void ibcc_fab_group_move(struct ibcc_engine *e, struct group *g, uint8_t vl);

/* qps.c: the group of a port and SL, made if need be; index or -ENOMEM. */
int64_t ibcc_fab_group_get(struct ibcc_engine *e, uint32_t port, unsigned int sl);

/* sink.c: receiving. */
void ibcc_fab_hca_arrive(struct ibcc_engine *e, uint32_t pkt);
/* An answer's delay is over. */
void ibcc_fab_ctrl_due(struct ibcc_engine *e, uint32_t pkt);
/* Counts the quiet deliveries before a time; makes events of all from now on: 0 or -ENOMEM. */
void ibcc_fab_quiet_count(struct ibcc_engine *e, uint64_t before);
int ibcc_fab_quiet_end(struct ibcc_engine *e);
void ibcc_fab_hca_drained(struct ibcc_engine *e, uint32_t hca);

/* reaction.c: what a channel adapter does about BECNs. */
void ibcc_fab_becn(struct ibcc_engine *e, uint32_t pkt);
/* The index that a queue pair, or NONE, is throttled by. */
uint16_t ibcc_fab_ccti(const struct ibcc_engine *e, const struct group *g, uint32_t qp);
/* Passes its settings on to a group. */
void ibcc_fab_group_cc(const struct ibcc_engine *e, struct group *g);

/* mark.c: thresholds from the settings; packets to pass before a mark; congested state. */
void ibcc_fab_mark_setup(struct ibcc_engine *e, uint32_t port);
/* Bytes that thresholds of a switch's port are shares of. */
uint32_t ibcc_fab_mark_reference(const struct ibcc_engine *e, uint32_t port);
uint32_t ibcc_fab_mark_gap(struct outq_cong *v);
void ibcc_fab_cong_set(struct ibcc_engine *e, uint32_t port, struct port *q, bool on);

/* cclog.c */
void ibcc_fab_log_mark(struct ibcc_engine *e, uint32_t port, const struct pkt *p);
void ibcc_fab_log_trigger(struct ibcc_engine *e, struct hca *h, uint32_t qp);

/* traffic.c: arrival of the packet at the head of a flow's queue; in the future if it is empty. */
uint64_t ibcc_fab_head_ps(struct ibcc_engine *e, struct flow *f);
static inline uint64_t head_ps(struct ibcc_engine *e, struct flow *f)
{
	if (f->direct) /* the most common by far */
		return f->head.next_ps;
	return ibcc_fab_head_ps(e, f);
}
int ibcc_fab_sort_dests(struct ibcc_engine *e);
uint32_t ibcc_fab_pick_dst(struct ibcc_engine *e, struct flow *f);
/* Closed loop: the source knows that a packet is delivered or lost. _done() wakes the flow, too. */
void ibcc_fab_flow_acked(struct ibcc_engine *e, struct flow *f);
void ibcc_fab_flow_done(struct ibcc_engine *e, uint32_t flow);
uint64_t ibcc_fab_offered(struct ibcc_engine *e, struct flow *f);

/* control.c */
void ibcc_fab_scenario(struct ibcc_engine *e, uint32_t index);

#endif
