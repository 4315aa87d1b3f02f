/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Data for a monitoring system: a copy of the last polling cycle's results, and its text in the
 * Prometheus text exposition format, version 0.0.4. A scrape costs no MAD.
 */
#ifndef IBCC_METRICS_H
#define IBCC_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/cycle.h>

/* Result of a polling cycle. */
enum ibcc_metrics_action {
	IBCC_METRICS_KEEP,    /* all settings are as wanted */
	IBCC_METRICS_PROPOSE, /* there are changes, but no order to write them */
	IBCC_METRICS_WRITE,   /* written and verified */
	IBCC_METRICS_REFUSE,  /* not tried, or not fully verified: ibcc_cycle:blocked */
	IBCC_METRICS_ACTIONS,
};

/* Counts since the start of the daemon. */
struct ibcc_metrics_totals {
	uint64_t passes, fast_passes, failed_passes;
	uint64_t decisions[IBCC_METRICS_ACTIONS], codes[IBCC_DECISION_CODES];
	uint64_t verified, unverified; /* writes */
};

/* What the cycle does not know: the state of the service around it. */
/* A job of the batch system, over all roots of the last polling cycle. */
struct ibcc_metrics_job {
	char id[64];
	uint64_t share_permille; /* its largest share in one root, by hosts of its own */
	uint32_t blocked;        /* adapters of its hosts that are victims, each once */
};

/* The jobs with the largest shares, and all others as one: so there is a limit to the number of
 * time series. There are no names of users or jobs.
 */
#define IBCC_METRICS_JOBS 10u
struct ibcc_metrics_jobs {
	bool known; /* there is a map of jobs that is used */
	uint32_t n, running, unmatched;
	uint64_t age_s;
	struct ibcc_metrics_job job[IBCC_METRICS_JOBS], others;
	uint64_t shared_permille, nobody_permille;
};

struct ibcc_metrics_service {
	struct ibcc_metrics_jobs jobs;
	bool apply, paused;
	bool via_plugin;       /* a plugin is expected */
	bool plugin_connected; /* it answers */
	const char *sm_state;  /* state of its subnet manager, a constant; NULL: unknown */
	bool own_cc;           /* OpenSM's own congestion control manager is on */
	bool state_file_ok;
	bool fabric_whole; /* the last discovery had no gaps */
	/* Endports at which a rollback or a disable is still to be done: of nodes that are on the
	 * fabric, of nodes that are away or share their GUID, and of nodes that another program
	 * has written since.
	 */
	uint32_t owed_present, owed_away, owed_overwritten;
	uint64_t set_mads;
};

struct ibcc_metrics_node {
	uint64_t guid;
	uint16_t lid; /* LID of the node's first endport; 0: none */
	bool is_switch;
	char desc[IBCC_DESC_BYTES];
};

/* A port with a link. */
struct ibcc_metrics_port {
	uint32_t node, peer_node; /* indices */
	uint16_t peer_lid;
	uint8_t num, peer_num;
	uint8_t threshold; /* the port marks packets at this threshold; 0: it does not */
	uint32_t rate_mbps;
	uint64_t tick_ps;
	uint8_t width[IBCC_CTR_COUNT]; /* as in struct ibcc_counters; all 0: never read */
	uint64_t v[IBCC_CTR_COUNT];
	bool has_errors; /* its error counters were read */
	uint16_t errors[IBCC_LINK_ERRORS];
};

/* An adapter's port that reacts to marks. */
struct ibcc_metrics_hold {
	uint32_t node;
	uint8_t num, increase; /* increase: the largest of the service levels */
	uint16_t timer;        /* the largest of the service levels */
	uint16_t limit;        /* CCTI_Limit */
};

struct ibcc_metrics_root {
	uint32_t node;
	uint8_t num;
	bool is_input; /* a full link; false: a slow receiver */
	uint16_t wait_permille;
	uint32_t rate_mbps, link_mbps, n_contributors, n_victims;
};

/* A root that the tuner follows, even if it is not congested now, or that has a reason not to be
 * followed.
 */
struct ibcc_metrics_followed {
	uint32_t node;
	uint8_t num;
	bool has_phase; /* the tuner follows it, with this phase */
	enum ibcc_phase in_phase;
	enum ibcc_root_status status;
};

struct ibcc_metrics {
	struct ibcc_metrics_service service;
	struct ibcc_metrics_totals totals;
	struct ibcc_transport_stats mads; /* `node` is NULL */
	bool has_fabric;                  /* the members below are set */
	bool decided;
	uint32_t n_endports, n_fresh, n_stale, n_unreachable, n_unsure;
	uint32_t n_focus;   /* ports that are read more often than the rest */
	uint32_t n_pending; /* writes of the plan that are not on the fabric yet */
	uint32_t n_drifted, n_unknown, n_held_back, n_held_below;
	uint32_t n_slow_links, n_error_ports;
	uint32_t n_tree_faults; /* of both, those on the tree of a congestion root */
	uint64_t passes_cut, pass_ns;
	uint32_t n_nodes, n_ports, n_holds, n_roots, n_followed;
	struct ibcc_metrics_node *node; /* all owned from here on */
	struct ibcc_metrics_port *port;
	struct ibcc_metrics_hold *hold;
	struct ibcc_metrics_root *root;
	struct ibcc_metrics_followed *followed;
};

/* State of the event loop at the time of a scrape. */
struct ibcc_metrics_now {
	const char *state; /* "starting", "ok", "degraded" or "stalled" */
	bool last_reload_ok;
	int64_t last_pass_s; /* Unix time of the last successful polling cycle; 0: none */
	bool compat;         /* also write counters under infiniband_exporter's names */
	bool on_trial;       /* a transaction is on trial */
	uint64_t trial_s; /* seconds in which it can still be confirmed; 0: it is being reverted */
	bool elects;      /* daemons elect the one that writes */
	bool leads;       /* this daemon leads */
};

/* Counts a polling cycle that returned `err`; `c` may be NULL. */
void ibcc_metrics_count(struct ibcc_metrics_totals *t, const struct ibcc_cycle *c, int err);

/* Copies the data; `c` is NULL if there is no fabric. NULL without memory. */
struct ibcc_metrics *ibcc_metrics_new(const struct ibcc_cycle *c,
				      const struct ibcc_metrics_service *service,
				      const struct ibcc_metrics_totals *totals);
void ibcc_metrics_free(struct ibcc_metrics *m);

/* Makes the text, *len bytes, which the caller frees. `m` may be NULL before the first polling
 * cycle has ended. NULL without memory.
 */
char *ibcc_metrics_text(const struct ibcc_metrics *m, const struct ibcc_metrics_now *now,
			size_t *len);

#endif
