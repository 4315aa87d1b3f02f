/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/json_lines.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define FIRST_ROOM 4096u

void ibcc_json_lines_fini(struct ibcc_json_lines *l)
{
	free(l->text);
	*l = (struct ibcc_json_lines){ 0 };
}

static int make_room(struct ibcc_json_lines *l)
{
	size_t room = l->room ? 2 * l->room : FIRST_ROOM;
	char *text;

	if (l->n < l->room)
		return 0;
	text = realloc(l->text, room < l->limit ? room : l->limit);
	if (!text)
		return -ENOMEM;
	l->text = text;
	l->room = room < l->limit ? room : l->limit;
	return 0;
}

int ibcc_json_lines_fill(struct ibcc_json_lines *l, int fd)
{
	int rc = make_room(l);
	ssize_t n;

	if (rc)
		return rc;
	n = recv(fd, l->text + l->n, l->room - l->n, MSG_DONTWAIT);
	if (n > 0)
		l->n += (size_t)n;
	if (n < 0 && errno != EAGAIN && errno != EINTR)
		return -errno;
	return n ? 0 : -ECONNRESET;
}

int ibcc_json_lines_take(struct ibcc_json_lines *l, json_t **o, struct ibcc_why *why)
{
	char *end = l->n > l->seen ? memchr(l->text + l->seen, '\n', l->n - l->seen) : NULL;
	json_error_t e = { .text = "" };
	json_t *v;
	size_t n;

	*o = NULL;
	if (!end) {
		l->seen = l->n;
		return l->n < l->limit ? -EAGAIN : -EMSGSIZE;
	}
	n = (size_t)(end - l->text);
	v = json_loadb(l->text, n, JSON_REJECT_DUPLICATES, &e);
	l->n -= n + 1;
	l->seen = 0;
	memmove(l->text, end + 1, l->n);
	if (json_is_object(v)) {
		*o = v;
		return 0;
	}
	ibcc_why_set(why, -EPROTO, "%s", v ? "this line is JSON, but no object" : e.text);
	json_decref(v);
	return -EPROTO;
}

static int send_text(int fd, const char *text, size_t len, int (*wait)(void *arg), void *arg)
{
	int rc = 0;

	while (!rc && len) {
		ssize_t n = send(fd, text, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n >= 0) {
			text += n;
			len -= (size_t)n;
		} else if (errno == EAGAIN) {
			rc = wait(arg);
		} else if (errno != EINTR) {
			rc = -errno;
		}
	}
	return rc;
}

int ibcc_json_lines_send(int fd, const json_t *o, int (*wait)(void *arg), void *arg)
{
	char *text = json_dumps(o, JSON_COMPACT);
	int rc = text ? send_text(fd, text, strlen(text), wait, arg) : -ENOMEM;

	free(text);
	return rc ? rc : send_text(fd, "\n", 1, wait, arg);
}
