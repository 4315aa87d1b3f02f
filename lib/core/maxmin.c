/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include <ibcc/maxmin.h>

struct resource {
	double left;   /* capacity that flows with a final rate have not taken */
	double active; /* sum of the shares of the flows that still grow */
	size_t n_active;
};

static int check(const double *capacity, size_t n_resources, const struct ibcc_maxmin_flow *flow,
		 size_t n_flows)
{
	size_t i, k;

	for (i = 0; i < n_resources; i++)
		if (!(capacity[i] >= 0))
			return -EINVAL;
	for (i = 0; i < n_flows; i++) {
		if (!(flow[i].demand >= 0) || (isinf(flow[i].demand) && !flow[i].n_uses))
			return -EINVAL;
		for (k = 0; k < flow[i].n_uses; k++)
			if (flow[i].use[k].resource >= n_resources || !(flow[i].use[k].share > 0))
				return -EINVAL;
	}
	return 0;
}

/* Rate at which the first resource is full if all growing flows keep growing together. */
static double next_full(const struct resource *r, size_t n)
{
	double level = INFINITY;
	size_t i;

	for (i = 0; i < n; i++)
		if (r[i].n_active)
			level = fmin(level, fmax(r[i].left, 0) / r[i].active);
	return level;
}

/* Is a resource of the flow full when all growing flows stand at `level`? Rounding makes the
 * shares' sums inexact, hence the margin.
 */
static bool is_full(const struct resource *r, const struct ibcc_maxmin_flow *f, double level)
{
	size_t k;

	for (k = 0; k < f->n_uses; k++) {
		const struct resource *u = &r[f->use[k].resource];

		if (u->left - level * u->active <= 1e-9 * fmax(u->left, 0))
			return true;
	}
	return false;
}

static void settle(struct resource *r, struct ibcc_maxmin_flow *f, double rate)
{
	size_t k;

	f->rate = rate;
	for (k = 0; k < f->n_uses; k++) {
		struct resource *u = &r[f->use[k].resource];

		u->left -= rate * f->use[k].share;
		u->active -= f->use[k].share;
		u->n_active--;
	}
}

int ibcc_maxmin_solve(const double *capacity, size_t n_resources, struct ibcc_maxmin_flow *flow,
		      size_t n_flows)
{
	struct resource *r = NULL;
	size_t *growing = NULL;
	size_t n = n_flows, i, k;
	int ret;

	ret = check(capacity, n_resources, flow, n_flows);
	if (ret)
		return ret;
	r = calloc(n_resources + 1, sizeof(*r));
	growing = calloc(n_flows + 1, sizeof(*growing));
	if (!r || !growing) {
		ret = -ENOMEM;
		goto out;
	}
	for (i = 0; i < n_resources; i++)
		r[i].left = capacity[i];
	for (i = 0; i < n_flows; i++) {
		growing[i] = i;
		for (k = 0; k < flow[i].n_uses; k++) {
			r[flow[i].use[k].resource].active += flow[i].use[k].share;
			r[flow[i].use[k].resource].n_active++;
		}
	}
	while (n) {
		double level = next_full(r, n_resources);
		bool by_demand = false;
		size_t kept = 0;

		for (i = 0; i < n; i++)
			if (flow[growing[i]].demand <= level) {
				level = flow[growing[i]].demand;
				by_demand = true;
			}
		/* Which flows end here is decided before any of them gives its share back. */
		for (i = 0; i < n; i++) {
			struct ibcc_maxmin_flow *f = &flow[growing[i]];

			f->rate = -1;
			if (by_demand ? f->demand <= level : is_full(r, f, level))
				f->rate = level;
		}
		for (i = 0; i < n; i++) {
			struct ibcc_maxmin_flow *f = &flow[growing[i]];

			if (f->rate >= 0)
				settle(r, f, level);
			else
				growing[kept++] = growing[i];
		}
		n = kept;
	}
out:
	free(r);
	free(growing);
	return ret;
}
