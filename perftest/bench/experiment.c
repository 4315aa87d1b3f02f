/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reading experiment files. */
#include "perftest/bench/experiment.h"

#include <math.h>
#include <stdio.h>

#include "perftest/bench/experiment_read.h"
#include "perftest/bench/figure.h"

#define MAX_POINTS 10000u

struct file_yaml {
	const struct ibcc_yaml_node *shortened, *variants, *cases, *series, *rows, *plot, *mpa,
		*limits;
	char scenario[512];
};

struct row_yaml {
	struct ibcc_exp_row row;
	double tolerance, tolerance_percent;
	bool in_short;
	const struct ibcc_yaml_node *each, *value;
};

/* Computes bounds from a published figure and its tolerance, or takes the given bounds. */
static int read_bounds(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		       struct row_yaml *ry, struct ibcc_yaml_errors *e)
{
	struct ibcc_exp_row *row = &ry->row;
	double tol = ry->tolerance_percent > 0 ? fabs(row->published) * ry->tolerance_percent / 100
					       : ry->tolerance;
	bool bounds = !isnan(row->low) || !isnan(row->high);

	if (!isnan(row->published) && !bounds && !(tol > 0))
		return ibcc_yaml_want(y, e, n, "rows",
				      "tolerance, tolerance_percent, low or high with published");
	if (isnan(row->published) && bounds && !row->reason[0])
		return ibcc_yaml_want(y, e, n, "rows", "a reason for bounds without published");
	if (!isnan(row->published) && !bounds) {
		row->low = row->published - tol;
		row->high = row->published + tol;
	}
	return 0;
}

static int read_row(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		    void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct row_yaml, row.name), .required = true },
		{ IBCC_YAML_MEMBER("unit", STRING, struct row_yaml, row.unit), .required = true },
		{ IBCC_YAML_MEMBER("value", STRING, struct row_yaml, row.value), .required = true },
		{ IBCC_YAML_MEMBER("each", NODE, struct row_yaml, each) },
		{ IBCC_YAML_MEMBER("published", DOUBLE, struct row_yaml, row.published) },
		{ IBCC_YAML_MEMBER("tolerance", DOUBLE, struct row_yaml, tolerance) },
		{ IBCC_YAML_MEMBER("tolerance_percent", DOUBLE, struct row_yaml,
				   tolerance_percent) },
		{ IBCC_YAML_MEMBER("low", DOUBLE, struct row_yaml, row.low) },
		{ IBCC_YAML_MEMBER("high", DOUBLE, struct row_yaml, row.high) },
		{ IBCC_YAML_MEMBER("reason", STRING, struct row_yaml, row.reason) },
		{ IBCC_YAML_MEMBER("in_short", BOOL, struct row_yaml, in_short) },
		{ .name = NULL },
	};
	struct ibcc_exp_reader *r = arg;
	struct row_yaml ry = {
		.row = { .published = NAN, .low = NAN, .high = NAN, .measured = NAN },
		.in_short = true
	};
	struct ibcc_words each = { 0 };
	int rc, bad;

	(void)index;
	if (ibcc_yaml_read(y, n, "rows", keys, &ry, e))
		return -EINVAL;
	ry.value = ibcc_yaml_get(y, n, "value");
	rc = read_bounds(y, n, &ry, e);
	if (rc)
		return rc;
	ry.row.only_full = !ry.in_short;
	if (!ry.each)
		return ibcc_exp_add_row(r, &ry.row, "{}", ry.value);
	rc = ibcc_exp_read_words(r, ry.each, "rows.each", &each);
	for (size_t i = 0; i < each.n; i++) {
		bad = ibcc_exp_add_row(r, &ry.row, each.w[i], ry.value);
		rc = rc ? rc : bad;
	}
	ibcc_words_fini(&each);
	return rc;
}

struct series_yaml {
	char name[IBCC_NAME_BYTES], title[IBCC_EXP_NAME_BYTES], label[IBCC_EXP_NAME_BYTES];
	char key[IBCC_EXP_NAME_BYTES];
	uint32_t seeds;
	const struct ibcc_yaml_node *like, *set, *values, *columns;
};

/* Adds a variant for each point. */
static int add_point(const struct ibcc_exp_reader *r, const struct ibcc_exp_series *s,
		     const struct series_yaml *sy, const struct ibcc_words *base, const char *value)
{
	struct ibcc_exp_variant *v = ibcc_exp_append(&r->x->variant, &r->x->n_variants, sizeof(*v));
	char *text = NULL;
	int rc;

	if (!v || asprintf(&text, "%s=%s", sy->key, value) < 0)
		return -ENOMEM;
	v->seeds = sy->seeds;
	snprintf(v->name, sizeof(v->name), "%.40s/%.50s", s->name, value);
	rc = ibcc_words_add_all(&v->set, base);
	if (!rc)
		rc = ibcc_words_add(&v->set, text);
	free(text);
	return rc;
}

static int add_points(const struct ibcc_exp_reader *r, struct ibcc_exp_series *s,
		      const struct series_yaml *sy)
{
	struct ibcc_words base = { 0 }, values = { 0 };
	int rc = ibcc_exp_collect(r, sy->like, sy->set, "series.like", &base);

	if (!rc)
		rc = ibcc_exp_read_words(r, sy->values, "series.values", &values);
	if (!rc && (values.n < 2 || values.n > MAX_POINTS))
		rc = ibcc_yaml_want(r->y, r->e, sy->values, "series.values", "2 to %u values",
				    MAX_POINTS);
	s->first_variant = r->x->n_variants;
	s->x = calloc(values.n + 1, sizeof(*s->x));
	if (!s->x)
		rc = -ENOMEM;
	for (size_t i = 0; i < values.n && !rc; i++) {
		rc = ibcc_yaml_parse_double(values.w[i], &s->x[i]);
		if (rc)
			rc = ibcc_yaml_want(r->y, r->e, ibcc_yaml_item(r->y, sy->values, i, NULL),
					    "series.values", "numbers");
		if (!rc)
			rc = add_point(r, s, sy, &base, values.w[i]);
	}
	s->n = values.n;
	ibcc_words_fini(&base);
	ibcc_words_fini(&values);
	return rc;
}

struct columns {
	struct ibcc_exp_reader *r;
	struct ibcc_exp_series *s;
};

static int read_column(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		       unsigned int index, void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct ibcc_exp_row, name), .required = true },
		{ IBCC_YAML_MEMBER("unit", STRING, struct ibcc_exp_row, unit), .required = true },
		{ IBCC_YAML_MEMBER("value", STRING, struct ibcc_exp_row, value), .required = true },
		{ .name = NULL },
	};
	struct columns *c = arg;
	struct ibcc_exp_row row = { .published = NAN, .low = NAN, .high = NAN }, *to;
	char value[IBCC_EXP_VALUE_BYTES], why[200];

	(void)index;
	if (ibcc_yaml_read(y, n, "series.columns", keys, &row, e))
		return -EINVAL;
	to = ibcc_exp_append(&c->s->column, &c->s->n_columns, sizeof(*to));
	if (!to)
		return -ENOMEM;
	*to = row;
	for (size_t i = 0; i < c->s->n; i++) {
		const char *variant = c->r->x->variant[c->s->first_variant + i].name;

		if (!ibcc_figure_fill(value, sizeof(value), row.value, variant))
			return ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "value"),
					      "series.columns.value", "a shorter text");
		if (ibcc_figure_check(c->r->x, value, why, sizeof(why))) {
			ibcc_yaml_error(y, e, ibcc_yaml_get(y, n, "value"), "series.columns.value",
					"%s", why);
			return -EINVAL;
		}
	}
	return 0;
}

static int read_series(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		       unsigned int index, void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct series_yaml, name), .required = true },
		{ IBCC_YAML_MEMBER("title", STRING, struct series_yaml, title), .required = true },
		{ IBCC_YAML_MEMBER("label", STRING, struct series_yaml, label), .required = true },
		{ IBCC_YAML_MEMBER("key", STRING, struct series_yaml, key), .required = true },
		{ IBCC_YAML_MEMBER("values", NODE, struct series_yaml, values), .required = true },
		{ IBCC_YAML_MEMBER("columns", NODE, struct series_yaml, columns),
		  .required = true },
		{ IBCC_YAML_MEMBER("like", NODE, struct series_yaml, like) },
		{ IBCC_YAML_MEMBER("set", NODE, struct series_yaml, set) },
		{ IBCC_YAML_MEMBER("seeds", UINT, struct series_yaml, seeds), .min = 1,
		  .max = MAX_SEEDS },
		{ .name = NULL },
	};
	struct ibcc_exp_reader *r = arg;
	struct series_yaml sy = { .seeds = 1 };
	struct ibcc_exp_series *s;
	struct columns c;
	int rc;

	(void)index;
	if (ibcc_yaml_read(y, n, "series", keys, &sy, e))
		return -EINVAL;
	s = ibcc_exp_append(&r->x->series, &r->x->n_series, sizeof(*s));
	if (!s)
		return -ENOMEM;
	c = (struct columns){ r, s };
	memcpy(s->name, sy.name, sizeof(sy.name));
	memcpy(s->title, sy.title, sizeof(sy.title));
	memcpy(s->label, sy.label, sizeof(sy.label));
	rc = add_points(r, s, &sy);
	if (!rc)
		rc = ibcc_yaml_each(y, sy.columns, "series.columns", read_column, &c, e);
	if (!rc) {
		s->y = calloc(s->n * s->n_columns + 1, sizeof(*s->y));
		rc = s->y ? 0 : -ENOMEM;
	}
	return rc;
}

static int read_lists(struct ibcc_exp_reader *r, const struct file_yaml *fy)
{
	int rc = ibcc_exp_read_words(r, fy->shortened, "short", &r->x->shortened), bad;

	if (fy->variants) {
		bad = ibcc_yaml_each(r->y, fy->variants, "variants", ibcc_exp_read_variant, r,
				     r->e);
		rc = rc ? rc : bad;
	}
	if (fy->cases) {
		bad = ibcc_yaml_each(r->y, fy->cases, "cases", ibcc_exp_read_case, r, r->e);
		rc = rc ? rc : bad;
	}
	/* What follows names variants: without all of them, one fault would make several errors. */
	if (rc)
		return rc;
	if (fy->series)
		rc = ibcc_yaml_each(r->y, fy->series, "series", read_series, r, r->e);
	if (!rc && fy->rows)
		rc = ibcc_yaml_each(r->y, fy->rows, "rows", read_row, r, r->e);
	if (!rc)
		rc = ibcc_exp_add_rules(r, fy->cases);
	bad = ibcc_exp_read_words(r, fy->plot, "plot", &r->x->plot);
	rc = rc ? rc : bad;
	for (size_t i = 0; i < r->x->plot.n && !rc; i++)
		if (!ibcc_exp_find_variant(r->x, r->x->plot.w[i]))
			rc = ibcc_yaml_want(r->y, r->e, fy->plot, "plot", "variants, not \"%s\"",
					    r->x->plot.w[i]);
	return rc;
}

/* Reads what the variants are of: a scenario, or the file's own measurement. */
static int read_subject(struct ibcc_exp_reader *r, const struct file_yaml *fy)
{
	int rc = ibcc_exp_read_words(r, fy->limits, "limits", &r->x->limits);

	if (!fy->mpa == !fy->scenario[0])
		return ibcc_yaml_want(r->y, r->e, ibcc_yaml_root(r->y), NULL,
				      "either scenario or mpa");
	if (rc || !fy->mpa)
		return rc ? rc
			  : ibcc_exp_beside(r->file, "scenarios", fy->scenario, r->x->scenario,
					    sizeof(r->x->scenario));
	if (strlen(r->file) >= sizeof(r->x->wire))
		return -ENAMETOOLONG;
	strcpy(r->x->wire, r->file);
	return ibcc_mpa_settings_read(r->y, fy->mpa, &r->x->mpa, r->e);
}

struct whole_yaml {
	struct ibcc_experiment x;
	struct file_yaml f;
};

int ibcc_experiment_load(const char *file, struct ibcc_experiment *x, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct whole_yaml, x.name), .required = true },
		{ IBCC_YAML_MEMBER("title", STRING, struct whole_yaml, x.title), .required = true },
		{ IBCC_YAML_MEMBER("source", STRING, struct whole_yaml, x.source),
		  .required = true },
		{ IBCC_YAML_MEMBER("scenario", STRING, struct whole_yaml, f.scenario) },
		{ IBCC_YAML_MEMBER("mpa", NODE, struct whole_yaml, f.mpa) },
		{ IBCC_YAML_MEMBER("limits", NODE, struct whole_yaml, f.limits) },
		{ IBCC_YAML_MEMBER("short", NODE, struct whole_yaml, f.shortened) },
		{ IBCC_YAML_MEMBER("variants", NODE, struct whole_yaml, f.variants) },
		{ IBCC_YAML_MEMBER("cases", NODE, struct whole_yaml, f.cases) },
		{ IBCC_YAML_MEMBER("series", NODE, struct whole_yaml, f.series) },
		{ IBCC_YAML_MEMBER("rows", NODE, struct whole_yaml, f.rows) },
		{ IBCC_YAML_MEMBER("plot", NODE, struct whole_yaml, f.plot) },
		{ .name = NULL },
	};
	struct ibcc_yaml *y = ibcc_yaml_load(file, NULL, e);
	struct whole_yaml w = { .x = { .name = "" } };
	struct ibcc_exp_reader r = { .y = y, .e = e, .x = &w.x, .file = file };
	int rc, bad;

	if (!y)
		return -errno;
	rc = ibcc_yaml_read(y, ibcc_yaml_root(y), NULL, keys, &w, e);
	bad = read_subject(&r, &w.f);
	rc = rc ? rc : bad;
	bad = read_lists(&r, &w.f);
	rc = rc ? rc : bad;
	if (rc)
		ibcc_experiment_fini(&w.x);
	else
		*x = w.x;
	ibcc_yaml_free(y);
	return rc;
}

void ibcc_experiment_fini(struct ibcc_experiment *x)
{
	if (!x)
		return;
	for (size_t i = 0; i < x->n_variants; i++)
		ibcc_words_fini(&x->variant[i].set);
	for (size_t i = 0; i < x->n_series; i++) {
		free(x->series[i].x);
		free(x->series[i].y);
		free(x->series[i].column);
	}
	ibcc_words_fini(&x->shortened);
	ibcc_words_fini(&x->plot);
	ibcc_words_fini(&x->limits);
	free(x->exp_case);
	free(x->variant);
	free(x->series);
	free(x->row);
	memset(x, 0, sizeof(*x));
}
