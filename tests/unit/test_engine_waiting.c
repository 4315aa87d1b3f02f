/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is compared with the threshold is what has to wait. At Threshold 15, where one waiting
 * packet is more than the threshold, a packet is marked if it waited, and only then.
 */
#include "engines.h"

#define US   IBCC_PS_PER_US
#define MS   IBCC_PS_PER_MS
#define WIRE 2074u
#define SDR  8000u

/* Ways to forward that take different paths through the engine. */
enum way { PLAIN, TWO_VLS, VLARB, READS_ONE, STORES, N_WAYS };

static struct ibcc_model model_of(enum way way)
{
	static const struct ibcc_vlarb_entry both[] = { { 0, 8 }, { 1, 8 } };
	struct ibcc_model m;

	ibcc_model_defaults(&m);
	m.vls = way == TWO_VLS || way == VLARB ? 2 : 1;
	if (way == VLARB) {
		m.vlarb.low.n = 2;
		m.vlarb.low.entry[0] = both[0];
		m.vlarb.low.entry[1] = both[1];
	}
	if (way == READS_ONE)
		m.switch_reads = IBCC_SWITCH_READS_ONE;
	if (way == STORES)
		m.switching = IBCC_SWITCHING_STORE_AND_FORWARD;
	return m;
}

struct star {
	struct ibcc_topo *topo;
	struct ibcc_engine *e;
	uint32_t n; /* hosts 0 .. n - 1; the switch is node n */
};

/* Every port of the switch marks at Threshold 15, sources react as many managers set it. */
static void star_new(struct star *s, enum way way, const uint32_t *rate_mbps, uint32_t n)
{
	struct ibcc_cc_sw_setting sw = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
					 .Threshold = 15,
					 .Packet_Size = 8 };
	struct ibcc_model m = model_of(way);

	s->topo = ibcc_topo_new();
	s->n = n;
	assert_non_null(s->topo);
	for (uint32_t i = 0; i < n; i++)
		fabric_node(s->topo, IBCC_NODE_CA, 1, "");
	fabric_node(s->topo, IBCC_NODE_SWITCH, n, "switch");
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(ibcc_topo_link(s->topo, i, 1, n, i + 1, rate_mbps[i], 2048), 0);
	assert_int_equal(ibcc_route_compute(s->topo), 0);
	s->e = engine_new(s->topo, &m, 7);
	for (uint32_t i = 1; i <= n; i++)
		ibcc_cc_mask_assign(&sw.Victim_Mask, i, true);
	assert_int_equal(ibcc_engine_set_switch_cc(s->e, n, &sw), 0);
}

static void star_free(struct star *s)
{
	ibcc_engine_free(s->e);
	ibcc_topo_free(s->topo);
}

/* Without anything else on the fabric nothing waits, whatever the links' rates, unless the last one
 * is slower than the first.
 */
static void test_lone_flow(void **state)
{
	static const uint32_t rates[][2] = { { SDR, SDR }, { SDR, 32000 }, { 54545, 54545 } };

	(void)state;
	for (unsigned int i = 0; i < 3 * N_WAYS; i++) {
		const uint32_t *rate = rates[i / N_WAYS];
		struct engine_rates r;
		struct star s;

		star_new(&s, (enum way)(i % N_WAYS), rate, 2);
		engine_reaction(s.e, s.topo, 1, 150, 31000);
		engine_flow(s.e, s.topo, 0, 1, 0);
		engine_rates(s.e, 1 * MS, 6 * MS, &r);
		assert_near(r.mbytes[0], rate[0] / 8.0 * 2048 / WIRE, 0.005);
		assert_int_equal(engine_flow_read(s.e, 0).fecn, 0);
		star_free(&s);
	}
}

/* A flow to an idle port of a switch at which another port is congested keeps its rate. */
static void test_victim(void **state)
{
	static const uint32_t rates[] = { SDR, SDR, SDR, SDR, SDR };

	(void)state;
	for (enum way way = PLAIN; way < N_WAYS; way++) {
		struct engine_rates r;
		struct star s;

		star_new(&s, way, rates, 5);
		engine_reaction(s.e, s.topo, 1, 150, 31000);
		engine_flow(s.e, s.topo, 0, 3, 0);
		engine_flow(s.e, s.topo, 1, 3, 0);
		engine_flow(s.e, s.topo, 2, 4, 0);
		engine_rates(s.e, 1 * MS, 6 * MS, &r);
		assert_near(r.mbytes[2], SDR / 8.0 * 2048 / WIRE, 0.005);
		assert_int_equal(engine_flow_read(s.e, 2).fecn, 0);
		assert_true(engine_flow_read(s.e, 0).fecn > 10);
		star_free(&s);
	}
}

/* Two flows that each fill half of a link, whose packets come at the same time, when the link has
 * just sent the one before: one goes, and the other waits for it.
 */
static void test_two_at_once(void **state)
{
	static const uint32_t rates[] = { SDR, SDR, SDR };
	struct ibcc_flow_spec half = { .arrivals = IBCC_ARRIVALS_PERIODIC, .rate_mbps = SDR / 2 };

	(void)state;
	for (enum way way = PLAIN; way < N_WAYS; way++) {
		uint64_t packets = 0, fecn = 0;
		struct star s;

		star_new(&s, way, rates, 3);
		for (uint32_t i = 0; i < 2; i++)
			assert_true(ibcc_engine_add_flow(s.e, &half, fabric_port(s.topo, i, 1),
							 fabric_port(s.topo, 2, 1)) >= 0);
		engine_run(s.e, 10 * MS);
		for (uint32_t i = 0; i < 2; i++) {
			packets += engine_flow_read(s.e, i).received_pkts;
			fecn += engine_flow_read(s.e, i).fecn;
		}
		assert_near((double)packets, 10.0 * MS / (WIRE * 1000.0), 0.001);
		assert_in_range(fecn, packets / 2 - 1, packets / 2 + 1);
		star_free(&s);
	}
}

/* Poisson arrivals at an output find it busy as often as it is (they see time averages): the share
 * of packets that wait, and are marked, is the load. They come over links so fast that they do not
 * wait there. 150,000 packets make 0.26 % for the standard deviation of the load, and less for the
 * rest: 2 % are more than four of it.
 */
static void test_poisson(void **state)
{
	enum { SOURCES = 16, FAST = 400000 };
	static const double load[] = { 0.3, 0.5, 0.8 };
	uint32_t rates[SOURCES + 1] = { SDR };

	(void)state;
	for (unsigned int i = 1; i <= SOURCES; i++)
		rates[i] = FAST;
	for (unsigned int k = 0; k < 3 * 3; k++) {
		double rho = load[k % 3];
		struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_EXPONENTIAL,
					    .rate_mbps = (uint32_t)(rho * SDR / SOURCES) };
		uint64_t packets = 0, fecn = 0;
		struct star s;

		star_new(&s, (enum way)(k / 3), rates, SOURCES + 1);
		for (uint32_t i = 1; i <= SOURCES; i++)
			assert_true(ibcc_engine_add_flow(s.e, &f, fabric_port(s.topo, i, 1),
							 fabric_port(s.topo, 0, 1)) >= 0);
		engine_run(s.e, (uint64_t)(150000 / rho * WIRE * 1000));
		for (uint32_t i = 0; i < SOURCES; i++) {
			packets += engine_flow_read(s.e, i).received_pkts;
			fecn += engine_flow_read(s.e, i).fecn;
		}
		print_message("load %.1f: %.4f of %llu packets are marked\n", rho,
			      (double)fecn / (double)packets, (unsigned long long)packets);
		assert_near((double)fecn / (double)packets, rho, 0.02);
		star_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lone_flow),
		cmocka_unit_test(test_victim),
		cmocka_unit_test(test_two_at_once),
		cmocka_unit_test(test_poisson),
	};

	return cmocka_run_group_tests_name("engine_waiting", tests, NULL, NULL);
}
