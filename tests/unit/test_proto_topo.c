/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Topologies through the messages of daemon and plugin. */
#include "tests/unit/draws.h"
#include "tests/unit/fabrics.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/proto.h>

/* A topology through the messages. */
static struct ibcc_topo *travel(const struct ibcc_topo *t, const uint32_t *order, int *err)
{
	struct ibcc_proto_topo *p = ibcc_proto_topo_new();
	uint8_t *buf = malloc(IBCC_PROTO_MAX_BYTES);

	assert_non_null(p);
	assert_non_null(buf);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		int64_t len = ibcc_proto_node_encode(t, order ? order[i] : i, buf);

		assert_true(len > 0);
		assert_int_equal(ibcc_proto_topo_add(p, buf, (size_t)len), 0);
	}
	free(buf);
	return ibcc_proto_topo_finish(p, t->generation, err);
}

static void assert_travels(struct ibcc_topo *t)
{
	int err = -1;
	struct ibcc_topo *got = travel(t, NULL, &err);

	assert_non_null(got);
	assert_int_equal(err, 0);
	assert_true(ibcc_topo_equal(t, got));
	assert_int_equal(got->generation, t->generation);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		assert_int_equal(got->port[i].guid, t->port[i].guid);
		assert_int_equal(got->port[i].caps.widths, t->port[i].caps.widths);
		assert_int_equal(got->port[i].caps.speeds, t->port[i].caps.speeds);
	}
	ibcc_topo_free(got);
	ibcc_topo_free(t);
}

static void test_known_topologies(void **state)
{
	(void)state;
	assert_travels(ibcc_topo_new());
	assert_travels(fabric_lustre());
	assert_travels(fabric_tree2(16));
}

static struct ibcc_topo *random_topo(uint32_t seed)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t rng = seed, n = 2 + draw(&rng) % 30;

	assert_non_null(t);
	t->generation = draw(&rng);
	for (uint32_t i = 0; i < n; i++) {
		enum ibcc_node_type type = 1 + draw(&rng) % 3;
		uint32_t k = fabric_node(t, type, 1 + draw(&rng) % 40, "node");

		t->node[k].enhanced_port0 = type == IBCC_NODE_SWITCH && draw(&rng) % 2;
	}
	for (uint32_t i = 0; i < 4 * n; i++) {
		uint32_t a = draw(&rng) % n, b = draw(&rng) % n;

		/* Some fail, being taken. */
		ibcc_topo_link(t, a, 1 + draw(&rng) % t->node[a].n_ports, b,
			       1 + draw(&rng) % t->node[b].n_ports, draw(&rng), 2048);
	}
	for (uint32_t i = 0; i < t->n_ports; i++) {
		struct ibcc_topo_port *p = &t->port[i];

		p->state = draw(&rng) % 6;
		p->op_vls = draw(&rng) % 16;
		p->mtu_bytes = (uint16_t)(256 << draw(&rng) % 5);
		p->rate_mbps = draw(&rng);
		p->guid = draw(&rng);
		p->caps.widths = draw(&rng) & IBCC_LINK_WIDTHS;
		p->caps.speeds = draw(&rng) & IBCC_LINK_SPEEDS;
		if (p->endport != IBCC_NONE && draw(&rng) % 4)
			ibcc_topo_set_lid(t, i, (uint16_t)(1 + draw(&rng) % IBCC_LID_MAX),
					  draw(&rng) % 8);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t len = draw(&rng) % 3000, side = t->node[i].n_ports + 1u;
		uint8_t lft[3000], vl[16];

		if (!ibcc_topo_is_switch(t, i))
			continue;
		for (uint32_t k = 0; k < len; k++)
			lft[k] = (uint8_t)draw(&rng);
		assert_int_equal(ibcc_topo_set_lft(t, i, lft, len), 0);
		for (uint32_t k = 0; k < draw(&rng) % 100; k++) {
			for (int sl = 0; sl < 16; sl++)
				vl[sl] = draw(&rng) % 16;
			assert_int_equal(
				ibcc_topo_set_sl2vl(t, i, draw(&rng) % side, draw(&rng) % side, vl),
				0);
		}
	}
	return t;
}

static void test_random_topologies(void **state)
{
	(void)state;
	for (uint32_t seed = 0; seed < 200; seed++)
		assert_travels(random_topo(seed));
}

/* Nodes may come in any order; the links find each other. */
static void test_any_order(void **state)
{
	struct ibcc_topo *t = fabric_lustre(), *got;
	uint32_t order[8] = { 7, 2, 0, 5, 6, 1, 3, 4 };
	int err;

	(void)state;
	got = travel(t, order, &err);
	assert_non_null(got);
	for (uint32_t i = 0; i < 8; i++) {
		const struct ibcc_topo_node *a = &t->node[order[i]], *b = &got->node[i];

		assert_int_equal(a->guid, b->guid);
		for (unsigned int num = 1; num <= a->n_ports; num++) {
			uint32_t pa = t->port[a->first_port + num].peer;
			uint32_t pb = got->port[b->first_port + num].peer;

			assert_int_equal(pa == IBCC_NONE, pb == IBCC_NONE);
			if (pa == IBCC_NONE)
				continue;
			assert_int_equal(t->node[t->port[pa].node].guid,
					 got->node[got->port[pb].node].guid);
			assert_int_equal(t->port[pa].num, got->port[pb].num);
		}
	}
	ibcc_topo_free(got);
	ibcc_topo_free(t);
}

/* The largest switches there are, with all tables full, go into a message. */
static void test_large_switches(void **state)
{
	const unsigned int ports[] = { 80, 254 };
	static uint8_t lft[IBCC_LID_MAX + 1];

	(void)state;
	for (size_t k = 0; k < 2; k++) {
		struct ibcc_topo *t = ibcc_topo_new();
		uint32_t rng = 9, sw;
		uint8_t vl[16];

		assert_non_null(t);
		sw = fabric_node(t, IBCC_NODE_SWITCH, ports[k], "large");
		for (uint32_t lid = 0; lid <= IBCC_LID_MAX; lid++)
			lft[lid] = (uint8_t)draw(&rng);
		assert_int_equal(ibcc_topo_set_lft(t, sw, lft, IBCC_LID_MAX + 1), 0);
		for (unsigned int in = 0; in <= ports[k]; in++) {
			for (unsigned int out = 0; out <= ports[k]; out++) {
				/* Each row another one, where that is possible. */
				for (unsigned int sl = 0; sl < 16; sl++)
					vl[sl] = k == 0 ? draw(&rng) % 16 : sl % 8;
				assert_int_equal(ibcc_topo_set_sl2vl(t, sw, in, out, vl), 0);
			}
		}
		assert_travels(t);
	}
}

static void test_too_large(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint8_t *buf = malloc(IBCC_PROTO_MAX_BYTES), vl[16] = { 0 };
	uint32_t sw;

	(void)state;
	assert_non_null(t);
	assert_non_null(buf);
	sw = fabric_node(t, IBCC_NODE_SWITCH, 254, "odd");
	for (unsigned int i = 0; i < 255 * 255; i++) {
		vl[0] = i % 2;
		assert_int_equal(ibcc_topo_set_sl2vl(t, sw, i / 255, i % 255, vl), 0);
	}
	assert_int_equal(ibcc_proto_node_encode(t, sw, buf), -EMSGSIZE);
	free(buf);
	ibcc_topo_free(t);
}

/* Descriptions come from any node on the fabric. */
static void test_control_characters(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new(), *got;
	int err;

	(void)state;
	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "evil\033[2Jname\n");
	got = travel(t, NULL, &err);
	assert_non_null(got);
	assert_string_equal(got->node[0].desc, "evil?[2Jname?");
	ibcc_topo_free(got);
	ibcc_topo_free(t);
}

/* Each single byte of a node set to each of some values, and each length: taken or refused, the end
 * is an error or a topology that can be walked.
 */
static void test_mangled_nodes(void **state)
{
	const uint8_t values[] = { 0x00, 0x01, 0x7f, 0x80, 0xff };
	struct ibcc_topo *t = fabric_lustre();
	uint8_t *good[8];
	int64_t len[8];
	unsigned int refused = 0, taken = 0;

	(void)state;
	for (uint32_t i = 0; i < 8; i++) {
		good[i] = malloc(IBCC_PROTO_MAX_BYTES);
		assert_non_null(good[i]);
		len[i] = ibcc_proto_node_encode(t, i, good[i]);
		assert_true(len[i] > 0);
	}
	for (size_t at = 0; at < (size_t)len[6]; at++) {
		for (size_t v = 0; v < sizeof(values); v++) {
			struct ibcc_proto_topo *p = ibcc_proto_topo_new();
			uint8_t was = good[6][at];
			struct ibcc_topo *got;
			int err = 0;

			assert_non_null(p);
			good[6][at] = values[v];
			for (uint32_t i = 0; i < 8; i++)
				ibcc_proto_topo_add(p, good[i], (size_t)len[i]);
			good[6][at] = was;
			got = ibcc_proto_topo_finish(p, 1, &err);
			assert_int_equal(got == NULL, err == -EPROTO);
			taken += got != NULL;
			refused += got == NULL;
			for (uint32_t i = 0; got && i < got->n_ports; i++) {
				uint32_t peer = got->port[i].peer;

				if (peer != IBCC_NONE)
					assert_int_equal(got->port[peer].peer, i);
			}
			ibcc_topo_free(got);
		}
	}
	assert_true(taken > 0 && refused > 0);
	for (size_t cut = 0; cut <= (size_t)len[6] + 1; cut++) {
		struct ibcc_proto_topo *p = ibcc_proto_topo_new();
		uint8_t *exact = malloc(cut ? cut : 1);

		/* A copy of its own size, so that a sanitizer sees a read beyond it. */
		assert_non_null(p);
		assert_non_null(exact);
		memcpy(exact, good[6], cut);
		assert_int_equal(ibcc_proto_topo_add(p, exact, cut),
				 cut == (size_t)len[6] ? 0 : -EPROTO);
		free(exact);
		ibcc_proto_topo_free(p);
	}
	for (uint32_t i = 0; i < 8; i++)
		free(good[i]);
	ibcc_topo_free(t);
}

/* A node left out, a node twice. */
static void test_incomplete_topologies(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint8_t *buf = malloc(IBCC_PROTO_MAX_BYTES);
	struct ibcc_proto_topo *p = ibcc_proto_topo_new();
	int64_t len = 0;
	int err;

	(void)state;
	assert_non_null(buf);
	assert_non_null(p);
	for (uint32_t i = 0; i < 7; i++) {
		len = ibcc_proto_node_encode(t, i, buf);
		assert_int_equal(ibcc_proto_topo_add(p, buf, (size_t)len), 0);
	}
	assert_null(ibcc_proto_topo_finish(p, 1, &err));
	assert_int_equal(err, -EPROTO);
	p = ibcc_proto_topo_new();
	assert_non_null(p);
	assert_int_equal(ibcc_proto_topo_add(p, buf, (size_t)len), 0);
	assert_int_equal(ibcc_proto_topo_add(p, buf, (size_t)len), -EPROTO);
	/* Once broken, it stays so. */
	len = ibcc_proto_node_encode(t, 0, buf);
	assert_int_equal(ibcc_proto_topo_add(p, buf, (size_t)len), -EPROTO);
	assert_null(ibcc_proto_topo_finish(p, 1, &err));
	assert_int_equal(err, -EPROTO);
	ibcc_proto_topo_free(NULL);
	free(buf);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_known_topologies),
		cmocka_unit_test(test_random_topologies),
		cmocka_unit_test(test_any_order),
		cmocka_unit_test(test_large_switches),
		cmocka_unit_test(test_too_large),
		cmocka_unit_test(test_control_characters),
		cmocka_unit_test(test_mangled_nodes),
		cmocka_unit_test(test_incomplete_topologies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
