/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which ports are read more often: on the Lustre fabric, whose slow receiver is at port 1 of sw2.
 */
#include "estimates.h"

#include <ibcc/focus.h>

static void focus(struct fixture *f, struct ibcc_focus *x, uint32_t max_nodes)
{
	uint32_t n_ports = 0, n_nodes = 0;

	assert_int_equal(ibcc_focus_run(x, f->t, &f->tr.s, &f->e, &f->last, max_nodes), 0);
	for (uint32_t i = 0; i < f->t->n_nodes; i++) {
		const struct ibcc_topo_node *n = &f->t->node[i];
		uint32_t before = n_ports;

		for (uint32_t p = n->first_port; p <= n->first_port + n->n_ports; p++)
			n_ports += x->port[p];
		n_nodes += n_ports > before;
	}
	assert_int_equal(x->n_ports, n_ports);
	assert_int_equal(x->n_nodes, n_nodes);
	assert_true(n_nodes <= max_nodes);
}

static bool has(const struct fixture *f, const struct ibcc_focus *x, uint32_t node,
		unsigned int num)
{
	return x->port[fabric_port(f->t, node, num)];
}

/* The ports of sw2, its receivers' port that is slow, what feeds it, and all that wait: nothing of
 * the fast receiver, and of sw1 only the port to sw2.
 */
static void assert_tree(const struct fixture *f, const struct ibcc_focus *x)
{
	assert_true(has(f, x, LUSTRE_SW2, 1) && has(f, x, LUSTRE_SW2, 2) &&
		    has(f, x, LUSTRE_SW2, 5));
	assert_true(has(f, x, LUSTRE_SLOW, 1) && has(f, x, LUSTRE_SW1, 5));
	for (uint32_t i = 0; i < 4; i++)
		assert_true(has(f, x, LUSTRE_SRC1 + i, 1));
	assert_int_equal(x->n_ports, 9);
	assert_int_equal(x->n_nodes, 7);
}

static void test_root(void **state)
{
	struct fixture *f = *state;
	struct ibcc_focus x = { 0 };

	traffic_lustre_off(&f->tr);
	assert_int_equal(pass(f)->n_roots, 1);
	focus(f, &x, 48);
	assert_tree(f, &x);
	ibcc_focus_fini(&x);
}

/* Four tenths of the interval: it is no root, but worth a look. */
static void test_a_part_of_the_interval(void **state)
{
	struct fixture *f = *state;
	struct ibcc_focus x = { 0 };

	traffic_lustre_off(&f->tr);
	for (uint32_t i = 0; i < f->t->n_ports; i++) {
		f->tr.port[i].mbps = f->tr.port[i].mbps * 4 / 10;
		f->tr.port[i].wait_permille = f->tr.port[i].wait_permille * 4 / 10;
	}
	/* sw1's port waits for the next switch: congestion does not start there */
	assert_int_equal(pass(f)->n_roots, 0);
	focus(f, &x, 48);
	assert_tree(f, &x);
	/* A single adapter that waits is no victim. */
	for (uint32_t i = 1; i < 4; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->wait_permille = 0;
	ibcc_focus_fini(&x);
	pass(f);
	focus(f, &x, 48);
	assert_int_equal(x.n_ports, 0);
	ibcc_focus_fini(&x);
}

/* A link that is busy at nine tenths, with feeders that wait as those of a healthy fabric do. */
static void test_healthy(void **state)
{
	struct fixture *f = *state;
	struct ibcc_focus x = { 0 };

	for (uint32_t i = 0; i < 4; i++)
		*traffic_at(&f->tr, LUSTRE_SRC1 + i, 1) = load(7200, 30, 0);
	*traffic_at(&f->tr, LUSTRE_SW1, 5) = load(28800, 40, 0);
	*traffic_at(&f->tr, LUSTRE_SW2, 1) = load(28800, 0, 0);
	pass(f);
	focus(f, &x, 48);
	assert_int_equal(x.n_ports, 0);
	ibcc_focus_fini(&x);
}

/* Where there is no room for all, the root's switch is first, then its receiver, then what feeds
 * it, then sources.
 */
static void test_room(void **state)
{
	struct fixture *f = *state;
	struct ibcc_focus x = { 0 };

	traffic_lustre_off(&f->tr);
	pass(f);
	for (uint32_t max = 0; max <= 7; max++) {
		focus(f, &x, max);
		assert_int_equal(x.n_nodes, max);
		assert_int_equal(has(f, &x, LUSTRE_SW2, 1), max >= 1);
		assert_int_equal(has(f, &x, LUSTRE_SLOW, 1), max >= 2);
		assert_int_equal(has(f, &x, LUSTRE_SW1, 5), max >= 3);
		assert_int_equal(has(f, &x, LUSTRE_SRC1, 1), max >= 4);
		ibcc_focus_fini(&x);
	}
}

/* Control of a root that is not seen any more: its members are looked at, and so is what feeds it,
 * though nothing waits.
 */
static void test_held(void **state)
{
	struct fixture *f = *state;
	struct ibcc_focus x = { 0 };

	hold(f, LUSTRE_SW2, 1, IBCC_CONGESTION_OUTPUT, 15000);
	f->last.root[0].r.member[endport_of(f, LUSTRE_SRC2)] = true;
	assert_int_equal(pass(f)->n_roots, 0);
	focus(f, &x, 48);
	assert_true(has(f, &x, LUSTRE_SW2, 1) && has(f, &x, LUSTRE_SLOW, 1));
	assert_true(has(f, &x, LUSTRE_SW1, 5) && has(f, &x, LUSTRE_SRC2, 1));
	assert_false(has(f, &x, LUSTRE_SRC1, 1));
	/* A link between switches has its receivers behind it, which count what it marks. */
	ibcc_parameters_fini(&f->last);
	f->last.n_endports = f->t->n_endports;
	hold(f, LUSTRE_SW1, 5, IBCC_CONGESTION_INPUT, 32000);
	ibcc_focus_fini(&x);
	focus(f, &x, 48);
	assert_true(has(f, &x, LUSTRE_FAST, 1) && has(f, &x, LUSTRE_SLOW, 1));
	/* That it is tried again only later is no reason for haste. */
	f->last.root[0].r.phase = IBCC_PHASE_BARRED;
	ibcc_focus_fini(&x);
	focus(f, &x, 48);
	assert_int_equal(x.n_ports, 0);
	ibcc_focus_fini(&x);
}

/* What was in the focus stays for a while after all is over. A port that does not answer is asked
 * three times more.
 */
static void test_lingers(void **state)
{
	struct fixture *f = *state;
	struct ibcc_focus x = { 0 };
	unsigned int n = 0;

	traffic_lustre_off(&f->tr);
	pass(f);
	focus(f, &x, 48);
	traffic_at(&f->tr, LUSTRE_SRC3, 1)->silent = true;
	for (unsigned int i = 0; i < 3; i++) {
		pass(f);
		focus(f, &x, 48);
		assert_true(has(f, &x, LUSTRE_SRC3, 1));
	}
	pass(f);
	focus(f, &x, 48);
	assert_false(has(f, &x, LUSTRE_SRC3, 1));
	assert_int_equal(x.n_ports, 8);
	memset(f->tr.port, 0, sizeof(f->tr.port));
	pass(f);
	while (x.n_ports && ++n < 100)
		focus(f, &x, 48);
	assert_int_equal(n, IBCC_FOCUS_LINGERS + 1);
	ibcc_focus_fini(&x);
}

/* Two slow receivers, 0 and 3, whose trees have a leaf in common: the second walk does not end
 * before it has what the first one has not.
 */
static void test_two_trees(void **state)
{
	struct fixture *f = *state;
	struct ibcc_focus x = { 0 };

	*traffic_at(&f->tr, 8, 1) = *traffic_at(&f->tr, 9, 2) = load(3200, 900, 0);
	*traffic_at(&f->tr, 12, 1) = *traffic_at(&f->tr, 13, 2) = load(3200, 900, 0);
	*traffic_at(&f->tr, 10, 3) = load(3200, 900, 0);
	*traffic_at(&f->tr, 10, 4) = *traffic_at(&f->tr, 11, 4) = load(1600, 900, 0);
	*traffic_at(&f->tr, 4, 1) = *traffic_at(&f->tr, 5, 1) = load(1600, 950, 0);
	*traffic_at(&f->tr, 7, 1) = load(1600, 950, 0);
	assert_int_equal(pass(f)->n_roots, 2);
	focus(f, &x, 48);
	for (unsigned int num = 3; num <= 4; num++)
		assert_true(has(f, &x, 10, num));
	assert_true(has(f, &x, 12, 1) && has(f, &x, 13, 2) && has(f, &x, 11, 4));
	assert_true(has(f, &x, 4, 1) && has(f, &x, 5, 1) && has(f, &x, 7, 1));
	assert_false(has(f, &x, 11, 3) || has(f, &x, 6, 1) || has(f, &x, 2, 1));
	ibcc_focus_fini(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LUSTRE(test_root),    LUSTRE(test_a_part_of_the_interval),
		LUSTRE(test_healthy), LUSTRE(test_room),
		LUSTRE(test_held),    LUSTRE(test_lingers),
		TREE(test_two_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
