/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Transactions on trial. The commit that stores the changes also stores the trial, and the commit
 * that reverts them ends it. So a program that is killed at any moment never leaves a trial that is
 * not recorded.
 */
#include <errno.h>
#include <string.h>

#include "lib/state/state_db.h"

int ibcc_state_insert_trial(struct ibcc_state *s, int64_t id, uint32_t within_s)
{
	const int64_t number[] = { id, within_s };

	return ibcc_state_run(s,
			      "INSERT INTO trial (txn, within, until, outcome)"
			      " VALUES (?1, ?2, unixepoch() + ?2, 'pending')",
			      number, 2, NULL, 0);
}

int ibcc_state_update_trials(struct ibcc_state *s, const struct ibcc_state_end *end)
{
	const int64_t number[] = { end->id, end->err == -EPERM, end->at_s };
	/* The time begins when all changes are made. A refused transaction wrote nothing. */
	int rc = ibcc_state_run(s,
				"UPDATE trial SET until = ?3 + within,"
				" outcome = iif(?2, 'refused', outcome)"
				" WHERE txn = ?1 AND outcome = 'pending'",
				number, 3, NULL, 0);

	if (rc)
		return rc;
	return ibcc_state_run(s,
			      "UPDATE trial SET outcome = 'taken back', ended = ?2,"
			      " who = (SELECT who FROM txn WHERE id = ?1) WHERE outcome = 'pending'"
			      " AND txn IN (SELECT id FROM txn WHERE undone_by = ?1)",
			      (const int64_t[]){ end->id, end->at_s }, 2, NULL, 0);
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
	const char *const text[] = { outcome, who };
	int rc = ibcc_state_run(s,
				"UPDATE trial SET outcome = ?2, who = ?3, ended = unixepoch()"
				" WHERE txn = ?1 AND outcome = 'pending'",
				&txn, 1, text, 2);

	return rc ? ibcc_state_failed(s, why) : 0;
}
