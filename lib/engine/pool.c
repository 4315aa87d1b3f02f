/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Memory that grows: vectors, and the pools of cells and packets. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "pool.h"

void *ibcc_fab_alloc(size_t n, size_t size)
{
	size_t bytes;
	void *p;

	if (__builtin_mul_overflow(n + 1, size, &bytes) || bytes > SIZE_MAX - LINE_BYTES)
		return NULL;
	bytes = (bytes + LINE_BYTES - 1) / LINE_BYTES * LINE_BYTES;
	p = aligned_alloc(LINE_BYTES, bytes);
	if (p)
		memset(p, 0, bytes);
	return p;
}

/* `vec` points to the pointer of a vector of any type, so it is copied by memcpy(). */
int ibcc_fab_grow(void *vec, uint32_t *cap, uint32_t need, size_t size)
{
	uint32_t n = *cap ? *cap : 4;
	void *old, *new;

	if (need <= *cap)
		return 0;
	while (n < need)
		n = n > UINT32_MAX / 2 ? need : n * 2;
	new = ibcc_fab_alloc(n, size);
	if (!new)
		return -ENOMEM;
	memcpy(&old, vec, sizeof(old));
	if (*cap)
		memcpy(new, old, *cap * size);
	free(old);
	memcpy(vec, &new, sizeof(new));
	*cap = n;
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
		int rc = ibcc_fab_grow(&e->pkt, &e->cap_pkts, old + pkts, sizeof(*e->pkt));

		if (rc)
			return rc;
		if (e->cap_pkts > CELL_INDEX_MASK)
			return -ENOMEM;
		for (uint32_t p = e->cap_pkts; p-- > old;)
			pkt_give(e, p);
	}
	return 0;
}
