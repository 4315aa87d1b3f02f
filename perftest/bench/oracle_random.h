/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The best static settings of scenarios by chance: what somebody could have set who had known each
 * before, alike on all nodes or on each node its own.
 */
#ifndef PERFTEST_BENCH_ORACLE_RANDOM_H
#define PERFTEST_BENCH_ORACLE_RANDOM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "perftest/bench/grid.h"
#include "perftest/bench/lost.h"

/* What keys of the grid of individual settings begin with. */
#define IBCC_INDIVIDUAL_PREFIX "individual."

struct ibcc_oracle_random {
	uint64_t n, seed; /* draws; the first one's */
	struct ibcc_grid uniform, individual;
	unsigned int threads; /* 0: one for each core */
	bool json;            /* to stdout in place of tables */
	const char *out;      /* JSON to this file, too; NULL: none */
};

/* An exit code. */
int ibcc_bench_oracle_random(struct ibcc_oracle_random *o);

/* Shares of the ideal, see draw.h; NAN: there is none. */
struct ibcc_oracle_draw {
	uint64_t seed;
	uint32_t n_roots;
	double off, live;
	double law;                 /* individual ones as the law has them; without roots off */
	double uniform, individual; /* the best points; without roots individual is off */
	uint64_t uniform_at, individual_at; /* of the grids; UINT64_MAX: no point */
	uint32_t uniform_near;              /* points within 2 % of the best one */
	double best;                        /* of all static ones */
	double settled, live_settled;       /* the best one and the loop, measured 80 ms later */
	double lost[IBCC_N_LOST];           /* what the best one misses, by who misses it */
};

/* The results of a search, for people or as JSON. 0, -ENOMEM, -EIO. */
int ibcc_oracle_random_print(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d);
int ibcc_oracle_random_write(const struct ibcc_oracle_random *o, const struct ibcc_oracle_draw *d,
			     bool pretty, FILE *out);

#endif
