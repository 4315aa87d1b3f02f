/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The copy of OpenSM's tables: nodes made by hand in OpenSM's own structures, rates as OpenSM
 * itself computes them from the same PortInfo.
 */
#include "fake_osm.h"

#include "opensm-plugin/fabric.h"

static osm_opensm_t *osm;

static int setup(void **state)
{
	(void)state;
	osm = fake_osm_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_osm_free(osm);
	return 0;
}

/* Memory is had between the looks at OpenSM's tables, where they may change. */
static bool watched, grows;
static int locked; /* by the lock's own word */

void *reallocarray(void *p, size_t n, size_t size)
{
	if (watched && pthread_rwlock_trywrlock(&osm->lock.lock))
		locked++;
	else if (watched)
		pthread_rwlock_unlock(&osm->lock.lock);
	if (grows) {
		grows = false;
		for (unsigned int i = 0; i < 40; i++)
			fake_osm_node(osm, 0x5000 + i, IB_NODE_TYPE_SWITCH, 36, "new");
	}
	return n > SIZE_MAX / (size ? size : 1) ? NULL : realloc(p, n * size);
}

static struct ibcc_topo *read_fabric(void)
{
	uint64_t locked_ns = 0;
	struct ibcc_topo *t = ibcc_plugin_fabric_read(osm, &locked_ns);

	assert_non_null(t);
	assert_true(locked_ns > 0);
	return t;
}

/* A fabric that grows between measuring and copying; and nothing is allocated under the lock. */
static void test_grows(void **state)
{
	struct ibcc_topo *t;

	(void)state;
	fake_osm_node(osm, 0x02, IB_NODE_TYPE_CA, 1, "ca");
	watched = grows = true;
	locked = 0;
	t = read_fabric();
	watched = false;
	assert_false(grows);
	assert_int_equal(locked, 0);
	assert_int_equal(t->n_nodes, 41);
	ibcc_topo_free(t);
}

static void test_empty(void **state)
{
	struct ibcc_topo *t = read_fabric();

	(void)state;
	assert_int_equal(t->n_nodes, 0);
	ibcc_topo_free(t);
}

/* GUIDs whose order differs between host and network order; a two-port adapter of which OpenSM has
 * seen one port only; a table longer than its last entry.
 */
static void test_fabric(void **state)
{
	osm_node_t *sw = fake_osm_node(osm, 0x0100, IB_NODE_TYPE_SWITCH, 3, "sw"), *ca, *two;
	struct ibcc_topo *t;
	uint32_t s, c, d, p;

	(void)state;
	ca = fake_osm_node(osm, 0x02, IB_NODE_TYPE_CA, 1, "ca one");
	two = fake_osm_node(osm, 0xff00000000000001, IB_NODE_TYPE_CA, 2, NULL);
	fake_osm_port(ca, 1, 0x03);
	fake_osm_port(two, 2, 0xff00000000000003);
	fake_osm_lid(sw, 0, 1);
	fake_osm_lid(sw, 1, 99); /* external ports have none, whatever they say */
	fake_osm_lid(ca, 1, 4);
	fake_osm_lid(two, 2, 8);
	two->physp_table[2].port_info.mkey_lmc = 1;
	fake_osm_link(sw, 1, ca, 1);
	fake_osm_link(sw, 3, two, 2);
	sw->sw->lft[1] = 0;
	sw->sw->lft[4] = 1;
	sw->sw->lft[9] = 3;
	sw->sw->switch_info.flags = 0x08;
	ib_port_info_set_port_state(&sw->physp_table[2].port_info, IB_LINK_DOWN);

	t = read_fabric();
	assert_int_equal(t->n_nodes, 3);
	s = ibcc_topo_find_guid(t, 0x0100);
	c = ibcc_topo_find_guid(t, 0x02);
	d = ibcc_topo_find_guid(t, 0xff00000000000001);
	assert_true(s != IBCC_NONE && c != IBCC_NONE && d != IBCC_NONE);
	assert_int_equal(t->node[s].type, IBCC_NODE_SWITCH);
	assert_int_equal(t->node[s].n_ports, 3);
	assert_true(t->node[s].enhanced_port0);
	assert_string_equal(t->node[s].desc, "sw");
	assert_string_equal(t->node[d].desc, "");
	assert_int_equal(t->node[s].lft_len, 10);
	assert_int_equal(t->node[s].lft[9], 3);
	assert_int_equal(t->node[s].lft[2], IBCC_LFT_NONE);

	p = ibcc_topo_port_index(t, s, 1);
	assert_int_equal(t->port[p].peer, ibcc_topo_port_index(t, c, 1));
	assert_int_equal(t->port[p].rate_mbps, 32000);
	assert_int_equal(t->port[p].mtu_bytes, 2048);
	assert_int_equal(t->port[p].op_vls, 4);
	assert_int_equal(t->port[p].state, 4);
	assert_int_equal(t->port[p].lid, 0);
	p = ibcc_topo_port_index(t, s, 2);
	assert_int_equal(t->port[p].peer, IBCC_NONE);
	assert_int_equal(t->port[p].state, 1);
	p = ibcc_topo_port_index(t, d, 2);
	assert_int_equal(t->port[p].peer, ibcc_topo_port_index(t, s, 3));
	assert_int_equal(t->port[p].guid, 0xff00000000000003);
	/* LMC 1: two LIDs */
	assert_int_equal(ibcc_topo_port_of_lid(t, 8), p);
	assert_int_equal(ibcc_topo_port_of_lid(t, 9), p);
	assert_int_equal(ibcc_topo_port_of_lid(t, 10), IBCC_NONE);
	assert_int_equal(ibcc_topo_port_of_lid(t, 1), ibcc_topo_port_index(t, s, 0));
	assert_int_equal(ibcc_topo_port_of_lid(t, 99), IBCC_NONE);
	ibcc_topo_free(t);
}

/* As in the middle of a sweep: two ports with one LID, a link to a node that has left the table. */
static void test_contradictions(void **state)
{
	osm_node_t *a = fake_osm_node(osm, 1, IB_NODE_TYPE_CA, 1, "a"),
		   *b = fake_osm_node(osm, 2, IB_NODE_TYPE_CA, 1, "b");
	osm_node_t *gone = fake_osm_node(osm, 3, IB_NODE_TYPE_CA, 1, "gone");
	struct ibcc_topo *t;

	(void)state;
	fake_osm_port(a, 1, 11);
	fake_osm_port(b, 1, 12);
	fake_osm_port(gone, 1, 13);
	fake_osm_lid(a, 1, 5);
	fake_osm_lid(b, 1, 5);
	fake_osm_link(a, 1, gone, 1);
	fake_osm_node(osm, 4, IB_NODE_TYPE_CA, 0, "no ports");
	cl_qmap_remove(&osm->subn.node_guid_tbl, cl_hton64(3));
	t = read_fabric();
	assert_int_equal(t->n_nodes, 2);
	assert_int_equal(ibcc_topo_port_of_lid(t, 5), ibcc_topo_port_index(t, 0, 1));
	assert_int_equal(t->port[ibcc_topo_port_index(t, 1, 1)].lid, 0);
	assert_int_equal(t->port[ibcc_topo_port_index(t, 0, 1)].peer, IBCC_NONE);
	ibcc_topo_free(t);
	free(gone);
}

/* Signalling rate in 1/10 Gb/s by OpenSM's rate code (IBA vol. 1, PathRecord:Rate). */
static uint32_t signalling(uint8_t code)
{
	static const struct {
		uint8_t code;
		uint32_t rate;
	} rates[] = {
		{ IB_PATH_RECORD_RATE_2_5_GBS, 25 },   { IB_PATH_RECORD_RATE_10_GBS, 100 },
		{ IB_PATH_RECORD_RATE_20_GBS, 200 },   { IB_PATH_RECORD_RATE_40_GBS, 400 },
		{ IB_PATH_RECORD_RATE_56_GBS, 5625 },  { IB_PATH_RECORD_RATE_100_GBS, 10312 },
		{ IB_PATH_RECORD_RATE_120_GBS, 1200 },
	};

	for (unsigned int i = 0; i < sizeof(rates) / sizeof(*rates); i++)
		if (rates[i].code == code)
			return rates[i].rate;
	return 0;
}

static void test_rates(void **state)
{
	static const struct {
		uint8_t width, speed, ext, fdr10;
		bool capable;
		uint32_t mbps;
		uint32_t openib; /* what OpenSM calls it, see signalling() */
	} cases[] = {
		{ IB_LINK_WIDTH_ACTIVE_1X, IB_LINK_SPEED_ACTIVE_2_5, 0, 0, true, 2000, 25 },
		{ IB_LINK_WIDTH_ACTIVE_4X, IB_LINK_SPEED_ACTIVE_5, 0, 0, true, 16000, 200 },
		{ IB_LINK_WIDTH_ACTIVE_12X, IB_LINK_SPEED_ACTIVE_10, 0, 0, true, 96000, 1200 },
		{ IB_LINK_WIDTH_ACTIVE_4X, IB_LINK_SPEED_ACTIVE_10, 0, FDR10, false, 40000, 400 },
		{ IB_LINK_WIDTH_ACTIVE_4X, IB_LINK_SPEED_ACTIVE_10, IB_LINK_SPEED_EXT_ACTIVE_14, 0,
		  true, 54545, 5625 },
		{ IB_LINK_WIDTH_ACTIVE_4X, IB_LINK_SPEED_ACTIVE_10, IB_LINK_SPEED_EXT_ACTIVE_25, 0,
		  true, 100000, 10312 },
		/* a port that does not say it has extended speeds: their field counts for nothing
		 */
		{ IB_LINK_WIDTH_ACTIVE_4X, IB_LINK_SPEED_ACTIVE_10, IB_LINK_SPEED_EXT_ACTIVE_14, 0,
		  false, 32000, 400 },
	};
	osm_node_t *sw = fake_osm_node(osm, 1, IB_NODE_TYPE_SWITCH, 1, "sw"), *ca;
	ib_port_info_t *info = &sw->physp_table[1].port_info;

	(void)state;
	ca = fake_osm_node(osm, 2, IB_NODE_TYPE_CA, 1, "ca");
	fake_osm_port(ca, 1, 3);
	fake_osm_link(sw, 1, ca, 1);
	for (unsigned int i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct ibcc_topo *t;

		info->link_width_active = cases[i].width;
		info->link_speed = (uint8_t)(cases[i].speed << 4);
		info->link_speed_ext = (uint8_t)(cases[i].ext << 4);
		sw->physp_table[1].ext_port_info.link_speed_active = cases[i].fdr10;
		sw->physp_table[0].port_info.capability_mask =
			cases[i].capable ? IB_PORT_CAP_HAS_EXT_SPEEDS : 0;
		assert_int_equal(signalling(ib_port_info_compute_rate(info, cases[i].capable)),
				 cases[i].openib);
		t = read_fabric();
		assert_int_equal(
			t->port[ibcc_topo_port_index(t, ibcc_topo_find_guid(t, 1), 1)].rate_mbps,
			cases[i].mbps);
		ibcc_topo_free(t);
	}
}

/* XDR, which this OpenSM has no name for: LinkSpeedExtActive2, with LinkSpeedExtActive 0. And what
 * the node is.
 */
static void test_xdr(void **state)
{
	osm_node_t *sw = fake_osm_node(osm, 1, IB_NODE_TYPE_SWITCH, 1, "sw");
	osm_node_t *ca = fake_osm_node(osm, 2, IB_NODE_TYPE_CA, 1, "ca");
	ib_port_info_t *info = &sw->physp_table[1].port_info;
	struct ibcc_topo *t;
	uint32_t node, port;

	(void)state;
	fake_osm_port(ca, 1, 3);
	fake_osm_link(sw, 1, ca, 1);
	info->link_width_active = IB_LINK_WIDTH_ACTIVE_4X;
	info->link_speed = IB_LINK_SPEED_ACTIVE_10 << 4;
	((uint8_t *)info)[56] = 1 << 5;
	sw->node_info.device_id = cl_hton16(0xd2f4);
	sw->node_info.port_num_vendor_id = cl_hton32(0x0002c9);
	t = read_fabric();
	node = ibcc_topo_find_guid(t, 1);
	port = ibcc_topo_port_index(t, node, 1);
	assert_int_equal(t->port[port].rate_mbps, 800000);
	assert_int_equal(t->port[port].lanes, 4);
	assert_int_equal(t->node[node].vendor_id, 0x2c9);
	assert_int_equal(t->node[node].device_id, 54004);
	ibcc_topo_free(t);
}

/* What a port could run at, by OpenSM's own setters; extended speeds only where the node has them.
 */
static void test_caps(void **state)
{
	osm_node_t *sw = fake_osm_node(osm, 1, IB_NODE_TYPE_SWITCH, 1, "sw");
	osm_node_t *ca = fake_osm_node(osm, 2, IB_NODE_TYPE_CA, 1, "ca");
	ib_port_info_t *info = &sw->physp_table[1].port_info;

	(void)state;
	fake_osm_port(ca, 1, 3);
	fake_osm_link(sw, 1, ca, 1);
	info->link_width_supported = 19;
	info->link_width_enabled = 3;
	ib_port_info_set_link_speed_sup(7, info);
	ib_port_info_set_link_speed_enabled(info, 7);
	info->link_speed_ext = 3; /* FDR and EDR */
	ib_port_info_set_link_speed_ext_enabled(info, 31);
	for (int capable = 0; capable < 2; capable++) {
		struct ibcc_topo *t;
		uint32_t port;

		sw->physp_table[0].port_info.capability_mask =
			capable ? IB_PORT_CAP_HAS_EXT_SPEEDS : 0;
		t = read_fabric();
		port = ibcc_topo_port_index(t, ibcc_topo_find_guid(t, 1), 1);
		assert_int_equal(t->port[port].caps.widths, 3);
		assert_int_equal(t->port[port].caps.speeds, capable ? 0x6e : 0x0e);
		ibcc_topo_free(t);
	}
}

static void test_state(void **state)
{
	struct ibcc_proto_state s = { .generation = 5 };

	(void)state;
	osm->subn.sm_state = IB_SMINFO_STATE_STANDBY;
	osm->subn.sm_port_guid = cl_hton64(0x1234);
	osm->subn.opt.subnet_prefix = cl_hton64(0xfe80000000000007);
	ibcc_plugin_sm_read(osm, &s);
	assert_int_equal(s.sm_state, IBCC_SM_STANDBY);
	assert_true(s.subnet_prefix == 0xfe80000000000007);
	assert_int_equal(s.own_cc, 0);
	assert_int_equal(s.port_guid, 0x1234);
	assert_int_equal(s.generation, 5);
	assert_string_equal(s.opensm_version, "OpenSM 3.3.23");
	osm->subn.opt.congestion_control = TRUE;
	ibcc_plugin_sm_read(osm, &s);
	assert_int_equal(s.own_cc, 1);
	assert_false(ibcc_plugin_sm_exiting());
}

#define BOTH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_empty), BOTH(test_grows), BOTH(test_fabric), BOTH(test_contradictions),
		BOTH(test_rates), BOTH(test_xdr),   BOTH(test_caps),   BOTH(test_state),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
