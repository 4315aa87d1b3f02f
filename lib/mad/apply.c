/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries out a plan over a transport. Begin with ibcc_apply_run() and wave().
 *
 * Nodes are written side by side. On one node, a change is written and read back before the next,
 * since firmware may depend on the order, and a half-written node must stop.
 *
 * QLogic's agent takes tables block by block, with a limit of its own in each block, and a CA
 * setting takes effect only with the next table. That is found out on the way (struct group:
 * by_block, latent).
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/apply.h>
#include <ibcc/text.h>
#include <ibcc/vendor_cc.h>

#include "lib/mad/apply_check.h"
#include "lib/mad/batch.h"

/* Sets in a wave. The window runs empty at the end of each, so a wave is a few windows long. */
#define WAVE_NODES 256u

/* Changes that are made one after the other: those of a node, or one that stands_alone(). Still to
 * be made are order[next] to order[end - 1] of the plan.
 */
struct group {
	uint32_t first, next, end;
	/* Found out on the way: this node takes tables block by block (QLogic's agent). Its CA
	 * setting shows only after the next table: order[latent - 1] is read again then.
	 */
	bool by_block;
	uint32_t latent; /* 0: none */
	uint32_t taken;  /* order[] before it was taken when the table was first sent */
};

struct apply {
	struct ibcc_transport *tr;
	const struct ibcc_plan *plan;
	const struct ibcc_apply_options *o;
	struct ibcc_result *r;
	uint32_t *order; /* the plan's indices by group */
	struct group *group;
	uint32_t n_groups;
	bool *tried; /* by group: it is to be read back in this wave */
	bool proved; /* a marking profile was written and read back: the others may follow */
	struct ibcc_batch batch;
};

/* Notes the outcome of a change. */
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

/* A change has failed. What is left of its group, which would build on it, is skipped. */
static void fail(struct apply *a, struct group *g, enum ibcc_outcome outcome, int err,
		 uint16_t status)
{
	if (g->next == g->end) {
		settle(a, a->order[g->latent - 1], outcome, err, status);
	} else {
		if (g->latent) /* the node took the change, but it was not seen to take effect */
			settle(a, a->order[g->latent - 1], IBCC_OUTCOME_DIFFERS, 0, 0);
		if (g->next < g->taken && outcome == IBCC_OUTCOME_SKIPPED)
			outcome = IBCC_OUTCOME_DIFFERS;
		else if (g->next < g->taken && err == IBCC_CHANGE_REFUSED)
			err = IBCC_CHANGE_TAKEN;
		settle(a, a->order[g->next++], outcome, err, status);
	}
	g->latent = 0;
	while (g->next < g->taken) /* the node may have what was sent to it before */
		settle(a, a->order[g->next++], IBCC_OUTCOME_DIFFERS, 0, 0);
	while (g->next < g->end)
		settle(a, a->order[g->next++], IBCC_OUTCOME_SKIPPED, 0, 0);
}

/* The marking profiles of a port are a register of their own. Whatever keeps one from going back is
 * no reason to leave another port of the switch throttled.
 */
static bool stands_alone(const struct ibcc_plan *plan, uint32_t i)
{
	const struct ibcc_change *c = &plan->change[i];

	return c->attr_id == IBCC_VCC_ATTR_SW_PROFILE && (plan->back || c->back);
}

static int by_node(const void *x, const void *y, void *arg)
{
	const struct ibcc_plan *plan = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	uint64_t a = plan->change[i].node_guid, b = plan->change[k].node_guid;
	bool alone = stands_alone(plan, i);

	if (a != b)
		return (a > b) - (a < b);
	return alone != stands_alone(plan, k) ? (alone ? 1 : -1) : (i > k) - (i < k);
}

static int make_groups(struct apply *a)
{
	uint32_t n = a->plan->n;

	a->order = calloc(n ? n : 1, sizeof(*a->order));
	a->group = calloc(n ? n : 1, sizeof(*a->group));
	a->tried = calloc(n ? n : 1, sizeof(*a->tried));
	if (!a->order || !a->group || !a->tried)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		a->order[i] = i;
	qsort_r(a->order, n, sizeof(*a->order), by_node, (void *)(uintptr_t)a->plan);
	for (uint32_t k = 0; k < n; k++) {
		uint64_t guid = a->plan->change[a->order[k]].node_guid;

		if (k == 0 || a->plan->change[a->order[k - 1]].node_guid != guid ||
		    stands_alone(a->plan, a->order[k]))
			a->group[a->n_groups++] = (struct group){ .first = k, .next = k };
		a->group[a->n_groups - 1].end = k + 1;
	}
	return 0;
}

/* Whether nothing is left to do for a node. */
static bool is_through(const struct group *g)
{
	return g->next == g->end && !g->latent;
}

/* The change that a group is at: its next one, or at the end the latent one once more. */
static const struct ibcc_change *current(const struct apply *a, const struct group *g)
{
	return &a->plan->change[a->order[g->next < g->end ? g->next : g->latent - 1]];
}

static uint16_t limit_of(const uint8_t *data)
{
	return (uint16_t)(data[0] << 8 | data[1]);
}

/* A change's new data as its node wants to have them. */
static void new_data(const struct group *g, const struct ibcc_change *c, uint8_t *data)
{
	uint16_t limit;

	memcpy(data, c->new_data, sizeof(c->new_data));
	if (!g->by_block || c->attr_id != IBCC_CC_ATTR_CCT)
		return;
	limit = ibcc_cct_block_limit(limit_of(data), c->attr_mod);
	data[0] = (uint8_t)(limit >> 8);
	data[1] = (uint8_t)limit;
}

/* The key that a node wants after a change: its new one, if that is what was changed. */
static uint64_t key_after(const struct apply *a, const struct ibcc_change *c)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_cc_key_info key;

	if (c->attr_id != IBCC_CC_ATTR_KEY_INFO)
		return ibcc_apply_key(a->o, c);
	memcpy(mad + IBCC_MAD_DATA_OFFS, c->new_data, sizeof(c->new_data));
	ibcc_cc_key_info_unpack(mad, &key);
	return key.CC_Key;
}

static int add_request(struct apply *a, uint32_t group, enum ibcc_mad_method method)
{
	const struct group *g = &a->group[group];
	const struct ibcc_change *c = current(a, g);
	struct ibcc_mad_op *op =
		ibcc_batch_add(&a->batch, c->lid, (struct ibcc_batch_tag){ .index = group });

	if (!op)
		return -ENOMEM;
	ibcc_mad_request(op->mad, IBCC_MAD_CLASS_CC, method, c->attr_id, c->attr_mod);
	ibcc_cc_key_pack(op->mad,
			 method == IBCC_MAD_GET ? key_after(a, c) : ibcc_apply_key(a->o, c));
	if (method == IBCC_MAD_SET)
		new_data(g, c, op->mad + IBCC_MAD_DATA_OFFS);
	return 0;
}

/* Called when a node has refused a block of a table, or returned another limit (`got`, else NULL)
 * than was sent. If limits per block may help, goes back to send the table again with them.
 */
static bool retry_by_block(struct apply *a, struct group *g, const uint8_t *got)
{
	const struct ibcc_change *c = current(a, g), *b;
	uint32_t from = g->next + 1;
	bool helps = false;

	if (g->by_block || g->next == g->end || c->attr_id != IBCC_CC_ATTR_CCT)
		return false;
	helps = got && limit_of(got) == IBCC_CCT_BLOCK_ENTRIES * (c->attr_mod + 1) - 1;
	for (; from > g->first; from--) {
		b = &a->plan->change[a->order[from - 1]];
		if (b->attr_id != c->attr_id || b->port != c->port)
			break;
		helps |= ibcc_cct_block_limit(limit_of(b->new_data), b->attr_mod) !=
			 limit_of(b->new_data);
	}
	if (!helps)
		return false;
	g->by_block = true;
	g->taken = g->next + (got != NULL);
	while (g->next > from) {
		a->r->n_verified--;
		settle(a, a->order[--g->next], IBCC_OUTCOME_PENDING, 0, 0);
	}
	return true;
}

/* Verifies as ibcc_plan_verify() does. Such a node returns a block's end as its limit, and knows
 * only the mode SL.
 */
static bool is_same_by_block(const struct ibcc_change *c, const uint8_t *want, uint8_t *got)
{
	if (c->attr_id == IBCC_CC_ATTR_CCT) {
		if (limit_of(got) == IBCC_CCT_BLOCK_ENTRIES * (c->attr_mod + 1) - 1)
			memcpy(got, want, 2);
	} else if (c->attr_id == IBCC_CC_ATTR_CA_SETTING) {
		memcpy(got, want, 2);
	}
	return ibcc_plan_verify(c->attr_id, c->attr_mod, want, got);
}

/* Whether a CA setting that reads as before may come into effect with the table behind it. */
static bool may_be_latent(const struct apply *a, const struct group *g, uint8_t *got)
{
	const struct ibcc_change *c = current(a, g);

	return g->next + 1 < g->end && c->attr_id == IBCC_CC_ATTR_CA_SETTING &&
	       a->plan->change[a->order[g->next + 1]].attr_id == IBCC_CC_ATTR_CCT &&
	       is_same_by_block(c, c->old_data, got);
}

/* A block behind the table's end need not be readable. */
static bool is_beyond_end(const struct apply *a, const struct group *g)
{
	const struct ibcc_change *c = current(a, g);

	return g->next < g->end && c->attr_id == IBCC_CC_ATTR_CCT &&
	       limit_of(c->new_data) < IBCC_CCT_BLOCK_ENTRIES * c->attr_mod;
}

/* Judges what a node returned when it was read after a Set. */
static void judge(struct apply *a, struct group *g, uint8_t *got)
{
	const struct ibcc_change *c = current(a, g);
	uint8_t want[IBCC_CC_DATA_BYTES];
	bool looks_back = g->next == g->end, same;

	new_data(g, c, want);
	same = g->by_block ? is_same_by_block(c, want, got)
			   : ibcc_plan_verify(c->attr_id, c->attr_mod, want, got);
	if (looks_back) {
		settle(a, a->order[g->latent - 1],
		       same ? IBCC_OUTCOME_VERIFIED : IBCC_OUTCOME_DIFFERS, 0, 0);
		g->latent = 0;
	} else if (same) {
		a->proved |= c->attr_id == IBCC_VCC_ATTR_SW_PROFILE;
		settle(a, a->order[g->next++], IBCC_OUTCOME_VERIFIED, 0, 0);
	} else if (!g->latent && may_be_latent(a, g, got)) {
		g->by_block = true;
		g->latent = ++g->next;
	} else if (!retry_by_block(a, g, got)) {
		fail(a, g, IBCC_OUTCOME_DIFFERS, 0, 0);
	}
}

/* Takes out of a wave the groups whose node is no longer at its LID. */
static int prove(struct apply *a, uint32_t *set, uint32_t *n_set)
{
	const struct ibcc_change *change[WAVE_NODES] = { NULL };
	uint32_t n = 0;
	int err[WAVE_NODES] = { 0 }, rc;

	for (uint32_t k = 0; k < *n_set; k++)
		change[k] = current(a, &a->group[set[k]]);
	rc = ibcc_apply_prove(a->tr, change, *n_set, a->o, err);
	for (uint32_t k = 0; k < *n_set && rc == 0; k++) {
		if (err[k])
			fail(a, &a->group[set[k]], IBCC_OUTCOME_SKIPPED, err[k], 0);
		else
			set[n++] = set[k];
	}
	*n_set = n;
	return rc;
}

/* Takes out of a wave the groups with values in bytes that the transport does not carry. */
static void refuse_unreadable(struct apply *a, uint32_t *set, uint32_t *n_set)
{
	uint32_t n = 0;

	for (uint32_t k = 0; k < *n_set; k++) {
		struct group *g = &a->group[set[k]];

		if (g->next < g->end && !ibcc_apply_is_readable(a->tr, current(a, g)))
			fail(a, g, IBCC_OUTCOME_SKIPPED, IBCC_CHANGE_UNREADABLE, 0);
		else
			set[n++] = set[k];
	}
	*n_set = n;
}

/* Whether a group's next change is a marking profile that has to wait until one was proved. */
static bool is_unproved(const struct apply *a, const struct group *g)
{
	const struct ibcc_change *c = current(a, g);

	return !a->proved && c->attr_id == IBCC_VCC_ATTR_SW_PROFILE && !a->plan->back && !c->back;
}

/* Picks the groups of a wave: those with something to do, from *from on, which moves on. Of those
 * with a marking profile the first one is alone until it is proved.
 */
static void pick(const struct apply *a, uint32_t *from, uint32_t *set, uint32_t *n_set)
{
	bool one = false;

	for (*n_set = 0; *from < a->n_groups && *n_set < WAVE_NODES; (*from)++) {
		bool unproved = !is_through(&a->group[*from]) && is_unproved(a, &a->group[*from]);

		if (!is_through(&a->group[*from]) && !(unproved && one))
			set[(*n_set)++] = *from;
		one |= unproved;
	}
}

/* Skips all marking profiles if the first one was tried in vain. */
static void give_up_unproved(struct apply *a)
{
	bool tried = false;

	for (uint32_t i = 0; i < a->plan->n; i++)
		tried |= a->plan->change[i].attr_id == IBCC_VCC_ATTR_SW_PROFILE &&
			 (a->r->change[i].outcome == IBCC_OUTCOME_FAILED ||
			  a->r->change[i].outcome == IBCC_OUTCOME_DIFFERS);
	for (uint32_t k = 0; tried && k < a->n_groups; k++)
		if (!is_through(&a->group[k]) && is_unproved(a, &a->group[k]))
			fail(a, &a->group[k], IBCC_OUTCOME_SKIPPED, 0, 0);
}

/* Adds a Set for the next change of each group of a wave. */
static int add_sets(struct apply *a, const uint32_t *set, uint32_t n_set)
{
	int rc = 0;

	ibcc_batch_clear(&a->batch);
	for (uint32_t k = 0; k < n_set && rc == 0; k++)
		if (a->group[set[k]].next < a->group[set[k]].end)
			rc = add_request(a, set[k], IBCC_MAD_SET);
	return rc;
}

/* The error of a Set. A busy node may have carried out an earlier attempt whose answer got lost. */
static int set_err(const struct ibcc_mad_op *op)
{
	if (op->err != -EREMOTEIO)
		return op->err;
	return op->status == IBCC_MAD_STATUS_BUSY ? IBCC_CHANGE_BUSY : IBCC_CHANGE_REFUSED;
}

/* Takes the answers to the Sets of a wave. */
static void take_sets(struct apply *a)
{
	for (size_t k = 0; k < a->batch.n; k++) {
		const struct ibcc_mad_op *op = &a->batch.op[k];
		struct group *g = &a->group[a->batch.tag[k].index];

		a->tried[a->batch.tag[k].index] = op->err == 0;
		if (op->err < 0 && !(ibcc_batch_is_refused(op) && retry_by_block(a, g, NULL)))
			fail(a, g, IBCC_OUTCOME_FAILED, set_err(op), op->status);
	}
}

/* The error of the Get after a Set: what was set is there, even if the Get is refused. */
static int get_err(const struct ibcc_mad_op *op)
{
	return op->err == -EREMOTEIO ? IBCC_CHANGE_TAKEN : op->err;
}

/* A wave: writes one change to each of up to WAVE_NODES nodes, then reads all of them back. */
static int wave(struct apply *a, uint32_t *from)
{
	uint32_t set[WAVE_NODES], n_set;
	int rc = 0;

	pick(a, from, set, &n_set);
	refuse_unreadable(a, set, &n_set);
	if (a->o->prove_lids)
		rc = prove(a, set, &n_set);
	if (rc == 0)
		rc = add_sets(a, set, n_set);
	if (rc < 0 || n_set == 0)
		return rc;
	if (a->o->may_continue && !a->o->may_continue(a->o->arg))
		return -ECANCELED;
	a->r->set_mads += (uint32_t)a->batch.n;
	for (uint32_t k = 0; k < n_set; k++)
		a->tried[set[k]] = true;
	rc = ibcc_batch_run(&a->batch, a->tr);

	/* Even if the transport failed: what was answered was written, and must be reported. */
	take_sets(a);
	ibcc_batch_clear(&a->batch);
	for (uint32_t k = 0; k < n_set; k++) {
		if (!a->tried[set[k]] || is_through(&a->group[set[k]]))
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
		struct ibcc_mad_op *op = &a->batch.op[k];
		struct group *g = &a->group[a->batch.tag[k].index];

		if (op->err < 0 && ibcc_batch_is_refused(op) && is_beyond_end(a, g)) {
			settle(a, a->order[g->next++], IBCC_OUTCOME_VERIFIED, 0, 0);
		} else if (op->err < 0) {
			fail(a, g, IBCC_OUTCOME_FAILED, get_err(op), op->status);
		} else {
			ibcc_transport_cut_data(a->tr, op->mad + IBCC_MAD_DATA_OFFS);
			judge(a, g, op->mad + IBCC_MAD_DATA_OFFS);
		}
	}
	return rc;
}

static bool is_done(const struct apply *a)
{
	for (uint32_t g = 0; g < a->n_groups; g++) {
		if (!is_through(&a->group[g]))
			return false;
	}
	return true;
}

/* Skips all changes of a group, because one of them must not be made. */
static void leave_out(struct apply *a, struct group *g, const int *err)
{
	while (g->next < g->end) {
		settle(a, a->order[g->next], IBCC_OUTCOME_SKIPPED, err[a->order[g->next]], 0);
		g->next++;
	}
}

/* Whether a node's budget of Sets allows its changes; reverting settings is free. */
static bool may_have(struct apply *a, const struct group *g)
{
	static const struct ibcc_bounds defaults = IBCC_BOUNDS_DEFAULT;
	uint32_t most = a->o->bounds ? a->o->bounds->sets_per_minute : defaults.sets_per_minute;
	uint64_t guid = a->plan->change[a->order[g->first]].node_guid;
	uint32_t n = 0;

	for (uint32_t i = g->first; i < g->end; i++)
		n += !a->plan->change[a->order[i]].back;
	if (a->plan->back || !n || !a->o->budget || a->o->dry ||
	    ibcc_set_budget_take(a->o->budget, guid, n, most, ibcc_transport_now_ns(a->tr)))
		return true;
	if (a->o->left_out && !a->o->left_out->text[0])
		ibcc_why_set(a->o->left_out, 0,
			     "node 0x%016" PRIx64 ": more than %u Set%s a minute", guid, most,
			     ibcc_text_plural(most, "", "s"));
	return false;
}

/* Skips the groups with a change that must not be made. */
static int leave_out_what_must_not(struct apply *a)
{
	int *err = calloc(a->plan->n ? a->plan->n : 1, sizeof(*err));
	int rc;

	if (!err)
		return -ENOMEM;
	rc = ibcc_apply_check(a->tr, a->plan, a->o, err);
	for (uint32_t k = 0; k < a->n_groups && rc == 0; k++) {
		struct group *g = &a->group[k];
		bool bad = false;

		for (uint32_t i = g->first; i < g->end; i++)
			bad |= err[a->order[i]] != 0;
		if (!bad && !may_have(a, g)) {
			err[a->order[g->first]] = IBCC_CHANGE_TOO_MANY_SETS;
			bad = true;
		}
		if (bad)
			leave_out(a, g, err);
	}
	free(err);
	return rc;
}

/* Ends a dry run: what is left would be sent. -EIO: a real run would leave something out. */
static int end_dry(struct apply *a)
{
	bool all = true;

	for (uint32_t k = 0; k < a->n_groups; k++) {
		struct group *g = &a->group[k];

		all &= g->next == g->first;
		while (g->next < g->end)
			settle(a, a->order[g->next++], IBCC_OUTCOME_DRY, 0, 0);
	}
	return all ? 0 : -EIO;
}

int ibcc_apply_run(struct ibcc_transport *t, const struct ibcc_plan *plan,
		   const struct ibcc_apply_options *o, struct ibcc_result *r)
{
	struct apply a = { .tr = t, .plan = plan, .o = o, .r = r };
	uint32_t from = 0;
	int rc;

	r->n_verified = r->n_failed = r->set_mads = 0;
	if (o->left_out)
		o->left_out->text[0] = '\0';
	for (uint32_t i = 0; i < plan->n; i++)
		settle(&a, i, IBCC_OUTCOME_PENDING, 0, 0);
	rc = make_groups(&a);
	if (rc == 0)
		rc = leave_out_what_must_not(&a);
	if (rc == 0 && o->dry)
		rc = end_dry(&a);
	while (rc == 0 && !is_done(&a)) {
		rc = wave(&a, &from);
		if (rc == 0)
			give_up_unproved(&a);
		if (from == a.n_groups)
			from = 0;
	}
	if (rc == 0 && !o->dry && r->n_verified < plan->n)
		rc = -EIO;
	free(a.order);
	free(a.group);
	free(a.tried);
	ibcc_batch_fini(&a.batch);
	return rc;
}
