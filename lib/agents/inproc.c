/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The transport of a simulated fabric in one process: it answers MADs by the agents, and lets the
 * engine's time pass while they travel.
 *
 * Requests leave evenly spaced, one window of them in each round trip. Requests to one node keep
 * a window of their own, if the options ask for it. Each reaches its node half a round trip after
 * it left. So a poll of a whole fabric does not see all ports at one instant, as it does not on
 * hardware.
 */
#include <ibcc/inproc.h>

#include <errno.h>
#include <stdlib.h>

#include <ibcc/rng.h>

#define WINDOW 64u

struct inproc {
	struct ibcc_transport base;
	struct ibcc_inproc_options o;
	const struct ibcc_topo *topo;
	struct ibcc_engine *engine;
	struct ibcc_agents *agents;
	struct ibcc_topo *own_topo; /* NULL: topology, engine and agents are the caller's */
	uint64_t tid, rng;
	uint64_t *free_ns; /* by node: the next request to it leaves no sooner */
	struct turn *turn; /* of a run */
	size_t cap_turns;
};

struct turn {
	uint64_t sent_ns;
	size_t op;
};

static uint64_t inproc_now(struct ibcc_transport *t)
{
	return ibcc_engine_now_ps(((struct inproc *)t)->engine) / IBCC_PS_PER_NS;
}

/* Lets the engine run to a time that may have passed already. */
static int run_until(struct inproc *p, uint64_t ns)
{
	uint64_t ps = ns * IBCC_PS_PER_NS;

	return ps > ibcc_engine_now_ps(p->engine) ? ibcc_engine_run(p->engine, ps) : 0;
}

/* Whether a MAD to a port's node is lost, by the node's loss rate. */
static bool is_lost(struct inproc *p, uint32_t port)
{
	uint16_t loss = ibcc_agents_loss(p->agents, p->topo->port[port].node);

	return loss && ibcc_rng_next(&p->rng) % 1000 < loss;
}

/* Lets the node answer a request, at the time at which it arrives. */
static void serve(struct inproc *p, struct ibcc_mad_op *op)
{
	uint32_t port = ibcc_topo_port_of_lid(p->topo, op->lid);
	struct ibcc_mad_header h;

	ibcc_mad_header_unpack(op->mad, &h);
	h.tid = ++p->tid;
	ibcc_mad_header_pack(op->mad, &h);
	p->base.stats.sent++;
	p->base.stats.sets += h.method == IBCC_MAD_SET;
	op->status = 0;
	op->err = -ETIMEDOUT;
	if (port != IBCC_NONE && !is_lost(p, port) &&
	    !ibcc_agents_answer(p->agents, p->topo->port[port].endport, op->mad, op->mad)) {
		ibcc_mad_header_unpack(op->mad, &h);
		op->status = h.status;
		op->err = h.status ? -EREMOTEIO : 0;
	}
	if (op->err == -ETIMEDOUT)
		p->base.stats.timed_out++;
	else
		p->base.stats.answered++;
	p->base.stats.refused += op->err == -EREMOTEIO;
}

static int by_time(const void *a, const void *b)
{
	const struct turn *x = a, *y = b;

	if (x->sent_ns != y->sent_ns)
		return x->sent_ns < y->sent_ns ? -1 : 1;
	return x->op < y->op ? -1 : x->op > y->op;
}

/* Decides when each request leaves: in the order of the array, except that a request waits for
 * earlier ones to its node.
 */
static int take_turns(struct inproc *p, const struct ibcc_mad_op *op, size_t n)
{
	uint64_t begin = inproc_now(&p->base);

	if (n > p->cap_turns) {
		struct turn *more = reallocarray(p->turn, n, sizeof(*more));

		if (!more)
			return -ENOMEM;
		p->turn = more;
		p->cap_turns = n;
	}
	if (!p->free_ns && p->o.node_window)
		p->free_ns = calloc(p->topo->n_nodes, sizeof(*p->free_ns));
	if (!p->free_ns && p->o.node_window)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		uint32_t port = ibcc_topo_port_of_lid(p->topo, op[i].lid);
		uint64_t *node = p->free_ns && port != IBCC_NONE
					 ? &p->free_ns[p->topo->port[port].node]
					 : NULL;
		uint64_t sent = begin + i * p->o.rtt_ns / p->o.window;

		if (node && *node > sent)
			sent = *node;
		if (node)
			*node = sent + p->o.rtt_ns / p->o.node_window;
		p->turn[i] = (struct turn){ sent, i };
	}
	if (p->o.node_window)
		qsort(p->turn, n, sizeof(*p->turn), by_time);
	return 0;
}

/* Sends all requests, answers them, and lets time pass until the last answer or time-out. */
static int inproc_run(struct ibcc_transport *t, struct ibcc_mad_op *op, size_t n)
{
	struct inproc *p = (struct inproc *)t;
	uint64_t end = inproc_now(t);
	size_t i, k;
	int err = n ? take_turns(p, op, n) : 0;

	for (i = 0; i < n; i++)
		op[i].err = -EIO;
	for (i = 0; i < n && !err; i++) {
		uint64_t sent = p->turn[i].sent_ns;

		k = p->turn[i].op;
		err = run_until(p, sent + p->o.rtt_ns / 2);
		if (err)
			break;
		serve(p, &op[k]);
		op[k].t_ns = sent + (op[k].err == -ETIMEDOUT ? p->o.timeout_ns : p->o.rtt_ns);
		if (op[k].t_ns > end)
			end = op[k].t_ns;
	}
	if (!err)
		err = run_until(p, end);
	return err ? -EIO : 0;
}

static void inproc_free(struct ibcc_transport *t)
{
	struct inproc *p = (struct inproc *)t;

	if (p->own_topo) {
		ibcc_agents_free(p->agents);
		ibcc_engine_free(p->engine);
		ibcc_topo_free(p->own_topo);
	}
	free(p->free_ns);
	free(p->turn);
	free(p);
}

static const struct ibcc_transport_ops inproc_ops = {
	.run = inproc_run,
	.now_ns = inproc_now,
	.free = inproc_free,
};

struct ibcc_transport *ibcc_inproc_new(struct ibcc_agents *a, struct ibcc_engine *e,
				       const struct ibcc_topo *t,
				       const struct ibcc_inproc_options *o)
{
	struct inproc *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	p->base.ops = &inproc_ops;
	if (o)
		p->o = *o;
	if (!p->o.window)
		p->o.window = WINDOW;
	p->topo = t;
	p->engine = e;
	p->agents = a;
	return &p->base;
}

/* Makes topology, engine and agents of a scenario, which the transport then owns. */
static int open_scenario(struct inproc *p, const struct ibcc_scenario *s, const char **bad)
{
	const struct ibcc_agents_options o = {
		.cct_blocks = s->model.cct_blocks,
		.wait_tick = s->model.wait_tick,
		.ext_xmit_wait = true,
		.sw_port_block = IBCC_CC_SW_PORT_BLOCK_13,
	};
	int err;

	p->topo = p->own_topo = ibcc_topo_clone(s->topo);
	if (!p->topo)
		return -ENOMEM;
	p->engine = ibcc_engine_new(p->topo, &s->model, s->seed, &err);
	if (!p->engine)
		return err;
	err = ibcc_engine_load(p->engine, s, bad);
	if (err)
		return err;
	p->agents = ibcc_agents_new(p->topo, p->engine, &o);
	if (!p->agents)
		return -ENOMEM;
	err = ibcc_agents_equip(p->agents, s, NULL);
	return err ? err : ibcc_agents_load(p->agents, &s->cc);
}

struct ibcc_transport *ibcc_inproc_open(const struct ibcc_scenario *s,
					const struct ibcc_inproc_options *o, int *err,
					const char **bad)
{
	struct ibcc_transport *t = ibcc_inproc_new(NULL, NULL, NULL, o);

	*err = t ? open_scenario((struct inproc *)t, s, bad) : -ENOMEM;
	if (!*err || !t)
		return t;
	inproc_free(t);
	return NULL;
}

struct ibcc_engine *ibcc_inproc_engine(struct ibcc_transport *t)
{
	return ((struct inproc *)t)->engine;
}
