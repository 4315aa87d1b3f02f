/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One polling cycle of the tuner: collect, judge which counters to believe, estimate, tune, plan,
 * apply. This is the only file that knows all stages.
 *
 * The cycle runs unchanged in the daemon, in a dry run of the command line, and on virtual time
 * over the in-process engine: nothing in it waits, reads a clock or logs.
 */
#ifndef IBCC_CYCLE_H
#define IBCC_CYCLE_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/applier.h>
#include <ibcc/audit.h>
#include <ibcc/collect.h>
#include <ibcc/control.h>
#include <ibcc/estimate.h>
#include <ibcc/faults.h>
#include <ibcc/focus.h>
#include <ibcc/ledger.h>
#include <ibcc/plan.h>
#include <ibcc/precheck.h>
#include <ibcc/proof.h>
#include <ibcc/rollout.h>
#include <ibcc/settings.h>
#include <ibcc/snapshot.h>
#include <ibcc/transport.h>
#include <ibcc/tuner.h>
#include <ibcc/vendor.h>
#include <ibcc/why.h>

struct ibcc_state; /* the state file */

/* Why a fabric must not be written to. */
enum ibcc_refused {
	IBCC_REFUSED_NOT,
	IBCC_REFUSED_VENDOR, /* NVIDIA's own congestion control is at work */
	IBCC_REFUSED_ROUTES, /* packets need not go by the forwarding tables */
};

struct ibcc_cycle_options {
	/* See ibcc_collector_set_deadline(); reading all settings has ten of it. What was not read
	 * by then is asked for again, in each of the following passes for as long as one.
	 */
	uint64_t pass_deadline_ns;
	uint64_t cc_key;
	bool clear_counters; /* see ibcc_collector_clear_full(); when something may be written */
	bool trust_lft;      /* tune where packets need not go by the forwarding tables, too */
	/* Marking profiles of NVIDIA's congestion control are read where that control is at work,
	 * and may be written unless ibcc_cycle:veto says why not.
	 */
	bool profiles;
	bool canary;              /* a plan for many nodes is begun with a few: <ibcc/rollout.h> */
	uint32_t focus_nodes;     /* most nodes whose ports get fast passes; 0: there are none */
	uint16_t readback_passes; /* all settings are read again after this many passes; 0: 60 */
	struct ibcc_estimator_params estimator;
	struct ibcc_tuner_params tuner;
	uint64_t (*cpu_ns)(void); /* the thread's CPU time; NULL: not measured */
};

/* How the plan of a turn is to be carried out. */
struct ibcc_act {
	struct ibcc_applier *applier;
	bool fast; /* read the focus alone, if there is one: ibcc_cycle_has_focus() */
	struct ibcc_state *state; /* NULL: nothing is stored, and nothing compared with it */
	const char *bookless;     /* why nothing can be stored: then things are taken off only */
	bool repair;              /* write again what is not as we left it */
	bool overrule;            /* a user allowed overwriting what others changed */
	const char *who, *action; /* see struct ibcc_txn */
	enum ibcc_precheck gate;
	bool all_or_nothing;
	uint32_t confirm_s; /* see struct ibcc_txn */
	/* A user requested a plan that is carried out in steps. This is the first step, or a
	 * further one of this transaction. `within` (by endport; NULL: no limit): nothing is
	 * written elsewhere.
	 */
	bool refines;
	int64_t extends;
	const bool *within;
};

struct ibcc_cycle {
	struct ibcc_cycle_options options;
	struct ibcc_transport *transport; /* borrowed */
	struct ibcc_topo *topo;           /* owned; NULL before ibcc_cycle_set_topology() */
	struct ibcc_why credit_loop;      /* of this topology; see ibcc_faults_find_loop() */
	struct ibcc_collector *collector;
	struct ibcc_estimator *estimator;
	struct ibcc_tuner *tuner;
	struct ibcc_snapshot snapshot;
	struct ibcc_focus focus; /* what the next fast pass reads */
	struct ibcc_settings actual;
	bool actual_known;
	uint16_t actual_age;                /* passes since the settings were read */
	uint16_t missing_age, missing_wait; /* passes, for endports that did not answer */
	struct ibcc_vendor vendor;          /* what nodes have beside the annex's control */
	/* With options.profiles, set by the caller before each turn: why no profile may be written,
	 * and what could not be checked about that. Empty: there is no such reason.
	 */
	struct ibcc_why veto, unchecked;
	bool fast;                   /* this turn read the focus alone */
	bool read;                   /* settings were read in this turn, all or ours */
	uint32_t n_unread;           /* ports without a reading in the turn before */
	struct ibcc_ledger ledger;   /* the owner of each endport's settings */
	struct ibcc_control resume;  /* roots of an earlier tuner, to be taken over; */
	bool resume_read;            /* `resume` has been read from the state file */
	uint16_t resume_passes;      /* passes that have tried to take `resume` over */
	struct ibcc_rollout rollout; /* how far roots have their settings */
	struct ibcc_audit audit;     /* when settings were read last */
	bool audited;                /* in this turn */
	/* The plan of this cycle that repaired the drift, or put back settings that had no effect.
	 */
	struct ibcc_plan repaired;
	struct ibcc_result repair; /* what became of `repaired` */
	bool mended;               /* this cycle repaired the drift that `drifted` describes */
	struct ibcc_why drifted;   /* what had drifted, if `mended` */
	/* Readings of the counters: the last, the longest, how many came to their deadline. */
	uint64_t pass_ns, longest_pass_ns, n_passes_cut;
	uint64_t mad_ns; /* what a MAD of a pass took lately, with others in flight; 0: unknown */
	/* of the last turn: */
	bool decided;       /* estimate, target and plan are there */
	uint64_t decide_ns; /* CPU time that they took, by the options' clock */
	struct ibcc_estimate estimate;
	/* The estimate to decide by. Roots are not seen in it if their packets need not follow the
	 * forwarding tables. It owns only its array of roots.
	 */
	struct ibcc_estimate proved;
	struct ibcc_unproved unproved; /* those */
	struct ibcc_target target;
	struct ibcc_plan plan;
	/* The plan's texts for struct ibcc_txn; NULL: nothing is stored. */
	char *control, *nodes, *summary, *decisions;
	uint32_t n_controlled;     /* roots in `control` */
	bool acted;                /* result is there */
	int act_err;               /* 0, or why the plan did not take effect altogether */
	struct ibcc_result result; /* by the plan's index */
	struct ibcc_why blocked;   /* words for act_err */
	enum ibcc_refused refused; /* see ibcc_refusal_find() */
	/* A rollback could not reach all nodes yet. `skipped` names those that it could not reach.
	 */
	bool skips;
	struct ibcc_why skipped;
};

/* -ENOMEM. ibcc_cycle_fini() accepts a half built one. */
int ibcc_cycle_init(struct ibcc_cycle *c, const struct ibcc_cycle_options *o,
		    struct ibcc_transport *transport);
void ibcc_cycle_fini(struct ibcc_cycle *c);

/* Goes over to a topology, which it owns from then on (also on failure). One that differs from the
 * old only in its generation keeps everything learned; else readings of ports that stay are kept
 * and the rest is learned again. -ENOMEM leaves the old topology in place.
 */
int ibcc_cycle_set_topology(struct ibcc_cycle *c, struct ibcc_topo *topo);

/* New limits of the estimator and the tuner; the tuner forgets what it knew. -ENOMEM. */
int ibcc_cycle_retune(struct ibcc_cycle *c, const struct ibcc_estimator_params *e,
		      const struct ibcc_tuner_params *t);

/* Makes the tuner forget what it knew; a roll-out under way is over. The next decision reads from
 * the state file which settings on the fabric are ours, and the tuner goes on with their roots.
 */
void ibcc_cycle_forget(struct ibcc_cycle *c);

/* Writes of the plan that are not on the fabric, and nodes that wait for the first ones' effect. */
uint32_t ibcc_cycle_pending(const struct ibcc_cycle *c);

/* What the tuner controls now, and what it still is to take over. *out is initialised by the call,
 * freed by ibcc_control_fini(). -ENOMEM.
 */
int ibcc_cycle_control(const struct ibcc_cycle *c, struct ibcc_control *out);

/* For struct ibcc_txn: the text of a control, and one of the endports that are its or a plan's;
 * both the caller's. -ENOMEM, and both are NULL.
 */
int ibcc_cycle_texts(const struct ibcc_plan *plan, const struct ibcc_control *control, char **text,
		     char **nodes);

/* Sets within[endport] for those of such a text that are there. -EINVAL: it is none. */
int ibcc_cycle_read_nodes(const struct ibcc_topo *t, const char *nodes, bool *within);

/* What the last turn decided, or why it only observes, as a sentence for people, "" if it decided
 * nothing: the caller's. NULL without memory.
 */
char *ibcc_cycle_words(const struct ibcc_cycle *c);

/* What is wrong with the fabric, see ibcc_words_verdict(): the caller's. NULL without memory. */
char *ibcc_cycle_verdict(const struct ibcc_cycle *c);

/* Whether a fast turn may come before the next one that reads all: something is worth it, and all
 * settings are known, as only the others read settings.
 */
bool ibcc_cycle_has_focus(const struct ibcc_cycle *c);

/* Reads all settings from the fabric, now. Returns as ibcc_readback_run(). */
int ibcc_cycle_readback(struct ibcc_cycle *c, struct ibcc_why *why);
/* Reads the parameters of NVIDIA's congestion control (ibcc_vendor_ask_parameters()) by the same
 * deadline.
 */
int ibcc_cycle_read_parameters(struct ibcc_cycle *c, const bool *which,
			       struct ibcc_vendor_parameters *p);

/* One turn. With an applier that writes, counters of 32 bits are cleared before they stop at their
 * end. Returns 0 when it came to a decision or had nothing to decide yet (first pass); what became
 * of the plan is in act_err and result. -EIO: the transport is gone; -ENOMEM; -ENOENT: no topology.
 */
int ibcc_cycle_run(struct ibcc_cycle *c, const struct ibcc_act *act, struct ibcc_why *why);

#endif
