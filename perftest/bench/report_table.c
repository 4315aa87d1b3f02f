/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>

#include <ibcc/table.h>
#include <ibcc/text.h>

#include "perftest/bench/report.h"

/* A table with more flows or ports than this is too long to read; the JSON has all. */
#define MAX_LINES 64u

static const char *verdict(const struct ibcc_exp_row *row)
{
	if (isnan(row->low) && isnan(row->high))
		return "";
	return row->ok ? "ok" : "NO";
}

static int add_published(struct libscols_table *t, const struct ibcc_exp_row *row)
{
	char buf[4][IBCC_CELL_BYTES];
	const char *cell[] = {
		row->name,
		row->unit,
		ibcc_table_number(row->published, buf[0], IBCC_CELL_BYTES),
		ibcc_table_number(row->measured, buf[1], IBCC_CELL_BYTES),
		ibcc_table_number(row->low, buf[2], IBCC_CELL_BYTES),
		ibcc_table_number(row->high, buf[3], IBCC_CELL_BYTES),
		verdict(row),
	};

	return ibcc_table_add(t, cell);
}

static int add_target(struct libscols_table *t, const struct ibcc_exp_row *row)
{
	bool low = !isnan(row->low);
	char buf[2][IBCC_CELL_BYTES], target[IBCC_CELL_BYTES + 8] = "";
	const char *cell[] = { row->name, row->unit, target,
			       ibcc_table_number(row->measured, buf[1], IBCC_CELL_BYTES),
			       verdict(row) };

	if (low || !isnan(row->high))
		snprintf(target, sizeof(target), "%s %s", low ? ">=" : "<=",
			 ibcc_table_number(low ? row->low : row->high, buf[0], IBCC_CELL_BYTES));
	return ibcc_table_add(t, cell);
}

static struct libscols_table *new_rows_table(bool targets, FILE *out)
{
	static const struct ibcc_table_column published[] = {
		{ "ROW", false }, { "UNIT", false }, { "PUBLISHED", true }, { "MEASURED", true },
		{ "LOW", true },  { "HIGH", true },  { "OK", false },
	};
	static const struct ibcc_table_column target[] = {
		{ "ROW", false },     { "UNIT", false }, { "TARGET", true },
		{ "MEASURED", true }, { "OK", false },
	};

	return targets ? ibcc_table_new(target, sizeof(target) / sizeof(*target), out)
		       : ibcc_table_new(published, sizeof(published) / sizeof(*published), out);
}

int ibcc_report_rows(const struct ibcc_experiment *x, const struct ibcc_exp_options *o,
		     const struct ibcc_exp_result *r, FILE *out)
{
	struct libscols_table *t = new_rows_table(o->columns, out);
	int rc = t ? 0 : -ENOMEM;

	fprintf(out, "%s\n%s\n\n", x->title, x->source);
	for (size_t i = 0; i < x->n_rows && !rc; i++)
		if (!o->shortened || !x->row[i].only_full)
			rc = o->columns ? add_target(t, &x->row[i]) : add_published(t, &x->row[i]);
	rc = ibcc_table_end(t, rc);
	for (size_t i = 0; i < x->n_rows && !rc; i++)
		if (!x->row[i].ok && (!o->shortened || !x->row[i].only_full))
			fprintf(out, "\nNOT OK: %s%s%s\n", x->row[i].name,
				x->row[i].reason[0] ? ": " : "", x->row[i].reason);
	for (size_t i = 0; i < x->limits.n && !rc; i++)
		fprintf(out, "\nLIMIT: %s\n", x->limits.w[i]);
	if (x->wire[0]) {
		fprintf(out, "\n%zu run%s in real time: %.1f s of CPU time in %.1f s\n", r->n_runs,
			ibcc_text_plural(r->n_runs, "", "s"), r->cpu_s, r->wall_s);
		return rc;
	}
	fprintf(out,
		"\n%.1f million packet hops, %.3g s of simulated time: %.1f s of CPU time in %.1f "
		"s\n",
		(double)r->packet_hops / 1e6, r->simulated_s, r->cpu_s, r->wall_s);
	return rc;
}

static bool have_messages(const struct ibcc_scenario *s)
{
	bool have = false;

	for (uint32_t i = 0; i < s->n_flows; i++)
		have |= s->flow[i].message_bytes > 0;
	return have;
}

static int flows_table(const struct ibcc_exp_run *run, FILE *out)
{
	static const struct ibcc_table_column columns[] = {
		{ "FLOW", false },      { "FROM", false },
		{ "TO", false },        { "OFFERED", true },
		{ "Mb/s", true },       { "IDEAL", true },
		{ "LATENCY us", true }, { "FECN", true },
		{ "BECN", true },       { "CCTI", true },
		{ "MESSAGE us", true }, { "P99", true }, /* only with messages */
	};
	const struct ibcc_measure *m = &run->measure;
	size_t n = sizeof(columns) / sizeof(*columns) - (have_messages(&run->scenario) ? 0 : 2);
	struct libscols_table *t = ibcc_table_new(columns, n, out);
	char buf[9][IBCC_CELL_BYTES];
	int rc = t ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < m->n_flows && i < MAX_LINES && !rc; i++) {
		const struct ibcc_flow_spec *f = &run->scenario.flow[i];
		const struct ibcc_measure_flow *v = &m->flow[i];
		const char *cell[] = {
			f->name,
			f->from,
			f->to,
			ibcc_table_number(v->offered_mbps, buf[0], IBCC_CELL_BYTES),
			ibcc_table_number(v->throughput_mbps, buf[1], IBCC_CELL_BYTES),
			ibcc_table_number(v->ideal_mbps, buf[2], IBCC_CELL_BYTES),
			ibcc_table_number(v->latency_us, buf[3], IBCC_CELL_BYTES),
			buf[4],
			buf[5],
			ibcc_table_number(v->ccti, buf[6], IBCC_CELL_BYTES),
			ibcc_table_number(v->message.mean_us, buf[7], IBCC_CELL_BYTES),
			ibcc_table_number(v->message.p99_us, buf[8], IBCC_CELL_BYTES),
		};

		snprintf(buf[4], IBCC_CELL_BYTES, "%llu", (unsigned long long)v->fecn);
		snprintf(buf[5], IBCC_CELL_BYTES, "%llu", (unsigned long long)v->becn);
		rc = ibcc_table_add(t, cell);
	}
	return ibcc_table_end(t, rc);
}

int ibcc_report_scenario_table(const struct ibcc_exp_run *run, FILE *out)
{
	static const struct ibcc_table_column columns[] = {
		{ "PORT", false },    { "XMIT Mb/s", true },
		{ "RCV Mb/s", true }, { "USED %", true },
		{ "WAIT %", true },   { "CONG %", true },
		{ "MARKED", true },   { "QUEUE", true },
		{ "PAUSED %", true }, /* only with PAUSE */
	};
	bool pauses = run->scenario.model.flow_control == IBCC_FLOW_CONTROL_PAUSE;
	const struct ibcc_measure *m = &run->measure;
	const struct ibcc_topo *topo = run->scenario.topo;
	struct libscols_table *t;
	char name[IBCC_DESC_BYTES + 32], buf[8][IBCC_CELL_BYTES];
	uint32_t lines = 0;
	int rc = flows_table(run, out);

	if (m->n_flows > MAX_LINES)
		fprintf(out, "... and %u more flow%s (-j has all)\n", m->n_flows - MAX_LINES,
			ibcc_text_plural(m->n_flows - MAX_LINES, "", "s"));
	t = ibcc_table_new(columns, sizeof(columns) / sizeof(*columns) - !pauses, out);
	if (!t)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->n_ports && lines < MAX_LINES && !rc; i++) {
		const struct ibcc_measure_port *p = &m->port[i];
		const char *cell[] = {
			name,
			ibcc_table_number(p->xmit_mbps, buf[0], IBCC_CELL_BYTES),
			ibcc_table_number(p->rcv_mbps, buf[1], IBCC_CELL_BYTES),
			ibcc_table_number(100 * p->utilisation, buf[2], IBCC_CELL_BYTES),
			ibcc_table_number(100 * p->wait, buf[3], IBCC_CELL_BYTES),
			ibcc_table_number(100 * p->congested, buf[4], IBCC_CELL_BYTES),
			buf[5],
			ibcc_table_number(p->backlog_bytes, buf[6], IBCC_CELL_BYTES),
			ibcc_table_number(100 * p->paused, buf[7], IBCC_CELL_BYTES),
		};

		if (topo->port[i].peer == IBCC_NONE || (p->xmit_mbps <= 0 && p->rcv_mbps <= 0))
			continue;
		ibcc_topo_port_name(topo, i, name, sizeof(name));
		snprintf(buf[5], IBCC_CELL_BYTES, "%llu", (unsigned long long)p->mark_fecn);
		rc = ibcc_table_add(t, cell);
		lines++;
	}
	if (rc) {
		scols_unref_table(t);
		return rc;
	}
	fputc('\n', out);
	rc = ibcc_table_print(t);
	fprintf(out,
		"\n%.1f %% of the fair allocation delivered; %.1f million packet hops in %.2f s of "
		"CPU time\n",
		100 * ibcc_measure_ideal_share(m), (double)m->totals.packet_hops / 1e6, run->cpu_s);
	return rc;
}
