/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The main loop, ibcc_engine_run(): takes the earliest event from the queue, sets the time, calls
 * the handler. fetch.h fetches memory for the events behind it.
 */
#include <errno.h>

#include "endpoint.h"
#include "eth.h"
#include "fetch.h"
#include "reads.h"
#include "switch.h"

/* An event takes at most this many cells and packets. Handlers that may need more (a link goes
 * down, packets are passed over) reserve them on their own.
 */
#define CELLS_PER_EVENT 48u
#define PKTS_PER_EVENT  4u
#define REFILL          1024u

/* Handles an event of the calendar. Events of lanes take the shorter way of handle_lane(). */
static inline void handle(struct ibcc_engine *e, enum ibcc_fab_event kind, uint32_t i)
{
	switch (kind) {
	case EV_ARRIVE: ibcc_fab_arrive(e, i, port_of(e, e->pkt[i].from)->to | UNROUTED); break;
	case EV_DELIVER: ibcc_fab_hca_arrive(e, i); break;
	case EV_QUIET: break; /* not in the calendar */
	case EV_FREE:
		if (port_free(e, port_of(e, i)))
			port_look(e, i);
		break;
	case EV_CREDIT: ibcc_fab_credits_come(e, i); break;
	case EV_FLOW: ibcc_fab_flow_due(e, i); break;
	case EV_QP: ibcc_fab_qp_due(e, i); break;
	case EV_GATE: ibcc_fab_gate_open(e, i); break;
	case EV_CTRL: ibcc_fab_ctrl_due(e, i); break;
	case EV_DRAIN: ibcc_fab_hca_drained(e, i); break;
	case EV_SCENARIO: ibcc_fab_scenario(e, i); break;
	case EV_PAUSE: ibcc_eth_pause(e, i); break;
	case EV_BCN: ibcc_bcn_notify(e, i); break;
	case EV_READ: ibcc_reads_end(e, i); break;
	case EV_RETRY: ibcc_ends_retry(e, i); break;
	}
}

/* Handles the next event of the lane that a tag names. */
static ALWAYS_INLINE void handle_lane(struct ibcc_engine *e, uint32_t tag, bool plain)
{
	uint32_t lane = lane_of(tag), port;
	const struct lane *l = &e->evq.lane[lane];

	if (lane == LANE_ARRIVE) {
		uint32_t to = lane_ahead(l, 0)->with;

		fetch_arrival(e, l, plain);
		arrive(e, lane_pop(&e->evq, lane), to, plain);
	} else if (l->event == EV_FREE) {
		fetch_free(e, l, plain);
		port = free_pop(&e->evq, lane);
		if (!port_free(e, port_at(e, port, plain)))
			return;
		if (tag & TAG_OF_HCA)
			ibcc_fab_hca_send(e, port);
		else if (!plain)
			ibcc_fab_switch_send(e, port);
		else if (port_at(e, port, plain)->queued)
			send_vl(e, port, 0, true);
	} else {
		fetch_delivery(e, l);
		ibcc_fab_hca_arrive(e, lane_pop(&e->evq, lane));
	}
}

/* Runs until a time; `plain` as in tx.h. For the plain model, what a switch does is part of the
 * loop.
 */
static ALWAYS_INLINE int run(struct ibcc_engine *e, uint64_t until_ps, bool plain)
{
	uint64_t n = 0, end;

	if (until_ps < e->now_ps)
		return -EINVAL;
	/* Includes all events at until_ps; an empty lane's time, NEVER, is not below it. */
	end = until_ps < MAX_DUE_PS ? (until_ps + 1) << TAG_BITS : NEVER;
	while (!e->err) {
		uint64_t due = evq_first(&e->evq);
		uint32_t tag = due & (MAX_TAGS - 1), arg;

		if (due >= end) {
			e->now_ps = until_ps;
			ibcc_fab_quiet_count(e, until_ps + 1);
			break;
		}
		if (e->n_free_cells < CELLS_PER_EVENT || e->n_free_pkts < PKTS_PER_EVENT) {
			e->err = ibcc_fab_reserve(e, REFILL, REFILL);
			if (e->err)
				break;
		}
		e->now_ps = due >> TAG_BITS;
		n++;
		if (lane_of(tag)) {
			handle_lane(e, tag, plain);
			continue;
		}
		arg = calendar_pop(e);
		fetch_calendar(e);
		handle(e, (enum ibcc_fab_event)(arg >> CELL_KIND_SHIFT), arg & CELL_INDEX_MASK);
	}
	e->events += n;
	return e->err;
}

int ibcc_engine_run(struct ibcc_engine *e, uint64_t until_ps)
{
	return e->plain ? run(e, until_ps, true) : run(e, until_ps, false);
}

uint64_t ibcc_engine_now_ps(const struct ibcc_engine *e)
{
	return e->now_ps;
}
