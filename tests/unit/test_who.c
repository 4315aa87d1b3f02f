/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Who asks, as the history has it, and whom groups of the configuration stand for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <ibcc/log.h>

#include "daemon/who.h"

static void test_names(void **state)
{
	char text[96], little[8];

	(void)state;
	ibcc_who_text(0, 5, text, sizeof(text));
	assert_string_equal(text, "root (uid 0, pid 5)");
	ibcc_who_text(4123456, 5, text, sizeof(text));
	assert_string_equal(text, "uid 4123456 (pid 5)");
	ibcc_who_text(0, 5, little, sizeof(little));
	assert_string_equal(little, "root (u");
}

static void test_groups(void **state)
{
	struct ibcc_config c;
	struct ibcc_jsonl_roles roles;

	(void)state;
	ibcc_log_open("test", IBCC_LOG_STDERR, LOG_EMERG);
	ibcc_config_defaults(&c, NULL);
	roles = ibcc_who_roles(&c);
	assert_int_equal(roles.read, IBCC_JSONL_NOBODY);
	assert_int_equal(roles.write, IBCC_JSONL_NOBODY);
	snprintf(c.control_read_group, sizeof(c.control_read_group), "root");
	snprintf(c.control_write_group, sizeof(c.control_write_group), "no-such-group");
	roles = ibcc_who_roles(&c);
	assert_int_equal(roles.read, 0);
	assert_int_equal(roles.write, IBCC_JSONL_NOBODY);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_groups),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
