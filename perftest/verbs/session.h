/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A host's side of a plan: does what a coordinator asks for on one connection, and frees all that
 * it has when that ends, however it ends.
 *
 * After {"ibcc-perf":2}, with "salt" where a token is needed, each request is an object with "do"
 * and has one answer: {"ok":true,...} or
 * {"ok":false,"error":TEXT}, which ends the session. While "start" is not answered there are also
 * {"report":...} and {"finished":true}, and "finish" and "stop" are heard, which have no answer.
 *
 *   hello    proof                 who asks: see token.h
 *   open     a job                 device, memory, queue pairs; answers "ends": their addresses
 *   connect  ends                  the other ends' addresses, in the order of the job's
 *   start    from_ns, to_ns, report_ns   answers with flows, ends and counters after "stop"
 */
#ifndef PERFTEST_VERBS_SESSION_H
#define PERFTEST_VERBS_SESSION_H

#include "perftest/verbs/error.h"

#define IBCC_PERF_PROTOCOL 2

struct ibcc_perf_session_options {
	const char *token; /* that a coordinator must have; NULL: none */
	const char *sysfs; /* "/sys" */
};

/* Serves a connected socket until it closes, and closes it. 0, or why it ended in *e. */
int ibcc_perf_session(int fd, const struct ibcc_perf_session_options *o, struct ibcc_why *e);

#endif
