/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans: scenario files with hosts, their mistakes, those that are ready-made, and what they ask of
 * each host.
 */
#include "perftest/verbs/hosts.h"
#include "perftest/verbs/plans.h"
#include "tests/unit/scenarios.h"

#define HOSTS                                                                                      \
	"hosts: [a, {name: b, address: \"10.0.0.1:4000\", device: mlx5_0, port: 2, gid_index: "    \
	"3}]\n"

static void test_hosts(void **state)
{
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD HOSTS FLOW
		"verbs: {operation: send, completions: polling, mtu_bytes: 1024, queue_pairs: 4}\n",
		&s);
	assert_int_equal(s.verbs.n_hosts, 2);
	assert_string_equal(s.verbs.host[0].name, "a");
	assert_int_equal(s.verbs.host[0].gid_index, -1);
	assert_string_equal(s.verbs.host[1].address, "10.0.0.1:4000");
	assert_string_equal(s.verbs.host[1].device, "mlx5_0");
	assert_int_equal(s.verbs.host[1].port, 2);
	assert_int_equal(s.verbs.host[1].gid_index, 3);
	assert_int_equal(s.verbs.mtu_bytes, 1024);
	assert_true(s.verbs.polling);
	assert_false(s.verbs.verify);
	assert_int_equal(s.verbs.message_bytes, 65536);
	/* Flows have what verbs says, wherever in the file it does. */
	assert_int_equal(s.flow[0].operation, IBCC_VERBS_SEND);
	assert_int_equal(s.flow[0].queue_pairs, 4);
	/* All are at one switch, for the engine. */
	assert_int_equal(s.topo->n_nodes, 3);
	assert_int_equal(s.topo->node[2].n_ports, 2);
	ibcc_scenario_fini(&s);
}

static void test_mistakes(void **state)
{
	(void)state;
	text_bad(HEAD FLOW "hosts: [a]\n",
		 "%4:8: hosts: got a list, want a list of 2 to 254 hosts\n");
	text_bad(HEAD FLOW "hosts: [a, b, a]\n",
		 "%4:15: hosts.name: got \"a\", want each name once\n");
	text_bad(HEAD FLOW "hosts: [a, {name: b, port: 0}]\n",
		 "%4:28: hosts.port: got \"0\", want a whole number from 1 to 254\n");
	text_bad(HEAD HOSTS FLOW "verbs: {ack_timeout: 0, retries: 8}\n",
		 "%5:22: verbs.ack_timeout: got \"0\", want a whole number from 1 to 31\n"
		 "%5:34: verbs.retries: got \"8\", want a whole number from 0 to 7\n");
	text_bad(HEAD FLOW SMALL "hosts: [a, d]\n",
		 "%9:12: hosts: got \"d\", want a node of the topology\n");
	text_bad(HEAD "traffic: [{from: a, to: c}]\n" HOSTS,
		 "%3:25: traffic.to: got \"c\", want a node of the topology\n");
}

/* Each of them can be read, and run by the engine. */
static void test_ready_made(void **state)
{
	static const char *const hosts[] = { "oss1", "oss2=10.0.0.2:99", "c-1", "c.2", "5" };
	static const char *const names[] = { "hotspot", "all-to-all", "allreduce", "checkpoint" };

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		struct ibcc_why e = { "" };
		struct ibcc_perf_hosts f;
		struct ibcc_scenario s;
		const char *path = files_path("plan.yaml");
		FILE *out = fopen(path, "w");

		assert_non_null(out);
		assert_int_equal(ibcc_perf_plan_write(names[i], hosts, 5, out), 0);
		assert_int_equal(fclose(out), 0);
		load_ok(path, &s);
		assert_string_equal(s.name, names[i]);
		assert_int_equal(s.verbs.n_hosts, 5);
		assert_string_equal(s.verbs.host[1].address, "10.0.0.2:99");
		assert_int_equal(ibcc_perf_hosts_plan(&f, &s, &e), 0);
		assert_int_equal(f.n_hosts, 5);
		ibcc_perf_hosts_fini(&f);
		ibcc_scenario_fini(&s);
	}
	assert_int_equal(ibcc_perf_plan_write("hotspot", hosts, 4, stdout), -EINVAL);
	assert_int_equal(ibcc_perf_plan_write("hot spot", hosts, 5, stdout), -ENOENT);
	assert_int_equal(
		ibcc_perf_plan_write("allreduce", (const char *const[]){ "a", "b: c" }, 2, stdout),
		-EINVAL);
}

/* If each path has a service level of its own, connections take it from the subnet manager. */
static void test_levels_of_paths(void **state)
{
	static const char plan[] = "name: x\nduration_ms: 1\n"
				   "topology: {torus: {sizes: [5]}, routes: datelines}\n"
				   "model: {vls: 2}\n"
				   "traffic: [{from: h0, to: h2}]\n";
	char with_cm[sizeof(plan) + 40];
	struct ibcc_perf_hosts hosts;
	struct ibcc_scenario s;
	struct ibcc_why e = { "" };

	(void)state;
	text_ok(plan, &s);
	assert_int_not_equal(ibcc_perf_hosts_plan(&hosts, &s, &e), 0);
	assert_non_null(strstr(e.text, "add verbs: {connect: cm}"));
	ibcc_perf_hosts_fini(&hosts);
	ibcc_scenario_fini(&s);
	snprintf(with_cm, sizeof(with_cm), "%sverbs: {connect: cm}\n", plan);
	text_ok(with_cm, &s);
	assert_int_equal(ibcc_perf_hosts_plan(&hosts, &s, &e), 0);
	ibcc_perf_hosts_fini(&hosts);
	ibcc_scenario_fini(&s);
}

/* Which host posts, and to which: a queue pair at each side of each connection. */
static void test_jobs(void **state)
{
	struct ibcc_why e = { "" };
	struct ibcc_perf_hosts f;
	struct ibcc_scenario s;
	struct ibcc_perf_job back;
	json_t *o;

	(void)state;
	text_ok(HEAD "hosts: [a, b, c, idle]\ntraffic:\n"
		     "- {name: w, from: a, to: b, queue_pairs: 2, load_percent: 50}\n"
		     "- {name: r, from: c, to: b, operation: read, message_bytes: 10, "
		     "window_messages: 3, start_ms: 0.5}\n"
		     "model: {packet_bytes: 1000, header_bytes: 250}\n",
		&s);
	assert_int_equal(ibcc_perf_hosts_plan(&f, &s, &e), 0);
	assert_int_equal(f.n_hosts, 3); /* idle has nothing to do */
	assert_int_equal(f.n_conns, 3);
	assert_true(f.host[0].sends && f.host[1].sends && !f.host[2].sends);
	assert_int_equal(f.host[1].job.n_qps, 3);
	assert_false(f.host[1].job.qp[0].active);
	assert_true(f.host[1].job.qp[2].active); /* b reads from c */
	assert_string_equal(f.host[1].job.qp[2].peer, "c");
	/* Headers are no payload. */
	assert_true(f.host[0].job.flow[0].load == 0.4);
	assert_int_equal(f.host[2].job.flow[0].window, 3);
	assert_int_equal(f.host[2].job.flow[0].start_ns, 500000);
	/* It is the same behind the network. */
	o = ibcc_perf_job_json(&f.host[1].job);
	assert_int_equal(ibcc_perf_job_read(&back, o, &e), 0);
	assert_int_equal(back.n_qps, 3);
	assert_int_equal(back.qp[2].flow, f.host[1].job.qp[2].flow);
	assert_true(back.qp[2].active);
	assert_string_equal(back.qp[2].peer, "c");
	assert_string_equal(back.flow[1].name, "r");
	ibcc_perf_job_fini(&back);
	/* But for what no host may ask. */
	json_object_set_new(json_array_get(json_object_get(o, "flows"), 0), "window",
			    json_integer(0));
	assert_int_equal(ibcc_perf_job_read(&back, o, &e), -EPROTO);
	json_decref(o);
	ibcc_perf_hosts_fini(&f);
	ibcc_scenario_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),      cmocka_unit_test(test_mistakes),
		cmocka_unit_test(test_ready_made), cmocka_unit_test(test_levels_of_paths),
		cmocka_unit_test(test_jobs),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
