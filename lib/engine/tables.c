/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Forwarding tables, in the form in which packets are routed by them.
 *
 * All tables are long enough for every LID that a packet may be sent to, and name no output that
 * the switch lacks. Channel adapters have a table that leads nowhere. So route() needs no
 * comparison.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static int grow(uint8_t **table, uint32_t old, uint32_t n)
{
	uint8_t *new = realloc(*table, n);

	if (!new)
		return -ENOMEM;
	memset(new + old, 0, n - old);
	*table = new;
	return 0;
}

int ibcc_fab_lids_reserve(struct ibcc_engine *e, uint32_t n)
{
	int rc = 0;

	if (n <= e->n_lids)
		return 0;
	for (uint32_t i = 0; i < e->n_sw && !rc; i++) {
		struct fab_switch *s = &e->sw[i];

		if (!s->out)
			continue;
		rc = grow(&s->out, e->n_lids, n);
		e->place[i].out = s->out;
	}
	if (!rc)
		rc = grow(&e->nowhere, e->n_lids, n);
	for (uint32_t i = 0; i < e->n_hca; i++)
		e->place[e->n_sw + i].out = e->nowhere;
	if (!rc)
		e->n_lids = n;
	return rc;
}

int ibcc_fab_lft_set(struct ibcc_engine *e, struct fab_switch *s, const uint8_t *lft, uint32_t len)
{
	uint8_t *out;

	if (ibcc_fab_lids_reserve(e, len))
		return -ENOMEM;
	out = calloc(e->n_lids, 1);
	if (!out)
		return -ENOMEM;
	for (uint32_t i = 0; i < len; i++)
		out[i] = lft[i] <= s->n_ports ? lft[i] : 0;
	free(s->out);
	s->out = out;
	e->place[s - e->sw].out = s->out;
	return 0;
}
