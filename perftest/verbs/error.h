/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reason of a failure, in words: the first failure stays, those that follow from it are
 * dropped.
 */
#ifndef PERFTEST_VERBS_ERROR_H
#define PERFTEST_VERBS_ERROR_H

#include <ibcc/why.h>

/* Keeps "WORDS: STRERROR", or the words alone if err is 0, unless there is a text already. Returns
 * -err, or -EIO for 0.
 */
int ibcc_perf_fail(struct ibcc_why *e, int err, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
