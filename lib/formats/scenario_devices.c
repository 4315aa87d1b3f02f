/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which devices the nodes of a scenario are: all hosts, all switches, and single nodes that
 * differ.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/guess.h>
#include <ibcc/link.h>

#include "scenario_parts.h"

#define NO_OTHER (-1) /* no profile is named */

/* An entry: a profile, and what differs from it. */
struct device_yaml {
	int profile;        /* place among the names, or NO_OTHER */
	uint8_t plain_tick; /* of the model */
	struct ibcc_profile p;
	bool xmit_wait, a10;
	uint32_t buffer_bytes; /* 0: the model's */
};

struct devices {
	struct ibcc_scenario *s;
	struct device_yaml *node; /* by index */
};

static void begin(struct device_yaml *d, const struct ibcc_profile *p, uint8_t plain_tick)
{
	*d = (struct device_yaml){
		NO_OTHER, plain_tick, *p, !p->no_wait, true, d->buffer_bytes,
	};
	if (!p->vendor_id)
		d->p.tick = plain_tick;
}

static const char *profile_candidate(const void *arg, size_t i)
{
	(void)arg;
	return ibcc_profile_names[i];
}

static int read_name(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		     struct device_yaml *d, struct ibcc_yaml_errors *e)
{
	const char *s = ibcc_yaml_scalar(n), *guess;
	int i;

	for (i = 0; s && ibcc_profile_names[i]; i++)
		if (!strcmp(s, ibcc_profile_names[i])) {
			begin(d, ibcc_profile((unsigned int)i), d->plain_tick);
			return 0;
		}
	guess = s ? ibcc_guess_word(s, profile_candidate, NULL, (size_t)i) : NULL;
	if (guess)
		return ibcc_yaml_want(y, e, n, path,
				      "a profile, or a mapping of keys (did you mean %s?)", guess);
	return ibcc_yaml_want(y, e, n, path, "a profile, or a mapping of keys");
}

/* Reads an entry over what is in *d. A profile replaces all of *d, wherever among the keys it
 * stands.
 */
static int read_device(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		       struct device_yaml *d, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("profile", ENUM, struct device_yaml, profile),
		  .names = ibcc_profile_names },
		{ IBCC_YAML_MEMBER("xmit_wait", BOOL, struct device_yaml, xmit_wait) },
		{ IBCC_YAML_MEMBER("a10", BOOL, struct device_yaml, a10) },
		{ IBCC_YAML_MEMBER("tick", UINT, struct device_yaml, p.tick) },
		{ IBCC_YAML_MEMBER("wait_bytes", UINT, struct device_yaml, p.wait_bytes), .min = 1,
		  .max = 65535 },
		{ IBCC_YAML_MEMBER("cc_key", UINT, struct device_yaml, p.cc_key),
		  .max = (double)UINT64_MAX },
		{ IBCC_YAML_MEMBER("cc_key_protect", BOOL, struct device_yaml, p.cc_key_protect) },
		{ IBCC_YAML_MEMBER("cc_key_lease_s", UINT, struct device_yaml, p.cc_key_lease_s) },
		{ IBCC_YAML_MEMBER("nvidia_cc", ENUM, struct device_yaml, p.nvidia_cc),
		  .names = ibcc_nvidia_cc_names },
		{ IBCC_YAML_MEMBER("adaptive_sls", UINT, struct device_yaml, p.adaptive_sls) },
		{ IBCC_YAML_MEMBER("buffer_bytes", UINT, struct device_yaml, buffer_bytes),
		  .min = 64, .max = IBCC_SCENARIO_BUFFER_MAX },
		{ .name = NULL },
	};
	int rc;

	if (!ibcc_yaml_is_map(n))
		return read_name(y, n, path, d, e);
	rc = ibcc_yaml_read(y, n, path, keys, d, e);
	if (rc || d->profile == NO_OTHER)
		return rc;
	begin(d, ibcc_profile((unsigned int)d->profile), d->plain_tick);
	rc = ibcc_yaml_read(y, n, path, keys, d, e);
	d->profile = NO_OTHER;
	return rc;
}

/* All hosts or all switches, where a netfile's keep what their IDs make them. */
static int read_all(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		    bool switches, const struct devices *d, struct ibcc_yaml_errors *e)
{
	struct device_yaml ignored = { .profile = NO_OTHER };
	unsigned int before = e->n;

	for (uint32_t i = 0; d->s->topo && i < d->s->topo->n_nodes && e->n == before; i++)
		if (ibcc_topo_is_switch(d->s->topo, i) == switches)
			read_device(y, n, path, &d->node[i], e);
	if (!d->s->topo)
		read_device(y, n, path, &ignored, e);
	return e->n == before ? 0 : -EINVAL;
}

/* A name with * or ? that no node has stands for all nodes whose descriptions match it. *n is how
 * many. They are read in the order of the file, as single nodes are.
 */
static int read_pattern(const struct ibcc_yaml *y, const struct ibcc_yaml_node *value,
			const char *path, const char *pattern, const struct devices *d, uint32_t *n,
			struct ibcc_yaml_errors *e)
{
	const struct ibcc_topo *t = d->s->topo;
	uint32_t node;

	*n = 0;
	if (!t || !strpbrk(pattern, "*?") || !ibcc_topo_find_node(t, pattern, &node))
		return 0;
	for (uint32_t i = 0; i < t->n_nodes; i++) {
		if (fnmatch(pattern, t->node[i].desc, FNM_NOESCAPE))
			continue;
		++*n;
		if (read_device(y, value, path, &d->node[i], e))
			return -EINVAL;
	}
	return 0;
}

/* Single nodes, or patterns: a mapping of entries by name. */
static int read_nodes(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		      const struct devices *d, struct ibcc_yaml_errors *e)
{
	static const char path[] = "devices.nodes";
	int rc = 0;

	if (!ibcc_yaml_is_map(n))
		return ibcc_yaml_want(y, e, n, path, "a mapping of nodes");
	for (size_t i = 0; i < ibcc_yaml_length(n); i++) {
		const struct ibcc_yaml_node *key, *value = ibcc_yaml_item(y, n, i, &key);
		struct device_yaml ignored = { .profile = NO_OTHER };
		const char *text = ibcc_yaml_scalar(key);
		uint32_t node, matches = 0;

		if (text && read_pattern(y, value, path, text, d, &matches, e))
			rc = -EINVAL;
		if (matches)
			continue;
		if (ibcc_scenario_read_node(y, key, path, d->s->topo, &node, e))
			rc = -EINVAL;
		else if (read_device(y, value, path, node == IBCC_NONE ? &ignored : &d->node[node],
				     e))
			rc = -EINVAL;
	}
	return rc;
}

/* A buffer of its own must hold the packets of all flows, and with PAUSE what comes after XOFF. */
static int check_buffer(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			const struct ibcc_scenario *s, uint32_t node, uint32_t bytes,
			struct ibcc_yaml_errors *e)
{
	const struct ibcc_model *m = &s->model;
	uint32_t packet = m->packet_bytes, least;
	char text[IBCC_NODE_TEXT_BYTES];

	for (uint32_t i = 0; i < s->n_flows; i++)
		if (s->flow[i].packet_bytes > packet)
			packet = s->flow[i].packet_bytes;
	packet += m->header_bytes;
	least = (packet + IBCC_LINK_CREDIT_BYTES - 1) / IBCC_LINK_CREDIT_BYTES *
		IBCC_LINK_CREDIT_BYTES;
	if (bytes < least) {
		ibcc_yaml_error(y, e, n, "devices",
				"got buffer_bytes %u of %s, want at least %u, a packet with its "
				"header in blocks of 64 bytes",
				bytes, ibcc_topo_node_text(s->topo, node, text), least);
		return -EINVAL;
	}
	if (m->flow_control == IBCC_FLOW_CONTROL_PAUSE &&
	    (uint64_t)bytes * (1000 - m->pause_xon_permille) <
		    (uint64_t)m->pause_headroom_bytes * 1000) {
		ibcc_yaml_error(y, e, n, "devices",
				"got buffer_bytes %u of %s, want more above XON than "
				"model.pause_headroom_bytes, %u",
				bytes, ibcc_topo_node_text(s->topo, node, text),
				m->pause_headroom_bytes);
		return -EINVAL;
	}
	return 0;
}

/* The buffers that differ from the model's. The first mistake is enough. */
static int finish_buffers(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			  struct ibcc_scenario *s, const struct device_yaml *node,
			  struct ibcc_yaml_errors *e)
{
	s->buffer_bytes = calloc(s->topo->n_nodes + 1u, sizeof(*s->buffer_bytes));
	if (!s->buffer_bytes)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->topo->n_nodes; i++) {
		s->buffer_bytes[i] = node[i].buffer_bytes;
		if (node[i].buffer_bytes && check_buffer(y, n, s, i, node[i].buffer_bytes, e))
			return -EINVAL;
	}
	return 0;
}

static int finish(struct ibcc_scenario *s, const struct device_yaml *node)
{
	uint32_t n = s->topo->n_nodes;
	void *no_cc = reallocarray(s->no_cc, s->n_no_cc + n + 1, sizeof(*s->no_cc));

	if (no_cc)
		s->no_cc = no_cc;
	s->profile = calloc(n + 1, sizeof(*s->profile));
	if (!no_cc || !s->profile)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		s->profile[i] = node[i].p;
		s->profile[i].no_wait = !node[i].xmit_wait;
		s->topo->node[i].vendor_id = node[i].p.vendor_id;
		s->topo->node[i].device_id = node[i].p.device_id;
		if (!node[i].a10)
			ibcc_topo_node_text(s->topo, i, s->no_cc[s->n_no_cc++]);
	}
	return 0;
}

int ibcc_scenario_read_devices(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			       struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	struct devices_yaml {
		const struct ibcc_yaml_node *hosts, *switches, *nodes;
	} dy = { 0 };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("hosts", NODE, struct devices_yaml, hosts) },
		{ IBCC_YAML_MEMBER("switches", NODE, struct devices_yaml, switches) },
		{ IBCC_YAML_MEMBER("nodes", NODE, struct devices_yaml, nodes) },
		{ .name = NULL },
	};
	uint32_t n_nodes = s->topo ? s->topo->n_nodes : 0;
	struct devices d = { s, calloc(n_nodes + 1, sizeof(*d.node)) };
	int rc = d.node ? ibcc_yaml_read(y, n, "devices", keys, &dy, e) : -ENOMEM;

	for (uint32_t i = 0; d.node && i < n_nodes; i++) {
		const struct ibcc_topo_node *tn = &s->topo->node[i];
		struct ibcc_profile p = ibcc_profile_like(tn->vendor_id, tn->device_id);

		begin(&d.node[i], &p, s->model.wait_tick);
	}
	if (dy.hosts && rc != -ENOMEM && read_all(y, dy.hosts, "devices.hosts", false, &d, e))
		rc = -EINVAL;
	if (dy.switches && rc != -ENOMEM &&
	    read_all(y, dy.switches, "devices.switches", true, &d, e))
		rc = -EINVAL;
	if (dy.nodes && rc != -ENOMEM && read_nodes(y, dy.nodes, &d, e))
		rc = -EINVAL;
	if (!rc && s->topo)
		rc = finish(s, d.node);
	if (!rc && s->topo)
		rc = finish_buffers(y, n, s, d.node, e);
	free(d.node);
	return rc;
}
