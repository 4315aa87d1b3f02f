/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How MADs travel: one interface, several makers (umad, in-process engine, fault injection). */
#ifndef IBCC_TRANSPORT_H
#define IBCC_TRANSPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ibcc/mad.h>

/* One request and, afterwards, its answer in the same buffer. */
struct ibcc_mad_op {
	uint16_t lid; /* destination; 0xffff for a directed route */
	uint8_t sl;
	uint32_t qp, q_key;          /* 0: QP 1, and its key */
	uint8_t mad[IBCC_MAD_BYTES]; /* the transport fills the transaction ID */
	int err;          /* 0 answered with status 0; -EREMOTEIO: with another, see status;
			   * -ETIMEDOUT no answer; -ECANCELED; -EIO could not be sent */
	uint16_t status;  /* of the answer */
	uint64_t t_ns;    /* when the answer came, by ibcc_transport_fabric_ns() */
	uint64_t sent_ns; /* when the request was sent that was answered; 0: the same */
};

struct ibcc_transport;

struct ibcc_transport_ops {
	/* Sends all n requests pipelined, and returns when each is answered or has timed out. If a
	 * node lets one request time out in all its attempts, and answers nothing meanwhile, its
	 * other requests time out unsent. Returns 0 even if single requests failed (see their err);
	 * -EIO when the port is gone, with every request's err set.
	 */
	int (*run)(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n);
	/* Now, in nanoseconds of the clock that deadlines are by: the host's CLOCK_MONOTONIC, or
	 * virtual time.
	 */
	uint64_t (*now_ns)(struct ibcc_transport *t);
	/* Now, in nanoseconds of the time that the fabric's ports count in. Called only where
	 * ibcc_transport:simulated is set.
	 */
	uint64_t (*fabric_ns)(struct ibcc_transport *t);
	/* Makes a run() in another thread return soon, its open requests -ECANCELED; later run()s
	 * work again. May be NULL where run() never waits.
	 */
	void (*cancel)(struct ibcc_transport *t);
	void (*free)(struct ibcc_transport *t);
};

/* What became of the requests of a transport. sent counts attempts; retried are those of them that
 * are retries. An answered request is refused if the answer has a status other than 0. A request is
 * timed out if no attempt was answered, or not by the run's deadline, or if it was not sent because
 * its node was silent.
 */
struct ibcc_node_stats {
	uint64_t sent, retried, answered, refused, timed_out;
};

/* The counts of struct ibcc_node_stats over all nodes, and more. */
struct ibcc_transport_stats {
	uint64_t sent, retried, answered, refused, timed_out;
	uint64_t sets;       /* requests with method Set */
	unsigned int window; /* what may be in flight now; 0: whatever there is */
	uint64_t smps;       /* of `sent`, subnet management's on VL 15, the SM's own VL */
	/* By unicast LID, IBCC_LID_MAX + 1 of them, the transport's; NULL: not kept. */
	struct ibcc_node_stats *node;
};

struct ibcc_transport {
	const struct ibcc_transport_ops *ops;
	/* Not 0: when now_ns() is there, run() ends what is open with -ETIMEDOUT. */
	uint64_t deadline_ns;
	/* Bytes of an answer that arrive as they were sent; what follows may be anything. 0: all.
	 */
	unsigned int whole_bytes;
	/* The fabric has a time of its own, which may run at another speed than the host's clock,
	 * and stand still. On hardware, and where all is virtual time, it is now_ns().
	 */
	bool simulated;
	struct ibcc_transport_stats stats;
};

static inline int ibcc_transport_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	return t->ops->run(t, op, n);
}
static inline uint64_t ibcc_transport_now_ns(struct ibcc_transport *t)
{
	return t->ops->now_ns(t);
}
static inline uint64_t ibcc_transport_fabric_ns(struct ibcc_transport *t)
{
	return t->simulated ? t->ops->fabric_ns(t) : t->ops->now_ns(t);
}
/* Bytes of an answer's data, which begin at IBCC_MAD_DATA_OFFS, that arrive as they were sent. */
static inline unsigned int ibcc_transport_whole_data(const struct ibcc_transport *t)
{
	return (t->whole_bytes ? t->whole_bytes : IBCC_MAD_BYTES) - IBCC_MAD_DATA_OFFS;
}
/* Sets the bytes of an answer's data that do not arrive as they were sent to 0. */
static inline void ibcc_transport_cut_data(const struct ibcc_transport *t, uint8_t *data)
{
	unsigned int whole = ibcc_transport_whole_data(t);

	memset(data + whole, 0, IBCC_MAD_BYTES - IBCC_MAD_DATA_OFFS - whole);
}
static inline void ibcc_transport_cancel(struct ibcc_transport *t)
{
	if (t->ops->cancel)
		t->ops->cancel(t);
}
static inline void ibcc_transport_free(struct ibcc_transport *t)
{
	if (t)
		t->ops->free(t);
}

/* The umad transport: hardware, or a simulated fabric below umad2sim. */
struct ibcc_umad_options {
	const char *ca;           /* device name, NULL: first with an active port */
	int port;                 /* 0: first active */
	uint64_t port_guid;       /* not 0: the port with this GUID instead */
	unsigned int window;      /* requests in flight, 1..128; 0: 64 */
	unsigned int node_window; /* of those to one node, 1..16; 0: 16 */
	unsigned int node_gap_us; /* from one attempt to a node to the next; 0: none */
	unsigned int timeout_ms;  /* for each attempt; 0: 200 */
	unsigned int retries;     /* further attempts; as given */
};
/* When more than one of a hundred attempts comes to nothing at nodes that do answer, the window is
 * halved, and opened again by one for each hundred that go well. Directed routes have no more than
 * two requests in flight together, and no gap.
 */
/* Opens a port. A class is registered when its first request is sent: below umad2sim a registration
 * takes the class away from all other users in the process. NULL on failure: *err is a negative
 * errno and `why` (len bytes) says in words what failed. When the last 128 sends brought no answer
 * of any kind, not even the kernel's that there was none, a run() fails what is left of its
 * requests with -EIO, sends one probe from time to time, and returns 0: the port is there. It
 * returns -EIO when the port is gone.
 */
struct ibcc_transport *ibcc_umad_open(const struct ibcc_umad_options *o, int *err, char *why,
				      size_t len);
/* LID, port GUID and the SM's LID of the open port. Each call reads the LIDs from the device; 0:
 * there is none.
 */
uint16_t ibcc_umad_lid(const struct ibcc_transport *t);
uint64_t ibcc_umad_port_guid(const struct ibcc_transport *t);
uint16_t ibcc_umad_sm_lid(const struct ibcc_transport *t);
/* Does a port of this host have this GUID? Ports of several adapters are looked at. */
bool ibcc_umad_is_local(uint64_t port_guid);

/* A wrapper for tests that loses requests or corrupts answers by a seeded rule. Owns `inner`, also
 * when it fails (NULL without memory or without `inner`).
 */
struct ibcc_fault_options {
	uint64_t seed;
	uint16_t loss_permille;    /* requests that time out */
	uint16_t corrupt_permille; /* answers with a flipped bit in their data */
	uint16_t refuse_permille;  /* requests refused as not supported (status 0x000c) */
	uint16_t lid;              /* only to this LID; 0: to all */
	uint64_t fail_after;       /* not 0: after this many requests, each one fails with -EIO */
};
struct ibcc_transport *ibcc_fault_new(struct ibcc_transport *inner,
				      const struct ibcc_fault_options *o);

#endif
