/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port's own counters, as the kernel shows them: hw_counters of the driver and of the port. */
#ifndef PERFTEST_VERBS_COUNTERS_H
#define PERFTEST_VERBS_COUNTERS_H

#include <stdint.h>

#include <jansson.h>

/* {"NAME": VALUE, ...} of DEVICE's port below `sysfs` ("/sys"); what cannot be read is not there.
 * NULL without memory.
 */
json_t *ibcc_perf_counters(const char *sysfs, const char *device, unsigned int port);

/* What counted between two readings: differences that are not zero, of counters in both; those of
 * retries also if they are. NULL without memory, or if either is NULL.
 */
json_t *ibcc_perf_counters_since(const json_t *before, const json_t *after);

/* How often senders at the port began again, by such differences; -1 if the driver does not count
 * that by a name that is known here.
 */
json_int_t ibcc_perf_counters_retries(const json_t *since);

#endif
