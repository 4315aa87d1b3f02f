/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A pass, and what predictions are made from, under made-up names: see <ibcc/disguise.h>. */
#ifndef IBCC_DAEMON_DISGUISED_H
#define IBCC_DAEMON_DISGUISED_H

#include <ibcc/cycle.h>
#include <ibcc/disguise.h>

#include "daemon/predict/evidence.h"

/* As much of a cycle that has decided as ibcc_report_plan() tells of: topology, counters, settings,
 * estimate, plan and NVIDIA's part. Sentences that name nodes are made anew where the daemon still
 * knows what they say, else they are empty: summary, error, advice. What was written is told as a
 * plan. -ENOMEM. Settings and more of *from are lent: *out lives no longer than it.
 */
int ibcc_disguised_cycle(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
			 struct ibcc_cycle *out);
void ibcc_disguised_cycle_fini(struct ibcc_cycle *c);

/* Evidence of the true topology goes over to the made-up one. -ENOMEM: it is of no use then. */
int ibcc_disguised_evidence(const struct ibcc_disguise *d, struct ibcc_evidence *e);

#endif
