/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets that do not arrive: no route, a link that went down, no room (PAUSE). */
#include "messages.h"
#include "pool.h"
#include "qps.h"

uint32_t ibcc_fab_origin(const struct ibcc_engine *e, const struct pkt *p)
{
	return p->flags & PKT_CTRL ? qp_dst(e, p->qp) : e->flow[p->flow].src_port;
}

void ibcc_fab_drop(struct ibcc_engine *e, uint32_t pkt, uint32_t port)
{
	const struct pkt *p = &e->pkt[pkt];

	/* A closed loop counts a lost packet or answer as done; connections send either again. */
	if (!e->ends && e->flow[p->flow].window && (e->model.acks || !(p->flags & PKT_CTRL)))
		ibcc_fab_flow_done(e, p->flow);
	e->stat[port].dropped++;
	if (!(p->flags & PKT_CTRL)) {
		e->flow[p->flow].dropped++;
		e->dropped++;
		if (!e->ends && e->flow[p->flow].window)
			messages_took(e, e->flow[p->flow].messages, p->clock, true);
	}
	pkt_give(e, pkt);
}
