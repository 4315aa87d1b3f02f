/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Two options of OpenSM's configuration file, as OpenSM 5.x writes it and as people edit it. */
#include <errno.h>
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

	assert_int_equal(ibcc_opensm_conf_read(text, strlen(text), &c), 0);
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
	/* OpenSM refuses a number with something behind it. */
	assert_read("mlnx_congestion_control 0 1\n", "0 1", "", false);
}

/* As OpenSM's clean_val(), in opensm/osm_subnet.c: a value is the rest of the line up to a #,
 * without blanks at its ends and without one pair of quotes. A number without digits leaves what
 * there was.
 */
static void test_like_opensm(void **state)
{
	(void)state;
	assert_read("mlnx_congestion_control \"0\"\n", "0", "", true);
	assert_read("mlnx_congestion_control '0'\n", "0", "", true);
	assert_read("mlnx_congestion_control \t\"2\" \r\n", "2", "", false);
	assert_read("mlnx_congestion_control '2'", "2", "", false);
	assert_read("mlnx_congestion_control \"0'\n", "\"0'", "", false);
	assert_read("mlnx_congestion_control \"\"0\"\"\n", "\"0\"", "", false);
	assert_read("mlnx_congestion_control 0# 2\n", "0", "", true);
	assert_read("x # mlnx_congestion_control 2\n", "", "", true);
	assert_read("mlnx_congestion_control 2\nmlnx_congestion_control\n", "2", "", false);
	assert_read("mlnx_congestion_control 2\nmlnx_congestion_control # 0\n", "2", "", false);
	assert_read("mlnx_congestion_control 2\nmlnx_congestion_control \"\n", "2", "", false);
	assert_read("congestion_control_policy_file \"/etc/a b\" # x\n", "", "/etc/a b", false);
	assert_read("congestion_control_policy_file '(null)'\n", "", "", true);
	assert_read("congestion_control_policy_file \"\"\n", "", "", true);
}

/* What is no text was not read, whatever its words are. */
static void test_no_text(void **state)
{
	static const char *const bad[] = { "mlnx_congestion_control 0\n\x01",
					   "\x7f"
					   "ELF",
					   "# \x1b\n" };
	static const char utf16[] = "m\0l\0n\0x\0\n\0";
	struct ibcc_opensm_conf c;

	(void)state;
	assert_int_equal(ibcc_opensm_conf_read("mlnx_congestion_control 0\n\0", 27, &c), -EILSEQ);
	assert_int_equal(ibcc_opensm_conf_read(utf16, sizeof(utf16) - 1, &c), -EILSEQ);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(ibcc_opensm_conf_read(bad[i], strlen(bad[i]), &c), -EILSEQ);
	assert_read("# Universit\xc3\xa4t, K\xf6ln\f\v\n", "", "", true);
}

static void test_policy_file(void **state)
{
	char line[600] = "congestion_control_policy_file ";
	struct ibcc_opensm_conf c;

	(void)state;
	assert_read("congestion_control_policy_file (null)\n", "", "", true);
	assert_read("congestion_control_policy_file /etc/a b\nmlnx_congestion_control 0\n", "0",
		    "/etc/a b", false);
	memset(line + strlen(line), 'x', 500);
	assert_int_equal(ibcc_opensm_conf_read(line, strlen(line), &c), 0);
	assert_int_equal(strlen(c.policy_file), 255);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_like_opensm),
		cmocka_unit_test(test_no_text),
		cmocka_unit_test(test_policy_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
