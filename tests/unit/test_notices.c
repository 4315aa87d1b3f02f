/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Subscriptions with a subnet administration of our own in place of lib/mad/sa_client.c. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibcc/notice.h>

#include "lib/mad/sa_client.h"

#define SUBSCRIBE (56 + 23) /* InformInfo:Subscribe in a SubnAdm MAD (IBA volume 1, 13.4.8.3) */
#define GET_RESP  0x81
#define INVALID   0x0200 /* ERR_REQ_INVALID */
#define TRAPS     4u
#define WAIT_MS   20000u

/* What it answers when a subscription is to be taken back: a status, or a negative errno. */
static atomic_int taking_back;
static atomic_uint silent_from; /* this subscription on, counted from one, it does not answer; 0:
				   always does */
static atomic_uint n_asked, n_taken_back;

int ibcc_sa_open(struct ibcc_sa_client *c, const struct ibcc_umad_options *o)
{
	(void)o;
	c->hears = true;
	return 0;
}

void ibcc_sa_close(struct ibcc_sa_client *c)
{
	(void)c;
}

int ibcc_sa_send(struct ibcc_sa_client *c, const uint8_t *mad, int timeout_ms)
{
	(void)c;
	(void)mad;
	(void)timeout_ms;
	return 0;
}

void ibcc_sa_listen(struct ibcc_sa_client *c, int wait_ms)
{
	(void)c;
	(void)wait_ms;
	usleep(1000);
}

int ibcc_sa_ask(struct ibcc_sa_client *c, uint8_t mad[IBCC_MAD_BYTES], unsigned int tries)
{
	int answer = mad[SUBSCRIBE] ? 0 : atomic_load(&taking_back);

	(void)c;
	(void)tries;
	if (mad[SUBSCRIBE] && atomic_load(&silent_from) &&
	    atomic_load(&n_asked) + 1 >= atomic_load(&silent_from))
		answer = -ETIMEDOUT;
	atomic_fetch_add(mad[SUBSCRIBE] ? &n_asked : &n_taken_back, 1);
	if (answer < 0)
		return answer;
	mad[3] = GET_RESP;
	mad[4] = (uint8_t)(answer >> 8);
	mad[5] = (uint8_t)answer;
	return 0;
}

static void wait_for(atomic_uint *count, unsigned int n)
{
	for (unsigned int ms = 0; ms < WAIT_MS && atomic_load(count) < n; ms++)
		usleep(1000);
	assert_true(atomic_load(count) >= n);
	usleep(20000); /* the answer is taken */
}

/* Gaps that are told when a subscription that was made is renewed, as with another LID it is; in
 * all it is asked so many times to take one back.
 */
static uint64_t gaps(int answer, unsigned int taken_back)
{
	const struct ibcc_umad_options o = { 0 };
	struct ibcc_notices *n;
	struct ibcc_notices_state s;

	atomic_store(&n_asked, 0);
	atomic_store(&n_taken_back, 0);
	atomic_store(&taking_back, answer);
	n = ibcc_notices_new(&o, NULL, 0);
	assert_non_null(n);
	ibcc_notices_set_sm(n, 1);
	wait_for(&n_asked, TRAPS);
	ibcc_notices_look(n, &s);
	assert_true(s.subscribed);
	assert_int_equal(s.n_gaps, 0);
	assert_int_equal(atomic_load(&n_taken_back), 0);
	ibcc_notices_set_sm(n, 2);
	wait_for(&n_asked, 2 * TRAPS);
	ibcc_notices_look(n, &s);
	assert_true(s.subscribed);
	ibcc_notices_free(n);
	assert_int_equal(atomic_load(&n_taken_back), taken_back);
	return s.n_gaps;
}

static void test_one_that_remembers(void **state)
{
	(void)state;
	assert_int_equal(gaps(0, 1 + TRAPS), 0);
}

static void test_one_that_was_started_anew(void **state)
{
	(void)state;
	assert_int_equal(gaps(INVALID, 1 + TRAPS), 1);
}

/* It was stopped, and goes on just in time for the subscriptions, having reported no change.
 */
static void test_one_that_does_not_answer(void **state)
{
	(void)state;
	assert_int_equal(gaps(-ETIMEDOUT, 1 + 1), 1);
}

/* What it told us nothing about it may tell us of. */
static void test_one_that_may_have_heard(void **state)
{
	const struct ibcc_umad_options o = { 0 };
	struct ibcc_notices *n;

	(void)state;
	atomic_store(&n_asked, 0);
	atomic_store(&n_taken_back, 0);
	atomic_store(&taking_back, 0);
	atomic_store(&silent_from, 2);
	n = ibcc_notices_new(&o, NULL, 0);
	assert_non_null(n);
	ibcc_notices_set_sm(n, 1);
	wait_for(&n_asked, 2);
	ibcc_notices_free(n);
	atomic_store(&silent_from, 0);
	assert_int_equal(atomic_load(&n_taken_back), TRAPS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_one_that_remembers),
		cmocka_unit_test(test_one_that_was_started_anew),
		cmocka_unit_test(test_one_that_does_not_answer),
		cmocka_unit_test(test_one_that_may_have_heard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
