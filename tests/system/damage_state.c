/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs SQL on a state file, as a disk that turns bits would: damage_state FILE SQL. Prints how many
 * rows are other ones then.
 */
#include <stdio.h>

#include <sqlite3.h>

int main(int argc, char **argv)
{
	sqlite3 *db = NULL;
	int rc;

	if (argc != 3 || sqlite3_open_v2(argv[1], &db, SQLITE_OPEN_READWRITE, NULL))
		return 2;
	rc = sqlite3_exec(db, argv[2], NULL, NULL, NULL);
	if (rc)
		fprintf(stderr, "%s\n", sqlite3_errmsg(db));
	else
		printf("%d\n", sqlite3_changes(db));
	sqlite3_close(db);
	return rc ? 1 : 0;
}
