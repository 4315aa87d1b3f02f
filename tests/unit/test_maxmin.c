/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include <ibcc/maxmin.h>

#define NEAR(a, b) assert_true(fabs((a) - (double)(b)) <= 1e-6 * fmax(1, fabs((double)(b))))

/* Bertsekas and Gallager's pattern: a long flow against one on each of two links. */
static void parking_lot(void **state)
{
	const double cap[] = { 1, 2 };
	const struct ibcc_maxmin_use a[] = { { 0, 1 }, { 1, 1 } }, b[] = { { 0, 1 } },
				     c[] = { { 1, 1 } };
	struct ibcc_maxmin_flow f[] = { { a, 2, INFINITY, 0 },
					{ b, 1, INFINITY, 0 },
					{ c, 1, INFINITY, 0 } };

	(void)state;
	assert_int_equal(ibcc_maxmin_solve(cap, 2, f, 3), 0);
	NEAR(f[0].rate, 0.5);
	NEAR(f[1].rate, 0.5);
	NEAR(f[2].rate, 1.5);
}

/* LLNL's fabric (Huang and Chu 2012): a link of 4000 MB/s, a sink of 1870 for three of four flows.
 * The sink's flows get 623.3 each, the victim what is left of the link but no more than its own.
 */
static void lustre(void **state)
{
	const double cap[] = { 4000, 1870, 4000 };
	const struct ibcc_maxmin_use hot[] = { { 0, 1 }, { 1, 1 } },
				     victim[] = { { 0, 1 }, { 2, 1 } };
	struct ibcc_maxmin_flow f[] = { { hot, 2, INFINITY, 0 },
					{ hot, 2, INFINITY, 0 },
					{ hot, 2, INFINITY, 0 },
					{ victim, 2, INFINITY, 0 } };

	(void)state;
	assert_int_equal(ibcc_maxmin_solve(cap, 3, f, 4), 0);
	NEAR(f[0].rate, 1870.0 / 3);
	NEAR(f[2].rate, 1870.0 / 3);
	NEAR(f[3].rate, 2130);
}

static void demands_and_shares(void **state)
{
	const double cap[] = { 10, 10 };
	const struct ibcc_maxmin_use whole[] = { { 0, 1 } }, half[] = { { 0, 0.5 }, { 1, 0.5 } };
	struct ibcc_maxmin_flow f[] = { { whole, 1, 2, 0 },
					{ whole, 1, INFINITY, 0 },
					{ half, 2, INFINITY, 0 } };

	(void)state;
	assert_int_equal(ibcc_maxmin_solve(cap, 2, f, 3), 0);
	NEAR(f[0].rate, 2);
	/* 2 + r + r / 2 = 10 */
	NEAR(f[1].rate, 16.0 / 3);
	NEAR(f[2].rate, 16.0 / 3);
}

static void refuses_nonsense(void **state)
{
	const double cap[] = { 1 }, negative[] = { -1 };
	const struct ibcc_maxmin_use ok[] = { { 0, 1 } }, far[] = { { 1, 1 } },
				     none[] = { { 0, 0 } };
	struct ibcc_maxmin_flow f = { ok, 1, INFINITY, 0 };

	(void)state;
	assert_int_equal(ibcc_maxmin_solve(negative, 1, &f, 1), -EINVAL);
	f.use = far;
	assert_int_equal(ibcc_maxmin_solve(cap, 1, &f, 1), -EINVAL);
	f.use = none;
	assert_int_equal(ibcc_maxmin_solve(cap, 1, &f, 1), -EINVAL);
	f.n_uses = 0;
	assert_int_equal(ibcc_maxmin_solve(cap, 1, &f, 1), -EINVAL);
	f.demand = 3;
	assert_int_equal(ibcc_maxmin_solve(cap, 1, &f, 1), 0);
	NEAR(f.rate, 3);
}

/* A share that vanishes beside another one in floating point: when the other flow has its rate,
 * what is left of the shares' sum is rounding error, by which nothing may be divided.
 */
static void tiny_shares(void **state)
{
	static const double tiny[] = { 1e-12, 1e-15, 1e-16, 1e-17, 1e-30, 1e-200 };

	(void)state;
	for (size_t i = 0; i < sizeof(tiny) / sizeof(*tiny); i++) {
		const double cap[] = { 10, 4 };
		const struct ibcc_maxmin_use big[] = { { 0, 1 } },
					     both[] = { { 0, tiny[i] }, { 1, 0.5 } };
		struct ibcc_maxmin_flow f[] = { { big, 1, 3, 0 },
						{ big, 1, INFINITY, 0 },
						{ both, 2, INFINITY, 0 } };

		assert_int_equal(ibcc_maxmin_solve(cap, 2, f, 3), 0);
		NEAR(f[0].rate, 3);
		NEAR(f[1].rate, 7);
		NEAR(f[2].rate, 7); /* the first link is full at 7, and it is on it */
	}
	for (size_t i = 0; i < sizeof(tiny) / sizeof(*tiny); i++) {
		const double cap[] = { 10 };
		const struct ibcc_maxmin_use big[] = { { 0, 1 } }, little[] = { { 0, tiny[i] } };
		struct ibcc_maxmin_flow f[] = { { little, 1, INFINITY, 0 }, { big, 1, 3, 0 } };

		assert_int_equal(ibcc_maxmin_solve(cap, 1, f, 2), 0);
		NEAR(f[0].rate * tiny[i], 7);
		NEAR(f[1].rate, 3);
	}
}

static uint64_t next(uint64_t *s)
{
	*s = *s * 6364136223846793005u + 1442695040888963407u;
	return *s >> 33;
}

/* The definition itself, on random networks: nothing overfull, and each flow below its demand has
 * a full resource where none gets more than it.
 */
static void definition_holds(void **state)
{
	enum { R = 8, F = 20 };
	uint64_t seed = 20061106, s = seed;
	int round, i, k;

	(void)state;
	print_message("seed %llu\n", (unsigned long long)seed);
	for (round = 0; round < 500; round++) {
		struct ibcc_maxmin_use use[F][3];
		struct ibcc_maxmin_flow f[F];
		double cap[R], used[R] = { 0 }, most[R] = { 0 };

		for (i = 0; i < R; i++)
			cap[i] = (double)(next(&s) % 1000) / 10;
		for (i = 0; i < F; i++) {
			f[i] = (struct ibcc_maxmin_flow){ use[i], 3, INFINITY, 0 };
			for (k = 0; k < 3; k++)
				use[i][k] = (struct ibcc_maxmin_use){
					(uint32_t)((i + k * (1 + round % 2)) % R),
					(double)(1 + next(&s) % 4) / 4
				};
			if (next(&s) % 3 == 0)
				f[i].demand = (double)(next(&s) % 100) / 5;
		}
		assert_int_equal(ibcc_maxmin_solve(cap, R, f, F), 0);
		for (i = 0; i < F; i++)
			for (k = 0; k < 3; k++) {
				used[use[i][k].resource] += f[i].rate * use[i][k].share;
				most[use[i][k].resource] =
					fmax(most[use[i][k].resource], f[i].rate);
			}
		for (i = 0; i < R; i++)
			assert_true(used[i] <= cap[i] * (1 + 1e-6) + 1e-6);
		for (i = 0; i < F; i++) {
			int bottlenecks = 0;

			assert_true(f[i].rate <= f[i].demand + 1e-6);
			for (k = 0; k < 3; k++) {
				uint32_t r = use[i][k].resource;

				bottlenecks += used[r] >= cap[r] * (1 - 1e-6) - 1e-6 &&
					       most[r] <= f[i].rate * (1 + 1e-6) + 1e-6;
			}
			assert_true(bottlenecks || f[i].rate >= f[i].demand - 1e-6);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parking_lot),        cmocka_unit_test(lustre),
		cmocka_unit_test(demands_and_shares), cmocka_unit_test(refuses_nonsense),
		cmocka_unit_test(tiny_shares),        cmocka_unit_test(definition_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
