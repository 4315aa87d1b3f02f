/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Maps of hosts and jobs from any bytes: refused with a reason, or taken; then it has what it
 * promises, and is the same when written and read again. Any JSON object with a list is read by
 * element as jansson reads it whole. What squeue prints is taken or refused like a map. A list of
 * hosts is refused or expands within its bounds.
 */
#include <errno.h>
#include <stdbool.h>

#include <ibcc/clean.h>
#include <ibcc/hostlist.h>
#include <ibcc/jobs.h>
#include <ibcc/json_each.h>

#include "daemon/jobs/squeue.h"
#include "tests/fuzz/fuzz.h"

#define MOST 500u

static void check_map(const struct ibcc_jobs *jobs)
{
	FUZZ_CHECK(jobs->n <= IBCC_JOBS_MAX && jobs->n_hosts <= IBCC_JOBS_HOSTS_MAX &&
		   jobs->n_on <= IBCC_JOBS_ON_MAX);
	for (uint32_t i = 1; i < jobs->n_hosts; i++)
		FUZZ_CHECK(strcmp(jobs->host[i - 1], jobs->host[i]) < 0);
	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct ibcc_job *j = &jobs->job[i];

		FUZZ_CHECK(j->id[0] && j->n_hosts && j->first + j->n_hosts <= jobs->n_on);
		FUZZ_CHECK(!i || jobs->job[i - 1].start_s <= j->start_s);
		FUZZ_CHECK(!j->end_s || j->end_s >= j->start_s);
		for (uint32_t k = 0; k < j->n_hosts; k++)
			FUZZ_CHECK(jobs->on[j->first + k] < jobs->n_hosts);
	}
}

static void slurm(const char *text, size_t size)
{
	struct ibcc_why why = { "" };
	struct ibcc_jobs jobs;
	int rc = ibcc_squeue_read(&jobs, text, size, 1795920600, &why);

	FUZZ_CHECK(rc == 0 || (rc == -EINVAL && why.text[0]));
	check_map(&jobs);
	ibcc_jobs_fini(&jobs);
}

static void map(const char *text, size_t size)
{
	struct ibcc_why why = { "" };
	struct ibcc_jobs jobs, again;
	char *first, *second;
	int rc = ibcc_jobs_parse(&jobs, text, size, &why);

	FUZZ_CHECK(rc == 0 || (rc == -EINVAL && why.text[0]));
	check_map(&jobs);
	if (rc)
		return;
	first = ibcc_jobs_dump(&jobs);
	FUZZ_CHECK(first && !ibcc_jobs_parse(&again, first, strlen(first), &why));
	second = ibcc_jobs_dump(&again);
	FUZZ_CHECK(second && !strcmp(first, second));
	free(first);
	free(second);
	ibcc_jobs_fini(&again);
	ibcc_jobs_fini(&jobs);
}

static int append(void *arg, size_t i, const json_t *v)
{
	FUZZ_CHECK(json_array_size(arg) == i);
	return json_array_append_new(arg, json_deep_copy(v)) ? -ENOMEM : 0;
}

static void elements(const char *text, size_t size)
{
	struct ibcc_why why = { "" };
	json_t *list = json_array(), *rest, *whole;
	char *copy = malloc(size + 1);
	int rc;

	FUZZ_CHECK(copy && list);
	for (size_t i = 0; i < size; i++)
		copy[i] = text[i] ? text[i] : '?';
	copy[size] = '\0';
	ibcc_clean(copy, "");
	whole = json_loadb(copy, size, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
	rc = ibcc_json_each(copy, size, "jobs", 1 << 20, append, list, &rest, &why);
	FUZZ_CHECK((rc == 0) == json_is_array(json_object_get(whole, "jobs")));
	if (!rc) {
		FUZZ_CHECK(!json_object_set(rest, "jobs", list));
		FUZZ_CHECK(json_equal(rest, whole));
	}
	json_decref(rest);
	json_decref(list);
	json_decref(whole);
	free(copy);
}

static int count(void *arg, const char *host)
{
	size_t len = strlen(host);

	FUZZ_CHECK(len && len <= IBCC_HOST_NAME_BYTES && !strpbrk(host, "[],"));
	++*(uint32_t *)arg;
	return 0;
}

static void hosts(const char *text, size_t size)
{
	char *list = strndup(text, size);
	uint32_t n = 0;
	int rc;

	FUZZ_CHECK(list);
	rc = ibcc_hostlist_expand(list, MOST, count, &n);
	FUZZ_CHECK((rc == 0 || rc == -EINVAL) && n <= MOST);
	free(list);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;

	map(text, size);
	slurm(text, size);
	elements(text, size);
	hosts(text, size);
	return 0;
}
