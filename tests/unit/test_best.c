/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The order of results, whatever order they came in. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draws.h"
#include "files.h"
#include "perftest/bench/words.h"
#include "perftest/lab/best.h"

#define N 300

/* Misses of 0.00, 0.01, 0.02...; each is there for two points but the last. */
static void write_results(const char *name, uint32_t seed)
{
	char *text = NULL, line[200];
	int order[N];
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	for (int i = 0; i < N; i++)
		order[i] = i;
	for (int i = N - 1; i > 0 && seed; i--) {
		int k = (int)(draw(&seed) % (uint32_t)(i + 1)), t = order[i];

		order[i] = order[k];
		order[k] = t;
	}
	for (int i = 0; i < N; i++) {
		snprintf(line, sizeof(line),
			 "{\"id\":\"i\",\"fit\":\"x\",\"point\":{\"a.b+c.d\":\"%d\",\"a.e\":\"z\"},"
			 "\"result\":{\"miss\":%.2f,\"row\":%d}}\n",
			 order[i], order[i] / 2 / 100.0, order[i]);
		assert_true(fputs(line, f) >= 0);
	}
	fclose(f);
	files_write(name, text);
	free(text);
}

static void read_ok(struct ibcc_best *b, const char *name, bool given)
{
	int rc = ibcc_best_read(b, files_path(name), given);

	assert_string_equal(b->e->text ? b->e->text : "", "");
	assert_int_equal(rc, 0);
}

static double miss(const json_t *o)
{
	return json_number_value(json_object_get(json_object_get(o, "result"), "miss"));
}

static void order_does_not_matter(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	char *first = NULL;

	(void)state;
	for (uint32_t seed = 0; seed < 20; seed++) {
		struct ibcc_best b = { .n_show = 9, .n_keep = 100, .e = &e };
		char *text;
		json_t *all;

		write_results("r.jsonl", seed);
		read_ok(&b, "r.jsonl", false);
		all = ibcc_best_json(&b);
		text = json_dumps(all, JSON_SORT_KEYS);
		if (!first)
			first = strdup(text);
		assert_string_equal(text, first);
		assert_int_equal(json_array_size(json_object_get(all, "best")), 9);
		/* The 49th and 50th have a miss of 0.24. */
		assert_float_equal(miss(json_object_get(all, "median")), 0.24, 1e-9);
		json_decref(all);
		free(text);
		ibcc_best_fini(&b);
	}
	free(first);
}

static void others_are_ranked(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_best b = { .n_show = 1, .n_keep = UINT64_MAX, .e = &e };
	static const int want[] = { 1, 103, 101, 301 };
	json_t *all, *given;

	(void)state;
	write_results("r.jsonl", 5);
	write_results("twice.jsonl", 6);
	files_write("g.jsonl", "{\"id\":\"j\",\"point\":{},\"result\":{\"miss\":0}}\n"
			       "{\"id\":\"j\",\"point\":{},\"result\":{\"miss\":0.505}}\n"
			       "{\"id\":\"j\",\"point\":{},\"result\":{\"miss\":0.50}}\n"
			       "{\"id\":\"j\",\"point\":{},\"result\":{\"miss\":7}}\n");
	read_ok(&b, "r.jsonl", false);
	read_ok(&b, "twice.jsonl", false);
	read_ok(&b, "g.jsonl", true);
	assert_int_equal(b.n, N);
	assert_int_equal(b.seen, 2 * N);
	all = ibcc_best_json(&b);
	given = json_object_get(all, "given");
	assert_int_equal(json_array_size(given), 4);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(
			json_integer_value(json_object_get(json_array_get(given, i), "rank")),
			want[i]);
	json_decref(all);
	ibcc_best_fini(&b);
	files_write("g.jsonl", "{\"id\":\"j\",\"point\":{},\"result\":{\"other\":0}}\n");
	b.by = "miss";
	assert_int_equal(ibcc_best_read(&b, files_path("g.jsonl"), true), -EINVAL);
	assert_non_null(strstr(e.text, "g.jsonl:1:1: the result has no \"miss\""));
	ibcc_yaml_errors_fini(&e);
	ibcc_best_fini(&b);
}

static void the_best_is_told_as_lines(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_best b = { .n_show = 2, .n_keep = 100, .e = &e };
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	(void)state;
	write_results("r.jsonl", 3);
	read_ok(&b, "r.jsonl", false);
	assert_int_equal(ibcc_best_table(&b, f), 0);
	fclose(f);
	assert_non_null(strstr(text, "\n  a:\n    b: 0\n    e: z\n  c:\n    d: 0\n"));
	assert_non_null(strstr(text, "median of 100: 50 0.240"));
	free(text);
	ibcc_best_fini(&b);
}

/* Of fits the least miss is the best, of others the greatest share. */
static void what_is_best_depends_on_the_results(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_best b = { .n_show = 5, .n_keep = 2, .e = &e };

	(void)state;
	files_write("s.jsonl",
		    "{\"id\":\"j\",\"point\":{\"a\":\"1\"},\"result\":{\"ideal_share\":0.5}}\n"
		    "{\"id\":\"j\",\"point\":{\"a\":\"2\"},\"result\":{\"ideal_share\":0.7}}\n"
		    "{\"id\":\"j\",\"point\":{\"a\":\"3\"},\"result\":{\"ideal_share\":null}}\n"
		    "{\"id\":\"j\",\"point\":{\"a\":\"4\"},\"result\":{\"ideal_share\":0.6}}\n");
	read_ok(&b, "s.jsonl", false);
	assert_int_equal(b.n, 2);
	assert_int_equal(b.seen, 4);
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(b.result[0], "point"), "a")),
		"2");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(b.result[1], "point"), "a")),
		"4");
	ibcc_best_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(others_are_ranked),
		cmocka_unit_test(the_best_is_told_as_lines),
		cmocka_unit_test(what_is_best_depends_on_the_results),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
