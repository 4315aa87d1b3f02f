/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/lab/poll.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <infiniband/mad.h>
#include <infiniband/umad.h>

#include <ibcc/ccmad.h>
#include <ibcc/grow.h>
#include <ibcc/now.h>

#include "perftest/bench/bench.h"
#include "perftest/lab/speed.h"

static int record_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct ibcc_poll_record *r = (struct ibcc_poll_record *)t;

	struct ibcc_mad_op *all = ibcc_grow_to(r->op, r->n + (uint32_t)n, &r->cap, sizeof(*all));

	if (!all)
		return -ENOMEM;
	r->op = all;
	memcpy(r->op + r->n, op, n * sizeof(*op));
	r->n += (uint32_t)n;
	r->inner->deadline_ns = t->deadline_ns;
	return ibcc_transport_run(r->inner, op, n);
}

static uint64_t record_now_ns(struct ibcc_transport *t)
{
	return ibcc_transport_now_ns(((struct ibcc_poll_record *)t)->inner);
}

static uint64_t record_fabric_ns(struct ibcc_transport *t)
{
	return ibcc_transport_fabric_ns(((struct ibcc_poll_record *)t)->inner);
}

void ibcc_poll_record_init(struct ibcc_poll_record *r, struct ibcc_transport *inner)
{
	static const struct ibcc_transport_ops ops = { .run = record_run,
						       .now_ns = record_now_ns,
						       .fabric_ns = record_fabric_ns };

	*r = (struct ibcc_poll_record){ .base = { .ops = &ops, .simulated = inner->simulated },
					.inner = inner };
}

void ibcc_poll_record_fini(struct ibcc_poll_record *r)
{
	free(r->op);
	r->op = NULL;
	r->n = r->cap = 0;
}

void ibcc_poll_once_begin(struct ibcc_poll_once *o, const struct ibcc_transport *tr)
{
	o->seconds = ibcc_now_s();
	o->mads = tr->stats.sent;
	o->smps = tr->stats.smps;
}

void ibcc_poll_once_end(struct ibcc_poll_once *o, const struct ibcc_transport *tr)
{
	o->seconds = ibcc_now_s() - o->seconds;
	o->mads = tr->stats.sent - o->mads;
	o->smps = tr->stats.smps - o->smps;
}

/* An umad port with the two classes that polling uses. */
struct bare {
	int fd, perf, cc;
	void *buf;
};

static int bare_send(struct bare *b, const struct ibcc_mad_op *op, uint32_t tid)
{
	uint8_t *mad = umad_get_mad(b->buf);

	memcpy(mad, op->mad, IBCC_MAD_BYTES);
	mad_set_field64(mad, 0, IB_MAD_TRID_F, tid);
	umad_set_addr(b->buf, op->lid, 1, op->sl, IB_DEFAULT_QP1_QKEY);
	return umad_send(b->fd, op->mad[1] == IBCC_MAD_CLASS_CC ? b->cc : b->perf, b->buf,
			 IBCC_MAD_BYTES, IBCC_SPEED_TIMEOUT_MS, 0);
}

static int bare_loop(struct bare *b, const struct ibcc_mad_op *op, size_t n, unsigned int window)
{
	size_t sent = 0, got = 0;

	while (got < n) {
		int len = IBCC_MAD_BYTES;

		while (sent < n && sent - got < window) {
			if (bare_send(b, &op[sent], (uint32_t)sent + 1) < 0)
				return -EIO;
			sent++;
		}
		if (umad_recv(b->fd, b->buf, &len, IBCC_SPEED_TIMEOUT_MS) < 0)
			return -EIO;
		got++;
	}
	return 0;
}

int ibcc_poll_bare(const struct ibcc_mad_op *op, size_t n, unsigned int window, double *s)
{
	struct bare b = { .fd = umad_open_port(NULL, 0) };
	double start;
	int rc = -EIO;

	if (b.fd < 0)
		return rc;
	b.buf = umad_alloc(1, umad_size() + IBCC_MAD_BYTES);
	b.perf = umad_register(b.fd, IBCC_MAD_CLASS_PERF, 1, 0, NULL);
	b.cc = umad_register(b.fd, IBCC_MAD_CLASS_CC, IBCC_CC_CLASS_VERSION, 0, NULL);
	if (b.buf && b.perf >= 0 && b.cc >= 0) {
		start = ibcc_now_s();
		rc = bare_loop(&b, op, n, window);
		*s = ibcc_now_s() - start;
	}
	if (b.perf >= 0)
		umad_unregister(b.fd, b.perf);
	if (b.cc >= 0)
		umad_unregister(b.fd, b.cc);
	umad_close_port(b.fd);
	free(b.buf);
	return rc;
}

int ibcc_poll_command(const char *const argv[], double *s)
{
	posix_spawn_file_actions_t fa;
	double start = ibcc_now_s();
	int status = -1, rc;
	pid_t pid;

	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&pid, argv[0], &fa, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (rc)
		return -rc;
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	*s = ibcc_now_s() - start;
	if (WIFSIGNALED(status))
		return -EFAULT;
	/* Exit code 1 means that the program found errors to report. */
	return WIFEXITED(status) && WEXITSTATUS(status) <= 1 ? 0 : -EIO;
}
