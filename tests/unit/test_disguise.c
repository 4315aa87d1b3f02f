/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric under made-up names is the same fabric: each packet takes the same ports. And nothing in
 * it, nor in a bundle of it, tells the true names or their order.
 */
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#include <ibcc/disguise.h>
#include <ibcc/json.h>

#include "daemon/report/report.h"

#define DRAWS 32u

static void set_lid(struct ibcc_topo *t, uint32_t node, unsigned int num, uint16_t lid,
		    unsigned int lmc)
{
	assert_int_equal(ibcc_topo_set_lid(t, t->node[node].first_port + num, lid, lmc), 0);
}

/* The Lustre fabric with LIDs that are far apart, a block of four, an SL to VL map and two LIDs
 * that no port has: 900 to the slow sink, 901 to the first source.
 */
static struct ibcc_topo *fabric(void)
{
	static const uint16_t lid[] = { 500, 40, 304, 77, 512, 810, 333, 21 };
	static const uint8_t vl[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0 };
	struct ibcc_topo *t = fabric_lustre();
	uint8_t lft1[902], lft2[902];

	memset(lft1, IBCC_LFT_NONE, sizeof(lft1));
	memset(lft2, IBCC_LFT_NONE, sizeof(lft2));
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		bool sw = ibcc_topo_is_switch(t, i);

		set_lid(t, i, !sw, lid[i], i == LUSTRE_SLOW ? 2 : 0);
		t->port[t->node[i].first_port + !sw].guid = t->node[i].guid + 1;
		lft1[lid[i]] = i < 4 ? (uint8_t)(i + 1) : i == LUSTRE_SW1 ? 0 : 5;
		lft2[lid[i]] = i < 4 || i == LUSTRE_SW1 ? 5
			       : i == LUSTRE_SW2        ? 0
							: (uint8_t)(i - 3);
	}
	for (unsigned int k = 1; k < 4; k++) {
		lft1[512 + k] = 5;
		lft2[512 + k] = 1;
	}
	lft1[900] = 5;
	lft2[900] = 1;
	lft1[901] = 1;
	lft2[901] = 5;
	assert_int_equal(ibcc_topo_set_lft(t, LUSTRE_SW1, lft1, sizeof(lft1)), 0);
	assert_int_equal(ibcc_topo_set_lft(t, LUSTRE_SW2, lft2, sizeof(lft2)), 0);
	assert_int_equal(ibcc_topo_set_sl2vl(t, LUSTRE_SW1, 1, 5, vl), 0);
	return t;
}

/* Index of the port in the copy. */
static uint32_t copy_of(const struct ibcc_disguise *d, uint32_t port)
{
	uint32_t found = IBCC_NONE;

	for (uint32_t i = 0; i < d->topo->n_ports; i++)
		if (d->port[i] == port) {
			assert_int_equal(found, IBCC_NONE);
			found = i;
		}
	assert_int_not_equal(found, IBCC_NONE);
	return found;
}

static void assert_same_ways(const struct ibcc_topo *t, const struct ibcc_disguise *d)
{
	for (uint32_t a = 0; a < t->n_endports; a++) {
		for (uint32_t b = 0; b < t->n_endports; b++) {
			uint32_t src = t->endport[a], dst = t->endport[b];
			unsigned int n_lids = 1u << ibcc_topo_lmc(t, dst);
			struct ibcc_route r, q;

			if (a == b || ibcc_topo_is_switch(t, t->port[src].node))
				continue;
			for (unsigned int k = 0; k < n_lids; k++) {
				uint32_t to = copy_of(d, dst);
				int rc = ibcc_route_follow(t, src, (uint16_t)(t->port[dst].lid + k),
							   &r);

				assert_int_equal(ibcc_route_follow(
							 d->topo, copy_of(d, src),
							 (uint16_t)(d->topo->port[to].lid + k), &q),
						 rc);
				assert_int_equal(q.n, r.n);
				for (unsigned int h = 0; h < r.n; h++)
					assert_int_equal(d->port[q.out[h]], r.out[h]);
			}
		}
	}
}

static void assert_same_ports(const struct ibcc_topo *t, const struct ibcc_disguise *d)
{
	assert_int_equal(d->topo->n_nodes, t->n_nodes);
	assert_int_equal(d->topo->n_ports, t->n_ports);
	assert_int_equal(d->topo->n_endports, t->n_endports);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *a = &t->port[i];
		const struct ibcc_topo_port *b = &d->topo->port[copy_of(d, i)];
		const struct ibcc_topo_node *n = &t->node[a->node], *m = &d->topo->node[b->node];

		assert_int_equal(b->num, a->num);
		assert_int_equal(b->state, a->state);
		assert_int_equal(b->op_vls, a->op_vls);
		assert_int_equal(b->mtu_bytes, a->mtu_bytes);
		assert_int_equal(b->rate_mbps, a->rate_mbps);
		assert_int_equal(b->lanes, a->lanes);
		assert_int_equal(b->caps.widths, a->caps.widths);
		assert_int_equal(b->caps.speeds, a->caps.speeds);
		assert_int_equal(!b->lid, !a->lid);
		assert_int_equal(!b->guid, !a->guid);
		assert_int_equal(m->type, n->type);
		assert_int_equal(m->n_ports, n->n_ports);
		if (a->peer == IBCC_NONE)
			assert_int_equal(b->peer, IBCC_NONE);
		else
			assert_int_equal(d->port[b->peer], a->peer);
	}
}

static void test_same_fabric(void **state)
{
	struct ibcc_topo *t = fabric();

	(void)state;
	t->port[3].lanes = 4;
	t->port[3].caps = (struct ibcc_link_caps){ 3, 14 };
	t->port[5].op_vls = 8;
	for (uint64_t seed = 0; seed < DRAWS; seed++) {
		struct ibcc_disguise d;
		uint32_t sw1, slow, out;

		assert_int_equal(ibcc_disguise_make(t, seed, &d), 0);
		assert_same_ports(t, &d);
		assert_same_ways(t, &d);
		sw1 = d.topo->port[copy_of(&d, t->node[LUSTRE_SW1].first_port)].node;
		assert_memory_equal(d.topo->node[sw1].sl2vl, t->node[LUSTRE_SW1].sl2vl,
				    81 * sizeof(*t->node[0].sl2vl));
		slow = copy_of(&d, t->node[LUSTRE_SLOW].first_port + 1);
		assert_int_equal(ibcc_topo_lmc(d.topo, slow), 2);
		assert_int_equal(d.topo->port[slow].lid % 4, 0);
		/* The two LIDs without a port. */
		out = 0;
		for (uint32_t lid = 1; lid < d.topo->node[sw1].lft_len; lid++)
			if (d.topo->lid_port[lid] == IBCC_NONE &&
			    d.topo->node[sw1].lft[lid] != IBCC_LFT_NONE)
				out += d.topo->node[sw1].lft[lid];
		assert_int_equal(out, 5 + 1);
		ibcc_disguise_fini(&d);
	}
	ibcc_topo_free(t);
}

/* Over all draws each node has each place sometimes, and all numbers are those of the place. */
static void test_no_order(void **state)
{
	struct ibcc_topo *t = fabric();
	unsigned int seen[8][8] = { { 0 } };

	(void)state;
	for (uint64_t seed = 0; seed < 16 * DRAWS; seed++) {
		struct ibcc_disguise d;

		assert_int_equal(ibcc_disguise_make(t, seed, &d), 0);
		for (uint32_t i = 0; i < t->n_nodes; i++) {
			const struct ibcc_topo_node *n = &d.topo->node[i];

			seen[t->port[d.port[n->first_port]].node][i]++;
			assert_int_equal(n->guid, 0x0200000000000000u + 0x100 * (i + 1));
			assert_int_equal(atoi(strrchr(n->desc, ' ')), i + 1);
			assert_int_equal(ibcc_topo_find_desc(t, n->desc), IBCC_NONE);
		}
		/* In the order of the nodes, but for the block, which is the first. */
		for (uint32_t p = 0, last = 7; p < d.topo->n_ports; p++) {
			uint32_t lid = d.topo->port[p].lid;

			if (!lid || ibcc_topo_lmc(d.topo, p))
				continue;
			assert_int_equal(lid, last + 1);
			last = lid;
		}
		ibcc_disguise_fini(&d);
	}
	/* 64 are expected; five standard deviations of sqrt(64 * 7 / 8). */
	for (unsigned int i = 0; i < 8; i++)
		for (unsigned int k = 0; k < 8; k++)
			assert_in_range(seen[i][k], 64 - 38, 64 + 38);
	ibcc_topo_free(t);
}

static const json_t *port_of(const json_t *bundle, const char *node, size_t k)
{
	const json_t *n;
	size_t i;

	json_array_foreach (json_object_get(bundle, "nodes"), i, n)
		if (!strcmp(json_string_value(json_object_get(n, "node")), node))
			return json_array_get(json_object_get(n, "ports"), k);
	fail_msg("no node %s", node);
	return NULL;
}

static json_int_t number(const json_t *o, const char *key)
{
	const json_t *v = json_object_get(o, key);

	assert_true(json_is_integer(v));
	return json_integer_value(v);
}

static void test_bundle(void **state)
{
	struct ibcc_topo *t = fabric();
	struct traffic tr;
	const json_t *port, *c, *sw, *rows;
	json_t *o, *list;
	size_t i, n_rows = 0;

	(void)state;
	traffic_init(&tr, t);
	traffic_at(&tr, LUSTRE_SRC1, 1)->mbps = 8000;
	traffic_at(&tr, LUSTRE_SRC1, 1)->wait_permille = 500;
	traffic_pass(&tr);
	traffic_pass(&tr);
	o = ibcc_json_unfold(ibcc_report_bundle(t, &tr.s, NULL));
	assert_non_null(o);
	assert_true(json_is_null(json_object_get(o, "settings")));
	assert_int_equal(json_array_size(json_object_get(o, "nodes")), 8);
	port = port_of(o, "src1", 0);
	assert_int_equal(number(port, "port"), 1);
	assert_int_equal(number(port, "lid"), 500);
	list = json_pack("[ii]", LUSTRE_SW1, 1);
	assert_true(json_equal(json_object_get(port, "peer"), list));
	json_decref(list);
	/* 8000 Mb/s for 1 ms, in units of 4 bytes; half of it in ticks of 8 ns. */
	c = json_object_get(port, "counters");
	assert_int_equal(number(c, "interval_ns"), 1000000);
	assert_int_equal(number(c, "PortXmitData"), 250000);
	assert_int_equal(number(c, "PortXmitWait"), 62500);
	assert_int_equal(json_array_size(json_object_get(c, "bounds")), 0);
	port = port_of(o, "slow", 0);
	assert_int_equal(number(port, "lid"), 512);
	assert_int_equal(number(port, "lmc"), 2);
	assert_true(json_is_null(json_object_get(port_of(o, "sw2", 0), "counters")));

	sw = json_array_get(json_object_get(o, "nodes"), LUSTRE_SW1);
	assert_int_equal(json_string_length(json_object_get(sw, "lft")), 2 * 902);
	assert_memory_equal(json_string_value(json_object_get(sw, "lft")) + 2 * 900, "0501", 4);
	/* Rows before, at and behind the one of its own. */
	assert_int_equal(json_array_size(json_object_get(sw, "sl2vl")), 3);
	json_array_foreach (json_object_get(sw, "sl2vl"), i, rows)
		n_rows += (size_t)number(rows, "rows");
	assert_int_equal(n_rows, 81);
	json_decref(o);
	ibcc_snapshot_fini(&tr.s);
	ibcc_topo_free(t);
}

/* LIDs are numbers as others are: that they are made up is told above. */
static void test_no_names(void **state)
{
	struct ibcc_topo *t = fabric();
	struct ibcc_disguise d;
	struct ibcc_settings settings;
	struct traffic tr;
	char *text;
	json_t *o;

	(void)state;
	assert_int_equal(ibcc_disguise_make(t, 4711, &d), 0);
	traffic_init(&tr, d.topo);
	traffic_pass(&tr);
	traffic_pass(&tr);
	assert_int_equal(ibcc_settings_init(&settings, d.topo), 0);
	o = ibcc_json_unfold(ibcc_report_bundle(d.topo, &tr.s, &settings));
	text = json_dumps(o, 0);
	assert_non_null(text);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		char guid[2][32];

		snprintf(guid[0], sizeof(guid[0]), "%016llx",
			 (unsigned long long)t->node[t->port[i].node].guid);
		snprintf(guid[1], sizeof(guid[1]), "%016llx",
			 (unsigned long long)(t->port[i].guid ? t->port[i].guid : UINT64_MAX));
		assert_null(strstr(text, guid[0]));
		assert_null(strstr(text, guid[1]));
		assert_null(strstr(text, t->node[t->port[i].node].desc));
	}
	free(text);
	json_decref(o);
	ibcc_settings_fini(&settings);
	ibcc_snapshot_fini(&tr.s);
	ibcc_disguise_fini(&d);
	ibcc_topo_free(t);
}

static void test_empty(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	struct ibcc_disguise d;

	(void)state;
	assert_non_null(t);
	assert_int_equal(ibcc_disguise_make(t, 1, &d), 0);
	assert_int_equal(d.topo->n_nodes, 0);
	ibcc_disguise_fini(&d);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same_fabric), cmocka_unit_test(test_no_order),
		cmocka_unit_test(test_bundle),      cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
