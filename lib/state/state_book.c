/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps in memory which settings the state file says are ours: the way back, and what should be on
 * the fabric.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/bounds.h>

#include "lib/state/state_db.h"

int ibcc_state_read_change(sqlite3_stmt *st, struct ibcc_change *c)
{
	const void *old_data = sqlite3_column_blob(st, 5), *new_data = sqlite3_column_blob(st, 6);

	if (sqlite3_column_bytes(st, 5) != (int)sizeof(c->old_data) ||
	    sqlite3_column_bytes(st, 6) != (int)sizeof(c->new_data))
		return -EIO;
	memset(c, 0, sizeof(*c));
	c->node_guid = (uint64_t)sqlite3_column_int64(st, 0);
	c->port = (uint8_t)sqlite3_column_int(st, 1);
	c->attr_id = (uint16_t)sqlite3_column_int(st, 2);
	c->attr_mod = (uint32_t)sqlite3_column_int64(st, 3);
	c->lid = (uint16_t)sqlite3_column_int(st, 4);
	c->port_block = (uint8_t)sqlite3_column_int(st, 7);
	memcpy(c->old_data, old_data, sizeof(c->old_data));
	memcpy(c->new_data, new_data, sizeof(c->new_data));
	return 0;
}

/* By attribute, and for each attribute by time. */
static const char book_sql[] =
	"SELECT c.node_guid, c.port, c.attr_id, c.attr_mod, c.lid, c.old, c.new, c.port_block,"
	" c.txn, t.action, c.outcome = 'verified', " IBCC_STATE_PLACE_SOUND
	", " IBCC_STATE_CHANGE_SOUND ", " IBCC_STATE_TXN_SOUND IBCC_STATE_LIVE " AND c.txn >= ?1"
	" ORDER BY c.node_guid, c.port, c.attr_id, c.attr_mod, c.txn, c.seq";
static const char live_sql[] =
	"SELECT count(*)" IBCC_STATE_LIVE " AND t.id = ?1 AND t.action <> 'rollback'";

static enum ibcc_book_act act_of(const char *action)
{
	if (action && !strcmp(action, "rollback"))
		return IBCC_BOOK_BACK;
	return action && !strcmp(action, "disable") ? IBCC_BOOK_OFF : IBCC_BOOK_MAKE;
}

/* Reads a row into *c. Returns NULL, or what is wrong with the row. */
static const char *read_row(sqlite3_stmt *st, struct ibcc_change *c)
{
	const char *what;

	if (ibcc_state_read_change(st, c))
		return "its value is too short or too long for an attribute";
	if (sqlite3_column_int(st, 12))
		return sqlite3_column_int(st, 13) ? NULL
						  : "its transaction does not match its checksum";
	what = ibcc_bounds_data(c, c->old_data);
	if (!what)
		what = ibcc_bounds_data(c, c->new_data);
	return what ? what : "it does not match its checksum";
}

static void count_damaged(struct ibcc_damage *d, uint64_t guid, unsigned int port, uint16_t attr_id,
			  int64_t txn, const char *what)
{
	if (!d->n++)
		ibcc_why_set(&d->first, 0,
			     "node 0x%016" PRIx64 " port %u, %s of transaction %lld: %s", guid,
			     port, ibcc_cc_attr_name(attr_id), (long long)txn, what);
}

/* Notes to which endport and attribute a damaged row belongs. Rows of one attribute come together.
 */
static int note_damaged(struct ibcc_damage *d, struct ibcc_plan *places, sqlite3_stmt *st,
			const char *what)
{
	const struct ibcc_change *last = places->n ? &places->change[places->n - 1] : NULL;
	struct ibcc_change c = { .node_guid = (uint64_t)sqlite3_column_int64(st, 0),
				 .port = (uint8_t)sqlite3_column_int(st, 1),
				 .attr_id = (uint16_t)sqlite3_column_int(st, 2),
				 .attr_mod = (uint32_t)sqlite3_column_int64(st, 3) };
	int64_t txn = sqlite3_column_int64(st, 8);

	if (!sqlite3_column_int(st, 11) && (!d->unplaced || txn < d->unplaced))
		d->unplaced = txn > 0 ? txn : 1;
	if (last && last->node_guid == c.node_guid && last->port == c.port &&
	    last->attr_id == c.attr_id && last->attr_mod == c.attr_mod)
		return 0;
	count_damaged(d, c.node_guid, c.port, c.attr_id, txn, what);
	return ibcc_plan_append(places, &c);
}

/* Drops a damaged attribute from the book: neither its value before our first write nor its last
 * value is known for certain.
 */
static void drop_damaged(struct ibcc_book *b, const struct ibcc_plan *places, struct ibcc_damage *d)
{
	uint32_t i;

	for (i = 0; i < places->n; i++)
		ibcc_book_drop(b, &places->change[i]);
	for (i = 0; d->unplaced && i < b->n; i++)
		if (b->entry[i]->first_txn > d->unplaced)
			count_damaged(d, b->entry[i]->node_guid, b->entry[i]->port,
				      b->entry[i]->attr_id, b->entry[i]->first_txn,
				      "an earlier row, which is damaged, may be about it");
	/* No transaction comes after the highest number, which only a damaged row has. */
	if (d->unplaced && d->unplaced < INT64_MAX)
		ibcc_book_forget(b, d->unplaced + 1);
}

int ibcc_state_read_book(struct ibcc_state *s, int64_t from, struct ibcc_book *b,
			 struct ibcc_damage *damage)
{
	struct ibcc_damage d = { 0 };
	struct ibcc_plan places = { 0 };
	struct ibcc_change c;
	sqlite3_stmt *st = NULL;
	int rc = -EIO, step = SQLITE_ERROR;

	if (!sqlite3_prepare_v2(s->db, book_sql, -1, &st, NULL) && !sqlite3_bind_int64(st, 1, from))
		rc = 0;
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW) {
		const char *what = read_row(st, &c);

		rc = what ? note_damaged(&d, &places, st, what)
			  : ibcc_book_note(b, &c, sqlite3_column_int64(st, 8),
					   act_of((const char *)sqlite3_column_text(st, 9)),
					   sqlite3_column_int(st, 10));
	}
	sqlite3_finalize(st);
	drop_damaged(b, &places, &d);
	ibcc_plan_fini(&places);
	if (damage)
		*damage = d;
	return rc ? rc : step == SQLITE_DONE ? 0 : -EIO;
}

/* A number that changes with each commit of another connection. */
static int64_t data_version(struct ibcc_state *s)
{
	return ibcc_state_ask(s->db, "PRAGMA data_version", 0);
}

static void find_newest(struct ibcc_state *s)
{
	for (uint32_t i = 0; i < s->book.n; i++)
		if (s->book.entry[i]->txn > s->newest)
			s->newest = s->book.entry[i]->txn;
}

int ibcc_state_load_book(struct ibcc_state *s)
{
	struct ibcc_book fresh = { 0 };
	struct ibcc_damage damage;
	int64_t version;
	int rc;

	if (s->ahead)
		return 0;
	version = data_version(s);
	if (s->book_fresh && version == s->data_version)
		return 0;
	rc = s->db ? ibcc_state_read_book(s, 0, &fresh, &damage) : -EIO;
	if (rc) {
		ibcc_book_fini(&fresh);
		return rc == -EIO && s->whole ? 0 : rc;
	}
	ibcc_book_fini(&s->book);
	s->book = fresh;
	s->damage = damage;
	s->book_fresh = true;
	s->whole = true;
	s->data_version = version;
	find_newest(s);
	return 0;
}

static int note_changes(struct ibcc_book *b, int64_t id, const struct ibcc_txn *txn,
			const struct ibcc_plan *plan, const struct ibcc_result *r)
{
	enum ibcc_book_act act = act_of(txn->action);
	int rc = 0;

	for (uint32_t i = 0; !rc && i < plan->n && i < r->n; i++)
		if (ibcc_outcome_is_sent(r->change[i].outcome))
			rc = ibcc_book_note(b, &plan->change[i], id, act,
					    r->change[i].outcome == IBCC_OUTCOME_VERIFIED);
	return rc;
}

static void note(struct ibcc_state *s, int64_t id, const struct ibcc_txn *txn,
		 const struct ibcc_plan *plan, const struct ibcc_result *r, int err)
{
	if (err == -EPERM)
		return;
	if (note_changes(&s->book, id, txn, plan, r))
		s->book_fresh = false; /* without memory, the book is read again */
	else if (!err && txn->undoes_from > 0)
		ibcc_book_forget(&s->book, txn->undoes_from);
}

void ibcc_state_note_result(struct ibcc_state *s, int64_t id, const struct ibcc_result *r, int err)
{
	if (s->plan && (s->book_fresh || s->ahead))
		note(s, id, s->txn, s->plan, r, err);
}

void ibcc_state_note_unrecorded(struct ibcc_state *s, const struct ibcc_txn *txn,
				const struct ibcc_plan *plan, const struct ibcc_result *r, int err)
{
	ibcc_state_load_book(s);
	s->ahead = true;
	note(s, ++s->newest, txn, plan, r, err);
}

static int failed(struct ibcc_state *s, int rc, struct ibcc_why *why)
{
	return rc == -ENOMEM ? ibcc_why_set(why, rc, "no memory") : ibcc_state_failed(s, why);
}

static bool is_pruned(struct ibcc_state *s, int64_t id)
{
	char *text = ibcc_state_note(s, "pruned");
	bool pruned = text && strtoll(text, NULL, 10) > id;
	struct ibcc_trial t;

	free(text);
	/* The history of a transaction on trial is kept, and so is the one that a rollback still
	 * needs.
	 */
	return pruned && (ibcc_state_trial(s, &t) || !t.pending || t.txn != id) &&
	       !ibcc_state_owes_back(s, id);
}

/* Reads the way back to a moment in between, which only the file has. If the book is ahead of the
 * file, that works only if the file lacks no more than the end of that moment's transaction.
 */
static int undo_from(struct ibcc_state *s, int64_t from, struct ibcc_plan *joined, int64_t *first,
		     struct ibcc_damage *damage, struct ibcc_why *why)
{
	struct ibcc_book part = { 0 };
	int64_t live = s->ahead && s->newest != from ? -1 : ibcc_state_ask(s->db, live_sql, from);
	int rc = live < 0 ? -EIO : 0;

	if (live > 0 && is_pruned(s, from))
		return ibcc_why_set(
			why, -ENOENT,
			"the history of transaction %lld is not kept in full any more; only a "
			"rollback of all transactions is possible",
			(long long)from);
	if (!rc && !live)
		return ibcc_why_set(why, -ENOENT,
				    "there is no transaction %lld that could be reverted",
				    (long long)from);
	if (!rc)
		rc = ibcc_state_read_book(s, from, &part, damage);
	if (!rc)
		rc = ibcc_book_joined(&part, joined, first);
	ibcc_book_fini(&part);
	if (rc == -EIO)
		return ibcc_why_set(
			why, rc,
			"a rollback to a transaction needs the state file (%s); a rollback of "
			"all transactions works without it",
			s->failing ? s->trouble.text : "it cannot be read");
	return rc ? failed(s, rc, why) : 0;
}

int ibcc_state_undo(struct ibcc_state *s, int64_t from, struct ibcc_plan *joined, int64_t *first,
		    struct ibcc_damage *damage, struct ibcc_why *why)
{
	int rc;

	if (from > 0)
		return undo_from(s, from, joined, first, damage, why);
	rc = ibcc_state_load_book(s);
	if (damage)
		*damage = s->damage;
	if (rc == -EIO || (!rc && !s->whole))
		return ibcc_why_set(
			why, -EIO,
			"the earlier settings are not known: %s; \"ibcc-tune disable\" removes "
			"the settings that it reads from the nodes",
			s->trouble.text);
	if (!rc)
		rc = ibcc_book_joined(&s->book, joined, first);
	return rc ? failed(s, rc, why) : 0;
}

bool ibcc_state_is_known(struct ibcc_state *s)
{
	return !ibcc_state_load_book(s) && s->whole;
}

int ibcc_state_book(struct ibcc_state *s, const struct ibcc_book **book, struct ibcc_why *why)
{
	int rc = ibcc_state_load_book(s);

	*book = &s->book;
	return rc == -ENOMEM ? failed(s, rc, why) : 0;
}
