/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Checksums of the rows that may be written back to a fabric. Bits that flip on a disk, or an edit
 * of the file, must not become settings of a switch. A row that does not match its sum is reported,
 * and its setting stays as it is. The sums detect accidents, not attacks: a user who may write the
 * file may write sums.
 */
#include <errno.h>

#include <ibcc/bounds.h>
#include <ibcc/hash.h>

#include "lib/state/state_db.h"

static uint64_t sum_value(uint64_t h, sqlite3_value *v)
{
	uint8_t type = (uint8_t)sqlite3_value_type(v);
	sqlite3_int64 number;
	double real;
	const void *data;
	int len;

	h = ibcc_hash(h, &type, sizeof(type));
	switch (type) {
	case SQLITE_INTEGER:
		number = sqlite3_value_int64(v);
		return ibcc_hash(h, &number, sizeof(number));
	case SQLITE_FLOAT: real = sqlite3_value_double(v); return ibcc_hash(h, &real, sizeof(real));
	case SQLITE_TEXT:
	case SQLITE_BLOB:
		data = sqlite3_value_blob(v);
		len = sqlite3_value_bytes(v);
		h = ibcc_hash(h, &len, sizeof(len));
		return data ? ibcc_hash(h, data, (size_t)len) : h;
	}
	return h; /* the hash of NULL */
}

/* An SQL function of any number of values. */
static void sql_row_sum(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	uint64_t h = IBCC_HASH_START;

	for (int i = 0; i < n; i++)
		h = sum_value(h, v[i]);
	sqlite3_result_int64(ctx, (sqlite3_int64)h);
}

/* An SQL function of attr_id, attr_mod, port_block, old and new data: can these values be a change?
 */
static void sql_row_fits(sqlite3_context *ctx, int n, sqlite3_value **v)
{
	struct ibcc_change c = { .attr_id = (uint16_t)sqlite3_value_int(v[0]),
				 .attr_mod = (uint32_t)sqlite3_value_int64(v[1]),
				 .port_block = (uint8_t)sqlite3_value_int(v[2]) };
	bool fits = true;

	for (int i = 3; i < n; i++) {
		const void *data = sqlite3_value_blob(v[i]);

		fits &= sqlite3_value_bytes(v[i]) == IBCC_CC_DATA_BYTES &&
			!ibcc_bounds_data(&c, data);
	}
	sqlite3_result_int(ctx, fits);
}

int ibcc_state_add_sums(sqlite3 *db)
{
	int flags = SQLITE_UTF8 | SQLITE_DETERMINISTIC;
	int rc = sqlite3_create_function(db, "row_sum", -1, flags, NULL, sql_row_sum, NULL, NULL);

	return rc ? rc
		  : sqlite3_create_function(db, "row_fits", 5, flags, NULL, sql_row_fits, NULL,
					    NULL);
}

/* The sum for a row that was stored without one. If a node can be given what the row says, that
 * counts as what was written; there is nothing to check it against.
 */
#define FIRST_SUM                                                                                  \
	"iif(row_fits(c.attr_id, c.attr_mod, c.port_block, c.old, c.new),"                         \
	" " IBCC_STATE_CHANGE_SUM("c.outcome") ", NULL)"
#define TXN_SUM     IBCC_STATE_TXN_SUM("t.undone_by", "t.outcome")
#define SET_TXN_SUM "UPDATE txn AS t SET sum = " TXN_SUM

int ibcc_state_migrate_sums(sqlite3 *db)
{
	return sqlite3_exec(db,
			    "ALTER TABLE change ADD COLUMN place_sum INTEGER;"
			    "ALTER TABLE change ADD COLUMN sum INTEGER;"
			    "ALTER TABLE txn ADD COLUMN sum INTEGER;"
			    "UPDATE change AS c SET place_sum = " IBCC_STATE_PLACE_SUM
			    ", sum = " FIRST_SUM ";" SET_TXN_SUM ";",
			    NULL, NULL, NULL);
}

int ibcc_state_pretend_sums(sqlite3 *db)
{
	return sqlite3_exec(db,
			    "CREATE TEMP VIEW change AS SELECT *, " IBCC_STATE_PLACE_SUM
			    " AS place_sum, " FIRST_SUM " AS sum FROM main.change AS c;"
			    "CREATE TEMP VIEW txn AS SELECT *, " TXN_SUM
			    " AS sum FROM main.txn AS t;",
			    NULL, NULL, NULL);
}

int ibcc_state_seal(struct ibcc_state *s, int64_t id, int64_t first_seq)
{
	int rc = ibcc_state_run(
		s,
		"UPDATE change AS c SET place_sum = " IBCC_STATE_PLACE_SUM
		", sum = " IBCC_STATE_CHANGE_SUM("c.outcome") " WHERE txn = ?1 AND seq >= ?2",
		(const int64_t[]){ id, first_seq }, 2, NULL, 0);

	/* A further step has reopened its transaction, and its sum was set then. */
	return rc || first_seq ? rc
			       : ibcc_state_run(s, SET_TXN_SUM " WHERE id = ?1", &id, 1, NULL, 0);
}

int ibcc_state_give_up_damaged(struct ibcc_state *s, struct ibcc_why *why)
{
	if (!s->damage.n)
		return 0;
	if (ibcc_state_run(s,
			   "UPDATE change AS c SET outcome = 'damaged',"
			   " place_sum = " IBCC_STATE_PLACE_SUM ", sum = " IBCC_STATE_CHANGE_SUM(
				   "'damaged'") " WHERE (c.txn, c.seq) IN"
						" (SELECT c.txn, c.seq" IBCC_STATE_LIVE
						" AND NOT " IBCC_STATE_SOUND ")",
			   NULL, 0, NULL, 0))
		return ibcc_state_failed(s, why);
	s->book_fresh = false;
	return 0;
}
