/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a scenario file says for ibcc-perf: the hosts that send and receive, and how they use
 * verbs.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/scenario_file.h>

#include "scenario_parts.h"

#define MESSAGE_MAX_BYTES (1u << 30)

const char *const ibcc_scenario_operations[] = { "write", "send", "read", NULL };

static int read_host(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		     void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct ibcc_verbs_host, name),
		  .required = true },
		{ IBCC_YAML_MEMBER("address", STRING, struct ibcc_verbs_host, address) },
		{ IBCC_YAML_MEMBER("rdma_address", STRING, struct ibcc_verbs_host, rdma_address) },
		{ IBCC_YAML_MEMBER("device", STRING, struct ibcc_verbs_host, device) },
		{ IBCC_YAML_MEMBER("port", UINT, struct ibcc_verbs_host, port), .min = 1,
		  .max = 254 },
		{ IBCC_YAML_MEMBER("gid_index", UINT, struct ibcc_verbs_host, gid_index),
		  .max = 255 },
		{ .name = NULL },
	};
	struct ibcc_verbs_plan *v = arg;
	struct ibcc_verbs_host h = { .gid_index = -1 };
	const char *name = ibcc_yaml_scalar(n);

	(void)index;
	if (name && strlen(name) < sizeof(h.name))
		memcpy(h.name, name, strlen(name) + 1);
	else if (ibcc_yaml_read(y, n, "hosts", keys, &h, e))
		return -EINVAL;
	if (!*h.name)
		return ibcc_yaml_want(y, e, n, "hosts.name", "a name");
	for (uint32_t i = 0; i < v->n_hosts; i++)
		if (!strcmp(v->host[i].name, h.name))
			return ibcc_yaml_want(y, e, n, "hosts.name", "each name once");
	v->host[v->n_hosts++] = h;
	return 0;
}

int ibcc_scenario_read_hosts(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	size_t len = ibcc_yaml_length(n);

	if (!ibcc_yaml_is_seq(n) || len < 2 || len > IBCC_SCENARIO_HOSTS_MAX)
		return ibcc_yaml_want(y, e, n, "hosts", "a list of 2 to %u hosts",
				      IBCC_SCENARIO_HOSTS_MAX);
	s->verbs.host = calloc(len, sizeof(*s->verbs.host));
	if (!s->verbs.host)
		return -ENOMEM;
	return ibcc_yaml_each(y, n, "hosts", read_host, &s->verbs, e);
}

int ibcc_scenario_read_verbs(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	static const char *const connects[] = { "exchange", "cm", NULL };
	static const char *const completions[] = { "events", "polling", NULL };
	static const char *const mtus[] = { "256", "512", "1024", "2048", "4096", NULL };
	struct verbs_yaml {
		struct ibcc_verbs_plan v;
		int operation, connect, polling, mtu;
	} vy = { .v = s->verbs, .mtu = -1 };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("operation", ENUM, struct verbs_yaml, operation),
		  .names = ibcc_scenario_operations },
		{ IBCC_YAML_MEMBER("connect", ENUM, struct verbs_yaml, connect),
		  .names = connects },
		{ IBCC_YAML_MEMBER("completions", ENUM, struct verbs_yaml, polling),
		  .names = completions },
		{ IBCC_YAML_MEMBER("mtu_bytes", ENUM, struct verbs_yaml, mtu), .names = mtus },
		{ IBCC_YAML_MEMBER("ack_timeout", UINT, struct verbs_yaml, v.ack_timeout), .min = 1,
		  .max = 31 },
		{ IBCC_YAML_MEMBER("retries", UINT, struct verbs_yaml, v.retries), .max = 7 },
		{ IBCC_YAML_MEMBER("message_bytes", UINT, struct verbs_yaml, v.message_bytes),
		  .min = 1, .max = MESSAGE_MAX_BYTES },
		{ IBCC_YAML_MEMBER("window_messages", UINT, struct verbs_yaml, v.window), .min = 1,
		  .max = 65535 },
		{ IBCC_YAML_MEMBER("queue_pairs", UINT, struct verbs_yaml, v.queue_pairs), .min = 1,
		  .max = IBCC_SCENARIO_QUEUE_PAIRS_MAX },
		{ IBCC_YAML_MEMBER("verify", BOOL, struct verbs_yaml, v.verify) },
		{ IBCC_YAML_MEMBER("report_ms", UINT, struct verbs_yaml, v.report_ms), .min = 10,
		  .max = 3600000 },
		{ .name = NULL },
	};

	if (ibcc_yaml_read(y, n, "verbs", keys, &vy, e))
		return -EINVAL;
	vy.v.operation = (enum ibcc_verbs_operation)vy.operation;
	vy.v.cm = vy.connect != 0;
	vy.v.polling = vy.polling != 0;
	vy.v.mtu_bytes = vy.mtu < 0 ? 0 : (uint16_t)(256u << vy.mtu);
	s->verbs = vy.v;
	return 0;
}

struct ibcc_topo *ibcc_scenario_star(const struct ibcc_verbs_plan *v)
{
	struct ibcc_topo *t = ibcc_topo_new();
	uint32_t mbps, i;

	ibcc_rate_parse("4x QDR", &mbps);
	for (i = 0; t && i < v->n_hosts; i++)
		if (ibcc_topo_add_node(t, 0x200000000ull + (i + 1ull) * 0x100, IBCC_NODE_CA, 1,
				       v->host[i].name) < 0)
			goto fail;
	if (!t || ibcc_topo_add_node(t, 0x100000001ull, IBCC_NODE_SWITCH, (uint8_t)v->n_hosts,
				     "switch") < 0)
		goto fail;
	for (i = 0; i < v->n_hosts; i++)
		if (ibcc_topo_link(t, v->n_hosts, (uint8_t)(i + 1), i, 1, mbps, 2048))
			goto fail;
	return t;
fail:
	ibcc_topo_free(t);
	return NULL;
}
