/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings that change again after each repair are told from those that were repaired now and then.
 */
#include "fabrics.h"

#include "plans.h"

#include "daemon/service/repairs.h"

#define CA  IBCC_CC_ATTR_CA_SETTING
#define CCT IBCC_CC_ATTR_CCT

struct repairs {
	struct ibcc_topo *t;
	struct ibcc_repair_counts r;
	struct ibcc_plan plan; /* what a repair writes */
	struct ibcc_why why;
};

static void start(struct repairs *x)
{
	uint64_t guid;

	*x = (struct repairs){ .t = fabric_lustre() };
	guid = x->t->node[LUSTRE_SRC3].guid;
	plan_add(&x->plan, guid, CA, 0, 1, 2);
	plan_add(&x->plan, guid, CCT, 0, 1, 2);
	plan_add(&x->plan, guid, CCT, 1, 1, 2);
}

static void finish(struct repairs *x)
{
	ibcc_repair_counts_fini(&x->r);
	ibcc_plan_fini(&x->plan);
	ibcc_topo_free(x->t);
}

/* A repair, then polling cycles without any. */
static void repair(struct repairs *x, unsigned int quiet)
{
	ibcc_repair_counts_note(&x->r, &x->plan);
	while (quiet--)
		ibcc_repair_counts_note(&x->r, NULL);
}

static bool is_trouble(struct repairs *x)
{
	return ibcc_repair_counts_trouble(&x->r, x->t, &x->why);
}

/* Again at each look: named from the fourth repair on, until one look and a bit find nothing. */
static void test_again_and_again(void **state)
{
	struct repairs x;

	(void)state;
	start(&x);
	for (unsigned int i = 1; i < IBCC_REPAIRS_MANY; i++) {
		repair(&x, 7);
		assert_false(is_trouble(&x));
	}
	repair(&x, IBCC_REPAIRS_HOLD);
	assert_true(is_trouble(&x));
	assert_non_null(strstr(x.why.text, "CACongestionSetting of \"src3\" 0x"));
	assert_non_null(strstr(x.why.text, "was repaired 4 times in 25 polling cycles"));
	assert_non_null(strstr(x.why.text, "(as does 1 more attribute)"));
	repair(&x, IBCC_REPAIRS_HOLD + 1);
	assert_false(is_trouble(&x));
	finish(&x);
}

/* What lies far apart is not one fight. */
static void test_far_apart(void **state)
{
	struct repairs x;

	(void)state;
	start(&x);
	for (unsigned int i = 0; i < 3 * IBCC_REPAIRS_MANY; i++) {
		repair(&x, IBCC_REPAIRS_TOGETHER);
		assert_false(is_trouble(&x));
	}
	assert_int_equal(x.r.n, 2);
	finish(&x);
}

/* Other attributes each time, as of a fabric whose nodes restart one after the other. */
static void test_others_each_time(void **state)
{
	struct repairs x;

	(void)state;
	start(&x);
	for (unsigned int i = 0; i < 100; i++) {
		for (uint32_t k = 0; k < x.plan.n; k++)
			x.plan.change[k].node_guid += 1;
		repair(&x, 0);
		assert_false(is_trouble(&x));
	}
	assert_int_equal(x.r.n, 200);
	finish(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_again_and_again),
		cmocka_unit_test(test_far_apart),
		cmocka_unit_test(test_others_each_time),
	};

	return cmocka_run_group_tests_name("repairs", tests, NULL, NULL);
}
