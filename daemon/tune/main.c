/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-tune: the table of commands and the table of options. */
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <ibcc/command.h>
#include <ibcc/guess.h>
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
	bool emergency; /* has to work even if the configuration is bad */
	bool asks;      /* asks for consent before it changes anything */
	const char *arguments, *help, *example;
};

static int tune_help(struct tune *t);

static const struct command commands[] = {
	{ "plan", tune_plan, 0, false, false, "",
	  "show the recommended changes and why; changes nothing", "plan --root 1" },
	{ "apply", tune_apply, 1, false, true, "[FILE]",
	  "make the changes of the plan, or of a plan in a file", "apply --confirm-within 2m" },
	{ "confirm", tune_confirm, 0, false, false, "", "keep the change on trial", "confirm" },
	{ "cancel", tune_cancel, 0, true, false, "", "revert the change on trial now", "cancel" },
	{ "rollback", tune_rollback, 1, true, true, "[ID]",
	  "restore what was before all changes, or before change ID", "rollback 17" },
	{ "disable", tune_disable, 0, true, true, "",
	  "turn congestion control off on the whole fabric", "disable" },
	{ "repair", tune_repair, 0, false, true, "",
	  "restore settings that a reboot or another program changed", "repair" },
	{ "key", tune_key, 1, false, true, "FILE", "give all nodes the CC_Key in this file",
	  "key /etc/ibcc-tune/new_key --protect" },
	{ "status", tune_status, 0, true, false, "", "show what the daemon does and sees",
	  "status --watch" },
	{ "top", tune_top, 0, true, false, "",
	  "live view of congestion, rates, settings and decisions", "top --watch 5" },
	{ "show", tune_show, 1, false, false, "[NODE]",
	  "read the settings on the fabric; NODE: a name, GUID or LID", "show leaf2" },
	{ "report", tune_report, 0, false, false, "",
	  "write one HTML page about the fabric, for a ticket", "report --html report.html" },
	{ "bundle", tune_bundle, 0, false, false, "",
	  "write the measured data to one file, for support", "bundle -o bundle.json --anonymous" },
	{ "probe", tune_probe, 0, false, false, "", "show what each device type supports",
	  "probe" },
	{ "what-if", tune_what_if, 0, false, false, "",
	  "predict the effect of your own settings; changes nothing",
	  "what-if --set ccti_timer=30" },
	{ "advise", tune_advise, 0, false, false, "",
	  "advise on NVIDIA's congestion control (HDR, NDR); changes nothing", "advise" },
	{ "history", tune_history, 1, false, false, "[ID]",
	  "list what was changed, when, by which user, and its effect", "history --limit 5" },
	{ "jobs", tune_jobs, 1, false, false, "[JOBID]",
	  "list which jobs caused congestion, and which suffered", "jobs --since 24h" },
	{ "policy", tune_policy, 65, false, true, "FILE KEY=NUMBER...",
	  "change numbers in a policy file of NVIDIA's OpenSM",
	  "policy /etc/opensm/congestion-control-policy.conf AI=40" },
	{ "ooo-check", tune_ooo_check, 0, false, false, "",
	  "count the out-of-order packets at this host's adapters", "ooo-check" },
	{ "help", tune_help, 1, true, false, "[COMMAND]",
	  "show the commands, or one of them with its options", "help apply" },
};
/* The longest interval between readings without a daemon, unless the user sets one. */
#define ALONE_INTERVAL_MS 1000u

#define N_COMMANDS (sizeof(commands) / sizeof(commands[0]))

/* Options that override the configuration, kept until it has been read. */
struct overrides {
	const char *config_file, *fabric, *ca, *port, *timeout, *cc_key, *via, *interval, *limit,
		*lease, *socket, *root, *confirm, *watch, *units, *color, *columns, *sort;
	bool csv, help;
};

/* Where the values from the command line go. */
struct args {
	struct tune t;
	struct overrides o;
};

/* Why the reading of options ends. */
enum { READ_VERSION = 1, READ_TOO_MANY };

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

static int read_version(void *place, const char *value)
{
	(void)place;
	(void)value;
	return READ_VERSION;
}

/* Options of one command or a few, then options of all commands. Usage, completion and the check of
 * the man page are made from these rows.
 */
static const struct ibcc_option rows[] = {
	{ "dry-run", 'n', IBCC_OPTION_FLAG, NULL,
	  "plan: same as without it\n"
	  "policy: show the difference, and write nothing",
	  .at = offsetof(struct args, t.dry_run), .commands = "plan policy" },
	{ "undo", 0, IBCC_OPTION_FLAG, NULL, "restore the file from before the changes",
	  .at = offsetof(struct args, t.undo), .commands = "policy" },
	{ "check", 0, IBCC_OPTION_FLAG, NULL, "compare the file with the devices; changes nothing",
	  .at = offsetof(struct args, t.check), .commands = "policy" },
	{ "yes", 'y', IBCC_OPTION_FLAG, NULL,
	  "do not ask before changes;\n"
	  "required without a terminal and with -j",
	  .at = offsetof(struct args, t.yes),
	  .commands = "apply rollback disable repair key policy" },
	{ "confirm-within", 0, IBCC_OPTION_TEXT, "TIME",
	  "revert the changes unless you confirm them within\n"
	  "this time, such as 120s, 2m or 1h",
	  .at = offsetof(struct args, o.confirm), .commands = "apply" },
	{ "no-wait", 0, IBCC_OPTION_FLAG, NULL,
	  "return after the first writes; the daemon\n"
	  "continues to refine them",
	  .at = offsetof(struct args, t.no_wait), .commands = "apply" },
	{ "output", 'o', IBCC_OPTION_TEXT, "FILE",
	  "plan: also write the plan to this file, for apply\n"
	  "bundle: write the bundle to this file",
	  .at = offsetof(struct args, t.output), .commands = "plan bundle" },
	{ "anonymous", 0, IBCC_OPTION_FLAG, NULL, "replace GUIDs, names and LIDs by made-up ones",
	  .at = offsetof(struct args, t.anonymous), .commands = "bundle" },
	{ "detailed-exitcode", 0, IBCC_OPTION_FLAG, NULL,
	  "plan: exit with 2 if there are changes to make\n"
	  "status: exit with 2 if something needs attention\n"
	  "policy: with --check, exit with 2 if a port differs",
	  .at = offsetof(struct args, t.detailed_exitcode), .commands = "plan status policy" },
	{ "full", 0, IBCC_OPTION_FLAG, NULL, "list every sender and every setting",
	  .at = offsetof(struct args, t.full), .commands = "plan apply show" },
	{ "odd", 0, IBCC_OPTION_FLAG, NULL, "show settings that are unusual for a device type",
	  .at = offsetof(struct args, t.odd), .commands = "show" },
	{ "ppcc", 0, IBCC_OPTION_TEXT, "FILE",
	  "show algorithms and parameters of an adapter from\n"
	  "the output of mstreg or mlxreg; asks no fabric",
	  .at = offsetof(struct args, t.ppcc), .commands = "show" },
	{ "root", 0, IBCC_OPTION_TEXT, "N", "show congestion root N with all its senders",
	  .at = offsetof(struct args, o.root), .commands = "plan" },
	{ "node", 0, IBCC_OPTION_TEXT, "GLOB", "show only nodes with these names, such as 'h1*'",
	  .at = offsetof(struct args, t.node), .commands = "plan" },
	{ "skip-unsupported", 0, IBCC_OPTION_FLAG, NULL,
	  "leave nodes without congestion control out",
	  .at = offsetof(struct args, t.skip_unsupported), .commands = "plan apply" },
	{ "series", 0, IBCC_OPTION_FLAG, NULL, "with -j: add the measurements of the last 24 hours",
	  .at = offsetof(struct args, t.series), .commands = "history" },
	{ "since", 0, IBCC_OPTION_TEXT, "TIME",
	  "list jobs that were seen within this time, such as\n"
	  "90m, 24h or 7d (default 24h)",
	  .at = offsetof(struct args, t.since), .commands = "jobs" },
	{ "user", 0, IBCC_OPTION_TEXT, "NAME", "list only jobs of this user",
	  .at = offsetof(struct args, t.user), .commands = "jobs" },
	{ "plot", 0, IBCC_OPTION_TEXT, "FILE", "plot the last 24 hours to an SVG file",
	  .at = offsetof(struct args, t.plot), .commands = "history" },
	{ "limit", 0, IBCC_OPTION_TEXT, "N",
	  "history: show N entries (default 20)\n"
	  "top: stop after N refreshes\n"
	  "status: with --watch, stop after N refreshes",
	  .at = offsetof(struct args, o.limit), .commands = "history top status" },
	{ "watch", 0, IBCC_OPTION_READ, "SECONDS", "refresh after SECONDS (default 2)",
	  .commands = "status top", .read = read_watch, .optional = true },
	{ "csv", 0, IBCC_OPTION_FLAG, NULL,
	  "plan: print the changes as CSV, or with --root the\n"
	  "plan: senders of that root\n"
	  "show: print the table as CSV\n"
	  "probe: print the tables as CSV\n"
	  "jobs: print the table as CSV",
	  .at = offsetof(struct args, o.csv), .commands = "plan show probe jobs" },
	{ "columns", 0, IBCC_OPTION_TEXT, "NAME,...", "show only these columns",
	  .at = offsetof(struct args, o.columns), .commands = "plan show probe jobs" },
	{ "sort", 0, IBCC_OPTION_TEXT, "[-]NAME", "sort by this column, with - in descending order",
	  .at = offsetof(struct args, o.sort), .commands = "plan show probe jobs" },
	{ "protect", 0, IBCC_OPTION_FLAG, NULL, "require the key for reading as well",
	  .at = offsetof(struct args, t.protect), .commands = "key" },
	{ "lease", 0, IBCC_OPTION_TEXT, "SECONDS",
	  "protection ends this long after a wrong key;\n"
	  "0: never",
	  .at = offsetof(struct args, o.lease), .commands = "key" },
	{ "html", 0, IBCC_OPTION_TEXT, "FILE", "write the page to this file",
	  .at = offsetof(struct args, t.html), .commands = "report" },
	{ "save", 0, IBCC_OPTION_TEXT, "FILE", "write a record without GUIDs, LIDs and names",
	  .at = offsetof(struct args, t.save), .commands = "probe" },
	{ "load-cache", 0, IBCC_OPTION_TEXT, "FILE",
	  "take the fabric and its settings from a bundle,\n"
	  "without a daemon or a fabric",
	  .at = offsetof(struct args, t.cache), .commands = "plan what-if" },
	{ "counters", 0, IBCC_OPTION_TEXT, "FILE",
	  "take counters and decisions from another bundle",
	  .at = offsetof(struct args, t.counters), .commands = "plan what-if" },
	{ "set", 0, IBCC_OPTION_READ, "KEY=NUMBER",
	  "use this value, not the plan's, of ccti_timer,\n"
	  "ccti_increase, table_end, threshold or\n"
	  "marking_rate; repeat it for several",
	  .at = offsetof(struct args, t), .commands = "what-if", .read = read_set },
	{ "sysfs-root", 0, IBCC_OPTION_TEXT, "FOLDER", "the folder that has sys/ (default /)",
	  .at = offsetof(struct args, t.sysfs), .commands = "ooo-check" },

	{ "json", 'j', IBCC_OPTION_READ, NULL, "answer in JSON",
	  .at = offsetof(struct args, t.json), .read = read_json },
	{ "units", 0, IBCC_OPTION_TEXT, "MB/s|Gb/s", "unit of rates (default MB/s)",
	  .at = offsetof(struct args, o.units) },
	{ "color", 0, IBCC_OPTION_TEXT, "auto|always|never",
	  "colours (default auto: on a terminal)", .at = offsetof(struct args, o.color) },
	{ "no-pager", 0, IBCC_OPTION_READ, NULL, "do not send long output through $PAGER",
	  .read = read_no_pager },
	{ "node-name-map", 0, IBCC_OPTION_TEXT, "FILE",
	  "names of nodes, in place of node_name_map in the\n"
	  "configuration",
	  .at = offsetof(struct args, t.name_map) },
	{ "socket", 0, IBCC_OPTION_TEXT, "PATH",
	  "the daemon's control socket, in place of that in\n"
	  "the configuration",
	  .at = offsetof(struct args, o.socket) },
	{ "config", 'z', IBCC_OPTION_TEXT, "FILE", "configuration, default\n" IBCC_CONFIG_FILE,
	  .at = offsetof(struct args, o.config_file) },
	{ "fabric", 'F', IBCC_OPTION_TEXT, "NAME",
	  "one of several fabrics, whose configuration is\n" IBCC_SYSCONFDIR "/ibcc-tune/NAME.yaml",
	  .at = offsetof(struct args, o.fabric) },
	{ "via", 0, IBCC_OPTION_TEXT, "plugin|direct",
	  "without a daemon: write through the OpenSM plugin\n"
	  "or by the port of this host",
	  .at = offsetof(struct args, o.via) },
	{ "interval-ms", 0, IBCC_OPTION_TEXT, "MS",
	  "without a daemon: time between counter readings",
	  .at = offsetof(struct args, o.interval) },
	{ "Ca", 'C', IBCC_OPTION_TEXT, "NAME", "channel adapter to use",
	  .at = offsetof(struct args, o.ca) },
	{ "Port", 'P', IBCC_OPTION_TEXT, "NUMBER", "port of that adapter",
	  .at = offsetof(struct args, o.port) },
	{ "timeout", 't', IBCC_OPTION_TEXT, "MS", "how long to wait for the answer to a MAD",
	  .at = offsetof(struct args, o.timeout) },
	{ "cckey", 'c', IBCC_OPTION_TEXT, "KEY",
	  "CC_Key; prefer cc_key_file in the configuration,\n"
	  "as other users can read command lines",
	  .at = offsetof(struct args, o.cc_key) },
	{ "errors", 'e', IBCC_OPTION_FLAG, NULL, "report how many MADs were lost",
	  .at = offsetof(struct args, t.errors) },
	{ "verbose", 'v', IBCC_OPTION_READ, NULL, "show more, and what the columns of tables mean",
	  .at = offsetof(struct args, t.verbose), .read = read_verbose },
	{ "debug", 'd', IBCC_OPTION_READ, NULL, "show everything",
	  .at = offsetof(struct args, t.verbose), .read = read_debug },
	{ "help", 'h', IBCC_OPTION_FLAG, NULL, "show this help",
	  .at = offsetof(struct args, o.help) },
	{ "version", 'V', IBCC_OPTION_READ, NULL, "show the version", .read = read_version },
};
static const struct ibcc_options options = { rows, sizeof(rows) / sizeof(*rows), NULL };

static int print_usage(void)
{
	fputs("Usage: ibcc-tune [OPTION]... COMMAND [ARGUMENT]\n"
	      "       ibcc-tune [OPTION]... --dry-run\n"
	      "Tunes the congestion control of an InfiniBand fabric.\n"
	      "\n"
	      "Commands:\n",
	      stdout);
	for (size_t i = 0; i < N_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	fputs("\nOptions of all commands:\n", stdout);
	ibcc_options_print(&options, NULL, stdout);
	return fputs("\n"
		     "'ibcc-tune help COMMAND' shows the other options of a command.\n"
		     "Exit codes: 0 done, 1 error, 2 changes to make (--detailed-exitcode),\n"
		     "78 bad configuration.\n",
		     stdout) < 0
		       ? TUNE_ERROR
		       : TUNE_OK;
}

static bool has_options(const struct command *c)
{
	for (size_t i = 0; i < options.n; i++)
		if (rows[i].commands && ibcc_options_takes(&rows[i], c->name))
			return true;
	return false;
}

static int print_usage_of(const struct command *c)
{
	printf("Usage: ibcc-tune [OPTION]... %s%s%s\n%c%s.\n", c->name, *c->arguments ? " " : "",
	       c->arguments, toupper(c->help[0]), c->help + 1);
	if (has_options(c)) {
		fputs("\nOptions:\n", stdout);
		ibcc_options_print(&options, c->name, stdout);
	}
	return printf("\nFor example:\n"
		      "  ibcc-tune %s\n"
		      "\n"
		      "'ibcc-tune --help' lists the options that all commands take.\n",
		      c->example) < 0
		       ? TUNE_ERROR
		       : TUNE_OK;
}

/* Says where to read more after a mistake, with a command or without one. */
static int hint(const struct command *c)
{
	char text[80];

	snprintf(text, sizeof(text), "ibcc-tune %s%s", c ? "help " : "--help", c ? c->name : "");
	fprintf(stderr, "Try '%s'.\n", text);
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

static const char *command_candidate(const void *arg, size_t i)
{
	return ((const struct command *)arg)[i].name;
}

static int unknown_command(const char *name)
{
	const char *guess = ibcc_guess_word(name, command_candidate, commands, N_COMMANDS);

	if (guess)
		tune_fail("unknown command '%s', did you mean '%s'?", name, guess);
	else
		tune_fail("unknown command '%s'", name);
	return hint(NULL);
}

static int tune_help(struct tune *t)
{
	const struct command *c = t->n_args ? find_command(t->args[0]) : NULL;

	if (t->n_args && !c)
		return unknown_command(t->args[0]);
	return c ? print_usage_of(c) : print_usage();
}

/* With a command that ignores it, an option would do nothing, and seem to work. */
static bool options_fit(const struct command *c, uint64_t given)
{
	const struct ibcc_option *o = ibcc_options_misfit(&options, given, c->name);
	char takers[160] = "";
	size_t len = 0, left;

	if (!o)
		return true;
	for (const char *at = o->commands; *at; at += strspn(at, " ")) {
		left = strcspn(at, " ");
		len += (size_t)snprintf(takers + len, sizeof(takers) - len, "%s%.*s",
					!len              ? ""
					: strchr(at, ' ') ? ", "
							  : " and ",
					(int)left, at);
		at += left;
	}
	tune_fail("--%s: '%s' does not take this option, only %s %s", o->name, c->name, takers,
		  strchr(o->commands, ' ') ? "do" : "does");
	return false;
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
	if (t->name_map && snprintf(c->node_name_map, sizeof(c->node_name_map), "%s",
				    t->name_map) >= (int)sizeof(c->node_name_map)) {
		tune_fail("--node-name-map: the path '%s' is too long", t->name_map);
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
	/* A person waits for the answer. */
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
	if (t->verbose)
		tune_table_explain();
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

/* The command that the arguments name; its arguments follow. NULL after a message. */
static const struct command *take_command(struct tune *t)
{
	const struct command *c;

	if (t->dry_run && t->n_args && strcmp(t->args[0], "plan") && strcmp(t->args[0], "policy")) {
		tune_fail("--dry-run: '%s' has no dry run; 'ibcc-tune --dry-run' alone shows "
			  "the plan",
			  t->args[0]);
		hint(NULL);
		return NULL;
	}
	if (!t->n_args && !t->dry_run) {
		tune_fail("a command is missing");
		hint(NULL);
		return NULL;
	}
	c = find_command(t->n_args ? t->args[0] : "plan");
	if (!c) {
		unknown_command(t->args[0]);
		return NULL;
	}
	if (t->n_args) {
		t->n_args--;
		t->args++;
	}
	if (t->n_args > c->max_args) {
		tune_fail("%s: unexpected argument '%s'", c->name, t->args[c->max_args]);
		hint(c);
		return NULL;
	}
	return c;
}

static int run(struct tune *t, const struct overrides *o, uint64_t given)
{
	const struct command *c;
	struct ibcc_yaml_errors errors = { 0 };
	const char *file = o->config_file;
	char path[IBCC_CONFIG_PATH_BYTES];
	const char *missed, *known;
	int rc, code;

	if (o->help)
		return tune_help(t);
	c = take_command(t);
	if (!c)
		return TUNE_ERROR;
	if (c->fn == tune_help)
		return tune_help(t);
	if (!options_fit(c, given))
		return hint(c);
	if (tune_is_offline(t) && t->output) {
		tune_fail("--output: a plan that is made from a bundle cannot be applied, so it is "
			  "not kept in a file");
		return hint(c);
	}
	if (ibcc_conf_of_fabric(o->fabric, path, sizeof(path), &file))
		return tune_fail("--fabric: got '%s', want a name of letters, digits, _, - and ., "
				 "such as ib1",
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
	if (!override(t, o))
		return hint(c);
	code = rc ? tune_ask_running(t, c->name) : TUNE_OK;
	if (code != TUNE_OK)
		return code;
	if (tune_names_check(t) ||
	    (c->asks && !t->dry_run && !t->check && !tune_can_consent(t, c->name)))
		return TUNE_ERROR;
	ibcc_log_open("ibcc-tune", IBCC_LOG_STDERR, NULL, t->verbose > 1 ? LOG_DEBUG : LOG_WARNING);
	rc = c->fn(t);
	tune_pager_end();
	missed = tune_table_missed(&known);
	if (rc != TUNE_ERROR && missed && !t->json)
		rc = tune_fail("%s has no column '%s'; its columns are %s", c->name, missed, known);
	return rc;
}

/* Names of nodes are UTF-8. A terminal gets the characters that its locale has, and a file or a
 * pipe gets all of them.
 */
static void choose_characters(void)
{
	setlocale(LC_CTYPE, "");
	if (!isatty(STDOUT_FILENO))
		setlocale(LC_CTYPE, "C.UTF-8");
}

int main(int argc, char **argv)
{
	struct args a = { .t.limit = 20 };
	uint64_t given = 0;
	int first = argc, rc = ibcc_options_read(&options, argc, argv, &a, &first, &given);

	choose_characters();
	switch (rc) {
	case 0: break;
	case READ_VERSION: return printf("ibcc-tune %s\n", IBCC_VERSION) < 0;
	case READ_TOO_MANY: return tune_fail("--set: too many");
	/* After all options were read, because -j may follow a wrong one. */
	default: return hint(NULL);
	}
	a.t.n_args = argc - first;
	a.t.args = argv + first;
	return run(&a.t, &a.o, given);
}
