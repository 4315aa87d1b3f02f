/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A prediction (ibcc/prediction.h) as JSON. */
#include <math.h>

#include <ibcc/settings_json.h>

#include "daemon/report/report.h"

static json_int_t whole(double mbps)
{
	return (json_int_t)llround(mbps);
}

static json_t *amount(const struct ibcc_amount *a)
{
	return json_pack("{sI sI sI sI}", "now_mbps", whole(a->now_mbps), "expected_mbps",
			 whole(a->expected_mbps), "low_mbps", whole(a->low_mbps), "high_mbps",
			 whole(a->high_mbps));
}

/* Tenths of a microsecond: a packet may take less than one. */
static json_t *latency(const struct ibcc_prediction *p)
{
	if (!(p->now_us > 0))
		return json_null();
	return json_pack("{sf sf}", "now_us", (double)llround(10 * p->now_us) / 10, "expected_us",
			 (double)llround(10 * p->expected_us) / 10);
}

static json_t *roots_of(const struct ibcc_topo *t, const struct ibcc_prediction *p)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < p->n_roots; i++) {
		json_t *o = ibcc_json_port(t, p->root[i].port);

		json_object_update_new(o, amount(&p->root[i].amount));
		json_array_append_new(list, o);
	}
	return list;
}

/* What they send is within bounds, and nothing more is known. */
static json_t *open_of(const struct ibcc_topo *t, const struct ibcc_prediction *p)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < p->n_open; i++) {
		const struct ibcc_amount *a = &p->open[i].amount;
		json_t *o = ibcc_json_port(t, p->open[i].port);

		json_object_update_new(o, json_pack("{sI sI sI}", "now_mbps", whole(a->now_mbps),
						    "low_mbps", whole(a->low_mbps), "high_mbps",
						    whole(a->high_mbps)));
		json_array_append_new(list, o);
	}
	return list;
}

/* The keys of earlier releases. */
static int add_old_keys(json_t *o, const struct ibcc_topo *t, const struct ibcc_prediction_in *in,
			const struct ibcc_prediction *p)
{
	struct ibcc_amount hot = { 0 };
	json_t *list = json_array();

	for (uint32_t i = 0; i < p->n_roots; i++) {
		hot.now_mbps += p->root[i].amount.now_mbps;
		hot.expected_mbps += p->root[i].amount.expected_mbps;
	}
	for (uint32_t r = 0; list && r < in->n_roots; r++)
		for (uint32_t i = 0; p->sent_mbps && i < in->root[r].n_sources; i++) {
			const struct ibcc_source *s = &in->root[r].source[i];
			json_t *port = ibcc_json_port(t, s->port);

			json_object_update_new(
				port,
				json_pack("{ss sI sI}", "role",
					  s->role == IBCC_ROLE_VICTIM ? "victim" : "contributor",
					  "now_mbps", (json_int_t)s->xmit_mbps, "expected_mbps",
					  whole(p->sent_mbps[s->port])));
			json_array_append_new(list, port);
		}
	return json_object_update_new(
		o, json_pack("{sI sI sI sI so}", "hot_now_mbps", whole(hot.now_mbps),
			     "hot_expected_mbps", whole(hot.expected_mbps), "victim_now_mbps",
			     whole(p->victims.now_mbps), "victim_expected_mbps",
			     whole(p->victims.expected_mbps), "sources", list));
}

json_t *ibcc_report_prediction(const struct ibcc_topo *t, const struct ibcc_prediction_in *in,
			       const struct ibcc_prediction *p)
{
	static const char *const bases[] = { "none", "history" };
	const char *why = ibcc_prediction_reason(p->why);
	json_t *o = json_pack(
		"{sb ss so so so so so sb sb sb so so so so sI}", "known", (int)p->known, "basis",
		bases[p->basis], "baseline_age_s",
		in->before && in->before->n
			? json_integer((json_int_t)(p->baseline_age_ns / 1000000000ull))
			: json_null(),
		"replay",
		p->replayed ? json_pack("{sI sI}", "rate_permille", whole(1000 * p->replay_rate),
					"wait_permille", whole(1000 * p->replay_wait))
			    : json_null(),
		"total", p->known ? amount(&p->total) : json_null(), "victims",
		p->known ? amount(&p->victims) : json_null(), "latency", latency(p), "costs",
		(int)ibcc_prediction_costs(p), "trades", (int)ibcc_prediction_trades(p), "advised",
		(int)ibcc_prediction_is_advised(p, in->prefer_latency), "roots", roots_of(t, p),
		"open_roots", open_of(t, p), "roots_why",
		p->roots_why == IBCC_PREDICTION_TELLS
			? json_null()
			: json_string(ibcc_prediction_reason(p->roots_why)),
		"why", p->known ? json_null() : json_string(why), "cpu_ms", whole(1000 * p->cpu_s));

	if (o && p->known && add_old_keys(o, t, in, p)) {
		json_decref(o);
		return NULL;
	}
	return o;
}
