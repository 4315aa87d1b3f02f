/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Scenario files in tests: valid ones, and the errors of invalid ones. */
#ifndef TEST_SCENARIOS_H
#define TEST_SCENARIOS_H

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include <ibcc/scenario_file.h>

#include "tests/unit/files.h"

static inline void load_ok(const char *path, struct ibcc_scenario *s)
{
	struct ibcc_yaml_errors e = { 0 };
	int rc = ibcc_scenario_load(path, s, &e);

	assert_string_equal(e.text ? e.text : "", "");
	assert_int_equal(rc, 0);
	ibcc_yaml_errors_fini(&e);
}

static inline void text_ok(const char *text, struct ibcc_scenario *s)
{
	load_ok(files_write("s.yaml", text), s);
}

/* Each "%" in `errors` stands for the file's name and a colon. */
static inline void text_bad(const char *text, const char *errors)
{
	const char *path = files_write("s.yaml", text);
	struct ibcc_scenario s = { .seed = 4711 };
	struct ibcc_yaml_errors e = { 0 };
	char want[8192] = "";
	size_t len = 0;

	for (; *errors; errors++)
		len += (size_t)snprintf(want + len, sizeof(want) - len,
					*errors == '%' ? "%s:" : "%.1s",
					*errors == '%' ? path : errors);
	assert_int_equal(ibcc_scenario_load(path, &s, &e), -EINVAL);
	assert_string_equal(e.text ? e.text : "", want);
	assert_int_equal(s.seed, 4711); /* the value is unchanged */
	ibcc_yaml_errors_fini(&e);
}

/* The file is refused with this one error, at this place. */
static inline void text_has(const char *text, const char *error)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;

	assert_int_equal(ibcc_scenario_load(files_write("s.yaml", text), &s, &e), -EINVAL);
	assert_int_equal(e.n, 1);
	assert_string_equal(strstr(e.text, "s.yaml:") + strlen("s.yaml:"), error);
	ibcc_yaml_errors_fini(&e);
}

/* Two hosts at a switch. */
#define PAIR                                                                                       \
	"topology:\n  rate: 10 Gb/s\n  nodes:\n  - {host: [a, b]}\n"                               \
	"  - {switch: s, ports: 4}\n  links: [[a, s/1], [b, s/2]]\n"
#define SMALL                                                                                      \
	"topology:\n  nodes:\n  - {host: [a, b, c]}\n  - {switch: s, ports: 4}\n"                  \
	"  links: [[a, s/1], [b, s/2], [c/1, s/3]]\n"
#define HEAD "name: x\nduration_ms: 1\n"
#define FLOW "traffic: [{from: a, to: b}]\n"

#endif
