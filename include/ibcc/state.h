/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What we did to the fabric, on disk: each plan is stored with the old values before its first Set,
 * so that whatever happens in between can be undone.
 *
 * A transaction is one plan carried out. `rollback` reverts all transactions that are not reverted
 * yet, or those from a given one on.
 */
#ifndef IBCC_STATE_H
#define IBCC_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <jansson.h>

#include <ibcc/audit.h>
#include <ibcc/book.h>
#include <ibcc/debt.h>
#include <ibcc/plan.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

struct ibcc_state;
struct ibcc_whose_row; /* <ibcc/whose_account.h> */

/* Settings of ours of which the file does not know any more what was there before us, or what we
 * wrote, since rows of it are damaged.
 */
struct ibcc_damage {
	uint32_t n;
	/* The oldest transaction of damaged rows that do not even name their attribute. A later
	 * transaction that seems to be the first to write an attribute may not have been the first.
	 * 0: none.
	 */
	int64_t unplaced;
	struct ibcc_why first; /* names the first of them */
};

/* The origin and the reason of a transaction. */
struct ibcc_txn {
	const char *who;       /* "ibcc-tuned", "root (uid 0, pid 123)" */
	const char *action;    /* "tune", "apply", "disable", "rollback" */
	const char *via;       /* applier's name */
	const char *summary;   /* the decision in a sentence */
	const char *decisions; /* in codes, see ibcc_decisions_json(); NULL: none led to it */
	int64_t undoes_from;   /* rollback: the first transaction it takes back; else 0 */
	uint32_t confirm_s;    /* on trial: to be confirmed within this many seconds; 0: no trial */
	/* The newest transaction, of which this is a further step: one entry of the history, which
	 * keeps its action, summary and trial; 0: this begins a transaction of its own.
	 */
	int64_t extends;
	/* Texts that are stored in the same commit as the plan; NULL: the old ones stay. */
	const char *control;  /* what the settings are for, see ibcc_control_json() */
	const char *refining; /* this is the first step of several: what the others may write */
};

/* A trial: the transaction is reverted unless a user confirms it in time. */
struct ibcc_trial {
	int64_t txn; /* 0: there was none yet */
	uint32_t within_s;
	int64_t until_s; /* seconds since 1970 */
	bool pending, confirmed;
};

/* What is kept of a pass. Those up to the wait are worse the more they are. */
enum ibcc_sample_field {
	IBCC_SAMPLE_ROOTS,
	IBCC_SAMPLE_VICTIMS,
	IBCC_SAMPLE_WAITING,       /* channel adapters that wait longer than ca_wait_permille */
	IBCC_SAMPLE_WAIT_PERMILLE, /* of the root, or of a port of its tree, that waits longest */
	IBCC_SAMPLE_TOTAL_MBPS,    /* what all channel adapters send */
	IBCC_SAMPLE_VICTIM_MBPS,   /* what victims send */
	IBCC_SAMPLE_SWITCHES_ON,   /* that mark */
	IBCC_SAMPLE_ADAPTERS_ON,   /* that hold back marked flows */
	IBCC_SAMPLE_FIELDS
};

struct ibcc_state_sample {
	int64_t at_s; /* since 1970 */
	int64_t value[IBCC_SAMPLE_FIELDS];
};

/* Opens or creates the database, and closes transactions that a dead process left open: their
 * changes count as perhaps made. If the file cannot be written, it is only read. If it cannot be
 * read, we go on without it: see ibcc_state_trouble(). NULL with *err and *why without memory.
 */
struct ibcc_state *ibcc_state_open(const char *file, int *err, struct ibcc_why *why);
void ibcc_state_close(struct ibcc_state *s);

/* Declares that the caller holds the lock (ibcc_lock_take()) as long as it has the file open. So
 * any open transaction was left by a dead process, even if another process now has its number, as
 * after a crash of the host. Call it before the first transaction. -EIO.
 */
int ibcc_state_claim(struct ibcc_state *s);

/* Why nothing can be stored, or which part of the file is damaged, and what to do about it. NULL if
 * the last write succeeded and the file is sound.
 */
const char *ibcc_state_trouble(const struct ibcc_state *s);

/* Why the read just before failed with `rc`, and what to do about it. Returns -EIO or -ENOMEM. What
 * is read for an answer only is no trouble.
 */
int ibcc_state_not_read(const struct ibcc_state *s, int rc, struct ibcc_why *why);

/* Checks whether the file is still at its place, and whether what is ours can be read from it.
 * After trouble it tries the file again and stores what could not be stored before. Returns 0, -EIO
 * with the trouble, or -ENOMEM.
 */
int ibcc_state_check(struct ibcc_state *s, struct ibcc_why *why);

/* The number of transactions that ibcc_state_open() or ibcc_state_claim() found open: the previous
 * process ended in the middle of them.
 */
uint32_t ibcc_state_interrupted(const struct ibcc_state *s);

/* Stores a plan durably before it is carried out; its number goes to *id. `t` (may be NULL) gives
 * the nodes their names. *txn and *plan must stay until ibcc_state_end(). Returns 0, -EIO.
 */
int ibcc_state_begin(struct ibcc_state *s, const struct ibcc_txn *txn, const struct ibcc_plan *plan,
		     const struct ibcc_topo *t, int64_t *id, struct ibcc_why *why);

/* The last text of ibcc_txn:control, which the caller frees; NULL if there is none. */
char *ibcc_state_control(struct ibcc_state *s);
/* The transaction that will get further steps, with its text, which the caller frees; NULL if there
 * is none.
 */
char *ibcc_state_refining(struct ibcc_state *s, int64_t *txn);
/* Ends the further steps. With `all`, nothing on the fabric is under control any more either. -EIO.
 */
int ibcc_state_end_refining(struct ibcc_state *s, bool all);

/* Stores the result of a transaction. If a rollback was verified completely, the same commit marks
 * the transactions that it reverted. `err` and `text` are the applier's. A result that cannot be
 * stored is kept until ibcc_state_check() or the next ibcc_state_begin() can.
 */
int ibcc_state_end(struct ibcc_state *s, int64_t id, const struct ibcc_result *r, int err,
		   const char *text, struct ibcc_why *why);

/* Remembers what became of a plan that could not be stored. */
void ibcc_state_note_unrecorded(struct ibcc_state *s, const struct ibcc_txn *txn,
				const struct ibcc_plan *plan, const struct ibcc_result *r, int err);

/* Does the file show which settings are ours? */
bool ibcc_state_is_known(struct ibcc_state *s);

/* Is there anything that could not be stored? */
bool ibcc_state_is_ahead(const struct ibcc_state *s);

/* Joins the transactions from `from` on (0: all) that are not reverted yet into one plan. For each
 * attribute it has the oldest old and the newest new value, so its reverse reverts them. Leaves out
 * what is damaged, and reports it in *damage (may be NULL). *first is the number of the oldest
 * transaction (0: none, and the plan is empty). -ENOENT: there is no transaction `from` to revert.
 * -EIO: the file cannot be read, and nothing is known from before either. -ENOMEM.
 */
int ibcc_state_undo(struct ibcc_state *s, int64_t from, struct ibcc_plan *joined, int64_t *first,
		    struct ibcc_damage *damage, struct ibcc_why *why);

/* Gives up reverting what is damaged, because all congestion control is off. -EIO. */
int ibcc_state_give_up_damaged(struct ibcc_state *s, struct ibcc_why *why);

/* Finds out what became of a change, by looking at the fabric: "verified", "unmade" (it is as
 * before), "differs"; NULL: it cannot be known now. May write the node's LID into it.
 */
typedef const char *ibcc_state_settle_fn(void *arg, struct ibcc_change *c);

/* Asks about every change of which it is not known whether it was made, and stores the answers.
 * Returns 0, -EIO, -ENOMEM.
 */
int ibcc_state_settle(struct ibcc_state *s, ibcc_state_settle_fn *fn, void *arg,
		      struct ibcc_why *why);

/* Compares settings just read with the book, after it has settled by them what can be settled. *a
 * is initialised by the call. -ENOMEM.
 */
int ibcc_state_audit(struct ibcc_state *s, const struct ibcc_topo *t,
		     const struct ibcc_settings *actual, struct ibcc_audit *a,
		     struct ibcc_why *why);

/* The newest transaction on trial, pending or not. -EIO: it cannot be known. */
int ibcc_state_trial(struct ibcc_state *s, struct ibcc_trial *t);

/* Ends a trial that is pending: "confirmed", or "switched off" if there is nothing left to revert.
 * A rollback that reverts a trial also ends it, in ibcc_state_end(). -EIO.
 */
int ibcc_state_trial_end(struct ibcc_state *s, int64_t txn, const char *outcome, const char *who,
			 struct ibcc_why *why);

/* All that is ours, by attribute, as far as it is known: the state's, until it is changed. -ENOMEM.
 */
int ibcc_state_book(struct ibcc_state *s, const struct ibcc_book **book, struct ibcc_why *why);

/* All that is owed; *debts is left alone on failure. -EIO, -ENOMEM. */
int ibcc_state_debts(struct ibcc_state *s, struct ibcc_debts *debts);
/* Stores a debt, in place of an older one for its endport; its name is not used. -EIO. */
int ibcc_state_owe(struct ibcc_state *s, const struct ibcc_debt *debt);
/* Removes a debt, if it is still the stored one. -EIO. */
int ibcc_state_paid(struct ibcc_state *s, const struct ibcc_debt *debt);
/* Were no settings requested or decided after a transaction? Rollbacks, repairs and new keys are
 * none.
 */
bool ibcc_state_is_last_wish(struct ibcc_state *s, int64_t txn);

/* Keeps what was predicted of a transaction; see ibcc_report_prediction(). -EIO, -ENOMEM. */
int ibcc_state_predicted(struct ibcc_state *s, int64_t id, const json_t *prediction);
/* How often predictions held: of the transactions with a measured effect and a predicted range of
 * the total (`of`), the number with the effect in that range (`held`).
 */
void ibcc_state_hits(struct ibcc_state *s, uint32_t *held, uint32_t *of);

/* The newest transaction's number; 0: none, or it cannot be known. */
int64_t ibcc_state_newest(struct ibcc_state *s);
/* The number of the newest transaction of any other process; -1: unknown. */
int64_t ibcc_state_newest_of_others(struct ibcc_state *s);

/* The first and the last transaction with a measurement from before it, but none of its effect.
 * *first is 0 if there are none. -EIO.
 */
int ibcc_state_unmeasured(struct ibcc_state *s, int64_t *first, int64_t *last);
/* Notes that the effect of transactions first..last can no longer be measured. -EIO. */
int ibcc_state_unmeasurable(struct ibcc_state *s, int64_t first, int64_t last);
/* Keeps a measurement from before the transactions first..last, and one from `passes` passes after
 * them. -EIO.
 */
int ibcc_state_before(struct ibcc_state *s, int64_t first, int64_t last,
		      const struct ibcc_state_sample *sample);
int ibcc_state_after(struct ibcc_state *s, int64_t first, int64_t last, unsigned int passes,
		     const struct ibcc_state_sample *sample);

/* Keeps what blocked senders sent before the transactions first..last, and what they send after
 * them: [{"node_guid","node","port","before_mbps","after_mbps"}], where "after_mbps" is null until
 * it is measured. A later list replaces it. -EIO, -ENOMEM.
 */
int ibcc_state_keep_senders(struct ibcc_state *s, int64_t first, int64_t last, const json_t *list);
/* The list of a transaction: a new reference, null if it has none. */
json_t *ibcc_state_senders(struct ibcc_state *s, int64_t txn);
/* The newest transaction that is not reverted, that found congestion control off everywhere, and
 * that has such a list; 0: none.
 */
int64_t ibcc_state_turned_on(struct ibcc_state *s);

/* Adds to the series of the last 24 hours, and forgets what is older than that before it, or later,
 * or more than a few thousand. -EIO.
 */
int ibcc_state_add_sample(struct ibcc_state *s, const struct ibcc_state_sample *sample);
/* The series of samples, {"fields": [name], "rows": [[number]]}, oldest first; the first field is
 * "at". NULL with *err.
 */
json_t *ibcc_state_series(struct ibcc_state *s, int *err);

/* Adds sums of jobs to those that are there, and forgets jobs that were last seen more than 30 days
 * before `now_s`, or after it, or that are not among the last few thousand. Of a job's roots the
 * longest stay, 16 at most. All or nothing. -EIO.
 */
int ibcc_state_add_jobs(struct ibcc_state *s, const struct ibcc_whose_row *row, uint32_t n,
			int64_t now_s);
/* Jobs that were seen at `since_s` or later, of a user and with a number ("": any), those that did
 * most harm first, 1000 at most, as a JSON array. NULL with *err and *why: -EIO, -ENOMEM.
 */
json_t *ibcc_state_jobs(struct ibcc_state *s, int64_t since_s, const char *user, const char *id,
			int *err, struct ibcc_why *why);

/* The newest transactions, newest first, as a JSON array; those of one number with its changes.
 * NULL with *err: -ENOENT, -EIO, -ENOMEM.
 */
json_t *ibcc_state_history(struct ibcc_state *s, unsigned int limit, int *err);
json_t *ibcc_state_transaction(struct ibcc_state *s, int64_t id, int *err);

/* A remark that outlives the process; an empty text takes it away. The returned text is owned by
 * the caller, NULL if there is none.
 */
int ibcc_state_note_set(struct ibcc_state *s, const char *key, const char *text);
char *ibcc_state_note(struct ibcc_state *s, const char *key);

/* Forgets what is older than 90 days at `now_s` (seconds since 1970), and of the rest the older
 * half again and again until the file uses no more than `max_bytes`; but for what a rollback or the
 * audit needs. The file itself does not shrink: its room is used again. -EIO.
 */
int ibcc_state_prune(struct ibcc_state *s, int64_t now_s, uint64_t max_bytes);

#endif
