/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What feedback makes of a root that is held, and when its settings are in doubt. */
#include "scenes.h"

/* Four passes of a port that is idle while it marks: its table ends nearer by an eleventh, down to
 * a quarter, then increase * timer goes down by two sevenths, to a quarter. Each step settles for
 * three passes. A slow receiver's table stays, and so does one for fewer than contribute.
 */
static void test_steps(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_root *r = i == 1 ? see_slow(f) : see_full(f);
		const struct ibcc_root_parameters *p;
		bool more = true;

		r->n_contributors = 20;
		p = hold(f, r);
		mark(r, i == 2 ? 21 : 20, 20, 10);
		r->rate_mbps = r->rate_mbps * 9 / 10;
		r->wait_permille = 0;
		while (more) {
			uint32_t end = p->table_scale_permille, loop = p->timer_scale_permille;
			bool nearer = !i && end > 250;

			more = nearer || loop > 250;
			passes(f, 3);
			assert_int_equal(p->table_scale_permille, end);
			assert_int_equal(p->timer_scale_permille, loop);
			pass(f);
			end = nearer ? end * 10 / 11 : end;
			loop = nearer ? loop : loop * 5 / 7;
			assert_int_equal(p->table_scale_permille, end > 250 || i ? end : 250);
			assert_int_equal(p->timer_scale_permille, loop > 250 ? loop : 250);
			assert_int_equal(said(f, IBCC_DECISION_LOOSEN) != NULL, more);
			if (more)
				assert_int_equal(said(f, IBCC_DECISION_LOOSEN)->a, 900);
			passes(f, 3);
		}
		start_anew(f);
	}
}

/* The interval in which a slow receiver is admitted may be measured badly, and show a tenth more
 * than it takes. Four passes in which its port sends or waits all of the time correct that: later
 * passes with what it takes, and without waiting, are busy ones.
 */
static void test_rate_read_too_high(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_slow(f);
	const struct ibcc_root_parameters *p;

	r->rate_mbps = SLOW_MBPS * 11 / 10;
	p = hold(f, r);
	mark(r, 4, 4, 10);
	r->rate_mbps = SLOW_MBPS;
	r->wait_permille = 1000;
	r->tree_wait_permille = 0;
	passes(f, 8);
	r->wait_permille = 0;
	passes(f, 40);
	assert_int_equal(p->timer_scale_permille, 1000);
	/* A receiver that gets less than it takes is idle, as before. */
	r->rate_mbps = SLOW_MBPS * 9 / 10;
	passes(f, 8);
	assert_true(p->timer_scale_permille < 1000);
}

/* What was given comes back, last things first, while the port is busy and its tree stands: not
 * once the tree is gone, nor when no adapter waits for long.
 */
static void test_back(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_root *r = i == 1 ? see_slow(f) : see_full(f);
		uint32_t mbps = r->rate_mbps, end, loop;
		const struct ibcc_root_parameters *p = hold(f, r);

		r->becn = 10;
		r->rate_mbps = mbps * 9 / 10;
		r->wait_permille = 0;
		passes(f, 7 * 20);
		end = p->table_scale_permille;
		loop = p->timer_scale_permille;
		assert_true(loop < 1000 && (i == 1 || end == 250));
		r->rate_mbps = mbps;
		r->tree_wait_permille = i == 2 ? 99 : 600;
		passes(f, 14);
		if (i == 2) {
			assert_int_equal(p->table_scale_permille, end);
			assert_int_equal(p->timer_scale_permille, loop);
			r->tree_wait_permille = 600;
			passes(f, 14);
		}
		assert_int_equal(p->table_scale_permille, end);
		assert_true(p->timer_scale_permille > loop);
		assert_true(said(f, IBCC_DECISION_TIGHTEN) || p->timer_scale_permille < 1000);
		passes(f, 7 * 30);
		assert_int_equal(p->table_scale_permille, 1000);
		assert_int_equal(p->timer_scale_permille, 1000);
		start_anew(f);
	}
}

/* Another program throttles one of a slow receiver's sources, so the port is idle and feedback
 * holds all of them less. Once the settings are repaired, that is void: the formulas' values come
 * back, and are judged by new passes. So it is where the switch's settings were changed. An endport
 * that has no settings of the root is nothing to it.
 */
static void test_disturbed(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_root *r = see_slow(f);
		const struct ibcc_root_parameters *p = hold(f, r);
		uint32_t e = 0, less;

		r->becn = 10;
		r->rate_mbps = SLOW_MBPS * 9 / 10;
		r->wait_permille = 0;
		passes(f, 8);
		less = p->timer_scale_permille;
		assert_true(less < 1000);
		if (i == 2)
			e = ibcc_topo_switch_endport(f->t, r->port);
		else
			while (p->member[e] == (i == 1) ||
			       e == ibcc_topo_switch_endport(f->t, r->port))
				e++;
		ibcc_tuner_disturb(f->tn, f->t, e);
		pass(f);
		assert_int_equal(p->timer_scale_permille, i == 1 ? less : 1000);
		passes(f, 6);
		assert_true(i == 1 || p->timer_scale_permille == 1000);
		pass(f);
		assert_true(p->timer_scale_permille < 1000);
		start_anew(f);
	}
	ibcc_tuner_disturb(f->tn, f->t, IBCC_NONE);
}

/* Less than 97 % busy, by sending or waiting, in the mean of four passes; a slow receiver works on
 * what is in its buffer. Marks are those that came to the adapters behind the root, where any
 * adapter counts them.
 */
static void test_idle(void **state)
{
	static const struct {
		enum ibcc_congestion kind;
		uint32_t mbps;
		uint16_t wait;
		uint64_t all_fecn, fecn, becn;
		bool idle;
	} c[] = {
		{ IBCC_CONGESTION_INPUT, 31039, 0, 0, 0, 1, true },
		{ IBCC_CONGESTION_INPUT, 31040, 0, 0, 0, 1, false },
		{ IBCC_CONGESTION_INPUT, 28800, 70, 0, 0, 1, false },
		{ IBCC_CONGESTION_INPUT, 28800, 69, 0, 0, 1, true },
		{ IBCC_CONGESTION_INPUT, 28800, 0, 0, 0, 0, false },
		{ IBCC_CONGESTION_INPUT, 28800, 0, 9, 0, 1, false },
		{ IBCC_CONGESTION_INPUT, 28800, 0, 9, 1, 0, true },
		{ IBCC_CONGESTION_OUTPUT, 5819, 0, 0, 0, 1, true },
		{ IBCC_CONGESTION_OUTPUT, 5820, 0, 0, 0, 1, false },
		{ IBCC_CONGESTION_OUTPUT, 3200, 870, 0, 0, 1, false },
	};
	struct fixture *f = *state;

	for (size_t k = 0; k < 2 * sizeof(c) / sizeof(c[0]); k++) {
		size_t i = k / 2;
		struct ibcc_root *r = see(f, 11, 1, c[i].kind, 0, 4);
		uint32_t swing = r->link_mbps / 200; /* of whole permille of what it carries */

		if (c[i].kind == IBCC_CONGESTION_OUTPUT && !c[i].wait)
			swing = SLOW_MBPS / 100;
		if (k & 1) /* readings that are now closer, now farther apart than told */
			swing *= 10;
		hold(f, r);
		f->s.pic.fecn = c[i].all_fecn;
		r->fecn = c[i].fecn;
		r->becn = c[i].becn;
		r->rate_mbps = c[i].mbps + swing;
		r->wait_permille = c[i].wait;
		passes(f, 2);
		r->rate_mbps = c[i].mbps - swing;
		passes(f, 2);
		assert_int_equal(said(f, IBCC_DECISION_LOOSEN) != NULL, c[i].idle);
		start_anew(f);
	}
}

/* Intervals that seem a tenth longer and shorter than they were, by turns, make a port no idler. */
static void test_uneven_intervals(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);

	hold(f, r);
	r->becn = 10;
	r->wait_permille = 0;
	for (unsigned int i = 0; i < 12; i++) {
		r->rate_mbps = r->link_mbps * (i % 2 ? 11 : 9) / 10;
		pass(f);
		assert_null(said(f, IBCC_DECISION_LOOSEN));
	}
}

/* An idle root's sources are held less if no other root shares them. If others do, only those of a
 * full link of which the limited flows are not known.
 */
static void test_who_is_held_less(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 8; i++) {
		bool slow = i & 1, told = i & 2, alone = i & 4;
		struct ibcc_root *r = slow ? see_slow(f) : see_full(f);
		struct ibcc_root *other = see(f, 10, 1, IBCC_CONGESTION_OUTPUT, alone ? 4 : 0, 2);
		const struct ibcc_root_parameters *p;

		hold(f, other);
		p = hold(f, r);
		assert_int_equal(p->alone, alone);
		if (told)
			tell(r, 4, r->rate_mbps);
		r->rate_mbps = r->rate_mbps * 9 / 10;
		r->wait_permille = 0;
		r->becn = 10;
		passes(f, 8);
		assert_int_equal(p->limits_known, told);
		if ((p->table_scale_permille + p->timer_scale_permille < 2000) !=
		    (alone || (!slow && !told)))
			fail_msg("case %u", i);
		/* Where the table ends is the leader's business. */
		assert_int_equal(p->table_scale_permille == 1000, slow || !alone);
		start_anew(f);
	}
}

/* Nothing is judged while one of several goes on although it is marked. */
static void test_outlier(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);
	const struct ibcc_root_parameters *p;

	r->source[0].role = IBCC_ROLE_CONTRIBUTOR;
	p = hold(f, r);
	r->becn = r->source[0].becn = 100;
	r->rate_mbps = r->rate_mbps * 9 / 10;
	r->n_waiting = 0;
	passes(f, 20);
	assert_false(p->tree_gone || p->table_scale_permille < 1000);
	r->source[0].becn = 0;
	passes(f, 4);
	assert_true(p->tree_gone && p->table_scale_permille < 1000);
}

/* A link is calm when for four passes one port or less waits for eight contributors, or none for
 * long. It is not any more when for two passes more than one waits for two; the next time takes
 * twice as long, up to 64 passes.
 */
static void test_calm(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);
	const struct ibcc_root_parameters *p;

	r->n_contributors = r->n_waiting = 24;
	p = hold(f, r);
	for (unsigned int i = 0; i < 40; i++) {
		r->n_waiting = i % 4 == 3 ? 4 : 3;
		pass(f);
		assert_false(p->tree_gone);
	}
	r->n_waiting = 4;
	pass(f);
	for (unsigned int i = 0, n = 4; i < 6; i++, n *= n < 64 ? 2 : 1) {
		r->n_waiting = i % 2 ? 3 : 24;
		r->tree_wait_permille = i % 2 ? 600 : 99;
		passes(f, n - 1);
		assert_false(p->tree_gone);
		pass(f);
		assert_true(p->tree_gone);
		only(f, IBCC_DECISION_TREE_GONE);
		r->tree_wait_permille = i % 2 ? 100 : 99;
		for (unsigned int k = 0; k < 21; k++) {
			r->n_waiting = k % 2 ? 25 : 12;
			pass(f);
			assert_true(p->tree_gone);
		}
		r->n_waiting = i % 2 ? 13 : 25;
		passes(f, 2);
		assert_false(p->tree_gone);
		only(f, IBCC_DECISION_TREE_BACK);
	}
}

/* A link that is less than 97 % busy is calm with any waiting, for what else; a slow receiver is
 * not.
 */
static void test_calm_when_idle(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 3; i++) {
		struct ibcc_root *r = i == 2 ? see_slow(f) : see_full(f);
		const struct ibcc_root_parameters *p = hold(f, r);

		r->rate_mbps = i ? r->rate_mbps * 96 / 100 : QDR_MBPS / 1000 * 970;
		r->wait_permille = 0;
		passes(f, 4);
		assert_int_equal(p->tree_gone, i == 1);
		start_anew(f);
	}
}

/* A slow receiver's tree matters only where others have its values, and can be told from sources
 * that are held too much only if it knows the flows that it limits. That it is back is seen in any
 * case.
 */
static void test_calm_receiver(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i < 4; i++) {
		struct ibcc_root *r = see_slow(f);
		const struct ibcc_root_parameters *p;

		r->n_waiting = 0;
		hold(f, see(f, 10, 1, IBCC_CONGESTION_OUTPUT, i & 1 ? 3 : 4, 2));
		p = hold(f, r);
		if (i & 2)
			tell(r, 4, SLOW_MBPS);
		passes(f, 300);
		assert_int_equal(p->tree_gone, i == 3);
		if (i != 3) {
			start_anew(f);
			continue;
		}
		r->logged = false;
		r->n_waiting = 3;
		passes(f, 2);
		assert_false(p->tree_gone);
	}
}

/* 24 adapters send 64 pairs: it is by adapters that a tree is told. */
static void test_calm_by_adapters(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);

	hold(f, r);
	tell(r, 64, QDR_MBPS / 2);
	r->n_senders = 24;
	r->n_waiting = 4;
	passes(f, 20);
	assert_int_equal(at(f, r->port)->n, 64);
	assert_false(at(f, r->port)->tree_gone);
	r->n_waiting = 3;
	passes(f, 4);
	assert_true(at(f, r->port)->tree_gone);
}

/* A fabric that cannot be read for a while carried less meanwhile: neither that nor the interval in
 * which it came back makes a port an idle one, and what follows is judged by itself.
 */
static void test_interrupted(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);
	uint32_t mbps = r->rate_mbps;

	hold(f, r);
	r->becn = 10;
	r->wait_permille = 0;
	for (unsigned int i = 0; i < 20; i++) {
		f->s.pic.trustworthy = i % 5 != 3;
		r->rate_mbps = i % 5 == 2 || i % 5 == 4 ? mbps / 10 : mbps;
		pass(f);
		assert_null(said(f, IBCC_DECISION_LOOSEN));
	}
}

/* A daemon that was kept from looking sees what all that time carried, which may be next to
 * nothing: a daemon that was stopped, a fabric that died meanwhile. Intervals that the operator
 * makes longer are judged like all others, from the next one on.
 */
static void test_kept_from_looking(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);
	uint64_t usual_ns = f->s.pic.interval_ns;
	uint32_t mbps = r->rate_mbps;
	unsigned int n = 0;

	hold(f, r);
	r->becn = 10;
	r->wait_permille = 0;
	for (unsigned int i = 0; i < 20; i++) {
		f->s.pic.interval_ns = i % 6 == 3 ? 50 * usual_ns : usual_ns;
		r->rate_mbps = i % 6 == 3 ? mbps / 10 : mbps;
		pass(f);
		assert_null(said(f, IBCC_DECISION_LOOSEN));
	}
	f->s.pic.interval_ns = 50 * usual_ns;
	r->rate_mbps = mbps * 3 / 4;
	do
		pass(f);
	while (++n < 20 && !said(f, IBCC_DECISION_LOOSEN));
	assert_in_range(n, IBCC_JUDGE_PASSES + 1, IBCC_JUDGE_PASSES + 3);
}

/* Passes over all ports take far longer than the fast ones between them. That is no interruption: a
 * root in the focus is judged as fast as if there were only fast ones. A fast pass that comes late
 * is one.
 */
static void test_fast_passes(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);
	uint64_t usual_ns = f->s.pic.interval_ns;
	uint32_t mbps = r->rate_mbps;
	unsigned int n = 0;

	hold(f, r);
	r->becn = 10;
	r->wait_permille = 0;
	for (unsigned int i = 0; i < 40; i++) {
		f->s.pic.partial = i % 10;
		f->s.pic.interval_ns = i % 10 == 4 ? 9 * usual_ns
				       : i % 10    ? usual_ns
						   : 4 * usual_ns;
		r->rate_mbps = i % 10 == 4 ? mbps / 10 : mbps;
		pass(f);
		assert_null(said(f, IBCC_DECISION_LOOSEN));
	}
	r->rate_mbps = mbps * 3 / 4;
	do {
		f->s.pic.partial = n % 3;
		f->s.pic.interval_ns = n % 3 ? usual_ns : 4 * usual_ns;
		pass(f);
	} while (++n < 20 && !said(f, IBCC_DECISION_LOOSEN));
	assert_in_range(n, 1, IBCC_JUDGE_PASSES + 3);
}

/* Marks that stop while sources wait: settings may be gone. Asked for ever more seldom. */
static void test_suspects(void **state)
{
	static const unsigned int after[] = { 1, 3, 7, 15, 31, 63, 63 };
	struct fixture *f = *state;
	struct ibcc_root *r = see_full(f);

	for (unsigned int i = 0; i < 4; i++) {
		pass(f); /* watched, not there, settling */
		assert_false(f->suspect);
	}
	r->becn = 1;
	pass(f);
	assert_false(f->suspect);
	r->becn = 0;
	r->tree_wait_permille = 100;
	pass(f);
	assert_false(f->suspect);
	r->tree_wait_permille = 101;
	f->s.pic.trustworthy = false;
	pass(f);
	assert_false(f->suspect);
	f->s.pic.trustworthy = true;
	f->s.pic.n_roots = 0;
	pass(f);
	assert_false(f->suspect);
	f->s.pic.n_roots = 1;
	pass(f);
	assert_true(f->suspect);
	for (size_t i = 0; i < sizeof(after) / sizeof(after[0]); i++) {
		unsigned int n = 0;

		do {
			pass(f);
			n++;
		} while (n < 100 && !f->suspect);
		assert_int_equal(n, after[i]);
	}
}

/* One of forty adapters is marked more than eight times as much as the others, for the time that it
 * can send: 32 times at least, of which eight are no chance.
 */
static void test_suspects_one(void **state)
{
	static const struct {
		uint32_t n; /* contributors */
		uint64_t one, others;
		uint16_t wait;
		bool suspect;
	} c[] = {
		{ 40, 32, 10, 1, true },  { 40, 31, 10, 1, false }, { 4, 81, 10, 1, true },
		{ 4, 80, 10, 1, false },  { 40, 8, 10, 751, true }, { 40, 8, 10, 750, false },
		{ 40, 7, 0, 991, false }, { 4, 40, 10, 1, false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *r = see_full(f);

		r->n_contributors = c[i].n;
		r->becn = 1;
		hold(f, r);
		for (uint32_t k = 0; k < 4; k++) {
			r->source[k].becn = k == 3 ? c[i].one : c[i].others;
			r->source[k].wait_permille = k == 3 ? c[i].wait : 1;
		}
		pass(f);
		if (f->suspect != c[i].suspect)
			fail_msg("case %zu", i);
		start_anew(f);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_steps),
		SCENE(test_rate_read_too_high),
		SCENE(test_back),
		SCENE(test_disturbed),
		SCENE(test_idle),
		SCENE(test_uneven_intervals),
		SCENE(test_who_is_held_less),
		SCENE(test_outlier),
		SCENE(test_calm),
		SCENE(test_calm_when_idle),
		SCENE(test_calm_receiver),
		SCENE(test_calm_by_adapters),
		SCENE(test_interrupted),
		SCENE(test_fast_passes),
		SCENE(test_kept_from_looking),
		SCENE(test_suspects),
		SCENE(test_suspects_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
