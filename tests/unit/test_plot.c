/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/plot.h>

static char *draw(const struct ibcc_plot *p, int want)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(ibcc_plot_svg(p, f), want);
	fclose(f);
	return text;
}

static unsigned int count(const char *text, const char *word)
{
	unsigned int n = 0;

	for (; (text = strstr(text, word)); text++)
		n++;
	return n;
}

/* The plot area is 646 by 230 units from (64, 274) on: linear arithmetic gives each point. */
static void points_land_where_arithmetic_says(void **state)
{
	const double x[] = { 0, 5, 10 }, y[] = { 0, 50, 90 };
	struct ibcc_plot_series s = { "throughput", x, y, 3, false };
	struct ibcc_plot p = { .series = &s, .n_series = 1 };
	char *svg = draw(&p, 0);

	(void)state;
	assert_non_null(strstr(svg, "M64.0 274.0L387.0 159.0L710.0 67.0"));
	free(svg);
}

/* A narrow one has 344 by 174 units from (52, 218) on; with names above it begins a row lower. */
static void narrow_plots_have_names_above(void **state)
{
	const double x[] = { 0, 5, 10 }, y[] = { 0, 50, 90 };
	struct ibcc_plot_series s[] = { { "one", x, y, 3, false }, { "two", x, y, 3, false } };
	struct ibcc_plot p = { .series = s, .n_series = 1, .narrow = true };
	char *svg = draw(&p, 0);

	(void)state;
	assert_non_null(strstr(svg, "M52.0 218.0L224.0 131.0L396.0 61.4"));
	assert_non_null(strstr(svg, "viewBox=\"0 0 420 260\""));
	assert_null(strstr(svg, ">one<"));
	free(svg);
	p.n_series = 2;
	svg = draw(&p, 0);
	assert_non_null(strstr(svg, "M52.0 236.0L224.0 149.0L396.0 79.4"));
	assert_non_null(strstr(svg, ">two<"));
	assert_non_null(strstr(svg, "<g class=\"s1\" color=\"#0072b2\">"));
	free(svg);
}

/* A decade has a third of the width each of three. */
static void a_logarithmic_axis(void **state)
{
	const double x[] = { 1, 10, 1000 }, y[] = { 0, 0, 0 };
	struct ibcc_plot_series s = { "p", x, y, 3, false };
	struct ibcc_plot p = { .series = &s, .n_series = 1, .x_log = true };
	char *svg = draw(&p, 0);

	(void)state;
	assert_non_null(strstr(svg, "M64.0 274.0L279.3 274.0L710.0 274.0"));
	assert_non_null(strstr(svg, ">200</text>"));
	free(svg);
}

/* The axis ends at the step above the greatest value: 510 at 600, not at 1000. */
static void the_axis_fits(void **state)
{
	const double x[] = { 0.1, 10 }, y[] = { 0, 500 };
	struct ibcc_plot_series s = { "p", x, y, 2, false };
	struct ibcc_plot p = { .series = &s, .n_series = 1 };
	char *svg = draw(&p, 0);

	(void)state;
	assert_non_null(strstr(svg, ">600</text>"));
	assert_null(strstr(svg, ">700</text>"));
	assert_non_null(strstr(svg, "M70.5 274.0")); /* from 0 on, not from 0.1 */
	free(svg);
}

static void long_names_lose_their_middle(void **state)
{
	const double x[] = { 0 }, y[] = { 0 };
	struct ibcc_plot_series s[] = {
		{ "exactly 19 letters.", x, y, 1, false },
		{ "storage-server-with-a-name port 12", x, y, 1, false },
		{ "\xc3\xa4\xc3\xa4\xc3\xa4-"
		  "\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4\xc3\xa4",
		  x, y, 1, false },
	};
	struct ibcc_plot p = { .series = s, .n_series = 3 };
	char *svg = draw(&p, 0);

	(void)state;
	assert_non_null(strstr(svg, ">exactly 19 letters.<"));
	assert_non_null(strstr(svg, ">storage-\xe2\x80\xa6 port 12<"));
	/* Never within a character. */
	assert_non_null(strstr(svg, ">\xc3\xa4\xc3\xa4\xc3\xa4-\xe2\x80\xa6\xc3\xa4"));
	free(svg);
}

static void gaps_and_steps(void **state)
{
	const double x[] = { 0, 1, 2, 3 }, y[] = { 1, NAN, 2, 3 };
	struct ibcc_plot_series s[] = { { "gap", x, y, 4, false }, { "step", x, y, 4, true } };
	struct ibcc_plot p = { .series = s, .n_series = 2 };
	char *svg = draw(&p, 0);

	(void)state;
	assert_int_equal(count(svg, "<path"), 2);
	assert_int_equal(count(svg, "M64.0 "), 2);
	assert_null(strstr(svg, "nan"));
	assert_non_null(strstr(svg, "H710.0L710.0"));
	free(svg);
}

static void text_is_escaped(void **state)
{
	const double x[] = { 0 }, y[] = { 0 };
	struct ibcc_plot_series s = { "a<b", x, y, 1, false };
	struct ibcc_plot_mark m = { 0, "x & \"y\"" };
	struct ibcc_plot p = {
		.title = "<script>", .series = &s, .n_series = 1, .mark = &m, .n_marks = 1
	};
	char *svg = draw(&p, 0);

	(void)state;
	assert_null(strstr(svg, "<script"));
	assert_non_null(strstr(svg, "a&lt;b"));
	assert_non_null(strstr(svg, "x &amp; &quot;y&quot;"));
	assert_null(strstr(svg, "inf"));
	free(svg);
}

static void nothing_to_draw(void **state)
{
	struct ibcc_plot p = { 0 };

	(void)state;
	free(draw(&p, -EINVAL));
}

/* From 11:48 to 12:14 in steps of five minutes; a day in steps of three hours, past midnight. */
static void hours_are_those_of_a_clock(void **state)
{
	const double x[] = { 11.8, 12.24 }, day[] = { 20, 44 }, y[] = { 0, 1 };
	struct ibcc_plot_series s = { "s", x, y, 2, false };
	struct ibcc_plot p = { .series = &s, .n_series = 1, .x_clock = true };
	char *svg = draw(&p, 0);

	(void)state;
	assert_non_null(strstr(svg, ">11:50<"));
	assert_non_null(strstr(svg, ">11:55<"));
	assert_non_null(strstr(svg, ">12:10<"));
	assert_null(strstr(svg, ">11:51<"));
	free(svg);
	s.x = day;
	svg = draw(&p, 0);
	assert_non_null(strstr(svg, ">21:00<"));
	assert_non_null(strstr(svg, ">00:00<"));
	assert_non_null(strstr(svg, ">18:00<"));
	free(svg);
}

/* However short the time, or narrow the range of a logarithmic axis. */
static void every_axis_has_ticks(void **state)
{
	const double seconds[] = { 12 + 10 / 3600.0, 12 + 50 / 3600.0 }, narrow[] = { 3, 4.5 },
		     y[] = { 0, 1 };
	struct ibcc_plot_series s = { "s", seconds, y, 2, false };
	struct ibcc_plot p = { .series = &s, .n_series = 1, .x_clock = true };
	char *svg = draw(&p, 0);

	(void)state;
	assert_non_null(strstr(svg, ">12:00:20<"));
	assert_non_null(strstr(svg, ">12:00:40<"));
	free(svg);
	s.x = narrow;
	p.x_clock = false;
	p.x_log = true;
	svg = draw(&p, 0);
	assert_non_null(strstr(svg, ">3<"));
	assert_non_null(strstr(svg, ">4<"));
	free(svg);
}

/* 98 % would have an axis to 100 and a bit, which is up to 125. */
static void nothing_is_more_than_all(void **state)
{
	const double x[] = { 0, 1 }, y[] = { 0, 99.5 };
	struct ibcc_plot_series s = { "s", x, y, 2, false };
	struct ibcc_plot p = { .series = &s, .n_series = 1 };
	char *svg = draw(&p, 0);

	(void)state;
	assert_non_null(strstr(svg, ">125<"));
	free(svg);
	p.y_end = 100;
	svg = draw(&p, 0);
	assert_non_null(strstr(svg, ">100<"));
	assert_null(strstr(svg, ">125<"));
	free(svg);
}

/* 646 units for 100: marks at 50, 50.1 ... have three texts below each other, and the rest none. */
static void texts_of_marks_are_apart(void **state)
{
	const double x[] = { 0, 100 }, y[] = { 0, 1 };
	struct ibcc_plot_series s = { "s", x, y, 2, false };
	struct ibcc_plot_mark m[] = { { 90, "m90" },  { 50.3, "m4" }, { 50.2, "m3" },
				      { 50.1, "m2" }, { 50, "m1" },   { 10, "m10" } };
	struct ibcc_plot p = { .series = &s, .n_series = 1, .mark = m, .n_marks = 6 };
	char *svg = draw(&p, 0);

	(void)state;
	assert_int_equal(count(svg, "class=\"mark\""), 6);
	for (size_t i = 0; i < 6; i++) {
		char text[16];

		snprintf(text, sizeof(text), ">%s<", m[i].text);
		assert_int_equal(count(svg, text), i != 4);
	}
	free(svg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_land_where_arithmetic_says),
		cmocka_unit_test(narrow_plots_have_names_above),
		cmocka_unit_test(a_logarithmic_axis),
		cmocka_unit_test(the_axis_fits),
		cmocka_unit_test(long_names_lose_their_middle),
		cmocka_unit_test(gaps_and_steps),
		cmocka_unit_test(text_is_escaped),
		cmocka_unit_test(hours_are_those_of_a_clock),
		cmocka_unit_test(every_axis_has_ticks),
		cmocka_unit_test(nothing_is_more_than_all),
		cmocka_unit_test(texts_of_marks_are_apart),
		cmocka_unit_test(nothing_to_draw),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
