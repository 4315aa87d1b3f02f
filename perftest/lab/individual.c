/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fills the tuner's own parameters, groups and settings from the truth. A root limits some pairs of
 * source and destination, which share equally what it leaves them. With their number as
 * contributors and that rate, the law's fair share is exactly theirs. An adapter that gets all that
 * it wants is not held.
 */
#include "perftest/lab/individual.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/law.h>
#include <ibcc/ledger.h>
#include <ibcc/target.h>
#include <ibcc/twin.h>

static uint8_t threshold_of(enum ibcc_congestion kind, int more)
{
	int t = ibcc_law_threshold(kind) + more;

	return (uint8_t)(t < 1 ? 1 : t > 15 ? 15 : t);
}

/* The settings of nodes before the first write. */
static int blank(const struct ibcc_scenario *s, struct ibcc_settings *out)
{
	const struct ibcc_topo *t = s->topo;
	int rc;

	*out = (struct ibcc_settings){ 0 };
	rc = ibcc_settings_init(out, t);
	for (uint32_t i = 0; i < t->n_endports && !rc; i++) {
		const struct ibcc_topo_node *n = &t->node[t->port[t->endport[i]].node];
		struct ibcc_endport_cc *ep = &out->ep[i];

		ep->answer = IBCC_CC_ANSWERED;
		ibcc_endport_judge(ep, IBCC_CC_SUPPORTED);
		ep->sw.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL;
		ep->ca.Control_Map = UINT16_MAX;
		if (!ibcc_topo_is_switch(t, t->port[t->endport[i]].node)) {
			ep->info.ControlTableCap = s->model.cct_blocks;
			continue;
		}
		ep->sw_port_block = IBCC_CC_SW_PORT_BLOCK_13;
		ep->element = calloc(n->n_ports + 1u, sizeof(*ep->element));
		if (ep->element)
			ep->n_element = (uint16_t)(n->n_ports + 1u);
		else
			rc = -ENOMEM;
	}
	if (rc)
		ibcc_settings_fini(out);
	return rc;
}

static int add_root(struct ibcc_parameters *p, const struct ibcc_scenario *s,
		    const struct ibcc_truth_root *true_root, const struct ibcc_individual *v)
{
	const struct ibcc_topo *t = s->topo;
	struct ibcc_root_state *state = ibcc_parameters_add(p, true_root->port);
	struct ibcc_root_parameters *r;
	uint32_t wire = s->model.packet_bytes + s->model.header_bytes;
	double mbps = true_root->pairs_mbps * wire / s->model.packet_bytes;

	if (!state)
		return -ENOMEM;
	ibcc_root_enter(state, IBCC_PHASE_HOLD, 0);
	r = &state->r;
	r->kind = true_root->kind;
	r->n = r->n_heavy = true_root->n_pairs;
	r->rate_mbps = mbps < 1 ? 1 : (uint32_t)lround(mbps);
	r->packet_bytes = wire;
	r->threshold = threshold_of(r->kind, v->threshold);
	r->table_scale_permille = v->table_scale_permille;
	r->timer_scale_permille = v->timer_scale_permille;
	r->tree_gone = v->calm && r->kind == IBCC_CONGESTION_INPUT;
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (true_root->part[i] == IBCC_TRUTH_HEAVY && t->port[i].endport < p->n_endports)
			r->member[t->port[i].endport] = true;
	return 0;
}

int ibcc_individual_settings(const struct ibcc_scenario *s, const struct ibcc_truth *truth,
			     const struct ibcc_individual *v, struct ibcc_settings *out)
{
	struct ibcc_parameters p = { .n_endports = s->topo->n_endports };
	const struct ibcc_overlay overlay = IBCC_OVERLAY_UNLIMITED;
	struct ibcc_ledger ledger = { 0 };
	struct ibcc_settings actual;
	struct ibcc_target target = { .n_reasons = 0 };
	int rc = blank(s, &actual);

	if (rc)
		return rc;
	rc = ibcc_ledger_fit(&ledger, s->topo);
	for (uint32_t i = 0; i < truth->n_roots && i < IBCC_ROOTS_MAX && !rc; i++)
		if (truth->root[i].n_pairs)
			rc = add_root(&p, s, &truth->root[i], v);
	if (!rc) {
		ibcc_parameters_group(&p, s->topo);
		rc = ibcc_overlay_run(&overlay, s->topo, &p, &actual, &ledger, &target);
	}
	if (!rc) {
		*out = target.wanted;
		target.wanted = (struct ibcc_settings){ 0 };
		ibcc_target_fini(&target);
	}
	ibcc_ledger_reset(&ledger);
	ibcc_parameters_fini(&p);
	ibcc_settings_fini(&actual);
	return rc;
}

struct individual_run {
	const struct ibcc_scenario *s;
	const struct ibcc_settings *settings;
	struct ibcc_engine *engine;
};

static int set_all(void *arg, struct ibcc_engine *e)
{
	struct individual_run *r = arg;

	r->engine = e;
	return ibcc_twin_set(e, r->s->topo, r->settings);
}

static int advance(void *arg, uint64_t until_ps)
{
	return ibcc_engine_run(((struct individual_run *)arg)->engine, until_ps);
}

int ibcc_individual_run(const struct ibcc_scenario *s, const struct ibcc_settings *settings,
			struct ibcc_measure *out)
{
	struct individual_run r = { .s = s, .settings = settings };
	const struct ibcc_measure_driver driver = { set_all, advance, &r };

	return ibcc_measure_run_driven(s, 0, &driver, out, NULL);
}
