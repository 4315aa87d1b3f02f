/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Ports, changes by field, and settings as JSON (settings_json.h). */
#include <ibcc/settings_json.h>

#include <errno.h>
#include <stdio.h>

#include <ibcc/json.h>
#include <ibcc/vendor_cc.h>

json_t *ibcc_json_port(const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_port *p = &t->port[port];
	const struct ibcc_topo_node *n = &t->node[p->node];

	return json_pack("{so so si}", "node_guid", ibcc_json_guid(n->guid), "node",
			 ibcc_json_text(n->desc), "port", p->num);
}

/* Where the fields of one change go. */
struct field_list {
	json_t *list;
	const struct ibcc_change *change;
	const char *node, *outcome;
};

static int add_field(const struct ibcc_field_change *f, void *arg)
{
	struct field_list *l = arg;
	const struct ibcc_change *c = l->change;
	json_t *o = json_pack("{so so si ss ss si ss ss so}", "node_guid",
			      ibcc_json_guid(c->node_guid), "node", ibcc_json_text(l->node), "port",
			      (int)ibcc_plan_field_port(c, f), "attribute",
			      ibcc_cc_attr_name(c->attr_id), "field", f->field, "sl", f->sl, "old",
			      f->old_text, "new", f->new_text, "reason", ibcc_json_text(c->reason));

	if (o && f->sl < 0)
		json_object_set_new(o, "sl", json_null());
	if (o && l->outcome)
		json_object_set_new(o, "outcome", json_string(l->outcome));
	return json_array_append_new(l->list, o) ? -ENOMEM : 0;
}

int ibcc_json_change(json_t *list, const struct ibcc_change *c, const char *node,
		     const char *outcome)
{
	struct field_list l = { json_array(), c, node, outcome };
	int rc = ibcc_plan_fields(c, add_field, &l);

	if (!rc)
		return ibcc_json_fold(list, l.list);
	json_decref(l.list);
	return rc;
}

static json_t *mask_array(const struct ibcc_cc_port_mask *m)
{
	json_t *list = json_array();
	unsigned int p;

	for (p = 0; list && p < 256; p++)
		if (ibcc_cc_mask_test(m, p))
			json_array_append_new(list, json_integer(p));
	return list;
}

json_t *ibcc_json_switch(const struct ibcc_cc_sw_setting *v)
{
	return json_pack("{si so so si si si si si}", "Control_Map", (int)v->Control_Map,
			 "Victim_Mask", mask_array(&v->Victim_Mask), "Credit_Mask",
			 mask_array(&v->Credit_Mask), "Threshold", v->Threshold, "Packet_Size",
			 v->Packet_Size, "CS_Threshold", v->CS_Threshold, "CS_ReturnDelay",
			 v->CS_ReturnDelay, "Marking_Rate", v->Marking_Rate);
}

json_t *ibcc_json_switch_ports(const struct ibcc_endport_cc *ep)
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

json_t *ibcc_json_sls(const struct ibcc_cc_ca_setting *v)
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
	return list;
}

json_t *ibcc_json_cct(const struct ibcc_cct *cct, json_t *(*one)(uint16_t entry))
{
	json_t *list = json_array();

	for (unsigned int i = 0; list && i <= cct->limit && i < IBCC_CCT_MAX_ENTRIES; i++)
		json_array_append_new(list, one(cct->entry[i]));
	return list;
}

int ibcc_json_parameters(json_t *into, uint16_t attr_id, const uint8_t *data)
{
	unsigned int n;
	const struct ibcc_vcc_field *f = ibcc_vcc_fields(attr_id, &n);
	json_t *o;

	if (!f)
		return -EINVAL;
	o = json_object();
	for (unsigned int i = 0; o && i < n; i++)
		json_object_set_new(o, f[i].name, json_integer(ibcc_vcc_field_get(data, &f[i])));
	return json_object_set_new(into, ibcc_vcc_parameters_name(attr_id), o) ? -ENOMEM : 0;
}

const char *ibcc_json_parameters_text(const json_t *fields, char *buf, size_t len)
{
	const char *name;
	size_t at = 0;
	json_t *v;

	buf[0] = '\0';
	json_object_foreach ((json_t *)fields, name, v)
		if (at < len)
			at += (size_t)snprintf(buf + at, len - at, "%s%s %lld", at ? ", " : "",
					       name, json_integer_value(v));
	return buf;
}
