/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walks a fabric by directed routes: wave by wave NodeInfo of the neighbours, then what the new
 * nodes say of themselves; at the end the switches' tables.
 *
 * On our own transport rather than libibnetdisc, which waits for ever for an SMP that got lost
 * below umad2sim, aborts when its peer goes away, and does not say when nodes did not answer.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/collect.h>
#include <ibcc/link.h>
#include <ibcc/smp.h>

#include "lib/io/batch.h"

#define DIRECT_LID 0xffffu
#define STATE_DOWN 1u
#define MAX_NODES  65536u /* more than there are LIDs */
/* SMPs travel on VL 15, which has no flow control: bursts get lost. */
#define SMP_WINDOW  8u
#define SMP_RETRIES 3u

enum kind {
	KIND_NEIGHBOUR, /* NodeInfo; tag index: node that was left, sub: its port */
	KIND_DESC,      /* index: node, here and below */
	KIND_SWITCH,
	KIND_PORT,  /* sub: port */
	KIND_LFT,   /* sub: block */
	KIND_SL2VL, /* sub: input port << 8 | output port */
};

struct walk_node {
	struct ibcc_smp_path path;
	bool leave[256]; /* ports with link */
	uint16_t lft_top;
	uint8_t *lft;
};

struct walk {
	struct ibcc_transport *tr;
	struct ibcc_topo *t;
	struct walk_node *node; /* by the topology's node index */
	uint32_t cap;
	struct ibcc_batch batch;
	uint8_t local_port; /* of node 0, where we are */
	uint32_t n_lost;    /* requests that nobody answered */
	uint32_t n_odd;     /* answers that make no sense together */
};

static int add_get(struct walk *w, const struct ibcc_smp_path *path, uint16_t attr_id,
		   uint32_t attr_mod, uint32_t index, enum kind kind, uint16_t sub)
{
	struct ibcc_batch_tag tag = { .index = index, .kind = (uint16_t)kind, .sub = sub };
	struct ibcc_mad_op *op = ibcc_batch_add(&w->batch, DIRECT_LID, tag);

	if (!op)
		return -ENOMEM;
	ibcc_smp_direct_get(op->mad, path, attr_id, attr_mod);
	return 0;
}

/* Connects two ports; what their PortInfos said of them stays. */
static void join(struct walk *w, uint32_t a, unsigned int port_a, uint32_t b, unsigned int port_b)
{
	uint32_t ia = ibcc_topo_port_index(w->t, a, port_a);
	uint32_t ib = ibcc_topo_port_index(w->t, b, port_b);
	struct ibcc_topo_port was_a, was_b;

	if (ia == IBCC_NONE || ib == IBCC_NONE) {
		w->n_odd++;
		return;
	}
	was_a = w->t->port[ia];
	was_b = w->t->port[ib];
	if (was_a.peer == ib && was_b.peer == ia)
		return;
	if (ibcc_topo_link(w->t, a, port_a, b, port_b, was_a.rate_mbps, was_a.mtu_bytes) < 0) {
		w->n_odd++;
		return;
	}
	was_a.peer = ib;
	was_b.peer = ia;
	w->t->port[ia] = was_a;
	w->t->port[ib] = was_b;
}

static int64_t add_node(struct walk *w, const struct ibcc_smp_node_info *ni,
			const struct ibcc_smp_path *path)
{
	int64_t i;
	uint32_t entry;

	if (w->t->n_nodes == w->cap) {
		uint32_t cap = w->cap ? 2 * w->cap : 64;
		struct walk_node *node = reallocarray(w->node, cap, sizeof(*node));

		if (!node)
			return -ENOMEM;
		w->node = node;
		w->cap = cap;
	}
	i = ibcc_topo_add_node(w->t, ni->node_guid, (enum ibcc_node_type)ni->node_type,
			       ni->num_ports, NULL);
	if (i < 0)
		return i;
	w->node[i] = (struct walk_node){ .path = *path };
	/* A switch speaks as port 0, whatever port the question came in by. */
	entry = ni->node_type == IBCC_NODE_SWITCH ? 0 : ni->local_port;
	w->t->port[w->t->node[i].first_port + entry].guid = ni->port_guid;
	return i;
}

static bool is_sane(const struct ibcc_smp_node_info *ni)
{
	return ni->node_guid && ni->node_type >= IBCC_NODE_CA &&
	       ni->node_type <= IBCC_NODE_ROUTER && ni->num_ports >= 1 && ni->num_ports <= 254 &&
	       ni->local_port <= ni->num_ports &&
	       (ni->local_port > 0 || ni->node_type == IBCC_NODE_SWITCH);
}

/* NodeInfo at the end of a path; from is IBCC_NONE for the node we are at. */
static int take_node(struct walk *w, const uint8_t *mad, const struct ibcc_smp_path *path,
		     uint32_t from, unsigned int port)
{
	struct ibcc_smp_node_info ni;
	uint32_t node;

	ibcc_smp_node_info_unpack(mad, &ni);
	if (!is_sane(&ni) || w->t->n_nodes >= MAX_NODES) {
		w->n_odd++;
		return 0;
	}
	node = ibcc_topo_find_guid(w->t, ni.node_guid);
	if (node == IBCC_NONE) {
		int64_t i = add_node(w, &ni, path);

		if (i < 0)
			return (int)i;
		node = (uint32_t)i;
		if (from == IBCC_NONE)
			w->local_port = ni.local_port;
	}
	if (from != IBCC_NONE)
		join(w, from, port, node, ni.local_port);
	return 0;
}

static uint8_t vls_of(uint8_t code)
{
	static const uint8_t vls[] = { 1, 1, 2, 4, 8, 15 };

	return code < sizeof(vls) ? vls[code] : 1;
}

static void take_port(struct walk *w, const uint8_t *mad, uint32_t node, uint16_t num)
{
	uint32_t index = w->t->node[node].first_port + num;
	struct ibcc_topo_port *p = &w->t->port[index];
	struct ibcc_smp_port_info pi;

	ibcc_smp_port_info_unpack(mad, &pi);
	p->state = pi.state;
	p->op_vls = vls_of(pi.op_vls);
	p->mtu_bytes = ibcc_link_mtu_bytes(pi.mtu_code);
	p->rate_mbps = num > 0 && pi.state > STATE_DOWN ? pi.rate_mbps : 0;
	/* Only switches pass SMPs on; ours leave by the port that we are at. */
	if (ibcc_topo_is_switch(w->t, node) || (node == 0 && num == w->local_port))
		w->node[node].leave[num] = num > 0 && pi.state > STATE_DOWN;
	if (p->endport != IBCC_NONE && pi.lid && ibcc_topo_set_lid(w->t, index, pi.lid, pi.lmc) < 0)
		w->n_odd++;
}

static int take_lft(struct walk *w, const uint8_t *mad, uint32_t node, uint16_t block)
{
	struct walk_node *n = &w->node[node];
	size_t size = (n->lft_top / IBCC_SMP_LFT_BLOCK + 1u) * IBCC_SMP_LFT_BLOCK;

	if (!n->lft) {
		n->lft = malloc(size);
		if (!n->lft)
			return -ENOMEM;
		memset(n->lft, IBCC_LFT_NONE, size);
	}
	ibcc_smp_lft_unpack(mad, n->lft + (size_t)block * IBCC_SMP_LFT_BLOCK);
	return 0;
}

static int take(struct walk *w, const struct ibcc_mad_op *op, const struct ibcc_batch_tag *tag)
{
	uint32_t i = tag->index;
	struct ibcc_smp_switch_info si;
	struct ibcc_smp_path path = { 0 };
	uint8_t vl[16];
	int rc;

	switch ((enum kind)tag->kind) {
	case KIND_NEIGHBOUR:
		if (i != IBCC_NONE) {
			path = w->node[i].path;
			path.port[++path.hops] = (uint8_t)tag->sub;
		}
		return take_node(w, op->mad, &path, i, tag->sub);
	case KIND_DESC: ibcc_smp_node_desc_unpack(op->mad, w->t->node[i].desc); return 0;
	case KIND_SWITCH:
		ibcc_smp_switch_info_unpack(op->mad, &si);
		w->t->node[i].enhanced_port0 = si.enhanced_port0;
		w->node[i].lft_top = si.lft_top <= IBCC_LID_MAX ? si.lft_top : IBCC_LID_MAX;
		return 0;
	case KIND_PORT: take_port(w, op->mad, i, tag->sub); return 0;
	case KIND_LFT: return take_lft(w, op->mad, i, tag->sub);
	case KIND_SL2VL:
		ibcc_smp_sl2vl_unpack(op->mad, vl);
		rc = ibcc_topo_set_sl2vl(w->t, i, tag->sub >> 8, tag->sub & 255, vl);
		return rc == -ENOMEM ? rc : 0;
	}
	return 0;
}

/* Sends what was gathered, takes the answers. */
static int flush(struct walk *w)
{
	int rc = ibcc_batch_run(&w->batch, w->tr);

	for (size_t k = 0; k < w->batch.n && rc == 0; k++) {
		const struct ibcc_mad_op *op = &w->batch.op[k];

		if (op->err == 0)
			rc = take(w, op, &w->batch.tag[k]);
		else if (op->err == -ETIMEDOUT || !ibcc_batch_is_refused(op))
			w->n_lost++;
	}
	ibcc_batch_clear(&w->batch);
	return rc;
}

static int ask_self(struct walk *w, uint32_t node)
{
	const struct ibcc_topo_node *n = &w->t->node[node];
	const struct ibcc_smp_path *path = &w->node[node].path;
	bool sw = n->type == IBCC_NODE_SWITCH;
	int rc = add_get(w, path, IBCC_SMP_ATTR_NODE_DESC, 0, node, KIND_DESC, 0);

	if (rc == 0 && sw)
		rc = add_get(w, path, IBCC_SMP_ATTR_SWITCH_INFO, 0, node, KIND_SWITCH, 0);
	for (uint16_t p = sw ? 0 : 1; p <= n->n_ports && rc == 0; p++)
		rc = add_get(w, path, IBCC_SMP_ATTR_PORT_INFO, p, node, KIND_PORT, p);
	return rc;
}

static int ask_neighbours(struct walk *w, uint32_t node)
{
	const struct ibcc_topo_node *n = &w->t->node[node];
	struct ibcc_smp_path path = w->node[node].path;
	int rc = 0;

	if (path.hops == IBCC_SMP_MAX_HOPS)
		return 0;
	path.hops++;
	for (uint16_t p = 1; p <= n->n_ports && rc == 0; p++) {
		path.port[path.hops] = (uint8_t)p;
		/* Links that were come by need not be gone back. */
		if (w->node[node].leave[p] && w->t->port[n->first_port + p].peer == IBCC_NONE)
			rc = add_get(w, &path, IBCC_SMP_ATTR_NODE_INFO, 0, node, KIND_NEIGHBOUR, p);
	}
	return rc;
}

static int walk_nodes(struct walk *w)
{
	struct ibcc_smp_path here = { 0 };
	int rc = add_get(w, &here, IBCC_SMP_ATTR_NODE_INFO, 0, IBCC_NONE, KIND_NEIGHBOUR, 0);
	uint32_t done = 0;

	if (rc == 0)
		rc = flush(w);
	if (rc == 0 && w->t->n_nodes == 0)
		return -ENOLINK;
	while (rc == 0 && done < w->t->n_nodes) {
		uint32_t end = w->t->n_nodes;

		for (uint32_t i = done; i < end && rc == 0; i++) {
			rc = ask_self(w, i);
			if (rc == 0 && w->batch.n >= IBCC_BATCH_OPS)
				rc = flush(w);
		}
		if (rc == 0)
			rc = flush(w);
		for (uint32_t i = done; i < end && rc == 0; i++) {
			rc = ask_neighbours(w, i);
			if (rc == 0 && w->batch.n >= IBCC_BATCH_OPS)
				rc = flush(w);
		}
		if (rc == 0)
			rc = flush(w);
		done = end;
	}
	return rc;
}

/* SL to VL maps matter only where a port has VLs to choose from. */
static int ask_sl2vl(struct walk *w, uint32_t node)
{
	const struct ibcc_topo_node *n = &w->t->node[node];
	const struct ibcc_topo_port *port = &w->t->port[n->first_port];
	int rc = 0;

	for (uint16_t out = 1; out <= n->n_ports; out++) {
		if (port[out].op_vls < 2 || port[out].peer == IBCC_NONE)
			continue;
		for (uint16_t in = 0; in <= n->n_ports && rc == 0; in++) {
			uint16_t mod = (uint16_t)(in << 8 | out);

			if (in == 0 || port[in].peer != IBCC_NONE)
				rc = add_get(w, &w->node[node].path, IBCC_SMP_ATTR_SL2VL, mod, node,
					     KIND_SL2VL, mod);
		}
	}
	return rc;
}

static int walk_tables(struct walk *w)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->t->n_nodes && rc == 0; i++) {
		uint16_t blocks = (uint16_t)(w->node[i].lft_top / IBCC_SMP_LFT_BLOCK + 1);

		if (!ibcc_topo_is_switch(w->t, i))
			continue;
		for (uint16_t b = 0; b < blocks && rc == 0; b++)
			rc = add_get(w, &w->node[i].path, IBCC_SMP_ATTR_LFT, b, i, KIND_LFT, b);
		if (rc == 0)
			rc = ask_sl2vl(w, i);
		if (rc == 0 && w->batch.n >= IBCC_BATCH_OPS)
			rc = flush(w);
	}
	if (rc == 0)
		rc = flush(w);
	for (uint32_t i = 0; i < w->t->n_nodes && rc == 0; i++) {
		const struct walk_node *n = &w->node[i];

		if (n->lft)
			rc = ibcc_topo_set_lft(w->t, i, n->lft, n->lft_top + 1u);
	}
	return rc;
}

struct ibcc_topo *ibcc_discover_walk(struct ibcc_transport *tr, int *err, char *why, size_t len)
{
	struct walk w = { .tr = tr, .t = ibcc_topo_new() };
	int rc = w.t ? walk_nodes(&w) : -ENOMEM;

	if (rc == 0)
		rc = walk_tables(&w);
	for (uint32_t i = 0; w.t && i < w.t->n_nodes; i++)
		free(w.node[i].lft);
	free(w.node);
	ibcc_batch_fini(&w.batch);
	*err = rc;
	snprintf(why, len, "%s", "");
	if (rc == 0) {
		if (w.n_lost || w.n_odd)
			snprintf(why, len,
				 "incomplete: %u requests without answer, %u contradictions",
				 w.n_lost, w.n_odd);
		return w.t;
	}
	ibcc_topo_free(w.t);
	if (rc == -ENOLINK)
		snprintf(why, len, "the local port does not answer SMPs");
	else
		snprintf(why, len, "discovery failed: %s", strerror(-rc));
	return NULL;
}

struct ibcc_topo *ibcc_discover_run(const char *ca, int port, int timeout_ms, int *err, char *why,
				    size_t len)
{
	struct ibcc_umad_options o = {
		.ca = ca,
		.port = port,
		.window = SMP_WINDOW,
		.timeout_ms = timeout_ms > 0 ? (unsigned int)timeout_ms : 0,
		.retries = SMP_RETRIES,
	};
	struct ibcc_transport *tr = ibcc_umad_open(&o, err, why, len);
	struct ibcc_topo *t;

	if (!tr)
		return NULL;
	t = ibcc_discover_walk(tr, err, why, len);
	ibcc_transport_free(tr);
	return t;
}
