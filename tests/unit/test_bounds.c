/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What no plan may go beyond, and how many Sets a node may have. */
#include "fabrics.h"

#include <string.h>

#include <ibcc/bounds.h>

#define SECOND 1000000000ull

struct fixture {
	struct ibcc_bounds b;
	struct ibcc_plan plan;
	struct ibcc_why why;
};

static struct fixture setup(void)
{
	struct fixture x = { .b = IBCC_BOUNDS_DEFAULT };

	return x;
}

/* A plan of an adapter's setting and a table with delays 0, 1, 2 ... packet times up to `limit`. */
static void plan_ca(struct fixture *x, uint64_t guid, uint16_t limit, uint8_t min, uint16_t timer)
{
	struct ibcc_endport_cc ep = { .cct.limit = limit };
	struct ibcc_change c = { .node_guid = guid, .port = 1, .lid = 7 };

	for (unsigned int i = 0; i <= limit; i++)
		ep.cct.entry[i] = ibcc_cct_entry_encode(1000 * i);
	ep.ca.sl[7].CCTI_Min = min;
	ep.ca.sl[2].CCTI_Timer = timer;
	c.attr_id = IBCC_CC_ATTR_CA_SETTING;
	assert_true(ibcc_settings_pack(&ep, c.attr_id, 0, c.new_data));
	assert_int_equal(ibcc_plan_append(&x->plan, &c), 0);
	c.attr_id = IBCC_CC_ATTR_CCT;
	for (c.attr_mod = 0; c.attr_mod < ibcc_cct_blocks(limit); c.attr_mod++) {
		assert_true(ibcc_settings_pack(&ep, c.attr_id, c.attr_mod, c.new_data));
		assert_int_equal(ibcc_plan_append(&x->plan, &c), 0);
	}
}

static uint32_t check(struct fixture *x)
{
	x->why.text[0] = '\0';
	return ibcc_bounds_check(&x->b, NULL, NULL, &x->plan, NULL, &x->why);
}

static void assert_bad(struct fixture *x, uint32_t n, const char *word)
{
	assert_int_equal(check(x), n);
	if (!strstr(x->why.text, word))
		fail_msg("%s", x->why.text);
	ibcc_plan_fini(&x->plan);
}

/* Sets an entry of a block as it is in the plan: change 1 is block 0, 2 is block 1. */
static void set_entry(struct fixture *x, uint32_t change, unsigned int i, uint32_t delay_milli)
{
	uint16_t e = ibcc_cct_entry_encode(delay_milli);

	x->plan.change[change].new_data[4 + 2 * i] = (uint8_t)(e >> 8);
	x->plan.change[change].new_data[5 + 2 * i] = (uint8_t)e;
}

static void test_good(void **state)
{
	struct fixture x = setup();

	(void)state;
	plan_ca(&x, 1, 127, 127, UINT16_MAX);
	plan_ca(&x, 2, 0, 0, 0);
	assert_int_equal(check(&x), 0);
	/* Entries behind the end do not count. */
	plan_ca(&x, 3, 30, 30, 1);
	set_entry(&x, x.plan.n - 1, 31, 20000);
	set_entry(&x, x.plan.n - 1, 32, 0);
	assert_int_equal(check(&x), 0);
	/* Nor do those that were never set, where a node tells no other end. */
	plan_ca(&x, 4, 127, 0, 1);
	for (unsigned int i = 40; i < 64; i++)
		set_entry(&x, x.plan.n - 2, i, 0);
	memset(x.plan.change[x.plan.n - 1].new_data + 4, 0, 128);
	assert_int_equal(check(&x), 0);
	assert_string_equal(x.why.text, "");
	ibcc_plan_fini(&x.plan);
}

static void test_tables(void **state)
{
	struct fixture x = setup();

	(void)state;
	plan_ca(&x, 1, 127, 0, 1);
	set_entry(&x, 1, 20, 0);
	assert_bad(&x, 1, "fall");
	plan_ca(&x, 1, 127, 0, 1);
	memset(x.plan.change[2].new_data + 4, 0, 126); /* all but the last */
	assert_bad(&x, 1, "fall");
	/* From one block to the next. */
	plan_ca(&x, 1, 127, 0, 1);
	set_entry(&x, 2, 0, 1000);
	assert_bad(&x, 1, "fall");
	plan_ca(&x, 1, 127, 0, 1);
	set_entry(&x, 1, 0, 125);
	assert_bad(&x, 1, "index 0");
	x.b.max_delay = 126;
	plan_ca(&x, 1, 127, 0, 1);
	assert_bad(&x, 1, "delay longer");
	plan_ca(&x, 1, 63, 0, 1);
	x.plan.change[1].new_data[0] = 1; /* CCTI_Limit 319 */
	assert_bad(&x, 1, "beyond 255");
}

static void test_settings(void **state)
{
	struct fixture x = setup();
	bool bad[4] = { false };

	(void)state;
	plan_ca(&x, 0xabc, 63, 64, 1);
	assert_int_equal(ibcc_bounds_check(&x.b, NULL, NULL, &x.plan, bad, &x.why), 1);
	assert_true(bad[0] && !bad[1]);
	assert_non_null(strstr(x.why.text, "CCTI_Min"));
	assert_non_null(strstr(x.why.text, "0x0000000000000abc port 1"));
	assert_int_equal(ibcc_bounds_ccti_min(&x.plan.change[0]), 64);
	assert_int_equal(ibcc_bounds_ccti_min(&x.plan.change[1]), 0);
	ibcc_plan_fini(&x.plan);
	x.b.max_timer = 99;
	plan_ca(&x, 1, 63, 0, 100);
	assert_bad(&x, 1, "CCTI_Timer");
	/* Each node by itself. */
	plan_ca(&x, 1, 63, 0, 100);
	plan_ca(&x, 2, 63, 0, 99);
	plan_ca(&x, 3, 63, 0, 101);
	assert_bad(&x, 2, "0x0000000000000001");
}

/* Whole nodes go, the others stay as they are. */
static void test_drop(void **state)
{
	struct fixture x = setup();

	(void)state;
	plan_ca(&x, 1, 63, 0, 1);
	plan_ca(&x, 2, 127, 0, 1);
	plan_ca(&x, 3, 63, 0, 1);
	assert_int_equal(ibcc_bounds_drop(&x.b, NULL, NULL, &x.plan, &x.why), 0);
	assert_int_equal(x.plan.n, 7);
	x.plan.change[3].attr_id = 0x99;
	assert_int_equal(ibcc_bounds_drop(&x.b, NULL, NULL, &x.plan, &x.why), 1);
	assert_non_null(strstr(x.why.text, "0x0000000000000002"));
	assert_int_equal(x.plan.n, 4);
	for (uint32_t i = 0; i < 4; i++)
		assert_int_equal(x.plan.change[i].node_guid, i < 2 ? 1 : 3);
	ibcc_plan_fini(&x.plan);
}

/* A plan of a switch's setting with the ports of a mask from `first` on up to `last`. */
static void plan_masks(struct fixture *x, const struct ibcc_topo *t, unsigned int first,
		       unsigned int last, bool victims)
{
	struct ibcc_endport_cc ep = { .sw.Threshold = 3 };
	struct ibcc_change c = { .node_guid = t->node[LUSTRE_SW1].guid,
				 .lid = 7,
				 .attr_id = IBCC_CC_ATTR_SW_SETTING };

	for (unsigned int p = first; p <= last; p++)
		ibcc_cc_mask_assign(victims ? &ep.sw.Victim_Mask : &ep.sw.Credit_Mask, p, true);
	assert_true(ibcc_settings_pack(&ep, c.attr_id, 0, c.new_data));
	assert_int_equal(ibcc_plan_append(&x->plan, &c), 0);
}

static void assert_fits(struct fixture *x, const struct ibcc_topo *t, const char *word)
{
	x->why.text[0] = '\0';
	assert_int_equal(ibcc_bounds_check(&x->b, t, NULL, &x->plan, NULL, &x->why), word ? 1 : 0);
	if (word && !strstr(x->why.text, word))
		fail_msg("%s", x->why.text);
	ibcc_plan_fini(&x->plan);
}

/* Switches with 8 ports, and adapters with one. */
static void test_nodes(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct fixture x = setup();
	struct ibcc_change c = { .lid = 7, .attr_id = IBCC_CC_ATTR_SW_PORT_SETTING };

	(void)state;
	plan_masks(&x, t, 0, 8, true);
	assert_fits(&x, t, NULL);
	/* As a subnet manager sets all switches alike, also those with fewer ports. */
	plan_masks(&x, t, 0, 255, true);
	assert_fits(&x, t, NULL);
	plan_masks(&x, t, 1, 36, false);
	assert_fits(&x, t, NULL);
	plan_masks(&x, t, 100, 237, true);
	assert_fits(&x, t, "a Victim_Mask with ports that the switch does not have");
	plan_masks(&x, t, 10, 10, false);
	assert_fits(&x, t, "a Credit_Mask with ports that the switch does not have");
	/* Without the fabric this is unknown. */
	plan_masks(&x, t, 100, 237, true);
	assert_fits(&x, NULL, NULL);

	c.node_guid = t->node[LUSTRE_SW1].guid;
	c.port_block = IBCC_CC_SW_PORT_BLOCK_121;
	for (unsigned int i = 0; i < 2; i++) {
		struct ibcc_cc_sw_port_element e = { .Valid = 1, .Threshold = 3 };
		uint8_t mad[IBCC_MAD_BYTES] = { 0 };

		ibcc_cc_sw_port_element_pack(mad, 8 + i, &e);
		memcpy(c.new_data, mad + IBCC_MAD_DATA_OFFS, sizeof(c.new_data));
		assert_int_equal(ibcc_plan_append(&x.plan, &c), 0);
		assert_fits(&x, t,
			    i ? "an element for a port that the switch does not have" : NULL);
	}
	memset(c.new_data, 0, sizeof(c.new_data));
	c.node_guid = t->node[LUSTRE_SRC1].guid;
	c.port = 1;
	assert_int_equal(ibcc_plan_append(&x.plan, &c), 0);
	assert_fits(&x, t, "a switch's setting for an adapter");
	c.attr_id = IBCC_CC_ATTR_CA_SETTING;
	c.port = 2;
	assert_int_equal(ibcc_plan_append(&x.plan, &c), 0);
	assert_fits(&x, t, "a port that the node does not have");
	c.node_guid = t->node[LUSTRE_SW1].guid;
	assert_int_equal(ibcc_plan_append(&x.plan, &c), 0);
	assert_fits(&x, t, "an adapter's setting for a switch");
	ibcc_topo_free(t);
}

/* A table of two blocks, for adapters whose tables have as many, one, or an unknown number. */
static void test_table_cap(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_settings has = { 0 };
	struct fixture x = setup();
	uint8_t *cap;

	(void)state;
	assert_int_equal(ibcc_settings_init(&has, t), 0);
	cap = &has.ep[t->port[fabric_port(t, LUSTRE_SRC1, 1)].endport].info.ControlTableCap;
	plan_ca(&x, t->node[LUSTRE_SRC1].guid, 127, 0, 1);
	assert_int_equal(ibcc_bounds_check(&x.b, t, &has, &x.plan, NULL, &x.why), 0);
	*cap = 2;
	assert_int_equal(ibcc_bounds_check(&x.b, t, &has, &x.plan, NULL, &x.why), 0);
	*cap = 1;
	assert_int_equal(ibcc_bounds_check(&x.b, t, NULL, &x.plan, NULL, &x.why), 0);
	assert_int_equal(ibcc_bounds_check(&x.b, NULL, &has, &x.plan, NULL, &x.why), 0);
	/* The first block has the limit of all, the second is none of the table's. */
	assert_int_equal(ibcc_bounds_check(&x.b, t, &has, &x.plan, NULL, &x.why), 2);
	assert_non_null(strstr(x.why.text, "a CCTI_Limit beyond the node's table"));
	x.plan.change[1].new_data[1] = 63;
	assert_int_equal(ibcc_bounds_check(&x.b, t, &has, &x.plan, NULL, &x.why), 1);
	assert_non_null(strstr(x.why.text, "a block of a table that the node does not have"));
	x.plan.n--;
	assert_int_equal(ibcc_bounds_check(&x.b, t, &has, &x.plan, NULL, &x.why), 0);
	x.plan.change[1].new_data[1] = 64;
	assert_int_equal(ibcc_bounds_check(&x.b, t, &has, &x.plan, NULL, &x.why), 1);
	assert_int_equal(ibcc_bounds_drop(&x.b, t, &has, &x.plan, &x.why), 1);
	assert_int_equal(x.plan.n, 0);
	ibcc_plan_fini(&x.plan);
	ibcc_settings_fini(&has);
	ibcc_topo_free(t);
}

/* Bytes behind an attribute, and between its fields. */
static void test_strange_bits(void **state)
{
	static const struct {
		uint16_t attr_id;
		uint8_t port_block, at;
	} cases[] = {
		{ IBCC_CC_ATTR_SW_SETTING, 0, 0 },
		{ IBCC_CC_ATTR_SW_SETTING, 0, 191 },
		{ IBCC_CC_ATTR_SW_PORT_SETTING, IBCC_CC_SW_PORT_BLOCK_121, 128 },
		{ IBCC_CC_ATTR_CA_SETTING, 0, 10 },
		{ IBCC_CC_ATTR_CA_SETTING, 0, 191 },
		{ IBCC_CC_ATTR_CCT, 0, 2 },
		{ IBCC_CC_ATTR_CCT, 0, 191 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibcc_change c = { .attr_id = cases[i].attr_id,
					 .port_block = cases[i].port_block };

		assert_null(ibcc_bounds_data(&c, c.new_data));
		c.new_data[cases[i].at] = 1;
		assert_string_equal(ibcc_bounds_data(&c, c.new_data),
				    "bits that are none of its fields'");
	}
}

static void test_nonsense(void **state)
{
	static const struct ibcc_change c[] = {
		{ .attr_id = IBCC_CC_ATTR_CA_SETTING, .attr_mod = 1 },
		{ .attr_id = IBCC_CC_ATTR_SW_SETTING, .attr_mod = 1 },
		{ .attr_id = IBCC_CC_ATTR_SW_PORT_SETTING, .attr_mod = 8 },
		{ .attr_id = IBCC_CC_ATTR_CCT, .attr_mod = 4 },
		{ .attr_id = IBCC_CC_ATTR_INFO },
		{ .attr_id = 0xff00 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct fixture x = setup();

		assert_int_equal(ibcc_plan_append(&x.plan, &c[i]), 0);
		assert_bad(&x, 1, "no ");
	}
}

static void test_budget(void **state)
{
	struct ibcc_set_budget b = { 0 };
	uint64_t now = 5 * SECOND;
	uint32_t n = 0;

	(void)state;
	/* A minute's at once, */
	for (int i = 0; i < 100; i++)
		n += ibcc_set_budget_take(&b, 1, 3, 60, now) ? 3 : 0;
	assert_int_equal(n, 60);
	/* others have theirs, */
	assert_true(ibcc_set_budget_take(&b, 0, 60, 60, now));
	assert_true(ibcc_set_budget_take(&b, 2, 60, 60, now));
	/* and then one a second. */
	assert_false(ibcc_set_budget_take(&b, 1, 3, 60, now + 2 * SECOND));
	assert_true(ibcc_set_budget_take(&b, 1, 3, 60, now + 3 * SECOND));
	for (n = 0, now += 3 * SECOND; now < 3600 * SECOND; now += SECOND / 5)
		n += ibcc_set_budget_take(&b, 1, 3, 60, now) ? 3 : 0;
	assert_in_range(n, 3580, 3600);
	/* A push that is larger than that goes nevertheless, from what is untouched. */
	assert_true(ibcc_set_budget_take(&b, 3, 90, 60, now));
	assert_false(ibcc_set_budget_take(&b, 3, 1, 60, now + 30 * SECOND));
	assert_true(ibcc_set_budget_take(&b, 3, 1, 60, now + 31 * SECOND));
	assert_true(ibcc_set_budget_take(&b, 3, 1000, 0, now)); /* not counted */
	ibcc_set_budget_fini(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),         cmocka_unit_test(test_tables),
		cmocka_unit_test(test_settings),     cmocka_unit_test(test_nodes),
		cmocka_unit_test(test_strange_bits), cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_budget),       cmocka_unit_test(test_drop),
		cmocka_unit_test(test_table_cap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
