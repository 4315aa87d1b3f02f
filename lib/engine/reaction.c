/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reaction point of annex A10: BECNs, the index into the table (CCTI), its timer, the delay
 * between packets.
 *
 * A BECN raises the CCTI of the queue pair, or in SL mode of the port's whole SL, by
 * CCTI_Increase, at most up to CCTI_Limit. A timer for each SL runs while some index is above
 * CCTI_Min. After each period of CCTI_Timer * 1.024 us it lowers those indices by one; BECNs do
 * not restart it. With CCTI_Timer 0 indices stay. After a packet, its queue pair or SL rests for
 * (packet time >> Shift) * Multiplier of the table's entry.
 *
 * The timer is no event. For each index the engine keeps the time at which the timer will have
 * brought it down to 0 (`fall`), which is as many periods ahead as the index is high. For an SL
 * it keeps the time until which the timer runs (`end_ps`), when no index will be above CCTI_Min
 * any more. The timer expires at that time and each whole period before it.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/formula.h>

#include "evq.h"
#include "qps.h"
#include "reaction.h"

#define TIMER_UNIT_PS (IBCC_FORMULA_TIMER_UNIT_NS * IBCC_PS_PER_NS)

static uint64_t period_ps(const struct group *g)
{
	return (uint64_t)g->timer * TIMER_UNIT_PS;
}

/* How often a timer that runs until until_ps, and expires then, expires after now. */
static uint64_t expiries(const struct ibcc_engine *e, const struct group *g, uint64_t until_ps)
{
	return until_ps > e->now_ps ? (until_ps - e->now_ps - 1) / period_ps(g) + 1 : 0;
}

/* The present value of an index, from what is kept of it. */
static uint64_t index_of(const struct ibcc_engine *e, const struct group *g, uint64_t fall)
{
	uint64_t index = g->timer ? expiries(e, g, fall) : fall;

	return index > g->min_ccti ? index : g->min_ccti;
}

/* What to keep of an index with this present value. Starts or extends the timer if needed. */
static uint64_t fall_of(const struct ibcc_engine *e, struct group *g, uint64_t index)
{
	uint64_t before, fall;

	if (!g->timer)
		return index;
	if (g->end_ps <= e->now_ps)
		g->end_ps = e->now_ps; /* was idle: expires a period from now */
	before = expiries(e, g, g->end_ps);
	fall = g->end_ps + index * period_ps(g) - before * period_ps(g);
	if (index > g->min_ccti + before)
		g->end_ps += (index - g->min_ccti - before) * period_ps(g);
	return fall;
}

uint16_t ibcc_fab_ccti(const struct ibcc_engine *e, const struct group *g, uint32_t qp)
{
	return (uint16_t)index_of(e, g, fall_by(e, g, qp));
}

uint64_t ibcc_fab_delay_ps(const struct ibcc_engine *e, const struct hca *h, const struct group *g,
			   uint64_t fall, unsigned int kind)
{
	uint16_t ccti = (uint16_t)index_of(e, g, fall);
	uint16_t entry = h->cc->cct.entry[ccti < h->cc->cct.limit ? ccti : h->cc->cct.limit];

	return (e->speed[port_of(e, g->port)->speed].pkt_ps[kind] >> ibcc_cct_entry_shift(entry)) *
	       ibcc_cct_entry_mult(entry);
}

/* A BECN has reached its source. Reaching Trigger_Threshold is written to the adapter's
 * CongestionLog.
 */
void ibcc_fab_becn(struct ibcc_engine *e, uint32_t pkt)
{
	const struct pkt *k = &e->pkt[pkt];
	struct group *g = &e->group[pkt_group(e, k)];
	struct hca *h = &e->hca[e->owner[g->port]];
	const struct ibcc_cc_ca_entry *s = &h->cc->set.sl[g->sl];
	uint64_t *fall;
	unsigned int raised;
	uint32_t qp;

	if (h->no_cc || !s->CCTI_Increase)
		return;
	qp = pkt_qp(e, k);
	if (qp == NONE)
		return;
	fall = g->sl_mode ? &g->fall : &e->qp[qp].fall;
	raised = (unsigned int)index_of(e, g, *fall) + s->CCTI_Increase;
	if (raised > h->cc->cct.limit)
		raised = h->cc->cct.limit;
	*fall = fall_of(e, g, raised);
	if (s->Trigger_Threshold && raised >= s->Trigger_Threshold)
		ibcc_fab_log_trigger(e, h, qp);
}

static struct hca *find_hca(struct ibcc_engine *e, uint32_t port)
{
	if (port >= e->n_ports || port_of(e, port)->flags & PORT_SWITCH)
		return NULL;
	return &e->hca[e->owner[port]];
}

/* Keeps a group's indices when its timer or CCTI_Min changes. If they change from queue pairs to
 * the SL or back, they begin at 0.
 */
static void settle(const struct ibcc_engine *e, struct group *g, const struct group *was)
{
	bool same = g->sl_mode == was->sl_mode;

	if (g->timer != was->timer)
		g->end_ps = 0; /* another period begins */
	if (was->fall)
		g->fall = same ? fall_of(e, g, index_of(e, was, was->fall)) : 0;
	for (uint32_t i = 0; i < qp_places(g); i++) {
		struct qp *q = qp_at(g, i) == NONE ? NULL : &e->qp[qp_at(g, i)];

		if (q && q->fall)
			q->fall = same ? fall_of(e, g, index_of(e, was, q->fall)) : 0;
	}
}

void ibcc_fab_group_cc(const struct ibcc_engine *e, struct group *g)
{
	const struct hca *h = &e->hca[e->owner[g->port]];
	const struct ibcc_cc_ca_entry *s = &h->cc->set.sl[g->sl];
	const struct group was = *g;

	g->min_ccti = s->CCTI_Min;
	g->timer = s->CCTI_Timer;
	g->sl_mode = h->cc->set.Port_Control & IBCC_CC_PORT_CONTROL_SL;
	if (g->min_ccti != was.min_ccti || g->timer != was.timer || g->sl_mode != was.sl_mode)
		settle(e, g, &was);
}

int ibcc_engine_set_ca_cc(struct ibcc_engine *e, uint32_t port, const struct ibcc_cc_ca_setting *v)
{
	struct hca *h = find_hca(e, port);

	if (!h)
		return -EINVAL;
	h->cc->set.Port_Control = v->Port_Control;
	h->cc->set.Control_Map = v->Control_Map;
	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++) {
		if (v->Control_Map >> sl & 1)
			h->cc->set.sl[sl] = v->sl[sl];
		if (h->group[sl] != NONE)
			ibcc_fab_group_cc(e, &e->group[h->group[sl]]);
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
