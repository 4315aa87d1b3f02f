/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The tuner's decisions, and its state for each root, in codes. */
#include <ibcc/decision_json.h>

#include <ibcc/settings_json.h>

#include "daemon/report/report.h"

const char *ibcc_refused_name(enum ibcc_refused refused)
{
	switch (refused) {
	case IBCC_REFUSED_NOT: return "";
	case IBCC_REFUSED_VENDOR: return "vendor";
	case IBCC_REFUSED_ROUTES: return "routes";
	}
	return "";
}

static const struct ibcc_root_parameters *find(const struct ibcc_cycle *c, uint32_t port)
{
	const struct ibcc_parameters *p = c->tuner ? ibcc_tuner_parameters(c->tuner) : NULL;

	for (uint32_t k = 0; p && k < p->n_roots; k++)
		if (p->root[k].r.port == port)
			return &p->root[k].r;
	return NULL;
}

/* How far the control of a root has come; null if the tuner does not follow it. */
static json_t *control(const struct ibcc_root_parameters *r)
{
	if (!r)
		return json_pack("{sn sn}", "phase", "basis");
	return json_pack("{ss ss}", "phase", ibcc_phase_name(r->phase), "basis",
			 ibcc_basis_name(r->basis));
}

/* Why the tuner acts on a root, or does not; null if there is no tuner. */
static json_t *status(const struct ibcc_cycle *c, uint32_t port)
{
	const struct ibcc_parameters *p = c->tuner ? ibcc_tuner_parameters(c->tuner) : NULL;

	return p ? json_string(ibcc_root_status_name(ibcc_parameters_status(p, port)))
		 : json_null();
}

int ibcc_report_add_control(const struct ibcc_cycle *c, uint32_t port, json_t *o)
{
	return json_object_update_new(o, control(find(c, port))) ||
	       json_object_set_new(o, "status", status(c, port));
}

json_t *ibcc_report_followed(const struct ibcc_cycle *c)
{
	const struct ibcc_parameters *p = c->tuner ? ibcc_tuner_parameters(c->tuner) : NULL;
	json_t *list = json_array();

	for (uint32_t k = 0; list && p && k < p->n_roots; k++) {
		const struct ibcc_root_parameters *r = &p->root[k].r;
		json_t *o = ibcc_json_port(c->topo, r->port);

		json_object_update_new(o, control(r));
		json_object_set_new(o, "status", status(c, r->port));
		json_object_update_new(
			o, json_pack("{ss sb si si si si si}", "kind", ibcc_kind_name(r->kind),
				     "in_force", r->in_force, "sources", (int)r->n, "equal_sources",
				     (int)r->n_heavy, "rate_mbps", (int)r->rate_mbps,
				     "table_scale_permille", (int)r->table_scale_permille,
				     "timer_scale_permille", (int)r->timer_scale_permille));
		json_array_append_new(list, o);
	}
	return list;
}

json_t *ibcc_report_others(const struct ibcc_cycle *c)
{
	const struct ibcc_parameters *p = c->tuner ? ibcc_tuner_parameters(c->tuner) : NULL;
	json_t *list = json_array();

	for (uint32_t k = 0; list && p && k < p->n_others; k++) {
		json_t *o = ibcc_json_port(c->topo, p->other[k].port);

		json_object_set_new(o, "status", status(c, p->other[k].port));
		json_array_append_new(list, o);
	}
	return list;
}

int ibcc_report_add_decisions(const struct ibcc_cycle *c, json_t *o)
{
	bool ours = c->refused == IBCC_REFUSED_NOT;

	return json_object_update_new(o, ibcc_decisions_json(c->topo, &c->target.decisions)) ||
	       json_object_set_new(o, "refused",
				   ours ? json_null()
					: json_string(ibcc_refused_name(c->refused))) ||
	       json_object_set_new(o, "followed", ibcc_report_followed(c)) ||
	       json_object_set_new(o, "others", ibcc_report_others(c));
}
