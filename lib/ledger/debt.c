/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Debts: endports at which a rollback or a disable could not do what it had to, because the node
 * did not answer. They are done when the node is back (debt.h).
 */
#include <ibcc/debt.h>

#include <errno.h>
#include <stdlib.h>

void ibcc_debts_fini(struct ibcc_debts *debts)
{
	free(debts->debt);
	*debts = (struct ibcc_debts){ 0 };
}

int ibcc_debts_add(struct ibcc_debts *debts, const struct ibcc_debt *by, uint64_t node_guid,
		   uint8_t port)
{
	struct ibcc_debt *grown;

	for (uint32_t i = 0; i < debts->n; i++)
		if (debts->debt[i].node_guid == node_guid && debts->debt[i].port == port)
			return 0;
	grown = reallocarray(debts->debt, debts->n + 1, sizeof(*debts->debt));
	if (!grown)
		return -ENOMEM;
	debts->debt = grown;
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

bool ibcc_debt_is_done(const struct ibcc_debt *d, const struct ibcc_plan *plan,
		       const struct ibcc_result *r)
{
	for (uint32_t i = 0; i < plan->n; i++)
		if (ibcc_debt_has(d, &plan->change[i]) && !is_verified(r, i))
			return false;
	return true;
}

void ibcc_debt_note(struct ibcc_debt *d, const struct ibcc_plan *plan, const struct ibcc_result *r)
{
	d->last = (struct ibcc_change_result){ .outcome = IBCC_OUTCOME_PENDING };
	for (uint32_t i = 0; i < plan->n && i < r->n; i++) {
		const struct ibcc_change_result *c = &r->change[i];
		bool follows = c->outcome == IBCC_OUTCOME_SKIPPED && !c->err;

		if (!ibcc_debt_has(d, &plan->change[i]) || is_verified(r, i) || follows)
			continue;
		d->last = *c;
		return;
	}
}

static bool is_same(const struct ibcc_debt *a, const struct ibcc_debt *b)
{
	return a->node_guid == b->node_guid && a->port == b->port && a->txn == b->txn &&
	       a->off == b->off;
}

void ibcc_debts_keep_notes(struct ibcc_debts *debts, const struct ibcc_debts *from)
{
	uint32_t next = 0, k;

	/* Both lists have one order, so each search begins behind the last find. */
	for (uint32_t i = 0; i < debts->n; i++) {
		for (k = next; k < from->n && !is_same(&debts->debt[i], &from->debt[k]); k++)
			;
		if (k == from->n)
			continue;
		debts->debt[i].last = from->debt[k].last;
		next = k + 1;
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
	case IBCC_CHANGE_NO_CLASS: return "does not say that it has congestion control";
	case IBCC_CHANGE_VENDOR_ON: return "has NVIDIA's own congestion control on";
	case IBCC_CHANGE_MOVED: return "has another LID now";
	case IBCC_CHANGE_GONE: return "does not answer at its LID";
	case IBCC_CHANGE_UNREADABLE: return "has settings that cannot be read as a whole";
	case -ETIMEDOUT: return "does not answer";
	}
	return "could not be written";
}

const char *ibcc_debt_cause(const struct ibcc_debt *d)
{
	switch (d->last.outcome) {
	case IBCC_OUTCOME_PENDING:
	case IBCC_OUTCOME_DRY: return NULL;
	case IBCC_OUTCOME_DIFFERS: return "takes the values, and reads back others";
	case IBCC_OUTCOME_VERIFIED:
	case IBCC_OUTCOME_FAILED:
	case IBCC_OUTCOME_SKIPPED: return failure(d->last.err);
	}
	return NULL;
}
