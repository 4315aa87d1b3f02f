/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Maps of hosts and jobs that a test writes by hand, without a file. */
#ifndef TEST_JOB_MAPS_H
#define TEST_JOB_MAPS_H

#include <stdlib.h>
#include <string.h>

#include <ibcc/jobs.h>

#define JOB_MAP_JOBS  64u
#define JOB_MAP_HOSTS 16u
#define JOB_MAP_ON    256u

struct job_map {
	struct ibcc_jobs jobs; /* points into what follows */
	struct ibcc_job job[JOB_MAP_JOBS];
	char *host[JOB_MAP_HOSTS];
	uint32_t on[JOB_MAP_ON];
};

/* `hosts` is in ascending order, separated by blanks, in a text that stays. */
static inline void job_map_init(struct job_map *m, char *hosts, int64_t made_s, int64_t period_s)
{
	memset(m, 0, sizeof(*m));
	m->jobs = (struct ibcc_jobs){
		.made_s = made_s, .period_s = period_s, .job = m->job, .host = m->host, .on = m->on
	};
	for (char *word = strtok(hosts, " "); word; word = strtok(NULL, " "))
		m->host[m->jobs.n_hosts++] = word;
}

/* The digits of `hosts` are places in the list of hosts. */
static inline void job_map_add(struct job_map *m, const char *id, const char *user,
			       const char *name, int64_t start_s, int64_t end_s, const char *hosts)
{
	struct ibcc_job *j = &m->job[m->jobs.n++];

	*j = (struct ibcc_job){ .start_s = start_s, .end_s = end_s, .first = m->jobs.n_on };
	strncpy(j->id, id, sizeof(j->id) - 1);
	strncpy(j->user, user, sizeof(j->user) - 1);
	strncpy(j->name, name, sizeof(j->name) - 1);
	for (; *hosts; hosts++, j->n_hosts++)
		m->on[m->jobs.n_on++] = (uint32_t)(*hosts - '0');
}

#endif
