/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Connections in the engine: what each packet carries, when flows sleep and wake, time-outs.
 *
 * A flow sleeps until its next packet is due, for an acknowledgement that opens its window, or
 * both; what asks for packets again wakes it before its time, so that the event it has slept for
 * may come when it is up.
 */
#include "endpoint.h"

#include <errno.h>
#include <stdlib.h>

#include <ibcc/rng.h>

#include "conn.h"
#include "evq.h"
#include "latency.h"
#include "messages.h"

#define NAK        (1u << 31)
#define TIMEOUT_PS 4096000ull /* Local ACK Timeout 0 would be this (IBA vol. 1, 9.7.6.1.3) */
#define WINDOW_MAX 65536u
#define PSN_SEED   0x70736eull /* differs from the flows' and the paths' */

struct end {
	struct conn conn;
	bool asleep;
	bool timed;           /* EV_RETRY is under way */
	uint64_t wake_ps;     /* the event it sleeps for; NEVER: none */
	uint64_t progress_ps; /* when something was acknowledged, or sent first after that */
};

struct fab_ends {
	struct end *end; /* by flow */
	uint32_t n, cap;
	uint32_t *psn; /* by packet: its own; of answers, the first that has not come, and NAK */
	uint32_t cap_psn;
};

static struct conn *conn_of(const struct ibcc_engine *e, uint32_t flow)
{
	return &e->ends->end[flow].conn;
}

int ibcc_ends_add(struct ibcc_engine *e, uint64_t due_ps)
{
	uint64_t seed = e->seed ^ PSN_SEED ^ (uint64_t)e->n_flow << 32;
	struct end *x;
	int rc;

	if (!e->model.endpoint_window || e->model.endpoint_window > WINDOW_MAX ||
	    e->model.ack_timeout > 31)
		return -EINVAL;
	if (!e->ends)
		e->ends = calloc(1, sizeof(*e->ends));
	if (!e->ends ||
	    ibcc_fab_grow(&e->ends->end, &e->ends->cap, e->n_flow + 1, sizeof(*e->ends->end)))
		return -ENOMEM;
	x = &e->ends->end[e->n_flow];
	*x = (struct end){ .asleep = true, .wake_ps = due_ps };
	rc = ibcc_conn_init(&x->conn, e->model.endpoint == IBCC_ENDPOINT_OOO,
			    e->model.endpoint_window, (uint32_t)ibcc_rng_next(&seed));
	if (!rc)
		e->ends->n = e->n_flow + 1;
	return rc;
}

void ibcc_ends_free(struct ibcc_engine *e)
{
	if (!e->ends)
		return;
	for (uint32_t i = 0; i < e->ends->n; i++)
		ibcc_conn_fini(&e->ends->end[i].conn);
	free(e->ends->end);
	free(e->ends->psn);
	free(e->ends);
}

bool ibcc_ends_head(const struct ibcc_engine *e, uint32_t flow, uint64_t *due_ps)
{
	const struct conn *c = conn_of(e, flow);

	if (conn_goes_back(c)) {
		*due_ps = e->now_ps;
		return true;
	}
	*due_ps = NEVER;
	return !conn_open(c);
}

bool ibcc_ends_still_due(struct ibcc_engine *e, uint32_t flow)
{
	return head_ps(e, &e->flow[flow]) <= e->now_ps;
}

/* No time-out: ack_timeout 0. */
static uint64_t timeout_ps(const struct ibcc_engine *e)
{
	return e->model.ack_timeout ? TIMEOUT_PS << e->model.ack_timeout : 0;
}

static void set_timer(struct ibcc_engine *e, uint32_t flow)
{
	struct end *x = &e->ends->end[flow];

	if (x->timed || !timeout_ps(e))
		return;
	x->timed = true;
	evq_push(e, x->progress_ps + timeout_ps(e), EV_RETRY, flow);
}

bool ibcc_ends_sent(struct ibcc_engine *e, uint32_t flow, uint32_t pkt)
{
	struct fab_ends *x = e->ends;
	struct conn *c = conn_of(e, flow);
	bool again;

	if (pkt >= x->cap_psn &&
	    ibcc_fab_grow(&x->psn, &x->cap_psn, e->cap_pkts, sizeof(*x->psn))) {
		e->err = -ENOMEM;
		return false;
	}
	if (c->next == c->una)
		x->end[flow].progress_ps = e->now_ps;
	x->psn[pkt] = ibcc_conn_send(c, e->now_ps, &again);
	set_timer(e, flow);
	return again;
}

bool ibcc_ends_received(struct ibcc_engine *e, uint32_t pkt)
{
	uint32_t flow = e->pkt[pkt].flow;
	struct flow *f = &e->flow[flow];
	struct conn *c = conn_of(e, flow);
	struct conn_receipt r = ibcc_conn_receive(c, e->ends->psn[pkt]);

	for (uint32_t i = 0; i < r.complete; i++) {
		uint64_t ps = e->now_ps - c->first_ps[psn_add(r.from, i) & c->mask];

		f->received++;
		f->latency_ps += ps;
		latency_count(f->latency, ps);
		if (f->window)
			ibcc_messages_complete(e, f);
	}
	e->delivered += r.accepted;
	e->discarded += !r.accepted;
	e->ends->psn[pkt] = c->expected | (r.nak ? NAK : 0);
	return r.answer;
}

static void wake(struct ibcc_engine *e, uint32_t flow)
{
	struct end *x = &e->ends->end[flow];

	if (!x->asleep || x->wake_ps <= e->now_ps)
		return;
	if (ibcc_fab_reserve(e, 16, 0)) {
		e->err = -ENOMEM;
		return;
	}
	x->wake_ps = e->now_ps;
	evq_push(e, e->now_ps, EV_FLOW, flow);
}

void ibcc_ends_answered(struct ibcc_engine *e, uint32_t pkt)
{
	uint32_t flow = e->pkt[pkt].flow, psn = e->ends->psn[pkt];
	struct flow *f = &e->flow[flow];
	uint32_t n = ibcc_conn_acked(conn_of(e, flow), psn & PSN_MASK, psn & NAK);

	if (n)
		e->ends->end[flow].progress_ps = e->now_ps;
	for (uint32_t i = 0; i < n; i++)
		ibcc_fab_flow_acked(e, f);
	wake(e, flow);
}

void ibcc_ends_retry(struct ibcc_engine *e, uint32_t flow)
{
	struct end *x = &e->ends->end[flow];

	x->timed = false;
	if (x->conn.una == x->conn.high)
		return;
	if (x->progress_ps + timeout_ps(e) <= e->now_ps) {
		ibcc_conn_timed_out(&x->conn);
		x->progress_ps = e->now_ps;
		wake(e, flow);
	}
	set_timer(e, flow);
}

void ibcc_ends_sleep(struct ibcc_engine *e, uint32_t flow, uint64_t due_ps)
{
	e->ends->end[flow].asleep = true;
	e->ends->end[flow].wake_ps = due_ps;
}

bool ibcc_ends_woken(struct ibcc_engine *e, uint32_t flow)
{
	struct end *x = &e->ends->end[flow];

	if (!x->asleep || x->wake_ps != e->now_ps)
		return false;
	x->asleep = false;
	return true;
}

void ibcc_ends_account(const struct ibcc_engine *e, uint32_t flow, uint64_t *sent, uint64_t *out)
{
	const struct conn *c = conn_of(e, flow);

	*sent = e->flow[flow].sent + c->count.resent;
	*out = c->n_placed + c->count.out_of_order + c->count.duplicates;
}

int ibcc_engine_conn_read(const struct ibcc_engine *e, uint32_t flow, struct ibcc_engine_conn *out)
{
	if (flow >= e->n_flow)
		return -EINVAL;
	*out = e->ends ? conn_of(e, flow)->count : (struct ibcc_engine_conn){ 0 };
	return 0;
}
