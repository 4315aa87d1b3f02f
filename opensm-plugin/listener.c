/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The socket that clients connect to (listener.h). It is made under another name, gets its group
 * and permissions, begins to listen, and only then takes its place. So a client never finds a
 * socket that it may not use or that is not served.
 */
#include "opensm-plugin/listener.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 16

void ibcc_listener_init(struct ibcc_listener *l)
{
	memset(l, 0, sizeof(*l));
	l->fd = -1;
}

static struct sockaddr_un address_of(const char *path)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	snprintf(a.sun_path, sizeof(a.sun_path), "%s", path);
	return a;
}

/* Returns 0 if the place for a socket is free or has a stale one; else -EADDRINUSE. */
static int check_place(const char *path)
{
	struct sockaddr_un a = address_of(path);
	struct stat st;
	int fd, ret;

	if (lstat(path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -EADDRINUSE;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Only a refused connection proves that no process listens; EAGAIN is a full backlog. */
	ret = connect(fd, (struct sockaddr *)&a, sizeof(a)) && errno == ECONNREFUSED ? 0
										     : -EADDRINUSE;
	close(fd);
	return ret;
}

static int make_directory(const char *path)
{
	char dir[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return 0;
	*slash = '\0';
	return mkdir(dir, 0755) && errno != EEXIST ? -errno : 0;
}

/* Sets group and permissions of the socket. OpenSM runs as root, and the directory may belong to
 * the clients' user. That user could replace the socket by a link. So the file is opened first,
 * must be a socket, and is changed through its descriptor.
 */
static int give_access(const char *name, const struct ibcc_plugin_options *o, struct stat *st)
{
	int fd = open(name, O_PATH | O_NOFOLLOW | O_CLOEXEC), ret = 0;
	char held[32];

	if (fd < 0)
		return -errno;
	snprintf(held, sizeof(held), "/proc/self/fd/%d", fd);
	if (fstat(fd, st))
		ret = -errno;
	else if (!S_ISSOCK(st->st_mode))
		ret = -ENOTSOCK;
	else if ((o->gid != (gid_t)-1 && fchownat(fd, "", (uid_t)-1, o->gid, AT_EMPTY_PATH)) ||
		 chmod(held, o->mode))
		ret = -errno;
	close(fd);
	return ret;
}

static int listen_at(int fd, const char *name, const struct ibcc_plugin_options *o, struct stat *st)
{
	struct sockaddr_un a = address_of(name);
	int ret;

	if (bind(fd, (struct sockaddr *)&a, sizeof(a)))
		return -errno;
	ret = give_access(name, o, st);
	if (!ret && (listen(fd, BACKLOG) || rename(name, o->socket)))
		ret = -errno;
	if (ret)
		unlink(name);
	return ret;
}

int ibcc_listener_open(struct ibcc_listener *l, const struct ibcc_plugin_options *o)
{
	char name[sizeof(l->path)];
	struct stat st;
	int fd, ret;

	if ((size_t)snprintf(name, sizeof(name), "%s.%ld", o->socket, (long)getpid()) >=
	    sizeof(name))
		return -ENAMETOOLONG;
	ret = make_directory(o->socket);
	if (!ret)
		ret = check_place(o->socket);
	if (ret)
		return ret;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* A dead process with the same number left it. Nothing but a socket is removed. */
	if (!lstat(name, &st) && S_ISSOCK(st.st_mode))
		unlink(name);
	ret = listen_at(fd, name, o, &st);
	if (ret) {
		close(fd);
		return ret;
	}
	l->fd = fd;
	l->dev = st.st_dev;
	l->ino = st.st_ino;
	strcpy(l->path, o->socket);
	return 0;
}

bool ibcc_listener_in_place(const struct ibcc_listener *l)
{
	struct stat st;

	return l->fd >= 0 && !lstat(l->path, &st) && st.st_dev == l->dev && st.st_ino == l->ino;
}

int ibcc_listener_accept(struct ibcc_listener *l, struct ucred *peer)
{
	socklen_t len = sizeof(*peer);
	int fd = accept4(l->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

	if (fd < 0)
		return -errno;
	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, peer, &len)) {
		int err = errno;

		close(fd);
		return -err;
	}
	return fd;
}

void ibcc_listener_close(struct ibcc_listener *l)
{
	if (l->fd < 0)
		return;
	if (ibcc_listener_in_place(l))
		unlink(l->path);
	close(l->fd);
	l->fd = -1;
}
