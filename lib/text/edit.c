/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Changes of a file of the administrator's (edit.h).
 *
 * All goes through one descriptor of the folder, to which the path was walked without a link, so
 * that nothing on the way can be exchanged for something else meanwhile. A change has these steps,
 * each one a rename after an fsync of what is renamed, and before an fsync of the folder:
 *
 *	1. FILE.ibcc-next, if a crash left it and FILE equals it, becomes FILE.ibcc-after
 *	2. FILE becomes FILE.ibcc-before, if it is not a version of ours
 *	3. the new text becomes FILE.ibcc-next
 *	4. and FILE
 *	5. FILE.ibcc-next becomes FILE.ibcc-after
 *
 * After a crash at any of them, a version of ours is still known as one.
 */
#include <ibcc/edit.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <ibcc/file.h>

#define AFTER   ".ibcc-after"
#define NEXT    ".ibcc-next"
#define SCRATCH ".ibcc-new" /* what is being written; worth nothing after a crash */
#define LOCK    ".ibcc-lock"

/* Makes the path absolute. The working folder has no links in its name. */
static char *absolute(const char *file)
{
	char *here, *path = NULL;

	if (*file == '/')
		return strdup(file);
	here = getcwd(NULL, 0);
	if (here && asprintf(&path, "%s/%s", here, file) < 0)
		path = NULL;
	free(here);
	return path;
}

/* May only root and ourselves change what is in this folder? */
static int check_folder(int fd, const char *path, size_t len, bool is_last, struct ibcc_why *why)
{
	struct stat st;

	len = len ? len : 1;
	if (fstat(fd, &st))
		return ibcc_why_set(why, -errno, "%.*s: %s", (int)len, path, strerror(errno));
	if (st.st_uid && st.st_uid != geteuid())
		return ibcc_why_set(
			why, -EPERM,
			"the folder %.*s belongs to user ID %u, and that user could "
			"exchange the file: the file was not changed; change it as that user",
			(int)len, path, (unsigned int)st.st_uid);
	if (st.st_mode & (S_IWGRP | S_IWOTH) && (is_last || !(st.st_mode & S_ISVTX)))
		return ibcc_why_set(
			why, -EPERM,
			"other users can write to the folder %.*s (mode %04o), and "
			"could exchange the file: the file was not changed; take that right away "
			"first, such as by chmod go-w",
			(int)len, path, (unsigned int)st.st_mode & 07777);
	return 0;
}

static int refuse_link(const char *path, size_t len, struct ibcc_why *why)
{
	char *real = realpath(path, NULL);

	ibcc_why_set(why, -ELOOP,
		     "%.*s is a symbolic link: the file was not changed; give the path without "
		     "links%s%s",
		     (int)len, path, real ? ": " : "", real ? real : "");
	free(real);
	return -ELOOP;
}

/* Opens the folder of e->path, part by part. */
static int open_folder(struct ibcc_edit *e, struct ibcc_why *why)
{
	char *path = e->path, *part = path, *slash;
	struct stat st;
	int fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC), next, rc;

	if (fd < 0)
		return ibcc_why_set(why, -errno, "/: %s", strerror(errno));
	for (;;) {
		slash = strchr(part, '/');
		e->name = part;
		rc = check_folder(fd, path, (size_t)(part - path), !slash, why);
		if (rc || !slash)
			break;
		*slash = '\0';
		if (!*part) {
			*slash = '/';
			part = slash + 1;
			continue;
		}
		next = openat(fd, part, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
		rc = next < 0 ? -errno : 0;
		if (rc && !fstatat(fd, part, &st, AT_SYMLINK_NOFOLLOW) && S_ISLNK(st.st_mode))
			rc = -ELOOP;
		*slash = '/';
		if (rc == -ELOOP)
			refuse_link(path, (size_t)(slash - path), why);
		else if (rc)
			ibcc_why_set(why, rc, "%.*s: %s", (int)(slash - path), path, strerror(-rc));
		if (rc)
			break;
		close(fd);
		fd = next;
		part = slash + 1;
	}
	if (!rc) {
		e->folder = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (e->folder < 0)
			rc = ibcc_why_set(why, -errno, "the folder of %s: %s", path,
					  strerror(errno));
	}
	close(fd);
	return rc;
}

/* The file's name with more behind it. */
static int name_beside(const struct ibcc_edit *e, const char *suffix, char name[NAME_MAX + 1])
{
	int n = snprintf(name, NAME_MAX + 1, "%s%s", e->name, suffix);

	return n > NAME_MAX ? -ENAMETOOLONG : 0;
}

static int read_plain(int folder, const char *name, size_t max, int *fd, struct stat *st,
		      char **text, size_t *len)
{
	*fd = openat(folder, name, IBCC_FILE_READ_FLAGS | O_NOFOLLOW);
	return *fd < 0 ? -errno : ibcc_file_read(*fd, max, st, text, len);
}

static int check_file(const struct ibcc_edit *e, struct ibcc_why *why)
{
	if (e->st.st_nlink != 1)
		return ibcc_why_set(why, -EPERM,
				    "%s has another name, too (a hard link), which would keep the "
				    "old text: the file was not changed",
				    e->path);
	if (!(e->st.st_mode & (S_IWUSR | S_IWGRP | S_IWOTH)))
		return ibcc_why_set(
			why, -EPERM,
			"%s is read-only (mode %04o): the file was not changed; if that is not on "
			"purpose, run chmod u+w first",
			e->path, (unsigned int)e->st.st_mode & 07777);
	return 0;
}

static int refuse_unread(const struct ibcc_edit *e, int rc, size_t max, struct ibcc_why *why)
{
	if (rc == -EFBIG)
		return ibcc_why_set(why, rc, "%s has more than %zu bytes: it is not read", e->path,
				    max);
	if (rc == -EINVAL)
		return ibcc_why_set(why, rc, "%s is no plain file", e->path);
	return ibcc_why_set(why, rc, "%s: %s", e->path, strerror(-rc));
}

int ibcc_edit_open(const char *file, size_t max, struct ibcc_edit *e, struct ibcc_why *why)
{
	int rc;

	*e = (struct ibcc_edit){ .folder = -1, .fd = -1 };
	e->path = absolute(file);
	if (!e->path)
		return ibcc_why_set(why, -ENOMEM, "%s: no memory", file);
	rc = open_folder(e, why);
	if (rc)
		return rc;
	rc = read_plain(e->folder, e->name, max, &e->fd, &e->st, &e->text, &e->len);
	if (rc == -ELOOP)
		return refuse_link(e->path, strlen(e->path), why);
	return rc ? refuse_unread(e, rc, max, why) : check_file(e, why);
}

int ibcc_edit_read(const char *file, size_t max, struct ibcc_edit *e, struct ibcc_why *why)
{
	int rc;

	*e = (struct ibcc_edit){ .folder = -1, .fd = -1 };
	e->path = absolute(file);
	if (!e->path)
		return ibcc_why_set(why, -ENOMEM, "%s: no memory", file);
	rc = ibcc_file_load(e->path, max, &e->st, &e->text, &e->len);
	return rc ? refuse_unread(e, rc, max, why) : 0;
}

void ibcc_edit_close(struct ibcc_edit *e)
{
	if (e->fd >= 0)
		close(e->fd);
	if (e->folder >= 0)
		close(e->folder);
	free(e->path);
	free(e->text);
	*e = (struct ibcc_edit){ .folder = -1, .fd = -1 };
}

/* Is the file beside FILE a plain one with this text? */
static bool has_text(const struct ibcc_edit *e, const char *suffix, const char *text, size_t len)
{
	char name[NAME_MAX + 1], *is = NULL;
	size_t is_len;
	struct stat st;
	bool same;
	int fd = -1;

	same = !name_beside(e, suffix, name) &&
	       !read_plain(e->folder, name, len, &fd, &st, &is, &is_len) && is_len == len &&
	       !memcmp(is, text, len);
	if (fd >= 0)
		close(fd);
	free(is);
	return same;
}

static bool is_ours(const struct ibcc_edit *e)
{
	return has_text(e, AFTER, e->text, e->len) || has_text(e, NEXT, e->text, e->len);
}

/* Is FILE still the one that was read? Another with the same text can have other rights. */
static bool is_as_read(const struct ibcc_edit *e)
{
	struct stat st;

	return !fstatat(e->folder, e->name, &st, AT_SYMLINK_NOFOLLOW) &&
	       st.st_dev == e->st.st_dev && st.st_ino == e->st.st_ino &&
	       st.st_uid == e->st.st_uid && st.st_gid == e->st.st_gid &&
	       st.st_mode == e->st.st_mode && st.st_nlink == 1 && has_text(e, "", e->text, e->len);
}

/* Not all file systems have them all, and some labels belong to the system. */
static bool may_lack(const char *attribute, int err)
{
	return err == ENOTSUP ||
	       (err == EPERM && strncmp(attribute, "user.", 5) && strncmp(attribute, "system.", 7));
}

/* Are the attribute's bytes a hash of the file that carries it? The kernel makes it for each file,
 * and with a copied one it would refuse to open a file with another text.
 */
static bool is_hash(const char *attribute)
{
	return !strcmp(attribute, "security.ima") || !strcmp(attribute, "security.evm");
}

static int copy_attribute(int from, int to, const char *name)
{
	char value[XATTR_SIZE_MAX];
	ssize_t n = fgetxattr(from, name, value, sizeof(value));

	if (n < 0 || fsetxattr(to, name, value, (size_t)n, 0))
		return may_lack(name, errno) ? 0 : -errno;
	return 0;
}

/* The file of `from` lacks it. A new file can have it from a default ACL of its folder, which would
 * give other users rights that they do not have in the old file.
 */
static int remove_attribute(int from, int to, const char *name)
{
	if (fgetxattr(from, name, NULL, 0) >= 0 || errno != ENODATA || !fremovexattr(to, name))
		return 0;
	return may_lack(name, errno) ? 0 : -errno;
}

static int each_attribute(int of, int from, int to, int (*fn)(int from, int to, const char *name))
{
	char names[XATTR_LIST_MAX];
	ssize_t n = flistxattr(of, names, sizeof(names));
	int rc = n < 0 && errno != ENOTSUP ? -errno : 0;

	for (const char *at = names; !rc && at < names + n; at += strlen(at) + 1)
		if (!is_hash(at))
			rc = fn(from, to, at);
	return rc;
}

/* Makes extended attributes the same: ACLs, labels of SELinux, and the user's own. The flags of
 * chattr(1) are no such attributes, and are not copied.
 */
static int copy_attributes(int from, int to)
{
	int rc = each_attribute(to, from, to, remove_attribute);

	return rc ? rc : each_attribute(from, from, to, copy_attribute);
}

/* The new file was made for its owner alone. Rights come last: a user who could open the file for a
 * moment would keep the descriptor, and read what is written later.
 */
static int make_like(const struct ibcc_edit *e, int fd)
{
	struct stat st;
	int rc;

	if (fstat(fd, &st))
		return -errno;
	if ((st.st_uid != e->st.st_uid || st.st_gid != e->st.st_gid) &&
	    fchown(fd, e->st.st_uid, e->st.st_gid))
		return -errno;
	/* While the folder's ACL is there, the mode's bits of the group would let in its users.
	 * While FILE's ACL is not, they would let in the group.
	 */
	rc = copy_attributes(e->fd, fd);
	if (rc)
		return rc;
	/* After the owner, since a change of it takes bits away. */
	return fchmod(fd, e->st.st_mode & 07777) ? -errno : 0;
}

static int rename_beside(const struct ibcc_edit *e, const char *from, const char *to)
{
	char a[NAME_MAX + 1], b[NAME_MAX + 1];
	int rc = name_beside(e, from, a);

	if (!rc)
		rc = name_beside(e, to, b);
	if (!rc && (renameat(e->folder, a, e->folder, b) || fsync(e->folder)))
		rc = -errno;
	return rc;
}

static int unlink_beside(const struct ibcc_edit *e, const char *suffix)
{
	char name[NAME_MAX + 1];
	int rc = name_beside(e, suffix, name);

	if (!rc && unlinkat(e->folder, name, 0) && errno != ENOENT)
		rc = -errno;
	return rc;
}

/* Writes a text into the scratch file. */
static int write_scratch(const struct ibcc_edit *e, const char *text, size_t len)
{
	char name[NAME_MAX + 1];
	int fd, rc = unlink_beside(e, SCRATCH); /* of a process that was killed */

	if (!rc)
		rc = name_beside(e, SCRATCH, name);
	if (rc)
		return rc;
	fd = openat(e->folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	rc = make_like(e, fd);
	if (!rc)
		rc = ibcc_file_write_all(fd, text, len);
	if (!rc && fsync(fd))
		rc = -errno;
	if (close(fd) && !rc)
		rc = -errno;
	if (rc)
		unlinkat(e->folder, name, 0);
	return rc;
}

static int put_beside(const struct ibcc_edit *e, const char *suffix, const char *text, size_t len)
{
	int rc = write_scratch(e, text, len);

	if (!rc) {
		rc = rename_beside(e, SCRATCH, suffix);
		if (rc)
			unlink_beside(e, SCRATCH);
	}
	return rc;
}

/* Puts a text in FILE's place, if FILE is as it was read to the last. */
static int put_file(const struct ibcc_edit *e, const char *text, size_t len)
{
	int rc = write_scratch(e, text, len);

	if (!rc && !is_as_read(e))
		rc = -ESTALE;
	if (!rc)
		rc = rename_beside(e, SCRATCH, "");
	if (rc)
		unlink_beside(e, SCRATCH);
	return rc;
}

/* Does the lock file still have its name? Its holder removes it at the end. */
static bool is_in_place(const struct ibcc_edit *e, const char *name, int fd)
{
	struct stat held, there;

	return !fstat(fd, &held) && !fstatat(e->folder, name, &there, AT_SYMLINK_NOFOLLOW) &&
	       there.st_dev == held.st_dev && there.st_ino == held.st_ino;
}

/* Opens and locks the lock file. A descriptor or -errno. */
static int take_lock(const struct ibcc_edit *e, const char *name)
{
	static const int flags = O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

	for (;;) {
		int fd = openat(e->folder, name, flags, 0600), rc;

		if (fd < 0)
			return -errno;
		rc = flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
		if (!rc && is_in_place(e, name, fd))
			return fd;
		close(fd);
		if (rc)
			return rc;
	}
}

/* Keeps out other processes that change the file by these functions. The lock is a file that only
 * we can open: whoever may read the folder or FILE could hold a lock of these for ever. Returns a
 * descriptor or -errno.
 */
static int lock(const struct ibcc_edit *e, struct ibcc_why *why)
{
	char name[NAME_MAX + 1];
	int rc = name_beside(e, LOCK, name), fd = rc ? rc : take_lock(e, name);

	if (fd == -EWOULDBLOCK)
		return ibcc_why_set(why, -EBUSY,
				    "another ibcc-tune is changing %s: the file was not changed; "
				    "try again",
				    e->path);
	if (fd < 0)
		ibcc_why_set(why, fd, "%s cannot be replaced: %s", e->path, strerror(-fd));
	return fd;
}

static void unlock(const struct ibcc_edit *e, int fd)
{
	(void)unlink_beside(e, LOCK);
	close(fd);
}

/* What a failure means for FILE, which was to become `text`. */
static int explain(const struct ibcc_edit *e, int rc, const char *text, size_t len,
		   struct ibcc_why *why)
{
	if (has_text(e, "", text, len))
		return ibcc_why_set(why, rc,
				    "%s was changed, but what followed failed (%s): after a loss "
				    "of power the earlier text could be there again",
				    e->path, strerror(-rc));
	if (rc == -ESTALE)
		return ibcc_why_set(why, rc,
				    "%s was changed after it was read: the file was not changed by "
				    "this command; run it again",
				    e->path);
	return ibcc_why_set(why, rc, "%s cannot be replaced: %s", e->path, strerror(-rc));
}

/* Steps 1 and 2. */
static int keep_before(const struct ibcc_edit *e)
{
	char before[NAME_MAX + 1];
	struct stat st;
	int rc = name_beside(e, IBCC_EDIT_BEFORE, before);

	if (rc)
		return rc;
	if (has_text(e, NEXT, e->text, e->len))
		rc = rename_beside(e, NEXT, AFTER);
	else if (!has_text(e, AFTER, e->text, e->len))
		return put_beside(e, IBCC_EDIT_BEFORE, e->text, e->len);
	/* If it was removed, there is something to undo again from now on. */
	if (!rc && fstatat(e->folder, before, &st, AT_SYMLINK_NOFOLLOW) && errno == ENOENT)
		rc = put_beside(e, IBCC_EDIT_BEFORE, e->text, e->len);
	return rc;
}

int ibcc_edit_write(struct ibcc_edit *e, const char *text, size_t len, struct ibcc_why *why)
{
	int fd = lock(e, why), rc;

	if (fd < 0)
		return fd;
	rc = is_as_read(e) ? keep_before(e) : -ESTALE;
	if (!rc)
		rc = put_beside(e, NEXT, text, len);
	if (!rc) {
		rc = put_file(e, text, len);
		/* It can have failed after the rename. FILE is known as ours by this copy then. */
		if (rc && !has_text(e, "", text, len))
			unlink_beside(e, NEXT);
	}
	if (!rc)
		rc = rename_beside(e, NEXT, AFTER);
	unlock(e, fd);
	return rc ? explain(e, rc, text, len, why) : 0;
}

int ibcc_edit_read_before(const struct ibcc_edit *e, char **text, size_t *len, struct ibcc_why *why)
{
	char name[NAME_MAX + 1];
	struct stat st;
	int fd = -1, rc = name_beside(e, IBCC_EDIT_BEFORE, name);

	*text = NULL;
	if (!rc)
		rc = read_plain(e->folder, name, 16 * (e->len + 4096), &fd, &st, text, len);
	if (fd >= 0)
		close(fd);
	if (rc == -ENOENT)
		return ibcc_why_set(why, rc,
				    "there is nothing to undo: %s%s, which a change makes, does "
				    "not exist",
				    e->path, IBCC_EDIT_BEFORE);
	if (rc)
		return ibcc_why_set(why, rc, "%s%s cannot be read: %s", e->path, IBCC_EDIT_BEFORE,
				    strerror(-rc));
	if (*len == e->len && !memcmp(*text, e->text, e->len))
		rc = ibcc_why_set(why, -EALREADY, "there is nothing to undo: %s equals %s%s",
				  e->path, e->name, IBCC_EDIT_BEFORE);
	else if (!is_ours(e))
		rc = ibcc_why_set(why, -ESTALE,
				  "%s was changed after ibcc-tune wrote it: it is not undone, as "
				  "that change would be lost; compare it with %s%s",
				  e->path, e->name, IBCC_EDIT_BEFORE);
	if (rc) {
		free(*text);
		*text = NULL;
	}
	return rc;
}

int ibcc_edit_undo(struct ibcc_edit *e, const char *text, size_t len, struct ibcc_why *why)
{
	char *now = NULL;
	size_t now_len = 0;
	int fd = lock(e, why), rc;

	if (fd < 0)
		return fd;
	rc = ibcc_edit_read_before(e, &now, &now_len, why);
	if (!rc && (now_len != len || memcmp(now, text, len)))
		rc = ibcc_why_set(why, -ESTALE,
				  "%s%s was changed after it was read: nothing was undone; run the "
				  "command again",
				  e->path, IBCC_EDIT_BEFORE);
	if (!rc) {
		rc = put_file(e, text, len);
		if (rc)
			explain(e, rc, text, len, why);
	}
	if (!rc) {
		/* What stays does no harm: FILE equals FILE.ibcc-before. */
		(void)unlink_beside(e, AFTER);
		(void)unlink_beside(e, NEXT);
		(void)unlink_beside(e, IBCC_EDIT_BEFORE);
		(void)fsync(e->folder);
	}
	unlock(e, fd);
	free(now);
	return rc;
}
