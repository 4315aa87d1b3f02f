/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's own congestion control, as far as it reports its state, and sentences about paths. */
#include <ibcc/ways.h>

#include <ibcc/refusal.h>
#include <ibcc/settings_json.h>

#include "daemon/report/report.h"

static bool has_any(const struct ibcc_vcc_ca_statistics *s)
{
	return s->cnp_handled + s->cnp_ignored + s->marked_packets + s->cnp_sent;
}

/* Inserts an endport into a list of those that handled most notifications; of equal ones, the first
 * stays first.
 */
static void insert(const struct ibcc_vendor *v, uint32_t ep, uint32_t *list, uint32_t *n)
{
	uint64_t handled = v->ep[ep].grown.cnp_handled;
	uint32_t k;

	if (*n < IBCC_REPORT_MOST)
		++*n;
	else if (v->ep[list[*n - 1]].grown.cnp_handled >= handled)
		return;
	for (k = *n - 1; k && v->ep[list[k - 1]].grown.cnp_handled < handled; k--)
		list[k] = list[k - 1];
	list[k] = ep;
}

static json_t *throttled(const struct ibcc_topo *t, const struct ibcc_vendor *v, uint32_t *left_out)
{
	uint32_t most[IBCC_REPORT_MOST], n = 0, all = 0;
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < v->n; i++) {
		if (!has_any(&v->ep[i].grown))
			continue;
		all++;
		insert(v, i, most, &n);
	}
	for (uint32_t k = 0; k < n; k++) {
		const struct ibcc_vcc_ca_statistics *s = &v->ep[most[k]].grown;
		json_t *o = ibcc_json_port(t, t->endport[most[k]]);

		json_object_update_new(o, json_pack("{sI sI sI sI}", "cnp_handled",
						    (json_int_t)s->cnp_handled, "cnp_ignored",
						    (json_int_t)s->cnp_ignored, "marked_packets",
						    (json_int_t)s->marked_packets, "cnp_sent",
						    (json_int_t)s->cnp_sent));
		json_array_append_new(list, o);
	}
	*left_out = all - n;
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
	uint32_t left_out;
	json_t *list;

	ibcc_vendor_text(v, &text);
	if (!(v->n_off + v->n_on + v->n_silent))
		return json_null();
	list = throttled(c->topo, v, &left_out);
	return json_pack("{si si si si so si so so}", "marking", (int)v->n_marking, "reacting",
			 (int)v->n_reacting, "off", (int)v->n_off, "silent", (int)v->n_silent,
			 "throttled", list, "throttled_left_out", (int)left_out, "text",
			 ibcc_json_text(text.text), "advice", advice(c));
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
