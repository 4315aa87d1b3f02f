/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "sim/inproc.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PS_PER_NS 1000u

struct inproc {
	struct ibcc_transport base;
	struct ibcc_agents *agents;
	const struct ibcc_engine *engine;
	const struct ibcc_topo *topo;
	uint64_t tid;
};

static uint64_t inproc_now_ns(struct ibcc_transport *t)
{
	struct inproc *p = (struct inproc *)t;

	return ibcc_engine_now_ps(p->engine) / PS_PER_NS;
}

static void answer(struct inproc *p, struct ibcc_mad_op *op)
{
	uint32_t port = ibcc_topo_port_of_lid(p->topo, op->lid);
	uint8_t reply[IBCC_MAD_BYTES];
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(op->mad, &h);
	h.tid = ++p->tid;
	ibcc_mad_header_pack(op->mad, &h);
	op->status = 0;
	op->t_ns = inproc_now_ns(&p->base);
	p->base.stats.sent++;
	p->base.stats.sets += h.method == IBCC_MAD_SET;
	if (port == IBCC_NONE ||
	    ibcc_agents_answer(p->agents, p->topo->port[port].endport, op->mad, reply)) {
		p->base.stats.timed_out++;
		op->err = -ETIMEDOUT;
		return;
	}
	memcpy(op->mad, reply, sizeof(op->mad));
	ibcc_mad_header_unpack(op->mad, &h);
	p->base.stats.answered++;
	op->status = h.status;
	op->err = h.status ? -EREMOTEIO : 0;
}

static int inproc_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	for (size_t i = 0; i < n; i++)
		answer((struct inproc *)t, &op[i]);
	return 0;
}

static void inproc_free(struct ibcc_transport *t)
{
	free(t);
}

struct ibcc_transport *ibcc_inproc_new(struct ibcc_agents *a, const struct ibcc_engine *e,
				       const struct ibcc_topo *t)
{
	static const struct ibcc_transport_ops ops = {
		.run = inproc_run,
		.now_ns = inproc_now_ns,
		.free = inproc_free,
	};
	struct inproc *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	*p = (struct inproc){
		.base.ops = &ops,
		.agents = a,
		.engine = e,
		.topo = t,
	};
	return &p->base;
}
