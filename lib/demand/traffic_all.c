/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Traffic that all hosts exchange. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include <ibcc/traffic.h>

static int add_pair(const struct ibcc_topo *t, uint32_t src, uint32_t dst, struct ibcc_traffic *all)
{
	int rc = 0;

	ibcc_traffic_add(all, t, src, dst, &rc);
	return rc == -ENOENT ? 0 : rc; /* a part of the fabric that the tables do not reach */
}

static int add_pairs(const struct ibcc_topo *t, uint32_t peers, struct ibcc_traffic *all)
{
	uint32_t *host = calloc(t->n_endports + 1u, sizeof(*host)), n = 0;
	int rc = host ? 0 : -ENOMEM;

	for (uint32_t i = 0; !rc && i < t->n_endports; i++)
		if (!ibcc_topo_is_switch(t, t->port[t->endport[i]].node) &&
		    t->port[t->endport[i]].peer != IBCC_NONE)
			host[n++] = t->endport[i];
	peers = n && peers > n - 1 ? n - 1 : peers;
	for (uint32_t i = 0; i < n && !rc; i++)
		for (uint32_t k = 1; k <= peers && !rc; k++) {
			uint32_t far = (uint32_t)((uint64_t)k * (n - 1) / peers);

			rc = add_pair(t, host[i], host[(i + far) % n], all);
		}
	free(host);
	return rc;
}

/* Gives all pairs the rate at which the fullest link is busy by the share. */
static int scale(const struct ibcc_topo *t, double busy, struct ibcc_traffic *all)
{
	double *load = calloc(t->n_ports + 1u, sizeof(*load)), most = 0;

	if (!load)
		return -ENOMEM;
	for (uint32_t i = 0; i < all->n_pairs; i++)
		for (uint32_t k = 0; k < all->pair[i].hops; k++) {
			uint32_t port = all->hop[all->pair[i].first_hop + k];

			load[port] += 1;
			if (t->port[port].rate_mbps)
				most = fmax(most, load[port] / t->port[port].rate_mbps);
		}
	for (uint32_t i = 0; i < all->n_pairs; i++) {
		all->pair[i].root = IBCC_NONE;
		all->pair[i].demand = most > 0 ? busy / most : 0;
		all->pair[i].carried = all->pair[i].demand;
	}
	free(load);
	return 0;
}

int ibcc_traffic_all(const struct ibcc_topo *t, uint32_t peers, double busy,
		     struct ibcc_traffic *out)
{
	int rc;

	*out = (struct ibcc_traffic){ 0 };
	rc = add_pairs(t, peers, out);
	if (!rc)
		rc = scale(t, busy, out);
	if (rc)
		ibcc_traffic_fini(out);
	return rc;
}
