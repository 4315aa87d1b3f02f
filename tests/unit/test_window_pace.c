/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much a window asks of single nodes, and of a fabric that loses much. */
#include "tests/unit/fake_port.h"

#define GAP_US 2000u

static const struct ibcc_umad_options gentle = {
	.window = 32, .node_window = 1, .node_gap_us = GAP_US, .timeout_ms = 100, .retries = 2
};

/* Least time between two sends to one node. */
static uint64_t least_gap_ns(const struct port *p)
{
	uint64_t least = UINT64_MAX;

	for (unsigned int i = 0; i < p->n_sent; i++) {
		for (unsigned int k = i; k-- > 0;) {
			if (p->sent_lid[k] != p->sent_lid[i])
				continue;
			if (p->sent_ns[i] - p->sent_ns[k] < least)
				least = p->sent_ns[i] - p->sent_ns[k];
			break;
		}
	}
	return least;
}

static void test_one_at_a_node(void **state)
{
	struct ibcc_umad_options o = { .window = 32, .node_window = 1, .timeout_ms = 100 };
	struct port_fixture x = port_setup_with(ANSWER, &o, 200);

	(void)state;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = (uint16_t)(1 + i % 3);
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	assert_int_equal(x.p->most_open, 3);
	port_teardown(&x);
	o.node_window = 4;
	x = port_setup_with(ANSWER, &o, 200);
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 7;
	assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.p->most_open, 4);
	port_teardown(&x);
}

/* A node gets its requests one by one, and others do not wait for that. */
static void test_gap(void **state)
{
	struct port_fixture x = port_setup_with(ANSWER, &gentle, 300);
	uint64_t from = x.p->now_ns, last = 0;

	(void)state;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = i < 50 ? 1 : (uint16_t)i;
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	assert_in_range(least_gap_ns(x.p), GAP_US * 1000, GAP_US * 1500);
	for (size_t i = 50; i < x.n; i++)
		last = x.op[i].t_ns > last ? x.op[i].t_ns : last;
	assert_true(last - from < 10 * MS);
	assert_in_range((x.p->now_ns - from) / MS, 49 * 2, 49 * 3);
	port_teardown(&x);
}

/* Not between runs, by retries, nor with more of them in flight. */
static void test_gap_is_kept(void **state)
{
	struct ibcc_umad_options o = gentle;
	struct port_fixture x = port_setup_with(LOSE_ONCE, &gentle, 40);

	(void)state;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = (uint16_t)(1 + i % 2);
	assert_int_equal(port_run(&x), 0);
	x.p->how = ANSWER;
	for (int i = 0; i < 3; i++)
		assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.p->n_sent, 5 * 40);
	assert_true(least_gap_ns(x.p) >= GAP_US * 1000);
	port_teardown(&x);
	o.node_window = 4;
	x = port_setup_with(LOSE_ONCE, &o, 40);
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 5;
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	assert_true(least_gap_ns(x.p) >= GAP_US * 1000);
	port_teardown(&x);
}

/* What waits for its time when the run's is over was never asked for. */
static void test_gap_and_deadline(void **state)
{
	struct port_fixture x = port_setup_with(ANSWER, &gentle, 100);

	(void)state;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 1;
	x.deadline_ns = x.p->now_ns + 21 * MS;
	assert_int_equal(port_run(&x), 0);
	assert_in_range(x.p->n_sent, 7, 11);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, i < x.p->n_sent ? 0 : -ETIMEDOUT);
	assert_int_equal(x.stats.timed_out, 0);
	port_teardown(&x);
}

/* Directed routes have the permissive LID, which is no node's. */
static void test_no_gap_of_directed_routes(void **state)
{
	struct port_fixture x = port_setup_with(ANSWER, &gentle, 100);
	uint64_t from = x.p->now_ns;

	(void)state;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 0xffff;
	assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.p->most_open, IBCC_WINDOW_DIRECT_MAX);
	assert_true(x.p->now_ns - from < 10 * MS);
	port_teardown(&x);
}

/* Losses halve what is in flight, down to a least; it opens again one by one. */
static void test_losses_close_the_window(void **state)
{
	struct port_fixture x = port_setup_with(LOSE_ONCE, &gentle, 200);

	(void)state;
	assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.stats.window, IBCC_WINDOW_LEAST);
	x.p->how = ANSWER;
	x.p->most_open = x.p->open = 0;
	assert_int_equal(port_run(&x), 0);
	assert_in_range(x.p->most_open, IBCC_WINDOW_LEAST, IBCC_WINDOW_LEAST + 2);
	assert_in_range(x.stats.window, IBCC_WINDOW_LEAST + 1, IBCC_WINDOW_LEAST + 2);
	for (int i = 0; i < 20; i++) {
		x.p->n_sent = 0;
		assert_int_equal(port_run(&x), 0);
	}
	assert_int_equal(x.stats.window, 32);
	port_teardown(&x);
}

/* One in a hundred is what there may be; and a node that never answers is one node. */
static void test_dead_nodes_leave_it_open(void **state)
{
	struct port_fixture x = port_setup_with(ANSWER, &gentle, 200);

	(void)state;
	x.p->dead_lid = 9;
	for (size_t i = 0; i < 20; i++)
		x.op[i].lid = 9;
	for (int i = 0; i < 5; i++)
		assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.stats.timed_out, 100);
	assert_int_equal(x.stats.window, 32);
	port_teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_at_a_node),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_gap_is_kept),
		cmocka_unit_test(test_gap_and_deadline),
		cmocka_unit_test(test_no_gap_of_directed_routes),
		cmocka_unit_test(test_losses_close_the_window),
		cmocka_unit_test(test_dead_nodes_leave_it_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
