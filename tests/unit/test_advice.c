/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Marking profiles, from shares of marks that another program solved from the same equations: those
 * of test_equilibrium.c.
 */
#include <errno.h>

#include <ibcc/advise.h>

#include "engines.h"
#include "fabrics.h"

enum { WIRE = 4122, BUFFER = 131072 };

static struct ibcc_dcqcn_rp rp;

static int make(uint32_t n_roots, const struct ibcc_advice_root *root, uint32_t buffer_bytes,
		struct ibcc_advice *a)
{
	const struct ibcc_advice_in in = { .rp = &rp,
					   .packet_bytes = WIRE,
					   .buffer_bytes = buffer_bytes,
					   .n_roots = n_roots,
					   .root = root };

	return ibcc_advice_make(&in, a);
}

/* 1.9 times 0.00632, 0.01495, 0.03379 and 0.07601, in percent, and up to the next integer. */
static void percent_by_senders(void **state)
{
	static const struct {
		uint32_t n, percent;
	} c[] = { { 2, 2 }, { 8, 3 }, { 32, 7 }, { 128, 15 } };
	struct ibcc_advice a;

	(void)state;
	ibcc_dcqcn_rp_defaults(&rp);
	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		const struct ibcc_advice_root root = { 200000, c[i].n, 1 };

		assert_int_equal(make(1, &root, BUFFER, &a), 0);
		assert_int_equal(a.percent, c[i].percent);
	}
}

/* Marks from a quarter of the buffer on. Eight senders rest where 3 % becomes 1.495 %. */
static void queue_by_buffer(void **state)
{
	const struct ibcc_advice_root root = { 200000, 8, 3 };
	struct ibcc_advice a;

	(void)state;
	ibcc_dcqcn_rp_defaults(&rp);
	assert_int_equal(make(1, &root, BUFFER, &a), 0);
	assert_int_equal(a.min_bytes, 32768);
	assert_int_equal(a.max_bytes, 131072);
	assert_near(a.mark_share, 0.01495, 0.001);
	assert_near(a.queue_bytes, 32768 + 0.01495 / 0.03 * 98304, 0.001);
	assert_near(a.credit_bytes, 3 * 131072, 0.0001);
}

/* The root with the most senders needs the most marks; a slow receiver needs more than a link. */
static void worst_root(void **state)
{
	static const struct ibcc_advice_root roots[] = { { 200000, 8, 1 },
							 { 200000, 32, 2 },
							 { 200000, 2, 3 } };
	static const struct ibcc_advice_root slow[] = { { 200000, 8, 1 }, { 50000, 8, 1 } };
	struct ibcc_advice a;

	(void)state;
	ibcc_dcqcn_rp_defaults(&rp);
	assert_int_equal(make(3, roots, BUFFER, &a), 0);
	assert_int_equal(a.root, 1);
	assert_int_equal(a.percent, 7);
	assert_int_equal(make(2, slow, BUFFER, &a), 0);
	assert_int_equal(a.root, 1);
}

static void nothing(void **state)
{
	const struct ibcc_advice_root root = { 200000, 8, 1 }, idle = { 0, 8, 1 };
	const struct ibcc_advice_root most = { 200000, 5000, 1 };
	struct ibcc_advice a;

	(void)state;
	ibcc_dcqcn_rp_defaults(&rp);
	assert_int_equal(make(0, NULL, BUFFER, &a), -ENOENT);
	assert_int_equal(make(1, &idle, BUFFER, &a), -EDOM);
	assert_int_equal(make(1, &root, 8 * WIRE, &a), 0);
	assert_int_equal(make(1, &root, 8 * WIRE - 1, &a), -ENOSPC);
	assert_int_equal(make(1, &most, BUFFER, &a), -ERANGE);
	rp.rpg_ai_rate_mbps = 0;
	assert_int_equal(make(1, &root, BUFFER, &a), -EDOM);
}

/* What a fabric of idle links lacks for advice: a root, a buffer for a profile, parameters that a
 * limiter can have, and a time without congestion.
 */
static void left_off(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	const struct ibcc_root root = { .port = fabric_port(t, LUSTRE_SW2, 1),
					.rate_mbps = 4000,
					.n_contributors = 3 };
	struct ibcc_settings now;
	struct ibcc_loads loads;
	struct ibcc_advise_in in = {
		.p = { .t = t,
		       .now = &loads,
		       .root = &root,
		       .actual = &now,
		       .wanted = &now,
		       .packet_bytes = 2074,
		       .buffer_bytes = 65536 },
		.rp = &rp,
	};
	struct ibcc_advise a;

	(void)state;
	ibcc_dcqcn_rp_defaults(&rp);
	assert_int_equal(ibcc_settings_init(&now, t), 0);
	assert_int_equal(ibcc_loads_init(&loads, t->n_ports), 0);
	assert_int_equal(ibcc_advise(&in, &a), 0);
	assert_int_equal(a.verdict, IBCC_ADVISE_OFF_NO_CONGESTION);
	in.p.n_roots = 1;
	assert_int_equal(ibcc_advise(&in, &a), 0);
	assert_int_equal(a.verdict, IBCC_ADVISE_OFF_NOT_TRIED);
	assert_int_equal(a.p.why, IBCC_PREDICTION_NO_BASELINE);
	assert_int_equal(a.root_port, root.port);
	assert_int_equal(a.root.n, 3);
	assert_int_equal(a.root.feeds, 1);
	assert_int_equal(a.profile.max_bytes, 65536);
	ibcc_advise_fini(&a);
	rp.rpg_min_rate_mbps = 0;
	assert_int_equal(ibcc_advise(&in, &a), 0);
	assert_int_equal(a.verdict, IBCC_ADVISE_OFF_NO_PROFILE);
	assert_int_equal(a.profile_rc, -EINVAL);
	in.p.buffer_bytes = 8192;
	assert_int_equal(ibcc_advise(&in, &a), 0);
	assert_int_equal(a.verdict, IBCC_ADVISE_OFF_NO_PROFILE);
	assert_int_equal(a.profile_rc, -ENOSPC);
	ibcc_loads_fini(&loads);
	ibcc_settings_fini(&now);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(percent_by_senders), cmocka_unit_test(queue_by_buffer),
		cmocka_unit_test(worst_root),         cmocka_unit_test(nothing),
		cmocka_unit_test(left_off),
	};

	return cmocka_run_group_tests_name("advice", tests, NULL, NULL);
}
