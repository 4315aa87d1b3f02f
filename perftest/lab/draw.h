/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Random scenarios: fabric, link speeds, background, hotspots. */
#ifndef PERFTEST_LAB_DRAW_H
#define PERFTEST_LAB_DRAW_H

#include <stdint.h>
#include <stdio.h>

#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

#include "perftest/bench/words.h"

/* Writes the scenario of a seed as a file, see ibcc-scenario(5). -EIO. */
int ibcc_draw_write(uint64_t seed, FILE *out);

/* Loads what `write` writes to a file, after assignments (NULL: none). Errors in *e as
 * ibcc_scenario_load().
 */
int ibcc_draw_load_written(int (*write)(void *arg, FILE *out), void *arg,
			   const struct ibcc_words *set, struct ibcc_scenario *s,
			   struct ibcc_yaml_errors *e);

/* Loads the scenario of a seed. Errors in *e as ibcc_scenario_load(). */
int ibcc_draw_load(uint64_t seed, struct ibcc_scenario *s, struct ibcc_yaml_errors *e);

/* Loads the scenario of a seed after assignments; NULL: none. Errors as ibcc_draw_load(). */
int ibcc_draw_load_set(uint64_t seed, const struct ibcc_words *set, struct ibcc_scenario *s,
		       struct ibcc_yaml_errors *e);

/* Loads the scenario of a seed with links of 100, 200 or 400 Gb/s and packets of 4 KB, without any
 * congestion control, after assignments (NULL: none). Errors as ibcc_draw_load().
 */
int ibcc_draw_load_hdr(uint64_t seed, const struct ibcc_words *set, struct ibcc_scenario *s,
		       struct ibcc_yaml_errors *e);

/* The share of the possible throughput that was delivered. What a flow could get at best is its
 * max-min share, or what it offered in the measuring window if that was less. NAN if nothing was
 * offered.
 */
struct ibcc_measure;
struct ibcc_measure_flow;
double ibcc_draw_share(const struct ibcc_measure *m);
/* What one flow could get at best. */
double ibcc_draw_most(const struct ibcc_measure_flow *f);

#endif
