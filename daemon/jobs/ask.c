/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Clients of batch systems hang, fail, and leave processes behind. Whatever they do, asking one
 * takes a bounded time and a bounded memory (ask.h).
 */
#include "daemon/jobs/ask.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ibcc/clean.h>
#include <ibcc/file.h>
#include <ibcc/jobs.h>
#include <ibcc/now.h>

#define FIRST_ROOM 65536u
#define LOOK_MS    10   /* between two looks at whether a child has ended */
#define KILL_MS    2000 /* a child that was killed ends within this time, or hangs in the kernel */
#define COMPLAINT  120u /* bytes of what a program says on stderr */

/* What is read from a program. */
struct text {
	char *at;
	size_t n, room;
};

struct child {
	const char *name;
	pid_t pid;
	int out, err;                  /* our ends of its pipes */
	struct text text;              /* what it has printed */
	char complaint[COMPLAINT + 1]; /* the beginning of what it says on stderr */
	size_t n_complaint;
	int64_t until_ms;
};

/* Reads once. 1: at the end; -EFBIG: it is longer than a map may be. */
static int read_more(int fd, struct text *t)
{
	ssize_t n;
	char *more;

	if (t->room - t->n < FIRST_ROOM) {
		size_t room = t->room ? 2 * t->room : 2 * FIRST_ROOM;

		more = realloc(t->at, room);
		if (!more)
			return -ENOMEM;
		t->at = more;
		t->room = room;
	}
	n = read(fd, t->at + t->n, t->room - t->n);
	if (n < 0)
		return errno == EINTR || errno == EAGAIN ? 0 : -errno;
	t->n += (size_t)n;
	return t->n > IBCC_JOBS_FILE_BYTES ? -EFBIG : !n;
}

/* Reads once what the program complains about, and keeps the beginning. True: no more comes. */
static bool read_complaint(struct child *c)
{
	char buf[4096];
	ssize_t n = read(c->err, buf, sizeof(buf));

	if (n > 0 && c->n_complaint < COMPLAINT) {
		size_t room = COMPLAINT - c->n_complaint;
		size_t take = (size_t)n < room ? (size_t)n : room;

		memcpy(c->complaint + c->n_complaint, buf, take);
		c->n_complaint += take;
	}
	return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

static int set_up(posix_spawnattr_t *attr, posix_spawn_file_actions_t *files, int out, int err)
{
	sigset_t none, all;
	int rc;

	sigemptyset(&none);
	sigfillset(&all);
	rc = posix_spawnattr_setflags(attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
						    POSIX_SPAWN_SETSIGDEF);
	rc = rc ? rc : posix_spawnattr_setpgroup(attr, 0);
	rc = rc ? rc : posix_spawnattr_setsigmask(attr, &none);
	rc = rc ? rc : posix_spawnattr_setsigdefault(attr, &all);
	rc = rc ? rc : posix_spawn_file_actions_addopen(files, 0, "/dev/null", O_RDONLY, 0);
	rc = rc ? rc : posix_spawn_file_actions_adddup2(files, out, 1);
	return rc ? rc : posix_spawn_file_actions_adddup2(files, err, 2);
}

/* Returns 0 or a positive errno, as posix_spawn() does. */
static int spawn(struct child *c, const char *const *argv, int out, int err)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	int rc = posix_spawnattr_init(&attr);

	if (rc)
		return rc;
	rc = posix_spawn_file_actions_init(&files);
	if (!rc) {
		rc = set_up(&attr, &files, out, err);
		if (!rc)
			rc = posix_spawnp(&c->pid, argv[0], &files, &attr, (char *const *)argv,
					  environ);
		posix_spawn_file_actions_destroy(&files);
	}
	posix_spawnattr_destroy(&attr);
	return rc;
}

static int start(struct child *c, const char *const *argv, struct ibcc_why *why)
{
	int out[2], err[2] = { -1, -1 }, rc;

	if (pipe2(out, O_CLOEXEC))
		return ibcc_why_set(why, -EIO, "ibcc-jobs cannot start %.80s: %s", c->name,
				    strerror(errno));
	rc = pipe2(err, O_CLOEXEC) ? errno : spawn(c, argv, out[1], err[1]);
	close(out[1]);
	if (err[1] >= 0)
		close(err[1]);
	c->out = out[0];
	c->err = err[0];
	if (!rc) {
		fcntl(c->out, F_SETFL, O_NONBLOCK);
		fcntl(c->err, F_SETFL, O_NONBLOCK);
		return 0;
	}
	close(c->out);
	if (c->err >= 0)
		close(c->err);
	if (rc == ENOENT)
		return ibcc_why_set(why, -EIO,
				    "ibcc-jobs does not find the program %s; install it on this "
				    "host, or correct the PATH of ibcc-jobs.service",
				    c->name);
	return ibcc_why_set(why, -EIO, "ibcc-jobs cannot start %.80s: %s", c->name, strerror(rc));
}

/* Waits until one of the descriptors can be read. 0, -ETIME or -ECANCELED. */
static int wait_for(const struct ibcc_ask *a, int64_t until_ms, struct pollfd *fds, nfds_t n)
{
	int64_t left_ms = until_ms - ibcc_now_ms();

	fds[n] = (struct pollfd){ .fd = a->stop_fd, .events = POLLIN };
	if (left_ms <= 0)
		return -ETIME;
	poll(fds, n + 1, (int)left_ms);
	return fds[n].revents ? -ECANCELED : 0;
}

/* Takes what the child prints up to its end. */
static int listen_to(const struct ibcc_ask *a, struct child *c)
{
	bool quiet = false;
	int rc = 0;

	while (!rc) {
		struct pollfd fds[3] = { { .fd = c->out, .events = POLLIN },
					 { .fd = quiet ? -1 : c->err, .events = POLLIN } };

		rc = wait_for(a, c->until_ms, fds, 2);
		if (!rc && fds[1].revents)
			quiet = read_complaint(c);
		if (!rc && fds[0].revents)
			rc = read_more(c->out, &c->text);
	}
	if (rc == 1 && !quiet)
		read_complaint(c);
	return rc == 1 ? 0 : rc;
}

static bool has_ended(pid_t pid)
{
	siginfo_t info = { 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) || info.si_pid;
}

/* Waits for the end of a child that prints nothing more. */
static int wait_end(const struct ibcc_ask *a, const struct child *c)
{
	int rc = 0;

	while (!rc && !has_ended(c->pid)) {
		struct pollfd fds[1];

		rc = wait_for(a, ibcc_now_ms() + LOOK_MS, fds, 0);
		if (!rc && ibcc_now_ms() >= c->until_ms)
			rc = -ETIME;
	}
	return rc;
}

/* Kills what is left of the group, while the child still has its number, and takes the child's exit
 * status. One that hangs in the kernel is left for later.
 */
static int finish(struct ibcc_ask *a, const struct child *c)
{
	int64_t until_ms = ibcc_now_ms() + KILL_MS;
	int status = 0;
	pid_t pid;

	kill(-c->pid, SIGKILL);
	while (!(pid = waitpid(c->pid, &status, WNOHANG)) && ibcc_now_ms() < until_ms)
		poll(NULL, 0, LOOK_MS);
	if (!pid)
		a->left = c->pid;
	return status;
}

/* What is wrong with how it ended, as a sentence. */
static int judge(struct child *c, int rc, int status, unsigned int timeout_s, struct ibcc_why *why)
{
	c->complaint[c->n_complaint] = '\0';
	c->complaint[strcspn(c->complaint, "\n")] = '\0';
	ibcc_clean(c->complaint, "");
	switch (rc) {
	case 0: break;
	case -ETIME:
		return ibcc_why_set(
			why, -EIO,
			"%.80s had not ended after %u s and was killed; see whether the "
			"batch system answers",
			c->name, timeout_s);
	case -EFBIG:
		return ibcc_why_set(why, -EIO, "%.80s printed more than %d bytes and was killed",
				    c->name, IBCC_JOBS_FILE_BYTES);
	default: return rc;
	}
	if (WIFSIGNALED(status))
		return ibcc_why_set(why, -EIO, "%.80s was ended by signal %d", c->name,
				    WTERMSIG(status));
	if (WEXITSTATUS(status))
		return ibcc_why_set(why, -EIO, "%.80s ended with exit code %d%s%s", c->name,
				    WEXITSTATUS(status), c->complaint[0] ? ": " : "", c->complaint);
	return 0;
}

int ibcc_ask_program(struct ibcc_ask *a, const char *name, const char *const *argv,
		     unsigned int timeout_s, char **text, size_t *len, struct ibcc_why *why)
{
	struct child c = { .name = name, .until_ms = ibcc_now_ms() + INT64_C(1000) * timeout_s };
	int rc;

	*text = NULL;
	*len = 0;
	if (a->left && !waitpid(a->left, NULL, WNOHANG))
		return ibcc_why_set(why, -EIO,
				    "process %d was killed and does not end; it may wait for a "
				    "file server",
				    (int)a->left);
	a->left = 0;
	rc = start(&c, argv, why);
	if (rc)
		return rc;
	rc = listen_to(a, &c);
	if (!rc)
		rc = wait_end(a, &c);
	rc = judge(&c, rc, finish(a, &c), timeout_s, why);
	close(c.out);
	close(c.err);
	if (rc) {
		free(c.text.at);
		return rc;
	}
	*text = c.text.at;
	*len = c.text.n;
	return 0;
}

int ibcc_ask_file(const char *path, char **text, size_t *len, struct ibcc_why *why)
{
	struct stat st;
	int rc = ibcc_file_load(path, IBCC_JOBS_FILE_BYTES, &st, text, len);

	if (rc == -EISDIR || rc == -EINVAL)
		return ibcc_why_set(why, -EIO, "%s is no regular file", path);
	if (rc == -EFBIG)
		return ibcc_why_set(why, -EIO, "%s has more than %d bytes", path,
				    IBCC_JOBS_FILE_BYTES);
	if (rc && rc != -ENOMEM)
		rc = ibcc_why_set(why, -EIO, "%s cannot be read: %s", path, strerror(-rc));
	return rc;
}
