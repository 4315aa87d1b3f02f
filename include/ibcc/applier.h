/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What carries a plan out: nothing (dry run), the OpenSM plugin, or a umad port of this host. */
#ifndef IBCC_APPLIER_H
#define IBCC_APPLIER_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/bounds.h>
#include <ibcc/plan.h>
#include <ibcc/transport.h>
#include <ibcc/why.h>

struct ibcc_applier;
struct ibcc_plugin; /* the connection to it */

struct ibcc_applier_ops {
	/* Could a plan be carried out now? Asked before anything is written down or sent. Returns
	 * 0, or as run() does when nothing was tried.
	 */
	int (*ready)(struct ibcc_applier *a, struct ibcc_why *why);
	/* Carries out a plan; *r is sized for it. Returns 0 if every change was verified (or is
	 * DRY), -EIO if some were not, -ECANCELED, or why nothing was tried: -ENOTCONN,
	 * -EPERM (refused), -ENOMEM. With an error *why has a sentence.
	 */
	int (*run)(struct ibcc_applier *a, const struct ibcc_plan *plan, struct ibcc_result *r,
		   struct ibcc_why *why);
	void (*free)(struct ibcc_applier *a);
};

struct ibcc_applier {
	const struct ibcc_applier_ops *ops;
	const char *name; /* "none", "direct", "plugin" */
	bool writes;      /* false: sends no Set, ever */
	struct ibcc_bounds bounds;
};

/* All return NULL without memory. The transport and the plugin connection are borrowed. */
struct ibcc_applier *ibcc_applier_null_new(void);
/* `prove_lids`: see struct ibcc_apply_options. */
struct ibcc_applier *ibcc_applier_direct_new(struct ibcc_transport *t, uint64_t cc_key,
					     bool prove_lids);
struct ibcc_applier *ibcc_applier_plugin_new(struct ibcc_plugin *p, uint64_t cc_key);

/* Keys of an applier that leaves writing to the plugin (NULL: all nodes have the same); borrowed.
 */
struct ibcc_keyring;
void ibcc_applier_set_keyring(struct ibcc_applier *a, const struct ibcc_keyring *k);

/* What an applier that writes, or would write, by itself goes by, and what there may be before the
 * first write of ours at a node, which is to be put back one day; without this what the wire can
 * carry, and Sets are not counted. The plugin goes by its own.
 */
void ibcc_applier_set_bounds(struct ibcc_applier *a, const struct ibcc_bounds *bounds);

static inline int ibcc_applier_ready(struct ibcc_applier *a, struct ibcc_why *why)
{
	return a->ops->ready(a, why);
}
static inline int ibcc_applier_run(struct ibcc_applier *a, const struct ibcc_plan *plan,
				   struct ibcc_result *r, struct ibcc_why *why)
{
	return a->ops->run(a, plan, r, why);
}
static inline void ibcc_applier_free(struct ibcc_applier *a)
{
	if (a)
		a->ops->free(a);
}

#endif
