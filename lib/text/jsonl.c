/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The server of JSON lines (jsonl.h): a local stream socket on which each line is a request, a
 * JSON object, and its answer is a line. It runs in an sd-event loop and never blocks.
 *
 * A client has one request at a time: on_client() reads, next_request() calls the owner's
 * function, ibcc_jsonl_reply() queues the answer, flush() sends it. Limits keep one client from
 * shutting out others: connections by user, the length of a line, the time without a request
 * (make_room(), on_tick()).
 */
#include <ibcc/jsonl.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibcc/crowd.h>
#include <ibcc/json.h>
#include <ibcc/json_lines.h>

#include "lib/text/jsonl_peer.h"
#include "lib/text/jsonl_place.h"

#define TICK_US       1000000u
#define LEAST_IDLE_US 1000000u  /* a new client may replace one that has been idle for this long */
#define IDLE_US       30000000u /* a client that has been idle for this long is disconnected */

struct client {
	struct client *next;
	struct ibcc_jsonl *server;
	uint64_t id;
	sd_event_source *source;
	int fd;
	bool busy;         /* a request is being worked on */
	bool asked;        /* it has made a request */
	uint64_t since_us; /* idle since: no request, and no byte of its answer taken */
	struct ibcc_peer peer;
	struct ibcc_json_lines in;
	char *out;
	size_t n_out, sent;
};

struct ibcc_jsonl {
	sd_event *event;
	sd_event_source *source;
	ibcc_jsonl_fn *fn;
	ibcc_jsonl_gone_fn *gone; /* may be NULL */
	void *arg;
	int fd;
	struct ibcc_place place;
	struct ibcc_jsonl_roles roles;
	sd_event_source *tick; /* each second while there are clients */
	uint64_t idle_us;      /* a client that has been idle for this long is disconnected */
	bool full;             /* out of descriptors: no client is accepted until the next tick */
	uint64_t last_id;
	struct ibcc_crowd crowd; /* of connections and further requests, by user */
	unsigned int n_clients;
	struct client *clients;
};

static uint64_t now_us(const struct ibcc_jsonl *s)
{
	uint64_t t = 0;

	sd_event_now(s->event, CLOCK_MONOTONIC, &t);
	return t;
}

/* Counts a connection or a further request of a user, to find one that floods us. */
static void count_user(struct ibcc_jsonl *s, const struct ibcc_peer *peer)
{
	uint8_t key[IBCC_CROWD_KEY_BYTES] = { 0 };

	if (peer->trusted)
		return;
	memcpy(key, &peer->uid, sizeof(peer->uid));
	ibcc_crowd_count(&s->crowd, key, now_us(s));
}

unsigned int ibcc_jsonl_crowd(struct ibcc_jsonl *s, uid_t *uid)
{
	const struct ibcc_crowd_window *w = ibcc_crowd_look(&s->crowd, now_us(s));

	memcpy(uid, w->key, sizeof(*uid));
	return w->n;
}

static void close_client(struct client *cl)
{
	struct client **p = &cl->server->clients;

	while (*p != cl)
		p = &(*p)->next;
	*p = cl->next;
	cl->server->n_clients--;
	if (cl->busy && cl->server->gone)
		cl->server->gone(cl->server->arg, cl->id);
	sd_event_source_disable_unref(cl->source);
	close(cl->fd);
	ibcc_json_lines_fini(&cl->in);
	free(cl->out);
	free(cl);
}

/* Chooses the events to wait for: room to send the answer, or the next request. While a request is
 * being worked on, only the client's end matters, which epoll always reports.
 */
static void want(struct client *cl)
{
	sd_event_source_set_io_events(cl->source, cl->out ? EPOLLOUT : cl->busy ? 0 : EPOLLIN);
}

/* Sends as much of the answer as the client takes. False: the client is gone. */
static bool flush(struct client *cl)
{
	while (cl->out && cl->sent < cl->n_out) {
		ssize_t n = send(cl->fd, cl->out + cl->sent, cl->n_out - cl->sent, MSG_NOSIGNAL);

		if (n < 0 && errno == EAGAIN)
			break;
		if (n < 0) {
			close_client(cl);
			return false;
		}
		cl->sent += (size_t)n;
		cl->since_us = now_us(cl->server);
	}
	if (cl->out && cl->sent == cl->n_out) {
		free(cl->out);
		cl->out = NULL;
	}
	want(cl);
	return true;
}

static struct client *find(struct ibcc_jsonl *s, uint64_t id)
{
	struct client *cl = s->clients;

	while (cl && cl->id != id)
		cl = cl->next;
	return cl;
}

void ibcc_jsonl_reply(struct ibcc_jsonl *s, uint64_t client, json_t *answer)
{
	struct client *cl = find(s, client);
	bool waits = cl && cl->busy;
	char *text = waits ? ibcc_json_dump(answer) : NULL;

	json_decref(answer);
	if (!waits)
		return;
	cl->busy = false;
	if (!text) {
		close_client(cl);
		return;
	}
	cl->since_us = now_us(s);
	cl->out = text;
	cl->sent = 0;
	cl->n_out = strlen(text);
	text[cl->n_out++] = '\n'; /* in the place of the terminating zero */
	want(cl);
}

json_t *ibcc_jsonl_error(int err, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return json_pack("{sb so si}", "ok", 0, "error", ibcc_json_text(text), "errno", -err);
}

/* Works on the first line that has been read. Further lines wait until it is answered. */
static void next_request(struct client *cl)
{
	struct ibcc_jsonl *s = cl->server;
	struct ibcc_jsonl_request r = { .client = cl->id,
					.uid = cl->peer.uid,
					.trusted = cl->peer.trusted,
					.may_change = cl->peer.writes,
					.pid = cl->peer.pid };
	struct ibcc_why why;
	json_t *o;
	int rc;

	while (!cl->busy && !cl->out) {
		rc = ibcc_json_lines_take(&cl->in, &o, &why);
		if (rc == -EAGAIN)
			break;
		if (rc == -EMSGSIZE) {
			close_client(cl);
			return;
		}
		cl->busy = true;
		if (cl->asked)
			count_user(s, &cl->peer);
		cl->asked = true;
		r.object = o;
		if (!rc)
			s->fn(s->arg, &r);
		else
			ibcc_jsonl_reply(s, r.client,
					 ibcc_jsonl_error(-EINVAL, "a request is a JSON object: %s",
							  why.text));
		json_decref(o);
		if (!find(s, r.client)) /* the answer may have ended it */
			return;
	}
	want(cl);
}

static int on_client(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct client *cl = arg;

	(void)source;
	if (revents & EPOLLOUT) {
		if (!flush(cl))
			return 0;
	} else if (revents & EPOLLIN) {
		if (ibcc_json_lines_fill(&cl->in, fd)) {
			close_client(cl);
			return 0;
		}
	} else if (revents & (EPOLLHUP | EPOLLERR)) {
		close_client(cl);
		return 0;
	}
	next_request(cl);
	return 0;
}

/* Whether there is a place for one more client of a user. Other users never keep out root or our
 * own user. If there is no place, we disconnect the client that has been idle for longest, and for
 * at least LEAST_IDLE_US. It must belong to the same user if that user has too many clients.
 */
static bool make_room(struct ibcc_jsonl *s, const struct ibcc_peer *peer)
{
	uint64_t latest_us = now_us(s) - LEAST_IDLE_US;
	unsigned int same = 0, others = 0;
	struct client *cl, *idle = NULL;
	bool trusted = peer->trusted, same_only;

	for (cl = s->clients; cl; cl = cl->next) {
		same += cl->peer.uid == peer->uid;
		others += !cl->peer.trusted;
	}
	same_only = !trusted && same >= IBCC_JSONL_MAX_OF_UID;
	if (!same_only && s->n_clients < IBCC_JSONL_MAX_CLIENTS &&
	    (trusted || others < IBCC_JSONL_MAX_CLIENTS - IBCC_JSONL_KEPT))
		return true;
	for (cl = s->clients; cl; cl = cl->next) {
		if (cl->busy || cl->since_us > latest_us ||
		    (same_only && cl->peer.uid != peer->uid) || (!trusted && cl->peer.trusted))
			continue;
		if (!idle || cl->since_us < idle->since_us)
			idle = cl;
	}
	if (idle)
		close_client(idle);
	return idle != NULL;
}

/* Sends an error to a new connection and closes it. */
static void refuse(int fd, int err, const char *words)
{
	json_t *o = ibcc_jsonl_error(err, "%s", words);
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;

	if (text && send(fd, text, strlen(text), MSG_NOSIGNAL | MSG_DONTWAIT) > 0)
		(void)!send(fd, "\n", 1, MSG_NOSIGNAL | MSG_DONTWAIT);
	free(text);
	json_decref(o);
	close(fd);
}

static void set_tick(struct ibcc_jsonl *s)
{
	if (!s->n_clients && !s->full)
		return;
	sd_event_source_set_time(s->tick, now_us(s) + TICK_US);
	sd_event_source_set_enabled(s->tick, SD_EVENT_ONESHOT);
}

static int on_tick(sd_event_source *source, uint64_t usec, void *arg)
{
	struct ibcc_jsonl *s = arg;
	struct client *cl, *next;
	uint64_t now = now_us(s);

	(void)source;
	(void)usec;
	for (cl = s->clients; cl; cl = next) {
		next = cl->next;
		if (!cl->busy && now - cl->since_us > s->idle_us)
			close_client(cl);
	}
	if (s->full)
		sd_event_source_set_enabled(s->source, SD_EVENT_ON);
	s->full = false;
	set_tick(s);
	return 0;
}

static void add_client(struct ibcc_jsonl *s, int fd, const struct ibcc_peer *peer)
{
	struct client *cl = calloc(1, sizeof(*cl));

	if (!cl || sd_event_add_io(s->event, &cl->source, fd, EPOLLIN, on_client, cl) < 0) {
		close(fd);
		free(cl);
		return;
	}
	cl->fd = fd;
	cl->in.limit = peer->writes ? IBCC_JSONL_MAX_TRUSTED : IBCC_JSONL_MAX_REQUEST;
	cl->peer = *peer;
	cl->server = s;
	cl->id = ++s->last_id;
	cl->since_us = now_us(s);
	cl->next = s->clients;
	s->clients = cl;
	s->n_clients++;
	set_tick(s);
}

static int on_connect(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct ibcc_jsonl *s = arg;
	int client = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK), err = errno;
	struct ibcc_peer peer;

	(void)revents;
	if (client < 0) {
		/* Out of descriptors or memory: the waiting client would wake us again and again.
		 */
		s->full = err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
		if (s->full) {
			sd_event_source_set_enabled(source, SD_EVENT_OFF);
			set_tick(s);
		}
		return 0;
	}
	if (ibcc_peer_of(client, &s->roles, ibcc_place_is_abstract(&s->place), &peer)) {
		close(client);
		return 0;
	}
	count_user(s, &peer);
	if (!peer.welcome)
		refuse(client, -EACCES, "you have no role here (control_read_group)");
	else if (!make_room(s, &peer))
		refuse(client, -EBUSY, "too many clients are connected");
	else
		add_client(s, client, &peer);
	return 0;
}

/* Listens at the address, and stops listening on the former socket. */
static int listen_at_place(struct ibcc_jsonl *s)
{
	sd_event_source *source = NULL;
	struct ibcc_place place = s->place;
	int fd = ibcc_place_listen(&place), rc;

	if (fd < 0)
		return fd;
	rc = sd_event_add_io(s->event, &source, fd, EPOLLIN, on_connect, s);
	if (rc < 0) {
		ibcc_place_leave(&place, fd);
		return rc;
	}
	sd_event_source_disable_unref(s->source);
	if (s->fd >= 0)
		close(s->fd);
	s->source = source;
	s->fd = fd;
	s->place = place;
	return 0;
}

static int watch(struct ibcc_jsonl *s)
{
	int rc = listen_at_place(s);

	if (!rc)
		rc = sd_event_add_time(s->event, &s->tick, CLOCK_MONOTONIC, UINT64_MAX, TICK_US / 4,
				       on_tick, s);
	return rc < 0 ? rc : 0;
}

struct ibcc_jsonl *ibcc_jsonl_listen(sd_event *event, const char *address, ibcc_jsonl_fn *fn,
				     void *arg, int *err)
{
	struct ibcc_jsonl *s = calloc(1, sizeof(*s));

	if (!s) {
		*err = -ENOMEM;
		return NULL;
	}
	*s = (struct ibcc_jsonl){ .event = sd_event_ref(event),
				  .fn = fn,
				  .arg = arg,
				  .fd = -1,
				  .idle_us = IDLE_US,
				  .roles = { IBCC_JSONL_NOBODY, IBCC_JSONL_NOBODY } };
	*err = ibcc_place_of(address, &s->place);
	if (!*err)
		*err = watch(s);
	if (!*err)
		return s;
	ibcc_jsonl_free(s);
	return NULL;
}

void ibcc_jsonl_set_roles(struct ibcc_jsonl *s, const struct ibcc_jsonl_roles *roles)
{
	s->roles = *roles;
	ibcc_place_open_to_all(&s->place, roles->read != IBCC_JSONL_NOBODY ||
						  roles->write != IBCC_JSONL_NOBODY);
}

int ibcc_jsonl_renew(struct ibcc_jsonl *s)
{
	struct ibcc_jsonl_roles roles = s->roles;
	int rc;

	if (ibcc_place_is_ours(&s->place))
		return 0;
	rc = listen_at_place(s);
	if (rc)
		return rc;
	ibcc_jsonl_set_roles(s, &roles);
	s->full = false;
	return 1;
}

void ibcc_jsonl_on_gone(struct ibcc_jsonl *s, ibcc_jsonl_gone_fn *gone)
{
	s->gone = gone;
}

void ibcc_jsonl_set_idle_ms(struct ibcc_jsonl *s, unsigned int ms)
{
	s->idle_us = 1000ull * ms;
}

void ibcc_jsonl_free(struct ibcc_jsonl *s)
{
	if (!s)
		return;
	while (s->clients)
		close_client(s->clients);
	sd_event_source_disable_unref(s->source);
	sd_event_source_disable_unref(s->tick);
	if (s->fd >= 0)
		ibcc_place_leave(&s->place, s->fd);
	sd_event_unref(s->event);
	free(s);
}
