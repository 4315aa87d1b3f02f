/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Internals of the state: the database handle, shared by state.c (writes) and state_query.c
 * (reads).
 */
#ifndef IBCC_STATE_DB_H
#define IBCC_STATE_DB_H

#include <sqlite3.h>
#include <sys/types.h>

#include <ibcc/book.h>
#include <ibcc/state.h>

/* The end of a transaction. */
struct ibcc_state_end {
	int64_t id;        /* 0: none */
	int64_t first_seq; /* number of its first change: above 0 if it extends a transaction */
	int64_t at_s;      /* since 1970 */
	dev_t dev;         /* the file that the transaction is in */
	ino_t ino;
	int err;
	char *text;
	struct ibcc_result result;
};

struct ibcc_state {
	char *file;
	sqlite3 *db;   /* NULL: the file cannot even be read */
	bool writable; /* opened for writing, which says nothing about the disk */
	bool alone;    /* no other process can have a transaction open */
	dev_t dev;     /* device and inode of the open file */
	ino_t ino;
	uint64_t gave_up_ns;     /* when it last waited in vain for a lock; 0: never */
	bool failing;            /* the last write failed */
	struct ibcc_why trouble; /* why it failed */
	uint32_t interrupted;
	/* The settings that the file says are ours. Each of our own writes updates the book. A
	 * write of another process shows in data_version.
	 */
	struct ibcc_book book;
	bool book_fresh; /* the book is as the file says, or ahead of it */
	bool whole;      /* the book was read from a file once */
	bool ahead;      /* the book has changes that could not be stored */
	int64_t newest;  /* newest transaction in the book */
	int64_t data_version;
	struct ibcc_damage damage; /* damage of the file that the book was read from */
	/* rows were damaged when the file was last checked; damage_text says which */
	bool damaged;
	struct ibcc_why damage_text;
	/* The transaction that is open; borrowed. */
	const struct ibcc_txn *txn;
	const struct ibcc_plan *plan;
	int64_t first_seq; /* see struct ibcc_state_end */
	/* The last end that could not be stored; its text and its result are ours. The next begin
	 * or end of a transaction in that file stores it, or ibcc_state_check(): what the book
	 * knows does not say what became of each change.
	 */
	struct ibcc_state_end late;
};

/* Returns -EIO or -ENOMEM with the database's own words, which become the state's trouble. */
int ibcc_state_failed(struct ibcc_state *s, struct ibcc_why *why);

/* Runs a prepared statement, and makes it ready for the next time. Its first values are numbers,
 * the others are texts. -EIO.
 */
int ibcc_state_step(sqlite3_stmt *st, const int64_t *number, int n, const char *const *text,
		    int n_text);

/* Runs a statement once. Its first values are numbers, the others are texts. -EIO. */
int ibcc_state_run(struct ibcc_state *s, const char *sql, const int64_t *number, int n,
		   const char *const *text, int n_text);

/* The number that a query returns. `value` is the query's parameter, if it has one. -1: it returns
 * none, or cannot be run (db may be NULL).
 */
int64_t ibcc_state_ask(sqlite3 *db, const char *sql, int64_t value);

/* Checksums of rows, in SQL. They cover the place of a change, the columns of a change (c) that
 * count, and its transaction (t). An update of a column passes the new value. It keeps the old sum
 * of a damaged row: see IBCC_STATE_RESUM.
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

/* Selects changes that say what is on the fabric because of our writes, or because of reverts in
 * part. Also selects damaged changes, since they may say anything. Keys (attribute 0x12) are not
 * stored, and are not settings.
 */
#define IBCC_STATE_SOUND "(" IBCC_STATE_CHANGE_SOUND " AND " IBCC_STATE_TXN_SOUND ")"
#define IBCC_STATE_LIVE                                                                            \
	" FROM change AS c LEFT JOIN txn AS t ON t.id = c.txn"                                     \
	" WHERE NOT (" IBCC_STATE_TXN_SOUND                                                        \
	" AND (t.undone_by IS NOT NULL OR t.outcome = 'refused'))"                                 \
	" AND NOT (" IBCC_STATE_CHANGE_SOUND                                                       \
	" AND (c.outcome IN ('skipped', 'dry', 'unmade', 'damaged') OR c.attr_id = 18))"

/* Brings the book up to date. If the file cannot be read, the book keeps what is known. -EIO:
 * nothing is known; -ENOMEM.
 */
int ibcc_state_load_book(struct ibcc_state *s);
/* Reads the changes of transactions from `from` on into an empty book. Reports what is left out of
 * it because it is damaged. -EIO, -ENOMEM.
 */
int ibcc_state_read_book(struct ibcc_state *s, int64_t from, struct ibcc_book *b,
			 struct ibcc_damage *damage);
/* Records the outcome of the open transaction in the book; see ibcc_state_end(). */
void ibcc_state_note_result(struct ibcc_state *s, int64_t id, const struct ibcc_result *r, int err);

/* Call these within a commit, the first for a transaction that begins, the second for one that
 * ends, but not for further steps of it. -EIO.
 */
int ibcc_state_insert_trial(struct ibcc_state *s, int64_t id, uint32_t within_s);
int ibcc_state_update_trials(struct ibcc_state *s, const struct ibcc_state_end *end);

/* Stores the end that could not be stored, if its file is there, in a commit of its own. -EIO. */
int ibcc_state_end_late(struct ibcc_state *s, struct ibcc_why *why);
void ibcc_state_forget_late(struct ibcc_state *s);

/* state_steps.c. Call within the commit of ibcc_state_begin(). -EIO. */
int ibcc_state_reopen(struct ibcc_state *s, int64_t id, int64_t *first_seq);
int ibcc_state_store_steps(struct ibcc_state *s, const struct ibcc_txn *txn, int64_t id);

/* state_debt.c. Is a rollback owed to the moment before a transaction, or to an earlier one? */
bool ibcc_state_owes_back(struct ibcc_state *s, int64_t id);

/* A column of the table "effect" as an object; null if it is empty. */
json_t *ibcc_state_read_sample(sqlite3_stmt *st, int column);

/* A column of a row as the JSON object that it holds, or null: a new reference. */
json_t *ibcc_state_read_object(sqlite3_stmt *st, int column);

/* A column of the table "sender" as a list; null if it is empty. A new reference. */
json_t *ibcc_state_read_senders(sqlite3_stmt *st, int column);

/* Stores what is only in the book. -EIO, -ENOMEM. */
int ibcc_state_catch_up(struct ibcc_state *s, struct ibcc_why *why);

/* Reads the first eight columns of a row: node_guid, port, attr_id, attr_mod, lid, old, new,
 * port_block. -EIO: the row cannot be a change of ours.
 */
int ibcc_state_read_change(sqlite3_stmt *st, struct ibcc_change *c);

/* state_sum.c. Adds the SQL function row_sum() to a connection. Returns a code of SQLite. */
int ibcc_state_add_sums(sqlite3 *db);
/* Adds sums to the tables of a file of version 1. Call within a commit that also sets the version.
 * Returns a code of SQLite.
 */
int ibcc_state_migrate_sums(sqlite3 *db);
/* For a connection that can only read: makes all rows of a version 1 file look as if they had their
 * sums. Returns a code of SQLite.
 */
int ibcc_state_pretend_sums(sqlite3 *db);
/* Sets the sums of a transaction that was just inserted, and of its changes from number `first_seq`
 * on. -EIO.
 */
int ibcc_state_seal(struct ibcc_state *s, int64_t id, int64_t first_seq);

#endif
