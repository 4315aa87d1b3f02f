/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* LIDs of virtual ports, found by the forwarding tables. What a virtual port sends and receives
 * goes through its adapter's port, whose counters and settings are for all of it.
 */
#include <ibcc/topo.h>

#include <errno.h>
#include <stdlib.h>

#define HOPS_MAX 64u

/* The adapter's port that the tables lead to, from a switch on, with a LID; or IBCC_NONE. */
static uint32_t end_of(const struct ibcc_topo *t, uint32_t node, uint16_t lid)
{
	for (unsigned int hop = 0; hop < HOPS_MAX; hop++) {
		const struct ibcc_topo_node *sw = &t->node[node];
		uint8_t out = lid < sw->lft_len ? sw->lft[lid] : IBCC_LFT_NONE;
		uint32_t peer;

		if (!out || out > sw->n_ports)
			return IBCC_NONE;
		peer = t->port[sw->first_port + out].peer;
		if (peer == IBCC_NONE)
			return IBCC_NONE;
		node = t->port[peer].node;
		if (!ibcc_topo_is_switch(t, node))
			return t->node[node].type == IBCC_NODE_CA && t->port[peer].lid ? peer
										       : IBCC_NONE;
	}
	return IBCC_NONE;
}

/* The adapter's port of a LID that no port has: where the first table that has the LID leads to. */
static uint32_t find(const struct ibcc_topo *t, uint16_t lid)
{
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (!ibcc_topo_is_switch(t, i) || lid >= t->node[i].lft_len ||
		    t->node[i].lft[lid] == IBCC_LFT_NONE)
			continue;
		return end_of(t, i, lid);
	}
	return IBCC_NONE;
}

int ibcc_topo_find_virtual(struct ibcc_topo *t)
{
	uint32_t last = 0;

	free(t->virtual_port);
	t->virtual_port = NULL;
	t->n_virtual = 0;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		if (ibcc_topo_is_switch(t, i) && t->node[i].lft_len > last)
			last = t->node[i].lft_len;
	for (uint32_t lid = 1; lid < last && lid <= IBCC_LID_MAX; lid++) {
		uint32_t port = t->lid_port[lid] == IBCC_NONE ? find(t, (uint16_t)lid) : IBCC_NONE;

		if (port == IBCC_NONE)
			continue;
		if (!t->virtual_port) {
			t->virtual_port = calloc(IBCC_LID_MAX + 1, sizeof(*t->virtual_port));
			if (!t->virtual_port)
				return -ENOMEM;
			for (uint32_t l = 0; l <= IBCC_LID_MAX; l++)
				t->virtual_port[l] = IBCC_NONE;
		}
		t->virtual_port[lid] = port;
		t->n_virtual++;
	}
	return 0;
}
