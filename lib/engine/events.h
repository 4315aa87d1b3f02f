/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What happens in a fabric (enum ibcc_fab_event), and the structures that keep an event until its
 * time comes. evq.h has the operations on them and the order of events.
 */
#ifndef IBCC_ENGINE_EVENTS_H
#define IBCC_ENGINE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>

#define NONE  UINT32_MAX
#define NEVER UINT64_MAX

enum ibcc_fab_event {
	EV_ARRIVE,   /* packet: header at a switch and routed */
	EV_DELIVER,  /* packet: tail at an HCA */
	EV_QUIET,    /* packet: tail at an HCA, only counted, at the next reading (sink.c) */
	EV_FREE,     /* port: has sent its packet and may send the next */
	EV_CREDIT,   /* outq and the kind of packet (KIND_BITS): its credits come; or NO_CREDIT */
	EV_FLOW,     /* flow: its next packet is due */
	EV_QP,       /* queue pair: its delay is over, unless it was extended */
	EV_GATE,     /* group: the delay of a service level is over */
	EV_CTRL,     /* packet: an ACK or CNP is ready to be sent; or a BECN is there (sink.c) */
	EV_DRAIN,    /* HCA: has taken a packet out of its receive buffer */
	EV_SCENARIO, /* timed change of the fabric */
	EV_PAUSE,    /* port, doubled: may send again; plus 1: must stop (see eth.h) */
	EV_BCN,      /* packet: a message for a rate limiter */
	EV_READ,     /* port: a packet has been read from its buffer, and outputs waited for that */
	EV_RETRY,    /* flow: its connection may have waited too long for an acknowledgement */
};

/* An event of the calendar: t is its time with a tag, arg is kind << 28 | index. Or a deferred
 * packet: t is its arrival in the send queue, arg is its flow.
 */
struct cell {
	uint64_t t;
	uint32_t next, arg;
};
#define CELL_KIND_SHIFT 28
#define CELL_INDEX_MASK ((1u << CELL_KIND_SHIFT) - 1)
#define NO_CREDIT       0u /* outq 0 is of a port 0, which sends nothing */

/* An event beyond the calendar's ring. `seq` keeps events of the same time in the order in which
 * they were made.
 */
struct far_event {
	uint64_t t, seq;
	uint32_t cell;
};

/* A list of the calendar's events of one interval of time, sorted. */
struct bucket {
	uint32_t head, tail;
};

/* An event of a lane. `with` of EV_ARRIVE is the result of route(), an output and a slot, or
 * UNROUTED with a place and a slot while route() was not asked. `with` of EV_FREE and EV_QUIET is
 * the credit that the packet's place in a buffer becomes, in the form of EV_CREDIT, or NO_CREDIT.
 */
#define UNROUTED (1u << 31)
struct coming {
	uint64_t due; /* time and tag */
	uint32_t index, with;
};

/* Events that follow after one delay, hence in order. */
struct lane {
	struct coming *ring; /* NULL: its events go to the calendar */
	uint64_t *live;      /* of EV_FREE, by place in the ring: the port has something to send */
	uint32_t head, tail, mask;
	uint32_t full;      /* where `tail` would meet what is yet to come, as far as was looked */
	uint32_t credit_at; /* the first whose credits have not been taken in */
	uint8_t event;
	uint8_t watch; /* where in `due` its first event stands */
};

/* Times that are compared have a tag in their lowest bits, so that the smallest one also says which
 * event it is. From the top: whether it is an EV_FREE (which comes after all else at its time), the
 * lane's number, and whether the port of an EV_FREE is a channel adapter's, so that the handler is
 * chosen without waiting for the port's memory. That leaves 2^58 ps of virtual time, three days.
 */
#define LANE_BITS   4u
#define MAX_LANES   (1u << LANE_BITS)
#define TAG_OF_HCA  1u
#define TAG_OF_FREE (1u << (LANE_BITS + 1))
#define TAG_BITS    (LANE_BITS + 2)
#define MAX_TAGS    (1u << TAG_BITS)
#define MAX_DUE_PS  (NEVER >> TAG_BITS)

/* Lanes that are always there; the others come with the rates of links. */
enum {
	LANE_CALENDAR, /* not a lane: events without a fixed delay */
	LANE_ARRIVE,   /* a header takes the same time on all links */
	FIRST_LANE,
	UNWATCHED = MAX_LANES,
	LANE_RETURN = MAX_LANES /* credits of places that were given free at once; no events */
};

/* Pending events: lanes for fixed delays; for the others a ring of buckets for the near future, a
 * heap beyond (see evq.h).
 */
struct evq {
	/* Time of the earliest event of the calendar and of each lane; the last is not read. */
	uint64_t due[MAX_LANES + 1];
	uint32_t n_lanes, n_watched; /* lanes from n_watched on give no events (EV_QUIET) */
	uint32_t n_short;            /* bits in `short_of` */
	uint64_t *short_of;          /* outqs whose credits are events of their own */
	struct lane lane[MAX_LANES + 1];
	uint8_t credit_lane[MAX_LANES]; /* those beside whose events credits stand */
	uint32_t n_credit_lanes;
	unsigned int shift; /* bucket width is 2^shift, of times with tags */
	uint32_t n_buckets, n_sum;
	uint64_t cur; /* number of the earliest bucket of the ring */
	struct bucket *bucket;
	uint64_t *bits, *sum; /* non-empty buckets; non-empty words of bits */
	uint32_t n_far, cap_far;
	struct far_event *far;
	uint64_t seq;
};

#endif
