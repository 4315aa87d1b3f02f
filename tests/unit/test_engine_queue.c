/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The event queue against sorting, the random numbers against their distribution. */
#include <stdlib.h>
#include <string.h>

#include <ibcc/rng.h>

#include "lib/engine/evq.h"
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
			if (in < N && (ibcc_rng_below(&rng, 3) || in == out)) {
				uint64_t at = e->now_ps;

				switch (ibcc_rng_below(&rng, 4)) {
				case 0: break;
				case 1: at += ibcc_rng_below(&rng, 1000); break;
				case 2: at += ibcc_rng_next(&rng) % span; break;
				case 3: at = (at / 1000 + 1) * 1000; break;
				}
				want[in] = (struct ref){ at, in };
				evq_push(e, at, EV_FREE, in++);
				continue;
			}
			assert_true(evq_first(&e->evq) == e->evq.due[LANE_CALENDAR]);
			assert_true(e->evq.due[LANE_CALENDAR] >> TAG_BITS >= e->now_ps &&
				    e->evq.due[LANE_CALENDAR] != NEVER);
			e->now_ps = e->evq.due[LANE_CALENDAR] >> TAG_BITS;
			got[out++] = (struct ref){ e->now_ps, calendar_pop(e) & CELL_INDEX_MASK };
		}
		assert_true(evq_first(&e->evq) == NEVER);
		qsort(want, N, sizeof(*want), ref_cmp);
		for (uint32_t i = 0; i < N; i++) {
			assert_true(got[i].t == want[i].t);
			assert_int_equal(got[i].index, want[i].index);
		}
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

static int count_event(void *arg, uint64_t t, enum ibcc_fab_event kind, uint32_t *index)
{
	(void)t;
	(void)kind;
	(void)index;
	++*(uint32_t *)arg;
	return 0;
}

/* Lanes with rings and without give the same events, each at its time, in order. */
static void test_lanes(void **state)
{
	static const uint64_t delay[] = { 700, 300, 300, 5000 };
	static struct ref want[N], got[N];
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	for (unsigned int run = 0; run < 16; run++) {
		struct ibcc_engine *e = engine_new(t, &m, 1);
		uint64_t rng = run;
		uint32_t lane[4] = { 0 }, in = 0, out = 0, left = 0;

		for (unsigned int i = 0; i < 4; i++)
			if (run >> i & 1)
				lane[i] = (uint32_t)ibcc_fab_lane_new(&e->evq, EV_DELIVER);
		assert_int_equal(ibcc_fab_reserve(e, N, 0), 0);
		while (out < N) {
			uint64_t due = evq_first(&e->evq);
			uint32_t i;

			if (in < N && (ibcc_rng_below(&rng, 3) || in == out)) {
				i = ibcc_rng_below(&rng, 4);
				want[in] = (struct ref){ e->now_ps + delay[i], in };
				lane_push(e, &e->evq.lane[lane[i]], EV_DELIVER,
					  (struct coming){ due_at(want[in].t, lane[i]), in,
							   NO_CREDIT });
				in++;
				continue;
			}
			assert_true(due != NEVER && due >> TAG_BITS >= e->now_ps);
			e->now_ps = due >> TAG_BITS;
			i = lane_of(due & (MAX_TAGS - 1));
			i = i ? lane_pop(&e->evq, i) : calendar_pop(e) & CELL_INDEX_MASK;
			got[out++] = (struct ref){ e->now_ps, i };
		}
		assert_true(evq_first(&e->evq) == NEVER);
		assert_int_equal(ibcc_fab_evq_each(e, count_event, &left), 0);
		assert_int_equal(left, 0);
		qsort(want, N, sizeof(*want), ref_cmp);
		for (uint32_t i = 0; i < N; i++)
			assert_true(got[i].t == want[i].t);
		qsort(got, N, sizeof(*got), ref_cmp);
		for (uint32_t i = 0; i < N; i++)
			assert_int_equal(got[i].index, want[i].index);
		ibcc_engine_free(e);
	}
	ibcc_topo_free(t);
}

/* No more lanes than there is room for; the others' events go to the calendar, and the credits
 * beside them as events of their own.
 */
static void test_lanes_end(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;
	struct ibcc_engine *e;
	uint32_t n = 0, left = 0;
	int lane;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	while ((lane = ibcc_fab_lane_new(&e->evq, EV_FREE)) != LANE_CALENDAR) {
		assert_in_range(lane, FIRST_LANE, MAX_LANES - 1);
		assert_true(++n < MAX_LANES);
	}
	lane_push(e, &e->evq.lane[LANE_CALENDAR], EV_FREE,
		  (struct coming){ due_at(100, LANE_CALENDAR), 1, 2 });
	assert_int_equal(ibcc_fab_evq_each(e, count_event, &left), 0);
	assert_int_equal(left, 2);
	e->now_ps = 100;
	assert_int_equal(evq_first(&e->evq), 100 << TAG_BITS | TAG_OF_FREE);
	assert_int_equal(calendar_pop(e), event_arg(EV_FREE, 1));
	assert_int_equal(evq_first(&e->evq), (100 + e->credit_ps) << TAG_BITS);
	assert_int_equal(calendar_pop(e), event_arg(EV_CREDIT, 2));
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* Of ports that are free in turn, the one that has something to send is looked at, and an earlier
 * one that gets something: also where places in the ring, and what a port keeps of them, go around.
 */
static void test_woken_ports(void **state)
{
	static const uint32_t bases[] = { 0, (1u << 28) - 5, (1u << 31) - 5, UINT32_MAX - 5 };
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	for (size_t i = 0; i < sizeof(bases) / sizeof(bases[0]); i++) {
		struct ibcc_engine *e = engine_new(t, &m, 1);
		uint32_t lane = (uint32_t)ibcc_fab_lane_new(&e->evq, EV_FREE);
		struct lane *l = &e->evq.lane[lane];

		l->head = l->tail = l->credit_at = bases[i];
		l->full = bases[i] + l->mask + 1;
		for (uint32_t port = 1; port <= 10; port++) {
			port_of(e, port)->queued = port == 7;
			free_push(e, port_of(e, port), l,
				  (struct coming){ due_at(100 * port, lane) | TAG_OF_FREE, port,
						   NO_CREDIT });
		}
		assert_int_equal(e->evq.due[lane] >> TAG_BITS, 700);
		free_wake(e, port_of(e, 9));
		assert_int_equal(e->evq.due[lane] >> TAG_BITS, 700);
		free_wake(e, port_of(e, 3));
		assert_int_equal(e->evq.due[lane] >> TAG_BITS, 300);
		assert_int_equal(free_pop(&e->evq, lane), 3);
		assert_int_equal(free_pop(&e->evq, lane), 7);
		assert_int_equal(free_pop(&e->evq, lane), 9);
		assert_true(e->evq.due[lane] == NEVER);
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
		double u = (double)(ibcc_rng_next(&a) | 1) / 18446744073709551616.0;
		double x = (double)ibcc_rng_exponential(e->exp_table, &b, mean);

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
		cmocka_unit_test(test_order),       cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_lanes_end),   cmocka_unit_test(test_woken_ports),
		cmocka_unit_test(test_exponential),
	};

	return cmocka_run_group_tests_name("engine_queue", tests, NULL, NULL);
}
