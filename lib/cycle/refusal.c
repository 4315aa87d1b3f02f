/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reasons not to write to a fabric, in sentences (refusal.h). */
#include <ibcc/refusal.h>

#include <errno.h>

#include "lib/cycle/profiles.h"

void ibcc_refusal_routes(const struct ibcc_cycle *c, struct ibcc_why *text)
{
	struct ibcc_why routes, names;

	ibcc_vendor_routes_text(&c->vendor, &routes);
	ibcc_proof_text(c->topo, &c->unproved, &names);
	ibcc_why_set(text, 0, "%s%s%s", routes.text, c->unproved.n ? "; observed only: " : "",
		     names.text);
}

/* A root that the tuner controls need not be visible. */
static bool may_tune(const struct ibcc_cycle *c)
{
	const struct ibcc_parameters *p = ibcc_tuner_parameters(c->tuner);
	bool holds = false;

	for (uint32_t k = 0; k < p->n_roots; k++)
		holds |= ibcc_phase_sets(p->root[k].r.phase);
	return c->proved.n_roots || holds;
}

enum ibcc_refused ibcc_refusal_find(const struct ibcc_cycle *c)
{
	if (ibcc_vendor_rules(&c->vendor) &&
	    (!c->options.profiles || c->veto.text[0] || ibcc_profiles_changed(c, NULL)))
		return IBCC_REFUSED_VENDOR;
	if (!c->options.trust_lft &&
	    (c->vendor.loose_sls == UINT16_MAX || (c->unproved.n && !may_tune(c))))
		return IBCC_REFUSED_ROUTES;
	return IBCC_REFUSED_NOT;
}

void ibcc_refusal_text(const struct ibcc_cycle *c, enum ibcc_refused why, struct ibcc_why *text)
{
	struct ibcc_why what;

	switch (why) {
	case IBCC_REFUSED_NOT: ibcc_why_set(text, 0, "%s", ""); return;
	case IBCC_REFUSED_VENDOR:
		if (c->options.profiles && ibcc_profiles_changed(c, text))
			return;
		if (c->options.profiles && c->veto.text[0]) {
			ibcc_why_set(text, 0, "marking profiles are not written: %s", c->veto.text);
			return;
		}
		ibcc_vendor_text(&c->vendor, &what);
		ibcc_why_set(text, 0, "%s; nothing of IBA Annex A10 is written beside it",
			     what.text);
		return;
	case IBCC_REFUSED_ROUTES:
		ibcc_refusal_routes(c, &what);
		ibcc_why_set(text, 0, "%s; nothing is written unless trust_lft is true", what.text);
		return;
	}
}

int ibcc_refusal_check(const struct ibcc_cycle *c, struct ibcc_why *why)
{
	enum ibcc_refused refused = ibcc_refusal_find(c);
	struct ibcc_why text;

	if (refused == IBCC_REFUSED_NOT)
		return 0;
	ibcc_refusal_text(c, refused, &text);
	return ibcc_why_set(why, -EPERM, "%s", text.text);
}

struct ibcc_vendor_advice ibcc_refusal_advice(const struct ibcc_cycle *c)
{
	if (c->refused == IBCC_REFUSED_NOT)
		return (struct ibcc_vendor_advice){ .code = IBCC_VENDOR_ADVICE_NONE };
	return ibcc_vendor_advise(&c->vendor, c->topo, &c->estimate);
}
