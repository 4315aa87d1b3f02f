/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How many MADs a second the daemon sends to the fabric, and to the node that gets most of them. */
#ifndef IBCC_DAEMON_MAD_RATE_H
#define IBCC_DAEMON_MAD_RATE_H

#include <stdint.h>

#include <ibcc/transport.h>

/* All zero before the first call. */
struct ibcc_mad_rate {
	uint64_t t_ns, sent;     /* time and count at the last call */
	uint64_t *node_sent;     /* MADs sent to each LID at the last call; owned */
	uint64_t minute_ns;      /* when the current minute of SMPs began */
	uint64_t smps, smps_ago; /* SMPs at that time, and during the whole minute before */
	/* Rate between the last two calls. */
	double per_s;
	double busiest_per_s; /* the highest rate to one node */
	uint16_t busiest_lid; /* LID of that node; 0: there is none */
};

void ibcc_mad_rate_fini(struct ibcc_mad_rate *r);

/* Call once in each polling cycle. Changes nothing if no time has passed since the last call, or if
 * there is no memory.
 */
void ibcc_mad_rate_look(struct ibcc_mad_rate *r, const struct ibcc_transport_stats *s,
			uint64_t now_ns);

/* SMPs in the last complete minute plus those in the current one. */
uint64_t ibcc_mad_rate_smps(const struct ibcc_mad_rate *r, const struct ibcc_transport_stats *s);

#endif
