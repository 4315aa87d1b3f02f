/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which traffic a twin needs as packets (involved.h). */
#include "involved.h"

#include <errno.h>
#include <stdlib.h>

/* A link that is asked for less than this share of its rate keeps packets waiting, but not for
 * long: as long as 4.5 packets take, by M/D/1. Buffers hold more.
 */
#define FULL 0.9
/* A full link blocks no more adapters than now if demands exceed what it carries by less than this
 * share of its rate.
 */
#define MORE 0.05
/* Adapters that wait for less than this share of the time are not blocked. */
#define WAITS 0.01

/* What can happen to a link: no packet waits there for long; packets wait there now; packets of
 * other adapters may wait there later.
 */
enum { FREE, IN_TREE, CAN_FILL };

struct load {
	double carried, most; /* now, and what pairs could send at most, Mb/s */
};

/* Pairs through a root share what it carries, now as later. */
static void add_loads(const struct ibcc_traffic *traffic, struct load *load)
{
	for (uint32_t i = 0; i < traffic->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &traffic->pair[i];

		for (uint32_t k = 0; k < p->hops; k++) {
			struct load *l = &load[traffic->hop[p->first_hop + k]];

			l->carried += p->carried;
			l->most += p->root == IBCC_NONE ? p->demand : p->carried;
		}
	}
}

static uint8_t kind_of(const struct load *l, double link)
{
	if (l->most <= FULL * link)
		return FREE;
	return l->most - l->carried > MORE * link ? CAN_FILL : IN_TREE;
}

/* Takes the links on a pair's path that come before a link that can be full into that link's tree.
 * True: that changed a port.
 */
static bool grow(const struct ibcc_topo *t, const struct ibcc_traffic *traffic,
		 const struct ibcc_traffic_pair *p, const double *wait, uint8_t *kind)
{
	uint8_t behind = FREE;
	bool changed = false;

	for (uint32_t k = p->hops; k-- > 0;) {
		uint32_t port = traffic->hop[p->first_hop + k];
		bool adapter = !ibcc_topo_is_switch(t, t->port[port].node);

		if (adapter && behind == IN_TREE && wait[port] < WAITS)
			continue;
		if (kind[port] < behind) {
			kind[port] = behind;
			changed = true;
		}
		behind = kind[port] > behind ? kind[port] : behind;
	}
	return changed;
}

int ibcc_involved_pairs(const struct ibcc_topo *t, const struct ibcc_traffic *traffic,
			uint32_t n_roots, const struct ibcc_traffic_root *root, const double *wait,
			bool *involved)
{
	struct load *load = calloc(t->n_ports + 1u, sizeof(*load));
	uint8_t *kind = calloc(t->n_ports + 1u, sizeof(*kind));
	bool changed = load && kind;
	int rc = changed ? 0 : -ENOMEM;

	if (rc)
		goto out;
	add_loads(traffic, load);
	for (uint32_t i = 0; i < t->n_ports; i++)
		if (!ibcc_topo_is_switch(t, t->port[i].node))
			kind[i] = wait[i] >= WAITS ? IN_TREE : FREE;
		else
			kind[i] = kind_of(&load[i], t->port[i].rate_mbps);
	for (uint32_t i = 0; i < n_roots; i++)
		kind[root[i].port] = IN_TREE;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < traffic->n_pairs; i++)
			changed |= grow(t, traffic, &traffic->pair[i], wait, kind);
	}
	for (uint32_t i = 0; i < traffic->n_pairs; i++) {
		const struct ibcc_traffic_pair *p = &traffic->pair[i];

		involved[i] = false;
		for (uint32_t k = 0; k < p->hops; k++)
			involved[i] |= kind[traffic->hop[p->first_hop + k]] != FREE;
	}
out:
	free(load);
	free(kind);
	return rc;
}
