/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links of NDR and XDR over stock ibsim, which knows speeds up to HDR, and slow cables (fast.h). In
 * the answers about such a port's PortInfo, the fields for supported, enabled and active speed are
 * replaced. libibmad lacks some of the fields, so they are written by their place in the datagram.
 *
 * A cable is slow if both nodes have a faster link elsewhere. ibsim knows no such cables: there, a
 * port supports everything, and only what is enabled makes a link slow. A subnet manager that
 * enables more would make it fast, so that part of its requests is left out.
 */
#include "sim/fast.h"

#include <stdlib.h>
#include <string.h>

#include <infiniband/mad.h>

#include <ibcc/link.h>
#include <ibcc/scenario_file.h>
#include <ibcc/smp.h>

#include "sim/fabric.h"

/* LinkSpeedExt (IBA vol. 1, 14.2.5.6), as masks of what is supported or enabled. */
#define EXT_HDR    4u
#define EXT_NDR    8u
#define EXT_TO_HDR 7u
#define EXT_TO_NDR 15u
#define EXT2_BYTE                                                                                  \
	56u /* LinkSpeedExt2: active 6-5, supported 4-3, enabled 2-0; libibmad lacks it            \
	     */
#define EXT2_XDR       (1u << 5 | 1u << 3 | 1u)
#define EXT2_SUPPORTED (3u << 3)
#define EXT2_ENABLED   7u
#define CAP_EXT        0x4000u /* CapabilityMask: extended speeds, and that there is a second mask */
#define CAP_2          0x8000u
#define CAP2_BYTE      60u
#define CAP2_HDR       0x0020u
#define CAP2_NDR       0x0400u
#define CAP2_EXT2      0x0800u
#define CAP2_XDR       0x1000u

struct ibcc_fast {
	const struct ibcc_topo *t;
	uint8_t *speed; /* by fabric-wide port, enum ibcc_link_speed; of nodes, at their port 0 */
	/* What the ports of slow cables support, by fabric-wide port; elsewhere 0. */
	struct ibcc_link_masks *masks;
};

/* The speed of a port's link if it is faster than ibsim knows, else none. */
static enum ibcc_link_speed speed_of(const struct ibcc_topo *t, uint32_t port)
{
	enum ibcc_link_speed speed = IBCC_LINK_SPEED_NONE;
	unsigned int lanes;
	char text[32];

	if (t->port[port].peer != IBCC_NONE &&
	    !ibcc_rate_format(ibcc_topo_link_mbps(t, port), t->port[port].lanes, text, sizeof(text),
			      ""))
		(void)ibcc_rate_parse_link(text, &lanes, &speed);
	return speed > IBCC_NETFILE_IBSIM_SPEED ? speed : IBCC_LINK_SPEED_NONE;
}

/* The width and speed that ibsim gives a link; false: the port has none. */
static bool named_speed(const struct ibcc_topo *t, uint32_t port, struct ibcc_topo_speed *v)
{
	char text[32];

	if (t->port[port].peer == IBCC_NONE)
		return false;
	/* A rate that has no name gets that of the next faster one. */
	(void)ibcc_rate_format(ibcc_topo_link_mbps(t, port), t->port[port].lanes, text,
			       sizeof(text), "");
	if (ibcc_rate_parse_link(text, &v->lanes, &v->speed))
		return false;
	v->rate_mbps = ibcc_link_rate_mbps(v->lanes, v->speed);
	return true;
}

/* The masks of a port that supports a width and a speed, and all that is less. */
static struct ibcc_link_masks masks_up_to(const struct ibcc_topo_speed *v)
{
	static const uint8_t base[] = { [IBCC_LINK_SPEED_SDR] = 1, [IBCC_LINK_SPEED_DDR] = 3 };
	static const uint8_t ext[] = { [IBCC_LINK_SPEED_FDR] = 1,
				       [IBCC_LINK_SPEED_EDR] = 3,
				       [IBCC_LINK_SPEED_HDR] = EXT_TO_HDR,
				       [IBCC_LINK_SPEED_NDR] = EXT_TO_NDR,
				       [IBCC_LINK_SPEED_XDR] = EXT_TO_NDR };
	struct ibcc_link_masks m = {
		.speed = v->speed <= IBCC_LINK_SPEED_DDR ? base[v->speed] : 7,
		.ext = ext[v->speed],
		.ext2 = v->speed == IBCC_LINK_SPEED_XDR,
	};

	for (uint8_t bit = 1; bit & IBCC_LINK_WIDTHS; bit = (uint8_t)(bit << 1))
		if (ibcc_link_width_lanes(bit) <= v->lanes)
			m.width |= bit;
	return m;
}

/* What the ports of a node support: its fastest link. */
static struct ibcc_link_masks masks_of_node(const struct ibcc_topo *t, uint32_t node)
{
	const struct ibcc_topo_node *n = &t->node[node];
	struct ibcc_topo_speed v, best = { 0 };

	for (uint32_t p = n->first_port + 1; p <= n->first_port + n->n_ports; p++)
		if (named_speed(t, p, &v) && v.rate_mbps > best.rate_mbps)
			best = v;
	return masks_up_to(&best);
}

static void find_slow(struct ibcc_fast *f, uint32_t port, const struct ibcc_link_masks *of_node)
{
	const struct ibcc_topo *t = f->t;
	uint32_t peer = t->port[port].peer;
	const struct ibcc_link_masks *a, *b;
	struct ibcc_topo_speed v, best;
	struct ibcc_link_caps x, y;

	if (!named_speed(t, port, &v))
		return;
	a = &of_node[t->port[port].node];
	b = &of_node[t->port[peer].node];
	x = ibcc_link_caps_decode(a, a);
	y = ibcc_link_caps_decode(b, b);
	if (ibcc_link_best(&x, &y, &best.lanes, &best.speed) &&
	    ibcc_link_rate_mbps(best.lanes, best.speed) > v.rate_mbps)
		f->masks[port] = *a;
}

struct ibcc_fast *ibcc_fast_new(const struct ibcc_topo *t)
{
	struct ibcc_link_masks *of_node = calloc(t->n_nodes + 1u, sizeof(*of_node));
	struct ibcc_fast *f = calloc(1, sizeof(*f));

	if (f) {
		f->t = t;
		f->speed = calloc(t->n_ports + 1u, sizeof(*f->speed));
		f->masks = calloc(t->n_ports + 1u, sizeof(*f->masks));
	}
	if (!of_node || !f || !f->speed || !f->masks) {
		free(of_node);
		ibcc_fast_free(f);
		return NULL;
	}
	for (uint32_t i = 0; i < t->n_nodes; i++)
		of_node[i] = masks_of_node(t, i);
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		const struct ibcc_topo_node *n = &t->node[i];

		for (unsigned int num = 1; num <= n->n_ports; num++) {
			uint8_t *speed = &f->speed[n->first_port + num];

			*speed = (uint8_t)speed_of(t, n->first_port + num);
			if (*speed > f->speed[n->first_port])
				f->speed[n->first_port] = *speed;
			find_slow(f, n->first_port + num, of_node);
		}
	}
	free(of_node);
	return f;
}

void ibcc_fast_free(struct ibcc_fast *f)
{
	if (!f)
		return;
	free(f->speed);
	free(f->masks);
	free(f);
}

/* Sets the bits of the capability masks that go with such speeds. */
static void add_caps(uint8_t *info, enum ibcc_link_speed fastest)
{
	uint32_t caps = mad_get_field(info, 0, IB_PORT_CAPMASK_F);
	uint16_t caps2 = (uint16_t)(info[CAP2_BYTE] << 8 | info[CAP2_BYTE + 1]);

	mad_set_field(info, 0, IB_PORT_CAPMASK_F, caps | CAP_EXT | CAP_2);
	caps2 |= CAP2_HDR | CAP2_NDR;
	if (fastest == IBCC_LINK_SPEED_XDR)
		caps2 |= CAP2_EXT2 | CAP2_XDR;
	info[CAP2_BYTE] = (uint8_t)(caps2 >> 8);
	info[CAP2_BYTE + 1] = (uint8_t)caps2;
}

/* Sets the fields for what is enabled in PortInfo; 0 in a Set leaves it as it is. */
static void set_enabled(uint8_t *info, const struct ibcc_link_masks *m)
{
	mad_set_field(info, 0, IB_PORT_LINK_WIDTH_ENABLED_F, m->width);
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_ENABLED_F, m->speed);
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_EXT_ENABLED_F, m->ext);
	info[EXT2_BYTE] = (uint8_t)((info[EXT2_BYTE] & ~EXT2_ENABLED) | m->ext2);
}

/* Shows what both ends of a slow cable support. */
static void amend_slow(const struct ibcc_link_masks *m, uint8_t *info)
{
	mad_set_field(info, 0, IB_PORT_LINK_WIDTH_SUPPORTED_F, m->width);
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_SUPPORTED_F, m->speed);
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, m->ext);
	info[EXT2_BYTE] = (uint8_t)((info[EXT2_BYTE] & ~EXT2_SUPPORTED) | m->ext2 << 3);
	set_enabled(info, m);
}

/* Replaces the speeds in a port's PortInfo. */
static void amend(const struct ibcc_fast *f, uint32_t node, unsigned int num, uint8_t *info)
{
	const struct ibcc_topo_node *n = &f->t->node[node];
	enum ibcc_link_speed speed, fastest = (enum ibcc_link_speed)f->speed[n->first_port];

	if (num && num <= n->n_ports && f->masks[n->first_port + num].speed)
		amend_slow(&f->masks[n->first_port + num], info);
	if (num > n->n_ports || !fastest)
		return;
	/* A switch has its capabilities at port 0, other nodes have them at each port. */
	if ((n->type == IBCC_NODE_SWITCH) == !num)
		add_caps(info, fastest);
	speed = (enum ibcc_link_speed)f->speed[n->first_port + num];
	/* Does nothing if the link was made slower or taken down meanwhile. */
	if (!num || !speed || mad_get_field(info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F) < EXT_HDR)
		return;
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_EXT_SUPPORTED_F, EXT_TO_NDR);
	if (mad_get_field(info, 0, IB_PORT_LINK_SPEED_EXT_ENABLED_F) == EXT_TO_HDR)
		mad_set_field(info, 0, IB_PORT_LINK_SPEED_EXT_ENABLED_F, EXT_TO_NDR);
	if (speed == IBCC_LINK_SPEED_XDR)
		info[EXT2_BYTE] = (uint8_t)(info[EXT2_BYTE] | EXT2_XDR);
	mad_set_field(info, 0, IB_PORT_LINK_SPEED_EXT_ACTIVE_F,
		      speed == IBCC_LINK_SPEED_XDR ? 0 : EXT_NDR);
}

void ibcc_fast_amend_port_info(const struct ibcc_fast *f, uint64_t guid, unsigned int num,
			       uint8_t *info)
{
	uint32_t node = ibcc_topo_find_guid(f->t, guid);

	if (node != IBCC_NONE)
		amend(f, node, num, info);
}

void ibcc_fast_amend(const struct ibcc_fast *f, uint64_t client_guid, uint64_t by_lid, uint8_t *mad)
{
	struct ibcc_mad_header h;
	unsigned int num;
	uint32_t node;

	ibcc_mad_header_unpack(mad, &h);
	if (h.attr_id != IBCC_SMP_ATTR_PORT_INFO || h.status ||
	    (h.method != IBCC_MAD_GET_RESP && h.method != IBCC_MAD_SET))
		return;
	if (h.mgmt_class == IBCC_MAD_CLASS_SMP_DIRECT)
		node = ibcc_sim_fabric_route_end(f->t, ibcc_topo_find_guid(f->t, client_guid), mad);
	else if (h.mgmt_class == IBCC_MAD_CLASS_SMP && by_lid)
		node = ibcc_topo_find_guid(f->t, by_lid);
	else
		return;
	if (node == IBCC_NONE)
		return;
	num = h.attr_mod & 0xff;
	/* Port 0 of an adapter stands for the port that was asked. */
	if (!num && f->t->node[node].type != IBCC_NODE_SWITCH)
		num = mad_get_field(mad, IBCC_MAD_DATA_OFFS, IB_PORT_LOCAL_PORT_F);
	if (h.method == IBCC_MAD_GET_RESP)
		amend(f, node, num, mad + IBCC_MAD_DATA_OFFS);
	else if (num && num <= f->t->node[node].n_ports &&
		 f->masks[f->t->node[node].first_port + num].speed)
		set_enabled(mad + IBCC_MAD_DATA_OFFS, &(struct ibcc_link_masks){ 0 });
}
