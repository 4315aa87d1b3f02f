/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The request "settings": the congestion control registers of all endports, in full for programs
 * and as a sentence for people.
 */
#include "sim/requests_settings.h"

#include <stdio.h>

#include <ibcc/json.h>
#include <ibcc/settings_json.h>

static json_t *switch_json(const struct ibcc_endport_cc *r)
{
	json_t *o = ibcc_json_switch(&r->sw);

	json_object_set_new(o, "ports", ibcc_json_switch_ports(r));
	return o;
}

static json_t *register_json(uint16_t entry)
{
	return json_integer(entry);
}

static json_t *ca_json(const struct ibcc_endport_cc *r)
{
	return json_pack("{si so si so}", "Port_Control", r->ca.Port_Control, "sl",
			 ibcc_json_sls(&r->ca), "CCTI_Limit", r->cct.limit, "cct",
			 ibcc_json_cct(&r->cct, register_json));
}

/* The most important registers, as a sentence. */
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
			 "threshold %u, packet size %u, marking rate %u, ports in the victim mask: "
			 "%u, ports with a setting of their own: %u",
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
	const struct ibcc_topo *t = ibcc_sim_fabric_topo(q->fabric);
	const struct ibcc_agents *a = ibcc_sim_fabric_agents(q->fabric);
	json_t *o = json_pack("{s:b}", "ok", 1), *rows = json_array();
	uint32_t i;

	for (i = 0; t && i < t->n_endports; i++) {
		const struct ibcc_topo_port *p = &t->port[t->endport[i]];
		const struct ibcc_endport_cc *r = ibcc_agents_settings(a, i);
		bool sw = ibcc_topo_is_switch(t, p->node);
		json_t *row;

		row = json_pack("{so si so si sb}", "node", ibcc_json_text(t->node[p->node].desc),
				"port", p->num, "node_guid", ibcc_json_guid(t->node[p->node].guid),
				"lid", p->lid, "cc_support", ibcc_agents_support(a, p->node));
		json_object_set_new(row, "summary", summary(r, sw));
		json_object_set_new(row, sw ? "switch" : "ca", sw ? switch_json(r) : ca_json(r));
		json_array_append_new(rows, row);
	}
	json_object_set_new(o, "rows", rows);
	return o;
}
