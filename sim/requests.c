/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Answers requests to a running simulator (requests.h). Tables come as "rows", everything else as
 * plain members, so that the command can print either without knowing what it is. Begin with
 * ibcc_requests_answer(), at the end.
 */
#include "sim/requests.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ccmad.h>
#include <ibcc/json.h>
#include <ibcc/pma.h>
#include <ibcc/vendor_cc.h>

#include "sim/requests_info.h"
#include "sim/requests_knobs.h"
#include "sim/requests_settings.h"

static json_t *uint64_json(uint64_t v)
{
	return json_integer((json_int_t)v);
}

static json_t *hex_json(unsigned int v, int digits)
{
	char text[16];

	snprintf(text, sizeof(text), "0x%0*x", digits, v);
	return json_string(text);
}

static const char *cc_attr_name(uint16_t attr_id)
{
	return attr_id < IBCC_VCC_ATTR_FIRST ? ibcc_cc_attr_name(attr_id)
					     : ibcc_vcc_attr_name(attr_id);
}

static const char *attr_name(const struct ibcc_madcount_row *r)
{
	if (r->mgmt_class == IBCC_MAD_CLASS_CC)
		return cc_attr_name(r->attr_id);
	return r->mgmt_class == IBCC_MAD_CLASS_PERF ? ibcc_pma_attr_name(r->attr_id) : "";
}

/* Milliseconds since the first MAD. */
static json_t *since_json(const struct ibcc_proxy_stats *st, uint64_t ns)
{
	return json_real((double)((ns - st->mads.start_ns) / 1000) / 1000);
}

/* Time, speed and counts of MADs. */
static json_t *stats(const struct ibcc_requests *q)
{
	const struct ibcc_proxy_stats *st = ibcc_proxy_stats(q->proxy);
	json_t *o = json_pack("{s:b}", "ok", 1), *rows = json_array();
	uint32_t i;

	json_object_set_new(o, "engine_ns", uint64_json(ibcc_sim_fabric_now_ps(q->fabric) / 1000));
	json_object_set_new(o, "speed", json_real(ibcc_pace_speed(q->pace)));
	json_object_set_new(o, "speed_reached", json_real(ibcc_pace_reached(q->pace)));
	json_object_set_new(o, "traffic", json_boolean(ibcc_sim_fabric_traffic(q->fabric)));
	json_object_set_new(o, "clients", uint64_json(st->clients_now));
	json_object_set_new(o, "clients_total", uint64_json(st->clients_total));
	json_object_set_new(o, "clients_killed", uint64_json(st->clients_killed));
	json_object_set_new(o, "mads", uint64_json(st->mads.total));
	json_object_set_new(o, "sets", uint64_json(st->mads.sets));
	json_object_set_new(o, "lost", uint64_json(st->lost));
	json_object_set_new(o, "overflow", uint64_json(st->overflow));
	for (i = 0; i < st->mads.n; i++) {
		const struct ibcc_madcount_row *r = &st->mads.row[i];
		json_t *row = json_object();

		json_object_set_new(row, "class", hex_json(r->mgmt_class, 2));
		json_object_set_new(row, "method", hex_json(r->method, 2));
		json_object_set_new(row, "attr", hex_json(r->attr_id, 4));
		json_object_set_new(row, "name", json_string(attr_name(r)));
		json_object_set_new(row, "count", uint64_json(r->count));
		json_object_set_new(row, "first_ms", since_json(st, r->first_ns));
		json_object_set_new(row, "last_ms", since_json(st, r->last_ns));
		json_array_append_new(rows, row);
	}
	json_object_set_new(o, "rows", rows);
	return o;
}

/* The Sets of class 0x21 and their senders. Tests use them to see that only one program writes at a
 * time.
 */
static json_t *sets(const struct ibcc_requests *q)
{
	const struct ibcc_setlog *l = ibcc_proxy_setlog(q->proxy);
	json_t *o = json_pack("{s:b}", "ok", 1), *rows = json_array();
	uint64_t i;

	json_object_set_new(o, "forgotten", uint64_json(ibcc_setlog_first(l)));
	for (i = ibcc_setlog_first(l); i < l->n; i++) {
		const struct ibcc_setlog_entry *e = ibcc_setlog_at(l, i);
		json_t *row = json_pack("{s:i,s:i,s:s,s:i}", "client", (int)e->client, "pid",
					(int)e->pid, "host", e->host, "lid", e->lid);

		json_object_set_new(row, "n", uint64_json(i));
		json_object_set_new(row, "us", uint64_json(e->time_us));
		json_object_set_new(row, "name", json_string(cc_attr_name(e->attr_id)));
		json_object_set_new(row, "block", uint64_json(e->attr_mod));
		json_object_set_new(row, "answer",
				    json_string(e->answered ? "yes" : "lost or none"));
		json_array_append_new(rows, row);
	}
	json_object_set_new(o, "rows", rows);
	return o;
}

/* The scenario's flows and their rates. */
static json_t *flows(const struct ibcc_requests *q)
{
	static const char *const kinds[] = {
		[IBCC_FLOW_BACKGROUND] = "background",
		[IBCC_FLOW_HOT] = "hot",
		[IBCC_FLOW_VICTIM] = "victim",
	};
	json_t *o = json_pack("{s:b}", "ok", 1), *rows = json_array();
	struct ibcc_sim_fabric_flow f;
	uint32_t i;

	json_object_set_new(o, "engine_ns", uint64_json(ibcc_sim_fabric_now_ps(q->fabric) / 1000));
	for (i = 0; i < ibcc_sim_fabric_n_flows(q->fabric); i++) {
		json_t *row;

		ibcc_sim_fabric_flow_read(q->fabric, i, &f);
		row = json_pack("{s:s,s:s,s:s,s:s}", "name", f.spec->name, "from", f.spec->from,
				"to", f.spec->to, "kind", kinds[f.spec->kind]);
		json_object_set_new(row, "missing", json_string(f.missing ? f.missing : ""));
		json_object_set_new(row, "mbps", uint64_json(f.mbps));
		json_object_set_new(row, "received_bytes", uint64_json(f.sum.received_bytes));
		json_object_set_new(row, "sent_pkts", uint64_json(f.sum.sent_pkts));
		json_object_set_new(row, "dropped_pkts", uint64_json(f.sum.dropped_pkts));
		json_object_set_new(row, "fecn", uint64_json(f.sum.fecn));
		json_object_set_new(row, "becn", uint64_json(f.sum.becn));
		json_object_set_new(row, "ccti", uint64_json(f.sum.ccti));
		json_array_append_new(rows, row);
	}
	json_object_set_new(o, "rows", rows);
	return o;
}

/* Counters of all ports that have a link. */
static json_t *ports(const struct ibcc_requests *q)
{
	const struct ibcc_topo *t = ibcc_sim_fabric_topo(q->fabric);
	json_t *o = json_pack("{s:b}", "ok", 1), *rows = json_array();
	struct ibcc_engine_port c;
	uint32_t i;

	json_object_set_new(o, "engine_ns", uint64_json(ibcc_sim_fabric_now_ps(q->fabric) / 1000));
	for (i = 0; t && i < t->n_ports; i++) {
		const struct ibcc_topo_port *p = &t->port[i], *peer;
		json_t *row;

		if (p->peer == IBCC_NONE ||
		    ibcc_agents_counters(ibcc_sim_fabric_agents(q->fabric), i, &c))
			continue;
		peer = &t->port[p->peer];
		row = json_pack("{s:s,s:i,s:s,s:i,s:i,s:i}", "node", t->node[p->node].desc, "port",
				p->num, "peer", t->node[peer->node].desc, "peer_port", peer->num,
				"lid", p->lid, "state", p->state);
		json_object_set_new(row, "rate_mbps", uint64_json(p->rate_mbps));
		json_object_set_new(row, "xmit_bytes", uint64_json(c.xmit_bytes));
		json_object_set_new(row, "rcv_bytes", uint64_json(c.rcv_bytes));
		json_object_set_new(row, "xmit_wait_ns", uint64_json(c.xmit_wait_ps / 1000));
		json_object_set_new(row, "time_cong_ns", uint64_json(c.xmit_time_cong_ps / 1000));
		json_object_set_new(row, "rcv_fecn", uint64_json(c.rcv_fecn));
		json_object_set_new(row, "rcv_becn", uint64_json(c.rcv_becn));
		json_object_set_new(row, "mark_fecn", uint64_json(c.mark_fecn));
		json_object_set_new(row, "dropped", uint64_json(c.dropped));
		json_array_append_new(rows, row);
	}
	json_object_set_new(o, "rows", rows);
	return o;
}

/* Answers with what ibsim's console has printed, each line as a text of its own. */
static void on_printed(void *arg, const char *text)
{
	const struct ibcc_requests *q = arg;
	json_t *lines = json_array();
	char *copy = strdup(text), *rest = copy, *line;

	while (lines && rest && (line = strsep(&rest, "\n")))
		if (*line || rest)
			json_array_append_new(lines, ibcc_json_text(line));
	free(copy);
	ibcc_jsonl_reply(q->server, q->console_client,
			 json_pack("{s:b,s:o}", "ok", 1, "lines", lines));
}

/* Passes a line to ibsim's console. NULL: the answer comes later, by on_printed(). */
static json_t *console(struct ibcc_requests *q, const struct ibcc_jsonl_request *r)
{
	const char *line = json_string_value(json_object_get(r->object, "line"));
	int err = line ? ibcc_ibsim_console(q->ibsim, line, on_printed, q) : -EINVAL;

	if (err == -EBUSY)
		return ibcc_jsonl_error(
			err, "the console of ibsim is busy with another line: try again");
	if (err)
		return ibcc_jsonl_error(err, "console: want one line of at most 125 characters");
	q->console_client = r->client;
	q->changed(q->arg);
	return NULL;
}

void ibcc_requests_answer(void *arg, const struct ibcc_jsonl_request *r)
{
	static const struct {
		const char *name;
		json_t *(*answer)(const struct ibcc_requests *q);
	} commands[] = {
		{ "stats", stats },
		{ "flows", flows },
		{ "ports", ports },
		{ "sets", sets },
		{ "settings", ibcc_requests_settings },
	};
	const char *cmd = json_string_value(json_object_get(r->object, "cmd"));
	struct ibcc_requests *q = arg;
	json_t *answer = NULL;
	size_t i = 0;

	while (cmd && i < sizeof(commands) / sizeof(*commands) && strcmp(cmd, commands[i].name))
		i++;
	if (!cmd) {
		answer = ibcc_jsonl_error(-EINVAL, "want a request with \"cmd\"");
	} else if (i < sizeof(commands) / sizeof(*commands)) {
		answer = commands[i].answer(q);
	} else if (!strcmp(cmd, "info")) {
		answer = ibcc_requests_info(q, r->object);
	} else if (!strcmp(cmd, "set")) {
		answer = ibcc_requests_set(q, r->object);
	} else if (strcmp(cmd, "console")) {
		answer = ibcc_jsonl_error(-EINVAL, "%s: no such command", cmd);
	} else {
		answer = console(q, r);
		if (!answer)
			return;
	}
	ibcc_jsonl_reply(q->server, r->client, answer);
}
