/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* JSON lines over sockets: the server in this process, the client in a child. What clients may do
 * wrong is in test_loop.c and tests/fuzz/fuzz_control.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "files.h"

#include <ibcc/jsonl.h>

struct server {
	sd_event *event;
	struct ibcc_jsonl *s;
	uint64_t client;
	uid_t uid;      /* the user that asks; 0: ourselves */
	gid_t group[2]; /* with these */
	size_t n_groups;
	bool may_change; /* the last one */
	unsigned int n_asked, n_gone;
	uint64_t gone; /* the last one that hung up while it was waited for */
	enum { ECHO, LATER, NO_OBJECT, HANG_UP, DIRTY } how;
};

static void on_request(void *arg, const struct ibcc_jsonl_request *r)
{
	struct server *x = arg;

	assert_int_equal(r->uid, x->uid ? x->uid : geteuid());
	x->may_change = r->may_change;
	x->n_asked++;
	x->client = r->client;
	switch (x->how) {
	case ECHO: ibcc_jsonl_reply(x->s, r->client, json_deep_copy(r->object)); break;
	case NO_OBJECT: ibcc_jsonl_reply(x->s, r->client, json_array()); break;
	case DIRTY:
		ibcc_jsonl_reply(x->s, r->client,
				 json_pack("{ss s[s{ss}]}", "b\033", "x\033[2J", "a\xc2\x9b", "\r",
					   "c", "d\x7f"));
		break;
	case HANG_UP: ibcc_jsonl_reply(x->s, r->client, NULL); break;
	case LATER: break;
	}
}

static void on_gone(void *arg, uint64_t client)
{
	struct server *x = arg;

	x->n_gone++;
	x->gone = client;
}

static void start(struct server *x, const char *address)
{
	int err = -1;

	*x = (struct server){ 0 };
	assert_true(sd_event_new(&x->event) >= 0);
	x->s = ibcc_jsonl_listen(x->event, address, on_request, x, &err);
	assert_non_null(x->s);
	assert_int_equal(err, 0);
}

static void stop(struct server *x)
{
	ibcc_jsonl_free(x->s);
	sd_event_unref(x->event);
}

/* Name of its own for each process, in the abstract namespace. */
static const char *name(void)
{
	static char text[64];

	snprintf(text, sizeof(text), "@ibcc-unit-%d", (int)getpid());
	return text;
}

/* What ibcc_jsonl_ask() returns in a child; an answer must be the question. */
static int ask(struct server *x, const char *address)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		json_t *rq = json_pack("{ss s[iii]}", "cmd", "x", "list", 1, 2, 3), *answer;
		int rc;

		if (x && x->uid &&
		    (setgroups(x->n_groups, x->group) || setresgid(x->uid, x->uid, x->uid) ||
		     setresuid(x->uid, x->uid, x->uid)))
			_exit(ECHILD);
		rc = ibcc_jsonl_ask(address, rq, x && x->how == LATER ? 1 : 20, &answer);

		/* What terminals would obey does not come out. */
		if (x && x->how == DIRTY)
			rq = json_pack("{ss s[s{ss}]}", "b?", "x?[2J", "a??", " ", "c", "d?");
		_exit(rc ? -rc : !json_equal(rq, answer));
	}
	while (x && !waitpid(pid, &status, WNOHANG))
		assert_true(sd_event_run(x->event, 10000) >= 0);
	if (!x)
		assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

/* The user asks with these groups: 0, or why not. */
static int ask_as(struct server *x, uid_t uid, gid_t first, gid_t second)
{
	x->uid = uid;
	x->group[0] = first;
	x->group[1] = second;
	x->n_groups = 2;
	x->may_change = false;
	x->n_asked = 0;
	return ask(x, files_path("socket"));
}

#define READERS ((gid_t)4001)
#define WRITERS ((gid_t)4002)

/* The kernel says which user is in which group; one without a role is refused.
 */
static void test_roles(void **state)
{
	struct ibcc_jsonl_roles roles = { READERS, WRITERS };
	struct server x;
	struct stat st;

	(void)state;
	if (geteuid())
		skip();
	assert_int_equal(chmod(files_path(""), 0755), 0);
	start(&x, files_path("socket"));
	/* Without roles the socket's mode keeps others out. */
	assert_int_equal(ask_as(&x, 3001, READERS, WRITERS), -EACCES);
	assert_int_equal(x.n_asked, 0);

	ibcc_jsonl_set_roles(x.s, &roles);
	assert_int_equal(ask_as(&x, 3001, 7, READERS), 0);
	assert_false(x.may_change);
	assert_int_equal(ask_as(&x, 3001, WRITERS, 7), 0);
	assert_true(x.may_change);
	assert_int_equal(ask_as(&x, READERS, 7, 8), 0); /* its primary group */
	assert_false(x.may_change);
	/* It gets an answer, which is not the echo, and the server never saw it. */
	assert_int_not_equal(ask_as(&x, 3001, 7, 8), 0);
	assert_int_equal(x.n_asked, 0);
	assert_int_equal(ask_as(&x, 0, 7, 8), 0);
	assert_true(x.may_change);

	roles.read = IBCC_JSONL_NOBODY;
	ibcc_jsonl_set_roles(x.s, &roles);
	assert_int_not_equal(ask_as(&x, 3001, READERS, 8), 0);
	assert_int_equal(ask_as(&x, 3001, WRITERS, 8), 0);
	roles.write = IBCC_JSONL_NOBODY;
	ibcc_jsonl_set_roles(x.s, &roles);
	assert_int_equal(ask_as(&x, 3001, READERS, WRITERS), -EACCES);
	assert_int_equal(stat(files_path("socket"), &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	stop(&x);
}

static void test_asks(void **state)
{
	const char *const address[] = { name(), files_path("socket") };
	struct server x;

	(void)state;
	for (int i = 0; i < 2; i++) {
		assert_int_equal(ask(NULL, address[i]), i ? -ENOENT : -ECONNREFUSED);
		start(&x, address[i]);
		for (int k = 0; k < 3; k++)
			assert_int_equal(ask(&x, address[i]), 0);
		x.how = HANG_UP;
		assert_int_equal(ask(&x, address[i]), -ECONNRESET);
		x.how = DIRTY;
		assert_int_equal(ask(&x, address[i]), 0);
		x.how = NO_OBJECT;
		assert_int_equal(ask(&x, address[i]), -EPROTO);
		x.how = LATER;
		assert_int_equal(ask(&x, address[i]), -ETIMEDOUT);
		stop(&x);
		assert_int_equal(ask(NULL, address[i]), i ? -ENOENT : -ECONNREFUSED);
	}
}

struct looks {
	pid_t server; /* the one that should be named */
	int fd;       /* where each look is told */
	unsigned int left;
};

static bool look(void *arg, pid_t pid)
{
	struct looks *l = arg;

	if (pid != l->server || write(l->fd, "x", 1) != 1)
		_exit(ECHILD);
	return --l->left > 0;
}

/* Asks patiently in a child, which is answered after so many looks (0: never). */
static int ask_patiently(struct server *x, const char *address, unsigned int most,
			 unsigned int answer_after)
{
	unsigned int looked = 0;
	int ends[2], status;
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ends, O_NONBLOCK | O_CLOEXEC), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct looks l = { .server = getppid(), .fd = ends[1], .left = most };
		struct ibcc_jsonl_wait wait = { .each_ms = 20, .go_on = look, .arg = &l };
		json_t *answer;

		_exit(-ibcc_jsonl_ask_patiently(address, json_object(), &wait, &answer));
	}
	while (!waitpid(pid, &status, WNOHANG)) {
		assert_true(sd_event_run(x->event, 10000) >= 0);
		if (read(ends[0], &byte, 1) == 1 && ++looked == answer_after)
			ibcc_jsonl_reply(x->s, x->client, json_object());
	}
	while (read(ends[0], &byte, 1) == 1)
		looked++;
	close(ends[0]);
	close(ends[1]);
	assert_true(WIFEXITED(status));
	/* Some more while the answer is on its way. */
	assert_true(answer_after ? looked >= answer_after : looked == most);
	return -WEXITSTATUS(status);
}

/* A waiting client may look after the server as often as it likes, and knows its process. */
static void test_patience(void **state)
{
	struct server x;

	(void)state;
	start(&x, name());
	x.how = LATER;
	assert_int_equal(ask_patiently(&x, name(), 4, 0), -ETIMEDOUT);
	assert_int_equal(ask_patiently(&x, name(), 1000, 3), 0);
	stop(&x);
}

/* One place, one server; a path also says which users may come, and is free when its server has
 * died. */
static void test_place(void **state)
{
	char path[512], much[200];
	struct server x;
	struct stat st;
	int err = 0;

	(void)state;
	snprintf(path, sizeof(path), "%s", files_path("socket"));
	start(&x, path);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0660);
	assert_null(ibcc_jsonl_listen(x.event, path, on_request, &x, &err));
	assert_int_equal(err, -EADDRINUSE);
	assert_int_equal(ask(&x, path), 0);
	stop(&x);
	start(&x, name());
	assert_null(ibcc_jsonl_listen(x.event, name(), on_request, &x, &err));
	assert_int_equal(err, -EADDRINUSE);
	assert_int_equal(ask(&x, name()), 0);
	memset(much, '@', sizeof(much) - 1);
	much[sizeof(much) - 1] = '\0';
	assert_null(ibcc_jsonl_listen(x.event, much, on_request, &x, &err));
	assert_int_equal(err, -ENAMETOOLONG);
	assert_int_equal(ask(NULL, much), -ENAMETOOLONG);
	files_write("file", "precious");
	assert_null(ibcc_jsonl_listen(x.event, files_path("file"), on_request, &x, &err));
	assert_int_equal(err, -EEXIST);
	assert_int_equal(access(files_path("file"), F_OK), 0);
	stop(&x);
}

static void turn(struct server *x)
{
	while (sd_event_run(x->event, 0) > 0)
		;
}

/* A client that has gone is not answered, nor is any client twice; that it has gone is told. */
static void test_answers_late(void **state)
{
	static const char text[] = "{\"a\": 1}\n{\"b\": 2}\n";
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	char line[64] = "";
	struct server x;
	uint64_t gone = 0;
	int fd[2];

	(void)state;
	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.100s", files_path("socket"));
	start(&x, sa.sun_path);
	ibcc_jsonl_on_gone(x.s, on_gone);
	x.how = LATER;
	for (int i = 0; i < 2; i++) {
		fd[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
		assert_int_equal(connect(fd[i], (struct sockaddr *)&sa, sizeof(sa)), 0);
		assert_int_equal(send(fd[i], text, strlen(text), 0), strlen(text));
		while (sd_event_run(x.event, 0) > 0)
			;
		gone = i ? gone : x.client;
	}
	close(fd[0]);
	while (sd_event_run(x.event, 0) > 0)
		;
	assert_int_equal(x.n_gone, 1);
	assert_int_equal(x.gone, gone);
	ibcc_jsonl_reply(x.s, gone, json_object());
	ibcc_jsonl_reply(x.s, x.client, json_pack("{si}", "n", 1));
	ibcc_jsonl_reply(x.s, x.client, json_pack("{si}", "n", 2));
	x.how = ECHO;
	while (sd_event_run(x.event, 0) > 0)
		;
	assert_true(recv(fd[1], line, sizeof(line) - 1, 0) > 0);
	assert_string_equal(line, "{\"n\":1}\n{\"b\":2}\n");
	close(fd[1]);
	turn(&x);
	assert_int_equal(x.n_gone, 1); /* nothing of the other one's was under way */
	stop(&x);
}

static int dial(const char *address)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%.100s", address);
	assert_int_equal(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
	return fd;
}

/* Has the server hung up, and on the way said something? */
static bool is_over(int fd, const char *word)
{
	char text[256] = "";
	ssize_t n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);

	if (n > 0) {
		assert_non_null(strstr(text, word));
		n = recv(fd, text, sizeof(text) - 1, MSG_DONTWAIT);
	}
	return n == 0 || (n < 0 && errno == ECONNRESET);
}

/* A client that is silent or does not read goes; one that waits for an answer stays. */
static void test_idle(void **state)
{
	static const char rq[] = "{\"a\": 1}\n";
	struct server x;
	char path[512];
	int silent, half, waits;

	(void)state;
	snprintf(path, sizeof(path), "%s", files_path("socket"));
	start(&x, path);
	ibcc_jsonl_set_idle_ms(x.s, 1);
	x.how = LATER;
	silent = dial(path);
	half = dial(path);
	waits = dial(path);
	assert_int_equal(send(half, rq, 3, 0), 3);
	assert_int_equal(send(waits, rq, strlen(rq), 0), strlen(rq));
	while (!is_over(silent, "") || !is_over(half, ""))
		assert_true(sd_event_run(x.event, 10000) >= 0);
	ibcc_jsonl_reply(x.s, x.client, json_pack("{si}", "n", 1));
	turn(&x);
	assert_int_equal(recv(waits, path, 8, 0), 8);
	close(silent);
	close(half);
	close(waits);
	stop(&x);
}

/* Connects as another user so often; the last descriptors in *fd. */
static void crowd(const char *path, uid_t uid, int *fd, unsigned int n)
{
	assert_int_equal(setresuid((uid_t)-1, uid, 0), 0);
	for (unsigned int i = 0; i < n; i++)
		fd[i] = dial(path);
	assert_int_equal(setresuid((uid_t)-1, 0, 0), 0);
}

/* Other users have so many places each and not all together. */
static void test_quota(void **state)
{
	int fd[5][IBCC_JSONL_MAX_OF_UID + 2], own[IBCC_JSONL_KEPT];
	unsigned int n_over = 0;
	struct server x;
	char path[512];

	(void)state;
	if (geteuid())
		skip(); /* only root can be another user */
	snprintf(path, sizeof(path), "%s", files_path("socket"));
	assert_int_equal(chmod(files_path(""), 0711), 0);
	start(&x, path);
	assert_int_equal(chmod(path, 0666), 0);
	for (uid_t u = 0; u < 5; u++) {
		unsigned int over = 0;

		for (unsigned int i = 0; i < IBCC_JSONL_MAX_OF_UID + 2; i++) {
			crowd(path, 50000 + u, &fd[u][i], 1);
			turn(&x); /* before the backlog is full */
		}
		for (unsigned int i = 0; i < IBCC_JSONL_MAX_OF_UID + 2; i++)
			over += is_over(fd[u][i], "too many clients");
		assert_true(over >= 2);
		n_over += over;
	}
	/* All that are not root's. */
	assert_int_equal(5 * (IBCC_JSONL_MAX_OF_UID + 2) - n_over,
			 IBCC_JSONL_MAX_CLIENTS - IBCC_JSONL_KEPT);
	for (unsigned int i = 0; i < IBCC_JSONL_KEPT; i++) {
		own[i] = dial(path);
		turn(&x);
		assert_false(is_over(own[i], ""));
	}
	for (unsigned int i = 0; i < IBCC_JSONL_KEPT; i++)
		close(own[i]);
	turn(&x);
	x.how = ECHO;
	assert_int_equal(ask(&x, path), 0);
	for (uid_t u = 0; u < 5; u++)
		for (unsigned int i = 0; i < IBCC_JSONL_MAX_OF_UID + 2; i++)
			close(fd[u][i]);
	stop(&x);
}

/* Without a descriptor for a new client, the loop rests until there may be one again. */
static void test_no_descriptors(void **state)
{
	struct rlimit old, few;
	struct server x;
	char path[512];
	int fd, next;

	(void)state;
	snprintf(path, sizeof(path), "%s", files_path("socket"));
	start(&x, path);
	fd = dial(path);
	next = dup(fd);
	close(next);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	few = (struct rlimit){ .rlim_cur = (rlim_t)next, .rlim_max = old.rlim_max };
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
	assert_true(sd_event_run(x.event, 10000) > 0);
	assert_int_equal(sd_event_run(x.event, 0), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(send(fd, "{}\n", 3, 0), 3);
	while (recv(fd, path, 3, MSG_DONTWAIT) < 3)
		assert_true(sd_event_run(x.event, 10000) >= 0);
	close(fd);
	stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_roles),        cmocka_unit_test(test_asks),
		cmocka_unit_test(test_patience),     cmocka_unit_test(test_place),
		cmocka_unit_test(test_answers_late), cmocka_unit_test(test_idle),
		cmocka_unit_test(test_quota),        cmocka_unit_test(test_no_descriptors),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
