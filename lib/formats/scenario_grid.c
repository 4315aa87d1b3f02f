/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Generated topologies of a scenario file that are no trees: mesh, torus, HyperX and dragonfly.
 * Each adds the hosts first, then the switches. At a switch the hosts have the first ports, then
 * come the links to other switches.
 */
#include <errno.h>
#include <stdio.h>

#include "scenario_parts.h"

#define SWITCH_PORTS_MAX 254u
/* Of its hosts, of the switches of a group, of global links: each switch has a port for others. */
#define SHARE_MAX (SWITCH_PORTS_MAX - 1u)

struct shape_yaml {
	const struct ibcc_yaml_node *sizes;
	uint64_t hosts;       /* at each switch */
	uint8_t switches;     /* of a dragonfly's group */
	uint8_t global_links; /* of each of these */
	uint64_t groups;
	struct ibcc_route_grid *grid;
	char path[40]; /* of its sizes */
};

static int want_size(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		     struct ibcc_yaml_errors *e)
{
	return ibcc_yaml_want(y, e, n, path, "a fabric of at most %u nodes", IBCC_LID_MAX);
}

static int want_ports(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		      uint64_t ports, struct ibcc_yaml_errors *e)
{
	return ibcc_yaml_want(y, e, n, path,
			      "switches with at most %u ports, and these would need %llu",
			      SWITCH_PORTS_MAX, (unsigned long long)ports);
}

static int add_hosts(struct ibcc_topo *t, uint32_t n)
{
	char name[IBCC_NAME_BYTES];

	for (uint32_t i = 0; i < n; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		if (ibcc_topo_add_node(t, IBCC_SCENARIO_CA_GUID(i), IBCC_NODE_CA, 1, name) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Adds a switch and its links to the next hosts. */
static int add_switch(const struct ibcc_scenario_links *l, const char *name, unsigned int ports,
		      uint32_t first_host, uint32_t hosts)
{
	struct ibcc_topo *t = l->topo;
	int64_t sw = ibcc_topo_add_node(t, IBCC_SCENARIO_SWITCH_GUID(t->n_nodes), IBCC_NODE_SWITCH,
					ports, name);

	if (sw < 0)
		return (int)sw;
	for (uint32_t i = 0; i < hosts; i++)
		if (ibcc_topo_link(t, (uint32_t)sw, i + 1, first_host + i, 1, l->rate_mbps,
				   l->mtu_bytes))
			return -EINVAL;
	return 0;
}

/* --- mesh, torus, HyperX ---------------------------------------------------------------------- */

/* Ports of a switch that lead along one dimension. A ring of two switches has one link. */
static unsigned int ports_along(const struct ibcc_route_grid *g, unsigned int dim)
{
	unsigned int others = g->size[dim] - 1u;

	return g->shape == IBCC_GRID_HYPERX || others < 2 ? others : 2;
}

/* Links from the first switch of a dimension to the farthest one. */
static unsigned int hops_along(const struct ibcc_route_grid *g, unsigned int dim)
{
	switch (g->shape) {
	case IBCC_GRID_MESH: return g->size[dim] - 1u;
	case IBCC_GRID_TORUS: return g->size[dim] / 2u;
	case IBCC_GRID_HYPERX: return 1;
	}
	return 0;
}

/* Links a switch to those that follow it in each dimension: in a mesh and a torus to the next one,
 * in a HyperX to all. `first` is the first port that does not lead to a host.
 */
static int link_switch(const struct ibcc_scenario_links *l, const struct ibcc_route_grid *g,
		       uint32_t node, unsigned int first)
{
	uint32_t step = 1;
	int rc = 0;

	for (unsigned int d = 0; d < g->n_dims; d++) {
		uint32_t size = g->size[d], at = ibcc_route_grid_at(g, node, d);
		uint32_t last = g->shape == IBCC_GRID_HYPERX ? size - 1 : at + 1;

		for (uint32_t to = at + 1; to <= last && !rc; to++) {
			uint32_t peer = node + (to % size - at) * step;
			/* Along a line, the first port leads up and the second down. */
			unsigned int out = 0, in = size > 2;

			if (to == size && (g->shape != IBCC_GRID_TORUS || size == 2))
				continue;
			if (g->shape == IBCC_GRID_HYPERX) {
				out = to - 1; /* a switch has no port for its own place */
				in = at;
			}
			rc = ibcc_topo_link(l->topo, node, first + out, peer, first + in,
					    l->rate_mbps, l->mtu_bytes);
		}
		first += ports_along(g, d);
		step *= size;
	}
	return rc;
}

static void name_switch(const struct ibcc_route_grid *g, uint32_t node, char *name, size_t len)
{
	size_t n = 0;

	for (unsigned int d = 0; d < g->n_dims; d++)
		n += (size_t)snprintf(name + n, len - n, "%s%u", d ? "-" : "s",
				      ibcc_route_grid_at(g, node, d));
}

static int build_grid(const struct ibcc_scenario_links *l, const struct ibcc_route_grid *g,
		      uint32_t switches, uint32_t hosts, unsigned int ports)
{
	char name[IBCC_NAME_BYTES];
	int rc = add_hosts(l->topo, switches * hosts);

	for (uint32_t i = 0; i < switches && !rc; i++) {
		name_switch(g, g->first + i, name, sizeof(name));
		rc = add_switch(l, name, ports, i * hosts, hosts);
	}
	for (uint32_t i = 0; i < switches && !rc; i++)
		rc = link_switch(l, g, g->first + i, hosts + 1);
	return rc;
}

static int add_size(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		    void *arg, struct ibcc_yaml_errors *e)
{
	struct shape_yaml *s = arg;
	const char *text = ibcc_yaml_scalar(n);
	uint64_t size;

	if (index >= IBCC_ROUTE_DIMS)
		return ibcc_yaml_want(y, e, n, s->path, "at most %u dimensions", IBCC_ROUTE_DIMS);
	if (!text || ibcc_yaml_parse_uint(text, &size) || size < 2 || size > IBCC_LID_MAX)
		return ibcc_yaml_want(y, e, n, s->path, "a whole number from 2 to %u",
				      IBCC_LID_MAX);
	s->grid->size[index] = (uint16_t)size;
	s->grid->n_dims = index + 1;
	return 0;
}

int ibcc_scenario_read_grid(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, const struct ibcc_scenario_links *l,
			    struct ibcc_route_grid *g, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("sizes", NODE, struct shape_yaml, sizes), .required = true },
		{ IBCC_YAML_MEMBER("hosts", UINT, struct shape_yaml, hosts), .min = 1,
		  .max = SHARE_MAX },
		{ .name = NULL },
	};
	struct shape_yaml s = { .hosts = 1, .grid = g };
	uint64_t switches = 1, ports, hops = 2; /* with the links of two hosts */

	snprintf(s.path, sizeof(s.path), "%s.sizes", path);
	if (ibcc_yaml_read(y, n, path, keys, &s, e) ||
	    ibcc_scenario_each(y, s.sizes, s.path, add_size, &s, e))
		return -EINVAL;
	if (!g->n_dims)
		return ibcc_yaml_want(y, e, s.sizes, s.path,
				      "a number of switches for each dimension");
	ports = s.hosts;
	for (unsigned int d = 0; d < g->n_dims; d++) {
		switches *= g->size[d];
		ports += ports_along(g, d);
		hops += hops_along(g, d);
		if (switches * (s.hosts + 1) > IBCC_LID_MAX)
			return want_size(y, n, path, e);
	}
	if (ports > SWITCH_PORTS_MAX)
		return want_ports(y, n, path, ports, e);
	if (hops > IBCC_ROUTE_MAX_HOPS)
		return ibcc_yaml_want(y, e, n, path,
				      "at most %u links on a path, and there are %llu",
				      IBCC_ROUTE_MAX_HOPS, (unsigned long long)hops);
	g->first = (uint32_t)(switches * s.hosts);
	return build_grid(l, g, (uint32_t)switches, (uint32_t)s.hosts, (unsigned int)ports);
}

/* --- dragonfly -------------------------------------------------------------------------------- */

/* A group of switches that are all linked to each other; links between groups start at all of them.
 * With a switches of p hosts and h global links there are at most a h + 1 groups (J. Kim and
 * others: Technology-driven, highly-scalable dragonfly topology, 2008). The group's global links
 * are numbered 0 .. a h - 1, in the order of switches and ports. They go to the other groups in
 * turn, as often as all groups can have one more.
 */
static int link_groups(const struct ibcc_scenario_links *l, const struct shape_yaml *s,
		       uint32_t first)
{
	uint32_t a = s->switches, h = s->global_links, g = (uint32_t)s->groups, others = g - 1;
	unsigned int port = (unsigned int)s->hosts + a; /* the first that leads to another group */
	int rc = 0;

	for (uint32_t from = 0; from < g && others; from++)
		for (uint32_t i = 0; i < a * h / others * others && !rc; i++) {
			uint32_t turn = i % others, to = turn < from ? turn : turn + 1;
			uint32_t back = i - turn + from; /* the same link's number there */

			if (to < from)
				continue; /* the other group has made this link */
			rc = ibcc_topo_link(l->topo, first + from * a + i / h, port + i % h,
					    first + to * a + back / h, port + back % h,
					    l->rate_mbps, l->mtu_bytes);
		}
	return rc;
}

static int build_dragonfly(const struct ibcc_scenario_links *l, const struct shape_yaml *s)
{
	uint32_t a = s->switches, p = (uint32_t)s->hosts, n = (uint32_t)s->groups * a;
	unsigned int ports = p + a - 1 + s->global_links;
	char name[IBCC_NAME_BYTES];
	int rc = add_hosts(l->topo, n * p);

	for (uint32_t i = 0; i < n && !rc; i++) {
		snprintf(name, sizeof(name), "s%u-%u", i / a, i % a);
		rc = add_switch(l, name, ports, i * p, p);
	}
	/* In a group, port p + 1 + k leads to switch k, and to k + 1 from k on. */
	for (uint32_t i = 0; i < n && !rc; i++)
		for (uint32_t k = i % a + 1; k < a && !rc; k++)
			rc = ibcc_topo_link(l->topo, n * p + i, p + k, n * p + i - i % a + k,
					    p + 1 + i % a, l->rate_mbps, l->mtu_bytes);
	return rc ? rc : link_groups(l, s, n * p);
}

int ibcc_scenario_read_dragonfly(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
				 const struct ibcc_scenario_links *l, struct ibcc_route_groups *g,
				 struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("switches", UINT, struct shape_yaml, switches), .min = 1,
		  .max = SHARE_MAX, .required = true },
		{ IBCC_YAML_MEMBER("global_links", UINT, struct shape_yaml, global_links), .min = 1,
		  .max = SHARE_MAX, .required = true },
		{ IBCC_YAML_MEMBER("hosts", UINT, struct shape_yaml, hosts), .min = 1,
		  .max = SHARE_MAX },
		{ IBCC_YAML_MEMBER("groups", UINT, struct shape_yaml, groups), .min = 1,
		  .max = IBCC_LID_MAX },
		{ .name = NULL },
	};
	static const char path[] = "topology.dragonfly";
	struct shape_yaml s = { .hosts = 1 };
	uint64_t most, ports;

	if (ibcc_yaml_read(y, n, path, keys, &s, e))
		return -EINVAL;
	most = (uint64_t)s.switches * s.global_links + 1;
	if (s.groups > most)
		return ibcc_yaml_want(
			y, e, ibcc_yaml_get(y, n, "groups"), "topology.dragonfly.groups",
			"at most switches * global_links + 1, %llu", (unsigned long long)most);
	if (!s.groups)
		s.groups = most;
	if (s.groups * s.switches * (s.hosts + 1) > IBCC_LID_MAX)
		return want_size(y, n, path, e);
	ports = s.hosts + s.switches - 1u + s.global_links;
	if (ports > SWITCH_PORTS_MAX)
		return want_ports(y, n, path, ports, e);
	*g = (struct ibcc_route_groups){ .first = (uint32_t)(s.groups * s.switches * s.hosts),
					 .size = s.switches,
					 .n = (uint32_t)s.groups };
	return build_dragonfly(l, &s);
}
