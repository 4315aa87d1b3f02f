/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The lock beside the state file, by which only one program at a time writes to a fabric
 * (lock.h): flock() on a file with the holder's process ID. Taking over from a daemon that is not
 * to be stopped uses another kind of lock (F_OFD_SETLK) on the same file.
 */
#include <ibcc/lock.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static int open_folder(const char *path)
{
	char dir[PATH_MAX];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash)
		strcpy(dir, ".");
	else
		slash[slash == dir] = '\0';
	return open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

/* Makes the file. It belongs to the folder's owner, since the daemon runs as another user than
 * root's command line. A descriptor or -errno.
 */
static int create(const char *path)
{
	int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int dir = fd < 0 || geteuid() ? -1 : open_folder(path);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (dir >= 0 && !fstat(dir, &st) && fchown(fd, st.st_uid, st.st_gid)) {
		close(fd);
		fd = unlink(path) ? -errno : -EPERM;
	}
	if (dir >= 0)
		close(dir);
	return fd;
}

/* Opens the lock file, made if it is not there, or else its folder. A descriptor or -errno. */
static int open_lock(const char *path)
{
	static const int ways[] = { O_RDWR, O_RDONLY };
	int made = create(path), fd = made;

	for (unsigned int i = 0; fd < 0 && i < 2; i++) {
		fd = open(path, ways[i] | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
		fd = fd < 0 ? -errno : fd;
	}
	/* If the file cannot be made, the folder is the lock. If only we may not make it (EACCES,
	 * EPERM), we do not use the folder, since other programs could make the file.
	 */
	if (fd == -ENOENT && made != -EACCES && made != -EPERM) {
		fd = open_folder(path);
		fd = fd < 0 ? -errno : fd;
	} else if (fd == -ENOENT) {
		fd = made;
	}
	return fd;
}

/* Whether the file is still at its path. It may have been removed before we had the lock. */
static bool in_place(int fd, const char *path)
{
	struct stat held, there;

	if (fstat(fd, &held) || S_ISDIR(held.st_mode))
		return true;
	return !lstat(path, &there) && there.st_dev == held.st_dev && there.st_ino == held.st_ino;
}

/* The process ID that the holder has written; 0: none. */
static pid_t read_pid(int fd)
{
	char text[16] = "";
	ssize_t n = pread(fd, text, sizeof(text) - 1, 0);
	int pid = n > 0 ? atoi(text) : 0;

	return pid > 0 ? pid : 0;
}

static int busy(int fd, const char *path, struct ibcc_why *why)
{
	pid_t pid = read_pid(fd);

	if (!pid)
		return ibcc_why_set(why, -EBUSY,
				    "another program writes to this fabric: it holds the lock %s",
				    path);
	return ibcc_why_set(why, -EBUSY,
			    "another program writes to this fabric: process %d holds the lock %s",
			    pid, path);
}

static int path_of(const char *state_file, char *path, struct ibcc_why *why)
{
	if (snprintf(path, PATH_MAX, "%s.lock", state_file) >= PATH_MAX)
		return ibcc_why_set(why, -ENAMETOOLONG, "state file: the path is too long");
	return 0;
}

pid_t ibcc_lock_holder(const char *state_file)
{
	char path[PATH_MAX];
	int fd = path_of(state_file, path, NULL)
			 ? -1
			 : open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	pid_t pid = 0;

	if (fd < 0)
		return 0;
	if (flock(fd, LOCK_SH | LOCK_NB) && errno == EWOULDBLOCK)
		pid = read_pid(fd);
	close(fd);
	return pid;
}

int ibcc_lock_take_over(const char *state_file, int *fd, struct ibcc_why *why)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];
	int rc = path_of(state_file, path, why);

	*fd = -1;
	if (rc)
		return rc;
	*fd = open_lock(path);
	rc = *fd < 0 ? *fd : fcntl(*fd, F_OFD_SETLK, &all) ? -errno : 0;
	if (!rc)
		return 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	if (rc == -EAGAIN || rc == -EACCES)
		return ibcc_why_set(
			why, -EBUSY,
			"another program writes in place of the daemon that holds the lock %s",
			path);
	return ibcc_why_set(why, rc,
			    "the lock %s cannot be taken over, so nothing is written: %s; check "
			    "its owner and its rights",
			    path, strerror(-rc));
}

int ibcc_lock_take(const char *state_file, int *fd, struct ibcc_why *why)
{
	char path[PATH_MAX];
	int rc = path_of(state_file, path, why);

	*fd = -1;
	if (rc)
		return rc;
	for (;;) {
		*fd = open_lock(path);
		rc = *fd < 0 ? *fd : flock(*fd, LOCK_EX | LOCK_NB) ? -errno : 0;
		if (rc || in_place(*fd, path))
			break;
		close(*fd);
	}
	if (!rc) {
		/* For programs that find it taken. If the disk is full, they go without. */
		if (!ftruncate(*fd, 0))
			dprintf(*fd, "%d\n", (int)getpid());
		return 0;
	}
	if (rc == -EWOULDBLOCK)
		rc = busy(*fd, path, why);
	else if (rc != -ENOENT && rc != -ENOTDIR)
		ibcc_why_set(why, rc,
			     "the lock %s cannot be taken, so nothing is written: %s; check its "
			     "owner and its rights",
			     path, strerror(-rc));
	else
		rc = 0;
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	return rc;
}
