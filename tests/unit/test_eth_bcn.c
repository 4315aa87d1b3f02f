/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* BCN by arithmetic: feedback, rates, when messages come and what limiters do. */
#include "ether.h"
#include "lib/engine/eth.h"
#include "lib/engine/pool.h"

#define QEQ 104.0

/* The gains of Ding and Kwan (2007): Ru = 1 Mb/s, line rate 10 Gb/s. */
static const struct ibcc_bcn bcn = { .w = 2, .gi = 1.923, .gd = 0.9615e-3, .ru_mbps = 1 };

static void test_feedback(void **state)
{
	(void)state;
	assert_near(ibcc_bcn_feedback(&bcn, 120, 110, QEQ), -16 - 2 * 10, 1e-9);
	/* Above the equilibrium, but it drains. */
	assert_near(ibcc_bcn_feedback(&bcn, 120, 150, QEQ), -16 + 2 * 30, 1e-9);
	assert_near(ibcc_bcn_feedback(&bcn, 50, 50, QEQ), 54, 1e-9);
	assert_true(ibcc_bcn_feedback(&bcn, 104, 104, QEQ) == 0);
	/* Limits: +-Qeq and +-2 Qeq. */
	assert_near(ibcc_bcn_feedback(&bcn, 1000, 0, QEQ), -104 - 2 * 208, 1e-9);
	assert_near(ibcc_bcn_feedback(&bcn, 0, 1000, QEQ), 104 + 2 * 208, 1e-9);
	assert_near(ibcc_bcn_feedback(&bcn, 300, 200, QEQ), -104 - 2 * 100, 1e-9);
}

/* The greatest feedback, (1 + 2 W) Qeq = 520, raises by a tenth of the line rate and halves. */
static void test_rate(void **state)
{
	(void)state;
	assert_near(ibcc_bcn_rate(&bcn, 1000, 520), 2000, 1e-4);
	assert_near(ibcc_bcn_rate(&bcn, 1000, 52), 1100, 1e-4);
	assert_near(ibcc_bcn_rate(&bcn, 1000, -520), 500, 1e-4);
	assert_near(ibcc_bcn_rate(&bcn, 8000, -104), 7200, 1e-4);
	/* Ru is the lowest: with the greatest gain published, 4 times this one, 1 - 2 < 0. */
	assert_true(ibcc_bcn_rate(&bcn, 1.5, -520) == 1);
	assert_true(ibcc_bcn_rate(&(struct ibcc_bcn){ .gd = 3.846e-3, .ru_mbps = 1 }, 9000, -520) ==
		    1);
}

/* A sample each tenth packet. The tenth comes at 11.8 us, when one has gone out to the slow link:
 * q = 9, which rose by 9. Qeq = 2: Qoff = -7, limited to -2, Qdelta = 9, limited to 4;
 * Fb = -2 - 2 * 4. A gain of 0.02 leaves 80 % of the line rate, after the delay of 3 us.
 */
static void sampled(struct ether *x)
{
	ether_model(x, 1000);
	x->model.bcn = (struct ibcc_bcn){ .enabled = true,
					  .sample_bytes = 15000,
					  .equilibrium_bytes = 3000,
					  .w = 2,
					  .gd = 0.02,
					  .ru_mbps = 1,
					  .delay_ps = 3 * US };
}

static void test_sample(void **state)
{
	struct ibcc_engine_port p;
	struct ether x;
	uint32_t f;

	(void)state;
	sampled(&x);
	ether_start(&x);
	f = ether_flow(&x, ETHER_A, ETHER_C);
	engine_run(x.e, 118 * US / 10 - 1);
	assert_int_equal(ether_port(&x, ETHER_SWITCH, 3).bcn_negative, 0);
	engine_run(x.e, 118 * US / 10);
	p = ether_port(&x, ETHER_SWITCH, 3);
	assert_int_equal(p.bcn_negative, 1);
	assert_int_equal(p.backlog_bytes, 9 * ETHER_PACKET);
	engine_run(x.e, 148 * US / 10 - 1);
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 0);
	engine_run(x.e, 148 * US / 10);
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 8000);
	ether_free(&x);
}

/* Only one sample: 80 % of the line rate from then on. The thirteenth packet began at 14.4 us; it
 * is the fourteenth, at 15.6 us, that the limiter counts from: one each 1.5 us.
 */
static void test_limiter(void **state)
{
	struct ether x;
	uint32_t f;

	(void)state;
	sampled(&x);
	x.model.buffer_bytes = 4000000;
	ether_start(&x);
	f = ether_flow(&x, ETHER_A, ETHER_C);
	engine_run(x.e, 148 * US / 10);
	/* Nothing is sampled while nothing more comes than this. */
	x.e->model.bcn.sample_bytes = 100000000;
	engine_run(x.e, 156 * US / 10);
	assert_int_equal(engine_flow_read(x.e, f).sent_pkts, 14);
	engine_run(x.e, 171 * US / 10 - 1);
	assert_int_equal(engine_flow_read(x.e, f).sent_pkts, 14);
	engine_run(x.e, 171 * US / 10);
	assert_int_equal(engine_flow_read(x.e, f).sent_pkts, 15);
	engine_run(x.e, 1656 * US / 10);
	assert_int_equal(engine_flow_read(x.e, f).sent_pkts, 14 + 100);
	ether_free(&x);
}

static void notify(struct ether *x, uint32_t point, double feedback)
{
	uint32_t pkt;

	assert_int_equal(ibcc_fab_reserve(x->e, 0, 4), 0);
	pkt = pkt_take(x->e);
	x->e->pkt[pkt] = (struct pkt){ .flags = PKT_CTRL, .from = point };
	ibcc_bcn_message(&x->e->pkt[pkt], feedback);
	ibcc_bcn_notify(x->e, pkt);
}

/* A limiter follows, upwards, the point that lowered it last, and ends at the line rate. */
static void test_points(void **state)
{
	struct ether x;
	uint32_t f;

	(void)state;
	sampled(&x);
	x.model.bcn.gi = 100;
	ether_start(&x);
	f = ether_flow(&x, ETHER_A, ETHER_C);
	notify(&x, 7, 10); /* nothing to raise */
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 0);
	notify(&x, 7, -10);
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 8000);
	notify(&x, 8, 10); /* another point's */
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 8000);
	notify(&x, 7, 5);
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 8500);
	notify(&x, 8, -20); /* now it is that one's */
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 5100);
	notify(&x, 7, 10);
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 5100);
	notify(&x, 8, 10);
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 6100);
	notify(&x, 8, 40);
	assert_int_equal(engine_flow_read(x.e, f).limit_mbps, 0);
	ether_free(&x);
}

/* The loop closes: the source is held to what the slow link takes, without PAUSE, and the link
 * stays busy.
 */
static void test_loop(void **state)
{
	struct ibcc_engine_port p, later;
	struct ibcc_engine_flow f;
	uint64_t got;
	struct ether x;

	(void)state;
	ether_model(&x, 1000);
	x.model.bcn = bcn;
	x.model.bcn.enabled = true;
	x.model.bcn.sample_bytes = 75000;
	x.model.bcn.equilibrium_bytes = 156000;
	x.model.bcn.delay_ps = 8 * US;
	ether_start(&x);
	ether_flow(&x, ETHER_A, ETHER_C);
	engine_run(x.e, 100000 * US);
	p = ether_port(&x, ETHER_SWITCH, 1);
	got = engine_flow_read(x.e, 0).received_pkts;
	engine_run(x.e, 500000 * US);
	f = engine_flow_read(x.e, 0);
	later = ether_port(&x, ETHER_SWITCH, 1);
	print_message("limit %u Mb/s, PAUSE %llu then %llu times\n", f.limit_mbps,
		      (unsigned long long)p.pauses_sent, (unsigned long long)later.pauses_sent);
	assert_near((double)(f.received_pkts - got), 400000.0 / 12, 0.01);
	assert_int_equal(later.pauses_sent, p.pauses_sent);
	assert_near(f.limit_mbps, 1000, 0.5);
	assert_true(ether_port(&x, ETHER_SWITCH, 3).bcn_positive > 0);
	assert_near((double)later.held_bytes, 156000, 0.5);
	ether_free(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_feedback), cmocka_unit_test(test_rate),
		cmocka_unit_test(test_sample),   cmocka_unit_test(test_limiter),
		cmocka_unit_test(test_points),   cmocka_unit_test(test_loop),
	};

	return cmocka_run_group_tests_name("eth_bcn", tests, NULL, NULL);
}
