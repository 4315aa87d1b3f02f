/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/jsonl.h>

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <ibcc/json.h>

struct client {
	struct client *next;
	struct ibcc_jsonl *server;
	uint64_t id;
	sd_event_source *source;
	int fd;
	bool busy; /* a request is being worked on */
	struct ucred peer;
	char *in; /* IBCC_JSONL_MAX_REQUEST bytes */
	size_t n_in;
	char *out;
	size_t n_out, sent;
};

struct address {
	struct sockaddr_un sa;
	socklen_t len;
};

struct ibcc_jsonl {
	sd_event *event;
	sd_event_source *source;
	ibcc_jsonl_fn *fn;
	void *arg;
	int fd;
	struct address address;
	uint64_t last_id;
	unsigned int n_clients;
	struct client *clients;
};

static int address_of(const char *text, struct address *a)
{
	size_t len = strlen(text);

	*a = (struct address){ .sa.sun_family = AF_UNIX, .len = sizeof(a->sa) };
	if (len >= sizeof(a->sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(a->sa.sun_path, text, len);
	if (text[0] == '@') {
		a->sa.sun_path[0] = '\0';
		a->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	}
	return 0;
}

static bool is_abstract(const struct address *a)
{
	return !a->sa.sun_path[0];
}

static int dial(const struct address *a, int flags)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | flags, 0), err;

	if (fd >= 0 && !connect(fd, (const struct sockaddr *)&a->sa, a->len))
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

static void close_client(struct client *cl)
{
	struct client **p = &cl->server->clients;

	while (*p != cl)
		p = &(*p)->next;
	*p = cl->next;
	cl->server->n_clients--;
	sd_event_source_disable_unref(cl->source);
	close(cl->fd);
	free(cl->in);
	free(cl->out);
	free(cl);
}

/* What the client is waited for: its answer to be taken, or its next request. While a request is
 * being worked on, only its end is of interest, which epoll reports unasked.
 */
static void want(struct client *cl)
{
	sd_event_source_set_io_events(cl->source, cl->out ? EPOLLOUT : cl->busy ? 0 : EPOLLIN);
}

/* Returns false if the client is gone. */
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
	char *text = waits && answer ? json_dumps(answer, JSON_COMPACT) : NULL;

	json_decref(answer);
	if (!waits)
		return;
	if (!text) {
		close_client(cl);
		return;
	}
	cl->busy = false;
	cl->out = text;
	cl->sent = 0;
	cl->n_out = strlen(text);
	text[cl->n_out++] = '\n'; /* instead of the terminating zero */
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

/* Works on the first line that has been read; the rest waits for the answer. */
static void next_request(struct client *cl)
{
	struct ibcc_jsonl *s = cl->server;
	struct ibcc_jsonl_request r = { .client = cl->id,
					.uid = cl->peer.uid,
					.pid = cl->peer.pid };
	char *end;

	while (!cl->busy && !cl->out && (end = memchr(cl->in, '\n', cl->n_in))) {
		size_t len = (size_t)(end - cl->in);
		json_error_t e;
		json_t *o = json_loadb(cl->in, len, JSON_REJECT_DUPLICATES, &e);

		cl->n_in -= len + 1;
		memmove(cl->in, end + 1, cl->n_in);
		cl->busy = true;
		r.object = o;
		if (json_is_object(o))
			s->fn(s->arg, &r);
		else
			ibcc_jsonl_reply(s, r.client,
					 ibcc_jsonl_error(-EINVAL, "a request is a JSON object: %s",
							  o ? "this is something else" : e.text));
		json_decref(o);
		if (!find(s, r.client)) /* the answer may have ended it */
			return;
	}
	want(cl);
}

static int on_client(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct client *cl = arg;
	ssize_t n;

	(void)source;
	if (revents & EPOLLOUT) {
		if (!flush(cl))
			return 0;
	} else if (revents & EPOLLIN) {
		n = recv(fd, cl->in + cl->n_in, IBCC_JSONL_MAX_REQUEST - cl->n_in, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN)) {
			close_client(cl);
			return 0;
		}
		cl->n_in += n > 0 ? (size_t)n : 0;
		if (cl->n_in == IBCC_JSONL_MAX_REQUEST &&
		    !memchr(cl->in, '\n', IBCC_JSONL_MAX_REQUEST)) {
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

/* An abstract socket has no permissions. */
static bool is_welcome(const struct ibcc_jsonl *s, const struct ucred *peer)
{
	return !is_abstract(&s->address) || peer->uid == 0 || peer->uid == geteuid();
}

static int on_connect(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct ibcc_jsonl *s = arg;
	socklen_t len = sizeof(struct ucred);
	struct client *cl;
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)source;
	(void)revents;
	if (peer < 0)
		return 0;
	cl = s->n_clients < IBCC_JSONL_MAX_CLIENTS ? calloc(1, sizeof(*cl)) : NULL;
	if (!cl || !(cl->in = malloc(IBCC_JSONL_MAX_REQUEST)) ||
	    getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &cl->peer, &len) ||
	    !is_welcome(s, &cl->peer) ||
	    sd_event_add_io(s->event, &cl->source, peer, EPOLLIN, on_client, cl) < 0) {
		close(peer);
		if (cl)
			free(cl->in);
		free(cl);
		return 0;
	}
	cl->fd = peer;
	cl->server = s;
	cl->id = ++s->last_id;
	cl->next = s->clients;
	s->clients = cl;
	s->n_clients++;
	return 0;
}

/* Makes room at a path, where a dead process may have left its socket. */
static int take_place(const struct address *a)
{
	int fd;

	if (is_abstract(a))
		return 0;
	fd = dial(a, SOCK_NONBLOCK);
	if (fd >= 0)
		close(fd);
	if (fd >= 0 || fd == -EAGAIN)
		return -EADDRINUSE;
	return unlink(a->sa.sun_path) && errno != ENOENT ? -errno : 0;
}

static int listen_at(struct ibcc_jsonl *s)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), rc;
	mode_t mask;

	if (fd < 0)
		return -errno;
	mask = umask(0117);
	rc = bind(fd, (struct sockaddr *)&s->address.sa, s->address.len) ? -errno : 0;
	umask(mask);
	if (rc) {
		close(fd);
		return rc;
	}
	s->fd = fd;
	if (listen(fd, 16))
		return -errno;
	rc = sd_event_add_io(s->event, &s->source, fd, EPOLLIN, on_connect, s);
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
	*s = (struct ibcc_jsonl){ .event = sd_event_ref(event), .fn = fn, .arg = arg, .fd = -1 };
	*err = address_of(address, &s->address);
	if (!*err)
		*err = take_place(&s->address);
	if (!*err)
		*err = listen_at(s);
	if (!*err)
		return s;
	ibcc_jsonl_free(s);
	return NULL;
}

void ibcc_jsonl_free(struct ibcc_jsonl *s)
{
	if (!s)
		return;
	while (s->clients)
		close_client(s->clients);
	sd_event_source_disable_unref(s->source);
	if (s->fd >= 0) {
		if (!is_abstract(&s->address))
			unlink(s->address.sa.sun_path);
		close(s->fd);
	}
	sd_event_unref(s->event);
	free(s);
}

/* The client's end */

static int send_text(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL);

		if (n < 0)
			return -errno;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

static int read_answer(FILE *f, json_t **answer)
{
	json_t *o = json_loadf(f, JSON_DISABLE_EOF_CHECK, NULL);

	if (json_is_object(o)) {
		*answer = o;
		return 0;
	}
	json_decref(o);
	if (ferror(f))
		return -errno;
	return feof(f) ? -ECONNRESET : -EPROTO;
}

int ibcc_jsonl_ask(const char *address, const json_t *request, unsigned int timeout_s,
		   json_t **answer)
{
	struct timeval limit = { .tv_sec = (time_t)timeout_s };
	char *text = json_dumps(request, JSON_COMPACT);
	FILE *f = NULL;
	struct address a;
	int fd = -1, rc;

	*answer = NULL;
	rc = text ? address_of(address, &a) : -ENOMEM;
	if (rc)
		goto out;
	fd = dial(&a, 0);
	rc = fd < 0 ? fd : 0;
	if (!rc && (setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) ||
		    setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) ||
		    !(f = fdopen(fd, "r"))))
		rc = -errno;
	if (!rc)
		rc = send_text(fd, text, strlen(text));
	if (!rc)
		rc = send_text(fd, "\n", 1);
	/* Who hangs up at once may have said why. */
	if (!rc || rc == -EPIPE)
		rc = read_answer(f, answer);
	if (rc == -EAGAIN)
		rc = -ETIMEDOUT;
out:
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	free(text);
	return rc;
}
