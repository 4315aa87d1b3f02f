/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A root whose switch has marking profiles of NVIDIA's control: steps of its percent, judged by
 * what the adapters behind it send.
 */
#include "scenes.h"

#include <ibcc/vendor_cc.h>

#define BEFORE 20000u /* Mb/s that the adapters behind the root send without a profile */

/* The root's four sources, adapters 0 to 3, send this in all. */
static void send_all(struct fixture *f, uint64_t mbps)
{
	for (uint32_t i = 0; i < 4; i++)
		f->s.load[f->t->port[fabric_port(f->t, i, 1)].endport].mbps = (uint32_t)(mbps / 4);
}

/* All nodes have NVIDIA's control; the ports of switch 11 have profiles that mark nothing. */
static struct ibcc_root *begin(struct fixture *f)
{
	forget(f);
	f->s.pic.n_known = f->s.pic.n_roots = 0;
	for (uint32_t i = 0; i < f->actual.n; i++) {
		f->actual.ep[i].mechanism = IBCC_MECHANISM_DCQCN;
		f->actual.ep[i].rp_known = true;
		ibcc_dcqcn_rp_defaults(&f->actual.ep[i].rp);
	}
	give_profiles(f, 11);
	send_all(f, BEFORE);
	return see_slow(f);
}

/* Passes until something is decided, at most 100. */
static unsigned int until(struct fixture *f, enum ibcc_decision_code code)
{
	unsigned int n = 0;

	do {
		pass(f);
		n++;
	} while (!said(f, code) && n < 100);
	assert_non_null(said(f, code));
	return n;
}

static uint8_t percent(struct fixture *f)
{
	return ibcc_vcc_profile_get(cc(f, 11)->profile[1].data, 0).percent;
}

/* One more than the four passes of a window confirm it. A step doubles percent while the tree
 * stands, after three passes to settle and four to judge.
 */
static void climb(struct fixture *f, struct ibcc_root *r, unsigned int steps)
{
	uint32_t scale = 1000;
	uint8_t first;

	assert_int_equal(until(f, IBCC_DECISION_ADMIT), 5);
	first = percent(f);
	assert_true(first > 0);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	while (steps--) {
		assert_int_equal(until(f, IBCC_DECISION_TIGHTEN), 7);
		scale *= 2;
		assert_int_equal(at(f, r->port)->table_scale_permille, scale);
		assert_int_equal(percent(f),
				 first * scale / 1000 < 100 ? first * scale / 1000 : 100);
	}
}

/* No step brings anything: after the last one the profile is again what it was at first. */
static void test_in_vain(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = begin(f);

	climb(f, r, 4);
	assert_int_equal(until(f, IBCC_DECISION_STEP_BACK), 7);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	assert_int_equal(at(f, r->port)->table_scale_permille, 1000);
	assert_int_equal(until(f, IBCC_DECISION_TIGHTEN), 11);
}

/* The adapters behind the root send less with the profile than before: it is removed. 2 % may be
 * chance. */
static void test_harm(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = begin(f);

	climb(f, r, 0);
	send_all(f, BEFORE * 97 / 100);
	assert_int_equal(until(f, IBCC_DECISION_HARM), 7);
	assert_int_equal(phase(f, r), IBCC_PHASE_BARRED);
	assert_int_equal(percent(f), 0);
	r = begin(f);
	climb(f, r, 0);
	send_all(f, BEFORE * 99 / 100);
	until(f, IBCC_DECISION_TIGHTEN);
}

/* The second step frees senders, and stays. Fewer marks for an idle port cost the total: that step
 * is reverted, and twice as long passes before the next one. The same one that costs nothing stays.
 */
static void test_kept(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = begin(f);

	climb(f, r, 2);
	send_all(f, 25000);
	r->tree_wait_permille = 0;
	for (unsigned int i = 0; i < 30; i++) {
		pass(f);
		assert_int_equal(f->said.n, 0);
	}
	mark(r, 4, 4, 20);
	r->rate_mbps = r->rate_mbps * 6 / 10;
	r->wait_permille = 0;
	until(f, IBCC_DECISION_LOOSEN);
	assert_int_equal(at(f, r->port)->table_scale_permille, 2000);
	send_all(f, 21000);
	assert_int_equal(until(f, IBCC_DECISION_STEP_BACK), 7);
	assert_int_equal(said(f, IBCC_DECISION_STEP_BACK)->a, 25000);
	assert_int_equal(said(f, IBCC_DECISION_STEP_BACK)->b, 21000);
	assert_int_equal(at(f, r->port)->table_scale_permille, 4000);
	send_all(f, 25000);
	assert_int_equal(until(f, IBCC_DECISION_LOOSEN), 11);
	assert_int_equal(until(f, IBCC_DECISION_LOOSEN), 11);
	assert_int_equal(at(f, r->port)->table_scale_permille, 1000);
}

/* A profile that is only recommended is compared, once a user has applied it, with what was sent
 * just before.
 */
static void test_recommended(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = begin(f);

	f->apply = false;
	ibcc_tuner_limits(f->tn)->recommends = true;
	assert_int_equal(until(f, IBCC_DECISION_ADMIT), 5);
	send_all(f, BEFORE / 2);
	passes(f, 8);
	f->apply = true;
	ibcc_tuner_limits(f->tn)->recommends = false;
	passes(f, 12);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	ibcc_tuner_limits(f->tn)->recommends = true;
	for (unsigned int i = 0; i < 30; i++) {
		pass(f);
		assert_int_equal(f->said.n, 0);
	}
}

/* What 11,000 adapters with NDR send does not fit into 32 bits. It rises by 2.6 % with
 * the profile, which stays; then it falls by 3 % with a step, which goes.
 */
static void test_most(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = begin(f);

	send_all(f, 4290000000u);
	climb(f, r, 0);
	send_all(f, 4400000000u);
	assert_int_equal(until(f, IBCC_DECISION_TIGHTEN), 7);
	assert_int_equal(phase(f, r), IBCC_PHASE_HOLD);
	send_all(f, 4268000000u);
	assert_int_equal(until(f, IBCC_DECISION_STEP_BACK), 7);
	assert_int_equal(at(f, r->port)->table_scale_permille, 1000);
	assert_int_equal(said(f, IBCC_DECISION_STEP_BACK)->a, UINT32_MAX);
	assert_int_equal(said(f, IBCC_DECISION_STEP_BACK)->b, 4268000000u);
}

/* A hundred times as much is sent elsewhere on the fabric, and a part of it ends: neither hides
 * that the second step frees senders, nor counts as harm.
 */
static void test_elsewhere(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = begin(f);
	uint32_t *other = &f->s.load[f->t->port[fabric_port(f->t, 7, 1)].endport].mbps;

	*other = 100 * BEFORE;
	climb(f, r, 2);
	*other = 50 * BEFORE;
	send_all(f, 25000);
	r->tree_wait_permille = 0;
	for (unsigned int i = 0; i < 30; i++) {
		pass(f);
		assert_int_equal(f->said.n, 0);
	}
	assert_int_equal(at(f, r->port)->table_scale_permille, 4000);
}

/* A receiver that is very slow needs so many marks from the beginning that a few steps lead to 100
 * %. There is none after that: the next decision takes all of them back.
 */
static void test_all_marked(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = begin(f);
	uint8_t first;

	r->rate_mbps = SLOW_MBPS / 4;
	assert_int_equal(until(f, IBCC_DECISION_ADMIT), 5);
	first = percent(f);
	assert_int_equal(first, 23);
	for (unsigned int v = first; v < 100; v *= 2)
		assert_int_equal(until(f, IBCC_DECISION_TIGHTEN), 7);
	assert_int_equal(percent(f), 100);
	assert_int_equal(until(f, IBCC_DECISION_STEP_BACK), 7);
	assert_int_equal(percent(f), first);
}

/* Feedback of the annex may have left any scale, as when NVIDIA's control was turned on later. No
 * step leads beyond what a state file may have.
 */
static void test_last_step(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root *r = begin(f);
	struct ibcc_root_parameters *has;

	climb(f, r, 0);
	has = (struct ibcc_root_parameters *)at(f, r->port);
	has->table_scale_permille = 909;
	for (unsigned int i = 0; i < 100; i++) {
		pass(f);
		assert_in_range(has->table_scale_permille, 909, 32000);
	}
}

/* A user wants to wait longer than until there is a window to compare with. */
static void test_confirmed(void **state)
{
	struct fixture *f = *state;

	f->p.confirm_passes = 20;
	retune(f);
	begin(f);
	assert_int_equal(until(f, IBCC_DECISION_ADMIT), 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_in_vain, setup_scene, teardown),
		cmocka_unit_test_setup_teardown(test_harm, setup_scene, teardown),
		cmocka_unit_test_setup_teardown(test_recommended, setup_scene, teardown),
		cmocka_unit_test_setup_teardown(test_kept, setup_scene, teardown),
		cmocka_unit_test_setup_teardown(test_most, setup_scene, teardown),
		cmocka_unit_test_setup_teardown(test_elsewhere, setup_scene, teardown),
		cmocka_unit_test_setup_teardown(test_all_marked, setup_scene, teardown),
		cmocka_unit_test_setup_teardown(test_last_step, setup_scene, teardown),
		cmocka_unit_test_setup_teardown(test_confirmed, setup_scene, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
