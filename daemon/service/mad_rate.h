/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How many MADs a second go to the fabric, and to the node that gets most of them. */
#ifndef IBCC_DAEMON_MAD_RATE_H
#define IBCC_DAEMON_MAD_RATE_H

#include <stdint.h>

#include <ibcc/transport.h>

/* All zero before the first look. */
struct ibcc_mad_rate {
	uint64_t t_ns, sent;     /* at the last look */
	uint64_t *node_sent;     /* likewise, by LID, owned */
	uint64_t minute_ns;      /* when the minute of SMPs began */
	uint64_t smps, smps_ago; /* then, and in the whole minute before */
	/* between the last two looks: */
	double per_s;
	double busiest_per_s; /* of all nodes the most, */
	uint16_t busiest_lid; /* by this one; 0: nobody */
};

void ibcc_mad_rate_fini(struct ibcc_mad_rate *r);

/* To be called once in a pass. Looks that are at the same time, or without memory, change nothing.
 */
void ibcc_mad_rate_look(struct ibcc_mad_rate *r, const struct ibcc_transport_stats *s,
			uint64_t now_ns);

/* SMPs in the last minute that has gone by altogether, and in what there is of this one. */
uint64_t ibcc_mad_rate_smps(const struct ibcc_mad_rate *r, const struct ibcc_transport_stats *s);

#endif
