/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which roots of an estimate are decided by, where packets of some SLs go other ways. */
#include <stdlib.h>
#include <string.h>

#include <ibcc/proof.h>

#include "tests/unit/fabrics.h"

static const unsigned int port_num[] = { 1, 2, 5, 3, 4 }; /* of the second switch */
#define N_SEEN  4u
#define N_KNOWN 5u

struct proof {
	struct ibcc_topo *t;
	struct ibcc_root root[N_KNOWN];
	struct ibcc_estimate from, to;
	struct ibcc_unproved who;
};

static void prove(struct proof *x, uint16_t loose, const uint16_t sls[N_SEEN])
{
	*x = (struct proof){ .t = fabric_lustre() };
	for (uint32_t i = 0; i < N_KNOWN; i++)
		x->root[i].port = fabric_port(x->t, LUSTRE_SW2, port_num[i]);
	x->from = (struct ibcc_estimate){
		.pass = 7, .n_roots = N_SEEN, .n_known = N_KNOWN, .root = x->root
	};
	assert_int_equal(ibcc_proof_run(&x->from, loose, sls, &x->to, &x->who), 0);
	assert_int_equal(x->to.pass, 7);
	assert_int_equal(x->to.n_known, N_KNOWN);
	/* A source that was known still is, and by the same sources. */
	for (uint32_t i = 0; i < N_KNOWN; i++)
		assert_non_null(ibcc_estimate_find(&x->to, x->root[i].port));
}

static void assert_names(const struct proof *x, const char *want)
{
	struct ibcc_why text;

	ibcc_proof_text(x->t, &x->who, &text);
	assert_string_equal(text.text, want);
}

static bool sees(const struct proof *x, uint32_t i)
{
	return ibcc_estimate_sees(&x->to, ibcc_estimate_find(&x->to, x->root[i].port));
}

static void done(struct proof *x)
{
	free(x->to.root);
	ibcc_topo_free(x->t);
}

static void test_none_loose(void **state)
{
	static const uint16_t sls[N_SEEN] = { 0, 1, 0xffff, 0 };
	struct proof x;

	(void)state;
	prove(&x, 0, sls);
	assert_int_equal(x.to.n_roots, N_SEEN);
	for (uint32_t i = 0; i < N_KNOWN; i++)
		assert_int_equal(x.to.root[i].port, x.root[i].port);
	assert_int_equal(x.who.n, 0);
	assert_names(&x, "");
	done(&x);
}

static void test_some(void **state)
{
	static const uint16_t sls[N_SEEN] = { 1 << 3 | 1 << 5, 1 << 0, 0, 1 << 4 | 1 << 0 };
	struct proof x;

	(void)state;
	prove(&x, 1 << 3 | 1 << 7, sls);
	assert_int_equal(x.to.n_roots, 2);
	assert_false(sees(&x, 0));
	assert_true(sees(&x, 1));
	assert_false(sees(&x, 2));
	assert_true(sees(&x, 3));
	assert_false(sees(&x, 4));
	assert_int_equal(x.who.n, 2);
	assert_int_equal(x.who.first[0].port, x.root[0].port);
	assert_int_equal(x.who.first[0].sls, 1 << 3);
	assert_int_equal(x.who.first[1].port, x.root[2].port);
	assert_int_equal(x.who.first[1].sls, 0);
	assert_names(
		&x,
		"sw2 port 1 (SL 3), sw2 port 5 (the service levels of its flows are not known)");
	done(&x);
}

static void test_all_loose(void **state)
{
	static const uint16_t sls[N_SEEN] = { 0 };
	struct ibcc_why text;
	struct proof x;

	(void)state;
	prove(&x, UINT16_MAX, sls);
	assert_int_equal(x.to.n_roots, 0);
	assert_int_equal(x.who.n, 4);
	ibcc_proof_text(x.t, &x.who, &text);
	assert_non_null(strstr(text.text, " and 1 more"));
	done(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_none_loose),
		cmocka_unit_test(test_some),
		cmocka_unit_test(test_all_loose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
