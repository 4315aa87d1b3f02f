/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One pass over all port counters, kept so that the next pass can be compared with it. A
 * collector calls ibcc_snapshot_begin(), then records or misses each port, then
 * ibcc_snapshot_end().
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>
#include <ibcc/snapshot.h>

int ibcc_snapshot_init(struct ibcc_snapshot *s, const struct ibcc_topo *t)
{
	struct ibcc_port_sample *port = calloc(t->n_ports ? t->n_ports : 1, sizeof(*port));

	if (!port)
		return -ENOMEM;
	*s = (struct ibcc_snapshot){ .n_ports = t->n_ports, .port = port };
	return 0;
}

void ibcc_snapshot_fini(struct ibcc_snapshot *s)
{
	if (!s)
		return;
	free(s->port);
	free(s->mark);
	*s = (struct ibcc_snapshot){ 0 };
}

static bool has_reading(const struct ibcc_port_sample *p)
{
	return p->state == IBCC_SAMPLE_FIRST || p->state == IBCC_SAMPLE_STALE ||
	       ibcc_sample_is_known(p);
}

void ibcc_snapshot_record(struct ibcc_snapshot *s, uint32_t port, const struct ibcc_counters *c,
			  uint64_t tick_ps)
{
	struct ibcc_port_sample *p;
	struct ibcc_delta d = { 0 };

	if (port >= s->n_ports)
		return;
	p = &s->port[port];
	/* A clock that went back makes the reading a first one. */
	if (has_reading(p) && !ibcc_counters_diff(&p->now, c, &d))
		p->state = IBCC_SAMPLE_FRESH;
	else
		p->state = IBCC_SAMPLE_FIRST;
	p->err = 0;
	p->tick_ps = tick_ps;
	p->now = *c;
	p->read_ns = c->t_ns;
	p->delta = d;
}

void ibcc_snapshot_hold(struct ibcc_snapshot *s, uint32_t port, uint64_t t_ns)
{
	struct ibcc_counters same;
	uint64_t read_ns;

	if (port >= s->n_ports)
		return;
	same = s->port[port].now;
	read_ns = s->port[port].read_ns;
	same.t_ns = t_ns;
	ibcc_snapshot_record(s, port, &same, s->port[port].tick_ps);
	s->port[port].read_ns = read_ns;
}

void ibcc_snapshot_miss(struct ibcc_snapshot *s, uint32_t port, int err)
{
	struct ibcc_port_sample *p;

	if (port >= s->n_ports)
		return;
	p = &s->port[port];
	p->state = has_reading(p) ? IBCC_SAMPLE_STALE : IBCC_SAMPLE_UNREACHABLE;
	p->err = err;
	p->delta = (struct ibcc_delta){ 0 };
}

int ibcc_snapshot_mark(struct ibcc_snapshot *s, const struct ibcc_mark *m)
{
	struct ibcc_mark *mark = ibcc_grow(s->mark, s->n_marks, &s->cap_marks, sizeof(*mark));

	if (!mark)
		return -ENOMEM;
	s->mark = mark;
	s->mark[s->n_marks++] = *m;
	return 0;
}

void ibcc_snapshot_begin(struct ibcc_snapshot *s)
{
	ibcc_snapshot_begin_some(s, NULL);
}

void ibcc_snapshot_begin_some(struct ibcc_snapshot *s, const bool *only)
{
	s->pass++;
	s->n_marks = 0; /* their room is kept */
	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct ibcc_port_sample *p = &s->port[i];

		if (!p->left_out)
			p->kept_ns = 0;
		p->left_out = only && !only[i];
		if (p->left_out) {
			if (p->state == IBCC_SAMPLE_FRESH)
				p->state = IBCC_SAMPLE_KEPT;
			continue;
		}
		p->marked = IBCC_MARKED_UNKNOWN;
		if (!has_reading(p))
			continue;
		p->state = IBCC_SAMPLE_STALE;
		p->err = 0;
		p->delta = (struct ibcc_delta){ 0 };
	}
}

void ibcc_snapshot_end(struct ibcc_snapshot *s, uint64_t t_ns)
{
	s->interval_ns = s->pass > 1 && t_ns > s->t_ns ? t_ns - s->t_ns : 0;
	s->t_ns = t_ns;
	s->n_fresh = s->n_stale = s->n_unreachable = 0;
	for (uint32_t i = 0; i < s->n_ports; i++) {
		if (s->port[i].left_out)
			s->port[i].kept_ns += s->interval_ns;
		switch (s->port[i].state) {
		case IBCC_SAMPLE_NONE:
		case IBCC_SAMPLE_FIRST: break;
		case IBCC_SAMPLE_FRESH:
		case IBCC_SAMPLE_KEPT: s->n_fresh++; break;
		case IBCC_SAMPLE_STALE: s->n_stale++; break;
		case IBCC_SAMPLE_UNREACHABLE: s->n_unreachable++; break;
		}
	}
}

/* Whether a port has the same link in another topology, so that what was found about its trust
 * still holds. */
static bool same_link(const struct ibcc_topo *from, uint32_t a, const struct ibcc_topo *to,
		      uint32_t b)
{
	uint32_t x = from->port[a].peer, y = to->port[b].peer;

	return x != IBCC_NONE && y != IBCC_NONE && from->port[x].num == to->port[y].num &&
	       from->node[from->port[x].node].guid == to->node[to->port[y].node].guid;
}

int ibcc_snapshot_rebase(struct ibcc_snapshot *s, const struct ibcc_topo *from,
			 const struct ibcc_topo *to)
{
	struct ibcc_snapshot moved;

	if (ibcc_snapshot_init(&moved, to))
		return -ENOMEM;
	moved.pass = s->pass;
	moved.t_ns = s->t_ns;
	moved.interval_ns = s->interval_ns;
	for (uint32_t i = 0; i < to->n_nodes; i++) {
		uint32_t old = ibcc_topo_find_guid(from, to->node[i].guid);

		if (old == IBCC_NONE)
			continue;
		for (unsigned int num = 0; num <= to->node[i].n_ports; num++) {
			uint32_t a = ibcc_topo_port_index(from, old, num);
			uint32_t b = to->node[i].first_port + num;

			/* A port that is down is not read and must not count as stale. */
			if (a == IBCC_NONE || a >= s->n_ports || !ibcc_topo_has_link(to, b))
				continue;
			moved.port[b] = s->port[a];
			if (!same_link(from, a, to, b))
				moved.port[b].trust = (struct ibcc_trust){ 0 };
			if (moved.port[b].state == IBCC_SAMPLE_UNREACHABLE)
				moved.port[b] = (struct ibcc_port_sample){ 0 };
		}
	}
	ibcc_snapshot_end(&moved, s->t_ns);
	moved.interval_ns = s->interval_ns;
	ibcc_snapshot_fini(s);
	*s = moved;
	return 0;
}
