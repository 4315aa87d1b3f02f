/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a discovery with gaps replaces the topology known so far, and when nodes that did not
 * answer are asked again (discovery.h).
 */
#include "daemon/service/discovery.h"

#include <stdio.h>
#include <string.h>

#include <ibcc/text.h>

#define SECOND_NS      1000000000ull
#define MOST_NS        (900 * SECOND_NS)
#define MOST_DOUBLINGS 10u

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

void ibcc_discovery_reset(struct ibcc_discovery *d)
{
	ibcc_walk_free(d->walk);
	*d = (struct ibcc_discovery){ 0 };
}

uint64_t ibcc_discovery_wait_ns(const struct ibcc_discovery *d)
{
	unsigned int doublings = d->tries / 2;
	uint64_t ns = SECOND_NS << (doublings < MOST_DOUBLINGS ? doublings : MOST_DOUBLINGS);

	return ns < MOST_NS ? ns : MOST_NS;
}

bool ibcc_discovery_shared_trouble(const struct ibcc_discovery *d, struct ibcc_why *why)
{
	char others[48] = "";

	if (!d->shared.n && !d->lid_text[0])
		return false;
	if (!d->shared.n) {
		ibcc_why_set(why, 0,
			     "%s; what is sent there reaches one port, and it is not known which: "
			     "have the subnet manager sweep the fabric (SIGHUP to OpenSM), or "
			     "restart it",
			     d->lid_text);
		return true;
	}
	if (d->shared.n > 1)
		snprintf(others, sizeof(others), " (and %u more such place%s)", d->shared.n - 1,
			 ibcc_text_plural(d->shared.n - 1, "", "s"));
	ibcc_why_set(why, 0,
		     "two nodes have one GUID: %s%s; the daemon cannot tell them apart, so a "
		     "setting may reach the wrong one: unplug one of them, or give it a GUID of "
		     "its own",
		     d->shared_text, others);
	return true;
}

bool ibcc_discovery_judge(struct ibcc_discovery *d, const struct ibcc_topo *have,
			  const struct ibcc_topo *found, const struct ibcc_walk_gaps *gaps,
			  bool again, const char *text)
{
	bool sound;

	if (!again)
		d->odd_same = gaps->odd_sum == d->odd_sum ? d->odd_same + 1 : 1;
	d->odd_sum = gaps->odd_sum;
	d->shared = gaps->shared;
	memcpy(d->shared_text, gaps->shared_text, sizeof(d->shared_text));
	memcpy(d->lid_text, gaps->lid_text, sizeof(d->lid_text));
	d->n_missing = gaps->n;
	d->tries = gaps->n ? gaps->tries : 0;
	ibcc_why_set(&d->text, 0, "%s", text);
	sound = !ibcc_discovery_is_doubtful(d);
	if (!sound && have && !(d->partial && is_as_full(have, found)))
		return false;
	d->partial = !sound;
	return true;
}
