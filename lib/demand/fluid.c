/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fluid model: the rates of all pairs of hosts, computed without packets. For fabrics on
 * which the packet engine takes too long.
 *
 * All pairs of a source share one flow, since a source that is held up is held up as a whole:
 * what waits at its head blocks the rest. Under control, pairs through a root that `holds` are
 * flows of their own. ibcc_maxmin_solve() then gives each flow its fair share.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/fluid.h>
#include <ibcc/maxmin.h>

struct fluid {
	const struct ibcc_topo *topo;
	const struct ibcc_traffic *t;
	uint32_t n_flows;
	uint32_t *flow_of;   /* by pair */
	uint32_t *source_of; /* by port: the flow of its other pairs, or IBCC_NONE */
	struct ibcc_maxmin_flow *flow;
	double *weight;         /* by flow: sum of the weights of its pairs */
	uint32_t *first, *pair; /* pairs of flow k: pair[first[k]] to pair[first[k + 1] - 1] */
	struct ibcc_maxmin_use *use;
	size_t n_uses;
	uint32_t *seen; /* by port: its place in `use`, plus 1, if the present flow uses it */
};

/* The weight of a pair in its flow. Pairs of a flow are cut alike, and keep the ratio that they
 * have now. */
static double weight_of(const struct ibcc_traffic_pair *p)
{
	return p->carried + 1e-6 * p->demand;
}

/* Assigns the pairs to flows, and sorts them by flow. */
static void make_flows(struct fluid *f, const bool *holds)
{
	const struct ibcc_traffic *t = f->t;

	for (uint32_t i = 0; i < f->topo->n_ports; i++)
		f->source_of[i] = IBCC_NONE;
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &t->pair[i];
		bool own = holds && p->root != IBCC_NONE && holds[p->root];

		if (!own && f->source_of[p->src] == IBCC_NONE)
			f->source_of[p->src] = f->n_flows++;
		f->flow_of[i] = own ? f->n_flows++ : f->source_of[p->src];
		f->flow[f->flow_of[i]].demand += p->demand;
		f->weight[f->flow_of[i]] += weight_of(p);
	}
	/* Counting sort of the pairs by their flow. */
	for (uint32_t i = 0; i < t->n_pairs; i++)
		f->first[f->flow_of[i] + 1]++;
	for (uint32_t i = 0; i < f->n_flows; i++)
		f->first[i + 1] += f->first[i];
	for (uint32_t i = t->n_pairs; i-- > 0;)
		f->pair[f->first[f->flow_of[i]] + (uint32_t)f->flow[f->flow_of[i]].n_uses++] = i;
}

/* The uses of a flow: it takes of each port the share that its pairs have there. */
static void mix(struct fluid *f, uint32_t k)
{
	struct ibcc_maxmin_flow *flow = &f->flow[k];
	const struct ibcc_traffic *t = f->t;
	size_t from = f->n_uses;

	for (uint32_t i = f->first[k]; i < f->first[k + 1] && f->weight[k] > 0; i++) {
		const struct ibcc_traffic_pair *p = &t->pair[f->pair[i]];
		double share = weight_of(p) / f->weight[k];

		for (uint32_t h = 0; h < p->hops && share > 0; h++) {
			uint32_t port = t->hop[p->first_hop + h];

			if (f->seen[port] <= from) {
				f->use[f->n_uses] = (struct ibcc_maxmin_use){ port, 0 };
				f->seen[port] = (uint32_t)++f->n_uses;
			}
			f->use[f->seen[port] - 1].share += share;
		}
	}
	flow->use = f->use + from;
	flow->n_uses = f->n_uses - from;
}

int ibcc_fluid_solve(const struct ibcc_topo *t, const struct ibcc_traffic *traffic,
		     uint32_t n_roots, const struct ibcc_traffic_root *root, const bool *holds,
		     double *rate)
{
	struct fluid f = { .topo = t,
			   .t = traffic,
			   .flow_of = calloc(traffic->n_pairs + 1u, sizeof(uint32_t)),
			   .source_of = calloc(t->n_ports + 1u, sizeof(uint32_t)),
			   .flow = calloc(traffic->n_pairs + 1u, sizeof(*f.flow)),
			   .weight = calloc(traffic->n_pairs + 1u, sizeof(double)),
			   .first = calloc(traffic->n_pairs + 2u, sizeof(uint32_t)),
			   .pair = calloc(traffic->n_pairs + 1u, sizeof(uint32_t)),
			   .use = calloc(traffic->n_hops + 1u, sizeof(*f.use)),
			   .seen = calloc(t->n_ports + 1u, sizeof(uint32_t)) };
	double *capacity = calloc(t->n_ports + 1u, sizeof(*capacity));
	int rc = f.flow_of && f.source_of && f.flow && f.weight && f.first && f.pair && f.use &&
				 f.seen && capacity
			 ? 0
			 : -ENOMEM;

	if (rc)
		goto out;
	for (uint32_t i = 0; i < t->n_ports; i++)
		capacity[i] = t->port[i].rate_mbps;
	for (uint32_t i = 0; i < n_roots; i++)
		if (root[i].kind == IBCC_CONGESTION_OUTPUT)
			capacity[root[i].port] = root[i].rate_mbps;
	make_flows(&f, holds);
	for (uint32_t k = 0; k < f.n_flows; k++)
		mix(&f, k);
	rc = ibcc_maxmin_solve(capacity, t->n_ports, f.flow, f.n_flows);
	for (uint32_t i = 0; i < traffic->n_pairs && !rc; i++) {
		double part = weight_of(&traffic->pair[i]), all = f.weight[f.flow_of[i]];

		rate[i] = all > 0 ? f.flow[f.flow_of[i]].rate * part / all : 0;
	}
out:
	free(f.flow_of);
	free(f.source_of);
	free(f.flow);
	free(f.weight);
	free(f.first);
	free(f.pair);
	free(f.use);
	free(f.seen);
	free(capacity);
	return rc;
}
