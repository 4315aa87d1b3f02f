/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-tuned: options, configuration, then the loop. */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <systemd/sd-journal.h>

#include <ibcc/command.h>
#include <ibcc/log.h>
#include <ibcc/version.h>

#include "daemon/conf.h"
#include "daemon/confine.h"
#include "daemon/loop.h"
#include "daemon/rights.h"

/* The C library maps each larger block separately. So it returns memory to the system when the
 * daemon frees a prediction or an answer.
 */
#define MAPPED_BYTES (256 * 1024)

struct args {
	struct ibcc_loop_options loop;
	bool check, dump, help, version;
	int verbose;
};

static int read_verbose(void *place, const char *value)
{
	(void)value;
	(*(int *)place)++;
	return 0;
}

static const struct ibcc_option rows[] = {
	{ "config", 'z', IBCC_OPTION_TEXT, "FILE", "configuration, default\n" IBCC_CONFIG_FILE,
	  .at = offsetof(struct args, loop.config_file) },
	{ "fabric", 'F', IBCC_OPTION_TEXT, "NAME",
	  "one of several fabrics, whose configuration is\n" IBCC_SYSCONFDIR "/ibcc-tune/NAME.yaml",
	  .at = offsetof(struct args, loop.fabric) },
	{ "check-config", 0, IBCC_OPTION_FLAG, NULL,
	  "check the configuration and exit: 0 good, 78 bad", .at = offsetof(struct args, check) },
	{ "dump", 0, IBCC_OPTION_FLAG, NULL, "print the effective configuration and exit",
	  .at = offsetof(struct args, dump) },
	{ "verbose", 'v', IBCC_OPTION_READ, NULL, "log more (twice: debug)",
	  .at = offsetof(struct args, verbose), .read = read_verbose },
	{ "help", 'h', IBCC_OPTION_FLAG, NULL, "show this help",
	  .at = offsetof(struct args, help) },
	{ "version", 'V', IBCC_OPTION_FLAG, NULL, "show the version",
	  .at = offsetof(struct args, version) },
};
static const struct ibcc_options options = { rows, sizeof(rows) / sizeof(*rows), NULL };

static int print_usage(void)
{
	fputs("Usage: ibcc-tuned [OPTION]...\n"
	      "Watches an InfiniBand fabric for congestion and tunes its congestion control.\n"
	      "\n",
	      stdout);
	ibcc_options_print(&options, NULL, stdout);
	return fputs("\n"
		     "Signals: SIGHUP reads the configuration again. SIGTERM ends the daemon: it\n"
		     "reverts a change on trial, all other settings stay on the fabric.\n",
		     stdout) < 0;
}

/* Returns false if the daemon must not run with the rights that it has. */
static bool take_rights(const char *user)
{
	struct ibcc_why why = { "" };
	int rc = ibcc_rights_drop(user, &why);

	if (rc < 0)
		ibcc_log_of(IBCC_LOG_FAILED, LOG_ERR, "%s", why.text);
	else if (rc == IBCC_RIGHTS_NO_USER)
		ibcc_log(LOG_WARNING, "%s", why.text);
	else if (rc == IBCC_RIGHTS_DROPPED)
		ibcc_log(LOG_NOTICE, "started as root; from now on the daemon runs as user \"%s\"",
			 user);
	return rc >= 0;
}

int main(int argc, char **argv)
{
	struct args a = { .loop.log_level = -1 };
	struct ibcc_loop_options *o = &a.loop;
	struct ibcc_yaml_errors errors = { 0 };
	struct ibcc_why why = { "" };
	char path[IBCC_CONFIG_PATH_BYTES];
	int first = argc, rc;

	mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	if (ibcc_options_read(&options, argc, argv, &a, &first, NULL)) {
		fputs("Try 'ibcc-tuned --help'.\n", stderr);
		return 1;
	}
	if (a.help)
		return print_usage();
	if (a.version)
		return printf("ibcc-tuned %s\n", IBCC_VERSION) < 0;
	if (first < argc) {
		fprintf(stderr, "ibcc-tuned: unexpected argument '%s'\nTry 'ibcc-tuned --help'.\n",
			argv[first]);
		return 1;
	}
	if (ibcc_conf_of_fabric(o->fabric, path, sizeof(path), &o->config_file)) {
		fprintf(stderr,
			"ibcc-tuned: --fabric: got '%s', want a name of letters, digits, _, - and "
			"., such as ib1\n",
			o->fabric);
		return 1;
	}
	rc = ibcc_conf_load(o->config_file, o->fabric, &o->config, &o->cc_key, &errors);
	if (rc)
		fputs(errors.text ? errors.text : "no memory\n", stderr);
	ibcc_yaml_errors_fini(&errors);
	if (rc)
		return IBCC_CONFIG_EXIT_STATUS;
	if (a.dump)
		return ibcc_config_dump(&o->config, stdout) ? 1 : 0;
	if (a.check)
		return printf("%s: %s\n", ibcc_conf_file(o->config_file),
			      ibcc_conf_has_file(o->config_file)
				      ? "configuration is good"
				      : "there is none, all settings have their defaults") < 0;
	if (a.verbose)
		o->log_level = a.verbose > 1 ? LOG_DEBUG : LOG_INFO;
	ibcc_log_open("ibcc-tuned", (enum ibcc_log_target)o->config.log_target, sd_journal_sendv,
		      o->log_level < 0 ? o->config.log_level : o->log_level);
	if (!take_rights(o->config.user))
		return IBCC_CONFIG_EXIT_STATUS;
	/* An exploit of this process must not gain more rights than its user has. */
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	rc = ibcc_confine();
	if (rc)
		ibcc_log(LOG_WARNING,
			 "the daemon runs without its filter of system calls: %s; it works, but is "
			 "less confined: see ibcc-tuned(8)",
			 strerror(-rc));
	rc = ibcc_loop_run(o, &why);
	if (rc)
		ibcc_log_of(IBCC_LOG_FAILED, LOG_ERR, "%s", why.text);
	return rc ? 1 : 0;
}
