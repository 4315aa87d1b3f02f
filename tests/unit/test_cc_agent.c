/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Class 0x21 of simulated nodes, asked and told by libibmad's field table. */
#include <errno.h>

#include "tests/unit/agents.h"

enum {
	CPI = 0x01,
	INFO = 0x11,
	KEY = 0x12,
	LOG = 0x13,
	SW = 0x14,
	SW_PORT = 0x15,
	CA = 0x16,
	CCT = 0x17,
	TIME = 0x18,
};

static int get(struct agent_fabric *f, uint32_t node, uint16_t attr, uint32_t mod)
{
	return agents_send(f, node, 0x21, 2, 1, attr, mod);
}

/* Sets what f->mad holds; the answer must be the same bytes. */
static int set(struct agent_fabric *f, uint32_t node, uint16_t attr, uint32_t mod)
{
	struct datagram before = f->mad;
	int r = agents_send(f, node, 0x21, 2, 2, attr, mod);

	assert_memory_equal(f->mad.b + 24, before.b + 24, 256 - 24);
	return r;
}

static void use_key(struct agent_fabric *f, uint64_t key)
{
	mad_set_field64(f->mad.b, 0, IB_CC_CCKEY_F, key);
}

static void test_what_nodes_say_of_themselves(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	assert_int_equal(get(&f, LUSTRE_SRC1, CPI, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CPI_CLASSVER_F), 2);
	assert_int_equal(get(&f, LUSTRE_SRC1, INFO, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F), 2);
	assert_int_equal(get(&f, LUSTRE_SW1, INFO, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_INFO_CONTROL_TABLE_CAP_F), 0);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_INFO_F), 0);
	agents_close(&f);
}

static void test_status_codes(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 1, 1, INFO, 0), BAD_VERSION);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 3, INFO, 0), BAD_METHOD);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0x19, 0), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0x10, 0), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SRC1, 0xffff, 0), BAD_ATTR);
	assert_int_equal(set(&f, LUSTRE_SRC1, INFO, 0), BAD_ATTR);
	assert_int_equal(set(&f, LUSTRE_SRC1, TIME, 0), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SRC1, SW, 0), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SRC1, SW_PORT, 0), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SW1, CA, 0), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SW1, CCT, 0), BAD_ATTR);
	assert_int_equal(get(&f, LUSTRE_SRC1, CA, 1), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SRC1, CCT, 2), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SRC1, CCT, UINT32_MAX), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SW1, SW_PORT, 1), BAD_FIELD);
	assert_int_equal(get(&f, LUSTRE_SW1, SW_PORT, UINT32_MAX), BAD_FIELD);
	/* No request at all, and no class of ours. */
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 0x81, INFO, 0), -ETIMEDOUT);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 0x07, INFO, 0), -ETIMEDOUT);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x06, 1, 1, INFO, 0), -ETIMEDOUT);
	agents_close(&f);
}

static void test_key(void **state)
{
	const uint64_t key = 0x0123456789abcdef;
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	mad_set_field64(f.mad.b, MAD_DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F, key);
	agents_put(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F, 0);
	agents_put(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F, 2);
	assert_int_equal(set(&f, LUSTRE_SRC1, KEY, 0), OK);

	/* Without protection any program may read, also the key; only its owner may write. */
	agents_clear(&f);
	assert_int_equal(get(&f, LUSTRE_SRC1, KEY, 0), OK);
	assert_true(mad_get_field64(f.mad.b, MAD_DATA, IB_CC_CONGESTION_KEY_INFO_CC_KEY_F) == key);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F), 0);
	agents_clear(&f);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 2, CA, 0), -ETIMEDOUT);
	assert_int_equal(get(&f, LUSTRE_SRC1, KEY, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F), 1);

	/* With it no other program may do anything. A violation count other than 0 leaves the
	 * counter.
	 */
	agents_put(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F, 1);
	agents_put(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F, 9);
	use_key(&f, key);
	assert_int_equal(set(&f, LUSTRE_SRC1, KEY, 0), OK);
	agents_clear(&f);
	assert_int_equal(get(&f, LUSTRE_SRC1, INFO, 0), -ETIMEDOUT);
	use_key(&f, key);
	assert_int_equal(get(&f, LUSTRE_SRC1, KEY, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F), 1);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F), 2);
	assert_int_equal(get(&f, LUSTRE_SRC1, LOG, 0), OK);
	assert_int_equal(mad_get_field(f.mad.b, 32, IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F), 1);

	/* The lease: two seconds after a violation the key no longer protects. */
	engine_run(f.engine, 1999 * IBCC_PS_PER_MS);
	agents_clear(&f);
	assert_int_equal(get(&f, LUSTRE_SRC1, INFO, 0), -ETIMEDOUT);
	engine_run(f.engine, 2000 * IBCC_PS_PER_MS);
	assert_int_equal(get(&f, LUSTRE_SRC1, INFO, 0), OK);
	assert_int_equal(agents_send(&f, LUSTRE_SRC1, 0x21, 2, 2, CA, 0), -ETIMEDOUT);

	/* A count of 0 clears it, and a Set by the owner stops the lease. */
	agents_clear(&f);
	use_key(&f, key);
	assert_int_equal(set(&f, LUSTRE_SRC1, KEY, 0), OK);
	agents_clear(&f);
	assert_int_equal(get(&f, LUSTRE_SRC1, KEY, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F), 0);
	assert_int_equal(get(&f, LUSTRE_SRC1, LOG, 0), OK);
	assert_int_equal(mad_get_field(f.mad.b, 32, IB_CC_CONGESTION_LOG_CONGESTION_FLAGS_F), 0);
	/* Other nodes have keys of their own. */
	assert_int_equal(set(&f, LUSTRE_SRC2, CA, 0), OK);
	agents_close(&f);
}

/* A node that has a key by its profile. */
static void test_key_from_the_start(void **state)
{
	struct ibcc_profile keyed = *ibcc_profile(0);
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	keyed.cc_key = 0x5afe;
	keyed.cc_key_protect = true;
	keyed.cc_key_lease_s = 30;
	assert_int_equal(ibcc_agents_set_profile(f.agents, LUSTRE_SRC1, &keyed), 0);
	assert_int_equal(get(&f, LUSTRE_SRC1, INFO, 0), -ETIMEDOUT);
	assert_int_equal(get(&f, LUSTRE_SRC2, INFO, 0), OK);
	use_key(&f, 0x5afe);
	assert_int_equal(get(&f, LUSTRE_SRC1, KEY, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F), 1);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_LEASE_PERIOD_F), 30);
	agents_close(&f);
}

/* A key that its owner replaces: the old one is wrong at once, and counts. */
static void test_another_key(void **state)
{
	struct ibcc_profile keyed = *ibcc_profile(0);
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	keyed.cc_key = 0x5afe;
	keyed.cc_key_protect = true;
	assert_int_equal(ibcc_agents_set_profile(f.agents, LUSTRE_SRC1, &keyed), 0);
	assert_int_equal(ibcc_agents_set_key(f.agents, LUSTRE_SRC1, 0xfeedfacecafe0001), 0);
	assert_int_equal(ibcc_agents_set_key(f.agents, 9999, 1), -EINVAL);
	use_key(&f, 0x5afe);
	assert_int_equal(get(&f, LUSTRE_SRC1, INFO, 0), -ETIMEDOUT);
	use_key(&f, 0xfeedfacecafe0001);
	assert_int_equal(get(&f, LUSTRE_SRC1, KEY, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_VIOLATIONS_F), 1);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_KEY_INFO_CC_KEY_PROTECT_BIT_F), 1);
	agents_close(&f);
}

static void test_switch_setting(void **state)
{
	uint8_t mask[32] = { [31] = 0xfe, [0] = 0x80 }, got[32];
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	agents_put(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F, 0x1f);
	mad_set_array(f.mad.b, MAD_DATA, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F, mask);
	agents_put(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F, 9);
	agents_put(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F, 8);
	agents_put(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F, 3);
	agents_put(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CS_RETURN_DELAY_F, 0x4001);
	agents_put(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F, 1000);
	assert_int_equal(set(&f, LUSTRE_SW2, SW, 0), OK);
	/* Only the marking rate; all other fields of the request say 0. */
	agents_clear(&f);
	agents_put(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F, 0x10);
	agents_put(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F, 7);
	assert_int_equal(set(&f, LUSTRE_SW2, SW, 0), OK);
	assert_int_equal(get(&f, LUSTRE_SW2, SW, 0), OK);
	mad_get_array(f.mad.b, MAD_DATA, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F, got);
	assert_memory_equal(got, mask, sizeof(mask));
	assert_int_equal(agents_field(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F), 0x1f);
	assert_int_equal(agents_field(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F), 9);
	assert_int_equal(agents_field(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_PACKET_SIZE_F), 8);
	assert_int_equal(agents_field(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CS_THRESHOLD_F), 3);
	assert_int_equal(agents_field(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CS_RETURN_DELAY_F),
			 0x4001);
	assert_int_equal(agents_field(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_MARKING_RATE_F), 7);
	/* The other switch is another one. */
	assert_int_equal(get(&f, LUSTRE_SW1, SW, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F), 0);
	agents_close(&f);
}

/* Ports 0 to 8 are the first elements of block 0 with either block size. */
static void check_port_elements(uint8_t block)
{
	struct agent_fabric f = { 0 };
	int offs = 4 * 5, i;

	agents_open(&f, block);
	for (i = 0; i < block; i++)
		agents_put(&f, 4 * i, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F, 1);
	agents_put(&f, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_THRESHOLD_F, 15);
	agents_put(&f, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_PACKET_SIZE_F, 2);
	agents_put(&f, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONG_PARM_MARKING_RATE_F,
		   3);
	assert_int_equal(set(&f, LUSTRE_SW1, SW_PORT, 0), OK);
	memset(&f.mad, 0xff, sizeof(f.mad));
	use_key(&f, 0);
	assert_int_equal(get(&f, LUSTRE_SW1, SW_PORT, 0), OK);
	assert_int_equal(
		agents_field(&f, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_THRESHOLD_F),
		15);
	assert_int_equal(
		agents_field(&f, offs, IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_PACKET_SIZE_F),
		2);
	assert_int_equal(
		agents_field(&f, offs,
			     IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_CONG_PARM_MARKING_RATE_F),
		3);
	for (i = 0; i < 48; i++)
		assert_int_equal(agents_field(&f, 4 * i,
					      IB_CC_SWITCH_PORT_CONGESTION_SETTING_ELEMENT_VALID_F),
				 i <= 8);
	agents_close(&f);
}

static void test_switch_port_setting(void **state)
{
	(void)state;
	check_port_elements(48);
	check_port_elements(32);
}

static int ca_entry(int sl)
{
	return 4 + 8 * sl;
}

static void test_ca_setting(void **state)
{
	struct agent_fabric f = { 0 };
	int sl;

	(void)state;
	agents_open(&f, 48);
	agents_put(&f, 0, IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F, 1);
	agents_put(&f, 0, IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F, 0x8002);
	for (sl = 0; sl < 16; sl++) {
		agents_put(&f, ca_entry(sl), IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F,
			   100 + (uint32_t)sl);
		agents_put(&f, ca_entry(sl), IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F, 4);
		agents_put(&f, ca_entry(sl), IB_CC_CA_CONGESTION_ENTRY_TRIGGER_THRESHOLD_F, 5);
		agents_put(&f, ca_entry(sl), IB_CC_CA_CONGESTION_ENTRY_CCTI_MIN_F, 0);
	}
	assert_int_equal(set(&f, LUSTRE_SRC3, CA, 0), OK);
	assert_int_equal(get(&f, LUSTRE_SRC3, CA, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CA_CONGESTION_SETTING_PORT_CONTROL_F), 1);
	assert_int_equal(agents_field(&f, 0, IB_CC_CA_CONGESTION_SETTING_CONTROL_MAP_F), 0xffff);
	for (sl = 0; sl < 16; sl++) {
		bool told = sl == 1 || sl == 15;

		assert_int_equal(
			agents_field(&f, ca_entry(sl), IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F),
			told ? 100 + sl : 0);
		assert_int_equal(
			agents_field(&f, ca_entry(sl), IB_CC_CA_CONGESTION_ENTRY_CCTI_INCREASE_F),
			told ? 4 : 0);
	}
	agents_close(&f);
}

static void put_block(struct agent_fabric *f, unsigned int limit, unsigned int block)
{
	unsigned int i;

	agents_clear(f);
	agents_put(f, 0, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F, limit);
	for (i = 0; i < 64; i++)
		agents_put(f, 4 + 2 * (int)i, IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_MULTIPLIER_F,
			   64 * block + i);
}

static void test_table(void **state)
{
	struct agent_fabric f = { 0 };
	unsigned int block, i;

	(void)state;
	agents_open(&f, 48);
	put_block(&f, 63, 0);
	assert_int_equal(set(&f, LUSTRE_SRC1, CCT, 0), OK);
	put_block(&f, 100, 1);
	assert_int_equal(set(&f, LUSTRE_SRC1, CCT, 1), OK);
	put_block(&f, 128, 1);
	assert_int_equal(set(&f, LUSTRE_SRC1, CCT, 1), BAD_FIELD);
	for (block = 0; block < 2; block++) {
		agents_clear(&f);
		assert_int_equal(get(&f, LUSTRE_SRC1, CCT, block), OK);
		assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F),
				 100);
		for (i = 0; i < 64 && 64 * block + i <= 100; i++)
			assert_int_equal(
				agents_field(&f, 4 + 2 * (int)i,
					     IB_CC_CONGESTION_CONTROL_TABLE_ENTRY_CCT_MULTIPLIER_F),
				64 * block + i);
	}
	/* OpenSM's way to switch a table off: one block with limit 0. */
	agents_clear(&f);
	assert_int_equal(set(&f, LUSTRE_SRC1, CCT, 0), OK);
	assert_int_equal(get(&f, LUSTRE_SRC1, CCT, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_CONGESTION_CONTROL_TABLE_CCTI_LIMIT_F), 0);
	agents_close(&f);
}

static void test_timestamp(void **state)
{
	struct agent_fabric f = { 0 };

	(void)state;
	agents_open(&f, 48);
	assert_int_equal(get(&f, LUSTRE_SW1, TIME, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_TIMESTAMP_F), 0);
	engine_run(f.engine, 1024000ull * 777 + 1023999);
	assert_int_equal(get(&f, LUSTRE_SRC1, TIME, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_TIMESTAMP_F), 777);
	/* One that lies, or stands still, and it alone. */
	ibcc_agents_quirks(f.agents, LUSTRE_SRC1)->clock_off_permille = 1000;
	assert_int_equal(get(&f, LUSTRE_SRC1, TIME, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_TIMESTAMP_F), 2 * 777);
	ibcc_agents_quirks(f.agents, LUSTRE_SRC1)->clock_off_permille = -1000;
	assert_int_equal(get(&f, LUSTRE_SRC1, TIME, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_TIMESTAMP_F), 0);
	assert_int_equal(get(&f, LUSTRE_SW1, TIME, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_TIMESTAMP_F), 777);
	/* One that jumps ahead, and back to before its start. */
	ibcc_agents_quirks(f.agents, LUSTRE_SW1)->clock_jump_ns = 1024 * 223;
	assert_int_equal(get(&f, LUSTRE_SW1, TIME, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_TIMESTAMP_F), 1000);
	ibcc_agents_quirks(f.agents, LUSTRE_SW1)->clock_jump_ns = -1024 * 778;
	assert_int_equal(get(&f, LUSTRE_SW1, TIME, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_TIMESTAMP_F), UINT32_MAX);
	agents_close(&f);
}

/* Marking at the switch before the slow sink, where the victim mask makes it count. */
static void mark(struct agent_fabric *f)
{
	uint8_t mask[32];

	agents_clear(f);
	memset(mask, 0xff, sizeof(mask));
	agents_put(f, 0, IB_CC_SWITCH_CONGESTION_SETTING_CONTROL_MAP_F, 0x1f);
	mad_set_array(f->mad.b, MAD_DATA, IB_CC_SWITCH_CONGESTION_SETTING_VICTIM_MASK_F, mask);
	agents_put(f, 0, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F, 15);
	assert_int_equal(set(f, LUSTRE_SW2, SW, 0), OK);
	agents_clear(f);
}

static uint64_t marked(struct agent_fabric *f)
{
	struct ibcc_engine_port c;

	assert_int_equal(ibcc_agents_counters(f->agents, fabric_port(f->topo, LUSTRE_SW2, 1), &c),
			 0);
	return c.mark_fecn;
}

static void test_settings_work(void **state)
{
	struct agent_fabric f = { 0 };
	uint8_t ports[32];
	uint64_t n;
	uint32_t at;

	(void)state;
	agents_open(&f, 48);
	agents_congest(&f);
	engine_run(f.engine, IBCC_PS_PER_MS);
	assert_int_equal(marked(&f), 0);
	mark(&f);
	engine_run(f.engine, 2 * IBCC_PS_PER_MS);
	n = marked(&f);
	assert_true(n > 0);

	/* The log tells which port marked, and packets with the source's and the sink's LIDs. */
	assert_int_equal(get(&f, LUSTRE_SW2, LOG, 0), OK);
	assert_int_equal(mad_get_field(f.mad.b, 32, IB_CC_CONGESTION_LOG_LOGTYPE_F), 1);
	assert_true(mad_get_field(f.mad.b, 32, IB_CC_CONGESTION_LOG_SWITCH_LOG_EVENTS_COUNTER_F) >
		    0);
	assert_int_equal(
		mad_get_field(f.mad.b, 32, IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F),
		2 * IBCC_PS_PER_MS / 1024000);
	mad_get_array(f.mad.b, 32, IB_CC_CONGESTION_LOG_SWITCH_PORTMAP_F, ports);
	assert_int_equal(ports[31], 1 << 1);
	assert_int_equal(mad_get_field(f.mad.b, 32 + 40, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_DLID_F),
			 f.topo->port[fabric_port(f.topo, LUSTRE_SLOW, 1)].lid);
	/* A switch whose clock has jumped logs by that clock, too. */
	at = mad_get_field(f.mad.b, 32 + 40, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F);
	assert_true(at > 0 && at <= 2 * IBCC_PS_PER_MS / 1024000);
	ibcc_agents_quirks(f.agents, LUSTRE_SW2)->clock_jump_ns = 1024 * 70000;
	assert_int_equal(get(&f, LUSTRE_SW2, LOG, 0), OK);
	assert_int_equal(
		mad_get_field(f.mad.b, 32, IB_CC_CONGESTION_LOG_SWITCH_CURRENT_TIME_STAMP_F),
		70000 + 2 * IBCC_PS_PER_MS / 1024000);
	assert_int_equal(
		mad_get_field(f.mad.b, 32 + 40, IB_CC_CONGESTION_LOG_ENTRY_SWITCH_TIMESTAMP_F),
		70000 + at);
	ibcc_agents_quirks(f.agents, LUSTRE_SW2)->clock_jump_ns = 0;
	assert_int_equal(get(&f, LUSTRE_SRC1, LOG, 0), OK);
	assert_int_equal(mad_get_field(f.mad.b, 32, IB_CC_CONGESTION_LOG_LOGTYPE_F), 2);

	/* A node without support refuses, and marks no longer; what it was told comes back. */
	assert_int_equal(ibcc_agents_set_support(f.agents, LUSTRE_SW2, false), 0);
	assert_false(ibcc_agents_support(f.agents, LUSTRE_SW2));
	assert_int_equal(get(&f, LUSTRE_SW2, INFO, 0), BAD_ATTR);
	n = marked(&f);
	engine_run(f.engine, 3 * IBCC_PS_PER_MS);
	assert_int_equal(marked(&f), n);
	assert_int_equal(ibcc_agents_set_support(f.agents, LUSTRE_SW2, true), 0);
	engine_run(f.engine, 4 * IBCC_PS_PER_MS);
	assert_true(marked(&f) > n);
	assert_int_equal(ibcc_agents_set_support(f.agents, 99, false), -EINVAL);
	agents_close(&f);
}

static void test_new_engine(void **state)
{
	struct agent_fabric f = { 0 };
	struct ibcc_engine *next;
	struct ibcc_topo *t;
	struct ibcc_model m;
	uint64_t n;

	(void)state;
	agents_open(&f, 48);
	agents_congest(&f);
	mark(&f);
	engine_run(f.engine, IBCC_PS_PER_MS);
	n = marked(&f);
	assert_true(n > 0);
	ibcc_model_defaults(&m);
	t = fabric_lustre();
	next = engine_new(t, &m, 1);
	engine_run(next, IBCC_PS_PER_MS);
	assert_int_equal(ibcc_agents_bind(f.agents, t, next), 0);
	ibcc_engine_free(f.engine);
	ibcc_topo_free(f.topo);
	f.engine = next;
	f.topo = t;
	assert_int_equal(marked(&f), n);
	agents_congest(&f);
	engine_run(f.engine, 2 * IBCC_PS_PER_MS);
	assert_true(marked(&f) > n);
	agents_close(&f);
}

static void test_settings_from_the_start(void **state)
{
	struct ibcc_static_cc cc = { .enabled = true,
				     .sw = { .Threshold = 15 },
				     .ca = { .sl = { [3] = { .CCTI_Timer = 12 } } },
				     .cct = { .limit = 1, .entry = { 0, 5 } } };
	struct agent_fabric f = { 0 };
	struct ibcc_engine_port c;

	(void)state;
	agents_open(&f, 48);
	memset(&cc.sw.Victim_Mask, 0xff, sizeof(cc.sw.Victim_Mask));
	assert_int_equal(ibcc_agents_load(f.agents, &cc), 0);
	assert_int_equal(get(&f, LUSTRE_SW1, SW, 0), OK);
	assert_int_equal(agents_field(&f, 0, IB_CC_SWITCH_CONGESTION_SETTING_THRESHOLD_F), 15);
	assert_int_equal(get(&f, LUSTRE_FAST, CA, 0), OK);
	assert_int_equal(agents_field(&f, ca_entry(3), IB_CC_CA_CONGESTION_ENTRY_CCTI_TIMER_F), 12);
	agents_congest(&f);
	engine_run(f.engine, IBCC_PS_PER_MS);
	assert_int_equal(ibcc_agents_counters(f.agents, fabric_port(f.topo, LUSTRE_SLOW, 1), &c),
			 0);
	assert_true(c.rcv_fecn > 0);
	agents_close(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_nodes_say_of_themselves),
		cmocka_unit_test(test_status_codes),
		cmocka_unit_test(test_key),
		cmocka_unit_test(test_key_from_the_start),
		cmocka_unit_test(test_another_key),
		cmocka_unit_test(test_switch_setting),
		cmocka_unit_test(test_switch_port_setting),
		cmocka_unit_test(test_ca_setting),
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_timestamp),
		cmocka_unit_test(test_settings_work),
		cmocka_unit_test(test_new_engine),
		cmocka_unit_test(test_settings_from_the_start),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
