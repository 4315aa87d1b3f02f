/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A port that loses, repeats, delays and mixes up datagrams, on a clock of its own, and a window of
 * requests over it.
 */
#ifndef TEST_FAKE_PORT_H
#define TEST_FAKE_PORT_H

#include <endian.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/fabrics.h"

#include <ibcc/smp.h>
#include <ibcc/transport.h>

#include "lib/mad/window.h"

#ifndef MS
#define MS 1000000ull
#endif
#define MAX_SENT 4096

enum behaviour {
	ANSWER,
	LOSE,      /* no answer ever comes */
	LOSE_ONCE, /* the first attempt of each request is lost */
	ECHO,      /* undeliverable, reported at once */
	LATE,      /* answers the first attempt only after its timeout, then the next one too */
	TWICE,
	BUSY_ONCE,
	STATUS,
	/* before the answer comes another class, another attribute, a request, or half a datagram
	 */
	GARBAGE,
};

/* A far end that keeps a queue of datagrams to send. */
struct port {
	enum behaviour how;
	uint64_t now_ns, latency_ns;
	struct port_datagram {
		uint8_t mad[IBCC_MAD_BYTES];
		bool undeliverable;
		int len;
		uint64_t at_ns;
	} queue[MAX_SENT];
	size_t n_queue;
	unsigned int n_sent, open, most_open;
	unsigned int attempts[MAX_SENT]; /* by attribute modifier, which numbers the requests */
	uint32_t tid[MAX_SENT];
	uint64_t sent_ns[MAX_SENT]; /* when each was sent, and to which node */
	uint16_t sent_lid[MAX_SENT];
	int send_err;
	unsigned int send_errs_after;
	struct ibcc_window *cancel_in_recv;
	unsigned int last_timeout_ms;
	uint16_t dead_lid; /* this node is always silent */
	unsigned int dead_asked;
};

static inline void say(struct port *p, const uint8_t *mad, uint64_t delay_ns, bool undeliverable,
		       int len)
{
	struct port_datagram *d = &p->queue[p->n_queue++];

	assert_true(p->n_queue < MAX_SENT);
	memcpy(d->mad, mad, IBCC_MAD_BYTES);
	d->undeliverable = undeliverable;
	d->len = len;
	d->at_ns = p->now_ns + delay_ns;
}

static inline uint32_t modifier(const uint8_t *mad)
{
	uint32_t v;

	memcpy(&v, mad + 20, 4);
	return be32toh(v);
}

static inline int port_send(void *port, const struct ibcc_mad_op *op, unsigned int timeout_ms)
{
	struct port *p = port;
	uint8_t mad[IBCC_MAD_BYTES], other[IBCC_MAD_BYTES];
	uint32_t request = modifier(op->mad) % MAX_SENT;
	bool first = p->attempts[request]++ == 0;
	uint64_t tid;

	if (p->send_err && p->n_sent >= p->send_errs_after)
		return p->send_err;
	memcpy(&tid, op->mad + 8, 8);
	tid = be64toh(tid);
	assert_true(tid <= UINT32_MAX); /* the upper half is the kernel's, or umad2sim's */
	p->sent_ns[p->n_sent % MAX_SENT] = p->now_ns;
	p->sent_lid[p->n_sent % MAX_SENT] = op->lid;
	p->tid[p->n_sent++ % MAX_SENT] = (uint32_t)tid;
	p->last_timeout_ms = timeout_ms;
	p->open++;
	if (p->open > p->most_open)
		p->most_open = p->open;

	if (op->lid && op->lid == p->dead_lid) {
		p->dead_asked++;
		return 0;
	}
	memcpy(mad, op->mad, sizeof(mad));
	mad[3] = 0x81;
	mad[100] = (uint8_t)request;
	switch (p->how) {
	case ANSWER: break;
	case LOSE: return 0;
	case LOSE_ONCE:
		if (first)
			return 0;
		break;
	case ECHO: say(p, op->mad, p->latency_ns, true, 24); return 0;
	case LATE:
		if (first) {
			mad[100] = 0xee;
			say(p, mad, (timeout_ms + timeout_ms / 2) * MS, false, 256);
			return 0;
		}
		break;
	case TWICE: say(p, mad, p->latency_ns, false, 256); break;
	case BUSY_ONCE: mad[5] = first ? 0x01 : 0; break;
	case STATUS: mad[5] = 0x1c; break;
	case GARBAGE:
		memcpy(other, mad, sizeof(other));
		other[1] ^= 1;
		say(p, other, p->latency_ns, false, 256);
		memcpy(other, mad, sizeof(other));
		other[17] ^= 1;
		say(p, other, p->latency_ns, false, 256);
		say(p, op->mad, p->latency_ns, false, 256);
		say(p, mad, p->latency_ns, false, 100);
		say(p, mad, p->latency_ns, false, 3);
		memset(other, 0xff, sizeof(other));
		say(p, other, p->latency_ns, false, 256);
		break;
	}
	say(p, mad, p->latency_ns, false, 256);
	return 0;
}

static inline int port_recv(void *port, uint8_t mad[IBCC_MAD_BYTES], bool *undeliverable,
			    int wait_ms)
{
	struct port *p = port;
	struct port_datagram *d = NULL;
	int len;

	if (p->cancel_in_recv)
		ibcc_window_cancel(p->cancel_in_recv);
	for (size_t i = 0; i < p->n_queue; i++) {
		if (!d || p->queue[i].at_ns < d->at_ns)
			d = &p->queue[i];
	}
	if (!d || d->at_ns > p->now_ns + (uint64_t)wait_ms * MS) {
		p->now_ns += (uint64_t)wait_ms * MS;
		return -EAGAIN;
	}
	if (d->at_ns > p->now_ns)
		p->now_ns = d->at_ns;
	memcpy(mad, d->mad, IBCC_MAD_BYTES);
	*undeliverable = d->undeliverable;
	len = d->len;
	p->open -= p->open > 0;
	*d = p->queue[--p->n_queue];
	return len;
}

static inline uint64_t port_now_ns(void *port)
{
	return ((struct port *)port)->now_ns;
}

static const struct ibcc_port_ops port_ops = {
	.send = port_send,
	.recv = port_recv,
	.now_ns = port_now_ns,
};

struct port_fixture {
	struct port *p;
	struct ibcc_window *w;
	struct ibcc_transport_stats stats;
	uint64_t deadline_ns;
	struct ibcc_mad_op *op;
	size_t n;
};

static inline struct port_fixture port_setup_with(enum behaviour how,
						  const struct ibcc_umad_options *o, size_t n)
{
	struct port_fixture x = { .p = calloc(1, sizeof(*x.p)), .n = n };

	x.op = calloc(n, sizeof(*x.op));
	assert_non_null(x.p);
	assert_non_null(x.op);
	x.p->how = how;
	x.p->now_ns = 7000000000;
	x.p->latency_ns = 30000;
	x.w = ibcc_window_new(&port_ops, x.p, o);
	assert_non_null(x.w);
	for (size_t i = 0; i < n; i++) {
		x.op[i].lid = (uint16_t)(1 + i); /* each request goes to a node of its own */
		ibcc_mad_request(x.op[i].mad, IBCC_MAD_CLASS_CC, IBCC_MAD_GET, 0x17, (uint32_t)i);
	}
	return x;
}

static inline struct port_fixture port_setup(enum behaviour how, unsigned int window,
					     unsigned int retries, size_t n)
{
	const struct ibcc_umad_options o = { .window = window,
					     .timeout_ms = 100,
					     .retries = retries };

	return port_setup_with(how, &o, n);
}

static inline void port_teardown(struct port_fixture *x)
{
	ibcc_window_free(x->w);
	free(x->op);
	free(x->p);
}

static inline int port_run(struct port_fixture *x)
{
	return ibcc_window_run(x->w, x->op, x->n, x->deadline_ns, &x->stats);
}

/* Asserts that every request got its own answer. */
static inline void port_assert_answered(const struct port_fixture *x)
{
	for (size_t i = 0; i < x->n; i++) {
		assert_int_equal(x->op[i].err, 0);
		assert_int_equal(x->op[i].mad[100], i % 256);
		assert_true(x->op[i].t_ns > 7000000000);
	}
	assert_int_equal(x->stats.answered, x->n);
	assert_int_equal(x->stats.timed_out, 0);
}

#endif
