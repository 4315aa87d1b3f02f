/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages of daemon and plugin over a real socket pair: what is sent arrives, what is broken is
 * turned away.
 */
#include "tests/unit/fabrics.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibcc/proto.h>

struct fixture {
	int fd[2];
	uint8_t *buf;
	struct ibcc_proto_header h;
	const void *payload;
};

static struct fixture setup(void)
{
	struct fixture x = { .buf = malloc(IBCC_PROTO_MAX_BYTES) };

	assert_non_null(x.buf);
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, x.fd), 0);
	return x;
}

static void teardown(struct fixture *x)
{
	close(x->fd[0]);
	close(x->fd[1]);
	free(x->buf);
}

static int recv_one(struct fixture *x)
{
	return ibcc_proto_recv(x->fd[1], x->buf, &x->h, &x->payload);
}

static void test_send_and_receive(void **state)
{
	struct fixture x = setup();
	uint8_t *big = calloc(1, IBCC_PROTO_MAX_BYTES);
	size_t most = IBCC_PROTO_MAX_BYTES - sizeof(struct ibcc_proto_header);

	(void)state;
	assert_non_null(big);
	assert_int_equal(ibcc_proto_send(x.fd[0], IBCC_PROTO_HELLO, 7, NULL, 0), 0);
	assert_int_equal(recv_one(&x), 0);
	assert_int_equal(x.h.type, IBCC_PROTO_HELLO);
	assert_int_equal(x.h.seq, 7);
	assert_int_equal(x.h.length, 0);
	for (size_t i = 0; i < most; i++)
		big[i] = (uint8_t)(i * 7);
	assert_int_equal(ibcc_proto_send(x.fd[0], IBCC_PROTO_CHANGE, 8, big, most), 0);
	assert_int_equal(recv_one(&x), 0);
	assert_int_equal(x.h.length, most);
	assert_memory_equal(x.payload, big, most);
	assert_int_equal(ibcc_proto_send(x.fd[0], IBCC_PROTO_CHANGE, 8, big, most + 1), -EMSGSIZE);
	free(big);
	teardown(&x);
}

/* Everything that may come in place of a message. */
static void test_broken_messages(void **state)
{
	const struct ibcc_proto_header good = {
		.magic = IBCC_PROTO_MAGIC,
		.version = IBCC_PROTO_VERSION,
		.type = IBCC_PROTO_HELLO,
		.seq = 1,
	};
	struct fixture x = setup();
	uint8_t raw[64] = { 0 };
	struct ibcc_proto_header h = good;

	(void)state;
	for (size_t len = 1; len < sizeof(good); len++) {
		memcpy(raw, &good, sizeof(good));
		assert_int_equal(send(x.fd[0], raw, len, 0), len);
		assert_int_equal(recv_one(&x), -EPROTO);
	}
	h.magic ^= 1;
	assert_int_equal(send(x.fd[0], &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(recv_one(&x), -EPROTO);
	h = good;
	h.length = 1; /* says more than there is */
	assert_int_equal(send(x.fd[0], &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(recv_one(&x), -EPROTO);
	h.length = 0; /* and less */
	memcpy(raw, &h, sizeof(h));
	assert_int_equal(send(x.fd[0], raw, sizeof(h) + 3, 0), sizeof(h) + 3);
	assert_int_equal(recv_one(&x), -EPROTO);
	h.type = 0;
	assert_int_equal(send(x.fd[0], &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(recv_one(&x), -EPROTO);
	h.type = IBCC_PROTO_STATE_GET + 1;
	assert_int_equal(send(x.fd[0], &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(recv_one(&x), -EPROTO);
	memset(raw, 0xff, sizeof(raw));
	assert_int_equal(send(x.fd[0], raw, sizeof(raw), 0), sizeof(raw));
	assert_int_equal(recv_one(&x), -EPROTO);
	/* The connection is fine all the same. */
	assert_int_equal(ibcc_proto_send(x.fd[0], IBCC_PROTO_TOPO_GET, 2, NULL, 0), 0);
	assert_int_equal(recv_one(&x), 0);
	teardown(&x);
}

static void test_oversized_message(void **state)
{
	struct fixture x = setup();
	size_t size = IBCC_PROTO_MAX_BYTES + 8;
	uint8_t *raw = calloc(1, size);
	struct ibcc_proto_header h = {
		.magic = IBCC_PROTO_MAGIC,
		.version = IBCC_PROTO_VERSION,
		.type = IBCC_PROTO_CHANGE,
		.length = (uint32_t)(size - sizeof(h)),
	};

	(void)state;
	assert_non_null(raw);
	memcpy(raw, &h, sizeof(h));
	assert_int_equal(send(x.fd[0], raw, size, 0), size);
	assert_int_equal(recv_one(&x), -EPROTO);
	/* Also where the length is that of what is left after the cut. */
	h.length = IBCC_PROTO_MAX_BYTES - sizeof(h);
	memcpy(raw, &h, sizeof(h));
	assert_int_equal(send(x.fd[0], raw, size, 0), size);
	assert_int_equal(recv_one(&x), -EPROTO);
	free(raw);
	teardown(&x);
}

/* A peer of another release can be told so. */
static void test_other_version(void **state)
{
	struct fixture x = setup();
	struct ibcc_proto_header h = {
		.magic = IBCC_PROTO_MAGIC,
		.version = IBCC_PROTO_VERSION + 1,
		.type = 99,
		.seq = 1234,
		.length = 77,
	};

	(void)state;
	assert_int_equal(send(x.fd[0], &h, sizeof(h), 0), sizeof(h));
	assert_int_equal(recv_one(&x), -EPROTONOSUPPORT);
	assert_int_equal(x.h.seq, 1234);
	assert_int_equal(x.h.version, IBCC_PROTO_VERSION + 1);
	teardown(&x);
}

static void test_ends_and_full_queues(void **state)
{
	struct fixture x = setup();
	uint8_t data[4096] = { 0 };
	int rc = 0, n = 0;

	(void)state;
	assert_int_equal(fcntl(x.fd[0], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(fcntl(x.fd[1], F_SETFL, O_NONBLOCK), 0);
	assert_int_equal(recv_one(&x), -EAGAIN);
	while (rc == 0 && n++ < 100000)
		rc = ibcc_proto_send(x.fd[0], IBCC_PROTO_CHANGE, 1, data, sizeof(data));
	assert_int_equal(rc, -EAGAIN);
	assert_int_equal(recv_one(&x), 0);
	assert_int_equal(ibcc_proto_send(x.fd[0], IBCC_PROTO_CHANGE, 1, data, 1), 0);
	/* Unread messages make the end of the peer an error of the socket: no signal, no surprise.
	 */
	close(x.fd[1]);
	assert_int_equal(ibcc_proto_send(x.fd[0], IBCC_PROTO_HELLO, 1, NULL, 0), -EPIPE);
	x.fd[1] = x.fd[0];
	assert_int_equal(recv_one(&x), -ENODATA);
	x.fd[1] = -1;
	teardown(&x);
	assert_int_equal(recv_one(&(struct fixture){ .fd = { -1, -1 }, .buf = data }), -EBADF);
}

/* Descriptors that come along are not kept. */
static void test_descriptors_are_dropped(void **state)
{
	struct fixture x = setup();
	struct ibcc_proto_header h = { .magic = IBCC_PROTO_MAGIC,
				       .version = IBCC_PROTO_VERSION,
				       .type = IBCC_PROTO_HELLO };
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = { 0 };
	struct iovec iov = { .iov_base = &h, .iov_len = sizeof(h) };
	struct msghdr msg = { .msg_iov = &iov,
			      .msg_iovlen = 1,
			      .msg_control = control.room,
			      .msg_controllen = sizeof(control.room) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);
	int before = dup(0), after;

	(void)state;
	close(before);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(c), &x.fd[0], sizeof(int));
	assert_int_equal(sendmsg(x.fd[0], &msg, 0), sizeof(h));
	assert_int_equal(recv_one(&x), 0);
	after = dup(0);
	close(after);
	assert_int_equal(before, after);
	teardown(&x);
}

static void test_words(void **state)
{
	(void)state;
	for (uint32_t i = IBCC_REFUSAL_NONE; i <= IBCC_REFUSAL_INTERNAL; i++)
		assert_string_not_equal(ibcc_proto_refusal_text(i), "unknown refusal");
	assert_string_equal(ibcc_proto_refusal_text(9999), "unknown refusal");
	assert_string_equal(ibcc_proto_sm_state_name(3), "MASTER");
	assert_string_equal(ibcc_proto_sm_state_name(2), "STANDBY");
	assert_string_equal(ibcc_proto_sm_state_name(77), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_send_and_receive),
		cmocka_unit_test(test_broken_messages),
		cmocka_unit_test(test_oversized_message),
		cmocka_unit_test(test_other_version),
		cmocka_unit_test(test_ends_and_full_queues),
		cmocka_unit_test(test_descriptors_are_dropped),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
