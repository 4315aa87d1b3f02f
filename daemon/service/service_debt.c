/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A rollback or a disable that an operator asked for holds for all nodes, also for those that were
 * away or silent then. What could not be done there is owed. The daemon makes up for it, in each
 * mode, as soon as the node can be read again.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/gate.h>
#include <ibcc/json.h>

#include "daemon/service/service_impl.h"
#include "daemon/state/state.h"

#define MOST_PASSES 64 /* between two tries at nodes that refuse */

void ibcc_service_find_debts(struct ibcc_service *s)
{
	struct ibcc_debts found;

	if (ibcc_state_debts(s->state, &found))
		return; /* what was known stays */
	ibcc_debts_fini(&s->debts.list);
	s->debts.list = found;
}

/* Of two nodes with one GUID it is not known which is meant. */
static uint32_t endport_of(const struct ibcc_service *s, const struct ibcc_debt *d)
{
	const struct ibcc_topo *t = s->cycle.topo;
	uint32_t e = ibcc_topo_find_endport(t, d->node_guid, d->port);

	return e == IBCC_NONE || !t->port[t->endport[e]].lid ||
			       ibcc_walk_is_shared(&s->discovery.shared, d->node_guid)
		       ? IBCC_NONE
		       : e;
}

static const char *name_of(const struct ibcc_debt *d)
{
	return d->off ? "disable" : "rollback";
}

/* A rollback or a disable that has nothing to write now is in the history all the same. */
static int record_empty(struct ibcc_service *s, const struct ibcc_txn *txn)
{
	struct ibcc_plan none = { .generation = s->cycle.topo->generation };
	struct ibcc_result res = { 0 };
	struct ibcc_txn empty = *txn;
	int64_t id;
	int rc;

	empty.via = s->applier->name;
	empty.undoes_from = 0;
	rc = ibcc_state_begin(s->state, &empty, &none, s->cycle.topo, &id, NULL);
	return rc ? rc : ibcc_state_end(s->state, id, &res, 0, "", NULL);
}

/* Writes down what a transaction left, in place of what it covers of older ones. */
static int owe(struct ibcc_service *s, const struct ibcc_txn *txn, const struct ibcc_debt *by,
	       const struct ibcc_plan *plan, const struct ibcc_debts *list)
{
	int rc = list->n && !plan->n ? record_empty(s, txn) : 0;

	ibcc_service_find_debts(s);
	for (uint32_t i = 0; !rc && i < s->debts.list.n; i++)
		if (ibcc_debt_is_covered(&s->debts.list.debt[i], by,
					 endport_of(s, &s->debts.list.debt[i]) != IBCC_NONE))
			rc = ibcc_state_paid(s->state, &s->debts.list.debt[i]);
	for (uint32_t i = 0; !rc && i < list->n; i++) {
		list->debt[i].txn = ibcc_state_newest(s->state);
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

		if (endport_of(s, &at) == IBCC_NONE)
			rc = ibcc_debts_add(&list, &by, at.node_guid, at.port);
	}
	if (!rc)
		rc = ibcc_debts_add_failed(&list, &by, plan, res);
	if (!rc)
		rc = owe(s, txn, &by, plan, &list);
	*n = list.n;
	ibcc_debts_fini(&list);
	return rc;
}

/* Where a disable reaches no node, though something of ours is there by the books. */
static bool is_missed(const struct ibcc_service *s, const struct ibcc_book *b, uint32_t i)
{
	const struct ibcc_book_entry *e = b->entry[i];
	const struct ibcc_debt at = { .node_guid = e->node_guid, .port = e->port };
	uint32_t endport = endport_of(s, &at);

	if (endport != IBCC_NONE && (s->cycle.actual.ep[endport].support == IBCC_CC_SUPPORTED ||
				     s->cycle.actual.ep[endport].support == IBCC_CC_UNSUPPORTED))
		return false;
	/* The books have what the other node with that GUID was given. */
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
		rc = owe(s, txn, &by, plan, &list);
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

static bool is_payable(const struct ibcc_service *s, const struct ibcc_debt *d)
{
	uint32_t e = endport_of(s, d);

	return e < s->cycle.actual.n && ibcc_debt_is_payable(&s->cycle.actual.ep[e]);
}

/* Is it one of what a transaction left, and can be done now? */
static bool is_due(const struct ibcc_service *s, const struct ibcc_debt *d, int64_t txn)
{
	return d->txn == txn && is_payable(s, d);
}

static int plan_off(const struct ibcc_service *s, int64_t txn, struct ibcc_plan *plan)
{
	bool *which = calloc(s->cycle.actual.n + 1, sizeof(*which));
	int rc;

	for (uint32_t i = 0; which && i < s->debts.list.n; i++)
		if (is_due(s, &s->debts.list.debt[i], txn))
			which[endport_of(s, &s->debts.list.debt[i])] = true;
	rc = which ? ibcc_service_plan_off(s, which, plan) : -ENOMEM;
	free(which);
	return rc;
}

/* What is owed to one endport is appended to the plan. */
static int add_back(const struct ibcc_service *s, const struct ibcc_debt *d,
		    const struct ibcc_plan *undo, int64_t first, struct ibcc_plan *plan)
{
	const struct ibcc_topo *t = s->cycle.topo;
	int rc = 0;

	for (uint32_t i = 0; !rc && i < undo->n; i++) {
		struct ibcc_change c = undo->change[i];

		if (!ibcc_debt_has(d, &c))
			continue;
		c.lid = t->port[t->endport[endport_of(s, d)]].lid;
		snprintf(c.reason, sizeof(c.reason),
			 "as it was before transaction %" PRId64
			 ": owed since transaction %" PRId64,
			 first, d->txn);
		rc = ibcc_plan_append(plan, &c);
	}
	return rc;
}

/* *first: see ibcc_state_undo(). -ENOENT: it is void, since the transactions that were to be taken
 * back are.
 */
static int plan_back(struct ibcc_service *s, const struct ibcc_debt *like, struct ibcc_plan *plan,
		     int64_t *first, struct ibcc_damage *damage, struct ibcc_why *why)
{
	struct ibcc_plan joined = { 0 }, undo = { 0 };
	int rc = ibcc_state_undo(s->state, like->from, &joined, first, damage, why);

	if (!rc)
		rc = ibcc_plan_reverse(&joined, &undo);
	plan->generation = s->cycle.topo->generation;
	for (uint32_t i = 0; !rc && i < s->debts.list.n; i++)
		if (is_due(s, &s->debts.list.debt[i], like->txn))
			rc = add_back(s, &s->debts.list.debt[i], &undo, *first, plan);
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&joined);
	return rc;
}

static void note_paid(struct ibcc_service *s, int64_t txn, const struct ibcc_plan *plan,
		      const struct ibcc_result *res)
{
	for (uint32_t i = 0; i < s->debts.list.n; i++) {
		const struct ibcc_debt *d = &s->debts.list.debt[i];

		/* One that cannot be taken away now is looked at again, and is done then. */
		if (is_due(s, d, txn) && ibcc_debt_is_done(d, plan, res))
			(void)ibcc_state_paid(s->state, d);
	}
}

/* The first of several nodes and how many more, in words. */
static void name_nodes(const struct ibcc_debt *d, uint32_t n, char *buf, size_t len)
{
	char more[32] = "";

	if (n > 1)
		snprintf(more, sizeof(more), " (and %u more)", n - 1);
	snprintf(buf, len, "\"%s\" 0x%016" PRIx64 "%s", d->node, d->node_guid, more);
}

static int carry_out(struct ibcc_service *s, const struct ibcc_debt *like, int64_t undoes_from,
		     const char *summary, struct ibcc_plan *plan, struct ibcc_result *res,
		     struct ibcc_why *why)
{
	static const struct ibcc_bounds wire = IBCC_BOUNDS_DEFAULT;
	struct ibcc_carry carry = {
		.txn = { .who = "ibcc-tuned",
			 .action = name_of(like),
			 .summary = summary,
			 .undoes_from = undoes_from },
		.back = true,
	};
	int rc;

	/* Its bytes come from a file. */
	if (ibcc_bounds_check(&wire, s->cycle.topo, &s->cycle.actual, plan, NULL, why))
		return -ERANGE;
	rc = ibcc_service_carry(s, carry, plan, res, why);
	ibcc_service_wrote(s, res);
	if (ibcc_result_may_have_written(res))
		ibcc_service_forget(s);
	if (!rc)
		ibcc_why_set(&s->debts.news, 0, "%s: %u writes verified", summary, res->n_verified);
	return rc;
}

/* Does what a transaction left, as far as it can be done now; `like` is the first of that. */
static int pay_for(struct ibcc_service *s, const struct ibcc_debt *like, struct ibcc_why *why)
{
	char nodes[IBCC_DESC_BYTES + 64], summary[sizeof(nodes) + 96];
	struct ibcc_damage damage = { 0 };
	struct ibcc_plan plan = { 0 };
	struct ibcc_result res = { 0 };
	uint32_t n = 0, n_owed = 0;
	int64_t first = 0;
	int rc = like->off ? plan_off(s, like->txn, &plan)
			   : plan_back(s, like, &plan, &first, &damage, why);

	if (rc == -ENOENT)
		rc = 0;
	for (uint32_t i = 0; i < s->debts.list.n; i++) {
		const struct ibcc_debt *d = &s->debts.list.debt[i];

		n_owed += d->txn == like->txn;
		n += is_due(s, d, like->txn);
	}
	name_nodes(like, n, nodes, sizeof(nodes));
	snprintf(summary, sizeof(summary),
		 "%s can be reached: what transaction %" PRId64 " (%s) could not do there", nodes,
		 like->txn, name_of(like));
	if (like->off || n < n_owed || damage.n || !ibcc_state_is_last_wish(s->state, like->txn))
		first = 0;
	if (!rc && plan.n)
		rc = carry_out(s, like, first, summary, &plan, &res, why);
	if (!rc || res.n)
		note_paid(s, like->txn, &plan, &res);
	ibcc_result_fini(&res);
	ibcc_plan_fini(&plan);
	return rc;
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
	/* They are in the order of their transactions. What is written is read back before the next
	 * pass, so all of them see the same fabric.
	 */
	for (uint32_t i = 0; !rc && i < d->list.n; i++) {
		if (d->list.debt[i].txn == done || !is_payable(s, &d->list.debt[i]))
			continue;
		done = d->list.debt[i].txn;
		rc = pay_for(s, &d->list.debt[i], &d->why);
	}
	if (!rc)
		d->why.text[0] = '\0';
	if (rc && d->next_wait < MOST_PASSES)
		d->next_wait = (uint16_t)(2 * d->next_wait + 1);
	d->wait = rc ? d->next_wait : 0;
	ibcc_service_find_debts(s);
}

/* --- what status says of it --------------------------------------------------------------------
 */

/* Of those that are there, or of those that are not: how many, and the first. */
static uint32_t find(const struct ibcc_service *s, bool there, const struct ibcc_debt **first)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->debts.list.n; i++) {
		const struct ibcc_debt *d = &s->debts.list.debt[i];
		bool is = s->cycle.topo && endport_of(s, d) != IBCC_NONE;

		if (is == there && !n++)
			*first = d;
	}
	return n;
}

void ibcc_service_debt_trouble(const struct ibcc_service *s, struct ibcc_why *why)
{
	const struct ibcc_debt *d = NULL;
	uint32_t n = find(s, true, &d);
	char nodes[IBCC_DESC_BYTES + 64];
	const char *reason = s->debts.why.text, *it = "";

	if (!n)
		return;
	name_nodes(d, n, nodes, sizeof(nodes));
	if (!reason[0] && !is_payable(s, d)) {
		reason = ibcc_gate_reason(&s->cycle.actual.ep[endport_of(s, d)]);
		it = "it ";
	}
	ibcc_why_set(why, 0,
		     "%s still has settings that transaction %" PRId64
		     " (%s) was to take away%s%s%s",
		     nodes, d->txn, name_of(d), reason[0] ? ": " : "", it, reason);
}

static void text(const struct ibcc_service *s, struct ibcc_why *why)
{
	const struct ibcc_debt *d = NULL;
	uint32_t n = find(s, false, &d);
	char nodes[IBCC_DESC_BYTES + 64];

	why->text[0] = '\0';
	ibcc_service_debt_trouble(s, why);
	if (why->text[0] || !n)
		return;
	name_nodes(d, n, nodes, sizeof(nodes));
	ibcc_why_set(why, 0,
		     "%s is not %s: what transaction %" PRId64
		     " (%s) could not do there is done as soon as it is",
		     nodes,
		     ibcc_walk_is_shared(&s->discovery.shared, d->node_guid)
			     ? "the only one with its GUID"
			     : "on the fabric",
		     d->txn, name_of(d));
}

uint32_t ibcc_service_count_debts(const struct ibcc_service *s, bool present)
{
	const struct ibcc_debt *first;

	return find(s, present, &first);
}

json_t *ibcc_service_owed(const struct ibcc_service *s)
{
	struct ibcc_why why;

	text(s, &why);
	return json_pack("{si so}", "endports", (int)s->debts.list.n, "text",
			 why.text[0] ? ibcc_json_text(why.text) : json_null());
}

const char *ibcc_service_debt_news(struct ibcc_service *s, struct ibcc_why *news)
{
	*news = s->debts.news;
	s->debts.news.text[0] = '\0';
	return news->text[0] ? news->text : NULL;
}
