/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the service, shared by its files. */
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
	uint64_t due_ns; /* when to revert it, or to try that again; CLOCK_MONOTONIC */
	uint32_t within_s, retry_s;
	bool is_over;         /* the service is reverting it; false: it may still be confirmed */
	struct ibcc_why over; /* the reason for that */
	uint64_t sm;          /* confirming it is a consent to this one; see unchecked_sm */
};

/* What was measured, and which transactions wait for their effect to be measured. */
struct ibcc_service_effect {
	int64_t newest, first; /* transactions first..newest wait; first is 0: none does */
	unsigned int passes;   /* polling cycles since they were written */
	unsigned int whole;    /* of these, those that read all ports */
	bool measured;
	/* values of the last cycle, and the worse of the last two */
	struct ibcc_state_sample pass, last;
	struct ibcc_state_sample peak; /* peak values of this minute */
	int64_t sampled_s; /* when the series got its last sample; 0: it is due for one */
	json_t *blocked;   /* the senders that the last cycle with blocked ones saw, owned */
	/* The transaction that turned congestion control on, 0: none, and what the senders that
	 * were blocked before it sent then; owned, NULL or null: not known.
	 */
	int64_t since;
	json_t *before;
};

enum ibcc_refine_stage {
	IBCC_REFINE_NONE,
	IBCC_REFINE_UNDER_WAY,
	IBCC_REFINE_SETTLED,
	IBCC_REFINE_ENDED, /* before it had settled */
};

/* The last apply that an operator asked for; see service_refine.c. */
struct ibcc_service_refinement {
	enum ibcc_refine_stage stage;
	int64_t txn;
	char *nodes;     /* where it may write, as in the state file; owned; NULL: it is over */
	uint32_t passes; /* over all ports, since it began, or since the daemon's start */
	uint32_t steps, writes;
	bool has_roots;
	struct ibcc_why text; /* the last decision, or why it ended */
	uint64_t key;         /* hash of the last decision, and how often that changed */
	uint32_t news;
	bool is_news; /* it is over, and that is not reported yet */
};

/* See service_debt.c. */
struct ibcc_service_debts {
	struct ibcc_debts list; /* as in the state file */
	uint64_t generation;    /* the topology's generation at the last check */
	/* polling cycles until the next try, and the interval after that try */
	uint16_t wait, next_wait;
	struct ibcc_why why;  /* why the last try failed; empty: it did not */
	struct ibcc_why news; /* what was done and is not reported yet */
};

/* The port of the subnet manager that this host was last searched for; guid 0: none. */
struct ibcc_service_sm {
	uint64_t guid;
	uint64_t discovery; /* the number of discoveries then */
	bool here;
};

/* See service_jobs.c. */
struct ibcc_service_jobs;

struct ibcc_service {
	struct ibcc_config config;
	uint64_t cc_key; /* the key in use, or the keyring's mark if there is a keyring */
	uint64_t default_key;
	struct ibcc_keyring *keyring; /* NULL: all nodes have the default key */
	bool keys_read;               /* the keyring was read at least once */
	struct ibcc_why keys_trouble; /* what is wrong with the files; empty: nothing */
	pthread_mutex_t lock; /* protects `transport` and `plugin` against ibcc_service_cancel() */
	atomic_bool canceled;
	struct ibcc_transport *transport; /* NULL: not open */
	struct ibcc_transport *umad;      /* the port inside `transport`; borrowed */
	struct ibcc_plugin *plugin;
	bool plugin_there;          /* the plugin answered when it was last asked */
	struct ibcc_why plugin_why; /* why it did not */
	bool plugin_silent;         /* the plugin is or was there, but its OpenSM does not answer */
	_Atomic(const char *) stage;  /* of the current call; see ibcc_service_stage() */
	struct ibcc_applier *applier; /* the one that writes; created with the transport */
	struct ibcc_applier *null_applier;
	struct ibcc_state *state;
	struct ibcc_cycle cycle; /* initialised while there is a transport */
	enum ibcc_topo_source source;
	bool names_due; /* the node name map may differ from the one that named the topology */
	struct ibcc_discovery discovery; /* the last one, if the topology is from discovery */
	struct ibcc_rediscovery again;   /* decides when the next one is due */
	uint64_t n_discoveries;
	bool alone; /* this process holds the lock */
	/* Lock of the port that we write through; -1: we do not hold it. */
	int port_lock;
	uint64_t port_locked; /* GUID of that port */
	bool has_twin;        /* another program of this host holds the lock */
	struct ibcc_why twin; /* which program */
	/* Our number in the election, and that of the run before as in the state file (0: it has
	 * none). The earlier run is over, because we hold the lock beside the state file.
	 */
	uint64_t run, run_before;
	bool run_noted;
	bool listens;                 /* subscribes to traps if the topology is from discovery */
	struct ibcc_notices *notices; /* NULL: not subscribed */
	uint64_t heard_then;          /* traps, and gaps between them, at the last count */
	uint32_t drifted;             /* nodes with settings of other programs, at the last audit */
	uint32_t lids;         /* our LID and the subnet manager's, as umad last reported them */
	uint64_t plugin_ns;    /* when the plugin last answered */
	uint32_t sm_state;     /* state of the plugin's subnet manager, when it was last asked */
	int64_t others_newest; /* newest transaction of another process */
	char *paused;          /* why a daemon in mode apply does not write; NULL: it writes */
	uint64_t pruned_ns;    /* when the size of the history was last checked */
	/* Port GUID of the subnet manager that cycle.unchecked is about; 0: there is none. */
	uint64_t unchecked_sm;
	struct ibcc_service_sm sm;
	struct ibcc_service_trial trial;
	struct ibcc_service_effect effect;
	struct ibcc_service_refinement refinement;
	struct ibcc_service_debts debts;
	bool pause_unwritten; /* the state file does not have the pause yet */
	/* polling cycles to skip after a failed plan, and after the next one */
	uint16_t hold, hold_next;
	struct ibcc_why hold_why; /* why the plan failed */
	uint64_t decided_ns;      /* when the last polling cycle came to its decision */
	bool plan_is_old;         /* settings were written during or after the last polling cycle */
	bool changed_since;       /* settings were written after it */
	struct ibcc_repairs {
		struct ibcc_why what; /* the last repair */
		uint64_t first_ns, last_ns;
		uint32_t n; /* repairs of drift in a row, without a long pause */
		struct ibcc_repair_counts counts;
	} repairs;
	int last_err, last_act_err; /* errors of the last polling cycle and of its plan */
	struct ibcc_why last_why;   /* describes that error */
	struct ibcc_predictor *predictor;
	int64_t predicted_txn;           /* transaction of the running prediction; 0: none */
	void (*on_predicted)(void *arg); /* called when a prediction ends; NULL: not set */
	void *predicted_arg;
	/* What the running prediction is for. NULL: no client asked for it. Otherwise a plan
	 * without its changes, which are small in C and large as JSON, or a client's own settings.
	 */
	json_t *asked;
	bool asked_what_if; /* or for advice: no plan */
	bool asked_advice;
	struct ibcc_plan asked_plan;
	struct ibcc_control asked_control; /* the roots of that plan */
	struct ibcc_service_jobs *jobs;
	/* NVIDIA's parameters as they were read last; see ibcc_report_changed_parameters(). NULL:
	 * never.
	 */
	json_t *parameters;
	struct ibcc_mad_rate mad_rate; /* MADs sent by the transport */
	uint64_t set_mads; /* Set MADs since the start, sent by us or by the plugin for us */
};

/* Switches to another folder of keys, or to none; -ENOMEM leaves all as it was. */
int ibcc_service_new_keys(struct ibcc_service *s, const struct ibcc_config *config,
			  uint64_t cc_key);
/* Rereads keys that have changed, and assigns them to nodes. An error if keys were never read. */
int ibcc_service_look_at_keys(struct ibcc_service *s, struct ibcc_why *why);
/* Is something wrong with keys? If so, *why says what, and which option to check; otherwise *why is
 * left alone.
 */
bool ibcc_service_key_trouble(const struct ibcc_service *s, struct ibcc_why *why);

/* After a polling cycle that wrote transactions later than `newest_before`: starts a prediction of
 * what it wrote. The history keeps that beside the measured effect.
 */
void ibcc_service_predict_written(struct ibcc_service *s, int64_t newest_before);
/* Starts a prediction for a plan that was made earlier, as long as the settings from before it are
 * known.
 */
void ibcc_service_predict_saved(struct ibcc_service *s, const struct ibcc_plan *plan);
/* The last polling cycle's plan without its changes, a new reference. NULL: there is none, or it
 * has been carried out.
 */
json_t *ibcc_service_plan_outline(struct ibcc_service *s);
/* Takes over the outline of an answer with advice, for which the prediction has begun.
 * -EINPROGRESS.
 */
int ibcc_service_asked_advice(struct ibcc_service *s, json_t *what);
/* Adds to an answer what ibcc_service_apply_plan() needs of a plan and of its roots. -ENOMEM. */
int ibcc_service_add_data(const struct ibcc_plan *plan, const struct ibcc_control *control,
			  json_t *o);
/* service_nvidia.c: says in the cycle whether marking profiles of NVIDIA's switches may be written,
 * and what could not be checked. ibcc_service_prepare() calls it for what a person asks for.
 */
enum ibcc_service_writing {
	IBCC_SERVICE_WRITES_NOT,        /* a dry run, or only shown */
	IBCC_SERVICE_WRITES_BY_REQUEST, /* a person has consented */
	IBCC_SERVICE_WRITES_UNATTENDED,
};
void ibcc_service_look_at_nvidia(struct ibcc_service *s, enum ibcc_service_writing writing);
/* Does a plan change marking profiles? */
bool ibcc_service_has_profile(const struct ibcc_plan *plan);
/* The subnet manager that could not be checked, as "unchecked_sm" of a plan: its port's GUID, 0 if
 * no port is known to have it, else null. A plan without marking profiles has the GUID, too, but no
 * warning.
 */
json_t *ibcc_service_warned(const struct ibcc_service *s);
/* A consent is for the subnet manager that the plan was shown with. -ESTALE if the plan has marking
 * profiles, and the subnet manager, which cannot be checked now, is not the one that the plan
 * warned of.
 */
int ibcc_service_check_consent(const struct ibcc_service *s, const struct ibcc_plan *plan,
			       const struct ibcc_request *r, struct ibcc_why *why);
/* Call after a person's apply has written and its trial has begun: if vendor_opensm_conf names a
 * file, the daemon may go on by itself as long as the subnet manager that this person was warned of
 * is master. While the apply is on trial, that waits until it is confirmed.
 */
void ibcc_service_applied(struct ibcc_service *s);
/* Stores that a person has consented to the subnet manager at the port with this GUID; 0: none. */
void ibcc_service_consent_to_sm(struct ibcc_service *s, uint64_t guid);
/* Makes sure that the port is open and the topology is up to date. */
int ibcc_service_prepare(struct ibcc_service *s, struct ibcc_why *why);
/* Opens the state file if it is not open, and tries it again after trouble. -EIO: the file cannot
 * be written; -ENOMEM.
 */
int ibcc_service_check_state(struct ibcc_service *s, struct ibcc_why *why);
/* Prepares a change of the whole fabric: makes the service ready, opens the state file, reads all
 * settings.
 */
int ibcc_service_read_all(struct ibcc_service *s, struct ibcc_why *why);
/* Checks that an operation meant for all nodes could reach them. Returns `rc`, or -EHOSTUNREACH if
 * `rc` is 0 and the discovery has missed some.
 */
int ibcc_service_missed(const struct ibcc_service *s, int rc, struct ibcc_why *why);
/* Readdresses a plan that knows its nodes by GUID: gives them their present LIDs, which may have
 * changed since the plan was made. *plan gets the nodes that are present. Of the others it reports
 * the number and the first one. -ENOMEM.
 */
int ibcc_service_address(const struct ibcc_topo *t, const struct ibcc_plan *from,
			 struct ibcc_plan *plan, uint32_t *n_gone, uint64_t *gone_guid);
/* Carries out a plan with the service's applier and books. Of `execution` only txn, back, ours_only
 * and all_or_nothing are read. Returns as ibcc_execute_plan(); an empty plan succeeds.
 */
int ibcc_service_execute(struct ibcc_service *s, struct ibcc_execution execution,
			 struct ibcc_plan *plan, struct ibcc_result *res, struct ibcc_why *why);
/* Call after a write or an attempt: counts Set MADs. If a LID belonged to another node, the fabric
 * is discovered again.
 */
void ibcc_service_wrote(struct ibcc_service *s, const struct ibcc_result *res);
/* Result of a plan, as JSON in *out. Returns rc, or -ENOMEM. */
int ibcc_service_outcome(struct ibcc_service *s, const struct ibcc_plan *plan,
			 const struct ibcc_result *res, int rc, const struct ibcc_why *why,
			 json_t **out);
/* Call after a write that the tuner did not make: all settings are read again, the tuner restarts,
 * and there is no plan until the next polling cycle. It continues with those roots that the state
 * file says are under control.
 */
void ibcc_service_forget(struct ibcc_service *s);
/* Closes port and topology. The next ibcc_service_prepare() opens them again. */
void ibcc_service_drop(struct ibcc_service *s);
/* service_topo.c: is there a plugin that answers, and is it in use? */
bool ibcc_service_plugin_there(struct ibcc_service *s);
/* Makes sure that the topology is up to date, from the plugin or by discovery. */
int ibcc_service_refresh_topology(struct ibcc_service *s, bool plugin, struct ibcc_why *why);
/* service_leader.c: if several daemons could write through their own ports, may this one? With
 * `wait`, waits a few seconds until that is known. Returns as ibcc_election_may_write().
 */
int ibcc_service_may_write(struct ibcc_service *s, bool wait, struct ibcc_why *why);
/* What this daemon announces to the other daemons; the caller adds the port. */
void ibcc_service_candidate(const struct ibcc_service *s, struct ibcc_leader_record *own);
/* Takes the lock of the port that we write through. It keeps other programs of this host from
 * writing there, wherever their state files are. Returns 0, also if there is no folder for the
 * lock; -EBUSY with the name of the holder.
 */
int ibcc_service_lock_port(struct ibcc_service *s, struct ibcc_why *why);
void ibcc_service_unlock_port(struct ibcc_service *s);
/* Is something wrong with the election in mode apply, for example that no daemon leads or that the
 * leader is unknown? If so, *why says what; otherwise *why is left alone.
 */
bool ibcc_service_election_trouble(const struct ibcc_service *s, struct ibcc_why *why);
/* State of the election as JSON; null where there is none. */
json_t *ibcc_service_election(const struct ibcc_service *s);
/* Ends the subscription to traps. */
void ibcc_service_deafen(struct ibcc_service *s);
const char *ibcc_service_source_name(enum ibcc_topo_source source);

/* Why there is no decision: the error of the last polling cycle, -ETIME if a simulated fabric's
 * time stands still, or -EAGAIN if the next cycle may bring one.
 */
int ibcc_service_undecided(const struct ibcc_service *s, struct ibcc_why *why);
/* service_effect.c: continues to measure the effect of what an earlier process wrote last. */
void ibcc_service_resume_effect(struct ibcc_service *s);
/* Call after a possible write between two polling cycles, so that the next cycles measure its
 * effect.
 */
void ibcc_service_await_effect(struct ibcc_service *s);
/* What blocked senders sent before congestion control was on, and what they send now,
 * {"transaction","senders"}; null if it is off, or if this is not known.
 */
json_t *ibcc_service_gain(const struct ibcc_service *s);
void ibcc_service_effect_fini(struct ibcc_service_effect *e);
/* Records what a polling cycle measured; `newest_before` is the newest transaction before it. */
void ibcc_service_measure(struct ibcc_service *s, int64_t newest_before);
/* service_undo.c: makes a plan that turns congestion control off at all endports, or only at those
 * in `which`, also where another program has changed our settings. The call initialises *plan.
 * -ENOMEM.
 */
int ibcc_service_plan_off(const struct ibcc_service *s, const bool *which, struct ibcc_plan *plan);
/* service_debt.c: reads debts from the state file. */
void ibcc_service_find_debts(struct ibcc_service *s);
/* Call after a rollback (`from` as in ibcc_state_undo(), `undo` the complete plan) or a disable, of
 * which `plan` was carried out. Records where it failed or could not be tried. *n endports are
 * owed. -EIO: they could not be written to the state file; -ENOMEM.
 */
int ibcc_service_owe_rollback(struct ibcc_service *s, const struct ibcc_txn *txn, int64_t from,
			      const struct ibcc_plan *undo, const struct ibcc_plan *plan,
			      const struct ibcc_result *res, uint32_t *n);
int ibcc_service_owe_disable(struct ibcc_service *s, const struct ibcc_txn *txn,
			     const struct ibcc_plan *plan, const struct ibcc_result *res,
			     uint32_t *n);
/* Call when the daemon ends, with the switches whose marking profiles it could not restore. A debt
 * restores all settings of its switch, as a rollback of everything does, so there is none if the
 * books have other settings than profiles: -EXDEV. Older debts stay. -EIO, -ENOMEM.
 */
int ibcc_service_owe_profiles(struct ibcc_service *s, const struct ibcc_txn *txn,
			      const struct ibcc_result *res, const struct ibcc_debts *list);
/* Is a rollback from there owed, that is, done except for nodes that cannot be reached now? */
bool ibcc_service_owes(const struct ibcc_service *s, int64_t from);
/* Call after a polling cycle if this program may write: pays the debts that can be paid now. */
void ibcc_service_pay(struct ibcc_service *s);
/* The endport that a debt is about. IBCC_NONE if it is away, has no LID, or shares its GUID with
 * another node so that we cannot know which one is meant.
 */
uint32_t ibcc_service_debt_endport(const struct ibcc_service *s, const struct ibcc_debt *d);
/* Is the debt's endport present and writable? */
bool ibcc_service_debt_is_payable(const struct ibcc_service *s, const struct ibcc_debt *d);
/* Was all that is left of it written by another program since, and has that stayed as it was, as far
 * as it can be read? Then it is not tried until those marking profiles change or a person asks for
 * a rollback.
 */
bool ibcc_service_debt_is_overwritten(const struct ibcc_service *s, const struct ibcc_debt *d);
/* service_debt_text.c: the action that left the debt, in a word. */
const char *ibcc_debt_name(const struct ibcc_debt *d);
/* Space for the name of one node and for how many more there are. */
#define IBCC_DEBT_NODES_BYTES (IBCC_DESC_BYTES + 64)
void ibcc_debt_name_nodes(const struct ibcc_debt *d, uint32_t n, char *buf, size_t len);
/* Do nodes on the fabric keep what they were to lose? If so, *why says what; otherwise *why is left
 * alone.
 */
bool ibcc_service_debt_trouble(const struct ibcc_service *s, struct ibcc_why *why);
enum ibcc_debt_state {
	IBCC_DEBT_PRESENT, /* the node is on the fabric, and keeps what it was to lose */
	IBCC_DEBT_AWAY,
	IBCC_DEBT_OVERWRITTEN, /* see ibcc_service_debt_is_overwritten() */
};
/* At how many endports something is owed in this state. */
uint32_t ibcc_service_count_debts(const struct ibcc_service *s, enum ibcc_debt_state state);
/* All that is owed, as JSON. */
json_t *ibcc_service_owed(const struct ibcc_service *s);
/* service_repairs.c: remembers what the last polling cycle has repaired. The second function
 * returns the last repair in words, or null.
 */
void ibcc_service_note_repair(struct ibcc_service *s);
json_t *ibcc_service_repairs(const struct ibcc_service *s);
/* service_refine.c: looks for a refinement that an earlier service has not completed. */
void ibcc_service_find_refinement(struct ibcc_service *s);
/* Call after the first step, with its result; returns its `rc`. */
int ibcc_service_begin_refinement(struct ibcc_service *s, const struct ibcc_result *res, int rc);
/* Makes a polling cycle a further step. The caller owns *within and frees it after the cycle.
 * -ENOMEM.
 */
int ibcc_service_refine_act(struct ibcc_service *s, struct ibcc_act *act, bool **within);
/* Call after a polling cycle: checks whether the refinement is complete. */
void ibcc_service_look_at_refinement(struct ibcc_service *s);
/* Ends the refinement without further steps, because an operator wants something else. */
void ibcc_service_end_refinement(struct ibcc_service *s, const char *why);
/* State of the refinement for the status; null: nothing was applied. */
json_t *ibcc_service_refinement(const struct ibcc_service *s);
/* As ibcc_service_rollback(), with a reason for the history (NULL: none). */
int ibcc_service_take_back(struct ibcc_service *s, int64_t from, const struct ibcc_request *r,
			   const char *reason, json_t **out, struct ibcc_why *why);
/* service_trial.c: looks for a trial that an earlier service has left. */
void ibcc_service_find_trial(struct ibcc_service *s);
/* -EBUSY while a transaction is on trial. */
int ibcc_service_no_trial(const struct ibcc_service *s, struct ibcc_why *why);
/* Call after a request has been carried out, with its outcome. */
void ibcc_service_begin_trial(struct ibcc_service *s, const struct ibcc_request *r, int rc,
			      const struct ibcc_why *why);
/* Call after settings were disabled or reverted by request: the transaction on trial may be gone
 * with them.
 */
void ibcc_service_drop_trial(struct ibcc_service *s, const char *outcome, const char *who);
/* service_jobs.c: what is known of jobs; NULL without memory. */
struct ibcc_service_jobs *ibcc_service_jobs_new(const struct ibcc_config *config);
/* Stores what is known of jobs, and forgets it. */
void ibcc_service_end_jobs(struct ibcc_service *s);
/* Call before a polling cycle: the map of jobs is looked at meanwhile. */
void ibcc_service_begin_jobs(struct ibcc_service *s);
/* Call after a polling cycle that came to a decision: takes the map of jobs if it was replaced, and
 * finds the jobs of each root. Waits for no file.
 */
void ibcc_service_look_at_jobs(struct ibcc_service *s);
/* Call when the topology may be another one. */
void ibcc_service_rematch_jobs(struct ibcc_service *s);
/* State of the map; null: there is none, and none is missing. */
json_t *ibcc_service_jobs_status(const struct ibcc_service *s);
/* Is there a map that the last polling cycle could use? */
bool ibcc_service_has_jobs(const struct ibcc_service *s);
/* Adds "jobs" to the roots of the last polling cycle, which are in the estimate's order, and to
 * their adapters; and to a list of adapters. Without a map it adds nothing.
 */
void ibcc_service_add_jobs(const struct ibcc_service *s, json_t *roots);
void ibcc_service_add_jobs_at(const struct ibcc_service *s, json_t *adapters);
/* What metrics have of jobs. */
void ibcc_service_jobs_metrics(const struct ibcc_service *s, struct ibcc_metrics_jobs *out);
/* The jobs of the worst roots as a sentence, or null. */
json_t *ibcc_service_whose_text(const struct ibcc_service *s);
/* Starts a pause or ends it (NULL). A pause outlives the process. */
void ibcc_service_pause(struct ibcc_service *s, const char *text);

#endif
