/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a rollback or a disable left to be done. */
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
	if (d->off && !by->off && by->from <= d->txn) /* the disable itself is taken back */
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
