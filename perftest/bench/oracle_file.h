/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The best static settings that exhaustive searches found: oracle/NAME.json beside NAME.yaml.
 *
 * {"schema":1,"experiment","grid":[{"key","values":[...]}...],
 *  "cases":{"CASE":{"points","within_2_percent","ideal_share","set":["KEY=VALUE"...]}}}
 * points: settings tried; within_2_percent: those of them nearly as good as the best.
 */
#ifndef PERFTEST_BENCH_ORACLE_FILE_H
#define PERFTEST_BENCH_ORACLE_FILE_H

#include <stdint.h>

#include <jansson.h>

#include <ibcc/yaml.h>

#include "perftest/bench/words.h"

/* Path of the file beside an experiment's. -ENAMETOOLONG. */
int ibcc_oracle_path(const char *experiment, char *buf, size_t len);

/* Reads it whole; NULL with 0 where there is none, -EINVAL with an error in *e if it is none. */
int ibcc_oracle_load(const char *experiment, json_t **out, struct ibcc_yaml_errors *e);

/* Appends the assignments of a case's best setting, if one is known. Errors as above, -ENOMEM. */
int ibcc_oracle_find(const char *experiment, const char *name, struct ibcc_words *set,
		     struct ibcc_yaml_errors *e);

/* Reads tune/oracle/random.json of a folder, which `oracle --random` wrote: see
 * ibcc_oracle_random_write(). NULL with 0 where there is none, -EINVAL with an error in *e.
 */
int ibcc_oracle_load_drawn(const char *folder, json_t **out, struct ibcc_yaml_errors *e);

/* The best static share of a draw there; NAN where none is known. `all` may be NULL. */
double ibcc_oracle_drawn(const json_t *all, uint64_t seed);

#endif
