/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What else decides on a fabric: a program that changes what we wrote, and switches that do not
 * route by their tables.
 */
#include "loop.h"

#include <ibcc/device.h>
#include <ibcc/precheck.h>
#include <ibcc/refusal.h>

#include "lib/state/state_db.h"
#include "tests/unit/files.h"

#define LUSTRE      "perftest/scenarios/lustre.yaml"
#define PASS_PS     (1000 * IBCC_PS_PER_US)
#define FOREIGN     4711
#define QUANTUM2    0xd2f2
#define QUIET_MBPS  10u
#define LINK_MBPS   32000u
#define SLOW_MBPS   10000u /* of a sink */
#define VICTIM_MBPS 6000u

#define TWO_SLS "two-sls.yaml"

static const char two_sls[] =
	"name: two-sls\n"
	"duration_ms: 100\n"
	"topology:\n"
	"  rate: 4x QDR\n"
	"  nodes:\n"
	"    - {host: [source1, source2, source3, source4, source5, source6]}\n"
	"    - {host: [sink1, sink2]}\n"
	"    - {switch: [leaf1, leaf2], ports: 8}\n"
	"  links:\n"
	"    - [source1, leaf1/1]\n"
	"    - [source2, leaf1/2]\n"
	"    - [source3, leaf1/3]\n"
	"    - [source4, leaf1/4]\n"
	"    - [source5, leaf1/5]\n"
	"    - [source6, leaf1/6]\n"
	"    - [leaf1/8, leaf2/8]\n"
	"    - [sink1, leaf2/2]\n"
	"    - [sink2, leaf2/3]\n"
	"traffic:\n"
	"  - {from: [source1, source2, source3], to: sink1}\n"
	"  - {from: [source4, source5, source6], to: sink2, sl: 2}\n"
	"events:\n"
	"  - {sink: sink1, rate: 1800 MB/s}\n"
	"  - {sink: sink2, rate: 1800 MB/s}\n";
static const char *const lone[] = { "source4", "source5", "source6" };

static uint32_t endport_of(const struct loop *l, const char *name)
{
	uint32_t node = ibcc_topo_find_desc(l->c.topo, name);
	unsigned int port = ibcc_topo_is_switch(l->c.topo, node) ? 0 : 1;

	return l->c.topo->port[ibcc_topo_port_index(l->c.topo, node, port)].endport;
}

static const struct ibcc_endport_cc *registers(const struct loop *l, const char *name)
{
	return ibcc_agents_settings(l->agents, endport_of(l, name));
}

/* An adapter's settings, made by another tool. */
static void meddle(struct loop *l, const char *name)
{
	struct ibcc_mad_op op = {
		.lid = l->c.topo->port[l->c.topo->endport[endport_of(l, name)]].lid
	};
	struct ibcc_cc_ca_setting ca = registers(l, name)->ca;

	ca.Control_Map = 0xffff;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		ca.sl[sl].CCTI_Timer = FOREIGN;
		ca.sl[sl].CCTI_Increase = 127;
	}
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_SET, IBCC_CC_ATTR_CA_SETTING, 0);
	ibcc_cc_ca_setting_pack(op.mad, &ca);
	assert_int_equal(ibcc_transport_run(l->tr, &op, 1), 0);
	assert_int_equal(op.err, 0);
	l->c.actual_known = false; /* all settings are due to be read */
}

static void open_loop(struct loop *l, const char *db)
{
	int err = 0;

	loop_start(l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	l->state = ibcc_state_open(files_path(db), &err, &l->why);
	assert_non_null(l->state);
}

static void close_loop(struct loop *l)
{
	ibcc_state_close(l->state);
	loop_end(l);
}

/* A table that cannot be restored later: its delays fall. Ours has up to 128 entries, and each of
 * them delays less than the long one's.
 */
static void spoil_table(struct loop *l, const char *name, uint16_t limit)
{
	struct ibcc_mad_op op = {
		.lid = l->c.topo->port[l->c.topo->endport[endport_of(l, name)]].lid
	};
	struct ibcc_cct cct = { .limit = limit };

	for (unsigned int i = 1; i <= limit; i++)
		cct.entry[i] = ibcc_cct_entry_encode((9000 - i) * 1000);
	ibcc_mad_request(op.mad, IBCC_MAD_CLASS_CC, IBCC_MAD_SET, IBCC_CC_ATTR_CCT, 0);
	ibcc_cc_cct_pack(op.mad, 0, &cct);
	assert_int_equal(ibcc_transport_run(l->tr, &op, 1), 0);
	assert_int_equal(op.err, 0);
	l->c.actual_known = false;
}

static void set_sink(struct loop *l, const char *name, uint32_t mbps)
{
	const struct ibcc_topo *t = l->sc.topo;
	uint32_t port = t->node[ibcc_topo_find_desc(t, name)].first_port + 1;

	assert_int_equal(ibcc_engine_set_sink_rate(l->engine, port, mbps), 0);
}

static void let_send(struct loop *l, const char *name, uint32_t mbps)
{
	const struct ibcc_topo *t = l->sc.topo;
	uint32_t port = t->node[ibcc_topo_find_desc(t, name)].first_port + 1;

	assert_int_equal(ibcc_engine_set_send_rate(l->engine, port, mbps), 0);
}

static void overrule(struct loop *l)
{
	struct ibcc_act act = {
		.applier = l->direct,
		.state = l->state,
		.overrule = true,
		.who = "test",
		.action = "apply",
		.gate = IBCC_PRECHECK_NODES_OF_TREE,
	};

	l->c.actual_known = false;
	assert_int_equal(ibcc_engine_run(l->engine, ibcc_engine_now_ps(l->engine) + l->pass_ps), 0);
	assert_int_equal(ibcc_cycle_run(&l->c, &act, &l->why), 0);
}

static void test_changed_by_others(void **state)
{
	const struct ibcc_endport_cc *ep;
	struct loop l;

	(void)state;
	open_loop(&l, "changed.db");
	loop_passes(&l, 15);
	assert_true(l.n_changes > 0);
	assert_true(ibcc_settings_are_on(registers(&l, "source1")));
	meddle(&l, "source1");
	loop_passes(&l, 10);
	assert_int_equal(registers(&l, "source1")->ca.sl[0].CCTI_Timer, FOREIGN);
	ep = &l.c.actual.ep[endport_of(&l, "source1")];
	assert_int_equal(ep->support, IBCC_CC_FOREIGN);
	assert_non_null(strstr(ibcc_precheck_reason(ep), "another program wrote"));
	/* Read again it still is so. */
	l.c.actual_known = false;
	loop_passes(&l, 2);
	assert_int_equal(registers(&l, "source1")->ca.sl[0].CCTI_Timer, FOREIGN);
	/* The operator asks for what we want. */
	overrule(&l);
	assert_int_not_equal(registers(&l, "source1")->ca.sl[0].CCTI_Timer, FOREIGN);
	loop_passes(&l, 2);
	assert_int_equal(l.c.actual.ep[endport_of(&l, "source1")].support, IBCC_CC_SUPPORTED);
	close_loop(&l);
}

/* A second hot spot has a contributor that must not be overwritten: it is left as it is, and that
 * is no reason to leave those of the first one throttled when it is gone. Nor is it one that what
 * we have for it would delay it less.
 */
static void no_way_back(const char *db, bool strict)
{
	struct loop l;
	int err = 0;

	files_write(TWO_SLS, two_sls);
	loop_start(&l, files_path(TWO_SLS), PASS_PS, &loop_hardware, NULL);
	l.state = ibcc_state_open(files_path(db), &err, &l.why);
	assert_non_null(l.state);
	assert_int_equal(ibcc_engine_run(l.engine, l.pass_ps), 0); /* the scenario's events */
	set_sink(&l, "sink1", SLOW_MBPS);
	set_sink(&l, "sink2", 0);
	let_send(&l, "source4", VICTIM_MBPS);
	let_send(&l, "source5", VICTIM_MBPS);
	let_send(&l, "source6", QUIET_MBPS);
	loop_passes(&l, 15);
	assert_true(ibcc_settings_are_on(registers(&l, "source2")));
	assert_false(ibcc_settings_are_on(registers(&l, "source6")));
	if (strict)
		meddle(&l, "source6");
	spoil_table(&l, "source6", strict ? 63 : 2);
	set_sink(&l, "sink1", 0);
	set_sink(&l, "sink2", SLOW_MBPS);
	let_send(&l, "source1", VICTIM_MBPS);
	let_send(&l, "source2", QUIET_MBPS);
	let_send(&l, "source3", QUIET_MBPS);
	for (unsigned int i = 4; i < 7; i++)
		let_send(&l, lone[i - 4], LINK_MBPS);
	loop_passes(&l, 60);
	assert_int_equal(registers(&l, "source6")->cct.limit, strict ? 63 : 2);
	assert_int_equal(l.c.act_err, -ERANGE);
	assert_non_null(strstr(l.c.blocked.text, "could not be restored later"));
	assert_false(ibcc_settings_are_on(registers(&l, "source2")));
	assert_false(ibcc_settings_are_on(registers(&l, "source3")));
	close_loop(&l);
}

static void test_no_way_back(void **state)
{
	(void)state;
	no_way_back("noway.db", false);
	no_way_back("strict.db", true);
}

/* What is no host, aggregation nodes and routers, gets no settings though it answers the annex, and
 * the hosts beside it do.
 */
static void test_apart(void **state)
{
	struct ibcc_topo *t;
	struct loop l;

	(void)state;
	open_loop(&l, "apart.db");
	t = l.c.topo;
	t->node[ibcc_topo_find_desc(t, "source1")].vendor_id = IBCC_VENDOR_MELLANOX;
	t->node[ibcc_topo_find_desc(t, "source1")].device_id = 0xcf09;
	t->node[ibcc_topo_find_desc(t, "source2")].type = IBCC_NODE_ROUTER;
	loop_passes(&l, 15);
	assert_false(ibcc_settings_are_on(registers(&l, "source1")));
	assert_false(ibcc_settings_are_on(registers(&l, "source2")));
	assert_true(ibcc_settings_are_on(registers(&l, "source3")));
	close_loop(&l);
}

/* A node that has only lost its settings gets them again, as ever. */
static void test_reboot_is_no_foreigner(void **state)
{
	struct loop l;

	(void)state;
	open_loop(&l, "reboot.db");
	loop_passes(&l, 15);
	assert_int_equal(ibcc_agents_forget(l.agents, ibcc_topo_find_desc(l.c.topo, "source1")), 0);
	l.c.actual_known = false;
	loop_passes(&l, 10);
	assert_true(ibcc_settings_are_on(registers(&l, "source1")));
	close_loop(&l);
}

static void make_adaptive(struct loop *l, uint16_t sls)
{
	uint32_t node = ibcc_topo_find_desc(l->c.topo, "leaf1");

	l->c.topo->node[node].vendor_id = IBCC_VENDOR_MELLANOX;
	l->c.topo->node[node].device_id = QUANTUM2;
	ibcc_agents_quirks(l->agents, node)->adaptive = true;
	ibcc_agents_quirks(l->agents, node)->adaptive_sls = sls;
}

static void test_adaptive_routing(void **state)
{
	struct loop l;

	(void)state;
	open_loop(&l, "adaptive.db");
	make_adaptive(&l, 0x3);
	loop_passes(&l, 10);
	assert_int_equal(l.n_changes, 0);
	assert_int_equal(l.tr->stats.sets, 0);
	assert_int_equal(l.c.act_err, -EPERM);
	assert_non_null(
		strstr(l.c.blocked.text, "1 switch does not route by the forwarding table"));
	assert_non_null(strstr(l.c.blocked.text, "for SL 0, 1:"));
	assert_non_null(strstr(l.c.blocked.text, "trust_lft"));
	/* It goes on looking. */
	assert_true(l.c.estimate.n_roots > 0);
	l.c.options.trust_lft = true;
	loop_passes(&l, 10);
	assert_true(l.n_changes > 0);
	close_loop(&l);
}

/* The operator no longer vouches for the tables: what was set goes, also if that cannot be
 * written down.
 */
static void test_off_without_a_book(void **state)
{
	struct loop l;
	uint64_t sets;

	(void)state;
	for (int full = 0; full < 2; full++) {
		open_loop(&l, full ? "full.db" : "room.db");
		make_adaptive(&l, UINT16_MAX);
		l.c.options.trust_lft = true;
		loop_passes(&l, 15);
		assert_true(ibcc_settings_are_on(registers(&l, "source1")));
		if (full)
			assert_int_equal(sqlite3_exec(l.state->db, "PRAGMA query_only = 1", NULL,
						      NULL, NULL),
					 0);
		l.c.options.trust_lft = false;
		loop_passes(&l, 60);
		assert_false(ibcc_settings_are_on(registers(&l, "source1")));
		assert_int_equal(registers(&l, "leaf2")->sw.Threshold, 0);
		assert_true(ibcc_state_is_ahead(l.state) == full);
		sets = l.tr->stats.sets;
		loop_passes(&l, 10);
		assert_int_equal(l.tr->stats.sets, sets);
		close_loop(&l);
	}
}

static bool named(const struct loop *l, const char *what)
{
	struct ibcc_why text;

	ibcc_refusal_routes(&l->c, &text);
	return strstr(text.text, what) != NULL;
}

/* Two slow sinks, one's writers on SL 2, of which packets may take other ways: that is left alone,
 * and so are the entries of its SL where the other one's writers get theirs.
 */
static void test_adaptive_sl(void **state)
{
	uint32_t root;
	struct loop l;

	(void)state;
	files_write(TWO_SLS, two_sls);
	loop_start(&l, files_path(TWO_SLS), PASS_PS, &loop_hardware, NULL);
	make_adaptive(&l, 1 << 2);
	loop_passes(&l, 15);
	assert_true(l.n_changes > 0);
	assert_int_equal(l.c.act_err, 0);
	root = ibcc_topo_find_desc(l.c.topo, "leaf2");
	assert_non_null(ibcc_estimate_find(&l.c.estimate, ibcc_topo_port_index(l.c.topo, root, 2)));
	assert_non_null(ibcc_estimate_find(&l.c.estimate, ibcc_topo_port_index(l.c.topo, root, 3)));
	assert_true(named(&l, "observed only: leaf2 port 3 (SL 2)"));
	assert_false(named(&l, "leaf2 port 2"));
	assert_true(registers(&l, "leaf2")->element[2].Threshold > 0);
	assert_int_equal(registers(&l, "leaf2")->element[3].Threshold, 0);
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		assert_int_equal(registers(&l, "source1")->ca.sl[sl].CCTI_Increase > 0, sl != 2);
	/* They wait, so they may write to the first sink for all that is known: on other SLs. */
	for (unsigned int i = 0; i < 3; i++)
		assert_int_equal(registers(&l, lone[i])->ca.sl[2].CCTI_Increase, 0);
	/* As the operator says: there, too. */
	l.c.options.trust_lft = true;
	loop_passes(&l, 5);
	assert_true(registers(&l, "leaf2")->element[3].Threshold > 0);
	assert_true(registers(&l, "source1")->ca.sl[2].CCTI_Increase > 0);
	assert_true(registers(&l, lone[0])->ca.sl[2].CCTI_Increase > 0);
	assert_false(named(&l, "observed only"));
	loop_end(&l);
}

/* No counter shows SLs where a switch does not count by them: nothing is proved then. */
static void test_sls_not_told(void **state)
{
	struct loop l;

	(void)state;
	files_write(TWO_SLS, two_sls);
	loop_start(&l, files_path(TWO_SLS), PASS_PS, &loop_hardware, NULL);
	make_adaptive(&l, 1 << 2);
	ibcc_agents_quirks(l.agents, ibcc_topo_find_desc(l.c.topo, "leaf2"))->no_sls = true;
	loop_passes(&l, 10);
	assert_int_equal(l.tr->stats.sets, 0);
	assert_int_equal(l.c.act_err, -EPERM);
	assert_non_null(strstr(l.c.blocked.text,
			       "leaf2 port 2 (the service levels of its flows are not known)"));
	loop_end(&l);
}

/* One that could and does not is like any other. */
static void test_adaptive_routing_off(void **state)
{
	struct loop l;

	(void)state;
	open_loop(&l, "off.db");
	make_adaptive(&l, 0);
	loop_passes(&l, 10);
	assert_true(l.n_changes > 0);
	close_loop(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_changed_by_others),
		cmocka_unit_test(test_no_way_back),
		cmocka_unit_test(test_apart),
		cmocka_unit_test(test_reboot_is_no_foreigner),
		cmocka_unit_test(test_adaptive_routing),
		cmocka_unit_test(test_adaptive_routing_off),
		cmocka_unit_test(test_adaptive_sl),
		cmocka_unit_test(test_sls_not_told),
		cmocka_unit_test(test_off_without_a_book),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
