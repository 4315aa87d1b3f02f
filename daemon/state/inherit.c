/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/inherit.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/state/state.h"

void ibcc_inherit_reset(struct ibcc_inherit *h)
{
	free(h->heir);
	*h = (struct ibcc_inherit){ 0 };
}

static const struct ibcc_topo_port *port_of(const struct ibcc_topo *t, uint32_t endport)
{
	return &t->port[t->endport[endport]];
}

static bool without_us(const struct ibcc_book *b, const struct ibcc_topo *t, uint32_t endport,
		       struct ibcc_endport_cc *ep)
{
	const struct ibcc_topo_port *p = port_of(t, endport);

	return ibcc_book_without(b, t->node[p->node].guid, p->num, ep);
}

/* Whether an endport would have other settings without us. */
static bool has_left(const struct ibcc_book *b, const struct ibcc_topo *t, uint32_t endport,
		     const struct ibcc_endport_cc *actual)
{
	struct ibcc_cc_sw_port_element element[UINT8_MAX + 1];
	struct ibcc_endport_cc ep = *actual;

	if (ep.n_element > sizeof(element) / sizeof(element[0]))
		return false;
	if (ep.n_element)
		memcpy(element, ep.element, ep.n_element * sizeof(*element));
	ep.element = element;
	return without_us(b, t, endport, &ep);
}

/* What is let go while an endport cannot be read or has somebody else's key stays there, and the
 * tuner no longer knows of it: such ones are looked at again.
 */
static void lose_sight(struct ibcc_inherit *h, const struct ibcc_settings *actual)
{
	for (uint32_t i = 0; i < h->n; i++) {
		if (h->heir[i] != IBCC_HEIR_NONE || actual->ep[i].support == IBCC_CC_SUPPORTED)
			continue;
		h->heir[i] = IBCC_HEIR_UNKNOWN;
		h->n_known--;
	}
}

void ibcc_inherit_again(struct ibcc_inherit *h, const bool *held)
{
	for (uint32_t i = 0; i < h->n; i++) {
		if (h->heir[i] != IBCC_HEIR_NONE || held[i])
			continue;
		h->heir[i] = IBCC_HEIR_UNKNOWN;
		h->n_known--;
	}
}

int ibcc_inherit_look(struct ibcc_inherit *h, struct ibcc_state *s, const struct ibcc_topo *t,
		      const struct ibcc_settings *actual, struct ibcc_why *why)
{
	const struct ibcc_book *book;
	int rc;

	if (!h->heir) {
		h->heir = calloc(actual->n ? actual->n : 1, sizeof(*h->heir));
		if (!h->heir)
			return ibcc_why_set(why, -ENOMEM, "no memory");
		h->n = actual->n;
	}
	lose_sight(h, actual);
	if (h->n_known == h->n)
		return 0;
	rc = ibcc_state_book(s, &book, why);
	if (rc)
		return rc;
	for (uint32_t i = 0; i < h->n; i++) {
		bool left;

		if (h->heir[i] != IBCC_HEIR_UNKNOWN || actual->ep[i].support != IBCC_CC_SUPPORTED)
			continue;
		left = has_left(book, t, i, &actual->ep[i]);
		h->heir[i] = left ? IBCC_HEIR_LEFT : IBCC_HEIR_NONE;
		h->n_left += left;
		h->n_known++;
	}
	return 0;
}

static bool is_left(const struct ibcc_inherit *h, uint32_t i)
{
	return h->heir[i] >= IBCC_HEIR_LEFT;
}

void ibcc_inherit_take(struct ibcc_inherit *h, const bool *taken)
{
	for (uint32_t i = 0; i < h->n; i++) {
		if (!taken[i] || !is_left(h, i))
			continue;
		h->heir[i] = IBCC_HEIR_NONE;
		h->n_left--;
	}
}

int ibcc_inherit_view(const struct ibcc_inherit *h, struct ibcc_state *s, const struct ibcc_topo *t,
		      const struct ibcc_settings *actual, struct ibcc_settings *view,
		      struct ibcc_why *why)
{
	const struct ibcc_book *book;
	int rc = ibcc_state_book(s, &book, why);

	if (rc)
		return rc;
	if (ibcc_settings_copy(view, actual))
		return ibcc_why_set(why, -ENOMEM, "no memory");
	for (uint32_t i = 0; i < h->n && i < view->n; i++)
		if (is_left(h, i) && view->ep[i].support == IBCC_CC_SUPPORTED)
			without_us(book, t, i, &view->ep[i]);
	return 0;
}

int ibcc_inherit_without(struct ibcc_state *s, const struct ibcc_topo *t,
			 const struct ibcc_settings *actual, struct ibcc_settings *without,
			 struct ibcc_why *why)
{
	const struct ibcc_book *book;
	int rc = ibcc_state_book(s, &book, why);

	if (!rc && ibcc_settings_copy(without, actual))
		rc = ibcc_why_set(why, -ENOMEM, "no memory");
	for (uint32_t i = 0; !rc && i < without->n; i++)
		if (without->ep[i].support == IBCC_CC_SUPPORTED)
			without_us(book, t, i, &without->ep[i]);
	return rc;
}

bool ibcc_inherit_serves(const struct ibcc_inherit *h, const struct ibcc_topo *t,
			 const struct ibcc_settings *actual, const struct ibcc_picture *pic)
{
	for (uint32_t k = 0; k < pic->n_roots; k++) {
		uint32_t port = pic->root[k].port, sw = ibcc_topo_switch_endport(t, port);

		if (sw < h->n && is_left(h, sw) &&
		    ibcc_settings_port_marks(&actual->ep[sw], t->port[port].num))
			return true;
	}
	return false;
}

/* The planner takes the first reason that it finds for an attribute: those of the tuner are there.
 */
static int add_reasons(struct ibcc_target *target, uint32_t endport)
{
	static const uint16_t attrs[] = { IBCC_CC_ATTR_SW_SETTING, IBCC_CC_ATTR_SW_PORT_SETTING,
					  IBCC_CC_ATTR_CA_SETTING, IBCC_CC_ATTR_CCT };

	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++)
		if (!ibcc_target_add(target, endport, attrs[i], IBCC_REASON_LEFT))
			return -ENOMEM;
	return 0;
}

/* Both have the same elements: the view was copied from the actual settings. */
static void keep(struct ibcc_endport_cc *wanted, const struct ibcc_endport_cc *actual)
{
	struct ibcc_cc_sw_port_element *element = wanted->element;

	*wanted = *actual;
	wanted->element = element;
	if (actual->n_element)
		memcpy(element, actual->element, actual->n_element * sizeof(*element));
}

static void remark(struct ibcc_target *target, uint32_t n_off, uint32_t n_kept)
{
	const char *said = ibcc_target_summary(target);

	if (n_off)
		(void)ibcc_target_summarize(
			target, "%s; previously applied settings of %u nodes are removed", said,
			n_off);
	else if (n_kept)
		(void)ibcc_target_summarize(target, "%s; %u nodes keep previously applied settings",
					    said, n_kept);
}

int ibcc_inherit_lay(struct ibcc_inherit *h, const struct ibcc_settings *actual,
		     uint32_t keep_passes, struct ibcc_target *target)
{
	uint32_t n_off = 0, n_kept = 0;

	for (uint32_t i = 0; i < h->n; i++)
		if (is_left(h, i))
			h->heir[i] = IBCC_HEIR_LEFT;
	for (uint32_t k = 0; k < target->n_reasons; k++)
		if (target->reason[k].endport < h->n && is_left(h, target->reason[k].endport))
			h->heir[target->reason[k].endport] = IBCC_HEIR_GOING;
	for (uint32_t i = 0; i < h->n && i < actual->n; i++) {
		if (!is_left(h, i) || actual->ep[i].support != IBCC_CC_SUPPORTED)
			continue;
		if (h->heir[i] == IBCC_HEIR_LEFT && h->passes < keep_passes) {
			keep(&target->wanted.ep[i], &actual->ep[i]);
			n_kept++;
			continue;
		}
		n_off += h->heir[i] == IBCC_HEIR_LEFT;
		h->heir[i] = IBCC_HEIR_GOING;
		if (add_reasons(target, i))
			return -ENOMEM;
	}
	remark(target, n_off, n_kept);
	return 0;
}

static uint32_t endport_of(const struct ibcc_topo *t, const struct ibcc_change *c)
{
	return ibcc_topo_find_endport(t, c->node_guid, c->port);
}

/* Changes of one endport, from `i` on. */
static uint32_t end_of(const struct ibcc_plan *plan, uint32_t i)
{
	const struct ibcc_change *c = &plan->change[i];

	for (i++; i < plan->n && plan->change[i].node_guid == c->node_guid &&
		  plan->change[i].port == c->port;
	     i++)
		;
	return i;
}

int ibcc_inherit_way_back(struct ibcc_state *s, const struct ibcc_topo *t,
			  const struct ibcc_settings *actual, const struct ibcc_plan *plan,
			  struct ibcc_plan *part, struct ibcc_why *why)
{
	struct ibcc_settings base = { 0 };
	const struct ibcc_book *book;
	uint32_t i, k, end;
	int rc = ibcc_state_book(s, &book, why);

	*part = (struct ibcc_plan){ .generation = plan->generation };
	if (!rc)
		rc = ibcc_settings_copy(&base, actual);
	for (i = 0; !rc && i < plan->n; i = end) {
		uint32_t endport = endport_of(t, &plan->change[i]);
		bool back = endport < base.n && without_us(book, t, endport, &base.ep[endport]);

		end = end_of(plan, i);
		for (k = i; back && k < end; k++)
			back = ibcc_plan_in_force(&base.ep[endport], plan->change[k].attr_id,
						  plan->change[k].attr_mod,
						  plan->change[k].new_data);
		for (k = i; !rc && back && k < end; k++)
			rc = ibcc_plan_append(part, &plan->change[k]);
	}
	ibcc_settings_fini(&base);
	return rc;
}

void ibcc_inherit_planned(struct ibcc_inherit *h, const struct ibcc_topo *t,
			  const struct ibcc_plan *plan)
{
	for (uint32_t k = 0; h->n_left && k < plan->n; k++) {
		uint32_t endport = endport_of(t, &plan->change[k]);

		if (endport < h->n && h->heir[endport] == IBCC_HEIR_GOING)
			h->heir[endport] = IBCC_HEIR_PLANNED;
	}
	for (uint32_t i = 0; h->n_left && i < h->n; i++) {
		if (h->heir[i] != IBCC_HEIR_GOING)
			continue;
		h->heir[i] = IBCC_HEIR_NONE;
		h->n_left--;
	}
}

void ibcc_inherit_made(struct ibcc_inherit *h)
{
	for (uint32_t i = 0; h->n_left && i < h->n; i++) {
		if (h->heir[i] != IBCC_HEIR_PLANNED)
			continue;
		h->heir[i] = IBCC_HEIR_NONE;
		h->n_left--;
	}
}
