/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The estimator against counters as they look in known situations. */
#include "estimators.h"

static void test_first_pass(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e = estimate(&f->tr, NULL);

	/* One reading is no interval. */
	assert_false(e.trustworthy);
	assert_int_equal(e.n_roots, 0);
	assert_int_equal(e.n_cas, 6);
	ibcc_estimate_fini(&e);
	ibcc_estimate_fini(&e);
	ibcc_estimate_fini(NULL);
}

static void test_healthy(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	/* Idle, then nearly full links that still flow. */
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_true(e.trustworthy);
	assert_int_equal(e.n_roots, 0);
	ibcc_estimate_fini(&e);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		f->tr.port[i] = (struct traffic_port){ 28800, 30, 0, 0, 0 };
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 0);
	ibcc_estimate_fini(&e);
}

static void test_output_generated(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;
	const struct ibcc_root *r;

	traffic_lustre_off(&f->tr);
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_true(e.trustworthy);
	assert_int_equal(e.n_roots, 1);
	r = &e.root[0];
	assert_int_equal(r->port, fabric_port(f->t, LUSTRE_SW2, 1));
	assert_int_equal(r->kind, IBCC_CONGESTION_OUTPUT);
	assert_int_equal(r->link_mbps, 32000);
	assert_in_range(r->rate_mbps, 14950, 14970);
	assert_in_range(r->wait_permille, 531, 532);
	assert_in_range(r->tree_wait_permille, 376, 377);
	assert_int_equal(r->confidence_permille, 1000);
	/* Nothing is marked, so nobody can say who of the four is the victim. */
	assert_int_equal(r->n_sources, 4);
	assert_int_equal(r->n_contributors, 4);
	assert_int_equal(r->n_victims, 0);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(r->source[i].port, fabric_port(f->t, LUSTRE_SRC1 + i, 1));
		assert_int_equal(r->source[i].role, IBCC_ROLE_CANDIDATE);
	}
	ibcc_estimate_fini(&e);

	/* BECNs say nothing about a port that does not mark. */
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 200;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].n_contributors, 4);
	assert_int_equal(role(&e, 0, fabric_port(f->t, LUSTRE_SRC3, 1)), IBCC_ROLE_CANDIDATE);
	ibcc_estimate_fini(&e);

	/* The first marks name the contributors; a late one at src4 does not make it one. */
	mark_at_slow(f);
	traffic_at(&f->tr, LUSTRE_SRC4, 1)->becn = 4;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.becn, 604);
	assert_int_equal(e.root[0].n_contributors, 3);
	assert_int_equal(e.root[0].n_victims, 1);
	assert_int_equal(role(&e, 0, fabric_port(f->t, LUSTRE_SRC3, 1)), IBCC_ROLE_CONTRIBUTOR);
	assert_int_equal(role(&e, 0, fabric_port(f->t, LUSTRE_SRC4, 1)), IBCC_ROLE_VICTIM);
	ibcc_estimate_fini(&e);
}

/* Under control the tree is gone, but the root still waits, marks and has contributors. src4 waits
 * for the full link between the switches, which is its fair share and nobody's fault.
 */
static void test_controlled(void **state)
{
	struct fixture *f = *state;
	struct ibcc_endport_cc *sw2;
	struct ibcc_estimate e;

	traffic_lustre_tuned(&f->tr);
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 0);
	ibcc_estimate_fini(&e);

	sw2 = mark_at_slow(f);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].port, fabric_port(f->t, LUSTRE_SW2, 1));
	assert_int_equal(e.root[0].kind, IBCC_CONGESTION_OUTPUT);
	assert_int_equal(e.root[0].n_contributors, 3);
	assert_int_equal(e.root[0].n_victims, 0);
	assert_int_equal(e.root[0].tree_wait_permille, 0);
	ibcc_estimate_fini(&e);

	/* Credit starvation at that port is no marking. */
	sw2->element[1].Control_Type = true;
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 0);
	ibcc_estimate_fini(&e);
	/* Switch-wide marking at the first switch: its full port to the second would be a root if
	 * those who pass it were marked there; the port with the slow sink is the one that counts.
	 */
	sw2->element[1].Valid = false;
	sw2->sw.Threshold = 9;
	e = estimate(&f->tr, &f->actual);
	assert_true(e.n_roots >= 1);
	assert_int_equal(e.root[0].port, fabric_port(f->t, LUSTRE_SW2, 1));
	ibcc_estimate_fini(&e);
}

/* The other sink is slow, too, for src4 alone: src4 waits for that one and is nobody's victim. */
static void test_second_slow_sink(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	mark_at_slow(f);
	for (unsigned int i = 0; i < 3; i++)
		*traffic_at(&f->tr, LUSTRE_SRC1 + i, 1) =
			(struct traffic_port){ 2400, 5, 80, 0, 0 };
	*traffic_at(&f->tr, LUSTRE_SRC4, 1) = (struct traffic_port){ 7200, 770, 0, 0, 0 };
	*traffic_at(&f->tr, LUSTRE_SW1, 5) = (struct traffic_port){ 14400, 540, 0, 0, 0 };
	*traffic_at(&f->tr, LUSTRE_SW2, 1) = (struct traffic_port){ 7200, 400, 0, 0, 0 };
	*traffic_at(&f->tr, LUSTRE_SW2, 2) = (struct traffic_port){ 7200, 774, 0, 0, 0 };
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 2);
	for (uint32_t i = 0; i < 2; i++) {
		bool first = e.root[i].port == fabric_port(f->t, LUSTRE_SW2, 1);

		assert_int_equal(e.root[i].n_victims, 0);
		assert_int_equal(e.root[i].n_contributors, first ? 3 : 1);
		assert_int_equal(role(&e, i, fabric_port(f->t, LUSTRE_SRC4, 1)),
				 first ? IBCC_ROLE_NONE : IBCC_ROLE_CANDIDATE);
	}
	ibcc_estimate_fini(&e);
}

/* 4-port 2-tree: adapters 0..7, leaves 8..11, roots 12, 13. Adapters 2, 4 and 6 send to 0, which is
 * input-generated at leaf0's port 1; 3 sends to 1 over the other root and suffers nothing; 5 sends
 * to 1, too.
 */
static void test_input_generated(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	*traffic_at(&f->tr, 8, 1) = (struct traffic_port){ 31900, 0, 0, 0, 0 };
	*traffic_at(&f->tr, 12, 1) = (struct traffic_port){ 31900, 20, 0, 0, 0 };
	for (uint32_t leaf = 1; leaf < 4; leaf++) {
		*traffic_at(&f->tr, 8 + leaf, 3) = (struct traffic_port){ 10633, 660, 0, 0, 0 };
		*traffic_at(&f->tr, 2 * leaf, 1) = (struct traffic_port){ 10633, 660, 0, 0, 0 };
	}
	*traffic_at(&f->tr, 3, 1) = (struct traffic_port){ 16000, 0, 0, 0, 0 };
	*traffic_at(&f->tr, 5, 1) = (struct traffic_port){ 16000, 0, 0, 0, 0 };
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	/* Both ports to adapter 0 are full, but the flows meet at the first: what feeds the second
	 * does not wait.
	 */
	assert_true(e.n_roots >= 1);
	for (uint32_t i = 0; i < e.n_roots; i++) {
		assert_int_equal(e.root[i].kind, IBCC_CONGESTION_INPUT);
		assert_int_equal(e.root[i].n_contributors, 3);
		assert_int_equal(role(&e, i, fabric_port(f->t, 3, 1)), IBCC_ROLE_NONE);
		assert_int_equal(role(&e, i, fabric_port(f->t, 4, 1)), IBCC_ROLE_CANDIDATE);
	}
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].port, fabric_port(f->t, 12, 1));
	ibcc_estimate_fini(&e);
}

static void test_untrustworthy(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	traffic_lustre_off(&f->tr);
	traffic_at(&f->tr, LUSTRE_SW1, 5)->silent = true;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	/* One of fourteen ports is below the limit, but it is on the way to the root. */
	assert_true(e.trustworthy);
	for (uint32_t i = 0; i < e.n_roots; i++)
		assert_true(e.root[i].confidence_permille < 1000);
	ibcc_estimate_fini(&e);

	for (unsigned int i = 0; i < 2; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->silent = true;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_false(e.trustworthy);
	ibcc_estimate_fini(&e);
}

/* A counter that somebody cleared in the interval looks like little traffic and little waiting. */
static void test_reset_counters(void **state)
{
	struct fixture *f = *state;
	uint32_t root = fabric_port(f->t, LUSTRE_SW2, 1);
	struct ibcc_estimate e;

	traffic_lustre_off(&f->tr);
	traffic_pass(&f->tr);
	f->tr.ctr[root].v[IBCC_CTR_XMIT_WAIT] = 0;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 0);
	ibcc_estimate_fini(&e);
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	ibcc_estimate_fini(&e);
}

/* Marks that arrived behind it make a port a root, a setting alone does not; and who sends into its
 * switch without waiting may be the one that takes the most.
 */
static void test_who_marks(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	traffic_lustre_off(&f->tr);
	*traffic_at(&f->tr, LUSTRE_FAST, 1) = (struct traffic_port){ 3000, 0, 0, 0, 0 };
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].n_contributors, 4);
	assert_int_equal(e.root[0].n_sources, 5);
	assert_int_equal(e.root[0].n_waiting, 5); /* four adapters, the link between the switches */
	for (unsigned int i = 0; i < 5; i++)
		if (f->t->port[e.root[0].source[i].port].node == LUSTRE_FAST)
			assert_int_equal(e.root[0].source[i].role, IBCC_ROLE_NEAR);
	ibcc_estimate_fini(&e);

	/* Both sinks' ports may mark, the marks came to the fast one. */
	mark_at_slow(f);
	traffic_lustre_tuned(&f->tr);
	traffic_at(&f->tr, LUSTRE_SW2, 1)->mbps = 3000;
	traffic_at(&f->tr, LUSTRE_SW2, 1)->wait_permille = 0;
	traffic_at(&f->tr, LUSTRE_FAST, 1)->fecn = 100;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	for (unsigned int i = 0; i < e.n_roots; i++)
		assert_true(e.root[i].port != fabric_port(f->t, LUSTRE_SW2, 1));
	ibcc_estimate_fini(&e);
	traffic_at(&f->tr, LUSTRE_SLOW, 1)->fecn = 100;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].port, fabric_port(f->t, LUSTRE_SW2, 1));
	assert_int_equal(e.root[0].fecn, 100);
	ibcc_estimate_fini(&e);
}

static void test_explain(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;
	char buf[400], small[20];
	int n;

	traffic_lustre_off(&f->tr);
	mark_at_slow(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 200;
	traffic_pass(&f->tr);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	n = ibcc_estimate_explain(f->t, &e.root[0], buf, sizeof(buf));
	assert_int_equal(n, strlen(buf));
	assert_non_null(strstr(buf, "sw2 port 1: output-generated"));
	assert_non_null(strstr(buf, "14960 of 32000 Mb/s (PortXmitData)"));
	assert_non_null(strstr(buf, "53.2 % (PortXmitWait)"));
	assert_non_null(strstr(buf, "contributors (BECN) src1, src2, src3; victims src4"));
	assert_int_equal(ibcc_estimate_explain(f->t, &e.root[0], small, sizeof(small)), n);
	assert_int_equal(strlen(small), sizeof(small) - 1);
	assert_int_equal(ibcc_estimate_explain(f->t, &e.root[0], NULL, 0), n);
	ibcc_estimate_fini(&e);
}

int main(void)
{
#define LUSTRE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		LUSTRE(test_first_pass),
		LUSTRE(test_healthy),
		LUSTRE(test_output_generated),
		LUSTRE(test_controlled),
		LUSTRE(test_second_slow_sink),
		cmocka_unit_test_setup_teardown(test_input_generated, setup_tree, teardown),
		LUSTRE(test_untrustworthy),
		LUSTRE(test_reset_counters),
		LUSTRE(test_who_marks),
		LUSTRE(test_explain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
