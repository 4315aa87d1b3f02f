/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings as read from the fabric, with the annex's field names as keys. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/settings_json.h>

#include "daemon/report/report.h"

static json_t *entry_object(uint16_t entry)
{
	return json_pack("{si si}", "CCT_Shift", (int)ibcc_cct_entry_shift(entry), "CCT_Multiplier",
			 (int)ibcc_cct_entry_mult(entry));
}

json_t *ibcc_report_type(const struct ibcc_topo_node *n)
{
	char vendor[16], device[16];

	snprintf(vendor, sizeof(vendor), "0x%06x", n->vendor_id);
	snprintf(device, sizeof(device), "0x%04x", n->device_id);
	return json_pack("{ss ss ss}", "type", n->type == IBCC_NODE_SWITCH ? "switch" : "ca",
			 "vendor_id", vendor, "device_id", device);
}

static json_t *endport_object(const struct ibcc_topo *t, uint32_t port,
			      const struct ibcc_endport_cc *ep)
{
	const struct ibcc_topo_port *p = &t->port[port];
	const struct ibcc_topo_node *n = &t->node[p->node];
	bool is_switch = ibcc_topo_is_switch(t, p->node);
	const char *reason = ibcc_precheck_reason(ep);
	json_t *o = ibcc_json_port(t, port);

	json_object_update_new(o, json_pack("{si sb}", "lid", p->lid, "supported", !reason));
	json_object_update_new(o, ibcc_report_type(n));
	if (reason) {
		json_object_set_new(o, "reason", json_string(reason));
		return o;
	}
	json_object_set_new(o, "CongestionInfo", json_integer(ep->info.CongestionInfo));
	json_object_set_new(o, "ControlTableCap", json_integer(ep->info.ControlTableCap));
	if (is_switch) {
		json_object_set_new(o, "port_block", json_integer(ep->sw_port_block));
		json_object_set_new(o, "port_elements", json_integer(ep->n_element));
		json_object_set_new(o, "SwitchCongestionSetting", ibcc_json_switch(&ep->sw));
		json_object_set_new(o, "SwitchPortCongestionSetting", ibcc_json_switch_ports(ep));
	} else {
		json_object_set_new(o, "by_block", json_boolean(ep->by_block));
		json_object_set_new(o, "CACongestionSetting",
				    json_pack("{si si so}", "Port_Control", ep->ca.Port_Control,
					      "Control_Map", ep->ca.Control_Map, "sls",
					      ibcc_json_sls(&ep->ca)));
		json_object_set_new(o, "CongestionControlTable",
				    json_pack("{si so}", "CCTI_Limit", ep->cct.limit, "entries",
					      ibcc_json_cct(&ep->cct, entry_object)));
	}
	return o;
}

bool ibcc_report_is_wanted(const struct ibcc_topo *t, uint32_t port, const char *filter)
{
	const struct ibcc_topo_port *p = &t->port[port];
	char *end;
	uint64_t number;

	if (!filter || ibcc_topo_is_called(t, p->node, filter))
		return true;
	errno = 0;
	number = strtoull(filter, &end, 0);
	if (errno || end == filter || *end)
		return false;
	return number == p->lid || number == t->node[p->node].guid || number == p->guid;
}

static json_t *list(const struct ibcc_topo *t, const struct ibcc_settings *s,
		    const struct ibcc_vendor *v, const struct ibcc_vendor_parameters *p,
		    const char *filter)
{
	json_t *nodes = json_array();

	for (uint32_t i = 0; nodes && i < s->n; i++) {
		json_t *o;

		if (!t->port[t->endport[i]].lid || !ibcc_report_is_wanted(t, t->endport[i], filter))
			continue;
		o = endport_object(t, t->endport[i], &s->ep[i]);
		if (v && i < v->n) {
			ibcc_report_parameters(o, t, v, p, i);
			ibcc_report_notifications(o, v, i);
		}
		ibcc_json_fold(nodes, o);
	}
	return json_pack("{si so so*}", "schema", IBCC_REPORT_SCHEMA, "nodes", nodes,
			 "nvidia_unread", p ? ibcc_report_unread_parameters(t, p) : NULL);
}

json_t *ibcc_report_settings(const struct ibcc_topo *t, const struct ibcc_settings *s,
			     const char *filter)
{
	return list(t, s, NULL, NULL, filter);
}

json_t *ibcc_report_show(const struct ibcc_cycle *c, const struct ibcc_vendor_parameters *p,
			 const char *filter)
{
	return list(c->topo, &c->actual, &c->vendor, p, filter);
}
