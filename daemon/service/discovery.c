/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/service/discovery.h"

/* Is there all of `a` in `b`, by numbers? */
static bool is_as_full(const struct ibcc_topo *a, const struct ibcc_topo *b)
{
	uint32_t links[2] = { 0 }, tables[2] = { 0 };
	const struct ibcc_topo *t[2] = { a, b };

	for (unsigned int k = 0; k < 2; k++) {
		for (uint32_t i = 0; i < t[k]->n_ports; i++)
			links[k] += t[k]->port[i].peer != IBCC_NONE;
		for (uint32_t i = 0; i < t[k]->n_nodes; i++)
			tables[k] += t[k]->node[i].lft_len > 0;
	}
	return a->n_nodes <= b->n_nodes && links[0] <= links[1] && tables[0] <= tables[1];
}

bool ibcc_discovery_judge(struct ibcc_discovery *d, const struct ibcc_topo *have,
			  const struct ibcc_topo *found, uint64_t gaps, const char *text)
{
	bool sound;

	d->same = gaps == d->gaps ? d->same + 1 : 1;
	d->gaps = gaps;
	ibcc_why_set(&d->text, 0, "%s", gaps ? text : "");
	sound = !ibcc_discovery_is_doubtful(d);
	if (!sound && have && !(d->partial && is_as_full(have, found)))
		return false;
	d->partial = !sound;
	return true;
}
