/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Variants of a scenario, and cases: one scenario under each way of congestion control. */
#include <math.h>
#include <stdio.h>

#include "perftest/bench/experiment_read.h"
#include "perftest/bench/oracle_file.h"

struct variant_yaml {
	char name[IBCC_EXP_NAME_BYTES];
	const struct ibcc_yaml_node *like, *set, *live;
	uint32_t seeds;
	int profile;
};

static int read_control(const struct ibcc_exp_reader *r, const struct ibcc_yaml_node *n,
			const char *path, struct ibcc_live_options *o)
{
	static const char *const faults[] = { "none", "silent", "reset", "reboot", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("poll_ms", DOUBLE, struct ibcc_live_options, poll_ms),
		  .min = 0.01, .max = 10000 },
		{ IBCC_YAML_MEMBER("fast_ms", DOUBLE, struct ibcc_live_options, fast_ms), .min = 0,
		  .max = 10000 },
		{ IBCC_YAML_MEMBER("fast_nodes", UINT, struct ibcc_live_options, fast_nodes),
		  .min = 1, .max = 65535 },
		{ IBCC_YAML_MEMBER("rtt_us", DOUBLE, struct ibcc_live_options, rtt_us), .min = 0,
		  .max = 10000 },
		{ IBCC_YAML_MEMBER("lose_percent", DOUBLE, struct ibcc_live_options, lose_percent),
		  .min = 0, .max = 100 },
		{ IBCC_YAML_MEMBER("whole_switch_marks", BOOL, struct ibcc_live_options,
				   whole_switch_marks) },
		{ IBCC_YAML_MEMBER("no_logs", BOOL, struct ibcc_live_options, no_logs) },
		{ IBCC_YAML_MEMBER("no_waits", BOOL, struct ibcc_live_options, no_waits) },
		{ IBCC_YAML_MEMBER("per_sl", BOOL, struct ibcc_live_options, per_sl) },
		{ IBCC_YAML_MEMBER("fault", ENUM, struct ibcc_live_options, fault),
		  .names = faults },
		{ IBCC_YAML_MEMBER("fault_pass", UINT, struct ibcc_live_options, fault_pass),
		  .max = UINT32_MAX },
		{ IBCC_YAML_MEMBER("fault_node", STRING, struct ibcc_live_options, fault_node) },
		{ IBCC_YAML_MEMBER("confirm_passes", UINT, struct ibcc_live_options,
				   tuner.confirm_passes) },
		{ IBCC_YAML_MEMBER("settle_passes", UINT, struct ibcc_live_options,
				   tuner.settle_passes) },
		{ IBCC_YAML_MEMBER("sink_busy_permille", UINT, struct ibcc_live_options,
				   tuner.sink_busy_permille) },
		{ IBCC_YAML_MEMBER("victim_wait_permille", UINT, struct ibcc_live_options,
				   tuner.victim_wait_permille) },
		{ IBCC_YAML_MEMBER("quiet_passes", UINT, struct ibcc_live_options,
				   tuner.quiet_passes) },
		{ IBCC_YAML_MEMBER("guard_passes", UINT, struct ibcc_live_options,
				   tuner.guard_passes) },
		{ .name = NULL },
	};

	return ibcc_yaml_read(r->y, n, path, keys, o, r->e);
}

/* Reads `live`: the loop of the variant named by `like`, if any, with other conditions. */
static int read_live(const struct ibcc_exp_reader *r, const struct variant_yaml *vy,
		     struct ibcc_exp_variant *v)
{
	struct ibcc_words names = { 0 };
	int rc = ibcc_exp_read_words(r, vy->like, "variants.like", &names);

	ibcc_live_defaults(&v->control);
	for (size_t i = 0; i < names.n && !rc; i++) {
		const struct ibcc_exp_variant *like = ibcc_exp_find_variant(r->x, names.w[i]);

		if (like && like->live) {
			v->live = true;
			v->control = like->control;
		}
	}
	ibcc_words_fini(&names);
	if (rc || !vy->live)
		return rc;
	v->live = true;
	return read_control(r, vy->live, "variants.live", &v->control);
}

int ibcc_exp_read_variant(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
			  unsigned int index, void *arg, struct ibcc_yaml_errors *e)
{
	static const char *const profiles[] = { "given", "advised", "best", NULL };
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct variant_yaml, name), .required = true },
		{ IBCC_YAML_MEMBER("like", NODE, struct variant_yaml, like) },
		{ IBCC_YAML_MEMBER("set", NODE, struct variant_yaml, set) },
		{ IBCC_YAML_MEMBER("live", NODE, struct variant_yaml, live) },
		{ IBCC_YAML_MEMBER("seeds", UINT, struct variant_yaml, seeds), .min = 1,
		  .max = MAX_SEEDS },
		{ IBCC_YAML_MEMBER("profile", ENUM, struct variant_yaml, profile),
		  .names = profiles },
		{ .name = NULL },
	};
	struct ibcc_exp_reader *r = arg;
	struct variant_yaml vy = { .seeds = 1 };
	struct ibcc_words set = { 0 };
	struct ibcc_exp_variant *v;
	int rc;

	(void)index;
	if (ibcc_yaml_read(y, n, "variants", keys, &vy, e))
		return -EINVAL;
	if (ibcc_exp_find_variant(r->x, vy.name))
		return ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "name"), "variants.name",
				      "different names");
	rc = ibcc_exp_collect(r, vy.like, vy.set, "variants.set", &set);
	v = rc ? NULL : ibcc_exp_append(&r->x->variant, &r->x->n_variants, sizeof(*v));
	if (!v) {
		ibcc_words_fini(&set);
		return rc ? rc : -ENOMEM;
	}
	memcpy(v->name, vy.name, sizeof(v->name));
	v->set = set;
	v->seeds = vy.seeds;
	v->profile = vy.profile;
	return read_live(r, &vy, v);
}

struct case_yaml {
	char name[IBCC_EXP_NAME_BYTES];
	const struct ibcc_yaml_node *like, *set, *published, *live;
	bool rules, settles;
};

static const char *const columns[IBCC_EXP_N_COLUMNS] = { "",         "off",  "published",
							 "formulas", "best", "live" };

const char *ibcc_exp_column_name(enum ibcc_exp_column c)
{
	return columns[c];
}

/* The variant CASE/COLUMN, with the scenario's assignments and then some more. */
static int add_column(const struct ibcc_exp_reader *r, const struct case_yaml *cy,
		      enum ibcc_exp_column column, const struct ibcc_words *base,
		      const struct ibcc_words *more)
{
	struct ibcc_experiment *x = r->x;
	struct ibcc_exp_variant *v = ibcc_exp_append(&x->variant, &x->n_variants, sizeof(*v));
	int rc;

	if (!v)
		return -ENOMEM;
	v->seeds = 1;
	v->column = column;
	v->exp_case = x->n_cases - 1;
	v->live = column == IBCC_EXP_COLUMN_LIVE;
	ibcc_live_defaults(&v->control);
	snprintf(v->name, sizeof(v->name), "%.80s/%s", cy->name, columns[column]);
	rc = ibcc_words_add_all(&v->set, base);
	if (!rc && more)
		rc = ibcc_words_add_all(&v->set, more);
	return rc;
}

/* Assignments of other cases come first, as the variants NAME/off have them. */
static int collect_case(const struct ibcc_exp_reader *r, const struct case_yaml *cy,
			struct ibcc_words *out)
{
	char off[IBCC_EXP_NAME_BYTES + 8];
	struct ibcc_words names = { 0 };
	int rc = ibcc_exp_read_words(r, cy->like, "cases.like", &names);

	for (size_t i = 0; i < names.n && !rc; i++) {
		const struct ibcc_exp_variant *v;

		snprintf(off, sizeof(off), "%.80s/off", names.w[i]);
		v = ibcc_exp_find_variant(r->x, off);
		rc = v ? ibcc_words_add_all(out, &v->set)
		       : ibcc_yaml_want(r->y, r->e, cy->like, "cases.like",
					"cases that come before");
	}
	ibcc_words_fini(&names);
	return rc ? rc : ibcc_exp_read_words(r, cy->set, "cases.set", out);
}

static int add_columns(const struct ibcc_exp_reader *r, const struct case_yaml *cy,
		       const struct ibcc_words *base)
{
	struct ibcc_words published = { 0 }, best = { 0 };
	int rc = ibcc_exp_read_words(r, cy->published, "cases.published", &published);

	if (!rc)
		rc = ibcc_oracle_find(r->file, cy->name, &best, r->e);
	if (!rc)
		rc = add_column(r, cy, IBCC_EXP_COLUMN_OFF, base, NULL);
	if (!rc && published.n)
		rc = add_column(r, cy, IBCC_EXP_COLUMN_PUBLISHED, base, &published);
	if (!rc)
		rc = add_column(r, cy, IBCC_EXP_COLUMN_FORMULAS, base, NULL);
	if (!rc && best.n)
		rc = add_column(r, cy, IBCC_EXP_COLUMN_BEST, base, &best);
	if (!rc)
		rc = add_column(r, cy, IBCC_EXP_COLUMN_LIVE, base, NULL);
	r->x->exp_case[r->x->n_cases - 1].has_best = best.n > 0;
	ibcc_words_fini(&published);
	ibcc_words_fini(&best);
	return rc;
}

int ibcc_exp_read_case(const struct ibcc_yaml *y, const struct ibcc_yaml_node *n,
		       unsigned int index, void *arg, struct ibcc_yaml_errors *e)
{
	static const struct ibcc_yaml_key keys[] = {
		{ IBCC_YAML_MEMBER("name", STRING, struct case_yaml, name), .required = true },
		{ IBCC_YAML_MEMBER("like", NODE, struct case_yaml, like) },
		{ IBCC_YAML_MEMBER("set", NODE, struct case_yaml, set) },
		{ IBCC_YAML_MEMBER("published", NODE, struct case_yaml, published) },
		{ IBCC_YAML_MEMBER("live", NODE, struct case_yaml, live) },
		{ IBCC_YAML_MEMBER("rules", BOOL, struct case_yaml, rules) },
		{ IBCC_YAML_MEMBER("settles", BOOL, struct case_yaml, settles) },
		{ .name = NULL },
	};
	const struct ibcc_exp_reader *r = arg;
	struct case_yaml cy = { .rules = true, .settles = true };
	struct ibcc_experiment *x = r->x;
	struct ibcc_words base = { 0 };
	struct ibcc_exp_case *c;
	int rc;

	(void)index;
	if (ibcc_yaml_read(y, n, "cases", keys, &cy, e))
		return -EINVAL;
	for (size_t i = 0; i < x->n_cases; i++)
		if (!strcmp(x->exp_case[i].name, cy.name))
			return ibcc_yaml_want(y, e, ibcc_yaml_get(y, n, "name"), "cases.name",
					      "different names");
	c = ibcc_exp_append(&x->exp_case, &x->n_cases, sizeof(*c));
	if (!c)
		return -ENOMEM;
	memcpy(c->name, cy.name, sizeof(c->name));
	c->rules = cy.rules;
	c->settles = cy.settles;
	rc = collect_case(r, &cy, &base);
	if (!rc)
		rc = add_columns(r, &cy, &base);
	if (!rc && cy.live)
		rc = read_control(r, cy.live, "cases.live", &x->variant[x->n_variants - 1].control);
	ibcc_words_fini(&base);
	return rc;
}

/* Adds what must hold in every case: no harm, nearly as good as any static setting, and quiet. */
int ibcc_exp_add_rules(const struct ibcc_exp_reader *r, const struct ibcc_yaml_node *at)
{
	static const struct ibcc_exp_row rule[] = {
		{ .name = "{}: live over off",
		  .unit = "% of share",
		  .value = "100 * (ideal_share({}/live) / ideal_share({}/off) - 1)",
		  .low = -1,
		  .high = NAN,
		  .reason = "the loop must never do harm" },
		{ .name = "{}: mean latency of others, live over off",
		  .unit = "%",
		  .value = "100 * (latency({}/live, others) / latency({}/off, others) - 1)",
		  .low = NAN,
		  .high = NAN },
		{ .name = "{}: rounds of changes when settled",
		  .unit = "in 20 passes",
		  .value = "crowded_rounds({}/live)",
		  .low = NAN,
		  .high = 1,
		  .reason = "few changes" },
		{ .name = "{}: live over best static",
		  .unit = "% of share",
		  .value = "100 * (ideal_share({}/live) / ideal_share({}/best) - 1)",
		  .low = -2,
		  .high = NAN,
		  .reason = "the best static setting was found with the scenario known",
		  .only_full = true },
	};
	int rc = 0;

	for (size_t c = 0; c < r->x->n_cases; c++) {
		const struct ibcc_exp_case *k = &r->x->exp_case[c];

		for (size_t i = 0; i < sizeof(rule) / sizeof(*rule) && k->rules && !rc; i++) {
			struct ibcc_exp_row row = rule[i];

			if ((strstr(row.value, "{}/best") && !k->has_best) ||
			    (strstr(row.value, "rounds") && !k->settles))
				continue;
			row.published = row.measured = NAN;
			rc = ibcc_exp_add_row(r, &row, k->name, at);
		}
	}
	return rc;
}
