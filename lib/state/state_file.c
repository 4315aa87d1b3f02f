/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The file behind the state. It is opened for writing, or else for reading, or not at all. This
 * file also handles the problems: disks fill, become read-only, lose files and come back, so
 * everything is tried again.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/now.h>
#include <ibcc/text.h>

#include "lib/state/state_db.h"
#include "lib/state/state_vfs.h"

#define VERSION              2
#define VERSION_WITHOUT_SUMS 1
/* Another program writes, or reads while we write. The thread that waits for it also answers
 * requests. So it waits seldom, and then for a moment only.
 */
#define BUSY_TRIES     30
#define BUSY_TRY_NS    10000000L
#define BUSY_SELDOM_NS 1000000000ull

/* Since version 2 rows have checksums, see state_sum.c.
 *
 * Times are seconds since 1970. What was measured is a list of numbers, see enum ibcc_sample_field.
 *
 * Outcomes of a transaction:
 * - open: it is being carried out.
 * - done: all changes were made.
 * - partial: some changes failed, or it was stopped.
 * - refused: nothing was written.
 * - broken: the connection to the applier was lost on the way.
 * - interrupted: our program ended on the way.
 *
 * A change that was later found not to be made is "unmade". A change is "damaged" if its row was
 * damaged when an operator disabled all settings. Outcomes of a trial: pending, confirmed, taken
 * back, switched off, refused.
 *
 * A write-ahead log would be faster. But if an administrator moves the file aside, the log stays
 * behind with the last changes in it. A new file in that place would then take the log for its own.
 */
static const char schema[] =
	"PRAGMA journal_mode = TRUNCATE;"
	"PRAGMA synchronous = FULL;"
	"PRAGMA foreign_keys = ON;"
	"BEGIN IMMEDIATE;"
	"CREATE TABLE IF NOT EXISTS txn ("
	" id INTEGER PRIMARY KEY AUTOINCREMENT, pid INTEGER NOT NULL, started INTEGER NOT NULL, "
	"ended INTEGER,"
	" who TEXT NOT NULL, action TEXT NOT NULL, via TEXT NOT NULL, summary TEXT NOT NULL,"
	" undoes_from INTEGER NOT NULL, undone_by INTEGER,"
	" outcome TEXT NOT NULL, detail TEXT NOT NULL DEFAULT '', sum INTEGER);"
	"CREATE TABLE IF NOT EXISTS change ("
	" txn INTEGER NOT NULL REFERENCES txn (id) ON DELETE CASCADE, seq INTEGER NOT NULL,"
	" node_guid INTEGER NOT NULL, node TEXT NOT NULL, port INTEGER NOT NULL,"
	" lid INTEGER NOT NULL, attr_id INTEGER NOT NULL, attr_mod INTEGER NOT NULL,"
	" port_block INTEGER NOT NULL,"
	" old BLOB NOT NULL, new BLOB NOT NULL, reason TEXT NOT NULL,"
	" outcome TEXT NOT NULL, err INTEGER NOT NULL DEFAULT 0,"
	" status INTEGER NOT NULL DEFAULT 0, place_sum INTEGER, sum INTEGER,"
	" PRIMARY KEY (txn, seq)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS trial ("
	" txn INTEGER PRIMARY KEY REFERENCES txn (id) ON DELETE CASCADE,"
	" within INTEGER NOT NULL, until INTEGER NOT NULL, outcome TEXT NOT NULL,"
	" who TEXT NOT NULL DEFAULT '', ended INTEGER);"
	"CREATE TABLE IF NOT EXISTS effect ("
	" txn INTEGER PRIMARY KEY REFERENCES txn (id) ON DELETE CASCADE, before TEXT NOT NULL,"
	" after TEXT, passes INTEGER NOT NULL DEFAULT 0);"
	"CREATE TABLE IF NOT EXISTS sender ("
	" txn INTEGER PRIMARY KEY REFERENCES txn (id) ON DELETE CASCADE, text TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS prediction ("
	" txn INTEGER PRIMARY KEY REFERENCES txn (id) ON DELETE CASCADE, text TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS decision ("
	" txn INTEGER PRIMARY KEY REFERENCES txn (id) ON DELETE CASCADE, text TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS debt ("
	" node_guid INTEGER NOT NULL, port INTEGER NOT NULL, off INTEGER NOT NULL,"
	" from_txn INTEGER NOT NULL, txn INTEGER NOT NULL, sum INTEGER NOT NULL,"
	" PRIMARY KEY (node_guid, port)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS job ("
	" id TEXT NOT NULL, start INTEGER NOT NULL, user TEXT NOT NULL, name TEXT NOT NULL,"
	" end INTEGER NOT NULL, seen INTEGER NOT NULL, contributor INTEGER NOT NULL,"
	" shared_contributor INTEGER NOT NULL, suspect INTEGER NOT NULL, victim INTEGER NOT NULL,"
	" shared_victim INTEGER NOT NULL, harm INTEGER NOT NULL, blocked INTEGER NOT NULL,"
	" bytes INTEGER NOT NULL, PRIMARY KEY (id, start)) WITHOUT ROWID;"
	"CREATE INDEX IF NOT EXISTS job_seen ON job (seen);"
	"CREATE TABLE IF NOT EXISTS job_root ("
	" id TEXT NOT NULL, start INTEGER NOT NULL, root TEXT NOT NULL, ms INTEGER NOT NULL,"
	" PRIMARY KEY (id, start, root)) WITHOUT ROWID;"
	"CREATE TABLE IF NOT EXISTS sample (at INTEGER PRIMARY KEY, value TEXT NOT NULL);"
	"CREATE TABLE IF NOT EXISTS note (key TEXT PRIMARY KEY, text TEXT NOT NULL);"
	"PRAGMA user_version = 2;"
	"COMMIT;";

/* Why an operation failed. db is NULL if there was not even memory for it. */
static const char *reason(sqlite3 *db, int code)
{
	switch (code) {
	case SQLITE_MISMATCH: return "was written by a later version of ibcc-tuned";
	case SQLITE_CANTOPEN: return "does not exist, or cannot be opened";
	case SQLITE_READONLY_ROLLBACK:
		return "a program was killed while it wrote, and its incomplete write must be "
		       "undone";
	}
	return db ? sqlite3_errmsg(db) : sqlite3_errstr(code);
}

static const char *next_step(int code)
{
	if (code == SQLITE_READONLY_ROLLBACK)
		return "start ibcc-tuned, or run this program as a user who may write it and its "
		       "folder";
	switch (code & 0xff) {
	case SQLITE_MISMATCH:
		return "keep it, and install that version again for what a rollback needs, or move "
		       "it aside after \"ibcc-tune disable\"";
	case SQLITE_OK: return "the daemon begins a new file";
	case SQLITE_FULL: return "make room on its file system";
	case SQLITE_READONLY:
	case SQLITE_PERM: return "make it and its folder writable for the user of this program";
	case SQLITE_CANTOPEN:
		return "its folder must be there and writable for the user of this program, and "
		       "nothing else in its place";
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB: return "move the file aside, then the daemon begins a new one";
	case SQLITE_BUSY:
	case SQLITE_LOCKED: return "end the program that holds it";
	case SQLITE_IOERR: return "check its file system, which may be full";
	}
	return "check the file with sqlite3 FILE 'PRAGMA integrity_check'";
}

static void set_trouble(struct ibcc_state *s, const char *what, int code)
{
	s->failing = true;
	ibcc_why_set(&s->trouble, 0,
		     "state file %s: %s; %s: until then the daemon removes settings and makes none",
		     s->file, what, next_step(code));
}

int ibcc_state_failed(struct ibcc_state *s, struct ibcc_why *why)
{
	int code = s->db ? sqlite3_extended_errcode(s->db) : SQLITE_CANTOPEN;

	if (code == SQLITE_NOMEM)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	if (s->db)
		set_trouble(s, reason(s->db, code), code);
	return ibcc_why_set(why, -EIO, "%s", s->trouble.text);
}

int ibcc_state_not_read(const struct ibcc_state *s, int rc, struct ibcc_why *why)
{
	int code = s->db ? sqlite3_extended_errcode(s->db) : SQLITE_CANTOPEN;

	if (rc == -ENOMEM || code == SQLITE_NOMEM)
		return ibcc_why_set(why, -ENOMEM, "no memory");
	/* No statement failed: the reader gave up at a row that the daemon never writes so. */
	if (code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE)
		return ibcc_why_set(
			why, -EIO,
			"state file %s: a row is damaged; \"ibcc-tune history\" still lists all "
			"transactions, and \"ibcc-tune status\" says if a rollback needs that row",
			s->file);
	return ibcc_why_set(why, -EIO, "state file %s: %s; %s", s->file, reason(s->db, code),
			    next_step(code));
}

const char *ibcc_state_trouble(const struct ibcc_state *s)
{
	if (s->failing)
		return s->trouble.text;
	return s->damaged ? s->damage_text.text : NULL;
}

bool ibcc_state_is_ahead(const struct ibcc_state *s)
{
	return s->ahead;
}

static int64_t user_version(sqlite3 *db)
{
	return ibcc_state_ask(db, "PRAGMA user_version", 0);
}

/* An SQL function: is the process alive that may be carrying out a transaction? An open transaction
 * of another live process is not ours to end.
 */
static void sql_alive(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	const struct ibcc_state *s = sqlite3_user_data(ctx);
	pid_t pid = (pid_t)sqlite3_value_int(v[0]);

	(void)n;
	sqlite3_result_int(ctx, !s->alone && pid > 0 && pid != getpid() &&
					(!kill(pid, 0) || errno == EPERM));
}

static int close_orphans(struct ibcc_state *s, sqlite3 *db)
{
	int rc = sqlite3_create_function(db, "alive", 1, SQLITE_UTF8, s, sql_alive, NULL, NULL);

	if (!rc)
		rc = sqlite3_exec(
			db,
			"UPDATE txn AS t SET outcome = 'interrupted', ended = unixepoch(),"
			" sum = " IBCC_STATE_TXN_RESUM(
				"t.undone_by",
				"'interrupted'") ","
						 " detail = 'the program ended while this was "
						 "carried out'"
						 " WHERE outcome = 'open' AND NOT alive(pid)",
			NULL, NULL, NULL);
	if (!rc)
		s->interrupted = (uint32_t)sqlite3_changes(db);
	return rc;
}

int ibcc_state_claim(struct ibcc_state *s)
{
	uint32_t before = s->interrupted;

	s->alone = true;
	if (s->writable && close_orphans(s, s->db))
		return ibcc_state_failed(s, NULL);
	s->interrupted += s->writable ? before : 0;
	s->book_fresh = false;
	return 0;
}

/* A new file belongs to the folder's owner. Otherwise a file that root's command line creates would
 * lock out the daemon, which runs as another user. An existing file keeps its owner.
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

/* The file's path with all symbolic links on the way resolved. Those links are the administrator's,
 * but SQLite would refuse them, too. The file itself must not be a link, since its folder may
 * belong to another user. NULL: no such folder, or no memory.
 */
static char *real_path(const char *file)
{
	const char *base = strrchr(file, '/');
	char *dir = base ? strndup(file, base > file ? (size_t)(base - file) : 1) : strdup(".");
	char *real = dir ? realpath(dir, NULL) : NULL, *path = NULL;

	if (real && asprintf(&path, "%s/%s", real, base ? base + 1 : file) < 0)
		path = NULL;
	if (path)
		create_for_owner(real, path);
	free(real);
	free(dir);
	return path;
}

/* Migrates everything or nothing, since another process may be migrating at this moment. */
static int migrate(sqlite3 *db)
{
	int rc = sqlite3_exec(db, "BEGIN IMMEDIATE", NULL, NULL, NULL);

	if (!rc && user_version(db) == VERSION_WITHOUT_SUMS)
		rc = ibcc_state_migrate_sums(db);
	if (!rc)
		rc = sqlite3_exec(db, "PRAGMA user_version = 2; COMMIT", NULL, NULL, NULL);
	if (rc && !sqlite3_get_autocommit(db))
		sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

/* Called by SQLite while another program has the file locked, `tries` times so far. Returns whether
 * to try again. A program that has held it for all of our time will hold it for the next
 * statements, too, which give up at once.
 */
static int wait_for_other(void *state, int tries)
{
	const struct timespec pause = { .tv_nsec = BUSY_TRY_NS };
	struct ibcc_state *s = state;

	if (!tries && s->gave_up_ns && ibcc_now_ns() - s->gave_up_ns < BUSY_SELDOM_NS)
		return 0;
	if (tries >= BUSY_TRIES) {
		s->gave_up_ns = ibcc_now_ns();
		return 0;
	}
	nanosleep(&pause, NULL);
	return 1;
}

/* Opens a database without views and triggers, since we use none. A foreign one would run in place
 * of our statements, and need never end.
 */
static int open_database(struct ibcc_state *s, const char *path, sqlite3 **db, int flags)
{
	int rc = sqlite3_open_v2(path, db, flags | SQLITE_OPEN_NOFOLLOW, ibcc_state_vfs());

	if (!rc)
		rc = sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	if (!rc)
		rc = sqlite3_db_config(*db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
	if (!rc)
		rc = sqlite3_busy_handler(*db, wait_for_other, s);
	return rc;
}

/* Opens the file for writing. Returns 0, or a code of SQLite; *db is the database, if there is one.
 */
static int open_writable(struct ibcc_state *s, const char *path, sqlite3 **db)
{
	int rc = open_database(s, path, db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);

	if (rc)
		return rc;
	if (user_version(*db) > VERSION)
		return SQLITE_MISMATCH;
	rc = ibcc_state_add_sums(*db);
	if (!rc && user_version(*db) == VERSION_WITHOUT_SUMS)
		rc = migrate(*db);
	if (!rc)
		rc = sqlite3_exec(*db, schema, NULL, NULL, NULL);
	return rc ? rc : close_orphans(s, *db);
}

static bool is_readable(sqlite3 *db)
{
	int64_t version = user_version(db);

	if (ibcc_state_add_sums(db) ||
	    (version == VERSION_WITHOUT_SUMS && ibcc_state_pretend_sums(db)))
		return false;
	return (version == VERSION || version == VERSION_WITHOUT_SUMS) &&
	       !sqlite3_exec(db, "SELECT count(*) FROM txn", NULL, NULL, NULL);
}

/* Opens the file for reading, but not as immutable (immutable=1), although that can read more. It
 * would read half of a write that another program is making, or was killed in. Instead, the caller
 * gets an error.
 */
static sqlite3 *open_to_read(struct ibcc_state *s, const char *path)
{
	sqlite3 *db = NULL;
	int rc = open_database(s, path, &db, SQLITE_OPEN_READONLY);

	if (!rc) {
		if (is_readable(db))
			return db;
		rc = sqlite3_extended_errcode(db);
	}
	if (rc)
		set_trouble(s, reason(db, rc), rc);
	sqlite3_close(db);
	return NULL;
}

static void close_file(struct ibcc_state *s)
{
	sqlite3_close(s->db);
	s->db = NULL;
	s->writable = false;
}

/* Whether opening may block: SQLite would wait for the other end of a FIFO, which may never come.
 */
static bool can_wait(const char *path)
{
	struct stat st;

	return !lstat(path, &st) && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
	       !S_ISLNK(st.st_mode);
}

/* Opens the file in the best mode that works; `trouble` says what is wrong. */
static void open_file(struct ibcc_state *s)
{
	char *path = real_path(s->file);
	/* if the folder is missing, SQLite's message says what is wrong */
	const char *name = path ? path : s->file;
	sqlite3 *db = NULL;
	bool other = can_wait(name);
	int rc = other ? SQLITE_CANTOPEN : open_writable(s, name, &db);
	struct stat st;

	close_file(s);
	if (other) {
		set_trouble(s, "it is not a regular file", rc);
	} else if (rc) {
		set_trouble(s, reason(db, rc), rc);
		sqlite3_close(db);
		db = open_to_read(s, name);
	} else {
		s->failing = false;
		s->writable = true;
	}
	s->db = db;
	s->dev = 0;
	s->ino = 0;
	if (db && !stat(name, &st)) {
		s->dev = st.st_dev;
		s->ino = st.st_ino;
	}
	s->book_fresh = false;
	free(path);
}

struct ibcc_state *ibcc_state_open(const char *file, int *err, struct ibcc_why *why)
{
	struct ibcc_state *s = calloc(1, sizeof(*s));

	if (s)
		s->file = strdup(file);
	if (!s || !s->file) {
		*err = ibcc_why_set(why, -ENOMEM, "no memory");
		ibcc_state_close(s);
		return NULL;
	}
	open_file(s);
	return s;
}

void ibcc_state_close(struct ibcc_state *s)
{
	if (!s)
		return;
	ibcc_state_end_late(s, NULL);
	ibcc_state_forget_late(s);
	close_file(s);
	ibcc_book_fini(&s->book);
	free(s->file);
	free(s);
}

uint32_t ibcc_state_interrupted(const struct ibcc_state *s)
{
	return s->interrupted;
}

/* Has the file at the path been replaced since we opened it for writing? */
static bool is_moved(const struct ibcc_state *s)
{
	struct stat st;

	return s->ino && (stat(s->file, &st) || st.st_dev != s->dev || st.st_ino != s->ino);
}

/* Only a write shows whether the file can be written. */
static int try_write(struct ibcc_state *s)
{
	return sqlite3_exec(s->db,
			    "INSERT INTO note (key, text) VALUES ('written', unixepoch())"
			    " ON CONFLICT (key) DO UPDATE SET text = unixepoch()",
			    NULL, NULL, NULL);
}

/* Looks for damaged rows. If the value before our first write is lost, the setting must not be
 * written again.
 */
static int look_for_damage(struct ibcc_state *s, struct ibcc_why *why)
{
	ibcc_state_load_book(s);
	s->damaged = s->damage.n;
	if (!s->damaged)
		return 0;
	ibcc_why_set(&s->damage_text, 0,
		     "state file %s: %u %s damaged (%s): a rollback leaves the values on "
		     "the fabric as they are; \"ibcc-tune disable\" removes all settings; until "
		     "then none are made",
		     s->file, s->damage.n,
		     ibcc_text_plural(s->damage.n, "setting is", "settings are"),
		     s->damage.first.text);
	return ibcc_why_set(why, -EIO, "%s", s->damage_text.text);
}

int ibcc_state_check(struct ibcc_state *s, struct ibcc_why *why)
{
	int rc;

	if (s->db && is_moved(s)) {
		ibcc_state_load_book(s);
		s->ahead |= s->book.n > 0;
		close_file(s);
		set_trouble(s, "is gone, or is another file now", SQLITE_OK);
		return ibcc_why_set(why, -EIO, "%s", s->trouble.text);
	}
	if (!s->failing)
		return look_for_damage(s, why);
	if (!s->writable)
		open_file(s);
	if (!s->writable)
		return ibcc_why_set(why, -EIO, "%s", s->trouble.text);
	if (try_write(s))
		return ibcc_state_failed(s, why);
	rc = ibcc_state_catch_up(s, why);
	if (rc)
		return rc;
	s->failing = false;
	return look_for_damage(s, why);
}
