/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A simulated fabric runs for days, also one that is offered more than it carries, and whose roots
 * of congestion move: what waits at its adapters has an end, and so has its memory.
 */
#include <string.h>

#include "tests/unit/engines.h"

#include "tests/unit/files.h"
#include "tests/unit/heap.h"

#include <ibcc/scenario_file.h>

#include "sim/fabric.h"

static const char soak[] =
	"name: soak\n"
	"title: all to all, and to one more than it takes\n"
	"duration_ms: 100\n"
	"topology: {rate: 4x QDR, mtu_bytes: 2048, tree: {ports: 4, levels: 3}}\n"
	"traffic:\n"
	"  - {name: all, from: all, to: all, kind: background, load_percent: 30}\n"
	"  - {name: hot, from: all, to: h5, kind: hot, load_percent: 10}\n";

static void control(struct ibcc_sim_fabric *fab)
{
	struct ibcc_static_cc cc = { .enabled = true };

	cc.sw = (struct ibcc_cc_sw_setting){ .Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL,
					     .Threshold = 8,
					     .Packet_Size = 8 };
	cc.ca.Control_Map = 0xffff;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		cc.ca.sl[sl] = (struct ibcc_cc_ca_entry){ .CCTI_Timer = 20, .CCTI_Increase = 1 };
	assert_int_equal(ibcc_cct_build(&cc.cct, IBCC_CCT_MULTIPLICATIVE, 64, 30000), 0);
	assert_int_equal(ibcc_agents_load(ibcc_sim_fabric_agents(fab), &cc), 0);
}

static size_t heap_after_ms(struct ibcc_sim_fabric *fab, uint64_t ms)
{
	assert_int_equal(
		ibcc_sim_fabric_run(fab, ibcc_sim_fabric_now_ps(fab) + ms * IBCC_PS_PER_MS), 0);
	return heap_bytes();
}

static void assert_bounded(const char *slow)
{
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_scenario sc;
	struct ibcc_sim_fabric_flow f;
	struct ibcc_sim_fabric *fab;
	size_t before, after;

	assert_int_equal(ibcc_scenario_load(files_write("soak.yaml", soak), &sc, &errors), 0);
	fab = ibcc_sim_fabric_new(&sc);
	assert_non_null(fab);
	assert_int_equal(ibcc_sim_fabric_update(fab, ibcc_topo_clone(sc.topo)), 0);
	control(fab);
	if (slow)
		assert_int_equal(ibcc_sim_fabric_set_sink_rate(fab, slow, 3000), 0);
	before = heap_after_ms(fab, 100);
	after = heap_after_ms(fab, 200);
	print_message("%zu KB, then %zu KB\n", before / 1024, after / 1024);
	assert_true(after < before + before / 4);
	for (uint32_t i = 0; i < ibcc_sim_fabric_n_flows(fab); i++) {
		ibcc_sim_fabric_flow_read(fab, i, &f);
		assert_true(f.sum.received_bytes > 0);
	}
	ibcc_sim_fabric_free(fab);
	ibcc_scenario_fini(&sc);
}

/* Sources that are held for one destination pass its packets over, and go on with the others'. */
static void test_held_sources(void **state)
{
	(void)state;
	assert_bounded(NULL);
}

/* What a slow host's neighbours answer has to pass the tree behind it. */
static void test_answers_in_a_tree(void **state)
{
	(void)state;
	assert_bounded("h1");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held_sources),
		cmocka_unit_test(test_answers_in_a_tree),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
