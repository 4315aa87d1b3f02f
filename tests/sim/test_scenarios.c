/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The shipped scenarios behave as their comments say. */
#include <string.h>

#include <ibcc/scenario_file.h>

#include "tests/unit/engines.h"

static struct ibcc_engine *load(const char *name, struct ibcc_scenario *s, bool cc)
{
	struct ibcc_yaml_errors err = { 0 };
	const char *bad = NULL;
	struct ibcc_engine *e;
	char path[128];
	int rc;

	snprintf(path, sizeof(path), "perftest/scenarios/%s.yaml", name);
	rc = ibcc_scenario_load(path, s, &err);
	if (rc)
		fail_msg("%s", err.text);
	s->cc.enabled = cc;
	e = engine_new(s->topo, &s->model, s->seed);
	if (ibcc_engine_load(e, s, &bad))
		fail_msg("%s: no node %s", path, bad);
	return e;
}

static void finish(struct ibcc_engine *e, struct ibcc_scenario *s)
{
	ibcc_engine_free(e);
	ibcc_scenario_fini(s);
}

static double sum(const struct ibcc_scenario *s, const struct engine_rates *r,
		  enum ibcc_flow_kind kind)
{
	double total = 0;

	for (uint32_t i = 0; i < s->n_flows; i++)
		if (s->flow[i].kind == kind)
			total += r->mbytes[i];
	return total;
}

/* Published: 1870.76 and 625.92 MB/s. */
static void test_lustre_off(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e = load("lustre", &s, false);
	struct engine_rates r;

	(void)state;
	engine_rates(e, s.measure_from_ps, s.duration_ps, &r);
	print_message("off: hot %.1f victim %.1f MB/s\n", sum(&s, &r, IBCC_FLOW_HOT),
		      sum(&s, &r, IBCC_FLOW_VICTIM));
	assert_near(sum(&s, &r, IBCC_FLOW_HOT), 1870.76, 0.01);
	assert_near(sum(&s, &r, IBCC_FLOW_VICTIM), 625.92, 0.01);
	finish(e, &s);
}

/* All that is offered arrives, and no adapter waits. */
static void test_quiet(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e = load("quiet", &s, false);
	struct engine_rates r;

	(void)state;
	engine_rates(e, s.measure_from_ps, s.duration_ps, &r);
	for (uint32_t i = 0; i < s.n_flows; i++)
		assert_near(r.mbytes[i], 4000.0 * s.flow[i].load_permille / 1000, 0.05);
	for (uint32_t p = 0; p < s.topo->n_ports; p++) {
		struct ibcc_engine_port c = engine_port_read(e, p);

		assert_int_equal(c.rcv_fecn, 0);
		if (!ibcc_topo_is_switch(s.topo, s.topo->port[p].node))
			assert_true((double)c.xmit_wait_ps < 0.02 * (double)s.duration_ps);
	}
	finish(e, &s);
}

/* The background suffers without congestion control, and not with the study's values. */
static void test_tree(void **state)
{
	double off, on, offered = 29 * 0.9 * 3000;
	struct ibcc_scenario s;
	struct engine_rates r;
	struct ibcc_engine *e = load("tree", &s, false);

	(void)state;
	engine_rates(e, s.measure_from_ps, s.duration_ps, &r);
	off = sum(&s, &r, IBCC_FLOW_BACKGROUND) / offered;
	finish(e, &s);
	e = load("tree", &s, true);
	engine_rates(e, s.measure_from_ps, s.duration_ps, &r);
	on = sum(&s, &r, IBCC_FLOW_BACKGROUND) / offered;
	finish(e, &s);
	print_message("background: off %.1f %%, on %.1f %% of what is offered\n", off * 100,
		      on * 100);
	assert_true(off < 0.9);
	assert_true(on > off + 0.05);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lustre_off),
		cmocka_unit_test(test_quiet),
		cmocka_unit_test(test_tree),
	};

	return cmocka_run_group_tests_name("scenarios", tests, NULL, NULL);
}
