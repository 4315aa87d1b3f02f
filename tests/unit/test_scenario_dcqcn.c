/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files: DCQCN at the InfiniBand layer. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/scenario_file.h>

#include "figures.h"
#include "scenarios.h"

#define PROFILE "profiles: [{min: 1000, max: 2000, percent: 3}]"

/* The factory values of the adapters. */
static void defaults(void **state)
{
	const struct ibcc_dcqcn *d;
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR FLOW, &s);
	assert_false(s.model.dcqcn.enabled);
	ibcc_scenario_fini(&s);
	text_ok(HEAD PAIR FLOW "dcqcn: {" PROFILE "}\n", &s);
	d = &s.model.dcqcn;
	assert_true(d->enabled);
	assert_int_equal(d->aqs_weight, 0);
	assert_int_equal(d->aqs_time, 0);
	assert_false(d->source_only);
	assert_false(d->profile[0].percentage);
	assert_int_equal(d->profile[0].min, 1000);
	assert_int_equal(d->profile[0].max, 2000);
	assert_int_equal(d->profile[0].percent, 3);
	for (unsigned int sl = 0; sl < 16; sl++)
		assert_int_equal(d->sl2profile[sl], 1);
	assert_false(d->cnp_per_port);
	assert_false(d->shaper_per_lid);
	assert_int_equal(d->cnp_sl, IBCC_DCQCN_PACKET_SL);
	assert_int_equal(d->min_time_between_cnps_us, 0);
	assert_int_equal(d->rp.rpg_time_reset_us, 300);
	assert_int_equal(d->rp.rpg_byte_reset_bytes, 32767);
	assert_int_equal(d->rp.rpg_threshold, 1);
	assert_int_equal(d->rp.rpg_max_rate_mbps, 0);
	assert_int_equal(d->rp.rpg_ai_rate_mbps, 5);
	assert_int_equal(d->rp.rpg_hai_rate_mbps, 50);
	assert_int_equal(d->rp.rpg_gd, 11);
	assert_int_equal(d->rp.rpg_min_dec_fac, 50);
	assert_int_equal(d->rp.rpg_min_rate_mbps, 1);
	assert_int_equal(d->rp.rate_to_set_on_first_cnp_mbps, 0);
	assert_int_equal(d->rp.dce_tcp_g, 1019);
	assert_int_equal(d->rp.dce_tcp_rtt_us, 1);
	assert_int_equal(d->rp.rate_reduce_monitor_period_us, 4);
	assert_int_equal(d->rp.initial_alpha_value, 1023);
	assert_false(d->rp.clamp_tgt_rate);
	assert_true(d->rp.clamp_tgt_rate_after_time_inc);
	ibcc_scenario_fini(&s);
}

static void all_keys(void **state)
{
	const struct ibcc_dcqcn *d;
	struct ibcc_scenario s;

	(void)state;
	text_ok(HEAD PAIR FLOW
		"dcqcn:\n"
		"  aqs_weight: 7\n  aqs_time: 3\n  source_only: true\n"
		"  profiles: [{min: 1, max: 2, percent: 3}, {mode: percentage, min: 10, max: 60, "
		"percent: 5}]\n"
		"  sl2profile: [1, 2, 0, 2]\n"
		"  cnp_per: port\n  min_time_between_cnps: 4\n  cnp_sl: 6\n  shaper_per: lid\n"
		"  rpg_time_reset: 11\n  rpg_byte_reset: 12\n  rpg_threshold: 13\n"
		"  rpg_max_rate: 14\n  rpg_ai_rate: 15\n  rpg_hai_rate: 16\n  rpg_gd: 10\n"
		"  rpg_min_dec_fac: 17\n  rpg_min_rate: 18\n  rate_to_set_on_first_cnp: 19\n"
		"  dce_tcp_g: 20\n  dce_tcp_rtt: 21\n  rate_reduce_monitor_period: 22\n"
		"  initial_alpha_value: 23\n  clamp_tgt_rate: true\n"
		"  clamp_tgt_rate_after_time_inc: false\n",
		&s);
	d = &s.model.dcqcn;
	assert_int_equal(d->aqs_weight, 7);
	assert_int_equal(d->aqs_time, 3);
	assert_true(d->source_only);
	assert_true(d->profile[1].percentage);
	assert_int_equal(d->profile[1].max, 60);
	assert_int_equal(d->sl2profile[0], 1);
	assert_int_equal(d->sl2profile[1], 2);
	assert_int_equal(d->sl2profile[2], 0);
	assert_int_equal(d->sl2profile[3], 2);
	assert_int_equal(d->sl2profile[4], 0);
	assert_true(d->cnp_per_port);
	assert_true(d->shaper_per_lid);
	assert_int_equal(d->min_time_between_cnps_us, 4);
	assert_int_equal(d->cnp_sl, 6);
	assert_int_equal(d->rp.rpg_time_reset_us, 11);
	assert_int_equal(d->rp.rpg_byte_reset_bytes, 12);
	assert_int_equal(d->rp.rpg_threshold, 13);
	assert_int_equal(d->rp.rpg_max_rate_mbps, 14);
	assert_int_equal(d->rp.rpg_ai_rate_mbps, 15);
	assert_int_equal(d->rp.rpg_hai_rate_mbps, 16);
	assert_int_equal(d->rp.rpg_gd, 10);
	assert_int_equal(d->rp.rpg_min_dec_fac, 17);
	assert_int_equal(d->rp.rpg_min_rate_mbps, 18);
	assert_int_equal(d->rp.rate_to_set_on_first_cnp_mbps, 19);
	assert_int_equal(d->rp.dce_tcp_g, 20);
	assert_int_equal(d->rp.dce_tcp_rtt_us, 21);
	assert_int_equal(d->rp.rate_reduce_monitor_period_us, 22);
	assert_int_equal(d->rp.initial_alpha_value, 23);
	assert_true(d->rp.clamp_tgt_rate);
	assert_false(d->rp.clamp_tgt_rate_after_time_inc);
	ibcc_scenario_fini(&s);
}

static void mistakes(void **state)
{
	(void)state;
	text_has(HEAD PAIR FLOW "dcqcn: {rpg_gd: 3}\n",
		 "10:8: dcqcn.profiles: missing, want a list of 1 to 3 profiles\n");
	text_has(HEAD PAIR FLOW "dcqcn: {profiles: []}\n",
		 "10:19: dcqcn.profiles: got 0 profiles, want 1 to 3\n");
	text_has(HEAD PAIR FLOW "dcqcn: {profiles: [{min: 7, max: 6, percent: 1}]}\n",
		 "10:34: dcqcn.profiles.max: got 6, want at least min, 7\n");
	text_has(HEAD PAIR FLOW
		 "dcqcn: {profiles: [{mode: percentage, min: 7, max: 101, percent: 1}]}\n",
		 "10:52: dcqcn.profiles.max: got 101, want at most 100 in mode percentage\n");
	text_has(HEAD PAIR FLOW "dcqcn: {" PROFILE ", sl2profile: [1, 2]}\n",
		 "10:73: dcqcn.sl2profile: got \"2\", want at most 16 numbers of profiles from 1 "
		 "on, or "
		 "0 for none\n");
	text_has(HEAD PAIR FLOW "dcqcn: {" PROFILE ", rpg_time_reset: 0}\n",
		 "10:73: dcqcn.rpg_time_reset: got \"0\", want a whole number from 1 to 131071\n");
	text_has(HEAD PAIR FLOW
		 "dcqcn: {" PROFILE "}\n"
		 "congestion_control: {switch: {threshold: 12}, ca: {ccti_timer: 10, "
		 "ccti_increase: 3}, cct: {shape: linear}}\n",
		 "10:8: dcqcn: want congestion_control or dcqcn, not both enabled\n");
	text_has(
		HEAD PAIR FLOW
		"model: {flow_control: pause}\nbcn: {sample_bytes: 1, equilibrium_bytes: 1, gi: 0, "
		"gd: 0}\ndcqcn: {" PROFILE "}\n",
		"12:8: dcqcn: want no bcn beside it\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),
		cmocka_unit_test(all_keys),
		cmocka_unit_test(mistakes),
	};

	return cmocka_run_group_tests_name("scenario_dcqcn", tests, files_setup, files_teardown);
}
