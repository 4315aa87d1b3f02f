/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reads the history from the state file (state.h) as JSON. */
#include <errno.h>
#include <string.h>

#include <ibcc/json.h>
#include <ibcc/settings_json.h>

#include "lib/state/state_db.h"

static json_t *text_or_null(sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	return text ? ibcc_json_text(text) : json_null();
}

static json_t *int_or_null(sqlite3_stmt *st, int column)
{
	return sqlite3_column_type(st, column) == SQLITE_NULL
		       ? json_null()
		       : json_integer(sqlite3_column_int64(st, column));
}

#define TXN_COLUMNS                                                                                \
	"SELECT id, started, txn.ended, txn.who, action, via, summary, undone_by, txn.outcome,"    \
	" detail, (SELECT count(*) FROM change WHERE txn = id), trial.outcome, trial.who,"         \
	" trial.until, effect.before, effect.after, effect.passes,"                                \
	" prediction.text, (SELECT count(*) FROM debt WHERE debt.txn = txn.id), decision.text,"    \
	" sender.text"                                                                             \
	" FROM txn LEFT JOIN trial ON trial.txn = id"                                              \
	" LEFT JOIN effect ON effect.txn = id"                                                     \
	" LEFT JOIN sender ON sender.txn = id"                                                     \
	" LEFT JOIN prediction ON prediction.txn = id"                                             \
	" LEFT JOIN decision ON decision.txn = id"

/* A trial as JSON. Null for a transaction that was not on trial. */
static json_t *trial_json(sqlite3_stmt *st)
{
	if (sqlite3_column_type(st, 11) == SQLITE_NULL)
		return json_null();
	return json_pack("{so so so}", "outcome", text_or_null(st, 11), "who", text_or_null(st, 12),
			 "until", int_or_null(st, 13));
}

/* An effect as JSON. Null for a transaction without measurements. */
static json_t *effect_json(sqlite3_stmt *st)
{
	int64_t passes = sqlite3_column_int64(st, 16);

	if (sqlite3_column_type(st, 14) == SQLITE_NULL)
		return json_null();
	return json_pack("{so so so sI so}", "before", ibcc_state_read_sample(st, 14), "after",
			 ibcc_state_read_sample(st, 15), "senders", ibcc_state_read_senders(st, 20),
			 "passes", (json_int_t)(passes < 0 ? 0 : passes), "unmeasured",
			 passes < 0 ? json_string("the daemon did not see enough polling cycles "
						  "before something else was written")
				    : json_null());
}

/* One key of the decisions that led to a transaction; null if there were none. */
static json_t *part_of(const json_t *decisions, const char *key)
{
	json_t *v = json_object_get(decisions, key);

	return v ? json_incref(v) : json_null();
}

static int add_decisions(sqlite3_stmt *st, json_t *txn)
{
	json_t *o = ibcc_state_read_object(st, 19);
	int rc = json_object_set_new(txn, "decisions", part_of(o, "decisions")) ||
		 json_object_set_new(txn, "situation", part_of(o, "situation")) ||
		 json_object_set_new(txn, "step", part_of(o, "step"));

	json_decref(o);
	return rc;
}

static json_t *txn_json(sqlite3_stmt *st)
{
	json_t *o = json_pack(
		"{sI so so so so so so so so so so so so so so}", "id",
		(json_int_t)sqlite3_column_int64(st, 0), "started", int_or_null(st, 1), "ended",
		int_or_null(st, 2), "who", text_or_null(st, 3), "action", text_or_null(st, 4),
		"via", text_or_null(st, 5), "summary", text_or_null(st, 6), "undone_by",
		int_or_null(st, 7), "outcome", text_or_null(st, 8), "detail", text_or_null(st, 9),
		"changes", int_or_null(st, 10), "trial", trial_json(st), "effect", effect_json(st),
		"prediction", ibcc_state_read_object(st, 17), "owed", int_or_null(st, 18));

	if (o && !add_decisions(st, o))
		return o;
	json_decref(o);
	return NULL;
}

json_t *ibcc_state_history(struct ibcc_state *s, unsigned int limit, int *err)
{
	sqlite3_stmt *st = NULL;
	json_t *list = json_array();
	int rc = SQLITE_ERROR;

	if (list &&
	    !sqlite3_prepare_v2(s->db, TXN_COLUMNS " ORDER BY id DESC LIMIT ?", -1, &st, NULL) &&
	    !sqlite3_bind_int64(st, 1, limit))
		while ((rc = sqlite3_step(st)) == SQLITE_ROW &&
		       !json_array_append_new(list, txn_json(st)))
			;
	sqlite3_finalize(st);
	if (rc != SQLITE_DONE) {
		/* A row that was read had no room in the list. */
		*err = list && rc != SQLITE_ROW ? -EIO : -ENOMEM;
		json_decref(list);
		return NULL;
	}
	return list;
}

/* Adds a stored change field by field, with its outcome. -EIO: its row is damaged. */
static int add_change(sqlite3_stmt *st, json_t *list)
{
	const char *reason = (const char *)sqlite3_column_text(st, 8);
	const char *node = (const char *)sqlite3_column_text(st, 9);
	const char *outcome = (const char *)sqlite3_column_text(st, 10);
	struct ibcc_change c;

	if (ibcc_state_read_change(st, &c) || !reason || !node || !outcome)
		return -EIO;
	strncpy(c.reason, reason, sizeof(c.reason) - 1);
	return ibcc_json_change(list, &c, node, outcome);
}

static int add_changes(struct ibcc_state *s, int64_t id, json_t *list)
{
	sqlite3_stmt *st = NULL;
	int step = SQLITE_ERROR, rc = 0;

	if (!sqlite3_prepare_v2(
		    s->db,
		    "SELECT node_guid, port, attr_id, attr_mod, lid, old, new, port_block,"
		    " reason, node, outcome FROM change WHERE txn = ? ORDER BY seq",
		    -1, &st, NULL) &&
	    !sqlite3_bind_int64(st, 1, id))
		while (!rc && (step = sqlite3_step(st)) == SQLITE_ROW)
			rc = add_change(st, list);
	sqlite3_finalize(st);
	if (!rc && step != SQLITE_DONE)
		rc = -EIO;
	return rc;
}

json_t *ibcc_state_transaction(struct ibcc_state *s, int64_t id, int *err)
{
	sqlite3_stmt *st = NULL;
	json_t *txn = NULL, *changes = json_array();
	int rc = changes ? -EIO : -ENOMEM;

	if (changes && !sqlite3_prepare_v2(s->db, TXN_COLUMNS " WHERE id = ?", -1, &st, NULL) &&
	    !sqlite3_bind_int64(st, 1, id)) {
		int step = sqlite3_step(st);

		if (step == SQLITE_ROW) {
			txn = txn_json(st);
			rc = txn ? 0 : -ENOMEM;
		} else if (step == SQLITE_DONE) {
			rc = -ENOENT;
		}
	}
	sqlite3_finalize(st);
	if (!rc)
		rc = add_changes(s, id, changes);
	if (!rc && json_object_set_new(txn, "change_list", json_incref(changes)))
		rc = -ENOMEM;
	json_decref(changes);
	if (rc) {
		json_decref(txn);
		*err = rc;
		return NULL;
	}
	return txn;
}

char *ibcc_state_note(struct ibcc_state *s, const char *key)
{
	sqlite3_stmt *st = NULL;
	char *text = NULL;

	if (!sqlite3_prepare_v2(s->db, "SELECT text FROM note WHERE key = ?", -1, &st, NULL) &&
	    !sqlite3_bind_text(st, 1, key, -1, SQLITE_TRANSIENT) &&
	    sqlite3_step(st) == SQLITE_ROW && sqlite3_column_text(st, 0))
		text = strdup((const char *)sqlite3_column_text(st, 0));
	sqlite3_finalize(st);
	return text;
}
