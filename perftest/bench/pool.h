/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Independent runs on all cores. */
#ifndef PERFTEST_BENCH_POOL_H
#define PERFTEST_BENCH_POOL_H

#include <stdint.h>

/* Calls work(arg, i) for each i below n, in threads, `threads` at a time (0: one for each core).
 * done(arg, i, rc) follows each call, never two at once; a value other than 0 stops the rest.
 * Returns 0, the first such value, or a negative errno. The engine has no globals, so runs do not
 * see each other.
 */
int ibcc_pool_run(uint64_t n, unsigned int threads, int (*work)(void *arg, uint64_t i),
		  int (*done)(void *arg, uint64_t i, int rc), void *arg);

/* Cores that this process may use. */
unsigned int ibcc_pool_cores(void);

#endif
