/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Brings up a simulated tree with stock opensm, and measures it. */
#ifndef PERFTEST_LAB_OSM_RUN_H
#define PERFTEST_LAB_OSM_RUN_H

#include <stdbool.h>

#include "perftest/lab/osm_model.h"

struct ibcc_osm_run {
	uint64_t count[IBCC_OSM_N_SMPS];
	double sweep_s; /* from the first SMP to SUBNET UP, by opensm's log */
	double path_s;  /* of that, what routing took */
	uint64_t poll_mads,
		push_mads; /* MADs of one pass, and of settings for each node; 0: not asked for */
	double poll_s, push_s;
};

/* Measures one cold sweep with one SMP in flight, in a simulator of its own: ibcc-sim from beside
 * this program, opensm from the path. At any time only one of these processes has work, so all run
 * on one processor. Otherwise most of the time would go into waking up an idle processor, and would
 * differ at each try. `mads`: measures polls and pushes as well. 0 or -errno, with a sentence in
 * why.
 */
int ibcc_osm_run(const struct ibcc_osm_tree *t, bool mads, struct ibcc_osm_run *r, char *why,
		 size_t len);

#endif
