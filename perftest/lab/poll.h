/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The passes that the polling benchmark measures. */
#ifndef PERFTEST_LAB_POLL_H
#define PERFTEST_LAB_POLL_H

#include <stddef.h>

#include <ibcc/transport.h>

/* A transport that hands everything to another and keeps a copy of the requests. */
struct ibcc_poll_record {
	struct ibcc_transport base;
	struct ibcc_transport *inner; /* not owned */
	struct ibcc_mad_op *op;
	uint32_t n, cap;
};
void ibcc_poll_record_init(struct ibcc_poll_record *r, struct ibcc_transport *inner);
void ibcc_poll_record_fini(struct ibcc_poll_record *r);

/* The time of something that is done once: call begin before it, end after it. */
struct ibcc_poll_once {
	double seconds;
	uint64_t mads, smps;
};
void ibcc_poll_once_begin(struct ibcc_poll_once *o, const struct ibcc_transport *tr);
void ibcc_poll_once_end(struct ibcc_poll_once *o, const struct ibcc_transport *tr);

/* Measures the least that polling can cost. Sends the requests over libibumad with `window` in
 * flight and takes the answers, without looking at them, on a port opened for it. Seconds in *s.
 * -EIO, also when an answer does not come within two seconds.
 */
int ibcc_poll_bare(const struct ibcc_mad_op *op, size_t n, unsigned int window, double *s);

/* Runs a command with its output thrown away; seconds in *s. -EIO if it fails,
 * -EFAULT if it dies of a signal.
 */
int ibcc_poll_command(const char *const argv[], double *s);

#endif
