/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether several paths would help at a root: the outputs of its switch that lead to the same
 * destinations as soon, and have room. And the sentences about that in a plan. Begin with
 * ibcc_ways_of().
 */
#include <ibcc/ways.h>

#include <ibcc/route.h>
#include <ibcc/text.h>

#define LIDS_SEEN     16u  /* LIDs behind a port that are looked at */
#define FREE_PERMILLE 500u /* an output that sends less than this has room */

/* How many switches a packet passes from switch `sw` on, itself included, until it is at a LID's
 * adapter; 0: it does not get there.
 */
static unsigned int hops_to(const struct ibcc_topo *t, uint32_t sw, uint16_t lid)
{
	for (unsigned int n = 1; n <= IBCC_ROUTE_MAX_HOPS; n++) {
		const struct ibcc_topo_node *node = &t->node[sw];
		uint32_t peer;
		uint8_t out = lid < node->lft_len ? node->lft[lid] : 255;

		if (!out || out > node->n_ports)
			return 0;
		peer = t->port[node->first_port + out].peer;
		if (peer == IBCC_NONE)
			return 0;
		if (!ibcc_topo_is_switch(t, t->port[peer].node))
			return n;
		sw = t->port[peer].node;
	}
	return 0;
}

static uint32_t next_switch(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;

	return peer != IBCC_NONE && ibcc_topo_is_switch(t, t->port[peer].node) ? t->port[peer].node
									       : IBCC_NONE;
}

/* Whether output `other` leads to a LID in no more hops than output `port` of the same switch. */
static bool leads_as_soon(const struct ibcc_topo *t, uint32_t port, uint32_t other, uint16_t lid)
{
	unsigned int here = hops_to(t, next_switch(t, port), lid);
	unsigned int there = hops_to(t, next_switch(t, other), lid);

	return here && there && there <= here;
}

/* Whether output `other` could replace `port` for all LIDs (of those looked at) that leave by
 * `port`. */
static bool is_detour(const struct ibcc_topo *t, uint32_t port, uint32_t other)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[port].node];
	uint32_t n = 0;

	for (uint32_t lid = 1; lid < sw->lft_len && lid <= IBCC_LID_MAX && n < LIDS_SEEN; lid++) {
		uint32_t to = t->lid_port[lid];

		if (sw->lft[lid] != t->port[port].num || to == IBCC_NONE ||
		    ibcc_topo_is_switch(t, t->port[to].node))
			continue;
		if (!leads_as_soon(t, port, other, (uint16_t)lid))
			return false;
		n++;
	}
	return n;
}

/* The share of its rate that an output sent, in permille; 1000 if it is not known. */
static uint32_t sent_permille(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			      uint32_t port)
{
	const struct ibcc_port_sample *p = &s->port[port];
	uint32_t rate = ibcc_topo_link_mbps(t, port);

	if (!ibcc_sample_is_known(p) || !rate || !ibcc_delta_exact(&p->delta, IBCC_CTR_XMIT_DATA))
		return 1000;
	return (uint32_t)((uint64_t)ibcc_delta_xmit_mbps(&p->delta) * 1000 / rate);
}

enum ibcc_ways ibcc_ways_of(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port,
			    uint32_t *other)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[port].node];
	uint32_t least = FREE_PERMILLE;

	*other = IBCC_NONE;
	if (t->port[port].peer == IBCC_NONE)
		return IBCC_WAYS_UNKNOWN;
	if (next_switch(t, port) == IBCC_NONE)
		return IBCC_WAYS_ENDPOINT;
	for (unsigned int num = 1; num <= sw->n_ports; num++) {
		uint32_t q = sw->first_port + num, sent;

		if (q == port || next_switch(t, q) == IBCC_NONE)
			continue;
		sent = sent_permille(t, s, q);
		if (sent >= least || !is_detour(t, port, q))
			continue;
		least = sent;
		*other = q;
	}
	return *other == IBCC_NONE ? IBCC_WAYS_UNKNOWN : IBCC_WAYS_FREE;
}

static void say_root(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		     const struct ibcc_root *r)
{
	char name[96], free_name[96];
	uint32_t other;

	ibcc_topo_port_name(t, r->port, name, sizeof(name));
	switch (ibcc_ways_of(t, s, r->port, &other)) {
	case IBCC_WAYS_UNKNOWN: break;
	case IBCC_WAYS_ENDPOINT:
		ibcc_text_add(x,
			      "endpoint congestion: congestion control helps, other paths do not "
			      "(%s leads to an adapter)",
			      name);
		break;
	case IBCC_WAYS_FREE:
		ibcc_topo_port_name(t, other, free_name, sizeof(free_name));
		ibcc_text_add(
			x,
			"path collision: multipath routing helps if the hosts accept packets out "
			"of order (%s is congested; %s leads to the same place and has room)",
			name, free_name);
		break;
	}
}

static void say_reordering(struct ibcc_text *x, const struct ibcc_vendor *v)
{
	unsigned int n = 0;

	ibcc_text_say(x, "reordering on RC endpoints: take this SL out of adaptive routing (");
	for (unsigned int sl = 0; sl < 16 && v->loose_sls != UINT16_MAX; sl++)
		if (v->loose_sls >> sl & 1)
			ibcc_text_add(x, "%s%u", n++ ? ", " : "SL ", sl);
	ibcc_text_add(x,
		      "%s), unless its hosts place out of order: ibcc-tune ooo-check on a host "
		      "counts what it drops",
		      n ? "" : "all SLs");
}

void ibcc_ways_text(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
		    const struct ibcc_estimate *p, const struct ibcc_vendor *v,
		    struct ibcc_why *text)
{
	struct ibcc_text x = { text->text, sizeof(text->text), 0 };

	text->text[0] = '\0';
	if (!p->n_roots)
		return;
	/* If all service levels have several paths already, other tables would not help. */
	if (!v->n_loose || v->loose_sls != UINT16_MAX ||
	    next_switch(t, p->root[0].port) == IBCC_NONE)
		say_root(&x, t, s, &p->root[0]);
	if (v->n_loose)
		say_reordering(&x, v);
}
