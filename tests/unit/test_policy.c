/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Policy files written by hand, what is asked of them, and the file or the reasons that have to
 * come of it, byte for byte.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/policy.h>
#include <ibcc/vendor_cc.h>

/* Around what an algorithm has. */
#define ALGO(n, rest)                                                                              \
	"  algo_start\n    algo_id:" n "\n    algo_file_name: zz\n    " rest "\n  algo_end\n"
#define IMPORT(algos) "ca_algo_import_start\n" algos "ca_algo_import_end\n"
#define REFUSED       ": nothing in this file is changed\n"
#define MISSING       ": only numbers that are in the file already can be changed\n"
#define NO_NUMBER     "is not a whole decimal number: change the file yourself\n"
#define NO_LINE                                                                                    \
	"is in a line that this program cannot read: want the key and its number alone in a "      \
	"line\n"
#define NO_LIST                                                                                    \
	"is in a list that this program cannot read: want (NAME,number),(NAME,number) in one "     \
	"line, in a block algo of a block ca_algo_import\n"

static const struct {
	const char *what, *text, *changes, *want, *error;
} cases[] = {
	/* The example of NVIDIA's manual, in its layout. */
	{ "the manual's example",
	  "ca_algo_import_start\n"
	  "    algo_start\n"
	  "        algo_id:1\n"
	  "        algo_file_name: active_algo_file_name\n"
	  "        # PPCC parameter by name, as defined in algo profile\n"
	  "        parameters: "
	  "(BW_G,400),(ALPHA,3932),(MAX_DEC,63569),(MAX_INC,69468),(AI,36),(HAI,1200)\n"
	  "    algo_end\n"
	  "ca_algo_import_end\n",
	  "AI=40 BW_G=200",
	  "ca_algo_import_start\n"
	  "    algo_start\n"
	  "        algo_id:1\n"
	  "        algo_file_name: active_algo_file_name\n"
	  "        # PPCC parameter by name, as defined in algo profile\n"
	  "        parameters: "
	  "(BW_G,200),(ALPHA,3932),(MAX_DEC,63569),(MAX_INC,69468),(AI,40),(HAI,1200)\n"
	  "    algo_end\n"
	  "ca_algo_import_end\n",
	  NULL },
	{ "numbers that become shorter and longer", IMPORT(ALGO("1", "parameters: (A,9),(B,1000)")),
	  "A=4294967295 B=0", IMPORT(ALGO("1", "parameters: (A,4294967295),(B,0)")), NULL },
	{ "a number that is there already", IMPORT(ALGO("1", "parameters: (A,9)")), "A=9",
	  IMPORT(ALGO("1", "parameters: (A,9)")), NULL },
	{ "odd spacing in a list", IMPORT(ALGO("1", "parameters :\t( A , 9 ) ,(B\t,7 )  # end")),
	  "A=10 b=8", IMPORT(ALGO("1", "parameters :\t( A , 10 ) ,(B\t,8 )  # end")), NULL },
	{ "two algorithms, one named",
	  IMPORT(ALGO("1", "parameters: (AI,36)") ALGO("2", "parameters: (AI,40)")), "algo:2/AI=41",
	  IMPORT(ALGO("1", "parameters: (AI,36)") ALGO("2", "parameters: (AI,41)")), NULL },
	{ "both named", IMPORT(ALGO("1", "parameters: (AI,36)") ALGO("2", "parameters: (AI,40)")),
	  "algo:2/AI=1 algo:1/AI=22",
	  IMPORT(ALGO("1", "parameters: (AI,22)") ALGO("2", "parameters: (AI,1)")), NULL },
	{ "the ID is behind the list",
	  "ca_algo_import_start\nalgo_start\nparameters: (AI,1)\nalgo_id: 7\nalgo_end\n"
	  "ca_algo_import_end\n",
	  "algo:7/AI=2",
	  "ca_algo_import_start\nalgo_start\nparameters: (AI,2)\nalgo_id: 7\nalgo_end\n"
	  "ca_algo_import_end\n",
	  NULL },
	{ "keys with a colon, a blank, an equals sign",
	  "rpg_time_reset: 300\nrpg_gd 11\nrpg_ai_rate=5\n\tdce_tcp_g\t:\t1019\t\n",
	  "rpg_ai_rate=6 rpg_gd=10 rpg_time_reset=299 dce_tcp_g=1000",
	  "rpg_time_reset: 299\nrpg_gd 10\nrpg_ai_rate=6\n\tdce_tcp_g\t:\t1000\t\n", NULL },
	{ "CRLF", "min: 10\r\nmax: 20\r\n", "max=21 min=11", "min: 11\r\nmax: 21\r\n", NULL },
	{ "no newline at the end", "min: 10\nmax: 20", "max=1000", "min: 10\nmax: 1000", NULL },
	{ "a byte order mark, and UTF-8 beyond ASCII",
	  "\xef\xbb\xbfpercent: 5\n# f\xc3\xbcr Anna \xe2\x82\xac percent\nname_x: \xc3\xa4\n",
	  "percent=6",
	  "\xef\xbb\xbfpercent: 6\n# f\xc3\xbcr Anna \xe2\x82\xac percent\nname_x: \xc3\xa4\n",
	  NULL },
	{ "bytes that are no UTF-8", "# \xff\xfe\npercent: 5 # \xe4\n", "percent=7",
	  "# \xff\xfe\npercent: 7 # \xe4\n", NULL },
	{ "a comment behind the number", "percent: 5\t# percent of all\n", "percent=50",
	  "percent: 50\t# percent of all\n", NULL },
	{ "unknown blocks of the same form",
	  "switch_start\n  profile_start\n  profile_name: low\n  min: 1\n  max: 9\n  profile_end\n"
	  "  profile_start\n  profile_name: high\n  min: 5\n  max: 9\n  profile_end\n"
	  "switch_end\nhost_start\nhost_end\n",
	  "profile:high/min=6 profile:LOW/max=8",
	  "switch_start\n  profile_start\n  profile_name: low\n  min: 1\n  max: 8\n  profile_end\n"
	  "  profile_start\n  profile_name: high\n  min: 6\n  max: 9\n  profile_end\n"
	  "switch_end\nhost_start\nhost_end\n",
	  NULL },
	{ "a block around the key's block", "a_start\nb_start\nk 1\nb_end\na_end\nk 2\n", "a/k=3",
	  "a_start\nb_start\nk 3\nb_end\na_end\nk 2\n", NULL },
	{ "blocks in braces, the key once", "profile low {\n  percent 5\n}\n", "percent=6",
	  "profile low {\n  percent 6\n}\n", NULL },
	{ "min and max go up together", "min: 10\nmax: 20\n", "min=30 max=40", "min: 30\nmax: 40\n",
	  NULL },
	{ "profiles in one block", "profile1_min 5\nprofile1_max 6\nprofile2_min 1\n",
	  "profile2_min=9 profile1_max=5", "profile1_min 5\nprofile1_max 5\nprofile2_min 9\n",
	  NULL },
	{ "a key with the end of a border and a number", "idle_end: 5\n", "idle_end=6",
	  "idle_end: 6\n", NULL },
	{ "no change at all", "percent: 5\n", "", "percent: 5\n", NULL },

	{ "an empty file", "", "AI=1", NULL, "f: AI is not in the file" MISSING },
	{ "a name that is part of another", "rpg_ai_rate: 5\n", "ai=1", NULL,
	  "f: ai is not in the file" MISSING },
	{ "no such block", IMPORT(ALGO("1", "parameters: (AI,36)")), "algo:3/AI=1", NULL,
	  "f: AI: there is no block algo with the ID 3" MISSING },
	{ "the block does not have it", "a_start\na_end\nk 1\n", "a/k=1", NULL,
	  "f: k is not in the file, in a block a" MISSING },
	{ "a block with two IDs", "a_start\na_id 1\na_id 2\nk 5\na_end\n", "a:1/k=6 a:2/k=7", NULL,
	  "f: k: there is no block a with the ID 1" MISSING
	  "f: k: there is no block a with the ID 2" MISSING },
	{ "in comments only", "x: 1\n  #percent: 5\n", "percent=6", NULL,
	  "f:2:4: percent is in a comment only, which is not changed: add the line to the file "
	  "yourself\n" },
	{ "twice", "min: 1\nmin: 2\n", "min=3", NULL,
	  "f:1:6: min is also in line 2, column 6: name its block, such as algo:1/min, or change "
	  "the file yourself\n" },
	{ "three times, in other cases, once as a value", "MIN: 1\nmin: 2\nuse: min\n", "min=3",
	  NULL,
	  "f:1:6: min is also in line 2, column 6, and in further places: name its block, such as "
	  "algo:1/min, or change the file yourself\n" },
	{ "twice in a list", IMPORT(ALGO("1", "parameters: (A,1),(A,2)")), "A=3", NULL,
	  "f:5:20: A is also in line 5, column 26: name its block, such as algo:1/A, or change the "
	  "file yourself\n" },
	{ "numbers that are none",
	  "a: 10KB\nb: 0x10\nc: 010\nd: -5\ne: 1.5\nf: \"5\"\ng:\nh: 1 2\ni: 18446744073709551616\n"
	  "j: 5#x\n",
	  "a=1 b=1 c=1 d=1 e=1 f=1 g=1 h=1 i=1 j=1", NULL,
	  "f:1:4: a: its value \"10KB\" " NO_NUMBER "f:2:4: b: its value \"0x10\" " NO_NUMBER
	  "f:3:4: c: its value \"010\" " NO_NUMBER "f:4:4: d: its value \"-5\" " NO_NUMBER
	  "f:5:4: e: its value \"1.5\" " NO_NUMBER "f:6:4: f: its value \"\"5\"\" " NO_NUMBER
	  "f:7:1: g: its value \"\" " NO_NUMBER
	  "f:8:4: h: its value \"1\", with what follows it, " NO_NUMBER
	  "f:9:4: i: its value \"18446744073709551616\" " NO_NUMBER
	  "f:10:4: j: its value \"5#x\" " NO_NUMBER },
	{ "a carriage return within a line", "percent: 5\r6\n", "percent=7", NULL,
	  "f:1:10: percent: its value \"5\", with what follows it, " NO_NUMBER },
	{ "out of the field",
	  "rpg_gd 1\nrpg_min_dec_fac 50\npercent 5\ndce_tcp_g 9\naqs_time 1\nprofile3_max 7\n"
	  "other 1\n",
	  "rpg_gd=16 rpg_min_dec_fac=0 percent=101 dce_tcp_g=1024 aqs_time=25 profile3_max=1048576 "
	  "other=4294967296",
	  NULL,
	  "f:1:8: rpg_gd: got 16, want a number in 0..15, which is what the device's field takes\n"
	  "f:2:17: rpg_min_dec_fac: got 0, want a number in 1..100, which is what the device's "
	  "field takes\n"
	  "f:3:9: percent: got 101, want a number in 0..100, which is what the device's field "
	  "takes\n"
	  "f:4:11: dce_tcp_g: got 1024, want a number in 1..1023, which is what the device's field "
	  "takes\n"
	  "f:5:10: aqs_time: got 25, want a number in 0..24, which is what the device's field "
	  "takes\n"
	  "f:6:14: profile3_max: got 1048576, want a number in 0..1048575, which is what the "
	  "device's field takes\n"
	  "f:7:7: other: got 4294967296, want a number in 0..4294967295, which is what the "
	  "device's "
	  "field takes\n" },
	{ "min beyond max", "a_start\nmin: 10\nmax: 20\na_end\nmax: 99\n", "min=21", NULL,
	  "f:2:6: min: got 21, which is greater than the max of 20 in line 3\n" },
	{ "max below the new min", "low_min: 10\nlow_max: 20\n", "low_min=16 low_max=15", NULL,
	  "f:1:10: low_min: got 16, which is greater than the low_max of 15 in line 2\n" },
	{ "a number twice", IMPORT(ALGO("1", "parameters: (A,1)")), "A=2 algo/A=3", NULL,
	  "f:5:20: A is to become 2 and 3: name each number once\n" },
	{ "what names something", IMPORT(ALGO("1", "parameters: (A,1)")), "algo_id=2", NULL,
	  "f:3:13: algo_id names something, so it is no setting: change the file yourself\n" },
	{ "a list out of its block", "algo_start\nparameters: (A,1)\nalgo_end\n", "A=2", NULL,
	  "f:2:14: A " NO_LIST },
	{ "lists that cannot be read",
	  IMPORT(ALGO("1", "parameters: (A,1") ALGO("2", "parameters: (B,1,2)")
			 ALGO("3", "parameters: (C,1),") ALGO("4", "parameters: (D,1)(E,2)")),
	  "A=2 B=2 C=2 E=2", NULL,
	  "f:5:18: A " NO_LIST "f:10:18: B " NO_LIST "f:15:18: C " NO_LIST "f:20:23: E " NO_LIST },
	{ "a list on two lines", IMPORT(ALGO("1", "parameters: (A,1)\n (B,2)")), "B=3", NULL,
	  "f:6:3: B " NO_LINE },
	{ "a list without a number", IMPORT(ALGO("1", "parameters: (A,x1)")), "A=3", NULL,
	  "f:5:20: A: its value \"x1\" " NO_NUMBER },
	{ "keys in one line", "profile low: min 5, max 9\n", "min=6", NULL,
	  "f:1:14: min " NO_LINE },
	{ "the key alone", "percent\n", "percent=6", NULL, "f:1:1: percent " NO_LINE },
	{ "a block that does not end", "a_start\nb_start\nk 1\nb_end\n", "k=2", NULL,
	  "f:1:1: the block a does not end" REFUSED },
	{ "an end without a beginning", "k 1\na_end\n", "k=2", NULL,
	  "f:2:1: this ends a block a that has not begun" REFUSED },
	{ "commands to a terminal", "a\xc2\x9b\x33\x31m_end\n", "k=2", NULL,
	  "f:1:1: this ends a block a??31m that has not begun" REFUSED },
	{ "no UTF-8", "k: \xff\x9b\n", "k=2", NULL, "f:1:4: k: its value \"??\" " NO_NUMBER },
	{ "blocks across each other", "a_start\n b_start\n a_end\nb_end\nk 1\n", "k=2", NULL,
	  "f:3:2: this ends a block a, but the block b of line 2 has not ended" REFUSED },
	{ "borders in another form", "profile_start low\nk 1\nprofile_end\n", "k=2", NULL,
	  "f:1:1: profile_start may be the border of a block in a form that this program does not "
	  "know" REFUSED },
};

static size_t read_changes(const char *text, struct ibcc_policy_change *c)
{
	char copy[256], *save = NULL;
	struct ibcc_why why = { "" };
	size_t n = 0;

	snprintf(copy, sizeof(copy), "%s", text);
	for (char *arg = strtok_r(copy, " ", &save); arg; arg = strtok_r(NULL, " ", &save))
		assert_int_equal(ibcc_policy_read_change(arg, &c[n++], &why), 0);
	return n;
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ibcc_policy_change c[16];
		struct ibcc_yaml_errors e = { 0 };
		size_t n = read_changes(cases[i].changes, c), len;
		char *out;
		int rc = ibcc_policy_patch("f", cases[i].text, strlen(cases[i].text), c, n, &out,
					   &len, &e);

		print_message("%s\n", cases[i].what);
		assert_int_equal(rc, cases[i].error ? -EINVAL : 0);
		if (cases[i].error) {
			assert_string_equal(e.text, cases[i].error);
			assert_null(out);
		} else {
			assert_int_equal(e.n, 0);
			assert_int_equal(len, strlen(cases[i].want));
			assert_string_equal(out, cases[i].want);
		}
		ibcc_yaml_errors_fini(&e);
		free(out);
	}
}

static void test_binary(void **state)
{
	static const char text[] = "a 1\n\0b 2\n";
	struct ibcc_policy_change c;
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_why why;
	size_t len;
	char *out, *huge;

	(void)state;
	assert_int_equal(ibcc_policy_read_change("a=2", &c, &why), 0);
	assert_int_equal(ibcc_policy_patch("f", text, sizeof(text) - 1, &c, 1, &out, &len, &e),
			 -EINVAL);
	assert_string_equal(e.text, "f: this is no text in ASCII or UTF-8: it has a byte 0\n");
	assert_null(out);
	ibcc_yaml_errors_fini(&e);

	huge = malloc(IBCC_POLICY_BYTES_MAX + 1);
	assert_non_null(huge);
	memset(huge, '\n', IBCC_POLICY_BYTES_MAX + 1);
	memcpy(huge, "a 1", 3);
	assert_int_equal(
		ibcc_policy_patch("f", huge, IBCC_POLICY_BYTES_MAX + 1, &c, 1, &out, &len, &e),
		-EINVAL);
	assert_string_equal(e.text, "f: a policy file of more than 1048576 bytes is not read\n");
	ibcc_yaml_errors_fini(&e);
	assert_int_equal(ibcc_policy_patch("f", huge, IBCC_POLICY_BYTES_MAX, &c, 1, &out, &len, &e),
			 0);
	assert_int_equal(len, IBCC_POLICY_BYTES_MAX);
	assert_memory_equal(out, "a 2\n", 4);
	free(out);
	free(huge);
}

/* What is reported of a number that was found. */
static void test_report(void **state)
{
	static const char text[] = "rpg_gd 11\nfoo 7\n" IMPORT(ALGO("1", "parameters: (AI,36)"));
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_policy_change c[3];
	size_t len;
	char *out;

	(void)state;
	read_changes("AI=4 foo=5 rpg_gd=6", c);
	assert_int_equal(ibcc_policy_patch("f", text, strlen(text), c, 3, &out, &len, &e), 0);
	assert_int_equal(c[0].old, 36);
	assert_int_equal(c[0].line, 7);
	assert_int_equal(c[0].col, 21);
	assert_int_equal(c[0].range, IBCC_POLICY_RANGE_ALGORITHM);
	assert_int_equal(c[1].old, 7);
	assert_int_equal(c[1].range, IBCC_POLICY_RANGE_UNKNOWN);
	assert_int_equal(c[2].old, 11);
	assert_int_equal(c[2].col, 8);
	assert_int_equal(c[2].range, IBCC_POLICY_RANGE_FIELD);
	free(out);
}

static void test_arguments(void **state)
{
	static const char *const bad[] = {
		"",
		"AI",
		"=5",
		"AI=",
		"AI=x",
		"AI=-1",
		"AI=0x5",
		"AI=5 ",
		"AI=05",
		"algo:/AI=5",
		"/AI=5",
		"algo/=5",
		"algo:1/=5",
		"AI=18446744073709551616",
		"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa=1",
	};
	struct ibcc_policy_change c;
	struct ibcc_why why;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		why.text[0] = '\0';
		assert_int_equal(ibcc_policy_read_change(bad[i], &c, &why), -EINVAL);
		assert_true(why.text[0]);
	}
	assert_int_equal(ibcc_policy_read_change("algo:1/MAX_DEC=0", &c, &why), 0);
	assert_string_equal(c.block, "algo");
	assert_string_equal(c.id, "1");
	assert_string_equal(c.key, "MAX_DEC");
	assert_int_equal(c.value, 0);
	assert_int_equal(ibcc_policy_read_change("x=18446744073709551615", &c, &why), 0);
	assert_true(c.value == UINT64_MAX);
}

/* Each field of an adapter's parameters is known by its name, with no more room than the MAD has.
 */
static void test_fields(void **state)
{
	static const uint16_t attributes[] = { IBCC_VCC_ATTR_CA_RP, IBCC_VCC_ATTR_CA_NP,
					       IBCC_VCC_ATTR_SW_PROFILE };

	(void)state;
	for (size_t a = 0; a < 3; a++) {
		unsigned int n;
		const struct ibcc_vcc_field *f = ibcc_vcc_fields(attributes[a], &n);

		for (unsigned int i = 0; i < n; i++) {
			struct ibcc_yaml_errors e = { 0 };
			struct ibcc_policy_change c;
			char text[64], arg[96], *out;
			size_t len;

			snprintf(text, sizeof(text), "%s: 1\n", f[i].name);
			snprintf(arg, sizeof(arg), "%s=%llu", f[i].name, 1ull << f[i].bits);
			assert_int_equal(ibcc_policy_read_change(arg, &c, NULL), 0);
			assert_int_equal(
				ibcc_policy_patch("f", text, strlen(text), &c, 1, &out, &len, &e),
				-EINVAL);
			assert_int_equal(c.range, IBCC_POLICY_RANGE_FIELD);
			ibcc_yaml_errors_fini(&e);
		}
	}
}

/* What can be compared with devices. */
static void test_numbers(void **state)
{
	static const char text[] = "rpg_ai_rate: 5\nRPG_GD 11\nmode 1\n# rpg_threshold: 3\n"
				   "profile2_max: 400\nrpg_hai_rate: 1 2\nother 7\n"
				   "rpg_min_rate: 1\nrpg_min_rate: 2\ncnp_sl=6\n";
	struct ibcc_policy_number number[IBCC_POLICY_NUMBERS_MAX];
	struct ibcc_yaml_errors e = { 0 };
	size_t n;

	(void)state;
	assert_int_equal(ibcc_policy_numbers("f", text, strlen(text), number, &n, &e), 0);
	assert_int_equal(n, 6);
	assert_string_equal(number[0].key, "rpg_ai_rate");
	assert_string_equal(number[0].attribute, "HCARPParameters");
	assert_true(number[0].is_known);
	assert_int_equal(number[0].value, 5);
	assert_int_equal(number[0].line, 1);
	assert_string_equal(number[1].key, "rpg_hai_rate");
	assert_false(number[1].is_known);
	assert_string_equal(number[2].key, "rpg_gd");
	assert_int_equal(number[2].value, 11);
	assert_string_equal(number[3].key, "rpg_min_rate");
	assert_false(number[3].is_known);
	assert_string_equal(number[4].key, "cnp_sl");
	assert_string_equal(number[4].attribute, "HCANPParameters");
	assert_int_equal(number[4].value, 6);
	assert_string_equal(number[5].key, "profile2_max");
	assert_string_equal(number[5].attribute, "PortProfileSettings");
	assert_int_equal(number[5].value, 400);
	assert_int_equal(ibcc_policy_numbers("f", "a_end\n", 6, number, &n, &e), -EINVAL);
	assert_int_equal(n, 0);
	assert_int_equal(e.n, 1);
	ibcc_yaml_errors_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),  cmocka_unit_test(test_binary),
		cmocka_unit_test(test_report), cmocka_unit_test(test_arguments),
		cmocka_unit_test(test_fields), cmocka_unit_test(test_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
