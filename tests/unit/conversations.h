/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Conversations with the plugin's server over socket pairs. This file plays the host; no OpenSM is
 * needed.
 */
#ifndef TEST_CONVERSATIONS_H
#define TEST_CONVERSATIONS_H

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
static const struct ibcc_session *taken_from;
static const struct ibcc_proto_alive no_lease;
static unsigned int n_lines;
static uint8_t buf[IBCC_PROTO_MAX_BYTES];

static inline void host_state(void *arg, struct ibcc_proto_state *s)
{
	(void)arg;
	memset(s, 0, sizeof(*s));
	s->sm_state = IBCC_SM_MASTER;
	s->generation = GENERATION;
	s->n_nodes = shared ? shared->topo->n_nodes : 0;
}

static inline struct ibcc_shared_topo *host_topo(void *arg)
{
	(void)arg;
	return ibcc_shared_topo_get(shared);
}

static inline void host_gone(void *arg, struct ibcc_session *s)
{
	(void)arg;
	(void)s;
}

static inline enum ibcc_proto_refusal host_submit(void *arg, struct ibcc_session *s,
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
	taken_from = s;
	memset(plan, 0, sizeof(*plan));
	return IBCC_REFUSAL_NONE;
}

static inline void count_line(void *arg, enum ibcc_plugin_level level, const char *line)
{
	(void)arg;
	(void)line;
	n_lines += level == IBCC_PLUGIN_ERROR;
}

static inline int setup(void **state)
{
	static const struct ibcc_session_host host = { host_state, host_topo, host_submit,
						       host_gone, NULL };
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

static inline int teardown(void **state)
{
	(void)state;
	ibcc_server_fini(&server);
	ibcc_plan_fini(&taken);
	assert_int_equal(shared->refs, 1); /* no user of the host forgot to release it */
	ibcc_shared_topo_put(shared);
	shared = NULL;
	return 0;
}

/* Lets the server work until nothing is left to do at once. */
static inline void turn(void)
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

static inline int join(void)
{
	struct ucred peer = { .pid = 1 };
	int fd[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, fd), 0);
	ibcc_server_adopt(&server, fd[0], &peer, now_ms);
	return fd[1];
}

static inline void say(int fd, enum ibcc_proto_type type, uint32_t seq, const void *payload,
		       size_t length)
{
	assert_int_equal(ibcc_proto_send(fd, type, seq, payload, length), 0);
	turn();
}

/* Takes the next message, which must be of this type. */
static inline const void *expect(int fd, enum ibcc_proto_type type, uint32_t seq, size_t length)
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

static inline void expect_nothing(int fd)
{
	struct ibcc_proto_header h;
	const void *payload;

	turn();
	assert_int_equal(ibcc_proto_recv(fd, buf, &h, &payload), -EAGAIN);
}

static inline void expect_end(int fd)
{
	struct ibcc_proto_header h;
	const void *payload;

	turn();
	assert_int_equal(ibcc_proto_recv(fd, buf, &h, &payload), -ENODATA);
	close(fd);
}

static inline uint32_t expect_error(int fd, uint32_t seq)
{
	struct ibcc_proto_error e;

	memcpy(&e, expect(fd, IBCC_PROTO_ERROR, seq, sizeof(e)), sizeof(e));
	assert_true(e.text[0] != '\0');
	expect_end(fd);
	return e.refusal;
}

static inline int greet(void)
{
	struct ibcc_proto_state s;
	int fd = join();

	say(fd, IBCC_PROTO_HELLO, 5, NULL, 0);
	memcpy(&s, expect(fd, IBCC_PROTO_WELCOME, 5, sizeof(s)), sizeof(s));
	assert_int_equal(s.generation, GENERATION);
	expect_nothing(fd);
	return fd;
}

static inline void begin(int fd, uint32_t seq, uint32_t n)
{
	struct ibcc_proto_plan p = { .generation = GENERATION, .cc_key = 99, .n_changes = n };

	say(fd, IBCC_PROTO_PLAN_BEGIN, seq, &p, sizeof(p));
}

static inline void change(int fd, uint32_t seq)
{
	struct ibcc_change c = {
		.node_guid = 0x1000, .lid = 3, .port = 1, .attr_id = IBCC_CC_ATTR_CA_SETTING
	};
	uint8_t wire[2048];

	say(fd, IBCC_PROTO_CHANGE, seq, wire, ibcc_proto_change_encode(&c, wire));
}

#define CONVERSATION(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
