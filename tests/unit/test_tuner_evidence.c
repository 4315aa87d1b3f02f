/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the tuner makes of an estimate: whose marks they are, who could send more, what stands. */
#include <string.h>

#include "tests/unit/tuner_fixture.h"

#define LINK 32000u

static int setup(void **state)
{
	struct fixture *f = fixture_new(state);

	f->e = (struct ibcc_estimate){ .n_cas = 8, .trustworthy = true, .root = f->root };
	return 0;
}

static uint32_t port(const struct fixture *f, uint32_t i)
{
	return fabric_port(f->t, 8 + i / 4, 1 + i % 4);
}

/* A full link with n sources that send so much each. */
static struct ibcc_root *full(struct fixture *f, uint32_t i, uint32_t n, uint32_t mbps)
{
	struct ibcc_root *r = &f->root[f->e.n_roots++];

	*r = (struct ibcc_root){
		.port = port(f, i),
		.kind = IBCC_CONGESTION_INPUT,
		.link_mbps = LINK,
		.rate_mbps = LINK,
		.tree_wait_permille = 600,
		.confidence_permille = 1000,
		.n_contributors = n,
		.n_sources = n,
		.source = f->source,
	};
	for (uint32_t k = 0; k < n; k++)
		f->source[k] = (struct ibcc_source){
			.port = fabric_port(f->t, k, 1),
			.role = IBCC_ROLE_CANDIDATE,
			.xmit_mbps = mbps,
			.wait_permille = 600,
		};
	return r;
}

static void observe(struct fixture *f, unsigned int passes)
{
	while (passes--) {
		if (f->tn->since_change < UINT16_MAX)
			f->tn->since_change++;
		ibcc_tuner_observe(f->tn, f->t, &f->e);
	}
}

/* One more, in the root's own switch, that does not wait. */
static void add_near(struct fixture *f, struct ibcc_root *r, uint32_t mbps)
{
	f->source[r->n_sources] = (struct ibcc_source){
		.port = fabric_port(f->t, r->n_sources, 1),
		.role = IBCC_ROLE_NEAR,
		.xmit_mbps = mbps,
	};
	r->n_sources++;
}

/* Two that wait send less than the link carries; the rest comes from one in the root's own switch
 * that does not wait. What that one sends elsewhere they may send elsewhere, too.
 */
static void test_near_sources_count(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = full(f, 0, 2, 10000);

	observe(f, 1);
	assert_null(ibcc_tuner_find(f->tn, r->port));
	add_near(f, r, 20000);
	observe(f, 1);
	assert_non_null(ibcc_tuner_find(f->tn, r->port));
}

/* Two that wait send just what the link carries: it is all theirs, and nobody waits who could send
 * elsewhere, whatever a third one sends.
 */
static void test_who_waits_sends_it_all(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = full(f, 0, 2, LINK / 2);

	add_near(f, r, 20000);
	observe(f, 1);
	assert_null(ibcc_tuner_find(f->tn, r->port));
	f->source[0].xmit_mbps += LINK / 10;
	observe(f, 1);
	assert_non_null(ibcc_tuner_find(f->tn, r->port));
}

/* 8 adapters: more than two full links are many, and must be seen in three times as many passes. A
 * slow receiver cannot be mistaken.
 */
static void test_many_roots_take_longer(void **state)
{
	struct fixture *f = *state;

	full(f, 0, 4, 10000);
	full(f, 1, 4, 10000);
	assert_int_equal(ibcc_tuner_confirm_passes(f->tn, &f->e, IBCC_CONGESTION_INPUT), 2);
	full(f, 2, 4, 10000);
	assert_int_equal(ibcc_tuner_confirm_passes(f->tn, &f->e, IBCC_CONGESTION_INPUT), 6);
	assert_int_equal(ibcc_tuner_confirm_passes(f->tn, &f->e, IBCC_CONGESTION_OUTPUT), 2);
}

/* Changes in every third pass do not hide a link that stays full all the time. */
static void test_stands_through_changes(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = full(f, 0, 4, 10000);

	for (int i = 0; i < 3; i++) {
		f->tn->since_change = 0;
		observe(f, 3);
		assert_int_equal(ibcc_tuner_find(f->tn, r->port)->seen, 0);
	}
	f->tn->since_change = 0;
	observe(f, 3);
	assert_in_range(ibcc_tuner_find(f->tn, r->port)->seen, 2, 3);
}

/* A root's marks are those that came to the adapters behind it, its sources' BECNs only where
 * nobody counts marks.
 */
static void test_own_marks(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = full(f, 0, 4, 10000);

	f->source[0].becn = 50;
	assert_int_equal(ibcc_tuner_marks(&f->e, r), 50);
	f->e.fecn = 60;
	assert_int_equal(ibcc_tuner_marks(&f->e, r), 0);
	r->fecn = 10;
	assert_int_equal(ibcc_tuner_marks(&f->e, r), 10);
}

static struct ibcc_tuner_root *on(struct fixture *f, const struct ibcc_root *now)
{
	struct ibcc_tuner_root *r = ibcc_tuner_add(f->tn, now->port);

	r->kind = now->kind;
	r->on = r->in_force = r->begun = r->learned = true;
	ibcc_tuner_number(r, 28, 28, now->rate_mbps);
	r->threshold = ibcc_law_threshold(now->kind);
	return r;
}

static bool judge(struct fixture *f, struct ibcc_tuner_root *r, const struct ibcc_root *now,
		  uint32_t n, uint64_t marks)
{
	const struct ibcc_tuner_sources s = { n, n, LINK, marks, false, false };
	struct ibcc_text say = { .buf = f->text, .len = sizeof(f->text) };
	bool changed = false;

	f->text[0] = '\0';
	for (int i = 0; i < 4; i++)
		changed |= ibcc_tuner_judge(&f->p, r, now, &s, true, &say);
	return changed;
}

/* Sources get BECNs from another root while this one never marks: its threshold is too high. */
static void test_marks_of_others(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *now = full(f, 0, 4, 10000);
	struct ibcc_tuner_root *r = on(f, now);

	f->source[0].becn = 50;
	assert_false(judge(f, r, now, 0, 50)); /* own ones, though victims wait for nothing */
	r->last_tree_wait = 0;
	assert_true(judge(f, r, now, 0, 0));
	assert_int_equal(r->threshold, ibcc_law_threshold(IBCC_CONGESTION_INPUT) + 3);
	assert_non_null(strstr(f->text, "mark earlier"));
}

/* The table ends 15 % beyond what 28 need: a tenth nearer it would be too short for 31, who are not
 * held any more by it. For more than 32 it is already.
 */
static void test_more_contributors(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *now = full(f, 0, 4, 10000);
	struct ibcc_tuner_root *r = on(f, now);

	now->rate_mbps = LINK * 9 / 10;
	now->tree_wait_permille = 0;
	assert_true(judge(f, r, now, 31, 50));
	assert_int_equal(r->end_permille, 1000);
	assert_true(r->loop_permille < 1000);
	r->loop_permille = 1000;
	r->backoff = 0;
	assert_true(judge(f, r, now, 28, 50));
	assert_true(r->end_permille < 1000);
	now->rate_mbps = LINK;
	assert_true(judge(f, r, now, 33, 50));
	assert_int_equal(r->n, 33);
	assert_int_equal(r->end_permille, 1000);
}

/* A slow receiver that is not busy: its table never ends nearer than what was computed, since a few
 * sources more than were counted would all be lost; the timer gives way instead.
 */
static void test_slow_receiver_keeps_its_table(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *now = full(f, 0, 4, 10000);
	struct ibcc_tuner_root *r = on(f, now);

	r->kind = IBCC_CONGESTION_OUTPUT;
	r->alone = true;
	ibcc_tuner_number(r, 28, 28, LINK / 10);
	now->rate_mbps = LINK / 20;
	now->tree_wait_permille = 0;
	assert_true(judge(f, r, now, 28, 50));
	assert_int_equal(r->end_permille, 1000);
	assert_in_range(r->loop_permille, 700, 720);
	r->end_permille = 1050;
	r->backoff = 0;
	assert_true(judge(f, r, now, 28, 50));
	assert_int_equal(r->end_permille, 1000);
	assert_in_range(r->loop_permille, 700, 720);
}

/* An idle root is relaxed if nobody shares its sources. If others do, only a full link is, of which
 * is not known whom it limits.
 */
static void test_who_is_relaxed(void **state)
{
	static const struct {
		enum ibcc_congestion kind;
		bool told, alone, relaxed;
	} c[] = {
		{ IBCC_CONGESTION_INPUT, false, true, true },
		{ IBCC_CONGESTION_INPUT, true, true, true },
		{ IBCC_CONGESTION_OUTPUT, false, true, true },
		{ IBCC_CONGESTION_OUTPUT, true, true, true },
		{ IBCC_CONGESTION_INPUT, false, false, true },
		{ IBCC_CONGESTION_INPUT, true, false, false },
		{ IBCC_CONGESTION_OUTPUT, false, false, false },
		{ IBCC_CONGESTION_OUTPUT, true, false, false },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_root *now = full(f, 0, 4, 10000);
		struct ibcc_tuner_root *r = on(f, now);

		r->kind = c[i].kind;
		r->told.on = c[i].told;
		r->alone = c[i].alone;
		r->learned = true;
		ibcc_tuner_number(r, 28, 28, LINK / 10);
		now->rate_mbps = LINK / 20;
		now->tree_wait_permille = 0;
		assert_int_equal(judge(f, r, now, 28, 50), c[i].relaxed);
		assert_int_equal(strstr(f->text, "relax") != NULL, c[i].relaxed);
		ibcc_tuner_drop(f->tn, r);
	}
}

/* Where the table ends is the business of the root whose table it is. How often sources are marked
 * is each one's, which is told from twice the time between packets of the heaviest on.
 */
static void test_follows_another(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *now = full(f, 0, 4, 10000);
	struct ibcc_tuner_root *r = on(f, now);
	struct ibcc_text say = { .buf = f->text, .len = sizeof(f->text) };
	struct ibcc_tuner_sources s = { 40, 56, LINK, 0, false, false };

	now->tree_wait_permille = 0;
	for (int i = 0; i < 4; i++)
		assert_false(ibcc_tuner_judge(&f->p, r, now, &s, false, &say));
	assert_int_equal(r->n, 28);
	s.n_heavy = 57;
	for (int i = 0; i < 3; i++)
		assert_false(ibcc_tuner_judge(&f->p, r, now, &s, false, &say));
	assert_true(ibcc_tuner_judge(&f->p, r, now, &s, false, &say));
	assert_int_equal(r->n, 40);
	assert_int_equal(r->n_heavy, 57);
	ibcc_tuner_number(r, 28, 28, LINK);
	s.n_heavy = 28;
	for (int i = 0; i < 3; i++)
		assert_false(ibcc_tuner_judge(&f->p, r, now, &s, true, &say));
	assert_true(ibcc_tuner_judge(&f->p, r, now, &s, true, &say));
}

/* What keeps a port idle may be another root's tree: less delay for all would feed that. */
static void test_jammed(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *now = full(f, 0, 4, 10000);
	struct ibcc_tuner_root *r = on(f, now);
	struct ibcc_text say = { .buf = f->text, .len = sizeof(f->text) };
	struct ibcc_tuner_sources s = { 28, 28, LINK, 50, true, false };

	now->rate_mbps = LINK / 10 * 9;
	now->tree_wait_permille = 0;
	for (int i = 0; i < 4; i++)
		assert_false(ibcc_tuner_judge(&f->p, r, now, &s, true, &say));
	/* What was taken off before is put back. */
	r->end_permille = 900;
	r->loop_permille = 510;
	for (int i = 0; i < 4; i++)
		assert_false(ibcc_tuner_judge(&f->p, r, now, &s, false, &say));
	for (int i = 0; i < 3; i++)
		assert_false(ibcc_tuner_judge(&f->p, r, now, &s, true, &say));
	assert_true(ibcc_tuner_judge(&f->p, r, now, &s, true, &say));
	assert_int_equal(r->end_permille, 1000);
	assert_int_equal(r->loop_permille, 1000);
	assert_non_null(strstr(f->text, "another root"));
	r->backoff = 0;
	s.jammed = false;
	for (int i = 0; i < 3; i++)
		assert_false(ibcc_tuner_judge(&f->p, r, now, &s, true, &say));
	assert_true(ibcc_tuner_judge(&f->p, r, now, &s, true, &say));
	assert_true(r->end_permille < 1000);
}

/* In 1 ms 32000 Mb/s are 2000 packets of 2000 bytes. Where more than half of them are marked and
 * sources wait, the table does not hold them.
 */
static void test_marks_in_vain(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *now = full(f, 0, 4, 10000);
	struct ibcc_tuner_root *r = on(f, now);

	now->rate_mbps = LINK;
	now->tree_wait_permille = 300;
	r->packet_bytes = 2000;
	r->interval_ns = 1000000;
	r->last_tree_wait = 1000;
	assert_false(judge(f, r, now, 28, 1001)); /* it may be draining */
	assert_false(judge(f, r, now, 28, 1000));
	assert_int_equal(r->end_permille, 1000);
	assert_true(judge(f, r, now, 28, 1001));
	assert_int_equal(r->end_permille, 2000);
	assert_non_null(strstr(f->text, "hold them more"));
	r->kind = IBCC_CONGESTION_OUTPUT;
	assert_false(judge(f, r, now, 28, 1001));
	r->kind = IBCC_CONGESTION_INPUT;
	assert_true(judge(f, r, now, 28, 1001));
	assert_false(judge(f, r, now, 28, 1001)); /* four times is the end */
	assert_int_equal(r->end_permille, 4000);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_near_sources_count),
		TEST(test_who_waits_sends_it_all),
		TEST(test_many_roots_take_longer),
		TEST(test_stands_through_changes),
		TEST(test_own_marks),
		TEST(test_marks_of_others),
		TEST(test_more_contributors),
		TEST(test_slow_receiver_keeps_its_table),
		TEST(test_who_is_relaxed),
		TEST(test_follows_another),
		TEST(test_jammed),
		TEST(test_marks_in_vain),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
