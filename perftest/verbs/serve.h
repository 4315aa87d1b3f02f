/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-perf serve: waits for coordinators. Each of them gets a process of its own, so that the
 * kernel frees what a session has, even if it was killed.
 */
#ifndef PERFTEST_VERBS_SERVE_H
#define PERFTEST_VERBS_SERVE_H

#include <ibcc/command.h>

extern const struct ibcc_command ibcc_perf_serve;

#endif
