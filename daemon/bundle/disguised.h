/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A polling cycle, and the data for predictions, under made-up names: see <ibcc/disguise.h>. */
#ifndef IBCC_DAEMON_DISGUISED_H
#define IBCC_DAEMON_DISGUISED_H

#include <ibcc/cycle.h>
#include <ibcc/disguise.h>

#include "daemon/predict/evidence.h"

/* Copies the parts of a cycle that has decided which ibcc_report_plan() reports: topology,
 * counters, settings, estimate, plan and NVIDIA's part. Sentences that name nodes are made again
 * from their content if the daemon still has it, else they are empty: summary, error, advice.
 * Writes are reported as a plan. -ENOMEM. Settings and more are borrowed from *from, which must
 * outlive *out.
 */
int ibcc_disguised_cycle(const struct ibcc_cycle *from, const struct ibcc_disguise *d,
			 struct ibcc_cycle *out);
void ibcc_disguised_cycle_fini(struct ibcc_cycle *c);

/* Moves evidence of the true topology to the made-up one. After -ENOMEM it is unusable. */
int ibcc_disguised_evidence(const struct ibcc_disguise *d, struct ibcc_evidence *e);

#endif
