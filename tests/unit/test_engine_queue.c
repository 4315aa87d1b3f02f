/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The event queue against sorting, the random numbers against their distribution. */
#include <stdlib.h>
#include <string.h>

#include "lib/fabric/evq.h"
#include "lib/fabric/rng.h"
#include "tests/unit/engines.h"

#define N 4000

struct ref {
	uint64_t t;
	uint32_t index; /* by order of insertion */
};

static int ref_cmp(const void *a, const void *b)
{
	const struct ref *x = a, *y = b;

	if (x->t != y->t)
		return x->t < y->t ? -1 : 1;
	return x->index < y->index ? -1 : x->index > y->index;
}

/* Near, far and equal times, put in while others are taken out: the order is by time, then by
 * insertion.
 */
static void test_order(void **state)
{
	static struct ref want[N], got[N];
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	for (uint64_t seed = 1; seed <= 20; seed++) {
		struct ibcc_engine *e = engine_new(t, &m, seed);
		uint64_t rng = seed, span = 1ull << (seed * 2);
		uint32_t in = 0, out = 0;

		print_message("seed %u\n", (unsigned int)seed);
		assert_int_equal(ibcc_fab_reserve(e, N, 0), 0);
		while (out < N) {
			uint32_t c;

			if (in < N && (rng_below(&rng, 3) || in == out)) {
				uint64_t at = e->now_ps;

				switch (rng_below(&rng, 4)) {
				case 0: break;
				case 1: at += rng_below(&rng, 1000); break;
				case 2: at += rng_next(&rng) % span; break;
				case 3: at = (at / 1000 + 1) * 1000; break;
				}
				want[in] = (struct ref){ at, in };
				evq_push(e, at, EV_WAKE, in++);
				continue;
			}
			/* Looking without taking must not disturb. */
			if (!rng_below(&rng, 4) && e->now_ps)
				assert_true(evq_pop(e, e->now_ps - 1) == NONE);
			c = evq_pop(e, NEVER - 1);
			assert_true(c != NONE);
			got[out++] = (struct ref){ e->cell[c].t, e->cell[c].arg & CELL_INDEX_MASK };
			assert_true(e->cell[c].t >= e->now_ps);
			e->now_ps = e->cell[c].t;
			cell_give(e, c);
		}
		assert_true(evq_pop(e, NEVER - 1) == NONE);
		qsort(want, N, sizeof(*want), ref_cmp);
		for (uint32_t i = 0; i < N; i++) {
			assert_true(got[i].t == want[i].t);
			assert_int_equal(got[i].index, want[i].index);
		}
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

static void test_exponential(void **state)
{
	const uint64_t mean = 518500;
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	uint64_t a = 42, b = 42;
	double sum = 0, squares = 0;
	int n = 200000;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	for (int i = 0; i < n; i++) {
		/* The same number by the library's logarithm. */
		double u = (double)(rng_next(&a) | 1) / 18446744073709551616.0;
		double x = (double)rng_exponential(e->exp_table, &b, mean);

		assert_true(fabs(x + log(u) * (double)mean) < 2e-5 * (double)mean + 1);
		sum += x;
		squares += x * x;
	}
	assert_near(sum / n, (double)mean, 0.01);
	assert_near(squares / n, 2.0 * (double)mean * (double)mean, 0.03);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_exponential),
	};

	return cmocka_run_group_tests_name("engine_queue", tests, NULL, NULL);
}
