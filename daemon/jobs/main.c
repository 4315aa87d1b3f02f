/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* ibcc-jobs: asks a batch system which jobs run on which hosts, and replaces the file that
 * ibcc-tuned reads. Whatever a batch system does, ibcc-tuned never waits for it, and this program
 * goes on asking.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <systemd/sd-journal.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/command.h>
#include <ibcc/log.h>
#include <ibcc/now.h>
#include <ibcc/text.h>
#include <ibcc/version.h>

#include "daemon/jobs/ask.h"
#include "daemon/jobs/map.h"
#include "daemon/jobs/squeue.h"

#define OUTPUT    "/run/ibcc-jobs/jobs.json"
#define PERIOD_S  30
#define TIMEOUT_S 60 /* a program may run for a period, and no longer than this */

enum provider {
	PROVIDER_SLURM,
	PROVIDER_FILE,
	PROVIDER_COMMAND,
};

static const char *const provider_names[] = {
	[PROVIDER_SLURM] = "slurm",
	[PROVIDER_FILE] = "file",
	[PROVIDER_COMMAND] = "command",
};

struct args {
	enum provider provider;
	uint64_t period_s;
	const char *output, *command, *file;
	bool no_users, no_names, once, help, version;
};

struct state {
	struct args a;
	struct ibcc_ask ask;
	struct ibcc_jobs map;
	bool not_answered, not_written; /* as the log has it */
};

static int read_provider(void *place, const char *value)
{
	for (size_t i = 0; i < sizeof(provider_names) / sizeof(*provider_names); i++)
		if (!strcmp(value, provider_names[i])) {
			*(enum provider *)place = (enum provider)i;
			return 0;
		}
	return -EINVAL;
}

static const struct ibcc_option rows[] = {
	{ "provider", 'p', IBCC_OPTION_READ, "NAME",
	  "what knows the jobs: slurm (default), file or\ncommand",
	  .at = offsetof(struct args, provider), .read = read_provider,
	  .want = "slurm, file or command" },
	{ "period", 'i', IBCC_OPTION_NUMBER, "SECONDS", "how often it is asked, default 30",
	  .at = offsetof(struct args, period_s), .min = 1, .max = 3600 },
	{ "output", 'o', IBCC_OPTION_TEXT, "FILE", "the map, default\n" OUTPUT,
	  .at = offsetof(struct args, output) },
	{ "command", 'c', IBCC_OPTION_TEXT, "COMMAND",
	  "for the provider command: prints a map; sh runs it",
	  .at = offsetof(struct args, command) },
	{ "file", 'f', IBCC_OPTION_TEXT, "FILE",
	  "for the provider file: a map that a script replaces",
	  .at = offsetof(struct args, file) },
	{ "no-users", 0, IBCC_OPTION_FLAG, NULL, "leave out the names of users",
	  .at = offsetof(struct args, no_users) },
	{ "no-names", 0, IBCC_OPTION_FLAG, NULL, "leave out the names of jobs",
	  .at = offsetof(struct args, no_names) },
	{ "once", 0, IBCC_OPTION_FLAG, NULL, "ask once and exit: 0 answered, 1 not",
	  .at = offsetof(struct args, once) },
	{ "help", 'h', IBCC_OPTION_FLAG, NULL, "show this help",
	  .at = offsetof(struct args, help) },
	{ "version", 'V', IBCC_OPTION_FLAG, NULL, "show the version",
	  .at = offsetof(struct args, version) },
};
static const struct ibcc_options options = { rows, sizeof(rows) / sizeof(*rows), NULL };

static int print_usage(void)
{
	fputs("Usage: ibcc-jobs [OPTION]...\n"
	      "Asks a batch system which jobs run on which hosts, and writes a map for "
	      "ibcc-tuned.\n"
	      "\n",
	      stdout);
	return ibcc_options_print(&options, NULL, stdout) < 0;
}

/* A provider has the option that it needs, and no other one has it. */
static int check_args(const struct args *a)
{
	if ((a->provider == PROVIDER_COMMAND) != (a->command != NULL))
		return ibcc_command_say(a->command ? "--command needs --provider command"
						   : "--provider command needs --command");
	if ((a->provider == PROVIDER_FILE) != (a->file != NULL))
		return ibcc_command_say(a->file ? "--file needs --provider file"
						: "--provider file needs --file");
	return 0;
}

/* What the provider says, as text. */
static int ask(struct state *s, char **text, size_t *len, struct ibcc_why *why)
{
	/* All jobs that have hosts, or had them some minutes ago. Thousands may wait for theirs. */
	static const char *const squeue[] = {
		"squeue", "--json", "--all",
		"--states=RUNNING,SUSPENDED,COMPLETING,STOPPED,COMPLETED,CANCELLED,FAILED,TIMEOUT,"
		"PREEMPTED,NODE_FAIL,BOOT_FAIL,DEADLINE,OUT_OF_MEMORY",
		NULL
	};
	const char *const shell[] = { "/bin/sh", "-c", s->a.command, NULL };
	unsigned int timeout_s =
		s->a.period_s < TIMEOUT_S ? (unsigned int)s->a.period_s : TIMEOUT_S;

	switch (s->a.provider) {
	case PROVIDER_SLURM:
		return ibcc_ask_program(&s->ask, squeue[0], squeue, timeout_s, text, len, why);
	case PROVIDER_FILE: return ibcc_ask_file(s->a.file, text, len, why);
	case PROVIDER_COMMAND:
		return ibcc_ask_program(&s->ask, s->a.command, shell, timeout_s, text, len, why);
	}
	return -EINVAL;
}

/* A script of the site may say how old its knowledge is, and how often it is asked. */
static int read_map(const struct state *s, struct ibcc_jobs *jobs, const char *text, size_t len,
		    int64_t now_s, struct ibcc_why *why)
{
	int64_t period_s = (int64_t)s->a.period_s;
	int rc;

	if (s->a.provider == PROVIDER_SLURM) {
		rc = ibcc_squeue_read(jobs, text, len, now_s, why);
		jobs->made_s = now_s;
	} else {
		rc = ibcc_jobs_parse(jobs, text, len, why);
	}
	if (rc)
		return rc;
	jobs->made_s = jobs->made_s < now_s ? jobs->made_s : now_s;
	jobs->period_s = jobs->period_s > period_s ? jobs->period_s : period_s;
	if (now_s - jobs->made_s > 2 * jobs->period_s) {
		ibcc_jobs_fini(jobs);
		return -ESTALE;
	}
	snprintf(jobs->source, sizeof(jobs->source), "%s", provider_names[s->a.provider]);
	return 0;
}

/* Asks, and renews what is kept. What went wrong is a sentence in the map. -ECANCELED: end. */
static int renew(struct state *s)
{
	const char *const from[] = { [PROVIDER_SLURM] = "squeue",
				     [PROVIDER_FILE] = s->a.file,
				     [PROVIDER_COMMAND] = s->a.command };
	int64_t now_s = (int64_t)time(NULL);
	struct ibcc_why why = { "" }, trouble = { "" };
	struct ibcc_jobs jobs = { 0 };
	char *text = NULL;
	size_t len = 0;
	int rc = ask(s, &text, &len, &why);

	if (rc == -ECANCELED)
		return rc;
	if (rc) {
		trouble = why;
	} else {
		rc = read_map(s, &jobs, text, len, now_s, &why);
		if (rc == -EINVAL)
			ibcc_why_set(&trouble, rc, "what %.60s gives cannot be used: %s",
				     from[s->a.provider], why.text);
		else if (rc == -ESTALE)
			ibcc_why_set(&trouble, rc,
				     "the map of %.80s is out of date; see whether the script that "
				     "makes it still runs",
				     from[s->a.provider]);
	}
	free(text);
	if (!rc) {
		ibcc_map_hide(&jobs, s->a.no_users, s->a.no_names);
		rc = ibcc_map_renew(&s->map, &jobs);
	}
	if (rc == -ENOMEM)
		ibcc_why_set(&trouble, rc, "ibcc-jobs lacks memory for the map");
	if (rc)
		ibcc_map_fail(&s->map, trouble.text, (int64_t)time(NULL));
	return 0;
}

/* Asks and writes once. Logs what has changed: trouble that lasts is logged once. */
static int run_once(struct state *s)
{
	struct ibcc_why why = { "" };
	bool failed;
	int rc = renew(s);

	if (rc)
		return rc;
	failed = s->map.trouble[0] != '\0';
	if (failed && !s->not_answered)
		ibcc_log(LOG_WARNING, "%s; ibcc-tuned knows no new jobs until this is corrected",
			 s->map.trouble);
	else if (!failed && s->not_answered)
		ibcc_log(LOG_NOTICE, "the provider answers again: %u job%s on %u host%s", s->map.n,
			 ibcc_text_plural(s->map.n, "", "s"), s->map.n_hosts,
			 ibcc_text_plural(s->map.n_hosts, "", "s"));
	s->not_answered = failed;
	rc = ibcc_map_put(&s->map, s->a.output, &why);
	if (rc && !s->not_written)
		ibcc_log(LOG_ERR, "%s", why.text);
	else if (!rc && s->not_written)
		ibcc_log(LOG_NOTICE, "the map %s is written again", s->a.output);
	s->not_written = rc != 0;
	return 0;
}

/* True if the program is to end before that time. */
static bool ends_before(const struct state *s, int64_t until_ms)
{
	struct pollfd fd = { .fd = s->ask.stop_fd, .events = POLLIN };
	int64_t left_ms;

	while ((left_ms = until_ms - ibcc_now_ms()) > 0 && !fd.revents)
		poll(&fd, 1, (int)left_ms);
	return fd.revents != 0;
}

/* Goes on with the map of an ibcc-jobs before, so that a new start while the batch system is away
 * does not lose it. The period of that map stays if it is longer and not Slurm's: a script may have
 * set it, and its answer holds for two periods. At worst --period was longer then, and the answer
 * holds for as long as was meant when it was asked for. The next answer replaces it.
 */
static void recall(struct state *s)
{
	const char *source = provider_names[s->a.provider];
	int64_t period_s = (int64_t)s->a.period_s;
	char *text = NULL;
	size_t len = 0;

	if (!ibcc_ask_file(s->a.output, &text, &len, NULL) &&
	    !ibcc_jobs_parse(&s->map, text, len, NULL)) {
		if (strcmp(s->map.source, source))
			ibcc_jobs_fini(&s->map);
		ibcc_map_hide(&s->map, s->a.no_users, s->a.no_names);
	}
	free(text);
	if (s->a.provider == PROVIDER_SLURM || s->map.period_s < period_s)
		s->map.period_s = period_s;
	snprintf(s->map.source, sizeof(s->map.source), "%s", source);
}

static int run(struct state *s)
{
	int64_t next_ms = ibcc_now_ms();
	int rc;

	recall(s);
	do {
		rc = run_once(s);
		if (s->a.once)
			break;
		next_ms += INT64_C(1000) * (int64_t)s->a.period_s;
		if (next_ms < ibcc_now_ms())
			next_ms = ibcc_now_ms();
	} while (rc != -ECANCELED && !ends_before(s, next_ms));
	rc = s->a.once && (rc || s->not_answered || s->not_written);
	ibcc_jobs_fini(&s->map);
	return rc;
}

/* SIGTERM and SIGINT are read from this descriptor; -1 on failure. */
static int catch_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	return sigprocmask(SIG_BLOCK, &set, NULL) ? -1 : signalfd(-1, &set, SFD_CLOEXEC);
}

int main(int argc, char **argv)
{
	struct state s = { .a = { .period_s = PERIOD_S, .output = OUTPUT } };
	struct ibcc_why why = { "" };
	int first = argc;

	if (ibcc_options_read(&options, argc, argv, &s.a, &first, NULL)) {
		fputs("Try 'ibcc-jobs --help'.\n", stderr);
		return 1;
	}
	if (s.a.help)
		return print_usage();
	if (s.a.version)
		return printf("ibcc-jobs %s\n", IBCC_VERSION) < 0;
	if (first < argc) {
		fprintf(stderr, "ibcc-jobs: unexpected argument '%s'\nTry 'ibcc-jobs --help'.\n",
			argv[first]);
		return 1;
	}
	if (check_args(&s.a))
		return 1;
	ibcc_log_open("ibcc-jobs", IBCC_LOG_AUTO, sd_journal_sendv, LOG_INFO);
	if (ibcc_map_check(s.a.output, &why)) {
		ibcc_log(LOG_ERR, "%s", why.text);
		return 1;
	}
	s.ask.stop_fd = catch_signals();
	if (s.ask.stop_fd < 0) {
		ibcc_log(LOG_ERR, "ibcc-jobs cannot wait for signals: %s", strerror(errno));
		return 1;
	}
	return run(&s);
}
