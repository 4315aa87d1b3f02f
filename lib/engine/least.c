/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The least that a plan leaves of a root's traffic (least.h): each source's present rate through
 * the root, but at most what the end of its new table lets through.
 */
#include "least.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/cct.h>

/* The rate in Mb/s that a source's flow through the root at `port` has at its table's end; the
 * link's rate if the source does not react or the root does not mark.
 */
static double limit(const struct ibcc_topo *t, const struct ibcc_settings *s, uint32_t port,
		    uint32_t src)
{
	const struct ibcc_endport_cc *ep = &s->ep[t->port[src].endport];
	const struct ibcc_endport_cc *sw = &s->ep[ibcc_topo_switch_endport(t, port)];
	bool reacts = false;

	for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
		reacts |= ep->ca.sl[sl].CCTI_Increase > 0;
	if (!reacts || !ibcc_settings_port_marks(sw, t->port[port].num))
		return t->port[src].rate_mbps;
	return t->port[src].rate_mbps /
	       (1 + ibcc_cct_entry_delay_milli(ep->cct.entry[ep->cct.limit]) / 1000.0);
}

/* The least of one root in Mb/s. `sent` is by port, and all zero before and afterwards. */
static double least_mbps(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
			 const struct ibcc_settings *wanted, uint32_t root, double *sent)
{
	double sum = 0;

	for (uint32_t i = 0; i < traffic->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &traffic->pair[i];

		if (p->root == root)
			sent[p->src] += p->carried;
	}
	for (uint32_t i = 0; i < in->t->n_ports; i++) {
		if (sent[i] > 0)
			sum += fmin(sent[i], limit(in->t, wanted, in->root[root].port, i));
		sent[i] = 0;
	}
	return sum;
}

int ibcc_least_rates(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
		     const struct ibcc_settings *wanted, double *share)
{
	double *sent = calloc(in->t->n_ports + 1u, sizeof(*sent));

	if (!sent)
		return -ENOMEM;
	for (uint32_t i = 0; i < in->n_roots; i++) {
		double rate = in->now->mbps[in->root[i].port];

		share[i] = rate > 0 ? fmin(least_mbps(in, traffic, wanted, i, sent) / rate, 1) : 1;
	}
	free(sent);
	return 0;
}
