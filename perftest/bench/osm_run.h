/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stock opensm brings up a simulated tree, and is watched. */
#ifndef PERFTEST_BENCH_OSM_RUN_H
#define PERFTEST_BENCH_OSM_RUN_H

#include "perftest/bench/osm_model.h"

struct ibcc_osm_run {
	uint64_t count[IBCC_OSM_N_SMPS];
	double sweep_s; /* from the first SMP to SUBNET UP, by opensm's log */
};

/* One cold sweep with so many SMPs in flight, in a simulator of its own: ibcc-sim from beside this
 * program, opensm from the path. 0 or -errno, with a sentence in why.
 */
int ibcc_osm_run(const struct ibcc_osm_tree *t, unsigned int in_flight, struct ibcc_osm_run *r,
		 char *why, size_t len);

#endif
