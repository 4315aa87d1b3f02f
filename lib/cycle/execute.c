/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Carries out a plan and stores it (execute.h). The plan and the values before it go to the state
 * file first. Then the Sets go out, and then the outcome is stored. If all of the plan was wanted
 * and only a part was done, that part is reverted. Begin with ibcc_execute_plan(), at the end.
 */
#include <ibcc/execute.h>

#include <errno.h>
#include <stdlib.h>

#include <ibcc/places.h>
#include <ibcc/vendor.h>

/* Whether a change may be on the node. Only a refusal proves that a Set was not carried out; after
 * any other error the result is unknown. What this function leaves out is forgotten with the
 * transaction.
 */
static bool may_be_there(const struct ibcc_change_result *r)
{
	bool refused = r->outcome == IBCC_OUTCOME_FAILED && r->err == IBCC_CHANGE_REFUSED;

	return ibcc_outcome_is_sent(r->outcome) && !refused;
}

/* Did a node take any change, whatever it answers to reads? A node that is silent to Sets seems to
 * have another key, and would be silent to the revert, too.
 */
static bool was_any_taken(const struct ibcc_result *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		if (r->change[i].outcome == IBCC_OUTCOME_VERIFIED ||
		    r->change[i].outcome == IBCC_OUTCOME_DIFFERS ||
		    r->change[i].err == IBCC_CHANGE_TAKEN)
			return true;
	return false;
}

/* The values before our first write, which a rollback has to restore one day. */
static int way_back(struct ibcc_state *s, const struct ibcc_plan *plan, struct ibcc_plan *undo,
		    struct ibcc_why *why)
{
	struct ibcc_plan first = { 0 };
	const struct ibcc_book *book;
	int rc = ibcc_state_book(s, &book, why);

	for (uint32_t i = 0; !rc && i < plan->n; i++)
		if (!ibcc_book_find(book, &plan->change[i]))
			rc = ibcc_plan_append(&first, &plan->change[i]);
	if (!rc)
		rc = ibcc_plan_reverse(&first, undo);
	ibcc_plan_fini(&first);
	return rc;
}

/* Checks that the way back is within the bounds of the applier that carries it out. */
static int check_way_back(const struct ibcc_execution *c, const struct ibcc_plan *plan,
			  struct ibcc_why *why)
{
	struct ibcc_plan undo = { 0 };
	struct ibcc_why what = { "" };
	int rc = way_back(c->state, plan, &undo, why);

	if (!rc && ibcc_bounds_check(&c->applier->bounds, c->topo, c->has, &undo, NULL, &what))
		rc = ibcc_why_set(
			why, -ERANGE,
			"the present settings could not be restored later (%s): \"ibcc-tune "
			"disable\" removes them for good",
			what.text);
	ibcc_plan_fini(&undo);
	return rc;
}

/* Drops all changes of the nodes that are entered in `bad` with port 0. */
static void drop_nodes(struct ibcc_plan *plan, const struct ibcc_places *bad)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < plan->n; i++)
		if (ibcc_places_get(bad, plan->change[i].node_guid, 0) == IBCC_NONE)
			plan->change[n++] = plan->change[i];
	plan->n = n;
}

void ibcc_execute_leave_out(const struct ibcc_execution *c, struct ibcc_plan *plan)
{
	struct ibcc_places nodes = { 0 };
	struct ibcc_plan undo = { 0 };
	bool *bad = NULL;

	if (!c->state || !c->applier->writes)
		return;
	if (!way_back(c->state, plan, &undo, NULL))
		bad = calloc(undo.n ? undo.n : 1, sizeof(*bad));
	if (bad && ibcc_bounds_check(&c->applier->bounds, c->topo, c->has, &undo, bad, NULL))
		for (uint32_t i = 0; i < undo.n; i++)
			if (bad[i] && ibcc_places_put(&nodes, undo.change[i].node_guid, 0, i))
				break; /* no memory: the check before the write refuses the rest */
	drop_nodes(plan, &nodes);
	ibcc_places_fini(&nodes);
	free(bad);
	ibcc_plan_fini(&undo);
}

static int one_transaction(const struct ibcc_execution *c, const struct ibcc_txn *txn,
			   const struct ibcc_plan *plan, struct ibcc_result *r, int64_t *id,
			   struct ibcc_why *why)
{
	bool books = c->state && c->applier->writes, stored = false;
	struct ibcc_plan sent = *plan;
	struct ibcc_why disk = { "" };
	int rc, end = 0;

	sent.back = c->back;
	sent.ours_only = c->ours_only;
	rc = ibcc_applier_ready(c->applier, why);
	if (!rc && books && !c->back)
		rc = check_way_back(c, plan, why);
	if (!rc && books) {
		rc = ibcc_state_begin(c->state, txn, plan, c->topo, id, &disk);
		stored = !rc;
		if (rc == -EIO && c->back)
			rc = 0;
		else if (rc)
			ibcc_why_set(why, rc, "%s", disk.text);
	}
	if (rc)
		return rc;
	rc = ibcc_applier_run(c->applier, &sent, r, why);
	r->txn = stored ? *id : 0;
	if (books && !stored)
		ibcc_state_note_unrecorded(c->state, txn, plan, r, rc);
	else if (stored)
		end = ibcc_state_end(c->state, *id, r, rc, why ? why->text : "", &disk);
	/* If it stays open, the transaction counts as perhaps made, which is the safe side. */
	if (end && !rc && !c->back)
		rc = ibcc_why_set(why, end, "the settings are made, but %s", disk.text);
	return rc;
}

static int take_back(const struct ibcc_execution *c, const struct ibcc_plan *plan,
		     const struct ibcc_result *r, int64_t id, struct ibcc_why *why)
{
	struct ibcc_plan made = { .generation = plan->generation }, undo = { 0 };
	struct ibcc_result undone = { 0 };
	struct ibcc_execution back = *c;
	struct ibcc_txn txn = c->txn;
	int64_t undo_id = 0;
	uint32_t i;
	int rc = 0;

	back.back = true;
	for (i = 0; !rc && i < plan->n; i++)
		if (may_be_there(&r->change[i]))
			rc = ibcc_plan_append(&made, &plan->change[i]);
	if (!rc)
		rc = ibcc_plan_reverse(&made, &undo);
	if (!rc)
		rc = ibcc_result_init(&undone, undo.n);
	if (!rc && undo.n) {
		txn.action = "rollback";
		txn.summary = "took back a plan of which a part failed";
		txn.decisions = NULL;
		txn.undoes_from = id;
		txn.confirm_s = 0;
		rc = one_transaction(&back, &txn, &undo, &undone, &undo_id, why);
	}
	ibcc_result_fini(&undone);
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&made);
	return rc;
}

int ibcc_execute_plan(const struct ibcc_execution *c, struct ibcc_plan *plan, struct ibcc_result *r,
		      struct ibcc_why *why)
{
	struct ibcc_why undo_why = { "" };
	struct ibcc_txn txn = c->txn;
	int64_t id = 0;
	int rc, undo;

	if (ibcc_result_init(r, plan->n))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	txn.via = c->applier->name;
	if (c->topo)
		ibcc_vendor_mark(c->topo, plan);
	rc = one_transaction(c, &txn, plan, r, &id, why);
	if (rc != -EIO || !c->all_or_nothing || !was_any_taken(r))
		return rc;
	undo = take_back(c, plan, r, id, &undo_why);
	return ibcc_why_set(why, rc, "%s; %s%s", why ? why->text : "",
			    undo ? "reverting the others failed: " : "the others are reverted",
			    undo ? undo_why.text : "");
}
