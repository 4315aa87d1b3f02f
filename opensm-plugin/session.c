/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One client's conversation (session.h): ibcc_session_input() takes a message,
 * ibcc_session_output() returns the next message to send. include/ibcc/proto.h has the messages.
 */
#include "opensm-plugin/session.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The largest number of changes for one node. A switch has a setting and eight blocks of port
 * settings. A channel adapter has a setting and four blocks of table for each of two ports.
 */
#define CHANGES_PER_NODE 16u

void ibcc_plan_report_free(struct ibcc_plan_report *r)
{
	if (!r)
		return;
	ibcc_plan_fini(&r->plan);
	ibcc_result_fini(&r->result);
	free(r);
}

void ibcc_session_init(struct ibcc_session *s)
{
	memset(s, 0, sizeof(*s));
}

/* Frees a request's data. */
static void release(struct ibcc_session *s)
{
	ibcc_shared_topo_put(s->topo);
	s->topo = NULL;
	ibcc_plan_fini(&s->plan);
	memset(&s->plan, 0, sizeof(s->plan));
	ibcc_plan_report_free(s->report);
	s->report = NULL;
	s->next = 0;
}

void ibcc_session_fini(struct ibcc_session *s)
{
	release(s);
	s->phase = IBCC_SESSION_ENDED;
}

bool ibcc_session_wants_input(const struct ibcc_session *s)
{
	switch (s->phase) {
	case IBCC_SESSION_NEW:
	case IBCC_SESSION_IDLE:
	case IBCC_SESSION_PLAN: return !s->welcome_due;
	case IBCC_SESSION_TOPO:
	case IBCC_SESSION_PUSH:
	case IBCC_SESSION_REPORT:
	case IBCC_SESSION_ENDING:
	case IBCC_SESSION_ENDED: break;
	}
	return false;
}

void ibcc_session_abort(struct ibcc_session *s, uint32_t seq, enum ibcc_proto_refusal refusal,
			const char *text)
{
	if (s->phase == IBCC_SESSION_ENDING || s->phase == IBCC_SESSION_ENDED)
		return;
	release(s);
	s->phase = IBCC_SESSION_ENDING;
	s->seq = seq;
	s->welcome_due = false;
	s->state_due = false;
	memset(&s->error, 0, sizeof(s->error));
	s->error.refusal = refusal;
	s->error.err = -EPROTO;
	snprintf(s->error.text, sizeof(s->error.text), "%s", text);
}

static void bad(struct ibcc_session *s, const struct ibcc_proto_header *h, const char *text)
{
	ibcc_session_abort(s, h->seq, IBCC_REFUSAL_BAD_MESSAGE, text);
}

void ibcc_session_notify(struct ibcc_session *s)
{
	switch (s->phase) {
	case IBCC_SESSION_IDLE:
	case IBCC_SESSION_TOPO:
	case IBCC_SESSION_PLAN:
	case IBCC_SESSION_PUSH:
	case IBCC_SESSION_REPORT: s->state_due = true; break;
	case IBCC_SESSION_NEW:
	case IBCC_SESSION_ENDING:
	case IBCC_SESSION_ENDED: break;
	}
}

static void begin_topo(struct ibcc_session *s, const struct ibcc_session_host *host)
{
	s->topo = host->topo(host->arg);
	host->state(host->arg, &s->topo_end);
	s->topo_end.generation = s->topo ? s->topo->topo->generation : 0;
	s->topo_end.n_nodes = s->topo ? s->topo->topo->n_nodes : 0;
	s->next = 0;
	s->phase = IBCC_SESSION_TOPO;
}

static void take_lease(struct ibcc_session *s, const void *payload)
{
	struct ibcc_proto_alive a;

	memcpy(&a, payload, sizeof(a));
	s->lease_ms = a.lease_ms < IBCC_PROTO_LEASE_MAX_MS ? a.lease_ms : IBCC_PROTO_LEASE_MAX_MS;
}

static void begin_plan(struct ibcc_session *s, const struct ibcc_session_host *host,
		       const struct ibcc_proto_header *h, const void *payload)
{
	struct ibcc_shared_topo *topo;
	struct ibcc_proto_plan p;
	uint32_t most;

	memcpy(&p, payload, sizeof(p));
	topo = host->topo(host->arg);
	most = topo ? topo->topo->n_nodes * CHANGES_PER_NODE : 0;
	ibcc_shared_topo_put(topo);
	/* A stale plan is refused at its end; this only bounds the memory. */
	if (p.n_changes > most && p.n_changes > 4096) {
		bad(s, h, "PLAN_BEGIN announces more changes than this fabric can have");
		return;
	}
	memset(&s->plan, 0, sizeof(s->plan));
	s->plan.generation = p.generation;
	s->cc_key = p.cc_key;
	s->n_announced = p.n_changes;
	s->phase = IBCC_SESSION_PLAN;
}

static void add_change(struct ibcc_session *s, const struct ibcc_proto_header *h,
		       const void *payload)
{
	struct ibcc_change c;

	if (s->plan.n == s->n_announced)
		bad(s, h, "more changes than PLAN_BEGIN announced");
	else if (ibcc_proto_change_decode(payload, h->length, &c))
		bad(s, h, "a CHANGE that makes no sense");
	else if (ibcc_plan_append(&s->plan, &c))
		ibcc_session_abort(s, h->seq, IBCC_REFUSAL_INTERNAL,
				   "OpenSM has no memory for this plan");
}

static void commit_plan(struct ibcc_session *s, const struct ibcc_session_host *host,
			const struct ibcc_proto_header *h)
{
	struct ibcc_proto_error why = { 0 };
	struct ibcc_plan_report *report;

	if (s->plan.n != s->n_announced) {
		bad(s, h, "fewer changes than PLAN_BEGIN announced");
		return;
	}
	s->phase = IBCC_SESSION_PUSH;
	why.refusal = host->submit(host->arg, s, &s->plan, s->cc_key, &why);
	if (why.refusal == IBCC_REFUSAL_NONE)
		return;
	report = calloc(1, sizeof(*report));
	if (report)
		report->end = why;
	ibcc_session_finish(s, report);
}

void ibcc_session_finish(struct ibcc_session *s, struct ibcc_plan_report *report)
{
	if (s->phase != IBCC_SESSION_PUSH) {
		ibcc_plan_report_free(report);
		return;
	}
	if (!report) {
		ibcc_session_abort(s, s->seq, IBCC_REFUSAL_INTERNAL,
				   "OpenSM has no memory for this plan's result");
		return;
	}
	release(s);
	s->report = report;
	s->phase = IBCC_SESSION_REPORT;
}

/* Length of the payload that a request must have. */
static uint32_t payload_length(uint16_t type)
{
	switch (type) {
	case IBCC_PROTO_STATE_GET: return sizeof(struct ibcc_proto_alive);
	case IBCC_PROTO_PLAN_BEGIN: return sizeof(struct ibcc_proto_plan);
	case IBCC_PROTO_CHANGE: return IBCC_PROTO_CHANGE_BYTES;
	}
	return 0;
}

void ibcc_session_input(struct ibcc_session *s, const struct ibcc_session_host *host,
			const struct ibcc_proto_header *h, const void *payload)
{
	bool planning = s->phase == IBCC_SESSION_PLAN;

	if (!ibcc_session_wants_input(s))
		return;
	if (payload_length(h->type) != h->length) {
		bad(s, h, "a message of the wrong length");
		return;
	}
	if ((s->phase == IBCC_SESSION_NEW) != (h->type == IBCC_PROTO_HELLO)) {
		bad(s, h, "HELLO has to come first, and once");
		return;
	}
	s->seq = h->seq;
	switch (h->type) {
	case IBCC_PROTO_HELLO:
		s->phase = IBCC_SESSION_IDLE;
		s->welcome_due = true;
		return;
	case IBCC_PROTO_STATE_GET:
		if (planning)
			break;
		take_lease(s, payload);
		s->state_due = true;
		return;
	case IBCC_PROTO_TOPO_GET:
		if (planning)
			break;
		begin_topo(s, host);
		return;
	case IBCC_PROTO_PLAN_BEGIN:
		if (planning)
			break;
		begin_plan(s, host, h, payload);
		return;
	case IBCC_PROTO_CHANGE:
		if (!planning)
			break;
		add_change(s, h, payload);
		return;
	case IBCC_PROTO_PLAN_COMMIT:
		if (!planning)
			break;
		commit_plan(s, host, h);
		return;
	}
	bad(s, h, "a message that does not belong here");
}

bool ibcc_session_has_output(const struct ibcc_session *s)
{
	switch (s->phase) {
	case IBCC_SESSION_TOPO:
	case IBCC_SESSION_REPORT:
	case IBCC_SESSION_ENDING: return true;
	case IBCC_SESSION_NEW:
	case IBCC_SESSION_IDLE:
	case IBCC_SESSION_PLAN:
	case IBCC_SESSION_PUSH:
	case IBCC_SESSION_ENDED: break;
	}
	return s->welcome_due || s->state_due;
}

static bool output_topo(struct ibcc_session *s, void *buf, struct ibcc_session_message *m)
{
	const struct ibcc_topo *t = s->topo ? s->topo->topo : NULL;
	int64_t length;

	if (!t || s->next == t->n_nodes) {
		m->type = IBCC_PROTO_TOPO_END;
		m->payload = &s->topo_end;
		m->length = sizeof(s->topo_end);
		return true;
	}
	length = ibcc_proto_node_encode(t, s->next, buf);
	if (length < 0) {
		ibcc_session_abort(s, s->seq, IBCC_REFUSAL_INTERNAL,
				   "a node of this fabric does not fit into a message");
		return false;
	}
	m->type = IBCC_PROTO_TOPO_NODE;
	m->payload = buf;
	m->length = (size_t)length;
	return true;
}

static void output_report(struct ibcc_session *s, void *buf, struct ibcc_session_message *m)
{
	const struct ibcc_result *r = &s->report->result;
	struct ibcc_proto_result out;

	if (s->next == r->n) {
		m->type = IBCC_PROTO_PLAN_END;
		m->payload = &s->report->end;
		m->length = sizeof(s->report->end);
		return;
	}
	out = (struct ibcc_proto_result){
		.index = s->next,
		.outcome = r->change[s->next].outcome,
		.err = r->change[s->next].err,
		.status = r->change[s->next].status,
	};
	memcpy(buf, &out, sizeof(out));
	m->type = IBCC_PROTO_RESULT;
	m->payload = buf;
	m->length = sizeof(out);
}

static void output_state(const struct ibcc_session_host *host, void *buf,
			 struct ibcc_session_message *m)
{
	struct ibcc_proto_state state;

	memset(&state, 0, sizeof(state));
	host->state(host->arg, &state);
	memcpy(buf, &state, sizeof(state));
	m->payload = buf;
	m->length = sizeof(state);
}

static bool output_phase(struct ibcc_session *s, void *buf, struct ibcc_session_message *m)
{
	m->seq = s->seq;
	switch (s->phase) {
	case IBCC_SESSION_TOPO:
		if (output_topo(s, buf, m))
			return true;
		break; /* the topology cannot be sent; the next answer is ERROR */
	case IBCC_SESSION_REPORT: output_report(s, buf, m); return true;
	case IBCC_SESSION_ENDING:
		m->type = IBCC_PROTO_ERROR;
		m->payload = &s->error;
		m->length = sizeof(s->error);
		return true;
	case IBCC_SESSION_NEW:
	case IBCC_SESSION_IDLE:
	case IBCC_SESSION_PLAN:
	case IBCC_SESSION_PUSH:
	case IBCC_SESSION_ENDED: break;
	}
	return false;
}

bool ibcc_session_output(struct ibcc_session *s, const struct ibcc_session_host *host, void *buf,
			 struct ibcc_session_message *m)
{
	memset(m, 0, sizeof(*m));
	if (s->welcome_due || s->state_due) {
		m->type = s->welcome_due ? IBCC_PROTO_WELCOME : IBCC_PROTO_STATE;
		m->seq = s->welcome_due ? s->seq : 0;
		output_state(host, buf, m);
		return true;
	}
	return output_phase(s, buf, m) ||
	       (s->phase == IBCC_SESSION_ENDING && output_phase(s, buf, m));
}

void ibcc_session_sent(struct ibcc_session *s, const struct ibcc_session_message *m)
{
	switch (m->type) {
	case IBCC_PROTO_WELCOME:
		s->welcome_due = false;
		s->state_due = false;
		return;
	case IBCC_PROTO_STATE: s->state_due = false; return;
	case IBCC_PROTO_TOPO_NODE:
	case IBCC_PROTO_RESULT: s->next++; return;
	case IBCC_PROTO_TOPO_END:
	case IBCC_PROTO_PLAN_END:
		release(s);
		s->phase = IBCC_SESSION_IDLE;
		return;
	case IBCC_PROTO_ERROR: s->phase = IBCC_SESSION_ENDED; return;
	case IBCC_PROTO_HELLO:
	case IBCC_PROTO_STATE_GET:
	case IBCC_PROTO_TOPO_GET:
	case IBCC_PROTO_PLAN_BEGIN:
	case IBCC_PROTO_CHANGE:
	case IBCC_PROTO_PLAN_COMMIT: return; /* only clients send it */
	}
}
