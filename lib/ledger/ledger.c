/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which program owns the settings of each endport, by three sources: the book, the settings that
 * were read, and those that the tuner holds.
 */
#include <ibcc/ledger.h>

#include <errno.h>
#include <stdlib.h>

void ibcc_ledger_reset(struct ibcc_ledger *l)
{
	free(l->hold);
	ibcc_settings_fini(&l->base);
	*l = (struct ibcc_ledger){ 0 };
}

int ibcc_ledger_fit(struct ibcc_ledger *l, const struct ibcc_topo *t)
{
	if (l->hold && l->n == t->n_endports)
		return 0;
	ibcc_ledger_reset(l);
	l->hold = calloc(t->n_endports ? t->n_endports : 1, sizeof(*l->hold));
	if (!l->hold || ibcc_settings_init(&l->base, t)) {
		ibcc_ledger_reset(l);
		return -ENOMEM;
	}
	l->n = t->n_endports;
	return 0;
}

bool ibcc_ledger_without(const struct ibcc_book *b, const struct ibcc_topo *t, uint32_t endport,
			 struct ibcc_endport_cc *ep)
{
	const struct ibcc_topo_port *p = &t->port[t->endport[endport]];

	return ibcc_book_without(b, t->node[p->node].guid, p->num, ep);
}

static void set(struct ibcc_ledger *l, uint32_t endport, enum ibcc_ledger_hold hold)
{
	l->n_left -= l->hold[endport] == IBCC_LEDGER_LEFT;
	l->n_left += hold == IBCC_LEDGER_LEFT;
	l->hold[endport] = hold;
}

static bool may_look(const struct ibcc_ledger *l, const struct ibcc_settings *actual, uint32_t e)
{
	return e < l->n && e < actual->n && l->hold[e] != IBCC_LEDGER_HELD &&
	       actual->ep[e].support == IBCC_CC_SUPPORTED;
}

int ibcc_ledger_look(struct ibcc_ledger *l, const struct ibcc_book *b, const struct ibcc_topo *t,
		     const struct ibcc_settings *actual)
{
	int rc = ibcc_ledger_fit(l, t);

	for (uint32_t e = 0; !rc && e < l->n; e++)
		if (may_look(l, actual, e))
			set(l, e, IBCC_LEDGER_NONE);
	for (uint32_t i = 0; !rc && i < b->n; i = ibcc_book_end(b, i)) {
		uint32_t e = ibcc_topo_find_endport(t, b->entry[i]->node_guid, b->entry[i]->port);

		if (!may_look(l, actual, e) || ibcc_book_is_back(b, i))
			continue;
		rc = ibcc_endport_cc_copy(&l->base.ep[e], &actual->ep[e]);
		if (!rc && ibcc_ledger_without(b, t, e, &l->base.ep[e]))
			set(l, e, IBCC_LEDGER_LEFT);
	}
	return rc;
}

int ibcc_ledger_hold(struct ibcc_ledger *l, uint32_t endport, const struct ibcc_endport_cc *actual)
{
	int rc = 0;

	if (l->hold[endport] == IBCC_LEDGER_NONE)
		rc = ibcc_endport_cc_copy(&l->base.ep[endport], actual);
	if (!rc)
		set(l, endport, IBCC_LEDGER_HELD);
	return rc;
}

void ibcc_ledger_release(struct ibcc_ledger *l, uint32_t endport)
{
	set(l, endport, IBCC_LEDGER_NONE);
}

uint32_t ibcc_ledger_ours(const struct ibcc_ledger *l, const struct ibcc_book *b,
			  const struct ibcc_topo *t, bool *which)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i = ibcc_book_end(b, i)) {
		uint32_t e = ibcc_topo_find_endport(t, b->entry[i]->node_guid, b->entry[i]->port);

		if (e != IBCC_NONE)
			which[e] = true;
	}
	for (uint32_t e = 0; e < t->n_endports; e++) {
		which[e] |= l && ibcc_ledger_is_held(l, e);
		n += which[e];
	}
	return n;
}

int ibcc_ledger_way_back(const struct ibcc_book *b, const struct ibcc_topo *t,
			 const struct ibcc_settings *actual, const struct ibcc_plan *plan,
			 struct ibcc_plan *part)
{
	struct ibcc_endport_cc base = { 0 };
	uint32_t i, k, end;
	int rc = 0;

	*part = (struct ibcc_plan){ .generation = plan->generation };
	for (i = 0; !rc && i < plan->n; i = end) {
		uint32_t e =
			ibcc_topo_find_endport(t, plan->change[i].node_guid, plan->change[i].port);
		bool back = false;

		end = ibcc_plan_end(plan, i);
		if (e < actual->n) {
			rc = ibcc_endport_cc_copy(&base, &actual->ep[e]);
			back = !rc && ibcc_ledger_without(b, t, e, &base);
		}
		for (k = i; back && k < end; k++)
			back = ibcc_plan_in_force(&base, plan->change[k].attr_id,
						  plan->change[k].attr_mod,
						  plan->change[k].new_data);
		for (k = i; !rc && back && k < end; k++)
			rc = ibcc_plan_append(part, &plan->change[k]);
	}
	ibcc_endport_cc_fini(&base);
	return rc;
}
