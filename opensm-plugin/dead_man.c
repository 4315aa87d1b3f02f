/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "opensm-plugin/dead_man.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

void ibcc_dead_man_fini(struct ibcc_dead_man *d)
{
	ibcc_book_fini(&d->left);
}

static void note(struct ibcc_dead_man *d, const struct ibcc_change *c, bool back, bool certain)
{
	/* What was taken back is as somebody wants it. Of what could not be noted, without memory,
	 * nobody knows afterwards: a daemon's own books do.
	 */
	if (!back)
		ibcc_book_note(&d->left, c, (int64_t)d->seq, IBCC_BOOK_MAKE, certain);
	else if (certain)
		ibcc_book_drop(&d->left, c);
}

void ibcc_dead_man_note(struct ibcc_dead_man *d, const struct ibcc_plan *plan,
			const struct ibcc_result *r, uint64_t cc_key)
{
	if (!d->after_ms)
		return;
	d->cc_key = cc_key;
	d->seq++;
	for (uint32_t i = 0; i < plan->n && i < r->n; i++) {
		switch (r->change[i].outcome) {
		case IBCC_OUTCOME_SKIPPED:
		case IBCC_OUTCOME_DRY: break;
		case IBCC_OUTCOME_PENDING:
		case IBCC_OUTCOME_FAILED:
		case IBCC_OUTCOME_DIFFERS: note(d, &plan->change[i], plan->back, false); break;
		case IBCC_OUTCOME_VERIFIED: note(d, &plan->change[i], plan->back, true); break;
		}
	}
}

bool ibcc_dead_man_is_due(struct ibcc_dead_man *d, bool has_clients, uint64_t now_ms)
{
	if (!d->after_ms || !d->left.n || has_clients) {
		d->alive_ms = now_ms;
		return false;
	}
	if (now_ms - d->alive_ms < d->after_ms)
		return false;
	d->alive_ms = now_ms;
	return true;
}

int ibcc_dead_man_plan(const struct ibcc_dead_man *d, const struct ibcc_topo *t,
		       struct ibcc_plan *plan)
{
	struct ibcc_plan joined, undo = { 0 };
	int64_t first;
	int rc = ibcc_book_joined(&d->left, &joined, &first);

	*plan = (struct ibcc_plan){ .generation = t->generation, .back = true };
	if (rc)
		return rc;
	rc = ibcc_plan_reverse(&joined, &undo);
	for (uint32_t i = 0; !rc && i < undo.n; i++) {
		struct ibcc_change *c = &undo.change[i];
		uint32_t node = ibcc_topo_find_guid(t, c->node_guid);
		uint32_t port =
			node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(t, node, c->port);

		if (port == IBCC_NONE || !t->port[port].lid)
			continue;
		c->lid = t->port[port].lid;
		snprintf(c->reason, sizeof(c->reason), "its daemon has vanished");
		rc = ibcc_plan_append(plan, c);
	}
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&joined);
	if (rc)
		ibcc_plan_fini(plan);
	return rc;
}
