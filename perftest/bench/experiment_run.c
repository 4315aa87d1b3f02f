/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Running the variants of an experiment and judging its rows. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/now.h>
#include <ibcc/scenario_file.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/experiment.h"
#include "perftest/bench/figure.h"
#include "perftest/bench/pool.h"
#include "perftest/bench/statics.h"
#include "perftest/bench/truth.h"
#include "perftest/bench/watch.h"
#include "perftest/bench/wire.h"

/* Enough for a settling time to a hundredth of the run and for a smooth curve. */
#define SAMPLES 200u
/* How long a fabric is watched before it is asked for advice on DCQCN, as in `ibcc-lab advise`. */
#define WATCH_MS 20u

struct run_job {
	struct ibcc_experiment *x;
	struct ibcc_exp_result *r;
	struct ibcc_yaml_errors *e;
};

static int mark_needed(struct ibcc_experiment *x, const struct ibcc_exp_options *o)
{
	char why[200];
	int rc = 0;

	for (size_t i = 0; i < x->n_variants; i++)
		x->variant[i].needed = false;
	for (size_t i = 0; i < x->n_series; i++)
		x->series[i].needed = !o->shortened;
	for (size_t i = 0; i < x->n_rows && !rc; i++)
		if (!o->shortened || !x->row[i].only_full)
			rc = ibcc_figure_check(x, x->row[i].value, why, sizeof(why));
	for (size_t i = 0; i < x->n_series; i++)
		for (size_t k = 0; x->series[i].needed && k < x->series[i].n; k++)
			x->variant[x->series[i].first_variant + k].needed = true;
	for (size_t i = 0; o->columns && !o->shortened && i < x->n_variants; i++)
		if (x->variant[i].column != IBCC_EXP_COLUMN_NONE)
			x->variant[i].needed = true;
	for (size_t i = 0; o->plot && i < x->n_variants; i++)
		for (size_t k = 0; k < x->plot.n; k++)
			if (!strcmp(x->plot.w[k], x->variant[i].name))
				x->variant[i].needed = true;
	return rc;
}

/* A variant that finds its own profile turns DCQCN on, and no other congestion control can run
 * beside that.
 */
static int check_profile(const struct ibcc_experiment *x, const struct ibcc_exp_run *run,
			 struct ibcc_yaml_errors *e)
{
	const struct ibcc_exp_variant *v = &x->variant[run->variant];

	if (v->profile == IBCC_EXP_PROFILE_GIVEN ||
	    !(run->scenario.cc.enabled || run->scenario.model.bcn.enabled))
		return 0;
	ibcc_yaml_errors_add(e, x->scenario, 0, 0,
			     "got congestion_control or bcn with the profile of variant \"%s\", "
			     "want neither enabled: that profile is for DCQCN alone",
			     v->name);
	return -EINVAL;
}

/* Loads the scenario or settings of one run. Later assignments win over earlier ones. */
static int load(const struct ibcc_experiment *x, const struct ibcc_exp_options *o,
		struct ibcc_exp_run *run, struct ibcc_yaml_errors *e)
{
	struct ibcc_words set = { 0 };
	int rc = ibcc_words_add_all(&set, &x->variant[run->variant].set);

	if (!rc && o->shortened)
		rc = ibcc_words_add_all(&set, &x->shortened);
	if (!rc && o->set)
		rc = ibcc_words_add_all(&set, o->set);
	if (!rc && x->wire[0]) {
		rc = ibcc_exp_wire_load(x, &set, &run->wire, e);
		ibcc_words_fini(&set);
		return rc;
	}
	if (!rc)
		rc = ibcc_scenario_load_set(x->scenario, (const char *const *)set.w, set.n,
					    &run->scenario, e);
	if (!rc && o->seed)
		run->scenario.seed = o->seed;
	if (!rc)
		run->scenario.seed += run->k;
	if (!rc)
		rc = check_profile(x, run, e);
	if (!rc && x->variant[run->variant].column == IBCC_EXP_COLUMN_FORMULAS)
		rc = ibcc_truth_formulas(&run->scenario, run->scenario.measure_from_ps);
	ibcc_words_fini(&set);
	return rc;
}

static int load_all(struct ibcc_experiment *x, const struct ibcc_exp_options *o,
		    struct ibcc_exp_result *r, struct ibcc_yaml_errors *e)
{
	size_t n = 0;
	int rc = 0;

	for (size_t v = 0; v < x->n_variants; v++)
		n += x->variant[v].needed ? x->variant[v].seeds : 0;
	r->run = calloc(n + 1, sizeof(*r->run));
	if (!r->run)
		return -ENOMEM;
	for (size_t v = 0; v < x->n_variants && !rc; v++) {
		for (uint32_t k = 0; x->variant[v].needed && k < x->variant[v].seeds && !rc; k++) {
			struct ibcc_exp_run *run = &r->run[r->n_runs++];

			*run = (struct ibcc_exp_run){ .variant = v, .k = k };
			rc = load(x, o, run, e);
		}
	}
	return rc;
}

/* Turns DCQCN on with the profile to which ibcc-tune advise comes, or off. */
static int follow_advice(struct ibcc_scenario *s)
{
	struct ibcc_dcqcn advised, *d = &s->model.dcqcn;
	struct ibcc_advise a;
	bool congested;
	int rc = ibcc_watch_advise(s, WATCH_MS, &congested, &a);

	d->enabled = !rc && a.verdict == IBCC_ADVISE_ON;
	if (!d->enabled)
		return rc;
	ibcc_advise_dcqcn(&a.profile, &d->rp, &advised);
	d->profile[0] = advised.profile[0];
	memcpy(d->sl2profile, advised.sl2profile, sizeof(d->sl2profile));
	return 0;
}

static int find_profile(struct ibcc_scenario *s, int from)
{
	switch ((enum ibcc_exp_profile)from) {
	case IBCC_EXP_PROFILE_GIVEN: return 0;
	case IBCC_EXP_PROFILE_ADVISED: return follow_advice(s);
	case IBCC_EXP_PROFILE_BEST: return ibcc_statics_search(s);
	}
	return -EINVAL;
}

static int work(void *arg, uint64_t i)
{
	struct run_job *j = arg;
	struct ibcc_exp_run *run = &j->r->run[i];
	double start = ibcc_now_cpu_s();
	const struct ibcc_exp_variant *v = &j->x->variant[run->variant];
	uint64_t sample_ps = run->scenario.duration_ps / SAMPLES;
	int rc;

	if (run->wire) {
		rc = ibcc_exp_wire_run(run->wire);
		run->cpu_s = run->wire->cpu_s;
		return rc;
	}
	rc = find_profile(&run->scenario, v->profile);
	if (rc)
		return rc;
	if (v->live)
		rc = ibcc_live_run(&run->scenario, &v->control, sample_ps, &run->measure,
				   &run->live);
	else
		rc = ibcc_measure_run(&run->scenario, sample_ps, &run->measure, NULL);
	run->cpu_s = ibcc_now_cpu_s() - start;
	return rc;
}

static int done(void *arg, uint64_t i, int rc)
{
	struct run_job *j = arg;
	const struct ibcc_exp_run *run = &j->r->run[i];

	if (rc) {
		ibcc_yaml_errors_add(j->e, run->wire ? j->x->wire : j->x->scenario, 0, 0,
				     "the simulation of variant %s failed: %s",
				     j->x->variant[run->variant].name,
				     rc == -EDEADLK ? run->measure.deadlock : strerror(-rc));
		return rc;
	}
	j->r->packet_hops += run->measure.totals.packet_hops;
	j->r->cpu_s += run->cpu_s;
	j->r->simulated_s += (double)run->measure.to_ps / 1e12;
	return 0;
}

static int judge_series(struct ibcc_experiment *x, const struct ibcc_exp_result *r, char *why,
			size_t len)
{
	char value[2 * IBCC_EXP_VALUE_BYTES];
	int rc = 0;

	for (size_t i = 0; i < x->n_series; i++) {
		struct ibcc_exp_series *s = &x->series[i];

		for (size_t at = 0; s->needed && at < s->n_columns * s->n && !rc; at++) {
			const char *name = x->variant[s->first_variant + at % s->n].name;

			ibcc_figure_fill(value, sizeof(value), s->column[at / s->n].value, name);
			rc = ibcc_figure_eval(x, r, value, &s->y[at], why, len);
		}
	}
	return rc;
}

static int judge(struct ibcc_experiment *x, const struct ibcc_exp_options *o,
		 struct ibcc_exp_result *r, struct ibcc_yaml_errors *e)
{
	char why[200];
	int rc = judge_series(x, r, why, sizeof(why));

	r->ok = true;
	for (size_t i = 0; i < x->n_rows && !rc; i++) {
		struct ibcc_exp_row *row = &x->row[i];

		if (o->shortened && row->only_full)
			continue;
		rc = ibcc_figure_eval(x, r, row->value, &row->measured, why, sizeof(why));
		/* An unknown value (NAN) is not within bounds. */
		row->ok = (isnan(row->low) || row->measured >= row->low) &&
			  (isnan(row->high) || row->measured <= row->high);
		r->ok = r->ok && row->ok;
	}
	if (rc)
		ibcc_yaml_errors_add(e, x->name, 0, 0, "%s", why);
	return rc;
}

int ibcc_experiment_run(struct ibcc_experiment *x, const struct ibcc_exp_options *o,
			struct ibcc_exp_result *r, struct ibcc_yaml_errors *e)
{
	struct run_job j = { x, r, e };
	double start = ibcc_now_s();
	int rc = mark_needed(x, o);

	*r = (struct ibcc_exp_result){ .ok = false };
	if (!rc)
		rc = load_all(x, o, r, e);
	if (!rc)
		rc = ibcc_pool_run(r->n_runs, x->wire[0] ? 1 : o->threads, work, done, &j);
	if (!rc)
		rc = judge(x, o, r, e);
	r->wall_s = ibcc_now_s() - start;
	return rc;
}

void ibcc_experiment_result_fini(struct ibcc_exp_result *r)
{
	for (size_t i = 0; i < r->n_runs; i++) {
		ibcc_scenario_fini(&r->run[i].scenario);
		ibcc_measure_fini(&r->run[i].measure);
		ibcc_live_result_fini(&r->run[i].live);
		free(r->run[i].wire);
	}
	free(r->run);
	*r = (struct ibcc_exp_result){ .ok = false };
}
