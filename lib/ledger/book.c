/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The book: for each attribute that we have written, what was there before our first write and
 * what we wrote last (book.h). Entries are in the order of node, port, attribute and block.
 */
#include <ibcc/book.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/grow.h>

static void entry_free(struct ibcc_book_entry *e)
{
	free(e->off);
	free(e);
}

void ibcc_book_fini(struct ibcc_book *b)
{
	if (!b)
		return;
	for (uint32_t i = 0; i < b->n; i++)
		entry_free(b->entry[i]);
	free(b->entry);
	*b = (struct ibcc_book){ 0 };
}

/* Order of an entry and a change: by node, port, attribute, block. */
static int order(const struct ibcc_book_entry *e, const struct ibcc_change *c)
{
	if (e->node_guid != c->node_guid)
		return e->node_guid < c->node_guid ? -1 : 1;
	if (e->port != c->port)
		return e->port < c->port ? -1 : 1;
	if (e->attr_id != c->attr_id)
		return e->attr_id < c->attr_id ? -1 : 1;
	return (e->attr_mod > c->attr_mod) - (e->attr_mod < c->attr_mod);
}

/* Index of the first entry that does not come before the change's attribute. */
static uint32_t place(const struct ibcc_book *b, const struct ibcc_change *c)
{
	uint32_t lo = 0, hi = b->n;

	/* The common case: the state file is read in order. */
	if (b->n && order(b->entry[b->n - 1], c) < 0)
		return b->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (order(b->entry[mid], c) < 0)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static struct ibcc_book_entry *insert(struct ibcc_book *b, uint32_t at)
{
	struct ibcc_book_entry **grown = ibcc_grow(b->entry, b->n, &b->cap, sizeof(*grown));
	struct ibcc_book_entry *e;

	if (!grown)
		return NULL;
	b->entry = grown;
	e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	memmove(b->entry + at + 1, b->entry + at, (b->n - at) * sizeof(*b->entry));
	b->entry[at] = e;
	b->n++;
	return e;
}

static struct ibcc_book_entry *begin_entry(struct ibcc_book *b, uint32_t at,
					   const struct ibcc_change *c, int64_t txn)
{
	struct ibcc_book_entry *e = insert(b, at);

	if (!e)
		return NULL;
	e->node_guid = c->node_guid;
	e->port = c->port;
	e->attr_id = c->attr_id;
	e->attr_mod = c->attr_mod;
	e->first_txn = txn;
	memcpy(e->before, c->old_data, sizeof(e->before));
	return e;
}

int ibcc_book_note(struct ibcc_book *b, const struct ibcc_change *c, int64_t txn,
		   enum ibcc_book_act act, bool certain)
{
	struct ibcc_book_entry *e;
	uint32_t at;

	if (c->attr_id == IBCC_CC_ATTR_KEY_INFO)
		return 0;
	at = place(b, c);
	if (at < b->n && !order(b->entry[at], c))
		e = b->entry[at];
	else if (act == IBCC_BOOK_BACK)
		return 0;
	else
		e = begin_entry(b, at, c, txn);
	if (!e)
		return -ENOMEM;
	if (act == IBCC_BOOK_OFF) {
		if (!e->off)
			e->off = malloc(sizeof(e->last));
		if (!e->off)
			return -ENOMEM;
		memcpy(e->off, c->new_data, sizeof(e->last));
	} else if (act == IBCC_BOOK_BACK) {
		free(e->off);
		e->off = NULL;
	}
	e->lid = c->lid;
	e->port_block = c->port_block;
	e->txn = txn;
	e->certain = certain;
	e->back = act == IBCC_BOOK_BACK;
	memcpy(e->last, c->new_data, sizeof(e->last));
	return 0;
}

const struct ibcc_book_entry *ibcc_book_find(const struct ibcc_book *b, const struct ibcc_change *c)
{
	uint32_t at = place(b, c);

	return at < b->n && !order(b->entry[at], c) ? b->entry[at] : NULL;
}

struct ibcc_change ibcc_book_change(const struct ibcc_book_entry *e)
{
	struct ibcc_change c = { .node_guid = e->node_guid,
				 .lid = e->lid,
				 .port = e->port,
				 .attr_id = e->attr_id,
				 .attr_mod = e->attr_mod,
				 .port_block = e->port_block };

	memcpy(c.old_data, e->before, sizeof(c.old_data));
	memcpy(c.new_data, e->last, sizeof(c.new_data));
	return c;
}

void ibcc_book_drop(struct ibcc_book *b, const struct ibcc_change *c)
{
	uint32_t at = place(b, c);

	if (at == b->n || order(b->entry[at], c))
		return;
	entry_free(b->entry[at]);
	b->n--;
	memmove(b->entry + at, b->entry + at + 1, (b->n - at) * sizeof(*b->entry));
}

void ibcc_book_forget(struct ibcc_book *b, int64_t from)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		if (b->entry[i]->first_txn >= from)
			entry_free(b->entry[i]);
		else
			b->entry[n++] = b->entry[i];
	}
	b->n = n;
}

uint32_t ibcc_book_end(const struct ibcc_book *b, uint32_t i)
{
	const struct ibcc_book_entry *e = b->entry[i];

	for (i++;
	     i < b->n && b->entry[i]->node_guid == e->node_guid && b->entry[i]->port == e->port;
	     i++)
		;
	return i;
}

/* The end of the entries of one attribute of one endport that begin at i: the blocks of a table. */
static uint32_t end_of(const struct ibcc_book *b, uint32_t i)
{
	const struct ibcc_book_entry *e = b->entry[i];
	uint32_t end = i + 1;

	while (end < b->n && b->entry[end]->node_guid == e->node_guid &&
	       b->entry[end]->port == e->port && b->entry[end]->attr_id == e->attr_id)
		end++;
	return end;
}

static uint16_t limit_of(const uint8_t *data)
{
	return (uint16_t)(data[0] << 8 | data[1]);
}

/* The CCTI_Limit that a table had before our first write. A node takes its limit from the block
 * that is written last. If only a later transaction wrote a block, that block has the limit of that
 * time. So the oldest limit counts, which the highest block of the first transaction has.
 */
static uint16_t limit_before(const struct ibcc_book *b, uint32_t from, uint32_t end)
{
	const struct ibcc_book_entry *first = b->entry[from];
	uint16_t limit = limit_of(first->before);

	for (uint32_t i = from; i < end; i++) {
		if (b->entry[i]->first_txn > first->first_txn)
			continue;
		first = b->entry[i];
		limit = limit_of(first->before);
	}
	return limit;
}

/* What was in an entry's attribute before our first write, with the table's limit as it was then.
 */
static void before_of(const struct ibcc_book *b, uint32_t i, uint32_t from, uint32_t end,
		      uint8_t *data)
{
	const struct ibcc_book_entry *e = b->entry[i];
	uint16_t limit;

	memcpy(data, e->before, sizeof(e->before));
	if (e->attr_id != IBCC_CC_ATTR_CCT || e->first_txn == b->entry[from]->first_txn)
		return;
	limit = ibcc_cct_block_limit(limit_before(b, from, end), e->attr_mod);
	data[0] = (uint8_t)(limit >> 8);
	data[1] = (uint8_t)limit;
}

static int append(const struct ibcc_book *b, uint32_t i, uint32_t from, uint32_t end,
		  struct ibcc_plan *plan)
{
	struct ibcc_change c = ibcc_book_change(b->entry[i]);

	before_of(b, i, from, end, c.old_data);
	return ibcc_plan_append(plan, &c);
}

int ibcc_book_joined(const struct ibcc_book *b, struct ibcc_plan *plan, int64_t *first)
{
	struct ibcc_plan p = { 0 };
	uint32_t i, from, end;
	int64_t oldest = 0;

	for (from = 0; from < b->n; from = end) {
		end = end_of(b, from);
		for (i = from; i < end; i++) {
			if (!oldest || b->entry[i]->first_txn < oldest)
				oldest = b->entry[i]->first_txn;
			if (append(b, i, from, end, &p)) {
				ibcc_plan_fini(&p);
				return -ENOMEM;
			}
		}
	}
	*plan = p;
	*first = oldest;
	return 0;
}

/* Whether an entry's last value is expected on the fabric. A table is written as a whole, so blocks
 * that were not written with the others the last time are behind its end and do not count.
 */
static bool counts(const struct ibcc_book *b, uint32_t i, uint32_t from, uint32_t end)
{
	if (!b->entry[i]->certain)
		return false;
	for (uint32_t k = from; b->entry[i]->attr_id == IBCC_CC_ATTR_CCT && k < end; k++)
		if (b->entry[k]->txn > b->entry[i]->txn)
			return false;
	return true;
}

int ibcc_book_expected(const struct ibcc_book *b, struct ibcc_plan *plan)
{
	struct ibcc_plan p = { 0 };
	uint32_t i, from, end;

	for (from = 0; from < b->n; from = end) {
		end = end_of(b, from);
		for (i = from; i < end; i++) {
			if (!counts(b, i, from, end))
				continue;
			if (append(b, i, from, end, &p)) {
				ibcc_plan_fini(&p);
				return -ENOMEM;
			}
			snprintf(p.change[p.n - 1].reason, sizeof(p.change[0].reason),
				 "as transaction %lld left it", (long long)b->entry[i]->txn);
		}
	}
	*plan = p;
	return 0;
}

/* Whether an attribute, with all blocks that count, is as we left it. */
static bool is_ours(const struct ibcc_book *b, uint32_t from, uint32_t end,
		    const struct ibcc_endport_cc *ep)
{
	bool any = false;

	for (uint32_t i = from; i < end; i++) {
		const struct ibcc_book_entry *e = b->entry[i];

		if (!e->certain)
			return false;
		if (!counts(b, i, from, end))
			continue;
		any = true;
		if (!ibcc_plan_in_force(ep, e->attr_id, e->attr_mod, e->last))
			return false;
	}
	return any;
}

/* What a rollback leaves behind: the value of a disable, or what was there before. */
static void base_of(const struct ibcc_book *b, uint32_t i, uint32_t from, uint32_t end,
		    uint8_t *data)
{
	if (b->entry[i]->off)
		memcpy(data, b->entry[i]->off, sizeof(b->entry[i]->last));
	else
		before_of(b, i, from, end, data);
}

bool ibcc_book_is_back(const struct ibcc_book *b, uint32_t i)
{
	uint32_t all = ibcc_book_end(b, i), from, end;

	for (from = i; from < all; from = end) {
		end = end_of(b, from);
		for (i = from; i < end; i++) {
			uint8_t data[IBCC_CC_DATA_BYTES];

			base_of(b, i, from, end, data);
			if (memcmp(data, b->entry[i]->last, sizeof(data)) != 0)
				return false;
		}
	}
	return true;
}

static bool is_base(const struct ibcc_book *b, uint32_t from, uint32_t end,
		    const struct ibcc_endport_cc *ep)
{
	for (uint32_t i = from; i < end; i++) {
		const struct ibcc_book_entry *e = b->entry[i];
		uint8_t data[IBCC_CC_DATA_BYTES];

		base_of(b, i, from, end, data);
		if (!ibcc_plan_in_force(ep, e->attr_id, e->attr_mod, data))
			return false;
	}
	return true;
}

bool ibcc_book_without(const struct ibcc_book *b, uint64_t node_guid, uint8_t port,
		       struct ibcc_endport_cc *ep)
{
	const struct ibcc_change key = { .node_guid = node_guid, .port = port };
	uint32_t from = place(b, &key), end, i;
	bool changed = false;

	for (;
	     from < b->n && b->entry[from]->node_guid == node_guid && b->entry[from]->port == port;
	     from = end) {
		end = end_of(b, from);
		if (!is_ours(b, from, end, ep))
			continue;
		changed |= !is_base(b, from, end, ep);
		for (i = from; i < end; i++) {
			uint8_t data[IBCC_CC_DATA_BYTES];

			base_of(b, i, from, end, data);
			ibcc_settings_unpack(ep, b->entry[i]->attr_id, b->entry[i]->attr_mod, data);
		}
	}
	return changed;
}
