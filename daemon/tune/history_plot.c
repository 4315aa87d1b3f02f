/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* history --plot: the measurements of the last 24 hours, with the transactions, as an SVG. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/file.h>
#include <ibcc/plot.h>

#include "daemon/tune/history.h"
#include "daemon/tune/look.h"

/* Between two samples farther apart than this, in seconds, nothing was measured. */
#define GAP_S     300
#define MOST_MARK 40u
#define COUNT(a)  (sizeof(a) / sizeof((a)[0]))

/* A curve for the field with this name. */
struct curve {
	const char *field, *name;
	double factor; /* 0: a rate, which is converted into the unit of --units */
	bool step;
};

struct panel {
	const char *title, *unit; /* NULL: for rates */
	const struct curve *curve;
	size_t n;
	double end; /* as in struct ibcc_plot */
};

static const struct curve roots[] = { { "roots", "roots", 1, true },
				      { "victims", "victims", 1, true },
				      { "waiting", "blocked adapters", 1, true } };
static const struct curve waits[] = { { "wait_permille", "longest blocked time", 0.1, false } };
static const struct curve rates[] = { { "total_mbps", "all adapters", 0, false },
				      { "victim_mbps", "victims", 0, false } };
static const struct curve settings[] = { { "switches_on", "switches", 1, true },
					 { "adapters_on", "adapters", 1, true } };
static const struct panel panels[] = {
	{ "Congestion", "number", roots, COUNT(roots), 0 },
	{ "Blocked (PortXmitWait)", "% of the time", waits, COUNT(waits), 100 },
	{ "Throughput", NULL, rates, COUNT(rates), 0 },
	{ "With congestion control on", "number", settings, COUNT(settings), 0 },
};

/* The series as numbers. Each gap has a point without values. */
struct data {
	size_t n, n_fields;
	const json_t *fields;
	double *x, *y; /* y: one field after the other, n values each */
	time_t zero;   /* midnight before the first sample */
	char x_label[64];
};

static time_t midnight(time_t t)
{
	struct tm tm;

	if (!localtime_r(&t, &tm))
		return t;
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_isdst = -1;
	return mktime(&tm);
}

static double hours(const struct data *d, json_int_t at)
{
	return (double)(at - d->zero) / 3600;
}

static void put(struct data *d, size_t cap, json_int_t at, const json_t *row)
{
	d->x[d->n] = hours(d, at);
	for (size_t k = 0; k < d->n_fields; k++)
		d->y[k * cap + d->n] =
			row ? (double)json_integer_value(json_array_get(row, k)) : NAN;
	d->n++;
}

static int read_series(const json_t *series, struct data *d)
{
	const json_t *rows = json_object_get(series, "rows"), *row;
	size_t n = json_array_size(rows), cap = 2 * n, i;
	json_int_t last = 0;
	struct tm tm;

	d->fields = json_object_get(series, "fields");
	d->n_fields = json_array_size(d->fields);
	if (!n || !d->n_fields)
		return -ENODATA;
	d->x = calloc(cap, sizeof(*d->x));
	d->y = calloc(cap * d->n_fields, sizeof(*d->y));
	if (!d->x || !d->y)
		return -ENOMEM;
	d->zero = midnight((time_t)json_integer_value(json_array_get(json_array_get(rows, 0), 0)));
	if (!localtime_r(&d->zero, &tm) ||
	    !strftime(d->x_label, sizeof(d->x_label), "since %Y-%m-%d", &tm))
		d->x_label[0] = '\0';
	json_array_foreach (rows, i, row) {
		json_int_t at = json_integer_value(json_array_get(row, 0));

		if (i && at - last > GAP_S)
			put(d, cap, last + 1, NULL);
		put(d, cap, at, row);
		last = at;
	}
	/* Move the fields together, now that the number of samples is known. */
	for (size_t k = 1; k < d->n_fields; k++)
		memmove(&d->y[k * d->n], &d->y[k * cap], d->n * sizeof(*d->y));
	return 0;
}

static double *field(const struct data *d, const char *name, double factor)
{
	for (size_t k = 0; k < d->n_fields; k++) {
		double *y = &d->y[k * d->n];
		const char *has = json_string_value(json_array_get(d->fields, k));

		if (!has || strcmp(has, name))
			continue;
		for (size_t i = 0; i < d->n; i++)
			y[i] *= factor;
		return y;
	}
	return NULL;
}

/* Finds the newest transactions within the time that is shown, with their numbers. */
static size_t find_marks(const struct data *d, const json_t *list, struct ibcc_plot_mark *mark,
			 char (*text)[24])
{
	const json_t *o;
	size_t i, n = 0;

	json_array_foreach (list, i, o) {
		double x = hours(d, tune_int(o, "started"));

		if (n == MOST_MARK || x < d->x[0] || x > d->x[d->n - 1])
			continue;
		snprintf(text[n], sizeof(text[n]), "%lld", tune_int(o, "id"));
		mark[n] = (struct ibcc_plot_mark){ x, text[n] };
		n++;
	}
	return n;
}

static int draw(const struct data *d, const json_t *list, tune_plots_fn plots_fn, FILE *out)
{
	struct ibcc_plot plot[COUNT(panels)];
	struct ibcc_plot_series series[COUNT(panels)][IBCC_PLOT_MAX_SERIES];
	struct ibcc_plot_mark mark[MOST_MARK];
	char text[MOST_MARK][24];
	size_t n_marks = find_marks(d, list, mark, text), n = 0;

	for (size_t p = 0; p < COUNT(panels); p++) {
		const struct panel *from = &panels[p];
		size_t m = 0;

		for (size_t k = 0; k < from->n; k++) {
			const struct curve *c = &from->curve[k];
			double rate = strcmp(tune_rate_unit(), "Gb/s") ? 1.0 / 8 : 1.0 / 1000;
			const double *y = field(d, c->field, c->factor > 0 ? c->factor : rate);

			if (y)
				series[n][m++] = (struct ibcc_plot_series){ .name = c->name,
									    .x = d->x,
									    .y = y,
									    .n = d->n,
									    .step = c->step };
		}
		if (!m)
			continue;
		plot[n] = (struct ibcc_plot){ .title = from->title,
					      .x_label = d->x_label,
					      .y_label = from->unit ? from->unit : tune_rate_unit(),
					      .x_clock = true,
					      .y_end = from->end,
					      .series = series[n],
					      .n_series = m,
					      .mark = mark,
					      .n_marks = n_marks };
		n++;
	}
	return n ? plots_fn(plot, n, out) : -ENODATA;
}

int tune_history_draw(const json_t *series, const json_t *transactions, tune_plots_fn plots_fn,
		      FILE *out)
{
	struct data d = { 0 };
	int rc = read_series(series, &d);

	if (!rc)
		rc = draw(&d, transactions, plots_fn, out);
	free(d.x);
	free(d.y);
	return rc;
}

int tune_history_plot(const json_t *a, const char *file)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc = out ? tune_history_draw(json_object_get(a, "series"),
					 json_object_get(a, "transactions"), ibcc_plot_panels, out)
		     : -ENOMEM;

	if (out && fclose(out) && !rc)
		rc = -ENOMEM;
	if (!rc)
		rc = ibcc_file_replace(file, text, len);
	free(text);
	if (rc == -ENODATA)
		return tune_fail(
			"there is nothing to plot: nothing was measured in the last 24 hours");
	return rc ? tune_fail("%s: %s", file, strerror(-rc)) : TUNE_OK;
}
