/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/jobs/map.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <ibcc/file.h>

/* How long a job stays after its end, at least. A polling cycle takes seconds, and Slurm itself
 * forgets a job after five minutes (MinJobAge). Congestion is assigned by a map of up to two
 * periods later, so with a long period jobs stay for that time.
 */
#define KEPT_S 300

void ibcc_map_hide(struct ibcc_jobs *jobs, bool users, bool names)
{
	for (uint32_t i = 0; i < jobs->n; i++) {
		if (users)
			memset(jobs->job[i].user, 0, sizeof(jobs->job[i].user));
		if (names)
			memset(jobs->job[i].name, 0, sizeof(jobs->job[i].name));
	}
}

static int by_run(const void *a, const void *b)
{
	const struct ibcc_job *x = *(const struct ibcc_job *const *)a;
	const struct ibcc_job *y = *(const struct ibcc_job *const *)b;
	int d = strcmp(x->id, y->id);

	return d ? d : (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

/* The runs of the jobs of a map, by id and start; NULL without memory. */
static const struct ibcc_job **sort(const struct ibcc_jobs *jobs)
{
	const struct ibcc_job **run = malloc((jobs->n ? jobs->n : 1) * sizeof(struct ibcc_job *));

	for (uint32_t i = 0; run && i < jobs->n; i++)
		run[i] = &jobs->job[i];
	if (run)
		qsort(run, jobs->n, sizeof(struct ibcc_job *), by_run);
	return run;
}

/* The place of the first of n runs that is not before this one. */
static uint32_t place_of(const struct ibcc_job *const *run, uint32_t n, const struct ibcc_job *job)
{
	uint32_t from = 0;

	while (from < n) {
		uint32_t middle = from + (n - from) / 2;

		if (by_run(&run[middle], &job) < 0)
			from = middle + 1;
		else
			n = middle;
	}
	return from;
}

/* Adds a job of a map, unless it ended before `since_s`. */
static int add(struct ibcc_jobs_draft *d, const struct ibcc_jobs *from, const struct ibcc_job *job,
	       int64_t since_s)
{
	const char **host;
	int rc;

	if (job->end_s && job->end_s < since_s)
		return 0;
	host = malloc(job->n_hosts * sizeof(*host));
	if (!host)
		return -ENOMEM;
	for (uint32_t i = 0; i < job->n_hosts; i++)
		host[i] = from->host[from->on[job->first + i]];
	rc = ibcc_jobs_draft_add(d, job, host, job->n_hosts, NULL);
	free(host);
	return rc;
}

static bool is_run_of(const struct ibcc_job *const *run, uint32_t i, uint32_t n,
		      const struct ibcc_job *job)
{
	return i < n && !strcmp(run[i]->id, job->id);
}

/* Ends a run of the map from before. False: the newer map has it, or has another start for it. A
 * batch system may run a job again: then the run from before ended before the next one.
 */
static bool end_run(struct ibcc_job *job, int64_t seen_s, int64_t now_s,
		    const struct ibcc_job *const *run, uint32_t n)
{
	uint32_t at = place_of(run, n, job);
	const struct ibcc_job *next = is_run_of(run, at, n, job) ? run[at] : NULL;
	const struct ibcc_job *last = at && is_run_of(run, at - 1, n, job) ? run[at - 1] : NULL;

	if ((next && next->start_s == job->start_s) ||
	    (last && (!last->end_s || last->end_s > job->start_s)))
		return false;
	if (!job->end_s)
		job->end_s = seen_s > job->start_s ? seen_s : job->start_s;
	if (next && job->end_s > next->start_s)
		job->end_s = next->start_s;
	/* The clock was set back. */
	if (job->end_s > now_s)
		job->end_s = now_s;
	if (job->end_s && job->start_s > job->end_s)
		job->start_s = job->end_s;
	return job->end_s != 0;
}

static int add_ended(struct ibcc_jobs_draft *d, const struct ibcc_jobs *older,
		     const struct ibcc_jobs *newer, int64_t since_s)
{
	const struct ibcc_job **run = sort(newer);
	int rc = run ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < older->n && !rc; i++) {
		struct ibcc_job job = older->job[i];

		if (end_run(&job, older->made_s, newer->made_s, run, newer->n))
			rc = add(d, older, &job, since_s);
	}
	free(run);
	return rc;
}

static int join(struct ibcc_jobs *joined, const struct ibcc_jobs *older,
		const struct ibcc_jobs *newer)
{
	struct ibcc_jobs_draft *d = ibcc_jobs_draft_new();
	int64_t kept_s = 2 * newer->period_s > KEPT_S ? 2 * newer->period_s : KEPT_S;
	int64_t since_s = newer->made_s - kept_s;
	int rc = d ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < newer->n && !rc; i++)
		rc = add(d, newer, &newer->job[i], since_s);
	if (!rc && older)
		rc = add_ended(d, older, newer, since_s);
	if (!rc)
		rc = ibcc_jobs_draft_finish(d, joined, NULL);
	ibcc_jobs_draft_free(d);
	return rc;
}

/* A job whose start is not known began no earlier than it was seen first. One that runs after its
 * last run had ended has begun again.
 */
static int set_starts(struct ibcc_jobs *newer, const struct ibcc_jobs *older)
{
	const struct ibcc_job **run = sort(older);

	if (!run)
		return -ENOMEM;
	for (uint32_t i = 0; i < newer->n; i++) {
		struct ibcc_job *job = &newer->job[i], key;
		const struct ibcc_job *last = NULL;
		uint32_t at;

		if (job->start_s)
			continue;
		key = *job;
		key.start_s = INT64_MAX;
		at = place_of(run, older->n, &key);
		if (at && is_run_of(run, at - 1, older->n, job))
			last = run[at - 1];
		if (last && last->start_s && (job->end_s || !last->end_s))
			job->start_s = last->start_s;
		else
			job->start_s = newer->made_s;
		if (job->end_s && job->end_s < job->start_s)
			job->start_s = job->end_s;
	}
	free(run);
	return 0;
}

int ibcc_map_renew(struct ibcc_jobs *map, struct ibcc_jobs *newer)
{
	struct ibcc_jobs joined;
	int rc = set_starts(newer, map);

	if (!rc)
		rc = join(&joined, map, newer);
	if (rc == -EINVAL) /* there is no room for jobs that have ended */
		rc = join(&joined, NULL, newer);
	if (!rc) {
		joined.made_s = newer->made_s;
		joined.period_s = newer->period_s;
		memcpy(joined.source, newer->source, sizeof(joined.source));
		ibcc_jobs_fini(map);
		*map = joined;
	}
	ibcc_jobs_fini(newer);
	return rc;
}

void ibcc_map_fail(struct ibcc_jobs *map, const char *trouble, int64_t now_s)
{
	if (now_s - map->made_s > 2 * map->period_s) {
		struct ibcc_jobs old = *map;

		*map = (struct ibcc_jobs){ .made_s = old.made_s, .period_s = old.period_s };
		memcpy(map->source, old.source, sizeof(map->source));
		ibcc_jobs_fini(&old);
	}
	snprintf(map->trouble, sizeof(map->trouble), "%s", trouble);
}

int ibcc_map_check(const char *path, struct ibcc_why *why)
{
	const char *slash = strrchr(path, '/');
	char folder[PATH_MAX];
	struct stat st;

	snprintf(folder, sizeof(folder), "%.*s", slash ? (int)(slash - path) : 1,
		 slash ? path : ".");
	if (slash == path)
		strcpy(folder, "/");
	if (lstat(folder, &st))
		return ibcc_why_set(why, -errno, "the folder %s cannot be read: %s", folder,
				    strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return ibcc_why_set(why, -EPERM,
				    "%s is a link or no folder, so the map is not written there; "
				    "give --output a path in a folder",
				    folder);
	if (st.st_mode & (S_IWGRP | S_IWOTH) || (st.st_uid && st.st_uid != geteuid()))
		return ibcc_why_set(why, -EPERM,
				    "other users can write to the folder %s, so the map is not "
				    "written there; give --output a path in a folder that only "
				    "root or the user of ibcc-jobs can write to",
				    folder);
	return 0;
}

int ibcc_map_put(const struct ibcc_jobs *map, const char *path, struct ibcc_why *why)
{
	char beside[PATH_MAX];
	char *text;
	int rc = ibcc_map_check(path, why);

	if (rc)
		return rc;
	if (snprintf(beside, sizeof(beside), "%s.new", path) >= (int)sizeof(beside))
		return ibcc_why_set(why, -ENAMETOOLONG, "the path of the map is too long: %s",
				    path);
	text = ibcc_jobs_dump(map);
	if (!text)
		return ibcc_why_set(why, -ENOMEM, "the map is not written: no memory");
	unlink(beside); /* of an ibcc-jobs that was killed */
	rc = ibcc_file_put(path, beside, text, strlen(text), 0640);
	free(text);
	if (rc)
		ibcc_why_set(why, rc, "the map %s cannot be written: %s", path, strerror(-rc));
	return rc;
}
