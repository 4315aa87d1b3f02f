/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The planner: order, limits, undoing, naming fields, judging read-backs. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabrics.h"

#include <ibcc/plan.h>

#define DATA_OFFS (IBCC_MAD_BYTES - IBCC_CC_DATA_BYTES)

enum { EP_SRC1, EP_SRC2, EP_SRC3, EP_SRC4, EP_SLOW, EP_FAST, EP_SW1, EP_SW2, EP_N };

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_settings actual;
	struct ibcc_target target;
	struct ibcc_plan plan;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->t = fabric_lustre();
	f->t->generation = 42;
	assert_int_equal(ibcc_settings_init(&f->actual, f->t), 0);
	assert_int_equal(f->actual.n, EP_N);
	for (unsigned int i = 0; i < EP_N; i++) {
		struct ibcc_endport_cc *ep = &f->actual.ep[i];

		ep->support = IBCC_CC_SUPPORTED;
		ep->info.ControlTableCap = i < EP_SW1 ? 4 : 0;
	}
	f->actual.ep[EP_SW2].sw_port_block = 32;
	f->actual.ep[EP_SW2].n_element = 9;
	f->actual.ep[EP_SW2].element = calloc(9, sizeof(struct ibcc_cc_sw_port_element));
	assert_int_equal(ibcc_settings_copy(&f->target.wanted, &f->actual), 0);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_plan_fini(&f->plan);
	ibcc_settings_fini(&f->actual);
	ibcc_settings_fini(&f->target.wanted);
	free(f->target.reason);
	ibcc_topo_free(f->t);
	free(f);
	return 0;
}

static void run(struct fixture *f)
{
	ibcc_plan_fini(&f->plan);
	assert_int_equal(ibcc_planner_run(f->t, &f->actual, &f->target, &f->plan), 0);
}

static void test_nothing_to_do(void **state)
{
	struct fixture *f = *state;

	run(f);
	assert_int_equal(f->plan.n, 0);
	assert_int_equal(f->plan.generation, 42);
	assert_int_equal(f->plan.n_unreachable, 0);
	/* Setting and one table block of six adapters; two switches, one with a port block. */
	assert_int_equal(f->plan.n_unchanged, 6 * 2 + 2 + 1);
	/* What a node put into Control_Map is no difference. */
	f->actual.ep[EP_SRC1].ca.Control_Map = 0x0001;
	f->actual.ep[EP_SW1].sw.Control_Map = 0x10;
	run(f);
	assert_int_equal(f->plan.n, 0);
}

static void change_src1(struct fixture *f, unsigned int entries)
{
	struct ibcc_endport_cc *ep = &f->target.wanted.ep[EP_SRC1];

	ep->ca.sl[0].CCTI_Timer = 10;
	ep->ca.sl[0].CCTI_Increase = 5;
	assert_int_equal(ibcc_cct_build(&ep->cct, IBCC_CCT_LINEAR, entries, 4000), 0);
}

static void test_order_and_limits(void **state)
{
	struct fixture *f = *state;
	static const uint16_t attr[] = { 0x16, 0x17, 0x17, 0x17 };
	static const uint16_t limit[] = { 63, 127, 139 };

	change_src1(f, 140);
	f->target.wanted.ep[EP_SW2].sw.Threshold = 9;
	f->target.wanted.ep[EP_SW2].element[1].Valid = true;
	f->target.reason = calloc(2, sizeof(*f->target.reason));
	f->target.n_reasons = 2;
	f->target.reason[0] = (struct ibcc_reason){ .endport = EP_SW2,
						    .attr_id = 0x14,
						    .code = IBCC_REASON_SWITCHED_OFF };
	f->target.reason[1] = (struct ibcc_reason){ .endport = EP_SRC1,
						    .attr_id = 0x17,
						    .code = IBCC_REASON_OVER };
	run(f);
	assert_int_equal(f->plan.n, 4 + 2);
	for (unsigned int i = 0; i < 4; i++) {
		const struct ibcc_change *c = &f->plan.change[i];

		assert_int_equal(c->node_guid, f->t->node[LUSTRE_SRC1].guid);
		assert_int_equal(c->lid, 1);
		assert_int_equal(c->port, 1);
		assert_int_equal(c->attr_id, attr[i]);
		assert_int_equal(c->attr_mod, i ? i - 1 : 0);
		assert_int_equal(c->port_block, 0);
		if (!i)
			continue;
		/* CCTI_Limit: the first 16 bits, cumulative (what ibccconfig enforces). */
		assert_int_equal(c->new_data[0] << 8 | c->new_data[1], limit[i - 1]);
		assert_int_equal(c->old_data[0] << 8 | c->old_data[1], 0);
		assert_non_null(strstr(c->reason, "any more: the earlier value"));
	}
	assert_int_equal(f->plan.change[4].attr_id, 0x14);
	assert_int_equal(f->plan.change[4].port, 0);
	assert_string_equal(f->plan.change[4].reason, "congestion control is disabled");
	/* A Set that would modify nothing for lack of Control_Map bits is no undo. */
	assert_int_equal(f->plan.change[4].new_data[3], 0x1f);
	assert_int_equal(f->plan.change[4].old_data[3], 0x1f);
	assert_int_equal(f->plan.change[0].old_data[2] << 8 | f->plan.change[0].old_data[3],
			 0xffff);
	assert_int_equal(f->plan.change[5].attr_id, 0x15);
	assert_int_equal(f->plan.change[5].port_block, 32);
	assert_int_equal(f->plan.change[5].new_data[4], 0x80); /* element 1, bit Valid */
}

/* One differing entry in the first block must not cut off the blocks above it. */
static void test_whole_table(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(ibcc_cct_build(&f->actual.ep[EP_SRC2].cct, IBCC_CCT_LINEAR, 128, 4000), 0);
	f->target.wanted.ep[EP_SRC2].cct = f->actual.ep[EP_SRC2].cct;
	f->target.wanted.ep[EP_SRC2].cct.entry[5]++;
	run(f);
	assert_int_equal(f->plan.n, 2);
	assert_int_equal(f->plan.change[0].attr_mod, 0);
	assert_int_equal(f->plan.change[1].attr_mod, 1);
	/* A table that keeps its length is never shorter in between. */
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(f->plan.change[i].new_data[1], 127);
		assert_int_equal(f->plan.change[i].old_data[1], 127);
	}
	/* A shorter table: the block that goes is in the plan too, so that undoing brings it back.
	 */
	f->target.wanted.ep[EP_SRC2].cct.limit = 63;
	run(f);
	assert_int_equal(f->plan.n, 2);
	assert_int_equal(f->plan.change[1].new_data[1], 63);
	assert_int_equal(f->plan.change[1].old_data[1], 127);
}

static void test_unusable_nodes(void **state)
{
	struct fixture *f = *state;

	change_src1(f, 128);
	f->actual.ep[EP_SRC1].support = IBCC_CC_UNSUPPORTED;
	f->actual.ep[EP_SRC2].support = IBCC_CC_UNKNOWN;
	f->actual.ep[EP_SW1].support = IBCC_CC_KEY_REFUSED;
	f->target.wanted.ep[EP_SW1].sw.Threshold = 15;
	run(f);
	assert_int_equal(f->plan.n, 0);
	assert_int_equal(f->plan.n_unreachable, 3);
	/* A switch without attribute 0x15 is not asked to take it. */
	f->actual.ep[EP_SW2].sw_port_block = 0;
	f->target.wanted.ep[EP_SW2].element[1].Valid = true;
	run(f);
	assert_int_equal(f->plan.n, 0);
}

static void test_reverse(void **state)
{
	struct fixture *f = *state;
	struct ibcc_plan undo, redo;

	change_src1(f, 128);
	f->target.wanted.ep[EP_SW2].sw.Threshold = 9;
	run(f);
	assert_int_equal(ibcc_plan_reverse(&f->plan, &undo), 0);
	assert_int_equal(ibcc_plan_reverse(&undo, &redo), 0);
	assert_int_equal(undo.n, f->plan.n);
	assert_int_equal(redo.n, f->plan.n);
	for (uint32_t i = 0; i < undo.n; i++) {
		assert_memory_equal(undo.change[i].new_data, f->plan.change[i].old_data,
				    IBCC_CC_DATA_BYTES);
		assert_memory_equal(undo.change[i].old_data, f->plan.change[i].new_data,
				    IBCC_CC_DATA_BYTES);
		assert_memory_equal(&redo.change[i], &f->plan.change[i], sizeof(redo.change[i]));
		if (i && undo.change[i].node_guid == undo.change[i - 1].node_guid)
			assert_true(undo.change[i].attr_id > undo.change[i - 1].attr_id ||
				    undo.change[i].attr_mod > undo.change[i - 1].attr_mod);
	}
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&redo);
}

struct seen {
	unsigned int n, stop_at;
	struct ibcc_field_change f[32];
	char name[32][32];
};

static int see(const struct ibcc_field_change *f, void *arg)
{
	struct seen *s = arg;

	assert_true(s->n < 32);
	s->f[s->n] = *f;
	snprintf(s->name[s->n], sizeof(s->name[0]), "%s", f->field);
	return ++s->n == s->stop_at ? 7 : 0;
}

static void test_fields(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cc_sw_setting *sw = &f->target.wanted.ep[EP_SW2].sw;
	struct seen s = { 0 };

	f->target.wanted.ep[EP_SRC1].ca.sl[3].CCTI_Timer = 77;
	f->target.wanted.ep[EP_SRC1].ca.Port_Control = 1;
	assert_int_equal(
		ibcc_cct_build(&f->target.wanted.ep[EP_SRC1].cct, IBCC_CCT_LINEAR, 128, 127000), 0);
	f->target.wanted.ep[EP_SRC1].cct.entry[70] = 0;
	sw->Threshold = 9;
	for (unsigned int p = 1; p <= 4; p++)
		ibcc_cc_mask_assign(&sw->Victim_Mask, p, true);
	ibcc_cc_mask_assign(&sw->Victim_Mask, 7, true);
	for (unsigned int p = 0; p < 256; p += 2)
		ibcc_cc_mask_assign(&sw->Credit_Mask, p, true);
	f->target.wanted.ep[EP_SW2].element[3].Valid = true;
	run(f);
	assert_int_equal(f->plan.n, 3 + 2);

	assert_int_equal(ibcc_plan_fields(&f->plan.change[0], see, &s), 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.name[0], "Port_Control");
	assert_string_equal(s.name[1], "CCTI_Timer");
	assert_int_equal(s.f[1].sl, 3);
	assert_string_equal(s.f[1].old_text, "0");
	assert_string_equal(s.f[1].new_text, "77");

	s.n = 0; /* block 0: the limit, then a run of entries without entry 0, which is equal */
	assert_int_equal(ibcc_plan_fields(&f->plan.change[1], see, &s), 0);
	assert_int_equal(s.n, 2);
	assert_string_equal(s.name[0], "CCTI_Limit");
	assert_string_equal(s.name[1], "CCT[1..63]");
	assert_int_equal(s.f[1].index, 1);
	assert_string_equal(s.f[1].old_text, "0 packet times");
	assert_string_equal(s.f[1].new_text, "1 .. 63 packet times");

	s.n = 0; /* block 1: two runs around entry 70 */
	assert_int_equal(ibcc_plan_fields(&f->plan.change[2], see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.name[1], "CCT[64..69]");
	assert_string_equal(s.name[2], "CCT[71..127]");

	s.n = 0;
	assert_int_equal(ibcc_plan_fields(&f->plan.change[3], see, &s), 0);
	assert_int_equal(s.n, 3);
	assert_string_equal(s.name[0], "Victim_Mask");
	assert_string_equal(s.f[0].old_text, "none");
	assert_string_equal(s.f[0].new_text, "1-4,7");
	assert_string_equal(s.f[1].new_text,
			    "0x5555555555555555555555555555555555555555555555555555555555555555");
	assert_string_equal(s.name[2], "Threshold");

	s.n = 0;
	assert_int_equal(ibcc_plan_fields(&f->plan.change[4], see, &s), 0);
	assert_int_equal(s.n, 1);
	assert_string_equal(s.name[0], "Valid");
	assert_int_equal(s.f[0].index, 3);
	/* Elements of a later block, in both block sizes. */
	f->plan.change[4].attr_mod = 1;
	s.n = 0;
	assert_int_equal(ibcc_plan_fields(&f->plan.change[4], see, &s), 0);
	assert_int_equal(s.f[0].index, 32 + 3);
	f->plan.change[4].port_block = 48;
	s.n = 0;
	assert_int_equal(ibcc_plan_fields(&f->plan.change[4], see, &s), 0);
	assert_int_equal(s.f[0].index, 48 + 3);

	s = (struct seen){ .stop_at = 1 };
	assert_int_equal(ibcc_plan_fields(&f->plan.change[0], see, &s), 7);
	assert_int_equal(s.n, 1);
	/* Data that no node of ours sent. */
	f->plan.change[1].attr_mod = 99;
	s = (struct seen){ 0 };
	assert_int_equal(ibcc_plan_fields(&f->plan.change[1], see, &s), 0);
	assert_int_equal(s.n, 0);
}

static void test_verify_switch(void **state)
{
	uint8_t want[256] = { 0 }, got[256];
	struct ibcc_cc_sw_setting sw = { .Control_Map = 0x1f, .Threshold = 9, .Marking_Rate = 3 };

	(void)state;
	ibcc_cc_mask_assign(&sw.Victim_Mask, 1, true);
	ibcc_cc_sw_setting_pack(want, &sw);
	memcpy(got, want, sizeof(got));
	assert_true(ibcc_plan_verify(0x14, 0, want + DATA_OFFS, got + DATA_OFFS));
	got[DATA_OFFS + 3] = 0; /* Control_Map */
	got[255] = 0xaa;        /* reserved */
	assert_true(ibcc_plan_verify(0x14, 0, want + DATA_OFFS, got + DATA_OFFS));
	sw.Threshold = 8;
	ibcc_cc_sw_setting_pack(got, &sw);
	assert_false(ibcc_plan_verify(0x14, 0, want + DATA_OFFS, got + DATA_OFFS));
	sw.Threshold = 9;
	ibcc_cc_mask_assign(&sw.Victim_Mask, 2, true);
	ibcc_cc_sw_setting_pack(got, &sw);
	assert_false(ibcc_plan_verify(0x14, 0, want + DATA_OFFS, got + DATA_OFFS));
}

static void test_verify_ports(void **state)
{
	uint8_t want[192] = { 0 }, got[192] = { 0 };

	(void)state;
	want[4] = got[4] = 0x89; /* element 1: valid, Threshold 9 */
	assert_true(ibcc_plan_verify(0x15, 0, want, got));
	got[8 + 1] = 8; /* element 2 is not valid */
	assert_true(ibcc_plan_verify(0x15, 0, want, got));
	got[4 * 40] = 0x8f; /* beyond what a block of 32 elements has */
	assert_true(ibcc_plan_verify(0x15, 0, want, got));
	want[4 * 41] = got[4 * 41] = 0x89; /* now the block has 48 */
	assert_false(ibcc_plan_verify(0x15, 0, want, got));
	got[4 * 40] = 0;
	assert_true(ibcc_plan_verify(0x15, 0, want, got));
	got[4] = 0x88;
	assert_false(ibcc_plan_verify(0x15, 0, want, got));
	got[4] = 0;
	assert_false(ibcc_plan_verify(0x15, 0, want, got));
}

static void test_verify_ca(void **state)
{
	uint8_t want[256] = { 0 }, got[256] = { 0 };
	struct ibcc_cc_ca_setting ca = { .Control_Map = 0x0001 };

	(void)state;
	ca.sl[0] = (struct ibcc_cc_ca_entry){ 10, 5, 0, 0 };
	ibcc_cc_ca_setting_pack(want, &ca);
	ca.Control_Map = 0;
	ca.sl[1].CCTI_Timer = 999; /* not asked for */
	ibcc_cc_ca_setting_pack(got, &ca);
	assert_true(ibcc_plan_verify(0x16, 0, want + DATA_OFFS, got + DATA_OFFS));
	ca.sl[0].CCTI_Min = 1;
	ibcc_cc_ca_setting_pack(got, &ca);
	assert_false(ibcc_plan_verify(0x16, 0, want + DATA_OFFS, got + DATA_OFFS));
	ca.sl[0].CCTI_Min = 0;
	ca.Port_Control = 1;
	ibcc_cc_ca_setting_pack(got, &ca);
	assert_false(ibcc_plan_verify(0x16, 0, want + DATA_OFFS, got + DATA_OFFS));
}

static void set_limit(uint8_t *data, unsigned int limit)
{
	data[0] = (uint8_t)(limit >> 8);
	data[1] = (uint8_t)limit;
}

static void test_verify_table(void **state)
{
	uint8_t want[192] = { 0 }, got[192] = { 0 };

	(void)state;
	set_limit(want, 127);
	want[4] = got[4] = 0xc0;
	set_limit(got, 127);
	assert_true(ibcc_plan_verify(0x17, 1, want, got));
	set_limit(got, 63); /* relative to the block, as qib answers */
	assert_true(ibcc_plan_verify(0x17, 1, want, got));
	set_limit(got, 64);
	assert_false(ibcc_plan_verify(0x17, 1, want, got));
	/* Block 0 of a table that by now has two blocks. */
	set_limit(want, 63);
	set_limit(got, 127);
	assert_true(ibcc_plan_verify(0x17, 0, want, got));
	set_limit(want, 62);
	assert_false(ibcc_plan_verify(0x17, 0, want, got));
	/* Entries count up to the limit. */
	set_limit(got, 62);
	got[4 + 2 * 63] = 1;
	assert_true(ibcc_plan_verify(0x17, 0, want, got));
	got[4 + 2 * 62] = 1;
	assert_false(ibcc_plan_verify(0x17, 0, want, got));
	assert_false(ibcc_plan_verify(0x17, 4, want, want));
	/* Attributes that we do not know must come back as sent. */
	assert_true(ibcc_plan_verify(0x13, 0, want, want));
	assert_false(ibcc_plan_verify(0x13, 0, want, got));
}

/* Key, protect bit (the first bit of byte 8) and lease (bytes 10 and 11) count, violations do not.
 */
static void test_verify_key(void **state)
{
	static const unsigned int counts[] = { 0, 7, 8, 10, 11 };
	uint8_t want[192] = { 0 }, got[192] = { 0 };

	(void)state;
	got[12] = got[13] = 1;
	assert_true(ibcc_plan_verify(0x12, 0, want, got));
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		got[counts[i]] = 0x80;
		assert_false(ibcc_plan_verify(0x12, 0, want, got));
		got[counts[i]] = 0;
	}
}

static int keep_text(const struct ibcc_field_change *f, void *arg)
{
	char *text = arg;
	size_t n = strlen(text);

	snprintf(text + n, 512 - n, "%s %s %s;", f->field, f->old_text, f->new_text);
	return 0;
}

/* A key that changes is told without the key. */
static void test_key_is_hidden(void **state)
{
	struct ibcc_change c = { .attr_id = IBCC_CC_ATTR_KEY_INFO };
	char text[512] = "";

	(void)state;
	c.new_data[7] = 0x42;
	c.new_data[8] = 0x80;
	assert_int_equal(ibcc_plan_fields(&c, keep_text, text), 0);
	assert_string_equal(text, "CC_Key hidden another;CC_KeyProtectBit 0 1;");
}

static void test_outcomes(void **state)
{
	struct ibcc_result r;

	(void)state;
	for (int o = IBCC_OUTCOME_PENDING; o <= IBCC_OUTCOME_DRY; o++)
		for (int p = IBCC_OUTCOME_PENDING; p < o; p++)
			assert_string_not_equal(ibcc_outcome_name((enum ibcc_outcome)o),
						ibcc_outcome_name((enum ibcc_outcome)p));
	assert_int_equal(ibcc_result_init(&r, 3), 0);
	assert_int_equal(r.change[2].outcome, IBCC_OUTCOME_PENDING);
	ibcc_result_fini(&r);
	ibcc_result_fini(&r);
	ibcc_result_fini(NULL);
}

int main(void)
{
#define WITH_FIXTURE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		WITH_FIXTURE(test_nothing_to_do),     WITH_FIXTURE(test_order_and_limits),
		WITH_FIXTURE(test_whole_table),       WITH_FIXTURE(test_unusable_nodes),
		WITH_FIXTURE(test_reverse),           WITH_FIXTURE(test_fields),
		cmocka_unit_test(test_verify_switch), cmocka_unit_test(test_verify_ports),
		cmocka_unit_test(test_verify_ca),     cmocka_unit_test(test_verify_table),
		cmocka_unit_test(test_verify_key),    cmocka_unit_test(test_key_is_hidden),
		cmocka_unit_test(test_outcomes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
