/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What jobs did, as the state file keeps it: sums over a job's life, bounded by age and number. */
#include "states.h"

#include <ibcc/whose_account.h>

#define NOW_S 1800000000
#define DAY_S 86400

static struct ibcc_whose_row job(const char *id, const char *user, int64_t start_s, int64_t seen_s,
				 int64_t contributor_ms, double harm_ms)
{
	struct ibcc_whose_row r = { .start_s = start_s,
				    .seen_s = seen_s,
				    .contributor_ms = contributor_ms,
				    .harm_ms = harm_ms };

	snprintf(r.id, sizeof(r.id), "%s", id);
	snprintf(r.user, sizeof(r.user), "%s", user);
	return r;
}

static void take_part(struct ibcc_whose_row *r, const char *root, int64_t ms)
{
	snprintf(r->root[r->n_roots].name, sizeof(r->root[0].name), "%s", root);
	r->root[r->n_roots++].ms = ms;
}

static void add(struct ibcc_state *s, const struct ibcc_whose_row *r)
{
	assert_int_equal(ibcc_state_add_jobs(s, r, 1, NOW_S), 0);
}

/* The numbers of the jobs of an answer, in its order. */
static void assert_jobs(struct ibcc_state *s, int64_t since_s, const char *user, const char *id,
			const char *want)
{
	char got[256] = "";
	int err = 0;
	struct ibcc_why why = { "" };
	json_t *list = ibcc_state_jobs(s, since_s, user, id, &err, &why), *o;
	size_t i;

	if (!list)
		fail_msg("%s", why.text);
	json_array_foreach (list, i, o) {
		strcat(got, i ? " " : "");
		strcat(got, json_string_value(json_object_get(o, "id")));
	}
	json_decref(list);
	assert_string_equal(got, want);
}

static json_int_t number(const json_t *o, const char *key)
{
	return json_integer_value(json_object_get(o, key));
}

/* Sums add up over calls and over processes. A number that a batch system gives again is another
 * job.
 */
static void test_sums(void **state)
{
	struct ibcc_state *s = open_state("jobs.db");
	struct ibcc_whose_row r = job("4711", "ann", 100, NOW_S - 20, 3000, 1500.7);
	json_t *list;
	int err = 0;

	(void)state;
	take_part(&r, "a", 1000);
	take_part(&r, "b", 2000);
	r.victim_ms = 7;
	r.sent_bytes = 1e12;
	add(s, &r);
	r = job("4711", "ann", 100, NOW_S - 10, 1000, 500);
	r.end_s = NOW_S - 15;
	take_part(&r, "a", 1500);
	add(s, &r);
	r = job("4711", "bob", 200, NOW_S, 1, 0);
	add(s, &r);
	ibcc_state_close(s);
	s = open_state("jobs.db");
	list = ibcc_state_jobs(s, 0, "ann", "", &err, NULL);
	assert_int_equal(json_array_size(list), 1);
	r = (struct ibcc_whose_row){ 0 };
	{
		const json_t *o = json_array_get(list, 0);

		assert_int_equal(number(o, "contributor_ms"), 4000);
		assert_int_equal(number(o, "harm_ms"), 2000);
		assert_int_equal(number(o, "victim_ms"), 7);
		assert_int_equal(number(o, "sent_bytes"), 1000000000000);
		assert_int_equal(number(o, "start"), 100);
		assert_int_equal(number(o, "end"), NOW_S - 15);
		assert_int_equal(number(o, "seen"), NOW_S - 10);
		assert_string_equal(json_string_value(json_object_get(o, "worst_root")), "a");
		assert_true(json_is_null(json_object_get(o, "name")));
	}
	json_decref(list);
	assert_jobs(s, 0, "", "4711", "4711 4711");
	assert_jobs(s, NOW_S, "", "", "4711");
	assert_jobs(s, 0, "", "4712", "");
	assert_jobs(s, 0, "' OR 1", "", "");
	ibcc_state_close(s);
}

/* Those that did most harm come first. */
static void test_order(void **state)
{
	struct ibcc_state *s = open_state("order.db");
	struct ibcc_whose_row r[] = {
		job("victim", "", 1, NOW_S, 0, 0),
		job("some", "", 1, NOW_S, 9000, 10),
		job("most", "", 1, NOW_S, 10, 9000),
		job("none", "", 1, NOW_S, 0, 0),
	};

	(void)state;
	r[0].victim_ms = 5;
	assert_int_equal(ibcc_state_add_jobs(s, r, 4, NOW_S), 0);
	assert_jobs(s, 0, "", "", "most some victim none");
	ibcc_state_close(s);
}

/* Rows go with age, with their roots; so do those of a clock that was ahead. Of the rest the last
 * few thousand stay.
 */
static void test_pruning(void **state)
{
	struct ibcc_state *s = open_state("prune.db");
	struct ibcc_whose_row r = job("old", "", 1, NOW_S - 31 * DAY_S, 1, 1);
	int64_t n;

	(void)state;
	take_part(&r, "a", 1);
	assert_int_equal(ibcc_state_add_jobs(s, &r, 1, NOW_S - 31 * DAY_S), 0);
	assert_jobs(s, 0, "", "", "old");
	r = job("ahead", "", 1, NOW_S + 10, 1, 1);
	take_part(&r, "a", 1);
	assert_int_equal(ibcc_state_add_jobs(s, &r, 1, NOW_S + 10), 0);
	r = job("new", "", 1, NOW_S - 5, 1, 1);
	take_part(&r, "b", 1);
	add(s, &r);
	assert_jobs(s, 0, "", "", "new");
	assert_int_equal(ibcc_state_ask(s->db, "SELECT count(*) FROM job_root", 0), 1);
	assert_int_equal(
		sqlite3_exec(s->db,
			     "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM "
			     "n WHERE i < 9000) INSERT INTO job SELECT 'j' || i, 1, '', '', "
			     "0, 1799000000 + i, 0, 0, 0, 0, 0, 0, 0, 0 FROM n",
			     NULL, NULL, NULL),
		0);
	add(s, &r);
	n = ibcc_state_ask(s->db, "SELECT count(*) FROM job", 0);
	assert_int_equal(n, 5000);
	assert_int_equal(ibcc_state_ask(s->db, "SELECT count(*) FROM job WHERE id = 'new'", 0), 1);
	ibcc_state_close(s);
}

/* A job that meets other roots in each hour keeps those in which it took part longest, and those of
 * the last time, so that a root that comes late can become one of the longest.
 */
static void test_roots_of_a_job(void **state)
{
	struct ibcc_state *s = open_state("roots.db");
	struct ibcc_whose_row other = job("other", "", 1, NOW_S, 1, 1);
	json_t *list;
	int err = 0;

	(void)state;
	take_part(&other, "a", 1);
	add(s, &other);
	for (int i = 0; i < 100; i++) {
		struct ibcc_whose_row r = job("1", "", 1, NOW_S, 1, 1);

		for (int k = 0; k < 3; k++) {
			char root[16];

			snprintf(root, sizeof(root), "%d-%d", i, k);
			take_part(&r, root, 100 + i % 50);
		}
		take_part(&r, i < 60 ? "early" : "late", 30);
		add(s, &r);
		assert_in_range(ibcc_state_ask(s->db, "SELECT count(*) FROM job_root", 0), 5, 17);
	}
	assert_int_equal(ibcc_state_ask(s->db, "SELECT ms FROM job_root WHERE root = 'early'", 0),
			 1800);
	assert_int_equal(ibcc_state_ask(s->db, "SELECT ms FROM job_root WHERE root = 'late'", 0),
			 1200);
	assert_int_equal(ibcc_state_ask(s->db,
					"SELECT count(*) FROM job_root WHERE ms = 149 AND root "
					"LIKE '49-_' OR root LIKE '99-_'",
					0),
			 6);
	list = ibcc_state_jobs(s, 0, "", "1", &err, NULL);
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(list, 0), "worst_root")), "early");
	json_decref(list);
	ibcc_state_close(s);
}

/* A file of an earlier version that can only be read has no such table. */
static void test_no_table(void **state)
{
	struct ibcc_state *s = open_state("none.db");

	(void)state;
	assert_int_equal(sqlite3_exec(s->db, "DROP TABLE job", NULL, NULL, NULL), 0);
	assert_jobs(s, 0, "", "", "");
	ibcc_state_close(s);
}

/* A table that cannot be read is not an empty one. Reading it says nothing about what can be
 * written.
 */
static void test_no_answer(void **state)
{
	struct ibcc_state *s = open_state("other.db");
	struct ibcc_whose_row r = job("1", "", 1, NOW_S, 1, 1);
	struct ibcc_why why = { "" };
	int err = 0;

	(void)state;
	add(s, &r);
	assert_int_equal(
		sqlite3_exec(s->db, "DROP TABLE job; CREATE TABLE job (x)", NULL, NULL, NULL), 0);
	assert_null(ibcc_state_jobs(s, 0, "", "", &err, &why));
	assert_int_equal(err, -EIO);
	assert_non_null(strstr(why.text, "other.db: no such column: id; check the file"));
	assert_null(ibcc_state_trouble(s));
	ibcc_state_close(s);

	s = open_state("torn.db");
	add(s, &r);
	assert_int_equal(sqlite3_exec(s->db,
				      "PRAGMA writable_schema = ON; UPDATE sqlite_master SET "
				      "rootpage = 9999 WHERE name = 'job'; PRAGMA writable_schema "
				      "= RESET",
				      NULL, NULL, NULL),
			 0);
	err = 0;
	assert_null(ibcc_state_jobs(s, 0, "", "", &err, &why));
	assert_int_equal(err, -EIO);
	assert_non_null(strstr(why.text, "torn.db: "));
	assert_non_null(strstr(why.text, "malformed"));
	assert_non_null(strstr(why.text, "; move the file aside"));
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sums),     cmocka_unit_test(test_order),
		cmocka_unit_test(test_pruning),  cmocka_unit_test(test_roots_of_a_job),
		cmocka_unit_test(test_no_table), cmocka_unit_test(test_no_answer),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
