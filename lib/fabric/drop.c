/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Packets that do not arrive. */
#include "pool.h"

uint32_t ibcc_fab_origin(const struct ibcc_engine *e, const struct pkt *p)
{
	const struct qp *q = &e->qp[p->qp];

	return p->flags & PKT_CTRL ? q->dst_port : e->flow[q->flow].src_port;
}

void ibcc_fab_drop(struct ibcc_engine *e, uint32_t pkt, uint32_t port)
{
	const struct pkt *p = &e->pkt[pkt];

	e->stat[port].dropped++;
	if (!(p->flags & PKT_CTRL)) {
		e->flow[e->qp[p->qp].flow].dropped++;
		e->dropped++;
	}
	pkt_give(e, pkt);
}
