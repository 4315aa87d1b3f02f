/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/state/state.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/state/state_db.h"

/* Times are seconds since 1970. Outcomes of a transaction: open (being carried out), done, partial
 * (some changes failed, or it was stopped), refused (nothing was written), broken (the applier was
 * lost on the way), interrupted (we were). A change that was found not made later is "unmade".
 */
static const char schema[] =
	"PRAGMA journal_mode = WAL;"
	"PRAGMA synchronous = FULL;"
	"PRAGMA foreign_keys = ON;"
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS txn ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL, started INTEGER NOT NULL, "
	"ended INTEGER,"
	" who TEXT NOT NULL, action TEXT NOT NULL, via TEXT NOT NULL, summary TEXT NOT NULL,"
	" undoes_from INTEGER NOT NULL, undone_by INTEGER,"
	" outcome TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '');"
	"CREATE TABLE IF NOT EXISTS change ("
	" txn INTEGER NOT NULL REFERENCES txn (id) ON DELETE CASCADE, seq INTEGER NOT NULL,"
	" node_guid INTEGER NOT NULL, node TEXT NOT NULL, port INTEGER NOT NULL,"
	" lid INTEGER NOT NULL, attr_id INTEGER NOT NULL, attr_mod INTEGER NOT NULL,"
	" port_block INTEGER NOT NULL,"
	" old BLOB NOT NULL, new BLOB NOT NULL, reason TEXT NOT NULL,"
	" outcome TEXT NOT NULL, err INTEGER NOT NULL DEFAULT 0,"
	" status INTEGER NOT NULL DEFAULT 0, PRIMARY KEY (txn, seq)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS note (key TEXT PRIMARY KEY, text TEXT NOT NULL);"
	"PRAGMA user_version = 1;"
	"COMMIT;";

int ibcc_state_failed(struct ibcc_state *s, struct ibcc_why *why)
{
	int rc = s->db && sqlite3_errcode(s->db) != SQLITE_NOMEM ? -EIO : -ENOMEM;

	return ibcc_why_set(why, rc, "state file: %s", s->db ? sqlite3_errmsg(s->db) : "no memory");
}

static int64_t user_version(struct ibcc_state *s)
{
	sqlite3_stmt *st = NULL;
	int64_t v = -1;

	if (!sqlite3_prepare_v2(s->db, "PRAGMA user_version", -1, &st, NULL) &&
	    sqlite3_step(st) == SQLITE_ROW)
		v = sqlite3_column_int64(st, 0);
	sqlite3_finalize(st);
	return v;
}

/* An SQL function: does a process live? Somebody else's open transaction is none of ours. */
static void sql_alive(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	pid_t pid = (pid_t)sqlite3_value_int(v[0]);

	(void)n;
	sqlite3_result_int(ctx, pid > 0 && pid != getpid() && (!kill(pid, 0) || errno == EPERM));
}

static int close_orphans(struct ibcc_state *s)
{
	if (sqlite3_create_function(s->db, "alive", 1, SQLITE_UTF8, NULL, sql_alive, NULL, NULL) ||
	    sqlite3_exec(s->db,
			 "UPDATE txn SET outcome = 'interrupted', ended = unixepoch(),"
			 " detail = 'the program ended while this was carried out'"
			 " WHERE outcome = 'open' AND NOT alive(pid)",
			 NULL, NULL, NULL))
		return -EIO;
	s->interrupted = (uint32_t)sqlite3_changes(s->db);
	return 0;
}

/* A new file belongs to the folder's owner: made by root's command line it must not lock out the
 * daemon, which is another user. One that is there stays as it is.
 */
static void create_for_owner(const char *dir, const char *path)
{
	struct stat st;
	int fd;

	if (geteuid() || stat(dir, &st))
		return;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return;
	if (fchown(fd, st.st_uid, st.st_gid))
		unlink(path);
	close(fd);
}

/* Opened without following links, since the folder may be another user's; but links on the way to
 * the folder are the administrator's, and SQLite refuses those, too.
 */
static int open_file(struct ibcc_state *s, const char *file)
{
	const char *base = strrchr(file, '/');
	char *dir = base ? strndup(file, base > file ? (size_t)(base - file) : 1) : strdup(".");
	char *real = dir ? realpath(dir, NULL) : NULL, *path = NULL;
	int rc = SQLITE_NOMEM;

	if (real && asprintf(&path, "%s/%s", real, base ? base + 1 : file) < 0)
		path = NULL;
	if (path)
		create_for_owner(real, path);
	if (path || (dir && !real)) /* without the folder SQLite says what is wrong */
		rc = sqlite3_open_v2(
			path ? path : file, &s->db,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOFOLLOW, NULL);
	free(path);
	free(real);
	free(dir);
	return rc;
}

struct ibcc_state *ibcc_state_open(const char *file, int *err, struct ibcc_why *why)
{
	struct ibcc_state *s = calloc(1, sizeof(*s));
	int64_t version;

	if (!s) {
		*err = ibcc_why_set(why, -ENOMEM, "no memory");
		return NULL;
	}
	if (open_file(s, file))
		goto bad;
	sqlite3_busy_timeout(s->db, 5000);
	version = user_version(s);
	if (version < 0)
		goto bad;
	if (version > 1) {
		*err = ibcc_why_set(why, -EIO, "state file %s is of a later version", file);
		ibcc_state_close(s);
		return NULL;
	}
	if (sqlite3_exec(s->db, schema, NULL, NULL, NULL) || close_orphans(s))
		goto bad;
	return s;
bad:
	*err = ibcc_state_failed(s, why);
	ibcc_why_set(why, *err, "state file %s: %s", file, s->db ? sqlite3_errmsg(s->db) : "");
	ibcc_state_close(s);
	return NULL;
}

void ibcc_state_close(struct ibcc_state *s)
{
	if (!s)
		return;
	sqlite3_close(s->db);
	ibcc_book_fini(&s->book);
	free(s);
}

uint32_t ibcc_state_interrupted(const struct ibcc_state *s)
{
	return s->interrupted;
}

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

static int insert_txn(struct ibcc_state *s, const struct ibcc_txn *txn, int64_t *id)
{
	sqlite3_stmt *st = NULL;
	int rc = -EIO;

	if (sqlite3_prepare_v2(s->db,
			       "INSERT INTO txn (started, who, action, via, summary, undoes_from,"
			       " pid, outcome) VALUES (unixepoch(), ?, ?, ?, ?, ?, ?, 'open')",
			       -1, &st, NULL))
		return -EIO;
	if (!bind_text(st, 1, txn->who) && !bind_text(st, 2, txn->action) &&
	    !bind_text(st, 3, txn->via) && !bind_text(st, 4, txn->summary) &&
	    !sqlite3_bind_int64(st, 5, txn->undoes_from) && !sqlite3_bind_int(st, 6, getpid()))
		rc = step_once(st);
	if (!rc)
		*id = sqlite3_last_insert_rowid(s->db);
	sqlite3_finalize(st);
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

static int bind_change(sqlite3_stmt *st, int64_t id, uint32_t seq, const struct ibcc_change *c,
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
		rc = bind_change(st, id, i, &plan->change[i], t) ? -EIO : step_once(st);
	sqlite3_finalize(st);
	return rc;
}

int ibcc_state_begin(struct ibcc_state *s, const struct ibcc_txn *txn, const struct ibcc_plan *plan,
		     const struct ibcc_topo *t, int64_t *id, struct ibcc_why *why)
{
	int64_t new_id = 0;
	int rc = run_sql(s, "BEGIN IMMEDIATE");

	if (!rc)
		rc = insert_txn(s, txn, &new_id);
	if (!rc)
		rc = insert_changes(s, new_id, plan, t);
	if (!rc)
		rc = run_sql(s, "COMMIT");
	if (rc) {
		rc = ibcc_state_failed(s, why);
		if (!sqlite3_get_autocommit(s->db))
			run_sql(s, "ROLLBACK");
		return rc;
	}
	*id = new_id;
	s->txn = txn;
	s->plan = plan;
	return 0;
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

static int update_changes(struct ibcc_state *s, int64_t id, const struct ibcc_result *r)
{
	sqlite3_stmt *st = NULL;
	uint32_t i;
	int rc = 0;

	if (sqlite3_prepare_v2(s->db,
			       "UPDATE change SET outcome = ?, err = ?, status = ?"
			       " WHERE txn = ? AND seq = ?",
			       -1, &st, NULL))
		return -EIO;
	for (i = 0; !rc && i < r->n; i++) {
		const struct ibcc_change_result *c = &r->change[i];

		if (bind_text(st, 1, ibcc_outcome_name(c->outcome)) ||
		    sqlite3_bind_int(st, 2, c->err) || sqlite3_bind_int(st, 3, c->status) ||
		    sqlite3_bind_int64(st, 4, id) || sqlite3_bind_int64(st, 5, i))
			rc = -EIO;
		else
			rc = step_once(st);
	}
	sqlite3_finalize(st);
	return rc;
}

static int update_txn(struct ibcc_state *s, int64_t id, int err, const char *text)
{
	sqlite3_stmt *st = NULL;
	int rc = -EIO;

	if (sqlite3_prepare_v2(s->db,
			       "UPDATE txn SET outcome = ?1, detail = ?2, ended = unixepoch()"
			       " WHERE id = ?3",
			       -1, &st, NULL))
		return -EIO;
	if (!bind_text(st, 1, txn_outcome(err)) && !bind_text(st, 2, err ? text : "") &&
	    !sqlite3_bind_int64(st, 3, id))
		rc = step_once(st);
	sqlite3_finalize(st);
	return rc;
}

static int mark_undone(struct ibcc_state *s, int64_t id)
{
	sqlite3_stmt *st = NULL;
	int rc = -EIO;

	if (sqlite3_prepare_v2(s->db,
			       "UPDATE txn SET undone_by = ?1 WHERE undone_by IS NULL"
			       " AND action <> 'rollback' AND id < ?1 AND id >="
			       " (SELECT undoes_from FROM txn WHERE id = ?1 AND undoes_from > 0)",
			       -1, &st, NULL))
		return -EIO;
	if (!sqlite3_bind_int64(st, 1, id))
		rc = step_once(st);
	sqlite3_finalize(st);
	return rc;
}

int ibcc_state_end(struct ibcc_state *s, int64_t id, const struct ibcc_result *r, int err,
		   const char *text, struct ibcc_why *why)
{
	int rc = run_sql(s, "BEGIN IMMEDIATE");

	ibcc_state_note_result(s, id, r, err);
	s->txn = NULL;
	s->plan = NULL;
	if (!rc)
		rc = update_changes(s, id, r);
	if (!rc)
		rc = update_txn(s, id, err, text);
	if (!rc && !err)
		rc = mark_undone(s, id);
	if (!rc)
		rc = run_sql(s, "COMMIT");
	if (rc) {
		rc = ibcc_state_failed(s, why);
		if (!sqlite3_get_autocommit(s->db))
			run_sql(s, "ROLLBACK");
	}
	return rc;
}

int ibcc_state_note_set(struct ibcc_state *s, const char *key, const char *text)
{
	sqlite3_stmt *st = NULL;
	int rc = -EIO;

	if (sqlite3_prepare_v2(s->db,
			       *text ? "INSERT INTO note (key, text) VALUES (?1, ?2)"
				       " ON CONFLICT (key) DO UPDATE SET text = ?2"
				     : "DELETE FROM note WHERE key = ?1",
			       -1, &st, NULL))
		return -EIO;
	if (!bind_text(st, 1, key) && (!*text || !bind_text(st, 2, text)))
		rc = step_once(st);
	sqlite3_finalize(st);
	return rc;
}

/* For the live settings the first old value of an attribute matters to a rollback and the last new
 * one to the audit, so all between them may be forgotten.
 */
int ibcc_state_prune(struct ibcc_state *s, int64_t before_s)
{
	static const char *const sql[] = {
		"DELETE FROM change WHERE txn IN (SELECT id FROM txn WHERE ended < ?1)"
		" AND (txn IN (SELECT id FROM txn WHERE undone_by IS NOT NULL OR"
		"  action = 'rollback' OR outcome = 'refused')"
		" OR EXISTS (SELECT 1 FROM change AS e JOIN txn AS x ON x.id = e.txn"
		"  WHERE e.node_guid = change.node_guid AND e.port = change.port"
		"  AND e.attr_id = change.attr_id AND e.attr_mod = change.attr_mod"
		"  AND e.txn < change.txn AND x.undone_by IS NULL AND x.action <> 'rollback'"
		"  AND x.outcome <> 'refused' AND e.outcome NOT IN ('skipped', 'dry', 'unmade'))"
		" AND EXISTS (SELECT 1 FROM change AS l WHERE l.node_guid = change.node_guid"
		"  AND l.port = change.port AND l.attr_id = change.attr_id"
		"  AND l.attr_mod = change.attr_mod AND l.txn > change.txn))",
		"DELETE FROM txn WHERE ended < ?1 AND id NOT IN (SELECT txn FROM change)",
	};
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < sizeof(sql) / sizeof(sql[0]); i++) {
		sqlite3_stmt *st = NULL;

		if (sqlite3_prepare_v2(s->db, sql[i], -1, &st, NULL))
			return -EIO;
		rc = sqlite3_bind_int64(st, 1, before_s) ? -EIO : step_once(st);
		sqlite3_finalize(st);
	}
	return rc;
}
