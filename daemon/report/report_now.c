/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The last polling cycle in a few figures, for clients that ask every second. They are computed
 * after each cycle, and their size does not grow with the fabric.
 */
#include "daemon/report/report.h"

#include <ibcc/settings_json.h>

#define ROOTS_TOLD   12u
#define BLOCKED_TOLD 32u

/* Smallest and largest value of a setting over all that have it. */
struct range {
	unsigned int min, max;
	bool any;
};

static void widen(struct range *r, unsigned int v)
{
	r->min = !r->any || v < r->min ? v : r->min;
	r->max = !r->any || v > r->max ? v : r->max;
	r->any = true;
}

static json_t *range_json(const struct range *r)
{
	return r->any ? json_pack("[ii]", (int)r->min, (int)r->max) : json_null();
}

struct seen {
	uint32_t marking, reacting; /* numbers of switch ports, of adapters */
	struct range threshold, marking_rate, timer, increase, limit;
};

static void look_at_switch(struct seen *s, const struct ibcc_topo *t, uint32_t port,
			   const struct ibcc_endport_cc *ep)
{
	const struct ibcc_topo_node *n = &t->node[t->port[port].node];

	for (unsigned int p = 1; p <= n->n_ports; p++) {
		struct ibcc_cc_sw_port_element e;

		if (t->port[n->first_port + p].peer == IBCC_NONE ||
		    !ibcc_settings_port_marks(ep, p))
			continue;
		e = ibcc_settings_effective(ep, p);
		s->marking++;
		widen(&s->threshold, e.Threshold);
		widen(&s->marking_rate, e.Cong_Parm_Marking_Rate);
	}
}

/* Takes the values of the adapter's service level that reacts most. */
static void look_at_adapter(struct seen *s, const struct ibcc_endport_cc *ep)
{
	unsigned int timer = 0, increase = 0;

	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		const struct ibcc_cc_ca_entry *e = &ep->ca.sl[sl];

		timer = e->CCTI_Timer > timer ? e->CCTI_Timer : timer;
		increase = e->CCTI_Increase > increase ? e->CCTI_Increase : increase;
	}
	s->reacting++;
	widen(&s->timer, timer);
	widen(&s->increase, increase);
	widen(&s->limit, ep->cct.limit);
}

static json_t *settings_now(const struct ibcc_cycle *c)
{
	struct seen s = { 0 };

	if (!c->actual_known)
		return json_null();
	for (uint32_t i = 0; i < c->topo->n_endports; i++) {
		const struct ibcc_endport_cc *ep = &c->actual.ep[i];
		uint32_t port = c->topo->endport[i];

		if (ep->support != IBCC_CC_SUPPORTED || !ibcc_settings_are_on(ep))
			continue;
		if (ibcc_topo_is_switch(c->topo, c->topo->port[port].node))
			look_at_switch(&s, c->topo, port, ep);
		else
			look_at_adapter(&s, ep);
	}
	return json_pack("{si si so so so so so}", "marking_ports", (int)s.marking,
			 "reacting_ports", (int)s.reacting, "Threshold", range_json(&s.threshold),
			 "Marking_Rate", range_json(&s.marking_rate), "CCTI_Timer",
			 range_json(&s.timer), "CCTI_Increase", range_json(&s.increase),
			 "CCTI_Limit", range_json(&s.limit));
}

static json_t *worst_roots(const struct ibcc_cycle *c)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < c->estimate.n_roots && i < ROOTS_TOLD; i++) {
		const struct ibcc_root *r = &c->estimate.root[i];
		json_t *o = ibcc_json_port(c->topo, r->port);

		json_object_update_new(
			o, json_pack("{ss si si si si si si}", "kind",
				     r->kind == IBCC_CONGESTION_INPUT ? "input" : "output",
				     "rate_mbps", (int)r->rate_mbps, "link_mbps", (int)r->link_mbps,
				     "wait_permille", r->wait_permille, "tree_wait_permille",
				     r->tree_wait_permille, "contributors", (int)r->n_contributors,
				     "victims", (int)r->n_victims));
		ibcc_report_add_control(c, r->port, o);
		json_array_append_new(list, o);
	}
	return list;
}

/* Inserts an endport into a list of the most blocked ones. */
static void insert(const struct ibcc_load *load, uint32_t ep, uint32_t *list, uint32_t *n)
{
	uint32_t k;

	if (*n < BLOCKED_TOLD)
		++*n;
	else if (load[list[*n - 1]].wait_permille >= load[ep].wait_permille)
		return;
	for (k = *n - 1; k && load[list[k - 1]].wait_permille < load[ep].wait_permille; k--)
		list[k] = list[k - 1];
	list[k] = ep;
}

json_t *ibcc_report_blocked(const struct ibcc_cycle *c)
{
	const struct ibcc_estimate *e = &c->estimate;
	const struct ibcc_topo *t = c->topo;
	uint32_t worst[BLOCKED_TOLD], n = 0;
	json_t *list = json_array();

	for (uint32_t i = 0; i < e->n_loads && i < t->n_endports; i++)
		if (e->load[i].known &&
		    e->load[i].wait_permille >= c->options.estimator.ca_wait_permille &&
		    !ibcc_topo_is_switch(t, t->port[t->endport[i]].node))
			insert(e->load, i, worst, &n);
	for (uint32_t k = 0; list && k < n; k++) {
		const struct ibcc_load *l = &e->load[worst[k]];
		json_t *o = ibcc_json_port(t, t->endport[worst[k]]);

		json_object_update_new(o, json_pack("{si si}", "xmit_mbps", (int)l->mbps,
						    "wait_permille", l->wait_permille));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *ibcc_report_now(const struct ibcc_cycle *c)
{
	const struct ibcc_estimate *e = &c->estimate;
	double s = (double)e->interval_ns / 1e9;
	uint64_t sent_mbps = 0;
	uint32_t worst = 0, n_wait = 0;

	for (uint32_t i = 0; i < e->n_loads; i++) {
		const struct ibcc_load *l = &e->load[i];

		if (!l->known)
			continue;
		sent_mbps += l->mbps;
		n_wait += l->wait_permille >= c->options.estimator.ca_wait_permille;
		worst = l->wait_permille > worst ? l->wait_permille : worst;
	}
	return json_pack("{sI sI si si so so so so so}", "pass", (json_int_t)e->pass, "sent_mbps",
			 (json_int_t)sent_mbps, "waiting", (int)n_wait, "wait_permille", (int)worst,
			 "fecn_per_s", s > 0 ? json_real((double)e->fecn / s) : json_null(),
			 "becn_per_s", s > 0 ? json_real((double)e->becn / s) : json_null(),
			 "settings", settings_now(c), "roots", worst_roots(c), "blocked",
			 ibcc_report_blocked(c));
}
