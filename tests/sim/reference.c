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
 * congestion control table (CCTI), of the flow or of all its flows of the service level, rises by
 * CCTI_Increase, from CCTI_Min at least, to the limit at most. A timer for each host and service
 * level runs while an index is above CCTI_Min: every CCTI_Timer * 1.024 us all those fall by one.
 * After a packet, its flow or service level rests for (time of a packet >> shift) * multiplier, by
 * the index that it had when the packet started.
 *
 * Or congestion control is DCQCN. Each output averages its backlog: in each step the average goes a
 * part, the weight, of the way to the backlog. A packet that leaves is marked by the profile of its
 * service level: never up to min or below a byte, always beyond max, and with a chance that rises
 * to percent in between. Then a number from 0 to 999999 is drawn for it. If only sources of
 * congestion mark, an output that waited for credits does not.
 *
 * A marked packet is answered by a CNP unless the flow, or the host that answers, sent one within
 * the gap. The first CNP gives the flow a limiter, with an alpha and a target, at the first rate.
 * From then on alpha becomes (1 - gain) alpha, plus the gain if a CNP came, in each period, and in
 * each of other periods, the first a nanosecond longer, the rate is cut if one came since the last
 * cut: to 1 - alpha * depth. A clamp makes the rate before it the target, also if only rates that
 * grew by time since the cut before are to be clamped. After a cut, the rate grows after each
 * period of time and each number of bytes: to the middle of it and its target. Both are counted
 * from the cut on. When one count has reached `fast`, the target rises, and when both are beyond
 * it, leaps. Less than half a Mb/s from the most, and with no CNP waiting for a cut, the limiter
 * ends. After a packet, all flows of a limiter rest for the packet's time at its rate.
 *
 * At the same time, things happen in the order of class_of[], then in that of their being set off.
 *
 * This file has more than 700 lines on purpose. It is one model, and whoever compares it with the
 * engine reads it from its beginning to its end.
 */
#include <assert.h>
#include <obstack.h>
#include <stdlib.h>

#include "reference.h"

#define obstack_chunk_alloc malloc
#define obstack_chunk_free  free

#define PORTS  (2 * REF_LINKS)
#define QUEUES (PORTS > REF_FLOWS ? PORTS : REF_FLOWS)
#define NONE   UINT32_MAX

struct packet {
	struct packet *next; /* behind it in its queue */
	unsigned int flow, to;
	bool cnp, becn, fecn, waits; /* the last: for a switch's output */
	uint64_t came, sent;         /* into the send queue, its first bit on the link */
	uint64_t allowed;            /* of the last packet of a message: when the window did */
	unsigned int via;            /* port that sent it into the buffer that it is in, or NONE */
	unsigned int vl;             /* of that buffer */
};

struct queue {
	struct packet *head, *tail;
	uint64_t served; /* of a flow: when it was last, in packets of its host */
};

/* A VL of a port. */
struct lane {
	uint32_t credits;
	struct queue queue[QUEUES]; /* at a switch by input, as `via`; at a host by flow */
	/* Of a switch: the queue that was served last, packets to pass before one is marked. */
	unsigned int last, skip;
	uint64_t backlog, rng;
	bool congested, starved;
	bool fresh; /* packets came that may not have to wait */
	double average;
	uint64_t stepped; /* when the average last moved */
	struct queue cnp; /* of a host */
};

/* Where a port is in a table. */
struct place {
	unsigned int at;
	int left; /* weight of the entry there */
};

/* One direction of a link, from a node to a node. */
struct port {
	unsigned int from, to;
	uint32_t rate;
	bool busy;
	uint64_t until; /* when the packet that it sends, or sent last, ends */
	struct lane lane[REF_VLS];
	unsigned int turn; /* the VL that is next */
	struct place high, low;
	int high_left; /* bytes until the low table may send */
	/* Of a switch. */
	bool victim_mask;
	/* PAUSE: it may not send; at the other end, what is held, and whether it was stopped. */
	bool paused, stopped;
	uint64_t held;
	/* Of a host. */
	uint64_t n_served, next_cnp;
	struct queue received;
};

struct flow {
	unsigned int port;   /* of its host */
	unsigned int level;  /* first flow of its host and service level, which has the timer */
	unsigned int holder; /* the flow whose index and rest count: it or that one */
	unsigned int ccti;
	bool rests, timer;
	uint64_t rng, next_cnp;
	struct ref_count count;
	/* Closed: packets that came and that are done; when messages were allowed, by number. */
	uint64_t n_came, n_done, allowed[REF_OPEN];
	bool waits;      /* for the window */
	struct limiter { /* of a holder */
		bool on, cnp_for_alpha, cnp_for_cut, cut;
		double rate, target, most, alpha;
		unsigned int by_time, by_bytes;
		uint32_t bytes;
		unsigned int epoch, cuts; /* clocks of an earlier limiter, or cut, are void */
	} limiter;
};

enum what {
	ARRIVAL, /* of a packet in a flow's send queue */
	ALLOWED, /* flow: the window lets its next packet come */
	RESTED,  /* flow */
	TIMER,   /* of a flow's service level */
	ALPHA,   /* of a flow's limiter, of an epoch: one of its clocks */
	LOOK,    /* the same, for a cut */
	GROW,    /* the same, of a cut */
	NOTIFY,  /* port: has a CNP to send */
	CHANGE,  /* of the case */
	TAKEN,   /* port: its host has taken a packet */
	HELD,    /* long enough: a packet at a port */
	CREDIT,  /* blocks for a port and VL */
	PAUSE,   /* port: may not send any more, or may again */
	HEADER,  /* of a packet for a port */
	TAIL,    /* of a packet for a port's host */
	FREE,    /* port: has sent its packet */
};
static const unsigned char class_of[] = { [GROW] = 1, [HEADER] = 2, [TAIL] = 3, [FREE] = 4 };

struct event {
	struct event *next; /* in the order in which they happen */
	uint64_t at;
	enum what what;
	unsigned int who, blocks;
	struct packet *packet;
};

struct ref {
	const struct ref_case *c;
	uint64_t now;
	struct event *event;
	struct port port[PORTS]; /* of link i: 2 i from its end 0, 2 i + 1 from its end 1 */
	struct flow flow[REF_FLOWS];
	unsigned int route[REF_NODES][REF_NODES]; /* port from a node to a host */
	uint32_t sink[REF_NODES];
	struct obstack memory; /* kept until all ends: what is small may be wasteful */
};

static void after(struct ref *r, uint64_t delay, enum what what, unsigned int who,
		  unsigned int blocks, struct packet *p)
{
	struct event **at = &r->event, *e = obstack_alloc(&r->memory, sizeof(*e));

	*e = (struct event){ NULL, r->now + delay, what, who, blocks, p };
	while (*at && ((*at)->at < e->at ||
		       ((*at)->at == e->at && class_of[(*at)->what] <= class_of[e->what])))
		at = &(*at)->next;
	e->next = *at;
	*at = e;
}

static uint32_t payload(const struct ref *r, unsigned int flow)
{
	return r->c->flow[flow].packet ? r->c->flow[flow].packet : r->c->packet;
}

static uint32_t bytes(const struct ref *r, const struct packet *p)
{
	return p->cnp ? r->c->cnp : payload(r, p->flow) + r->c->header;
}

static uint32_t blocks(const struct ref *r, const struct packet *p)
{
	return (bytes(r, p) + 63) / 64;
}

static uint64_t time_of(uint32_t n_bytes, uint32_t rate)
{
	return (n_bytes * 8000000ull + rate - 1) / rate;
}

static void put(struct queue *q, struct packet *p)
{
	p->next = NULL;
	*(q->head ? &q->tail->next : &q->head) = p;
	q->tail = p;
}

static struct packet *take(struct queue *q)
{
	struct packet *p = q->head;

	q->head = p->next;
	return p;
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
	after(r, delay + r->c->credit_delay + r->c->link_delay, PAUSE, port, stop, NULL);
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

/* A packet leaves the buffer that it is in. */
static void give_back(struct ref *r, const struct packet *p, uint64_t leaves_in)
{
	struct port *o;

	if (p->via == NONE)
		return;
	o = &r->port[p->via];
	o->held -= bytes(r, p);
	if (!r->c->pause.on)
		after(r, leaves_in + r->c->credit_delay + r->c->link_delay, CREDIT,
		      p->via * REF_VLS + p->vl, blocks(r, p), NULL);
	else if (o->stopped && o->held <= (uint64_t)buffer_of(r, o->to) * r->c->pause.xon / 1000)
		stop_peer(r, p->via, leaves_in, false);
}

static bool may_send(const struct ref *r, const struct port *o, unsigned int vl,
		     const struct packet *p)
{
	return r->c->pause.on ? !o->paused : o->lane[vl].credits >= blocks(r, p);
}

/* Puts a packet on the link; the port is free and has the credits. */
static void send(struct ref *r, unsigned int port, unsigned int vl, struct packet *p)
{
	struct port *o = &r->port[port];
	uint64_t t = time_of(bytes(r, p), o->rate), link = r->c->link_delay;

	o->busy = true;
	o->until = r->now + t;
	o->lane[vl].starved = false;
	o->lane[vl].credits -= r->c->pause.on ? 0 : blocks(r, p);
	give_back(r, p, t);
	p->via = port;
	p->vl = vl;
	if (o->to < r->c->n_hosts)
		after(r, t + link, TAIL, 2 * o->to, 0, p);
	else
		after(r, link + r->c->switch_delay, HEADER, r->route[o->to][p->to], 0, p);
	after(r, t, FREE, port, 0, NULL);
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
	unsigned int of = d->profile_of[r->c->flow[p->flow].sl];
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
	if (!may_send(r, o, vl, l->queue[i].head)) {
		l->starved = true;
		return 0;
	}
	l->last = i;
	p = take(&l->queue[i]);
	mark(r, o, l, p);
	if (p->waits)
		set_backlog(r, l, l->backlog - bytes(r, p));
	p->waits = false;
	send(r, port, vl, p);
	return bytes(r, p);
}

static uint32_t host_send(struct ref *r, unsigned int port, unsigned int vls);

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
			n = host ? host_send(r, port, 1u << vl) : switch_send(r, port, vl);
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

static unsigned int n_vls(const struct ref *r)
{
	return r->c->vls ? r->c->vls : 1;
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

/* The VL of a flow's packets, or of the answers to it, at a host. */
static unsigned int host_vl(const struct ref *r, unsigned int flow)
{
	return r->c->flow[flow].sl % n_vls(r);
}

static struct queue *queue_of(struct ref *r, unsigned int flow)
{
	return &r->port[r->flow[flow].port].lane[host_vl(r, flow)].queue[flow];
}

static void new_packet(struct ref *r, unsigned int flow)
{
	struct packet *p = obstack_alloc(&r->memory, sizeof(*p));

	*p = (struct packet){
		.flow = flow, .to = r->c->flow[flow].to, .came = r->now, .via = NONE
	};
	put(queue_of(r, flow), p);
}

/* Of a closed flow, if the window allows it. */
static void next_packet(struct ref *r, unsigned int flow)
{
	const struct ref_flow *s = &r->c->flow[flow];
	struct flow *f = &r->flow[flow];
	uint64_t message = f->n_came / s->message;

	f->waits = message >= f->n_done / s->message + s->window;
	if (f->waits)
		return;
	new_packet(r, flow);
	if (++f->n_came % s->message == 0)
		queue_of(r, flow)->tail->allowed = f->allowed[message % s->window];
}

/* A packet of a flow is acknowledged, or taken without acknowledgements. */
static void packet_done(struct ref *r, unsigned int flow)
{
	const struct ref_flow *s = &r->c->flow[flow];
	struct flow *f = &r->flow[flow];

	if (s->arrivals != REF_CLOSED || ++f->n_done % s->message)
		return;
	f->allowed[(f->n_done / s->message - 1) % s->window] = r->now;
	if (f->waits)
		after(r, 0, ALLOWED, flow, 0, NULL);
	f->waits = false;
}

/* Between two packets of a flow. */
static uint64_t gap(struct ref *r, unsigned int flow)
{
	const struct ref_flow *f = &r->c->flow[flow];
	uint64_t mean = time_of(payload(r, flow) + r->c->header, f->rate);

	return f->arrivals == REF_PERIODIC ? mean : r->c->gap(&r->flow[flow].rng, mean);
}

static unsigned int within(const struct ref *r, unsigned int ccti)
{
	ccti = ccti > r->c->min ? ccti : r->c->min;
	return ccti < r->c->limit ? ccti : r->c->limit;
}

/* Clocks of a limiter, as long as it is the one of that epoch, and of that cut. */
static void clock_after(struct ref *r, uint64_t delay, enum what what, unsigned int flow)
{
	const struct limiter *l = &r->flow[flow].limiter;

	after(r, delay, what, flow, what == GROW ? l->cuts : l->epoch, NULL);
}

/* A rate grows, by the count of time or of bytes. */
static void grow(struct ref *r, unsigned int flow, unsigned int *count)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	struct limiter *l = &r->flow[flow].limiter;
	unsigned int other = count == &l->by_time ? l->by_bytes : l->by_time;

	if (!d->grow_bytes)
		other = *count;
	if (*count > d->fast && other > d->fast)
		l->target += d->leap;
	else if (*count >= d->fast || other >= d->fast)
		l->target += d->rise;
	if (l->target > l->most)
		l->target = l->most;
	l->rate = (l->rate + l->target) / 2;
	(*count)++;
	if (l->most - l->rate >= 0.5 || l->cnp_for_cut)
		return;
	l->on = false;
	l->epoch++;
	l->cuts++;
}

static void look_for_cut(struct ref *r, unsigned int flow)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	struct limiter *l = &r->flow[flow].limiter;
	double left = 1 - l->alpha * d->depth;

	if (!l->cnp_for_cut)
		return;
	l->cnp_for_cut = false;
	l->cut = true;
	if (d->clamp || (d->clamp_after_time && l->by_time))
		l->target = l->rate;
	l->rate *= left > d->floor ? left : d->floor;
	if (l->rate < d->least)
		l->rate = d->least;
	l->by_time = l->by_bytes = l->bytes = 0;
	l->cuts++;
	clock_after(r, d->grow, GROW, flow);
}

static void cnp_for(struct ref *r, unsigned int flow)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	struct limiter *l = &r->flow[flow].limiter;
	double link = r->port[r->flow[flow].port].rate;

	l->cnp_for_cut = true;
	l->cnp_for_alpha = l->on;
	if (l->on)
		return;
	l->on = true;
	l->cut = false;
	l->most = d->most > 0 && d->most < link ? d->most : link;
	l->rate = l->target = d->first > 0 && d->first < l->most ? d->first : l->most;
	l->alpha = d->first_alpha;
	l->by_time = l->by_bytes = l->bytes = 0;
	clock_after(r, d->alpha, ALPHA, flow);
	clock_after(r, d->look + 1000, LOOK, flow);
}

static void rest_by_rate(struct ref *r, unsigned int flow, uint32_t n)
{
	const struct ref_dcqcn *d = &r->c->dcqcn;
	struct limiter *l = &r->flow[flow].limiter;

	if (!l->on)
		return;
	l->bytes += l->cut ? n : 0;
	while (l->on && d->grow_bytes && l->bytes >= d->grow_bytes) {
		l->bytes -= d->grow_bytes;
		grow(r, flow, &l->by_bytes);
	}
	if (!l->on)
		return;
	r->flow[flow].rests = true;
	after(r, (uint64_t)(n * 8e6 / l->rate), RESTED, flow, 0, NULL);
}

/* After a packet of n bytes that starts now. */
static void rest(struct ref *r, unsigned int flow, uint32_t n)
{
	uint64_t t = time_of(n, r->port[r->flow[flow].port].rate);
	unsigned int i = within(r, r->flow[flow].ccti);
	uint64_t delay = i ? (t >> r->c->cct[i].shift) * r->c->cct[i].multiplier : 0;

	if (r->c->dcqcn.on)
		rest_by_rate(r, flow, n);
	if (!delay || r->c->dcqcn.on)
		return;
	r->flow[flow].rests = true;
	after(r, t + delay, RESTED, flow, 0, NULL);
}

/* The notification of a host that waits longest, of those on certain VLs that may go. */
static unsigned int cnp_lane(struct ref *r, const struct port *o, unsigned int vls)
{
	unsigned int best = NONE;

	for (unsigned int vl = 0; vl < n_vls(r); vl++) {
		const struct packet *p = o->lane[vl].cnp.head;

		if (p && vls >> vl & 1 && may_send(r, o, vl, p) &&
		    (best == NONE || p->came < o->lane[best].cnp.head->came))
			best = vl;
	}
	return best;
}

/* Whether a flow's packet goes before another one's. */
static bool before(const struct ref *r, const struct queue *a, const struct queue *b)
{
	return r->c->round_robin ? a->served < b->served : a->head->came < b->head->came;
}

/* The flow that a host serves next, of those on certain VLs whose first one may go. */
static unsigned int next_flow(struct ref *r, const struct port *o, unsigned int vls)
{
	unsigned int best = NONE;

	for (unsigned int vl = 0; vl < n_vls(r); vl++) {
		const struct queue *q = o->lane[vl].queue;
		unsigned int first = NONE;

		for (unsigned int i = 0; i < r->c->n_flows && vls >> vl & 1; i++)
			if (q[i].head && !r->flow[r->flow[i].holder].rests &&
			    (first == NONE || before(r, &q[i], &q[first])))
				first = i;
		if (first == NONE || !may_send(r, o, vl, q[first].head))
			continue;
		if (best == NONE || before(r, &q[first], queue_of(r, best)))
			best = first;
	}
	return best;
}

/* Sends a host's next packet on certain VLs. Returns its bytes; 0: there is none that may go. */
static uint32_t host_send(struct ref *r, unsigned int port, unsigned int vls)
{
	struct port *o = &r->port[port];
	unsigned int vl = cnp_lane(r, o, vls), flow;
	struct packet *p;
	struct queue *q;

	if (vl != NONE) {
		p = take(&o->lane[vl].cnp);
		send(r, port, vl, p);
		return bytes(r, p);
	}
	flow = next_flow(r, o, vls);
	if (flow == NONE)
		return 0;
	q = queue_of(r, flow);
	p = take(q);
	q->served = ++o->n_served;
	p->sent = r->now;
	r->flow[flow].count.sent++;
	if (r->c->flow[flow].arrivals == REF_BACKLOGGED)
		new_packet(r, flow);
	if (r->c->flow[flow].arrivals == REF_CLOSED)
		next_packet(r, flow);
	rest(r, r->flow[flow].holder, bytes(r, p));
	send(r, port, host_vl(r, flow), p);
	return bytes(r, p);
}

static void host_look(struct ref *r, unsigned int port)
{
	if (by_tables(r))
		tables_send(r, port);
	else
		host_send(r, port, (1u << n_vls(r)) - 1);
}

/* A port may have something to send. */
static void look(struct ref *r, unsigned int port)
{
	bool host = r->port[port].from < r->c->n_hosts;

	if (!r->port[port].busy)
		(host ? host_look : switch_look)(r, port);
}

/* Of a service level: runs while an index there is above the least. */
static void timer_look(struct ref *r, unsigned int level, unsigned int fall)
{
	bool needed = false;

	for (unsigned int i = level; i < r->c->n_flows; i++) {
		if (r->flow[i].level != level || r->flow[i].ccti <= r->c->min)
			continue;
		r->flow[i].ccti -= fall;
		needed |= r->flow[i].ccti > r->c->min;
	}
	if (!needed || !r->c->timer || r->flow[level].timer)
		return;
	r->flow[level].timer = true;
	after(r, r->c->timer * 1024000ull, TIMER, level, 0, NULL);
}

static void notified(struct ref *r, struct flow *f)
{
	unsigned int *ccti = &r->flow[f->holder].ccti;

	f->count.becn++;
	if (r->c->dcqcn.on) {
		cnp_for(r, f->holder);
		return;
	}
	if (r->c->increase)
		*ccti = within(r, (*ccti > r->c->min ? *ccti : r->c->min) + r->c->increase);
	timer_look(r, f->level, 0);
}

/* Whether the source of a marked packet is notified. */
static bool notifies(struct ref *r, unsigned int port, struct flow *f)
{
	uint64_t *next = r->c->dcqcn.cnp_per_host ? &r->port[port].next_cnp : &f->next_cnp;

	if (!r->c->dcqcn.on)
		return true;
	if (r->now < *next)
		return false;
	*next = r->now + r->c->dcqcn.cnp_gap;
	return true;
}

/* A host has an answer to send. */
static void answer(struct ref *r, unsigned int port, struct packet *p)
{
	p->came = r->now;
	put(&r->port[port].lane[host_vl(r, p->flow)].cnp, p);
	look(r, port);
}

/* A host begins to take the next packet out of its buffer, if there is one. */
static void take_next(struct ref *r, unsigned int port)
{
	uint32_t sink = r->sink[r->port[port].from];
	const struct packet *p = r->port[port].received.head;

	if (p)
		after(r, sink && !p->cnp ? time_of(payload(r, p->flow), sink) : 0, TAKEN, port, 0,
		      NULL);
}

static void taken(struct ref *r, unsigned int port)
{
	struct packet *p = take(&r->port[port].received);
	struct flow *f = &r->flow[p->flow];

	take_next(r, port);
	give_back(r, p, 0);
	if (p->cnp) {
		if (r->c->acks)
			packet_done(r, p->flow);
		if (p->becn)
			notified(r, f);
		return;
	}
	if (!r->c->acks)
		packet_done(r, p->flow);
	f->count.received++;
	f->count.latency += r->now - p->sent;
	if (r->c->flow[p->flow].arrivals == REF_CLOSED &&
	    f->count.received % r->c->flow[p->flow].message == 0) {
		f->count.messages++;
		f->count.message_latency += r->now - p->allowed;
	}
	f->count.fecn += p->fecn;
	p->becn = p->fecn && notifies(r, port, f);
	if (!p->becn && !r->c->acks)
		return;
	p->cnp = true; /* it becomes the answer */
	p->to = r->c->flow[p->flow].from;
	p->via = NONE;
	if (p->becn)
		after(r, r->c->becn_delay, NOTIFY, port, 0, p);
	else
		answer(r, port, p);
}

/* The VL on which a packet leaves a switch. */
static unsigned int vl_to(const struct ref *r, unsigned int port, const struct packet *p)
{
	unsigned int sl = r->c->flow[p->flow].sl;

	return r->c->maps ? r->c->vl[p->via / 2][port / 2][sl] : sl % n_vls(r);
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
	look(r, port); /* it may have the turn, and be shorter than what waits for credits */
}

static void happen(struct ref *r, const struct event *e)
{
	struct port *o = &r->port[e->who % PORTS]; /* where it is a port */
	struct packet *p = e->packet;
	unsigned int who = e->who;
	struct limiter *l = &r->flow[who % REF_FLOWS].limiter; /* where it is a flow */
	uint64_t in_t, out_t;

	switch (e->what) {
	case ALLOWED:
		next_packet(r, who);
		look(r, r->flow[who].port);
		break;
	case ARRIVAL:
		new_packet(r, who);
		if (r->c->flow[who].arrivals != REF_BACKLOGGED)
			after(r, gap(r, who), ARRIVAL, who, 0, NULL);
		look(r, r->flow[who].port);
		break;
	case RESTED:
		r->flow[who].rests = false;
		look(r, r->flow[who].port);
		break;
	case TIMER:
		r->flow[who].timer = false;
		timer_look(r, who, 1);
		break;
	case ALPHA:
		if (e->blocks != l->epoch)
			break;
		l->alpha *= 1 - r->c->dcqcn.gain;
		l->alpha += l->cnp_for_alpha ? r->c->dcqcn.gain : 0;
		l->cnp_for_alpha = false;
		clock_after(r, r->c->dcqcn.alpha, ALPHA, who);
		break;
	case LOOK:
		if (e->blocks != l->epoch)
			break;
		look_for_cut(r, who);
		clock_after(r, r->c->dcqcn.look, LOOK, who);
		break;
	case GROW:
		if (e->blocks != l->cuts)
			break;
		grow(r, who, &l->by_time);
		if (l->on)
			clock_after(r, r->c->dcqcn.grow, GROW, who);
		break;
	case NOTIFY: answer(r, who, p); break;
	case CHANGE: r->sink[r->c->change[who].host] = r->c->change[who].rate; break;
	case TAKEN: taken(r, who); break;
	case HEADER:
		hold(r, p->via, p);
		in_t = time_of(bytes(r, p), r->port[p->via].rate);
		out_t = time_of(bytes(r, p), o->rate);
		if (in_t > out_t) {
			after(r, in_t - out_t, HELD, who, 0, p);
			break;
		}
		/* fall through */
	case HELD: come(r, who, p); break;
	case TAIL:
		hold(r, p->via, p);
		put(&o->received, p);
		if (o->received.head == p)
			take_next(r, who);
		break;
	case FREE:
		o->busy = o->until > r->now;
		look(r, who);
		break;
	case CREDIT:
		r->port[who / REF_VLS].lane[who % REF_VLS].credits += e->blocks;
		look(r, who / REF_VLS);
		break;
	case PAUSE:
		o->paused = e->blocks;
		if (!o->paused)
			look(r, who);
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

static void add_flow(struct ref *r, unsigned int i)
{
	const struct ref_flow *all = r->c->flow, *s = &all[i];
	struct flow *f = &r->flow[i];

	while (all[f->level].from != s->from || all[f->level].sl != s->sl)
		f->level++;
	f->holder = r->c->per_sl ? f->level : i;
	for (unsigned int k = i; r->c->dcqcn.per_lid && k-- > 0;)
		if (all[k].from == s->from && all[k].to == s->to)
			f->holder = k;
	f->rng = s->seed;
	f->port = 2 * s->from;
	for (unsigned int k = 0; k < REF_OPEN; k++)
		f->allowed[k] = s->start;
	if (s->arrivals == REF_CLOSED) {
		after(r, s->start, ALLOWED, i, 0, NULL);
		return;
	}
	after(r, s->start + (s->arrivals == REF_EXPONENTIAL ? gap(r, i) : 0), ARRIVAL, i, 0, NULL);
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
	for (unsigned int i = 0; i < c->n_hosts; i++) {
		r->sink[i] = c->sink[i];
		find_routes(r, i, i, NONE);
	}
	for (unsigned int i = 0; i < c->n_changes; i++)
		after(r, c->change[i].at, CHANGE, i, 0, NULL);
	for (unsigned int i = 0; i < c->n_flows; i++)
		add_flow(r, i);
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

	n.ccti = within(r, r->flow[r->flow[flow].holder].ccti);
	return n;
}
