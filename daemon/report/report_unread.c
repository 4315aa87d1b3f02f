/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is not known about the fabric. It lists ports without a reading in the last polling cycle,
 * and ports with counters that show nothing. All ports are listed, one object for those of a node
 * that share state and reason, or these counters. It also lists ports with inconsistent counters,
 * and nodes that fail to answer.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/settings_json.h>

#include "daemon/report/report.h"

#define MS 1000000u

static bool is_unread(const struct ibcc_port_sample *s)
{
	return s->state == IBCC_SAMPLE_STALE || s->state == IBCC_SAMPLE_UNREACHABLE;
}

static const char *reason(int err)
{
	if (!err) /* it was never asked */
		return "its link is not up";
	if (err == -ETIMEDOUT)
		return "no answer";
	return err == -EREMOTEIO ? "refused" : strerror(-err);
}

static json_t *group(const struct ibcc_topo *t, const struct ibcc_snapshot *s, uint32_t port)
{
	const struct ibcc_topo_node *n = &t->node[t->port[port].node];
	const struct ibcc_port_sample *p = &s->port[port];
	bool stale = p->state == IBCC_SAMPLE_STALE;
	json_t *age = stale && s->t_ns > p->now.t_ns
			      ? json_integer((json_int_t)((s->t_ns - p->now.t_ns) / MS))
			      : json_null();

	return json_pack("{so so so ss ss so}", "node_guid", ibcc_json_guid(n->guid), "node",
			 ibcc_json_text(n->desc), "ports", json_array(), "state",
			 stale ? "stale" : "unreachable", "reason", reason(p->err), "age_ms", age);
}

json_t *ibcc_report_unread(const struct ibcc_topo *t, const struct ibcc_snapshot *s)
{
	const struct ibcc_port_sample *last = NULL;
	uint32_t last_node = IBCC_NONE;
	json_t *list = json_array(), *o = NULL;

	for (uint32_t i = 0; list && i < s->n_ports; i++) {
		const struct ibcc_port_sample *p = &s->port[i];

		if (!is_unread(p))
			continue;
		if (t->port[i].node != last_node || p->state != last->state ||
		    p->err != last->err) {
			o = group(t, s, i);
			json_array_append_new(list, o);
		}
		last = p;
		last_node = t->port[i].node;
		json_array_append_new(json_object_get(o, "ports"), json_integer(t->port[i].num));
	}
	return list;
}

/* Counters that are saturated or may be: a bit for each. */
static uint32_t unsure(const struct ibcc_port_sample *p)
{
	uint32_t mask = 0;

	if (!ibcc_sample_is_known(p))
		return 0;
	for (unsigned int c = 0; c < IBCC_CTR_COUNT; c++)
		if (p->delta.flags[c] & IBCC_DELTA_SATURATED)
			mask |= 1u << c;
	return mask;
}

static json_t *counter_names(uint32_t mask)
{
	json_t *list = json_array();

	for (unsigned int c = 0; c < IBCC_CTR_COUNT; c++)
		if (mask & 1u << c)
			json_array_append_new(list, json_string(ibcc_ctr_name((enum ibcc_ctr)c)));
	return list;
}

json_t *ibcc_report_unsure(const struct ibcc_topo *t, const struct ibcc_snapshot *s)
{
	uint32_t last_node = IBCC_NONE, last_mask = 0;
	json_t *list = json_array(), *o = NULL;

	for (uint32_t i = 0; list && i < s->n_ports; i++) {
		const struct ibcc_topo_node *n = &t->node[t->port[i].node];
		uint32_t mask = unsure(&s->port[i]);

		if (!mask)
			continue;
		if (t->port[i].node != last_node || mask != last_mask) {
			o = json_pack("{so so so so}", "node_guid", ibcc_json_guid(n->guid), "node",
				      ibcc_json_text(n->desc), "ports", json_array(), "counters",
				      counter_names(mask));
			json_array_append_new(list, o);
		}
		last_node = t->port[i].node;
		last_mask = mask;
		json_array_append_new(json_object_get(o, "ports"), json_integer(t->port[i].num));
	}
	return list;
}

json_t *ibcc_report_doubted(const struct ibcc_topo *t, const struct ibcc_snapshot *s)
{
	uint32_t last_node = IBCC_NONE;
	enum ibcc_doubt last = IBCC_DOUBT_NONE;
	json_t *list = json_array(), *o = NULL;

	for (uint32_t i = 0; list && i < s->n_ports; i++) {
		const struct ibcc_topo_node *n = &t->node[t->port[i].node];
		enum ibcc_doubt doubt = s->port[i].trust.doubt;

		if (doubt == IBCC_DOUBT_NONE)
			continue;
		if (t->port[i].node != last_node || doubt != last) {
			o = json_pack("{so so so ss}", "node_guid", ibcc_json_guid(n->guid), "node",
				      ibcc_json_text(n->desc), "ports", json_array(), "reason",
				      ibcc_trust_reason(doubt));
			json_array_append_new(list, o);
		}
		last_node = t->port[i].node;
		last = doubt;
		json_array_append_new(json_object_get(o, "ports"), json_integer(t->port[i].num));
	}
	return list;
}

static json_t *lost_lids(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[port].node];
	json_t *list = json_array();

	for (uint32_t lid = 1; lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++)
		if (sw->lft[lid] == t->port[port].num && t->lost_lid[lid] != IBCC_NONE)
			json_array_append_new(list, json_integer(lid));
	return list;
}

json_t *ibcc_report_gaps(const struct ibcc_topo *t)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < t->n_gaps; i++) {
		uint32_t port = t->gap[i].port;
		json_t *o = ibcc_json_port(t, port);

		json_object_update_new(
			o,
			json_pack("{ss so}", "leads_to",
				  t->port[port].beyond == IBCC_BEYOND_SWITCH ? "switch" : "adapter",
				  "lids", lost_lids(t, port)));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *mad_errors_of(const struct ibcc_topo *t, uint32_t port,
			     const struct ibcc_node_stats *s)
{
	json_t *o = ibcc_json_port(t, port);

	json_object_update_new(o, json_pack("{si sI sI sI sI sI}", "lid", t->port[port].lid, "sent",
					    (json_int_t)s->sent, "retried", (json_int_t)s->retried,
					    "answered", (json_int_t)s->answered, "refused",
					    (json_int_t)s->refused, "timed_out",
					    (json_int_t)s->timed_out));
	return o;
}

json_t *ibcc_report_mad_errors(const struct ibcc_topo *t, const struct ibcc_node_stats *s)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && s && i < t->n_endports; i++) {
		const struct ibcc_node_stats *n = &s[t->port[t->endport[i]].lid];

		if (n->retried || n->refused || n->timed_out)
			json_array_append_new(list, mad_errors_of(t, t->endport[i], n));
	}
	return list;
}
