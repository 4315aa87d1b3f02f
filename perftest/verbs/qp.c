/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/qp.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/hex.h>
#include <ibcc/json.h>
#include <ibcc/text.h>

#define PSN_MASK      0xffffffu
#define PAGE_BYTES    4096
#define RECEIVES      4 /* receives posted for each message of a window */
#define RD_ATOMIC_MAX 16
/* Receivers that are not ready are asked again for ever: that is not an error, but normal for a
 * slow receiver.
 */
#define RNR_FOR_EVER 7
#define RNR_TIMER    12 /* 0.64 ms (IBA vol. 1, table 45) */

static int why(int rc)
{
	return rc > 0 ? rc : errno > 0 ? errno : EIO;
}

const char *ibcc_perf_qp_name(const struct ibcc_perf_qp *x, char *buf, size_t len)
{
	snprintf(buf, len, "flow %s, %s %s (queue pair %u)", x->flow->name,
		 x->spec->active == (x->flow->operation != IBCC_VERBS_READ) ? "to" : "from",
		 x->spec->peer, x->local.qpn);
	return buf;
}

/* The number of slots. A receiver has more buffers than can be on their way. They are posted again
 * only when the receiver's process gets to run, while the sender knows sooner that they are used.
 */
static uint32_t slots(const struct ibcc_perf_flow *f, bool active)
{
	return f->operation == IBCC_VERBS_SEND && !active ? RECEIVES * f->window : f->window;
}

uint32_t ibcc_perf_qp_completions(const struct ibcc_perf_flow *f, bool active)
{
	return active || f->operation == IBCC_VERBS_SEND ? slots(f, active) : 0;
}

/* Whether data leave from this queue pair, so that it has the pattern. */
static bool is_source(const struct ibcc_perf_qp *x)
{
	return x->spec->active == (x->flow->operation != IBCC_VERBS_READ);
}

static uint8_t *at_slot(const struct ibcc_perf_qp *x, uint32_t slot)
{
	return x->memory + (size_t)slot * x->flow->message_bytes;
}

static uint8_t pattern(const struct ibcc_perf_qp *x, uint32_t i)
{
	return (uint8_t)((x->flow->id * 31 + x->spec->conn * 7 + i + (i >> 8) * 13) | 1);
}

static uint32_t stamp_bytes(const struct ibcc_perf_qp *x)
{
	return x->flow->message_bytes >= 24 ? 8 : 0;
}

static void stamp(struct ibcc_perf_qp *x, uint32_t slot, uint64_t number)
{
	uint32_t n = stamp_bytes(x);

	memcpy(at_slot(x, slot), &number, n);
	memcpy(at_slot(x, slot) + x->flow->message_bytes - n, &number, n);
}

static void fill(struct ibcc_perf_qp *x)
{
	for (uint32_t s = 0; s < x->slots; s++) {
		for (uint32_t i = 0; i < x->flow->message_bytes; i++)
			at_slot(x, s)[i] = pattern(x, i);
		stamp(x, s, s);
	}
}

/* Whether the received data are the pattern, and of one message. */
static bool is_good(const struct ibcc_perf_qp *x, uint32_t slot)
{
	const uint8_t *m = at_slot(x, slot);
	uint32_t n = stamp_bytes(x), last = x->flow->message_bytes - n;

	if (memcmp(m, m + last, n))
		return false;
	for (uint32_t i = n; i < last; i++)
		if (m[i] != pattern(x, i))
			return false;
	return true;
}

static void compare(struct ibcc_perf_qp *x, uint32_t slot)
{
	x->verified++;
	if (!is_good(x, slot))
		x->bad++;
}

void ibcc_perf_qp_verify_written(struct ibcc_perf_qp *x)
{
	uint32_t last = x->flow->message_bytes - 1 - stamp_bytes(x);

	if (is_source(x) || x->flow->operation != IBCC_VERBS_WRITE)
		return;
	/* No octet of a pattern is zero, so a slot of zeros was never written to. */
	for (uint32_t s = 0; s < x->slots; s++)
		if (at_slot(x, s)[stamp_bytes(x)] || at_slot(x, s)[last])
			compare(x, s);
}

static int post_receive(struct ibcc_perf_qp *x, uint32_t number, uint32_t slot, struct ibcc_why *e)
{
	struct ibv_sge sge = { (uintptr_t)at_slot(x, slot), x->flow->message_bytes, x->mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = (uint64_t)number << 32 | slot,
				  .sg_list = &sge,
				  .num_sge = 1 };
	struct ibv_recv_wr *bad;
	char name[200];
	int rc = ibv_post_recv(x->qp, &wr, &bad);

	return rc ? ibcc_perf_fail(e, why(rc), "ibv_post_recv, %s",
				   ibcc_perf_qp_name(x, name, sizeof(name)))
		  : 0;
}

static int make_memory(struct ibcc_perf_qp *x, struct ibcc_perf_port *p, struct ibcc_why *e)
{
	size_t bytes = (size_t)x->slots * x->flow->message_bytes;
	int access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ;

	x->free_slot = calloc(x->slots, sizeof(*x->free_slot));
	x->due_ns = calloc(x->slots, sizeof(*x->due_ns));
	if (!x->free_slot || !x->due_ns || posix_memalign((void **)&x->memory, PAGE_BYTES, bytes))
		return ibcc_perf_fail(e, ENOMEM, "memory of %zu byte%s for flow %s", bytes,
				      ibcc_text_plural(bytes, "", "s"), x->flow->name);
	memset(x->memory, 0, bytes);
	for (uint32_t i = 0; i < x->slots; i++)
		x->free_slot[i] = i;
	x->n_free = x->slots;
	if (is_source(x))
		fill(x);
	errno = 0;
	x->mr = ibv_reg_mr(p->pd, x->memory, bytes, access);
	if (!x->mr)
		return ibcc_perf_fail(e, why(0), "ibv_reg_mr of %zu byte%s on %s%s", bytes,
				      ibcc_text_plural(bytes, "", "s"), p->name,
				      errno == ENOMEM
					      ? " (raise the limit of locked memory, \"ulimit -l\")"
					      : "");
	return 0;
}

static int make_qp(struct ibcc_perf_qp *x, struct ibcc_perf_port *p, struct ibcc_why *e)
{
	bool receives = x->flow->operation == IBCC_VERBS_SEND && !x->spec->active;
	struct ibv_qp_init_attr init = {
		.send_cq = p->cq,
		.recv_cq = p->cq,
		.cap = { .max_send_wr = x->spec->active ? x->slots : 1,
			 .max_recv_wr = receives ? x->slots : 1,
			 .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
		.sq_sig_all = 1,
	};
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = p->num,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ,
	};
	int rc;

	errno = 0;
	x->qp = ibv_create_qp(p->pd, &init);
	if (!x->qp)
		return ibcc_perf_fail(e, why(0), "ibv_create_qp on %s, flow %s", p->name,
				      x->flow->name);
	rc = ibv_modify_qp(x->qp, &attr,
			   IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
	return rc ? ibcc_perf_fail(e, why(rc), "ibv_modify_qp to INIT on %s, flow %s", p->name,
				   x->flow->name)
		  : 0;
}

int ibcc_perf_qp_open(struct ibcc_perf_qp *x, struct ibcc_perf_port *p,
		      const struct ibcc_perf_flow *f, const struct ibcc_perf_qp_spec *spec,
		      uint32_t number, struct ibcc_why *e)
{
	int reads =
		p->device.max_qp_rd_atom < RD_ATOMIC_MAX ? p->device.max_qp_rd_atom : RD_ATOMIC_MAX;
	int rc;

	*x = (struct ibcc_perf_qp){ .flow = f, .spec = spec, .slots = slots(f, spec->active) };
	rc = make_memory(x, p, e);
	if (!rc)
		rc = make_qp(x, p, e);
	if (rc)
		return rc;
	x->local = (struct ibcc_perf_address){
		.gid = p->gid,
		.addr = (uintptr_t)x->memory,
		.rkey = x->mr->rkey,
		.qpn = x->qp->qp_num,
		.psn = (x->qp->qp_num * 2654435761u ^ number) & PSN_MASK,
		.lid = p->attr.lid,
		.mtu = (uint8_t)p->mtu,
		.rd_atomic = (uint8_t)reads,
	};
	for (uint32_t s = 0;
	     !rc && !spec->active && f->operation == IBCC_VERBS_SEND && s < x->slots; s++)
		rc = post_receive(x, number, s, e);
	return rc;
}

int ibcc_perf_qp_connect(struct ibcc_perf_qp *x, const struct ibcc_perf_port *p,
			 const struct ibcc_perf_job *j, struct ibcc_why *e)
{
	const struct ibcc_perf_address *r = &x->remote;
	int ask = p->device.max_qp_init_rd_atom < RD_ATOMIC_MAX ? p->device.max_qp_init_rd_atom
								: RD_ATOMIC_MAX;
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_RTR,
		.path_mtu = (enum ibv_mtu)(r->mtu < p->mtu ? r->mtu : (uint8_t)p->mtu),
		.dest_qp_num = r->qpn,
		.rq_psn = r->psn,
		.max_dest_rd_atomic = x->local.rd_atomic,
		.min_rnr_timer = RNR_TIMER,
		.ah_attr = { .dlid = r->lid, .sl = x->flow->sl, .port_num = p->num },
	};
	char name[200];
	int rc;

	if (p->global) {
		attr.ah_attr.is_global = 1;
		attr.ah_attr.grh.dgid = r->gid;
		attr.ah_attr.grh.sgid_index = (uint8_t)p->gid_index;
		attr.ah_attr.grh.hop_limit = 64;
		/* Service levels of RoCE are priorities, which the traffic class gives. */
		attr.ah_attr.grh.traffic_class = (uint8_t)(x->flow->sl << 5);
	}
	rc = ibv_modify_qp(x->qp, &attr,
			   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
				   IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
				   IBV_QP_MIN_RNR_TIMER);
	if (rc)
		return ibcc_perf_fail(e, why(rc), "ibv_modify_qp to RTR, %s",
				      ibcc_perf_qp_name(x, name, sizeof(name)));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = j->ack_timeout,
		.retry_cnt = j->retries,
		.rnr_retry = RNR_FOR_EVER,
		.sq_psn = x->local.psn,
		.max_rd_atomic = (uint8_t)(ask < r->rd_atomic ? ask : r->rd_atomic),
	};
	rc = ibv_modify_qp(x->qp, &attr,
			   IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
				   IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
	return rc ? ibcc_perf_fail(e, why(rc), "ibv_modify_qp to RTS, %s",
				   ibcc_perf_qp_name(x, name, sizeof(name)))
		  : 0;
}

int ibcc_perf_qp_close(struct ibcc_perf_qp *x, struct ibcc_why *e)
{
	int rc, first = 0;

	if (x->qp && (rc = ibv_destroy_qp(x->qp)))
		first = ibcc_perf_fail(e, why(rc), "ibv_destroy_qp, flow %s", x->flow->name);
	if (x->mr && (rc = ibv_dereg_mr(x->mr)))
		first = ibcc_perf_fail(e, why(rc), "ibv_dereg_mr, flow %s", x->flow->name);
	free(x->memory);
	free(x->free_slot);
	free(x->due_ns);
	memset(x, 0, sizeof(*x));
	return first;
}

int ibcc_perf_qp_post(struct ibcc_perf_qp *x, uint32_t number, uint64_t due_ns, bool verify,
		      struct ibcc_why *e)
{
	uint32_t slot = x->free_slot[x->first_free], bytes = x->flow->message_bytes;
	struct ibv_sge sge = { (uintptr_t)at_slot(x, slot), bytes, x->mr->lkey };
	struct ibv_send_wr wr = { .wr_id = (uint64_t)number << 32 | slot,
				  .sg_list = &sge,
				  .num_sge = 1,
				  .send_flags = IBV_SEND_SIGNALED };
	struct ibv_send_wr *bad;
	char name[200];
	int rc;

	switch (x->flow->operation) {
	case IBCC_VERBS_WRITE: wr.opcode = IBV_WR_RDMA_WRITE; break;
	case IBCC_VERBS_SEND: wr.opcode = IBV_WR_SEND; break;
	case IBCC_VERBS_READ: wr.opcode = IBV_WR_RDMA_READ; break;
	}
	wr.wr.rdma.remote_addr = x->remote.addr + (uint64_t)slot * bytes;
	wr.wr.rdma.rkey = x->remote.rkey;
	if (is_source(x))
		stamp(x, slot, x->posted);
	else if (verify)
		memset(at_slot(x, slot), 0, bytes);
	rc = ibv_post_send(x->qp, &wr, &bad);
	if (rc)
		return ibcc_perf_fail(e, why(rc), "ibv_post_send, %s",
				      ibcc_perf_qp_name(x, name, sizeof(name)));
	x->first_free = (x->first_free + 1) % x->slots;
	x->n_free--;
	x->due_ns[slot] = due_ns;
	x->posted++;
	return 0;
}

void ibcc_perf_qp_done(struct ibcc_perf_qp *x, uint32_t slot, bool verify)
{
	if (verify && x->flow->operation == IBCC_VERBS_READ)
		compare(x, slot);
	x->free_slot[(x->first_free + x->n_free++) % x->slots] = slot;
}

int ibcc_perf_qp_received(struct ibcc_perf_qp *x, uint32_t number, uint32_t slot, bool verify,
			  uint32_t bytes, struct ibcc_why *e)
{
	x->received++;
	if (verify && bytes == x->flow->message_bytes) {
		compare(x, slot);
	} else if (bytes != x->flow->message_bytes) {
		x->verified++;
		x->bad++;
	}
	return post_receive(x, number, slot, e);
}

json_t *ibcc_perf_address_json(const struct ibcc_perf_address *a)
{
	/* The GID's halves are strings, as JSON's integers have a sign. */
	return json_pack("{so so sI sI sI si si si}", "gid",
			 ibcc_json_hex(a->gid.raw, sizeof(a->gid.raw)), "addr",
			 json_sprintf("%" PRIx64, a->addr), "rkey", (json_int_t)a->rkey, "qpn",
			 (json_int_t)a->qpn, "psn", (json_int_t)a->psn, "lid", a->lid, "mtu",
			 a->mtu, "rd_atomic", a->rd_atomic);
}

int ibcc_perf_address_read(struct ibcc_perf_address *a, const json_t *o)
{
	json_int_t rkey, qpn, psn;
	int lid, mtu, reads;
	json_t *gid;
	const char *addr;
	size_t n;

	if (json_unpack((json_t *)o, "{so ss sI sI sI si si si}", "gid", &gid, "addr", &addr,
			"rkey", &rkey, "qpn", &qpn, "psn", &psn, "lid", &lid, "mtu", &mtu,
			"rd_atomic", &reads))
		return -EPROTO;
	if (!ibcc_json_read_hex(gid, a->gid.raw, sizeof(a->gid.raw)) || rkey < 0 ||
	    rkey > UINT32_MAX || qpn < 0 || qpn > PSN_MASK || psn < 0 || psn > PSN_MASK ||
	    lid < 0 || lid > UINT16_MAX || mtu < IBV_MTU_256 || mtu > IBV_MTU_4096 || reads < 0 ||
	    reads > RD_ATOMIC_MAX)
		return -EPROTO;
	n = ibcc_hex_read(addr, &a->addr);
	if (!n || addr[n])
		return -EPROTO;
	a->rkey = (uint32_t)rkey;
	a->qpn = (uint32_t)qpn;
	a->psn = (uint32_t)psn;
	a->lid = (uint16_t)lid;
	a->mtu = (uint8_t)mtu;
	a->rd_atomic = (uint8_t)reads;
	return 0;
}
