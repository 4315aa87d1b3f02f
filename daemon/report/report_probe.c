/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The inventory: for each device type, counts of endports by their answers. It does not identify
 * any node, so it can be given to others.
 */
#include <stdio.h>
#include <string.h>

#include <ibcc/device.h>
#include <ibcc/pma.h>
#include <ibcc/settings_json.h>
#include <ibcc/version.h>

#include "daemon/report/report.h"

struct inventory {
	const struct ibcc_cycle *c;
	const struct ibcc_probe *p;
	json_t *types;
};

static void bump_by(json_t *type, const char *property, const char *value, uint32_t by)
{
	json_t *o = json_object_get(type, property);

	if (!by)
		return;
	if (!o) {
		o = json_object();
		json_object_set_new(type, property, o);
	}
	json_object_set_new(o, value,
			    json_integer(json_integer_value(json_object_get(o, value)) + by));
}

static void bump(json_t *type, const char *property, const char *value)
{
	bump_by(type, property, value, 1);
}

static void bump_number(json_t *type, const char *property, unsigned int value)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", value);
	bump(type, property, text);
}

static const char *kind(const struct ibcc_topo_node *n, const struct ibcc_device *d)
{
	if (d && d->kind == IBCC_DEVICE_AGGREGATION)
		return "aggregation node";
	if (d && d->kind == IBCC_DEVICE_VIRTUAL)
		return "virtual function";
	switch (n->type) {
	case IBCC_NODE_CA: return "channel adapter";
	case IBCC_NODE_SWITCH: return "switch";
	case IBCC_NODE_ROUTER: return "router";
	}
	return "unknown";
}

/* Finds or makes the entry for a node's type, and counts the node there. */
static json_t *type_of(struct inventory *v, const struct ibcc_topo_node *n)
{
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);
	const struct ibcc_generation_facts *g;
	char vendor[16], device[16];
	json_t *o;
	size_t i;

	snprintf(vendor, sizeof(vendor), "0x%06x", n->vendor_id);
	snprintf(device, sizeof(device), "0x%04x", n->device_id);
	json_array_foreach (v->types, i, o)
		if (!strcmp(json_string_value(json_object_get(o, "vendor_id")), vendor) &&
		    !strcmp(json_string_value(json_object_get(o, "device_id")), device) &&
		    !strcmp(json_string_value(json_object_get(o, "type")), kind(n, d)))
			return o;
	g = ibcc_device_facts(ibcc_device_generation(d));
	o = json_pack("{ss ss ss ss si ss ss ss}", "vendor_id", vendor, "device_id", device, "name",
		      d ? d->name : "", "type", kind(n, d), "count", 0, "generation", g->name,
		      "mechanism", g->mechanism, "action", g->action);
	json_array_append_new(v->types, o);
	return o;
}

/* A switch with few ports has all of them in its first block, whatever the block's length. */
static void tell_block(json_t *type, const struct ibcc_endport_cc *cc)
{
	unsigned int last = cc->n_element ? cc->n_element - 1u : 0;

	if (cc->sw_port_block == IBCC_CC_SW_PORT_BLOCK_121 &&
	    last / IBCC_CC_SW_PORT_BLOCK_121 == last / IBCC_CC_SW_PORT_BLOCK_13)
		bump(type, "port_block", "32 or 48");
	else
		bump_number(type, "port_block", cc->sw_port_block);
}

static void tell_a10(json_t *type, const struct ibcc_endport_cc *cc, bool is_switch)
{
	/* A device whose type has only the log may answer otherwise: records are to show that. */
	switch (cc->answer == IBCC_CC_ANSWERED ? cc->support : ibcc_endport_support_back(cc)) {
	case IBCC_CC_UNKNOWN: bump(type, "annex_a10", "silent"); break;
	case IBCC_CC_SUPPORTED: bump(type, "annex_a10", "yes"); break;
	case IBCC_CC_UNSUPPORTED: bump(type, "annex_a10", "no"); break;
	case IBCC_CC_KEY_REFUSED: bump(type, "annex_a10", "wants another CC_Key"); break;
	case IBCC_CC_VENDOR_ON:
	case IBCC_CC_VENDOR_SILENT:
	case IBCC_CC_LOG_ONLY:
	case IBCC_CC_FOREIGN:
	case IBCC_CC_NO_EFFECT:
		bump(type, "annex_a10", cc->told ? "yes, not used" : "not known");
		break;
	}
	if (!cc->told)
		return;
	bump(type, "attributes", "CongestionInfo");
	if (is_switch) {
		tell_block(type, cc);
		if (cc->sw_port_block)
			bump(type, "attributes", "SwitchPortCongestionSetting");
	} else {
		bump_number(type, "table_entries",
			    cc->info.ControlTableCap * IBCC_CCT_BLOCK_ENTRIES);
		if (cc->by_block)
			bump(type, "attributes", "CCTI_Limit for each block");
	}
}

static void tell_class(json_t *type, const struct ibcc_probe_endport *e)
{
	if (e->key_info == IBCC_ANSWER_GOOD)
		bump(type, "attributes", "CongestionKeyInfo");
	if (e->log == IBCC_ANSWER_GOOD)
		bump(type, "attributes", "CongestionLog");
	if (e->timestamp == IBCC_ANSWER_GOOD)
		bump(type, "attributes", "TimeStamp");
	switch (e->key) {
	case IBCC_PROBE_KEY_UNKNOWN: bump(type, "cc_key", "not known"); break;
	case IBCC_PROBE_KEY_NONE: bump(type, "cc_key", "none"); break;
	case IBCC_PROBE_KEY_OURS:
		bump(type, "cc_key", e->protect ? "ours, protected" : "ours");
		break;
	case IBCC_PROBE_KEY_OTHER: bump(type, "cc_key", "another"); break;
	}
}

static void tell_counters(json_t *type, const struct ibcc_probe_endport *e)
{
	if (e->pma != IBCC_ANSWER_GOOD) {
		bump(type, "counters", e->pma == IBCC_ANSWER_REFUSED ? "refused" : "silent");
		return;
	}
	if (e->cap_mask & (IBCC_PMA_CAP_EXT_WIDTH | IBCC_PMA_CAP_EXT_WIDTH_NOIETF))
		bump(type, "counters", "64 bits");
	if (e->cap_mask & IBCC_PMA_CAP_ALL_PORT)
		bump(type, "counters", "AllPortSelect");
	if (e->cap_mask & IBCC_PMA_CAP_XMIT_WAIT)
		bump(type, "counters", "PortXmitWait");
	else if (e->kernel_pma)
		bump(type, "counters", "PortXmitWait, not claimed");
	if (e->kernel_pma)
		bump(type, "counters", "by the host's kernel, nothing beyond");
	if (e->samples == IBCC_ANSWER_GOOD && e->option_mask & IBCC_PMA_OPT_RCV_FECN)
		bump(type, "counters", "FECN");
	if (e->samples == IBCC_ANSWER_GOOD && e->option_mask & IBCC_PMA_OPT_RCV_BECN)
		bump(type, "counters", "BECN");
}

static void tell_tick(json_t *type, const struct ibcc_probe_endport *e, const struct ibcc_device *d)
{
	int known = ibcc_device_default_tick(d);
	char text[48];

	if (e->samples == IBCC_ANSWER_GOOD)
		snprintf(text, sizeof(text), "%u, PortSamplesControl", e->tick);
	else if (known >= 0)
		snprintf(text, sizeof(text), "%d, device table", known);
	else
		snprintf(text, sizeof(text), "not known");
	bump(type, "tick", text);
}

static void tell_vendor(json_t *type, const struct ibcc_vendor_endport *e, bool is_switch)
{
	static const char *const words[] = { [IBCC_VENDOR_CC_NONE] = "no",
					     [IBCC_VENDOR_CC_OFF] = "off",
					     [IBCC_VENDOR_CC_ON] = "on",
					     [IBCC_VENDOR_CC_SILENT] = "does not answer" };
	bool can = e->general == IBCC_VENDOR_TOLD &&
		   ibcc_vcc_can(&e->can, IBCC_VCC_CAP_ADAPTIVE_ROUTING);
	char algorithm[80];

	bump(type, "nvidia_cc", words[e->cc]);
	if (ibcc_vendor_algorithm(e, algorithm, sizeof(algorithm)))
		bump(type, "nvidia_algorithm", algorithm);
	if (is_switch)
		bump(type, "adaptive_routing", e->loose_sls ? "on" : can ? "off" : "no");
}

static void tell_firmware(json_t *type, const struct ibcc_probe_endport *e)
{
	char text[48];

	if (!e->has_firmware)
		return;
	snprintf(text, sizeof(text), "%u.%u.%u", e->firmware.major, e->firmware.minor,
		 e->firmware.sub);
	bump(type, "firmware", text);
}

static void tell_speeds(json_t *type, const struct ibcc_topo *t, const struct ibcc_topo_node *n)
{
	for (unsigned int i = 1; i <= n->n_ports; i++)
		if (t->port[n->first_port + i].rate_mbps)
			bump_number(type, "link_mbps", t->port[n->first_port + i].rate_mbps);
}

static void tell_endport(struct inventory *v, uint32_t i)
{
	const struct ibcc_topo *t = v->c->topo;
	const struct ibcc_topo_port *p = &t->port[t->endport[i]];
	const struct ibcc_topo_node *n = &t->node[p->node];
	const struct ibcc_device *d = ibcc_device_find(n->vendor_id, n->device_id);
	bool is_switch = n->type == IBCC_NODE_SWITCH;
	json_t *type = type_of(v, n);

	if (!p->lid)
		return;
	tell_a10(type, &v->c->actual.ep[i], is_switch);
	if (v->c->actual.ep[i].told)
		tell_class(type, &v->p->ep[i]);
	tell_firmware(type, &v->p->ep[i]);
	tell_counters(type, &v->p->ep[i]);
	tell_tick(type, &v->p->ep[i], d);
	tell_vendor(type, &v->c->vendor.ep[i], is_switch);
}

/* An adapter's attribute, or that of one port of a switch. */
static void tell_parameters(struct inventory *v, const struct ibcc_vendor_answer *a)
{
	const struct ibcc_topo *t = v->c->topo;
	json_t *type = type_of(v, &t->node[t->port[t->endport[a->endport]].node]);
	json_t *attribute = json_object(), *fields;
	char text[IBCC_JSON_PARAMETERS_BYTES];
	const char *name;

	if (attribute && !ibcc_json_parameters(attribute, a->attr_id, a->data))
		json_object_foreach (attribute, name, fields)
			bump(type, name, ibcc_json_parameters_text(fields, text, sizeof(text)));
	json_decref(attribute);
}

/* Why ports of a type have no parameters. */
static void tell_unread(struct inventory *v, const struct ibcc_vendor_unread *u)
{
	const struct ibcc_topo *t = v->c->topo;
	json_t *type = type_of(v, &t->node[t->port[t->endport[u->endport]].node]);

	bump_by(type, u->attribute, "refused", u->n_refused);
	bump_by(type, u->attribute, "silent", u->n_silent);
	bump_by(type, u->attribute, "not reached in time", u->n_late);
	bump_by(type, u->attribute, "not asked", u->n_spared);
}

json_t *ibcc_report_probe(const struct ibcc_cycle *c, const struct ibcc_probe *p,
			  const struct ibcc_vendor_parameters *parameters)
{
	struct inventory v = { c, p, json_array() };
	struct ibcc_why vendor, routes;

	for (uint32_t i = 0; v.types && i < c->topo->n_nodes; i++) {
		json_t *type = type_of(&v, &c->topo->node[i]);

		json_object_set_new(
			type, "count",
			json_integer(json_integer_value(json_object_get(type, "count")) + 1));
		tell_speeds(type, c->topo, &c->topo->node[i]);
	}
	for (uint32_t i = 0; v.types && i < p->n; i++)
		tell_endport(&v, i);
	for (uint32_t i = 0; v.types && i < parameters->n; i++)
		tell_parameters(&v, &parameters->answer[i]);
	for (uint32_t i = 0; v.types && i < parameters->n_unread; i++)
		tell_unread(&v, &parameters->unread[i]);
	ibcc_vendor_text(&c->vendor, &vendor);
	/* Without the roots that are only observed, because these have names. */
	ibcc_vendor_routes_text(&c->vendor, &routes);
	return json_pack("{si ss so so so}", "schema", IBCC_REPORT_SCHEMA, "version", IBCC_VERSION,
			 "types", v.types, "nvidia",
			 vendor.text[0] ? ibcc_json_text(vendor.text) : json_null(), "routing",
			 routes.text[0] ? ibcc_json_text(routes.text) : json_null());
}
