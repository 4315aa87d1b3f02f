/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* CongestionLog of switches and channel adapters: the latest events, newest first.
 *
 * Event counters and maps cover what happened since the log was last read, so reading clears
 * them. The entries stay.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/formula.h>

#include "internal.h"

/* Unit of all time stamps of the annex. */
#define TICK_PS (IBCC_FORMULA_TIMER_UNIT_NS * IBCC_PS_PER_NS)

static void count(uint16_t *n)
{
	if (*n < UINT16_MAX)
		++*n;
}

/* A switch's port has marked a packet: enters its source, destination and SL. */
void ibcc_fab_log_mark(struct ibcc_engine *e, uint32_t port, const struct pkt *p)
{
	struct fab_switch *s = &e->sw[e->owner[port]];

	s->log.LogType = IBCC_CC_LOG_SWITCH;
	memmove(&s->log.u.sw.entry[1], &s->log.u.sw.entry[0],
		sizeof(s->log.u.sw.entry) - sizeof(s->log.u.sw.entry[0]));
	s->log.u.sw.entry[0].SLID = e->lid[ibcc_fab_origin(e, p)].first;
	s->log.u.sw.entry[0].DLID = p->dlid;
	s->log.u.sw.entry[0].SL = p->sl;
	s->log.u.sw.entry[0].TimeStamp = (uint32_t)(e->now_ps / TICK_PS);
	ibcc_cc_mask_assign(&s->log.u.sw.PortMap, e->topo->port[port].num, true);
	count(&s->log.u.sw.LogEventsCounter);
}

/* A queue pair's CCTI has reached Trigger_Threshold: enters its ends and SL. */
void ibcc_fab_log_trigger(struct ibcc_engine *e, struct hca *h, uint32_t qp)
{
	const struct qp *q = &e->qp[qp];
	unsigned int sl = e->group[q->group].sl;

	memmove(&h->cc->log.u.ca.entry[1], &h->cc->log.u.ca.entry[0],
		sizeof(h->cc->log.u.ca.entry) - sizeof(h->cc->log.u.ca.entry[0]));
	memset(&h->cc->log.u.ca.entry[0], 0, sizeof(h->cc->log.u.ca.entry[0]));
	/* Queue pairs 0 and 1 are the management's. */
	h->cc->log.u.ca.entry[0].Local_QP_CN_Entry = (qp + 2) & 0xffffff;
	h->cc->log.u.ca.entry[0].Remote_QP_Number_CN_Entry = (qp + 2) & 0xffffff;
	h->cc->log.u.ca.entry[0].SL_CN_Entry = (uint8_t)sl;
	h->cc->log.u.ca.entry[0].Local_LID_CN = e->lid[h->port].first;
	h->cc->log.u.ca.entry[0].Remote_LID_CN_Entry = e->lid[q->dst_port].first;
	h->cc->log.u.ca.entry[0].TimeStamp_CN_Entry = (uint32_t)(e->now_ps / TICK_PS);
	h->cc->log.u.ca.ThresholdCongestionEventMap |= (uint16_t)(1u << sl);
	count(&h->cc->log.u.ca.ThresholdEventCounter);
}

int ibcc_engine_log_read(struct ibcc_engine *e, uint32_t port, struct ibcc_cc_log *out)
{
	uint32_t tick = (uint32_t)(e->now_ps / TICK_PS);

	if (port >= e->n_ports)
		return -EINVAL;
	if (port_of(e, port)->flags & PORT_SWITCH) {
		struct ibcc_cc_log *log = &e->sw[e->owner[port]].log;

		log->LogType = IBCC_CC_LOG_SWITCH;
		log->u.sw.CurrentTimeStamp = tick;
		*out = *log;
		log->u.sw.LogEventsCounter = 0;
		memset(&log->u.sw.PortMap, 0, sizeof(log->u.sw.PortMap));
	} else {
		struct ibcc_cc_log *log = &e->hca[e->owner[port]].cc->log;

		log->LogType = IBCC_CC_LOG_CA;
		log->u.ca.CurrentTimeStamp = tick;
		*out = *log;
		log->u.ca.ThresholdEventCounter = 0;
		log->u.ca.ThresholdCongestionEventMap = 0;
	}
	return 0;
}
