/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port's own counters, as the kernel shows them: hw_counters of the driver and of the port. */
#ifndef PERFTEST_VERBS_COUNTERS_H
#define PERFTEST_VERBS_COUNTERS_H

#include <stdint.h>

#include <jansson.h>

/* {"NAME": VALUE, ...} of DEVICE's port below `sysfs` ("/sys"). A counter that cannot be read is
 * left out. NULL without memory.
 */
json_t *ibcc_perf_counters(const char *sysfs, const char *device, unsigned int port);

/* The difference between two readings, for counters in both. Differences of zero are left out,
 * except those of retries. NULL without memory, or if either is NULL.
 */
json_t *ibcc_perf_counters_since(const json_t *before, const json_t *after);

/* How often senders at the port started again, by such differences; -1 if the driver counts that
 * under no name that is known here.
 */
json_int_t ibcc_perf_counters_retries(const json_t *since);

#endif
