/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The messages between ibsim and its clients (libumad2sim): datagrams on abstract unix sockets.
 *
 * BASE:ctl takes requests of control, BASE:outN carries the MADs of client N; the client binds
 * BASE:ctl<pid> and BASE:in<pid>. The structures are ibsim's, as its include/ibsim.h lays them out.
 */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <ibcc/mad.h>

#define IBCC_WIRE_MAGIC   0xdeadbeefu
#define IBCC_WIRE_BATCH   64u  /* most MADs that ibcc_wire_receive() takes */
#define IBCC_WIRE_TIMEOUT 110u /* umad status of a request that got no answer */

/* A MAD with its addresses. All fields but status are in the umad header's form (big endian). */
struct ibcc_wire_mad {
	uint32_t dlid, slid; /* 16 bits in network order */
	uint32_t dqp, sqp;
	uint32_t status; /* network order */
	uint64_t length; /* network order */
	uint8_t mad[IBCC_MAD_BYTES];
};

enum ibcc_wire_type {
	IBCC_WIRE_ERROR,
	IBCC_WIRE_CONNECT,
	IBCC_WIRE_DISCONNECT,
	IBCC_WIRE_GET_PORT,
	IBCC_WIRE_GET_VENDOR,
	IBCC_WIRE_GET_GID,
	IBCC_WIRE_GET_GUID,
	IBCC_WIRE_GET_NODEINFO,
	IBCC_WIRE_GET_PORTINFO,
	IBCC_WIRE_SET_ISSM,
	IBCC_WIRE_GET_PKEYS,
};

struct ibcc_wire_ctl {
	uint32_t magic;
	uint32_t client; /* number that CONNECT gave */
	uint32_t type;
	uint32_t len;
	uint8_t data[64];
};

#define IBCC_WIRE_NODE_BYTES 32u

/* Data of CONNECT, in both directions. */
struct ibcc_wire_connect {
	uint32_t id; /* pid in the request, client number in the answer */
	uint32_t qp;
	uint32_t issm;
	/* node to attach at, by id or description; "": the first node */
	char node[IBCC_WIRE_NODE_BYTES];
};

_Static_assert(sizeof(struct ibcc_wire_mad) == 288, "layout of ibsim's sim_request");
_Static_assert(sizeof(struct ibcc_wire_ctl) == 80, "layout of ibsim's sim_ctl");

/* Whether a MAD is a response. The response to a trap is TrapRepress. The sender of any other MAD
 * waits for a response, or for its own MAD to come back from the kernel as timed out. OpenSM does
 * so for its traps, too.
 */
static inline int ibcc_wire_is_response(const uint8_t *mad)
{
	return mad[3] & 0x80 || mad[3] == IBCC_MAD_TRAP_REPRESS;
}

/* Takes what a socket has, at most n MADs, without waiting; datagrams of another size are thrown
 * away. Returns how many there were, 0 if there is none, -errno when the socket is gone.
 */
int ibcc_wire_receive(int fd, struct ibcc_wire_mad *m, unsigned int n);

/* Address of an abstract socket; ibsim counts the terminating zero as a part of the name. -EINVAL
 * if the name does not fit.
 */
int ibcc_wire_addr(struct sockaddr_un *sa, socklen_t *len, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A non-blocking datagram socket bound to an abstract name. Returns the fd or -errno. */
int ibcc_wire_bind(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
