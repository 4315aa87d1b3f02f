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

/* This many of the best results show how far the very best one is due to chance. */
#define IBCC_BEST_GOOD 100u

struct ibcc_best {
	const char
		*by; /* name in the result; NULL: "miss", the least, for fits, else "ideal_share" */
	bool least;  /* the least value is the best */
	uint64_t n_show; /* how many of the best to show */
	uint64_t n_keep; /* most results to keep; ranks need all of them */
	uint64_t seen;   /* lines, including duplicates */
	bool fits;       /* results of a fit */
	size_t n, n_given;
	uint32_t room;   /* of result */
	json_t **result; /* what the sweeps wrote */
	json_t **given;  /* results that are only ranked */
	struct ibcc_yaml_errors *e;
};

/* Reads a file of results into the sorted ones or the given ones. The order of equal results
 * depends on their points alone, and duplicates count once. -EINVAL with errors in b->e, -ENOMEM,
 * -errno with an error.
 */
int ibcc_best_read(struct ibcc_best *b, const char *file, bool given);
void ibcc_best_fini(struct ibcc_best *b);

/* 1 plus the number of better results. */
size_t ibcc_best_rank(const struct ibcc_best *b, const json_t *result);

/* The result in the middle of the best hundred, the better of two: the 50th. b->n must not be 0. */
size_t ibcc_best_median(const struct ibcc_best *b);

/* Prints a table; for fits also the best point as lines of a scenario. -ENOMEM, -EIO. */
int ibcc_best_table(const struct ibcc_best *b, FILE *out);
/* {"schema":1,"by","points","best":[...]}, of fits also "median"; where results were given
 * "given":[...], which have a "rank". NULL without memory.
 */
json_t *ibcc_best_json(const struct ibcc_best *b);

#endif
