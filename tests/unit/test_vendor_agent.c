/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's congestion control at simulated nodes, beside the annex's. */
#include <errno.h>

#include <ibcc/vendor_cc.h>

#include "tests/unit/agents.h"

static int get(struct agent_fabric *f, uint32_t node, uint16_t attr)
{
	agents_clear(f);
	return agents_send(f, node, 0x21, 2, 1, attr, 0);
}

static int general_info(struct agent_fabric *f, uint32_t node, uint32_t mod)
{
	agents_clear(f);
	return agents_send(f, node, 0x01, 1, 1, 0xff17, mod);
}

static void give(struct agent_fabric *f, uint32_t node, enum ibcc_nvidia_cc v)
{
	ibcc_agents_quirks(f->agents, node)->vendor_cc = v;
}

static void test_who_has_none(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	assert_int_equal(general_info(&f, LUSTRE_SRC1, 4), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff00), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SW1, 0xff08), BAD_ATTR);
	/* Other subnet management is not this agent's. */
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x01, 1, 1, 0x11, 0), -ETIMEDOUT);
	agents_close(&f);
}

static void test_on_and_off(void **state)
{
	struct agent_fabric f = { 0 };
	struct ibcc_vcc_general_info g;

	(void)state;
	agents_open(&f, 48);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_OFF);
	give(&f, LUSTRE_SW1, IBCC_NVIDIA_CC_OFF);
	assert_int_equal(general_info(&f, LUSTRE_SRC1, 0), BAD_FIELD);
	assert_int_equal(general_info(&f, LUSTRE_SRC1, 4), OK);
	ibcc_vcc_general_info_unpack(f.mad.b, &g);
	assert_true(ibcc_vcc_can(&g, IBCC_VCC_CAP_CC));
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff00), OK);
	assert_int_equal(f.mad.b[64], 0xc0);
	assert_int_equal(f.mad.b[64 + 15], 0x06);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff20), OK);
	assert_int_equal(f.mad.b[64], 0);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff08), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SW1, 0xff20), BAD_ATTR);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_ON);
	give(&f, LUSTRE_SW1, IBCC_NVIDIA_CC_ON);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff20), OK);
	assert_int_equal(f.mad.b[64], 0xc0);
	assert_int_equal(get(&f, LUSTRE_SW1, 0xff08), OK);
	assert_int_equal(f.mad.b[64], 0x01);
	/* It does not need the annex's, and cannot be set here. */
	ibcc_agents_set_support(f.agents, LUSTRE_SW1, false);
	assert_int_equal(get(&f, LUSTRE_SW1, 0xff08), OK);
	assert_int_equal(get(&f, LUSTRE_SW1, 0x11), BAD_ATTR);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 2, 0xff08, 0), BAD_METHOD);
	agents_close(&f);
}

/* The key is the class's. */
static void test_key(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_ON);
	agents_clear(&f);
	mad_set_field64(f.mad.b + MAD_DATA, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F, 7);
	agents_put(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F, 1);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 2, 0x12, 0), OK);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff20), -ETIMEDOUT);
	agents_clear(&f);
	mad_set_field64(f.mad.b, 0, IB_CC_CCKEY_F, 7);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 1, 0xff20, 0), OK);
	agents_close(&f);
}

/* Marks that come and are heeded, or not, as the engine counts them. */
static void test_statistics(void **state)
{
	struct agent_fabric f = { 0 };
	struct ibcc_static_cc cc = { .enabled = true };
	struct ibcc_vcc_ca_statistics s;

	(void)state;
	agents_open(&f, 48);
	memset(cc.sw.Victim_Mask.byte, 0xff, sizeof(cc.sw.Victim_Mask.byte));
	cc.sw.Threshold = 15;
	assert_int_equal(ibcc_agents_load(f.agents, &cc), 0);
	agents_congest(&f);
	assert_int_equal(ibcc_engine_run(f.engine, 5 * IBCC_PS_PER_MS), 0);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_ON);
	give(&f, LUSTRE_SRC2, IBCC_NVIDIA_CC_OFF);
	give(&f, LUSTRE_SLOW, IBCC_NVIDIA_CC_ON);
	assert_int_equal(get(&f, LUSTRE_SLOW, 0xff23), OK);
	ibcc_vcc_ca_statistics_unpack(f.mad.b, &s);
	assert_true(s.marked_packets > 0 && s.cnp_handled == 0);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff23), OK);
	ibcc_vcc_ca_statistics_unpack(f.mad.b, &s);
	assert_true(s.cnp_handled > 0 && s.cnp_ignored == 0);
	assert_int_equal(get(&f, LUSTRE_SRC2, 0xff23), OK);
	ibcc_vcc_ca_statistics_unpack(f.mad.b, &s);
	assert_true(s.cnp_handled == 0 && s.cnp_ignored > 0);
	agents_close(&f);
}

/* The value of a field of the last answer. */
static uint32_t field(const struct agent_fabric *f, uint16_t attr, const char *name)
{
	unsigned int n;
	const struct ibcc_vcc_field *of = ibcc_vcc_fields(attr, &n);

	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(of[i].name, name))
			return ibcc_vcc_field_get(f->mad.b + 64, &of[i]);
	fail_msg("no field %s", name);
	return 0;
}

/* Parameters: adapters' as the factory has them, a switch's by port; nobody can set them here. */
static void test_parameters(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff21), BAD_ATTR);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_OFF);
	give(&f, LUSTRE_SW1, IBCC_NVIDIA_CC_ON);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff21), OK);
	assert_int_equal(field(&f, 0xff21, "rpg_time_reset"), 300);
	assert_int_equal(field(&f, 0xff21, "rpg_ai_rate"), 5);
	assert_int_equal(field(&f, 0xff21, "dce_tcp_g"), 1019);
	assert_int_equal(field(&f, 0xff21, "clamp_tgt_rate_after_time_inc"), 1);
	assert_int_equal(field(&f, 0xff21, "initial_alpha_value"), 1023);
	ibcc_agents_quirks(f.agents, LUSTRE_SRC1)->ai_rate_mbps = 40;
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff21), OK);
	assert_int_equal(field(&f, 0xff21, "rpg_ai_rate"), 40);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff22), OK);
	assert_int_equal(field(&f, 0xff22, "min_time_between_cnps"), 4);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 1, 0xff09, 1), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SW1, 0xff21), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SW1, 0xff09), BAD_FIELD);
	for (uint32_t port = 1; port <= 2; port++) {
		agents_clear(&f);
		assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 1, 0xff09, port), OK);
		assert_int_equal(field(&f, 0xff09, "profile1_percent"), 20);
		assert_int_equal(field(&f, 0xff09, "vl_mask"), 0xffff);
		agents_clear(&f);
		assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 1, 0xff10, port), OK);
		assert_int_equal(field(&f, 0xff10, "sl15"), 1);
	}
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 1, 0xff09, 200), BAD_FIELD);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 2, 0xff21, 0), BAD_METHOD);
	agents_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_has_none), cmocka_unit_test(test_on_and_off),
		cmocka_unit_test(test_key),          cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
