/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reading the files of fits. */
#include "perftest/lab/fit.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "perftest/bench/experiment_read.h"
#include "perftest/bench/figure.h"

#define MAX_DRAWS  1000000u
#define MAX_VALUES 100000u /* of a range */

struct fit_yaml {
	struct ibcc_fit f;
	char experiment[512];
	const struct ibcc_yaml_node *rows, *set, *ranges, *draws;
};

struct reader {
	struct ibcc_exp_reader r;
	struct ibcc_fit *f;
	const struct ibcc_yaml_node **at; /* of each axis */
};

struct range_yaml {
	char key[256];
	const struct ibcc_yaml_node *values;
	double from, to, step; /* NAN: not given */
	int scale;
};

/* Makes the values from `from` on; they are few enough. */
static int spread(const struct range_yaml *ry, uint64_t n, struct ibcc_words *value)
{
	int rc = 0;

	for (uint64_t k = 0; k < n && !rc; k++) {
		char text[32];

		snprintf(text, sizeof(text), "%.12g", ry->from + (double)k * ry->step);
		rc = ibcc_words_add(value, text);
	}
	return rc;
}

static int read_values(const struct reader *rd, const struct ibcc_yaml_node *n,
		       const struct range_yaml *ry, struct ibcc_words *value)
{
	const struct ibcc_yaml *y = rd->r.y;
	bool numbers = !isnan(ry->from) && !isnan(ry->to) && !isnan(ry->step);
	double steps = (ry->to - ry->from) / ry->step;
	int rc;

	if (ry->values ? !isnan(ry->from) || !isnan(ry->to) || !isnan(ry->step) || ry->scale
		       : !numbers)
		return ibcc_yaml_want(y, rd->r.e, n, "ranges", "values, or from, to and step");
	if (ry->values) {
		rc = ibcc_exp_read_words(&rd->r, ry->values, "ranges.values", value);
		for (size_t i = 0; i < value->n && !rc; i++)
			for (size_t k = 0; k < i && !rc; k++)
				if (!strcmp(value->w[i], value->w[k]))
					rc = ibcc_yaml_want(y, rd->r.e, ry->values, "ranges.values",
							    "different values");
		return rc;
	}
	if (!(ry->step > 0))
		return ibcc_yaml_want(y, rd->r.e, ibcc_yaml_get(y, n, "step"), "ranges.step",
				      "more than 0");
	if (!(steps >= 0) || steps >= MAX_VALUES || fabs(steps - round(steps)) > 1e-6)
		return ibcc_yaml_want(y, rd->r.e, ibcc_yaml_get(y, n, "to"), "ranges.to",
				      "from plus a whole number of steps, fewer than %u",
				      MAX_VALUES);
	if (ry->scale && ry->from < ry->step)
		return ibcc_yaml_want(y, rd->r.e, ibcc_yaml_get(y, n, "from"), "ranges.from",
				      "at least a step on a logarithmic scale");
	return spread(ry, (uint64_t)round(steps) + 1, value);
}

static int read_range(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		      void *arg, struct ibcc_yaml_errors *e)
{
	static const char *const scales[] = { "linear", "logarithmic", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("key", STRING, struct range_yaml, key), .required = true },
		{ IBCC_YAML_MEMBER("values", NODE, struct range_yaml, values) },
		{ IBCC_YAML_MEMBER("from", DOUBLE, struct range_yaml, from) },
		{ IBCC_YAML_MEMBER("to", DOUBLE, struct range_yaml, to) },
		{ IBCC_YAML_MEMBER("step", DOUBLE, struct range_yaml, step) },
		{ IBCC_YAML_MEMBER("scale", ENUM, struct range_yaml, scale), .names = scales },
		{ .name = NULL },
	};
	struct reader *rd = arg;
	struct ibcc_fit *f = rd->f;
	struct range_yaml ry = { .from = NAN, .to = NAN, .step = NAN };
	struct ibcc_words value = { 0 };
	size_t n_ranges = f->grid.n_axes, n_at = n_ranges;
	struct ibcc_fit_range *range;
	const struct ibcc_yaml_node **at;
	int rc;

	(void)index;
	if (ibcc_yaml_read(y, n, "ranges", keys, &ry, e))
		return -EINVAL;
	rc = read_values(rd, n, &ry, &value);
	range = rc ? NULL : ibcc_exp_append(&f->range, &n_ranges, sizeof(*range));
	at = range ? ibcc_exp_append(&rd->at, &n_at, sizeof(*at)) : NULL;
	if (at) {
		*range = (struct ibcc_fit_range){ ry.scale, ry.from, ry.step };
		*at = n;
		rc = ibcc_grid_add_axis(&f->grid, ry.key, &value);
	} else if (!rc) {
		rc = -ENOMEM;
	}
	ibcc_words_fini(&value);
	if (rc == -E2BIG)
		ibcc_yaml_want(y, e, n, "ranges", "at most 2^30 combinations");
	else if (rc == -EINVAL && at)
		ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "key"), "ranges.key",
			       "keys that differ, and values");
	return rc;
}

/* Moves the experiment's row of a name to the end of the rows that judge. */
static int take_row(const struct reader *rd, const struct ibcc_yaml_node *at, const char *name,
		    struct ibcc_exp_row *row, size_t n)
{
	const struct ibcc_experiment *x = &rd->f->x;
	size_t i = 0;

	for (size_t k = 0; k < n; k++)
		if (!strcmp(row[k].name, name))
			return ibcc_yaml_want(rd->r.y, rd->r.e, at, "rows", "different rows");
	while (i < x->n_rows && strcmp(x->row[i].name, name))
		i++;
	if (i == x->n_rows)
		return ibcc_yaml_want(rd->r.y, rd->r.e, at, "rows", "names of rows of \"%s\"",
				      x->name);
	if (!(x->row[i].low < x->row[i].published && x->row[i].published < x->row[i].high))
		return ibcc_yaml_want(rd->r.y, rd->r.e, at, "rows",
				      "rows with a published figure and bounds on both sides");
	row[n] = x->row[i];
	return 0;
}

static int select_rows(const struct reader *rd, const struct ibcc_yaml_node *list)
{
	struct ibcc_experiment *x = &rd->f->x;
	size_t n_names = ibcc_yaml_length(list), n = 0;
	struct ibcc_exp_row *row;
	char why[200];
	int rc = 0;

	if (!ibcc_yaml_is_seq(list) || !n_names)
		return ibcc_yaml_want(rd->r.y, rd->r.e, list, "rows", "a list of names of rows");
	row = calloc(n_names, sizeof(*row));
	if (!row)
		return -ENOMEM;
	for (size_t i = 0; i < n_names; i++) {
		const struct ibcc_yaml_node *at = ibcc_yaml_item(rd->r.y, list, i, NULL);
		const char *name = ibcc_yaml_scalar(at);
		int bad = take_row(rd, at, name ? name : "", row, n);

		n += !bad;
		rc = rc ? rc : bad;
	}
	free(x->row);
	x->row = row;
	x->n_rows = n;
	for (size_t i = 0; i < x->n_variants; i++)
		x->variant[i].needed = false;
	for (size_t i = 0; i < n; i++)
		/* cannot fail, since the reader has checked it */
		ibcc_figure_check(x, row[i].value, why, sizeof(why));
	return rc;
}

/* Drops series: they take longest, and no row with a published figure needs them. */
static void drop_series(struct ibcc_experiment *x)
{
	for (size_t i = 0; i < x->n_series; i++) {
		free(x->series[i].x);
		free(x->series[i].y);
		free(x->series[i].column);
	}
	x->n_series = 0;
}

/* Checks one value of an axis, with all other keys as the scenario has them. */
static int check_value(const struct reader *rd, size_t axis, const char *value)
{
	struct ibcc_yaml_errors own = { 0 };
	struct ibcc_words set = { 0 };
	struct ibcc_grid one;
	struct ibcc_words word = { 0 };
	int rc;

	ibcc_grid_init(&one);
	rc = ibcc_words_add(&word, value);
	if (!rc)
		rc = ibcc_grid_add_axis(&one, rd->f->grid.axis[axis].key, &word);
	if (!rc)
		rc = ibcc_grid_assign(&one, 0, &set);
	if (!rc)
		rc = ibcc_fit_check(rd->f, &set, &own);
	if (own.n)
		ibcc_yaml_error(rd->r.y, rd->r.e, rd->at[axis], "ranges",
				"the scenario does not take it: %.*s", (int)strcspn(own.text, "\n"),
				own.text);
	ibcc_yaml_errors_fini(&own);
	ibcc_words_fini(&word);
	ibcc_words_fini(&set);
	ibcc_grid_fini(&one);
	return rc;
}

/* Checks all values, so that a typing error cannot end a search in the middle of the night. */
static int check_values(const struct reader *rd)
{
	const struct ibcc_words none = { 0 };
	int rc = ibcc_fit_check(rd->f, &none, rd->r.e);

	if (rc)
		return rc;
	for (size_t i = 0; i < rd->f->grid.n_axes; i++) {
		const struct ibcc_words *value = &rd->f->grid.axis[i].value;
		int bad = 0;

		for (size_t k = 0; k < value->n && !bad; k++)
			if (isnan(rd->f->range[i].step) || !k || k + 1 == value->n)
				bad = check_value(rd, i, value->w[k]);
		rc = rc ? rc : bad;
	}
	return rc;
}

static int read_parts(struct reader *rd, const struct fit_yaml *fy)
{
	struct ibcc_fit *f = rd->f;
	int rc = ibcc_exp_beside(rd->r.file, "../experiments", fy->experiment, f->experiment,
				 sizeof(f->experiment));
	int bad = ibcc_exp_read_words(&rd->r, fy->set, "set", &f->set);

	rc = rc ? rc : bad;
	bad = fy->ranges ? ibcc_yaml_each(rd->r.y, fy->ranges, "ranges", read_range, rd, rd->r.e)
			 : -EINVAL;
	rc = rc ? rc : bad;
	if (!bad && f->draws > f->grid.n_points / 2)
		rc = ibcc_yaml_want(rd->r.y, rd->r.e, fy->draws, "draws",
				    "at most half of the %llu combinations",
				    (unsigned long long)f->grid.n_points);
	if (!fy->experiment[0])
		return rc ? rc : -EINVAL;
	bad = ibcc_experiment_load(f->experiment, &f->x, rd->r.e);
	if (bad)
		return rc ? rc : bad;
	bad = fy->rows ? select_rows(rd, fy->rows) : -EINVAL;
	rc = rc ? rc : bad;
	drop_series(&f->x);
	bad = check_values(rd);
	return rc ? rc : bad;
}

int ibcc_fit_load(const char *file, struct ibcc_fit *f, struct ibcc_yaml_errors *e)
{
	static const char *const measures[] = { "largest", "root_mean_square", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct fit_yaml, f.name), .required = true },
		{ IBCC_YAML_MEMBER("title", STRING, struct fit_yaml, f.title), .required = true },
		{ IBCC_YAML_MEMBER("experiment", STRING, struct fit_yaml, experiment),
		  .required = true },
		{ IBCC_YAML_MEMBER("rows", NODE, struct fit_yaml, rows), .required = true },
		{ IBCC_YAML_MEMBER("measure", ENUM, struct fit_yaml, f.measure), .names = measures,
		  .required = true },
		{ IBCC_YAML_MEMBER("seed", UINT, struct fit_yaml, f.seed), .required = true },
		{ IBCC_YAML_MEMBER("draws", UINT, struct fit_yaml, f.draws), .min = 1,
		  .max = MAX_DRAWS, .required = true },
		{ IBCC_YAML_MEMBER("set", NODE, struct fit_yaml, set) },
		{ IBCC_YAML_MEMBER("ranges", NODE, struct fit_yaml, ranges), .required = true },
		{ .name = NULL },
	};
	struct ibcc_yaml *y = ibcc_yaml_load(file, NULL, e);
	struct fit_yaml fy = { .f = { .name = "" } };
	struct reader rd = { .r = { .y = y, .e = e, .x = &fy.f.x, .file = file }, .f = &fy.f };
	int rc, bad;

	if (!y)
		return -errno;
	ibcc_grid_init(&fy.f.grid);
	rc = ibcc_yaml_read(y, ibcc_yaml_root(y), NULL, keys, &fy, e);
	fy.draws = ibcc_yaml_get(y, ibcc_yaml_root(y), "draws");
	if (snprintf(fy.f.path, sizeof(fy.f.path), "%s", file) >= (int)sizeof(fy.f.path))
		rc = -ENAMETOOLONG;
	bad = read_parts(&rd, &fy);
	rc = rc ? rc : bad;
	free(rd.at);
	ibcc_yaml_free(y);
	if (rc)
		ibcc_fit_fini(&fy.f);
	else
		*f = fy.f;
	return rc;
}

void ibcc_fit_fini(struct ibcc_fit *f)
{
	ibcc_experiment_fini(&f->x);
	ibcc_words_fini(&f->set);
	ibcc_grid_fini(&f->grid);
	free(f->range);
	f->range = NULL;
}
