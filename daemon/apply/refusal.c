/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/apply/refusal.h"

#include <errno.h>

void ibcc_refusal_find(const struct ibcc_cycle *c, struct ibcc_why *text)
{
	struct ibcc_why what;

	text->text[0] = '\0';
	if (ibcc_vendor_rules(&c->vendor)) {
		ibcc_vendor_text(&c->vendor, &what);
		ibcc_why_set(text, 0, "%s; nothing of IBA Annex A10 is written beside it",
			     what.text);
	} else if (c->vendor.n_loose && !c->options.trust_lft) {
		ibcc_vendor_routes_text(&c->vendor, &what);
		ibcc_why_set(text, 0, "%s; nothing is written unless trust_lft is true", what.text);
	}
}

int ibcc_refusal_check(const struct ibcc_cycle *c, struct ibcc_why *why)
{
	struct ibcc_why text;

	ibcc_refusal_find(c, &text);
	return text.text[0] ? ibcc_why_set(why, -EPERM, "%s", text.text) : 0;
}
