/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon without a fabric, in a child process: what it tells systemd, its control socket under
 * good and bad clients, reload, and that it ends.
 */
#include "daemons.h"

#include <ibcc/state.h>

static void test_tells_systemd(void **state)
{
	struct daemon d;

	(void)state;
	write_config("");
	d = start();
	heard(&d, "WATCHDOG=1");
	heard(&d, "STATUS=mode=observe ports=0");
	end(&d);
}

/* However long a pass has taken, the next one reads what was counted in a good part of an interval.
 */
static void test_pause(void **state)
{
	(void)state;
	assert_int_equal(ibcc_loop_next_us(1000, 1100, 200), 1200);
	assert_int_equal(ibcc_loop_next_us(1000, 1001, 200), 1200);
	assert_int_equal(ibcc_loop_next_us(1000, 1190, 200), 1290);
	assert_int_equal(ibcc_loop_next_us(1000, 9000, 200), 9100);
}

static void test_answers(void **state)
{
	struct daemon d;
	json_t *o;

	(void)state;
	write_config("");
	d = start();
	heard(&d, "STATUS=");
	assert_string_equal(status_text("state"), "degraded");
	assert_true(strlen(status_text("reason")) > 0);
	assert_string_equal(status_text("mode"), "observe");
	o = ask("{\"command\": \"history\", \"args\": {}}\n");
	assert_true(is_ok(o));
	assert_int_equal(
		json_array_size(json_object_get(json_object_get(o, "result"), "transactions")), 0);
	json_decref(o);
	/* There is no fabric: all others say so, none hangs. */
	assert_refused("{\"command\": \"plan\"}\n", "InfiniBand");
	assert_refused("{\"command\": \"show\"}\n", "InfiniBand");
	assert_refused("{\"command\": \"apply\"}\n", "InfiniBand");
	assert_refused("{\"command\": \"rollback\"}\n", "InfiniBand");
	assert_refused("{\"command\": \"disable\"}\n", "InfiniBand");
	end(&d);
}

/* ... with a NUL byte in them. */
static void refused_bytes(const char *request, size_t len)
{
	struct sockaddr_un sa = address("control");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[4096] = "";
	size_t n = 0;

	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(send(fd, request, len, MSG_NOSIGNAL), len);
	while (n < sizeof(answer) - 1 && !strchr(answer, '\n')) {
		ssize_t got = recv(fd, answer + n, sizeof(answer) - 1 - n, 0);

		assert_true(got > 0);
		n += (size_t)got;
	}
	close(fd);
	if (!strstr(answer, "\"ok\":false"))
		fail_msg("%s", answer);
}
#define assert_refused_bytes(text) refused_bytes(text, sizeof(text) - 1)

static void test_bad_requests(void **state)
{
	struct daemon d;

	(void)state;
	write_config("");
	d = start();
	assert_refused("what?\n", "");
	assert_refused("[]\n", "object");
	assert_refused("{}\n", "command");
	assert_refused("{\"command\": 7}\n", "command");
	assert_refused("{\"command\": \"format\"}\n", "unknown command");
	assert_refused("{\"command\": \"plan\", \"args\": 7}\n", "args");
	assert_refused("{\"command\": \"history\", \"args\": {\"id\": -1}}\n", "id");
	assert_refused("{\"command\": \"history\", \"args\": {\"limit\": 0}}\n", "limit");
	assert_refused("{\"command\": \"show\", \"args\": {\"node\": 7}}\n", "node");
	assert_refused("{\"command\": \"apply\", \"args\": {\"skip_unsupported\": 1}}\n",
		       "skip_unsupported");
	assert_refused("{\"command\": \"apply\", \"args\": {\"confirm_s\": 0}}\n", "confirm_s");
	assert_refused("{\"command\": \"apply\", \"args\": {\"confirm_s\": 86401}}\n", "confirm_s");
	assert_refused("{\"command\": \"disable\", \"args\": {\"confirm_s\": 5}}\n", "apply");
	assert_refused("{\"command\": \"confirm\"}\n", "nothing is on trial");
	assert_refused("{\"command\": \"cancel\"}\n", "nothing is on trial");
	assert_refused("{\"command\": \"history\", \"args\": {\"id\": 99}}\n", "99");
	assert_refused("{\"command\": \"plan\", \"command\": \"plan\"}\n", "");
	/* A text must not end for some of its readers before it does for others. */
	assert_refused("{\"command\": \"show\", \"args\": {\"node\": \"a\\u0000b\"}}\n", "u0000");
	assert_refused("{\"command\": \"status\\u0000x\"}\n", "u0000");
	assert_refused("{\"command\": \"plan\", \"a\\u0000b\": 1}\n", "u0000");
	assert_refused_bytes("{\"command\": \"show\", \"args\": {\"node\": \"a\0b\"}}\n");
	assert_refused_bytes("{\"command\": \"status\"}\0{}\n");
	end(&d);
}

/* systemd takes what it is told, or the daemon waits for it. */
static void drain(const struct daemon *d)
{
	char byte[1];

	while (recv(d->notify, byte, sizeof(byte), MSG_DONTWAIT) > 0)
		;
}

/* False if it hangs up. A daemon that systemd does not hear takes nothing, either. */
static bool send_all(struct daemon *d, int fd, const char *buf, size_t len)
{
	while (len) {
		ssize_t n = send(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);

		if (n < 0 && errno != EAGAIN)
			return false;
		if (n < 0) {
			drain(d);
			usleep(10000);
			continue;
		}
		buf += n;
		len -= (size_t)n;
	}
	return true;
}

/* Halves, several at once, nothing, too much, gone before the answer. */
static void test_bad_clients(void **state)
{
	static char much[IBCC_JSONL_MAX_TRUSTED + 16];
	struct daemon d;
	int fd[IBCC_JSONL_MAX_CLIENTS], one;
	json_t *o;

	(void)state;
	write_config("");
	d = start();
	one = client();
	say(one, "{\"command\": \"sta");
	assert_string_equal(status_text("mode"), "observe");
	say(one, "tus\"}\n{\"command\": \"history\"}\n{\"comm");
	o = answer(one);
	assert_non_null(json_object_get(json_object_get(o, "result"), "mode"));
	json_decref(o);
	o = answer(one);
	assert_non_null(json_object_get(json_object_get(o, "result"), "transactions"));
	json_decref(o);
	close(one);

	one = client();
	say(one, "{\"command\": \"show\"}\n");
	close(one);

	one = client();
	memset(much, 'x', sizeof(much));
	/* It hangs up in the middle, or after all. */
	if (send_all(&d, one, much, sizeof(much)))
		assert_null(answer(one));
	close(one);

	/* A user that has all the places and says nothing loses one. */
	for (unsigned int i = 0; i < IBCC_JSONL_MAX_CLIENTS; i++)
		fd[i] = client();
	for (;;) {
		one = client();
		say(one, "{\"command\": \"status\"}\n");
		o = answer(one);
		close(one);
		assert_non_null(o);
		if (is_ok(o))
			break;
		assert_int_equal(json_integer_value(json_object_get(o, "errno")), EBUSY);
		json_decref(o);
		drain(&d);
		usleep(10000);
	}
	json_decref(o);
	for (unsigned int i = 0; i < IBCC_JSONL_MAX_CLIENTS; i++)
		close(fd[i]);
	end(&d);
}

static void test_reload(void **state)
{
	struct daemon d;
	json_t *o;

	(void)state;
	write_config("");
	d = start();
	write_config("mode: apply\n");
	kill(d.pid, SIGHUP);
	heard(&d, "RELOADING=1\nMONOTONIC_USEC=");
	heard(&d, "READY=1");
	assert_string_equal(status_text("mode"), "apply");
	write_config("mode: observe\nfoo: 1\n");
	kill(d.pid, SIGHUP);
	heard(&d, "RELOADING=1");
	heard(&d, "READY=1");
	assert_string_equal(status_text("mode"), "apply");
	o = ask("{\"command\": \"status\"}\n");
	assert_true(json_is_false(json_object_get(json_object_get(o, "result"), "last_reload_ok")));
	json_decref(o);
	end(&d);
}

/* A page with its head. */
static const char *get(const struct daemon *d, const struct sockaddr_in *sa, const char *path)
{
	static char text[16384];
	struct timeval tv = { .tv_usec = 20000 };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), turns = PATIENCE_MS / 20;
	char request[64];
	size_t n = 0;
	ssize_t got;

	assert_int_equal(connect(fd, (const struct sockaddr *)sa, sizeof(*sa)), 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	snprintf(request, sizeof(request), "GET %s HTTP/1.0\r\n\r\n", path);
	say(fd, request);
	while ((got = recv(fd, text + n, sizeof(text) - 1 - n, 0)) && turns--) {
		n += got > 0 ? (size_t)got : 0;
		drain(d);
	}
	assert_true(got == 0);
	close(fd);
	text[n] = '\0';
	return text;
}

/* At systemd's socket, without a fabric: why it is not well. And as a file. */
static void test_metrics(void **state)
{
	struct sockaddr_in sa = { .sin_family = AF_INET,
				  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(sa);
	struct daemon d;
	char more[300], file[256], *text;
	int turns = 0;

	(void)state;
	snprintf(file, sizeof(file), "%.200s", files_path("ibcc.prom"));
	snprintf(more, sizeof(more), "metrics_file: %s\n", file);
	write_config(more);
	listening = socket(AF_INET, SOCK_STREAM, 0);
	assert_int_equal(bind(listening, (struct sockaddr *)&sa, sizeof(sa)), 0);
	assert_int_equal(listen(listening, 4), 0);
	assert_int_equal(getsockname(listening, (struct sockaddr *)&sa, &len), 0);
	d = start();
	close(listening);
	listening = -1;
	heard(&d, "STATUS=");
	assert_non_null(strstr(get(&d, &sa, "/healthz"), " 503 "));
	assert_non_null(strstr(get(&d, &sa, "/healthz"), "\r\n\r\ndegraded: "));
	assert_non_null(strstr(get(&d, &sa, "/healthz"), "InfiniBand"));
	assert_non_null(strstr(get(&d, &sa, "/readyz"), " 503 "));
	assert_non_null(strstr(get(&d, &sa, "/metrics"), "\nibcc_state{state=\"degraded\"} 1\n"));
	write_config("foo: 1\n");
	kill(d.pid, SIGHUP);
	heard(&d, "RELOADING=1");
	heard(&d, "READY=1");
	/* What was put together last is given for a second. */
	while (!strstr(get(&d, &sa, "/metrics"), "\nibcc_config_last_reload_successful 0\n")) {
		assert_true(turns++ < PATIENCE_MS / 20);
		usleep(10000);
	}
	text = files_read(file);
	assert_non_null(strstr(text, "\nibcc_passes_failed_total "));
	free(text);
	end(&d);
	assert_int_equal(access(file, F_OK), -1);
}

static void test_one_daemon_only(void **state)
{
	struct daemon d;
	int status;
	pid_t second;

	(void)state;
	write_config("");
	d = start();
	second = fork();
	assert_true(second >= 0);
	if (!second)
		child();
	assert_int_equal(waitpid(second, &status, 0), second);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
	assert_string_equal(status_text("mode"), "observe");
	end(&d);
}

/* A socket is there before a daemon listens at it. */
static bool is_listening(void)
{
	struct sockaddr_un sa = address("control");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool yes = !connect(fd, (struct sockaddr *)&sa, sizeof(sa));

	close(fd);
	return yes;
}

/* Of several that start at once one stays. */
static void test_race(void **state)
{
	struct daemon d;
	pid_t other[4];
	int status, go[2], n_busy = 0;
	char byte;

	(void)state;
	write_config("");
	assert_int_equal(pipe2(go, O_CLOEXEC), 0);
	for (int i = 0; i < 4; i++) {
		other[i] = fork();
		assert_true(other[i] >= 0);
		if (!other[i]) {
			close(go[1]);
			(void)!read(go[0], &byte, 1);
			child();
		}
	}
	close(go[0]);
	close(go[1]);
	for (int left = 3; left; left--) { /* three end by themselves */
		pid_t pid = wait(&status);

		assert_true(WIFEXITED(status));
		n_busy += WEXITSTATUS(status) == 2;
		for (int i = 0; i < 4; i++)
			other[i] = other[i] == pid ? 0 : other[i];
	}
	assert_int_equal(n_busy, 3);
	for (int i = 0; i < 4; i++)
		running = other[i] ? other[i] : running;
	while (!is_listening())
		usleep(1000);
	assert_string_equal(status_text("mode"), "observe");
	d = (struct daemon){ .pid = running, .notify = -1 };
	kill(d.pid, SIGTERM);
	assert_int_equal(waitpid(d.pid, &status, 0), d.pid);
	running = 0;
	assert_int_equal(status, 0);
}

/* What lies in the socket's place and is none is not removed. */
static void test_no_socket(void **state)
{
	int status;
	pid_t pid;

	(void)state;
	write_config("");
	files_write("control", "precious");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		child();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 1);
	assert_int_equal(unlink(files_path("control")), 0);
}

/* A daemon that was killed has left something on trial, and the next one cannot read the file until
 * it has been put in its place again.
 */
static void test_trial_found_late(void **state)
{
	struct ibcc_txn txn = {
		.who = "me", .action = "apply", .via = "none", .summary = "", .confirm_s = 60
	};
	const struct ibcc_change change = {
		.node_guid = 2, .lid = 7, .port = 1, .attr_id = IBCC_CC_ATTR_CA_SETTING
	};
	struct ibcc_plan plan = { 0 };
	struct ibcc_state *s;
	char file[512], kept[512];
	struct daemon d;
	json_t *o, *trial, *list;
	int64_t id = 0;
	int err = 0;

	(void)state;
	write_config("");
	snprintf(file, sizeof(file), "%s", files_path("state.db"));
	snprintf(kept, sizeof(kept), "%s", files_path("kept.db"));
	unlink(file);
	s = ibcc_state_open(kept, &err, NULL);
	assert_int_equal(ibcc_plan_append(&plan, &change), 0);
	assert_int_equal(ibcc_state_begin(s, &txn, &plan, NULL, &id, NULL), 0);
	ibcc_plan_fini(&plan);
	ibcc_state_close(s);
	files_write("state.db", "this is no database, just a text of more than a hundred bytes, so "
				"that nobody takes it for a new one, whoever may look at it.....");
	d = start();
	heard(&d, "STATUS=mode=observe");
	assert_int_equal(rename(kept, file), 0);
	do {
		heard(&d, "STATUS=mode=observe");
		o = ask("{\"command\": \"status\"}\n");
		trial = json_incref(json_object_get(json_object_get(o, "result"), "trial"));
		err = json_is_string(
			json_object_get(json_object_get(o, "result"), "state_trouble"));
		json_decref(o);
		if (err)
			json_decref(trial);
	} while (err);
	assert_int_equal(json_integer_value(json_object_get(trial, "transaction")), id);
	assert_true(json_is_string(json_object_get(trial, "over")));
	json_decref(trial);
	/* The process of the open transaction is no more, though the number is that of a process.
	 */
	o = ask("{\"command\": \"history\", \"args\": {}}\n");
	list = json_object_get(json_object_get(o, "result"), "transactions");
	assert_string_equal(json_string_value(json_object_get(json_array_get(list, 0), "outcome")),
			    "interrupted");
	json_decref(o);
	end(&d);
}

static void test_dead_mans_socket(void **state)
{
	struct daemon d;
	int status;

	(void)state;
	write_config("");
	d = start();
	kill(d.pid, SIGKILL);
	assert_int_equal(waitpid(d.pid, &status, 0), d.pid);
	close(d.notify);
	told_fd = -1;
	assert_int_equal(access(files_path("control"), F_OK), 0);
	d = start();
	assert_string_equal(status_text("mode"), "observe");
	end(&d);
}

/* Within so many polling cycles. */
static void await_socket(const struct daemon *d)
{
	for (int i = 0; !is_listening(); i++) {
		assert_true(i < 100);
		heard(d, "STATUS=");
	}
}

/* The folder was emptied: the daemon makes its socket again, but takes no other's place.
 */
static void test_socket_gone(void **state)
{
	struct daemon d;
	struct stat st;

	(void)state;
	write_config("");
	d = start();
	assert_int_equal(unlink(files_path("control")), 0);
	await_socket(&d);
	assert_string_equal(status_text("mode"), "observe");
	assert_int_equal(stat(files_path("control"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);

	assert_int_equal(unlink(files_path("control")), 0);
	files_write("control", "a file");
	for (int i = 0; i < 3; i++)
		heard(&d, "STATUS=");
	assert_int_equal(stat(files_path("control"), &st), 0);
	assert_true(S_ISREG(st.st_mode));
	assert_int_equal(unlink(files_path("control")), 0);
	await_socket(&d);
	end(&d);
	assert_int_equal(access(files_path("control"), F_OK), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_tells_systemd, teardown),
		cmocka_unit_test(test_pause),
		cmocka_unit_test_teardown(test_answers, teardown),
		cmocka_unit_test_teardown(test_bad_requests, teardown),
		cmocka_unit_test_teardown(test_bad_clients, teardown),
		cmocka_unit_test_teardown(test_reload, teardown),
		cmocka_unit_test_teardown(test_metrics, teardown),
		cmocka_unit_test_teardown(test_one_daemon_only, teardown),
		cmocka_unit_test_teardown(test_race, teardown),
		cmocka_unit_test_teardown(test_no_socket, teardown),
		cmocka_unit_test_teardown(test_trial_found_late, teardown),
		cmocka_unit_test_teardown(test_dead_mans_socket, teardown),
		cmocka_unit_test_teardown(test_socket_gone, teardown),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
