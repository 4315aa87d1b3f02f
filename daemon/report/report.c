/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A polling cycle as JSON (report.h): roots with their sources, the plan with its changes and their
 * outcomes, the state of the fabric. Begin with ibcc_report_plan(), at the end.
 */
#include "daemon/report/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/refusal.h>
#include <ibcc/settings_json.h>

static const char *node_name(const struct ibcc_topo *t, uint64_t guid)
{
	uint32_t node = t ? ibcc_topo_find_guid(t, guid) : IBCC_NONE;

	return node == IBCC_NONE ? "" : t->node[node].desc;
}

json_t *ibcc_report_changes(const struct ibcc_topo *t, const struct ibcc_plan *plan,
			    const struct ibcc_result *r)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < plan->n; i++) {
		const struct ibcc_change *c = &plan->change[i];
		const char *outcome = r ? ibcc_outcome_name(r->change[i].outcome) : NULL;

		if (ibcc_json_change(list, c, node_name(t, c->node_guid), outcome)) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

/* Counts ports with a saturated data or wait counter: nothing can be said about them. */
static uint32_t count_saturated(const struct ibcc_snapshot *s)
{
	uint32_t n = 0, i;

	for (i = 0; i < s->n_ports; i++) {
		const struct ibcc_delta *d = &s->port[i].delta;

		n += ibcc_sample_is_known(&s->port[i]) &&
		     ((d->flags[IBCC_CTR_XMIT_DATA] | d->flags[IBCC_CTR_XMIT_WAIT]) &
		      IBCC_DELTA_SATURATED) != 0;
	}
	return n;
}

/* Frees the text. */
static json_t *sentence(char *text)
{
	json_t *o = text ? ibcc_json_text(text) : NULL;

	free(text);
	return o;
}

json_t *ibcc_report_verdict(const struct ibcc_cycle *c)
{
	return sentence(ibcc_cycle_verdict(c));
}

json_t *ibcc_report_decided(const struct ibcc_cycle *c)
{
	return sentence(ibcc_cycle_words(c));
}

/* Adds the lists of ports, and "left_out": how many ports each leaves out. */
static int add_ports(const struct ibcc_cycle *c, json_t *fabric)
{
	uint32_t unread, unsure, doubted, gaps;
	json_t *lists = json_pack("{so so so so}", "unread",
				  ibcc_report_unread(c->topo, &c->snapshot, &unread), "unsure",
				  ibcc_report_unsure(c->topo, &c->snapshot, &unsure), "doubted",
				  ibcc_report_doubted(c->topo, &c->snapshot, &doubted), "gaps",
				  ibcc_report_gaps(c->topo, &gaps));

	if (json_object_update_new(fabric, lists))
		return -1;
	return json_object_set_new(fabric, "left_out",
				   json_pack("{si si si si}", "unread", (int)unread, "unsure",
					     (int)unsure, "doubted", (int)doubted, "gaps",
					     (int)gaps));
}

json_t *ibcc_report_fabric(const struct ibcc_cycle *c, const char *source)
{
	const struct ibcc_topo *t = c->topo;
	uint32_t switches = 0, links = 0, i, adapters = 0;
	struct ibcc_why clock, silent = { "" };
	json_t *o;

	ibcc_collector_clock_trouble(c->collector, &clock);
	ibcc_topo_gaps_text(t, silent.text, sizeof(silent.text));
	for (i = 0; i < t->n_nodes; i++) {
		bool is_switch = ibcc_topo_is_switch(t, i);

		switches += is_switch;
		adapters += !is_switch && ibcc_device_takes_part(t, i);
	}
	for (i = 0; i < t->n_ports; i++)
		links += t->port[i].peer != IBCC_NONE && t->port[i].peer > i;
	o = json_pack(
		"{si si si si si sI ss sI sI sI sI sI sI si si si si ss so so so so so}", "nodes",
		(int)t->n_nodes, "switches", (int)switches, "channel_adapters", (int)adapters,
		"endports", (int)t->n_endports, "links", (int)links, "generation",
		(json_int_t)t->generation, "source", source, "pass", (json_int_t)c->snapshot.pass,
		"interval_us", (json_int_t)(c->snapshot.interval_ns / 1000), "pass_us",
		(json_int_t)(c->pass_ns / 1000), "pass_deadline_us",
		(json_int_t)(c->options.pass_deadline_ns / 1000), "longest_pass_us",
		(json_int_t)(c->longest_pass_ns / 1000), "passes_cut", (json_int_t)c->n_passes_cut,
		"ports_fresh", (int)c->snapshot.n_fresh, "ports_stale", (int)c->snapshot.n_stale,
		"ports_unreachable", (int)c->snapshot.n_unreachable, "ports_saturated",
		(int)count_saturated(&c->snapshot), "clock",
		ibcc_collector_uses_fabric_clock(c->collector) ? "fabric" : "host", "clock_trouble",
		clock.text[0] ? ibcc_json_text(clock.text) : json_null(), "counters",
		ibcc_report_counters(c), "apart", ibcc_report_apart(c->topo), "silent",
		silent.text[0] ? ibcc_json_text(silent.text) : json_null(), "blind",
		c->decided && !c->estimate.trustworthy ? ibcc_report_decided(c) : json_null());
	if (!o || (!add_ports(c, o) && !ibcc_report_add_faults(c, o)))
		return o;
	json_decref(o);
	return NULL;
}

static json_t *source_object(const struct ibcc_topo *t, const struct ibcc_source *s)
{
	json_t *o = ibcc_json_port(t, s->port);

	json_object_update_new(o, json_pack("{si si sI}", "xmit_mbps", (int)s->xmit_mbps,
					    "wait_permille", s->wait_permille, "becn",
					    (json_int_t)s->becn));
	return o;
}

static json_t *sources_of(const struct ibcc_topo *t, const struct ibcc_root *r, enum ibcc_role role)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < r->n_sources; i++)
		if (r->source[i].role == role)
			json_array_append_new(list, source_object(t, &r->source[i]));
	return list;
}

/* A sample of the packets that a root marked. */
static json_t *marked_pairs(const struct ibcc_topo *t, const struct ibcc_root *r)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < r->n_pairs; i++) {
		uint32_t to = ibcc_topo_port_of_lid(t, r->pair[i].dlid);

		json_array_append_new(list, json_pack("{so so si}", "from",
						      ibcc_json_port(t, r->pair[i].src), "to",
						      ibcc_json_port(t, to), "packets",
						      (int)r->pair[i].packets));
	}
	return list;
}

static json_t *root_object(const struct ibcc_topo *t, const struct ibcc_root *r)
{
	json_t *o = ibcc_json_port(t, r->port), *more;
	uint32_t peer = t->port[r->port].peer;
	char words[IBCC_ROOT_WORDS_BYTES] = "";

	ibcc_estimate_explain(t, r, words, sizeof(words));
	more = json_pack("{ss so si si si si si so so so so so}", "kind",
			 r->kind == IBCC_CONGESTION_INPUT ? "input" : "output", "peer",
			 peer == IBCC_NONE ? json_null() : ibcc_json_port(t, peer), "link_mbps",
			 (int)r->link_mbps, "rate_mbps", (int)r->rate_mbps, "wait_permille",
			 r->wait_permille, "tree_wait_permille", r->tree_wait_permille,
			 "confidence_permille", r->confidence_permille, "contributors",
			 sources_of(t, r, IBCC_ROLE_CONTRIBUTOR), "candidates",
			 sources_of(t, r, IBCC_ROLE_CANDIDATE), "victims",
			 sources_of(t, r, IBCC_ROLE_VICTIM), "marked", marked_pairs(t, r),
			 "explanation", ibcc_json_text(words));
	json_object_update_new(o, more);
	return o;
}

json_t *ibcc_report_roots(const struct ibcc_cycle *c)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < c->estimate.n_roots; i++) {
		const struct ibcc_root *r = &c->estimate.root[i];
		json_t *o = root_object(c->topo, r);

		ibcc_report_add_control(c, r->port, o);
		json_array_append_new(list, o);
	}
	return list;
}

json_t *ibcc_report_unreachable(const struct ibcc_topo *t, const struct ibcc_settings *s)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < s->n; i++) {
		const struct ibcc_topo_port *p = &t->port[t->endport[i]];
		const char *reason = ibcc_precheck_reason(&s->ep[i]);
		json_t *o;

		if (!reason || !p->lid || !ibcc_device_takes_part(t, p->node))
			continue;
		o = ibcc_json_port(t, t->endport[i]);
		if (o) {
			json_object_set_new(o, "lid", json_integer(p->lid));
			json_object_set_new(o, "reason", json_string(reason));
		}
		json_array_append_new(list, o);
	}
	return list;
}

/* Each change is written and read back. */
static json_t *push_of(const struct ibcc_cycle *c)
{
	uint64_t mads = 2ull * c->plan.n;

	return json_pack("{sI so}", "mads", (json_int_t)mads, "expected_us",
			 c->mad_ns ? json_integer((json_int_t)(mads * c->mad_ns / 1000))
				   : json_null());
}

static json_t *error_of(const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	if (c->act_err)
		return ibcc_json_text(c->blocked.text);
	if (c->refused == IBCC_REFUSED_NOT || c->acted)
		return json_null();
	ibcc_refusal_text(c, c->refused, &text);
	return ibcc_json_text(text.text);
}

/* The result of the last polling cycle's plan; NULL: nothing was sent. */
static const struct ibcc_result *result_of(const struct ibcc_cycle *c)
{
	return c->acted && c->result.n == c->plan.n && c->result.set_mads ? &c->result : NULL;
}

/* What was decided; once it is written, in the words of its transaction. Those of the cycle were
 * made before, when its settings were still missing.
 */
static json_t *summary_of(const struct ibcc_cycle *c, const struct ibcc_result *written)
{
	return written && c->summary ? ibcc_json_text(c->summary) : ibcc_report_decided(c);
}

/* Adds what could not be checked about marking profiles to the warnings of a plan that has some, so
 * that a person who consents sees it.
 */
static void warn_unchecked(const struct ibcc_cycle *c, json_t *o)
{
	json_t *warnings = json_object_get(json_object_get(o, "fabric"), "warnings");

	if (c->plan.n && c->unchecked.text[0] && ibcc_vendor_rules(&c->vendor))
		json_array_append_new(warnings, ibcc_json_text(c->unchecked.text));
}

json_t *ibcc_report_outline(const struct ibcc_cycle *c, const char *source)
{
	const struct ibcc_result *r = result_of(c);
	json_t *o;

	o = json_pack("{si so so so so si so so so si so so}", "schema", IBCC_REPORT_SCHEMA,
		      "verdict", ibcc_report_verdict(c), "fabric", ibcc_report_fabric(c, source),
		      "roots", ibcc_report_roots(c), "changes", json_array(), "unchanged",
		      (int)c->plan.n_unchanged, "unreachable",
		      ibcc_report_unreachable(c->topo, &c->actual), "prediction",
		      json_pack("{sb ss}", "known", 0, "why",
				"the daemon made no prediction for this plan"),
		      "summary", summary_of(c, r), "writes", (int)c->plan.n, "push", push_of(c),
		      "error", error_of(c));
	if (o)
		warn_unchecked(c, o);
	if (o)
		json_object_set_new(o, "nvidia", ibcc_report_vendor(c));
	if (o)
		json_object_set_new(o, "routing", ibcc_report_routing(c));
	if (o)
		json_object_set_new(o, "paths", ibcc_report_ways(c));
	if (o)
		ibcc_report_add_decisions(c, o);
	if (o && r)
		json_object_set_new(o, "result",
				    json_pack("{si si si}", "verified", (int)r->n_verified,
					      "failed", (int)r->n_failed, "set_mads",
					      (int)r->set_mads));
	return o;
}

json_t *ibcc_report_plan(const struct ibcc_cycle *c, const char *source)
{
	json_t *o = ibcc_report_outline(c, source);

	if (!o || !json_object_set_new(o, "changes",
				       ibcc_report_changes(c->topo, &c->plan, result_of(c))))
		return o;
	json_decref(o);
	return NULL;
}
