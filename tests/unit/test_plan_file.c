/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans to JSON and back, and what is no plan. */
#include <stdlib.h>

#include "fabrics.h"

#include "plans.h"

#include <ibcc/json.h>
#include <ibcc/plan_file.h>

static void test_there_and_back(void **state)
{
	struct ibcc_plan p = { 0 }, q;
	struct ibcc_why why = { "" };
	json_t *list;

	(void)state;
	plan_add(&p, 0xa000000000000001u, IBCC_CC_ATTR_CA_SETTING, 0, 3, 255);
	plan_add(&p, 2, IBCC_CC_ATTR_CCT, 0xfffffffeu, 1, 0);
	p.change[0].port = 255;
	p.change[1].port_block = 48;
	p.change[1].new_data[IBCC_CC_DATA_BYTES - 1] = 0x9a;
	list = ibcc_json_unfold(ibcc_plan_file_writes(&p));
	assert_non_null(list);
	assert_int_equal(ibcc_plan_file_read(list, &q, &why), 0);
	assert_int_equal(q.n, p.n);
	for (uint32_t i = 0; i < p.n; i++) {
		p.change[i].lid = 0; /* is looked up anew */
		assert_int_equal(q.change[i].node_guid, p.change[i].node_guid);
		assert_int_equal(q.change[i].lid, 0);
		assert_int_equal(q.change[i].port, p.change[i].port);
		assert_int_equal(q.change[i].attr_id, p.change[i].attr_id);
		assert_int_equal(q.change[i].attr_mod, p.change[i].attr_mod);
		assert_int_equal(q.change[i].port_block, p.change[i].port_block);
		assert_memory_equal(q.change[i].old_data, p.change[i].old_data, IBCC_CC_DATA_BYTES);
		assert_memory_equal(q.change[i].new_data, p.change[i].new_data, IBCC_CC_DATA_BYTES);
		assert_string_equal(q.change[i].reason, p.change[i].reason);
	}
	ibcc_plan_fini(&q);
	ibcc_plan_fini(&p);
	json_decref(list);
}

static void refused(const json_t *list, const char *word)
{
	struct ibcc_plan q;
	struct ibcc_why why = { "" };

	assert_int_equal(ibcc_plan_file_read(list, &q, &why), -EINVAL);
	assert_int_equal(q.n, 0);
	if (!strstr(why.text, word))
		fail_msg("\"%s\" does not say \"%s\"", why.text, word);
}

/* Each key of the second write is spoilt in turn; the sentence says where. */
static void test_spoilt(void **state)
{
	static const struct {
		const char *key, *value;
	} cases[] = {
		{ "node_guid", "\"0x12\"" },
		{ "node_guid", "\"0x00000000000000zz\"" },
		{ "node_guid", "7" },
		{ "port", "256" },
		{ "port", "-1" },
		{ "port", "\"1\"" },
		{ "attribute_id", "18" }, /* keys are not for plans */
		{ "attribute_id", "65536" },
		{ "attribute_modifier", "4294967296" },
		{ "attribute_modifier", "1.5" },
		{ "port_block", "null" },
		{ "old", "\"00\"" },
		{ "new", "12" },
		{ "reason", "[]" },
	};
	struct ibcc_plan p = { 0 };
	struct ibcc_why why = { "" };
	json_t *list;
	char want[64];

	(void)state;
	plan_add(&p, 1, IBCC_CC_ATTR_CA_SETTING, 0, 0, 1);
	plan_add(&p, 2, IBCC_CC_ATTR_CA_SETTING, 0, 0, 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		list = ibcc_json_unfold(ibcc_plan_file_writes(&p));
		json_object_set_new(json_array_get(list, 1), cases[i].key,
				    json_loads(cases[i].value, JSON_DECODE_ANY, NULL));
		snprintf(want, sizeof(want), "data[1].%s: ", cases[i].key);
		refused(list, want);
		json_object_del(json_array_get(list, 1), cases[i].key);
		refused(list, want);
		json_decref(list);
	}
	refused(NULL, "data: ");
	ibcc_plan_fini(&p);
	list = json_array();
	assert_int_equal(ibcc_plan_file_read(list, &p, &why), 0);
	json_decref(list);
	assert_int_equal(p.n, 0);
}

/* One digit of another kind among 384. */
static void test_digits(void **state)
{
	struct ibcc_plan p = { 0 };
	json_t *list, *o;
	char text[2 * IBCC_CC_DATA_BYTES + 1];

	(void)state;
	plan_add(&p, 1, IBCC_CC_ATTR_CA_SETTING, 0, 0, 1);
	list = ibcc_json_unfold(ibcc_plan_file_writes(&p));
	o = json_array_get(list, 0);
	memset(text, '0', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	for (const char *c = "gA /:`"; *c; c++) {
		text[383] = *c;
		json_object_set_new(o, "new", json_string(text));
		refused(list, "data[0].new: ");
	}
	json_decref(list);
	ibcc_plan_fini(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_there_and_back),
		cmocka_unit_test(test_spoilt),
		cmocka_unit_test(test_digits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
