/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What Slurm's squeue prints, as a map. */
#ifndef IBCC_DAEMON_JOBS_SQUEUE_H
#define IBCC_DAEMON_JOBS_SQUEUE_H

#include <stddef.h>
#include <stdint.h>

#include <ibcc/jobs.h>
#include <ibcc/why.h>

/* Reads the output of `squeue --json`, of Slurm 22.05 and later, which comes from outside. The map
 * has jobs that run and jobs that have ended; not those that wait for hosts, and not those that are
 * suspended, as they send nothing. now_s is the time of day in seconds: what "has ended" later than
 * that has not run yet. Of the members that are not about single jobs all are zero.
 * -EINVAL with the reason in *why, also if Slurm reports an error; -ENOMEM. *jobs is empty then.
 */
int ibcc_squeue_read(struct ibcc_jobs *jobs, const char *text, size_t len, int64_t now_s,
		     struct ibcc_why *why);

#endif
