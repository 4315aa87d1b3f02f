/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What ibcc-perf serve does: waits for coordinators, each of which gets a process of its own, so
 * that the kernel frees what a session has, even one that was killed.
 */
#ifndef PERFTEST_VERBS_SERVE_H
#define PERFTEST_VERBS_SERVE_H

#include <ibcc/command.h>

extern const struct ibcc_command ibcc_perf_serve;

#endif
