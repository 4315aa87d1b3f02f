/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Conversations with the plugin over socket pairs: what is answered, and that nobody can make it
 * wait, grow or fall silent. The host is played by this file; no OpenSM is needed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fabrics.h"

#include "opensm-plugin/server.h"

#define GENERATION 77

static struct ibcc_server server;
static struct ibcc_shared_topo *shared;
static uint64_t now_ms;
static enum ibcc_proto_refusal verdict;
static struct ibcc_plan taken;
static uint64_t taken_key;
static unsigned int n_lines;
static uint8_t buf[IBCC_PROTO_MAX_BYTES];

static void host_state(void *arg, struct ibcc_proto_state *s)
{
	(void)arg;
	memset(s, 0, sizeof(*s));
	s->sm_state = IBCC_SM_MASTER;
	s->generation = GENERATION;
	s->n_nodes = shared ? shared->topo->n_nodes : 0;
}

static struct ibcc_shared_topo *host_topo(void *arg)
{
	(void)arg;
	return ibcc_shared_topo_get(shared);
}

static void host_gone(void *arg, struct ibcc_session *s)
{
	(void)arg;
	(void)s;
}

static enum ibcc_proto_refusal host_submit(void *arg, struct ibcc_session *s,
					   struct ibcc_plan *plan, uint64_t cc_key,
					   struct ibcc_proto_error *why)
{
	(void)arg;
	(void)s;
	if (verdict != IBCC_REFUSAL_NONE) {
		strcpy(why->text, "because");
		return verdict;
	}
	taken = *plan;
	taken_key = cc_key;
	memset(plan, 0, sizeof(*plan));
	return IBCC_REFUSAL_NONE;
}

static void count_line(void *arg, enum ibcc_plugin_level level, const char *line)
{
	(void)arg;
	(void)line;
	n_lines += level == IBCC_PLUGIN_ERROR;
}

static int setup(void **state)
{
	static const struct ibcc_session_host host = { host_state, host_topo, host_submit, host_gone, NULL };
	static const struct ibcc_plugin_log log = { count_line, NULL };
	struct ibcc_plugin_options o = { .gid = (gid_t)-1, .mode = 0600 };
	struct ibcc_topo *t = fabric_lustre();

	(void)state;
	t->generation = GENERATION;
	shared = ibcc_shared_topo_new(t);
	assert_non_null(shared);
	now_ms = 1000;
	n_lines = 0;
	verdict = IBCC_REFUSAL_NONE;
	memset(&taken, 0, sizeof(taken));
	return ibcc_server_init(&server, &o, &host, &log);
}

static int teardown(void **state)
{
	(void)state;
	ibcc_server_fini(&server);
	ibcc_plan_fini(&taken);
	assert_int_equal(shared->refs, 1); /* nobody forgot one */
	ibcc_shared_topo_put(shared);
	shared = NULL;
	return 0;
}

/* Lets the server work until nothing is left to be done at once. */
static void turn(void)
{
	struct pollfd pfd[IBCC_SERVER_CLIENTS + 1];
	unsigned int n, rounds = 0;

	do {
		n = ibcc_server_pollfds(&server, pfd);
		assert_in_range(n, 0, IBCC_SERVER_CLIENTS + 1);
		assert_true(rounds++ < 100000);
		if (poll(pfd, n, 0) <= 0)
			return;
		ibcc_server_serve(&server, pfd, n, now_ms);
	} while (1);
}

static int join(void)
{
	struct ucred peer = { .pid = 1 };
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fd), 0);
	ibcc_server_adopt(&server, fd[0], &peer, now_ms);
	return fd[1];
}

static void say(int fd, enum ibcc_proto_type type, uint32_t seq, const void *payload, size_t length)
{
	assert_int_equal(ibcc_proto_send(fd, type, seq, payload, length), 0);
	turn();
}

/* Takes the next message, which must be of this type. */
static const void *expect(int fd, enum ibcc_proto_type type, uint32_t seq, size_t length)
{
	struct ibcc_proto_header h;
	const void *payload;

	turn();
	assert_int_equal(ibcc_proto_recv(fd, buf, &h, &payload), 0);
	assert_int_equal(h.type, type);
	assert_int_equal(h.seq, seq);
	if (length)
		assert_int_equal(h.length, length);
	return payload;
}

static void expect_nothing(int fd)
{
	struct ibcc_proto_header h;
	const void *payload;

	turn();
	assert_int_equal(ibcc_proto_recv(fd, buf, &h, &payload), -EAGAIN);
}

static void expect_end(int fd)
{
	struct ibcc_proto_header h;
	const void *payload;

	turn();
	assert_int_equal(ibcc_proto_recv(fd, buf, &h, &payload), -ENODATA);
	close(fd);
}

static uint32_t expect_error(int fd, uint32_t seq)
{
	struct ibcc_proto_error e;

	memcpy(&e, expect(fd, IBCC_PROTO_ERROR, seq, sizeof(e)), sizeof(e));
	assert_true(e.text[0] != '\0');
	expect_end(fd);
	return e.refusal;
}

static int greet(void)
{
	struct ibcc_proto_state s;
	int fd = join();

	say(fd, IBCC_PROTO_HELLO, 5, NULL, 0);
	memcpy(&s, expect(fd, IBCC_PROTO_WELCOME, 5, sizeof(s)), sizeof(s));
	assert_int_equal(s.generation, GENERATION);
	expect_nothing(fd);
	return fd;
}

static void begin(int fd, uint32_t seq, uint32_t n)
{
	struct ibcc_proto_plan p = { .generation = GENERATION, .cc_key = 99, .n_changes = n };

	say(fd, IBCC_PROTO_PLAN_BEGIN, seq, &p, sizeof(p));
}

static void change(int fd, uint32_t seq)
{
	struct ibcc_change c = {
		.node_guid = 0x1000, .lid = 3, .port = 1, .attr_id = IBCC_CC_ATTR_CA_SETTING
	};
	uint8_t wire[2048];

	say(fd, IBCC_PROTO_CHANGE, seq, wire, ibcc_proto_change_encode(&c, wire));
}

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
	ibcc_server_finish(&server, r);
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

/* The client goes while its plan is applied: nobody gets the report, nothing is lost. */
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
	ibcc_server_finish(&server, r);
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
	int fd[IBCC_SERVER_CLIENTS], one_more;

	(void)state;
	for (unsigned int i = 0; i < IBCC_SERVER_CLIENTS; i++)
		fd[i] = greet();
	one_more = join();
	assert_int_equal(expect_error(one_more, 0), IBCC_REFUSAL_BUSY);
	close(fd[3]);
	turn();
	fd[3] = greet();
	for (unsigned int i = 0; i < IBCC_SERVER_CLIENTS; i++)
		close(fd[i]);
}

/* Who never reads costs nothing but its place, and that only for a while. */
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
	now_ms += 29000;
	ibcc_server_tick(&server, now_ms);
	assert_int_equal(ibcc_proto_send(mute, IBCC_PROTO_TOPO_GET, 1, NULL, 0), -EAGAIN);
	now_ms += 2000;
	ibcc_server_tick(&server, now_ms);
	assert_int_equal(ibcc_proto_send(mute, IBCC_PROTO_TOPO_GET, 1, NULL, 0), -EPIPE);
	say(fd, IBCC_PROTO_TOPO_GET, 1, NULL, 0); /* who waits for nothing may stay */
	expect(fd, IBCC_PROTO_TOPO_NODE, 1, 0);
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
	now_ms += 11000;
	ibcc_server_tick(&server, now_ms);
	expect_end(fd);
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

#define BOTH(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_topology),       BOTH(test_no_topology),  BOTH(test_topology_replaced),
		BOTH(test_plan),           BOTH(test_plan_refused), BOTH(test_plan_client_gone),
		BOTH(test_plan_bad),       BOTH(test_bad_manners),  BOTH(test_error_survives),
		BOTH(test_too_many),       BOTH(test_never_reads),  BOTH(test_never_speaks),
		BOTH(test_log_is_bounded), BOTH(test_plan_stalls),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
