/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What one can ask for: a pass of the loop, the plan, apply, rollback, disable, show, history.
 *
 * It opens what these need (umad port, plugin, topology, state file) and keeps it open. The
 * daemon's worker thread and the command line without a daemon both sit on top of this. Calls
 * block for as long as MADs take; all but ibcc_service_cancel() are made by one thread.
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

/* NULL without memory or descriptors. The configuration is copied; nothing is opened yet. */
struct ibcc_service *ibcc_service_new(const struct ibcc_config *config, uint64_t cc_key);
void ibcc_service_free(struct ibcc_service *s);

/* Whoever has the service holds the lock as long; before the state file is opened. */
void ibcc_service_claim(struct ibcc_service *s);

/* The service lives on: it subscribes to the traps that tell of a changed fabric, where there is no
 * plugin to tell of that.
 */
void ibcc_service_listen(struct ibcc_service *s);

/* Opens the state file where it is not open, as well as it can be: ibcc_state_open(). -ENOMEM. */
int ibcc_service_open_state(struct ibcc_service *s, struct ibcc_why *why);

/* Takes another configuration over. What it changes is opened anew at the next pass; the sockets
 * and the state file of the daemon itself stay. -ENOMEM leaves the old one.
 */
int ibcc_service_reconfigure(struct ibcc_service *s, const struct ibcc_config *config,
			     uint64_t cc_key);

/* The longest trial. */
#define IBCC_CONFIRM_MAX_S 86400u

/* How a plan is to be carried out when somebody asks for it. */
struct ibcc_request {
	const char *who;
	bool skip_unsupported; /* nodes without congestion control do not stop an apply */
	uint32_t confirm_s;    /* apply: on trial, taken back unless confirmed so soon; 0: no */
	int64_t made_s;        /* apply: when the plan's file was made, since 1970; 0: of no file */
};

/* Whether such an apply can be carried out now: -EBUSY while something is on trial; -EIO if it is
 * to be on trial and that cannot be written down.
 */
int ibcc_service_may_apply(struct ibcc_service *s, const struct ibcc_request *apply,
			   struct ibcc_why *why);

/* One pass of the loop. Without a request it writes only in mode apply; with one it applies, or
 * tells why not, and ends a pause. Returns 0 or as ibcc_cycle_run(), or why there is no port or
 * topology, or as ibcc_service_may_apply().
 */
int ibcc_service_pass(struct ibcc_service *s, const struct ibcc_request *apply,
		      struct ibcc_why *why);

/* A pass that writes nothing, whatever the mode. */
int ibcc_service_pass_dry(struct ibcc_service *s, struct ibcc_why *why);

/* The last pass; NULL before there is a topology. */
const struct ibcc_cycle *ibcc_service_cycle(const struct ibcc_service *s);

/* Whether the daemon would write: mode apply and not paused. */
bool ibcc_service_writes(const struct ibcc_service *s);

/* The following give 0 and a new JSON object in *out, or an error and a sentence in *why; where a
 * part failed *out may be there as well.
 */
/* The last pass as ibcc_report_plan() has it, with "age_ms", how long ago it came to its decision.
 * -EAGAIN: no pass has come to a decision yet, or none since something was written. With `data`
 * there are keys "data" and "control", with all that ibcc_service_apply_plan() needs.
 */
int ibcc_service_plan(struct ibcc_service *s, bool data, json_t **out, struct ibcc_why *why);
/* Once when an apply that was asked for is complete, or has ended before: why, in words; else NULL.
 */
const char *ibcc_service_refinement_news(struct ibcc_service *s, int64_t *txn, bool *settled);
/* Once, that what a rollback or a disable could not do was done, in *news; NULL: there is no news.
 */
const char *ibcc_service_debt_news(struct ibcc_service *s, struct ibcc_why *news);
/* Is a further step of an apply to come? */
bool ibcc_service_refines(const struct ibcc_service *s);
/* Who asked for the last pass has been answered: if it has carried its plan out, that is a plan no
 * longer. */
void ibcc_service_answered(struct ibcc_service *s);
/* Begins a prediction for the plan of the last pass, in a thread of its own, where there is a plan
 * and none was made for it. -EINPROGRESS: it is under way, done(arg) is called from that thread,
 * and then ibcc_service_predicted() has plan and prediction; 0: there is nothing to wait for;
 * -EBUSY: one for something else is under way, and this is to be asked again when it has ended.
 */
int ibcc_service_predict(struct ibcc_service *s, void (*done)(void *arg), void *arg);
/* Likewise for settings of one's own, see ibcc_what_if(). -EAGAIN: no pass has come to a decision
 * yet; -EINVAL.
 */
int ibcc_service_what_if(struct ibcc_service *s, const json_t *set, void (*done)(void *arg),
			 void *arg, struct ibcc_why *why);
/* Breaks off a what-if under way, which ends within a simulated millisecond and calls done(arg) as
 * always. False: what is under way is the prediction of the plan, which is of use to whoever asks
 * next.
 */
bool ibcc_service_abandon_prediction(struct ibcc_service *s);
/* Waits for it where it has not ended. */
int ibcc_service_predicted(struct ibcc_service *s, bool data, json_t **out, struct ibcc_why *why);
/* Who is to be told when a prediction has ended that nobody asked for: of what a pass wrote. He
 * calls ibcc_service_predicted_all() then.
 */
void ibcc_service_on_predicted(struct ibcc_service *s, void (*done)(void *arg), void *arg);
/* Everybody who asked for that plan has it; what was written has it beside it in the history. */
void ibcc_service_predicted_all(struct ibcc_service *s);
/* Restores the values from before transaction `from` (0: before the first that is not taken back).
 * A daemon in mode apply pauses, so that it does not make them anew at once.
 */
int ibcc_service_rollback(struct ibcc_service *s, int64_t from, const struct ibcc_request *r,
			  json_t **out, struct ibcc_why *why);
/* Takes marking off all switches and throttling off all channel adapters; pauses likewise. */
int ibcc_service_disable(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			 struct ibcc_why *why);
/* Carries out a plan that was made earlier, all of it or nothing; the next passes refine the
 * settings of its roots until these hold. `control` has the roots as they
 * were decided about. -ESTALE: nothing is written, since the fabric is no longer as it was when the
 * plan was made, with what differs; -EINVAL: the plan is not that of its roots.
 */
int ibcc_service_apply_plan(struct ibcc_service *s, const struct ibcc_plan *saved,
			    const struct ibcc_control *control, const struct ibcc_request *r,
			    json_t **out, struct ibcc_why *why);
/* What that would write, by name and field, with the reasons that its roots have: "changes",
 * "writes", "summary". Nothing of it is the word of who brings the plan. Returns what that would
 * return instead of writing.
 */
int ibcc_service_look_at_plan(struct ibcc_service *s, const struct ibcc_plan *saved,
			      const struct ibcc_control *control, const struct ibcc_request *r,
			      json_t **out, struct ibcc_why *why);
/* While a transaction is on trial nothing else is written, but to take settings off. It is taken
 * back when its time is over, when a part of it failed, and when it is found by a service that has
 * not begun it, since whoever watched it is no more.
 */
/* Lets what is on trial stand. -ENOENT: nothing is, or too late. */
int ibcc_service_confirm(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			 struct ibcc_why *why);
/* Takes it back now. -ENOENT: nothing is on trial; else as ibcc_service_rollback(). */
int ibcc_service_cancel_trial(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			      struct ibcc_why *why);
/* When ibcc_service_end_trial() is to be called next, in ns of CLOCK_MONOTONIC; UINT64_MAX: nothing
 * is on trial.
 */
uint64_t ibcc_service_trial_due_ns(const struct ibcc_service *s);
/* Takes back what is on trial, with the reason that its time is over, or `reason`. */
int ibcc_service_end_trial(struct ibcc_service *s, const char *reason, json_t **out,
			   struct ibcc_why *why);
/* {"transaction","seconds_left","over"}: what is on trial, a new reference, null if nothing is;
 * "over" is null, or why it is being taken back.
 */
json_t *ibcc_service_trial(const struct ibcc_service *s);
/* Puts into such an object what is left now of a trial that is due then; from any thread. */
void ibcc_service_trial_left(json_t *trial, uint64_t due_ns);
/* Reads all settings and writes again what is not as we left it, paused or not. */
int ibcc_service_repair(struct ibcc_service *s, const struct ibcc_request *r, json_t **out,
			struct ibcc_why *why);
/* Gives every node this CC_Key, with protect bit and lease; nodes that have it already are left
 * alone, unless they are to have protect bit or lease. Ours is the one that they want now.
 */
int ibcc_service_set_key(struct ibcc_service *s, const struct ibcc_cc_key_info *key,
			 const struct ibcc_request *r, json_t **out, struct ibcc_why *why);
/* Reads what all devices answer; see ibcc_report_probe(). */
int ibcc_service_probe(struct ibcc_service *s, json_t **out, struct ibcc_why *why);
/* Settings read from the fabric now; see ibcc_report_settings(). */
int ibcc_service_show(struct ibcc_service *s, const char *filter, json_t **out,
		      struct ibcc_why *why);
/* Transactions, newest first, or one (id > 0) with its changes; with `series` also "series", what
 * was measured in the last 24 hours, see ibcc_state_series().
 */
int ibcc_service_history(struct ibcc_service *s, int64_t id, unsigned int limit, bool series,
			 json_t **out, struct ibcc_why *why);
/* All about the last pass in one piece: {"schema","version","made","host","status","error","plan",
 * "map","settings","history","series"}: settings and history are lists; what is not known is null,
 * and then error may say why. No MAD is sent for it. -EAGAIN as ibcc_service_plan().
 */
int ibcc_service_report(struct ibcc_service *s, json_t **out, struct ibcc_why *why);
/* The last pass in a form to be computed with, see ibcc_report_bundle(); under made-up names if it
 * is to be anonymous. No MAD is sent for it. -EAGAIN: there was no pass yet; -ENOMEM, or -EINVAL
 * for a topology that has no such names.
 */
int ibcc_service_bundle(struct ibcc_service *s, bool anonymous, json_t **out, struct ibcc_why *why);
/* Why the service is not well, in the order in which causes are looked for: the first that holds is
 * told.
 */
enum ibcc_trouble {
	IBCC_TROUBLE_NONE,
	IBCC_TROUBLE_PLUGIN,     /* the plugin's OpenSM does not answer: nothing goes on */
	IBCC_TROUBLE_PASS,       /* the last pass came to no end */
	IBCC_TROUBLE_WRITE,      /* its plan did not take effect altogether */
	IBCC_TROUBLE_STATE_FILE, /* nothing can be written down, or some of it is damaged */
	IBCC_TROUBLE_TRIAL,      /* what was on trial is to be taken back, and is not yet */
	IBCC_TROUBLE_DISCOVERY,  /* has gaps, or contradicts itself */
	IBCC_TROUBLE_ERRORS,     /* nodes answer congestion control requests with errors */
	IBCC_TROUBLE_CLOCK,      /* the simulated fabric's time stands still */
	IBCC_TROUBLE_KEYS,       /* nodes have another CC_Key, or the files of keys are bad */
	IBCC_TROUBLE_NO_EFFECT,  /* a switch takes settings and does nothing with them */
	IBCC_TROUBLE_ELECTION,   /* another program writes, or no daemon can */
	IBCC_TROUBLE_SKIPPED,    /* settings could not be taken back everywhere */
	IBCC_TROUBLE_OWED,       /* a rollback or disable is to be done at nodes that are there */
	IBCC_TROUBLE_REFUSED,    /* the fabric is not ours to write to */
	IBCC_TROUBLE_HOLD,       /* a plan failed and is tried again later */
	/* The log has those before alone. */
	IBCC_TROUBLE_BLIND,      /* too few counters were read to decide on */
	IBCC_TROUBLE_COUNTERS,   /* counters of some ports are not believed */
	IBCC_TROUBLE_HELD_BACK,  /* settings hold adapters back at all times */
	IBCC_TROUBLE_HELD_BELOW, /* adapters can be held back more than is meant */
	IBCC_TROUBLE_FOUGHT,     /* settings change again after each repair */
	IBCC_TROUBLE_SHARED,     /* two nodes have one GUID, or two ports one LID */
};
/* The first from `from` to `to` that holds, with its words in *why; NONE and no words if none
 * does.
 */
enum ibcc_trouble ibcc_service_trouble(const struct ibcc_service *s, enum ibcc_trouble from,
				       enum ibcc_trouble to, struct ibcc_why *why);
/* For programs: lower case, with underscores. */
const char *ibcc_trouble_name(enum ibcc_trouble code);
/* State of the service: mode, fabric, SM, plugin, last error. */
json_t *ibcc_service_status(const struct ibcc_service *s);

/* What monitoring is told of it. */
void ibcc_service_metrics(const struct ibcc_service *s, struct ibcc_metrics_service *out);

/* From any thread: what the call under way is busy with, in words. */
const char *ibcc_service_stage(const struct ibcc_service *s);

/* From any thread: makes the call that is under way return soon. The service is then only good for
 * ibcc_service_free().
 */
void ibcc_service_cancel(struct ibcc_service *s);

#endif
