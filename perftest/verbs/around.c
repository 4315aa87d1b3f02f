/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/around.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* Sends the command's output to stderr, since stdout may be JSON. */
static int shell(const char *command, struct ibcc_why *e)
{
	char *const argv[] = { (char *)"sh", (char *)"-c", (char *)command, NULL };
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none;
	int rc, status;
	pid_t pid;

	sigemptyset(&none);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_adddup2(&files, STDERR_FILENO, STDOUT_FILENO);
	rc = posix_spawn(&pid, "/bin/sh", &files, &attr, argv, environ);
	posix_spawn_file_actions_destroy(&files);
	posix_spawnattr_destroy(&attr);
	if (rc)
		return ibcc_perf_fail(e, rc, "cannot run \"%s\"", command);
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return ibcc_perf_fail(e, errno, "cannot wait for \"%s\"", command);
	if (WIFEXITED(status) && !WEXITSTATUS(status))
		return 0;
	return ibcc_perf_fail(e, 0, "the command \"%s\" ended with %s %d", command,
			      WIFEXITED(status) ? "status" : "signal",
			      WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
}

/* Pauses; true if a signal ended the pause. */
static bool settle(uint32_t ms, int signal_fd)
{
	struct pollfd p = { .fd = signal_fd, .events = POLLIN };

	return poll(&p, 1, (int)ms) > 0;
}

static int one(struct ibcc_perf_around *a, bool after, struct ibcc_perf_hosts *hosts, int signal_fd,
	       ibcc_perf_live_fn *live, void *arg, FILE *log, struct ibcc_why *e)
{
	struct ibcc_perf_result *r = &a->result[a->n];
	int rc;

	if (log)
		fprintf(log, "%s, measurement %u\n", after ? "after" : "before",
			(a->undo ? a->n / 2 : a->n % a->repeats) + 1);
	a->is_after[a->n++] = after;
	rc = ibcc_perf_run_once(hosts, signal_fd, live, arg, r, e);
	return rc ? rc : r->interrupted ? ibcc_perf_fail(e, EINTR, "a signal ended the run") : 0;
}

static int command(const char *text, const struct ibcc_perf_around *a, int signal_fd, FILE *log,
		   struct ibcc_why *e)
{
	int rc;

	if (log) {
		fprintf(log, "$ %s\n", text);
		fflush(log);
	}
	rc = shell(text, e);
	if (!rc && settle(a->settle_ms, signal_fd))
		rc = ibcc_perf_fail(e, EINTR, "a signal ended the run");
	return rc;
}

int ibcc_perf_around(struct ibcc_perf_around *a, struct ibcc_perf_hosts *hosts, int signal_fd,
		     ibcc_perf_live_fn *live, void *arg, FILE *log, struct ibcc_why *e)
{
	uint32_t rounds = a->undo ? a->repeats : 1, each = a->undo ? 1 : a->repeats, i, k;
	bool changed;
	int rc = 0;

	a->result = calloc(2 * (size_t)a->repeats, sizeof(*a->result));
	a->is_after = calloc(2 * (size_t)a->repeats, sizeof(*a->is_after));
	if (!a->result || !a->is_after)
		return ibcc_perf_fail(e, ENOMEM, "memory for %u measurements", 2 * a->repeats);
	for (i = 0; i < rounds && !rc; i++) {
		for (k = 0; k < each && !rc; k++)
			rc = one(a, false, hosts, signal_fd, live, arg, log, e);
		if (rc)
			break;
		rc = command(a->command, a, signal_fd, log, e);
		changed = !rc || rc == -EINTR;
		for (k = 0; k < each && !rc; k++)
			rc = one(a, true, hosts, signal_fd, live, arg, log, e);
		/* Runs the undo command however the traffic ended. */
		if (a->undo && changed) {
			int bad = command(a->undo, a, signal_fd, log, e);

			rc = rc ? rc : bad;
		}
	}
	return rc;
}

void ibcc_perf_around_fini(struct ibcc_perf_around *a)
{
	for (uint32_t i = 0; a->result && i < a->n; i++)
		ibcc_perf_result_fini(&a->result[i]);
	free(a->result);
	free(a->is_after);
	a->result = NULL;
	a->is_after = NULL;
	a->n = 0;
}

struct ibcc_perf_change ibcc_perf_around_kind(const struct ibcc_perf_around *a,
					      const struct ibcc_scenario *s,
					      enum ibcc_flow_kind kind)
{
	double v[2][IBCC_PERF_REPEATS_MAX];
	size_t n[2] = { 0, 0 };

	for (uint32_t i = 0; i < a->n; i++) {
		bool after = a->is_after[i];

		if (n[after] < IBCC_PERF_REPEATS_MAX)
			v[after][n[after]++] = ibcc_perf_kind_mbps(s, &a->result[i], kind);
	}
	return ibcc_perf_change(v[0], n[0], v[1], n[1], a->undo && n[0] == n[1]);
}

/* How many digits of a figure its interval makes meaningful. */
static int digits(double half_width)
{
	return isnan(half_width) || half_width < 0.095 ? 2 : half_width < 1.95 ? 1 : 0;
}

void ibcc_perf_around_words(const struct ibcc_perf_around *a, const struct ibcc_scenario *s,
			    char *buf, size_t len)
{
	static const enum ibcc_flow_kind order[] = { IBCC_FLOW_VICTIM, IBCC_FLOW_HOT,
						     IBCC_FLOW_BACKGROUND };
	static const char *const names[] = { "background", "hot receiver", "victims" };
	size_t at = 0;

	*buf = '\0';
	for (size_t i = 0; i < sizeof(order) / sizeof(*order); i++) {
		struct ibcc_perf_change c = ibcc_perf_around_kind(a, s, order[i]);
		bool there = false;
		int d = digits(c.half_width);

		for (uint32_t k = 0; k < s->n_flows; k++)
			there |= s->flow[k].kind == order[i];
		if (!there || at >= len)
			continue;
		at += (size_t)snprintf(buf + at, len - at, "%s%s ", at ? ", " : "",
				       names[order[i]]);
		if (at >= len)
			continue;
		if (isnan(c.percent))
			at += (size_t)snprintf(buf + at, len - at, "cannot be compared");
		else if (isnan(c.half_width))
			at += (size_t)snprintf(buf + at, len - at,
					       "%+.1f %% (one repeat: no interval)", c.percent);
		else
			at += (size_t)snprintf(
				buf + at, len - at, "%+.*f %% (+-%.*f)%s", d, c.percent, d,
				c.half_width, fabs(c.percent) > c.half_width ? "" : " not certain");
	}
}
