/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include <ibcc/page.h>
#include <ibcc/text.h>

#include "daemon/tune/page/fabric_page.h"
#include "perftest/lab/demo_report.h"

static json_t *phase_json(const struct phase *p)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "congested_MBps", p->congested_MBps, "victim_MBps",
			 p->victim_MBps, "aggregate_MBps", p->aggregate_MBps, "sink_utilisation",
			 p->sink_utilisation);
}

int ibcc_demo_summary(const struct demo *d, const char *dir)
{
	char path[512];
	json_t *j = json_pack("{s:i, s:o, s:o, s:I, s:f, s:b}", "schema", 1, "before",
			      phase_json(&d->before), "after", phase_json(&d->after), "set_mads",
			      (json_int_t)d->set_mads, "seconds", d->seconds, "ok", d->ok);
	int ret = 0;

	snprintf(path, sizeof(path), "%s/summary.json", dir);
	if (!j)
		return -ENOMEM;
	if (json_dump_file(j, path, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) < 0)
		ret = -EIO;
	json_decref(j);
	return ret;
}

enum column { T, HOT, VICTIM, SUM, TIMER, INCREASE, DELAY, THRESHOLD, FECN, COLUMNS };

/* Columns of the samples as arrays, for the plots. Owned by the caller; NULL without memory. */
static double *columns(const struct demo *d)
{
	double *v = malloc(sizeof(*v) * COLUMNS * (d->n ? d->n : 1));
	size_t i;

	if (!v)
		return NULL;
	for (i = 0; i < d->n; i++) {
		const struct sample *s = &d->sample[i];

		v[T * d->n + i] = s->t_ms;
		v[HOT * d->n + i] = s->hot_MBps;
		v[VICTIM * d->n + i] = s->victim_MBps;
		v[SUM * d->n + i] = s->hot_MBps + s->victim_MBps;
		v[TIMER * d->n + i] = s->ccti_timer_us;
		v[INCREASE * d->n + i] = s->ccti_increase;
		v[DELAY * d->n + i] = s->last_delay;
		v[THRESHOLD * d->n + i] = s->threshold;
		v[FECN * d->n + i] = s->fecn_per_ms;
	}
	return v;
}

static void plots(const struct demo *d, const double *v, FILE *f)
{
	const double *t = v + T * d->n;
#define SERIES(label, col, hold)                                                                   \
	{                                                                                          \
		label, t, v + (col)*d->n, d->n, hold                                               \
	}
	const struct ibcc_plot_series throughput[] = {
		SERIES("to slow receiver", HOT, false),
		SERIES("victim", VICTIM, false),
		SERIES("together", SUM, false),
	};
	const struct ibcc_plot_series reaction[] = {
		SERIES("CCTI_Timer, us", TIMER, true),
		SERIES("CCTI_Increase", INCREASE, true),
		SERIES("Threshold", THRESHOLD, true),
	};
	const struct ibcc_plot_series depth[] = { SERIES("last entry", DELAY, true) };
	const struct ibcc_plot_series marks[] = { SERIES("FECN per ms", FECN, false) };
#undef SERIES
	const struct ibcc_plot_mark mark = { d->tuned_from_ms, "ibcc-tuned starts" };
#define PLOT(name, unit, list)                                                                     \
	{                                                                                          \
		.title = name, .x_label = "simulated time, ms", .y_label = unit, .series = list,   \
		.n_series = sizeof(list) / sizeof(*(list)), .mark = &mark, .n_marks = 1            \
	}
	const struct ibcc_plot plot[] = {
		PLOT("Throughput", "MB/s", throughput),
		PLOT("Settings: reaction and marking", NULL, reaction),
		PLOT("Settings: maximum injection delay", "packet times", depth),
		PLOT("Marks that reach the slow receiver", "FECN per ms", marks),
	};
#undef PLOT

	ibcc_page_plots(f, plot, sizeof(plot) / sizeof(*plot));
}

double ibcc_demo_gain_percent(double before, double after)
{
	double gain = before > 0 ? 100 * (after / before - 1) : 0;

	return fabs(gain) < 0.05 ? 0 : gain;
}

static void row(struct ibcc_page_table *t, const char *what, double before, double after,
		const char *unit)
{
	char text[32];

	ibcc_page_cell(t, what);
	snprintf(text, sizeof(text), "%.4g %s", before, unit);
	ibcc_page_cell(t, text);
	snprintf(text, sizeof(text), "%.4g %s", after, unit);
	ibcc_page_cell(t, text);
	snprintf(text, sizeof(text), "%+.1f %%", ibcc_demo_gain_percent(before, after));
	ibcc_page_cell(t, text);
}

static void result(const struct demo *d, FILE *f)
{
	static const char *const columns[] = { "", ">Control off", ">Tuned", ">" };
	struct ibcc_page_table t;

	ibcc_page_paragraph(
		f,
		"Three sources send to a sink that drains at half rate, a fourth sends to another "
		"sink over the same link between two switches. Without congestion control the "
		"fourth, the victim, gets no more than the others. The fabric is simulated: stock "
		"ibsim and OpenSM, our plugin and daemon, and a packet engine for the data. The "
		"experiment is P. Huang's and A. Chu's (LLNL, 2012).");
	ibcc_page_table_begin(&t, f, columns, 4);
	row(&t, "to slow receiver", d->before.congested_MBps, d->after.congested_MBps, "MB/s");
	row(&t, "victim", d->before.victim_MBps, d->after.victim_MBps, "MB/s");
	row(&t, "together", d->before.aggregate_MBps, d->after.aggregate_MBps, "MB/s");
	row(&t, "slow receiver busy", 100 * d->before.sink_utilisation,
	    100 * d->after.sink_utilisation, "%");
	ibcc_page_table_end(&t);
}

int ibcc_demo_html(const struct demo *d, const char *dir)
{
	char path[512], foot[80];
	double *v;
	FILE *f;
	int ret = 0;

	snprintf(path, sizeof(path), "%s/report.html", dir);
	v = columns(d);
	if (!v)
		return -ENOMEM;
	f = fopen(path, "w");
	if (!f) {
		ret = -errno;
		goto out;
	}
	ibcc_page_begin(f, d->title, NULL);
	result(d, f);
	plots(d, v, f);
	ibcc_page_heading(f, "What the daemon reports at the end");
	ibcc_fabric_page_sections(f, d->report);
	ibcc_page_listing(f, "What the daemon said", d->decisions);
	snprintf(foot, sizeof(foot), "%llu Set MAD%s, %.0f s of wall time.",
		 (unsigned long long)d->set_mads, ibcc_text_plural(d->set_mads, "", "s"),
		 d->seconds);
	ibcc_page_end(f, foot);
	if (ferror(f))
		ret = -EIO;
	if (fclose(f) && !ret)
		ret = -errno;
out:
	free(v);
	return ret;
}
