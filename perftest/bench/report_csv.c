/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One long table with a number in each line, a form that R, pandas and awk read directly. */
#include <errno.h>
#include <math.h>

#include <ibcc/csv.h>

#include "perftest/bench/report.h"

struct csv {
	FILE *out;
	double from_ms, to_ms;
};

static void put(const struct csv *c, const char *scope, const char *name, const char *metric,
		double v)
{
	if (!isfinite(v))
		return;
	fprintf(c->out, "%g,%g,%s,", c->from_ms, c->to_ms, scope);
	ibcc_csv_put(c->out, name);
	fprintf(c->out, ",%s,%.9g\n", metric, v);
}

static void put_pauses(const struct csv *c, const struct ibcc_model *m, const char *name,
		       const struct ibcc_measure_port *p)
{
	put(c, "port", name, "paused", p->paused);
	put(c, "port", name, "pauses_sent", (double)p->pauses_sent);
	if (!m->bcn.enabled)
		return;
	put(c, "port", name, "bcn_negative", (double)p->bcn_negative);
	put(c, "port", name, "bcn_positive", (double)p->bcn_positive);
}

static void put_messages(const struct csv *c, const char *flow, const struct ibcc_measure_flow *f)
{
	put(c, "flow", flow, "messages", (double)f->received_messages);
	put(c, "flow", flow, "message_us", f->message.mean_us);
	put(c, "flow", flow, "message_p50_us", f->message.p50_us);
	put(c, "flow", flow, "message_p99_us", f->message.p99_us);
}

static void put_window(const struct csv *c, const struct ibcc_exp_run *run)
{
	const struct ibcc_measure *m = &run->measure;
	const struct ibcc_topo *t = run->scenario.topo;
	char name[IBCC_DESC_BYTES + 32];

	for (uint32_t i = 0; i < m->n_flows; i++) {
		const struct ibcc_measure_flow *f = &m->flow[i];
		const char *flow = run->scenario.flow[i].name;

		put(c, "flow", flow, "offered_mbps", f->offered_mbps);
		put(c, "flow", flow, "mbps", f->throughput_mbps);
		put(c, "flow", flow, "ideal_mbps", f->ideal_mbps);
		put(c, "flow", flow, "latency_us", f->latency_us);
		put(c, "flow", flow, "latency_p50_us", f->p50_us);
		put(c, "flow", flow, "latency_p99_us", f->p99_us);
		put(c, "flow", flow, "latency_p999_us", f->p999_us);
		put(c, "flow", flow, "fecn", (double)f->fecn);
		put(c, "flow", flow, "becn", (double)f->becn);
		put(c, "flow", flow, "ccti", f->ccti);
		if (run->scenario.flow[i].message_bytes)
			put_messages(c, flow, f);
	}
	for (uint32_t i = 0; i < m->n_ports; i++) {
		const struct ibcc_measure_port *p = &m->port[i];

		if (t->port[i].peer == IBCC_NONE)
			continue;
		ibcc_topo_port_name(t, i, name, sizeof(name));
		put(c, "port", name, "xmit_mbps", p->xmit_mbps);
		put(c, "port", name, "rcv_mbps", p->rcv_mbps);
		put(c, "port", name, "wait", p->wait);
		put(c, "port", name, "congested", p->congested);
		put(c, "port", name, "mark_fecn", (double)p->mark_fecn);
		put(c, "port", name, "backlog_bytes", p->backlog_bytes);
		if (run->scenario.model.flow_control == IBCC_FLOW_CONTROL_PAUSE)
			put_pauses(c, &run->scenario.model, name, p);
	}
}

static void put_sample(const struct csv *c, const struct ibcc_exp_run *run, uint32_t k)
{
	const struct ibcc_measure *m = &run->measure;
	const struct ibcc_topo *t = run->scenario.topo;
	char name[IBCC_DESC_BYTES + 32];

	for (uint32_t i = 0; i < m->n_flows; i++) {
		const struct ibcc_measure_flow_sample *f =
			&m->flow_sample[(size_t)k * m->n_flows + i];
		const char *flow = run->scenario.flow[i].name;

		put(c, "flow", flow, "mbps", (double)f->throughput_mbps);
		put(c, "flow", flow, "latency_us", (double)f->latency_us);
		put(c, "flow", flow, "fecn", f->fecn);
		put(c, "flow", flow, "becn", f->becn);
		put(c, "flow", flow, "ccti", f->ccti);
	}
	for (uint32_t i = 0; i < m->n_ports; i++) {
		const struct ibcc_measure_port_sample *p =
			&m->port_sample[(size_t)k * m->n_ports + i];

		if (t->port[i].peer == IBCC_NONE)
			continue;
		ibcc_topo_port_name(t, i, name, sizeof(name));
		put(c, "port", name, "xmit_mbps", (double)p->xmit_mbps);
		put(c, "port", name, "wait", (double)p->wait);
		put(c, "port", name, "mark_fecn", p->mark_fecn);
		put(c, "port", name, "backlog_bytes", p->backlog_bytes);
	}
}

int ibcc_report_csv(const struct ibcc_exp_run *run, FILE *out)
{
	const struct ibcc_measure *m = &run->measure;
	struct csv c = { .out = out,
			 .from_ms = (double)m->from_ps / (double)IBCC_PS_PER_MS,
			 .to_ms = (double)m->to_ps / (double)IBCC_PS_PER_MS };

	fputs("from_ms,to_ms,scope,name,metric,value\n", out);
	put_window(&c, run);
	c.to_ms = 0;
	for (uint32_t k = 0; k < m->n_samples; k++) {
		c.from_ms = c.to_ms;
		c.to_ms = (double)m->sample_ps[k] / (double)IBCC_PS_PER_MS;
		put_sample(&c, run, k);
	}
	return ferror(out) ? -EIO : 0;
}
