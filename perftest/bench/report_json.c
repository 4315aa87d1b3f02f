/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>

#include "perftest/bench/report.h"

#define SCHEMA 1

json_t *ibcc_report_number(double v)
{
	return isfinite(v) ? json_real(v) : json_null();
}

json_t *ibcc_report_latency(const struct ibcc_measure_latency *l)
{
	return json_pack("{so so so}", "mean", ibcc_report_number(l->mean_us), "p50",
			 ibcc_report_number(l->p50_us), "p99", ibcc_report_number(l->p99_us));
}

json_t *ibcc_report_words(const struct ibcc_words *w)
{
	json_t *a = json_array();

	for (size_t i = 0; i < w->n; i++)
		json_array_append_new(a, json_string(w->w[i]));
	return a;
}

int ibcc_report_json(json_t *o, bool pretty, FILE *out)
{
	size_t flags = JSON_REAL_PRECISION(10) | (pretty ? JSON_INDENT(2) : JSON_COMPACT);
	int rc = o ? json_dumpf(o, out, flags) : -1;

	if (!rc && fputc('\n', out) == EOF)
		rc = -1;
	rc = rc ? (o ? -EIO : -ENOMEM) : 0;
	json_decref(o);
	return rc;
}

json_t *ibcc_report_engine(uint64_t packet_hops, double cpu_s, double wall_s, double simulated_s)
{
	return json_pack("{sI sf sf sf}", "packet_hops", (json_int_t)packet_hops, "cpu_s", cpu_s,
			 "wall_s", wall_s, "simulated_s", simulated_s);
}

/* A row as JSON. Rows of the scoring bench have a target, which is their bound. */
static json_t *row_json(const struct ibcc_exp_row *row, bool columns)
{
	double target = isnan(row->low) ? row->high : row->low;
	json_t *o =
		json_pack("{ss ss so so so so sb}", "name", row->name, "unit", row->unit,
			  columns ? "target" : "published",
			  ibcc_report_number(columns ? target : row->published), "measured",
			  ibcc_report_number(row->measured), "low", ibcc_report_number(row->low),
			  "high", ibcc_report_number(row->high), "ok", (int)row->ok);

	if (o && row->reason[0])
		json_object_set_new(o, "reason", json_string(row->reason));
	return o;
}

static json_t *numbers(const double *v, size_t n)
{
	json_t *a = json_array();

	for (size_t i = 0; i < n; i++)
		json_array_append_new(a, ibcc_report_number(v[i]));
	return a;
}

static json_t *series_json(const struct ibcc_exp_series *s)
{
	json_t *columns = json_array();

	for (size_t c = 0; c < s->n_columns; c++)
		json_array_append_new(columns, json_pack("{ss ss so}", "name", s->column[c].name,
							 "unit", s->column[c].unit, "y",
							 numbers(&s->y[c * s->n], s->n)));
	return json_pack("{ss ss ss so so}", "name", s->name, "title", s->title, "label", s->label,
			 "x", numbers(s->x, s->n), "columns", columns);
}

json_t *ibcc_report_experiment(const struct ibcc_experiment *x, const struct ibcc_exp_options *o,
			       const struct ibcc_exp_result *r)
{
	json_t *rows = json_array(), *series = json_array(), *all;

	for (size_t i = 0; i < x->n_rows; i++)
		if (!o->shortened || !x->row[i].only_full)
			json_array_append_new(rows, row_json(&x->row[i], o->columns));
	for (size_t i = 0; i < x->n_series; i++)
		if (x->series[i].needed)
			json_array_append_new(series, series_json(&x->series[i]));
	all = json_pack("{si ss so sb so}", "schema", SCHEMA, "experiment", x->name, "rows", rows,
			"ok", (int)r->ok, "engine",
			ibcc_report_engine(r->packet_hops, r->cpu_s, r->wall_s, r->simulated_s));
	if (all && json_array_size(series))
		json_object_set(all, "series", series);
	json_decref(series);
	if (all && x->limits.n)
		json_object_set_new(all, "limits", ibcc_report_words(&x->limits));
	return all;
}

static json_t *flow_json(const struct ibcc_flow_spec *f, const struct ibcc_measure_flow *m)
{
	static const char *const kinds[] = { "background", "hot", "victim" };

	return json_pack(
		"{ss ss ss ss so so so so so so so sI sI sI sI so}", "name", f->name, "from",
		f->from, "to", f->to, "kind", kinds[f->kind], "offered_mbps",
		ibcc_report_number(m->offered_mbps), "mbps", ibcc_report_number(m->throughput_mbps),
		"ideal_mbps", ibcc_report_number(m->ideal_mbps), "latency_us",
		ibcc_report_number(m->latency_us), "latency_p50_us", ibcc_report_number(m->p50_us),
		"latency_p99_us", ibcc_report_number(m->p99_us), "latency_p999_us",
		ibcc_report_number(m->p999_us), "refused_pkts", (json_int_t)m->refused_pkts,
		"dropped_pkts", (json_int_t)m->dropped_pkts, "fecn", (json_int_t)m->fecn, "becn",
		(json_int_t)m->becn, "ccti", ibcc_report_number(m->ccti));
}

/* Adds figures that only flows with messages have. */
static void add_messages(json_t *o, const struct ibcc_flow_spec *f,
			 const struct ibcc_measure_flow *m)
{
	if (!o || !f->message_bytes)
		return;
	json_object_set_new(o, "messages", json_integer((json_int_t)m->received_messages));
	json_object_set_new(o, "message_us", ibcc_report_latency(&m->message));
}

/* Adds figures that only flows of connections have. */
static void add_conn(json_t *o, const struct ibcc_exp_run *run, const struct ibcc_measure_flow *f)
{
	const struct ibcc_engine_conn *c = &f->conn;
	json_t *depth = json_array();
	unsigned int n = IBCC_DEPTH_BINS;

	while (n && !c->depth[n - 1])
		n--;
	for (unsigned int i = 0; i < n; i++)
		json_array_append_new(depth, json_integer((json_int_t)c->depth[i]));
	if (o && run->scenario.model.endpoint != IBCC_ENDPOINT_DATAGRAM)
		json_object_set_new(
			o, "connection",
			json_pack("{sI sI sI sI sI sI sI sI sO}", "sent_pkts",
				  (json_int_t)f->sent_pkts, "resent_pkts", (json_int_t)c->resent,
				  "out_of_order_pkts", (json_int_t)c->out_of_order,
				  "duplicate_pkts", (json_int_t)c->duplicates, "reordered_pkts",
				  (json_int_t)f->reordered_pkts, "naks", (json_int_t)c->naks,
				  "timeouts", (json_int_t)c->timeouts, "depth_max",
				  (json_int_t)c->depth_max, "depth", depth));
	json_decref(depth);
}

static json_t *port_json(const struct ibcc_topo *t, uint32_t port,
			 const struct ibcc_measure_port *m)
{
	return json_pack("{ss si so so so so so sI sI sI sI so}", "node",
			 t->node[t->port[port].node].desc, "port", (int)t->port[port].num,
			 "xmit_mbps", ibcc_report_number(m->xmit_mbps), "rcv_mbps",
			 ibcc_report_number(m->rcv_mbps), "utilisation",
			 ibcc_report_number(m->utilisation), "wait", ibcc_report_number(m->wait),
			 "congested", ibcc_report_number(m->congested), "mark_fecn",
			 (json_int_t)m->mark_fecn, "rcv_fecn", (json_int_t)m->rcv_fecn, "rcv_becn",
			 (json_int_t)m->rcv_becn, "dropped", (json_int_t)m->dropped,
			 "backlog_bytes", ibcc_report_number(m->backlog_bytes));
}

/* Adds figures that only ports of Ethernet have. */
static void add_pauses(json_t *o, const struct ibcc_exp_run *run, const struct ibcc_measure_port *p)
{
	const struct ibcc_measure *m = &run->measure;
	double window_ms = (double)(m->to_ps - m->from_ps) / (double)IBCC_PS_PER_MS;

	if (!o || run->scenario.model.flow_control != IBCC_FLOW_CONTROL_PAUSE)
		return;
	json_object_set_new(o, "paused", ibcc_report_number(p->paused));
	json_object_set_new(o, "paused_ms", ibcc_report_number(p->paused * window_ms));
	json_object_set_new(o, "pauses_sent", json_integer((json_int_t)p->pauses_sent));
	if (!run->scenario.model.bcn.enabled)
		return;
	json_object_set_new(o, "bcn_negative", json_integer((json_int_t)p->bcn_negative));
	json_object_set_new(o, "bcn_positive", json_integer((json_int_t)p->bcn_positive));
}

json_t *ibcc_report_summary(const struct ibcc_exp_run *run)
{
	const struct ibcc_measure *m = &run->measure;
	const struct ibcc_scenario *s = &run->scenario;
	double sum = 0, latency = 0;
	uint64_t fecn = 0, becn = 0, n = 0;

	for (uint32_t i = 0; i < m->n_flows; i++) {
		sum += m->flow[i].throughput_mbps;
		fecn += m->flow[i].fecn;
		becn += m->flow[i].becn;
		if (m->flow[i].received_pkts)
			latency += m->flow[i].latency_us * (double)m->flow[i].received_pkts;
		n += m->flow[i].received_pkts;
	}
	return json_pack("{so so so so so so sI sI}", "ideal_share",
			 ibcc_report_number(ibcc_measure_ideal_share(m)), "aggregate_mbps",
			 ibcc_report_number(sum), "hot_mbps",
			 ibcc_report_number(ibcc_measure_kind_mbps(s, m, IBCC_FLOW_HOT)),
			 "victim_mbps",
			 ibcc_report_number(ibcc_measure_kind_mbps(s, m, IBCC_FLOW_VICTIM)),
			 "background_mbps",
			 ibcc_report_number(ibcc_measure_kind_mbps(s, m, IBCC_FLOW_BACKGROUND)),
			 "latency_us", ibcc_report_number(n ? latency / (double)n : NAN), "fecn",
			 (json_int_t)fecn, "becn", (json_int_t)becn);
}

json_t *ibcc_report_scenario(const struct ibcc_exp_run *run, double wall_s)
{
	const struct ibcc_measure *m = &run->measure;
	const struct ibcc_topo *t = run->scenario.topo;
	json_t *flows = json_array(), *ports = json_array();

	for (uint32_t i = 0; i < m->n_flows; i++) {
		json_t *o = flow_json(&run->scenario.flow[i], &m->flow[i]);

		add_messages(o, &run->scenario.flow[i], &m->flow[i]);
		add_conn(o, run, &m->flow[i]);
		json_array_append_new(flows, o);
	}
	for (uint32_t i = 0; i < m->n_ports; i++) {
		json_t *o;

		if (t->port[i].peer == IBCC_NONE)
			continue;
		o = port_json(t, i, &m->port[i]);
		add_pauses(o, run, &m->port[i]);
		json_array_append_new(ports, o);
	}
	return json_pack("{si ss sI sf sf so so so so}", "schema", SCHEMA, "scenario",
			 run->scenario.name, "seed", (json_int_t)run->scenario.seed, "from_ms",
			 (double)m->from_ps / (double)IBCC_PS_PER_MS, "to_ms",
			 (double)m->to_ps / (double)IBCC_PS_PER_MS, "summary",
			 ibcc_report_summary(run), "flows", flows, "ports", ports, "engine",
			 ibcc_report_engine(m->totals.packet_hops, run->cpu_s, wall_s,
					    (double)m->to_ps / 1e12));
}
