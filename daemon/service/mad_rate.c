/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Computes rates from the transport's counts, once in each polling cycle (mad_rate.h). */
#include "daemon/service/mad_rate.h"

#include <stdlib.h>

#include <ibcc/topo.h>

#define MINUTE_NS 60000000000ull

void ibcc_mad_rate_fini(struct ibcc_mad_rate *r)
{
	free(r->node_sent);
	*r = (struct ibcc_mad_rate){ 0 };
}

static void look_at_nodes(struct ibcc_mad_rate *r, const struct ibcc_node_stats *node, double s)
{
	uint64_t most = 0;

	r->busiest_lid = 0;
	for (uint32_t lid = 1; lid <= IBCC_LID_MAX; lid++) {
		uint64_t n = node[lid].sent - r->node_sent[lid];

		r->node_sent[lid] = node[lid].sent;
		if (n <= most)
			continue;
		most = n;
		r->busiest_lid = (uint16_t)lid;
	}
	r->busiest_per_s = (double)most / s;
}

static void begin(struct ibcc_mad_rate *r, const struct ibcc_transport_stats *s, uint64_t now_ns)
{
	r->t_ns = r->minute_ns = now_ns;
	r->sent = s->sent;
	for (uint32_t lid = 1; s->node && lid <= IBCC_LID_MAX; lid++)
		r->node_sent[lid] = s->node[lid].sent;
}

void ibcc_mad_rate_look(struct ibcc_mad_rate *r, const struct ibcc_transport_stats *s,
			uint64_t now_ns)
{
	double seconds = (double)(now_ns - r->t_ns) / 1e9;

	if (!r->node_sent)
		r->node_sent = calloc(IBCC_LID_MAX + 1, sizeof(*r->node_sent));
	if (!r->node_sent || now_ns <= r->t_ns)
		return;
	if (!r->t_ns) {
		begin(r, s, now_ns);
		return;
	}
	if (s->node)
		look_at_nodes(r, s->node, seconds);
	r->per_s = (double)(s->sent - r->sent) / seconds;
	r->sent = s->sent;
	r->t_ns = now_ns;
	if (now_ns - r->minute_ns < MINUTE_NS)
		return;
	r->smps_ago = s->smps - r->smps;
	r->smps = s->smps;
	r->minute_ns = now_ns;
}

uint64_t ibcc_mad_rate_smps(const struct ibcc_mad_rate *r, const struct ibcc_transport_stats *s)
{
	return s->smps - r->smps + r->smps_ago;
}
