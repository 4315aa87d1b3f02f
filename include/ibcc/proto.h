/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The conversation of daemon and OpenSM plugin over a SOCK_SEQPACKET socket.
 *
 * Client and server are on one host, so numbers are in host order; every message begins with a
 * header that carries magic and version, and every length is checked. A client says HELLO first
 * and gets WELCOME or ERROR. Requests are TOPO_GET (answer: TOPO_NODE for each node, TOPO_END) and
 * a plan: PLAN_BEGIN, CHANGE for each, PLAN_COMMIT (answer: RESULT for each change, PLAN_END).
 * STATE comes unasked when the SM's state or the topology's generation changed, about once a second
 * while a plan is being applied, and when asked for by STATE_GET: so silence means that OpenSM has
 * stopped. In STATE_GET a client promises when it will speak again: it is alive until then, and no
 * longer.
 *
 * Payloads: WELCOME, STATE, TOPO_END struct ibcc_proto_state (in TOPO_END that of the topology just
 * sent, so its generation is the one to plan for); ERROR, PLAN_END struct ibcc_proto_error;
 * STATE_GET struct ibcc_proto_alive; PLAN_BEGIN struct ibcc_proto_plan; RESULT struct
 * ibcc_proto_result; TOPO_NODE and CHANGE as encoded below; none in HELLO, TOPO_GET and
 * PLAN_COMMIT. A plan is judged as a whole: a refused one gets no RESULT, only a PLAN_END with the
 * refusal, and the connection goes on. One that was stopped on its way gets a RESULT for each
 * change and the reason in PLAN_END. ERROR is about the conversation itself, and the plugin hangs
 * up after it. While an answer is under way the plugin reads nothing further from that client.
 * STATE has seq 0.
 */
#ifndef IBCC_PROTO_H
#define IBCC_PROTO_H

#include <stddef.h>
#include <stdint.h>

#include <ibcc/plan.h>
#include <ibcc/topo.h>

#define IBCC_PROTO_MAGIC     0x69626363u
#define IBCC_PROTO_VERSION   7u
#define IBCC_PROTO_MAX_BYTES (128u * 1024u)
#define IBCC_PROTO_SOCKET    "/run/ibcc-tune/opensm.sock"

enum ibcc_proto_type {
	IBCC_PROTO_HELLO = 1,
	IBCC_PROTO_WELCOME,
	IBCC_PROTO_ERROR,
	IBCC_PROTO_STATE,
	IBCC_PROTO_TOPO_GET,
	IBCC_PROTO_TOPO_NODE,
	IBCC_PROTO_TOPO_END,
	IBCC_PROTO_PLAN_BEGIN,
	IBCC_PROTO_CHANGE,
	IBCC_PROTO_PLAN_COMMIT,
	IBCC_PROTO_RESULT,
	IBCC_PROTO_PLAN_END,
	IBCC_PROTO_STATE_GET,
};

struct ibcc_proto_header {
	uint32_t magic;
	uint16_t version;
	uint16_t type;
	uint32_t seq;    /* of the request; answers repeat it */
	uint32_t length; /* of the payload behind the header */
};

/* Why the plugin says no (ERROR and PLAN_END carry it with a sentence). */
enum ibcc_proto_refusal {
	IBCC_REFUSAL_NONE,
	IBCC_REFUSAL_VERSION, /* other protocol version */
	IBCC_REFUSAL_BUSY,    /* another client writes, or has written since; or too many clients */
	IBCC_REFUSAL_NOT_MASTER,  /* the SM is not in state MASTER */
	IBCC_REFUSAL_TWO_WRITERS, /* OpenSM's own congestion control is on */
	IBCC_REFUSAL_STALE,       /* the plan is for another generation of the topology */
	IBCC_REFUSAL_BAD_MESSAGE,
	IBCC_REFUSAL_NO_PORT, /* the plugin's umad port could not be opened */
	IBCC_REFUSAL_INTERNAL,
	IBCC_REFUSAL_GONE, /* the client hung up while its plan was being applied */
};

/* SM states as SMInfo has them. */
enum ibcc_sm_state {
	IBCC_SM_NOT_ACTIVE,
	IBCC_SM_DISCOVERING,
	IBCC_SM_STANDBY,
	IBCC_SM_MASTER,
};

/* What else would write the settings: OpenSM's own manager, or that of NVIDIA's OpenSM. */
enum ibcc_own_cc {
	IBCC_OWN_CC_NONE,
	IBCC_OWN_CC_OPENSM, /* congestion_control TRUE */
	IBCC_OWN_CC_NVIDIA, /* mlnx_congestion_control 2 */
};

struct ibcc_proto_state { /* WELCOME and STATE */
	uint32_t sm_state;
	uint32_t own_cc; /* OpenSM manages congestion control itself: enum ibcc_own_cc */
	uint64_t generation;
	uint64_t port_guid;     /* of the SM */
	uint64_t subnet_prefix; /* that it gives to ports */
	uint32_t n_nodes;
	uint32_t max_delay, max_timer, sets_per_minute; /* see struct ibcc_bounds */
	char opensm_version[32];
	char plugin_version[32];
};

struct ibcc_proto_error { /* ERROR and PLAN_END */
	uint32_t refusal; /* enum ibcc_proto_refusal, 0 in a PLAN_END that ran */
	int32_t err;
	uint32_t set_mads;
	char text[200];
};

struct ibcc_proto_plan { /* PLAN_BEGIN */
	uint64_t generation;
	uint64_t cc_key;
	uint32_t n_changes;
	uint32_t reserved;
};

struct ibcc_proto_alive { /* STATE_GET */
	/* The client speaks again within this time, or has stopped. 0: it does not look after what
	 * is written.
	 */
	uint32_t lease_ms;
};
#define IBCC_PROTO_LEASE_MAX_MS 600000u /* a longer one counts as this */

struct ibcc_proto_result { /* RESULT */
	uint32_t index;
	uint32_t outcome;
	int32_t err;
	uint32_t status;
};

/* Sends one message. Returns 0, -EAGAIN when the peer does not read, -EPIPE, another -errno. Never
 * raises SIGPIPE.
 */
int ibcc_proto_send(int fd, enum ibcc_proto_type type, uint32_t seq, const void *payload,
		    size_t length);

/* Receives one message into buf (of IBCC_PROTO_MAX_BYTES): checks magic, version and length, points
 * *payload behind the header. Returns 0, -EAGAIN, -ENODATA at the end of the connection, -EPROTO
 * for garbage, -EPROTONOSUPPORT for another version (header valid, so that it can be answered).
 */
int ibcc_proto_recv(int fd, void *buf, struct ibcc_proto_header *h, const void **payload);

/* Topology node by node: encodes node i into buf (IBCC_PROTO_MAX_BYTES) and returns the length, or
 * -EMSGSIZE. Decoding adds the node to *t; links are kept by GUID and joined by _finish(), as a
 * peer may come later. -EPROTO for anything inconsistent, -ENOMEM.
 */
int64_t ibcc_proto_node_encode(const struct ibcc_topo *t, uint32_t i, void *buf);
struct ibcc_proto_topo; /* a topology being received */
struct ibcc_proto_topo *ibcc_proto_topo_new(void);
int ibcc_proto_topo_add(struct ibcc_proto_topo *p, const void *payload, size_t length);
/* Joins the links, hands the topology over and frees p, also on failure (NULL, *err). */
struct ibcc_topo *ibcc_proto_topo_finish(struct ibcc_proto_topo *p, uint64_t generation, int *err);
void ibcc_proto_topo_free(struct ibcc_proto_topo *p);

/* A change to and from IBCC_PROTO_CHANGE_BYTES bytes. Its reason stays with the client, so that no
 * message of a client carries text. Decoding checks attribute, LID and port. -EPROTO.
 */
#define IBCC_PROTO_CHANGE_BYTES (32u + 2u * IBCC_CC_DATA_BYTES)
size_t ibcc_proto_change_encode(const struct ibcc_change *c, void *buf);
int ibcc_proto_change_decode(const void *payload, size_t length, struct ibcc_change *c);

/* Words for a refusal; never NULL. */
const char *ibcc_proto_refusal_text(uint32_t refusal);
/* What to do about an enum ibcc_own_cc other than NONE. */
const char *ibcc_proto_own_cc_text(uint32_t own_cc);
const char *ibcc_proto_sm_state_name(uint32_t state);

#endif
