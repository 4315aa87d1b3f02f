/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "daemon/metrics/metrics_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
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

int ibcc_metrics_file_write(const char *path, const char *text, size_t len, struct ibcc_why *why)
{
	char tmp[PATH_MAX];
	int fd, rc = 0;

	if (snprintf(tmp, sizeof(tmp), "%s.tmp", path) >= (int)sizeof(tmp))
		return ibcc_why_set(why, -ENAMETOOLONG, "metrics_file: %s: too long", path);
	/* What an earlier process left, and nothing that somebody else put there. */
	unlink(tmp);
	fd = open(tmp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return ibcc_why_set(why, -errno, "metrics_file: %s: %s", tmp, strerror(errno));
	rc = write_all(fd, text, len);
	if (!rc && fchmod(fd, 0644))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (!rc && rename(tmp, path))
		rc = -errno;
	if (!rc)
		return 0;
	unlink(tmp);
	return ibcc_why_set(why, rc, "metrics_file: %s: %s", path, strerror(-rc));
}
