/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/control.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

struct client {
	struct client *next;
	struct ibcc_control *control;
	uint64_t id;
	sd_event_source *source;
	int fd;
	bool busy; /* a request is being worked on */
	struct ucred peer;
	char *in; /* IBCC_CONTROL_MAX_REQUEST bytes */
	size_t n_in;
	char *out;
	size_t n_out, sent;
};

struct ibcc_control {
	sd_event *event;
	sd_event_source *source;
	ibcc_control_fn fn;
	void *arg;
	int fd;
	struct sockaddr_un address;
	uint64_t last_id;
	unsigned int n_clients;
	struct client *clients;
};

static void close_client(struct client *cl)
{
	struct client **p = &cl->control->clients;

	while (*p != cl)
		p = &(*p)->next;
	*p = cl->next;
	cl->control->n_clients--;
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

static struct client *find(struct ibcc_control *c, uint64_t id)
{
	struct client *cl = c->clients;

	while (cl && cl->id != id)
		cl = cl->next;
	return cl;
}

void ibcc_control_reply(struct ibcc_control *c, uint64_t client, int err, const char *error,
			json_t *result)
{
	struct client *cl = find(c, client);
	json_t *line;
	char *text;

	if (!cl || !cl->busy) {
		json_decref(result);
		return;
	}
	line = err ? json_pack("{sb ss si so}", "ok", 0, "error", error, "errno", -err, "result",
			       result ? result : json_null())
		   : json_pack("{sb so}", "ok", 1, "result", result ? result : json_null());
	text = line ? json_dumps(line, JSON_COMPACT) : NULL;
	json_decref(line);
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

static void refuse(struct client *cl, const char *error)
{
	cl->busy = true;
	ibcc_control_reply(cl->control, cl->id, -EINVAL, error, NULL);
}

static void handle_line(struct client *cl, const char *line, size_t len)
{
	struct ibcc_control_request r = { .client = cl->id,
					  .uid = cl->peer.uid,
					  .pid = cl->peer.pid };
	json_error_t e;
	json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, &e), *args;

	r.command = json_string_value(json_object_get(o, "command"));
	args = json_object_get(o, "args");
	if (!r.command || (args && !json_is_object(args))) {
		refuse(cl, o ? "a request is {\"command\": NAME, \"args\": {...}}" : e.text);
	} else {
		args = args ? json_incref(args) : json_object();
		r.args = args;
		cl->busy = true;
		cl->control->fn(cl->control->arg, &r);
		json_decref(args);
	}
	json_decref(o);
}

/* Works on the first line that has been read; the rest waits for the answer. */
static void next_request(struct client *cl)
{
	char *end;

	while (!cl->busy && !cl->out && (end = memchr(cl->in, '\n', cl->n_in))) {
		size_t len = (size_t)(end - cl->in);
		uint64_t id = cl->id;
		struct ibcc_control *c = cl->control;
		char *line = strndup(cl->in, len);

		cl->n_in -= len + 1;
		memmove(cl->in, end + 1, cl->n_in);
		if (line)
			handle_line(cl, line, strlen(line));
		free(line);
		if (!line || !find(c, id)) /* the handler's answer may have ended it */
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
		n = recv(fd, cl->in + cl->n_in, IBCC_CONTROL_MAX_REQUEST - cl->n_in, 0);
		if (n == 0 || (n < 0 && errno != EAGAIN)) {
			close_client(cl);
			return 0;
		}
		cl->n_in += n > 0 ? (size_t)n : 0;
		if (cl->n_in == IBCC_CONTROL_MAX_REQUEST &&
		    !memchr(cl->in, '\n', IBCC_CONTROL_MAX_REQUEST)) {
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

static int on_connect(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	struct ibcc_control *c = arg;
	socklen_t len = sizeof(struct ucred);
	struct client *cl;
	int peer = accept4(fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	(void)source;
	(void)revents;
	if (peer < 0)
		return 0;
	cl = c->n_clients < IBCC_CONTROL_MAX_CLIENTS ? calloc(1, sizeof(*cl)) : NULL;
	if (!cl || !(cl->in = malloc(IBCC_CONTROL_MAX_REQUEST)) ||
	    getsockopt(peer, SOL_SOCKET, SO_PEERCRED, &cl->peer, &len) ||
	    sd_event_add_io(c->event, &cl->source, peer, EPOLLIN, on_client, cl) < 0) {
		close(peer);
		if (cl)
			free(cl->in);
		free(cl);
		return 0;
	}
	cl->fd = peer;
	cl->control = c;
	cl->id = ++c->last_id;
	cl->next = c->clients;
	c->clients = cl;
	c->n_clients++;
	return 0;
}

/* True if somebody accepts connections at the address. */
static bool answered(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool yes = fd >= 0 && (!connect(fd, (const struct sockaddr *)address, sizeof(*address)) ||
			       errno == EAGAIN);

	if (fd >= 0)
		close(fd);
	return yes;
}

static int listen_at(struct ibcc_control *c)
{
	mode_t mask;
	int rc;

	if (answered(&c->address))
		return -EADDRINUSE;
	if (unlink(c->address.sun_path) && errno != ENOENT)
		return -errno;
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (c->fd < 0)
		return -errno;
	mask = umask(0117);
	rc = bind(c->fd, (struct sockaddr *)&c->address, sizeof(c->address)) ? -errno : 0;
	umask(mask);
	if (!rc && listen(c->fd, 16))
		rc = -errno;
	if (!rc)
		rc = sd_event_add_io(c->event, &c->source, c->fd, EPOLLIN, on_connect, c);
	return rc < 0 ? rc : 0;
}

struct ibcc_control *ibcc_control_new(sd_event *event, const char *path, ibcc_control_fn fn,
				      void *arg, int *err, struct ibcc_why *why)
{
	struct ibcc_control *c = calloc(1, sizeof(*c));
	int rc;

	if (!c) {
		*err = ibcc_why_set(why, -ENOMEM, "no memory");
		return NULL;
	}
	*c = (struct ibcc_control){ .event = sd_event_ref(event), .fn = fn, .arg = arg, .fd = -1 };
	c->address.sun_family = AF_UNIX;
	rc = strlen(path) < sizeof(c->address.sun_path) ? 0 : -ENAMETOOLONG;
	if (!rc) {
		memcpy(c->address.sun_path, path, strlen(path));
		rc = listen_at(c);
	}
	if (!rc)
		return c;
	*err = rc == -EADDRINUSE
		       ? ibcc_why_set(why, rc, "%s: another ibcc-tuned is running", path)
		       : ibcc_why_set(why, rc, "control socket %s: %s", path, strerror(-rc));
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1; /* whoever is there keeps his socket */
	ibcc_control_free(c);
	return NULL;
}

void ibcc_control_free(struct ibcc_control *c)
{
	if (!c)
		return;
	while (c->clients)
		close_client(c->clients);
	sd_event_source_disable_unref(c->source);
	if (c->fd >= 0) {
		unlink(c->address.sun_path);
		close(c->fd);
	}
	sd_event_unref(c->event);
	free(c);
}
