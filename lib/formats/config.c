/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's configuration file: one table says every key, its range and how it is printed. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <syslog.h>

#include <ibcc/config.h>
#include <ibcc/file.h>
#include <ibcc/listen.h>
#include <ibcc/log.h>
#include <ibcc/proto.h>

static const char *const modes[] = { "observe", "apply", NULL };
static const char *const vias[] = { "plugin", "direct", NULL };
static const char *const drifts[] = { "report", "repair", NULL };
static const char *const prefers[] = { "throughput", "latency", NULL };
static const char *const vendor_writes[] = { "never", "experimental", NULL };
static const char *const rollouts[] = { "canary", "all", NULL };
static const char *const jobs_names[] = { "all", "users", "jobs", "none", NULL };
static const char *const targets[] = { "auto", "stderr", "journal", NULL };
static const char *const levels[] = { "err", "warning", "notice", "info", "debug", NULL };

#define MEMBER(key, kind, member) IBCC_YAML_MEMBER(key, kind, struct ibcc_config, member)
#define PERMILLE(key, st, member)                                                                  \
	{                                                                                          \
		IBCC_YAML_MEMBER(key, UINT, st, member), .max = 1000                               \
	}

static const struct ibcc_yaml_key log_keys[] = {
	{ MEMBER("target", ENUM, log_target), .names = targets },
	{ MEMBER("level", ENUM, log_level), .names = levels, .min = LOG_ERR },
	{ .name = NULL },
};

static const struct ibcc_yaml_key estimator_keys[] = {
	PERMILLE("full_permille", struct ibcc_estimator_params, full_permille),
	PERMILLE("fed_wait_permille", struct ibcc_estimator_params, fed_wait_permille),
	PERMILLE("ca_wait_permille", struct ibcc_estimator_params, ca_wait_permille),
	PERMILLE("slow_wait_permille", struct ibcc_estimator_params, slow_wait_permille),
	PERMILLE("stale_permille", struct ibcc_estimator_params, stale_permille),
	{ .name = NULL },
};

static const struct ibcc_yaml_key tuner_keys[] = {
	{ IBCC_YAML_MEMBER("confirm_passes", UINT, struct ibcc_tuner_params, confirm_passes),
	  .min = 1, .max = 100 },
	{ IBCC_YAML_MEMBER("settle_passes", UINT, struct ibcc_tuner_params, settle_passes),
	  .min = 1, .max = 100 },
	PERMILLE("sink_busy_permille", struct ibcc_tuner_params, sink_busy_permille),
	PERMILLE("victim_wait_permille", struct ibcc_tuner_params, victim_wait_permille),
	{ IBCC_YAML_MEMBER("quiet_passes", UINT, struct ibcc_tuner_params, quiet_passes), .min = 1,
	  .max = 65535 },
	{ IBCC_YAML_MEMBER("guard_passes", UINT, struct ibcc_tuner_params, guard_passes),
	  .max = 65535 },
	{ .name = NULL },
};

static const struct ibcc_yaml_key bounds_keys[] = {
	{ IBCC_YAML_MEMBER("max_delay", UINT, struct ibcc_bounds, max_delay), .min = 1,
	  .max = IBCC_CCT_MAX_MULT },
	{ IBCC_YAML_MEMBER("max_timer", UINT, struct ibcc_bounds, max_timer), .min = 1,
	  .max = UINT16_MAX },
	{ IBCC_YAML_MEMBER("sets_per_minute", UINT, struct ibcc_bounds, sets_per_minute),
	  .max = 1000000 },
	{ .name = NULL },
};

/* Offsets of the members of `log` count from the whole structure, of the others from theirs. */
static const struct ibcc_yaml_key config_keys[] = {
	{ MEMBER("mode", ENUM, mode), .names = modes },
	{ MEMBER("apply_via", ENUM, apply_via), .names = vias },
	{ MEMBER("drift", ENUM, drift), .names = drifts },
	{ MEMBER("ca", STRING, ca) },
	{ MEMBER("port", UINT, port), .max = 254 },
	{ MEMBER("interval_ms", UINT, interval_ms), .min = 10, .max = 3600000 },
	{ MEMBER("fast_interval_ms", UINT, fast_interval_ms), .min = 10, .max = 3600000 },
	{ MEMBER("fast_nodes", UINT, fast_nodes), .max = 65535 },
	{ MEMBER("pass_deadline_ms", UINT, pass_deadline_ms), .min = 10, .max = 3600000 },
	{ MEMBER("clear_counters", BOOL, clear_counters) },
	{ MEMBER("trust_lft", BOOL, trust_lft) },
	{ MEMBER("vendor_writes", ENUM, vendor_writes), .names = vendor_writes },
	{ MEMBER("vendor_opensm_conf", STRING, vendor_opensm_conf) },
	{ MEMBER("rollout", ENUM, rollout), .names = rollouts },
	{ MEMBER("timeout_ms", UINT, timeout_ms), .min = 1, .max = 60000 },
	{ MEMBER("retries", UINT, retries), .max = 20 },
	/* More than 128 MADs in flight can stop a simulated fabric for good. */
	{ MEMBER("window", UINT, window), .min = 1, .max = 128 },
	{ MEMBER("node_window", UINT, node_window), .min = 1, .max = 4 },
	{ MEMBER("node_gap_us", UINT, node_gap_us), .max = 1000000 },
	{ MEMBER("plugin_socket", STRING, plugin_socket) },
	{ MEMBER("control_socket", STRING, control_socket) },
	{ MEMBER("user", STRING, user) },
	{ MEMBER("control_read_group", STRING, control_read_group) },
	{ MEMBER("control_write_group", STRING, control_write_group) },
	{ MEMBER("state_file", STRING, state_file) },
	{ MEMBER("history_mb", UINT, history_mb), .min = 1, .max = 65536 },
	{ MEMBER("predict_cpu_s", UINT, predict_cpu_s), .max = 3600 },
	{ MEMBER("prefer", ENUM, prefer), .names = prefers },
	{ MEMBER("cc_key_file", STRING, cc_key_file) },
	{ MEMBER("key_dir", STRING, key_dir) },
	{ MEMBER("node_name_map", STRING, node_name_map) },
	{ MEMBER("jobs_file", STRING, jobs_file) },
	{ MEMBER("jobs_host_pattern", STRING, jobs_host_pattern) },
	{ MEMBER("jobs_names", ENUM, jobs_names), .names = jobs_names },
	{ MEMBER("metrics_listen", STRING, metrics_listen) },
	{ MEMBER("metrics_file", STRING, metrics_file) },
	{ MEMBER("compat_names", BOOL, compat_names) },
	{ .name = "log", .type = IBCC_YAML_MAP, .keys = log_keys },
	{ MEMBER("estimator", MAP, estimator), .keys = estimator_keys },
	{ MEMBER("tuner", MAP, tuner), .keys = tuner_keys },
	{ MEMBER("bounds", MAP, bounds), .keys = bounds_keys },
	{ .name = NULL },
};

bool ibcc_config_is_fabric(const char *name)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789_-.";
	size_t len = strlen(name);

	return len && len < IBCC_FABRIC_BYTES && strspn(name, allowed) == len && *name != '.';
}

void ibcc_config_defaults(struct ibcc_config *c, const char *fabric)
{
	*c = (struct ibcc_config){
		.mode = IBCC_MODE_OBSERVE,
		.apply_via = IBCC_VIA_PLUGIN,
		.drift = IBCC_DRIFT_REPORT,
		.interval_ms = 10000,
		.fast_interval_ms = 1000,
		.fast_nodes = 48,
		.pass_deadline_ms = 2000,
		.timeout_ms = 200,
		.retries = 3,
		.window = 32,
		.node_window = 1,
		.node_gap_us = 2000,
		.plugin_socket = IBCC_PROTO_SOCKET,
		.control_socket = "/run/ibcc-tune/control.sock",
		.user = IBCC_CONFIG_USER,
		.state_file = "/var/lib/ibcc-tune/state.db",
		.history_mb = 64,
		.predict_cpu_s = 10,
		.jobs_file = "/run/ibcc-jobs/jobs.json",
		.log_target = IBCC_LOG_AUTO,
		.log_level = LOG_INFO,
		.bounds = IBCC_BOUNDS_DEFAULT,
	};
	ibcc_estimator_defaults(&c->estimator);
	ibcc_tuner_defaults(&c->tuner);
	if (!fabric)
		return;
	snprintf(c->plugin_socket, sizeof(c->plugin_socket), "/run/ibcc-tune/%s.opensm.sock",
		 fabric);
	snprintf(c->control_socket, sizeof(c->control_socket), "/run/ibcc-tune/%s.control.sock",
		 fabric);
	snprintf(c->state_file, sizeof(c->state_file), "/var/lib/ibcc-tune/%s/state.db", fabric);
}

/* A path in a file that a daemon reads must not depend on where that daemon was started. */
static void want_absolute(const struct ibcc_yaml *y, const char *key, const char *path,
			  struct ibcc_yaml_errors *e)
{
	const struct ibcc_yaml_node *n = ibcc_yaml_get(y, ibcc_yaml_root(y), key);

	if (n && *path && *path != '/')
		ibcc_yaml_want(y, e, n, key, "an absolute path");
}

static void want_socket(const struct ibcc_yaml *y, const char *key, const char *path,
			struct ibcc_yaml_errors *e)
{
	want_absolute(y, key, path, e);
	if (!*path || strlen(path) >= sizeof(((struct sockaddr_un *)0)->sun_path))
		ibcc_yaml_want(y, e, ibcc_yaml_get(y, ibcc_yaml_root(y), key), key,
			       "a path of 1 to %zu bytes, as sockets take",
			       sizeof(((struct sockaddr_un *)0)->sun_path) - 1);
}

static void want_pattern(const struct ibcc_yaml *y, const char *pattern, struct ibcc_yaml_errors *e)
{
	regex_t re;
	bool good = !regcomp(&re, pattern, REG_EXTENDED);

	if (!good || !re.re_nsub)
		ibcc_yaml_want(y, e, ibcc_yaml_get(y, ibcc_yaml_root(y), "jobs_host_pattern"),
			       "jobs_host_pattern",
			       "an extended regular expression whose first group is the host name, "
			       "such as \"^([^ ]+) \"");
	if (good)
		regfree(&re);
}

static void check(const struct ibcc_yaml *y, const struct ibcc_config *c,
		  struct ibcc_yaml_errors *e)
{
	struct sockaddr_storage sa;
	socklen_t len;

	want_socket(y, "plugin_socket", c->plugin_socket, e);
	want_socket(y, "control_socket", c->control_socket, e);
	want_absolute(y, "state_file", c->state_file, e);
	want_absolute(y, "cc_key_file", c->cc_key_file, e);
	want_absolute(y, "key_dir", c->key_dir, e);
	want_absolute(y, "vendor_opensm_conf", c->vendor_opensm_conf, e);
	want_absolute(y, "node_name_map", c->node_name_map, e);
	want_absolute(y, "jobs_file", c->jobs_file, e);
	want_absolute(y, "metrics_file", c->metrics_file, e);
	if (c->jobs_host_pattern[0])
		want_pattern(y, c->jobs_host_pattern, e);
	if (c->metrics_listen[0] && ibcc_listen_parse(c->metrics_listen, &sa, &len))
		ibcc_yaml_want(y, e, ibcc_yaml_get(y, ibcc_yaml_root(y), "metrics_listen"),
			       "metrics_listen", "PORT, ADDRESS:PORT or [ADDRESS]:PORT in numbers");
}

int ibcc_config_load(const char *file, const char *fabric, struct ibcc_config *c,
		     struct ibcc_yaml_errors *e)
{
	struct ibcc_config read;
	unsigned int before = e->n;
	struct ibcc_yaml *y = ibcc_yaml_load(file, NULL, e);
	int rc;

	if (!y)
		return -errno;
	ibcc_config_defaults(&read, fabric);
	rc = ibcc_yaml_read(y, ibcc_yaml_root(y), NULL, config_keys, &read, e);
	check(y, &read, e);
	if (!rc && e->n == before)
		*c = read;
	else
		rc = -EINVAL;
	ibcc_yaml_free(y);
	return rc;
}

void ibcc_config_find_socket(const char *file, const char *fabric, struct ibcc_config *c)
{
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_yaml *y = ibcc_yaml_load(file, NULL, &e);
	struct ibcc_config read;

	ibcc_config_defaults(&read, fabric);
	if (y && ibcc_yaml_read(y, ibcc_yaml_root(y), NULL, config_keys, &read, &e) != -ENOMEM &&
	    read.control_socket[0] == '/')
		memcpy(c->control_socket, read.control_socket, sizeof(c->control_socket));
	ibcc_yaml_free(y);
	ibcc_yaml_errors_fini(&e);
}

static void dump_string(FILE *out, const char *s)
{
	fputc('"', out);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			fprintf(out, "\\%c", *s);
		else if ((unsigned char)*s < ' ' || *s == 0x7f)
			fprintf(out, "\\x%02x", (unsigned char)*s);
		else
			fputc(*s, out);
	}
	fputc('"', out);
}

static uint64_t load_uint(const void *from, size_t size)
{
	switch (size) {
	case 1: return *(const uint8_t *)from;
	case 2: return *(const uint16_t *)from;
	case 4: return *(const uint32_t *)from;
	}
	return *(const uint64_t *)from;
}

/* The types that the table above has; others cannot occur. */
static void dump(const struct ibcc_yaml_key *k, const void *base, int depth, FILE *out)
{
	for (; k->name; k++) {
		const void *from = (const char *)base + k->offset;

		fprintf(out, "%*s%s:", 2 * depth, "", k->name);
		switch (k->type) {
		case IBCC_YAML_UINT:
			fprintf(out, " %" PRIu64 "\n", load_uint(from, k->size));
			break;
		case IBCC_YAML_ENUM:
			fprintf(out, " %s\n", k->names[*(const int *)from - (int)k->min]);
			break;
		case IBCC_YAML_STRING:
			fputc(' ', out);
			dump_string(out, from);
			fputc('\n', out);
			break;
		case IBCC_YAML_MAP:
			fputc('\n', out);
			dump(k->keys, from, depth + 1, out);
			break;
		case IBCC_YAML_BOOL:
			fprintf(out, " %s\n", *(const bool *)from ? "true" : "false");
			break;
		case IBCC_YAML_DOUBLE:
		case IBCC_YAML_NODE:
		case IBCC_YAML_CUSTOM: fputc('\n', out); break;
		}
	}
}

int ibcc_config_dump(const struct ibcc_config *c, FILE *out)
{
	dump(config_keys, c, 0, out);
	return fflush(out) || ferror(out) ? -EIO : 0;
}

/* A key has 19 bytes. */
#define KEY_FILE_BYTES 4096u

int ibcc_config_read_key(const char *file, uint64_t *key, char *why, size_t len)
{
	struct stat st;
	char *text;
	size_t n;
	int rc = ibcc_file_load(file, KEY_FILE_BYTES, &st, &text, &n);
	bool is_read = !rc || rc == -EFBIG;

	if (rc == -EISDIR || rc == -EINVAL) {
		snprintf(why, len, "%s: is not a regular file", file);
		return -EINVAL;
	}
	if (!is_read) {
		snprintf(why, len, "%s: cannot be read: %s", file, strerror(-rc));
		return rc;
	}
	while (text && n > 0 && isspace((unsigned char)text[n - 1]))
		text[--n] = '\0';
	if (st.st_mode & 077) {
		rc = -EACCES;
		snprintf(why, len, "%s: got mode 0%o, want none for group and others (chmod 600)",
			 file, st.st_mode & 07777);
	} else if (!text || strncmp(text, "0x", 2) || strlen(text) != n ||
		   ibcc_yaml_parse_uint(text, key)) {
		/* The file holds a secret, so the message never shows its contents. */
		rc = -EINVAL;
		snprintf(why, len, "%s:1:1: want one CC_Key of up to 64 bits as 0x...", file);
	}
	if (text)
		explicit_bzero(text, n);
	free(text);
	return rc;
}
