/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-tune: options and the table of commands. */
#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static const char usage_options[] =
	"\n"
	"Options:\n"
	"  -n, --dry-run              same as the command plan\n"
	"  -y, --yes                  apply, rollback, disable, repair, key: do not ask;\n"
	"                             needed without a terminal and with -j\n"
	"      --confirm-within TIME  apply: take it back unless confirmed so soon: 120s,\n"
	"                             2m, 1h\n"
	"      --no-wait              apply: end at the first writes; the daemon goes on\n"
	"  -o, --output FILE          plan: keep it, for ibcc-tune apply FILE; bundle: it\n"
	"      --anonymous            bundle: made-up GUIDs, names and LIDs\n"
	"  -j, --json                 answer in JSON\n"
	"      --detailed-exitcode    plan, status: exit with 2 if there is something\n"
	"                             to do: changes to make, ports not read\n"
	"      --full                 plan, apply: each source and each setting\n"
	"      --root N               plan: root N with all its sources\n"
	"      --node GLOB            plan: only nodes with such names\n"
	"      --skip-unsupported     let nodes without congestion control out of a plan\n"
	"      --via plugin|direct    who writes, without a daemon\n"
	"      --interval-ms MS       between readings of the counters, without a daemon\n"
	"      --series               history: with -j, what was measured in 24 hours\n"
	"      --plot FILE            history: that, and the transactions, as SVG\n"
	"      --limit N              history: so many, default 20; top: so many looks,\n"
	"                             default until q\n"
	"      --watch[=SECONDS]      status, top: look again after so long, default 2\n"
	"      --csv                  plan, show, probe: tables as CSV; of a plan the\n"
	"                             changes, or with --root its sources\n"
	"      --columns NAME,...     plan, show, probe: these columns\n"
	"      --sort [-]NAME         plan, show, probe: by this column, with - from the\n"
	"                             most on\n"
	"      --no-pager             never through $PAGER\n"
	"      --units MB/s|Gb/s      of rates, default MB/s\n"
	"      --color WHEN           auto, always or never\n"
	"      --protect              key: let nobody read without the key\n"
	"      --lease SECONDS        key: protection ends so long after a wrong key;\n"
	"                             0: never\n"
	"      --html FILE            report: a page that is one file\n"
	"      --save FILE            probe: keep the answer as a record without GUIDs,\n"
	"                             LIDs, names\n"
	"      --load-cache FILE      plan, what-if: the fabric and its settings from\n"
	"                             this bundle,\n"
	"      --counters FILE        and what was counted and decided; one is for both\n"
	"      --set KEY=NUMBER       what-if: ccti_timer, ccti_increase, table_end,\n"
	"                             threshold, marking_rate in place of the plan's;\n"
	"                             several times\n"
	"      --node-name-map FILE   names of nodes\n"
	"      --sysfs-root FOLDER    ooo-check: where sys/ is, default /\n"
	"      --socket PATH          the daemon's control socket, whatever the\n"
	"                             configuration says\n"
	"  -z, --config FILE          configuration, default\n"
	"                             " IBCC_CONFIG_FILE "\n"
	"  -F, --fabric NAME          one of several fabrics, whose configuration is\n"
	"                             " IBCC_SYSCONFDIR "/ibcc-tune/NAME.yaml\n"
	"  -C, --Ca NAME              channel adapter to use\n"
	"  -P, --Port NUMBER          its port\n"
	"  -t, --timeout MS           of a MAD\n"
	"  -c, --cckey KEY            CC_Key; the configuration's cc_key_file keeps it\n"
	"                             off the command line\n"
	"  -e, --errors               say how many MADs were lost\n"
	"  -v, --verbose              say more\n"
	"  -d, --debug                say all\n"
	"  -h, --help                 this help\n"
	"  -V, --version              version\n"
	"\n"
	"Exit codes: 0 done, 1 error, 2 changes to make (--detailed-exitcode),\n"
	"78 bad configuration.\n";

enum {
	OPT_DETAILED = 256,
	OPT_CONFIRM,
	OPT_NO_WAIT,
	OPT_SKIP,
	OPT_VIA,
	OPT_INTERVAL,
	OPT_LIMIT,
	OPT_SERIES,
	OPT_PLOT,
	OPT_NAMES,
	OPT_PROTECT,
	OPT_SAVE,
	OPT_LEASE,
	OPT_SOCKET,
	OPT_FULL,
	OPT_ROOT,
	OPT_NODE,
	OPT_SYSFS,
	OPT_WATCH,
	OPT_UNITS,
	OPT_COLOR,
	OPT_HTML,
	OPT_CSV,
	OPT_COLUMNS,
	OPT_SORT,
	OPT_NO_PAGER,
	OPT_SET,
	OPT_CACHE,
	OPT_COUNTERS,
	OPT_ANONYMOUS,
};

static const struct option options[] = {
	{ "dry-run", no_argument, NULL, 'n' },
	{ "yes", no_argument, NULL, 'y' },
	{ "confirm-within", required_argument, NULL, OPT_CONFIRM },
	{ "no-wait", no_argument, NULL, OPT_NO_WAIT },
	{ "output", required_argument, NULL, 'o' },
	{ "json", no_argument, NULL, 'j' },
	{ "detailed-exitcode", no_argument, NULL, OPT_DETAILED },
	{ "skip-unsupported", no_argument, NULL, OPT_SKIP },
	{ "via", required_argument, NULL, OPT_VIA },
	{ "interval-ms", required_argument, NULL, OPT_INTERVAL },
	{ "limit", required_argument, NULL, OPT_LIMIT },
	{ "series", no_argument, NULL, OPT_SERIES },
	{ "plot", required_argument, NULL, OPT_PLOT },
	{ "protect", no_argument, NULL, OPT_PROTECT },
	{ "lease", required_argument, NULL, OPT_LEASE },
	{ "save", required_argument, NULL, OPT_SAVE },
	{ "node-name-map", required_argument, NULL, OPT_NAMES },
	{ "full", no_argument, NULL, OPT_FULL },
	{ "root", required_argument, NULL, OPT_ROOT },
	{ "node", required_argument, NULL, OPT_NODE },
	{ "socket", required_argument, NULL, OPT_SOCKET },
	{ "anonymous", no_argument, NULL, OPT_ANONYMOUS },
	{ "set", required_argument, NULL, OPT_SET },
	{ "load-cache", required_argument, NULL, OPT_CACHE },
	{ "counters", required_argument, NULL, OPT_COUNTERS },
	{ "sysfs-root", required_argument, NULL, OPT_SYSFS },
	{ "watch", optional_argument, NULL, OPT_WATCH },
	{ "units", required_argument, NULL, OPT_UNITS },
	{ "html", required_argument, NULL, OPT_HTML },
	{ "csv", no_argument, NULL, OPT_CSV },
	{ "columns", required_argument, NULL, OPT_COLUMNS },
	{ "sort", required_argument, NULL, OPT_SORT },
	{ "no-pager", no_argument, NULL, OPT_NO_PAGER },
	{ "color", required_argument, NULL, OPT_COLOR },
	{ "config", required_argument, NULL, 'z' },
	{ "fabric", required_argument, NULL, 'F' },
	{ "Ca", required_argument, NULL, 'C' },
	{ "Port", required_argument, NULL, 'P' },
	{ "timeout", required_argument, NULL, 't' },
	{ "cckey", required_argument, NULL, 'c' },
	{ "errors", no_argument, NULL, 'e' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "debug", no_argument, NULL, 'd' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* Options that override the configuration, kept until that has been read. */
struct overrides {
	const char *config_file, *fabric, *ca, *port, *timeout, *cc_key, *via, *interval, *limit,
		*lease, *socket, *root, *confirm, *watch, *units, *color, *columns, *sort;
	bool dry_run, csv;
};

static int print_usage(void)
{
	size_t i;

	fputs(usage_head, stdout);
	for (i = 0; i < N_COMMANDS; i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	return fputs(usage_options, stdout) < 0 ? TUNE_ERROR : TUNE_OK;
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
	struct tune t = { .limit = 20 };
	struct overrides o = { 0 };
	bool bad = false;
	int opt;

	while ((opt = getopt_long(argc, argv, "nyo:jz:F:C:P:t:c:evdhV", options, NULL)) != -1) {
		switch (opt) {
		case 'n': o.dry_run = true; break;
		case 'y': t.yes = true; break;
		case 'o': t.output = optarg; break;
		case 'j':
			t.json = true;
			tune_owe_error();
			break;
		case OPT_CONFIRM: o.confirm = optarg; break;
		case OPT_NO_WAIT: t.no_wait = true; break;
		case OPT_DETAILED: t.detailed_exitcode = true; break;
		case OPT_SKIP: t.skip_unsupported = true; break;
		case OPT_VIA: o.via = optarg; break;
		case OPT_INTERVAL: o.interval = optarg; break;
		case OPT_LIMIT: o.limit = optarg; break;
		case OPT_SERIES: t.series = true; break;
		case OPT_PLOT: t.plot = optarg; break;
		case OPT_PROTECT: t.protect = true; break;
		case OPT_LEASE: o.lease = optarg; break;
		case OPT_FULL: t.full = true; break;
		case OPT_ROOT: o.root = optarg; break;
		case OPT_NODE: t.node = optarg; break;
		case OPT_SOCKET: o.socket = optarg; break;
		case OPT_SYSFS: t.sysfs = optarg; break;
		case OPT_WATCH:
			o.watch = optarg;
			t.watch_ms = TUNE_WATCH_MS;
			/* No command is a number, so one that follows is the seconds. */
			if (!optarg && optind < argc && isdigit((unsigned char)argv[optind][0]))
				o.watch = argv[optind++];
			break;
		case OPT_UNITS: o.units = optarg; break;
		case OPT_HTML: t.html = optarg; break;
		case OPT_CSV: o.csv = true; break;
		case OPT_COLUMNS: o.columns = optarg; break;
		case OPT_SORT: o.sort = optarg; break;
		case OPT_NO_PAGER: tune_pager_refuse(); break;
		case OPT_COLOR: o.color = optarg; break;
		case OPT_SET:
			if (t.n_set == (int)(sizeof(t.set) / sizeof(*t.set)))
				return tune_fail("--set: too many");
			t.set[t.n_set++] = optarg;
			break;
		case OPT_CACHE: t.cache = optarg; break;
		case OPT_COUNTERS: t.counters = optarg; break;
		case OPT_ANONYMOUS: t.anonymous = true; break;
		case OPT_SAVE: t.save = optarg; break;
		case OPT_NAMES: t.name_map = optarg; break;
		case 'z': o.config_file = optarg; break;
		case 'F': o.fabric = optarg; break;
		case 'C': o.ca = optarg; break;
		case 'P': o.port = optarg; break;
		case 't': o.timeout = optarg; break;
		case 'c': o.cc_key = optarg; break;
		case 'e': t.errors = true; break;
		case 'v': t.verbose++; break;
		case 'd': t.verbose += 2; break;
		case 'h': return print_usage();
		case 'V': return printf("ibcc-tune %s\n", IBCC_VERSION) < 0;
		/* -j may come after it. */
		default: bad = true; break;
		}
	}
	if (bad)
		return hint();
	t.n_args = argc - optind;
	t.args = argv + optind;
	return run(&t, &o);
}
