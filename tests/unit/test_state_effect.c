/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What was measured, as the state file keeps it: beside its transactions, and a day of it. */
#include "states.h"

#define NOW_S 1800000000

static struct ibcc_state_sample sample(int64_t at_s, int64_t roots, int64_t total_mbps)
{
	struct ibcc_state_sample x = { .at_s = at_s };

	x.value[IBCC_SAMPLE_ROOTS] = roots;
	x.value[IBCC_SAMPLE_TOTAL_MBPS] = total_mbps;
	return x;
}

static json_t *effect_of(struct ibcc_state *s, int64_t id)
{
	int err = 0;
	json_t *o = ibcc_state_transaction(s, id, &err), *e;

	assert_non_null(o);
	e = json_incref(json_object_get(o, "effect"));
	json_decref(o);
	return e;
}

static int64_t number(const json_t *e, const char *when, const char *key)
{
	return json_integer_value(json_object_get(json_object_get(e, when), key));
}

static void test_before_and_after(void **state)
{
	struct ibcc_state *s = open_state("effect.db");
	struct ibcc_state_sample before = sample(0, 2, 2494), after = sample(0, 0, 3950);
	json_t *e;

	(void)state;
	assert_int_equal(ibcc_state_newest(s), 0);
	one_change(s, GUID_A, 1, 2, 0);
	one_change(s, GUID_A, 2, 3, 0);
	one_change(s, GUID_A, 3, 4, 0);
	assert_int_equal(ibcc_state_newest(s), 3);
	assert_int_equal(ibcc_state_before(s, 1, 2, &before), 0);
	e = effect_of(s, 2);
	assert_int_equal(number(e, "before", "roots"), 2);
	assert_true(json_is_null(json_object_get(e, "after")));
	json_decref(e);
	/* What is asked for of others has no meaning, and does no harm. */
	assert_int_equal(ibcc_state_after(s, 1, 99, 6, &after), 0);
	for (int64_t id = 1; id <= 2; id++) {
		e = effect_of(s, id);
		assert_int_equal(number(e, "before", "total_mbps"), 2494);
		assert_int_equal(number(e, "after", "total_mbps"), 3950);
		assert_int_equal(number(e, "after", "roots"), 0);
		assert_int_equal(json_integer_value(json_object_get(e, "passes")), 6);
		json_decref(e);
	}
	e = effect_of(s, 3);
	assert_true(json_is_null(e));
	json_decref(e);
	/* It goes with its transaction. */
	assert_int_equal(sqlite3_exec(s->db, "DELETE FROM txn WHERE id = 1", NULL, NULL, NULL), 0);
	assert_int_equal(
		sqlite3_exec(s->db, "SELECT 1 / (count(*) = 1) FROM effect", NULL, NULL, NULL), 0);
	ibcc_state_close(s);
}

static json_t *senders(int before_mbps)
{
	return json_pack("[{ss ss si si sn}]", "node_guid", "0x0000000000000001", "node", "a",
			 "port", 1, "before_mbps", before_mbps, "after_mbps");
}

/* What blocked senders send goes with the effect. Congestion control was turned on by the newest
 * transaction before which it was off.
 */
static void test_senders(void **state)
{
	struct ibcc_state *s = open_state("senders.db");
	struct ibcc_state_sample off = sample(0, 1, 2494), on = sample(0, 0, 3950);
	json_t *list = senders(4987), *e;

	(void)state;
	on.value[IBCC_SAMPLE_ADAPTERS_ON] = 3;
	for (uint8_t i = 1; i <= 4; i++)
		one_change(s, GUID_A, i, (uint8_t)(i + 1), 0);
	assert_int_equal(ibcc_state_turned_on(s), 0);
	e = ibcc_state_senders(s, 1);
	assert_true(json_is_null(e));
	json_decref(e);
	assert_int_equal(ibcc_state_before(s, 1, 2, &off), 0);
	assert_int_equal(ibcc_state_before(s, 3, 4, &on), 0);
	/* Without senders there is nothing to compare with. */
	assert_int_equal(ibcc_state_turned_on(s), 0);
	assert_int_equal(ibcc_state_keep_senders(s, 1, 4, list), 0);
	assert_int_equal(ibcc_state_turned_on(s), 2);
	e = effect_of(s, 2);
	assert_true(json_equal(json_object_get(e, "senders"), list));
	json_decref(e);
	/* A later list replaces it. */
	json_object_set_new(json_array_get(list, 0), "after_mbps", json_integer(16632));
	assert_int_equal(ibcc_state_keep_senders(s, 2, 2, list), 0);
	e = ibcc_state_senders(s, 2);
	assert_true(json_equal(e, list));
	json_decref(e);
	assert_int_equal(
		sqlite3_exec(s->db, "UPDATE txn SET undone_by = 4 WHERE id = 2", NULL, NULL, NULL),
		0);
	assert_int_equal(ibcc_state_turned_on(s), 1);
	json_decref(list);
	ibcc_state_close(s);
}

/* A list that anyone may have written. */
static void test_senders_nonsense(void **state)
{
	static const char *const bad[] = {
		"",
		"{}",
		"[]",
		"[1]",
		"[{\"node_guid\":\"0x1\",\"node\":\"a\",\"port\":1,\"before_mbps\":1}]",
		"[{\"node_guid\":1,\"node\":\"a\",\"port\":1,\"before_mbps\":1,\"after_mbps\":1}]",
		("[{\"node_guid\":\"0x1\",\"node\":\"a\",\"port\":1,\"before_mbps\":-1,"
		 "\"after_mbps\":null}]"),
	};
	struct ibcc_state *s = open_state("senders_nonsense.db");
	char sql[240];
	json_t *e;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(sql, sizeof(sql), "INSERT OR REPLACE INTO sender VALUES (1, '%s')",
			 bad[i]);
		assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), 0);
		e = ibcc_state_senders(s, 1);
		assert_true(json_is_null(e));
		json_decref(e);
	}
	ibcc_state_close(s);
}

static size_t rows(struct ibcc_state *s, int64_t *first, int64_t *last)
{
	int err = 0;
	json_t *o = ibcc_state_series(s, &err), *list;
	size_t n;

	assert_non_null(o);
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "fields"), 0)),
			    "at");
	assert_string_equal(json_string_value(json_array_get(json_object_get(o, "fields"), 5)),
			    "total_mbps");
	list = json_object_get(o, "rows");
	n = json_array_size(list);
	*first = json_integer_value(json_array_get(json_array_get(list, 0), 0));
	*last = json_integer_value(json_array_get(json_array_get(list, n - 1), 0));
	json_decref(o);
	return n;
}

static void add(struct ibcc_state *s, int64_t at_s)
{
	struct ibcc_state_sample x = sample(at_s, 1, 1000);

	assert_int_equal(ibcc_state_add_sample(s, &x), 0);
}

/* A day of it, however often something is added, and nothing from a clock that was wrong. */
static void test_series(void **state)
{
	struct ibcc_state *s = open_state("series.db");
	int64_t first, last;

	(void)state;
	sqlite3_exec(s->db, "PRAGMA synchronous = OFF", NULL, NULL, NULL);
	assert_int_equal(rows(s, &first, &last), 0);
	for (int64_t minute = 0; minute < 2000; minute++)
		add(s, NOW_S + 60 * minute);
	assert_int_equal(rows(s, &first, &last), 1441);
	assert_int_equal(last, NOW_S + 60 * 1999);
	assert_int_equal(first, last - 86400);
	add(s, NOW_S + 60 * 1999); /* the same second */
	assert_int_equal(rows(s, &first, &last), 1441);
	for (int64_t second = 0; second < 6000; second++)
		add(s, NOW_S + 60 * 2000 + second);
	assert_int_equal(rows(s, &first, &last), 4000);
	add(s, NOW_S); /* it was a day and more ahead */
	assert_int_equal(rows(s, &first, &last), 1);
	ibcc_state_close(s);
}

/* Any program may have written the file. */
static void test_nonsense(void **state)
{
	static const char *const bad[] = { "",
					   "[]",
					   "{}",
					   "[1,2]",
					   "[1,2,3,4,5,6,7,8,9]",
					   "[1,2,3,4,5,6,7,\"8\"]",
					   "[1,2,3,4,5,6,7,-8]",
					   "[1,2,3,4,5,6,7,8.5]" };
	struct ibcc_state *s = open_state("nonsense.db");
	int64_t first, last;
	char sql[200];
	json_t *e;

	(void)state;
	one_change(s, GUID_A, 1, 2, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(sql, sizeof(sql), "INSERT INTO sample VALUES (%zu, '%s')", i, bad[i]);
		assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), 0);
		snprintf(sql, sizeof(sql),
			 "INSERT OR REPLACE INTO effect VALUES (1, '%s', '%s', 1)", bad[i], bad[i]);
		assert_int_equal(sqlite3_exec(s->db, sql, NULL, NULL, NULL), 0);
		e = effect_of(s, 1);
		assert_true(json_is_null(json_object_get(e, "before")));
		assert_true(json_is_null(json_object_get(e, "after")));
		json_decref(e);
	}
	assert_int_equal(rows(s, &first, &last), 0);
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_before_and_after), cmocka_unit_test(test_senders),
		cmocka_unit_test(test_senders_nonsense), cmocka_unit_test(test_series),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
