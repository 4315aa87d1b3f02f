/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans and an applier for tests of what is done with them. Include after fabrics.h. */
#ifndef TEST_PLANS_H
#define TEST_PLANS_H

#include <errno.h>
#include <string.h>

#include <ibcc/applier.h>
#include <ibcc/plan.h>

/* Appends a change of one byte of an attribute's data at a node of the Lustre fabric. */
static inline void plan_add(struct ibcc_plan *p, uint64_t guid, uint16_t attr_id, uint32_t attr_mod,
			    uint8_t from, uint8_t to)
{
	struct ibcc_change c = {
		.node_guid = guid, .lid = 7, .port = 1, .attr_id = attr_id, .attr_mod = attr_mod
	};

	c.old_data[5] = from;
	c.new_data[5] = to;
	snprintf(c.reason, sizeof(c.reason), "because %u", to);
	assert_int_equal(ibcc_plan_append(p, &c), 0);
}

/* An applier that remembers one byte for each attribute, and fails at a change on request. */
struct fake_applier {
	struct ibcc_applier base;
	int ready_err;
	uint64_t fail_guid; /* changes of this node fail, 0: none */
	int fail_err;       /* with this error */
	unsigned int runs;
	struct ibcc_plan applied; /* all changes that took effect, in order */
};

static inline int fake_ready(struct ibcc_applier *a, struct ibcc_why *why)
{
	struct fake_applier *f = (struct fake_applier *)a;

	return f->ready_err ? ibcc_why_set(why, f->ready_err, "not ready") : 0;
}

static inline int fake_run(struct ibcc_applier *a, const struct ibcc_plan *plan,
			   struct ibcc_result *r, struct ibcc_why *why)
{
	struct fake_applier *f = (struct fake_applier *)a;
	uint32_t i;

	f->runs++;
	for (i = 0; i < plan->n; i++) {
		r->set_mads++;
		if (plan->change[i].node_guid == f->fail_guid) {
			r->change[i].outcome = IBCC_OUTCOME_FAILED;
			r->change[i].err = f->fail_err;
			r->n_failed++;
			continue;
		}
		r->change[i].outcome = IBCC_OUTCOME_VERIFIED;
		r->n_verified++;
		assert_int_equal(ibcc_plan_append(&f->applied, &plan->change[i]), 0);
	}
	return r->n_failed ? ibcc_why_set(why, -EIO, "%u failed", r->n_failed) : 0;
}

static const struct ibcc_applier_ops fake_ops = { fake_ready, fake_run, NULL };

static inline struct fake_applier fake_applier(void)
{
	return (struct fake_applier){ .base = { &fake_ops, "fake", true, IBCC_BOUNDS_DEFAULT } };
}

/* The fabric's value of an attribute after all changes that were applied, or -1. */
static inline int fake_value(const struct fake_applier *f, uint64_t guid, uint16_t attr_id,
			     uint32_t attr_mod)
{
	uint32_t i;

	for (i = f->applied.n; i-- > 0;) {
		const struct ibcc_change *c = &f->applied.change[i];

		if (c->node_guid == guid && c->attr_id == attr_id && c->attr_mod == attr_mod)
			return c->new_data[5];
	}
	return -1;
}

#endif
