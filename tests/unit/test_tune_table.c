/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Tables as the command line wants them: each wish in a process of its own, as in real life. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/tune/table.h"

static const struct tune_column columns[] = {
	{ "NODE", IBCC_LEFT, "name and GUID" },
	{ "MB/s", IBCC_RIGHT, "what it sends" },
	{ "WHY", IBCC_LEFT, "a word on it" },
};
static bool explains; /* whether a legend is wanted */
static const char *const rows[][3] = {
	{ "b", "9.5", "plain" },
	{ "a 0x b 0x0a", "100", "a, \"quoted\" word" },
	{ "c", "20", NULL },
};

/* What is printed with these wishes. */
static const char *printed(const char *choose, const char *sort, bool csv, const char *missed)
{
	static char text[4096];
	int fd[2], status;
	ssize_t n, len = 0;
	pid_t pid;

	assert_int_equal(pipe(fd), 0);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct libscols_table *t;
		const char *got, *known = NULL;

		dup2(fd[1], STDOUT_FILENO);
		tune_table_wish(choose, sort, csv);
		if (explains)
			tune_table_explain();
		if (tune_table_missed(&known)) /* unknown before there is a table */
			_exit(2);
		t = tune_table_new(columns, 3);
		for (size_t i = 0; i < 3; i++)
			tune_table_add(t, rows[i], 0, TUNE_RED);
		tune_table_print_under(t, "Heading");
		got = tune_table_missed(&known);
		fflush(stdout);
		_exit(missed ? !got || strcmp(got, missed) != 0 : got != NULL);
	}
	close(fd[1]);
	while ((n = read(fd[0], text + len, sizeof(text) - 1 - (size_t)len)) > 0)
		len += n;
	text[len] = '\0';
	close(fd[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	return text;
}

static void test_plain(void **state)
{
	(void)state;
	assert_string_equal(printed(NULL, NULL, false, NULL),
			    "\nHeading\nNODE        MB/s WHY\nb            9.5 plain\n"
			    "a 0x b 0x0a  100 a, \"quoted\" word\nc             20 \n");
}

static void test_columns(void **state)
{
	(void)state;
	assert_string_equal(printed("mb/s,NODE", NULL, false, NULL),
			    "\nHeading\nMB/s NODE\n 9.5 b\n 100 a 0x b 0x0a\n  20 c\n");
	assert_string_equal(printed("node", "NODE", true, NULL),
			    "NODE,GUID\na 0x b,0x0a\nb,\nc,\n");
}

/* Numbers by their values: 9.5 is less than 20, though '9' is behind '2'. */
static void test_sort(void **state)
{
	(void)state;
	assert_string_equal(printed("NODE", "mb/s", true, NULL),
			    "NODE,GUID\nb,\nc,\na 0x b,0x0a\n");
	assert_string_equal(printed("NODE", "-mb/s", true, NULL),
			    "NODE,GUID\na 0x b,0x0a\nc,\nb,\n");
}

static void test_csv(void **state)
{
	(void)state;
	assert_string_equal(printed(NULL, NULL, true, NULL),
			    "NODE,GUID,MB/s,WHY\nb,,9.5,plain\na 0x b,0x0a,100,\"a, \"\"quoted\"\" "
			    "word\"\nc,,20,\n");
}

static void test_missed(void **state)
{
	(void)state;
	printed("NODE,nonsense", NULL, false, "nonsense");
	printed(NULL, "-nothing", false, "nothing");
	/* A table without any of the columns is none that was asked for. */
	assert_string_equal(printed("nonsense", NULL, false, "nonsense"), "");
}

/* What the columns mean that are shown, and nothing in CSV. */
static void test_legend(void **state)
{
	(void)state;
	explains = true;
	assert_string_equal(printed("mb/s,NODE", NULL, false, NULL),
			    "\nHeading\nMB/s NODE\n 9.5 b\n 100 a 0x b 0x0a\n  20 c\n"
			    "\n  MB/s           what it sends\n  NODE           name and GUID\n");
	assert_string_equal(printed("node", NULL, true, NULL), "NODE,GUID\nb,\na 0x b,0x0a\nc,\n");
	explains = false;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),  cmocka_unit_test(test_columns),
		cmocka_unit_test(test_sort),   cmocka_unit_test(test_csv),
		cmocka_unit_test(test_missed), cmocka_unit_test(test_legend),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
