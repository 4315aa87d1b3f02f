/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/session.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/json.h>
#include <ibcc/text.h>

#include "perftest/verbs/cm.h"
#include "perftest/verbs/counters.h"
#include "perftest/verbs/token.h"
#include "perftest/verbs/traffic.h"
#include "perftest/verbs/wire.h"

#define HELLO_TIMEOUT_MS 10000
#define IDLE_TIMEOUT_MS  (24 * 3600 * 1000) /* a command between two runs may take long */
#define HELLO_MAX        4096u
#define MIN_REPORT_NS    1000000

enum stage { NEW, GREETED, OPENED, CONNECTED };

struct session {
	const struct ibcc_perf_session_options *o;
	struct ibcc_why *e;
	struct ibcc_perf_wire wire;
	enum stage stage;
	struct ibcc_perf_job job;
	struct ibcc_perf_port port;
	struct ibcc_perf_qp *qp;
	struct ibcc_perf_cm cm;
	struct ibcc_perf_traffic traffic;
	json_t *counters;                  /* at the start of a run */
	char proof[IBCC_PERF_PROOF_BYTES]; /* the proof of a coordinator that knows the token */
};

static int tell(struct session *s, json_t *o)
{
	int rc = ibcc_perf_wire_send(&s->wire, o);

	return rc ? ibcc_perf_fail(s->e, -rc, "lost the connection to the coordinator") : 0;
}

/* Makes a salt for this session, and the proof that a coordinator has to send. */
static int challenge(struct session *s, char salt[static IBCC_PERF_PROOF_BYTES])
{
	int rc = ibcc_perf_token_salt(salt);

	if (!rc)
		rc = ibcc_perf_token_prove(s->o->token, salt, s->proof);
	return rc ? ibcc_perf_fail(s->e, -rc,
				   "cannot make the question for the token of a coordinator")
		  : 0;
}

static int welcome(struct session *s)
{
	char salt[IBCC_PERF_PROOF_BYTES];
	int rc = s->o->token ? challenge(s, salt) : 0;

	return rc ? rc
		  : tell(s, json_pack("{si ss*}", "ibcc-perf", IBCC_PERF_PROTOCOL, "salt",
				      s->o->token ? salt : NULL));
}

static int hello(struct session *s, const json_t *o, json_t **answer)
{
	const char *proof = json_string_value(json_object_get(o, "proof"));

	if (s->o->token && !ibcc_perf_token_is(s->proof, proof ? proof : ""))
		return ibcc_perf_fail(
			s->e, EACCES,
			proof ? "the token of this host is another one: give run and serve the "
				"same --token-file"
			      : "this host wants a token: give run the --token-file of serve");
	s->stage = GREETED;
	s->wire.in.limit = IBCC_PERF_LINE_MAX;
	*answer = json_pack("{sb}", "ok", 1);
	return 0;
}

static int open_ends(struct session *s)
{
	uint32_t i, n = 0;
	int rc;

	for (i = 0; i < s->job.n_qps; i++)
		n += ibcc_perf_qp_completions(&s->job.flow[s->job.qp[i].flow], s->job.qp[i].active);
	rc = ibcc_perf_port_completions(&s->port, n ? n : 1, s->e);
	s->qp = calloc(s->job.n_qps, sizeof(*s->qp));
	if (!rc && !s->qp)
		rc = ibcc_perf_fail(s->e, ENOMEM, "memory for %u connection%s", s->job.n_qps,
				    ibcc_text_plural(s->job.n_qps, "", "s"));
	for (i = 0; i < s->job.n_qps && !rc; i++)
		rc = ibcc_perf_qp_open(&s->qp[i], &s->port, &s->job.flow[s->job.qp[i].flow],
				       &s->job.qp[i], i, s->e);
	return rc;
}

static int open_job(struct session *s, const json_t *o, json_t **answer)
{
	json_t *ends;
	int rc = ibcc_perf_job_read(&s->job, json_object_get(o, "job"), s->e);

	if (!rc)
		rc = ibcc_perf_port_open(&s->port, &s->job, s->e);
	if (!rc)
		rc = open_ends(s);
	if (!rc && s->job.cm)
		rc = ibcc_perf_cm_listen(&s->cm, s->job.rdma_address, s->job.n_qps, &s->port, s->e);
	if (!rc)
		rc = ibcc_perf_traffic_init(&s->traffic, &s->job, &s->port, s->qp, s->e);
	if (rc)
		return rc;
	ends = json_array();
	for (uint32_t i = 0; ends && i < s->job.n_qps; i++)
		json_array_append_new(ends, ibcc_perf_address_json(&s->qp[i].local));
	s->stage = OPENED;
	*answer = json_pack(
		"{sb si ss si sI ss so}", "ok", 1, "cm_port", s->cm.port, "device", s->port.name,
		"port", s->port.num, "rate_mbps", (json_int_t)s->port.rate_mbps, "link_layer",
		s->port.attr.link_layer == IBV_LINK_LAYER_ETHERNET ? "Ethernet" : "InfiniBand",
		"ends", ends);
	return 0;
}

static int connect_by_cm(struct session *s, const json_t *ends)
{
	struct ibcc_perf_cm_peer *peer = calloc(s->job.n_qps, sizeof(*peer));
	const char *address;
	int rc = peer ? 0
		      : ibcc_perf_fail(s->e, ENOMEM, "memory for %u connection%s", s->job.n_qps,
				       ibcc_text_plural(s->job.n_qps, "", "s")),
	    port;

	for (uint32_t i = 0; i < s->job.n_qps && !rc; i++)
		if (json_unpack(json_array_get(ends, i), "{ss si}", "cm_address", &address,
				"cm_port", &port) ||
		    port < 0 || port > UINT16_MAX ||
		    snprintf(peer[i].address, sizeof(peer[i].address), "%s", address) >=
			    (int)sizeof(peer[i].address))
			rc = ibcc_perf_fail(s->e, EPROTO,
					    "the coordinator sent an address that is not valid, of "
					    "connection %u",
					    i);
		else
			peer[i].port = (uint16_t)port;
	if (!rc)
		rc = ibcc_perf_cm_connect(&s->cm, s->qp, peer, &s->port, &s->job, s->wire.fd, s->e);
	free(peer);
	return rc;
}

static int connect_ends(struct session *s, const json_t *o, json_t **answer)
{
	json_t *ends = json_object_get(o, "ends");
	int rc = 0;

	if (json_array_size(ends) != s->job.n_qps)
		return ibcc_perf_fail(
			s->e, EPROTO, "the coordinator sent %zu address%s for %u connection%s",
			json_array_size(ends), ibcc_text_plural(json_array_size(ends), "", "es"),
			s->job.n_qps, ibcc_text_plural(s->job.n_qps, "", "s"));
	for (uint32_t i = 0; i < s->job.n_qps && !rc; i++)
		if (ibcc_perf_address_read(&s->qp[i].remote, json_array_get(ends, i)))
			rc = ibcc_perf_fail(s->e, EPROTO,
					    "the coordinator sent an address that is not valid, of "
					    "connection %u",
					    i);
	for (uint32_t i = 0; i < s->job.n_qps && !rc && !s->job.cm; i++)
		rc = ibcc_perf_qp_connect(&s->qp[i], &s->port, &s->job, s->e);
	if (!rc && s->job.cm)
		rc = connect_by_cm(s, ends);
	if (rc)
		return rc;
	s->stage = CONNECTED;
	*answer = json_pack("{sb}", "ok", 1);
	return 0;
}

/* Handles what the coordinator sends while traffic runs. */
static int control(void *arg)
{
	struct session *s = arg;
	json_t *o = NULL;
	const char *what;
	int rc = ibcc_perf_wire_recv(&s->wire, 0, &o), order = -EPROTO;

	if (rc == -ETIMEDOUT)
		return IBCC_PERF_GO_ON; /* half a line has come */
	if (rc)
		return ibcc_perf_fail(s->e, -rc, "lost the connection to the coordinator");
	what = json_string_value(json_object_get(o, "do"));
	if (what && !strcmp(what, "finish"))
		order = IBCC_PERF_FINISH;
	else if (what && !strcmp(what, "stop"))
		order = IBCC_PERF_STOP;
	json_decref(o);
	return order < 0 ? ibcc_perf_fail(s->e, EPROTO,
					  "the coordinator sent a request at the wrong time")
			 : order;
}

/* Reports [ID, BYTES, MESSAGES] since the start, of each flow that this host sends. */
static int report(void *arg, uint64_t now_ns)
{
	struct session *s = arg;
	json_t *flows = json_array();

	for (uint32_t i = 0; flows && i < s->job.n_flows; i++) {
		const struct ibcc_perf_stream *t = &s->traffic.stream[i];

		if (t->n_qps)
			json_array_append_new(flows, json_pack("[I,I,I]", (json_int_t)t->flow->id,
							       (json_int_t)t->tally.bytes,
							       (json_int_t)t->tally.messages));
	}
	return tell(s,
		    json_pack("{s{sI so}}", "report", "t_ns", (json_int_t)now_ns, "flows", flows));
}

static int finished(void *arg, uint64_t now_ns)
{
	int rc = report(arg, now_ns);

	return rc ? rc : tell(arg, json_pack("{sb}", "finished", 1));
}

static json_t *flow_result(const struct ibcc_perf_stream *t)
{
	return json_pack("{sI sI sI sI sI sI so}", "id", (json_int_t)t->flow->id, "messages",
			 (json_int_t)t->tally.messages, "measured_messages",
			 (json_int_t)t->tally.measured_messages, "measured_bytes",
			 (json_int_t)t->tally.measured_bytes, "due", (json_int_t)t->pace.due,
			 "missed", (json_int_t)t->pace.missed, "latency",
			 ibcc_perf_hist_json(&t->tally.latency));
}

static json_t *results(struct session *s)
{
	json_t *flows = json_array(), *ends = json_array(), *after, *since;
	uint32_t i;

	for (i = 0; flows && i < s->job.n_flows; i++)
		if (s->traffic.stream[i].n_qps)
			json_array_append_new(flows, flow_result(&s->traffic.stream[i]));
	for (i = 0; ends && i < s->job.n_qps; i++) {
		const struct ibcc_perf_qp *x = &s->qp[i];

		if (x->received || x->verified)
			json_array_append_new(ends, json_pack("{sI sI sI sI}", "id",
							      (json_int_t)x->flow->id, "received",
							      (json_int_t)x->received, "verified",
							      (json_int_t)x->verified, "bad",
							      (json_int_t)x->bad));
	}
	after = ibcc_perf_counters(s->o->sysfs, s->port.name, s->port.num);
	since = ibcc_perf_counters_since(s->counters, after);
	json_decref(after);
	return json_pack("{sb sI sI so so so*}", "ok", 1, "from_ns", (json_int_t)s->traffic.from_ns,
			 "to_ns", (json_int_t)s->traffic.to_ns, "flows", flows, "ends", ends,
			 "counters", since);
}

static int start(struct session *s, const json_t *o, json_t **answer)
{
	const struct ibcc_perf_listener l = { s->wire.fd, control, report, finished, s, 0 };
	struct ibcc_perf_listener mine = l;
	json_int_t from, to, every;
	int rc;

	if (json_unpack((json_t *)o, "{sI sI sI}", "from_ns", &from, "to_ns", &to, "report_ns",
			&every) ||
	    from < 0 || to <= from || every < MIN_REPORT_NS)
		return ibcc_perf_fail(s->e, EPROTO,
				      "the coordinator sent times of a run that are not valid");
	mine.report_ns = (uint64_t)every;
	json_decref(s->counters);
	s->counters = ibcc_perf_counters(s->o->sysfs, s->port.name, s->port.num);
	rc = ibcc_perf_traffic_run(&s->traffic, (uint64_t)from, (uint64_t)to, &mine, s->e);
	if (!rc)
		*answer = results(s);
	return rc;
}

static int serve_one(struct session *s, const json_t *o, json_t **answer)
{
	static const struct {
		const char *name;
		enum stage stage;
		int (*fn)(struct session *s, const json_t *o, json_t **answer);
	} verbs[] = { { "hello", NEW, hello },
		      { "open", GREETED, open_job },
		      { "connect", OPENED, connect_ends },
		      { "start", CONNECTED, start } };
	const char *what = json_string_value(json_object_get(o, "do"));

	for (size_t i = 0; what && i < sizeof(verbs) / sizeof(*verbs); i++)
		if (!strcmp(what, verbs[i].name) && s->stage == verbs[i].stage)
			return verbs[i].fn(s, o, answer);
	return ibcc_perf_fail(s->e, EPROTO,
			      "the coordinator sent a request that is not possible now: %s",
			      what ? what : "nothing");
}

static void close_all(struct session *s)
{
	ibcc_perf_traffic_fini(&s->traffic);
	ibcc_perf_cm_close(&s->cm, s->e);
	for (uint32_t i = 0; s->qp && i < s->job.n_qps; i++)
		ibcc_perf_qp_close(&s->qp[i], s->e);
	free(s->qp);
	ibcc_perf_port_close(&s->port, s->e);
	ibcc_perf_job_fini(&s->job);
	json_decref(s->counters);
	ibcc_perf_wire_fini(&s->wire);
}

int ibcc_perf_session(int fd, const struct ibcc_perf_session_options *o, struct ibcc_why *e)
{
	struct session s = { .o = o, .e = e };
	json_t *request, *answer;
	int rc;

	ibcc_perf_wire_init(&s.wire, fd, HELLO_MAX);
	rc = welcome(&s);
	while (!rc) {
		rc = ibcc_perf_wire_recv(
			&s.wire, s.stage == NEW ? HELLO_TIMEOUT_MS : IDLE_TIMEOUT_MS, &request);
		/* A coordinator that hangs up between two requests has all that it wants. */
		if (rc == -ECONNRESET)
			break;
		if (rc) {
			ibcc_perf_fail(e, -rc, "the coordinator sent no valid request");
			break;
		}
		answer = NULL;
		rc = serve_one(&s, request, &answer);
		json_decref(request);
		if (rc)
			ibcc_perf_wire_send(&s.wire, json_pack("{sb so}", "ok", 0, "error",
							       ibcc_json_text(e->text)));
		else
			rc = tell(&s, answer);
	}
	close_all(&s);
	if (*e->text)
		return rc ? rc : -EIO;
	return 0;
}
