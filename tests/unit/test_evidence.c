/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What forbids a prediction, whatever traffic is like. */
#include <stdlib.h>
#include <string.h>

#include <ibcc/proof.h>

#include "reports.h"

#include "daemon/predict/evidence.h"

static enum ibcc_prediction_why refusal(const struct ibcc_cycle *c)
{
	struct ibcc_evidence e;
	struct ibcc_memory m;
	enum ibcc_prediction_why why;

	assert_int_equal(ibcc_memory_init(&m, c->topo->n_ports), 0);
	assert_int_equal(ibcc_evidence_make(&e, c, &m, 0, &c->target.wanted), 0);
	why = e.in.refuse;
	ibcc_evidence_fini(&e);
	ibcc_memory_fini(&m);
	return why;
}

/* As the loop proves it: by the loose SLs, and those that the root sends on (0: not known). */
static enum ibcc_prediction_why refusal_on(struct fixture *f, uint16_t loose, uint16_t sls)
{
	struct ibcc_cycle *c = &f->c;
	const uint16_t all[] = { sls };

	assert_int_equal(c->estimate.n_roots, 1);
	c->vendor.n_loose = loose ? 1 : 0;
	c->vendor.loose_sls = loose;
	free(c->proved.root);
	assert_int_equal(ibcc_proof_run(&c->estimate, loose, all, &c->proved, &c->unproved), 0);
	return refusal(c);
}

static void test_loose_routes(void **state)
{
	struct fixture *f = *state;

	assert_int_equal(refusal_on(f, 0, 0), IBCC_PREDICTION_TELLS);
	assert_int_equal(refusal_on(f, 1u << 3, 0), IBCC_PREDICTION_ADAPTIVE);
	assert_int_equal(refusal_on(f, 1u << 3, 1u << 3 | 1u << 2), IBCC_PREDICTION_ADAPTIVE);
	assert_int_equal(refusal_on(f, 1u << 3, 1u << 2), IBCC_PREDICTION_TELLS);
	assert_int_equal(refusal_on(f, UINT16_MAX, 0), IBCC_PREDICTION_ADAPTIVE);
}

/* More than a tenth. */
static void test_unread(void **state)
{
	struct fixture *f = *state;

	f->c.snapshot.n_fresh = 90;
	f->c.snapshot.n_stale = 6;
	f->c.snapshot.n_unreachable = 4;
	assert_int_equal(refusal(&f->c), IBCC_PREDICTION_TELLS);
	f->c.snapshot.n_unreachable = 5;
	assert_int_equal(refusal(&f->c), IBCC_PREDICTION_STALE);
}

/* By the switches' logs. */
static void test_service_levels(void **state)
{
	struct fixture *f = *state;
	struct ibcc_mark mark[] = { { .sl = 1 }, { .sl = 1 }, { .sl = 1 } };
	struct ibcc_snapshot *s = &f->c.snapshot;

	s->mark = mark;
	s->n_marks = 3;
	assert_int_equal(refusal(&f->c), IBCC_PREDICTION_TELLS);
	mark[2].sl = 0;
	assert_int_equal(refusal(&f->c), IBCC_PREDICTION_VLS);
	s->mark = NULL;
	s->n_marks = 0;
}

/* Among the root's sources. */
static void test_no_cc(void **state)
{
	struct fixture *f = *state;

	f->c.actual.ep[LUSTRE_FAST].support = IBCC_CC_UNSUPPORTED;
	assert_int_equal(refusal(&f->c), IBCC_PREDICTION_TELLS);
	f->c.actual.ep[LUSTRE_SRC2].support = IBCC_CC_UNSUPPORTED;
	assert_int_equal(refusal(&f->c), IBCC_PREDICTION_NO_CC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_loose_routes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_service_levels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_cc, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
