/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carrying out plans: order, verification, partial failure, stopping. */
#include "tests/unit/fake_fabric.h"

#include <ibcc/apply.h>

struct fixture {
	struct ibcc_topo *t;
	struct fake_fabric *f;
	struct ibcc_transport *tr; /* owns f */
	struct ibcc_plan plan;
	struct ibcc_result r;
	struct ibcc_apply_options o;
};

static struct fixture setup(void)
{
	struct fixture x = { .t = fabric_lustre() };

	x.f = fake_fabric(x.t);
	x.tr = &x.f->base;
	return x;
}

static struct fixture setup_with_faults(const struct ibcc_fault_options *o)
{
	struct fixture x = setup();

	x.tr = ibcc_fault_new(x.tr, o);
	assert_non_null(x.tr);
	return x;
}

static void teardown(struct fixture *x)
{
	ibcc_result_fini(&x->r);
	ibcc_plan_fini(&x->plan);
	ibcc_transport_free(x->tr);
	ibcc_topo_free(x->t);
}

static void want(struct fixture *x, uint32_t node, uint16_t attr_id, uint32_t attr_mod,
		 const uint8_t *data)
{
	const struct ibcc_topo_node *n = &x->t->node[node];
	bool sw = ibcc_topo_is_switch(x->t, node);
	struct ibcc_change c = {
		.node_guid = n->guid,
		.lid = x->t->port[n->first_port + !sw].lid,
		.port = !sw,
		.attr_id = attr_id,
		.attr_mod = attr_mod,
	};

	memcpy(c.new_data, data, sizeof(c.new_data));
	assert_int_equal(ibcc_plan_append(&x->plan, &c), 0);
}

/* What a hotspot's source gets: the setting, then the table in blocks with cumulative limits. */
static void want_source(struct fixture *x, uint32_t node)
{
	uint8_t data[192] = { 0 };

	data[3] = 1;   /* Control_Map: SL 0 */
	data[5] = 150; /* CCTI_Timer */
	data[6] = 2;   /* CCTI_Increase */
	want(x, node, IBCC_CC_ATTR_CA_SETTING, 0, data);
	for (uint32_t block = 0; block < 2; block++) {
		memset(data, 0, sizeof(data));
		data[1] = (uint8_t)(64 * block + 63);
		for (uint32_t i = 0; i < 64; i++)
			data[5 + 2 * i] = (uint8_t)(64 * block + i);
		want(x, node, IBCC_CC_ATTR_CCT, block, data);
	}
}

static void want_switch(struct fixture *x, uint32_t node, uint8_t threshold)
{
	uint8_t data[192] = { 0 };

	data[3] = 0x1f;
	data[68] = (uint8_t)(threshold << 4);
	want(x, node, IBCC_CC_ATTR_SW_SETTING, 0, data);
}

static int apply(struct fixture *x)
{
	ibcc_result_fini(&x->r);
	assert_int_equal(ibcc_result_init(&x->r, x->plan.n), 0);
	return ibcc_apply_run(x->tr, &x->plan, &x->o, &x->r);
}

static void assert_outcomes(const struct fixture *x, const enum ibcc_outcome *o)
{
	for (uint32_t i = 0; i < x->plan.n; i++)
		assert_int_equal(x->r.change[i].outcome, o[i]);
}

static void test_applies_in_order(void **state)
{
	struct fixture x = setup();
	struct fake_node *n = fake_node_of(x.f, LUSTRE_SRC2);

	(void)state;
	want_switch(&x, LUSTRE_SW1, 9);
	want_source(&x, LUSTRE_SRC1);
	want_source(&x, LUSTRE_SRC2);
	assert_int_equal(apply(&x), 0);
	assert_int_equal(x.r.n_verified, 7);
	assert_int_equal(x.r.n_failed, 0);
	assert_int_equal(x.r.set_mads, 7);
	assert_int_equal(x.f->base.stats.sets, 7);
	assert_int_equal(n->n_sets, 3);
	assert_int_equal(n->set_attr[0], 0x16);
	assert_int_equal(n->set_attr[1], 0x17);
	assert_int_equal(n->set_attr[2], 0x17);
	assert_int_equal(n->set_mod[1], 0);
	assert_int_equal(n->set_mod[2], 1);
	assert_int_equal(n->ca_setting[5], 150);
	assert_int_equal(n->cct_limit, 127);
	assert_int_equal(n->cct[127], 127);
	assert_int_equal(fake_node_of(x.f, LUSTRE_SW1)->sw_setting[68], 0x90);
	/* Sent again, it is as it was. */
	assert_int_equal(apply(&x), 0);
	assert_int_equal(n->cct_limit, 127);
	teardown(&x);
}

static void test_dry(void **state)
{
	struct fixture x = setup();

	(void)state;
	want_source(&x, LUSTRE_SRC1);
	x.o.dry = true;
	assert_int_equal(apply(&x), 0);
	for (uint32_t i = 0; i < x.plan.n; i++)
		assert_int_equal(x.r.change[i].outcome, IBCC_OUTCOME_DRY);
	assert_int_equal(x.f->base.stats.sent, 0);
	assert_int_equal(x.r.set_mads, 0);
	teardown(&x);
}

static void test_empty(void **state)
{
	struct fixture x = setup();

	(void)state;
	assert_int_equal(apply(&x), 0);
	assert_int_equal(x.f->base.stats.sent, 0);
	teardown(&x);
}

/* One node that refuses, one that pretends, one that is gone: each stops alone. */
static void test_partial_failure(void **state)
{
	const enum ibcc_outcome want_outcome[] = {
		IBCC_OUTCOME_FAILED,
		IBCC_OUTCOME_SKIPPED,
		IBCC_OUTCOME_SKIPPED,
		/* The setting might have come into effect with the table. */
		IBCC_OUTCOME_DIFFERS,
		IBCC_OUTCOME_DIFFERS,
		IBCC_OUTCOME_SKIPPED,
		IBCC_OUTCOME_FAILED,
		IBCC_OUTCOME_SKIPPED,
		IBCC_OUTCOME_SKIPPED,
		IBCC_OUTCOME_VERIFIED,
		IBCC_OUTCOME_VERIFIED,
		IBCC_OUTCOME_VERIFIED,
	};
	struct fixture x = setup();

	(void)state;
	fake_node_of(x.f, LUSTRE_SRC1)->set_status = FAKE_BAD_FIELD;
	fake_node_of(x.f, LUSTRE_SRC2)->deaf_sets = true;
	fake_node_of(x.f, LUSTRE_SRC3)->dead = true;
	for (uint32_t i = 0; i < 4; i++)
		want_source(&x, LUSTRE_SRC1 + i);
	assert_int_equal(apply(&x), -EIO);
	assert_outcomes(&x, want_outcome);
	assert_int_equal(x.r.change[0].err, -EREMOTEIO);
	assert_int_equal(x.r.change[0].status, FAKE_BAD_FIELD);
	assert_int_equal(x.r.change[6].err, -ETIMEDOUT);
	assert_int_equal(x.r.n_verified, 3);
	assert_int_equal(x.r.n_failed, 4);
	assert_int_equal(x.r.set_mads, 7);
	teardown(&x);
}

/* Only a refused Set was not carried out for certain. */
static void test_may_be_there(void **state)
{
	struct fixture x = setup();

	(void)state;
	fake_node_of(x.f, LUSTRE_SRC1)->refuse_cc = 1; /* the look at what was written */
	fake_node_of(x.f, LUSTRE_SRC2)->set_status = IBCC_MAD_STATUS_BUSY;
	fake_node_of(x.f, LUSTRE_SRC3)->set_status = FAKE_BAD_FIELD;
	for (uint32_t i = 0; i < 3; i++)
		want_source(&x, LUSTRE_SRC1 + i);
	assert_int_equal(apply(&x), -EIO);
	assert_int_equal(fake_node_of(x.f, LUSTRE_SRC1)->ca_setting[5], 150);
	for (uint32_t i = 0; i < 3; i++)
		assert_int_equal(x.r.change[3 * i].outcome, IBCC_OUTCOME_FAILED);
	assert_int_equal(x.r.change[0].err, -ENODATA);
	assert_int_equal(x.r.change[3].err, -EBUSY);
	assert_int_equal(x.r.change[6].err, -EREMOTEIO);
	teardown(&x);
}

/* A table that is sent once more, since a node may want another limit in each block, and is refused
 * this time: what was taken of it before is there.
 */
static void test_refused_again(void **state)
{
	static const struct {
		unsigned int blocks, after;
		bool relative_limit; /* so it is read back, and nothing is verified */
	} cases[] = { { 2, 1, false }, { 3, 2, false }, { 2, 1, true } };

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fixture x = setup();
		struct fake_node *n = fake_node_of(x.f, LUSTRE_SRC1);
		uint8_t data[192] = { 0, (uint8_t)(64 * cases[i].blocks - 1) };

		n->set_status = FAKE_BAD_FIELD;
		n->after = cases[i].after;
		n->relative_limit = cases[i].relative_limit;
		for (uint32_t block = 0; block < cases[i].blocks; block++)
			want(&x, LUSTRE_SRC1, IBCC_CC_ATTR_CCT, block, data);
		assert_int_equal(apply(&x), -EIO);
		assert_int_equal(x.r.n_verified, 0);
		assert_int_equal(x.r.change[0].outcome, IBCC_OUTCOME_FAILED);
		assert_int_equal(x.r.change[0].err, -ENODATA);
		assert_int_equal(x.r.change[0].status, FAKE_BAD_FIELD);
		for (unsigned int k = 1; k < cases[i].blocks; k++)
			assert_int_equal(x.r.change[k].outcome, k < cases[i].after
									? IBCC_OUTCOME_DIFFERS
									: IBCC_OUTCOME_SKIPPED);
		teardown(&x);
	}
}

/* Changes of one node that do not follow each other in the plan keep their order all the same. */
static void test_scattered_node(void **state)
{
	struct fixture x = setup();
	uint8_t data[192] = { 0 };

	(void)state;
	data[3] = 1;
	data[6] = 1;
	want(&x, LUSTRE_SRC1, IBCC_CC_ATTR_CA_SETTING, 0, data);
	want_switch(&x, LUSTRE_SW1, 1);
	data[6] = 2;
	want(&x, LUSTRE_SRC1, IBCC_CC_ATTR_CA_SETTING, 0, data);
	assert_int_equal(apply(&x), 0);
	assert_int_equal(x.r.n_verified, 3);
	assert_int_equal(fake_node_of(x.f, LUSTRE_SRC1)->ca_setting[6], 2);
	teardown(&x);
}

static void test_wrong_key(void **state)
{
	struct fixture x = setup();
	struct fake_node *n = fake_node_of(x.f, LUSTRE_SRC1);

	(void)state;
	n->cc_key = 77;
	want_source(&x, LUSTRE_SRC1);
	x.o.cc_key = 78;
	assert_int_equal(apply(&x), -EIO);
	assert_int_equal(x.r.change[0].outcome, IBCC_OUTCOME_FAILED);
	assert_int_equal(x.r.change[0].err, -ETIMEDOUT);
	assert_int_equal(n->ca_setting[5], 0);
	x.o.cc_key = 77;
	assert_int_equal(apply(&x), 0);
	assert_int_equal(n->ca_setting[5], 150);
	teardown(&x);
}

static bool so_often(void *arg)
{
	unsigned int *left = arg;

	return *left && (*left)--;
}

/* The SM stops being master: what was written stays, no further Set leaves. */
static void test_stops_when_told(void **state)
{
	struct fixture x = setup();
	unsigned int left = 1;

	(void)state;
	want_source(&x, LUSTRE_SRC1);
	want_switch(&x, LUSTRE_SW1, 3);
	x.o.may_continue = so_often;
	x.o.arg = &left;
	assert_int_equal(apply(&x), -ECANCELED);
	assert_int_equal(x.r.change[0].outcome, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(x.r.change[1].outcome, IBCC_OUTCOME_PENDING);
	assert_int_equal(x.r.change[2].outcome, IBCC_OUTCOME_PENDING);
	assert_int_equal(x.r.change[3].outcome, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(x.r.set_mads, 2);
	assert_int_equal(x.f->base.stats.sets, 2);
	left = 0;
	assert_int_equal(apply(&x), -ECANCELED);
	assert_int_equal(x.r.set_mads, 0);
	teardown(&x);
}

/* However many requests get lost, an outcome never claims what is not on the node. */
static void test_loss(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 50; seed++) {
		struct ibcc_fault_options o = { .seed = seed, .loss_permille = 200 };
		struct fixture x = setup_with_faults(&o);
		uint32_t n = 0;
		int rc;

		for (uint32_t i = 0; i < 4; i++)
			want_source(&x, LUSTRE_SRC1 + i);
		rc = apply(&x);
		for (uint32_t i = 0; i < 4; i++) {
			const struct ibcc_change_result *c = &x.r.change[3 * i];
			const struct fake_node *node = fake_node_of(x.f, LUSTRE_SRC1 + i);

			for (uint32_t k = 0; k < 3; k++) {
				assert_true(c[k].outcome != IBCC_OUTCOME_PENDING);
				n += c[k].outcome == IBCC_OUTCOME_VERIFIED;
			}
			if (c[0].outcome == IBCC_OUTCOME_VERIFIED)
				assert_int_equal(node->ca_setting[5], 150);
			if (c[2].outcome == IBCC_OUTCOME_VERIFIED)
				assert_int_equal(node->cct[127], 127);
			if (c[0].outcome == IBCC_OUTCOME_FAILED)
				assert_int_equal(c[1].outcome, IBCC_OUTCOME_SKIPPED);
		}
		assert_int_equal(n, x.r.n_verified);
		assert_int_equal(rc, n == 12 ? 0 : -EIO);
		teardown(&x);
	}
}

/* Answers with flipped bits: what reads back otherwise is never called verified. */
static void test_corruption(void **state)
{
	struct ibcc_fault_options o = { .seed = 5, .corrupt_permille = 1000 };
	struct fixture x = setup_with_faults(&o);

	(void)state;
	for (uint32_t i = 0; i < 4; i++)
		want_source(&x, LUSTRE_SRC1 + i);
	/* Table entries fill the datagram's data, so nearly every flipped bit matters. */
	apply(&x);
	for (uint32_t i = 0; i < x.plan.n; i++) {
		if (x.plan.change[i].attr_id == IBCC_CC_ATTR_CCT &&
		    x.r.change[i].outcome == IBCC_OUTCOME_DIFFERS)
			break;
		assert_true(i + 1 < x.plan.n);
	}
	teardown(&x);
}

/* The port goes away between two Sets. */
static void test_breakdown(void **state)
{
	struct ibcc_fault_options o = { .seed = 1, .fail_after = 3 };
	struct fixture x = setup_with_faults(&o);

	(void)state;
	want_source(&x, LUSTRE_SRC1);
	assert_int_equal(apply(&x), -EIO);
	assert_int_equal(x.r.change[0].outcome, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(x.r.change[1].outcome, IBCC_OUTCOME_FAILED);
	assert_int_equal(x.r.change[1].err, -EIO);
	assert_int_equal(x.r.change[2].outcome, IBCC_OUTCOME_SKIPPED);
	teardown(&x);
}

/* More nodes than one wave takes. */
static void test_many_nodes(void **state)
{
	struct fixture x = { .t = fabric_tree2(16) };

	(void)state;
	x.f = fake_fabric(x.t);
	x.tr = &x.f->base;
	for (uint32_t i = 0; i < 128; i++)
		want_source(&x, i);
	assert_int_equal(apply(&x), 0);
	assert_int_equal(x.r.n_verified, 384);
	for (uint32_t i = 0; i < 128; i++)
		assert_int_equal(fake_node_of(x.f, i)->cct_limit, 127);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_applies_in_order),
		cmocka_unit_test(test_dry),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_partial_failure),
		cmocka_unit_test(test_may_be_there),
		cmocka_unit_test(test_refused_again),
		cmocka_unit_test(test_scattered_node),
		cmocka_unit_test(test_wrong_key),
		cmocka_unit_test(test_stops_when_told),
		cmocka_unit_test(test_loss),
		cmocka_unit_test(test_corruption),
		cmocka_unit_test(test_breakdown),
		cmocka_unit_test(test_many_nodes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
