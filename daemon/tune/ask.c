/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The client's end of the control socket. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "daemon/tune/tune.h"

/* The daemon may have to wait for MADs of nodes that do not answer, and for its next pass. */
#define ANSWER_TIMEOUT_S 120

static int open_socket(const char *path, struct ibcc_why *why)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	struct timeval tv = { .tv_sec = ANSWER_TIMEOUT_S };
	int fd, err;

	if (strlen(path) >= sizeof(sa.sun_path))
		return ibcc_why_set(why, -ENAMETOOLONG, "control_socket: the path is too long");
	memcpy(sa.sun_path, path, strlen(path));
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) &&
	    !connect(fd, (struct sockaddr *)&sa, sizeof(sa)))
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	if (err == -ENOENT || err == -ECONNREFUSED)
		return ibcc_why_set(why, err, "ibcc-tuned is not running: nobody listens at %s",
				    path);
	return ibcc_why_set(why, err, "cannot ask ibcc-tuned at %s: %s", path, strerror(-err));
}

static int send_line(int fd, const json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	size_t len, sent = 0;

	if (!text)
		return -ENOMEM;
	len = strlen(text);
	text[len++] = '\n'; /* instead of the terminating zero */
	while (sent < len) {
		ssize_t n = send(fd, text + sent, len - sent, MSG_NOSIGNAL);

		if (n < 0)
			break;
		sent += (size_t)n;
	}
	free(text);
	return sent == len ? 0 : -errno;
}

static int receive_line(int fd, char **line)
{
	size_t n = 0, cap = 65536;
	char *buf = malloc(cap), *grown;
	int rc = -ENOMEM;

	while (buf) {
		ssize_t got = recv(fd, buf + n, cap - n, 0);

		if (got <= 0) {
			rc = got ? (errno == EAGAIN ? -ETIMEDOUT : -errno) : -ECONNRESET;
			break;
		}
		n += (size_t)got;
		if (buf[n - 1] == '\n') {
			buf[n - 1] = '\0';
			*line = buf;
			return 0;
		}
		if (n < cap)
			continue;
		grown = realloc(buf, cap * 2);
		if (!grown)
			break;
		buf = grown;
		cap *= 2;
	}
	free(buf);
	return rc;
}

static int read_answer(const char *line, json_t **out, struct ibcc_why *why)
{
	json_error_t e;
	json_t *o = json_loads(line, 0, &e), *result;
	int rc = 0;

	if (!o || !json_is_boolean(json_object_get(o, "ok"))) {
		json_decref(o);
		return ibcc_why_set(why, -EPROTO, "the answer of ibcc-tuned is no answer");
	}
	result = json_object_get(o, "result");
	*out = json_is_object(result) ? json_incref(result) : NULL;
	if (!json_is_true(json_object_get(o, "ok"))) {
		json_int_t err = tune_int(o, "errno");

		rc = ibcc_why_set(why, err > 0 && err < 4096 ? (int)-err : -EIO, "%s",
				  tune_str(o, "error"));
		/* The daemon has been reached: its errors must not look as if it had not. */
		if (rc == -ENOENT || rc == -ECONNREFUSED)
			rc = -EIO;
	} else if (!*out) {
		rc = ibcc_why_set(why, -EPROTO, "the answer of ibcc-tuned has no result");
	}
	json_decref(o);
	return rc;
}

int tune_ask(const struct tune *t, const char *command, json_t *args, json_t **out,
	     struct ibcc_why *why)
{
	json_t *request = json_pack("{ss so}", "command", command, "args",
				    args ? json_incref(args) : json_object());
	char *line = NULL;
	int fd, rc;

	*out = NULL;
	if (!request)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	fd = open_socket(t->config.control_socket, why);
	if (fd < 0) {
		json_decref(request);
		return fd;
	}
	rc = send_line(fd, request);
	if (!rc)
		rc = receive_line(fd, &line);
	if (rc)
		ibcc_why_set(why, rc, "ibcc-tuned at %s did not answer: %s",
			     t->config.control_socket, strerror(-rc));
	else
		rc = read_answer(line, out, why);
	free(line);
	close(fd);
	json_decref(request);
	return rc;
}
