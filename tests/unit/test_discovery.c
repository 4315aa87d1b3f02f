/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which discoveries are believed. */
#include "tests/unit/fabrics.h"

#include "daemon/service/discovery.h"

static struct ibcc_topo *without_links(void)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "lonely");
	return t;
}

static void test_whole(void **state)
{
	struct ibcc_topo *all = fabric_lustre(), *few = without_links();
	struct ibcc_discovery d = { 0 };

	(void)state;
	/* Whatever comes without gaps is what is there. */
	assert_true(ibcc_discovery_judge(&d, NULL, all, 0, ""));
	assert_true(ibcc_discovery_judge(&d, all, few, 0, ""));
	assert_false(d.partial || ibcc_discovery_is_doubtful(&d) || d.text.text[0]);
	/* With gaps it replaces nothing whole, and does not make it doubtful. */
	assert_false(ibcc_discovery_judge(&d, all, few, 7, "incomplete"));
	assert_false(d.partial);
	assert_true(ibcc_discovery_is_doubtful(&d));
	assert_string_equal(d.text.text, "incomplete");
	assert_true(ibcc_discovery_judge(&d, all, all, 0, ""));
	assert_false(ibcc_discovery_is_doubtful(&d));
	ibcc_topo_free(all);
	ibcc_topo_free(few);
}

static void test_partial(void **state)
{
	struct ibcc_topo *all = fabric_lustre(), *few = without_links();
	struct ibcc_discovery d = { 0 };

	(void)state;
	/* The first is better than none, but nothing to decide on; a fuller one is better. */
	assert_true(ibcc_discovery_judge(&d, NULL, few, 7, "incomplete"));
	assert_true(d.partial);
	assert_true(ibcc_discovery_judge(&d, few, all, 8, "incomplete"));
	assert_true(d.partial);
	assert_false(ibcc_discovery_judge(&d, all, few, 9, "incomplete"));
	assert_true(d.partial);
	assert_true(ibcc_discovery_judge(&d, all, few, 0, ""));
	assert_false(d.partial);
	ibcc_topo_free(all);
	ibcc_topo_free(few);
}

/* A node that never answers is what the fabric is like; losses by chance are not. */
static void test_believed(void **state)
{
	struct ibcc_topo *all = fabric_lustre(), *few = without_links();
	struct ibcc_discovery d = { 0 };

	(void)state;
	assert_true(ibcc_discovery_judge(&d, NULL, all, 0, ""));
	for (uint64_t gaps = 1; gaps < 50; gaps++)
		assert_false(ibcc_discovery_judge(&d, all, few, gaps, "incomplete"));
	for (unsigned int i = 1; i < IBCC_DISCOVERY_BELIEVE; i++)
		assert_false(ibcc_discovery_judge(&d, all, few, 7, "incomplete"));
	assert_true(ibcc_discovery_judge(&d, all, few, 7, "incomplete"));
	assert_false(d.partial || ibcc_discovery_is_doubtful(&d));
	assert_string_equal(d.text.text, "incomplete"); /* it is told all the same */
	assert_false(ibcc_discovery_judge(&d, few, few, 8, "incomplete"));
	ibcc_topo_free(all);
	ibcc_topo_free(few);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),
		cmocka_unit_test(test_partial),
		cmocka_unit_test(test_believed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
