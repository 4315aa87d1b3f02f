/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Stock ibsim as a child process (ibsim.h). Its console is its standard input. It spins at the
 * end of that file, so the pipe's writing end stays open here as long as ibsim lives. If this
 * process is killed, the kernel ends ibsim, too.
 */
#include "sim/ibsim.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LINE_MAX_BYTES 126u /* ibsim reads 127 */
#define OUT_MAX_BYTES  (1u << 20)
#define LAST_WORDS     2048u
#define PROMPT         "sim> "

struct ibcc_ibsim {
	sd_event *ev;
	pid_t pid;
	int in_fd, out_fd, err_fd;
	sd_event_source *child, *out_src, *err_src;
	ibcc_ibsim_died *died;
	void *died_arg;
	bool ready; /* its first prompt was seen */
	char *out;  /* output since the last prompt */
	size_t out_len;
	ibcc_ibsim_printed *done;
	void *done_arg;
	bool busy;
	char last[LAST_WORDS + 1]; /* end of its standard error */
	size_t last_len;
};

/* In the child: becomes ibsim, which reads its netfile from an inherited descriptor. */
static void child_exec(int in, int out, int err, int netfile, const char *name,
		       const char *const argv[], pid_t parent)
{
	sigset_t none;

	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
	/* In a process group of its own, so that Ctrl-C in the terminal does not end ibsim first.
	 */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fcntl(netfile, F_SETFD, 0);
	if (getppid() == parent && dup2(in, 0) == 0 && dup2(out, 1) == 1 && dup2(err, 2) == 2 &&
	    setenv("IBSIM_SOCKNAME", name, 1) == 0) {
		unsetenv("LD_PRELOAD");
		execvp(argv[0], (char *const *)argv);
		dprintf(2, "%s: %s\n", argv[0], strerror(errno));
	}
	_exit(127);
}

/* Ends the command under way with what was printed before the prompt at `end`. */
static void prompt_seen(struct ibcc_ibsim *s, size_t end)
{
	ibcc_ibsim_printed *done = s->done;

	s->out[end] = '\0';
	s->out_len = 0;
	if (!s->ready) {
		s->ready = true;
		return;
	}
	s->busy = false;
	s->done = NULL;
	if (done)
		done(s->done_arg, s->out);
}

/* Gathers what the console prints until the next prompt. */
static int on_out(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct ibcc_ibsim *s = arg;
	const size_t pl = strlen(PROMPT);
	ssize_t n;

	(void)revents;
	if (s->out_len + pl + 1 >= OUT_MAX_BYTES)
		s->out_len = 0; /* keeps the end of an endless output */
	n = read(fd, s->out + s->out_len, OUT_MAX_BYTES - 1 - s->out_len);
	if (n <= 0) {
		if (n == 0)
			sd_event_source_set_enabled(src, SD_EVENT_OFF);
		return 0;
	}
	s->out_len += (size_t)n;
	if (s->out_len >= pl && !memcmp(s->out + s->out_len - pl, PROMPT, pl))
		prompt_seen(s, s->out_len - pl);
	return 0;
}

/* Keeps the end of ibsim's standard error, to be reported if it dies. */
static int on_err(sd_event_source *src, int fd, uint32_t revents, void *arg)
{
	struct ibcc_ibsim *s = arg;
	char buf[LAST_WORDS];
	ssize_t n = read(fd, buf, sizeof(buf));
	size_t keep;

	(void)revents;
	if (n <= 0) {
		if (n == 0)
			sd_event_source_set_enabled(src, SD_EVENT_OFF);
		return 0;
	}
	keep = LAST_WORDS - (size_t)n;
	if (keep > s->last_len)
		keep = s->last_len;
	memmove(s->last, s->last + s->last_len - keep, keep);
	memcpy(s->last + keep, buf, (size_t)n);
	s->last_len = keep + (size_t)n;
	s->last[s->last_len] = '\0';
	return 0;
}

static int on_child(sd_event_source *src, const siginfo_t *si, void *arg)
{
	struct ibcc_ibsim *s = arg;
	char why[LAST_WORDS + 128];

	s->pid = 0;
	while (s->err_fd >= 0 && sd_event_source_get_enabled(s->err_src, NULL) > 0) {
		size_t before = s->last_len;

		on_err(s->err_src, s->err_fd, EPOLLIN, s);
		if (s->last_len == before)
			break;
	}
	snprintf(why, sizeof(why), "ibsim %s %d%s%s",
		 si->si_code == CLD_EXITED ? "ended with status" : "was ended by signal",
		 si->si_status, s->last_len ? "; its last output:\n" : "", s->last);
	sd_event_source_set_enabled(src, SD_EVENT_OFF);
	if (s->done)
		s->done(s->done_arg, "ibsim has ended\n");
	s->done = NULL;
	if (s->died)
		s->died(s->died_arg, why); /* which may free it */
	return 0;
}

/* Starts the child, with its three standard streams as pipes. */
static int spawn(struct ibcc_ibsim *s, int fd, const char *name, const struct ibcc_ibsim_limits *l)
{
	char nodes[16], switches[16], ports[16], fd_path[32];
	const char *argv[16] = { "ibsim", "-s" };
	int in[2] = { -1, -1 }, out[2] = { -1, -1 }, err[2] = { -1, -1 };
	int n = 2, r = 0;
	pid_t parent = getpid();

	if (l->nodes) {
		snprintf(nodes, sizeof(nodes), "%u", l->nodes);
		snprintf(switches, sizeof(switches), "%u", l->switches);
		snprintf(ports, sizeof(ports), "%u", l->ports);
		argv[n++] = "-N";
		argv[n++] = nodes;
		argv[n++] = "-S";
		argv[n++] = switches;
		argv[n++] = "-P";
		argv[n++] = ports;
	}
	snprintf(fd_path, sizeof(fd_path), "/proc/self/fd/%d", fd);
	argv[n] = fd_path;
	if (pipe2(in, O_CLOEXEC) || pipe2(out, O_CLOEXEC) || pipe2(err, O_CLOEXEC)) {
		r = -errno;
		goto out;
	}
	s->pid = fork();
	if (s->pid < 0) {
		r = -errno;
		s->pid = 0;
		goto out;
	}
	if (!s->pid)
		child_exec(in[0], out[1], err[1], fd, name, argv, parent);
	s->in_fd = in[1];
	s->out_fd = out[0];
	s->err_fd = err[0];
	in[1] = out[0] = err[0] = -1;
	if (fcntl(s->in_fd, F_SETFL, O_NONBLOCK) || fcntl(s->out_fd, F_SETFL, O_NONBLOCK) ||
	    fcntl(s->err_fd, F_SETFL, O_NONBLOCK))
		r = -errno;
out:
	for (n = 0; n < 2; n++) {
		if (in[n] >= 0)
			close(in[n]);
		if (out[n] >= 0)
			close(out[n]);
		if (err[n] >= 0)
			close(err[n]);
	}
	return r;
}

struct ibcc_ibsim *ibcc_ibsim_start(sd_event *ev, int fd, const char *name,
				    const struct ibcc_ibsim_limits *limits, ibcc_ibsim_died *died,
				    void *arg, int *err)
{
	struct ibcc_ibsim *s = calloc(1, sizeof(*s));
	int r = -ENOMEM;

	if (!s)
		goto out;
	s->ev = ev;
	s->in_fd = s->out_fd = s->err_fd = -1;
	s->died = died;
	s->died_arg = arg;
	s->out = malloc(OUT_MAX_BYTES);
	if (!s->out)
		goto out;
	r = spawn(s, fd, name, limits);
	if (r)
		goto out;
	r = sd_event_add_child(ev, &s->child, s->pid, WEXITED, on_child, s);
	if (r < 0)
		goto out;
	r = sd_event_add_io(ev, &s->out_src, s->out_fd, EPOLLIN, on_out, s);
	if (r < 0)
		goto out;
	r = sd_event_add_io(ev, &s->err_src, s->err_fd, EPOLLIN, on_err, s);
out:
	if (r < 0) {
		*err = r;
		ibcc_ibsim_free(s);
		return NULL;
	}
	return s;
}

void ibcc_ibsim_free(struct ibcc_ibsim *s)
{
	if (!s)
		return;
	sd_event_source_disable_unref(s->child);
	sd_event_source_disable_unref(s->out_src);
	sd_event_source_disable_unref(s->err_src);
	if (s->pid > 0) {
		/* An orderly end is not needed: it has nothing to save. */
		kill(s->pid, SIGKILL);
		while (waitpid(s->pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	if (s->in_fd >= 0)
		close(s->in_fd);
	if (s->out_fd >= 0)
		close(s->out_fd);
	if (s->err_fd >= 0)
		close(s->err_fd);
	free(s->out);
	free(s);
}

int ibcc_ibsim_console(struct ibcc_ibsim *s, const char *line, ibcc_ibsim_printed *done, void *arg)
{
	char buf[LINE_MAX_BYTES + 1];
	int n;

	if (s->busy || !s->ready)
		return -EBUSY;
	n = snprintf(buf, sizeof(buf), "%s\n", line);
	if (n < 0 || (size_t)n >= sizeof(buf) || strchr(line, '\n'))
		return -EINVAL;
	s->out_len = 0;
	if (write(s->in_fd, buf, (size_t)n) != n)
		return -EIO;
	s->busy = true;
	s->done = done;
	s->done_arg = arg;
	return 0;
}
