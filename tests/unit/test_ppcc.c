/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What mstreg and mlxreg print of the register PPCC. The table's form and the fields are those of
 * mstflint's source; each answer here is written out by them.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/ppcc.h>

static char text[65536];
static struct ibcc_ppcc p;

static void add(const char *s)
{
	strncat(text, s, sizeof(text) - strlen(text) - 1);
}

static void add_field(const char *name, unsigned long v)
{
	char line[80];

	snprintf(line, sizeof(line), "%-20s | 0x%08lx\n", name, v);
	add(line);
}

static void begin(unsigned int cmd, unsigned int slot, unsigned int index)
{
	add("Sending access register...\n\nField Name           | Data    \n"
	    "==================================\n");
	add_field("cmd_type", cmd);
	add_field("local_port", 1);
	add_field("algo_slot", slot);
	add_field("algo_param_index", index);
}

/* The text of an answer: its length, and four characters in each word. */
static void add_text(const char *s, size_t len)
{
	add_field("text_length", len);
	for (unsigned int i = 0; i < 55; i++) {
		char name[16];
		unsigned long v = 0;

		for (unsigned int b = 0; b < 4; b++)
			v = v << 8 | (4 * i + b < len ? (unsigned char)s[4 * i + b] : 0);
		snprintf(name, sizeof(name), "text[%u]", i);
		add_field(name, v);
	}
	add("==================================\n\n");
}

static void add_parameter(unsigned int slot, unsigned int index, const char *what)
{
	begin(0x5, slot, index);
	add_field("value", 0);
	add_field("param_value1", 36);
	add_field("param_value2", 1);
	add_field("param_value3", 0xffffffff);
	add_field("prm", 1);
	add_text(what, strlen(what));
}

static void test_read(void **state)
{
	const struct ibcc_ppcc_algorithm *s = &p.slot[2];
	struct ibcc_why why = { "" };

	(void)state;
	text[0] = '\0';
	begin(0x10, 0, 0);
	add_text("\0\0\0\0\0\0\0\0\0\x02\x01\x03", 12);
	begin(0x0, 2, 0);
	add_field("value", 2);
	add_text("ZTR_RTTCC, by round trip, and more", 34);
	begin(0x3, 2, 0);
	add_field("value", 1);
	add_text("", 0);
	add_parameter(2, 1, "AI,additive increase\n");
	begin(0xa, 2, 0);
	add_text("\0\0\0\x07\0\0\x01\0", 8);
	begin(0x6, 2, 3);
	add_field("value", 99);
	add_text("", 0);
	add("-E- Failed to send access register: Bad parameter\n");
	begin(0xc, 2, 0); /* counters are of no use */
	add_text("", 0);
	assert_int_equal(ibcc_ppcc_read(&p, "F", text, strlen(text), &why), 0);
	assert_int_equal(p.n_answers, 7);
	assert_false(p.slot[0].present);
	assert_true(s->present);
	assert_int_equal(s->id, 2);
	assert_int_equal(s->major, 1);
	assert_int_equal(s->minor, 3);
	assert_int_equal(s->enabled, 1);
	assert_int_equal(p.slot[1].enabled, -1);
	assert_string_equal(s->name, "ZTR_RTTCC");
	assert_string_equal(s->about, "by round trip, and more");
	assert_int_equal(s->n_parameters, 4);
	assert_string_equal(s->parameter[1].name, "AI");
	assert_string_equal(s->parameter[1].about, "additive increase ");
	assert_int_equal(s->parameter[1].initial, 36);
	assert_int_equal(s->parameter[1].min, 1);
	assert_int_equal(s->parameter[1].max, 0xffffffff);
	assert_int_equal(s->parameter[1].access, IBCC_PPCC_WRITE);
	assert_true(s->parameter[0].has_value);
	assert_int_equal(s->parameter[0].value, 7);
	assert_int_equal(s->parameter[1].value, 256);
	assert_false(s->parameter[2].has_value);
	assert_int_equal(s->parameter[3].value, 99);
}

/* What was asked stands above the table, as a command or as a collector's file name. It counts for
 * one table, whatever that has.
 */
static void test_asked(void **state)
{
	struct ibcc_why why = { "" };

	(void)state;
	text[0] = '\0';
	add("==> pcc/mstreg--reg_name_PPCC_--get_--op_cmd_type_0x6_--indexes_local_port_1_"
	    "algo_slot_4_algo_param_index_12 <==\n");
	begin(0, 0, 0);
	add_field("value", 5);
	add_text("", 0);
	add("# mstreg --get --op \"cmd_type=0x3\" --indexes \"local_port=1,algo_slot=9\"\n");
	begin(0, 0, 0);
	add_field("value", 0);
	add_text("", 0);
	begin(0, 1, 0);
	add_text("N", 1);
	assert_int_equal(ibcc_ppcc_read(&p, "F", text, strlen(text), &why), 0);
	assert_int_equal(p.slot[4].n_parameters, 13);
	assert_int_equal(p.slot[4].parameter[12].value, 5);
	assert_int_equal(p.slot[9].enabled, 0);
	assert_string_equal(p.slot[1].name, "N");
	assert_false(p.slot[0].present);
}

static void refused(const char *input, const char *want)
{
	struct ibcc_why why = { "" };

	assert_int_equal(ibcc_ppcc_read(&p, "F", input, strlen(input), &why), -EINVAL);
	assert_string_equal(why.text, want);
}

static void test_refused(void **state)
{
	(void)state;
	refused("", "F:1:1: got no table, want the output of \"mstreg --reg_name PPCC --get\", a "
		    "table under \"Field Name | Data\"");
	refused("a\nb | 0x1\n", "F:2:1: got no table, want the output of \"mstreg --reg_name PPCC "
				"--get\", a table under \"Field Name | Data\"");
	refused("Field Name | Data\n value | 0xg\x1b\n",
		"F:2:10: got \"0xg?\", want 0x and up to 8 hexadecimal digits");
	refused("Field Name | Data\nvalue | 0x123456789\n",
		"F:2:9: got \"0x123456789\", want 0x and up to 8 hexadecimal digits");
	refused("\nField Name | Data\nvalue | 0x1\n",
		"F:2:1: got a table without cmd_type, want the output of a Get of the register "
		"PPCC");
	refused("Field Name | Data\ncmd_type | 0x3\nalgo_slot | 0x0\n====\n",
		"F:1:1: got a table that ends too early, want value");
	refused("Field Name | Data\ncmd_type | 0x3\nalgo_slot | 0x10\nvalue | 0x1\n",
		"F:1:1: got an algo_slot that is too great, want at most 15");
	refused("Field Name | Data\ncmd_type | 0x6\nalgo_slot | 0\n",
		"F:3:13: got \"0\", want 0x and up to 8 hexadecimal digits");
	refused("Field Name | Data\ncmd_type | 0x6\nalgo_slot | 0x0\nalgo_param_index | 0x40\n"
		"value | 0x1\n",
		"F:1:1: got an algo_param_index that is too great, want at most 63");
	refused("cmd_type=0x5,algo_slot=0,algo_param_index=09\n",
		"F:1:43: got \"09\", want a number of 32 bits, such as 9 or 0x9");
	refused("cmd_type_0x5_algo_slot_4294967297\n",
		"F:1:24: got \"4294967297\", want a number of 32 bits, such as 9 or 0x9");
	refused("Field Name | Data\ntext[55] | 0x0\n",
		"F:2:1: got text[55], want at most text[54]");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_read),
		cmocka_unit_test(test_asked),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests_name("ppcc", tests, NULL, NULL);
}
