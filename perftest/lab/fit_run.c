/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Draws combinations, runs them and computes how far they miss. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/rng.h>
#include <ibcc/scenario_file.h>

#include "perftest/bench/report.h"
#include "perftest/lab/fit.h"
#include "perftest/lab/sweep_file.h"

/* On a logarithmic scale the n values divide the logarithm of the whole range. Each has half a step
 * on either side.
 */
static uint64_t pick(const struct ibcc_fit_range *r, uint64_t n, uint64_t *rng)
{
	double u, low, high;
	uint64_t k;

	if (!r->logarithmic)
		return ibcc_rng_below(rng, (uint32_t)n);
	u = (double)(ibcc_rng_next(rng) >> 11) * 0x1p-53;
	low = r->from - r->step / 2;
	high = low + (double)n * r->step;
	k = (uint64_t)(low * (pow(high / low, u) - 1) / r->step);
	return k < n ? k : n - 1;
}

uint64_t *ibcc_fit_draw(const struct ibcc_fit *f)
{
	uint64_t *out = calloc(f->draws + 1, sizeof(*out)), rng = f->seed, n = 0;
	uint8_t *drawn = calloc(f->grid.n_points / 8 + 1, 1);

	while (out && drawn && n < f->draws) {
		uint64_t p = 0;

		for (size_t i = 0; i < f->grid.n_axes; i++)
			p = p * f->grid.axis[i].value.n +
			    pick(&f->range[i], f->grid.axis[i].value.n, &rng);
		if (drawn[p / 8] >> p % 8 & 1)
			continue;
		drawn[p / 8] |= (uint8_t)(1u << p % 8);
		out[n++] = p;
	}
	if (!drawn) {
		free(out);
		out = NULL;
	}
	free(drawn);
	return out;
}

double ibcc_fit_row_miss(const struct ibcc_exp_row *row)
{
	double off = row->measured - row->published;

	return off / (off > 0 ? row->high - row->published : row->low - row->published);
}

double ibcc_fit_miss(const struct ibcc_fit *f, const struct ibcc_exp_row *row, size_t n)
{
	double largest = 0, squares = 0;

	for (size_t i = 0; i < n; i++) {
		double miss = ibcc_fit_row_miss(&row[i]);

		largest = miss <= largest ? largest : miss; /* NAN stays */
		squares += miss * miss;
		if (isnan(miss))
			return NAN;
	}
	switch ((enum ibcc_fit_measure)f->measure) {
	case IBCC_FIT_LARGEST: return largest;
	case IBCC_FIT_ROOT_MEAN_SQUARE: return n ? sqrt(squares / (double)n) : 0;
	}
	return NAN;
}

int ibcc_fit_check(const struct ibcc_fit *f, const struct ibcc_words *set,
		   struct ibcc_yaml_errors *e)
{
	int rc = 0;

	for (size_t i = 0; i < f->x.n_variants && !rc; i++) {
		struct ibcc_words all = { 0 };
		struct ibcc_scenario s;

		if (!f->x.variant[i].needed)
			continue;
		rc = ibcc_words_add_all(&all, &f->x.variant[i].set);
		if (!rc)
			rc = ibcc_words_add_all(&all, &f->set);
		if (!rc)
			rc = ibcc_words_add_all(&all, set);
		if (!rc)
			rc = ibcc_scenario_load_set(f->x.scenario, (const char *const *)all.w,
						    all.n, &s, e);
		if (!rc)
			ibcc_scenario_fini(&s);
		ibcc_words_fini(&all);
	}
	return rc;
}

static void *copy(const void *from, size_t n, size_t size)
{
	void *to = calloc(n + 1, size);

	if (to && n)
		memcpy(to, from, n * size);
	return to;
}

static json_t *report(const struct ibcc_fit *f, const struct ibcc_experiment *x,
		      const struct ibcc_exp_result *r)
{
	json_t *result =
		json_pack("{so}", "miss", ibcc_report_number(ibcc_fit_miss(f, x->row, x->n_rows)));

	for (size_t i = 0; i < x->n_rows; i++)
		json_object_set_new(result, x->row[i].name, ibcc_report_number(x->row[i].measured));
	return json_pack("{ss so sf sI}", "fit", f->name, "result", result, "cpu_s", r->cpu_s,
			 "packet_hops", (json_int_t)r->packet_hops);
}

/* A run fills in rows and marks variants, so each run has its own copies. */
int ibcc_fit_run(const struct ibcc_fit *f, const struct ibcc_words *set, json_t **out,
		 struct ibcc_yaml_errors *e)
{
	struct ibcc_words all = { 0 };
	const struct ibcc_exp_options o = { .set = &all, .threads = 1 };
	struct ibcc_experiment x = f->x;
	struct ibcc_exp_result r = { .ok = false };
	int rc;

	x.row = copy(f->x.row, x.n_rows, sizeof(*x.row));
	x.variant = copy(f->x.variant, x.n_variants, sizeof(*x.variant));
	rc = x.row && x.variant ? ibcc_words_add_all(&all, &f->set) : -ENOMEM;
	if (!rc)
		rc = ibcc_words_add_all(&all, set);
	if (!rc)
		rc = ibcc_experiment_run(&x, &o, &r, e);
	*out = rc ? NULL : report(f, &x, &r);
	ibcc_experiment_result_fini(&r);
	ibcc_words_fini(&all);
	free(x.row);
	free(x.variant);
	return rc ? rc : *out ? 0 : -ENOMEM;
}

int ibcc_fit_id(const struct ibcc_fit *f, const struct ibcc_words *set, const struct ibcc_grid *g,
		char id[17])
{
	const char *const file[] = { f->path, f->experiment, f->x.scenario };
	struct ibcc_words before = { 0 };
	int rc = ibcc_words_add_all(&before, set);

	/* The hash of each file is one more assignment for the next hash. */
	for (size_t i = 0; i < sizeof(file) / sizeof(*file) && !rc; i++) {
		rc = ibcc_sweep_id(file[i], &before, g, id);
		if (!rc)
			rc = ibcc_words_add(&before, id);
	}
	ibcc_words_fini(&before);
	return rc;
}
