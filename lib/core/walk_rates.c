/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Rates that PortInfo does not tell at first. Where it reads QDR the link may be faster: some
 * devices tell extended speeds only whom says by bit 31 of AttrMod that he knows them (OpenSM asks
 * so again since 3.3.25, where CapabilityMask has the bit), and FDR10 is in an attribute of the
 * vendor. A few ports of each switch are asked, and the others if one of those was faster; of
 * adapters a few of all, and the others if one of those withheld it: else fabrics of QDR would be
 * asked everything twice.
 */
#include <ibcc/device.h>
#include <ibcc/topo.h>

#include "lib/core/walk_state.h"

#define PROBES    2u
#define CA_PROBES 32u
#define STATE_UP  2u

static bool is_switch(const struct ibcc_walk_node *n)
{
	return n->info.node_type == IBCC_NODE_SWITCH;
}

static bool reads_qdr(const struct walk_port *p)
{
	return p->info.state >= STATE_UP && p->info.speed == IBCC_LINK_SPEED_QDR;
}

static bool may_have_fdr10(const struct ibcc_walk *w, const struct ibcc_walk_node *n)
{
	const struct ibcc_device *d = ibcc_device_find(n->info.vendor_id, n->info.device_id);

	return d && ibcc_device_has_fdr10(d) && !w->no_fdr10;
}

static bool may_withhold(const struct ibcc_walk *w, const struct ibcc_walk_node *n)
{
	if (is_switch(n))
		return n->withholds || n->n_ext_probes < PROBES;
	return w->ca_withholds || (n->n_ext_probes < PROBES && w->n_ca_probes < CA_PROBES);
}

int ibcc_walk_ask_rates(struct ibcc_walk *w, struct ibcc_walk_node *n)
{
	bool fdr10 = may_have_fdr10(w, n);
	int rc = 0;

	for (uint32_t num = 1; num <= n->info.num_ports && !rc; num++) {
		struct walk_port *p = &n->port[num];
		/* A switch tells what it can at port 0. */
		const struct walk_port *caps = is_switch(n) ? &n->port[0] : p;

		if (!reads_qdr(p) || !caps->info.state)
			continue;
		if (caps->info.has_ext_speeds && !p->asked_ext && may_withhold(w, n)) {
			p->asked_ext = true;
			n->n_ext_probes++;
			w->n_ca_probes += !is_switch(n);
			rc = ibcc_walk_ask(w, n, IBCC_SMP_ATTR_PORT_INFO, num | IBCC_SMP_EXT_SPEEDS,
					   0);
		}
		if (fdr10 && !p->asked_fdr10 && !rc &&
		    (n->has_fdr10 || n->n_fdr10_probes < PROBES)) {
			p->asked_fdr10 = true;
			n->n_fdr10_probes++;
			rc = ibcc_walk_ask(w, n, IBCC_SMP_ATTR_EXT_PORT_INFO, num, 0);
		}
	}
	return rc;
}

static void set_speed(struct walk_port *p, enum ibcc_link_speed speed)
{
	p->info.speed = speed;
	p->info.rate_mbps = ibcc_link_rate_mbps(p->info.lanes, speed);
}

int ibcc_walk_take_rate(struct ibcc_walk *w, const struct ibcc_walk_get *g, const uint8_t *mad)
{
	struct ibcc_walk_node *n = g->node;
	struct walk_port *p = &n->port[g->attr_mod & ~IBCC_SMP_EXT_SPEEDS];
	struct ibcc_smp_port_info again;

	if (g->attr_id == IBCC_SMP_ATTR_EXT_PORT_INFO) {
		if (!ibcc_smp_has_fdr10(mad) || p->info.speed != IBCC_LINK_SPEED_QDR)
			return 0;
		n->has_fdr10 = true;
		set_speed(p, IBCC_LINK_SPEED_FDR10);
	} else {
		ibcc_smp_port_info_unpack(mad, &again);
		if (again.speed <= IBCC_LINK_SPEED_FDR10)
			return 0;
		n->withholds = true;
		w->ca_withholds |= !is_switch(n);
		set_speed(p, again.speed);
	}
	return ibcc_walk_ask_rates(w, n);
}
