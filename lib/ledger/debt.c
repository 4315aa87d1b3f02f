/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Debts: endports at which a rollback or a disable could not do what it had to, because the node
 * did not answer. They are done when the node is back (debt.h).
 */
#include <ibcc/debt.h>

#include <errno.h>
#include <stdlib.h>

#include <ibcc/grow.h>

void ibcc_debts_fini(struct ibcc_debts *debts)
{
	for (uint32_t i = 0; i < debts->n; i++)
		free(debts->debt[i].seen);
	free(debts->debt);
	ibcc_places_fini(&debts->places);
	*debts = (struct ibcc_debts){ 0 };
}

int ibcc_debts_add(struct ibcc_debts *debts, const struct ibcc_debt *by, uint64_t node_guid,
		   uint8_t port)
{
	struct ibcc_debt *grown;

	if (ibcc_places_get(&debts->places, node_guid, port) != IBCC_NONE)
		return 0;
	grown = ibcc_grow(debts->debt, debts->n, &debts->cap, sizeof(*debts->debt));
	if (!grown)
		return -ENOMEM;
	debts->debt = grown;
	if (ibcc_places_put(&debts->places, node_guid, port, debts->n))
		return -ENOMEM;
	grown = &debts->debt[debts->n++];
	*grown = *by;
	grown->node_guid = node_guid;
	grown->port = port;
	return 0;
}

static bool is_verified(const struct ibcc_result *r, uint32_t i)
{
	return i < r->n && r->change[i].outcome == IBCC_OUTCOME_VERIFIED;
}

int ibcc_debts_add_failed(struct ibcc_debts *debts, const struct ibcc_debt *by,
			  const struct ibcc_plan *plan, const struct ibcc_result *r)
{
	int rc = 0;

	for (uint32_t i = 0; !rc && i < plan->n && i < r->n; i++)
		if (!is_verified(r, i))
			rc = ibcc_debts_add(debts, by, plan->change[i].node_guid,
					    plan->change[i].port);
	return rc;
}

bool ibcc_debt_is_covered(const struct ibcc_debt *d, const struct ibcc_debt *by, bool there)
{
	if (d->off && !by->off && by->from <= d->txn) /* the rollback reverts the disable itself */
		return true;
	return there && (by->off || !by->from || (!d->off && d->from >= by->from));
}

bool ibcc_debt_is_done(const struct ibcc_debt *d, const struct ibcc_plan_index *x,
		       const struct ibcc_result *r)
{
	for (uint32_t i = ibcc_debt_first(d, x); i != IBCC_NONE; i = x->next[i])
		if (!is_verified(r, i))
			return false;
	return true;
}

void ibcc_debt_note(struct ibcc_debt *d, const struct ibcc_plan_index *x,
		    const struct ibcc_result *r)
{
	for (uint32_t i = ibcc_debt_first(d, x); i != IBCC_NONE && i < r->n; i = x->next[i]) {
		const struct ibcc_change_result *c = &r->change[i];
		bool follows = c->outcome == IBCC_OUTCOME_SKIPPED && !c->err;
		bool others = c->err == IBCC_CHANGE_OTHER_WRITER;

		if (is_verified(r, i) || follows ||
		    (others && d->last.outcome != IBCC_OUTCOME_PENDING))
			continue;
		d->last = *c;
		if (!others)
			return;
	}
}

/* The order of lists from the state file, which reads a GUID as a signed number. */
static int compare(const struct ibcc_debt *a, const struct ibcc_debt *b)
{
	int64_t x = (int64_t)a->node_guid, y = (int64_t)b->node_guid;

	if (a->txn != b->txn)
		return a->txn < b->txn ? -1 : 1;
	if (x != y)
		return x < y ? -1 : 1;
	return a->port - b->port;
}

void ibcc_debts_keep_notes(struct ibcc_debts *debts, struct ibcc_debts *from)
{
	uint32_t k = 0;

	for (uint32_t i = 0; i < debts->n; i++) {
		struct ibcc_debt *d = &debts->debt[i], *f;

		while (k < from->n && compare(&from->debt[k], d) < 0)
			k++;
		f = k < from->n ? &from->debt[k] : NULL;
		if (!f || compare(f, d) || f->off != d->off)
			continue;
		d->last = f->last;
		d->seen = f->seen;
		d->n_seen = f->n_seen;
		d->rests = f->rests;
		d->said = f->said;
		f->seen = NULL;
		f->n_seen = 0;
	}
}

static const char *failure(int err)
{
	switch (err) {
	case IBCC_CHANGE_REFUSED:
	case IBCC_CHANGE_TAKEN: return "refuses the values";
	case IBCC_CHANGE_BUSY: return "is busy";
	case IBCC_CHANGE_BEYOND_BOUNDS:
		return "had earlier values that are beyond the bounds: \"ibcc-tune disable\" "
		       "removes its settings";
	case IBCC_CHANGE_TOO_MANY_SETS:
		return "has received its limit of Set MADs for this minute "
		       "(bounds.sets_per_minute)";
	case IBCC_CHANGE_NO_CLASS: return "does not report that it supports congestion control";
	case IBCC_CHANGE_VENDOR_ON: return "has NVIDIA's own congestion control on";
	case IBCC_CHANGE_VENDOR_OFF: return "has NVIDIA's own congestion control off";
	case IBCC_CHANGE_OTHER_WRITER:
		return "has marking profiles that another program has written since, and they "
		       "stay: \"ibcc-tune rollback\" restores the earlier ones";
	case IBCC_CHANGE_OTHER_KEY: return "has another CC_Key";
	case IBCC_CHANGE_MOVED: return "has another LID now";
	case IBCC_CHANGE_GONE: return "does not answer at its LID";
	case IBCC_CHANGE_UNREADABLE:
		return "has settings that ibcc-tune cannot read, or only in part";
	case -ETIMEDOUT: return "does not answer";
	}
	return "could not be written";
}

const char *ibcc_debt_cause(const struct ibcc_debt *d)
{
	switch (d->last.outcome) {
	case IBCC_OUTCOME_PENDING:
	case IBCC_OUTCOME_DRY: return NULL;
	case IBCC_OUTCOME_DIFFERS: return "accepts the values, but reads back others";
	case IBCC_OUTCOME_VERIFIED:
	case IBCC_OUTCOME_FAILED:
	case IBCC_OUTCOME_SKIPPED: return failure(d->last.err);
	}
	return NULL;
}
