/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The forms of `squeue --json`. Until Slurm 23.02 numbers are numbers, and a state is a word. Later
 * releases have {"set": true, "infinite": false, "number": 7} for numbers, and lists of words for
 * states: "COMPLETED" and "COMPLETING" for a job whose processes are being cleaned up. A release
 * that knows no answer from slurmctld prints an empty list of jobs, an entry in "errors", and ends
 * with exit code 0: so the errors decide.
 */
#include "daemon/jobs/squeue.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/grow.h>
#include <ibcc/hostlist.h>
#include <ibcc/json_each.h>

#define JOB_BYTES (8u << 20) /* of a job in JSON: it may have its script's whole environment */
#define AHEAD_S   30         /* how far the clock of slurmctld's host may be ahead */
#define ENDED_MAX (IBCC_JOBS_MAX / 2) /* jobs that have ended leave room for those that run */

struct reader {
	struct ibcc_jobs_draft *draft;
	int64_t now_s;
	uint32_t n_ended;
	char **host; /* of one job */
	uint32_t n, room;
	struct ibcc_why *why;
};

/* 0: it is not set. */
static json_int_t number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	if (json_is_object(v))
		v = json_is_true(json_object_get(v, "set")) ? json_object_get(v, "number") : NULL;
	return json_integer_value(v);
}

/* A task of an array may have the number 0. */
static bool has_task(const json_t *o)
{
	const json_t *v = json_object_get(o, "array_task_id");

	return number(o, "array_job_id") > 0 &&
	       (json_is_integer(v) || json_is_true(json_object_get(v, "set")));
}

static bool is_one_of(const json_t *word, const char *const *states)
{
	const char *s = json_string_value(word);

	for (; s && *states; states++)
		if (!strcmp(s, *states))
			return true;
	return false;
}

/* Whether one of a job's states is among these. */
static bool has_state(const json_t *o, const char *const *states)
{
	const json_t *v = json_object_get(o, "job_state"), *word;
	bool has = is_one_of(v, states);
	size_t i;

	json_array_foreach (v, i, word)
		has = has || is_one_of(word, states);
	return has;
}

static int take_host(void *arg, const char *host)
{
	struct reader *r = arg;
	char **more = ibcc_grow(r->host, r->n, &r->room, sizeof(*r->host));

	if (!more)
		return -ENOMEM;
	r->host = more;
	r->host[r->n] = strdup(host);
	if (!r->host[r->n])
		return -ENOMEM;
	r->n++;
	return 0;
}

static void drop_hosts(struct reader *r)
{
	while (r->n)
		free(r->host[--r->n]);
}

static void read_id(const json_t *o, struct ibcc_job *job)
{
	if (has_task(o))
		snprintf(job->id, sizeof(job->id), "%" PRId64 "_%" PRId64,
			 (int64_t)number(o, "array_job_id"), (int64_t)number(o, "array_task_id"));
	else
		snprintf(job->id, sizeof(job->id), "%" PRId64, (int64_t)number(o, "job_id"));
}

/* Cut to its size, between characters. */
static void read_text(const json_t *o, const char *key, char *buf, size_t size)
{
	const char *text = json_string_value(json_object_get(o, key));
	size_t n = text ? ibcc_clean_cut(text, size - 1) : 0;

	if (n)
		memcpy(buf, text, n);
	buf[n] = '\0';
}

static int add(struct reader *r, const struct ibcc_job *job, const char *hosts)
{
	int rc = ibcc_hostlist_expand(hosts, IBCC_JOBS_HOSTS_MAX, take_host, r);

	if (rc == -EINVAL)
		rc = ibcc_why_set(r->why, rc, "the list of hosts of job %s cannot be read: %.80s",
				  job->id, hosts);
	if (!rc)
		rc = ibcc_jobs_draft_add(r->draft, job, (const char *const *)r->host, r->n, r->why);
	drop_hosts(r);
	return rc;
}

static int take_job(void *arg, size_t i, const json_t *o)
{
	static const char *const idle[] = { "PENDING", "SUSPENDED", NULL };
	static const char *const ended[] = { "COMPLETED", "COMPLETING",    "CANCELLED",
					     "FAILED",    "TIMEOUT",       "NODE_FAIL",
					     "PREEMPTED", "BOOT_FAIL",     "DEADLINE",
					     "REVOKED",   "OUT_OF_MEMORY", NULL };
	const char *hosts = json_string_value(json_object_get(o, "nodes"));
	struct reader *r = arg;
	struct ibcc_job job = { 0 };

	if (number(o, "job_id") <= 0)
		return ibcc_why_set(r->why, -EINVAL, "jobs[%zu] has no job_id", i);
	if (!hosts || !*hosts || has_state(o, idle))
		return 0;
	read_id(o, &job);
	read_text(o, "user_name", job.user, sizeof(job.user));
	read_text(o, "name", job.name, sizeof(job.name));
	job.start_s = number(o, "start_time");
	if (has_state(o, ended)) {
		job.end_s = number(o, "end_time");
		/* Slurm 22.05 has the present as the start of a job that was put back into the
		 * queue while its hosts are cleaned up, and an end that its time limit makes. It
		 * has run before, with another start.
		 */
		if (!job.start_s || job.end_s < job.start_s || job.end_s > r->now_s + AHEAD_S ||
		    r->n_ended == ENDED_MAX)
			return 0;
		r->n_ended++;
	}
	return add(r, &job, hosts);
}

/* What Slurm itself says is wrong. */
static int check_errors(const json_t *rest, struct ibcc_why *why)
{
	const json_t *e = json_array_get(json_object_get(rest, "errors"), 0);
	const char *what = json_string_value(json_object_get(e, "description"));
	const char *source = json_string_value(json_object_get(e, "source"));

	if (!e)
		return 0;
	return ibcc_why_set(
		why, -EINVAL, "Slurm reports an error: %.80s%s%.40s; see whether slurmctld answers",
		what ? what : "it does not say which", source ? " in " : "", source ? source : "");
}

int ibcc_squeue_read(struct ibcc_jobs *jobs, const char *text, size_t len, int64_t now_s,
		     struct ibcc_why *why)
{
	struct reader r = { .draft = ibcc_jobs_draft_new(), .now_s = now_s, .why = why };
	json_t *rest = NULL;
	int rc = r.draft ? 0 : -ENOMEM;

	*jobs = (struct ibcc_jobs){ 0 };
	if (!rc)
		rc = ibcc_json_each(text, len, "jobs", JOB_BYTES, take_job, &r, &rest, why);
	if (!rc)
		rc = check_errors(rest, why);
	if (!rc)
		rc = ibcc_jobs_draft_finish(r.draft, jobs, why);
	json_decref(rest);
	free(r.host);
	ibcc_jobs_draft_free(r.draft);
	return rc;
}
