/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The window of requests over a port that loses, repeats, delays and mixes up datagrams. */
#include "tests/unit/fake_port.h"

#include <pthread.h>

static int by_tid(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

	return (x > y) - (x < y);
}

static void test_window(void **state)
{
	const unsigned int windows[] = { 1, 16, 128, 1000, 0 };
	const unsigned int expected[] = { 1, 16, 128, 128, 64 };

	(void)state;
	for (size_t i = 0; i < sizeof(windows) / sizeof(windows[0]); i++) {
		struct port_fixture x = port_setup(ANSWER, windows[i], 0, 2000);

		assert_int_equal(port_run(&x), 0);
		port_assert_answered(&x);
		assert_int_equal(x.p->most_open, expected[i]);
		assert_int_equal(x.stats.sent, 2000);
		assert_int_equal(x.stats.sets, 0);
		assert_true(ibcc_window_drain(x.w));
		qsort(x.p->tid, 2000, sizeof(x.p->tid[0]), by_tid);
		for (size_t k = 1; k < 2000; k++)
			assert_true(x.p->tid[k] != x.p->tid[k - 1]);
		port_teardown(&x);
	}
}

/* The hops of a directed route lie in the header; a run leaves all of a request but its
 * transaction ID as it is.
 */
static void test_only_the_tid_changes(void **state)
{
	struct port_fixture x = port_setup(ECHO, 0, 0, 1);
	struct ibcc_smp_path path = { .hops = 3, .port = { 0, 4, 5, 6 } };
	uint8_t before[IBCC_MAD_BYTES];

	(void)state;
	ibcc_smp_direct_get(x.op[0].mad, &path, IBCC_SMP_ATTR_NODE_INFO, 0);
	memcpy(before, x.op[0].mad, sizeof(before));
	assert_int_equal(port_run(&x), 0);
	memcpy(before + 8, x.op[0].mad + 8, 8);
	assert_memory_equal(before, x.op[0].mad, sizeof(before));
	assert_int_equal(x.op[0].mad[7], 3);
	port_teardown(&x);
}

static void test_retry(void **state)
{
	struct port_fixture x = port_setup(LOSE_ONCE, 32, 1, 500);

	(void)state;
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	assert_int_equal(x.stats.sent, 1000);
	assert_int_equal(x.stats.retried, 500);
	port_teardown(&x);
}

static void test_timeout(void **state)
{
	struct port_fixture x = port_setup(LOSE, 32, 2, 10);
	uint64_t from = x.p->now_ns;

	(void)state;
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	assert_int_equal(x.stats.timed_out, 10);
	assert_int_equal(x.stats.sent, 30);
	/* 100, 200 and 400 ms for the kernel, a quarter more for us, and pauses of 10 and 20 ms. */
	assert_int_equal(x.p->last_timeout_ms, 400);
	assert_in_range((x.p->now_ns - from) / MS, 905, 915);
	port_teardown(&x);
}

/* A silent node costs the attempts of one request and no other node's time. */
static void test_dead_node(void **state)
{
	struct port_fixture x = port_setup(ANSWER, 64, 2, 400);
	uint64_t from = x.p->now_ns;

	(void)state;
	x.p->dead_lid = 2;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = i < 200 ? 2 : 1;
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, i < 200 ? -ETIMEDOUT : 0);
	assert_int_equal(x.p->dead_asked, 3 * IBCC_WINDOW_NODE_MAX);
	assert_int_equal(x.stats.timed_out, 200);
	for (size_t i = 200; i < x.n; i++)
		assert_true(x.op[i].t_ns - from < 100 * MS);
	assert_in_range((x.p->now_ns - from) / MS, 905, 915);
	/* The next run asks again. */
	x.p->dead_lid = 0;
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, 0);
	port_teardown(&x);
}

/* A silent node, one that refuses, and all the others: each has its own account, and the sums are
 * the totals.
 */
static void test_accounts(void **state)
{
	struct port_fixture x = port_setup(STATUS, 64, 1, 300);
	struct ibcc_node_stats *s = calloc(IBCC_LID_MAX + 1, sizeof(*s)), sum = { 0 };

	(void)state;
	assert_non_null(s);
	x.stats.node = s;
	x.p->dead_lid = 2;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = i < 10 ? 2 : i < 40 ? 3 : i < 42 ? 0xffff : 4;
	assert_int_equal(port_run(&x), 0);
	x.p->how = LOSE_ONCE;
	memset(x.p->attempts, 0, sizeof(x.p->attempts));
	for (size_t i = 0; i < x.n; i++)
		x.op[i].mad[5] = 0; /* the status of the answer before */
	assert_int_equal(port_run(&x), 0);
	assert_memory_equal(&s[1], (&(struct ibcc_node_stats){ 0 }), sizeof(*s));
	assert_memory_equal(&s[2], (&(struct ibcc_node_stats){ 40, 20, 0, 0, 20 }), sizeof(*s));
	assert_memory_equal(&s[3], (&(struct ibcc_node_stats){ 90, 30, 60, 30, 0 }), sizeof(*s));
	for (uint32_t lid = 0; lid <= IBCC_LID_MAX; lid++) {
		sum.sent += s[lid].sent;
		sum.retried += s[lid].retried;
		sum.answered += s[lid].answered;
		sum.refused += s[lid].refused;
		sum.timed_out += s[lid].timed_out;
	}
	/* Directed routes are in the totals only: twice two requests, one time with a retry. */
	assert_int_equal(x.stats.sent, sum.sent + 6);
	assert_int_equal(x.stats.retried, sum.retried + 2);
	assert_int_equal(x.stats.answered, sum.answered + 4);
	assert_int_equal(x.stats.refused, sum.refused + 2);
	assert_int_equal(x.stats.timed_out, sum.timed_out);
	port_teardown(&x);
	free(s);
}

static void test_share_of_a_node(void **state)
{
	struct port_fixture x = port_setup(ANSWER, 64, 0, 100);

	(void)state;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 1;
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	assert_int_equal(x.p->most_open, IBCC_WINDOW_NODE_MAX);
	port_teardown(&x);
	/* Directed routes all have the permissive LID, and VL 15. */
	x = port_setup(ANSWER, 64, 0, 100);
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 0xffff;
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	assert_int_equal(x.p->most_open, IBCC_WINDOW_DIRECT_MAX);
	port_teardown(&x);
}

/* Silence about directed routes is waited for together, as no switch is at work on them: a silent
 * switch with many links costs hardly more than one timeout.
 */
static void test_silent_directed_routes(void **state)
{
	struct port_fixture x = port_setup(LOSE, 64, 0, 100);
	uint64_t from = x.p->now_ns;

	(void)state;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 0xffff;
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	/* Two every quarter of the 100 ms, and the last one's timeout. */
	assert_in_range((x.p->now_ns - from) / MS, 49 * 25, 49 * 25 + 125 + 75);
	port_teardown(&x);
}

/* At its deadline a run ends with what it has. */
static void test_deadline(void **state)
{
	struct port_fixture x = port_setup(LOSE, 16, 3, 100);
	uint64_t from = x.p->now_ns;

	(void)state;
	x.deadline_ns = from + 250 * MS;
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	assert_in_range((x.p->now_ns - from) / MS, 250, 251);
	/* Nothing is sent any more after it. */
	x.p->n_sent = 0;
	assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.p->n_sent, 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	port_teardown(&x);
}

/* What an answer says is a nanosecond old when it comes. */
static uint64_t slow_ns(void *port, const uint8_t *answer)
{
	return port_now_ns(port) / 20 - (answer ? 1 : 0);
}

/* Where the fabric has a time of its own, answers have that; deadlines are the host's. */
static void test_fabric_time(void **state)
{
	const struct ibcc_umad_options o = { .window = 32, .timeout_ms = 100, .retries = 2 };
	struct port_fixture x = port_setup(LOSE_ONCE, 32, 2, 10);
	struct ibcc_port_ops ops = port_ops;
	uint64_t from = x.p->now_ns;

	(void)state;
	ops.fabric_ns = slow_ns;
	ibcc_window_free(x.w);
	x.w = ibcc_window_new(&ops, x.p, &o);
	assert_non_null(x.w);
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++) {
		assert_int_equal(x.op[i].err, 0);
		assert_in_range(x.op[i].sent_ns, from / 20, x.op[i].t_ns);
		assert_in_range(x.op[i].t_ns, from / 20, x.p->now_ns / 20 - 1);
	}
	x.p->how = LOSE;
	from = x.p->now_ns;
	x.deadline_ns = from + 60 * MS;
	assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.op[0].err, -ETIMEDOUT);
	assert_in_range((x.p->now_ns - from) / MS, 60, 62);
	port_teardown(&x);
}

/* What the other side says it cannot deliver costs no timeout. */
static void test_undeliverable(void **state)
{
	struct port_fixture x = port_setup(ECHO, 32, 1, 500);
	uint64_t from = x.p->now_ns;

	(void)state;
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	assert_int_equal(x.stats.sent, 1000);
	assert_true(x.p->now_ns - from < 100 * MS);
	port_teardown(&x);
}

static void test_late_and_repeated_answers(void **state)
{
	struct port_fixture late = port_setup(LATE, 8, 1, 300);
	struct port_fixture twice = port_setup(TWICE, 8, 0, 300);

	(void)state;
	assert_int_equal(port_run(&late), 0);
	port_assert_answered(&late);
	assert_true(ibcc_window_drain(late.w));
	port_teardown(&late);
	assert_int_equal(port_run(&twice), 0);
	port_assert_answered(&twice);
	port_teardown(&twice);
}

static void test_garbage(void **state)
{
	struct port_fixture x = port_setup(GARBAGE, 8, 0, 300);

	(void)state;
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	port_teardown(&x);
}

static void test_busy_is_tried_again(void **state)
{
	struct port_fixture x = port_setup(BUSY_ONCE, 8, 1, 50);
	struct port_fixture never = port_setup(BUSY_ONCE, 8, 0, 50);

	(void)state;
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	port_teardown(&x);
	assert_int_equal(port_run(&never), 0);
	assert_int_equal(never.op[0].err, -EREMOTEIO);
	assert_int_equal(never.op[0].status, 1);
	port_teardown(&never);
}

static void test_status(void **state)
{
	struct port_fixture x = port_setup(STATUS, 8, 3, 50);

	(void)state;
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++) {
		assert_int_equal(x.op[i].err, -EREMOTEIO);
		assert_int_equal(x.op[i].status, 0x1c);
	}
	assert_int_equal(x.stats.sent, 50);
	port_teardown(&x);
}

static void test_sets_are_counted_once(void **state)
{
	struct port_fixture x = port_setup(LOSE_ONCE, 8, 1, 10);

	(void)state;
	for (size_t i = 0; i < 5; i++)
		x.op[i].mad[3] = IBCC_MAD_SET;
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	assert_int_equal(x.stats.sets, 5);
	port_teardown(&x);
}

/* A server that does not read: 128 datagrams at most may lie in its queue, or a write would hang.
 * After that single probes, ever more seldom, find out when it is back.
 */
static void test_mute_server(void **state)
{
	struct port_fixture x = port_setup(LOSE, 64, 1, 1000);
	unsigned int sent;

	(void)state;
	assert_int_equal(port_run(&x), 0); /* the port is there */
	assert_int_equal(x.p->n_sent, 128 + 1);
	for (size_t i = 0; i < x.n; i++)
		assert_true(x.op[i].err == -EIO || x.op[i].err == -ETIMEDOUT);
	sent = x.p->n_sent;
	assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.p->n_sent, sent);
	x.p->now_ns += 60000 * MS;
	assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.p->n_sent, sent + 1);
	assert_false(ibcc_window_drain(x.w));
	/* It reads again: the next probe brings all back. */
	x.p->how = ANSWER;
	x.p->now_ns += 60000 * MS;
	x.stats = (struct ibcc_transport_stats){ 0 };
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	assert_true(ibcc_window_drain(x.w));
	port_teardown(&x);
}

/* Loss of single requests, however many, is not taken for a server that is gone. */
static void test_scattered_loss_is_not_mute(void **state)
{
	struct port_fixture x = port_setup(ANSWER, 16, 0, 1000);

	(void)state;
	for (int round = 0; round < 10; round++) {
		x.p->how = LOSE;
		x.n = 20;
		assert_int_equal(port_run(&x), 0);
		x.p->how = ANSWER;
		x.n = 1000;
		assert_int_equal(port_run(&x), 0);
	}
	assert_true(ibcc_window_drain(x.w));
	port_teardown(&x);
}

static void test_port_gone(void **state)
{
	struct port_fixture x = port_setup(ANSWER, 16, 3, 100);

	(void)state;
	x.p->send_err = -ENODEV;
	x.p->send_errs_after = 50;
	assert_int_equal(port_run(&x), -EIO);
	assert_int_equal(x.p->n_sent, 50);
	for (size_t i = 50; i < x.n; i++)
		assert_int_equal(x.op[i].err, -EIO);
	assert_int_equal(port_run(&x), -EIO);
	assert_true(ibcc_window_drain(x.w));
	port_teardown(&x);
}

/* A single request that cannot be sent does not stop the others. */
static void test_send_fails(void **state)
{
	struct port_fixture x = port_setup(ANSWER, 16, 3, 10);

	(void)state;
	x.p->send_err = -EIO;
	assert_int_equal(port_run(&x), 0);
	assert_int_equal(x.op[9].err, -EIO);
	x.p->send_err = 0;
	x.stats = (struct ibcc_transport_stats){ 0 };
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	port_teardown(&x);
}

static void test_cancel(void **state)
{
	struct port_fixture x = port_setup(LOSE, 16, 5, 100);

	(void)state;
	ibcc_window_cancel(x.w); /* nothing runs: no effect */
	x.p->cancel_in_recv = x.w;
	assert_int_equal(port_run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ECANCELED);
	x.p->cancel_in_recv = NULL;
	x.p->how = ANSWER;
	x.stats = (struct ibcc_transport_stats){ 0 };
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	port_teardown(&x);
}

struct canceller {
	struct ibcc_window *w;
	_Atomic bool stop;
};

static void *keep_cancelling(void *arg)
{
	struct canceller *c = arg;

	while (!c->stop)
		ibcc_window_cancel(c->w);
	return NULL;
}

/* From another thread, at any moment; a sanitizer for threads has something to look at. */
static void test_cancel_from_a_thread(void **state)
{
	struct port_fixture x = port_setup(ANSWER, 2, 1, 400);
	struct canceller c = { .w = x.w };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, keep_cancelling, &c), 0);
	for (int i = 0; i < 50; i++) {
		x.p->now_ns += MS; /* for the answers to what was cancelled */
		assert_int_equal(port_run(&x), 0);
		for (size_t k = 0; k < x.n; k++)
			assert_true(x.op[k].err == 0 || x.op[k].err == -ECANCELED);
	}
	c.stop = true;
	pthread_join(thread, NULL);
	x.stats = (struct ibcc_transport_stats){ 0 };
	assert_int_equal(port_run(&x), 0);
	port_assert_answered(&x);
	port_teardown(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_only_the_tid_changes),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_dead_node),
		cmocka_unit_test(test_accounts),
		cmocka_unit_test(test_silent_directed_routes),
		cmocka_unit_test(test_share_of_a_node),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_fabric_time),
		cmocka_unit_test(test_undeliverable),
		cmocka_unit_test(test_late_and_repeated_answers),
		cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_busy_is_tried_again),
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_sets_are_counted_once),
		cmocka_unit_test(test_mute_server),
		cmocka_unit_test(test_scattered_loss_is_not_mute),
		cmocka_unit_test(test_port_gone),
		cmocka_unit_test(test_send_fails),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_cancel_from_a_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
