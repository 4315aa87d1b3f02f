/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What terminals obey does not reach them; what people write does. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/clean.h>

static void check(const char *text, const char *keep, const char *want)
{
	char buf[64];

	snprintf(buf, sizeof(buf), "%s", text);
	ibcc_clean(buf, keep);
	assert_string_equal(buf, want);
}

static void test_stays(void **state)
{
	(void)state;
	check("", "", "");
	check("leaf1 HCA-1 \"x\" ~", "", "leaf1 HCA-1 \"x\" ~");
	check("K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80", "",
	      "K\xc3\xb6ln \xe2\x82\xac \xf0\x9f\x98\x80");
	check("a\nb\tc", "\n", "a\nb c");
}

static void test_goes(void **state)
{
	(void)state;
	check("\x1b[2Jx\x07", "", "?[2Jx?");
	check("a\r\nb\x7f", "", "a  b?");
	check("\xc2\x9b"
	      "31m\xc2\xa0",
	      "", "??31m\xc2\xa0"); /* CSI of C1; a no-break space */
	check("\xe2\x80\xae"
	      "gnp.exe\xe2\x81\xa6",
	      "", "???gnp.exe???");
	check("\xe2\x80\xa8\xef\xbb\xbf\xd8\x9c", "", "????????");
}

static void test_no_utf8(void **state)
{
	(void)state;
	check("\x9b"
	      "31m\xff",
	      "", "?31m?");
	check("\xc3", "", "?"); /* cut off */
	check("\xe2\x82", "", "??");
	check("\xc3(", "", "?(");
	check("\xc0\x9b\xe0\x80\x9b", "", "?????"); /* longer than need be */
	check("\xed\xa0\x80\xf4\x90\x80\x80\xf8\x88\x80\x80\x80", "", "????????????");
}

/* "a", U+20AC of three bytes, "b". */
static void test_cut(void **state)
{
	const char *text = "a\xe2\x82\xac"
			   "b";
	const size_t cut[] = { 0, 1, 1, 1, 4, 5, 5 };

	(void)state;
	for (size_t len = 0; len < sizeof(cut) / sizeof(cut[0]); len++)
		assert_int_equal(ibcc_clean_cut(text, len), cut[len]);
	assert_int_equal(ibcc_clean_cut("", 3), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_goes),
		cmocka_unit_test(test_no_utf8),
		cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
