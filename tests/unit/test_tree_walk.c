/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tree upstream of a port on random fabrics, against a plain walk. */
#include "plain_walk.h"

#define FABRICS 150u

/* An adapter's flags are those of its switch, so the module puts none on its port. */
static bool is_equal(const struct fabric *f, const struct found *w)
{
	const struct tree *tr = &f->tree;

	for (uint32_t i = 0; i < f->t->n_ports; i++)
		if (ibcc_topo_is_switch(f->t, f->t->port[i].node) && tr->flag[i] != w->flag[i])
			return false;
	return !memcmp(tr->below, w->below, f->t->n_nodes) && tr->n_read == w->n_read &&
	       tr->n_usable == w->n_usable && tr->n_waiting == w->n_waiting &&
	       tr->feed_wait == w->feed_wait && tr->unknown_mbps == w->unknown_mbps;
}

static void test_random(void **state)
{
	uint32_t shared = 0, unknown = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= FABRICS; seed++) {
		struct fabric *f = fabric_new(seed);

		for (uint32_t root = 0; root < f->t->n_ports; root++) {
			struct found w;

			if (!f->t->port[root].num ||
			    !ibcc_topo_is_switch(f->t, f->t->port[root].node))
				continue;
			walk_plainly(f, &w, root);
			ibcc_tree_walk(&f->j, root);
			if (!is_equal(f, &w))
				fail_msg("seed %u: the tree of port %u is another one",
					 (unsigned int)seed, root);
			for (uint32_t i = 0; i < f->switches; i++)
				shared += w.below[i] & TREE_SHARED ? 1 : 0;
			unknown += w.unknown_mbps > 0;
			found_fini(&w);
		}
		fabric_free(f);
	}
	assert_true(shared > FABRICS && unknown > FABRICS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
