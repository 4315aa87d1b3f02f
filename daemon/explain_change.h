/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_DAEMON_EXPLAIN_CHANGE_H
#define IBCC_DAEMON_EXPLAIN_CHANGE_H

#include <ibcc/plan.h>
#include <ibcc/topo.h>

/* Logs each field of a change at LOG_DEBUG, consecutive service levels with equal values as one.
 * `what` is the outcome, such as "changed".
 */
void ibcc_explain_change(const struct ibcc_change *c, const char *what);

/* The nodes that a plan changes: "leaf2, source1 and 3 more". */
void ibcc_explain_nodes(const struct ibcc_topo *t, const struct ibcc_plan *p, char *buf,
			size_t len);

#endif
