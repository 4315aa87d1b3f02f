/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Which user asks, as the history has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/who.h"

static void test_names(void **state)
{
	char text[96], little[8];

	(void)state;
	ibcc_who_text("root", 0, 5, "", text, sizeof(text));
	assert_string_equal(text, "root (uid 0, pid 5)");
	ibcc_who_text("", 4123456, 5, "", text, sizeof(text));
	assert_string_equal(text, "uid 4123456 (pid 5)");
	ibcc_who_text("al\nice", 7, 5, "", text, sizeof(text));
	assert_null(strchr(text, '\n'));
	ibcc_who_text("root", 0, 5, "", little, sizeof(little));
	assert_string_equal(little, "root (u");
}

/* The login behind sudo, as root tells it. */
static void test_logins(void **state)
{
	static const char *const good[] = { "alice", "a", "al.ice_2-3@example+x", "pc$",
					    "abcdefghijklmnopqrstuvwxyz012345" };
	static const char *const bad[] = { "",       "al ice",
					   "a\nb",   "a\033[2J",
					   "a$b",    "$",
					   "(root)", "abcdefghijklmnopqrstuvwxyz0123456",
					   "al,ice", "\xc3\xa9" };
	char text[160];

	(void)state;
	ibcc_who_text("root", 0, 5, "alice", text, sizeof(text));
	assert_string_equal(text, "root (sudo: alice, uid 0, pid 5)");
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(ibcc_who_is_login(good[i]));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(ibcc_who_is_login(bad[i]));
	setenv("SUDO_USER", "al ice", 1);
	assert_string_equal(ibcc_who_sudo(), "");
	setenv("SUDO_USER", "alice", 1);
	assert_string_equal(ibcc_who_sudo(), geteuid() ? "" : "alice");
	unsetenv("SUDO_USER");
	assert_string_equal(ibcc_who_sudo(), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_logins),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
