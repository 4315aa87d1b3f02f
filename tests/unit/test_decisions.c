/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a polling cycle decided or found: its sentences, which no other test compares, and its names
 * for programs.
 */
#include <ibcc/device.h>

#include "tuners.h"

#include "lib/law/rules.h"

#define FULL IBCC_CONGESTION_INPUT
#define SLOW IBCC_CONGESTION_OUTPUT

#define SLOW_AT                                                                                    \
	"congestion starts at h6 (leaf3 port 1): it takes 14960 of 32000 Mb/s, and the port to "   \
	"it is blocked 53.2 % of the time (PortXmitWait)"
#define FULL_AT                                                                                    \
	"congestion starts at h6 (leaf3 port 1): full with 14960 Mb/s, and ports upstream "        \
	"are blocked 81.7 % of the time (PortXmitWait)"

/* The one place that knows the sentences of decisions. */
static const struct {
	enum ibcc_decision_code code;
	enum ibcc_congestion kind;
	const char *done, *recommended;
} decisions[] = {
	{ IBCC_DECISION_ADMIT, SLOW, SLOW_AT "; congestion control is enabled for 36 sources",
	  SLOW_AT "; congestion control is recommended for 36 sources" },
	{ IBCC_DECISION_ADMIT, FULL, FULL_AT "; congestion control is enabled for 36 sources",
	  FULL_AT "; congestion control is recommended for 36 sources" },
	{ IBCC_DECISION_LEARN, SLOW,
	  SLOW_AT "; mark packets without throttling, to identify contributors",
	  SLOW_AT "; mark packets without throttling, to identify contributors" },
	{ IBCC_DECISION_NO_SUPPORT, SLOW,
	  SLOW_AT "; its switch does not support congestion control",
	  SLOW_AT "; its switch does not support congestion control" },
	{ IBCC_DECISION_LEARNT, SLOW, "BECNs identify 36 contributors: settings for them",
	  "BECNs identify 36 contributors: settings for them (recommended)" },
	{ IBCC_DECISION_MORE, SLOW, "BECN counters identify 36 contributors",
	  "BECN counters identify 36 contributors (recommended)" },
	{ IBCC_DECISION_DRAINED, SLOW,
	  "the congestion tree is empty: throttle its sources to their shares",
	  "the congestion tree is empty: throttle its sources to their shares (recommended)" },
	{ IBCC_DECISION_DRAIN_AGAIN, SLOW,
	  "the congestion tree is back, its sources are blocked 60.1 %: empty it first",
	  "the congestion tree is back, its sources are blocked 60.1 %: empty it first "
	  "(recommended)" },
	{ IBCC_DECISION_TREE_GONE, SLOW, "the root blocks no sender any more: mark fewer packets",
	  "the root blocks no sender any more: mark fewer packets (recommended)" },
	{ IBCC_DECISION_TREE_BACK, SLOW, "the root blocks senders again: mark more packets",
	  "the root blocks senders again: mark more packets (recommended)" },
	{ IBCC_DECISION_TURNED, SLOW,
	  "the root is a slow receiver now, for 3200 Mb/s: recompute its settings",
	  "the root is a slow receiver now, for 3200 Mb/s: recompute its settings (recommended)" },
	{ IBCC_DECISION_TURNED, FULL,
	  "the root is an oversubscribed link now, for 3200 Mb/s: recompute its settings",
	  "the root is an oversubscribed link now, for 3200 Mb/s: recompute its settings "
	  "(recommended)" },
	{ IBCC_DECISION_NUMBERS, SLOW,
	  "BECN counters identify 601 contributors, equivalent to 7 equal ones, and the root "
	  "carries 8 Mb/s: recompute its settings (before: 36, 30, 3200 Mb/s)",
	  "BECN counters identify 601 contributors, equivalent to 7 equal ones, and the root "
	  "carries 8 Mb/s: recompute its settings (before: 36, 30, 3200 Mb/s) (recommended)" },
	{ IBCC_DECISION_PAIRS, SLOW,
	  "the switch's CongestionLog names 601 flows that the root limits to 7 Mb/s in all: "
	  "recompute its settings (before: 36, 3200 Mb/s)",
	  "the switch's CongestionLog names 601 flows that the root limits to 7 Mb/s in all: "
	  "recompute its settings (before: 36, 3200 Mb/s) (recommended)" },
	{ IBCC_DECISION_LOOSEN, SLOW, "the root is only 60.1 % busy: throttle its sources less",
	  "the root is only 60.1 % busy: throttle its sources less (recommended)" },
	{ IBCC_DECISION_TIGHTEN, SLOW, "the root is busy and blocks sources: throttle them more",
	  "the root is busy and blocks sources: throttle them more (recommended)" },
	{ IBCC_DECISION_STEP_BACK, SLOW,
	  "the adapters behind the root send 7 Mb/s with the last steps, and sent 601 Mb/s before "
	  "them: "
	  "revert these steps",
	  "the adapters behind the root send 7 Mb/s with the last steps, and sent 601 Mb/s before "
	  "them: "
	  "revert these steps (recommended)" },
	{ IBCC_DECISION_ENLIST, SLOW, "more adapters contribute: settings for 601 more",
	  "more adapters contribute: settings for 601 more (recommended)" },
	{ IBCC_DECISION_HARM, SLOW,
	  "adapters send less than before congestion control of leaf3 port 1: its settings are "
	  "reverted, and not tried again for a while",
	  "adapters send less than before congestion control of leaf3 port 1: reverting its "
	  "settings is recommended" },
	{ IBCC_DECISION_IN_VAIN, SLOW,
	  "no adapter would be freed by congestion control of leaf3 port 1: its settings are "
	  "reverted, and not tried again for a while",
	  "no adapter would be freed by congestion control of leaf3 port 1: reverting its settings "
	  "is recommended" },
	{ IBCC_DECISION_DOUBTED, SLOW,
	  "counters of leaf3 port 1 are inconsistent: its settings are reverted",
	  "counters of leaf3 port 1 are inconsistent: reverting its settings is recommended" },
};

static struct ibcc_root_parameters root_at(const struct fixture *f, enum ibcc_congestion kind)
{
	return (struct ibcc_root_parameters){
		.port = fabric_port(f->t, 11, 1),
		.kind = kind,
		.n = 36,
		.n_heavy = 30,
		.rate_mbps = 3200,
		.link_mbps = 32000,
		.seen_mbps = 14960,
		.wait_permille = 532,
		.tree_wait_permille = 817,
	};
}

static void assert_words(const struct fixture *f, const struct ibcc_decisions *d, const char *want)
{
	char *text = ibcc_words_decisions(f->t, d);

	assert_non_null(text);
	assert_string_equal(text, want);
	free(text);
}

static void test_decisions(void **state)
{
	struct fixture *f = *state;
	uint32_t seen = 0;

	for (size_t i = 0; i < sizeof(decisions) / sizeof(decisions[0]); i++) {
		struct ibcc_root_parameters r = root_at(f, decisions[i].kind);
		struct ibcc_decisions d = { 0 };
		struct ibcc_decision *one = ibcc_decisions_add(&d, decisions[i].code, &r);

		assert_non_null(one);
		one->a = 601;
		one->b = 7;
		one->c = 8;
		seen |= 1u << decisions[i].code;
		/* A figure that people read has a name for programs. */
		if ((strstr(decisions[i].done, "601") || strstr(decisions[i].done, "60.1")) &&
		    !ibcc_decision_figure(decisions[i].code, 0))
			fail_msg("ibcc_decision_figure() lacks the figure a of \"%s\"",
				 ibcc_decision_name(decisions[i].code));
		assert_words(f, &d, decisions[i].done);
		d.recommended = true;
		assert_words(f, &d, decisions[i].recommended);
		ibcc_decisions_fini(&d);
	}
	for (unsigned int i = 0; i < IBCC_DECISION_CODES; i++)
		if (!(seen & 1u << i))
			fail_msg("the table `decisions` here lacks the sentence of \"%s\"",
				 ibcc_decision_name((enum ibcc_decision_code)i));
}

static const struct {
	struct ibcc_situation situation;
	const char *writes, *recommends; /* NULL: the same */
} situations[] = {
	{ { .code = IBCC_SITUATION_NOTHING_YET }, "", NULL },
	{ { .code = IBCC_SITUATION_NO_COUNTERS },
	  "there are no counters to read: nothing is decided",
	  NULL },
	{ { .code = IBCC_SITUATION_BLIND, .ports = 9, .usable = 4 },
	  "counters of 5 of 9 ports are not usable (they were not read): nothing is decided",
	  NULL },
	{ { .code = IBCC_SITUATION_BLIND, .ports = 9, .usable = 4, .unsure = 2 },
	  "counters of 5 of 9 ports are not usable (3 were not read, others are saturated or were "
	  "cleared): nothing is decided",
	  NULL },
	{ { .code = IBCC_SITUATION_BLIND, .ports = 9, .usable = 4, .unsure = 5 },
	  "counters of 5 of 9 ports are not usable (they are saturated or were cleared: a shorter "
	  "interval_ms, or clear_counters, may help): nothing is decided",
	  NULL },
	{ { .code = IBCC_SITUATION_NOT_SET },
	  SLOW_AT "; its settings are not on the fabric",
	  SLOW_AT "; congestion control is recommended for 36 sources" },
	{ { .code = IBCC_SITUATION_PARTLY_SET },
	  SLOW_AT "; some of its settings are not on the fabric",
	  SLOW_AT "; it has settings on the fabric, others are recommended" },
	{ { .code = IBCC_SITUATION_CONTROLLED, .roots = 1 }, "1 root controlled", NULL },
	{ { .code = IBCC_SITUATION_CONTROLLED, .roots = 2, .lacking = true },
	  "2 roots controlled; some nodes lack settings",
	  NULL },
	{ { .code = IBCC_SITUATION_UNCONFIRMED }, "congestion seen, to be confirmed", NULL },
	{ { .code = IBCC_SITUATION_OVER },
	  "congestion is over: the earlier settings are restored",
	  NULL },
	{ { .code = IBCC_SITUATION_UNKNOWN_NODES, .ports = 1 },
	  "nodes that do not answer may cause the congestion of 1 port: no change recommended",
	  NULL },
	{ { .code = IBCC_SITUATION_UNKNOWN_NODES, .ports = 3 },
	  "nodes that do not answer may cause the congestion of 3 ports: no change recommended",
	  NULL },
	{ { .code = IBCC_SITUATION_HARMLESS },
	  "congestion affects no other traffic: no change",
	  NULL },
	{ { .code = IBCC_SITUATION_NO_CONGESTION }, "no congestion", NULL },
};

static void test_situations(void **state)
{
	struct fixture *f = *state;
	uint32_t seen = 0;

	for (size_t i = 0; i < sizeof(situations) / sizeof(situations[0]); i++) {
		struct ibcc_decisions d = { .situation = situations[i].situation };
		const char *other = situations[i].recommends;

		d.situation.root = root_at(f, SLOW);
		seen |= 1u << d.situation.code;
		assert_words(f, &d, situations[i].writes);
		d.recommended = true;
		assert_words(f, &d, other ? other : situations[i].writes);
	}
	assert_int_equal(seen, (1u << IBCC_SITUATION_CODES) - 1);
}

/* A switch whose type supports no settings: the reason is the table's. */
static void test_log_only(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root_parameters r = root_at(f, SLOW);
	struct ibcc_topo_node *sw = &f->t->node[f->t->port[r.port].node];
	struct ibcc_decisions d = { 0 };

	assert_non_null(ibcc_decisions_add(&d, IBCC_DECISION_NO_SUPPORT, &r));
	sw->vendor_id = IBCC_VENDOR_MELLANOX;
	sw->device_id = 0xcf08;
	assert_words(f, &d,
		     SLOW_AT "; its switch supports only the congestion log, by its release notes");
	ibcc_decisions_fini(&d);
}

/* What else a pass comes to follows the decisions, or takes their place. */
static void test_steps(void **state)
{
	struct fixture *f = *state;
	struct ibcc_decisions d = { .situation = { .code = IBCC_SITUATION_NO_CONGESTION } };

	d.n_left = 5;
	assert_words(f, &d, "no congestion; 5 nodes keep previously applied settings");
	d.left_goes = true;
	assert_words(f, &d, "no congestion; previously applied settings of 5 nodes are removed");
	d.step_nodes = 4;
	d.nodes_left = 7;
	d.step = IBCC_STEP_FIRST;
	assert_words(f, &d,
		     "no congestion; previously applied settings of 5 nodes are removed; 4 nodes "
		     "first, 7 when counters show an effect");
	d.step = IBCC_STEP_WAIT;
	assert_words(f, &d, "7 nodes wait until counters show an effect at the first");
	d.step = IBCC_STEP_THE_REST;
	assert_words(f, &d, "counters show an effect at the first nodes: the others follow");
}

/* However many decisions there are, all of them are noted and have their words. */
static void test_many(void **state)
{
	struct fixture *f = *state;
	struct ibcc_root_parameters r = root_at(f, FULL);
	const struct ibcc_root_state s = { .r = r };
	struct pass pass = { .t = f->t };
	char want[4096] = "";
	size_t n = 0;

	for (uint32_t i = 1; i <= 24; i++) {
		ibcc_rules_say(&pass, IBCC_DECISION_ENLIST, &s)->a = i;
		n += (size_t)snprintf(want + n, sizeof(want) - n,
				      "%smore adapters contribute: settings for %u more",
				      i > 1 ? "; " : "", i);
		assert_words(f, &pass.said, want);
	}
	ibcc_rules_say(&pass, IBCC_DECISION_ADMIT, &s);
	assert_int_equal(pass.said.n, 25);
	assert_false(pass.no_memory);
	ibcc_decisions_fini(&pass.said);
	assert_int_equal(pass.said.n, 0);
}

/* A name for programs is there, and is no other one's. */
static void assert_names(const char *(*name)(unsigned int), unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		assert_true(name(i)[0] != '\0');
		assert_int_equal(strspn(name(i), "abcdefghijklmnopqrstuvwxyz_"), strlen(name(i)));
		for (unsigned int k = 0; k < i; k++)
			assert_string_not_equal(name(i), name(k));
	}
}

static const char *decision_name(unsigned int i)
{
	return ibcc_decision_name((enum ibcc_decision_code)i);
}

static const char *situation_name(unsigned int i)
{
	return ibcc_situation_name((enum ibcc_situation_code)i);
}

static const char *step_name(unsigned int i)
{
	return ibcc_rollout_step_name((enum ibcc_rollout_step)i);
}

static const char *phase_name(unsigned int i)
{
	return ibcc_phase_name((enum ibcc_phase)i);
}

static const char *basis_name(unsigned int i)
{
	return ibcc_basis_name((enum ibcc_basis)i);
}

static const char *status_name(unsigned int i)
{
	return ibcc_root_status_name((enum ibcc_root_status)i);
}

static void test_names(void **state)
{
	(void)state;
	assert_names(decision_name, IBCC_DECISION_CODES);
	assert_names(situation_name, IBCC_SITUATION_CODES);
	assert_names(step_name, IBCC_ROLLOUT_STEPS);
	assert_names(phase_name, IBCC_PHASES);
	assert_names(status_name, IBCC_STATUSES);
	assert_names(basis_name, IBCC_BASIS_LOGGED + 1u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_decisions, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_log_only, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_situations, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_steps, setup_tree, teardown),
		cmocka_unit_test_setup_teardown(test_many, setup_tree, teardown),
		cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
