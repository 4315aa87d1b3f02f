/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Error counters of links: each port is asked once in 16 passes, and growth counts between these.
 */
#include "tests/unit/collectors.h"

#define CYCLE 16

/* Requests for PortCounters in n passes of 50 ms. */
static unsigned int asked_in(struct fixture *x, unsigned int n)
{
	unsigned int asked = 0;

	for (unsigned int i = 0; i < n; i++) {
		fake_sleep(x->f, 50 * MS);
		pass(x);
		asked += x->f->n_plain;
	}
	return asked;
}

static struct fake_counters *counters(const struct fixture *x, uint32_t node, unsigned int num)
{
	return &x->f->counters[fabric_port(x->t, node, num)];
}

/* Nodes that report all in PortCountersExtended are asked for errors alone. */
static void test_seldom(void **state)
{
	struct fixture x = setup();
	const struct ibcc_link_errors *e = &sample(&x, LUSTRE_SW1, 5)->errors;
	unsigned int asked = 0;

	(void)state;
	counters(&x, LUSTRE_SW1, 5)->symbol_errors = 100;
	assert_int_equal(asked_in(&x, 2 * CYCLE), 0);
	assert_true(e->t_ns == 0);
	/* A few in each pass, and in 16 each port once. */
	for (unsigned int i = 0; i < CYCLE; i++) {
		unsigned int n = asked_in(&x, 1);

		assert_in_range(n, 0, 3);
		asked += n;
	}
	assert_int_equal(asked, LUSTRE_PORTS);
	assert_true(e->t_ns > 0 && e->dt_ns == 0);
	assert_int_equal(e->v[IBCC_LINK_ERROR_SYMBOL], 100);
	counters(&x, LUSTRE_SW1, 5)->symbol_errors = 160;
	counters(&x, LUSTRE_SW1, 5)->downed = 2;
	counters(&x, LUSTRE_SW1, 5)->discards = 7;
	counters(&x, LUSTRE_SW1, 5)->integrity = 15;
	assert_int_equal(asked_in(&x, CYCLE), LUSTRE_PORTS);
	assert_int_equal(e->grown[IBCC_LINK_ERROR_SYMBOL], 60);
	assert_int_equal(e->grown[IBCC_LINK_ERROR_DOWNED], 2);
	assert_int_equal(e->grown[IBCC_LINK_ERROR_DISCARDS], 7);
	assert_int_equal(e->grown[IBCC_LINK_ERROR_INTEGRITY], 15);
	assert_in_range(e->dt_ns, CYCLE * 50 * MS, CYCLE * 55 * MS);
	/* Between the readings it stands. */
	assert_int_equal(asked_in(&x, CYCLE), LUSTRE_PORTS);
	assert_int_equal(e->grown[IBCC_LINK_ERROR_SYMBOL], 0);
	/* And the other counters are as they were. */
	assert_int_equal(sample(&x, LUSTRE_SW1, 5)->now.width[IBCC_CTR_XMIT_WAIT], 64);
	assert_rates(&x, LUSTRE_PORTS, 1);
	teardown(&x);
}

/* Where PortCounters is read anyway, errors cost nothing. */
static void test_beside(void **state)
{
	struct fixture x = setup();
	const struct ibcc_link_errors *e = &sample(&x, LUSTRE_SLOW, 1)->errors;

	(void)state;
	for (uint32_t i = 0; i < x.t->n_endports; i++)
		x.f->node[i].pma_cap2 = 0;
	counters(&x, LUSTRE_SLOW, 1)->discards = 5;
	assert_int_equal(asked_in(&x, 3 * CYCLE), 3 * CYCLE * LUSTRE_PORTS);
	counters(&x, LUSTRE_SLOW, 1)->discards = 50;
	assert_int_equal(asked_in(&x, CYCLE), CYCLE * LUSTRE_PORTS);
	assert_int_equal(e->grown[IBCC_LINK_ERROR_DISCARDS], 45);
	assert_in_range(e->dt_ns, CYCLE * 50 * MS, CYCLE * 55 * MS);
	teardown(&x);
}

/* A new collector that goes on with a topology goes on with the turns, too. */
static void test_follow(void **state)
{
	struct fixture x = setup();
	struct ibcc_collector *next = ibcc_collector_new();

	(void)state;
	assert_non_null(next);
	assert_int_equal(asked_in(&x, 2 * CYCLE), 0);
	assert_int_equal(ibcc_collector_follow(next, x.t, x.c, x.t), 0);
	ibcc_collector_free(x.c);
	x.c = next;
	assert_int_equal(asked_in(&x, CYCLE), LUSTRE_PORTS);
	teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_seldom),
		cmocka_unit_test(test_beside),
		cmocka_unit_test(test_follow),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
