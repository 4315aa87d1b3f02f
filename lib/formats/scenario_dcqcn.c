/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* DCQCN at the InfiniBand layer in a scenario file. */
#include <errno.h>
#include <string.h>

#include "scenario_parts.h"

#define MAX_BUFFER_BYTES (64u << 20)
#define MAX_CLOCK_US     131071 /* 17 bits */
#define MAX_RATE_MBPS    1e6

struct profile_yaml {
	struct ibcc_dcqcn_profile p;
	int mode;
};

struct dcqcn_yaml {
	struct ibcc_dcqcn d;
	int cnp_per, shaper_per;
	const struct ibcc_yaml_node *profiles, *sl2profile;
};

static int add_profile(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		       unsigned int index, void *arg, struct ibcc_yaml_errors *e)
{
	static const char *const modes[] = { "fixed", "percentage", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("mode", ENUM, struct profile_yaml, mode), .names = modes },
		{ IBCC_YAML_MEMBER("min", UINT, struct profile_yaml, p.min),
		  .max = MAX_BUFFER_BYTES, .required = true },
		{ IBCC_YAML_MEMBER("max", UINT, struct profile_yaml, p.max),
		  .max = MAX_BUFFER_BYTES, .required = true },
		{ IBCC_YAML_MEMBER("percent", UINT, struct profile_yaml, p.percent), .max = 100,
		  .required = true },
		{ .name = NULL },
	};
	static const char path[] = "dcqcn.profiles";
	struct ibcc_dcqcn *d = arg;
	struct profile_yaml py = { .mode = 0 };

	if (ibcc_yaml_read(y, n, path, keys, &py, e))
		return -EINVAL;
	if (py.p.min > py.p.max) {
		ibcc_yaml_error(y, e, ibcc_yaml_get(y, n, "max"), "dcqcn.profiles.max",
				"got %u, want at least min, %u", py.p.max, py.p.min);
		return -EINVAL;
	}
	py.p.percentage = py.mode;
	if (py.p.percentage && py.p.max > 100) {
		ibcc_yaml_error(y, e, ibcc_yaml_get(y, n, "max"), "dcqcn.profiles.max",
				"got %u, want at most 100 in mode percentage", py.p.max);
		return -EINVAL;
	}
	d->profile[index] = py.p;
	return 0;
}

/* Profiles, and the default: all SLs have the first. */
static void read_profiles(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			  struct ibcc_dcqcn *d, struct ibcc_yaml_errors *e)
{
	size_t len = ibcc_yaml_length(n);

	if (ibcc_yaml_is_seq(n) && (len < 1 || len > IBCC_DCQCN_PROFILES)) {
		ibcc_yaml_error(y, e, n, "dcqcn.profiles", "got %zu profiles, want 1 to %u", len,
				IBCC_DCQCN_PROFILES);
		return;
	}
	memset(d->sl2profile, 1, sizeof(d->sl2profile));
	ibcc_yaml_each(y, n, "dcqcn.profiles", add_profile, d, e);
}

struct sls {
	struct ibcc_dcqcn *d;
	size_t n_profiles;
};

static int add_sl(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n, unsigned int index,
		  void *arg, struct ibcc_yaml_errors *e)
{
	const struct sls *s = arg;
	uint64_t profile;

	if (index >= IBCC_CC_SLS || !ibcc_yaml_is_plain(n) ||
	    ibcc_yaml_parse_uint(ibcc_yaml_scalar(n), &profile) || profile > s->n_profiles)
		return ibcc_yaml_want(y, e, n, "dcqcn.sl2profile",
				      "at most 16 numbers of profiles from 1 on, or 0 for none");
	s->d->sl2profile[index] = (uint8_t)profile;
	return 0;
}

static void read_sls(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		     struct ibcc_dcqcn *d, size_t n_profiles, struct ibcc_yaml_errors *e)
{
	memset(d->sl2profile, 0, sizeof(d->sl2profile));
	ibcc_yaml_each(y, n, "dcqcn.sl2profile", add_sl, &(struct sls){ d, n_profiles }, e);
}

int ibcc_scenario_read_dcqcn(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			     struct ibcc_model *m, struct ibcc_yaml_errors *e)
{
	static const char *const cnp_pers[] = { "qp", "port", NULL };
	static const char *const shaper_pers[] = { "qp", "lid", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("enabled", BOOL, struct dcqcn_yaml, d.enabled) },
		{ IBCC_YAML_MEMBER("aqs_weight", UINT, struct dcqcn_yaml, d.aqs_weight),
		  .max = 15 },
		{ IBCC_YAML_MEMBER("aqs_time", UINT, struct dcqcn_yaml, d.aqs_time), .max = 24 },
		{ IBCC_YAML_MEMBER("source_only", BOOL, struct dcqcn_yaml, d.source_only) },
		{ IBCC_YAML_MEMBER("profiles", NODE, struct dcqcn_yaml, profiles), .required = true,
		  .want = "a list of 1 to 3 profiles" },
		{ IBCC_YAML_MEMBER("sl2profile", NODE, struct dcqcn_yaml, sl2profile) },
		{ IBCC_YAML_MEMBER("cnp_per", ENUM, struct dcqcn_yaml, cnp_per),
		  .names = cnp_pers },
		{ IBCC_YAML_MEMBER("min_time_between_cnps", UINT, struct dcqcn_yaml,
				   d.min_time_between_cnps_us),
		  .max = MAX_CLOCK_US },
		{ IBCC_YAML_MEMBER("cnp_sl", UINT, struct dcqcn_yaml, d.cnp_sl), .max = 15 },
		{ IBCC_YAML_MEMBER("shaper_per", ENUM, struct dcqcn_yaml, shaper_per),
		  .names = shaper_pers },
		{ IBCC_YAML_MEMBER("rpg_time_reset", UINT, struct dcqcn_yaml,
				   d.rp.rpg_time_reset_us),
		  .min = 1, .max = MAX_CLOCK_US },
		{ IBCC_YAML_MEMBER("rpg_byte_reset", UINT, struct dcqcn_yaml,
				   d.rp.rpg_byte_reset_bytes) },
		{ IBCC_YAML_MEMBER("rpg_threshold", UINT, struct dcqcn_yaml, d.rp.rpg_threshold),
		  .max = 31 },
		{ IBCC_YAML_MEMBER("rpg_max_rate", UINT, struct dcqcn_yaml, d.rp.rpg_max_rate_mbps),
		  .max = MAX_RATE_MBPS },
		{ IBCC_YAML_MEMBER("rpg_ai_rate", UINT, struct dcqcn_yaml, d.rp.rpg_ai_rate_mbps),
		  .max = MAX_RATE_MBPS },
		{ IBCC_YAML_MEMBER("rpg_hai_rate", UINT, struct dcqcn_yaml, d.rp.rpg_hai_rate_mbps),
		  .max = MAX_RATE_MBPS },
		{ IBCC_YAML_MEMBER("rpg_gd", UINT, struct dcqcn_yaml, d.rp.rpg_gd), .max = 15 },
		{ IBCC_YAML_MEMBER("rpg_min_dec_fac", UINT, struct dcqcn_yaml,
				   d.rp.rpg_min_dec_fac),
		  .min = 1, .max = 100 },
		{ IBCC_YAML_MEMBER("rpg_min_rate", UINT, struct dcqcn_yaml, d.rp.rpg_min_rate_mbps),
		  .min = 1, .max = MAX_RATE_MBPS },
		{ IBCC_YAML_MEMBER("rate_to_set_on_first_cnp", UINT, struct dcqcn_yaml,
				   d.rp.rate_to_set_on_first_cnp_mbps),
		  .max = MAX_RATE_MBPS },
		{ IBCC_YAML_MEMBER("dce_tcp_g", UINT, struct dcqcn_yaml, d.rp.dce_tcp_g), .min = 1,
		  .max = 1023 },
		{ IBCC_YAML_MEMBER("dce_tcp_rtt", UINT, struct dcqcn_yaml, d.rp.dce_tcp_rtt_us),
		  .min = 1, .max = MAX_CLOCK_US },
		{ IBCC_YAML_MEMBER("rate_reduce_monitor_period", UINT, struct dcqcn_yaml,
				   d.rp.rate_reduce_monitor_period_us),
		  .min = 1, .max = MAX_CLOCK_US },
		{ IBCC_YAML_MEMBER("initial_alpha_value", UINT, struct dcqcn_yaml,
				   d.rp.initial_alpha_value),
		  .max = 1023 },
		{ IBCC_YAML_MEMBER("clamp_tgt_rate", BOOL, struct dcqcn_yaml,
				   d.rp.clamp_tgt_rate) },
		{ IBCC_YAML_MEMBER("clamp_tgt_rate_after_time_inc", BOOL, struct dcqcn_yaml,
				   d.rp.clamp_tgt_rate_after_time_inc) },
		{ .name = NULL },
	};
	struct dcqcn_yaml dy = { .d = m->dcqcn };
	unsigned int before = e->n;

	dy.d.enabled = true;
	ibcc_yaml_read(y, n, "dcqcn", keys, &dy, e);
	dy.d.cnp_per_port = dy.cnp_per;
	dy.d.shaper_per_lid = dy.shaper_per;
	if (dy.profiles)
		read_profiles(y, dy.profiles, &dy.d, e);
	if (dy.profiles && dy.sl2profile)
		read_sls(y, dy.sl2profile, &dy.d, ibcc_yaml_length(dy.profiles), e);
	if (dy.d.enabled && m->bcn.enabled)
		ibcc_yaml_error(y, e, n, "dcqcn", "want no bcn beside it");
	m->dcqcn = dy.d;
	return e->n == before ? 0 : -EINVAL;
}
