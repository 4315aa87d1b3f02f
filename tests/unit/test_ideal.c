/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The max-min ideal of scenarios, against arithmetic by hand. A packet of 2048 bytes has no header
 * here, so that links carry payload at their rate.
 */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ibcc/ideal.h>
#include <ibcc/scenario_file.h>

#include "files.h"

#define FABRIC                                                                                     \
	"name: x\nduration_ms: 10\n"                                                               \
	"topology:\n  rate: 10 Gb/s\n  nodes:\n  - {host: [a, b, c, d]}\n"                         \
	"  - {switch: [s, t], ports: 4}\n"                                                         \
	"  links: [[a, s/1], [b, s/2], [s/4, t/4], [c, t/1], [d, t/2]]\n"                          \
	"model: {header_bytes: 0}\n"

static void compute(const char *text, double from_ms, double to_ms, struct ibcc_scenario *s,
		    struct ibcc_ideal *i)
{
	struct ibcc_yaml_errors e = { 0 };

	assert_int_equal(ibcc_scenario_load(files_write("s.yaml", text), s, &e), 0);
	assert_int_equal(
		ibcc_ideal_compute(s, (uint64_t)(from_ms * 1e9), (uint64_t)(to_ms * 1e9), i), 0);
}

static void fini(struct ibcc_scenario *s, struct ibcc_ideal *i)
{
	ibcc_ideal_fini(i);
	ibcc_scenario_fini(s);
}

static void near(double got, double want)
{
	if (!(fabs(got - want) <= 1e-6 * fabs(want) + 1e-9))
		fail_msg("%g is not %g", got, want);
}

/* a and b share the link between the switches; b asks for less than its half. */
static void links_are_shared(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	compute(FABRIC "traffic: [{from: a, to: c}, {from: b, to: d, load_percent: 30},"
		       " {from: c, to: d, load_percent: 100}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], 7000);
	near(i.flow_mbps[1], 3000);
	near(i.flow_mbps[2], 7000); /* what b leaves of d's link */
	near(i.node_mbps[ibcc_topo_find_desc(s.topo, "d")], 10000);
	near(i.capacity_mbps[ibcc_topo_find_desc(s.topo, "d")], 10000);
	near(i.capacity_mbps[ibcc_topo_find_desc(s.topo, "s")], 0);
	fini(&s, &i);
}

/* Headers take their part of a link, not of a sink. */
static void headers_and_sinks(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	compute("name: x\nduration_ms: 10\ntopology:\n  rate: 10 Gb/s\n  nodes:\n"
		"  - {host: [a, b, c]}\n  - {switch: s, ports: 4}\n"
		"  links: [[a, s/1], [b, s/2], [c, s/3]]\n"
		"model: {packet_bytes: 1920, header_bytes: 80}\n"
		"traffic: [{from: a, to: c}, {from: c, to: b}]\n"
		"events: [{at_ms: 0, sink: b, rate: 4 Gb/s}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], 9600);
	near(i.flow_mbps[1], 4000);
	near(i.capacity_mbps[ibcc_topo_find_desc(s.topo, "b")], 4000);
	fini(&s, &i);
}

/* A fifth of the window at full rate, two fifths slow, two fifths with the link down. */
static void changes_are_averaged(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	compute(FABRIC "traffic: [{from: a, to: c}, {from: b, to: d, stop_ms: 6}]\n"
		       "events: [{at_ms: 2, sink: c, rate: 1 Gb/s}, {at_ms: 6, link_down: s/4}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], 0.2 * 5000 + 0.4 * 1000);
	near(i.flow_mbps[1], 0.2 * 5000 + 0.4 * 9000);
	fini(&s, &i);
	compute(FABRIC "traffic: [{from: a, to: c, start_ms: 5}]\n", 0, 10, &s, &i);
	near(i.flow_mbps[0], 5000);
	fini(&s, &i);
}

/* A link's rate changes while it is down, and comes up with it: a quarter each at 10, 4, 0, 2. */
static void links_change_rate(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	compute(FABRIC "traffic: [{from: a, to: c}]\n"
		       "events: [{at_ms: 2.5, link_rate: t/4, rate: 4 Gb/s},"
		       " {at_ms: 5, link_down: s/4}, {at_ms: 6, link_rate: s/4, rate: 2 Gb/s},"
		       " {at_ms: 7.5, link_up: s/4}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], (10000 + 4000 + 0 + 2000) / 4.0);
	fini(&s, &i);
}

/* A link carries less one way, from the start or from an event on. */
static void directions_differ(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	compute("name: x\nduration_ms: 10\ntopology:\n  rate: 10 Gb/s\n  nodes:\n"
		"  - {host: [a, b]}\n  - {switch: s, ports: 4}\n"
		"  links: [[a, s/1], {ends: [b, s/2], rate_back: 4 Gb/s}]\n"
		"model: {header_bytes: 0}\n"
		"traffic: [{from: a, to: b}, {from: b, to: a}]\n"
		"events: [{at_ms: 5, send_rate: b, rate: 6 Gb/s},"
		" {at_ms: 8, send_rate: s/2, rate: 5 Gb/s}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], (8 * 4000 + 2 * 5000) / 10.0);
	near(i.flow_mbps[1], (10000 + 6000) / 2.0);
	near(i.capacity_mbps[ibcc_topo_find_desc(s.topo, "b")], 4200);
	near(i.capacity_mbps[ibcc_topo_find_desc(s.topo, "a")], 10000);
	fini(&s, &i);
}

/* A slow destination holds back only a uniform flow's part for it: 9000 / 3 to each of b, c, d. */
static void uniform_flows_are_pairs(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	compute(FABRIC "traffic: [{from: a, to: all, load_percent: 90}]\n"
		       "events: [{at_ms: 0, sink: d, rate: 600}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], 3000 + 3000 + 600);
	near(i.node_mbps[ibcc_topo_find_desc(s.topo, "d")], 600);
	near(i.node_mbps[ibcc_topo_find_desc(s.topo, "b")], 3000);
	fini(&s, &i);
	compute(FABRIC "traffic: [{from: a, to: all, to_except: d, load_percent: 45, merged: true},"
		       " {from: a, to: d, load_percent: 10}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], 9000);
	near(i.node_mbps[ibcc_topo_find_desc(s.topo, "d")], 1000);
	near(i.node_mbps[ibcc_topo_find_desc(s.topo, "b")], 4500);
	fini(&s, &i);
}

/* Two leaves with two hosts each and two roots; r1's links carry half of the others. Evenly spread,
 * both hosts of leaf l fill them together: 2 * 5000 by each root, 5000 a host. With r1's link down
 * at one end, all goes by r0, 10000 in all. In the last fifth even that is down, and the flow that
 * stays at its leaf gets what the other leaves of d's link.
 */
static void packets_spread(void **state)
{
	static const char *const routing[] = { "random", "adaptive" };
	struct ibcc_scenario s;
	struct ibcc_ideal i;
	char text[1024];

	(void)state;
	for (int k = 0; k < 2; k++) {
		snprintf(text, sizeof(text),
			 "name: x\nduration_ms: 10\ntopology:\n  rate: 10 Gb/s\n  nodes:\n"
			 "  - {host: [a, b, c, d]}\n  - {switch: [l, m, r0, r1], ports: 4}\n"
			 "  links: [[a, l/1], [b, l/2], [c, m/1], [d, m/2],\n"
			 "    [l/3, r0/1], [m/3, r0/2],\n"
			 "    {ends: [l/4, r1/1], rate: 5 Gb/s}, {ends: [m/4, r1/2], rate: 5 "
			 "Gb/s}]\n"
			 "model: {header_bytes: 0, routing: %s}\n"
			 "traffic: [{from: a, to: c}, {from: b, to: d}, {from: c, to: d}]\n"
			 "events: [{at_ms: 4, link_down: l/4}, {at_ms: 8, link_down: l/3}]\n",
			 routing[k]);
		compute(text, 0, 4, &s, &i);
		near(i.flow_mbps[0], 5000); /* half of it by r1, where b has as much */
		near(i.flow_mbps[1], 5000);
		near(i.flow_mbps[2], 5000);
		fini(&s, &i);
		compute(text, 4, 8, &s, &i);
		near(i.flow_mbps[0], 5000); /* all by r0 */
		near(i.flow_mbps[1], 5000);
		fini(&s, &i);
		compute(text, 0, 10, &s, &i);
		near(i.flow_mbps[0], 0.8 * 5000);
		near(i.flow_mbps[1], 0.8 * 5000);
		near(i.flow_mbps[2], 0.8 * 5000 + 0.2 * 10000);
		fini(&s, &i);
	}
}

/* Shares multiply on the way: of three equal ways up, then two links side by side. a's one flow has
 * no other limit than the narrowest link that it spreads over, 1000, with a sixth of its packets.
 */
static void shares_multiply(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	compute("name: x\nduration_ms: 10\ntopology:\n  rate: 10 Gb/s\n  nodes:\n"
		"  - {host: [a, b]}\n  - {switch: [l, m, r0, r1, r2], ports: 8}\n"
		"  links: [[a, l/1], [b, m/1], [l/2, r0/1], [l/3, r1/1], [l/4, r2/1],\n"
		"    [r0/2, m/2], [r1/2, m/3], [r2/2, m/4], [r2/3, m/6],\n"
		"    [r0/3, m/7], {ends: [r1/3, m/5], rate: 1000}]\n"
		"model: {header_bytes: 0, routing: random}\n"
		"traffic: [{from: a, to: b}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], 6000);
	fini(&s, &i);
}

static void bad_windows(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	assert_int_equal(
		ibcc_scenario_load(files_write("s.yaml", FABRIC "traffic: [{from: a, to: c}]\n"),
				   &s, &e),
		0);
	assert_int_equal(ibcc_ideal_compute(&s, 5, 5, &i), -EINVAL);
	s.flow[0].to[0] = '?';
	assert_int_equal(ibcc_ideal_compute(&s, 0, 5, &i), -EINVAL);
	ibcc_scenario_fini(&s);
}

/* Links carry headers, too: with 64 bytes of it, packets of 64 and 448 bytes are one half and seven
 * eighths payload. A link's capacity is counted in the model's packets, 448 of 512 bytes. Equal
 * shares of payload x take (2 + 8/7) x of 10 Gb/s.
 */
static void sizes_of_packets(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_ideal i;

	(void)state;
	compute("name: x\nduration_ms: 10\n"
		"topology:\n  rate: 10 Gb/s\n  nodes:\n  - {host: [a, b, c]}\n"
		"  - {switch: s, ports: 4}\n  links: [[a, s/1], [b, s/2], [c, s/3]]\n"
		"model: {packet_bytes: 448, header_bytes: 64}\n"
		"traffic: [{from: a, to: c, packet_bytes: 64}, {from: b, to: c},\n"
		"  {from: c, to: a, packet_bytes: 64, load_percent: 50},\n"
		"  {from: c, to: b, packet_bytes: 64, rate: 1 Gb/s}]\n",
		0, 10, &s, &i);
	near(i.flow_mbps[0], 10000 / (2 + 8 / 7.0));
	near(i.flow_mbps[1], 10000 / (2 + 8 / 7.0));
	near(i.flow_mbps[2], 2500);
	near(i.flow_mbps[3], 500);
	fini(&s, &i);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(links_are_shared),     cmocka_unit_test(headers_and_sinks),
		cmocka_unit_test(changes_are_averaged), cmocka_unit_test(uniform_flows_are_pairs),
		cmocka_unit_test(bad_windows),          cmocka_unit_test(links_change_rate),
		cmocka_unit_test(directions_differ),    cmocka_unit_test(packets_spread),
		cmocka_unit_test(shares_multiply),      cmocka_unit_test(sizes_of_packets),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
