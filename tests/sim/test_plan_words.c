/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What ibcc-tune prints of a plan for 648 hosts: all of it in a screen or two, and the rest when
 * asked. */
#include "loop.h"

#include <fcntl.h>
#include <unistd.h>

#include "tests/unit/files.h"

#include "daemon/report/report.h"
#include "daemon/tune/changes.h"
#include "daemon/tune/roots.h"

#define LARGE   "perftest/scenarios/large.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)
#define PASSES  8u

static json_t *plan; /* the report of a dry run */

static int make_plan(void **state)
{
	struct loop l;

	if (files_setup(state))
		return -1;
	loop_start(&l, LARGE, PASS_PS, &loop_hardware, NULL);
	l.dry = true;
	loop_passes(&l, PASSES);
	plan = ibcc_json_unfold(ibcc_report_plan(&l.c, "test"));
	loop_end(&l);
	return plan ? 0 : -1;
}

static int drop_plan(void **state)
{
	json_decref(plan);
	return files_teardown(state);
}

static int old_stdout;

static void capture(void)
{
	int fd = open(files_path("out"), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	fflush(stdout);
	old_stdout = dup(STDOUT_FILENO);
	assert_true(old_stdout >= 0 && dup2(fd, STDOUT_FILENO) >= 0);
	close(fd);
}

/* What was printed, which is the test's until the next call; *lines of it. */
static const char *captured(unsigned int *lines)
{
	static char text[1 << 20];
	size_t n;
	FILE *f;

	fflush(stdout);
	assert_true(dup2(old_stdout, STDOUT_FILENO) >= 0);
	close(old_stdout);
	f = fopen(files_path("out"), "r");
	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	*lines = 0;
	for (const char *c = text; *c; c++)
		*lines += *c == '\n';
	return text;
}

static const json_t *list(const char *key)
{
	return json_object_get(plan, key);
}

static void test_short(void **state)
{
	unsigned int lines;
	const char *text;

	(void)state;
	assert_true(json_array_size(list("roots")) > 6);
	assert_true(json_array_size(list("changes")) > 2000);
	capture();
	tune_print_roots(list("roots"), NULL, list("prediction"));
	tune_print_groups(list("changes"), "Changes to make");
	text = captured(&lines);
	/* Ten of sixty are left for fabric, prediction, decision and totals. */
	assert_in_range(lines, 20, 50);
	assert_non_null(strstr(text, "CCTI_Timer"));
	assert_non_null(strstr(text, "Threshold"));
	assert_non_null(strstr(text, "(--full, --root N"));
}

/* The places of a group are all there, once: as many nodes as the plan changes tables of. */
static void test_places(void **state)
{
	char want[64];
	unsigned int lines;
	const char *last = "";
	unsigned int n = 0;
	const json_t *o;
	size_t i;

	(void)state;
	/* Each block of a table has its own. */
	json_array_foreach (list("changes"), i, o) {
		const char *guid = json_string_value(json_object_get(o, "node_guid"));

		if (strcmp(json_string_value(json_object_get(o, "field")), "CCTI_Limit"))
			continue;
		n += strcmp(guid, last) != 0;
		last = guid;
	}
	assert_true(n > 100);
	capture();
	tune_print_groups(list("changes"), "Changes to make");
	snprintf(want, sizeof(want), "%6u CCTI_Limit", n);
	if (!strstr(captured(&lines), want))
		fail_msg("no line \"%s\"", want);
}

/* Names choose among sources. */
static void test_node(void **state)
{
	unsigned int lines;
	const char *text, *at;

	(void)state;
	capture();
	tune_print_root(json_array_get(list("roots"), 0), 1, "h*1", list("prediction"));
	text = captured(&lines);
	assert_in_range(lines, 4, 200);
	/* Nothing was predicted: no column of nothing, and no spaces at the end. */
	assert_null(strstr(text, "EXPECTED"));
	assert_null(strstr(text, " \n"));
	at = strstr(text, "BECN\n");
	assert_non_null(at);
	/* "   1 suspect h21 0x... " */
	for (at = strchr(at, '\n'); at && at[1]; at = strchr(at + 1, '\n')) {
		char name[32] = "";

		assert_int_equal(sscanf(at + 1, "%*s %*s %31s", name), 1);
		assert_int_equal(name[strlen(name) - 1], '1');
	}
}

static json_t *change(const char *node, const char *field, const char *value)
{
	return json_pack("{ss ss si ss ss sn ss ss ss}", "node", node, "node_guid", node, "port", 1,
			 "attribute", "CongestionControlTable", "field", field, "sl", "old", "0",
			 "new", value, "reason", "because of 1");
}

/* By hand: equal values are one line; too many different ones become a range. */
static void test_values(void **state)
{
	json_t *changes = json_array();
	char node[16], value[16];
	unsigned int lines;
	const char *text;

	(void)state;
	for (int i = 0; i < 8; i++) {
		snprintf(node, sizeof(node), "n%d", i);
		json_array_append_new(changes, change(node, "CCTI_Limit", "40"));
	}
	capture();
	tune_print_groups(changes, "Changes");
	text = captured(&lines);
	assert_non_null(strstr(text, "Changes (+ set, ~ changed, - reset)\n"));
	assert_non_null(
		strstr(text, "\n+      8 CCTI_Limit 0   40  n0, n1, n2, n3, n4 and 3 more"));
	assert_non_null(strstr(text, "CCTI_Limit: because of 1"));
	assert_int_equal(lines, 7);
	for (int i = 0; i < 20; i++) {
		snprintf(node, sizeof(node), "m%d", i);
		snprintf(value, sizeof(value), "%d", 100 + i);
		json_array_append_new(changes, change(node, "CCTI_Limit", value));
	}
	capture();
	tune_print_groups(changes, "Changes");
	text = captured(&lines);
	assert_non_null(strstr(text, "28 CCTI_Limit 0   40 to 119 n0, n1, n2, n3, n4 and 23 more"));
	assert_int_equal(lines, 7);
	json_decref(changes);
}

/* What had no value is set, what has none in the end is reset, all else is changed. */
static void test_marks(void **state)
{
	static const struct {
		const char *field, *old, *new;
	} rows[] = {
		{ "CCTI_Limit", "40", "0" },
		{ "CCTI_Timer", "40", "41" },
		{ "Victim_Mask", "none", "1-4" },
		{ "Victim_Mask", "1-4", "none" },
		{ "CCT[1]", "0 packet times", "2 packet times" },
	};
	json_t *changes = json_array(), *o;
	unsigned int lines;
	const char *text;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		o = change("n1", rows[i].field, rows[i].new);
		json_object_set_new(o, "old", json_string(rows[i].old));
		json_array_append_new(changes, o);
	}
	capture();
	tune_print_groups(changes, "Changes");
	text = captured(&lines);
	assert_non_null(strstr(text, "\n-      1 CCTI_Limit "));
	assert_non_null(strstr(text, "\n~      1 CCTI_Timer "));
	assert_non_null(strstr(text, "\n+      1 Victim_Mask "));
	assert_non_null(strstr(text, "\n-      1 Victim_Mask "));
	assert_non_null(strstr(text, "\n+      1 CCT[1] "));
	/* Values as a range may be both. */
	for (int i = 0; i < 14; i++) {
		char value[16];

		snprintf(value, sizeof(value), "%d", 100 + i);
		o = change("n2", "CCTI_Increase", value);
		json_object_set_new(o, "old", json_string(i % 2 ? "0" : "7"));
		json_array_append_new(changes, o);
	}
	capture();
	tune_print_groups(changes, "Changes");
	text = captured(&lines);
	assert_non_null(strstr(text, "\n~      1 CCTI_Increase 0 to 7"));
	json_decref(changes);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_short), cmocka_unit_test(test_places),
		cmocka_unit_test(test_node),  cmocka_unit_test(test_values),
		cmocka_unit_test(test_marks),
	};

	return cmocka_run_group_tests(tests, make_plan, drop_plan);
}
