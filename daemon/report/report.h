/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reports of the daemon and the command line, as JSON. Scripts rely on these keys; "schema" is
 * raised when one of them changes its meaning.
 *
 * All functions return a new reference, NULL without memory. Parts that grow with the fabric
 * (changes, settings, a bundle's nodes) are folded, see ibcc_json_fold().
 */
#ifndef IBCC_DAEMON_REPORT_H
#define IBCC_DAEMON_REPORT_H

#include <ibcc/advise.h>
#include <ibcc/cycle.h>
#include <ibcc/json.h>
#include <ibcc/prediction.h>
#include <ibcc/probe.h>

#define IBCC_REPORT_SCHEMA 1

/* Most objects of a list of nodes or ports in a status, which must not grow with the fabric. */
#define IBCC_REPORT_MOST 64u

/* All fields of all changes of a plan, folded (ibcc_json_fold()). Outcomes are from `r`, which may
 * be NULL. `t` may be NULL, too: then nodes have no names.
 */
json_t *ibcc_report_changes(const struct ibcc_topo *t, const struct ibcc_plan *plan,
			    const struct ibcc_result *r);

/* {"nodes","switches","channel_adapters","ports","links","generation","source",...}: `source` says
 * where the topology came from.
 */
json_t *ibcc_report_fabric(const struct ibcc_cycle *c, const char *source);

/* These four lists have at most IBCC_REPORT_MOST objects; *left_out is how many more ports there
 * are.
 *
 * Ports that the last polling cycle did not read,
 * [{"node_guid","node","ports","state","reason","age_ms"}].
 */
json_t *ibcc_report_unread(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			   uint32_t *left_out);
/* Counters that are saturated or may have wrapped around, [{"node_guid","node","ports",
 * "counters"}].
 */
json_t *ibcc_report_unsure(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			   uint32_t *left_out);
/* Ports with inconsistent counters, [{"node_guid","node","ports","reason"}]. */
json_t *ibcc_report_doubted(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			    uint32_t *left_out);
/* Switch ports that lead to nodes which do not answer:
 * [{"node_guid","node","port","leads_to","lids","n_lids"}]. "lids" are the first of the n_lids that
 * the switch sends there and that no known node has.
 */
json_t *ibcc_report_gaps(const struct ibcc_topo *t, uint32_t *left_out);

/* Sentences about ignored nodes, and about nodes that are counted together with others: [string].
 */
json_t *ibcc_report_apart(const struct ibcc_topo *t);

/* Sentences about what the counters cannot show: [string]. */
json_t *ibcc_report_counters(const struct ibcc_cycle *c);

/* Adds to the fabric's object "warnings", sentences about faults that a plan has to name: links on
 * the tree of a root, and a credit loop; and "links_slow" and "ports_with_errors", how many there
 * are on the whole fabric. Returns 0, or -1 without memory.
 */
int ibcc_report_add_faults(const struct ibcc_cycle *c, json_t *fabric);
/* All of them, {"slow","errors","credit_loop"}: links
 * [{"node_guid","node","port","peer","speed","link_mbps","best_speed","best_mbps","on_tree","text"}],
 * ports [{"node_guid","node","port","peer","interval_ms","counters","on_tree","text"}] with how
 * much each counter grew in the interval, and a sentence or null. The lists are folded.
 */
json_t *ibcc_report_faults(const struct ibcc_cycle *c);

/* Endports that timed out, refused or needed a retry since the port was opened,
 * [{"node_guid","node","port","lid","sent","retried","answered","refused","timed_out"}]: the worst
 * first, at most IBCC_REPORT_MOST, and *left_out is how many more there are. `s` is indexed by LID
 * and may be NULL.
 */
json_t *ibcc_report_mad_errors(const struct ibcc_topo *t, const struct ibcc_node_stats *s,
			       uint32_t *left_out);

/* What is wrong with the fabric, and what the last polling cycle decided, as sentences for people.
 */
json_t *ibcc_report_verdict(const struct ibcc_cycle *c);
json_t *ibcc_report_decided(const struct ibcc_cycle *c);

/* Congestion roots with their sources, and the tuner's state for each. */
json_t *ibcc_report_roots(const struct ibcc_cycle *c);

/* All roots that the tuner follows, also those that are not congested now,
 * [{"node_guid","node","port",
 * "phase","basis","status","kind","in_force","sources","equal_sources","rate_mbps",
 * "table_scale_permille","timer_scale_permille"}].
 */
json_t *ibcc_report_followed(const struct ibcc_cycle *c);
/* Roots that the tuner does not follow, or does not follow any more,
 * [{"node_guid","node","port","status"}].
 */
json_t *ibcc_report_others(const struct ibcc_cycle *c);
/* Adds to an object the decisions of the last polling cycle (ibcc_decisions_json()), "refused"
 * (null, or why the fabric is only observed), "followed" and "others". Returns 0, or -1 without
 * memory.
 */
int ibcc_report_add_decisions(const struct ibcc_cycle *c, json_t *o);
/* Adds "phase", "basis" and "status" of the root at a port to an object. The first two are null if
 * the tuner follows no root there. Returns 0, or -1 without memory.
 */
int ibcc_report_add_control(const struct ibcc_cycle *c, uint32_t port, json_t *o);
/* "vendor" or "routes"; "" if the fabric is not refused. */
const char *ibcc_refused_name(enum ibcc_refused refused);

/* Endports that cannot receive settings, with the reason. */
json_t *ibcc_report_unreachable(const struct ibcc_topo *t, const struct ibcc_settings *s);

/* The expected effect of a plan:
 * {"known","basis","baseline_age_s","replay":{"rate_permille",
 * "wait_permille"},"total","victims","roots","open_roots","roots_why","why","cpu_ms"}, amounts as
 * {"now_mbps", "expected_mbps","low_mbps","high_mbps"}. If `known` is false, total and victims are
 * null and `why` says the reason. Roots may be present even then. `roots_why` says why some roots
 * are missing: open ones have only bounds. If `known` is true, the keys of earlier releases are
 * there, too: hot_now_mbps, hot_expected_mbps, victim_now_mbps, victim_expected_mbps, sources.
 */
json_t *ibcc_report_prediction(const struct ibcc_topo *t, const struct ibcc_prediction_in *in,
			       const struct ibcc_prediction *p);

/* Advice on DCQCN: {"on","code","text","profile","root","adapters","buffer","packet_bytes",
 * "prediction","worst","quiet_permille"}; see ibcc-tune-json(7). `rp_port` and `buffer_port` are where the adapters'
 * parameters and the buffer were read; IBCC_NONE: they are assumed.
 */
json_t *ibcc_report_advice(const struct ibcc_topo *t, const struct ibcc_advise_in *in,
			   const struct ibcc_advise *a, uint32_t rp_port, uint32_t buffer_port);

/* NVIDIA's own congestion control, {"marking","reacting","off","silent","throttled","text",
 * "advice"}: numbers of endports, and sentences; null if no node has it. "throttled" are
 * [{"node_guid","node","port","cnp_handled","cnp_ignored","marked_packets","cnp_sent"}] with counts
 * since the previous request.
 */
json_t *ibcc_report_vendor(const struct ibcc_cycle *c);

/* How other paths would change the congestion that was seen, or null. */
json_t *ibcc_report_ways(const struct ibcc_cycle *c);
/* A sentence about routing that does not follow the forwarding tables alone, or null. */
json_t *ibcc_report_routing(const struct ibcc_cycle *c);

/* What each device type supports: {"schema","version","types","nvidia","routing"}. A type is
 * {"vendor_id","device_id","name","type","count","generation","mechanism","action"}, of which the
 * last three are documented and not answered (ibcc_device_facts()), and, for each property, an
 * object of values with counts: "annex_a10", "table_entries", "port_block", "attributes", "cc_key",
 * "counters", "tick", "link_mbps" (ports), "nvidia_cc", "adaptive_routing", "firmware", and
 * NVIDIA's attributes of parameters `v` by their names, those of a switch for each linked port. It
 * contains no GUID, LID or name of a node.
 */
json_t *ibcc_report_probe(const struct ibcc_cycle *c, const struct ibcc_probe *p,
			  const struct ibcc_vendor_parameters *v);

/* The whole last polling cycle, which answers a dry run and an apply. Keys: schema, verdict,
 * fabric, roots, changes, unchanged, unreachable, prediction, summary, writes, error (null or why
 * the plan was or would be refused), nvidia, routing (null, or what cannot be proved because
 * switches do not follow their tables), and result after an apply. The prediction says that there
 * is none; a caller that has one replaces it.
 */
json_t *ibcc_report_plan(const struct ibcc_cycle *c, const char *source);
/* As ibcc_report_plan(), but with an empty "changes". */
json_t *ibcc_report_outline(const struct ibcc_cycle *c, const char *source);

/* The most blocked adapters of the last polling cycle and what they send, the worst first, at most
 * 32: [{"node_guid","node","port","xmit_mbps","wait_permille"}]. An adapter counts as blocked from
 * the limit of the estimator on, whether or not a mark shows which sender causes the congestion.
 */
json_t *ibcc_report_blocked(const struct ibcc_cycle *c);

/* The last polling cycle in figures,
 * {"pass","sent_mbps","waiting","wait_permille","fecn_per_s","becn_per_s","settings","roots",
 * "blocked"}.
 * They are what all adapters send, how many are blocked, and the share of time of the most blocked
 * one; then the worst roots with numbers of sources; then ibcc_report_blocked(). "settings" is
 * {"marking_ports","reacting_ports"} with [least, most] of "Threshold", "Marking_Rate",
 * "CCTI_Timer", "CCTI_Increase", "CCTI_Limit" where they are on; null before they were read. The
 * cycle must have decided.
 */
json_t *ibcc_report_now(const struct ibcc_cycle *c);

/* The fabric for a drawing, {"nodes","links","trees"}. Nodes are {"node_guid","node","type"}. Links
 * are once each {"a","b","link_mbps","from_a","from_b"}, where an end is [index of its node, port].
 * What an end sent in the last polling cycle is {"mbps","wait_permille"} or null. "trees" has for
 * each root the ports, as such ends, through which packets of contributors leave on their way to
 * it. The root itself is the last hop.
 */
json_t *ibcc_report_map(const struct ibcc_cycle *c);

/* All data that a plan is made from, by node, for analysis elsewhere: {"schema","format","version",
 * "made","pass","interval_us","nodes","settings"}; see the man page. `settings` may be NULL; all
 * are by the indices of `t`. The only text in it from other sources is the nodes' descriptions.
 */
json_t *ibcc_report_bundle(const struct ibcc_topo *t, const struct ibcc_snapshot *s,
			   const struct ibcc_settings *settings);

/* Settings as read from the fabric, by node. `filter` (may be NULL): only nodes with this
 * description, GUID or LID.
 */
json_t *ibcc_report_settings(const struct ibcc_topo *t, const struct ibcc_settings *s,
			     const char *filter);
/* Whether a filter, NULL or as above, is for an endport. */
bool ibcc_report_is_wanted(const struct ibcc_topo *t, uint32_t port, const char *filter);
/* The same of a cycle, with NVIDIA's congestion control and its parameters. */
json_t *ibcc_report_show(const struct ibcc_cycle *c, const struct ibcc_vendor_parameters *p,
			 const char *filter);
/* Compares parameters with those that were read before, and remembers them. `memory`, an object
 * that is empty at first, keeps them. now_s counts from any time. Returns {"ports","first",
 * "since_s"}: how many switches and adapter ports have other data in an attribute, bits without a
 * name included, the name of the first one, and how long ago that was read before; null: none has.
 */
json_t *ibcc_report_changed_parameters(json_t *memory, const struct ibcc_topo *t,
				       const struct ibcc_vendor_parameters *p, uint64_t now_s);
/* {"type","vendor_id","device_id"}: what a node has in common with others of its type. */
json_t *ibcc_report_type(const struct ibcc_topo_node *n);
/* Attributes that ports of a device type have not answered, [{"type","vendor_id","device_id",
 * "attribute","ports","refused","silent","late","not_asked"}], numbers of ports.
 */
json_t *ibcc_report_unread_parameters(const struct ibcc_topo *t,
				      const struct ibcc_vendor_parameters *p);
/* Adds to a node's object what is known of NVIDIA's congestion control there: "nvidia", with
 * "control" and an adapter's parameters, and "nvidia_ports", a list of the switch's ports with
 * theirs. Adds nothing to a node that does not have it.
 */
void ibcc_report_parameters(json_t *o, const struct ibcc_topo *t, const struct ibcc_vendor *v,
			    const struct ibcc_vendor_parameters *p, uint32_t endport);

/* Adds to an adapter's object "nvidia_notifications": the CNPs that it has handled, ignored and
 * sent in the last interval of its statistics, in all and for each GB of traffic by its port
 * counters of the same interval. Adds nothing if one of both was not read.
 */
void ibcc_report_notifications(json_t *o, const struct ibcc_vendor *v, uint32_t endport);

#endif
