/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "lib/state/state_vfs.h"

#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include <sqlite3.h>

#define NAME "ibcc"

/* SQLite's own VFS, and ours, which replaces two of its calls. */
static sqlite3_vfs *real;
static sqlite3_vfs vfs;
static bool registered;

static bool ends_with(const char *name, const char *end)
{
	size_t n = strlen(name), len = strlen(end);

	return n >= len && !strcmp(name + n - len, end);
}

/* None of SQLite's own files is a symbolic link either. A temporary file has no name. */
static int open_regular(sqlite3_vfs *v, sqlite3_filename name, sqlite3_file *file, int flags,
			int *out)
{
	struct stat st;

	(void)v;
	if (name && !lstat(name, &st) && !S_ISREG(st.st_mode)) {
		file->pMethods = NULL;
		return SQLITE_CANTOPEN;
	}
	return real->xOpen(real, name, file, flags, out);
}

static int delete_journal(sqlite3_vfs *v, const char *name, int sync)
{
	(void)v;
	if (!ends_with(name, "-journal") && !ends_with(name, "-wal"))
		return SQLITE_IOERR_DELETE;
	return real->xDelete(real, name, sync);
}

static void set_up(void)
{
	real = sqlite3_vfs_find(NULL);
	if (!real)
		return;
	vfs = *real;
	vfs.pNext = NULL;
	vfs.zName = NAME;
	vfs.xOpen = open_regular;
	vfs.xDelete = delete_journal;
	registered = !sqlite3_vfs_register(&vfs, 0);
}

const char *ibcc_state_vfs(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, set_up);
	return registered ? NAME : NULL;
}
