/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The audit: compares the book with the settings that were read. It finds drift (settings that
 * differ from those that ibcc-tune wrote), foreign settings, and adapters that are held back more
 * than was meant. Begin with ibcc_audit_run().
 */
#include <ibcc/audit.h>

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ledger.h>
#include <ibcc/text.h>

struct audit {
	const struct ibcc_topo *t;
	const struct ibcc_settings *actual;
	struct ibcc_audit *a;
};

/* The settings that were read of a change's endport, and its LID; NULL: it is gone, or they are
 * not known.
 */
static const struct ibcc_endport_cc *find(const struct audit *x, const struct ibcc_change *c,
					  uint16_t *lid)
{
	uint32_t node = ibcc_topo_find_guid(x->t, c->node_guid);
	uint32_t port = node == IBCC_NONE ? IBCC_NONE : ibcc_topo_port_index(x->t, node, c->port);
	uint32_t endport = port == IBCC_NONE ? IBCC_NONE : x->t->port[port].endport;

	if (endport == IBCC_NONE || endport >= x->actual->n || !x->t->port[port].lid ||
	    x->actual->ep[endport].support != IBCC_CC_SUPPORTED)
		return NULL;
	*lid = x->t->port[port].lid;
	return &x->actual->ep[endport];
}

/* Whether a change is a block behind the end of the node's table: the blocks below it have been
 * written and have moved the limit, but this one has not.
 */
static bool is_unused_block(const struct ibcc_change *c, const uint8_t *got)
{
	unsigned int first = c->attr_mod * IBCC_CCT_BLOCK_ENTRIES;

	return c->attr_id == IBCC_CC_ATTR_CCT && (got[0] << 8 | got[1]) < (int)first &&
	       (c->new_data[0] << 8 | c->new_data[1]) >= (int)first;
}

/* Looks a change up on the fabric; the node's data go to `got`, its LID into the change. */
static enum ibcc_audit_finding look(const struct audit *x, struct ibcc_change *c, uint8_t *got,
				    bool *by_block)
{
	const struct ibcc_endport_cc *ep = find(x, c, &c->lid);

	if (!ep || !ibcc_settings_pack(ep, c->attr_id, c->attr_mod, got))
		return IBCC_AUDIT_NOTHING;
	*by_block = ep->by_block;
	if (ibcc_plan_in_force(ep, c->attr_id, c->attr_mod, c->new_data))
		return IBCC_AUDIT_NEW;
	if (ibcc_plan_in_force(ep, c->attr_id, c->attr_mod, c->old_data) || is_unused_block(c, got))
		return IBCC_AUDIT_OLD;
	return IBCC_AUDIT_OTHER;
}

enum ibcc_audit_finding ibcc_audit_look(const struct ibcc_topo *t,
					const struct ibcc_settings *actual, struct ibcc_change *c)
{
	const struct audit x = { .t = t, .actual = actual };
	uint8_t got[IBCC_CC_DATA_BYTES];
	bool by_block;

	return look(&x, c, got, &by_block);
}

/* Whether a change has to be made again because the audit found another change of its endport to be
 * lost. Tables are written as a whole, and some nodes want theirs again after every CA setting.
 */
static bool goes_with(const struct ibcc_change *c, const struct ibcc_change *drifted, bool by_block)
{
	return c->attr_id == IBCC_CC_ATTR_CCT &&
	       (drifted->attr_id == IBCC_CC_ATTR_CCT ||
		(by_block && drifted->attr_id == IBCC_CC_ATTR_CA_SETTING));
}

/* The expected changes of one endport, n from `c` on, all or none of its table. */
static int compare_endport(struct audit *x, struct ibcc_change *c, uint32_t n)
{
	uint8_t got[IBCC_CC_DATA_BYTES];
	bool by_block = false, found = false;
	const struct ibcc_change *why[2] = { NULL, NULL };
	uint32_t i;
	int rc = 0;

	for (i = 0; i < n; i++) {
		enum ibcc_audit_finding f = look(x, &c[i], got, &by_block);

		if (f == IBCC_AUDIT_NOTHING)
			return 0;
		if (f == IBCC_AUDIT_NEW)
			continue;
		found = true;
		why[c[i].attr_id == IBCC_CC_ATTR_CCT] = &c[i];
	}
	for (i = 0; !rc && found && i < n; i++) {
		bool with = (why[0] && goes_with(&c[i], why[0], by_block)) ||
			    (why[1] && goes_with(&c[i], why[1], by_block));

		if (look(x, &c[i], got, &by_block) == IBCC_AUDIT_NEW && !with)
			continue;
		memcpy(c[i].old_data, got, sizeof(got));
		rc = ibcc_plan_append(&x->a->drift, &c[i]);
	}
	return rc;
}

static int find_drift(struct audit *x, struct ibcc_plan *expected)
{
	uint64_t last_guid = 0;
	uint32_t i, end;
	int rc = 0;

	for (i = 0; !rc && i < expected->n; i = end) {
		uint32_t before = x->a->drift.n;

		end = ibcc_plan_end(expected, i);
		rc = compare_endport(x, &expected->change[i], end - i);
		if (x->a->drift.n > before && expected->change[i].node_guid != last_guid) {
			last_guid = expected->change[i].node_guid;
			x->a->n_drift_nodes++;
		}
	}
	return rc;
}

/* Finds settings that are on although we did not write them. */
static int find_unknown(struct audit *x, const struct ibcc_book *book)
{
	struct ibcc_settings rest;

	if (ibcc_settings_copy(&rest, x->actual))
		return -ENOMEM;
	for (uint32_t i = 0; i < rest.n; i++) {
		if (rest.ep[i].support != IBCC_CC_SUPPORTED)
			continue;
		ibcc_ledger_without(book, x->t, i, &rest.ep[i]);
		if (ibcc_settings_are_on(&rest.ep[i]) && !x->a->n_unknown++)
			x->a->unknown_guid = x->t->node[x->t->port[x->t->endport[i]].node].guid;
	}
	ibcc_settings_fini(&rest);
	return 0;
}

/* Finds adapters that are held back more than by what we wrote last, whether or not our settings
 * are still on the fabric.
 */
static int find_excess(struct audit *x, const struct ibcc_book *book)
{
	struct ibcc_settings meant;

	if (ibcc_settings_copy(&meant, x->actual))
		return -ENOMEM;
	for (uint32_t i = 0; i < book->n; i++) {
		const struct ibcc_book_entry *e = book->entry[i];
		uint32_t endport = ibcc_topo_find_endport(x->t, e->node_guid, e->port);

		if (endport < meant.n)
			ibcc_settings_unpack(&meant.ep[endport], e->attr_id, e->attr_mod, e->last);
	}
	x->a->excess = ibcc_throttle_compare(x->t, x->actual, &meant);
	ibcc_settings_fini(&meant);
	return 0;
}

int ibcc_audit_run(const struct ibcc_book *b, const struct ibcc_topo *t,
		   const struct ibcc_settings *actual, struct ibcc_audit *a)
{
	struct audit x = { .t = t, .actual = actual, .a = a };
	struct ibcc_plan expected = { 0 };
	int rc = ibcc_book_expected(b, &expected);

	a->drift.generation = t->generation;
	if (!rc)
		rc = find_drift(&x, &expected);
	if (!rc)
		rc = find_unknown(&x, b);
	if (!rc)
		rc = find_excess(&x, b);
	ibcc_plan_fini(&expected);
	return rc;
}

void ibcc_audit_fini(struct ibcc_audit *a)
{
	if (!a)
		return;
	ibcc_plan_fini(&a->drift);
	*a = (struct ibcc_audit){ 0 };
}

/* A sentence about n nodes, of which the first is named. */
static void say(const struct ibcc_topo *t, struct ibcc_why *text, uint64_t guid, uint32_t n,
		const char *begin, const char *end)
{
	uint32_t node = n ? ibcc_topo_find_guid(t, guid) : IBCC_NONE;
	char others[32] = "";

	text->text[0] = '\0';
	if (!n)
		return;
	if (n > 1)
		snprintf(others, sizeof(others), " and %u more node%s", n - 1,
			 ibcc_text_plural(n - 1, "", "s"));
	ibcc_why_set(text, 0, "%s of \"%s\" 0x%016" PRIx64 "%s %s", begin,
		     node == IBCC_NONE ? "" : t->node[node].desc, guid, others, end);
}

void ibcc_audit_text(const struct ibcc_topo *t, const struct ibcc_audit *a, struct ibcc_why *text)
{
	say(t, text, a->drift.n ? a->drift.change[0].node_guid : 0, a->n_drift_nodes, "settings",
	    "differ from those that ibcc-tune wrote");
}

void ibcc_audit_unknown_text(const struct ibcc_topo *t, const struct ibcc_audit *a,
			     struct ibcc_why *text)
{
	say(t, text, a->unknown_guid, a->n_unknown, "foreign settings: congestion control",
	    "is on, but not recorded in the state file; it stays until \"ibcc-tune disable\" "
	    "removes it");
}
