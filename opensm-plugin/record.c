/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What the plugin has written for clients, as a book (ibcc/book.h), and the key that each endport
 * expects (record.h). Begin with ibcc_record_note(), after a plan, and ibcc_record_plan(), which
 * makes the plan that reverts everything.
 */
#include "opensm-plugin/record.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ccmad.h>
#include <ibcc/grow.h>
#include <ibcc/mad.h>

void ibcc_record_fini(struct ibcc_record *d)
{
	ibcc_book_fini(&d->left);
	if (d->key)
		explicit_bzero(d->key, d->cap_keys * sizeof(*d->key));
	free(d->key);
}

/* Index of the first key at or after a change's endport. */
static uint32_t place(const struct ibcc_record *d, const struct ibcc_change *c)
{
	uint32_t lo = 0, hi = d->n_keys;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct ibcc_record_key *k = &d->key[mid];

		if (k->node_guid < c->node_guid ||
		    (k->node_guid == c->node_guid && k->port < c->port))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct ibcc_record_key *find(const struct ibcc_record *d, const struct ibcc_change *c)
{
	uint32_t i = place(d, c);

	return i < d->n_keys && d->key[i].node_guid == c->node_guid && d->key[i].port == c->port
		       ? &d->key[i]
		       : NULL;
}

/* Keeps the key of an endport. Without memory for it, the last plan's key will be used there. */
static void keep_key(struct ibcc_record *d, const struct ibcc_change *c, uint64_t cc_key)
{
	struct ibcc_record_key *k = find(d, c);
	uint32_t i = place(d, c);

	if (!k) {
		struct ibcc_record_key *grown =
			ibcc_grow(d->key, d->n_keys, &d->cap_keys, sizeof(*grown));

		if (!grown)
			return;
		d->key = grown;
		k = &d->key[i];
		memmove(k + 1, k, (d->n_keys - i) * sizeof(*k));
		d->n_keys++;
		*k = (struct ibcc_record_key){ .node_guid = c->node_guid, .port = c->port };
	}
	k->cc_key = cc_key;
}

/* Notes the key that a node expects after a change. */
static void note_key(struct ibcc_record *d, const struct ibcc_change *c, bool certain)
{
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	struct ibcc_cc_key_info fresh;

	if (c->attr_id != IBCC_CC_ATTR_KEY_INFO) {
		keep_key(d, c, c->cc_key ? c->cc_key : d->cc_key);
	} else if (certain) {
		memcpy(mad + IBCC_MAD_DATA_OFFS, c->new_data, sizeof(c->new_data));
		ibcc_cc_key_info_unpack(mad, &fresh);
		keep_key(d, c, fresh.CC_Key);
	}
}

/* Is an attribute with this value off? Then it throttles, marks and delays nothing. */
static bool is_off(const struct ibcc_change *c)
{
	struct ibcc_cc_sw_port_element el;
	struct ibcc_cc_ca_setting ca;
	struct ibcc_cc_sw_setting sw;
	struct ibcc_cct cct = { 0 };
	uint8_t mad[IBCC_MAD_BYTES] = { 0 };
	bool on = false;

	memcpy(mad + IBCC_MAD_DATA_OFFS, c->new_data, sizeof(c->new_data));
	switch (c->attr_id) {
	case IBCC_CC_ATTR_CA_SETTING:
		ibcc_cc_ca_setting_unpack(mad, &ca);
		for (unsigned int sl = 0; sl < IBCC_CC_SLS; sl++)
			on |= ca.sl[sl].CCTI_Increase || ca.sl[sl].CCTI_Min;
		return !on;
	case IBCC_CC_ATTR_SW_SETTING: ibcc_cc_sw_setting_unpack(mad, &sw); return !sw.Threshold;
	case IBCC_CC_ATTR_SW_PORT_SETTING:
		for (unsigned int slot = 0; slot < c->port_block; slot++) {
			ibcc_cc_sw_port_element_unpack(mad, slot, &el);
			on |= el.Valid && el.Threshold;
		}
		return !on;
	case IBCC_CC_ATTR_CCT:
		if (c->attr_mod >= IBCC_CCT_MAX_BLOCKS)
			return false;
		ibcc_cc_cct_unpack(mad, c->attr_mod, &cct, &cct.limit);
		for (unsigned int i = 0; i < IBCC_CCT_BLOCK_ENTRIES; i++)
			on |= ibcc_cct_entry_delay_milli(
				      cct.entry[c->attr_mod * IBCC_CCT_BLOCK_ENTRIES + i]) != 0;
		return !on;
	}
	return false;
}

/* Does a change revert an attribute to its earlier value, or disable it? */
static bool is_way_back(const struct ibcc_record *d, const struct ibcc_change *c)
{
	const struct ibcc_book_entry *e = ibcc_book_find(&d->left, c);

	return e && (is_off(c) || !memcmp(e->before, c->new_data, sizeof(e->before)));
}

static int by_attribute(const void *x, const void *y, void *arg)
{
	const struct ibcc_plan *plan = arg;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct ibcc_change *a = &plan->change[i], *b = &plan->change[k];

	if (a->node_guid != b->node_guid)
		return a->node_guid < b->node_guid ? -1 : 1;
	if (a->port != b->port)
		return a->port - b->port;
	if (a->attr_id != b->attr_id)
		return a->attr_id - b->attr_id;
	if (a->attr_mod != b->attr_mod)
		return a->attr_mod < b->attr_mod ? -1 : 1;
	return (i > k) - (i < k);
}

static bool same_attribute(const struct ibcc_change *a, const struct ibcc_change *b)
{
	return a->node_guid == b->node_guid && a->port == b->port && a->attr_id == b->attr_id &&
	       a->attr_mod == b->attr_mod;
}

int ibcc_record_mark(const struct ibcc_record *d, struct ibcc_plan *plan)
{
	uint32_t *order = malloc((plan->n ? plan->n : 1) * sizeof(*order));

	plan->back = false;
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < plan->n; i++)
		order[i] = i;
	qsort_r(order, plan->n, sizeof(*order), by_attribute, plan);
	for (uint32_t i = 0; i < plan->n; i++) {
		struct ibcc_change *c = &plan->change[order[i]];

		/* An attribute is reverted once: ten equal Sets are not ten ways back. */
		c->back =
			is_way_back(d, c) && !(i && same_attribute(c, &plan->change[order[i - 1]]));
	}
	free(order);
	return 0;
}

/* Notes one change that was sent. */
static void note(struct ibcc_record *d, const struct ibcc_change *c, bool certain)
{
	note_key(d, c, certain);
	/* A reverted attribute leaves the record. Without memory for a note, the record lacks the
	 * change; a daemon's own book still has it.
	 */
	if (!is_way_back(d, c))
		ibcc_book_note(&d->left, c, (int64_t)d->seq, IBCC_BOOK_MAKE, certain);
	else if (certain)
		ibcc_book_drop(&d->left, c);
}

void ibcc_record_note(struct ibcc_record *d, const struct ibcc_plan *plan,
		      const struct ibcc_result *r, uint64_t cc_key)
{
	d->cc_key = cc_key;
	d->seq++;
	for (uint32_t i = 0; i < plan->n && i < r->n; i++)
		if (ibcc_outcome_is_sent(r->change[i].outcome))
			note(d, &plan->change[i], r->change[i].outcome == IBCC_OUTCOME_VERIFIED);
}

int ibcc_record_plan(const struct ibcc_record *d, const struct ibcc_topo *t, struct ibcc_plan *plan)
{
	struct ibcc_plan joined, undo = { 0 };
	int64_t first;
	int rc = ibcc_book_joined(&d->left, &joined, &first);

	*plan = (struct ibcc_plan){ .generation = t->generation };
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
		c->cc_key = find(d, c) ? find(d, c)->cc_key : 0;
		snprintf(c->reason, sizeof(c->reason), "no daemon renews it any more");
		rc = ibcc_plan_append(plan, c);
	}
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&joined);
	if (rc)
		ibcc_plan_fini(plan);
	return rc;
}
