/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* However slowly a fabric answers, no stage of a turn goes on for ever. */
#include "tests/unit/fake_fabric.h"

#include <ibcc/cycle.h>

#define MS          1000000ull
#define DEADLINE_NS (100 * MS)

static uint32_t count_unknown(const struct ibcc_cycle *c)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->actual.n; i++)
		n += c->actual.ep[i].support == IBCC_CC_UNKNOWN;
	return n;
}

static void test_readback(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct fake_fabric *f = fake_fabric(t);
	const struct ibcc_cycle_options o = { .pass_deadline_ns = DEADLINE_NS };
	struct ibcc_applier *none = ibcc_applier_null_new();
	struct ibcc_act act = { .applier = none };
	struct ibcc_why why = { "" };
	struct ibcc_cycle c;
	uint64_t from;

	(void)state;
	assert_int_equal(ibcc_cycle_init(&c, &o, &f->base), 0);
	assert_int_equal(ibcc_cycle_set_topology(&c, ibcc_topo_clone(t)), 0);
	f->step_ns = 60 * MS;
	from = f->now_ns;
	assert_int_equal(ibcc_cycle_readback(&c, &why), 0);
	assert_true(f->now_ns - from <= 10 * DEADLINE_NS + f->step_ns);
	assert_true(count_unknown(&c) > 0);
	assert_int_equal(f->base.deadline_ns, 0);
	/* The rest is asked for later, some in each pass, until all is known. */
	for (int i = 0; i < 50; i++) {
		from = f->now_ns;
		assert_int_equal(ibcc_cycle_run(&c, &act, &why), 0);
		assert_true(f->now_ns - from <= 3 * (DEADLINE_NS + f->step_ns));
	}
	f->step_ns = 10000;
	for (int i = 0; i < 100 && count_unknown(&c); i++)
		assert_int_equal(ibcc_cycle_run(&c, &act, &why), 0);
	assert_int_equal(count_unknown(&c), 0);
	ibcc_cycle_fini(&c);
	ibcc_applier_free(none);
	ibcc_transport_free(&f->base);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readback),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
