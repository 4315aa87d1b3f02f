/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Names of the site for nodes: those of a node name map, and no others change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/tune/tune.h"
#include "tests/unit/files.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rename),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
