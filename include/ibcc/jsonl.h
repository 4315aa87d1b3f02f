/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A stream socket for JSON lines: a request is a JSON object on a line, and so is its answer.
 *
 * A client gets one answer before its next request is read. One that sends nothing, or does not
 * read, for half a minute is disconnected, and already after a second if its place is needed. A
 * client for which there is no place gets an error, -EBUSY. Addresses are paths, or names in the
 * abstract namespace, which begin with "@".
 */
#ifndef IBCC_JSONL_H
#define IBCC_JSONL_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include <jansson.h>
#include <systemd/sd-event.h>

/* Bytes of a line; a client that sends more is disconnected. Clients that may change things may
 * send whole plans.
 */
#define IBCC_JSONL_MAX_REQUEST 65536u
#define IBCC_JSONL_MAX_TRUSTED (256u * IBCC_JSONL_MAX_REQUEST)
/* Connections in all; KEPT of them are for root and our own user only, and any other user has at
 * most MAX_OF_UID.
 */
#define IBCC_JSONL_MAX_CLIENTS 32u
#define IBCC_JSONL_KEPT        8u
#define IBCC_JSONL_MAX_OF_UID  8u

struct ibcc_jsonl;

struct ibcc_jsonl_request {
	uint64_t client;      /* to answer to */
	const json_t *object; /* borrowed for the call */
	uid_t uid;            /* of the peer */
	bool trusted;         /* root or our own user */
	bool may_change;      /* trusted, or with the role for it */
	pid_t pid;
};

/* Must lead to exactly one ibcc_jsonl_reply(), at once or later. */
typedef void ibcc_jsonl_fn(void *arg, const struct ibcc_jsonl_request *r);

/* Listens. At a path, the socket gets mode 0660, so its owner and group may connect; a socket that
 * a dead process left is replaced. At an abstract name only root and our own user may connect.
 * Refuses lines that are no JSON object. NULL with *err on failure: -EADDRINUSE if a process
 * listens there, -EEXIST if what is there is no socket, -ENAMETOOLONG, -ENOMEM or the system's
 * error.
 */
struct ibcc_jsonl *ibcc_jsonl_listen(sd_event *event, const char *address, ibcc_jsonl_fn *fn,
				     void *arg, int *err);
#define IBCC_JSONL_NOBODY ((gid_t)-1)

/* Groups: members of the first may query, members of the second may also request changes. Root and
 * our own user may do both.
 */
struct ibcc_jsonl_roles {
	gid_t read, write; /* IBCC_JSONL_NOBODY: none */
};
/* Clients that connect from now on need one of these roles, and the mode of a socket at a path
 * becomes 0666, since it does not decide any more. With neither role set, as at first, all clients
 * may ask that the mode 0660 lets in.
 */
void ibcc_jsonl_set_roles(struct ibcc_jsonl *s, const struct ibcc_jsonl_roles *roles);

/* A client has hung up before its request was answered, so the answer is not needed any more. */
typedef void ibcc_jsonl_gone_fn(void *arg, uint64_t client);

/* Has `gone` called for each such client, with the argument of ibcc_jsonl_listen(). A reply that
 * was on its way is ignored as before, so there is no need to count on the call.
 */
void ibcc_jsonl_on_gone(struct ibcc_jsonl *s, ibcc_jsonl_gone_fn *gone);

/* How often users other than root and our own have connected, and asked again on a connection that
 * they had, within ten seconds; *uid: the user that did it most. Connections that were refused
 * count.
 */
unsigned int ibcc_jsonl_crowd(struct ibcc_jsonl *s, uid_t *uid);
/* Another time than half a minute. */
void ibcc_jsonl_set_idle_ms(struct ibcc_jsonl *s, unsigned int ms);
/* Makes a new socket if it is gone from its path, for clients that connect from now on; connections
 * stay. 0: it is there; 1: it was made again; else as ibcc_jsonl_listen() with what is at its path
 * now.
 */
int ibcc_jsonl_renew(struct ibcc_jsonl *s);
/* Closes all connections and removes the socket. NULL is fine. */
void ibcc_jsonl_free(struct ibcc_jsonl *s);

/* Answers a client; one that has gone meanwhile is ignored. Takes `answer` over; NULL (no memory)
 * hangs up.
 */
void ibcc_jsonl_reply(struct ibcc_jsonl *s, uint64_t client, json_t *answer);

/* {"ok": false, "error": SENTENCE, "errno": NUMBER} for a negative errno; NULL without memory. */
json_t *ibcc_jsonl_error(int err, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The client's end: sends one request and waits for the answer, an object, which is the caller's
 * and clean enough for a terminal (ibcc_json_clean()); between two of its bytes at most
 * `timeout_s`. Returns 0, -ENOENT or -ECONNREFUSED (no process listens), -ETIMEDOUT, -ECONNRESET
 * (hung up), -EPROTO (no valid answer), -ENAMETOOLONG, -ENOMEM, or what the system says.
 */
int ibcc_jsonl_ask(const char *address, const json_t *request, unsigned int timeout_s,
		   json_t **answer);

/* For a caller that wants to check on the server while it waits. */
struct ibcc_jsonl_wait {
	/* after this many milliseconds without a byte, go_on() is called, repeatedly */
	unsigned int each_ms;
	/* `pid` is the process that listens, 0 where that is not known, as before the connection.
	 * False, or NULL, ends the waiting with -ETIMEDOUT.
	 */
	bool (*go_on)(void *arg, pid_t pid);
	void *arg;
};
/* As ibcc_jsonl_ask(), for as long as go_on() says. */
int ibcc_jsonl_ask_patiently(const char *address, const json_t *request,
			     const struct ibcc_jsonl_wait *wait, json_t **answer);

#endif
