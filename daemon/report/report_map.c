/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric for a drawing: nodes, links with their traffic, and the paths to the roots. */
#include <stdlib.h>
#include <string.h>

#include "daemon/report/report.h"

/* A port as the index of its node in the list, and its number. */
static json_t *place(const struct ibcc_topo *t, uint32_t port)
{
	return json_pack("[ii]", (int)t->port[port].node, t->port[port].num);
}

/* What a port sent in the last polling cycle; null if that is unknown or inconsistent. */
static json_t *load(const struct ibcc_cycle *c, uint32_t port)
{
	const struct ibcc_port_sample *s = &c->snapshot.port[port];
	bool waits = s->tick_ps && ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_WAIT);

	if (!ibcc_sample_is_known(s) || s->trust.doubt != IBCC_DOUBT_NONE ||
	    !ibcc_delta_exact(&s->delta, IBCC_CTR_XMIT_DATA))
		return json_null();
	return json_pack("{si so}", "mbps", (int)ibcc_delta_xmit_mbps(&s->delta), "wait_permille",
			 waits ? json_integer(ibcc_delta_wait_permille(&s->delta, s->tick_ps))
			       : json_null());
}

static json_t *links(const struct ibcc_cycle *c)
{
	const struct ibcc_topo *t = c->topo;
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < t->n_ports; i++) {
		uint32_t peer = t->port[i].peer;

		if (peer == IBCC_NONE || peer < i)
			continue;
		json_array_append_new(list, json_pack("{so so si so so}", "a", place(t, i), "b",
						      place(t, peer), "link_mbps",
						      (int)ibcc_topo_link_mbps(t, i), "from_a",
						      load(c, i), "from_b", load(c, peer)));
	}
	return list;
}

static json_t *nodes(const struct ibcc_topo *t)
{
	json_t *list = json_array();

	for (uint32_t i = 0; list && i < t->n_nodes; i++)
		json_array_append_new(list, json_pack("{so so ss}", "node_guid",
						      ibcc_json_guid(t->node[i].guid), "node",
						      ibcc_json_text(t->node[i].desc), "type",
						      ibcc_topo_is_switch(t, i) ? "switch" : "ca"));
	return list;
}

static json_t *tree(const struct ibcc_topo *t, const struct ibcc_root *root, bool *on)
{
	json_t *list = json_array();

	memset(on, 0, t->n_ports * sizeof(*on));
	ibcc_estimate_mark_tree(t, root, on);
	for (uint32_t i = 0; list && i < t->n_ports; i++)
		if (on[i])
			json_array_append_new(list, place(t, i));
	return list;
}

static json_t *trees(const struct ibcc_cycle *c)
{
	bool *on = calloc(c->topo->n_ports ? c->topo->n_ports : 1, sizeof(*on));
	json_t *list = on ? json_array() : NULL;

	for (uint32_t i = 0; list && c->decided && i < c->estimate.n_roots; i++)
		json_array_append_new(list, tree(c->topo, &c->estimate.root[i], on));
	free(on);
	return list;
}

json_t *ibcc_report_map(const struct ibcc_cycle *c)
{
	return json_pack("{so so so}", "nodes", nodes(c->topo), "links", links(c), "trees",
			 trees(c));
}
