/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-tuned: options, configuration, then the loop. */
#include <errno.h>
#include <getopt.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include <ibcc/log.h>
#include <ibcc/version.h>

#include "daemon/conf.h"
#include "daemon/confine.h"
#include "daemon/loop.h"
#include "daemon/rights.h"

/* Larger blocks are mapped each for itself, so that what a prediction or an answer took is given
 * back to the system when it is freed.
 */
#define MAPPED_BYTES (256 * 1024)

static const char usage[] =
	"Usage: ibcc-tuned [OPTION]...\n"
	"Watches an InfiniBand fabric for congestion and tunes its congestion control.\n"
	"\n"
	"  -z, --config FILE   configuration, default " IBCC_CONFIG_FILE "\n"
	"  -F, --fabric NAME   one of several fabrics, whose configuration is\n"
	"                      " IBCC_SYSCONFDIR "/ibcc-tune/NAME.yaml\n"
	"      --check-config  check the configuration and exit: 0 good, 78 bad\n"
	"      --dump          print the effective configuration and exit\n"
	"  -v, --verbose       log more (twice: debug)\n"
	"  -h, --help          this help\n"
	"  -V, --version       version\n"
	"\n"
	"Signals: SIGHUP reads the configuration again, SIGTERM ends; settings on the\n"
	"fabric stay, but for what is on trial.\n";

enum { OPT_CHECK = 256, OPT_DUMP };

static const struct option options[] = {
	{ "config", required_argument, NULL, 'z' },
	{ "fabric", required_argument, NULL, 'F' },
	{ "check-config", no_argument, NULL, OPT_CHECK },
	{ "dump", no_argument, NULL, OPT_DUMP },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, 'V' },
	{ 0 },
};

/* False: the daemon must not run with the rights that it has. */
static bool take_rights(const char *user)
{
	struct ibcc_why why = { "" };
	int rc = ibcc_rights_drop(user, &why);

	if (rc < 0)
		ibcc_log_of(IBCC_LOG_FAILED, LOG_ERR, "%s", why.text);
	else if (rc == IBCC_RIGHTS_NO_USER)
		ibcc_log(LOG_WARNING, "%s", why.text);
	else if (rc == IBCC_RIGHTS_DROPPED)
		ibcc_log(LOG_NOTICE, "started by root; from here on the daemon is user \"%s\"",
			 user);
	return rc >= 0;
}

int main(int argc, char **argv)
{
	struct ibcc_loop_options o = { .log_level = -1 };
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_why why = { "" };
	char path[IBCC_CONFIG_PATH_BYTES];
	bool check = false, dump = false;
	int opt, verbose = 0, rc;

	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	while ((opt = getopt_long(argc, argv, "z:F:vhV", options, NULL)) != -1) {
		switch (opt) {
		case 'z': o.config_file = optarg; break;
		case 'F': o.fabric = optarg; break;
		case OPT_CHECK: check = true; break;
		case OPT_DUMP: dump = true; break;
		case 'v': verbose++; break;
		case 'h': return fputs(usage, stdout) < 0;
		case 'V': return printf("ibcc-tuned %s\n", IBCC_VERSION) < 0;
		default: fputs("Try 'ibcc-tuned --help'.\n", stderr); return 1;
		}
	}
	if (optind < argc) {
		fprintf(stderr, "ibcc-tuned: unexpected argument '%s'\nTry 'ibcc-tuned --help'.\n",
			argv[optind]);
		return 1;
	}
	if (ibcc_conf_of_fabric(o.fabric, path, sizeof(path), &o.config_file)) {
		fprintf(stderr,
			"ibcc-tuned: --fabric: '%s' is no name of letters, digits, _, - and .\n",
			o.fabric);
		return 1;
	}
	rc = ibcc_conf_load(o.config_file, o.fabric, &o.config, &o.cc_key, &errors);
	if (rc)
		fputs(errors.text ? errors.text : "no memory\n", stderr);
	ibcc_yaml_errors_fini(&errors);
	if (rc)
		return IBCC_CONFIG_EXIT_STATUS;
	if (dump)
		return ibcc_config_dump(&o.config, stdout) ? 1 : 0;
	if (check)
		return printf("%s: %s\n", ibcc_conf_file(o.config_file),
			      ibcc_conf_has_file(o.config_file)
				      ? "configuration is good"
				      : "there is none, all settings have their defaults") < 0;
	if (verbose)
		o.log_level = verbose > 1 ? LOG_DEBUG : LOG_INFO;
	ibcc_log_open("ibcc-tuned", (enum ibcc_log_target)o.config.log_target,
		      o.log_level < 0 ? o.config.log_level : o.log_level);
	if (!take_rights(o.config.user))
		return IBCC_CONFIG_EXIT_STATUS;
	/* Whatever is wrong in here must not become more than that user. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	rc = ibcc_confine();
	if (rc)
		ibcc_log(LOG_WARNING, "the daemon runs without its filter of system calls: %s",
			 strerror(-rc));
	rc = ibcc_loop_run(&o, &why);
	if (rc)
		ibcc_log_of(IBCC_LOG_FAILED, LOG_ERR, "%s", why.text);
	return rc ? 1 : 0;
}
