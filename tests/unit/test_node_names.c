/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names of the site for nodes: those of a node name map, and no others change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/tune/tune.h"
#include "tests/unit/files.h"
#include "tests/unit/heap.h"

static void test_rename(void **state)
{
	struct tune t = { .name_map = files_write("map", "0x0000000200000100 \"storage 1\"\n"
							 "0x0000000200000300 \"\"\n") };
	json_t *o = json_loads("[{\"node_guid\": \"0x0000000200000100\", \"node\": \"source1\"},"
			       " {\"node_guid\": \"0x0000000200000200\", \"node\": \"Müller\"},"
			       " {\"node_guid\": \"0x0000000200000300\", \"node\": \"source3\"},"
			       " {\"node\": \"source4\"}]",
			       0, NULL);
	json_t *want =
		json_loads("[{\"node_guid\": \"0x0000000200000100\", \"node\": \"storage 1\"},"
			   " {\"node_guid\": \"0x0000000200000200\", \"node\": \"Müller\"},"
			   " {\"node_guid\": \"0x0000000200000300\", \"node\": \"source3\"},"
			   " {\"node\": \"source4\"}]",
			   0, NULL);

	(void)state;
	assert_non_null(o);
	tune_rename(&t, o);
	assert_true(json_equal(o, want));
	json_decref(want);
	json_decref(o);
}

/* The first of two entries counts, as for OpenSM, and the second one costs no memory. */
static void test_twice(void **state)
{
	struct tune t = { .name_map = files_write("map", "0x0000000200000100 \"first\"\n"
							 "0x0000000200000100 \"second\"\n") };
	json_t *o = json_loads("{\"node_guid\": \"0x0000000200000100\", \"node\": \"source1\"}", 0,
			       NULL);
	size_t before;

	(void)state;
	assert_non_null(o);
	tune_rename(&t, o);
	assert_string_equal(json_string_value(json_object_get(o, "node")), "first");
	/* The C library keeps some freed blocks at hand, and counts them as used. */
	before = heap_bytes();
	for (int i = 0; i < 1000; i++)
		tune_rename(&t, o);
	assert_true(heap_bytes() < before + 4096);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rename),
		cmocka_unit_test(test_twice),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
