/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory that grows: vectors, and the pools of cells and packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

int ibcc_fab_grow(void *vec, uint32_t *cap, uint32_t need, size_t size)
{
	uint32_t n = *cap ? *cap : 4;
	void *old, *new;

	if (need <= *cap)
		return 0;
	while (n < need)
		n = n > UINT32_MAX / 2 ? need : n * 2;
	memcpy(&old, vec, sizeof(old));
	new = reallocarray(old, n, size);
	if (!new)
		return -ENOMEM;
	memset((char *)new + *cap *size, 0, (n - *cap) * size);
	memcpy(vec, &new, sizeof(new));
	*cap = n;
	return 0;
}

/* Packets begin at a cache line, so that none lies across two. */
static int grow_pkts(struct ibcc_engine *e, uint32_t need)
{
	uint32_t n = e->cap_pkts ? e->cap_pkts : 64;
	struct pkt *bigger;

	while (n < need)
		n = n > UINT32_MAX / 2 ? need : n * 2;
	bigger = aligned_alloc(LINE_BYTES, n * sizeof(*bigger));
	if (!bigger)
		return -ENOMEM;
	memset(bigger, 0, n * sizeof(*bigger));
	if (e->cap_pkts)
		memcpy(bigger, e->pkt, e->cap_pkts * sizeof(*bigger));
	free(e->pkt);
	e->pkt = bigger;
	e->cap_pkts = n;
	return 0;
}

int ibcc_fab_reserve(struct ibcc_engine *e, uint32_t cells, uint32_t pkts)
{
	if (e->n_free_cells < cells) {
		uint32_t old = e->cap_cells;
		int rc = ibcc_fab_grow(&e->cell, &e->cap_cells, old + cells, sizeof(*e->cell));

		if (rc)
			return rc;
		for (uint32_t c = e->cap_cells; c-- > old;)
			cell_give(e, c);
	}
	/* Each pending event may have to move to the heap. */
	if (e->evq.cap_far < e->cap_cells) {
		int rc = ibcc_fab_grow(&e->evq.far, &e->evq.cap_far, e->cap_cells,
				       sizeof(*e->evq.far));

		if (rc)
			return rc;
	}
	if (e->n_free_pkts < pkts) {
		uint32_t old = e->cap_pkts;
		int rc = grow_pkts(e, old + pkts);

		if (rc)
			return rc;
		if (e->cap_pkts > CELL_INDEX_MASK)
			return -ENOMEM;
		for (uint32_t p = e->cap_pkts; p-- > old;)
			pkt_give(e, p);
	}
	return 0;
}
