/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The grid of static settings, equal on all nodes, in which searches look for the best one. */
#ifndef PERFTEST_LAB_ORACLE_GRID_H
#define PERFTEST_LAB_ORACLE_GRID_H

#include <stddef.h>

#include <jansson.h>

#include <ibcc/scenario.h>

#include "perftest/lab/grid.h"

/* Works as ibcc_grid_add(), with a message on stderr. */
int ibcc_oracle_grid_add(struct ibcc_grid *g, const char *text);

/* Adds the default axes if there are none yet. */
int ibcc_oracle_grid_default(struct ibcc_grid *g);

/* [{"key","values":[...]}...] */
json_t *ibcc_oracle_grid_json(const struct ibcc_grid *g);

/* The setting that the grid varies, as an assignment: with the Victim_Mask bits of all ports that
 * lead to adapters. -E2BIG.
 */
int ibcc_oracle_base(const struct ibcc_scenario *s, char *text, size_t len);

#endif
