/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What ibcc-perf serve does: waits for coordinators, each of which gets a process of its own, so
 * that the kernel frees what a session has, even one that was killed.
 */
#ifndef PERFTEST_VERBS_SERVE_H
#define PERFTEST_VERBS_SERVE_H

int ibcc_perf_serve(int argc, char **argv);

/* The first line of a file, without its end, as a token; freed by the caller. NULL with a message:
 * it cannot be read, is shorter than 8 bytes, or may be read by others.
 */
char *ibcc_perf_token(const char *file);

#endif
