/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Prints the writes that a state file has from a transaction on, with their octets, which the
 * history does not show: one JSON object a line, oldest first.
 *
 * usage: book_reader FILE TRANSACTION
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include <sqlite3.h>

#define BUSY_MS 5000

static const char sql[] =
	"SELECT t.id, t.action, t.outcome, c.node_guid, c.port, c.attr_id, c.attr_mod,"
	" lower(hex(c.old)), lower(hex(c.new)), c.outcome"
	" FROM change AS c JOIN txn AS t ON t.id = c.txn WHERE t.id >= ? ORDER BY t.id, c.seq";

static void print(sqlite3_stmt *st)
{
	printf("{\"transaction\": %" PRId64 ", \"action\": \"%s\", \"ended\": \"%s\", ",
	       (int64_t)sqlite3_column_int64(st, 0), sqlite3_column_text(st, 1),
	       sqlite3_column_text(st, 2));
	printf("\"node_guid\": \"0x%016" PRIx64 "\", \"port\": %d, \"attribute_id\": %d, ",
	       (uint64_t)sqlite3_column_int64(st, 3), sqlite3_column_int(st, 4),
	       sqlite3_column_int(st, 5));
	printf("\"attribute_modifier\": %" PRId64 ", \"old\": \"%s\", \"new\": \"%s\", ",
	       (int64_t)sqlite3_column_int64(st, 6), sqlite3_column_text(st, 7),
	       sqlite3_column_text(st, 8));
	printf("\"outcome\": \"%s\"}\n", sqlite3_column_text(st, 9));
}

int main(int argc, char **argv)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	int rc;

	if (argc != 3)
		return EXIT_FAILURE;
	rc = sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READONLY, NULL);
	if (!rc)
		rc = sqlite3_busy_timeout(db, BUSY_MS);
	if (!rc)
		rc = sqlite3_prepare_v2(db, sql, -1, &st, NULL);
	if (!rc)
		rc = sqlite3_bind_int64(st, 1, strtoll(argv[2], NULL, 10));
	while (!rc && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		print(st);
		rc = 0;
	}
	if (rc != SQLITE_DONE)
		fprintf(stderr, "%s: %s\n", argv[1], sqlite3_errmsg(db));
	sqlite3_finalize(st);
	sqlite3_close(db);
	return rc == SQLITE_DONE ? EXIT_SUCCESS : EXIT_FAILURE;
}
