/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The map of hosts and jobs (jobs.h), from JSON and to it. A file of a hundred megabytes of nothing
 * but brackets must not take a daemon's memory, so jobs are read one by one.
 */
#include <ibcc/jobs.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/clean.h>
#include <ibcc/grow.h>
#include <ibcc/hostlist.h>
#include <ibcc/json.h>
#include <ibcc/json_each.h>
#include <ibcc/why.h>

#define VERSION      1
#define JOB_BYTES    (8u << 20)            /* of a job in JSON: 100000 hosts have 2 MB */
#define SECONDS_MAX  INT64_C(253402300799) /* the end of the year 9999 */
#define PERIOD_MAX_S 86400

struct ibcc_jobs_draft {
	struct ibcc_job *job;
	uint32_t n, room;
	char **name; /* of the hosts of all jobs, one after the other */
	uint32_t n_names, names_room;
};

struct reader {
	struct ibcc_jobs_draft *draft;
	const char **host; /* of the job that is being read */
	size_t room;
	struct ibcc_why *why;
};

void ibcc_jobs_fini(struct ibcc_jobs *jobs)
{
	if (!jobs)
		return;
	for (uint32_t i = 0; i < jobs->n_hosts; i++)
		free(jobs->host[i]);
	free(jobs->host);
	free(jobs->job);
	free(jobs->on);
	*jobs = (struct ibcc_jobs){ 0 };
}

struct ibcc_jobs_draft *ibcc_jobs_draft_new(void)
{
	return calloc(1, sizeof(struct ibcc_jobs_draft));
}

static void empty(struct ibcc_jobs_draft *d)
{
	for (uint32_t i = 0; i < d->n_names; i++)
		free(d->name[i]);
	free(d->name);
	free(d->job);
	*d = (struct ibcc_jobs_draft){ 0 };
}

void ibcc_jobs_draft_free(struct ibcc_jobs_draft *d)
{
	if (d)
		empty(d);
	free(d);
}

int ibcc_jobs_draft_add(struct ibcc_jobs_draft *d, const struct ibcc_job *job,
			const char *const *host, uint32_t n_hosts, struct ibcc_why *why)
{
	struct ibcc_job *j;
	char **name;

	if (!n_hosts)
		return ibcc_why_set(why, -EINVAL, "job %s has no hosts", job->id);
	if (d->n == IBCC_JOBS_MAX)
		return ibcc_why_set(why, -EINVAL, "there are more than %d jobs", IBCC_JOBS_MAX);
	if (n_hosts > IBCC_JOBS_ON_MAX - d->n_names)
		return ibcc_why_set(why, -EINVAL, "the jobs have more than %d hosts in all",
				    IBCC_JOBS_ON_MAX);
	j = ibcc_grow(d->job, d->n, &d->room, sizeof(*d->job));
	if (!j)
		return -ENOMEM;
	d->job = j;
	name = ibcc_grow_to(d->name, d->n_names + n_hosts, &d->names_room, sizeof(*d->name));
	if (!name)
		return -ENOMEM;
	d->name = name;
	j += d->n++;
	*j = *job;
	ibcc_clean(j->id, "");
	ibcc_clean(j->user, "");
	ibcc_clean(j->name, "");
	j->first = d->n_names;
	j->n_hosts = n_hosts;
	for (uint32_t i = 0; i < n_hosts; i++) {
		d->name[d->n_names] = strdup(host[i]);
		if (!d->name[d->n_names])
			goto out;
		ibcc_clean(d->name[d->n_names++], "");
	}
	return 0;
out:
	while (d->n_names > j->first)
		free(d->name[--d->n_names]);
	d->n--;
	return -ENOMEM;
}

static int by_name(const void *a, const void *b, void *names)
{
	char *const *name = names;

	return strcmp(name[*(const uint32_t *)a], name[*(const uint32_t *)b]);
}

/* A batch system may run a job twice, at different times. */
static int by_run(const void *a, const void *b)
{
	const struct ibcc_job *x = *(const struct ibcc_job *const *)a;
	const struct ibcc_job *y = *(const struct ibcc_job *const *)b;
	int d = strcmp(x->id, y->id);

	return d ? d : (x->start_s > y->start_s) - (x->start_s < y->start_s);
}

static int by_start(const void *a, const void *b)
{
	const struct ibcc_job *x = a, *y = b;

	if (x->start_s != y->start_s)
		return x->start_s < y->start_s ? -1 : 1;
	return strcmp(x->id, y->id);
}

/* Gives each host its place in the sorted list. */
static int place_hosts(struct ibcc_jobs_draft *d, struct ibcc_jobs *jobs)
{
	uint32_t *order = malloc((d->n_names ? d->n_names : 1) * sizeof(*order));

	jobs->host = malloc((d->n_names ? d->n_names : 1) * sizeof(*jobs->host));
	jobs->on = malloc((d->n_names ? d->n_names : 1) * sizeof(*jobs->on));
	if (!order || !jobs->host || !jobs->on) {
		free(order);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < d->n_names; i++)
		order[i] = i;
	qsort_r(order, d->n_names, sizeof(*order), by_name, d->name);
	for (uint32_t i = 0; i < d->n_names; i++) {
		uint32_t n = jobs->n_hosts;
		char *name = d->name[order[i]];

		if (!n || strcmp(jobs->host[n - 1], name)) {
			jobs->host[jobs->n_hosts++] = name;
			d->name[order[i]] = NULL;
		}
		jobs->on[order[i]] = jobs->n_hosts - 1;
	}
	jobs->n_on = d->n_names;
	free(order);
	return 0;
}

static int check_hosts(const struct ibcc_jobs *jobs, struct ibcc_why *why)
{
	uint32_t *last; /* job + 1 that had the host last */
	int rc = 0;

	if (jobs->n_hosts > IBCC_JOBS_HOSTS_MAX)
		return ibcc_why_set(why, -EINVAL, "there are more than %d hosts",
				    IBCC_JOBS_HOSTS_MAX);
	last = calloc(jobs->n_hosts ? jobs->n_hosts : 1, sizeof(*last));
	if (!last)
		return -ENOMEM;
	for (uint32_t i = 0; i < jobs->n && !rc; i++) {
		const struct ibcc_job *j = &jobs->job[i];

		for (uint32_t k = 0; k < j->n_hosts && !rc; k++) {
			uint32_t host = jobs->on[j->first + k];

			if (last[host] == i + 1)
				rc = ibcc_why_set(why, -EINVAL, "job %s has host %s twice", j->id,
						  jobs->host[host]);
			last[host] = i + 1;
		}
	}
	free(last);
	return rc;
}

/* Runs of a job differ by their start, so each of them has one. */
static int check_runs(const struct ibcc_jobs *jobs, struct ibcc_why *why)
{
	const struct ibcc_job **job = malloc((jobs->n ? jobs->n : 1) * sizeof(struct ibcc_job *));
	int rc = 0;

	if (!job)
		return -ENOMEM;
	for (uint32_t i = 0; i < jobs->n; i++)
		job[i] = &jobs->job[i];
	qsort(job, jobs->n, sizeof(struct ibcc_job *), by_run);
	for (uint32_t i = 1; i < jobs->n && !rc; i++)
		if (!strcmp(job[i - 1]->id, job[i]->id) &&
		    (!job[i - 1]->start_s || job[i - 1]->start_s == job[i]->start_s))
			rc = ibcc_why_set(
				why, -EINVAL,
				"there are two jobs %s: want one, or two with different start_s",
				job[i]->id);
	free(job);
	return rc;
}

int ibcc_jobs_draft_finish(struct ibcc_jobs_draft *d, struct ibcc_jobs *jobs, struct ibcc_why *why)
{
	int rc;

	*jobs = (struct ibcc_jobs){ 0 };
	rc = place_hosts(d, jobs);
	jobs->job = d->job;
	jobs->n = d->n;
	d->job = NULL;
	if (!rc)
		rc = check_hosts(jobs, why);
	if (!rc)
		rc = check_runs(jobs, why);
	if (!rc && jobs->n)
		qsort(jobs->job, jobs->n, sizeof(*jobs->job), by_start);
	empty(d);
	if (rc)
		ibcc_jobs_fini(jobs);
	return rc;
}

/* A text of at least one byte that fits. */
static bool read_name(const json_t *v, size_t bytes, const char **text)
{
	*text = json_string_value(v);
	return *text && **text && strlen(*text) == json_string_length(v) && strlen(*text) <= bytes;
}

/* A text that may be left out. What does not fit, or comes behind a NUL, is cut off. */
static bool read_text(const json_t *o, const char *key, char *buf, size_t size)
{
	const json_t *v = json_object_get(o, key);
	const char *text = json_string_value(v);
	size_t n = text ? ibcc_clean_cut(text, size - 1) : 0;

	if (n)
		memcpy(buf, text, n);
	buf[n] = '\0';
	return !v || text;
}

static bool read_seconds(const json_t *o, const char *key, int64_t *s)
{
	const json_t *v = json_object_get(o, key);
	json_int_t n = 0;
	bool good = !v || ibcc_json_read_whole(v, SECONDS_MAX, &n);

	*s = n;
	return good;
}

/* The hosts of a job, which stay the list's. Returns what is wrong, NULL: nothing. */
static const char *read_hosts(struct reader *r, const json_t *list, uint32_t *n)
{
	const json_t *v;
	size_t i;

	if (!json_array_size(list) || json_array_size(list) > IBCC_JOBS_HOSTS_MAX)
		return "want a list of hosts";
	if (json_array_size(list) > r->room) {
		const char **p = reallocarray(r->host, json_array_size(list), sizeof(*p));

		if (!p)
			return "no memory";
		r->host = p;
		r->room = json_array_size(list);
	}
	json_array_foreach (list, i, v)
		if (!read_name(v, IBCC_HOST_NAME_BYTES, &r->host[i]))
			return "want a list of names with 1 to 255 bytes each";
	*n = (uint32_t)json_array_size(list);
	return NULL;
}

static int take_job(void *arg, size_t i, const json_t *o)
{
	struct reader *r = arg;
	struct ibcc_job job = { 0 };
	const char *bad = NULL, *key, *id;
	uint32_t n_hosts = 0;

	if (!read_name(json_object_get(o, key = "id"), sizeof(job.id) - 1, &id))
		bad = "want a text of 1 to 63 bytes";
	else if (!read_text(o, key = "user", job.user, sizeof(job.user)) ||
		 !read_text(o, key = "name", job.name, sizeof(job.name)))
		bad = "want a text";
	else if (!read_seconds(o, key = "start_s", &job.start_s) ||
		 !read_seconds(o, key = "end_s", &job.end_s))
		bad = "want seconds since 1970";
	else if (job.end_s && job.end_s < job.start_s)
		bad = "want a time after start_s";
	if (!bad)
		bad = read_hosts(r, json_object_get(o, key = "hosts"), &n_hosts);
	if (bad)
		return ibcc_why_set(r->why, -EINVAL, "jobs[%zu].%s: %s", i, key, bad);
	snprintf(job.id, sizeof(job.id), "%s", id);
	return ibcc_jobs_draft_add(r->draft, &job, r->host, n_hosts, r->why);
}

/* What is not about single jobs. */
static int read_head(const json_t *o, struct ibcc_jobs *jobs, struct ibcc_why *why)
{
	const char *bad = NULL, *key;
	json_int_t version, made, period;

	if (!ibcc_json_read_whole(json_object_get(o, key = "version"), INT32_MAX, &version))
		bad = "want a number";
	else if (version != VERSION)
		bad = "want 1, the only version that this program knows";
	else if (!ibcc_json_read_whole(json_object_get(o, key = "made_s"), SECONDS_MAX, &made))
		bad = "want seconds since 1970";
	else if (!ibcc_json_read_whole(json_object_get(o, key = "period_s"), PERIOD_MAX_S,
				       &period) ||
		 !period)
		bad = "want seconds, 1 to 86400";
	else if (!json_object_get(o, key = "source") ||
		 !read_text(o, key, jobs->source, sizeof(jobs->source)) ||
		 !read_text(o, key = "trouble", jobs->trouble, sizeof(jobs->trouble)))
		bad = "want a text";
	if (bad)
		return ibcc_why_set(why, -EINVAL, "%s: %s", key, bad);
	jobs->made_s = made;
	jobs->period_s = period;
	return 0;
}

int ibcc_jobs_parse(struct ibcc_jobs *jobs, const char *text, size_t len, struct ibcc_why *why)
{
	struct reader r = { .draft = ibcc_jobs_draft_new(), .why = why };
	json_t *head = NULL;
	int rc = r.draft ? 0 : -ENOMEM;

	*jobs = (struct ibcc_jobs){ 0 };
	if (!rc && len > IBCC_JOBS_FILE_BYTES)
		rc = ibcc_why_set(why, -EINVAL, "it has more than %d bytes", IBCC_JOBS_FILE_BYTES);
	if (!rc)
		rc = ibcc_json_each(text, len, "jobs", JOB_BYTES, take_job, &r, &head, why);
	if (!rc)
		rc = ibcc_jobs_draft_finish(r.draft, jobs, why);
	if (!rc)
		rc = read_head(head, jobs, why);
	if (rc)
		ibcc_jobs_fini(jobs);
	json_decref(head);
	free(r.host);
	ibcc_jobs_draft_free(r.draft);
	return rc;
}

static json_t *job_json(const struct ibcc_jobs *jobs, const struct ibcc_job *j)
{
	json_t *hosts = json_array();

	for (uint32_t i = 0; hosts && i < j->n_hosts; i++)
		if (json_array_append_new(hosts,
					  ibcc_json_text(jobs->host[jobs->on[j->first + i]]))) {
			json_decref(hosts);
			hosts = NULL;
		}
	return json_pack("{so so so sI sI so}", "id", ibcc_json_text(j->id), "user",
			 ibcc_json_text(j->user), "name", ibcc_json_text(j->name), "start_s",
			 (json_int_t)j->start_s, "end_s", (json_int_t)j->end_s, "hosts", hosts);
}

char *ibcc_jobs_dump(const struct ibcc_jobs *jobs)
{
	json_t *list = json_array(), *o;
	char *text = NULL;
	int rc = list ? 0 : -ENOMEM;

	for (uint32_t i = 0; i < jobs->n && !rc; i++)
		rc = ibcc_json_fold(list, job_json(jobs, &jobs->job[i]));
	if (rc) {
		json_decref(list);
		return NULL;
	}
	o = json_pack("{si sI sI so so so}", "version", VERSION, "made_s", (json_int_t)jobs->made_s,
		      "period_s", (json_int_t)jobs->period_s, "source",
		      ibcc_json_text(jobs->source), "trouble", ibcc_json_text(jobs->trouble),
		      "jobs", list);
	if (o)
		text = ibcc_json_dump(o);
	json_decref(o);
	return text;
}
