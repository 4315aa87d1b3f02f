/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The plugin's socket from any bytes. The first byte says what the rest is: a message as it arrives
 * on a socket, a change, or nodes of a topology, each behind two bytes of length.
 */
#include "tests/fuzz/fuzz.h"

#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include <ibcc/proto.h>

static void message(const uint8_t *data, size_t size)
{
	static uint8_t buf[IBCC_PROTO_MAX_BYTES];
	struct ibcc_proto_header h;
	const void *payload = NULL;
	int fd[2], rc;

	FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fd));
	FUZZ_CHECK(ibcc_proto_recv(fd[1], buf, &h, &payload) == -EAGAIN);
	if (size && send(fd[0], data, size, MSG_DONTWAIT) == (ssize_t)size) {
		rc = ibcc_proto_recv(fd[1], buf, &h, &payload);
		FUZZ_CHECK(rc == 0 || rc == -EPROTO || rc == -EPROTONOSUPPORT);
		if (rc == 0) {
			FUZZ_CHECK(h.length == size - sizeof(h));
			FUZZ_CHECK(!memcmp(payload, data + sizeof(h), h.length));
		}
	}
	close(fd[0]);
	FUZZ_CHECK(ibcc_proto_recv(fd[1], buf, &h, &payload) == -ENODATA);
	close(fd[1]);
}

static void change(const uint8_t *data, size_t size)
{
	uint8_t buf[4096];
	struct ibcc_change c, again;
	size_t len;

	if (ibcc_proto_change_decode(data, size, &c))
		return;
	FUZZ_CHECK(c.lid >= 1 && c.lid <= IBCC_LID_MAX);
	len = ibcc_proto_change_encode(&c, buf);
	FUZZ_CHECK(len == size);
	FUZZ_CHECK(ibcc_proto_change_decode(buf, len, &again) == 0);
	FUZZ_CHECK(again.lid == c.lid && again.attr_id == c.attr_id &&
		   again.attr_mod == c.attr_mod &&
		   !memcmp(again.new_data, c.new_data, sizeof(c.new_data)));
}

/* What was taken can be sent on, and arrives as the same. */
static void resend(const struct ibcc_topo *t)
{
	static uint8_t buf[IBCC_PROTO_MAX_BYTES];
	struct ibcc_proto_topo *p = ibcc_proto_topo_new();
	struct ibcc_topo *again;
	int err;

	FUZZ_CHECK(p);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		int64_t len = ibcc_proto_node_encode(t, i, buf);

		FUZZ_CHECK(len > 0);
		FUZZ_CHECK(ibcc_proto_topo_add(p, buf, (size_t)len) == 0);
	}
	again = ibcc_proto_topo_finish(p, t->generation, &err);
	FUZZ_CHECK(again && ibcc_topo_equal(t, again));
	ibcc_topo_free(again);
}

static void nodes(const uint8_t *data, size_t size)
{
	struct ibcc_proto_topo *p = ibcc_proto_topo_new();
	struct ibcc_topo *t;
	int err;

	FUZZ_CHECK(p);
	while (size >= 2) {
		size_t len = (size_t)data[0] << 8 | data[1];

		data += 2;
		size -= 2;
		if (len > size)
			len = size;
		err = ibcc_proto_topo_add(p, data, len);
		FUZZ_CHECK(err == 0 || err == -EPROTO || err == -ENOMEM);
		data += len;
		size -= len;
	}
	t = ibcc_proto_topo_finish(p, 1, &err);
	FUZZ_CHECK(t || err == -EPROTO || err == -ENOMEM);
	if (t)
		resend(t);
	ibcc_topo_free(t);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size < 1)
		return 0;
	switch (data[0] % 3) {
	case 0: message(data + 1, size - 1); break;
	case 1: change(data + 1, size - 1); break;
	case 2: nodes(data + 1, size - 1); break;
	}
	return 0;
}
