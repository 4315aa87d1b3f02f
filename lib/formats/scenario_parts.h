/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The parts of a scenario file; each is read by a file of its own. */
#ifndef IBCC_FORMATS_SCENARIO_PARTS_H
#define IBCC_FORMATS_SCENARIO_PARTS_H

#include <ibcc/route.h>
#include <ibcc/scenario.h>
#include <ibcc/yaml.h>

#define IBCC_SCENARIO_FLOWS_MAX       100000u
#define IBCC_SCENARIO_EVENTS_MAX      10000u
#define IBCC_SCENARIO_HOSTS_MAX       254u /* ports of a switch */
#define IBCC_SCENARIO_QUEUE_PAIRS_MAX 256u
#define IBCC_SCENARIO_PACKET_MIN      64u /* bytes of payload */
#define IBCC_SCENARIO_PACKET_MAX      4096u
#define IBCC_SCENARIO_BUFFER_MAX      67108864u

/* Longest time in a scenario, in milliseconds. A double holds it exact to the picosecond. */
#define IBCC_SCENARIO_MAX_MS 1e6

static inline uint64_t ibcc_scenario_ps(double ms)
{
	return (uint64_t)(ms * 1e9 + 0.5);
}

/* Model, BCN and DCQCN over the defaults in *m, in this order. */
int ibcc_scenario_read_model(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     struct ibcc_model *m, struct ibcc_yaml_errors *e);
int ibcc_scenario_read_bcn(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			   struct ibcc_model *m, struct ibcc_yaml_errors *e);
int ibcc_scenario_read_dcqcn(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     struct ibcc_model *m, struct ibcc_yaml_errors *e);

/* How the topology of a scenario is to be routed. */
struct ibcc_scenario_routes {
	enum ibcc_scenario_routing {
		IBCC_ROUTES_SHORTEST,
		IBCC_ROUTES_UP_DOWN,
		IBCC_ROUTES_IN_ORDER,  /* by dimensions */
		IBCC_ROUTES_DATELINES, /* the same in a torus, with two VLs */
		IBCC_ROUTES_MINIMAL,   /* of a dragonfly, with two VLs */
		IBCC_ROUTES_TABLES,    /* forwarding tables from a file */
	} by;
	struct ibcc_route_grid grid;     /* no dimensions: the topology is no grid */
	struct ibcc_route_groups groups; /* size 0: it is no dragonfly */
	uint32_t *root, n_roots;         /* owned; node indices */
	char *tables;                    /* owned; path of that file */
	char *paths; /* owned; of that with SLs, or NULL: packets have their flow's */
};

/* The key that gives each path an SL; NULL: packets have the SLs of their flows. */
static inline const char *ibcc_scenario_sls_key(const struct ibcc_scenario *s)
{
	return s->sls.datelines.n_dims ? "topology.routes datelines"
	       : s->sls.by_ends        ? "topology.paths"
				       : NULL;
}

/* The topology: built, without LIDs but those of a netfile, without routes. NULL with errors. */
struct ibcc_topo *ibcc_scenario_read_topo(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
					  struct ibcc_scenario_routes *routes,
					  struct ibcc_yaml_errors *e);

/* GUIDs of nodes that have none of their own. Those of channel adapters leave room for their
 * ports'.
 */
#define IBCC_SCENARIO_SWITCH_GUID(i) (0x100000000ull + (i) + 1)
#define IBCC_SCENARIO_CA_GUID(i)     (0x200000000ull + ((uint64_t)(i) + 1) * 0x100)

/* What links of a generated topology have. */
struct ibcc_scenario_links {
	struct ibcc_topo *topo;
	uint32_t rate_mbps;
	uint16_t mtu_bytes;
};

/* Generates a mesh, torus or HyperX of g->shape into l->topo, which is empty, and sets *g. */
int ibcc_scenario_read_grid(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, const struct ibcc_scenario_links *l,
			    struct ibcc_route_grid *g, struct ibcc_yaml_errors *e);
/* Generates a dragonfly; *g has its groups. */
int ibcc_scenario_read_dragonfly(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
				 const struct ibcc_scenario_links *l, struct ibcc_route_groups *g,
				 struct ibcc_yaml_errors *e);

/* Flows and events into s; names are checked against s->topo unless that is NULL (it had errors).
 * `routed`: it has LIDs and routes. Then each flow must have one, and those of all flows must not
 * make outputs wait for each other in a circle.
 */
int ibcc_scenario_read_traffic(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			       struct ibcc_scenario *s, bool routed, struct ibcc_yaml_errors *e);
int ibcc_scenario_read_events(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			      struct ibcc_scenario *s, struct ibcc_yaml_errors *e);

/* Reads static congestion control settings into s->cc. */
int ibcc_scenario_read_cc(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			  struct ibcc_scenario *s, struct ibcc_yaml_errors *e);

/* Reads which devices the nodes are into s->profile, and the devices' IDs into s->topo. Nodes
 * without congestion control are added to s->no_cc. -EINVAL, -ENOMEM.
 */
int ibcc_scenario_read_devices(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			       struct ibcc_scenario *s, struct ibcc_yaml_errors *e);

/* Reads the hosts of a plan, with names that differ, and how the plan uses verbs. Into s->verbs,
 * which has its defaults. -EINVAL, -ENOMEM.
 */
int ibcc_scenario_read_hosts(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     struct ibcc_scenario *s, struct ibcc_yaml_errors *e);
int ibcc_scenario_read_verbs(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     struct ibcc_scenario *s, struct ibcc_yaml_errors *e);
/* Words of enum ibcc_verbs_operation, ending with NULL. */
extern const char *const ibcc_scenario_operations[];

/* The fabric of a plan that names none: its hosts at one switch, by links of 4X QDR. NULL
 * without memory.
 */
struct ibcc_topo *ibcc_scenario_star(const struct ibcc_verbs_plan *v);

/* A rate as ibcc_rate_parse() reads it. */
int ibcc_scenario_read_rate(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, uint32_t *mbps, struct ibcc_yaml_errors *e);

/* Index of the node that a scalar names. *node is IBCC_NONE, without error, if t is NULL. */
int ibcc_scenario_read_node(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, const struct ibcc_topo *t, uint32_t *node,
			    struct ibcc_yaml_errors *e);

/* Index of the node named `text`; errors are reported at n. */
int ibcc_scenario_find_node(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, const struct ibcc_topo *t, const char *text,
			    uint32_t *node, struct ibcc_yaml_errors *e);

/* Reads a place as NODE/PORT; NODE alone stands for port 1 of a channel adapter. */
int ibcc_scenario_read_port(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			    const char *path, const struct ibcc_topo *t, uint32_t *node,
			    uint8_t *port, struct ibcc_yaml_errors *e);

/* Calls fn with each element of a list, or once with n if it is no list. */
int ibcc_scenario_each(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		       int (*fn)(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
				 unsigned int index, void *arg, struct ibcc_yaml_errors *e),
		       void *arg, struct ibcc_yaml_errors *e);

#endif
