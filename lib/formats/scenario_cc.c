/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Static congestion control settings of a scenario file, as the annex's registers. */
#include <errno.h>
#include <string.h>

#include "scenario_parts.h"

#define ALL_SLS 0xffffu

struct sw_yaml {
	struct ibcc_cc_sw_setting reg;
	const struct ibcc_yaml_node *victim_mask, *credit_mask, *return_delay;
};

struct ca_yaml {
	struct ibcc_cc_ca_entry entry;
	int per; /* 0 QP, 1 SL: bit 0 of Port_Control */
	const struct ibcc_yaml_node *sls;
	uint16_t map;
};

struct cct_yaml {
	int shape;
	uint16_t entries;
	double max_delay_packets;
	struct ibcc_cct *cct;
};

struct cc_yaml {
	bool enabled;
	const struct ibcc_yaml_node *sw, *ca, *cct;
};

/* "SHIFT:MULT", as ibccconfig takes entries. */
static int read_entry(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, const char *path,
		      uint16_t *entry, struct ibcc_yaml_errors *e)
{
	const char *s = ibcc_yaml_scalar(n), *colon = s ? strchr(s, ':') : NULL;
	char shift_text[8];
	uint64_t shift, mult;

	if (colon && (size_t)(colon - s) < sizeof(shift_text)) {
		memcpy(shift_text, s, (size_t)(colon - s));
		shift_text[colon - s] = '\0';
		if (!ibcc_yaml_parse_uint(shift_text, &shift) &&
		    !ibcc_yaml_parse_uint(colon + 1, &mult) && shift <= IBCC_CCT_MAX_SHIFT &&
		    mult <= IBCC_CCT_MAX_MULT) {
			*entry = ibcc_cct_entry((unsigned int)shift, (unsigned int)mult);
			return 0;
		}
	}
	return ibcc_yaml_want(y, e, n, path,
			      "SHIFT:MULT with a shift from 0 to %u and a "
			      "multiplier from 0 to %u",
			      IBCC_CCT_MAX_SHIFT, IBCC_CCT_MAX_MULT);
}

static int add_port(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		    void *arg, struct ibcc_yaml_errors *e)
{
	uint64_t port;

	(void)index;
	if (!ibcc_yaml_is_plain(n) || ibcc_yaml_parse_uint(ibcc_yaml_scalar(n), &port) ||
	    port > 254)
		return ibcc_yaml_want(y, e, n, "congestion_control.switch",
				      "a port number from 0 to 254");
	ibcc_cc_mask_assign(arg, (unsigned int)port, true);
	return 0;
}

static int read_switch(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		       struct ibcc_cc_sw_setting *out, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("control_map", UINT, struct sw_yaml, reg.Control_Map) },
		{ IBCC_YAML_MEMBER("victim_mask", NODE, struct sw_yaml, victim_mask) },
		{ IBCC_YAML_MEMBER("credit_mask", NODE, struct sw_yaml, credit_mask) },
		{ IBCC_YAML_MEMBER("threshold", UINT, struct sw_yaml, reg.Threshold), .max = 15,
		  .required = true, .want = "a whole number from 0 (off) to 15 (most aggressive)" },
		{ IBCC_YAML_MEMBER("packet_size", UINT, struct sw_yaml, reg.Packet_Size) },
		{ IBCC_YAML_MEMBER("cs_threshold", UINT, struct sw_yaml, reg.CS_Threshold),
		  .max = 15 },
		{ IBCC_YAML_MEMBER("cs_return_delay", NODE, struct sw_yaml, return_delay) },
		{ IBCC_YAML_MEMBER("marking_rate", UINT, struct sw_yaml, reg.Marking_Rate) },
		{ .name = NULL },
	};
	static const char path[] = "congestion_control.switch";
	struct sw_yaml sy = { .reg.Control_Map = IBCC_CC_SW_CONTROL_MAP_ALL };
	unsigned int before = e->n;

	ibcc_yaml_read(y, n, path, keys, &sy, e);
	if (sy.victim_mask)
		ibcc_yaml_each(y, sy.victim_mask, path, add_port, &sy.reg.Victim_Mask, e);
	if (sy.credit_mask)
		ibcc_yaml_each(y, sy.credit_mask, path, add_port, &sy.reg.Credit_Mask, e);
	if (sy.return_delay)
		read_entry(y, sy.return_delay, "congestion_control.switch.cs_return_delay",
			   &sy.reg.CS_ReturnDelay, e);
	*out = sy.reg;
	return e->n == before ? 0 : -EINVAL;
}

static int add_sl(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		  void *arg, struct ibcc_yaml_errors *e)
{
	uint16_t *map = arg;
	uint64_t sl;

	(void)index;
	if (!ibcc_yaml_is_plain(n) || ibcc_yaml_parse_uint(ibcc_yaml_scalar(n), &sl) || sl > 15)
		return ibcc_yaml_want(y, e, n, "congestion_control.ca.sls",
				      "a service level from 0 to 15");
	*map = (uint16_t)(*map | 1u << sl);
	return 0;
}

static int read_ca(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		   struct ibcc_cc_ca_setting *out, struct ibcc_yaml_errors *e)
{
	static const char *const per[] = { "qp", "sl", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("per", ENUM, struct ca_yaml, per), .names = per },
		{ IBCC_YAML_MEMBER("sls", NODE, struct ca_yaml, sls) },
		{ IBCC_YAML_MEMBER("ccti_timer", UINT, struct ca_yaml, entry.CCTI_Timer),
		  .required = true,
		  .want = "a whole number from 0 to 65535, in units of 1.024 us" },
		{ IBCC_YAML_MEMBER("ccti_increase", UINT, struct ca_yaml, entry.CCTI_Increase),
		  .required = true, .want = "a whole number from 0 to 255" },
		{ IBCC_YAML_MEMBER("trigger_threshold", UINT, struct ca_yaml,
				   entry.Trigger_Threshold) },
		{ IBCC_YAML_MEMBER("ccti_min", UINT, struct ca_yaml, entry.CCTI_Min) },
		{ .name = NULL },
	};
	static const char path[] = "congestion_control.ca";
	struct ca_yaml cy = { 0 };
	unsigned int before = e->n, sl;

	ibcc_yaml_read(y, n, path, keys, &cy, e);
	if (cy.sls)
		ibcc_yaml_each(y, cy.sls, "congestion_control.ca.sls", add_sl, &cy.map, e);
	else
		cy.map = ALL_SLS;
	out->Port_Control = cy.per ? IBCC_CC_PORT_CONTROL_SL : 0;
	out->Control_Map = cy.map;
	for (sl = 0; sl < IBCC_CC_SLS; sl++)
		if (cy.map >> sl & 1)
			out->sl[sl] = cy.entry;
	return e->n == before ? 0 : -EINVAL;
}

static int add_entry(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		     void *arg, struct ibcc_yaml_errors *e)
{
	struct ibcc_cct *cct = arg;

	return read_entry(y, n, "congestion_control.cct", &cct->entry[index], e);
}

static int read_table(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		      struct ibcc_cct *cct, struct ibcc_yaml_errors *e)
{
	static const char path[] = "congestion_control.cct";
	size_t len = ibcc_yaml_length(n);

	if (len < 1 || len > IBCC_CCT_MAX_ENTRIES) {
		ibcc_yaml_error(y, e, n, path, "got %zu entries, want 1 to %u", len,
				IBCC_CCT_MAX_ENTRIES);
		return -EINVAL;
	}
	cct->limit = (uint16_t)(len - 1);
	return ibcc_yaml_each(y, n, path, add_entry, cct, e);
}

static int read_cct(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, uint8_t blocks,
		    struct ibcc_cct *cct, struct ibcc_yaml_errors *e)
{
	static const char *const shapes[] = { "zero", "linear", "quadratic", "multiplicative",
					      NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("shape", ENUM, struct cct_yaml, shape), .names = shapes,
		  .required = true, .want = NULL },
		{ IBCC_YAML_MEMBER("entries", UINT, struct cct_yaml, entries), .min = 2,
		  .max = IBCC_CCT_MAX_ENTRIES },
		{ IBCC_YAML_MEMBER("max_delay_packets", DOUBLE, struct cct_yaml, max_delay_packets),
		  .max = IBCC_CCT_MAX_MULT },
		{ .name = NULL },
	};
	static const char path[] = "congestion_control.cct";
	struct cct_yaml ty = { .entries = 128 };
	unsigned int index;
	int rc;

	if (ibcc_yaml_is_seq(n)) {
		if (read_table(y, n, cct, e))
			return -EINVAL;
	} else {
		if (!ibcc_yaml_is_map(n))
			return ibcc_yaml_want(y, e, n, path, "a shape or a list of entries");
		if (ibcc_yaml_read(y, n, path, keys, &ty, e))
			return -EINVAL;
		rc = ibcc_cct_build(cct, (enum ibcc_cct_shape)ty.shape, ty.entries,
				    (uint32_t)(ty.max_delay_packets * 1000 + 0.5));
		if (rc)
			return ibcc_yaml_want(y, e, n, path, "a table that can be built");
	}
	rc = ibcc_cct_validate(cct, blocks, &index);
	if (rc == -ERANGE)
		ibcc_yaml_error(y, e, n, path,
				"got %u entries, want at most %u (64 for each of model.cct_blocks)",
				cct->limit + 1u, blocks * IBCC_CCT_BLOCK_ENTRIES);
	else if (rc)
		ibcc_yaml_error(
			y, e, ibcc_yaml_is_seq(n) ? ibcc_yaml_item(y, n, index, NULL) : n, path,
			"entry %u: want no delay at entry 0, and none below the one before", index);
	return rc;
}

int ibcc_scenario_read_cc(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			  struct ibcc_scenario *s, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("enabled", BOOL, struct cc_yaml, enabled) },
		{ IBCC_YAML_MEMBER("switch", NODE, struct cc_yaml, sw), .required = true },
		{ IBCC_YAML_MEMBER("ca", NODE, struct cc_yaml, ca), .required = true },
		{ IBCC_YAML_MEMBER("cct", NODE, struct cc_yaml, cct), .required = true },
		{ .name = NULL },
	};
	struct cc_yaml cc = { .enabled = true };
	unsigned int before = e->n;

	ibcc_yaml_read(y, n, "congestion_control", keys, &cc, e);
	if (cc.sw)
		read_switch(y, cc.sw, &s->cc.sw, e);
	if (cc.ca)
		read_ca(y, cc.ca, &s->cc.ca, e);
	if (cc.cct)
		read_cct(y, cc.cct, s->model.cct_blocks, &s->cc.cct, e);
	s->cc.enabled = cc.enabled;
	return e->n == before ? 0 : -EINVAL;
}
