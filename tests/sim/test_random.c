/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenarios by chance, what is true of them, and what the estimator makes of them. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/scenario_file.h>

#include "tests/unit/files.h"

#include "perftest/bench/live.h"
#include "perftest/bench/truth.h"
#include "perftest/lab/classify.h"
#include "perftest/lab/draw.h"
#include "perftest/lab/draw_tree.h"

static char *text_of(uint64_t seed)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(ibcc_draw_write(seed, f), 0);
	fclose(f);
	return text;
}

static void a_seed_is_one_scenario(void **state)
{
	char *a = text_of(7), *b = text_of(7), *c = text_of(8);

	(void)state;
	assert_string_equal(a, b);
	assert_string_not_equal(a, c);
	free(a);
	free(b);
	free(c);
}

/* No host has more to send than nine tenths of the link carry, so the fabric alone is to blame. */
static void sources_can_send_what_they_offer(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		if (ibcc_draw_load(seed, &s, &e))
			fail_msg("seed %llu: %s", (unsigned long long)seed, e.text);
		for (uint32_t n = 0; n < s.topo->n_nodes; n++) {
			double sum = 0;

			for (uint32_t i = 0; i < s.n_flows; i++)
				if (!strcmp(s.flow[i].from, s.topo->node[n].desc))
					sum += s.flow[i].rate_mbps;
			if (!ibcc_topo_is_switch(s.topo, n))
				assert_true(sum <=
					    0.9 * s.topo->port[s.topo->node[n].first_port + 1]
							    .rate_mbps);
		}
		ibcc_scenario_fini(&s);
	}
}

static bool goes_to(const struct ibcc_flow_spec *f, const char *node)
{
	return strcmp(f->to, "*") ? !strcmp(f->to, node) : strcmp(f->from, node) != 0;
}

/* Two flows of one source to one destination are one queue pair: whatever it gets, how they divide
 * it is no matter of congestion control, while the ideal has a share for each.
 */
static void no_queue_pair_has_two_flows(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;

	(void)state;
	for (uint64_t seed = 1; seed <= 40; seed++) {
		assert_int_equal(ibcc_draw_load(seed, &s, &e), 0);
		for (uint32_t i = 0; i < s.n_flows; i++)
			for (uint32_t k = 0; k < s.n_flows; k++)
				if (k != i && strcmp(s.flow[k].to, "*") &&
				    !strcmp(s.flow[i].from, s.flow[k].from) &&
				    goes_to(&s.flow[i], s.flow[k].to))
					fail_msg("seed %llu: %s and %s", (unsigned long long)seed,
						 s.flow[i].name, s.flow[k].name);
		ibcc_scenario_fini(&s);
	}
}

static uint32_t host_of(const struct ibcc_scenario *s, const char *node)
{
	uint32_t n = ibcc_topo_find_desc(s->topo, node);

	assert_int_not_equal(n, IBCC_NONE);
	assert_false(ibcc_topo_is_switch(s->topo, n));
	return n;
}

/* The same on a tree: what each source offers, no queue pair with two flows, and both kinds of
 * traffic.
 */
static void check_tree(const struct ibcc_scenario *s, uint32_t hosts)
{
	uint32_t nodes = s->topo->n_nodes, n = 0, hot = 0;
	bool *joined = calloc((size_t)nodes * nodes, sizeof(*joined));
	double *sum = calloc(nodes, sizeof(*sum));

	assert_non_null(joined);
	assert_non_null(sum);
	for (uint32_t i = 0; i < s->n_flows; i++) {
		uint32_t from = host_of(s, s->flow[i].from), to = host_of(s, s->flow[i].to);

		assert_int_not_equal(from, to);
		assert_false(joined[(size_t)from * nodes + to]);
		joined[(size_t)from * nodes + to] = true;
		sum[from] += s->flow[i].rate_mbps;
		hot += s->flow[i].kind == IBCC_FLOW_HOT;
	}
	for (uint32_t i = 0; i < nodes; i++) {
		if (ibcc_topo_is_switch(s->topo, i))
			continue;
		n++;
		assert_true(sum[i] > 0);
		assert_true(sum[i] <=
			    0.9 * s->topo->port[s->topo->node[i].first_port + 1].rate_mbps);
	}
	assert_int_equal(n, hosts);
	assert_true(hot >= 2 && hot < s->n_flows);
	free(joined);
	free(sum);
}

static void trees_are_drawn(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;

	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		uint32_t hosts = seed < 8 ? 128 : 648;

		if (ibcc_draw_tree_load(seed, hosts, &s, &e))
			fail_msg("seed %llu: %s", (unsigned long long)seed, e.text);
		check_tree(&s, hosts);
		ibcc_scenario_fini(&s);
	}
	assert_true(ibcc_draw_tree_is(1152) && ibcc_draw_tree_is(3456));
	assert_false(ibcc_draw_tree_is(0));
	assert_int_equal(ibcc_draw_tree_load(1, 100, &s, &e), -EINVAL);
}

static void load(const char *file, struct ibcc_scenario *s)
{
	struct ibcc_yaml_errors e = { 0 };

	if (ibcc_scenario_load(file, s, &e))
		fail_msg("%s", e.text);
}

static uint8_t part_of(const struct ibcc_scenario *s, const struct ibcc_truth_root *r,
		       const char *node)
{
	return r->part[s->topo->node[ibcc_topo_find_desc(s->topo, node)].first_port + 1];
}

/* Three writers to the slow server; the fourth has nothing to do with it. */
static void truth_of_lustre(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_truth t;

	(void)state;
	load("perftest/scenarios/llnl.yaml", &s);
	assert_int_equal(ibcc_truth_find(&s, s.measure_from_ps, &t), 0);
	assert_int_equal(t.n_roots, 1);
	assert_string_equal(s.topo->node[s.topo->port[t.root[0].port].node].desc, "leaf2");
	assert_int_equal(s.topo->port[t.root[0].port].num, 2);
	assert_int_equal(t.root[0].kind, IBCC_CONGESTION_OUTPUT);
	assert_int_equal(t.root[0].n_heavy, 3);
	assert_int_equal(part_of(&s, &t.root[0], "source1"), IBCC_TRUTH_HEAVY);
	assert_int_equal(part_of(&s, &t.root[0], "source4"), IBCC_TRUTH_NOT);
	ibcc_truth_fini(&t);
	ibcc_scenario_fini(&s);
}

/* 31 nodes offer the last one more than its port carries; before, there is no congestion. The
 * formulas for 32 nodes and 31 sources: increase 32/6, 10 us, 31 packet times.
 */
static void truth_of_a_hot_port(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_truth t;

	(void)state;
	load("perftest/scenarios/zrl.yaml", &s);
	assert_int_equal(ibcc_truth_find(&s, 0, &t), 0);
	assert_int_equal(t.n_roots, 0);
	ibcc_truth_fini(&t);
	assert_int_equal(ibcc_truth_find(&s, s.measure_from_ps, &t), 0);
	assert_int_equal(t.n_roots, 1);
	assert_int_equal(t.root[0].kind, IBCC_CONGESTION_INPUT);
	assert_int_equal(t.root[0].n_heavy, 31);
	ibcc_truth_fini(&t);
	assert_int_equal(ibcc_truth_formulas(&s, s.measure_from_ps), 0);
	assert_true(s.cc.enabled);
	assert_int_equal(s.cc.ca.sl[0].CCTI_Increase, 5);
	assert_int_equal(s.cc.ca.sl[0].CCTI_Timer, 10);
	assert_int_equal(s.cc.sw.Threshold, 2);
	ibcc_scenario_fini(&s);
}

/* Three flows through two links in a row: both are full of the same packets, but only before the
 * first is more than fits.
 */
static void truth_of_a_chain(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_truth t;

	(void)state;
	load(files_write("chain.yaml",
			 "name: chain\nduration_ms: 2\ntopology:\n  rate: 8000 Mb/s\n  nodes:\n"
			 "    - {host: [a, b, c, x, y, z]}\n"
			 "    - {switch: [s1, s2, s3], ports: 4}\n"
			 "  links: [[a, s1/1], [b, s1/2], [c, s1/3], [s1/4, s2/1], [s2/2, s3/1],\n"
			 "    [x, s3/2], [y, s3/3], [z, s3/4]]\n"
			 "traffic:\n  - {name: ax, from: a, to: x, load_percent: 60}\n"
			 "  - {name: by, from: b, to: y, load_percent: 60}\n"
			 "  - {name: cz, from: c, to: z, load_percent: 60}\n"),
	     &s);
	assert_int_equal(ibcc_truth_find(&s, 0, &t), 0);
	assert_int_equal(t.n_roots, 1);
	assert_string_equal(s.topo->node[s.topo->port[t.root[0].port].node].desc, "s1");
	assert_int_equal(s.topo->port[t.root[0].port].num, 4);
	assert_int_equal(t.root[0].n_heavy, 3);
	ibcc_truth_fini(&t);
	ibcc_scenario_fini(&s);
}

/* A root was taken up in the pass in which another one's change had cleared its window. */
static void several_roots_at_once(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_live_options o;
	struct ibcc_live_result r;
	struct ibcc_scenario s;
	struct ibcc_measure m;

	(void)state;
	assert_int_equal(ibcc_draw_load(14, &s, &e), 0);
	ibcc_live_defaults(&o);
	assert_int_equal(ibcc_live_run(&s, &o, 0, &m, &r), 0);
	assert_int_equal(r.passes, 39);
	assert_true(ibcc_draw_share(&m) > 0 && ibcc_draw_share(&m) <= 1);
	ibcc_live_result_fini(&r);
	ibcc_measure_fini(&m);
	ibcc_scenario_fini(&s);
}

static void kinds_are_told_apart(void **state)
{
	struct ibcc_classified c = { 0 };
	struct ibcc_yaml_errors e = { 0 };
	const struct ibcc_confusion *roots = &c.ask[IBCC_ASK_ROOTS], *kind = &c.ask[IBCC_ASK_KIND];

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		assert_int_equal(ibcc_classify(seed, &c, NULL, &e), 0);
	assert_true(roots->n[1][1] >= 10);
	assert_true(roots->n[1][1] >= 4 * roots->n[1][0]);
	assert_int_equal(kind->n[0][0] + kind->n[1][1], roots->n[1][1]);
	assert_true(kind->n[0][0] && kind->n[1][1]);
}

/* Most jobs that contribute are named, and few others; what shared hosts leave open is not judged.
 */
static void jobs_are_found(void **state)
{
	struct ibcc_classified c = { 0 };
	struct ibcc_yaml_errors e = { 0 };
	const struct ibcc_confusion *jobs = &c.ask[IBCC_ASK_CAUSING_JOBS];

	(void)state;
	for (uint64_t seed = 1; seed <= 20; seed++)
		assert_int_equal(ibcc_classify(seed, &c, NULL, &e), 0);
	assert_true(jobs->n[1][1] >= 20);
	assert_true(jobs->n[1][1] >= 9 * jobs->n[1][0]);
	assert_true(jobs->n[1][1] >= 9 * jobs->n[0][1]);
	assert_true(jobs->n[0][0] > 0);
	assert_true(jobs->open[0] + jobs->open[1] > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_seed_is_one_scenario),
		cmocka_unit_test(sources_can_send_what_they_offer),
		cmocka_unit_test(no_queue_pair_has_two_flows),
		cmocka_unit_test(trees_are_drawn),
		cmocka_unit_test(truth_of_lustre),
		cmocka_unit_test(truth_of_a_hot_port),
		cmocka_unit_test(truth_of_a_chain),
		cmocka_unit_test(several_roots_at_once),
		cmocka_unit_test(kinds_are_told_apart),
		cmocka_unit_test(jobs_are_found),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
