/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A fabric of adapters and switches with NVIDIA's congestion control, behind a transport that
 * counts what they are asked.
 */
#ifndef TEST_VENDORS_H
#define TEST_VENDORS_H

#include <errno.h>

#include <ibcc/device.h>
#include <ibcc/inproc.h>
#include <ibcc/smp.h>
#include <ibcc/vendor.h>

#include "tests/unit/agents.h"

#define CX6       0x101b
#define CX3       0x1003
#define QUANTUM2  0xd2f2
#define MINUTE_NS 60000000000ull

/* A transport that passes on what the agents answer, counts, and can be deaf to a class. */
struct line {
	struct ibcc_transport base;
	struct ibcc_transport *inner;
	uint64_t now_ns;
	bool deaf[256];
	bool lost[64];      /* by LID: requests of class 0x21 */
	uint64_t mad_ns;    /* what a request takes */
	uint64_t owner[64]; /* by LID: GUID that NodeInfo tells; 0: none does */
	unsigned int n[256], n_sets, most;
	uint8_t lost_port; /* Sets of this port only are lost; 0: of all */
};

struct fixture {
	struct agent_fabric f;
	struct line line;
	struct ibcc_snapshot s;
	struct ibcc_vendor v;
};

static inline void tell_owner(const struct line *l, struct ibcc_mad_op *op)
{
	op->err = op->lid < 64 && l->owner[op->lid] ? 0 : -ETIMEDOUT;
	if (!op->err)
		mad_set_field64(op->mad + MAD_DATA, 0, IB_NODE_GUID_F, l->owner[op->lid]);
}

static inline int line_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct line *l = (struct line *)t;

	for (size_t i = 0; i < n; i++) {
		uint8_t mgmt_class = op[i].mad[1];

		if (l->base.deadline_ns && l->now_ns >= l->base.deadline_ns) {
			op[i].err = -ETIMEDOUT;
			continue;
		}
		l->now_ns += l->mad_ns;
		l->n[mgmt_class]++;
		l->n_sets += op[i].mad[3] == IBCC_MAD_SET;
		if (mgmt_class == IBCC_MAD_CLASS_SMP && n > l->most)
			l->most = (unsigned int)n;
		if (l->deaf[mgmt_class] ||
		    (mgmt_class == IBCC_MAD_CLASS_CC && op[i].lid < 64 && l->lost[op[i].lid]))
			op[i].err = -ETIMEDOUT;
		else if (mgmt_class == 1 && op[i].mad[17] == IBCC_SMP_ATTR_NODE_INFO)
			tell_owner(l, &op[i]);
		else
			assert_int_equal(ibcc_transport_run(l->inner, &op[i], 1), 0);
	}
	return 0;
}

static inline uint64_t line_now(struct ibcc_transport *t)
{
	return ((struct line *)t)->now_ns;
}

static const struct ibcc_transport_ops line_ops = { .run = line_run, .now_ns = line_now };

/* The Lustre fabric with ConnectX-6 and Quantum-2; no node has NVIDIA's control yet. */
static inline void open_fixture(struct fixture *x)
{
	*x = (struct fixture){ .line = { .base.ops = &line_ops, .now_ns = 1 } };
	agents_open(&x->f, 48);
	for (uint32_t i = 0; i < x->f.topo->n_nodes; i++) {
		x->f.topo->node[i].vendor_id = IBCC_VENDOR_MELLANOX;
		x->f.topo->node[i].device_id = ibcc_topo_is_switch(x->f.topo, i) ? QUANTUM2 : CX6;
	}
	x->line.inner = ibcc_inproc_new(x->f.agents, x->f.engine, x->f.topo, NULL);
	assert_int_equal(ibcc_vendor_rebase(&x->v, NULL, x->f.topo), 0);
	assert_int_equal(ibcc_snapshot_init(&x->s, x->f.topo), 0);
}

static inline void close_fixture(struct fixture *x)
{
	ibcc_vendor_fini(&x->v);
	ibcc_snapshot_fini(&x->s);
	ibcc_transport_free(x->line.inner);
	agents_close(&x->f);
}

static inline void give(struct fixture *x, uint32_t node, enum ibcc_nvidia_cc cc)
{
	assert_int_equal(ibcc_agents_set_nvidia_cc(x->f.agents, node, cc), 0);
}

static inline void give_all(struct fixture *x, enum ibcc_nvidia_cc cc)
{
	for (uint32_t i = 0; i < x->f.topo->n_nodes; i++)
		give(x, i, cc);
}

static inline void ask(struct fixture *x, uint64_t key)
{
	memset(x->line.n, 0, sizeof(x->line.n));
	assert_int_equal(ibcc_vendor_ask(&x->line.base, x->f.topo, key, &x->v), 0);
	assert_int_equal(x->line.n_sets, 0);
	assert_true(x->line.most <= 2);
}

static inline int count(struct fixture *x)
{
	return ibcc_vendor_count(&x->line.base, x->f.topo, 0, false, &x->s, &x->v);
}

static inline enum ibcc_vendor_cc cc_of(const struct fixture *x, uint32_t node)
{
	return x->v.ep[agents_endport(&x->f, node)].cc;
}

#endif
