/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How far endports of GUIDs as fabrics have them are from their places in hash tables. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <ibcc/hash.h>

/* Enters n GUIDs, `step` apart, with so many ports each, into a table of which half is in use at
 * most, and returns the longest way from an endport's place to where it is. In a table half full of
 * random places it is about 20 (D. Knuth, vol. 3, 6.4: linear probing).
 */
static uint32_t longest(uint64_t first, uint64_t step, uint32_t n, uint32_t ports)
{
	uint32_t cap = 32, most = 0;
	bool *used;

	while (cap < 2 * n * ports)
		cap *= 2;
	used = calloc(cap, sizeof(*used));
	assert_non_null(used);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t port = 1; port <= ports; port++) {
			uint32_t at = ibcc_hash_endport(first + i * step, (uint8_t)port), k = 0;

			while (used[(at + k) & (cap - 1)])
				k++;
			used[(at + k) & (cap - 1)] = true;
			most = k > most ? k : most;
		}
	free(used);
	return most;
}

static void test_spread(void **state)
{
	static const struct {
		uint64_t first, step;
		uint32_t n, ports;
	} c[] = {
		{ 0x0002c90300a1b2c0, 1, 1, 254 },  /* a node of many ports */
		{ 0x0002c90300a1b2c0, 1, 4000, 2 }, /* consecutive GUIDs */
		{ 0x0002c90300a1b2c0, 2, 4000, 2 }, /* by the number of ports */
		{ 0x0002c90300a1b2c0, 4, 4000, 4 },
		{ 0x0002c90300a1b2c0, 16, 20000, 1 },
		{ 0x0000000200000100, 1ull << 32, 4000, 1 }, /* of the upper half */
		{ 0x0000000200000100, 1ull << 48, 4000, 2 }, /* of the upper quarter */
		{ 0x0000000200000100, (1ull << 32) + 1, 4000, 2 },
		{ 0x0000000200000100, (1ull << 32) - 1, 4000, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++)
		if (longest(c[i].first, c[i].step, c[i].n, c[i].ports) > 64)
			fail_msg("case %zu: an endport is %u places away", i,
				 longest(c[i].first, c[i].step, c[i].n, c[i].ports));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_spread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
