/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Congested state of a switch's outputs and VLs, and the settings that decide on it (annex A10).
 *
 * An output and VL is in congested state from the moment that its backlog, over all inputs,
 * exceeds (16 - Threshold) / 16 of the model's reference. The state ends when the backlog is down
 * to the hysteresis' share of that. "Down to", not "below": with a share of 0 the state would
 * otherwise never end. Threshold 0 means no marking. The annex leaves the scale of Threshold to
 * the device and only demands that its values fall uniformly.
 */
#include <errno.h>

#include <ibcc/rng.h>

#include "tx.h"

/* Begins or ends congested state, and counts its time for the VL and the port. */
void ibcc_fab_cong_set(struct ibcc_engine *e, uint32_t port, struct port *q, bool on)
{
	struct port_stat *s = &e->stat[port];
	struct outq_cong *v = &e->cong[q - e->port];

	if (on) {
		q->flags |= OUTQ_CONG;
		v->since_ps = e->now_ps;
		if (!s->n_cong++)
			s->cong_since_ps = e->now_ps;
		return;
	}
	q->flags &= (uint8_t)~OUTQ_CONG;
	v->cong_ps += e->now_ps - v->since_ps;
	if (!--s->n_cong)
		s->cong_ps += e->now_ps - s->cong_since_ps;
}

uint32_t ibcc_fab_mark_reference(const struct ibcc_engine *e, uint32_t port)
{
	return e->model.mark_reference_bytes ? e->model.mark_reference_bytes
					     : buffer_bytes(e, port);
}

static uint32_t threshold_bytes(const struct ibcc_engine *e, uint32_t port, unsigned int threshold)
{
	uint64_t ref = ibcc_fab_mark_reference(e, port);

	return threshold ? (uint32_t)((16 - threshold) * ref / 16) : UINT32_MAX;
}

/* Each output and VL has a random generator of its own, which a new Marking_Rate restarts. So
 * neither the order of settings nor earlier ones matter, and ports with the same settings and the
 * same traffic do not mark in step.
 */
static uint64_t mark_seed(const struct ibcc_engine *e, uint32_t outq)
{
	return (e->seed ^ 0x6d61726b) + ((uint64_t)outq << 32); /* not the flows' */
}

/* How many packets pass before the next mark: drawn from 0 to 2 * Marking_Rate, so Marking_Rate
 * on the mean.
 */
uint32_t ibcc_fab_mark_gap(struct outq_cong *v)
{
	return v->rate ? ibcc_rng_below(&v->rng, 2u * v->rate + 1) : 0;
}

/* Applies a switch's settings to a port: its own element if that is valid, otherwise the
 * switch's. The state changes at once if the backlog demands it.
 */
void ibcc_fab_mark_setup(struct ibcc_engine *e, uint32_t port)
{
	const struct fab_switch *s = &e->sw[e->owner[port]];
	unsigned int num = e->topo->port[port].num;
	const struct ibcc_cc_sw_port_element *el = &s->elem[num];
	unsigned int threshold = s->cc.Threshold, size = s->cc.Packet_Size;
	uint16_t rate = s->cc.Marking_Rate;

	if (el->Valid) {
		threshold = el->Control_Type ? 0 : el->Threshold;
		size = el->Packet_Size;
		rate = el->Cong_Parm_Marking_Rate;
	}
	for (unsigned int vl = 0; vl < e->n_vls; vl++) {
		struct port *q = port_outq(e, port, vl);
		struct outq_cong *v = &e->cong[q - e->port];
		uint32_t backlog = backlog_of(e, q);

		v->on = threshold_bytes(e, port, threshold);
		q->room = (int32_t)(room_of(v) - backlog);
		v->off = (uint32_t)((uint64_t)v->on * e->model.mark_hysteresis_permille / 1000);
		v->blocks = (uint8_t)size;
		v->victims = ibcc_cc_mask_test(&s->cc.Victim_Mask, num);
		if (v->rate != rate) {
			v->rate = rate;
			v->rng = mark_seed(e, (uint32_t)(v - e->cong));
			v->skip = ibcc_fab_mark_gap(v);
		}
		if (q->flags & OUTQ_CONG) {
			if (!threshold || backlog <= v->off)
				ibcc_fab_cong_set(e, port, q, false);
		} else if (backlog > v->on) {
			ibcc_fab_cong_set(e, port, q, true);
		}
	}
}

static struct fab_switch *find_switch(struct ibcc_engine *e, uint32_t node)
{
	if (node >= e->topo->n_nodes || !ibcc_topo_is_switch(e->topo, node))
		return NULL;
	return &e->sw[e->owner[e->topo->node[node].first_port]];
}

/* Bits of SwitchCongestionSetting:Control_Map: which fields a Set changes. */
enum { MAP_VICTIM = 1, MAP_CREDIT = 2, MAP_THRESHOLD = 4, MAP_CS = 8, MAP_RATE = 16 };

int ibcc_engine_set_switch_cc(struct ibcc_engine *e, uint32_t node,
			      const struct ibcc_cc_sw_setting *v)
{
	struct fab_switch *s = find_switch(e, node);

	if (!s || v->Threshold > 15 || v->CS_Threshold > 15)
		return -EINVAL;
	s->cc.Control_Map = v->Control_Map;
	if (v->Control_Map & MAP_VICTIM)
		s->cc.Victim_Mask = v->Victim_Mask;
	if (v->Control_Map & MAP_CREDIT)
		s->cc.Credit_Mask = v->Credit_Mask;
	if (v->Control_Map & MAP_THRESHOLD) {
		s->cc.Threshold = v->Threshold;
		s->cc.Packet_Size = v->Packet_Size;
	}
	if (v->Control_Map & MAP_CS) {
		s->cc.CS_Threshold = v->CS_Threshold;
		s->cc.CS_ReturnDelay = v->CS_ReturnDelay;
	}
	if (v->Control_Map & MAP_RATE)
		s->cc.Marking_Rate = v->Marking_Rate;
	for (unsigned int i = 1; i <= s->n_ports; i++)
		ibcc_fab_mark_setup(e, s->first_port + i);
	return 0;
}

int ibcc_engine_set_switch_port_cc(struct ibcc_engine *e, uint32_t node, unsigned int port,
				   const struct ibcc_cc_sw_port_element *v)
{
	struct fab_switch *s = find_switch(e, node);

	if (!s || port > s->n_ports || v->Threshold > 15)
		return -EINVAL;
	s->elem[port] = *v;
	if (port)
		ibcc_fab_mark_setup(e, s->first_port + port);
	return 0;
}
