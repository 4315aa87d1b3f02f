/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* PAUSE (IEEE 802.3, annex 31B) between the ports of switches with shared memory and end nodes.
 *
 * A switch has one memory for all ports. What each ingress port has put into it is counted, which
 * keeps it from overflowing: a port that holds more than XOFF stops its peer, and lets it go on
 * when it is down to XON. A packet counts from its arrival until its transmission begins; the
 * message that follows its leaving goes out when its last bit has left. A PAUSE holds until the
 * message that ends it (real ones time out and are repeated). Messages take no time of the link.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "eth.h"
#include "tx.h"

bool ibcc_eth_model_valid(const struct ibcc_model *m)
{
	const struct ibcc_bcn *b = &m->bcn;

	if (b->enabled && m->flow_control != IBCC_FLOW_CONTROL_PAUSE)
		return false;
	if (b->enabled &&
	    (!b->sample_bytes || !b->equilibrium_bytes || !b->ru_mbps ||
	     b->equilibrium_bytes > INT32_MAX || !(b->w >= 0) || !(b->gi >= 0) || !(b->gd >= 0)))
		return false;
	if (m->flow_control != IBCC_FLOW_CONTROL_PAUSE)
		return true;
	/* One VL: PAUSE stops all traffic of a link. XON below XOFF. */
	return m->vls == 1 && ibcc_eth_buffer_valid(m, m->buffer_bytes) &&
	       ibcc_eth_buffer_valid(m, m->hca_buffer_bytes);
}

bool ibcc_eth_buffer_valid(const struct ibcc_model *m, uint32_t bytes)
{
	return m->flow_control != IBCC_FLOW_CONTROL_PAUSE ||
	       (uint64_t)bytes * (1000 - m->pause_xon_permille) >=
		       (uint64_t)m->pause_headroom_bytes * 1000;
}

void ibcc_eth_buffer_set(struct ibcc_engine *e, uint32_t port)
{
	const struct ibcc_model *m = &e->model;
	struct eth_port *x;

	if (!e->eth || e->owner[port] == NONE)
		return;
	x = &e->eth->port[port];
	x->xoff = buffer_bytes(e, port) - m->pause_headroom_bytes;
	x->xon = (uint32_t)((uint64_t)buffer_bytes(e, port) * m->pause_xon_permille / 1000);
}

int ibcc_eth_build(struct ibcc_engine *e)
{
	const struct ibcc_model *m = &e->model;
	struct fab_eth *x;

	if (m->flow_control != IBCC_FLOW_CONTROL_PAUSE)
		return 0;
	x = e->eth = calloc(1, sizeof(*x));
	if (!x)
		return -ENOMEM;
	x->port = calloc(e->n_ports + 1u, sizeof(*x->port));
	x->memory = calloc(e->n_sw + 1u, sizeof(*x->memory));
	if (m->bcn.enabled)
		x->point = calloc(e->n_ports + 1u, sizeof(*x->point));
	if (!x->port || !x->memory || (m->bcn.enabled && !x->point))
		return -ENOMEM;
	memset(e->blocks, 0, sizeof(e->blocks));
	return 0;
}

void ibcc_eth_free(struct ibcc_engine *e)
{
	if (!e->eth)
		return;
	free(e->eth->port);
	free(e->eth->memory);
	free(e->eth->point);
	free(e->eth->limiter);
	free(e->eth->tag);
	free(e->eth);
}

/* Sends a PAUSE message to the port at the other end, at time t. */
static void tell_peer(struct ibcc_engine *e, uint32_t in_port, uint64_t t, bool stop)
{
	struct eth_port *x = &e->eth->port[in_port];

	x->stopped = stop;
	x->pauses += stop;
	evq_push(e, t + e->credit_ps, EV_PAUSE, e->peer[in_port] << 1 | (stop ? PAUSE_STOP : 0));
}

bool ibcc_eth_admit(struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];
	uint32_t in_port = input_of(e, k);
	const struct port *in = port_of(e, in_port);
	struct eth_port *x = &e->eth->port[in_port];
	uint32_t bytes = e->bytes[pkt_kind(k)];
	bool is_switch = in->flags & PORT_SWITCH;

	if (is_switch) {
		uint64_t *used = &e->eth->memory[e->owner[in_port]];

		if (*used + bytes > (uint64_t)e->sw[e->owner[in_port]].n_ports *
					    e->sw[e->owner[in_port]].buffer_bytes)
			return false;
		*used += bytes;
	} else if (x->held + bytes > buffer_bytes(e, in_port)) {
		return false;
	}
	x->held += bytes;
	if (!x->stopped && x->held > x->xoff)
		tell_peer(e, in_port, e->now_ps, true);
	return true;
}

void ibcc_eth_release(struct ibcc_engine *e, uint32_t in_port, uint32_t bytes, uint64_t t)
{
	const struct port *in = port_of(e, in_port);
	struct eth_port *x = &e->eth->port[in_port];
	bool is_switch = in->flags & PORT_SWITCH;

	x->held -= bytes;
	if (is_switch)
		e->eth->memory[e->owner[in_port]] -= bytes;
	if (x->stopped && x->held <= x->xon)
		tell_peer(e, in_port, t, false);
}

/* A message reaches the sender. It finishes the packet that it is sending. */
void ibcc_eth_pause(struct ibcc_engine *e, uint32_t index)
{
	uint32_t port = index >> 1;
	struct eth_port *x = &e->eth->port[port];
	struct port *q = port_outq(e, port, 0);

	x->paused = index & PAUSE_STOP;
	if (x->paused) {
		q->credits = -1;
		x->paused_since_ps = e->now_ps;
		return;
	}
	q->credits = 0;
	x->paused_ps += e->now_ps - x->paused_since_ps;
	if (q->flags & OUTQ_WANT) {
		ibcc_fab_credits_met(q);
		port_look(e, port);
	}
}

void ibcc_eth_port_read(const struct ibcc_engine *e, uint32_t port, struct ibcc_engine_port *out)
{
	const struct eth_port *x = &e->eth->port[port];

	out->pause_ps = x->paused_ps + (x->paused ? e->now_ps - x->paused_since_ps : 0);
	out->pauses_sent = x->pauses;
	out->held_bytes = x->held;
	if (!e->eth->point)
		return;
	out->bcn_negative = e->eth->point[port].negative;
	out->bcn_positive = e->eth->point[port].positive;
}
