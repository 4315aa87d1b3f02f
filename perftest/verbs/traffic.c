/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/traffic.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <ibcc/now.h>
#include <ibcc/rng.h>
#include <ibcc/text.h>

#define BATCH        32
#define DRAIN_NS     10000000000ull /* longest wait for messages under way at the end */
#define LOOK_NS      1000000ull     /* how often a polling host checks for messages */
#define DEPTH_NS     100000000.0    /* a flow with a rate may be late by this much */
#define MAX_SLEEP_NS 1000000000ull

/* The state of one run. */
struct run {
	struct ibcc_perf_traffic *t;
	const struct ibcc_perf_listener *l;
	struct ibcc_why *e;
	uint64_t next_report_ns, next_look_ns, finish_ns;
	bool finishing, finished, stop;
};

int ibcc_perf_traffic_init(struct ibcc_perf_traffic *t, const struct ibcc_perf_job *j,
			   struct ibcc_perf_port *p, struct ibcc_perf_qp *qps, struct ibcc_why *e)
{
	uint32_t i;

	*t = (struct ibcc_perf_traffic){ .job = j, .port = p, .qp = qps };
	t->stream = calloc(j->n_flows, sizeof(*t->stream));
	if (!t->stream)
		return ibcc_perf_fail(e, ENOMEM, "memory for %u flow%s", j->n_flows,
				      ibcc_text_plural(j->n_flows, "", "s"));
	for (i = 0; i < j->n_flows; i++)
		t->stream[i].flow = &j->flow[i];
	for (i = 0; i < j->n_qps; i++)
		t->stream[j->qp[i].flow].n_qps += j->qp[i].active;
	for (i = 0; i < j->n_flows; i++) {
		struct ibcc_perf_stream *s = &t->stream[i];

		s->qp = calloc(s->n_qps + 1u, sizeof(*s->qp));
		if (!s->qp)
			return ibcc_perf_fail(e, ENOMEM, "memory for %u connection%s", s->n_qps,
					      ibcc_text_plural(s->n_qps, "", "s"));
		/* Without a rate, nothing would hold the flow back. */
		if (s->n_qps && ibcc_arrivals_paced(s->flow->arrivals) &&
		    !(s->flow->rate_mbps > 0) && !p->rate_mbps)
			return ibcc_perf_fail(e, 0,
					      "%s port %u reports no link rate, of which the load "
					      "of flow %s is a share: give the flow a rate",
					      p->name, p->num, s->flow->name);
		s->n_qps = 0;
	}
	for (i = 0; i < j->n_qps; i++) {
		struct ibcc_perf_stream *s = &t->stream[j->qp[i].flow];

		if (j->qp[i].active)
			s->qp[s->n_qps++] = i;
	}
	return 0;
}

void ibcc_perf_traffic_fini(struct ibcc_perf_traffic *t)
{
	for (uint32_t i = 0; t->stream && i < t->job->n_flows; i++)
		free(t->stream[i].qp);
	free(t->stream);
	memset(t, 0, sizeof(*t));
}

/* Clears the state for a run. */
static void reset(struct ibcc_perf_traffic *t)
{
	for (uint32_t i = 0; i < t->job->n_flows; i++) {
		struct ibcc_perf_stream *s = &t->stream[i];
		const struct ibcc_perf_flow *f = s->flow;
		double mbps = f->rate_mbps > 0 ? f->rate_mbps : f->load * t->port->rate_mbps;
		double interval = ibcc_arrivals_paced(f->arrivals) && mbps > 0
					  ? f->message_bytes * 8e3 / mbps
					  : 0;

		memset(&s->tally, 0, sizeof(s->tally));
		s->cursor = s->on_way = 0;
		s->rng = f->seed;
		s->pace = (struct ibcc_perf_pace){
			.start_ns = f->start_ns,
			.stop_ns = f->stop_ns,
			.on_ns = f->on_ns,
			.off_ns = f->off_ns,
			.interval_ns = interval,
			.exponential = f->arrivals == IBCC_ARRIVALS_EXPONENTIAL,
			.depth = interval > 0 ? (uint32_t)(DEPTH_NS / interval) + 1 : 0,
			.rng = f->seed + 1,
		};
		ibcc_perf_pace_start(&s->pace);
	}
	for (uint32_t i = 0; i < t->job->n_qps; i++)
		t->qp[i].received = t->qp[i].verified = t->qp[i].bad = 0;
	t->on_way = 0;
}

static struct ibcc_perf_qp *choose(struct ibcc_perf_traffic *t, struct ibcc_perf_stream *s,
				   uint32_t *number)
{
	uint32_t k = s->flow->spread ? ibcc_rng_below(&s->rng, s->n_qps) : s->cursor++ % s->n_qps;

	*number = s->qp[k];
	return &t->qp[*number];
}

/* Posts all messages that are due and fit the windows. */
static int post_due(struct run *r, uint64_t now_ns)
{
	struct ibcc_perf_traffic *t = r->t;
	uint32_t i, number;
	uint64_t due;
	int rc;

	for (i = 0; i < t->job->n_flows; i++) {
		struct ibcc_perf_stream *s = &t->stream[i];

		while (s->n_qps && s->on_way < s->flow->window &&
		       ibcc_perf_pace_take(&s->pace, now_ns, &due)) {
			struct ibcc_perf_qp *x = choose(t, s, &number);

			rc = ibcc_perf_qp_post(x, number, due, t->job->verify, r->e);
			if (rc)
				return rc;
			s->on_way++;
			t->on_way++;
		}
	}
	return 0;
}

static int completion_error(struct run *r, const struct ibv_wc *wc, const struct ibcc_perf_qp *x)
{
	uint64_t done = x->spec->active ? x->posted : x->received;
	char name[200];

	return ibcc_perf_fail(r->e, 0, "%s: a work request failed after %llu message%s: %s%s",
			      ibcc_perf_qp_name(x, name, sizeof(name)), (unsigned long long)done,
			      ibcc_text_plural(done, "", "s"), ibv_wc_status_str(wc->status),
			      wc->status == IBV_WC_RETRY_EXC_ERR
				      ? " (the peer does not answer, or the path to it is broken)"
				      : "");
}

static int take(struct run *r, const struct ibv_wc *wc, uint64_t now_ns)
{
	struct ibcc_perf_traffic *t = r->t;
	uint32_t number = (uint32_t)(wc->wr_id >> 32), slot = (uint32_t)wc->wr_id;
	struct ibcc_perf_qp *x;
	struct ibcc_perf_stream *s;

	if (number >= t->job->n_qps || slot >= t->qp[number].slots)
		return ibcc_perf_fail(r->e, 0,
				      "%s reported a completion for a work request that ibcc-perf "
				      "never posted: its driver is faulty",
				      t->port->name);
	x = &t->qp[number];
	s = &t->stream[x->spec->flow];
	if (wc->status != IBV_WC_SUCCESS)
		return completion_error(r, wc, x);
	if (!x->spec->active)
		return ibcc_perf_qp_received(x, number, slot, t->job->verify, wc->byte_len, r->e);
	ibcc_perf_qp_done(x, slot, t->job->verify);
	s->on_way--;
	t->on_way--;
	s->tally.messages++;
	if (now_ns > t->to_ns)
		return 0; /* the message was under way at the end */
	s->tally.bytes += s->flow->message_bytes;
	if (now_ns >= t->from_ns) {
		uint64_t due = x->due_ns[slot];

		s->tally.measured_messages++;
		s->tally.measured_bytes += s->flow->message_bytes;
		ibcc_perf_hist_add(&s->tally.latency, now_ns > due ? now_ns - due : 0);
	}
	return 0;
}

/* Takes completions; returns their number. */
static int take_all(struct run *r)
{
	struct ibv_wc wc[BATCH];
	int n = ibv_poll_cq(r->t->port->cq, BATCH, wc), i, rc = 0;
	uint64_t now_ns = ibcc_now_ns() - r->t->epoch_ns;

	if (n < 0)
		return ibcc_perf_fail(r->e, EIO, "ibv_poll_cq on %s", r->t->port->name);
	for (i = 0; i < n && !rc; i++)
		rc = take(r, &wc[i], now_ns);
	return rc ? rc : n;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* When the next action is due, unless a completion or a message comes before. */
static uint64_t next_ns(const struct run *r, uint64_t now_ns)
{
	const struct ibcc_perf_traffic *t = r->t;
	uint64_t at = now_ns + MAX_SLEEP_NS;

	if (r->finishing)
		return earlier(at, r->finished ? at : r->finish_ns + DRAIN_NS);
	at = earlier(earlier(at, t->to_ns), r->next_report_ns);
	for (uint32_t i = 0; i < t->job->n_flows; i++) {
		const struct ibcc_perf_stream *s = &t->stream[i];

		if (s->n_qps && s->on_way < s->flow->window)
			at = earlier(at, ibcc_perf_pace_next(&s->pace, now_ns));
	}
	return at;
}

static int async_event(struct run *r)
{
	struct ibv_async_event event;

	if (ibv_get_async_event(r->t->port->context, &event))
		return errno == EAGAIN || errno == EINTR
			       ? 0
			       : ibcc_perf_fail(r->e, errno, "ibv_get_async_event on %s",
						r->t->port->name);
	ibv_ack_async_event(&event);
	switch ((int)event.event_type) {
	case IBV_EVENT_CQ_ERR:
	case IBV_EVENT_QP_FATAL:
	case IBV_EVENT_QP_REQ_ERR:
	case IBV_EVENT_QP_ACCESS_ERR:
	case IBV_EVENT_PORT_ERR:
	case IBV_EVENT_DEVICE_FATAL:
		return ibcc_perf_fail(r->e, 0, "the device %s reported: %s", r->t->port->name,
				      ibv_event_type_str(event.event_type));
	default: return 0; /* harmless to the traffic */
	}
}

/* Takes the event off the channel, and asks for the next one. */
static int rearm(struct run *r)
{
	struct ibcc_perf_port *p = r->t->port;
	struct ibv_cq *cq;
	void *context;
	int rc;

	if (!ibv_get_cq_event(p->channel, &cq, &context)) {
		if (++p->unacked == 1000) {
			ibv_ack_cq_events(p->cq, p->unacked);
			p->unacked = 0;
		}
	} else if (errno != EAGAIN && errno != EINTR) {
		return ibcc_perf_fail(r->e, errno, "ibv_get_cq_event on %s", p->name);
	}
	rc = ibv_req_notify_cq(p->cq, 0);
	return rc ? ibcc_perf_fail(r->e, rc > 0 ? rc : EIO, "ibv_req_notify_cq on %s", p->name) : 0;
}

static int obey(struct run *r, int order)
{
	if (order < 0)
		return order;
	r->finishing = r->finishing || order == IBCC_PERF_FINISH;
	r->stop = order == IBCC_PERF_STOP;
	return 0;
}

/* Sleeps until there is something to do; with 0 it only checks. */
static int wait_for(struct run *r, uint64_t ns)
{
	struct ibcc_perf_port *p = r->t->port;
	struct pollfd fd[3] = { { .fd = r->l->fd, .events = POLLIN },
				{ .fd = p->context->async_fd, .events = POLLIN },
				{ .fd = p->channel ? p->channel->fd : -1, .events = POLLIN } };
	struct timespec t = { (time_t)(ns / 1000000000), (long)(ns % 1000000000) };
	int rc = 0;

	if (ppoll(fd, 3, &t, NULL) < 0)
		return errno == EINTR ? 0 : -errno;
	if (fd[2].revents)
		rc = rearm(r);
	if (!rc && fd[1].revents)
		rc = async_event(r);
	if (!rc && fd[0].revents)
		rc = obey(r, r->l->control(r->l->arg));
	return rc;
}

/* Does what is due by time: the end, a report. */
static int keep_time(struct run *r, uint64_t now_ns)
{
	int rc = 0;

	if (!r->finishing && now_ns >= r->t->to_ns)
		r->finishing = true;
	if (r->finishing && !r->finish_ns) {
		r->finish_ns = now_ns;
		r->t->to_ns = earlier(r->t->to_ns, now_ns);
		/* Messages that a sender did not get to send by then count as missed. */
		for (uint32_t i = 0; i < r->t->job->n_flows; i++)
			if (r->t->stream[i].n_qps)
				ibcc_perf_pace_end(&r->t->stream[i].pace, r->t->to_ns);
	}
	if (r->finishing && !r->finished && !r->t->on_way) {
		r->finished = true;
		rc = obey(r, r->l->finished(r->l->arg, now_ns));
	} else if (r->finishing && !r->finished && now_ns > r->finish_ns + DRAIN_NS) {
		rc = ibcc_perf_fail(r->e, 0, "%llu %s still under way %llu s after the end",
				    (unsigned long long)r->t->on_way,
				    ibcc_text_plural(r->t->on_way, "message is", "messages are"),
				    DRAIN_NS / 1000000000u);
	} else if (!r->finishing && now_ns >= r->next_report_ns) {
		r->next_report_ns +=
			r->l->report_ns * ((now_ns - r->next_report_ns) / r->l->report_ns + 1);
		rc = obey(r, r->l->report(r->l->arg, now_ns));
	}
	return rc;
}

static int step(struct run *r)
{
	uint64_t now_ns = ibcc_now_ns() - r->t->epoch_ns, next;
	int rc = keep_time(r, now_ns), n;

	if (!rc && !r->finishing)
		rc = post_due(r, now_ns);
	n = rc ? rc : take_all(r);
	if (n < 0)
		return n;
	if (n) {
		/* While the host is busy, it still checks for messages of the coordinator. */
		if (now_ns < r->next_look_ns)
			return 0;
		r->next_look_ns = now_ns + LOOK_NS;
		return wait_for(r, 0);
	}
	if (r->t->job->polling && !r->finished) {
		if (now_ns < r->next_look_ns)
			return 0;
		r->next_look_ns = now_ns + LOOK_NS;
		return wait_for(r, 0);
	}
	next = next_ns(r, now_ns);
	now_ns = ibcc_now_ns() - r->t->epoch_ns;
	return wait_for(r, next > now_ns ? next - now_ns : 0);
}

int ibcc_perf_traffic_run(struct ibcc_perf_traffic *t, uint64_t from_ns, uint64_t to_ns,
			  const struct ibcc_perf_listener *l, struct ibcc_why *e)
{
	struct run r = { .t = t, .l = l, .e = e, .next_report_ns = l->report_ns };
	int rc = 0, flags = fcntl(t->port->context->async_fd, F_GETFL);

	if (flags < 0 || fcntl(t->port->context->async_fd, F_SETFL, flags | O_NONBLOCK))
		return ibcc_perf_fail(e, errno, "cannot wait for events of %s", t->port->name);
	reset(t);
	t->from_ns = from_ns;
	t->to_ns = to_ns;
	t->epoch_ns = ibcc_now_ns();
	while (!rc && !r.stop)
		rc = step(&r);
	/* All hosts have finished, so our messages have come, but perhaps not been taken yet. */
	if (!rc)
		do
			rc = take_all(&r);
		while (rc > 0);
	if (rc)
		return rc;
	for (uint32_t i = 0; t->job->verify && i < t->job->n_qps; i++)
		ibcc_perf_qp_verify_written(&t->qp[i]);
	return 0;
}
