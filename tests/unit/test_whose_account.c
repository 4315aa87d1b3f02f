/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sums of jobs over polling cycles: charged by a later map only, and only for the time in which the
 * job ran.
 */
#include "estimates.h"
#include "job_maps.h"

#include <ibcc/whose_account.h>

#define T0 1795918000

/* Three senders are marked and the fourth suffers. */
static void congest(struct fixture *f)
{
	traffic_lustre_off(&f->tr);
	pass(f);
	mark_at(f, LUSTRE_SW2, 1);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 200;
	pass(f);
	assert_int_equal(f->e.n_roots, 1);
}

/* A pass that took `ms`, and ended at T0 + end_s. */
static void note(struct fixture *f, struct ibcc_whose_account *a, int64_t end_s, int64_t ms)
{
	f->e.root[0].interval_ns = (uint64_t)ms * 1000000;
	assert_int_equal(ibcc_whose_account_note(a, f->t, &f->e, (T0 + end_s) * 1000ll, 1), 0);
}

static void settle(struct fixture *f, struct ibcc_whose_account *a, const struct job_map *m)
{
	struct ibcc_whose_hosts h;

	assert_int_equal(ibcc_whose_hosts_find(&m->jobs, f->t, ibcc_whose_first_word, NULL, &h), 0);
	assert_int_equal(ibcc_whose_account_settle(a, &m->jobs, &h, f->t), 0);
	ibcc_whose_hosts_fini(&h);
}

static const struct ibcc_whose_row *row(const struct ibcc_whose_account *a, const char *id)
{
	uint32_t n;
	const struct ibcc_whose_row *r = ibcc_whose_account_rows(a, &n);

	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(r[i].id, id))
			return &r[i];
	return NULL;
}

/* One job ends and another begins on the same hosts within a polling cycle. The map of before knows
 * nothing of that, so it must not be used for this cycle.
 */
static void test_waits_for_the_map(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4", same[] = "src1 src2 src3 src4";
	struct ibcc_whose_account *a = ibcc_whose_account_new();
	struct job_map before, after;

	assert_non_null(a);
	congest(f);
	job_map_init(&before, hosts, T0, 30);
	job_map_add(&before, "old", "ann", "cfd", T0 - 100, 0, "012");
	job_map_add(&before, "4712", "bob", "lammps", T0 - 100, 0, "3");
	job_map_init(&after, same, T0 + 10, 30);
	job_map_add(&after, "old", "ann", "cfd", T0 - 100, T0 + 3, "012");
	job_map_add(&after, "4712", "bob", "lammps", T0 - 100, 0, "3");
	job_map_add(&after, "new", "cid", "fft", T0 + 6, 0, "012");
	note(f, a, 10, 10000);
	settle(f, a, &before);
	assert_null(row(a, "old"));
	settle(f, a, &after);
	assert_int_equal(row(a, "old")->contributor_ms, 3000);
	assert_int_equal(row(a, "old")->end_s, T0 + 3);
	assert_string_equal(row(a, "old")->user, "ann");
	assert_int_equal(row(a, "new")->contributor_ms, 4000);
	assert_int_equal(row(a, "new")->victim_ms, 0);
	assert_about(row(a, "new")->harm_ms, 4000);
	assert_int_equal(row(a, "4712")->victim_ms, 10000);
	assert_int_equal(row(a, "4712")->contributor_ms, 0);
	assert_about(row(a, "4712")->blocked_ms,
		     10.0 * traffic_at(&f->tr, LUSTRE_SRC4, 1)->wait_permille);
	assert_string_equal(row(a, "4712")->root[0].name, "slow (sw2 port 1)");
	/* It is charged once. */
	settle(f, a, &after);
	assert_int_equal(row(a, "new")->contributor_ms, 4000);
	/* The next cycles add up. */
	note(f, a, 11, 1000);
	note(f, a, 12, 1000);
	after.jobs.made_s = T0 + 12;
	settle(f, a, &after);
	assert_int_equal(row(a, "new")->contributor_ms, 6000);
	assert_int_equal(row(a, "old")->contributor_ms, 3000);
	assert_int_equal(row(a, "new")->root[0].ms, 6000);
	assert_int_equal(row(a, "new")->seen_s, T0 + 12);
	ibcc_whose_account_free(a);
}

/* A map that comes long after the interval may lack jobs that had the hosts then. */
static void test_late_map(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct ibcc_whose_account *a = ibcc_whose_account_new();
	struct job_map m;

	assert_non_null(a);
	congest(f);
	job_map_init(&m, hosts, T0 + 71, 30);
	job_map_add(&m, "1", "", "", T0 - 100, 0, "012");
	note(f, a, 10, 10000);
	note(f, a, 11, 1000);
	settle(f, a, &m);
	assert_int_equal(row(a, "1")->contributor_ms, 1000);
	ibcc_whose_account_free(a);
}

/* Nothing is marked: the job is suspected, and counted as that alone. */
static void test_suspects(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct ibcc_whose_account *a = ibcc_whose_account_new();
	struct job_map m;

	assert_non_null(a);
	traffic_lustre_off(&f->tr);
	pass(f);
	pass(f);
	job_map_init(&m, hosts, T0 + 10, 30);
	job_map_add(&m, "1", "", "", T0 - 100, 0, "012");
	note(f, a, 10, 10000);
	/* Of a port that was not read in this pass nothing is new. */
	f->e.root[0].fresh = false;
	note(f, a, 10, 10000);
	settle(f, a, &m);
	assert_int_equal(row(a, "1")->suspect_ms, 10000);
	assert_int_equal(row(a, "1")->contributor_ms, 0);
	assert_true(row(a, "1")->harm_ms == 0);
	ibcc_whose_account_free(a);
}

/* What waits is bounded: the oldest passes go first. */
static void test_bounds(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct ibcc_whose_account *a = ibcc_whose_account_new();
	struct job_map m;
	uint32_t n;

	assert_non_null(a);
	congest(f);
	job_map_init(&m, hosts, T0 + 2000, 3600);
	job_map_add(&m, "1", "", "", T0 - 100, 0, "012");
	for (int64_t i = 1; i <= IBCC_WHOSE_PASSES_MAX + 10; i++)
		note(f, a, i, 1000);
	settle(f, a, &m);
	assert_int_equal(row(a, "1")->contributor_ms, IBCC_WHOSE_PASSES_MAX * 1000);
	ibcc_whose_account_clear(a, 1);
	ibcc_whose_account_rows(a, &n);
	assert_int_equal(n, 0);
	ibcc_whose_account_free(a);
}

/* Sums that are cleared begin at 0 again. The others go on, also a job's next run beside its first.
 */
static void test_clear(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct ibcc_whose_account *a = ibcc_whose_account_new();
	const struct ibcc_whose_row *r;
	struct job_map m;
	uint32_t n;

	assert_non_null(a);
	congest(f);
	job_map_init(&m, hosts, T0 + 100, 3600);
	job_map_add(&m, "1", "", "", T0 - 100, T0 + 10, "0");
	job_map_add(&m, "1", "", "", T0 + 10, 0, "0");
	job_map_add(&m, "2", "", "", T0 - 100, 0, "1");
	note(f, a, 10, 1000);
	note(f, a, 20, 1000);
	settle(f, a, &m);
	r = ibcc_whose_account_rows(a, &n);
	assert_int_equal(n, 3);
	assert_string_equal(r[0].id, "1");
	assert_string_equal(r[1].id, "2");
	assert_int_equal(r[1].contributor_ms, 2000);
	assert_int_equal(r[2].start_s, T0 + 10);
	ibcc_whose_account_clear(a, 1);
	note(f, a, 9, 1000);
	note(f, a, 30, 1000);
	settle(f, a, &m);
	r = ibcc_whose_account_rows(a, &n);
	assert_int_equal(n, 3);
	assert_string_equal(r[0].id, "2");
	assert_int_equal(r[0].contributor_ms, 4000);
	assert_int_equal(r[1].start_s, T0 + 10);
	assert_int_equal(r[1].contributor_ms, 2000);
	assert_int_equal(r[2].start_s, T0 - 100);
	assert_int_equal(r[2].contributor_ms, 1000);
	ibcc_whose_account_free(a);
}

/* With many jobs, a call charges a part of what waits, and further calls the rest. */
static void test_bounded_work(void **state)
{
	enum { JOBS = 2000, PASSES = 1000 };
	static struct ibcc_job job[JOBS];
	static uint32_t on[JOBS];
	struct fixture *f = *state;
	char none[] = "none", src1[] = "src1", *hosts[] = { none, src1 };
	struct ibcc_whose_account *a = ibcc_whose_account_new();
	struct job_map m = { .jobs = { .made_s = T0 + PASSES,
				       .period_s = 3600,
				       .n = JOBS,
				       .job = job,
				       .n_hosts = 2,
				       .host = hosts,
				       .n_on = JOBS,
				       .on = on } };
	uint32_t calls = 0;

	assert_non_null(a);
	congest(f);
	for (uint32_t i = 0; i < JOBS; i++) {
		job[i] = (struct ibcc_job){ .start_s = T0 - 100, .first = i, .n_hosts = 1 };
		snprintf(job[i].id, sizeof(job[i].id), "%u", i);
		on[i] = i == 7;
	}
	for (int64_t i = 1; i <= PASSES; i++)
		note(f, a, i, 1000);
	for (uint32_t due = PASSES, left; due; due = left, calls++) {
		settle(f, a, &m);
		left = ibcc_whose_account_due(a, &m.jobs);
		assert_in_range(due - left, 1, IBCC_WHOSE_WORK / JOBS + 1);
		assert_int_equal(row(a, "7")->contributor_ms, (PASSES - left) * 1000);
	}
	assert_in_range(calls, 2, PASSES / 2);
	ibcc_whose_account_free(a);
}

/* The clock is set back by an hour: what waits for a map from before that is given up, and what
 * comes then is charged.
 */
static void test_clock(void **state)
{
	struct fixture *f = *state;
	char hosts[] = "src1 src2 src3 src4";
	struct ibcc_whose_account *a = ibcc_whose_account_new();
	struct job_map m;

	assert_non_null(a);
	congest(f);
	job_map_init(&m, hosts, T0 + 30, 30);
	job_map_add(&m, "1", "", "", T0 - 100, 0, "012");
	note(f, a, 3600, 1000);
	note(f, a, 3601, 1000);
	note(f, a, 10, 1000);
	note(f, a, 11, 1000);
	settle(f, a, &m);
	assert_int_equal(row(a, "1")->contributor_ms, 2000);
	ibcc_whose_account_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LUSTRE(test_waits_for_the_map),
		LUSTRE(test_late_map),
		LUSTRE(test_suspects),
		LUSTRE(test_bounds),
		LUSTRE(test_clear),
		LUSTRE(test_bounded_work),
		LUSTRE(test_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
