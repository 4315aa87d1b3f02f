/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the daemon says of itself while something is wrong: always that, and why. */
#include "services.h"

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1000 * IBCC_PS_PER_US)

static bool is(const json_t *status, const char *state)
{
	return !strcmp(json_string_value(json_object_get(status, "state")), state);
}

/* A plan is pending that adapters refuse: tried now and then, and degraded in between, too. Soon
 * after they take it all is well.
 */
static void test_refused(void **state)
{
	struct ibcc_why why = { "" };
	struct ibcc_config c;
	struct ibcc_service *s;
	unsigned int n_bad = 0;
	struct loop l = { 0 };
	json_t *status;

	(void)state;
	loop_open(&l, LUSTRE, &loop_hardware, NULL);
	services_config(&c);
	s = services_open(&l, &c);
	assert_int_equal(ibcc_cycle_set_topology(&s->cycle, ibcc_topo_clone(l.sc.topo)), 0);
	for (uint32_t i = 0; i < l.sc.topo->n_nodes; i++)
		ibcc_agents_quirks(l.agents, i)->set_status = IBCC_MAD_STATUS_BAD_FIELD;
	for (unsigned int i = 0; i < 40; i++) {
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
		status = ibcc_service_status(s);
		if (json_integer_value(json_object_get(status, "writes_pending"))) {
			assert_true(is(status, "degraded"));
			assert_true(json_is_string(json_object_get(status, "reason")));
			n_bad++;
		}
		json_decref(status);
	}
	assert_true(n_bad > 20);
	for (uint32_t i = 0; i < l.sc.topo->n_nodes; i++)
		ibcc_agents_quirks(l.agents, i)->set_status = 0;
	for (unsigned int i = 0; i < 10; i++)
		assert_int_equal(services_pass(&l, s, PASS_PS, &why), 0);
	status = ibcc_service_status(s);
	assert_true(is(status, "ok"));
	assert_int_equal(json_integer_value(json_object_get(status, "writes_pending")), 0);
	assert_true(s->set_mads > 0);
	json_decref(status);
	services_close(&l, s);
	loop_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_refused) };

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
