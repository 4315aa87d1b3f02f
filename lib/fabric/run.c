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

static inline void handle(struct ibcc_engine *e, enum ibcc_fab_event kind, uint32_t i, bool eth)
{
	struct port *p;

	switch (kind) {
	case EV_ARRIVE:
		if (eth)
			ibcc_fab_arrive_eth(e, i);
		else
			ibcc_fab_arrive(e, i);
		break;
	case EV_WAKE:
		p = &e->port[i];
		if (p->wake_ps != e->now_ps)
			break; /* an earlier one did its work */
		p->wake_ps = NEVER;
		if (p->flags & PORT_SWITCH)
			ibcc_fab_switch_send(e, i);
		else
			ibcc_fab_hca_send(e, i);
		break;
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

/* `eth` is a constant at each call, so that there are two loops and no question at each packet. */
static inline void loop(struct ibcc_engine *e, uint64_t until_ps, bool eth)
{
	uint64_t n = 0;

	while (!e->err) {
		uint32_t c, arg;

		if (e->n_free_cells < CELLS_PER_EVENT || e->n_free_pkts < PKTS_PER_EVENT) {
			e->err = ibcc_fab_reserve(e, REFILL, REFILL);
			if (e->err)
				break;
		}
		c = evq_pop(e, until_ps);
		if (c == NONE) {
			e->now_ps = until_ps;
			break;
		}
		e->now_ps = e->cell[c].t;
		arg = e->cell[c].arg;
		cell_give(e, c);
		n++;
		handle(e, (enum ibcc_fab_event)(arg >> CELL_KIND_SHIFT), arg & CELL_INDEX_MASK,
		       eth);
	}
	e->events += n;
}

int ibcc_engine_run(struct ibcc_engine *e, uint64_t until_ps)
{
	if (until_ps < e->now_ps)
		return -EINVAL;
	if (e->eth)
		loop(e, until_ps, true);
	else
		loop(e, until_ps, false);
	return e->err;
}

uint64_t ibcc_engine_now_ps(const struct ibcc_engine *e)
{
	return e->now_ps;
}
