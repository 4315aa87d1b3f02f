/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* If root starts the daemon: changes to the configured user and keeps no capability (rights.h). */
#include "daemon/rights.h"

#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ibcc/config.h>

#define PASSWD_BYTES 16384      /* for an entry, which may come from a directory */
#define GROUP_BYTES  (1u << 20) /* for a group's entry, which has the names of all its members */
#define MOST_GROUPS  1024
#define PATIENCE_MS  5000

struct account {
	int err; /* 0, or a positive errno; ENOENT: there is no such user */
	uid_t uid;
	int n_groups;
	gid_t gid, group[MOST_GROUPS];
};

static void set_user(struct account *a, const struct passwd *pw)
{
	a->err = 0;
	a->uid = pw->pw_uid;
	a->gid = a->group[0] = pw->pw_gid;
	a->n_groups = 1;
}

static bool has_member(const struct group *gr, const char *user)
{
	for (char *const *m = gr->gr_mem; *m; m++)
		if (!strcmp(*m, user))
			return true;
	return false;
}

static void find_local_groups(const char *user, struct account *a)
{
	char *entry = malloc(GROUP_BYTES);
	FILE *f = fopen("/etc/group", "re");
	struct group gr = { 0 }, *found = NULL;

	while (f && entry && a->n_groups < MOST_GROUPS &&
	       !fgetgrent_r(f, &gr, entry, GROUP_BYTES, &found))
		if (has_member(found, user))
			a->group[a->n_groups++] = found->gr_gid;
	if (!f || !entry)
		a->err = errno;
	if (f)
		fclose(f);
	free(entry);
}

/* Looks in this host's own files, which answer at once. */
static void find_local(const char *user, struct account *a)
{
	FILE *f = fopen("/etc/passwd", "re");
	struct passwd pw = { 0 }, *found = NULL;
	char entry[PASSWD_BYTES];

	*a = (struct account){ .err = ENOENT };
	while (f && a->err && !fgetpwent_r(f, &pw, entry, sizeof(entry), &found))
		if (!strcmp(found->pw_name, user))
			set_user(a, found);
	if (f)
		fclose(f);
	if (!a->err)
		find_local_groups(user, a);
}

/* Asks the name service, which may use a directory server. */
static void find_anywhere(const char *user, struct account *a)
{
	struct passwd entry, *found = NULL;
	char buf[PASSWD_BYTES];
	int n = MOST_GROUPS, err = getpwnam_r(user, &entry, buf, sizeof(buf), &found);

	*a = (struct account){ .err = err ? err : ENOENT };
	if (!found)
		return;
	set_user(a, found);
	if (getgrouplist(user, a->gid, a->group, &n) < 0)
		a->err = E2BIG;
	a->n_groups = n;
}

static bool read_all(int fd, void *buf, size_t len)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char *at = buf;
	ssize_t n = 1;

	/* The child writes everything at once. */
	for (; len && n > 0; at += n, len -= (size_t)n) {
		if (poll(&p, 1, PATIENCE_MS) <= 0)
			return false;
		n = read(fd, at, len);
		if (n <= 0)
			return false;
	}
	return true;
}

/* A lookup cannot be cancelled, and a thread would keep root's rights. So a child does it, which
 * the parent kills if it does not answer.
 */
static void ask_child(const char *user, struct account *a)
{
	int fd[2];
	pid_t child;

	*a = (struct account){ .err = EAGAIN };
	if (pipe(fd))
		return;
	child = fork();
	if (!child) {
		close(fd[0]);
		find_anywhere(user, a);
		_exit(write(fd[1], a, sizeof(*a)) == (ssize_t)sizeof(*a) ? 0 : 1);
	}
	close(fd[1]);
	if (child > 0 && !read_all(fd[0], a, sizeof(*a))) {
		a->err = ETIMEDOUT;
		kill(child, SIGKILL);
	}
	if (child > 0)
		waitpid(child, NULL, 0);
	close(fd[0]);
}

static int become(const struct account *a)
{
	/* Set the groups first: without root's user that is not possible any more. */
	if (setgroups((size_t)a->n_groups, a->group) || setresgid(a->gid, a->gid, a->gid) ||
	    setresuid(a->uid, a->uid, a->uid))
		return -errno;
	/* The kernel drops the capabilities with the last of the three user IDs. */
	return setresuid(0, 0, 0) == 0 ? -EPERM : 0;
}

int ibcc_rights_drop(const char *user, struct ibcc_why *why)
{
	struct account a;
	int rc;

	if (geteuid() != 0 || !strcmp(user, "root"))
		return IBCC_RIGHTS_KEPT;
	find_local(user, &a);
	if (a.err == ENOENT)
		ask_child(user, &a);
	if (a.err == ENOENT && !strcmp(user, IBCC_CONFIG_USER))
		return ibcc_why_set(why, IBCC_RIGHTS_NO_USER,
				    "the daemon runs as root, since this host has no user \"%s\": "
				    "create it, or set another one as user in the configuration",
				    user);
	if (a.err == ENOENT)
		return ibcc_why_set(why, -EINVAL,
				    "user: there is no user \"%s\" on this host, so the daemon "
				    "does not start: create it, or set another one (getent passwd)",
				    user);
	if (a.err == ETIMEDOUT)
		return ibcc_why_set(why, -ETIMEDOUT,
				    "user: \"%s\" is not in /etc/passwd, and the name service does "
				    "not answer, so the daemon does not start: name a user of this "
				    "host, or try again (getent passwd)",
				    user);
	if (a.err)
		return ibcc_why_set(why, -a.err,
				    "user: \"%s\" cannot be looked up, so the daemon does not "
				    "start: %s",
				    user, strerror(a.err));
	if (!a.uid)
		return ibcc_why_set(why, -EINVAL,
				    "user: \"%s\" is root by another name, so the daemon does not "
				    "start: set user: root, if the daemon is to keep root's rights",
				    user);
	rc = become(&a);
	if (rc)
		return ibcc_why_set(why, rc,
				    "the daemon cannot become user \"%s\", so it does not start: "
				    "%s; see user in ibcc-tuned.yaml(5)",
				    user, strerror(-rc));
	return IBCC_RIGHTS_DROPPED;
}
