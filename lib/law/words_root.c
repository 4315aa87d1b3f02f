/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A root as a sentence: where it is, of which kind, which counters say so, and which nodes take
 * part.
 */
#include <ibcc/estimate.h>
#include <ibcc/text.h>

#include "words_impl.h"

#define NAMES_MAX 4u

static void say_node(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t port)
{
	const struct ibcc_topo_node *node = &t->node[t->port[port].node];

	if (node->desc[0])
		ibcc_text_add(x, "%s", node->desc);
	else
		ibcc_text_add(x, "0x%016llx", (unsigned long long)node->guid);
}

void ibcc_words_sources(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_root *r,
			enum ibcc_role role, const char *before, const char *after)
{
	unsigned int n = 0;

	for (uint32_t i = 0; i < r->n_sources; i++) {
		if (r->source[i].role != role)
			continue;
		if (n < NAMES_MAX) {
			ibcc_text_add(x, "%s", n ? ", " : before);
			say_node(x, t, r->source[i].port);
		}
		n++;
	}
	if (n > NAMES_MAX)
		ibcc_text_add(x, " and %u more", n - NAMES_MAX);
	if (n)
		ibcc_text_add(x, "%s", after);
}

void ibcc_words_place(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = port < t->n_ports ? t->port[port].peer : IBCC_NONE;

	if (peer == IBCC_NONE) {
		ibcc_text_add(x, "%s", name_of(t, port).text);
	} else if (ibcc_topo_is_switch(t, t->port[peer].node)) {
		ibcc_text_add(x, "%s to %s", name_of(t, port).text, name_of(t, peer).text);
	} else {
		say_node(x, t, peer);
		ibcc_text_add(x, " (%s)", name_of(t, port).text);
	}
}

static void say_pairs(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_root *r)
{
	uint32_t packets = 0;

	for (uint32_t i = 0; i < r->n_pairs; i++) {
		packets += r->pair[i].packets;
		if (i >= NAMES_MAX)
			continue;
		ibcc_text_add(x, "%s%u from ",
			      i ? ", " : "; marked packets (CongestionLog): ", r->pair[i].packets);
		say_node(x, t, r->pair[i].src);
		ibcc_text_add(x, " to ");
		say_node(x, t, ibcc_topo_port_of_lid(t, r->pair[i].dlid));
	}
	if (r->n_pairs > NAMES_MAX)
		ibcc_text_add(x, " and from %u more flow%s", r->n_pairs - NAMES_MAX,
			      ibcc_text_plural(r->n_pairs - NAMES_MAX, "", "s"));
	if (r->n_pairs)
		ibcc_text_add(x, ", of %u in all", packets);
}

int ibcc_estimate_explain(const struct ibcc_topo *t, const struct ibcc_root *r, char *buf,
			  size_t len)
{
	struct ibcc_text x = { .buf = buf, .len = len };

	if (len)
		buf[0] = '\0';
	ibcc_words_place(&x, t, r->port);
	if (r->kind == IBCC_CONGESTION_INPUT)
		ibcc_text_add(&x, ": oversubscribed link, full with %u of %u Mb/s (PortXmitData)",
			      r->rate_mbps, r->link_mbps);
	else if (r->hidden)
		ibcc_text_add(&x,
			      ": blocked %.1f %% of the time (PortXmitWait) by a switch that does "
			      "not answer: congestion starts somewhere behind it",
			      r->wait_permille / 10.0);
	else
		ibcc_text_add(&x,
			      ": slow receiver, takes %u of %u Mb/s (PortXmitData); the port to it "
			      "is blocked %.1f %% of the time (PortXmitWait)",
			      r->rate_mbps, r->link_mbps, r->wait_permille / 10.0);
	if (r->link_mbps < t->port[r->port].rate_mbps)
		ibcc_text_add(&x,
			      ", %s of the %u Mb/s that the link should carry: check its width "
			      "and its cable",
			      r->link_mbps * 3 < t->port[r->port].rate_mbps ? "a quarter" : "half",
			      t->port[r->port].rate_mbps);
	ibcc_text_add(&x, "; ports upstream are blocked up to %.1f %% of the time",
		      r->tree_wait_permille / 10.0);
	ibcc_words_sources(&x, t, r, IBCC_ROLE_CONTRIBUTOR, "; contributors (BECN): ", "");
	ibcc_words_sources(&x, t, r, IBCC_ROLE_CANDIDATE,
			   "; suspected contributors, until marks show which: ", "");
	ibcc_words_sources(&x, t, r, IBCC_ROLE_VICTIM, "; victims: ", "");
	say_pairs(&x, t, r);
	if (!ibcc_root_is_known(r) && r->unknown_mbps)
		ibcc_text_add(
			&x,
			"; up to %llu Mb/s come from nodes that do not answer, most of it by %s",
			(unsigned long long)r->unknown_mbps, name_of(t, r->unknown_port).text);
	return (int)x.n;
}
