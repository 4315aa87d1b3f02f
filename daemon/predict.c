/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/predict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/maxmin.h>
#include <ibcc/route.h>

/* A LID behind the root to which `src` has a route through it; 0 if none. */
static uint16_t lid_behind(const struct ibcc_topo *t, uint32_t src, uint32_t root_port)
{
	uint32_t peer = t->port[root_port].peer;
	uint32_t i;

	if (peer != IBCC_NONE && t->port[peer].lid)
		return t->port[peer].lid;
	for (i = 0; i < t->n_endports; i++) {
		uint16_t lid = t->port[t->endport[i]].lid;

		if (lid && t->endport[i] != src && ibcc_route_passes(t, src, lid, root_port))
			return lid;
	}
	return 0;
}

/* The ports that a source of a root loads, as uses of `use`; returns how many. */
static size_t path_of(const struct ibcc_topo *t, const struct ibcc_root *r,
		      const struct ibcc_source *s, struct ibcc_maxmin_use *use)
{
	struct ibcc_route route = { 0 };
	uint16_t lid = lid_behind(t, s->port, r->port);
	size_t n = 0;
	unsigned int i;

	use[n++] = (struct ibcc_maxmin_use){ s->port, 1.0 };
	if (!lid || ibcc_route_follow(t, s->port, lid, &route))
		return n;
	for (i = 1; i < route.n; i++) {
		bool at_root = route.out[i] == r->port;

		if (!at_root || s->role != IBCC_ROLE_VICTIM)
			use[n++] = (struct ibcc_maxmin_use){ route.out[i], 1.0 };
		if (at_root)
			break;
	}
	return n;
}

static uint32_t count_sources(const struct ibcc_picture *e, uint32_t *n_candidates)
{
	uint32_t n = 0, r, s;

	*n_candidates = 0;
	for (r = 0; r < e->n_roots; r++) {
		for (s = 0; s < e->root[r].n_sources; s++) {
			enum ibcc_role role = e->root[r].source[s].role;

			n += role != IBCC_ROLE_NONE;
			*n_candidates += role == IBCC_ROLE_CANDIDATE;
		}
	}
	return n;
}

static void add_up(const struct ibcc_picture *e, struct ibcc_prediction *p)
{
	uint32_t i;

	for (i = 0; i < p->n; i++) {
		const struct ibcc_predicted *s = &p->source[i];

		if (e->root[s->root].source[s->source].role == IBCC_ROLE_VICTIM) {
			p->victim_now_mbps += s->now_mbps;
			p->victim_expected_mbps += s->expected_mbps;
		} else {
			p->hot_now_mbps += s->now_mbps;
			p->hot_expected_mbps += s->expected_mbps;
		}
	}
}

int ibcc_predict(const struct ibcc_topo *t, const struct ibcc_picture *e,
		 struct ibcc_prediction *p)
{
	struct ibcc_maxmin_use *use = NULL;
	struct ibcc_maxmin_flow *flow = NULL;
	double *capacity = NULL;
	uint32_t n, n_candidates, r, s, i = 0;
	int rc = -ENOMEM;

	*p = (struct ibcc_prediction){ 0 };
	n = count_sources(e, &n_candidates);
	if (!n || n_candidates) {
		p->why = n ? "nothing is marked yet, so contributors cannot be told from victims"
			   : "there is no congestion";
		return 0;
	}
	p->source = calloc(n, sizeof(*p->source));
	use = calloc((size_t)n * (IBCC_ROUTE_MAX_HOPS + 1), sizeof(*use));
	flow = calloc(n, sizeof(*flow));
	capacity = calloc(t->n_ports, sizeof(*capacity));
	if (!p->source || !use || !flow || !capacity)
		goto out;
	for (r = 0; r < t->n_ports; r++)
		capacity[r] = t->port[r].rate_mbps;
	for (r = 0; r < e->n_roots; r++) {
		const struct ibcc_root *root = &e->root[r];

		if (root->kind == IBCC_CONGESTION_OUTPUT)
			capacity[root->port] = root->rate_mbps;
		for (s = 0; s < root->n_sources; s++) {
			struct ibcc_maxmin_use *u = use + (size_t)i * (IBCC_ROUTE_MAX_HOPS + 1);

			if (root->source[s].role == IBCC_ROLE_NONE)
				continue;
			flow[i].use = u;
			flow[i].n_uses = path_of(t, root, &root->source[s], u);
			flow[i].demand = INFINITY;
			p->source[i++] = (struct ibcc_predicted){
				.root = r, .source = s, .now_mbps = root->source[s].xmit_mbps
			};
		}
	}
	rc = ibcc_maxmin_solve(capacity, t->n_ports, flow, n);
	if (rc)
		goto out;
	p->n = n;
	p->known = true;
	for (i = 0; i < n; i++)
		p->source[i].expected_mbps = (uint32_t)lround(flow[i].rate);
	add_up(e, p);
out:
	free(capacity);
	free(flow);
	free(use);
	if (rc)
		ibcc_prediction_fini(p);
	return rc;
}

void ibcc_prediction_fini(struct ibcc_prediction *p)
{
	free(p->source);
	*p = (struct ibcc_prediction){ 0 };
}
