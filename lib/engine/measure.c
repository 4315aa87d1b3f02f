/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs a scenario and measures it: rates, latencies, waits and marks over the measuring window,
 * and samples in between.
 *
 * The engine only counts from its start. So readings of all counters are taken at the beginning
 * and the end of the window and at each sample, and all results are differences of readings.
 * Begin with ibcc_measure_run_driven() and run(). A driver (a tuner, a network of agents) may let
 * the time pass in place of ibcc_engine_run().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/ideal.h>
#include <ibcc/measure.h>

/* Above this many flows no latencies are counted: a histogram takes 3 KB. */
#define MAX_HISTOGRAMS 10000u

/* How often in a run deadlocks are looked for. They last, so more would only end the run sooner. */
#define LOOKS 16u

#define US_PER_PS 1e-6

struct reading {
	uint64_t at_ps;
	struct ibcc_engine_flow *flow;
	struct ibcc_engine_conn *conn; /* by flow */
	struct ibcc_engine_port *port;
};

struct run {
	const struct ibcc_scenario *s;
	struct ibcc_engine *e;
	const struct ibcc_measure_driver *driver;
	uint64_t sample_ps;
	struct reading start, last, now; /* of the window; of the last sample */
	uint64_t look_ps;                /* when to look for deadlocks again */
	uint32_t n_in_window;            /* samples */
	struct ibcc_measure m;
};

static int reading_alloc(struct reading *r, uint32_t n_flows, uint32_t n_ports)
{
	r->flow = calloc(n_flows + 1u, sizeof(*r->flow));
	r->conn = calloc(n_flows + 1u, sizeof(*r->conn));
	r->port = calloc(n_ports + 1u, sizeof(*r->port));
	return r->flow && r->conn && r->port ? 0 : -ENOMEM;
}

static void reading_free(struct reading *r)
{
	free(r->flow);
	free(r->conn);
	free(r->port);
}

/* Reads all counters of all flows and ports. */
static int reading_take(struct run *r, struct reading *to)
{
	uint32_t i;
	int rc = 0;

	to->at_ps = ibcc_engine_now_ps(r->e);
	for (i = 0; i < r->m.n_flows && !rc; i++)
		rc = ibcc_engine_flow_read(r->e, i, &to->flow[i]);
	for (i = 0; i < r->m.n_flows && !rc; i++)
		rc = ibcc_engine_conn_read(r->e, i, &to->conn[i]);
	for (i = 0; i < r->m.n_ports && !rc; i++)
		rc = ibcc_engine_port_read(r->e, i, &to->port[i]);
	return rc;
}

static double mbps(uint64_t bytes, uint64_t span_ps)
{
	return span_ps ? (double)bytes * 8e6 / (double)span_ps : 0;
}

/* The share of time that a link is busy. It counts whole packets, as PortXmitData leaves out the
 * VCRC that a link carries, too.
 */
static double utilisation(const struct run *r, uint32_t port, const struct ibcc_engine_port *a,
			  const struct ibcc_engine_port *b, uint64_t span_ps)
{
	uint64_t bytes = b->xmit_bytes - a->xmit_bytes +
			 (b->xmit_pkts - a->xmit_pkts) * IBCC_LINK_VCRC_BYTES;
	uint32_t rate_mbps = r->s->topo->port[port].rate_mbps;

	return rate_mbps ? mbps(bytes, span_ps) / rate_mbps : 0;
}

static double mean_latency_us(const struct ibcc_engine_flow *a, const struct ibcc_engine_flow *b)
{
	uint64_t n = b->received_pkts - a->received_pkts;

	return n ? (double)(b->latency_sum_ps - a->latency_sum_ps) / (double)n * US_PER_PS : NAN;
}

static void sample_flow(const struct reading *a, const struct reading *b, uint32_t i,
			struct ibcc_measure_flow_sample *out)
{
	const struct ibcc_engine_flow *x = &a->flow[i], *y = &b->flow[i];

	*out = (struct ibcc_measure_flow_sample){
		.throughput_mbps =
			(float)mbps(y->received_bytes - x->received_bytes, b->at_ps - a->at_ps),
		.latency_us = (float)mean_latency_us(x, y),
		.fecn = (uint32_t)(y->fecn - x->fecn),
		.becn = (uint32_t)(y->becn - x->becn),
		.ccti = y->ccti,
	};
}

static void sample_port(const struct run *r, const struct reading *a, const struct reading *b,
			uint32_t i, struct ibcc_measure_port_sample *out)
{
	const struct ibcc_engine_port *x = &a->port[i], *y = &b->port[i];
	uint64_t span = b->at_ps - a->at_ps;

	*out = (struct ibcc_measure_port_sample){
		.xmit_mbps = (float)mbps(y->xmit_bytes - x->xmit_bytes, span),
		.rcv_mbps = (float)mbps(y->rcv_payload_bytes - x->rcv_payload_bytes, span),
		.utilisation = (float)utilisation(r, i, x, y, span),
		.wait = (float)((double)(y->xmit_wait_ps - x->xmit_wait_ps) / (double)span),
		.mark_fecn = (uint32_t)(y->mark_fecn - x->mark_fecn),
		.backlog_bytes = (uint32_t)y->backlog_bytes,
	};
}

static int take_sample(struct run *r)
{
	struct ibcc_measure *m = &r->m;
	struct reading swap;
	uint32_t k = m->n_samples, i;
	int rc = reading_take(r, &r->now);

	if (rc)
		return rc;
	m->sample_ps[k] = r->now.at_ps;
	for (i = 0; i < m->n_flows; i++)
		sample_flow(&r->last, &r->now, i, &m->flow_sample[(size_t)k * m->n_flows + i]);
	for (i = 0; i < m->n_ports; i++)
		sample_port(r, &r->last, &r->now, i, &m->port_sample[(size_t)k * m->n_ports + i]);
	m->n_samples++;
	if (r->now.at_ps > m->from_ps) {
		r->n_in_window++;
		for (i = 0; i < m->n_flows; i++)
			m->flow[i].ccti += r->now.flow[i].ccti;
		for (i = 0; i < m->n_ports; i++)
			m->port[i].backlog_bytes += (double)r->now.port[i].backlog_bytes;
	}
	swap = r->last;
	r->last = r->now;
	r->now = swap;
	return 0;
}

static int start_window(struct run *r)
{
	int rc = 0;

	if (r->m.n_flows <= MAX_HISTOGRAMS)
		rc = ibcc_engine_latency_start(r->e);
	return rc ? rc : reading_take(r, &r->start);
}

/* Lets time pass to until_ps, by the driver if there is one. A driver may stop later than that. */
static int let_pass(struct run *r, uint64_t until_ps)
{
	if (r->driver)
		return r->driver->run(r->driver->arg, until_ps);
	return ibcc_engine_run(r->e, until_ps);
}

static uint64_t look_each(const struct ibcc_scenario *s)
{
	return s->duration_ps / LOOKS ? s->duration_ps / LOOKS : 1;
}

/* Lets time pass to until_ps, and looks for deadlocks in between. */
static int advance(struct run *r, uint64_t until_ps)
{
	uint64_t now = ibcc_engine_now_ps(r->e);
	int rc = 0;

	while (!rc && now < until_ps) {
		rc = let_pass(r, r->look_ps < until_ps ? r->look_ps : until_ps);
		now = ibcc_engine_now_ps(r->e);
		if (rc || now < r->look_ps)
			continue;
		rc = ibcc_engine_deadlock(r->e, r->m.deadlock, sizeof(r->m.deadlock));
		while (r->look_ps <= now)
			r->look_ps += look_each(r->s);
	}
	return rc;
}

/* Stops at the window's beginning, at each sample, and at the end. */
static int run(struct run *r)
{
	struct ibcc_measure *m = &r->m;
	uint64_t now = 0, next, sample = r->sample_ps ? r->sample_ps : UINT64_MAX;
	bool started = !m->from_ps;
	int rc = started ? start_window(r) : 0;

	while (!rc && now < m->to_ps) {
		next = sample < m->to_ps ? sample : m->to_ps;
		if (now < m->from_ps && m->from_ps < next)
			next = m->from_ps;
		rc = advance(r, next);
		now = ibcc_engine_now_ps(r->e);
		if (!rc && now >= m->from_ps && !started) {
			rc = start_window(r);
			m->from_ps = now;
			started = true;
		}
		if (!rc && now >= sample) {
			rc = take_sample(r);
			sample = next + r->sample_ps;
		}
	}
	m->to_ps = now;
	return rc ? rc : reading_take(r, &r->now);
}

static double percentile_us(const struct run *r, enum ibcc_latency of, const uint32_t *flow,
			    uint32_t n, double share)
{
	uint64_t ps = 0;

	ibcc_engine_latency_read(r->e, of, flow, n, share, &ps);
	return ps ? (double)ps * US_PER_PS : NAN;
}

/* Of `n` packets or messages of some flows, whose latencies have a sum. */
static struct ibcc_measure_latency latency_of(const struct run *r, enum ibcc_latency of,
					      const uint32_t *flow, uint32_t n_flows, double sum_us,
					      uint64_t n)
{
	if (!n)
		return (struct ibcc_measure_latency){ NAN, NAN, NAN };
	return (struct ibcc_measure_latency){
		.mean_us = sum_us / (double)n,
		.p50_us = percentile_us(r, of, flow, n_flows, 0.5),
		.p99_us = percentile_us(r, of, flow, n_flows, 0.99),
	};
}

static void sum_conn(const struct ibcc_engine_conn *a, const struct ibcc_engine_conn *b,
		     struct ibcc_engine_conn *out)
{
	*out = (struct ibcc_engine_conn){ .resent = b->resent - a->resent,
					  .out_of_order = b->out_of_order - a->out_of_order,
					  .duplicates = b->duplicates - a->duplicates,
					  .naks = b->naks - a->naks,
					  .timeouts = b->timeouts - a->timeouts,
					  .depth_max = b->depth_max };
	for (unsigned int i = 0; i < IBCC_DEPTH_BINS; i++)
		out->depth[i] = b->depth[i] - a->depth[i];
}

static void sum_flows(struct run *r)
{
	uint64_t span = r->m.to_ps - r->m.from_ps;
	uint32_t i;

	for (i = 0; i < r->m.n_flows; i++) {
		const struct ibcc_engine_flow *a = &r->start.flow[i], *b = &r->now.flow[i];
		struct ibcc_measure_flow *f = &r->m.flow[i];
		uint64_t ps = b->message_latency_sum_ps - a->message_latency_sum_ps;

		f->offered_mbps = mbps((b->offered_pkts - a->offered_pkts) *
					       ibcc_flow_packet_bytes(&r->s->model, &r->s->flow[i]),
				       span);
		f->throughput_mbps = mbps(b->received_bytes - a->received_bytes, span);
		f->latency_us = mean_latency_us(a, b);
		f->p50_us = percentile_us(r, IBCC_LATENCY_PACKETS, &i, 1, 0.5);
		f->p99_us = percentile_us(r, IBCC_LATENCY_PACKETS, &i, 1, 0.99);
		f->p999_us = percentile_us(r, IBCC_LATENCY_PACKETS, &i, 1, 0.999);
		f->received_messages = b->received_messages - a->received_messages;
		f->message = latency_of(r, IBCC_LATENCY_MESSAGES, &i, 1, (double)ps * US_PER_PS,
					f->received_messages);
		f->received_pkts = b->received_pkts - a->received_pkts;
		f->refused_pkts = b->refused_pkts - a->refused_pkts;
		f->dropped_pkts = b->dropped_pkts - a->dropped_pkts;
		f->fecn = b->fecn - a->fecn;
		f->becn = b->becn - a->becn;
		f->reordered_pkts = b->reordered_pkts - a->reordered_pkts;
		sum_conn(&r->start.conn[i], &r->now.conn[i], &f->conn);
		f->sent_pkts = b->sent_pkts - a->sent_pkts + f->conn.resent;
		f->ccti = r->n_in_window ? f->ccti / r->n_in_window : b->ccti;
	}
}

/* Latencies of the packets, and of the messages, of all flows of a kind together. */
static int sum_kinds(struct run *r)
{
	uint32_t *flow = calloc(r->m.n_flows + 1u, sizeof(*flow));

	for (int kind = 0; kind < IBCC_FLOW_KINDS && flow; kind++) {
		uint64_t pkts = 0, messages = 0;
		uint32_t n = 0;
		double sum = 0, message_sum = 0;

		for (uint32_t i = 0; i < r->m.n_flows; i++) {
			const struct ibcc_measure_flow *f = &r->m.flow[i];

			if ((int)r->s->flow[i].kind != kind || !f->received_pkts)
				continue;
			flow[n++] = i;
			sum += f->latency_us * (double)f->received_pkts;
			pkts += f->received_pkts;
			if (!f->received_messages)
				continue;
			message_sum += f->message.mean_us * (double)f->received_messages;
			messages += f->received_messages;
		}
		r->m.latency[kind] = latency_of(r, IBCC_LATENCY_PACKETS, flow, n, sum, pkts);
		r->m.message[kind] =
			latency_of(r, IBCC_LATENCY_MESSAGES, flow, n, message_sum, messages);
	}
	free(flow);
	return flow ? 0 : -ENOMEM;
}

static void sum_ports(struct run *r)
{
	uint64_t span = r->m.to_ps - r->m.from_ps;
	uint32_t i;

	for (i = 0; i < r->m.n_ports; i++) {
		const struct ibcc_engine_port *a = &r->start.port[i], *b = &r->now.port[i];
		const struct ibcc_topo_port *tp = &r->s->topo->port[i];
		struct ibcc_measure_port *p = &r->m.port[i];

		p->xmit_mbps = mbps(b->xmit_bytes - a->xmit_bytes, span);
		p->rcv_mbps = mbps(b->rcv_bytes - a->rcv_bytes, span);
		p->utilisation = utilisation(r, i, a, b, span);
		p->wait = (double)(b->xmit_wait_ps - a->xmit_wait_ps) / (double)span;
		p->congested = (double)(b->xmit_time_cong_ps - a->xmit_time_cong_ps) / (double)span;
		p->paused = (double)(b->pause_ps - a->pause_ps) / (double)span;
		p->pauses_sent = b->pauses_sent - a->pauses_sent;
		p->bcn_negative = b->bcn_negative - a->bcn_negative;
		p->bcn_positive = b->bcn_positive - a->bcn_positive;
		p->mark_fecn = b->mark_fecn - a->mark_fecn;
		p->rcv_fecn = b->rcv_fecn - a->rcv_fecn;
		p->rcv_becn = b->rcv_becn - a->rcv_becn;
		p->dropped = b->dropped - a->dropped;
		p->backlog_bytes = r->n_in_window ? p->backlog_bytes / r->n_in_window
						  : (double)b->backlog_bytes;
		if (!ibcc_topo_is_switch(r->s->topo, tp->node))
			r->m.node[tp->node].throughput_mbps +=
				mbps(b->rcv_payload_bytes - a->rcv_payload_bytes, span);
	}
}

/* Sums the flows' offered rates by destination node. Flows to all choose destinations evenly. */
static int sum_offers(struct run *r)
{
	const struct ibcc_topo *t = r->s->topo;
	/* By island: the rate offered to each of its hosts by flows to all; the number of hosts. */
	double *to_all = calloc(t->n_nodes + 1u, sizeof(*to_all));
	double *less = calloc(t->n_nodes + 1u, sizeof(*less)); /* the part not for this node */
	uint32_t *hosts = calloc(t->n_nodes + 1u, sizeof(*hosts));
	uint32_t *island = calloc(t->n_nodes + 1u, sizeof(*island));
	uint32_t i, node, out, n;
	int rc = to_all && less && hosts && island ? ibcc_topo_islands(t, island) : -ENOMEM;

	if (rc)
		goto out;
	for (i = 0; i < t->n_nodes; i++)
		hosts[island[i]] += ibcc_device_is_host(t, i);
	for (i = 0; i < r->m.n_flows; i++) {
		const struct ibcc_flow_spec *f = &r->s->flow[i];
		double each = r->m.flow[i].offered_mbps;

		if (strcmp(f->to, "*")) {
			if (!ibcc_topo_find_node(t, f->to, &node))
				r->m.node[node].offered_mbps += each;
			continue;
		}
		if (ibcc_topo_find_node(t, f->from, &node))
			continue;
		out = node;
		if (*f->not_to && ibcc_topo_find_node(t, f->not_to, &out))
			out = node;
		n = hosts[island[node]];
		if (n > 1u + (out != node))
			each /= n - 1 - (out != node);
		to_all[island[node]] += each;
		less[node] += each;
		if (out != node)
			less[out] += each;
	}
	for (i = 0; i < t->n_nodes; i++)
		if (ibcc_device_is_host(t, i))
			r->m.node[i].offered_mbps += to_all[island[i]] - less[i];
out:
	free(to_all);
	free(less);
	free(hosts);
	free(island);
	return rc;
}

/* Adds the ideal rates; NAN where the scenario is too large for them (-E2BIG). */
static int add_ideal(struct run *r)
{
	struct ibcc_ideal ideal;
	uint32_t i;
	int rc = ibcc_ideal_compute(r->s, r->m.from_ps, r->m.to_ps, &ideal);

	if (rc && rc != -E2BIG)
		return rc;
	for (i = 0; i < r->m.n_flows; i++)
		r->m.flow[i].ideal_mbps = rc ? NAN : ideal.flow_mbps[i];
	for (i = 0; i < r->m.n_nodes; i++) {
		r->m.node[i].ideal_mbps = rc ? NAN : ideal.node_mbps[i];
		r->m.node[i].capacity_mbps = rc ? NAN : ideal.capacity_mbps[i];
	}
	if (!rc)
		ibcc_ideal_fini(&ideal);
	return 0;
}

static int set_up(struct run *r)
{
	struct ibcc_measure *m = &r->m;
	size_t samples = r->sample_ps ? (size_t)(m->to_ps / r->sample_ps) : 0;

	if (reading_alloc(&r->start, m->n_flows, m->n_ports) ||
	    reading_alloc(&r->last, m->n_flows, m->n_ports) ||
	    reading_alloc(&r->now, m->n_flows, m->n_ports))
		return -ENOMEM;
	m->flow = calloc(m->n_flows + 1u, sizeof(*m->flow));
	m->port = calloc(m->n_ports + 1u, sizeof(*m->port));
	m->node = calloc(m->n_nodes + 1u, sizeof(*m->node));
	m->sample_ps = calloc(samples + 1, sizeof(*m->sample_ps));
	m->flow_sample = calloc(samples * m->n_flows + 1, sizeof(*m->flow_sample));
	m->port_sample = calloc(samples * m->n_ports + 1, sizeof(*m->port_sample));
	if (!m->flow || !m->port || !m->node || !m->sample_ps || !m->flow_sample || !m->port_sample)
		return -ENOMEM;
	return reading_take(r, &r->last);
}

int ibcc_measure_run(const struct ibcc_scenario *s, uint64_t sample_ps, struct ibcc_measure *out,
		     const char **bad)
{
	return ibcc_measure_run_driven(s, sample_ps, NULL, out, bad);
}

int ibcc_measure_run_driven(const struct ibcc_scenario *s, uint64_t sample_ps,
			    const struct ibcc_measure_driver *driver, struct ibcc_measure *out,
			    const char **bad)
{
	struct run r = { .s = s, .driver = driver, .sample_ps = sample_ps };
	int rc = 0;

	if (bad)
		*bad = NULL;
	if (s->duration_ps <= s->measure_from_ps)
		return -EINVAL;
	r.e = ibcc_engine_new(s->topo, &s->model, s->seed, &rc);
	if (!r.e)
		return rc;
	r.m = (struct ibcc_measure){ .from_ps = s->measure_from_ps,
				     .to_ps = s->duration_ps,
				     .n_flows = s->n_flows,
				     .n_ports = s->topo->n_ports,
				     .n_nodes = s->topo->n_nodes };
	r.look_ps = look_each(s);
	rc = ibcc_engine_load(r.e, s, bad);
	if (!rc)
		rc = set_up(&r);
	if (!rc && driver)
		rc = driver->start(driver->arg, r.e);
	if (!rc)
		rc = run(&r);
	if (!rc) {
		sum_flows(&r);
		sum_ports(&r);
		ibcc_engine_totals(r.e, &r.m.totals);
		rc = sum_kinds(&r);
	}
	if (!rc)
		rc = sum_offers(&r);
	if (!rc)
		rc = add_ideal(&r);
	if (rc == -EDEADLK) {
		*out = (struct ibcc_measure){ 0 };
		memcpy(out->deadlock, r.m.deadlock, sizeof(out->deadlock));
	}
	if (rc)
		ibcc_measure_fini(&r.m);
	else
		*out = r.m;
	reading_free(&r.start);
	reading_free(&r.last);
	reading_free(&r.now);
	ibcc_engine_free(r.e);
	return rc;
}

void ibcc_measure_fini(struct ibcc_measure *m)
{
	if (!m)
		return;
	free(m->flow);
	free(m->port);
	free(m->node);
	free(m->sample_ps);
	free(m->flow_sample);
	free(m->port_sample);
	*m = (struct ibcc_measure){ 0 };
}

double ibcc_measure_kind_mbps(const struct ibcc_scenario *s, const struct ibcc_measure *m,
			      enum ibcc_flow_kind kind)
{
	double sum = 0;

	for (uint32_t i = 0; i < m->n_flows; i++)
		if (s->flow[i].kind == kind)
			sum += m->flow[i].throughput_mbps;
	return sum;
}

double ibcc_measure_ideal_share(const struct ibcc_measure *m)
{
	double got = 0, ideal = 0;

	for (uint32_t i = 0; i < m->n_flows; i++) {
		got += fmin(m->flow[i].throughput_mbps, m->flow[i].ideal_mbps);
		ideal += m->flow[i].ideal_mbps;
	}
	return ideal > 0 ? got / ideal : NAN;
}
