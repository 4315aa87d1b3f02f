/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reading settings back: values, block sizes, and telling refusal, silence and wrong keys apart. */
#include "tests/unit/fake_fabric.h"

#include <ibcc/collect.h>

struct fixture {
	struct ibcc_topo *t;
	struct fake_fabric *f;
	struct ibcc_settings s;
};

static struct fixture setup_on(struct ibcc_topo *t)
{
	struct fixture x = { .t = t, .f = fake_fabric(t) };

	return x;
}

static void teardown(struct fixture *x)
{
	ibcc_settings_fini(&x->s);
	ibcc_transport_free(&x->f->base);
	ibcc_topo_free(x->t);
}

static struct ibcc_endport_cc *cc(struct fixture *x, uint32_t node)
{
	return &x->s.ep[fake_node_of(x->f, node) - x->f->node];
}

static void run(struct fixture *x, uint64_t key)
{
	assert_int_equal(ibcc_readback_run(&x->f->base, x->t, key, &x->s), 0);
	assert_int_equal(x->s.n, x->t->n_endports);
	assert_int_equal(x->f->base.stats.sets, 0);
}

/* A lone switch with n ports, so many that an adapter hangs at the last. */
static struct ibcc_topo *star(unsigned int n_ports)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t ca, sw;

	assert_non_null(t);
	ca = fabric_node(t, IBCC_NODE_CA, 1, "host");
	sw = fabric_node(t, IBCC_NODE_SWITCH, n_ports, "switch");
	fabric_link(t, ca, 1, sw, n_ports);
	assert_int_equal(ibcc_route_compute(t), 0);
	return t;
}

/* Values at the byte offsets that Annex A10 gives them. */
static void test_values(void **state)
{
	struct fixture x = setup_on(fabric_lustre());
	struct fake_node *sw = fake_node_of(x.f, LUSTRE_SW1), *ca = fake_node_of(x.f, LUSTRE_SLOW);
	struct ibcc_endport_cc *e;

	(void)state;
	sw->sw_setting[4 + 31 - 0] = 0x20; /* Victim_Mask: port 5 */
	sw->sw_setting[68] = 0x90;         /* Threshold 9 */
	sw->sw_setting[69] = 8;            /* Packet_Size */
	sw->sw_setting[74] = 0x01;         /* Marking_Rate */
	sw->sw_setting[75] = 0x02;
	sw->element[5][0] = 0x83;            /* Valid, Threshold 3 */
	sw->element[5][3] = 7;               /* Marking_Rate */
	ca->ca_setting[1] = 1;               /* Port_Control: by SL */
	ca->ca_setting[4 + 8 * 2 + 1] = 150; /* SL 2: CCTI_Timer */
	ca->ca_setting[4 + 8 * 2 + 2] = 4;   /* CCTI_Increase */
	ca->cct_limit = 127;
	for (unsigned int i = 0; i < 128; i++)
		ca->cct[i] = (uint16_t)(0x4000 | i);
	run(&x, 0);

	e = cc(&x, LUSTRE_SW1);
	assert_int_equal(e->support, IBCC_CC_SUPPORTED);
	assert_true(ibcc_cc_mask_test(&e->sw.Victim_Mask, 5));
	assert_false(ibcc_cc_mask_test(&e->sw.Victim_Mask, 4));
	assert_int_equal(e->sw.Threshold, 9);
	assert_int_equal(e->sw.Packet_Size, 8);
	assert_int_equal(e->sw.Marking_Rate, 0x102);
	assert_int_equal(e->sw_port_block, 32);
	assert_int_equal(e->n_element, 9);
	assert_true(e->element[5].Valid);
	assert_int_equal(e->element[5].Threshold, 3);
	assert_int_equal(e->element[5].Cong_Parm_Marking_Rate, 7);
	assert_false(e->element[4].Valid);

	e = cc(&x, LUSTRE_SLOW);
	assert_int_equal(e->support, IBCC_CC_SUPPORTED);
	assert_int_equal(e->info.ControlTableCap, 2);
	assert_int_equal(e->ca.Port_Control, 1);
	assert_int_equal(e->ca.sl[2].CCTI_Timer, 150);
	assert_int_equal(e->ca.sl[2].CCTI_Increase, 4);
	assert_int_equal(e->cct.limit, 127);
	assert_int_equal(e->cct.entry[127], 0x407f);
	teardown(&x);
}

static void test_refusal_silence_and_absence(void **state)
{
	struct fixture x = setup_on(fabric_lustre());

	(void)state;
	fake_node_of(x.f, LUSTRE_SRC1)->no_cc = true;
	fake_node_of(x.f, LUSTRE_SRC2)->cc_silent = true;
	fake_node_of(x.f, LUSTRE_SRC3)->dead = true;
	run(&x, 0);
	assert_int_equal(cc(&x, LUSTRE_SRC1)->support, IBCC_CC_UNSUPPORTED);
	assert_int_equal(cc(&x, LUSTRE_SRC1)->status, FAKE_BAD_VERSION);
	assert_int_equal(cc(&x, LUSTRE_SRC2)->support, IBCC_CC_UNKNOWN);
	assert_int_equal(cc(&x, LUSTRE_SRC2)->err, -ETIMEDOUT);
	assert_int_equal(cc(&x, LUSTRE_SRC3)->support, IBCC_CC_UNKNOWN);
	assert_int_equal(cc(&x, LUSTRE_SRC3)->err, -EHOSTUNREACH);
	assert_int_equal(cc(&x, LUSTRE_SRC4)->support, IBCC_CC_SUPPORTED);
	teardown(&x);
}

/* A node that said that it has no such class is asked again without the key, and with it when it
 * has.
 */
static void test_whom_the_key_is_told(void **state)
{
	struct fixture x = setup_on(fabric_lustre());
	struct fake_node *n = fake_node_of(x.f, LUSTRE_SRC1);

	(void)state;
	n->no_cc = true;
	run(&x, 0x4711);
	assert_int_equal(n->last_key, 0x4711); /* it might have been protected */
	run(&x, 0x4711);
	assert_int_equal(cc(&x, LUSTRE_SRC1)->support, IBCC_CC_UNSUPPORTED);
	assert_int_equal(n->last_key, 0);
	n->no_cc = false;
	run(&x, 0x4711);
	assert_int_equal(cc(&x, LUSTRE_SRC1)->support, IBCC_CC_SUPPORTED);
	assert_int_equal(n->last_key, 0x4711);
	teardown(&x);
}

/* Among answers a refusal proves nothing, and a node that told its settings has them still. */
static void test_passing_refusals(void **state)
{
	struct fixture x = setup_on(fabric_lustre());
	static const uint32_t nodes[] = { LUSTRE_SRC1, LUSTRE_SW1 };
	unsigned int i;

	(void)state;
	for (unsigned int n = 1; n < 3; n++) {
		for (i = 0; i < 2; i++)
			fake_node_of(x.f, nodes[i])->refuse_cc = n;
		run(&x, 0);
		for (i = 0; i < 2; i++)
			assert_int_equal(cc(&x, nodes[i])->support, IBCC_CC_SUPPORTED);
		assert_int_equal(cc(&x, LUSTRE_SW1)->sw_port_block, 32);
	}
	for (i = 0; i < 2; i++)
		fake_node_of(x.f, nodes[i])->no_cc = true;
	run(&x, 0);
	for (i = 0; i < 2; i++) {
		assert_int_equal(cc(&x, nodes[i])->support, IBCC_CC_UNKNOWN);
		assert_int_equal(cc(&x, nodes[i])->err, -EREMOTEIO);
		fake_node_of(x.f, nodes[i])->no_cc = false;
	}
	assert_int_equal(ibcc_readback_missing(&x.f->base, x.t, 0, &x.s), 0);
	for (i = 0; i < 2; i++)
		assert_int_equal(cc(&x, nodes[i])->support, IBCC_CC_SUPPORTED);
	/* Settings of ports that were there do not vanish by a refusal. */
	fake_node_of(x.f, LUSTRE_SW1)->no_0x15 = true;
	run(&x, 0);
	assert_int_equal(cc(&x, LUSTRE_SW1)->support, IBCC_CC_UNKNOWN);
	teardown(&x);
}

static void test_keys(void **state)
{
	struct fixture x = setup_on(fabric_lustre());
	struct fake_node *open = fake_node_of(x.f, LUSTRE_SRC1);
	struct fake_node *protected = fake_node_of(x.f, LUSTRE_SRC2);

	(void)state;
	open->cc_key = protected->cc_key = 0x1234;
	protected->protect = true;
	open->ca_setting[1] = 1;
	run(&x, 0x9999);
	/* Settings can be read, but no Set would pass. */
	assert_int_equal(cc(&x, LUSTRE_SRC1)->support, IBCC_CC_KEY_REFUSED);
	assert_int_equal(cc(&x, LUSTRE_SRC1)->ca.Port_Control, 1);
	assert_int_equal(cc(&x, LUSTRE_SRC2)->support, IBCC_CC_UNKNOWN);
	assert_int_equal(cc(&x, LUSTRE_SRC2)->err, -ETIMEDOUT);
	/* A node without a key takes any. */
	assert_int_equal(cc(&x, LUSTRE_SRC3)->support, IBCC_CC_SUPPORTED);
	run(&x, 0x1234);
	assert_int_equal(cc(&x, LUSTRE_SRC1)->support, IBCC_CC_SUPPORTED);
	assert_int_equal(cc(&x, LUSTRE_SRC2)->support, IBCC_CC_SUPPORTED);
	teardown(&x);
}

/* Which block size a switch speaks, from ports, size and what is set. */
static void check_block(unsigned int n_ports, unsigned int block, uint8_t set_port, uint8_t want)
{
	struct fixture x = setup_on(star(n_ports));
	struct fake_node *sw = fake_node_of(x.f, 1);
	struct ibcc_endport_cc *e;

	sw->block = block;
	for (unsigned int p = 0; p <= n_ports; p++)
		sw->element[p][3] = (uint8_t)p;
	if (!set_port)
		memset(sw->element, 0, sizeof(sw->element));
	run(&x, 0);
	e = cc(&x, 1);
	assert_int_equal(e->support, IBCC_CC_SUPPORTED);
	assert_int_equal(e->sw_port_block, want);
	assert_int_equal(e->n_element, n_ports + 1);
	for (unsigned int p = 0; set_port && p <= n_ports; p++)
		assert_int_equal(e->element[p].Cong_Parm_Marking_Rate, p);
	teardown(&x);
}

/* Where answers are cut off, as below umad2sim, the last elements are unknown of a block of 48,
 * and a block can only be written as a whole.
 */
static void test_cut_off_blocks(void **state)
{
	static const struct {
		unsigned int n_ports, block, whole_bytes;
		uint8_t want;
	} cases[] = { { 65, 48, 224, 0 },  { 65, 32, 224, 32 }, { 65, 48, 0, 48 },
		      { 36, 48, 224, 48 }, { 39, 48, 224, 48 }, { 40, 48, 224, 0 } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture x = setup_on(star(cases[i].n_ports));
		struct fake_node *sw = fake_node_of(x.f, 1);

		sw->block = cases[i].block;
		for (unsigned int p = 0; p <= cases[i].n_ports; p++)
			sw->element[p][3] = (uint8_t)p;
		x.f->base.whole_bytes = cases[i].whole_bytes;
		run(&x, 0);
		assert_int_equal(cc(&x, 1)->sw_port_block, cases[i].want);
		assert_int_equal(cc(&x, 1)->n_element, cases[i].want ? cases[i].n_ports + 1 : 0);
		teardown(&x);
	}
}

static void test_block_sizes(void **state)
{
	(void)state;
	for (uint8_t set = 0; set < 2; set++) {
		check_block(8, 32, set, 32);
		check_block(31, 48, set, 32); /* one block either way */
		check_block(36, 32, set, 32);
		check_block(36, 48, set, 48);
		check_block(64, 32, set, 32);
		check_block(64, 48, set, 48);
		check_block(254, 32, set, 32);
		check_block(254, 48, set, 48);
	}
	/* 48 to 63 ports have two blocks either way: what is set in the first one tells. */
	check_block(48, 32, 1, 32);
	check_block(48, 48, 1, 48);
	check_block(63, 48, 1, 48);
	check_block(63, 32, 0, 32);
}

static void test_switch_without_port_settings(void **state)
{
	struct fixture x = setup_on(star(36));

	(void)state;
	fake_node_of(x.f, 1)->no_0x15 = true;
	run(&x, 0);
	assert_int_equal(cc(&x, 1)->support, IBCC_CC_SUPPORTED);
	assert_int_equal(cc(&x, 1)->sw_port_block, 0);
	assert_int_equal(cc(&x, 1)->n_element, 0);
	teardown(&x);
}

static void check_limit(bool relative, uint8_t cap, uint16_t limit, uint16_t used, uint16_t want)
{
	struct fixture x = setup_on(star(8));
	struct fake_node *ca = fake_node_of(x.f, 0);

	ca->relative_limit = relative;
	ca->cct_cap = cap;
	ca->cct_limit = limit;
	for (unsigned int i = 1; i < used; i++)
		ca->cct[i] = (uint16_t)i;
	run(&x, 0);
	assert_int_equal(cc(&x, 0)->support, IBCC_CC_SUPPORTED);
	assert_int_equal(cc(&x, 0)->cct.limit, want);
	teardown(&x);
}

static void test_table_limits(void **state)
{
	(void)state;
	check_limit(false, 2, 127, 128, 127);
	check_limit(false, 2, 63, 64, 63);
	check_limit(false, 2, 40, 41, 40);
	check_limit(false, 2, 0, 0, 0);
	check_limit(false, 4, 127, 256, 127); /* stale entries beyond the limit */
	check_limit(false, 4, 255, 256, 255);
	check_limit(true, 2, 127, 128, 127);
	check_limit(true, 2, 100, 101, 100);
	check_limit(true, 4, 255, 256, 255);
	/* More than the table has, and more blocks than can be addressed. */
	check_limit(false, 2, 9999, 128, 127);
	check_limit(false, 200, 65535, 256, 255);
	check_limit(false, 0, 127, 0, 0);
}

/* With requests lost at random no endport may look supported with values that were not read. */
static void test_loss(void **state)
{
	struct ibcc_topo *t = fabric_tree2(8);

	(void)state;
	for (uint64_t seed = 0; seed < 20; seed++) {
		struct fake_fabric *f = fake_fabric(t);
		struct ibcc_fault_options o = { .seed = seed, .loss_permille = 100 };
		struct ibcc_transport *tr = ibcc_fault_new(&f->base, &o);
		struct ibcc_settings s = { 0 };
		unsigned int unknown = 0;

		for (uint32_t i = 0; i < t->n_endports; i++) {
			f->node[i].sw_setting[68] = 0x70;
			f->node[i].ca_setting[1] = 1;
			f->node[i].cct_limit = 127;
			f->node[i].cct[127] = 5;
		}
		assert_int_equal(ibcc_readback_run(tr, t, 0, &s), 0);
		for (uint32_t i = 0; i < t->n_endports; i++) {
			const struct ibcc_endport_cc *e = &s.ep[i];

			unknown += e->support == IBCC_CC_UNKNOWN;
			if (e->support != IBCC_CC_SUPPORTED)
				continue;
			if (ibcc_topo_is_switch(t, t->port[t->endport[i]].node)) {
				assert_int_equal(e->sw.Threshold, 7);
			} else {
				assert_int_equal(e->ca.Port_Control, 1);
				assert_int_equal(e->cct.limit, 127);
				assert_int_equal(e->cct.entry[127], 5);
			}
		}
		assert_true(unknown > 0);
		ibcc_settings_fini(&s);
		ibcc_transport_free(tr);
	}
	ibcc_topo_free(t);
}

/* Only unknown nodes are asked again, and after a while all are known in spite of losses. */
static void test_missing(void **state)
{
	struct fixture x = setup_on(fabric_tree2(8));
	struct ibcc_fault_options o = { .seed = 1, .loss_permille = 100 };
	struct ibcc_transport *tr = ibcc_fault_new(&x.f->base, &o);
	struct ibcc_settings empty = { 0 };
	uint64_t sent, unknown;
	unsigned int tries = 0;

	(void)state;
	assert_int_equal(ibcc_readback_missing(tr, x.t, 0, &empty), -EINVAL);
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].sw_setting[68] = 0x70;
	assert_int_equal(ibcc_readback_run(tr, x.t, 0, &x.s), 0);
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].sw_setting[68] = 0x90;
	do {
		bool was_known[256];

		unknown = 0;
		assert_in_range(x.s.n, 1, 256);
		for (uint32_t i = 0; i < x.s.n; i++) {
			was_known[i] = x.s.ep[i].support == IBCC_CC_SUPPORTED;
			unknown += !was_known[i];
		}
		assert_true(tries || unknown);
		sent = tr->stats.sent;
		assert_int_equal(ibcc_readback_missing(tr, x.t, 0, &x.s), 0);
		/* Info, sign of life, and what a switch or an adapter has. */
		assert_in_range(tr->stats.sent - sent, 0, 6 * unknown);
		for (uint32_t i = 0; i < x.s.n; i++) {
			bool sw = ibcc_topo_is_switch(x.t, x.t->port[x.t->endport[i]].node);

			if (was_known[i] && sw && !tries)
				assert_int_equal(x.s.ep[i].sw.Threshold, 7);
			if (!was_known[i] && sw && x.s.ep[i].support == IBCC_CC_SUPPORTED)
				assert_int_equal(x.s.ep[i].sw.Threshold, 9);
		}
	} while (unknown && ++tries < 20);
	assert_int_equal(unknown, 0);
	ibcc_settings_fini(&x.s);
	ibcc_transport_free(tr);
	ibcc_topo_free(x.t);
}

/* A transport that breaks down or is cancelled leaves the old settings in place. */
static void test_breakdown(void **state)
{
	struct fixture x = setup_on(fabric_lustre());

	(void)state;
	run(&x, 0);
	x.f->run_err = -EIO;
	assert_int_equal(ibcc_readback_run(&x.f->base, x.t, 0, &x.s), -EIO);
	x.f->run_err = -ECANCELED;
	assert_int_equal(ibcc_readback_run(&x.f->base, x.t, 0, &x.s), -ECANCELED);
	assert_int_equal(x.s.n, x.t->n_endports);
	assert_int_equal(cc(&x, LUSTRE_SRC1)->support, IBCC_CC_SUPPORTED);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_values),
		cmocka_unit_test(test_refusal_silence_and_absence),
		cmocka_unit_test(test_whom_the_key_is_told),
		cmocka_unit_test(test_passing_refusals),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_block_sizes),
		cmocka_unit_test(test_cut_off_blocks),
		cmocka_unit_test(test_switch_without_port_settings),
		cmocka_unit_test(test_table_limits),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_missing),
		cmocka_unit_test(test_breakdown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
