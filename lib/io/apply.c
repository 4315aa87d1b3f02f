/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries out a plan. Nodes go side by side; on one node a change is written and read back before
 * the next, since firmware may depend on the order and a half-written node must stop.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/apply.h>

#include "lib/io/batch.h"

/* Sets between two questions whether to go on: the window runs empty at the end of each wave, so with
 * a few windows in one it is full most of the time.
 */
#define WAVE_NODES 256u

/* The changes of one node: indices order[first] .. order[end - 1] of the plan. */
struct group {
	uint32_t next, end;
};

struct apply {
	struct ibcc_transport *tr;
	const struct ibcc_plan *plan;
	const struct ibcc_apply_options *o;
	struct ibcc_result *r;
	uint32_t *order; /* the plan's indices by node */
	struct group *group;
	uint32_t n_groups;
	struct ibcc_batch batch;
};

static void settle(struct apply *a, uint32_t i, enum ibcc_outcome outcome, int err, uint16_t status)
{
	a->r->change[i] = (struct ibcc_change_result){
		.outcome = outcome,
		.err = err,
		.status = status,
	};
	if (outcome == IBCC_OUTCOME_VERIFIED)
		a->r->n_verified++;
	if (outcome == IBCC_OUTCOME_FAILED || outcome == IBCC_OUTCOME_DIFFERS)
		a->r->n_failed++;
}

/* A change came to nothing: what is left of its node would build on it. */
static void fail(struct apply *a, struct group *g, enum ibcc_outcome outcome, int err,
		 uint16_t status)
{
	settle(a, a->order[g->next++], outcome, err, status);
	while (g->next < g->end)
		settle(a, a->order[g->next++], IBCC_OUTCOME_SKIPPED, 0, 0);
}

static int by_node(const void *x, const void *y, void *arg)
{
	const struct ibcc_plan *plan = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	uint64_t a = plan->change[i].node_guid, b = plan->change[k].node_guid;

	return a != b ? (a > b) - (a < b) : (i > k) - (i < k);
}

static int make_groups(struct apply *a)
{
	uint32_t n = a->plan->n;

	a->order = calloc(n ? n : 1, sizeof(*a->order));
	a->group = calloc(n ? n : 1, sizeof(*a->group));
	if (!a->order || !a->group)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		a->order[i] = i;
	qsort_r(a->order, n, sizeof(*a->order), by_node, (void *)(uintptr_t)a->plan);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t guid = a->plan->change[a->order[k]].node_guid;

		if (k == 0 || a->plan->change[a->order[k - 1]].node_guid != guid)
			a->group[a->n_groups++] = (struct group){ .next = k };
		a->group[a->n_groups - 1].end = k + 1;
	}
	return 0;
}

static const struct ibcc_change *current(const struct apply *a, const struct group *g)
{
	return &a->plan->change[a->order[g->next]];
}

static int add_request(struct apply *a, uint32_t group, enum ibcc_mad_method method)
{
	const struct ibcc_change *c = current(a, &a->group[group]);
	struct ibcc_mad_op *op =
		ibcc_batch_add(&a->batch, c->lid, (struct ibcc_batch_tag){ .index = group });

	if (!op)
		return -ENOMEM;
	ibcc_mad_request(op->mad, IBCC_MAD_CLASS_CC, method, c->attr_id, c->attr_mod);
	ibcc_cc_key_pack(op->mad, a->o->cc_key);
	if (method == IBCC_MAD_SET)
		memcpy(op->mad + IBCC_MAD_DATA_OFFS, c->new_data, sizeof(c->new_data));
	return 0;
}

/* One change of each of some nodes, from group *from on: all are written, then all are read back.
 * *from moves on to the first group that was not looked at.
 */
static int wave(struct apply *a, uint32_t *from)
{
	uint32_t set[WAVE_NODES], n_set = 0;
	int rc = 0;

	ibcc_batch_clear(&a->batch);
	for (; *from < a->n_groups && n_set < WAVE_NODES && rc == 0; (*from)++) {
		if (a->group[*from].next == a->group[*from].end)
			continue;
		rc = add_request(a, *from, IBCC_MAD_SET);
		set[n_set++] = *from;
	}
	if (rc < 0 || n_set == 0)
		return rc;
	if (a->o->may_continue && !a->o->may_continue(a->o->arg))
		return -ECANCELED;
	a->r->set_mads += n_set;
	rc = ibcc_batch_run(&a->batch, a->tr);

	/* Even if the transport broke down: what was answered was written, and must be told. */
	for (uint32_t k = 0; k < n_set; k++) {
		const struct ibcc_mad_op *op = &a->batch.op[k];

		if (op->err < 0)
			fail(a, &a->group[set[k]], IBCC_OUTCOME_FAILED, op->err, op->status);
	}
	ibcc_batch_clear(&a->batch);
	for (uint32_t k = 0; k < n_set; k++) {
		if (a->group[set[k]].next == a->group[set[k]].end)
			continue;
		if (add_request(a, set[k], IBCC_MAD_GET) < 0)
			return -ENOMEM;
	}
	if (rc == 0)
		rc = ibcc_batch_run(&a->batch, a->tr);
	else
		for (size_t k = 0; k < a->batch.n; k++)
			a->batch.op[k].err = rc;
	for (size_t k = 0; k < a->batch.n; k++) {
		const struct ibcc_mad_op *op = &a->batch.op[k];
		struct group *g = &a->group[a->batch.tag[k].index];
		const struct ibcc_change *c = current(a, g);

		if (op->err < 0)
			fail(a, g, IBCC_OUTCOME_FAILED, op->err, op->status);
		else if (!ibcc_plan_verify(c->attr_id, c->attr_mod, c->new_data,
					   op->mad + IBCC_MAD_DATA_OFFS))
			fail(a, g, IBCC_OUTCOME_DIFFERS, 0, 0);
		else
			settle(a, a->order[g->next++], IBCC_OUTCOME_VERIFIED, 0, 0);
	}
	return rc;
}

static bool is_done(const struct apply *a)
{
	for (uint32_t g = 0; g < a->n_groups; g++) {
		if (a->group[g].next < a->group[g].end)
			return false;
	}
	return true;
}

int ibcc_apply_run(struct ibcc_transport *t, const struct ibcc_plan *plan,
		   const struct ibcc_apply_options *o, struct ibcc_result *r)
{
	struct apply a = { .tr = t, .plan = plan, .o = o, .r = r };
	uint32_t from = 0;
	int rc;

	r->n_verified = r->n_failed = r->set_mads = 0;
	for (uint32_t i = 0; i < plan->n; i++)
		settle(&a, i, o->dry ? IBCC_OUTCOME_DRY : IBCC_OUTCOME_PENDING, 0, 0);
	if (o->dry)
		return 0;
	rc = make_groups(&a);
	while (rc == 0 && !is_done(&a)) {
		rc = wave(&a, &from);
		if (from == a.n_groups)
			from = 0;
	}
	if (rc == 0 && r->n_verified < plan->n)
		rc = -EIO;
	free(a.order);
	free(a.group);
	ibcc_batch_fini(&a.batch);
	return rc;
}
