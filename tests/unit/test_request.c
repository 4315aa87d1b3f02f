/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which user a request says that it is from, besides what the kernel says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/request.h"

/* The login that a job has; NULL: the request was refused. */
static const char *login_of(uid_t uid, json_t *sudo_user)
{
	static char login[IBCC_LOGIN_BYTES];
	json_t *object = json_pack("{ss so}", "command", "history", "sudo_user", sudo_user);
	struct ibcc_jsonl_request r = { .object = object, .uid = uid, .pid = 7 };
	json_t *refusal = NULL;
	struct ibcc_job *j = ibcc_request_job(&r, &refusal);

	if (j)
		snprintf(login, sizeof(login), "%s", j->login);
	assert_true(!j == !!refusal);
	ibcc_job_free(j);
	json_decref(refusal);
	json_decref(object);
	return j ? login : NULL;
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

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_sudo) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
