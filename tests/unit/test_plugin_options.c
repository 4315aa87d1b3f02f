/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* event_plugin_options: ours among others', mistakes never hide one another, and never end in a
 * socket that is open to others than asked for.
 */
#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <ibcc/proto.h>

#include "opensm-plugin/options.h"

static char lines[4096];
static unsigned int n_lines;

/* The host's groups. */
static bool has_ibcc;

FILE *__wrap_fopen(const char *path, const char *mode);
FILE *__wrap_fopen(const char *path, const char *mode)
{
	static char none[] = "root:x:0:\nibccx:x:7:\nodd\nodd2:\nodd3:x:\nodd4:x:-1:\nodd5:x:x\n";
	static char with[] = "root:x:0:\nibccx:x:7:\nibcc:x:4712:alice,bob\n";
	char *text = has_ibcc ? with : none;

	assert_string_equal(path, "/etc/group");
	return fmemopen(text, strlen(text), mode);
}

/* A name service may be silent for minutes. */
int __wrap_getgrnam_r(const char *name, struct group *grp, char *buf, size_t len,
		      struct group **found);
int __wrap_getgrnam_r(const char *name, struct group *grp, char *buf, size_t len,
		      struct group **found)
{
	(void)grp;
	(void)buf;
	(void)len;
	(void)found;
	fail_msg("OpenSM's start asks the name service for group %s", name);
	return -1;
}

static void keep(void *arg, enum ibcc_plugin_level level, const char *line)
{
	(void)arg;
	assert_int_equal(level, IBCC_PLUGIN_ERROR);
	strncat(lines, line, sizeof(lines) - strlen(lines) - 1);
	n_lines++;
}

static int parse(const char *text, struct ibcc_plugin_options *o)
{
	struct ibcc_plugin_log log = { .write = keep };

	n_lines = 0;
	lines[0] = '\0';
	return ibcc_plugin_options_parse(text, o, &log);
}

static void test_defaults(void **state)
{
	static const char *const text[] = { NULL, "", "  ",
					    "ccmgr --conf_file /etc/x armgr window=9" };
	struct ibcc_plugin_options o;

	(void)state;
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(parse(text[i], &o), 0);
		assert_string_equal(o.socket, IBCC_PROTO_SOCKET);
		assert_int_equal(o.gid, (gid_t)-1);
		assert_int_equal(o.mode, 0660);
		assert_int_equal(o.window, 64);
		assert_int_equal(o.timeout_ms, 200);
		assert_int_equal(o.retries, 3);
		assert_int_equal(o.max_delay, 16383);
		assert_int_equal(o.max_timer, 65535);
		assert_int_equal(o.sets_per_minute, 60);
		assert_int_equal(o.revert_after_s, 0);
		assert_int_equal(n_lines, 0);
	}
}

/* The daemon's group has the socket without a word in opensm.conf, if OpenSM may give it. */
static void test_group_of_the_daemon(void **state)
{
	struct ibcc_plugin_options o;

	(void)state;
	has_ibcc = true;
	assert_int_equal(parse(NULL, &o), 0);
	assert_int_equal(o.gid, geteuid() ? (gid_t)-1 : 4712);
	assert_int_equal(parse("ibcc.group=root", &o), 0);
	assert_int_equal(o.gid, 0);
	assert_int_equal(parse("ibcc.group=ibcc", &o), 0);
	assert_int_equal(o.gid, 4712);
	has_ibcc = false;
	assert_int_equal(parse("ibcc.group=ibcc", &o), -EINVAL);
}

static void test_all(void **state)
{
	struct ibcc_plugin_options o;

	(void)state;
	assert_int_equal(parse("--other x ibcc.socket=/run/a\tibcc.group=root ibcc.mode=0600 "
			       "ibcc.window=128 ibcc.timeout_ms=50 ibcc.retries=0\n",
			       &o),
			 0);
	assert_string_equal(o.socket, "/run/a");
	assert_int_equal(o.gid, 0);
	assert_int_equal(o.mode, 0600);
	assert_int_equal(o.window, 128);
	assert_int_equal(o.timeout_ms, 50);
	assert_int_equal(o.retries, 0);
	assert_int_equal(parse("ibcc.max_delay=200 ibcc.max_timer=300 ibcc.sets_per_minute=0 "
			       "ibcc.revert_after_s=90",
			       &o),
			 0);
	assert_int_equal(o.max_delay, 200);
	assert_int_equal(o.max_timer, 300);
	assert_int_equal(o.sets_per_minute, 0);
	assert_int_equal(o.revert_after_s, 90);
	assert_int_equal(parse("ibcc.group=4711", &o), 0);
	assert_int_equal(o.gid, 4711);
	assert_int_equal(n_lines, 0);
}

/* A bad number keeps its default, and what follows still counts. */
static void test_bad_numbers(void **state)
{
	struct ibcc_plugin_options o;

	(void)state;
	assert_int_equal(parse("ibcc.window=129 ibcc.timeout_ms=0 ibcc.retries=-1 ibcc.windw=3 "
			       "ibcc.window= ibcc.retries=0x3 ibcc.socket ibcc.timeout_ms=70",
			       &o),
			 0);
	assert_int_equal(o.window, 64);
	assert_int_equal(o.timeout_ms, 70);
	assert_int_equal(o.retries, 3);
	assert_int_equal(n_lines, 7);
	assert_non_null(strstr(lines, "ibcc.window: got 129, want 1..128; using 64"));
	assert_non_null(strstr(lines, "ibcc.windw: unknown"));
	assert_non_null(strstr(lines, "got ibcc.socket, want ibcc.socket=VALUE"));
	assert_int_equal(parse("ibcc.window=99999999999999999999", &o), 0);
	assert_int_equal(o.window, 64);
	assert_int_equal(n_lines, 1);
}

static void test_idle(void **state)
{
	static const char *const text[] = {
		"ibcc.socket=relative",  "ibcc.socket=",    "ibcc.mode=rw-rw----",
		"ibcc.mode=888",         "ibcc.mode=1777",  "ibcc.group=no-such-group-here",
		"ibcc.group=4294967295", "ibcc.group=",     "ibcc.group=odd",
		"ibcc.group=odd2",       "ibcc.group=odd3", "ibcc.group=odd4",
		"ibcc.group=odd5",
	};
	struct ibcc_plugin_options o;
	char path[256] = "ibcc.socket=/";

	(void)state;
	for (unsigned int i = 0; i < sizeof(text) / sizeof(*text); i++) {
		assert_int_equal(parse(text[i], &o), -EINVAL);
		assert_int_equal(n_lines, 1);
		assert_non_null(strstr(lines, "ERR IC02"));
	}
	/* sun_path has 108 bytes, of which 12 are kept for the suffix of the socket in the making.
	 */
	memset(path + strlen(path), 'x', 95);
	assert_int_equal(parse(path, &o), 0);
	assert_int_equal(strlen(o.socket), 96);
	strcat(path, "x");
	assert_int_equal(parse(path, &o), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_group_of_the_daemon),
		cmocka_unit_test(test_all),      cmocka_unit_test(test_bad_numbers),
		cmocka_unit_test(test_idle),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
