/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A rollback or a disable that an operator asked for holds for all nodes, also for those that were
 * away or silent then. What could not be done at such a node is owed. The daemon makes up for it,
 * in each mode, as soon as it can read the node again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/bounds.h>
#include <ibcc/hash.h>
#include <ibcc/state.h>
#include <ibcc/text.h>
#include <ibcc/vendor_cc.h>

#include "daemon/service/service_impl.h"

#define MOST_PASSES 63 /* without a try at nodes that refuse; one less than a power of two */

void ibcc_service_find_debts(struct ibcc_service *s)
{
	struct ibcc_debts found;

	if (ibcc_state_debts(s->state, &found))
		return; /* keep what was known */
	ibcc_debts_keep_notes(&found, &s->debts.list);
	ibcc_debts_fini(&s->debts.list);
	s->debts.list = found;
}

uint32_t ibcc_service_debt_endport(const struct ibcc_service *s, const struct ibcc_debt *d)
{
	const struct ibcc_topo *t = s->cycle.topo;
	uint32_t e = ibcc_topo_find_endport(t, d->node_guid, d->port);

	return e == IBCC_NONE || !t->port[t->endport[e]].lid ||
			       ibcc_walk_is_shared(&s->discovery.shared, d->node_guid)
		       ? IBCC_NONE
		       : e;
}

/* Records a rollback or a disable in the history that had nothing to write, or could not be stored
 * when it was carried out.
 */
static int record_empty(struct ibcc_service *s, const struct ibcc_txn *txn, int64_t *id)
{
	struct ibcc_plan none = { .generation = s->cycle.topo->generation };
	struct ibcc_result res = { 0 };
	struct ibcc_txn empty = *txn;
	int rc;

	empty.via = s->applier->name;
	empty.undoes_from = 0;
	rc = ibcc_state_begin(s->state, &empty, &none, s->cycle.topo, id, NULL);
	return rc ? rc : ibcc_state_end(s->state, *id, &res, 0, "", NULL);
}

/* Writes to the state file what a transaction with this result owes. It replaces older debts that
 * it covers (`by` NULL: none).
 */
static int owe(struct ibcc_service *s, const struct ibcc_txn *txn, const struct ibcc_debt *by,
	       const struct ibcc_result *res, const struct ibcc_debts *list)
{
	int64_t id = res->txn;
	int rc = list->n && !id ? record_empty(s, txn, &id) : 0;

	ibcc_service_find_debts(s);
	for (uint32_t i = 0; !rc && by && i < s->debts.list.n; i++)
		if (ibcc_debt_is_covered(&s->debts.list.debt[i], by,
					 ibcc_service_debt_endport(s, &s->debts.list.debt[i]) !=
						 IBCC_NONE))
			rc = ibcc_state_paid(s->state, &s->debts.list.debt[i]);
	for (uint32_t i = 0; !rc && i < list->n; i++) {
		list->debt[i].txn = id;
		rc = ibcc_state_owe(s->state, &list->debt[i]);
	}
	ibcc_service_find_debts(s);
	return rc;
}

int ibcc_service_owe_rollback(struct ibcc_service *s, const struct ibcc_txn *txn, int64_t from,
			      const struct ibcc_plan *undo, const struct ibcc_plan *plan,
			      const struct ibcc_result *res, uint32_t *n)
{
	const struct ibcc_debt by = { .from = from };
	struct ibcc_debts list = { 0 };
	int rc = 0;

	for (uint32_t i = 0; !rc && i < undo->n; i++) {
		const struct ibcc_debt at = { .node_guid = undo->change[i].node_guid,
					      .port = undo->change[i].port };

		if (ibcc_service_debt_endport(s, &at) == IBCC_NONE)
			rc = ibcc_debts_add(&list, &by, at.node_guid, at.port);
	}
	if (!rc)
		rc = ibcc_debts_add_failed(&list, &by, plan, res);
	if (!rc)
		rc = owe(s, txn, &by, res, &list);
	*n = list.n;
	ibcc_debts_fini(&list);
	return rc;
}

int ibcc_service_owe_profiles(struct ibcc_service *s, const struct ibcc_txn *txn,
			      const struct ibcc_result *res, const struct ibcc_debts *list)
{
	const struct ibcc_book *book;
	int rc = ibcc_state_book(s->state, &book, NULL);

	for (uint32_t i = 0; !rc && i < book->n; i++) {
		const struct ibcc_book_entry *e = book->entry[i];

		if (e->attr_id != IBCC_VCC_ATTR_SW_PROFILE &&
		    memcmp(e->before, e->last, sizeof(e->last)) != 0)
			rc = -EXDEV;
	}
	return rc ? rc : owe(s, txn, NULL, res, list);
}

/* Has a disable failed to reach a node that has settings of ours by the ledger's books? */
static bool is_missed(const struct ibcc_service *s, const struct ibcc_book *b, uint32_t i)
{
	const struct ibcc_book_entry *e = b->entry[i];
	const struct ibcc_debt at = { .node_guid = e->node_guid, .port = e->port };
	uint32_t endport = ibcc_service_debt_endport(s, &at);
	enum ibcc_cc_support can = IBCC_CC_UNKNOWN;

	if (endport != IBCC_NONE)
		can = ibcc_endport_support_back(&s->cycle.actual.ep[endport]);
	if (can == IBCC_CC_SUPPORTED || can == IBCC_CC_UNSUPPORTED)
		return false;
	/* The books may describe the settings of the other node with that GUID. */
	return ibcc_walk_is_shared(&s->discovery.shared, e->node_guid) || !ibcc_book_is_back(b, i);
}

int ibcc_service_owe_disable(struct ibcc_service *s, const struct ibcc_txn *txn,
			     const struct ibcc_plan *plan, const struct ibcc_result *res,
			     uint32_t *n)
{
	const struct ibcc_debt by = { .off = true };
	struct ibcc_debts list = { 0 };
	const struct ibcc_book *book;
	int rc = ibcc_state_book(s->state, &book, NULL);

	for (uint32_t i = 0; !rc && i < book->n; i = ibcc_book_end(book, i))
		if (is_missed(s, book, i))
			rc = ibcc_debts_add(&list, &by, book->entry[i]->node_guid,
					    book->entry[i]->port);
	if (!rc)
		rc = ibcc_debts_add_failed(&list, &by, plan, res);
	if (!rc)
		rc = owe(s, txn, &by, res, &list);
	*n = list.n;
	ibcc_debts_fini(&list);
	return rc;
}

bool ibcc_service_owes(const struct ibcc_service *s, int64_t from)
{
	for (uint32_t i = 0; i < s->debts.list.n; i++)
		if (!s->debts.list.debt[i].off && s->debts.list.debt[i].from == from)
			return true;
	return false;
}

/* --- making up for it ------------------------------------------------------------------------- */

bool ibcc_service_debt_is_payable(const struct ibcc_service *s, const struct ibcc_debt *d)
{
	uint32_t e = ibcc_service_debt_endport(s, d);

	return e < s->cycle.actual.n && ibcc_debt_is_payable(&s->cycle.actual.ep[e]);
}

static uint64_t sum_of(const struct ibcc_cc_profile *p)
{
	return ibcc_hash(IBCC_HASH_START, p->data, sizeof(p->data)) | 1; /* 0 is none */
}

/* Do a port's marking profiles differ from those of another program that were found there? */
static bool has_changed(const struct ibcc_debt *d, const struct ibcc_endport_cc *ep, uint32_t port)
{
	return port < ep->n_profile && d->seen[port] && ep->profile[port].known &&
	       d->seen[port] != sum_of(&ep->profile[port]);
}

bool ibcc_service_debt_is_overwritten(const struct ibcc_service *s, const struct ibcc_debt *d)
{
	uint32_t e = d->rests ? ibcc_service_debt_endport(s, d) : IBCC_NONE;

	if (e >= s->cycle.actual.n)
		return false;
	for (uint32_t port = 0; port < d->n_seen; port++)
		if (has_changed(d, &s->cycle.actual.ep[e], port))
			return false;
	return true;
}

/* Did transaction `txn` leave this debt, and can it be paid now? */
static bool is_due(const struct ibcc_service *s, const struct ibcc_debt *d, int64_t txn)
{
	return d->txn == txn && ibcc_service_debt_is_payable(s, d) &&
	       !ibcc_service_debt_is_overwritten(s, d);
}

static int plan_off(const struct ibcc_service *s, int64_t txn, struct ibcc_plan *plan)
{
	bool *which = calloc(s->cycle.actual.n + 1, sizeof(*which));
	int rc;

	for (uint32_t i = 0; which && i < s->debts.list.n; i++)
		if (is_due(s, &s->debts.list.debt[i], txn))
			which[ibcc_service_debt_endport(s, &s->debts.list.debt[i])] = true;
	rc = which ? ibcc_service_plan_off(s, which, plan) : -ENOMEM;
	free(which);
	return rc;
}

/* Appends to the plan what is owed to one endport. */
static int add_back(const struct ibcc_service *s, const struct ibcc_debt *d,
		    const struct ibcc_plan *undo, const struct ibcc_plan_index *x, int64_t first,
		    struct ibcc_plan *plan)
{
	const struct ibcc_topo *t = s->cycle.topo;
	int rc = 0;

	for (uint32_t i = ibcc_debt_first(d, x); !rc && i != IBCC_NONE; i = x->next[i]) {
		struct ibcc_change c = undo->change[i];

		c.lid = t->port[t->endport[ibcc_service_debt_endport(s, d)]].lid;
		snprintf(c.reason, sizeof(c.reason),
			 "as it was before transaction %" PRId64
			 ": owed since transaction %" PRId64,
			 first, d->txn);
		rc = ibcc_plan_append(plan, &c);
	}
	return rc;
}

/* *first: see ibcc_state_undo(). -ENOENT: the debt is void, because the transactions that it was to
 * revert are reverted.
 */
static int plan_back(struct ibcc_service *s, const struct ibcc_debt *like, struct ibcc_plan *plan,
		     int64_t *first, struct ibcc_damage *damage, struct ibcc_why *why)
{
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	struct ibcc_plan_index x = { .next = NULL };
	int rc = ibcc_state_undo(s->state, like->from, &joined, first, damage, why);

	if (!rc)
		rc = ibcc_plan_reverse(&joined, &undo);
	if (!rc)
		rc = ibcc_plan_index_init(&x, &undo);
	plan->generation = s->cycle.topo->generation;
	for (uint32_t i = 0; !rc && i < s->debts.list.n; i++)
		if (is_due(s, &s->debts.list.debt[i], like->txn))
			rc = add_back(s, &s->debts.list.debt[i], &undo, &x, *first, plan);
	ibcc_plan_index_fini(&x);
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&joined);
	return rc;
}

static bool is_profile(const struct ibcc_change *c)
{
	return c->attr_id == IBCC_VCC_ATTR_SW_PROFILE;
}

/* What is to become of a marking profile, by the settings as they were read: IBCC_OUTCOME_VERIFIED
 * if nothing of ours is there, SKIPPED if another program has written it since, or else PENDING.
 * That program's values are its choice, unless a person asks for the earlier ones. A port that was
 * not read this time keeps what was known of it.
 */
static enum ibcc_outcome outcome_of(const struct ibcc_endport_cc *ep, const struct ibcc_debt *d,
				    const struct ibcc_change *c)
{
	uint8_t now[IBCC_CC_DATA_BYTES];

	if (!memcmp(c->old_data, c->new_data, sizeof(now)))
		return IBCC_OUTCOME_VERIFIED;
	if (!ibcc_settings_pack(ep, c->attr_id, c->attr_mod, now))
		return c->attr_mod < d->n_seen && d->seen[c->attr_mod] ? IBCC_OUTCOME_SKIPPED
								       : IBCC_OUTCOME_PENDING;
	return memcmp(now, c->old_data, sizeof(now)) && memcmp(now, c->new_data, sizeof(now))
		       ? IBCC_OUTCOME_SKIPPED
		       : IBCC_OUTCOME_PENDING;
}

/* Remembers that a port's marking profiles are another program's. Without memory for it the debt
 * does not rest.
 */
static void remember(struct ibcc_debt *d, const struct ibcc_endport_cc *ep, uint32_t port)
{
	uint32_t n = ep->n_profile;

	if (port >= n || !ep->profile[port].known)
		return;
	if (d->n_seen < n) {
		uint64_t *grown = realloc(d->seen, n * sizeof(*grown));

		if (!grown)
			return;
		memset(grown + d->n_seen, 0, (n - d->n_seen) * sizeof(*grown));
		d->seen = grown;
		d->n_seen = n;
	}
	d->seen[port] = sum_of(&ep->profile[port]);
}

/* Marks what a plan is not to have of a debt: `out` says which changes are out of bounds. Of other
 * settings than marking profiles one that is out of bounds takes all of its endport with it. Sets
 * d->last to the reason, if there is one.
 */
static void leave_out_of(const struct ibcc_service *s, struct ibcc_debt *d,
			 const struct ibcc_plan *plan, const struct ibcc_plan_index *x, bool *out)
{
	const struct ibcc_endport_cc *ep = &s->cycle.actual.ep[ibcc_service_debt_endport(s, d)];
	bool all = false, beyond = false, others = false;
	uint32_t k;

	for (k = 0; k < d->n_seen; k++)
		if (has_changed(d, ep, k))
			d->seen[k] = 0;
	for (k = ibcc_debt_first(d, x); k != IBCC_NONE; k = x->next[k])
		all |= out[k] && !is_profile(&plan->change[k]);
	for (k = ibcc_debt_first(d, x); k != IBCC_NONE; k = x->next[k]) {
		const struct ibcc_change *c = &plan->change[k];
		enum ibcc_outcome o = is_profile(c) ? outcome_of(ep, d, c) : IBCC_OUTCOME_PENDING;

		if (o == IBCC_OUTCOME_SKIPPED)
			remember(d, ep, c->attr_mod);
		out[k] |= all && !is_profile(c);
		beyond |= out[k];
		others |= !out[k] && o == IBCC_OUTCOME_SKIPPED;
		out[k] |= o != IBCC_OUTCOME_PENDING;
	}
	d->rests = false;
	d->last = (struct ibcc_change_result){ .outcome = beyond || others ? IBCC_OUTCOME_SKIPPED
									   : IBCC_OUTCOME_PENDING };
	if (beyond)
		d->last.err = IBCC_CHANGE_BEYOND_BOUNDS;
	else if (others)
		d->last.err = IBCC_CHANGE_OTHER_WRITER;
}

/* Drops from a plan what comes from a file and is out of bounds for its node, which keeps its debt,
 * and marking profiles that have nothing to be done for them. *n endports will not be done with the
 * plan. -ENOMEM.
 */
static int leave_out(struct ibcc_service *s, int64_t txn, struct ibcc_plan *plan, uint32_t *n,
		     struct ibcc_why *why)
{
	static const struct ibcc_bounds wire = IBCC_BOUNDS_DEFAULT;
	bool *out = calloc(plan->n + 1, sizeof(*out));
	struct ibcc_plan_index x = { .next = NULL };
	uint32_t kept = 0;

	if (!out || ibcc_plan_index_init(&x, plan)) {
		free(out);
		return ibcc_why_set(why, -ENOMEM, "no memory");
	}
	ibcc_bounds_check(&wire, s->cycle.topo, &s->cycle.actual, plan, out, why);
	for (uint32_t i = 0; i < s->debts.list.n; i++) {
		struct ibcc_debt *d = &s->debts.list.debt[i];

		if (!is_due(s, d, txn))
			continue;
		leave_out_of(s, d, plan, &x, out);
		*n += d->last.outcome != IBCC_OUTCOME_PENDING;
	}
	for (uint32_t k = 0; k < plan->n; k++)
		if (!out[k])
			plan->change[kept++] = plan->change[k];
	plan->n = kept;
	ibcc_plan_index_fini(&x);
	free(out);
	return 0;
}

/* Says once that a node keeps what another program has written. */
static void tell_overwritten(struct ibcc_service *s, const struct ibcc_debt *first, uint32_t n)
{
	struct ibcc_why *news = &s->debts.news, before = *news;
	char nodes[IBCC_DEBT_NODES_BYTES];

	ibcc_debt_name_nodes(first, n, nodes, sizeof(nodes));
	ibcc_why_set(news, 0,
		     "%s%s%s: marking profiles that transaction %" PRId64
		     " (%s) was to restore are another program's now, and stay: \"ibcc-tune "
		     "rollback\" restores the earlier ones",
		     before.text, before.text[0] ? "; " : "", nodes, first->txn,
		     ibcc_debt_name(first));
}

/* Remembers the ports at which only the try itself found another program's marking profiles. Those
 * that were read before are compared with, so the next reading that differs leads to a new try.
 */
static void remember_found(const struct ibcc_service *s, struct ibcc_debt *d,
			   const struct ibcc_plan *plan, const struct ibcc_plan_index *x,
			   const struct ibcc_result *res)
{
	const struct ibcc_endport_cc *ep = &s->cycle.actual.ep[ibcc_service_debt_endport(s, d)];

	for (uint32_t k = ibcc_debt_first(d, x); k != IBCC_NONE && k < res->n; k = x->next[k])
		if (is_profile(&plan->change[k]) && res->change[k].err == IBCC_CHANGE_OTHER_WRITER)
			remember(d, ep, plan->change[k].attr_mod);
}

static void note_paid(struct ibcc_service *s, int64_t txn, const struct ibcc_plan *plan,
		      const struct ibcc_result *res)
{
	const struct ibcc_debt *first = NULL;
	struct ibcc_plan_index x;
	uint32_t n = 0;

	if (ibcc_plan_index_init(&x, plan))
		return; /* all of it stays owed, and the next polling cycle tries again */
	for (uint32_t i = 0; i < s->debts.list.n; i++) {
		struct ibcc_debt *d = &s->debts.list.debt[i];
		bool others;

		if (!is_due(s, d, txn))
			continue;
		/* A debt that the state file cannot drop now is looked at again, and is done then.
		 */
		if (!ibcc_debt_is_done(d, &x, res))
			ibcc_debt_note(d, &x, res);
		else if (d->last.outcome == IBCC_OUTCOME_PENDING)
			(void)ibcc_state_paid(s->state, d);
		remember_found(s, d, plan, &x, res);
		others = ibcc_debt_is_others(d);
		if (others && !d->said && !n++)
			first = d;
		d->said = others;
		d->rests = others && d->n_seen;
	}
	if (n)
		tell_overwritten(s, first, n);
	ibcc_plan_index_fini(&x);
}

static int execute(struct ibcc_service *s, const struct ibcc_debt *like, int64_t undoes_from,
		   const char *summary, struct ibcc_plan *plan, struct ibcc_result *res,
		   struct ibcc_why *why)
{
	struct ibcc_execution execution = {
		.txn = { .who = "ibcc-tuned",
			 .action = ibcc_debt_name(like),
			 .summary = summary,
			 .undoes_from = undoes_from },
		.back = true,
		.ours_only = true,
	};
	int rc = ibcc_service_execute(s, execution, plan, res, why);

	ibcc_service_wrote(s, res);
	if (ibcc_result_may_have_written(res))
		ibcc_service_forget(s);
	if (!rc)
		ibcc_why_set(&s->debts.news, 0, "%s: %u change%s verified", summary,
			     res->n_verified, ibcc_text_plural(res->n_verified, "", "s"));
	return rc;
}

/* Carries out a plan for the debts of one transaction. `n_out` endports will not be done with it.
 */
static int execute_debts(struct ibcc_service *s, const struct ibcc_debt *like, uint32_t n_out,
			 int64_t first, struct ibcc_plan *plan, struct ibcc_result *res,
			 struct ibcc_why *why)
{
	char nodes[IBCC_DEBT_NODES_BYTES], summary[sizeof(nodes) + 96];
	const struct ibcc_debt *head = NULL;
	uint32_t n = 0, n_due = 0, n_owed = 0;
	struct ibcc_plan_index x;

	if (!plan->n)
		return 0;
	if (ibcc_plan_index_init(&x, plan))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	for (uint32_t i = 0; i < s->debts.list.n; i++) {
		const struct ibcc_debt *d = &s->debts.list.debt[i];
		bool due = is_due(s, d, like->txn);

		n_owed += d->txn == like->txn;
		n_due += due;
		if (due && ibcc_debt_first(d, &x) != IBCC_NONE && !n++)
			head = d;
	}
	ibcc_plan_index_fini(&x);
	if (!head)
		return 0;
	ibcc_debt_name_nodes(head, n, nodes, sizeof(nodes));
	snprintf(summary, sizeof(summary),
		 "%s can be reached: what transaction %" PRId64 " (%s) could not do there", nodes,
		 like->txn, ibcc_debt_name(like));
	if (like->off || n_due < n_owed || n_out || !ibcc_state_is_last_wish(s->state, like->txn))
		first = 0;
	return execute(s, like, first, summary, plan, res, why);
}

/* Pays the debts of one transaction, as far as it is possible now; `like` is the first of them. */
static int pay_for(struct ibcc_service *s, const struct ibcc_debt *like, struct ibcc_why *why)
{
	struct ibcc_damage damage = { 0 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result res = { 0 };
	struct ibcc_why out = { "" };
	uint32_t n_out = 0;
	int64_t first = 0;
	int rc = like->off ? plan_off(s, like->txn, &plan)
			   : plan_back(s, like, &plan, &first, &damage, why);

	if (rc == -ENOENT)
		rc = 0;
	if (!rc)
		rc = leave_out(s, like->txn, &plan, &n_out, &out);
	if (!rc)
		rc = execute_debts(s, like, n_out + damage.n, first, &plan, &res, why);
	if (!rc || res.n)
		note_paid(s, like->txn, &plan, &res);
	if (!rc && out.text[0])
		rc = ibcc_why_set(why, -ERANGE, "%s", out.text);
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	return rc;
}

/* Is this a failure of some nodes only, so that the next transaction may succeed? */
static bool is_of_some_nodes(int err)
{
	return err == -EIO || err == -ERANGE;
}

void ibcc_service_pay(struct ibcc_service *s)
{
	struct ibcc_service_debts *d = &s->debts;
	int64_t done = 0;
	int rc = 0;

	if (!d->list.n || !s->cycle.topo || s->trial.txn)
		return;
	if (d->generation != s->cycle.topo->generation)
		d->wait = d->next_wait = 0;
	d->generation = s->cycle.topo->generation;
	if (d->wait) {
		d->wait--;
		return;
	}
	ibcc_service_find_debts(s);
	d->why.text[0] = '\0';
	/* The debts are in the order of their transactions. All of them see the same fabric,
	 * because what is written is read back only before the next polling cycle.
	 */
	for (uint32_t i = 0; (!rc || is_of_some_nodes(rc)) && i < d->list.n; i++) {
		int one;

		if (d->list.debt[i].txn == done ||
		    !is_due(s, &d->list.debt[i], d->list.debt[i].txn))
			continue;
		done = d->list.debt[i].txn;
		one = pay_for(s, &d->list.debt[i], &d->why);
		rc = one ? one : rc;
	}
	if (!rc)
		d->why.text[0] = '\0';
	if (!rc)
		d->next_wait = 0;
	else if (d->next_wait < MOST_PASSES)
		d->next_wait = (uint16_t)(2 * d->next_wait + 1);
	d->wait = d->next_wait;
	ibcc_service_find_debts(s);
}
