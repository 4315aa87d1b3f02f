/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A twin of a live fabric: the packet engine, given the topology, the settings and the traffic
 * that was inferred from counters. ibcc_twin_replay() replays the present, to be compared with
 * the counters; ibcc_twin_try() then goes on under other settings. Both run in slices of 1 ms of
 * virtual time, are shorter where a millisecond has many packets, and stop when the CPU time is
 * over. Begin with set_up().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/link.h>
#include <ibcc/twin.h>

#include "involved.h"

#define MS IBCC_PS_PER_MS
/* A part of a run that is measured, in ms from its start; a run ends with it. */
struct span {
	uint32_t from_ms, to_ms;
};
/* The replay. Queues of sources that get nearly all they demand fill slowly: before 4 ms the total
 * is up to a third too high. Sources that have any amount fill theirs at once.
 */
static const struct span replay = { 6, 12 };
static const struct span short_replay = { 4, 8 };
static const struct span full_replay = { 2, 4 };
/* The run under the plan: its first part always, each next one if hops and CPU time suffice.
 * Settings are followed within a few milliseconds, so longer runs take out chance in the first
 * place.
 */
static const struct span trial[] = { { 4, 6 }, { 6, 9 }, { 14, 20 }, { 40, 60 } };
#define TRIALS (sizeof(trial) / sizeof(*trial))
/* The part that runs under DCQCN have alone; shorter runs are brief. */
#define WHOLE_TRIAL 2u
/* Length of a pair's send queue, as the time in which the pair sends as much. With first come,
 * first served, full queues share a link in proportion to their lengths, which reproduces the
 * present shares; and a queue this short has little to work off under new settings.
 */
#define QUEUE_PS   IBCC_PS_PER_MS
#define MIN_PACKET 256u
/* Rates below are noise of the inference: no packet in the whole run. */
#define LEAST_MBPS 1.0

/* The formula for the waiting time has no limit. Links of traffic without packets are rarely
 * fuller. */
#define MOST_LOAD 0.9

struct reading {
	uint64_t at_ps;
	uint64_t *xmit, *wait_ps; /* by port */
	/* By pair. */
	uint64_t *bytes, *pkts, *latency_ps;
};

struct ibcc_twin {
	struct ibcc_twin_in in;
	struct ibcc_engine *e;
	struct ibcc_model model;
	int64_t *flow; /* by pair: its flow in the engine, or -1 */
	double *fluid; /* by pair: its rate if it has no packets, as nothing blocks it; else 0 */
	struct reading from, to;
	uint64_t asked_ns;   /* CPU time when it was asked last */
	uint64_t slice_hops; /* of the last millisecond */
	bool stopped;
};

/* Gives the engine a switch's settings. Control_Map selects what a Set changes and reads back as
 * the node likes; here all fields are meant.
 */
static int set_switch(struct ibcc_engine *e, uint32_t node, const struct ibcc_endport_cc *ep)
{
	struct ibcc_cc_sw_setting sw = ep->sw;
	int rc;

	sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	rc = ibcc_engine_set_switch_cc(e, node, &sw);

	for (unsigned int p = 1; p < ep->n_element && !rc; p++)
		rc = ibcc_engine_set_switch_port_cc(e, node, p, &ep->element[p]);
	return rc;
}

int ibcc_twin_set(struct ibcc_engine *e, const struct ibcc_topo *t, const struct ibcc_settings *s)
{
	int rc = 0;

	for (uint32_t i = 0; i < s->n && !rc; i++) {
		const struct ibcc_endport_cc *ep = &s->ep[i];
		struct ibcc_cc_ca_setting ca = ep->ca;
		uint32_t port = t->endport[i];

		ca.Control_Map = UINT16_MAX;
		if (ep->support != IBCC_CC_SUPPORTED)
			continue;
		if (ibcc_topo_is_switch(t, t->port[port].node)) {
			rc = set_switch(e, t->port[port].node, ep);
			continue;
		}
		rc = ibcc_engine_set_ca_cc(e, port, &ca);
		if (!rc)
			rc = ibcc_engine_set_cct(e, port, &ep->cct);
	}
	return rc;
}

static int reading_init(struct reading *r, const struct ibcc_twin_in *in)
{
	r->xmit = calloc(in->t->n_ports + 1u, sizeof(*r->xmit));
	r->wait_ps = calloc(in->t->n_ports + 1u, sizeof(*r->wait_ps));
	r->bytes = calloc(in->traffic->n_pairs + 1u, sizeof(*r->bytes));
	r->pkts = calloc(in->traffic->n_pairs + 1u, sizeof(*r->pkts));
	r->latency_ps = calloc(in->traffic->n_pairs + 1u, sizeof(*r->latency_ps));
	return r->xmit && r->wait_ps && r->bytes && r->pkts && r->latency_ps ? 0 : -ENOMEM;
}

static void reading_fini(struct reading *r)
{
	free(r->xmit);
	free(r->wait_ps);
	free(r->bytes);
	free(r->pkts);
	free(r->latency_ps);
}

static void read_all(struct ibcc_twin *w, struct reading *r)
{
	r->at_ps = ibcc_engine_now_ps(w->e);
	for (uint32_t i = 0; i < w->in.t->n_ports; i++) {
		struct ibcc_engine_port p;

		if (ibcc_engine_port_read(w->e, i, &p))
			continue;
		r->xmit[i] = p.xmit_bytes;
		r->wait_ps[i] = p.xmit_wait_ps;
	}
	for (uint32_t i = 0; i < w->in.traffic->n_pairs; i++) {
		struct ibcc_engine_flow f;

		if (w->flow[i] < 0 || ibcc_engine_flow_read(w->e, (uint32_t)w->flow[i], &f))
			continue;
		r->bytes[i] = f.received_bytes;
		r->pkts[i] = f.received_pkts;
		r->latency_ps[i] = f.latency_sum_ps;
	}
}

/* Mean latency of a pair's packets on links that are loaded by mbps[]: the way, a packet's time on
 * the slowest link, and the waiting time of M/D/1 for the fullest one (L. Kleinrock, Queueing
 * Systems, volume 1, 1975, section 5.6). Behind that link packets keep their distance, and hardly
 * wait again.
 */
static double unblocked_us(const struct ibcc_twin *w, const struct ibcc_traffic_pair *p,
			   const double *mbps)
{
	double bits = 8.0 * (w->model.packet_bytes + w->model.header_bytes);
	double way_ps = (double)w->model.link_delay_ps, slowest_us = 0, wait_us = 0;

	for (uint32_t k = 0; k < p->hops; k++) {
		uint32_t port = w->in.traffic->hop[p->first_hop + k];
		double link = w->in.t->port[port].rate_mbps;
		double load = fmin(mbps[port] / link, MOST_LOAD);

		slowest_us = fmax(slowest_us, bits / link);
		if (!k) /* latency begins on the link of the source */
			continue;
		way_ps += (double)(w->model.link_delay_ps + w->model.switch_delay_ps);
		wait_us = fmax(wait_us, bits / link * load / (2 * (1 - load)));
	}
	return way_ps * 1e-6 + slowest_us + wait_us;
}

/* Adds the traffic without packets to a state. */
static void add_fluid(const struct ibcc_twin *w, struct ibcc_twin_state *s)
{
	const struct ibcc_traffic *tr = w->in.traffic;

	for (uint32_t i = 0; i < tr->n_pairs; i++) {
		s->pair_mbps[i] += w->fluid[i];
		for (uint32_t k = 0; k < tr->pair[i].hops; k++)
			s->mbps[tr->hop[tr->pair[i].first_hop + k]] += w->fluid[i];
	}
	for (uint32_t i = 0; i < tr->n_pairs; i++)
		if (w->fluid[i] > 0)
			s->pair_us[i] = unblocked_us(w, &tr->pair[i], s->mbps);
}

/* Rates, waits and latencies between the two readings. */
static int state_of(const struct ibcc_twin *w, struct ibcc_twin_state *s)
{
	const struct ibcc_twin_in *in = &w->in;
	double span = (double)(w->to.at_ps - w->from.at_ps);
	double wire =
		(double)(w->model.packet_bytes + w->model.header_bytes) / w->model.packet_bytes;

	s->mbps = calloc(in->t->n_ports + 1u, sizeof(*s->mbps));
	s->wait = calloc(in->t->n_ports + 1u, sizeof(*s->wait));
	s->pair_mbps = calloc(in->traffic->n_pairs + 1u, sizeof(*s->pair_mbps));
	s->pair_us = calloc(in->traffic->n_pairs + 1u, sizeof(*s->pair_us));
	if (!s->mbps || !s->wait || !s->pair_mbps || !s->pair_us)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->t->n_ports; i++) {
		s->mbps[i] = (double)(w->to.xmit[i] - w->from.xmit[i]) * 8e6 / span;
		s->wait[i] = (double)(w->to.wait_ps[i] - w->from.wait_ps[i]) / span;
	}
	for (uint32_t i = 0; i < in->traffic->n_pairs; i++) {
		uint64_t pkts = w->to.pkts[i] - w->from.pkts[i];

		s->pair_mbps[i] = (double)(w->to.bytes[i] - w->from.bytes[i]) * wire * 8e6 / span;
		if (pkts)
			s->pair_us[i] = (double)(w->to.latency_ps[i] - w->from.latency_ps[i]) /
					(double)pkts * 1e-6;
	}
	add_fluid(w, s);
	return 0;
}

/* A factor of a queue's length, 1 to 4. A queue just as long as its average content is full half of
 * the time. So pairs that get nearly all they demand have longer queues, to lose little.
 */
static double room(const struct ibcc_traffic_pair *p)
{
	double cut = p->demand > 0 ? p->carried / p->demand : 1;

	return 1 + 3 * fmin(fmax((cut - 0.8) / 0.15, 0), 1);
}

static int add_flow(struct ibcc_twin *w, uint32_t i)
{
	const struct ibcc_traffic_pair *p = &w->in.traffic->pair[i];
	uint32_t wire = w->model.packet_bytes + w->model.header_bytes;
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
				    .omit_refused = !w->in.dcqcn };
	double kept = p->carried * (double)QUEUE_PS / 8e6 / wire * room(p);

	if (p->demand < LEAST_MBPS)
		return 0;
	f.rate_mbps = (uint32_t)lround(p->demand);
	f.queue_packets = (uint32_t)fmax(ceil(kept), 2);
	w->flow[i] = ibcc_engine_add_flow(w->e, &f, p->src, p->dst);
	return w->flow[i] < 0 ? (int)w->flow[i] : 0;
}

/* Makes a root's receiver slow, if that is what the root is. A sink's rate is of payload; the
 * port's counter includes headers.
 */
static int slow_down(struct ibcc_twin *w, const struct ibcc_traffic_root *r)
{
	uint32_t peer = w->in.t->port[r->port].peer;
	double payload = (double)r->rate_mbps * w->model.packet_bytes /
			 (w->model.packet_bytes + w->model.header_bytes);

	if (r->kind != IBCC_CONGESTION_OUTPUT || peer == IBCC_NONE ||
	    ibcc_topo_is_switch(w->in.t, w->in.t->port[peer].node))
		return 0;
	return ibcc_engine_set_sink_rate(w->e, peer, (uint32_t)fmax(lround(payload), 1));
}

static void make_model(struct ibcc_twin *w)
{
	uint32_t bytes = w->in.packet_bytes;
	uint8_t vls = 1;

	ibcc_model_defaults(&w->model);
	if (bytes) {
		bytes = bytes < MIN_PACKET ? MIN_PACKET : bytes;
		/* What DCQCN does depends on the size of packets, also of large ones. */
		if (w->in.dcqcn || bytes < w->model.packet_bytes + w->model.header_bytes)
			w->model.packet_bytes = bytes - w->model.header_bytes;
	}
	if (w->in.buffer_bytes)
		w->model.buffer_bytes = w->model.hca_buffer_bytes = w->in.buffer_bytes;
	if (w->in.dcqcn) {
		w->model.dcqcn = *w->in.dcqcn;
		memset(w->model.dcqcn.sl2profile, 0, sizeof(w->model.dcqcn.sl2profile));
	}
	for (uint32_t i = 0; i < w->in.t->n_ports; i++)
		if (w->in.t->port[i].op_vls > vls && w->in.t->port[i].op_vls <= 15)
			vls = w->in.t->port[i].op_vls;
	w->model.vls = vls;
	for (uint32_t i = 0; i < w->in.now->n; i++)
		if (w->in.now->ep[i].info.ControlTableCap > w->model.cct_blocks)
			w->model.cct_blocks = w->in.now->ep[i].info.ControlTableCap;
}

/* Pairs that can be blocked get packets, the others a rate. */
static int add_traffic(struct ibcc_twin *w)
{
	const struct ibcc_twin_in *in = &w->in;
	bool *involved = calloc(in->traffic->n_pairs + 1u, sizeof(*involved));
	int rc = involved ? 0 : -ENOMEM;

	if (!rc && in->wait)
		rc = ibcc_involved_pairs(in->t, in->traffic, in->n_roots, in->root, in->wait,
					 involved);
	for (uint32_t i = 0; i < in->traffic->n_pairs && !rc; i++) {
		w->flow[i] = -1;
		if (!in->wait || involved[i])
			rc = add_flow(w, i);
		else
			w->fluid[i] = in->traffic->pair[i].carried;
	}
	free(involved);
	return rc;
}

static int set_up(struct ibcc_twin *w)
{
	const struct ibcc_twin_in *in = &w->in;
	int rc = 0;

	make_model(w);
	w->e = ibcc_engine_new(in->t, &w->model, 1, &rc);
	if (!w->e)
		return rc;
	w->flow = calloc(in->traffic->n_pairs + 1u, sizeof(*w->flow));
	w->fluid = calloc(in->traffic->n_pairs + 1u, sizeof(*w->fluid));
	rc = w->flow && w->fluid ? reading_init(&w->from, in) : -ENOMEM;
	if (!rc)
		rc = reading_init(&w->to, in);
	if (!rc)
		rc = add_traffic(w);
	for (uint32_t i = 0; i < in->n_roots && !rc; i++)
		rc = slow_down(w, &in->root[i]);
	return rc || in->dcqcn ? rc : ibcc_twin_set(w->e, in->t, in->now);
}

/* Whether another slice as long as the last one would exceed the CPU time. */
static bool is_over(struct ibcc_twin *w)
{
	uint64_t now, last;

	if (!w->in.cpu_ns)
		return false;
	now = w->in.cpu_ns(w->in.arg);
	last = now - w->asked_ns;
	w->asked_ns = now;
	return now > w->in.until_ns || last > w->in.until_ns - now;
}

static uint64_t hops_of(const struct ibcc_twin *w)
{
	struct ibcc_engine_totals t;

	ibcc_engine_totals(w->e, &t);
	return t.packet_hops + t.ack_hops;
}

/* Runs the engine to until_ps in slices of 1 ms, or until the CPU time is over (w->stopped). */
static int go_on(struct ibcc_twin *w, uint64_t until_ps)
{
	int rc = 0;

	while (!rc && !w->stopped && ibcc_engine_now_ps(w->e) < until_ps) {
		uint64_t before = hops_of(w);

		rc = ibcc_engine_run(w->e, ibcc_engine_now_ps(w->e) + MS);
		w->slice_hops = hops_of(w) - before;
		w->stopped = is_over(w);
	}
	return rc;
}

/* Whether a run to until_ps needs `most` hops or fewer, if each slice needs as many as the
 * last one.
 */
static bool fits(const struct ibcc_twin *w, uint64_t until_ps, uint64_t most)
{
	uint64_t slices = (until_ps - ibcc_engine_now_ps(w->e)) / MS;

	return !most || hops_of(w) + slices * w->slice_hops <= most;
}

/* Runs on to the end of a span from `start` and replaces *out by what is measured there; leaves it
 * if the CPU time is over before. A span that is whole counts, even if no slice fits behind it.
 */
static int measure(struct ibcc_twin *w, uint64_t start, const struct span *s, bool brief,
		   struct ibcc_twin_state *out)
{
	const uint64_t from_ps = start + s->from_ms * MS, to_ps = start + s->to_ms * MS;
	int rc = go_on(w, from_ps);

	if (rc || ibcc_engine_now_ps(w->e) < from_ps)
		return rc;
	read_all(w, &w->from);
	rc = go_on(w, to_ps);
	if (rc || ibcc_engine_now_ps(w->e) < to_ps)
		return rc;
	read_all(w, &w->to);
	ibcc_twin_state_fini(out);
	out->ms = s->to_ms;
	out->brief = brief;
	out->hops = hops_of(w);
	return state_of(w, out);
}

/* Gives a state that was measured, or the reason why there is none. */
static int finish(struct ibcc_twin_state *out, int rc)
{
	if (!rc && !out->ms)
		rc = -ECANCELED;
	if (rc)
		ibcc_twin_state_fini(out);
	return rc;
}

int ibcc_twin_replay(struct ibcc_twin *w, struct ibcc_twin_state *out)
{
	const struct span *s = w->in.any_demand ? &full_replay : &short_replay;
	int rc;

	*out = (struct ibcc_twin_state){ 0 };
	w->asked_ns = w->in.cpu_ns ? w->in.cpu_ns(w->in.arg) : 0;
	rc = go_on(w, s->from_ms * MS);
	/* The other half of the hops is for the plan. */
	if (!rc && fits(w, replay.to_ms * MS, w->in.most_hops / 2))
		s = &replay;
	if (!rc)
		rc = measure(w, 0, s, s != &replay, out);
	return finish(out, rc);
}

/* Gives all ports the parameters of DCQCN, of which the present has no profiles. */
static int turn_on(struct ibcc_twin *w)
{
	int rc = 0;

	for (uint32_t i = 0; i < w->in.t->n_ports && !rc; i++)
		rc = ibcc_engine_set_dcqcn(w->e, i, w->in.dcqcn);
	return rc;
}

int ibcc_twin_try(struct ibcc_twin *w, const struct ibcc_settings *then,
		  struct ibcc_twin_state *out)
{
	uint64_t start = ibcc_engine_now_ps(w->e);
	int rc = w->in.dcqcn ? turn_on(w) : ibcc_twin_set(w->e, w->in.t, then);

	*out = (struct ibcc_twin_state){ 0 };
	if (w->in.dcqcn && !rc)
		rc = measure(w, start, &trial[WHOLE_TRIAL], false, out);
	for (uint32_t i = 0; i < TRIALS && !w->in.dcqcn && !w->stopped && !rc; i++)
		if (!i || fits(w, start + trial[i].to_ms * MS, w->in.most_hops))
			rc = measure(w, start, &trial[i], i < WHOLE_TRIAL, out);
	return finish(out, rc);
}

void ibcc_twin_free(struct ibcc_twin *w)
{
	if (!w)
		return;
	reading_fini(&w->from);
	reading_fini(&w->to);
	free(w->flow);
	free(w->fluid);
	ibcc_engine_free(w->e);
	free(w);
}

struct ibcc_twin *ibcc_twin_new(const struct ibcc_twin_in *in, int *err)
{
	struct ibcc_twin *w = calloc(1, sizeof(*w));

	*err = -ENOMEM;
	if (!w)
		return NULL;
	w->in = *in;
	*err = set_up(w);
	if (!*err)
		return w;
	ibcc_twin_free(w);
	return NULL;
}

void ibcc_twin_state_fini(struct ibcc_twin_state *s)
{
	free(s->mbps);
	free(s->wait);
	free(s->pair_mbps);
	free(s->pair_us);
	*s = (struct ibcc_twin_state){ 0 };
}
