/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Settings of a bundle, by the annex's names. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/bundle/bundle.h"

struct reader {
	const struct ibcc_topo *t;
	struct ibcc_why *why;
	size_t entry; /* the entry being read */
	bool ok;      /* all numbers so far were present and in range */
};

static int bad(const struct reader *r, const char *what)
{
	return ibcc_why_set(r->why, -EINVAL, "settings[%zu]: %s", r->entry, what);
}

static unsigned int number(struct reader *r, const json_t *o, const char *key, json_int_t most)
{
	const json_t *v = json_object_get(o, key);
	json_int_t x = json_integer_value(v);

	if (!json_is_integer(v) || x < 0 || x > most) {
		r->ok = false;
		return 0;
	}
	return (unsigned int)x;
}

static void read_mask(struct reader *r, const json_t *list, struct ibcc_cc_port_mask *m)
{
	const json_t *v;
	size_t i;

	r->ok = r->ok && json_is_array(list);
	json_array_foreach (list, i, v) {
		json_int_t port = json_integer_value(v);

		if (json_is_integer(v) && port >= 0 && port <= UINT8_MAX)
			ibcc_cc_mask_assign(m, (unsigned int)port, true);
		else
			r->ok = false;
	}
}

static void read_switch(struct reader *r, const json_t *o, struct ibcc_cc_sw_setting *s)
{
	s->Control_Map = number(r, o, "Control_Map", UINT32_MAX);
	read_mask(r, json_object_get(o, "Victim_Mask"), &s->Victim_Mask);
	read_mask(r, json_object_get(o, "Credit_Mask"), &s->Credit_Mask);
	s->Threshold = (uint8_t)number(r, o, "Threshold", 15);
	s->Packet_Size = (uint8_t)number(r, o, "Packet_Size", UINT8_MAX);
	s->CS_Threshold = (uint8_t)number(r, o, "CS_Threshold", 15);
	s->CS_ReturnDelay = (uint16_t)number(r, o, "CS_ReturnDelay", UINT16_MAX);
	s->Marking_Rate = (uint16_t)number(r, o, "Marking_Rate", UINT16_MAX);
}

static int read_elements(struct reader *r, const json_t *o, struct ibcc_endport_cc *ep)
{
	const json_t *list = json_object_get(o, "SwitchPortCongestionSetting"), *v;
	size_t i;

	ep->sw_port_block = (uint8_t)number(r, o, "port_block", IBCC_CC_SW_PORT_BLOCK_13);
	ep->n_element = (uint16_t)number(r, o, "port_elements", UINT8_MAX + 1);
	ep->element = calloc(ep->n_element + 1u, sizeof(*ep->element));
	if (!ep->element)
		return -ENOMEM;
	r->ok = r->ok && json_is_array(list);
	json_array_foreach (list, i, v) {
		unsigned int port = number(r, v, "port", (json_int_t)ep->n_element - 1);
		struct ibcc_cc_sw_port_element *e = &ep->element[port];

		e->Valid = true;
		e->Control_Type = json_is_true(json_object_get(v, "Control_Type"));
		e->Threshold = (uint8_t)number(r, v, "Threshold", 15);
		e->Packet_Size = (uint8_t)number(r, v, "Packet_Size", UINT8_MAX);
		e->Cong_Parm_Marking_Rate =
			(uint16_t)number(r, v, "Cong_Parm_Marking_Rate", UINT16_MAX);
	}
	return 0;
}

static void read_adapter(struct reader *r, const json_t *o, struct ibcc_cc_ca_setting *ca)
{
	const json_t *sls = json_object_get(o, "sls");

	ca->Port_Control = (uint16_t)number(r, o, "Port_Control", UINT16_MAX);
	ca->Control_Map = (uint16_t)number(r, o, "Control_Map", UINT16_MAX);
	for (size_t sl = 0; sl < IBCC_CC_SLS; sl++) {
		const json_t *v = json_array_get(sls, sl);

		ca->sl[sl].CCTI_Timer = (uint16_t)number(r, v, "CCTI_Timer", UINT16_MAX);
		ca->sl[sl].CCTI_Increase = (uint8_t)number(r, v, "CCTI_Increase", UINT8_MAX);
		ca->sl[sl].Trigger_Threshold =
			(uint8_t)number(r, v, "Trigger_Threshold", UINT8_MAX);
		ca->sl[sl].CCTI_Min = (uint8_t)number(r, v, "CCTI_Min", UINT8_MAX);
	}
}

static void read_table(struct reader *r, const json_t *o, struct ibcc_cct *cct)
{
	const json_t *entries = json_object_get(o, "entries");

	cct->limit = (uint16_t)number(r, o, "CCTI_Limit", IBCC_CCT_MAX_ENTRIES - 1);
	for (unsigned int i = 0; i <= cct->limit; i++) {
		const json_t *v = json_array_get(entries, i);

		cct->entry[i] = ibcc_cct_entry(number(r, v, "CCT_Shift", 3),
					       number(r, v, "CCT_Multiplier", IBCC_CCT_MAX_MULT));
	}
}

static struct ibcc_endport_cc *endport_of(struct reader *r, const json_t *o,
					  struct ibcc_settings *s)
{
	unsigned int lid = number(r, o, "lid", IBCC_LID_MAX);
	uint32_t port = r->ok && lid ? r->t->lid_port[lid] : IBCC_NONE;

	return port == IBCC_NONE || r->t->port[port].endport >= s->n
		       ? NULL
		       : &s->ep[r->t->port[port].endport];
}

static int read_endport(struct reader *r, const json_t *o, struct ibcc_settings *s)
{
	struct ibcc_endport_cc *ep = endport_of(r, o, s);
	bool supported;
	int rc = 0;

	if (!ep || ep->support != IBCC_CC_UNKNOWN)
		return bad(r, "lid: want a node's, once each");
	supported = json_is_true(json_object_get(o, "supported"));
	ep->answer = supported ? IBCC_CC_ANSWERED : IBCC_CC_NO_CLASS;
	ibcc_endport_judge(ep, IBCC_CC_SUPPORTED);
	if (!supported)
		return 0;
	ep->info.CongestionInfo = (uint16_t)number(r, o, "CongestionInfo", UINT16_MAX);
	ep->info.ControlTableCap = (uint8_t)number(r, o, "ControlTableCap", UINT8_MAX);
	ep->by_block = json_is_true(json_object_get(o, "by_block"));
	if (ibcc_topo_is_switch(r->t, r->t->port[r->t->endport[ep - s->ep]].node)) {
		read_switch(r, json_object_get(o, "SwitchCongestionSetting"), &ep->sw);
		rc = read_elements(r, o, ep);
	} else {
		read_adapter(r, json_object_get(o, "CACongestionSetting"), &ep->ca);
		read_table(r, json_object_get(o, "CongestionControlTable"), &ep->cct);
	}
	return rc || r->ok ? rc : bad(r, "a setting is missing or out of its range");
}

int ibcc_bundle_settings(const json_t *list, const struct ibcc_topo *t, struct ibcc_settings *s,
			 struct ibcc_why *why)
{
	struct reader r = { .t = t, .why = why, .ok = true };
	const json_t *o;
	int rc;

	if (!json_is_array(list))
		return ibcc_why_set(why, -EINVAL, "settings: want a list, or null");
	json_array_foreach (list, r.entry, o) {
		rc = read_endport(&r, o, s);
		if (rc)
			return rc;
	}
	return 0;
}
