/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/truth.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ideal.h>
#include <ibcc/route.h>

struct search {
	const struct ibcc_scenario *s;
	struct ibcc_truth *t;
	uint64_t at_ps;
};

#define SEVERAL (IBCC_NONE - 1) /* feeders */

static struct ibcc_truth_root *root_at(const struct search *f, uint32_t port)
{
	for (uint32_t i = 0; i < f->t->n_roots; i++)
		if (f->t->root[i].port == port)
			return &f->t->root[i];
	return NULL;
}

static int add_root(struct search *f, const struct ibcc_ideal_pair *p)
{
	struct ibcc_truth *t = f->t;
	struct ibcc_truth_root *bigger = reallocarray(t->root, t->n_roots + 1u, sizeof(*bigger));

	if (!bigger)
		return -ENOMEM;
	t->root = bigger;
	bigger += t->n_roots;
	*bigger = (struct ibcc_truth_root){
		.port = p->bottleneck,
		.kind = p->sink ? IBCC_CONGESTION_OUTPUT : IBCC_CONGESTION_INPUT,
		.part = calloc(f->s->topo->n_ports, 1),
	};
	if (!bigger->part)
		return -ENOMEM;
	t->n_roots++;
	return 0;
}

/* Whether a bottleneck is shared: on its own link, a source is in no other sender's way. */
static bool limits_others(const struct ibcc_topo *t, uint32_t port)
{
	return port != IBCC_NONE && ibcc_topo_is_switch(t, t->port[port].node);
}

static int find_heavy(void *arg, const struct ibcc_ideal_pair *p)
{
	struct search *f = arg;
	struct ibcc_truth_root *r;
	int rc = 0;

	if (!limits_others(f->s->topo, p->bottleneck))
		return 0;
	if (!root_at(f, p->bottleneck))
		rc = add_root(f, p);
	if (rc)
		return rc;
	r = root_at(f, p->bottleneck);
	r->n_heavy += r->part[p->src_port] != IBCC_TRUTH_HEAVY;
	r->part[p->src_port] = IBCC_TRUTH_HEAVY;
	return 0;
}

bool ibcc_truth_way(const struct ibcc_topo *t, const struct ibcc_ideal_pair *p,
		    struct ibcc_route *way)
{
	uint16_t lid = 0;

	for (uint32_t i = 0; i < t->node[p->dst_node].n_ports && !lid; i++)
		lid = t->port[t->node[p->dst_node].first_port + 1 + i].lid;
	return lid && !ibcc_route_follow(t, p->src_port, lid, way);
}

static int find_feeders(void *arg, const struct ibcc_ideal_pair *p)
{
	struct search *f = arg;
	struct ibcc_route way;

	if (!ibcc_truth_way(f->s->topo, p, &way))
		return 0;
	for (unsigned int i = 1; i < way.n; i++) {
		struct ibcc_truth_root *r = root_at(f, way.out[i]);

		if (r && r->feeder == IBCC_NONE)
			r->feeder = way.out[i - 1];
		else if (r && r->feeder != way.out[i - 1])
			r->feeder = SEVERAL;
	}
	return 0;
}

static void merge(struct ibcc_truth *t, struct ibcc_truth_root *into, struct ibcc_truth_root *from,
		  uint32_t n_ports)
{
	into->n_heavy = 0;
	for (uint32_t i = 0; i < n_ports; i++) {
		if (from->part[i] > into->part[i])
			into->part[i] = from->part[i];
		into->n_heavy += into->part[i] == IBCC_TRUTH_HEAVY;
	}
	free(from->part);
	*from = t->root[--t->n_roots];
}

/* Finds where congestion starts: at a port to which more comes than can leave. What comes through a
 * single port that is no faster can always leave. So in that case the congestion starts further up,
 * where the flows came together.
 */
static int find_starts(struct search *f)
{
	const struct ibcc_topo *t = f->s->topo;
	bool moved = true;
	int rc = 0;

	while (moved && !rc) {
		moved = false;
		for (uint32_t i = 0; i < f->t->n_roots; i++)
			f->t->root[i].feeder = IBCC_NONE;
		rc = ibcc_ideal_pairs(f->s, f->at_ps, find_feeders, f);
		for (uint32_t i = 0; i < f->t->n_roots && !rc && !moved; i++) {
			struct ibcc_truth_root *r = &f->t->root[i], *up;

			if (r->kind == IBCC_CONGESTION_OUTPUT || r->feeder >= SEVERAL ||
			    !limits_others(t, r->feeder) ||
			    t->port[r->feeder].rate_mbps > t->port[r->port].rate_mbps)
				continue;
			moved = true;
			up = root_at(f, r->feeder);
			if (up)
				merge(f->t, up, r, t->n_ports);
			else
				r->port = r->feeder;
		}
	}
	return rc;
}

static int find_light(void *arg, const struct ibcc_ideal_pair *p)
{
	struct search *f = arg;
	struct ibcc_route way;

	if (!ibcc_truth_way(f->s->topo, p, &way))
		return 0;
	for (unsigned int i = 0; i < way.n; i++) {
		struct ibcc_truth_root *r = root_at(f, way.out[i]);

		if (r && r->part[p->src_port] == IBCC_TRUTH_NOT)
			r->part[p->src_port] = IBCC_TRUTH_LIGHT;
	}
	return 0;
}

/* Finds the root that limits a pair: where the flows cut at the pair's bottleneck came together. */
static int find_pairs(void *arg, const struct ibcc_ideal_pair *p)
{
	struct search *f = arg;
	struct ibcc_truth_root *at = NULL;
	struct ibcc_route way;

	if (!limits_others(f->s->topo, p->bottleneck) || !ibcc_truth_way(f->s->topo, p, &way))
		return 0;
	for (unsigned int i = 0; i < way.n; i++) {
		struct ibcc_truth_root *r = root_at(f, way.out[i]);

		at = r ? r : at;
		if (way.out[i] == p->bottleneck)
			break;
	}
	if (at) {
		at->n_pairs++;
		at->pairs_mbps += p->rate_mbps;
	}
	return 0;
}

static void drop_single(struct ibcc_truth *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_roots; i++) {
		if (t->root[i].n_heavy < 2)
			free(t->root[i].part);
		else
			t->root[n++] = t->root[i];
	}
	t->n_roots = n;
}

static int by_heavy(const void *a, const void *b)
{
	const struct ibcc_truth_root *x = a, *y = b;

	return x->n_heavy != y->n_heavy ? (x->n_heavy < y->n_heavy ? 1 : -1)
					: (x->port > y->port) - (x->port < y->port);
}

int ibcc_truth_find(const struct ibcc_scenario *s, uint64_t at_ps, struct ibcc_truth *t)
{
	struct search f = { s, t, at_ps };
	int rc;

	*t = (struct ibcc_truth){ 0 };
	rc = ibcc_ideal_pairs(s, at_ps, find_heavy, &f);
	if (!rc)
		rc = find_starts(&f);
	if (!rc)
		rc = ibcc_ideal_pairs(s, at_ps, find_light, &f);
	if (!rc)
		rc = ibcc_ideal_pairs(s, at_ps, find_pairs, &f);
	if (rc)
		return rc;
	drop_single(t);
	if (t->n_roots > 1)
		qsort(t->root, t->n_roots, sizeof(*t->root), by_heavy);
	return 0;
}

void ibcc_truth_fini(struct ibcc_truth *t)
{
	for (uint32_t i = 0; i < t->n_roots; i++)
		free(t->root[i].part);
	free(t->root);
	*t = (struct ibcc_truth){ 0 };
}

struct senders {
	const struct ibcc_topo *t;
	const bool *through;
	bool *sends;
};

static int find_sender(void *arg, const struct ibcc_ideal_pair *p)
{
	struct senders *f = arg;
	struct ibcc_route way;

	if (!f->sends[p->src_port] && ibcc_truth_way(f->t, p, &way))
		for (unsigned int i = 0; i < way.n; i++)
			f->sends[p->src_port] |= f->through[way.out[i]];
	return 0;
}

int ibcc_truth_senders(const struct ibcc_scenario *s, uint64_t at_ps, const bool *through,
		       bool *sends)
{
	struct senders f = { s->topo, through, sends };

	memset(sends, 0, s->topo->n_ports * sizeof(*sends));
	return ibcc_ideal_pairs(s, at_ps, find_sender, &f);
}

static void set_all(struct ibcc_scenario *s, const struct ibcc_formula_out *f)
{
	const struct ibcc_topo *t = s->topo;

	s->cc = (struct ibcc_static_cc){ .enabled = true };
	s->cc.sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	s->cc.sw.Threshold = f->threshold;
	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *p = &t->port[i];

		if (ibcc_topo_is_switch(t, p->node) && p->peer != IBCC_NONE &&
		    !ibcc_topo_is_switch(t, t->port[p->peer].node))
			ibcc_cc_mask_assign(&s->cc.sw.Victim_Mask, p->num, true);
	}
	s->cc.ca.Control_Map = UINT16_MAX;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		s->cc.ca.sl[sl].CCTI_Timer = f->ccti_timer;
		s->cc.ca.sl[sl].CCTI_Increase = f->ccti_increase;
	}
}

int ibcc_truth_formulas(struct ibcc_scenario *s, uint64_t at_ps)
{
	const struct ibcc_topo *topo = s->topo;
	struct ibcc_formula_in in = { .packet_bytes =
					      s->model.packet_bytes + s->model.header_bytes };
	struct ibcc_formula_out f;
	struct ibcc_truth t = { 0 };
	unsigned int entries;
	int rc = ibcc_truth_find(s, at_ps, &t);

	s->cc.enabled = false;
	if (rc || !t.n_roots)
		goto out;
	in.kind = t.root[0].kind;
	in.hsd = t.root[0].n_heavy;
	for (uint32_t i = 0; i < topo->n_ports; i++) {
		const struct ibcc_topo_port *p = &topo->port[i];

		if (ibcc_topo_is_switch(topo, p->node) || p->peer == IBCC_NONE)
			continue;
		in.n_ports++;
		if (t.root[0].part[i] == IBCC_TRUTH_HEAVY && p->rate_mbps > in.rate_mbps)
			in.rate_mbps = p->rate_mbps;
	}
	rc = ibcc_formula_compute(&in, &f);
	if (rc)
		goto out;
	set_all(s, &f);
	entries = s->model.cct_blocks * IBCC_CCT_BLOCK_ENTRIES;
	rc = ibcc_cct_build(&s->cc.cct, f.shape, f.cct_entries < entries ? f.cct_entries : entries,
			    f.max_delay_milli);
out:
	ibcc_truth_fini(&t);
	return rc;
}
