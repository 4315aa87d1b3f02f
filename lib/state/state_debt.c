/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stores rollbacks and disables that could not be done because the endport was away. They stay
 * until they are done: the operator who asked for them sees the message once and may be gone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include <ibcc/grow.h>

#include "lib/state/state_db.h"

/* A plan that was written later cancels what is owed: its operator asked for it later. It is
 * "unrecorded" if it was stored in another file, which was in this one's place meanwhile.
 */
static const char read_sql[] =
	"SELECT d.node_guid, d.port, d.off, d.from_txn, d.txn,"
	" coalesce((SELECT n.node FROM change AS n WHERE n.node_guid = d.node_guid"
	" ORDER BY n.txn DESC LIMIT 1), '')"
	" FROM debt AS d WHERE d.sum = row_sum(d.node_guid, d.port, d.off, d.from_txn, d.txn)"
	" AND NOT EXISTS (SELECT 1" IBCC_STATE_LIVE
	" AND c.node_guid = d.node_guid AND c.port = d.port AND t.id > d.txn"
	" AND t.action NOT IN ('rollback', 'disable', 'repair'))"
	" ORDER BY d.txn, d.node_guid, d.port";
/* The newest request counts. Of two rollbacks the one that goes farther back counts; 0 means all.
 */
#define FROM "iif(off OR ?3, ?4, min(from_txn, ?4))"
static const char owe_sql[] =
	"INSERT INTO debt (node_guid, port, off, from_txn, txn, sum)"
	" VALUES (?1, ?2, ?3, ?4, ?5, row_sum(?1, ?2, ?3, ?4, ?5))"
	" ON CONFLICT (node_guid, port) DO UPDATE SET off = ?3, txn = ?5, from_txn = " FROM
	", sum = row_sum(?1, ?2, ?3, " FROM ", ?5)";
static const char paid_sql[] =
	"DELETE FROM debt WHERE node_guid = ?1 AND port = ?2 AND off = ?3 AND from_txn = ?4"
	" AND txn = ?5";
static const char since_sql[] =
	"SELECT count(*) FROM txn WHERE id > ?1 AND action NOT IN ('rollback', 'repair', 'key')"
	" AND outcome <> 'refused'";

static void read_debt(sqlite3_stmt *st, struct ibcc_debt *d)
{
	const unsigned char *node = sqlite3_column_text(st, 5);

	*d = (struct ibcc_debt){
		.node_guid = (uint64_t)sqlite3_column_int64(st, 0),
		.port = (uint8_t)sqlite3_column_int(st, 1),
		.off = sqlite3_column_int(st, 2),
		.from = sqlite3_column_int64(st, 3),
		.txn = sqlite3_column_int64(st, 4),
	};
	snprintf(d->node, sizeof(d->node), "%s", node ? (const char *)node : "");
}

int ibcc_state_debts(struct ibcc_state *s, struct ibcc_debts *debts)
{
	struct ibcc_debts found = { 0 };
	sqlite3_stmt *st = NULL;
	int rc = -EIO, step = SQLITE_ERROR;

	if (s->db && !sqlite3_prepare_v2(s->db, read_sql, -1, &st, NULL))
		rc = 0;
	while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW) {
		struct ibcc_debt *grown =
			ibcc_grow(found.debt, found.n, &found.cap, sizeof(*found.debt));

		if (grown) {
			found.debt = grown;
			read_debt(st, &found.debt[found.n++]);
		} else {
			rc = -ENOMEM;
		}
	}
	sqlite3_finalize(st);
	if (!rc && step != SQLITE_DONE)
		rc = -EIO;
	if (rc)
		ibcc_debts_fini(&found);
	else
		*debts = found;
	return rc;
}

static int run(struct ibcc_state *s, const char *sql, const struct ibcc_debt *d)
{
	const int64_t number[] = { (int64_t)d->node_guid, d->port, d->off, d->from, d->txn };

	return ibcc_state_run(s, sql, number, 5, NULL, 0);
}

int ibcc_state_owe(struct ibcc_state *s, const struct ibcc_debt *debt)
{
	return run(s, owe_sql, debt);
}

int ibcc_state_paid(struct ibcc_state *s, const struct ibcc_debt *debt)
{
	return run(s, paid_sql, debt);
}

bool ibcc_state_owes_back(struct ibcc_state *s, int64_t id)
{
	return ibcc_state_ask(s->db, "SELECT count(*) FROM debt WHERE from_txn BETWEEN 1 AND ?1",
			      id) > 0;
}

bool ibcc_state_is_last_wish(struct ibcc_state *s, int64_t txn)
{
	return !ibcc_state_ask(s->db, since_sql, txn);
}
