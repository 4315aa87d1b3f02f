/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sources that cannot be asked for a while, or whose counters lie: meanwhile and afterwards the law
 * goes on for all three writers of the Lustre fabric, and no other traffic suffers.
 */
#include "loop.h"

#define LUSTRE  "perftest/scenarios/lustre.yaml"
#define PASS_PS (10 * IBCC_PS_PER_MS)
#define SETTLED 40u
#define LASTS   30u
#define BACK    20u
#define WRITERS 3u

/* Settings cannot be read again, or written, where no node answers. */
static void passes_for_all(struct loop *l, unsigned int n)
{
	while (n--) {
		const struct ibcc_parameters *p = ibcc_tuner_parameters(l->c.tuner);

		(void)loop_try(l);
		assert_int_equal(p->n_roots, 1);
		assert_int_equal(p->root[0].r.n, WRITERS);
	}
}

static void assert_as_good(struct loop *l, const struct loop_rates *than, unsigned int passes)
{
	struct loop_rates now;

	loop_measure(l);
	passes_for_all(l, passes);
	now = loop_rates(l);
	assert_true(now.hot > 0.99 * than->hot);
	assert_true(now.victim > 0.98 * than->victim);
}

struct trouble {
	const char *what;
	uint16_t loss_permille, sent_permille;
};

static void give(struct loop *l, uint32_t node, const struct trouble *t)
{
	struct ibcc_agent_quirks *q = ibcc_agents_quirks(l->agents, node);

	assert_non_null(q);
	assert_int_equal(ibcc_agents_set_loss(l->agents, node, t->loss_permille), 0);
	q->sent_permille = t->sent_permille;
}

static void test_source(void **state)
{
	static const struct trouble none, trouble[] = {
		{ "is silent", 1000, 0 },
		{ "tells 1.9 times what it sends", 0, 1900 },
	};

	(void)state;
	for (unsigned int i = 0; i < sizeof(trouble) / sizeof(trouble[0]); i++) {
		struct loop_rates before;
		struct loop l;
		uint32_t node;

		print_message("source1 %s\n", trouble[i].what);
		loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
		node = ibcc_topo_find_desc(l.sc.topo, "source1");
		loop_passes(&l, SETTLED);
		loop_measure(&l);
		passes_for_all(&l, BACK);
		before = loop_rates(&l);
		give(&l, node, &trouble[i]);
		assert_as_good(&l, &before, LASTS);
		give(&l, node, &none);
		assert_as_good(&l, &before, BACK);
		assert_as_good(&l, &before, SETTLED);
		loop_end(&l);
	}
}

/* It has lost its settings, does not take them again, and is not believed for longer than that: all
 * is learned anew, from the others for many passes before anything is from it.
 */
static void test_source_that_starts_anew(void **state)
{
	struct ibcc_agent_quirks *q;
	struct loop_rates before;
	struct loop l;
	uint32_t node;

	(void)state;
	loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	node = ibcc_topo_find_desc(l.sc.topo, "source3");
	loop_passes(&l, SETTLED);
	loop_measure(&l);
	passes_for_all(&l, BACK);
	before = loop_rates(&l);
	q = ibcc_agents_quirks(l.agents, node);
	q->marks_permille = 1900;
	q->set_status = 4;
	assert_int_equal(ibcc_agents_forget(l.agents, node), 0);
	l.c.actual_known = false;
	for (unsigned int i = 0; i < LASTS; i++)
		(void)loop_try(&l);
	q->set_status = 0;
	l.c.actual_known = false;
	passes_for_all(&l, 5);
	q->marks_permille = 0;
	assert_as_good(&l, &before, LASTS);
	assert_as_good(&l, &before, SETTLED);
	loop_end(&l);
}

/* No switch has a log, and a bystander tells more BECNs than packets: it is none of the writers,
 * before and after it is doubted for that.
 */
static void test_bystander(void **state)
{
	struct ibcc_agent_quirks *q;
	struct loop l;

	(void)state;
	loop_start(&l, LUSTRE, PASS_PS, &loop_hardware, NULL);
	for (uint32_t i = 0; i < l.sc.topo->n_nodes; i++)
		ibcc_agents_quirks(l.agents, i)->no_log = true;
	loop_passes(&l, SETTLED);
	q = ibcc_agents_quirks(l.agents, ibcc_topo_find_desc(l.sc.topo, "destination0"));
	q->marks_permille = 1900;
	passes_for_all(&l, LASTS);
	q->marks_permille = 0;
	passes_for_all(&l, LASTS);
	loop_end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source),
		cmocka_unit_test(test_source_that_starts_anew),
		cmocka_unit_test(test_bystander),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
