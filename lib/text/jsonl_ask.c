/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The client of JSON lines (jsonl.h): sends a request and waits for its answer. When nothing comes
 * for a while, it asks the caller whether to go on.
 */
#include <ibcc/jsonl.h>

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibcc/json.h>
#include <ibcc/json_lines.h>

#include "lib/text/jsonl_place.h"

/* More than the daemon's longest answer about the largest fabric. */
#define ANSWER_MAX (1u << 30)

struct conversation {
	const struct ibcc_jsonl_wait *wait;
	int fd;
	pid_t pid; /* of the server, 0: not known */
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

static int await_room(void *arg)
{
	return await(arg, POLLOUT);
}

static int read_answer(struct conversation *c, json_t **answer)
{
	struct ibcc_json_lines in = { .limit = ANSWER_MAX };
	json_t *o = NULL;
	int rc;

	while ((rc = ibcc_json_lines_take(&in, &o, NULL)) == -EAGAIN) {
		rc = await(c, POLLIN);
		if (!rc)
			rc = ibcc_json_lines_fill(&in, c->fd);
		if (rc)
			break;
	}
	ibcc_json_lines_fini(&in);
	if (!rc)
		rc = ibcc_json_clean(o);
	if (!rc)
		*answer = o;
	else
		json_decref(o);
	return rc;
}

int ibcc_jsonl_ask_patiently(const char *address, const json_t *request,
			     const struct ibcc_jsonl_wait *wait, json_t **answer)
{
	struct conversation c = { .wait = wait, .fd = -1 };
	int rc = dial(address, &c);

	*answer = NULL;
	if (!rc)
		rc = ibcc_json_lines_send(c.fd, request, await_room, &c);
	/* A server that closes the connection at once may have sent the reason. */
	if (!rc || rc == -EPIPE)
		rc = read_answer(&c, answer);
	if (c.fd >= 0)
		close(c.fd);
	return rc;
}

int ibcc_jsonl_ask(const char *address, const json_t *request, unsigned int timeout_s,
		   json_t **answer)
{
	const struct ibcc_jsonl_wait wait = { .each_ms = 1000 * timeout_s };

	return ibcc_jsonl_ask_patiently(address, request, &wait, answer);
}
