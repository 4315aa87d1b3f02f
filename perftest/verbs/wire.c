/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/wire.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibcc/now.h>

#define SEND_TIMEOUT_MS 10000
#define ADDRESS_MAX     160
#define FIRST_ROOM      4096u

void ibcc_perf_wire_init(struct ibcc_perf_wire *w, int fd, size_t limit)
{
	int on = 1, idle = 10, every = 5, count = 4;
	unsigned int lost_ms = 30000;

	*w = (struct ibcc_perf_wire){ .fd = fd, .limit = limit };
	/* Each fails on what is no TCP socket, such as a test's pair, and is not needed there. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
	setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &idle, sizeof(idle));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPINTVL, &every, sizeof(every));
	setsockopt(fd, IPPROTO_TCP, TCP_KEEPCNT, &count, sizeof(count));
	setsockopt(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, &lost_ms, sizeof(lost_ms));
}

void ibcc_perf_wire_fini(struct ibcc_perf_wire *w)
{
	if (w->fd >= 0)
		close(w->fd);
	free(w->buf);
	*w = (struct ibcc_perf_wire){ .fd = -1 };
}

/* Splits HOST:PORT; a HOST with colons is in brackets. */
static int resolve(const char *address, int flags, struct addrinfo **ai, struct ibcc_why *e)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = flags };
	char buf[ADDRESS_MAX];
	const char *host = buf, *port = IBCC_PERF_PORT_TEXT;
	char *colon, *end;
	int rc;

	if (snprintf(buf, sizeof(buf), "%s", address) >= (int)sizeof(buf))
		return ibcc_perf_fail(e, EINVAL, "%s", address);
	colon = strrchr(buf, ':');
	if (buf[0] == '[' && (end = strchr(buf, ']'))) {
		*end = '\0';
		host = buf + 1;
		if (end[1] == ':')
			port = end + 2;
	} else if (colon && colon == strchr(buf, ':')) {
		*colon = '\0';
		port = colon + 1;
	}
	rc = getaddrinfo(*host ? host : NULL, port, &hints, ai);
	if (rc)
		return ibcc_perf_fail(e, rc == EAI_SYSTEM ? errno : 0, "%s: %s", address,
				      gai_strerror(rc));
	return 0;
}

static int connect_in(int fd, const struct addrinfo *ai, int timeout_ms)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t len = sizeof(int);
	int err = 0, n;

	if (!connect(fd, ai->ai_addr, ai->ai_addrlen))
		return 0;
	if (errno != EINPROGRESS)
		return -errno;
	n = poll(&p, 1, timeout_ms);
	if (n <= 0)
		return n ? -errno : -ETIMEDOUT;
	if (getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len))
		return -errno;
	return -err;
}

int ibcc_perf_wire_connect(const char *address, int timeout_ms, struct ibcc_why *e)
{
	struct addrinfo *ai, *a;
	int rc = resolve(address, 0, &ai, e), fd = -1;

	if (rc)
		return rc;
	for (a = ai; a; a = a->ai_next) {
		fd = socket(a->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
		rc = fd < 0 ? -errno : connect_in(fd, a, timeout_ms);
		if (!rc)
			break;
		if (fd >= 0)
			close(fd);
	}
	freeaddrinfo(ai);
	return rc ? ibcc_perf_fail(e, -rc, "cannot connect to %s", address) : fd;
}

int ibcc_perf_wire_listen(const char *address, char *bound, size_t len, struct ibcc_why *e)
{
	struct sockaddr_storage sa;
	socklen_t sa_len = sizeof(sa);
	char host[64], port[16];
	struct addrinfo *ai;
	int rc = resolve(address, AI_PASSIVE, &ai, e), fd, on = 1;

	if (rc)
		return rc;
	fd = socket(ai->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	rc = fd < 0 ? -errno : 0;
	if (!rc && (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
		    bind(fd, ai->ai_addr, ai->ai_addrlen) || listen(fd, 64) ||
		    getsockname(fd, (struct sockaddr *)&sa, &sa_len)))
		rc = -errno;
	freeaddrinfo(ai);
	if (rc) {
		if (fd >= 0)
			close(fd);
		return ibcc_perf_fail(e, -rc, "cannot listen at %s", address);
	}
	if (getnameinfo((struct sockaddr *)&sa, sa_len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV))
		host[0] = port[0] = '\0';
	snprintf(bound, len, strchr(host, ':') ? "[%s]:%s" : "%s:%s", host, port);
	return fd;
}

/* Keeps text that cannot be sent at once until it can. */
static int send_all(int fd, const char *text, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	ssize_t n;
	int rc;

	while (len) {
		n = send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (n >= 0) {
			text += n;
			len -= (size_t)n;
			continue;
		}
		if (errno == EINTR)
			continue;
		if (errno != EAGAIN)
			return errno == EPIPE ? -ECONNRESET : -errno;
		rc = poll(&p, 1, SEND_TIMEOUT_MS);
		if (!rc)
			return -ETIMEDOUT;
		if (rc < 0 && errno != EINTR)
			return -errno;
	}
	return 0;
}

int ibcc_perf_wire_send(struct ibcc_perf_wire *w, json_t *o)
{
	char *text = o ? json_dumps(o, JSON_COMPACT) : NULL;
	int rc = -ENOMEM;

	json_decref(o);
	if (text) {
		rc = send_all(w->fd, text, strlen(text));
		if (!rc)
			rc = send_all(w->fd, "\n", 1);
	}
	free(text);
	return rc;
}

/* Takes the first line out of the buffer; -EAGAIN if it has none yet. */
static int take_line(struct ibcc_perf_wire *w, json_t **o)
{
	char *end = w->buf ? memchr(w->buf + w->seen, '\n', w->len - w->seen) : NULL;
	size_t n;

	if (!end) {
		w->seen = w->len;
		return w->len >= w->limit ? -EMSGSIZE : -EAGAIN;
	}
	n = (size_t)(end - w->buf);
	*o = json_loadb(w->buf, n, JSON_REJECT_DUPLICATES, NULL);
	memmove(w->buf, end + 1, w->len - n - 1);
	w->len -= n + 1;
	w->seen = 0;
	if (*o && json_is_object(*o))
		return 0;
	json_decref(*o);
	*o = NULL;
	return -EPROTO;
}

/* Reads what is there; 0, or -ECONNRESET at the end. */
static int fill(struct ibcc_perf_wire *w)
{
	size_t cap = w->cap ? 2 * w->cap : FIRST_ROOM;
	ssize_t n;
	char *bigger;

	if (w->len == w->cap) {
		bigger = realloc(w->buf, cap);
		if (!bigger)
			return -ENOMEM;
		w->buf = bigger;
		w->cap = cap;
	}
	n = recv(w->fd, w->buf + w->len, w->cap - w->len, MSG_DONTWAIT);
	if (n > 0)
		w->len += (size_t)n;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	return n ? 0 : -ECONNRESET;
}

int ibcc_perf_wire_recv(struct ibcc_perf_wire *w, int timeout_ms, json_t **o)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	int64_t end = ibcc_now_ms() + timeout_ms, left;
	int rc, n;

	*o = NULL;
	for (;;) {
		rc = take_line(w, o);
		if (rc != -EAGAIN)
			return rc;
		left = end - ibcc_now_ms();
		n = poll(&p, 1, left > 0 ? (int)left : 0);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			rc = fill(w);
		else if (!n && left <= 0)
			return -ETIMEDOUT;
		if (rc && rc != -EAGAIN)
			return rc;
	}
}
