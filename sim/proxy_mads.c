/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What becomes of a client's MADs: they are answered here or by ibsim, delayed, or lost. Begin
 * with ibcc_proxy_request(), near the end.
 */
#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/now.h>
#include <ibcc/rng.h>
#include <ibcc/smp.h>
#include <ibcc/vendor_cc.h>

#include "sim/proxy_state.h"

/* A request that cannot be answered while the fabric is being read is tried again. */
#define RETRY_US    10000u
#define RETRIES_MAX 500u

void ibcc_proxy_send(struct client *c, const struct ibcc_wire_mad *m)
{
	uint64_t dropped = c->q.dropped;

	ibcc_sendq_put(&c->q, m);
	c->p->stats.overflow += c->q.dropped - dropped;
}

/* Delivers the MADs of a line that are due. */
static int on_due(sd_event_source *src, uint64_t usec, void *arg)
{
	struct delay_line *l = arg;
	struct delayed *d;

	while ((d = STAILQ_FIRST(&l->list)) && d->due_us <= usec) {
		STAILQ_REMOVE_HEAD(&l->list, link);
		if (d->c)
			l->due(d);
		free(d);
	}
	if (!d)
		return 0;
	sd_event_source_set_time(src, d->due_us);
	return sd_event_source_set_enabled(src, SD_EVENT_ONESHOT);
}

/* Holds a MAD back; false without memory. */
static bool hold(struct delay_line *l, struct delayed v, uint64_t delay_us)
{
	struct delayed *d = malloc(sizeof(*d));
	uint64_t now = 0;

	if (!d)
		return false;
	sd_event_now(l->p->ev, CLOCK_MONOTONIC, &now);
	*d = v;
	d->due_us = now + delay_us;
	if (STAILQ_EMPTY(&l->list)) {
		sd_event_source_set_time(l->src, d->due_us);
		sd_event_source_set_enabled(l->src, SD_EVENT_ONESHOT);
	}
	STAILQ_INSERT_TAIL(&l->list, d, link);
	return true;
}

static void send_due(const struct delayed *d)
{
	ibcc_proxy_send(d->c, &d->m);
}

static void send_later(struct delay_line *l, struct client *c, const struct ibcc_wire_mad *m,
		       uint64_t delay_us)
{
	if ((!delay_us && STAILQ_EMPTY(&l->list)) ||
	    !hold(l, (struct delayed){ .c = c, .m = *m }, delay_us))
		ibcc_proxy_send(c, m);
}

static void deliver(struct client *c, const struct ibcc_wire_mad *m)
{
	send_later(&c->p->answers, c, m, c->p->knobs.mad_delay_us);
}

/* Gives a client its own request back, with the status of a timeout, as a kernel does. */
static void deliver_timeout(struct client *c, const struct ibcc_wire_mad *rq)
{
	struct ibcc_wire_mad m = *rq;

	m.mad[3] &= 0x7f;
	m.status = htonl(IBCC_WIRE_TIMEOUT);
	send_later(&c->p->losses, c, &m,
		   c->p->knobs.mad_delay_us + c->p->knobs.mad_timeout_ms * 1000ull);
}

void ibcc_proxy_answer(void *arg, struct ibcc_wire_mad *m)
{
	if (m->status)
		deliver_timeout(arg, m);
	else
		deliver(arg, m);
}

/* Drops ibsim's answer to a request whose answer is to get lost. */
static void on_answer_lost(void *arg, struct ibcc_wire_mad *m)
{
	deliver_timeout(arg, m);
}

/* Requests */

/* Notes a Set of class 0x21 in the list that `ibcc-sim sets` prints. */
static void log_set(struct client *c, const struct ibcc_wire_mad *rq, bool answered)
{
	struct ibcc_setlog_entry e = { .client = c->number,
				       .pid = c->pid,
				       .lid = ntohs((uint16_t)rq->dlid),
				       .answered = answered };
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(rq->mad, &h);
	if (h.mgmt_class != IBCC_MAD_CLASS_CC || h.method != IBCC_MAD_SET)
		return;
	e.attr_id = h.attr_id;
	e.attr_mod = h.attr_mod;
	sd_event_now(c->p->ev, CLOCK_MONOTONIC, &e.time_us);
	strncpy(e.host, ibcc_upstream_node_name(c->slot), sizeof(e.host) - 1);
	ibcc_setlog_add(&c->p->sets, &e);
}

/* Answers a request from the simulated fabric, without ibsim. */
static void answer_here(struct client *c, const struct ibcc_wire_mad *rq, bool lose,
			unsigned int tries)
{
	struct ibcc_proxy *p = c->p;
	struct ibcc_wire_mad m = *rq;
	int err;

	m.dlid = rq->slid;
	m.slid = rq->dlid;
	m.dqp = rq->sqp;
	m.sqp = rq->dqp;
	err = p->ops.answer(p->ops.arg, ibcc_upstream_node_guid(c->slot), rq, &m);
	/* A subnet manager that has just set a LID, a route or a port's state sends to that node at
	 * once, and hardware would answer.
	 */
	if (err && tries < RETRIES_MAX && p->ops.stale(p->ops.arg) &&
	    hold(&p->retries,
		 (struct delayed){ .c = c, .m = *rq, .lose = lose, .tries = tries + 1 }, RETRY_US))
		return;
	log_set(c, rq, !err && !lose);
	if (err || lose)
		deliver_timeout(c, rq);
	else
		deliver(c, &m);
}

static void try_again(const struct delayed *d)
{
	answer_here(d->c, &d->m, d->lose, d->tries);
}

static int delay_init(struct delay_line *l, struct ibcc_proxy *p,
		      void (*due)(const struct delayed *d))
{
	int r;

	l->p = p;
	l->due = due;
	STAILQ_INIT(&l->list);
	r = sd_event_add_time(p->ev, &l->src, CLOCK_MONOTONIC, UINT64_MAX, 1, on_due, l);
	return r < 0 ? r : sd_event_source_set_enabled(l->src, SD_EVENT_OFF);
}

static void delay_fini(struct delay_line *l)
{
	struct delayed *d;

	while (l->p && (d = STAILQ_FIRST(&l->list))) {
		STAILQ_REMOVE_HEAD(&l->list, link);
		free(d);
	}
	sd_event_source_disable_unref(l->src);
}

int ibcc_proxy_delays_init(struct ibcc_proxy *p)
{
	int r = delay_init(&p->answers, p, send_due);

	if (r >= 0)
		r = delay_init(&p->losses, p, send_due);
	return r < 0 ? r : delay_init(&p->retries, p, try_again);
}

void ibcc_proxy_delays_fini(struct ibcc_proxy *p)
{
	delay_fini(&p->answers);
	delay_fini(&p->losses);
	delay_fini(&p->retries);
}

/* Whether a request is answered here. Of NVIDIA's own attributes ibsim knows only the one for
 * FDR10; no program asks for the others by a directed route.
 */
static bool is_ours(const uint8_t *mad)
{
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(mad, &h);
	return h.mgmt_class == IBCC_MAD_CLASS_PERF || h.mgmt_class == IBCC_MAD_CLASS_CC ||
	       h.mgmt_class == IBCC_MAD_CLASS_MELLANOX ||
	       (h.mgmt_class == IBCC_MAD_CLASS_SMP && h.attr_id >= IBCC_VCC_ATTR_FIRST &&
		h.attr_id != IBCC_SMP_ATTR_EXT_PORT_INFO);
}

void ibcc_proxy_request(struct client *c, struct ibcc_wire_mad *m)
{
	struct ibcc_proxy *p = c->p;
	uint8_t mgmt_class = m->mad[1];
	bool lose_answer = false;
	uint32_t loss, node_loss;

	m->status = 0;
	if (ibcc_wire_is_response(m->mad)) {
		if (!ibcc_proxy_report(c, m))
			ibcc_upstream_send(c->slot, m, NULL, NULL);
		return;
	}
	ibcc_madcount_add(&p->stats.mads, m->mad, ibcc_now_ns());
	if (ibcc_proxy_report(c, m))
		return;
	loss = p->knobs.mad_loss_permille;
	node_loss = p->ops.loss(p->ops.arg, ibcc_upstream_node_guid(c->slot), m);
	if (node_loss > loss)
		loss = node_loss;
	if (loss && ibcc_rng_below(&p->rng, 1000) < loss) {
		p->stats.lost++;
		lose_answer = ibcc_rng_next(&p->rng) & 1;
		if (!lose_answer) {
			deliver_timeout(c, m);
			return;
		}
	}
	if (is_ours(m->mad)) {
		answer_here(c, m, lose_answer, 0);
		return;
	}
	if (ibcc_upstream_send(c->slot, m, lose_answer ? on_answer_lost : ibcc_proxy_answer, c))
		deliver_timeout(c, m);
	else if (m->mad[3] == IBCC_MAD_SET &&
		 (mgmt_class == IBCC_MAD_CLASS_SMP || mgmt_class == IBCC_MAD_CLASS_SMP_DIRECT))
		p->ops.changed(p->ops.arg);
}

static void forget(struct delay_line *l, const struct client *c)
{
	struct delayed *d;

	for (d = STAILQ_FIRST(&l->list); d; d = STAILQ_NEXT(d, link))
		if (d->c == c)
			d->c = NULL;
}

void ibcc_proxy_forget(struct client *c)
{
	forget(&c->p->answers, c);
	forget(&c->p->losses, c);
	forget(&c->p->retries, c);
}
