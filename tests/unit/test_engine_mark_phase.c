/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which packet a port marks first: any of the first Marking_Rate + 1, by chance for each port. */
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
	unsigned int n[RATE + 1] = { 0 }, differ = 0;
	double sum = 0;

	(void)state;
	for (uint64_t seed = 1; seed <= SEEDS; seed++) {
		uint64_t phase[2];

		phases_of(seed, 0, phase);
		differ += phase[0] != phase[1];
		for (unsigned int i = 0; i < 2; i++) {
			assert_true(phase[i] <= RATE);
			n[phase[i]]++;
			sum += (double)phase[i];
		}
	}
	/* Four standard deviations: of a mean of 120 that are even in 0..7; of 60 that are 7/8. */
	assert_true(fabs(sum / (2 * SEEDS) - RATE / 2.0) < 4 * 2.29 / sqrt(2.0 * SEEDS));
	assert_true(fabs(differ - SEEDS * 7 / 8.0) < 4 * sqrt(SEEDS * 7 / 64.0));
	for (unsigned int i = 0; i <= RATE; i++)
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

/* Setting what is set begins nothing anew: one of rate + 1 is marked. */
static void test_same_again(void **state)
{
	struct ibcc_engine_port a, b;
	struct star s;

	(void)state;
	for (uint16_t rate = 0; rate < 50; rate = (uint16_t)(rate * 2 + 1)) {
		uint64_t packets, marks;

		star_new(&s, 1);
		set_rate(&s, rate);
		engine_run(s.e, 100 * US);
		a = port(&s, 1);
		for (unsigned int k = 0; k < 1000; k++) {
			engine_run(s.e, ibcc_engine_now_ps(s.e) + PACKET_PS);
			set_rate(&s, rate);
		}
		b = port(&s, 1);
		packets = b.xmit_pkts - a.xmit_pkts;
		marks = b.mark_fecn - a.mark_fecn;
		assert_in_range(packets, 999, 1001);
		assert_in_range(marks, packets / (rate + 1u), packets / (rate + 1u) + 1);
		star_free(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chance),
		cmocka_unit_test(test_settings),
		cmocka_unit_test(test_same_again),
	};

	return cmocka_run_group_tests_name("engine_mark_phase", tests, NULL, NULL);
}
