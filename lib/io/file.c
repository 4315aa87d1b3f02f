/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <ibcc/file.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int write_all(int fd, const char *text, size_t len)
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

/* Something that cannot be replaced. */
static bool is_stream(const char *file)
{
	struct stat st;

	return !stat(file, &st) && (S_ISCHR(st.st_mode) || S_ISFIFO(st.st_mode));
}

int ibcc_file_replace(const char *file, const char *text, size_t len)
{
	bool stream = is_stream(file);
	char *tmp = NULL;
	int fd, rc;

	if (asprintf(&tmp, "%s.%d", file, (int)getpid()) < 0)
		return -ENOMEM;
	fd = stream ? open(file, O_WRONLY | O_CLOEXEC | O_NOCTTY)
		    : open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	rc = fd < 0 ? -errno : write_all(fd, text, len);
	if (fd >= 0 && close(fd) && !rc)
		rc = -errno;
	if (!stream && !rc && rename(tmp, file))
		rc = -errno;
	if (!stream && fd >= 0 && rc)
		unlink(tmp);
	free(tmp);
	return rc;
}
