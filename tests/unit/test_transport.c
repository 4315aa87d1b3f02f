/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The window of requests over a port that loses, repeats, delays and mixes up datagrams, on a clock
 * of its own; the fault transport.
 */
#include "tests/unit/fake_fabric.h"

#include <pthread.h>

#include "lib/io/window.h"

#define MS       1000000ull
#define MAX_SENT 4096

enum behaviour {
	ANSWER,
	LOSE,      /* nothing ever comes back */
	LOSE_ONCE, /* of each request the first attempt */
	ECHO,      /* undeliverable, said at once */
	LATE,      /* answers the first attempt only after its time, then the next one too */
	TWICE,
	BUSY_ONCE,
	STATUS,
	GARBAGE, /* before the answer: other class, other attribute, a request, half a datagram */
};

/* A far end that keeps a queue of what it will say. */
struct port {
	enum behaviour how;
	uint64_t now_ns, latency_ns;
	struct datagram {
		uint8_t mad[IBCC_MAD_BYTES];
		bool undeliverable;
		int len;
		uint64_t at_ns;
	} queue[MAX_SENT];
	size_t n_queue;
	unsigned int n_sent, open, most_open;
	unsigned int attempts[MAX_SENT]; /* by attribute modifier, which numbers the requests */
	uint32_t tid[MAX_SENT];
	int send_err;
	unsigned int send_errs_after;
	struct ibcc_window *cancel_in_recv;
	unsigned int last_timeout_ms;
	uint16_t dead_lid; /* keeps silent whatever the others do */
	unsigned int dead_asked;
};

static void say(struct port *p, const uint8_t *mad, uint64_t delay_ns, bool undeliverable, int len)
{
	struct datagram *d = &p->queue[p->n_queue++];

	assert_true(p->n_queue < MAX_SENT);
	memcpy(d->mad, mad, IBCC_MAD_BYTES);
	d->undeliverable = undeliverable;
	d->len = len;
	d->at_ns = p->now_ns + delay_ns;
}

static uint32_t modifier(const uint8_t *mad)
{
	uint32_t v;

	memcpy(&v, mad + 20, 4);
	return be32toh(v);
}

static int port_send(void *port, const struct ibcc_mad_op *op, unsigned int timeout_ms)
{
	struct port *p = port;
	uint8_t mad[IBCC_MAD_BYTES], other[IBCC_MAD_BYTES];
	uint32_t request = modifier(op->mad) % MAX_SENT;
	bool first = p->attempts[request]++ == 0;
	uint64_t tid;

	if (p->send_err && p->n_sent >= p->send_errs_after)
		return p->send_err;
	memcpy(&tid, op->mad + 8, 8);
	tid = be64toh(tid);
	assert_true(tid <= UINT32_MAX); /* the upper half is the kernel's, or umad2sim's */
	p->tid[p->n_sent++ % MAX_SENT] = (uint32_t)tid;
	p->last_timeout_ms = timeout_ms;
	p->open++;
	if (p->open > p->most_open)
		p->most_open = p->open;

	if (op->lid && op->lid == p->dead_lid) {
		p->dead_asked++;
		return 0;
	}
	memcpy(mad, op->mad, sizeof(mad));
	mad[3] = 0x81;
	mad[100] = (uint8_t)request;
	switch (p->how) {
	case ANSWER: break;
	case LOSE: return 0;
	case LOSE_ONCE:
		if (first)
			return 0;
		break;
	case ECHO: say(p, op->mad, p->latency_ns, true, 24); return 0;
	case LATE:
		if (first) {
			mad[100] = 0xee;
			say(p, mad, (timeout_ms + timeout_ms / 2) * MS, false, 256);
			return 0;
		}
		break;
	case TWICE: say(p, mad, p->latency_ns, false, 256); break;
	case BUSY_ONCE: mad[5] = first ? 0x01 : 0; break;
	case STATUS: mad[5] = 0x1c; break;
	case GARBAGE:
		memcpy(other, mad, sizeof(other));
		other[1] ^= 1;
		say(p, other, p->latency_ns, false, 256);
		memcpy(other, mad, sizeof(other));
		other[17] ^= 1;
		say(p, other, p->latency_ns, false, 256);
		say(p, op->mad, p->latency_ns, false, 256);
		say(p, mad, p->latency_ns, false, 100);
		say(p, mad, p->latency_ns, false, 3);
		memset(other, 0xff, sizeof(other));
		say(p, other, p->latency_ns, false, 256);
		break;
	}
	say(p, mad, p->latency_ns, false, 256);
	return 0;
}

static int port_recv(void *port, uint8_t mad[IBCC_MAD_BYTES], bool *undeliverable, int wait_ms)
{
	struct port *p = port;
	struct datagram *d = NULL;
	int len;

	if (p->cancel_in_recv)
		ibcc_window_cancel(p->cancel_in_recv);
	for (size_t i = 0; i < p->n_queue; i++) {
		if (!d || p->queue[i].at_ns < d->at_ns)
			d = &p->queue[i];
	}
	if (!d || d->at_ns > p->now_ns + (uint64_t)wait_ms * MS) {
		p->now_ns += (uint64_t)wait_ms * MS;
		return -EAGAIN;
	}
	if (d->at_ns > p->now_ns)
		p->now_ns = d->at_ns;
	memcpy(mad, d->mad, IBCC_MAD_BYTES);
	*undeliverable = d->undeliverable;
	len = d->len;
	p->open -= p->open > 0;
	*d = p->queue[--p->n_queue];
	return len;
}

static uint64_t port_now_ns(void *port)
{
	return ((struct port *)port)->now_ns;
}

static const struct ibcc_port_ops port_ops = {
	.send = port_send,
	.recv = port_recv,
	.now_ns = port_now_ns,
};

struct fixture {
	struct port *p;
	struct ibcc_window *w;
	struct ibcc_transport_stats stats;
	uint64_t deadline_ns;
	struct ibcc_mad_op *op;
	size_t n;
};

static struct fixture setup(enum behaviour how, unsigned int window, unsigned int retries, size_t n)
{
	struct fixture x = { .p = calloc(1, sizeof(*x.p)), .n = n };

	x.op = calloc(n, sizeof(*x.op));
	assert_non_null(x.p);
	assert_non_null(x.op);
	x.p->how = how;
	x.p->now_ns = 7000000000;
	x.p->latency_ns = 30000;
	x.w = ibcc_window_new(&port_ops, x.p, window, 100, retries);
	assert_non_null(x.w);
	for (size_t i = 0; i < n; i++) {
		x.op[i].lid = (uint16_t)(1 + i); /* a node of its own for each */
		ibcc_mad_request(x.op[i].mad, IBCC_MAD_CLASS_CC, IBCC_MAD_GET, 0x17, (uint32_t)i);
	}
	return x;
}

static void teardown(struct fixture *x)
{
	ibcc_window_free(x->w);
	free(x->op);
	free(x->p);
}

static int run(struct fixture *x)
{
	return ibcc_window_run(x->w, x->op, x->n, x->deadline_ns, &x->stats);
}

/* All were answered, each with its own answer. */
static void assert_answered(const struct fixture *x)
{
	for (size_t i = 0; i < x->n; i++) {
		assert_int_equal(x->op[i].err, 0);
		assert_int_equal(x->op[i].mad[100], i % 256);
		assert_true(x->op[i].t_ns > 7000000000);
	}
	assert_int_equal(x->stats.answered, x->n);
	assert_int_equal(x->stats.timed_out, 0);
}

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
		struct fixture x = setup(ANSWER, windows[i], 0, 2000);

		assert_int_equal(run(&x), 0);
		assert_answered(&x);
		assert_int_equal(x.p->most_open, expected[i]);
		assert_int_equal(x.stats.sent, 2000);
		assert_int_equal(x.stats.sets, 0);
		assert_true(ibcc_window_drain(x.w));
		qsort(x.p->tid, 2000, sizeof(x.p->tid[0]), by_tid);
		for (size_t k = 1; k < 2000; k++)
			assert_true(x.p->tid[k] != x.p->tid[k - 1]);
		teardown(&x);
	}
}

/* The hops of a directed route lie in the header; a run leaves all of a request but its
 * transaction ID as it is.
 */
static void test_only_the_tid_changes(void **state)
{
	struct fixture x = setup(ECHO, 0, 0, 1);
	struct ibcc_smp_path path = { .hops = 3, .port = { 0, 4, 5, 6 } };
	uint8_t before[IBCC_MAD_BYTES];

	(void)state;
	ibcc_smp_direct_get(x.op[0].mad, &path, IBCC_SMP_ATTR_NODE_INFO, 0);
	memcpy(before, x.op[0].mad, sizeof(before));
	assert_int_equal(run(&x), 0);
	memcpy(before + 8, x.op[0].mad + 8, 8);
	assert_memory_equal(before, x.op[0].mad, sizeof(before));
	assert_int_equal(x.op[0].mad[7], 3);
	teardown(&x);
}

static void test_retry(void **state)
{
	struct fixture x = setup(LOSE_ONCE, 32, 1, 500);

	(void)state;
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	assert_int_equal(x.stats.sent, 1000);
	assert_int_equal(x.stats.retried, 500);
	teardown(&x);
}

static void test_timeout(void **state)
{
	struct fixture x = setup(LOSE, 32, 2, 10);
	uint64_t from = x.p->now_ns;

	(void)state;
	assert_int_equal(run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	assert_int_equal(x.stats.timed_out, 10);
	assert_int_equal(x.stats.sent, 30);
	/* 100, 200 and 400 ms for the kernel, a quarter more for us, and pauses of 10 and 20 ms. */
	assert_int_equal(x.p->last_timeout_ms, 400);
	assert_in_range((x.p->now_ns - from) / MS, 905, 915);
	teardown(&x);
}

/* A silent node costs the attempts of one request and no other node's time. */
static void test_dead_node(void **state)
{
	struct fixture x = setup(ANSWER, 64, 2, 400);
	uint64_t from = x.p->now_ns;

	(void)state;
	x.p->dead_lid = 2;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = i < 200 ? 2 : 1;
	assert_int_equal(run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, i < 200 ? -ETIMEDOUT : 0);
	assert_int_equal(x.p->dead_asked, 3 * IBCC_WINDOW_NODE_MAX);
	assert_int_equal(x.stats.timed_out, 200);
	for (size_t i = 200; i < x.n; i++)
		assert_true(x.op[i].t_ns - from < 100 * MS);
	assert_in_range((x.p->now_ns - from) / MS, 905, 915);
	/* The next run asks again. */
	x.p->dead_lid = 0;
	assert_int_equal(run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, 0);
	teardown(&x);
}

static void test_share_of_a_node(void **state)
{
	struct fixture x = setup(ANSWER, 64, 0, 100);

	(void)state;
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 1;
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	assert_int_equal(x.p->most_open, IBCC_WINDOW_NODE_MAX);
	teardown(&x);
	/* Directed routes all have the permissive LID. */
	x = setup(ANSWER, 64, 0, 100);
	for (size_t i = 0; i < x.n; i++)
		x.op[i].lid = 0xffff;
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	assert_int_equal(x.p->most_open, 64);
	teardown(&x);
}

/* At its deadline a run ends with what it has. */
static void test_deadline(void **state)
{
	struct fixture x = setup(LOSE, 16, 3, 100);
	uint64_t from = x.p->now_ns;

	(void)state;
	x.deadline_ns = from + 250 * MS;
	assert_int_equal(run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	assert_in_range((x.p->now_ns - from) / MS, 250, 251);
	/* Nothing is sent any more after it. */
	x.p->n_sent = 0;
	assert_int_equal(run(&x), 0);
	assert_int_equal(x.p->n_sent, 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	teardown(&x);
}

/* What the other side says it cannot deliver costs no timeout. */
static void test_undeliverable(void **state)
{
	struct fixture x = setup(ECHO, 32, 1, 500);
	uint64_t from = x.p->now_ns;

	(void)state;
	assert_int_equal(run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ETIMEDOUT);
	assert_int_equal(x.stats.sent, 1000);
	assert_true(x.p->now_ns - from < 100 * MS);
	teardown(&x);
}

static void test_late_and_repeated_answers(void **state)
{
	struct fixture late = setup(LATE, 8, 1, 300);
	struct fixture twice = setup(TWICE, 8, 0, 300);

	(void)state;
	assert_int_equal(run(&late), 0);
	assert_answered(&late);
	assert_true(ibcc_window_drain(late.w));
	teardown(&late);
	assert_int_equal(run(&twice), 0);
	assert_answered(&twice);
	teardown(&twice);
}

static void test_garbage(void **state)
{
	struct fixture x = setup(GARBAGE, 8, 0, 300);

	(void)state;
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	teardown(&x);
}

static void test_busy_is_tried_again(void **state)
{
	struct fixture x = setup(BUSY_ONCE, 8, 1, 50);
	struct fixture never = setup(BUSY_ONCE, 8, 0, 50);

	(void)state;
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	teardown(&x);
	assert_int_equal(run(&never), 0);
	assert_int_equal(never.op[0].err, -EREMOTEIO);
	assert_int_equal(never.op[0].status, 1);
	teardown(&never);
}

static void test_status(void **state)
{
	struct fixture x = setup(STATUS, 8, 3, 50);

	(void)state;
	assert_int_equal(run(&x), 0);
	for (size_t i = 0; i < x.n; i++) {
		assert_int_equal(x.op[i].err, -EREMOTEIO);
		assert_int_equal(x.op[i].status, 0x1c);
	}
	assert_int_equal(x.stats.sent, 50);
	teardown(&x);
}

static void test_sets_are_counted_once(void **state)
{
	struct fixture x = setup(LOSE_ONCE, 8, 1, 10);

	(void)state;
	for (size_t i = 0; i < 5; i++)
		x.op[i].mad[3] = IBCC_MAD_SET;
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	assert_int_equal(x.stats.sets, 5);
	teardown(&x);
}

/* A server that does not read: 128 datagrams at most may lie in its queue, or a write would hang.
 * After that single probes, ever more seldom, find out when it is back.
 */
static void test_mute_server(void **state)
{
	struct fixture x = setup(LOSE, 64, 1, 1000);
	unsigned int sent;

	(void)state;
	assert_int_equal(run(&x), 0); /* the port is there */
	assert_int_equal(x.p->n_sent, 128 + 1);
	for (size_t i = 0; i < x.n; i++)
		assert_true(x.op[i].err == -EIO || x.op[i].err == -ETIMEDOUT);
	sent = x.p->n_sent;
	assert_int_equal(run(&x), 0); /* the port is there */
	assert_int_equal(x.p->n_sent, sent);
	x.p->now_ns += 60000 * MS;
	assert_int_equal(run(&x), 0); /* the port is there */
	assert_int_equal(x.p->n_sent, sent + 1);
	assert_false(ibcc_window_drain(x.w));
	/* It reads again: the next probe brings all back. */
	x.p->how = ANSWER;
	x.p->now_ns += 60000 * MS;
	x.stats = (struct ibcc_transport_stats){ 0 };
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	assert_true(ibcc_window_drain(x.w));
	teardown(&x);
}

/* Loss of single requests, however many, is not taken for a server that is gone. */
static void test_scattered_loss_is_not_mute(void **state)
{
	struct fixture x = setup(ANSWER, 16, 0, 1000);

	(void)state;
	for (int round = 0; round < 10; round++) {
		x.p->how = LOSE;
		x.n = 20;
		assert_int_equal(run(&x), 0);
		x.p->how = ANSWER;
		x.n = 1000;
		assert_int_equal(run(&x), 0);
	}
	assert_true(ibcc_window_drain(x.w));
	teardown(&x);
}

static void test_port_gone(void **state)
{
	struct fixture x = setup(ANSWER, 16, 3, 100);

	(void)state;
	x.p->send_err = -ENODEV;
	x.p->send_errs_after = 50;
	assert_int_equal(run(&x), -EIO);
	assert_int_equal(x.p->n_sent, 50);
	for (size_t i = 50; i < x.n; i++)
		assert_int_equal(x.op[i].err, -EIO);
	assert_int_equal(run(&x), -EIO);
	assert_true(ibcc_window_drain(x.w));
	teardown(&x);
}

/* A single request that cannot be sent does not stop the others. */
static void test_send_fails(void **state)
{
	struct fixture x = setup(ANSWER, 16, 3, 10);

	(void)state;
	x.p->send_err = -EIO;
	assert_int_equal(run(&x), 0);
	assert_int_equal(x.op[9].err, -EIO);
	x.p->send_err = 0;
	x.stats = (struct ibcc_transport_stats){ 0 };
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	teardown(&x);
}

static void test_cancel(void **state)
{
	struct fixture x = setup(LOSE, 16, 5, 100);

	(void)state;
	ibcc_window_cancel(x.w); /* nothing runs: no effect */
	x.p->cancel_in_recv = x.w;
	assert_int_equal(run(&x), 0);
	for (size_t i = 0; i < x.n; i++)
		assert_int_equal(x.op[i].err, -ECANCELED);
	x.p->cancel_in_recv = NULL;
	x.p->how = ANSWER;
	x.stats = (struct ibcc_transport_stats){ 0 };
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	teardown(&x);
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
	struct fixture x = setup(ANSWER, 2, 1, 400);
	struct canceller c = { .w = x.w };
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, keep_cancelling, &c), 0);
	for (int i = 0; i < 50; i++) {
		x.p->now_ns += MS; /* for the answers to what was cancelled */
		assert_int_equal(run(&x), 0);
		for (size_t k = 0; k < x.n; k++)
			assert_true(x.op[k].err == 0 || x.op[k].err == -ECANCELED);
	}
	c.stop = true;
	pthread_join(thread, NULL);
	x.stats = (struct ibcc_transport_stats){ 0 };
	assert_int_equal(run(&x), 0);
	assert_answered(&x);
	teardown(&x);
}

static void ask(struct ibcc_mad_op *op, const struct ibcc_topo *t, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		op[i] = (struct ibcc_mad_op){ .lid = t->port[t->endport[i % t->n_endports]].lid };
		ibcc_mad_request(op[i].mad, IBCC_MAD_CLASS_PERF, IBCC_MAD_GET, 0x01, 0);
	}
}

static void test_fault_rates(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	struct ibcc_fault_options o = { .seed = 3, .loss_permille = 250, .corrupt_permille = 500 };
	static struct ibcc_mad_op op[4000], again[4000];
	unsigned int lost = 0, corrupt = 0;

	(void)state;
	for (int round = 0; round < 2; round++) {
		struct ibcc_transport *tr = ibcc_fault_new(&fake_fabric(t)->base, &o);

		ask(round ? again : op, t, 4000);
		assert_int_equal(ibcc_transport_run(tr, round ? again : op, 4000), 0);
		assert_int_equal(tr->stats.sent, 4000);
		ibcc_transport_free(tr);
	}
	for (size_t i = 0; i < 4000; i++) {
		struct ibcc_pma_class_port_info cpi;
		uint8_t rest = 0;

		assert_int_equal(op[i].err, again[i].err);
		assert_memory_equal(op[i].mad, again[i].mad, IBCC_MAD_BYTES);
		if (op[i].err) {
			assert_int_equal(op[i].err, -ETIMEDOUT);
			lost++;
			continue;
		}
		ibcc_pma_class_port_info_unpack(op[i].mad, &cpi);
		for (size_t k = 64 + 8; k < IBCC_MAD_BYTES; k++)
			rest |= op[i].mad[k];
		corrupt += rest || cpi.base_version != 1 || cpi.class_version != 1 ||
			   cpi.cap_mask != 0x1300 || cpi.cap_mask2 != 2 || cpi.resp_time != 0;
	}
	/* Five standard deviations around the means. */
	assert_in_range(lost, 1000 - 137, 1000 + 137);
	assert_in_range(corrupt, 1500 - 137, 1500 + 137);
	ibcc_topo_free(t);
}

static void test_fault_one_lid_and_end(void **state)
{
	struct ibcc_topo *t = fabric_lustre();
	uint16_t lid = t->port[t->endport[2]].lid;
	struct ibcc_fault_options o = { .loss_permille = 1000, .lid = lid, .fail_after = 100 };
	struct ibcc_transport *tr = ibcc_fault_new(&fake_fabric(t)->base, &o);
	struct ibcc_mad_op op[120];

	(void)state;
	ask(op, t, 120);
	assert_int_equal(ibcc_transport_run(tr, op, 120), -EIO);
	for (size_t i = 0; i < 100; i++)
		assert_int_equal(op[i].err, op[i].lid == lid ? -ETIMEDOUT : 0);
	for (size_t i = 100; i < 120; i++)
		assert_int_equal(op[i].err, -EIO);
	ibcc_transport_free(tr);
	assert_null(ibcc_fault_new(NULL, &o));
	ibcc_topo_free(t);
}

/* Without a device: words, no port. */
static void test_no_device(void **state)
{
	struct ibcc_umad_options o = { .ca = "no_such_device" };
	char why[100] = "";
	int err = 0;

	(void)state;
	assert_null(ibcc_umad_open(&o, &err, why, sizeof(why)));
	assert_int_equal(err, -ENODEV);
	assert_true(strlen(why) > 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_only_the_tid_changes),
		cmocka_unit_test(test_retry),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_dead_node),
		cmocka_unit_test(test_share_of_a_node),
		cmocka_unit_test(test_deadline),
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
		cmocka_unit_test(test_fault_rates),
		cmocka_unit_test(test_fault_one_lid_and_end),
		cmocka_unit_test(test_no_device),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
