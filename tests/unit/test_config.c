/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's configuration: defaults, the shipped sample, all mistakes of a file at once, the key
 * file.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <syslog.h>

#include <cmocka.h>

#include <ibcc/config.h>
#include <ibcc/log.h>
#include <ibcc/proto.h>

#include "files.h"

static char *dump(const struct ibcc_config *c)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	assert_int_equal(ibcc_config_dump(c, f), 0);
	fclose(f);
	return text;
}

static void assert_equal(const struct ibcc_config *a, const struct ibcc_config *b)
{
	char *x = dump(a), *y = dump(b);

	assert_string_equal(x, y);
	free(x);
	free(y);
}

static void load_ok(const char *path, struct ibcc_config *c)
{
	struct ibcc_yaml_errors e = { 0 };
	int rc = ibcc_config_load(path, NULL, c, &e);

	assert_string_equal(e.text ? e.text : "", "");
	assert_int_equal(rc, 0);
	ibcc_yaml_errors_fini(&e);
}

/* Each "%" in errors stands for the file's name and a colon. */
static void text_bad(const char *text, const char *errors)
{
	const char *path = files_write("c.yaml", text);
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_config c;
	char want[4096] = "";
	size_t len = 0;

	for (; *errors; errors++)
		len += (size_t)snprintf(want + len, sizeof(want) - len,
					*errors == '%' ? "%s:" : "%.1s",
					*errors == '%' ? path : errors);
	ibcc_config_defaults(&c, NULL);
	c.interval_ms = 4711;
	assert_int_equal(ibcc_config_load(path, NULL, &c, &e), -EINVAL);
	assert_string_equal(e.text ? e.text : "", want);
	assert_int_equal(c.interval_ms, 4711); /* untouched */
	ibcc_yaml_errors_fini(&e);
}

static void test_defaults_are_safe(void **state)
{
	struct ibcc_config c;

	(void)state;
	ibcc_config_defaults(&c, NULL);
	assert_int_equal(c.mode, IBCC_MODE_OBSERVE);
	assert_int_equal(c.apply_via, IBCC_VIA_PLUGIN);
	assert_int_equal(c.log_target, IBCC_LOG_AUTO);
	assert_int_equal(c.log_level, LOG_INFO);
	assert_string_equal(c.plugin_socket, IBCC_PROTO_SOCKET);
	assert_string_equal(c.cc_key_file, "");
}

static void test_empty_file_is_the_defaults(void **state)
{
	struct ibcc_config c, d;

	(void)state;
	ibcc_config_defaults(&d, NULL);
	load_ok(files_write("c.yaml", ""), &c);
	assert_equal(&c, &d);
	load_ok("systemd/ibcc-tuned.yaml", &c);
	assert_equal(&c, &d);
}

/* The sample has the lines of the dump, in its order; the first that differs is named. */
static void assert_same_lines(const char *sample, const char *dumped)
{
	while (*sample && *dumped) {
		int a = (int)strcspn(sample, "\n"), b = (int)strcspn(dumped, "\n");

		if (a != b || strncmp(sample, dumped, (size_t)a))
			fail_msg("systemd/ibcc-tuned.yaml has \"#%.*s\", want \"#%.*s\"", a, sample,
				 b, dumped);
		sample += a + 1;
		dumped += b + 1;
	}
	assert_string_equal(sample, dumped);
}

/* Settings in the sample are the lines "#key" and "#  key": without the #, they are the defaults,
 * and all of them.
 */
static void test_sample_shows_all_defaults(void **state)
{
	char *sample = files_read("systemd/ibcc-tuned.yaml"), *dumped, *line, *rest, *out;
	char *text = calloc(1, strlen(sample) + 1);
	struct ibcc_config c, d;

	(void)state;
	assert_non_null(text);
	out = text;
	for (line = strtok_r(sample, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest))
		if (line[0] == '#' && line[1] && (line[1] != ' ' || line[2] == ' '))
			out += sprintf(out, "%s\n", line + 1);
	load_ok(files_write("c.yaml", text), &c);
	ibcc_config_defaults(&d, NULL);
	assert_equal(&c, &d);
	dumped = dump(&d);
	assert_same_lines(text, dumped);
	free(dumped);
	free(text);
	free(sample);
}

static void test_manual_has_all_keys(void **state)
{
	char *manual = files_read("man/ibcc-tuned.yaml.5"), *dumped, *line, *rest, want[80];
	struct ibcc_config c;

	(void)state;
	ibcc_config_defaults(&c, NULL);
	dumped = dump(&c);
	for (line = strtok_r(dumped, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		line += strspn(line, " ");
		snprintf(want, sizeof(want), "\n.It Cm %.*s\n", (int)strcspn(line, ":"), line);
		if (!strstr(manual, want))
			fail_msg("man/ibcc-tuned.yaml.5 lacks \".It Cm %.*s\"",
				 (int)strcspn(line, ":"), line);
	}
	free(dumped);
	free(manual);
}

static struct ibcc_config all;

/* A value for each key that is not its default, and the member that has to hold it. A number is
 * what its member holds, a word of a list stands for the number behind it. ibcc_config_dump() knows
 * all keys: test_all_keys() fails for one that is not here.
 */
static const struct key {
	const char *key, *value; /* as the dump has them; no value: a mapping begins */
	const void *member;
	size_t size; /* of a number; 0: a string */
	uint64_t number;
	const char *string; /* what the member holds, in quotes */
} keys[] = {
#define WORD(key, value, member, number)                                                           \
	{                                                                                          \
		key, value, &all.member, sizeof(all.member), number, NULL                          \
	}
#define NUMBER(key, value, member) WORD(key, #value, member, value)
#define STRING(key, value, member)                                                                 \
	{                                                                                          \
		key, "\"" value "\"", all.member, 0, 0, "\"" value "\""                            \
	}
	WORD("mode", "apply", mode, IBCC_MODE_APPLY),
	WORD("apply_via", "direct", apply_via, IBCC_VIA_DIRECT),
	WORD("drift", "repair", drift, IBCC_DRIFT_REPAIR),
	STRING("ca", "mlx5_0", ca),
	NUMBER("port", 2, port),
	NUMBER("interval_ms", 50, interval_ms),
	NUMBER("fast_interval_ms", 20, fast_interval_ms),
	NUMBER("fast_nodes", 7, fast_nodes),
	NUMBER("pass_deadline_ms", 30, pass_deadline_ms),
	WORD("clear_counters", "true", clear_counters, true),
	WORD("trust_lft", "true", trust_lft, true),
	WORD("vendor_writes", "experimental", vendor_writes, IBCC_VENDOR_WRITES_EXPERIMENTAL),
	STRING("vendor_opensm_conf", "/o", vendor_opensm_conf),
	WORD("rollout", "all", rollout, IBCC_ROLLOUT_WAY_ALL),
	NUMBER("timeout_ms", 51, timeout_ms),
	NUMBER("retries", 0, retries),
	NUMBER("window", 128, window),
	NUMBER("node_window", 4, node_window),
	NUMBER("node_gap_us", 1, node_gap_us),
	STRING("plugin_socket", "/a", plugin_socket),
	STRING("control_socket", "/b", control_socket),
	STRING("user", "u", user),
	STRING("control_read_group", "r", control_read_group),
	STRING("control_write_group", "w", control_write_group),
	{ "state_file", "\"/c \\\" d\"", all.state_file, 0, 0, "\"/c \" d\"" },
	NUMBER("history_mb", 65, history_mb),
	NUMBER("predict_cpu_s", 11, predict_cpu_s),
	WORD("prefer", "latency", prefer, IBCC_PREFER_LATENCY),
	STRING("cc_key_file", "/e", cc_key_file),
	STRING("key_dir", "/k", key_dir),
	STRING("node_name_map", "/n", node_name_map),
	STRING("jobs_file", "/j", jobs_file),
	STRING("jobs_host_pattern", "^(.*)$", jobs_host_pattern),
	WORD("jobs_names", "none", jobs_names, IBCC_JOBS_NAMES_NONE),
	STRING("metrics_listen", "10315", metrics_listen),
	STRING("metrics_file", "/f", metrics_file),
	WORD("compat_names", "true", compat_names, true),
	{ .key = "log" },
	WORD("  target", "stderr", log_target, IBCC_LOG_STDERR),
	WORD("  level", "debug", log_level, LOG_DEBUG),
	{ .key = "estimator" },
	NUMBER("  full_permille", 101, estimator.full_permille),
	NUMBER("  fed_wait_permille", 102, estimator.fed_wait_permille),
	NUMBER("  ca_wait_permille", 103, estimator.ca_wait_permille),
	NUMBER("  slow_wait_permille", 104, estimator.slow_wait_permille),
	NUMBER("  stale_permille", 105, estimator.stale_permille),
	{ .key = "tuner" },
	NUMBER("  confirm_passes", 6, tuner.confirm_passes),
	NUMBER("  settle_passes", 8, tuner.settle_passes),
	NUMBER("  sink_busy_permille", 106, tuner.sink_busy_permille),
	NUMBER("  victim_wait_permille", 107, tuner.victim_wait_permille),
	NUMBER("  quiet_passes", 9, tuner.quiet_passes),
	NUMBER("  guard_passes", 12, tuner.guard_passes),
	{ .key = "bounds" },
	NUMBER("  max_delay", 13, bounds.max_delay),
	NUMBER("  max_timer", 14, bounds.max_timer),
	NUMBER("  sets_per_minute", 15, bounds.sets_per_minute),
};
#define N_KEYS (sizeof(keys) / sizeof(keys[0]))

static char *text_of_keys(void)
{
	char *text = NULL;
	size_t len = 0;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	for (const struct key *k = keys; k < keys + N_KEYS; k++)
		fprintf(f, "%s:%s%s\n", k->key, k->value ? " " : "", k->value ? k->value : "");
	fclose(f);
	return text;
}

static uint64_t number_of(const struct key *k)
{
	switch (k->size) {
	case 1: return *(const uint8_t *)k->member; /* a bool, too */
	case 2: return *(const uint16_t *)k->member;
	case 4: return *(const uint32_t *)k->member; /* an int, too */
	}
	return *(const uint64_t *)k->member;
}

static void assert_member(const struct key *k)
{
	char quoted[64];

	if (k->size && number_of(k) != k->number)
		fail_msg("%s: %s: its member is %ju, want %ju", k->key, k->value,
			 (uintmax_t)number_of(k), (uintmax_t)k->number);
	if (!k->member || k->size)
		return;
	snprintf(quoted, sizeof(quoted), "\"%s\"", (const char *)k->member);
	if (strcmp(quoted, k->string))
		fail_msg("%s: its member is %s, want %s", k->key, quoted, k->string);
}

/* Each line of the dump is a key. One that the table lacks, or has twice or in another order, is
 * named, and so is one whose value is the default: it would not show that the key is read.
 */
static void assert_all_keys(char *dumped)
{
	const struct key *k = keys;
	char *line, *rest;

	for (line = strtok_r(dumped, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest), k++) {
		char *value = strchr(line, ':');

		*value++ = '\0';
		if (k == keys + N_KEYS || strcmp(line, k->key))
			fail_msg("the table keys[] of test_config.c lacks \"%s\"%s%s%s", line,
				 k == keys ? "" : ", after \"", k == keys ? "" : k[-1].key,
				 k == keys ? "" : "\"");
		if (k->value && !strcmp(value + 1, k->value))
			fail_msg("the table keys[] of test_config.c has the default of \"%s\"",
				 k->key);
	}
	assert_true(k == keys + N_KEYS);
}

static void test_all_keys(void **state)
{
	struct ibcc_config defaults;
	char *text = text_of_keys(), *dumped;

	(void)state;
	ibcc_config_defaults(&defaults, NULL);
	dumped = dump(&defaults);
	assert_all_keys(dumped);
	free(dumped);
	load_ok(files_write("c.yaml", text), &all);
	for (const struct key *k = keys; k < keys + N_KEYS; k++)
		assert_member(k);
	/* What is dumped is a configuration, the same one. */
	dumped = dump(&all);
	assert_string_equal(dumped, text);
	free(dumped);
	free(text);
}

/* Each of several fabrics has its own places, which its file may change. */
static void test_fabrics(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_config c;

	(void)state;
	ibcc_config_defaults(&c, "ib1");
	assert_string_equal(c.control_socket, "/run/ibcc-tune/ib1.control.sock");
	assert_string_equal(c.plugin_socket, "/run/ibcc-tune/ib1.opensm.sock");
	assert_string_equal(c.state_file, "/var/lib/ibcc-tune/ib1/state.db");
	assert_int_equal(ibcc_config_load(files_write("c.yaml", "state_file: /s\n"), "ib2", &c, &e),
			 0);
	assert_string_equal(c.control_socket, "/run/ibcc-tune/ib2.control.sock");
	assert_string_equal(c.state_file, "/s");
	assert_true(ibcc_config_is_fabric("ib-1_a.b"));
	assert_false(ibcc_config_is_fabric(""));
	assert_false(ibcc_config_is_fabric("../ib1"));
	assert_false(ibcc_config_is_fabric(".."));
	assert_false(ibcc_config_is_fabric("a/b"));
	assert_false(ibcc_config_is_fabric("012345678901234567890123456789012"));
}

static void test_four_mistakes(void **state)
{
	(void)state;
	text_bad("mode: aply\n"
		 "# a comment\n"
		 "intervall_ms: 500\n"
		 "retries: 2\n"
		 "estimator:\n"
		 "  full_permille: 97x\n"
		 "retries: 3\n",
		 "%1:7: mode: got \"aply\", want observe or apply (did you mean apply?)\n"
		 "%3:1: intervall_ms: unknown key, did you mean \"interval_ms\"?\n"
		 "%6:18: estimator.full_permille: got \"97x\", want a whole number from 0 to 1000\n"
		 "%7:1: retries: got the key again, want it once (line 4 has it)\n");
}

static void test_values_out_of_range(void **state)
{
	(void)state;
	text_bad("interval_ms: 9\nport: 255\nwindow: 200\nstate_file: state.db\n"
		 "control_socket: \"\"\nplugin_socket: "
		 "/01230123456789012345678901234567890123456789012345678901234567890123456789012345"
		 "6789"
		 "01"
		 "234567890123456789012345\n",
		 "%1:14: interval_ms: got \"9\", want a whole number from 10 to 3600000\n"
		 "%2:7: port: got \"255\", want a whole number from 0 to 254\n"
		 "%3:9: window: got \"200\", want a whole number from 1 to 128\n"
		 "%4:13: state_file: got \"state.db\", want an absolute path\n"
		 "%5:17: control_socket: got \"\", want a path of 1 to 107 bytes, as sockets take\n"
		 "%6:16: plugin_socket: got "
		 "\"/01230123456789012345678901234567890123456789012...\", "
		 "want a path of 1 to 107 bytes, as sockets take\n");
	text_bad("metrics_listen: localhost:10315\nmetrics_file: ibcc.prom\n",
		 "%1:17: metrics_listen: got \"localhost:10315\", want PORT, ADDRESS:PORT or "
		 "[ADDRESS]:PORT in numbers\n"
		 "%2:15: metrics_file: got \"ibcc.prom\", want an absolute path\n");
	text_bad("jobs_file: jobs.json\njobs_host_pattern: \"(\"\njobs_names: few\n",
		 "%1:12: jobs_file: got \"jobs.json\", want an absolute path\n"
		 "%2:20: jobs_host_pattern: got \"(\", want an extended regular expression whose "
		 "first group is the host name, such as \"^([^ ]+) \"\n"
		 "%3:13: jobs_names: got \"few\", want all, users, jobs or none\n");
	text_bad("jobs_host_pattern: \"^node[0-9]+\"\n",
		 "%1:20: jobs_host_pattern: got \"^node[0-9]+\", want an extended regular "
		 "expression whose first group is the host name, such as \"^([^ ]+) \"\n");
}

static void test_unreadable(void **state)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_config c;

	(void)state;
	assert_int_equal(ibcc_config_load("/nonexistent/c.yaml", NULL, &c, &e), -ENOENT);
	assert_string_equal(e.text,
			    "/nonexistent/c.yaml: cannot be read: No such file or directory\n");
	ibcc_yaml_errors_fini(&e);
}

static void test_dump_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");
	struct ibcc_config c;

	(void)state;
	assert_non_null(full);
	ibcc_config_defaults(&c, NULL);
	assert_int_equal(ibcc_config_dump(&c, full), -EIO);
	fclose(full);
}

static int read_key(const char *text, mode_t mode, uint64_t *key, char *why)
{
	const char *path = files_write("key", text);

	assert_int_equal(chmod(path, mode), 0);
	return ibcc_config_read_key(path, key, why, 256);
}

static void test_key_file(void **state)
{
	static const char *const bad[] = {
		"", "5\n", "0x\n", "0x1g\n", "0x1\n2\n", "-0x1\n", "0x12345678901234567\n"
	};
	char why[256] = "";
	uint64_t key = 7;

	(void)state;
	assert_int_equal(read_key("0xFEDCBA9876543210\n", 0600, &key, why), 0);
	assert_true(key == 0xfedcba9876543210ull);
	assert_int_equal(read_key("0x1", 0400, &key, why), 0);
	assert_true(key == 1);
	assert_int_equal(read_key("0x2\n", 0640, &key, why), -EACCES);
	assert_non_null(strstr(why, "0640"));
	assert_int_equal(read_key("0x2\n", 0604, &key, why), -EACCES);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_int_equal(read_key(bad[i], 0600, &key, why), -EINVAL);
		assert_non_null(strstr(why, "CC_Key"));
	}
	/* A secret is never told, not even a wrong one. */
	assert_int_equal(read_key("0xabcdefg\n", 0600, &key, why), -EINVAL);
	assert_null(strstr(why, "abcdef"));
	assert_int_equal(ibcc_config_read_key("/nonexistent/key", &key, why, sizeof(why)), -ENOENT);
	assert_int_equal(ibcc_config_read_key("/", &key, why, sizeof(why)), -EINVAL);
	assert_true(key == 1); /* untouched by failures */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults_are_safe),
		cmocka_unit_test(test_empty_file_is_the_defaults),
		cmocka_unit_test(test_sample_shows_all_defaults),
		cmocka_unit_test(test_manual_has_all_keys),
		cmocka_unit_test(test_all_keys),
		cmocka_unit_test(test_fabrics),
		cmocka_unit_test(test_four_mistakes),
		cmocka_unit_test(test_values_out_of_range),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_dump_error),
		cmocka_unit_test(test_key_file),
	};

	return cmocka_run_group_tests(tests, files_setup, files_teardown);
}
