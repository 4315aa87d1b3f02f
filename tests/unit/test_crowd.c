/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which client does something most often, and for how long that is remembered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/crowd.h>

#define START_US 3000000000u

static void count(struct ibcc_crowd *c, uint8_t client, unsigned int n, uint64_t now_us)
{
	uint8_t key[IBCC_CROWD_KEY_BYTES] = { 0 };

	key[IBCC_CROWD_KEY_BYTES - 1] = client;
	while (n-- > 0)
		ibcc_crowd_count(c, key, now_us);
}

static void assert_crowd(struct ibcc_crowd *c, uint64_t now_us, unsigned int n, uint8_t client)
{
	const struct ibcc_crowd_window *w = ibcc_crowd_look(c, now_us);

	assert_int_equal(w->n, n);
	if (n)
		assert_int_equal(w->key[IBCC_CROWD_KEY_BYTES - 1], client);
}

/* Whatever the order, the client that did more than all others together is named. */
static void test_majority(void **state)
{
	struct ibcc_crowd c = { 0 };

	(void)state;
	assert_crowd(&c, START_US, 0, 0);
	count(&c, 1, 3, START_US);
	count(&c, 2, 2, START_US);
	count(&c, 3, 2, START_US);
	count(&c, 2, 6, START_US + 1);
	assert_crowd(&c, START_US + 1, 13, 2);
	count(&c, 4, 14, START_US + 2);
	assert_crowd(&c, START_US + 2, 27, 4);
}

/* It is told for a window after its own, so that a reader that looks now and then sees it, and no
 * longer. */
static void test_windows(void **state)
{
	const uint64_t window = IBCC_CROWD_WINDOW_US;
	struct ibcc_crowd c = { 0 };

	(void)state;
	count(&c, 1, 5, START_US);
	assert_crowd(&c, START_US + window - 1, 5, 1);
	count(&c, 2, 4, START_US + window);
	assert_crowd(&c, START_US + window, 5, 1);
	count(&c, 2, 2, START_US + window + 1);
	assert_crowd(&c, START_US + window + 1, 6, 2);
	assert_crowd(&c, START_US + 3 * window - 1, 6, 2);
	assert_crowd(&c, START_US + 4 * window, 0, 0);
	/* A long pause leaves nothing. */
	count(&c, 3, 9, START_US + 5 * window);
	assert_crowd(&c, START_US + 7 * window, 0, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_majority),
		cmocka_unit_test(test_windows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
