/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A plan: an array of changes, and what became of each of them (plan.h). The planner makes one from
 * a decision; books and audits make others.
 */
#include <ibcc/plan.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>

int ibcc_plan_append(struct ibcc_plan *plan, const struct ibcc_change *c)
{
	struct ibcc_change *grown = ibcc_grow(plan->change, plan->n, &plan->cap, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	plan->change = grown;
	plan->change[plan->n++] = *c;
	return 0;
}

uint32_t ibcc_plan_end(const struct ibcc_plan *plan, uint32_t i)
{
	const struct ibcc_change *c = &plan->change[i];

	for (i++; i < plan->n && plan->change[i].node_guid == c->node_guid &&
		  plan->change[i].port == c->port;
	     i++)
		;
	return i;
}

void ibcc_plan_fini(struct ibcc_plan *plan)
{
	if (!plan)
		return;
	free(plan->change);
	*plan = (struct ibcc_plan){ 0 };
}

void ibcc_plan_put(const struct ibcc_plan *plan, const struct ibcc_topo *t, bool back,
		   struct ibcc_settings *s)
{
	for (uint32_t i = 0; i < plan->n; i++) {
		const struct ibcc_change *c = &plan->change[i];
		uint32_t e = ibcc_change_endport(c, t);

		if (e < s->n)
			ibcc_settings_unpack(&s->ep[e], c->attr_id, c->attr_mod,
					     back ? c->old_data : c->new_data);
	}
}

int ibcc_plan_reverse(const struct ibcc_plan *plan, struct ibcc_plan *out)
{
	struct ibcc_plan r = {
		.generation = plan->generation,
		.n_unchanged = plan->n_unchanged,
		.n_unreachable = plan->n_unreachable,
	};

	for (uint32_t i = 0; i < plan->n; i++) {
		struct ibcc_change c = plan->change[i];

		memcpy(c.old_data, plan->change[i].new_data, sizeof(c.old_data));
		memcpy(c.new_data, plan->change[i].old_data, sizeof(c.new_data));
		if (ibcc_plan_append(&r, &c)) {
			ibcc_plan_fini(&r);
			return -ENOMEM;
		}
	}
	*out = r;
	return 0;
}

const char *ibcc_outcome_name(enum ibcc_outcome o)
{
	switch (o) {
	case IBCC_OUTCOME_PENDING: return "pending";
	case IBCC_OUTCOME_VERIFIED: return "verified";
	case IBCC_OUTCOME_FAILED: return "failed";
	case IBCC_OUTCOME_DIFFERS: return "differs";
	case IBCC_OUTCOME_SKIPPED: return "skipped";
	case IBCC_OUTCOME_DRY: return "dry";
	}
	return "unknown";
}

/* Pending changes count, too: the program that applies them may have ended before it could report.
 */
bool ibcc_outcome_is_sent(enum ibcc_outcome o)
{
	return o != IBCC_OUTCOME_SKIPPED && o != IBCC_OUTCOME_DRY;
}

int ibcc_result_init(struct ibcc_result *r, uint32_t n)
{
	struct ibcc_change_result *change = calloc(n ? n : 1, sizeof(*change));

	if (!change)
		return -ENOMEM;
	*r = (struct ibcc_result){ .n = n, .change = change };
	return 0;
}

void ibcc_result_fini(struct ibcc_result *r)
{
	if (!r)
		return;
	free(r->change);
	*r = (struct ibcc_result){ 0 };
}
