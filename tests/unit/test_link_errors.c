/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Growth of error counters, and when it is too much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/link_errors.h>

#define S        1000000000ull
#define EDR_MBPS 100000u

static void take(struct ibcc_link_errors *e, uint64_t t_s, enum ibcc_link_error which, uint16_t v)
{
	uint16_t all[IBCC_LINK_ERRORS];

	memcpy(all, e->v, sizeof(all));
	all[which] = v;
	ibcc_link_errors_take(e, t_s * S, all);
}

/* What a counter shows at first is old. Then its growth counts, also after another program has
 * cleared it.
 */
static void test_growth(void **state)
{
	struct ibcc_link_errors e = { 0 };

	(void)state;
	take(&e, 10, IBCC_LINK_ERROR_SYMBOL, 60000);
	assert_int_equal(e.dt_ns, 0);
	assert_int_equal(e.grown[IBCC_LINK_ERROR_SYMBOL], 0);
	assert_int_equal(ibcc_link_errors_judge(&e, EDR_MBPS), IBCC_LINK_TROUBLE_NONE);
	take(&e, 26, IBCC_LINK_ERROR_SYMBOL, 60500);
	assert_true(e.dt_ns == 16 * S);
	assert_int_equal(e.grown[IBCC_LINK_ERROR_SYMBOL], 500);
	assert_int_equal(e.grown[IBCC_LINK_ERROR_DOWNED], 0);
	take(&e, 42, IBCC_LINK_ERROR_SYMBOL, 30);
	assert_int_equal(e.grown[IBCC_LINK_ERROR_SYMBOL], 30);
	/* At its end it does not grow. */
	take(&e, 58, IBCC_LINK_ERROR_SYMBOL, UINT16_MAX);
	take(&e, 74, IBCC_LINK_ERROR_SYMBOL, UINT16_MAX);
	assert_int_equal(e.grown[IBCC_LINK_ERROR_SYMBOL], 0);
	/* A clock that went back makes it a first reading. */
	take(&e, 5, IBCC_LINK_ERROR_SYMBOL, 10);
	assert_int_equal(e.dt_ns, 0);
}

/* One wrong bit in 10^12 is allowed: at 100 Gb/s 0.1 a second, which is 16 in 160 s. */
static void test_allowed(void **state)
{
	static const struct {
		enum ibcc_link_error which;
		uint16_t grown;
		enum ibcc_link_trouble want;
	} cases[] = {
		{ IBCC_LINK_ERROR_SYMBOL, 25, IBCC_LINK_TROUBLE_NONE },
		{ IBCC_LINK_ERROR_SYMBOL, 26, IBCC_LINK_TROUBLE_CABLE },
		{ IBCC_LINK_ERROR_RCV, 25, IBCC_LINK_TROUBLE_NONE },
		{ IBCC_LINK_ERROR_RCV, 26, IBCC_LINK_TROUBLE_CABLE },
		{ IBCC_LINK_ERROR_RECOVERY, 1, IBCC_LINK_TROUBLE_CABLE },
		{ IBCC_LINK_ERROR_DOWNED, 1, IBCC_LINK_TROUBLE_CABLE },
		{ IBCC_LINK_ERROR_INTEGRITY, 1, IBCC_LINK_TROUBLE_CABLE },
		{ IBCC_LINK_ERROR_OVERRUN, 1, IBCC_LINK_TROUBLE_CABLE },
		{ IBCC_LINK_ERROR_DISCARDS, 9, IBCC_LINK_TROUBLE_NONE },
		{ IBCC_LINK_ERROR_DISCARDS, 10, IBCC_LINK_TROUBLE_DISCARDS },
		{ IBCC_LINK_ERROR_XMIT_CONSTRAINT, 10, IBCC_LINK_TROUBLE_REFUSED },
		{ IBCC_LINK_ERROR_RCV_CONSTRAINT, 10, IBCC_LINK_TROUBLE_REFUSED },
		/* These are about other links, or normal. */
		{ IBCC_LINK_ERROR_RCV_REMOTE, 60000, IBCC_LINK_TROUBLE_NONE },
		{ IBCC_LINK_ERROR_RCV_RELAY, 60000, IBCC_LINK_TROUBLE_NONE },
		{ IBCC_LINK_ERROR_VL15, 60000, IBCC_LINK_TROUBLE_NONE },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibcc_link_errors e = { 0 };

		take(&e, 100, cases[i].which, 0);
		take(&e, 260, cases[i].which, cases[i].grown);
		assert_int_equal(ibcc_link_errors_judge(&e, EDR_MBPS), cases[i].want);
	}
}

/* A bad cable comes first. */
static void test_worst(void **state)
{
	struct ibcc_link_errors e = { .dt_ns = S };

	(void)state;
	e.grown[IBCC_LINK_ERROR_RCV_CONSTRAINT] = 10;
	assert_int_equal(ibcc_link_errors_judge(&e, EDR_MBPS), IBCC_LINK_TROUBLE_REFUSED);
	e.grown[IBCC_LINK_ERROR_DISCARDS] = 10;
	assert_int_equal(ibcc_link_errors_judge(&e, EDR_MBPS), IBCC_LINK_TROUBLE_DISCARDS);
	e.grown[IBCC_LINK_ERROR_OVERRUN] = 1;
	assert_int_equal(ibcc_link_errors_judge(&e, EDR_MBPS), IBCC_LINK_TROUBLE_CABLE);
	assert_string_equal(ibcc_link_error_name(IBCC_LINK_ERROR_SYMBOL), "SymbolErrorCounter");
	assert_string_equal(ibcc_link_error_name(IBCC_LINK_ERROR_VL15), "VL15Dropped");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_growth),
		cmocka_unit_test(test_allowed),
		cmocka_unit_test(test_worst),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
