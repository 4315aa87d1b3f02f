/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The client of JSON lines (jsonl.h): sends a request, waits for its answer, and gives the caller
 * a say when nothing comes for a while.
 */
#include <ibcc/jsonl.h>

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibcc/json.h>

#include "lib/io/jsonl_place.h"

struct conversation {
	const struct ibcc_jsonl_wait *wait;
	int fd;
	pid_t pid; /* of the server, 0: not known */
	int err;   /* of the reading */
};

/* Asks the caller whether to go on waiting for a server from which nothing came for a while. */
static int look(const struct conversation *c)
{
	if (c->wait->go_on && c->wait->go_on(c->wait->arg, c->pid))
		return 0;
	return -ETIMEDOUT;
}

static int dial(const char *address, struct conversation *c)
{
	const struct timeval limit = { .tv_sec = (time_t)(c->wait->each_ms / 1000),
				       .tv_usec = (suseconds_t)(c->wait->each_ms % 1000) * 1000 };
	struct ucred peer;
	socklen_t len = sizeof(peer);
	struct ibcc_place place;
	int rc = ibcc_place_of(address, &place);

	while (!rc) {
		c->fd = ibcc_place_dial(&place, &limit);
		if (c->fd >= 0)
			break;
		/* A stopped server accepts no connection: its queue in the kernel is full. */
		rc = c->fd == -EAGAIN ? look(c) : c->fd;
	}
	if (!rc && !getsockopt(c->fd, SOL_SOCKET, SO_PEERCRED, &peer, &len))
		c->pid = peer.pid;
	return rc;
}

/* Waits until there is something to read, or room to write. */
static int await(const struct conversation *c, short events)
{
	struct pollfd p = { .fd = c->fd, .events = events };
	int rc = 0, n;

	while (!rc && (n = poll(&p, 1, (int)c->wait->each_ms)) <= 0)
		rc = n ? -errno : look(c);
	return rc;
}

static int send_text(const struct conversation *c, const char *text, size_t len)
{
	int rc = 0;

	while (!rc && len) {
		ssize_t n = send(c->fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno == EAGAIN) {
			rc = await(c, POLLOUT);
		} else if (n < 0) {
			rc = -errno;
		} else {
			text += n;
			len -= (size_t)n;
		}
	}
	return rc;
}

static size_t fill(void *buf, size_t len, void *arg)
{
	struct conversation *c = arg;
	ssize_t n;

	c->err = await(c, POLLIN);
	if (c->err)
		return (size_t)-1;
	n = recv(c->fd, buf, len, 0);
	c->err = n < 0 ? -errno : n ? 0 : -ECONNRESET;
	return (size_t)n;
}

static int read_answer(struct conversation *c, json_t **answer)
{
	json_t *o = json_load_callback(fill, c, JSON_DISABLE_EOF_CHECK, NULL);

	if (json_is_object(o) && !ibcc_json_clean(o)) {
		*answer = o;
		return 0;
	}
	json_decref(o);
	return c->err ? c->err : -EPROTO;
}

int ibcc_jsonl_ask_patiently(const char *address, const json_t *request,
			     const struct ibcc_jsonl_wait *wait, json_t **answer)
{
	struct conversation c = { .wait = wait, .fd = -1 };
	char *text = json_dumps(request, JSON_COMPACT);
	int rc = text ? dial(address, &c) : -ENOMEM;

	*answer = NULL;
	if (!rc)
		rc = send_text(&c, text, strlen(text));
	if (!rc)
		rc = send_text(&c, "\n", 1);
	/* A server that closes the connection at once may have sent the reason. */
	if (!rc || rc == -EPIPE)
		rc = read_answer(&c, answer);
	if (c.fd >= 0)
		close(c.fd);
	free(text);
	return rc;
}

int ibcc_jsonl_ask(const char *address, const json_t *request, unsigned int timeout_s,
		   json_t **answer)
{
	const struct ibcc_jsonl_wait wait = { .each_ms = 1000 * timeout_s };

	return ibcc_jsonl_ask_patiently(address, request, &wait, answer);
}
