/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Cells of CSV files: quotes, and texts that a spreadsheet would run. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <ibcc/csv.h>

static void test_cells(void **state)
{
	static const char *const cells[][2] = {
		{ "", "" },
		{ "leaf1", "leaf1" },
		{ "a,b", "\"a,b\"" },
		{ "say \"x\"", "\"say \"\"x\"\"\"" },
		{ "two\nlines", "\"two\nlines\"" },
		/* numbers, and signs that stand for no value */
		{ "-5", "-5" },
		{ "-0.25", "-0.25" },
		{ "+1e9", "+1e9" },
		{ "-10.2 %", "-10.2 %" },
		{ "-", "-" },
		/* formulas */
		{ "=1+1", "'=1+1" },
		{ "@SUM(A1)", "'@SUM(A1)" },
		{ "+cmd", "'+cmd" },
		{ "-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0" },
		{ "\t=1", "'\t=1" },
		{ "=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"" },
		{ "a=b", "a=b" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cells) / sizeof(cells[0]); i++) {
		char *text = NULL;
		size_t len;
		FILE *f = open_memstream(&text, &len);

		assert_non_null(f);
		ibcc_csv_put(f, cells[i][0]);
		fclose(f);
		assert_string_equal(text, cells[i][1]);
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_cells) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
