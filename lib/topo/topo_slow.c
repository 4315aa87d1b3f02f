/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Links that run slower than both their ends can: most often a bad or a wrong cable. */
#include <ibcc/topo.h>

#include <stdio.h>

#include <ibcc/link.h>

#define HALF_LANES 2u

bool ibcc_topo_is_slow(const struct ibcc_topo *t, uint32_t port, struct ibcc_topo_speed *runs,
		       struct ibcc_topo_speed *best)
{
	const struct ibcc_topo_port *p = &t->port[port];
	uint32_t mbps = ibcc_topo_link_mbps(t, port);

	if (p->peer == IBCC_NONE || !mbps ||
	    !ibcc_link_best(&p->caps, &t->port[p->peer].caps, &best->lanes, &best->speed))
		return false;
	*runs = (struct ibcc_topo_speed){ p->lanes, ibcc_link_speed_of(p->lanes, mbps), mbps };
	best->rate_mbps = ibcc_link_rate_mbps(best->lanes, best->speed);
	if (runs->lanes == HALF_LANES && runs->speed == best->speed)
		return false;
	return runs->rate_mbps < best->rate_mbps;
}

const char *ibcc_topo_speed_name(const struct ibcc_topo_speed *v, char buf[IBCC_TOPO_SPEED_BYTES])
{
	buf[0] = '\0';
	if (v->speed != IBCC_LINK_SPEED_NONE)
		snprintf(buf, IBCC_TOPO_SPEED_BYTES, "%ux%s", v->lanes,
			 ibcc_link_speed_name(v->speed));
	return buf;
}
