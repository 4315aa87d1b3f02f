/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Log lines on stderr, and the fields that go to the journal. */
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/uio.h>

#include <cmocka.h>

#include <ibcc/log.h>

#include "files.h"

/* The journal of this test: the fields of the last message, one a line. */
static char journal[4096];

static int sendv(const struct iovec *iov, int n)
{
	size_t len = 0;

	for (int i = 0; i < n; i++)
		len += (size_t)snprintf(journal + len, sizeof(journal) - len, "%.*s\n",
					(int)iov[i].iov_len, (const char *)iov[i].iov_base);
	return 0;
}

static int real_stderr = -1;

/* stderr into a file, and back with what was written. */
static void capture(void)
{
	int fd =
		open(files_path("stderr"), O_RDWR | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	real_stderr = dup(STDERR_FILENO);
	assert_true(dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
}

static char *release(void)
{
	assert_true(dup2(real_stderr, STDERR_FILENO) >= 0);
	close(real_stderr);
	return files_read(files_path("stderr"));
}

static void use_journal(void)
{
	char stream[64];
	struct stat st;

	assert_int_equal(fstat(STDERR_FILENO, &st), 0);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	ibcc_log_open("tester", IBCC_LOG_AUTO, sendv, LOG_INFO);
	*journal = '\0';
}

static const struct ibcc_log_change change = {
	.guid = 0x2c903000a1b2cull,
	.port = 1,
	.param = "CCTI_Timer",
	.old_text = "0",
	.new_text = "8",
	.reason = "3 contributors at leaf2/2",
};

static void test_prefixed_lines(void **state)
{
	char *text;

	(void)state;
	unsetenv("JOURNAL_STREAM");
	capture();
	ibcc_log_open("tester", IBCC_LOG_AUTO, sendv, LOG_INFO);
	ibcc_log(LOG_ERR, "one %d", 1);
	ibcc_log(LOG_DEBUG, "too much");
	ibcc_log(LOG_INFO, "two\nlines");
	ibcc_log_set_level(LOG_ERR);
	ibcc_log(LOG_INFO, "too much");
	ibcc_log_set_level(LOG_DEBUG);
	ibcc_log(LOG_DEBUG, "%s", "");
	ibcc_log(LOG_DEBUG, "three\033[2J\xc2\x9b"); /* what terminals obey */
	ibcc_log_change_event(LOG_NOTICE, "would set", &change);
	text = release();
	assert_string_equal(
		text, "<3>tester: one 1\n<6>tester: two\n<6>tester: lines\n<7>tester: three?[2J??\n"
		      "<5>tester: would set: node 0x0002c903000a1b2c port 1: CCTI_Timer: 0 -> "
		      "8 (3 contributors at leaf2/2)\n");
	free(text);
}

static void test_long_messages_are_cut(void **state)
{
	char big[8000], *text;

	(void)state;
	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	capture();
	ibcc_log_open("tester", IBCC_LOG_STDERR, sendv, LOG_INFO);
	ibcc_log(LOG_INFO, "%s", big);
	text = release();
	assert_in_range(strlen(text), 4000, 4150);
	assert_int_equal(text[strlen(text) - 1], '\n');
	free(text);
}

static void test_journal_message(void **state)
{
	char *text;

	(void)state;
	capture();
	use_journal();
	ibcc_log(LOG_WARNING, "port %s is hot\nand slow", "leaf2/2");
	text = release();
	assert_string_equal(journal, "PRIORITY=4\nSYSLOG_IDENTIFIER=tester\n"
				     "MESSAGE=port leaf2/2 is hot\nand slow\n");
	assert_string_equal(text, "");
	free(text);
}

/* Each kind has a number of its own. */
static void test_journal_kind(void **state)
{
	char want[128];

	(void)state;
	capture();
	use_journal();
	ibcc_log_of(IBCC_LOG_DRIFT, LOG_WARNING, "drift: %d nodes", 2);
	snprintf(want, sizeof(want),
		 "MESSAGE_ID=%s\nPRIORITY=4\nSYSLOG_IDENTIFIER=tester\nMESSAGE=drift: 2 nodes\n",
		 ibcc_log_id(IBCC_LOG_DRIFT));
	assert_string_equal(journal, want);
	free(release());
	assert_null(ibcc_log_id(IBCC_LOG_KINDS));
	for (int i = 0; i < IBCC_LOG_KINDS; i++) {
		assert_int_equal(strlen(ibcc_log_id((enum ibcc_log_kind)i)), 32);
		for (int k = 0; k < i; k++)
			assert_string_not_equal(ibcc_log_id((enum ibcc_log_kind)i),
						ibcc_log_id((enum ibcc_log_kind)k));
	}
}

static void test_journal_change(void **state)
{
	struct ibcc_log_change c = change;

	(void)state;
	capture();
	use_journal();
	ibcc_log_change_event(LOG_INFO, "set", &c);
	assert_string_equal(
		journal, "MESSAGE_ID=4c1b3f0e5a7d4f0bb7a6d2f3c98e1d57\nIB_GUID=0x0002c903000a1b2c\n"
			 "IB_PORT=1\nPARAM=CCTI_Timer\nOLD=0\nNEW=8\n"
			 "REASON=3 contributors at leaf2/2\nPRIORITY=6\n"
			 "SYSLOG_IDENTIFIER=tester\n"
			 "MESSAGE=set: node 0x0002c903000a1b2c port 1: CCTI_Timer: 0 -> 8 "
			 "(3 contributors at leaf2/2)\n");
	c.old_text = c.reason = NULL;
	ibcc_log_change_event(LOG_INFO, "set", &c);
	assert_null(strstr(journal, "OLD="));
	assert_null(strstr(journal, "REASON="));
	*journal = '\0';
	ibcc_log_change_event(LOG_DEBUG, "set", &c);
	assert_string_equal(journal, "");
	free(release());
}

static void test_stale_journal_stream(void **state)
{
	char *text;

	(void)state;
	/* A parent's variable for a stderr that has been redirected since. */
	setenv("JOURNAL_STREAM", "1:1", 1);
	capture();
	ibcc_log_open("tester", IBCC_LOG_AUTO, sendv, LOG_INFO);
	ibcc_log(LOG_INFO, "here");
	text = release();
	assert_string_equal(text, "<6>tester: here\n");
	free(text);
}

/* As ibcc-tune has it: no journal, wherever stderr leads. */
static void test_no_journal(void **state)
{
	char *text;

	(void)state;
	capture();
	use_journal();
	ibcc_log_open("tester", IBCC_LOG_AUTO, NULL, LOG_INFO);
	ibcc_log(LOG_INFO, "here");
	ibcc_log_change_event(LOG_INFO, "would set", &change);
	text = release();
	assert_string_equal(text, "<6>tester: here\n<6>tester: would set: node 0x0002c903000a1b2c "
				  "port 1: CCTI_Timer: 0 -> 8 (3 contributors at leaf2/2)\n");
	assert_string_equal(journal, "");
	free(text);
}

#define THREADS 8
#define LINES   500

static void *talk(void *arg)
{
	for (int i = 0; i < LINES; i++)
		ibcc_log(LOG_INFO, "thread %d says line %d of its own", *(int *)arg, i);
	return NULL;
}

static void test_threads_keep_lines_whole(void **state)
{
	pthread_t thread[THREADS];
	int number[THREADS], next[THREADS] = { 0 }, lines = 0;
	char *text, *line, *rest;

	(void)state;
	unsetenv("JOURNAL_STREAM");
	capture();
	ibcc_log_open("tester", IBCC_LOG_STDERR, sendv, LOG_INFO);
	for (int i = 0; i < THREADS; i++) {
		number[i] = i;
		assert_int_equal(pthread_create(&thread[i], NULL, talk, &number[i]), 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	text = release();
	for (line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		int t, n;

		assert_int_equal(
			sscanf(line, "<6>tester: thread %d says line %d of its own", &t, &n), 2);
		assert_in_range(t, 0, THREADS - 1);
		assert_int_equal(n, next[t]++);
		lines++;
	}
	assert_int_equal(lines, THREADS * LINES);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_prefixed_lines),
		cmocka_unit_test(test_long_messages_are_cut),
		cmocka_unit_test(test_journal_message),
		cmocka_unit_test(test_journal_kind),
		cmocka_unit_test(test_journal_change),
		cmocka_unit_test(test_stale_journal_stream),
		cmocka_unit_test(test_no_journal),
		cmocka_unit_test(test_threads_keep_lines_whole),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
