/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The topology of a scenario file: nodes and links one by one, a generated tree, or a netfile. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/guess.h>
#include <ibcc/link.h>
#include <ibcc/scenario_file.h>

#include "scenario_parts.h"

struct topo_yaml {
	const struct ibcc_yaml_node *nodes, *links, *tree, *mesh, *torus, *hyperx, *dragonfly,
		*rate;
	char netfile[1024], tables[1024], paths[1024];
	uint32_t rate_mbps;
	unsigned int lanes; /* of such a link */
	int mtu;            /* code - 1 */
	int routes;         /* enum ibcc_scenario_routing */
	const struct ibcc_yaml_node *roots;
	struct ibcc_topo *topo;
};

static const char *const routes_words[] = { "shortest",  "up-down", "dimension-order",
					    "datelines", "minimal", NULL };
static const char *const mtus[] = { "256", "512", "1024", "2048", "4096", NULL };

static uint16_t mtu_bytes(const struct topo_yaml *ty)
{
	return (uint16_t)(256u << ty->mtu);
}

int ibcc_scenario_read_rate(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, uint32_t *mbps, struct ibcc_yaml_errors *e)
{
	const char *s = ibcc_yaml_scalar(n);

	if (!s || ibcc_rate_parse(s, mbps))
		return ibcc_yaml_want(y, e, n, path,
				      "a link such as \"4x QDR\", or a rate in Mb/s from 1 to %u "
				      "(or with the unit Gb/s, MB/s or GB/s)",
				      IBCC_RATE_MAX_MBPS);
	return 0;
}

static const char *node_candidate(const void *arg, size_t i)
{
	return ((const struct ibcc_topo *)arg)->node[i].desc;
}

int ibcc_scenario_find_node(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, const struct ibcc_topo *t, const char *text,
			    uint32_t *node, struct ibcc_yaml_errors *e)
{
	int rc = ibcc_topo_find_node(t, text, node);
	const char *guess;

	if (!rc)
		return 0;
	if (rc == -ENOTUNIQ)
		return ibcc_yaml_want(y, e, n, path,
				      "one node, and several have this name: write its GUID, such "
				      "as 0x%016" PRIx64 ", or its id in the netfile",
				      t->node[*node].guid);
	guess = ibcc_guess_word(text, node_candidate, t, t->n_nodes);
	if (guess)
		return ibcc_yaml_want(y, e, n, path,
				      "a node of the topology (did you mean \"%s\"?)", guess);
	return ibcc_yaml_want(y, e, n, path, "a node of the topology");
}

int ibcc_scenario_read_node(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, const struct ibcc_topo *t, uint32_t *node,
			    struct ibcc_yaml_errors *e)
{
	const char *s = ibcc_yaml_scalar(n);

	*node = IBCC_NONE;
	if (!s || ibcc_yaml_is_null(n))
		return ibcc_yaml_want(y, e, n, path, "the name of a node");
	return t ? ibcc_scenario_find_node(y, n, path, t, s, node, e) : 0;
}

int ibcc_scenario_read_port(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, const struct ibcc_topo *t, uint32_t *node,
			    uint8_t *port, struct ibcc_yaml_errors *e)
{
	const char *s = ibcc_yaml_scalar(n), *slash;
	char name[IBCC_DESC_BYTES];
	uint64_t num;
	int rc;

	*node = IBCC_NONE;
	*port = 1;
	if (!s || ibcc_yaml_is_null(n))
		return ibcc_yaml_want(y, e, n, path, "a port as NODE/PORT");
	if (!t)
		return 0;
	/* Names may have slashes, too, and a channel adapter's port need not be named. */
	rc = ibcc_topo_find_node(t, s, node);
	if (!rc && !ibcc_topo_is_switch(t, *node))
		return 0;
	slash = strrchr(s, '/');
	if (!slash || ibcc_yaml_parse_uint(slash + 1, &num)) {
		if (!rc || slash)
			return ibcc_yaml_want(y, e, n, path, "a port as NODE/PORT");
		return ibcc_scenario_find_node(y, n, path, t, s, node, e);
	}
	snprintf(name, sizeof(name), "%.*s", (int)(slash - s), s);
	if (ibcc_scenario_find_node(y, n, path, t, name, node, e))
		return -EINVAL;
	if (num < 1 || num > t->node[*node].n_ports)
		return ibcc_yaml_want(y, e, n, path, "a port of %s from 1 to %u", name,
				      t->node[*node].n_ports);
	*port = (uint8_t)num;
	return 0;
}

int ibcc_scenario_each(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		       int (*fn)(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
				 unsigned int index, void *arg, struct ibcc_yaml_errors *e),
		       void *arg, struct ibcc_yaml_errors *e)
{
	return ibcc_yaml_is_seq(n) ? ibcc_yaml_each(y, n, path, fn, arg, e) : fn(y, n, 0, arg, e);
}

/* One item of `nodes`. */
struct node_yaml {
	const struct ibcc_yaml_node *sw, *host;
	uint8_t ports;
	uint64_t guid;
	struct ibcc_topo *topo;
	enum ibcc_node_type type;
};

static int add_node(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		    void *arg, struct ibcc_yaml_errors *e)
{
	static const char path[] = "topology.nodes";
	struct node_yaml *ny = arg;
	struct ibcc_topo *t = ny->topo;
	const char *name = ibcc_yaml_scalar(n);
	bool is_switch = ny->type == IBCC_NODE_SWITCH;
	uint64_t guid = ny->guid    ? ny->guid
			: is_switch ? IBCC_SCENARIO_SWITCH_GUID(t->n_nodes)
				    : IBCC_SCENARIO_CA_GUID(t->n_nodes);
	int64_t rc;

	(void)index;
	if (!name || !*name || strlen(name) >= IBCC_NAME_BYTES)
		return ibcc_yaml_want(y, e, n, path, "a name of 1 to %u bytes",
				      IBCC_NAME_BYTES - 1);
	if (ibcc_topo_find_desc(t, name) != IBCC_NONE)
		return ibcc_yaml_want(y, e, n, path, "each name once");
	if (t->n_nodes >= IBCC_LID_MAX)
		return ibcc_yaml_want(y, e, n, path, "at most %u nodes", IBCC_LID_MAX);
	rc = ibcc_topo_add_node(t, guid, ny->type, ny->ports ? ny->ports : 1, name);
	if (rc == -EINVAL)
		return ibcc_yaml_want(y, e, n, path, "a GUID that no other node has");
	return rc < 0 ? (int)rc : 0;
}

static int read_node(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		     void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("switch", NODE, struct node_yaml, sw) },
		{ IBCC_YAML_MEMBER("host", NODE, struct node_yaml, host) },
		{ IBCC_YAML_MEMBER("ports", UINT, struct node_yaml, ports), .min = 1, .max = 254 },
		{ IBCC_YAML_MEMBER("guid", UINT, struct node_yaml, guid) },
		{ .name = NULL },
	};
	struct node_yaml ny = { .topo = ((struct topo_yaml *)arg)->topo };
	static const char path[] = "topology.nodes";
	const struct ibcc_yaml_node *names;

	(void)index;
	if (ibcc_yaml_read(y, n, path, keys, &ny, e))
		return -EINVAL;
	if (!ny.sw == !ny.host) {
		ibcc_yaml_error(y, e, n, path, "got %s, want either switch or host",
				ny.sw ? "both" : "neither switch nor host");
		return -EINVAL;
	}
	names = ny.sw ? ny.sw : ny.host;
	ny.type = ny.sw ? IBCC_NODE_SWITCH : IBCC_NODE_CA;
	if (ny.sw && !ny.ports) {
		ibcc_yaml_error(y, e, n, path, "missing, want ports of the switch");
		return -EINVAL;
	}
	if (ny.guid && ibcc_yaml_is_seq(names) && ibcc_yaml_length(names) > 1)
		return ibcc_yaml_want(y, e, names, path, "one name with a guid");
	return ibcc_scenario_each(y, names, path, add_node, &ny, e);
}

/* One item of `links`: [a, b], or {ends: [a, b], rate: a to b, rate_back: b to a}. */
struct link_yaml {
	const struct ibcc_yaml_node *ends, *rate, *back;
};

static int read_link(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		     void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("ends", NODE, struct link_yaml, ends), .required = true },
		{ IBCC_YAML_MEMBER("rate", NODE, struct link_yaml, rate) },
		{ IBCC_YAML_MEMBER("rate_back", NODE, struct link_yaml, back) },
		{ .name = NULL },
	};
	static const char path[] = "topology.links";
	const struct topo_yaml *ty = arg;
	struct link_yaml ly = { .ends = n };
	uint32_t rate_mbps = ty->rate_mbps, back_mbps, at[2], node[2];
	const struct ibcc_yaml_node *end[2];
	uint8_t port[2];
	int i;

	(void)index;
	if (ibcc_yaml_is_map(n) && ibcc_yaml_read(y, n, path, keys, &ly, e))
		return -EINVAL;
	if (ly.rate && ibcc_scenario_read_rate(y, ly.rate, "topology.links.rate", &rate_mbps, e))
		return -EINVAL;
	back_mbps = rate_mbps;
	if (ly.back &&
	    ibcc_scenario_read_rate(y, ly.back, "topology.links.rate_back", &back_mbps, e))
		return -EINVAL;
	if (!ibcc_yaml_is_seq(ly.ends) || ibcc_yaml_length(ly.ends) != 2)
		return ibcc_yaml_want(y, e, ly.ends, path, "two ports as [NODE/PORT, NODE/PORT]");
	for (i = 0; i < 2; i++) {
		end[i] = ibcc_yaml_item(y, ly.ends, (size_t)i, NULL);
		if (ibcc_scenario_read_port(y, end[i], path, ty->topo, &node[i], &port[i], e))
			return -EINVAL;
		at[i] = ibcc_topo_port_index(ty->topo, node[i], port[i]);
		if (ty->topo->port[at[i]].peer != IBCC_NONE)
			return ibcc_yaml_want(y, e, end[i], path, "a port that has no link yet");
	}
	if (ibcc_topo_link(ty->topo, node[0], port[0], node[1], port[1], rate_mbps, mtu_bytes(ty)))
		return ibcc_yaml_want(y, e, end[1], path, "two different ports");
	ty->topo->port[at[1]].rate_mbps = back_mbps;
	for (i = 0; i < 2 && ly.rate; i++)
		ty->topo->port[at[i]].lanes =
			(uint8_t)ibcc_rate_lanes(ibcc_yaml_scalar(ly.rate), rate_mbps);
	return 0;
}

#define MAX_HOST_RATES 64u

struct tree_yaml {
	uint16_t ports;
	uint8_t levels;
	const struct ibcc_yaml_node *host_rates;
	uint32_t n_host_rates, host_mbps[MAX_HOST_RATES]; /* of the hosts' links in turn */
};

static uint32_t power(uint32_t base, unsigned int exp)
{
	uint64_t v = 1;

	while (exp--)
		if ((v *= base) > IBCC_LID_MAX)
			return IBCC_LID_MAX + 1;
	return (uint32_t)v;
}

/* An m-port n-tree has 2 (m/2)^n hosts and (2n - 1) (m/2)^(n-1) switches (X. Lin, Y. Chung,
 * T. Huang: A multiple LID routing scheme for fat-tree-based InfiniBand networks, 2004). With
 * h = m/2, switches of level 0 (roots) are numbered 0 .. h^(n-1) - 1 and those of each other level
 * 0 .. 2 h^(n-1) - 1; the number's digits to the base h, the first running to m below the roots,
 * are the paper's w0 w1 ... w(n-2). Switches of levels l and l + 1 are linked if their digits but
 * the l-th agree: port w'l of the upper with port wl + h of the lower.
 */
static int link_tree(const struct topo_yaml *ty, const struct tree_yaml *tree, uint32_t h,
		     unsigned int n, uint32_t row)
{
	struct ibcc_topo *t = ty->topo;
	uint32_t hosts = 2 * row * h, l, i, k, weight, upper, lower;

	for (i = 0; i < hosts; i++) {
		uint32_t per_leaf = n == 1 ? 2 * h : h;
		uint32_t leaf = n == 1 ? 0 : row + (n - 2) * 2 * row + i / per_leaf;

		if (ibcc_topo_link(t, hosts + leaf, i % per_leaf + 1, i, 1,
				   tree->n_host_rates ? tree->host_mbps[i % tree->n_host_rates]
						      : ty->rate_mbps,
				   mtu_bytes(ty)))
			return -EINVAL;
	}
	for (l = 0, weight = row; l + 1 < n; l++) {
		uint32_t up_first = hosts + (l ? row + (l - 1) * 2 * row : 0);
		uint32_t low_first = hosts + row + l * 2 * row;

		weight /= h; /* of digit l in a number */
		for (i = 0; i < (l ? 2 * row : row); i++) {
			uint32_t digit = i / weight % h; /* of level l's number: below h if l > 0 */

			for (k = 0; k < (l ? h : 2 * h); k++) {
				upper = up_first + i;
				lower = low_first + (i - digit * weight) + k * weight;
				if (ibcc_topo_link(t, upper, k + 1, lower, digit + h + 1,
						   ty->rate_mbps, mtu_bytes(ty)))
					return -EINVAL;
			}
		}
	}
	return 0;
}

static int build_tree(const struct topo_yaml *ty, const struct tree_yaml *tree, uint32_t h,
		      unsigned int n, uint32_t row)
{
	uint32_t i, l, hosts = 2 * row * h;
	char name[IBCC_NAME_BYTES];

	for (i = 0; i < hosts; i++) {
		snprintf(name, sizeof(name), "h%u", i);
		if (ibcc_topo_add_node(ty->topo, IBCC_SCENARIO_CA_GUID(i), IBCC_NODE_CA, 1, name) <
		    0)
			return -ENOMEM;
	}
	for (l = 0; l < n; l++) {
		for (i = 0; i < (l ? 2 * row : row); i++) {
			snprintf(name, sizeof(name), "s%u-%u", l, i);
			if (ibcc_topo_add_node(ty->topo,
					       IBCC_SCENARIO_SWITCH_GUID(ty->topo->n_nodes),
					       IBCC_NODE_SWITCH, 2 * h, name) < 0)
				return -ENOMEM;
		}
	}
	return link_tree(ty, tree, h, n, row);
}

static int add_host_rate(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			 unsigned int index, void *arg, struct ibcc_yaml_errors *e)
{
	struct tree_yaml *tree = arg;

	if (index >= MAX_HOST_RATES)
		return ibcc_yaml_want(y, e, n, "topology.tree.host_rates", "at most %u rates",
				      MAX_HOST_RATES);
	tree->n_host_rates = index + 1;
	return ibcc_scenario_read_rate(y, n, "topology.tree.host_rates", &tree->host_mbps[index],
				       e);
}

static int read_tree(const struct ibcc_yaml *y, const struct topo_yaml *ty,
		     struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("ports", UINT, struct tree_yaml, ports), .min = 2, .max = 254,
		  .want = "an even number from 2 to 254", .required = true },
		{ IBCC_YAML_MEMBER("levels", UINT, struct tree_yaml, levels), .min = 1, .max = 8,
		  .required = true },
		{ IBCC_YAML_MEMBER("host_rates", NODE, struct tree_yaml, host_rates) },
		{ .name = NULL },
	};
	static const char path[] = "topology.tree";
	struct tree_yaml tree = { 0 };
	uint32_t h, row;

	if (ibcc_yaml_read(y, ty->tree, path, keys, &tree, e))
		return -EINVAL;
	if (tree.host_rates && ibcc_scenario_each(y, tree.host_rates, "topology.tree.host_rates",
						  add_host_rate, &tree, e))
		return -EINVAL;
	if (tree.ports % 2)
		return ibcc_yaml_want(y, e, ibcc_yaml_get(y, ty->tree, "ports"),
				      "topology.tree.ports", "an even number from 2 to 254");
	h = tree.ports / 2u;
	row = power(h, tree.levels - 1u);
	if (row > IBCC_LID_MAX || 2ull * row * h + (2ull * tree.levels - 1) * row > IBCC_LID_MAX)
		return ibcc_yaml_want(y, e, ty->tree, path, "a tree of at most %u nodes",
				      IBCC_LID_MAX);
	return build_tree(ty, &tree, h, tree.levels, row);
}

/* The path of a file that the scenario names, which is searched beside the scenario. NULL: no
 * memory.
 */
static char *beside(const struct ibcc_yaml *y, const char *name)
{
	const char *file = ibcc_yaml_file(y), *slash = strrchr(file, '/');
	char *path = NULL;

	if (*name == '/' || !slash)
		return strdup(name);
	return asprintf(&path, "%.*s/%s", (int)(slash - file), file, name) < 0 ? NULL : path;
}

static int read_netfile(const struct ibcc_yaml *y, struct topo_yaml *ty, struct ibcc_yaml_errors *e)
{
	char *path = beside(y, ty->netfile);

	if (!path)
		return -ENOMEM;
	ibcc_topo_free(ty->topo);
	ty->topo = ibcc_netfile_load(path, e);
	free(path);
	return ty->topo ? 0 : -EINVAL;
}

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

/* `roots` (or NULL) of a topology with up/down routes into r->root. -EINVAL, -ENOMEM. */
static int read_roots(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		      const struct ibcc_topo *t, struct ibcc_scenario_routes *r,
		      struct ibcc_yaml_errors *e)
{
	struct roots roots = { t, r };
	size_t len = ibcc_yaml_is_seq(n) ? ibcc_yaml_length(n) : 1;

	if (!n)
		return 0;
	if (r->by != IBCC_ROUTES_UP_DOWN)
		return ibcc_yaml_want(y, e, n, "topology.roots",
				      "no roots without routes: up-down");
	r->root = calloc(len + 1, sizeof(*r->root));
	if (!r->root)
		return -ENOMEM;
	return ibcc_scenario_each(y, n, "topology.roots", add_root, &roots, e);
}

/* Reads the one form of a topology that the file has; r->grid is set if it is a grid. */
static int read_form(const struct ibcc_yaml *y, struct topo_yaml *ty,
		     struct ibcc_scenario_routes *r, struct ibcc_yaml_errors *e)
{
	const struct ibcc_scenario_links links = { ty->topo, ty->rate_mbps, mtu_bytes(ty) };
	const struct {
		const struct ibcc_yaml_node *n;
		const char *path;
		enum ibcc_grid_shape shape;
	} grid[] = { { ty->mesh, "topology.mesh", IBCC_GRID_MESH },
		     { ty->torus, "topology.torus", IBCC_GRID_TORUS },
		     { ty->hyperx, "topology.hyperx", IBCC_GRID_HYPERX } };
	int rc;

	if (ty->netfile[0])
		return read_netfile(y, ty, e);
	if (ty->tree)
		return read_tree(y, ty, e);
	if (ty->dragonfly)
		return ibcc_scenario_read_dragonfly(y, ty->dragonfly, &links, &r->groups, e);
	for (size_t i = 0; i < sizeof(grid) / sizeof(*grid); i++) {
		if (!grid[i].n)
			continue;
		r->grid.shape = grid[i].shape;
		return ibcc_scenario_read_grid(y, grid[i].n, grid[i].path, &links, &r->grid, e);
	}
	rc = ibcc_yaml_each(y, ty->nodes, "topology.nodes", read_node, ty, e);
	/* While nodes are missing, every link to one of them would be an error, too. */
	return rc || !ty->links ? rc
				: ibcc_yaml_each(y, ty->links, "topology.links", read_link, ty, e);
}

/* Whether the topology has the shape that its routes are for. `n` is the key. */
static int check_shape(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		       const struct ibcc_scenario_routes *r, struct ibcc_yaml_errors *e)
{
	static const char path[] = "topology.routes";

	switch (r->by) {
	case IBCC_ROUTES_SHORTEST:
	case IBCC_ROUTES_UP_DOWN:
	case IBCC_ROUTES_TABLES: return 0;
	case IBCC_ROUTES_IN_ORDER:
		if (r->grid.n_dims)
			return 0;
		return ibcc_yaml_want(y, e, n, path, "it with a mesh, torus or hyperx");
	case IBCC_ROUTES_DATELINES:
		if (r->grid.n_dims && r->grid.n_dims <= IBCC_ROUTE_DATELINES &&
		    r->grid.shape == IBCC_GRID_TORUS)
			return 0;
		return ibcc_yaml_want(y, e, n, path, "it with a torus of at most %u dimensions",
				      IBCC_ROUTE_DATELINES);
	case IBCC_ROUTES_MINIMAL:
		if (r->groups.size)
			return 0;
		return ibcc_yaml_want(y, e, n, path, "it with a dragonfly");
	}
	return 0;
}

struct ibcc_topo *ibcc_scenario_read_topo(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
					  struct ibcc_scenario_routes *routes,
					  struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("nodes", NODE, struct topo_yaml, nodes) },
		{ IBCC_YAML_MEMBER("links", NODE, struct topo_yaml, links) },
		{ IBCC_YAML_MEMBER("tree", NODE, struct topo_yaml, tree) },
		{ IBCC_YAML_MEMBER("mesh", NODE, struct topo_yaml, mesh) },
		{ IBCC_YAML_MEMBER("torus", NODE, struct topo_yaml, torus) },
		{ IBCC_YAML_MEMBER("hyperx", NODE, struct topo_yaml, hyperx) },
		{ IBCC_YAML_MEMBER("dragonfly", NODE, struct topo_yaml, dragonfly) },
		{ IBCC_YAML_MEMBER("netfile", STRING, struct topo_yaml, netfile) },
		{ IBCC_YAML_MEMBER("rate", NODE, struct topo_yaml, rate) },
		{ IBCC_YAML_MEMBER("mtu_bytes", ENUM, struct topo_yaml, mtu), .names = mtus },
		{ IBCC_YAML_MEMBER("routes", ENUM, struct topo_yaml, routes),
		  .names = routes_words },
		{ IBCC_YAML_MEMBER("roots", NODE, struct topo_yaml, roots) },
		{ IBCC_YAML_MEMBER("tables", STRING, struct topo_yaml, tables) },
		{ IBCC_YAML_MEMBER("paths", STRING, struct topo_yaml, paths) },
		{ .name = NULL },
	};
	struct topo_yaml ty = { .mtu = 3 };
	int rc = -EINVAL, forms;

	ibcc_rate_parse("4x QDR", &ty.rate_mbps);
	ty.topo = ibcc_topo_new();
	if (!ty.topo) {
		ibcc_yaml_error(y, e, n, "topology", "%s", strerror(ENOMEM));
		return NULL;
	}
	if (ibcc_yaml_read(y, n, "topology", keys, &ty, e))
		goto out;
	if (ty.rate && ibcc_scenario_read_rate(y, ty.rate, "topology.rate", &ty.rate_mbps, e))
		goto out;
	ty.lanes = ibcc_rate_lanes(ty.rate ? ibcc_yaml_scalar(ty.rate) : NULL, ty.rate_mbps);
	forms = !!ty.nodes + !!ty.tree + !!ty.mesh + !!ty.torus + !!ty.hyperx + !!ty.dragonfly +
		!!ty.netfile[0];
	if (forms != 1 || (ty.links && !ty.nodes)) {
		ibcc_yaml_want(y, e, n, "topology",
			       "one of nodes (with links), tree, mesh, torus, hyperx, dragonfly or "
			       "netfile");
		goto out;
	}
	rc = read_form(y, &ty, routes, e);
	routes->by = (enum ibcc_scenario_routing)ty.routes;
	if (!rc && ty.tables[0]) {
		if (ibcc_yaml_get(y, n, "routes"))
			rc = ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "tables"), "topology.tables",
					    "either tables or routes");
		routes->by = IBCC_ROUTES_TABLES;
		routes->tables = beside(y, ty.tables);
		if (!routes->tables)
			rc = -ENOMEM;
	}
	if (!rc && ty.paths[0]) {
		if (!ty.tables[0])
			rc = ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "paths"), "topology.paths",
					    "it with topology.tables, whose LIDs it has");
		routes->paths = beside(y, ty.paths);
		if (!routes->paths)
			rc = -ENOMEM;
	}
	if (!rc)
		rc = check_shape(y, ibcc_yaml_get(y, n, "routes"), routes, e);
	if (!rc)
		rc = read_roots(y, ty.roots, ty.topo, routes, e);
	if (rc == -ENOMEM)
		ibcc_yaml_error(y, e, n, "topology", "%s", strerror(ENOMEM));
	for (uint32_t i = 0; !rc && i < ty.topo->n_ports; i++) {
		uint32_t mbps = ibcc_topo_link_mbps(ty.topo, i);

		if (ty.topo->port[i].peer != IBCC_NONE && !ty.topo->port[i].lanes)
			ty.topo->port[i].lanes =
				(uint8_t)(mbps == ty.rate_mbps ? ty.lanes
							       : ibcc_rate_lanes(NULL, mbps));
	}
out:
	if (rc) {
		ibcc_topo_free(ty.topo);
		return NULL;
	}
	return ty.topo;
}
