/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings of one's own, to be predicted, not written. */
#ifndef IBCC_DAEMON_WHAT_IF_H
#define IBCC_DAEMON_WHAT_IF_H

#include <jansson.h>

#include <ibcc/estimate.h>
#include <ibcc/why.h>

/* What is wanted, with values in place of some: {"ccti_timer": 0..65535, "ccti_increase": 0..255,
 * "table_end": 0..16383.875 packet times} at the adapters of all roots' trees and all that are
 * held, {"threshold": 0..15, "marking_rate": 0..65535} at the roots' ports. -EINVAL with all that
 * is wrong in *why; -ENOMEM. *out needs ibcc_settings_fini() after 0.
 */
int ibcc_what_if(const struct ibcc_topo *t, const struct ibcc_root *root, uint32_t n_roots,
		 const struct ibcc_settings *wanted, const json_t *set, struct ibcc_settings *out,
		 struct ibcc_why *why);

#endif
