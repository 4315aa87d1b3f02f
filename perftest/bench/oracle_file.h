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

/* Appends the assignments of a case's best setting, if one is known. -ENAMETOOLONG, -ENOMEM;
 * -EINVAL with an error in *e if the file is invalid.
 */
int ibcc_oracle_find(const char *experiment, const char *name, struct ibcc_words *set,
		     struct ibcc_yaml_errors *e);

#endif
