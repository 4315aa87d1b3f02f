/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The HTTP server for metrics, with libmicrohttpd inside the event loop (metrics_http.h). It runs
 * libmicrohttpd whenever a descriptor or the timer is ready, and never blocks. Connections are
 * limited, and one client cannot take all places. Begin with ibcc_metrics_http_new() and answer().
 */
#include "daemon/metrics/metrics_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <microhttpd.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/queue.h>
#include <sys/socket.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include <ibcc/crowd.h>
#include <ibcc/listen.h>

#define BACKLOG         16
#define LONGEST_WAIT_MS 500u
#define MEMORY_BYTES    16384u /* for a client's request */
#define CLOSING         16u    /* connections that are shut and not yet removed */

/* A connection. */
struct client {
	TAILQ_ENTRY(client) link;
	int fd;
	/* Its address, or the network that counts as one address, as in IPv6. */
	uint8_t from[IBCC_CROWD_KEY_BYTES];
	uint64_t since_us; /* start of the present request */
	bool asked;        /* the whole request has arrived */
	bool served;       /* it has had an answer, and may wait for its next scrape */
};

struct ibcc_metrics_http {
	struct MHD_Daemon *daemon;
	TAILQ_HEAD(, client) clients; /* those that are not shut, the oldest request first */
	sd_event *event;
	sd_event_source *source, *timer;
	ibcc_metrics_page_fn *fn;
	void *arg;
	struct MHD_Response *metrics; /* the last page, with its status */
	unsigned int metrics_status;
	uint64_t made_us;
	struct ibcc_crowd cut; /* connections that were closed early, by address */
};

static const struct {
	const char *path;
	enum ibcc_metrics_page page;
	const char *type;
} pages[] = {
	{ "/metrics", IBCC_METRICS_PAGE_METRICS, "text/plain; version=0.0.4; charset=utf-8" },
	{ "/healthz", IBCC_METRICS_PAGE_HEALTH, "text/plain; charset=utf-8" },
	{ "/readyz", IBCC_METRICS_PAGE_READY, "text/plain; charset=utf-8" },
};

static uint64_t now_us(const struct ibcc_metrics_http *h)
{
	uint64_t t = 0;

	sd_event_now(h->event, CLOCK_MONOTONIC, &t);
	return t;
}

static struct MHD_Response *response(char *text, size_t len, const char *type)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);

	if (!r)
		free(text);
	else if (MHD_add_response_header(r, "Content-Type", type) != MHD_YES ||
		 MHD_add_response_header(r, "Cache-Control", "no-store") != MHD_YES)
		goto fail;
	return r;
fail:
	MHD_destroy_response(r);
	return NULL;
}

static enum MHD_Result plain(struct MHD_Connection *c, unsigned int status, const char *text)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(
		strlen(text), (void *)(uintptr_t)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result rc = MHD_NO;

	if (!r)
		return rc;
	if (status != MHD_HTTP_METHOD_NOT_ALLOWED ||
	    MHD_add_response_header(r, "Allow", "GET, HEAD") == MHD_YES)
		rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

/* Identifies a client for its share of places: 16 bytes. */
static void place_of(const struct sockaddr *sa, uint8_t from[16])
{
	memset(from, 0, 16);
	if (sa->sa_family == AF_INET) {
		const struct sockaddr_in *in = (const struct sockaddr_in *)(const void *)sa;
		uint32_t a = ntohl(in->sin_addr.s_addr);

		if (a >> 24 == IN_LOOPBACKNET)
			a = INADDR_LOOPBACK;
		a = htonl(a);
		from[10] = from[11] = 0xff;
		memcpy(from + 12, &a, sizeof(a));
	} else if (sa->sa_family == AF_INET6) {
		const struct sockaddr_in6 *in = (const struct sockaddr_in6 *)(const void *)sa;

		memcpy(from, &in->sin6_addr, 8);
	}
}

/* libmicrohttpd notices the end of the stream and removes the connection. */
static void shut(struct ibcc_metrics_http *h, struct client *c)
{
	if (!c->served)
		ibcc_crowd_count(&h->cut, c->from, now_us(h));
	TAILQ_REMOVE(&h->clients, c, link);
	shutdown(c->fd, SHUT_RDWR);
	c->fd = -1;
}

static unsigned int count_from(const struct ibcc_metrics_http *h, const struct client *like)
{
	const struct client *c;
	unsigned int n = 0;

	TAILQ_FOREACH (c, &h->clients, link)
		n += !memcmp(c->from, like->from, sizeof(c->from));
	return n;
}

/* Closes one connection too many, but not the newest one. */
static void make_room(struct ibcc_metrics_http *h)
{
	struct client *c, *out = NULL;
	unsigned int all = 0, most = 0;

	TAILQ_FOREACH (c, &h->clients, link) {
		unsigned int n = count_from(h, c);

		if (all++ == IBCC_METRICS_CONNECTIONS)
			break;
		if (n > most || (n == most && out->asked && !c->asked)) {
			out = c;
			most = n;
		}
	}
	if (all > IBCC_METRICS_CONNECTIONS)
		shut(h, out);
}

static void on_connection(void *arg, struct MHD_Connection *conn, void **context,
			  enum MHD_ConnectionNotificationCode what)
{
	struct ibcc_metrics_http *h = arg;
	struct client *c = *context;
	const union MHD_ConnectionInfo *info;
	int fd;

	if (what == MHD_CONNECTION_NOTIFY_CLOSED) {
		if (c && c->fd >= 0)
			TAILQ_REMOVE(&h->clients, c, link);
		free(c);
		*context = NULL; /* a request's end may be reported after its connection's */
		return;
	}
	/* In libmicrohttpd 1.0 the result holds until the next call. */
	info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CONNECTION_FD);
	fd = info ? info->connect_fd : -1;
	info = MHD_get_connection_info(conn, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
	c = fd >= 0 && info ? calloc(1, sizeof(*c)) : NULL;
	*context = c;
	if (!c) {
		if (fd >= 0)
			shutdown(fd, SHUT_RDWR);
		return;
	}
	c->fd = fd;
	c->since_us = now_us(h);
	place_of(info->client_addr, c->from);
	TAILQ_INSERT_TAIL(&h->clients, c, link);
	make_room(h);
}

static struct client *client_of(struct MHD_Connection *conn)
{
	const union MHD_ConnectionInfo *i =
		MHD_get_connection_info(conn, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct client *c = i ? i->socket_context : NULL;

	return c && c->fd >= 0 ? c : NULL;
}

/* The next request of a connection has its own time. */
static void on_completed(void *arg, struct MHD_Connection *conn, void **state,
			 enum MHD_RequestTerminationCode why)
{
	struct ibcc_metrics_http *h = arg;
	struct client *c = client_of(conn);

	(void)state;
	(void)why;
	if (!c)
		return;
	TAILQ_REMOVE(&h->clients, c, link);
	TAILQ_INSERT_TAIL(&h->clients, c, link);
	c->since_us = now_us(h);
	c->asked = false;
	c->served = true;
}

static void close_late(struct ibcc_metrics_http *h)
{
	struct client *c;

	while ((c = TAILQ_FIRST(&h->clients)) &&
	       now_us(h) - c->since_us >= IBCC_METRICS_REQUEST_S * 1000000u)
		shut(h, c);
}

/* Makes a page, with a reference for the caller; NULL: no memory. */
static struct MHD_Response *make(struct ibcc_metrics_http *h, size_t i, unsigned int *status)
{
	size_t len = 0;
	bool ok = true;
	char *text = h->fn(h->arg, pages[i].page, &len, &ok);

	*status = ok ? MHD_HTTP_OK : MHD_HTTP_SERVICE_UNAVAILABLE;
	return text ? response(text, len, pages[i].type) : NULL;
}

/* The large page is kept, so that many scrapes cost no more than one. */
static struct MHD_Response *metrics(struct ibcc_metrics_http *h, unsigned int *status)
{
	uint64_t now = now_us(h);

	if (!h->metrics || now - h->made_us >= IBCC_METRICS_FRESH_US) {
		if (h->metrics)
			MHD_destroy_response(h->metrics);
		h->metrics = make(h, 0, &h->metrics_status);
		h->made_us = now;
	}
	*status = h->metrics_status;
	return h->metrics;
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url,
			      const char *method, const char *version, const char *upload,
			      size_t *upload_size, void **state)
{
	struct ibcc_metrics_http *h = arg;
	struct client *client = client_of(c);
	struct MHD_Response *r;
	enum MHD_Result rc;
	unsigned int status;
	size_t i;

	(void)version;
	(void)upload;
	(void)upload_size;
	/* The first call comes when only the head of the request is there. */
	if (!*state) {
		*state = h;
		return MHD_YES;
	}
	if (client)
		client->asked = true;
	if (strcmp(method, MHD_HTTP_METHOD_GET) && strcmp(method, MHD_HTTP_METHOD_HEAD))
		return plain(c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
	for (i = 0; i < sizeof(pages) / sizeof(pages[0]); i++)
		if (!strcmp(url, pages[i].path))
			break;
	if (i == sizeof(pages) / sizeof(pages[0]))
		return plain(c, MHD_HTTP_NOT_FOUND, "/metrics, /healthz or /readyz\n");
	r = i ? make(h, i, &status) : metrics(h, &status);
	if (!r)
		return plain(c, MHD_HTTP_SERVICE_UNAVAILABLE, "no memory\n");
	rc = MHD_queue_response(c, status, r);
	if (i)
		MHD_destroy_response(r);
	return rc;
}

/* Is a descriptor free for a new connection? */
static bool has_room(int fd)
{
	int copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);

	if (copy >= 0)
		close(copy);
	return copy >= 0;
}

/* Runs libmicrohttpd, which has to close idle connections. While all places are taken it does not
 * watch its listening socket. It watches it again only at its next run, which may have no other
 * cause. Without free descriptors it does watch the socket, and a waiting client would wake us
 * again and again.
 */
static void work(struct ibcc_metrics_http *h)
{
	MHD_UNSIGNED_LONG_LONG wait_ms = LONGEST_WAIT_MS;
	bool room = has_room(sd_event_source_get_io_fd(h->source));

	close_late(h);
	MHD_run(h->daemon);
	sd_event_source_set_enabled(h->source, room ? SD_EVENT_ON : SD_EVENT_OFF);
	if (MHD_get_timeout(h->daemon, &wait_ms) != MHD_YES || !room || wait_ms > LONGEST_WAIT_MS)
		wait_ms = LONGEST_WAIT_MS;
	sd_event_source_set_time(h->timer, now_us(h) + 1000 * (uint64_t)wait_ms);
	sd_event_source_set_enabled(h->timer, SD_EVENT_ONESHOT);
}

static int on_io(sd_event_source *source, int fd, uint32_t revents, void *arg)
{
	(void)source;
	(void)fd;
	(void)revents;
	work(arg);
	return 0;
}

static int on_timer(sd_event_source *source, uint64_t usec, void *arg)
{
	(void)source;
	(void)usec;
	work(arg);
	return 0;
}

/* Returns a socket or a negative errno. */
static int listen_at(const char *address, struct ibcc_why *why)
{
	struct sockaddr_storage sa;
	socklen_t len;
	int fd, on = 1, rc = 0;

	if (ibcc_listen_parse(address, &sa, &len))
		return ibcc_why_set(
			why, -EINVAL,
			"%s: want an address and a port as numbers, such as 127.0.0.1:10315",
			address);
	fd = socket(sa.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) ||
	    bind(fd, (struct sockaddr *)&sa, len) || listen(fd, BACKLOG))
		rc = ibcc_why_set(why, -errno, "%s: %s%s", address, strerror(errno),
				  errno == EAFNOSUPPORT ? "; under systemd's unit, enable "
							  "ibcc-tuned-metrics.socket instead"
							: "");
	if (rc && fd >= 0)
		close(fd);
	return rc ? rc : fd;
}

static int start(struct ibcc_metrics_http *h, int fd, struct ibcc_why *why)
{
	const union MHD_DaemonInfo *info;
	int rc;

	h->daemon = MHD_start_daemon(
		MHD_USE_EPOLL, 0, NULL, NULL, answer, h, MHD_OPTION_LISTEN_SOCKET, (MHD_socket)fd,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, h, MHD_OPTION_NOTIFY_COMPLETED,
		on_completed, h, MHD_OPTION_CONNECTION_LIMIT, IBCC_METRICS_CONNECTIONS + CLOSING,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MEMORY_BYTES, MHD_OPTION_END);
	if (!h->daemon) {
		close(fd);
		return ibcc_why_set(why, -ENOMEM, "no HTTP server");
	}
	info = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return ibcc_why_set(why, -ENOTSUP, "this libmicrohttpd has no epoll");
	rc = sd_event_add_io(h->event, &h->source, info->epoll_fd, EPOLLIN, on_io, h);
	if (rc >= 0)
		rc = sd_event_add_time(h->event, &h->timer, CLOCK_MONOTONIC, UINT64_MAX, 1000,
				       on_timer, h);
	if (rc < 0)
		return ibcc_why_set(why, rc, "no event loop: %s", strerror(-rc));
	sd_event_source_set_enabled(h->timer, SD_EVENT_OFF);
	return 0;
}

struct ibcc_metrics_http *ibcc_metrics_http_new(sd_event *event, const char *address, int fd,
						ibcc_metrics_page_fn *fn, void *arg, int *err,
						struct ibcc_why *why)
{
	struct ibcc_metrics_http *h = calloc(1, sizeof(*h));

	if (!h) {
		if (fd >= 0)
			close(fd);
		*err = ibcc_why_set(why, -ENOMEM, "no memory");
		return NULL;
	}
	*h = (struct ibcc_metrics_http){ .event = sd_event_ref(event), .fn = fn, .arg = arg };
	TAILQ_INIT(&h->clients);
	if (fd < 0)
		fd = listen_at(address, why);
	*err = fd < 0 ? fd : start(h, fd, why);
	if (!*err)
		return h;
	ibcc_metrics_http_free(h);
	return NULL;
}

void ibcc_metrics_http_free(struct ibcc_metrics_http *h)
{
	if (!h)
		return;
	sd_event_source_disable_unref(h->source);
	sd_event_source_disable_unref(h->timer);
	if (h->daemon)
		MHD_stop_daemon(h->daemon); /* also closes the socket */
	if (h->metrics)
		MHD_destroy_response(h->metrics);
	sd_event_unref(h->event);
	free(h);
}

uint16_t ibcc_metrics_http_port(const struct ibcc_metrics_http *h)
{
	const union MHD_DaemonInfo *info =
		MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_LISTEN_FD);
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	char port[8];

	if (!info || getsockname(info->listen_fd, (struct sockaddr *)&sa, &len) ||
	    getnameinfo((struct sockaddr *)&sa, len, NULL, 0, port, sizeof(port), NI_NUMERICSERV))
		return 0;
	return (uint16_t)strtoul(port, NULL, 10);
}

unsigned int ibcc_metrics_http_crowd(struct ibcc_metrics_http *h, char *from, size_t len)
{
	const struct ibcc_crowd_window *w = ibcc_crowd_look(&h->cut, now_us(h));
	struct in6_addr a;
	char text[INET6_ADDRSTRLEN] = "";

	memcpy(&a, w->key, sizeof(a));
	if (IN6_IS_ADDR_V4MAPPED(&a))
		inet_ntop(AF_INET, a.s6_addr + 12, text, sizeof(text));
	else
		inet_ntop(AF_INET6, &a, text, sizeof(text));
	snprintf(from, len, "%s%s", text, IN6_IS_ADDR_V4MAPPED(&a) ? "" : "/64");
	return w->n;
}

int ibcc_metrics_http_inherited(void)
{
	char **name = NULL;
	int n = sd_listen_fds_with_names(1, &name), fd = -1;

	for (int i = 0; i < n; i++) {
		int one = SD_LISTEN_FDS_START + i;

		if (fd < 0 && name && !strcmp(name[i], "metrics") &&
		    sd_is_socket(one, AF_UNSPEC, SOCK_STREAM, 1) > 0 &&
		    !fcntl(one, F_SETFL, O_NONBLOCK))
			fd = one;
		else
			close(one);
	}
	for (int i = 0; i < n && name; i++)
		free(name[i]);
	free(name);
	return fd;
}
