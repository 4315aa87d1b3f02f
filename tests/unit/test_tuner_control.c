/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the tuner makes of a root under control, and of several. */
#include "tuners.h"

#include "lib/core/tuner_state.h"

static uint32_t table_end(struct fixture *f)
{
	const struct ibcc_cct *cct = &ca_cc(f, LUSTRE_SRC1)->cct;

	return ibcc_cct_entry_delay_milli(cct->entry[cct->limit]);
}

/* Victims wait the less the longer the table is, until they are free. */
static void test_strengthens(void **state)
{
	struct fixture *f = *state;
	uint32_t first;

	switch_on(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	steps(f, 9);
	first = table_end(f);
	f->n_changed = 0;
	for (unsigned int i = 0; i < 300; i++) {
		uint32_t wait = 400 * first / table_end(f);

		if (wait > 300) {
			traffic_at(&f->tr, LUSTRE_SRC4, 1)->wait_permille = (uint16_t)wait;
			traffic_at(&f->tr, LUSTRE_SW1, 5)->mbps = 32 * (1000 - wait);
			traffic_at(&f->tr, LUSTRE_SW1, 5)->wait_permille = (uint16_t)wait;
		} else {
			traffic_lustre_tuned(&f->tr);
		}
		step(f);
	}
	assert_in_range(f->n_changed, 2, 4);
	assert_true(table_end(f) >= first * 4 / 3);
	f->n_changed = 0;
	steps(f, 500);
	assert_int_equal(f->n_changed, 0);
}

/* Victims that wait whatever is done: each parameter is tried once and taken back. */
static void test_takes_back(void **state)
{
	struct fixture *f = *state;
	struct ibcc_endport_cc first;

	switch_on(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	steps(f, 9);
	first = *ca_cc(f, LUSTRE_SRC1);
	f->n_changed = 0;
	steps(f, 200);
	assert_int_equal(f->n_changed, 4);
	assert_true(ibcc_cct_equal(&first.cct, &ca_cc(f, LUSTRE_SRC1)->cct));
	assert_memory_equal(&first.ca, &ca_cc(f, LUSTRE_SRC1)->ca, sizeof(first.ca));
	steps(f, 1000);
	assert_int_equal(f->n_changed, 4);
}

/* Nobody is marked although sources wait: the threshold moves, not the table. */
static void test_marks_earlier(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cct first;

	switch_on(f);
	first = ca_cc(f, LUSTRE_SRC1)->cct;
	steps(f, 200);
	assert_int_equal(sw_cc(f, LUSTRE_SW2)->element[1].Threshold, 15);
	assert_true(ibcc_cct_equal(&first, &ca_cc(f, LUSTRE_SRC1)->cct));
	assert_true(f->n_changed <= 1 + 2);
}

static uint32_t end_milli(const struct ibcc_endport_cc *ca)
{
	return ibcc_cct_entry_delay_milli(ca->cct.entry[ca->cct.limit]);
}

static void test_relaxes(void **state)
{
	struct fixture *f = *state;
	uint64_t before, after;

	under_control(f);
	before = ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase *
		 ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer * end_milli(ca_cc(f, LUSTRE_SRC1));
	/* The sink takes 14960 Mb/s and more often has nothing to take. */
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 13000;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 450;
	steps(f, 20);
	after = ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase *
		ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Timer * end_milli(ca_cc(f, LUSTRE_SRC1));
	assert_true(f->n_changed >= 1);
	assert_true(after < before);
}

/* A fabric that is never content: too weak with one setting, too strong with the next. Each
 * reversal doubles the pause, so a thousand passes see a few changes and not hundreds.
 */
static void test_no_oscillation(void **state)
{
	struct fixture *f = *state;
	uint32_t end = 0, now;

	under_control(f);
	for (unsigned int i = 0; i < 2000; i++) {
		now = end_milli(ca_cc(f, LUSTRE_SRC1));
		if (!end)
			end = now;
		if (now < end || i < 8) { /* too weak: src4 waits for the tree again */
			traffic_lustre_off(&f->tr);
			for (unsigned int k = 0; k < 3; k++)
				traffic_at(&f->tr, LUSTRE_SRC1 + k, 1)->becn = 80;
		} else {
			traffic_lustre_tuned(&f->tr);
			traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 13000;
			traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 450;
		}
		step(f);
	}
	assert_in_range(f->n_changed, 2, 20);
}

/* Each pass shows BECNs of one of the three; together they are three all the same. */
static void test_contributors_over_time(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	for (unsigned int i = 0; i < 120; i++) {
		for (unsigned int k = 0; k < 3; k++)
			traffic_at(&f->tr, LUSTRE_SRC1 + k, 1)->becn = i % 3 == k ? 240 : 0;
		step(f);
	}
	assert_int_equal(f->n_changed, 0);
}

/* The sink becomes slower: the formulas are asked again, and once more if the first mean still had
 * passes from before in it.
 */
static void test_grows(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 7480;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 766;
	steps(f, 20);
	assert_in_range(f->n_changed, 1, 2);
	/* x = 3 * 32000 / 7480 - 1 = 11.83, end 14.11 */
	assert_in_range(end_milli(ca_cc(f, LUSTRE_SRC1)), 14000, 14200);
}

static void test_switch_wide(void **state)
{
	struct fixture *f = *state;
	struct ibcc_endport_cc *sw = sw_cc(f, LUSTRE_SW2);
	const char *why;

	sw->sw_port_block = 0;
	switch_on(f);
	sw = sw_cc(f, LUSTRE_SW2);
	assert_int_equal(sw->sw.Threshold, 12);
	assert_true(ibcc_cc_mask_test(&sw->sw.Victim_Mask, 1));
	assert_false(sw->element[1].Valid);
	why = reason(f, f->t->port[fabric_port(f->t, LUSTRE_SW2, 0)].endport, 0x14);
	assert_non_null(strstr(why, "no setting for each port"));
	traffic_lustre_tuned(&f->tr);
	steps(f, 100);
	assert_int_equal(f->n_changed, 2);
}

static void test_unsupported_nodes(void **state)
{
	struct fixture *f = *state;

	/* A switch that cannot mark: nothing is set anywhere, and it is said why. */
	sw_cc(f, LUSTRE_SW2)->support = IBCC_CC_UNSUPPORTED;
	traffic_lustre_off(&f->tr);
	steps(f, 20);
	assert_int_equal(f->n_changed, 0);
	assert_non_null(strstr(f->summary, "sw2 port 1 cannot be controlled"));
	/* An adapter without tables is left out, the others are controlled. */
	sw_cc(f, LUSTRE_SW2)->support = IBCC_CC_SUPPORTED;
	ca_cc(f, LUSTRE_SRC1)->support = IBCC_CC_UNSUPPORTED;
	ca_cc(f, LUSTRE_SRC2)->info.ControlTableCap = 0;
	step(f);
	assert_int_equal(f->changes, 2 + 2 * 2);
	/* It is told that the target does without it. */
	assert_int_equal(f->last.n_without, 1);
	assert_int_equal(f->t->endport[f->last.without[0]], fabric_port(f->t, LUSTRE_SRC1, 1));
	traffic_lustre_tuned(&f->tr);
	steps(f, 40);
	assert_int_equal(f->n_changed, 2);
}

/* Settings that work already, of an administrator or from before a restart, are left alone. */
static void test_adopts(void **state)
{
	struct fixture *f = *state;

	under_control(f);
	ibcc_tuner_reset(f->tn);
	steps(f, 100);
	assert_int_equal(f->n_changed, 0);
	/* When they do not work, they are replaced. */
	traffic_lustre_off(&f->tr);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase = 9;
	steps(f, 3);
	assert_int_equal(f->n_changed, 1);
	assert_int_equal(ca_cc(f, LUSTRE_SRC1)->ca.sl[0].CCTI_Increase, 1);
}

static void test_one_after_the_other(void **state)
{
	struct fixture *f = *state;

	/* Adapter 0 is slow, the way to adapter 3 overloaded. */
	tree_hotspot(f, 0, true);
	tree_hotspot(f, 3, false);
	steps(f, 2);
	assert_int_equal(f->n_roots, 2);
	/* The worse of both first: leaf0's port to adapter 0. */
	assert_int_equal(f->n_changed, 1);
	assert_true(sw_cc(f, 8)->element[1].Valid);
	assert_false(sw_cc(f, 13)->element[2].Valid);
	steps(f, 3);
	assert_false(sw_cc(f, 13)->element[2].Valid);
	/* Its tree is given 3 passes to empty, what is then set 5 to settle. */
	steps(f, 3 + 5);
	assert_true(sw_cc(f, 13)->element[2].Valid);
	/* Half the queue; no Victim_Mask bit where the port faces a switch. */
	assert_int_equal(sw_cc(f, 13)->element[2].Threshold, 8);
	assert_false(ibcc_cc_mask_test(&sw_cc(f, 13)->sw.Victim_Mask, 2));
	assert_int_equal(ca_cc(f, 5)->cct.limit, 48);
}

/* A root that is quiet under control settles as well: others need not wait for it for ever. */
static void test_quiet_root_settles(void **state)
{
	struct fixture *f = *state;
	uint32_t port = fabric_port(f->t, 8, 1);

	tree_hotspot(f, 0, true);
	tree_hotspot(f, 3, false);
	steps(f, 2);
	assert_true(sw_cc(f, 8)->element[1].Valid);
	*traffic_at(&f->tr, 8, 1) = (struct traffic_port){ 5000, 0, 0, 0, 0 };
	steps(f, 6);
	assert_in_range(ibcc_tuner_find(f->tn, port)->settle, 0, 1);
}

/* The pass in which a tree turns out to be empty was one of emptying it, which may have left the
 * root idle: it does not tell that its sources are held too much.
 */
static void test_empty_is_not_idle(void **state)
{
	struct fixture *f = *state;

	tree_hotspot(f, 0, true);
	traffic_at(&f->tr, 2, 1)->mbps *= 2; /* elsewhere, too */
	*traffic_at(&f->tr, 8, 1) = (struct traffic_port){ 2000, 937, 0, 0, 0 };
	steps(f, 3);
	*traffic_at(&f->tr, 8, 1) = (struct traffic_port){ 1000, 0, 0, 0, 0 };
	traffic_at(&f->tr, 2, 1)->becn = 10;
	traffic_at(&f->tr, 0, 1)->fecn = 10;
	steps(f, 2);
	assert_string_equal(f->summary, "the tree is empty: from emptying it to holding it");
	assert_int_equal(f->n_roots, 1);
	assert_int_equal(ibcc_tuner_find(f->tn, fabric_port(f->t, 8, 1))->win.n, 0);
}

/* A root may be confirmed in the very pass in which another one's settings change. */
static void test_confirmed_while_changing(void **state)
{
	struct fixture *f = *state;

	for (unsigned int later = 1; later < 8; later++) {
		struct traffic_port *port;
		uint16_t waits;

		ibcc_tuner_reset(f->tn);
		tree_hotspot(f, 0, true);
		tree_hotspot(f, 3, true);
		port = traffic_at(&f->tr, 9, 2); /* leaf1's to adapter 3 */
		waits = port->wait_permille;
		port->wait_permille = 0;
		steps(f, later);
		port->wait_permille = waits;
		steps(f, 10);
		assert_int_equal(f->n_roots, 2);
		assert_true(ibcc_tuner_find(f->tn, fabric_port(f->t, 8, 1))->on);
		assert_true(ibcc_tuner_find(f->tn, fabric_port(f->t, 9, 2))->on);
	}
}

static bool is_held(const struct ibcc_tuner_root *r)
{
	return r && r->in_force && !r->drain && !r->settle;
}

/* Roots that have seen enough change in one pass: one after the other, each would have to settle
 * for the others' changes.
 */
static void test_judged_together(void **state)
{
	struct fixture *f = *state;
	const uint32_t port[] = { fabric_port(f->t, 8, 1), fabric_port(f->t, 9, 2) };
	const struct ibcc_tuner_root *r[2] = { 0 };

	tree_hotspot(f, 0, true);
	tree_hotspot(f, 3, true);
	for (unsigned int i = 0; i < 30 && !(is_held(r[0]) && is_held(r[1])); i++) {
		step(f);
		r[0] = ibcc_tuner_find(f->tn, port[0]);
		r[1] = ibcc_tuner_find(f->tn, port[1]);
	}
	assert_true(is_held(r[0]) && is_held(r[1]));
	traffic_at(&f->tr, 0, 1)->fecn = traffic_at(&f->tr, 3, 1)->fecn = 30;
	for (uint32_t ca = 4; ca < 8; ca++)
		traffic_at(&f->tr, ca, 1)->becn = 15;
	f->n_changed = 0;
	for (unsigned int i = 0; i < 10 && !f->n_changed; i++)
		step(f);
	/* Six waited, four were marked. */
	assert_int_equal(f->n_changed, 1);
	assert_int_equal(r[0]->n, 4);
	assert_int_equal(r[1]->n, 4);
}

/* Marks that stop while sources wait, or that go to one of several sources: the settings are to be
 * read again, but not in each pass.
 */
static void test_doubt(void **state)
{
	struct fixture *f = *state;
	unsigned int n = 0;

	under_control(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 80;
	for (unsigned int i = 0; i < 20; i++) {
		step(f);
		assert_false(f->doubt);
	}
	traffic_lustre_off(&f->tr);
	for (unsigned int i = 0; i < 30; i++) {
		step(f);
		n += f->doubt;
	}
	assert_in_range(n, 1, 5);
}

static void all_links(struct fixture *f, uint32_t mbps, uint16_t wait)
{
	for (uint32_t leaf = 0; leaf < 4; leaf++)
		for (uint32_t i = 0; i < 2; i++) {
			*traffic_at(&f->tr, 8 + leaf, 3 + i) =
				(struct traffic_port){ 24000, wait, 0, 0, 0 };
			*traffic_at(&f->tr, 12 + i, leaf + 1) =
				(struct traffic_port){ mbps, 0, 0, 0, 0 };
			*traffic_at(&f->tr, 2 * leaf + i, 1) =
				(struct traffic_port){ 24000, wait, 0, 0, 0 };
		}
}

/* Repaid backlog fills many links at once, for a moment each; that is not many hotspots. If they
 * stay full it is.
 */
static void test_too_many_roots(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 5; i++) {
		all_links(f, 31900, 250);
		steps(f, 5);
		assert_true(f->n_roots > 2);
		all_links(f, 24000, 0);
		step(f);
	}
	assert_int_equal(f->n_changed, 0);
	all_links(f, 31900, 250);
	steps(f, 7);
	assert_true(f->n_changed > 0);
}

static void test_other_topology(void **state)
{
	struct fixture *f = *state;
	struct fixture *g;
	void *other;

	/* State of one fabric is never used for another. */
	under_control(f);
	setup_tree(&other);
	g = other;
	ibcc_tuner_free(g->tn);
	g->tn = f->tn;
	f->tn = NULL;
	steps(g, 20);
	assert_int_equal(g->n_changed, 0);
	teardown(&other);
	ibcc_tuner_free(NULL);
}

int main(void)
{
#define LUSTRE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
#define TREE(f)   cmocka_unit_test_setup_teardown(f, setup_tree, teardown)
	const struct CMUnitTest tests[] = {
		LUSTRE(test_strengthens),
		LUSTRE(test_takes_back),
		LUSTRE(test_marks_earlier),
		LUSTRE(test_relaxes),
		LUSTRE(test_no_oscillation),
		LUSTRE(test_contributors_over_time),
		LUSTRE(test_grows),
		LUSTRE(test_switch_wide),
		LUSTRE(test_unsupported_nodes),
		LUSTRE(test_adopts),
		LUSTRE(test_doubt),
		TREE(test_one_after_the_other),
		TREE(test_quiet_root_settles),
		TREE(test_empty_is_not_idle),
		TREE(test_confirmed_while_changing),
		TREE(test_judged_together),
		TREE(test_too_many_roots),
		LUSTRE(test_other_topology),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
