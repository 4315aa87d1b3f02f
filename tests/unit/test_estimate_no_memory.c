/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Each allocation of a pass fails in turn: the pass says so, and the next one finds nothing broken.
 */
#include <errno.h>

#include "allocs.h"
#include "estimates.h"

static unsigned int left; /* allocations until one fails; 0: none does */

static bool alloc_fails(void)
{
	return left && !--left;
}

static int run(struct fixture *f)
{
	ibcc_estimate_fini(&f->e);
	return ibcc_estimator_run(f->m, f->t, &f->tr.s, &f->actual, &f->last, &f->e);
}

static void test_each(void **state)
{
	struct fixture *f = *state;
	unsigned int n = 0;
	int rc;

	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 100;
	do {
		ibcc_estimator_reset(f->m);
		traffic_pass(&f->tr);
		left = ++n;
		rc = run(f);
		left = 0;
		if (!rc)
			break;
		assert_int_equal(rc, -ENOMEM);
		assert_int_equal(f->e.n_known, 0);
		/* There is memory again. */
		passes(f, 3);
		assert_int_equal(f->e.n_roots, 1);
		assert_int_equal(at(f, fabric_port(f->t, LUSTRE_SW2, 1))->n_marked, 3);
	} while (n < 1000);
	assert_in_range(n, 10, 999);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_each, setup_marked, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
