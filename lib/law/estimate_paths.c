/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The ports through which the packets of a root's sources go to it. */
#include <ibcc/estimate.h>

#include <errno.h>

#include <ibcc/route.h>

/* The first LID from `lid` on of a destination behind a root; 0: there is none. */
static uint32_t next_behind(const struct ibcc_topo *t, uint32_t root, uint32_t lid)
{
	const struct ibcc_topo_node *sw = &t->node[t->port[root].node];

	for (; lid < sw->lft_len && lid <= IBCC_LID_MAX; lid++)
		if (sw->lft[lid] == t->port[root].num && t->lid_port[lid] != IBCC_NONE)
			return lid;
	return 0;
}

/* Finds the path from a source to a root, of which `first` is the first LID behind it. It follows
 * the path to any destination behind the root: only the part up to the root counts, which is equal
 * for all. An empty path: there is none.
 */
static void find_path(const struct ibcc_topo *t, uint32_t src, uint32_t root, uint32_t first,
		      struct ibcc_route *r)
{
	unsigned int k;

	for (uint32_t lid = first; lid; lid = next_behind(t, root, lid + 1)) {
		if (ibcc_route_follow(t, src, (uint16_t)lid, r) == -EINVAL)
			continue;
		for (k = 0; k < r->n && r->out[k] != root; k++)
			;
		if (k < r->n) {
			r->n = k + 1;
			return;
		}
	}
	r->n = 0;
}

void ibcc_estimate_mark_tree(const struct ibcc_topo *t, const struct ibcc_root *root, bool *on)
{
	uint32_t first = next_behind(t, root->port, 1);

	on[root->port] = true;
	for (uint32_t i = 0; i < root->n_sources; i++) {
		struct ibcc_route r = { 0 };

		if (!ibcc_role_takes_part(root->source[i].role))
			continue;
		find_path(t, root->source[i].port, root->port, first, &r);
		for (unsigned int k = 0; k < r.n; k++)
			on[r.out[k]] = true;
	}
}
