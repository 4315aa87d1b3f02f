/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stock opensm brings up a simulated tree, and is watched. */
#ifndef PERFTEST_LAB_OSM_RUN_H
#define PERFTEST_LAB_OSM_RUN_H

#include <stdbool.h>

#include "perftest/lab/osm_model.h"

struct ibcc_osm_run {
	uint64_t count[IBCC_OSM_N_SMPS];
	double sweep_s; /* from the first SMP to SUBNET UP, by opensm's log */
	double path_s;  /* of that, what routing took */
	uint64_t poll_mads,
		push_mads; /* of one pass, of settings for each node; 0: not asked for */
	double poll_s, push_s;
};

/* One cold sweep with one SMP in flight, in a simulator of its own: ibcc-sim from beside this
 * program, opensm from the path. Then nobody has anything to do but he whose turn it
 * is, so all run on one processor: else most of the time is what waking up an idle one takes, which
 * is another at each try. `mads`: polls and pushes as well. 0 or -errno, with a sentence in why.
 */
int ibcc_osm_run(const struct ibcc_osm_tree *t, bool mads, struct ibcc_osm_run *r, char *why,
		 size_t len);

#endif
