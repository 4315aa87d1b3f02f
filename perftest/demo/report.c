/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <jansson.h>

#include <ibcc/plot.h>

#include "perftest/demo/report.h"

static json_t *phase_json(const struct phase *p)
{
	return json_pack("{s:f, s:f, s:f, s:f}", "congested_MBps", p->congested_MBps, "victim_MBps",
			 p->victim_MBps, "aggregate_MBps", p->aggregate_MBps, "sink_utilisation",
			 p->sink_utilisation);
}

int report_summary(const struct demo *d, const char *dir)
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
		SERIES("to the slow sink", HOT, false),
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
	const struct ibcc_plot plot[] = {
		{ .title = "Throughput", .y_label = "MB/s", .series = throughput, .n_series = 3 },
		{ .title = "Settings on the fabric: source reaction and marking",
		  .series = reaction,
		  .n_series = 3 },
		{ .title = "Settings on the fabric: depth of the congestion control table",
		  .y_label = "packet times",
		  .series = depth,
		  .n_series = 1 },
		{ .title = "Marks that reach the slow sink", .series = marks, .n_series = 1 },
	};
	size_t i;

	for (i = 0; i < sizeof(plot) / sizeof(*plot); i++) {
		struct ibcc_plot p = plot[i];

		p.x_label = "simulated time, ms";
		p.mark = &mark;
		p.n_marks = 1;
		fputs("<figure>\n", f);
		ibcc_plot_svg(&p, f);
		fputs("</figure>\n", f);
	}
}

static void row(FILE *f, const char *what, double before, double after, const char *unit)
{
	fprintf(f, "<tr><th>%s</th><td>%.4g %s</td><td>%.4g %s</td><td>%+.1f %%</td></tr>\n", what,
		before, unit, after, unit, before > 0 ? 100 * (after / before - 1) : 0.0);
}

static void pre(FILE *f, const char *title, const char *text)
{
	if (!text || !*text)
		return;
	fprintf(f, "<h2>%s</h2>\n<pre>", title);
	ibcc_plot_text(f, text);
	fputs("</pre>\n", f);
}

int report_html(const struct demo *d, const char *dir)
{
	char path[512];
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
	fputs("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
	      "<title>ibcc-tune demo</title>\n<style>\n"
	      "body{font:15px/1.5 system-ui,sans-serif;max-width:900px;margin:2em auto;padding:0 "
	      "1em;"
	      "color:#222}figure{margin:1.5em 0}table{border-collapse:collapse}"
	      "th,td{padding:.3em 1em;text-align:right;border-bottom:1px solid #ddd}"
	      "th{text-align:left;font-weight:500}pre{background:#f6f6f6;padding:1em;overflow:auto;"
	      "font-size:12px}svg{max-width:100%}\n</style></head><body>\n<h1>",
	      f);
	ibcc_plot_text(f, d->title);
	fputs("</h1>\n<p>Three sources send to a sink that drains at half rate, a fourth sends to "
	      "another sink over the same link between two switches. Without congestion control "
	      "the fourth, the victim, gets no more than the others. The fabric is simulated: "
	      "stock ibsim and OpenSM, our plugin and daemon, and a packet engine for the data. "
	      "The experiment is P. Huang's and A. Chu's (LLNL, 2012).</p>\n"
	      "<table><tr><th></th><td>congestion control off</td><td>tuned</td><td></td></tr>\n",
	      f);
	row(f, "to the slow sink", d->before.congested_MBps, d->after.congested_MBps, "MB/s");
	row(f, "victim", d->before.victim_MBps, d->after.victim_MBps, "MB/s");
	row(f, "together", d->before.aggregate_MBps, d->after.aggregate_MBps, "MB/s");
	row(f, "slow sink busy", 100 * d->before.sink_utilisation, 100 * d->after.sink_utilisation,
	    "%");
	fputs("</table>\n", f);
	plots(d, v, f);
	pre(f, "What the daemon said", d->decisions);
	pre(f, "What is on the fabric at the end", d->settings);
	fprintf(f, "<p>%llu Set MADs, %.0f s of wall time.</p>\n</body></html>\n",
		(unsigned long long)d->set_mads, d->seconds);
	if (ferror(f))
		ret = -EIO;
	if (fclose(f) && !ret)
		ret = -errno;
out:
	free(v);
	return ret;
}
