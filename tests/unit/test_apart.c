/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What has no part in congestion control of its own: aggregation nodes, routers, virtual ports. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fabrics.h"

#include <ibcc/device.h>

#include "daemon/report/report.h"

#define VIRTUAL_LID 40u

/* A LID that the tables lead to a node, by the way of that node's own. */
static void route_like(struct ibcc_topo *t, uint16_t lid, uint32_t node)
{
	uint16_t own = t->port[fabric_port(t, node, 1)].lid;
	uint8_t lft[VIRTUAL_LID + 8];

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!ibcc_topo_is_switch(t, i))
			continue;
		memset(lft, IBCC_LFT_NONE, sizeof(lft));
		assert_true(t->node[i].lft_len <= sizeof(lft));
		memcpy(lft, t->node[i].lft, t->node[i].lft_len);
		lft[lid] = lft[own];
		assert_int_equal(ibcc_topo_set_lft(t, i, lft, sizeof(lft)), 0);
	}
}

static void test_virtual_ports(void **state)
{
	struct ibcc_topo *t = fabric_lustre(), *c;
	uint32_t src1 = fabric_port(t, LUSTRE_SRC1, 1);
	json_t *list;

	(void)state;
	assert_int_equal(ibcc_topo_find_virtual(t), 0);
	assert_int_equal(t->n_virtual, 0);
	assert_null(t->virtual_port);
	route_like(t, VIRTUAL_LID, LUSTRE_SRC1);
	route_like(t, VIRTUAL_LID + 2, LUSTRE_FAST);
	assert_int_equal(ibcc_topo_port_of_lid(t, VIRTUAL_LID), IBCC_NONE);
	assert_int_equal(ibcc_topo_find_virtual(t), 0);
	assert_int_equal(t->n_virtual, 2);
	assert_int_equal(ibcc_topo_port_of_lid(t, VIRTUAL_LID), src1);
	assert_int_equal(ibcc_topo_port_of_lid(t, VIRTUAL_LID + 2), fabric_port(t, LUSTRE_FAST, 1));
	assert_int_equal(ibcc_topo_port_of_lid(t, VIRTUAL_LID + 1), IBCC_NONE);
	assert_int_equal(ibcc_topo_port_of_lid(t, t->port[src1].lid), src1);
	c = ibcc_topo_clone(t);
	assert_non_null(c);
	assert_int_equal(ibcc_topo_port_of_lid(c, VIRTUAL_LID), src1);
	assert_true(ibcc_topo_equal(t, c));
	list = ibcc_report_apart(c);
	assert_int_equal(json_array_size(list), 1);
	assert_non_null(
		strstr(json_string_value(json_array_get(list, 0)), "LIDs of virtual ports: 2; "));
	json_decref(list);
	ibcc_topo_free(c);
	ibcc_topo_free(t);
}

/* Tables that lead round and round, to no node, or out of the switch. */
static void test_bad_tables(void **state)
{
	struct ibcc_topo *t = fabric_ring(3);
	uint8_t lft[VIRTUAL_LID + 3];

	(void)state;
	memset(lft, IBCC_LFT_NONE, sizeof(lft));
	lft[VIRTUAL_LID] = 3;
	lft[VIRTUAL_LID + 1] = 200;
	lft[VIRTUAL_LID + 2] = 0;
	for (uint32_t i = 6; i < 9; i++)
		assert_int_equal(ibcc_topo_set_lft(t, i, lft, sizeof(lft)), 0);
	assert_int_equal(ibcc_topo_find_virtual(t), 0);
	assert_int_equal(t->n_virtual, 0);
	ibcc_topo_free(t);
}

/* An adapter of two links, of which one has the LID of both: no node reads it or routes to it. A
 * second port of its own is another matter, and so is a cable that is out.
 */
static void test_planes(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t sw, one, two, port;
	json_t *list;

	(void)state;
	assert_non_null(t);
	sw = fabric_node(t, IBCC_NODE_SWITCH, 8, "switch");
	one = fabric_node(t, IBCC_NODE_CA, 2, "wide");
	two = fabric_node(t, IBCC_NODE_CA, 2, "two ports");
	for (unsigned int p = 1; p <= 2; p++) {
		fabric_link(t, one, p, sw, p);
		fabric_link(t, two, p, sw, 2 + p);
		assert_int_equal(ibcc_topo_set_lid(t, fabric_port(t, two, p), (uint16_t)(7 + p), 0),
				 0);
	}
	port = fabric_port(t, one, 1);
	assert_int_equal(ibcc_topo_set_lid(t, port, 4, 1), 0);
	ibcc_topo_unlink(t, port + 1);
	assert_false(ibcc_topo_has_planes(t, one));
	fabric_link(t, one, 2, sw, 2);
	assert_true(ibcc_topo_has_planes(t, one));
	assert_false(ibcc_topo_has_planes(t, two));
	assert_false(ibcc_topo_has_planes(t, sw));
	ibcc_topo_leave_planes(t);
	assert_int_equal(t->port[port].lid, 0);
	assert_int_equal(t->lid_port[4], IBCC_NONE);
	assert_int_equal(t->lid_port[5], IBCC_NONE);
	assert_int_equal(t->lid_port[8], fabric_port(t, two, 1));
	assert_true(ibcc_topo_has_planes(t, one));
	assert_false(ibcc_device_takes_part(t, one));
	assert_true(ibcc_device_takes_part(t, two));
	list = ibcc_report_apart(t);
	assert_int_equal(json_array_size(list), 1);
	assert_string_equal(
		json_string_value(json_array_get(list, 0)),
		"1 ignored adapter with a port of several planes (wide): ibcc-tune does "
		"not tune it");
	json_decref(list);
	ibcc_topo_free(t);
}

static void test_named(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	json_t *list;

	(void)state;
	t->node[LUSTRE_SRC1].vendor_id = t->node[LUSTRE_SRC2].vendor_id = IBCC_VENDOR_MELLANOX;
	t->node[LUSTRE_SRC1].device_id = t->node[LUSTRE_SRC2].device_id = 0xcf09;
	t->node[LUSTRE_SRC3].type = IBCC_NODE_ROUTER;
	list = ibcc_report_apart(t);
	assert_int_equal(json_array_size(list), 2);
	assert_string_equal(json_string_value(json_array_get(list, 0)),
			    "2 ignored SHARP aggregation nodes (src1, ...): ibcc-tune does not "
			    "tune them");
	assert_string_equal(json_string_value(json_array_get(list, 1)),
			    "1 ignored router (src3): ibcc-tune does not tune it");
	json_decref(list);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_virtual_ports),
		cmocka_unit_test(test_bad_tables),
		cmocka_unit_test(test_planes),
		cmocka_unit_test(test_named),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
