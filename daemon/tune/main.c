/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-tune: options and the table of commands. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <ibcc/command.h>
#include <ibcc/log.h>
#include <ibcc/version.h>

#include "daemon/conf.h"
#include "daemon/service/service.h"
#include "daemon/tune/look.h"
#include "daemon/tune/offline.h"
#include "daemon/tune/pager.h"
#include "daemon/tune/table.h"
#include "daemon/tune/tune.h"

struct command {
	const char *name;
	tune_fn fn;
	int max_args;
	bool emergency; /* has to go where the configuration is bad */
	bool asks;      /* changes the fabric, and wants a yes */
	const char *help;
};

static const struct command commands[] = {
	{ "plan", tune_plan, 0, false, false,
	  "what would be changed and why; writes nothing (also --dry-run)" },
	{ "apply", tune_apply, 1, false, true,
	  "[FILE]  make these changes, or those of a plan in a file" },
	{ "confirm", tune_confirm, 0, false, false, "let what is on trial stand" },
	{ "cancel", tune_cancel, 0, true, false, "take what is on trial back now" },
	{ "rollback", tune_rollback, 1, true, true,
	  "[ID]  back to before our changes, or before number ID" },
	{ "disable", tune_disable, 0, true, true, "take congestion control off the fabric" },
	{ "repair", tune_repair, 0, false, true,
	  "write again what somebody else, or a reboot, changed" },
	{ "key", tune_key, 1, false, true, "FILE  give all nodes the CC_Key in this file" },
	{ "status", tune_status, 0, true, false, "what the daemon is doing" },
	{ "top", tune_top, 0, true, false,
	  "the same again and again: roots, rates, settings, decision" },
	{ "show", tune_show, 1, false, false,
	  "[NODE]  settings on the fabric, read now; a name, GUID or LID" },
	{ "report", tune_report, 0, false, false,
	  "all about the last pass in one file, for a ticket: --html FILE" },
	{ "bundle", tune_bundle, 0, false, false,
	  "the last pass in figures, for support: -o FILE, --anonymous" },
	{ "probe", tune_probe, 0, false, false, "what each device type of the fabric answers" },
	{ "what-if", tune_what_if, 0, false, false,
	  "what settings of your own would bring; writes nothing" },
	{ "history", tune_history, 1, false, false, "[ID]  what was changed, when, by whom" },
	{ "ooo-check", tune_ooo_check, 0, false, false,
	  "packets out of order that this host's adapters counted" },
};
/* Between readings without a daemon, at most, unless asked for. */
#define ALONE_INTERVAL_MS 1000u

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char usage_head[] = "Usage: ibcc-tune [OPTION]... COMMAND [ARGUMENT]\n"
				 "       ibcc-tune [OPTION]... --dry-run\n"
				 "Tunes the congestion control of an InfiniBand fabric.\n"
				 "\n"
				 "Commands:\n";

static const char usage_end[] =
	"\n"
	"Exit codes: 0 done, 1 error, 2 changes to make (--detailed-exitcode),\n"
	"78 bad configuration.\n";

/* Options that override the configuration, kept until that has been read. */
struct overrides {
	const char *config_file, *fabric, *ca, *port, *timeout, *cc_key, *via, *interval, *limit,
		*lease, *socket, *root, *confirm, *watch, *units, *color, *columns, *sort;
	bool dry_run, csv;
};

/* What the command line comes to. */
struct args {
	struct tune t;
	struct overrides o;
};

/* What ends the reading of options. */
enum { READ_HELP = 1, READ_VERSION, READ_TOO_MANY };

static int read_json(void *place, const char *value)
{
	(void)value;
	*(bool *)place = true;
	tune_owe_error();
	return 0;
}

static int read_watch(void *place, const char *value)
{
	struct args *a = place;

	a->o.watch = value;
	a->t.watch_ms = TUNE_WATCH_MS;
	return 0;
}

static int read_no_pager(void *place, const char *value)
{
	(void)place;
	(void)value;
	tune_pager_refuse();
	return 0;
}

static int read_set(void *place, const char *value)
{
	struct tune *t = place;

	if (t->n_set == (int)(sizeof(t->set) / sizeof(*t->set)))
		return READ_TOO_MANY;
	t->set[t->n_set++] = value;
	return 0;
}

static int read_verbose(void *place, const char *value)
{
	(void)value;
	(*(int *)place)++;
	return 0;
}

static int read_debug(void *place, const char *value)
{
	(void)value;
	*(int *)place += 2;
	return 0;
}

static int read_help(void *place, const char *value)
{
	(void)place;
	(void)value;
	return READ_HELP;
}

static int read_version(void *place, const char *value)
{
	(void)place;
	(void)value;
	return READ_VERSION;
}

static const struct ibcc_option rows[] = {
	{ "dry-run", 'n', IBCC_OPTION_FLAG, NULL, "same as the command plan",
	  .at = offsetof(struct args, o.dry_run) },
	{ "yes", 'y', IBCC_OPTION_FLAG, NULL,
	  "apply, rollback, disable, repair, key: do not ask;\n"
	  "needed without a terminal and with -j",
	  .at = offsetof(struct args, t.yes) },
	{ "confirm-within", 0, IBCC_OPTION_TEXT, "TIME",
	  "apply: take it back unless confirmed so soon: 120s,\n"
	  "2m, 1h",
	  .at = offsetof(struct args, o.confirm) },
	{ "no-wait", 0, IBCC_OPTION_FLAG, NULL,
	  "apply: end at the first writes; the daemon goes on",
	  .at = offsetof(struct args, t.no_wait) },
	{ "output", 'o', IBCC_OPTION_TEXT, "FILE",
	  "plan: keep it, for ibcc-tune apply FILE; bundle: it",
	  .at = offsetof(struct args, t.output) },
	{ "anonymous", 0, IBCC_OPTION_FLAG, NULL, "bundle: made-up GUIDs, names and LIDs",
	  .at = offsetof(struct args, t.anonymous) },
	{ "json", 'j', IBCC_OPTION_READ, NULL, "answer in JSON",
	  .at = offsetof(struct args, t.json), .read = read_json },
	{ "detailed-exitcode", 0, IBCC_OPTION_FLAG, NULL,
	  "plan, status: exit with 2 if there is something\n"
	  "to do: changes to make, ports not read",
	  .at = offsetof(struct args, t.detailed_exitcode) },
	{ "full", 0, IBCC_OPTION_FLAG, NULL, "plan, apply: each source and each setting",
	  .at = offsetof(struct args, t.full) },
	{ "root", 0, IBCC_OPTION_TEXT, "N", "plan: root N with all its sources",
	  .at = offsetof(struct args, o.root) },
	{ "node", 0, IBCC_OPTION_TEXT, "GLOB", "plan: only nodes with such names",
	  .at = offsetof(struct args, t.node) },
	{ "skip-unsupported", 0, IBCC_OPTION_FLAG, NULL,
	  "let nodes without congestion control out of a plan",
	  .at = offsetof(struct args, t.skip_unsupported) },
	{ "via", 0, IBCC_OPTION_TEXT, "plugin|direct", "who writes, without a daemon",
	  .at = offsetof(struct args, o.via) },
	{ "interval-ms", 0, IBCC_OPTION_TEXT, "MS",
	  "between readings of the counters, without a daemon",
	  .at = offsetof(struct args, o.interval) },
	{ "series", 0, IBCC_OPTION_FLAG, NULL, "history: with -j, what was measured in 24 hours",
	  .at = offsetof(struct args, t.series) },
	{ "plot", 0, IBCC_OPTION_TEXT, "FILE", "history: that, and the transactions, as SVG",
	  .at = offsetof(struct args, t.plot) },
	{ "limit", 0, IBCC_OPTION_TEXT, "N",
	  "history: so many, default 20; top: so many looks,\n"
	  "default until q",
	  .at = offsetof(struct args, o.limit) },
	{ "watch", 0, IBCC_OPTION_READ, "SECONDS",
	  "status, top: look again after so long, default 2", .read = read_watch,
	  .optional = true },
	{ "csv", 0, IBCC_OPTION_FLAG, NULL,
	  "plan, show, probe: tables as CSV; of a plan the\n"
	  "changes, or with --root its sources",
	  .at = offsetof(struct args, o.csv) },
	{ "columns", 0, IBCC_OPTION_TEXT, "NAME,...", "plan, show, probe: these columns",
	  .at = offsetof(struct args, o.columns) },
	{ "sort", 0, IBCC_OPTION_TEXT, "[-]NAME",
	  "plan, show, probe: by this column, with - from the\n"
	  "most on",
	  .at = offsetof(struct args, o.sort) },
	{ "no-pager", 0, IBCC_OPTION_READ, NULL, "never through $PAGER", .read = read_no_pager },
	{ "units", 0, IBCC_OPTION_TEXT, "MB/s|Gb/s", "of rates, default MB/s",
	  .at = offsetof(struct args, o.units) },
	{ "color", 0, IBCC_OPTION_TEXT, "WHEN", "auto, always or never",
	  .at = offsetof(struct args, o.color) },
	{ "protect", 0, IBCC_OPTION_FLAG, NULL, "key: let nobody read without the key",
	  .at = offsetof(struct args, t.protect) },
	{ "lease", 0, IBCC_OPTION_TEXT, "SECONDS",
	  "key: protection ends so long after a wrong key;\n"
	  "0: never",
	  .at = offsetof(struct args, o.lease) },
	{ "html", 0, IBCC_OPTION_TEXT, "FILE", "report: a page that is one file",
	  .at = offsetof(struct args, t.html) },
	{ "save", 0, IBCC_OPTION_TEXT, "FILE",
	  "probe: keep the answer as a record without GUIDs,\n"
	  "LIDs, names",
	  .at = offsetof(struct args, t.save) },
	{ "load-cache", 0, IBCC_OPTION_TEXT, "FILE",
	  "plan, what-if: the fabric and its settings from\n"
	  "this bundle,",
	  .at = offsetof(struct args, t.cache) },
	{ "counters", 0, IBCC_OPTION_TEXT, "FILE",
	  "and what was counted and decided; one is for both",
	  .at = offsetof(struct args, t.counters) },
	{ "set", 0, IBCC_OPTION_READ, "KEY=NUMBER",
	  "what-if: ccti_timer, ccti_increase, table_end,\n"
	  "threshold, marking_rate in place of the plan's;\n"
	  "several times",
	  .at = offsetof(struct args, t), .read = read_set },
	{ "node-name-map", 0, IBCC_OPTION_TEXT, "FILE", "names of nodes",
	  .at = offsetof(struct args, t.name_map) },
	{ "sysfs-root", 0, IBCC_OPTION_TEXT, "FOLDER", "ooo-check: where sys/ is, default /",
	  .at = offsetof(struct args, t.sysfs) },
	{ "socket", 0, IBCC_OPTION_TEXT, "PATH",
	  "the daemon's control socket, whatever the\n"
	  "configuration says",
	  .at = offsetof(struct args, o.socket) },
	{ "config", 'z', IBCC_OPTION_TEXT, "FILE", "configuration, default\n" IBCC_CONFIG_FILE,
	  .at = offsetof(struct args, o.config_file) },
	{ "fabric", 'F', IBCC_OPTION_TEXT, "NAME",
	  "one of several fabrics, whose configuration is\n" IBCC_SYSCONFDIR "/ibcc-tune/NAME.yaml",
	  .at = offsetof(struct args, o.fabric) },
	{ "Ca", 'C', IBCC_OPTION_TEXT, "NAME", "channel adapter to use",
	  .at = offsetof(struct args, o.ca) },
	{ "Port", 'P', IBCC_OPTION_TEXT, "NUMBER", "its port",
	  .at = offsetof(struct args, o.port) },
	{ "timeout", 't', IBCC_OPTION_TEXT, "MS", "of a MAD",
	  .at = offsetof(struct args, o.timeout) },
	{ "cckey", 'c', IBCC_OPTION_TEXT, "KEY",
	  "CC_Key; the configuration's cc_key_file keeps it\n"
	  "off the command line",
	  .at = offsetof(struct args, o.cc_key) },
	{ "errors", 'e', IBCC_OPTION_FLAG, NULL, "say how many MADs were lost",
	  .at = offsetof(struct args, t.errors) },
	{ "verbose", 'v', IBCC_OPTION_READ, NULL, "say more",
	  .at = offsetof(struct args, t.verbose), .read = read_verbose },
	{ "debug", 'd', IBCC_OPTION_READ, NULL, "say all", .at = offsetof(struct args, t.verbose),
	  .read = read_debug },
	{ "help", 'h', IBCC_OPTION_READ, NULL, "this help", .read = read_help },
	{ "version", 'V', IBCC_OPTION_READ, NULL, "version", .read = read_version },
};
static const struct ibcc_options options = { rows, sizeof(rows) / sizeof(*rows), NULL };

static int print_usage(void)
{
	size_t i;

	fputs(usage_head, stdout);
	for (i = 0; i < N_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\nOptions:\n", stdout);
	ibcc_options_print(&options, stdout);
	return fputs(usage_end, stdout) < 0 ? TUNE_ERROR : TUNE_OK;
}

static int hint(void)
{
	fputs("Try 'ibcc-tune --help'.\n", stderr);
	tune_error_object("wrong usage, see ibcc-tune --help");
	return TUNE_ERROR;
}

static const struct command *find_command(const char *name)
{
	size_t i;

	for (i = 0; i < N_COMMANDS; i++)
		if (!strcmp(commands[i].name, name))
			return &commands[i];
	return NULL;
}

/* "120", "120s", "2m", "1h". */
static bool read_confirm(struct tune *t, const char *text)
{
	size_t n = strspn(text, "0123456789");
	const char *unit = text + n;
	uint64_t one = !*unit || !strcmp(unit, "s") ? 1
		       : !strcmp(unit, "m")         ? 60
		       : !strcmp(unit, "h")         ? 3600
						    : 0;
	uint64_t v = n && n < 7 ? strtoull(text, NULL, 10) * one : 0;

	if (v < 1 || v > IBCC_CONFIRM_MAX_S) {
		tune_fail("--confirm-within: got '%s', want a time of 1 s to 24 h, as 120s, 2m or "
			  "1h",
			  text);
		return false;
	}
	t->confirm_s = (uint32_t)v;
	return true;
}

static bool override(struct tune *t, const struct overrides *o)
{
	struct ibcc_config *c = &t->config;
	uint64_t v;

	t->fabric = o->fabric;
	t->own_port = o->ca || o->port || o->timeout || o->cc_key || o->via;
	if (o->ca && snprintf(c->ca, sizeof(c->ca), "%s", o->ca) >= (int)sizeof(c->ca)) {
		tune_fail("--Ca: the name '%s' is too long", o->ca);
		return false;
	}
	if (o->socket && snprintf(c->control_socket, sizeof(c->control_socket), "%s", o->socket) >=
				 (int)sizeof(c->control_socket)) {
		tune_fail("--socket: the path '%s' is too long", o->socket);
		return false;
	}
	if (o->port) {
		if (!tune_number(o->port, 1, 254, "--Port", &v))
			return false;
		c->port = (uint8_t)v;
	}
	if (o->timeout) {
		if (!tune_number(o->timeout, 1, 60000, "--timeout", &v))
			return false;
		c->timeout_ms = (uint32_t)v;
	}
	if (o->interval) {
		if (!tune_number(o->interval, 1, 3600000, "--interval-ms", &v))
			return false;
		c->interval_ms = (uint32_t)v;
	}
	/* Somebody waits for it. */
	if (!o->interval && c->interval_ms > ALONE_INTERVAL_MS)
		c->interval_ms = ALONE_INTERVAL_MS;
	if (o->limit) {
		if (!tune_number(o->limit, 1, 10000, "--limit", &v))
			return false;
		t->limit = t->looks = (unsigned int)v;
	}
	if (o->watch) {
		if (!tune_number(o->watch, 1, 3600, "--watch", &v))
			return false;
		t->watch_ms = 1000 * (uint32_t)v;
	}
	if (o->units && !tune_set_units(o->units)) {
		tune_fail("--units: got '%s', want MB/s or Gb/s", o->units);
		return false;
	}
	tune_table_wish(o->columns, o->sort, o->csv);
	if (!tune_set_color(o->color ? o->color : "auto")) {
		tune_fail("--color: got '%s', want auto, always or never", o->color);
		return false;
	}
	if (o->confirm && !read_confirm(t, o->confirm))
		return false;
	if (o->root && !tune_number(o->root, 1, UINT32_MAX, "--root", &t->root))
		return false;
	if (o->lease) {
		if (!tune_number(o->lease, 0, UINT16_MAX, "--lease", &v))
			return false;
		t->lease = (uint16_t)v;
	}
	if (o->cc_key && !tune_number(o->cc_key, 0, UINT64_MAX, "--cckey", &t->cc_key))
		return false;
	if (o->cc_key)
		t->no_key.text[0] = '\0';
	if (o->via && strcmp(o->via, "plugin") && strcmp(o->via, "direct")) {
		tune_fail("--via: got '%s', want plugin or direct", o->via);
		return false;
	}
	if (o->via)
		c->apply_via = strcmp(o->via, "direct") ? IBCC_VIA_PLUGIN : IBCC_VIA_DIRECT;
	return true;
}

static int run(struct tune *t, const struct overrides *o)
{
	const struct command *c = NULL;
	struct ibcc_yaml_errors errors = { 0 };
	const char *file = o->config_file;
	char path[IBCC_CONFIG_PATH_BYTES];
	const char *missed, *known;
	int rc, code;

	if (o->dry_run && t->n_args && strcmp(t->args[0], "plan")) {
		tune_fail("--dry-run: '%s' has no dry run, it is a command of its own", t->args[0]);
		return hint();
	}
	if (t->n_args) {
		c = find_command(t->args[0]);
		if (!c) {
			tune_fail("unknown command '%s'", t->args[0]);
			return hint();
		}
		t->n_args--;
		t->args++;
	} else if (o->dry_run) {
		c = find_command("plan");
	} else {
		tune_fail("a command is missing");
		return hint();
	}
	if (t->n_args > c->max_args) {
		tune_fail("%s: unexpected argument '%s'", c->name, t->args[c->max_args]);
		return hint();
	}
	if (tune_is_offline(t) && ((c->fn != tune_plan && c->fn != tune_what_if) || t->output)) {
		tune_fail("--load-cache, --counters: a bundle has no fabric, and is read by plan "
			  "(without -o) and what-if only");
		return hint();
	}
	if (ibcc_conf_of_fabric(o->fabric, path, sizeof(path), &file))
		return tune_fail("--fabric: '%s' is no name of letters, digits, _, - and .",
				 o->fabric);
	rc = ibcc_conf_load_keyless(file, o->fabric, &t->config, &t->cc_key, &errors, &t->no_key);
	if (rc)
		fputs(errors.text ? errors.text : "no memory\n", stderr);
	if (rc && !c->emergency)
		tune_error_object(errors.text ? errors.text : "no memory");
	ibcc_yaml_errors_fini(&errors);
	if (rc && !c->emergency)
		return IBCC_CONFIG_EXIT_STATUS;
	if (rc)
		ibcc_conf_find_socket(file, o->fabric, &t->config);
	if (!override(t, o) || !tune_options_fit(t, c->name, c->fn))
		return hint();
	code = rc ? tune_ask_running(t, c->name) : TUNE_OK;
	if (code != TUNE_OK)
		return code;
	if (tune_names_check(t) || (c->asks && !tune_can_consent(t, c->name)))
		return TUNE_ERROR;
	ibcc_log_open("ibcc-tune", IBCC_LOG_STDERR, t->verbose > 1 ? LOG_DEBUG : LOG_WARNING);
	rc = c->fn(t);
	tune_pager_end();
	missed = tune_table_missed(&known);
	if (rc != TUNE_ERROR && missed && !t->json)
		rc = tune_fail("%s has no column '%s'; its columns are %s", c->name, missed, known);
	return rc;
}

int main(int argc, char **argv)
{
	struct args a = { .t.limit = 20 };
	int first = argc, rc = ibcc_options_read(&options, argc, argv, &a, &first);

	switch (rc) {
	case 0: break;
	case READ_HELP: return print_usage();
	case READ_VERSION: return printf("ibcc-tune %s\n", IBCC_VERSION) < 0;
	case READ_TOO_MANY: return tune_fail("--set: too many");
	/* After all were read, as -j may come after a wrong one. */
	default: return hint();
	}
	a.t.n_args = argc - first;
	a.t.args = argv + first;
	return run(&a.t, &a.o);
}
