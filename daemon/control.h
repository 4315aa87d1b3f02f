/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's control socket: a stream of JSON lines.
 *
 * A request is {"command": NAME, "args": {...}}, its answer {"ok": true, "result": {...}} or {"ok":
 * false, "error": SENTENCE, "errno": NUMBER, "result": ...}. A client gets one answer before its
 * next request is read. Who may connect is for the mode of the socket to say; who may change
 * things, for the handler, which is told the peer's user.
 */
#ifndef IBCC_DAEMON_CONTROL_H
#define IBCC_DAEMON_CONTROL_H

#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>
#include <systemd/sd-event.h>

#include <ibcc/why.h>

#define IBCC_CONTROL_MAX_REQUEST 65536u
#define IBCC_CONTROL_MAX_CLIENTS 32u

struct ibcc_control;

struct ibcc_control_request {
	uint64_t client; /* to answer to */
	const char *command;
	const json_t *args; /* an object; borrowed for the call */
	uid_t uid;
	pid_t pid;
};

/* Must lead to exactly one ibcc_control_reply(), at once or later. */
typedef void (*ibcc_control_fn)(void *arg, const struct ibcc_control_request *r);

/* Listens at a path with mode 0660. A socket that a dead process left is replaced; -EADDRINUSE if
 * somebody answers there. NULL with *err and *why on failure.
 */
struct ibcc_control *ibcc_control_new(sd_event *event, const char *path, ibcc_control_fn fn,
				      void *arg, int *err, struct ibcc_why *why);
/* Closes all connections and removes the socket. */
void ibcc_control_free(struct ibcc_control *c);

/* Answers a client; one that has gone meanwhile is ignored. Takes `result` over (may be NULL). err
 * is 0 or a negative errno with its sentence.
 */
void ibcc_control_reply(struct ibcc_control *c, uint64_t client, int err, const char *error,
			json_t *result);

#endif
