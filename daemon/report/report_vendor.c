/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's own congestion control, as far as it reports its state, and sentences about paths. */
#include <ibcc/ways.h>

#include <ibcc/refusal.h>
#include <ibcc/settings_json.h>

#include "daemon/report/report.h"

static json_t *throttled(const struct ibcc_topo *t, const struct ibcc_vendor *v)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < v->n; i++) {
		const struct ibcc_vcc_ca_statistics *s = &v->ep[i].grown;
		json_t *o;

		if (!(s->cnp_handled + s->cnp_ignored + s->marked_packets + s->cnp_sent))
			continue;
		o = ibcc_json_port(t, t->endport[i]);
		json_object_update_new(o, json_pack("{sI sI sI sI}", "cnp_handled",
						    (json_int_t)s->cnp_handled, "cnp_ignored",
						    (json_int_t)s->cnp_ignored, "marked_packets",
						    (json_int_t)s->marked_packets, "cnp_sent",
						    (json_int_t)s->cnp_sent));
		json_array_append_new(list, o);
	}
	return list;
}

static json_t *advice(const struct ibcc_cycle *c)
{
	struct ibcc_vendor_advice a = ibcc_refusal_advice(c);
	struct ibcc_why text;

	if (a.code == IBCC_VENDOR_ADVICE_NONE)
		return json_null();
	ibcc_vendor_advice_text(&c->vendor, c->topo, a, &text);
	return ibcc_json_text(text.text);
}

json_t *ibcc_report_vendor(const struct ibcc_cycle *c)
{
	const struct ibcc_vendor *v = &c->vendor;
	struct ibcc_why text;

	ibcc_vendor_text(v, &text);
	if (!(v->n_off + v->n_on + v->n_silent))
		return json_null();
	return json_pack("{si si si si so so so}", "marking", (int)v->n_marking, "reacting",
			 (int)v->n_reacting, "off", (int)v->n_off, "silent", (int)v->n_silent,
			 "throttled", throttled(c->topo, v), "text", ibcc_json_text(text.text),
			 "advice", advice(c));
}

json_t *ibcc_report_ways(const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_ways_text(c->topo, &c->snapshot, &c->estimate, &c->vendor, &text);
	return text.text[0] ? ibcc_json_text(text.text) : json_null();
}

json_t *ibcc_report_routing(const struct ibcc_cycle *c)
{
	struct ibcc_why text;

	ibcc_refusal_routes(c, &text);
	return text.text[0] ? ibcc_json_text(text.text) : json_null();
}
