/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One client's conversation as a state machine without I/O: messages go in, and messages come out
 * when there is room for them. Messages to be sent are not queued. They are made when they can be
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

/* What became of a plan. */
struct ibcc_plan_report {
	struct ibcc_plan plan;
	struct ibcc_result result;   /* n is 0 if the plan was refused as a whole */
	struct ibcc_proto_error end; /* payload of PLAN_END */
};
void ibcc_plan_report_free(struct ibcc_plan_report *r);

struct ibcc_session;

/* What a conversation asks of its surroundings. */
struct ibcc_session_host {
	/* The state now. */
	void (*state)(void *arg, struct ibcc_proto_state *s);
	/* A new reference to the topology now, or NULL if there is none yet. */
	struct ibcc_shared_topo *(*topo)(void *arg);
	/* Takes a complete plan over (and zeroes *plan) and calls ibcc_session_finish() later, or
	 * refuses: returns a refusal with a sentence in *why.
	 */
	enum ibcc_proto_refusal (*submit)(void *arg, struct ibcc_session *s, struct ibcc_plan *plan,
					  uint64_t cc_key, struct ibcc_proto_error *why);
	/* The client has hung up; its plan may still be under way. */
	void (*gone)(void *arg, struct ibcc_session *s);
	void *arg;
};

enum ibcc_session_phase {
	IBCC_SESSION_NEW,    /* HELLO is awaited */
	IBCC_SESSION_IDLE,   /* a request is awaited */
	IBCC_SESSION_TOPO,   /* a topology is being sent */
	IBCC_SESSION_PLAN,   /* a plan is being received */
	IBCC_SESSION_PUSH,   /* a plan is being applied */
	IBCC_SESSION_REPORT, /* its results are being sent */
	IBCC_SESSION_ENDING, /* ERROR is to be sent, then the connection ends */
	IBCC_SESSION_ENDED,
};

struct ibcc_session {
	enum ibcc_session_phase phase;
	uid_t uid;         /* of the client, */
	pid_t pid;         /* set by the server */
	uint64_t heard_ms; /* when it last sent a message, set by the server, too */
	uint32_t lease_ms; /* for so long after a message it lives, as it said last (STATE_GET) */
	/* Another client has taken this one's place as the writer; the host's to set. */
	bool behind;
	uint32_t seq; /* of the request that is being answered */
	bool welcome_due, state_due;
	struct ibcc_proto_error error; /* for ERROR */
	struct ibcc_shared_topo *topo; /* being sent */
	struct ibcc_proto_state topo_end;
	uint32_t next;         /* node or result that comes next */
	struct ibcc_plan plan; /* being received */
	uint32_t n_announced;
	uint64_t cc_key;
	struct ibcc_plan_report *report; /* being sent */
};

void ibcc_session_init(struct ibcc_session *s);
void ibcc_session_fini(struct ibcc_session *s);

/* False while an answer is under way: then the client has to wait and nothing may be put in. */
bool ibcc_session_wants_input(const struct ibcc_session *s);

/* A message came in. */
void ibcc_session_input(struct ibcc_session *s, const struct ibcc_session_host *host,
			const struct ibcc_proto_header *h, const void *payload);

/* The conversation cannot go on: ERROR will be sent, then it ends. */
void ibcc_session_abort(struct ibcc_session *s, uint32_t seq, enum ibcc_proto_refusal refusal,
			const char *text);

/* The state changed; STATE will be sent. */
void ibcc_session_notify(struct ibcc_session *s);

/* The submitted plan is done; takes the report over. NULL: without memory to report. */
void ibcc_session_finish(struct ibcc_session *s, struct ibcc_plan_report *report);

/* True if there is a message to be sent. */
bool ibcc_session_has_output(const struct ibcc_session *s);

/* The message that is to be sent next. Returns false if there is none. *payload points into the
 * session or to buf (of IBCC_PROTO_MAX_BYTES) and stays valid until the next call. Nothing has
 * changed until ibcc_session_sent() says that the message went out.
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
