/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the state: the database handle, shared by state.c (writes) and state_query.c (reads).
 */
#ifndef IBCC_DAEMON_STATE_DB_H
#define IBCC_DAEMON_STATE_DB_H

#include <sqlite3.h>
#include <sys/types.h>

#include <ibcc/book.h>

#include "daemon/state/state.h"

struct ibcc_state {
	char *file;
	sqlite3 *db;   /* NULL: cannot even be read */
	bool writable; /* opened so, which says nothing about the disk */
	bool alone;    /* no other process can have a transaction open */
	dev_t dev;     /* of the file that is open */
	ino_t ino;
	struct ibcc_why trouble; /* empty: the last write succeeded */
	uint32_t interrupted;
	/* What the file says is ours, kept up with every write of our own. Another process's shows
	 * in data_version.
	 */
	struct ibcc_book book;
	bool book_fresh; /* as the file says, or ahead of it */
	bool whole;      /* it was read from a file once */
	bool ahead;      /* it has what could not be written down */
	int64_t newest;  /* transaction in it */
	int64_t data_version;
	/* Of the transaction that is open; borrowed. */
	const struct ibcc_txn *txn;
	const struct ibcc_plan *plan;
	int64_t first_seq; /* of its changes: more than 0 if it extends a transaction */
};

/* -EIO or -ENOMEM with the database's own words, which become the state's trouble. */
int ibcc_state_failed(struct ibcc_state *s, struct ibcc_why *why);

/* Runs a statement once, whose first values are numbers and whose others are texts. -EIO. */
int ibcc_state_run(struct ibcc_state *s, const char *sql, const int64_t *number, int n,
		   const char *const *text, int n_text);

/* Changes that say what is on the fabric because of us, or because of what we took back in part.
 * Keys (attribute 0x12) are not stored, and are no settings.
 */
#define IBCC_STATE_LIVE                                                                            \
	" FROM change AS c JOIN txn AS t ON t.id = c.txn"                                          \
	" WHERE t.undone_by IS NULL AND t.outcome <> 'refused'"                                    \
	" AND c.outcome NOT IN ('skipped', 'dry', 'unmade') AND c.attr_id <> 18"

/* Brings the book up to date; what is known stays where the file cannot be read. -EIO: nothing is
 * known; -ENOMEM.
 */
int ibcc_state_load_book(struct ibcc_state *s);
/* Reads the changes of transactions from `from` on into an empty book. -EIO, -ENOMEM. */
int ibcc_state_read_book(struct ibcc_state *s, int64_t from, struct ibcc_book *b);
/* Takes into the book what became of the open transaction; see ibcc_state_end(). */
void ibcc_state_note_result(struct ibcc_state *s, int64_t id, const struct ibcc_result *r, int err);

/* To be called within the commits of ibcc_state_begin() and ibcc_state_end(), there of any
 * transaction. -EIO.
 */
int ibcc_state_insert_trial(struct ibcc_state *s, int64_t id, uint32_t within_s);
int ibcc_state_update_trials(struct ibcc_state *s, int64_t id, int err);

/* state_steps.c: within the commit of ibcc_state_begin(). -EIO. */
int ibcc_state_reopen(struct ibcc_state *s, int64_t id, int64_t *first_seq);
int ibcc_state_store_steps(struct ibcc_state *s, const struct ibcc_txn *txn, int64_t id);

/* A column of the table "effect" as an object, null for none. */
json_t *ibcc_state_read_sample(sqlite3_stmt *st, int column);

/* A column of a row as the prediction that it is, or null: a new reference. */
json_t *ibcc_state_read_prediction(sqlite3_stmt *st, int column);

/* Writes down what is only in the book. -EIO, -ENOMEM. */
int ibcc_state_catch_up(struct ibcc_state *s, struct ibcc_why *why);

/* The first eight columns of a row: node_guid, port, attr_id, attr_mod, lid, old, new, port_block.
 * -EIO: no change of ours looks like that.
 */
int ibcc_state_read_change(sqlite3_stmt *st, struct ibcc_change *c);

#endif
