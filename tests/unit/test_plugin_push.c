/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The push thread: one plan at a time, stopped by an objection, by a stop, by the end of OpenSM,
 * and a port that broke is opened afresh. The fabric is a memory of what was Set; no time is
 * measured, each wait is for an event.
 */
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/ccmad.h>
#include <ibcc/mad.h>

#include "opensm-plugin/push.h"

#define MAX_LID 300

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t event = PTHREAD_COND_INITIALIZER;
/* under the lock */
static uint8_t memory[MAX_LID][IBCC_CC_DATA_BYTES];
static bool block, running, cancelled, all_signals_blocked;
static int fail_with, open_fails;
static unsigned int n_open, n_free, n_done, n_runs;
static uint64_t last_guid, last_key;
static enum ibcc_proto_refusal objection_now;
static struct ibcc_push *asked; /* stopped at the first objection() */

static int fake_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	int ret = 0;

	(void)t;
	pthread_mutex_lock(&lock);
	n_runs++;
	running = true;
	pthread_cond_broadcast(&event);
	while (block && !cancelled)
		pthread_cond_wait(&event, &lock);
	for (size_t i = 0; i < n; i++) {
		assert_true(op[i].lid < MAX_LID);
		op[i].err = cancelled ? -ECANCELED : fail_with;
		if (op[i].err)
			continue;
		last_key = ibcc_cc_key_unpack(op[i].mad);
		if (op[i].mad[3] == IBCC_MAD_SET)
			memcpy(memory[op[i].lid], op[i].mad + IBCC_MAD_DATA_OFFS,
			       IBCC_CC_DATA_BYTES);
		memcpy(op[i].mad + IBCC_MAD_DATA_OFFS, memory[op[i].lid], IBCC_CC_DATA_BYTES);
	}
	if (fail_with == -EIO)
		ret = -EIO;
	cancelled = false;
	pthread_mutex_unlock(&lock);
	return ret;
}

static uint64_t fake_now(struct ibcc_transport *t)
{
	(void)t;
	return 0;
}

static void fake_cancel(struct ibcc_transport *t)
{
	(void)t;
	pthread_mutex_lock(&lock);
	cancelled = true;
	pthread_cond_broadcast(&event);
	pthread_mutex_unlock(&lock);
}

static void fake_free(struct ibcc_transport *t)
{
	pthread_mutex_lock(&lock);
	n_free++;
	pthread_mutex_unlock(&lock);
	free(t);
}

static struct ibcc_transport *fake_open(void *arg, uint64_t port_guid, int *err, char *why,
					size_t len)
{
	static const struct ibcc_transport_ops ops = {
		.run = fake_run, .now_ns = fake_now, .cancel = fake_cancel, .free = fake_free
	};
	struct ibcc_transport *t = open_fails ? NULL : calloc(1, sizeof(*t));
	sigset_t mask;

	(void)arg;
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	all_signals_blocked = sigismember(&mask, SIGTERM) && sigismember(&mask, SIGHUP) &&
			      sigismember(&mask, SIGINT) && sigismember(&mask, SIGUSR1);
	*err = open_fails;
	snprintf(why, len, "no such port");
	if (!t)
		return NULL;
	t->ops = &ops;
	n_open++;
	last_guid = port_guid;
	return t;
}

static enum ibcc_proto_refusal fake_objection(void *arg)
{
	enum ibcc_proto_refusal r;

	(void)arg;
	pthread_mutex_lock(&lock);
	r = objection_now;
	pthread_mutex_unlock(&lock);
	if (asked)
		ibcc_push_stop(asked, IBCC_REFUSAL_STALE);
	return r;
}

static void fake_done(void *arg)
{
	(void)arg;
	pthread_mutex_lock(&lock);
	n_done++;
	pthread_cond_broadcast(&event);
	pthread_mutex_unlock(&lock);
}

static struct ibcc_push *new_push(void)
{
	static const struct ibcc_push_host host = {
		fake_open, fake_objection, fake_done, IBCC_BOUNDS_DEFAULT, NULL,
	};
	struct ibcc_push *p;

	memset(memory, 0, sizeof(memory));
	block = running = cancelled = false;
	fail_with = open_fails = 0;
	n_open = n_free = n_done = n_runs = 0;
	objection_now = IBCC_REFUSAL_NONE;
	asked = NULL;
	p = ibcc_push_new(&host);
	assert_non_null(p);
	return p;
}

static struct ibcc_plan make_plan(uint32_t n, uint8_t value)
{
	struct ibcc_plan plan = { 0 };

	for (uint32_t i = 0; i < n; i++) {
		struct ibcc_change c = { .node_guid = 1 + i,
					 .lid = (uint16_t)(1 + i),
					 .attr_id = IBCC_CC_ATTR_SW_SETTING };

		c.new_data[50] = value; /* within Marking_Rate */
		assert_int_equal(ibcc_plan_append(&plan, &c), 0);
	}
	return plan;
}

static void start(struct ibcc_push *p, uint32_t n, uint8_t value, uint64_t guid)
{
	struct ibcc_plan plan = make_plan(n, value);

	assert_int_equal(ibcc_push_start(p, &plan, 0xabc, guid), 0);
	assert_int_equal(plan.n, 0);
	assert_null(plan.change);
}

static struct ibcc_plan_report *finish(struct ibcc_push *p, unsigned int done)
{
	struct ibcc_plan_report *r;
	uint64_t ms;

	pthread_mutex_lock(&lock);
	while (n_done < done)
		pthread_cond_wait(&event, &lock);
	pthread_mutex_unlock(&lock);
	assert_true(ibcc_push_busy(p));
	r = ibcc_push_take(p, &ms);
	assert_non_null(r);
	assert_null(ibcc_push_take(p, &ms));
	assert_false(ibcc_push_busy(p));
	return r;
}

static void wait_running(void)
{
	pthread_mutex_lock(&lock);
	while (!running)
		pthread_cond_wait(&event, &lock);
	pthread_mutex_unlock(&lock);
}

static void test_applies(void **state)
{
	struct ibcc_push *p = new_push();
	struct ibcc_plan_report *r;

	(void)state;
	start(p, 200, 7, 0x51);
	r = finish(p, 1);
	assert_int_equal(r->end.err, 0);
	assert_int_equal(r->end.refusal, IBCC_REFUSAL_NONE);
	assert_int_equal(r->result.n, 200);
	assert_int_equal(r->result.n_verified, 200);
	assert_int_equal(r->end.set_mads, 200);
	assert_int_equal(memory[200][50], 7);
	assert_int_equal(last_key, 0xabc);
	assert_int_equal(last_guid, 0x51);
	assert_true(all_signals_blocked);
	ibcc_plan_report_free(r);

	/* The port stays open, until it has to be another one. */
	start(p, 1, 8, 0x51);
	ibcc_plan_report_free(finish(p, 2));
	assert_int_equal(n_open, 1);
	start(p, 1, 9, 0x52);
	ibcc_plan_report_free(finish(p, 3));
	assert_int_equal(n_open, 2);
	assert_int_equal(n_free, 1);
	assert_int_equal(last_guid, 0x52);
	ibcc_push_free(p);
	assert_int_equal(n_free, 2);
	ibcc_push_free(NULL);
}

static void test_busy(void **state)
{
	struct ibcc_push *p = new_push();
	struct ibcc_plan second = make_plan(2, 1);

	(void)state;
	block = true;
	start(p, 1, 7, 1);
	wait_running();
	assert_int_equal(ibcc_push_start(p, &second, 0, 1), -EBUSY);
	assert_int_equal(second.n, 2);
	pthread_mutex_lock(&lock);
	block = false;
	pthread_cond_broadcast(&event);
	pthread_mutex_unlock(&lock);
	ibcc_plan_report_free(finish(p, 1));
	assert_int_equal(ibcc_push_start(p, &second, 0, 1), 0);
	ibcc_plan_report_free(finish(p, 2));
	ibcc_push_free(p);
}

static void test_objection(void **state)
{
	struct ibcc_push *p = new_push();
	struct ibcc_plan_report *r;

	(void)state;
	objection_now = IBCC_REFUSAL_TWO_WRITERS;
	start(p, 3, 7, 1);
	r = finish(p, 1);
	assert_int_equal(r->end.refusal, IBCC_REFUSAL_TWO_WRITERS);
	assert_int_equal(r->end.err, -ECANCELED);
	assert_int_equal(r->end.set_mads, 0);
	assert_int_equal(r->result.n, 3);
	assert_int_equal(r->result.change[2].outcome, IBCC_OUTCOME_PENDING);
	assert_int_equal(n_runs, 0);
	ibcc_plan_report_free(r);
	/* The next one is judged anew. */
	objection_now = IBCC_REFUSAL_NONE;
	start(p, 3, 7, 1);
	r = finish(p, 2);
	assert_int_equal(r->end.refusal, IBCC_REFUSAL_NONE);
	assert_int_equal(r->result.n_verified, 3);
	ibcc_plan_report_free(r);
	ibcc_push_free(p);
}

static void test_stop(void **state)
{
	struct ibcc_push *p = new_push();
	struct ibcc_plan_report *r;

	(void)state;
	ibcc_push_stop(p, IBCC_REFUSAL_STALE); /* nothing runs: no effect */
	start(p, 1, 7, 1);
	r = finish(p, 1);
	assert_int_equal(r->end.refusal, IBCC_REFUSAL_NONE);
	ibcc_plan_report_free(r);
	asked = p;
	start(p, 200, 8, 1);
	r = finish(p, 2);
	assert_int_equal(r->end.refusal, IBCC_REFUSAL_STALE);
	assert_int_equal(r->end.set_mads, 0);
	assert_int_equal(memory[1][50], 7);
	ibcc_plan_report_free(r);
	ibcc_push_free(p);
}

/* OpenSM ends while MADs are in flight that no node answers. */
static void test_end_in_the_middle(void **state)
{
	struct ibcc_push *p = new_push();

	(void)state;
	block = true;
	start(p, 200, 7, 1);
	wait_running();
	ibcc_push_free(p);
	assert_int_equal(n_runs, 1);
	assert_int_equal(n_free, 1);
}

static void test_no_port(void **state)
{
	struct ibcc_push *p = new_push();
	struct ibcc_plan_report *r;

	(void)state;
	open_fails = -EACCES;
	start(p, 1, 7, 1);
	r = finish(p, 1);
	assert_int_equal(r->end.refusal, IBCC_REFUSAL_NO_PORT);
	assert_int_equal(r->end.err, -EACCES);
	assert_non_null(strstr(r->end.text, "no such port"));
	assert_int_equal(r->result.n, 0);
	ibcc_plan_report_free(r);
	open_fails = 0;
	fail_with = -EIO;
	start(p, 1, 7, 1);
	r = finish(p, 2);
	assert_int_equal(r->end.err, -EIO);
	assert_int_equal(n_free, 1); /* broken: closed */
	ibcc_plan_report_free(r);
	fail_with = 0;
	start(p, 1, 7, 1);
	r = finish(p, 3);
	assert_int_equal(r->end.err, 0);
	assert_int_equal(n_open, 2);
	ibcc_plan_report_free(r);
	ibcc_push_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_applies),           cmocka_unit_test(test_busy),
		cmocka_unit_test(test_objection),         cmocka_unit_test(test_stop),
		cmocka_unit_test(test_end_in_the_middle), cmocka_unit_test(test_no_port),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
