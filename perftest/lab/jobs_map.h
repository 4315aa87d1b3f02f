/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A batch system with many jobs on the hosts of a simulated fabric: makes the maps that ibcc-jobs
 * would write. Of each hundred jobs one ends from map to map, and another one takes its hosts.
 */
#ifndef PERFTEST_LAB_JOBS_MAP_H
#define PERFTEST_LAB_JOBS_MAP_H

#include <stdint.h>

#include <ibcc/topo.h>

struct ibcc_jobs_run;

struct ibcc_jobs_map {
	const struct ibcc_topo
		*topo;            /* its channel adapters are the hosts, by their descriptions */
	uint32_t n_hosts, n_jobs; /* jobs that run at a time; at most as many as hosts */
	uint32_t *host;           /* owned: nodes, those of job 0 first */
	uint32_t *job; /* owned, by node: 0 to n_jobs - 1; IBCC_NONE: the node is a switch */
	struct ibcc_jobs_run *run; /* owned, by job: what runs on its hosts, and what ran before */
	uint32_t n_maps;
};

/* -ENOMEM. Free with ibcc_jobs_map_fini(). The topology must outlive it. */
int ibcc_jobs_map_init(struct ibcc_jobs_map *m, const struct ibcc_topo *topo, uint32_t n_jobs);
void ibcc_jobs_map_fini(struct ibcc_jobs_map *m);

/* Replaces a file by the next map, made at a time (seconds since 1970), with a period for the
 * daemon. 0 or -errno.
 */
int ibcc_jobs_map_write(struct ibcc_jobs_map *m, const char *file, int64_t made_s,
			int64_t period_s);

#endif
