/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How far static settings, equal or individual, and the loop get in random scenarios. */
#include <errno.h>
#include <math.h>

#include <ibcc/table.h>
#include <ibcc/text.h>

#include "perftest/bench/report.h"
#include "perftest/lab/drawn.h"
#include "perftest/lab/oracle_grid.h"
#include "perftest/lab/oracle_random.h"

enum way {
	WAY_OFF,
	WAY_UNIFORM,
	WAY_LAW,
	WAY_INDIVIDUAL,
	WAY_BEST,
	WAY_LIVE,
	WAY_EITHER,
	WAY_BEST_LATER,
	WAY_LIVE_LATER,
	N_WAYS
};

static const struct {
	const char *key, *name;
} ways[N_WAYS] = {
	[WAY_OFF] = { "off", "off" },
	[WAY_UNIFORM] = { "uniform", "best alike on all nodes" },
	[WAY_LAW] = { "law", "individual, by the law alone" },
	[WAY_INDIVIDUAL] = { "individual", "best individual" },
	[WAY_BEST] = { "best", "best of these" },
	[WAY_LIVE] = { "live", "live" },
	[WAY_BEST_LATER] = { "best_later", "best of these, 80 ms later" },
	[WAY_LIVE_LATER] = { "live_later", "live, 80 ms later" },
	[WAY_EITHER] = { "either", "better of that and live" },
};

struct sum {
	uint64_t n, reached, harmed; /* n: draws with a share */
	double mean;
};

/* Whether a way is compared with off, for which there is no later measurement. */
static bool beside_off(enum way w)
{
	return w != WAY_BEST_LATER && w != WAY_LIVE_LATER;
}

static double share_of(const struct ibcc_oracle_draw *d, enum way w)
{
	switch (w) {
	case WAY_OFF: return d->off;
	case WAY_UNIFORM: return d->uniform;
	case WAY_LAW: return d->law;
	case WAY_INDIVIDUAL: return d->individual;
	case WAY_BEST: return d->best;
	case WAY_LIVE: return d->live;
	case WAY_EITHER: return fmax(d->best, d->live);
	case WAY_BEST_LATER: return d->best_later;
	case WAY_LIVE_LATER: return d->live_later;
	case N_WAYS: break;
	}
	return NAN;
}

static struct sum sum_up(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d,
			 enum way w)
{
	struct sum s = { 0 };
	double all = 0;

	for (uint64_t i = 0; i < o->n; i++) {
		double share = share_of(&d[i], w);

		if (isnan(share))
			continue;
		s.n++;
		s.reached += ibcc_drawn_reached(share);
		s.harmed += ibcc_drawn_harmed(share, d[i].off);
		all += share;
	}
	s.mean = s.n ? all / (double)s.n : NAN;
	return s;
}

static double reached_share(const struct sum *s)
{
	return s->n ? (double)s->reached / (double)s->n : NAN;
}

/* The class of flows that misses most with the best setting of a draw. */
static enum ibcc_lost most_lost(const struct ibcc_oracle_draw *d)
{
	int most = 0;

	for (int k = 1; k < IBCC_N_LOST; k++)
		if (d->lost[k] > d->lost[most])
			most = k;
	return (enum ibcc_lost)most;
}

/* Draws in which even the best setting falls short. */
struct misses {
	uint64_t n, settled, most[IBCC_N_LOST]; /* by most_lost() */
	double missed, lost[IBCC_N_LOST];       /* sums of shares */
};

static struct misses find_misses(const struct ibcc_oracle_random *o,
				 const struct ibcc_oracle_draw *d)
{
	struct misses m = { 0 };

	for (uint64_t i = 0; i < o->n; i++) {
		if (isnan(d[i].best) || ibcc_drawn_reached(d[i].best))
			continue;
		m.n++;
		m.settled += ibcc_drawn_reached(d[i].best_later);
		m.most[most_lost(&d[i])]++;
		for (int k = 0; k < IBCC_N_LOST; k++) {
			m.lost[k] += d[i].lost[k];
			m.missed += d[i].lost[k];
		}
	}
	return m;
}

static int print_ways(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d)
{
	static const struct ibcc_table_column columns[] = {
		{ "SETTINGS", false },
		{ "97 % REACHED %", true },
		{ "MEAN %", true },
		{ "1 % BELOW OFF", true },
	};
	struct libscols_table *t =
		ibcc_table_new(columns, sizeof(columns) / sizeof(*columns), stdout);
	int rc = t ? 0 : -ENOMEM;

	for (int w = 0; w < N_WAYS && !rc; w++) {
		struct sum s = sum_up(o, d, (enum way)w);
		char buf[3][IBCC_CELL_BYTES];
		const char *cell[] = {
			ways[w].name,
			ibcc_table_number(100 * reached_share(&s), buf[0], IBCC_CELL_BYTES),
			ibcc_table_number(100 * s.mean, buf[1], IBCC_CELL_BYTES), buf[2]
		};

		snprintf(buf[2], IBCC_CELL_BYTES, "%llu", (unsigned long long)s.harmed);
		if (!beside_off((enum way)w))
			cell[3] = "-";
		rc = ibcc_table_add(t, cell);
	}
	return ibcc_table_end(t, rc);
}

static int print_misses(const struct misses *m)
{
	static const struct ibcc_table_column columns[] = {
		{ "MISSED BY", false },
		{ "SHARE %", true },
		{ "MOST IN", true },
	};
	struct libscols_table *t =
		ibcc_table_new(columns, sizeof(columns) / sizeof(*columns), stdout);
	int rc = t ? 0 : -ENOMEM;

	for (int k = 0; k < IBCC_N_LOST && !rc; k++) {
		char buf[2][IBCC_CELL_BYTES];
		const char *cell[] = { ibcc_lost_name[k],
				       ibcc_table_number(100 * m->lost[k] / m->missed, buf[0],
							 IBCC_CELL_BYTES),
				       buf[1] };

		snprintf(buf[1], IBCC_CELL_BYTES, "%llu", (unsigned long long)m->most[k]);
		rc = ibcc_table_add(t, cell);
	}
	return ibcc_table_end(t, rc);
}

/* Prints the one variation, equal for all draws, that brings most draws to 97 %. */
static void print_one(const struct ibcc_oracle_random *o, const struct ibcc_oracle_sum *points)
{
	const struct ibcc_grid *g = &o->grid.individual;
	uint64_t best = 0;

	for (uint64_t i = 1; i < g->n_points; i++)
		if (points[i].reached > points[best].reached ||
		    (points[i].reached == points[best].reached &&
		     points[i].mean > points[best].mean))
			best = i;
	printf("the best point for all scenarios together reaches 97 %% in %.1f %%, mean %.2f %%:",
	       100.0 * (double)points[best].reached / (double)o->n, 100 * points[best].mean);
	for (size_t i = 0; i < g->n_axes; i++)
		printf(" %s=%s", g->axis[i].key, ibcc_grid_value(g, best, i));
	putchar('\n');
}

int ibcc_oracle_random_print(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d,
			     const struct ibcc_oracle_sum *points)
{
	struct misses m = find_misses(o, d);
	uint64_t congested = 0;
	int rc = print_ways(o, d);

	for (uint64_t i = 0; i < o->n; i++)
		congested += d[i].n_roots > 0;
	printf("\n%llu scenario%s from seed %llu on, %llu with congestion; of each, settings alike "
	       "on all nodes: %llu, individual ones: %llu\n",
	       (unsigned long long)o->n, ibcc_text_plural(o->n, "", "s"),
	       (unsigned long long)o->seed, (unsigned long long)congested,
	       (unsigned long long)o->grid.uniform.n_points,
	       (unsigned long long)o->grid.individual.n_points);
	print_one(o, points);
	if (rc || !m.n)
		return rc;
	printf("\nscenarios that no static setting brings to 97 %%: %llu, of which %llu stay below "
	       "when all has settled:\n\n",
	       (unsigned long long)m.n, (unsigned long long)(m.n - m.settled));
	return print_misses(&m);
}

/* Values at a point in the order of the axes; null if it is no point. */
static json_t *point_json(const struct ibcc_grid *g, uint64_t point)
{
	char *text = NULL;
	size_t len;
	json_t *o = NULL;
	FILE *f;

	if (point == UINT64_MAX)
		return json_null();
	f = open_memstream(&text, &len);
	for (size_t i = 0; f && i < g->n_axes; i++)
		fprintf(f, i ? " %s" : "%s", ibcc_grid_value(g, point, i));
	if (f && !fclose(f))
		o = json_string(text);
	free(text);
	return o;
}

static json_t *draw_json(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d)
{
	json_t *lost = json_object(), *d_json;

	for (int k = 0; k < IBCC_N_LOST; k++)
		if (d->lost[k] > 0 && !ibcc_drawn_reached(d->best))
			json_object_set_new(lost, ibcc_lost_name[k], json_real(d->lost[k]));
	d_json = json_pack("{sI si}", "seed", (json_int_t)d->seed, "roots", (int)d->n_roots);
	for (int w = 0; w < N_WAYS; w++)
		if (w != WAY_EITHER)
			json_object_set_new(d_json, ways[w].key,
					    ibcc_report_number(share_of(d, (enum way)w)));
	json_object_set_new(d_json, "uniform_set", point_json(&o->grid.uniform, d->uniform_at));
	json_object_set_new(d_json, "individual_set",
			    point_json(&o->grid.individual, d->individual_at));
	json_object_set_new(d_json, "lost", lost);
	return d_json;
}

static json_t *ways_json(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d)
{
	json_t *all = json_object();

	for (int w = 0; w < N_WAYS; w++) {
		struct sum s = sum_up(o, d, (enum way)w);

		json_object_set_new(all, ways[w].key,
				    json_pack("{so so}", "reached",
					      ibcc_report_number(reached_share(&s)), "mean",
					      ibcc_report_number(s.mean)));
		if (beside_off((enum way)w))
			json_object_set_new(json_object_get(all, ways[w].key), "harmed",
					    json_integer((json_int_t)s.harmed));
	}
	return all;
}

static json_t *misses_json(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d)
{
	struct misses m = find_misses(o, d);
	json_t *lost = json_object(), *most = json_object();

	for (int k = 0; k < IBCC_N_LOST; k++) {
		json_object_set_new(lost, ibcc_lost_name[k],
				    ibcc_report_number(m.lost[k] / m.missed));
		json_object_set_new(most, ibcc_lost_name[k], json_integer((json_int_t)m.most[k]));
	}
	return json_pack("{sI sI so so}", "draws", (json_int_t)m.n, "settled",
			 (json_int_t)m.settled, "lost", lost, "most", most);
}

int ibcc_oracle_random_write(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d,
			     const struct ibcc_oracle_sum *points, bool pretty, FILE *out)
{
	json_t *draws = json_array(), *all = json_array();

	for (uint64_t i = 0; i < o->grid.individual.n_points; i++)
		json_array_append_new(
			all, json_pack("{so so so}", "set", point_json(&o->grid.individual, i),
				       "reached",
				       ibcc_report_number((double)points[i].reached / (double)o->n),
				       "mean", ibcc_report_number(points[i].mean)));

	for (uint64_t i = 0; i < o->n; i++)
		json_array_append_new(draws, draw_json(o, &d[i]));
	return ibcc_report_json(json_pack("{si ss sI so so so so so so}", "schema", 1, "experiment",
					  "random", "seed", (json_int_t)o->seed, "grid",
					  ibcc_oracle_grid_json(&o->grid.uniform),
					  "individual_grid",
					  ibcc_oracle_grid_json(&o->grid.individual), "settings",
					  ways_json(o, d), "misses", misses_json(o, d),
					  "individual_points", all, "scenarios", draws),
				pretty, out);
}
