/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The sentences about a prediction's latency, as `plan` and `history` print them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "daemon/tune/prediction.h"

/* What is printed of a prediction, in one line. */
static const char *print_of(const char *what, const char *latency, const char *more)
{
	static char text[2048];
	char json[512];
	int fd[2], status;
	ssize_t n, len = 0;
	pid_t pid;

	snprintf(json, sizeof(json),
		 "{\"known\": true, \"baseline_age_s\": 60, \"total\": {\"now_mbps\": 1000, "
		 "\"expected_mbps\": 980, \"low_mbps\": 900, \"high_mbps\": 1060}, \"latency\": "
		 "%s%s}",
		 latency, more);
	assert_int_equal(pipe(fd), 0);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		json_t *p = json_loads(json, 0, NULL);

		dup2(fd[1], STDOUT_FILENO);
		if (p)
			tune_print_prediction(p, what);
		fflush(stdout);
		_exit(!p);
	}
	close(fd[1]);
	while ((n = read(fd[0], text + len, sizeof(text) - 1 - (size_t)len)) > 0)
		len += n;
	close(fd[0]);
	text[len] = '\0';
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	for (char *c = text; *c; c++)
		if (*c == '\n')
			*c = ' ';
	return text;
}

static const char *printed(const char *latency, const char *more)
{
	return print_of("plan", latency, more);
}

static void assert_in(const char *text, const char *want, bool is)
{
	if ((strstr(text, want) != NULL) != is)
		fail_msg("%s \"%s\": %s", is ? "lacks" : "has", want, text);
}

static void test_latency(void **state)
{
	const char *text;

	(void)state;
	text = printed("{\"now_us\": 102.04, \"expected_us\": 7.1}", ", \"trades\": false");
	assert_in(text, "total -2 %", true);
	assert_in(text,
		  "Packets to other destinations take 102 us now and 7.1 us with the plan, on "
		  "average.",
		  true);
	assert_in(text, "costs throughput", false);
	text = printed("{\"now_us\": 102, \"expected_us\": 7}",
		       ", \"trades\": true, \"advised\": false");
	assert_in(text,
		  "So the plan costs throughput and reduces latency. It is not recommended, "
		  "because the configuration has prefer: throughput.",
		  true);
	text = printed("{\"now_us\": 102, \"expected_us\": 7}",
		       ", \"trades\": true, \"advised\": true");
	assert_in(text,
		  "reduces latency. It is recommended, because the configuration has prefer: "
		  "latency.",
		  true);
	text = printed("{\"now_us\": 102, \"expected_us\": 99}",
		       ", \"costs\": true, \"trades\": false, \"advised\": false");
	assert_in(text,
		  "on average. So the plan costs throughput, and reduces latency little or not at "
		  "all. It is not recommended.",
		  true);
	text = printed("null", ", \"costs\": true, \"trades\": false, \"advised\": false");
	assert_in(text, "So the plan costs throughput. It is not recommended.", true);
	/* Not known, and of a release that did not have it. */
	assert_in(printed("null", ""), "Packets", false);
}

/* Advice has a verdict of its own, whatever the configuration prefers. */
static void test_profile(void **state)
{
	const char *text;

	(void)state;
	text = print_of("profile", "{\"now_us\": 12.5, \"expected_us\": 3.25}",
			", \"costs\": true, \"trades\": true, \"advised\": true");
	assert_in(text, "12.5 us now and 3.25 us with the profile, on average.", true);
	assert_in(text, "recommended", false);
	assert_in(text, "plan", false);
	text = print_of("profile", "null", ", \"costs\": true, \"trades\": false");
	assert_in(text, "recommended", false);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_latency),
		cmocka_unit_test(test_profile),
	};

	return cmocka_run_group_tests_name("prediction_words", tests, NULL, NULL);
}
