/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "sim/control.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <unistd.h>

#include "sim/wire.h"

#define LINE_BYTES_MAX 65536u
#define CONNS_MAX      32u

struct ibcc_control_conn {
	TAILQ_ENTRY(ibcc_control_conn) link;
	struct ibcc_control *c;
	int fd;
	sd_event_source *src;
	char in[LINE_BYTES_MAX];
	size_t in_len;
	char *out;
	size_t out_len, out_pos;
};

struct ibcc_control {
	sd_event *ev;
	int fd;
	sd_event_source *src;
	unsigned int n;
	TAILQ_HEAD(, ibcc_control_conn) conns;
	ibcc_control_request *request;
	ibcc_control_gone *gone;
	void *arg;
};

json_t *ibcc_control_error(const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return json_pack("{s:b,s:s}", "ok", 0, "error", text);
}

static void conn_free(struct ibcc_control_conn *n)
{
	n->c->gone(n->c->arg, n);
	TAILQ_REMOVE(&n->c->conns, n, link);
	n->c->n--;
	sd_event_source_disable_unref(n->src);
	close(n->fd);
	free(n->out);
	free(n);
}

/* Sends what the socket takes; -EPIPE when the other end has gone. */
static int conn_flush(struct ibcc_control_conn *n)
{
	while (n->out_pos < n->out_len) {
		ssize_t w = send(n->fd, n->out + n->out_pos, n->out_len - n->out_pos,
				 MSG_DONTWAIT | MSG_NOSIGNAL);

		if (w < 0 && errno == EAGAIN)
			return sd_event_source_set_io_events(n->src, EPOLLIN | EPOLLOUT);
		if (w < 0)
			return -EPIPE;
		n->out_pos += (size_t)w;
	}
	n->out_len = n->out_pos = 0;
	return sd_event_source_set_io_events(n->src, EPOLLIN);
}

void ibcc_control_reply(struct ibcc_control_conn *n, json_t *reply)
{
	char *text = reply ? json_dumps(reply, JSON_COMPACT) : NULL;
	size_t len = text ? strlen(text) : 0;
	char *out = text ? realloc(n->out, n->out_len + len + 1) : NULL;

	if (out) {
		n->out = out;
		memcpy(out + n->out_len, text, len);
		out[n->out_len + len] = '\n';
		n->out_len += len + 1;
		conn_flush(n);
	}
	free(text);
	json_decref(reply);
}

static void conn_line(struct ibcc_control_conn *n, const char *line, size_t len)
{
	json_error_t e;
	json_t *rq = json_loadb(line, len, JSON_REJECT_DUPLICATES, &e), *reply;

	if (json_is_object(rq))
		reply = n->c->request(n->c->arg, n, rq);
	else
		reply = ibcc_control_error("no JSON object: %s", rq ? "another type" : e.text);
	json_decref(rq);
	if (reply)
		ibcc_control_reply(n, reply);
}

static int on_conn(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct ibcc_control_conn *n = arg;
	ssize_t got;
	char *nl;

	(void)src;
	if (revents & EPOLLOUT && conn_flush(n) < 0) {
		conn_free(n);
		return 0;
	}
	if (!(revents & ~(uint32_t)EPOLLOUT))
		return 0;
	got = recv(fd, n->in + n->in_len, sizeof(n->in) - n->in_len, MSG_DONTWAIT);
	if (got < 0 && errno == EAGAIN)
		return 0;
	if (got <= 0) {
		conn_free(n);
		return 0;
	}
	n->in_len += (size_t)got;
	while ((nl = memchr(n->in, '\n', n->in_len))) {
		size_t len = (size_t)(nl - n->in);

		conn_line(n, n->in, len);
		n->in_len -= len + 1;
		memmove(n->in, nl + 1, n->in_len);
	}
	if (n->in_len == sizeof(n->in))
		conn_free(n);
	return 0;
}

static int on_accept(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct ibcc_control *c = arg;
	struct ibcc_control_conn *n;
	struct ucred cred;
	socklen_t len = sizeof(cred);
	int s = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	(void)src;
	(void)revents;
	if (s < 0)
		return 0;
	/* An abstract socket has no permissions: only our own user, and root, may steer. */
	if (c->n >= CONNS_MAX || getsockopt(s, SOL_SOCKET, SO_PEERCRED, &cred, &len) ||
	    (cred.uid != 0 && cred.uid != geteuid()) || !(n = calloc(1, sizeof(*n)))) {
		close(s);
		return 0;
	}
	n->c = c;
	n->fd = s;
	if (sd_event_add_io(c->ev, &n->src, s, EPOLLIN, on_conn, n) < 0) {
		close(s);
		free(n);
		return 0;
	}
	TAILQ_INSERT_TAIL(&c->conns, n, link);
	c->n++;
	return 0;
}

struct ibcc_control *ibcc_control_new(sd_event *ev, const char *name, ibcc_control_request *request,
				      ibcc_control_gone *gone, void *arg, int *err)
{
	struct ibcc_control *c = calloc(1, sizeof(*c));
	struct sockaddr_un sa;
	socklen_t len;
	int r = -ENOMEM;

	if (!c)
		goto out;
	c->ev = ev;
	c->request = request;
	c->gone = gone;
	c->arg = arg;
	TAILQ_INIT(&c->conns);
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	r = c->fd < 0 ? -errno : ibcc_wire_addr(&sa, &len, "%s:ibcc", name);
	if (r)
		goto out;
	if (bind(c->fd, (struct sockaddr *)&sa, len) || listen(c->fd, 16)) {
		r = -errno;
		goto out;
	}
	r = sd_event_add_io(ev, &c->src, c->fd, EPOLLIN, on_accept, c);
out:
	if (r < 0) {
		*err = r;
		ibcc_control_free(c);
		return NULL;
	}
	return c;
}

void ibcc_control_free(struct ibcc_control *c)
{
	struct ibcc_control_conn *n;

	if (!c)
		return;
	while ((n = TAILQ_FIRST(&c->conns)))
		conn_free(n);
	sd_event_source_disable_unref(c->src);
	if (c->fd >= 0)
		close(c->fd);
	free(c);
}

/* The client's half */

json_t *ibcc_control_ask(const char *name, json_t *rq, char *why, size_t len)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct timeval limit = { .tv_sec = 10 };
	struct sockaddr_un sa;
	json_t *reply = NULL;
	json_error_t e;
	socklen_t sa_len;
	FILE *f = NULL;

	snprintf(why, len, "no simulator named %s", name);
	if (fd < 0 || ibcc_wire_addr(&sa, &sa_len, "%s:ibcc", name) ||
	    connect(fd, (struct sockaddr *)&sa, sa_len) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)))
		goto out;
	f = fdopen(fd, "r+");
	snprintf(why, len, "the simulator %s does not answer", name);
	if (!f || json_dumpf(rq, f, JSON_COMPACT) || fputc('\n', f) == EOF || fflush(f))
		goto out;
	reply = json_loadf(f, JSON_DISABLE_EOF_CHECK, &e);
	if (reply && !json_is_object(reply)) {
		json_decref(reply);
		reply = NULL;
	}
out:
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	json_decref(rq);
	return reply;
}

int ibcc_control_find(char *name, size_t name_len, char *why, size_t len)
{
	static const char suffix[] = ":ibcc@"; /* the zero byte at a name's end shows as @ */
	const size_t sl = sizeof(suffix) - 1;
	FILE *f = fopen("/proc/net/unix", "re");
	char line[512], *at;
	size_t found = 0, l;

	while (f && fgets(line, sizeof(line), f)) {
		unsigned int flags = 0;

		line[strcspn(line, "\n")] = '\0';
		at = strrchr(line, ' ');
		l = at ? strlen(at) : 0;
		/* "Num: RefCount Protocol Flags ...": listening sockets have bit 16. */
		if (l < 2 + sl || at[1] != '@' || strcmp(at + l - sl, suffix) ||
		    sscanf(line, "%*s %*s %*s %x", &flags) != 1 || !(flags & 0x10000))
			continue;
		at[l - sl] = '\0';
		found++;
		if (strlen(at + 2) < name_len)
			strcpy(name, at + 2);
	}
	if (f)
		fclose(f);
	if (found == 1)
		return 0;
	if (!found) {
		snprintf(why, len, "no simulator is running");
		return -ENOENT;
	}
	snprintf(why, len, "%zu simulators are running: choose one by --name", found);
	return -ENOTUNIQ;
}
