/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences in a buffer of fixed size; sums over bytes. */
#include <string.h>

#include <ibcc/hash.h>
#include <ibcc/text.h>

#include "tests/unit/codec.h"

static void test_sentences(void **state)
{
	char buf[32] = "";
	struct ibcc_text x = { .buf = buf, .len = sizeof(buf) };

	(void)state;
	ibcc_text_say(&x, "root %d", 1);
	assert_string_equal(buf, "root 1");
	ibcc_text_add(&x, ", %s", "slow");
	ibcc_text_say(&x, "root 2");
	assert_string_equal(buf, "root 1, slow; root 2");
	assert_int_equal(x.n, strlen(buf));
}

/* One is singular, none and many are plural; more than 32 bits are not cut off. */
static void test_plural(void **state)
{
	(void)state;
	assert_string_equal(ibcc_text_plural(0, "node", "nodes"), "nodes");
	assert_string_equal(ibcc_text_plural(1, "node", "nodes"), "node");
	assert_string_equal(ibcc_text_plural(2, "", "s"), "s");
	assert_string_equal(ibcc_text_plural((1ull << 32) + 1, "is", "are"), "are");
}

/* What does not fit is cut off, but counted. */
static void test_too_long(void **state)
{
	char buf[10] = "";
	struct ibcc_text x = { .buf = buf, .len = 8 };

	(void)state;
	buf[8] = 'x';
	ibcc_text_say(&x, "123456");
	ibcc_text_say(&x, "789");
	assert_string_equal(buf, "123456;");
	assert_int_equal(x.n, 11);
	ibcc_text_add(&x, "0");
	assert_string_equal(buf, "123456;");
	assert_int_equal(x.n, 12);
	assert_int_equal(buf[8], 'x');
}

/* The vectors that its authors publish, also taken in pieces. */
static void test_hash(void **state)
{
	uint64_t h = ibcc_hash(IBCC_HASH_START, "foo", 3);

	(void)state;
	assert_true(ibcc_hash(IBCC_HASH_START, "a", 1) == 0xaf63dc4c8601ec8cull);
	assert_true(ibcc_hash(h, "bar", 3) == 0x85944171f73967e8ull);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sentences),
		cmocka_unit_test(test_plural),
		cmocka_unit_test(test_too_long),
		cmocka_unit_test(test_hash),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
