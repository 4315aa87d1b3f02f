/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ready-made plans for given hosts. */
#ifndef PERFTEST_VERBS_PLANS_H
#define PERFTEST_VERBS_PLANS_H

#include <stddef.h>
#include <stdio.h>

#include <ibcc/command.h>

/* ibcc-perf plan NAME HOST[=ADDRESS]...: prints a plan. */
extern const struct ibcc_command ibcc_perf_plan;

/* Writes the plan NAME for n hosts, each NAME or NAME=ADDRESS. 0, -ENOENT (no such plan), -EINVAL
 * (too few hosts, or an invalid name), -EIO.
 */
int ibcc_perf_plan_write(const char *name, const char *const *host, size_t n, FILE *out);

#endif
