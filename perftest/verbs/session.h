/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A host's side of a plan: does what a coordinator asks for on one connection. When the connection
 * ends, however it ends, the host frees all that it has.
 *
 * The host begins with {"ibcc-perf":2}, with "salt" if a token is needed. Each request is an object
 * with "do" and has one answer: {"ok":true,...} or {"ok":false,"error":TEXT}, which ends the
 * session. Until it answers "start", the host also sends {"report":...} and {"finished":true}. In
 * that time it takes "finish" and "stop", which have no answer.
 *
 *   hello    proof                 shows that the coordinator knows the token: see token.h
 *   open     a job                 device, memory, queue pairs; answers "ends": their addresses
 *   connect  ends                  the other ends' addresses, in the order of the job's
 *   start    from_ns, to_ns, report_ns   answers with flows, ends and counters after "stop"
 */
#ifndef PERFTEST_VERBS_SESSION_H
#define PERFTEST_VERBS_SESSION_H

#include "perftest/verbs/error.h"

#define IBCC_PERF_PROTOCOL 2

struct ibcc_perf_session_options {
	const char *token; /* token that a coordinator must have; NULL: none */
	const char *sysfs; /* "/sys" */
};

/* Serves a connected socket until it closes, and closes it. 0, or an error with the reason in *e.
 */
int ibcc_perf_session(int fd, const struct ibcc_perf_session_options *o, struct ibcc_why *e);

#endif
