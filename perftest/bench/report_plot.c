/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>

#include <ibcc/plot.h>

#include "perftest/bench/report.h"

#define N_KINDS    3
#define MAX_PANELS 16

/* A panel with memory for its curves. */
struct panel {
	struct ibcc_plot plot;
	struct ibcc_plot_series series[IBCC_PLOT_MAX_SERIES];
	double *data;
	char title[128];
};

static const char *const kinds[N_KINDS] = { "background", "hot", "victim" };
/* The order of curves, so that hot and victim flows have the same colours in most plots. */
static const unsigned int order[N_KINDS] = { IBCC_FLOW_HOT, IBCC_FLOW_VICTIM,
					     IBCC_FLOW_BACKGROUND };

static double *sample_times(const struct ibcc_measure *m, double *x)
{
	for (uint32_t k = 0; k < m->n_samples; k++)
		x[k] = (double)m->sample_ps[k] / (double)IBCC_PS_PER_MS;
	return x;
}

/* Makes room for n_curves over n points; x takes the first part. */
static int panel_new(struct panel *p, size_t n_curves, size_t n, const char *title,
		     const char *x_label, const char *y_label)
{
	memset(p, 0, sizeof(*p));
	p->data = calloc((n_curves + 1) * n + 1, sizeof(*p->data));
	snprintf(p->title, sizeof(p->title), "%s", title);
	p->plot = (struct ibcc_plot){
		.title = p->title, .x_label = x_label, .y_label = y_label, .series = p->series
	};
	return p->data ? 0 : -ENOMEM;
}

static double *panel_curve(struct panel *p, const char *name, size_t n)
{
	double *y = p->data + (p->plot.n_series + 1) * n;

	p->series[p->plot.n_series++] =
		(struct ibcc_plot_series){ .name = name, .x = p->data, .y = y, .n = n };
	return y;
}

static int throughput_panel(struct panel *p, const struct ibcc_exp_run *run, const char *title)
{
	const struct ibcc_measure *m = &run->measure;
	const struct ibcc_scenario *s = &run->scenario;
	int rc = panel_new(p, N_KINDS, m->n_samples, title, "time (ms)", "MB/s");

	if (rc)
		return rc;
	sample_times(m, p->data);
	for (unsigned int k = 0; k < N_KINDS; k++) {
		unsigned int kind = order[k];
		bool any = false;
		double *y;

		for (uint32_t i = 0; i < m->n_flows; i++)
			any = any || s->flow[i].kind == kind;
		if (!any)
			continue;
		y = panel_curve(p, kinds[kind], m->n_samples);
		for (size_t at = 0; at < (size_t)m->n_samples * m->n_flows; at++)
			if (s->flow[at % m->n_flows].kind == kind)
				y[at / m->n_flows] +=
					(double)m->flow_sample[at].throughput_mbps / 8;
	}
	return 0;
}

/* The outputs with the longest mean queues show where congestion is. */
static int queue_panel(struct panel *p, char name[4][IBCC_DESC_BYTES + 32],
		       const struct ibcc_exp_run *run)
{
	const struct ibcc_measure *m = &run->measure;
	uint32_t top[4] = { 0 }, n = 0;
	int rc = panel_new(p, 4, m->n_samples, "Longest output queues", "time (ms)", "KiB");

	if (rc)
		return rc;
	sample_times(m, p->data);
	for (uint32_t i = 0; i < m->n_ports; i++) {
		uint32_t at = n;

		if (m->port[i].backlog_bytes <= 0)
			continue;
		while (at > 0 && m->port[top[at - 1]].backlog_bytes < m->port[i].backlog_bytes)
			at--;
		if (at == 4)
			continue;
		memmove(&top[at + 1], &top[at], (3 - at) * sizeof(*top));
		top[at] = i;
		n += n < 4;
	}
	for (uint32_t k = 0; k < n; k++) {
		double *y;

		ibcc_topo_port_name(run->scenario.topo, top[k], name[k], sizeof(name[k]));
		y = panel_curve(p, name[k], m->n_samples);
		for (uint32_t at = 0; at < m->n_samples; at++)
			y[at] = (double)m->port_sample[(size_t)at * m->n_ports + top[k]]
					.backlog_bytes /
				1024;
	}
	return 0;
}

static int ccti_panel(struct panel *p, const struct ibcc_exp_run *run)
{
	const struct ibcc_measure *m = &run->measure;
	uint32_t count[N_KINDS] = { 0 };
	int rc = panel_new(p, N_KINDS, m->n_samples, "Mean CCTI", "time (ms)", "CCTI");

	if (rc)
		return rc;
	sample_times(m, p->data);
	for (uint32_t i = 0; i < m->n_flows; i++)
		count[run->scenario.flow[i].kind]++;
	for (unsigned int k = 0; k < N_KINDS; k++) {
		unsigned int kind = order[k];
		double *y;

		if (!count[kind])
			continue;
		y = panel_curve(p, kinds[kind], m->n_samples);
		for (size_t at = 0; at < (size_t)m->n_samples * m->n_flows; at++)
			if (run->scenario.flow[at % m->n_flows].kind == kind)
				y[at / m->n_flows] += (double)m->flow_sample[at].ccti / count[kind];
	}
	return 0;
}

static int draw(struct panel *panel, size_t n, FILE *out)
{
	struct ibcc_plot plot[MAX_PANELS];
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (panel[i].plot.n_series)
			plot[kept++] = panel[i].plot;
	return kept ? ibcc_plot_panels(plot, kept, out) : -EINVAL;
}

static void panels_free(struct panel *panel, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(panel[i].data);
}

int ibcc_report_scenario_plot(const struct ibcc_exp_run *run, FILE *out)
{
	struct panel panel[3] = { { .data = NULL } };
	char name[4][IBCC_DESC_BYTES + 32];
	int rc = run->measure.n_samples ? 0 : -EINVAL;

	if (!rc)
		rc = throughput_panel(&panel[0], run,
				      run->scenario.title[0] ? run->scenario.title
							     : run->scenario.name);
	if (!rc)
		rc = queue_panel(&panel[1], name, run);
	if (!rc && run->scenario.cc.enabled)
		rc = ccti_panel(&panel[2], run);
	if (!rc)
		rc = draw(panel, 3, out);
	panels_free(panel, 3);
	return rc;
}

static int series_panel(struct panel *p, const struct ibcc_exp_series *s)
{
	size_t n_curves = s->n_columns < IBCC_PLOT_MAX_SERIES ? s->n_columns : IBCC_PLOT_MAX_SERIES;
	int rc =
		panel_new(p, n_curves, s->n, s->title, s->label, n_curves ? s->column[0].unit : "");

	if (rc)
		return rc;
	memcpy(p->data, s->x, s->n * sizeof(*s->x));
	/* Values tried over more than a decade were chosen by ratio. */
	p->plot.x_log = s->x[0] > 0 && s->x[s->n - 1] > 20 * s->x[0];
	for (size_t c = 0; c < n_curves; c++)
		memcpy(panel_curve(p, s->column[c].name, s->n), &s->y[c * s->n],
		       s->n * sizeof(*s->y));
	return 0;
}

static bool is_column_of(const struct ibcc_experiment *x, const struct ibcc_exp_run *run, size_t c)
{
	const struct ibcc_exp_variant *v = &x->variant[run->variant];

	return v->column && v->exp_case == c && !run->k;
}

/* Plots the sum of all throughput over time, one curve for each column of a case. */
static int case_panel(struct panel *p, const struct ibcc_experiment *x,
		      const struct ibcc_exp_result *r, size_t c)
{
	uint32_t n = UINT32_MAX;
	bool begun = false;
	int rc;

	for (size_t i = 0; i < r->n_runs; i++)
		if (is_column_of(x, &r->run[i], c) && r->run[i].measure.n_samples < n)
			n = r->run[i].measure.n_samples;
	if (n == UINT32_MAX)
		return memset(p, 0, sizeof(*p)), 0;
	rc = panel_new(p, IBCC_EXP_N_COLUMNS, n, x->exp_case[c].name, "time (ms)", "MB/s");
	for (size_t i = 0; i < r->n_runs && !rc; i++) {
		const struct ibcc_measure *m = &r->run[i].measure;
		double *y;

		if (!is_column_of(x, &r->run[i], c))
			continue;
		for (uint32_t k = 0; k < n && !begun; k++)
			p->data[k] = (double)m->sample_ps[k] / (double)IBCC_PS_PER_MS;
		begun = true;
		y = panel_curve(p, ibcc_exp_column_name(x->variant[r->run[i].variant].column), n);
		for (size_t at = 0; at < (size_t)n * m->n_flows; at++)
			y[at / m->n_flows] += (double)m->flow_sample[at].throughput_mbps / 8;
	}
	return rc;
}

int ibcc_report_experiment_plot(const struct ibcc_experiment *x, const struct ibcc_exp_result *r,
				FILE *out)
{
	struct panel panel[MAX_PANELS] = { { .data = NULL } };
	size_t n = 0;
	int rc = 0;

	for (size_t k = 0; k < x->plot.n; k++) {
		for (size_t i = 0; i < r->n_runs && n < MAX_PANELS && !rc; i++) {
			const struct ibcc_exp_variant *v = &x->variant[r->run[i].variant];

			if (r->run[i].k || strcmp(v->name, x->plot.w[k]))
				continue;
			rc = throughput_panel(&panel[n++], &r->run[i], v->name);
		}
	}
	for (size_t c = 0; c < x->n_cases && n < MAX_PANELS && !rc; c++)
		rc = case_panel(&panel[n++], x, r, c);
	for (size_t i = 0; i < x->n_series && n < MAX_PANELS && !rc; i++)
		if (x->series[i].needed)
			rc = series_panel(&panel[n++], &x->series[i]);
	if (!rc)
		rc = draw(panel, n, out);
	panels_free(panel, n);
	return rc;
}
