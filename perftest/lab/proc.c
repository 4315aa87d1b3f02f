/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/now.h>

#include "perftest/lab/proc.h"

static void nap_ms(int ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000L }, NULL);
}

/* In the child: never returns. out_fd becomes stdout, and stderr too unless err_fd is another. */
static void become(const char *const argv[], int out_fd, int err_fd, pid_t parent)
{
	int null = open("/dev/null", O_RDONLY);

	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(127);
	if (null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out_fd, STDOUT_FILENO) < 0 ||
	    dup2(err_fd, STDERR_FILENO) < 0)
		_exit(127);
	execvp(argv[0], (char *const *)argv);
	dprintf(STDERR_FILENO, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

int ibcc_proc_start(struct ibcc_proc *p, const char *name, const char *log,
		    const char *const argv[])
{
	pid_t parent = getpid();
	int fd;

	p->pid = 0;
	p->name = name;
	snprintf(p->log, sizeof(p->log), "%s", log);
	fd = open(log, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC | O_APPEND, 0644);
	if (fd < 0)
		return -errno;
	p->pid = fork();
	if (p->pid == 0)
		become(argv, fd, fd, parent);
	close(fd);
	if (p->pid < 0) {
		p->pid = 0;
		return -errno;
	}
	return 0;
}

bool ibcc_proc_alive(struct ibcc_proc *p)
{
	if (p->pid > 0 && waitpid(p->pid, NULL, WNOHANG) == p->pid)
		p->pid = 0;
	return p->pid > 0;
}

static bool file_has(const char *path, const char *word)
{
	char *text = NULL;
	size_t len = 0;
	bool found = false;
	FILE *f = fopen(path, "r");

	if (!f)
		return false;
	while (!found && getline(&text, &len, f) > 0)
		found = strstr(text, word);
	free(text);
	fclose(f);
	return found;
}

int ibcc_proc_wait_log(struct ibcc_proc *p, const char *log, const char *word, int timeout_ms)
{
	long long end = ibcc_now_ms() + timeout_ms;

	for (;;) {
		bool alive = ibcc_proc_alive(p);

		if (file_has(log, word))
			return 0;
		if (!alive)
			return -ESRCH;
		if (ibcc_now_ms() > end)
			return -ETIMEDOUT;
		nap_ms(50);
	}
}

int ibcc_proc_stop(struct ibcc_proc *p, int grace_ms)
{
	long long end = ibcc_now_ms() + grace_ms;

	if (!ibcc_proc_alive(p))
		return 0;
	kill(p->pid, SIGTERM);
	while (ibcc_now_ms() < end) {
		if (!ibcc_proc_alive(p))
			return 0;
		nap_ms(20);
	}
	kill(p->pid, SIGKILL);
	waitpid(p->pid, NULL, 0);
	p->pid = 0;
	return -ETIMEDOUT;
}

/* Reads all until the writer closes or the time is over. */
static char *read_all(int fd, long long end, int *err)
{
	char *text = NULL, chunk[4096];
	size_t len = 0;

	for (;;) {
		struct pollfd pfd = { .fd = fd, .events = POLLIN };
		long long left = end - ibcc_now_ms();
		ssize_t n;
		char *grown;

		if (left <= 0 || poll(&pfd, 1, (int)left) == 0) {
			*err = -ETIMEDOUT;
			break;
		}
		n = read(fd, chunk, sizeof(chunk));
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			*err = -errno;
		grown = realloc(text, len + (n > 0 ? (size_t)n : 0) + 1);
		if (!grown) {
			*err = -ENOMEM;
			break;
		}
		text = grown;
		if (n > 0)
			memcpy(text + len, chunk, (size_t)n);
		len += n > 0 ? (size_t)n : 0;
		text[len] = '\0';
		if (n <= 0)
			break;
	}
	return text;
}

char *ibcc_proc_output(const char *const argv[], int timeout_ms, int *err)
{
	long long end = ibcc_now_ms() + timeout_ms;
	pid_t parent = getpid(), pid;
	int fd[2], status = 0;
	char *text;

	*err = 0;
	if (pipe2(fd, O_CLOEXEC) < 0) {
		*err = -errno;
		return NULL;
	}
	pid = fork();
	if (pid == 0)
		become(argv, fd[1], STDERR_FILENO, parent);
	close(fd[1]);
	if (pid < 0) {
		*err = -errno;
		close(fd[0]);
		return NULL;
	}
	text = read_all(fd[0], end, err);
	close(fd[0]);
	if (*err)
		kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!*err && (!WIFEXITED(status) || WEXITSTATUS(status)))
		*err = -EREMOTEIO;
	if (*err) {
		free(text);
		text = NULL;
	}
	return text;
}

json_t *ibcc_proc_json(const char *const argv[], int timeout_ms, int *err)
{
	char *text = ibcc_proc_output(argv, timeout_ms, err);
	json_t *o = text ? json_loads(text, 0, NULL) : NULL;

	free(text);
	if (!o && !*err)
		*err = -EPROTO;
	return o;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *f)
{
	(void)st;
	(void)type;
	(void)f;
	return remove(path);
}

void ibcc_proc_remove(const char *folder)
{
	nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}
