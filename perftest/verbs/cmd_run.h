/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef PERFTEST_VERBS_CMD_RUN_H
#define PERFTEST_VERBS_CMD_RUN_H

#include <ibcc/command.h>

/* ibcc-perf run PLAN. */
extern const struct ibcc_command ibcc_perf_run;

#endif
