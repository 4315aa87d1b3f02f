/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes that do not answer: what forwarding tables tell of them, and which roots can be decided on
 * beside them.
 */
#include "estimates.h"

#include <ibcc/proof.h>

/* A node keeps silent: its neighbours' ports are up, and nothing is known behind them. */
static void silence(struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];

	for (uint32_t p = n->first_port; p <= n->first_port + n->n_ports; p++) {
		uint32_t peer = t->port[p].peer;

		ibcc_topo_clear_lid(t, p);
		if (peer == IBCC_NONE)
			continue;
		ibcc_topo_unlink(t, p);
		t->port[peer].state = 4;
		t->port[peer].rate_mbps = QDR_MBPS;
	}
}

static void find(struct ibcc_topo *t)
{
	assert_int_equal(ibcc_topo_find_virtual(t), 0);
	assert_int_equal(ibcc_topo_find_gaps(t), 0);
}

static uint16_t lid_of(const struct ibcc_topo *t, const char *desc, unsigned int num)
{
	return t->port[fabric_port(t, ibcc_topo_find_desc(t, desc), num)].lid;
}

static enum ibcc_beyond beyond(const struct ibcc_topo *t, const char *desc, unsigned int num)
{
	return (enum ibcc_beyond)t->port[fabric_port(t, ibcc_topo_find_desc(t, desc), num)].beyond;
}

static void test_hosts(void **state)
{
	struct ibcc_topo *t = fabric_tree2(4), *c;
	unsigned int a = lid_of(t, "h2", 1), b = lid_of(t, "h3", 1);
	char text[300], want[300];

	(void)state;
	find(t);
	assert_int_equal(t->n_gaps, 0);
	assert_int_equal(ibcc_topo_gaps_text(t, text, sizeof(text)), 0);
	assert_string_equal(text, "");
	silence(t, ibcc_topo_find_desc(t, "h2"));
	silence(t, ibcc_topo_find_desc(t, "h3"));
	find(t);
	assert_int_equal(t->n_gaps, 2);
	assert_int_equal(beyond(t, "leaf1", 1), IBCC_BEYOND_ADAPTER);
	assert_true(ibcc_topo_faces_ca(t, t->gap[0].port));
	assert_int_equal(t->gap[0].region, 0);
	assert_int_equal(t->gap[1].region, 1);
	assert_true(t->gap[0].has_senders && t->gap[1].has_senders);
	ibcc_topo_gaps_text(t, text, sizeof(text));
	snprintf(want, sizeof(want),
		 "the node behind \"leaf1\" port 1 (LID %u), the node behind \"leaf1\" port 2 (LID "
		 "%u)",
		 a, b);
	assert_string_equal(text, want);
	c = ibcc_topo_clone(t);
	assert_non_null(c);
	ibcc_topo_gaps_text(c, text, sizeof(text));
	assert_string_equal(text, want);
	ibcc_topo_free(c);
	/* A port that is down leads nowhere; of one that does not say it is not known. */
	t->port[t->gap[0].port].state = 1;
	t->port[t->gap[1].port].state = 0;
	find(t);
	assert_int_equal(t->n_gaps, 1);
	assert_int_equal(beyond(t, "leaf1", 1), IBCC_BEYOND_KNOWN);
	ibcc_topo_free(t);
}

/* With two LIDs of each adapter, two that lead to one port are one adapter. */
static void test_lmc(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint8_t lft[64];

	(void)state;
	memcpy(lft, t->node[LUSTRE_SW2].lft, t->node[LUSTRE_SW2].lft_len);
	lft[40] = lft[41] = 2;
	for (uint32_t lid = t->node[LUSTRE_SW2].lft_len; lid < 40; lid++)
		lft[lid] = IBCC_LFT_NONE;
	lft[lid_of(t, "fast", 1)] = IBCC_LFT_NONE;
	silence(t, LUSTRE_FAST);
	assert_int_equal(ibcc_topo_set_lft(t, LUSTRE_SW2, lft, 42), 0);
	find(t);
	assert_int_equal(beyond(t, "sw2", 2), IBCC_BEYOND_SWITCH);
	assert_int_equal(ibcc_topo_set_lid(t, fabric_port(t, LUSTRE_SRC1, 1), 50, 1), 0);
	find(t);
	assert_int_equal(beyond(t, "sw2", 2), IBCC_BEYOND_ADAPTER);
	assert_int_equal(t->gap[0].n_lids, 2);
	ibcc_topo_free(t);
}

static void test_switches(void **state)
{
	struct ibcc_topo *t = fabric_tree2(4);
	unsigned int root = lid_of(t, "root1", 0);
	char text[300], want[300];

	(void)state;
	/* A spine: a gap at each leaf, all of which send its LID there. No node is behind it. */
	silence(t, ibcc_topo_find_desc(t, "root1"));
	find(t);
	assert_int_equal(t->n_gaps, 4);
	for (uint32_t i = 0; i < t->n_gaps; i++) {
		assert_int_equal(t->gap[i].region, 0);
		assert_int_equal(t->gap[i].n_lids, 1);
		assert_false(t->gap[i].has_senders);
		assert_int_equal(t->port[t->gap[i].port].beyond, IBCC_BEYOND_SWITCH);
	}
	assert_false(ibcc_topo_faces_ca(t, t->gap[0].port));
	ibcc_topo_gaps_text(t, text, sizeof(text));
	snprintf(want, sizeof(want),
		 "the switch behind \"leaf0\" port 4 and 3 other ports (LID %u)", root);
	assert_string_equal(text, want);
	ibcc_topo_free(t);
	/* A leaf: a gap at each spine, and hosts behind it. */
	t = fabric_tree2(4);
	silence(t, ibcc_topo_find_desc(t, "leaf2"));
	silence(t, ibcc_topo_find_desc(t, "h4"));
	silence(t, ibcc_topo_find_desc(t, "h5"));
	find(t);
	assert_int_equal(t->n_gaps, 2);
	assert_int_equal(t->gap[1].region, 0);
	assert_int_equal(t->gap[0].n_lids, 3);
	assert_true(t->gap[0].has_senders);
	ibcc_topo_free(t);
}

/* The estimate that is decided by, after a pass. */
static uint32_t n_proved(struct fixture *f, uint32_t *n_unknown)
{
	static const uint16_t sls[8];
	struct ibcc_estimate to;
	struct ibcc_unproved who;
	uint32_t n;

	pass(f);
	assert_true(f->e.trustworthy);
	assert_in_range(f->e.n_roots, 0, 8);
	assert_int_equal(ibcc_proof_run(&f->e, 0, sls, &to, &who), 0);
	assert_int_equal(to.n_known, f->e.n_known);
	assert_int_equal(who.n, 0);
	n = to.n_roots;
	*n_unknown = to.n_unknown;
	free(to.root);
	return n;
}

static int setup_silent(void **state, uint32_t node)
{
	struct ibcc_topo *t = fabric_lustre();

	silence(t, node);
	find(t);
	return setup_for(state, t);
}

static int setup_silent_sink(void **state)
{
	return setup_silent(state, LUSTRE_SLOW);
}

static int setup_silent_source(void **state)
{
	return setup_silent(state, LUSTRE_SRC2);
}

static int setup_silent_switch(void **state)
{
	struct ibcc_topo *t = fabric_lustre();

	silence(t, LUSTRE_SLOW);
	silence(t, LUSTRE_FAST);
	silence(t, LUSTRE_SW2);
	find(t);
	return setup_for(state, t);
}

/* The slow receiver itself is silent: its port tells all that is needed. */
static void test_silent_sink(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = fabric_port(f->t, LUSTRE_SW2, 1), unknown;

	traffic_lustre_off(&f->tr);
	assert_int_equal(n_proved(f, &unknown), 1);
	assert_int_equal(unknown, 0);
	assert_int_equal(at(f, slow)->kind, IBCC_CONGESTION_OUTPUT);
	assert_int_equal(at(f, slow)->n_contributors, 4);
	assert_int_equal(at(f, slow)->confidence_permille, 1000);
	/* Held, it is idle at times. That marks come to it no counter shows, but BECNs go on. */
	mark_at(f, LUSTRE_SW2, 1);
	hold(f, LUSTRE_SW2, 1, IBCC_CONGESTION_OUTPUT, 14960);
	traffic_lustre_tuned(&f->tr);
	*traffic_at(&f->tr, LUSTRE_SW2, 1) = load(14000, 300, 0);
	f->tr.port[fabric_port(f->t, LUSTRE_FAST, 1)].fecn = 1;
	assert_int_equal(n_proved(f, &unknown), 1);
	assert_true(ibcc_estimate_sees(&f->e, at(f, slow)));
	assert_int_equal(at(f, slow)->n_contributors, 3);
}

/* A silent source may be a contributor if it sends, and then not all are known. */
static void test_silent_source(void **state)
{
	struct fixture *f = *state;
	uint32_t slow = fabric_port(f->t, LUSTRE_SW2, 1), unknown;
	uint32_t gap = fabric_port(f->t, LUSTRE_SW1, 2);
	char words[400];

	traffic_lustre_off(&f->tr);
	f->tr.rcv_mbps[gap] = 4987;
	assert_int_equal(n_proved(f, &unknown), 0);
	assert_int_equal(unknown, 1);
	assert_int_equal(at(f, slow)->unknown_port, gap);
	assert_in_range(at(f, slow)->unknown_mbps, 4980, 4990);
	ibcc_estimate_explain(f->t, at(f, slow), words, sizeof(words));
	assert_non_null(strstr(words, "Mb/s come from nodes that do not answer, most of it by sw1 "
				      "port 2"));
	/* A fiftieth of what the root carries is next to nothing. */
	f->tr.rcv_mbps[gap] = 14960 / 51;
	assert_int_equal(n_proved(f, &unknown), 1);
	f->tr.rcv_mbps[gap] = 14960 / 49;
	assert_int_equal(n_proved(f, &unknown), 0);
	f->tr.rcv_mbps[gap] = 0;
	assert_int_equal(n_proved(f, &unknown), 1);
	assert_int_equal(at(f, slow)->n_contributors, 3);
	/* Its port not read, it may send as much as the link carries. */
	f->tr.port[gap].silent = true;
	f->e.trustworthy = true;
	assert_int_equal(n_proved(f, &unknown), 0);
}

/* Behind a silent switch it is unknown where congestion starts. */
static void test_silent_switch(void **state)
{
	struct fixture *f = *state;
	uint32_t gap = fabric_port(f->t, LUSTRE_SW1, 5), unknown;
	char words[400];

	traffic_lustre_off(&f->tr);
	assert_int_equal(n_proved(f, &unknown), 0);
	assert_int_equal(unknown, 1);
	assert_true(at(f, gap)->hidden);
	ibcc_estimate_explain(f->t, at(f, gap), words, sizeof(words));
	assert_non_null(strstr(words, "sw1 port 5: blocked 37."));
	assert_non_null(
		strstr(words, " % of the time (PortXmitWait) by a switch that does not answer"));
}

/* Two senders of another leaf jam the port to h0, by one spine, while the other spine is silent. */
static void spine_case(const char *silent, const char *used, uint32_t want_proved)
{
	struct ibcc_topo *t = fabric_tree2(4);
	unsigned int up = (unsigned int)(used[4] - '0') + 3;
	uint32_t leaf0 = ibcc_topo_find_desc(t, "leaf0"), leaf1 = ibcc_topo_find_desc(t, "leaf1");
	uint32_t spine = ibcc_topo_find_desc(t, used), unknown;
	struct fixture *f;
	void *state;

	/* By the tables, where h0's packets go up. */
	assert_int_equal(t->node[leaf1].lft[lid_of(t, "h0", 1)], up);
	silence(t, ibcc_topo_find_desc(t, silent));
	find(t);
	setup_for(&state, t);
	f = state;
	for (uint32_t i = 0; i < t->n_gaps; i++)
		f->tr.rcv_mbps[t->gap[i].port] = 9000; /* it is busy with others' */
	*traffic_at(&f->tr, leaf0, 1) = load(15000, 530, 0);
	*traffic_at(&f->tr, spine, 1) = load(15000, 530, 0);
	*traffic_at(&f->tr, leaf1, up) = load(15000, 530, 0);
	*traffic_at(&f->tr, ibcc_topo_find_desc(t, "h2"), 1) = load(7500, 760, 0);
	*traffic_at(&f->tr, ibcc_topo_find_desc(t, "h3"), 1) = load(7500, 760, 0);
	assert_int_equal(n_proved(f, &unknown), want_proved);
	if (want_proved)
		assert_int_equal(at(f, fabric_port(t, leaf0, 1))->n_contributors, 2);
	teardown(&state);
}

/* A silent spine takes away what goes through it: no table sends h0's packets to the other one. */
static void test_silent_spine(void **state)
{
	(void)state;
	spine_case("root1", "root0", 1);
}

/* A switch that has not told its table may send anything anywhere. */
static void test_partial_table(void **state)
{
	struct fixture *f;
	void *lustre;
	uint32_t unknown;

	(void)state;
	setup(&lustre);
	f = lustre;
	traffic_lustre_off(&f->tr);
	f->t->node[LUSTRE_SW1].partial = true;
	assert_int_equal(n_proved(f, &unknown), 1);
	f->t->node[LUSTRE_SW1].lft[lid_of(f->t, "slow", 1)] = IBCC_LFT_NONE;
	assert_int_equal(n_proved(f, &unknown), 0);
	teardown(&lustre);
}

/* Our own adapter is all that is found: the switch before it is silent. Beside other nodes a port
 * of an adapter may be on another fabric, where nothing is missing.
 */
static void test_alone(void **state)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t host;
	char text[300];

	(void)state;
	assert_non_null(t);
	host = (uint32_t)ibcc_topo_add_node(t, 0x11, IBCC_NODE_CA, 1, "host");
	assert_int_equal(ibcc_topo_set_lid(t, fabric_port(t, host, 1), 3, 0), 0);
	t->port[fabric_port(t, host, 1)].state = 4;
	find(t);
	assert_int_equal(t->n_gaps, 1);
	assert_int_equal(beyond(t, "host", 1), IBCC_BEYOND_SWITCH);
	ibcc_topo_gaps_text(t, text, sizeof(text));
	assert_string_equal(text, "the switch behind \"host\" port 1 (no LID)");
	/* Without a cable nothing is behind it. */
	t->port[fabric_port(t, host, 1)].state = 1;
	find(t);
	assert_int_equal(t->n_gaps, 0);

	t->port[fabric_port(t, host, 1)].state = 4;
	assert_true(ibcc_topo_add_node(t, 0x12, IBCC_NODE_SWITCH, 4, "leaf") > 0);
	find(t);
	assert_int_equal(t->n_gaps, 0);
	ibcc_topo_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hosts),
		cmocka_unit_test(test_lmc),
		cmocka_unit_test(test_switches),
		cmocka_unit_test_setup_teardown(test_silent_sink, setup_silent_sink, teardown),
		cmocka_unit_test_setup_teardown(test_silent_source, setup_silent_source, teardown),
		cmocka_unit_test_setup_teardown(test_silent_switch, setup_silent_switch, teardown),
		cmocka_unit_test(test_silent_spine),
		cmocka_unit_test(test_partial_table),
		cmocka_unit_test(test_alone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
