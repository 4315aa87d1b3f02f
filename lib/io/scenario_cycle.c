/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files: routes that could block each other for ever. */
#include <errno.h>
#include <stdio.h>

#include <ibcc/route.h>

#include "scenario_parts.h"

#define SHOWN 4u

int ibcc_scenario_check_cycle(const struct ibcc_yaml *y, const struct ibcc_topo *t,
			      struct ibcc_route_use *use, uint32_t n_uses,
			      struct ibcc_yaml_errors *e)
{
	char name[IBCC_DESC_BYTES + 32], list[SHOWN * (sizeof(name) + 2) + 8] = "";
	uint32_t out[SHOWN], n, i;
	size_t len = 0;
	int rc = ibcc_route_find_cycle(t, use, n_uses, out, SHOWN, &n);

	if (rc || !n)
		return rc;
	for (i = 0; i < n && i < SHOWN; i++) {
		ibcc_topo_port_name(t, out[i], name, sizeof(name));
		len += (size_t)snprintf(list + len, sizeof(list) - len, "%s%s", i ? ", " : "",
					name);
	}
	if (n > SHOWN)
		snprintf(list + len, sizeof(list) - len, " ...");
	ibcc_yaml_error(y, e, ibcc_yaml_get(y, ibcc_yaml_root(y), "topology"), "topology",
			"got flows whose routes make a circle of %u outputs that can block each "
			"other for ever (%s), want routes: up-down, other flows, or links whose "
			"shortest paths make no circle, such as a tree",
			n, list);
	return -EINVAL;
}
