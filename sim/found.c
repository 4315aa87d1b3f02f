/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "sim/found.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/link.h>

void ibcc_found_clear(struct ibcc_found *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		free(f->node[i]->port);
		free(f->node[i]->lft);
		free(f->node[i]->sl2vl);
		free(f->node[i]);
	}
	free(f->node);
	*f = (struct ibcc_found){ 0 };
}

/* Place of the first node whose GUID is not below one. */
static uint32_t place(const struct ibcc_found *f, uint64_t guid)
{
	uint32_t lo = 0, hi = f->n;

	while (lo < hi) {
		uint32_t mid = (lo + hi) / 2;

		if (f->node[mid]->info.node_guid < guid)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

struct ibcc_found_node *ibcc_found_find(const struct ibcc_found *f, uint64_t guid)
{
	uint32_t i = place(f, guid);

	return i < f->n && f->node[i]->info.node_guid == guid ? f->node[i] : NULL;
}

static int insert(struct ibcc_found *f, struct ibcc_found_node *n)
{
	uint32_t i = place(f, n->info.node_guid);

	if (f->n == f->cap) {
		uint32_t cap = f->cap ? 2 * f->cap : 64;
		struct ibcc_found_node **node = reallocarray(f->node, cap, sizeof(*node));

		if (!node)
			return -ENOMEM;
		f->node = node;
		f->cap = cap;
	}
	memmove(&f->node[i + 1], &f->node[i], (f->n++ - i) * sizeof(*f->node));
	f->node[i] = n;
	return 0;
}

struct ibcc_found_node *ibcc_found_add(struct ibcc_found *f, const struct ibcc_smp_node_info *ni,
				       const struct ibcc_smp_path *path)
{
	struct ibcc_found_node *n = calloc(1, sizeof(*n));

	if (!n)
		return NULL;
	n->info = *ni;
	n->path = *path;
	n->n_ports = ni->num_ports;
	n->port = calloc(ni->num_ports + 1u, sizeof(*n->port));
	if (n->port && !insert(f, n))
		return n;
	free(n->port);
	free(n);
	return NULL;
}

static int node_link(struct ibcc_topo *t, const struct ibcc_found_node *n)
{
	unsigned int p;
	int err = 0;

	for (p = 1; p <= n->n_ports && !err; p++) {
		const struct ibcc_found_port *fp = &n->port[p];

		if (ibcc_found_linked(fp) &&
		    t->port[t->node[n->index].first_port + p].peer == IBCC_NONE)
			err = ibcc_topo_link(t, n->index, p, fp->peer->index, fp->peer_port,
					     fp->info.rate_mbps,
					     ibcc_link_mtu_bytes(fp->info.mtu_code));
	}
	return err;
}

static int node_fill(struct ibcc_topo *t, const struct ibcc_found_node *n)
{
	struct ibcc_topo_node *tn = &t->node[n->index];
	unsigned int p, in, w = n->n_ports + 1u;
	int err = 0;

	tn->enhanced_port0 = n->sw.enhanced_port0;
	for (p = 0; p <= n->n_ports; p++) {
		const struct ibcc_smp_port_info *pi = &n->port[p].info;
		struct ibcc_topo_port *tp = &t->port[tn->first_port + p];

		if (!p || tp->peer != IBCC_NONE)
			tp->state = pi->state;
		tp->op_vls = (uint8_t)(pi->op_vls && pi->op_vls < 5 ? 1u << (pi->op_vls - 1) : 15);
		if (p && n->info.node_type != IBCC_NODE_SWITCH)
			tp->guid = n->info.node_guid + p;
		if (tp->endport != IBCC_NONE && pi->lid)
			/* Two ports with one LID: the subnet manager will set that right. */
			(void)ibcc_topo_set_lid(t, tn->first_port + p, pi->lid, pi->lmc);
	}
	if (n->lft)
		err = ibcc_topo_set_lft(t, n->index, n->lft, n->lft_len);
	for (in = 0; !err && n->sl2vl && in < w; in++)
		for (p = 1; !err && p < w; p++)
			err = ibcc_topo_set_sl2vl(t, n->index, in, p, n->sl2vl[in * w + p]);
	return err;
}

struct ibcc_topo *ibcc_found_topo(const struct ibcc_found *f)
{
	struct ibcc_topo *t = ibcc_topo_new();
	int err = t ? 0 : -ENOMEM;
	uint32_t i;

	for (i = 0; i < f->n && !err; i++) {
		struct ibcc_found_node *n = f->node[i];
		int64_t at = ibcc_topo_add_node(t, n->info.node_guid,
						(enum ibcc_node_type)n->info.node_type, n->n_ports,
						n->desc);

		if (at < 0)
			err = (int)at;
		else
			n->index = (uint32_t)at;
	}
	for (i = 0; i < f->n && !err; i++)
		err = node_link(t, f->node[i]);
	for (i = 0; i < f->n && !err; i++)
		err = node_fill(t, f->node[i]);
	if (!err)
		return t;
	ibcc_topo_free(t);
	return NULL;
}
