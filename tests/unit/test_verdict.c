/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The verdict names the machines: the slow receiver or the full link, which are blocked, which
 * cause it, which suffer, and which senders are throttled.
 */
#include "estimates.h"

#include <ibcc/decision.h>

static void assert_verdict(struct fixture *f, const struct ibcc_parameters *par, const char *want)
{
	char *text = ibcc_words_verdict(f->t, &f->e, par);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

/* Nothing is marked yet: each blocked sender is a suspect. Then marks name three senders, and the
 * fourth is a victim. Then these three are throttled.
 */
static void test_slow_receiver(void **state)
{
	struct fixture *f = *state;
	struct ibcc_parameters par = { 0 };

	traffic_lustre_off(&f->tr);
	pass(f);
	assert_verdict(
		f, NULL,
		"1 slow receiver: slow (sw2 port 1) takes 47 % of its link; src1, src2, src3, "
		"src4 blocked");
	mark_at(f, LUSTRE_SW2, 1);
	for (unsigned int i = 0; i < 3; i++)
		traffic_at(&f->tr, LUSTRE_SRC1 + i, 1)->becn = 200;
	pass(f);
	assert_verdict(f, &par,
		       "1 slow receiver: slow (sw2 port 1) takes 47 % of its link; caused by src1, "
		       "src2, src3; victims: src4");
	par.n_roots = 1;
	par.root[0].r = (struct ibcc_root_parameters){ .port = fabric_port(f->t, LUSTRE_SW2, 1),
						       .phase = IBCC_PHASE_HOLD };
	assert_verdict(f, &par,
		       "1 slow receiver: slow (sw2 port 1) takes 47 % of its link; caused by src1, "
		       "src2, src3; victims: src4");
	par.root[0].r.in_force = true;
	assert_verdict(
		f, &par,
		"1 slow receiver: slow (sw2 port 1) takes 47 % of its link; throttled: src1, "
		"src2, src3; victims: src4");
}

/* A root that is held so well that it is none. */
static void test_no_congestion(void **state)
{
	struct fixture *f = *state;
	struct ibcc_parameters par = { .n_roots = 1 };

	f->e = (struct ibcc_estimate){ .trustworthy = true };
	assert_verdict(f, NULL, "no congestion");
	par.root[0].r = (struct ibcc_root_parameters){ .port = fabric_port(f->t, LUSTRE_SW2, 1),
						       .phase = IBCC_PHASE_HOLD,
						       .in_force = true };
	assert_verdict(f, &par, "no congestion; under control: slow (sw2 port 1)");
	f->e = (struct ibcc_estimate){ .n_expected = 14, .n_usable = 12 };
	assert_verdict(f, NULL, "unknown: of 2 of 14 ports there are no counters to judge by");
}

/* Worst first, two by name; a link between switches by both of its ends. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	const uint32_t slow = fabric_port(f->t, LUSTRE_SW2, 1);
	const uint32_t fast = fabric_port(f->t, LUSTRE_SW2, 2);
	const uint32_t up = fabric_port(f->t, LUSTRE_SW1, 5);
	struct ibcc_root root[] = {
		{ .port = up, .kind = IBCC_CONGESTION_INPUT, .link_mbps = 32000 },
		{ .port = slow,
		  .kind = IBCC_CONGESTION_OUTPUT,
		  .link_mbps = 32000,
		  .rate_mbps = 160 },
		{ .port = fast, .kind = IBCC_CONGESTION_INPUT, .link_mbps = 32000 },
	};

	f->e = (struct ibcc_estimate){ .trustworthy = true, .root = root, .n_roots = 1 };
	assert_verdict(f, NULL, "1 oversubscribed link: sw1 port 5 to sw2 port 5 is full");
	f->e.n_roots = 2;
	assert_verdict(
		f, NULL,
		"1 slow receiver and 1 oversubscribed link: sw1 port 5 to sw2 port 5 is full. "
		"Then slow (sw2 port 1) takes 1 % of its link");
	f->e.n_roots = 3;
	assert_verdict(
		f, NULL,
		"1 slow receiver and 2 oversubscribed links, the worst: sw1 port 5 to sw2 port "
		"5 is full. Then slow (sw2 port 1) takes 1 % of its link");
	root[0].hidden = true;
	f->e.n_roots = 1;
	assert_verdict(
		f, NULL,
		"1 oversubscribed link: sw1 port 5 to sw2 port 5 is blocked by nodes that do not "
		"answer");
	f->e = (struct ibcc_estimate){ 0 };
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		LUSTRE(test_slow_receiver),
		LUSTRE(test_no_congestion),
		LUSTRE(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
