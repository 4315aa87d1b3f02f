/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Islands: the sets of nodes that links join. Each node gets the lowest node index of its island.
 */
#include <ibcc/topo.h>

#include <errno.h>
#include <stdlib.h>

int ibcc_topo_islands(const struct ibcc_topo *t, uint32_t *island)
{
	uint32_t *queue = calloc(t->n_nodes ? t->n_nodes : 1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	for (uint32_t i = 0; i < t->n_nodes; i++)
		island[i] = IBCC_NONE;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		uint32_t n = 1;

		if (island[i] != IBCC_NONE)
			continue;
		island[i] = i;
		queue[0] = i;
		for (uint32_t head = 0; head < n; head++) {
			const struct ibcc_topo_node *at = &t->node[queue[head]];

			for (unsigned int num = 1; num <= at->n_ports; num++) {
				uint32_t peer = t->port[at->first_port + num].peer;

				if (peer == IBCC_NONE || island[t->port[peer].node] != IBCC_NONE)
					continue;
				island[t->port[peer].node] = i;
				queue[n++] = t->port[peer].node;
			}
		}
	}
	free(queue);
	return 0;
}
