/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/report.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/json.h>
#include <ibcc/plot.h>
#include <ibcc/table.h>
#include <ibcc/text.h>

#include "perftest/bench/report.h"
#include "perftest/verbs/counters.h"

#define KINDS       3
#define LIVE_FLOWS  20u /* with more flows, the live table has only the sums */
#define JSON_SCHEMA 1

const char *ibcc_perf_kind_name(enum ibcc_flow_kind kind)
{
	static const char *const names[KINDS] = { "background", "hot", "victim" };

	return names[kind];
}

static bool has_kind(const struct ibcc_scenario *s, int kind)
{
	for (uint32_t i = 0; i < s->n_flows; i++)
		if ((int)s->flow[i].kind == kind)
			return true;
	return false;
}

/* Sum of a sample over the flows of a kind; NAN if no flow has a value. */
static double sample_kind(const struct ibcc_scenario *s, const struct ibcc_perf_result *r,
			  uint32_t sample, int kind)
{
	double sum = NAN;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		double v = (int)s->flow[i].kind == kind ? ibcc_perf_sample_mbps(r, sample, i) : NAN;

		if (!isnan(v))
			sum = isnan(sum) ? v : sum + v;
	}
	return sum;
}

static double sample_s(const struct ibcc_perf_result *r, uint32_t sample)
{
	uint64_t last = 0;

	for (uint32_t i = 0; i < r->n_flows; i++) {
		uint64_t t = r->sample_ns[(size_t)sample * r->n_flows + i];

		last = t > last ? t : last;
	}
	return (double)last / 1e9;
}

void ibcc_perf_live(void *arg, const struct ibcc_perf_result *r, uint32_t sample)
{
	struct ibcc_perf_live *l = arg;

	if (l->tty && l->lines)
		fprintf(l->out, "\033[%uA\033[J", l->lines);
	fprintf(l->out, "%8.1f s", sample_s(r, sample));
	for (int k = KINDS - 1; k >= 0; k--)
		if (has_kind(l->s, k))
			fprintf(l->out, "  %s %.0f Mb/s",
				ibcc_perf_kind_name((enum ibcc_flow_kind)k),
				sample_kind(l->s, r, sample, k));
	fputc('\n', l->out);
	l->lines = 1;
	for (uint32_t i = 0; l->tty && r->n_flows <= LIVE_FLOWS && i < r->n_flows; i++) {
		double v = ibcc_perf_sample_mbps(r, sample, i);

		fprintf(l->out, "    %-32s %10.0f Mb/s\n", l->s->flow[i].name, isnan(v) ? 0 : v);
		l->lines++;
	}
	fflush(l->out);
}

static double rate(const struct ibcc_perf_result *r, uint64_t n)
{
	return r->window_s > 0 ? (double)n / r->window_s : NAN;
}

/* The share of due messages with which the flow could not keep up. */
static double behind(const struct ibcc_perf_flow_result *f)
{
	return f->due + f->missed ? (double)f->missed / (double)(f->due + f->missed) : 0;
}

static int flow_line(struct libscols_table *t, const struct ibcc_scenario *s,
		     const struct ibcc_perf_result *r, uint32_t i)
{
	const struct ibcc_perf_flow_result *f = &r->flow[i];
	double v[] = { ibcc_perf_flow_mbps(r, i),
		       rate(r, f->measured_messages),
		       ibcc_perf_hist_us(&f->latency, 0.5),
		       ibcc_perf_hist_us(&f->latency, 0.99),
		       ibcc_perf_hist_us(&f->latency, 0.999),
		       f->latency.n ? (double)f->latency.max_ns / 1e3 : NAN };
	enum { N = sizeof(v) / sizeof(*v) };
	char text[N][IBCC_CELL_BYTES];
	const char *cell[N + 2] = { s->flow[i].name, ibcc_perf_kind_name(s->flow[i].kind) };

	for (int k = 0; k < N; k++)
		cell[k + 2] = ibcc_table_number(v[k], text[k], sizeof(text[k]));
	return ibcc_table_add(t, cell);
}

static void print_counters(json_t *counters, FILE *out)
{
	json_int_t retries = ibcc_perf_counters_retries(counters), n;
	const char *key;
	json_t *value;

	if (retries >= 0)
		fprintf(out, " %lld retr%s;", (long long)retries,
			ibcc_text_plural((uint64_t)retries, "y", "ies"));
	else
		fputs(" retries unknown;", out);
	json_object_foreach (counters, key, value) {
		n = json_integer_value(value);
		if (n)
			fprintf(out, " %s %lld", key, (long long)n);
	}
	fputc('\n', out);
}

static void notes(const struct ibcc_perf_hosts *hosts, const struct ibcc_perf_result *r, FILE *out)
{
	const struct ibcc_scenario *s = hosts->s;
	const char *host;
	json_t *counters;

	if (r->interrupted)
		fprintf(out, "\ninterrupted: the figures cover %.3f s\n", r->window_s);
	for (uint32_t i = 0; i < s->n_flows; i++) {
		const struct ibcc_perf_flow_result *f = &r->flow[i];

		if (f->missed)
			fprintf(out,
				"flow %s could not keep up: it gave up %.1f %% of its messages\n",
				s->flow[i].name, 100 * behind(f));
		if (f->bad)
			fprintf(out, "flow %s: of %llu message%s compared, %llu %s WRONG data\n",
				s->flow[i].name, (unsigned long long)f->verified,
				ibcc_text_plural(f->verified, "", "s"), (unsigned long long)f->bad,
				ibcc_text_plural(f->bad, "has", "have"));
	}
	if (json_object_size(r->counters))
		fputs("\ncounters of the hosts' ports during this run:\n", out);
	json_object_foreach (r->counters, host, counters) {
		fprintf(out, "  %s:", host);
		print_counters(counters, out);
	}
}

int ibcc_perf_report_table(const struct ibcc_perf_hosts *hosts, const struct ibcc_perf_result *r,
			   FILE *out)
{
	static const struct ibcc_table_column columns[] = {
		{ "FLOW", IBCC_LEFT },        { "KIND", IBCC_LEFT },    { "MBIT/S", IBCC_RIGHT },
		{ "MESSAGES/S", IBCC_RIGHT }, { "P50 US", IBCC_RIGHT }, { "P99 US", IBCC_RIGHT },
		{ "P99.9 US", IBCC_RIGHT },   { "MAX US", IBCC_RIGHT },
	};
	const struct ibcc_scenario *s = hosts->s;
	struct libscols_table *t = ibcc_table_new(columns, sizeof(columns) / sizeof(*columns), out);
	int rc = t ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < s->n_flows && !rc; i++)
		rc = flow_line(t, s, r, i);
	fputc('\n', out);
	fflush(out);
	rc = ibcc_table_end(t, rc);
	fputc('\n', out);
	for (int k = KINDS - 1; k >= 0; k--)
		if (has_kind(s, k))
			fprintf(out, "%s flows together: %.1f Mb/s\n",
				ibcc_perf_kind_name((enum ibcc_flow_kind)k),
				ibcc_perf_kind_mbps(s, r, (enum ibcc_flow_kind)k));
	notes(hosts, r, out);
	return rc ? rc : ferror(out) ? -EIO : 0;
}

static json_t *flow_json(const struct ibcc_scenario *s, const struct ibcc_perf_result *r,
			 uint32_t i)
{
	static const char *const operations[] = { "write", "send", "read" };
	const struct ibcc_perf_flow_result *f = &r->flow[i];
	const struct ibcc_flow_spec *spec = &s->flow[i];

	return json_pack(
		"{so so so ss ss so so sI so so so so so sI sI sf sI sI sI}", "name",
		ibcc_json_text(spec->name), "from", ibcc_json_text(spec->from), "to",
		ibcc_json_text(spec->to), "kind", ibcc_perf_kind_name(spec->kind), "operation",
		operations[spec->operation], "mbps", ibcc_report_number(ibcc_perf_flow_mbps(r, i)),
		"messages_per_s", ibcc_report_number(rate(r, f->measured_messages)), "messages",
		(json_int_t)f->messages, "latency_us",
		ibcc_report_number(ibcc_perf_hist_mean_us(&f->latency)), "latency_p50_us",
		ibcc_report_number(ibcc_perf_hist_us(&f->latency, 0.5)), "latency_p99_us",
		ibcc_report_number(ibcc_perf_hist_us(&f->latency, 0.99)), "latency_p999_us",
		ibcc_report_number(ibcc_perf_hist_us(&f->latency, 0.999)), "latency_max_us",
		ibcc_report_number(f->latency.n ? (double)f->latency.max_ns / 1e3 : NAN), "due",
		(json_int_t)(f->due + f->missed), "given_up", (json_int_t)f->missed,
		"given_up_share", behind(f), "received", (json_int_t)f->received, "verified",
		(json_int_t)f->verified, "wrong", (json_int_t)f->bad);
}

static json_t *samples_json(const struct ibcc_perf_result *r)
{
	json_t *list = json_array();

	for (uint32_t k = 0; list && k < r->n_samples; k++) {
		json_t *flows = json_array();

		for (uint32_t i = 0; flows && i < r->n_flows; i++)
			json_array_append_new(flows,
					      ibcc_report_number(ibcc_perf_sample_mbps(r, k, i)));
		json_array_append_new(list,
				      json_pack("{sf so}", "t_s", sample_s(r, k), "mbps", flows));
	}
	return list;
}

static json_t *hosts_json(const struct ibcc_perf_hosts *hosts, const struct ibcc_perf_result *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < hosts->n_hosts; i++) {
		const struct ibcc_perf_host *m = &hosts->host[i];
		const json_t *counters = json_object_get(r->counters, m->name);
		json_int_t retries = ibcc_perf_counters_retries(counters);

		json_array_append_new(
			list, json_pack("{so so si so sI so sO?}", "name", ibcc_json_text(m->name),
					"device", ibcc_json_text(m->device), "port", m->port,
					"link_layer", ibcc_json_text(m->link_layer), "rate_mbps",
					(json_int_t)m->rate_mbps, "retries",
					retries < 0 ? json_null() : json_integer(retries),
					"counters", counters));
	}
	return list;
}

json_t *ibcc_perf_report_json(const struct ibcc_perf_hosts *hosts, const struct ibcc_perf_result *r)
{
	const struct ibcc_scenario *s = hosts->s;
	json_t *flows = json_array(), *kinds = json_object();

	for (uint32_t i = 0; flows && i < s->n_flows; i++)
		json_array_append_new(flows, flow_json(s, r, i));
	for (int k = 0; kinds && k < KINDS; k++)
		if (has_kind(s, k))
			json_object_set_new(kinds, ibcc_perf_kind_name((enum ibcc_flow_kind)k),
					    ibcc_report_number(ibcc_perf_kind_mbps(
						    s, r, (enum ibcc_flow_kind)k)));
	return json_pack("{si so sf sb so so so so}", "schema", JSON_SCHEMA, "plan",
			 ibcc_json_text(s->name), "window_s", r->window_s, "interrupted",
			 r->interrupted, "mbps", kinds, "flows", flows, "hosts",
			 hosts_json(hosts, r), "samples", samples_json(r));
}

/* Curves over all runs, one after the other. */
struct curves {
	struct ibcc_plot_series series[IBCC_PLOT_MAX_SERIES];
	struct ibcc_plot_mark *mark;
	double *data;
	size_t points, n;
};

static void draw_curve(struct curves *c, const char *name, const struct ibcc_scenario *s,
		       const struct ibcc_perf_result *r, size_t n, int flow, int kind)
{
	double *y = c->data + (c->n + 1) * c->points, base = 0;
	size_t at = 0;

	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < r[i].n_samples; k++, at++) {
			c->data[at] = base + sample_s(&r[i], k);
			y[at] = flow >= 0 ? ibcc_perf_sample_mbps(&r[i], k, (uint32_t)flow)
					  : sample_kind(s, &r[i], k, kind);
		}
		if (at)
			base = c->data[at - 1];
	}
	c->series[c->n++] = (struct ibcc_plot_series){ name, c->data, y, c->points, false };
}

int ibcc_perf_report_plot(const struct ibcc_scenario *s, const struct ibcc_perf_result *r,
			  const char *const *text, size_t n, FILE *out)
{
	struct curves c = { .points = 0 };
	double base = 0;
	size_t i;
	int rc;

	for (i = 0; i < n; i++)
		c.points += r[i].n_samples;
	c.data = calloc((IBCC_PLOT_MAX_SERIES + 1) * (c.points + 1), sizeof(*c.data));
	c.mark = calloc(n + 1, sizeof(*c.mark));
	if (!c.data || !c.mark) {
		rc = -ENOMEM;
		goto out;
	}
	for (i = 0; i < n; i++) {
		c.mark[i] = (struct ibcc_plot_mark){ base, text[i] };
		if (r[i].n_samples)
			base += sample_s(&r[i], r[i].n_samples - 1);
	}
	if (s->n_flows <= IBCC_PLOT_MAX_SERIES)
		for (i = 0; i < s->n_flows; i++)
			draw_curve(&c, s->flow[i].name, s, r, n, (int)i, 0);
	else
		for (int k = KINDS - 1; k >= 0; k--)
			if (has_kind(s, k))
				draw_curve(&c, ibcc_perf_kind_name((enum ibcc_flow_kind)k), s, r, n,
					   -1, k);
	rc = ibcc_plot_svg(&(struct ibcc_plot){ .title = *s->title ? s->title : s->name,
						.x_label = "s of traffic",
						.y_label = "Mb/s",
						.series = c.series,
						.n_series = c.n,
						.mark = c.mark,
						.n_marks = n > 1 ? n : 0 },
			   out);
out:
	free(c.data);
	free(c.mark);
	return rc;
}
