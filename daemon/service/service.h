/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The operations of the service: a polling cycle, the plan, apply, rollback, disable, show,
 * history.
 *
 * It opens what these need (umad port, plugin, topology, state file) and keeps it open. The
 * daemon's worker thread uses it, and so does the command line without a daemon. Calls block for as
 * long as MADs take. One thread makes all calls but ibcc_service_cancel().
 */
#ifndef IBCC_DAEMON_SERVICE_H
#define IBCC_DAEMON_SERVICE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <ibcc/config.h>
#include <ibcc/cycle.h>
#include <ibcc/why.h>

#include "daemon/metrics/metrics.h"

struct ibcc_service;

/* Returns NULL without memory or descriptors. Copies the configuration and opens nothing yet. */
struct ibcc_service *ibcc_service_new(const struct ibcc_config *config, uint64_t cc_key);
void ibcc_service_free(struct ibcc_service *s);

/* Says that the caller holds the lock for as long as it has the service. Call before the state file
 * is opened.
 */
void ibcc_service_claim(struct ibcc_service *s);

/* Says that the service runs for long. It then subscribes to the traps that report a changed
 * fabric, where no plugin reports changes.
 */
void ibcc_service_listen(struct ibcc_service *s);

/* Opens the service on a transport instead of a port, to measure it on a simulated fabric. It
 * writes nothing to the fabric, and discovers nothing for a quarter of an hour. It owns the
 * transport and the topology from now on, also on failure. -ENOMEM.
 */
int ibcc_service_open_on(struct ibcc_service *s, struct ibcc_transport *t, struct ibcc_topo *topo);

/* Opens the state file if it is not open, as far as possible: see ibcc_state_open(). -ENOMEM. */
int ibcc_service_open_state(struct ibcc_service *s, struct ibcc_why *why);

/* Switches to another configuration. The next polling cycle reopens what the new one changes; the
 * daemon's own sockets and state file stay open. -ENOMEM leaves the old configuration.
 */
int ibcc_service_reconfigure(struct ibcc_service *s, const struct ibcc_config *config,
			     uint64_t cc_key);

/* The longest trial, in seconds. */
#define IBCC_CONFIRM_MAX_S 86400u

/* How to carry out a plan that an operator asked for. */
struct ibcc_request {
	const char *who;
	bool skip_unsupported; /* nodes without congestion control do not stop an apply */
	/* apply on trial: revert unless confirmed within this time; 0: no trial */
	uint32_t confirm_s;
	/* apply: when the plan's file was made, seconds since 1970; 0: the plan is from no file */
	int64_t made_s;
	/* apply plan: the subnet manager of which a person was warned where the plan was shown, by
	 * its port's GUID; see ibcc_service_read_warned(). `shown` false: no person was shown the
	 * plan.
	 */
	bool shown;
	uint64_t warned_sm;
};

/* Reads "unchecked_sm" of a plan that was shown. False: it is none. */
bool ibcc_service_read_warned(const json_t *v, uint64_t *warned_sm);

/* Checks whether such an apply can be carried out now. -EBUSY while a transaction is on trial; -EIO
 * if this one is to be on trial and the state file cannot be written.
 */
int ibcc_service_may_apply(struct ibcc_service *s, const struct ibcc_request *apply,
			   struct ibcc_why *why);

/* Runs one polling cycle. Without a request it writes only in mode apply. With a request it applies
 * the plan, or says why not, and ends a pause. Returns 0, an error as ibcc_cycle_run() or
 * ibcc_service_may_apply() do, or why there is no port or topology.
 */
int ibcc_service_pass(struct ibcc_service *s, const struct ibcc_request *apply,
		      struct ibcc_why *why);

/* A polling cycle that reads only the ports in the cycle's focus, between two others. If there is
 * no focus now, it reads all.
 */
int ibcc_service_pass_fast(struct ibcc_service *s, struct ibcc_why *why);

/* A polling cycle that writes nothing, in any mode. */
int ibcc_service_pass_dry(struct ibcc_service *s, struct ibcc_why *why);

/* The last polling cycle; NULL before there is a topology. */
const struct ibcc_cycle *ibcc_service_cycle(const struct ibcc_service *s);

/* Returns whether the daemon may write: it is in mode apply and not paused. */
bool ibcc_service_writes(const struct ibcc_service *s);

/* The following functions return 0 and a new JSON object in *out, or an error and a sentence in
 * *why. After an error of a part of the work *out may be set as well.
 */
/* The last polling cycle as ibcc_report_plan() has it, with "age_ms": the time since its decision.
 * -EAGAIN: no cycle has come to a decision yet, or none since the last write. With `data` there are
 * keys "data" and "control", with all that ibcc_service_apply_plan() needs.
 */
int ibcc_service_plan(struct ibcc_service *s, bool data, json_t **out, struct ibcc_why *why);
/* Returns, once, why a requested apply is complete or has ended early; otherwise NULL. */
const char *ibcc_service_refinement_news(struct ibcc_service *s, int64_t *txn, bool *settled);
/* Reports once, in *news, that the daemon has completed what a rollback or a disable could not do
 * before. NULL: there is no news.
 */
const char *ibcc_service_debt_news(struct ibcc_service *s, struct ibcc_why *news);
/* Does an apply have further steps to come? */
bool ibcc_service_refines(const struct ibcc_service *s);
/* Call when the client that asked for the last polling cycle has its answer. If that cycle carried
 * out its plan, the plan is dropped.
 */
void ibcc_service_answered(struct ibcc_service *s);
/* Starts a prediction for the plan of the last polling cycle, in its own thread, if there is a plan
 * without one. -EINPROGRESS: it is running; done(arg) is called from that thread, and then
 * ibcc_service_predicted() has plan and prediction. 0: there is nothing to wait for. -EBUSY: a
 * prediction for something else is running; call again when it has ended.
 */
int ibcc_service_predict(struct ibcc_service *s, void (*done)(void *arg), void *arg);
/* Starts a prediction for the caller's own settings, see ibcc_what_if(), and returns as
 * ibcc_service_predict() does. Also -EAGAIN: no polling cycle has come to a decision yet; -EINVAL.
 */
int ibcc_service_what_if(struct ibcc_service *s, const json_t *set, void (*done)(void *arg),
			 void *arg, struct ibcc_why *why);
/* Reads the parameters of an adapter that sends to a root, and starts the computation of advice on
 * DCQCN. Returns as ibcc_service_what_if() does; also -EOPNOTSUPP: no device has DCQCN.
 * ibcc_service_predicted() then has the advice as ibcc_report_advice() has it.
 */
int ibcc_service_advise(struct ibcc_service *s, void (*done)(void *arg), void *arg,
			struct ibcc_why *why);
/* Stops a what-if or advice that is running. It ends within a simulated millisecond and calls
 * done(arg) as always. False: the prediction of the plan is running instead, which the next client
 * can use.
 */
bool ibcc_service_abandon_prediction(struct ibcc_service *s);
/* Waits for the prediction if it has not ended. */
int ibcc_service_predicted(struct ibcc_service *s, bool data, json_t **out, struct ibcc_why *why);
/* Sets the function to call when a prediction ends that no client asked for: one of settings that a
 * polling cycle wrote. The callee then calls ibcc_service_predicted_all().
 */
void ibcc_service_on_predicted(struct ibcc_service *s, void (*done)(void *arg), void *arg);
/* Hands a finished prediction on: every client that asked for that plan gets it. The history keeps
 * it beside the settings that were written.
 */
void ibcc_service_predicted_all(struct ibcc_service *s);
/* Restores the values from before transaction `from` (0: from before the first one that is not
 * reverted yet). A daemon in mode apply then pauses, so that it does not make the changes again at
 * once.
 */
int ibcc_service_rollback(struct ibcc_service *s, int64_t from, const struct ibcc_request *r,
			  json_t **out, struct ibcc_why *why);
/* Disables marking on all switches and throttling on all channel adapters. A daemon in mode apply
 * then pauses.
 */
int ibcc_service_disable(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			 struct ibcc_why *why);
/* Carries out a plan that was made earlier, all of it or nothing. The next polling cycles refine
 * the settings of its roots until these hold. `control` has the roots as decided for the plan.
 * -ESTALE: nothing is written, because the fabric differs from the one that the plan was made for;
 * *why says how. -EINVAL: the plan does not follow from its roots.
 */
int ibcc_service_apply_plan(struct ibcc_service *s, const struct ibcc_plan *saved,
			    const struct ibcc_control *control, const struct ibcc_request *r,
			    json_t **out, struct ibcc_why *why);
/* Describes what ibcc_service_apply_plan() would write, by name and field, with the reasons of its
 * roots: "changes", "writes", "summary". All of it is computed here and nothing quoted from the
 * plan's author. Returns what ibcc_service_apply_plan() would return instead of writing.
 */
int ibcc_service_look_at_plan(struct ibcc_service *s, const struct ibcc_plan *saved,
			      const struct ibcc_control *control, const struct ibcc_request *r,
			      json_t **out, struct ibcc_why *why);
/* While a transaction is on trial nothing else is written, except to disable settings. The service
 * reverts it when its time is over or when a part of it failed. A service that finds a trial which
 * it has not begun reverts it as well, because the program that watched it is gone.
 */
/* Keeps the transaction on trial. -ENOENT: there is none, or it is too late. */
int ibcc_service_confirm(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			 struct ibcc_why *why);
/* Reverts the transaction on trial now. -ENOENT: there is none; else as ibcc_service_rollback(). */
int ibcc_service_cancel_trial(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			      struct ibcc_why *why);
/* When to call ibcc_service_end_trial() next, in ns of CLOCK_MONOTONIC; UINT64_MAX: nothing is on
 * trial.
 */
uint64_t ibcc_service_trial_due_ns(const struct ibcc_service *s);
/* Reverts what is on trial. The reason is `reason` or, if that is NULL, that its time is over. */
int ibcc_service_end_trial(struct ibcc_service *s, const char *reason, json_t **out,
			   struct ibcc_why *why);
/* {"transaction","seconds_left","over"} for what is on trial, a new reference; null if nothing is.
 * "over" says why the service is reverting it, or is null.
 */
json_t *ibcc_service_trial(const struct ibcc_service *s);
/* Sets the seconds that are left now in an object of ibcc_service_trial(), for a trial that is due
 * at `due_ns`. From any thread.
 */
void ibcc_service_trial_left(json_t *trial, uint64_t due_ns);
/* Reads all settings and rewrites those that differ from what we wrote, paused or not. */
int ibcc_service_repair(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			struct ibcc_why *why);
/* Gives every node this CC_Key, with protect bit and lease. Leaves nodes alone that have the key
 * already, unless they need the protect bit or the lease. From then on the service uses this key.
 */
int ibcc_service_set_key(struct ibcc_service *s, const struct ibcc_cc_key_info *key,
			 const struct ibcc_request *r, json_t **out, struct ibcc_why *why);
/* Reads what all devices support; see ibcc_report_probe(). */
int ibcc_service_probe(struct ibcc_service *s, json_t **out, struct ibcc_why *why);
/* Reads settings from the fabric now, NVIDIA's too; see ibcc_report_show(). */
int ibcc_service_show(struct ibcc_service *s, const char *filter, json_t **out,
		      struct ibcc_why *why);
/* Transactions, newest first, or one (id > 0) with its changes. With `series` also "series", the
 * measurements of the last 24 hours, see ibcc_state_series().
 */
int ibcc_service_history(struct ibcc_service *s, int64_t id, unsigned int limit, bool series,
			 json_t **out, struct ibcc_why *why);
/* What jobs did and suffered that were seen in the last `since_s` seconds, of a user and with a
 * number ("": any): {"schema","since","jobs":[...]}. -EACCES: users are kept back.
 */
int ibcc_service_jobs(struct ibcc_service *s, uint32_t since_s, const char *user, const char *id,
		      json_t **out, struct ibcc_why *why);
/* Everything about the last polling cycle in one object:
 * {"schema","version","made","host","status","error","plan","map","settings","history","series"}.
 * Settings and history are lists. What is not known is null, and then "error" may say why. Sends no
 * MAD. -EAGAIN as ibcc_service_plan().
 */
int ibcc_service_report(struct ibcc_service *s, json_t **out, struct ibcc_why *why);
/* The last polling cycle as data for offline analysis, see ibcc_report_bundle(), with made-up names
 * if `anonymous`. Sends no MAD. -EAGAIN: there was no polling cycle yet; -ENOMEM; -EINVAL for a
 * topology that cannot get such names.
 */
int ibcc_service_bundle(struct ibcc_service *s, bool anonymous, json_t **out, struct ibcc_why *why);
/* Why the service is not well, most urgent first. The service reports the first cause that holds.
 */
enum ibcc_trouble {
	IBCC_TROUBLE_NONE,
	IBCC_TROUBLE_PLUGIN,     /* the plugin's OpenSM does not answer: everything waits */
	IBCC_TROUBLE_PASS,       /* the last polling cycle failed */
	IBCC_TROUBLE_WRITE,      /* a part of its plan did not take effect */
	IBCC_TROUBLE_STATE_FILE, /* the state file cannot be written, or is damaged in part */
	IBCC_TROUBLE_TRIAL,      /* the trial must be reverted, and is not yet */
	IBCC_TROUBLE_DISCOVERY,  /* the topology has gaps, or contradicts itself */
	IBCC_TROUBLE_ERRORS,     /* nodes answer congestion control requests with errors */
	IBCC_TROUBLE_CLOCK,      /* the simulated fabric's time stands still */
	IBCC_TROUBLE_KEYS,       /* nodes have another CC_Key, or the files of keys are bad */
	IBCC_TROUBLE_NO_EFFECT,  /* a switch takes settings and does nothing with them */
	IBCC_TROUBLE_ELECTION,   /* another program writes, or no daemon can */
	IBCC_TROUBLE_SKIPPED,    /* settings could not be reverted everywhere */
	IBCC_TROUBLE_OWED,       /* a rollback or disable is still to be done at present nodes */
	IBCC_TROUBLE_REFUSED,    /* this fabric may only be observed, never written */
	IBCC_TROUBLE_HOLD,       /* a plan failed and is tried again later */
	/* The log reports only the causes above this line. */
	IBCC_TROUBLE_BLIND,      /* too few counters were read to decide on */
	IBCC_TROUBLE_COUNTERS,   /* counters of some ports are inconsistent */
	IBCC_TROUBLE_HELD_BACK,  /* settings throttle adapters at all times */
	IBCC_TROUBLE_HELD_BELOW, /* adapters can be throttled more than intended */
	IBCC_TROUBLE_FOUGHT,     /* settings change again after each repair */
	IBCC_TROUBLE_SHARED,     /* two nodes have one GUID, or two ports one LID */
};
/* The first cause in from..to that holds, described in *why; NONE and no words if none does. */
enum ibcc_trouble ibcc_service_trouble(const struct ibcc_service *s, enum ibcc_trouble from,
				       enum ibcc_trouble to, struct ibcc_why *why);
/* Name for programs: lower case, with underscores. */
const char *ibcc_trouble_name(enum ibcc_trouble code);
/* Does a part of what is due since a map of jobs came: charges the jobs with the polling cycles
 * before, and stores that. Call again while it returns true and nothing else is to be done: a crash
 * loses the rest. The next polling cycles and the end do what is left.
 */
bool ibcc_service_account_jobs(struct ibcc_service *s);
/* Which jobs cause congestion at a root of the last polling cycle, and which suffer, as a sentence
 * without the names of users and jobs; empty: no job is known to take part. Returns a key of these
 * jobs, which does not depend on how much each contributes.
 */
uint64_t ibcc_service_whose(const struct ibcc_service *s, uint32_t port, char *buf, size_t len);

/* Are there marking profiles of NVIDIA's switches that this service wrote and did not restore? */
bool ibcc_service_has_profiles(const struct ibcc_service *s);
/* Call when the daemon ends: restores them. *out is the outcome, NULL if nothing was to be done. */
int ibcc_service_end_profiles(struct ibcc_service *s, json_t **out, struct ibcc_why *why);

/* State of the service: mode, fabric, SM, plugin, last error. */
json_t *ibcc_service_status(const struct ibcc_service *s);

/* What the service reports to monitoring. */
void ibcc_service_metrics(const struct ibcc_service *s, struct ibcc_metrics_service *out);

/* What the current call is busy with, in words. From any thread. */
const char *ibcc_service_stage(const struct ibcc_service *s);

/* Makes the current call return soon. From any thread. After that only ibcc_service_free() may be
 * called.
 */
void ibcc_service_cancel(struct ibcc_service *s);

#endif
