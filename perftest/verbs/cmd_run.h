/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef PERFTEST_VERBS_CMD_RUN_H
#define PERFTEST_VERBS_CMD_RUN_H

/* ibcc-perf run PLAN. */
int ibcc_perf_run(int argc, char **argv);

#endif
