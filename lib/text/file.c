/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Reading and writing whole files. Each is written beside its place and renamed there, so that a
 * reader sees the old or the new content, never a part.
 */
#include <ibcc/file.h>

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Space for a file whose size is not known before, as in /proc. */
#define FIRST_ROOM 4096u

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Reads up to the end. The space has one byte for a NUL, and one that only a file that is too large
 * fills.
 */
static int read_to_end(int fd, size_t room, size_t max, char **text, size_t *len)
{
	ssize_t n = 1;

	while (n) {
		char *more = *text && *len + 1 < room ? *text : NULL;

		if (!more) {
			room = least(*text ? 2 * room : room, max + 2);
			more = realloc(*text, room);
		}
		if (!more)
			return -ENOMEM;
		*text = more;
		n = read(fd, *text + *len, room - 1 - *len);
		if (n < 0 && errno != EINTR)
			return -errno;
		*len += n > 0 ? (size_t)n : 0;
		if (*len > max)
			return -EFBIG;
	}
	(*text)[*len] = '\0';
	return 0;
}

int ibcc_file_read(int fd, size_t max, struct stat *st, char **text, size_t *len)
{
	int rc;

	*text = NULL;
	*len = 0;
	if (fstat(fd, st))
		return -errno;
	if (!S_ISREG(st->st_mode))
		return S_ISDIR(st->st_mode) ? -EISDIR : -EINVAL;
	rc = read_to_end(fd, (size_t)st->st_size + FIRST_ROOM, max, text, len);
	if (!rc)
		return 0;
	if (*text)
		explicit_bzero(*text, *len); /* it may be a secret */
	free(*text);
	*text = NULL;
	return rc;
}

int ibcc_file_load(const char *path, size_t max, struct stat *st, char **text, size_t *len)
{
	int fd = open(path, IBCC_FILE_READ_FLAGS), rc;

	st->st_mode = 0;
	*text = NULL;
	rc = fd < 0 ? -errno : ibcc_file_read(fd, max, st, text, len);
	if (fd >= 0)
		close(fd);
	return rc;
}

int ibcc_file_write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno != EINTR)
			return -errno;
		text += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return 0;
}

static int write_and_close(int fd, const char *text, size_t len, mode_t mode)
{
	int rc = ibcc_file_write_all(fd, text, len);

	if (!rc && mode && fchmod(fd, mode))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	return rc;
}

int ibcc_file_put(const char *file, const char *beside, const char *text, size_t len, mode_t mode)
{
	int fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW,
		      mode ? 0600 : 0666);
	int rc = fd < 0 ? -errno : write_and_close(fd, text, len, mode);

	if (!rc && rename(beside, file))
		rc = -errno;
	if (fd >= 0 && rc)
		unlink(beside);
	return rc;
}

/* Whether a path is a device or a pipe, which is written to and not replaced. */
static bool is_stream(const char *file)
{
	struct stat st;

	return !stat(file, &st) && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
}

int ibcc_file_replace(const char *file, const char *text, size_t len)
{
	char *beside = NULL;
	int fd, rc;

	if (is_stream(file)) {
		fd = open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? -errno : write_and_close(fd, text, len, 0);
	}
	if (asprintf(&beside, "%s.%d", file, (int)getpid()) < 0)
		return -ENOMEM;
	rc = ibcc_file_put(file, beside, text, len, 0);
	free(beside);
	return rc;
}

int ibcc_file_write(const char *file, int (*write)(void *arg, FILE *out), void *arg)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	int rc = out ? write(arg, out) : -ENOMEM;

	if (out && (ferror(out) | fclose(out)) && !rc)
		rc = -ENOMEM;
	if (!rc)
		rc = ibcc_file_replace(file, text, len);
	free(text);
	return rc;
}
