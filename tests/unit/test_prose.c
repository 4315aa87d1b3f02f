/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences and tables as a terminal of so many columns has them; all figures are worked out by
 * hand. */
#include <locale.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/tune/fit.h"
#include "daemon/tune/look.h"
#include "daemon/tune/prose.h"

static const char *said(int columns, unsigned int most, const char *label, const char *text)
{
	static char buf[2048];
	FILE *f = fmemopen(buf, sizeof(buf), "w");

	assert_non_null(f);
	tune_prose(f, columns, most, label, text);
	assert_int_equal(fclose(f), 0);
	return buf;
}

static void test_lines(void **state)
{
	(void)state;
	/* 30 columns, ten of them for the label. */
	assert_string_equal(said(30, 0, "Decision: ", "one two three four five six seven"),
			    "Decision: one two three four\n          five six seven\n");
	assert_string_equal(said(0, 0, "a: ", "one two three"), "a: one two three\n");
	assert_string_equal(said(30, 0, "", "short"), "short\n");
	assert_string_equal(said(30, 0, "label", ""), "label\n");
	/* Exactly as wide, and a word that is wider than all. */
	assert_string_equal(said(20, 0, "", "01234567890123456789 x"), "01234567890123456789\nx\n");
	assert_string_equal(said(20, 0, "", "a 012345678901234567890123 b"),
			    "a\n012345678901234567890123\nb\n");
	assert_string_equal(said(20, 1, "", "0123456789 0123456789"), "0123456789 ...\n");
	/* What marks the rest has to fit, too. */
	assert_string_equal(said(20, 1, "", "0123456789 012345 7 9 0"), "0123456789 ...\n");
	assert_string_equal(said(20, 1, "a: ", "0123456789 x 012345"), "a: 0123456789 x ...\n");
	/* Colours have no width. */
	assert_string_equal(said(20, 0, "\033[2mab\033[0m", "0123456789 01234567 x"),
			    "\033[2mab\033[0m0123456789\n  01234567 x\n");
}

/* A name takes as many columns as the terminal shows, however many bytes it has: \u00fc takes one
 * and two bytes, \u5317 takes two and three bytes. In the locale C a byte is a column.
 */
static void test_wide(void **state)
{
	size_t bytes;

	(void)state;
	assert_int_equal(tune_width("W\u00fcrzburg"), 9);
	if (!setlocale(LC_CTYPE, "C.UTF-8"))
		skip();
	assert_int_equal(tune_width("W\u00fcrzburg"), 8);
	assert_int_equal(tune_width("\u5317\u4eac"), 4);
	assert_int_equal(tune_char_width("\u5317", &bytes), 2);
	assert_int_equal(bytes, 3);
	assert_int_equal(tune_char_width("\xff", &bytes), 1);
	assert_int_equal(bytes, 1);
	/* 9 + 1 + 10 columns fit into 20; 12 + 1 + 8 do not. */
	assert_string_equal(said(20, 0, "",
				 "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc "
				 "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc x"),
			    "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc "
			    "\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\u00fc\nx\n");
	assert_string_equal(
		said(20, 0, "", "\u5317\u5317\u5317\u5317\u5317\u5317 \u5317\u5317\u5317\u5317"),
		"\u5317\u5317\u5317\u5317\u5317\u5317\n\u5317\u5317\u5317\u5317\n");
	setlocale(LC_CTYPE, "C");
}

/* 8 Mb/s are 1 MB/s. */
static void test_rates(void **state)
{
	char buf[256], little[12];

	(void)state;
	assert_string_equal(
		tune_rates_in("takes 15141 of 32000 Mb/s (PortXmitData)", buf, sizeof(buf)),
		"takes 1892.6 of 4000.0 MB/s (PortXmitData)");
	assert_string_equal(tune_rates_in("had 4, 4 and 8000 Mb/s, 16 Mb/s", buf, sizeof(buf)),
			    "had 4, 4 and 1000.0 MB/s, 2.0 MB/s");
	assert_string_equal(tune_rates_in("800 Mb/s", buf, sizeof(buf)), "100.0 MB/s");
	assert_string_equal(tune_rates_in("a rate in Mb/s, half of 8 Mb/s", buf, sizeof(buf)),
			    "a rate in Mb/s, half of 1.0 MB/s");
	assert_string_equal(tune_rates_in("none", buf, sizeof(buf)), "none");
	assert_string_equal(tune_rates_in("", buf, sizeof(buf)), "");
	assert_string_equal(tune_rates_in("8000 Mb/s and more", little, sizeof(little)),
			    "1000.0 MB/s");
	assert_true(tune_set_units("Gb/s"));
	assert_string_equal(tune_rates_in("15141 of 32000 Mb/s", buf, sizeof(buf)),
			    "15.14 of 32.00 Gb/s");
	assert_true(tune_set_units("MB/s"));
}

static struct libscols_table *table(void)
{
	static const struct ibcc_table_column columns[] = {
		{ "NODE", IBCC_LEFT }, { "N", IBCC_RIGHT },    { "PORT", IBCC_RIGHT },
		{ "NONE", IBCC_LEFT }, { "WHERE", IBCC_WRAP }, { "SPARE", IBCC_SPARE },
	};
	static const char *const rows[][6] = {
		{ "leaf one 0x01", "7", "1", NULL, "here, there", "some words" },
		{ "b 0x02", "8", "1", "", "nowhere", "others" },
	};
	struct libscols_table *t = ibcc_table_new(columns, 6, stdout);

	assert_non_null(t);
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(ibcc_table_add(t, rows[i]), 0);
	return t;
}

/* The table in so many columns, followed by what is told of all lines; NULL if it does not fit. */
static const char *fitted(size_t columns, bool chosen)
{
	static char buf[2048];
	struct libscols_table *t = table();
	char same[64], *text = NULL;
	bool fits = tune_table_fit(t, columns, chosen, same, sizeof(same));

	if (fits) {
		assert_int_equal(scols_print_table_to_string(t, &text), 0);
		snprintf(buf, sizeof(buf), "%s|%s", text, same);
	}
	free(text);
	scols_unref_table(t);
	return fits ? buf : NULL;
}

/* 43 columns without the empty one; each step is taken only where the one before is not enough. */
static void test_fit(void **state)
{
	(void)state;
	assert_string_equal(fitted(43, false), "NODE          N PORT WHERE       SPARE\n"
					       "leaf one 0x01 7    1 here, there some words\n"
					       "b 0x02        8    1 nowhere     others|");
	assert_string_equal(fitted(42, false), "NODE          N PORT WHERE\n"
					       "leaf one 0x01 7    1 here, there\n"
					       "b 0x02        8    1 nowhere|");
	assert_string_equal(fitted(31, false), "NODE          N WHERE\n"
					       "leaf one 0x01 7 here, there\n"
					       "b 0x02        8 nowhere|PORT 1");
	assert_string_equal(fitted(20, false), "NODE     N WHERE\n"
					       "leaf one 7 here,\n"
					       "0x01       there\n"
					       "b 0x02   8 nowhere|PORT 1");
	assert_null(fitted(11, false));
	/* What was asked for stays: 47 columns, 7 of them taken from the widest, two or three of
	 * each. */
	assert_string_equal(fitted(40, true), "NODE     N PORT NONE WHERE   SPARE\n"
					      "leaf one 7    1      here,   some\n"
					      "0x01                 there   words\n"
					      "b 0x02   8    1      nowhere others|");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_rates),
		cmocka_unit_test(test_fit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
