/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Writes transactions to the state file (state.h), a SQLite database: the plan with the values
 * before it, then the outcome, each in one commit that is on the disk before it returns. An outcome
 * that could not be stored shares the commit of the next plan.
 */
#include <ibcc/state.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/state/state_db.h"

static int run_sql(struct ibcc_state *s, const char *sql)
{
	return sqlite3_exec(s->db, sql, NULL, NULL, NULL) ? -EIO : 0;
}

/* Runs a statement whose values are bound, once, and makes it ready for the next. */
static int step_once(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);

	sqlite3_reset(st);
	return rc == SQLITE_DONE ? 0 : -EIO;
}

static int bind_text(sqlite3_stmt *st, int i, const char *text)
{
	return sqlite3_bind_text(st, i, text ? text : "", -1, SQLITE_TRANSIENT);
}

int ibcc_state_step(sqlite3_stmt *st, const int64_t *number, int n, const char *const *text,
		    int n_text)
{
	int rc = 0;

	for (int i = 0; !rc && i < n; i++)
		rc = sqlite3_bind_int64(st, i + 1, number[i]) ? -EIO : 0;
	for (int i = 0; !rc && i < n_text; i++)
		rc = bind_text(st, n + i + 1, text[i]) ? -EIO : 0;
	return rc ? rc : step_once(st);
}

int ibcc_state_run(struct ibcc_state *s, const char *sql, const int64_t *number, int n,
		   const char *const *text, int n_text)
{
	sqlite3_stmt *st = NULL;
	int rc = s->writable && !sqlite3_prepare_v2(s->db, sql, -1, &st, NULL) ? 0 : -EIO;

	if (!rc)
		rc = ibcc_state_step(st, number, n, text, n_text);
	sqlite3_finalize(st);
	return rc;
}

int64_t ibcc_state_ask(sqlite3 *db, const char *sql, int64_t value)
{
	sqlite3_stmt *st = NULL;
	int64_t answer = -1;

	if (db && !sqlite3_prepare_v2(db, sql, -1, &st, NULL) &&
	    (!sqlite3_bind_parameter_count(st) || !sqlite3_bind_int64(st, 1, value)) &&
	    sqlite3_step(st) == SQLITE_ROW)
		answer = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return answer;
}

static int insert_txn(struct ibcc_state *s, const struct ibcc_txn *txn, int64_t *id)
{
	const int64_t number[] = { txn->undoes_from, getpid() };
	const char *const text[] = { txn->who, txn->action, txn->via, txn->summary };
	int rc = ibcc_state_run(
		s,
		"INSERT INTO txn (started, undoes_from, pid, who, action, via, summary, outcome)"
		" VALUES (unixepoch(), ?, ?, ?, ?, ?, ?, 'open')",
		number, 2, text, 4);

	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	return rc;
}

/* Keys are secrets, so the history says only that they were changed. */
static int bind_data(sqlite3_stmt *st, int i, const struct ibcc_change *c, const uint8_t *data)
{
	uint8_t kept[IBCC_CC_DATA_BYTES];

	memcpy(kept, data, sizeof(kept));
	if (c->attr_id == IBCC_CC_ATTR_KEY_INFO)
		memset(kept, 0, sizeof(uint64_t));
	return sqlite3_bind_blob(st, i, kept, sizeof(kept), SQLITE_TRANSIENT);
}

static int bind_change(sqlite3_stmt *st, int64_t id, int64_t seq, const struct ibcc_change *c,
		       const struct ibcc_topo *t)
{
	uint32_t node = t ? ibcc_topo_find_guid(t, c->node_guid) : IBCC_NONE;

	return sqlite3_bind_int64(st, 1, id) || sqlite3_bind_int64(st, 2, seq) ||
	       sqlite3_bind_int64(st, 3, (int64_t)c->node_guid) ||
	       bind_text(st, 4, node == IBCC_NONE ? "" : t->node[node].desc) ||
	       sqlite3_bind_int(st, 5, c->port) || sqlite3_bind_int(st, 6, c->lid) ||
	       sqlite3_bind_int(st, 7, c->attr_id) || sqlite3_bind_int64(st, 8, c->attr_mod) ||
	       bind_data(st, 9, c, c->old_data) || bind_data(st, 10, c, c->new_data) ||
	       bind_text(st, 11, c->reason) || sqlite3_bind_int(st, 12, c->port_block);
}

static int insert_changes(struct ibcc_state *s, int64_t id, const struct ibcc_plan *plan,
			  const struct ibcc_topo *t)
{
	sqlite3_stmt *st = NULL;
	uint32_t i;
	int rc = 0;

	if (sqlite3_prepare_v2(s->db,
			       "INSERT INTO change (txn, seq, node_guid, node, port, lid, attr_id,"
			       " attr_mod, old, new, reason, port_block, outcome)"
			       " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'pending')",
			       -1, &st, NULL))
		return -EIO;
	for (i = 0; !rc && i < plan->n; i++)
		rc = bind_change(st, id, s->first_seq + i, &plan->change[i], t) ? -EIO
										: step_once(st);
	sqlite3_finalize(st);
	return rc;
}

static int give_up(struct ibcc_state *s, struct ibcc_why *why)
{
	int rc = ibcc_state_failed(s, why);

	if (s->db && !sqlite3_get_autocommit(s->db))
		run_sql(s, "ROLLBACK");
	return rc;
}

static const char *txn_outcome(int err)
{
	switch (err) {
	case 0: return "done";
	case -EIO:
	case -ECANCELED: return "partial";
	case -EPERM: return "refused";
	}
	return "broken";
}

static int update_changes(struct ibcc_state *s, const struct ibcc_state_end *end)
{
	const struct ibcc_result *r = &end->result;
	sqlite3_stmt *st = NULL;
	uint32_t i;
	int rc = 0;

	if (sqlite3_prepare_v2(
		    s->db,
		    "UPDATE change AS c SET outcome = ?1, err = ?2, status = ?3,"
		    " sum = " IBCC_STATE_CHANGE_RESUM("?1") " WHERE txn = ?4 AND seq = ?5",
		    -1, &st, NULL))
		return -EIO;
	for (i = 0; !rc && i < r->n; i++) {
		const struct ibcc_change_result *c = &r->change[i];

		if (bind_text(st, 1, ibcc_outcome_name(c->outcome)) ||
		    sqlite3_bind_int(st, 2, c->err) || sqlite3_bind_int(st, 3, c->status) ||
		    sqlite3_bind_int64(st, 4, end->id) ||
		    sqlite3_bind_int64(st, 5, end->first_seq + i))
			rc = -EIO;
		else
			rc = step_once(st);
	}
	sqlite3_finalize(st);
	return rc;
}

/* The process before may have had this number, but it left no transaction open. */
static int update_txn(struct ibcc_state *s, const struct ibcc_state_end *end)
{
	const int64_t number[] = { end->id, end->at_s, getpid() };
	const char *const value[] = { txn_outcome(end->err), end->err ? end->text : "" };

	return ibcc_state_run(
		s,
		"UPDATE txn AS t SET ended = ?2, outcome = ?4, detail = ?5,"
		" sum = " IBCC_STATE_TXN_RESUM(
			"t.undone_by", "?4") " WHERE id = ?1"
					     " AND pid = ?3 AND outcome IN ('open', 'interrupted')",
		number, 3, value, 2);
}

static int mark_undone(struct ibcc_state *s, int64_t id)
{
	return ibcc_state_run(
		s,
		"UPDATE txn AS t SET undone_by = ?1,"
		" sum = " IBCC_STATE_TXN_RESUM(
			"?1", "t.outcome") " WHERE undone_by IS NULL"
					   " AND action <> 'rollback' AND id < ?1 AND id >="
					   " (SELECT undoes_from FROM txn WHERE id = ?1 AND "
					   "undoes_from > 0)",
		&id, 1, NULL, 0);
}

static int store_end(struct ibcc_state *s, const struct ibcc_state_end *end)
{
	int rc = update_txn(s, end);

	if (rc || !sqlite3_changes(s->db))
		return rc;
	rc = update_changes(s, end);
	if (!rc && !end->err)
		rc = mark_undone(s, end->id);
	if (!rc && !end->first_seq) /* a trial's time began with its first step */
		rc = ibcc_state_update_trials(s, end);
	return rc;
}

void ibcc_state_forget_late(struct ibcc_state *s)
{
	ibcc_result_fini(&s->late.result);
	free(s->late.text);
	s->late = (struct ibcc_state_end){ 0 };
}

/* Without memory for it, ibcc_state_catch_up() stores what it came to. One from another file, which
 * has not come back, makes place.
 */
static void keep_late(struct ibcc_state *s, const struct ibcc_state_end *end)
{
	const struct ibcc_result *r = &end->result;
	struct ibcc_state_end late = *end;

	late.text = strdup(end->text ? end->text : "");
	late.result = (struct ibcc_result){ 0 };
	ibcc_state_forget_late(s);
	if (!late.text || ibcc_result_init(&late.result, r->n)) {
		free(late.text);
		return;
	}
	if (r->n)
		memcpy(late.result.change, r->change, r->n * sizeof(*r->change));
	s->late = late;
}

/* Whether an end waits for this file: another one has other transactions. */
static bool has_late(const struct ibcc_state *s)
{
	return s->late.id && s->late.dev == s->dev && s->late.ino == s->ino;
}

static int begin(struct ibcc_state *s)
{
	int rc = s->writable ? run_sql(s, "BEGIN IMMEDIATE") : -EIO;

	return rc || !has_late(s) ? rc : store_end(s, &s->late);
}

static int commit(struct ibcc_state *s)
{
	int rc = run_sql(s, "COMMIT");

	if (!rc && has_late(s))
		ibcc_state_forget_late(s);
	return rc;
}

int ibcc_state_end_late(struct ibcc_state *s, struct ibcc_why *why)
{
	int rc;

	if (!has_late(s))
		return 0;
	rc = begin(s);
	if (!rc)
		rc = commit(s);
	return rc ? give_up(s, why) : 0;
}

int ibcc_state_begin(struct ibcc_state *s, const struct ibcc_txn *txn, const struct ibcc_plan *plan,
		     const struct ibcc_topo *t, int64_t *id, struct ibcc_why *why)
{
	int64_t new_id = txn->extends;
	int rc;

	/* loads the book without this transaction, which comes into it at its end */
	ibcc_state_load_book(s);
	s->first_seq = 0;
	rc = begin(s);
	if (!rc)
		rc = new_id ? ibcc_state_reopen(s, new_id, &s->first_seq)
			    : insert_txn(s, txn, &new_id);
	if (!rc)
		rc = insert_changes(s, new_id, plan, t);
	if (!rc)
		rc = ibcc_state_seal(s, new_id, s->first_seq);
	if (!rc && txn->decisions && !txn->extends)
		rc = ibcc_state_run(s, "INSERT INTO decision (txn, text) VALUES (?, ?)", &new_id, 1,
				    &txn->decisions, 1);
	if (!rc && txn->confirm_s && !txn->extends)
		rc = ibcc_state_insert_trial(s, new_id, txn->confirm_s);
	if (!rc)
		rc = ibcc_state_store_steps(s, txn, new_id);
	if (!rc)
		rc = commit(s);
	if (rc)
		return give_up(s, why);
	*id = new_id;
	s->newest = new_id;
	s->txn = txn;
	s->plan = plan;
	return 0;
}

int ibcc_state_end(struct ibcc_state *s, int64_t id, const struct ibcc_result *r, int err,
		   const char *text, struct ibcc_why *why)
{
	const struct ibcc_state_end end = {
		.id = id,
		.first_seq = s->first_seq,
		.at_s = time(NULL),
		.dev = s->dev,
		.ino = s->ino,
		.err = err,
		.text = (char *)text, /* which keep_late() copies */
		.result = *r,
	};
	int rc = begin(s);

	ibcc_state_note_result(s, id, r, err);
	s->txn = NULL;
	s->plan = NULL;
	if (!rc)
		rc = store_end(s, &end);
	if (!rc)
		rc = commit(s);
	if (!rc)
		return 0;
	s->ahead = true;
	keep_late(s, &end);
	return give_up(s, why);
}

int ibcc_state_note_set(struct ibcc_state *s, const char *key, const char *text)
{
	const char *const values[] = { key, text };

	return ibcc_state_run(s,
			      *text ? "INSERT INTO note (key, text) VALUES (?1, ?2)"
				      " ON CONFLICT (key) DO UPDATE SET text = ?2"
				    : "DELETE FROM note WHERE key = ?1",
			      NULL, 0, values, *text ? 2 : 1);
}
