/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Conversations with the plugin: what is answered to which client. */
#include "conversations.h"

static void test_topology(void **state)
{
	struct ibcc_proto_topo *p = ibcc_proto_topo_new();
	struct ibcc_proto_state end;
	struct ibcc_topo *t;
	int fd = greet(), err;

	(void)state;
	say(fd, IBCC_PROTO_TOPO_GET, 6, NULL, 0);
	for (unsigned int i = 0; i < 8; i++) {
		struct ibcc_proto_header h;
		const void *payload;

		assert_int_equal(ibcc_proto_recv(fd, buf, &h, &payload), 0);
		assert_int_equal(h.type, IBCC_PROTO_TOPO_NODE);
		assert_int_equal(h.seq, 6);
		assert_int_equal(ibcc_proto_topo_add(p, payload, h.length), 0);
	}
	memcpy(&end, expect(fd, IBCC_PROTO_TOPO_END, 6, sizeof(end)), sizeof(end));
	assert_int_equal(end.generation, GENERATION);
	assert_int_equal(end.n_nodes, 8);
	t = ibcc_proto_topo_finish(p, end.generation, &err);
	assert_non_null(t);
	assert_true(ibcc_topo_equal(t, shared->topo));
	ibcc_topo_free(t);
	expect_nothing(fd);
	close(fd);
}

/* Before the first sweep there is nothing, which is an answer too. */
/* A client that asks hears that OpenSM is alive. */
static void test_sign_of_life(void **state)
{
	int fd = greet();

	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		say(fd, IBCC_PROTO_STATE_GET, 7 + i, &no_lease, sizeof(no_lease));
		expect(fd, IBCC_PROTO_STATE, 0, sizeof(struct ibcc_proto_state));
		expect_nothing(fd);
	}
	begin(fd, 8, 1);
	say(fd, IBCC_PROTO_STATE_GET, 8, &no_lease, sizeof(no_lease));
	assert_int_equal(expect_error(fd, 8), IBCC_REFUSAL_BAD_MESSAGE);
}

static void test_no_topology(void **state)
{
	struct ibcc_shared_topo *kept = shared;
	struct ibcc_proto_state end;
	int fd;

	(void)state;
	fd = greet();
	shared = NULL;
	say(fd, IBCC_PROTO_TOPO_GET, 6, NULL, 0);
	memcpy(&end, expect(fd, IBCC_PROTO_TOPO_END, 6, sizeof(end)), sizeof(end));
	assert_int_equal(end.generation, 0);
	assert_int_equal(end.n_nodes, 0);
	shared = kept;
	close(fd);
}

/* A topology that is replaced while it is being sent is sent to its end. */
static void test_topology_replaced(void **state)
{
	struct ibcc_shared_topo *old = shared;
	struct ibcc_proto_state end;
	int fd = greet(), size = 1, i;

	(void)state;
	/* So small that not all nodes fit at once. */
	for (i = 0; i < (int)IBCC_SERVER_CLIENTS; i++)
		if (server.client[i].fd >= 0)
			setsockopt(server.client[i].fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
	say(fd, IBCC_PROTO_TOPO_GET, 6, NULL, 0);
	assert_int_equal(old->refs, 2);
	shared = ibcc_shared_topo_new(ibcc_topo_new());
	shared->topo->generation = GENERATION + 1;
	ibcc_shared_topo_put(old);
	ibcc_server_notify(&server);
	for (i = 0; i < 9; i++) {
		struct ibcc_proto_header h;
		const void *payload;

		do {
			turn();
			assert_int_equal(ibcc_proto_recv(fd, buf, &h, &payload), 0);
		} while (h.type == IBCC_PROTO_STATE);
		assert_int_equal(h.type, i < 8 ? IBCC_PROTO_TOPO_NODE : IBCC_PROTO_TOPO_END);
		if (i == 8)
			memcpy(&end, payload, sizeof(end));
	}
	assert_int_equal(end.generation, GENERATION);
	close(fd);
	turn();
}

static void test_plan(void **state)
{
	struct ibcc_plan_report *r = calloc(1, sizeof(*r));
	struct ibcc_proto_result result;
	struct ibcc_proto_error end;
	int fd = greet(), other = greet();

	(void)state;
	begin(fd, 8, 2);
	change(fd, 8);
	change(fd, 8);
	say(fd, IBCC_PROTO_PLAN_COMMIT, 9, NULL, 0);
	assert_int_equal(taken.n, 2);
	assert_int_equal(taken.generation, GENERATION);
	assert_int_equal(taken_key, 99);
	assert_int_equal(taken.change[1].lid, 3);
	expect_nothing(fd);
	/* Others are served meanwhile, and the client itself hears of the state. */
	say(other, IBCC_PROTO_TOPO_GET, 1, NULL, 0);
	expect(other, IBCC_PROTO_TOPO_NODE, 1, 0);
	ibcc_server_notify(&server);
	expect(fd, IBCC_PROTO_STATE, 0, sizeof(struct ibcc_proto_state));

	assert_int_equal(ibcc_result_init(&r->result, 2), 0);
	r->result.change[0].outcome = IBCC_OUTCOME_FAILED;
	r->result.change[0].status = 0x1c;
	r->end.set_mads = 1;
	ibcc_server_finish(&server, taken_from, r);
	memcpy(&result, expect(fd, IBCC_PROTO_RESULT, 9, sizeof(result)), sizeof(result));
	assert_int_equal(result.index, 0);
	assert_int_equal(result.outcome, IBCC_OUTCOME_FAILED);
	assert_int_equal(result.status, 0x1c);
	memcpy(&result, expect(fd, IBCC_PROTO_RESULT, 9, sizeof(result)), sizeof(result));
	assert_int_equal(result.index, 1);
	assert_int_equal(result.outcome, IBCC_OUTCOME_PENDING);
	memcpy(&end, expect(fd, IBCC_PROTO_PLAN_END, 9, sizeof(end)), sizeof(end));
	assert_int_equal(end.refusal, IBCC_REFUSAL_NONE);
	assert_int_equal(end.set_mads, 1);
	/* And the conversation goes on. */
	say(fd, IBCC_PROTO_TOPO_GET, 10, NULL, 0);
	expect(fd, IBCC_PROTO_TOPO_NODE, 10, 0);
	close(fd);
	close(other);
}

static void test_plan_refused(void **state)
{
	struct ibcc_proto_error end;
	int fd = greet();

	(void)state;
	verdict = IBCC_REFUSAL_NOT_MASTER;
	begin(fd, 8, 1);
	change(fd, 8);
	say(fd, IBCC_PROTO_PLAN_COMMIT, 8, NULL, 0);
	memcpy(&end, expect(fd, IBCC_PROTO_PLAN_END, 8, sizeof(end)), sizeof(end));
	assert_int_equal(end.refusal, IBCC_REFUSAL_NOT_MASTER);
	assert_string_equal(end.text, "because");
	verdict = IBCC_REFUSAL_NONE;
	begin(fd, 9, 0);
	say(fd, IBCC_PROTO_PLAN_COMMIT, 9, NULL, 0);
	assert_int_equal(taken.n, 0);
	expect_nothing(fd);
	close(fd);
}

/* The client goes while its plan is applied: no client gets the report, nothing is lost. */
static void test_plan_client_gone(void **state)
{
	struct ibcc_plan_report *r = calloc(1, sizeof(*r));
	int fd = greet(), other;

	(void)state;
	begin(fd, 8, 1);
	change(fd, 8);
	say(fd, IBCC_PROTO_PLAN_COMMIT, 8, NULL, 0);
	close(fd);
	other = greet();
	assert_int_equal(ibcc_result_init(&r->result, 1), 0);
	ibcc_server_finish(&server, taken_from, r);
	expect_nothing(other);
	close(other);
}

/* OpenSM was stopped, the client has given up, and all that it said is heard only now. */
static void test_plan_given_up(void **state)
{
	int fd = greet(), other;

	(void)state;
	begin(fd, 8, 1);
	change(fd, 8);
	assert_int_equal(ibcc_proto_send(fd, IBCC_PROTO_PLAN_COMMIT, 8, NULL, 0), 0);
	close(fd);
	turn();
	assert_int_equal(taken.n, 0);
	other = greet();
	expect_nothing(other);
	close(other);
}

static void test_plan_bad(void **state)
{
	struct ibcc_proto_plan huge = { .n_changes = UINT32_MAX };
	int fd = greet();

	(void)state;
	begin(fd, 8, 1);
	say(fd, IBCC_PROTO_PLAN_COMMIT, 9, NULL, 0);
	assert_int_equal(expect_error(fd, 9), IBCC_REFUSAL_BAD_MESSAGE);
	fd = greet();
	begin(fd, 8, 0);
	change(fd, 9);
	assert_int_equal(expect_error(fd, 9), IBCC_REFUSAL_BAD_MESSAGE);
	fd = greet();
	change(fd, 9);
	assert_int_equal(expect_error(fd, 9), IBCC_REFUSAL_BAD_MESSAGE);
	fd = greet();
	say(fd, IBCC_PROTO_PLAN_COMMIT, 9, NULL, 0);
	assert_int_equal(expect_error(fd, 9), IBCC_REFUSAL_BAD_MESSAGE);
	fd = greet();
	begin(fd, 8, 1);
	say(fd, IBCC_PROTO_CHANGE, 9, "nonsense", 8);
	assert_int_equal(expect_error(fd, 9), IBCC_REFUSAL_BAD_MESSAGE);
	fd = greet();
	say(fd, IBCC_PROTO_PLAN_BEGIN, 9, &huge, sizeof(huge));
	assert_int_equal(expect_error(fd, 9), IBCC_REFUSAL_BAD_MESSAGE);
	fd = greet();
	begin(fd, 8, 1);
	say(fd, IBCC_PROTO_TOPO_GET, 9, NULL, 0);
	assert_int_equal(expect_error(fd, 9), IBCC_REFUSAL_BAD_MESSAGE);
}

static void test_bad_manners(void **state)
{
	struct ibcc_proto_header h = { IBCC_PROTO_MAGIC, IBCC_PROTO_VERSION + 1, IBCC_PROTO_HELLO,
				       4, 0 };
	int fd = join();

	(void)state;
	say(fd, IBCC_PROTO_TOPO_GET, 3, NULL, 0);
	assert_int_equal(expect_error(fd, 3), IBCC_REFUSAL_BAD_MESSAGE);
	fd = greet();
	say(fd, IBCC_PROTO_HELLO, 3, NULL, 0);
	assert_int_equal(expect_error(fd, 3), IBCC_REFUSAL_BAD_MESSAGE);
	fd = join();
	say(fd, IBCC_PROTO_HELLO, 3, "x", 1);
	assert_int_equal(expect_error(fd, 3), IBCC_REFUSAL_BAD_MESSAGE);
	fd = join();
	assert_int_equal(send(fd, "GET / HTTP/1.0\r\n\r\n", 18, 0), 18);
	assert_int_equal(expect_error(fd, 0), IBCC_REFUSAL_BAD_MESSAGE);
	fd = join();
	assert_int_equal(send(fd, &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(expect_error(fd, 4), IBCC_REFUSAL_VERSION);
	fd = greet(); /* a server's message */
	say(fd, IBCC_PROTO_PLAN_END, 3, NULL, 0);
	assert_int_equal(expect_error(fd, 3), IBCC_REFUSAL_BAD_MESSAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONVERSATION(test_topology),
		CONVERSATION(test_sign_of_life),
		CONVERSATION(test_no_topology),
		CONVERSATION(test_topology_replaced),
		CONVERSATION(test_plan),
		CONVERSATION(test_plan_refused),
		CONVERSATION(test_plan_client_gone),
		CONVERSATION(test_plan_given_up),
		CONVERSATION(test_plan_bad),
		CONVERSATION(test_bad_manners),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
