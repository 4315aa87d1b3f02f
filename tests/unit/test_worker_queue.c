/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* In which order the worker takes tasks; worker_queue.c says why. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "daemon/worker_impl.h"

#define ALICE 1001u
#define BOB   1002u

static void put(struct ibcc_queue *q, uint64_t client, enum ibcc_task_rank rank, uid_t uid)
{
	struct ibcc_task *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	*t = (struct ibcc_task){ .client = client, .rank = rank, .uid = uid };
	ibcc_queue_push(q, t);
}

/* Takes one after a task of `last`; its user. */
static uid_t assert_next(struct ibcc_queue *q, uid_t last, uint64_t client)
{
	struct ibcc_task *t = ibcc_queue_pick(q, last);
	uid_t uid;

	assert_non_null(t);
	assert_int_equal(t->client, client);
	uid = t->uid;
	ibcc_task_free(t);
	return uid;
}

static void test_ranks(void **state)
{
	struct ibcc_queue q;

	(void)state;
	ibcc_queue_init(&q);
	assert_null(ibcc_queue_pick(&q, 0));
	for (uint64_t i = 1; i <= 8; i++)
		put(&q, i, IBCC_RANK_READER, ALICE);
	put(&q, 20, IBCC_RANK_WRITER, BOB);
	put(&q, 30, IBCC_RANK_TRUSTED, 0);
	put(&q, 31, IBCC_RANK_TRUSTED, 0);
	put(&q, 40, IBCC_RANK_OWN, 0);
	assert_next(&q, ALICE, 40);
	assert_next(&q, ALICE, 30);
	assert_next(&q, 0, 31);
	assert_next(&q, 0, 20);
	for (uint64_t i = 1; i <= 8; i++)
		assert_next(&q, ALICE, i);
	assert_null(ibcc_queue_pick(&q, ALICE));
	/* The end of the list is found again once it is empty, and when its last was taken out. */
	put(&q, 50, IBCC_RANK_READER, BOB);
	put(&q, 51, IBCC_RANK_TRUSTED, 0);
	assert_next(&q, 0, 51);
	put(&q, 52, IBCC_RANK_READER, BOB);
	assert_next(&q, 0, 50);
	assert_next(&q, 0, 52);
}

/* However many a user asks for, another one waits for one of them. */
static void test_users_take_turns(void **state)
{
	struct ibcc_queue q;
	uid_t last = ALICE;

	(void)state;
	ibcc_queue_init(&q);
	for (uint64_t i = 1; i <= 4; i++)
		put(&q, i, IBCC_RANK_READER, ALICE);
	put(&q, 11, IBCC_RANK_READER, BOB);
	put(&q, 12, IBCC_RANK_READER, BOB);
	last = assert_next(&q, last, 11);
	last = assert_next(&q, last, 1);
	last = assert_next(&q, last, 12);
	for (uint64_t i = 2; i <= 4; i++)
		last = assert_next(&q, last, i);
}

static void test_client_gone(void **state)
{
	struct ibcc_queue q;

	(void)state;
	ibcc_queue_init(&q);
	put(&q, 0, IBCC_RANK_OWN, 0);
	put(&q, 1, IBCC_RANK_READER, ALICE);
	put(&q, 2, IBCC_RANK_READER, ALICE);
	assert_null(ibcc_queue_take_client(&q, 0)); /* the daemon's own is no client's */
	assert_null(ibcc_queue_take_client(&q, 3));
	ibcc_task_free(ibcc_queue_take_client(&q, 2));
	put(&q, 4, IBCC_RANK_READER, ALICE);
	assert_next(&q, ALICE, 0);
	assert_next(&q, ALICE, 1);
	assert_next(&q, ALICE, 4);
	assert_null(ibcc_queue_pick(&q, ALICE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_users_take_turns),
		cmocka_unit_test(test_client_gone),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
