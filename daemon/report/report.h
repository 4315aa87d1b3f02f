/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the daemon and the command line tell, as JSON. Scripts rely on these keys; "schema" is
 * raised when one of them changes its meaning.
 *
 * All functions return a new reference, NULL without memory. What grows with the fabric (changes,
 * settings, a bundle's nodes) is folded, see ibcc_json_fold().
 */
#ifndef IBCC_DAEMON_REPORT_H
#define IBCC_DAEMON_REPORT_H

#include <ibcc/cycle.h>
#include <ibcc/json.h>
#include <ibcc/prediction.h>
#include <ibcc/probe.h>

#define IBCC_REPORT_SCHEMA 1

/* All fields of all changes of a plan, folded (ibcc_json_fold()); outcomes from `r`, which may be
 * NULL, and so may `t`: then nodes have no names.
 */
json_t *ibcc_report_changes(const struct ibcc_topo *t, const struct ibcc_plan *plan,
			    const struct ibcc_result *r);

/* {"nodes","switches","channel_adapters","ports","links","generation","source",...}: `source` says
 * where the topology came from.
 */
json_t *ibcc_report_fabric(const struct ibcc_cycle *c, const char *source);

/* Ports that the last pass did not read, [{"node_guid","node","ports","state","reason","age_ms"}]:
 * none is left out.
 */
json_t *ibcc_report_unread(const struct ibcc_topo *t, const struct ibcc_snapshot *s);
/* Counters that have reached their end or may have gone round, [{"node_guid","node","ports",
 * "counters"}].
 */
json_t *ibcc_report_unsure(const struct ibcc_topo *t, const struct ibcc_snapshot *s);

/* Ports whose counters are not believed, [{"node_guid","node","ports","reason"}]. */
json_t *ibcc_report_doubted(const struct ibcc_topo *t, const struct ibcc_snapshot *s);

/* Switch ports that lead to nodes which do not answer, with the LIDs that nobody known has and that
 * the switch sends there: [{"node_guid","node","port","leads_to","lids"}].
 */
json_t *ibcc_report_gaps(const struct ibcc_topo *t);

/* Sentences about what takes no part, or is counted with something else: [string]. */
json_t *ibcc_report_apart(const struct ibcc_topo *t);

/* Sentences about what counters do not tell: [string]. */
json_t *ibcc_report_counters(const struct ibcc_cycle *c);

/* Endports that did not answer, refused or had to be asked again since the port was opened,
 * [{"node_guid","node","port","lid","sent","retried","answered","refused","timed_out"}]; `s` is by
 * LID and may be NULL.
 */
json_t *ibcc_report_mad_errors(const struct ibcc_topo *t, const struct ibcc_node_stats *s);

/* What is wrong with the fabric, and what the last turn decided, as sentences for people. */
json_t *ibcc_report_verdict(const struct ibcc_cycle *c);
json_t *ibcc_report_decided(const struct ibcc_cycle *c);

/* Congestion roots with their sources, and where the tuner stands with each. */
json_t *ibcc_report_roots(const struct ibcc_cycle *c);

/* All roots that the tuner follows, also those that are no roots now, [{"node_guid","node","port",
 * "phase","basis","status","kind","in_force","sources","equal_sources","rate_mbps","table_scale_permille",
 * "timer_scale_permille"}].
 */
json_t *ibcc_report_followed(const struct ibcc_cycle *c);
/* Roots that it does not follow, or no more, [{"node_guid","node","port","status"}]. */
json_t *ibcc_report_others(const struct ibcc_cycle *c);
/* Adds to an object what ibcc_decisions_json() has of the last turn, "refused" (null, or why the
 * fabric is observed only), "followed" and "others". 0, or -1 without memory.
 */
int ibcc_report_add_decisions(const struct ibcc_cycle *c, json_t *o);
/* Adds "phase", "basis" and "status" of the root at a port to an object; the first two are null
 * where the tuner follows none there. 0, or -1 without memory.
 */
int ibcc_report_add_control(const struct ibcc_cycle *c, uint32_t port, json_t *o);
/* "vendor" or "routes"; "" of what is ours. */
const char *ibcc_refused_name(enum ibcc_refused refused);

/* Endports that cannot be given settings, with the reason. */
json_t *ibcc_report_unreachable(const struct ibcc_topo *t, const struct ibcc_settings *s);

/* What a plan will bring: {"known","method","basis","baseline_age_s","replay":{"rate_permille",
 * "wait_permille"},"total","victims","roots","open_roots","roots_why","why","cpu_ms"}, amounts as
 * {"now_mbps", "expected_mbps","low_mbps","high_mbps"}. Total and victims are null where `known` is
 * false, and `why` says why; roots may be there all the same, and `roots_why` says why some are
 * not: open ones have bounds alone. Where `known` is true there are the keys of releases before,
 * too: hot_now_mbps, hot_expected_mbps, victim_now_mbps, victim_expected_mbps, sources.
 */
json_t *ibcc_report_prediction(const struct ibcc_topo *t, const struct ibcc_prediction_in *in,
			       const struct ibcc_prediction *p);

/* NVIDIA's own congestion control, {"marking","reacting","off","silent","throttled","text",
 * "advice"}: endports, and what there is to say; null where no node has it. "throttled" are
 * [{"node_guid","node","port","cnp_handled","cnp_ignored","marked_packets","cnp_sent"}] with counts
 * since they were asked before.
 */
json_t *ibcc_report_vendor(const struct ibcc_cycle *c);

/* What other ways would do about the congestion seen, or null. */
json_t *ibcc_report_ways(const struct ibcc_cycle *c);
/* A sentence about routing that is not by the tables alone, or null. */
json_t *ibcc_report_routing(const struct ibcc_cycle *c);

/* What each device type answers: {"schema","version","types","nvidia","routing"}, where a type is
 * {"vendor_id","device_id","name","type","count"} and, for each property, an object of values with
 * counts: "annex_a10", "table_entries", "port_block", "attributes", "cc_key", "counters", "tick",
 * "link_mbps" (ports), "nvidia_cc", "adaptive_routing", "firmware". No GUID, LID or name of a node
 * is in it.
 */
json_t *ibcc_report_probe(const struct ibcc_cycle *c, const struct ibcc_probe *p);

/* The whole last turn: the answer to a dry run, and to an apply. Keys: schema, verdict, fabric,
 * roots, changes, unchanged, unreachable, prediction, summary, writes, error (null or why the plan
 * was or would be refused), nvidia, routing (null, or what is not proved since switches do not go
 * by their tables), and result after an apply. Its prediction says that there is none: who has one
 * puts it there.
 */
json_t *ibcc_report_plan(const struct ibcc_cycle *c, const char *source);
/* The same without a change in "changes". */
json_t *ibcc_report_outline(const struct ibcc_cycle *c, const char *source);

/* The last pass in figures,
 * {"pass","sent_mbps","waiting","wait_permille","fecn_per_s","becn_per_s", "settings","roots"}:
 * what all adapters send, how many wait and the most that one does, the worst roots with numbers of
 * sources, and "settings" as {"marking_ports","reacting_ports"} with [least, most] of "Threshold",
 * "Marking_Rate", "CCTI_Timer", "CCTI_Increase", "CCTI_Limit" where they are on; null before they
 * were read. Of a cycle that has decided.
 */
json_t *ibcc_report_now(const struct ibcc_cycle *c);

/* The fabric to be drawn, {"nodes","links","trees"}: nodes as {"node_guid","node","type"}; links
 * once each, {"a","b","link_mbps","from_a","from_b"}, where an end is [index of its node, port] and
 * what an end sent in the last pass is {"mbps","wait_permille"} or null; and for each root the
 * ports, as such ends, by which packets of who contributes leave on their way to it, itself the
 * last hop.
 */
json_t *ibcc_report_map(const struct ibcc_cycle *c);

/* All that a plan is made from, by node, to be computed with elsewhere:
 * {"schema","format","version", "made","pass","interval_us","nodes","settings"}; see the man page.
 * `settings` may be NULL; all are by the indices of `t`. No text in it is from elsewhere than
 * nodes' descriptions.
 */
json_t *ibcc_report_bundle(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			   const struct ibcc_settings *settings);

/* Settings as read from the fabric, by node. `filter` (may be NULL): only nodes whose description,
 * GUID or LID is this.
 */
json_t *ibcc_report_settings(const struct ibcc_topo *t, const struct ibcc_settings *s,
			     const char *filter);

#endif
