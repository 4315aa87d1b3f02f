/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's end of the plugin's socket where no plugin can be reached. */
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

#include <ibcc/plugin_client.h>

#include "fabrics.h"

#include "files.h"

/* A socket in a folder that only its owner may enter: the option that is missing is named. */
static void test_not_for_us(void **state)
{
	struct ibcc_plugin *p = ibcc_plugin_new(files_path("other.sock"));
	struct ibcc_why why = { "" };
	int status;
	pid_t pid = fork();

	(void)state;
	assert_true(pid >= 0);
	if (!pid) {
		if (!geteuid() ? setuid(65534) : chmod(files_path(""), 0))
			_exit(2);
		_exit(ibcc_plugin_connect(p, &why) != -EACCES ||
		      !strstr(why.text, "event_plugin_options ibcc.group=GROUP"));
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	chmod(files_path(""), 0700);
	assert_int_equal(status, 0);
	ibcc_plugin_free(p);
}

static void test_nobody_there(void **state)
{
	struct ibcc_plugin *p = ibcc_plugin_new(files_path("none.sock"));
	struct ibcc_why why = { "" };
	int err = 0;

	(void)state;
	assert_int_equal(ibcc_plugin_connect(p, &why), -ENOENT);
	assert_non_null(strstr(why.text, "event_plugin_name ibcc_opensm"));
	assert_null(ibcc_plugin_state(p));
	assert_int_equal(ibcc_plugin_poll(p), -ENOTCONN);
	assert_null(ibcc_plugin_topology(p, &err, &why));
	assert_int_equal(err, -ENOENT);
	ibcc_plugin_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_not_for_us),
		cmocka_unit_test(test_nobody_there),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
