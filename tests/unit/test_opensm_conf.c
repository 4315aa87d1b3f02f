/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two options of OpenSM's configuration file, as OpenSM 5.x writes it and as people edit it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/opensm_conf.h>

static void assert_read(const char *text, const char *mode, const char *file, bool is_free)
{
	struct ibcc_opensm_conf c;

	ibcc_opensm_conf_read(text, strlen(text), &c);
	assert_string_equal(c.mlnx_congestion_control, mode);
	assert_string_equal(c.policy_file, file);
	assert_int_equal(ibcc_opensm_conf_is_free(&c), is_free);
}

static void test_values(void **state)
{
	(void)state;
	assert_read("", "", "", true);
	assert_read("mlnx_congestion_control 0\n", "0", "", true);
	assert_read("mlnx_congestion_control 1\n", "1", "", false);
	assert_read("mlnx_congestion_control 2", "2", "", false);
	assert_read("# mlnx_congestion_control 2\nmlnx_congestion_control 0\n\n", "0", "", true);
	assert_read("\tmlnx_congestion_control\t2\r\n", "2", "", false);
	/* The last line counts; what is no 0 is none. */
	assert_read("mlnx_congestion_control 2\nmlnx_congestion_control 0\n", "0", "", true);
	assert_read("mlnx_congestion_control 00\n", "00", "", false);
	assert_read("mlnx_congestion_control on\n", "on", "", false);
	assert_read("mlnx_congestion_control_x 2\nxmlnx_congestion_control 2\n", "", "", true);
	assert_read("mlnx_congestion_control\ncongestion_control_policy_file\n", "", "", true);
}

static void test_policy_file(void **state)
{
	char line[600] = "congestion_control_policy_file ";
	struct ibcc_opensm_conf c;

	(void)state;
	assert_read("congestion_control_policy_file (null)\n", "", "", true);
	assert_read("congestion_control_policy_file /etc/a b\nmlnx_congestion_control 0\n", "0",
		    "/etc/a", false);
	memset(line + strlen(line), 'x', 500);
	ibcc_opensm_conf_read(line, sizeof(line) - 1, &c);
	assert_int_equal(strlen(c.policy_file), 255);
	/* Not text at all. */
	ibcc_opensm_conf_read("\0\n\0mlnx_congestion_control\0 2\n", 29, &c);
	assert_true(ibcc_opensm_conf_is_free(&c));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_policy_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
