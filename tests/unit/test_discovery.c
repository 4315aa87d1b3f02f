/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which discoveries replace what is known, and when gaps are asked again. */
#include "tests/unit/fabrics.h"

#include <string.h>

#include "daemon/service/discovery.h"

static struct ibcc_topo *without_links(void)
{
	struct ibcc_topo *t = ibcc_topo_new();

	assert_non_null(t);
	fabric_node(t, IBCC_NODE_CA, 1, "lonely");
	return t;
}

/* What a walk says that left n requests without an answer, the last of them after so many tries. */
static struct ibcc_walk_gaps gaps(uint32_t n, unsigned int tries)
{
	return (struct ibcc_walk_gaps){ .n = n, .tries = tries };
}

static bool judge(struct ibcc_discovery *d, const struct ibcc_topo *have,
		  const struct ibcc_topo *found, struct ibcc_walk_gaps g)
{
	return ibcc_discovery_judge(d, have, found, &g, false, g.n || g.n_odd ? "incomplete" : "");
}

static void test_whole(void **state)
{
	struct ibcc_topo *all = fabric_lustre(), *few = without_links();
	struct ibcc_discovery d = { 0 };

	(void)state;
	/* Whatever comes without gaps is what is there. */
	assert_true(judge(&d, NULL, all, gaps(0, 0)));
	assert_true(judge(&d, all, few, gaps(0, 0)));
	assert_false(d.partial || ibcc_discovery_is_doubtful(&d) || d.text.text[0]);
	/* With gaps it replaces nothing whole. */
	assert_false(judge(&d, all, few, gaps(7, 1)));
	assert_false(d.partial);
	assert_true(ibcc_discovery_is_doubtful(&d));
	assert_string_equal(d.text.text, "incomplete");
	assert_true(judge(&d, all, all, gaps(0, 0)));
	assert_false(ibcc_discovery_is_doubtful(&d));
	ibcc_topo_free(all);
	ibcc_topo_free(few);
}

static void test_partial(void **state)
{
	struct ibcc_topo *all = fabric_lustre(), *few = without_links();
	struct ibcc_discovery d = { 0 };

	(void)state;
	/* The first is better than none; a fuller one is better. */
	assert_true(judge(&d, NULL, few, gaps(7, 1)));
	assert_true(d.partial);
	assert_true(judge(&d, few, all, gaps(8, 1)));
	assert_true(d.partial);
	assert_false(judge(&d, all, few, gaps(9, 1)));
	assert_true(d.partial);
	assert_true(judge(&d, all, few, gaps(0, 0)));
	assert_false(d.partial);
	ibcc_topo_free(all);
	ibcc_topo_free(few);
}

/* A node that never answers is what the fabric is like; losses by chance are not. One more silent
 * node is asked as often before it is believed, and one that is back needs no belief.
 */
static void test_believed(void **state)
{
	struct ibcc_topo *all = fabric_lustre(), *few = without_links();
	struct ibcc_discovery d = { 0 };

	(void)state;
	assert_true(judge(&d, NULL, all, gaps(0, 0)));
	for (unsigned int tries = 1; tries < IBCC_DISCOVERY_BELIEVE; tries++)
		assert_false(judge(&d, all, few, gaps(2, tries)));
	assert_true(judge(&d, all, few, gaps(2, IBCC_DISCOVERY_BELIEVE)));
	assert_false(d.partial || ibcc_discovery_is_doubtful(&d));
	assert_string_equal(d.text.text, "incomplete"); /* it is told all the same */
	assert_false(judge(&d, few, few, gaps(3, 1)));
	assert_true(judge(&d, few, all, gaps(1, IBCC_DISCOVERY_BELIEVE + 1)));
	ibcc_topo_free(all);
	ibcc_topo_free(few);
}

/* Contradictions are believed when walk after walk finds them. Asking the gaps is no other walk. */
static void test_odd(void **state)
{
	struct ibcc_topo *all = fabric_lustre();
	struct walk_again {
		bool again;
		uint64_t sum;
		bool better;
	} walks[] = {
		{ false, 5, false }, { true, 5, false },  { true, 5, false }, { false, 6, false },
		{ false, 6, false }, { false, 6, false }, { false, 6, true }, { true, 6, true },
	};
	struct ibcc_discovery d = { 0 };

	(void)state;
	assert_true(judge(&d, NULL, all, gaps(0, 0)));
	for (unsigned int i = 0; i < sizeof(walks) / sizeof(walks[0]); i++) {
		const struct ibcc_walk_gaps g = { .n_odd = 1, .odd_sum = walks[i].sum };

		assert_int_equal(
			ibcc_discovery_judge(&d, all, all, &g, walks[i].again, "incomplete"),
			walks[i].better);
		assert_int_equal(ibcc_discovery_is_odd(&d), !walks[i].better);
	}
	ibcc_topo_free(all);
}

/* Eight tries within half a minute, later at most one in a quarter of an hour. */
static void test_pace(void **state)
{
	struct ibcc_discovery d = { .n_missing = 1 };
	uint64_t sum = 0, last = 0;

	(void)state;
	for (d.tries = 1; d.tries < IBCC_DISCOVERY_BELIEVE; d.tries++)
		sum += ibcc_discovery_wait_ns(&d);
	assert_in_range(sum, 10000000000u, 30000000000u);
	for (; d.tries <= 255; d.tries++) {
		assert_true(ibcc_discovery_wait_ns(&d) >= last);
		last = ibcc_discovery_wait_ns(&d);
	}
	assert_int_equal(last, 900000000000u);
}

/* What only the operator can mend is said as long as it lasts, also when it is believed. */
static void test_shared(void **state)
{
	struct ibcc_topo *all = fabric_lustre();
	struct ibcc_walk_gaps g = { .n_odd = 1, .odd_sum = 5, .lid_text = "LID 7 belongs to both" };
	struct ibcc_discovery d = { 0 };
	struct ibcc_why why = { "" };

	(void)state;
	for (unsigned int i = 0; i < IBCC_DISCOVERY_BELIEVE_ODD; i++)
		judge(&d, all, all, g);
	assert_false(ibcc_discovery_is_doubtful(&d));
	assert_true(ibcc_discovery_shared_trouble(&d, &why));
	assert_non_null(strstr(why.text, "LID 7 belongs to both; what is sent there"));
	/* The GUID comes first: with one of them gone the LID may be right, too. */
	g.shared = (struct ibcc_walk_shared){ .n = 3, .guid = { 1, 2, 3 } };
	snprintf(g.shared_text, sizeof(g.shared_text), "GUID 1 is here and there");
	judge(&d, all, all, g);
	assert_true(ibcc_discovery_shared_trouble(&d, &why));
	assert_non_null(
		strstr(why.text, "two nodes have one GUID: GUID 1 is here and there (and 2 "));
	judge(&d, all, all, gaps(0, 0));
	assert_false(ibcc_discovery_shared_trouble(&d, &why));
	ibcc_topo_free(all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole),    cmocka_unit_test(test_partial),
		cmocka_unit_test(test_believed), cmocka_unit_test(test_odd),
		cmocka_unit_test(test_pace),     cmocka_unit_test(test_shared),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
