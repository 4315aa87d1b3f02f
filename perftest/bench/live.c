/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/bench/live.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/agents.h>
#include <ibcc/cycle.h>
#include <ibcc/inproc.h>
#include <ibcc/mad.h>
#include <ibcc/pma.h>
#include <ibcc/transport.h>

#define RESET_PASSES 3u

struct live {
	const struct ibcc_scenario *s;
	const struct ibcc_live_options *o;
	struct ibcc_live_result *r;
	struct ibcc_engine *engine; /* the engine of the measurement */
	struct ibcc_agents *agents;
	struct ibcc_transport *transport;   /* the transport of the daemon */
	struct ibcc_applier *applier, *dry; /* dry: NULL, or used in place of `applier` */
	struct ibcc_cycle cycle;
	uint64_t next_pass_ps, last_pass_ps; /* last: when the last pass was due, fast or not */
	uint32_t fault_node;
};

/* An interval of a millisecond stands for one of ten seconds. A microsecond to a node and back
 * stands for ten milliseconds, far more than the daemon leaves between two requests to it. Losses
 * of some percent of all MADs would be noticed on any healthy fabric.
 */
void ibcc_live_defaults(struct ibcc_live_options *o)
{
	*o = (struct ibcc_live_options){
		.poll_ms = 1, .rtt_us = 1, .lose_percent = 0.1, .fast_nodes = 48
	};
	ibcc_estimator_defaults(&o->estimator);
	ibcc_tuner_defaults(&o->tuner);
}

void ibcc_live_result_fini(struct ibcc_live_result *r)
{
	for (uint32_t i = 0; i < r->n_rounds; i++)
		free(r->round[i].summary);
	free(r->round);
	*r = (struct ibcc_live_result){ 0 };
}

static uint64_t ps_of_us(double us)
{
	return (uint64_t)llround(us * (double)IBCC_PS_PER_US);
}

static int open_agents(struct live *l)
{
	const struct ibcc_agents_options o = {
		.cct_blocks = l->s->model.cct_blocks,
		.wait_tick = l->s->model.wait_tick,
		.ext_xmit_wait = true,
		.sw_port_block = l->o->whole_switch_marks ? 0 : IBCC_CC_SW_PORT_BLOCK_13,
	};
	int rc = 0;

	l->agents = ibcc_agents_new(l->s->topo, l->engine, &o);
	if (!l->agents)
		return -ENOMEM;
	rc = ibcc_agents_equip(l->agents, l->s, NULL);
	for (uint32_t i = 0; i < l->s->topo->n_nodes; i++) {
		struct ibcc_agent_quirks *q = ibcc_agents_quirks(l->agents, i);
		bool is_switch = ibcc_topo_is_switch(l->s->topo, i);

		q->qlogic |= !is_switch && l->o->per_sl;
		q->no_wait |= !is_switch && l->o->no_waits;
		q->no_log = is_switch && l->o->no_logs;
	}
	return rc ? rc : ibcc_agents_load(l->agents, &l->s->cc);
}

static int open_transport(struct live *l)
{
	const struct ibcc_inproc_options o = { .rtt_ns = ps_of_us(l->o->rtt_us) / IBCC_PS_PER_NS,
					       .window = 32,
					       .node_window = 1 };
	const struct ibcc_fault_options lose = {
		.seed = l->s->seed,
		.loss_permille = (uint16_t)lround(l->o->lose_percent * 10),
	};

	l->transport = ibcc_inproc_new(l->agents, l->engine, l->s->topo, &o);
	if (l->transport && lose.loss_permille)
		l->transport = ibcc_fault_new(l->transport, &lose);
	return l->transport ? 0 : -ENOMEM;
}

static int live_start(void *arg, struct ibcc_engine *e)
{
	struct live *l = arg;
	const struct ibcc_cycle_options o = {
		.estimator = l->o->estimator,
		.tuner = l->o->tuner,
		.profiles = true,
		.trust_lft = true, /* the engine routes by the tables, whatever devices report */
		.cpu_ns = l->o->cpu_ns,
		.focus_nodes = l->o->fast_ms > 0 ? l->o->fast_nodes : 0,
	};
	struct ibcc_topo *t;
	int rc;

	l->engine = e;
	rc = open_agents(l);
	if (!rc)
		rc = open_transport(l);
	if (rc)
		return rc;
	l->applier = ibcc_applier_direct_new(l->transport, 0, false);
	l->dry = l->o->dry ? ibcc_applier_null_new() : NULL;
	t = ibcc_topo_clone(l->s->topo);
	if (!l->applier || (l->o->dry && !l->dry) || !t ||
	    ibcc_cycle_init(&l->cycle, &o, l->transport)) {
		ibcc_topo_free(t);
		return -ENOMEM;
	}
	/* the rate in PortInfo: one for both directions */
	for (uint32_t i = 0; i < t->n_ports; i++)
		t->port[i].rate_mbps = ibcc_topo_link_mbps(l->s->topo, i);
	l->next_pass_ps = ps_of_us(l->o->poll_ms * 1000);
	return ibcc_cycle_set_topology(&l->cycle, t);
}

/* Clears counters as another program would. The request takes no time and is never lost. */
static int clear(struct live *l, uint32_t port, uint16_t attr_id)
{
	const struct ibcc_topo_port *p = &l->s->topo->port[port];
	uint32_t first = l->s->topo->node[p->node].first_port;
	uint32_t endport = ibcc_topo_is_switch(l->s->topo, p->node)
				   ? l->s->topo->port[first].endport
				   : p->endport;
	const struct ibcc_mad_header h = {
		.mgmt_class = IBCC_MAD_CLASS_PERF,
		.class_version = 1,
		.method = IBCC_MAD_SET,
		.attr_id = attr_id,
	};
	const struct ibcc_pma_select all = { p->num, UINT16_MAX, UINT8_MAX };
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };

	ibcc_mad_header_pack(mad, &h);
	ibcc_pma_select_pack(mad, attr_id, &all);
	return ibcc_agents_answer(l->agents, endport, mad, mad) ? -EINVAL : 0;
}

static int clear_all(struct live *l)
{
	const struct ibcc_topo *t = l->s->topo;
	int rc = 0;

	for (uint32_t i = 0; i < t->n_ports && !rc; i++) {
		if (!t->port[i].num || t->port[i].peer == IBCC_NONE)
			continue;
		rc = clear(l, i, IBCC_PMA_ATTR_COUNTERS);
		if (!rc)
			rc = clear(l, i, IBCC_PMA_ATTR_COUNTERS_EXT);
	}
	return rc;
}

static int make_silent(struct live *l)
{
	const struct ibcc_topo_node *n = &l->s->topo->node[l->fault_node];
	bool sw = n->type == IBCC_NODE_SWITCH;
	const struct ibcc_fault_options o = {
		.loss_permille = 1000,
		.lid = l->s->topo->port[n->first_port + (sw ? 0 : 1)].lid,
	};

	l->transport = ibcc_fault_new(l->transport, &o);
	if (!l->transport)
		return -ENOMEM;
	l->cycle.transport = l->transport;
	ibcc_applier_free(l->applier);
	l->applier = ibcc_applier_direct_new(l->transport, 0, false);
	return l->applier ? 0 : -ENOMEM;
}

static int strike(struct live *l)
{
	uint32_t pass = l->r->passes, from = l->o->fault_pass;

	switch ((enum ibcc_live_fault)l->o->fault) {
	case IBCC_LIVE_FAULT_NONE: return 0;
	case IBCC_LIVE_FAULT_SILENT: return pass == from ? make_silent(l) : 0;
	case IBCC_LIVE_FAULT_RESET:
		return pass >= from && (pass - from) % RESET_PASSES == 0 ? clear_all(l) : 0;
	case IBCC_LIVE_FAULT_REBOOT:
		return pass == from ? ibcc_agents_forget(l->agents, l->fault_node) : 0;
	}
	return 0;
}

static int note_round(struct live *l)
{
	struct ibcc_live_result *r = l->r;
	struct ibcc_live_round *round = reallocarray(r->round, r->n_rounds + 1, sizeof(*round));

	if (!round)
		return -ENOMEM;
	r->round = round;
	round += r->n_rounds++;
	*round = (struct ibcc_live_round){ .t_ps = ibcc_engine_now_ps(l->engine),
					   .pass = r->passes,
					   .changes = l->cycle.plan.n,
					   .failed = l->cycle.result.n_failed,
					   .summary = ibcc_cycle_words(&l->cycle) };
	return round->summary ? 0 : -ENOMEM;
}

static int pass(struct live *l, bool fast)
{
	int rc = strike(l); /* may replace the applier */
	const struct ibcc_act act = {
		.applier = l->dry ? l->dry : l->applier,
		.fast = fast,
		.who = "ibcc-bench",
		.action = "tune",
		.gate = IBCC_PRECHECK_NODES_OF_TREE,
	};
	struct ibcc_why why;

	l->r->passes++;
	if (!rc)
		rc = ibcc_cycle_run(&l->cycle, &act, &why);
	if (!rc && l->cycle.acted && l->cycle.plan.n && !l->dry)
		rc = note_round(l);
	l->r->sets = l->transport->stats.sets;
	if (!rc && l->o->each)
		rc = l->o->each(l->o->arg, l->r->passes, &l->cycle, l->applier);
	return rc;
}

/* When the next pass is due, and whether it is a fast one. One that would come just before a pass
 * over all is left out.
 */
static uint64_t next_pass(const struct live *l, bool *fast)
{
	uint64_t each_ps = ps_of_us(l->o->fast_ms * 1000), next_ps = l->last_pass_ps + each_ps;

	*fast = each_ps && ibcc_cycle_has_focus(&l->cycle) &&
		next_ps + each_ps / 2 < l->next_pass_ps;
	return *fast ? next_ps : l->next_pass_ps;
}

/* A pass that is due at the very end waits for the next call, since it would only take time. */
static int live_run(void *arg, uint64_t until_ps)
{
	struct live *l = arg;
	uint64_t next_ps;
	bool fast;
	int rc = 0;

	while (!rc && (next_ps = next_pass(l, &fast)) < until_ps) {
		if (next_ps > ibcc_engine_now_ps(l->engine))
			rc = ibcc_engine_run(l->engine, next_ps);
		if (!rc)
			rc = pass(l, fast);
		l->last_pass_ps = next_ps;
		if (!fast)
			l->next_pass_ps += ps_of_us(l->o->poll_ms * 1000);
	}
	if (!rc && until_ps > ibcc_engine_now_ps(l->engine))
		rc = ibcc_engine_run(l->engine, until_ps);
	return rc;
}

int ibcc_live_run(const struct ibcc_scenario *s, const struct ibcc_live_options *o,
		  uint64_t sample_ps, struct ibcc_measure *out, struct ibcc_live_result *r)
{
	struct live l = { .s = s, .o = o, .r = r };
	const struct ibcc_measure_driver driver = { live_start, live_run, &l };
	int rc;

	*r = (struct ibcc_live_result){ 0 };
	if (o->fault_node[0]) {
		rc = ibcc_topo_find_node(s->topo, o->fault_node, &l.fault_node);
		if (rc)
			return rc;
	}
	rc = ibcc_measure_run_driven(s, sample_ps, &driver, out, NULL);
	ibcc_cycle_fini(&l.cycle);
	ibcc_applier_free(l.applier);
	ibcc_applier_free(l.dry);
	ibcc_transport_free(l.transport);
	ibcc_agents_free(l.agents);
	return rc;
}
