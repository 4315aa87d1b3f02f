/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings that are ours by the books, but that the tuner does not know of: from before a restart,
 * a new topology, a change of its limits. It sees such endports as they were before us, so that it
 * takes nothing of ours for what it has to leave behind, and what it does not want again for long
 * is taken off.
 */
#ifndef IBCC_INHERIT_H
#define IBCC_INHERIT_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/picture.h>
#include <ibcc/plan.h>
#include <ibcc/settings.h>
#include <ibcc/target.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

struct ibcc_state; /* the state file */

enum ibcc_heir {
	IBCC_HEIR_UNKNOWN, /* not read since */
	IBCC_HEIR_NONE,    /* nothing of ours, or the tuner's by now */
	IBCC_HEIR_LEFT,    /* has what an earlier tuner left, for the time being */
	IBCC_HEIR_GOING,   /* likewise, but is to have what the tuner wants */
	IBCC_HEIR_PLANNED, /* likewise, and there is a plan for it */
};

/* Zero is the beginning: nothing was looked at. */
struct ibcc_inherit {
	uint32_t n, n_left, n_known;
	enum ibcc_heir *heir; /* by endport; owned */
	uint32_t passes;      /* in a row in which they served nobody, and the tuner could tell */
};

/* Begins anew: the tuner has forgotten all. */
void ibcc_inherit_reset(struct ibcc_inherit *h);

/* Looks at endports that were not read before, or could not be the last time. Returns 0, -EIO (the
 * books), -ENOMEM.
 */
int ibcc_inherit_look(struct ibcc_inherit *h, struct ibcc_state *s, const struct ibcc_topo *t,
		      const struct ibcc_settings *actual, struct ibcc_why *why);

/* The books may know more by now: all endports are looked at anew that had nothing of ours, but for
 * those that are `held` by the tuner (by endport).
 */
void ibcc_inherit_again(struct ibcc_inherit *h, const bool *held);

/* The tuner knows by now of these (by endport). */
void ibcc_inherit_take(struct ibcc_inherit *h, const bool *taken);

/* What the tuner is to see of the actual settings; *view is initialised by the call. Returns as
 * _look().
 */
int ibcc_inherit_view(const struct ibcc_inherit *h, struct ibcc_state *s, const struct ibcc_topo *t,
		      const struct ibcc_settings *actual, struct ibcc_settings *view,
		      struct ibcc_why *why);

/* Settings as all endports would have them without us; *without is initialised by the call. Returns
 * as _look().
 */
int ibcc_inherit_without(struct ibcc_state *s, const struct ibcc_topo *t,
			 const struct ibcc_settings *actual, struct ibcc_settings *without,
			 struct ibcc_why *why);

/* Does a root mark by what was left there? Then it may be what holds its congestion back, from
 * which nobody else suffers that the tuner could see.
 */
bool ibcc_inherit_serves(const struct ibcc_inherit *h, const struct ibcc_topo *t,
			 const struct ibcc_settings *actual, const struct ibcc_picture *pic);

/* Completes what the tuner wants by that view: what it leaves alone stays for `keep_passes`, then
 * it goes; changes get their reasons, the summary a remark. -ENOMEM.
 */
int ibcc_inherit_lay(struct ibcc_inherit *h, const struct ibcc_settings *actual,
		     uint32_t keep_passes, struct ibcc_target *target);

/* The part of a plan that only puts endports back to what they were before us. *part is initialised
 * by the call. -ENOMEM.
 */
int ibcc_inherit_way_back(struct ibcc_state *s, const struct ibcc_topo *t,
			  const struct ibcc_settings *actual, const struct ibcc_plan *plan,
			  struct ibcc_plan *part, struct ibcc_why *why);

/* Endports that have what the tuner wants, since they are not in the plan, are its own from then
 * on; */
void ibcc_inherit_planned(struct ibcc_inherit *h, const struct ibcc_topo *t,
			  const struct ibcc_plan *plan);
/* and those of the plan are when it was carried out. */
void ibcc_inherit_made(struct ibcc_inherit *h);

#endif
