/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A root in plain words: where, what kind, which counters say so, who. */
#include <ibcc/estimate.h>

#include "text.h"

#define NAMES_MAX 4u

static void say_sources(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_root *r,
			enum ibcc_role role, const char *what)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < r->n_sources; i++) {
		const struct ibcc_topo_node *node = &t->node[t->port[r->source[i].port].node];

		if (r->source[i].role != role)
			continue;
		if (!n)
			ibcc_text_add(x, "; %s ", what);
		if (n < NAMES_MAX && node->desc[0])
			ibcc_text_add(x, "%s%s", n ? ", " : "", node->desc);
		else if (n < NAMES_MAX)
			ibcc_text_add(x, "%s0x%016llx", n ? ", " : "",
				      (unsigned long long)node->guid);
		n++;
	}
	if (n > NAMES_MAX)
		ibcc_text_add(x, " and %u more", n - NAMES_MAX);
}

int ibcc_estimate_explain(const struct ibcc_topo *t, const struct ibcc_root *r, char *buf,
			  size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };
	char port[IBCC_DESC_BYTES + 16];

	ibcc_topo_port_name(t, r->port, port, sizeof(port));
	switch (r->kind) {
	case IBCC_CONGESTION_INPUT:
		ibcc_text_add(&x, "%s: input-generated, full with %u of %u Mb/s (PortXmitData)",
			      port, r->rate_mbps, r->link_mbps);
		break;
	case IBCC_CONGESTION_OUTPUT:
		ibcc_text_add(&x,
			      "%s: output-generated, its receiver takes %u of %u Mb/s "
			      "(PortXmitData) and it "
			      "waits %u.%u %% (PortXmitWait)",
			      port, r->rate_mbps, r->link_mbps, r->wait_permille / 10,
			      r->wait_permille % 10);
		break;
	}
	ibcc_text_add(&x, "; ports feeding it wait up to %u.%u %%", r->tree_wait_permille / 10,
		      r->tree_wait_permille % 10);
	say_sources(&x, t, r, IBCC_ROLE_CONTRIBUTOR, "contributors (BECN)");
	say_sources(&x, t, r, IBCC_ROLE_CANDIDATE, "waiting");
	say_sources(&x, t, r, IBCC_ROLE_VICTIM, "victims");
	return (int)x.n;
}
