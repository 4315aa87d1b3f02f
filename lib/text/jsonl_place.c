/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Addresses of local stream sockets: a path or an abstract name; listening there without ever
 * replacing the socket of a live process (jsonl_place.h).
 */
#include "lib/text/jsonl_place.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#define BACKLOG 16

int ibcc_place_of(const char *text, struct ibcc_place *p)
{
	size_t len = strlen(text);

	*p = (struct ibcc_place){ .sa.sun_family = AF_UNIX, .len = sizeof(p->sa) };
	if (len >= sizeof(p->sa.sun_path))
		return -ENAMETOOLONG;
	memcpy(p->sa.sun_path, text, len);
	if (text[0] == '@') {
		p->sa.sun_path[0] = '\0';
		p->len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len);
	}
	return 0;
}

bool ibcc_place_is_abstract(const struct ibcc_place *p)
{
	return !p->sa.sun_path[0];
}

/* A stopped server accepts no connection, so connecting has the time limit, too. */
int ibcc_place_dial(const struct ibcc_place *p, const struct timeval *limit)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), err;

	if (fd >= 0 && !setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, limit, sizeof(*limit)) &&
	    !setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, limit, sizeof(*limit)) &&
	    !connect(fd, (const struct sockaddr *)&p->sa, p->len))
		return fd;
	err = -errno;
	if (fd >= 0)
		close(fd);
	return err;
}

/* Removes the socket that a dead process left at a path. Only a refused connection proves that no
 * process listens there. */
static int take(const struct ibcc_place *p)
{
	struct stat st;
	int fd, err;

	if (ibcc_place_is_abstract(p))
		return 0;
	if (lstat(p->sa.sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EEXIST;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	err = connect(fd, (const struct sockaddr *)&p->sa, p->len) ? errno : 0;
	close(fd);
	if (err != ECONNREFUSED)
		return -EADDRINUSE;
	return unlink(p->sa.sun_path) && errno != ENOENT ? -errno : 0;
}

int ibcc_place_listen(struct ibcc_place *p)
{
	int rc = take(p), fd;
	struct stat st;
	mode_t mask;

	if (rc)
		return rc;
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	mask = umask(0117);
	rc = bind(fd, (struct sockaddr *)&p->sa, p->len) ? -errno : 0;
	umask(mask);
	if (!rc && !ibcc_place_is_abstract(p) && !lstat(p->sa.sun_path, &st)) {
		p->dev = st.st_dev;
		p->ino = st.st_ino;
	}
	if (!rc && listen(fd, BACKLOG))
		rc = -errno;
	if (!rc)
		return fd;
	ibcc_place_leave(p, fd);
	return rc;
}

bool ibcc_place_is_ours(const struct ibcc_place *p)
{
	struct stat st;

	return ibcc_place_is_abstract(p) || (p->ino && !lstat(p->sa.sun_path, &st) &&
					     st.st_dev == p->dev && st.st_ino == p->ino);
}

void ibcc_place_open_to_all(const struct ibcc_place *p, bool all)
{
	if (p->ino && ibcc_place_is_ours(p))
		chmod(p->sa.sun_path, all ? 0666 : 0660);
}

void ibcc_place_leave(const struct ibcc_place *p, int fd)
{
	/* Another process's socket may be there by now, or ours never was. */
	if (p->ino && ibcc_place_is_ours(p))
		unlink(p->sa.sun_path);
	close(fd);
}
