/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fits: what their files may say, what is drawn, and how far it misses. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files.h"
#include "perftest/lab/fit.h"

static const char scenario[] =
	"name: x\nduration_ms: 1\nmeasure_from_ms: 0.2\n"
	"topology:\n  rate: 8 Gb/s\n  nodes:\n  - {host: [a, b, c]}\n  - {switch: s, ports: 4}\n"
	"  links: [[a, s/1], [b, s/2], [c, s/3]]\n"
	"model: {header_bytes: 0}\n"
	"traffic: [{name: f, from: a, to: c, load_percent: 10, arrivals: periodic},"
	" {name: g, from: b, to: c, load_percent: 20, arrivals: periodic}]\n";

static const char experiment[] =
	"name: e\ntitle: t\nsource: s\nscenario: x.yaml\n"
	"variants: [{name: both}, {name: one, set: model.link_delay_ns=30}]\n"
	"rows:\n"
	"  - {name: f, unit: MB/s, value: \"MBps(both, f)\", published: 100, tolerance: 50}\n"
	"  - {name: g, unit: MB/s, value: \"MBps(one, g)\", published: 200, low: 100, high: 600}\n"
	"  - {name: plain, unit: MB/s, value: \"MBps(both, g)\"}\n"
	"  - {name: once more, unit: MB/s, value: \"MBps(both, g)\", published: 1, high: 2}\n";

#define HEAD "name: x\ntitle: t\nexperiment: e.yaml\nrows: [f, g]\nmeasure: largest\nseed: 7\n"

static const char *write_all(const char *text)
{
	mkdir(files_path("experiments"), 0777);
	mkdir(files_path("scenarios"), 0777);
	mkdir(files_path("lab"), 0777);
	mkdir(files_path("lab/fits"), 0777);
	files_write("scenarios/x.yaml", scenario);
	files_write("experiments/e.yaml", experiment);
	return files_write("lab/fits/x.yaml", text);
}

static void load_ok(const char *text, struct ibcc_fit *f)
{
	struct ibcc_yaml_errors e = { 0 };
	int rc = ibcc_fit_load(write_all(text), f, &e);

	assert_string_equal(e.text ? e.text : "", "");
	assert_int_equal(rc, 0);
}

/* All three kinds, with so many combinations that those that are drawn again do not count. */
static const char three_ranges[] =
	HEAD "draws: 2000\nranges:\n"
	     "  - {key: model.switch_delay_ns, from: 100, to: 20098, step: 2}\n"
	     "  - {key: traffic.f.load_percent+traffic.g.load_percent, from: 0.25, to: 16,"
	     " step: 0.25, scale: logarithmic}\n"
	     "  - {key: model.packet_bytes, values: [256, 2048, 512, 1024]}\n";

static void draws_are_spread_over_the_ranges(void **state)
{
	uint64_t low = 0, below_two = 0, each[4] = { 0 }, edge[2] = { 0 }, *p;
	struct ibcc_fit f;
	uint8_t *seen;

	(void)state;
	load_ok(three_ranges, &f);
	assert_int_equal(f.grid.n_points, 10000 * 64 * 4);
	p = ibcc_fit_draw(&f);
	seen = calloc(f.grid.n_points, 1);
	assert_non_null(p);
	assert_non_null(seen);
	for (uint64_t i = 0; i < f.draws; i++) {
		double delay = atof(ibcc_grid_value(&f.grid, p[i], 0));
		double load = atof(ibcc_grid_value(&f.grid, p[i], 1));

		assert_true(p[i] < f.grid.n_points);
		assert_false(seen[p[i]]++);
		assert_true(delay >= 100 && delay <= 20098 && fmod(delay, 2) == 0);
		assert_true(load >= 0.25 && load <= 16 && fmod(load, 0.25) == 0);
		low += delay < 10100;
		below_two += load < 1.4;
		edge[load > 8] += load == 0.25 || load == 16;
		each[p[i] % 4]++;
	}
	/* Of a binomial distribution at most 5 standard deviations, of the step's log 1.375 is the
	 * middle of 0.125 to 16.125: ln(1.375 / 0.125) / ln(16.125 / 0.125) = 0.4934.
	 */
	assert_in_range(low, 1000 - 112, 1000 + 112);
	assert_in_range(below_two, 987 - 112, 987 + 112);
	/* The first value's part is ln(0.375 / 0.125) / ln(129) = 0.226, the last one's 0.0032. */
	assert_in_range(edge[0], 452 - 94, 452 + 94);
	assert_in_range(edge[1], 0, 20);
	for (int i = 0; i < 4; i++)
		assert_in_range(each[i], 500 - 97, 500 + 97);
	free(seen);
	free(p);
	ibcc_fit_fini(&f);
}

static void the_seed_tells_all_draws(void **state)
{
	uint64_t *a, *b, same = 0;
	struct ibcc_fit f, g;

	(void)state;
	load_ok(HEAD
		"draws: 50\nranges: [{key: model.switch_delay_ns, from: 1, to: 500, step: 1}]\n",
		&f);
	load_ok(HEAD
		"draws: 80\nranges: [{key: model.switch_delay_ns, from: 1, to: 500, step: 1}]\n",
		&g);
	a = ibcc_fit_draw(&f);
	b = ibcc_fit_draw(&g);
	/* Fewer are the first of more. */
	assert_memory_equal(a, b, 50 * sizeof(*a));
	free(b);
	g.seed = 8;
	b = ibcc_fit_draw(&g);
	for (int i = 0; i < 50; i++)
		same += a[i] == b[i];
	assert_true(same < 5);
	free(a);
	free(b);
	ibcc_fit_fini(&f);
	ibcc_fit_fini(&g);
}

static void misses_are_parts_of_the_tolerance(void **state)
{
	struct ibcc_exp_row row[2] = { { .published = 100, .low = 90, .high = 120 },
				       { .published = -10, .low = -14, .high = -8 } };
	struct ibcc_fit f = { .measure = IBCC_FIT_LARGEST };

	(void)state;
	row[0].measured = 105;
	row[1].measured = -13;
	assert_float_equal(ibcc_fit_row_miss(&row[0]), 0.25, 1e-12);
	assert_float_equal(ibcc_fit_row_miss(&row[1]), 0.75, 1e-12);
	assert_float_equal(ibcc_fit_miss(&f, row, 2), 0.75, 1e-12);
	f.measure = IBCC_FIT_ROOT_MEAN_SQUARE;
	assert_float_equal(ibcc_fit_miss(&f, row, 2), sqrt((0.0625 + 0.5625) / 2), 1e-12);
	row[0].measured = 85;
	row[1].measured = -10;
	assert_float_equal(ibcc_fit_row_miss(&row[0]), 1.5, 1e-12);
	assert_float_equal(ibcc_fit_row_miss(&row[1]), 0, 1e-12);
	row[0].measured = NAN;
	assert_true(isnan(ibcc_fit_miss(&f, row, 2)));
	f.measure = IBCC_FIT_LARGEST;
	assert_true(isnan(ibcc_fit_miss(&f, row, 2)));
}

/* What is offered to an idle fabric is delivered: 10 MB/s for each percent. */
static void a_combination_is_run_and_judged(void **state)
{
	struct ibcc_words set = { 0 };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_fit f;
	json_t *o, *result;

	(void)state;
	load_ok(HEAD "draws: 1\nset: traffic.f.load_percent=50\nranges: "
		     "[{key: traffic.g.load_percent, values: [10, 40]}]\n",
		&f);
	assert_int_equal(ibcc_grid_assign(&f.grid, 1, &set), 0);
	assert_int_equal(ibcc_fit_run(&f, &set, &o, &e), 0);
	result = json_object_get(o, "result");
	assert_float_equal(json_number_value(json_object_get(result, "f")), 500, 10);
	assert_float_equal(json_number_value(json_object_get(result, "g")), 400, 10);
	assert_float_equal(json_number_value(json_object_get(result, "miss")), 8, 0.2);
	assert_int_equal(json_object_size(result), 3);
	/* The fit's own rows are as they were. */
	assert_true(isnan(f.x.row[0].measured));
	json_decref(o);
	assert_int_equal(ibcc_words_add(&set, "model.vls=99"), 0);
	assert_int_equal(ibcc_fit_run(&f, &set, &o, &e), -EINVAL);
	assert_null(o);
	assert_non_null(strstr(e.text, "--set model.vls=99: model.vls: got \"99\""));
	ibcc_yaml_errors_fini(&e);
	ibcc_words_fini(&set);
	ibcc_fit_fini(&f);
}

static void mistakes_are_told_at_once(void **state)
{
	static const char *const want[] = {
		":4:11: rows: got \"none\", want names of rows of \"e\"",
		":4:17: rows: got \"f\", want different rows",
		":4:20: rows: got \"plain\", want rows with a published figure",
		":4:27: rows: got \"once more\", want rows with a published figure",
		":5:10: measure: got \"larges\", want largest or root_mean_square",
		":6:1: foo: unknown key",
		":8:8: draws: got \"0\"",
		":10:5: ranges: the scenario does not take it: --set model.bufer_bytes=1",
		":11:5: ranges: the scenario does not take it: --set model.packet_bytes=1",
		":12:47: ranges.to: got \"20\", want from plus a whole number of steps",
		":13:5: ranges: got a mapping, want values, or from, to and step",
		":14:40: ranges.values: got a list, want different values",
		":15:38: ranges.from: got \"0\", want at least a step",
		":16:54: ranges.step: got \"0\", want more than 0",
		":17:11: ranges.key: got \"model.bufer_bytes\", want keys that differ",
		":18:5: ranges: got a mapping, want values, or from, to and step",
	};
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_fit f;

	(void)state;
	assert_int_equal(
		ibcc_fit_load(
			write_all("name: x\ntitle: t\nexperiment: e.yaml\n"
				  "rows: [f, none, f, plain, once more]\nmeasure: larges\n"
				  "foo: 1\nseed: 1\ndraws: 0\nranges:\n"
				  "  - {key: model.bufer_bytes, values: [1, 2]}\n"
				  "  - {key: model.packet_bytes, values: [256, 1]}\n"
				  "  - {key: model.switch_delay_ns, from: 1, to: 20, step: 7}\n"
				  "  - {key: model.link_delay_ns, from: 1, values: [2]}\n"
				  "  - {key: model.link_delay_ns, values: [2, 3, 2]}\n"
				  "  - {key: model.becn_delay_ns, from: 0, to: 9, step: 1, "
				  "scale: logarithmic}\n"
				  "  - {key: model.becn_delay_ns, from: 0, to: 9, step: 0}\n"
				  "  - {key: model.bufer_bytes, values: [3]}\n"
				  "  - {key: model.becn_delay_ns, from: 0, to: 9}\n"),
			&f, &e),
		-EINVAL);
	for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++)
		if (!strstr(e.text, want[i]))
			fail_msg("got \"%s\", want \"%s\"", e.text, want[i]);
	assert_int_equal(e.n, sizeof(want) / sizeof(*want));
	ibcc_yaml_errors_fini(&e);
	assert_int_equal(ibcc_fit_load(write_all("name: x\n"), &f, &e), -EINVAL);
	assert_int_equal(e.n, 7);
	ibcc_yaml_errors_fini(&e);
	assert_int_equal(ibcc_fit_load(write_all(HEAD "draws: 3\nranges: [{key: model.vls, "
						      "values: [1, 2, 3, 4, 5]}]\n"),
				       &f, &e),
			 -EINVAL);
	assert_non_null(strstr(e.text, ":7:8: draws: got \"3\", want at most half of the 5"));
	ibcc_yaml_errors_fini(&e);
	assert_int_equal(ibcc_fit_load(files_path("lab/fits/none.yaml"), &f, &e), -ENOENT);
	ibcc_yaml_errors_fini(&e);
}

static void ids_tell_fits_apart(void **state)
{
	struct ibcc_words none = { 0 };
	struct ibcc_fit f;
	char a[17], b[17];

	(void)state;
	load_ok(three_ranges, &f);
	f.draws = 10;
	assert_int_equal(ibcc_fit_id(&f, &none, &f.grid, a), 0);
	assert_int_equal(ibcc_fit_id(&f, &none, &f.grid, b), 0);
	assert_string_equal(a, b);
	for (int i = 0; i < 3; i++) {
		static const char *const file[] = { "lab/fits/x.yaml", "experiments/e.yaml",
						    "scenarios/x.yaml" };

		write_all(three_ranges);
		files_write(file[i], "other: 1\n");
		assert_int_equal(ibcc_fit_id(&f, &none, &f.grid, b), 0);
		assert_string_not_equal(a, b);
	}
	ibcc_fit_fini(&f);
}

static void the_tree_has_good_ones(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_fit f;

	(void)state;
	if (ibcc_fit_load("perftest/lab/fits/lustre.yaml", &f, &e))
		fail_msg("%s", e.text ? e.text : "cannot be read");
	assert_int_equal(f.draws, 2000);
	assert_int_equal(f.x.n_rows, 3);
	ibcc_fit_fini(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(draws_are_spread_over_the_ranges),
		cmocka_unit_test(the_seed_tells_all_draws),
		cmocka_unit_test(misses_are_parts_of_the_tolerance),
		cmocka_unit_test(a_combination_is_run_and_judged),
		cmocka_unit_test(mistakes_are_told_at_once),
		cmocka_unit_test(ids_tell_fits_apart),
		cmocka_unit_test(the_tree_has_good_ones),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
