/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Roots and the adapters that have a part in them, by counters as they look in known situations.
 * The Lustre fabric: src1 to src4 at one switch, the slow and the fast receiver at the next.
 */
#include "estimates.h"

static uint32_t src(const struct fixture *f, unsigned int i)
{
	return fabric_port(f->t, LUSTRE_SRC1 + i, 1);
}

static uint32_t slow_port(const struct fixture *f)
{
	return fabric_port(f->t, LUSTRE_SW2, 1);
}

/* BECNs of src1 to src4. */
static void give_becns(struct fixture *f, uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
	const uint32_t n[] = { a, b, c, d };

	for (unsigned int i = 0; i < 4; i++)
		f->tr.port[src(f, i)].becn = n[i];
}

static struct traffic_port load_of(const uint32_t *l)
{
	return load(l[0], (uint16_t)l[1], 0);
}

static void test_first_pass(void **state)
{
	struct fixture *f = *state;
	struct ibcc_estimate e;

	/* One reading is no interval. */
	assert_int_equal(ibcc_estimator_run(f->m, f->t, &f->tr.s, NULL, NULL, &e), 0);
	assert_false(e.trustworthy);
	assert_int_equal(e.n_roots, 0);
	ibcc_estimate_fini(&e);
	ibcc_estimate_fini(&e);
	ibcc_estimate_fini(NULL);
	ibcc_estimator_free(NULL);
}

/* The fast host fills its link and that to src4, and neither waits nor blocks any host: src1 to
 * src3 wait for the slow receiver. Without that they could only wait for src4.
 */
static void test_full_beside(void **state)
{
	struct fixture *f = *state;
	uint32_t full = fabric_port(f->t, LUSTRE_SW1, 4);

	for (unsigned int i = 0; i < 3; i++)
		f->tr.port[src(f, i)] = load(4987, 844, 0);
	f->tr.port[fabric_port(f->t, LUSTRE_SW1, 5)] = load(14960, 532, 0);
	f->tr.port[slow_port(f)] = load(14960, 532, 0);
	*traffic_at(&f->tr, LUSTRE_FAST, 1) = load(31900, 0, 0);
	f->tr.port[fabric_port(f->t, LUSTRE_SW2, 5)] = load(31900, 0, 0);
	f->tr.port[full] = load(31900, 0, 0);
	passes(f, 3);
	assert_int_equal(f->e.n_roots, 1);
	assert_int_equal(f->e.root[0].port, slow_port(f));

	f->tr.port[fabric_port(f->t, LUSTRE_SW1, 5)] = load(14960, 0, 0);
	f->tr.port[slow_port(f)] = load(14960, 0, 0);
	passes(f, 3);
	assert_int_equal(f->e.n_roots, 1);
	assert_int_equal(f->e.root[0].port, full);
}

/* The link between the switches fell from 4x to 1x and nobody says so: its port has credits and
 * sends a quarter of the rate, and src1 to src4 wait. It takes eight passes, and each of what is
 * said below undoes it. Once found it stays a root, also if its sources are throttled to less,
 * until it sends more than a quarter.
 */
static void test_degraded(void **state)
{
	static const struct {
		uint32_t mbps; /* of 32000: in one of the passes */
		uint16_t wait, feeders;
		bool found;
	} c[] = {
		{ 8000, 0, 800, true },  { 7808, 49, 100, true }, { 8159, 0, 800, true },
		{ 7790, 0, 800, false }, { 8160, 0, 800, false }, { 8000, 50, 800, false },
		{ 8000, 0, 99, false },
	};
	struct fixture *f = *state;
	uint32_t link = fabric_port(f->t, LUSTRE_SW1, 5);
	char text[IBCC_ROOT_WORDS_BYTES];

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		for (unsigned int k = 0; k < 8; k++) {
			bool odd = k == 4;

			assert_int_equal(f->e.n_roots, 0);
			for (unsigned int s = 0; s < 4; s++)
				f->tr.port[src(f, s)] = load(2000, odd ? c[i].feeders : 800, 0);
			f->tr.port[link] = load(odd ? c[i].mbps : 8000, odd ? c[i].wait : 0, 0);
			pass(f);
		}
		if (f->e.n_roots != c[i].found)
			fail_msg("case %zu: %u roots", i, f->e.n_roots);
		if (c[i].found) {
			assert_int_equal(at(f, link)->kind, IBCC_CONGESTION_INPUT);
			assert_int_equal(at(f, link)->link_mbps, QDR_MBPS / 4);
			assert_int_equal(at(f, link)->n_contributors, 4);
			ibcc_estimate_explain(f->t, at(f, link), text, sizeof(text));
			assert_non_null(strstr(text,
					       "full with 8000 of 8000 Mb/s (PortXmitData), a "
					       "quarter of the 32000 Mb/s that the link should "
					       "carry: check its width and its cable"));
			f->tr.port[link] = load(7000, 0, 0);
			pass(f);
			assert_int_equal(f->e.n_roots, 0); /* 875 permille */
			f->tr.port[link] = load(8000, 0, 0);
			pass(f);
			assert_int_equal(f->e.n_roots, 1);
		}
		f->tr.port[link] = load(8200, 0, 0);
		pass(f);
	}
}

/* The same for a link that fell to 2x, which takes twelve passes. */
static void test_half(void **state)
{
	struct fixture *f = *state;
	uint32_t link = fabric_port(f->t, LUSTRE_SW1, 5);
	char text[IBCC_ROOT_WORDS_BYTES];

	for (unsigned int mbps = 15500; mbps <= 16500; mbps += 500) {
		for (unsigned int k = 0; k < 12; k++) {
			assert_int_equal(f->e.n_roots, 0);
			for (unsigned int s = 0; s < 4; s++)
				f->tr.port[src(f, s)] = load(4000, 800, 0);
			f->tr.port[link] = load(mbps, 0, 0);
			pass(f);
		}
		assert_int_equal(f->e.n_roots, mbps == 16000);
		if (!f->e.n_roots)
			continue;
		assert_int_equal(at(f, link)->link_mbps, QDR_MBPS / 2);
		ibcc_estimate_explain(f->t, at(f, link), text, sizeof(text));
		assert_non_null(strstr(text, "full with 16000 of 16000 Mb/s (PortXmitData), half "
					     "of the 32000 Mb/s that the link should carry"));
		f->tr.port[link] = load(15000, 0, 0);
		pass(f);
		assert_int_equal(f->e.n_roots, 0); /* 937 permille */
		f->tr.port[link] = load(16000, 0, 0);
		pass(f);
		assert_int_equal(f->e.n_roots, 1);
		f->tr.port[link] = load(16500, 0, 0);
		pass(f);
		assert_int_equal(f->e.n_roots, 0);
	}
	/* Passes with a quarter are no passes with a half. */
	for (unsigned int k = 0; k < 20; k++) {
		f->tr.port[link] = load(k % 8 == 7 ? 8000 : 16000, 0, 0);
		pass(f);
		assert_int_equal(f->e.n_roots, 0);
	}
}

/* A healthy link that passes on two adapters of a quarter of its rate, while others wait for
 * something else.
 */
static void test_two_quarter_rate_senders(void **state)
{
	struct fixture *f = *state;
	uint32_t link = fabric_port(f->t, LUSTRE_SW1, 5);

	for (unsigned int s = 0; s < 2; s++)
		f->t->port[src(f, s)].rate_mbps = QDR_MBPS / 4;
	for (unsigned int k = 0; k < 20; k++) {
		for (unsigned int s = 0; s < 4; s++)
			f->tr.port[src(f, s)] = s < 2 ? load(8000, 0, 0) : load(2000, 800, 0);
		f->tr.port[link] = load(k % 2 ? 15900 : 16100, 0, 0);
		pass(f);
		assert_int_equal(f->e.n_roots, 0);
	}
}

/* A healthy link that passes on one adapter of a quarter of its rate, while others wait for
 * something else. The adapter may send 2 % more or less in an interval.
 */
static void test_quarter_rate_sender(void **state)
{
	struct fixture *f = *state;
	uint32_t link = fabric_port(f->t, LUSTRE_SW1, 5);

	for (unsigned int k = 0; k < 20; k++) {
		for (unsigned int s = 0; s < 3; s++)
			f->tr.port[src(f, s)] = load(2000, 800, 0);
		f->tr.port[src(f, 3)] = load(k % 2 ? 7900 : 8100, 0, 0);
		f->tr.port[link] = load(8000, 0, 0);
		pass(f);
		assert_int_equal(f->e.n_roots, 0);
	}
	/* One that sends far less explains nothing. */
	f->tr.port[src(f, 3)] = load(2000, 0, 0);
	passes(f, 8);
	assert_int_equal(f->e.n_roots, 1);
}

/* Idle, then busy links that still flow. */
static void test_healthy(void **state)
{
	struct fixture *f = *state;

	assert_true(pass(f)->trustworthy);
	assert_int_equal(f->e.n_roots, 0);
	assert_int_equal(f->e.pass, 2);
	assert_int_equal(f->e.interval_ns, TRAFFIC_INTERVAL_NS);
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		f->tr.port[i] = load(28800, 30, 0);
	assert_int_equal(pass(f)->n_roots, 0);
}

static void test_output_generated(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_root *r;

	traffic_lustre_off(&f->tr);
	assert_true(pass(f)->trustworthy);
	assert_int_equal(f->e.n_roots, 1);
	r = at(f, slow_port(f));
	assert_true(ibcc_estimate_sees(&f->e, r));
	assert_false(ibcc_estimate_sees(&f->e, NULL));
	assert_int_equal(r->kind, IBCC_CONGESTION_OUTPUT);
	assert_int_equal(r->link_mbps, 32000);
	assert_in_range(r->rate_mbps, 14950, 14970);
	assert_in_range(r->wait_permille, 531, 532);
	assert_in_range(r->tree_wait_permille, 376, 377);
	assert_int_equal(r->confidence_permille, 1000);
	/* Nothing is marked, so it is unknown which of the four is the victim. */
	assert_int_equal(r->n_sources, 4);
	assert_int_equal(r->n_contributors, 4);
	assert_int_equal(r->n_victims, 0);
	assert_int_equal(r->n_waiting, 5); /* four adapters, the link between the switches */
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(r->source[i].port, src(f, i));
		assert_int_equal(r->source[i].role, IBCC_ROLE_CANDIDATE);
		assert_in_range(r->source[i].xmit_mbps, 4980, 4987);
		assert_in_range(r->source[i].wait_permille, 843, 844);
	}
	/* BECNs say nothing about a port that does not mark. */
	give_becns(f, 200, 200, 200, 0);
	pass(f);
	assert_int_equal(at(f, slow_port(f))->n_contributors, 4);
	assert_int_equal(role(at(f, slow_port(f)), src(f, 2)), IBCC_ROLE_CANDIDATE);
	/* The first marks name the contributors. */
	mark_at(f, LUSTRE_SW2, 1);
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(f->e.becn, 600);
	r = at(f, slow_port(f));
	assert_int_equal(r->n_contributors, 3);
	assert_int_equal(r->n_victims, 1);
	assert_int_equal(r->becn, 600);
	assert_int_equal(role(r, src(f, 2)), IBCC_ROLE_CONTRIBUTOR);
	assert_int_equal(role(r, src(f, 3)), IBCC_ROLE_VICTIM);
}

/* Late marks of a flow that has ended, 2 % of the most marked one's, do not make it a contributor;
 * nor does less than a fifth where it does not wait a quarter of the time.
 */
static void test_late_marks(void **state)
{
	static const struct {
		uint32_t becn;
		uint16_t wait_permille;
		enum ibcc_role role;
	} row[] = {
		{ 18, 500, IBCC_ROLE_VICTIM },  { 22, 500, IBCC_ROLE_CONTRIBUTOR },
		{ 180, 0, IBCC_ROLE_NONE },     { 220, 0, IBCC_ROLE_CONTRIBUTOR },
		{ 180, 230, IBCC_ROLE_VICTIM }, { 180, 270, IBCC_ROLE_CONTRIBUTOR },
	};
	struct fixture *f = *state;

	traffic_lustre_off(&f->tr);
	mark_at(f, LUSTRE_SW2, 1);
	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		give_becns(f, 1000, 1000, 1000, row[i].becn);
		f->tr.port[src(f, 3)].wait_permille = row[i].wait_permille;
		pass(f);
		assert_int_equal(role(at(f, slow_port(f)), src(f, 3)), row[i].role);
	}
}

/* A contributor sends: BECNs of an adapter of which it is not known what it sends say nothing,
 * and the others are not measured by them.
 */
static void test_becns_alone(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_root *r;

	traffic_lustre_off(&f->tr);
	mark_at(f, LUSTRE_SW2, 1);
	f->tr.ctr[src(f, 2)].width[IBCC_CTR_XMIT_DATA] = 0;
	for (uint32_t n = 200; n <= 20000; n *= 100) {
		give_becns(f, 200, 200, n, 0);
		pass(f);
		r = at(f, slow_port(f));
		assert_int_equal(r->n_contributors, 2);
		assert_int_equal(role(r, src(f, 2)), IBCC_ROLE_NONE);
	}
}

/* A root is busy 97 % of the time; its kind is by whether it waits a tenth of it. Two adapters
 * behind it wait as much, where each switch port on the way is busy as well and waits 5 %; for a
 * slow receiver whichever way.
 */
static void test_limits(void **state)
{
	static const struct {
		uint32_t root[2], spine[2], src[2]; /* Mb/s, permille of waiting */
		unsigned int n_src;
		int kind; /* -1: no root */
	} row[] = {
		{ { 19200, 360 }, { 16000, 490 }, { 4000, 840 }, 2, -1 },
		{ { 19200, 380 }, { 16000, 490 }, { 4000, 840 }, 2, IBCC_CONGESTION_OUTPUT },
		{ { 28800, 90 }, { 16000, 490 }, { 4000, 840 }, 2, IBCC_CONGESTION_INPUT },
		{ { 28800, 110 }, { 16000, 490 }, { 4000, 840 }, 2, IBCC_CONGESTION_OUTPUT },
		{ { 31900, 0 }, { 16000, 490 }, { 4000, 840 }, 1, -1 },
		{ { 31900, 0 }, { 16000, 490 }, { 4000, 90 }, 2, -1 },
		{ { 31900, 0 }, { 16000, 490 }, { 4000, 110 }, 2, IBCC_CONGESTION_INPUT },
		{ { 31900, 0 }, { 16000, 450 }, { 4000, 840 }, 2, -1 },
		{ { 31900, 0 }, { 30880, 45 }, { 4000, 840 }, 2, -1 },
		{ { 31900, 0 }, { 30880, 55 }, { 4000, 840 }, 2, IBCC_CONGESTION_INPUT },
		{ { 16000, 500 }, { 16000, 0 }, { 4000, 840 }, 2, IBCC_CONGESTION_OUTPUT },
	};
	struct fixture *f = *state;

	for (unsigned int i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		const struct ibcc_root *r;

		f->tr.port[slow_port(f)] = load_of(row[i].root);
		*traffic_at(&f->tr, LUSTRE_SW1, 5) = load_of(row[i].spine);
		for (unsigned int k = 0; k < 4; k++)
			f->tr.port[src(f, k)] =
				k < row[i].n_src ? load_of(row[i].src) : load(4000, 0, 0);
		pass(f);
		r = ibcc_estimate_find(&f->e, slow_port(f));
		if (row[i].kind < 0 ? r != NULL : !r || (int)r->kind != row[i].kind)
			fail_msg("row %u", i);
	}
}

/* Under control the tree is gone, but the root still waits, marks and has contributors. src4 waits
 * for the full link between the switches, which is its fair share and no fault.
 */
static void test_controlled(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_root *r;
	struct ibcc_estimate e;

	traffic_lustre_tuned(&f->tr);
	assert_int_equal(pass(f)->n_roots, 0);
	assert_int_equal(ibcc_estimator_run(f->m, f->t, &f->tr.s, NULL, NULL, &e), 0);
	/* Where settings are not known a port must be busy. */
	assert_non_null(ibcc_estimate_find(&e, slow_port(f)));
	assert_null(ibcc_estimate_find(&e, fabric_port(f->t, LUSTRE_SW2, 2)));
	ibcc_estimate_fini(&e);
	mark_at(f, LUSTRE_SW2, 1);
	assert_int_equal(look(f)->n_roots, 1);
	r = at(f, slow_port(f));
	assert_int_equal(r->kind, IBCC_CONGESTION_OUTPUT);
	assert_int_equal(r->n_contributors, 3);
	assert_int_equal(r->n_victims, 0);
	assert_int_equal(r->tree_wait_permille, 0);
	/* Credit starvation at that port is no marking. */
	sw_cc(f, LUSTRE_SW2)->element[1].Control_Type = true;
	assert_int_equal(look(f)->n_roots, 0);
	/* Where all ports of the switch mark, that one counts which is busy, or named. */
	sw_cc(f, LUSTRE_SW2)->element[1].Valid = false;
	sw_cc(f, LUSTRE_SW2)->sw.Threshold = 9;
	assert_int_equal(look(f)->root[0].port, slow_port(f));
	traffic_at(&f->tr, LUSTRE_SW2, 2)->mbps = 14400;
	pass(f);
	assert_null(ibcc_estimate_find(&f->e, fabric_port(f->t, LUSTRE_SW2, 2)));
	ibcc_cc_mask_assign(&sw_cc(f, LUSTRE_SW2)->sw.Victim_Mask, 2, true);
	look(f);
	at(f, fabric_port(f->t, LUSTRE_SW2, 2));
	ibcc_cc_mask_assign(&sw_cc(f, LUSTRE_SW2)->sw.Victim_Mask, 2, false);
	traffic_at(&f->tr, LUSTRE_SW2, 2)->mbps = 17600;
	pass(f);
	at(f, fabric_port(f->t, LUSTRE_SW2, 2));
}

/* Behind a switch whose ports all mark, one that waits for the next switch is no root, nor one of
 * which nothing was marked. What marks and sends nine tenths of its link is not limited by the
 * adapter behind it.
 */
static void test_all_ports_mark(void **state)
{
	struct fixture *f = *state;
	uint32_t spine = fabric_port(f->t, LUSTRE_SW1, 5);

	give_becns(f, 80, 80, 0, 0);
	sw_cc(f, LUSTRE_SW1)->sw.Threshold = 9;
	f->tr.port[spine] = load(24000, 90, 0);
	pass(f);
	assert_int_equal(at(f, spine)->kind, IBCC_CONGESTION_INPUT);
	f->tr.port[spine] = load(24000, 110, 0);
	assert_int_equal(pass(f)->n_roots, 0);
	sw_cc(f, LUSTRE_SW1)->sw.Threshold = 0;
	mark_at(f, LUSTRE_SW2, 1);
	f->tr.port[slow_port(f)] = load(28000, 0, 0);
	pass(f);
	assert_int_equal(at(f, slow_port(f))->kind, IBCC_CONGESTION_OUTPUT);
	f->tr.port[slow_port(f)] = load(29600, 0, 0);
	pass(f);
	assert_int_equal(at(f, slow_port(f))->kind, IBCC_CONGESTION_INPUT);
	/* BECNs of an adapter that sends nothing through it are not its own. */
	traffic_at(&f->tr, LUSTRE_SLOW, 1)->becn = 9000;
	pass(f);
	assert_int_equal(at(f, slow_port(f))->n_contributors, 2);
	give_becns(f, 0, 0, 0, 0);
	assert_int_equal(pass(f)->n_roots, 0);
}

/* Marks that arrived behind it make a port a root, a setting alone does not. Marks that came to an
 * adapter whose own port may mark are that one's.
 */
static void test_whose_marks(void **state)
{
	struct fixture *f = *state;
	uint32_t spine = fabric_port(f->t, LUSTRE_SW1, 5);

	traffic_lustre_tuned(&f->tr);
	mark_at(f, LUSTRE_SW2, 1);
	mark_at(f, LUSTRE_SW1, 5);
	f->tr.port[slow_port(f)] = load(3000, 0, 0);
	f->tr.port[spine].mbps = 20000;
	traffic_at(&f->tr, LUSTRE_FAST, 1)->fecn = 70;
	pass(f);
	assert_int_equal(f->e.fecn, 70);
	assert_null(ibcc_estimate_find(&f->e, slow_port(f)));
	assert_int_equal(at(f, spine)->fecn, 70);
	traffic_at(&f->tr, LUSTRE_SLOW, 1)->fecn = 100;
	pass(f);
	assert_int_equal(at(f, slow_port(f))->fecn, 100);
	assert_int_equal(at(f, spine)->fecn, 70);
	/* A port that is full is on the verge of it. */
	traffic_at(&f->tr, LUSTRE_FAST, 1)->fecn = 0;
	pass(f);
	assert_null(ibcc_estimate_find(&f->e, spine));
	f->tr.port[spine].mbps = 31900;
	pass(f);
	assert_int_equal(at(f, spine)->fecn, 0);
}

/* A switch's log tells which of its ports have marked: the others' marks are from further up. */
static void test_whose_marks_by_log(void **state)
{
	struct fixture *f = *state;
	uint32_t spine = fabric_port(f->t, LUSTRE_SW1, 5), slow = slow_port(f);

	traffic_lustre_tuned(&f->tr);
	mark_at(f, LUSTRE_SW2, 1);
	mark_at(f, LUSTRE_SW1, 5);
	f->tr.port[slow] = load(3000, 0, 0);
	f->tr.port[spine].mbps = 20000;
	traffic_at(&f->tr, LUSTRE_SLOW, 1)->fecn = 100;
	traffic_pass(&f->tr);
	f->tr.s.port[slow].marked = IBCC_MARKED_NONE;
	look(f);
	assert_null(ibcc_estimate_find(&f->e, slow));
	assert_int_equal(at(f, spine)->fecn, 100);
	traffic_pass(&f->tr);
	f->tr.s.port[slow].marked = IBCC_MARKED_SOME;
	look(f);
	assert_int_equal(at(f, slow)->fecn, 100);
	assert_null(ibcc_estimate_find(&f->e, spine));
	/* Both may be, or neither. */
	traffic_at(&f->tr, LUSTRE_FAST, 1)->fecn = 70;
	traffic_pass(&f->tr);
	f->tr.s.port[slow].marked = f->tr.s.port[spine].marked = IBCC_MARKED_SOME;
	look(f);
	assert_int_equal(at(f, slow)->fecn, 100);
	assert_int_equal(at(f, spine)->fecn, 70);
	traffic_pass(&f->tr);
	f->tr.s.port[slow].marked = f->tr.s.port[spine].marked = IBCC_MARKED_NONE;
	assert_int_equal(look(f)->n_roots, 0);
	f->tr.port[spine].mbps = 31900;
	traffic_pass(&f->tr);
	f->tr.s.port[spine].marked = IBCC_MARKED_NONE;
	look(f);
	assert_int_equal(at(f, spine)->fecn, 0);
}

/* The other sink is slow, too, for src4 alone: src4 waits for that one and is no victim. */
static void test_second_slow_sink(void **state)
{
	struct fixture *f = *state;
	uint32_t second = fabric_port(f->t, LUSTRE_SW2, 2);

	mark_at(f, LUSTRE_SW2, 1);
	for (unsigned int i = 0; i < 3; i++)
		f->tr.port[src(f, i)] = load(2400, 5, 80);
	f->tr.port[src(f, 3)] = load(7200, 770, 0);
	*traffic_at(&f->tr, LUSTRE_SW1, 5) = load(14400, 540, 0);
	f->tr.port[slow_port(f)] = load(7200, 400, 0);
	f->tr.port[second] = load(7200, 774, 0);
	assert_int_equal(pass(f)->n_roots, 2);
	assert_int_equal(at(f, slow_port(f))->n_victims, 0);
	assert_int_equal(at(f, slow_port(f))->n_contributors, 3);
	assert_int_equal(role(at(f, slow_port(f)), src(f, 3)), IBCC_ROLE_NONE);
	assert_int_equal(at(f, second)->n_victims, 0);
	assert_int_equal(at(f, second)->n_contributors, 1);
	assert_int_equal(role(at(f, second), src(f, 3)), IBCC_ROLE_CANDIDATE);
	/* That behind which most time is lost comes first: 770 to 3 * 5 of a thousand, 200 to 3
	 * * 90.
	 */
	assert_int_equal(f->e.root[0].port, second);
	for (unsigned int i = 0; i < 3; i++)
		f->tr.port[src(f, i)].wait_permille = 90;
	f->tr.port[src(f, 3)].wait_permille = 200;
	assert_int_equal(pass(f)->root[0].port, slow_port(f));
}

/* An adapter that sends into the root's switch without waiting may be the one that takes most of
 * it, until marks tell: of what others get a fifth is enough. There none is a victim.
 */
static void test_near(void **state)
{
	struct fixture *f = *state;
	uint32_t near = fabric_port(f->t, LUSTRE_FAST, 1);

	traffic_lustre_off(&f->tr);
	f->tr.port[near] = load(3700, 0, 0);
	pass(f);
	assert_int_equal(at(f, slow_port(f))->n_contributors, 4);
	assert_int_equal(at(f, slow_port(f))->n_sources, 5);
	assert_int_equal(role(at(f, slow_port(f)), near), IBCC_ROLE_NEAR);
	f->tr.port[near] = load(0, 0, 0);
	pass(f);
	assert_int_equal(role(at(f, slow_port(f)), near), IBCC_ROLE_NONE);
	mark_at(f, LUSTRE_SW2, 1);
	give_becns(f, 80, 80, 80, 0);
	f->tr.port[near] = load(3700, 0, 80);
	pass(f);
	assert_int_equal(at(f, slow_port(f))->n_contributors, 4);
	assert_int_equal(role(at(f, slow_port(f)), near), IBCC_ROLE_CONTRIBUTOR);
	f->tr.port[near] = load(3700, 500, 0);
	pass(f);
	assert_int_equal(role(at(f, slow_port(f)), near), IBCC_ROLE_NONE);
	assert_int_equal(role(at(f, slow_port(f)), src(f, 3)), IBCC_ROLE_VICTIM);
}

/* A counter that was cleared in the interval looks like little traffic and little waiting. */
static void test_reset_counters(void **state)
{
	struct fixture *f = *state;

	traffic_lustre_off(&f->tr);
	pass(f);
	f->tr.ctr[slow_port(f)].v[IBCC_CTR_XMIT_WAIT] = 0;
	assert_int_equal(pass(f)->n_roots, 0);
	assert_int_equal(pass(f)->n_roots, 1);
	f->tr.ctr[slow_port(f)].v[IBCC_CTR_XMIT_DATA] = 0;
	assert_int_equal(pass(f)->n_roots, 0);
}

/* A port that is not believed is no root, its marks do not count, and its being left out keeps
 * nothing from being decided about others, however many there are.
 */
static void test_doubted(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = slow_port(f), fast = fabric_port(f->t, LUSTRE_FAST, 1);
	struct ibcc_port_sample *s = f->tr.s.port;

	traffic_lustre_off(&f->tr);
	give_becns(f, 80, 80, 80, 0);
	f->tr.port[fast].fecn = 500;
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(f->e.fecn, 500);
	assert_int_equal(f->e.becn, 240);

	hold(f, LUSTRE_SW2, 1, IBCC_CONGESTION_OUTPUT, 14960);
	s[slow].trust.doubt = s[fast].trust.doubt = s[src(f, 0)].trust.doubt = IBCC_DOUBT_LINK;
	assert_int_equal(pass(f)->n_roots, 0);
	assert_true(f->e.trustworthy);
	assert_int_equal(f->e.fecn, 0);
	assert_int_equal(f->e.becn, 160);
	assert_true(at(f, slow)->doubted);
	assert_false(at(f, slow)->fresh);

	s[slow].trust.doubt = IBCC_DOUBT_NONE;
	assert_int_equal(pass(f)->n_roots, 1);
	assert_false(at(f, slow)->doubted);
	assert_int_equal(role(at(f, slow), src(f, 0)), IBCC_ROLE_NONE);

	/* Either may be believed: nothing else could take back what was decided by these. */
	for (uint32_t i = 0; i < f->t->n_ports; i++)
		s[i].trust.doubt = IBCC_DOUBT_NODE;
	assert_true(pass(f)->trustworthy);
	assert_int_equal(f->e.n_roots, 0);
}

/* A root has a marking profile of NVIDIA's control, and no feeder waits. It stays a root as long as
 * CNPs come, or where nothing counts them as long as its port is full. Without the profile it is
 * none, nor is another full port.
 */
static void test_profile(void **state)
{
	struct fixture *f = *state;
	uint32_t port;

	for (unsigned int i = 0; i < f->actual.n; i++)
		f->actual.ep[i].mechanism = IBCC_MECHANISM_DCQCN;
	*traffic_at(&f->tr, LUSTRE_SRC1, 1) = load(16000, 0, 0);
	*traffic_at(&f->tr, LUSTRE_SRC1 + 1, 1) = load(16000, 0, 0);
	*traffic_at(&f->tr, LUSTRE_SW1, 5) = load(32000, 0, 0);
	*traffic_at(&f->tr, LUSTRE_SW2, 1) = load(32000, 0, 0);
	pass(f);
	assert_int_equal(pass(f)->n_roots, 0);
	port = hold(f, LUSTRE_SW2, 1, IBCC_CONGESTION_INPUT, 32000);
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(f->e.root[0].port, port);
	*traffic_at(&f->tr, LUSTRE_SW2, 1) = load(24000, 0, 0);
	assert_int_equal(pass(f)->n_roots, 0);
	traffic_at(&f->tr, LUSTRE_SRC1, 1)->becn = 20;
	traffic_at(&f->tr, LUSTRE_SLOW, 1)->fecn = 20;
	assert_int_equal(pass(f)->n_roots, 1);
	assert_int_equal(f->e.root[0].port, port);
	assert_int_equal(role(at(f, port), src(f, 0)), IBCC_ROLE_CONTRIBUTOR);
	f->last.root[0].r.phase = IBCC_PHASE_BARRED;
	assert_int_equal(pass(f)->n_roots, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LUSTRE(test_first_pass),
		LUSTRE(test_healthy),
		LUSTRE(test_full_beside),
		LUSTRE(test_degraded),
		LUSTRE(test_half),
		LUSTRE(test_two_quarter_rate_senders),
		LUSTRE(test_quarter_rate_sender),
		LUSTRE(test_output_generated),
		LUSTRE(test_late_marks),
		LUSTRE(test_becns_alone),
		LUSTRE(test_limits),
		LUSTRE(test_controlled),
		LUSTRE(test_all_ports_mark),
		LUSTRE(test_whose_marks),
		LUSTRE(test_whose_marks_by_log),
		LUSTRE(test_second_slow_sink),
		LUSTRE(test_near),
		LUSTRE(test_reset_counters),
		LUSTRE(test_doubted),
		LUSTRE(test_profile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
