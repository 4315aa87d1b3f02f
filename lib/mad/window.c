/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A window of requests in flight.
 *
 * run() sends and receives in the caller's thread, in slices short enough for cancel(): an answer
 * costs no hand-over between threads, and what comes between two runs waits in the port's queue.
 *
 * Works on hardware, where each request is answered or comes back as undeliverable, and below
 * umad2sim over ibsim, where a request may vanish:
 * - Only the low 32 bits of a transaction ID are ours. They number the sends, so an answer also
 *   shows which sends the other side has taken from its queue.
 * - A node gets no more than its share of the window, and one that is dead costs one request's
 *   attempts.
 * - A write hangs when the queue of a server that does not read is full. After MUTE_LIMIT sends
 *   without any answer, runs send one probe now and then. The port stays open: umad2sim would wait
 *   for the server to open it again.
 */
#include "lib/mad/window.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include <ibcc/mad.h>

#include "lib/mad/window_run.h"

#define MS              1000000ull
#define SLOTS           256u /* twice the window, so that a free one is near */
#define MUTE_LIMIT      128u
#define RECEIVE_MAX     4u /* datagrams to receive before sending goes on */
#define SLICE_MS        50 /* longest wait without looking at cancel */
#define MAX_BACKOFF     3u /* the timeout doubles this often */
#define LATE_SHARE      4u /* part of its first timeout: an answer that takes longer hardly comes */
#define RETRY_PAUSE_NS  (10 * MS)
#define DRAIN_NS        (2000 * MS)
#define PROBE_FIRST_NS  (1000 * MS)
#define PROBE_MAX_NS    (60000 * MS)
#define DEFAULT_WINDOW  64u
#define DEFAULT_TIMEOUT 200u
#define MAX_TIMEOUT_MS  60000u
#define MAX_RETRIES     16u
#define LOSS_SAMPLE     100u /* attempts between two checks of the losses */

struct slot {
	bool busy;
	uint32_t tid;
	size_t op;
	uint64_t late_ns, deadline_ns;
};

struct ibcc_window {
	const struct ibcc_port_ops *ops;
	void *port;
	unsigned int size, node_size, timeout_ms, retries;
	uint64_t node_gap_ns;

	/* allows one run() at a time; guards all members below except the flags */
	pthread_mutex_t run_lock;
	atomic_bool running, cancel;
	bool gone;
	struct slot slot[SLOTS];
	struct ibcc_run_node *node; /* by LID */
	struct ibcc_run run;
	unsigned int in_flight;
	uint64_t due_ns; /* the earliest deadline of an attempt, or a time before it */
	uint32_t next_tid;
	unsigned int unheard;     /* sends after the newest one that was answered */
	uint64_t n_sent, n_heard; /* datagrams; equal when nothing is open */
	uint64_t last_send_ns, probe_ns, probe_wait_ns;
	unsigned int open_size; /* value of `size` while few datagrams get lost */
	/* attempts since the last check of losses, and how many of them were lost */
	unsigned int n_tried, n_lost;
};

static uint64_t now_ns(const struct ibcc_window *w)
{
	return w->ops->now_ns(w->port);
}

/* The fabric's time that comes along with an answer. */
static uint64_t fabric_ns(const struct ibcc_window *w, const uint8_t *answer)
{
	return w->ops->fabric_ns ? w->ops->fabric_ns(w->port, answer) : now_ns(w);
}

/* Adapts the window to losses. A loss on the way to nodes that answer means that too many requests
 * were in flight.
 */
static void count_loss(struct ibcc_window *w, unsigned int tried, unsigned int lost)
{
	w->n_tried += tried;
	w->n_lost += lost;
	if (w->n_tried < LOSS_SAMPLE)
		return;
	if (w->n_lost * 100 <= w->n_tried)
		w->size += w->size < w->open_size;
	else if (w->size > IBCC_WINDOW_LEAST)
		w->size = w->size / 2 > IBCC_WINDOW_LEAST ? w->size / 2 : IBCC_WINDOW_LEAST;
	w->n_tried = w->n_lost = 0;
}

/* Handles a failed attempt. Tries again after a pause (ibsim reports at once what it cannot
 * deliver), or ends the request with `err`.
 */
static void attempt_failed(struct ibcc_window *w, struct ibcc_run *r, size_t i, uint64_t now,
			   int err)
{
	struct ibcc_run_progress *p = &r->progress[i];

	if (p->attempts <= w->retries) {
		ibcc_run_later(r, i, now + RETRY_PAUSE_NS * p->attempts);
		return;
	}
	if (err == -ETIMEDOUT)
		ibcc_run_count(r, i, IBCC_RUN_TIMED_OUT);
	if (ibcc_run_node_of(r, i) && !ibcc_run_node_of(r, i)->answered)
		ibcc_run_node_of(r, i)->dead = true;
	else if (ibcc_run_node_of(r, i))
		count_loss(w, p->attempts, p->attempts);
	r->op[i].t_ns = fabric_ns(w, NULL);
	ibcc_run_finish(r, i, err);
}

/* Takes a free slot, and makes the transaction ID that leads to it. */
static struct slot *slot_take(struct ibcc_window *w)
{
	while (w->slot[w->next_tid % SLOTS].busy || w->next_tid == 0)
		w->next_tid++;
	return &w->slot[w->next_tid % SLOTS];
}

static void note_due(struct ibcc_window *w, const struct slot *s)
{
	uint64_t due = s->late_ns < s->deadline_ns ? s->late_ns : s->deadline_ns;

	if (due < w->due_ns)
		w->due_ns = due;
}

static void send_one(struct ibcc_window *w, struct ibcc_run *r, size_t i)
{
	struct ibcc_mad_op *op = &r->op[i];
	struct ibcc_run_progress *p = &r->progress[i];
	unsigned int doublings = p->attempts < MAX_BACKOFF ? p->attempts : MAX_BACKOFF;
	unsigned int wait_ms = w->timeout_ms << doublings;
	struct slot *s = slot_take(w);
	struct ibcc_mad_header h;
	int rc;

	/* Sets only this field: a directed route has its hops in bytes that other MADs do not use.
	 */
	mad_set_field64(op->mad, 0, IB_MAD_TRID_F, w->next_tid);
	ibcc_mad_header_unpack(op->mad, &h);
	op->sent_ns = fabric_ns(w, NULL);
	rc = w->ops->send(w->port, op, wait_ms);
	if (rc < 0) {
		w->gone |= rc == -ENODEV;
		ibcc_run_finish(r, i, -EIO);
		return;
	}
	ibcc_run_count(r, i, IBCC_RUN_SENT);
	if (p->attempts++)
		ibcc_run_count(r, i, IBCC_RUN_RETRIED);
	else if (h.method == IBCC_MAD_SET)
		r->stats->sets++;
	w->last_send_ns = now_ns(w);
	if (ibcc_run_node_of(r, i))
		ibcc_run_node_of(r, i)->next_ns = w->last_send_ns + w->node_gap_ns;
	/* Somewhat longer than the kernel's own timeout, so that the kernel's report comes first.
	 */
	*s = (struct slot){ .busy = true,
			    .tid = w->next_tid++,
			    .op = i,
			    .late_ns = ibcc_run_node_of(r, i)
					       ? UINT64_MAX
					       : w->last_send_ns + w->timeout_ms * MS / LATE_SHARE,
			    .deadline_ns = w->last_send_ns + (wait_ms + wait_ms / 4) * MS };
	note_due(w, s);
	w->in_flight++;
	w->unheard++;
	w->n_sent++;
}

static bool is_mute(const struct ibcc_window *w)
{
	return w->unheard >= MUTE_LIMIT;
}

/* Whether to send. At most MUTE_LIMIT requests may lie unread at the other side. One more is sent
 * now and then to find out whether it reads again.
 */
static bool may_send(struct ibcc_window *w, uint64_t now)
{
	if (!is_mute(w))
		return true;
	if (w->in_flight || now < w->probe_ns)
		return false;
	w->probe_wait_ns = w->probe_wait_ns ? 2 * w->probe_wait_ns : PROBE_FIRST_NS;
	if (w->probe_wait_ns > PROBE_MAX_NS)
		w->probe_wait_ns = PROBE_MAX_NS;
	w->probe_ns = now + w->probe_wait_ns;
	return true;
}

static void fill(struct ibcc_window *w, struct ibcc_run *r)
{
	while (w->in_flight < w->size && !w->gone) {
		uint64_t now = now_ns(w);
		bool again = ibcc_run_due_ns(r) <= now;
		struct ibcc_run_node *d;
		size_t i;

		if ((!again && !r->ready.len && r->next == r->n) || !may_send(w, now))
			return;
		if (again)
			i = ibcc_run_later_pop(r);
		else if (!ibcc_run_next(r, &i))
			return;
		d = ibcc_run_node_of(r, i);
		if (d && d->dead) {
			r->op[i].t_ns = fabric_ns(w, NULL);
			ibcc_run_count(r, i, IBCC_RUN_TIMED_OUT);
			ibcc_run_finish(r, i, -ETIMEDOUT);
		} else if (d && d->next_ns > now) {
			ibcc_run_later(r, i, d->next_ns);
		} else {
			send_one(w, r, i);
		}
	}
}

/* Whether a datagram answers a request. Class and attribute must agree as well: a late answer to an
 * earlier agent may carry any transaction ID. GetResp answers both Get and Set.
 */
static bool is_answer(const struct ibcc_mad_header *got, const uint8_t *asked)
{
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(asked, &h);
	return got->method == IBCC_MAD_GET_RESP && got->mgmt_class == h.mgmt_class &&
	       got->attr_id == h.attr_id;
}

/* Takes a datagram. r is NULL while draining. */
static void handle(struct ibcc_window *w, struct ibcc_run *r, const uint8_t *mad, int len,
		   bool undeliverable)
{
	struct ibcc_mad_header h;
	struct ibcc_mad_op *op;
	struct slot *s;
	uint32_t after;
	bool busy;

	if (len < (int)IBCC_MAD_HEADER_BYTES)
		return;
	ibcc_mad_header_unpack(mad, &h);
	after = w->next_tid - 1 - (uint32_t)h.tid;
	if (after >= 1u << 31)
		return; /* not an answer to one of our requests */
	w->n_heard++;
	if (after < w->unheard)
		w->unheard = after;
	w->probe_ns = 0;
	w->probe_wait_ns = 0;
	s = &w->slot[(uint32_t)h.tid % SLOTS];
	if (!r || !s->busy || s->tid != (uint32_t)h.tid)
		return; /* the request has ended */
	op = &r->op[s->op];
	if (!undeliverable && (len < (int)IBCC_MAD_BYTES || !is_answer(&h, op->mad)))
		return;
	s->busy = false;
	w->in_flight--;
	busy = h.status == IBCC_MAD_STATUS_BUSY;
	if (undeliverable || (busy && r->progress[s->op].attempts <= w->retries)) {
		attempt_failed(w, r, s->op, now_ns(w), -ETIMEDOUT);
		return;
	}
	memcpy(op->mad, mad, IBCC_MAD_BYTES);
	op->status = h.status;
	op->t_ns = fabric_ns(w, mad);
	count_loss(w, r->progress[s->op].attempts, r->progress[s->op].attempts - 1u);
	ibcc_run_count(r, s->op, IBCC_RUN_ANSWERED);
	if (op->status)
		ibcc_run_count(r, s->op, IBCC_RUN_REFUSED);
	if (ibcc_run_node_of(r, s->op)) {
		ibcc_run_node_of(r, s->op)->answered = true;
		ibcc_run_node_of(r, s->op)->dead = false;
	}
	ibcc_run_finish(r, s->op, op->status ? -EREMOTEIO : 0);
}

/* Receives what has come, but not all at once: a server that has answered everything would have
 * nothing to do until we have read it. Waits up to wait_ms for the first datagram.
 */
static void receive(struct ibcc_window *w, struct ibcc_run *r, int wait_ms)
{
	for (unsigned int k = 0; k < RECEIVE_MAX; k++) {
		uint8_t mad[IBCC_MAD_BYTES] = { 0 };
		bool undeliverable = false;
		int len = w->ops->recv(w->port, mad, &undeliverable, wait_ms);

		if (len < 0) {
			w->gone |= len == -ENODEV;
			return;
		}
		handle(w, r, mad, len, undeliverable);
		wait_ms = 0;
	}
}

/* Ends attempts whose time is over. While a request is late, others of the same node may be sent.
 */
static void expire(struct ibcc_window *w, struct ibcc_run *r, uint64_t now)
{
	if (now < w->due_ns)
		return;
	w->due_ns = UINT64_MAX;
	for (unsigned int k = 0; k < SLOTS && w->in_flight; k++) {
		struct slot *s = &w->slot[k];

		if (!s->busy)
			continue;
		if (s->late_ns <= now) {
			s->late_ns = UINT64_MAX;
			ibcc_run_is_late(r, s->op);
		}
		if (s->deadline_ns <= now) {
			s->busy = false;
			w->in_flight--;
			attempt_failed(w, r, s->op, now, -ETIMEDOUT);
		} else {
			note_due(w, s);
		}
	}
}

/* The time of the next thing to do, if no datagram comes. */
static uint64_t next_due(const struct ibcc_window *w, const struct ibcc_run *r, uint64_t now)
{
	if (w->in_flight >= w->size || is_mute(w))
		return w->due_ns;
	if (r->ready.len || r->next < r->n)
		return now;
	return ibcc_run_due_ns(r) < w->due_ns ? ibcc_run_due_ns(r) : w->due_ns;
}

/* Ends a request that was begun. Its answer is not waited for any more. */
static void give_up_on(struct ibcc_run *r, size_t i, int err)
{
	if (err == -ETIMEDOUT && r->progress[i].attempts)
		ibcc_run_count(r, i, IBCC_RUN_TIMED_OUT);
	ibcc_run_finish(r, i, err);
}

/* Ends every unfinished request with err. */
static void give_up(struct ibcc_window *w, struct ibcc_run *r, int err)
{
	size_t i;

	for (unsigned int k = 0; k < SLOTS; k++) {
		if (w->slot[k].busy)
			give_up_on(r, w->slot[k].op, err);
		w->slot[k].busy = false;
	}
	w->in_flight = 0;
	w->due_ns = UINT64_MAX;
	while (r->n_later)
		give_up_on(r, ibcc_run_later_pop(r), err);
	/* Each request that ends lets another request of its node begin. */
	while (ibcc_run_next(r, &i))
		ibcc_run_finish(r, i, err);
}

static void work(struct ibcc_window *w, struct ibcc_run *r, uint64_t deadline_ns)
{
	/* Datagrams that came since the last run show whether the other side is alive. */
	receive(w, r, 0);
	while (r->left) {
		uint64_t now, due;

		if (!deadline_ns || now_ns(w) < deadline_ns)
			fill(w, r);
		now = now_ns(w);
		expire(w, r, now);
		due = next_due(w, r, now);
		if (due > deadline_ns && deadline_ns)
			due = deadline_ns;
		if (w->gone || (is_mute(w) && !w->in_flight && now < w->probe_ns)) {
			give_up(w, r, -EIO);
		} else if (atomic_load(&w->cancel)) {
			give_up(w, r, -ECANCELED);
		} else if (deadline_ns && now >= deadline_ns) {
			give_up(w, r, -ETIMEDOUT);
		} else if (r->left) {
			uint64_t ms = due <= now ? 0 : (due - now) / MS + 1;

			receive(w, r, ms > SLICE_MS ? SLICE_MS : (int)ms);
		}
	}
}

int ibcc_window_run(struct ibcc_window *w, struct ibcc_mad_op *op, size_t n, uint64_t deadline_ns,
		    struct ibcc_transport_stats *stats)
{
	int rc;

	if (n == 0)
		return 0;
	for (size_t i = 0; i < n; i++) {
		op[i].err = -ENOMEM;
		op[i].status = 0;
	}
	pthread_mutex_lock(&w->run_lock);
	rc = ibcc_run_begin(&w->run, op, n, stats, w->node, w->node_size);
	if (rc < 0)
		goto out;
	atomic_store(&w->cancel, false);
	atomic_store(&w->running, true);
	work(w, &w->run, deadline_ns);
	atomic_store(&w->running, false);
	stats->window = w->size;
	/* A silent server is probed. Opening the port again would wait for that server. */
	rc = w->gone ? -EIO : 0;
out:
	pthread_mutex_unlock(&w->run_lock);
	return rc;
}

void ibcc_window_cancel(struct ibcc_window *w)
{
	if (atomic_load(&w->running))
		atomic_store(&w->cancel, true);
}

bool ibcc_window_drain(struct ibcc_window *w)
{
	uint64_t wait_ns = 2ull * w->timeout_ms * MS;

	if (wait_ns < DRAIN_NS)
		wait_ns = DRAIN_NS;
	while (!w->gone && w->n_heard < w->n_sent && now_ns(w) < w->last_send_ns + wait_ns)
		receive(w, NULL, SLICE_MS);
	/* Requests before one that was answered have left the queue: they are lost for good. */
	return w->gone || w->n_heard >= w->n_sent || w->unheard == 0;
}

static unsigned int pick(unsigned int v, unsigned int fallback, unsigned int max)
{
	return v == 0 ? fallback : v > max ? max : v;
}

struct ibcc_window *ibcc_window_new(const struct ibcc_port_ops *ops, void *port,
				    const struct ibcc_umad_options *o)
{
	struct ibcc_window *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->node = calloc(IBCC_RUN_LIDS, sizeof(*w->node));
	if (!w->node) {
		free(w);
		return NULL;
	}
	w->ops = ops;
	w->port = port;
	w->due_ns = UINT64_MAX;
	w->open_size = w->size = pick(o->window, DEFAULT_WINDOW, IBCC_WINDOW_MAX);
	w->node_size = pick(o->node_window, IBCC_WINDOW_NODE_MAX, IBCC_WINDOW_NODE_MAX);
	w->node_gap_ns = o->node_gap_us * 1000ull;
	w->timeout_ms = pick(o->timeout_ms, DEFAULT_TIMEOUT, MAX_TIMEOUT_MS);
	w->retries = o->retries > MAX_RETRIES ? MAX_RETRIES : o->retries;
	/* Begins where an earlier process with the same agent number hardly was. */
	w->next_tid = (uint32_t)(now_ns(w) >> 10) | 1;
	pthread_mutex_init(&w->run_lock, NULL);
	return w;
}

void ibcc_window_free(struct ibcc_window *w)
{
	if (!w)
		return;
	pthread_mutex_destroy(&w->run_lock);
	ibcc_run_fini(&w->run);
	free(w->node);
	free(w);
}
