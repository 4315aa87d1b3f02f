/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much each pair of hosts carries, by iterative proportional fitting (W. Deming, F. Stephan,
 * On a least squares adjustment of a sampled frequency table when the expected marginal totals
 * are known, Annals of Mathematical Statistics 11, 1940).
 *
 * A step scales all pairs that pass a link by what the link carries over what they carry
 * together. Links are taken by their place on the ways, counted from the end: all last hops at
 * once, then all hops before them and so on, so that no order of ports matters. First the traffic
 * before congestion is fitted (fit_before()). Then the present is: at first a source's old pairs
 * are cut alike ("tied"), since a source that waits is held up as a whole; what does not fit that
 * way is left to untied steps (fit_now()).
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "traffic.h"

/* A sweep goes over all links once. The number of sweeps follows from MAX_STEPS, within these
 * bounds. */
#define MIN_SWEEPS  6u
#define MAX_SWEEPS  200u
#define TIED_SWEEPS 60u
/* One in LOADS_ALONE sweeps, the last ones, fits the links' loads alone, without BECNs. */
#define LOADS_ALONE 40u
#define MAX_STEPS   14000000.0
/* A link's factor in one step is between 1 / STEP and STEP. */
#define STEP 8.0
/* First guess: the share of what it sent before that a source that waits still gets through. */
#define FIRST_CUT 0.7
/* If a source sent at least TELLING of its link before, its old pairs show by what factor it is
 * cut, up to MOST_CUT. A source that sends or waits for BACKLOGGED of its link always has something
 * to send.
 */
#define TELLING    0.02
#define MOST_CUT   20.0
#define BACKLOGGED 0.9

struct crossing {
	uint32_t pair, port;
};

/* All links that some pair passes at one place of its way, counted from the end. And every pair
 * that passes one of them at any place, in the order of pairs, so that a step sums only these
 * links.
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
	double *log_cut, *out;       /* by port of a source, over its old pairs */
	/* By root and port of a source: what it sends through the root by its BECNs, and by the fit
	 * so far; NULL: no root has BECNs.
	 */
	double *column, *column_sum;
	bool *tells; /* by root: it has BECNs */
	uint32_t sweeps, most_hops;
};

static size_t column_at(const struct fit *f, const struct ibcc_traffic_pair *p)
{
	return (size_t)p->root * f->in->t->n_ports + p->src;
}

/* Sets the columns: a root marks its sources' packets alike, so a source's share of the BECNs is
 * its share of the root's rate.
 */
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

/* The port of a pair's way at place k, counted from the end; IBCC_NONE if the way is shorter. */
static uint32_t port_at(const struct ibcc_traffic *t, const struct ibcc_traffic_pair *p, uint32_t k)
{
	return k < p->hops ? t->hop[p->first_hop + p->hops - 1 - k] : IBCC_NONE;
}

/* Collects the links at place k. found[] has room for all ports; seen[] has for each port the last
 * place at which it was found, plus 1.
 */
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

/* The factor of each link at a place: its load over what its pairs carry together. */
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

/* Scales all old pairs of a source alike, by the geometric mean of their factors, weighted by what
 * they carried before; none gets more than it had before. Fresh pairs get their own factors.
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
	/* Pairs of a source mostly stand together, which saves computing `cut` again. */
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

/* One step for the columns: scales pairs by what their source's BECNs say over what the fit has. */
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

/* One sweep: a step for the links at each place, the last ones first. */
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

/* Fits the traffic before congestion, beginning with the product of what a source sends and a
 * destination gets.
 */
static void fit_before(struct fit *f, const struct ibcc_loads *l, double *x)
{
	const struct ibcc_topo *topo = f->in->t;
	const struct ibcc_traffic *t = f->t;

	for (uint32_t i = 0; i < t->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &t->pair[i];

		x[i] = p->fresh ? 0 : l->mbps[p->src] * l->mbps[topo->port[p->dst].peer];
	}
	/* Scaled to the sources' loads at once: STEP would limit the first steps. */
	sum_links(f, x);
	for (uint32_t i = 0; i < t->n_pairs; i++) {
		double is = f->sum[t->pair[i].src];

		x[i] = is > 0 ? x[i] * l->mbps[t->pair[i].src] / is : 0;
	}
	for (uint32_t n = 0; n < f->sweeps; n++)
		sweep(f, l, x, false);
}

/* The first guess of the present: what a source sends beyond what it sent before is certainly new,
 * and a source that waits may send more that is new.
 */
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
	/* The rest is fitted untied. The last sweeps go by loads alone, since BECNs are a sample,
	 * and of another time.
	 */
	for (uint32_t n = 0; n < f->sweeps; n++) {
		if (f->column && n < f->sweeps - f->sweeps / LOADS_ALONE)
			sweep_columns(f, x, false);
		sweep(f, now, x, false);
	}
}

/* The sum of the differences between links' loads and the fit, as a share of all loads. */
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

/* Whether a source always has something to send: it sends or waits all the time. */
static bool is_backlogged(const struct ibcc_traffic_in *in, uint32_t port)
{
	double link = in->t->port[port].rate_mbps;

	return in->now->mbps[port] + in->now->wait[port] * link > BACKLOGGED * link;
}

/* Sets what pairs carry and demand. A pair of a source that does not wait demands what it carries.
 * Otherwise old pairs demand what they carried before, and fresh ones are taken to be cut as the
 * source's old ones are.
 */
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
