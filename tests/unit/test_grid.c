/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Grids of a sweep, and the file that it goes on with after a kill. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files.h"
#include "perftest/lab/grid.h"
#include "perftest/lab/sweep_file.h"

#define ID "0123456789abcdef"

static void make(struct ibcc_grid *g)
{
	ibcc_grid_init(g);
	assert_int_equal(ibcc_grid_add(g, "a=1,2,3"), 0);
	assert_int_equal(ibcc_grid_add(g, "b.c=[1, 2],{x: 1, y: 2},\"p,q\",z"), 0);
}

static void points_are_all_combinations(void **state)
{
	struct ibcc_grid g;
	struct ibcc_words set = { 0 };
	uint64_t back;

	(void)state;
	make(&g);
	assert_int_equal(g.n_points, 12);
	assert_string_equal(ibcc_grid_value(&g, 0, 0), "1");
	assert_string_equal(ibcc_grid_value(&g, 5, 0), "2");
	assert_string_equal(ibcc_grid_value(&g, 5, 1), "{x: 1, y: 2}");
	assert_int_equal(ibcc_grid_assign(&g, 10, &set), 0);
	assert_int_equal(set.n, 2);
	assert_string_equal(set.w[0], "a=3");
	assert_string_equal(set.w[1], "b.c=\"p,q\"");
	for (uint64_t p = 0; p < g.n_points; p++) {
		json_t *o = ibcc_grid_json(&g, p);

		assert_int_equal(ibcc_grid_find(&g, o, &back), 0);
		assert_int_equal(back, p);
		json_object_set_new(o, "a", json_string("4"));
		assert_int_equal(ibcc_grid_find(&g, o, &back), -ENOENT);
		json_decref(o);
	}
	ibcc_words_fini(&set);
	ibcc_grid_fini(&g);
}

static void bad_axes(void **state)
{
	static const char *const bad[] = { "a", "=1", "a=", "a=1,", "a=,1", "a=1,1", "b=1" };
	struct ibcc_grid g;

	(void)state;
	ibcc_grid_init(&g);
	assert_int_equal(ibcc_grid_add(&g, "b=7"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(ibcc_grid_add(&g, bad[i]), -EINVAL);
	assert_int_equal(g.n_points, 1);
	ibcc_grid_fini(&g);
}

static void keys_may_share_a_value(void **state)
{
	static const char *const bad[] = { "a+=1", "+a=1", "c+c=1", "c+b=1", "b=1", "c+a=1" };
	struct ibcc_words set = { 0 };
	struct ibcc_grid g;
	uint64_t back;
	json_t *o;

	(void)state;
	ibcc_grid_init(&g);
	assert_int_equal(ibcc_grid_add(&g, "a+b=1,2"), 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(ibcc_grid_add(&g, bad[i]), -EINVAL);
	assert_int_equal(ibcc_grid_add(&g, "aa+bb+c=3"), 0);
	assert_int_equal(g.n_points, 2);
	assert_int_equal(ibcc_grid_assign(&g, 1, &set), 0);
	assert_int_equal(set.n, 5);
	assert_string_equal(set.w[0], "a=2");
	assert_string_equal(set.w[1], "b=2");
	assert_string_equal(set.w[4], "c=3");
	o = ibcc_grid_json(&g, 1);
	assert_int_equal(ibcc_grid_find(&g, o, &back), 0);
	assert_int_equal(back, 1);
	json_decref(o);
	ibcc_words_fini(&set);
	ibcc_grid_fini(&g);
}

static json_t *result(const struct ibcc_grid *g, uint64_t point, const char *id)
{
	return json_pack("{ss so s{si}}", "id", id, "point", ibcc_grid_json(g, point), "result",
			 "v", (int)point);
}

static void open_ok(struct ibcc_sweep_file *f, const char *path, const struct ibcc_grid *g)
{
	struct ibcc_yaml_errors e = { 0 };

	assert_int_equal(ibcc_sweep_open(f, path, ID, g, &e), 0);
	assert_null(e.text);
}

/* Cut anywhere, the file gives the whole lines before the cut, and grows to the same set. */
static void every_cut_is_survived(void **state)
{
	struct ibcc_sweep_file f;
	struct ibcc_grid g;
	const char *path = files_path("sweep.jsonl");
	char *whole, *again;
	size_t len;

	(void)state;
	make(&g);
	open_ok(&f, path, &g);
	for (uint64_t p = 0; p < g.n_points; p++)
		assert_int_equal(ibcc_sweep_put(&f, p, result(&g, p, ID)), 0);
	assert_int_equal(f.n_done, g.n_points);
	ibcc_sweep_close(&f);
	whole = files_read(path);
	len = strlen(whole);
	for (size_t cut = 0; cut <= len; cut++) {
		uint64_t lines = 0;

		path = files_path("sweep.jsonl");
		assert_int_equal(truncate(path, 0), 0);
		again = strndup(whole, cut);
		files_write("sweep.jsonl", again);
		for (size_t i = 0; i < cut; i++)
			lines += again[i] == '\n';
		free(again);
		open_ok(&f, path, &g);
		assert_int_equal(f.n_done, lines);
		for (uint64_t p = 0; p < g.n_points; p++) {
			assert_int_equal(!!ibcc_sweep_has(&f, p), p < lines);
			if (p >= lines)
				assert_int_equal(ibcc_sweep_put(&f, p, result(&g, p, ID)), 0);
		}
		ibcc_sweep_close(&f);
		again = files_read(path);
		assert_string_equal(again, whole);
		free(again);
	}
	free(whole);
	ibcc_grid_fini(&g);
}

static void other_files_are_refused(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_sweep_file f, g2;
	struct ibcc_grid g;
	const char *path = files_write("bad.jsonl", "{\"id\":\"x\",\"point\":{}}\n");

	(void)state;
	make(&g);
	assert_int_equal(ibcc_sweep_open(&f, path, ID, &g, &e), -EINVAL);
	assert_non_null(strstr(e.text, "bad.jsonl:1:1: this file has results of another scenario"));
	ibcc_yaml_errors_fini(&e);
	path = files_write("bad.jsonl", "notes\n");
	assert_int_equal(ibcc_sweep_open(&f, path, ID, &g, &e), -EINVAL);
	assert_non_null(strstr(e.text, "bad.jsonl:1:1: this line is not a result of a sweep"));
	ibcc_yaml_errors_fini(&e);
	/* Two at once would each do all points. */
	path = files_path("both.jsonl");
	open_ok(&f, path, &g);
	assert_int_equal(ibcc_sweep_open(&g2, path, ID, &g, &e), -EWOULDBLOCK);
	ibcc_sweep_close(&f);
	ibcc_grid_fini(&g);
}

static void ids_tell_sweeps_apart(void **state)
{
	struct ibcc_words none = { 0 }, one = { 0 };
	struct ibcc_grid g;
	char a[17], b[17];
	const char *path = files_write("s.yaml", "name: x\n");

	(void)state;
	make(&g);
	assert_int_equal(ibcc_words_add(&one, "seed=2"), 0);
	assert_int_equal(ibcc_sweep_id(path, &none, &g, a), 0);
	assert_int_equal(ibcc_sweep_id(path, &one, &g, b), 0);
	assert_string_not_equal(a, b);
	files_write("s.yaml", "name: y\n");
	assert_int_equal(ibcc_sweep_id(path, &none, &g, b), 0);
	assert_string_not_equal(a, b);
	assert_int_equal(ibcc_sweep_id(files_path("missing"), &none, &g, a), -ENOENT);
	ibcc_words_fini(&one);
	ibcc_grid_fini(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(points_are_all_combinations),
		cmocka_unit_test(bad_axes),
		cmocka_unit_test(keys_may_share_a_value),
		cmocka_unit_test(every_cut_is_survived),
		cmocka_unit_test(other_files_are_refused),
		cmocka_unit_test(ids_tell_sweeps_apart),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
