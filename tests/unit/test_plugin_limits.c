/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* No client can make the plugin wait, grow or fill the log. */
#include "conversations.h"

#include <sys/resource.h>

#include "files.h"

/* The last words are read although much was unread when the plugin hung up. */
static void test_error_survives(void **state)
{
	int fd = join();

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(ibcc_proto_send(fd, IBCC_PROTO_TOPO_GET, 3, NULL, 0), 0);
	assert_int_equal(expect_error(fd, 3), IBCC_REFUSAL_BAD_MESSAGE);
}

static void test_too_many(void **state)
{
	int fd[IBCC_SERVER_CLIENTS], one_more, n_gone = 0;

	(void)state;
	for (unsigned int i = 0; i < IBCC_SERVER_CLIENTS; i++)
		fd[i] = greet();
	one_more = join();
	assert_int_equal(expect_error(one_more, 0), IBCC_REFUSAL_BUSY);
	close(fd[3]);
	turn();
	fd[3] = greet();
	/* The client that has been idle for longest makes room, but not one that has written. */
	begin(fd[0], 8, 0);
	say(fd[0], IBCC_PROTO_PLAN_COMMIT, 8, NULL, 0);
	ibcc_server_finish(&server, taken_from, calloc(1, sizeof(struct ibcc_plan_report)));
	expect(fd[0], IBCC_PROTO_PLAN_END, 8, 0);
	now_ms += 1500;
	for (unsigned int i = 2; i < IBCC_SERVER_CLIENTS; i++)
		say(fd[i], IBCC_PROTO_STATE_GET, 1, &no_lease, sizeof(no_lease));
	one_more = greet();
	assert_int_equal(send(fd[1], "", 1, MSG_NOSIGNAL), -1);
	close(one_more);
	turn();
	for (unsigned int i = 0; i < IBCC_SERVER_CLIENTS; i++) {
		n_gone += server.client[i].fd < 0;
		close(fd[i]);
	}
	assert_int_equal(n_gone, 1);
}

static int join_as(uid_t uid)
{
	struct ucred peer = { .pid = 1, .uid = uid };
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fd), 0);
	ibcc_server_adopt(&server, fd[0], &peer, now_ms);
	return fd[1];
}

/* Has it been refused? It is left to the end of the test. */
static bool is_refused(int fd)
{
	struct ibcc_proto_header h;
	const void *payload;

	return ibcc_proto_recv(fd, buf, &h, &payload) == 0 && h.type == IBCC_PROTO_ERROR;
}

/* Others have so many places each, and not all together. */
static void test_quota(void **state)
{
	unsigned int n = 0, of_uid;
	int fd[64];

	(void)state;
	for (uid_t u = 50000; u < 50003; u++) {
		of_uid = 0;
		for (unsigned int i = 0; i < IBCC_SERVER_OF_UID + 2; i++) {
			fd[n] = join_as(u);
			of_uid += !is_refused(fd[n++]);
		}
		if (u == 50000)
			assert_int_equal(of_uid, IBCC_SERVER_OF_UID);
	}
	for (unsigned int i = 0; i < IBCC_SERVER_KEPT; i++) {
		fd[n] = join_as(0);
		assert_false(is_refused(fd[n++]));
	}
	fd[n] = join_as(0);
	assert_true(is_refused(fd[n++]));
	/* One user's idle ones make room for himself only at first, and root's for root. */
	now_ms += 2000;
	fd[n] = join_as(50000);
	assert_false(is_refused(fd[n++]));
	fd[n] = join_as(0);
	assert_false(is_refused(fd[n++]));
	while (n)
		close(fd[--n]);
	turn();
}

/* A greeting is no reason to keep a place. */
static void test_only_greets(void **state)
{
	int idle = greet(), asks = greet();

	(void)state;
	say(asks, IBCC_PROTO_STATE_GET, 1, &no_lease, sizeof(no_lease));
	expect(asks, IBCC_PROTO_STATE, 0, 0);
	now_ms += 29000;
	ibcc_server_tick(&server, now_ms);
	expect_nothing(idle);
	now_ms += 2000;
	ibcc_server_tick(&server, now_ms);
	expect_end(idle);
	expect_nothing(asks);
	close(asks);
}

/* A client that never reads costs nothing but its place, and that only for a while. */
static void test_never_reads(void **state)
{
	unsigned int sent = 0;
	int mute = join(), fd;

	(void)state;
	assert_int_equal(ibcc_proto_send(mute, IBCC_PROTO_HELLO, 0, NULL, 0), 0);
	while (!ibcc_proto_send(mute, IBCC_PROTO_TOPO_GET, 1, NULL, 0)) {
		turn();
		assert_true(sent++ < 1000);
		ibcc_server_notify(&server);
	}
	fd = greet();
	say(fd, IBCC_PROTO_STATE_GET, 1, &no_lease, sizeof(no_lease));
	expect(fd, IBCC_PROTO_STATE, 0, 0);
	now_ms += 29000;
	ibcc_server_tick(&server, now_ms);
	assert_int_equal(ibcc_proto_send(mute, IBCC_PROTO_TOPO_GET, 1, NULL, 0), -EAGAIN);
	now_ms += 2000;
	ibcc_server_tick(&server, now_ms);
	assert_int_equal(ibcc_proto_send(mute, IBCC_PROTO_TOPO_GET, 1, NULL, 0), -EPIPE);
	say(fd, IBCC_PROTO_TOPO_GET, 1, NULL, 0); /* a client that waits for nothing may stay */
	expect(fd, IBCC_PROTO_TOPO_NODE, 1, 0);
	close(fd);
	close(mute);
}

static bool send_plan(int fd)
{
	struct ibcc_proto_plan p = { .generation = GENERATION };

	return !ibcc_proto_send(fd, IBCC_PROTO_PLAN_BEGIN, 1, &p, sizeof(p)) &&
	       !ibcc_proto_send(fd, IBCC_PROTO_PLAN_COMMIT, 1, NULL, 0);
}

/* Plans whose ends no client reads: the kernel's buffers are all that fills, and the next plan is
 * not looked at before the last one's end went out.
 */
static void test_plans_without_reading(void **state)
{
	unsigned int sent = 0, stuck = 0;
	int mute = join(), fd;

	(void)state;
	verdict = IBCC_REFUSAL_NOT_MASTER;
	assert_int_equal(ibcc_proto_send(mute, IBCC_PROTO_HELLO, 0, NULL, 0), 0);
	turn();
	while (send_plan(mute)) {
		turn();
		assert_true(sent++ < 100000);
	}
	assert_true(sent > 0);
	for (unsigned int i = 0; i < IBCC_SERVER_CLIENTS; i++) {
		const struct ibcc_session *s = &server.client[i].session;

		if (server.client[i].fd < 0)
			continue;
		stuck++;
		assert_false(ibcc_session_wants_input(s));
		assert_true(ibcc_session_has_output(s));
		assert_null(s->plan.change);
	}
	assert_int_equal(stuck, 1);
	fd = greet();
	say(fd, IBCC_PROTO_STATE_GET, 1, &no_lease, sizeof(no_lease));
	expect(fd, IBCC_PROTO_STATE, 0, 0);
	now_ms += 31000;
	ibcc_server_tick(&server, now_ms);
	assert_int_equal(ibcc_proto_send(mute, IBCC_PROTO_TOPO_GET, 1, NULL, 0), -EPIPE);
	expect_nothing(fd);
	close(fd);
	close(mute);
}

static void test_never_speaks(void **state)
{
	int fd = join();

	(void)state;
	now_ms += 31000;
	ibcc_server_tick(&server, now_ms);
	expect_end(fd);
}

/* A plan that is being received costs memory; one that is being applied may take its time. */
static void test_plan_stalls(void **state)
{
	int fd = greet(), busy = greet();

	(void)state;
	begin(fd, 8, 2);
	begin(busy, 8, 1);
	now_ms += 20000;
	change(fd, 8);
	change(busy, 8);
	say(busy, IBCC_PROTO_PLAN_COMMIT, 8, NULL, 0);
	now_ms += 20000;
	ibcc_server_tick(&server, now_ms);
	expect_nothing(fd);
	expect(busy, IBCC_PROTO_STATE, 0, sizeof(struct ibcc_proto_state)); /* a sign of life */
	now_ms += 11000;
	ibcc_server_tick(&server, now_ms);
	expect_end(fd);
	expect(busy, IBCC_PROTO_STATE, 0, sizeof(struct ibcc_proto_state));
	expect_nothing(busy);
	close(busy);
}

static void test_log_is_bounded(void **state)
{
	(void)state;
	n_lines = 0;
	for (int i = 0; i < 100; i++) {
		int fd = join();

		say(fd, IBCC_PROTO_TOPO_GET, 3, NULL, 0);
		close(fd);
		turn();
	}
	assert_in_range(n_lines, 1, 5);
	now_ms += 1000;
	close(join());
	turn();
}

static int dial(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0);

	strcpy(a.sun_path, server.options.socket);
	assert_int_equal(connect(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	return fd;
}

/* Without a descriptor for a new client it rests until there may be one again. */
static void test_no_descriptors(void **state)
{
	struct rlimit old, few;
	int fd, next;

	(void)state;
	snprintf(server.options.socket, sizeof(server.options.socket), "%.90s",
		 files_path("socket"));
	ibcc_server_tick(&server, now_ms);
	fd = dial();
	next = dup(fd);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	turn(); /* comes to an end */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	close(fd);
	assert_int_equal(n_lines, 1);
	now_ms += 2000;
	ibcc_server_tick(&server, now_ms);
	fd = dial();
	say(fd, IBCC_PROTO_HELLO, 1, NULL, 0);
	expect(fd, IBCC_PROTO_WELCOME, 1, 0);
	close(fd);
	turn();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CONVERSATION(test_error_survives), CONVERSATION(test_too_many),
		CONVERSATION(test_never_reads),    CONVERSATION(test_plans_without_reading),
		CONVERSATION(test_never_speaks),   CONVERSATION(test_plan_stalls),
		CONVERSATION(test_log_is_bounded), CONVERSATION(test_quota),
		CONVERSATION(test_only_greets),    CONVERSATION(test_no_descriptors),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
