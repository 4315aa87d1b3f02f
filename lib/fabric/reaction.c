/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reaction point of Annex A10: BECNs, the index into the table (CCTI), its timer, the delay.
 *
 * A BECN raises CCTI by CCTI_Increase up to CCTI_Limit, of the queue pair or, in SL mode, of the
 * whole SL of the port. A timer for each SL runs while some index is above CCTI_Min; each period
 * lowers those by one; it is not restarted by BECNs. CCTI_Timer 0: indices stay. After a packet,
 * its queue pair or SL rests for (packet time >> Shift) * Multiplier.
 */
#include <errno.h>
#include <string.h>

#include "evq.h"

#define TIMER_UNIT_PS 1024000u /* CCTI_Timer counts 1.024 us */

static uint16_t floor_ccti(uint16_t ccti, const struct ibcc_cc_ca_entry *s)
{
	return ccti > s->CCTI_Min ? ccti : s->CCTI_Min;
}

uint64_t ibcc_fab_delay_ps(const struct ibcc_engine *e, const struct hca *h, const struct group *g,
			   const struct qp *q)
{
	uint16_t ccti = g->sl_mode ? g->ccti : q->ccti, entry;

	if (ccti < g->min_ccti)
		ccti = g->min_ccti;
	if (!ccti)
		return 0; /* entry 0 has no delay on any device */
	entry = h->cc->cct.entry[ccti < h->cc->cct.limit ? ccti : h->cc->cct.limit];
	return (e->speed[e->port[g->port].speed].pkt_ps[DATA] >> ibcc_cct_entry_shift(entry)) *
	       ibcc_cct_entry_mult(entry);
}

static bool timer_needed(const struct ibcc_engine *e, const struct hca *h, const struct group *g)
{
	uint8_t min = h->cc->set.sl[g->sl].CCTI_Min;

	if (!h->cc->set.sl[g->sl].CCTI_Timer)
		return false;
	if (hca_sl_mode(h))
		return g->ccti > min;
	for (uint32_t i = 0; i < g->n_act; i++)
		if (e->qp[g->act[i]].ccti > min)
			return true;
	return false;
}

static void timer_start(struct ibcc_engine *e, const struct hca *h, struct group *g)
{
	g->timer_on = true;
	evq_push(e, e->now_ps + (uint64_t)h->cc->set.sl[g->sl].CCTI_Timer * TIMER_UNIT_PS, EV_TIMER,
		 (uint32_t)(g - e->group));
}

void ibcc_fab_becn(struct ibcc_engine *e, uint32_t qp)
{
	struct qp *q = &e->qp[qp];
	struct group *g = &e->group[q->group];
	struct hca *h = &e->hca[e->port[g->port].owner];
	const struct ibcc_cc_ca_entry *s = &h->cc->set.sl[g->sl];
	uint16_t *ccti = hca_sl_mode(h) ? &g->ccti : &q->ccti;
	unsigned int raised = floor_ccti(*ccti, s) + s->CCTI_Increase;

	if (h->no_cc || !s->CCTI_Increase)
		return;
	*ccti = (uint16_t)(raised < h->cc->cct.limit ? raised : h->cc->cct.limit);
	if (!hca_sl_mode(h) && *ccti && !q->active) {
		e->err = ibcc_fab_grow(&g->act, &g->cap_act, g->n_act + 1, sizeof(*g->act));
		if (e->err)
			return;
		q->active = true;
		g->act[g->n_act++] = qp;
	}
	if (s->Trigger_Threshold && *ccti >= s->Trigger_Threshold)
		ibcc_fab_log_trigger(e, h, qp);
	if (!g->timer_on && s->CCTI_Timer && *ccti > s->CCTI_Min)
		timer_start(e, h, g);
}

void ibcc_fab_timer(struct ibcc_engine *e, uint32_t group)
{
	struct group *g = &e->group[group];
	struct hca *h = &e->hca[e->port[g->port].owner];
	uint8_t min = h->cc->set.sl[g->sl].CCTI_Min;
	uint32_t kept = 0;

	if (g->ccti > min)
		g->ccti--;
	for (uint32_t i = 0; i < g->n_act; i++) {
		struct qp *q = &e->qp[g->act[i]];

		if (q->ccti > min)
			q->ccti--;
		q->active = q->ccti;
		if (q->active)
			g->act[kept++] = g->act[i];
	}
	g->n_act = kept;
	g->timer_on = false;
	if (timer_needed(e, h, g))
		timer_start(e, h, g);
}

static struct hca *find_hca(struct ibcc_engine *e, uint32_t port)
{
	if (port >= e->n_ports || e->port[port].flags & PORT_SWITCH)
		return NULL;
	return &e->hca[e->port[port].owner];
}

static void forget(struct ibcc_engine *e, struct group *g)
{
	g->ccti = 0;
	for (uint32_t i = 0; i < g->n_act; i++) {
		e->qp[g->act[i]].ccti = 0;
		e->qp[g->act[i]].active = false;
	}
	g->n_act = 0;
}

void ibcc_fab_group_cc(const struct ibcc_engine *e, struct group *g)
{
	const struct hca *h = &e->hca[e->port[g->port].owner];

	g->min_ccti = h->cc->set.sl[g->sl].CCTI_Min;
	g->sl_mode = hca_sl_mode(h);
}

int ibcc_engine_set_ca_cc(struct ibcc_engine *e, uint32_t port, const struct ibcc_cc_ca_setting *v)
{
	struct hca *h = find_hca(e, port);
	bool was_sl;

	if (!h)
		return -EINVAL;
	if (ibcc_fab_reserve(e, 16, 0))
		return -ENOMEM;
	was_sl = hca_sl_mode(h);
	h->cc->set.Port_Control = v->Port_Control;
	h->cc->set.Control_Map = v->Control_Map;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		struct group *g = h->group[sl] == NONE ? NULL : &e->group[h->group[sl]];

		if (v->Control_Map >> sl & 1)
			h->cc->set.sl[sl] = v->sl[sl];
		if (!g)
			continue;
		ibcc_fab_group_cc(e, g);
		if (was_sl != hca_sl_mode(h))
			forget(e, g);
		if (!g->timer_on && timer_needed(e, h, g))
			timer_start(e, h, g);
	}
	return 0;
}

int ibcc_engine_set_cct(struct ibcc_engine *e, uint32_t port, const struct ibcc_cct *v)
{
	struct hca *h = find_hca(e, port);

	if (!h || v->limit >= IBCC_CCT_MAX_ENTRIES ||
	    v->limit >= e->model.cct_blocks * IBCC_CCT_BLOCK_ENTRIES)
		return -EINVAL;
	h->cc->cct = *v;
	return 0;
}
