/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much of each: iterative proportional fitting (W. Deming, F. Stephan, "On a least squares
 * adjustment of a sampled frequency table", 1940), by the place of links on the ways: all first
 * hops at once, then all second ones and so on, so that no order of ports counts.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "traffic.h"

/* Sweeps over all links, within so many steps in all. */
#define MIN_SWEEPS  6u
#define MAX_SWEEPS  200u
#define TIED_SWEEPS 60u
/* Of which one in so many, the last ones, are for loads alone. */
#define LOADS_ALONE 40u
#define MAX_STEPS   14000000.0
/* A link's factor in one step is within 1 / STEP and STEP. */
#define STEP 8.0
/* What a source that waits is taken to get through of what it sent before, at first. */
#define FIRST_CUT 0.7
/* A source's traffic of before tells how far it is cut if it was so much of its link, and it is
 * cut at most to so little.
 */
#define TELLING    0.02
#define MOST_CUT   20.0
#define BACKLOGGED 0.9

struct crossing {
	uint32_t pair, port;
};

/* All links that some way has at one place, counted from its end, and every pair that passes one of
 * them anywhere, in the order of pairs: a step needs no sum of other links.
 */
struct place {
	uint32_t n_ports, *port;
	uint32_t n;
	struct crossing *crossing;
};

struct fit {
	const struct ibcc_traffic_in *in;
	struct ibcc_traffic *t;
	struct place *place;         /* most_hops of them */
	double *before;              /* by pair */
	double *sum;                 /* by port */
	double *step, *log_step;     /* by port, of the links at one place */
	double *factor, *log_factor; /* by pair, of a step */
	double *log_cut, *out;       /* by port of a source: of its old pairs */
	/* By root and port of a source: what BECNs say that it sends through the root, and what it
	 * is so far; NULL: no root has any.
	 */
	double *column, *column_sum;
	bool *tells; /* by root: it has BECNs */
	uint32_t sweeps, most_hops;
};

static size_t column_at(const struct fit *f, const struct ibcc_traffic_pair *p)
{
	return (size_t)p->root * f->in->t->n_ports + p->src;
}

/* Each packet that a root marks is one of its packets: sources have the same parts of both. */
static int find_columns(struct fit *f)
{
	const struct ibcc_traffic_in *in = f->in;
	size_t n = (size_t)in->n_roots * in->t->n_ports;
	bool any = false;

	for (uint32_t r = 0; r < in->n_roots; r++)
		any |= in->root[r].becns != NULL;
	if (!any)
		return 0;
	f->column = calloc(n + 1, sizeof(*f->column));
	f->column_sum = calloc(n + 1, sizeof(*f->column_sum));
	f->tells = calloc(in->n_roots + 1u, sizeof(*f->tells));
	if (!f->column || !f->column_sum || !f->tells)
		return -ENOMEM;
	for (uint32_t r = 0; r < in->n_roots; r++) {
		double all = 0, load = in->now->mbps[in->root[r].port];

		for (uint32_t i = 0; in->root[r].becns && i < in->t->n_endports; i++)
			all += in->root[r].becns[i];
		f->tells[r] = all > 0;
		for (uint32_t i = 0; all > 0 && i < in->t->n_endports; i++)
			f->column[(size_t)r * in->t->n_ports + in->t->endport[i]] =
				load * in->root[r].becns[i] / all;
	}
	return 0;
}

static void sum_links(struct fit *f, const double *x)
{
	const struct ibcc_traffic *t = f->t;

	for (uint32_t i = 0; i < f->in->t->n_ports; i++)
		f->sum[i] = 0;
	for (uint32_t i = 0; i < t->n_pairs; i++)
		for (uint32_t k = 0; k < t->pair[i].hops; k++)
			f->sum[t->hop[t->pair[i].first_hop + k]] += x[i];
}

/* The link's port, IBCC_NONE if the way is shorter. */
static uint32_t port_at(const struct ibcc_traffic *t, const struct ibcc_traffic_pair *p, uint32_t k)
{
	return k < p->hops ? t->hop[p->first_hop + p->hops - 1 - k] : IBCC_NONE;
}

/* found[] has room for each port; seen[]: by port, the last place that it is at, from 1 on. */
static int find_place(const struct ibcc_traffic *t, uint32_t k, uint32_t *found, uint32_t *seen,
		      struct place *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n_pairs; i++) {
		uint32_t port = port_at(t, &t->pair[i], k);

		if (port == IBCC_NONE || seen[port] == k + 1)
			continue;
		seen[port] = k + 1;
		found[p->n_ports++] = port;
	}
	for (uint32_t i = 0; i < t->n_hops; i++)
		n += seen[t->hop[i]] == k + 1;
	p->port = calloc(p->n_ports + 1u, sizeof(*p->port));
	p->crossing = calloc(n + 1u, sizeof(*p->crossing));
	if (!p->port || !p->crossing)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n_ports; i++)
		p->port[i] = found[i];
	for (uint32_t i = 0; i < t->n_pairs; i++)
		for (uint32_t h = 0; h < t->pair[i].hops; h++) {
			uint32_t port = t->hop[t->pair[i].first_hop + h];

			if (seen[port] == k + 1)
				p->crossing[p->n++] = (struct crossing){ i, port };
		}
	return 0;
}

static int find_places(struct fit *f)
{
	const struct ibcc_traffic *t = f->t;
	uint32_t n_ports = f->in->t->n_ports;
	uint32_t *found = calloc(n_ports + 1u, sizeof(*found));
	uint32_t *seen = calloc(n_ports + 1u, sizeof(*seen));
	int rc = found && seen ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < t->n_pairs; i++)
		if (t->pair[i].hops > f->most_hops)
			f->most_hops = t->pair[i].hops;
	f->place = calloc(f->most_hops + 1u, sizeof(*f->place));
	if (!f->place)
		rc = -ENOMEM;
	for (uint32_t k = 0; k < f->most_hops && !rc; k++)
		rc = find_place(t, k, found, seen, &f->place[k]);
	free(found);
	free(seen);
	return rc;
}

static void free_places(struct fit *f)
{
	for (uint32_t k = 0; f->place && k < f->most_hops; k++) {
		free(f->place[k].port);
		free(f->place[k].crossing);
	}
	free(f->place);
}

/* What each link of a place asks of the pairs that pass it: its load over theirs. */
static void find_steps(struct fit *f, const struct ibcc_loads *l, const struct place *p,
		       const double *x, bool tied)
{
	for (uint32_t i = 0; i < p->n_ports; i++)
		f->sum[p->port[i]] = 0;
	for (uint32_t i = 0; i < p->n; i++)
		f->sum[p->crossing[i].port] += x[p->crossing[i].pair];
	for (uint32_t i = 0; i < p->n_ports; i++) {
		uint32_t port = p->port[i];
		double is = f->sum[port];

		f->step[port] = is > 0 ? fmin(fmax(l->mbps[port] / is, 1 / STEP), STEP) : 1;
		if (tied)
			f->log_step[port] = log(f->step[port]);
	}
}

/* All old pairs of a source alike: their factors' mean, weighted by what they had, and no more than
 * they had.
 */
static void tie(struct fit *f, double *x)
{
	const struct ibcc_traffic *t = f->t;
	uint32_t last = IBCC_NONE;
	double cut = 1;

	for (uint32_t i = 0; i < t->n_pairs; i++) {
		f->log_cut[t->pair[i].src] = 0;
		f->out[t->pair[i].src] = 0;
	}
	for (uint32_t i = 0; i < t->n_pairs; i++)
		if (!t->pair[i].fresh) {
			f->log_cut[t->pair[i].src] += f->before[i] * f->log_factor[i];
			f->out[t->pair[i].src] += f->before[i];
		}
	/* Pairs of a source stand together, mostly. */
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		uint32_t src = t->pair[i].src;

		if (t->pair[i].fresh) {
			x[i] *= f->factor[i];
			continue;
		}
		if (src != last) {
			cut = f->out[src] > 0 ? exp(f->log_cut[src] / f->out[src]) : 1;
			last = src;
		}
		x[i] = fmin(x[i] * cut, f->before[i]);
	}
}

/* Likewise, of columns; a root without BECNs has none. */
static void sweep_columns(struct fit *f, double *x, bool tied)
{
	const struct ibcc_traffic *t = f->t;

	for (uint32_t i = 0; i < t->n_pairs; i++)
		if (t->pair[i].root != IBCC_NONE)
			f->column_sum[column_at(f, &t->pair[i])] = 0;
	for (uint32_t i = 0; i < t->n_pairs; i++)
		if (t->pair[i].root != IBCC_NONE)
			f->column_sum[column_at(f, &t->pair[i])] += x[i];
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &t->pair[i];

		f->factor[i] = 1;
		f->log_factor[i] = 0;
		if (p->root == IBCC_NONE || !f->tells[p->root])
			continue;
		f->factor[i] =
			f->column[column_at(f, p)] / fmax(f->column_sum[column_at(f, p)], 1e-9);
		f->factor[i] = fmin(fmax(f->factor[i], 1 / STEP), STEP);
		f->log_factor[i] = log(f->factor[i]);
		if (!tied)
			x[i] *= f->factor[i];
	}
	if (tied)
		tie(f, x);
}

static void sweep(struct fit *f, const struct ibcc_loads *l, double *x, bool tied)
{
	const struct ibcc_traffic *t = f->t;

	for (uint32_t k = 0; k < f->most_hops; k++) {
		find_steps(f, l, &f->place[k], x, tied);
		for (uint32_t i = 0; i < t->n_pairs; i++) {
			uint32_t port = port_at(t, &t->pair[i], k);

			f->factor[i] = port == IBCC_NONE ? 1 : f->step[port];
			if (tied)
				f->log_factor[i] = port == IBCC_NONE ? 0 : f->log_step[port];
			else
				x[i] *= f->factor[i];
		}
		if (tied)
			tie(f, x);
	}
}

static void fit_before(struct fit *f, const struct ibcc_loads *l, double *x)
{
	const struct ibcc_topo *topo = f->in->t;
	const struct ibcc_traffic *t = f->t;

	for (uint32_t i = 0; i < t->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &t->pair[i];

		x[i] = p->fresh ? 0 : l->mbps[p->src] * l->mbps[topo->port[p->dst].peer];
	}
	/* The first steps would be cut off. */
	sum_links(f, x);
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		double is = f->sum[t->pair[i].src];

		x[i] = is > 0 ? x[i] * l->mbps[t->pair[i].src] / is : 0;
	}
	for (uint32_t n = 0; n < f->sweeps; n++)
		sweep(f, l, x, false);
}

/* What a source sends beyond what it sent is new for certain; who waits may send more than that. */
static void first_guess(struct fit *f, double *x)
{
	const struct ibcc_traffic_in *in = f->in;
	const struct ibcc_traffic *t = f->t;
	double *weight = f->log_cut;

	for (uint32_t i = 0; i < in->t->n_ports; i++) {
		f->out[i] = 0;
		weight[i] = 0;
	}
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &t->pair[i];
		const struct ibcc_traffic_root *r =
			p->root == IBCC_NONE ? NULL : &in->root[p->root];

		if (!p->fresh) {
			f->out[p->src] += f->before[i];
			continue;
		}
		f->factor[i] = in->now->mbps[in->t->port[p->dst].peer];
		if (r && r->becns && in->t->port[p->src].endport != IBCC_NONE)
			f->factor[i] *= 1e-3 + r->becns[in->t->port[p->src].endport];
		weight[p->src] += f->factor[i];
	}
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &t->pair[i];
		double sends = in->now->mbps[p->src], had = f->out[p->src];
		double keeps = had > 0 ? fmin(1, sends / had) : 1;

		if (weight[p->src] > 0 && ibcc_traffic_waits(in, p->src))
			keeps *= FIRST_CUT;
		if (!p->fresh)
			x[i] = keeps * f->before[i];
		else
			x[i] = fmax(sends - keeps * had, 1e-6) * f->factor[i] / weight[p->src];
	}
}

static void fit_now(struct fit *f, double *x)
{
	const struct ibcc_loads *now = f->in->now;

	first_guess(f, x);
	for (uint32_t n = 0; n < f->sweeps && n < TIED_SWEEPS; n++) {
		if (f->column)
			sweep_columns(f, x, true);
		sweep(f, now, x, true);
	}
	/* What is left over is no longer a matter of sources. Loads have the last word: BECNs are a
	 * sample, and of another time.
	 */
	for (uint32_t n = 0; n < f->sweeps; n++) {
		if (f->column && n < f->sweeps - f->sweeps / LOADS_ALONE)
			sweep_columns(f, x, false);
		sweep(f, now, x, false);
	}
}

static double misfit(struct fit *f, const double *x)
{
	double off = 0, all = 0;

	sum_links(f, x);
	for (uint32_t i = 0; i < f->in->t->n_ports; i++)
		if (f->in->t->port[i].peer != IBCC_NONE) {
			off += fabs(f->sum[i] - f->in->now->mbps[i]);
			all += f->in->now->mbps[i];
		}
	return all > 0 ? off / all : 0;
}

/* Always something to send: it sends or waits. */
static bool is_backlogged(const struct ibcc_traffic_in *in, uint32_t port)
{
	double link = in->t->port[port].rate_mbps;

	return in->now->mbps[port] + in->now->wait[port] * link > BACKLOGGED * link;
}

/* Demands of who waits: before, or as if the source were cut as its old traffic is. */
static void give_demands(struct fit *f, const double *x)
{
	const struct ibcc_traffic_in *in = f->in;
	struct ibcc_traffic *t = f->t;
	double *old = f->log_cut;

	for (uint32_t i = 0; i < in->t->n_ports; i++) {
		f->out[i] = 0;
		old[i] = 0;
	}
	for (uint32_t i = 0; i < t->n_pairs; i++)
		if (!t->pair[i].fresh) {
			f->out[t->pair[i].src] += f->before[i];
			old[t->pair[i].src] += x[i];
		}
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		struct ibcc_traffic_pair *p = &t->pair[i];
		double link = in->t->port[p->src].rate_mbps, sends = in->now->mbps[p->src];
		double cut = link / fmax(sends, 1); /* greedy: all that its link carries */

		p->carried = x[i];
		p->demand = x[i];
		if (!ibcc_traffic_waits(in, p->src))
			continue;
		if (in->before && f->out[p->src] > TELLING * link)
			cut = fmin(fmax(f->out[p->src] / fmax(old[p->src], 1), 1), MOST_CUT);
		if (p->fresh && p->root != IBCC_NONE && is_backlogged(in, p->src))
			p->demand = link;
		else if (p->fresh || !in->before)
			p->demand = fmin(x[i] * cut, link);
		else
			p->demand = fmax(x[i], f->before[i]);
	}
}

int ibcc_traffic_fit(const struct ibcc_traffic_in *in, struct ibcc_traffic *t)
{
	uint32_t n_ports = in->t->n_ports;
	struct fit f = { .in = in,
			 .t = t,
			 .before = calloc(t->n_pairs + 1u, sizeof(double)),
			 .sum = calloc(n_ports + 1u, sizeof(double)),
			 .step = calloc(n_ports + 1u, sizeof(double)),
			 .log_step = calloc(n_ports + 1u, sizeof(double)),
			 .factor = calloc(t->n_pairs + 1u, sizeof(double)),
			 .log_factor = calloc(t->n_pairs + 1u, sizeof(double)),
			 .log_cut = calloc(n_ports + 1u, sizeof(double)),
			 .out = calloc(n_ports + 1u, sizeof(double)) };
	double *x = calloc(t->n_pairs + 1u, sizeof(*x)), sweeps;
	int rc = -ENOMEM;

	if (f.before && f.sum && f.step && f.log_step && f.factor && f.log_factor && f.log_cut &&
	    f.out && x)
		rc = find_places(&f);
	if (rc)
		goto out;
	sweeps = MAX_STEPS / fmax((double)t->n_hops * f.most_hops, 1);
	f.sweeps = (uint32_t)fmin(fmax(sweeps, MIN_SWEEPS), MAX_SWEEPS);
	rc = find_columns(&f);
	if (rc)
		goto out;
	fit_before(&f, in->before ? in->before : in->now, f.before);
	if (in->before)
		fit_now(&f, x);
	else
		for (uint32_t i = 0; i < t->n_pairs; i++)
			x[i] = f.before[i];
	t->misfit = misfit(&f, x);
	give_demands(&f, x);
out:
	free_places(&f);
	free(f.column);
	free(f.column_sum);
	free(f.tells);
	free(f.before);
	free(f.sum);
	free(f.step);
	free(f.log_step);
	free(f.factor);
	free(f.log_factor);
	free(f.log_cut);
	free(f.out);
	free(x);
	return rc;
}
