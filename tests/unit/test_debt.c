/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a rollback or a disable left to be done, and what later ones make of that. */
#include "fabrics.h"

#include "plans.h"

#include <ibcc/debt.h>

#define GUID_A 0xau
#define GUID_B 0xbu
#define CA     IBCC_CC_ATTR_CA_SETTING
#define CCT    IBCC_CC_ATTR_CCT

static void test_failed(void **state)
{
	const struct ibcc_debt by = { .from = 7 };
	struct ibcc_debts debts = { 0 };
	struct ibcc_plan p = { 0 };
	struct ibcc_plan_index x;
	struct ibcc_result r;

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	plan_add(&p, GUID_A, CCT, 0, 1, 2);
	plan_add(&p, GUID_B, CA, 0, 1, 2);
	plan_add(&p, GUID_B, CCT, 0, 1, 2);
	assert_int_equal(ibcc_result_init(&r, p.n), 0);
	for (uint32_t i = 0; i < p.n; i++)
		r.change[i].outcome = IBCC_OUTCOME_VERIFIED;
	r.change[2].outcome = IBCC_OUTCOME_FAILED;
	r.change[3].outcome = IBCC_OUTCOME_SKIPPED;
	assert_int_equal(ibcc_plan_index_init(&x, &p), 0);
	assert_int_equal(ibcc_debts_add_failed(&debts, &by, &p, &r), 0);
	/* Once, however much of it failed. */
	assert_int_equal(debts.n, 1);
	assert_true(debts.debt[0].node_guid == GUID_B);
	assert_int_equal(debts.debt[0].port, p.change[2].port);
	assert_int_equal(debts.debt[0].from, 7);
	assert_false(debts.debt[0].off);
	assert_int_equal(ibcc_debts_add(&debts, &by, GUID_B, debts.debt[0].port), 0);
	assert_int_equal(debts.n, 1);
	assert_int_equal(ibcc_debts_add(&debts, &by, GUID_B, debts.debt[0].port + 1), 0);
	assert_int_equal(debts.n, 2);
	/* The next try: a part of it is not enough, and what was never carried out is not done. */
	r.change[2].outcome = IBCC_OUTCOME_VERIFIED;
	assert_false(ibcc_debt_is_done(&debts.debt[0], &x, &r));
	r.change[3].outcome = IBCC_OUTCOME_VERIFIED;
	assert_true(ibcc_debt_is_done(&debts.debt[0], &x, &r));
	r.n = 3;
	assert_false(ibcc_debt_is_done(&debts.debt[0], &x, &r));
	r.n = 4;
	/* Nothing is to be written at the other port. */
	assert_true(ibcc_debt_is_done(&debts.debt[1], &x, &r));
	ibcc_result_fini(&r);
	ibcc_plan_index_fini(&x);
	ibcc_plan_fini(&p);
	ibcc_debts_fini(&debts);
}

/* What the first change that failed says of a node, and a later list that has the same debt. */
static void test_notes(void **state)
{
	struct ibcc_debt one[2] = { { .node_guid = GUID_A, .port = 1, .txn = 4 },
				    { .node_guid = GUID_B, .port = 1, .txn = 4 } };
	struct ibcc_debt again[3] = { one[0], one[1], one[1] };
	struct ibcc_debts from = { .n = 2, .debt = one };
	struct ibcc_debts to = { .n = 3, .debt = again };
	struct ibcc_plan p = { 0 };
	struct ibcc_plan_index x;
	struct ibcc_result r;

	(void)state;
	plan_add(&p, GUID_A, CA, 0, 1, 2);
	plan_add(&p, GUID_B, CA, 0, 1, 2);
	plan_add(&p, GUID_B, CCT, 0, 1, 2);
	for (uint32_t i = 0; i < p.n; i++)
		assert_int_equal(p.change[i].port, 1);
	assert_int_equal(ibcc_result_init(&r, p.n), 0);
	assert_int_equal(ibcc_plan_index_init(&x, &p), 0);
	ibcc_debt_note(&one[0], &x, &r);
	assert_null(ibcc_debt_cause(&one[0]));
	r.change[0].outcome = IBCC_OUTCOME_DIFFERS;
	r.change[1] = (struct ibcc_change_result){ .outcome = IBCC_OUTCOME_SKIPPED };
	r.change[2] = (struct ibcc_change_result){ .outcome = IBCC_OUTCOME_FAILED,
						   .err = IBCC_CHANGE_REFUSED };
	ibcc_debt_note(&one[0], &x, &r);
	ibcc_debt_note(&one[1], &x, &r);
	assert_string_equal(ibcc_debt_cause(&one[0]), "accepts the values, but reads back others");
	assert_string_equal(ibcc_debt_cause(&one[1]), "refuses the values");
	again[0].off = true; /* another wish since */
	again[2].txn = 5;
	ibcc_debts_keep_notes(&to, &from);
	assert_null(ibcc_debt_cause(&again[0]));
	assert_string_equal(ibcc_debt_cause(&again[1]), "refuses the values");
	assert_null(ibcc_debt_cause(&again[2]));
	/* What another program has written since is said if that is all. */
	one[1] = again[1] = (struct ibcc_debt){ .node_guid = GUID_B, .port = 1, .txn = 4 };
	r.change[1].err = IBCC_CHANGE_OTHER_WRITER;
	ibcc_debt_note(&one[1], &x, &r);
	assert_string_equal(ibcc_debt_cause(&one[1]), "refuses the values");
	assert_false(ibcc_debt_is_others(&one[1]));
	r.change[2].outcome = IBCC_OUTCOME_VERIFIED;
	ibcc_debt_note(&again[1], &x, &r);
	assert_true(ibcc_debt_is_others(&again[1]));
	again[1].last.err = IBCC_CHANGE_BEYOND_BOUNDS;
	ibcc_debt_note(&again[1], &x, &r);
	assert_false(ibcc_debt_is_others(&again[1]));
	ibcc_result_fini(&r);
	ibcc_plan_index_fini(&x);
	ibcc_plan_fini(&p);
}

/* Transaction 9 could not do its rollback to before transaction 5, or its disable, at an endport.
 */
static void test_covered(void **state)
{
	static const struct {
		bool off, by_off;
		int64_t by_from;
		bool there, away; /* is it covered at an endport that can be reached, or cannot? */
	} c[] = {
		{ false, false, 5, true, false }, /* as far */
		{ false, false, 0, true, false }, /* all */
		{ false, false, 6, false, false },
		{ false, true, 0, true, false },
		{ true, true, 0, true, false },
		{ true, false, 9, true, true }, /* the disable itself is taken back */
		{ true, false, 0, true, true },
		{ true, false, 10, false, false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		const struct ibcc_debt d = { .off = c[i].off, .from = c[i].off ? 0 : 5, .txn = 9 };
		const struct ibcc_debt by = { .off = c[i].by_off, .from = c[i].by_from };

		assert_int_equal(ibcc_debt_is_covered(&d, &by, true), c[i].there);
		assert_int_equal(ibcc_debt_is_covered(&d, &by, false), c[i].away);
	}
}

static void test_payable(void **state)
{
	static const enum ibcc_cc_support all[] = {
		IBCC_CC_UNKNOWN,     IBCC_CC_SUPPORTED, IBCC_CC_UNSUPPORTED,
		IBCC_CC_KEY_REFUSED, IBCC_CC_VENDOR_ON, IBCC_CC_VENDOR_SILENT,
		IBCC_CC_FOREIGN,     IBCC_CC_NO_EFFECT, IBCC_CC_LOG_ONLY,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++) {
		const struct ibcc_endport_cc ep = { .support = all[i] };

		assert_int_equal(ibcc_debt_is_payable(&ep), i == 1 || i == 6);
	}
}

/* A fabric that was away as a whole. Each step below is one pass over the list: with a search
 * through all debts or changes for each of them it would take minutes.
 */
#define MANY 20000u

static void test_many(void **state)
{
	const struct ibcc_debt by = { .from = 7 };
	struct ibcc_debts debts = { 0 }, again = { 0 };
	struct ibcc_plan p = { 0 };
	struct ibcc_plan_index x;
	struct ibcc_result r;

	(void)state;
	for (uint64_t i = 0; i < 2 * MANY; i++)
		plan_add(&p, 1 + i / 2, i % 2 ? CCT : CA, 0, 1, 2);
	assert_int_equal(ibcc_result_init(&r, p.n), 0);
	for (uint32_t i = 0; i < p.n; i++)
		r.change[i].outcome = i % 4 ? IBCC_OUTCOME_VERIFIED : IBCC_OUTCOME_FAILED;
	assert_int_equal(ibcc_plan_index_init(&x, &p), 0);
	for (uint64_t i = 0; i < MANY; i++) {
		assert_int_equal(ibcc_debts_add(&debts, &by, 1 + i, 1), 0);
		/* The second list lacks every third. */
		if (i % 3)
			assert_int_equal(ibcc_debts_add(&again, &by, 1 + i, 1), 0);
	}
	assert_int_equal(ibcc_debts_add_failed(&debts, &by, &p, &r), 0);
	assert_int_equal(debts.n, MANY);
	for (uint32_t i = 0; i < debts.n; i++) {
		assert_int_equal(ibcc_debt_first(&debts.debt[i], &x), 2 * i);
		assert_int_equal(x.next[2 * i], 2 * i + 1);
		assert_int_equal(x.next[2 * i + 1], IBCC_NONE);
		assert_int_equal(ibcc_debt_is_done(&debts.debt[i], &x, &r), i % 2);
		ibcc_debt_note(&debts.debt[i], &x, &r);
	}
	ibcc_debts_keep_notes(&again, &debts);
	for (uint32_t i = 0; i < again.n; i++)
		assert_int_equal(again.debt[i].last.outcome, again.debt[i].node_guid % 2
								     ? IBCC_OUTCOME_FAILED
								     : IBCC_OUTCOME_PENDING);
	ibcc_result_fini(&r);
	ibcc_plan_index_fini(&x);
	ibcc_plan_fini(&p);
	ibcc_debts_fini(&again);
	ibcc_debts_fini(&debts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failed),  cmocka_unit_test(test_covered),
		cmocka_unit_test(test_payable), cmocka_unit_test(test_notes),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests_name("debt", tests, NULL, NULL);
}
