/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The objects that are made, and the work that is done with them. */
#include "tests/double/inside.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/now.h>

/* The header hides the function behind a macro. */
#undef ibv_reg_mr

struct recv {
	uint64_t wr_id;
	struct ibv_sge sge;
};

struct send {
	struct ibv_send_wr wr;
	struct ibv_sge sge;
};

struct entry {
	struct ibv_wc wc;
	uint64_t ready_ns;
};

struct channel {
	struct ibv_comp_channel ch;
	struct cq *cq; /* the only completion queue */
};

struct cq {
	struct ibv_cq cq;
	struct entry *ring;
	int n;
	bool armed, timed;
};

struct qp {
	struct ibv_qp qp;
	uint32_t dest, max_send, max_recv;
	struct recv *recv;
	uint32_t n_recv;
	struct send *waiting; /* sends that wait for a receive of the peer */
	uint32_t n_waiting, outstanding;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct qp *qps[QPS_MAX];
static struct ibv_mr *mrs[MRS_MAX];
void double_reset(void)
{
	pthread_mutex_lock(&lock);
	memset(&double_verbs, 0, sizeof(double_verbs));
	double_verbs.async_event = -1;
	double_verbs.max_cqe = 65535;
	double_forget_calls();
	memset(qps, 0, sizeof(qps));
	memset(mrs, 0, sizeof(mrs));
	pthread_mutex_unlock(&lock);
}

/* Completes a work request. Call with the lock held. */
static void complete(struct ibv_cq *queue, const struct ibv_wc *wc)
{
	struct cq *cq = (struct cq *)queue;
	struct entry *e = &cq->ring[cq->n];
	struct itimerspec at = { { 0, 0 }, { 0, 0 } };

	if (cq->n == cq->cq.cqe) {
		double_verbs.overflows++;
		return;
	}
	*e = (struct entry){ *wc, ibcc_now_ns() + double_verbs.delay_ns };
	if (double_fails("completion"))
		e->wc.status = double_verbs.fail_status;
	cq->n++;
	if (!cq->armed || cq->timed || !cq->cq.channel)
		return;
	at.it_value.tv_sec = (time_t)(e->ready_ns / 1000000000);
	at.it_value.tv_nsec = (long)(e->ready_ns % 1000000000);
	timerfd_settime(cq->cq.channel->fd, TFD_TIMER_ABSTIME, &at, NULL);
	cq->timed = true;
}

static struct ibv_mr *find_mr(uint32_t key, uint64_t addr, uint32_t len)
{
	struct ibv_mr *mr = key && key < MRS_MAX ? mrs[key] : NULL;

	return mr && addr >= (uintptr_t)mr->addr && len <= mr->length &&
			       addr - (uintptr_t)mr->addr <= mr->length - len
		       ? mr
		       : NULL;
}

static void copy(uint64_t to, uint64_t from, uint32_t len)
{
	memcpy((void *)(uintptr_t)to, (const void *)(uintptr_t)from, len);
	if (++double_verbs.messages == double_verbs.corrupt_nth)
		((uint8_t *)(uintptr_t)to)[len / 2] ^= 2;
}

/* Matches a send with the receive that takes it. */
static enum ibv_wc_status deliver(struct qp *peer, const struct send *s)
{
	struct recv r = peer->recv[0];
	struct ibv_wc wc = { .wr_id = r.wr_id,
			     .opcode = IBV_WC_RECV,
			     .byte_len = s->sge.length,
			     .qp_num = peer->qp.qp_num };

	memmove(peer->recv, peer->recv + 1, --peer->n_recv * sizeof(*peer->recv));
	if (s->sge.length > r.sge.length)
		wc.status = IBV_WC_LOC_LEN_ERR;
	else
		copy(r.sge.addr, s->sge.addr, s->sge.length);
	complete(peer->qp.recv_cq, &wc);
	return wc.status ? IBV_WC_REM_INV_REQ_ERR : IBV_WC_SUCCESS;
}

static void finish(struct qp *qp, const struct send *s, enum ibv_wc_status status)
{
	static const enum ibv_wc_opcode opcodes[] = { [IBV_WR_RDMA_WRITE] = IBV_WC_RDMA_WRITE,
						      [IBV_WR_SEND] = IBV_WC_SEND,
						      [IBV_WR_RDMA_READ] = IBV_WC_RDMA_READ };
	struct ibv_wc wc = { .wr_id = s->wr.wr_id,
			     .status = status,
			     .opcode = opcodes[s->wr.opcode],
			     .byte_len = s->sge.length,
			     .qp_num = qp->qp.qp_num };

	complete(qp->qp.send_cq, &wc);
	qp->outstanding--;
}

/* Does the posted work, or lets it wait for a receive. */
static void work(struct qp *qp, const struct send *s)
{
	struct qp *peer = qp->dest < QPS_MAX ? qps[qp->dest] : NULL;
	uint64_t there = s->wr.wr.rdma.remote_addr;
	enum ibv_wc_status status = IBV_WC_SUCCESS;

	if (!find_mr(s->sge.lkey, s->sge.addr, s->sge.length)) {
		status = IBV_WC_LOC_PROT_ERR;
	} else if (!peer || double_verbs.deaf) {
		status = IBV_WC_RETRY_EXC_ERR;
	} else if (s->wr.opcode == IBV_WR_SEND) {
		if (!peer->n_recv && !double_verbs.impatient) {
			qp->waiting[qp->n_waiting++] = *s;
			return;
		}
		status = double_verbs.impatient ? IBV_WC_RNR_RETRY_EXC_ERR : deliver(peer, s);
	} else if (!find_mr(s->wr.wr.rdma.rkey, there, s->sge.length)) {
		status = IBV_WC_REM_ACCESS_ERR;
	} else if (s->wr.opcode == IBV_WR_RDMA_WRITE) {
		copy(there, s->sge.addr, s->sge.length);
	} else {
		copy(s->sge.addr, there, s->sge.length);
	}
	finish(qp, s, status);
}

static int post_send(struct ibv_qp *q, struct ibv_send_wr *wr, struct ibv_send_wr **bad)
{
	struct qp *qp = (struct qp *)q;
	struct send s = { *wr, *wr->sg_list };
	int rc = 0;

	pthread_mutex_lock(&lock);
	*bad = wr;
	if (double_fails("ibv_post_send") || qp->outstanding == qp->max_send)
		rc = ENOMEM;
	else if (q->state != IBV_QPS_RTS)
		rc = EINVAL;
	if (!rc) {
		qp->outstanding++;
		if (qp->n_waiting)
			qp->waiting[qp->n_waiting++] = s;
		else
			work(qp, &s);
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static int post_recv(struct ibv_qp *q, struct ibv_recv_wr *wr, struct ibv_recv_wr **bad)
{
	struct qp *qp = (struct qp *)q, *peer;
	int rc = 0;

	pthread_mutex_lock(&lock);
	*bad = wr;
	if (double_fails("ibv_post_recv") || qp->n_recv == qp->max_recv) {
		rc = ENOMEM;
	} else {
		qp->recv[qp->n_recv++] = (struct recv){ wr->wr_id, *wr->sg_list };
		peer = qp->dest && qp->dest < QPS_MAX ? qps[qp->dest] : NULL;
		if (peer && peer->n_waiting) {
			struct send s = peer->waiting[0];

			memmove(peer->waiting, peer->waiting + 1,
				--peer->n_waiting * sizeof(*peer->waiting));
			work(peer, &s);
		}
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

static int poll_cq(struct ibv_cq *queue, int max, struct ibv_wc *wc)
{
	struct cq *cq = (struct cq *)queue;
	uint64_t now = ibcc_now_ns();
	int n = 0;

	pthread_mutex_lock(&lock);
	if (double_fails("ibv_poll_cq")) {
		n = -1;
	} else {
		while (n < max && n < cq->n && cq->ring[n].ready_ns <= now) {
			wc[n] = cq->ring[n].wc;
			n++;
		}
		cq->n -= n;
		memmove(cq->ring, cq->ring + n, (size_t)cq->n * sizeof(*cq->ring));
	}
	pthread_mutex_unlock(&lock);
	return n;
}

static int req_notify_cq(struct ibv_cq *queue, int solicited_only)
{
	struct cq *cq = (struct cq *)queue;
	struct itimerspec at = { { 0, 0 }, { 0, 0 } };
	uint64_t now = ibcc_now_ns();
	int rc = 0;

	(void)solicited_only;
	pthread_mutex_lock(&lock);
	if (double_fails("ibv_req_notify_cq")) {
		rc = EIO;
	} else {
		cq->armed = true;
		/* A completion that becomes ready later than now counts as new. */
		for (int i = 0; i < cq->n && !cq->timed && cq->cq.channel; i++) {
			if (cq->ring[i].ready_ns <= now)
				continue;
			at.it_value.tv_sec = (time_t)(cq->ring[i].ready_ns / 1000000000);
			at.it_value.tv_nsec = (long)(cq->ring[i].ready_ns % 1000000000);
			timerfd_settime(cq->cq.channel->fd, TFD_TIMER_ABSTIME, &at, NULL);
			cq->timed = true;
		}
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

PUBLIC struct ibv_context *ibv_open_device(struct ibv_device *d)
{
	struct ibv_context *c = double_make("ibv_open_device", sizeof(*c));

	if (!c)
		return NULL;
	c->device = d;
	c->async_fd = eventfd(double_verbs.async_event >= 0, EFD_CLOEXEC);
	c->cmd_fd = -1;
	c->num_comp_vectors = 1;
	c->ops.poll_cq = poll_cq;
	c->ops.req_notify_cq = req_notify_cq;
	c->ops.post_send = post_send;
	c->ops.post_recv = post_recv;
	return c;
}

PUBLIC int ibv_close_device(struct ibv_context *c)
{
	close(c->async_fd);
	return double_unmake("ibv_close_device", c);
}

PUBLIC struct ibv_pd *ibv_alloc_pd(struct ibv_context *c)
{
	struct ibv_pd *pd = double_make("ibv_alloc_pd", sizeof(*pd));

	if (pd)
		pd->context = c;
	return pd;
}

PUBLIC int ibv_dealloc_pd(struct ibv_pd *pd)
{
	return double_unmake("ibv_dealloc_pd", pd);
}

PUBLIC struct ibv_mr *ibv_reg_mr(struct ibv_pd *pd, void *addr, size_t len, int access)
{
	struct ibv_mr *mr = double_make("ibv_reg_mr", sizeof(*mr));
	uint32_t key = 1;

	(void)access;
	if (!mr)
		return NULL;
	pthread_mutex_lock(&lock);
	while (mrs[key])
		key++;
	mrs[key] = mr;
	pthread_mutex_unlock(&lock);
	*mr = (struct ibv_mr){ pd->context, pd, addr, len, key, key, key };
	return mr;
}

PUBLIC struct ibv_mr *ibv_reg_mr_iova2(struct ibv_pd *pd, void *addr, size_t len, uint64_t iova,
				       unsigned int access)
{
	(void)iova;
	return ibv_reg_mr(pd, addr, len, (int)access);
}

PUBLIC int ibv_dereg_mr(struct ibv_mr *mr)
{
	pthread_mutex_lock(&lock);
	mrs[mr->lkey] = NULL;
	pthread_mutex_unlock(&lock);
	return double_unmake("ibv_dereg_mr", mr);
}

PUBLIC struct ibv_comp_channel *ibv_create_comp_channel(struct ibv_context *c)
{
	struct channel *ch = double_make("ibv_create_comp_channel", sizeof(*ch));

	if (!ch)
		return NULL;
	ch->ch.context = c;
	ch->ch.fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
	return &ch->ch;
}

PUBLIC int ibv_destroy_comp_channel(struct ibv_comp_channel *ch)
{
	close(ch->fd);
	return double_unmake("ibv_destroy_comp_channel", ch);
}

PUBLIC struct ibv_cq *ibv_create_cq(struct ibv_context *c, int cqe, void *context,
				    struct ibv_comp_channel *ch, int vector)
{
	struct cq *cq = double_make("ibv_create_cq", sizeof(*cq));

	(void)vector;
	if (!cq)
		return NULL;
	cq->ring = calloc((size_t)cqe + 1, sizeof(*cq->ring));
	cq->cq.context = c;
	cq->cq.channel = ch;
	cq->cq.cq_context = context;
	cq->cq.cqe = cqe;
	if (ch)
		((struct channel *)ch)->cq = cq;
	return &cq->cq;
}

PUBLIC int ibv_destroy_cq(struct ibv_cq *queue)
{
	struct cq *cq = (struct cq *)queue;

	free(cq->ring);
	return double_unmake("ibv_destroy_cq", cq);
}

PUBLIC int ibv_get_cq_event(struct ibv_comp_channel *ch, struct ibv_cq **queue, void **context)
{
	uint64_t n;
	int rc = -1;

	pthread_mutex_lock(&lock);
	if (double_fails("ibv_get_cq_event")) {
		errno = EIO;
	} else if (read(ch->fd, &n, sizeof(n)) == sizeof(n)) {
		struct cq *cq = ((struct channel *)ch)->cq;

		cq->armed = cq->timed = false;
		*queue = &cq->cq;
		*context = cq->cq.cq_context;
		rc = 0;
	}
	pthread_mutex_unlock(&lock);
	return rc;
}

PUBLIC void ibv_ack_cq_events(struct ibv_cq *queue, unsigned int n)
{
	(void)queue;
	(void)n;
}

PUBLIC struct ibv_qp *ibv_create_qp(struct ibv_pd *pd, struct ibv_qp_init_attr *a)
{
	struct qp *qp = double_make("ibv_create_qp", sizeof(*qp));
	uint32_t num = 17;

	if (!qp)
		return NULL;
	qp->max_send = a->cap.max_send_wr;
	qp->max_recv = a->cap.max_recv_wr;
	qp->recv = calloc(qp->max_recv + 1u, sizeof(*qp->recv));
	qp->waiting = calloc(qp->max_send + 1u, sizeof(*qp->waiting));
	qp->qp.context = pd->context;
	qp->qp.pd = pd;
	qp->qp.send_cq = a->send_cq;
	qp->qp.recv_cq = a->recv_cq;
	qp->qp.qp_type = a->qp_type;
	pthread_mutex_lock(&lock);
	while (qps[num])
		num++;
	qps[num] = qp;
	pthread_mutex_unlock(&lock);
	qp->qp.qp_num = num;
	return &qp->qp;
}

PUBLIC int ibv_modify_qp(struct ibv_qp *q, struct ibv_qp_attr *a, int mask)
{
	struct qp *qp = (struct qp *)q;
	int rc = 0;

	pthread_mutex_lock(&lock);
	if (double_fails("ibv_modify_qp") || !(mask & IBV_QP_STATE) ||
	    a->qp_state != q->state + 1) /* RESET, INIT, RTR, RTS */
		rc = EINVAL;
	if (!rc && mask & IBV_QP_DEST_QPN)
		qp->dest = a->dest_qp_num;
	if (!rc && mask & IBV_QP_TIMEOUT)
		double_verbs.ack_timeout = a->timeout;
	if (!rc && mask & IBV_QP_RETRY_CNT)
		double_verbs.retries = a->retry_cnt;
	if (!rc)
		q->state = a->qp_state;
	pthread_mutex_unlock(&lock);
	return rc;
}

PUBLIC int ibv_destroy_qp(struct ibv_qp *q)
{
	struct qp *qp = (struct qp *)q;

	pthread_mutex_lock(&lock);
	qps[q->qp_num] = NULL;
	pthread_mutex_unlock(&lock);
	free(qp->recv);
	free(qp->waiting);
	return double_unmake("ibv_destroy_qp", qp);
}

PUBLIC int ibv_get_async_event(struct ibv_context *c, struct ibv_async_event *event)
{
	uint64_t n;

	if (double_fails("ibv_get_async_event")) {
		errno = EIO;
		return -1;
	}
	if (read(c->async_fd, &n, sizeof(n)) != sizeof(n))
		return -1;
	memset(event, 0, sizeof(*event));
	event->event_type = (enum ibv_event_type)double_verbs.async_event;
	event->element.port_num = 1;
	return 0;
}

PUBLIC void ibv_ack_async_event(struct ibv_async_event *event)
{
	(void)event;
}
