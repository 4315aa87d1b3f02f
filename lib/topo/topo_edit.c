/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes to the graph of a fabric: links, LIDs, forwarding tables, SL to VL maps. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/topo.h>

#define MAX_LMC 7u

enum port_state {
	PORT_DOWN = 1,
	PORT_ACTIVE = 4,
};

int ibcc_topo_link(struct ibcc_topo *t, uint32_t node_a, unsigned int port_a, uint32_t node_b,
		   unsigned int port_b, uint32_t rate_mbps, uint16_t mtu_bytes)
{
	uint32_t a = ibcc_topo_port_index(t, node_a, port_a);
	uint32_t b = ibcc_topo_port_index(t, node_b, port_b);

	if (a == IBCC_NONE || b == IBCC_NONE || a == b || port_a < 1 || port_b < 1 ||
	    t->port[a].peer != IBCC_NONE || t->port[b].peer != IBCC_NONE)
		return -EINVAL;
	t->port[a].peer = b;
	t->port[b].peer = a;
	t->port[a].state = t->port[b].state = PORT_ACTIVE;
	t->port[a].rate_mbps = t->port[b].rate_mbps = rate_mbps;
	t->port[a].mtu_bytes = t->port[b].mtu_bytes = mtu_bytes;
	return 0;
}

static void take_down(struct ibcc_topo_port *p)
{
	p->peer = IBCC_NONE;
	p->state = PORT_DOWN;
	p->rate_mbps = 0;
}

void ibcc_topo_unlink(struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer;

	if (port >= t->n_ports || t->port[port].peer == IBCC_NONE)
		return;
	peer = t->port[port].peer;
	take_down(&t->port[port]);
	take_down(&t->port[peer]);
}

void ibcc_topo_clear_lid(struct ibcc_topo *t, uint32_t port)
{
	/* The LIDs of a port follow each other. */
	for (uint32_t l = t->port[port].lid; l && l <= IBCC_LID_MAX && t->lid_port[l] == port; l++)
		t->lid_port[l] = IBCC_NONE;
	t->port[port].lid = 0;
}

int ibcc_topo_set_lid(struct ibcc_topo *t, uint32_t port, uint16_t lid, unsigned int lmc)
{
	uint32_t end = lid + (1u << (lmc & 31));

	if (port >= t->n_ports || t->port[port].endport == IBCC_NONE || lmc > MAX_LMC || lid < 1 ||
	    end - 1 > IBCC_LID_MAX)
		return -EINVAL;
	for (uint32_t l = lid; l < end; l++)
		if (t->lid_port[l] != IBCC_NONE && t->lid_port[l] != port)
			return -EINVAL;
	ibcc_topo_clear_lid(t, port);
	for (uint32_t l = lid; l < end; l++)
		t->lid_port[l] = port;
	t->port[port].lid = lid;
	return 0;
}

uint8_t ibcc_topo_lmc(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t lid = t->port[port].lid;
	uint8_t lmc = 0;

	while (lid && lid + (1u << lmc) <= IBCC_LID_MAX && t->lid_port[lid + (1u << lmc)] == port)
		lmc++;
	return lmc;
}

int ibcc_topo_set_lft(struct ibcc_topo *t, uint32_t node, const uint8_t *lft, uint32_t len)
{
	uint8_t *copy;

	if (node >= t->n_nodes || !ibcc_topo_is_switch(t, node))
		return -EINVAL;
	copy = malloc(len ? len : 1);
	if (!copy)
		return -ENOMEM;
	if (len)
		memcpy(copy, lft, len);
	free(t->node[node].lft);
	t->node[node].lft = copy;
	t->node[node].lft_len = len;
	return 0;
}

/* The VL of an SL if a switch has no map: the SL modulo the VLs in use. */
static uint8_t default_vl(const struct ibcc_topo *t, uint32_t node, unsigned int out, uint8_t sl)
{
	uint8_t vls = t->port[t->node[node].first_port + out].op_vls;

	return vls ? sl % vls : 0;
}

int ibcc_topo_set_sl2vl(struct ibcc_topo *t, uint32_t node, unsigned int in, unsigned int out,
			const uint8_t vl[16])
{
	struct ibcc_topo_node *n;
	unsigned int side;

	if (node >= t->n_nodes || !ibcc_topo_is_switch(t, node))
		return -EINVAL;
	n = &t->node[node];
	side = n->n_ports + 1u;
	if (in >= side || out >= side)
		return -EINVAL;
	for (unsigned int sl = 0; sl < 16; sl++)
		if (vl[sl] > 15)
			return -EINVAL;
	if (!n->sl2vl) {
		n->sl2vl = calloc((size_t)side * side, sizeof(*n->sl2vl));
		if (!n->sl2vl)
			return -ENOMEM;
		/* Pairs of ports that are not set keep the map that they had without a table. */
		for (unsigned int i = 0; i < side * side; i++)
			for (uint8_t sl = 0; sl < 16; sl++)
				n->sl2vl[i][sl] = default_vl(t, node, i % side, sl);
	}
	memcpy(n->sl2vl[in * side + out], vl, sizeof(*n->sl2vl));
	return 0;
}

uint8_t ibcc_topo_vl(const struct ibcc_topo *t, uint32_t node, unsigned int in, unsigned int out,
		     uint8_t sl)
{
	const struct ibcc_topo_node *n = &t->node[node];

	sl &= 15;
	if (in > n->n_ports || out > n->n_ports)
		return 0;
	if (!n->sl2vl)
		return default_vl(t, node, out, sl);
	return n->sl2vl[in * (n->n_ports + 1u) + out][sl];
}
