/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Measures on the fabric which adapters send through a root. The root marks, and tables have no
 * delay, so no adapter is held.
 */
#ifndef PERFTEST_LAB_PROBE_H
#define PERFTEST_LAB_PROBE_H

#include <stdint.h>

#include <ibcc/engine.h>
#include <ibcc/topo.h>

enum ibcc_predict_probe {
	IBCC_PROBE_NONE,
	IBCC_PROBE_BECNS, /* one root at a time: marked sources count BECNs */
	IBCC_PROBE_LOGS,  /* all roots at once: their switches' CongestionLogs name the sources */
};

/* Runs an engine on, 20 ms for each of the roots or for all, with settings that throttle no
 * adapter. Afterwards marking is off again. weight[] is by root and endport, zero before: how often
 * the endport was marked there. -EINVAL, -ENOMEM.
 */
int ibcc_predict_probe_run(struct ibcc_engine *e, const struct ibcc_topo *t,
			   enum ibcc_predict_probe probe, uint32_t n_roots, const uint32_t *root,
			   double *weight);

#endif
