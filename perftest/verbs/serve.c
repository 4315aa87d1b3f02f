/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "perftest/bench/bench.h"
#include "perftest/verbs/session.h"
#include "perftest/verbs/token.h"
#include "perftest/verbs/wire.h"

#define SESSIONS_MAX 64

struct server {
	struct ibcc_perf_session_options o;
	int listen_fd, signal_fd;
	pid_t child[SESSIONS_MAX];
	int n_children;
};

static void child_main(struct server *s, int fd, pid_t parent)
{
	struct ibcc_why e = { "" };
	sigset_t none;
	int rc;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	close(s->listen_fd);
	close(s->signal_fd);
	if (getppid() != parent)
		_exit(IBCC_EXIT_ERROR);
	rc = ibcc_perf_session(fd, &s->o, &e);
	if (rc)
		fprintf(stderr, "ibcc-perf: %s\n", e.text);
	_exit(rc ? IBCC_EXIT_ERROR : IBCC_EXIT_OK);
}

static void accept_one(struct server *s)
{
	int fd = accept4(s->listen_fd, NULL, NULL, SOCK_CLOEXEC);
	pid_t pid, parent = getpid();

	if (fd < 0)
		return;
	if (s->n_children == SESSIONS_MAX) {
		fprintf(stderr, "ibcc-perf: refused a coordinator, since it serves %d already\n",
			SESSIONS_MAX);
		close(fd);
		return;
	}
	pid = fork();
	if (!pid)
		child_main(s, fd, parent);
	if (pid < 0)
		fprintf(stderr, "ibcc-perf: fork: %s\n", strerror(errno));
	else
		s->child[s->n_children++] = pid;
	close(fd);
}

static void reap(struct server *s)
{
	int i, status;

	for (i = 0; i < s->n_children;) {
		if (waitpid(s->child[i], &status, WNOHANG) != s->child[i]) {
			i++;
			continue;
		}
		if (WIFSIGNALED(status))
			fprintf(stderr,
				"ibcc-perf: signal %d ended a session; the run of its coordinator "
				"fails\n",
				WTERMSIG(status));
		s->child[i] = s->child[--s->n_children];
	}
}

/* Serves until a signal ends it. */
static int serve(struct server *s)
{
	struct pollfd p[2] = { { .fd = s->listen_fd, .events = POLLIN },
			       { .fd = s->signal_fd, .events = POLLIN } };
	struct signalfd_siginfo info;

	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			return IBCC_EXIT_ERROR;
		if (p[1].revents && read(s->signal_fd, &info, sizeof(info)) == sizeof(info)) {
			if (info.ssi_signo == SIGCHLD) {
				reap(s);
				continue;
			}
			fprintf(stderr, "ibcc-perf: ends, since it got a signal: %s\n",
				strsignal((int)info.ssi_signo));
			for (int i = 0; i < s->n_children; i++)
				kill(s->child[i], SIGTERM);
			while (s->n_children)
				waitpid(s->child[--s->n_children], NULL, 0);
			return IBCC_EXIT_OK;
		}
		if (p[0].revents)
			accept_one(s);
	}
}

/* Whether only this machine can connect; other clients need a token. `bound` has numbers only. */
static bool is_local(const char *bound)
{
	return !strncmp(bound, "127.", 4) || !strncmp(bound, "[::1]", 5);
}

struct options {
	const char *address, *token_file;
};

static const struct ibcc_option options[] = {
	{ "listen", 0, IBCC_OPTION_TEXT, "ADDRESS",
	  "listen at HOST or HOST:PORT (default 127.0.0.1,\nport " IBCC_PERF_PORT_TEXT ")",
	  .at = offsetof(struct options, address) },
	{ "token-file", 0, IBCC_OPTION_TEXT, "FILE",
	  "file with the token that ibcc-perf run has to know",
	  .at = offsetof(struct options, token_file) },
};

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options opt = { .address = "127.0.0.1" };
	struct server s = { .o = { .sysfs = "/sys" }, .listen_fd = -1, .signal_fd = -1 };
	struct ibcc_why e = { "" };
	char bound[160], *token = NULL;
	sigset_t signals;
	int first, exit = IBCC_EXIT_ERROR;

	if (ibcc_command_read(c, argc, argv, &opt, &first))
		return IBCC_EXIT_ERROR;
	if (opt.token_file && !(token = ibcc_perf_token(opt.token_file)))
		return IBCC_EXIT_ERROR;
	s.o.token = token;
	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigaddset(&signals, SIGCHLD);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	s.signal_fd = signalfd(-1, &signals, SFD_CLOEXEC);
	s.listen_fd = ibcc_perf_wire_listen(opt.address, bound, sizeof(bound), &e);
	if (s.listen_fd < 0) {
		fprintf(stderr, "ibcc-perf: %s\n", e.text);
	} else if (!token && !is_local(bound)) {
		fprintf(stderr,
			"ibcc-perf: serve: any program that reaches %s could use this host's RDMA "
			"devices: give it a --token-file\n",
			opt.address);
	} else {
		printf("ready %s\n", bound);
		fflush(stdout);
		exit = serve(&s);
	}
	if (s.listen_fd >= 0)
		close(s.listen_fd);
	if (s.signal_fd >= 0)
		close(s.signal_fd);
	free(token);
	return exit;
}

const struct ibcc_command ibcc_perf_serve = {
	.name = "serve",
	.what = "take part in plans: start it on each host",
	.want = "no arguments",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
