/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files that are written as a whole. */
#ifndef IBCC_FILE_H
#define IBCC_FILE_H

#include <stddef.h>

/* Puts a text in place of a file, all of it or nothing. A link is replaced, not followed: it may be
 * somebody else's, and lead to a file that only we may write. Terminals, pipes and /dev/null are
 * written to, also by a link such as /dev/stdout. Returns 0 or -errno.
 */
int ibcc_file_replace(const char *file, const char *text, size_t len);

#endif
