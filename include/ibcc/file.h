/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Files that are read or written as a whole. */
#ifndef IBCC_FILE_H
#define IBCC_FILE_H

#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/types.h>

/* For opening what ibcc_file_read() is to read: neither a pipe nor a terminal stops us then. */
#define IBCC_FILE_READ_FLAGS (O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)

/* Reads an open regular file of at most `max` bytes, also if it grows meanwhile. *st is the file's
 * if fstat() worked. The caller frees *text, which has a NUL behind *len bytes; it is NULL after an
 * error. -EISDIR: a folder; -EINVAL: something else that is no regular file; -EFBIG: it has more
 * bytes; -ENOMEM, or -errno.
 */
int ibcc_file_read(int fd, size_t max, struct stat *st, char **text, size_t *len);
/* The same by its path. A link is followed. st->st_mode is 0 if the file cannot be opened. */
int ibcc_file_load(const char *path, size_t max, struct stat *st, char **text, size_t *len);

/* All bytes, also if write() takes them in parts or a signal interrupts it. 0 or -errno. */
int ibcc_file_write_all(int fd, const char *text, size_t len);

/* Puts a text in place of a file, so that every reader sees the old text or the new one as a whole.
 * The text is first written to beside, a path in the same folder where nothing may be yet
 * (-EEXIST). mode is the file's, or 0 for the umask's choice. The file at the path is replaced,
 * whatever it is, and a link is not followed. Returns 0 or -errno; then nothing has changed.
 */
int ibcc_file_put(const char *file, const char *beside, const char *text, size_t len, mode_t mode);

/* As ibcc_file_put(), for a file that a person names. A link is replaced, not followed: another
 * user may have put it there, and it may lead to a file that only we may write. Terminals, pipes
 * and /dev/null are written to, also by a link such as /dev/stdout. Returns 0 or -errno.
 */
int ibcc_file_replace(const char *file, const char *text, size_t len);

/* As ibcc_file_replace(), with what write() writes. If that returns -errno, the file stays as it
 * is.
 */
int ibcc_file_write(const char *file, int (*write)(void *arg, FILE *out), void *arg);

#endif
