/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A file on a file server that does not answer. It is preloaded. While the file that IBCC_SILENCE
 * names exists, nothing that looks at the file that IBCC_SILENT_FILE names returns.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PUBLIC __attribute__((visibility("default")))

/* open() is left alone: libumad2sim has one of its own. */
PUBLIC int stat(const char *restrict path, struct stat *restrict st)
{
	const char *silent = getenv("IBCC_SILENT_FILE"), *silence = getenv("IBCC_SILENCE");

	while (silent && silence && !strcmp(path, silent) && !faccessat(AT_FDCWD, silence, F_OK, 0))
		usleep(10000);
	return fstatat(AT_FDCWD, path, st, 0);
}
