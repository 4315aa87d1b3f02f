/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The reasons not to write to a fabric, in sentences (refusal.h). */
#include "daemon/apply/refusal.h"

#include <errno.h>

void ibcc_refusal_routes(const struct ibcc_cycle *c, struct ibcc_why *text)
{
	struct ibcc_why routes;

	ibcc_vendor_routes_text(&c->vendor, &routes);
	ibcc_why_set(text, 0, "%s%s%s", routes.text, c->unproved.text[0] ? "; observed only: " : "",
		     c->unproved.text);
}

/* A root that is held need not be seen. */
static bool may_tune(const struct ibcc_cycle *c)
{
	const struct ibcc_parameters *p = ibcc_tuner_parameters(c->tuner);
	bool holds = false;

	for (uint32_t k = 0; k < p->n_roots; k++)
		holds |= ibcc_phase_sets(p->root[k].r.phase);
	return c->proved.n_roots || holds;
}

void ibcc_refusal_find(const struct ibcc_cycle *c, struct ibcc_why *text)
{
	struct ibcc_why what;

	text->text[0] = '\0';
	if (ibcc_vendor_rules(&c->vendor)) {
		ibcc_vendor_text(&c->vendor, &what);
		ibcc_why_set(text, 0, "%s; nothing of IBA Annex A10 is written beside it",
			     what.text);
	} else if (!c->options.trust_lft &&
		   (c->vendor.loose_sls == UINT16_MAX || (c->unproved.text[0] && !may_tune(c)))) {
		ibcc_refusal_routes(c, &what);
		ibcc_why_set(text, 0, "%s; nothing is written unless trust_lft is true", what.text);
	}
}

int ibcc_refusal_check(const struct ibcc_cycle *c, struct ibcc_why *why)
{
	struct ibcc_why text;

	ibcc_refusal_find(c, &text);
	return text.text[0] ? ibcc_why_set(why, -EPERM, "%s", text.text) : 0;
}
