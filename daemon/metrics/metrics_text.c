/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes the text of the metrics from their structs alone. On a large fabric it has some 100000
 * lines, so numbers are not written by printf().
 *
 * Format: Prometheus, "Text-based exposition format", version 0.0.4. Names in compat() are those of
 * T. Dockendorf, infiniband_exporter.
 */
#include "daemon/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

#include <ibcc/decision.h>
#include <ibcc/version.h>

#include "daemon/metrics/metrics_put.h"

#define NS_A_TIMER   1024u /* CCTI_Timer counts in units of 1.024 us */
#define MILLION      1000000ull
#define BYTES_A_MBPS 125000ull

static void head(struct ibcc_text *o, const char *name, const char *type, const char *help)
{
	const char *const part[] = {
		"# HELP ", name, " ", help, "\n# TYPE ", name, " ", type, "\n"
	};

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		ibcc_put(o, part[i]);
}

static void number(struct ibcc_text *o, const char *name, const char *type, const char *help,
		   uint64_t v)
{
	head(o, name, type, help);
	ibcc_put(o, name);
	ibcc_put(o, " ");
	ibcc_put_u64(o, v);
	ibcc_put(o, "\n");
}

#define GAUGE(o, name, help, v)   number(o, name, "gauge", help, v)
#define COUNTER(o, name, help, v) number(o, name, "counter", help, v)

/* name{label="word"} v */
static void one_of(struct ibcc_text *o, const char *name, const char *label, const char *word,
		   uint64_t v)
{
	const char *const part[] = { name, "{", label, "=\"", word, "\"} " };

	for (size_t i = 0; i < sizeof(part) / sizeof(part[0]); i++)
		ibcc_put(o, part[i]);
	ibcc_put_u64(o, v);
	ibcc_put(o, "\n");
}

/* One of several states is 1, the others are 0. */
static void states(struct ibcc_text *o, const char *name, const char *help, const char *const *all,
		   const char *is)
{
	head(o, name, "gauge", help);
	for (; *all; all++)
		one_of(o, name, "state", *all, is && !strcmp(*all, is));
}

/* name{guid="",port="" : the label set stays open. */
static void open_port(struct ibcc_text *o, const char *name, uint64_t guid, unsigned int num)
{
	ibcc_put(o, name);
	ibcc_put(o, "{guid=\"");
	ibcc_put_guid(o, guid);
	ibcc_put(o, "\",port=\"");
	ibcc_put_u64(o, num);
	ibcc_put(o, "\"");
}

static void node_label(struct ibcc_text *o, const char *label, const char *text)
{
	ibcc_put(o, ",");
	ibcc_put(o, label);
	ibcc_put(o, "=\"");
	ibcc_put_label(o, text);
	ibcc_put(o, "\"");
}

static void share_of(struct ibcc_text *o, const char *label, const char *word, uint64_t permille)
{
	ibcc_put(o, "ibcc_job_congestion_share{");
	ibcc_put(o, label);
	ibcc_put(o, "=\"");
	ibcc_put_label(o, word);
	ibcc_put(o, "\"} ");
	ibcc_put_parts(o, permille, 1000);
	ibcc_put(o, "\n");
}

static void blocked_of(struct ibcc_text *o, const char *label, const char *word, uint64_t n)
{
	ibcc_put(o, "ibcc_job_blocked_adapters{");
	ibcc_put(o, label);
	ibcc_put(o, "=\"");
	ibcc_put_label(o, word);
	ibcc_put(o, "\"} ");
	ibcc_put_u64(o, n);
	ibcc_put(o, "\n");
}

static void jobs(struct ibcc_text *o, const struct ibcc_metrics_jobs *j)
{
	if (!j->known)
		return;
	GAUGE(o, "ibcc_job_map_age_seconds", "Age of the map of jobs and hosts.", j->age_s);
	GAUGE(o, "ibcc_jobs_running", "Jobs that run, by this map.", j->running);
	GAUGE(o, "ibcc_job_hosts_unmatched", "Hosts of this map that match no adapter.",
	      j->unmatched);
	head(o, "ibcc_job_congestion_share", "gauge",
	     "Share of a job in the congestion: its largest share in one root, 0 to 1. Roots "
	     "whose contributors are not known do not count.");
	for (uint32_t i = 0; i < j->n; i++)
		share_of(o, "job", j->job[i].id, j->job[i].share_permille);
	share_of(o, "part", "other_jobs", j->others.share_permille);
	share_of(o, "part", "shared_hosts", j->shared_permille);
	share_of(o, "part", "no_job", j->nobody_permille);
	head(o, "ibcc_job_blocked_adapters", "gauge",
	     "Adapters of a job's hosts that are victims of any root, each counted once.");
	for (uint32_t i = 0; i < j->n; i++)
		blocked_of(o, "job", j->job[i].id, j->job[i].blocked);
	blocked_of(o, "part", "other_jobs", j->others.blocked);
}

static void service(struct ibcc_text *o, const struct ibcc_metrics_service *s)
{
	static const char *const sm[] = { "NOT-ACTIVE", "DISCOVERING", "STANDBY", "MASTER", NULL };

	GAUGE(o, "ibcc_mode_apply", "Whether the configuration has mode apply.", s->apply);
	GAUGE(o, "ibcc_paused", "Whether a daemon in mode apply writes nothing since a rollback.",
	      s->paused);
	GAUGE(o, "ibcc_state_file_ok", "Whether the state file can record changes.",
	      s->state_file_ok);
	GAUGE(o, "ibcc_fabric_whole", "Whether discovery of the fabric has no gaps.",
	      s->fabric_whole);
	head(o, "ibcc_owed_endports", "gauge",
	     "Endports at which a rollback or a disable is not complete yet.");
	one_of(o, "ibcc_owed_endports", "state", "present", s->owed_present);
	one_of(o, "ibcc_owed_endports", "state", "away", s->owed_away);
	one_of(o, "ibcc_owed_endports", "state", "overwritten", s->owed_overwritten);
	COUNTER(o, "ibcc_set_mads_total", "Set MADs sent, by the daemon or the plugin for it.",
		s->set_mads);
	jobs(o, &s->jobs);
	if (!s->via_plugin)
		return;
	GAUGE(o, "ibcc_plugin_connected", "Whether the OpenSM plugin is there and answers.",
	      s->plugin_connected);
	GAUGE(o, "ibcc_sm_own_congestion_control",
	      "Whether OpenSM's own congestion control manager is on, a second writer.", s->own_cc);
	states(o, "ibcc_sm_state", "State of the plugin's subnet manager.", sm, s->sm_state);
}

static void totals(struct ibcc_text *o, const struct ibcc_metrics_totals *t)
{
	static const char *const action[IBCC_METRICS_ACTIONS] = { "keep", "propose", "write",
								  "refuse" };

	COUNTER(o, "ibcc_passes_total", "Polling cycles.", t->passes);
	COUNTER(o, "ibcc_passes_fast_total", "Polling cycles that read only the ports that matter.",
		t->fast_passes);
	COUNTER(o, "ibcc_passes_failed_total",
		"Polling cycles that ended with an error and without a decision.",
		t->failed_passes);
	head(o, "ibcc_decisions_total", "counter",
	     "Decisions: nothing to change, changes proposed, written, or refused.");
	for (unsigned int i = 0; i < IBCC_METRICS_ACTIONS; i++)
		one_of(o, "ibcc_decisions_total", "action", action[i], t->decisions[i]);
	head(o, "ibcc_root_decisions_total", "counter",
	     "Decisions about single roots, by their codes: see ibcc-tune-json(7).");
	for (unsigned int i = 0; i < IBCC_DECISION_CODES; i++)
		one_of(o, "ibcc_root_decisions_total", "code",
		       ibcc_decision_name((enum ibcc_decision_code)i), t->codes[i]);
	head(o, "ibcc_writes_total", "counter",
	     "Attributes written, by the result of reading them back.");
	one_of(o, "ibcc_writes_total", "outcome", "verified", t->verified);
	one_of(o, "ibcc_writes_total", "outcome", "failed", t->unverified);
}

static void mads(struct ibcc_text *o, const struct ibcc_transport_stats *t)
{
	COUNTER(o, "ibcc_mads_sent_total", "MADs sent by the daemon, with retries.", t->sent);
	COUNTER(o, "ibcc_mads_retried_total", "MADs sent again because no answer came.",
		t->retried);
	COUNTER(o, "ibcc_mads_answered_total", "MADs answered.", t->answered);
	COUNTER(o, "ibcc_mads_refused_total", "MADs answered with an error.", t->refused);
	COUNTER(o, "ibcc_mads_timed_out_total", "MADs without an answer to any attempt.",
		t->timed_out);
}

static void fabric(struct ibcc_text *o, const struct ibcc_metrics *m)
{
	uint32_t switches = 0;

	for (uint32_t i = 0; i < m->n_nodes; i++)
		switches += m->node[i].is_switch;
	head(o, "ibcc_nodes", "gauge", "Nodes of the fabric.");
	one_of(o, "ibcc_nodes", "type", "switch", switches);
	one_of(o, "ibcc_nodes", "type", "ca", m->n_nodes - switches);
	head(o, "ibcc_ports", "gauge", "Ports by the result of their last reading.");
	one_of(o, "ibcc_ports", "state", "fresh", m->n_fresh);
	one_of(o, "ibcc_ports", "state", "stale", m->n_stale);
	one_of(o, "ibcc_ports", "state", "unreachable", m->n_unreachable);
	GAUGE(o, "ibcc_ports_unsure", "Ports with saturated counters, which are not usable.",
	      m->n_unsure);
	GAUGE(o, "ibcc_ports_fast", "Ports that are read more often than the others.", m->n_focus);
	GAUGE(o, "ibcc_endports", "Ports with a LID.", m->n_endports);
	COUNTER(o, "ibcc_passes_cut_total", "Polling cycles that ran into their deadline.",
		m->passes_cut);
	head(o, "ibcc_pass_duration_seconds", "gauge",
	     "Duration of the last reading of the counters.");
	ibcc_put(o, "ibcc_pass_duration_seconds ");
	ibcc_put_parts(o, m->pass_ns / 1000, MILLION);
	ibcc_put(o, "\n");
	GAUGE(o, "ibcc_writes_pending", "Planned changes that are not on the fabric.",
	      m->n_pending);
	GAUGE(o, "ibcc_drifted_settings", "Settings that differ from what the daemon wrote.",
	      m->n_drifted);
	GAUGE(o, "ibcc_unknown_origin_endports",
	      "Endports with congestion control on that the state file does not know.",
	      m->n_unknown);
	GAUGE(o, "ibcc_slow_links", "Links that run slower than both their ends can.",
	      m->n_slow_links);
	GAUGE(o, "ibcc_ports_with_link_errors",
	      "Ports whose error counters grew between the last two readings.", m->n_error_ports);
	GAUGE(o, "ibcc_tree_faulty_links",
	      "Slow links and ports with link errors on the path to a congestion root.",
	      m->n_tree_faults);
	GAUGE(o, "ibcc_held_back_endports", "Adapters that settings throttle at all times.",
	      m->n_held_back);
	GAUGE(o, "ibcc_held_below_endports",
	      "Adapters that marks can throttle more than the last decision allows.",
	      m->n_held_below);
}

static void node_info(struct ibcc_text *o, const struct ibcc_metrics *m)
{
	head(o, "ibcc_node_info", "gauge", "Name, type and LID of a node.");
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		const struct ibcc_metrics_node *n = &m->node[i];

		ibcc_put(o, "ibcc_node_info{guid=\"");
		ibcc_put_guid(o, n->guid);
		ibcc_put(o, "\"");
		node_label(o, "node", n->desc);
		ibcc_put(o, n->is_switch ? ",type=\"switch\",lid=\"" : ",type=\"ca\",lid=\"");
		ibcc_put_u64(o, n->lid);
		ibcc_put(o, "\"} 1\n");
	}
}

/* Factor of a counter. */
enum unit { COUNT, WORDS, TICKS };

static void put_counter(struct ibcc_text *o, const struct ibcc_metrics_port *p, enum ibcc_ctr c,
			enum unit unit)
{
	uint64_t v = p->v[c];

	ibcc_put(o, "} ");
	switch (unit) {
	case COUNT: ibcc_put_u64(o, v); break;
	case WORDS: ibcc_put_u64(o, 4 * v); break; /* words of 4 bytes; wraps around after 18 EB */
	case TICKS:
		ibcc_put_parts(o, v / MILLION * p->tick_ps + v % MILLION * p->tick_ps / MILLION,
			       MILLION);
	}
	ibcc_put(o, "\n");
}

/* Writes a counter of all ports that have it, or only of those at one type of node. */
static void counters(struct ibcc_text *o, const struct ibcc_metrics *m, const char *name,
		     const char *help, enum ibcc_ctr c, enum unit unit, int want_switch)
{
	head(o, name, "counter", help);
	for (uint32_t i = 0; i < m->n_ports; i++) {
		const struct ibcc_metrics_port *p = &m->port[i];
		const struct ibcc_metrics_node *n = &m->node[p->node];

		if (!p->width[c] || (unit == TICKS && !p->tick_ps) ||
		    (want_switch >= 0 && n->is_switch != want_switch))
			continue;
		open_port(o, name, n->guid, p->num);
		put_counter(o, p, c, unit);
	}
}

/* Writes an error counter of all ports for which it was read, or only of those at one type of node.
 */
static void errors(struct ibcc_text *o, const struct ibcc_metrics *m, const char *name,
		   const char *help, enum ibcc_link_error e, int want_switch)
{
	head(o, name, "counter", help);
	for (uint32_t i = 0; i < m->n_ports; i++) {
		const struct ibcc_metrics_port *p = &m->port[i];
		const struct ibcc_metrics_node *n = &m->node[p->node];

		if (!p->has_errors || (want_switch >= 0 && n->is_switch != want_switch))
			continue;
		open_port(o, name, n->guid, p->num);
		ibcc_put(o, "} ");
		ibcc_put_u64(o, p->errors[e]);
		ibcc_put(o, "\n");
	}
}

/* Names of each error counter: ours, and infiniband_exporter's for adapters and for switches. */
static const struct {
	const char *name, *compat[2];
} error_names[IBCC_LINK_ERRORS] = {
	[IBCC_LINK_ERROR_SYMBOL] = { "ibcc_port_symbol_error_total",
				     { "infiniband_hca_port_symbol_error_total",
				       "infiniband_switch_port_symbol_error_total" } },
	[IBCC_LINK_ERROR_RECOVERY] = { "ibcc_port_link_error_recovery_total",
				       { "infiniband_hca_port_link_error_recovery_total",
					 "infiniband_switch_port_link_error_recovery_total" } },
	[IBCC_LINK_ERROR_DOWNED] = { "ibcc_port_link_downed_total",
				     { "infiniband_hca_port_link_downed_total",
				       "infiniband_switch_port_link_downed_total" } },
	[IBCC_LINK_ERROR_RCV] = { "ibcc_port_receive_errors_total",
				  { "infiniband_hca_port_receive_errors_total",
				    "infiniband_switch_port_receive_errors_total" } },
	[IBCC_LINK_ERROR_RCV_REMOTE] = { "ibcc_port_receive_remote_physical_errors_total",
					 { "infiniband_hca_port_receive_remote_physical_errors_"
					   "total",
					   "infiniband_switch_port_receive_remote_physical_errors_"
					   "total" } },
	[IBCC_LINK_ERROR_RCV_RELAY] = { "ibcc_port_receive_switch_relay_errors_total",
					{ "infiniband_hca_port_receive_switch_relay_errors_total",
					  "infiniband_switch_port_receive_switch_relay_errors_"
					  "total" } },
	[IBCC_LINK_ERROR_DISCARDS] = { "ibcc_port_transmit_discards_total",
				       { "infiniband_hca_port_transmit_discards_total",
					 "infiniband_switch_port_transmit_discards_total" } },
	[IBCC_LINK_ERROR_XMIT_CONSTRAINT] = { "ibcc_port_transmit_constraint_errors_total",
					      { "infiniband_hca_port_transmit_constraint_errors_"
						"total",
						"infiniband_switch_port_transmit_constraint_errors_"
						"total" } },
	[IBCC_LINK_ERROR_RCV_CONSTRAINT] = { "ibcc_port_receive_constraint_errors_total",
					     { "infiniband_hca_port_receive_constraint_errors_"
					       "total",
					       "infiniband_switch_port_receive_constraint_errors_"
					       "total" } },
	[IBCC_LINK_ERROR_INTEGRITY] = { "ibcc_port_local_link_integrity_errors_total",
					{ "infiniband_hca_port_local_link_integrity_errors_total",
					  "infiniband_switch_port_local_link_integrity_errors_"
					  "total" } },
	[IBCC_LINK_ERROR_OVERRUN] = { "ibcc_port_excessive_buffer_overrun_errors_total",
				      { "infiniband_hca_port_excessive_buffer_overrun_errors_total",
					"infiniband_switch_port_excessive_buffer_overrun_errors_"
					"total" } },
	[IBCC_LINK_ERROR_VL15] = { "ibcc_port_vl15_dropped_total",
				   { "infiniband_hca_port_vl15_dropped_total",
				     "infiniband_switch_port_vl15_dropped_total" } },
};

static void ports(struct ibcc_text *o, const struct ibcc_metrics *m)
{
	counters(o, m, "ibcc_port_transmit_data_bytes_total", "PortXmitData, in bytes.",
		 IBCC_CTR_XMIT_DATA, WORDS, -1);
	counters(o, m, "ibcc_port_receive_data_bytes_total", "PortRcvData, in bytes.",
		 IBCC_CTR_RCV_DATA, WORDS, -1);
	counters(o, m, "ibcc_port_transmit_packets_total", "PortXmitPkts.", IBCC_CTR_XMIT_PKTS,
		 COUNT, -1);
	counters(o, m, "ibcc_port_receive_packets_total", "PortRcvPkts.", IBCC_CTR_RCV_PKTS, COUNT,
		 -1);
	counters(o, m, "ibcc_port_transmit_wait_seconds_total",
		 "PortXmitWait: time with data to send and none sent.", IBCC_CTR_XMIT_WAIT, TICKS,
		 -1);
	counters(o, m, "ibcc_port_fecn_marked_total", "PktRcvFECN: marked packets received.",
		 IBCC_CTR_RCV_FECN, COUNT, -1);
	counters(o, m, "ibcc_port_becn_received_total",
		 "PktRcvBECN: notifications received, each of which asks to send less.",
		 IBCC_CTR_RCV_BECN, COUNT, -1);
	for (unsigned int e = 0; e < IBCC_LINK_ERRORS; e++)
		errors(o, m, error_names[e].name, ibcc_link_error_name((enum ibcc_link_error)e),
		       (enum ibcc_link_error)e, -1);
	head(o, "ibcc_port_rate_bytes_per_second", "gauge", "Data rate of the link.");
	for (uint32_t i = 0; i < m->n_ports; i++) {
		const struct ibcc_metrics_port *p = &m->port[i];

		open_port(o, "ibcc_port_rate_bytes_per_second", m->node[p->node].guid, p->num);
		ibcc_put(o, "} ");
		ibcc_put_u64(o, p->rate_mbps * BYTES_A_MBPS);
		ibcc_put(o, "\n");
	}
}

static void settings(struct ibcc_text *o, const struct ibcc_metrics *m)
{
	static const struct {
		const char *name, *help;
	} of[] = {
		{ "ibcc_port_ccti_timer_seconds",
		  "CCTI_Timer of an adapter that reacts to marks." },
		{ "ibcc_port_ccti_increase", "CCTI_Increase of an adapter that reacts to marks." },
		{ "ibcc_port_ccti_limit", "CCTI_Limit: where the adapter's table ends." },
	};

	head(o, "ibcc_port_marking_threshold", "gauge",
	     "Threshold of a switch port that marks, 1 (late) to 15 (early).");
	for (uint32_t i = 0; i < m->n_ports; i++) {
		const struct ibcc_metrics_port *p = &m->port[i];

		if (!p->threshold)
			continue;
		open_port(o, "ibcc_port_marking_threshold", m->node[p->node].guid, p->num);
		ibcc_put(o, "} ");
		ibcc_put_u64(o, p->threshold);
		ibcc_put(o, "\n");
	}
	for (unsigned int k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		head(o, of[k].name, "gauge", of[k].help);
		for (uint32_t i = 0; i < m->n_holds; i++) {
			const struct ibcc_metrics_hold *h = &m->hold[i];

			open_port(o, of[k].name, m->node[h->node].guid, h->num);
			ibcc_put(o, "} ");
			if (k)
				ibcc_put_u64(o, k == 1 ? h->increase : h->limit);
			else
				ibcc_put_parts(o, (uint64_t)h->timer * NS_A_TIMER, 1000 * MILLION);
			ibcc_put(o, "\n");
		}
	}
}

/* Writes the k-th number of a root. */
static void put_of_root(struct ibcc_text *o, const struct ibcc_metrics_root *r, unsigned int k)
{
	switch (k) {
	case 0: ibcc_put_u64(o, r->rate_mbps * BYTES_A_MBPS); break;
	case 1: ibcc_put_u64(o, r->link_mbps * BYTES_A_MBPS); break;
	case 2: ibcc_put_parts(o, r->wait_permille, 1000); break;
	case 3: ibcc_put_u64(o, r->n_contributors); break;
	case 4: ibcc_put_u64(o, r->n_victims); break;
	}
}

static void roots(struct ibcc_text *o, const struct ibcc_metrics *m)
{
	static const struct {
		const char *name, *help;
	} of[] = {
		{ "ibcc_root_rate_bytes_per_second", "Data that a congestion root sends." },
		{ "ibcc_root_link_bytes_per_second", "Data that the root's link could carry." },
		{ "ibcc_root_wait_ratio",
		  "Share of the time in which the root itself is blocked." },
		{ "ibcc_root_contributors", "Adapters that cause the congestion." },
		{ "ibcc_root_victims", "Adapters that suffer from the congestion." },
	};

	GAUGE(o, "ibcc_roots", "Ports where congestion starts.", m->n_roots);
	for (unsigned int k = 0; k < sizeof(of) / sizeof(of[0]); k++) {
		head(o, of[k].name, "gauge", of[k].help);
		for (uint32_t i = 0; i < m->n_roots; i++) {
			const struct ibcc_metrics_root *r = &m->root[i];

			open_port(o, of[k].name, m->node[r->node].guid, r->num);
			node_label(o, "node", m->node[r->node].desc);
			ibcc_put(o, r->is_input ? ",kind=\"input\"} " : ",kind=\"output\"} ");
			put_of_root(o, r, k);
			ibcc_put(o, "\n");
		}
	}
}

static void state_of(struct ibcc_text *o, const struct ibcc_metrics *m,
		     const struct ibcc_metrics_followed *r, const char *name, const char *label,
		     const char *word, bool is)
{
	open_port(o, name, m->node[r->node].guid, r->num);
	node_label(o, "node", m->node[r->node].desc);
	node_label(o, label, word);
	ibcc_put(o, is ? "} 1\n" : "} 0\n");
}

/* For each root, one of the words is 1 and the others are 0. */
static void root_states(struct ibcc_text *o, const struct ibcc_metrics *m)
{
	head(o, "ibcc_root_phase", "gauge",
	     "Phase of the control of a root: see ibcc-tune-json(7).");
	for (uint32_t i = 0; i < m->n_followed; i++)
		for (unsigned int k = 0; m->followed[i].has_phase && k < IBCC_PHASES; k++)
			state_of(o, m, &m->followed[i], "ibcc_root_phase", "phase",
				 ibcc_phase_name((enum ibcc_phase)k), k == m->followed[i].in_phase);
	head(o, "ibcc_root_status", "gauge",
	     "Why a root is acted on, or is not: see ibcc-tune-json(7).");
	for (uint32_t i = 0; i < m->n_followed; i++)
		for (unsigned int k = 0; k < IBCC_STATUSES; k++)
			state_of(o, m, &m->followed[i], "ibcc_root_status", "status",
				 ibcc_root_status_name((enum ibcc_root_status)k),
				 k == m->followed[i].status);
}

static void compat_info(struct ibcc_text *o, const struct ibcc_metrics *m, bool sw)
{
	const char *name = sw ? "infiniband_switch_info" : "infiniband_hca_info";
	const char *uplink = sw ? "infiniband_switch_uplink_info" : "infiniband_hca_uplink_info";
	const char *label = sw ? "switch" : "hca";

	head(o, name, "gauge", "Infiniband node information");
	for (uint32_t i = 0; i < m->n_nodes; i++) {
		if (m->node[i].is_switch != sw)
			continue;
		ibcc_put(o, name);
		ibcc_put(o, "{guid=\"");
		ibcc_put_guid(o, m->node[i].guid);
		ibcc_put(o, "\"");
		node_label(o, label, m->node[i].desc);
		ibcc_put(o, ",lid=\"");
		ibcc_put_u64(o, m->node[i].lid);
		ibcc_put(o, "\"} 1\n");
	}
	head(o, uplink, "gauge", "Infiniband uplink information");
	for (uint32_t i = 0; i < m->n_ports; i++) {
		const struct ibcc_metrics_port *p = &m->port[i];
		const struct ibcc_metrics_node *peer = &m->node[p->peer_node];

		if (m->node[p->node].is_switch != sw)
			continue;
		open_port(o, uplink, m->node[p->node].guid, p->num);
		node_label(o, label, m->node[p->node].desc);
		node_label(o, "uplink", peer->desc);
		ibcc_put(o, ",uplink_guid=\"");
		ibcc_put_guid(o, peer->guid);
		ibcc_put(o, peer->is_switch ? "\",uplink_type=\"SW\",uplink_port=\""
					    : "\",uplink_type=\"CA\",uplink_port=\"");
		ibcc_put_u64(o, p->peer_num);
		ibcc_put(o, "\",uplink_lid=\"");
		ibcc_put_u64(o, p->peer_lid);
		ibcc_put(o, "\"} 1\n");
	}
}

static void compat(struct ibcc_text *o, const struct ibcc_metrics *m)
{
	static const struct {
		const char *name[2], *help; /* names for adapters, for switches */
		enum ibcc_ctr ctr;
		enum unit unit;
	} of[] = {
		{ { "infiniband_hca_port_transmit_data_bytes_total",
		    "infiniband_switch_port_transmit_data_bytes_total" },
		  "Infiniband port PortXmitData",
		  IBCC_CTR_XMIT_DATA,
		  WORDS },
		{ { "infiniband_hca_port_receive_data_bytes_total",
		    "infiniband_switch_port_receive_data_bytes_total" },
		  "Infiniband port PortRcvData",
		  IBCC_CTR_RCV_DATA,
		  WORDS },
		{ { "infiniband_hca_port_transmit_packets_total",
		    "infiniband_switch_port_transmit_packets_total" },
		  "Infiniband port PortXmitPkts",
		  IBCC_CTR_XMIT_PKTS,
		  COUNT },
		{ { "infiniband_hca_port_receive_packets_total",
		    "infiniband_switch_port_receive_packets_total" },
		  "Infiniband port PortRcvPkts",
		  IBCC_CTR_RCV_PKTS,
		  COUNT },
		{ { "infiniband_hca_port_transmit_wait_total",
		    "infiniband_switch_port_transmit_wait_total" },
		  "Infiniband port PortXmitWait",
		  IBCC_CTR_XMIT_WAIT,
		  COUNT },
	};

	for (int sw = 0; sw < 2; sw++) {
		compat_info(o, m, sw);
		for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
			counters(o, m, of[i].name[sw], of[i].help, of[i].ctr, of[i].unit, sw);
		for (unsigned int e = 0; e < IBCC_LINK_ERRORS; e++)
			errors(o, m, error_names[e].compat[sw],
			       ibcc_link_error_name((enum ibcc_link_error)e),
			       (enum ibcc_link_error)e, sw);
	}
}

static void loop(struct ibcc_text *o, const struct ibcc_metrics_now *now)
{
	static const char *const all[] = { "starting", "ok", "degraded", "stalled", NULL };

	head(o, "ibcc_build_info", "gauge", "Version of the daemon.");
	one_of(o, "ibcc_build_info", "version", IBCC_VERSION, 1);
	states(o, "ibcc_state", "State of the daemon, as /healthz and ibcc-tune status have it.",
	       all, now->state);
	GAUGE(o, "ibcc_config_last_reload_successful",
	      "Whether the last reload of the configuration succeeded.", now->last_reload_ok);
	GAUGE(o, "ibcc_last_pass_timestamp_seconds", "When a polling cycle last succeeded.",
	      (uint64_t)now->last_pass_s);
	if (now->on_trial)
		GAUGE(o, "ibcc_trial_seconds_left",
		      "Time that is left to confirm the change on trial.", now->trial_s);
	if (now->elects)
		GAUGE(o, "ibcc_leader", "Whether this daemon was elected to write.", now->leads);
}

char *ibcc_metrics_text(const struct ibcc_metrics *m, const struct ibcc_metrics_now *now,
			size_t *len)
{
	struct ibcc_text o = { 0 };

	loop(&o, now);
	if (m) {
		service(&o, &m->service);
		totals(&o, &m->totals);
		mads(&o, &m->mads);
	}
	if (m && m->has_fabric) {
		fabric(&o, m);
		roots(&o, m);
		root_states(&o, m);
		settings(&o, m);
		node_info(&o, m);
		ports(&o, m);
		if (now->compat)
			compat(&o, m);
	}
	*len = o.n;
	if (!o.failed)
		return o.text;
	free(o.text);
	return NULL;
}
