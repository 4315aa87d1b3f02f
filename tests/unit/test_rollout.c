/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which nodes get settings first, and what has no effect: by plans, estimates and snapshots made up
 * by hand. 32 adapters h0..h31 on eight leaves; the root is leaf 7's port to h31, h0..h11 send to
 * it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fabrics.h"

#include <ibcc/rollout.h>

#define SENDERS 12u
#define LEAF7   39u

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_settings actual, wanted;
	struct ibcc_parameters par;
	struct ibcc_estimate pic;
	struct ibcc_root root;
	struct ibcc_source source[SENDERS];
	struct ibcc_load *load;
	struct ibcc_snapshot s;
	struct ibcc_rollout r;
	struct ibcc_plan plan, part;
	uint32_t sw;
};

static uint32_t adapter(const struct fixture *f, uint32_t node)
{
	return f->t->port[fabric_port(f->t, node, 1)].endport;
}

static void open_fixture(struct fixture *f)
{
	struct ibcc_root_state *s;
	struct ibcc_root_parameters *root;

	*f = (struct fixture){ .t = fabric_tree2(8) };
	assert_int_equal(ibcc_settings_init(&f->actual, f->t), 0);
	for (uint32_t i = 0; i < f->actual.n; i++)
		f->actual.ep[i].support = IBCC_CC_SUPPORTED;
	assert_int_equal(ibcc_settings_copy(&f->wanted, &f->actual), 0);
	f->load = calloc(f->t->n_endports, sizeof(*f->load));
	assert_non_null(f->load);
	f->par.n_endports = f->t->n_endports;
	s = ibcc_parameters_add(&f->par, fabric_port(f->t, LEAF7, 4));
	assert_non_null(s);
	root = &s->r;
	root->phase = IBCC_PHASE_HOLD;
	f->sw = ibcc_topo_switch_endport(f->t, root->port);
	assert_int_equal(ibcc_snapshot_init(&f->s, f->t), 0);
	for (uint32_t i = 0; i < f->t->n_ports; i++) {
		f->s.port[i].state = IBCC_SAMPLE_FRESH;
		f->s.port[i].now.width[IBCC_CTR_RCV_BECN] = 32;
	}
	for (uint32_t i = 0; i < SENDERS; i++) {
		root->member[adapter(f, i)] = true;
		f->load[adapter(f, i)].mbps = 100 * ((i * 7) % SENDERS); /* 5, 10, 3: the most */
		f->source[i] = (struct ibcc_source){ .port = fabric_port(f->t, i, 1),
						     .role = IBCC_ROLE_CANDIDATE };
	}
	f->root = (struct ibcc_root){
		.port = root->port,
		.rate_mbps = 16000,
		.tree_wait_permille = 600,
		.n_sources = SENDERS,
		.source = f->source,
		.fresh = true,
		.interval_ns = 1000000,
		.packet_bytes = 2000,
	};
	f->pic = (struct ibcc_estimate){
		.interval_ns = 1000000,
		.trustworthy = true,
		.n_roots = 1,
		.n_known = 1,
		.root = &f->root,
		.n_loads = f->t->n_endports,
		.load = f->load,
	};
}

static void close_fixture(struct fixture *f)
{
	ibcc_plan_fini(&f->plan);
	ibcc_plan_fini(&f->part);
	ibcc_snapshot_fini(&f->s);
	ibcc_parameters_fini(&f->par);
	ibcc_settings_fini(&f->actual);
	ibcc_settings_fini(&f->wanted);
	free(f->load);
	ibcc_topo_free(f->t);
}

static void throttle(struct fixture *f, uint32_t node, bool on)
{
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		f->wanted.ep[adapter(f, node)].ca.sl[sl] =
			(struct ibcc_cc_ca_entry){ .CCTI_Timer = on ? 30 : 0, .CCTI_Increase = on };
	ibcc_cct_build(&f->wanted.ep[adapter(f, node)].cct, IBCC_CCT_LINEAR, on ? 32 : 1,
		       on ? 8000 : 0);
}

/* What is to be set: the root's switch marks, and so many of the senders are held. */
static void want(struct fixture *f, uint32_t n)
{
	f->wanted.ep[f->sw].sw.Threshold = 12;
	for (uint32_t i = 0; i < n; i++)
		throttle(f, i, true);
}

static void split(struct fixture *f)
{
	const struct ibcc_target target = { .wanted = f->wanted };

	ibcc_plan_fini(&f->plan);
	ibcc_plan_fini(&f->part);
	assert_int_equal(ibcc_planner_run(f->t, &f->actual, &target, &f->plan), 0);
	assert_int_equal(ibcc_rollout_split(&f->r, f->t, &f->par, &f->pic, &f->actual, &f->wanted,
					    &f->plan, &f->part),
			 0);
}

static bool is_in(const struct ibcc_plan *p, const struct fixture *f, uint32_t node)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (p->change[i].node_guid == f->t->node[node].guid)
			return true;
	return false;
}

/* What the part has is on the fabric. */
static void write_part(struct fixture *f)
{
	for (uint32_t i = 0; i < f->t->n_endports; i++) {
		uint32_t node = f->t->port[f->t->endport[i]].node;

		if (!is_in(&f->part, f, node))
			continue;
		f->actual.ep[i].sw = f->wanted.ep[i].sw;
		f->actual.ep[i].ca = f->wanted.ep[i].ca;
		f->actual.ep[i].cct = f->wanted.ep[i].cct;
	}
}

static uint32_t judge(struct fixture *f)
{
	return ibcc_rollout_judge(&f->r, f->t, &f->par, &f->pic, &f->s, &f->actual);
}

/* Passes until it is said that nothing helps; 0: not within 30. */
static unsigned int passes_in_vain(struct fixture *f)
{
	for (unsigned int n = 1; n <= 30; n++)
		if (judge(f) != IBCC_NONE)
			return n;
	return 0;
}

static void test_few_at_once(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f);
	want(&f, IBCC_ROLLOUT_NODES - 1); /* and the switch */
	split(&f);
	assert_int_equal(f.part.n, f.plan.n);
	assert_int_equal(f.r.n_left, 0);
	close_fixture(&f);
}

static void test_canaries(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f);
	want(&f, SENDERS);
	split(&f);
	assert_true(is_in(&f.part, &f, LEAF7));
	for (uint32_t i = 0; i < SENDERS; i++)
		assert_int_equal(is_in(&f.part, &f, i), i == 5 || i == 10 || i == 3);
	assert_int_equal(f.r.n_written, 4);
	assert_int_equal(f.r.n_left, SENDERS - 3);
	write_part(&f);
	/* No mark yet: the others go on waiting. */
	assert_int_equal(judge(&f), IBCC_NONE);
	split(&f);
	assert_int_equal(f.part.n, 0);
	assert_int_equal(f.r.n_left, SENDERS - 3);
	/* Another root's adapters need not. */
	throttle(&f, 20, true);
	split(&f);
	assert_true(f.part.n && is_in(&f.part, &f, 20));
	f.root.becn = 1;
	assert_int_equal(judge(&f), IBCC_NONE);
	split(&f);
	assert_int_equal(f.part.n, f.plan.n);
	assert_int_equal(f.r.n_left, 0);
	close_fixture(&f);
}

/* Whatever is taken off is taken off now. */
static void test_relaxing(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f);
	for (uint32_t i = 12; i < 24; i++)
		throttle(&f, i, true);
	split(&f);
	write_part(&f);
	for (uint32_t i = 12; i < 24; i++)
		throttle(&f, i, false);
	want(&f, SENDERS);
	split(&f);
	for (uint32_t i = 12; i < 24; i++)
		assert_true(is_in(&f.part, &f, i));
	assert_false(is_in(&f.part, &f, 0));
	close_fixture(&f);
}

static void test_begins_anew(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f);
	want(&f, SENDERS);
	split(&f);
	write_part(&f);
	f.root.fecn = 1;
	f.pic.fecn = 1;
	judge(&f);
	assert_int_equal(f.r.root[0].stage, IBCC_ROLLOUT_PROVEN);
	f.par.root[0].r.phase = IBCC_PHASE_WATCH;
	judge(&f);
	assert_int_equal(f.r.n_roots, 0);
	f.par.root[0].r.phase = IBCC_PHASE_HOLD;
	judge(&f);
	assert_int_equal(f.r.root[0].stage, IBCC_ROLLOUT_NEW);
	ibcc_rollout_all(&f.r, &f.par);
	assert_int_equal(f.r.root[0].stage, IBCC_ROLLOUT_WHOLE);
	close_fixture(&f);
}

static void test_ignored(void **state)
{
	struct ibcc_why text;
	struct fixture f;

	(void)state;
	open_fixture(&f);
	ibcc_rollout_text(&f.r, f.t, &text);
	assert_string_equal(text.text, "");
	want(&f, SENDERS);
	split(&f);
	assert_int_equal(passes_in_vain(&f), 0); /* nothing is written as yet */
	write_part(&f);
	assert_int_equal(passes_in_vain(&f), IBCC_ROLLOUT_PASSES);
	assert_int_equal(f.r.n_ignorers, 1);
	ibcc_rollout_text(&f.r, f.t, &text);
	assert_non_null(strstr(text.text, "no effect after 8 polling cycles: \"leaf7\" port 4"));
	assert_true(ibcc_rollout_is_ignorer(&f.r, f.sw));
	assert_false(ibcc_rollout_is_ignorer(&f.r, adapter(&f, 0)));
	close_fixture(&f);
}

/* Passes that prove nothing. */
static void test_no_proof(void **state)
{
	struct fixture f;

	(void)state;
	open_fixture(&f);
	want(&f, SENDERS);
	split(&f);
	write_part(&f);
	f.root.tree_wait_permille = 50;
	assert_int_equal(passes_in_vain(&f), 0);
	f.root.tree_wait_permille = 600;
	f.root.fresh = false;
	assert_int_equal(passes_in_vain(&f), 0);
	f.root.fresh = true;
	f.pic.trustworthy = false;
	assert_int_equal(passes_in_vain(&f), 0);
	f.pic.trustworthy = true;
	/* 1000 packets in a pass, of which one in 65 is marked: too few to tell. */
	f.actual.ep[f.sw].sw.Marking_Rate = 64;
	assert_int_equal(passes_in_vain(&f), 0);
	f.actual.ep[f.sw].sw.Marking_Rate = 0;
	/* Some adapters more have no such counter than have. */
	for (uint32_t i = 0; i <= SENDERS / 2; i++)
		f.s.port[f.source[i].port].now.width[IBCC_CTR_RCV_BECN] = 0;
	assert_int_equal(passes_in_vain(&f), 0);
	assert_int_equal(f.r.n_ignorers, 0);
	/* Then there is nothing to wait for, either. */
	split(&f);
	assert_int_equal(f.r.n_left, 0);
	close_fixture(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_few_at_once), cmocka_unit_test(test_canaries),
		cmocka_unit_test(test_relaxing),    cmocka_unit_test(test_begins_anew),
		cmocka_unit_test(test_ignored),     cmocka_unit_test(test_no_proof),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
