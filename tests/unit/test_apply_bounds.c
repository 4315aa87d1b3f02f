/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes that a plan must not write to, in part or too often, get nothing of it; the others all. */
#include "tests/unit/fake_fabric.h"

#include <ibcc/apply.h>

struct fixture {
	struct ibcc_topo *t;
	struct fake_fabric *f;
	struct ibcc_plan plan;
	struct ibcc_result r;
	struct ibcc_bounds bounds;
	struct ibcc_set_budget budget;
	struct ibcc_why left_out;
	struct ibcc_apply_options o;
};

static void setup(struct fixture *x)
{
	memset(x, 0, sizeof(*x));
	x->t = fabric_lustre();
	x->f = fake_fabric(x->t);
	x->bounds = (struct ibcc_bounds)IBCC_BOUNDS_DEFAULT;
	x->o = (struct ibcc_apply_options){ .bounds = &x->bounds, .left_out = &x->left_out };
}

static void teardown(struct fixture *x)
{
	ibcc_set_budget_fini(&x->budget);
	ibcc_result_fini(&x->r);
	ibcc_plan_fini(&x->plan);
	ibcc_transport_free(&x->f->base);
	ibcc_topo_free(x->t);
}

static struct ibcc_change *want(struct fixture *x, uint32_t node, uint16_t attr_id)
{
	const struct ibcc_topo_node *n = &x->t->node[node];
	struct ibcc_change c = {
		.node_guid = n->guid,
		.lid = x->t->port[n->first_port + 1].lid,
		.port = 1,
		.attr_id = attr_id,
	};

	if (attr_id == IBCC_CC_ATTR_CA_SETTING)
		c.new_data[2] = c.new_data[3] = 0xff; /* Control_Map */
	assert_int_equal(ibcc_plan_append(&x->plan, &c), 0);
	return &x->plan.change[x->plan.n - 1];
}

/* A setting and a table of two entries. */
static void want_source(struct fixture *x, uint32_t node, uint8_t min)
{
	struct ibcc_change *c = want(x, node, IBCC_CC_ATTR_CA_SETTING);

	c->new_data[5] = 10;
	c->new_data[4 + 4] = min; /* CCTI_Min of SL 0 */
	c = want(x, node, IBCC_CC_ATTR_CCT);
	c->new_data[1] = 1;
	c->new_data[7] = 5;
}

static int apply(struct fixture *x)
{
	ibcc_result_fini(&x->r);
	assert_int_equal(ibcc_result_init(&x->r, x->plan.n), 0);
	x->f->base.stats.sets = 0;
	return ibcc_apply_run(&x->f->base, &x->plan, &x->o, &x->r);
}

/* The node of the first two changes is left out with this error at one of them; the next is not. */
static void assert_left_out(struct fixture *x, uint32_t at, int err, const char *word)
{
	for (uint32_t i = 0; i < 2; i++) {
		assert_int_equal(x->r.change[i].outcome, IBCC_OUTCOME_SKIPPED);
		assert_int_equal(x->r.change[i].err, i == at ? err : 0);
	}
	if (!strstr(x->left_out.text, word))
		fail_msg("%s", x->left_out.text);
	for (uint32_t i = 2; i < x->plan.n; i++)
		assert_int_equal(x->r.change[i].outcome,
				 x->o.dry ? IBCC_OUTCOME_DRY : IBCC_OUTCOME_VERIFIED);
	assert_int_equal(x->f->base.stats.sets, x->o.dry ? 0 : x->plan.n - 2);
}

static void test_beyond_bounds(void **state)
{
	struct fixture x;

	(void)state;
	setup(&x);
	want_source(&x, LUSTRE_SRC1, 0);
	want_source(&x, LUSTRE_SRC2, 0);
	x.plan.change[1].new_data[5] = 1; /* a delay at index 0 */
	assert_int_equal(apply(&x), -EIO);
	assert_left_out(&x, 1, -ERANGE, "index 0");
	x.o.dry = true;
	assert_int_equal(apply(&x), -EIO);
	assert_left_out(&x, 1, -ERANGE, "index 0");
	x.o.dry = false;
	x.plan.change[1].new_data[5] = 0;
	assert_int_equal(apply(&x), 0);
	assert_string_equal(x.left_out.text, "");
	x.bounds.max_timer = 9;
	x.plan.change[2].new_data[5] = 9;
	assert_int_equal(apply(&x), -EIO);
	assert_left_out(&x, 0, -ERANGE, "CCTI_Timer");
	teardown(&x);
}

/* A client need not have its changes in the planner's order, or each of them once. */
static void test_plan_of_a_stranger(void **state)
{
	struct ibcc_change c;
	struct fixture x;

	(void)state;
	setup(&x);
	want_source(&x, LUSTRE_SRC1, 2); /* beyond the table, which comes after another node's */
	want_source(&x, LUSTRE_SRC2, 0);
	c = x.plan.change[1];
	x.plan.change[1] = x.plan.change[2];
	x.plan.change[2] = c;
	assert_int_equal(apply(&x), -EIO);
	assert_int_equal(x.r.change[0].err, -ERANGE);
	assert_int_equal(x.r.change[1].outcome, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(x.r.change[2].outcome, IBCC_OUTCOME_SKIPPED);
	assert_int_equal(x.f->base.stats.sets, 2);
	assert_non_null(strstr(x.left_out.text, "CCTI_Min"));

	/* What is put right by a later change is there until then, and stays if none comes. */
	x.bounds.max_delay = 100;
	ibcc_plan_fini(&x.plan);
	want_source(&x, LUSTRE_SRC1, 0);
	c = x.plan.change[1];
	assert_int_equal(ibcc_plan_append(&x.plan, &c), 0);
	assert_int_equal(apply(&x), 0); /* again, but the same */
	x.f->base.stats.sets = 0;
	ibcc_plan_fini(&x.plan);
	want_source(&x, LUSTRE_SRC1, 0);
	x.plan.change[1].new_data[6] = 0x3f; /* a long delay at index 1 */
	want(&x, LUSTRE_SRC1, IBCC_CC_ATTR_CCT)->new_data[1] = 1;
	x.plan.change[2].new_data[7] = 5;
	assert_int_equal(apply(&x), -EIO);
	assert_int_equal(x.f->base.stats.sets, 0);
	assert_non_null(strstr(x.left_out.text, "twice"));
	teardown(&x);
}

/* Where the plan has no table the node is asked for its own. */
static void test_min_of_the_table_there(void **state)
{
	struct fixture x;

	(void)state;
	setup(&x);
	want(&x, LUSTRE_SRC1, IBCC_CC_ATTR_CA_SETTING)->new_data[8] = 6;
	x.plan.change[0].new_data[5] = 3;
	fake_node_of(x.f, LUSTRE_SRC1)->cct_limit = 6;
	assert_int_equal(apply(&x), 0);
	fake_node_of(x.f, LUSTRE_SRC1)->cct_limit = 5;
	assert_int_equal(apply(&x), -EIO);
	assert_int_equal(x.r.change[0].err, -ERANGE);
	assert_int_equal(x.f->base.stats.sets, 0);
	assert_non_null(strstr(x.left_out.text, "CCTI_Min"));
	teardown(&x);
}

/* A key goes to no node that does not show that the key is its own. */
static void test_keys(void **state)
{
	struct fixture x;

	(void)state;
	for (int k = 0; k < 3; k++) {
		setup(&x);
		want(&x, LUSTRE_SRC1, IBCC_CC_ATTR_KEY_INFO);
		fake_node_of(x.f, LUSTRE_SRC1)->no_cc = k == 1;
		fake_node_of(x.f, LUSTRE_SRC1)->cc_silent = k == 2;
		assert_int_equal(apply(&x), k ? -EIO : 0);
		assert_int_equal(x.f->base.stats.sets, !k);
		assert_int_equal(x.r.change[0].err, k ? -EOPNOTSUPP : 0);
		teardown(&x);
	}
}

static void test_sets_a_minute(void **state)
{
	struct fixture x;

	(void)state;
	setup(&x);
	x.o.budget = &x.budget;
	x.bounds.sets_per_minute = 4;
	want_source(&x, LUSTRE_SRC1, 0);
	assert_int_equal(apply(&x), 0);
	assert_int_equal(apply(&x), 0);
	want_source(&x, LUSTRE_SRC2, 0);
	assert_int_equal(apply(&x), -EIO);
	assert_left_out(&x, 0, -EDQUOT, "Sets a minute");
	/* What goes back goes. */
	x.plan.back = true;
	assert_int_equal(apply(&x), 0);
	x.plan.back = false;
	assert_int_equal(apply(&x), -EIO);
	fake_sleep(x.f, 30 * 1000000000ull);
	assert_int_equal(apply(&x), 0);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_beyond_bounds),
		cmocka_unit_test(test_plan_of_a_stranger),
		cmocka_unit_test(test_min_of_the_table_there),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_sets_a_minute),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
