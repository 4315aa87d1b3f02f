/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the state: the database handle, shared by state.c (writes) and state_query.c (reads).
 */
#ifndef IBCC_DAEMON_STATE_DB_H
#define IBCC_DAEMON_STATE_DB_H

#include <sqlite3.h>

#include <ibcc/book.h>

#include "daemon/state/state.h"

struct ibcc_state {
	sqlite3 *db;
	uint32_t interrupted;
	/* What the database says is ours, kept up with every write of our own. Another process's
	 * shows in data_version.
	 */
	struct ibcc_book book;
	bool book_known;
	int64_t data_version;
	/* Of the transaction that is open; borrowed. */
	const struct ibcc_txn *txn;
	const struct ibcc_plan *plan;
};

/* -EIO or -ENOMEM with the database's own words. */
int ibcc_state_failed(struct ibcc_state *s, struct ibcc_why *why);

/* Brings the book up to date. -EIO, -ENOMEM. */
int ibcc_state_load_book(struct ibcc_state *s);
/* Reads the changes of transactions from `from` on into an empty book. -EIO, -ENOMEM. */
int ibcc_state_read_book(struct ibcc_state *s, int64_t from, struct ibcc_book *b);
/* Takes into the book what became of the open transaction; see ibcc_state_end(). */
void ibcc_state_note_result(struct ibcc_state *s, int64_t id, const struct ibcc_result *r, int err);

/* The first eight columns of a row: node_guid, port, attr_id, attr_mod, lid, old, new, port_block.
 * -EIO: no change of ours looks like that.
 */
int ibcc_state_read_change(sqlite3_stmt *st, struct ibcc_change *c);

#endif
