/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The map that ibcc-jobs keeps, and where it may be written. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/jobs/map.h"
#include "tests/unit/files.h"

/* A map of "ID START END HOST", one for each job. */
struct row {
	const char *id;
	int64_t start_s, end_s;
	const char *host;
};

static struct ibcc_jobs map_of(int64_t made_s, const struct row *row, size_t n)
{
	struct ibcc_jobs_draft *d = ibcc_jobs_draft_new();
	struct ibcc_jobs jobs;

	assert_non_null(d);
	for (size_t i = 0; i < n; i++) {
		struct ibcc_job job = { .user = "ann",
					.name = "cfd",
					.start_s = row[i].start_s,
					.end_s = row[i].end_s };

		snprintf(job.id, sizeof(job.id), "%s", row[i].id);
		assert_int_equal(ibcc_jobs_draft_add(d, &job, &row[i].host, 1, NULL), 0);
	}
	assert_int_equal(ibcc_jobs_draft_finish(d, &jobs, NULL), 0);
	ibcc_jobs_draft_free(d);
	jobs.made_s = made_s;
	jobs.period_s = 30;
	strcpy(jobs.source, "file");
	return jobs;
}

#define MAP(made_s, ...)                                                                           \
	map_of(made_s, (const struct row[]){ __VA_ARGS__ },                                        \
	       sizeof((const struct row[]){ __VA_ARGS__ }) / sizeof(struct row))

/* "ID START END HOST;" of each job. */
static void assert_jobs(const struct ibcc_jobs *jobs, const char *want)
{
	char text[512] = "";
	int n = 0;

	for (uint32_t i = 0; i < jobs->n; i++) {
		const struct ibcc_job *j = &jobs->job[i];

		assert_int_equal(j->n_hosts, 1);
		n += snprintf(text + n, sizeof(text) - (size_t)n, "%s %lld %lld %s;", j->id,
			      (long long)j->start_s, (long long)j->end_s,
			      jobs->host[jobs->on[j->first]]);
	}
	assert_string_equal(text, want);
}

static void test_renew(void **state)
{
	struct ibcc_jobs map = { 0 }, newer;

	(void)state;
	newer = MAP(1000, { "1", 900, 0, "a" }, { "2", 910, 950, "b" }, { "3", 100, 699, "c" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_null(newer.job);
	assert_jobs(&map, "1 900 0 a;2 910 950 b;");
	assert_int_equal(map.made_s, 1000);
	assert_int_equal(map.period_s, 30);
	assert_string_equal(map.source, "file");

	/* Job 1 has gone, and another one is on its host: 1 ended no later than it was seen last.
	 */
	newer = MAP(1030, { "4", 1015, 0, "a" }, { "2", 910, 950, "b" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "1 900 1000 a;2 910 950 b;4 1015 0 a;");
	/* The same once more; times of an end do not move. */
	newer = MAP(1060, { "4", 1015, 0, "a" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "1 900 1000 a;2 910 950 b;4 1015 0 a;");
	newer = MAP(1300, { "4", 1015, 0, "a" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "1 900 1000 a;4 1015 0 a;");
	newer = MAP(1301, { "4", 1015, 0, "a" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "4 1015 0 a;");
	assert_int_equal(map.n_hosts, 1);
	ibcc_jobs_fini(&map);
}

/* A batch system puts a job back into its queue and runs it again, on other hosts. */
static void test_runs(void **state)
{
	struct ibcc_jobs map = { 0 }, newer;

	(void)state;
	newer = MAP(1000, { "4", 900, 0, "a" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	/* It waits. */
	newer = MAP(1030, { "5", 900, 0, "b" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "4 900 1000 a;5 900 0 b;");
	newer = MAP(1060, { "4", 1055, 0, "c" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "4 900 1000 a;5 900 1030 b;4 1055 0 c;");
	/* A third time, between two answers. */
	newer = MAP(1090, { "4", 1058, 0, "d" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "4 900 1000 a;5 900 1030 b;4 1055 1058 c;4 1058 0 d;");
	newer = MAP(1120, { "4", 1058, 1119, "d" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "4 900 1000 a;5 900 1030 b;4 1055 1058 c;4 1058 1119 d;");
	newer = MAP(1331, { "4", 1300, 0, "a" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "4 1055 1058 c;4 1058 1119 d;4 1300 0 a;");
	/* The batch system corrects a start: that is no other run. */
	newer = MAP(1361, { "4", 1290, 0, "a" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "4 1058 1119 d;4 1290 0 a;");
	ibcc_jobs_fini(&map);
}

/* A batch system that does not say when a job began: no earlier minute is the job's. */
static void test_starts(void **state)
{
	struct ibcc_jobs map = { 0 }, newer;

	(void)state;
	newer = MAP(1000, { "1", 0, 0, "a" }, { "2", 0, 990, "b" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "2 990 990 b;1 1000 0 a;");
	newer = MAP(1030, { "1", 0, 0, "a" }, { "3", 0, 0, "b" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "2 990 990 b;1 1000 0 a;3 1030 0 b;");
	/* Job 1 waits in the queue, and runs again. */
	newer = MAP(1060, { "3", 0, 0, "b" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	newer = MAP(1090, { "3", 0, 1085, "b" }, { "1", 0, 0, "c" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "2 990 990 b;1 1000 1030 a;3 1030 1085 b;1 1090 0 c;");
	newer = MAP(1120, { "1", 0, 0, "c" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "2 990 990 b;1 1000 1030 a;3 1030 1085 b;1 1090 0 c;");
	ibcc_jobs_fini(&map);
}

/* Jobs that have ended stay for two periods. */
static void test_long_period(void **state)
{
	struct ibcc_jobs map = { 0 }, newer;

	(void)state;
	newer = MAP(1000, { "1", 900, 0, "a" });
	newer.period_s = 600;
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	newer = MAP(1600, { "2", 1200, 0, "a" });
	newer.period_s = 600;
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "1 900 1000 a;2 1200 0 a;");
	ibcc_jobs_fini(&map);
}

/* A clock that was set back by 500 s: no job ends later than the map in which it is missing. */
static void test_clock(void **state)
{
	struct ibcc_jobs map = { 0 }, newer;

	(void)state;
	newer = MAP(1000, { "1", 900, 0, "a" }, { "2", 400, 0, "b" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	newer = MAP(500, { "3", 490, 0, "a" });
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_jobs(&map, "2 400 500 b;3 490 0 a;1 500 500 a;");
	ibcc_jobs_fini(&map);
}

static void test_fail(void **state)
{
	struct ibcc_jobs map = MAP(1000, { "1", 900, 0, "a" });

	(void)state;
	ibcc_map_fail(&map, "it is away", 1060);
	assert_jobs(&map, "1 900 0 a;");
	assert_int_equal(map.made_s, 1000);
	assert_string_equal(map.trouble, "it is away");
	ibcc_map_fail(&map, "it is still away", 1061);
	assert_jobs(&map, "");
	assert_int_equal(map.made_s, 1000);
	assert_int_equal(map.n_hosts, 0);
	assert_string_equal(map.source, "file");
	assert_string_equal(map.trouble, "it is still away");
	ibcc_jobs_fini(&map);
}

/* There is no room for jobs that have ended. */
static void test_full(void **state)
{
	static char ids[IBCC_JOBS_MAX][8];
	static struct row rows[IBCC_JOBS_MAX];
	struct ibcc_jobs map = MAP(1000, { "x", 900, 0, "a" }), newer;

	(void)state;
	for (int i = 0; i < IBCC_JOBS_MAX; i++) {
		snprintf(ids[i], sizeof(ids[i]), "%d", i);
		rows[i] = (struct row){ ids[i], 1, 0, "b" };
	}
	newer = map_of(1010, rows, IBCC_JOBS_MAX);
	assert_int_equal(ibcc_map_renew(&map, &newer), 0);
	assert_int_equal(map.n, IBCC_JOBS_MAX);
	assert_int_equal(map.n_hosts, 1);
	ibcc_jobs_fini(&map);
}

static void test_hide(void **state)
{
	struct ibcc_jobs map = MAP(1000, { "1", 900, 0, "a" });

	(void)state;
	ibcc_map_hide(&map, false, false);
	assert_string_equal(map.job[0].user, "ann");
	ibcc_map_hide(&map, true, false);
	assert_string_equal(map.job[0].user, "");
	assert_string_equal(map.job[0].name, "cfd");
	ibcc_map_hide(&map, false, true);
	assert_string_equal(map.job[0].name, "");
	ibcc_jobs_fini(&map);
}

static void test_put(void **state)
{
	struct ibcc_jobs map = MAP(1000, { "1", 900, 0, "a" });
	struct ibcc_why why = { "" };
	char folder[600], path[700], link[720];
	struct stat st;
	char *text;

	(void)state;
	snprintf(folder, sizeof(folder), "%s", files_path("run"));
	snprintf(path, sizeof(path), "%s/jobs.json", folder);
	assert_int_equal(ibcc_map_put(&map, path, &why), -ENOENT);
	assert_non_null(strstr(why.text, "cannot be read: No such file"));
	assert_int_equal(mkdir(folder, 0755), 0);
	assert_int_equal(ibcc_map_put(&map, path, &why), 0);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0640);
	text = files_read(path);
	assert_non_null(strstr(text, "\"made_s\":1000"));
	free(text);

	/* What a killed one has left beside it, and a link in its place. */
	snprintf(link, sizeof(link), "%s.new", path);
	assert_int_equal(symlink("/etc/passwd", link), 0);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink(files_write("precious", "mine"), path), 0);
	assert_int_equal(ibcc_map_put(&map, path, &why), 0);
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISREG(st.st_mode));
	text = files_read(files_path("precious"));
	assert_string_equal(text, "mine");
	free(text);

	assert_int_equal(chmod(folder, 0775), 0);
	assert_int_equal(ibcc_map_put(&map, path, &why), -EPERM);
	assert_non_null(strstr(why.text, "other users can write to the folder"));
	assert_int_equal(chmod(folder, 01777), 0);
	assert_int_equal(ibcc_map_put(&map, path, &why), -EPERM);
	assert_int_equal(chmod(folder, 0755), 0);
	assert_int_equal(symlink(folder, files_path("link")), 0);
	snprintf(link, sizeof(link), "%s/jobs.json", files_path("link"));
	assert_int_equal(ibcc_map_put(&map, link, &why), -EPERM);
	assert_non_null(strstr(why.text, "is a link or no folder"));
	assert_int_equal(ibcc_map_check("/jobs.json", &why), 0);
	ibcc_jobs_fini(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_renew),  cmocka_unit_test(test_runs),
		cmocka_unit_test(test_starts), cmocka_unit_test(test_long_period),
		cmocka_unit_test(test_clock),  cmocka_unit_test(test_fail),
		cmocka_unit_test(test_full),   cmocka_unit_test(test_hide),
		cmocka_unit_test(test_put),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
