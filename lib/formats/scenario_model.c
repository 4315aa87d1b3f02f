/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The models of switches and channel adapters in a scenario file, and Ethernet's congestion
 * control.
 */
#include <errno.h>
#include <string.h>

#include <ibcc/text.h>

#include "scenario_parts.h"

#define MAX_DELAY_NS 1e9
#define MAX_GAIN     1e6
#define VLARB_TEXT   512

struct bcn_yaml {
	struct ibcc_bcn b;
	double delay_ns;
};

struct model_yaml {
	struct ibcc_model m;
	double link_delay_ns, switch_delay_ns, credit_delay_ns, becn_delay_ns, path_gap_ns;
	int hca_service, flow_control, arbitration, routing, switching, switch_reads, becn_path;
	int endpoint;
	char vlarb_high[VLARB_TEXT], vlarb_low[VLARB_TEXT];
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
			"got %u byte%s, want at least a packet with its header, %u", bytes,
			ibcc_text_plural(bytes, "", "s"), packet);
	return -EINVAL;
}

/* "VL:WEIGHT,VL:WEIGHT", as OpenSM's options have it. */
static void read_vlarb(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *key,
		       const char *text, const struct ibcc_model *m, struct ibcc_vlarb_table *t,
		       struct ibcc_yaml_errors *e)
{
	const char *p = text;
	unsigned int vl, weight;
	int len;

	for (t->n = 0; *p && t->n < IBCC_VLARB_ENTRIES; t->n++) {
		len = 0;
		if (sscanf(p, "%2u:%3u%n", &vl, &weight, &len) != 2 || !len || vl >= m->vls ||
		    weight > 255)
			break;
		t->entry[t->n] =
			(struct ibcc_vlarb_entry){ .vl = (uint8_t)vl, .weight = (uint8_t)weight };
		p += len;
		if (*p == ',' && p[1])
			p++;
		else if (*p)
			break;
	}
	if (*p)
		ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, key), key,
			       "at most %u of VL:WEIGHT with commas between them, VLs below "
			       "model.vls, weights to 255",
			       IBCC_VLARB_ENTRIES);
}

static bool vlarb_serves_all(const struct ibcc_model *m)
{
	const struct ibcc_vlarb_table *tables[] = { &m->vlarb.high, &m->vlarb.low };
	unsigned int served = 0;

	for (int k = 0; k < 2; k++)
		for (unsigned int i = 0; i < tables[k]->n; i++)
			if (tables[k]->entry[i].weight)
				served |= 1u << tables[k]->entry[i].vl;
	return (!m->vlarb.high.n && !m->vlarb.low.n) || served == (1u << m->vls) - 1;
}

/* XON may not be above XOFF, and PAUSE knows no virtual lanes. */
static void check_pause(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			const struct ibcc_model *m, struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *at = ibcc_yaml_get(y, n, "pause_headroom_bytes");
	uint32_t buffer =
		m->buffer_bytes < m->hca_buffer_bytes ? m->buffer_bytes : m->hca_buffer_bytes;
	uint32_t xon = (uint32_t)((uint64_t)buffer * m->pause_xon_permille / 1000);

	if (m->pause_headroom_bytes > buffer - xon)
		ibcc_yaml_error(
			y, e, at ? at : n, "model.pause_headroom_bytes",
			"got %u byte%s, want at most what the smaller buffer has above XON, %u",
			m->pause_headroom_bytes, ibcc_text_plural(m->pause_headroom_bytes, "", "s"),
			buffer - xon);
	if (m->vls != 1)
		ibcc_yaml_error(y, e, ibcc_yaml_get(y, n, "vls"), "model.vls",
				"got %u, want 1 with PAUSE", m->vls);
}

int ibcc_scenario_read_model(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     struct ibcc_model *m, struct ibcc_yaml_errors *e)
{
	static const char *const flow_controls[] = { "credits", "pause", NULL };
	static const char *const routings[] = { "static", "random", "adaptive", "round-robin",
						NULL };
	static const char *const endpoints[] = { "datagram", "rc", "ooo", NULL };
	static const char *const switchings[] = { "cut-through", "store-and-forward", NULL };
	static const char *const reads[] = { "all", "one", NULL };
	static const char *const becn_paths[] = { "in-band", "out-of-band", NULL };
	static const char *const arbitrations[] = { "input", "fifo", "flow", NULL };
	static const char *const services[] = { "arrival", "round-robin", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("packet_bytes", UINT, struct model_yaml, m.packet_bytes),
		  .min = IBCC_SCENARIO_PACKET_MIN, .max = IBCC_SCENARIO_PACKET_MAX },
		{ IBCC_YAML_MEMBER("header_bytes", UINT, struct model_yaml, m.header_bytes),
		  .max = 256 },
		{ IBCC_YAML_MEMBER("buffer_bytes", UINT, struct model_yaml, m.buffer_bytes),
		  .min = 64, .max = IBCC_SCENARIO_BUFFER_MAX },
		{ IBCC_YAML_MEMBER("hca_buffer_bytes", UINT, struct model_yaml, m.hca_buffer_bytes),
		  .min = 64, .max = IBCC_SCENARIO_BUFFER_MAX },
		{ IBCC_YAML_MEMBER("link_delay_ns", DOUBLE, struct model_yaml, link_delay_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("switch_delay_ns", DOUBLE, struct model_yaml, switch_delay_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("credit_delay_ns", DOUBLE, struct model_yaml, credit_delay_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("mark_reference_bytes", UINT, struct model_yaml,
				   m.mark_reference_bytes),
		  .max = IBCC_SCENARIO_BUFFER_MAX },
		{ IBCC_YAML_MEMBER("mark_hysteresis_permille", UINT, struct model_yaml,
				   m.mark_hysteresis_permille),
		  .max = 1000 },
		{ IBCC_YAML_MEMBER("hca_service", ENUM, struct model_yaml, hca_service),
		  .names = services },
		{ IBCC_YAML_MEMBER("becn_delay_ns", DOUBLE, struct model_yaml, becn_delay_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("becn_path", ENUM, struct model_yaml, becn_path),
		  .names = becn_paths },
		{ IBCC_YAML_MEMBER("acks", BOOL, struct model_yaml, m.acks) },
		{ IBCC_YAML_MEMBER("ack_bytes", UINT, struct model_yaml, m.ack_bytes), .min = 16,
		  .max = 4096 },
		{ IBCC_YAML_MEMBER("vls", UINT, struct model_yaml, m.vls), .min = 1, .max = 15 },
		{ IBCC_YAML_MEMBER("cct_blocks", UINT, struct model_yaml, m.cct_blocks), .min = 1,
		  .max = IBCC_CCT_MAX_BLOCKS },
		{ IBCC_YAML_MEMBER("wait_tick", UINT, struct model_yaml, m.wait_tick) },
		{ IBCC_YAML_MEMBER("arbitration", ENUM, struct model_yaml, arbitration),
		  .names = arbitrations },
		{ IBCC_YAML_MEMBER("vlarb_high", STRING, struct model_yaml, vlarb_high) },
		{ IBCC_YAML_MEMBER("vlarb_low", STRING, struct model_yaml, vlarb_low) },
		{ IBCC_YAML_MEMBER("vl_high_limit", UINT, struct model_yaml, m.vlarb.high_limit) },
		{ IBCC_YAML_MEMBER("routing", ENUM, struct model_yaml, routing),
		  .names = routings },
		{ IBCC_YAML_MEMBER("path_burst_packets", UINT, struct model_yaml,
				   m.path_burst_packets),
		  .max = 1e6 },
		{ IBCC_YAML_MEMBER("path_gap_ns", DOUBLE, struct model_yaml, path_gap_ns),
		  .max = MAX_DELAY_NS },
		{ IBCC_YAML_MEMBER("endpoint", ENUM, struct model_yaml, endpoint),
		  .names = endpoints },
		{ IBCC_YAML_MEMBER("endpoint_window", UINT, struct model_yaml, m.endpoint_window),
		  .min = 1, .max = 65536 },
		{ IBCC_YAML_MEMBER("ack_timeout", UINT, struct model_yaml, m.ack_timeout),
		  .max = 31 },
		{ IBCC_YAML_MEMBER("switching", ENUM, struct model_yaml, switching),
		  .names = switchings },
		{ IBCC_YAML_MEMBER("switch_reads", ENUM, struct model_yaml, switch_reads),
		  .names = reads },
		{ IBCC_YAML_MEMBER("flow_control", ENUM, struct model_yaml, flow_control),
		  .names = flow_controls },
		{ IBCC_YAML_MEMBER("pause_headroom_bytes", UINT, struct model_yaml,
				   m.pause_headroom_bytes),
		  .max = IBCC_SCENARIO_BUFFER_MAX },
		{ IBCC_YAML_MEMBER("pause_xon_permille", UINT, struct model_yaml,
				   m.pause_xon_permille),
		  .max = 1000 },
		{ .name = NULL },
	};
	struct model_yaml my = {
		.m = *m,
		.link_delay_ns = (double)m->link_delay_ps / (double)IBCC_PS_PER_NS,
		.switch_delay_ns = (double)m->switch_delay_ps / (double)IBCC_PS_PER_NS,
		.credit_delay_ns = (double)m->credit_delay_ps / (double)IBCC_PS_PER_NS,
		.becn_delay_ns = (double)m->becn_delay_ps / (double)IBCC_PS_PER_NS,
		.hca_service = (int)m->hca_service,
		.flow_control = (int)m->flow_control,
		.arbitration = (int)m->arbitration,
		.routing = (int)m->routing,
		.path_gap_ns = (double)m->path_gap_ps / (double)IBCC_PS_PER_NS,
		.endpoint = (int)m->endpoint,
		.switching = (int)m->switching,
		.switch_reads = (int)m->switch_reads,
		.becn_path = (int)m->becn_path,
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
	m->flow_control = (enum ibcc_flow_control)my.flow_control;
	m->routing = (enum ibcc_routing)my.routing;
	m->path_gap_ps = ns_to_ps(my.path_gap_ns);
	m->endpoint = (enum ibcc_endpoint)my.endpoint;
	m->switching = (enum ibcc_switching)my.switching;
	m->switch_reads = (enum ibcc_switch_reads)my.switch_reads;
	m->becn_path = (enum ibcc_becn_path)my.becn_path;
	m->arbitration = (enum ibcc_arbitration)my.arbitration;
	check_buffer(y, n, "buffer_bytes", m->buffer_bytes, m, e);
	check_buffer(y, n, "hca_buffer_bytes", m->hca_buffer_bytes, m, e);
	read_vlarb(y, n, "vlarb_high", my.vlarb_high, m, &m->vlarb.high, e);
	read_vlarb(y, n, "vlarb_low", my.vlarb_low, m, &m->vlarb.low, e);
	if (e->n == before && !vlarb_serves_all(m))
		ibcc_yaml_error(y, e, n, "model",
				"want each VL with a weight in vlarb_high or vlarb_low");
	if (m->flow_control == IBCC_FLOW_CONTROL_PAUSE)
		check_pause(y, n, m, e);
	return e->n == before ? 0 : -EINVAL;
}

int ibcc_scenario_read_bcn(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			   struct ibcc_model *m, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("enabled", BOOL, struct bcn_yaml, b.enabled) },
		{ IBCC_YAML_MEMBER("sample_bytes", UINT, struct bcn_yaml, b.sample_bytes), .min = 1,
		  .max = IBCC_SCENARIO_BUFFER_MAX, .required = true },
		{ IBCC_YAML_MEMBER("equilibrium_bytes", UINT, struct bcn_yaml, b.equilibrium_bytes),
		  .min = 1, .max = IBCC_SCENARIO_BUFFER_MAX, .required = true },
		{ IBCC_YAML_MEMBER("w", DOUBLE, struct bcn_yaml, b.w), .max = MAX_GAIN },
		{ IBCC_YAML_MEMBER("gi", DOUBLE, struct bcn_yaml, b.gi), .max = MAX_GAIN,
		  .required = true },
		{ IBCC_YAML_MEMBER("gd", DOUBLE, struct bcn_yaml, b.gd), .max = MAX_GAIN,
		  .required = true },
		{ IBCC_YAML_MEMBER("ru_mbps", UINT, struct bcn_yaml, b.ru_mbps), .min = 1,
		  .max = 1e6 },
		{ IBCC_YAML_MEMBER("delay_ns", DOUBLE, struct bcn_yaml, delay_ns),
		  .max = MAX_DELAY_NS },
		{ .name = NULL },
	};
	struct bcn_yaml by = { .b = m->bcn };

	by.b.enabled = true;
	if (ibcc_yaml_read(y, n, "bcn", keys, &by, e))
		return -EINVAL;
	if (by.b.enabled && m->flow_control != IBCC_FLOW_CONTROL_PAUSE) {
		ibcc_yaml_error(y, e, n, "bcn", "want model.flow_control: pause with it");
		return -EINVAL;
	}
	m->bcn = by.b;
	m->bcn.delay_ps = ns_to_ps(by.delay_ns);
	return 0;
}
