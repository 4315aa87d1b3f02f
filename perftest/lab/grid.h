/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* All combinations of values of some keys, numbered. */
#ifndef PERFTEST_LAB_GRID_H
#define PERFTEST_LAB_GRID_H

#include <stdint.h>

#include <jansson.h>

#include "perftest/bench/words.h"

struct ibcc_grid_axis {
	char *key; /* the key, or several joined by +, which all get the value */
	struct ibcc_words value;
};

struct ibcc_grid {
	struct ibcc_grid_axis *axis;
	size_t n_axes;
	uint64_t n_points; /* 1 without axes */
};

void ibcc_grid_init(struct ibcc_grid *g);
void ibcc_grid_fini(struct ibcc_grid *g);

/* Adds "KEY=A,B,C"; commas within brackets, braces or quotes do not separate. -EINVAL (no key, an
 * empty value, a value or key that is there already), -E2BIG (more points than 2^30), -ENOMEM.
 */
int ibcc_grid_add(struct ibcc_grid *g, const char *text);

/* Adds an axis with a copy of values that are known to differ. -EINVAL also without any value;
 * other errors as ibcc_grid_add().
 */
int ibcc_grid_add_axis(struct ibcc_grid *g, const char *key, const struct ibcc_words *value);

/* Value of an axis at a point; the last axis runs fastest. */
const char *ibcc_grid_value(const struct ibcc_grid *g, uint64_t point, size_t axis);

/* Appends the point's assignments KEY=VALUE; -ENOMEM. */
int ibcc_grid_assign(const struct ibcc_grid *g, uint64_t point, struct ibcc_words *set);

/* The point as {"KEY": "VALUE"}, and back: -ENOENT if the grid has no such point. */
json_t *ibcc_grid_json(const struct ibcc_grid *g, uint64_t point);
int ibcc_grid_find(const struct ibcc_grid *g, const json_t *o, uint64_t *point);

#endif
