/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* One run of a drawn scenario with one setting out of two grids, or with the loop. */
#ifndef PERFTEST_LAB_ORACLE_POINT_H
#define PERFTEST_LAB_ORACLE_POINT_H

#include <stdint.h>

#include <ibcc/yaml.h>

#include "perftest/lab/grid.h"
#include "perftest/lab/lost.h"

/* What keys of the grid of individual settings begin with. */
#define IBCC_INDIVIDUAL_PREFIX "individual."

struct ibcc_oracle_grids {
	struct ibcc_grid uniform;    /* settings equal on all nodes, see oracle_grid.h */
	struct ibcc_grid individual; /* see individual.h */
};

enum ibcc_oracle_way {
	IBCC_ORACLE_OFF,
	IBCC_ORACLE_LIVE,
	IBCC_ORACLE_LAW, /* individual settings as the law has them once trees are gone */
	IBCC_ORACLE_UNIFORM,
	IBCC_ORACLE_INDIVIDUAL,
};

enum ibcc_oracle_window {
	IBCC_ORACLE_OWN,   /* the draw's own */
	IBCC_ORACLE_LATER, /* an equally long window, 80 ms later */
};

struct ibcc_oracle_point {
	uint64_t seed;
	enum ibcc_oracle_way way;
	uint64_t point; /* point of the grid, if the way has one */
	enum ibcc_oracle_window window;
};

struct ibcc_oracle_result {
	double share; /* of the ideal, see ibcc_draw_share(); NAN if no throughput was possible */
	uint32_t n_roots;
	double lost[IBCC_N_LOST]; /* what is missed, see lost.h */
};

/* Runs one setting. Without congestion there are no individual settings. Errors as
 * ibcc_draw_load_set() and ibcc_live_run().
 */
int ibcc_oracle_point_run(const struct ibcc_oracle_grids *g, const struct ibcc_oracle_point *p,
			  struct ibcc_oracle_result *r, struct ibcc_yaml_errors *e);

/* Adds the default axes of individual settings if there are none yet. Checks existing axes: -EINVAL
 * with a message on stderr.
 */
int ibcc_oracle_point_prepare(struct ibcc_grid *individual);

#endif
