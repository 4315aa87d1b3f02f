/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What scripts are promised: the keys of the reports, and what is in them on the Lustre fabric. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports.h"

static void assert_keys(const json_t *o, const char *const *keys)
{
	assert_true(json_is_object(o));
	for (; *keys; keys++)
		if (!json_object_get(o, *keys))
			fail_msg("no key %s", *keys);
}

/* "a b c" of the nodes in a list of ports. */
static const char *nodes_of(const json_t *list)
{
	static char buf[256];
	const json_t *o;
	size_t i, n = 0;

	buf[0] = '\0';
	json_array_foreach (list, i, o)
		n += (size_t)snprintf(buf + n, sizeof(buf) - n, "%s%s", i ? " " : "",
				      json_string_value(json_object_get(o, "node")));
	return buf;
}

static void test_keys(void **state)
{
	static const char *const top[] = { "schema",    "fabric",      "roots",      "changes",
					   "unchanged", "unreachable", "prediction", "summary",
					   "writes",    "error",       "decisions",  "situation",
					   "step",      "recommended", "refused",    "followed",
					   "others",    NULL };
	static const char *const fabric[] = { "nodes",
					      "switches",
					      "channel_adapters",
					      "endports",
					      "links",
					      "generation",
					      "source",
					      "pass",
					      "interval_us",
					      "ports_fresh",
					      "ports_stale",
					      "ports_unreachable",
					      "ports_saturated",
					      "pass_us",
					      "pass_deadline_us",
					      "longest_pass_us",
					      "passes_cut",
					      "clock",
					      "unread",
					      "unsure",
					      "doubted",
					      "warnings",
					      "links_slow",
					      "ports_with_errors",
					      NULL };
	static const char *const root[] = { "node_guid",
					    "node",
					    "port",
					    "kind",
					    "peer",
					    "link_mbps",
					    "rate_mbps",
					    "wait_permille",
					    "tree_wait_permille",
					    "contributors",
					    "candidates",
					    "victims",
					    "explanation",
					    "confidence_permille",
					    "phase",
					    "basis",
					    "status",
					    NULL };
	static const char *const change[] = { "node_guid", "node", "port", "attribute", "field",
					      "sl",        "old",  "new",  "reason",    NULL };
	struct fixture *f = *state;
	json_t *a = ibcc_json_unfold(ibcc_report_plan(&f->c, "plugin")), *o;
	const json_t *list;
	size_t i;

	assert_keys(a, top);
	assert_int_equal(json_integer_value(json_object_get(a, "schema")), 1);
	assert_true(json_is_null(json_object_get(a, "error")));
	assert_null(json_object_get(a, "result"));
	assert_keys(json_object_get(a, "fabric"), fabric);
	list = json_object_get(a, "roots");
	assert_int_equal(json_array_size(list), 1);
	assert_keys(json_array_get(list, 0), root);
	list = json_object_get(a, "changes");
	assert_true(json_array_size(list) > 0);
	json_array_foreach (list, i, o) {
		assert_keys(o, change);
		assert_null(json_object_get(o, "outcome"));
		assert_true(json_string_length(json_object_get(o, "reason")) > 0);
		assert_string_not_equal(json_string_value(json_object_get(o, "old")),
					json_string_value(json_object_get(o, "new")));
	}
	json_decref(a);
}

static void test_who_is_who(void **state)
{
	struct fixture *f = *state;
	json_t *a = ibcc_json_unfold(ibcc_report_plan(&f->c, "plugin"));
	const json_t *root = json_array_get(json_object_get(a, "roots"), 0), *fabric;

	assert_string_equal(json_string_value(json_object_get(root, "node")), "sw2");
	assert_string_equal(json_string_value(json_object_get(root, "node_guid")),
			    "0x0000000000001700");
	assert_int_equal(json_integer_value(json_object_get(root, "port")), 1);
	assert_string_equal(json_string_value(json_object_get(root, "kind")), "output");
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(root, "peer"), "node")), "slow");
	assert_string_equal(nodes_of(json_object_get(root, "contributors")), "src1 src2 src3");
	assert_string_equal(nodes_of(json_object_get(root, "victims")), "src4");
	assert_string_equal(nodes_of(json_object_get(root, "candidates")), "");
	fabric = json_object_get(a, "fabric");
	assert_int_equal(json_integer_value(json_object_get(fabric, "switches")), 2);
	assert_int_equal(json_integer_value(json_object_get(fabric, "channel_adapters")), 6);
	assert_int_equal(json_integer_value(json_object_get(fabric, "links")), 7);
	json_decref(a);
}

static json_int_t number(const json_t *o, const char *a, const char *b)
{
	return json_integer_value(json_object_get(json_object_get(o, a), b));
}

/* Amounts with their ranges, the keys of releases before, and the sources' share. */
static void test_prediction(void **state)
{
	static const char *const keys[] = { "known",
					    "basis",
					    "replay",
					    "total",
					    "victims",
					    "roots",
					    "why",
					    "roots_why",
					    "open_roots",
					    "hot_now_mbps",
					    "hot_expected_mbps",
					    "victim_now_mbps",
					    "victim_expected_mbps",
					    "sources",
					    NULL };
	struct fixture *f = *state;
	const struct ibcc_estimate *e = &f->c.estimate;
	struct ibcc_loads before = { .n = 3 };
	struct ibcc_predicted_root root = { e->root[0].port, { 15000, 14850, 13350, 16350 } };
	const struct ibcc_prediction_in in = { .before = &before, .n_roots = 1, .root = e->root };
	struct ibcc_prediction p = { .known = true,
				     .basis = IBCC_PREDICTION_HISTORY,
				     .baseline_age_ns = 840000000000ull,
				     .replayed = true,
				     .replay_rate = 0.0312,
				     .total = { 20000, 31800, 29000, 34600 },
				     .victims = { 5000, 16650, 15500, 17800 },
				     .n_roots = 1,
				     .root = &root };
	json_t *o, *one;

	p.sent_mbps = calloc(f->c.topo->n_ports, sizeof(*p.sent_mbps));
	assert_non_null(p.sent_mbps);
	p.sent_mbps[fabric_port(f->c.topo, LUSTRE_SRC4, 1)] = 16650;
	o = ibcc_report_prediction(f->c.topo, &in, &p);
	assert_keys(o, keys);
	assert_true(json_is_true(json_object_get(o, "known")));
	assert_string_equal(json_string_value(json_object_get(o, "basis")), "history");
	assert_int_equal(json_integer_value(json_object_get(o, "baseline_age_s")), 840);
	assert_true(json_is_null(json_object_get(o, "roots_why")));
	assert_int_equal(number(o, "replay", "rate_permille"), 31);
	assert_int_equal(number(o, "victims", "expected_mbps"), 16650);
	assert_int_equal(number(o, "total", "low_mbps"), 29000);
	assert_int_equal(json_integer_value(json_object_get(o, "victim_expected_mbps")), 16650);
	assert_int_equal(json_integer_value(json_object_get(o, "hot_expected_mbps")), 14850);
	one = json_array_get(json_object_get(o, "roots"), 0);
	assert_string_equal(json_string_value(json_object_get(one, "node")), "sw2");
	assert_string_equal(nodes_of(json_object_get(o, "sources")), "src1 src2 src3 src4");
	one = json_array_get(json_object_get(o, "sources"), 3);
	assert_string_equal(json_string_value(json_object_get(one, "role")), "victim");
	assert_int_equal(json_integer_value(json_object_get(one, "expected_mbps")), 16650);
	json_decref(o);
	free(p.sent_mbps);
}

/* A plan that costs 2 % and reduces latency is recommended only if the configuration prefers that;
 * one that costs 2 % and does not never is; one that costs nothing always is.
 */
static void test_prediction_that_trades(void **state)
{
	static const struct {
		double expected_mbps, expected_us;
		bool prefer, costs, trades, advised;
	} c[] = {
		{ 9800, 20, false, true, true, false },   { 9800, 20, true, true, true, true },
		{ 9800, 90, false, true, false, false },  { 9800, 90, true, true, false, false },
		{ 10000, 20, false, false, false, true }, { 10000, 90, true, false, false, true },
	};
	struct fixture *f = *state;

	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		const struct ibcc_prediction_in in = { .prefer_latency = c[i].prefer };
		const struct ibcc_prediction p = {
			.known = true,
			.total = { .now_mbps = 10000, .expected_mbps = c[i].expected_mbps },
			.now_us = 80.04,
			.expected_us = c[i].expected_us,
		};
		json_t *o = ibcc_report_prediction(f->c.topo, &in, &p);
		const json_t *l = json_object_get(o, "latency");

		assert_true(json_number_value(json_object_get(l, "now_us")) == 80.0);
		assert_true(json_number_value(json_object_get(l, "expected_us")) ==
			    c[i].expected_us);
		assert_int_equal(json_is_true(json_object_get(o, "costs")), c[i].costs);
		assert_int_equal(json_is_true(json_object_get(o, "trades")), c[i].trades);
		assert_int_equal(json_is_true(json_object_get(o, "advised")), c[i].advised);
		json_decref(o);
	}
}

/* Advice says what to do next, and never to ask again where that cannot help. */
static void test_advice_not_tried(void **state)
{
	static const struct {
		enum ibcc_prediction_why why;
		const char *next;
	} c[] = {
		{ IBCC_PREDICTION_MOVED, "ask again later" },
		{ IBCC_PREDICTION_NO_BASELINE, "without congestion" },
		{ IBCC_PREDICTION_OLD_BASELINE, "without congestion" },
		{ IBCC_PREDICTION_CPU, "raise predict_cpu_s" },
		{ IBCC_PREDICTION_ADAPTIVE, "while adaptive routing is on" },
		{ IBCC_PREDICTION_LARGE, "asking again does not help" },
	};
	struct fixture *f = *state;
	const struct ibcc_dcqcn_rp rp = { 0 };
	const struct ibcc_advise_in in = { .rp = &rp };

	for (size_t i = 0; i < sizeof(c) / sizeof(*c); i++) {
		const struct ibcc_advise a = { .verdict = IBCC_ADVISE_OFF_NOT_TRIED,
					       .profile_rc = -ENODATA,
					       .p.why = c[i].why };
		json_t *o = ibcc_report_advice(f->c.topo, &in, &a, IBCC_NONE, IBCC_NONE);
		const char *text = json_string_value(json_object_get(o, "text"));

		assert_non_null(text);
		if (!strstr(text, c[i].next) || !strstr(text, ibcc_prediction_reason(c[i].why)))
			fail_msg("%s", text);
		json_decref(o);
	}
}

/* Without amounts there is a reason, and there may be roots. */
static void test_prediction_that_cannot_tell(void **state)
{
	struct fixture *f = *state;
	struct ibcc_predicted_root root = { f->c.estimate.root[0].port,
					    { 15000, 14850, 13350, 16350 } };
	const struct ibcc_prediction_in in = { .n_roots = 1, .root = f->c.estimate.root };
	struct ibcc_prediction p = { .why = IBCC_PREDICTION_NO_BASELINE,
				     .n_roots = 1,
				     .root = &root,
				     .n_open = 1,
				     .open = &root,
				     .roots_why = IBCC_PREDICTION_SLOW };
	json_t *o = ibcc_report_prediction(f->c.topo, &in, &p), *one;

	assert_string_equal(json_string_value(json_object_get(o, "roots_why")),
			    ibcc_prediction_reason(IBCC_PREDICTION_SLOW));
	assert_true(json_is_false(json_object_get(o, "known")));
	assert_true(json_is_null(json_object_get(o, "victims")));
	assert_true(json_is_null(json_object_get(o, "latency")));
	assert_string_equal(json_string_value(json_object_get(o, "basis")), "none");
	assert_string_equal(json_string_value(json_object_get(o, "why")),
			    ibcc_prediction_reason(IBCC_PREDICTION_NO_BASELINE));
	assert_int_equal(json_array_size(json_object_get(o, "roots")), 1);
	one = json_array_get(json_object_get(o, "open_roots"), 0);
	assert_int_equal(json_integer_value(json_object_get(one, "low_mbps")), 13350);
	assert_null(json_object_get(one, "expected_mbps"));
	json_decref(o);
	for (int why = IBCC_PREDICTION_TELLS + 1; why <= IBCC_PREDICTION_FAILED; why++)
		assert_true(*ibcc_prediction_reason((enum ibcc_prediction_why)why) != '\0');
}

static void test_outcomes_after_an_apply(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cycle *c = &f->c;
	json_t *a, *o;
	size_t i;

	assert_int_equal(ibcc_result_init(&c->result, c->plan.n), 0);
	for (uint32_t k = 0; k < c->plan.n; k++)
		c->result.change[k].outcome = IBCC_OUTCOME_DRY;
	c->acted = true;
	a = ibcc_json_unfold(ibcc_report_plan(c, "plugin"));
	assert_null(json_object_get(a, "result"));
	json_decref(a);

	for (uint32_t k = 0; k < c->plan.n; k++)
		c->result.change[k].outcome = IBCC_OUTCOME_VERIFIED;
	c->result.n_verified = c->plan.n;
	c->result.set_mads = c->plan.n;
	a = ibcc_json_unfold(ibcc_report_plan(c, "plugin"));
	json_array_foreach (json_object_get(a, "changes"), i, o)
		assert_string_equal(json_string_value(json_object_get(o, "outcome")), "verified");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(a, "result"), "verified")),
		c->plan.n);
	json_decref(a);
}

static void test_settings(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_topo *t = f->c.topo;
	json_t *a, *sw, *ca;

	f->c.actual.ep[LUSTRE_SRC2].support = IBCC_CC_UNSUPPORTED;
	f->c.actual.ep[LUSTRE_SW2].element[1] =
		(struct ibcc_cc_sw_port_element){ .Valid = true, .Threshold = 15 };
	a = ibcc_json_unfold(ibcc_report_settings(t, &f->c.actual, NULL));
	assert_int_equal(json_array_size(json_object_get(a, "nodes")), 8);
	ca = json_array_get(json_object_get(a, "nodes"), LUSTRE_SRC2);
	assert_true(json_is_false(json_object_get(ca, "supported")));
	assert_non_null(json_object_get(ca, "reason"));
	assert_null(json_object_get(ca, "CACongestionSetting"));
	ca = json_array_get(json_object_get(a, "nodes"), LUSTRE_SRC1);
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(ca, "CACongestionSetting"), "sls")),
		16);
	json_decref(a);

	/* By name, GUID, LID; and none. */
	a = ibcc_json_unfold(ibcc_report_settings(t, &f->c.actual, "sw2"));
	assert_int_equal(json_array_size(json_object_get(a, "nodes")), 1);
	sw = json_array_get(json_object_get(a, "nodes"), 0);
	assert_int_equal(json_integer_value(json_object_get(
				 json_object_get(sw, "SwitchCongestionSetting"), "Threshold")),
			 9);
	sw = json_array_get(json_object_get(sw, "SwitchPortCongestionSetting"), 0);
	assert_int_equal(json_integer_value(json_object_get(sw, "port")), 1);
	assert_int_equal(json_integer_value(json_object_get(sw, "Threshold")), 15);
	json_decref(a);
	a = ibcc_json_unfold(ibcc_report_settings(t, &f->c.actual, "0x1700"));
	assert_string_equal(nodes_of(json_object_get(a, "nodes")), "sw2");
	json_decref(a);
	a = ibcc_json_unfold(ibcc_report_settings(t, &f->c.actual, "1"));
	assert_string_equal(nodes_of(json_object_get(a, "nodes")), "src1");
	json_decref(a);
	a = ibcc_json_unfold(ibcc_report_settings(t, &f->c.actual, "sw9"));
	assert_int_equal(json_array_size(json_object_get(a, "nodes")), 0);
	json_decref(a);
}

/* Node descriptions come from the fabric and may be anything. */
static void test_strange_names(void **state)
{
	struct fixture *f = *state;
	char *desc = f->c.topo->node[LUSTRE_SRC1].desc;
	json_t *a;

	snprintf(desc, IBCC_DESC_BYTES, "\xff\xfe%%s\"\n\x01");
	a = ibcc_json_unfold(ibcc_report_plan(&f->c, "plugin"));
	assert_non_null(a);
	assert_string_equal(nodes_of(json_object_get(json_array_get(json_object_get(a, "roots"), 0),
						     "contributors")),
			    "??%s\"\n\x01 src2 src3");
	json_decref(a);
}

static void test_gate(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cycle *c = &f->c;
	struct ibcc_why why = { "" };
	static const struct {
		enum lustre_node node;
		enum ibcc_cc_support support;
		enum ibcc_precheck gate;
		int want;
	} cases[] = {
		{ LUSTRE_FAST, IBCC_CC_UNSUPPORTED, IBCC_PRECHECK_NODES_OF_TREE, 0 },
		{ LUSTRE_FAST, IBCC_CC_UNSUPPORTED, IBCC_PRECHECK_ALL_NODES, -EOPNOTSUPP },
		{ LUSTRE_FAST, IBCC_CC_KEY_REFUSED, IBCC_PRECHECK_NODES_OF_TREE, -EACCES },
		{ LUSTRE_SRC4, IBCC_CC_UNKNOWN, IBCC_PRECHECK_NODES_OF_TREE, 0 }, /* a victim */
		{ LUSTRE_SRC3, IBCC_CC_UNSUPPORTED, IBCC_PRECHECK_NODES_OF_TREE, -EOPNOTSUPP },
		{ LUSTRE_SRC3, IBCC_CC_UNKNOWN, IBCC_PRECHECK_NODES_OF_TREE, -EOPNOTSUPP },
		{ LUSTRE_SW2, IBCC_CC_UNSUPPORTED, IBCC_PRECHECK_NODES_OF_TREE, -EOPNOTSUPP },
		{ LUSTRE_SW1, IBCC_CC_UNSUPPORTED, IBCC_PRECHECK_NODES_OF_TREE, 0 },
	};

	uint32_t without = LUSTRE_SRC3;
	struct ibcc_target target = { .without = &without };
	struct ibcc_estimate nothing = { 0 };

	assert_int_equal(ibcc_precheck_run(IBCC_PRECHECK_ALL_NODES, c->topo, &c->actual,
					   &c->estimate, &c->target, &why),
			 0);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct ibcc_endport_cc *ep = &c->actual.ep[cases[i].node];

		ep->support = cases[i].support;
		assert_int_equal(ibcc_precheck_run(cases[i].gate, c->topo, &c->actual, &c->estimate,
						   &c->target, &why),
				 cases[i].want);
		if (cases[i].want)
			assert_non_null(strstr(why.text, c->topo->node[cases[i].node].desc));
		ep->support = IBCC_CC_SUPPORTED;
	}

	/* A pass that sees no root does not open the gate while the tuner wants settings. */
	c->actual.ep[LUSTRE_SRC3].support = IBCC_CC_UNSUPPORTED;
	assert_int_equal(ibcc_precheck_run(IBCC_PRECHECK_NODES_OF_TREE, c->topo, &c->actual,
					   &nothing, &target, &why),
			 0);
	target.n_without = 1;
	assert_int_equal(ibcc_precheck_run(IBCC_PRECHECK_NODES_OF_TREE, c->topo, &c->actual,
					   &nothing, &target, &why),
			 -EOPNOTSUPP);
}

/* A slow link on the root's tree, one that is not, and more bad cables than there is room for. */
static void test_faults(void **state)
{
	struct fixture *f = *state;
	struct ibcc_cycle *c = &f->c;
	uint32_t between = fabric_port(c->topo, LUSTRE_SW1, 5), n = 0;
	uint32_t fast = fabric_port(c->topo, LUSTRE_FAST, 1);
	const struct ibcc_link_caps edr = { 3, 0x6e };
	json_t *o, *list;

	c->snapshot = f->tr.s; /* lent */
	c->decided = true;
	c->topo->port[between].caps = c->topo->port[c->topo->port[between].peer].caps = edr;
	c->topo->port[fast].caps = c->topo->port[c->topo->port[fast].peer].caps = edr;
	o = ibcc_json_unfold(ibcc_report_faults(c));
	list = json_object_get(o, "slow");
	assert_int_equal(json_array_size(list), 2);
	assert_true(json_is_true(json_object_get(json_array_get(list, 0), "on_tree")));
	assert_true(json_is_false(json_object_get(json_array_get(list, 1), "on_tree")));
	/* Its width is not known. */
	assert_true(json_is_null(json_object_get(json_array_get(list, 0), "speed")));
	assert_string_equal(
		json_string_value(json_object_get(json_array_get(list, 0), "best_speed")), "4xEDR");
	assert_true(json_is_null(json_object_get(o, "credit_loop")));
	json_decref(o);
	o = ibcc_report_fabric(c, "plugin");
	assert_int_equal(json_array_size(json_object_get(o, "warnings")), 1);
	assert_int_equal(json_integer_value(json_object_get(o, "links_slow")), 2);
	json_decref(o);

	for (uint32_t i = 0; i < c->topo->n_ports; i++) {
		struct ibcc_link_errors *e = &f->tr.s.port[i].errors;

		if (c->topo->port[i].peer == IBCC_NONE)
			continue;
		e->t_ns = e->dt_ns = 1000000000;
		e->grown[IBCC_LINK_ERROR_DOWNED] = 1;
		n++;
	}
	ibcc_why_set(&c->credit_loop, 0, "a loop");
	o = ibcc_report_fabric(c, "plugin");
	/* The loop, eight links, and how many more. */
	list = json_object_get(o, "warnings");
	assert_int_equal(json_array_size(list), 10);
	assert_string_equal(json_string_value(json_array_get(list, 0)), "a loop");
	assert_non_null(strstr(json_string_value(json_array_get(list, 9)), " more links"));
	assert_int_equal(json_integer_value(json_object_get(o, "ports_with_errors")), n);
	json_decref(o);
	memset(&c->snapshot, 0, sizeof(c->snapshot));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_faults, setup, teardown),
		cmocka_unit_test_setup_teardown(test_keys, setup, teardown),
		cmocka_unit_test_setup_teardown(test_who_is_who, setup, teardown),
		cmocka_unit_test_setup_teardown(test_prediction, setup, teardown),
		cmocka_unit_test_setup_teardown(test_prediction_that_trades, setup, teardown),
		cmocka_unit_test_setup_teardown(test_prediction_that_cannot_tell, setup, teardown),
		cmocka_unit_test_setup_teardown(test_advice_not_tried, setup, teardown),
		cmocka_unit_test_setup_teardown(test_outcomes_after_an_apply, setup, teardown),
		cmocka_unit_test_setup_teardown(test_settings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strange_names, setup, teardown),
		cmocka_unit_test_setup_teardown(test_gate, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
