/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What squeue --json prints: the members that matter, in the forms of Slurm 22.05 (taken from its
 * output) and of 23.11 and later (from the documentation of its data parser v0.0.40).
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/jobs/squeue.h"

static int parse(struct ibcc_jobs *jobs, const char *text, struct ibcc_why *why)
{
	return ibcc_squeue_read(jobs, text, strlen(text), 1795920600, why);
}

/* "ID USER NAME START END HOST..." of a job. */
static void assert_job(const struct ibcc_jobs *jobs, uint32_t i, const char *want)
{
	char text[512];
	const struct ibcc_job *j = &jobs->job[i];
	int n = snprintf(text, sizeof(text), "%s %s %s %lld %lld", j->id, j->user, j->name,
			 (long long)j->start_s, (long long)j->end_s);

	for (uint32_t k = 0; k < j->n_hosts; k++)
		n += snprintf(text + n, sizeof(text) - (size_t)n, " %s",
			      jobs->host[jobs->on[j->first + k]]);
	assert_string_equal(text, want);
}

static void test_22_05(void **state)
{
	static const char text[] =
		"{\"meta\":{\"plugin\":{\"type\":\"openapi\\/v0.0.38\"}},\"errors\":[\n],\"jobs\":["
		"{\"account\":\"\",\"array_job_id\":0,\"array_task_id\":null,\"end_time\":"
		"1827456570,"
		"\"job_id\":1,\"job_state\":\"RUNNING\",\"name\":\"lammps\",\"nodes\":\"source[1-3]"
		"\","
		"\"start_time\":1795920570,\"user_name\":\"root\"},"
		"{\"array_job_id\":0,\"array_task_id\":null,\"end_time\":1795920572,\"job_id\":2,"
		"\"job_state\":\"COMPLETED\",\"name\":\"ev\\\"il\\u001b[31m<b>\xff\xc3|x\\ny\","
		"\"nodes\":\"source1\",\"start_time\":1795920571,\"user_name\":\"root\"},"
		"{\"array_job_id\":3,\"array_task_id\":1,\"end_time\":1827456570,\"job_id\":6,"
		"\"job_state\":\"RUNNING\",\"name\":\"arr\",\"nodes\":\"source1\","
		"\"start_time\":1795920573,\"user_name\":\"root\"},"
		"{\"array_job_id\":3,\"array_task_id\":0,\"end_time\":1795920575,\"job_id\":3,"
		"\"job_state\":\"COMPLETING\",\"name\":\"arr\",\"nodes\":\"source1\","
		"\"start_time\":1795920574,\"user_name\":\"root\"},"
		"{\"array_job_id\":0,\"array_task_id\":null,\"end_time\":0,\"job_id\":4,"
		"\"job_state\":\"PENDING\",\"name\":\"held\",\"nodes\":\"\",\"start_time\":0,"
		"\"user_name\":\"root\"},"
		"{\"end_time\":1827456570,\"job_id\":5,\"job_state\":\"SUSPENDED\",\"name\":\"s\","
		"\"nodes\":\"source4\",\"start_time\":1795920570,\"user_name\":\"root\"},"
		"{\"end_time\":1795920576,\"job_id\":8,\"job_state\":\"CANCELLED\",\"name\":"
		"\"canc\","
		"\"nodes\":\"source1\",\"start_time\":1795920576,\"user_name\":\"root\"},"
		/* Put back into the queue, while its hosts are cleaned up: no run. */
		"{\"end_time\":6090888296,\"job_id\":10,\"job_state\":\"COMPLETING\",\"name\":"
		"\"again\","
		"\"nodes\":\"source2\",\"start_time\":1795920600,\"user_name\":\"root\"}]}";
	struct ibcc_why why = { "" };
	struct ibcc_jobs jobs;

	(void)state;
	assert_int_equal(parse(&jobs, text, &why), 0);
	assert_int_equal(jobs.n, 5);
	assert_job(&jobs, 0, "1 root lammps 1795920570 0 source1 source2 source3");
	assert_job(&jobs, 1, "2 root ev\"il?[31m<b>??|x y 1795920571 1795920572 source1");
	assert_job(&jobs, 2, "3_1 root arr 1795920573 0 source1");
	assert_job(&jobs, 3, "3_0 root arr 1795920574 1795920575 source1");
	assert_job(&jobs, 4, "8 root canc 1795920576 1795920576 source1");
	ibcc_jobs_fini(&jobs);
}

#define SET(n) "{\"set\":true,\"infinite\":false,\"number\":" #n "}"
#define UNSET  "{\"set\":false,\"infinite\":false,\"number\":0}"

static void test_23_11(void **state)
{
	static const char text[] =
		"{\"jobs\":["
		"{\"job_id\":9,\"array_job_id\":" SET(
			0) ",\"array_task_id\":" UNSET
			   ",\"job_state\":[\"RUNNING\"],\"name\":\"a\",\"nodes\":\"n[01-02]\","
			   "\"user_name\":\"u\","
			   "\"start_time\":" SET(100) ",\"end_time\":" SET(
				   900) "},"
					"{\"job_id\":11,\"array_job_id\":" SET(
						10) ",\"array_task_id\":" SET(0) ",\"job_state\":["
										 "\"COMPLETED\","
										 "\"COMPLETING\"],"
										 "\"name\":\"b\","
										 "\"nodes\":"
										 "\"n03\","
										 "\"user_name\":"
										 "\"u\",\"start_"
										 "time\":" SET(101) ",\"end_time\":" SET(
											 105) "},"
											      "{\"j"
											      "ob_"
											      "id\""
											      ":12,"
											      "\"ar"
											      "ray_"
											      "job_"
											      "id\""
											      ":" SET(10) ",\"array_task_id\":" SET(
												      7) ",\"job_state\":[\"RUNNING\",\"CONFIGURING\"],\"name\":\"b\",\"nodes\":\"n04\","
													 "\"user_name\":\"u\",\"start_time\":" SET(
														 102) ",\"end_time\":" UNSET
														      "},"
														      "{\"job_id\":13,\"array_job_id\":" SET(
															      0) ",\"array_task_id\":" UNSET
																 ",\"job_state\":[\"PENDING\"],\"name\":\"c\",\"nodes\":\"\",\"user_name\":\"u\","
																 "\"start_time\":" SET(
																	 990) ",\"end_time\":" UNSET
																	      "}],"
																	      "\"last_backfill\":" SET(
																		      7) ",\"meta\":{},\"warnings\":[],\"errors\":[]}";
	struct ibcc_why why = { "" };
	struct ibcc_jobs jobs;

	(void)state;
	assert_int_equal(parse(&jobs, text, &why), 0);
	assert_int_equal(jobs.n, 3);
	assert_job(&jobs, 0, "9 u a 100 0 n01 n02");
	assert_job(&jobs, 1, "10_0 u b 101 105 n03");
	assert_job(&jobs, 2, "10_7 u b 102 0 n04");
	ibcc_jobs_fini(&jobs);
}

static void test_refused(void **state)
{
	static const struct {
		const char *text, *why;
	} rows[] = {
		{ "", "want an object" },
		{ "squeue: error", "want an object" },
		{ "{\"errors\":[]}", "there is no list \"jobs\"" },
		{ "{\"jobs\":[{}]}", "jobs[0] has no job_id" },
		{ "{\"jobs\":[7]}", "jobs[0] has no job_id" },
		{ "{\"jobs\":[{\"job_id\":1,\"nodes\":\"a[1-\"}]}",
		  "the list of hosts of job 1 cannot be read: a[1-" },
		{ "{\"jobs\":[{\"job_id\":1,\"nodes\":\"a,a\"}]}", "job 1 has host a twice" },
		/* Slurm 22.05 without its slurmctld; its exit code is 0. */
		{ "{\"meta\":{},\"errors\":[{\"description\":\"Failed while looking for jobs\","
		  "\"error_number\":-1,\"error\":\"Unspecified "
		  "error\",\"source\":\"slurm_load_jobs\"}],"
		  "\"jobs\":[]}",
		  "Slurm reports an error: Failed while looking for jobs in slurm_load_jobs; see "
		  "whether slurmctld answers" },
		{ "{\"errors\":[7],\"jobs\":[]}", "Slurm reports an error: it does not say which" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ibcc_why why = { "" };
		struct ibcc_jobs jobs;

		assert_int_equal(parse(&jobs, rows[i].text, &why), -EINVAL);
		assert_int_equal(jobs.n, 0);
		assert_null(jobs.job);
		if (!strstr(why.text, rows[i].why))
			fail_msg("%s: \"%s\" does not say \"%s\"", rows[i].text, why.text,
				 rows[i].why);
	}
}

/* Of many jobs that have ended, those that run keep their places. */
static void test_many_ended(void **state)
{
	static char text[IBCC_JOBS_MAX * 160];
	struct ibcc_why why = { "" };
	struct ibcc_jobs jobs;
	size_t n = (size_t)snprintf(text, sizeof(text), "{\"jobs\":[");

	(void)state;
	for (int i = 1; i <= IBCC_JOBS_MAX + 1; i++)
		n += (size_t)snprintf(text + n, sizeof(text) - n,
				      "%s{\"job_id\":%d,\"job_state\":\"%s\",\"nodes\":\"h\","
				      "\"start_time\":%d,\"end_time\":%d}",
				      i > 1 ? "," : "", i,
				      i <= IBCC_JOBS_MAX ? "FAILED" : "RUNNING", i, i);
	snprintf(text + n, sizeof(text) - n, "]}");
	assert_int_equal(parse(&jobs, text, &why), 0);
	assert_int_equal(jobs.n, IBCC_JOBS_MAX / 2 + 1);
	assert_int_equal(jobs.job[jobs.n - 1].start_s, IBCC_JOBS_MAX + 1);
	assert_int_equal(jobs.job[jobs.n - 1].end_s, 0);
	ibcc_jobs_fini(&jobs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_22_05),
		cmocka_unit_test(test_23_11),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_many_ended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
