/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a polling cycle found that decided nothing: the first of these that holds, the most urgent
 * one first.
 */
#include "rules.h"

/* Too little was read to decide on. */
static struct ibcc_situation blind(const struct ibcc_estimate *pic)
{
	struct ibcc_situation f = { .code = IBCC_SITUATION_NO_COUNTERS };

	if (!pic->n_expected)
		return f;
	f.code = IBCC_SITUATION_BLIND;
	f.ports = pic->n_expected;
	f.usable = pic->n_usable;
	f.unsure = pic->n_unsure;
	return f;
}

/* The settings that a root needs are not those that were read from the fabric. */
static struct ibcc_situation unset(const struct pass *p, const struct ibcc_root_parameters *r)
{
	const struct ibcc_endport_cc *sw = &p->actual->ep[ibcc_topo_switch_endport(p->t, r->port)];
	struct ibcc_situation f = { .code = IBCC_SITUATION_NOT_SET, .root = *r };

	if (ibcc_settings_port_marks(sw, p->t->port[r->port].num))
		f.code = IBCC_SITUATION_PARTLY_SET;
	f.root.member = f.root.lacking = NULL;
	return f;
}

struct ibcc_situation ibcc_situation_find(const struct pass *p, const struct ibcc_target *out)
{
	const struct ibcc_parameters *par = &p->c->par;
	const struct ibcc_root_parameters *lacks = NULL;
	struct ibcc_situation f = { .code = IBCC_SITUATION_NO_CONGESTION };
	uint32_t waiting = 0;

	for (uint32_t k = 0; k < par->n_roots; k++) {
		bool sets = ibcc_phase_sets(par->root[k].r.phase);

		f.roots += sets;
		waiting += par->root[k].r.phase == IBCC_PHASE_WATCH;
		if (sets && !par->root[k].r.in_force)
			lacks = &par->root[k].r;
	}
	if (!p->pic->trustworthy)
		return blind(p->pic);
	if (lacks)
		return unset(p, lacks);
	if (f.roots) {
		f.code = IBCC_SITUATION_CONTROLLED;
		f.lacking = out->n_reasons;
	} else if (waiting) {
		f.code = IBCC_SITUATION_UNCONFIRMED;
	} else if (out->n_reasons) {
		f.code = IBCC_SITUATION_OVER;
	} else if (p->pic->n_unknown) {
		f.code = IBCC_SITUATION_UNKNOWN_NODES;
		f.ports = p->pic->n_unknown;
	} else if (p->pic->n_roots) {
		f.code = IBCC_SITUATION_HARMLESS;
	}
	return f;
}
