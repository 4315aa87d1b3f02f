/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What reports tell of PAUSE and BCN, against the counters of an engine of our own. */
#include <stdlib.h>
#include <string.h>

#include "tests/unit/engines.h"

#include "files.h"

#include <ibcc/scenario_file.h>

#include "perftest/bench/report.h"

#define MS IBCC_PS_PER_MS

/* bcn-2, in which node 7 slows down at 5 ms. */
static void load(struct ibcc_exp_run *run, const char *bcn)
{
	const char *const set[] = { "duration_ms=30", "measure_from_ms=10", "events.0.at_ms=5",
				    bcn };
	struct ibcc_yaml_errors e = { 0 };

	memset(run, 0, sizeof(*run));
	if (ibcc_scenario_load_set("perftest/scenarios/bcn-2.yaml", set, 4, &run->scenario, &e))
		fail_msg("%s", e.text);
	assert_int_equal(ibcc_measure_run(&run->scenario, 0, &run->measure, NULL), 0);
}

static void fini(struct ibcc_exp_run *run)
{
	ibcc_measure_fini(&run->measure);
	ibcc_scenario_fini(&run->scenario);
}

/* All ports' counters at a time. */
static struct ibcc_engine_port *ports_at(struct ibcc_engine *e, uint32_t n, uint64_t at_ps)
{
	struct ibcc_engine_port *p = calloc(n, sizeof(*p));

	assert_non_null(p);
	engine_run(e, at_ps);
	for (uint32_t i = 0; i < n; i++)
		p[i] = engine_port_read(e, i);
	return p;
}

static int64_t count(const json_t *port, const char *key)
{
	assert_true(json_is_integer(json_object_get(port, key)));
	return json_integer_value(json_object_get(port, key));
}

static void check_ports(const json_t *report, const struct ibcc_topo *t,
			const struct ibcc_engine_port *a, const struct ibcc_engine_port *b)
{
	uint64_t paused = 0, pauses = 0, negative = 0, positive = 0;
	const json_t *o;
	size_t at = 0;

	for (uint32_t i = 0; i < t->n_ports; i++) {
		double ps = (double)(b[i].pause_ps - a[i].pause_ps);

		if (t->port[i].peer == IBCC_NONE)
			continue;
		o = json_array_get(json_object_get(report, "ports"), at++);
		assert_near(json_number_value(json_object_get(o, "paused")), ps / (20.0 * MS),
			    1e-9);
		assert_near(json_number_value(json_object_get(o, "paused_ms")), ps / MS, 1e-9);
		assert_int_equal(count(o, "pauses_sent"), b[i].pauses_sent - a[i].pauses_sent);
		assert_int_equal(count(o, "bcn_negative"), b[i].bcn_negative - a[i].bcn_negative);
		assert_int_equal(count(o, "bcn_positive"), b[i].bcn_positive - a[i].bcn_positive);
		paused += b[i].pause_ps - a[i].pause_ps;
		pauses += b[i].pauses_sent - a[i].pauses_sent;
		negative += b[i].bcn_negative - a[i].bcn_negative;
		positive += b[i].bcn_positive - a[i].bcn_positive;
	}
	assert_true(paused && pauses && negative && positive);
	assert_int_equal(at, json_array_size(json_object_get(report, "ports")));
}

static void test_counters(void **state)
{
	struct ibcc_engine_port *a, *b;
	struct ibcc_exp_run run;
	struct ibcc_engine *e;
	json_t *report;

	(void)state;
	load(&run, "bcn.enabled=true");
	e = engine_new(run.scenario.topo, &run.scenario.model, run.scenario.seed);
	assert_int_equal(ibcc_engine_load(e, &run.scenario, NULL), 0);
	a = ports_at(e, run.measure.n_ports, 10 * MS);
	b = ports_at(e, run.measure.n_ports, 30 * MS);
	report = ibcc_report_scenario(&run, 0);
	assert_non_null(report);
	check_ports(report, run.scenario.topo, a, b);
	json_decref(report);
	free(a);
	free(b);
	ibcc_engine_free(e);
	fini(&run);
}

/* What is not there is not told of. */
static void test_keys(void **state)
{
	struct ibcc_exp_run run;
	json_t *report, *o;

	(void)state;
	load(&run, "bcn.enabled=false");
	for (int credits = 0; credits < 2; credits++) {
		if (credits)
			run.scenario.model.flow_control = IBCC_FLOW_CONTROL_CREDITS;
		report = ibcc_report_scenario(&run, 0);
		assert_non_null(report);
		o = json_array_get(json_object_get(report, "ports"), 0);
		assert_int_equal(json_object_get(o, "paused") != NULL, !credits);
		assert_int_equal(json_object_get(o, "pauses_sent") != NULL, !credits);
		assert_null(json_object_get(o, "bcn_negative"));
		json_decref(report);
	}
	fini(&run);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_keys),
	};

	return cmocka_run_group_tests_name("report_pause", tests, files_setup, files_teardown);
}
