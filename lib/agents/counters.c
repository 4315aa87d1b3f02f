/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a port has counted, over all engines that it was bound to. */
#include <errno.h>
#include <string.h>

#include "state.h"

/* Adds counters to a sum: those of earlier engines to those of the present one. */
static void add_counters(struct ibcc_engine_port *sum, const struct ibcc_engine_port *v)
{
	int i;

	sum->xmit_bytes += v->xmit_bytes;
	sum->rcv_bytes += v->rcv_bytes;
	sum->xmit_pkts += v->xmit_pkts;
	sum->rcv_pkts += v->rcv_pkts;
	sum->xmit_wait_ps += v->xmit_wait_ps;
	sum->xmit_time_cong_ps += v->xmit_time_cong_ps;
	sum->rcv_fecn += v->rcv_fecn;
	sum->rcv_becn += v->rcv_becn;
	sum->mark_fecn += v->mark_fecn;
	sum->dropped += v->dropped;
	sum->cnp_sent += v->cnp_sent;
	sum->cnp_handled += v->cnp_handled;
	sum->cnp_ignored += v->cnp_ignored;
	for (i = 0; i < 16; i++) {
		sum->vl_xmit_wait_ps[i] += v->vl_xmit_wait_ps[i];
		sum->vl_xmit_time_cong_ps[i] += v->vl_xmit_time_cong_ps[i];
		sum->sl_rcv_fecn[i] += v->sl_rcv_fecn[i];
		sum->sl_rcv_becn[i] += v->sl_rcv_becn[i];
		sum->sl_xmit_bytes[i] += v->sl_xmit_bytes[i];
	}
}

int ibcc_agents_counters(struct ibcc_agents *a, uint32_t port, struct ibcc_engine_port *out)
{
	struct ibcc_engine_port now = { 0 };

	if (port >= a->topo->n_ports)
		return -EINVAL;
	/* A switch's port 0 carries no data: the engine may not know it. */
	if (ibcc_engine_port_read(a->engine, port, &now))
		memset(&now, 0, sizeof(now));
	add_counters(&now, &a->port[port].carry);
	*out = now;
	return 0;
}
