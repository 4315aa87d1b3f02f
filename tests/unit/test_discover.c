/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walking fabrics by directed routes: what was walked equals what is there. */
#include "tests/unit/walks.h"

/* Port of `got` that is `port` of `t`, by node GUID and number. */
static uint32_t twin(const struct ibcc_topo *t, uint32_t port, const struct ibcc_topo *got)
{
	const struct ibcc_topo_port *p = &t->port[port];

	return ibcc_topo_port_index(got, ibcc_topo_find_guid(got, t->node[p->node].guid), p->num);
}

/* Same fabric, the nodes in any order. */
static void assert_same(const struct ibcc_topo *t, const struct ibcc_topo *got)
{
	assert_int_equal(got->n_nodes, t->n_nodes);
	assert_int_equal(got->n_ports, t->n_ports);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *a = &t->node[i];
		uint32_t k = ibcc_topo_find_guid(got, a->guid);
		const struct ibcc_topo_node *b = &got->node[k];

		assert_true(k != IBCC_NONE);
		assert_int_equal(a->type, b->type);
		assert_int_equal(a->n_ports, b->n_ports);
		assert_int_equal(a->enhanced_port0, b->enhanced_port0);
		assert_string_equal(a->desc, b->desc);
		if (a->type == IBCC_NODE_SWITCH) {
			assert_true(b->lft_len >= a->lft_len);
			assert_memory_equal(a->lft, b->lft, a->lft_len);
			for (uint32_t lid = a->lft_len; lid < b->lft_len; lid++)
				assert_int_equal(b->lft[lid], IBCC_LFT_NONE);
		}
	}
	for (uint32_t i = 0; i < t->n_ports; i++) {
		const struct ibcc_topo_port *a = &t->port[i];
		const struct ibcc_topo_port *b = &got->port[twin(t, i, got)];

		assert_int_equal(a->lid, b->lid);
		assert_int_equal(a->peer == IBCC_NONE, b->peer == IBCC_NONE);
		if (a->peer == IBCC_NONE)
			continue;
		assert_int_equal(twin(t, a->peer, got), b->peer);
		assert_int_equal(a->state, b->state);
		assert_int_equal(a->op_vls, b->op_vls);
		assert_int_equal(a->mtu_bytes, b->mtu_bytes);
		assert_int_equal(b->rate_mbps, QDR_MBPS);
	}
	for (uint32_t lid = 0; lid <= IBCC_LID_MAX; lid++) {
		if (t->lid_port[lid] != IBCC_NONE)
			assert_int_equal(got->lid_port[lid], twin(t, t->lid_port[lid], got));
	}
}

static void check(struct ibcc_topo *t)
{
	struct fake_fabric *f = fake_fabric(t);
	char why[100] = "?";
	struct ibcc_topo *got = walk(&f->base, why, sizeof(why));

	assert_non_null(got);
	assert_string_equal(why, "");
	assert_same(t, got);
	assert_int_equal(f->base.stats.sets, 0);
	ibcc_topo_free(got);
	ibcc_transport_free(&f->base);
}

static void test_fabrics(void **state)
{
	struct ibcc_topo *t = fabric_lustre();

	(void)state;
	check(t);
	ibcc_topo_free(t);
	t = fabric_tree2(16);
	check(t);
	ibcc_topo_free(t);
}

/* Nothing but the node we are at. */
static void test_single_node(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();

	(void)state;
	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "lonely");
	check(t);
	ibcc_topo_free(t);
}

/* Started at a switch; cables from a switch to itself and two between the same switches. */
static void test_odd_cables(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t a, b, ca;

	(void)state;
	assert_non_null(t);
	a = fabric_node(t, IBCC_NODE_SWITCH, 8, "a");
	b = fabric_node(t, IBCC_NODE_SWITCH, 8, "b");
	ca = fabric_node(t, IBCC_NODE_CA, 2, "two ports");
	fabric_link(t, a, 1, a, 2);
	fabric_link(t, a, 3, b, 3);
	fabric_link(t, a, 4, b, 5);
	fabric_link(t, ca, 1, a, 8);
	fabric_link(t, ca, 2, b, 8);
	t->node[b].enhanced_port0 = true;
	assert_int_equal(ibcc_route_compute(t), 0);
	check(t);
	ibcc_topo_free(t);
}

/* One SMP for what is there and none twice: each node's NodeInfo (behind each link but the first,
 * which has two ends), description and ports, each switch's SwitchInfo and table. Nothing for each
 * pair of ports, of which there are 72,000 here.
 */
static void test_smps(void **state)
{
	struct ibcc_topo *t = fabric_tree2(36);
	struct fake_fabric *f;
	struct ibcc_topo *got;
	char why[100];
	uint64_t links = 0, ports = 0, blocks = 0;

	(void)state;
	for (uint32_t i = 0; i < t->n_ports; i++) {
		t->port[i].op_vls = 8;
		links += t->port[i].peer != IBCC_NONE && t->port[i].peer > i;
	}
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		bool is_switch = ibcc_topo_is_switch(t, i);

		ports += t->node[i].n_ports + is_switch;
		blocks += is_switch ? 1 + (t->node[i].lft_len + 63) / 64 : 0;
	}
	f = fake_fabric(t);
	got = walk(&f->base, why, sizeof(why));
	assert_non_null(got);
	assert_int_equal(f->base.stats.smps, 1 + links + t->n_nodes + ports + blocks);
	assert_true(f->base.stats.smps < 6000);
	assert_int_equal(f->base.stats.sent, f->base.stats.smps);
	ibcc_topo_free(got);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* A large or slow fabric takes as long as it does; one that says nothing does not. */
static void test_slow_fabric(void **state)
{
	struct ibcc_topo *t = fabric_tree2(36);
	struct fake_fabric *f = fake_fabric(t);
	uint64_t from = f->now_ns;
	char why[200];

	(void)state;
	f->step_ns = 10000000; /* 53 s */
	ibcc_topo_free(walk(&f->base, why, sizeof(why)));
	assert_string_equal(why, "");
	assert_true(f->now_ns - from > 50000000000u);
	f->step_ns = 100000000; /* 530 s */
	from = f->now_ns;
	ibcc_topo_free(walk(&f->base, why, sizeof(why)));
	assert_non_null(strstr(why, "incomplete"));
	assert_in_range(f->now_ns - from, 29000000000u, 330000000000u);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* VLs, MTUs, port states before an SM was there, LMC; VLs' maps for a caller that asks for them. */
static void test_details(void **state)
{
	struct ibcc_topo *t = fabric_lustre(), *got;
	struct fake_fabric *f;
	uint8_t vl[16];

	(void)state;
	for (uint32_t i = 0; i < t->n_ports; i++) {
		if (t->port[i].num > 0)
			t->port[i].op_vls = 8;
	}
	t->port[fabric_port(t, LUSTRE_SLOW, 1)].mtu_bytes = 4096;
	t->port[fabric_port(t, LUSTRE_FAST, 1)].state = 2;
	for (unsigned int in = 0; in <= 8; in++) {
		for (unsigned int out = 1; out <= 8; out++) {
			for (unsigned int sl = 0; sl < 16; sl++)
				vl[sl] = (uint8_t)((in + out + sl) % 8);
			assert_int_equal(ibcc_topo_set_sl2vl(t, LUSTRE_SW1, in, out, vl), 0);
			assert_int_equal(ibcc_topo_set_sl2vl(t, LUSTRE_SW2, in, out, vl), 0);
		}
	}
	check(t);
	f = fake_fabric(t);
	got = walk_slowly(f, (struct ibcc_walk_options){ .sl2vl = true });
	for (unsigned int in = 1; in <= 5; in++) {
		uint32_t sw = ibcc_topo_find_guid(got, t->node[LUSTRE_SW1].guid);

		for (unsigned int out = 1; out <= 5; out++) {
			for (uint8_t sl = 0; sl < 16; sl++)
				assert_int_equal(ibcc_topo_vl(got, sw, in, out, sl),
						 (in + out + sl) % 8);
		}
	}
	ibcc_topo_free(got);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* A node that keeps silent is missing, and the walk says so, with the LIDs that tables lead there.
 */
static void test_silent_node(void **state)
{
	struct ibcc_topo *t = fabric_lustre(), *got;
	struct fake_fabric *f = fake_fabric(t);
	char why[200] = "", want[200];

	(void)state;
	fake_node_of(f, LUSTRE_FAST)->dead = true;
	got = walk(&f->base, why, sizeof(why));
	assert_non_null(got);
	assert_int_equal(got->n_nodes, t->n_nodes - 1);
	snprintf(want, sizeof(want),
		 "incomplete: no answer from the node behind \"sw2\" port 2 (LID %u)",
		 t->port[fabric_port(t, LUSTRE_FAST, 1)].lid);
	assert_string_equal(why, want);
	ibcc_topo_free(got);
	fake_node_of(f, LUSTRE_SRC1)->dead = true; /* that is where we are */
	assert_null(walk(&f->base, why, sizeof(why)));
	assert_non_null(strstr(why, "local port"));
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* Walks on, or from the start, and tells how many SMPs that took. */
static uint64_t smps_of(struct fake_fabric *f, struct ibcc_walk *w)
{
	uint64_t before = f->base.stats.smps;

	assert_int_equal(ibcc_discover(&f->base, w), 0);
	return f->base.stats.smps - before;
}

/* A walk that goes on asks for the gaps alone, counts how often, and finds what is behind a node
 * that is back.
 */
static void test_gaps_again(void **state)
{
	const struct ibcc_walk_options o = { 0 };
	struct ibcc_topo *t = fabric_tree2(8), *got;
	struct fake_fabric *f = fake_fabric(t);
	struct ibcc_walk *w = ibcc_walk_new(&o), *next;
	uint32_t leaf = ibcc_topo_find_desc(t, "leaf3"), host = ibcc_topo_find_desc(t, "h20");
	struct ibcc_walk_gaps gaps;
	uint64_t whole, again;
	char why[400];
	int err;

	(void)state;
	fake_node_of(f, leaf)->dead = fake_node_of(f, host)->dead = true;
	whole = smps_of(f, w);
	ibcc_walk_gaps(w, &gaps);
	assert_int_equal(gaps.n, 4 + 1); /* the leaf at each of four roots */
	assert_int_equal(gaps.tries, 1);
	assert_int_equal(ibcc_walk_retry(w), 5);
	again = smps_of(f, w);
	assert_in_range(again, 5, 10);
	assert_true(again * 20 < whole);
	ibcc_walk_gaps(w, &gaps);
	assert_int_equal(gaps.n, 5);
	assert_int_equal(gaps.tries, 2);
	/* Another walk knows how often they were asked; what is new was asked once. */
	next = ibcc_walk_new(&o);
	assert_int_equal(ibcc_walk_follow(next, w), 0);
	smps_of(f, next);
	ibcc_walk_gaps(next, &gaps);
	assert_int_equal(gaps.tries, 3);
	ibcc_walk_free(next);
	next = ibcc_walk_new(&o);
	assert_int_equal(ibcc_walk_follow(next, w), 0);
	fake_node_of(f, ibcc_topo_find_desc(t, "h9"))->dead = true;
	smps_of(f, next);
	ibcc_walk_gaps(next, &gaps);
	assert_int_equal(gaps.n, 6);
	assert_int_equal(gaps.tries, 1);
	ibcc_walk_free(next);
	fake_node_of(f, ibcc_topo_find_desc(t, "h9"))->dead = false;
	/* The leaf is back, and its four hosts with it. */
	fake_node_of(f, leaf)->dead = false;
	assert_int_equal(ibcc_walk_retry(w), 5);
	assert_true(smps_of(f, w) * 4 < whole);
	got = ibcc_discover_topo(w, &err, why, sizeof(why));
	assert_non_null(got);
	assert_int_equal(got->n_nodes, t->n_nodes - 1);
	assert_non_null(strstr(why, "the node behind \"leaf5\" port 1 (LID "));
	ibcc_topo_free(got);
	fake_node_of(f, host)->dead = false;
	assert_int_equal(ibcc_walk_retry(w), 1);
	smps_of(f, w);
	got = ibcc_discover_topo(w, &err, why, sizeof(why));
	assert_non_null(got);
	assert_string_equal(why, "");
	assert_same(t, got);
	ibcc_topo_free(got);
	ibcc_walk_free(w);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

/* A node that loses or refuses at random is asked again; and what is found with something missing
 * says so.
 */
static void test_unreliable(void **state)
{
	struct ibcc_topo *t = fabric_tree2(8);
	unsigned int whole = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct ibcc_fault_options o = {
			.seed = seed,
			/* What four attempts leave of a loss of one half. */
			.loss_permille = seed % 2 ? 62 : 0,
			.refuse_permille = seed % 2 ? 0 : 300,
		};
		struct ibcc_transport *tr = ibcc_fault_new(&fake_fabric(t)->base, &o);
		char why[200] = "";
		struct ibcc_topo *got = walk(tr, why, sizeof(why));

		if (got && !why[0]) {
			for (uint32_t i = 0; i < got->n_nodes; i++) { /* names do not count */
				struct ibcc_topo_node *n = &got->node[i];

				if (!n->desc[0])
					strcpy(n->desc,
					       t->node[ibcc_topo_find_guid(t, n->guid)].desc);
			}
			assert_same(t, got);
			whole++;
		}
		ibcc_topo_free(got);
		ibcc_transport_free(tr);
	}
	assert_true(whole > 90);
	ibcc_topo_free(t);
}

/* Lost and corrupted answers: an incomplete topology perhaps, but a sound one, or an error. */
static void test_loss_and_corruption(void **state)
{
	struct ibcc_topo *t = fabric_tree2(8);
	unsigned int told = 0;

	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		struct ibcc_fault_options o = {
			.seed = seed,
			.loss_permille = seed % 2 ? 30 : 0,
			.corrupt_permille = seed % 2 ? 0 : 300,
		};
		struct ibcc_transport *tr = ibcc_fault_new(&fake_fabric(t)->base, &o);
		char why[100] = "";
		struct ibcc_topo *got = walk(tr, why, sizeof(why));

		told += *why != '\0';
		for (uint32_t i = 0; got && i < got->n_ports; i++) {
			const struct ibcc_topo_port *p = &got->port[i];

			if (p->peer != IBCC_NONE)
				assert_int_equal(got->port[p->peer].peer, i);
			assert_in_range(p->op_vls, 1, 15);
			if (p->lid)
				assert_int_equal(got->lid_port[p->lid], i);
		}
		ibcc_topo_free(got);
		ibcc_transport_free(tr);
	}
	assert_true(told > 50);
	ibcc_topo_free(t);
}

static void test_breakdown(void **state)
{
	struct ibcc_topo *t = fabric_lustre();

	(void)state;
	/* After any number of requests. */
	for (uint64_t n = 1; n < 120; n++) {
		struct ibcc_fault_options o = { .fail_after = n };
		struct ibcc_transport *tr = ibcc_fault_new(&fake_fabric(t)->base, &o);
		char why[100] = "";
		struct ibcc_topo *got = walk(tr, why, sizeof(why));

		if (!got)
			assert_true(strlen(why) > 0);
		else
			assert_same(t, got);
		ibcc_topo_free(got);
		ibcc_transport_free(tr);
	}
	ibcc_topo_free(t);
}

/* What a port could run at is as its PortInfo has it. */
static void assert_caps(const struct ibcc_topo *got, uint32_t port, const struct ibcc_topo *t)
{
	uint32_t node = ibcc_topo_find_guid(t, got->node[got->port[port].node].guid);
	uint32_t same = ibcc_topo_port_index(t, node, got->port[port].num);

	assert_int_equal(got->port[port].caps.widths, t->port[same].caps.widths);
	assert_int_equal(got->port[port].caps.speeds, t->port[same].caps.speeds);
}

/* Extended speeds that are told only if asked for, XDR, and FDR10, which PortInfo does not
 * know; and devices that have nothing of it, or do not even answer, so that QDR would be a guess.
 */
static void test_rates(void **state)
{
	static const struct {
		unsigned int ext;
		bool withholds, fdr10, mute;
		uint32_t mbps;
	} cases[] = {
		{ 0, false, false, false, QDR_MBPS },
		{ 1, false, false, false, 54545 },
		{ 2, true, false, false, 100000 },
		{ 8, true, false, false, 400000 },
		{ FAKE_XDR, false, false, false, 800000 },
		{ FAKE_XDR, true, false, false, 800000 },
		{ 0, false, true, false, 40000 },
		{ 0, false, true, true, 0 }, /* it cannot be known */
	};
	struct ibcc_topo *t = fabric_tree2(8);

	(void)state;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		t->node[i].vendor_id = 0x2c9;
		t->node[i].device_id = ibcc_topo_is_switch(t, i) ? 0xc738 : 0x1003;
	}
	for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
		struct fake_fabric *f = fake_fabric(t);
		char why[100] = "?";
		struct ibcc_topo *got;

		for (uint32_t i = 0; i < t->n_ports; i++)
			t->port[i].caps = (struct ibcc_link_caps){ 1 + i % 31, 2u << i % 3 };
		f->ext_active = cases[k].ext;
		f->withholds = cases[k].withholds;
		f->fdr10 = cases[k].fdr10;
		f->mute_fdr10 = cases[k].mute;
		got = walk(&f->base, why, sizeof(why));
		assert_non_null(got);
		assert_string_equal(why, ""); /* and nothing is missing */
		assert_int_equal(got->node[0].vendor_id, 0x2c9);
		for (uint32_t i = 0; i < got->n_ports; i++) {
			if (got->port[i].peer == IBCC_NONE)
				continue;
			assert_int_equal(got->port[i].rate_mbps, cases[k].mbps);
			assert_int_equal(got->port[i].lanes, 4);
			assert_caps(got, i, t);
		}
		ibcc_topo_free(got);
		ibcc_transport_free(&f->base);
	}
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fabrics),     cmocka_unit_test(test_single_node),
		cmocka_unit_test(test_odd_cables),  cmocka_unit_test(test_details),
		cmocka_unit_test(test_smps),        cmocka_unit_test(test_slow_fabric),
		cmocka_unit_test(test_silent_node), cmocka_unit_test(test_gaps_again),
		cmocka_unit_test(test_unreliable),  cmocka_unit_test(test_loss_and_corruption),
		cmocka_unit_test(test_breakdown),   cmocka_unit_test(test_rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
