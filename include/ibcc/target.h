/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which settings the fabric should have, and why: what a decision hands to planner and gate. Also
 * the functions that lay the parameters of roots over the present settings.
 */
#ifndef IBCC_TARGET_H
#define IBCC_TARGET_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/advice.h>
#include <ibcc/decision.h>
#include <ibcc/estimate.h>
#include <ibcc/law.h>
#include <ibcc/parameters.h>
#include <ibcc/settings.h>

/* Room for the reason of a change, whatever its names and numbers are. */
#define IBCC_REASON_BYTES 512u

enum ibcc_reason_code {
	IBCC_REASON_OVER,         /* the setting from before congestion */
	IBCC_REASON_MASK,         /* the root's Victim_Mask bit */
	IBCC_REASON_SWITCH,       /* all of a switch's ports mark: it has no setting for each */
	IBCC_REASON_PORT,         /* the root marks */
	IBCC_REASON_NO_DELAY,     /* to learn which adapters contribute */
	IBCC_REASON_TABLE,        /* a table that ends a little beyond the fair share */
	IBCC_REASON_BALANCE,      /* increase and timer that balance the marks */
	IBCC_REASON_PROFILE,      /* DCQCN: marks for the root's senders, for as short a queue */
	IBCC_REASON_LEFT,         /* the setting from before an earlier run */
	IBCC_REASON_SWITCHED_OFF, /* a user asked for it */
};

/* Why an attribute of an endport is to have its new value. */
struct ibcc_reason {
	uint32_t endport;
	uint16_t attr_id; /* enum ibcc_cc_attr, or NVIDIA's */
	enum ibcc_reason_code code;
	/* Of the root that it is for; its arrays are not there. */
	struct ibcc_root_parameters root;
	struct ibcc_law_out law;    /* what the law made of it */
	struct ibcc_advice profile; /* PROFILE: what it is computed from */
};

/* Complete settings, equal to the actual ones where nothing is to change, and a reason for each
 * attribute that differs.
 */
struct ibcc_target {
	struct ibcc_settings wanted;
	uint32_t n_reasons, cap_reasons;
	struct ibcc_reason *reason;
	/* Endports that ought to get settings but cannot: ibcc_endport_cc:support. */
	uint32_t n_without, *without;
	struct ibcc_decisions decisions;
	/* Counters look as if some settings were not on the fabric any more: the actual ones should
	 * be read again before the next decision.
	 */
	bool suspect;
};
void ibcc_target_fini(struct ibcc_target *t);

/* Appends an empty reason for an attribute; NULL without memory. */
struct ibcc_reason *ibcc_target_add(struct ibcc_target *t, uint32_t endport, uint16_t attr_id,
				    enum ibcc_reason_code code);

/* The reason for an attribute in plain words, "" if there is none. Returns the length as snprintf()
 * does.
 */
int ibcc_target_explain(const struct ibcc_target *target, const struct ibcc_topo *t,
			uint32_t endport, uint16_t attr_id, char *buf, size_t len);

/* Limits of what is laid over a fabric. */
struct ibcc_overlay {
	uint16_t spared_sls; /* of adapters: they keep what they have */
	/* What no table and no timer goes beyond, see struct ibcc_bounds. */
	uint32_t max_delay;
	uint16_t max_timer;
};
#define IBCC_OVERLAY_UNLIMITED                                                                     \
	{                                                                                          \
		.max_delay = IBCC_CCT_MAX_MULT, .max_timer = UINT16_MAX                            \
	}

/* Does the overlay give an endport settings, now or ever? An adapter with NVIDIA's control gets
 * none.
 */
static inline bool ibcc_overlay_gives(const struct ibcc_endport_cc *ep)
{
	return ep->support == IBCC_CC_SUPPORTED &&
	       (ep->mechanism == IBCC_MECHANISM_A10 || ep->n_profile);
}

struct ibcc_ledger; /* <ibcc/ledger.h> */

/* Lays parameters over the actual settings: a node that lost its settings gets them again, and one
 * that is not ours keeps what it has. What a root needs is laid over the base that the ledger has
 * of an endport, and the ledger (of the topology) holds it until it has that base again. *out is
 * initialised by the call, without decisions. -ENOMEM.
 */
int ibcc_overlay_run(const struct ibcc_overlay *l, const struct ibcc_topo *t,
		     const struct ibcc_parameters *p, const struct ibcc_settings *actual,
		     struct ibcc_ledger *ledger, struct ibcc_target *out);

/* Completes what the tuner wants, once in each pass: what is LEFT stays for `keep_passes` in which
 * no root of the estimate needs it, then it is put back to its base. Changes get their reasons, and
 * the decisions say of how many endports. -ENOMEM.
 */
int ibcc_ledger_lay(struct ibcc_ledger *l, const struct ibcc_topo *t,
		    const struct ibcc_settings *actual, const struct ibcc_estimate *pic,
		    uint32_t keep_passes, struct ibcc_target *target);

#endif
