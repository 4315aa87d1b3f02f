/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Builds an engine: from a topology and a model to the arrays of internal.h, and frees it. Begin
 * with build(), at the end. Parts that a model does not use (PAUSE, several paths, connections,
 * several VLs) are left NULL, which the other files test.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/rng.h>

#include "dcqcn.h"
#include "endpoint.h"
#include "eth.h"
#include "evq.h"
#include "messages.h"
#include "paths.h"
#include "reads.h"
#include "vlarb.h"

#define FLOW_SLOTS (FAR_WORDS * VOQ_WORD) /* a power of two */

/* Whether a buffer holds a packet of so many bytes. */
static bool fits(uint32_t buffer, uint64_t bytes)
{
	uint64_t block = IBCC_LINK_CREDIT_BYTES;

	return bytes <= 65536 && buffer >= (bytes + block - 1) / block * block;
}

/* Whether the model's figures fit together: a buffer must hold a whole packet, or no packet could
 * ever be sent.
 */
static bool model_valid(const struct ibcc_model *m)
{
	uint64_t wire = (uint64_t)m->packet_bytes + m->header_bytes;

	return m->packet_bytes && fits(m->buffer_bytes, wire) && fits(m->hca_buffer_bytes, wire) &&
	       m->ack_bytes && m->ack_bytes <= wire && m->buffer_bytes <= INT32_MAX &&
	       m->hca_buffer_bytes <= INT32_MAX && m->mark_hysteresis_permille <= 1000 &&
	       m->vls >= 1 && m->vls <= 15 && m->cct_blocks <= IBCC_CCT_MAX_BLOCKS &&
	       ibcc_eth_model_valid(m) && ibcc_dcqcn_model_valid(m) && ibcc_vlarb_valid(m);
}

/* The VL of an SL where no table says otherwise: the SL modulo the VLs that the link and the
 * model have.
 */
uint8_t ibcc_fab_default_vl(const struct ibcc_engine *e, uint32_t out_port, unsigned int sl)
{
	unsigned int n = e->topo->port[out_port].op_vls;

	return (uint8_t)(sl % (n && n < e->n_vls ? n : e->n_vls));
}

uint8_t ibcc_fab_hca_vl(const struct ibcc_engine *e, const struct hca *h, unsigned int sl)
{
	return h->sl2vl[sl] < e->n_vls ? h->sl2vl[sl] : UINT8_MAX;
}

/* Counts the parts. The arbitration decides how many VOQs an output and VL has. */
static void count_parts(struct ibcc_engine *e)
{
	const struct ibcc_topo *t = e->topo;

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		uint32_t n = t->node[i].n_ports;

		if (ibcc_topo_is_switch(t, i)) {
			e->n_sw++;
			if (n + 1 > e->n_slots)
				e->n_slots = n + 1;
		} else {
			e->n_hca += n;
		}
	}
	switch (e->model.arbitration) {
	case IBCC_ARBITRATION_INPUT: e->slot_by_input = UINT8_MAX; break;
	case IBCC_ARBITRATION_FIFO: e->n_slots = 1; break;
	case IBCC_ARBITRATION_FLOW:
		e->n_slots = FLOW_SLOTS;
		e->slot_by_qp = FLOW_SLOTS - 1;
		break;
	}
	e->n_ports = t->n_ports;
	e->n_outqs = e->n_ports * e->n_vls;
	e->n_voqs = e->n_outqs * e->n_slots;
}

#define CACHE_BYTES (1u << 20) /* of a core, on common processors at least */

static int alloc_parts(struct ibcc_engine *e)
{
	e->port = ibcc_fab_alloc(e->n_outqs, sizeof(*e->port));
	e->peer = calloc(e->n_ports + 1u, sizeof(*e->peer));
	e->owner = calloc(e->n_ports + 1u, sizeof(*e->owner));
	e->rr_vl = calloc(e->n_ports + 1u, sizeof(*e->rr_vl));
	e->arrived = ibcc_fab_alloc(e->n_ports, sizeof(*e->arrived));
	e->place = calloc((size_t)e->n_sw + e->n_hca + 1, sizeof(*e->place));
	e->stat = calloc(e->n_ports + 1u, sizeof(*e->stat));
	e->cong = calloc(e->n_outqs + 1, sizeof(*e->cong));
	if (e->n_vls > 1)
		e->wait = calloc(e->n_outqs + 1, sizeof(*e->wait));
	e->lid = calloc(e->n_ports + 1, sizeof(*e->lid));
	e->voq = calloc(e->n_voqs + 1, sizeof(*e->voq));
	e->sw = calloc(e->n_sw + 1, sizeof(*e->sw));
	e->hca = ibcc_fab_alloc(e->n_hca, sizeof(*e->hca));
	e->hca_cc = calloc(e->n_hca + 1, sizeof(*e->hca_cc));
	e->dest = calloc(e->n_hca + 1, sizeof(*e->dest));
	e->answering = calloc(e->n_hca + 1, sizeof(*e->answering));
	e->island = calloc(e->topo->n_nodes + 1u, sizeof(*e->island));
	e->far_apart =
		e->n_outqs * sizeof(*e->port) + e->n_ports * sizeof(*e->arrived) > CACHE_BYTES;
	if (!e->port || !e->peer || !e->owner || !e->rr_vl || !e->arrived || !e->place ||
	    !e->stat || !e->cong || (e->n_vls > 1 && !e->wait) || !e->lid || !e->voq || !e->sw ||
	    !e->hca || !e->hca_cc || !e->dest || !e->answering || !e->island)
		return -ENOMEM;
	if (e->n_slots > VOQ_WORD) {
		e->far_holds = calloc((size_t)e->n_outqs * FAR_WORDS + 1, sizeof(*e->far_holds));
		if (!e->far_holds)
			return -ENOMEM;
	}
	return 0;
}

/* The index of the speed with a rate and an extra delay, which is created if new; or -ENOMEM. */
static int64_t get_speed(struct ibcc_engine *e, uint32_t rate_mbps, uint64_t extra_ps)
{
	struct speed *s;

	for (uint32_t i = 0; i < e->n_speeds; i++)
		if (e->speed[i].rate_mbps == rate_mbps && e->speed[i].extra_ps == extra_ps)
			return i;
	if (e->n_speeds > UINT16_MAX ||
	    ibcc_fab_grow(&e->speed, &e->cap_speeds, e->n_speeds + 1, sizeof(*e->speed)) ||
	    ibcc_fab_grow(&e->way, &e->cap_ways, (e->n_speeds + 1) * N_WAYS, sizeof(*e->way)))
		return -ENOMEM;
	s = &e->speed[e->n_speeds];
	s->rate_mbps = rate_mbps;
	s->extra_ps = extra_ps;
	e->n_rates += rate_mbps != 0;
	for (unsigned int k = 0; k < e->n_kinds; k++)
		s->pkt_ps[k] = rate_mbps ? ibcc_link_packet_ps(e->bytes[k], rate_mbps) : 0;
	return e->n_speeds++;
}

/* Sets what follows when a packet of a kind is sent at a rate. */
static void set_ways(const struct ibcc_engine *e, struct speed *s, unsigned int kind,
		     const struct way *to_hca, const struct way *to_switch)
{
	struct way *way = &e->way[(s - e->speed) * N_WAYS];

	if (kind >= OTHER) {
		s->other[kind - OTHER][0] = *to_hca;
		s->other[kind - OTHER][1] = *to_switch;
		return;
	}
	for (unsigned int i = 0; i < N_WAYS; i++)
		if (!(i & WAY_CTRL) == (kind == DATA))
			way[i] = i & WAY_TO_SWITCH ? *to_switch : *to_hca;
}

/* Creates the lanes of packets of one kind at one rate. Headers at switches share one lane. */
static int speed_lanes(struct ibcc_engine *e, struct speed *s, unsigned int kind)
{
	uint64_t deliver_ps = s->pkt_ps[kind] + e->link_ps;
	struct way to_hca, to_switch;
	int deliver, free;

	if (!s->rate_mbps)
		return 0;
	deliver = ibcc_fab_lane_new(&e->evq, EV_DELIVER);
	free = ibcc_fab_lane_new(&e->evq, EV_FREE);
	if (deliver < 0 || free < 0)
		return -ENOMEM;
	to_hca = (struct way){ s->pkt_ps[kind],
			       due_at(s->pkt_ps[kind], (uint32_t)free) | TAG_OF_FREE,
			       due_at(deliver_ps, (uint32_t)deliver),
			       &e->evq.lane[free],
			       &e->evq.lane[deliver],
			       EV_DELIVER };
	to_switch = to_hca;
	to_switch.due = due_at(e->hop_ps, LANE_ARRIVE);
	to_switch.lane = &e->evq.lane[LANE_ARRIVE];
	to_switch.event = EV_ARRIVE;
	set_ways(e, s, kind, &to_hca, &to_switch);
	return 0;
}

/* Creates the lane of deliveries at one rate that are only counted (EV_QUIET). */
static int quiet_lane(struct ibcc_engine *e, struct speed *s)
{
	struct way *w = &e->way[(s - e->speed) * N_WAYS];
	int lane = s->rate_mbps && !s->extra_ps && !e->loud ? ibcc_fab_lane_new(&e->evq, EV_QUIET)
							    : LANE_CALENDAR;

	if (lane < 0)
		return -ENOMEM;
	if (lane == LANE_CALENDAR)
		return 0;
	w->due = due_at(s->pkt_ps[DATA] + e->link_ps, (uint32_t)lane);
	w->lane = &e->evq.lane[lane];
	w->event = EV_QUIET;
	return 0;
}

static int build_lanes(struct ibcc_engine *e)
{
	int rc = ibcc_fab_lane_new(&e->evq, EV_ARRIVE);

	if (rc < 0)
		return rc;
	rc = 0;
	/* Data packets are the most frequent: their lanes come first, where evq_first() looks. */
	for (unsigned int k = 0; k < e->n_kinds; k++)
		for (uint32_t i = 0; i < e->n_speeds && !rc; i++)
			rc = speed_lanes(e, &e->speed[i], k);
	for (uint32_t i = 0; i < e->n_speeds && !rc; i++)
		rc = quiet_lane(e, &e->speed[i]);
	return rc;
}

/* On the few links with an extra delay, all that is sent stands in the calendar. */
static void far_ways(struct ibcc_engine *e, struct speed *s, unsigned int kind)
{
	struct lane *calendar = &e->evq.lane[LANE_CALENDAR];
	uint64_t deliver_ps = s->pkt_ps[kind] + e->link_ps + s->extra_ps;
	struct way to_hca = { s->pkt_ps[kind],
			      due_at(s->pkt_ps[kind], LANE_CALENDAR) | TAG_OF_FREE,
			      due_at(deliver_ps, LANE_CALENDAR),
			      calendar,
			      calendar,
			      EV_DELIVER };
	struct way to_switch = to_hca;

	to_switch.due = due_at(e->hop_ps + s->extra_ps, LANE_CALENDAR);
	to_switch.event = EV_ARRIVE;
	set_ways(e, s, kind, &to_hca, &to_switch);
}

int64_t ibcc_fab_speed_get(struct ibcc_engine *e, uint32_t rate_mbps, uint64_t extra_ps)
{
	uint32_t known = e->n_speeds;
	int64_t i = get_speed(e, rate_mbps, extra_ps);
	int rc = 0;

	if (i == known && extra_ps) {
		for (unsigned int k = 0; k < e->n_kinds; k++)
			far_ways(e, &e->speed[i], k);
		return i;
	}

	for (unsigned int k = 0; k < e->n_kinds && i == known && !rc; k++)
		rc = speed_lanes(e, &e->speed[i], k);
	if (i == known && !rc)
		rc = quiet_lane(e, &e->speed[i]);
	if (!rc)
		return i;
	e->n_speeds = known;
	return rc;
}

static uint32_t blocks_of(uint32_t bytes)
{
	return (bytes + IBCC_LINK_CREDIT_BYTES - 1) / IBCC_LINK_CREDIT_BYTES;
}

int ibcc_fab_kind_get(struct ibcc_engine *e, uint32_t packet_bytes)
{
	uint64_t bytes = (uint64_t)packet_bytes + e->model.header_bytes;
	unsigned int kind;
	int rc = 0;

	if (!packet_bytes || bytes == e->bytes[DATA])
		return DATA;
	for (kind = OTHER; kind < e->n_kinds; kind++)
		if (e->bytes[kind] == bytes)
			return (int)kind;
	if (kind == N_KINDS || !fits(e->least_buffer_bytes, bytes))
		return -EINVAL;
	if (!e->other)
		e->other = calloc(e->n_ports + 1u, sizeof(*e->other));
	if (!e->other)
		return -ENOMEM;
	e->bytes[kind] = (uint32_t)bytes;
	e->blocks[kind] = e->eth ? 0 : blocks_of((uint32_t)bytes);
	for (uint32_t i = 0; i < e->n_speeds && !rc; i++) {
		struct speed *s = &e->speed[i];

		s->pkt_ps[kind] =
			s->rate_mbps ? ibcc_link_packet_ps(e->bytes[kind], s->rate_mbps) : 0;
		if (s->extra_ps)
			far_ways(e, s, kind);
		else
			rc = speed_lanes(e, s, kind);
	}
	if (rc)
		return rc;
	e->plain = false;
	e->n_kinds++;
	return (int)kind;
}

/* Both sides of a port. */
static int build_port(struct ibcc_engine *e, uint32_t i)
{
	const struct ibcc_topo_port *tp = &e->topo->port[i];
	struct port *p = port_of(e, i);
	int64_t speed = get_speed(e, tp->peer == IBCC_NONE ? 0 : tp->rate_mbps, 0);

	if (speed < 0)
		return -ENOMEM;
	p->speed = (uint16_t)speed;
	e->peer[i] = tp->peer;
	e->owner[i] = NONE;
	if (tp->peer != IBCC_NONE && tp->rate_mbps) {
		p->flags |= PORT_UP;
		if (ibcc_topo_is_switch(e->topo, e->topo->port[tp->peer].node))
			p->flags |= PORT_TO_SWITCH;
	}
	e->lid[i].first = tp->lid;
	for (uint32_t lid = tp->lid; lid && lid <= IBCC_LID_MAX && e->topo->lid_port[lid] == i;
	     lid++)
		e->lid[i].n++;
	return 0;
}

static int build_switch(struct ibcc_engine *e, uint32_t node, uint32_t at)
{
	const struct ibcc_topo_node *tn = &e->topo->node[node];
	struct fab_switch *s = &e->sw[at];
	uint32_t n_in = tn->n_ports + 1u;

	s->node = node;
	s->buffer_bytes = e->model.buffer_bytes;
	s->first_port = tn->first_port;
	s->n_ports = tn->n_ports;
	e->place[at].first_port = s->first_port;
	s->cc.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	s->elem = calloc(n_in, sizeof(*s->elem));
	/* The engine keeps its own form of the forwarding table; the topology's copy is not needed.
	 */
	if (!s->elem || ibcc_fab_lft_set(e, s, tn->lft, tn->lft_len) ||
	    ibcc_topo_set_lft(e->topo, node, NULL, 0))
		return -ENOMEM;
	if (tn->sl2vl) {
		s->sl2vl = malloc(sizeof(*s->sl2vl) * n_in * n_in);
		if (!s->sl2vl)
			return -ENOMEM;
		memcpy(s->sl2vl, tn->sl2vl, sizeof(*s->sl2vl) * n_in * n_in);
		e->maps = true;
	}
	for (uint32_t i = 0; i < n_in; i++) {
		struct port *p = port_of(e, s->first_port + i);

		p->flags |= PORT_SWITCH;
		e->owner[s->first_port + i] = at;
		ibcc_fab_mark_setup(e, s->first_port + i);
	}
	return 0;
}

/* A port of a channel adapter. Those of hosts are destinations of uniform traffic. */
static void build_hca(struct ibcc_engine *e, uint32_t node, uint32_t port, uint32_t at)
{
	const struct ibcc_topo_node *n = &e->topo->node[node];
	struct hca *h = &e->hca[at];

	h->node = node;
	h->buffer_bytes = e->model.hca_buffer_bytes;
	h->cc = &e->hca_cc[at];
	h->port = port;
	h->rx = NONE;
	if (e->peer[port] != NONE && ibcc_device_is_host(e->topo, node))
		e->dest[e->n_dest++] = port;
	e->owner[port] = at;
	e->place[e->n_sw + at].first_port = port;
	for (unsigned int sl = 0; sl < 16; sl++) {
		h->group[sl] = NONE;
		h->sl2vl[sl] = n->sl2vl ? n->sl2vl[e->topo->port[port].num][sl] : /* input 0 */
				       ibcc_fab_default_vl(e, port, sl);
	}
}

/* Where the packets of the port at the other end of an input port's link arrive (struct port). */
static uint32_t where(const struct ibcc_engine *e, uint32_t in_port)
{
	uint32_t owner = e->owner[in_port];

	if (!(port_of(e, in_port)->flags & PORT_SWITCH))
		return e->n_sw + owner;
	return owner | (e->topo->port[in_port].num & e->slot_by_input) << SLOT_SHIFT;
}

static int build_parts(struct ibcc_engine *e)
{
	uint32_t sw = 0, hca = 0, lids = 1;
	int rc = 0;

	for (uint32_t i = 0; i < e->n_ports && !rc; i++)
		rc = build_port(e, i);
	for (uint32_t i = 0; i < e->n_ports; i++)
		lids = e->lid[i].first + e->lid[i].n > lids ? e->lid[i].first + e->lid[i].n : lids;
	if (!rc)
		rc = ibcc_fab_lids_reserve(e, lids);
	if (!rc)
		rc = build_lanes(e);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < e->n_voqs; i++)
		e->voq[i] = (struct voq){ .head = NONE };
	for (uint32_t i = 0; i < e->topo->n_nodes; i++) {
		const struct ibcc_topo_node *n = &e->topo->node[i];

		if (ibcc_topo_is_switch(e->topo, i)) {
			rc = build_switch(e, i, sw++);
			if (rc)
				return rc;
			continue;
		}
		for (unsigned int k = 1; k <= n->n_ports; k++)
			build_hca(e, i, n->first_port + k, hca++);
	}
	for (uint32_t i = 0; i < e->n_ports; i++) {
		if (e->peer[i] != NONE)
			port_of(e, i)->to = where(e, e->peer[i]);
		ibcc_fab_credits_init(e, i);
		ibcc_eth_buffer_set(e, i);
	}
	return ibcc_fab_sort_dests(e);
}

/* Sources that share a link are due many packets ahead, so the calendar spans 64 hops. */
static int build_queue(struct ibcc_engine *e)
{
	uint64_t span = 0;

	for (uint32_t i = 0; i < e->topo->n_ports; i++) {
		uint32_t rate = e->topo->port[i].rate_mbps;
		uint64_t t = rate ? ibcc_link_packet_ps(e->bytes[DATA], rate) : 0;

		if (t > span)
			span = t;
	}
	return ibcc_fab_evq_init(&e->evq, e->n_ports, 64 * (span + e->hop_ps + e->credit_ps) + 1,
				 e->n_outqs);
}

static void least_buffer(struct ibcc_engine *e, uint32_t bytes)
{
	e->least_buffer_bytes = bytes;
	e->plenty = (int32_t)(bytes / IBCC_LINK_CREDIT_BYTES / 2);
}

int ibcc_engine_set_buffer(struct ibcc_engine *e, uint32_t node, uint32_t bytes)
{
	const struct ibcc_topo_node *n;
	uint32_t owner;

	if (node >= e->topo->n_nodes || e->now_ps || e->n_flow || bytes > INT32_MAX ||
	    !fits(bytes, e->bytes[DATA]) || !ibcc_eth_buffer_valid(&e->model, bytes))
		return -EINVAL;
	n = &e->topo->node[node];
	for (uint32_t i = n->first_port; i <= n->first_port + n->n_ports; i++) {
		owner = e->owner[i];
		if (owner == NONE) /* port 0 of a channel adapter */
			continue;
		if (port_of(e, i)->flags & PORT_SWITCH)
			e->sw[owner].buffer_bytes = bytes;
		else
			e->hca[owner].buffer_bytes = bytes;
		ibcc_fab_credits_init(e, i);
		if (port_of(e, i)->flags & PORT_SWITCH)
			ibcc_fab_mark_setup(e, i);
		ibcc_eth_buffer_set(e, i);
	}
	if (bytes < e->least_buffer_bytes)
		least_buffer(e, bytes);
	return 0;
}

/* The parts in the order in which they need each other. */
static int build(struct ibcc_engine *e, const struct ibcc_topo *t, const struct ibcc_model *m)
{
	int rc;

	e->topo = ibcc_topo_clone(t);
	if (!e->topo)
		return -ENOMEM;
	e->model = *m;
	if (m->endpoint != IBCC_ENDPOINT_DATAGRAM)
		e->model.acks = true;
	if (e->model.acks || m->flow_control == IBCC_FLOW_CONTROL_PAUSE ||
	    m->routing != IBCC_ROUTING_STATIC)
		e->loud = WAY_LOUD;
	e->control = m->dcqcn.enabled ? CONTROL_DCQCN : m->bcn.enabled ? CONTROL_BCN : CONTROL_A10;
	e->n_vls = m->vls;
	e->bytes[DATA] = m->packet_bytes + m->header_bytes;
	e->bytes[CTRL] = m->ack_bytes;
	e->n_kinds = OTHER;
	for (unsigned int k = 0; k < e->n_kinds; k++)
		e->blocks[k] = blocks_of(e->bytes[k]);
	e->hop_ps = m->link_delay_ps + m->switch_delay_ps;
	e->link_ps = m->link_delay_ps;
	e->credit_ps = m->link_delay_ps + m->credit_delay_ps;
	least_buffer(e, m->buffer_bytes);
	if (m->hca_buffer_bytes < m->buffer_bytes)
		least_buffer(e, m->hca_buffer_bytes);
	for (unsigned int i = 0; i <= 256; i++)
		e->exp_table[i] = (uint32_t)lround(log(1 + i / 256.0) * (1 << 24));
	count_parts(e);
	rc = alloc_parts(e);
	if (rc)
		return rc;
	rc = ibcc_eth_build(e);
	if (rc)
		return rc;
	rc = ibcc_dcqcn_build(e);
	if (rc)
		return rc;
	rc = build_queue(e);
	if (rc)
		return rc;
	rc = build_parts(e);
	if (rc)
		return rc;
	rc = ibcc_vlarb_build(e);
	if (rc)
		return rc;
	rc = ibcc_paths_build(e);
	if (rc)
		return rc;
	for (unsigned int i = 0; i < HCA_STEPS; i++)
		e->hca_ahead[i] = e->hca[0].port;
	e->all_qps = e->paths || e->slot_by_qp || e->dcqcn;
	rc = ibcc_reads_build(e);
	if (rc)
		return rc;
	e->stores = m->switching == IBCC_SWITCHING_STORE_AND_FORWARD;
	e->first_sl = UINT8_MAX;
	e->plain = e->n_vls == 1 && !e->eth && !e->vlarb && !e->paths && !e->stores &&
		   !e->reading && !e->dcqcn;
	return ibcc_fab_reserve(e, e->n_hca + 64, e->n_ports + 64);
}

struct ibcc_engine *ibcc_engine_new(const struct ibcc_topo *t, const struct ibcc_model *m,
				    uint64_t seed, int *err)
{
	struct ibcc_engine *e = NULL;
	int rc = -EINVAL;

	if (model_valid(m) && (uint64_t)t->n_ports * m->vls < CELL_INDEX_MASK >> KIND_BITS &&
	    t->n_ports < PLACE_MASK) {
		e = calloc(1, sizeof(*e));
		rc = -ENOMEM;
	}
	if (e) {
		e->seed = ibcc_rng_next(&seed);
		e->free_cell = e->free_pkt = NONE;
		rc = build(e, t, m);
	}
	if (!rc)
		return e;
	if (err)
		*err = rc;
	ibcc_engine_free(e);
	return NULL;
}

void ibcc_engine_free(struct ibcc_engine *e)
{
	if (!e)
		return;
	for (uint32_t i = 0; e->sw && i < e->n_sw; i++) {
		free(e->sw[i].out);
		free(e->sw[i].sl2vl);
		free(e->sw[i].elem);
	}
	for (uint32_t i = 0; i < e->n_group; i++) {
		free(e->group[i].ready);
		free(e->group[i].qp);
	}
	for (uint32_t i = 0; i < e->n_flow; i++) {
		free(e->flow[i].ring);
		free(e->flow[i].latency);
		ibcc_messages_free(e->flow[i].messages);
	}
	ibcc_eth_free(e);
	ibcc_dcqcn_free(e);
	ibcc_ends_free(e);
	ibcc_paths_free(e);
	ibcc_reads_free(e);
	free(e->vlarb);
	ibcc_fab_evq_fini(&e->evq);
	free(e->cell);
	free(e->pkt);
	free(e->port);
	free(e->peer);
	free(e->arrived);
	free(e->owner);
	free(e->rr_vl);
	free(e->place);
	free(e->voq);
	free(e->far_holds);
	free(e->sw);
	free(e->hca);
	free(e->hca_cc);
	free(e->dest);
	free(e->answering);
	free(e->path_sl);
	free(e->island);
	free(e->group);
	free(e->qp);
	free(e->flow);
	free(e->spec);
	free(e->stat);
	free(e->cong);
	free(e->other);
	free(e->wait);
	for (unsigned int sl = 0; sl < 16; sl++)
		free(e->marks[sl]);
	free(e->way);
	free(e->speed);
	free(e->lid);
	free(e->nowhere);
	free(e->scen);
	ibcc_topo_free(e->topo);
	free(e);
}
