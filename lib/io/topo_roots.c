/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The roots of up/down routes in a scenario file's topology. */
#include <errno.h>
#include <stdlib.h>

#include "scenario_parts.h"

/* Roots of up/down routes. */
struct roots {
	const struct ibcc_topo *t;
	struct ibcc_scenario_routes *r;
};

static int add_root(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		    void *arg, struct ibcc_yaml_errors *e)
{
	struct roots *roots = arg;
	uint32_t node;

	(void)index;
	if (ibcc_scenario_read_node(y, n, "topology.roots", roots->t, &node, e))
		return -EINVAL;
	if (!ibcc_topo_is_switch(roots->t, node))
		return ibcc_yaml_want(y, e, n, "topology.roots", "a switch");
	roots->r->root[roots->r->n_roots++] = node;
	return 0;
}

int ibcc_scenario_read_roots(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     const struct ibcc_topo *t, struct ibcc_scenario_routes *r,
			     struct ibcc_yaml_errors *e)
{
	struct roots roots = { t, r };
	size_t len = ibcc_yaml_is_seq(n) ? ibcc_yaml_length(n) : 1;

	if (!n)
		return 0;
	if (!r->up_down)
		return ibcc_yaml_want(y, e, n, "topology.roots",
				      "no roots without routes: up-down");
	r->root = calloc(len + 1, sizeof(*r->root));
	if (!r->root)
		return -ENOMEM;
	return ibcc_scenario_each(y, n, "topology.roots", add_root, &roots, e);
}
