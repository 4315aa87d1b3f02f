/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings as read from the fabric, with the annex's field names as keys. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/report.h"

static json_t *mask_array(const struct ibcc_cc_port_mask *m)
{
	json_t *list = json_array();
	unsigned int p;

	for (p = 0; list && p < 256; p++)
		if (ibcc_cc_mask_test(m, p))
			json_array_append_new(list, json_integer(p));
	return list;
}

static json_t *switch_setting(const struct ibcc_cc_sw_setting *v)
{
	return json_pack("{si so so si si si si si}", "Control_Map", (int)v->Control_Map,
			 "Victim_Mask", mask_array(&v->Victim_Mask), "Credit_Mask",
			 mask_array(&v->Credit_Mask), "Threshold", v->Threshold, "Packet_Size",
			 v->Packet_Size, "CS_Threshold", v->CS_Threshold, "CS_ReturnDelay",
			 v->CS_ReturnDelay, "Marking_Rate", v->Marking_Rate);
}

/* Only elements that count; the others are as the switch-wide setting says. */
static json_t *switch_ports(const struct ibcc_endport_cc *ep)
{
	json_t *list = json_array();
	unsigned int p;

	for (p = 0; list && p < ep->n_element; p++) {
		const struct ibcc_cc_sw_port_element *e = &ep->element[p];

		if (e->Valid)
			json_array_append_new(list,
					      json_pack("{si sb si si si}", "port", (int)p,
							"Control_Type", e->Control_Type,
							"Threshold", e->Threshold, "Packet_Size",
							e->Packet_Size, "Cong_Parm_Marking_Rate",
							e->Cong_Parm_Marking_Rate));
	}
	return list;
}

static json_t *ca_setting(const struct ibcc_cc_ca_setting *v)
{
	json_t *list = json_array();
	unsigned int sl;

	for (sl = 0; list && sl < IBCC_CC_SLS; sl++) {
		const struct ibcc_cc_ca_entry *e = &v->sl[sl];

		json_array_append_new(list,
				      json_pack("{si si si si si}", "sl", (int)sl, "CCTI_Timer",
						e->CCTI_Timer, "CCTI_Increase", e->CCTI_Increase,
						"Trigger_Threshold", e->Trigger_Threshold,
						"CCTI_Min", e->CCTI_Min));
	}
	return json_pack("{si si so}", "Port_Control", v->Port_Control, "Control_Map",
			 v->Control_Map, "sls", list);
}

static json_t *table(const struct ibcc_cct *cct)
{
	json_t *list = json_array();
	unsigned int i;

	for (i = 0; list && i <= cct->limit && i < IBCC_CCT_MAX_ENTRIES; i++)
		json_array_append_new(list, json_pack("{si si}", "CCT_Shift",
						      (int)ibcc_cct_entry_shift(cct->entry[i]),
						      "CCT_Multiplier",
						      (int)ibcc_cct_entry_mult(cct->entry[i])));
	return json_pack("{si so}", "CCTI_Limit", cct->limit, "entries", list);
}

static json_t *endport_object(const struct ibcc_topo *t, uint32_t port,
			      const struct ibcc_endport_cc *ep)
{
	const struct ibcc_topo_port *p = &t->port[port];
	const struct ibcc_topo_node *n = &t->node[p->node];
	bool is_switch = ibcc_topo_is_switch(t, p->node);
	const char *reason = ibcc_gate_reason(ep);
	json_t *o = json_pack("{so so si si ss sb}", "node_guid", ibcc_report_guid(n->guid), "node",
			      ibcc_report_text(n->desc), "port", p->num, "lid", p->lid, "type",
			      is_switch ? "switch" : "ca", "supported", !reason);

	if (!o)
		return NULL;
	if (reason) {
		json_object_set_new(o, "reason", json_string(reason));
		return o;
	}
	json_object_set_new(o, "CongestionInfo", json_integer(ep->info.CongestionInfo));
	json_object_set_new(o, "ControlTableCap", json_integer(ep->info.ControlTableCap));
	if (is_switch) {
		json_object_set_new(o, "SwitchCongestionSetting", switch_setting(&ep->sw));
		json_object_set_new(o, "SwitchPortCongestionSetting", switch_ports(ep));
	} else {
		json_object_set_new(o, "CACongestionSetting", ca_setting(&ep->ca));
		json_object_set_new(o, "CongestionControlTable", table(&ep->cct));
	}
	return o;
}

static bool wanted(const struct ibcc_topo *t, uint32_t port, const char *filter)
{
	const struct ibcc_topo_port *p = &t->port[port];
	char *end;
	uint64_t number;

	if (!filter || !strcmp(filter, t->node[p->node].desc))
		return true;
	errno = 0;
	number = strtoull(filter, &end, 0);
	if (errno || end == filter || *end)
		return false;
	return number == p->lid || number == t->node[p->node].guid || number == p->guid;
}

json_t *ibcc_report_settings(const struct ibcc_topo *t, const struct ibcc_settings *s,
			     const char *filter)
{
	json_t *list = json_array();
	uint32_t i;

	for (i = 0; list && i < s->n; i++)
		if (t->port[t->endport[i]].lid && wanted(t, t->endport[i], filter))
			json_array_append_new(list, endport_object(t, t->endport[i], &s->ep[i]));
	return json_pack("{si so}", "schema", IBCC_REPORT_SCHEMA, "nodes", list);
}
