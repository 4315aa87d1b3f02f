/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Taking from and giving back to the pools. The run loop reserves before each event, so that taking
 * cannot fail within one.
 */
#ifndef IBCC_FABRIC_POOL_H
#define IBCC_FABRIC_POOL_H

#include "internal.h"

static inline uint32_t cell_take(struct ibcc_engine *e)
{
	uint32_t c = e->free_cell;

	e->free_cell = e->cell[c].next;
	e->n_free_cells--;
	return c;
}

static inline void cell_give(struct ibcc_engine *e, uint32_t c)
{
	e->cell[c].next = e->free_cell;
	e->free_cell = c;
	e->n_free_cells++;
}

static inline uint32_t pkt_take(struct ibcc_engine *e)
{
	uint32_t p = e->free_pkt;

	e->free_pkt = e->pkt[p].next;
	e->n_free_pkts--;
	return p;
}

static inline void pkt_give(struct ibcc_engine *e, uint32_t p)
{
	e->pkt[p].next = e->free_pkt;
	e->free_pkt = p;
	e->n_free_pkts++;
}

#endif
