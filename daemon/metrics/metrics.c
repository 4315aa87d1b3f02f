/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Copies the data for a monitoring system from the cycle, while no other thread uses it. */
#include "daemon/metrics/metrics.h"

#include <stdlib.h>
#include <string.h>

void ibcc_metrics_count(struct ibcc_metrics_totals *t, const struct ibcc_cycle *c, int err)
{
	enum ibcc_metrics_action action = IBCC_METRICS_KEEP;

	t->passes++;
	t->fast_passes += c && c->fast;
	t->failed_passes += err != 0;
	if (err || !c || !c->decided)
		return;
	if (c->act_err)
		action = IBCC_METRICS_REFUSE;
	else if (c->plan.n)
		action = c->acted && c->result.n_verified == c->plan.n ? IBCC_METRICS_WRITE
								       : IBCC_METRICS_PROPOSE;
	t->decisions[action]++;
	for (uint32_t i = 0; i < c->target.decisions.n; i++)
		t->codes[c->target.decisions.decision[i].code]++;
	t->verified += c->result.n_verified + c->repair.n_verified;
	t->unverified += c->result.n_failed + c->repair.n_failed;
}

static void take_nodes(struct ibcc_metrics *m, const struct ibcc_topo *t)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *n = &t->node[i];
		struct ibcc_metrics_node *to = &m->node[m->n_nodes++];

		to->guid = n->guid;
		to->is_switch = ibcc_topo_is_switch(t, i);
		memcpy(to->desc, n->desc, sizeof(to->desc));
		for (uint32_t p = 0; p <= n->n_ports && !to->lid; p++)
			to->lid = t->port[n->first_port + p].lid;
	}
}

static void take_port(struct ibcc_metrics *m, const struct ibcc_cycle *c, uint32_t i)
{
	const struct ibcc_topo *t = c->topo;
	const struct ibcc_topo_port *p = &t->port[i], *peer = &t->port[p->peer];
	const struct ibcc_port_sample *s = &c->snapshot.port[i];
	struct ibcc_metrics_port *to = &m->port[m->n_ports++];
	uint32_t sw = ibcc_topo_is_switch(t, p->node) ? ibcc_topo_switch_endport(t, i) : IBCC_NONE;

	*to = (struct ibcc_metrics_port){
		.node = p->node,
		.num = p->num,
		.peer_node = peer->node,
		.peer_num = peer->num,
		.peer_lid = m->node[peer->node].is_switch ? m->node[peer->node].lid : peer->lid,
		.rate_mbps = p->rate_mbps,
		.tick_ps = s->tick_ps,
	};
	memcpy(to->width, s->now.width, sizeof(to->width));
	memcpy(to->v, s->now.v, sizeof(to->v));
	to->has_errors = s->errors.t_ns;
	memcpy(to->errors, s->errors.v, sizeof(to->errors));
	m->n_unsure += ibcc_sample_is_known(s) &&
		       ((s->delta.flags[IBCC_CTR_XMIT_DATA] | s->delta.flags[IBCC_CTR_XMIT_WAIT]) &
			IBCC_DELTA_SATURATED);
	if (sw != IBCC_NONE && ibcc_settings_port_marks(&c->actual.ep[sw], p->num))
		to->threshold = ibcc_settings_effective(&c->actual.ep[sw], p->num).Threshold;
}

static void take_hold(struct ibcc_metrics *m, const struct ibcc_cycle *c, uint32_t i)
{
	const struct ibcc_topo_port *p = &c->topo->port[c->topo->endport[i]];
	const struct ibcc_endport_cc *ep = &c->actual.ep[i];
	struct ibcc_metrics_hold *to;

	if (ibcc_topo_is_switch(c->topo, p->node) || !ibcc_settings_are_on(ep))
		return;
	to = &m->hold[m->n_holds++];
	*to = (struct ibcc_metrics_hold){ .node = p->node, .num = p->num, .limit = ep->cct.limit };
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		const struct ibcc_cc_ca_entry *e = &ep->ca.sl[sl];

		to->timer = e->CCTI_Timer > to->timer ? e->CCTI_Timer : to->timer;
		to->increase = e->CCTI_Increase > to->increase ? e->CCTI_Increase : to->increase;
	}
}

static void take_root(struct ibcc_metrics *m, const struct ibcc_topo *t, const struct ibcc_root *r)
{
	m->root[m->n_roots++] = (struct ibcc_metrics_root){
		.node = t->port[r->port].node,
		.num = t->port[r->port].num,
		.is_input = r->kind == IBCC_CONGESTION_INPUT,
		.wait_permille = r->wait_permille,
		.rate_mbps = r->rate_mbps,
		.link_mbps = r->link_mbps,
		.n_contributors = r->n_contributors,
		.n_victims = r->n_victims,
	};
}

static struct ibcc_metrics_followed *take_status(struct ibcc_metrics *m, const struct ibcc_topo *t,
						 uint32_t port, enum ibcc_root_status status)
{
	struct ibcc_metrics_followed *to = &m->followed[m->n_followed++];

	*to = (struct ibcc_metrics_followed){ .node = t->port[port].node,
					      .num = t->port[port].num,
					      .status = status };
	return to;
}

static void take_followed(struct ibcc_metrics *m, const struct ibcc_cycle *c)
{
	const struct ibcc_parameters *p = ibcc_tuner_parameters(c->tuner);

	for (uint32_t k = 0; k < p->n_roots; k++) {
		const struct ibcc_root_parameters *r = &p->root[k].r;
		struct ibcc_metrics_followed *to = take_status(m, c->topo, r->port, r->status);

		to->has_phase = true;
		to->in_phase = r->phase;
	}
	for (uint32_t k = 0; k < p->n_others; k++)
		take_status(m, c->topo, p->other[k].port, p->other[k].status);
}

static int take_fabric(struct ibcc_metrics *m, const struct ibcc_cycle *c)
{
	const struct ibcc_topo *t = c->topo;
	struct ibcc_faults faults;
	struct ibcc_why text;

	/* One more element each, so that an empty array does not look like a lack of memory. */
	m->node = calloc(t->n_nodes + 1u, sizeof(*m->node));
	m->port = calloc(t->n_ports + 1u, sizeof(*m->port));
	m->hold = calloc(t->n_endports + 1u, sizeof(*m->hold));
	m->root = calloc(c->estimate.n_roots + 1u, sizeof(*m->root));
	m->followed = calloc(IBCC_ROOTS_MAX + IBCC_OTHERS_MAX, sizeof(*m->followed));
	if (!m->node || !m->port || !m->hold || !m->root || !m->followed)
		return -1;
	take_nodes(m, t);
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (t->port[i].peer != IBCC_NONE)
			take_port(m, c, i);
	for (uint32_t i = 0; i < t->n_endports; i++)
		take_hold(m, c, i);
	for (uint32_t i = 0; i < c->estimate.n_roots; i++)
		take_root(m, t, &c->estimate.root[i]);
	if (c->tuner)
		take_followed(m, c);
	if (ibcc_faults_find(t, &c->snapshot, &c->estimate, &faults))
		return -1;
	m->n_slow_links = faults.n_slow;
	m->n_error_ports = faults.n_errors;
	for (uint32_t i = 0; i < faults.n; i++)
		m->n_tree_faults += faults.fault[i].on_tree;
	ibcc_faults_fini(&faults);
	m->has_fabric = true;
	m->decided = c->decided;
	m->n_endports = t->n_endports;
	m->n_fresh = c->snapshot.n_fresh;
	m->n_stale = c->snapshot.n_stale;
	m->n_unreachable = c->snapshot.n_unreachable;
	m->n_focus = c->focus.n_ports;
	m->n_pending = ibcc_cycle_pending(c);
	m->n_drifted = c->audit.drift.n;
	m->n_unknown = c->audit.n_unknown;
	m->n_held_back = ibcc_throttle_text(t, &c->actual, &text);
	m->n_held_below = c->audit.excess.n;
	m->passes_cut = c->n_passes_cut;
	m->pass_ns = c->pass_ns;
	return 0;
}

struct ibcc_metrics *ibcc_metrics_new(const struct ibcc_cycle *c,
				      const struct ibcc_metrics_service *service,
				      const struct ibcc_metrics_totals *totals)
{
	struct ibcc_metrics *m = calloc(1, sizeof(*m));

	if (!m)
		return NULL;
	m->service = *service;
	m->totals = *totals;
	if (c && c->transport)
		m->mads = c->transport->stats;
	m->mads.node = NULL;
	if (!c || !c->topo || !take_fabric(m, c))
		return m;
	ibcc_metrics_free(m);
	return NULL;
}

void ibcc_metrics_free(struct ibcc_metrics *m)
{
	if (!m)
		return;
	free(m->node);
	free(m->port);
	free(m->hold);
	free(m->root);
	free(m->followed);
	free(m);
}
