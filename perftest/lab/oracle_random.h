/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The best static settings of random scenarios: what an operator could have set who had known each
 * scenario before. The settings are equal on all nodes, or individual for each node.
 */
#ifndef PERFTEST_LAB_ORACLE_RANDOM_H
#define PERFTEST_LAB_ORACLE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "perftest/lab/oracle_point.h"

struct ibcc_oracle_random {
	uint64_t n, seed; /* number of draws; seed of the first one */
	struct ibcc_oracle_grids grid;
	unsigned int threads; /* 0: one for each core */
	bool json;            /* to stdout in place of tables */
	const char *out;      /* JSON to this file, too; NULL: none */
};

/* Runs the search; returns an exit code. */
int ibcc_lab_oracle_random(struct ibcc_oracle_random *o);

/* Shares of the ideal, see draw.h; NAN: there is none. Without congestion there is no search, and
 * the best setting is off.
 */
struct ibcc_oracle_draw {
	uint64_t seed;
	uint32_t n_roots;
	double off, live, law;              /* see enum ibcc_oracle_way */
	double uniform, individual;         /* the best points */
	uint64_t uniform_at, individual_at; /* of the grids; UINT64_MAX: no point */
	double best;                        /* the best of all but live */
	double lost[IBCC_N_LOST];           /* what it misses */
	double best_later, live_later;
};

/* A point of the individual grid over all draws. */
struct ibcc_oracle_sum {
	double mean;
	uint64_t reached;
};

/* The results of a search, for people or as JSON. points: by the individual grid. 0, -ENOMEM, -EIO.
 */
int ibcc_oracle_random_print(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d,
			     const struct ibcc_oracle_sum *points);
int ibcc_oracle_random_write(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d,
			     const struct ibcc_oracle_sum *points, bool pretty, FILE *out);

#endif
