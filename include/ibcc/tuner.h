/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Decides which settings the fabric should have: which hotspots are controlled, from when, for how
 * long and how firmly (controller), what nodes get for that (overlay), and why (decisions).
 */
#ifndef IBCC_TUNER_H
#define IBCC_TUNER_H

#include <stdbool.h>

#include <ibcc/control.h>
#include <ibcc/estimate.h>
#include <ibcc/parameters.h>
#include <ibcc/settings.h>
#include <ibcc/target.h>
#include <ibcc/topo.h>

struct ibcc_tuner_params {
	uint8_t confirm_passes;      /* congestion must be seen in this many passes before acting */
	uint8_t settle_passes;       /* passes to wait after a change before judging it */
	uint16_t sink_busy_permille; /* hot port at least so busy, else its sources are held less */
	uint16_t victim_wait_permille; /* an adapter that waits for longer is a victim */
	uint16_t quiet_passes;         /* passes without congestion before settings are removed */
	uint16_t guard_passes; /* passes after a change in which harm reverts it; 0: never */
};
void ibcc_tuner_defaults(struct ibcc_tuner_params *p);

/* What a tuner may do. */
struct ibcc_tuner_limits {
	struct ibcc_overlay overlay;
	bool may_learn;  /* what steps want is carried out: else learning does not begin */
	bool recommends; /* what steps decide is only recommended: nothing is written */
	/* By endport: steps give no settings to others, and control no further roots. NULL: there
	 * is no such limit. Borrowed.
	 */
	const bool *within;
};

struct ibcc_tuner; /* state between steps */

/* <ibcc/ledger.h>: the calls below empty one that is of another fabric. */
struct ibcc_ledger;

/* NULL without memory. */
struct ibcc_tuner *ibcc_tuner_new(const struct ibcc_tuner_params *p);
void ibcc_tuner_free(struct ibcc_tuner *t);

/* One decision. *out is initialised by the call, freed by ibcc_target_fini(). -ENOMEM. */
int ibcc_tuner_step(struct ibcc_tuner *tuner, const struct ibcc_topo *t,
		    const struct ibcc_estimate *p, const struct ibcc_settings *actual,
		    struct ibcc_ledger *ledger, struct ibcc_target *out);

/* What the last step decided; the tuner's until the next. */
const struct ibcc_parameters *ibcc_tuner_parameters(const struct ibcc_tuner *tuner);

/* The limits of the next steps, which the caller may change between two steps. At first there is
 * none, but nothing is learnt.
 */
struct ibcc_tuner_limits *ibcc_tuner_limits(struct ibcc_tuner *tuner);

/* Reports that another program, or a reboot of the node, changed what this tuner had given an
 * endport. The feedback of the passes before then was about other settings. So in the next step
 * each root with settings at this endport goes back to the formulas. Call this once the settings
 * are on the endport again.
 */
void ibcc_tuner_disturb(struct ibcc_tuner *tuner, const struct ibcc_topo *t, uint32_t endport);

/* Do the settings of all roots hold: on the fabric, judged since the last change, and no change to
 * come? Also true without any root whose settings are wanted.
 */
bool ibcc_tuner_is_settled(const struct ibcc_tuner *tuner);

/* Copies what was decided about roots whose settings are wanted. *out is initialised by the call
 * and freed by ibcc_control_fini(). -ENOMEM.
 */
int ibcc_tuner_save(const struct ibcc_tuner *tuner, const struct ibcc_topo *t,
		    struct ibcc_control *out);

/* Takes roots over from *c as if this tuner had decided about them itself; the ledger, which has
 * looked at the book, holds their endports then. Without `all` a root is taken only if its switch
 * port marks by settings of ours, and one of its members has settings of ours. Roots whose switch
 * has not been read are left in *c, all others are removed from it. -ENOMEM.
 */
int ibcc_tuner_resume(struct ibcc_tuner *tuner, const struct ibcc_topo *t, struct ibcc_control *c,
		      const struct ibcc_settings *actual, struct ibcc_ledger *ledger, bool all);

/* Settings as the roots need them now, without a decision. *out as by ibcc_tuner_step(). */
int ibcc_tuner_lay(struct ibcc_tuner *tuner, const struct ibcc_topo *t,
		   const struct ibcc_settings *actual, struct ibcc_ledger *ledger,
		   struct ibcc_target *out);

/* Forgets all state about the fabric: call it after a new topology or a change of mode. Reset the
 * ledger in which the tuner held endports at that time, too.
 */
void ibcc_tuner_reset(struct ibcc_tuner *tuner);

#endif
