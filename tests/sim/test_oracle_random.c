/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings by the truth, worked out by hand, and which flows miss what. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include <ibcc/scenario_file.h>

#include "tests/unit/files.h"

#include "perftest/lab/draw.h"
#include "perftest/lab/individual.h"
#include "perftest/lab/lost.h"

static const struct ibcc_individual law = { 1000, 1000, 0, true };

static void load(const char *text, struct ibcc_scenario *s)
{
	struct ibcc_yaml_errors e = { 0 };

	if (ibcc_scenario_load(files_write("s.yaml", text), s, &e))
		fail_msg("%s", e.text);
}

static uint32_t port_of(const struct ibcc_scenario *s, const char *node, unsigned int num)
{
	uint32_t n = ibcc_topo_find_desc(s->topo, node);

	assert_int_not_equal(n, IBCC_NONE);
	return s->topo->node[n].first_port + num;
}

static const struct ibcc_endport_cc *settings_of(const struct ibcc_scenario *s,
						 const struct ibcc_settings *v, const char *node)
{
	uint32_t n = ibcc_topo_find_desc(s->topo, node);
	bool sw = ibcc_topo_is_switch(s->topo, n);

	return &v->ep[s->topo->port[port_of(s, node, sw ? 0 : 1)].endport];
}

static uint32_t end_of(const struct ibcc_endport_cc *ep)
{
	return ibcc_cct_entry_delay_milli(ep->cct.entry[ep->cct.limit]);
}

/* Two that want 60 % of a link of which a third one takes 10 %: they get 45 % each. */
#define THREE                                                                                      \
	"name: three\nduration_ms: 2\ntopology:\n  rate: 8000 Mb/s\n  nodes:\n"                    \
	"    - {host: [a, b, c, d, x]}\n    - {switch: [s1], ports: 5}\n"                          \
	"  links: [[a, s1/1], [b, s1/2], [c, s1/3], [d, s1/4], [x, s1/5]]\n"                       \
	"traffic:\n  - {name: ax, from: a, to: x, load_percent: 60}\n"                             \
	"  - {name: bx, from: b, to: x, load_percent: 60}\n"                                       \
	"  - {name: cx, from: c, to: x, load_percent: 10}\n"                                       \
	"  - {name: ad, from: a, to: d, load_percent: 20}\n"

static void only_who_is_limited_is_held(void **state)
{
	struct ibcc_individual later = { 2000, 1000, 3, true };
	struct ibcc_settings v;
	struct ibcc_scenario s;
	struct ibcc_truth t;

	(void)state;
	load(THREE, &s);
	assert_int_equal(ibcc_truth_find(&s, 0, &t), 0);
	assert_int_equal(t.n_roots, 1);
	assert_int_equal(t.root[0].n_pairs, 2);
	assert_int_equal(ibcc_individual_settings(&s, &t, &law, &v), 0);
	/* x = 1/0.45 - 1 = 1.222 packet times; the table ends at 1.15 x + 0.5 = 1.906, which a
	 * register tells to an eighth.
	 */
	assert_in_range(end_of(settings_of(&s, &v, "a")), 1906 - 125, 1906 + 125);
	assert_int_equal(end_of(settings_of(&s, &v, "b")), end_of(settings_of(&s, &v, "a")));
	assert_true(settings_of(&s, &v, "a")->ca.sl[0].CCTI_Timer > 0);
	assert_int_equal(settings_of(&s, &v, "c")->cct.limit, 0);
	assert_int_equal(settings_of(&s, &v, "d")->cct.limit, 0);
	/* The root alone marks, from half a queue on: (16 - 8) / 16. */
	for (unsigned int p = 1; p <= 5; p++)
		assert_int_equal(settings_of(&s, &v, "s1")->element[p].Valid, p == 5);
	assert_int_equal(settings_of(&s, &v, "s1")->element[5].Threshold, 8);
	assert_int_equal(settings_of(&s, &v, "s1")->sw.Threshold, 0);
	ibcc_settings_fini(&v);
	assert_int_equal(ibcc_individual_settings(&s, &t, &later, &v), 0);
	assert_in_range(end_of(settings_of(&s, &v, "a")), 3812 - 125, 3812 + 125);
	assert_int_equal(settings_of(&s, &v, "s1")->element[5].Threshold, 11);
	ibcc_settings_fini(&v);
	ibcc_truth_fini(&t);
	ibcc_scenario_fini(&s);
}

/* They are in force: a draw of which congestion takes most gets back what is to be had. */
static void the_truth_frees_victims(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_settings v;
	struct ibcc_scenario s;
	struct ibcc_measure m;
	struct ibcc_truth t;

	(void)state;
	assert_int_equal(ibcc_draw_load(5, &s, &e), 0);
	assert_int_equal(ibcc_measure_run(&s, 0, &m, NULL), 0);
	assert_true(ibcc_draw_share(&m) < 0.5);
	ibcc_measure_fini(&m);
	assert_int_equal(ibcc_truth_find(&s, s.measure_from_ps, &t), 0);
	assert_int_equal(ibcc_individual_settings(&s, &t, &law, &v), 0);
	assert_int_equal(ibcc_individual_run(&s, &v, &m), 0);
	assert_true(ibcc_draw_share(&m) > 0.9);
	ibcc_measure_fini(&m);
	ibcc_settings_fini(&v);
	ibcc_truth_fini(&t);
	ibcc_scenario_fini(&s);
}

/* Four want all of x's link and get a quarter each; two want the rest of the one between the
 * switches, of which b takes part at x, too.
 */
#define TWO_ROOTS                                                                                  \
	"name: two\nduration_ms: 2\ntopology:\n  rate: 8000 Mb/s\n  nodes:\n"                      \
	"    - {host: [b, c, d, e, f, x, y, z]}\n    - {switch: [s1, s2], ports: 8}\n"             \
	"  links: [[b, s1/1], [c, s1/2], [s1/3, s2/1], [d, s2/2], [e, s2/3], [f, s2/4],\n"         \
	"    [x, s2/5], [y, s2/6], [z, s2/7]]\n"                                                   \
	"traffic:\n  - {name: bx, from: b, to: x, load_percent: 30}\n"                             \
	"  - {name: by, from: b, to: y, load_percent: 50}\n"                                       \
	"  - {name: cy, from: c, to: y, load_percent: 50}\n"                                       \
	"  - {name: dx, from: d, to: x, load_percent: 60}\n"                                       \
	"  - {name: ex, from: e, to: x, load_percent: 60}\n"                                       \
	"  - {name: fx, from: f, to: x, load_percent: 60}\n"                                       \
	"  - {name: zd, from: z, to: d, load_percent: 20}\n"                                       \
	"  - {name: own, from: z, to: all, load_percent: 1}\n"

static void each_flow_misses_for_one_reason(void **state)
{
	static const double missed[] = { 10, 20, 30, 40, 0, 0, 50, 60 };
	static const double want[IBCC_N_LOST] = {
		[IBCC_LOST_TWO_ROOTS] = 10, [IBCC_LOST_ONE_TABLE] = 20, [IBCC_LOST_FEW] = 30,
		[IBCC_LOST_HELD] = 40,      [IBCC_LOST_NO_ROOT] = 50,   [IBCC_LOST_TO_ALL] = 60,
	};
	struct ibcc_measure_flow flow[8];
	struct ibcc_measure m = { .n_flows = 8, .flow = flow };
	double lost[IBCC_N_LOST];
	struct ibcc_scenario s;
	struct ibcc_truth t;

	(void)state;
	load(TWO_ROOTS, &s);
	assert_int_equal(s.n_flows, 8);
	assert_int_equal(ibcc_truth_find(&s, 0, &t), 0);
	assert_int_equal(t.n_roots, 2);
	for (int i = 0; i < 8; i++)
		flow[i] = (struct ibcc_measure_flow){ .ideal_mbps = 1000,
						      .offered_mbps = 2000,
						      .throughput_mbps = 1000 - missed[i] };
	flow[4].throughput_mbps = 1500; /* more than its share makes up for no other's loss */
	assert_int_equal(ibcc_lost_find(&s, &t, &m, lost), 0);
	for (int k = 0; k < IBCC_N_LOST; k++)
		if (fabs(lost[k] - want[k] / 8000) > 1e-9)
			fail_msg("%s: %g in place of %g", ibcc_lost_name[k], lost[k],
				 want[k] / 8000);
	ibcc_truth_fini(&t);
	ibcc_scenario_fini(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_who_is_limited_is_held),
		cmocka_unit_test(the_truth_frees_victims),
		cmocka_unit_test(each_flow_misses_for_one_reason),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
