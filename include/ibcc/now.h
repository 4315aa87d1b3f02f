/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The system's clocks, for the daemon, the tools and their tests. Pure code gets the time from its
 * caller.
 */
#ifndef IBCC_NOW_H
#define IBCC_NOW_H

#include <stdint.h>
#include <time.h>

/* What one of the system's clocks shows, such as CLOCK_MONOTONIC or CLOCK_THREAD_CPUTIME_ID. */
static inline uint64_t ibcc_now_of_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static inline double ibcc_now_of_s(clockid_t clock)
{
	return (double)ibcc_now_of_ns(clock) / 1e9;
}

/* CPU time of the calling thread. */
static inline uint64_t ibcc_now_cpu_ns(void)
{
	return ibcc_now_of_ns(CLOCK_THREAD_CPUTIME_ID);
}

static inline double ibcc_now_cpu_s(void)
{
	return ibcc_now_of_s(CLOCK_THREAD_CPUTIME_ID);
}

/* The clock that only goes forward: CLOCK_MONOTONIC. */
static inline uint64_t ibcc_now_ns(void)
{
	return ibcc_now_of_ns(CLOCK_MONOTONIC);
}

static inline int64_t ibcc_now_ms(void)
{
	return (int64_t)(ibcc_now_ns() / 1000000u);
}

static inline double ibcc_now_s(void)
{
	return ibcc_now_of_s(CLOCK_MONOTONIC);
}

/* The time on that clock `ms` milliseconds from now, as the pthread calls take it. */
static inline struct timespec ibcc_now_in_ms(uint64_t ms)
{
	uint64_t ns = ibcc_now_ns() + ms * 1000000u;

	return (struct timespec){ .tv_sec = (time_t)(ns / 1000000000u),
				  .tv_nsec = (long)(ns % 1000000000u) };
}

#endif
