/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/decision_json.h>

#include <ibcc/json.h>
#include <ibcc/settings_json.h>

const char *ibcc_kind_name(enum ibcc_congestion kind)
{
	return kind == IBCC_CONGESTION_INPUT ? "input" : "output";
}

/* The figures of a decision by their names; an object without keys if it has no figures. */
static json_t *figures(const struct ibcc_decision *d)
{
	const uint32_t v[IBCC_DECISION_FIGURES] = { d->a, d->b, d->c };
	json_t *o = json_object();

	for (unsigned int k = 0; o && k < IBCC_DECISION_FIGURES; k++)
		if (ibcc_decision_figure(d->code, k))
			json_object_set_new(o, ibcc_decision_figure(d->code, k),
					    json_integer(v[k]));
	return o;
}

static json_t *decision(const struct ibcc_topo *t, const struct ibcc_decision *d)
{
	const struct ibcc_root_parameters *r = &d->root;
	json_t *o = ibcc_json_port(t, r->port);

	json_object_update_new(
		o, json_pack("{ss ss ss ss si si si si so}", "code", ibcc_decision_name(d->code),
			     "kind", ibcc_kind_name(r->kind), "phase", ibcc_phase_name(r->phase),
			     "basis", ibcc_basis_name(r->basis), "sources", (int)r->n, "rate_mbps",
			     (int)r->rate_mbps, "wait_permille", r->wait_permille,
			     "tree_wait_permille", r->tree_wait_permille, "figures", figures(d)));
	return o;
}

static json_t *list_of(const struct ibcc_topo *t, const struct ibcc_decisions *d)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < d->n; i++)
		json_array_append_new(list, decision(t, &d->decision[i]));
	return list;
}

static bool has_root(enum ibcc_situation_code code)
{
	return code == IBCC_SITUATION_NOT_SET || code == IBCC_SITUATION_PARTLY_SET;
}

static json_t *situation(const struct ibcc_topo *t, const struct ibcc_decisions *d)
{
	const struct ibcc_situation *s = &d->situation;

	if (d->n)
		return json_null();
	return json_pack("{ss so si sb si si si}", "code", ibcc_situation_name(s->code), "root",
			 has_root(s->code) ? ibcc_json_port(t, s->root.port) : json_null(), "roots",
			 (int)s->roots, "lacking", s->lacking, "ports", (int)s->ports, "usable",
			 (int)s->usable, "unsure", (int)s->unsure);
}

json_t *ibcc_decisions_json(const struct ibcc_topo *t, const struct ibcc_decisions *d)
{
	return json_pack("{so so sb ss}", "decisions", list_of(t, d), "situation", situation(t, d),
			 "recommended", d->recommended, "step", ibcc_rollout_step_name(d->step));
}
