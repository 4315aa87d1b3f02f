/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Transactions on trial: written down in the commit that stores their changes, and ended in the one
 * that takes them back, so that there is no moment at which a killed program leaves one that nobody
 * knows of.
 */
#include <errno.h>
#include <string.h>

#include "daemon/state/state_db.h"

static int run(struct ibcc_state *s, const char *sql, int64_t a, int64_t b, const char *c,
	       const char *d)
{
	sqlite3_stmt *st = NULL;
	int n, rc = -EIO;

	if (sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return -EIO;
	n = sqlite3_bind_parameter_count(st);
	if (!sqlite3_bind_int64(st, 1, a) && (n < 2 || !sqlite3_bind_int64(st, 2, b)) &&
	    (n < 3 || !sqlite3_bind_text(st, 3, c, -1, SQLITE_TRANSIENT)) &&
	    (n < 4 || !sqlite3_bind_text(st, 4, d, -1, SQLITE_TRANSIENT)) &&
	    sqlite3_step(st) == SQLITE_DONE)
		rc = 0;
	sqlite3_finalize(st);
	return rc;
}

int ibcc_state_insert_trial(struct ibcc_state *s, int64_t id, uint32_t within_s)
{
	return run(s,
		   "INSERT INTO trial (txn, within, until, outcome)"
		   " VALUES (?1, ?2, unixepoch() + ?2, 'pending')",
		   id, within_s, NULL, NULL);
}

int ibcc_state_update_trials(struct ibcc_state *s, int64_t id, int err)
{
	/* The time begins when all is there. What was refused was not written. */
	int rc =
		run(s,
		    "UPDATE trial SET until = unixepoch() + within,"
		    " outcome = iif(?2, 'refused', outcome) WHERE txn = ?1 AND outcome = 'pending'",
		    id, err == -EPERM, NULL, NULL);

	if (rc)
		return rc;
	return run(s,
		   "UPDATE trial SET outcome = 'taken back', ended = unixepoch(),"
		   " who = (SELECT who FROM txn WHERE id = ?1) WHERE outcome = 'pending'"
		   " AND txn IN (SELECT id FROM txn WHERE undone_by = ?1)",
		   id, 0, NULL, NULL);
}

int ibcc_state_trial(struct ibcc_state *s, struct ibcc_trial *t)
{
	sqlite3_stmt *st = NULL;
	int step = SQLITE_ERROR;

	*t = (struct ibcc_trial){ 0 };
	if (!s->db)
		return -EIO;
	if (!sqlite3_prepare_v2(s->db,
				"SELECT txn, within, until, outcome FROM trial"
				" ORDER BY txn DESC LIMIT 1",
				-1, &st, NULL))
		step = sqlite3_step(st);
	if (step == SQLITE_ROW) {
		const char *outcome = (const char *)sqlite3_column_text(st, 3);

		t->txn = sqlite3_column_int64(st, 0);
		t->within_s = (uint32_t)sqlite3_column_int64(st, 1);
		t->until_s = sqlite3_column_int64(st, 2);
		t->pending = outcome && !strcmp(outcome, "pending");
		t->confirmed = outcome && !strcmp(outcome, "confirmed");
	}
	sqlite3_finalize(st);
	return step == SQLITE_ROW || step == SQLITE_DONE ? 0 : -EIO;
}

int ibcc_state_trial_end(struct ibcc_state *s, int64_t txn, const char *outcome, const char *who,
			 struct ibcc_why *why)
{
	int rc = s->writable ? run(s,
				   "UPDATE trial SET outcome = ?3, who = ?4, ended = unixepoch()"
				   " WHERE txn = ?1 AND outcome = 'pending'",
				   txn, 0, outcome, who)
			     : -EIO;

	return rc ? ibcc_state_failed(s, why) : 0;
}
