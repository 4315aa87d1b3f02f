/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A link whose rate changes: a flow gets that rate's share of payload, before and after, wherever
 * on its way the link is, slower or faster than those beside it. And a link that is slower one way.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/scenario_file.h>

#include "engines.h"
#include "files.h"

#define US IBCC_PS_PER_US
#define MS IBCC_PS_PER_MS

/* Mb/s to megabytes of payload a second, with packets of 2048 and 26 bytes of headers. */
#define PAYLOAD(mbps) ((mbps) / 8.0 * 2048 / 2074)

/* src4 sends to fast by its own link, the one between the switches, and fast's. */
static void test_each_link(void **state)
{
	static const struct {
		uint32_t node;
		unsigned int port;
	} link[] = { { LUSTRE_SRC4, 1 }, { LUSTRE_SW1, 5 }, { LUSTRE_SW2, 2 }, { LUSTRE_FAST, 1 } };
	static const uint32_t mbps[] = { 8000, 2000, 31250, 16000 };
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	for (unsigned int i = 0; i < 4; i++) {
		struct ibcc_topo *t = fabric_lustre();
		struct ibcc_engine *e = engine_new(t, &m, 1);
		struct engine_rates r;

		engine_flow(e, t, LUSTRE_SRC4, LUSTRE_FAST, 0);
		engine_rates(e, 1 * MS, 3 * MS, &r);
		assert_near(r.mbytes[0], PAYLOAD(QDR_MBPS), 0.005);
		for (unsigned int k = 0; k < 4; k++) {
			uint64_t now = ibcc_engine_now_ps(e);
			uint32_t port = fabric_port(t, link[i].node, link[i].port);

			assert_int_equal(ibcc_engine_set_link_rate(e, port, mbps[k]), 0);
			engine_rates(e, now + 1 * MS, now + 5 * MS, &r);
			assert_near(r.mbytes[0], PAYLOAD(mbps[k]), 0.005);
		}
		assert_int_equal(engine_flow_read(e, 0).dropped_pkts, 0);
		ibcc_engine_free(e);
		ibcc_topo_free(t);
	}
}

/* The rate changes while the link is down, and flows that offer a share of it offer as before. */
static void test_down_and_offers(void **state)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_PERIODIC, .load_permille = 250 };
	struct ibcc_topo *t = fabric_lustre();
	uint32_t port = fabric_port(t, LUSTRE_SRC1, 1);
	struct engine_rates r;
	struct ibcc_engine *e;
	struct ibcc_model m;

	(void)state;
	ibcc_model_defaults(&m);
	e = engine_new(t, &m, 1);
	assert_int_equal(ibcc_engine_add_flow(e, &f, port, fabric_port(t, LUSTRE_FAST, 1)), 0);
	assert_int_equal(ibcc_engine_set_link(e, port, false), 0);
	assert_int_equal(ibcc_engine_set_link_rate(e, port, QDR_MBPS / 2), 0);
	assert_int_equal(ibcc_engine_set_link(e, port, true), 0);
	engine_rates(e, 1 * MS, 5 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(QDR_MBPS / 4), 0.005);
	assert_int_equal(ibcc_engine_set_link_rate(e, port, QDR_MBPS / 8), 0);
	engine_rates(e, 6 * MS, 10 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(QDR_MBPS / 8), 0.005);
	assert_int_equal(ibcc_engine_set_link_rate(e, port, 0), -EINVAL);
	assert_int_equal(ibcc_engine_set_link_rate(e, t->n_ports, 1), -EINVAL);
	assert_int_equal(ibcc_engine_set_link_rate(e, fabric_port(t, LUSTRE_SW1, 8), 1), -EINVAL);
	ibcc_engine_free(e);
	ibcc_topo_free(t);
}

/* The event of a file, at its time. */
static void test_event(void **state)
{
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_scenario s;
	struct engine_rates r;
	struct ibcc_engine *e;

	(void)state;
	assert_int_equal(
		ibcc_scenario_load(
			files_write("s.yaml",
				    "name: x\nduration_ms: 10\ntopology:\n  rate: 10 Gb/s\n"
				    "  nodes: [{host: [a, b]}, {switch: s, ports: 2}]\n"
				    "  links: [[a, s/1], [b, s/2]]\n"
				    "traffic: [{from: a, to: b}]\n"
				    "events: [{at_ms: 4, link_rate: s/2, rate: 1 Gb/s},"
				    " {at_ms: 7, link_rate: b, rate: 40 Gb/s}]\n"),
			&s, &errors),
		0);
	assert_int_equal(s.event[0].kind, IBCC_EVENT_LINK_RATE);
	e = engine_new(s.topo, &s.model, 1);
	assert_int_equal(ibcc_engine_load(e, &s, NULL), 0);
	engine_rates(e, 1 * MS, 4 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(10000), 0.005);
	engine_rates(e, 4500 * US, 7 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(1000), 0.01); /* 150 packets, give or take one */
	engine_rates(e, 7500 * US, 10 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(10000), 0.005); /* a's own link holds it */
	ibcc_engine_free(e);
	ibcc_scenario_fini(&s);
}

/* a sends to b and b to a by a switch; what a link carries is that of each direction. */
#define TWO                                                                                        \
	"name: x\nduration_ms: 10\ntopology:\n  rate: 4x QDR\n"                                    \
	"  nodes: [{host: [a, b]}, {switch: s, ports: 2}]\n"
#define BOTH "traffic: [{from: a, to: b}, {from: b, to: a}]\n"

static struct ibcc_engine *open_both(const char *text, struct ibcc_scenario *s)
{
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_engine *e;

	if (ibcc_scenario_load(files_write("s.yaml", text), s, &errors))
		fail_msg("%s", errors.text);
	e = engine_new(s->topo, &s->model, 1);
	assert_int_equal(ibcc_engine_load(e, s, NULL), 0);
	return e;
}

static void test_directions(void **state)
{
	static const struct {
		const char *links;
		uint32_t in[2], out[2]; /* of each flow's links, in Mb/s */
	} c[] = {
		{ "  links: [[a, s/1], {ends: [b, s/2], rate_back: 8 Gb/s}]\n",
		  { 32000, 32000 },
		  { 8000, 32000 } },
		{ "  links: [[a, s/1], {ends: [b, s/2], rate: 8 Gb/s, rate_back: 4x QDR}]\n",
		  { 32000, 8000 },
		  { 32000, 32000 } },
		{ "  links: [{ends: [a, s/1], rate: 16000, rate_back: 8000},"
		  " {ends: [s/2, b], rate: 4000, rate_back: 32000}]\n",
		  { 16000, 32000 },
		  { 4000, 8000 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_scenario s;
		struct ibcc_engine *e;
		struct engine_rates r;
		char text[1024];

		snprintf(text, sizeof(text), TWO "%s" BOTH, c[i].links);
		e = open_both(text, &s);
		engine_rates(e, 1 * MS, 5 * MS, &r);
		for (uint32_t k = 0; k < 2; k++) {
			uint32_t slow = c[i].in[k] < c[i].out[k] ? c[i].in[k] : c[i].out[k];

			assert_near(r.mbytes[k], PAYLOAD(slow), 0.005);
		}
		ibcc_engine_free(e);
		ibcc_scenario_fini(&s);
	}
}

/* Of a packet alone: link, switch, link, and the slower packet time. One that comes slower than it
 * goes waits until it cannot run dry, then its last bits follow one another.
 */
static void test_latency_of_directions(void **state)
{
	static const struct {
		const char *links;
		uint64_t took_ps[2];
	} c[] = {
		{ "  links: [[a, s/1], {ends: [b, s/2], rate_back: 8 Gb/s}]\n",
		  { 2074 * 1000 + 150000, 2074 * 250 + 150000 } },
		{ "  links: [[a, s/1], {ends: [b, s/2], rate: 8 Gb/s, rate_back: 4x QDR}]\n",
		  { 2074 * 250 + 150000, 2074 * 1000 + 150000 } },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(c) / sizeof(c[0]); i++) {
		struct ibcc_scenario s;
		struct ibcc_engine *e;
		char text[1024];

		snprintf(text, sizeof(text),
			 TWO "%straffic: [{from: a, to: b, rate: 10, arrivals: periodic},"
			     " {from: b, to: a, rate: 10, arrivals: periodic}]\n",
			 c[i].links);
		e = open_both(text, &s);
		engine_run(e, 100 * US);
		for (uint32_t k = 0; k < 2; k++) {
			assert_int_equal(engine_flow_read(e, k).received_pkts, 1);
			assert_true(engine_flow_read(e, k).latency_sum_ps == c[i].took_ps[k]);
		}
		ibcc_engine_free(e);
		ibcc_scenario_fini(&s);
	}
}

/* One direction changes, the other goes on. */
static void test_send_rate(void **state)
{
	struct ibcc_scenario s;
	struct ibcc_engine *e;
	struct engine_rates r;

	(void)state;
	e = open_both(TWO "  links: [[a, s/1], [b, s/2]]\n" BOTH
			  "events: [{at_ms: 2, send_rate: s/2, rate: 4 Gb/s},"
			  " {at_ms: 4, send_rate: b, rate: 2 Gb/s}, {at_ms: 6, link_rate: b, rate: "
			  "8 Gb/s}]\n",
		      &s);
	assert_int_equal(s.event[0].kind, IBCC_EVENT_SEND_RATE);
	engine_rates(e, 1 * MS, 2 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(32000), 0.005);
	assert_near(r.mbytes[1], PAYLOAD(32000), 0.005);
	engine_rates(e, 2500 * US, 4 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(4000), 0.005);
	assert_near(r.mbytes[1], PAYLOAD(32000), 0.005);
	engine_rates(e, 4500 * US, 6 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(4000), 0.005);
	assert_near(r.mbytes[1], PAYLOAD(2000), 0.01);
	engine_rates(e, 6500 * US, 8 * MS, &r);
	assert_near(r.mbytes[0], PAYLOAD(8000), 0.005);
	assert_near(r.mbytes[1], PAYLOAD(8000), 0.005);
	assert_int_equal(ibcc_engine_set_send_rate(e, fabric_port(s.topo, 0, 1), 0), -EINVAL);
	assert_int_equal(ibcc_engine_set_send_rate(e, s.topo->n_ports, 1), -EINVAL);
	ibcc_engine_free(e);
	ibcc_scenario_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_link),
		cmocka_unit_test(test_down_and_offers),
		cmocka_unit_test(test_event),
		cmocka_unit_test(test_directions),
		cmocka_unit_test(test_latency_of_directions),
		cmocka_unit_test(test_send_rate),
	};

	return cmocka_run_group_tests_name("engine_link_rate", tests, files_setup, files_teardown);
}
