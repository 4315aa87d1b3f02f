/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is not known about the fabric. It lists ports without a reading in the last polling cycle,
 * and ports with counters that show nothing: one object for those of a node that share state and
 * reason, or these counters. It also lists ports with inconsistent counters, and nodes that fail to
 * answer. On a large fabric these may be thousands, and a status is asked for every second: each
 * list ends after IBCC_REPORT_MOST objects, and what it leaves out is counted.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/settings_json.h>

#include "daemon/report/report.h"

#define MS        1000000u
#define LIDS_MOST 16u /* of a port that leads to silent nodes */

/* A list of ports by node. */
struct by_node {
	json_t *list;
	json_t *last;      /* the object of the last port; NULL: there was no room for it */
	uint32_t node;     /* of the last port */
	uint32_t left_out; /* ports without an object */
};

static struct by_node by_node(void)
{
	return (struct by_node){ .list = json_array(), .node = IBCC_NONE };
}

/* Whether a port needs a new object, for which there is room. `same`: it may share the object of
 * the port before it, if that is of the same node.
 */
static bool begins(struct by_node *b, uint32_t node, bool same)
{
	if (same && node == b->node)
		return false;
	b->node = node;
	b->last = NULL;
	return json_array_size(b->list) < IBCC_REPORT_MOST;
}

static void begin(struct by_node *b, json_t *o)
{
	b->last = json_array_append_new(b->list, o) ? NULL : o;
}

static void put(struct by_node *b, unsigned int num)
{
	if (b->last)
		json_array_append_new(json_object_get(b->last, "ports"),
				      json_integer((json_int_t)num));
	else
		b->left_out++;
}

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

json_t *ibcc_report_unread(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			   uint32_t *left_out)
{
	const struct ibcc_port_sample *last = NULL;
	struct by_node b = by_node();

	for (uint32_t i = 0; b.list && i < s->n_ports; i++) {
		const struct ibcc_port_sample *p = &s->port[i];

		if (!is_unread(p))
			continue;
		if (begins(&b, t->port[i].node,
			   last && p->state == last->state && p->err == last->err))
			begin(&b, group(t, s, i));
		last = p;
		put(&b, t->port[i].num);
	}
	*left_out = b.left_out;
	return b.list;
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

json_t *ibcc_report_unsure(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			   uint32_t *left_out)
{
	struct by_node b = by_node();
	uint32_t last = 0;

	for (uint32_t i = 0; b.list && i < s->n_ports; i++) {
		const struct ibcc_topo_node *n = &t->node[t->port[i].node];
		uint32_t mask = unsure(&s->port[i]);

		if (!mask)
			continue;
		if (begins(&b, t->port[i].node, mask == last))
			begin(&b, json_pack("{so so so so}", "node_guid", ibcc_json_guid(n->guid),
					    "node", ibcc_json_text(n->desc), "ports", json_array(),
					    "counters", counter_names(mask)));
		last = mask;
		put(&b, t->port[i].num);
	}
	*left_out = b.left_out;
	return b.list;
}

json_t *ibcc_report_doubted(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			    uint32_t *left_out)
{
	enum ibcc_doubt last = IBCC_DOUBT_NONE;
	struct by_node b = by_node();

	for (uint32_t i = 0; b.list && i < s->n_ports; i++) {
		const struct ibcc_topo_node *n = &t->node[t->port[i].node];
		enum ibcc_doubt doubt = s->port[i].trust.doubt;

		if (doubt == IBCC_DOUBT_NONE)
			continue;
		if (begins(&b, t->port[i].node, doubt == last))
			begin(&b, json_pack("{so so so ss}", "node_guid", ibcc_json_guid(n->guid),
					    "node", ibcc_json_text(n->desc), "ports", json_array(),
					    "reason", ibcc_trust_reason(doubt)));
		last = doubt;
		put(&b, t->port[i].num);
	}
	*left_out = b.left_out;
	return b.list;
}

/* The first LIDs that a switch sends to a port and that no known port has, and how many it has. */
static json_t *lost_lids(const struct ibcc_topo *t, uint32_t port, uint32_t *n)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[port].node];
	json_t *list = json_array();

	*n = 0;
	for (uint32_t lid = 1; lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++)
		if (sw->lft[lid] == t->port[port].num && t->lost_lid[lid] != IBCC_NONE &&
		    (*n)++ < LIDS_MOST)
			json_array_append_new(list, json_integer(lid));
	return list;
}

json_t *ibcc_report_gaps(const struct ibcc_topo *t, uint32_t *left_out)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < t->n_gaps && i < IBCC_REPORT_MOST; i++) {
		uint32_t port = t->gap[i].port, n;
		json_t *o = ibcc_json_port(t, port), *lids = lost_lids(t, port, &n);

		json_object_update_new(
			o,
			json_pack("{ss so si}", "leads_to",
				  t->port[port].beyond == IBCC_BEYOND_SWITCH ? "switch" : "adapter",
				  "lids", lids, "n_lids", (int)n));
		json_array_append_new(list, o);
	}
	*left_out = t->n_gaps > IBCC_REPORT_MOST ? t->n_gaps - IBCC_REPORT_MOST : 0;
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

/* An answer that never came, or a refusal, is worse than any number of retries. */
static uint64_t badness(const struct ibcc_node_stats *s)
{
	uint64_t retried = s->retried < UINT32_MAX ? s->retried : UINT32_MAX;

	return (s->timed_out + s->refused) << 32 | retried;
}

/* An endport with errors. */
struct bad {
	uint32_t port;
	const struct ibcc_node_stats *stats;
};

/* Inserts one into a list of the worst; of equal ones, the first stays first. */
static void insert(struct bad v, struct bad *list, uint32_t *n)
{
	uint32_t k;

	if (*n < IBCC_REPORT_MOST)
		++*n;
	else if (badness(list[*n - 1].stats) >= badness(v.stats))
		return;
	for (k = *n - 1; k && badness(list[k - 1].stats) < badness(v.stats); k--)
		list[k] = list[k - 1];
	list[k] = v;
}

json_t *ibcc_report_mad_errors(const struct ibcc_topo *t, const struct ibcc_node_stats *s,
			       uint32_t *left_out)
{
	struct bad worst[IBCC_REPORT_MOST];
	uint32_t n = 0, all = 0;
	json_t *list = json_array();

	for (uint32_t i = 0; s && i < t->n_endports; i++) {
		struct bad v = { t->endport[i], &s[t->port[t->endport[i]].lid] };

		if (!(v.stats->retried || v.stats->refused || v.stats->timed_out))
			continue;
		all++;
		insert(v, worst, &n);
	}
	for (uint32_t k = 0; list && k < n; k++)
		json_array_append_new(list, mad_errors_of(t, worst[k].port, worst[k].stats));
	*left_out = all - n;
	return list;
}
