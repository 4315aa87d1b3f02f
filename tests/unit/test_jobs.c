/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The map of hosts and jobs: read, written and refused. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/jobs.h>
#include <ibcc/why.h>

#define HEAD "\"version\":1,\"made_s\":1795918576,\"period_s\":30,\"source\":\"slurm\","

static int parse(struct ibcc_jobs *jobs, const char *text, struct ibcc_why *why)
{
	return ibcc_jobs_parse(jobs, text, strlen(text), why);
}

static const char *host_of(const struct ibcc_jobs *jobs, uint32_t job, uint32_t i)
{
	assert_true(i < jobs->job[job].n_hosts);
	assert_true(jobs->job[job].first + i < jobs->n_on);
	return jobs->host[jobs->on[jobs->job[job].first + i]];
}

static void test_read(void **state)
{
	static const char text[] =
		"{" HEAD "\"trouble\":\"late\",\"jobs\":["
		"{\"id\":\"9\",\"start_s\":20,\"hosts\":[\"b\",\"a\"]},"
		"{\"id\":\"4711_3\",\"user\":\"ann\",\"name\":\"cfd\",\"start_s\":10,\"end_s\":15,"
		"\"hosts\":[\"c\",\"b\"]},"
		"{\"id\":\"10\",\"start_s\":20,\"hosts\":[\"a\"]}]}";
	struct ibcc_jobs jobs, again;
	struct ibcc_why why = { "" };
	char *dump;

	(void)state;
	assert_int_equal(parse(&jobs, text, &why), 0);
	assert_int_equal(jobs.made_s, 1795918576);
	assert_int_equal(jobs.period_s, 30);
	assert_string_equal(jobs.source, "slurm");
	assert_string_equal(jobs.trouble, "late");
	assert_int_equal(jobs.n, 3);
	assert_string_equal(jobs.job[0].id, "4711_3");
	assert_string_equal(jobs.job[0].user, "ann");
	assert_string_equal(jobs.job[0].name, "cfd");
	assert_int_equal(jobs.job[0].start_s, 10);
	assert_int_equal(jobs.job[0].end_s, 15);
	assert_string_equal(jobs.job[1].id, "10");
	assert_string_equal(jobs.job[2].id, "9");
	assert_string_equal(jobs.job[2].user, "");
	assert_int_equal(jobs.n_hosts, 3);
	assert_string_equal(jobs.host[0], "a");
	assert_string_equal(jobs.host[2], "c");
	assert_int_equal(jobs.n_on, 5);
	assert_string_equal(host_of(&jobs, 0, 0), "c");
	assert_string_equal(host_of(&jobs, 0, 1), "b");
	assert_string_equal(host_of(&jobs, 1, 0), "a");
	assert_string_equal(host_of(&jobs, 2, 0), "b");
	assert_string_equal(host_of(&jobs, 2, 1), "a");

	dump = ibcc_jobs_dump(&jobs);
	assert_string_equal(
		dump,
		"{" HEAD "\"trouble\":\"late\",\"jobs\":["
		"{\"id\":\"4711_3\",\"user\":\"ann\",\"name\":\"cfd\",\"start_s\":10,\"end_s\":15,"
		"\"hosts\":[\"c\",\"b\"]},"
		"{\"id\":\"10\",\"user\":\"\",\"name\":\"\",\"start_s\":20,\"end_s\":0,\"hosts\":["
		"\"a\"]},"
		"{\"id\":\"9\",\"user\":\"\",\"name\":\"\",\"start_s\":20,\"end_s\":0,\"hosts\":["
		"\"b\",\"a\"]}]}");
	assert_int_equal(parse(&again, dump, &why), 0);
	assert_int_equal(again.n, 3);
	ibcc_jobs_fini(&again);
	ibcc_jobs_fini(&jobs);
	free(dump);

	assert_int_equal(parse(&jobs,
			       "{" HEAD "\"jobs\":[{\"id\":\"1\",\"start_s\":7,\"hosts\":[\"h\"]},"
			       "{\"id\":\"1\",\"start_s\":5,\"end_s\":6,\"hosts\":[\"h\"]}]}",
			       &why),
			 0);
	assert_int_equal(jobs.n, 2);
	assert_int_equal(jobs.job[0].start_s, 5);
	ibcc_jobs_fini(&jobs);
	assert_int_equal(parse(&jobs, "{\"jobs\":[]," HEAD "\"later\":[1]}", &why), 0);
	assert_int_equal(jobs.n, 0);
	assert_int_equal(jobs.n_hosts, 0);
	ibcc_jobs_fini(&jobs);
	ibcc_jobs_fini(NULL);
}

/* A user's own text is cut between characters, and never makes the map bad. */
static void test_names(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_jobs jobs;
	char text[2048], name[1024] = "";

	(void)state;
	for (int i = 0; i < 100; i++)
		strcat(name, "\xc3\xa4");
	snprintf(text, sizeof(text),
		 "{" HEAD
		 "\"jobs\":[{\"id\":\"1\",\"name\":\"x%s\",\"user\":\"\\\"\\u001b[31m<b>\\u0000z\","
		 "\"hosts\":[\"h\"]},{\"id\":\"2\",\"name\":\"\xff|\xc3\",\"hosts\":[\"h\"]}]}",
		 name);
	assert_int_equal(parse(&jobs, text, &why), 0);
	assert_int_equal(strlen(jobs.job[0].name), 127);
	assert_memory_equal(jobs.job[0].name + 1, name, 126);
	assert_string_equal(jobs.job[0].user, "\"?[31m<b>");
	assert_string_equal(jobs.job[1].name, "?|?");
	ibcc_jobs_fini(&jobs);
	snprintf(text, sizeof(text),
		 "{" HEAD "\"jobs\":[{\"id\":\"1\",\"name\":\"%s\",\"hosts\":[\"h\"]}]}", name);
	assert_int_equal(parse(&jobs, text, &why), 0);
	assert_int_equal(strlen(jobs.job[0].name), 126);
	ibcc_jobs_fini(&jobs);
}

static void test_refused(void **state)
{
#define JOB "\"id\":\"1\",\"hosts\":[\"h\"]"
#define X64 "0123456789012345678901234567890123456789012345678901234567890123"
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "want an object" },
		{ "{" HEAD "\"jobs\":{}}", "want a list" },
		{ "{\"version\":2,\"jobs\":[]}", "version: want 1" },
		{ "{\"jobs\":[]}", "version: want a number" },
		{ "{\"version\":1,\"period_s\":30,\"source\":\"x\",\"jobs\":[]}", "made_s: want" },
		{ "{\"version\":1,\"made_s\":-1,\"period_s\":30,\"source\":\"x\",\"jobs\":[]}",
		  "made_s: want" },
		{ "{\"version\":1,\"made_s\":1,\"period_s\":0,\"source\":\"x\",\"jobs\":[]}",
		  "period_s: want" },
		{ "{\"version\":1,\"made_s\":1,\"period_s\":86401,\"source\":\"x\",\"jobs\":[]}",
		  "period_s: want" },
		{ "{\"version\":1,\"made_s\":1,\"period_s\":1,\"jobs\":[]}",
		  "source: want a text" },
		{ "{" HEAD "\"trouble\":1,\"jobs\":[]}", "trouble: want a text" },
		{ "{" HEAD "\"jobs\":[1]}", "jobs[0].id: want" },
		{ "{" HEAD "\"jobs\":[{" JOB "},{\"id\":\"2\"}]}", "jobs[1].hosts: want a list" },
		{ "{" HEAD "\"jobs\":[{\"id\":\"\",\"hosts\":[\"h\"]}]}", "jobs[0].id: want" },
		{ "{" HEAD "\"jobs\":[{\"id\":7,\"hosts\":[\"h\"]}]}", "jobs[0].id: want" },
		{ "{" HEAD "\"jobs\":[{\"id\":\"" X64 "\",\"hosts\":[\"h\"]}]}",
		  "jobs[0].id: want" },
		{ "{" HEAD "\"jobs\":[{\"id\":\"1\\u00002\",\"hosts\":[\"h\"]}]}",
		  "jobs[0].id: want" },
		{ "{" HEAD "\"jobs\":[{" JOB ",\"name\":1}]}", "jobs[0].name: want a text" },
		{ "{" HEAD "\"jobs\":[{" JOB ",\"user\":[]}]}", "jobs[0].user: want a text" },
		{ "{" HEAD "\"jobs\":[{" JOB ",\"start_s\":\"x\"}]}", "jobs[0].start_s: want" },
		{ "{" HEAD "\"jobs\":[{" JOB ",\"start_s\":-1}]}", "jobs[0].start_s: want" },
		{ "{" HEAD "\"jobs\":[{" JOB ",\"end_s\":253402300800}]}", "jobs[0].end_s: want" },
		{ "{" HEAD "\"jobs\":[{" JOB ",\"end_s\":1,\"start_s\":2}]}",
		  "jobs[0].end_s: want a time after start_s" },
		{ "{" HEAD "\"jobs\":[{\"id\":\"1\",\"hosts\":[]}]}", "jobs[0].hosts: want" },
		{ "{" HEAD "\"jobs\":[{\"id\":\"1\",\"hosts\":\"h\"}]}", "jobs[0].hosts: want" },
		{ "{" HEAD "\"jobs\":[{\"id\":\"1\",\"hosts\":[\"h\",\"\"]}]}",
		  "jobs[0].hosts: want" },
		{ "{" HEAD "\"jobs\":[{\"id\":\"1\",\"hosts\":[\"" X64 X64 X64 X64 "\"]}]}",
		  "jobs[0].hosts: want" },
		{ "{" HEAD "\"jobs\":[{\"id\":\"1\",\"hosts\":[\"h\",\"g\",\"h\"]}]}",
		  "job 1 has host h twice" },
		{ "{" HEAD "\"jobs\":[{" JOB "},{\"id\":\"2\",\"hosts\":[\"h\"]},{" JOB "}]}",
		  "there are two jobs 1: want one, or two with different start_s" },
		{ "{" HEAD "\"jobs\":[{" JOB ",\"start_s\":5},{" JOB ",\"start_s\":5}]}",
		  "there are two jobs 1: want" },
		{ "{" HEAD "\"jobs\":[{" JOB "},{" JOB ",\"start_s\":5}]}",
		  "there are two jobs 1: want" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		static const struct ibcc_jobs none;
		struct ibcc_why why = { "" };
		struct ibcc_jobs jobs;

		if (parse(&jobs, rows[i].text, &why) != -EINVAL)
			fail_msg("%s is taken", rows[i].text);
		assert_memory_equal(&jobs, &none, sizeof(jobs));
		if (!strstr(why.text, rows[i].why))
			fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].text, why.text,
				 rows[i].why);
	}
}

/* Adds a job with hosts h0, h1 and so on. */
static int add(struct ibcc_jobs_draft *d, int id, uint32_t hosts, struct ibcc_why *why)
{
	static char names[IBCC_JOBS_HOSTS_MAX + 1][8];
	static const char *host[IBCC_JOBS_HOSTS_MAX + 1];
	struct ibcc_job job = { 0 };

	for (uint32_t i = 0; i <= IBCC_JOBS_HOSTS_MAX && !host[IBCC_JOBS_HOSTS_MAX]; i++) {
		snprintf(names[i], sizeof(names[i]), "h%u", i);
		host[i] = names[i];
	}
	snprintf(job.id, sizeof(job.id), "%d", id);
	return ibcc_jobs_draft_add(d, &job, host, hosts, why);
}

static void test_bounds(void **state)
{
	struct ibcc_jobs_draft *d = ibcc_jobs_draft_new();
	struct ibcc_why why = { "" };
	struct ibcc_jobs jobs;
	char *big;

	(void)state;
	assert_non_null(d);
	assert_int_equal(add(d, 1, 0, &why), -EINVAL);
	assert_string_equal(why.text, "job 1 has no hosts");
	for (int i = 0; i < IBCC_JOBS_MAX; i++)
		assert_int_equal(add(d, i, 1, &why), 0);
	assert_int_equal(add(d, IBCC_JOBS_MAX, 1, &why), -EINVAL);
	assert_string_equal(why.text, "there are more than 10000 jobs");
	assert_int_equal(ibcc_jobs_draft_finish(d, &jobs, &why), 0);
	assert_int_equal(jobs.n, IBCC_JOBS_MAX);
	assert_int_equal(jobs.n_hosts, 1);
	ibcc_jobs_fini(&jobs);

	for (int i = 0; i < IBCC_JOBS_ON_MAX / IBCC_JOBS_HOSTS_MAX; i++)
		assert_int_equal(add(d, i, IBCC_JOBS_HOSTS_MAX, &why), 0);
	assert_int_equal(add(d, 99, 1, &why), -EINVAL);
	assert_string_equal(why.text, "the jobs have more than 1000000 hosts in all");
	assert_int_equal(ibcc_jobs_draft_finish(d, &jobs, &why), 0);
	assert_int_equal(jobs.n_hosts, IBCC_JOBS_HOSTS_MAX);
	assert_int_equal(jobs.n_on, IBCC_JOBS_ON_MAX);
	ibcc_jobs_fini(&jobs);

	assert_int_equal(add(d, 1, IBCC_JOBS_HOSTS_MAX + 1, &why), 0);
	assert_int_equal(ibcc_jobs_draft_finish(d, &jobs, &why), -EINVAL);
	assert_string_equal(why.text, "there are more than 100000 hosts");
	assert_int_equal(add(d, 1, 1, &why), 0);
	ibcc_jobs_draft_free(d);
	ibcc_jobs_draft_free(NULL);

	big = calloc(1, (size_t)IBCC_JOBS_FILE_BYTES + 1);
	assert_non_null(big);
	assert_int_equal(ibcc_jobs_parse(&jobs, big, (size_t)IBCC_JOBS_FILE_BYTES + 1, &why),
			 -EINVAL);
	assert_string_equal(why.text, "it has more than 67108864 bytes");
	free(big);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
