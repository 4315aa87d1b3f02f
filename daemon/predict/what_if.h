/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The user's own settings, for a prediction and not for a write. */
#ifndef IBCC_DAEMON_WHAT_IF_H
#define IBCC_DAEMON_WHAT_IF_H

#include <jansson.h>

#include <ibcc/estimate.h>
#include <ibcc/why.h>

/* The wanted settings with some values replaced. {"ccti_timer": 0..65535, "ccti_increase": 0..255,
 * "table_end": 0..16383.875 packet times} apply to the adapters of all roots' trees and to all that
 * are throttled. {"threshold": 0..15, "marking_rate": 0..65535} apply to the roots' ports. -EINVAL
 * with all errors in *why; -ENOMEM. Call ibcc_settings_fini() on *out after 0.
 */
int ibcc_what_if(const struct ibcc_topo *t, const struct ibcc_root *root, uint32_t n_roots,
		 const struct ibcc_settings *wanted, const json_t *set, struct ibcc_settings *out,
		 struct ibcc_why *why);

#endif
