/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Logged packets are sorted to the roots that marked them, by routes. The oracle is the Lustre
 * fabric: four sources at one switch, the slow server and the victim's at another.
 */
#include "estimators.h"

/* Three contributors, whose packets the port to the slow server marks. */
static void congest(struct fixture *f)
{
	traffic_lustre_off(&f->tr);
	mark_at_slow(f);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 200;
	traffic_pass(&f->tr);
}

static void assert_pair(const struct fixture *f, const struct ibcc_pair *p, uint32_t src,
			uint32_t dst, uint32_t packets)
{
	assert_int_equal(p->src, fabric_port(f->t, src, 1));
	assert_int_equal(p->dlid, traffic_lid(&f->tr, dst));
	assert_int_equal(p->packets, packets);
}

static void test_sorted(void **state)
{
	struct fixture *f = *state;
	uint16_t slow = traffic_lid(&f->tr, LUSTRE_SLOW);
	struct ibcc_estimate e;
	char buf[512];

	congest(f);
	traffic_log(&f->tr, LUSTRE_SW2, traffic_lid(&f->tr, LUSTRE_SRC1 + 2), slow, 1);
	traffic_log(&f->tr, LUSTRE_SW2, traffic_lid(&f->tr, LUSTRE_SRC1), slow, 7);
	traffic_log(&f->tr, LUSTRE_SW2, traffic_lid(&f->tr, LUSTRE_SRC1 + 1), slow, 4);
	traffic_log(&f->tr, LUSTRE_SW2, traffic_lid(&f->tr, LUSTRE_SRC1 + 2), slow, 3);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].n_pairs, 3);
	assert_pair(f, &e.root[0].pair[0], LUSTRE_SRC1, LUSTRE_SLOW, 7);
	assert_pair(f, &e.root[0].pair[1], LUSTRE_SRC1 + 1, LUSTRE_SLOW, 4);
	assert_pair(f, &e.root[0].pair[2], LUSTRE_SRC1 + 2, LUSTRE_SLOW, 4);
	ibcc_estimate_explain(f->t, &e.root[0], buf, sizeof(buf));
	assert_non_null(strstr(buf, "; marked (CongestionLog) src1 to slow 7, src2 to slow 4, "
				    "src3 to slow 4 of 15 packets"));
	ibcc_estimate_fini(&e);
}

/* A port that is no root in this pass: its packets tell no less. */
static void test_other_ports(void **state)
{
	struct fixture *f = *state;
	uint16_t slow = traffic_lid(&f->tr, LUSTRE_SLOW), src = traffic_lid(&f->tr, LUSTRE_SRC1);
	uint32_t spine = fabric_port(f->t, LUSTRE_SW1, 5);
	const struct ibcc_pair *p;
	struct ibcc_estimate e;
	uint32_t n;

	congest(f);
	traffic_log(&f->tr, LUSTRE_SW2, src, traffic_lid(&f->tr, LUSTRE_FAST), 2);
	traffic_log(&f->tr, LUSTRE_SW1, src, slow, 3);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.root[0].n_pairs, 0);
	p = ibcc_estimate_pairs_of(&e, spine, &n);
	assert_int_equal(n, 1);
	assert_pair(f, p, LUSTRE_SRC1, LUSTRE_SLOW, 3);
	p = ibcc_estimate_pairs_of(&e, fabric_port(f->t, LUSTRE_SW2, 2), &n);
	assert_int_equal(n, 1);
	assert_pair(f, p, LUSTRE_SRC1, LUSTRE_FAST, 2);
	assert_null(ibcc_estimate_pairs_of(&e, UINT32_MAX, &n));
	assert_int_equal(n, 0);
	ibcc_estimate_fini(&e);
}

/* LIDs that nobody has, packets that never pass the switch: untrusted input. */
static void test_left_out(void **state)
{
	struct fixture *f = *state;
	uint16_t slow = traffic_lid(&f->tr, LUSTRE_SLOW), src = traffic_lid(&f->tr, LUSTRE_SRC1);
	struct ibcc_estimate e;

	congest(f);
	traffic_log(&f->tr, LUSTRE_SW2, 0xbfff, slow, 1);
	traffic_log(&f->tr, LUSTRE_SW2, src, 0xbfff, 1);
	traffic_log(&f->tr, LUSTRE_SW2, src, 0xffff, 1);
	traffic_log(&f->tr, LUSTRE_SW2, src, src, 1);
	traffic_log(&f->tr, UINT32_MAX, src, slow, 1);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.n_roots, 1);
	assert_int_equal(e.n_pairs, 0);
	assert_int_equal(e.root[0].n_pairs, 0);
	ibcc_estimate_fini(&e);
}

/* More pairs than are named in a sentence. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	uint16_t slow = traffic_lid(&f->tr, LUSTRE_SLOW);
	struct ibcc_estimate e;
	char buf[512];

	congest(f);
	for (unsigned int i = 0; i < 4; i++)
		traffic_log(&f->tr, LUSTRE_SW2, traffic_lid(&f->tr, LUSTRE_SRC1 + i), slow, 1);
	traffic_log(&f->tr, LUSTRE_SW2, traffic_lid(&f->tr, LUSTRE_FAST), slow, 2);
	e = estimate(&f->tr, &f->actual);
	assert_int_equal(e.root[0].n_pairs, 5);
	ibcc_estimate_explain(f->t, &e.root[0], buf, sizeof(buf));
	assert_non_null(strstr(buf, " and 1 more pairs of 6 packets"));
	ibcc_estimate_fini(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_sorted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_other_ports, setup, teardown),
		cmocka_unit_test_setup_teardown(test_left_out, setup, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
