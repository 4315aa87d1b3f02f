/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "opensm-plugin/dead_man.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/ccmad.h>
#include <ibcc/grow.h>
#include <ibcc/mad.h>

void ibcc_dead_man_fini(struct ibcc_dead_man *d)
{
	ibcc_book_fini(&d->left);
	if (d->key)
		explicit_bzero(d->key, d->cap_keys * sizeof(*d->key));
	free(d->key);
}

/* Index of the first key that does not come before that of a change's endport. */
static uint32_t place(const struct ibcc_dead_man *d, const struct ibcc_change *c)
{
	uint32_t lo = 0, hi = d->n_keys;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		const struct ibcc_dead_man_key *k = &d->key[mid];

		if (k->node_guid < c->node_guid ||
		    (k->node_guid == c->node_guid && k->port < c->port))
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct ibcc_dead_man_key *find(const struct ibcc_dead_man *d, const struct ibcc_change *c)
{
	uint32_t i = place(d, c);

	return i < d->n_keys && d->key[i].node_guid == c->node_guid && d->key[i].port == c->port
		       ? &d->key[i]
		       : NULL;
}

/* Without memory for it the node is asked with the last plan's key. */
static void keep_key(struct ibcc_dead_man *d, const struct ibcc_change *c, uint64_t cc_key)
{
	struct ibcc_dead_man_key *k = find(d, c);
	uint32_t i = place(d, c);

	if (!k) {
		struct ibcc_dead_man_key *grown =
			ibcc_grow(d->key, d->n_keys, &d->cap_keys, sizeof(*grown));

		if (!grown)
			return;
		d->key = grown;
		k = &d->key[i];
		memmove(k + 1, k, (d->n_keys - i) * sizeof(*k));
		d->n_keys++;
		*k = (struct ibcc_dead_man_key){ .node_guid = c->node_guid, .port = c->port };
	}
	k->cc_key = cc_key;
}

/* The key that a node wants from now on. */
static void note_key(struct ibcc_dead_man *d, const struct ibcc_change *c, bool certain)
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

static void note(struct ibcc_dead_man *d, const struct ibcc_change *c, bool back, bool certain)
{
	note_key(d, c, certain);
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
		c->cc_key = find(d, c) ? find(d, c)->cc_key : 0;
		snprintf(c->reason, sizeof(c->reason), "its daemon has vanished");
		rc = ibcc_plan_append(plan, c);
	}
	ibcc_plan_fini(&undo);
	ibcc_plan_fini(&joined);
	if (rc)
		ibcc_plan_fini(plan);
	return rc;
}
