/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "sim/requests_settings.h"

#include <stdio.h>

static json_t *mask_json(const struct ibcc_cc_port_mask *m)
{
	json_t *a = json_array();
	unsigned int p;

	for (p = 0; p < 256; p++)
		if (ibcc_cc_mask_test(m, p))
			json_array_append_new(a, json_integer(p));
	return a;
}

static json_t *switch_json(const struct ibcc_endport_cc *r)
{
	json_t *elements = json_array();
	json_t *o = json_pack(
		"{s:o,s:o,s:i,s:i,s:i,s:i,s:i}", "Victim_Mask", mask_json(&r->sw.Victim_Mask),
		"Credit_Mask", mask_json(&r->sw.Credit_Mask), "Threshold", r->sw.Threshold,
		"Packet_Size", r->sw.Packet_Size, "CS_Threshold", r->sw.CS_Threshold,
		"CS_ReturnDelay", r->sw.CS_ReturnDelay, "Marking_Rate", r->sw.Marking_Rate);
	unsigned int p;

	for (p = 0; p < r->n_element; p++) {
		const struct ibcc_cc_sw_port_element *e = &r->element[p];

		if (e->Valid)
			json_array_append_new(elements,
					      json_pack("{s:i,s:b,s:i,s:i,s:i}", "port", (int)p,
							"Control_Type", e->Control_Type,
							"Threshold", e->Threshold, "Packet_Size",
							e->Packet_Size, "Cong_Parm_Marking_Rate",
							e->Cong_Parm_Marking_Rate));
	}
	json_object_set_new(o, "ports", elements);
	return o;
}

static json_t *ca_json(const struct ibcc_endport_cc *r)
{
	json_t *o = json_pack("{s:i}", "Port_Control", r->ca.Port_Control);
	json_t *sls = json_array(), *table = json_array();
	unsigned int i;

	for (i = 0; i < IBCC_CC_SLS; i++)
		json_array_append_new(sls, json_pack("{s:i,s:i,s:i,s:i}", "CCTI_Timer",
						     r->ca.sl[i].CCTI_Timer, "CCTI_Increase",
						     r->ca.sl[i].CCTI_Increase, "Trigger_Threshold",
						     r->ca.sl[i].Trigger_Threshold, "CCTI_Min",
						     r->ca.sl[i].CCTI_Min));
	for (i = 0; i <= r->cct.limit && i < IBCC_CCT_MAX_ENTRIES; i++)
		json_array_append_new(table, json_integer(r->cct.entry[i]));
	json_object_set_new(o, "sl", sls);
	json_object_set_new(o, "CCTI_Limit", json_integer(r->cct.limit));
	json_object_set_new(o, "cct", table);
	return o;
}

/* What matters most, for people. */
static json_t *summary(const struct ibcc_endport_cc *r, bool sw)
{
	const struct ibcc_cc_ca_entry *e = &r->ca.sl[0];
	unsigned int p, victims = 0, own = 0;
	char text[160];

	for (p = 0; p < 256; p++)
		victims += ibcc_cc_mask_test(&r->sw.Victim_Mask, p);
	for (p = 0; p < r->n_element; p++)
		own += r->element[p].Valid;
	if (sw)
		snprintf(text, sizeof(text),
			 "threshold %u, packet size %u, marking rate %u, victim mask on %u ports, "
			 "%u ports with a setting of their own",
			 r->sw.Threshold, r->sw.Packet_Size, r->sw.Marking_Rate, victims, own);
	else
		snprintf(text, sizeof(text),
			 "SL 0: timer %u, increase %u, trigger %u, min %u; table to %u, per %s",
			 e->CCTI_Timer, e->CCTI_Increase, e->Trigger_Threshold, e->CCTI_Min,
			 r->cct.limit, r->ca.Port_Control & IBCC_CC_PORT_CONTROL_SL ? "SL" : "QP");
	return json_string(text);
}

json_t *ibcc_requests_settings(const struct ibcc_requests *q)
{
	const struct ibcc_topo *t = ibcc_world_topo(q->world);
	const struct ibcc_agents *a = ibcc_world_agents(q->world);
	json_t *o = json_pack("{s:b}", "ok", 1), *rows = json_array();
	char guid[32];
	uint32_t i;

	for (i = 0; t && i < t->n_endports; i++) {
		const struct ibcc_topo_port *p = &t->port[t->endport[i]];
		const struct ibcc_endport_cc *r = ibcc_agents_settings(a, i);
		bool sw = ibcc_topo_is_switch(t, p->node);
		json_t *row;

		snprintf(guid, sizeof(guid), "0x%016llx",
			 (unsigned long long)t->node[p->node].guid);
		row = json_pack("{s:s,s:i,s:s,s:i,s:b}", "node", t->node[p->node].desc, "port",
				p->num, "node_guid", guid, "lid", p->lid, "cc_support",
				ibcc_agents_support(a, p->node));
		json_object_set_new(row, "summary", summary(r, sw));
		json_object_set_new(row, sw ? "switch" : "ca", sw ? switch_json(r) : ca_json(r));
		json_array_append_new(rows, row);
	}
	json_object_set_new(o, "rows", rows);
	return o;
}
