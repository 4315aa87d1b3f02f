/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is otherwise for a root that was told by its switch's CongestionLog whom it limits. The
 * oracle is the same root without that.
 */
#include "told.h"

#define SAY "nobody waits for the hot port: mark fewer packets"

/* Three of five adapters that wait send to the slow receiver 6. */
static void congest(struct fixture *f)
{
	tree_hotspot(f, 6, true);
	for (uint32_t i = 1; i < 4; i += 2)
		*traffic_at(&f->tr, i, 1) = (struct traffic_port){ 6000, 800, 0, 0, 0 };
}

/* The tree is gone, its sources are held. */
static void calm_down(struct fixture *f)
{
	for (uint32_t i = 0; i < 6; i += 2) {
		*traffic_at(&f->tr, i, 1) = (struct traffic_port){ 2000, 10, 40, 0, 0 };
		traffic_at(&f->tr, 8 + i / 2, 3)->wait_permille = 0;
		traffic_at(&f->tr, i + 1, 1)->wait_permille = 0;
	}
	traffic_at(&f->tr, 12, 4)->wait_permille = 0;
	traffic_at(&f->tr, 6, 1)->fecn = 120;
}

/* Passes in which n packets of each of the three are logged; true if in one this was said. */
static bool log_passes(struct fixture *f, unsigned int n_passes, unsigned int n, const char *said)
{
	bool was = false;

	while (n_passes--) {
		traffic_pass(&f->tr);
		for (uint32_t i = 0; i < 6; i += 2)
			traffic_log(&f->tr, 11, traffic_lid(&f->tr, i), traffic_lid(&f->tr, 6), n);
		decide(f);
		was |= strstr(f->summary, said) != NULL;
	}
	return was;
}

static const struct ibcc_tuner_root *slow(struct fixture *f)
{
	struct ibcc_tuner_root *r = ibcc_tuner_find(f->tn, fabric_port(f->t, 11, 1));

	assert_non_null(r);
	return r;
}

/* Two passes to confirm it, one in which its values come, two until its tree is seen empty: from
 * then on 15 packets a pass are counted, and 68 are known in the fifth. Five adapters had waited.
 */
static void test_step(void **state)
{
	struct fixture *f = *state;

	congest(f);
	log_passes(f, 3, 5, "");
	calm_down(f);
	assert_false(log_passes(f, 5, 5, "CongestionLog"));
	assert_int_equal(slow(f)->n, 5);
	log_passes(f, 1, 5, "");
	assert_string_equal(f->summary,
			    "the switch's CongestionLog names 3 pairs that the root limits to 6000 "
			    "Mb/s in all: formulas for them, which had 5 and 6000 Mb/s");
	assert_int_equal(slow(f)->n, 3);
	/* x = 3 * 32000 / 6000 - 1 = 15, 1.15 * 15 + .5 = 17.75, on the fabric in this pass. */
	for (uint32_t i = 0; i < 6; i += 2) {
		const struct ibcc_cct *c = &ca_cc(f, i)->cct;

		assert_int_equal(ibcc_cct_entry_delay_milli(c->entry[c->limit]), 17750);
	}
}

/* A slow receiver alone marks as much without a tree as with one, whether it knows whom it limits
 */
static void test_not_calm_alone(void **state)
{
	struct fixture *f = *state;

	congest(f);
	log_passes(f, 3, 5, "");
	calm_down(f);
	assert_false(log_passes(f, 30, 5, SAY));
	assert_false(slow(f)->calm);
}

/* ... or not. */
static void test_not_calm(void **state)
{
	struct fixture *f = *state;

	congest(f);
	log_passes(f, 3, 0, "");
	calm_down(f);
	assert_false(log_passes(f, 60, 0, SAY));
	assert_false(slow(f)->calm);
}

static bool judge(struct fixture *f, struct ibcc_tuner_root *r, const struct ibcc_root *now,
		  const struct ibcc_tuner_sources *s)
{
	struct ibcc_text say = { .buf = f->summary, .len = sizeof(f->summary) };
	bool changed = false;

	for (int i = 0; i < 4; i++)
		changed |= ibcc_tuner_judge(&f->p, r, now, s, true, &say);
	return changed;
}

/* Counters name 40 contributors in place of 28. */
static void test_no_formulas_by_becns(void **state)
{
	const struct ibcc_tuner_sources s = { 40, 40, QDR_MBPS, 50, false, false };
	struct ibcc_root now = { .link_mbps = QDR_MBPS, .rate_mbps = QDR_MBPS };
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);

	ibcc_tuner_number(r, 28, 28, QDR_MBPS);
	r->told.on = true;
	assert_false(judge(f, r, &now, &s));
	assert_int_equal(r->n, 28);
	r->told.on = false;
	assert_true(judge(f, r, &now, &s));
	assert_int_equal(r->n, 40);
}

/* The port is only 90 % busy. */
static void test_not_relaxed(void **state)
{
	const struct ibcc_tuner_sources s = { 28, 28, QDR_MBPS, 50, false, false };
	struct ibcc_root now = { .link_mbps = QDR_MBPS, .rate_mbps = QDR_MBPS / 10 * 9 };
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);

	ibcc_tuner_number(r, 28, 28, QDR_MBPS);
	r->told.on = true;
	assert_false(judge(f, r, &now, &s));
	assert_int_equal(r->end_permille, 1000);
	assert_int_equal(r->loop_permille, 1000);
	r->told.on = false;
	assert_true(judge(f, r, &now, &s));
	assert_true(r->end_permille < 1000);
}

/* What a root in an estimate must be to be taken up in doubt. */
static struct ibcc_root doubtful(const struct ibcc_tuner_root *r)
{
	return (struct ibcc_root){
		.port = r->port,
		.kind = IBCC_CONGESTION_INPUT,
		.link_mbps = QDR_MBPS,
		.rate_mbps = QDR_MBPS,
		.tree_wait_permille = 50,
		.confidence_permille = 700,
		.n_contributors = 2,
	};
}

static void test_may_learn(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *told = slow_root(f), *r = full_root(f);
	struct ibcc_root now = doubtful(r);

	r->on = r->in_force = false;
	r->present = 6;
	told->told.on = true;
	assert_true(ibcc_tuner_may_learn(f->tn, r, &now));
	told->told.on = false; /* no switch is known to log */
	assert_false(ibcc_tuner_may_learn(f->tn, r, &now));
	told->told.on = true;
	r->present = 5;
	assert_false(ibcc_tuner_may_learn(f->tn, r, &now));
	r->present = 6;
	now.tree_wait_permille = 49;
	assert_false(ibcc_tuner_may_learn(f->tn, r, &now));
	now = doubtful(r);
	now.confidence_permille = 699;
	assert_false(ibcc_tuner_may_learn(f->tn, r, &now));
	now = doubtful(r);
	now.kind = IBCC_CONGESTION_OUTPUT; /* has just turned */
	assert_false(ibcc_tuner_may_learn(f->tn, r, &now));
	r->kind = IBCC_CONGESTION_OUTPUT; /* is confirmed soon enough */
	assert_false(ibcc_tuner_may_learn(f->tn, r, &now));
}

/* A full link that holds up nobody, as far as counters tell, is followed if pairs may show more. */
static void test_followed(void **state)
{
	struct ibcc_source source[2] = { { .role = IBCC_ROLE_CONTRIBUTOR },
					 { .role = IBCC_ROLE_CONTRIBUTOR } };
	struct fixture *f = *state;
	struct ibcc_tuner_root *told = slow_root(f), *r;
	struct ibcc_root now =
		doubtful(&(struct ibcc_tuner_root){ .port = fabric_port(f->t, 8, 3) });
	struct ibcc_estimate e = { .n_roots = 1, .root = &now };

	source[0].port = fabric_port(f->t, 0, 1);
	source[1].port = fabric_port(f->t, 1, 1);
	now.n_sources = 2;
	now.source = source;
	ibcc_tuner_observe(f->tn, f->t, &e);
	assert_null(ibcc_tuner_find(f->tn, now.port));
	told->told.on = true;
	for (unsigned int i = 0; i < 5; i++)
		ibcc_tuner_observe(f->tn, f->t, &e);
	r = ibcc_tuner_find(f->tn, now.port);
	assert_non_null(r);
	assert_int_equal(r->seen, 0);
	assert_false(ibcc_tuner_may_learn(f->tn, r, &now));
	ibcc_tuner_observe(f->tn, f->t, &e);
	assert_true(ibcc_tuner_may_learn(f->tn, r, &now));
}

/* Half of the places are left for roots that are worth acting on. */
static void test_room(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root now[IBCC_TUNER_MAX_ROOTS] = { 0 };
	struct ibcc_estimate e = { .n_roots = IBCC_TUNER_MAX_ROOTS, .root = now };

	slow_root(f)->told.on = true;
	for (uint32_t i = 0; i < IBCC_TUNER_MAX_ROOTS; i++)
		now[i] = doubtful(&(struct ibcc_tuner_root){ .port = 1000 + i });
	ibcc_tuner_observe(f->tn, f->t, &e);
	assert_int_equal(f->tn->n_roots, IBCC_TUNER_MAX_ROOTS / 2);
}

/* ... and is on after six passes, as if its tree were gone, since others hold its sources. */
static void taken_up(struct fixture *f, bool known, uint32_t n_sources)
{
	struct ibcc_source source[2] = { { .role = IBCC_ROLE_CONTRIBUTOR },
					 { .role = IBCC_ROLE_CONTRIBUTOR } };
	struct ibcc_tuner_root *told = slow_root(f), *r = full_root(f);
	struct ibcc_root now = doubtful(r);
	struct ibcc_estimate e = { .n_cas = 8, .trustworthy = true, .n_roots = 1, .root = &now };
	struct ibcc_target target;

	source[0].port = fabric_port(f->t, 0, 1);
	source[1].port = fabric_port(f->t, 1, 1);
	now.n_sources = n_sources;
	now.source = n_sources ? source : NULL;
	for (uint32_t i = 2; i < 5; i++)
		give_pair(f, told, i, 6, 100);
	give_load(told, SLOW_MBPS);
	told->pairs.unlogged = known ? 0 : 8;
	told->told.on = true;
	r->on = r->in_force = r->begun = r->learned = false;
	r->present = 5;
	traffic_pass(&f->tr);
	assert_int_equal(ibcc_tuner_step(f->tn, f->t, &f->tr.s, &e, &f->actual, &target), 0);
	assert_int_equal(told->told.on, known);
	assert_int_equal(r->present, 6);
	assert_int_equal(r->on, known);
	assert_int_equal(r->calm, known);
	assert_int_equal(r->learned, known && n_sources);
	assert_int_equal(r->member[endport_of(f, 0)], known && n_sources);
	ibcc_target_fini(&target);
}

static void test_taken_up(void **state)
{
	taken_up(*state, true, 2);
}

static void test_not_taken_up(void **state)
{
	taken_up(*state, false, 2);
}

/* That they contribute is said of two, but nothing of them: who they are is still to be learned. */
static void test_taken_up_without_sources(void **state)
{
	taken_up(*state, true, 0);
}

/* A full link alone that is busy while hardly anybody waits: better numbers would bring nothing. */
static void test_well(void **state)
{
	struct fixture *f = *state;
	struct ibcc_tuner_root *r = full_root(f);
	struct trees trees = { 0 };
	char buf[IBCC_REASON_BYTES];
	struct ibcc_text say = { .buf = buf, .len = sizeof(buf) };

	for (uint32_t i = 0; i < 2; i++) {
		give_pair(f, r, i, 6, 100);
		/* At its end each may send half of its link, which it does. */
		assert_int_equal(ibcc_law_table(128, 1000, &ca_cc(f, i)->cct), 0);
	}
	give_load(r, QDR_MBPS);
	ibcc_tuner_number(r, 7, 7, QDR_MBPS);
	stand(&trees, r, 99);
	trees.root[0].link_mbps = QDR_MBPS;
	trees.root[0].rate_mbps = QDR_MBPS / 100 * 97;
	assert_int_equal(ibcc_tuner_tell(f->tn, f->t, &trees.e, &f->actual, &say), 0);
	assert_true(r->told.on);
	assert_int_equal(r->n, 7);
	/* They wait, or it is idle now and then. */
	trees.root[0].tree_wait_permille = 100;
	r->told = (struct ibcc_tuner_told){ 0 };
	assert_int_equal(ibcc_tuner_tell(f->tn, f->t, &trees.e, &f->actual, &say), 0);
	assert_int_equal(r->n, 2);
	trees.root[0].tree_wait_permille = 99;
	trees.root[0].rate_mbps -= QDR_MBPS / 1000;
	ibcc_tuner_number(r, 7, 7, QDR_MBPS);
	r->told = (struct ibcc_tuner_told){ 0 };
	assert_int_equal(ibcc_tuner_tell(f->tn, f->t, &trees.e, &f->actual, &say), 0);
	assert_int_equal(r->n, 2);
	/* With another root what one gives its sources is the other's business, too. */
	trees.root[0].rate_mbps = QDR_MBPS;
	ibcc_tuner_number(r, 7, 7, QDR_MBPS);
	r->told = (struct ibcc_tuner_told){ 0 };
	assert_ptr_equal(&f->tn->root[0], r);
	slow_root(f);
	assert_int_equal(ibcc_tuner_tell(f->tn, f->t, &trees.e, &f->actual, &say), 0);
	assert_int_equal(r->n, 2);
}

int main(void)
{
#define TEST(t) cmocka_unit_test_setup_teardown(t, setup_told, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_step),
		TEST(test_not_calm_alone),
		TEST(test_not_calm),
		TEST(test_no_formulas_by_becns),
		TEST(test_not_relaxed),
		TEST(test_may_learn),
		TEST(test_followed),
		TEST(test_room),
		TEST(test_taken_up),
		TEST(test_not_taken_up),
		TEST(test_taken_up_without_sources),
		TEST(test_well),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
