/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stores what was measured before and after each transaction, and over the last day. This data
 * explains, and no decision depends on it. So a measurement that cannot be stored is left out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/state/state_db.h"

#define DAY_S     86400
#define MOST_ROWS 4000 /* a row each minute, and rows at transactions */

static const char *const names[IBCC_SAMPLE_FIELDS] = {
	[IBCC_SAMPLE_ROOTS] = "roots",
	[IBCC_SAMPLE_VICTIMS] = "victims",
	[IBCC_SAMPLE_WAITING] = "waiting",
	[IBCC_SAMPLE_WAIT_PERMILLE] = "wait_permille",
	[IBCC_SAMPLE_TOTAL_MBPS] = "total_mbps",
	[IBCC_SAMPLE_VICTIM_MBPS] = "victim_mbps",
	[IBCC_SAMPLE_SWITCHES_ON] = "switches_on",
	[IBCC_SAMPLE_ADAPTERS_ON] = "adapters_on",
};

int64_t ibcc_state_newest(struct ibcc_state *s)
{
	int64_t id = ibcc_state_ask(s->db, "SELECT max(id) FROM txn", 0);

	/* A damaged row may have the highest number; callers add 1. */
	if (id == INT64_MAX)
		id--;
	return id > 0 ? id : 0;
}

int64_t ibcc_state_newest_of_others(struct ibcc_state *s)
{
	return ibcc_state_ask(s->db, "SELECT max(id) FROM txn WHERE pid <> ?", getpid());
}

static json_t *values(const struct ibcc_state_sample *sample)
{
	json_t *list = json_array();

	for (int i = 0; i < IBCC_SAMPLE_FIELDS; i++)
		json_array_append_new(list, json_integer(sample->value[i]));
	return list;
}

static int run_with(struct ibcc_state *s, const char *sql, const int64_t *number, int n,
		    const struct ibcc_state_sample *sample)
{
	json_t *list = values(sample);
	char *text = list ? json_dumps(list, JSON_COMPACT) : NULL;
	const char *const value[] = { text };
	int rc = text ? ibcc_state_run(s, sql, number, n, value, 1) : -ENOMEM;

	free(text);
	json_decref(list);
	return rc;
}

int ibcc_state_before(struct ibcc_state *s, int64_t first, int64_t last,
		      const struct ibcc_state_sample *sample)
{
	static const char sql[] = "INSERT OR IGNORE INTO effect (txn, before)"
				  " SELECT id, ?3 FROM txn WHERE id BETWEEN ?1 AND ?2";
	int64_t number[] = { first, last };

	return run_with(s, sql, number, 2, sample);
}

int ibcc_state_after(struct ibcc_state *s, int64_t first, int64_t last, unsigned int passes,
		     const struct ibcc_state_sample *sample)
{
	static const char sql[] = "UPDATE effect SET passes = ?3, after = ?4"
				  " WHERE txn BETWEEN ?1 AND ?2";
	int64_t number[] = { first, last, passes };

	return run_with(s, sql, number, 3, sample);
}

/* A missing second measurement counts as still to come while `passes` is not negative. */
int ibcc_state_unmeasured(struct ibcc_state *s, int64_t *first, int64_t *last)
{
	sqlite3_stmt *st = NULL;
	int step = SQLITE_ERROR;

	*first = *last = 0;
	if (s->db && !sqlite3_prepare_v2(s->db,
					 "SELECT coalesce(min(txn), 0), coalesce(max(txn), 0)"
					 " FROM effect WHERE after IS NULL AND passes >= 0",
					 -1, &st, NULL))
		step = sqlite3_step(st);
	if (step == SQLITE_ROW) {
		*first = sqlite3_column_int64(st, 0);
		*last = sqlite3_column_int64(st, 1);
	}
	sqlite3_finalize(st);
	return step == SQLITE_ROW ? 0 : -EIO;
}

int ibcc_state_unmeasurable(struct ibcc_state *s, int64_t first, int64_t last)
{
	int64_t number[] = { first, last };

	return ibcc_state_run(s,
			      "UPDATE effect SET passes = -1"
			      " WHERE txn BETWEEN ?1 AND ?2 AND after IS NULL",
			      number, 2, NULL, 0);
}

int ibcc_state_add_sample(struct ibcc_state *s, const struct ibcc_state_sample *sample)
{
	static const char insert_sql[] =
		"INSERT OR REPLACE INTO sample (at, value) VALUES (?1, ?2)";
	/* Samples later than now come from a time when the clock was ahead. They must not count
	 * among the youngest MOST_ROWS, or the sample just added would be one row too many.
	 */
	static const char prune_sql[] =
		"DELETE FROM sample WHERE at < ?1 OR at > ?2 OR at <="
		" (SELECT at FROM sample WHERE at <= ?2 ORDER BY at DESC LIMIT 1 OFFSET ?3)";
	int64_t number[] = { sample->at_s - DAY_S, sample->at_s, MOST_ROWS };
	int rc = run_with(s, insert_sql, &sample->at_s, 1, sample);

	return rc ? rc : ibcc_state_run(s, prune_sql, number, 3, NULL, 0);
}

static bool is_count(const json_t *v)
{
	return json_is_integer(v) && json_integer_value(v) >= 0;
}

/* The file may be anyone's, so a value that is not a list of our numbers is treated as missing. */
static json_t *read_values(sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);
	json_t *list = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	bool good = json_array_size(list) == IBCC_SAMPLE_FIELDS;

	for (size_t i = 0; good && i < IBCC_SAMPLE_FIELDS; i++)
		good = is_count(json_array_get(list, i));
	if (good)
		return list;
	json_decref(list);
	return NULL;
}

json_t *ibcc_state_read_sample(sqlite3_stmt *st, int column)
{
	json_t *list = read_values(st, column), *o;

	if (!list)
		return json_null();
	o = json_object();
	for (size_t i = 0; i < IBCC_SAMPLE_FIELDS; i++)
		json_object_set(o, names[i], json_array_get(list, i));
	json_decref(list);
	return o;
}

/* A sender of the list, as the schema of the history wants it. */
static bool is_sender(const json_t *o)
{
	const json_t *after = json_object_get(o, "after_mbps");

	return json_object_size(o) == 5 && json_is_string(json_object_get(o, "node_guid")) &&
	       json_is_string(json_object_get(o, "node")) && is_count(json_object_get(o, "port")) &&
	       is_count(json_object_get(o, "before_mbps")) &&
	       (json_is_null(after) || is_count(after));
}

/* The file may be anyone's, so a value that is not a list of senders is treated as missing. */
json_t *ibcc_state_read_senders(sqlite3_stmt *st, int column)
{
	const char *text = (const char *)sqlite3_column_text(st, column);
	json_t *list = text ? json_loads(text, JSON_REJECT_DUPLICATES, NULL) : NULL;
	bool good = json_array_size(list) > 0;

	for (size_t i = 0; good && i < json_array_size(list); i++)
		good = is_sender(json_array_get(list, i));
	if (good)
		return list;
	json_decref(list);
	return json_null();
}

int ibcc_state_keep_senders(struct ibcc_state *s, int64_t first, int64_t last, const json_t *list)
{
	static const char sql[] = "INSERT OR REPLACE INTO sender (txn, text)"
				  " SELECT id, ?3 FROM txn WHERE id BETWEEN ?1 AND ?2";
	int64_t number[] = { first, last };
	char *text = json_dumps(list, JSON_COMPACT);
	const char *const value = text;
	int rc = text ? ibcc_state_run(s, sql, number, 2, &value, 1) : -ENOMEM;

	free(text);
	return rc;
}

json_t *ibcc_state_senders(struct ibcc_state *s, int64_t txn)
{
	sqlite3_stmt *st = NULL;
	json_t *list = NULL;

	if (s->db &&
	    !sqlite3_prepare_v2(s->db, "SELECT text FROM sender WHERE txn = ?", -1, &st, NULL) &&
	    !sqlite3_bind_int64(st, 1, txn) && sqlite3_step(st) == SQLITE_ROW)
		list = ibcc_state_read_senders(st, 0);
	sqlite3_finalize(st);
	return list ? list : json_null();
}

int64_t ibcc_state_turned_on(struct ibcc_state *s)
{
	static const char sql[] = "SELECT effect.txn, effect.before FROM effect JOIN sender ON "
				  "sender.txn = effect.txn"
				  " JOIN txn ON txn.id = effect.txn WHERE txn.undone_by IS NULL"
				  " ORDER BY effect.txn DESC";
	sqlite3_stmt *st = NULL;
	int64_t found = 0;

	if (!s->db || sqlite3_prepare_v2(s->db, sql, -1, &st, NULL))
		return 0;
	while (!found && sqlite3_step(st) == SQLITE_ROW) {
		json_t *list = read_values(st, 1);

		if (list && !json_integer_value(json_array_get(list, IBCC_SAMPLE_SWITCHES_ON)) &&
		    !json_integer_value(json_array_get(list, IBCC_SAMPLE_ADAPTERS_ON)))
			found = sqlite3_column_int64(st, 0);
		json_decref(list);
	}
	sqlite3_finalize(st);
	return found;
}

static json_t *fields(void)
{
	json_t *list = json_array();

	json_array_append_new(list, json_string("at"));
	for (int i = 0; i < IBCC_SAMPLE_FIELDS; i++)
		json_array_append_new(list, json_string(names[i]));
	return list;
}

json_t *ibcc_state_series(struct ibcc_state *s, int *err)
{
	json_t *rows = json_array(), *row;
	sqlite3_stmt *st = NULL;
	int step = SQLITE_ERROR;

	if (s->db &&
	    !sqlite3_prepare_v2(s->db, "SELECT at, value FROM sample ORDER BY at", -1, &st, NULL))
		while ((step = sqlite3_step(st)) == SQLITE_ROW) {
			row = read_values(st, 1);
			if (!row)
				continue;
			json_array_insert_new(row, 0, json_integer(sqlite3_column_int64(st, 0)));
			json_array_append_new(rows, row);
		}
	sqlite3_finalize(st);
	if (step == SQLITE_DONE)
		return json_pack("{so so}", "fields", fields(), "rows", rows);
	json_decref(rows);
	*err = -EIO;
	return NULL;
}
