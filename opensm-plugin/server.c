/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Serves the clients (server.h): accepts them, moves messages between their sockets and their
 * sessions (session.h), and drops those that use too much. It never waits: the worker polls the
 * descriptors and calls ibcc_server_serve().
 */
#include "opensm-plugin/server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibcc/text.h>

#include "opensm-plugin/writer.h"

#define LISTEN_AGAIN_MS    2000u
#define PATIENCE_MS        30000u
#define LEAST_IDLE_MS      1000u
#define MESSAGES_A_TURN    64u /* limit for one client before the others get their turn */
#define LOG_LINES_A_SECOND 5u

/* Logs how much was left out, and opens the allowance of the next second. */
static void refill_log(struct ibcc_server *s, uint64_t now_ms)
{
	if (now_ms / 1000 == s->log_second)
		return;
	if (s->log_dropped)
		ibcc_plugin_log(&s->log, IBCC_PLUGIN_INFO,
				"left out %u more message%s about clients", s->log_dropped,
				ibcc_text_plural(s->log_dropped, "", "s"));
	s->log_second = now_ms / 1000;
	s->log_lines = 0;
	s->log_dropped = 0;
}

/* Logs a message about a client's behaviour, up to a limit for each second. */
static void log_client(struct ibcc_server *s, uint64_t now_ms, const struct ucred *peer,
		       const char *text)
{
	refill_log(s, now_ms);
	if (s->log_lines++ < LOG_LINES_A_SECOND)
		ibcc_plugin_log(&s->log, IBCC_PLUGIN_ERROR, "ERR IC05: client %ld (uid %ld): %s",
				(long)peer->pid, (long)peer->uid, text);
	else
		s->log_dropped++;
}

int ibcc_server_init(struct ibcc_server *s, const struct ibcc_plugin_options *o,
		     const struct ibcc_session_host *host, const struct ibcc_plugin_log *log)
{
	unsigned int i;

	memset(s, 0, sizeof(*s));
	s->options = *o;
	s->host = *host;
	s->log = *log;
	ibcc_listener_init(&s->listener);
	for (i = 0; i < IBCC_SERVER_CLIENTS; i++)
		s->client[i].fd = -1;
	s->buf = malloc(IBCC_PROTO_MAX_BYTES);
	return s->buf ? 0 : -ENOMEM;
}

/* Closes a connection. With messages unread, the peer's next read would fail (ECONNRESET) before it
 * has read the last answer. So they are discarded first; after the shutdown no more can arrive.
 */
static void hang_up(int fd)
{
	char byte;

	shutdown(fd, SHUT_RD);
	while (recv(fd, &byte, sizeof(byte), MSG_DONTWAIT | MSG_TRUNC) > 0)
		;
	close(fd);
}

static void drop(struct ibcc_server *s, struct ibcc_server_client *c)
{
	s->host.gone(s->host.arg, &c->session);
	ibcc_session_fini(&c->session);
	hang_up(c->fd);
	c->fd = -1;
}

void ibcc_server_fini(struct ibcc_server *s)
{
	unsigned int i;

	for (i = 0; i < IBCC_SERVER_CLIENTS; i++)
		if (s->client[i].fd >= 0)
			drop(s, &s->client[i]);
	ibcc_listener_close(&s->listener);
	free(s->buf);
	s->buf = NULL;
}

/* Sends until there is nothing left or the client's buffer is full. False: hang up. */
static bool flush(struct ibcc_server *s, struct ibcc_server_client *c, uint64_t now_ms)
{
	struct ibcc_session_message m;
	int ret;

	while (ibcc_session_output(&c->session, &s->host, s->buf, &m)) {
		ret = ibcc_proto_send(c->fd, m.type, m.seq, m.payload, m.length);
		if (ret == -EAGAIN) {
			if (!c->waits_since_ms)
				c->waits_since_ms = now_ms;
			return true;
		}
		if (ret)
			return false;
		if (m.type == IBCC_PROTO_ERROR)
			log_client(s, now_ms, &c->peer, c->session.error.text);
		c->waits_since_ms = 0;
		ibcc_session_sent(&c->session, &m);
	}
	return c->session.phase != IBCC_SESSION_ENDED;
}

/* Has a client hung up, and so abandoned its plan? If this process was stopped for a while
 * (SIGSTOP, a debugger), the client may have read the nodes since. Then the nodes must not change
 * under it.
 */
static bool has_hung_up(const struct ibcc_server_client *c)
{
	struct pollfd p = { .fd = c->fd };

	return poll(&p, 1, 0) > 0 && p.revents & (POLLHUP | POLLERR);
}

/* Reads a client's messages. False: hang up. */
static bool hear(struct ibcc_server *s, struct ibcc_server_client *c, uint64_t now_ms)
{
	struct ibcc_proto_header h;
	const void *payload;
	unsigned int i;
	int ret;

	for (i = 0; i < MESSAGES_A_TURN && ibcc_session_wants_input(&c->session); i++) {
		memset(&h, 0, sizeof(h));
		ret = ibcc_proto_recv(c->fd, s->buf, &h, &payload);
		if (ret == -EAGAIN)
			break;
		if (ret == -EPROTO)
			ibcc_session_abort(&c->session, 0, IBCC_REFUSAL_BAD_MESSAGE,
					   "not a message of this protocol");
		else if (ret == -EPROTONOSUPPORT)
			ibcc_session_abort(&c->session, h.seq, IBCC_REFUSAL_VERSION,
					   "the OpenSM plugin speaks another protocol version than "
					   "this client; install both from one release");
		else if (ret || (h.type == IBCC_PROTO_PLAN_COMMIT && has_hung_up(c)))
			return false;
		else
			ibcc_session_input(&c->session, &s->host, &h, payload);
		c->session.heard_ms = now_ms;
		c->asked |= h.type != IBCC_PROTO_HELLO;
		c->wrote |= c->session.phase == IBCC_SESSION_PUSH;
	}
	if (c->session.phase == IBCC_SESSION_PLAN)
		c->waits_since_ms = now_ms; /* for the rest of the plan */
	else if (c->session.phase == IBCC_SESSION_PUSH)
		c->waits_since_ms = 0;
	return flush(s, c, now_ms);
}

static bool is_trusted(uid_t uid)
{
	return uid == 0 || uid == geteuid();
}

/* Is a client idle, so that another client may replace it? */
static bool is_idle(const struct ibcc_server_client *c, uint64_t now_ms)
{
	return c->fd >= 0 && !c->wrote && now_ms - c->session.heard_ms >= LEAST_IDLE_MS &&
	       (c->session.phase == IBCC_SESSION_NEW || c->session.phase == IBCC_SESSION_IDLE);
}

/* Finds a place for one more client of this user, NULL if there is none. */
static struct ibcc_server_client *make_room(struct ibcc_server *s, uid_t uid, uint64_t now_ms)
{
	struct ibcc_server_client *c, *end = s->client + IBCC_SERVER_CLIENTS;
	struct ibcc_server_client *place = NULL, *idle = NULL;
	bool trusted = is_trusted(uid), same_only;
	unsigned int same = 0, others = 0;

	for (c = s->client; c < end; c++) {
		if (c->fd < 0) {
			place = c;
			continue;
		}
		same += c->peer.uid == uid;
		others += !is_trusted(c->peer.uid);
	}
	same_only = !trusted && same >= IBCC_SERVER_OF_UID;
	if (place && !same_only && (trusted || others < IBCC_SERVER_CLIENTS - IBCC_SERVER_KEPT))
		return place;
	for (c = s->client; c < end; c++) {
		if (!is_idle(c, now_ms) || (same_only && c->peer.uid != uid) ||
		    (!trusted && is_trusted(c->peer.uid)))
			continue;
		if (!idle || c->session.heard_ms < idle->session.heard_ms)
			idle = c;
	}
	if (idle) {
		log_client(s, now_ms, &idle->peer, "idle, and others need its place: dropped");
		drop(s, idle);
	}
	return idle;
}

void ibcc_server_adopt(struct ibcc_server *s, int fd, const struct ucred *peer, uint64_t now_ms)
{
	struct ibcc_proto_error error = { .refusal = IBCC_REFUSAL_BUSY, .err = -EBUSY };
	struct ibcc_server_client *c = make_room(s, peer->uid, now_ms);

	if (!c) {
		snprintf(error.text, sizeof(error.text),
			 "the OpenSM plugin has too many clients already");
		(void)ibcc_proto_send(fd, IBCC_PROTO_ERROR, 0, &error, sizeof(error));
		hang_up(fd);
		log_client(s, now_ms, peer, error.text);
		return;
	}
	memset(c, 0, sizeof(*c));
	c->fd = fd;
	c->peer = *peer;
	c->waits_since_ms = c->joined_ms = now_ms;
	ibcc_session_init(&c->session);
	c->session.uid = peer->uid;
	c->session.pid = peer->pid;
	c->session.heard_ms = now_ms;
	ibcc_plugin_log(&s->log, IBCC_PLUGIN_VERBOSE, "client %ld (uid %ld) connected",
			(long)peer->pid, (long)peer->uid);
}

unsigned int ibcc_server_pollfds(struct ibcc_server *s, struct pollfd *pfd)
{
	unsigned int i, n = 0;

	if (s->listener.fd >= 0)
		pfd[n++] = (struct pollfd){ .fd = s->listener.fd, .events = POLLIN };
	for (i = 0; i < IBCC_SERVER_CLIENTS; i++) {
		struct ibcc_server_client *c = &s->client[i];
		short events = 0;

		if (c->fd < 0)
			continue;
		if (ibcc_session_wants_input(&c->session))
			events |= POLLIN;
		if (ibcc_session_has_output(&c->session))
			events |= POLLOUT;
		pfd[n++] = (struct pollfd){ .fd = c->fd, .events = events };
	}
	return n;
}

static void accept_all(struct ibcc_server *s, uint64_t now_ms)
{
	struct ucred peer;
	unsigned int i;
	int fd;

	for (i = 0; i < IBCC_SERVER_CLIENTS; i++) {
		fd = ibcc_listener_accept(&s->listener, &peer);
		if (fd < 0)
			break;
		ibcc_server_adopt(s, fd, &peer, now_ms);
	}
	/* There are no descriptors or no memory: a pending connection would wake the thread
	 * forever, so it stops listening until a later tick.
	 */
	if (i < IBCC_SERVER_CLIENTS &&
	    (fd == -EMFILE || fd == -ENFILE || fd == -ENOBUFS || fd == -ENOMEM)) {
		ibcc_plugin_log(&s->log, IBCC_PLUGIN_ERROR,
				"ERR IC04: cannot accept a client: %s; clients try again",
				strerror(-fd));
		ibcc_listener_close(&s->listener);
		s->listen_again_ms = now_ms + LISTEN_AGAIN_MS;
	}
}

void ibcc_server_serve(struct ibcc_server *s, const struct pollfd *pfd, unsigned int n,
		       uint64_t now_ms)
{
	unsigned int i, k;

	for (k = 0; k < n; k++) {
		if (!pfd[k].revents)
			continue;
		if (pfd[k].fd == s->listener.fd) {
			accept_all(s, now_ms);
			continue;
		}
		for (i = 0; i < IBCC_SERVER_CLIENTS; i++) {
			struct ibcc_server_client *c = &s->client[i];
			bool go_on;

			if (c->fd != pfd[k].fd)
				continue;
			/* Data sent before hanging up counts; a later read finds the end. */
			if (pfd[k].revents & POLLIN && ibcc_session_wants_input(&c->session))
				go_on = hear(s, c, now_ms);
			else if (pfd[k].revents & (POLLHUP | POLLERR | POLLNVAL))
				go_on = false;
			else
				go_on = flush(s, c, now_ms);
			if (!go_on)
				drop(s, c);
			break;
		}
	}
}

static void listen_again(struct ibcc_server *s, uint64_t now_ms)
{
	int ret = ibcc_listener_open(&s->listener, &s->options);

	if (!ret)
		ibcc_plugin_log(&s->log, IBCC_PLUGIN_INFO, "listening at %s", s->options.socket);
	else if (ret != s->listen_err)
		ibcc_plugin_log(&s->log, IBCC_PLUGIN_ERROR,
				"ERR IC04: cannot listen at %s: %s; trying again every %u s",
				s->options.socket,
				ret == -EADDRINUSE ? "the plugin of another OpenSM listens there, "
						     "or the path is not a socket"
						   : strerror(-ret),
				LISTEN_AGAIN_MS / 1000);
	s->listen_err = ret;
	s->listen_again_ms = now_ms + LISTEN_AGAIN_MS;
}

bool ibcc_server_is_kept(const struct ibcc_server *s, uint64_t now_ms)
{
	for (unsigned int i = 0; i < IBCC_SERVER_CLIENTS; i++)
		if (s->client[i].fd >= 0 && s->client[i].session.lease_ms &&
		    ibcc_writer_lives(&s->client[i].session, now_ms))
			return true;
	return false;
}

void ibcc_server_tick(struct ibcc_server *s, uint64_t now_ms)
{
	unsigned int i;

	refill_log(s, now_ms);
	if (s->listener.fd >= 0 && !ibcc_listener_in_place(&s->listener)) {
		ibcc_plugin_log(
			&s->log, IBCC_PLUGIN_ERROR,
			"ERR IC04: the socket %s was removed or replaced; listening there again",
			s->options.socket);
		ibcc_listener_close(&s->listener);
		s->listen_again_ms = 0;
	}
	if (s->listener.fd < 0 && now_ms >= s->listen_again_ms)
		listen_again(s, now_ms);
	for (i = 0; i < IBCC_SERVER_CLIENTS; i++) {
		struct ibcc_server_client *c = &s->client[i];

		/* A client whose plan takes long must not think that OpenSM has stopped. */
		if (c->fd >= 0 && c->session.phase == IBCC_SESSION_PUSH)
			ibcc_session_notify(&c->session);
		if (c->fd >= 0 && !c->asked && now_ms - c->joined_ms >= PATIENCE_MS) {
			log_client(s, now_ms, &c->peer, "has asked for nothing, dropped");
			drop(s, c);
		}
		if (c->fd < 0 || !c->waits_since_ms || now_ms - c->waits_since_ms < PATIENCE_MS)
			continue;
		log_client(s, now_ms, &c->peer, "neither speaks nor reads, dropped");
		drop(s, c);
	}
}

void ibcc_server_notify(struct ibcc_server *s)
{
	unsigned int i;

	for (i = 0; i < IBCC_SERVER_CLIENTS; i++)
		if (s->client[i].fd >= 0)
			ibcc_session_notify(&s->client[i].session);
}

void ibcc_server_finish(struct ibcc_server *s, const struct ibcc_session *whose,
			struct ibcc_plan_report *report)
{
	for (unsigned int i = 0; i < IBCC_SERVER_CLIENTS; i++) {
		struct ibcc_server_client *c = &s->client[i];

		if (c->fd >= 0 && &c->session == whose) {
			ibcc_session_finish(&c->session, report);
			return;
		}
	}
	ibcc_plan_report_free(report);
}
