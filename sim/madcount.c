/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Counts the requests of clients by class, method and attribute (madcount.h), in a table that is
 * kept sorted and searched by halves.
 */
#include "sim/madcount.h"

#include <string.h>

/* A row's place in the order of the table. */
static uint32_t row_key(const struct ibcc_madcount_row *r)
{
	return (uint32_t)r->mgmt_class << 24 | (uint32_t)r->method << 16 | r->attr_id;
}

void ibcc_madcount_add(struct ibcc_madcount *c, const uint8_t *mad, uint64_t now_ns)
{
	struct ibcc_madcount_row row = {
		.mgmt_class = mad[1],
		.method = mad[3],
		.attr_id = (uint16_t)(mad[16] << 8 | mad[17]),
		.first_ns = now_ns,
	};
	uint32_t lo = 0, hi = c->n;

	if (!c->total++)
		c->start_ns = now_ns;
	c->sets += row.method == IBCC_MAD_SET;
	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (row_key(&c->row[mid]) < row_key(&row))
			lo = mid + 1;
		else
			hi = mid;
	}
	if (lo == c->n || row_key(&c->row[lo]) != row_key(&row)) {
		if (c->n == IBCC_MADCOUNT_MAX) {
			c->other++;
			return;
		}
		memmove(&c->row[lo + 1], &c->row[lo], (c->n - lo) * sizeof(row));
		c->row[lo] = row;
		c->n++;
	}
	c->row[lo].count++;
	c->row[lo].last_ns = now_ns;
}
