/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/lost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "perftest/lab/draw.h"

#define FEW 3u

const char *const ibcc_lost_name[IBCC_N_LOST] = {
	"to all", "two roots", "no root", "one table", "few senders", "one root",
};

struct search {
	const struct ibcc_scenario *s;
	const struct ibcc_truth *t;
	enum ibcc_lost *of; /* by flow */
};

static enum ibcc_lost judge(const struct search *f, const struct ibcc_ideal_pair *p,
			    const struct ibcc_route *way)
{
	const struct ibcc_truth_root *at = NULL;
	unsigned int passed = 0, heavy = 0;

	for (uint32_t i = 0; i < f->t->n_roots; i++) {
		const struct ibcc_truth_root *r = &f->t->root[i];

		heavy += r->part[p->src_port] == IBCC_TRUTH_HEAVY;
		for (unsigned int k = 0; k < way->n; k++)
			if (way->out[k] == r->port) {
				passed++;
				at = r;
			}
	}
	if (passed != 1)
		return passed ? IBCC_LOST_TWO_ROOTS : IBCC_LOST_NO_ROOT;
	if (heavy > 1)
		return IBCC_LOST_ONE_TABLE;
	return at->n_heavy <= FEW ? IBCC_LOST_FEW : IBCC_LOST_HELD;
}

static int find(void *arg, const struct ibcc_ideal_pair *p)
{
	struct search *f = arg;
	struct ibcc_route way;

	if (strcmp(f->s->flow[p->flow].to, "*") && ibcc_truth_way(f->s->topo, p, &way))
		f->of[p->flow] = judge(f, p, &way);
	return 0;
}

int ibcc_lost_find(const struct ibcc_scenario *s, const struct ibcc_truth *t,
		   const struct ibcc_measure *m, double *lost)
{
	struct search f = { s, t, calloc(s->n_flows + 1u, sizeof(*f.of)) };
	double best = 0;
	int rc = f.of ? ibcc_ideal_pairs(s, s->measure_from_ps, find, &f) : -ENOMEM;

	for (int k = 0; k < IBCC_N_LOST; k++)
		lost[k] = 0;
	for (uint32_t i = 0; i < m->n_flows && !rc; i++) {
		double most = ibcc_draw_most(&m->flow[i]);

		best += most;
		lost[f.of[i]] += most - fmin(m->flow[i].throughput_mbps, most);
	}
	for (int k = 0; k < IBCC_N_LOST && best > 0; k++)
		lost[k] /= best;
	free(f.of);
	return rc;
}
