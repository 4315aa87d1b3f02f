/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Local ports as libibumad lists them. */
#include "lib/mad/umad_port.h"

#include "lib/mad/umad_sm.h"

#include <endian.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define STATE_DOWN      1u
#define STATE_ACTIVE    4u
#define PHYS_STATE_LINK 5u
#define ACTIVE_RANK     3

/* A port without a link, or without an address, is used only if the options name it. */
static bool is_usable(const umad_port_t *p)
{
	return p->state > STATE_DOWN && p->port_guid;
}

/* How well a port fits the options; 0: not at all. */
static int rank(const struct ibcc_umad_options *o, const umad_port_t *p)
{
	if (o->port_guid)
		return be64toh(p->port_guid) == o->port_guid ? 4 : 0;
	if (o->port && p->portnum != o->port)
		return 0;
	/* Older kernels have no link layer file: the name is empty then. */
	if (p->link_layer[0] && strcasecmp(p->link_layer, "InfiniBand") != 0 &&
	    strcasecmp(p->link_layer, "IB") != 0)
		return 0;
	if (!o->ca && !o->port && !is_usable(p))
		return 0;
	if (p->state == STATE_ACTIVE)
		return ACTIVE_RANK;
	return p->phys_state == PHYS_STATE_LINK ? 2 : 1;
}

static void take(const umad_port_t *p, const char ca[UMAD_CA_NAME_LEN], struct ibcc_umad_port *out)
{
	memcpy(out->ca, ca, sizeof(out->ca));
	out->num = p->portnum;
	out->guid = be64toh(p->port_guid);
	out->prefix = be64toh(p->gid_prefix);
	out->lid = (uint16_t)p->base_lid;
	out->sm_lid = (uint16_t)p->sm_lid;
}

/* The port that fits best so far, and what is known of its fabric. */
struct candidate {
	struct ibcc_umad_port port;
	uint64_t sm_guid; /* 0: not asked yet */
	bool silent;
};

/* Whether a port is on another fabric than the candidate. No two ports of one fabric have the same
 * LID. Otherwise prefix and LIDs prove little, since many sites leave the defaults, so the subnet
 * managers are asked for their GUIDs. True also if one of them does not answer.
 */
static bool is_other_fabric(struct candidate *c, const struct ibcc_umad_port *p)
{
	uint64_t guid = 0;

	if (p->prefix != c->port.prefix || p->sm_lid != c->port.sm_lid || p->lid == c->port.lid)
		return true;
	c->silent = c->silent || (!c->sm_guid && ibcc_umad_sm_guid(&c->port, &c->sm_guid)) ||
		    ibcc_umad_sm_guid(p, &guid);
	return c->silent || guid != c->sm_guid;
}

static int several_fabrics(const struct candidate *c, char *why, size_t len)
{
	if (c->silent)
		snprintf(why, len,
			 "several ports of this host are active, and their subnet managers do not "
			 "say whether they are one: say which port by its channel adapter and "
			 "number, for example %s port %d",
			 c->port.ca, c->port.num);
	else
		snprintf(why, len,
			 "active ports of this host are on several fabrics: say which one by its "
			 "channel adapter and port, for example %s port %d",
			 c->port.ca, c->port.num);
	return -ENOTUNIQ;
}

int ibcc_umad_port_find(const struct ibcc_umad_options *o, struct ibcc_umad_port *out, char *why,
			size_t len)
{
	char names[UMAD_MAX_DEVICES][UMAD_CA_NAME_LEN] = { { 0 } };
	struct candidate best = { .sm_guid = 0 };
	struct ibcc_umad_port port;
	int best_rank = 0, n_ca = 0;
	bool asked = o->ca || o->port || o->port_guid, several = false;
	int n = umad_get_cas_names(names, UMAD_MAX_DEVICES);

	for (int i = 0; i < n; i++) {
		umad_ca_t ca;

		/* Without any device libibumad still names one, which cannot be read. */
		if (umad_get_ca(names[i], &ca) < 0)
			continue;
		n_ca++;
		for (int p = 0; p <= ca.numports && p < UMAD_CA_MAX_PORTS; p++) {
			int r = ca.ports[p] ? rank(o, ca.ports[p]) : 0;

			if (!r || (o->ca && !o->port_guid && strcmp(o->ca, names[i]) != 0))
				continue;
			take(ca.ports[p], names[i], &port);
			if (r == ACTIVE_RANK && best_rank == r && !asked && !several)
				several = is_other_fabric(&best, &port);
			if (r > best_rank) {
				best_rank = r;
				best.port = port;
			}
		}
		umad_release_ca(&ca);
	}
	if (several)
		return several_fabrics(&best, why, len);
	if (best_rank) {
		*out = best.port;
		return 0;
	}
	if (n_ca == 0)
		snprintf(why, len,
			 "no InfiniBand device found: is there an adapter with its driver loaded "
			 "(ibstat)?");
	else if (o->port_guid)
		snprintf(why, len, "no local port has GUID 0x%016" PRIx64, o->port_guid);
	else if (o->ca && o->port)
		snprintf(why, len, "InfiniBand device %s has no port %d", o->ca, o->port);
	else if (o->ca)
		snprintf(why, len, "this host has no InfiniBand device %s (ibstat lists them)",
			 o->ca);
	else if (o->port)
		snprintf(why, len, "no device here has an InfiniBand port %d", o->port);
	else
		snprintf(
			why, len,
			"no InfiniBand port of this host has a link (ibstat): check the cables, or "
			"name a port by ca and port");
	return -ENODEV;
}

bool ibcc_umad_is_local(uint64_t port_guid)
{
	const struct ibcc_umad_options o = { .port_guid = port_guid };
	struct ibcc_umad_port port;
	char why[1];

	return port_guid && !ibcc_umad_port_find(&o, &port, why, sizeof(why));
}

int ibcc_umad_port_refresh(struct ibcc_umad_port *p)
{
	umad_port_t port;

	if (umad_get_port(p->ca, p->num, &port) < 0)
		return -ENODEV;
	p->lid = (uint16_t)port.base_lid;
	p->sm_lid = (uint16_t)port.sm_lid;
	umad_release_port(&port);
	return 0;
}
