/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the parts of the readers of experiment files and fits share. Internal to them. */
#ifndef PERFTEST_BENCH_EXPERIMENT_READ_H
#define PERFTEST_BENCH_EXPERIMENT_READ_H

#include "perftest/bench/experiment.h"

#define MAX_SEEDS 1000u /* of a variant, or of each point of a series */

struct ibcc_exp_reader {
	const struct ibcc_yaml *y;
	struct ibcc_yaml_errors *e;
	struct ibcc_experiment *x;
	const char *file;
};

/* Appends a zeroed element to an array; NULL without memory. */
static inline void *ibcc_exp_append(void *array, size_t *n, size_t size)
{
	char **a = array, *bigger = reallocarray(*a, *n + 1, size);

	if (!bigger)
		return NULL;
	*a = bigger;
	memset(bigger + *n * size, 0, size);
	return bigger + (*n)++ * size;
}

/* Appends a word or the words of a list (NULL: none) to *words. */
int ibcc_exp_read_words(const struct ibcc_exp_reader *r, const struct ibcc_yaml_node *n,
			const char *path, struct ibcc_words *words);
struct ibcc_exp_variant *ibcc_exp_find_variant(struct ibcc_experiment *x, const char *name);
/* Collects the assignments of other variants, then the variant's own: the last one counts. */
int ibcc_exp_collect(const struct ibcc_exp_reader *r, const struct ibcc_yaml_node *like,
		     const struct ibcc_yaml_node *set, const char *path, struct ibcc_words *out);
/* Appends a row without bounds; its texts may name `word` as {}. -EINVAL with an error, -ENOMEM. */
int ibcc_exp_add_row(const struct ibcc_exp_reader *r, const struct ibcc_exp_row *row,
		     const char *word, const struct ibcc_yaml_node *at);

/* Path of a file that another file names, in a folder beside that other file's. -ENAMETOOLONG. */
int ibcc_exp_beside(const char *file, const char *folder, const char *name, char *path, size_t len);

/* experiment_variants.c. Reads items of `variants` and `cases`; arg is the reader. */
int ibcc_exp_read_variant(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			  unsigned int index, void *arg, struct ibcc_yaml_errors *e);
int ibcc_exp_read_case(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		       unsigned int index, void *arg, struct ibcc_yaml_errors *e);

/* The rows that hold for each case. -ENOMEM, -EINVAL with an error. */
int ibcc_exp_add_rules(const struct ibcc_exp_reader *r, const struct ibcc_yaml_node *at);

#endif
