/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stores what jobs did and suffered, see <ibcc/whose_account.h>: sums over the life of each job. */
#include <errno.h>
#include <string.h>

#include <ibcc/json.h>
#include <ibcc/whose_account.h>

#include "lib/state/state_db.h"

#define DAY_S     86400
#define KEEP_DAYS 30
#define KEEP_JOBS 5000 /* of these, at most */
#define MOST_ROWS 1000 /* of an answer */
#define TEXTS     (1 + IBCC_WHOSE_ROOTS_OF_JOB)

enum { N_SUMS = 8 };

static const char add_sql[] =
	"INSERT INTO job (start, end, seen, contributor, shared_contributor, suspect, victim,"
	" shared_victim, harm, blocked, bytes, id, user, name)"
	" VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)"
	" ON CONFLICT (id, start) DO UPDATE SET end = ?2, seen = max(seen, ?3),"
	" contributor = contributor + ?4, shared_contributor = shared_contributor + ?5,"
	" suspect = suspect + ?6, victim = victim + ?7, shared_victim = shared_victim + ?8,"
	" harm = harm + ?9, blocked = blocked + ?10, bytes = bytes + ?11, user = ?13, name = ?14";
static const char add_root_sql[] =
	"INSERT INTO job_root (start, ms, id, root) VALUES (?1, ?2, ?3, ?4)"
	" ON CONFLICT (id, start, root) DO UPDATE SET ms = ms + ?2";
/* Of a job's roots, once there are more than 16, the 12 longest stay, and those of the last sums
 * (?3 to ?6): a root that comes late is not among the longest yet.
 */
static const char prune_job_sql[] =
	"DELETE FROM job_root WHERE start = ?1 AND id = ?2"
	" AND (SELECT count(*) FROM job_root WHERE start = ?1 AND id = ?2) > 16"
	" AND root NOT IN (?3, ?4, ?5, ?6)"
	" AND root NOT IN (SELECT root FROM job_root WHERE start = ?1 AND id = ?2"
	" AND root NOT IN (?3, ?4, ?5, ?6) ORDER BY ms DESC, root LIMIT 12)";
/* Of jobs that were seen later than now the clock was ahead. */
static const char prune_sql[] =
	"DELETE FROM job WHERE seen < ?1 OR seen > ?2 OR seen <="
	" (SELECT seen FROM job WHERE seen <= ?2 ORDER BY seen DESC LIMIT 1 OFFSET ?3)";
static const char prune_roots_sql[] =
	"DELETE FROM job_root WHERE NOT EXISTS"
	" (SELECT 1 FROM job WHERE job.id = job_root.id AND job.start = job_root.start)";
static const char read_sql[] =
	"SELECT id, user, name, start, end, seen, contributor, shared_contributor, suspect, victim,"
	" shared_victim, harm, blocked, bytes,"
	" (SELECT root FROM job_root AS r WHERE r.id = job.id AND r.start = job.start"
	" ORDER BY ms DESC, root LIMIT 1)"
	" FROM job WHERE seen >= ?1 AND (?2 = '' OR user = ?2) AND (?3 = '' OR id = ?3)"
	" ORDER BY harm DESC, contributor DESC, blocked DESC, victim DESC, suspect DESC, start, id"
	" LIMIT ?4";

/* The statements of a call. Thousands of rows make preparing them a good part of the work. */
struct adder {
	sqlite3_stmt *job, *root, *prune;
};

static int prepare(struct ibcc_state *s, struct adder *a)
{
	return sqlite3_prepare_v2(s->db, add_sql, -1, &a->job, NULL) ||
			       sqlite3_prepare_v2(s->db, add_root_sql, -1, &a->root, NULL) ||
			       sqlite3_prepare_v2(s->db, prune_job_sql, -1, &a->prune, NULL)
		       ? -EIO
		       : 0;
}

static void finalize(struct adder *a)
{
	sqlite3_finalize(a->job);
	sqlite3_finalize(a->root);
	sqlite3_finalize(a->prune);
}

static int add(const struct adder *a, const struct ibcc_whose_row *r)
{
	const int64_t number[] = { r->start_s,
				   r->end_s,
				   r->seen_s,
				   r->contributor_ms,
				   r->shared_contributor_ms,
				   r->suspect_ms,
				   r->victim_ms,
				   r->shared_victim_ms,
				   (int64_t)r->harm_ms,
				   (int64_t)r->blocked_ms,
				   (int64_t)r->sent_bytes };
	const char *const text[] = { r->id, r->user, r->name };
	const char *last[TEXTS] = { r->id, "", "", "", "" };
	int rc = ibcc_state_step(a->job, number, 11, text, 3);

	for (uint32_t i = 0; i < r->n_roots && !rc; i++) {
		const int64_t root_number[] = { r->start_s, r->root[i].ms };
		const char *const root_text[] = { r->id, r->root[i].name };

		rc = ibcc_state_step(a->root, root_number, 2, root_text, 2);
		last[1 + i] = r->root[i].name;
	}
	return rc ? rc : ibcc_state_step(a->prune, &r->start_s, 1, last, TEXTS);
}

/* Only a job that goes leaves roots behind, and to look for them takes the whole table. */
static int prune(struct ibcc_state *s, int64_t now_s)
{
	const int64_t bounds[] = { now_s - KEEP_DAYS * DAY_S, now_s, KEEP_JOBS };
	int rc = ibcc_state_run(s, prune_sql, bounds, 3, NULL, 0);

	if (rc || !sqlite3_changes(s->db))
		return rc;
	return ibcc_state_run(s, prune_roots_sql, NULL, 0, NULL, 0);
}

int ibcc_state_add_jobs(struct ibcc_state *s, const struct ibcc_whose_row *row, uint32_t n,
			int64_t now_s)
{
	struct adder a = { .job = NULL };
	int rc =
		s->writable && !sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL) ? 0 : -EIO;

	if (rc)
		return rc;
	rc = prepare(s, &a);
	for (uint32_t i = 0; i < n && !rc; i++)
		rc = add(&a, &row[i]);
	finalize(&a);
	if (!rc)
		rc = prune(s, now_s);
	if (!rc && sqlite3_exec(s->db, "COMMIT", NULL, NULL, NULL))
		rc = -EIO;
	if (rc && !sqlite3_get_autocommit(s->db))
		sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return rc;
}

static json_t *text_or_null(sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);

	return text && *text ? ibcc_json_text(text) : json_null();
}

/* The file may be anyone's, so no sum is taken for more than a number. */
static json_t *row_json(sqlite3_stmt *st)
{
	static const char *const sums[N_SUMS] = { "contributor_ms",   "shared_contributor_ms",
						  "suspect_ms",       "victim_ms",
						  "shared_victim_ms", "harm_ms",
						  "blocked_ms",       "sent_bytes" };
	const char *id = (const char *)sqlite3_column_text(st, 0);
	int64_t end = sqlite3_column_int64(st, 4);
	json_t *o = json_pack("{so so so sI so sI so}", "id", ibcc_json_text(id ? id : ""), "user",
			      text_or_null(st, 1), "name", text_or_null(st, 2), "start",
			      (json_int_t)sqlite3_column_int64(st, 3), "end",
			      end ? json_integer((json_int_t)end) : json_null(), "seen",
			      (json_int_t)sqlite3_column_int64(st, 5), "worst_root",
			      text_or_null(st, 14));

	for (int i = 0; o && i < N_SUMS; i++) {
		int64_t v = sqlite3_column_int64(st, 6 + i);

		json_object_set_new(o, sums[i], json_integer((json_int_t)(v < 0 ? 0 : v)));
	}
	return o;
}

json_t *ibcc_state_jobs(struct ibcc_state *s, int64_t since_s, const char *user, const char *id,
			int *err, struct ibcc_why *why)
{
	json_t *list = json_array();
	sqlite3_stmt *st = NULL;
	int step = SQLITE_ERROR;

	/* A file of an earlier version has no such table, and no jobs. */
	if (!ibcc_state_ask(s->db, "SELECT count(*) FROM sqlite_master WHERE name = 'job'", 0))
		return list;
	if (s->db && !sqlite3_prepare_v2(s->db, read_sql, -1, &st, NULL) &&
	    !sqlite3_bind_int64(st, 1, since_s) &&
	    !sqlite3_bind_text(st, 2, user, -1, SQLITE_STATIC) &&
	    !sqlite3_bind_text(st, 3, id, -1, SQLITE_STATIC) &&
	    !sqlite3_bind_int64(st, 4, MOST_ROWS))
		while ((step = sqlite3_step(st)) == SQLITE_ROW)
			json_array_append_new(list, row_json(st));
	if (step != SQLITE_DONE) {
		json_decref(list);
		list = NULL;
		*err = ibcc_state_not_read(s, -EIO, why);
	}
	sqlite3_finalize(st);
	return list;
}
