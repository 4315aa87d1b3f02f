/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* JSON objects on a stream socket, one a line: both ends of the daemon's socket and of ibcc-perf's
 * connections. What comes is not trusted: it is bounded in size and may be anything.
 */
#ifndef IBCC_JSON_LINES_H
#define IBCC_JSON_LINES_H

#include <stddef.h>

#include <jansson.h>

#include <ibcc/why.h>

/* What has come and has not been taken yet. All zero but for the limit is an empty one. */
struct ibcc_json_lines {
	char *text;
	size_t n, room; /* bytes in it, and that it has */
	size_t limit;   /* bytes of a line with its end */
	size_t seen;    /* of `text`, without the end of a line */
};

void ibcc_json_lines_fini(struct ibcc_json_lines *l);

/* Reads once what a socket has, without waiting: 0, also when there was nothing; -ECONNRESET at the
 * stream's end, -ENOMEM, or what the system says. Only after ibcc_json_lines_take() gave -EAGAIN.
 */
int ibcc_json_lines_fill(struct ibcc_json_lines *l, int fd);

/* Takes the first line out, an object that is the caller's. -EAGAIN: there is no whole line yet;
 * -EMSGSIZE: it is longer than the limit; -EPROTO with the reason: it was no object.
 */
int ibcc_json_lines_take(struct ibcc_json_lines *l, json_t **o, struct ibcc_why *why);

/* Sends an object. wait() is called when the socket takes no more, waits until it does, and returns
 * 0 or the error to end with. Else -ENOMEM, -EPIPE (hung up), or what the system says.
 */
int ibcc_json_lines_send(int fd, const json_t *o, int (*wait)(void *arg), void *arg);

#endif
