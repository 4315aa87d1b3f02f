/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/oracle_point.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include <ibcc/command.h>

#include "perftest/lab/draw.h"
#include "perftest/lab/drawn.h"
#include "perftest/lab/individual.h"
#include "perftest/lab/oracle_grid.h"

/* Factors around the law's values: up to two, or four where a timer gets shorter. Queues from the
 * published nine tenths down, and both amounts of marks that the tuner knows.
 */
static const char *const individual_grid[] = {
	IBCC_INDIVIDUAL_PREFIX "table_scale_permille=500,1000,1400",
	IBCC_INDIVIDUAL_PREFIX "timer_scale_permille=250,500,1000,2000",
	IBCC_INDIVIDUAL_PREFIX "threshold=-6,-3,0,3",
	IBCC_INDIVIDUAL_PREFIX "calm=0,1",
};

#define N_AXES (sizeof(individual_grid) / sizeof(*individual_grid))

enum { KEY_END, KEY_LOOP, KEY_THRESHOLD, KEY_CALM, N_KEYS };

static const struct {
	const char *name;
	int min, max, law;
} keys[N_KEYS] = {
	[KEY_END] = { "table_scale_permille", 1, 100000, 1000 },
	[KEY_LOOP] = { "timer_scale_permille", 1, 100000, 1000 },
	[KEY_THRESHOLD] = { "threshold", -15, 15, 0 },
	[KEY_CALM] = { "calm", 0, 1, 1 },
};

static int key_of(const struct ibcc_grid *g, size_t axis)
{
	for (int k = 0; k < N_KEYS; k++)
		if (!strcmp(g->axis[axis].key + strlen(IBCC_INDIVIDUAL_PREFIX), keys[k].name))
			return k;
	return ibcc_command_say("--grid: got %s, want " IBCC_INDIVIDUAL_PREFIX
				"table_scale_permille, timer_scale_permille, threshold or calm",
				g->axis[axis].key);
}

/* NULL: the law's value. */
static int values_at(const struct ibcc_grid *g, uint64_t point, struct ibcc_individual *out)
{
	int v[N_KEYS];

	for (int k = 0; k < N_KEYS; k++)
		v[k] = keys[k].law;
	for (size_t i = 0; g && i < g->n_axes; i++) {
		const char *text = ibcc_grid_value(g, point, i);
		int k = key_of(g, i);
		char *end;
		long n;

		if (k < 0)
			return k;
		n = strtol(text, &end, 10);
		if (end == text || *end || n < keys[k].min || n > keys[k].max)
			return ibcc_command_say("--grid: %s: got \"%s\", want %d to %d",
						g->axis[i].key, text, keys[k].min, keys[k].max);
		v[k] = (int)n;
	}
	*out = (struct ibcc_individual){ (uint32_t)v[KEY_END], (uint32_t)v[KEY_LOOP],
					 v[KEY_THRESHOLD], v[KEY_CALM] };
	return 0;
}

int ibcc_oracle_point_prepare(struct ibcc_grid *individual)
{
	struct ibcc_individual v;
	int rc = 0;

	for (size_t i = 0, own = individual->n_axes; !own && i < N_AXES && !rc; i++)
		rc = ibcc_oracle_grid_add(individual, individual_grid[i]);
	for (uint64_t p = 0; p < individual->n_points && !rc; p++)
		rc = values_at(individual, p, &v);
	return rc;
}

static int load_uniform(const struct ibcc_grid *g, const struct ibcc_oracle_point *p,
			struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	struct ibcc_words set = { 0 };
	char base[2048];
	int rc = ibcc_draw_load(p->seed, s, e);

	if (rc)
		return rc;
	rc = ibcc_oracle_base(s, base, sizeof(base));
	ibcc_scenario_fini(s);
	if (!rc)
		rc = ibcc_words_add(&set, base);
	if (!rc)
		rc = ibcc_grid_assign(g, p->point, &set);
	if (!rc)
		rc = ibcc_draw_load_set(p->seed, &set, s, e);
	ibcc_words_fini(&set);
	return rc;
}

static void set_window(struct ibcc_scenario *s, enum ibcc_oracle_window w)
{
	switch (w) {
	case IBCC_ORACLE_OWN: break;
	case IBCC_ORACLE_LATER: ibcc_drawn_later(s); break;
	}
}

static int measure_individual(const struct ibcc_grid *g, uint64_t point,
			      const struct ibcc_scenario *s, const struct ibcc_truth *t,
			      struct ibcc_measure *m)
{
	struct ibcc_individual v;
	struct ibcc_settings settings;
	int rc = values_at(g, point, &v);

	if (!rc)
		rc = ibcc_individual_settings(s, t, &v, &settings);
	if (rc)
		return rc;
	rc = ibcc_individual_run(s, &settings, m);
	ibcc_settings_fini(&settings);
	return rc;
}

static int measure(const struct ibcc_oracle_grids *g, const struct ibcc_oracle_point *p,
		   const struct ibcc_scenario *s, const struct ibcc_truth *t,
		   struct ibcc_measure *m)
{
	switch (p->way) {
	case IBCC_ORACLE_OFF:
	case IBCC_ORACLE_UNIFORM: return ibcc_measure_run(s, 0, m, NULL);
	case IBCC_ORACLE_LIVE: return ibcc_drawn_live(s, NULL, m, NULL);
	case IBCC_ORACLE_LAW: return measure_individual(NULL, 0, s, t, m);
	case IBCC_ORACLE_INDIVIDUAL: return measure_individual(&g->individual, p->point, s, t, m);
	}
	return -EINVAL;
}

int ibcc_oracle_point_run(const struct ibcc_oracle_grids *g, const struct ibcc_oracle_point *p,
			  struct ibcc_oracle_result *r, struct ibcc_yaml_errors *e)
{
	struct ibcc_measure m;
	struct ibcc_scenario s;
	struct ibcc_truth t = { 0 };
	int rc;

	if (p->way == IBCC_ORACLE_UNIFORM)
		rc = load_uniform(&g->uniform, p, &s, e);
	else
		rc = ibcc_draw_load(p->seed, &s, e);
	if (rc)
		return rc;
	set_window(&s, p->window);
	rc = ibcc_truth_find(&s, s.measure_from_ps, &t);
	if (!rc)
		rc = measure(g, p, &s, &t, &m);
	if (!rc) {
		r->share = ibcc_draw_share(&m);
		r->n_roots = t.n_roots;
		rc = ibcc_lost_find(&s, &t, &m, r->lost);
		ibcc_measure_fini(&m);
	}
	ibcc_truth_fini(&t);
	ibcc_scenario_fini(&s);
	return rc;
}
