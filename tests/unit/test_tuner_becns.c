/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose BECNs they are where several roots mark; expected values by arithmetic. */
#include "tests/unit/tuner_fixture.h"

#define LINK 32000u

struct source_set {
	struct ibcc_source source[8];
};

static int setup(void **state)
{
	struct fixture *f = fixture_new(state);

	f->e = (struct ibcc_estimate){ .n_cas = 8, .trustworthy = true, .root = f->root };
	return 0;
}

/* A root that the adapters 0 to 7 may contribute to. */
static struct ibcc_tuner_root *add(struct fixture *f, struct source_set *set, uint32_t num,
				   enum ibcc_congestion kind)
{
	uint32_t port = fabric_port(f->t, 8, num);
	struct ibcc_tuner_root *r = ibcc_tuner_add(f->tn, port);

	assert_non_null(r);
	r->kind = kind;
	r->on = r->in_force = true;
	for (uint32_t i = 0; i < 8; i++)
		set->source[i] = (struct ibcc_source){ .port = fabric_port(f->t, i, 1) };
	f->root[f->e.n_roots++] = (struct ibcc_root){
		.port = port, .kind = kind, .n_sources = 8, .source = set->source
	};
	return r;
}

static double *becn(struct fixture *f, struct ibcc_tuner_root *r, uint32_t i)
{
	return &r->becn[f->t->port[fabric_port(f->t, i, 1)].endport];
}

/* BECNs of the adapters in a pass, which each root's list shows. */
static void pass(struct fixture *f, const uint32_t *becns)
{
	for (uint32_t k = 0; k < f->e.n_roots; k++)
		for (uint32_t i = 0; i < 8; i++)
			f->root[k].source[i].becn = becns[i];
	ibcc_tuner_count_becns(f->tn, f->t, &f->e);
}

/* Counts that fade by a quarter converge to four times what comes in a pass. */
static void test_alone(void **state)
{
	static const uint32_t b[8] = { 100, 100, 100, 0, 0, 0, 0, 10 };
	struct fixture *f = *state;
	struct source_set set;
	struct ibcc_tuner_root *r = add(f, &set, 1, IBCC_CONGESTION_INPUT);

	f->root[0].fecn = 310;
	for (int i = 0; i < 50; i++)
		pass(f, b);
	assert_in_range(*becn(f, r, 0), 399, 401);
	assert_in_range(*becn(f, r, 7), 39, 41);
	assert_true(*becn(f, r, 3) == 0);
	assert_int_equal(ibcc_tuner_known_sources(f->tn, f->t, r).n, 4);
}

/* Four marks in a pass among eight sources: no more than 4 / 64 fade, so that 64 are remembered. */
static void test_few_marks(void **state)
{
	static const uint32_t b[8] = { 2, 2, 0, 0, 0, 0, 0, 0 };
	struct fixture *f = *state;
	struct source_set set;
	struct ibcc_tuner_root *r = add(f, &set, 1, IBCC_CONGESTION_INPUT);
	static const uint32_t none[8];

	f->root[0].fecn = 4;
	for (int i = 0; i < 200; i++)
		pass(f, b);
	assert_in_range(*becn(f, r, 0), 31, 33);
	assert_true(ibcc_tuner_known(f->tn, r));
	for (int i = 0; i < 200; i++)
		pass(f, none);
	assert_in_range(*becn(f, r, 0), 31, 33);
}

/* Three send to the first root and all to the second, which marks ten times as much; now and then
 * the first one marks alone. Each source's BECNs are the sum of both.
 */
static void test_shared(void **state)
{
	static const uint32_t both[8] = { 50, 50, 50, 40, 40, 40, 40, 40 };
	static const uint32_t first[8] = { 10, 10, 10, 0, 0, 0, 0, 0 };
	struct fixture *f = *state;
	struct source_set set[2];
	struct ibcc_tuner_root *a = add(f, &set[0], 1, IBCC_CONGESTION_INPUT);
	struct ibcc_tuner_root *b = add(f, &set[1], 2, IBCC_CONGESTION_INPUT);

	for (int i = 0; i < 40; i++) {
		f->root[0].fecn = 30;
		f->root[1].fecn = i % 4 ? 320 : 0;
		pass(f, i % 4 ? both : first);
	}
	assert_int_equal(ibcc_tuner_known_sources(f->tn, f->t, a).n_heavy, 3);
	assert_int_equal(ibcc_tuner_known_sources(f->tn, f->t, b).n_heavy, 8);
	assert_int_equal(ibcc_tuner_known_sources(f->tn, f->t, b).n, 8);
	/* Nothing is lost or counted twice: 30 or 350 came in each pass. */
	for (uint32_t i = 0; i < f->tn->n_endports; i++)
		a->becn[i] = b->becn[i] = 0;
	pass(f, both);
	for (uint32_t i = 0; i < 8; i++)
		assert_in_range(*becn(f, a, i) + *becn(f, b, i) + 0.5, both[i], both[i] + 1);
}

/* A slow receiver among several roots takes all for its own, and all for equally heavy. */
static void test_slow_receiver(void **state)
{
	static const uint32_t b[8] = { 80, 80, 80, 40, 40, 40, 40, 40 };
	struct fixture *f = *state;
	struct source_set set[2];
	struct ibcc_tuner_root *fast = add(f, &set[0], 1, IBCC_CONGESTION_INPUT);
	struct ibcc_tuner_root *slow = add(f, &set[1], 2, IBCC_CONGESTION_OUTPUT);

	f->root[0].fecn = f->root[1].fecn = 220;
	for (int i = 0; i < 50; i++)
		pass(f, b);
	assert_in_range(*becn(f, slow, 0), 319, 321);
	assert_int_equal(ibcc_tuner_known_sources(f->tn, f->t, slow).n_heavy, 8);
	slow->on = false;
	assert_int_equal(ibcc_tuner_known_sources(f->tn, f->t, slow).n_heavy, 6); /* 440 / 76 */
	assert_true(*becn(f, fast, 0) < 200);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_alone),
		TEST(test_few_marks),
		TEST(test_shared),
		TEST(test_slow_receiver),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
