/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Measurements on the clock of this machine. The subjects take turns, repetition by repetition, so
 * that other load on the machine falls on all of them. Figures are medians; CPU time is the least.
 * Every octet that was sent is compared with what has arrived.
 */
#ifndef PERFTEST_MPA_MEASURE_H
#define PERFTEST_MPA_MEASURE_H

#include "perftest/mpa/pair.h"

/* Fills in result[n_subjects]. -EBADMSG if anything arrived that was not sent, -EPIPE if a
 * connection broke, or another errno of the system.
 */
int ibcc_mpa_measure(const struct ibcc_mpa_settings *s, struct ibcc_mpa_result *result);

/* memory.c. Measures one repetition for one subject. */
int ibcc_mpa_measure_memory(const struct ibcc_mpa_settings *s, const struct ibcc_mpa_subject *u,
			    struct ibcc_mpa_result *r);

#endif
