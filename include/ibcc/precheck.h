/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whether a plan may be carried out on this fabric, or would do only half of what it promises. */
#ifndef IBCC_PRECHECK_H
#define IBCC_PRECHECK_H

#include <stdbool.h>

#include <ibcc/estimate.h>
#include <ibcc/settings.h>
#include <ibcc/target.h>
#include <ibcc/topo.h>
#include <ibcc/why.h>

enum ibcc_precheck {
	/* The roots' switches and their sources must have congestion control: those seen now, and
	 * those that the tuner counts on, which remembers what one pass may miss.
	 */
	IBCC_PRECHECK_NODES_OF_TREE,
	IBCC_PRECHECK_ALL_NODES, /* every endport must, but where ibcc_device_takes_part() is false
				  */
};

/* Returns 0, -EACCES (some node refuses our CC_Key) or -EOPNOTSUPP (a node that must have
 * congestion control does not, or did not answer); *why names the first and counts the others.
 */
int ibcc_precheck_run(enum ibcc_precheck gate, const struct ibcc_topo *t,
		      const struct ibcc_settings *s, const struct ibcc_estimate *e,
		      const struct ibcc_target *target, struct ibcc_why *why);

/* A sentence about endports that have answered with their settings before, and answer the class
 * with errors now; empty if there are none. Returns their number.
 */
uint32_t ibcc_precheck_refusals(const struct ibcc_topo *t, const struct ibcc_settings *s,
				struct ibcc_why *text);

/* Why an endport cannot be given settings, in words; NULL if it can. */
const char *ibcc_precheck_reason(const struct ibcc_endport_cc *ep);

#endif
