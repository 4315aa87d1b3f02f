/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The model, in plain words and plain code.
 *
 * Links. In each direction a port at one end sends packets, one after the other, each in bytes * 8
 * / rate, into the buffer at the other. Each virtual lane (VL) has a buffer of its own. The port
 * has credits for what the buffer has free, in blocks of 64 bytes, and sends a packet only if it
 * has them for all of it. They come back credit_delay + link_delay after the packet's last bit has
 * left the buffer.
 *
 * Or links have PAUSE. A port that holds more than its buffer less the headroom of what came in
 * there stops its peer, and lets it go on when it is down to XON. A packet counts from its arrival
 * until it begins to leave. A message takes credit_delay + link_delay, and the one that lets the
 * peer go on starts when the packet's last bit has left. The headroom is large enough that none is
 * lost.
 *
 * Switches cut through. A packet may leave when link_delay + switch_delay have passed since its
 * first bit was sent to the switch, and, where the output is faster than the input, as much later
 * as the output would run dry otherwise. From then on it stands in the output's queue for the input
 * that it came by, or in the only one if outputs serve packets in the order of their arrival.
 * Outputs serve the inputs in turn, a packet each: of those that have any when the
 * packet before has been sent, the next one by number after the one that was served last. An idle
 * output takes what comes first, and so does one that has sent a packet just now, if nothing waits
 * for it. Without credits for the packet whose turn it is, it waits for some. A packet that comes
 * meanwhile from an input before that one takes the turn, and goes at once if it is short enough.
 * What an idle output takes has not waited; all other packets in the queues are its backlog.
 *
 * With several VLs, each output has such queues, a turn and a backlog for each of them. It serves a
 * packet of each VL in turn, passing over those that have none or no credits. A packet for a VL
 * without any comes to an output that is not sending: whether it has to wait is known when the
 * output has chosen. Tables in place of the turns: each entry may send as long as it has weight
 * left. The table of high priority goes first, until it has sent its limit. Then the low one may
 * send a packet. A port that finds nothing to send keeps its place in both tables. Hosts choose by
 * the tables, too, and without them as if there was one VL, passing over packets whose VL has no
 * credits.
 *
 * Hosts have an endless send queue for each flow, whose packets have one size. They take, of the
 * flows that do not rest, the one that was served longest ago, or the one whose packet came first.
 * Backlogged flows have always one packet in their queue, which came when the one before it left.
 * So have closed flows, as long as the window allows the packet's message: until then, it comes
 * when an earlier message is done, of which all packets are acknowledged, or taken if hosts do not
 * acknowledge. Receivers take whole packets out of their buffer in order: at once, or, if slow, one
 * after the other, each in payload * 8 / rate.
 *
 * A flow may be on and off in turn. Of a paced one, gaps pass only while it is on. One that is not
 * paced has its next packet only while it is on: it looks when the packet before has left, and
 * again when its pair has rested or its window has opened.
 *
 * A service level is that of the flow, or, where paths have some, that of the hosts from which and
 * to which a packet goes; an answer has that of its own path. Flows between the same hosts on one
 * service level share a queue pair, the pair: its index or limiter, its rest, and the gap between
 * its CNPs. One that another flow has made rest is found out when it would be its turn among the
 * queues of its service level.
 *
 * A flow to all draws a host for each packet, or for each message of a closed flow: from the
 * numbers of those that links lead to, without its own and one that is left out. Each of its paced
 * packets that is first in the queue stands aside if its pair rests, or if packets of the pair
 * stand aside already. These are a queue by themselves, in the order in which they did so, beside
 * those of flows. A backlogged flow draws a host and, among all of its island, one to begin with.
 * If the pair of the former rests, it goes around from the latter to the first whose pair does not,
 * or, if all do, takes the one that will have rested first. It chooses when its packet comes, and
 * again when it finds a rest, or that one is over. A closed flow waits for its pair, as those to
 * one host do.
 *
 * Links change from a time on: what a port sends goes at another rate, or takes longer to arrive,
 * from its next packet on. When a link goes down, what is on it is lost, and at its ends what waits
 * at a switch for it. What comes to a switch for it later is lost, too; hosts keep their packets.
 * When it comes up, the ports at its ends have credits for what is free in the buffers, and those
 * under way to them are void. A lost packet, or lost answer where hosts acknowledge, is done; a
 * message with a lost packet is not received.
 *
 * Congestion control is InfiniBand's annex A10. An output of a switch is congested from the moment
 * that its backlog exceeds (16 - threshold) / 16 of the reference until it is down at the
 * hysteresis' share of that. A congested output marks packets when they leave (FECN) if it is the
 * root of the congestion: if the packet did not have to wait for credits. Else it is a victim, and
 * marks only if its bit of Victim_Mask is set. Packets that are too small or marked already do not
 * count; of the others, marking_rate on the mean pass before one is marked: each time a number is
 * drawn, from 0 to twice that.
 *
 * For a marked packet the receiver sends the source a notification (CNP, with BECN), becn_delay
 * after it has taken it, and before all data. CNPs travel like packets, but no port marks or
 * throttles them. If hosts acknowledge, the receiver answers every packet in this way; an answer
 * without a BECN goes at once and has no effect at the source. The source's index into the
 * congestion control table (CCTI), of the pair or of all its pairs of the service level, rises by
 * CCTI_Increase, from CCTI_Min at least, to the limit at most. A timer for each host and service
 * level runs while an index is above CCTI_Min: every CCTI_Timer * 1.024 us all those fall by one.
 * After a packet, its pair or service level rests for (time of a packet >> shift) * multiplier, by
 * the index that it had when the packet started.
 *
 * Or congestion control is DCQCN. Each output averages its backlog: in each step the average goes a
 * part, the weight, of the way to the backlog. A packet that leaves is marked by the profile of its
 * service level: never up to min or below a byte, always beyond max, and with a chance that rises
 * to percent in between. Then a number from 0 to 999999 is drawn for it. If only sources of
 * congestion mark, an output that waited for credits does not.
 *
 * A marked packet is answered by a CNP unless one of the pair, or of the host that answers, was
 * sent within the gap. CNPs that are no ACKs may have a service level of their own. The first CNP
 * gives the pair, or all pairs between these hosts, a limiter, with an alpha and a target, at the
 * first rate. From then on alpha becomes (1 - gain) alpha, plus the gain if a CNP came, in each
 * period, and in each of other periods, the first a nanosecond longer, the rate is cut if one came
 * since the last cut: to 1 - alpha * depth. A clamp makes the rate before it the target, also if
 * only rates that grew by time since the cut before are to be clamped. After a cut, the rate grows
 * after each period of time and each number of bytes: to the middle of it and its target. Both are
 * counted from the cut on. When one count has reached `fast`, the target rises, and when both are
 * beyond it, leaps. Less than half a Mb/s from the most, and with no CNP waiting for a cut, the
 * limiter ends. After a packet, all pairs of a limiter rest for the packet's time at its rate.
 *
 * At the same time, things happen in the order of class_of[], then in that of their being set off.
 *
 * This file has links and switches; reference_host.c has the hosts, reference_limiter.c limiters.
 */
#include "reference_parts.h"

#include <string.h>

#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free

static const unsigned char class_of[] = { [GROW] = 1, [HEADER] = 2, [TAIL] = 3, [FREE] = 4 };

void *ref_memory(struct ref *r, size_t n)
{
	return memset(obstack_alloc(&r->memory, n), 0, n);
}

void ref_after(struct ref *r, uint64_t delay, enum what what, unsigned int who, unsigned int blocks,
	       struct packet *p)
{
	struct event **at = &r->event, *e = ref_memory(r, sizeof(*e));

	*e = (struct event){ NULL, r->now + delay, what, who, blocks, p };
	while (*at && ((*at)->at < e->at ||
		       ((*at)->at == e->at && class_of[(*at)->what] <= class_of[e->what])))
		at = &(*at)->next;
	e->next = *at;
	*at = e;
}

static uint32_t blocks(const struct ref *r, const struct packet *p)
{
	return (bytes(r, p) + 63) / 64;
}

static uint32_t buffer_of(const struct ref *r, unsigned int node)
{
	const struct ref_case *c = r->c;

	if (c->buffer[node])
		return c->buffer[node];
	return node < c->n_hosts ? c->host_buffer : c->switch_buffer;
}

/* The receiver at the end of a port's link stops it, or lets it go on. */
static void stop_peer(struct ref *r, unsigned int port, uint64_t delay, bool stop)
{
	r->port[port].stopped = stop;
	ref_after(r, delay + r->c->credit_delay + r->c->link_delay, PAUSE, port, stop, NULL);
}

/* A packet comes into the buffer at the end of a port's link. */
static void hold(struct ref *r, unsigned int port, const struct packet *p)
{
	struct port *o = &r->port[port];

	o->held += bytes(r, p);
	if (!r->c->pause.on)
		return;
	assert(o->held <= buffer_of(r, o->to));
	if (!o->stopped && o->held > buffer_of(r, o->to) - r->c->pause.headroom)
		stop_peer(r, port, 0, true);
}

void ref_give_back(struct ref *r, const struct packet *p, uint64_t leaves_in)
{
	struct port *o;

	if (p->via == NONE)
		return;
	o = &r->port[p->via];
	o->held -= bytes(r, p);
	if (!r->c->pause.on)
		ref_after(r, leaves_in + r->c->credit_delay + r->c->link_delay, CREDIT,
			  p->via * REF_VLS + p->vl, blocks(r, p), NULL);
	else if (o->stopped && o->held <= (uint64_t)buffer_of(r, o->to) * r->c->pause.xon / 1000)
		stop_peer(r, p->via, leaves_in, false);
}

bool ref_may_send(const struct ref *r, const struct port *o, unsigned int vl,
		  const struct packet *p)
{
	return r->c->pause.on ? !o->paused : o->lane[vl].credits >= blocks(r, p);
}

void ref_send(struct ref *r, unsigned int port, unsigned int vl, struct packet *p)
{
	struct port *o = &r->port[port];
	uint64_t t = time_of(bytes(r, p), o->rate), link = r->c->link_delay + o->longer;

	o->busy = true;
	o->until = r->now + t;
	o->lane[vl].starved = false;
	o->lane[vl].credits -= r->c->pause.on ? 0 : blocks(r, p);
	ref_give_back(r, p, t);
	p->via = port;
	p->vl = vl;
	if (o->to < r->c->n_hosts)
		ref_after(r, t + link, TAIL, 2 * o->to, 0, p);
	else
		ref_after(r, link + r->c->switch_delay, HEADER, r->route[o->to][p->to], 0, p);
	ref_after(r, t, FREE, port, 0, NULL);
}

/* The backlog has been the same since the average last moved. */
static void move_average(const struct ref *r, struct lane *l)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;

	for (; d->on && l->stepped + d->step <= r->now; l->stepped += d->step)
		l->average += ((double)l->backlog - l->average) * d->weight;
}

static void set_backlog(const struct ref *r, struct lane *l, uint64_t n)
{
	uint64_t on = (16 - r->c->threshold) * (uint64_t)r->c->mark_reference / 16;

	move_average(r, l);
	l->backlog = n;
	if (r->c->threshold && n > on)
		l->congested = true;
	else if (n <= on * r->c->hysteresis / 1000)
		l->congested = false;
}

static bool waiting(const struct lane *l)
{
	for (unsigned int i = 0; i < QUEUES; i++)
		if (l->queue[i].head)
			return true;
	return false;
}

static unsigned int draw_skip(const struct ref *r, struct lane *l)
{
	return r->c->marking_rate ? r->c->upto(&l->rng, 2 * r->c->marking_rate) : 0;
}

static void mark_by_queue(const struct ref *r, struct lane *l, struct packet *p)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	unsigned int of = d->profile_of[p->sl];
	const struct ref_profile *f = &d->profile[of ? of - 1 : 0];
	double queue, share;

	move_average(r, l);
	queue = f->present ? (double)l->backlog : l->average;
	if (!of || p->cnp || p->fecn || queue <= f->min || queue < 1 ||
	    (d->source_only && l->starved))
		return;
	share = queue > f->max ? 1 : f->percent / 100 * (queue - f->min) / (f->max - f->min);
	p->fecn = share > 0 && r->c->upto(&l->rng, 999999) < share * 1e6;
}

static void mark(const struct ref *r, const struct port *o, struct lane *l, struct packet *p)
{
	if (r->c->dcqcn.on) {
		mark_by_queue(r, l, p);
		return;
	}
	if (!l->congested || (l->starved && !o->victim_mask) || p->cnp || p->fecn ||
	    blocks(r, p) < r->c->packet_size)
		return;
	p->fecn = !l->skip;
	l->skip = l->skip ? l->skip - 1 : draw_skip(r, l);
}

/* Sends the packet of a VL whose turn it is. Returns its bytes; 0: there is none that may go. */
static uint32_t switch_send(struct ref *r, unsigned int port, unsigned int vl)
{
	struct port *o = &r->port[port];
	struct lane *l = &o->lane[vl];
	unsigned int i = (l->last + 1) % QUEUES;
	struct packet *p;

	while (i != l->last && !l->queue[i].head)
		i = (i + 1) % QUEUES;
	if (!l->queue[i].head)
		return 0;
	if (!ref_may_send(r, o, vl, l->queue[i].head)) {
		l->starved = true;
		return 0;
	}
	l->last = i;
	p = take(&l->queue[i]);
	mark(r, o, l, p);
	if (p->waits)
		set_backlog(r, l, l->backlog - bytes(r, p));
	p->waits = false;
	ref_send(r, port, vl, p);
	return bytes(r, p);
}

/* The entry of a table whose turn it is sends a packet, if it can, else the next one that can. */
static uint32_t table_send(struct ref *r, unsigned int port, const struct ref_table *t,
			   struct place *w)
{
	bool host = r->port[port].from < r->c->n_hosts;
	const struct place was = *w;

	for (unsigned int i = 0; t->n && i <= t->n; i++) {
		unsigned int vl = t->entry[w->at].vl;
		uint32_t n = 0;

		if (w->left > 0)
			n = host ? ref_host_send(r, port, 1u << vl) : switch_send(r, port, vl);
		w->left -= (int)((n + 63) / 64);
		if (n)
			return n;
		w->at = (w->at + 1) % t->n;
		w->left = t->entry[w->at].weight;
	}
	*w = was;
	return 0;
}

static int full_limit(const struct ref *r)
{
	return r->c->high_limit ? r->c->high_limit * 4096 : 1;
}

static void tables_send(struct ref *r, unsigned int port)
{
	struct port *o = &r->port[port];
	uint32_t n = o->high_left > 0 ? table_send(r, port, &r->c->high, &o->high) : 0;

	if (n) {
		o->high_left -= r->c->high_limit == 255 ? 0 : (int)n;
		return;
	}
	n = table_send(r, port, &r->c->low, &o->low);
	if (!n && o->high_left <= 0)
		n = table_send(r, port, &r->c->high, &o->high);
	if (n)
		o->high_left = full_limit(r);
}

static bool by_tables(const struct ref *r)
{
	return r->c->high.n || r->c->low.n;
}

/* An output has chosen: what is left of the packets that came just now has to wait. */
static void settle(struct ref *r, struct lane *l)
{
	for (unsigned int i = 0; i < QUEUES && l->fresh; i++)
		for (struct packet *p = l->queue[i].head; p; p = p->next) {
			if (p->waits)
				continue;
			p->waits = true;
			set_backlog(r, l, l->backlog + bytes(r, p));
		}
	l->fresh = false;
}

static void switch_look(struct ref *r, unsigned int port)
{
	struct port *o = &r->port[port];

	if (by_tables(r)) {
		tables_send(r, port);
	} else {
		for (unsigned int i = 0; i < n_vls(r); i++) {
			unsigned int vl = (o->turn + i) % n_vls(r);

			if (!switch_send(r, port, vl))
				continue;
			o->turn = (vl + 1) % n_vls(r);
			break;
		}
	}
	for (unsigned int vl = 0; vl < n_vls(r); vl++)
		settle(r, &o->lane[vl]);
}

static void host_look(struct ref *r, unsigned int port)
{
	if (by_tables(r))
		tables_send(r, port);
	else
		ref_host_send(r, port, (1u << n_vls(r)) - 1);
}

void ref_look(struct ref *r, unsigned int port)
{
	bool host = r->port[port].from < r->c->n_hosts;

	if (!r->port[port].busy && !r->port[port].down)
		(host ? host_look : switch_look)(r, port);
}

/* The VL on which a packet leaves a switch. */
static unsigned int vl_to(const struct ref *r, unsigned int port, const struct packet *p)
{
	return r->c->maps ? r->c->vl[p->via / 2][port / 2][p->sl] : p->sl % n_vls(r);
}

/* A packet comes to a switch's output. */
static void come(struct ref *r, unsigned int port, struct packet *p)
{
	struct port *o = &r->port[port];
	unsigned int input = r->c->fifo ? 0 : p->via;
	bool any = false;
	struct lane *l = &o->lane[vl_to(r, port, p)];

	l->fresh |= !waiting(l) && o->until <= r->now;
	for (unsigned int vl = 0; vl < n_vls(r); vl++)
		any |= waiting(&o->lane[vl]);
	/* An output that has sent just now takes what comes first. With tables, or PAUSE, it
	 * chooses when all have come.
	 */
	if (!any && o->until == r->now && !by_tables(r) && !r->c->pause.on)
		o->busy = false;
	put(&l->queue[input], p);
	if (!l->fresh) {
		p->waits = true;
		set_backlog(r, l, l->backlog + bytes(r, p));
	}
	ref_look(r, port); /* it may have the turn, and be shorter than what waits for credits */
}

/* ---- Changes ---- */

/* All that waits for a switch's port is lost. */
static void flush(struct ref *r, struct port *o)
{
	for (unsigned int vl = 0; vl < n_vls(r); vl++) {
		struct lane *l = &o->lane[vl];

		for (unsigned int i = 0; i < QUEUES; i++)
			while (l->queue[i].head) {
				struct packet *p = take(&l->queue[i]);

				if (p->waits)
					set_backlog(r, l, l->backlog - bytes(r, p));
				ref_give_back(r, p, 0);
				ref_host_lost(r, p);
			}
		l->fresh = false;
	}
}

static void go_down(struct ref *r, unsigned int link)
{
	for (const struct event *e = r->event; e; e = e->next)
		if ((e->what == HEADER || e->what == HELD || e->what == TAIL) &&
		    e->packet->via / 2 == link)
			e->packet->lost = true;
	for (unsigned int i = 2 * link; i <= 2 * link + 1; i++) {
		r->port[i].down = true;
		flush(r, &r->port[i]);
	}
}

/* Of the packets of a queue, those that a port has sent take its credits. */
static void charge(const struct ref *r, unsigned int port, struct port *o, const struct queue *q)
{
	for (const struct packet *p = q->head; p; p = p->next)
		if (p->via == port)
			o->lane[p->vl].credits -= blocks(r, p);
}

/* A port's credits are what is free in the buffer at the other end. */
static void count_credits(struct ref *r, unsigned int port)
{
	struct port *o = &r->port[port];

	for (struct event *e = r->event; e; e = e->next)
		if (e->what == CREDIT && e->who / REF_VLS == port)
			e->blocks = 0;
	for (unsigned int vl = 0; vl < n_vls(r); vl++) {
		o->lane[vl].credits = buffer_of(r, o->to) / 64;
		o->lane[vl].starved = false;
	}
	for (unsigned int i = 0; i < 2 * r->c->n_links; i++) {
		if (r->port[i].from != o->to)
			continue;
		charge(r, port, o, &r->port[i].received);
		for (unsigned int k = 0; k < QUEUES * n_vls(r); k++)
			charge(r, port, o, &r->port[i].lane[k / QUEUES].queue[k % QUEUES]);
	}
}

static void come_up(struct ref *r, unsigned int link)
{
	for (unsigned int i = 2 * link; i <= 2 * link + 1; i++) {
		r->port[i].down = r->port[i].busy = false;
		r->port[i].until = r->now;
		if (!r->c->pause.on)
			count_credits(r, i);
	}
	for (unsigned int i = 2 * link; i <= 2 * link + 1; i++)
		ref_look(r, i);
}

static void change(struct ref *r, const struct ref_change *v)
{
	struct port *o = &r->port[v->port];
	bool down = o->down;

	switch (v->what) {
	case REF_SINK: r->sink[o->from] = (uint32_t)v->value; break;
	case REF_RATE: r->port[v->port ^ 1].rate = (uint32_t)v->value; /* fall through */
	case REF_SEND_RATE: o->rate = (uint32_t)v->value; break;
	case REF_LONGER: o->longer = v->value; break;
	case REF_DOWN:
		if (!down)
			go_down(r, v->port / 2);
		break;
	case REF_UP:
		if (down)
			come_up(r, v->port / 2);
		break;
	}
}

/* Whether a packet has come, and not too late. A packet that an output keeps waiting is in a buffer
 * even if it is lost.
 */
static bool has_come(struct ref *r, const struct packet *p, enum what what)
{
	if (what != HELD && !p->lost)
		hold(r, p->via, p);
	if (!p->lost)
		return true;
	if (what == HELD && r->c->pause.on)
		ref_give_back(r, p, 0);
	ref_host_lost(r, p);
	return false;
}

/* A packet's header, or a packet that was held back, is at a switch. */
static void at_switch(struct ref *r, unsigned int port, struct packet *p, bool held)
{
	uint64_t in_t = time_of(bytes(r, p), r->port[p->via].rate);
	uint64_t out_t = time_of(bytes(r, p), r->port[port].rate);

	if (r->port[port].down) {
		ref_give_back(r, p, 0);
		ref_host_lost(r, p);
	} else if (!held && in_t > out_t) {
		ref_after(r, in_t - out_t, HELD, port, 0, p);
	} else {
		come(r, port, p);
	}
}

static void happen(struct ref *r, const struct event *e)
{
	struct port *o = &r->port[e->who % PORTS]; /* where it is a port */
	unsigned int who = e->who;

	switch (e->what) {
	case ARRIVAL:
	case ALLOWED:
	case RESTED:
	case TIMER:
	case ALPHA:
	case LOOK:
	case GROW:
	case NOTIFY:
	case TAKEN: ref_host_happen(r, e); break;
	case CHANGE: change(r, &r->c->change[who]); break;
	case HEADER:
	case HELD:
		if (has_come(r, e->packet, e->what))
			at_switch(r, who, e->packet, e->what == HELD);
		break;
	case TAIL:
		if (has_come(r, e->packet, e->what))
			ref_host_tail(r, who, e->packet);
		break;
	case FREE:
		o->busy = o->until > r->now;
		ref_look(r, who);
		break;
	case CREDIT:
		r->port[who / REF_VLS].lane[who % REF_VLS].credits += e->blocks;
		ref_look(r, who / REF_VLS);
		break;
	case PAUSE:
		o->paused = e->blocks;
		if (!o->paused)
			ref_look(r, who);
		break;
	}
}

void ref_run(struct ref *r, uint64_t until)
{
	const struct event *e;

	while ((e = r->event) && e->at <= until) {
		r->event = e->next;
		r->now = e->at;
		happen(r, e);
	}
	r->now = until;
}

/* To a host, of all nodes behind one that has a route itself. */
static void find_routes(struct ref *r, unsigned int host, unsigned int node, unsigned int by)
{
	for (unsigned int i = 0; i < 2 * r->c->n_links; i++) {
		if (r->port[i].to != node || i == (by ^ 1))
			continue;
		r->route[r->port[i].from][host] = i;
		find_routes(r, host, r->port[i].from, i);
	}
}

struct ref *ref_new(const struct ref_case *c)
{
	struct ref *r = calloc(1, sizeof(*r));

	assert(r);
	obstack_init(&r->memory);
	r->c = c;
	for (unsigned int i = 0; i < 2 * c->n_links; i++) {
		const struct ref_link *l = &c->link[i / 2];
		struct port *o = &r->port[i];

		o->from = l->end[i % 2];
		o->to = l->end[1 - i % 2];
		o->rate = l->rate;
		o->victim_mask = l->victim_mask[i % 2];
		o->high_left = full_limit(r);
		for (unsigned int vl = 0; vl < n_vls(r); vl++) {
			o->lane[vl].rng = l->mark_seed[i % 2][vl];
			o->lane[vl].skip = draw_skip(r, &o->lane[vl]);
			o->lane[vl].last = QUEUES - 1;
			o->lane[vl].credits = buffer_of(r, o->to) / 64;
		}
	}
	for (unsigned int i = 0; i < REF_NODES * REF_NODES; i++)
		r->route[i / REF_NODES][i % REF_NODES] = NONE;
	for (unsigned int i = 0; i < c->n_hosts; i++) {
		r->sink[i] = c->sink[i];
		find_routes(r, i, i, NONE);
	}
	for (unsigned int i = 0; i < c->n_changes; i++)
		ref_after(r, c->change[i].at, CHANGE, i, 0, NULL);
	for (unsigned int i = 0; i < c->n_flows; i++)
		ref_flow_begin(r, i);
	return r;
}

void ref_free(struct ref *r)
{
	obstack_free(&r->memory, NULL);
	free(r);
}

struct ref_count ref_flow_count(const struct ref *r, unsigned int flow)
{
	struct ref_count n = r->flow[flow].count;

	n.ccti = ref_host_ccti(r, flow);
	return n;
}

uint64_t ref_host_count(const struct ref *r, unsigned int host)
{
	return r->port[2 * host].n_received;
}
