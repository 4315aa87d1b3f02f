/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Maps of jobs for a simulated fabric (jobs_map.h). Begin with ibcc_jobs_map_write(). */
#include "perftest/lab/jobs_map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/file.h>
#include <ibcc/jobs.h>
#include <ibcc/why.h>

#define TURNS      100u /* maps from the beginning of a job to its end */
#define KEPT       10u  /* maps that have a job after its end */
#define SINCE_S    3600 /* the first jobs began so long before the first map */
#define FIRST_ID   100000u
#define USERS      200u
#define HOSTS_MOST 1024u /* of a job */

struct ibcc_jobs_run {
	uint32_t n;                /* runs before this one */
	int64_t start_s, before_s; /* when this one began, and the one before */
	uint32_t since;            /* the map before which it began */
};

/* The place in host[] of a job's first host. */
static uint32_t first_of(const struct ibcc_jobs_map *m, uint32_t job)
{
	return (uint32_t)((uint64_t)job * m->n_hosts / m->n_jobs);
}

int ibcc_jobs_map_init(struct ibcc_jobs_map *m, const struct ibcc_topo *topo, uint32_t n_jobs)
{
	*m = (struct ibcc_jobs_map){ .topo = topo,
				     .host = calloc(topo->n_nodes + 1u, sizeof(*m->host)),
				     .job = calloc(topo->n_nodes + 1u, sizeof(*m->job)),
				     .run = calloc(n_jobs + 1u, sizeof(*m->run)) };
	if (!m->host || !m->job || !m->run) {
		ibcc_jobs_map_fini(m);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < topo->n_nodes; i++) {
		m->job[i] = IBCC_NONE;
		if (!ibcc_topo_is_switch(topo, i))
			m->host[m->n_hosts++] = i;
	}
	m->n_jobs = n_jobs < m->n_hosts ? n_jobs : m->n_hosts;
	for (uint32_t i = 0; i < m->n_jobs; i++)
		for (uint32_t k = first_of(m, i); k < first_of(m, i + 1); k++)
			m->job[m->host[k]] = i;
	return 0;
}

void ibcc_jobs_map_fini(struct ibcc_jobs_map *m)
{
	free(m->host);
	free(m->job);
	free(m->run);
	*m = (struct ibcc_jobs_map){ .topo = NULL };
}

static int add(const struct ibcc_jobs_map *m, struct ibcc_jobs_draft *d, uint32_t job, uint32_t run,
	       int64_t start_s, int64_t end_s)
{
	uint32_t first = first_of(m, job), n = first_of(m, job + 1) - first;
	struct ibcc_job j = { .start_s = start_s, .end_s = end_s };
	const char *host[HOSTS_MOST] = { NULL };
	struct ibcc_why why;

	n = n < HOSTS_MOST ? n : HOSTS_MOST;
	for (uint32_t i = 0; i < n; i++)
		host[i] = m->topo->node[m->host[first + i]].desc;
	snprintf(j.id, sizeof(j.id), "%u", FIRST_ID + run * m->n_jobs + job);
	snprintf(j.user, sizeof(j.user), "user%u", job % USERS);
	snprintf(j.name, sizeof(j.name), "simulation-%u", job);
	return ibcc_jobs_draft_add(d, &j, host, n, &why);
}

int ibcc_jobs_map_write(struct ibcc_jobs_map *m, const char *file, int64_t made_s, int64_t period_s)
{
	struct ibcc_jobs_draft *d = ibcc_jobs_draft_new();
	struct ibcc_jobs jobs = { .n = 0 };
	struct ibcc_why why;
	char *text = NULL;
	int rc = d ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < m->n_jobs && !rc; i++) {
		struct ibcc_jobs_run *r = &m->run[i];

		if (!m->n_maps)
			r->start_s = made_s - SINCE_S;
		else if ((m->n_maps + i) % TURNS == 0)
			*r = (struct ibcc_jobs_run){ r->n + 1, made_s, r->start_s, m->n_maps };
		if (r->n && m->n_maps - r->since < KEPT)
			rc = add(m, d, i, r->n - 1, r->before_s, r->start_s);
		if (!rc)
			rc = add(m, d, i, r->n, r->start_s, 0);
	}
	if (!rc)
		rc = ibcc_jobs_draft_finish(d, &jobs, &why);
	if (!rc) {
		jobs.made_s = made_s;
		jobs.period_s = period_s;
		snprintf(jobs.source, sizeof(jobs.source), "simulated");
		text = ibcc_jobs_dump(&jobs);
		rc = text ? ibcc_file_replace(file, text, strlen(text)) : -ENOMEM;
	}
	m->n_maps += !rc;
	free(text);
	ibcc_jobs_fini(&jobs);
	ibcc_jobs_draft_free(d);
	return rc;
}
