/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots where adapters count no waits. The Lustre fabric: src1 to src4 at one switch, the slow and
 * the fast receiver at the next.
 */
#include "estimates.h"

static uint32_t src(const struct fixture *f, unsigned int i)
{
	return fabric_port(f->t, LUSTRE_SRC1 + i, 1);
}

static uint32_t slow_port(const struct fixture *f)
{
	return fabric_port(f->t, LUSTRE_SW2, 1);
}

/* Three write to the slow receiver, the fourth to the fast one, through one link. */
static void congest(struct fixture *f)
{
	for (unsigned int i = 0; i < 4; i++)
		f->tr.port[src(f, i)] = load(5000, 800, 0);
	f->tr.port[fabric_port(f->t, LUSTRE_SW1, 5)] = load(20000, 375, 0);
	f->tr.port[slow_port(f)] = load(15000, 530, 0);
	f->tr.port[fabric_port(f->t, LUSTRE_SW2, 2)] = load(5000, 0, 0);
}

enum how { CLAIMS_NONE, STAYS_ZERO };

static void blind(struct fixture *f, enum how how)
{
	for (uint32_t i = 0; i < f->t->n_ports; i++) {
		bool ca = !ibcc_topo_is_switch(f->t, f->t->port[i].node);

		if (ca && how == CLAIMS_NONE)
			f->tr.ctr[i].width[IBCC_CTR_XMIT_WAIT] = 0;
		else if (ca)
			f->tr.port[i].wait_permille = 0;
	}
}

static void test_hotspot(void **state)
{
	struct fixture *f = *state;

	for (int how = CLAIMS_NONE; how <= STAYS_ZERO; how++) {
		congest(f);
		blind(f, (enum how)how);
		passes(f, 3);
		assert_true(f->e.trustworthy);
		assert_int_equal(f->e.n_blind, 6);
		assert_int_equal(f->e.n_roots, 1);
		assert_int_equal(f->e.root[0].port, slow_port(f));
		assert_int_equal(f->e.root[0].kind, IBCC_CONGESTION_OUTPUT);
		assert_int_equal(f->e.root[0].n_contributors, 4);
		for (unsigned int i = 0; i < 4; i++)
			assert_int_equal(role(&f->e.root[0], src(f, i)), IBCC_ROLE_CANDIDATE);
		assert_true(f->e.load[endport_of(f, LUSTRE_SRC1)].blind);
	}
}

/* An adapter that counts a wait now and then counts them: what the others of its type read is so.
 */
static void test_counting_type(void **state)
{
	struct fixture *f = *state;

	congest(f);
	for (unsigned int i = 2; i < 4; i++)
		f->tr.port[src(f, i)].wait_permille = 0;
	passes(f, 3);
	assert_int_equal(f->e.n_blind, 0);
	assert_int_equal(f->e.n_roots, 1); /* a slow receiver for which the link between waits */
	assert_int_equal(role(&f->e.root[0], src(f, 0)), IBCC_ROLE_CANDIDATE);
	assert_int_equal(role(&f->e.root[0], src(f, 3)), IBCC_ROLE_NONE);
}

/* A full link, for which no adapter is known to wait: adapters at its switch may or may not. */
static void test_full_link(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 4; i++)
		f->tr.port[src(f, i)] = load(7900, 0, 0);
	f->tr.port[fabric_port(f->t, LUSTRE_SW1, 5)] = load(31600, 0, 0);
	f->tr.port[slow_port(f)] = load(15800, 0, 0);
	blind(f, CLAIMS_NONE);
	passes(f, 3);
	assert_int_equal(f->e.n_roots, 0);
}

/* The same link, and the adapters' waits move, though by an unknown unit: it is what they
 * wait for, unless they hardly wait at all.
 */
static void test_full_link_unmeasured(void **state)
{
	struct fixture *f = *state;

	for (uint32_t i = 0; i < f->t->n_ports; i++)
		f->tr.port[i].unmeasured = !ibcc_topo_is_switch(f->t, f->t->port[i].node);
	for (unsigned int i = 0; i < 4; i++) {
		f->tr.port[src(f, i)].mbps = 7900;
		f->tr.port[src(f, i)].wait_permille = 75;
	}
	f->tr.port[fabric_port(f->t, LUSTRE_SW1, 5)] = load(31600, 0, 0);
	f->tr.port[slow_port(f)] = load(15800, 0, 0);
	passes(f, 3);
	assert_int_equal(f->e.n_blind, 6);
	assert_int_equal(f->e.n_roots, 1);
	assert_int_equal(f->e.root[0].port, fabric_port(f->t, LUSTRE_SW1, 5));
	assert_int_equal(f->e.root[0].kind, IBCC_CONGESTION_INPUT);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(role(&f->e.root[0], src(f, i)), IBCC_ROLE_CANDIDATE);

	/* 7500 ticks in the time of 4000000 bytes: less than 0.2 %, were they as short as can be.
	 */
	for (unsigned int i = 0; i < 4; i++)
		f->tr.port[src(f, i)].wait_permille = 60;
	passes(f, 3);
	assert_int_equal(f->e.n_roots, 0);
}

/* Switches without the counter are not missed where others have it. */
static void test_switch_without(void **state)
{
	struct fixture *f = *state;

	congest(f);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		if (f->t->port[i].node == LUSTRE_SW1)
			f->tr.ctr[i].width[IBCC_CTR_XMIT_WAIT] = 0;
	passes(f, 3);
	assert_true(f->e.trustworthy);
}

/* Adapters that count no marks either: those that the switch logged are theirs. */
static void test_logged_marks(void **state)
{
	struct fixture *f = *state;

	congest(f);
	blind(f, CLAIMS_NONE);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		f->tr.ctr[i].width[IBCC_CTR_RCV_BECN] = f->tr.ctr[i].width[IBCC_CTR_RCV_FECN] = 0;
	traffic_pass(&f->tr);
	traffic_pass(&f->tr);
	traffic_log(&f->tr, LUSTRE_SW2, traffic_lid(&f->tr, LUSTRE_SRC1),
		    traffic_lid(&f->tr, LUSTRE_SLOW), 8);
	traffic_log(&f->tr, LUSTRE_SW2, traffic_lid(&f->tr, LUSTRE_SRC1 + 1),
		    traffic_lid(&f->tr, LUSTRE_SLOW), 7);
	look(f);
	assert_int_equal(f->e.becn, 15);
	assert_int_equal(f->e.fecn, 15);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_hotspot, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counting_type, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_link, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_link_unmeasured, setup, teardown),
		cmocka_unit_test_setup_teardown(test_switch_without, setup, teardown),
		cmocka_unit_test_setup_teardown(test_logged_marks, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
