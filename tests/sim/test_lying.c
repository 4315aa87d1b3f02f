/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Nodes whose counters lie: they are named, what was decided because of them is reverted, no node
 * pays for it, and they are believed again once they tell the truth.
 */
#include "loop.h"

#include "tests/unit/files.h"

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (1 * IBCC_PS_PER_MS)
/* To control and settle; to be found out; to be believed again, which takes longest on the link
 * with the fewest packets.
 */
#define SETTLED      60u
#define FOUND_OUT    30u
#define BELIEVED     80u
#define DRAIN_MBYTES 1870.76

static struct ibcc_agent_quirks *quirks(struct loop *l, const char *node)
{
	struct ibcc_agent_quirks *q =
		ibcc_agents_quirks(l->agents, ibcc_topo_find_desc(l->sc.topo, node));

	assert_non_null(q);
	return q;
}

/* The ports that are not believed: how many, and by name. */
static uint32_t doubted(const struct loop *l, char *names, size_t len)
{
	const struct ibcc_snapshot *s = &l->c.snapshot;

	ibcc_trust_say(l->c.topo, s, names, len);
	print_message("pass %llu: %s\n", (unsigned long long)s->pass, names);
	return s->n_doubted;
}

/* Ports of a node and no others, and for what reason. */
static void assert_doubted(const struct loop *l, const char *node, enum ibcc_doubt why)
{
	uint32_t liar = ibcc_topo_find_desc(l->c.topo, node), n = 0;

	for (uint32_t i = 0; i < l->c.topo->n_ports; i++) {
		enum ibcc_doubt d = l->c.snapshot.port[i].trust.doubt;

		if (d == IBCC_DOUBT_NONE)
			continue;
		assert_int_equal(l->c.topo->port[i].node, liar);
		n += d == why;
	}
	assert_true(n > 0);
}

static struct loop_rates rates_of(struct loop *l, unsigned int passes)
{
	loop_measure(l);
	loop_passes(l, passes);
	return loop_rates(l);
}

static bool anything_set(const struct loop *l)
{
	const struct ibcc_settings *s = &l->c.actual;

	for (uint32_t i = 0; i < s->n; i++)
		if (s->ep[i].cct.limit || s->ep[i].sw.Threshold)
			return true;
	return false;
}

/* A switch tells three hundredths of what it sends and nearly twice its waits: its hot port looks
 * like one to a receiver that takes nothing.
 */
static void test_lying_switch(void **state)
{
	struct loop_rates honest, lied_to, again;
	struct ibcc_agent_quirks *q;
	char names[512];
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	loop_passes(&l, SETTLED);
	honest = rates_of(&l, SETTLED);
	assert_true(honest.hot > 0.99 * DRAIN_MBYTES);
	assert_int_equal(doubted(&l, names, sizeof(names)), 0);
	assert_true(anything_set(&l));

	q = quirks(&l, "leaf2");
	q->sent_permille = 30;
	q->wait_permille = 1900;
	loop_passes(&l, FOUND_OUT);
	assert_true(doubted(&l, names, sizeof(names)) > 0);
	assert_non_null(strstr(names, "leaf2 port 2"));
	assert_doubted(&l, "leaf2", IBCC_DOUBT_NODE);
	assert_int_equal(l.c.estimate.n_roots, 0);
	lied_to = rates_of(&l, SETTLED);
	assert_true(lied_to.hot > 0.98 * honest.hot);
	assert_false(anything_set(&l));

	q->sent_permille = q->wait_permille = 0;
	loop_passes(&l, BELIEVED);
	assert_int_equal(doubted(&l, names, sizeof(names)), 0);
	assert_string_equal(names, "");
	loop_passes(&l, SETTLED);
	again = rates_of(&l, SETTLED);
	assert_true(again.hot > 0.98 * honest.hot);
	assert_true(again.victim > 0.98 * honest.victim);
	loop_end(&l);
}

/* An adapter tells three marked packets for two that came, and so many BECNs that the others look
 * like bystanders.
 */
static void test_more_marks_than_packets(void **state)
{
	struct loop_rates honest, lied_to;
	struct ibcc_agent_quirks *q;
	char names[512];
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	loop_passes(&l, SETTLED);
	honest = rates_of(&l, SETTLED);

	q = quirks(&l, "destination1");
	q->marks_permille = 3000;
	loop_passes(&l, FOUND_OUT);
	assert_true(doubted(&l, names, sizeof(names)) > 0);
	assert_non_null(strstr(names, "destination1 port 1"));
	assert_doubted(&l, "destination1", IBCC_DOUBT_MARKS);
	assert_true(l.c.estimate.fecn < 1000); /* it has told thousands in each interval */
	lied_to = rates_of(&l, SETTLED);
	assert_true(lied_to.hot > 0.98 * honest.hot);

	q->marks_permille = 0;
	loop_passes(&l, BELIEVED);
	assert_int_equal(doubted(&l, names, sizeof(names)), 0);
	loop_end(&l);
}

/* A switch's log names one flow for all packets that it marked. */
static void tell_one_flow(struct loop *l, const char *node, const char *from, const char *to)
{
	const struct ibcc_topo *t = l->sc.topo;
	struct ibcc_agent_quirks *q = quirks(l, node);

	q->log_slid = t->port[t->node[ibcc_topo_find_desc(t, from)].first_port + 1].lid;
	q->log_dlid = t->port[t->node[ibcc_topo_find_desc(t, to)].first_port + 1].lid;
}

/* The log names one of three flows, or one that is not there: it is contradicted by the adapters
 * whose BECNs and packets say otherwise. It is named, and control goes on by their counters.
 */
static void test_log_of_one_flow(void **state)
{
	static const char *const named[] = { "source1", "source3", "source4" };

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		struct loop_rates honest, lied_to;
		char names[512];
		struct loop l;

		loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
		loop_passes(&l, SETTLED);
		honest = rates_of(&l, SETTLED);
		tell_one_flow(&l, "leaf2", named[i], "destination1");
		loop_passes(&l, FOUND_OUT);
		lied_to = rates_of(&l, 2 * SETTLED);
		assert_true(lied_to.hot > 0.98 * honest.hot);
		assert_true(lied_to.victim > 0.98 * honest.victim);
		assert_int_equal(doubted(&l, names, sizeof(names)), 1);
		assert_non_null(strstr(names, "leaf2"));
		assert_non_null(strstr(names, "CongestionLog"));
		/* It tells the truth again. */
		quirks(&l, "leaf2")->log_slid = quirks(&l, "leaf2")->log_dlid = 0;
		loop_passes(&l, BELIEVED);
		assert_int_equal(doubted(&l, names, sizeof(names)), 0);
		loop_end(&l);
	}
}

/* The same from the start on, before anything is known. */
static void test_log_of_one_flow_from_the_start(void **state)
{
	struct loop_rates r;
	char names[512];
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	tell_one_flow(&l, "leaf2", "source1", "destination1");
	loop_passes(&l, 2 * SETTLED);
	r = rates_of(&l, 2 * SETTLED);
	assert_true(r.hot > 0.98 * DRAIN_MBYTES);
	assert_true(r.victim > 1980);
	assert_int_equal(doubted(&l, names, sizeof(names)), 1);
	loop_end(&l);
}

/* One writer to the slow receiver, and the victim: an honest log has one pair, and is used. */
static void test_honest_log_of_one_flow(void **state)
{
	static const char text[] = "name: one\n"
				   "duration_ms: 1000\n"
				   "topology:\n"
				   "  rate: 4x QDR\n"
				   "  nodes:\n"
				   "    - {host: [a, b, slow, fast]}\n"
				   "    - {switch: [leaf1, leaf2], ports: 8}\n"
				   "  links:\n"
				   "    - [a, leaf1/1]\n"
				   "    - [b, leaf1/2]\n"
				   "    - [leaf1/8, leaf2/8]\n"
				   "    - [slow, leaf2/1]\n"
				   "    - [fast, leaf2/2]\n"
				   "traffic:\n"
				   "  - {name: write, from: a, to: slow, kind: hot}\n"
				   "  - {name: victim, from: b, to: fast, kind: victim}\n"
				   "events:\n"
				   "  - {sink: slow, rate: 500 MB/s}\n";
	const char *path = files_write("one.yaml", text);
	struct loop_rates r;
	char names[512];
	bool used = false;
	struct loop l;

	(void)state;
	loop_start(&l, path, PASS_PS, &loop_hardware, NULL);
	for (unsigned int i = 0; i < 2 * SETTLED; i++) {
		loop_passes(&l, 1);
		assert_int_equal(l.c.snapshot.n_doubted, 0);
		for (uint32_t k = 0; k < l.c.estimate.n_known; k++)
			used |= l.c.estimate.root[k].logged && l.c.estimate.root[k].n_limited == 1;
	}
	assert_true(used);
	r = rates_of(&l, SETTLED);
	assert_true(r.hot > 0.98 * 500);
	assert_true(r.victim > 3000); /* of 3950; without control as much as the slow one */
	assert_int_equal(doubted(&l, names, sizeof(names)), 0);
	loop_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lying_switch),
		cmocka_unit_test(test_more_marks_than_packets),
		cmocka_unit_test(test_log_of_one_flow),
		cmocka_unit_test(test_log_of_one_flow_from_the_start),
		cmocka_unit_test(test_honest_log_of_one_flow),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
