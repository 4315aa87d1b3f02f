/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Predictions beside what was measured, as the state file keeps them. */
#include "states.h"

static void predicted(struct ibcc_state *s, int64_t id, bool known, int low, int high)
{
	json_t *p = json_pack("{sb s{si si}}", "known", (int)known, "total", "low_mbps", low,
			      "high_mbps", high);

	assert_non_null(p);
	assert_int_equal(ibcc_state_predicted(s, id, p), 0);
	json_decref(p);
}

static void measured(struct ibcc_state *s, int64_t id, int64_t total_mbps)
{
	struct ibcc_state_sample x = { .at_s = 0 };

	assert_int_equal(ibcc_state_before(s, id, id, &x), 0);
	x.value[IBCC_SAMPLE_TOTAL_MBPS] = total_mbps;
	assert_int_equal(ibcc_state_after(s, id, id, 6, &x), 0);
}

static void assert_hits(struct ibcc_state *s, uint32_t held, uint32_t of)
{
	uint32_t got_held, got_of;

	ibcc_state_hits(s, &got_held, &got_of);
	assert_int_equal(got_held, held);
	assert_int_equal(got_of, of);
}

static void test_hits(void **state)
{
	struct ibcc_state *s = open_state("hits.db");
	json_t *o, *list;
	int err = 0;

	(void)state;
	assert_hits(s, 0, 0);
	for (uint8_t i = 1; i <= 4; i++)
		one_change(s, GUID_A, i, (uint8_t)(i + 1), 0);
	predicted(s, 1, true, 900, 1100);
	assert_hits(s, 0, 0); /* not measured yet */
	measured(s, 1, 1100);
	assert_hits(s, 1, 1);
	predicted(s, 2, true, 900, 1100);
	measured(s, 2, 1101);
	predicted(s, 3, false, 0, 0); /* it said that it cannot tell */
	measured(s, 3, 1000);
	measured(s, 4, 1000); /* nothing was said */
	assert_hits(s, 1, 2);
	predicted(s, 99, true, 1, 2); /* of nothing that there is */
	assert_hits(s, 1, 2);
	list = ibcc_state_history(s, 10, &err);
	assert_non_null(list);
	o = json_object_get(json_array_get(list, 0), "prediction");
	assert_true(json_is_null(o));
	o = json_object_get(json_array_get(list, 3), "prediction");
	assert_true(json_is_true(json_object_get(o, "known")));
	json_decref(list);
	/* A program was there. */
	assert_int_equal(sqlite3_exec(s->db, "UPDATE prediction SET text = '[' WHERE txn = 1", NULL,
				      NULL, NULL),
			 0);
	assert_hits(s, 0, 1);
	ibcc_state_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_hits) };

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
