/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the service, shared by its files. */
#ifndef IBCC_DAEMON_SERVICE_IMPL_H
#define IBCC_DAEMON_SERVICE_IMPL_H

#include <pthread.h>
#include <stdatomic.h>

#include <ibcc/election.h>
#include <ibcc/execute.h>
#include <ibcc/keyring.h>
#include <ibcc/state.h>

#include "daemon/predict/predictor.h"
#include "daemon/service/discovery.h"
#include "daemon/service/mad_rate.h"
#include "daemon/service/rediscovery.h"
#include "daemon/service/repairs.h"
#include "daemon/service/service.h"

enum ibcc_topo_source {
	IBCC_TOPO_FROM_NOWHERE,
	IBCC_TOPO_FROM_PLUGIN,
	IBCC_TOPO_FROM_DISCOVERY,
};

/* The transaction on trial. */
struct ibcc_service_trial {
	int64_t txn;     /* 0: none */
	uint64_t due_ns; /* when it is to be taken back, or to be tried again; CLOCK_MONOTONIC */
	uint32_t within_s, retry_s;
	bool is_over;         /* it is being taken back; else it may still be confirmed */
	struct ibcc_why over; /* why it is */
};

/* What was measured, and which transactions wait for their effect. */
struct ibcc_service_effect {
	int64_t newest, first; /* transactions first..newest wait; 0: none does */
	unsigned int passes;   /* since they were written */
	bool measured;
	struct ibcc_state_sample pass, last; /* of the last pass, and of the last two */
	struct ibcc_state_sample peak;       /* of this minute */
	int64_t sampled_s;                   /* when the series got something last; 0: is to */
};

enum ibcc_refine_stage {
	IBCC_REFINE_NONE,
	IBCC_REFINE_UNDER_WAY,
	IBCC_REFINE_SETTLED,
	IBCC_REFINE_ENDED, /* before it had settled */
};

/* The last apply that somebody asked for; see service_refine.c. */
struct ibcc_service_refinement {
	enum ibcc_refine_stage stage;
	int64_t txn;
	char *nodes;     /* where it may write, as the state file has it; owned; NULL: it is over */
	uint32_t passes; /* since it began, or since the daemon's start */
	uint32_t steps, writes;
	bool has_roots;
	struct ibcc_why text; /* what was decided last, or why it ended */
	uint64_t key;         /* of what was decided last, and how often that was news */
	uint32_t news;
	bool is_news; /* that it is over, and nobody has been told */
};

/* See service_debt.c. */
struct ibcc_service_debts {
	struct ibcc_debts list;   /* as the state file has them */
	uint64_t generation;      /* of the topology at the last look */
	uint16_t wait, next_wait; /* passes until the next try, and between those after it */
	struct ibcc_why why;      /* why the last one failed; empty: it did not */
	struct ibcc_why news;     /* what was done, and nobody has been told */
};

struct ibcc_service {
	struct ibcc_config config;
	uint64_t cc_key; /* what we work with: the keyring's mark where there is one */
	uint64_t default_key;
	struct ibcc_keyring *keyring; /* NULL: all nodes have the default key */
	bool keys_read;               /* it has been, once */
	struct ibcc_why keys_trouble; /* of the files; empty: none */
	pthread_mutex_t lock; /* of `transport` and `plugin` against ibcc_service_cancel() */
	atomic_bool canceled;
	struct ibcc_transport *transport; /* NULL: not open */
	struct ibcc_transport *umad;      /* the port itself, in it; borrowed */
	struct ibcc_plugin *plugin;
	bool plugin_there;            /* when it was last asked, */
	struct ibcc_why plugin_why;   /* and why it was not */
	bool plugin_silent;           /* it is, or was, but its OpenSM does not answer */
	_Atomic(const char *) stage;  /* of the call under way; see ibcc_service_stage() */
	struct ibcc_applier *applier; /* the one that writes; made with the transport */
	struct ibcc_applier *null_applier;
	struct ibcc_state *state;
	struct ibcc_cycle cycle; /* initialised while there is a transport */
	enum ibcc_topo_source source;
	bool names_due; /* the node name map may be another one than the topology has names of */
	struct ibcc_discovery discovery; /* the last one, where it was made by discovery */
	struct ibcc_rediscovery again;   /* ... and when there is to be another */
	uint64_t n_discoveries;
	bool alone; /* we hold the lock */
	/* The lock of the port that we write by; -1: we have it not. */
	int port_lock;
	uint64_t port_locked; /* which one */
	bool has_twin;        /* another program of this host has it: */
	struct ibcc_why twin; /* which one */
	/* Our number in the election, and that of the run before, as the state file has it (0: it
	 * does not): that run is over, since we have the lock beside the state file.
	 */
	uint64_t run, run_before;
	bool run_noted;
	bool listens;                 /* to traps, where the topology is from discovery */
	struct ibcc_notices *notices; /* NULL: does not */
	uint64_t heard_then;          /* traps, and gaps between them, when last counted */
	uint32_t drifted;             /* nodes with settings of others, at the last audit */
	uint32_t lids;                /* our LID and the subnet manager's, as umad last had them */
	uint64_t plugin_ns;           /* when the plugin was last there */
	uint32_t sm_state;            /* of the plugin's subnet manager, when it was last asked */
	int64_t others_newest;        /* transaction of another process */
	char *paused;                 /* why a daemon in mode apply writes nothing; NULL: it does */
	uint64_t pruned_ns;           /* when the history was last looked at */
	struct ibcc_service_trial trial;
	struct ibcc_service_effect effect;
	struct ibcc_service_refinement refinement;
	struct ibcc_service_debts debts;
	bool pause_unwritten;     /* the state file does not have it yet */
	uint16_t hold, hold_next; /* passes without a try after a plan that failed, */
	struct ibcc_why hold_why; /* and why it did */
	uint64_t decided_ns;      /* when the last pass came to a decision */
	bool plan_is_old;         /* something was written since the last pass, or by it */
	bool changed_since;       /* ... since it */
	struct ibcc_repairs {
		struct ibcc_why what; /* the last one */
		uint64_t first_ns, last_ns;
		uint32_t n; /* of drift, none long after the one before */
		struct ibcc_repair_counts counts;
	} repairs;
	int last_err, last_act_err; /* of the last pass: it failed, or its plan did */
	struct ibcc_why last_why;   /* words for that */
	struct ibcc_predictor *predictor;
	int64_t predicted_txn;           /* whose prediction is under way; 0: nobody's */
	void (*on_predicted)(void *arg); /* who is told that one has ended; NULL: nobody */
	void *predicted_arg;
	/* What the prediction under way is for: NULL, nobody asked; a plan without its changes,
	 * which are small as they are and large as JSON; or settings of one's own.
	 */
	json_t *asked;
	bool asked_what_if;
	struct ibcc_plan asked_plan;
	struct ibcc_control asked_control; /* ... and what that is for */
	struct ibcc_mad_rate mad_rate;     /* of the transport */
	uint64_t set_mads;                 /* sent since the start, by us or by the plugin for us */
};

/* Another folder of keys, or none; -ENOMEM leaves all as it was. */
int ibcc_service_new_keys(struct ibcc_service *s, const struct ibcc_config *config,
			  uint64_t cc_key);
/* Reads keys that have changed and addresses them. An error if there were never any. */
int ibcc_service_look_at_keys(struct ibcc_service *s, struct ibcc_why *why);
/* Is something wrong with keys? Then *why says what, and which option is about it; else it is left
 * alone.
 */
bool ibcc_service_key_trouble(const struct ibcc_service *s, struct ibcc_why *why);

/* After a pass that wrote transactions since one: what it wrote is predicted, to be kept beside
 * what it brings.
 */
void ibcc_service_predict_written(struct ibcc_service *s, int64_t newest_before);
/* Likewise for a plan made earlier, as long as the settings of before are known. */
void ibcc_service_predict_saved(struct ibcc_service *s, const struct ibcc_plan *plan);
/* The last pass' plan without its changes, a new reference; NULL: there is none, or it has been
 * carried out.
 */
json_t *ibcc_service_plan_outline(struct ibcc_service *s);
/* Puts into an answer what ibcc_service_apply_plan() needs of a plan, and of the roots that it is
 * for. -ENOMEM.
 */
int ibcc_service_add_data(const struct ibcc_plan *plan, const struct ibcc_control *control,
			  json_t *o);
/* Sees to an open port and a topology that is up to date. */
int ibcc_service_prepare(struct ibcc_service *s, struct ibcc_why *why);
/* Opens the state file where it is not open, and tries it again after trouble. -EIO: nothing can be
 * written down; -ENOMEM.
 */
int ibcc_service_check_state(struct ibcc_service *s, struct ibcc_why *why);
/* What a change of the whole fabric begins with: prepared, the state file open, all settings read.
 */
int ibcc_service_read_all(struct ibcc_service *s, struct ibcc_why *why);
/* After something that was to reach all nodes: `rc`, or -EHOSTUNREACH if it is 0 and the discovery
 * has missed some.
 */
int ibcc_service_missed(const struct ibcc_service *s, int rc, struct ibcc_why *why);
/* A plan whose nodes are known by their GUIDs with the LIDs that they have now: those may have
 * changed since it was made. *plan gets those that are there; of the others the number and the
 * first one. -ENOMEM.
 */
int ibcc_service_address(const struct ibcc_topo *t, const struct ibcc_plan *from,
			 struct ibcc_plan *plan, uint32_t *n_gone, uint64_t *gone_guid);
/* Carries a plan out, by the service's applier and books; only txn, back and all_or_nothing of the
 * carry are asked for. Returns as ibcc_execute_plan(); a plan of nothing is carried out.
 */
int ibcc_service_execute(struct ibcc_service *s, struct ibcc_execution execution,
			 struct ibcc_plan *plan, struct ibcc_result *res, struct ibcc_why *why);
/* After something was written, or not: counts Sets. Where a LID was another node's, the fabric is
 * discovered again.
 */
void ibcc_service_wrote(struct ibcc_service *s, const struct ibcc_result *res);
/* What became of a plan, as JSON in *out. Returns rc, -ENOMEM. */
int ibcc_service_outcome(struct ibcc_service *s, const struct ibcc_plan *plan,
			 const struct ibcc_result *res, int rc, const struct ibcc_why *why,
			 json_t **out);
/* After something was written that the tuner did not write: all is read anew, the tuner begins
 * anew, and there is no plan until the next pass. What the state file says is under control it goes
 * on with.
 */
void ibcc_service_forget(struct ibcc_service *s);
/* Closes port and topology; the next prepare opens them again. */
void ibcc_service_drop(struct ibcc_service *s);
/* service_topo.c: is there a plugin that answers, and is it to be used? */
bool ibcc_service_plugin_there(struct ibcc_service *s);
/* Sees to a topology that is up to date, by the plugin or by discovery. */
int ibcc_service_refresh_topology(struct ibcc_service *s, bool plugin, struct ibcc_why *why);
/* service_leader.c: who writes by its own port, of several daemons that could. May this one? Waits
 * a few seconds until that is known, with `wait`. Returns as ibcc_election_may_write().
 */
int ibcc_service_may_write(struct ibcc_service *s, bool wait, struct ibcc_why *why);
/* What others are told of us; the port is left open. */
void ibcc_service_candidate(const struct ibcc_service *s, struct ibcc_leader_record *own);
/* Takes the lock of the port that we write by, which keeps other programs of this host from writing
 * there, wherever their state files are. 0, also where there is no folder for it; -EBUSY with who
 * has it.
 */
int ibcc_service_lock_port(struct ibcc_service *s, struct ibcc_why *why);
void ibcc_service_unlock_port(struct ibcc_service *s);
/* Is something wrong with it in mode apply, as that nobody leads or can tell? Then *why says what;
 * else it is left alone.
 */
bool ibcc_service_election_trouble(const struct ibcc_service *s, struct ibcc_why *why);
/* State of the election as JSON; null where there is none. */
json_t *ibcc_service_election(const struct ibcc_service *s);
/* Listens to traps no longer. */
void ibcc_service_deafen(struct ibcc_service *s);
const char *ibcc_service_source_name(enum ibcc_topo_source source);

/* Why there is no decision: the error of the last pass, -ETIME where a simulated fabric stands
 * still, or -EAGAIN where the next pass may bring one.
 */
int ibcc_service_undecided(const struct ibcc_service *s, struct ibcc_why *why);
/* service_effect.c: goes on measuring what an earlier process had written last. */
void ibcc_service_resume_effect(struct ibcc_service *s);
/* Between two passes something may have been written, whose effect the next ones measure. */
void ibcc_service_await_effect(struct ibcc_service *s);
/* Takes down what a pass measured; the newest transaction before it. */
void ibcc_service_measure(struct ibcc_service *s, int64_t newest_before);
/* service_undo.c: what turns congestion control off at all endports, or at these alone, also where
 * another program has changed what we wrote. *plan is initialised by the call. -ENOMEM.
 */
int ibcc_service_plan_off(const struct ibcc_service *s, const bool *which, struct ibcc_plan *plan);
/* service_debt.c: reads what is owed from the state file. */
void ibcc_service_find_debts(struct ibcc_service *s);
/* After a rollback (from as in ibcc_state_undo(), `undo` all that it was to do) or a disable, of
 * which `plan` was carried out: takes down where it failed or could not be tried. *n endports are
 * owed; -EIO: they could not be written down, -ENOMEM.
 */
int ibcc_service_owe_rollback(struct ibcc_service *s, const struct ibcc_txn *txn, int64_t from,
			      const struct ibcc_plan *undo, const struct ibcc_plan *plan,
			      const struct ibcc_result *res, uint32_t *n);
int ibcc_service_owe_disable(struct ibcc_service *s, const struct ibcc_txn *txn,
			     const struct ibcc_plan *plan, const struct ibcc_result *res,
			     uint32_t *n);
/* Is a rollback from there owed, and so done but for nodes that cannot be reached now? */
bool ibcc_service_owes(const struct ibcc_service *s, int64_t from);
/* After a pass, where this program may write: does what can be done of it by now. */
void ibcc_service_pay(struct ibcc_service *s);
/* The endport that a debt is about; IBCC_NONE where it is away, has no LID, or where two nodes have
 * its GUID and it is not known which is meant.
 */
uint32_t ibcc_service_debt_endport(const struct ibcc_service *s, const struct ibcc_debt *d);
/* Is it there, and can be written? */
bool ibcc_service_debt_is_payable(const struct ibcc_service *s, const struct ibcc_debt *d);
/* service_debt_text.c: what left it, in a word. */
const char *ibcc_debt_name(const struct ibcc_debt *d);
/* The node of a debt, and how many more of n there are. */
#define IBCC_DEBT_NODES_BYTES (IBCC_DESC_BYTES + 64)
void ibcc_debt_name_nodes(const struct ibcc_debt *d, uint32_t n, char *buf, size_t len);
/* Is something owed at nodes that are on the fabric? Then *why says what; else it is left alone. */
bool ibcc_service_debt_trouble(const struct ibcc_service *s, struct ibcc_why *why);
/* At how many endports something is owed: of nodes that are on the fabric, or of the others. */
uint32_t ibcc_service_count_debts(const struct ibcc_service *s, bool present);
/* All that is owed, as JSON. */
json_t *ibcc_service_owed(const struct ibcc_service *s);
/* service_repairs.c: remembers what the last pass has repaired; what was, in words, or null. */
void ibcc_service_note_repair(struct ibcc_service *s);
json_t *ibcc_service_repairs(const struct ibcc_service *s);
/* service_refine.c: looks for one that an earlier service has not completed. */
void ibcc_service_find_refinement(struct ibcc_service *s);
/* After the first step, with what became of it; returns its `rc`. */
int ibcc_service_begin_refinement(struct ibcc_service *s, const struct ibcc_result *res, int rc);
/* Makes a pass a further step. *within is the caller's, to be freed after the pass. -ENOMEM. */
int ibcc_service_refine_act(struct ibcc_service *s, struct ibcc_act *act, bool **within);
/* After a pass: is it complete? */
void ibcc_service_look_at_refinement(struct ibcc_service *s);
/* There are no further steps, since somebody wants something else. */
void ibcc_service_end_refinement(struct ibcc_service *s, const char *why);
/* Of the status; null: nothing was applied. */
json_t *ibcc_service_refinement(const struct ibcc_service *s);
/* ibcc_service_rollback(), which tells a reason for it (NULL: none) in the history. */
int ibcc_service_take_back(struct ibcc_service *s, int64_t from, const struct ibcc_request *r,
			   const char *reason, json_t **out, struct ibcc_why *why);
/* service_trial.c: looks for one that an earlier service has left. */
void ibcc_service_find_trial(struct ibcc_service *s);
/* -EBUSY while there is one. */
int ibcc_service_no_trial(const struct ibcc_service *s, struct ibcc_why *why);
/* After what was asked for has been carried out, with its outcome. */
void ibcc_service_begin_trial(struct ibcc_service *s, const struct ibcc_request *r, int rc,
			      const struct ibcc_why *why);
/* Settings were taken off or back by somebody: what was on trial may be gone with them. */
void ibcc_service_drop_trial(struct ibcc_service *s, const char *outcome, const char *who);
/* Sets or ends (NULL) a pause, which outlives the process. */
void ibcc_service_pause(struct ibcc_service *s, const char *text);

#endif
