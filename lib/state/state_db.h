/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Inside of the state: the database handle, shared by state.c (writes) and state_query.c (reads).
 */
#ifndef IBCC_STATE_DB_H
#define IBCC_STATE_DB_H

#include <sqlite3.h>
#include <sys/types.h>

#include <ibcc/book.h>
#include <ibcc/state.h>

struct ibcc_state {
	char *file;
	sqlite3 *db;   /* NULL: cannot even be read */
	bool writable; /* opened so, which says nothing about the disk */
	bool alone;    /* no other process can have a transaction open */
	dev_t dev;     /* of the file that is open */
	ino_t ino;
	bool failing;            /* the last write did not succeed, */
	struct ibcc_why trouble; /* and why it did not */
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
	struct ibcc_damage damage; /* of what the book was read from */
	bool damaged;              /* rows were, when the file was looked at last: */
	struct ibcc_why damage_text;
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

/* The number that a query answers, whose parameter, if it has one, is `value`. -1: it answers none,
 * or cannot be asked (db may be NULL).
 */
int64_t ibcc_state_ask(sqlite3 *db, const char *sql, int64_t value);

/* Checksums of rows, in SQL: of where a change was made, of all that counts of a change (c), and of
 * its transaction (t). Who updates a column gives the new value, and keeps the old sum of a row
 * that is damaged: see IBCC_STATE_RESUM.
 */
#define IBCC_STATE_PLACE_SUM "row_sum(c.txn, c.seq, c.node_guid, c.port, c.attr_id, c.attr_mod)"
#define IBCC_STATE_CHANGE_SUM(outcome)                                                             \
	"row_sum(c.txn, c.seq, c.node_guid, c.port, c.lid, c.attr_id, c.attr_mod, c.port_block,"   \
	" c.old, c.new, " outcome ")"
#define IBCC_STATE_TXN_SUM(undone_by, outcome)                                                     \
	"row_sum(t.id, t.action, t.undoes_from, " undone_by ", " outcome ")"
#define IBCC_STATE_PLACE_SOUND            "c.place_sum IS " IBCC_STATE_PLACE_SUM
#define IBCC_STATE_CHANGE_SOUND           "c.sum IS " IBCC_STATE_CHANGE_SUM("c.outcome")
#define IBCC_STATE_TXN_SOUND              "t.sum IS " IBCC_STATE_TXN_SUM("t.undone_by", "t.outcome")
#define IBCC_STATE_RESUM(sound, sum, old) "iif(" sound ", " sum ", " old ")"
#define IBCC_STATE_CHANGE_RESUM(outcome)                                                           \
	IBCC_STATE_RESUM(IBCC_STATE_CHANGE_SOUND, IBCC_STATE_CHANGE_SUM(outcome), "c.sum")
#define IBCC_STATE_TXN_RESUM(undone_by, outcome)                                                   \
	IBCC_STATE_RESUM(IBCC_STATE_TXN_SOUND, IBCC_STATE_TXN_SUM(undone_by, outcome), "t.sum")

/* Changes that say what is on the fabric because of us, or because of what we took back in part,
 * and those that are damaged, so that they may say anything. Keys (attribute 0x12) are not stored,
 * and are no settings.
 */
#define IBCC_STATE_SOUND "(" IBCC_STATE_CHANGE_SOUND " AND " IBCC_STATE_TXN_SOUND ")"
#define IBCC_STATE_LIVE                                                                            \
	" FROM change AS c LEFT JOIN txn AS t ON t.id = c.txn"                                     \
	" WHERE NOT (" IBCC_STATE_TXN_SOUND                                                        \
	" AND (t.undone_by IS NOT NULL OR t.outcome = 'refused'))"                                 \
	" AND NOT (" IBCC_STATE_CHANGE_SOUND                                                       \
	" AND (c.outcome IN ('skipped', 'dry', 'unmade', 'damaged') OR c.attr_id = 18))"

/* Brings the book up to date; what is known stays where the file cannot be read. -EIO: nothing is
 * known; -ENOMEM.
 */
int ibcc_state_load_book(struct ibcc_state *s);
/* Reads the changes of transactions from `from` on into an empty book, and says what is left out of
 * it since it is damaged. -EIO, -ENOMEM.
 */
int ibcc_state_read_book(struct ibcc_state *s, int64_t from, struct ibcc_book *b,
			 struct ibcc_damage *damage);
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

/* state_debt.c: is a rollback owed to the moment before a transaction, or to an earlier one? */
bool ibcc_state_owes_back(struct ibcc_state *s, int64_t id);

/* A column of the table "effect" as an object, null for none. */
json_t *ibcc_state_read_sample(sqlite3_stmt *st, int column);

/* A column of a row as the JSON object that it is, or null: a new reference. */
json_t *ibcc_state_read_object(sqlite3_stmt *st, int column);

/* Writes down what is only in the book. -EIO, -ENOMEM. */
int ibcc_state_catch_up(struct ibcc_state *s, struct ibcc_why *why);

/* The first eight columns of a row: node_guid, port, attr_id, attr_mod, lid, old, new, port_block.
 * -EIO: no change of ours looks like that.
 */
int ibcc_state_read_change(sqlite3_stmt *st, struct ibcc_change *c);

/* state_sum.c: the function row_sum() for a connection; a code of SQLite. */
int ibcc_state_add_sums(sqlite3 *db);
/* Gives the tables of a file of version 1 their sums; to be called within a commit, which also sets
 * the version. A code of SQLite.
 */
int ibcc_state_migrate_sums(sqlite3 *db);
/* The same for one who can only read: all rows look as if they had their sums. */
int ibcc_state_pretend_sums(sqlite3 *db);
/* Sums of a transaction that was just inserted, and of its changes from a number on. -EIO. */
int ibcc_state_seal(struct ibcc_state *s, int64_t id, int64_t first_seq);

#endif
