/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which client gets the answer of which pass; there is no fabric, so that each ends with an error.
 */
#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "files.h"

#include "daemon/worker.h"

#define PATIENCE_MS 20000

static struct ibcc_worker *start(void)
{
	struct ibcc_config config;
	struct ibcc_why why = { "" };
	struct ibcc_worker *w;
	int err = 0;

	ibcc_config_defaults(&config, NULL);
	snprintf(config.ca, sizeof(config.ca), "none0");
	snprintf(config.state_file, sizeof(config.state_file), "%.200s", files_path("state.db"));
	snprintf(config.plugin_socket, sizeof(config.plugin_socket), "%.100s",
		 files_path("nobody"));
	w = ibcc_worker_new(&config, 0, NULL, &err, &why);
	if (!w)
		fail_msg("%s", why.text);
	return w;
}

static void submit(struct ibcc_worker *w, enum ibcc_task_kind kind, uint64_t client, bool loose)
{
	struct ibcc_task *t = calloc(1, sizeof(*t));

	assert_non_null(t);
	*t = (struct ibcc_task){ .kind = kind,
				 .rank = client ? IBCC_RANK_READER : IBCC_RANK_OWN,
				 .client = client,
				 .skip_unsupported = loose };
	ibcc_worker_submit(w, t);
}

/* The next that is done has to be this client's. */
static void assert_done(struct ibcc_worker *w, uint64_t client)
{
	struct pollfd p = { .fd = ibcc_worker_fd(w), .events = POLLIN };
	struct ibcc_task *t;

	while (!(t = ibcc_worker_done(w)))
		if (poll(&p, 1, PATIENCE_MS) <= 0)
			fail_msg("client %u never gets an answer", (unsigned int)client);
	assert_int_equal(t->client, client);
	assert_int_not_equal(t->err, 0);
	ibcc_task_free(t);
}

/* What is waited for together and is not the same is not made one by the looser: clients 1 and 3
 * want all or nothing, 2 and 4 would have nodes left out. Client 0 asks for passes.
 */
static void test_applies_that_differ(void **state)
{
	struct ibcc_worker *w = start();

	(void)state;
	for (uint64_t client = 1; client <= 4; client++)
		submit(w, IBCC_TASK_APPLY, client, client % 2 == 0);
	submit(w, IBCC_TASK_PASS, 0, false);
	assert_done(w, 1);
	assert_done(w, 3);
	assert_done(w, 0);
	submit(w, IBCC_TASK_PASS, 0, false);
	assert_done(w, 2);
	assert_done(w, 4);
	assert_done(w, 0);
	submit(w, IBCC_TASK_PASS, 0, false);
	assert_done(w, 0);
	ibcc_worker_free(w);
}

/* A task that waits for a pass dies with its client: nothing is begun for one that has hung up. */
static void test_client_gone(void **state)
{
	struct ibcc_worker *w = start();

	(void)state;
	submit(w, IBCC_TASK_APPLY, 1, false);
	submit(w, IBCC_TASK_APPLY, 2, false);
	submit(w, IBCC_TASK_PLAN, 3, false);
	submit(w, IBCC_TASK_PLAN, 4, false);
	submit(w, IBCC_TASK_SHOW, 5, false);
	assert_done(w, 5); /* all before it wait for a pass now */
	ibcc_worker_forget(w, 1);
	ibcc_worker_forget(w, 3);
	ibcc_worker_forget(w, 5); /* has been answered */
	submit(w, IBCC_TASK_PASS, 0, false);
	assert_done(w, 2);
	assert_done(w, 4);
	assert_done(w, 0);
	ibcc_worker_free(w);
}

/* A client that still waits when the daemon ends is not forgotten in memory. */
static void test_end(void **state)
{
	struct ibcc_worker *w = start();

	(void)state;
	submit(w, IBCC_TASK_APPLY, 1, false);
	submit(w, IBCC_TASK_PLAN, 2, false);
	submit(w, IBCC_TASK_SHOW, 3, false);
	assert_done(w, 3);
	ibcc_worker_free(w);
}

/* A plan that is not there yet is waited for until a pass has failed. */
static void test_plan_waits(void **state)
{
	struct ibcc_worker *w = start();

	(void)state;
	submit(w, IBCC_TASK_PLAN, 1, false);
	submit(w, IBCC_TASK_PLAN, 2, false);
	submit(w, IBCC_TASK_SHOW, 3, false);
	assert_done(w, 3);
	submit(w, IBCC_TASK_PASS, 0, false);
	assert_done(w, 1);
	assert_done(w, 2);
	assert_done(w, 0);
	/* From then on the reason is known at once. */
	submit(w, IBCC_TASK_PLAN, 4, false);
	assert_done(w, 4);
	ibcc_worker_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_applies_that_differ),
		cmocka_unit_test(test_plan_waits),
		cmocka_unit_test(test_client_gone),
		cmocka_unit_test(test_end),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
