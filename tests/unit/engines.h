/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Driving the packet engine in tests. */
#ifndef TEST_ENGINES_H
#define TEST_ENGINES_H

#include <math.h>

#include <ibcc/engine.h>

#include "tests/unit/fabrics.h"

#define ENGINE_FLOWS 64

#define assert_near(value, want, tolerance)                                                        \
	do {                                                                                       \
		double v_ = (value), w_ = (want);                                                  \
		if (!(fabs(v_ - w_) <= fabs(w_) * (tolerance)))                                    \
			fail_msg("%s is %g, not %g +- %g %%", #value, v_, w_,                      \
				 100.0 * (tolerance));                                             \
	} while (0)

static inline struct ibcc_engine *engine_new(const struct ibcc_topo *t, const struct ibcc_model *m,
					     uint64_t seed)
{
	int err = 0;
	struct ibcc_engine *e = ibcc_engine_new(t, m, seed, &err);

	assert_int_equal(err, 0);
	assert_non_null(e);
	return e;
}

static inline void engine_checked(const struct ibcc_engine *e)
{
	char buf[200];

	if (ibcc_engine_check(e, buf, sizeof(buf)))
		fail_msg("%s", buf);
}

static inline void engine_run(struct ibcc_engine *e, uint64_t until_ps)
{
	assert_int_equal(ibcc_engine_run(e, until_ps), 0);
	assert_true(ibcc_engine_now_ps(e) == until_ps);
	engine_checked(e);
}

/* A backlogged flow between the only ports of two adapters. */
static inline uint32_t engine_flow(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t from,
				   uint32_t to, uint8_t sl)
{
	struct ibcc_flow_spec f = { .arrivals = IBCC_ARRIVALS_BACKLOGGED, .sl = sl };
	int i = ibcc_engine_add_flow(e, &f, fabric_port(t, from, 1), fabric_port(t, to, 1));

	assert_true(i >= 0);
	return (uint32_t)i;
}

static inline struct ibcc_engine_flow engine_flow_read(struct ibcc_engine *e, uint32_t flow)
{
	struct ibcc_engine_flow f;

	assert_int_equal(ibcc_engine_flow_read(e, flow, &f), 0);
	return f;
}

static inline struct ibcc_engine_port engine_port_read(struct ibcc_engine *e, uint32_t port)
{
	struct ibcc_engine_port p;

	assert_int_equal(ibcc_engine_port_read(e, port, &p), 0);
	return p;
}

/* Payload rates of all flows between two times. */
struct engine_rates {
	double mbytes[ENGINE_FLOWS];
};
static inline void engine_rates(struct ibcc_engine *e, uint64_t from_ps, uint64_t to_ps,
				struct engine_rates *r)
{
	uint64_t before[ENGINE_FLOWS];
	uint32_t n = ibcc_engine_n_flows(e);

	assert_true(n <= ENGINE_FLOWS);
	engine_run(e, from_ps);
	for (uint32_t i = 0; i < n; i++)
		before[i] = engine_flow_read(e, i).received_bytes;
	engine_run(e, to_ps);
	for (uint32_t i = 0; i < n; i++)
		r->mbytes[i] = (double)(engine_flow_read(e, i).received_bytes - before[i]) * 1e6 /
			       (double)(to_ps - from_ps);
}

/* All adapters react on all SLs, by a linear table of 128 entries up to max_delay_milli. */
static inline void engine_reaction(struct ibcc_engine *e, const struct ibcc_topo *t,
				   uint8_t increase, uint16_t timer, uint32_t max_delay_milli)
{
	struct ibcc_cc_ca_setting s = { .Control_Map = 0xffff };
	struct ibcc_cct cct;

	for (unsigned int sl = 0; sl < 16; sl++)
		s.sl[sl] =
			(struct ibcc_cc_ca_entry){ .CCTI_Timer = timer, .CCTI_Increase = increase };
	assert_int_equal(ibcc_cct_build(&cct, IBCC_CCT_LINEAR, 128, max_delay_milli), 0);
	for (uint32_t p = 0; p < t->n_ports; p++) {
		if (ibcc_topo_is_switch(t, t->port[p].node) || !t->port[p].num)
			continue;
		assert_int_equal(ibcc_engine_set_ca_cc(e, p, &s), 0);
		assert_int_equal(ibcc_engine_set_cct(e, p, &cct), 0);
	}
}

/* Of packets that may all be marked, one in rate + 1 is marked, on the mean. A gap, even in 0..2
 * rate, has a variance of rate (rate + 1) / 3. So of m gaps in a fixed number of packets, the
 * number of marks has a standard deviation of sqrt(m rate / (rate + 1) / 3). Four of it are
 * allowed, and one for the ends.
 */
static inline void assert_marks(uint64_t marks, uint64_t packets, unsigned int rate)
{
	double m = (double)packets / (rate + 1.0);

	if (fabs((double)marks - m) > 4 * sqrt(m * rate / (rate + 1.0) / 3) + 1)
		fail_msg("%llu of %llu packets are marked, with a rate of %u",
			 (unsigned long long)marks, (unsigned long long)packets, rate);
}

/* One switch port marks, as root or as victim. */
static inline void engine_marking(struct ibcc_engine *e, const struct ibcc_topo *t, uint32_t node,
				  unsigned int port, uint8_t threshold, uint16_t rate)
{
	struct ibcc_cc_sw_setting s = { .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL };
	struct ibcc_cc_sw_port_element el = { .Valid = true,
					      .Threshold = threshold,
					      .Cong_Parm_Marking_Rate = rate };

	(void)t;
	ibcc_cc_mask_assign(&s.Victim_Mask, port, true);
	assert_int_equal(ibcc_engine_set_switch_cc(e, node, &s), 0);
	assert_int_equal(ibcc_engine_set_switch_port_cc(e, node, port, &el), 0);
}

#endif
