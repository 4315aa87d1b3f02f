/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which changes of a plan must not be made, before anything is sent. Private to lib/mad. */
#ifndef IBCC_MAD_APPLY_CHECK_H
#define IBCC_MAD_APPLY_CHECK_H

#include <ibcc/apply.h>

/* The key that a change's node wants. */
static inline uint64_t ibcc_apply_key(const struct ibcc_apply_options *o,
				      const struct ibcc_change *c)
{
	return c->cc_key ? c->cc_key : o->cc_key;
}

/* Sets err[i], zero before, for each change that has to be left out: see ibcc_apply_run(). Asks
 * nodes (Gets) where the plan does not say enough, but not in a dry run. Returns 0, -ENOMEM, or
 * what the transport's run() returns.
 */
int ibcc_apply_check(struct ibcc_transport *t, const struct ibcc_plan *plan,
		     const struct ibcc_apply_options *o, int *err);

/* Asks which nodes are at the LIDs of n changes, two SMPs at a time. err[k] becomes 0,
 * IBCC_CHANGE_MOVED or IBCC_CHANGE_GONE. Returns 0, -ENOMEM, -EIO or -ECANCELED.
 */
int ibcc_apply_prove(struct ibcc_transport *t, const struct ibcc_change *const *change, uint32_t n,
		     const struct ibcc_apply_options *o, int *err);

/* Whether the transport carries all bytes of a change: that it can be read back, and that what it
 * replaces could be read. */
bool ibcc_apply_is_readable(const struct ibcc_transport *tr, const struct ibcc_change *c);

#endif
