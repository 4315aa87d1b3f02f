/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/predict.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/cycle.h>
#include <ibcc/loads.h>
#include <ibcc/now.h>
#include <ibcc/twin.h>

#include "perftest/bench/watch.h"
#include "perftest/lab/draw.h"
#include "perftest/lab/draw_tree.h"

#define MS IBCC_PS_PER_MS
/* Hotspots begin this much later than drawn, so that there is a time before them. */
#define LATER_MS 6u
#define LOOK_MS  30u
/* The effect of the plan is measured in a window from and to these times after it. */
#define FROM_MS 60u
#define TO_MS   100u
/* On trees a shorter time is as exact, since many hosts send. */
#define TREE_FROM_MS 40u
#define TREE_TO_MS   60u
/* The present is measured over as many intervals before the plan as the predictor uses. */
#define NOW_MS IBCC_RECENT
#define QUEUE  200u
/* Flows in closed loops send messages of 64 KiB, four under way. */
#define MESSAGE_BYTES 65536u
#define WINDOW        4u
#define STEADY        0.10
#define ROOTS         64u

struct watch {
	struct ibcc_predict_case *out;
	struct ibcc_settings wanted;
	bool *waits;                   /* by port */
	uint32_t n_roots, root[ROOTS]; /* roots whose rate is predicted */
	uint32_t n_open;               /* roots with only bounds */
	struct ibcc_predicted_root open[ROOTS];
	uint32_t made; /* pass in which the plan was made, or 0 */
	const struct ibcc_scenario *s;
	enum ibcc_predict_probe probe;
	uint32_t from_ms, to_ms; /* after the plan: where its effect is measured */
};

static void close_loop(struct ibcc_flow_spec *f)
{
	f->arrivals = IBCC_ARRIVALS_CLOSED;
	f->message_bytes = MESSAGE_BYTES;
	f->window = WINDOW;
	f->queue_packets = 0;
	f->load_permille = 0;
	f->rate_mbps = 0;
}

/* Makes a flow to all into one flow to each host, each with its own queue, as queue pairs have it.
 */
static int split(const struct ibcc_scenario *s, const struct ibcc_flow_spec *f,
		 struct ibcc_flow_spec *out, uint32_t *n)
{
	uint32_t first = *n;

	for (uint32_t i = 0; i < s->topo->n_nodes; i++) {
		char to[IBCC_NODE_TEXT_BYTES];

		ibcc_topo_node_text(s->topo, i, to);
		if (ibcc_topo_is_switch(s->topo, i) || !strcmp(to, f->from) ||
		    !strcmp(to, f->not_to))
			continue;
		out[*n] = *f;
		out[*n].not_to[0] = '\0';
		memcpy(out[(*n)++].to, to, sizeof(to));
	}
	for (uint32_t i = first; i < *n; i++)
		out[i].rate_mbps = f->rate_mbps / (*n - first);
	return f->rate_mbps ? 0 : -EINVAL;
}

static bool is_split(const struct ibcc_flow_spec *f, enum ibcc_predict_variant v)
{
	return !strcmp(f->to, "*") && v != IBCC_PREDICT_V3;
}

/* How many flows a variant may have. */
static size_t count_flows(const struct ibcc_scenario *s, enum ibcc_predict_variant v)
{
	size_t hosts = 0, n = 0;

	for (uint32_t i = 0; i < s->topo->n_nodes; i++)
		hosts += !ibcc_topo_is_switch(s->topo, i);
	for (uint32_t i = 0; i < s->n_flows; i++)
		n += is_split(&s->flow[i], v) ? hosts : 1;
	return n;
}

static int vary_flows(struct ibcc_scenario *s, enum ibcc_predict_variant v)
{
	struct ibcc_flow_spec *all = calloc(count_flows(s, v) + 1, sizeof(*all));
	uint32_t n = 0;
	int rc = all ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < s->n_flows && !rc; i++) {
		struct ibcc_flow_spec *f = &s->flow[i];

		f->stop_ps = 0;
		if (f->start_ps)
			f->start_ps += LATER_MS * MS;
		if (!f->queue_packets)
			f->queue_packets = QUEUE;
		if (f->kind == IBCC_FLOW_HOT ? v != IBCC_PREDICT_V1 : v == IBCC_PREDICT_V3)
			close_loop(f);
		if (is_split(f, v))
			rc = split(s, f, all, &n);
		else
			all[n++] = *f;
	}
	if (rc) {
		free(all);
		return rc;
	}
	free(s->flow);
	s->flow = all;
	s->n_flows = n;
	return 0;
}

int ibcc_predict_vary(struct ibcc_scenario *s, enum ibcc_predict_variant v)
{
	for (uint32_t i = 0; i < s->n_events; i++) {
		bool ends = s->event[i].kind == IBCC_EVENT_SINK_RATE && !s->event[i].value;

		s->event[i].at_ps = ends ? UINT64_MAX : s->event[i].at_ps + LATER_MS * MS;
	}
	return vary_flows(s, v);
}

static uint32_t packet_bytes(const struct ibcc_estimate *p)
{
	return p->n_roots ? p->root[0].packet_bytes : 0;
}

static int keep(struct watch *w, const struct ibcc_cycle *c)
{
	w->waits = calloc(c->topo->n_ports + 1u, sizeof(*w->waits));
	if (!w->waits)
		return -ENOMEM;
	return ibcc_settings_copy(&w->wanted, &c->target.wanted);
}

static int run_probe(const struct watch *w, struct ibcc_root *root, uint32_t n, double *weight)
{
	const struct ibcc_scenario *s = w->s;
	uint32_t port[IBCC_ROOTS_MAX];
	int rc = 0;
	struct ibcc_engine *e = ibcc_engine_new(s->topo, &s->model, s->seed, &rc);

	if (!e)
		return rc;
	n = n < IBCC_ROOTS_MAX ? n : IBCC_ROOTS_MAX;
	for (uint32_t i = 0; i < n; i++) {
		port[i] = root[i].port;
		root[i].becns = weight + (size_t)i * s->topo->n_endports;
		root[i].n_marked = 1; /* at least 1: a sender with BECNs is never left out */
	}
	rc = ibcc_engine_load(e, s, NULL);
	if (!rc)
		rc = ibcc_engine_run(e, w->made * MS);
	if (!rc)
		rc = ibcc_predict_probe_run(e, s->topo, w->probe, n, port, weight);
	ibcc_engine_free(e);
	return rc;
}

/* Predicts with the estimate as a probe would make it. */
static int predict_probed(const struct watch *w, struct ibcc_prediction_in *in)
{
	uint32_t n = in->n_roots;
	struct ibcc_root *root = calloc(n + 1u, sizeof(*root));
	double *weight = calloc((size_t)n * in->t->n_endports + 1u, sizeof(*weight));
	int rc = root && weight ? 0 : -ENOMEM;

	if (!rc) {
		memcpy(root, in->root, n * sizeof(*root));
		rc = run_probe(w, root, n, weight);
	}
	in->root = root;
	if (!rc)
		rc = ibcc_predict(in, &w->out->p);
	free(root);
	free(weight);
	return rc;
}

static uint64_t cpu_ns(void *arg)
{
	(void)arg;
	return ibcc_now_cpu_ns();
}

/* Predicts without a limit of CPU time: accuracy is measured, and the time is reported. */
static int predict(struct watch *w, const struct ibcc_cycle *c, const struct ibcc_memory *memory)
{
	struct ibcc_loads now;
	struct ibcc_prediction_in in = {
		.t = c->topo,
		.before = &memory->quiet,
		.now = &now,
		.age_ns = c->snapshot.t_ns - memory->quiet_ns,
		.n_roots = c->estimate.n_roots,
		.root = c->estimate.root,
		.packet_bytes = packet_bytes(&c->estimate),
		.actual = &c->actual,
		.wanted = &c->target.wanted,
		.budget_ns = UINT64_MAX / 2,
		.cpu_ns = cpu_ns,
	};
	double sum = 0, expected = 0;
	int rc = keep(w, c);

	if (!rc)
		rc = ibcc_memory_now(memory, c->topo, &now, &in.moved);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < c->topo->n_ports; i++)
		w->waits[i] = now.wait[i] > IBCC_LOADS_WAIT;
	rc = w->probe ? predict_probed(w, &in) : ibcc_predict(&in, &w->out->p);
	for (uint32_t i = 0; !rc && i < w->out->p.n_roots; i++) {
		sum += w->out->p.root[i].amount.now_mbps;
		expected += w->out->p.root[i].amount.expected_mbps;
		if (w->n_roots < ROOTS)
			w->root[w->n_roots++] = w->out->p.root[i].port;
	}
	w->out->root_known = sum > 0;
	w->out->root_predicted = sum > 0 ? expected / sum : 1;
	for (uint32_t i = 0; !rc && i < w->out->p.n_open && i < ROOTS; i++)
		w->open[w->n_open++] = w->out->p.open[i];
	free(w->out->p.root);
	free(w->out->p.open);
	free(w->out->p.sent_mbps);
	w->out->p.root = NULL;
	w->out->p.open = NULL;
	w->out->p.sent_mbps = NULL;
	ibcc_loads_fini(&now);
	return rc;
}

static int each(void *arg, uint32_t pass, const struct ibcc_cycle *c,
		const struct ibcc_memory *memory)
{
	struct watch *w = arg;

	if (pass < LOOK_MS || w->made || !c->plan.n || !c->estimate.n_roots)
		return 0;
	w->made = pass;
	return predict(w, c, memory);
}

/* Bytes so far: of adapters' ports, of background of sources that wait, of roots together, and of
 * roots with only bounds. The latencies of all background packets, ps, and their number; and what
 * 99 of 100 of those packets did not exceed, of a time only.
 */
struct sums {
	double total, victims, roots, open[ROOTS];
	double latency_ps, pkts, p99_ps;
};

static int add_up(struct ibcc_engine *e, const struct ibcc_scenario *s, const struct watch *w,
		  struct sums *out)
{
	*out = (struct sums){ 0 };
	for (uint32_t i = 0; i < s->topo->n_ports; i++) {
		struct ibcc_engine_port p;
		int rc = ibcc_engine_port_read(e, i, &p);

		if (rc)
			return rc;
		if (!ibcc_topo_is_switch(s->topo, s->topo->port[i].node))
			out->total += (double)p.xmit_bytes;
		for (uint32_t r = 0; r < w->n_roots; r++)
			out->roots += w->root[r] == i ? (double)p.xmit_bytes : 0;
		for (uint32_t r = 0; r < w->n_open; r++)
			out->open[r] += w->open[r].port == i ? (double)p.xmit_bytes : 0;
	}
	for (uint32_t i = 0; i < s->n_flows; i++) {
		struct ibcc_engine_flow f;
		uint32_t node;
		int rc = ibcc_engine_flow_read(e, i, &f);

		if (!rc)
			rc = ibcc_topo_find_node(s->topo, s->flow[i].from, &node);
		if (rc)
			return rc;
		if (s->flow[i].kind != IBCC_FLOW_HOT) {
			out->latency_ps += (double)f.latency_sum_ps;
			out->pkts += (double)f.received_pkts;
		}
		if (s->flow[i].kind != IBCC_FLOW_HOT &&
		    w->waits[s->topo->node[node].first_port + 1])
			out->victims += (double)f.received_bytes;
	}
	return 0;
}

/* The flows that do not go to hotspots, and how many. */
static int read_p99(const struct ibcc_engine *e, const struct ibcc_scenario *s, double *out)
{
	uint32_t *flow = calloc(s->n_flows + 1u, sizeof(*flow)), n = 0;
	uint64_t ps;
	int rc = flow ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < s->n_flows; i++)
		if (s->flow[i].kind != IBCC_FLOW_HOT)
			flow[n++] = i;
	if (!rc)
		rc = ibcc_engine_latency_read(e, IBCC_LATENCY_PACKETS, flow, n, 0.99, &ps);
	if (!rc)
		*out = (double)ps;
	free(flow);
	return rc;
}

static int rate_over(struct ibcc_engine *e, const struct ibcc_scenario *s, const struct watch *w,
		     uint64_t from_ps, uint64_t to_ps, struct sums *out)
{
	struct sums a;
	int rc = ibcc_engine_run(e, from_ps);

	if (!rc)
		rc = add_up(e, s, w, &a);
	if (!rc)
		rc = ibcc_engine_latency_start(e);
	if (!rc)
		rc = ibcc_engine_run(e, to_ps);
	if (!rc)
		rc = add_up(e, s, w, out);
	if (!rc)
		rc = read_p99(e, s, &out->p99_ps);
	if (rc)
		return rc;
	out->latency_ps -= a.latency_ps;
	out->pkts -= a.pkts;
	out->total = (out->total - a.total) / (double)(to_ps - from_ps);
	out->victims = (out->victims - a.victims) / (double)(to_ps - from_ps);
	out->roots = (out->roots - a.roots) / (double)(to_ps - from_ps);
	for (uint32_t r = 0; r < w->n_open; r++)
		out->open[r] = (out->open[r] - a.open[r]) / (double)(to_ps - from_ps);
	return 0;
}

/* Runs before and after a time, with settings from that time on; NULL: without settings. */
static int run_on(const struct ibcc_scenario *s, const struct watch *w,
		  const struct ibcc_settings *settings, struct sums *now, struct sums *then)
{
	uint64_t at = w->made * MS;
	int rc = 0;
	struct ibcc_engine *e = ibcc_engine_new(s->topo, &s->model, s->seed, &rc);

	if (!e)
		return rc;
	rc = ibcc_engine_load(e, s, NULL);
	if (!rc)
		rc = rate_over(e, s, w, at - NOW_MS * MS, at, now);
	if (!rc && settings)
		rc = ibcc_twin_set(e, s->topo, settings);
	if (!rc)
		rc = rate_over(e, s, w, at + w->from_ms * MS, at + w->to_ms * MS, then);
	ibcc_engine_free(e);
	return rc;
}

static double factor(double then, double now)
{
	return now > 0 ? then / now : 1;
}

static double mean_latency(const struct sums *s)
{
	return s->pkts > 0 ? s->latency_ps / s->pkts : NAN;
}

static bool is_within(const struct ibcc_amount *a, double factor)
{
	double then = a->now_mbps * factor;

	return then >= a->low_mbps && then <= a->high_mbps;
}

int ibcc_predict_draw(uint64_t seed, uint32_t hosts, enum ibcc_predict_variant v,
		      enum ibcc_predict_probe probe, struct ibcc_predict_case *out,
		      struct ibcc_yaml_errors *e)
{
	struct ibcc_scenario s;
	struct watch w = { .out = out,
			   .s = &s,
			   .probe = probe,
			   .from_ms = hosts ? TREE_FROM_MS : FROM_MS,
			   .to_ms = hosts ? TREE_TO_MS : TO_MS };
	struct sums now, off, then;
	int rc = hosts ? ibcc_draw_tree_load(seed, hosts, &s, e) : ibcc_draw_load(seed, &s, e);
	bool tried;

	*out = (struct ibcc_predict_case){ .congested = false };
	if (rc)
		return rc;
	rc = ibcc_predict_vary(&s, v);
	if (!rc)
		rc = ibcc_watch_run(&s, LOOK_MS, each, &w);
	out->congested = w.made;
	tried = w.made && (!hosts || out->p.known);
	if (!rc && tried)
		rc = run_on(&s, &w, NULL, &now, &off);
	if (!rc && tried)
		rc = run_on(&s, &w, &w.wanted, &now, &then);
	if (!rc && tried) {
		out->total = factor(then.total, now.total);
		out->off = factor(off.total, now.total);
		out->victims = factor(then.victims, now.victims);
		out->off_victims = factor(off.victims, now.victims);
		out->root = factor(then.roots, now.roots);
		out->latency = mean_latency(&then) / mean_latency(&now);
		out->latency_p99 = now.pkts > 0 && then.pkts > 0 ? then.p99_ps / now.p99_ps : NAN;
		out->n_open = w.n_open;
		for (uint32_t r = 0; r < w.n_open; r++)
			out->open_held +=
				is_within(&w.open[r].amount, factor(then.open[r], now.open[r]));
		out->steady = fabs(out->off - 1) < STEADY;
	}
	ibcc_settings_fini(&w.wanted);
	free(w.waits);
	ibcc_scenario_fini(&s);
	return rc;
}
