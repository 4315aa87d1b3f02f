/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Moves all data that is by port, by endport or in the order of either to the made-up topology. */
#include "daemon/bundle/disguised.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void *some(uint32_t n, size_t size)
{
	return calloc(n ? n : 1, size);
}

/* The made-up topology's port for each true one; NULL without memory. */
static uint32_t *ports_back(const struct ibcc_disguise *d)
{
	uint32_t *back = some(d->topo->n_ports, sizeof(*back));

	for (uint32_t i = 0; back && i < d->topo->n_ports; i++)
		back[d->port[i]] = i;
	return back;
}

/* The true endport for a made-up one. */
static uint32_t true_endport(const struct ibcc_topo *t, const struct ibcc_disguise *d, uint32_t i)
{
	return t->port[d->port[d->topo->endport[i]]].endport;
}

static int by_port(const void *a, const void *b)
{
	const struct ibcc_source *x = a, *y = b;

	return x->port < y->port ? -1 : x->port > y->port;
}

static void rename_sources(struct ibcc_root *r, const uint32_t *back)
{
	for (uint32_t i = 0; i < r->n_sources; i++)
		r->source[i].port = back[r->source[i].port];
	qsort(r->source, r->n_sources, sizeof(*r->source), by_port);
}

/* Only the order of the settings is new. */
static int lend_settings(const struct ibcc_topo *t, const struct ibcc_disguise *d,
			 const struct ibcc_settings *from, struct ibcc_settings *to)
{
	*to = (struct ibcc_settings){ .n = from->n, .ep = some(from->n, sizeof(*to->ep)) };
	if (!to->ep)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->n; i++)
		to->ep[i] = from->ep[true_endport(t, d, i)];
	return 0;
}

static int take_samples(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
			struct ibcc_cycle *out)
{
	bool sampled = from->snapshot.n_ports == d->topo->n_ports;

	out->snapshot.n_ports = sampled ? d->topo->n_ports : 0;
	out->snapshot.n_marks = 0;
	out->snapshot.mark = NULL;
	out->snapshot.port = some(d->topo->n_ports, sizeof(*out->snapshot.port));
	if (!out->snapshot.port)
		return -ENOMEM;
	for (uint32_t i = 0; i < out->snapshot.n_ports; i++)
		out->snapshot.port[i] = from->snapshot.port[d->port[i]];
	return 0;
}

static int by_packets(const void *a, const void *b)
{
	const struct ibcc_pair *x = a, *y = b;

	if (x->packets != y->packets)
		return x->packets > y->packets ? -1 : 1;
	return x->src < y->src ? -1 : x->src > y->src;
}

static int take_pairs(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
		      const uint32_t *back, struct ibcc_root *r)
{
	struct ibcc_pair *pair = some(r->n_pairs, sizeof(*pair));
	uint32_t n = 0;

	if (!pair)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n_pairs; i++) {
		uint32_t to = ibcc_topo_port_of_lid(from->topo, r->pair[i].dlid);

		if (to == IBCC_NONE)
			continue;
		pair[n] = r->pair[i];
		pair[n].port = back[pair[n].port];
		pair[n].src = back[pair[n].src];
		pair[n++].dlid = d->topo->port[back[to]].lid;
	}
	qsort(pair, n, sizeof(*pair), by_packets);
	r->pair = pair;
	r->n_pairs = n;
	return 0;
}

static int take_root(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
		     const uint32_t *back, const struct ibcc_root *in, struct ibcc_root *r)
{
	*r = *in;
	r->port = back[in->port];
	r->becns = NULL;
	r->sends = NULL;
	r->pair = NULL;
	r->source = some(in->n_sources, sizeof(*r->source));
	if (!r->source)
		return -ENOMEM;
	if (in->n_sources)
		memcpy(r->source, in->source, in->n_sources * sizeof(*r->source));
	rename_sources(r, back);
	r->pair = in->pair;
	return take_pairs(from, d, back, r);
}

static int take_estimate(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
			 const uint32_t *back, struct ibcc_cycle *out)
{
	const struct ibcc_estimate *p = &from->estimate;
	struct ibcc_load *load = some(p->n_loads, sizeof(*load));
	struct ibcc_root *root = some(p->n_roots, sizeof(*root));
	int rc = load && root ? 0 : -ENOMEM;

	out->estimate.root = root;
	out->estimate.load = load;
	out->estimate.n_roots = out->estimate.n_known = 0;
	out->estimate.pair = NULL;
	out->estimate.n_pairs = 0;
	for (uint32_t i = 0; i < p->n_roots && !rc; i++) {
		rc = take_root(from, d, back, &p->root[i], &root[i]);
		out->estimate.n_known = ++out->estimate.n_roots;
	}
	for (uint32_t i = 0; i < p->n_loads && !rc; i++)
		load[i] = p->load[true_endport(from->topo, d, i)];
	return rc;
}

static int take_target(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
		       const uint32_t *back, struct ibcc_target *out)
{
	const struct ibcc_target *t = &from->target;

	*out = (struct ibcc_target){ .reason = some(t->n_reasons, sizeof(*out->reason)) };
	if (!out->reason)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_reasons; i++) {
		struct ibcc_reason *r = &out->reason[out->n_reasons++];

		*r = t->reason[i];
		r->endport = d->topo->port[back[from->topo->endport[r->endport]]].endport;
		r->root.port = r->root.port < d->topo->n_ports ? back[r->root.port] : r->root.port;
	}
	return 0;
}

/* Takes the changes node by node in the new order, and within a node in the old order. */
static int take_plan(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
		     const uint32_t *back, struct ibcc_cycle *out)
{
	const struct ibcc_topo *t = d->topo;
	int rc = 0;

	out->plan.n = out->plan.cap = 0;
	out->plan.change = NULL;
	for (uint32_t i = 0; i < t->n_endports && !rc; i++)
		for (uint32_t k = 0; k < from->plan.n && !rc; k++) {
			struct ibcc_change c = from->plan.change[k];
			uint32_t port = ibcc_topo_port_of_lid(from->topo, c.lid);

			if (port == IBCC_NONE || back[port] != t->endport[i])
				continue;
			c.node_guid = t->node[t->port[t->endport[i]].node].guid;
			c.lid = t->port[t->endport[i]].lid;
			c.cc_key = 0;
			ibcc_target_explain(&out->target, t, i, c.attr_id, c.reason,
					    sizeof(c.reason));
			rc = ibcc_plan_append(&out->plan, &c);
		}
	return rc;
}

static int take_vendor(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
		       struct ibcc_cycle *out)
{
	out->vendor.ep = some(from->vendor.n, sizeof(*out->vendor.ep));
	if (!out->vendor.ep)
		return -ENOMEM;
	for (uint32_t i = 0; i < from->vendor.n; i++)
		out->vendor.ep[i] = from->vendor.ep[true_endport(from->topo, d, i)];
	return 0;
}

static void forget_words(struct ibcc_cycle *c)
{
	c->acted = false;
	c->act_err = 0;
	c->result = (struct ibcc_result){ 0 };
	c->blocked.text[0] = '\0';
	c->refused = IBCC_REFUSED_NOT;
	c->skips = false;
	c->unproved.n = 0;
}

int ibcc_disguised_cycle(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
			 struct ibcc_cycle *out)
{
	uint32_t *back = ports_back(d);
	int rc = back ? 0 : -ENOMEM;

	*out = *from;
	out->topo = d->topo;
	out->snapshot.port = NULL;
	out->actual = (struct ibcc_settings){ .n = 0 };
	out->estimate.root = NULL;
	out->estimate.load = NULL;
	out->proved = (struct ibcc_estimate){ 0 };
	out->target = (struct ibcc_target){ .n_reasons = 0 };
	out->plan.change = NULL;
	out->vendor.ep = NULL;
	forget_words(out);
	out->tuner = NULL; /* its ports are the true ones */
	/* An empty collector: the true one could only say that no clock has trouble. */
	out->collector = ibcc_collector_new();
	if (!rc && !out->collector)
		rc = -ENOMEM;
	/* By the made-up names. */
	if (!rc)
		rc = ibcc_faults_find_loop(out->topo, &out->credit_loop);
	if (!rc)
		rc = take_samples(from, d, out);
	if (!rc && from->actual_known)
		rc = lend_settings(from->topo, d, &from->actual, &out->actual);
	if (!rc)
		rc = take_estimate(from, d, back, out);
	if (!rc)
		rc = take_target(from, d, back, &out->target);
	if (!rc)
		rc = take_plan(from, d, back, out);
	if (!rc)
		rc = take_vendor(from, d, out);
	free(back);
	return rc;
}

void ibcc_disguised_cycle_fini(struct ibcc_cycle *c)
{
	for (uint32_t i = 0; c->estimate.root && i < c->estimate.n_roots; i++) {
		free(c->estimate.root[i].source);
		free((void *)c->estimate.root[i].pair);
	}
	free(c->estimate.root);
	free((void *)c->estimate.load);
	free(c->snapshot.port);
	free(c->actual.ep);
	free(c->target.reason);
	free(c->vendor.ep);
	ibcc_plan_fini(&c->plan);
	ibcc_collector_free(c->collector);
	*c = (struct ibcc_cycle){ .topo = NULL };
}

static int rename_loads(const struct ibcc_disguise *d, struct ibcc_loads *l)
{
	struct ibcc_loads to;
	int rc = ibcc_loads_init(&to, l->n_ports);

	if (rc)
		return rc;
	to.n = l->n;
	for (uint32_t i = 0; i < l->n_ports; i++) {
		to.mbps[i] = l->mbps[d->port[i]];
		to.wait[i] = l->wait[d->port[i]];
	}
	ibcc_loads_fini(l);
	*l = to;
	return 0;
}

static int rename_settings(const struct ibcc_topo *t, const struct ibcc_disguise *d,
			   struct ibcc_settings *s)
{
	struct ibcc_settings to;
	int rc = lend_settings(t, d, s, &to);

	if (rc)
		return rc;
	free(s->ep);
	*s = to;
	return 0;
}

static int rename_becns(const struct ibcc_topo *t, const struct ibcc_disguise *d,
			struct ibcc_root *r)
{
	double *becns = some(t->n_endports, sizeof(*becns));

	if (!becns)
		return -ENOMEM;
	for (uint32_t i = 0; r->becns && i < t->n_endports; i++)
		becns[i] = r->becns[true_endport(t, d, i)];
	free((void *)r->becns);
	r->becns = becns;
	return 0;
}

int ibcc_disguised_evidence(const struct ibcc_disguise *d, struct ibcc_evidence *e)
{
	struct ibcc_topo *topo = ibcc_topo_clone(d->topo);
	uint32_t *back = ports_back(d);
	int rc = topo && back ? rename_loads(d, &e->before) : -ENOMEM;

	if (!rc)
		rc = rename_loads(d, &e->now);
	if (!rc)
		rc = rename_settings(e->topo, d, &e->actual);
	if (!rc)
		rc = rename_settings(e->topo, d, &e->wanted);
	for (uint32_t i = 0; i < e->in.n_roots && !rc; i++) {
		e->root[i].port = back[e->root[i].port];
		rename_sources(&e->root[i], back);
		if (e->root[i].becns)
			rc = rename_becns(e->topo, d, &e->root[i]);
	}
	free(back);
	if (!rc) {
		ibcc_topo_free(e->topo);
		e->topo = topo;
		ibcc_evidence_point(e);
	} else {
		ibcc_topo_free(topo);
	}
	return rc;
}
