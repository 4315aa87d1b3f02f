/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Taking objects from the pools of cells and packets, and giving them back. The run loop reserves
 * memory before each event, so that taking cannot fail within an event.
 */
#ifndef IBCC_ENGINE_POOL_H
#define IBCC_ENGINE_POOL_H

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
