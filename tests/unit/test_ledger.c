/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose are an endport's settings, by the book, by what was read, and by what the tuner holds. */
#include "scenes.h"

#define TIMER 77 /* the site's own, of SL 2 */
#define KEEP  3u

struct left {
	struct ibcc_book book;
	struct ibcc_settings site;
	uint32_t ca, sw; /* endports of adapter 0 and of the switch that adapter 6 is at */
};

/* Writes down what turns the site's settings into those that are there. */
static void write_down(const struct fixture *f, struct left *x)
{
	struct ibcc_target target = { .wanted = f->actual };
	struct ibcc_plan plan;

	assert_int_equal(ibcc_planner_run(f->t, &x->site, &target, &plan), 0);
	for (uint32_t i = 0; i < plan.n; i++)
		assert_int_equal(ibcc_book_note(&x->book, &plan.change[i], 1, IBCC_BOOK_MAKE, true),
				 0);
	ibcc_plan_fini(&plan);
}

static void begin(struct fixture *f, struct left *x)
{
	*x = (struct left){ .ca = endport_of(f, 0), .sw = endport_of(f, 11) };
	cc(f, 0)->ca.sl[2].CCTI_Timer = TIMER;
	assert_int_equal(ibcc_settings_copy(&x->site, &f->actual), 0);
}

/* An adapter and a switch have settings of ours. */
static void begin_left(struct fixture *f, struct left *x)
{
	begin(f, x);
	cc(f, 0)->ca.sl[2].CCTI_Timer = 10;
	assert_int_equal(ibcc_cct_build(&cc(f, 0)->cct, IBCC_CCT_LINEAR, 64, 3000), 0);
	cc(f, 11)->element[1].Valid = true;
	cc(f, 11)->element[1].Threshold = 5;
	write_down(f, x);
}

static void end(struct left *x)
{
	ibcc_book_fini(&x->book);
	ibcc_settings_fini(&x->site);
}

static void look(struct fixture *f, const struct left *x)
{
	assert_int_equal(ibcc_ledger_look(&f->ledger, &x->book, f->t, &f->actual), 0);
}

static bool has_base(const struct fixture *f, const struct left *x, uint32_t e)
{
	return !ibcc_settings_differ(&f->ledger.base.ep[e], &x->site.ep[e]);
}

static void test_look(void **state)
{
	struct fixture *f = *state;
	struct ibcc_ledger *l = &f->ledger;
	struct left x;

	begin_left(f, &x);
	look(f, &x);
	assert_int_equal(l->n_left, 2);
	assert_int_equal(l->hold[x.ca], IBCC_LEDGER_LEFT);
	assert_int_equal(l->hold[x.sw], IBCC_LEDGER_LEFT);
	assert_true(has_base(f, &x, x.ca) && has_base(f, &x, x.sw));
	/* Another program has written over all of it; the switch says nothing now. */
	cc(f, 0)->ca.sl[2].CCTI_Timer = 5;
	cc(f, 0)->cct.entry[0]++;
	cc(f, 11)->support = IBCC_CC_UNKNOWN;
	look(f, &x);
	assert_int_equal(l->n_left, 1);
	assert_false(ibcc_ledger_is_ours(l, x.ca));
	assert_int_equal(l->hold[x.sw], IBCC_LEDGER_LEFT);
	/* What another program wrote is what the tuner leaves behind. */
	assert_int_equal(ibcc_ledger_hold(l, x.ca, cc(f, 0)), 0);
	assert_int_equal(l->base.ep[x.ca].ca.sl[2].CCTI_Timer, 5);
	assert_int_equal(ibcc_ledger_hold(l, x.sw, cc(f, 11)), 0);
	assert_true(has_base(f, &x, x.sw));
	assert_int_equal(l->n_left, 0);
	/* That stays so, whatever is read, until it is let go. */
	cc(f, 11)->support = IBCC_CC_SUPPORTED;
	look(f, &x);
	assert_int_equal(ibcc_ledger_hold(l, x.ca, &x.site.ep[x.ca]), 0);
	assert_int_equal(l->base.ep[x.ca].ca.sl[2].CCTI_Timer, 5);
	assert_true(ibcc_ledger_is_held(l, x.ca) && ibcc_ledger_is_held(l, x.sw));
	ibcc_ledger_release(l, x.sw);
	look(f, &x);
	assert_int_equal(l->n_left, 1);
	/* By the books both have something of ours, also without the ledger. */
	for (int known = 0; known < 2; known++) {
		bool which[ENDPORTS_MAX] = { false };

		assert_int_equal(ibcc_ledger_hold(l, endport_of(f, 3), cc(f, 3)), 0);
		assert_int_equal(ibcc_ledger_ours(known ? l : NULL, &x.book, f->t, which),
				 2 + known);
		assert_true(which[x.ca] && which[x.sw]);
		assert_int_equal(which[endport_of(f, 3)], known);
	}
	end(&x);
}

/* A pass in which the tuner wants nothing; returns for how many attributes there is a reason. */
static uint32_t lay(struct fixture *f, const struct left *x, struct ibcc_target *target)
{
	ibcc_target_fini(target);
	look(f, x);
	assert_int_equal(ibcc_settings_copy(&target->wanted, &f->actual), 0);
	assert_int_equal(ibcc_ledger_lay(&f->ledger, f->t, &f->actual, &f->s.pic, KEEP, target), 0);
	return target->n_reasons;
}

/* What is left stays as long as a root marks by it, or it is unknown whether one does, and some
 * passes more.
 */
static void test_kept(void **state)
{
	struct ibcc_target target = { 0 };
	struct fixture *f = *state;
	struct left x;

	begin_left(f, &x);
	f->s.pic.trustworthy = false;
	for (unsigned int i = 0; i < 2 * KEEP; i++)
		assert_int_equal(lay(f, &x, &target), 0);
	f->s.pic.trustworthy = true;
	see_slow(f);
	for (unsigned int i = 0; i < 2 * KEEP; i++)
		assert_int_equal(lay(f, &x, &target), 0);
	f->s.pic.n_roots = 0;
	for (unsigned int i = 1; i < KEEP; i++)
		assert_int_equal(lay(f, &x, &target), 0);
	assert_int_equal(target.decisions.n_left, 2);
	assert_false(target.decisions.left_goes);
	assert_int_equal(ibcc_settings_differ(&target.wanted.ep[x.ca], cc(f, 0)), 0);
	assert_int_equal(lay(f, &x, &target), 2 * 4);
	assert_int_equal(target.decisions.n_left, 2);
	assert_true(target.decisions.left_goes);
	for (uint32_t e = 0; e < f->t->n_endports; e++)
		assert_int_equal(ibcc_settings_differ(&target.wanted.ep[e], &x.site.ep[e]), 0);
	/* It is back, so there is nothing left. */
	take(f, &target.wanted);
	assert_int_equal(lay(f, &x, &target), 0);
	assert_int_equal(target.decisions.n_left, 0);
	ibcc_target_fini(&target);
	end(&x);
}

static void passes_by_book(struct fixture *f, const struct left *x, unsigned int n)
{
	while (n--) {
		look(f, x);
		pass(f);
	}
}

/* A tuner goes on with a root one of whose members does not answer at first. In the end that one,
 * too, gets what the site had there.
 */
static void test_silent_member(void **state)
{
	struct fixture *f = *state;
	struct ibcc_control control;
	struct left x;

	begin(f, &x);
	hold(f, see_slow(f));
	write_down(f, &x);
	assert_int_not_equal(ibcc_settings_differ(&x.site.ep[x.ca], cc(f, 0)), 0);
	assert_int_equal(ibcc_tuner_save(f->tn, f->t, &control), 0);
	assert_int_equal(control.n_roots, 1);
	forget(f);
	cc(f, 0)->support = IBCC_CC_UNKNOWN;
	look(f, &x);
	assert_int_equal(ibcc_tuner_resume(f->tn, f->t, &control, &f->actual, &f->ledger, false),
			 0);
	assert_int_equal(control.n_roots, 0);
	assert_true(ibcc_ledger_is_held(&f->ledger, x.sw));
	assert_true(ibcc_ledger_is_held(&f->ledger, endport_of(f, 1)));
	cc(f, 0)->support = IBCC_CC_SUPPORTED;
	passes_by_book(f, &x, 2);
	assert_true(ibcc_ledger_is_held(&f->ledger, x.ca));
	assert_true(has_base(f, &x, x.ca));
	f->s.pic.n_roots = f->s.pic.n_known = 0;
	passes_by_book(f, &x, 3u * f->p.quiet_passes);
	assert_int_equal(ibcc_tuner_parameters(f->tn)->n_roots, 0);
	for (uint32_t e = 0; e < f->t->n_endports; e++)
		assert_int_equal(ibcc_settings_differ(&x.site.ep[e], &f->actual.ep[e]), 0);
	ibcc_control_fini(&control);
	end(&x);
}

/* The part of a plan that only takes our settings back, of all changes of an endport or of none. */
static void test_way_back(void **state)
{
	struct fixture *f = *state;
	struct ibcc_target target = { 0 };
	struct ibcc_plan plan, part;
	struct left x;

	begin_left(f, &x);
	assert_int_equal(ibcc_settings_copy(&target.wanted, &x.site), 0);
	for (int more = 0; more < 2; more++) {
		if (more) /* the adapter is to have another table than before us */
			target.wanted.ep[x.ca].cct.entry[0] = 7;
		assert_int_equal(ibcc_planner_run(f->t, &f->actual, &target, &plan), 0);
		assert_int_equal(ibcc_ledger_way_back(&x.book, f->t, &f->actual, &plan, &part), 0);
		assert_int_equal(part.n, more ? 1 : plan.n);
		assert_int_equal(part.change[part.n - 1].node_guid, f->t->node[11].guid);
		ibcc_plan_fini(&part);
		ibcc_plan_fini(&plan);
	}
	ibcc_target_fini(&target);
	end(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE(test_look),
		SCENE(test_kept),
		SCENE(test_silent_member),
		SCENE(test_way_back),
	};

	return cmocka_run_group_tests_name("ledger", tests, NULL, NULL);
}
