/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Whose the settings of each endport are: what the book says, what was read, what the tuner holds.
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

/* Does a root mark by what was left there? Then it may be what holds its congestion back, from
 * which no other traffic suffers that the tuner could see.
 */
static bool is_needed(const struct ibcc_ledger *l, const struct ibcc_topo *t,
		      const struct ibcc_settings *actual, const struct ibcc_picture *pic)
{
	for (uint32_t k = 0; k < pic->n_roots; k++) {
		uint32_t port = pic->root[k].port, sw = ibcc_topo_switch_endport(t, port);

		if (sw < l->n && l->hold[sw] == IBCC_LEDGER_LEFT &&
		    ibcc_settings_port_marks(&actual->ep[sw], t->port[port].num))
			return true;
	}
	return false;
}

static int put_back(const struct ibcc_ledger *l, uint32_t endport, struct ibcc_target *target)
{
	static const uint16_t attrs[] = { IBCC_CC_ATTR_SW_SETTING, IBCC_CC_ATTR_SW_PORT_SETTING,
					  IBCC_CC_ATTR_CA_SETTING, IBCC_CC_ATTR_CCT };

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (!ibcc_target_add(target, endport, attrs[i], IBCC_REASON_LEFT))
			return -ENOMEM;
	return ibcc_endport_cc_copy(&target->wanted.ep[endport], &l->base.ep[endport]);
}

int ibcc_ledger_lay(struct ibcc_ledger *l, const struct ibcc_topo *t,
		    const struct ibcc_settings *actual, const struct ibcc_picture *pic,
		    uint32_t keep_passes, struct ibcc_target *target)
{
	uint32_t n = 0;
	bool goes;
	int rc = 0;

	if (!l->n_left)
		return 0;
	l->passes = is_needed(l, t, actual, pic) ? 0 : l->passes + pic->trustworthy;
	goes = l->passes >= keep_passes;
	for (uint32_t e = 0; !rc && e < l->n && e < actual->n; e++) {
		if (l->hold[e] != IBCC_LEDGER_LEFT || actual->ep[e].support != IBCC_CC_SUPPORTED)
			continue;
		n++;
		if (goes)
			rc = put_back(l, e, target);
	}
	target->decisions.n_left = n;
	target->decisions.left_goes = n && goes;
	return rc;
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
	free(base.element);
	return rc;
}
