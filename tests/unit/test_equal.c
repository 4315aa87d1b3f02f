/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings that nodes share are one row, with the first places and the number of the others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/tune/equal.h"

enum { HOSTS = 12000 };

/* Every thousandth host has a timer of its own. */
static void test_rows(void **state)
{
	struct tune_equals all = { .n_cells = TUNE_CA_CELLS };
	char text[300];

	(void)state;
	for (int i = 0; i < HOSTS; i++) {
		char name[16], timer[16];
		const char *cell[TUNE_CA_CELLS] = {
			i % 2 ? "1" : "2", "0-15", timer, "1", "0", "0", "127", "16", "each QP"
		};
		json_t *node;

		snprintf(name, sizeof(name), "h%d", i);
		snprintf(timer, sizeof(timer), "%d", i % 1000 ? 150 : 1000 + i);
		node = json_pack("{ss}", "node", name);
		tune_equals_take(&all, node, cell);
		json_decref(node);
	}
	assert_int_equal(all.n, 13);
	assert_int_equal(all.n_left, 0);
	assert_int_equal(all.row[0].n, 1);
	assert_string_equal(all.row[0].cell[2], "1000");
	assert_string_equal(tune_equal_where(&all.row[0], text, sizeof(text)), "h0/2");
	assert_int_equal(all.row[1].n, HOSTS - 12);
	assert_string_equal(all.row[1].cell[2], "150");
	assert_string_equal(all.row[1].cell[8], "each QP");
	assert_string_equal(tune_equal_where(&all.row[1], text, sizeof(text)),
			    "h1/1, h2/2, h3/1, h4/2, h5/1 and 11983 more");
	assert_string_equal(all.row[12].cell[2], "12000");
	tune_equals_fini(&all);
	assert_int_equal(all.n, 0);
}

/* A switch's own settings have no port. */
static void test_switch(void **state)
{
	const char *cell[TUNE_SWITCH_CELLS] = { "all", "15", "3", "0", "none" };
	struct tune_equals all = { .n_cells = TUNE_SWITCH_CELLS };
	json_t *node = json_pack("{ss}", "node", "leaf1");
	char text[300];

	(void)state;
	tune_equals_take(&all, node, cell);
	cell[0] = "7";
	tune_equals_take(&all, node, cell);
	cell[4] = "7";
	tune_equals_take(&all, node, cell);
	assert_int_equal(all.n, 2);
	assert_string_equal(tune_equal_where(&all.row[0], text, sizeof(text)), "leaf1, leaf1/7");
	assert_string_equal(tune_equal_where(&all.row[1], text, sizeof(text)), "leaf1/7");
	tune_equals_fini(&all);
	json_decref(node);
}

/* Cells that differ only in their last character are different settings. */
static void test_long(void **state)
{
	struct tune_equals all = { .n_cells = 2 };
	char a[301] = "", b[301] = "";
	const char *first[] = { "1", a }, *second[] = { "1", b };
	json_t *node = json_pack("{ss}", "node", "h1");

	(void)state;
	memset(a, 'x', sizeof(a) - 1);
	memcpy(b, a, sizeof(b));
	b[sizeof(b) - 2] = 'y';
	tune_equals_take(&all, node, first);
	tune_equals_take(&all, node, second);
	tune_equals_take(&all, node, first);
	assert_int_equal(all.n, 2);
	assert_int_equal(all.row[0].n, 2);
	assert_string_equal(all.row[0].cell[1], a);
	assert_string_equal(all.row[1].cell[1], b);
	tune_equals_fini(&all);
	json_decref(node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_switch),
		cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
