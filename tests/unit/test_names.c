/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The name service as the daemon sees it: with answers, without any, and with failures. It is one
 * of this test's (--wrap), which answers when the test lets it.
 */
#include <errno.h>
#include <grp.h>
#include <poll.h>
#include <pthread.h>
#include <pwd.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/log.h>

#include "daemon/names.h"

#define PATIENCE_MS 60000

/* The service: what it answers, and whether it answers at all. */
static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	bool silent;
	int err;
	gid_t gid; /* of group "some" */
	unsigned int waiting, asked;
} service = { .lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER };

static int answer(gid_t *gid)
{
	int err;

	pthread_mutex_lock(&service.lock);
	service.asked++;
	service.waiting++;
	pthread_cond_broadcast(&service.changed);
	while (service.silent)
		pthread_cond_wait(&service.changed, &service.lock);
	service.waiting--;
	pthread_cond_broadcast(&service.changed);
	*gid = service.gid;
	err = service.err;
	pthread_mutex_unlock(&service.lock);
	return err;
}

static void set_service(bool silent, int err, gid_t gid)
{
	pthread_mutex_lock(&service.lock);
	service.silent = silent;
	service.err = err;
	service.gid = gid;
	pthread_cond_broadcast(&service.changed);
	pthread_mutex_unlock(&service.lock);
}

static unsigned int times_asked(void)
{
	unsigned int n;

	pthread_mutex_lock(&service.lock);
	n = service.asked;
	pthread_mutex_unlock(&service.lock);
	return n;
}

/* Until so many wait for an answer. */
static void await_waiting(unsigned int n)
{
	pthread_mutex_lock(&service.lock);
	while (service.waiting != n)
		pthread_cond_wait(&service.changed, &service.lock);
	pthread_mutex_unlock(&service.lock);
}

int __wrap_getgrnam_r(const char *name, struct group *gr, char *buf, size_t len,
		      struct group **found);
int __wrap_getgrnam_r(const char *name, struct group *gr, char *buf, size_t len,
		      struct group **found)
{
	int err = answer(&gr->gr_gid);

	(void)buf;
	(void)len;
	*found = !err && !strcmp(name, "some") ? gr : NULL;
	return err;
}

int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t len, struct passwd **found);
int __wrap_getpwuid_r(uid_t uid, struct passwd *pw, char *buf, size_t len, struct passwd **found)
{
	gid_t gid;
	int err = answer(&gid);

	snprintf(buf, len, "user%u", (unsigned int)uid);
	pw->pw_name = buf;
	*found = err ? NULL : pw;
	return err;
}

static struct ibcc_jsonl_roles ask(struct ibcc_names *n, const char *read, const char *write)
{
	struct ibcc_config c;

	ibcc_config_defaults(&c, NULL);
	snprintf(c.control_read_group, sizeof(c.control_read_group), "%s", read);
	snprintf(c.control_write_group, sizeof(c.control_write_group), "%s", write);
	return ibcc_names_ask(n, &c);
}

static void assert_answer(struct ibcc_names *n, gid_t read, gid_t write)
{
	struct pollfd p = { .fd = ibcc_names_fd(n), .events = POLLIN };
	struct ibcc_jsonl_roles r;

	do {
		assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
	} while (!ibcc_names_take(n, &r));
	assert_int_equal(r.read, read);
	assert_int_equal(r.write, write);
}

static int setup(void **state)
{
	ibcc_log_open("test", IBCC_LOG_STDERR, NULL, LOG_EMERG);
	set_service(false, 0, 7);
	*state = ibcc_names_new();
	return *state ? 0 : -1;
}

static int teardown(void **state)
{
	ibcc_names_free(*state);
	set_service(false, 0, 7);
	await_waiting(0);
	return 0;
}

static void test_groups(void **state)
{
	struct ibcc_names *n = *state;
	struct ibcc_jsonl_roles r;

	assert_false(ibcc_names_take(n, &r));
	ask(n, "", "");
	assert_answer(n, IBCC_JSONL_NOBODY, IBCC_JSONL_NOBODY);
	ask(n, "some", "none");
	assert_answer(n, 7, IBCC_JSONL_NOBODY);
	assert_false(ibcc_names_take(n, &r));
}

/* A silent service blocks no client, and changes only what the configuration has changed. */
static void test_silent(void **state)
{
	struct ibcc_names *n = *state;
	struct ibcc_jsonl_roles r;

	ask(n, "some", "some");
	assert_answer(n, 7, 7);
	set_service(true, 0, 8);
	r = ask(n, "some", "another");
	assert_int_equal(r.read, 7);
	assert_int_equal(r.write, IBCC_JSONL_NOBODY);
	await_waiting(1);
	assert_false(ibcc_names_take(n, &r));
	/* A group that has lost its right loses it now. */
	r = ask(n, "", "some");
	assert_int_equal(r.read, IBCC_JSONL_NOBODY);
	assert_int_equal(r.write, IBCC_JSONL_NOBODY);
	/* What is answered then is the last question. */
	set_service(false, 0, 8);
	assert_answer(n, IBCC_JSONL_NOBODY, 8);
}

static void test_failing(void **state)
{
	struct ibcc_names *n = *state;
	struct ibcc_jsonl_roles r;

	ask(n, "some", "");
	assert_answer(n, 7, IBCC_JSONL_NOBODY);
	set_service(false, EIO, 8);
	r = ask(n, "some", "some");
	assert_int_equal(r.read, 7);
	assert_answer(n, 7, IBCC_JSONL_NOBODY);
	/* It is asked again by itself. */
	set_service(false, 0, 8);
	assert_answer(n, 8, 8);
}

static void test_users(void **state)
{
	struct ibcc_names *n = *state;
	unsigned int asked;
	char text[96];

	ibcc_names_who(n, 12, 5, "", text, sizeof(text));
	assert_string_equal(text, "user12 (uid 12, pid 5)");
	ibcc_names_who(NULL, 12, 5, "", text, sizeof(text));
	assert_string_equal(text, "uid 12 (pid 5)");
	set_service(true, 0, 7);
	ibcc_names_who(n, 13, 5, "", text, sizeof(text));
	assert_string_equal(text, "uid 13 (pid 5)");
	asked = times_asked();
	ibcc_names_who(n, 14, 5, "", text, sizeof(text));
	assert_string_equal(text, "uid 14 (pid 5)");
	/* It is not asked what it would not answer. */
	assert_int_equal(times_asked(), asked);
	ibcc_names_who(n, 0, 5, "alice", text, sizeof(text));
	assert_string_equal(text, "root (sudo: alice, uid 0, pid 5)");
	set_service(false, 0, 7);
	await_waiting(0);
	/* The answer to the last question but one may be on its way still. */
	do {
		ibcc_names_who(n, 14, 5, "", text, sizeof(text));
	} while (strcmp(text, "user14 (uid 14, pid 5)") != 0);
	set_service(false, EIO, 7);
	ibcc_names_who(n, 15, 5, "", text, sizeof(text));
	assert_string_equal(text, "uid 15 (pid 5)");
}

/* The end does not wait for an answer; that is no leak, either, when it comes. */
static void test_end(void **state)
{
	struct ibcc_names *n = ibcc_names_new();

	(void)state;
	assert_non_null(n);
	set_service(true, 0, 7);
	ask(n, "some", "some");
	await_waiting(1);
	ibcc_names_free(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_groups, setup, teardown),
		cmocka_unit_test_setup_teardown(test_silent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_users, setup, teardown),
		cmocka_unit_test_setup_teardown(test_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
