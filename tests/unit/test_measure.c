/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Measuring scenarios: the window, the samples, and what they must add up to. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/measure.h>
#include <ibcc/scenario_file.h>

#include "files.h"

static void run(const char *traffic, uint64_t sample_ps, struct ibcc_scenario *s,
		struct ibcc_measure *m)
{
	struct ibcc_yaml_errors e = { 0 };
	char text[1024];

	snprintf(text, sizeof(text),
		 "name: x\nduration_ms: 2\nmeasure_from_ms: 1\n"
		 "topology:\n  rate: 8 Gb/s\n  nodes:\n  - {host: [a, b, c, d]}\n"
		 "  - {switch: s, ports: 4}\n"
		 "  links: [[a, s/1], [b, s/2], [c, s/3], [d, s/4]]\n"
		 "model: {packet_bytes: 1920, header_bytes: 80}\n%s",
		 traffic);
	if (ibcc_scenario_load(files_write("s.yaml", text), s, &e))
		fail_msg("%s", e.text);
	assert_int_equal(ibcc_measure_run(s, sample_ps, m, NULL), 0);
}

static void fini(struct ibcc_scenario *s, struct ibcc_measure *m)
{
	ibcc_measure_fini(m);
	ibcc_scenario_fini(s);
}

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance * fabs(want)))
		fail_msg("%g is not %g", got, want);
}

/* 1920 of 2000 bytes are payload: 7680 Mb/s. */
static void a_lone_flow_gets_the_line(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_measure m;
	uint32_t c;

	(void)state;
	run("traffic: [{name: f, from: a, to: c, kind: hot}]\n", 0, &s, &m);
	c = ibcc_topo_find_desc(s.topo, "c");
	assert_int_equal(m.n_samples, 0);
	near(m.flow[0].throughput_mbps, 7680, 0.005);
	near(m.flow[0].offered_mbps, 7680, 0.005);
	near(m.flow[0].ideal_mbps, 7680, 1e-6);
	near(m.node[c].throughput_mbps, 7680, 0.005);
	near(m.node[c].capacity_mbps, 7680, 1e-6);
	near(m.port[s.topo->node[c].first_port + 1].rcv_mbps, 8000 * 1998 / 2000.0, 0.005);
	near(ibcc_measure_kind_mbps(&s, &m, IBCC_FLOW_HOT), 7680, 0.005);
	assert_true(ibcc_measure_kind_mbps(&s, &m, IBCC_FLOW_VICTIM) == 0);
	near(ibcc_measure_ideal_share(&m), 1, 0.005);
	assert_true(m.totals.delivered > 0 && m.totals.dropped == 0);
	fini(&s, &m);
}

/* The samples of the window add up to its mean, for flows, ports and counts. */
static void samples_add_up(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_measure m;

	(void)state;
	run("traffic: [{name: f, from: a, to: c}, {name: g, from: b, to: c, load_percent: 70},"
	    " {name: all, from: d, to: all, load_percent: 30}]\n"
	    "congestion_control:\n  switch: {threshold: 10}\n"
	    "  ca: {ccti_timer: 10, ccti_increase: 2}\n"
	    "  cct: {shape: linear, max_delay_packets: 20}\n",
	    50 * IBCC_PS_PER_US, &s, &m);
	assert_int_equal(m.n_samples, 40);
	assert_int_equal(m.sample_ps[0], 50 * IBCC_PS_PER_US);
	assert_int_equal(m.sample_ps[39], 2 * IBCC_PS_PER_MS);
	for (uint32_t i = 0; i < m.n_flows; i++) {
		double mbps = 0;
		uint64_t becn = 0;

		for (uint32_t k = 20; k < 40; k++) {
			mbps += (double)m.flow_sample[k * m.n_flows + i].throughput_mbps / 20;
			becn += m.flow_sample[k * m.n_flows + i].becn;
		}
		near(mbps, m.flow[i].throughput_mbps, 1e-5);
		assert_int_equal(becn, m.flow[i].becn);
	}
	assert_true(m.flow[0].becn > 0);
	assert_true(m.flow[0].ccti > 0);
	for (uint32_t i = 0; i < m.n_ports; i++) {
		double mbps = 0;

		for (uint32_t k = 20; k < 40; k++)
			mbps += (double)m.port_sample[k * m.n_ports + i].xmit_mbps / 20;
		near(mbps, m.port[i].xmit_mbps, 1e-5);
	}
	fini(&s, &m);
}

/* A third of what d sends to all is for c, besides what is sent to it alone. */
static void offers_by_node(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_measure m;

	(void)state;
	run("traffic: [{from: a, to: c, load_percent: 20, arrivals: periodic},"
	    " {from: d, to: all, load_percent: 30, arrivals: periodic}]\n",
	    0, &s, &m);
	near(m.node[ibcc_topo_find_desc(s.topo, "c")].offered_mbps, 7680 * 0.3, 0.01);
	near(m.node[ibcc_topo_find_desc(s.topo, "b")].offered_mbps, 7680 * 0.1, 0.01);
	assert_true(m.node[ibcc_topo_find_desc(s.topo, "d")].offered_mbps == 0);
	assert_true(m.node[ibcc_topo_find_desc(s.topo, "s")].offered_mbps == 0);
	near(m.node[ibcc_topo_find_desc(s.topo, "c")].throughput_mbps, 7680 * 0.3, 0.15);
	fini(&s, &m);
	/* 5 % to each but c, and from c to all. */
	run("traffic: [{from: all, to: all, to_except: c, load_percent: 5, merged: true}]\n", 0, &s,
	    &m);
	near(m.node[ibcc_topo_find_desc(s.topo, "a")].offered_mbps,
	     m.flow[1].offered_mbps / 2 + m.flow[2].offered_mbps / 3 + m.flow[3].offered_mbps / 2,
	     1e-9);
	assert_true(fabs(m.node[ibcc_topo_find_desc(s.topo, "c")].offered_mbps) < 1e-6);
	assert_true(m.node[ibcc_topo_find_desc(s.topo, "c")].throughput_mbps == 0);
	fini(&s, &m);
}

/* The same seed, the same bytes: with samples or without. */
static void runs_repeat(void **state)
{
	static const char traffic[] = "traffic: [{from: all, to: all, load_percent: 80}]\n";
	struct ibcc_scenario s[2];
	struct ibcc_measure m[2];

	(void)state;
	run(traffic, 0, &s[0], &m[0]);
	run(traffic, 10 * IBCC_PS_PER_US, &s[1], &m[1]);
	assert_int_equal(m[0].totals.events, m[1].totals.events);
	for (uint32_t i = 0; i < m[0].n_flows; i++)
		assert_true(m[0].flow[i].throughput_mbps == m[1].flow[i].throughput_mbps &&
			    m[0].flow[i].latency_us == m[1].flow[i].latency_us);
	fini(&s[0], &m[0]);
	fini(&s[1], &m[1]);
}

static void bad_scenarios(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_measure m;
	const char *bad;

	(void)state;
	run("traffic: [{from: a, to: c}]\n", 0, &s, &m);
	ibcc_measure_fini(&m);
	s.measure_from_ps = s.duration_ps;
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), -EINVAL);
	s.measure_from_ps = 0;
	snprintf(s.flow[0].to, sizeof(s.flow[0].to), "nobody");
	assert_int_equal(ibcc_measure_run(&s, 0, &m, &bad), -ENOENT);
	assert_string_equal(bad, "nobody");
	ibcc_scenario_fini(&s);
}

/* From the first bit on the source's link: however long packets waited before that, a packet time
 * and two links and a switch later it is delivered. A slow sink's time counts, until it has it.
 */
static void latency_begins_on_the_link(void **state)
{
	const double us = 2 + 0.125 + 0.025;
	struct ibcc_scenario s;
	struct ibcc_measure m;

	(void)state;
	run("traffic: [{from: a, to: [c, d], load_percent: 100, arrivals: periodic}]\n", 0, &s, &m);
	near(m.flow[0].throughput_mbps, 7680 / 2, 0.005); /* each twice as much as there is */
	near(m.flow[0].latency_us, us, 1e-6);
	near(m.flow[1].latency_us, us, 1e-6);
	fini(&s, &m);
	run("traffic: [{from: a, to: c, load_percent: 5, arrivals: periodic}]\n"
	    "events: [{sink: c, rate: 768}]\n",
	    0, &s, &m);
	near(m.flow[0].latency_us, us + 20, 1e-6); /* 1920 bytes at 768 Mb/s */
	fini(&s, &m);
}

/* Packets of one kind, of two flows: 100 us apart, each to a sink of its own that takes 20 and 40
 * us for it. One in three packets is of the slower flow, so the percentiles are of either one and
 * the mean is between them. A percentile is exact to a sixteenth. The hot flow's packets count for
 * its own kind only, and no flow is a victim.
 */
static void latency_of_a_kind(void **state)
{
	const double us = 2 + 0.125 + 0.025;
	struct ibcc_scenario s;
	struct ibcc_measure m;
	const struct ibcc_measure_latency *l;

	(void)state;
	run("traffic:\n"
	    "- {from: a, to: c, load_percent: 2, arrivals: periodic}\n"
	    "- {from: b, to: d, load_percent: 1, arrivals: periodic}\n"
	    "- {from: c, to: a, load_percent: 10, arrivals: periodic, kind: hot}\n"
	    "events: [{sink: c, rate: 768}, {sink: d, rate: 384}]\n",
	    0, &s, &m);
	l = &m.latency[IBCC_FLOW_BACKGROUND];
	near((double)m.flow[0].received_pkts, 10, 1e-6); /* 2 us of a link in 100 */
	near((double)m.flow[1].received_pkts, 5, 1e-6);
	near(l->mean_us, us + (10 * 20 + 5 * 40) / 15.0, 1e-6);
	near(l->p50_us, us + 20, 0.0626);
	near(l->p99_us, us + 40, 0.0626);
	near(m.latency[IBCC_FLOW_HOT].mean_us, us, 1e-6);
	near(m.latency[IBCC_FLOW_HOT].p99_us, us, 0.0626);
	assert_true(isnan(m.latency[IBCC_FLOW_VICTIM].mean_us));
	assert_true(isnan(m.latency[IBCC_FLOW_VICTIM].p50_us));
	fini(&s, &m);
}

/* Messages of two flows of a kind, of ten packets and of one, in loops: a packet takes 2 us. The
 * mean and the percentiles are of all of them. Hot messages and packets without a message do not
 * count.
 */
static void latency_of_messages(void **state)
{
	const double one = 2 + 0.125 + 0.025, ten = one + 9 * 2;
	struct ibcc_scenario s;
	struct ibcc_measure m;
	uint64_t n[2];

	(void)state;
	run("traffic:\n"
	    "- {from: a, to: c, message_bytes: 19200}\n"
	    "- {from: b, to: d, message_bytes: 1}\n"
	    "- {from: c, to: a, message_bytes: 1921, kind: hot}\n"
	    "- {from: d, to: b, load_percent: 1, arrivals: periodic, kind: victim}\n",
	    0, &s, &m);
	n[0] = m.flow[0].received_messages;
	n[1] = m.flow[1].received_messages;
	assert_true(n[0] >= 40 && n[1] > 8 * n[0]);
	near(m.flow[0].message.mean_us, ten, 1e-6);
	near(m.flow[1].message.mean_us, one, 1e-6);
	near(m.flow[1].latency_us, one, 1e-6);
	near(m.message[IBCC_FLOW_BACKGROUND].mean_us,
	     ((double)n[0] * ten + (double)n[1] * one) / (double)(n[0] + n[1]), 1e-6);
	near(m.message[IBCC_FLOW_BACKGROUND].p50_us, one, 0.0626);
	near(m.message[IBCC_FLOW_BACKGROUND].p99_us, ten, 0.0626);
	near(m.message[IBCC_FLOW_HOT].mean_us, one + 2, 1e-6);
	assert_true(isnan(m.message[IBCC_FLOW_VICTIM].mean_us));
	assert_true(isnan(m.flow[3].message.p99_us));
	fini(&s, &m);
}

/* A full link is used all the time, whatever the size of its packets; a whole number of them was
 * sent, each with its VCRC, which xmit_mbps does not have. Acknowledgements count by their own
 * size.
 */
static void full_links_are_full(void **state)
{
	static const uint32_t sizes[] = { 64, 256, 2048, 4096 };

	(void)state;
	for (unsigned int i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct ibcc_yaml_errors e = { 0 };
		double wire = sizes[i] + 26, packet_ps = wire * 1000, n, back, sample = 0;
		uint64_t span = 20 * IBCC_PS_PER_MS;
		struct ibcc_scenario s;
		struct ibcc_measure m;
		uint32_t out, in;
		char text[512];

		snprintf(text, sizeof(text),
			 "name: x\nduration_ms: 21\nmeasure_from_ms: 1\n"
			 "topology:\n  rate: 8 Gb/s\n  mtu_bytes: 4096\n"
			 "  nodes: [{host: [a, b, c]}, {switch: s, ports: 4}]\n"
			 "  links: [[a, s/1], [b, s/2], [c, s/3]]\n"
			 "model: {packet_bytes: %u, acks: true}\n"
			 "traffic: [{from: [a, b], to: c}]\n",
			 sizes[i]);
		if (ibcc_scenario_load(files_write("full.yaml", text), &s, &e))
			fail_msg("%s", e.text);
		assert_int_equal(ibcc_measure_run(&s, IBCC_PS_PER_MS, &m, NULL), 0);
		in = s.topo->node[ibcc_topo_find_desc(s.topo, "c")].first_port + 1;
		out = s.topo->port[in].peer;
		near(m.port[out].utilisation, 1, 1e-3);
		n = m.port[out].utilisation * (double)span / packet_ps;
		near(n, round(n), 1e-9);
		assert_true(fabs(n - (double)span / packet_ps) <= 1);
		near(m.port[out].xmit_mbps, n * (wire - 2) * 8e6 / (double)span, 1e-9);
		for (uint32_t k = 1; k < m.n_samples; k++)
			sample += (double)m.port_sample[k * m.n_ports + out].utilisation / 20;
		near(sample, m.port[out].utilisation, 1e-6);
		/* One of 30 bytes for each packet, but for those that are on the way. */
		back = m.port[in].utilisation * (double)span / (30 * 1000);
		near(back, round(back), 1e-9);
		assert_true(fabs(back - n) <= 32);
		fini(&s, &m);
	}
}

/* Four switches in a ring, with buffers of two packets: the run ends and names the circle. With
 * room there is none, and looking for one changes nothing.
 */
static void deadlocks_end_runs(void **state)
{
	static const char text[] =
		"name: ring\nduration_ms: 1000\nmeasure_from_ms: 900\ntopology:\n  nodes:\n"
		"  - {host: [a, b, c, d, e, f, g, h]}\n  - {switch: [s1, s2, s3, s4], ports: 4}\n"
		"  links: [[a, s1/1], [b, s2/1], [c, s3/1], [d, s4/1],\n"
		"    [e, s1/4], [f, s2/4], [g, s3/4], [h, s4/4],\n"
		"    [s1/3, s2/2], [s2/3, s3/2], [s3/3, s4/2], [s4/3, s1/2]]\n"
		"model: {routing: random, buffer_bytes: 4224}\n"
		"traffic: [{from: [a, e], to: [c, g]}, {from: [c, g], to: [a, e]},\n"
		"  {from: [b, f], to: [d, h]}, {from: [d, h], to: [b, f]}]\n";
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	struct ibcc_measure m;
	double ms = 0;

	(void)state;
	if (ibcc_scenario_load(files_write("ring.yaml", text), &s, &e))
		fail_msg("%s", e.text);
	assert_int_equal(ibcc_measure_run(&s, IBCC_PS_PER_MS, &m, NULL), -EDEADLK);
	assert_int_equal(sscanf(m.deadlock, "deadlock at %lf ms: s1 port ", &ms), 1);
	assert_true(ms > 0 && ms < 10);
	for (unsigned int i = 1; i <= 4; i++) {
		char name[32];

		snprintf(name, sizeof(name), " waits for s%u port ", i);
		assert_non_null(strstr(m.deadlock, name));
	}
	assert_null(m.flow);
	s.model.buffer_bytes = 1 << 20;
	s.duration_ps = 2 * IBCC_PS_PER_MS;
	s.measure_from_ps = 0;
	for (uint32_t i = 0; i < s.n_flows; i++) {
		s.flow[i].arrivals = IBCC_ARRIVALS_PERIODIC;
		s.flow[i].load_permille = 100;
	}
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), 0);
	assert_string_equal(m.deadlock, "");
	fini(&s, &m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_lone_flow_gets_the_line),
		cmocka_unit_test(samples_add_up),
		cmocka_unit_test(offers_by_node),
		cmocka_unit_test(runs_repeat),
		cmocka_unit_test(bad_scenarios),
		cmocka_unit_test(latency_begins_on_the_link),
		cmocka_unit_test(latency_of_a_kind),
		cmocka_unit_test(latency_of_messages),
		cmocka_unit_test(full_links_are_full),
		cmocka_unit_test(deadlocks_end_runs),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
