/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes of the fabric while it runs: LIDs, forwarding tables, SL to VL tables, links up and
 * down, rates, sinks. The same functions serve a scenario's timed events (ibcc_fab_scenario())
 * and the subnet manager of a simulated fabric.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "paths.h"
#include "tx.h"

int ibcc_engine_set_lid(struct ibcc_engine *e, uint32_t port, uint16_t lid)
{
	if (port >= e->n_ports || lid > IBCC_LID_MAX)
		return -EINVAL;
	if (port_of(e, port)->flags & PORT_SWITCH && e->topo->port[port].num)
		return -EINVAL;
	if (lid >= e->n_lids && ibcc_fab_lids_reserve(e, lid + 1u))
		return -ENOMEM;
	if (e->lid[port].first != lid) {
		e->lid[port].first = lid;
		e->lid[port].n = lid ? 1 : 0;
		if (e->paths)
			ibcc_paths_map(e);
	}
	return 0;
}

int ibcc_engine_set_lft(struct ibcc_engine *e, uint32_t node, const uint8_t *lft, uint32_t len)
{
	struct fab_switch *s;

	if (node >= e->topo->n_nodes || !ibcc_topo_is_switch(e->topo, node) ||
	    len > IBCC_LID_MAX + 1u)
		return -EINVAL;
	s = &e->sw[e->owner[e->topo->node[node].first_port]];
	if (ibcc_fab_lft_set(e, s, lft, len))
		return -ENOMEM;
	ibcc_fab_routes_forget(e);
	return 0;
}

static int switch_sl2vl(struct ibcc_engine *e, struct fab_switch *s, unsigned int in,
			unsigned int out, const uint8_t vl[16])
{
	unsigned int side = s->n_ports + 1u;

	if (!s->sl2vl) {
		s->sl2vl = malloc(sizeof(*s->sl2vl) * side * side);
		if (!s->sl2vl)
			return -ENOMEM;
		for (unsigned int i = 0; i < side * side; i++)
			for (unsigned int sl = 0; sl < 16; sl++)
				s->sl2vl[i][sl] =
					ibcc_fab_default_vl(e, s->first_port + i % side, sl);
	}
	memcpy(s->sl2vl[in * side + out], vl, 16);
	e->maps = true;
	return 0;
}

int ibcc_engine_set_sl2vl(struct ibcc_engine *e, uint32_t node, unsigned int in, unsigned int out,
			  const uint8_t vl[16])
{
	const struct ibcc_topo_node *n;
	struct hca *h;

	if (node >= e->topo->n_nodes)
		return -EINVAL;
	n = &e->topo->node[node];
	if (in > n->n_ports || out > n->n_ports)
		return -EINVAL;
	for (unsigned int sl = 0; sl < 16; sl++)
		if (vl[sl] > 15)
			return -EINVAL;
	if (ibcc_topo_is_switch(e->topo, node))
		return switch_sl2vl(e, &e->sw[e->owner[n->first_port]], in, out, vl);
	if (in || !out)
		return -EINVAL;
	if (ibcc_fab_reserve(e, 64, 0))
		return -ENOMEM;
	h = &e->hca[e->owner[n->first_port + out]];
	memcpy(h->sl2vl, vl, sizeof(h->sl2vl));
	for (unsigned int sl = 0; sl < 16; sl++)
		if (h->group[sl] != NONE)
			ibcc_fab_group_move(e, &e->group[h->group[sl]], ibcc_fab_hca_vl(e, h, sl));
	return 0;
}

/* XmitWait stands still while there is no link: brings it up to now. */
static void wait_stop(struct ibcc_engine *e, uint32_t port)
{
	struct port *p = port_of(e, port);

	if (p->queued)
		p->wait_ps += idle_ps(e, p->busy_ps);
	for (unsigned int vl = 0; e->wait && vl < e->n_vls; vl++) {
		struct outq_wait *w = &e->wait[port * e->n_vls + vl];

		if (w->queued)
			w->wait_ps += idle_ps(e, w->busy_ps);
	}
}

/* One end of a link goes down. A switch loses all that waits for it; an adapter keeps its send
 * queues.
 */
static void link_end_down(struct ibcc_engine *e, uint32_t port)
{
	struct port *p = port_of(e, port);

	wait_stop(e, port);
	p->flags &= (uint8_t)~PORT_UP;
	if (p->flags & PORT_SWITCH)
		ibcc_fab_switch_flush(e, port);
}

/* Looks for the packets on a link, by the ports at its ends. */
struct losing {
	struct pkt *pkt;
	uint32_t end[2];
};

static int lose_packet(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index)
{
	struct losing *l = arg;

	(void)t;
	if ((kind == EV_ARRIVE || kind == EV_DELIVER || kind == EV_QUIET) &&
	    (l->pkt[*index].from == l->end[0] || l->pkt[*index].from == l->end[1]))
		l->pkt[*index].flags |= PKT_LOST;
	return 0;
}

static void link_end_up(struct ibcc_engine *e, uint32_t port)
{
	struct port *p = port_of(e, port);

	p->flags |= PORT_UP;
	p->flags &= (uint8_t)~PORT_SENT;
	p->busy_ps = e->now_ps;
	for (unsigned int vl = 0; e->wait && vl < e->n_vls; vl++)
		e->wait[port * e->n_vls + vl].busy_ps = e->now_ps;
}

/* Packets on a link that goes down are marked as lost and dropped where they would have arrived. */
static int link_set(struct ibcc_engine *e, uint32_t port, bool up)
{
	uint32_t peer = e->peer[port];

	if (up == !!(port_of(e, port)->flags & PORT_UP))
		return 0;
	ibcc_fab_quiet_count(e, e->now_ps);
	/* Each lost packet gives a credit and may wake its sender and its source. */
	if (ibcc_fab_reserve(e, 3 * (port_of(e, port)->queued + port_of(e, peer)->queued) + 16, 16))
		return -ENOMEM;
	if (!up) {
		ibcc_fab_evq_each(e, lose_packet, &(struct losing){ e->pkt, { port, peer } });
		link_end_down(e, port);
		link_end_down(e, peer);
		return 0;
	}
	ibcc_fab_credits_forget(e, port);
	ibcc_fab_credits_forget(e, peer);
	ibcc_fab_credits_init(e, port);
	ibcc_fab_credits_init(e, peer);
	link_end_up(e, port);
	link_end_up(e, peer);
	/* Only HCAs can have something to send: a switch drops what comes for a dead port. */
	for (int i = 0; i < 2; i++, port = peer)
		if (!(port_of(e, port)->flags & PORT_SWITCH))
			ibcc_fab_hca_send(e, port);
	return 0;
}

int ibcc_engine_set_link(struct ibcc_engine *e, uint32_t port, bool up)
{
	if (port >= e->n_ports || e->peer[port] == NONE ||
	    !e->speed[port_of(e, port)->speed].rate_mbps)
		return -EINVAL;
	return link_set(e, port, up);
}

int ibcc_engine_set_send_rate(struct ibcc_engine *e, uint32_t port, uint32_t rate_mbps)
{
	int64_t speed;

	if (port >= e->n_ports || e->peer[port] == NONE || !rate_mbps ||
	    !e->speed[port_of(e, port)->speed].rate_mbps)
		return -EINVAL;
	speed = ibcc_fab_speed_get(e, rate_mbps, e->speed[port_of(e, port)->speed].extra_ps);
	if (speed < 0)
		return -ENOMEM;
	port_of(e, port)->speed = (uint16_t)speed;
	e->topo->port[port].rate_mbps = rate_mbps;
	return 0;
}

int ibcc_engine_set_link_rate(struct ibcc_engine *e, uint32_t port, uint32_t rate_mbps)
{
	int rc = ibcc_engine_set_send_rate(e, port, rate_mbps);

	return rc ? rc : ibcc_engine_set_send_rate(e, e->peer[port], rate_mbps);
}

int ibcc_engine_set_send_delay(struct ibcc_engine *e, uint32_t port, uint64_t extra_ps)
{
	int64_t speed;

	if (port >= e->n_ports || e->peer[port] == NONE || extra_ps > IBCC_LINK_DELAY_MAX_PS ||
	    !e->speed[port_of(e, port)->speed].rate_mbps)
		return -EINVAL;
	speed = ibcc_fab_speed_get(e, e->speed[port_of(e, port)->speed].rate_mbps, extra_ps);
	if (speed < 0)
		return -ENOMEM;
	port_of(e, port)->speed = (uint16_t)speed;
	return 0;
}

int ibcc_engine_set_sink_rate(struct ibcc_engine *e, uint32_t port, uint32_t rate_mbps)
{
	if (port >= e->n_ports || port_of(e, port)->flags & PORT_SWITCH)
		return -EINVAL;
	if (rate_mbps && ibcc_fab_quiet_end(e))
		return -ENOMEM;
	e->hca[e->owner[port]].sink_mbps = rate_mbps;
	return 0;
}

void ibcc_fab_scenario(struct ibcc_engine *e, uint32_t index)
{
	const struct fab_scenario_event *v = &e->scen[index];
	int rc = 0;

	switch (v->kind) {
	case IBCC_EVENT_SINK_RATE: rc = ibcc_engine_set_sink_rate(e, v->port, v->value); break;
	case IBCC_EVENT_LINK_DOWN: rc = ibcc_engine_set_link(e, v->port, false); break;
	case IBCC_EVENT_LINK_UP: rc = ibcc_engine_set_link(e, v->port, true); break;
	case IBCC_EVENT_LINK_RATE: rc = ibcc_engine_set_link_rate(e, v->port, v->value); break;
	case IBCC_EVENT_SEND_RATE: rc = ibcc_engine_set_send_rate(e, v->port, v->value); break;
	case IBCC_EVENT_SEND_DELAY: rc = ibcc_engine_set_send_delay(e, v->port, v->value); break;
	}
	if (rc)
		e->err = rc;
}
