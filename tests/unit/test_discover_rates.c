/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rates of fabrics whose links have different speeds: each link has its own, or none where it
 * cannot be known, and few SMPs are spent on it.
 */
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/link.h>

#include "tests/unit/walks.h"

#define SWITCHX   0xc738
#define QUANTUM2  0xd2f2
#define CONNECTX3 0x1003
#define CONNECTX2 0x673c
#define MAX_PORTS 4096u
#define M         8u           /* ports of the tree's switches */
#define N_CAS     (M * M / 2u) /* adapters; they are the first nodes, leaves come next */
#define LEAF(i)   (N_CAS + (i))
#define ROOT(i)   (N_CAS + M + (i))
#define LINKS     (2u * N_CAS)

static uint8_t speed[MAX_PORTS];

static struct ibcc_topo *tree(uint16_t sw, uint16_t ca)
{
	struct ibcc_topo *t = fabric_tree2(M);

	for (uint32_t i = 0; i < t->n_nodes; i++) {
		t->node[i].vendor_id = IBCC_VENDOR_MELLANOX;
		t->node[i].device_id = ibcc_topo_is_switch(t, i) ? sw : ca;
	}
	assert_true(t->n_ports <= MAX_PORTS);
	memset(speed, IBCC_LINK_SPEED_QDR, sizeof(speed));
	return t;
}

/* The speed of a link, at both its ends. */
static void set(const struct ibcc_topo *t, uint32_t node, unsigned int num, enum ibcc_link_speed s)
{
	uint32_t port = fabric_port(t, node, num);

	speed[port] = speed[t->port[port].peer] = (uint8_t)s;
}

/* Uplinks are the upper half of a leaf's ports. */
static void set_uplinks(const struct ibcc_topo *t, enum ibcc_link_speed s)
{
	for (uint32_t leaf = 0; leaf < M; leaf++)
		for (unsigned int up = M / 2 + 1; up <= M; up++)
			set(t, LEAF(leaf), up, s);
}

static struct fake_fabric *fake(const struct ibcc_topo *t)
{
	struct fake_fabric *f = fake_fabric(t);

	f->speed = speed;
	f->tells = true;
	return f;
}

/* Each link's rate is as `speed` has it, at both ends, or unknown if that is NONE. */
static void check_rates(struct fake_fabric *f, const struct ibcc_topo *t)
{
	char why[200] = "?";
	struct ibcc_topo *got = walk(&f->base, why, sizeof(why));

	assert_non_null(got);
	assert_string_equal(why, "");
	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *p = &t->port[i];
		uint32_t at = ibcc_topo_port_index(
			got, ibcc_topo_find_guid(got, t->node[p->node].guid), p->num);

		if (p->peer == IBCC_NONE)
			continue;
		assert_int_equal(got->port[at].rate_mbps,
				 ibcc_link_rate_mbps(4, (enum ibcc_link_speed)speed[i]));
		assert_int_equal(got->port[got->port[at].peer].rate_mbps, got->port[at].rate_mbps);
	}
	ibcc_topo_free(got);
}

/* The first ports of each switch say QDR: that says nothing of the others. */
static void test_fdr10_behind_qdr(void **state)
{
	struct ibcc_topo *t = tree(SWITCHX, CONNECTX3);
	struct fake_fabric *f;

	(void)state;
	set_uplinks(t, IBCC_LINK_SPEED_FDR10);
	set(t, LEAF(2), 4, IBCC_LINK_SPEED_FDR10);
	set(t, LEAF(3), 7, IBCC_LINK_SPEED_QDR);
	f = fake(t);
	check_rates(f, t);
	/* One question for a link; and PortInfo needs none, as it tells what is supported. */
	assert_int_equal(f->n_vendor, LINKS);
	assert_int_equal(f->n_again, 0);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* An adapter that cannot do FDR10 has no such link, so it is not asked; between switches there may
 * be.
 */
static void test_fdr10_takes_two(void **state)
{
	struct ibcc_topo *t = tree(SWITCHX, CONNECTX2);
	struct fake_fabric *f;

	(void)state;
	set_uplinks(t, IBCC_LINK_SPEED_FDR10);
	f = fake(t);
	check_rates(f, t);
	assert_int_equal(f->n_vendor, LINKS - N_CAS);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* Extended speeds that devices tell only if asked by name, behind ports that have none. */
static void test_withheld_behind_qdr(void **state)
{
	static const enum ibcc_link_speed up[] = { IBCC_LINK_SPEED_FDR, IBCC_LINK_SPEED_EDR,
						   IBCC_LINK_SPEED_NDR, IBCC_LINK_SPEED_XDR };
	struct ibcc_topo *t = tree(QUANTUM2, CONNECTX2);

	(void)state;
	for (size_t i = 0; i < sizeof(up) / sizeof(up[0]); i++) {
		for (int tells = 0; tells < 2; tells++) {
			struct fake_fabric *f;

			set_uplinks(t, up[i]);
			set(t, LEAF(0), 2, IBCC_LINK_SPEED_DDR);
			set(t, LEAF(1), 1, up[i]);
			f = fake(t);
			f->withholds = true;
			f->tells = tells;
			check_rates(f, t);
			assert_int_equal(f->n_again, LINKS - 1); /* not at the one of DDR */
			assert_int_equal(f->n_vendor, 0);
			ibcc_transport_free(&f->base);
		}
	}
	ibcc_topo_free(t);
}

/* Nothing is asked twice where nothing is withheld, nor where adapters know no extended speeds. */
static void test_told_at_once(void **state)
{
	struct ibcc_topo *t = tree(QUANTUM2, CONNECTX2);
	struct fake_fabric *f;

	(void)state;
	set_uplinks(t, IBCC_LINK_SPEED_EDR);
	f = fake(t);
	check_rates(f, t);
	assert_int_equal(f->n_again + f->n_vendor, 0);
	ibcc_transport_free(&f->base);
	f = fake(t);
	f->withholds = true;
	for (uint32_t i = 0; i < N_CAS; i++)
		fake_node_of(f, i)->no_ext = true;
	check_rates(f, t);
	assert_int_equal(f->n_again, LINKS - N_CAS);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* What one end tells is true of the other, which withholds it. */
static void test_one_end_tells(void **state)
{
	static uint8_t reads[MAX_PORTS];
	struct ibcc_topo *t = tree(QUANTUM2, CONNECTX2);
	struct fake_fabric *f;

	(void)state;
	set_uplinks(t, IBCC_LINK_SPEED_EDR);
	memcpy(reads, speed, sizeof(reads));
	for (uint32_t root = 0; root < M / 2; root++)
		for (unsigned int num = 1; num <= M; num++)
			reads[fabric_port(t, ROOT(root), num)] = IBCC_LINK_SPEED_QDR;
	f = fake(t);
	f->speed = reads;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		fake_node_of(f, i)->mute_rate = true;
	check_rates(f, t);
	assert_int_equal(f->n_again + f->n_vendor, 0);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* A silent node is asked once, and the other end of its links instead. */
static void test_mute_node(void **state)
{
	struct ibcc_topo *t = tree(SWITCHX, CONNECTX3);
	struct fake_fabric *f;

	(void)state;
	set_uplinks(t, IBCC_LINK_SPEED_FDR10);
	f = fake(t);
	fake_node_of(f, LEAF(1))->mute_rate = true;
	check_rates(f, t);
	assert_true(f->n_vendor <= LINKS + 8); /* what is asked again before it is given up */
	ibcc_transport_free(&f->base);
	/* Both ends mute: then it is not known, and none is guessed. */
	f = fake(t);
	fake_node_of(f, LEAF(1))->mute_rate = true;
	fake_node_of(f, ROOT(0))->mute_rate = true;
	set(t, LEAF(1), M / 2 + 1, IBCC_LINK_SPEED_NONE);
	check_rates(f, t);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* Devices that are mute as a rule cost a few questions, whatever the size of the fabric. */
static void test_mute_type(void **state)
{
	struct ibcc_topo *t = tree(SWITCHX, CONNECTX3);
	struct fake_fabric *f = fake(t);

	(void)state;
	f->mute_fdr10 = true;
	memset(speed, IBCC_LINK_SPEED_NONE, sizeof(speed));
	check_rates(f, t);
	assert_true(f->n_vendor <= 4 * 8);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* A device that refuses the question does not know the speed. */
static void test_refusal(void **state)
{
	struct ibcc_topo *t = tree(SWITCHX, CONNECTX3);
	struct fake_fabric *f = fake(t);

	(void)state;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		fake_node_of(f, i)->refuses_rate = true;
	check_rates(f, t);
	assert_int_equal(f->n_vendor, LINKS);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fdr10_behind_qdr),    cmocka_unit_test(test_fdr10_takes_two),
		cmocka_unit_test(test_withheld_behind_qdr), cmocka_unit_test(test_told_at_once),
		cmocka_unit_test(test_one_end_tells),       cmocka_unit_test(test_mute_node),
		cmocka_unit_test(test_mute_type),           cmocka_unit_test(test_refusal),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
