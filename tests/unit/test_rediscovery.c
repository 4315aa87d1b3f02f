/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* When the fabric is discovered again, on a clock of the test's own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "daemon/service/rediscovery.h"

#define S 1000000000ull

/* Passes every second up to `until_s`, discoveries of 100 ms; how many there are, and when the
 * last. */
static unsigned int run(struct ibcc_rediscovery *r, uint64_t from_s, uint64_t until_s,
			bool doubtful, bool changed, uint64_t *last_s)
{
	unsigned int n = 0;

	for (uint64_t t = from_s; t <= until_s; t++) {
		if (!ibcc_rediscovery_is_due(r, doubtful, t * S))
			continue;
		ibcc_rediscovery_done(r, t * S, t * S + S / 10, changed);
		*last_s = t;
		n++;
	}
	return n;
}

static struct ibcc_rediscovery known(void)
{
	struct ibcc_rediscovery r = { 0 };
	uint64_t at = 0;

	assert_int_equal(run(&r, 1000, 1000, false, true, &at), 1);
	assert_int_equal(at, 1000);
	return r;
}

/* Nothing changes: one in a quarter of an hour. */
static void test_rest(void **state)
{
	struct ibcc_rediscovery r = known();
	uint64_t at = 0;

	(void)state;
	assert_int_equal(run(&r, 1001, 1899, false, false, &at), 0);
	assert_int_equal(run(&r, 1900, 1000 + 3600, false, false, &at), 3);
}

/* One for a burst of traps, when it is over. */
static void test_burst(void **state)
{
	struct ibcc_rediscovery r = known();
	uint64_t at = 0;

	(void)state;
	for (uint64_t t = 1100 * S; t < 1104 * S; t += S / 10) {
		ibcc_rediscovery_hint(&r, t);
		assert_false(ibcc_rediscovery_is_due(&r, false, t + S / 20));
	}
	assert_int_equal(run(&r, 1104, 1105, false, true, &at), 1);
	assert_in_range(at, 1104, 1105);
	/* What was found may not be all: once more. */
	assert_int_equal(run(&r, 1106, 1200, false, false, &at), 1);
	assert_in_range(at, 1107, 1109);
}

/* Traps that go on for ever do not keep it off, nor make it common, if it finds nothing. */
static void test_flapping(void **state)
{
	struct ibcc_rediscovery r = known();
	unsigned int n = 0;
	uint64_t at = 0;

	(void)state;
	for (uint64_t t = 1100; t < 1700; t++) {
		ibcc_rediscovery_hint(&r, t * S);
		n += run(&r, t, t, false, false, &at);
	}
	assert_in_range(n, 10, 16);
	run(&r, 1700, 1999, false, false, &at);
	/* After one that found something the next may be soon. */
	ibcc_rediscovery_hint(&r, 2000 * S);
	assert_int_equal(run(&r, 2000, 2002, false, true, &at), 1);
	ibcc_rediscovery_hint(&r, 2003 * S);
	assert_int_equal(run(&r, 2003, 2010, false, true, &at), 3);
}

/* What comes during a discovery may be missing in it. */
static void test_trap_meanwhile(void **state)
{
	struct ibcc_rediscovery r = known();
	uint64_t at = 0;

	(void)state;
	ibcc_rediscovery_hint(&r, 1100 * S);
	assert_true(ibcc_rediscovery_is_due(&r, false, 1102 * S));
	ibcc_rediscovery_hint(&r, 1103 * S);
	ibcc_rediscovery_done(&r, 1102 * S, 1104 * S, true);
	assert_int_equal(run(&r, 1105, 1200, false, false, &at), 1);
}

/* Ports that go silent are looked for, ever more seldom while they stay so. */
static void test_unread(void **state)
{
	struct ibcc_rediscovery r = known();
	unsigned int n = 0;
	uint64_t at = 0;

	(void)state;
	for (uint64_t t = 1100; t < 1100 + 3600; t++) {
		ibcc_rediscovery_unread(&r, 5, t * S);
		n += run(&r, t, t, false, false, &at);
		assert_true(t < 1105 || n);
	}
	assert_in_range(n, 9, 14);
	/* More of them are news. */
	ibcc_rediscovery_unread(&r, 9, 5000 * S);
	assert_int_equal(run(&r, 5000, 5060, false, false, &at), 1);
}

/* A discovery with gaps is repeated soon, but takes no more than a quarter of the time. */
static void test_doubtful(void **state)
{
	struct ibcc_rediscovery r = known();
	uint64_t at = 0;

	(void)state;
	assert_int_equal(run(&r, 1001, 1020, true, false, &at), 6);
	ibcc_rediscovery_done(&r, 1020 * S, 1030 * S, false);
	assert_false(ibcc_rediscovery_is_due(&r, true, 1069 * S));
	assert_true(ibcc_rediscovery_is_due(&r, true, 1071 * S));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rest),     cmocka_unit_test(test_burst),
		cmocka_unit_test(test_flapping), cmocka_unit_test(test_trap_meanwhile),
		cmocka_unit_test(test_unread),   cmocka_unit_test(test_doubtful),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
