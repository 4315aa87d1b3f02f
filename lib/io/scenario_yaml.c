/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files: the whole, and the models of switches and channel adapters.
 *
 * The parts are read in the order in which they need each other, not in the file's; errors come
 * out in the file's order nevertheless.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/route.h>
#include <ibcc/scenario_file.h>

#include "scenario_parts.h"

#define MAX_BUFFER_BYTES (64u << 20)
#define MAX_DELAY_NS     1e9

struct scenario_yaml {
	char name[IBCC_NAME_BYTES];
	char title[sizeof(((struct ibcc_scenario *)0)->title)];
	uint64_t seed;
	double duration_ms, measure_from_ms;
	const struct ibcc_yaml_node *topology, *model, *traffic, *events, *cc, *no_cc;
};

struct model_yaml {
	struct ibcc_model m;
	double link_delay_ns, switch_delay_ns, credit_delay_ns, becn_delay_ns;
	int hca_service;
};

static uint64_t ns_to_ps(double ns)
{
	return (uint64_t)(ns * (double)IBCC_PS_PER_NS + 0.5);
}

static int check_buffer(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *key,
			uint32_t bytes, const struct ibcc_model *m, struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *at = ibcc_yaml_get(y, n, key);
	uint32_t packet = m->packet_bytes + m->header_bytes;

	if (bytes >= packet)
		return 0;
	ibcc_yaml_error(y, e, at ? at : n, key,
			"got %u bytes, want at least a packet with its header, %u", bytes, packet);
	return -EINVAL;
}

static int read_model(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		      struct ibcc_model *m, struct ibcc_yaml_errors *e)
{
	static const char *const services[] = { "arrival", "round-robin", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("packet_bytes", UINT, struct model_yaml, m.packet_bytes),
		  .min = 64, .max = 4096 },
		{ IBCC_YAML_MEMBER("header_bytes", UINT, struct model_yaml, m.header_bytes),
		  .max = 256 },
		{ IBCC_YAML_MEMBER("buffer_bytes", UINT, struct model_yaml, m.buffer_bytes),
		  .min = 64, .max = MAX_BUFFER_BYTES },
		{ IBCC_YAML_MEMBER("hca_buffer_bytes", UINT, struct model_yaml, m.hca_buffer_bytes),
		  .min = 64, .max = MAX_BUFFER_BYTES },
		{ IBCC_YAML_MEMBER("link_delay_ns", DOUBLE, struct model_yaml, link_delay_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("switch_delay_ns", DOUBLE, struct model_yaml, switch_delay_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("credit_delay_ns", DOUBLE, struct model_yaml, credit_delay_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("mark_reference_bytes", UINT, struct model_yaml,
				   m.mark_reference_bytes),
		  .max = MAX_BUFFER_BYTES },
		{ IBCC_YAML_MEMBER("mark_hysteresis_permille", UINT, struct model_yaml,
				   m.mark_hysteresis_permille),
		  .max = 1000 },
		{ IBCC_YAML_MEMBER("hca_service", ENUM, struct model_yaml, hca_service),
		  .names = services },
		{ IBCC_YAML_MEMBER("becn_delay_ns", DOUBLE, struct model_yaml, becn_delay_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("acks", BOOL, struct model_yaml, m.acks) },
		{ IBCC_YAML_MEMBER("ack_bytes", UINT, struct model_yaml, m.ack_bytes), .min = 16,
		  .max = 4096 },
		{ IBCC_YAML_MEMBER("vls", UINT, struct model_yaml, m.vls), .min = 1, .max = 15 },
		{ IBCC_YAML_MEMBER("cct_blocks", UINT, struct model_yaml, m.cct_blocks), .min = 1,
		  .max = IBCC_CCT_MAX_BLOCKS },
		{ IBCC_YAML_MEMBER("wait_tick", UINT, struct model_yaml, m.wait_tick) },
		{ .name = NULL },
	};
	struct model_yaml my = {
		.m = *m,
		.link_delay_ns = (double)m->link_delay_ps / (double)IBCC_PS_PER_NS,
		.switch_delay_ns = (double)m->switch_delay_ps / (double)IBCC_PS_PER_NS,
		.credit_delay_ns = (double)m->credit_delay_ps / (double)IBCC_PS_PER_NS,
		.becn_delay_ns = (double)m->becn_delay_ps / (double)IBCC_PS_PER_NS,
		.hca_service = (int)m->hca_service,
	};
	unsigned int before = e->n;

	if (ibcc_yaml_read(y, n, "model", keys, &my, e))
		return -EINVAL;
	*m = my.m;
	m->link_delay_ps = ns_to_ps(my.link_delay_ns);
	m->switch_delay_ps = ns_to_ps(my.switch_delay_ns);
	m->credit_delay_ps = ns_to_ps(my.credit_delay_ns);
	m->becn_delay_ps = ns_to_ps(my.becn_delay_ns);
	m->hca_service = (enum ibcc_hca_service)my.hca_service;
	check_buffer(y, n, "buffer_bytes", m->buffer_bytes, m, e);
	check_buffer(y, n, "hca_buffer_bytes", m->hca_buffer_bytes, m, e);
	return e->n == before ? 0 : -EINVAL;
}

static int add_no_cc(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		     void *arg, struct ibcc_yaml_errors *e)
{
	struct ibcc_scenario *s = arg;
	uint32_t node;
	int rc = ibcc_scenario_read_node(y, n, "no_congestion_control", s->topo, &node, e);

	(void)index;
	if (rc || node == IBCC_NONE)
		return rc;
	snprintf(s->no_cc[s->n_no_cc++], IBCC_NAME_BYTES, "%s", ibcc_yaml_scalar(n));
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

/* LIDs and routes, VLs, and whether packets fit the links. */
static int finish_topo(const struct ibcc_yaml *y, const struct scenario_yaml *sy,
		       struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	struct ibcc_topo *t = s->topo;
	uint32_t i;
	int rc;

	for (i = 0; i < t->n_ports; i++) {
		t->port[i].op_vls = s->model.vls;
		if (t->port[i].peer != IBCC_NONE && t->port[i].mtu_bytes < s->model.packet_bytes) {
			const struct ibcc_yaml_node *at =
				ibcc_yaml_get(y, sy->model, "packet_bytes");

			ibcc_yaml_error(y, e, at ? at : sy->topology,
					at ? "model.packet_bytes" : "topology.mtu_bytes",
					"got packets of %u bytes, want at most the MTU, %u",
					s->model.packet_bytes, t->port[i].mtu_bytes);
			return -EINVAL;
		}
	}
	rc = ibcc_route_compute(t);
	if (rc == -ENETUNREACH)
		ibcc_yaml_error(y, e, sy->topology, "topology",
				"want links between all nodes: some cannot be reached from others");
	else if (rc)
		ibcc_yaml_error(y, e, sy->topology, "topology", "cannot be routed: %s",
				strerror(-rc));
	return rc;
}

static void read_parts(const struct ibcc_yaml *y, const struct scenario_yaml *sy,
		       struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	int rc = 0;

	if (sy->model)
		rc = read_model(y, sy->model, &s->model, e);
	if (sy->topology)
		s->topo = ibcc_scenario_read_topo(y, sy->topology, e);
	if (s->topo && !rc)
		finish_topo(y, sy, s, e);
	if (sy->traffic && ibcc_scenario_read_traffic(y, sy->traffic, s, e) == -ENOMEM)
		ibcc_yaml_error(y, e, sy->traffic, "traffic", "%s", strerror(ENOMEM));
	if (sy->events && ibcc_scenario_read_events(y, sy->events, s, e) == -ENOMEM)
		ibcc_yaml_error(y, e, sy->events, "events", "%s", strerror(ENOMEM));
	if (sy->cc)
		ibcc_scenario_read_cc(y, sy->cc, s, e);
	if (sy->no_cc && read_no_cc(y, sy->no_cc, s, e) == -ENOMEM)
		ibcc_yaml_error(y, e, sy->no_cc, "no_congestion_control", "%s", strerror(ENOMEM));
}

static int read_scenario(const struct ibcc_yaml *y, struct ibcc_scenario *s,
			 struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct scenario_yaml, name), .required = true,
		  .want = "a short name" },
		{ IBCC_YAML_MEMBER("title", STRING, struct scenario_yaml, title) },
		{ IBCC_YAML_MEMBER("seed", UINT, struct scenario_yaml, seed) },
		{ IBCC_YAML_MEMBER("duration_ms", DOUBLE, struct scenario_yaml, duration_ms),
		  .min = 0.001, .max = IBCC_SCENARIO_MAX_MS, .required = true },
		{ IBCC_YAML_MEMBER("measure_from_ms", DOUBLE, struct scenario_yaml,
				   measure_from_ms),
		  .max = IBCC_SCENARIO_MAX_MS },
		{ IBCC_YAML_MEMBER("topology", NODE, struct scenario_yaml, topology),
		  .required = true, .want = "nodes with links, tree, or netfile" },
		{ IBCC_YAML_MEMBER("model", NODE, struct scenario_yaml, model) },
		{ IBCC_YAML_MEMBER("traffic", NODE, struct scenario_yaml, traffic),
		  .required = true, .want = "a list of flows" },
		{ IBCC_YAML_MEMBER("events", NODE, struct scenario_yaml, events) },
		{ IBCC_YAML_MEMBER("congestion_control", NODE, struct scenario_yaml, cc) },
		{ IBCC_YAML_MEMBER("no_congestion_control", NODE, struct scenario_yaml, no_cc) },
		{ .name = NULL },
	};
	const struct ibcc_yaml_node *root = ibcc_yaml_root(y);
	struct scenario_yaml sy = { .seed = 1 };
	unsigned int before = e->n;

	ibcc_yaml_read(y, root, NULL, keys, &sy, e);
	if (sy.measure_from_ms >= sy.duration_ms && sy.duration_ms > 0)
		ibcc_yaml_want(y, e, ibcc_yaml_get(y, root, "measure_from_ms"), "measure_from_ms",
			       "less than duration_ms");
	ibcc_model_defaults(&s->model);
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
	/* The rest is checked in spite of that: all errors at once. */
	bad = read_scenario(y, &read, e);
	rc = rc ? rc : bad;
	if (rc)
		ibcc_scenario_fini(&read);
	else
		*s = read;
	ibcc_yaml_free(y);
	return rc;
}
