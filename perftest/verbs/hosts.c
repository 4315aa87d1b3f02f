/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/hosts.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>
#include <ibcc/text.h>

#include "perftest/verbs/session.h"
#include "perftest/verbs/token.h"

#define CONNECT_TIMEOUT_MS 5000
#define ANSWER_TIMEOUT_MS  60000 /* registering much memory takes long */
#define NOT_FOUND          UINT32_MAX

static uint32_t find(const struct ibcc_perf_hosts *hosts, const char *name)
{
	for (uint32_t i = 0; i < hosts->n_hosts; i++)
		if (!strcmp(hosts->host[i].name, name))
			return i;
	return NOT_FOUND;
}

/* Copies HOST from HOST:PORT or [HOST]:PORT. */
static void bare_address(const char *address, char *bare)
{
	const char *end = strrchr(address, ']'), *colon = strchr(address, ':');
	const char *from = *address == '[' ? address + 1 : address;
	size_t n = strlen(from);

	if (*address == '[' && end)
		n = (size_t)(end - from);
	else if (colon && colon == strrchr(address, ':'))
		n = (size_t)(colon - from);
	snprintf(bare, IBCC_ADDRESS_BYTES, "%.*s", (int)n, from);
}

static void add_host(struct ibcc_perf_hosts *hosts, const char *name,
		     const struct ibcc_verbs_host *h)
{
	const struct ibcc_verbs_plan *v = &hosts->s->verbs;
	struct ibcc_perf_host *m = &hosts->host[hosts->n_hosts++];

	snprintf(m->name, sizeof(m->name), "%s", name);
	snprintf(m->address, sizeof(m->address), "%s", h && *h->address ? h->address : name);
	m->wire.fd = -1;
	m->job.gid_index = -1;
	if (h && *h->rdma_address)
		snprintf(m->job.rdma_address, sizeof(m->job.rdma_address), "%s", h->rdma_address);
	else
		bare_address(m->address, m->job.rdma_address);
	if (h) {
		snprintf(m->job.device, sizeof(m->job.device), "%s", h->device);
		m->job.port = h->port;
		m->job.gid_index = h->gid_index;
	}
	m->job.mtu_bytes = v->mtu_bytes;
	m->job.ack_timeout = v->ack_timeout;
	m->job.retries = v->retries;
	m->job.cm = v->cm;
	m->job.polling = v->polling;
	m->job.verify = v->verify;
}

/* Adds the plan's hosts; without any, the channel adapters of its topology. */
static int add_hosts(struct ibcc_perf_hosts *hosts, struct ibcc_why *e)
{
	const struct ibcc_scenario *s = hosts->s;
	const struct ibcc_verbs_plan *v = &s->verbs;
	uint32_t n = v->n_hosts ? v->n_hosts : s->topo->n_nodes, i;

	hosts->host = calloc(n ? n : 1, sizeof(*hosts->host));
	if (!hosts->host)
		return ibcc_perf_fail(e, ENOMEM, "memory for %u host%s", n,
				      ibcc_text_plural(n, "", "s"));
	for (i = 0; i < v->n_hosts; i++)
		add_host(hosts, v->host[i].name, &v->host[i]);
	for (i = 0; !v->n_hosts && i < s->topo->n_nodes; i++)
		if (!ibcc_topo_is_switch(s->topo, i))
			add_host(hosts, s->topo->node[i].desc, NULL);
	return 0;
}

static struct ibcc_perf_flow make_flow(const struct ibcc_scenario *s, uint32_t id)
{
	const struct ibcc_flow_spec *f = &s->flow[id];
	bool closed = f->arrivals == IBCC_ARRIVALS_CLOSED;
	double payload = ibcc_flow_payload_share(&s->model, f);
	struct ibcc_perf_flow flow = {
		.id = id,
		.operation = f->operation,
		.arrivals = f->arrivals,
		.rate_mbps = f->rate_mbps * payload,
		.load = f->rate_mbps ? 0 : f->load_permille / 1e3 * payload,
		.message_bytes = closed ? f->message_bytes : s->verbs.message_bytes,
		.window = closed ? f->window : s->verbs.window,
		.sl = f->sl,
		.start_ns = f->start_ps / 1000,
		.stop_ns = f->stop_ps / 1000,
		.on_ns = f->on_ps / 1000,
		.off_ns = f->off_ps / 1000,
		.seed = (s->seed * 0x9e3779b97f4a7c15ull + id) >> 1,
		.spread = !strcmp(f->to, "*"),
	};

	memcpy(flow.name, f->name, sizeof(flow.name));
	return flow;
}

/* Adds a queue pair of a flow at a host; *at is its index among the host's queue pairs. */
static int add_qp(struct ibcc_perf_hosts *hosts, uint32_t host, uint32_t peer, uint32_t id,
		  uint32_t conn, bool active, uint32_t *at)
{
	struct ibcc_perf_host *m = &hosts->host[host];
	struct ibcc_perf_job *j = &m->job;
	struct ibcc_perf_flow *flow;
	struct ibcc_perf_qp_spec *x;

	if (!j->n_flows || j->flow[j->n_flows - 1].id != id) {
		flow = ibcc_grow(j->flow, j->n_flows, &m->flow_cap, sizeof(*flow));
		if (!flow)
			return -ENOMEM;
		j->flow = flow;
		flow[j->n_flows++] = make_flow(hosts->s, id);
	}
	x = ibcc_grow(j->qp, j->n_qps, &m->qp_cap, sizeof(*x));
	if (!x)
		return -ENOMEM;
	j->qp = x;
	x += j->n_qps;
	*x = (struct ibcc_perf_qp_spec){ j->n_flows - 1, conn, active, "" };
	memcpy(x->peer, hosts->host[peer].name, sizeof(x->peer));
	m->sends |= active;
	*at = j->n_qps++;
	return 0;
}

static int add_conn(struct ibcc_perf_hosts *hosts, uint32_t id, uint32_t from, uint32_t to,
		    uint32_t *number)
{
	bool reads = hosts->s->flow[id].operation == IBCC_VERBS_READ;
	struct ibcc_perf_conn c = { { reads ? to : from, reads ? from : to }, { 0, 0 } };
	struct ibcc_perf_conn *conn =
		ibcc_grow(hosts->conn, hosts->n_conns, &hosts->conn_cap, sizeof(*conn));
	int rc = conn ? 0 : -ENOMEM;

	if (conn)
		hosts->conn = conn;
	for (int i = 0; i < 2 && !rc; i++)
		rc = add_qp(hosts, c.host[i], c.host[!i], id, *number, !i, &c.qp[i]);
	if (rc)
		return rc;
	(*number)++;
	conn[hosts->n_conns++] = c;
	return 0;
}

static int add_flow(struct ibcc_perf_hosts *hosts, uint32_t id, struct ibcc_why *e)
{
	const struct ibcc_flow_spec *s = &hosts->s->flow[id];
	uint32_t from = find(hosts, s->from), to = find(hosts, s->to), number = 0, i, q;
	uint32_t pairs = s->queue_pairs ? s->queue_pairs : 1;
	bool all = !strcmp(s->to, "*");
	int rc = 0;

	if (from == NOT_FOUND || (to == NOT_FOUND && !all))
		return ibcc_perf_fail(e, 0,
				      "flow %s: %s is not one of the plan's hosts: add it there",
				      s->name, from == NOT_FOUND ? s->from : s->to);
	if (all && s->operation == IBCC_VERBS_READ)
		return ibcc_perf_fail(e, 0,
				      "flow %s: to: all is not possible with operation read: name "
				      "one host that reads",
				      s->name);
	for (i = 0; i < hosts->n_hosts && !rc; i++) {
		if (i == from || (all ? !strcmp(hosts->host[i].name, s->not_to) : i != to))
			continue;
		for (q = 0; q < pairs && !rc; q++)
			rc = add_conn(hosts, id, from, i, &number);
	}
	if (rc)
		return ibcc_perf_fail(e, -rc, "the connections of flow %s", s->name);
	return hosts->n_conns > IBCC_PERF_MAX_QPS
		       ? ibcc_perf_fail(e, 0,
					"the plan has more than %u connections: use fewer hosts, "
					"flows or queue_pairs",
					IBCC_PERF_MAX_QPS)
		       : 0;
}

/* Drops hosts that the plan does not use; they are left alone. */
static void drop_idle(struct ibcc_perf_hosts *hosts)
{
	uint32_t i, kept = 0, *place = calloc(hosts->n_hosts + 1u, sizeof(*place));

	for (i = 0; place && i < hosts->n_hosts; i++) {
		place[i] = kept;
		if (hosts->host[i].job.n_qps)
			hosts->host[kept++] = hosts->host[i];
	}
	for (i = 0; place && i < hosts->n_conns; i++)
		for (int k = 0; k < 2; k++)
			hosts->conn[i].host[k] = place[hosts->conn[i].host[k]];
	if (place)
		hosts->n_hosts = kept;
	free(place);
}

int ibcc_perf_hosts_plan(struct ibcc_perf_hosts *hosts, const struct ibcc_scenario *s,
			 struct ibcc_why *e)
{
	int rc;

	*hosts = (struct ibcc_perf_hosts){ .s = s };
	/* On another service level, packets can close the circle that these paths avoid. */
	if (ibcc_route_has_sls(&s->sls) && !s->verbs.cm)
		return ibcc_perf_fail(
			e, 0,
			"each path of the plan has a service level of its own (topology.paths, or "
			"routes: datelines): add verbs: {connect: cm}, and the connections get it "
			"from the subnet manager");
	rc = add_hosts(hosts, e);
	for (uint32_t i = 0; i < s->n_flows && !rc; i++)
		rc = add_flow(hosts, i, e);
	if (!rc)
		drop_idle(hosts);
	return rc;
}

static int lost(const struct ibcc_perf_host *m, int rc, struct ibcc_why *e)
{
	return ibcc_perf_fail(e, rc == -ECONNRESET ? 0 : -rc, "lost the connection to %s%s",
			      m->name, rc == -ECONNRESET ? ": ibcc-perf serve closed it" : "");
}

static int tell(struct ibcc_perf_host *m, json_t *o, struct ibcc_why *e)
{
	int rc = ibcc_perf_wire_send(&m->wire, o);

	return rc ? lost(m, rc, e) : 0;
}

/* Receives the answer to the last request; an error if it is one. */
static int hear(struct ibcc_perf_host *m, json_t **o, struct ibcc_why *e)
{
	int rc = ibcc_perf_wire_recv(&m->wire, ANSWER_TIMEOUT_MS, o);
	const char *error;

	if (rc)
		return lost(m, rc, e);
	error = json_string_value(json_object_get(*o, "error"));
	if (json_is_true(json_object_get(*o, "ok")))
		return 0;
	rc = ibcc_perf_fail(
		e, 0, "%s: %s", m->name,
		error ? error : "its answer is not valid; is it the same version of ibcc-perf?");
	json_decref(*o);
	*o = NULL;
	return rc;
}

/* Says hello to a host that has introduced itself. */
static int say_hello(struct ibcc_perf_host *m, const char *token, const json_t *its,
		     struct ibcc_why *e)
{
	const char *salt = json_string_value(json_object_get(its, "salt"));
	char proof[IBCC_PERF_PROOF_BYTES];
	int rc = token && salt ? ibcc_perf_token_prove(token, salt, proof) : 0;

	if (rc)
		return ibcc_perf_fail(e, -rc,
				      "%s: cannot compute the answer to its question for the token",
				      m->name);
	return tell(m, json_pack("{ss ss*}", "do", "hello", "proof", token && salt ? proof : NULL),
		    e);
}

static int greet(struct ibcc_perf_host *m, const char *token, struct ibcc_why *e)
{
	json_t *o;
	int rc, fd = ibcc_perf_wire_connect(m->address, CONNECT_TIMEOUT_MS, e), version = 0;

	if (fd < 0)
		return fd;
	ibcc_perf_wire_init(&m->wire, fd, IBCC_PERF_LINE_MAX);
	rc = ibcc_perf_wire_recv(&m->wire, CONNECT_TIMEOUT_MS, &o);
	if (rc)
		return lost(m, rc, e);
	rc = json_unpack(o, "{si}", "ibcc-perf", &version);
	if (rc || version != IBCC_PERF_PROTOCOL)
		rc = ibcc_perf_fail(e, 0,
				    "%s: what answers there is not ibcc-perf of this version: "
				    "install the same version on all hosts",
				    m->name);
	else
		rc = say_hello(m, token, o, e);
	json_decref(o);
	if (!rc)
		rc = hear(m, &o, e);
	if (!rc)
		json_decref(o);
	return rc;
}

static int opened(struct ibcc_perf_host *m, struct ibcc_why *e)
{
	const char *device, *layer;
	json_int_t rate;
	json_t *o;
	int rc = hear(m, &o, e), port, cm_port;

	if (rc)
		return rc;
	if (json_unpack(o, "{ss si si sI ss sO}", "device", &device, "port", &port, "cm_port",
			&cm_port, "rate_mbps", &rate, "link_layer", &layer, "ends", &m->qps) ||
	    json_array_size(m->qps) != m->job.n_qps || rate < 0 || rate > UINT32_MAX) {
		rc = ibcc_perf_fail(
			e, 0, "%s: its answer is not valid; is it the same version of ibcc-perf?",
			m->name);
	} else {
		snprintf(m->device, sizeof(m->device), "%s", device);
		snprintf(m->link_layer, sizeof(m->link_layer), "%s", layer);
		m->port = (uint8_t)port;
		m->cm_port = (uint16_t)cm_port;
		m->rate_mbps = (uint32_t)rate;
	}
	json_decref(o);
	return rc;
}

/* Receives an answer from each host, in the order in which they come. So a host that fails is
 * noticed before all others have answered.
 */
static int hear_all(struct ibcc_perf_hosts *hosts, struct ibcc_why *e)
{
	struct pollfd *p = calloc(hosts->n_hosts, sizeof(*p));
	uint32_t left = hosts->n_hosts, i;
	json_t *o;
	int rc = p ? 0
		   : ibcc_perf_fail(e, ENOMEM, "memory for %u host%s", hosts->n_hosts,
				    ibcc_text_plural(hosts->n_hosts, "", "s"));

	for (i = 0; p && i < hosts->n_hosts; i++)
		p[i] = (struct pollfd){ .fd = hosts->host[i].wire.fd, .events = POLLIN };
	while (!rc && left) {
		int n = poll(p, hosts->n_hosts, ANSWER_TIMEOUT_MS);

		if (n <= 0 && (!n || errno != EINTR))
			rc = ibcc_perf_fail(e, n ? errno : ETIMEDOUT, "%u %s not answer", left,
					    ibcc_text_plural(left, "host does", "hosts do"));
		for (i = 0; n > 0 && i < hosts->n_hosts && !rc; i++) {
			if (!p[i].revents)
				continue;
			rc = hear(&hosts->host[i], &o, e);
			if (!rc)
				json_decref(o);
			p[i].fd = -1;
			left--;
		}
	}
	free(p);
	return rc;
}

/* Sends each host the addresses of the queue pairs to which its own connect. */
static int introduce(struct ibcc_perf_hosts *hosts, struct ibcc_why *e)
{
	json_t **list = calloc(hosts->n_hosts, sizeof(*list)), *o;
	uint32_t i;
	int rc = list ? 0
		      : ibcc_perf_fail(e, ENOMEM, "memory for %u host%s", hosts->n_hosts,
				       ibcc_text_plural(hosts->n_hosts, "", "s"));

	for (i = 0; list && i < hosts->n_hosts; i++) {
		list[i] = json_array();
		for (uint32_t k = 0; list[i] && k < hosts->host[i].job.n_qps; k++)
			json_array_append_new(list[i], json_null());
	}
	for (i = 0; list && i < hosts->n_conns; i++)
		for (int k = 0; k < 2; k++) {
			const struct ibcc_perf_conn *c = &hosts->conn[i];

			const struct ibcc_perf_host *other = &hosts->host[c->host[!k]];
			json_t *qp = json_array_get(other->qps, c->qp[!k]);

			json_object_set_new(qp, "cm_address", json_string(other->job.rdma_address));
			json_object_set_new(qp, "cm_port", json_integer(other->cm_port));
			json_array_set(list[c->host[k]], c->qp[k], qp);
		}
	for (i = 0; list && i < hosts->n_hosts; i++) {
		o = json_pack("{ss so}", "do", "connect", "ends", list[i]);
		if (rc)
			json_decref(o);
		else
			rc = tell(&hosts->host[i], o, e);
	}
	free(list);
	return rc ? rc : hear_all(hosts, e);
}

int ibcc_perf_hosts_connect(struct ibcc_perf_hosts *hosts, const char *token, struct ibcc_why *e)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < hosts->n_hosts && !rc; i++)
		rc = greet(&hosts->host[i], token, e);
	for (i = 0; i < hosts->n_hosts && !rc; i++)
		rc = tell(&hosts->host[i],
			  json_pack("{ss so}", "do", "open", "job",
				    ibcc_perf_job_json(&hosts->host[i].job)),
			  e);
	for (i = 0; i < hosts->n_hosts && !rc; i++)
		rc = opened(&hosts->host[i], e);
	return rc ? rc : introduce(hosts, e);
}

void ibcc_perf_hosts_fini(struct ibcc_perf_hosts *hosts)
{
	for (uint32_t i = 0; i < hosts->n_hosts; i++) {
		ibcc_perf_wire_fini(&hosts->host[i].wire);
		ibcc_perf_job_fini(&hosts->host[i].job);
		json_decref(hosts->host[i].qps);
	}
	free(hosts->host);
	free(hosts->conn);
	memset(hosts, 0, sizeof(*hosts));
}
