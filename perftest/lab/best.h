/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Results of sweeps in order, best first. */
#ifndef PERFTEST_LAB_BEST_H
#define PERFTEST_LAB_BEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <jansson.h>

#include <ibcc/yaml.h>

/* So many of the best tell how much chance there is in the very best. */
#define IBCC_BEST_GOOD 100u

struct ibcc_best {
	const char
		*by; /* name in the result; NULL: "miss", the least, of fits, else "ideal_share" */
	bool least;  /* the least value is the best */
	uint64_t n_show; /* of the best */
	uint64_t n_keep; /* at most so many are kept; ranks need all */
	uint64_t seen;   /* lines, also those that are there twice */
	bool fits;       /* results of a fit */
	size_t n, n_given;
	uint32_t room;   /* of result */
	json_t **result; /* what sweeps wrote */
	json_t **given;  /* results that are only ranked */
	struct ibcc_yaml_errors *e;
};

/* Reads a file of results into those that are sorted, or the given ones. The order of equals
 * depends on the points alone, and what is there twice counts once. -EINVAL with errors in b->e,
 * -ENOMEM, -errno with an error.
 */
int ibcc_best_read(struct ibcc_best *b, const char *file, bool given);
void ibcc_best_fini(struct ibcc_best *b);

/* 1 plus the number of those that are better. */
size_t ibcc_best_rank(const struct ibcc_best *b, const json_t *result);

/* The one in the middle of the best hundred, the better one of two: the 50th. b->n must not be 0.
 */
size_t ibcc_best_median(const struct ibcc_best *b);

/* A table; of fits also the lines of a scenario that are the best point. -ENOMEM, -EIO. */
int ibcc_best_table(const struct ibcc_best *b, FILE *out);
/* {"schema":1,"by","points","best":[...]}, of fits also "median"; where results were given
 * "given":[...], which have a "rank". NULL without memory.
 */
json_t *ibcc_best_json(const struct ibcc_best *b);

#endif
