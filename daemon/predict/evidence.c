/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies the data for a prediction from a polling cycle (evidence.h), or says why no prediction is
 * possible.
 */
#include "daemon/predict/evidence.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* More than 1/STALE_PART of the ports without a reading are too many. */
#define STALE_PART 10u

static void fini_roots(struct ibcc_root *root, uint32_t n)
{
	for (uint32_t i = 0; root && i < n; i++) {
		free(root[i].source);
		free((void *)root[i].becns);
	}
	free(root);
}

void ibcc_evidence_fini(struct ibcc_evidence *e)
{
	ibcc_topo_free(e->topo);
	ibcc_loads_fini(&e->before);
	ibcc_loads_fini(&e->now);
	fini_roots(e->root, e->in.n_roots);
	ibcc_settings_fini(&e->actual);
	ibcc_settings_fini(&e->wanted);
	*e = (struct ibcc_evidence){ .topo = NULL };
}

static int copy_loads(struct ibcc_loads *to, const struct ibcc_loads *from)
{
	int rc = ibcc_loads_init(to, from->n_ports);

	if (rc)
		return rc;
	to->n = from->n;
	memcpy(to->mbps, from->mbps, from->n_ports * sizeof(*to->mbps));
	memcpy(to->wait, from->wait, from->n_ports * sizeof(*to->wait));
	return 0;
}

static int copy_root(struct ibcc_root *to, const struct ibcc_root *from, uint32_t n_endports)
{
	double *becns;

	*to = (struct ibcc_root){ .port = from->port,
				  .kind = from->kind,
				  .rate_mbps = from->rate_mbps,
				  .packet_bytes = from->packet_bytes,
				  .n_marked = from->n_marked };
	to->source = calloc(from->n_sources + 1u, sizeof(*to->source));
	if (!to->source)
		return -ENOMEM;
	if (from->n_sources)
		memcpy(to->source, from->source, from->n_sources * sizeof(*to->source));
	to->n_sources = from->n_sources;
	if (!from->becns)
		return 0;
	becns = calloc(n_endports + 1u, sizeof(*becns));
	if (!becns)
		return -ENOMEM;
	memcpy(becns, from->becns, n_endports * sizeof(*becns));
	to->becns = becns;
	return 0;
}

static int copy_roots(struct ibcc_evidence *e, const struct ibcc_estimate *p)
{
	int rc = 0;

	e->root = calloc(p->n_roots + 1u, sizeof(*e->root));
	if (!e->root)
		return -ENOMEM;
	while (!rc && e->in.n_roots < p->n_roots) {
		rc = copy_root(&e->root[e->in.n_roots], &p->root[e->in.n_roots],
			       e->topo->n_endports);
		e->in.n_roots++;
	}
	return rc;
}

/* Replaces settings by those from before the last polling cycle's writes. */
static void take_back(const struct ibcc_cycle *c, struct ibcc_settings *s)
{
	if (c->acted && c->result.set_mads)
		ibcc_plan_put(&c->plan, c->topo, true, s);
}

static bool lacks_cc(const struct ibcc_cycle *c)
{
	for (uint32_t r = 0; r < c->estimate.n_roots; r++)
		for (uint32_t i = 0; i < c->estimate.root[r].n_sources; i++) {
			uint32_t port = c->estimate.root[r].source[i].port;
			uint32_t ep = c->topo->port[port].endport;

			if (ep < c->actual.n && c->actual.ep[ep].support != IBCC_CC_SUPPORTED)
				return true;
		}
	return false;
}

/* Does not look for traffic that leaves the paths of the tables and does not reach a root: the
 * replay notices that.
 */
static enum ibcc_prediction_why refuse(const struct ibcc_cycle *c)
{
	uint32_t unread = c->snapshot.n_stale + c->snapshot.n_unreachable;

	if (unread * STALE_PART > unread + c->snapshot.n_fresh)
		return IBCC_PREDICTION_STALE;
	if (c->unproved.n)
		return IBCC_PREDICTION_ADAPTIVE;
	for (uint32_t i = 0; i < c->snapshot.n_marks; i++)
		if (c->snapshot.mark[i].sl != c->snapshot.mark[0].sl)
			return IBCC_PREDICTION_VLS;
	/* Where NVIDIA's control is at work, counters do not show what hosts would send without it.
	 */
	if (c->options.profiles && ibcc_vendor_rules(&c->vendor))
		return IBCC_PREDICTION_CONTROLLED;
	return lacks_cc(c) ? IBCC_PREDICTION_NO_CC : IBCC_PREDICTION_TELLS;
}

void ibcc_evidence_point(struct ibcc_evidence *e)
{
	e->in.t = e->topo;
	e->in.before = &e->before;
	e->in.now = &e->now;
	e->in.root = e->root;
	e->in.actual = &e->actual;
	e->in.wanted = &e->wanted;
}

int ibcc_evidence_make(struct ibcc_evidence *e, const struct ibcc_cycle *c,
		       const struct ibcc_memory *m, uint64_t age_ns,
		       const struct ibcc_settings *wanted)
{
	int rc;

	*e = (struct ibcc_evidence){ .topo = ibcc_topo_clone(c->topo) };
	rc = e->topo ? copy_loads(&e->before, &m->quiet) : -ENOMEM;
	if (!rc)
		rc = ibcc_memory_now(m, c->topo, &e->now, &e->in.moved);
	if (!rc)
		rc = copy_roots(e, &c->estimate);
	if (!rc)
		rc = ibcc_settings_copy(&e->actual, &c->actual);
	if (!rc)
		rc = ibcc_settings_copy(&e->wanted, wanted);
	if (rc)
		return rc;
	take_back(c, &e->actual);
	e->in.age_ns = age_ns;
	e->in.packet_bytes = c->estimate.n_roots ? c->estimate.root[0].packet_bytes : 0;
	e->in.refuse = refuse(c);
	ibcc_evidence_point(e);
	return 0;
}
