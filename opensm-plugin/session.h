/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One client's conversation as a state machine without I/O: messages go in, and messages come out
 * when there is room for them. Outgoing messages are not queued. They are made when they can be
 * sent, from a cursor into a topology or a result, or from a flag. So a client that does not read
 * costs no memory.
 */
#ifndef IBCC_PLUGIN_SESSION_H
#define IBCC_PLUGIN_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <ibcc/plan.h>
#include <ibcc/proto.h>

#include "opensm-plugin/shared_topo.h"

/* The outcome of a plan. */
struct ibcc_plan_report {
	struct ibcc_plan plan;
	struct ibcc_result result;   /* n is 0 if the plan was refused as a whole */
	struct ibcc_proto_error end; /* payload of PLAN_END */
};
void ibcc_plan_report_free(struct ibcc_plan_report *r);

struct ibcc_session;

/* Callbacks of a conversation. */
struct ibcc_session_host {
	/* The state now. */
	void (*state)(void *arg, struct ibcc_proto_state *s);
	/* A new reference to the topology now, or NULL if there is none yet. */
	struct ibcc_shared_topo *(*topo)(void *arg);
	/* Takes over a complete plan (and zeroes *plan) and calls ibcc_session_finish() later. Or
	 * refuses: returns a refusal with a sentence in *why.
	 */
	enum ibcc_proto_refusal (*submit)(void *arg, struct ibcc_session *s, struct ibcc_plan *plan,
					  uint64_t cc_key, struct ibcc_proto_error *why);
	/* The client has hung up; its plan may still be running. */
	void (*gone)(void *arg, struct ibcc_session *s);
	void *arg;
};

enum ibcc_session_phase {
	IBCC_SESSION_NEW,    /* waits for HELLO */
	IBCC_SESSION_IDLE,   /* waits for a request */
	IBCC_SESSION_TOPO,   /* a topology is being sent */
	IBCC_SESSION_PLAN,   /* a plan is being received */
	IBCC_SESSION_PUSH,   /* a plan is being applied */
	IBCC_SESSION_REPORT, /* its results are being sent */
	IBCC_SESSION_ENDING, /* ERROR will be sent, then the connection ends */
	IBCC_SESSION_ENDED,
};

struct ibcc_session {
	enum ibcc_session_phase phase;
	uid_t uid;         /* user of the client */
	pid_t pid;         /* process of the client; set by the server */
	uint64_t heard_ms; /* when it last sent a message; set by the server */
	/* how long it counts as alive after a message, as it stated last (STATE_GET) */
	uint32_t lease_ms;
	/* Another client has taken this one's place as the writer; the host sets it. */
	bool behind;
	uint32_t seq; /* number of the current request */
	bool welcome_due, state_due;
	struct ibcc_proto_error error; /* content of ERROR */
	struct ibcc_shared_topo *topo; /* being sent */
	struct ibcc_proto_state topo_end;
	uint32_t next;         /* node or result to send next */
	struct ibcc_plan plan; /* being received */
	uint32_t n_announced;
	uint64_t cc_key;
	struct ibcc_plan_report *report; /* being sent */
};

void ibcc_session_init(struct ibcc_session *s);
void ibcc_session_fini(struct ibcc_session *s);

/* False while an answer is being sent: then the client has to wait, and the caller must not call
 * ibcc_session_input().
 */
bool ibcc_session_wants_input(const struct ibcc_session *s);

/* A message came in. */
void ibcc_session_input(struct ibcc_session *s, const struct ibcc_session_host *host,
			const struct ibcc_proto_header *h, const void *payload);

/* Ends the conversation after an ERROR. */
void ibcc_session_abort(struct ibcc_session *s, uint32_t seq, enum ibcc_proto_refusal refusal,
			const char *text);

/* The state changed; STATE will be sent. */
void ibcc_session_notify(struct ibcc_session *s);

/* Call when the submitted plan is done; takes over the report. NULL: there was no memory for a
 * report.
 */
void ibcc_session_finish(struct ibcc_session *s, struct ibcc_plan_report *report);

/* True if there is a message to send. */
bool ibcc_session_has_output(const struct ibcc_session *s);

/* The message to send next. Returns false if there is none. *payload points into the session or to
 * buf (of IBCC_PROTO_MAX_BYTES) and stays valid until the next call. Nothing has changed until
 * ibcc_session_sent() reports that the message was sent.
 */
struct ibcc_session_message {
	enum ibcc_proto_type type;
	uint32_t seq;
	const void *payload;
	size_t length;
};
bool ibcc_session_output(struct ibcc_session *s, const struct ibcc_session_host *host, void *buf,
			 struct ibcc_session_message *m);
void ibcc_session_sent(struct ibcc_session *s, const struct ibcc_session_message *m);

#endif
