/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Debts: a rollback or a disable that an operator asked for holds for all nodes, also for those
 * that were away or silent at that time.
 */
#ifndef IBCC_DEBT_H
#define IBCC_DEBT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/places.h>
#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/topo.h>

/* What could not be done at an endport. It is owed until it is done, or a later plan is written
 * there.
 */
struct ibcc_debt {
	uint64_t node_guid;
	uint8_t port;
	bool off;     /* by a disable; else by a rollback */
	int64_t from; /* of a rollback: the first transaction that it reverts; 0: all */
	int64_t txn;  /* the transaction that left it */
	char node[IBCC_DESC_BYTES];
	/* Of the last try, the change that failed first; PENDING: it was not tried. The state file
	 * does not have it.
	 */
	struct ibcc_change_result last;
	/* The state file does not have this either. By port of a switch, a sum of the marking
	 * profiles of another program that were found there; 0: of ports that had none, or are not
	 * owed.
	 */
	uint64_t *seen; /* owned */
	uint32_t n_seen;
	bool rests; /* `last` says that all of it is another program's, since the last try */
	bool said;  /* the log has that */
};

struct ibcc_debts {
	uint32_t n;
	uint32_t cap;
	struct ibcc_debt *debt;    /* owned; by transaction, node and port */
	struct ibcc_places places; /* those that ibcc_debts_add() has added */
};
void ibcc_debts_fini(struct ibcc_debts *debts);

/* Adds an endport to what a rollback or a disable could not do, once. The list has no other debts.
 * -ENOMEM.
 */
int ibcc_debts_add(struct ibcc_debts *debts, const struct ibcc_debt *by, uint64_t node_guid,
		   uint8_t port);
/* Adds all endports of its plan with a change that was not verified. -ENOMEM. */
int ibcc_debts_add_failed(struct ibcc_debts *debts, const struct ibcc_debt *by,
			  const struct ibcc_plan *plan, const struct ibcc_result *r);

/* The first change of a plan that is about what is owed, or IBCC_NONE; x->next has the others. */
static inline uint32_t ibcc_debt_first(const struct ibcc_debt *d, const struct ibcc_plan_index *x)
{
	return ibcc_places_get(&x->first, d->node_guid, d->port);
}

/* Has a later rollback or disable done what is owed, at an endport that is `there`, or made it
 * void? What it could not do either is owed again.
 */
bool ibcc_debt_is_covered(const struct ibcc_debt *d, const struct ibcc_debt *by, bool there);

/* Has a plan done it: is no change of the endport in it that was not verified? */
bool ibcc_debt_is_done(const struct ibcc_debt *d, const struct ibcc_plan_index *x,
		       const struct ibcc_result *r);

/* Notes in `last` why a plan has not done it, or leaves `last` as it is. The caller has set it
 * before: to what was left out of the plan, or else to PENDING. What another program has written
 * since is noted only if that was PENDING: no further try helps there.
 */
void ibcc_debt_note(struct ibcc_debt *d, const struct ibcc_plan_index *x,
		    const struct ibcc_result *r);
/* Moves what was noted in `from` of debts that are still owed. */
void ibcc_debts_keep_notes(struct ibcc_debts *debts, struct ibcc_debts *from);
/* What the endport does, according to `last`, as the end of a sentence about it: "refuses the
 * values". NULL: it was not tried.
 */
const char *ibcc_debt_cause(const struct ibcc_debt *d);

/* Does `last` say that all that is left of it is another program's by now? */
static inline bool ibcc_debt_is_others(const struct ibcc_debt *d)
{
	return d->last.outcome == IBCC_OUTCOME_SKIPPED && d->last.err == IBCC_CHANGE_OTHER_WRITER;
}

/* Can it be done now? Settings that another program gave a node keep the tuner away from it, but no
 * rollback and no disable.
 */
static inline bool ibcc_debt_is_payable(const struct ibcc_endport_cc *ep)
{
	enum ibcc_cc_support s = ibcc_endport_support_back(ep);

	return s == IBCC_CC_SUPPORTED || s == IBCC_CC_FOREIGN;
}

#endif
