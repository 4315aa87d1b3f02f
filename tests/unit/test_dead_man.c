/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin's dead man's switch: when it falls, and what it takes off. */
#include "fabrics.h"

#include "plans.h"

#include "opensm-plugin/dead_man.h"

#define CA IBCC_CC_ATTR_CA_SETTING

static struct ibcc_plan plan_of(const struct ibcc_topo *t, uint32_t node, uint8_t from, uint8_t to)
{
	struct ibcc_plan p = { 0 };

	plan_add(&p, t->node[node].guid, CA, 0, from, to);
	return p;
}

static void note(struct ibcc_dead_man *d, struct ibcc_plan *p, enum ibcc_outcome outcome)
{
	struct ibcc_result r;

	assert_int_equal(ibcc_result_init(&r, p->n), 0);
	for (uint32_t i = 0; i < p->n; i++)
		r.change[i].outcome = outcome;
	ibcc_dead_man_note(d, p, &r, 4711);
	ibcc_result_fini(&r);
	ibcc_plan_fini(p);
}

static void write_at(struct ibcc_dead_man *d, const struct ibcc_topo *t, uint32_t node,
		     uint8_t from, uint8_t to)
{
	struct ibcc_plan p = plan_of(t, node, from, to);

	note(d, &p, IBCC_OUTCOME_VERIFIED);
}

static void test_when(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_dead_man d = { .after_ms = 5000 };

	(void)state;
	assert_false(ibcc_dead_man_is_due(&d, false, 100000)); /* there is nothing to take off */
	write_at(&d, t, LUSTRE_SRC1, 1, 2);
	assert_false(ibcc_dead_man_is_due(&d, true, 200000));
	assert_false(ibcc_dead_man_is_due(&d, false, 204999));
	assert_false(ibcc_dead_man_is_due(&d, true, 205000)); /* there is one again */
	assert_false(ibcc_dead_man_is_due(&d, false, 209999));
	assert_true(ibcc_dead_man_is_due(&d, false, 210000));
	/* Until it has worked. */
	assert_false(ibcc_dead_man_is_due(&d, false, 211000));
	assert_true(ibcc_dead_man_is_due(&d, false, 215000));
	ibcc_dead_man_fini(&d);

	d = (struct ibcc_dead_man){ 0 }; /* nobody asked for it */
	write_at(&d, t, LUSTRE_SRC1, 1, 2);
	assert_false(ibcc_dead_man_is_due(&d, false, UINT64_MAX));
	assert_int_equal(d.left.n, 0);
	ibcc_topo_free(t);
}

static void test_what(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_dead_man d = { .after_ms = 5000 };
	struct ibcc_plan p;

	(void)state;
	t->generation = 7;
	write_at(&d, t, LUSTRE_SRC1, 1, 2);
	write_at(&d, t, LUSTRE_SRC2, 11, 12);
	write_at(&d, t, LUSTRE_SRC1, 2, 3);
	p = plan_of(t, LUSTRE_SRC3, 21, 22);
	note(&d, &p, IBCC_OUTCOME_SKIPPED);
	p = plan_of(t, LUSTRE_SRC4, 31, 32);
	note(&d, &p, IBCC_OUTCOME_FAILED); /* it may be there */
	/* Somebody has put one of them back: it is as he wants it. */
	p = plan_of(t, LUSTRE_SRC2, 12, 10);
	p.back = true;
	note(&d, &p, IBCC_OUTCOME_VERIFIED);

	assert_int_equal(ibcc_dead_man_plan(&d, t, &p), 0);
	assert_true(p.back);
	assert_int_equal(p.generation, 7);
	assert_int_equal(p.n, 2);
	assert_int_equal(d.cc_key, 4711);
	for (uint32_t i = 0; i < 2; i++) {
		bool first = p.change[i].node_guid == t->node[LUSTRE_SRC1].guid;
		uint32_t node = first ? LUSTRE_SRC1 : LUSTRE_SRC4;

		assert_int_equal(p.change[i].node_guid, t->node[node].guid);
		assert_int_equal(p.change[i].new_data[5], first ? 1 : 31);
		assert_int_equal(p.change[i].lid, t->port[t->node[node].first_port + 1].lid);
	}
	/* It is our own plan now, and then nothing is left. */
	note(&d, &p, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(d.left.n, 0);
	assert_false(ibcc_dead_man_is_due(&d, false, UINT64_MAX));
	ibcc_dead_man_fini(&d);
	ibcc_topo_free(t);
}

/* Nodes with keys of their own get what is taken off with those, whichever plan came last. */
static void test_keys(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_dead_man d = { .after_ms = 5000 };
	const uint64_t want[] = { 0xa1, 0xb2, 4711 };
	const uint32_t nodes[] = { LUSTRE_SRC1, LUSTRE_SRC2, LUSTRE_SRC3 };
	struct ibcc_plan p;

	(void)state;
	for (uint32_t i = 3; i-- > 0;) {
		p = plan_of(t, nodes[i], 1, 2);
		p.change[0].cc_key = i < 2 ? 0xa1 + 0x10 * i : 0;
		note(&d, &p, IBCC_OUTCOME_VERIFIED);
	}
	/* One is given another. */
	p = plan_of(t, LUSTRE_SRC2, 0, 0);
	p.change[0].attr_id = IBCC_CC_ATTR_KEY_INFO;
	p.change[0].cc_key = 0xb1;
	p.change[0].new_data[7] = 0xb2;
	note(&d, &p, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(ibcc_dead_man_plan(&d, t, &p), 0);
	assert_int_equal(p.n, 3);
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 3; k++)
			if (p.change[i].node_guid == t->node[nodes[k]].guid)
				assert_int_equal(p.change[i].cc_key, want[k]);
	ibcc_plan_fini(&p);
	ibcc_dead_man_fini(&d);
	ibcc_topo_free(t);
}

static void test_gone_node(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_dead_man d = { .after_ms = 5000 };
	struct ibcc_plan p = { 0 };

	(void)state;
	plan_add(&p, 0x4711, CA, 0, 1, 2);
	note(&d, &p, IBCC_OUTCOME_VERIFIED);
	assert_int_equal(ibcc_dead_man_plan(&d, t, &p), 0);
	assert_int_equal(p.n, 0);
	ibcc_plan_fini(&p);
	ibcc_dead_man_fini(&d);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_when),
		cmocka_unit_test(test_what),
		cmocka_unit_test(test_keys),
		cmocka_unit_test(test_gone_node),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
