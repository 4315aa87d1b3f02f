/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A copy of a topology without its names and GUIDs, for records that users send. The copy is
 * built from scratch, with nodes in random order, so that nothing of the true names can remain in
 * it. Begin with ibcc_disguise_make().
 */
#include <ibcc/disguise.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/rng.h>

/* GUIDs are locally administered ones, which no vendor has. GUID_STEP leaves room for those of a
 * node's ports. */
#define GUID_BASE UINT64_C(0x0200000000000000)
#define GUID_STEP 0x100u
#define LMC_MAX   7u

struct work {
	const struct ibcc_topo *t;
	struct ibcc_topo *n;
	uint64_t rng;
	uint32_t *order; /* true node by new node */
	uint32_t *place; /* new node by true node */
	uint32_t lid_next;
	uint32_t lid[IBCC_LID_MAX + 1]; /* new LID by true one, 0: not in use */
};

static void shuffle(uint64_t *rng, uint32_t *v, uint32_t n)
{
	for (uint32_t i = n; i > 1; i--) {
		uint32_t k = ibcc_rng_below(rng, i), x = v[i - 1];

		v[i - 1] = v[k];
		v[k] = x;
	}
}

static int add_nodes(struct work *w)
{
	static const char *const what[] = {
		[IBCC_NODE_CA] = "adapter",
		[IBCC_NODE_SWITCH] = "switch",
		[IBCC_NODE_ROUTER] = "router",
	};

	for (uint32_t i = 0; i < w->t->n_nodes; i++)
		w->order[i] = i;
	shuffle(&w->rng, w->order, w->t->n_nodes);
	for (uint32_t i = 0; i < w->t->n_nodes; i++) {
		const struct ibcc_topo_node *from = &w->t->node[w->order[i]];
		char desc[IBCC_DESC_BYTES];
		int64_t node;

		w->place[w->order[i]] = i;
		snprintf(desc, sizeof(desc), "%s %u", what[from->type], i + 1);
		node = ibcc_topo_add_node(w->n, GUID_BASE + (uint64_t)GUID_STEP * (i + 1),
					  from->type, from->n_ports, desc);
		if (node < 0)
			return (int)node;
		w->n->node[i].vendor_id = from->vendor_id;
		w->n->node[i].device_id = from->device_id;
		w->n->node[i].enhanced_port0 = from->enhanced_port0;
	}
	return 0;
}

static uint32_t new_port(const struct work *w, uint32_t port)
{
	const struct ibcc_topo_port *p = &w->t->port[port];

	return w->n->node[w->place[p->node]].first_port + p->num;
}

static int add_links(struct work *w)
{
	const struct ibcc_topo *t = w->t;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *a = &t->port[i];
		const struct ibcc_topo_port *b = a->peer == IBCC_NONE ? NULL : &t->port[a->peer];
		int rc = b && a->peer > i ? ibcc_topo_link(w->n, w->place[a->node], a->num,
							   w->place[b->node], b->num, a->rate_mbps,
							   a->mtu_bytes)
					  : 0;

		if (rc)
			return rc;
	}
	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *from = &t->port[i];
		struct ibcc_topo_port *to = &w->n->port[new_port(w, i)];

		to->state = from->state;
		to->op_vls = from->op_vls;
		to->mtu_bytes = from->mtu_bytes;
		to->rate_mbps = from->rate_mbps;
		to->lanes = from->lanes;
		to->caps = from->caps;
		to->guid = from->guid ? w->n->node[to->node].guid + from->num : 0;
	}
	return 0;
}

/* Assigns new LIDs. The largest blocks come first, because a block begins at a multiple of its
 * length. */
static int add_lids(struct work *w)
{
	for (unsigned int lmc = LMC_MAX + 1; lmc-- > 0;) {
		uint32_t len = 1u << lmc;

		for (uint32_t p = 0; p < w->n->n_ports; p++) {
			uint32_t i = w->n->port[p].node;
			uint32_t old = w->t->node[w->order[i]].first_port + w->n->port[p].num;
			uint32_t lid = w->t->port[old].lid;
			int rc;

			if (!lid || ibcc_topo_lmc(w->t, old) != lmc)
				continue;
			w->lid_next = (w->lid_next + len - 1) / len * len;
			if (w->lid_next > IBCC_LID_MAX)
				return -EINVAL;
			rc = ibcc_topo_set_lid(w->n, p, (uint16_t)w->lid_next, lmc);
			if (rc)
				return rc;
			for (uint32_t k = 0; k < len; k++)
				w->lid[lid + k] = w->lid_next++;
		}
	}
	return 0;
}

/* Assigns new LIDs to those that only forwarding tables have: of virtual ports, and of nodes that
 * have left. */
static int add_other_lids(struct work *w)
{
	uint32_t *other = calloc(IBCC_LID_MAX, sizeof(*other)), n = 0;

	if (!other)
		return -ENOMEM;
	for (uint32_t i = 0; i < w->t->n_nodes; i++) {
		const struct ibcc_topo_node *sw = &w->t->node[i];

		for (uint32_t lid = 1; sw->lft && lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++)
			if (sw->lft[lid] != IBCC_LFT_NONE && !w->lid[lid]) {
				w->lid[lid] = IBCC_NONE; /* until all are known */
				other[n++] = lid;
			}
	}
	shuffle(&w->rng, other, n);
	for (uint32_t i = 0; i < n; i++)
		w->lid[other[i]] = w->lid_next++;
	free(other);
	return w->lid_next > IBCC_LID_MAX + 1 ? -EINVAL : 0;
}

static int add_sl2vl(struct work *w, uint32_t i)
{
	const struct ibcc_topo_node *from = &w->t->node[w->order[i]];
	unsigned int side = from->n_ports + 1u;
	int rc = 0;

	for (unsigned int k = 0; from->sl2vl && k < side * side && !rc; k++)
		rc = ibcc_topo_set_sl2vl(w->n, i, k / side, k % side, from->sl2vl[k]);
	return rc;
}

static int add_tables(struct work *w)
{
	uint8_t *lft = calloc(1, w->lid_next);
	int rc = lft ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < w->n->n_nodes && !rc; i++) {
		const struct ibcc_topo_node *from = &w->t->node[w->order[i]];

		if (!ibcc_topo_is_switch(w->n, i))
			continue;
		memset(lft, IBCC_LFT_NONE, w->lid_next);
		for (uint32_t lid = 1; from->lft && lid < from->lft_len && lid <= IBCC_LID_MAX;
		     lid++)
			if (w->lid[lid])
				lft[w->lid[lid]] = from->lft[lid];
		rc = from->lft ? ibcc_topo_set_lft(w->n, i, lft, w->lid_next) : 0;
		if (!rc)
			rc = add_sl2vl(w, i);
	}
	free(lft);
	return rc;
}

int ibcc_disguise_make(const struct ibcc_topo *t, uint64_t seed, struct ibcc_disguise *out)
{
	uint32_t nodes = t->n_nodes ? t->n_nodes : 1, ports = t->n_ports ? t->n_ports : 1;
	struct work *w = calloc(1, sizeof(*w));
	int rc = -ENOMEM;

	*out = (struct ibcc_disguise){ NULL, calloc(ports, sizeof(*out->port)) };
	if (!w || !out->port)
		goto out;
	w->t = t;
	w->rng = seed;
	w->lid_next = 1;
	w->order = calloc(nodes, sizeof(*w->order));
	w->place = calloc(nodes, sizeof(*w->place));
	out->topo = w->n = ibcc_topo_new();
	if (!w->order || !w->place || !w->n)
		goto out;
	rc = add_nodes(w);
	if (!rc)
		rc = add_links(w);
	if (!rc)
		rc = add_lids(w);
	if (!rc)
		rc = add_other_lids(w);
	if (!rc)
		rc = add_tables(w);
	for (uint32_t i = 0; i < t->n_ports && !rc; i++)
		out->port[new_port(w, i)] = i;
out:
	if (w) {
		free(w->order);
		free(w->place);
	}
	free(w);
	if (rc)
		ibcc_disguise_fini(out);
	return rc;
}

void ibcc_disguise_fini(struct ibcc_disguise *d)
{
	ibcc_topo_free(d->topo);
	free(d->port);
	*d = (struct ibcc_disguise){ NULL, NULL };
}
