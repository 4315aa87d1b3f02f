/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which user a request says that it is from, besides what the kernel says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/request.h"

/* The login that a task has; NULL: the request was refused. */
static const char *login_of(uid_t uid, json_t *sudo_user)
{
	static char login[IBCC_LOGIN_BYTES];
	json_t *object = json_pack("{ss so}", "command", "history", "sudo_user", sudo_user);
	struct ibcc_jsonl_request r = { .object = object, .uid = uid, .pid = 7 };
	json_t *refusal = NULL;
	struct ibcc_task *t = ibcc_request_task(&r, &refusal);

	if (t)
		snprintf(login, sizeof(login), "%s", t->login);
	assert_true(!t == !!refusal);
	ibcc_task_free(t);
	json_decref(refusal);
	json_decref(object);
	return t ? login : NULL;
}

static void test_sudo(void **state)
{
	(void)state;
	assert_string_equal(login_of(0, json_string("alice")), "alice");
	/* Other users are those that the kernel names. */
	assert_string_equal(login_of(1000, json_string("alice")), "");
	assert_null(login_of(0, json_string("alice\n<0>forged")));
	assert_null(login_of(0, json_string("")));
	assert_null(login_of(0, json_integer(7)));
}

/* Whether a request for jobs, or another one, is taken with these arguments; takes them over. */
static bool takes(const char *command, json_t *args)
{
	json_t *object = json_pack("{ss so}", "command", command, "args", args);
	struct ibcc_jsonl_request r = { .object = object, .may_change = true, .pid = 7 };
	json_t *refusal = NULL;
	struct ibcc_task *t = ibcc_request_task(&r, &refusal);
	bool taken = t;

	ibcc_task_free(t);
	json_decref(refusal);
	json_decref(object);
	return taken;
}

static void test_jobs(void **state)
{
	static const char long_name[] = "0123456789012345678901234567890123456789012345678901234567"
					"890123456789";

	(void)state;
	assert_true(takes("jobs", json_object()));
	assert_true(takes(
		"jobs", json_pack("{si ss ss}", "since_s", 86400, "user", "ann", "job", "4711_3")));
	assert_false(takes("jobs", json_pack("{si}", "since_s", 0)));
	assert_false(takes("jobs", json_pack("{si}", "since_s", -1)));
	assert_false(takes("jobs", json_pack("{ss}", "since_s", "1d")));
	assert_false(takes("jobs", json_pack("{si}", "since_s", 367 * 86400)));
	assert_false(takes("jobs", json_pack("{ss}", "user", long_name)));
	assert_false(takes("jobs", json_pack("{ss}", "job", long_name)));
	assert_false(takes("jobs", json_pack("{si}", "job", 4711)));
	assert_false(takes("history", json_pack("{ss}", "user", "ann")));
}

/* A plan comes with the subnet manager that it was shown with: a GUID, or none. */
static void test_unchecked_sm(void **state)
{
	static const char guid[] = "0x00000001000000aa";

	(void)state;
	assert_true(takes("apply", json_pack("{s[] ss}", "plan", "unchecked_sm", guid)));
	assert_true(takes("apply", json_pack("{s[] sn}", "plan", "unchecked_sm")));
	assert_false(takes("apply", json_pack("{s[] si}", "plan", "unchecked_sm", 7)));
	assert_false(takes("apply", json_pack("{s[] ss}", "plan", "unchecked_sm", "n4")));
	assert_false(takes("apply", json_pack("{ss}", "unchecked_sm", guid)));
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sudo),
					    cmocka_unit_test(test_jobs),
					    cmocka_unit_test(test_unchecked_sm) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
