/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The fabric as a graph: nodes, ports, links, LIDs, forwarding tables.
 *
 * Ports have one index over the whole fabric: port p of node n is topo->node[n].first_port + p,
 * with p = 0 for a switch's management port (unused at channel adapters). Endports are the ports
 * that have a LID and answer MADs: port 0 of a switch, each port of a channel adapter.
 */
#ifndef IBCC_TOPO_H
#define IBCC_TOPO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <ibcc/link.h>

#define IBCC_NONE       UINT32_MAX /* no such index */
#define IBCC_LFT_NONE   0xffu      /* LFT entry of a LID that is not forwarded */
#define IBCC_LID_MAX    0xbfffu    /* highest unicast LID */
#define IBCC_DESC_BYTES 65u

#define IBCC_NODE_TEXT_BYTES 64u /* of a text that names one node */

enum ibcc_node_type {
	IBCC_NODE_CA = 1, /* as NodeInfo:NodeType has them */
	IBCC_NODE_SWITCH = 2,
	IBCC_NODE_ROUTER = 3,
};

/* What is at the other end of a link. */
enum ibcc_beyond {
	IBCC_BEYOND_KNOWN,   /* the peer, or nothing: there is no link */
	IBCC_BEYOND_ADAPTER, /* a node that did not say what it is: one adapter, by its LIDs */
	IBCC_BEYOND_SWITCH,  /* such a node that routes lead through: a switch */
};

struct ibcc_topo_port {
	uint32_t node;  /* owner */
	uint8_t num;    /* port number within the node */
	uint8_t state;  /* PortInfo:PortState, 4 active; 0: it did not say */
	uint8_t beyond; /* enum ibcc_beyond, by ibcc_topo_find_gaps() */
	uint8_t op_vls; /* data VLs in use, 1..15 */
	uint32_t peer;  /* fabric-wide index of the port at the other end, or IBCC_NONE */
	uint16_t lid;   /* endports only, else 0 */
	uint16_t mtu_bytes;
	uint32_t rate_mbps;         /* data rate at which this end sends, 0 when down */
	uint8_t lanes;              /* of the link; 0: not known */
	struct ibcc_link_caps caps; /* what this end could run at */
	uint64_t guid;
	uint32_t endport; /* index of the endport, or IBCC_NONE */
};

struct ibcc_topo_node {
	uint64_t guid;
	enum ibcc_node_type type;
	uint32_t vendor_id; /* as NodeInfo has it; 0: not known */
	uint16_t device_id;
	uint8_t n_ports; /* external ports, numbered 1..n_ports */
	bool enhanced_port0;
	bool partial; /* a switch whose table was not read completely */
	char desc[IBCC_DESC_BYTES];
	char id[IBCC_DESC_BYTES]; /* in the netfile that it comes from, or "" */
	uint32_t first_port;
	uint8_t *lft; /* switches: output port for each LID below lft_len; owned */
	uint32_t lft_len;
	/* Switches: VL by [input port * (n_ports + 1) + output port][SL], owned; NULL: SL s on VL
	 * s modulo the port's VLs.
	 */
	uint8_t (*sl2vl)[16];
};

/* A switch port with a link that is up, but without a known node behind it: that node is silent. */
struct ibcc_topo_gap {
	uint32_t port;
	/* Index of the first gap that may lead to the same silent nodes: tables lead the same LID
	 * into both. Its own index where it is the first.
	 */
	uint32_t region;
	uint32_t n_lids;  /* that no known port has and that tables lead into the region */
	bool has_senders; /* there may be an adapter in the region, and not just one switch */
};

/* Nodes by a text that they have; private to lib/topo. */
struct ibcc_topo_texts {
	struct ibcc_topo_text {
		uint32_t node; /* the first that has the text */
		uint32_t n;    /* nodes that have it; 0: the slot is free */
	} * slot;
	uint32_t cap, used; /* the first is a power of two, or 0 */
};

struct ibcc_topo {
	uint64_t generation; /* changes whenever the source of the topology saw a change */
	uint32_t n_nodes, n_ports, n_endports;
	uint32_t cap_nodes, cap_ports, cap_endports;
	struct ibcc_topo_node *node;
	struct ibcc_topo_port *port;
	uint32_t *endport;    /* fabric-wide port index of each endport */
	uint32_t *by_guid;    /* hash: node index by GUID; private to topo.c */
	uint32_t cap_by_guid; /* a power of two, or 0 */
	struct ibcc_topo_texts by_desc, by_id;
	uint32_t lid_port[IBCC_LID_MAX + 1]; /* endport's port index by LID, or IBCC_NONE */
	/* By LID: the port that tables lead it to, of LIDs that no port has by itself (virtual
	 * ports), or IBCC_NONE; NULL: there are no such LIDs.
	 */
	uint32_t *virtual_port;
	uint32_t n_virtual; /* such LIDs */
	/* By ibcc_topo_find_gaps(); NULL: there are none. */
	uint32_t n_gaps;
	struct ibcc_topo_gap *gap; /* in order of the port; owned */
	/* By LID: index of a gap's region that tables lead this LID into, or IBCC_NONE. Only LIDs
	 * that no known port has.
	 */
	uint32_t *lost_lid;
};

/* An empty topology; NULL without memory. Freed with ibcc_topo_free(), which accepts NULL. */
struct ibcc_topo *ibcc_topo_new(void);
void ibcc_topo_free(struct ibcc_topo *t);
/* A deep copy; NULL without memory. */
struct ibcc_topo *ibcc_topo_clone(const struct ibcc_topo *t);

/* Adds a node with unconnected ports. Returns its index, or -EINVAL (no ports, more than 254, a
 * GUID that is there already), -ENOMEM.
 */
int64_t ibcc_topo_add_node(struct ibcc_topo *t, uint64_t guid, enum ibcc_node_type type,
			   unsigned int n_ports, const char *desc);

/* Makes nodes known by their descriptions and ids, after those were changed in place; adding a node
 * does so for its description. -ENOMEM: they are known by the texts from before.
 */
int ibcc_topo_index_texts(struct ibcc_topo *t);

/* Connects two ports (numbers within their nodes, >= 1) at a data rate, both ways. -EINVAL if a
 * port does not exist, is taken or both are one.
 */
int ibcc_topo_link(struct ibcc_topo *t, uint32_t node_a, unsigned int port_a, uint32_t node_b,
		   unsigned int port_b, uint32_t rate_mbps, uint16_t mtu_bytes);

/* Takes the link at a port away, at both ends. */
void ibcc_topo_unlink(struct ibcc_topo *t, uint32_t port);

/* Gives an endport its LID (1..IBCC_LID_MAX), replacing an older one. With lmc > 0 the port owns
 * 2^lmc LIDs from there on. -EINVAL if the LID is out of range, taken, or the port no endport.
 */
int ibcc_topo_set_lid(struct ibcc_topo *t, uint32_t port, uint16_t lid, unsigned int lmc);

/* Takes a port's LIDs away; nothing happens where it has none. */
void ibcc_topo_clear_lid(struct ibcc_topo *t, uint32_t port);

/* Whether a channel adapter's port is several links (planes). They share a LID, which a topology
 * has of one port only, so of two or more active links of one adapter at least one has none.
 */
bool ibcc_topo_has_planes(const struct ibcc_topo *t, uint32_t node);

/* Leaves adapters with planes out: without LIDs they are not read or written, and are not taken for
 * the ends of routes. ibcc_topo_has_planes() is still true of them.
 */
void ibcc_topo_leave_planes(struct ibcc_topo *t);

/* The LMC of an endport: it has 2^lmc LIDs. 0 where it has none. */
uint8_t ibcc_topo_lmc(const struct ibcc_topo *t, uint32_t port);

/* Copies a switch's forwarding table of `len` entries. -EINVAL if the node is no switch, -ENOMEM.
 */
int ibcc_topo_set_lft(struct ibcc_topo *t, uint32_t node, const uint8_t *lft, uint32_t len);

/* Sets a switch's SL to VL map of one input and output port; -EINVAL, -ENOMEM. */
int ibcc_topo_set_sl2vl(struct ibcc_topo *t, uint32_t node, unsigned int in, unsigned int out,
			const uint8_t vl[16]);

/* VL on which a packet of `sl` leaves `node` by `out` having come in by `in`. For a channel adapter
 * `in` is 0.
 */
uint8_t ibcc_topo_vl(const struct ibcc_topo *t, uint32_t node, unsigned int in, unsigned int out,
		     uint8_t sl);

/* Index of the node with a GUID, or IBCC_NONE; of the first with a description. */
uint32_t ibcc_topo_find_guid(const struct ibcc_topo *t, uint64_t guid);
uint32_t ibcc_topo_find_desc(const struct ibcc_topo *t, const char *desc);

/* The node that a text names: by its GUID ("0x0002c903000a0b0c", or as in ibnetdiscover's ids
 * "H-0002c903000a0b0c"), by its description if no other node has that, or by the id of its netfile.
 * Returns 0, -ENOENT (*node is IBCC_NONE), or -ENOTUNIQ: several nodes have the description, *node
 * is the first of them.
 */
int ibcc_topo_find_node(const struct ibcc_topo *t, const char *text, uint32_t *node);

/* The text by which ibcc_topo_find_node() finds a node: its description, or its GUID where the
 * description is not the node's own, too long, or no UTF-8. Returns buf.
 */
const char *ibcc_topo_node_text(const struct ibcc_topo *t, uint32_t node,
				char buf[IBCC_NODE_TEXT_BYTES]);

/* Gives nodes the names that people know them by: name_of() fills in the site's own name of a node,
 * false: it has none; NULL: no node has one. A name that several nodes have, or that is a device's
 * default, gets the GUID behind it, as "MT4123 ConnectX6 0x0002c903000a0b0c". 0 or -ENOMEM.
 */
int ibcc_topo_label(struct ibcc_topo *t,
		    bool (*name_of)(void *arg, uint64_t guid, char name[IBCC_DESC_BYTES]),
		    void *arg);

/* Whether a node has this name, with or without the GUID that ibcc_topo_label() puts behind it. */
bool ibcc_topo_is_called(const struct ibcc_topo *t, uint32_t node, const char *name);

/* The node of `t` that is node `node` of another topology of the same fabric: by its GUID, or else
 * by a description that no other node of `t` has. IBCC_NONE: it is not there.
 */
uint32_t ibcc_topo_same_node(const struct ibcc_topo *from, uint32_t node,
			     const struct ibcc_topo *t);

/* Islands: nodes that links join have one number, the least index among them. `island` has a place
 * for each node. -ENOMEM.
 */
int ibcc_topo_islands(const struct ibcc_topo *t, uint32_t *island);

/* Of a node that is no switch, the first port that has a link; else IBCC_NONE. */
uint32_t ibcc_topo_ca_port(const struct ibcc_topo *t, uint32_t node);

/* Port index of port `num` of a node, or IBCC_NONE if it has no such port. */
uint32_t ibcc_topo_port_index(const struct ibcc_topo *t, uint32_t node, unsigned int num);
/* The endport of a node's port (a switch has one, port 0); IBCC_NONE if there is none. */
uint32_t ibcc_topo_find_endport(const struct ibcc_topo *t, uint64_t guid, unsigned int num);

/* "DESCRIPTION port NUM" of a port, with the node's GUID where it has no description. Returns the
 * length as snprintf() does.
 */
int ibcc_topo_port_name(const struct ibcc_topo *t, uint32_t port, char *buf, size_t len);

/* Finds LIDs of virtual ports (of virtual machines: SR-IOV), which have no ports in the topology: a
 * LID that no port has and that switches' tables lead to an adapter belongs to one of its virtual
 * ports. -ENOMEM leaves them out.
 */
int ibcc_topo_find_virtual(struct ibcc_topo *t);

/* Finds switch ports that lead to silent nodes, and what the forwarding tables say of these: see
 * struct ibcc_topo_gap and ibcc_topo_port:beyond. After ibcc_topo_find_virtual(). -ENOMEM: none are
 * found.
 */
int ibcc_topo_find_gaps(struct ibcc_topo *t);

/* Whether there is a link at a port, to a known node or to a silent one. */
static inline bool ibcc_topo_has_link(const struct ibcc_topo *t, uint32_t port)
{
	return t->port[port].peer != IBCC_NONE || t->port[port].beyond != IBCC_BEYOND_KNOWN;
}

/* Where the silent nodes are and which LIDs they have, in words: "the node behind leaf2 port 2 (LID
 * 6)". Empty where there are no gaps. Returns the length as snprintf() does.
 */
int ibcc_topo_gaps_text(const struct ibcc_topo *t, char *buf, size_t len);

/* Port index that owns a LID, if by a virtual port, or IBCC_NONE. */
static inline uint32_t ibcc_topo_port_of_lid(const struct ibcc_topo *t, uint16_t lid)
{
	if (lid > IBCC_LID_MAX)
		return IBCC_NONE;
	return t->lid_port[lid] == IBCC_NONE && t->virtual_port ? t->virtual_port[lid]
								: t->lid_port[lid];
}

static inline bool ibcc_topo_is_switch(const struct ibcc_topo *t, uint32_t node)
{
	return t->node[node].type == IBCC_NODE_SWITCH;
}

/* Whether the node at the other end of a port's link, if it has one, is no switch. Of a silent node
 * this is known by the tables.
 */
static inline bool ibcc_topo_faces_ca(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer;

	return peer != IBCC_NONE ? !ibcc_topo_is_switch(t, t->port[peer].node)
				 : t->port[port].beyond == IBCC_BEYOND_ADAPTER;
}

/* The next LID after a LID that a switch forwards by one of its ports; 0: there is none. */
static inline uint32_t ibcc_topo_next_lid(const struct ibcc_topo *t, uint32_t port, uint32_t lid)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[port].node];
	const uint8_t *at = NULL;

	if (++lid < sw->lft_len)
		at = memchr(sw->lft + lid, t->port[port].num, sw->lft_len - lid);
	return at && at - sw->lft <= IBCC_LID_MAX ? (uint32_t)(at - sw->lft) : 0;
}

/* Endport of the switch that a port belongs to. */
static inline uint32_t ibcc_topo_switch_endport(const struct ibcc_topo *t, uint32_t port)
{
	return t->port[t->node[t->port[port].node].first_port].endport;
}

/* The link's rate by its width and speed, where one direction is slower: the other one's. 0: none.
 */
static inline uint32_t ibcc_topo_link_mbps(const struct ibcc_topo *t, uint32_t port)
{
	uint32_t peer = t->port[port].peer, mine = t->port[port].rate_mbps;

	return peer != IBCC_NONE && t->port[peer].rate_mbps > mine ? t->port[peer].rate_mbps : mine;
}

/* What a link runs at, or could. */
struct ibcc_topo_speed {
	unsigned int lanes;         /* 0: not known */
	enum ibcc_link_speed speed; /* IBCC_LINK_SPEED_NONE: the rate is that of no speed */
	uint32_t rate_mbps;         /* data rate */
};

/* Whether a port's link runs slower than both its ends can, at what it runs, and what both ends
 * support. False where that is not known. A link of two lanes at the best speed of both ends is not
 * slow, though they support four: adapters and split cables of half the rate (HDR100, NDR200) look
 * like this.
 */
bool ibcc_topo_is_slow(const struct ibcc_topo *t, uint32_t port, struct ibcc_topo_speed *runs,
		       struct ibcc_topo_speed *best);

/* "4xDDR"; "" where the rate is that of no speed. Returns buf. */
#define IBCC_TOPO_SPEED_BYTES 16u
const char *ibcc_topo_speed_name(const struct ibcc_topo_speed *v, char buf[IBCC_TOPO_SPEED_BYTES]);

/* True if both have the same nodes, links, port states, LIDs, rates, SL to VL maps and forwarding
 * tables, in the same order. The generation does not count, nor what ports could run at.
 */
bool ibcc_topo_equal(const struct ibcc_topo *a, const struct ibcc_topo *b);

#endif
