/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The server of /metrics, /healthz and /readyz with any clients. The input is what they send: after
 * a byte 255 the next byte says which of 24 connections goes on, or from 240 on, that this one
 * hangs up. At the end none sends any more, and each has to be answered or closed.
 */
#include <errno.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/metrics/metrics_http.h"
#include "tests/fuzz/fuzz.h"

#define CLIENTS 24u /* more than there are places */
#define SWITCH  255
#define HANG_UP 240
#define TURNS   5000 /* of the event loop, a millisecond each at most */

struct client {
	int fd;
	char *sent, *got;
	size_t n_sent, n_got;
};

struct server {
	sd_event *event;
	struct ibcc_metrics_http *http;
	struct sockaddr_un address;
	socklen_t length;
	struct client client[CLIENTS];
};

static const char *const bodies[] = { "metrics_total 1\n", "ok\n", "nothing decided\n",
				      "/metrics, /healthz or /readyz\n", "only GET and HEAD\n" };

static char *page(void *arg, enum ibcc_metrics_page p, size_t *len, bool *ok)
{
	char *text = strdup(bodies[p]);

	(void)arg;
	FUZZ_CHECK(text);
	*len = strlen(text);
	*ok = p != IBCC_METRICS_PAGE_READY;
	return text;
}

/* A socket of this host's own has no ports to run out of. */
static void start(struct server *s)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), err = 0;
	struct ibcc_why why = { "" };

	s->address.sun_family = AF_UNIX;
	s->length = sizeof(s->address);
	/* Without a path the system finds an abstract one. */
	FUZZ_CHECK(!bind(fd, (struct sockaddr *)&s->address, sizeof(sa_family_t)));
	FUZZ_CHECK(!getsockname(fd, (struct sockaddr *)&s->address, &s->length));
	FUZZ_CHECK(!listen(fd, (int)CLIENTS));
	FUZZ_CHECK(sd_event_new(&s->event) >= 0);
	s->http = ibcc_metrics_http_new(s->event, NULL, fd, page, NULL, &err, &why);
	FUZZ_CHECK(s->http);
	for (unsigned int i = 0; i < CLIENTS; i++)
		s->client[i].fd = -1;
}

static void append(char **text, size_t *len, const void *more, size_t n)
{
	*text = realloc(*text, *len + n + 1);
	FUZZ_CHECK(*text);
	memcpy(*text + *len, more, n);
	*len += n;
	(*text)[*len] = '\0';
}

/* True while more may come. */
static bool hear(struct client *c)
{
	char buf[4096];
	ssize_t n = recv(c->fd, buf, sizeof(buf), MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && errno == EAGAIN;
	append(&c->got, &c->n_got, buf, (size_t)n);
	return true;
}

static void turn(struct server *s)
{
	for (int i = 0; i < TURNS && sd_event_run(s->event, 0) > 0; i++)
		;
}

/* Of an answer's head; 0 if there is none. */
static size_t content_length(const char *head)
{
	const char *field = strstr(head, "\r\nContent-Length: ");

	return field ? strtoul(field + 18, NULL, 10) : 0;
}

/* Ours are fixed texts, whatever was asked; the others are libmicrohttpd's. */
static void check_body(unsigned int status, const char *body, size_t len)
{
	bool known = false;

	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++)
		known |= len == strlen(bodies[i]) && !memcmp(body, bodies[i], len);
	FUZZ_CHECK(known || (status != 200 && status != 404 && status != 405));
}

static unsigned int count(const struct client *c, const char *word)
{
	unsigned int n = 0;

	for (size_t i = 0; i + strlen(word) <= c->n_sent; i++)
		n += !memcmp(c->sent + i, word, strlen(word));
	return n;
}

/* All that a client got: answers, of which the last may be cut off. */
static void check_answers(const struct client *c)
{
	const char *s = c->got;
	unsigned int n_pages = 0;

	while (s && *s) {
		unsigned int status = 0;
		char *end = strstr(s, "\r\n\r\n");
		size_t len;

		if (!end)
			break;
		FUZZ_CHECK(!strncmp(s, "HTTP/1.", 7));
		*end = '\0';
		FUZZ_CHECK(sscanf(s, "HTTP/1.%*1u %3u ", &status) == 1);
		FUZZ_CHECK(status == 100 || (status >= 200 && status < 600));
		len = content_length(s);
		n_pages += status == 200;
		s = end + 4;
		/* HEAD gets the length alone. */
		if (!strncmp(s, "HTTP/1.", 7) || strlen(s) < len)
			continue;
		check_body(status, s, len);
		s += len;
	}
	FUZZ_CHECK(n_pages <= count(c, "GET") + count(c, "HEAD"));
}

static void hang_up(struct client *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
	check_answers(c);
	free(c->sent);
	free(c->got);
	*c = (struct client){ .fd = -1 };
}

static struct client *go_to(struct server *s, unsigned int i)
{
	struct client *c = &s->client[i % CLIENTS];

	if (c->fd >= 0)
		return c;
	c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	FUZZ_CHECK(c->fd >= 0);
	FUZZ_CHECK(!connect(c->fd, (struct sockaddr *)&s->address, s->length));
	turn(s);
	return c;
}

static void say(struct server *s, struct client *c, const uint8_t *data, size_t size)
{
	while (size) {
		ssize_t n = send(c->fd, data, size, MSG_DONTWAIT | MSG_NOSIGNAL);

		if (n < 0)
			break; /* closed, or it does not read */
		append(&c->sent, &c->n_sent, data, (size_t)n);
		data += n;
		size -= (size_t)n;
		turn(s);
		hear(c);
	}
}

static void finish(struct server *s)
{
	for (unsigned int i = 0; i < CLIENTS; i++)
		if (s->client[i].fd >= 0)
			shutdown(s->client[i].fd, SHUT_WR);
	for (unsigned int i = 0; i < CLIENTS; i++) {
		struct client *c = &s->client[i];
		int turns = 0;

		for (; c->fd >= 0 && hear(c); turns++)
			sd_event_run(s->event, 1000);
		FUZZ_CHECK(turns < TURNS);
		hang_up(c);
	}
	ibcc_metrics_http_free(s->http);
	sd_event_unref(s->event);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct server s;
	struct client *c;

	s = (struct server){ 0 };
	start(&s);
	c = go_to(&s, 0);
	while (size) {
		const uint8_t *end = memchr(data, SWITCH, size);
		size_t n = end ? (size_t)(end - data) : size;

		say(&s, c, data, n);
		data += n;
		size -= n;
		if (size < 2)
			break;
		if (data[1] >= HANG_UP) {
			hang_up(c);
			turn(&s);
		}
		c = go_to(&s, data[1]);
		data += 2;
		size -= 2;
	}
	finish(&s);
	return 0;
}
