/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Listens for what the subnet manager tells those who have asked for it. */
#include <endian.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <ibcc/notice.h>

#include "lib/io/umad_port.h"

#define SA_VERSION 2
#define SA_TIMEOUT 1000 /* ms, of a request */
#define SA_TRIES   3u
#define SLICE_MS   200 /* between two looks at whether to end */
#define RENEW_S    300
#define RETRY_S    60 /* after an SA that did not answer */
#define N_TRAPS    4u

static const uint16_t traps[N_TRAPS] = { IBCC_TRAP_IN_SERVICE, IBCC_TRAP_OUT_OF_SERVICE,
					 IBCC_TRAP_LINK_STATE, IBCC_TRAP_LOCAL_CHANGES };

struct ibcc_notices {
	pthread_t thread;
	atomic_bool quit, subscribed;
	atomic_uint sm_lid, last_trap;
	atomic_ullong n_traps;
	_Atomic(const char *) trouble;
	struct ibcc_umad_port port;
	int fd, agent;
	void *buf;
	uint32_t tid;
	/* of the thread: */
	unsigned int sm_then; /* whom it asked last */
	int64_t again_s;      /* when it asks again */
};

static int64_t now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec;
}

static int send_mad(struct ibcc_notices *n, const uint8_t *mad, unsigned int lid, int timeout_ms)
{
	memset(n->buf, 0, umad_size());
	memcpy(umad_get_mad(n->buf), mad, IBCC_MAD_BYTES);
	umad_set_addr(n->buf, (int)lid, 1, 0, IB_DEFAULT_QP1_QKEY);
	umad_set_pkey(n->buf, 0);
	return umad_send(n->fd, n->agent, n->buf, IBCC_MAD_BYTES, timeout_ms, 0) < 0 ? -EIO : 0;
}

/* Only the subnet manager's reports count, and are answered: anybody can send some. */
static void take_report(struct ibcc_notices *n, uint8_t *mad, uint16_t from)
{
	uint16_t trap;

	if (!ibcc_notice_report(mad, &trap) || from != n->sm_then)
		return;
	for (unsigned int i = 0; i < N_TRAPS; i++) {
		if (traps[i] != trap)
			continue;
		atomic_store(&n->last_trap, trap);
		atomic_fetch_add(&n->n_traps, 1);
	}
	ibcc_notice_respond(mad);
	(void)send_mad(n, mad, from, 0);
}

/* Takes one datagram, if there is any within the time. True if it is the SA's answer to a request
 * of this number; 0 is none.
 */
static bool receive(struct ibcc_notices *n, int wait_ms, uint32_t tid, bool *good)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_mad_header h;
	int len = IBCC_MAD_BYTES;

	memset(n->buf, 0, umad_size() + IBCC_MAD_BYTES);
	if (umad_recv(n->fd, n->buf, &len, wait_ms) < 0 || len < (int)IBCC_MAD_HEADER_BYTES)
		return false;
	memcpy(mad, umad_get_mad(n->buf), len < (int)IBCC_MAD_BYTES ? (size_t)len : IBCC_MAD_BYTES);
	ibcc_mad_header_unpack(mad, &h);
	if (tid && (uint32_t)h.tid == tid && h.method != IBCC_MAD_REPORT) {
		*good = !umad_status(n->buf) && ibcc_notice_is_subscribed(mad);
		return true;
	}
	if (!umad_status(n->buf) && len == (int)IBCC_MAD_BYTES)
		take_report(n, mad, be16toh(umad_get_mad_addr(n->buf)->lid));
	return false;
}

static bool ask(struct ibcc_notices *n, uint16_t trap, bool on, unsigned int tries)
{
	uint8_t mad[IBCC_MAD_BYTES];
	struct ibcc_mad_header h;

	for (unsigned int i = 0; i < tries; i++) {
		int64_t until = now_s() + SA_TIMEOUT / 1000 + 1;
		bool good = false;

		ibcc_notice_subscribe(mad, trap, on);
		ibcc_mad_header_unpack(mad, &h);
		h.tid = ++n->tid ? n->tid : ++n->tid;
		ibcc_mad_header_pack(mad, &h);
		if (send_mad(n, mad, n->sm_then, SA_TIMEOUT))
			return false;
		while (now_s() < until && (!on || !atomic_load(&n->quit)))
			if (receive(n, SLICE_MS, n->tid, &good))
				break;
		if (good)
			return true;
	}
	return false;
}

static void subscribe(struct ibcc_notices *n)
{
	unsigned int i;

	n->sm_then = atomic_load(&n->sm_lid);
	for (i = 0; i < N_TRAPS && ask(n, traps[i], true, SA_TRIES); i++)
		;
	atomic_store(&n->subscribed, i == N_TRAPS);
	atomic_store(&n->trouble,
		     i == N_TRAPS ? NULL
				  : "subnet administration does not let us subscribe to traps");
	n->again_s = now_s() + (i == N_TRAPS ? RENEW_S : RETRY_S);
}

static void *listen_on(void *arg)
{
	struct ibcc_notices *n = arg;
	bool good;

	while (!atomic_load(&n->quit)) {
		unsigned int sm = atomic_load(&n->sm_lid);

		if (sm && (sm != n->sm_then || now_s() >= n->again_s))
			subscribe(n);
		receive(n, SLICE_MS, 0, &good);
	}
	for (unsigned int i = 0; i < N_TRAPS && atomic_load(&n->subscribed); i++)
		if (!ask(n, traps[i], false, 1))
			break;
	return NULL;
}

static int start(struct ibcc_notices *n)
{
	sigset_t all, old;
	int rc;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	rc = pthread_create(&n->thread, NULL, listen_on, n);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return -rc;
}

/* One in the whole host can have a port's reports. */
static int open_port(struct ibcc_notices *n, const struct ibcc_umad_options *o)
{
	long methods[16 / sizeof(long)] = { 1l << IBCC_MAD_REPORT };
	char why[128];

	if (ibcc_umad_port_find(o, &n->port, why, sizeof(why)) < 0)
		return -ENODEV;
	n->fd = umad_open_port(n->port.ca, n->port.num);
	if (n->fd < 0)
		return -EACCES;
	n->buf = calloc(1, umad_size() + IBCC_MAD_BYTES);
	if (!n->buf)
		return -ENOMEM;
	n->agent = umad_register(n->fd, IBCC_MAD_CLASS_SA, SA_VERSION, 0, methods);
	return n->agent < 0 ? -EBUSY : 0;
}

static void close_port(struct ibcc_notices *n)
{
	if (n->agent >= 0)
		umad_unregister(n->fd, n->agent);
	if (n->fd >= 0)
		umad_close_port(n->fd);
	free(n->buf);
	n->fd = n->agent = -1;
	n->buf = NULL;
}

struct ibcc_notices *ibcc_notices_new(const struct ibcc_umad_options *o)
{
	struct ibcc_notices *n = calloc(1, sizeof(*n));
	int rc;

	if (!n)
		return NULL;
	n->fd = n->agent = -1;
	n->tid = (uint32_t)now_s() << 8;
	rc = open_port(n, o);
	if (!rc)
		rc = start(n);
	if (!rc)
		return n;
	close_port(n);
	n->trouble = rc == -EBUSY ? "another program of this host receives the port's traps"
				  : "the port cannot be opened to receive traps";
	if (rc != -ENOMEM && rc != -EAGAIN)
		return n;
	free(n);
	return NULL;
}

void ibcc_notices_free(struct ibcc_notices *n)
{
	if (!n)
		return;
	if (n->fd >= 0) {
		atomic_store(&n->quit, true);
		pthread_join(n->thread, NULL);
		close_port(n);
	}
	free(n);
}

void ibcc_notices_set_sm(struct ibcc_notices *n, uint16_t lid)
{
	atomic_store(&n->sm_lid, lid);
}

void ibcc_notices_look(const struct ibcc_notices *n, struct ibcc_notices_state *s)
{
	*s = (struct ibcc_notices_state){
		.subscribed = atomic_load(&n->subscribed),
		.n_traps = atomic_load(&n->n_traps),
		.last_trap = (uint16_t)atomic_load(&n->last_trap),
		.trouble = atomic_load(&n->trouble),
	};
}
