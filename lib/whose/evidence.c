/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What one root's adapters did in an interval, by names that outlive a topology. */
#include <errno.h>
#include <stdlib.h>

#include <ibcc/estimate.h>
#include <ibcc/text.h>
#include <ibcc/whose.h>

const char *ibcc_whose_basis_name(enum ibcc_whose_basis basis)
{
	switch (basis) {
	case IBCC_WHOSE_BY_WAITING: return "waiting";
	case IBCC_WHOSE_BY_MARKS: return "marks";
	case IBCC_WHOSE_BY_LOG: return "log";
	}
	return "";
}

static enum ibcc_whose_basis basis_of(const struct ibcc_root *r)
{
	if (r->log == IBCC_LOG_AGREES && r->n_pairs)
		return IBCC_WHOSE_BY_LOG;
	for (uint32_t i = 0; i < r->n_sources; i++)
		if (r->source[i].role == IBCC_ROLE_CONTRIBUTOR)
			return IBCC_WHOSE_BY_MARKS;
	return IBCC_WHOSE_BY_WAITING;
}

/* The part of a source in the congestion. The log has it by pairs, of which all may count. */
static double weight_of(const struct ibcc_root *r, const struct ibcc_source *s,
			enum ibcc_whose_basis basis)
{
	double packets = 0;

	if (s->role == IBCC_ROLE_VICTIM)
		return 0;
	switch (basis) {
	case IBCC_WHOSE_BY_WAITING: return s->role == IBCC_ROLE_CANDIDATE ? s->xmit_mbps : 0;
	case IBCC_WHOSE_BY_MARKS: return s->role == IBCC_ROLE_CONTRIBUTOR ? (double)s->becn : 0;
	case IBCC_WHOSE_BY_LOG:
		for (uint32_t i = 0; i < r->n_pairs; i++)
			if (r->pair[i].src == s->port)
				packets += r->pair[i].packets;
	}
	return packets;
}

/* The adapter behind the port, or the link between two switches. */
static void say_place(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;
	char name[IBCC_DESC_BYTES + 16];

	ibcc_topo_port_name(t, port, name, sizeof(name));
	if (peer != IBCC_NONE && !ibcc_topo_is_switch(t, t->port[peer].node) &&
	    t->node[t->port[peer].node].desc[0])
		ibcc_text_add(x, "%s (%s)", t->node[t->port[peer].node].desc, name);
	else
		ibcc_text_add(x, "%s", name);
}

int ibcc_whose_evidence_take(const struct ibcc_topo *t, const struct ibcc_root *root,
			     int64_t begin_ms, int64_t end_ms, struct ibcc_whose_evidence *out)
{
	const struct ibcc_topo_port *at = &t->port[root->port];
	struct ibcc_text x = { .buf = out->root, .len = sizeof(out->root) };

	*out = (struct ibcc_whose_evidence){
		.begin_ms = begin_ms,
		.end_ms = end_ms,
		.root_guid = t->node[at->node].guid,
		.root_port = at->num,
		.basis = basis_of(root),
		.adapter = calloc(root->n_sources ? root->n_sources : 1, sizeof(*out->adapter)),
	};
	if (!out->adapter)
		return -ENOMEM;
	say_place(&x, t, root->port);
	for (uint32_t i = 0; i < root->n_sources; i++) {
		const struct ibcc_source *s = &root->source[i];
		const struct ibcc_topo_port *p = &t->port[s->port];
		struct ibcc_whose_adapter a = {
			.node_guid = t->node[p->node].guid,
			.port = p->num,
			.suffers = s->role == IBCC_ROLE_VICTIM,
			.wait_permille = s->wait_permille,
			.xmit_mbps = s->xmit_mbps,
			.weight = weight_of(root, s, out->basis),
		};

		if (a.suffers || a.weight > 0)
			out->adapter[out->n++] = a;
	}
	return 0;
}

void ibcc_whose_evidence_fini(struct ibcc_whose_evidence *e)
{
	free(e->adapter);
	*e = (struct ibcc_whose_evidence){ 0 };
}
