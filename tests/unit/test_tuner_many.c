/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots with hundreds of sources, each of whom is marked but rarely. */
#include "tests/unit/tuner_fixture.h"

#define LINK 32000u

static int setup(void **state)
{
	struct fixture *f = fixture_new(state);

	f->r = ibcc_tuner_add(f->tn, fabric_port(f->t, 8, 1));
	assert_non_null(f->r);
	f->r->on = true;
	f->r->learned = true;
	return 0;
}

static struct ibcc_law_out law(struct ibcc_tuner_root *r, enum ibcc_congestion kind, uint32_t n,
			       uint32_t n_heavy)
{
	struct ibcc_law_out o;

	r->kind = kind;
	ibcc_tuner_number(r, n, n_heavy, 3200);
	r->packet_bytes = 2074;
	assert_int_equal(ibcc_tuner_law(r, LINK, 128, &o), 0);
	return o;
}

/* sqrt(647 / 9) = 8.5 and sqrt(36 / 9) = 2. Larger steps come at longer times: 0.12 of the packets
 * are marked, of which each source has one in 647 * 2074 * 8 / 3200 us = 3.35 ms.
 */
static void test_steps(void **state)
{
	struct fixture *f = *state;
	struct ibcc_law_out o = law(f->r, IBCC_CONGESTION_OUTPUT, 647, 647);

	assert_int_equal(o.increase, 8);
	assert_in_range(o.timer, 3355 / 0.12 / 8 / 1.024 - 2, 3355 / 0.12 / 8 / 1.024 + 2);
	assert_in_range(o.mark_permille, 119, 121);
	assert_int_equal(law(f->r, IBCC_CONGESTION_OUTPUT, 36, 36).increase, 2);
	assert_int_equal(law(f->r, IBCC_CONGESTION_OUTPUT, 35, 35).increase, 1);
	assert_int_equal(law(f->r, IBCC_CONGESTION_OUTPUT, 647, 12).increase, 1);
	/* Where a link is full nothing bridges the gaps. */
	assert_int_equal(law(f->r, IBCC_CONGESTION_INPUT, 647, 647).increase, 1);
}

/* One mark may come by chance to one that had no time to send. */
static void test_no_outlier_by_chance(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root now = { .n_sources = 8, .source = f->source };

	ibcc_tuner_number(f->r, 647, 647, 3200);
	for (uint32_t i = 0; i < 8; i++)
		f->source[i] = (struct ibcc_source){ .wait_permille = 990 };
	f->source[3].becn = 7;
	assert_false(ibcc_tuner_has_outlier(f->r, &now));
	f->source[3].becn = 8;
	assert_true(ibcc_tuner_has_outlier(f->r, &now));
}

/* Four adapters that send 40 pairs, one of which is marked four times as much as each of the
 * others: 40 * 3 is less than eight times their 30. Of 40 adapters 40 * 39 is more.
 */
static void test_no_outlier_among_adapters(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root now = { .n_sources = 4, .source = f->source };

	for (uint32_t i = 0; i < 4; i++)
		f->source[i] = (struct ibcc_source){ .becn = i ? 10 : 40 };
	ibcc_tuner_number(f->r, 4, 4, 3200);
	f->r->n = f->r->n_heavy = 40;
	f->r->counts_pairs = true;
	assert_false(ibcc_tuner_has_outlier(f->r, &now));
	f->r->n_adapters = 40;
	assert_true(ibcc_tuner_has_outlier(f->r, &now));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_steps),
		TEST(test_no_outlier_by_chance),
		TEST(test_no_outlier_among_adapters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
