/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The loop. */
#include <errno.h>

#include "eth.h"
#include "tx.h"

/* No event takes more of either; what could (a link's loss, packets passed over) reserves its own.
 */
#define CELLS_PER_EVENT 16u
#define PKTS_PER_EVENT  4u
#define REFILL          1024u

static inline void handle(struct ibcc_engine *e, enum ibcc_fab_event kind, uint32_t i)
{
	switch (kind) {
	case EV_ARRIVE: ibcc_fab_arrive(e, i); break;
	case EV_DELIVER: ibcc_fab_hca_arrive(e, i); break;
	case EV_FREE: port_look(e, i); break;
	case EV_CREDIT: ibcc_fab_credits_come(e, i); break;
	case EV_FLOW: ibcc_fab_flow_due(e, i); break;
	case EV_QP: ibcc_fab_qp_due(e, i); break;
	case EV_GATE: ibcc_fab_gate_open(e, i); break;
	case EV_CTRL: ibcc_fab_ctrl_send(e, i); break;
	case EV_DRAIN: ibcc_fab_hca_drained(e, i); break;
	case EV_TIMER: ibcc_fab_timer(e, i); break;
	case EV_SCENARIO: ibcc_fab_scenario(e, i); break;
	case EV_PAUSE: ibcc_eth_pause(e, i); break;
	case EV_BCN: ibcc_bcn_notify(e, i); break;
	}
}

/* How many events ahead of a cursor memory is fetched into the cache: what an event names, and what
 * that leads to.
 */
#define FAR  6u
#define NEAR 3u

/* The next event of a cursor. */
static inline void handle_sent(struct ibcc_engine *e, uint32_t cursor)
{
	const struct sent *far = cursor_ahead(&e->evq, cursor, FAR);
	const struct sent *near = cursor_ahead(&e->evq, cursor, NEAR);
	enum ibcc_fab_event kind = (enum ibcc_fab_event)e->evq.cursor[cursor].event;
	uint32_t i = cursor_pass(&e->evq, cursor);

	if (kind == EV_ARRIVE) {
		__builtin_prefetch(&e->pkt[far->index[SENT_ARRIVES]]);
		__builtin_prefetch(&e->in[far->to]);
		ibcc_fab_arrive_soon(e, near->index[SENT_ARRIVES]);
		ibcc_fab_arrive(e, i);
	} else if (kind == EV_FREE) {
		__builtin_prefetch(&e->port[far->index[SENT_FREE]]);
		__builtin_prefetch(port_outq(e, far->index[SENT_FREE], 0));
		ibcc_fab_free_soon(e, near->index[SENT_FREE]);
		port_look(e, i);
	} else if (kind == EV_CREDIT) {
		ibcc_fab_credits_come(e, i);
	} else {
		__builtin_prefetch(&e->pkt[far->index[SENT_ARRIVES]]);
		ibcc_fab_hca_arrive(e, i);
	}
}

int ibcc_engine_run(struct ibcc_engine *e, uint64_t until_ps)
{
	uint64_t n = 0;

	if (until_ps < e->now_ps)
		return -EINVAL;
	while (!e->err) {
		uint32_t first = evq_first(&e->evq), arg;
		uint64_t t = e->evq.due[first];

		if (t > until_ps) {
			e->now_ps = until_ps;
			break;
		}
		if (e->n_free_cells < CELLS_PER_EVENT || e->n_free_pkts < PKTS_PER_EVENT) {
			e->err = ibcc_fab_reserve(e, REFILL, REFILL);
			if (e->err)
				break;
		}
		e->now_ps = t;
		n++;
		if (first) {
			handle_sent(e, first);
			continue;
		}
		arg = calendar_pop(e);
		handle(e, (enum ibcc_fab_event)(arg >> CELL_KIND_SHIFT), arg & CELL_INDEX_MASK);
	}
	e->events += n;
	return e->err;
}

uint64_t ibcc_engine_now_ps(const struct ibcc_engine *e)
{
	return e->now_ps;
}
