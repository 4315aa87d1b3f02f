/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What becomes of a client's MADs: answered here or by ibsim, delayed, lost. */
#include <arpa/inet.h>
#include <stdlib.h>

#include "sim/proxy_state.h"

void ibcc_proxy_send(struct client *c, const struct ibcc_wire_mad *m)
{
	uint64_t dropped = c->q.dropped;

	ibcc_sendq_put(&c->q, m);
	c->p->stats.overflow += c->q.dropped - dropped;
}

int ibcc_proxy_on_delay(sd_event_source *src, uint64_t usec, void *arg)
{
	struct ibcc_proxy *p = arg;
	struct delayed *d;

	while ((d = STAILQ_FIRST(&p->delayed)) && d->due_us <= usec) {
		STAILQ_REMOVE_HEAD(&p->delayed, link);
		if (d->c)
			ibcc_proxy_send(d->c, &d->m);
		free(d);
	}
	if (!d)
		return 0;
	sd_event_source_set_time(src, d->due_us);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

static void deliver(struct client *c, const struct ibcc_wire_mad *m)
{
	struct ibcc_proxy *p = c->p;
	struct delayed *d = NULL;
	uint64_t now = 0;

	if (p->knobs.mad_delay_us || !STAILQ_EMPTY(&p->delayed))
		d = malloc(sizeof(*d));
	if (!d) {
		ibcc_proxy_send(c, m);
		return;
	}
	sd_event_now(p->ev, CLOCK_MONOTONIC, &now);
	*d = (struct delayed){ .c = c, .due_us = now + p->knobs.mad_delay_us, .m = *m };
	if (STAILQ_EMPTY(&p->delayed)) {
		sd_event_source_set_time(p->delay_src, d->due_us);
		sd_event_source_set_enabled(p->delay_src, SD_EVENT_ONESHOT);
	}
	STAILQ_INSERT_TAIL(&p->delayed, d, link);
}

static void deliver_timeout(struct client *c, const struct ibcc_wire_mad *rq)
{
	struct ibcc_wire_mad m = *rq;

	m.status = htonl(IBCC_WIRE_TIMEOUT);
	deliver(c, &m);
}

static void on_answer(void *arg, struct ibcc_wire_mad *m)
{
	deliver(arg, m);
}

/* The answer to this one is to get lost. */
static void on_answer_lost(void *arg, struct ibcc_wire_mad *m)
{
	if (!m->status) {
		/* The client sees its request again, so its header must be a request's. */
		m->mad[3] &= 0x7f;
		m->status = htonl(IBCC_WIRE_TIMEOUT);
	}
	deliver(arg, m);
}

/* Requests */

static uint64_t proxy_random(struct ibcc_proxy *p)
{
	p->random ^= p->random << 13;
	p->random ^= p->random >> 7;
	p->random ^= p->random << 17;
	return p->random;
}

static void answer_here(struct client *c, const struct ibcc_wire_mad *rq, bool lose)
{
	struct ibcc_proxy *p = c->p;
	struct ibcc_wire_mad m = *rq;

	m.dlid = rq->slid;
	m.slid = rq->dlid;
	m.dqp = rq->sqp;
	m.sqp = rq->dqp;
	if (p->ops.answer(p->ops.arg, ibcc_upstream_node_guid(c->slot), rq, &m) || lose)
		deliver_timeout(c, rq);
	else
		deliver(c, &m);
}

void ibcc_proxy_request(struct client *c, struct ibcc_wire_mad *m)
{
	struct ibcc_proxy *p = c->p;
	uint8_t mgmt_class = m->mad[1];
	bool lose_answer = false;

	m->status = 0;
	if (ibcc_wire_is_response(m->mad)) {
		ibcc_upstream_send(c->slot, m, NULL, NULL);
		return;
	}
	ibcc_madcount_add(&p->stats.mads, m->mad);
	if (p->knobs.mad_loss_permille && ibcc_wire_wants_reply(m->mad) &&
	    proxy_random(p) % 1000 < p->knobs.mad_loss_permille) {
		p->stats.lost++;
		lose_answer = proxy_random(p) & 1;
		if (!lose_answer) {
			deliver_timeout(c, m);
			return;
		}
	}
	if (mgmt_class == IBCC_MAD_CLASS_PERF || mgmt_class == IBCC_MAD_CLASS_CC) {
		answer_here(c, m, lose_answer);
		return;
	}
	if (ibcc_upstream_send(c->slot, m, lose_answer ? on_answer_lost : on_answer, c))
		deliver_timeout(c, m);
	else if (m->mad[3] == IBCC_MAD_SET &&
		 (mgmt_class == IBCC_MAD_CLASS_SMP || mgmt_class == IBCC_MAD_CLASS_SMP_DIRECT))
		p->ops.changed(p->ops.arg);
}

void ibcc_proxy_forget(struct client *c)
{
	struct delayed *d;

	for (d = STAILQ_FIRST(&c->p->delayed); d; d = STAILQ_NEXT(d, link))
		if (d->c == c)
			d->c = NULL;
}
