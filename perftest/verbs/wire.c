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

void ibcc_perf_wire_init(struct ibcc_perf_wire *w, int fd, size_t limit)
{
	int on = 1, idle = 10, every = 5, count = 4;
	unsigned int lost_ms = 30000;

	*w = (struct ibcc_perf_wire){ .fd = fd, .in.limit = limit };
	/* These calls fail on a socket that is not TCP, such as a test's pair, and are not needed
	 * there.
	 */
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
	ibcc_json_lines_fini(&w->in);
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
		return ibcc_perf_fail(e, EINVAL, "%s is too long for an address", address);
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
		return ibcc_perf_fail(e, rc == EAI_SYSTEM ? errno : 0, "cannot resolve %s: %s",
				      address, gai_strerror(rc));
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
	return rc ? ibcc_perf_fail(e, -rc, "cannot connect to %s (does ibcc-perf serve run there?)",
				   address)
		  : fd;
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

static int await_room(void *arg)
{
	struct ibcc_perf_wire *w = arg;
	struct pollfd p = { .fd = w->fd, .events = POLLOUT };
	int n = poll(&p, 1, SEND_TIMEOUT_MS);

	if (!n)
		return -ETIMEDOUT;
	return n < 0 && errno != EINTR ? -errno : 0;
}

int ibcc_perf_wire_send(struct ibcc_perf_wire *w, json_t *o)
{
	int rc = o ? ibcc_json_lines_send(w->fd, o, await_room, w) : -ENOMEM;

	json_decref(o);
	return rc == -EPIPE ? -ECONNRESET : rc;
}

int ibcc_perf_wire_recv(struct ibcc_perf_wire *w, int timeout_ms, json_t **o)
{
	struct pollfd p = { .fd = w->fd, .events = POLLIN };
	int64_t end = ibcc_now_ms() + timeout_ms, left;
	int rc, n;

	*o = NULL;
	for (;;) {
		rc = ibcc_json_lines_take(&w->in, o, NULL);
		if (rc != -EAGAIN)
			return rc;
		left = end - ibcc_now_ms();
		n = poll(&p, 1, left > 0 ? (int)left : 0);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (n > 0)
			rc = ibcc_json_lines_fill(&w->in, w->fd);
		else if (!n && left <= 0)
			return -ETIMEDOUT;
		if (rc && rc != -EAGAIN)
			return rc;
	}
}
