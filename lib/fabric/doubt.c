/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "doubt.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/cct.h>

/* Chosen on drawn scenarios: doc/notebook.md. */
#define MOST_DOUBT 0.35
#define LEAST_BUSY 0.3

/* What a flow of a source through a root has at the table's end, if it is held there. */
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

/* Of what sources send through a root and would send, by their ports; zero before and afterwards.
 */
struct sums {
	double *carried, *demand;
};

static bool is_doubtful(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
			const struct ibcc_settings *wanted, uint32_t root, struct sums *s)
{
	uint32_t port = in->root[root].port;
	double rate = in->now->mbps[port], most = 0, least = 0;

	for (uint32_t i = 0; i < traffic->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &traffic->pair[i];

		if (p->root == root) {
			s->carried[p->src] += p->carried;
			s->demand[p->src] += p->demand;
		}
	}
	for (uint32_t i = 0; i < in->t->n_ports; i++) {
		double held = s->demand[i] > 0 ? limit(in->t, wanted, port, i) : 0;

		most += fmin(s->demand[i], held);
		least += fmin(s->carried[i], held);
		s->carried[i] = s->demand[i] = 0;
	}
	return fmin(most, rate) - fmin(least, rate) > MOST_DOUBT * rate ||
	       most <= LEAST_BUSY * rate;
}

int ibcc_doubt_find(const struct ibcc_traffic_in *in, const struct ibcc_traffic *traffic,
		    const struct ibcc_settings *wanted, bool *doubt)
{
	struct sums s = { .carried = calloc(in->t->n_ports + 1u, sizeof(double)),
			  .demand = calloc(in->t->n_ports + 1u, sizeof(double)) };
	int rc = s.carried && s.demand ? 0 : -ENOMEM;

	*doubt = false;
	for (uint32_t i = 0; i < in->n_roots && !rc; i++)
		*doubt |= is_doubtful(in, traffic, wanted, i, &s);
	free(s.carried);
	free(s.demand);
	return rc;
}
