/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which settings are odd: those that more than half of the nodes of a type do not have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "daemon/tune/odd.h"
#include "daemon/tune/tune.h"

#define ADAPTER 0x101b
#define SWITCH  0xd2f2

/* Adds a node with these settings, a JSON object. */
static void add(json_t *show, unsigned int device, const char *settings)
{
	json_t *list = json_object_get(show, "nodes"), *o = json_loads(settings, 0, NULL);
	char name[16], id[16];

	assert_non_null(o);
	snprintf(name, sizeof(name), "n%zu", json_array_size(list));
	snprintf(id, sizeof(id), "0x%04x", device);
	json_object_update_new(o, json_pack("{ss ss si si ss ss ss sb}", "node_guid", name, "node",
					    name, "port", 1, "lid", (int)json_array_size(list) + 1,
					    "type", device == SWITCH ? "switch" : "ca", "vendor_id",
					    "0x0002c9", "device_id", id, "supported",
					    !json_object_get(o, "reason")));
	json_array_append_new(list, o);
}

static json_t *empty(void)
{
	return json_pack("{si s[]}", "schema", 1, "nodes");
}

static void assert_row(const json_t *odd, size_t i, const char *want)
{
	const json_t *r = json_array_get(json_object_get(odd, "odd"), i);
	char text[256];

	snprintf(text, sizeof(text), "%s %s[%s] %s, not %s (%lld of %lld)", tune_str(r, "node"),
		 tune_str(r, "field"), tune_str(r, "index"), tune_str(r, "value"),
		 tune_str(r, "usual"), tune_int(r, "with"), tune_int(r, "alike"));
	assert_string_equal(text, want);
}

static void assert_sizes(const json_t *odd, size_t rows, json_int_t more, size_t undecided)
{
	assert_int_equal(json_array_size(json_object_get(odd, "odd")), rows);
	assert_int_equal(tune_int(odd, "more"), more);
	assert_int_equal(json_array_size(json_object_get(odd, "undecided")), undecided);
}

/* Names, LIDs and device types may differ, and a node alone has nothing to differ from. */
static void test_nothing(void **state)
{
	json_t *show = empty(), *odd = tune_odd(show);

	(void)state;
	assert_sizes(odd, 0, 0, 0);
	json_decref(odd);
	for (int i = 0; i < 3; i++)
		add(show, ADAPTER, "{\"A\": {\"x\": 1}}");
	add(show, SWITCH, "{\"A\": {\"x\": 2}}");
	odd = tune_odd(show);
	assert_sizes(odd, 0, 0, 0);
	assert_int_equal(tune_int(odd, "nodes"), 4);
	assert_int_equal(tune_int(odd, "types"), 2);
	assert_int_equal(tune_int(odd, "alone"), 1);
	json_decref(odd);
	json_decref(show);
}

/* Another value, none, and one that only this node has; SLs and entries in one row. */
static void test_fields(void **state)
{
	static const char usual[] =
		"{\"A\": {\"x\": 1, \"mask\": [1, 2], \"sls\": [{\"sl\": 0, \"t\": 5}, {\"sl\": 1, "
		"\"t\": 5}, {\"sl\": 2, \"t\": 5}, {\"sl\": 3, \"t\": 5}]}}";
	json_t *show = empty(), *odd;

	(void)state;
	add(show, ADAPTER,
	    "{\"A\": {\"x\": 1, \"mask\": [1], \"sls\": [{\"sl\": 0, \"t\": 9}, {\"sl\": 1, \"t\": "
	    "9}, {\"sl\": 2, \"t\": 5}, {\"sl\": 3, \"t\": 9}]}}");
	for (int i = 0; i < 3; i++)
		add(show, ADAPTER, usual);
	add(show, ADAPTER, "{\"A\": {\"mask\": [1, 2], \"y\": 7}}");
	odd = tune_odd(show);
	assert_sizes(odd, 5, 0, 0);
	assert_row(odd, 0, "n0 A.mask[] [1], not [1,2] (4 of 5)");
	assert_row(odd, 1, "n0 A.sls.t[0-1,3] 9, not 5 (3 of 5)");
	assert_row(odd, 2, "n4 A.x[] none, not 1 (4 of 5)");
	assert_row(odd, 3, "n4 A.sls.t[0-3] none, not 5 (3 of 5)");
	assert_row(odd, 4, "n4 A.y[] 7, not none (4 of 5)");
	json_decref(odd);
	json_decref(show);
}

/* Ports of switches by their numbers: most have no settings of their own. */
static void test_ports(void **state)
{
	json_t *show = empty(), *odd;

	(void)state;
	for (int i = 0; i < 3; i++)
		add(show, SWITCH, "{\"SwitchPortCongestionSetting\": []}");
	add(show, SWITCH,
	    "{\"SwitchPortCongestionSetting\": [{\"port\": 7, \"Threshold\": 8}, {\"port\": 8, "
	    "\"Threshold\": 8}]}");
	odd = tune_odd(show);
	assert_sizes(odd, 1, 0, 0);
	assert_row(odd, 0, "n3 SwitchPortCongestionSetting.Threshold[7-8] 8, not none (3 of 4)");
	json_decref(odd);
	json_decref(show);
}

/* A node without settings has one row, and the others are compared among themselves. */
static void test_unread(void **state)
{
	json_t *show = empty(), *odd;

	(void)state;
	add(show, ADAPTER, "{\"A\": {\"x\": 1}}");
	add(show, ADAPTER, "{\"A\": {\"x\": 1}}");
	add(show, ADAPTER, "{\"reason\": \"does not answer\"}");
	odd = tune_odd(show);
	assert_sizes(odd, 1, 0, 0);
	assert_row(odd, 0, "n2 settings[] does not answer, not are read (2 of 3)");
	json_decref(odd);
	json_decref(show);
}

/* NVIDIA's parameters count also where no settings of the annex are read; ports of switches are
 * compared with those that lead to the same kind of node.
 */
static void test_nvidia(void **state)
{
	static const char on[] = "{\"reason\": \"has it on\", \"nvidia\": {\"control\": \"on\", "
				 "\"RP\": {\"ai\": %d}}}";
	static const char ports[] =
		"{\"reason\": \"has it on\", \"nvidia\": {\"control\": \"on\"}, \"nvidia_ports\": "
		"[{\"port\": 1, \"peer\": \"ca\", \"P\": {\"max\": 400}}, {\"port\": 2, \"peer\": "
		"\"ca\", \"P\": {\"max\": %d}}, {\"port\": 3, \"peer\": \"switch\", \"P\": "
		"{\"max\": "
		"900}}]}";
	json_t *show = empty(), *odd;
	char text[400];

	(void)state;
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), on, i ? 5 : 40);
		add(show, ADAPTER, text);
	}
	add(show, ADAPTER, "{\"reason\": \"has it on\"}");
	for (int i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), ports, i ? 100 : 400);
		add(show, SWITCH, text);
	}
	odd = tune_odd(show);
	assert_sizes(odd, 3, 0, 0);
	assert_row(odd, 0, "n0 nvidia.RP.ai[] 40, not 5 (2 of 3)");
	assert_row(odd, 1, "n3 nvidia.control[] none, not on (3 of 4)");
	assert_row(odd, 2, "n5 nvidia.P.max[] 100, not 400 (3 of 4)");
	assert_int_equal(tune_int(json_array_get(json_object_get(odd, "odd"), 2), "port"), 2);
	assert_int_equal(tune_int(odd, "nodes"), 6);
	assert_int_equal(tune_int(odd, "types"), 2);
	assert_int_equal(tune_int(odd, "alone"), 0);
	json_decref(odd);
	json_decref(show);
}

/* Nodes that do not answer share a row, and are not compared in what they have not answered. */
static void test_silent(void **state)
{
	static const char reads[] = "{\"reason\": \"on\", \"nvidia\": {\"control\": \"on\", %s}}";
	static const char *const has[] = {
		"\"RP\": {\"ai\": 5, \"gd\": 1}, \"NP\": {\"t\": 4}",
		"\"NP\": {\"t\": 4}",
		"\"RP\": {\"ai\": 40, \"gd\": 1}",
	};
	static const char silent[] =
		"{\"reason\": \"does not answer\", \"nvidia\": {\"control\": \"does not answer\"}}";
	static const unsigned int n[] = { 150, 2, 1, 140 };
	json_t *show = empty(), *odd, *rows;
	char text[200];

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		if (i < 3)
			snprintf(text, sizeof(text), reads, has[i]);
		for (unsigned int k = 0; k < n[i]; k++)
			add(show, ADAPTER, i < 3 ? text : silent);
	}
	json_object_set_new(show, "nvidia_unread", json_pack("[{ss}]", "attribute", "RP"));
	odd = tune_odd(show);
	assert_sizes(odd, 3, 0, 0);
	rows = json_object_get(odd, "odd");
	assert_row(odd, 0, "n152 nvidia.RP.ai[] 40, not 5 (150 of 151)");
	assert_int_equal(tune_int(json_array_get(rows, 0), "nodes"), 1);
	assert_row(odd, 1, "n153 settings[] does not answer, not on (153 of 293)");
	assert_int_equal(tune_int(json_array_get(rows, 1), "nodes"), 140);
	assert_row(odd, 2, "n153 nvidia.control[] does not answer, not on (153 of 293)");
	assert_int_equal(tune_int(json_array_get(rows, 2), "nodes"), 140);
	assert_int_equal(json_array_size(json_object_get(odd, "nvidia_unread")), 1);
	json_decref(odd);
	json_decref(show);
}

/* A list of indexes that is too long says how many more there are; they are in ascending order. */
static void test_indexes(void **state)
{
	json_t *show = empty(), *odd, *o, *sls;

	(void)state;
	for (int node = 0; node < 3; node++) {
		add(show, ADAPTER, "{\"A\": {\"sls\": []}}");
		o = json_array_get(json_object_get(show, "nodes"), (size_t)node);
		sls = json_object_get(json_object_get(o, "A"), "sls");
		for (int i = 0; i < 300; i++)
			json_array_append_new(
				sls, json_pack("{si}", "t", node || (i > 1 && i % 3) ? 5 : 9));
	}
	odd = tune_odd(show);
	assert_sizes(odd, 1, 0, 0);
	assert_row(odd, 0,
		   "n0 A.sls.t[0-1,3,6,9,12,15,18,21,24,27,30,33,36,39,42,45 and 84 more] 9, not 5 "
		   "(2 of 3)");
	json_decref(odd);
	json_decref(show);
}

/* The first node lacks what the others have: its own fields come first. */
static void test_order(void **state)
{
	json_t *show = empty(), *odd;

	(void)state;
	add(show, SWITCH, "{\"P\": [{\"port\": 7, \"x\": 1}]}");
	for (int i = 0; i < 2; i++)
		add(show, SWITCH,
		    "{\"P\": [{\"port\": 2, \"x\": 1}, {\"port\": 3, \"x\": 1}, {\"port\": 7, "
		    "\"x\": "
		    "1}]}");
	add(show, SWITCH,
	    "{\"P\": [{\"port\": 2, \"x\": 4}, {\"port\": 3, \"x\": 4}, {\"port\": 7, \"x\": 4}]}");
	add(show, SWITCH,
	    "{\"P\": [{\"port\": 2, \"x\": 1}, {\"port\": 3, \"x\": 1}, {\"port\": 7, \"x\": 1}]}");
	odd = tune_odd(show);
	assert_sizes(odd, 2, 0, 0);
	assert_row(odd, 0, "n0 P.x[2-3] none, not 1 (3 of 5)");
	assert_row(odd, 1, "n3 P.x[2-3,7] 4, not 1 (3 of 5)");
	json_decref(odd);
	json_decref(show);
}

/* Half is no majority: no node is odd, and the values are named. */
static void test_undecided(void **state)
{
	json_t *show = empty(), *odd, *o;

	(void)state;
	for (int i = 0; i < 4; i++)
		add(show, ADAPTER, i % 2 ? "{\"A\": {\"x\": 1}}" : "{\"A\": {\"x\": 2}}");
	odd = tune_odd(show);
	assert_sizes(odd, 0, 0, 1);
	o = json_array_get(json_object_get(odd, "undecided"), 0);
	assert_string_equal(tune_str(o, "field"), "A.x");
	assert_int_equal(tune_int(json_object_get(o, "values"), "1"), 2);
	assert_int_equal(tune_int(json_object_get(o, "values"), "2"), 2);
	assert_int_equal(tune_int(o, "values_left_out"), 0);
	json_decref(odd);
	json_decref(show);
}

/* Of many values the most frequent 64 are listed. */
static void test_many_values(void **state)
{
	json_t *show = empty(), *odd, *o, *values;
	char text[32];

	(void)state;
	for (int i = 0; i < 300; i++) {
		snprintf(text, sizeof(text), "{\"A\": {\"x\": %d}}", i < 290 ? i : 1000);
		add(show, ADAPTER, text);
	}
	odd = tune_odd(show);
	assert_sizes(odd, 0, 0, 1);
	o = json_array_get(json_object_get(odd, "undecided"), 0);
	values = json_object_get(o, "values");
	assert_int_equal(json_object_size(values), 64);
	assert_int_equal(tune_int(values, "1000"), 10);
	assert_int_equal(tune_int(values, "62"), 1);
	assert_int_equal(tune_int(o, "values_left_out"), 291 - 64);
	json_decref(odd);
	json_decref(show);
}

static void test_bounded(void **state)
{
	json_t *show = empty(), *odd;
	char text[32];

	(void)state;
	for (int i = 0; i < 401; i++) {
		snprintf(text, sizeof(text), "{\"A\": {\"x\": %d}}", i < 150 ? i : 1000);
		add(show, ADAPTER, text);
	}
	odd = tune_odd(show);
	assert_sizes(odd, 100, 50, 0);
	assert_row(odd, 99, "n99 A.x[] 99, not 1000 (251 of 401)");
	json_decref(odd);
	json_decref(show);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_nothing),     cmocka_unit_test(test_fields),
		cmocka_unit_test(test_ports),       cmocka_unit_test(test_unread),
		cmocka_unit_test(test_nvidia),      cmocka_unit_test(test_undecided),
		cmocka_unit_test(test_bounded),     cmocka_unit_test(test_silent),
		cmocka_unit_test(test_indexes),     cmocka_unit_test(test_order),
		cmocka_unit_test(test_many_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
