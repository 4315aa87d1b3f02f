/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When packets arrive in send queues, and where they go.
 *
 * Each flow has random generators of its own, seeded from the engine's seed and the flow's index,
 * so that flows do not influence one another. A queue without limit needs no memory: the times of
 * arrival are replayed from the generator when its packets are sent (`head` follows `offer`).
 * Begin with ibcc_engine_add_flow() and ibcc_fab_head_ps().
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "dcqcn.h"
#include "endpoint.h"
#include "evq.h"
#include "messages.h"
#include "traffic.h"

/* The first time from t on at which packets may come. */
static uint64_t on_time(const struct flow *f, uint64_t t)
{
	uint64_t phase;

	if (!f->on_off || t <= f->start_ps)
		return t;
	phase = (t - f->start_ps) % (f->on_ps + f->off_ps);
	return phase < f->on_ps ? t : t - phase + f->on_ps + f->off_ps;
}

/* Gaps run only in times that are on, so that the rate in those times is as given. */
uint64_t ibcc_fab_add_on_time(const struct flow *f, uint64_t t, uint64_t gap)
{
	uint64_t left;

	while (gap) {
		t = on_time(f, t);
		left = f->on_ps - (t - f->start_ps) % (f->on_ps + f->off_ps);
		if (gap < left)
			return t + gap;
		t += left;
		gap -= left;
	}
	return on_time(f, t);
}

/* Counts an arrival; a finite queue accepts or refuses it. */
static void arrive(struct flow *f)
{
	f->offered++;
	if (!f->ring_cap)
		return;
	if (f->ring_n + f->n_deferred < f->ring_cap)
		f->ring[(f->ring_at + f->ring_n++) % f->ring_cap] = f->offer.next_ps;
	else
		f->refused++;
}

/* Counts arrivals up to now. A flow that offers hundreds of times what it may send would spend most
 * of the engine's time on arrivals that its queue refuses, so these can be left out: then the next
 * one comes a gap from now.
 */
static void offer(struct ibcc_engine *e, struct flow *f)
{
	while (f->offer.next_ps <= e->now_ps) {
		if (f->omit_refused && f->ring_n + f->n_deferred >= f->ring_cap)
			f->offer.next_ps = e->now_ps;
		else
			arrive(f);
		arrivals_next(e, f, &f->offer);
	}
}

/* Packets offered until now. For a queue without limit, counting catches up with what was sent. */
uint64_t ibcc_fab_offered(struct ibcc_engine *e, struct flow *f)
{
	uint64_t taken = f->sent + f->n_deferred + f->refused;

	if (!ibcc_arrivals_paced(f->kind))
		return f->sent;
	if (!f->ring_cap && f->offered < taken) {
		f->offered = taken;
		f->offer = f->head;
	}
	offer(e, f);
	return f->offered;
}

/* Closed loop: whether another packet belongs to a message that the window allows. */
static bool window_open(const struct flow *f)
{
	return f->sent < (f->done / f->message_pkts + f->window) * f->message_pkts;
}

void ibcc_fab_flow_acked(struct ibcc_engine *e, struct flow *f)
{
	f->done++;
	if (f->window && messages_done(f))
		ibcc_messages_post(f, on_time(f, e->now_ps));
}

void ibcc_fab_flow_done(struct ibcc_engine *e, uint32_t flow)
{
	struct flow *f = &e->flow[flow];

	ibcc_fab_flow_acked(e, f);
	if (f->stalled && window_open(f)) {
		f->stalled = false;
		f->head.next_ps = e->now_ps;
		evq_push(e, e->now_ps, EV_FLOW, flow);
	}
}

/* When the next packet of a source is due that always has one, within its times and its window. */
static uint64_t unpaced_ps(struct ibcc_engine *e, struct flow *f)
{
	uint64_t on;

	if (e->now_ps >= f->stop_ps)
		return NEVER;
	on = on_time(f, e->now_ps);
	if (on > e->now_ps)
		return on;
	f->stalled = f->window && !window_open(f);
	return f->stalled ? NEVER : f->head.next_ps;
}

/* The rarer cases of head_ps(). */
uint64_t ibcc_fab_head_ps(struct ibcc_engine *e, struct flow *f)
{
	uint64_t due_ps;

	if (has_ends(e) && ibcc_ends_head(e, (uint32_t)(f - e->flow), &due_ps))
		return due_ps;
	if (!ibcc_arrivals_paced(f->kind))
		return unpaced_ps(e, f);
	if (!f->ring_cap)
		return f->head.next_ps;
	offer(e, f);
	return f->ring_n ? f->ring[f->ring_at] : f->offer.next_ps;
}

/* Order of destinations: by island, then by port. */
static int by_island(const void *a, const void *b, void *arg)
{
	const struct ibcc_engine *e = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint32_t home = e->island[e->topo->port[x].node], other = e->island[e->topo->port[y].node];

	if (home != other)
		return home < other ? -1 : 1;
	return x < y ? -1 : x > y;
}

int ibcc_fab_sort_dests(struct ibcc_engine *e)
{
	int rc = ibcc_topo_islands(e->topo, e->island);

	if (!rc && e->n_dest)
		qsort_r(e->dest, e->n_dest, sizeof(*e->dest), by_island, e);
	return rc;
}

static uint32_t n_dests(const struct ibcc_engine *e, const struct flow *f)
{
	return f->part ? f->n_dests : e->n_dest;
}

void ibcc_fab_head_take(struct ibcc_engine *e, struct flow *f)
{
	if (!ibcc_arrivals_paced(f->kind)) {
		f->head.next_ps = e->now_ps;
	} else if (f->ring_cap) {
		offer(e, f); /* arrivals until now found the queue as it was */
		f->ring_at = (f->ring_at + 1) % f->ring_cap;
		f->ring_n--;
	} else {
		arrivals_next(e, f, &f->head);
	}
	if (f->uniform && (!f->window || f->sent % f->message_pkts == 0))
		draw_dst(e, f);
}

static uint64_t rest_ps(const struct ibcc_engine *e, const struct flow *f, uint32_t dst)
{
	uint32_t group = group_to(e, f, dst), qp = qp_find(&e->group[group], dst);

	if (qp == NONE && ibcc_dcqcn_shares(e))
		return ibcc_dcqcn_rest_ps(e, group, dst);
	return qp == NONE ? 0 : e->qp[qp].ready_ps;
}

/* For a uniform flow that always has packets for all: a random one whose queue pair is not
 * throttled; if all are, the one that will be first.
 */
uint32_t ibcc_fab_pick_dst(struct ibcc_engine *e, struct flow *f)
{
	uint32_t best = random_dst(e, f), at = ibcc_rng_below(&f->rng, n_dests(e, f));
	uint64_t rest = rest_ps(e, f, best);

	for (uint32_t i = 0; i < n_dests(e, f) && rest > e->now_ps; i++) {
		bool out = at == f->left_out[0] || at == f->left_out[1];
		uint64_t other = out ? rest : rest_ps(e, f, dests(e, f)[at]);

		if (other < rest) {
			best = dests(e, f)[at];
			rest = other;
		}
		at = at + 1 < n_dests(e, f) ? at + 1 : 0;
	}
	return best;
}

/* The first place in the list of destinations that is not before a port of an island. The list is
 * in the order of by_island().
 */
static uint32_t first_dest(const struct ibcc_engine *e, uint32_t island, uint32_t port)
{
	uint32_t from = 0, to = e->n_dest;

	while (from < to) {
		uint32_t mid = from + (to - from) / 2;
		uint32_t at = e->island[e->topo->port[e->dest[mid]].node];

		if (at < island || (at == island && e->dest[mid] < port))
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* The place of a node's first port among a flow's destinations, NONE: it is none of them. */
static uint32_t place_of(const struct ibcc_engine *e, const struct flow *f, uint32_t home,
			 uint32_t node)
{
	uint32_t at = first_dest(e, home, e->topo->node[node].first_port) - f->dests;

	return at < f->n_dests && e->topo->port[dests(e, f)[at]].node == node ? at : NONE;
}

/* Finds the destinations of a flow to all, the hosts of its island, and which of them it leaves
 * out: its source, and `not_to` of its specification. With a flow for each host, this must not look
 * at all hosts.
 */
static int leave_out(const struct ibcc_engine *e, struct flow *f, const char *not_to)
{
	uint32_t home = e->island[e->topo->port[f->src_port].node];
	uint32_t node = IBCC_NONE, at = NONE, self;

	if (*not_to && ibcc_topo_find_node(e->topo, not_to, &node))
		return -EINVAL;
	f->dests = first_dest(e, home, 0);
	f->n_dests = first_dest(e, home + 1, 0) - f->dests;
	f->part = f->n_dests < e->n_dest;
	self = first_dest(e, home, f->src_port) - f->dests;
	if (self >= f->n_dests || dests(e, f)[self] != f->src_port)
		self = NONE;
	if (node != IBCC_NONE)
		at = place_of(e, f, home, node);
	if (*not_to && at == NONE)
		return -EINVAL;
	if (at == self)
		at = NONE;
	f->left_out[0] = at < self ? at : self;
	f->left_out[1] = at < self ? self : at;
	f->n_choices = f->n_dests - (f->left_out[0] != NONE) - (f->left_out[1] != NONE);
	return f->n_choices ? 0 : -EINVAL;
}

/* Creates the groups of a port that its answers to packets of an SL need; < 0: out of memory. */
static int64_t answers_from(struct ibcc_engine *e, uint32_t port, unsigned int sl)
{
	unsigned int cnp_sl = e->model.dcqcn.cnp_sl;
	int64_t rc = ibcc_fab_group_get(e, port, sl);

	if (rc < 0 || e->control != CONTROL_DCQCN || cnp_sl == IBCC_DCQCN_PACKET_SL)
		return rc;
	return ibcc_fab_group_get(e, port, cnp_sl);
}

/* Creates the groups that the answers to a flow to all need. Flows on one SL to the hosts of one
 * island need the same groups, so only the first of these flows looks at the hosts: `answering`, at
 * the place of the island's first host, has a bit for each SL that is done. The group of the
 * source's own port is among them, for the flows of the other sources.
 */
static int all_answer(struct ibcc_engine *e, const struct flow *f)
{
	uint16_t *done = &e->answering[f->dests], bit = (uint16_t)(1u << f->sl);
	int64_t rc = 0;

	if (*done & bit)
		return 0;
	for (uint32_t i = f->dests; i < f->dests + f->n_dests && rc >= 0; i++)
		rc = answers_from(e, e->dest[i], f->sl);
	if (rc < 0)
		return -ENOMEM;
	*done |= bit;
	return 0;
}

/* Creates what a flow needs before it starts: its queue pair, and the groups of the ports that
 * answer, which must not move while packets are under way.
 */
static int prepare(struct ibcc_engine *e, struct flow *f, uint32_t dst_port)
{
	if (f->uniform)
		return leave_out(e, f, e->spec[e->n_flow].not_to) ? -EINVAL : all_answer(e, f);
	if (answers_from(e, dst_port, f->sl) < 0)
		return -ENOMEM;
	f->dst = dst_port;
	f->qp = ibcc_fab_qp_get(e, f->group, dst_port);
	if (f->qp == NONE)
		return -ENOMEM;
	if (ibcc_dcqcn_shares(e))
		e->qp[f->qp].ready_ps = ibcc_dcqcn_rest_ps(e, f->group, dst_port);
	return 0;
}

/* Seeds a flow's generators and finds its first arrival. */
static void start(struct ibcc_engine *e, struct flow *f, const struct ibcc_flow_spec *s)
{
	uint64_t seed = e->seed ^ (uint64_t)e->n_flow << 32;
	uint64_t from = s->start_ps > e->now_ps ? s->start_ps : e->now_ps;

	f->start_ps = from;
	f->offer.rng = ibcc_rng_next(&seed);
	f->rng = ibcc_rng_next(&seed);
	f->offer.next_ps = from;
	if (f->kind == IBCC_ARRIVALS_EXPONENTIAL)
		arrivals_next(e, f, &f->offer);
	else if (from >= f->stop_ps)
		f->offer.next_ps = NEVER;
	f->head = f->offer;
	for (unsigned int i = 0; f->uniform && i < 3; i++)
		draw_dst(e, f);
}

int ibcc_engine_add_flow(struct ibcc_engine *e, const struct ibcc_flow_spec *s, uint32_t src_port,
			 uint32_t dst_port)
{
	bool paced = ibcc_arrivals_paced(s->arrivals);
	struct flow f = { .src_port = src_port,
			  .kind = s->arrivals,
			  .sl = s->sl,
			  .uniform = dst_port == IBCC_NONE,
			  .stop_ps = s->stop_ps ? s->stop_ps : NEVER,
			  .on_ps = s->on_ps,
			  .off_ps = s->off_ps,
			  .on_off = s->off_ps != 0 };
	uint32_t payload;
	int64_t at;
	int rc, kind;

	if (src_port >= e->n_ports || src_port == dst_port || s->sl >= 16 ||
	    port_of(e, src_port)->flags & PORT_SWITCH || e->peer[src_port] == NONE)
		return -EINVAL;
	if (dst_port == IBCC_NONE && e->model.endpoint != IBCC_ENDPOINT_DATAGRAM)
		return -EINVAL;
	if (dst_port != IBCC_NONE &&
	    (*s->not_to || dst_port >= e->n_ports || port_of(e, dst_port)->flags & PORT_SWITCH))
		return -EINVAL;
	if ((paced && !s->load_permille && !s->rate_mbps) ||
	    (s->stop_ps && s->stop_ps <= s->start_ps) || (s->off_ps && !s->on_ps))
		return -EINVAL;
	kind = ibcc_fab_kind_get(e, s->packet_bytes);
	if (kind < 0)
		return kind;
	f.size = (uint8_t)kind & KIND_MASK;
	payload = e->bytes[kind] - e->model.header_bytes;
	if (s->arrivals == IBCC_ARRIVALS_CLOSED) {
		if (!s->message_bytes || !s->window)
			return -EINVAL;
		f.message_pkts = (s->message_bytes - 1) / payload + 1;
		f.window = s->window;
	}
	if (paced && s->rate_mbps)
		f.gap_ps = ibcc_link_packet_ps(e->bytes[kind], s->rate_mbps);
	else if (paced)
		f.gap_ps = e->speed[port_of(e, src_port)->speed].pkt_ps[kind] * 1000 /
			   s->load_permille;
	if (ibcc_fab_grow(&e->flow, &e->cap_flow, e->n_flow + 1, sizeof(*e->flow)) ||
	    ibcc_fab_grow(&e->spec, &e->cap_spec, e->n_flow + 1, sizeof(*e->spec)) ||
	    ibcc_fab_reserve(e, 16, 0))
		return -ENOMEM;
	e->spec[e->n_flow] = *s;
	if (e->path_sl && dst_port != IBCC_NONE)
		f.sl = path_sl(e, src_port, dst_port);
	at = ibcc_fab_group_get(e, src_port, f.sl);
	if (at < 0)
		return -ENOMEM;
	f.group = (uint32_t)at;
	rc = prepare(e, &f, dst_port);
	if (rc)
		return rc;
	if (paced && s->queue_packets) {
		f.ring = malloc(s->queue_packets * sizeof(*f.ring));
		if (!f.ring)
			return -ENOMEM;
		f.ring_cap = s->queue_packets;
		f.omit_refused = s->omit_refused && s->arrivals == IBCC_ARRIVALS_EXPONENTIAL;
	}
	start(e, &f, s);
	if (e->err) {
		free(f.ring);
		return e->err;
	}
	f.direct = e->model.endpoint == IBCC_ENDPOINT_DATAGRAM && !f.ring_cap && !f.window &&
		   (paced || (!f.on_off && !s->stop_ps));
	rc = f.window ? ibcc_fab_quiet_end(e) : 0;
	if (!rc && e->model.endpoint != IBCC_ENDPOINT_DATAGRAM)
		rc = ibcc_ends_add(e, f.offer.next_ps);
	if (!rc && f.window)
		rc = ibcc_messages_new(&f, f.offer.next_ps);
	if (rc) {
		ibcc_messages_free(f.messages);
		free(f.ring);
		return rc;
	}
	e->flow[e->n_flow++] = f;
	/* Not armed here: the flow joins when time runs, in its place among equal times. */
	if (f.offer.next_ps != NEVER)
		evq_push(e, f.offer.next_ps, EV_FLOW, e->n_flow - 1);
	return (int)(e->n_flow - 1);
}

uint32_t ibcc_engine_n_flows(const struct ibcc_engine *e)
{
	return e->n_flow;
}

const struct ibcc_flow_spec *ibcc_engine_flow_spec(const struct ibcc_engine *e, uint32_t flow)
{
	return flow < e->n_flow ? &e->spec[flow] : NULL;
}
