/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the tuner counts of the pairs that switches logged, pass by pass. Expected values are sums
 * worked out by hand: in each pass a twentieth of what was counted fades, or an eightieth for each
 * packet that is new, if that is less.
 */
#include "told.h"

/* What was logged in a pass: roots in the order of their ports. */
struct logged {
	struct ibcc_estimate e;
	struct ibcc_pair pair[32];
};

static void log_pair(const struct fixture *f, struct logged *l, const struct ibcc_tuner_root *r,
		     uint32_t src, uint32_t dst, uint32_t packets)
{
	l->pair[l->e.n_pairs++] = (struct ibcc_pair){
		.port = r->port,
		.src = fabric_port(f->t, src, 1),
		.dlid = traffic_lid(&f->tr, dst),
		.packets = packets,
	};
	l->e.pair = l->pair;
}

static void pass(struct fixture *f, const struct logged *l)
{
	static const struct logged nothing;

	traffic_pass(&f->tr);
	assert_int_equal(ibcc_tuner_count_pairs(f->tn, f->t, &f->tr.s, l ? &l->e : &nothing.e), 0);
}

static void passes(struct fixture *f, const struct logged *l, unsigned int n)
{
	while (n--)
		pass(f, l);
}

static struct traffic_port *hot(struct fixture *f)
{
	return traffic_at(&f->tr, 11, 1);
}

/* 10 * (1 + .95 + .9025) = 28.525 and 4 * 2.8525 = 11.41. */
static void test_fades(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, r, 0, 6, 10);
	log_pair(f, &l, r, 1, 6, 4);
	passes(f, &l, 3);
	assert_int_equal(r->pairs.n, 2);
	assert_int_equal(r->pairs.pair[1].src, fabric_port(f->t, 1, 1));
	assert_int_equal(r->pairs.pair[1].dlid, traffic_lid(&f->tr, 6));
	assert_about(r->pairs.pair[0].logged, 28.525);
	assert_about(r->pairs.pair[1].logged, 11.41);
	assert_about(r->pairs.samples, 39.935);
	/* Without BECNs marks are what was logged. */
	assert_about(r->pairs.pair[1].marks, 11.41);
	assert_about(r->pairs.marks, 39.935);
}

/* Three packets in a pass: 3 / 80 fade. */
static void test_fades_slowly(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, r, 0, 6, 2);
	log_pair(f, &l, r, 1, 6, 1);
	hot(f)->mbps = 5000;
	passes(f, &l, 3);
	assert_about(r->pairs.pair[0].logged, 2 * (1 + .9625 + .9625 * .9625));
	passes(f, &l, 400);
	assert_about(r->pairs.samples, 80 * (1 - pow(.9625, 403)));
	/* What was sent fades as ever. */
	assert_about(r->pairs.passes, (1 - pow(.95, 403)) / .05);
}

/* Nothing fades while nothing is new, for eight passes. Then ln .05 / ln .95 = 58.4: one packet is
 * remembered for 58 more, those around it for longer.
 */
static void test_forgets_pairs(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, r, 0, 6, 10);
	log_pair(f, &l, r, 1, 6, 1);
	log_pair(f, &l, r, 2, 6, 10);
	pass(f, &l);
	passes(f, NULL, 8);
	assert_about(r->pairs.samples, 21);
	passes(f, NULL, 58);
	assert_int_equal(r->pairs.n, 3);
	pass(f, NULL);
	assert_int_equal(r->pairs.n, 2);
	assert_int_equal(r->pairs.pair[0].src, fabric_port(f->t, 0, 1));
	assert_int_equal(r->pairs.pair[1].src, fabric_port(f->t, 2, 1));
	assert_about(r->pairs.samples, 20 * pow(.95, 59));
}

/* More pairs than there was room for at first. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct logged l = { 0 };

	for (uint32_t i = 0; i < 24; i++)
		log_pair(f, &l, r, i % 8, i / 8, i + 1);
	pass(f, &l);
	assert_int_equal(r->pairs.n, 24);
	for (uint32_t i = 0; i < 24; i++)
		assert_about(r->pairs.pair[i].logged, i + 1);
	assert_about(r->pairs.samples, 300);
}

/* A root whose sources are not held as they will be. */
enum stage { DRAINED, PROBED, LOST, NOT_IN_FORCE, OFF, N_STAGES };

static void enter(struct ibcc_tuner_root *r, enum stage stage)
{
	switch (stage) {
	case DRAINED: r->drain = 1; break;
	case PROBED: r->probe = 1; break;
	case LOST: r->lost = true; break;
	case NOT_IN_FORCE: r->in_force = false; break;
	case OFF: r->on = false; break;
	case N_STAGES: break;
	}
}

static void leave(struct ibcc_tuner_root *r)
{
	r->drain = 0;
	r->probe = 0;
	r->lost = false;
	r->on = r->in_force = true;
}

/* What was counted is void then, and nothing is counted, of this root alone. */
static void test_forgets_roots(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *r = slow_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, full, 0, 2, 3);
	log_pair(f, &l, r, 0, 6, 10);
	hot(f)->mbps = 5000;
	traffic_at(&f->tr, 0, 1)->becn = 50;
	for (enum stage s = DRAINED; s < N_STAGES; s++) {
		struct ibcc_tuner_pairs *p = &r->pairs;

		pass(f, &l);
		r->told.on = true;
		assert_true(p->n && p->samples > 0 && p->marks > 0 && p->passes > 0);
		assert_true(p->becn[endport_of(f, 0)] > 0);
		enter(r, s);
		pass(f, &l);
		assert_false(r->told.on);
		assert_int_equal(p->n, 0);
		assert_true(p->samples == 0 && p->marks == 0 && p->passes == 0);
		assert_true(ibcc_tuner_carried_mbps(p) == 0);
		assert_true(p->becn[endport_of(f, 0)] == 0);
		leave(r);
	}
	assert_about(full->pairs.pair[0].logged, 80 * (1 - pow(.9625, 2 * N_STAGES)));
}

/* Adapter 0 sends through one root alone: all its BECNs are from there, three of four for the pair
 * that has six of its eight packets. Chance: 1 / 80, and of the parts (1 - 6 / 8) / 6.
 */
static void test_becns(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, r, 0, 2, 6);
	log_pair(f, &l, r, 0, 4, 2);
	log_pair(f, &l, r, 1, 2, 5);
	traffic_at(&f->tr, 0, 1)->becn = 80;
	traffic_at(&f->tr, 1, 1)->becn = 30;
	pass(f, &l);
	assert_about(r->pairs.pair[0].marks, 60);
	assert_about(r->pairs.pair[1].marks, 20);
	assert_about(r->pairs.pair[2].marks, 30);
	assert_about(r->pairs.marks, 110);
	assert_about(r->pairs.pair[0].chance, 1 / 80. + .25 / 6);
	assert_about(r->pairs.pair[1].chance, 1 / 80. + .75 / 2);
	assert_about(r->pairs.pair[2].chance, 1 / 30.);
	/* They fade as packets do. */
	traffic_at(&f->tr, 0, 1)->becn = 0;
	pass(f, &l);
	assert_about(r->pairs.pair[0].marks, 57);
	assert_about(r->pairs.pair[2].marks, 30 * .95 + 30);
}

/* Adapter 1 was logged at both roots: whose BECNs it got is not known. At the first root adapter
 * 0's 100 BECNs for 10 packets tell that a packet stands for 10; at the second nothing tells.
 */
static void test_becns_of_two(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, full, 0, 2, 10);
	log_pair(f, &l, full, 1, 2, 5);
	log_pair(f, &l, slow, 1, 6, 4);
	traffic_at(&f->tr, 0, 1)->becn = 100;
	traffic_at(&f->tr, 1, 1)->becn = 300;
	pass(f, &l);
	assert_about(full->pairs.pair[0].marks, 100);
	assert_about(full->pairs.pair[1].marks, 50);
	assert_about(full->pairs.marks, 150);
	assert_about(full->pairs.pair[0].chance, .01);
	assert_about(full->pairs.pair[1].chance, .2);
	assert_about(slow->pairs.pair[0].marks, 4);
	assert_about(slow->pairs.pair[0].chance, .25);
}

/* Less than a packet at another root counts for none. */
static void test_becns_of_one_again(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, full, 1, 2, 5);
	log_pair(f, &l, slow, 0, 6, 4);
	log_pair(f, &l, slow, 1, 6, 1);
	traffic_at(&f->tr, 1, 1)->becn = 300;
	pass(f, &l);
	assert_about(full->pairs.pair[0].marks, 5);
	l.e.n_pairs = 2;
	pass(f, &l); /* 300 + 285, and .95 packets elsewhere */
	assert_about(full->pairs.pair[0].marks, 585);
}

/* Adapter 0 contributes to the slow root, too, of which nothing is learned: its BECNs may be from
 * there while that one is on. Adapter 1's are 30 for five packets: six for each of the former's.
 */
static void test_becns_of_unlearned(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, full, 0, 2, 5);
	log_pair(f, &l, full, 1, 2, 5);
	traffic_at(&f->tr, 0, 1)->becn = 300;
	traffic_at(&f->tr, 1, 1)->becn = 30;
	slow->member[endport_of(f, 0)] = true;
	for (enum stage s = DRAINED; s < N_STAGES; s++) {
		double n = (1 - pow(.95, s + 1)) / .05; /* passes, as they fade */

		enter(slow, s);
		pass(f, &l);
		leave(slow);
		assert_about(full->pairs.pair[0].marks, s == OFF ? 300 : 30 * n);
		assert_about(full->pairs.pair[1].marks, 30 * n);
	}
	pass(f, &l); /* is learned now, and was not logged there */
	assert_about(full->pairs.pair[0].marks, 300 * .95 + 300);
}

/* An adapter that is logged but gets no BECNs, or does not count them. */
static void test_no_becns(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, r, 0, 2, 10);
	log_pair(f, &l, r, 1, 2, 4);
	traffic_at(&f->tr, 0, 1)->becn = 30;
	traffic_at(&f->tr, 1, 1)->silent = true;
	pass(f, &l);
	assert_about(r->pairs.pair[0].marks, 30);
	assert_about(r->pairs.pair[1].marks, 12); /* 4 packets that stand for 3 each */
	assert_about(r->pairs.pair[1].chance, .25);
}

/* It takes what it took when it was decided on, until its port waits for more than a fifth of the
 * time: then a tenth of the difference in each pass, 5900 and 5810 Mb/s.
 */
static void test_capacity_by_waiting(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);

	*hot(f) = (struct traffic_port){ .mbps = 5000, .wait_permille = 200 };
	passes(f, NULL, 20);
	assert_about(r->pairs.capacity_mbps, 6000);
	assert_about(ibcc_tuner_carried_mbps(&r->pairs), 5000);
	hot(f)->wait_permille = 201;
	pass(f, NULL);
	assert_about(r->pairs.capacity_mbps, 5900);
	pass(f, NULL);
	assert_about(r->pairs.capacity_mbps, 5810);
}

/* A receiver that took 8000 for long takes 4000 now. The mean follows by a twentieth in a pass, to
 * 7800 and 7610, and is no reason to take more for possible while the port waits: 8000 - 400,
 * 7600 - 360, 7240 - 324.
 */
static void test_capacity_becomes_less(void **state)
{
	static const double mbps[] = { 7600, 7240, 6916 };
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);

	*hot(f) = (struct traffic_port){ .mbps = 8000 };
	passes(f, NULL, 100);
	assert_about(r->pairs.capacity_mbps, 8000);
	*hot(f) = (struct traffic_port){ .mbps = 4000, .wait_permille = 500 };
	for (unsigned int i = 0; i < sizeof(mbps) / sizeof(mbps[0]); i++) {
		pass(f, NULL);
		assert_about(r->pairs.capacity_mbps, mbps[i]);
	}
}

/* One that takes nothing for a while does not take less: less than a fiftieth is a pause. */
static void test_capacity_in_pause(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);

	*hot(f) = (struct traffic_port){ .mbps = 8000 };
	passes(f, NULL, 100);
	*hot(f) = (struct traffic_port){ .mbps = 159, .wait_permille = 900 };
	passes(f, NULL, 60);
	assert_about(r->pairs.capacity_mbps, 8000);
	assert_about(ibcc_tuner_carried_mbps(&r->pairs), 8000);
	*hot(f) = (struct traffic_port){ .mbps = 161, .wait_permille = 900 };
	pass(f, NULL);
	assert_about(r->pairs.capacity_mbps, 7216.1);
}

/* Counters that somebody cleared, or that stand at their end, say nothing. */
static void test_not_exact(void **state)
{
	static const struct logged nothing;
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct ibcc_delta *port, *ca;

	*hot(f) = (struct traffic_port){ .mbps = 6000 };
	passes(f, NULL, 10);
	*hot(f) = (struct traffic_port){ .mbps = 9000, .wait_permille = 300 };
	traffic_at(&f->tr, 0, 1)->becn = 50;
	traffic_pass(&f->tr);
	port = &f->tr.s.port[r->port].delta;
	ca = &f->tr.s.port[fabric_port(f->t, 0, 1)].delta;
	port->flags[IBCC_CTR_XMIT_DATA] |= IBCC_DELTA_RESET;
	ca->flags[IBCC_CTR_RCV_BECN] |= IBCC_DELTA_SATURATED;
	assert_int_equal(ibcc_tuner_count_pairs(f->tn, f->t, &f->tr.s, &nothing.e), 0);
	assert_about(r->pairs.capacity_mbps, 6000);
	assert_about(ibcc_tuner_carried_mbps(&r->pairs), 6000);
	assert_about(r->pairs.becn[endport_of(f, 0)], 0);
	port->flags[IBCC_CTR_XMIT_DATA] &= (uint8_t)~IBCC_DELTA_RESET;
	ca->flags[IBCC_CTR_RCV_BECN] &= (uint8_t)~IBCC_DELTA_SATURATED;
	assert_int_equal(ibcc_tuner_count_pairs(f->tn, f->t, &f->tr.s, &nothing.e), 0);
	assert_about(r->pairs.capacity_mbps, 6300);
	assert_about(r->pairs.becn[endport_of(f, 0)], 50);
}

/* What it sends in the mean it can take. Four passes count as 3.71, which is too few to tell, and
 * five as 4.52.
 */
static void test_capacity_by_mean(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);

	*hot(f) = (struct traffic_port){ .mbps = 8000 };
	passes(f, NULL, 4);
	assert_about(r->pairs.capacity_mbps, 6000);
	pass(f, NULL);
	assert_about(r->pairs.passes, (1 - pow(.95, 5)) / .05);
	assert_about(r->pairs.capacity_mbps, 8000);
	/* What it sends in one pass tells nothing: (19 * 8000 + 12000) / 20, after a long time. */
	passes(f, NULL, 400);
	hot(f)->mbps = 12000;
	pass(f, NULL);
	assert_about(r->pairs.capacity_mbps, 8200);
}

/* A receiver goes on being as fast as it is while its settings are not in force. */
static void test_capacity_is_kept(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);

	*hot(f) = (struct traffic_port){ .mbps = 5000, .wait_permille = 300 };
	pass(f, NULL);
	r->drain = 1;
	pass(f, NULL);
	assert_about(r->pairs.capacity_mbps, 5900);
}

/* A port that does not answer has sent what is not known. */
static void test_silent_port(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);

	*hot(f) = (struct traffic_port){ .mbps = 5000, .wait_permille = 300 };
	pass(f, NULL);
	hot(f)->silent = true;
	pass(f, NULL);
	assert_about(r->pairs.capacity_mbps, 5900);
	assert_about(r->pairs.passes, .95);
	assert_about(ibcc_tuner_carried_mbps(&r->pairs), 5000);
}

static void test_unlogged(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *full = full_root(f), *slow = slow_root(f);
	struct logged l = { 0 };

	log_pair(f, &l, full, 0, 2, 1);
	passes(f, NULL, 3);
	assert_int_equal(full->pairs.unlogged, 3);
	pass(f, &l);
	assert_int_equal(full->pairs.unlogged, 0);
	assert_int_equal(slow->pairs.unlogged, 4);
	slow->pairs.unlogged = UINT16_MAX;
	pass(f, &l);
	assert_int_equal(slow->pairs.unlogged, UINT16_MAX);
}

/* 12 packets of each pair: 3 pairs have 3 * 4.52 * 12 = 163 after five passes, and are known. */
static void test_known_in_time(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = slow_root(f);
	struct logged l = { 0 };

	*hot(f) = (struct traffic_port){ .mbps = SLOW_MBPS, .wait_permille = 500 };
	for (uint32_t i = 0; i < 3; i++)
		log_pair(f, &l, r, i, 6, 12);
	passes(f, &l, 4);
	assert_false(ibcc_tuner_pairs_known(r));
	pass(f, &l);
	assert_true(ibcc_tuner_pairs_known(r));
	/* 163 * .95^8 = 108 would do, but none has come for 8 passes. */
	passes(f, NULL, 7);
	assert_true(ibcc_tuner_pairs_known(r));
	pass(f, NULL);
	assert_true(r->pairs.samples > 60);
	assert_false(ibcc_tuner_pairs_known(r));
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_told, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_fades),
		TEST(test_fades_slowly),
		TEST(test_forgets_pairs),
		TEST(test_many),
		TEST(test_forgets_roots),
		TEST(test_becns),
		TEST(test_becns_of_two),
		TEST(test_becns_of_one_again),
		TEST(test_becns_of_unlearned),
		TEST(test_no_becns),
		TEST(test_capacity_by_waiting),
		TEST(test_capacity_in_pause),
		TEST(test_not_exact),
		TEST(test_capacity_becomes_less),
		TEST(test_capacity_by_mean),
		TEST(test_capacity_is_kept),
		TEST(test_silent_port),
		TEST(test_unlogged),
		TEST(test_known_in_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
