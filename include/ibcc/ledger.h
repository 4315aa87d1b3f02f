/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ledger: which settings of each endport are ours, and which it is to have in the end.
 *
 * What we know of that is in four places, each with one job:
 *
 * - the book (<ibcc/book.h>), which the state file keeps: of each attribute the value from before
 * our first write, what we wrote last, and whether that was read back;
 * - the ledger, here: what the endports of the present topology have of ours, and their base, which
 *   is what they have without us;
 * - the audit (<ibcc/audit.h>): what another program has changed since;
 * - debts (<ibcc/debt.h>): what a rollback or a disable could not do at nodes that were away.
 *
 * The ledger joins the book, the settings that were read, and what the tuner decides:
 *
 *             ibcc_ledger_look(): by the book, something of ours is there
 *       NONE ------------------------------------------------------------> LEFT
 *        |   <------------------------------------------------------------  |
 *        |              it is gone, or another program wrote over it        |
 *        |                                                                  |
 *        |  ibcc_ledger_hold(): the base        ibcc_ledger_hold(): the     |
 *        |  is what it has now                  base is what the book says  |
 *        |                                                                  |
 *        +---------------------------> HELD <-------------------------------+
 *                                       |
 *                                       v  ibcc_ledger_release(): it has its base again
 *                                      NONE
 *
 * The tuner always sees the settings that were read. It holds an endport as soon as a root wants
 * settings for it, and lays them over the base. What an earlier tuner left, before a restart, a new
 * topology or a change of the limits, stays for some passes, since it may be what holds congestion
 * back. Then the endport gets its base again.
 */
#ifndef IBCC_LEDGER_H
#define IBCC_LEDGER_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/book.h>
#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/topo.h>

enum ibcc_ledger_hold {
	IBCC_LEDGER_NONE, /* nothing of ours, as far as is known */
	IBCC_LEDGER_LEFT, /* it has settings of ours that the tuner does not hold */
	IBCC_LEDGER_HELD, /* the tuner decides on it, or has yet to put it back */
};

/* Zero is a ledger of no topology. */
struct ibcc_ledger {
	uint32_t n, n_left;
	enum ibcc_ledger_hold *hold; /* by endport; owned */
	struct ibcc_settings base;   /* of LEFT and HELD: what they have without us */
	/* Passes in a row in which no root needed what is LEFT, and in which the counters were good
	 * enough to judge that.
	 */
	uint32_t passes;
};

/* Forgets all: the tuner has forgotten what it held. */
void ibcc_ledger_reset(struct ibcc_ledger *l);

/* Makes it one of a topology with this many endports, or empties it. -ENOMEM. */
int ibcc_ledger_fit(struct ibcc_ledger *l, const struct ibcc_topo *t);

/* Finds out what is LEFT, by the book and by the settings as read. Endports that are HELD, or may
 * not be written now, stay what they were. -ENOMEM.
 */
int ibcc_ledger_look(struct ibcc_ledger *l, const struct ibcc_book *b, const struct ibcc_topo *t,
		     const struct ibcc_settings *actual);

/* The tuner wants settings for an endport: it is HELD, and its base is known from then on. -ENOMEM.
 */
int ibcc_ledger_hold(struct ibcc_ledger *l, uint32_t endport, const struct ibcc_endport_cc *actual);
/* The tuner wants none any more, and the endport has its base. */
void ibcc_ledger_release(struct ibcc_ledger *l, uint32_t endport);

static inline bool ibcc_ledger_is_held(const struct ibcc_ledger *l, uint32_t endport)
{
	return endport < l->n && l->hold[endport] == IBCC_LEDGER_HELD;
}

/* Has it settings that the tuner holds, or that were left? */
static inline bool ibcc_ledger_is_ours(const struct ibcc_ledger *l, uint32_t endport)
{
	return endport < l->n && l->hold[endport] != IBCC_LEDGER_NONE;
}

/* Sets which[endport] for those that have something of ours by the book, or are HELD by the ledger
 * (may be NULL), with any settings. Returns how many are set.
 */
uint32_t ibcc_ledger_ours(const struct ibcc_ledger *l, const struct ibcc_book *b,
			  const struct ibcc_topo *t, bool *which);

/* An endport's settings without us: turns those that were read into them. See ibcc_book_without().
 */
bool ibcc_ledger_without(const struct ibcc_book *b, const struct ibcc_topo *t, uint32_t endport,
			 struct ibcc_endport_cc *ep);

/* The part of a plan that only puts endports back to what they have without us. *part is
 * initialised by the call. -ENOMEM.
 */
int ibcc_ledger_way_back(const struct ibcc_book *b, const struct ibcc_topo *t,
			 const struct ibcc_settings *actual, const struct ibcc_plan *plan,
			 struct ibcc_plan *part);

#endif
