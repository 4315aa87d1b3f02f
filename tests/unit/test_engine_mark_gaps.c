/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How many packets a port lets pass before it marks one: drawn for each mark, evenly from 0 to
 * twice Marking_Rate, by each port for itself.
 */
#include "engines.h"

#define US        IBCC_PS_PER_US
#define PACKET_PS (2074 * 250)
#define RATE      7u
#define SEEDS     60u
#define SWITCH    6u

/* Hosts 0 and 1 send to 4, and 2 and 3 likewise to 5: two ports see the same. */
struct star {
	struct ibcc_topo *topo;
	struct ibcc_engine *e;
	struct ibcc_cc_sw_setting sw;
};

static void star_new(struct star *s, uint64_t seed)
{
	struct ibcc_model m;

	*s = (struct star){ .topo = ibcc_topo_new() };
	assert_non_null(s->topo);
	for (unsigned int i = 0; i < SWITCH; i++)
		fabric_node(s->topo, IBCC_NODE_CA, 1, "");
	fabric_node(s->topo, IBCC_NODE_SWITCH, SWITCH, "switch");
	for (unsigned int i = 0; i < SWITCH; i++)
		fabric_link(s->topo, i, 1, SWITCH, i + 1);
	assert_int_equal(ibcc_route_compute(s->topo), 0);
	ibcc_model_defaults(&m);
	s->e = engine_new(s->topo, &m, seed);
	for (unsigned int i = 0; i < 4; i++)
		engine_flow(s->e, s->topo, i, 4 + i / 2, 0);
	s->sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
	s->sw.Threshold = 15;
}

static void star_free(struct star *s)
{
	ibcc_engine_free(s->e);
	ibcc_topo_free(s->topo);
}

static void set_rate(struct star *s, uint16_t rate)
{
	s->sw.Marking_Rate = rate;
	assert_int_equal(ibcc_engine_set_switch_cc(s->e, SWITCH, &s->sw), 0);
}

static struct ibcc_engine_port port(struct star *s, unsigned int i)
{
	return engine_port_read(s->e, fabric_port(s->topo, SWITCH, 5 + i));
}

/* How many packets each port lets pass from now on before it marks one. */
static void first_marks(struct star *s, uint64_t phase[2])
{
	struct ibcc_engine_port from[2] = { port(s, 0), port(s, 1) };
	bool found[2] = { false, false };

	for (unsigned int k = 0; k < 8 * (RATE + 2); k++) {
		engine_run(s->e, ibcc_engine_now_ps(s->e) + PACKET_PS / 4);
		for (unsigned int i = 0; i < 2; i++) {
			struct ibcc_engine_port p = port(s, i);

			if (found[i] || p.mark_fecn == from[i].mark_fecn)
				continue;
			found[i] = true;
			phase[i] = p.xmit_pkts - from[i].xmit_pkts - 1;
		}
	}
	assert_true(found[0] && found[1]);
}

/* With both ports full and their queues above the threshold, so that each packet may be marked. */
static void phases_of(uint64_t seed, uint16_t before, uint64_t phase[2])
{
	struct star s;

	star_new(&s, seed);
	set_rate(&s, before);
	engine_run(s.e, 100 * US);
	set_rate(&s, RATE);
	first_marks(&s, phase);
	star_free(&s);
}

static void test_chance(void **state)
{
	unsigned int n[2 * RATE + 1] = { 0 }, differ = 0;
	double sum = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t phase[2];

		phases_of(seed, 0, phase);
		differ += phase[0] != phase[1];
		for (unsigned int i = 0; i < 2; i++) {
			assert_true(phase[i] <= 2 * RATE);
			n[phase[i]]++;
			sum += (double)phase[i];
		}
	}
	/* Four standard deviations: of a mean of 120 that are even in 0..14; of 60 that are 14/15.
	 */
	assert_true(fabs(sum / (2 * SEEDS) - RATE) < 4 * 4.32 / sqrt(2.0 * SEEDS));
	assert_true(fabs(differ - SEEDS * 14 / 15.0) < 4 * sqrt(SEEDS * 14 / 225.0));
	for (unsigned int i = 0; i <= 2 * RATE; i++)
		assert_true(n[i] > 0);
}

/* A seed always gives the same, whatever was set before, and by whichever setting. */
static void test_settings(void **state)
{
	struct ibcc_cc_sw_port_element el = { .Valid = true,
					      .Threshold = 15,
					      .Cong_Parm_Marking_Rate = RATE };

	(void)state;
	for (uint64_t seed = 1; seed <= 5; seed++) {
		uint64_t want[2], got[2];
		struct star s;

		phases_of(seed, 0, want);
		phases_of(seed, 0, got);
		assert_true(want[0] == got[0] && want[1] == got[1]);
		phases_of(seed, 3, got);
		assert_true(want[0] == got[0] && want[1] == got[1]);
		star_new(&s, seed);
		set_rate(&s, 0);
		engine_run(s.e, 100 * US);
		for (unsigned int i = 6; i >= 5; i--)
			assert_int_equal(ibcc_engine_set_switch_port_cc(s.e, SWITCH, i, &el), 0);
		first_marks(&s, got);
		assert_true(want[0] == got[0] && want[1] == got[1]);
		star_free(&s);
	}
}

static void marks_of(uint16_t rate, bool again, uint64_t *packets, uint64_t *marks)
{
	struct ibcc_engine_port a, b;
	struct star s;

	star_new(&s, 1);
	set_rate(&s, rate);
	engine_run(s.e, 100 * US);
	a = port(&s, 1);
	for (unsigned int k = 0; k < 2000; k++) {
		engine_run(s.e, ibcc_engine_now_ps(s.e) + PACKET_PS);
		if (again)
			set_rate(&s, rate);
	}
	b = port(&s, 1);
	*packets = b.xmit_pkts - a.xmit_pkts;
	*marks = b.mark_fecn - a.mark_fecn;
	star_free(&s);
}

/* Setting what is set begins nothing anew. */
static void test_mean(void **state)
{
	(void)state;
	for (uint16_t rate = 0; rate < 50; rate = (uint16_t)(rate * 2 + 1)) {
		uint64_t packets, marks, same_packets, same_marks;

		marks_of(rate, false, &packets, &marks);
		marks_of(rate, true, &same_packets, &same_marks);
		assert_int_equal(packets, same_packets);
		assert_int_equal(marks, same_marks);
		assert_marks(marks, packets, rate);
	}
}

/* Two sources at one port, which serves them in turn. An exact counter with a rate of 3 marks every
 * fourth packet, and so the same source again and again. Here each gets half of the marks, and each
 * gets half of the port.
 */
static void test_no_lock(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 8; seed++) {
		struct ibcc_topo *t = ibcc_topo_new();
		struct engine_rates r;
		struct ibcc_engine *e;
		struct ibcc_model m;
		double fecn[2];

		assert_non_null(t);
		for (unsigned int i = 0; i < 3; i++)
			fabric_node(t, IBCC_NODE_CA, 1, "");
		fabric_node(t, IBCC_NODE_SWITCH, 3, "switch");
		for (unsigned int i = 0; i < 3; i++)
			assert_int_equal(ibcc_topo_link(t, i, 1, 3, i + 1, 16000, 4096), 0);
		assert_int_equal(ibcc_route_compute(t), 0);
		ibcc_model_defaults(&m);
		m.buffer_bytes = m.hca_buffer_bytes = 4 * 33 * 64;
		e = engine_new(t, &m, seed);
		for (unsigned int i = 0; i < 2; i++)
			engine_flow(e, t, i, 2, 0);
		engine_reaction(e, t, 20, 1, 31000);
		engine_marking(e, t, 3, 3, 1, 3);
		engine_rates(e, 2000 * US, 102000 * US, &r);
		for (unsigned int i = 0; i < 2; i++)
			fecn[i] = (double)engine_flow_read(e, i).fecn;
		print_message("seed %llu: %.0f and %.0f MB/s, %.0f and %.0f marks\n",
			      (unsigned long long)seed, r.mbytes[0], r.mbytes[1], fecn[0], fecn[1]);
		assert_near(r.mbytes[0], r.mbytes[1], 0.05);
		assert_near(fecn[0], fecn[1], 0.1);
		ibcc_engine_free(e);
		ibcc_topo_free(t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_mean),
		cmocka_unit_test(test_no_lock),
	};

	return cmocka_run_group_tests_name("engine_mark_gaps", tests, NULL, NULL);
}
