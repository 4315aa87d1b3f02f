/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric graph: indices, links, LIDs, copies, comparison. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fabrics.h"

static void test_indices(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t sw2 = ibcc_topo_find_desc(t, "sw2");

	(void)state;
	/* Six adapters with slots 0..1, two switches with slots 0..8. */
	assert_int_equal(t->n_nodes, 8);
	assert_int_equal(t->n_ports, 6 * 2 + 2 * 9);
	assert_int_equal(t->n_endports, 6 + 2);
	assert_int_equal(sw2, LUSTRE_SW2);
	assert_int_equal(t->node[sw2].first_port, 6 * 2 + 9);
	assert_int_equal(ibcc_topo_port_index(t, sw2, 8), t->n_ports - 1);
	assert_int_equal(ibcc_topo_port_index(t, sw2, 9), IBCC_NONE);
	assert_int_equal(ibcc_topo_port_index(t, 8, 0), IBCC_NONE);
	assert_int_equal(ibcc_topo_find_guid(t, t->node[sw2].guid), sw2);
	assert_int_equal(ibcc_topo_find_guid(t, 0xdead), IBCC_NONE);
	assert_int_equal(ibcc_topo_find_desc(t, "sw3"), IBCC_NONE);
	for (uint32_t i = 0; i < t->n_endports; i++) {
		const struct ibcc_topo_port *p = &t->port[t->endport[i]];

		assert_int_equal(p->endport, i);
		assert_int_equal(p->num, ibcc_topo_is_switch(t, p->node) ? 0 : 1);
	}
	ibcc_topo_free(t);
	ibcc_topo_free(NULL);
}

static void test_bad_nodes(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	char longest[200];

	(void)state;
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = 0;
	assert_int_equal(ibcc_topo_add_node(t, 1, IBCC_NODE_SWITCH, 0, "a"), -EINVAL);
	assert_int_equal(ibcc_topo_add_node(t, 1, IBCC_NODE_SWITCH, 255, "a"), -EINVAL);
	assert_int_equal(ibcc_topo_add_node(t, 1, IBCC_NODE_SWITCH, 254, longest), 0);
	assert_int_equal(strlen(t->node[0].desc), IBCC_DESC_BYTES - 1);
	assert_int_equal(ibcc_topo_add_node(t, 1, IBCC_NODE_CA, 1, "twin"), -EINVAL);
	assert_int_equal(ibcc_topo_add_node(t, 2, IBCC_NODE_CA, 2, NULL), 1);
	assert_int_equal(t->n_endports, 3);
	ibcc_topo_free(t);
}

/* Thousands of nodes, with GUIDs in an order that is not theirs, in the topology and in its copy.
 */
static void test_many_guids(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new(), *c;
	uint64_t step = 0x9e3779b97f4a7c15u; /* odd, so no GUID comes twice */

	(void)state;
	for (uint64_t i = 0; i < 5000; i++)
		assert_int_equal(ibcc_topo_add_node(t, i * step, IBCC_NODE_CA, 1, NULL), i);
	c = ibcc_topo_clone(t);
	for (uint64_t i = 0; i < 5000; i++) {
		assert_int_equal(ibcc_topo_find_guid(t, i * step), i);
		assert_int_equal(ibcc_topo_find_guid(c, i * step), i);
	}
	assert_int_equal(ibcc_topo_find_guid(t, 5000 * step), IBCC_NONE);
	assert_int_equal(ibcc_topo_add_node(c, 4999 * step, IBCC_NODE_CA, 1, NULL), -EINVAL);
	assert_int_equal(ibcc_topo_add_node(c, 5000 * step, IBCC_NODE_CA, 1, NULL), 5000);
	assert_int_equal(ibcc_topo_find_guid(c, 5000 * step), 5000);
	assert_int_equal(ibcc_topo_find_guid(t, 5000 * step), IBCC_NONE);
	ibcc_topo_free(c);
	ibcc_topo_free(t);
}

static void test_links(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t a = fabric_port(t, LUSTRE_SW1, 5), b = fabric_port(t, LUSTRE_SW2, 5);

	(void)state;
	assert_int_equal(t->port[a].peer, b);
	assert_int_equal(t->port[b].peer, a);
	assert_int_equal(t->port[a].state, 4);
	assert_int_equal(ibcc_topo_link(t, LUSTRE_SW1, 5, LUSTRE_SW2, 6, QDR_MBPS, 2048), -EINVAL);
	assert_int_equal(ibcc_topo_link(t, LUSTRE_SW1, 6, LUSTRE_SW1, 6, QDR_MBPS, 2048), -EINVAL);
	assert_int_equal(ibcc_topo_link(t, LUSTRE_SW1, 0, LUSTRE_SW2, 6, QDR_MBPS, 2048), -EINVAL);
	assert_int_equal(ibcc_topo_link(t, LUSTRE_SW1, 9, LUSTRE_SW2, 6, QDR_MBPS, 2048), -EINVAL);
	assert_int_equal(ibcc_topo_link(t, 99, 1, LUSTRE_SW2, 6, QDR_MBPS, 2048), -EINVAL);
	ibcc_topo_unlink(t, b);
	assert_int_equal(t->port[a].peer, IBCC_NONE);
	assert_int_equal(t->port[a].state, 1);
	assert_int_equal(t->port[a].rate_mbps, 0);
	ibcc_topo_unlink(t, b);
	ibcc_topo_unlink(t, IBCC_NONE);
	assert_int_equal(ibcc_topo_link(t, LUSTRE_SW1, 5, LUSTRE_SW2, 6, 16000, 4096), 0);
	assert_int_equal(t->port[a].rate_mbps, 16000);
	assert_int_equal(t->port[a].mtu_bytes, 4096);
	ibcc_topo_free(t);
}

static void test_lids(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint32_t ca = fabric_port(t, LUSTRE_SRC1, 1), sw = fabric_port(t, LUSTRE_SW1, 0);

	(void)state;
	assert_int_equal(ibcc_topo_set_lid(t, ca, 0, 0), -EINVAL);
	assert_int_equal(ibcc_topo_set_lid(t, ca, 0xc000, 0), -EINVAL);
	assert_int_equal(ibcc_topo_set_lid(t, ca, 0xbfff, 1), -EINVAL);
	assert_int_equal(ibcc_topo_set_lid(t, ca, 64, 8), -EINVAL);
	assert_int_equal(ibcc_topo_set_lid(t, fabric_port(t, LUSTRE_SW1, 1), 64, 0), -EINVAL);
	assert_int_equal(ibcc_topo_set_lid(t, IBCC_NONE, 64, 0), -EINVAL);
	assert_int_equal(ibcc_topo_set_lid(t, ca, t->port[sw].lid, 0), -EINVAL);

	/* Four LIDs; the old one is free afterwards. */
	assert_int_equal(t->port[ca].lid, 1);
	assert_int_equal(ibcc_topo_set_lid(t, ca, 64, 2), 0);
	assert_int_equal(ibcc_topo_port_of_lid(t, 1), IBCC_NONE);
	assert_int_equal(ibcc_topo_port_of_lid(t, 63), IBCC_NONE);
	for (uint16_t lid = 64; lid < 68; lid++)
		assert_int_equal(ibcc_topo_port_of_lid(t, lid), ca);
	assert_int_equal(ibcc_topo_port_of_lid(t, 68), IBCC_NONE);
	assert_int_equal(ibcc_topo_set_lid(t, sw, 67, 0), -EINVAL);
	assert_int_equal(ibcc_topo_set_lid(t, ca, 66, 1), 0);
	assert_int_equal(ibcc_topo_port_of_lid(t, 64), IBCC_NONE);
	assert_int_equal(ibcc_topo_port_of_lid(t, 67), ca);
	assert_int_equal(ibcc_topo_set_lid(t, ca, 0xbfff, 0), 0);
	assert_int_equal(ibcc_topo_port_of_lid(t, 0xbfff), ca);
	assert_int_equal(ibcc_topo_port_of_lid(t, 0xffff), IBCC_NONE);
	ibcc_topo_free(t);
}

static void test_vls(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint8_t vl[16] = { 0 };

	(void)state;
	t->port[fabric_port(t, LUSTRE_SW1, 5)].op_vls = 4;
	assert_int_equal(ibcc_topo_vl(t, LUSTRE_SW1, 1, 5, 7), 3);
	assert_int_equal(ibcc_topo_vl(t, LUSTRE_SW1, 1, 4, 7), 0);
	vl[7] = 2;
	assert_int_equal(ibcc_topo_set_sl2vl(t, LUSTRE_SW1, 1, 5, vl), 0);
	assert_int_equal(ibcc_topo_vl(t, LUSTRE_SW1, 1, 5, 7), 2);
	/* Pairs without a map of their own go on as before. */
	assert_int_equal(ibcc_topo_vl(t, LUSTRE_SW1, 2, 5, 7), 3);
	assert_int_equal(ibcc_topo_vl(t, LUSTRE_SW1, 99, 5, 7), 0);
	vl[0] = 16;
	assert_int_equal(ibcc_topo_set_sl2vl(t, LUSTRE_SW1, 1, 5, vl), -EINVAL);
	vl[0] = 0;
	assert_int_equal(ibcc_topo_set_sl2vl(t, LUSTRE_SW1, 9, 5, vl), -EINVAL);
	assert_int_equal(ibcc_topo_set_sl2vl(t, LUSTRE_SRC1, 1, 1, vl), -EINVAL);
	ibcc_topo_free(t);
}

static void test_clone_and_equal(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_topo *c = ibcc_topo_clone(t);
	uint8_t vl[16] = { 0 };
	uint8_t *longer;

	(void)state;
	assert_true(ibcc_topo_equal(t, c));
	c->generation++;
	assert_true(ibcc_topo_equal(t, c));

	/* A table with nothing beyond the old end forwards the same. */
	longer = malloc(t->node[LUSTRE_SW1].lft_len + 64);
	memset(longer, IBCC_LFT_NONE, t->node[LUSTRE_SW1].lft_len + 64);
	memcpy(longer, t->node[LUSTRE_SW1].lft, t->node[LUSTRE_SW1].lft_len);
	assert_int_equal(ibcc_topo_set_lft(c, LUSTRE_SW1, longer, t->node[LUSTRE_SW1].lft_len + 64),
			 0);
	assert_true(ibcc_topo_equal(t, c));
	longer[t->node[LUSTRE_SW1].lft_len + 10] = 3;
	assert_int_equal(ibcc_topo_set_lft(c, LUSTRE_SW1, longer, t->node[LUSTRE_SW1].lft_len + 64),
			 0);
	assert_false(ibcc_topo_equal(t, c));
	free(longer);
	assert_int_equal(ibcc_topo_set_lft(c, LUSTRE_SRC1, NULL, 0), -EINVAL);
	ibcc_topo_free(c);

	c = ibcc_topo_clone(t);
	assert_int_equal(ibcc_topo_set_sl2vl(c, LUSTRE_SW1, 1, 5, vl), 0);
	assert_false(ibcc_topo_equal(t, c));
	ibcc_topo_free(t);
	t = ibcc_topo_clone(c);
	assert_true(ibcc_topo_equal(t, c));
	ibcc_topo_unlink(t, fabric_port(t, LUSTRE_SW1, 5));
	assert_false(ibcc_topo_equal(t, c));
	/* The copy does not follow the original. */
	assert_true(c->port[fabric_port(c, LUSTRE_SW1, 5)].peer != IBCC_NONE);
	ibcc_topo_free(t);
	t = ibcc_topo_clone(c);
	assert_int_equal(ibcc_topo_set_lid(t, fabric_port(t, LUSTRE_SRC1, 1), 99, 0), 0);
	assert_false(ibcc_topo_equal(t, c));
	ibcc_topo_free(t);
	t = ibcc_topo_new();
	assert_false(ibcc_topo_equal(t, c));
	ibcc_topo_free(c);
	c = ibcc_topo_clone(t);
	assert_true(ibcc_topo_equal(t, c));
	ibcc_topo_free(t);
	ibcc_topo_free(c);
}

static bool site_name(void *arg, uint64_t guid, char name[IBCC_DESC_BYTES])
{
	assert_string_equal(arg, "site");
	snprintf(name, IBCC_DESC_BYTES, "%s", guid == 1 ? "storage 1" : "");
	return guid == 1;
}

/* A name that does not identify its node has the GUID behind it. */
static void test_labels(void **state)
{
	static const struct {
		const char *desc, *label;
	} rows[] = {
		{ "n1 HCA-1", "storage 1" },
		{ "n2 HCA-1", "n2 HCA-1" },
		{ "MT4119 ConnectX5   Mellanox Technologies",
		  "MT4119 ConnectX5   Mellanox Technologies 0x0000000000000003" },
		{ "twin", "twin 0x0000000000000004" },
		{ "", "" },
		{ "twin", "twin 0x0000000000000006" },
		{ "localhost HCA-1", "localhost HCA-1 0x0000000000000007" },
		{ "", "" },
		/* 45 bytes have room beside a GUID, and the 45th begins a character of two. */
		{ "Mellanox Technologies 7890123456789012345678\xc3\xbcx",
		  "Mellanox Technologies 7890123456789012345678 0x0000000000000009" },
	};
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t n = sizeof(rows) / sizeof(*rows);
	char site[] = "site";

	(void)state;
	assert_non_null(t);
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(ibcc_topo_add_node(t, i + 1, IBCC_NODE_CA, 1, rows[i].desc), i);
	assert_int_equal(ibcc_topo_label(t, site_name, site), 0);
	for (uint32_t i = 0; i < n; i++) {
		assert_string_equal(t->node[i].desc, rows[i].label);
		if (rows[i].label[0])
			assert_int_equal(ibcc_topo_find_desc(t, rows[i].label), i);
	}
	assert_true(ibcc_topo_is_called(t, 0, "storage 1"));
	assert_true(ibcc_topo_is_called(t, 3, "twin"));
	assert_true(ibcc_topo_is_called(t, 3, "twin 0x0000000000000004"));
	assert_false(ibcc_topo_is_called(t, 3, "twin 0x0000000000000006"));
	assert_false(ibcc_topo_is_called(t, 0, "storage"));
	assert_false(ibcc_topo_is_called(t, 1, "n1 HCA-1"));
	ibcc_topo_free(t);
	/* Without a map nodes keep the names that are theirs alone. */
	t = fabric_lustre();
	assert_non_null(t);
	assert_int_equal(ibcc_topo_label(t, NULL, NULL), 0);
	assert_int_equal(ibcc_topo_find_desc(t, "sw2"), LUSTRE_SW2);
	ibcc_topo_free(t);
}

/* The most slots in a row that are in use: what a search looks at, at most. */
static uint32_t longest_run(const struct ibcc_topo_texts *x)
{
	uint32_t run = 0, most = 0;

	for (uint32_t i = 0; i < 2 * x->cap; i++) {
		run = x->slot[i % x->cap].n ? run + 1 : 0;
		most = run > most ? run : most;
	}
	return most;
}

/* Names of as many nodes as a fabric may have are found after a few comparisons. 20,000 nodes have
 * one name, as adapters with the default name do.
 */
static void test_many_names(void **state)
{
	enum { NODES = 49000, SAME = 20000 };
	struct ibcc_topo *t = ibcc_topo_new(), *copy;
	char name[32], text[IBCC_NODE_TEXT_BYTES];
	uint32_t node;

	(void)state;
	for (uint32_t i = 0; i < NODES; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		assert_int_equal(
			ibcc_topo_add_node(t, i + 1, IBCC_NODE_CA, 1, i < SAME ? "the same" : name),
			i);
		snprintf(t->node[i].id, sizeof(t->node[i].id), "id %u", i);
	}
	assert_int_equal(ibcc_topo_find_node(t, "id 7", &node), -ENOENT);
	assert_int_equal(ibcc_topo_index_texts(t), 0);
	copy = ibcc_topo_clone(t);
	ibcc_topo_free(t);
	assert_non_null(copy);
	assert_int_equal(copy->by_desc.used, NODES - SAME + 1);
	assert_int_equal(copy->by_id.used, NODES);
	assert_true(longest_run(&copy->by_desc) < 100);
	assert_true(longest_run(&copy->by_id) < 100);
	for (uint32_t i = SAME; i < NODES; i += 7) {
		snprintf(name, sizeof(name), "h%u", i);
		assert_int_equal(ibcc_topo_find_node(copy, name, &node), 0);
		assert_int_equal(node, i);
		assert_int_equal(ibcc_topo_find_desc(copy, name), i);
		assert_string_equal(ibcc_topo_node_text(copy, i, text), name);
	}
	assert_int_equal(ibcc_topo_find_node(copy, "the same", &node), -ENOTUNIQ);
	assert_int_equal(node, 0);
	assert_int_equal(ibcc_topo_find_node(copy, "id 19999", &node), 0);
	assert_int_equal(node, 19999);
	assert_string_equal(ibcc_topo_node_text(copy, 1, text), "0x0000000000000002");
	assert_int_equal(ibcc_topo_find_node(copy, "h1", &node), -ENOENT);
	assert_int_equal(node, IBCC_NONE);
	assert_int_equal(ibcc_topo_find_desc(copy, ""), IBCC_NONE);
	ibcc_topo_free(copy);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_indices),
		cmocka_unit_test(test_bad_nodes),
		cmocka_unit_test(test_many_guids),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_many_names),
		cmocka_unit_test(test_links),
		cmocka_unit_test(test_lids),
		cmocka_unit_test(test_vls),
		cmocka_unit_test(test_clone_and_equal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
