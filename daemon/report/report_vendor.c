/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* NVIDIA's own congestion control, as far as it reports its state, and sentences about paths. */
#include <ibcc/ways.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

/* The object of a switch's port; answers come in the order of ports. */
static json_t *port_object(json_t *ports, const struct ibcc_topo *t, uint32_t node, uint8_t num)
{
	json_t *o = json_array_get(ports, json_array_size(ports) - 1);
	uint32_t peer = t->port[ibcc_topo_port_index(t, node, num)].peer;
	bool to_switch = peer != IBCC_NONE && ibcc_topo_is_switch(t, t->port[peer].node);

	if (o && json_integer_value(json_object_get(o, "port")) == num)
		return o;
	o = json_pack("{si ss}", "port", num, "peer", to_switch ? "switch" : "ca");
	json_array_append_new(ports, o);
	return o;
}

/* The first answer of an endport, or where it would be. */
static uint32_t first_answer(const struct ibcc_vendor_parameters *p, uint32_t endport)
{
	uint32_t low = 0, high = p->n;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (p->answer[mid].endport < endport)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

void ibcc_report_parameters(json_t *o, const struct ibcc_topo *t, const struct ibcc_vendor *v,
			    const struct ibcc_vendor_parameters *p, uint32_t endport)
{
	static const char *const words[] = { [IBCC_VENDOR_CC_OFF] = "off",
					     [IBCC_VENDOR_CC_ON] = "on",
					     [IBCC_VENDOR_CC_SILENT] = "does not answer" };
	json_t *own, *ports = json_array();

	if (v->ep[endport].cc == IBCC_VENDOR_CC_NONE) {
		json_decref(ports);
		return;
	}
	own = json_pack("{ss}", "control", words[v->ep[endport].cc]);
	for (uint32_t i = first_answer(p, endport); i < p->n && p->answer[i].endport == endport;
	     i++) {
		const struct ibcc_vendor_answer *a = &p->answer[i];
		json_t *into = own;

		if (a->port)
			into = port_object(ports, t, t->port[t->endport[endport]].node, a->port);
		ibcc_json_parameters(into, a->attr_id, a->data);
	}
	json_object_set_new(o, "nvidia", own);
	if (json_array_size(ports))
		json_object_set(o, "nvidia_ports", ports);
	json_decref(ports);
}

/* What is remembered of an answer, and where: its data in hexadecimal, and when that was first
 * read.
 */
static void note(json_t *memory, const char *key, const char *hex, uint64_t now_s)
{
	json_object_set_new(memory, key, json_pack("{ss sI}", "data", hex, "s", (json_int_t)now_s));
}

json_t *ibcc_report_changed_parameters(json_t *memory, const struct ibcc_topo *t,
				       const struct ibcc_vendor_parameters *p, uint64_t now_s)
{
	char hex[2 * IBCC_CC_DATA_BYTES + 1], key[64];
	uint32_t n = 0, first = 0, last = IBCC_NONE;
	json_int_t since = 0;

	for (uint32_t i = 0; i < p->n; i++) {
		const struct ibcc_vendor_answer *a = &p->answer[i];
		const struct ibcc_topo_port *port = &t->port[t->endport[a->endport]];
		const json_t *was;

		for (unsigned int k = 0; k < sizeof(a->data); k++)
			snprintf(hex + 2 * k, 3, "%02x", a->data[k]);
		snprintf(key, sizeof(key), "%016" PRIx64 "/%u/%u/%04x", t->node[port->node].guid,
			 port->num, a->port, a->attr_id);
		was = json_object_get(memory, key);
		if (was && strcmp(json_string_value(json_object_get(was, "data")), hex) != 0 &&
		    a->endport != last) {
			first = n++ ? first : t->endport[a->endport];
			since = n > 1 ? since
				      : (json_int_t)now_s -
						json_integer_value(json_object_get(was, "s"));
			last = a->endport;
		}
		note(memory, key, hex, now_s);
	}
	if (!n)
		return json_null();
	return json_pack("{si so sI}", "ports", (int)n, "first",
			 ibcc_json_text(t->node[t->port[first].node].desc), "since_s", since);
}

/* A count for each GB, 1e9 bytes; null without traffic. */
static json_t *per_gb(uint64_t n, uint64_t bytes)
{
	return bytes ? json_real(1e9 * (double)n / (double)bytes) : json_null();
}

void ibcc_report_notifications(json_t *o, const struct ibcc_vendor *v, uint32_t endport)
{
	const struct ibcc_vendor_endport *e = &v->ep[endport];
	const struct ibcc_vcc_ca_statistics *s = &e->grown;

	if (e->cc != IBCC_VENDOR_CC_ON || !e->grown_known || !e->interval_ns)
		return;
	json_object_set_new(
		o, "nvidia_notifications",
		json_pack("{sI sI sI sI sI sI sI so so so}", "interval_ms",
			  (json_int_t)(e->interval_ns / 1000000), "cnp_handled",
			  (json_int_t)s->cnp_handled, "cnp_ignored", (json_int_t)s->cnp_ignored,
			  "cnp_sent", (json_int_t)s->cnp_sent, "marked_packets",
			  (json_int_t)s->marked_packets, "xmit_bytes", (json_int_t)e->xmit_bytes,
			  "rcv_bytes", (json_int_t)e->rcv_bytes, "handled_per_gb",
			  per_gb(s->cnp_handled, e->xmit_bytes), "ignored_per_gb",
			  per_gb(s->cnp_ignored, e->xmit_bytes), "sent_per_gb",
			  per_gb(s->cnp_sent, e->rcv_bytes)));
}

json_t *ibcc_report_unread_parameters(const struct ibcc_topo *t,
				      const struct ibcc_vendor_parameters *p)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < p->n_unread; i++) {
		const struct ibcc_vendor_unread *u = &p->unread[i];
		json_t *o = ibcc_report_type(&t->node[t->port[t->endport[u->endport]].node]);

		json_object_update_new(o,
				       json_pack("{ss si si si si si}", "attribute", u->attribute,
						 "ports", (int)u->n, "refused", (int)u->n_refused,
						 "silent", (int)u->n_silent, "late", (int)u->n_late,
						 "not_asked", (int)u->n_spared));
		json_array_append_new(list, o);
	}
	return list;
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
