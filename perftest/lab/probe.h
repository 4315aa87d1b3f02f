/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who sends through a root, asked of the fabric: it marks, and tables have no delay, so that nobody
 * is held.
 */
#ifndef PERFTEST_LAB_PROBE_H
#define PERFTEST_LAB_PROBE_H

#include <stdint.h>

#include <ibcc/engine.h>
#include <ibcc/topo.h>

enum ibcc_predict_probe {
	IBCC_PROBE_NONE,
	IBCC_PROBE_BECNS, /* one root at a time: marked sources count BECNs */
	IBCC_PROBE_LOGS,  /* all at once: their switches' CongestionLogs name the sources */
};

/* Runs an engine on, 20 ms for each of the roots or for all, with settings that hold nobody; the
 * ports' marking is taken off afterwards. weight[] is by root and endport, zero before: how often
 * the endport was marked there. -EINVAL, -ENOMEM.
 */
int ibcc_predict_probe_run(struct ibcc_engine *e, const struct ibcc_topo *t,
			   enum ibcc_predict_probe probe, uint32_t n_roots, const uint32_t *root,
			   double *weight);

#endif
