/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The list of attribute writes that turn the actual settings into the wanted ones. */
#ifndef IBCC_PLAN_H
#define IBCC_PLAN_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <ibcc/ccmad.h>
#include <ibcc/settings.h>
#include <ibcc/target.h>
#include <ibcc/topo.h>

/* One Set of one attribute (one block of it). Values are the 192 bytes of management data exactly
 * as on the wire, so that applying, verifying and undoing need no knowledge of the attribute.
 */
struct ibcc_change {
	uint64_t node_guid;
	uint16_t lid;
	uint8_t port; /* endport's number: 0 for switches */
	uint16_t attr_id;
	uint32_t attr_mod;
	uint8_t port_block; /* attribute 0x15: elements a block at this switch; else 0 */
	bool ask_vendor;    /* see ibcc_vendor_mark() */
	bool back;          /* by itself, in a plan that is not altogether back */
	uint64_t cc_key;    /* the node's own; 0: that of the whole plan. Never stored or shown. */
	uint8_t old_data[IBCC_CC_DATA_BYTES];
	uint8_t new_data[IBCC_CC_DATA_BYTES];
	char reason[IBCC_REASON_BYTES];
};

/* Changes in the order of their application: node by node; within a node the setting, then table
 * blocks ascending.
 */
struct ibcc_plan {
	uint64_t generation; /* of the topology it was made for */
	bool back;           /* puts back or takes off: nothing may hold it up */
	/* No person asked for that now: marking profiles that another program has changed stay. */
	bool ours_only;
	uint32_t n, cap;
	struct ibcc_change *change;
	uint32_t n_unchanged;   /* attributes that already are as wanted */
	uint32_t n_unreachable; /* endports without usable congestion control */
};

/* Compares actual with wanted and lists the writes. Endports that are not SUPPORTED in `actual` are
 * counted as unreachable and never written to. *plan is initialised by the call. -ENOMEM.
 */
int ibcc_planner_run(const struct ibcc_topo *t, const struct ibcc_settings *actual,
		     const struct ibcc_target *target, struct ibcc_plan *plan);
void ibcc_plan_fini(struct ibcc_plan *plan);

/* Appends a copy of a change; -ENOMEM. *plan must be zero or initialised. */
int ibcc_plan_append(struct ibcc_plan *plan, const struct ibcc_change *c);

/* The index behind the changes of the endport that change `i` is of. */
uint32_t ibcc_plan_end(const struct ibcc_plan *plan, uint32_t i);

/* The endport at a change's LID, or IBCC_NONE. */
static inline uint32_t ibcc_change_endport(const struct ibcc_change *c, const struct ibcc_topo *t)
{
	uint32_t port = ibcc_topo_port_of_lid(t, c->lid);

	return port == IBCC_NONE ? IBCC_NONE : t->port[port].endport;
}

/* Turns settings into those that the endports of a plan have after it; with `back` before it. */
void ibcc_plan_put(const struct ibcc_plan *plan, const struct ibcc_topo *t, bool back,
		   struct ibcc_settings *s);

/* The plan that reverts this one: old and new data are exchanged, in the same order, which firmware
 * accepts. The reverse of the reverse is the plan again. *out is initialised by the call. -ENOMEM.
 */
int ibcc_plan_reverse(const struct ibcc_plan *plan, struct ibcc_plan *out);

/* The part of a plan at endports where it only relaxes (ibcc_settings_relax()). *part is
 * initialised by the call. -ENOMEM.
 */
int ibcc_plan_relaxing(const struct ibcc_topo *t, const struct ibcc_settings *actual,
		       const struct ibcc_settings *wanted, const struct ibcc_plan *plan,
		       struct ibcc_plan *part);

/* One field of a change that differs. */
struct ibcc_field_change {
	const char *field; /* the annex's name, "CCTI_Timer", or NVIDIA's */
	int sl;            /* SL of a CA entry, or -1 */
	/* port number of an element or of a profile, index of a table entry, or -1 */
	int index;
	char old_text[72], new_text[72];
};

/* The switch port that a field is of, or the change's own port. */
unsigned int ibcc_plan_field_port(const struct ibcc_change *c, const struct ibcc_field_change *f);

/* Calls fn for each differing field of a change until it returns non-zero; returns that, or 0. Runs
 * of table entries may be reported as one field "CCT[a..b]".
 */
int ibcc_plan_fields(const struct ibcc_change *c,
		     int (*fn)(const struct ibcc_field_change *f, void *arg), void *arg);

/* Whether a read-back confirms a Set. Compares management data, tolerant where hardware legally
 * differs: reserved bits, Control_Map of 0x14 and 0x16, entries of 0x16 that Control_Map leaves
 * out, elements of 0x15 that are not valid, CCTI_Limit of 0x17 relative to the block or already of
 * the whole table, entries of 0x17 beyond the limit.
 */
bool ibcc_plan_verify(uint16_t attr_id, uint32_t attr_mod, const uint8_t *want, const uint8_t *got);

/* Whether an endport, by settings as read from it, has an attribute as it was written. */
bool ibcc_plan_in_force(const struct ibcc_endport_cc *ep, uint16_t attr_id, uint32_t attr_mod,
			const uint8_t *want);

/* What became of each change of a plan, by its index. */
enum ibcc_outcome {
	IBCC_OUTCOME_PENDING,  /* not tried */
	IBCC_OUTCOME_VERIFIED, /* written and read back equal */
	IBCC_OUTCOME_FAILED,   /* see err and status */
	IBCC_OUTCOME_DIFFERS,  /* accepted, but reads back otherwise */
	IBCC_OUTCOME_SKIPPED,  /* an earlier change of this node failed */
	IBCC_OUTCOME_DRY,      /* the null applier: nothing sent */
};
const char *ibcc_outcome_name(enum ibcc_outcome o);
/* Whether a change with this outcome may have been sent to its node. */
bool ibcc_outcome_is_sent(enum ibcc_outcome o);

/* Why a change FAILED or was SKIPPED, where no transport failed. The state file and the plugin's
 * protocol have the numbers, which is why they are errnos.
 */
enum ibcc_change_why {
	/* FAILED: the node refused the Set. In all other cases the change may be there. */
	IBCC_CHANGE_REFUSED = -EREMOTEIO,
	/* The node said that it was busy: it may have made the change at another attempt. */
	IBCC_CHANGE_BUSY = -EBUSY,
	/* The node took the Set, or an earlier one of this change, and refused more. */
	IBCC_CHANGE_TAKEN = -ENODATA,
	/* SKIPPED, as all of its node: a value beyond the bounds. */
	IBCC_CHANGE_BEYOND_BOUNDS = -ERANGE,
	/* The node has had its Sets for now. */
	IBCC_CHANGE_TOO_MANY_SETS = -EDQUOT,
	/* A key, for a node that does not say that it has the class. */
	IBCC_CHANGE_NO_CLASS = -EOPNOTSUPP,
	/* The node says that NVIDIA's own congestion control is on. */
	IBCC_CHANGE_VENDOR_ON = -EPERM,
	/* It is a setting of that control, and the node says that it is off. */
	IBCC_CHANGE_VENDOR_OFF = -ENODEV,
	/* Another program has written the attribute since it was read. */
	IBCC_CHANGE_OTHER_WRITER = -EEXIST,
	/* The node has another CC_Key than ours, or does not say which one it has. */
	IBCC_CHANGE_OTHER_KEY = -EACCES,
	/* The LID belongs to another node now. */
	IBCC_CHANGE_MOVED = -ESTALE,
	/* Nothing answers at the LID. */
	IBCC_CHANGE_GONE = -EHOSTUNREACH,
	/* What it writes, or what it replaces, cannot be read as a whole. */
	IBCC_CHANGE_UNREADABLE = -EMSGSIZE,
};

struct ibcc_change_result {
	enum ibcc_outcome outcome;
	int err;         /* 0, enum ibcc_change_why, or the transport's negative errno */
	uint16_t status; /* MAD status of the refusal */
};

struct ibcc_result {
	uint32_t n;
	struct ibcc_change_result *change; /* owned */
	uint32_t n_verified, n_failed;
	uint32_t set_mads;
	int64_t txn;  /* the transaction that it is stored as; 0: it is not stored */
	bool unheard; /* its end was never reported: more may have been done than this says */
};
static inline bool ibcc_result_may_have_written(const struct ibcc_result *r)
{
	return r->set_mads || r->unheard;
}
int ibcc_result_init(struct ibcc_result *r, uint32_t n); /* -ENOMEM */
void ibcc_result_fini(struct ibcc_result *r);

#endif
