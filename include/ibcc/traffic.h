/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How much each adapter sends to each other one, as far as that follows from loads of links: there
 * are far more pairs than links.
 *
 * The traffic of before is by gravity (each source divides what it sends as destinations receive),
 * then scaled until all links carry what they carried. Now, sources that wait send less of it, all
 * of a source cut alike, since its queue is served first come, first served; and what is new goes
 * to destinations that get more than before, or to roots. What a waiting source would send is what
 * it sent before it waited; what is new of it is cut as much as the rest.
 */
#ifndef IBCC_TRAFFIC_H
#define IBCC_TRAFFIC_H

#include <stdbool.h>
#include <stdint.h>

#include <ibcc/formula.h>
#include <ibcc/loads.h>
#include <ibcc/topo.h>

struct ibcc_traffic_root {
	uint32_t port;
	enum ibcc_congestion kind;
	uint32_t rate_mbps; /* what it sends: with kind OUTPUT, all that its receiver takes */
	/* By endport: weight of a sender that is known to be marked here (BECNs); NULL: not known.
	 */
	const double *becns;
};

struct ibcc_traffic_pair {
	uint32_t src, dst;        /* channel adapters' ports */
	uint32_t first_hop, hops; /* in `hop`: ports that it leaves by */
	double carried, demand;   /* Mb/s */
	uint32_t root;            /* first root on its way, or IBCC_NONE */
	bool fresh;               /* was not there before */
};

struct ibcc_traffic {
	uint32_t n_pairs, cap_pairs;
	struct ibcc_traffic_pair *pair;
	uint32_t n_hops, cap_hops;
	uint32_t *hop;
	double misfit; /* links' loads against `now`: sum of differences over sum of loads */
};

struct ibcc_traffic_in {
	const struct ibcc_topo *t;
	/* NULL: not known. Then each source that waits is taken to have as much as its link
	 * carries.
	 */
	const struct ibcc_loads *before;
	const struct ibcc_loads *now;
	uint32_t n_roots;
	const struct ibcc_traffic_root *root;
};

/* Pairs are all of a small fabric; of a larger one some for each source, chosen by the GUIDs, so
 * that nothing depends on the order of nodes. *out needs ibcc_traffic_fini() after 0. -ENOMEM.
 */
int ibcc_traffic_infer(const struct ibcc_traffic_in *in, struct ibcc_traffic *out);
void ibcc_traffic_fini(struct ibcc_traffic *t);

/* Appends a pair with its way by the forwarding tables. NULL and *err: -ENOENT: there is none;
 * -ENOMEM.
 */
struct ibcc_traffic_pair *ibcc_traffic_add(struct ibcc_traffic *t, const struct ibcc_topo *topo,
					   uint32_t src, uint32_t dst, int *err);

/* All-to-all traffic: each host sends to `peers` others, or to all where there are no more, at
 * distances in the list of hosts that are as equal as can be. So each host also receives from as
 * many. All pairs have the same rate, at which the fullest link is busy by the share `busy`. Pairs
 * that the tables do not join are left out. *out needs ibcc_traffic_fini() after 0. -ENOMEM.
 */
int ibcc_traffic_all(const struct ibcc_topo *t, uint32_t peers, double busy,
		     struct ibcc_traffic *out);

/* Of a pair: does it pass a port? */
bool ibcc_traffic_passes(const struct ibcc_traffic *t, const struct ibcc_traffic_pair *p,
			 uint32_t port);

#endif
