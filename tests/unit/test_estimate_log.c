/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What switches logged as marked: sorted to ports by routes, and counted while a root is held. In
 * each pass a twentieth of what was counted fades, or an eightieth for each packet that is new, if
 * that is less; expected values are sums worked out by hand.
 */
#include "estimates.h"

/* The port of the slow receiver, adapter 6, which was found to take 6000 Mb/s. */
static uint32_t slow_root(struct fixture *f)
{
	return hold(f, 11, 1, IBCC_CONGESTION_OUTPUT, 6000);
}

/* The port by which adapters 0 and 1 send to those with even numbers. */
static uint32_t full_root(struct fixture *f)
{
	return hold(f, 8, 3, IBCC_CONGESTION_INPUT, 32000);
}

static void assert_pair(const struct fixture *f, const struct ibcc_pair *p, uint32_t src,
			uint32_t dst, uint32_t packets)
{
	assert_int_equal(p->src, fabric_port(f->t, src, 1));
	assert_int_equal(p->dlid, traffic_lid(&f->tr, dst));
	assert_int_equal(p->packets, packets);
}

static void test_sorted(void **state)
{
	struct fixture *f = *state;
	uint32_t full = full_root(f), slow = slow_root(f);
	const struct ibcc_root *r;
	char buf[512];

	log_pair(f, slow, 2, 6, 1);
	log_pair(f, slow, 0, 6, 7);
	log_pair(f, full, 0, 6, 3);
	log_pair(f, slow, 1, 6, 4);
	log_pair(f, slow, 2, 6, 3);
	log_pair(f, fabric_port(f->t, 11, 2), 0, 7, 2); /* no root: tells no less */
	pass(f);
	r = at(f, slow);
	assert_int_equal(r->n_pairs, 3);
	assert_pair(f, &r->pair[0], 0, 6, 7);
	assert_pair(f, &r->pair[1], 1, 6, 4);
	assert_pair(f, &r->pair[2], 2, 6, 4);
	assert_int_equal(at(f, full)->n_pairs, 1);
	assert_pair(f, at(f, full)->pair, 0, 6, 3);
	assert_int_equal(f->e.n_pairs, 5);
	ibcc_estimate_explain(f->t, r, buf, sizeof(buf));
	assert_non_null(strstr(buf, "; marked packets (CongestionLog): 7 from h0 to h6, 4 from h1 "
				    "to h6, 4 from h2 to h6, of 15 in all"));
	/* More than are named in a sentence. */
	log_pair(f, slow, 3, 6, 1);
	log_pair(f, slow, 4, 6, 2);
	pass(f);
	ibcc_estimate_explain(f->t, at(f, slow), buf, sizeof(buf));
	assert_non_null(strstr(buf, " and from 1 more flow, of 18 in all"));
}

/* LIDs that no port has, packets that never pass the switch: untrusted input. */
static void test_left_out(void **state)
{
	struct fixture *f = *state;
	uint16_t slow = traffic_lid(&f->tr, 6), src = traffic_lid(&f->tr, 0);
	uint32_t port = slow_root(f);

	traffic_pass(&f->tr);
	traffic_log(&f->tr, 11, 0xbfff, slow, 1);
	traffic_log(&f->tr, 11, f->t->port[fabric_port(f->t, 8, 0)].lid, slow, 1);
	traffic_log(&f->tr, 11, src, 0xbfff, 1);
	traffic_log(&f->tr, 11, src, 0xffff, 1);
	traffic_log(&f->tr, 11, src, src, 1);
	traffic_log(&f->tr, 9, src, slow, 1);
	traffic_log(&f->tr, UINT32_MAX, src, slow, 1);
	assert_int_equal(look(f)->n_pairs, 0);
	assert_int_equal(at(f, port)->n_pairs, 0);
}

/* 14 * (1 + .95 + .9025); then of three packets in a pass 3 / 80 fade. */
static void test_fades(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = slow_root(f);

	log_pair(f, slow, 0, 6, 10);
	log_pair(f, slow, 1, 6, 4);
	passes(f, 3);
	assert_about(at(f, slow)->samples, 39.935);
	begin_anew(f);
	log_pair(f, slow, 0, 6, 2);
	log_pair(f, slow, 1, 6, 1);
	passes(f, 403);
	assert_about(at(f, slow)->samples, 80 * (1 - pow(.9625, 403)));
}

/* Nothing fades while nothing is new, for eight passes. Then ln .05 / ln .95 = 58.4: one packet is
 * remembered for 58 more, those around it for longer.
 */
static void test_forgets_pairs(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = slow_root(f);

	log_pair(f, slow, 0, 6, 10);
	log_pair(f, slow, 1, 6, 1);
	log_pair(f, slow, 2, 6, 10);
	pass(f);
	f->n_log = 0;
	passes(f, 8);
	assert_about(at(f, slow)->samples, 21);
	passes(f, 58);
	assert_about(at(f, slow)->samples, 21 * pow(.95, 58));
	pass(f);
	assert_about(at(f, slow)->samples, 20 * pow(.95, 59));
}

/* Counts are void where nothing can be learned of a root, and of this root alone. */
static void test_forgets_roots(void **state)
{
	static const struct {
		enum ibcc_phase phase;
		bool in_force;
	} row[] = { { IBCC_PHASE_WATCH, true },
		    { IBCC_PHASE_LEARN, true },
		    { IBCC_PHASE_DRAIN, true },
		    { IBCC_PHASE_BARRED, true },
		    { IBCC_PHASE_HOLD, false } };
	struct fixture *f = *state;
	uint32_t full = full_root(f), slow = slow_root(f);
	struct ibcc_root_parameters *r = &ibcc_parameters_find(&f->last, slow)->r;

	f->tr.port[slow] = load(6000, 0, 0);
	log_pair(f, full, 0, 2, 4);
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		f->n_log = 4;
		log_pair(f, slow, 0, 6, 20);
		passes(f, 10);
		assert_true(at(f, slow)->logged && at(f, slow)->samples > 0);
		r->phase = row[i].phase;
		r->in_force = row[i].in_force;
		pass(f);
		assert_false(at(f, slow)->logged);
		assert_true(at(f, slow)->samples == 0);
		assert_int_equal(at(f, slow)->n_limited + at(f, slow)->n_senders, 0);
		r->phase = IBCC_PHASE_HOLD;
		r->in_force = true;
		/* Passes count from the beginning, too. */
		passes(f, 4);
		assert_false(at(f, slow)->logged);
		pass(f);
		assert_true(at(f, slow)->logged);
	}
	assert_about(at(f, full)->samples, 80 * (1 - pow(.95, 80)));
}

/* It takes what it took when it was decided on, until its port waits for more than a fifth of the
 * time: then a tenth of the difference in each pass. It keeps that while it is not held, until it
 * is of another kind.
 */
static void test_capacity_by_waiting(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = slow_root(f);
	struct ibcc_root_parameters *r = &ibcc_parameters_find(&f->last, slow)->r;

	f->tr.port[slow] = load(5000, 195, 0);
	passes(f, 20);
	assert_about(at(f, slow)->capacity_mbps, 6000);
	f->tr.port[slow].wait_permille = 205;
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 5900);
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 5810);
	r->phase = IBCC_PHASE_DRAIN;
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 5810);
	r->phase = IBCC_PHASE_HOLD;
	f->tr.port[slow].silent = true;
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 5810);
	r->kind = IBCC_CONGESTION_INPUT;
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 6000);
}

/* What it sends in the mean it can take. Four passes count as 3.71, which is too few to tell. What
 * it sends in one tells little: (19 * 8000 + 12000) / 20, after a long time.
 */
static void test_capacity_by_mean(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = slow_root(f);

	f->tr.port[slow] = load(8000, 0, 0);
	passes(f, 4);
	assert_about(at(f, slow)->capacity_mbps, 6000);
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 8000);
	passes(f, 400);
	f->tr.port[slow] = load(12000, 0, 0);
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 8200);
	/* The mean is no reason to take more for possible while the port waits, nor is a pause to
	 * take less: that is less than a fiftieth.
	 */
	f->tr.port[slow] = load(160, 900, 0);
	passes(f, 60);
	assert_about(at(f, slow)->capacity_mbps, 8200);
	f->tr.port[slow] = load(168, 900, 0);
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 8200 - 803.2);
	f->tr.port[slow] = load(4000, 500, 0);
	pass(f);
	assert_about(at(f, slow)->capacity_mbps, 7396.8 - 339.68);
}

/* Each other reading is taken for half an interval later than it was made: rates of two thirds and
 * of twice what it sends, by turns. The last one counts for more: 1.95 / 1.925.
 */
static void test_capacity_by_uneven_times(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = slow_root(f);

	f->tr.port[slow] = load(6000, 0, 0);
	for (unsigned int i = 0; i < 100; i++) {
		f->tr.late_ns = i % 2 ? 0 : TRAFFIC_INTERVAL_NS / 2;
		pass(f);
	}
	assert_in_range(lround(at(f, slow)->capacity_mbps), 6000, 6080);
}

/* Five passes make the pairs known, eight without a packet unknown. */
static void test_known_in_time(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = slow_root(f);

	f->tr.port[slow] = load(6000, 500, 0);
	for (uint32_t i = 0; i < 3; i++)
		log_pair(f, slow, i, 6, 12);
	passes(f, 4);
	assert_false(at(f, slow)->logged);
	pass(f);
	assert_true(at(f, slow)->logged);
	f->n_log = 0;
	passes(f, 7);
	assert_true(at(f, slow)->logged);
	pass(f);
	assert_true(at(f, slow)->samples > 60);
	assert_false(at(f, slow)->logged);
	log_pair(f, slow, 0, 6, 1);
	pass(f);
	assert_true(at(f, slow)->logged);
}

/* Of a root without a log. */
static void test_explain(void **state)
{
	struct fixture *f = *state;
	uint32_t port = fabric_port(f->t, LUSTRE_SW2, 1);
	char buf[400], small[20];
	int n;

	traffic_lustre_off(&f->tr);
	mark_at(f, LUSTRE_SW2, 1);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 200;
	pass(f);
	n = ibcc_estimate_explain(f->t, at(f, port), buf, sizeof(buf));
	assert_int_equal(n, strlen(buf));
	assert_non_null(strstr(buf, "slow (sw2 port 1): slow receiver, takes"));
	assert_non_null(strstr(buf, "14960 of 32000 Mb/s (PortXmitData)"));
	assert_non_null(strstr(buf, "53.2 % of the time (PortXmitWait)"));
	assert_non_null(strstr(buf, "contributors (BECN): src1, src2, src3; victims: src4"));
	assert_int_equal(ibcc_estimate_explain(f->t, at(f, port), small, sizeof(small)), n);
	assert_int_equal(strlen(small), sizeof(small) - 1);
	assert_int_equal(ibcc_estimate_explain(f->t, at(f, port), NULL, 0), n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TREE(test_sorted),
		TREE(test_left_out),
		TREE(test_fades),
		TREE(test_forgets_pairs),
		TREE(test_forgets_roots),
		TREE(test_capacity_by_waiting),
		TREE(test_capacity_by_mean),
		TREE(test_capacity_by_uneven_times),
		TREE(test_known_in_time),
		LUSTRE(test_explain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
