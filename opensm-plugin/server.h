/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The clients: descriptors, sessions and limits. Single-threaded, never blocks. Several clients may
 * read; the host decides which of them may apply a plan.
 */
#ifndef IBCC_PLUGIN_SERVER_H
#define IBCC_PLUGIN_SERVER_H

#include <poll.h>
#include <stdint.h>

#include "opensm-plugin/listener.h"
#include "opensm-plugin/log.h"
#include "opensm-plugin/session.h"

/* Connections in all, those of them that are kept for root and OpenSM's own user, and the limit for
 * any other user.
 */
#define IBCC_SERVER_CLIENTS 16u
#define IBCC_SERVER_KEPT    4u
#define IBCC_SERVER_OF_UID  8u

struct ibcc_server_client {
	int fd; /* -1: unused */
	struct ucred peer;
	/* start of waiting for HELLO, a plan's rest, or the client to read; 0: none */
	uint64_t waits_since_ms;
	uint64_t joined_ms; /* when it connected */
	bool asked;         /* it has made a request other than HELLO */
	bool wrote;         /* a plan of this client was applied */
	struct ibcc_session session;
};

struct ibcc_server {
	struct ibcc_plugin_options options;
	struct ibcc_listener listener;
	int listen_err;           /* error of the last attempt, 0 if listening */
	uint64_t listen_again_ms; /* when to try again */
	struct ibcc_session_host host;
	struct ibcc_plugin_log log;
	struct ibcc_server_client client[IBCC_SERVER_CLIENTS];
	uint8_t *buf; /* of IBCC_PROTO_MAX_BYTES */
	/* Limits the lines about clients in each second, so that clients cannot fill OpenSM's log.
	 */
	uint64_t log_second;
	unsigned int log_lines, log_dropped;
};

/* -ENOMEM. Does not listen yet. */
int ibcc_server_init(struct ibcc_server *s, const struct ibcc_plugin_options *o,
		     const struct ibcc_session_host *host, const struct ibcc_plugin_log *log);
void ibcc_server_fini(struct ibcc_server *s);

/* Takes a connected descriptor as a new client. If all places are taken, it drops the client that
 * has been idle for longest. That client must have no better right to a place, have written
 * nothing, and have been idle for a second at least. If there is no such client, it closes the new
 * one with ERROR.
 */
void ibcc_server_adopt(struct ibcc_server *s, int fd, const struct ucred *peer, uint64_t now_ms);

/* Descriptors to poll; returns their number, at most IBCC_SERVER_CLIENTS + 1. */
unsigned int ibcc_server_pollfds(struct ibcc_server *s, struct pollfd *pfd);
/* Serves what poll reported. */
void ibcc_server_serve(struct ibcc_server *s, const struct pollfd *pfd, unsigned int n,
		       uint64_t now_ms);
/* Call about once a second. It listens (again), and drops clients that took too long or made no
 * request. It sends a sign of life to the client that waits for its plan to be applied.
 */
void ibcc_server_tick(struct ibcc_server *s, uint64_t now_ms);

/* Is there a live client that looks after what was written (writer.h)? */
bool ibcc_server_is_kept(const struct ibcc_server *s, uint64_t now_ms);

/* SM state or generation changed: sends STATE to every client. */
void ibcc_server_notify(struct ibcc_server *s);
/* Call when a client's plan is done. Takes over the report (NULL: none), also if the client is
 * gone.
 */
void ibcc_server_finish(struct ibcc_server *s, const struct ibcc_session *whose,
			struct ibcc_plan_report *report);

#endif
