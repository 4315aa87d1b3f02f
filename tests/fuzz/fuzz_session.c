/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A conversation with the plugin in any order: what a client says, how much of the answers it
 * takes, and what happens in OpenSM meanwhile come from the input. A step is one byte: a message's
 * type (then a length and that many bytes, LENGTH_RIGHT for a right payload, or LENGTH_MIXED for
 * one that begins with bytes of the input), or one of enum step.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>

#include "opensm-plugin/session.h"

#define LENGTH_RIGHT 0xff
#define LENGTH_MIXED 0xfe
#define MIXED_BYTES  32u

enum step {
	STEP_TAKE = 0x20, /* the client takes a message */
	STEP_LOOK,        /* the socket is full: the message stays */
	STEP_NOTIFY,      /* the state changed */
	STEP_FINISH,      /* the plan is done; with so many results */
	STEP_ABORT,
	STEP_VERDICT,     /* plans are refused from now on, or accepted again */
	STEP_NO_TOPOLOGY, /* there is none from now on, or one again */
};

struct host {
	struct ibcc_shared_topo *topo, *current;
	enum ibcc_proto_refusal verdict;
	unsigned int submitted, answers, welcomes;
};

static void host_state(void *arg, struct ibcc_proto_state *s)
{
	(void)arg;
	memset(s, 0, sizeof(*s));
}

static struct ibcc_shared_topo *host_topo(void *arg)
{
	return ibcc_shared_topo_get(((struct host *)arg)->current);
}

static void host_gone(void *arg, struct ibcc_session *s)
{
	(void)arg;
	(void)s;
}

static enum ibcc_proto_refusal host_submit(void *arg, struct ibcc_session *s,
					   struct ibcc_plan *plan, uint64_t cc_key,
					   struct ibcc_proto_error *why)
{
	struct host *h = arg;

	(void)cc_key;
	(void)why;
	FUZZ_CHECK(plan->n == s->n_announced);
	h->submitted++;
	if (h->verdict == IBCC_REFUSAL_NONE)
		ibcc_plan_fini(plan);
	return h->verdict;
}

static struct ibcc_topo *small_topo(void)
{
	struct ibcc_topo *t = ibcc_topo_new();

	FUZZ_CHECK(t && ibcc_topo_add_node(t, 1, IBCC_NODE_SWITCH, 2, "sw") == 0);
	FUZZ_CHECK(ibcc_topo_add_node(t, 2, IBCC_NODE_CA, 1, "ca") == 1);
	FUZZ_CHECK(!ibcc_topo_link(t, 0, 1, 1, 1, 32000, 2048));
	return t;
}

/* A payload that fits the type, and its length. */
static size_t right_payload(uint8_t type, uint8_t *buf)
{
	struct ibcc_proto_plan plan = { .n_changes = 2 };
	struct ibcc_proto_alive alive = { .lease_ms = 1000 };
	struct ibcc_change c = { .node_guid = 2, .lid = 2, .attr_id = IBCC_CC_ATTR_CA_SETTING };

	if (type == IBCC_PROTO_PLAN_BEGIN) {
		memcpy(buf, &plan, sizeof(plan));
		return sizeof(plan);
	}
	if (type == IBCC_PROTO_STATE_GET) {
		memcpy(buf, &alive, sizeof(alive));
		return sizeof(alive);
	}
	return type == IBCC_PROTO_CHANGE ? ibcc_proto_change_encode(&c, buf) : 0;
}

static size_t message(struct ibcc_session *s, const struct ibcc_session_host *host, uint8_t type,
		      const uint8_t *data, size_t size)
{
	struct ibcc_proto_header h = { .type = type, .seq = (uint32_t)size };
	uint8_t payload[2048] = { 0 };
	size_t used = size ? 1 : 0;
	uint8_t length = size ? data[0] : LENGTH_RIGHT;

	if (length == LENGTH_RIGHT || length == LENGTH_MIXED) {
		h.length = (uint32_t)right_payload(type, payload);
		if (length == LENGTH_MIXED) {
			size_t mixed = size - used < MIXED_BYTES ? size - used : MIXED_BYTES;

			memcpy(payload, data + used, mixed);
			used += mixed;
		}
	} else {
		h.length = (uint32_t)(length < size - used ? length : size - used);
		memcpy(payload, data + used, h.length);
		used += h.length;
	}
	ibcc_session_input(s, host, &h, payload);
	return used;
}

static void take(struct ibcc_session *s, const struct ibcc_session_host *host, struct host *h,
		 bool sent)
{
	static uint8_t buf[IBCC_PROTO_MAX_BYTES];
	struct ibcc_session_message m;
	bool due = ibcc_session_has_output(s);

	FUZZ_CHECK(ibcc_session_output(s, host, buf, &m) == due);
	if (!due || !sent)
		return;
	FUZZ_CHECK(m.length <= IBCC_PROTO_MAX_BYTES - sizeof(struct ibcc_proto_header));
	h->welcomes += m.type == IBCC_PROTO_WELCOME;
	h->answers += m.type == IBCC_PROTO_PLAN_END;
	ibcc_session_sent(s, &m);
}

static void finish(struct ibcc_session *s, uint8_t n)
{
	struct ibcc_plan_report *r = calloc(1, sizeof(*r));

	FUZZ_CHECK(r && !ibcc_result_init(&r->result, n));
	ibcc_session_finish(s, n == 0xff ? NULL : r);
	if (n == 0xff)
		ibcc_plan_report_free(r);
}

static void check(const struct ibcc_session *s, const struct host *h)
{
	/* Only while it is sent is the topology held, and only one. */
	FUZZ_CHECK(h->topo->refs == 1u + (s->topo != NULL));
	FUZZ_CHECK(!s->topo || s->phase == IBCC_SESSION_TOPO);
	FUZZ_CHECK(s->phase == IBCC_SESSION_PLAN ? s->plan.n <= s->n_announced : !s->plan.n);
	FUZZ_CHECK(!s->report || s->phase == IBCC_SESSION_REPORT);
	FUZZ_CHECK(s->phase != IBCC_SESSION_ENDED || !ibcc_session_has_output(s));
	FUZZ_CHECK(h->welcomes <= 1 && h->answers <= h->submitted);
	/* If neither the client nor the push thread moves, nothing ever does. */
	FUZZ_CHECK(ibcc_session_wants_input(s) || ibcc_session_has_output(s) ||
		   s->phase == IBCC_SESSION_PUSH || s->phase == IBCC_SESSION_ENDED);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct host h = { .verdict = IBCC_REFUSAL_NONE };
	struct ibcc_session_host host = { host_state, host_topo, host_submit, host_gone, &h };
	struct ibcc_session s;
	size_t at = 0;

	h.topo = h.current = ibcc_shared_topo_new(small_topo());
	FUZZ_CHECK(h.topo);
	ibcc_session_init(&s);
	while (at < size) {
		uint8_t step = data[at++];

		switch (step) {
		case STEP_TAKE:
		case STEP_LOOK: take(&s, &host, &h, step == STEP_TAKE); break;
		case STEP_NOTIFY: ibcc_session_notify(&s); break;
		case STEP_FINISH: finish(&s, at < size ? data[at++] : 0); break;
		case STEP_ABORT: ibcc_session_abort(&s, 1, IBCC_REFUSAL_INTERNAL, "an end"); break;
		case STEP_VERDICT:
			h.verdict = h.verdict ? IBCC_REFUSAL_NONE : IBCC_REFUSAL_BUSY;
			break;
		case STEP_NO_TOPOLOGY: h.current = h.current ? NULL : h.topo; break;
		default: at += message(&s, &host, step, data + at, size - at);
		}
		check(&s, &h);
	}
	ibcc_session_fini(&s);
	FUZZ_CHECK(h.topo->refs == 1);
	ibcc_shared_topo_put(h.topo);
	return 0;
}
