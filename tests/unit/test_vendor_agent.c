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
	assert_int_equal(ibcc_agents_set_nvidia_cc(f->agents, node, v), 0);
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
	/* It does not need the annex's. */
	ibcc_agents_set_support(f.agents, LUSTRE_SW1, false);
	assert_int_equal(get(&f, LUSTRE_SW1, 0xff08), OK);
	assert_int_equal(get(&f, LUSTRE_SW1, 0x11), BAD_ATTR);
	/* What is only read cannot be set. */
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 2, 0xff00, 0), BAD_ATTR);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 2, 0xff23, 0), BAD_ATTR);
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

/* Parameters: adapters' as the factory has them, a switch's by port. */
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
	assert_int_equal(ibcc_agents_set_ai_rate(f.agents, LUSTRE_SRC1, 40), 0);
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
	agents_close(&f);
}

/* Gets an attribute, changes one field and sets it. */
static int change(struct agent_fabric *f, uint32_t node, uint16_t attr, uint32_t mod,
		  const char *name, uint32_t v)
{
	unsigned int n;
	const struct ibcc_vcc_field *of = ibcc_vcc_fields(attr, &n);

	agents_clear(f);
	assert_int_equal(agents_send(f, node, 0x21, 2, 1, attr, mod), OK);
	for (unsigned int i = 0; i < n; i++)
		if (!strcmp(of[i].name, name))
			ibcc_vcc_field_set(f->mad.b + 64, &of[i], v);
	return agents_send(f, node, 0x21, 2, 2, attr, mod);
}

/* Bits that no header names stay as they were set, bit by bit, in each attribute. What a switch can
 * is not changed by a Set, and the answer says so.
 */
static void test_unknown_bits(void **state)
{
	static const struct {
		uint32_t node;
		uint16_t attr;
		uint32_t mod;
	} regs[] = {
		{ LUSTRE_SW1, 0xff08, 0 },  { LUSTRE_SW1, 0xff09, 1 },  { LUSTRE_SW1, 0xff10, 1 },
		{ LUSTRE_SRC1, 0xff20, 0 }, { LUSTRE_SRC1, 0xff21, 0 }, { LUSTRE_SRC1, 0xff22, 0 },
	};
	struct agent_fabric f = { 0 };
	uint8_t want[64];

	(void)state;
	agents_open(&f, 48);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_OFF);
	give(&f, LUSTRE_SW1, IBCC_NVIDIA_CC_OFF);
	for (size_t i = 0; i < sizeof(regs) / sizeof(regs[0]); i++) {
		unsigned int n;
		const struct ibcc_vcc_field *of = ibcc_vcc_fields(regs[i].attr, &n);
		uint8_t known[64] = { 0 };

		for (unsigned int k = 0; k < n; k++)
			ibcc_vcc_field_set(known, &of[k], UINT32_MAX);
		if (regs[i].attr == 0xff08) { /* en, aqs_weight, aqs_time, capabilities */
			memcpy(known, (uint8_t[]){ 1, 0, 15, 255, 255, 255, 255, 255 }, 8);
			known[11] = 255;
		}
		agents_clear(&f);
		assert_int_equal(
			agents_send(&f, regs[i].node, 0x21, 2, 1, regs[i].attr, regs[i].mod), OK);
		memcpy(want, f.mad.b + 64, sizeof(want));
		for (unsigned int b = 0; b < 64; b++)
			want[b] |= (uint8_t)~known[b];
		memcpy(f.mad.b + 64, want, sizeof(want));
		if (regs[i].attr == 0xff08)
			memset(f.mad.b + 64 + 4, 0xaa, 4);
		assert_int_equal(
			agents_send(&f, regs[i].node, 0x21, 2, 2, regs[i].attr, regs[i].mod), OK);
		assert_memory_equal(f.mad.b + 64, want, sizeof(want));
		agents_clear(&f);
		assert_int_equal(
			agents_send(&f, regs[i].node, 0x21, 2, 1, regs[i].attr, regs[i].mod), OK);
		assert_memory_equal(f.mad.b + 64, want, sizeof(want));
	}
	agents_close(&f);
}

/* What is wrong is refused, and leaves everything as it was. */
static void test_refused(void **state)
{
	struct agent_fabric f = { 0 };
	struct ibcc_profile p;

	(void)state;
	agents_open(&f, 48);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_OFF);
	give(&f, LUSTRE_SW1, IBCC_NVIDIA_CC_OFF);
	assert_int_equal(change(&f, LUSTRE_SW1, 0xff09, 1, "profile1_percent", 101), BAD_FIELD);
	assert_int_equal(change(&f, LUSTRE_SW1, 0xff09, 1, "profile1_min", 401), BAD_FIELD);
	assert_int_equal(change(&f, LUSTRE_SRC1, 0xff21, 0, "rpg_time_reset", 0), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff21), OK);
	assert_int_equal(field(&f, 0xff21, "rpg_time_reset"), 300);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 2, 0xff21, 0), BAD_ATTR);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 2, 0xff08, 0), BAD_ATTR);
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 2, 0xff09, 99), BAD_FIELD);
	ibcc_agents_quirks(f.agents, LUSTRE_SRC1)->set_status = BAD_FIELD;
	assert_int_equal(change(&f, LUSTRE_SRC1, 0xff22, 0, "min_time_between_cnps", 9), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff22), OK);
	assert_int_equal(field(&f, 0xff22, "min_time_between_cnps"), 4);
	/* Percent of the buffer: a Quantum takes it, a Quantum-2 does not. */
	p = ibcc_profile_like(0x2c9, 0xd2f0);
	assert_int_equal(ibcc_agents_set_profile(f.agents, LUSTRE_SW1, &p), 0);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 1, 0xff09, 1), OK);
	for (unsigned int b = 4; b < 28; b++)
		f.mad.b[64 + b] = 0;
	f.mad.b[64] |= 0x80;
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 2, 0xff09, 1), OK);
	p = ibcc_profile_like(0x2c9, 0xd2f2);
	assert_int_equal(ibcc_agents_set_profile(f.agents, LUSTRE_SW1, &p), 0);
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 2, 0xff09, 1), BAD_FIELD);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SW1, 0x21, 2, 1, 0xff09, 1), OK);
	assert_int_equal(field(&f, 0xff09, "mode"), 0);
	agents_close(&f);
}

/* A reboot takes it back to how it was at the start, and off. */
static void test_reboot(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_ON);
	assert_int_equal(change(&f, LUSTRE_SRC1, 0xff21, 0, "rpg_ai_rate", 77), OK);
	assert_int_equal(ibcc_agents_forget(f.agents, LUSTRE_SRC1), 0);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff21), OK);
	assert_int_equal(field(&f, 0xff21, "rpg_ai_rate"), 5);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff20), OK);
	assert_int_equal(f.mad.b[64], 0);
	agents_close(&f);
}

/* The Lustre fabric with DCQCN in its model, congested: all packets are marked from the first queue
 * on.
 */
static void open_dcqcn(struct agent_fabric *f)
{
	struct ibcc_agents_options o = { .cct_blocks = 2, .wait_tick = 7, .sw_port_block = 48 };
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	m.buffer_bytes = 1 << 20;
	m.dcqcn.enabled = true;
	m.dcqcn.profile[0] =
		(struct ibcc_dcqcn_profile){ .min = 5000, .max = 2000000, .percent = 90 };
	memset(m.dcqcn.sl2profile, 1, sizeof(m.dcqcn.sl2profile));
	m.dcqcn.rp.rpg_ai_rate_mbps = 60;
	m.dcqcn.min_time_between_cnps_us = 2;
	f->topo = fabric_lustre();
	f->engine = engine_new(f->topo, &m, 1);
	f->agents = ibcc_agents_new(f->topo, f->engine, &o);
	assert_non_null(f->agents);
	for (uint32_t i = 0; i < f->topo->n_nodes; i++)
		give(f, i, IBCC_NVIDIA_CC_ON);
	agents_congest(f);
}

/* Where the model has DCQCN, nodes begin with its values, and what is set takes effect. */
static void test_effect(void **state)
{
	struct ibcc_vcc_ca_statistics was, s;
	const struct ibcc_dcqcn *d;
	struct ibcc_profile p;
	struct agent_fabric f = { 0 };
	uint32_t port;

	(void)state;
	open_dcqcn(&f);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff21), OK);
	assert_int_equal(field(&f, 0xff21, "rpg_ai_rate"), 60);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SW2, 0x21, 2, 1, 0xff09, 1), OK);
	/* More bytes than the field has are in KB; the engine has bytes until a Set changes it. */
	assert_int_equal(field(&f, 0xff09, "unit"), 1);
	assert_int_equal(field(&f, 0xff09, "profile1_max"), 2000000 / 1024);
	port = fabric_port(f.topo, LUSTRE_SW2, 1);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, port)->profile[0].max, 2000000);
	assert_int_equal(change(&f, LUSTRE_SW2, 0xff09, 1, "profile1_min", 7), OK);
	d = ibcc_engine_dcqcn(f.engine, port);
	assert_int_equal(d->profile[0].min, 7 * 1024);
	assert_int_equal(d->profile[0].percent, 90);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, port + 1)->profile[0].min, 5000);
	assert_int_equal(change(&f, LUSTRE_SW2, 0xff10, 1, "sl3", 2), OK);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, port)->sl2profile[3], 2);
	assert_int_equal(change(&f, LUSTRE_SRC1, 0xff21, 0, "rpg_min_rate", 77), OK);
	port = fabric_port(f.topo, LUSTRE_SRC1, 1);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, port)->rp.rpg_min_rate_mbps, 77);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, port)->rp.rpg_ai_rate_mbps, 60);
	assert_int_equal(change(&f, LUSTRE_SRC1, 0xff22, 0, "min_time_between_cnps", 9), OK);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, port)->min_time_between_cnps_us, 9);

	/* CNPs are those of the engine. */
	engine_run(f.engine, 3 * IBCC_PS_PER_MS);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff23), OK);
	ibcc_vcc_ca_statistics_unpack(f.mad.b, &was);
	assert_true(was.cnp_handled > 0 && was.cnp_ignored == 0);
	assert_int_equal(get(&f, LUSTRE_SLOW, 0xff23), OK);
	ibcc_vcc_ca_statistics_unpack(f.mad.b, &s);
	assert_true(s.cnp_sent > 0 && s.marked_packets > s.cnp_sent);
	/* An adapter that does not react any longer goes on to answer marks. */
	agents_clear(&f);
	f.mad.b[64] = 0x80;
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 2, 0xff20, 0), OK);
	assert_true(ibcc_engine_dcqcn(f.engine, port)->no_react);
	assert_false(ibcc_engine_dcqcn(f.engine, port)->no_notify);
	engine_run(f.engine, 6 * IBCC_PS_PER_MS);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff23), OK);
	ibcc_vcc_ca_statistics_unpack(f.mad.b, &s);
	assert_true(s.cnp_handled == was.cnp_handled && s.cnp_ignored > 0);
	/* A device that does not have it does nothing of it; a node that is no device does. */
	p = ibcc_profile_like(0x2c9, 0xcf08);
	assert_true(ibcc_engine_dcqcn(f.engine, fabric_port(f.topo, LUSTRE_SW1, 1))->enabled);
	assert_int_equal(ibcc_agents_set_profile(f.agents, LUSTRE_SW1, &p), 0);
	assert_false(ibcc_engine_dcqcn(f.engine, fabric_port(f.topo, LUSTRE_SW1, 1))->enabled);
	/* A switch that is off does not mark. */
	give(&f, LUSTRE_SW2, IBCC_NVIDIA_CC_OFF);
	assert_false(ibcc_engine_dcqcn(f.engine, fabric_port(f.topo, LUSTRE_SW2, 3))->enabled);
	agents_close(&f);
}

/* After a reboot the registers and the engine have what the model says, and not what was set. */
static void test_reboot_dcqcn(void **state)
{
	struct agent_fabric f = { 0 };
	uint32_t ca, sw;

	(void)state;
	open_dcqcn(&f);
	ca = fabric_port(f.topo, LUSTRE_SRC1, 1);
	sw = fabric_port(f.topo, LUSTRE_SW2, 1);
	assert_int_equal(change(&f, LUSTRE_SRC1, 0xff21, 0, "rpg_ai_rate", 77), OK);
	assert_int_equal(change(&f, LUSTRE_SRC1, 0xff22, 0, "min_time_between_cnps", 9), OK);
	assert_int_equal(change(&f, LUSTRE_SW2, 0xff09, 1, "profile1_percent", 7), OK);
	assert_int_equal(change(&f, LUSTRE_SW2, 0xff10, 1, "sl3", 2), OK);
	assert_int_equal(ibcc_agents_forget(f.agents, LUSTRE_SRC1), 0);
	assert_int_equal(ibcc_agents_forget(f.agents, LUSTRE_SW2), 0);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff21), OK);
	assert_int_equal(field(&f, 0xff21, "rpg_ai_rate"), 60);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff22), OK);
	assert_int_equal(field(&f, 0xff22, "min_time_between_cnps"), 2);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SW2, 0x21, 2, 1, 0xff09, 1), OK);
	assert_int_equal(field(&f, 0xff09, "profile1_percent"), 90);
	give(&f, LUSTRE_SRC1, IBCC_NVIDIA_CC_ON);
	give(&f, LUSTRE_SW2, IBCC_NVIDIA_CC_ON);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, ca)->rp.rpg_ai_rate_mbps, 60);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, ca)->min_time_between_cnps_us, 2);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, sw)->profile[0].percent, 90);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, sw)->profile[0].max, 2000000);
	assert_int_equal(ibcc_engine_dcqcn(f.engine, sw)->sl2profile[3], 1);
	agents_close(&f);
}

/* Settings go over to a new engine. */
static void test_bind(void **state)
{
	struct agent_fabric f = { 0 }, g = { 0 };
	uint32_t port;

	(void)state;
	open_dcqcn(&f);
	open_dcqcn(&g);
	assert_int_equal(change(&f, LUSTRE_SRC1, 0xff21, 0, "rpg_ai_rate", 123), OK);
	assert_int_equal(ibcc_agents_bind(f.agents, g.topo, g.engine), 0);
	port = fabric_port(g.topo, LUSTRE_SRC1, 1);
	assert_int_equal(ibcc_engine_dcqcn(g.engine, port)->rp.rpg_ai_rate_mbps, 123);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xff21), OK);
	assert_int_equal(field(&f, 0xff21, "rpg_ai_rate"), 123);
	agents_close(&f);
	agents_close(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_has_none), cmocka_unit_test(test_on_and_off),
		cmocka_unit_test(test_key),          cmocka_unit_test(test_statistics),
		cmocka_unit_test(test_parameters),   cmocka_unit_test(test_unknown_bits),
		cmocka_unit_test(test_refused),      cmocka_unit_test(test_reboot),
		cmocka_unit_test(test_reboot_dcqcn),
		cmocka_unit_test(test_effect),       cmocka_unit_test(test_bind),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
