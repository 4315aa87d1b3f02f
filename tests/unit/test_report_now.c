/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is told of the last pass: which nodes not to believe, which were not read, and what "now"
 * has. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports.h"

/* Ports of a node with the same doubtful counters are told together. */
static void test_unsure(void **state)
{
	struct fixture *f = *state;
	struct ibcc_snapshot *s = &f->tr.s;
	uint32_t left_out = 1;
	json_t *list = ibcc_report_unsure(f->c.topo, s, &left_out);
	uint32_t first = fabric_port(f->c.topo, LUSTRE_SW1, 0);

	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	for (uint32_t i = first + 1; i <= first + 3; i++) {
		s->port[i].state = IBCC_SAMPLE_FRESH;
		s->port[i].delta.flags[IBCC_CTR_XMIT_WAIT] =
			IBCC_DELTA_VALID | IBCC_DELTA_SATURATED;
	}
	s->port[first + 3].delta.flags[IBCC_CTR_XMIT_DATA] = IBCC_DELTA_SATURATED;
	list = ibcc_report_unsure(f->c.topo, s, &left_out);
	assert_int_equal(json_array_size(list), 2);
	assert_int_equal(json_array_size(json_object_get(json_array_get(list, 0), "ports")), 2);
	assert_string_equal(json_string_value(json_array_get(
				    json_object_get(json_array_get(list, 1), "counters"), 1)),
			    "PortXmitWait");
	json_decref(list);
}

/* A port that is not asked since its link is not up is no success. */
static void test_unread(void **state)
{
	static const char *const reasons[] = { "its link is not up", "no answer", "refused" };
	static const int errors[] = { 0, -ETIMEDOUT, -EREMOTEIO };
	struct fixture *f = *state;
	struct ibcc_snapshot *s = &f->tr.s;
	uint32_t left_out = 1;
	json_t *list = ibcc_report_unread(f->c.topo, s, &left_out);
	uint32_t first = fabric_port(f->c.topo, LUSTRE_SW1, 0);

	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	for (uint32_t i = 0; i < 3; i++) {
		s->port[first + 1 + i].state = IBCC_SAMPLE_STALE;
		s->port[first + 1 + i].err = errors[i];
	}
	list = ibcc_report_unread(f->c.topo, s, &left_out);
	assert_int_equal(json_array_size(list), 3);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(
			json_string_value(json_object_get(json_array_get(list, i), "reason")),
			reasons[i]);
	json_decref(list);
}

/* Ports of a node that are doubted for the same reason are told together. */
static void test_doubted(void **state)
{
	struct fixture *f = *state;
	struct ibcc_snapshot *s = &f->tr.s;
	uint32_t left_out = 1;
	json_t *list = ibcc_report_doubted(f->c.topo, s, &left_out);
	uint32_t first = fabric_port(f->c.topo, LUSTRE_SW1, 0);
	const json_t *o;

	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	for (uint32_t i = first + 1; i <= first + 3; i++)
		s->port[i].trust.doubt = i == first + 2 ? IBCC_DOUBT_LINK : IBCC_DOUBT_NODE;
	s->port[first + 4].trust.doubt = IBCC_DOUBT_NODE;
	list = ibcc_report_doubted(f->c.topo, s, &left_out);
	assert_int_equal(json_array_size(list), 3);
	o = json_array_get(list, 2);
	assert_string_equal(json_string_value(json_object_get(o, "node")), "sw1");
	assert_string_equal(json_string_value(json_object_get(o, "reason")),
			    ibcc_trust_reason(IBCC_DOUBT_NODE));
	o = json_object_get(o, "ports");
	assert_int_equal(json_array_size(o), 2);
	assert_int_equal(json_integer_value(json_array_get(o, 1)), 4);
	json_decref(list);
}

/* Only nodes with errors, with what is known of it. */
static void test_mad_errors(void **state)
{
	struct fixture *f = *state;
	const struct ibcc_topo *t = f->c.topo;
	uint16_t well = t->port[t->endport[0]].lid, ill = t->port[t->endport[1]].lid;
	struct ibcc_node_stats *s = calloc(IBCC_LID_MAX + 1, sizeof(*s));
	uint32_t left_out = 1;
	json_t *list = ibcc_report_mad_errors(t, NULL, &left_out);
	const json_t *o;

	assert_non_null(s);
	assert_int_equal(json_array_size(list), 0);
	json_decref(list);
	s[well] = (struct ibcc_node_stats){ .sent = 100, .answered = 100 };
	s[ill] = (struct ibcc_node_stats){ 50, 10, 35, 4, 5 };
	list = ibcc_report_mad_errors(t, s, &left_out);
	assert_int_equal(json_array_size(list), 1);
	o = json_array_get(list, 0);
	assert_int_equal(json_integer_value(json_object_get(o, "lid")), ill);
	assert_int_equal(json_integer_value(json_object_get(o, "sent")), 50);
	assert_int_equal(json_integer_value(json_object_get(o, "retried")), 10);
	assert_int_equal(json_integer_value(json_object_get(o, "answered")), 35);
	assert_int_equal(json_integer_value(json_object_get(o, "refused")), 4);
	assert_int_equal(json_integer_value(json_object_get(o, "timed_out")), 5);
	json_decref(list);
	free(s);
}

/* 1000 hosts, of which none was read, all have saturated and inconsistent counters, and all refused
 * something: the lists end, and what they leave out is counted.
 */
static void test_bounds(void **state)
{
	enum { HOSTS = 1000 };
	struct ibcc_topo *t = ibcc_topo_new();
	struct ibcc_node_stats *stats = calloc(IBCC_LID_MAX + 1, sizeof(*stats));
	struct ibcc_snapshot s = { 0 };
	json_t *list;
	uint32_t n;

	(void)state;
	assert_non_null(t);
	assert_non_null(stats);
	for (uint32_t i = 0; i < HOSTS; i++) {
		uint32_t node = fabric_node(t, IBCC_NODE_CA, 2, "h");

		for (unsigned int p = 1; p <= 2; p++)
			assert_int_equal(ibcc_topo_set_lid(t, fabric_port(t, node, p),
							   (uint16_t)(2 * i + p), 0),
					 0);
		stats[2 * i + 1] =
			(struct ibcc_node_stats){ .sent = 9, .retried = i, .refused = 1 };
	}
	stats[77].timed_out = 3;
	s.n_ports = t->n_ports;
	s.port = calloc(t->n_ports, sizeof(*s.port));
	assert_non_null(s.port);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		if (!t->port[i].num)
			continue;
		s.port[i].state = IBCC_SAMPLE_UNREACHABLE;
		s.port[i].trust.doubt = IBCC_DOUBT_NODE;
	}
	list = ibcc_report_unread(t, &s, &n);
	assert_int_equal(json_array_size(list), IBCC_REPORT_MOST);
	assert_int_equal(json_array_size(json_object_get(json_array_get(list, 63), "ports")), 2);
	assert_int_equal(n, 2 * (HOSTS - IBCC_REPORT_MOST));
	json_decref(list);
	list = ibcc_report_doubted(t, &s, &n);
	assert_int_equal(json_array_size(list), IBCC_REPORT_MOST);
	assert_int_equal(n, 2 * (HOSTS - IBCC_REPORT_MOST));
	json_decref(list);
	for (uint32_t i = 0; i < t->n_ports; i++) {
		if (!t->port[i].num)
			continue;
		s.port[i].state = IBCC_SAMPLE_FRESH;
		s.port[i].delta.flags[IBCC_CTR_XMIT_WAIT] = IBCC_DELTA_VALID | IBCC_DELTA_SATURATED;
	}
	list = ibcc_report_unsure(t, &s, &n);
	assert_int_equal(json_array_size(list), IBCC_REPORT_MOST);
	assert_int_equal(n, 2 * (HOSTS - IBCC_REPORT_MOST));
	json_decref(list);
	list = ibcc_report_mad_errors(t, stats, &n);
	assert_int_equal(json_array_size(list), IBCC_REPORT_MOST);
	assert_int_equal(n, HOSTS - IBCC_REPORT_MOST);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 0), "lid")), 77);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(list, 1), "retried")),
			 HOSTS - 1);
	json_decref(list);
	free(s.port);
	free(stats);
	ibcc_topo_free(t);
}

/* By hand, of the loads that traffic_lustre_off() gives and the settings above: four adapters send
 * 4987 Mb/s each and wait 84.4 % of the time; 240 BECNs in a millisecond; sw2 marks at its 3 linked
 * ports, no adapter reacts.
 */
static void test_now(void **state)
{
	struct fixture *f = *state;
	const json_t *settings, *range;
	struct ibcc_endport_cc *ep;
	json_t *o;

	f->c.actual_known = true;
	o = ibcc_report_now(&f->c);
	settings = json_object_get(o, "settings");
	assert_in_range(json_integer_value(json_object_get(o, "sent_mbps")), 4 * 4980, 4 * 4990);
	assert_int_equal(json_integer_value(json_object_get(o, "waiting")), 4);
	assert_in_range(json_integer_value(json_object_get(o, "wait_permille")), 842, 845);
	assert_in_range((int)json_real_value(json_object_get(o, "becn_per_s")), 239999, 240001);
	assert_int_equal(json_array_size(json_object_get(o, "roots")), 1);
	assert_int_equal(json_integer_value(json_object_get(
				 json_array_get(json_object_get(o, "roots"), 0), "contributors")),
			 3);
	assert_int_equal(json_array_size(json_object_get(o, "blocked")), 4);
	for (size_t i = 0; i < 4; i++)
		assert_in_range(
			json_integer_value(json_object_get(
				json_array_get(json_object_get(o, "blocked"), i), "xmit_mbps")),
			4980, 4990);
	assert_int_equal(json_integer_value(json_object_get(settings, "reacting_ports")), 0);
	assert_true(json_is_null(json_object_get(settings, "CCTI_Timer")));
	assert_int_equal(json_integer_value(json_object_get(settings, "marking_ports")), 3);
	ep = &f->c.actual.ep[f->c.topo->port[f->c.topo->node[LUSTRE_SRC1].first_port + 1].endport];
	ep->ca.sl[3] = (struct ibcc_cc_ca_entry){ .CCTI_Timer = 45, .CCTI_Increase = 2 };
	ep->cct = (struct ibcc_cct){ .limit = 3, .entry = { 0, 1, 2, 3 } };
	json_decref(o);
	o = ibcc_report_now(&f->c);
	settings = json_object_get(o, "settings");
	assert_int_equal(json_integer_value(json_object_get(settings, "reacting_ports")), 1);
	range = json_object_get(settings, "CCTI_Timer");
	assert_int_equal(json_integer_value(json_array_get(range, 0)), 45);
	assert_int_equal(json_integer_value(json_array_get(range, 1)), 45);
	json_decref(o);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_unsure, setup, teardown),
		cmocka_unit_test_setup_teardown(test_unread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_doubted, setup, teardown),
		cmocka_unit_test_setup_teardown(test_mad_errors, setup, teardown),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test_setup_teardown(test_now, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
