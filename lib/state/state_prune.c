/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Keeps the history from growing for ever: removes old transactions, and more of them when the file
 * is large. What a rollback and the audit need stays, however old. For each attribute that is ours
 * these are the first write, the last one, and the last one that reverted or disabled it, and all
 * damaged rows. The changes that an owed rollback goes back over stay, too.
 */
#include <errno.h>

#include "lib/state/state_db.h"

#define HISTORY_DAYS 90
#define MOST_ROUNDS  8

/* The transactions below ?1 that have ended and may go. A transaction on trial stays, however old
 * it looks: after it come only attempts to revert it, and a revert needs its moment.
 */
#define OLD                                                                                        \
	" SELECT id FROM txn WHERE id < ?1 AND ended IS NOT NULL"                                  \
	" AND id NOT IN (SELECT txn FROM trial WHERE outcome = 'pending')"                         \
	" AND id < coalesce((SELECT min(from_txn) FROM debt WHERE from_txn > 0), ?1)"
#define BY_ATTRIBUTE " GROUP BY c.node_guid, c.port, c.attr_id, c.attr_mod"
#define FIRST        " min(c.txn * 4294967296 + c.seq)"
#define LAST         " max(c.txn * 4294967296 + c.seq)"

static const char changes_sql[] =
	"WITH keep (at) AS ("
	" SELECT" FIRST IBCC_STATE_LIVE " AND t.action <> 'rollback'" BY_ATTRIBUTE
	" UNION SELECT" LAST IBCC_STATE_LIVE BY_ATTRIBUTE " UNION SELECT" LAST IBCC_STATE_LIVE
	" AND t.action = 'rollback'" BY_ATTRIBUTE " UNION SELECT" LAST IBCC_STATE_LIVE
	" AND t.action = 'disable'" BY_ATTRIBUTE
	" UNION SELECT c.txn * 4294967296 + c.seq" IBCC_STATE_LIVE " AND NOT " IBCC_STATE_SOUND ")"
	" DELETE FROM change WHERE txn IN (" OLD ")"
	" AND txn * 4294967296 + seq NOT IN (SELECT at FROM keep)";
static const char txns_sql[] = "DELETE FROM txn WHERE id IN (" OLD
			       ") AND NOT EXISTS (SELECT 1 FROM change WHERE txn = id)";

/* Removes what it can of the transactions before one. Returns how many rows those were, or -EIO. It
 * first notes that they are no longer complete, since a rollback to a moment among them is
 * impossible then.
 */
static int64_t forget(struct ibcc_state *s, int64_t before)
{
	static const char *const sql[] = {
		"INSERT INTO note (key, text) VALUES ('pruned', ?1)"
		" ON CONFLICT (key) DO UPDATE SET text = max(CAST(text AS INTEGER), ?1)",
		changes_sql,
		txns_sql,
	};
	int64_t n = 0;

	for (int i = 0; i < 3; i++) {
		sqlite3_stmt *st = NULL;
		int step = SQLITE_ERROR;

		if (!sqlite3_prepare_v2(s->db, sql[i], -1, &st, NULL) &&
		    !sqlite3_bind_int64(st, 1, before))
			step = sqlite3_step(st);
		sqlite3_finalize(st);
		if (step != SQLITE_DONE)
			return -EIO;
		n += i ? sqlite3_changes(s->db) : 0;
	}
	return n;
}

static int64_t used_bytes(struct ibcc_state *s)
{
	return (ibcc_state_ask(s->db, "PRAGMA page_count", 0) -
		ibcc_state_ask(s->db, "PRAGMA freelist_count", 0)) *
	       ibcc_state_ask(s->db, "PRAGMA page_size", 0);
}

int ibcc_state_prune(struct ibcc_state *s, int64_t now_s, uint64_t max_bytes)
{
	int64_t before, n;

	if (!s->writable)
		return -EIO;
	/* Every later transaction is younger, even if the clock was wrong when it was stored. */
	before = ibcc_state_ask(
		s->db,
		"SELECT coalesce(max(id), 0) + 1 FROM txn WHERE ended < ?1 AND id <"
		" coalesce((SELECT min(id) FROM txn WHERE ended >= ?1), 9223372036854775807)",
		now_s - HISTORY_DAYS * 86400);
	n = before > 1 ? forget(s, before) : 0;
	/* Removes half at a time, since young transactions are asked for more often. */
	for (int i = 0; i < MOST_ROUNDS && n >= 0 && (uint64_t)used_bytes(s) > max_bytes; i++) {
		before = ibcc_state_ask(s->db,
					"SELECT id FROM txn ORDER BY id LIMIT 1 OFFSET"
					" (SELECT count(*) / 2 FROM txn)",
					0);
		n = forget(s, before);
		if (!n) /* all that is left is needed, or is the youngest */
			break;
	}
	return n < 0 ? -EIO : 0;
}
