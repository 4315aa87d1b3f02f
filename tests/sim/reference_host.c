/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The hosts of the reference simulator: what they send, take and answer, and what holds them back.
 * reference.c says in plain words what the model is.
 */
#include "reference_parts.h"

/* ---- Flows ---- */

static bool is_paced(const struct ref_flow *f)
{
	return f->arrivals == REF_PERIODIC || f->arrivals == REF_EXPONENTIAL;
}

static unsigned int pair_at(unsigned int from, unsigned int to, unsigned int sl)
{
	return (from * REF_NODES + to) * REF_SLS + sl;
}

/* The pair whose index, rest and limiter count for a pair. */
static unsigned int pair_of(const struct ref *r, unsigned int pair)
{
	unsigned int sl = pair % REF_SLS, to = pair / REF_SLS % REF_NODES;
	unsigned int from = pair / REF_SLS / REF_NODES;

	if (r->c->per_sl)
		return pair_at(from, 0, sl);
	return r->c->dcqcn.per_lid ? pair_at(from, to, 0) : pair;
}

/* Something is to be known of a pair: that it rests, or a flow to one host. */
static void know(struct ref *r, unsigned int pair)
{
	if (!r->pair[pair].number)
		r->pair[pair].number = ++r->n_known;
}

/* Until when a pair rests, by itself and not as a part of its service level. */
static uint64_t until(const struct ref *r, unsigned int pair)
{
	return r->c->per_sl ? 0 : r->pair[pair_of(r, pair)].until;
}

static unsigned int sl_of(const struct ref *r, unsigned int from, unsigned int to, unsigned int own)
{
	return r->c->paths ? r->c->path_sl[from][to] : own;
}

static void address(const struct ref *r, struct packet *p, unsigned int to)
{
	p->to = to;
	p->sl = sl_of(r, p->from, to, r->c->flow[p->flow].sl);
	p->pair = pair_at(p->from, to, p->sl);
}

/* Whether a flow to all may send to a host. */
static bool is_for(const struct ref *r, const struct ref_flow *f, unsigned int host)
{
	return host != f->from && host != f->to && r->route[f->from][host] != NONE;
}

static unsigned int draw_to(struct ref *r, unsigned int flow)
{
	const struct ref_flow *f = &r->c->flow[flow];
	unsigned int host, n = 0;

	for (host = 0; host < r->c->n_hosts; host++)
		n += is_for(r, f, host);
	n = r->c->upto(&r->flow[flow].to_rng, n - 1);
	for (host = 0; !is_for(r, f, host) || n--; host++)
		;
	return host;
}

/* The next host by number, around, among those of the flow's island; the flow's own host is one of
 * them.
 */
static unsigned int next_host(const struct ref *r, const struct ref_flow *f, unsigned int host)
{
	do {
		host = (host + 1) % r->c->n_hosts;
	} while (host != f->from && r->route[f->from][host] == NONE);
	return host;
}

/* A backlogged flow to all chooses where its packet goes. */
static void choose(struct ref *r, unsigned int flow)
{
	const struct ref_flow *f = &r->c->flow[flow];
	struct packet *p = r->flow[flow].queue.head, other = *p;
	unsigned int n = 1, first, host = r->c->n_hosts - 1;

	address(r, p, draw_to(r, flow));
	for (first = next_host(r, f, f->from); first != f->from; first = next_host(r, f, first))
		n++;
	for (unsigned int i = r->c->upto(&r->flow[flow].to_rng, n - 1) + 1; i--;)
		host = next_host(r, f, host);
	for (; n-- && until(r, p->pair) > r->now; host = next_host(r, f, host)) {
		if (!is_for(r, f, host))
			continue;
		address(r, &other, host);
		if (until(r, other.pair) < until(r, p->pair))
			address(r, p, host);
	}
}

/* Whether a queue sleeps until its pair has rested. Then something wakes it. */
static bool falls_asleep(struct ref *r, unsigned int pair)
{
	struct pair *p = &r->pair[pair_of(r, pair)];

	if (until(r, pair) <= r->now)
		return false;
	if (!p->alarm)
		ref_after(r, p->until - r->now, RESTED, pair_of(r, pair), 0, NULL);
	p->alarm = true;
	return true;
}

/* A flow to all sets a packet aside and goes on with the next one. */
static void stand_aside(struct ref *r, struct packet *p)
{
	struct pair *pair = &r->pair[p->pair];

	put(&pair->queue, p);
	if (!pair->listed) {
		pair->next = r->port[2 * p->from].aside;
		r->port[2 * p->from].aside = pair;
		pair->listed = true;
	}
	if (pair->queue.head == p)
		pair->asleep = falls_asleep(r, p->pair);
}

/* The first time from now on at which a flow is on. */
static uint64_t on_from(const struct ref *r, const struct ref_flow *f)
{
	uint64_t phase = f->off ? (r->now - f->start) % (f->on + f->off) : 0;

	return phase < f->on || !f->off ? r->now : r->now - phase + f->on + f->off;
}

/* Whether a flow that is not paced may have its next packet now. If not, it looks again. */
static bool is_on(struct ref *r, unsigned int flow)
{
	const struct ref_flow *s = &r->c->flow[flow];
	uint64_t on = on_from(r, s);

	if (s->stop && r->now >= s->stop)
		return false;
	if (on > r->now)
		ref_after(r, on - r->now, ALLOWED, flow, 0, NULL);
	return on <= r->now;
}

/* A flow looks at its first packet. That of a flow that is not paced waits for a time when the flow
 * is on, if it did not find its pair rested before.
 */
static void flow_look(struct ref *r, unsigned int flow)
{
	const struct ref_flow *s = &r->c->flow[flow];
	struct flow *f = &r->flow[flow];
	struct queue *q = &f->queue;

	f->asleep = f->off = q->head && !is_paced(s) && !is_on(r, flow);
	if (!q->head || f->off)
		return;
	if (s->all && s->arrivals == REF_BACKLOGGED)
		choose(r, flow);
	while (s->all && is_paced(s) && q->head &&
	       (until(r, q->head->pair) > r->now || r->pair[q->head->pair].queue.head))
		stand_aside(r, take(q));
	if (q->head)
		f->asleep = falls_asleep(r, q->head->pair);
}

static void new_packet(struct ref *r, unsigned int flow, uint64_t came)
{
	const struct ref_flow *s = &r->c->flow[flow];
	struct packet *p = ref_memory(r, sizeof(*p));
	struct flow *f = &r->flow[flow];
	bool begins = s->arrivals != REF_CLOSED || f->n_came % s->message == 0;

	*p = (struct packet){ .flow = flow, .from = s->from, .came = came, .via = NONE };
	if (s->arrivals == REF_CLOSED && begins) {
		f->message = ref_memory(r, sizeof(*f->message));
		f->message->left = s->message;
		f->message->allowed = f->allowed[f->n_came / s->message % s->window];
	}
	p->message = f->message;
	if (!s->all)
		f->to = s->to;
	else if (begins && s->arrivals != REF_BACKLOGGED)
		f->to = draw_to(r, flow);
	address(r, p, f->to);
	put(&f->queue, p);
	f->n_came++;
	if (f->queue.head == p)
		flow_look(r, flow);
}

/* Of a flow that is not paced: if it is on and its window allows it. */
static void next_packet(struct ref *r, unsigned int flow)
{
	const struct ref_flow *s = &r->c->flow[flow];
	struct flow *f = &r->flow[flow];

	if (!is_on(r, flow))
		return;
	if (s->arrivals == REF_CLOSED) {
		f->waits = f->n_came / s->message >= f->n_done / s->message + s->window;
		if (f->waits)
			return;
	}
	new_packet(r, flow, f->since);
}

/* A packet of a flow is acknowledged, or taken without acknowledgements, or lost. */
static void packet_done(struct ref *r, unsigned int flow)
{
	const struct ref_flow *s = &r->c->flow[flow];
	struct flow *f = &r->flow[flow];

	if (s->arrivals != REF_CLOSED || ++f->n_done % s->message)
		return;
	f->allowed[(f->n_done / s->message - 1) % s->window] = on_from(r, s);
	if (!f->waits)
		return;
	f->since = r->now;
	ref_after(r, 0, ALLOWED, flow, 0, NULL);
	f->waits = false;
}

/* A packet of a message is taken, or lost. */
static void message_part(struct ref *r, const struct packet *p)
{
	struct ref_count *n = &r->flow[p->flow].count;

	if (r->c->flow[p->flow].arrivals != REF_CLOSED || --p->message->left || p->message->lost)
		return;
	n->messages++;
	n->message_latency += r->now - p->message->allowed;
}

/* The next packet of a paced flow comes a gap of times that it is on after the one before. */
static void pace(struct ref *r, unsigned int flow, bool gap)
{
	const struct ref_flow *s = &r->c->flow[flow];
	uint64_t mean = time_of(payload(r, flow) + r->c->header, s->rate), at;
	struct flow *f = &r->flow[flow];

	if (gap)
		f->on_time += s->arrivals == REF_PERIODIC ? mean : r->c->gap(&f->rng, mean);
	at = s->start + f->on_time;
	if (s->off)
		at += f->on_time / s->on * s->off;
	if (!s->stop || at < s->stop)
		ref_after(r, at - r->now, ARRIVAL, flow, 0, NULL);
}

void ref_flow_begin(struct ref *r, unsigned int flow)
{
	const struct ref_flow *s = &r->c->flow[flow];
	struct flow *f = &r->flow[flow];

	f->rng = s->seed;
	f->to_rng = s->to_seed;
	f->port = 2 * s->from;
	f->since = s->start;
	for (unsigned int k = 0; k < REF_OPEN; k++)
		f->allowed[k] = s->start;
	if (!s->all)
		know(r, pair_at(s->from, s->to, sl_of(r, s->from, s->to, s->sl)));
	if (is_paced(s))
		pace(r, flow, s->arrivals == REF_EXPONENTIAL);
	else
		ref_after(r, s->start, ALLOWED, flow, 0, NULL);
}

/* ---- What holds a source back ---- */

static unsigned int within(const struct ref *r, unsigned int ccti)
{
	ccti = ccti > r->c->min ? ccti : r->c->min;
	return ccti < r->c->limit ? ccti : r->c->limit;
}

unsigned int ref_host_ccti(const struct ref *r, unsigned int flow)
{
	const struct ref_flow *f = &r->c->flow[flow];
	unsigned int pair = pair_at(f->from, f->to, sl_of(r, f->from, f->to, f->sl));

	return within(r, r->pair[pair_of(r, pair)].ccti);
}

/* After a packet that starts now. */
static void rest(struct ref *r, const struct packet *p)
{
	uint64_t t = time_of(bytes(r, p), r->port[2 * p->from].rate), delay = 0;
	unsigned int pair = pair_of(r, p->pair), i = within(r, r->pair[pair].ccti);

	if (r->c->dcqcn.on) {
		know(r, p->pair);
		delay = ref_limiter_rest(r, pair, bytes(r, p));
	} else if (i) {
		delay = (t >> r->c->cct[i].shift) * r->c->cct[i].multiplier;
		delay += delay ? t : 0;
	}
	if (!delay)
		return;
	know(r, p->pair);
	r->pair[pair].until = r->now + delay;
	r->pair[pair].rests = r->c->per_sl;
	if (r->c->per_sl)
		ref_after(r, delay, RESTED, pair, 0, NULL);
}

/* Of a host's service level: runs while an index there is above the least. */
static void timer_look(struct ref *r, unsigned int host, unsigned int sl, unsigned int fall)
{
	bool needed = false;

	for (unsigned int to = 0; to < r->c->n_hosts; to++) {
		unsigned int *ccti = &r->pair[pair_at(host, to, sl)].ccti;

		if (*ccti <= r->c->min)
			continue;
		*ccti -= fall;
		needed |= *ccti > r->c->min;
	}
	if (!needed || !r->c->timer || r->timer[host][sl])
		return;
	r->timer[host][sl] = true;
	ref_after(r, r->c->timer * 1024000ull, TIMER, pair_at(host, 0, sl), 0, NULL);
}

/* The pair's host has learnt of a mark. */
static void notified(struct ref *r, unsigned int pair, unsigned int host)
{
	unsigned int *ccti = &r->pair[pair_of(r, pair)].ccti;

	know(r, pair);
	if (r->c->dcqcn.on) {
		ref_limiter_cnp(r, pair_of(r, pair), r->port[2 * host].rate);
		return;
	}
	if (r->c->increase)
		*ccti = within(r, (*ccti > r->c->min ? *ccti : r->c->min) + r->c->increase);
	timer_look(r, host, pair % REF_SLS, 0);
}

/* ---- Sending ---- */

static unsigned int host_vl(const struct ref *r, const struct packet *p)
{
	return p->sl % n_vls(r);
}

/* The notification of a host that waits longest, of those on certain VLs that may go. */
static unsigned int cnp_lane(struct ref *r, const struct port *o, unsigned int vls)
{
	unsigned int best = NONE;

	for (unsigned int vl = 0; vl < n_vls(r); vl++) {
		const struct packet *p = o->lane[vl].cnp.head;

		if (p && vls >> vl & 1 && ref_may_send(r, o, vl, p) &&
		    (best == NONE || p->came < o->lane[best].cnp.head->came))
			best = vl;
	}
	return best;
}

/* What a host looks for: the queue that comes first, of those that may send. */
struct search {
	const struct port *o;
	unsigned int sl, vl; /* of the first packets, or NONE */
	struct queue *best;
	unsigned int flow, number; /* that it is of, or NONE; among equal ones */
};

/* What decides which queue goes first. Of equal ones, flows go by their numbers, then pairs, in the
 * order in which something was first to be known of them.
 */
static uint64_t key(const struct ref *r, const struct queue *q)
{
	return r->c->round_robin ? q->served : q->head->came;
}

static bool before(const struct ref *r, const struct search *a, const struct search *b)
{
	if (!a->best || !b->best)
		return a->best;
	return key(r, a->best) != key(r, b->best) ? key(r, a->best) < key(r, b->best)
						  : a->number < b->number;
}

static void compare(const struct ref *r, struct search *s, struct queue *q, bool asleep,
		    unsigned int flow)
{
	const struct packet *p = q->head;
	struct search other = *s;

	if (!p || asleep || r->pair[pair_of(r, p->pair)].rests ||
	    (s->sl != NONE && p->sl != s->sl) || (s->vl != NONE && host_vl(r, p) != s->vl))
		return;
	other.best = q;
	other.flow = flow;
	other.number = flow == NONE ? REF_FLOWS + r->pair[p->pair].number : flow;
	if (before(r, &other, s))
		*s = other;
}

static void find_first(struct ref *r, struct search *s)
{
	unsigned int host = s->o->from;

	s->best = NULL;
	s->flow = NONE;
	for (unsigned int i = 0; i < r->c->n_flows; i++)
		if (r->c->flow[i].from == host)
			compare(r, s, &r->flow[i].queue, r->flow[i].asleep, i);
	for (struct pair *p = s->o->aside; p; p = p->next)
		compare(r, s, &p->queue, p->asleep, NONE);
}

/* Whether a queue is awake whose pair rests. */
static bool any_rests(const struct ref *r, const struct port *o)
{
	bool any = false;

	for (unsigned int i = 0; i < r->c->n_flows; i++) {
		const struct flow *f = &r->flow[i];

		if (r->c->flow[i].from == o->from && f->queue.head && !f->asleep)
			any |= until(r, f->queue.head->pair) > r->now;
	}
	for (const struct pair *p = o->aside; p; p = p->next)
		if (p->queue.head && !p->asleep)
			any |= until(r, p->queue.head->pair) > r->now;
	return any;
}

/* Queues whose turn it would be, but for others that made their pairs rest, fall asleep. A flow to
 * all may go on to a packet of another service level.
 */
static void pass_over(struct ref *r, const struct port *o, unsigned int vls)
{
	struct search s = { .o = o, .vl = NONE };
	bool found = any_rests(r, o);

	while (found) {
		found = false;
		for (s.sl = 0; s.sl < REF_SLS; s.sl++) {
			if (!r->c->paths && !(vls >> s.sl % n_vls(r) & 1))
				continue;
			find_first(r, &s);
			if (!s.best || until(r, s.best->head->pair) <= r->now)
				continue;
			found = true;
			if (s.flow != NONE)
				flow_look(r, s.flow);
			else
				r->pair[s.best->head->pair].asleep =
					falls_asleep(r, s.best->head->pair);
		}
	}
}

uint32_t ref_host_send(struct ref *r, unsigned int port, unsigned int vls)
{
	struct port *o = &r->port[port];
	struct search s = { .o = o, .sl = NONE }, first = s;
	unsigned int vl = cnp_lane(r, o, vls);
	struct packet *p;

	if (vl != NONE) {
		p = take(&o->lane[vl].cnp);
		ref_send(r, port, vl, p);
		return bytes(r, p);
	}
	pass_over(r, o, vls);
	for (s.vl = 0; s.vl < n_vls(r); s.vl++) {
		if (!(vls >> s.vl & 1))
			continue;
		find_first(r, &s);
		if (s.best && ref_may_send(r, o, s.vl, s.best->head) && before(r, &s, &first))
			first = s;
	}
	if (!first.best)
		return 0;
	p = take(first.best);
	first.best->served = ++o->n_served;
	p->sent = r->now;
	r->flow[p->flow].count.sent++;
	r->flow[p->flow].since = r->now;
	rest(r, p);
	if (first.flow == NONE)
		r->pair[p->pair].asleep = first.best->head && falls_asleep(r, p->pair);
	else if (is_paced(&r->c->flow[p->flow]))
		flow_look(r, p->flow);
	else
		next_packet(r, p->flow);
	ref_send(r, port, host_vl(r, p), p);
	return bytes(r, p);
}

/* A pair has rested, unless another packet made it rest again. */
static void rested(struct ref *r, unsigned int pair)
{
	unsigned int host = pair / REF_SLS / REF_NODES;

	r->pair[pair].rests = r->pair[pair].alarm = false;
	if (!r->c->per_sl && falls_asleep(r, pair))
		return;
	for (struct pair *p = r->port[2 * host].aside; p; p = p->next)
		if (p->asleep && pair_of(r, p->queue.head->pair) == pair)
			p->asleep = falls_asleep(r, pair);
	for (unsigned int i = 0; i < r->c->n_flows; i++)
		if (r->flow[i].asleep && !r->flow[i].off &&
		    pair_of(r, r->flow[i].queue.head->pair) == pair)
			flow_look(r, i);
	ref_look(r, 2 * host);
}

/* ---- Receiving ---- */

/* Whether the source of a marked packet is notified. */
static bool notifies(struct ref *r, unsigned int port, unsigned int pair)
{
	uint64_t *next =
		r->c->dcqcn.cnp_per_host ? &r->port[port].next_cnp : &r->pair[pair].next_cnp;

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
	put(&r->port[port].lane[host_vl(r, p)].cnp, p);
	ref_look(r, port);
}

/* A host begins to take the next packet out of its buffer, if there is one. */
static void take_next(struct ref *r, unsigned int port)
{
	uint32_t sink = r->sink[r->port[port].from];
	const struct packet *p = r->port[port].received.head;

	if (p)
		ref_after(r, sink && !p->cnp ? time_of(payload(r, p->flow), sink) : 0, TAKEN, port,
			  0, NULL);
}

void ref_host_tail(struct ref *r, unsigned int port, struct packet *p)
{
	struct port *o = &r->port[port];

	o->n_received += !p->cnp;
	put(&o->received, p);
	if (o->received.head == p)
		take_next(r, port);
}

static void taken(struct ref *r, unsigned int port)
{
	struct packet *p = take(&r->port[port].received);
	struct flow *f = &r->flow[p->flow];

	take_next(r, port);
	ref_give_back(r, p, 0);
	if (p->cnp) {
		if (r->c->acks)
			packet_done(r, p->flow);
		f->count.becn += p->becn;
		if (p->becn)
			notified(r, p->pair, p->to);
		return;
	}
	if (!r->c->acks)
		packet_done(r, p->flow);
	f->count.received++;
	f->count.latency += r->now - p->sent;
	message_part(r, p);
	f->count.fecn += p->fecn;
	p->becn = p->fecn && notifies(r, port, p->pair);
	if (!p->becn && !r->c->acks)
		return;
	p->cnp = true; /* it becomes the answer */
	p->from = p->to;
	p->to = r->c->flow[p->flow].from;
	if (r->c->dcqcn.cnp_own_sl && !r->c->acks)
		p->sl = r->c->dcqcn.cnp_sl;
	p->sl = sl_of(r, p->from, p->to, p->sl);
	p->via = NONE;
	if (p->becn)
		ref_after(r, r->c->becn_delay, NOTIFY, port, 0, p);
	else
		answer(r, port, p);
}

void ref_host_lost(struct ref *r, const struct packet *p)
{
	if (!p->cnp && p->message) {
		p->message->lost = true;
		message_part(r, p);
	}
	if (r->c->acks || !p->cnp)
		packet_done(r, p->flow);
}

void ref_host_happen(struct ref *r, const struct event *e)
{
	unsigned int who = e->who;

	switch (e->what) {
	case ALLOWED:
		(r->flow[who].queue.head ? flow_look : next_packet)(r, who);
		ref_look(r, r->flow[who].port);
		break;
	case ARRIVAL:
		new_packet(r, who, r->now);
		pace(r, who, true);
		ref_look(r, r->flow[who].port);
		break;
	case RESTED: rested(r, who); break;
	case TIMER:
		r->timer[who / REF_SLS / REF_NODES][who % REF_SLS] = false;
		timer_look(r, who / REF_SLS / REF_NODES, who % REF_SLS, 1);
		break;
	case ALPHA:
	case LOOK:
	case GROW: ref_limiter_happen(r, e); break;
	case NOTIFY: answer(r, who, e->packet); break;
	case TAKEN: taken(r, who); break;
	case CHANGE:
	case HELD:
	case CREDIT:
	case PAUSE:
	case HEADER:
	case TAIL:
	case FREE: assert(false); break;
	}
}
