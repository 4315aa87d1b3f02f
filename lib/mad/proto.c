/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Messages between the daemon and the plugin (proto.h): framing, the changes of a plan, and the
 * words for refusals. The messages of a topology are in proto_topo.c. Both ends run on one host,
 * so structures travel as they are in memory.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include <ibcc/proto.h>

#define HEADER_BYTES sizeof(struct ibcc_proto_header)
#define MAX_PORT     254u

/* These structures go over the socket as they are in memory, so their sizes must not change. */
_Static_assert(sizeof(struct ibcc_proto_header) == 16, "header changed");
_Static_assert(sizeof(struct ibcc_proto_state) == 112, "state changed");
_Static_assert(sizeof(struct ibcc_proto_error) == 212, "error changed");
_Static_assert(sizeof(struct ibcc_proto_plan) == 24, "plan changed");
_Static_assert(sizeof(struct ibcc_proto_result) == 16, "result changed");

int ibcc_proto_send(int fd, enum ibcc_proto_type type, uint32_t seq, const void *payload,
		    size_t length)
{
	struct ibcc_proto_header h = {
		.magic = IBCC_PROTO_MAGIC,
		.version = IBCC_PROTO_VERSION,
		.type = (uint16_t)type,
		.seq = seq,
		.length = (uint32_t)length,
	};
	struct iovec iov[2] = {
		{ .iov_base = &h, .iov_len = HEADER_BYTES },
		{ .iov_base = (void *)(uintptr_t)payload, .iov_len = length },
	};
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = length ? 2 : 1 };
	ssize_t n;

	if (length > IBCC_PROTO_MAX_BYTES - HEADER_BYTES)
		return -EMSGSIZE;
	do {
		n = sendmsg(fd, &msg, MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	if (n >= 0)
		return (size_t)n == HEADER_BYTES + length ? 0 : -EIO;
	if (errno == EWOULDBLOCK)
		return -EAGAIN;
	return errno == ECONNRESET ? -EPIPE : -errno;
}

int ibcc_proto_recv(int fd, void *buf, struct ibcc_proto_header *h, const void **payload)
{
	struct iovec iov = { .iov_base = buf, .iov_len = IBCC_PROTO_MAX_BYTES };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct ibcc_proto_header got;
	ssize_t n;

	/* Descriptors that a peer sends along are dropped by the kernel: there is no room for them.
	 */
	do {
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (n < 0) {
		if (errno == EWOULDBLOCK)
			return -EAGAIN;
		return errno == ECONNRESET ? -ENODATA : -errno;
	}
	if (n == 0)
		return -ENODATA;
	if ((size_t)n < HEADER_BYTES)
		return -EPROTO;
	memcpy(&got, buf, HEADER_BYTES);
	if (got.magic != IBCC_PROTO_MAGIC)
		return -EPROTO;
	if (got.version != IBCC_PROTO_VERSION) {
		*h = got;
		*payload = NULL;
		return -EPROTONOSUPPORT;
	}
	if (msg.msg_flags & MSG_TRUNC || got.length != (size_t)n - HEADER_BYTES)
		return -EPROTO;
	if (got.type < IBCC_PROTO_HELLO || got.type > IBCC_PROTO_STATE_GET)
		return -EPROTO;
	*h = got;
	*payload = (const uint8_t *)buf + HEADER_BYTES;
	return 0;
}

struct wire_change {
	uint64_t node_guid;
	uint32_t attr_mod;
	uint16_t attr_id;
	uint16_t lid;
	uint8_t port;
	uint8_t reserved[7];
	uint64_t cc_key;
	uint8_t old_data[IBCC_CC_DATA_BYTES];
	uint8_t new_data[IBCC_CC_DATA_BYTES];
};
_Static_assert(sizeof(struct wire_change) == IBCC_PROTO_CHANGE_BYTES, "change has holes");

size_t ibcc_proto_change_encode(const struct ibcc_change *c, void *buf)
{
	struct wire_change w = {
		.node_guid = c->node_guid,
		.attr_mod = c->attr_mod,
		.attr_id = c->attr_id,
		.lid = c->lid,
		.port = c->port,
		.cc_key = c->cc_key,
	};

	memcpy(w.old_data, c->old_data, sizeof(w.old_data));
	memcpy(w.new_data, c->new_data, sizeof(w.new_data));
	memcpy(buf, &w, sizeof(w));
	return sizeof(w);
}

/* Attributes that a plan may write, with as many blocks as they can have. */
static bool is_writable(uint16_t attr_id, uint32_t attr_mod)
{
	switch (attr_id) {
	case IBCC_CC_ATTR_KEY_INFO:
	case IBCC_CC_ATTR_SW_SETTING:
	case IBCC_CC_ATTR_CA_SETTING: return attr_mod == 0;
	case IBCC_CC_ATTR_SW_PORT_SETTING: return attr_mod <= MAX_PORT / IBCC_CC_SW_PORT_BLOCK_121;
	case IBCC_CC_ATTR_CCT: return attr_mod < IBCC_CCT_MAX_BLOCKS;
	}
	return false;
}

int ibcc_proto_change_decode(const void *payload, size_t length, struct ibcc_change *c)
{
	struct wire_change w;

	if (length != sizeof(w))
		return -EPROTO;
	memcpy(&w, payload, sizeof(w));
	if (!is_writable(w.attr_id, w.attr_mod) || w.lid == 0 || w.lid > IBCC_LID_MAX ||
	    w.port > MAX_PORT)
		return -EPROTO;
	*c = (struct ibcc_change){
		.node_guid = w.node_guid,
		.lid = w.lid,
		.port = w.port,
		.attr_id = w.attr_id,
		.attr_mod = w.attr_mod,
		.cc_key = w.cc_key,
	};
	memcpy(c->old_data, w.old_data, sizeof(c->old_data));
	memcpy(c->new_data, w.new_data, sizeof(c->new_data));
	return 0;
}

const char *ibcc_proto_own_cc_text(uint32_t own_cc)
{
	return own_cc == IBCC_OWN_CC_NVIDIA
		       ? "NVIDIA's OpenSM manages congestion control itself "
			 "(mlnx_congestion_control is 2) and would overwrite our settings: set it "
			 "to "
			 "0 in opensm.conf and restart opensm"
		       : "OpenSM's own congestion_control is TRUE, and it would overwrite our "
			 "settings: set it to FALSE in opensm.conf and restart opensm";
}

const char *ibcc_proto_refusal_text(uint32_t refusal)
{
	switch (refusal) {
	case IBCC_REFUSAL_NONE: return "not refused";
	case IBCC_REFUSAL_VERSION: return "the other side speaks another protocol version";
	case IBCC_REFUSAL_BUSY: return "the plugin is busy with another client";
	case IBCC_REFUSAL_NOT_MASTER: return "the subnet manager is not MASTER";
	case IBCC_REFUSAL_TWO_WRITERS:
		return "OpenSM manages congestion control itself, so the plugin writes nothing: "
		       "switch OpenSM's own off and restart opensm";
	case IBCC_REFUSAL_STALE: return "the topology has changed since the plan was made";
	case IBCC_REFUSAL_BAD_MESSAGE: return "the plugin does not understand the message";
	case IBCC_REFUSAL_NO_PORT: return "the plugin could not open its umad port";
	case IBCC_REFUSAL_INTERNAL: return "internal error of the plugin: see opensm.log";
	case IBCC_REFUSAL_GONE: return "the client that asked for it has gone";
	}
	return "unknown refusal";
}

const char *ibcc_proto_sm_state_name(uint32_t state)
{
	switch (state) {
	case IBCC_SM_NOT_ACTIVE: return "NOT-ACTIVE";
	case IBCC_SM_DISCOVERING: return "DISCOVERING";
	case IBCC_SM_STANDBY: return "STANDBY";
	case IBCC_SM_MASTER: return "MASTER";
	}
	return "unknown";
}
