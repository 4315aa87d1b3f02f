/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A daemon without a fabric in a child process, its control socket, and the messages that it sends
 * to systemd.
 */
#ifndef TEST_DAEMONS_H
#define TEST_DAEMONS_H

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "files.h"

#include <jansson.h>

#include <ibcc/jsonl.h>
#include <ibcc/log.h>

#include "daemon/loop.h"

#define PATIENCE_MS 20000

struct daemon {
	pid_t pid;
	int notify; /* socket for the messages to systemd */
};

static pid_t running;      /* the daemon, which is ended if a test fails */
static int listening = -1; /* a socket for the daemon, as systemd would pass it */

static inline struct sockaddr_un address(const char *name)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.100s", files_path(name));
	return sa;
}

static inline void write_config(const char *more)
{
	char text[1600], dir[128];

	snprintf(dir, sizeof(dir), "%.100s", files_path(""));
	snprintf(text, sizeof(text),
		 "ca: none0\ninterval_ms: 20\ncontrol_socket: %scontrol\nplugin_socket: %splugin\n"
		 "state_file: %sstate.db\n%s",
		 dir, dir, dir, more);
	files_write("config.yaml", text);
}

static inline void child(void)
{
	struct ibcc_loop_options o = { .config_file = files_path("config.yaml"), .log_level = 0 };
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_why why = { "" };
	char file[512];
	int rc;

	snprintf(file, sizeof(file), "%s", o.config_file);
	o.config_file = file;
	setenv("NOTIFY_SOCKET", files_path("notify"), 1);
	setenv("WATCHDOG_USEC", "200000", 1);
	unsetenv("WATCHDOG_PID");
	if (listening >= 0) {
		char pid[16];

		snprintf(pid, sizeof(pid), "%d", (int)getpid());
		assert_int_equal(dup2(listening, 3), 3);
		setenv("LISTEN_PID", pid, 1);
		setenv("LISTEN_FDS", "1", 1);
		setenv("LISTEN_FDNAMES", "metrics", 1);
	}
	ibcc_log_open("test", IBCC_LOG_STDERR, NULL, LOG_EMERG);
	ibcc_config_defaults(&o.config, NULL);
	rc = ibcc_config_load(file, NULL, &o.config, &errors);
	if (!rc)
		rc = ibcc_loop_run(&o, &why);
	exit(rc == -EBUSY ? 2 : rc ? 1 : 0);
}

/* Waits for a message to systemd that begins with a text. */
static inline void heard(const struct daemon *d, const char *text)
{
	char buf[2048];

	for (;;) {
		struct pollfd p = { .fd = d->notify, .events = POLLIN };
		ssize_t n;

		if (poll(&p, 1, PATIENCE_MS) <= 0)
			fail_msg("systemd would never hear %s", text);
		n = recv(d->notify, buf, sizeof(buf) - 1, 0);
		assert_true(n >= 0);
		buf[n] = '\0';
		if (!strncmp(buf, text, strlen(text)))
			return;
	}
}

static int told_fd = -1; /* messages of the daemon that runs; -1: none sends any */

static inline struct daemon start(void)
{
	struct sockaddr_un sa = address("notify");
	struct daemon d;

	unlink(sa.sun_path);
	d.notify = told_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(d.notify, (struct sockaddr *)&sa, sizeof(sa)), 0);
	d.pid = fork();
	assert_true(d.pid >= 0);
	if (!d.pid)
		child();
	running = d.pid;
	heard(&d, "READY=1");
	return d;
}

static inline void end(struct daemon *d)
{
	int status;

	kill(d->pid, SIGTERM);
	heard(d, "STOPPING=1");
	assert_int_equal(waitpid(d->pid, &status, 0), d->pid);
	running = 0;
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	close(d->notify);
	told_fd = -1;
	assert_int_equal(access(files_path("control"), F_OK), -1);
}

static inline int teardown(void **state)
{
	(void)state;
	if (running) {
		kill(running, SIGKILL);
		waitpid(running, NULL, 0);
		running = 0;
	}
	return 0;
}

static inline int client(void)
{
	struct sockaddr_un sa = address("control");
	struct timeval tv = { .tv_sec = PATIENCE_MS / 1000 };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	return fd;
}

static inline void say(int fd, const char *text)
{
	/* If the daemon has hung up, the missing answer shows it. */
	if (send(fd, text, strlen(text), MSG_NOSIGNAL) < 0)
		assert_true(errno == EPIPE || errno == ECONNRESET);
}

/* The next line as JSON; NULL at the end of the connection. */
/* Reads messages as systemd does, since the daemon waits until they are taken. */
static inline void await(int fd)
{
	struct pollfd p[2] = { { .fd = fd, .events = POLLIN },
			       { .fd = told_fd, .events = POLLIN } };
	char byte[1];

	while (poll(p, 2, -1) > 0 && !p[0].revents)
		(void)!recv(told_fd, byte, sizeof(byte), MSG_DONTWAIT);
}

static inline json_t *answer(int fd)
{
	static char buf[1 << 16];
	size_t n = 0;
	json_t *o;

	do {
		ssize_t got;

		await(fd);
		got = recv(fd, buf + n, 1, 0);
		if (!got || (got < 0 && errno == ECONNRESET))
			return NULL;
		assert_int_equal(got, 1);
	} while (buf[n++] != '\n' && n < sizeof(buf));
	o = json_loadb(buf, n, 0, NULL);
	assert_non_null(o);
	return o;
}

static inline json_t *ask(const char *text)
{
	int fd = client();
	json_t *o;

	say(fd, text);
	o = answer(fd);
	assert_non_null(o);
	close(fd);
	return o;
}

static inline bool is_ok(const json_t *o)
{
	return json_is_true(json_object_get(o, "ok"));
}

static inline void assert_refused(const char *request, const char *word)
{
	json_t *o = ask(request);
	const char *error = json_string_value(json_object_get(o, "error"));

	assert_false(is_ok(o));
	assert_non_null(error);
	if (!strstr(error, word))
		fail_msg("%s: %s", request, error);
	assert_true(json_integer_value(json_object_get(o, "errno")) > 0);
	json_decref(o);
}

static inline const char *status_text(const char *key)
{
	static char text[256];
	json_t *o = ask("{\"command\": \"status\"}\n");
	const char *s;

	assert_true(is_ok(o));
	s = json_string_value(json_object_get(json_object_get(o, "result"), key));
	snprintf(text, sizeof(text), "%s", s ? s : "");
	json_decref(o);
	return text;
}

#endif
