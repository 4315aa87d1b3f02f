/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads a scenario file. Each part of it is read by a file of its own (scenario_parts.h).
 *
 * The parts are read in the order in which they need each other, not in the file's; errors are
 * nevertheless reported in the file's order.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/route.h>
#include <ibcc/scenario_file.h>

#include "scenario_parts.h"

struct scenario_yaml {
	char name[IBCC_NAME_BYTES];
	char title[sizeof(((struct ibcc_scenario *)0)->title)];
	uint64_t seed;
	double duration_ms, measure_from_ms;
	const struct ibcc_yaml_node *topology, *model, *bcn, *dcqcn, *traffic, *events, *cc, *no_cc,
		*devices, *hosts, *verbs;
};

static int add_no_cc(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		     void *arg, struct ibcc_yaml_errors *e)
{
	struct ibcc_scenario *s = arg;
	uint32_t node;
	int rc = ibcc_scenario_read_node(y, n, "no_congestion_control", s->topo, &node, e);

	(void)index;
	if (rc || node == IBCC_NONE)
		return rc;
	ibcc_topo_node_text(s->topo, node, s->no_cc[s->n_no_cc++]);
	return 0;
}

static int read_no_cc(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		      struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	size_t len = ibcc_yaml_length(n);

	s->no_cc = calloc(len ? len : 1, sizeof(*s->no_cc));
	if (!s->no_cc)
		return -ENOMEM;
	return ibcc_yaml_each(y, n, "no_congestion_control", add_no_cc, s, e);
}

/* The key and the value that ask for these routes. */
static const char *routes_text(enum ibcc_scenario_routing by)
{
	switch (by) {
	case IBCC_ROUTES_SHORTEST: return "routes shortest";
	case IBCC_ROUTES_UP_DOWN: return "routes up-down";
	case IBCC_ROUTES_IN_ORDER: return "routes dimension-order";
	case IBCC_ROUTES_DATELINES: return "routes datelines";
	case IBCC_ROUTES_MINIMAL: return "routes minimal";
	case IBCC_ROUTES_TABLES: return "tables";
	}
	return "";
}

/* Sets LIDs, routes and VLs, and checks whether packets fit the links. */
static int finish_topo(const struct ibcc_yaml *y, const struct scenario_yaml *sy,
		       const struct ibcc_scenario_routes *routes, struct ibcc_scenario *s,
		       struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *fabric = sy->topology ? sy->topology : sy->hosts;
	struct ibcc_topo *t = s->topo;
	uint32_t i;
	int rc = -EINVAL;

	if (routes->by && s->model.routing != IBCC_ROUTING_STATIC)
		return ibcc_yaml_want(y, e, ibcc_yaml_get(y, sy->model, "routing"), "model.routing",
				      "static with topology.%s", routes_text(routes->by));
	if ((routes->by == IBCC_ROUTES_DATELINES || routes->by == IBCC_ROUTES_MINIMAL) &&
	    s->model.vls < 2)
		return ibcc_yaml_want(y, e, ibcc_yaml_get(y, sy->topology, "routes"),
				      "topology.routes", "model.vls: 2 or more with it");
	for (i = 0; i < t->n_ports; i++) {
		t->port[i].op_vls = s->model.vls;
		if (t->port[i].peer != IBCC_NONE && t->port[i].mtu_bytes < s->model.packet_bytes) {
			const struct ibcc_yaml_node *at =
				ibcc_yaml_get(y, sy->model, "packet_bytes");

			ibcc_yaml_error(y, e, at ? at : fabric,
					at ? "model.packet_bytes" : "topology.mtu_bytes",
					"got packets of %u bytes, want at most the MTU, %u",
					s->model.packet_bytes, t->port[i].mtu_bytes);
			return -EINVAL;
		}
	}
	switch (routes->by) {
	case IBCC_ROUTES_SHORTEST: rc = ibcc_route_compute(t); break;
	case IBCC_ROUTES_UP_DOWN:
		rc = ibcc_route_compute_up_down(t, routes->root, routes->n_roots);
		break;
	case IBCC_ROUTES_IN_ORDER: rc = ibcc_route_compute_in_order(t, &routes->grid); break;
	case IBCC_ROUTES_DATELINES:
		s->sls.datelines = routes->grid;
		rc = ibcc_route_compute_in_order(t, &routes->grid);
		if (!rc)
			rc = ibcc_route_set_datelines(t, &routes->grid);
		break;
	case IBCC_ROUTES_MINIMAL: rc = ibcc_route_compute_minimal(t, &routes->groups); break;
	case IBCC_ROUTES_TABLES:
		rc = ibcc_forwarding_load(routes->tables, t, e);
		if (!rc && routes->paths)
			rc = ibcc_path_records_load(routes->paths, t, &s->sls, e);
		return rc;
	}
	if (rc)
		ibcc_yaml_error(y, e, fabric, "topology", "cannot be routed: %s", strerror(-rc));
	return rc;
}

/* Checks that the hosts of a plan are hosts of its topology, under the names that traffic uses. */
static void check_hosts(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	for (uint32_t i = 0; i < s->verbs.n_hosts; i++) {
		struct ibcc_verbs_host *h = &s->verbs.host[i];
		const struct ibcc_yaml_node *at = ibcc_yaml_item(y, n, i, NULL);
		char text[IBCC_NODE_TEXT_BYTES];
		uint32_t node;

		if (ibcc_scenario_find_node(y, at, "hosts", s->topo, h->name, &node, e))
			continue;
		if (ibcc_topo_is_switch(s->topo, node)) {
			ibcc_yaml_want(y, e, at, "hosts", "a host, and %s is a switch", h->name);
			continue;
		}
		ibcc_topo_node_text(s->topo, node, text);
		if (strcmp(h->name, text) && !*h->address)
			snprintf(h->address, sizeof(h->address), "%s", h->name);
		memcpy(h->name, text, sizeof(h->name));
		for (uint32_t k = 0; k < i; k++)
			if (!strcmp(s->verbs.host[k].name, text))
				ibcc_yaml_want(y, e, at, "hosts", "each host once");
	}
}

static void read_parts(const struct ibcc_yaml *y, const struct scenario_yaml *sy,
		       struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	struct ibcc_scenario_routes routes = { .root = NULL };
	int rc = 0, hosts_rc = 0;
	bool routed = false;

	if (sy->model)
		rc = ibcc_scenario_read_model(y, sy->model, &s->model, e);
	if (sy->bcn && !rc)
		ibcc_scenario_read_bcn(y, sy->bcn, &s->model, e);
	if (sy->dcqcn && !rc)
		ibcc_scenario_read_dcqcn(y, sy->dcqcn, &s->model, e);
	if (sy->verbs)
		ibcc_scenario_read_verbs(y, sy->verbs, s, e);
	if (sy->hosts)
		hosts_rc = ibcc_scenario_read_hosts(y, sy->hosts, s, e);
	if (sy->topology)
		s->topo = ibcc_scenario_read_topo(y, sy->topology, &routes, e);
	else if (sy->hosts && !hosts_rc)
		s->topo = ibcc_scenario_star(&s->verbs);
	if ((sy->hosts && hosts_rc == -ENOMEM) ||
	    (!sy->topology && sy->hosts && !hosts_rc && !s->topo))
		ibcc_yaml_error(y, e, sy->hosts, "hosts", "%s", strerror(ENOMEM));
	if (sy->topology && s->topo && !hosts_rc)
		check_hosts(y, sy->hosts, s, e);
	if (s->topo && !rc)
		routed = !finish_topo(y, sy, &routes, s, e);
	free(routes.root);
	free(routes.tables);
	free(routes.paths);
	if (sy->traffic && ibcc_scenario_read_traffic(y, sy->traffic, s, routed, e) == -ENOMEM)
		ibcc_yaml_error(y, e, sy->traffic, "traffic", "%s", strerror(ENOMEM));
	if (sy->events && ibcc_scenario_read_events(y, sy->events, s, e) == -ENOMEM)
		ibcc_yaml_error(y, e, sy->events, "events", "%s", strerror(ENOMEM));
	if (sy->cc)
		ibcc_scenario_read_cc(y, sy->cc, s, e);
	if (ibcc_scenario_sls_key(s) && sy->dcqcn && ibcc_yaml_get(y, sy->dcqcn, "cnp_sl"))
		ibcc_yaml_want(y, e, ibcc_yaml_get(y, sy->dcqcn, "cnp_sl"), "dcqcn.cnp_sl",
			       "no cnp_sl with %s, by which each path has an SL",
			       ibcc_scenario_sls_key(s));
	if (s->cc.enabled && s->model.dcqcn.enabled)
		ibcc_yaml_error(y, e, sy->dcqcn, "dcqcn",
				"want congestion_control or dcqcn, not both enabled");
	if (sy->no_cc && read_no_cc(y, sy->no_cc, s, e) == -ENOMEM)
		ibcc_yaml_error(y, e, sy->no_cc, "no_congestion_control", "%s", strerror(ENOMEM));
	if (sy->devices && ibcc_scenario_read_devices(y, sy->devices, s, e) == -ENOMEM)
		ibcc_yaml_error(y, e, sy->devices, "devices", "%s", strerror(ENOMEM));
}

static int read_scenario(const struct ibcc_yaml *y, struct ibcc_scenario *s,
			 struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *root = ibcc_yaml_root(y);
	const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct scenario_yaml, name), .required = true,
		  .want = "a short name" },
		{ IBCC_YAML_MEMBER("title", STRING, struct scenario_yaml, title) },
		{ IBCC_YAML_MEMBER("seed", UINT, struct scenario_yaml, seed) },
		{ IBCC_YAML_MEMBER("duration_ms", DOUBLE, struct scenario_yaml, duration_ms),
		  .min = 0.001, .max = IBCC_SCENARIO_MAX_MS, .required = true },
		{ IBCC_YAML_MEMBER("measure_from_ms", DOUBLE, struct scenario_yaml,
				   measure_from_ms),
		  .max = IBCC_SCENARIO_MAX_MS },
		/* Hosts without a topology are at one switch. */
		{ IBCC_YAML_MEMBER("topology", NODE, struct scenario_yaml, topology),
		  .required = !ibcc_yaml_get(y, root, "hosts"),
		  .want = "one of nodes (with links), tree, mesh, torus, hyperx, dragonfly or "
			  "netfile" },
		{ IBCC_YAML_MEMBER("model", NODE, struct scenario_yaml, model) },
		{ IBCC_YAML_MEMBER("bcn", NODE, struct scenario_yaml, bcn) },
		{ IBCC_YAML_MEMBER("dcqcn", NODE, struct scenario_yaml, dcqcn) },
		{ IBCC_YAML_MEMBER("traffic", NODE, struct scenario_yaml, traffic),
		  .required = true, .want = "a list of flows" },
		{ IBCC_YAML_MEMBER("events", NODE, struct scenario_yaml, events) },
		{ IBCC_YAML_MEMBER("congestion_control", NODE, struct scenario_yaml, cc) },
		{ IBCC_YAML_MEMBER("no_congestion_control", NODE, struct scenario_yaml, no_cc) },
		{ IBCC_YAML_MEMBER("devices", NODE, struct scenario_yaml, devices) },
		{ IBCC_YAML_MEMBER("hosts", NODE, struct scenario_yaml, hosts) },
		{ IBCC_YAML_MEMBER("verbs", NODE, struct scenario_yaml, verbs) },
		{ .name = NULL },
	};
	struct scenario_yaml sy = { .seed = 1 };
	unsigned int before = e->n;

	ibcc_yaml_read(y, root, NULL, keys, &sy, e);
	if (sy.measure_from_ms >= sy.duration_ms && sy.duration_ms > 0)
		ibcc_yaml_want(y, e, ibcc_yaml_get(y, root, "measure_from_ms"), "measure_from_ms",
			       "less than duration_ms");
	ibcc_model_defaults(&s->model);
	ibcc_verbs_defaults(&s->verbs);
	read_parts(y, &sy, s, e);
	memcpy(s->name, sy.name, sizeof(s->name));
	memcpy(s->title, sy.title, sizeof(s->title));
	s->seed = sy.seed;
	s->duration_ps = ibcc_scenario_ps(sy.duration_ms);
	s->measure_from_ps = ibcc_scenario_ps(sy.measure_from_ms);
	return e->n == before ? 0 : -EINVAL;
}

int ibcc_scenario_load(const char *file, struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	return ibcc_scenario_load_set(file, NULL, 0, s, e);
}

int ibcc_scenario_load_set(const char *file, const char *const *set, size_t n_set,
			   struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	struct ibcc_scenario read = { .topo = NULL };
	struct ibcc_yaml *y = ibcc_yaml_load(file, NULL, e);
	int rc = 0, bad;
	size_t i;

	if (!y)
		return -errno;
	for (i = 0; i < n_set; i++) {
		bad = ibcc_yaml_set(y, set[i], e);
		rc = rc ? rc : bad;
	}
	/* The rest is checked in spite of that, to report all errors at once. */
	bad = read_scenario(y, &read, e);
	rc = rc ? rc : bad;
	if (rc)
		ibcc_scenario_fini(&read);
	else
		*s = read;
	ibcc_yaml_free(y);
	return rc;
}
