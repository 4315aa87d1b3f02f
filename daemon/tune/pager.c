/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Runs the pager as a child that reads this program's standard output (pager.h). */
#include "daemon/tune/pager.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

static bool refused;
static pid_t pager;
static int columns;

void tune_pager_refuse(void)
{
	refused = true;
}

static bool on_path(const char *program)
{
	const char *at = getenv("PATH");
	char path[4096];

	while (at && *at) {
		size_t len = strcspn(at, ":");

		snprintf(path, sizeof(path), "%.*s/%s", (int)len, at, program);
		if (!access(path, X_OK))
			return true;
		at += len + (at[len] == ':');
	}
	return false;
}

/* NULL: none. */
static const char *command(void)
{
	const char *pager_env = getenv("PAGER"), *term = getenv("TERM");

	if (!term || !strcmp(term, "dumb"))
		return NULL;
	if (pager_env)
		return *pager_env && strcmp(pager_env, "cat") ? pager_env : NULL;
	return on_path("less") ? "less" : NULL;
}

static void be_pager(const char *run, const int *pipe_fd)
{
	if (dup2(pipe_fd[0], STDIN_FILENO) < 0)
		_exit(127);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
	setenv("LESS", "FRX", 0);
	execl("/bin/sh", "sh", "-c", run, (char *)NULL);
	_exit(127);
}

void tune_pager_begin(void)
{
	const char *run = command();
	struct winsize w = { 0 };
	int pipe_fd[2];

	if (refused || pager || !run || !isatty(STDOUT_FILENO) || fflush(stdout) ||
	    pipe2(pipe_fd, O_CLOEXEC))
		return;
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &w) || !w.ws_col)
		w.ws_col = 80;
	pager = fork();
	if (!pager)
		be_pager(run, pipe_fd);
	if (pager > 0 && dup2(pipe_fd[1], STDOUT_FILENO) >= 0)
		columns = w.ws_col;
	else
		pager = 0;
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

int tune_pager_columns(void)
{
	return columns;
}

void tune_pager_end(void)
{
	if (pager <= 0)
		return;
	fflush(stdout);
	close(STDOUT_FILENO);
	while (waitpid(pager, NULL, 0) < 0 && errno == EINTR)
		;
	pager = 0;
}
