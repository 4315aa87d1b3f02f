/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a daemon logs at its default level while 648 hosts congest: a line for each root and each
 * decision, whatever their numbers do.
 */
#include "loop.h"

#include <fcntl.h>
#include <unistd.h>

#include <ibcc/log.h>

#include "tests/unit/files.h"

#include "daemon/explain.h"

#define LARGE     "perftest/scenarios/large.yaml"
#define PASS_PS   (1000 * IBCC_PS_PER_US)
#define PASSES    60u /* a minute of a fabric that is read every second */
#define MAX_LINES 20u

static int old_stderr;

static void log_to_file(const char *path)
{
	int fd = open(path, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	fflush(stderr);
	old_stderr = dup(STDERR_FILENO);
	assert_true(old_stderr >= 0 && dup2(fd, STDERR_FILENO) >= 0);
	close(fd);
	ibcc_log_open("ibcc-tuned", IBCC_LOG_STDERR, NULL, LOG_INFO);
}

/* Lines of the file, which are shown. */
static unsigned int log_lines(const char *path)
{
	char line[4096];
	unsigned int n = 0;
	FILE *f;

	fflush(stderr);
	assert_true(dup2(old_stderr, STDERR_FILENO) >= 0);
	close(old_stderr);
	f = fopen(path, "r");
	assert_non_null(f);
	for (; fgets(line, sizeof(line), f); n++)
		print_message("%.200s%s", line, strlen(line) > 200 ? "\n" : "");
	fclose(f);
	return n;
}

static unsigned int lines_of(const char *scenario, unsigned int passes, bool dry)
{
	struct ibcc_explain *x = ibcc_explain_new();
	const char *path = files_path("log");
	struct loop l;

	assert_non_null(x);
	loop_start(&l, scenario, PASS_PS, &loop_hardware, NULL);
	l.dry = dry;
	log_to_file(path);
	while (passes--) {
		loop_passes(&l, 1);
		ibcc_explain_cycle(x, &l.c, l.c.act_err ? IBCC_TROUBLE_WRITE : IBCC_TROUBLE_NONE,
				   l.c.act_err, l.c.blocked.text);
	}
	loop_end(&l);
	ibcc_explain_free(x);
	return log_lines(path);
}

static void test_observer(void **state)
{
	unsigned int n = lines_of(LARGE, PASSES, true);

	(void)state;
	assert_in_range(n, 3, MAX_LINES);
}

/* The decision and what came of it are told in any case. */
static void test_writer(void **state)
{
	unsigned int n = lines_of("perftest/scenarios/lustre.yaml", 2 * PASSES, false);

	(void)state;
	assert_in_range(n, 4, MAX_LINES);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_observer),
		cmocka_unit_test(test_writer),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
