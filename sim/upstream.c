/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The clients of ibsim that the proxy is (upstream.h): one slot for each host that clients are
 * attached at. ibsim answers control in order on one socket, so one request at a time is under
 * way there, and the others wait in `ctls`. Control, MADs, their order and ibsim's end share one
 * set of queues, so they are in one file.
 */
#include "sim/upstream.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#include "sim/pending.h"
#include "sim/sendq.h"

#define CTL_RETRY_US 5000u /* pause while ibsim is starting */
#define QUEUE_MAX    65536u

struct ctl {
	STAILQ_ENTRY(ctl) link;
	/* the slot whose client number the request gets when it is sent; NULL: none */
	struct ibcc_upstream_slot *slot;
	struct ibcc_wire_ctl c;
	ibcc_upstream_ctl_done *done;
	void *arg;
	bool sent;
};

struct waiter {
	STAILQ_ENTRY(waiter) link;
	ibcc_upstream_attached *done;
	void *arg;
};

struct ibcc_upstream_slot {
	TAILQ_ENTRY(ibcc_upstream_slot) link;
	struct ibcc_upstream *u;
	unsigned int refs;
	bool connected, up, failed;
	bool leaving; /* ibsim was sent DISCONNECT; its answer frees the slot */
	bool has_issm;
	struct ibcc_wire_ctl issm; /* the flag as it was last set */
	char want[IBCC_WIRE_NODE_BYTES], node[IBCC_WIRE_NODE_BYTES];
	uint64_t node_guid;
	uint32_t serial, id; /* number of our socket; client number at ibsim */
	int fd;
	sd_event_source *src;
	struct ibcc_sendq q;
	STAILQ_HEAD(, waiter) waiters;
};

struct ibcc_upstream {
	sd_event *ev;
	char name[64];
	int ctl_fd;
	sd_event_source *ctl_src, *retry_src;
	STAILQ_HEAD(, ctl) ctls;
	TAILQ_HEAD(, ibcc_upstream_slot) slots;
	struct ibcc_pending *pending;
	uint32_t serial;
	ibcc_upstream_request *request;
	void *request_arg;
	ibcc_upstream_amend *amend;
	void *amend_arg;
};

static uint64_t now_us(const struct ibcc_upstream *u)
{
	uint64_t t;

	return sd_event_now(u->ev, CLOCK_MONOTONIC, &t) < 0 ? 0 : t;
}

/* A datagram from ibsim: an answer ends its request, anything else goes to the proxy. */
static void slot_receive(struct ibcc_upstream_slot *s, struct ibcc_wire_mad *m)
{
	struct ibcc_upstream *u = s->u;

	if (!m->status && ibcc_wire_is_response(m->mad) && u->amend)
		u->amend(u->amend_arg, s, m);
	if (m->status || ibcc_wire_is_response(m->mad))
		ibcc_pending_answer(u->pending, m);
	else if (u->request)
		u->request(u->request_arg, s, m);
}

static int on_slot(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct ibcc_wire_mad m[IBCC_WIRE_BATCH];
	struct ibcc_upstream_slot *s = arg;
	int i, n;

	(void)src;
	if (revents & EPOLLOUT)
		ibcc_sendq_flush(&s->q);
	s->refs++; /* keeps the slot, since an answer may make the last client leave */
	n = ibcc_wire_receive(fd, m, IBCC_WIRE_BATCH);
	for (i = 0; i < n && s->refs > 1; i++)
		slot_receive(s, &m[i]);
	ibcc_upstream_release(s);
	return 0;
}

int ibcc_upstream_send(struct ibcc_upstream_slot *s, const struct ibcc_wire_mad *m,
		       ibcc_upstream_done *done, void *arg)
{
	struct ibcc_wire_mad out;
	int err;

	if (ibcc_wire_is_response(m->mad)) {
		ibcc_sendq_put(&s->q, m);
		return 0;
	}
	err = ibcc_pending_add(s->u->pending, m, done, arg, &out);
	if (err)
		return err;
	if (s->u->amend)
		s->u->amend(s->u->amend_arg, s, &out);
	ibcc_sendq_put(&s->q, &out);
	return 0;
}

int ibcc_upstream_expect(struct ibcc_upstream *u, const struct ibcc_wire_mad *m,
			 ibcc_upstream_done *done, void *arg, struct ibcc_wire_mad *out)
{
	return ibcc_pending_add(u->pending, m, done, arg, out);
}

void ibcc_upstream_answered(struct ibcc_upstream *u, const struct ibcc_wire_mad *m)
{
	ibcc_pending_answer(u->pending, m);
}

void ibcc_upstream_cancel(struct ibcc_upstream *u, const void *arg)
{
	struct ibcc_upstream_slot *s;
	struct waiter *w;
	struct ctl *c;

	ibcc_pending_cancel(u->pending, arg);
	for (c = STAILQ_FIRST(&u->ctls); c; c = STAILQ_NEXT(c, link))
		if (c->arg == arg)
			c->done = NULL;
	for (s = TAILQ_FIRST(&u->slots); s; s = TAILQ_NEXT(s, link))
		for (w = STAILQ_FIRST(&s->waiters); w; w = STAILQ_NEXT(w, link))
			if (w->arg == arg)
				w->done = NULL;
}

/* Control */

static void ctl_next(struct ibcc_upstream *u);

/* Ends the request of control under way and begins the next. */
static void ctl_end(struct ibcc_upstream *u, const struct ibcc_wire_ctl *reply)
{
	struct ctl *c = STAILQ_FIRST(&u->ctls);

	STAILQ_REMOVE_HEAD(&u->ctls, link);
	if (c->done)
		c->done(c->arg, reply);
	free(c);
	ctl_next(u);
}

static int on_ctl_retry(sd_event_source *src, uint64_t usec, void *arg)
{
	(void)src;
	(void)usec;
	ctl_next(arg);
	return 0;
}

/* Sends the first request of the queue if it is not under way. */
static void ctl_next(struct ibcc_upstream *u)
{
	struct ctl *c = STAILQ_FIRST(&u->ctls);
	struct sockaddr_un sa;
	socklen_t len;

	if (!c || c->sent)
		return;
	if (c->slot)
		c->c.client = c->slot->id;
	if (ibcc_wire_addr(&sa, &len, "%s:ctl", u->name) == 0 &&
	    sendto(u->ctl_fd, &c->c, sizeof(c->c), MSG_NOSIGNAL, (struct sockaddr *)&sa, len) >=
		    0) {
		c->sent = true;
		return;
	}
	sd_event_source_set_time(u->retry_src, now_us(u) + CTL_RETRY_US);
	sd_event_source_set_enabled(u->retry_src, SD_EVENT_ONESHOT);
}

static int on_ctl(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct ibcc_upstream *u = arg;
	struct ibcc_wire_ctl reply;

	(void)src;
	(void)revents;
	if (recv(fd, &reply, sizeof(reply), MSG_DONTWAIT) != sizeof(reply))
		return 0;
	if (STAILQ_EMPTY(&u->ctls) || !STAILQ_FIRST(&u->ctls)->sent)
		return 0;
	ctl_end(u, &reply);
	return 0;
}

static int ctl_add(struct ibcc_upstream *u, struct ibcc_upstream_slot *s,
		   const struct ibcc_wire_ctl *c, ibcc_upstream_ctl_done *done, void *arg)
{
	struct ctl *q = malloc(sizeof(*q));

	if (!q)
		return -ENOMEM;
	*q = (struct ctl){ .slot = s, .c = *c, .done = done, .arg = arg };
	q->c.magic = IBCC_WIRE_MAGIC;
	STAILQ_INSERT_TAIL(&u->ctls, q, link);
	ctl_next(u);
	return 0;
}

int ibcc_upstream_ctl(struct ibcc_upstream_slot *s, const struct ibcc_wire_ctl *c,
		      ibcc_upstream_ctl_done *done, void *arg)
{
	if (c->type == IBCC_WIRE_SET_ISSM) {
		s->has_issm = true;
		s->issm = *c;
	}
	return ctl_add(s->u, s, c, done, arg);
}

/* Attachments */

static void slot_free(struct ibcc_upstream_slot *s)
{
	struct waiter *w;
	struct ctl *c;

	for (c = STAILQ_FIRST(&s->u->ctls); c; c = STAILQ_NEXT(c, link))
		if (c->slot == s)
			c->slot = NULL;
	while ((w = STAILQ_FIRST(&s->waiters))) {
		STAILQ_REMOVE_HEAD(&s->waiters, link);
		free(w);
	}
	TAILQ_REMOVE(&s->u->slots, s, link);
	sd_event_source_disable_unref(s->src);
	ibcc_sendq_fini(&s->q);
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* Calls all requests that wait for the slot. Those that were cancelled hold no reference. */
static void slot_tell(struct ibcc_upstream_slot *s)
{
	struct waiter *w;

	s->refs++;
	while ((w = STAILQ_FIRST(&s->waiters))) {
		STAILQ_REMOVE_HEAD(&s->waiters, link);
		if (w->done && s->up) {
			s->refs++;
			w->done(w->arg, s);
		} else if (w->done) {
			w->done(w->arg, NULL);
		}
		free(w);
	}
	ibcc_upstream_release(s);
}

static void slot_fail(struct ibcc_upstream_slot *s)
{
	s->failed = true;
	slot_tell(s);
}

/* The second answer while connecting: the node's GUID. The slot is ready then. */
static void on_node_info(void *arg, const struct ibcc_wire_ctl *reply)
{
	struct ibcc_upstream_slot *s = arg;
	uint64_t guid;

	if (reply->type == IBCC_WIRE_ERROR) {
		slot_fail(s);
		return;
	}
	memcpy(&guid, reply->data + 12, sizeof(guid)); /* NodeInfo:NodeGUID */
	s->node_guid = be64toh(guid);
	s->up = true;
	if (s->has_issm && ibcc_upstream_ctl(s, &s->issm, NULL, NULL)) {
		slot_fail(s);
		return;
	}
	slot_tell(s);
}

/* ibsim's answer to CONNECT: where to send MADs, and at which node the slot is. */
static void on_connected(void *arg, const struct ibcc_wire_ctl *reply)
{
	struct ibcc_wire_ctl c = { .type = IBCC_WIRE_GET_NODEINFO, .len = 64 };
	struct ibcc_upstream_slot *s = arg;
	struct ibcc_wire_connect info;
	struct sockaddr_un sa;
	socklen_t len;

	memcpy(&info, reply->data, sizeof(info));
	if (reply->type == IBCC_WIRE_ERROR ||
	    ibcc_wire_addr(&sa, &len, "%s:out%u", s->u->name, info.id) ||
	    connect(s->fd, (struct sockaddr *)&sa, len)) {
		slot_fail(s);
		return;
	}
	s->connected = true;
	s->id = info.id;
	memcpy(s->node, info.node, sizeof(s->node) - 1);
	if (ibcc_upstream_ctl(s, &c, on_node_info, s))
		slot_fail(s);
}

/* Makes a slot a client of the ibsim that runs now. */
static int slot_connect(struct ibcc_upstream_slot *s)
{
	const struct sockaddr nowhere = { .sa_family = AF_UNSPEC };
	struct ibcc_wire_connect info = { .id = s->serial };
	struct ibcc_wire_ctl c = { .type = IBCC_WIRE_CONNECT, .len = sizeof(info) };

	s->connected = false;
	/* A socket that is still connected to a dead ibsim takes nothing from another ibsim. */
	connect(s->fd, &nowhere, sizeof(nowhere));
	memcpy(info.node, s->want, sizeof(info.node));
	memcpy(c.data, &info, sizeof(info));
	return ctl_add(s->u, NULL, &c, on_connected, s);
}

static struct ibcc_upstream_slot *slot_new(struct ibcc_upstream *u, const char *node)
{
	struct ibcc_upstream_slot *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	s->u = u;
	s->serial = ++u->serial;
	STAILQ_INIT(&s->waiters);
	memcpy(s->want, node, strnlen(node, sizeof(s->want) - 1));
	TAILQ_INSERT_TAIL(&u->slots, s, link);
	s->fd = ibcc_wire_bind("%s:in%u", u->name, s->serial);
	if (s->fd < 0 || sd_event_add_io(u->ev, &s->src, s->fd, EPOLLIN, on_slot, s) < 0)
		goto fail;
	if (ibcc_sendq_init(&s->q, u->ev, s->fd, s->src, QUEUE_MAX))
		goto fail;
	if (slot_connect(s))
		goto fail;
	return s;
fail:
	slot_free(s);
	return NULL;
}

int ibcc_upstream_attach(struct ibcc_upstream *u, const char *node, ibcc_upstream_attached *done,
			 void *arg)
{
	struct ibcc_upstream_slot *s;
	struct waiter *w;

	for (s = TAILQ_FIRST(&u->slots); s; s = TAILQ_NEXT(s, link))
		if (!s->failed && !strncmp(s->want, node, sizeof(s->want) - 1))
			break;
	if (!s)
		s = slot_new(u, node);
	w = s ? malloc(sizeof(*w)) : NULL;
	if (!w)
		return -ENOMEM;
	*w = (struct waiter){ .done = done, .arg = arg };
	STAILQ_INSERT_TAIL(&s->waiters, w, link);
	if (s->up)
		slot_tell(s);
	return 0;
}

static void on_disconnected(void *arg, const struct ibcc_wire_ctl *reply)
{
	(void)reply;
	slot_free(arg);
}

void ibcc_upstream_release(struct ibcc_upstream_slot *s)
{
	struct ibcc_wire_ctl c = { .type = IBCC_WIRE_DISCONNECT };

	if (--s->refs || s->leaving || (!s->up && !s->failed))
		return;
	if (s->failed) {
		slot_free(s);
		return;
	}
	s->failed = s->leaving = true; /* no client may join it */
	if (ibcc_upstream_ctl(s, &c, on_disconnected, s))
		slot_free(s);
}

void ibcc_upstream_restart(struct ibcc_upstream *u)
{
	static const struct ibcc_wire_ctl none = { .type = IBCC_WIRE_ERROR };
	STAILQ_HEAD(, ctl) old = STAILQ_HEAD_INITIALIZER(old);
	struct ibcc_upstream_slot *s, *next;
	struct ctl *c;

	STAILQ_CONCAT(&old, &u->ctls);
	for (s = TAILQ_FIRST(&u->slots); s; s = next) {
		next = TAILQ_NEXT(s, link);
		if (!s->connected || s->failed)
			continue;
		s->up = false;
		s->failed = slot_connect(s) != 0;
	}
	while ((c = STAILQ_FIRST(&old))) {
		STAILQ_REMOVE_HEAD(&old, link);
		/* The request is made again once its slot is connected. */
		if (c->done == on_node_info)
			c->done = NULL;
		/* Sends these again: a starting client gives up if one of them is not answered. */
		else if (c->c.type == IBCC_WIRE_CONNECT || (c->slot && !c->slot->failed)) {
			c->sent = false;
			STAILQ_INSERT_TAIL(&u->ctls, c, link);
			continue;
		}
		if (c->done)
			c->done(c->arg, &none);
		free(c);
	}
	for (s = TAILQ_FIRST(&u->slots); s; s = next) {
		next = TAILQ_NEXT(s, link);
		if (s->failed)
			slot_tell(s);
	}
	ctl_next(u);
}

uint64_t ibcc_upstream_node_guid(const struct ibcc_upstream_slot *s)
{
	return s->node_guid;
}

const char *ibcc_upstream_node_name(const struct ibcc_upstream_slot *s)
{
	return s->node;
}

void ibcc_upstream_on_request(struct ibcc_upstream *u, ibcc_upstream_request *fn, void *arg)
{
	u->request = fn;
	u->request_arg = arg;
}

void ibcc_upstream_on_mad(struct ibcc_upstream *u, ibcc_upstream_amend *fn, void *arg)
{
	u->amend = fn;
	u->amend_arg = arg;
}

struct ibcc_upstream *ibcc_upstream_new(sd_event *ev, const char *name, int *err)
{
	struct ibcc_upstream *u = calloc(1, sizeof(*u));
	int r = -ENOMEM;

	if (!u)
		goto out;
	STAILQ_INIT(&u->ctls);
	TAILQ_INIT(&u->slots);
	u->ev = ev;
	u->ctl_fd = -EINVAL;
	r = -EINVAL;
	if (strlen(name) >= sizeof(u->name))
		goto out;
	memcpy(u->name, name, strlen(name));
	r = u->ctl_fd = ibcc_wire_bind("%s:ctl%d", name, (int)getpid());
	if (r < 0)
		goto out;
	r = sd_event_add_io(ev, &u->ctl_src, u->ctl_fd, EPOLLIN, on_ctl, u);
	if (r < 0)
		goto out;
	r = sd_event_add_time(ev, &u->retry_src, CLOCK_MONOTONIC, 0, 1000, on_ctl_retry, u);
	if (r < 0)
		goto out;
	u->pending = ibcc_pending_new(ev, &r);
out:
	if (r < 0) {
		*err = r;
		ibcc_upstream_free(u);
		return NULL;
	}
	return u;
}

void ibcc_upstream_free(struct ibcc_upstream *u)
{
	struct ibcc_upstream_slot *s;
	struct ctl *c;

	if (!u)
		return;
	while ((s = TAILQ_FIRST(&u->slots)))
		slot_free(s);
	while ((c = STAILQ_FIRST(&u->ctls))) {
		STAILQ_REMOVE_HEAD(&u->ctls, link);
		free(c);
	}
	ibcc_pending_free(u->pending);
	sd_event_source_disable_unref(u->ctl_src);
	sd_event_source_disable_unref(u->retry_src);
	if (u->ctl_fd >= 0)
		close(u->ctl_fd);
	free(u);
}
