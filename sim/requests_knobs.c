/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The request "set": what can be changed in a running fabric, by KEY for all of it, or by
 * "KEY.NODE" for one node. Begin with the table knobs[].
 */
#include "sim/requests_knobs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SPEED_MAX    1000.0
#define PERMILLE_MAX 1000.0
#define DELAY_MAX_US 60e6
#define WAIT_MAX_MS  60e3
#define CLOCK_MAX    100e3
#define JUMP_MAX_MS  1e9
#define QP_MAX       16777215

enum value { VALUE_NUMBER, VALUE_SIGNED, VALUE_SWITCH, VALUE_NONE, VALUE_KEY };

/* A knob gets its number (a switch: 0 or 1) and, if it belongs to one node, the node. A key has
 * more bits than such a number: set_cc_key() gets it as text.
 */
struct knob {
	const char *name;
	enum value value;
	double max;
	bool of_node;
	int (*set)(const struct ibcc_requests *q, const char *node, double v);
};

static int set_speed(const struct ibcc_requests *q, const char *node, double v)
{
	(void)node;
	ibcc_pace_set_speed(q->pace, v);
	return 0;
}

static int set_loss(const struct ibcc_requests *q, const char *node, double v)
{
	if (node)
		return ibcc_sim_fabric_set_loss(q->fabric, node, (uint16_t)v);
	ibcc_proxy_knobs(q->proxy)->mad_loss_permille = (uint32_t)v;
	return 0;
}

static int set_delay(const struct ibcc_requests *q, const char *node, double v)
{
	(void)node;
	ibcc_proxy_knobs(q->proxy)->mad_delay_us = (uint32_t)v;
	return 0;
}

static int set_timeout(const struct ibcc_requests *q, const char *node, double v)
{
	(void)node;
	ibcc_proxy_knobs(q->proxy)->mad_timeout_ms = (uint32_t)v;
	return 0;
}

static int set_traffic(const struct ibcc_requests *q, const char *node, double v)
{
	(void)node;
	return ibcc_sim_fabric_set_traffic(q->fabric, v != 0);
}

static int set_support(const struct ibcc_requests *q, const char *node, double v)
{
	return ibcc_sim_fabric_set_support(q->fabric, node, v != 0);
}

static int set_sink_rate(const struct ibcc_requests *q, const char *node, double v)
{
	return ibcc_sim_fabric_set_sink_rate(q->fabric, node, (uint32_t)v);
}

static int set_port_block(const struct ibcc_requests *q, const char *node, double v)
{
	return ibcc_sim_fabric_set_port_block(q->fabric, node, (uint8_t)v);
}

static int set_status(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->status = (uint16_t)v;
	return k ? 0 : -ENOENT;
}

static int set_set_status(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->set_status = (uint16_t)v;
	return k ? 0 : -ENOENT;
}

static int set_clock(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->clock_off_permille = (int32_t)v - 1000;
	return k ? 0 : -ENOENT;
}

/* Lets the clock of one node, or all clocks, jump from where they are. */
static int jump_clock(const struct ibcc_requests *q, const char *node, double v)
{
	const struct ibcc_topo *t = ibcc_sim_fabric_topo(q->fabric);
	struct ibcc_agent_quirks *k = node ? ibcc_sim_fabric_quirks(q->fabric, node) : NULL;

	if (k)
		k->clock_jump_ns += (int64_t)(v * 1e6);
	for (uint32_t i = 0; !node && t && i < t->n_nodes; i++)
		ibcc_agents_quirks(ibcc_sim_fabric_agents(q->fabric), i)->clock_jump_ns +=
			(int64_t)(v * 1e6);
	return k || !node ? 0 : -ENOENT;
}

/* Lets all entries of a switch's CongestionLog name this source LID, while both LIDs are set. */
static int set_log_slid(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->log_slid = (uint16_t)v;
	return k ? 0 : -ENOENT;
}

static int set_log_dlid(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->log_dlid = (uint16_t)v;
	return k ? 0 : -ENOENT;
}

static int set_qlogic(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->qlogic = v != 0;
	return k ? 0 : -ENOENT;
}

static int set_ignores(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->ignores = v != 0;
	return k ? 0 : -ENOENT;
}

static int set_pma_qp(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->pma_qp = (uint32_t)v;
	return k ? 0 : -ENOENT;
}

static int set_sent(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->sent_permille = (uint16_t)v;
	return k ? 0 : -ENOENT;
}

static int set_wait(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->wait_permille = (uint16_t)v;
	return k ? 0 : -ENOENT;
}

static int set_marks(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->marks_permille = (uint16_t)v;
	return k ? 0 : -ENOENT;
}

static int set_errors(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->errors_permille = (uint16_t)v;
	return k ? 0 : -ENOENT;
}

static int set_nvidia_cc(const struct ibcc_requests *q, const char *node, double v)
{
	uint32_t n;
	int err = ibcc_sim_fabric_find(q->fabric, node, &n);

	return err ? err
		   : ibcc_agents_set_nvidia_cc(ibcc_sim_fabric_agents(q->fabric), n,
					       v != 0 ? IBCC_NVIDIA_CC_ON : IBCC_NVIDIA_CC_OFF);
}

static int set_ai_rate(const struct ibcc_requests *q, const char *node, double v)
{
	uint32_t n;
	int err = ibcc_sim_fabric_find(q->fabric, node, &n);

	return err ? err
		   : ibcc_agents_set_ai_rate(ibcc_sim_fabric_agents(q->fabric), n, (uint16_t)v);
}

static int set_cc_key(const struct ibcc_requests *q, const char *node, const char *text)
{
	char *end;
	uint64_t key;
	uint32_t n;
	int err;

	errno = 0;
	key = strtoull(text, &end, 0);
	if (errno || end == text || *end || *text == '-')
		return -EINVAL;
	err = ibcc_sim_fabric_find(q->fabric, node, &n);
	return err ? err : ibcc_agents_set_key(ibcc_sim_fabric_agents(q->fabric), n, key);
}

static int set_parameters(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k)
		k->no_parameters = v == 0;
	return k ? 0 : -ENOENT;
}

static int set_adaptive(const struct ibcc_requests *q, const char *node, double v)
{
	struct ibcc_agent_quirks *k = ibcc_sim_fabric_quirks(q->fabric, node);

	if (k) {
		k->adaptive = true;
		k->adaptive_sls = (uint16_t)v;
	}
	return k ? 0 : -ENOENT;
}

static int reboot(const struct ibcc_requests *q, const char *node, double v)
{
	(void)v;
	return ibcc_sim_fabric_reboot(q->fabric, node);
}

static const struct knob knobs[] = {
	{ "speed", VALUE_NUMBER, SPEED_MAX, false, set_speed },
	{ "mad_loss_permille", VALUE_NUMBER, PERMILLE_MAX, false, set_loss },
	{ "mad_delay_us", VALUE_NUMBER, DELAY_MAX_US, false, set_delay },
	{ "mad_timeout_ms", VALUE_NUMBER, WAIT_MAX_MS, false, set_timeout },
	{ "traffic", VALUE_SWITCH, 1, false, set_traffic },
	{ "mad_loss_permille", VALUE_NUMBER, PERMILLE_MAX, true, set_loss },
	{ "cc_support", VALUE_SWITCH, 1, true, set_support },
	{ "cc_port_block", VALUE_NUMBER, UINT8_MAX, true, set_port_block },
	{ "cc_status", VALUE_NUMBER, UINT16_MAX, true, set_status },
	{ "cc_set_status", VALUE_NUMBER, UINT16_MAX, true, set_set_status },
	{ "cc_key", VALUE_KEY, 0, true, NULL },
	{ "cc_qlogic", VALUE_SWITCH, 1, true, set_qlogic },
	{ "cc_ignores", VALUE_SWITCH, 1, true, set_ignores },
	{ "pma_qp", VALUE_NUMBER, QP_MAX, true, set_pma_qp },
	{ "pma_sent_permille", VALUE_NUMBER, UINT16_MAX, true, set_sent },
	{ "pma_wait_permille", VALUE_NUMBER, UINT16_MAX, true, set_wait },
	{ "pma_marks_permille", VALUE_NUMBER, UINT16_MAX, true, set_marks },
	{ "pma_errors_permille", VALUE_NUMBER, PERMILLE_MAX, true, set_errors },
	{ "nvidia_cc", VALUE_SWITCH, 1, true, set_nvidia_cc },
	{ "nvidia_ai_rate", VALUE_NUMBER, UINT16_MAX, true, set_ai_rate },
	{ "nvidia_parameters", VALUE_SWITCH, 1, true, set_parameters },
	{ "adaptive_sls", VALUE_NUMBER, UINT16_MAX, true, set_adaptive },
	{ "cc_clock_permille", VALUE_NUMBER, CLOCK_MAX, true, set_clock },
	{ "cc_clock_jump_ms", VALUE_SIGNED, JUMP_MAX_MS, false, jump_clock },
	{ "cc_clock_jump_ms", VALUE_SIGNED, JUMP_MAX_MS, true, jump_clock },
	{ "sink_rate", VALUE_NUMBER, UINT32_MAX, true, set_sink_rate },
	{ "cc_log_slid", VALUE_NUMBER, UINT16_MAX, true, set_log_slid },
	{ "cc_log_dlid", VALUE_NUMBER, UINT16_MAX, true, set_log_dlid },
	{ "reboot", VALUE_NONE, 0, true, reboot },
};

/* Reads the value of a knob. */
static int parse(const struct knob *k, const char *text, double *out)
{
	double least;
	char *end;

	switch (k->value) {
	case VALUE_NUMBER:
	case VALUE_SIGNED:
		*out = strtod(text, &end);
		least = k->value == VALUE_SIGNED ? -k->max : 0;
		return end == text || *end || !(*out >= least) || *out > k->max ? -EINVAL : 0;
	case VALUE_SWITCH:
		*out = !strcmp(text, "on");
		return *out || !strcmp(text, "off") ? 0 : -EINVAL;
	case VALUE_NONE: return strcmp(text, "now") ? -EINVAL : 0;
	case VALUE_KEY: return 0;
	}
	return -EINVAL;
}

/* Sets one knob. -ENOKEY: there is none of this name. */
static int set_key(const struct ibcc_requests *q, const char *key, const char *value)
{
	const char *dot = strchr(key, '.'), *node = dot ? dot + 1 : NULL;
	size_t len = dot ? (size_t)(dot - key) : strlen(key), i;

	for (i = 0; i < sizeof(knobs) / sizeof(knobs[0]); i++) {
		const struct knob *k = &knobs[i];
		uint32_t ignored;
		double v = 0;

		if (k->of_node != (dot != NULL) || strlen(k->name) != len ||
		    strncmp(key, k->name, len))
			continue;
		if (parse(k, value, &v))
			return -EINVAL;
		if (dot && ibcc_sim_fabric_find(q->fabric, node, &ignored) == -ENOTUNIQ)
			return -ENOTUNIQ;
		return k->value == VALUE_KEY ? set_cc_key(q, node, value) : k->set(q, node, v);
	}
	return -ENOKEY;
}

json_t *ibcc_requests_set(const struct ibcc_requests *q, const json_t *rq)
{
	const json_t *values = json_object_get(rq, "values");
	const char *key;
	json_t *value;
	int err;

	if (!json_object_size(values))
		return ibcc_jsonl_error(-EINVAL, "nothing to set: want KEY=VALUE");
	json_object_foreach ((json_t *)(uintptr_t)values, key, value) {
		const char *text = json_string_value(value);

		err = text ? set_key(q, key, text) : -EINVAL;
		if (err == -ENOKEY)
			return ibcc_jsonl_error(err, "%s: no such key; ibcc-sim(1) lists the keys",
						key);
		if (err == -ENOENT)
			return ibcc_jsonl_error(err, "%s: no such node", key);
		if (err == -ENOTUNIQ)
			return ibcc_jsonl_error(err,
						"%s: several nodes have this name; write the "
						"node's GUID as 0x...",
						key);
		if (err == -EINVAL)
			return ibcc_jsonl_error(
				err, "%s: cannot be set to %s; ibcc-sim(1) lists the values", key,
				text ? text : "no text");
		if (err)
			return ibcc_jsonl_error(err, "%s: %s", key, strerror(-err));
	}
	return json_pack("{s:b}", "ok", 1);
}
