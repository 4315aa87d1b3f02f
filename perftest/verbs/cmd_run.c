/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#include "perftest/verbs/cmd_run.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <ibcc/scenario_file.h>

#include "perftest/bench/bench.h"
#include "perftest/bench/report.h"
#include "perftest/verbs/around.h"
#include "perftest/verbs/report.h"
#include "perftest/verbs/token.h"

#define WORDS_BYTES 400

struct options {
	bool json;
	const char *plot;
	char *token;
	struct ibcc_words set;
	struct ibcc_perf_around around;
	uint64_t repeats, settle_ms;
};

static int read_token(void *place, const char *file)
{
	char **token = place;

	free(*token);
	*token = ibcc_perf_token(file);
	return *token ? 0 : -EINVAL;
}

static const struct ibcc_option options[] = {
	IBCC_OPTION_JSON(struct options),
	{ "plot", 0, IBCC_OPTION_TEXT, "FILE", "plot throughput over time to this SVG file",
	  .at = offsetof(struct options, plot) },
	{ "token-file", 0, IBCC_OPTION_READ, "FILE", "file with the token of ibcc-perf serve",
	  .at = offsetof(struct options, token), .read = read_token },
	IBCC_OPTION_SET(struct options, set),
	{ "around", 0, IBCC_OPTION_TEXT, "COMMAND", "measure before and after this shell command",
	  .at = offsetof(struct options, around.command) },
	{ "undo", 0, IBCC_OPTION_TEXT, "COMMAND",
	  "with --around: run this shell command to revert\nit, and alternate before and after",
	  .at = offsetof(struct options, around.undo) },
	{ "repeats", 0, IBCC_OPTION_NUMBER, "N",
	  "number of measurements before, and as many after\n(default 5)",
	  .at = offsetof(struct options, repeats), 1, IBCC_PERF_REPEATS_MAX },
	{ "settle-ms", 0, IBCC_OPTION_NUMBER, "MS",
	  "pause after each command, in milliseconds\n(default 1000)",
	  .at = offsetof(struct options, settle_ms), 0, 3600000 },
};

/* What a plot shows: one run, or those around a command. */
struct plot {
	const struct ibcc_scenario *s;
	const struct ibcc_perf_result *result;
	const bool *is_after;
	size_t n;
};

static int write_plot(void *arg, FILE *out)
{
	const struct plot *p = arg;
	const char **text = calloc(p->n + 1, sizeof(*text));
	int rc = -ENOMEM;

	if (text) {
		for (size_t i = 0; i < p->n; i++)
			text[i] = p->is_after && p->is_after[i] ? "after" : "before";
		rc = ibcc_perf_report_plot(p->s, p->result, text, p->n, out);
	}
	free(text);
	return rc;
}

/* Whether the run was a success: some traffic moved, and no compared data differed. */
static bool is_good(const struct ibcc_scenario *s, const struct ibcc_perf_result *r)
{
	uint64_t bad = 0, messages = 0;

	for (uint32_t i = 0; i < s->n_flows; i++) {
		bad += r->flow[i].bad;
		messages += r->flow[i].messages;
	}
	return !bad && messages && !r->interrupted;
}

static json_t *around_json(const struct options *o, const struct ibcc_perf_hosts *hosts,
			   const char *words)
{
	const struct ibcc_perf_around *a = &o->around;
	json_t *runs = json_array(), *kinds = json_object();

	for (uint32_t i = 0; runs && i < a->n; i++) {
		json_t *one = ibcc_perf_report_json(hosts, &a->result[i]);

		if (one)
			json_object_set_new(one, "after", json_boolean(a->is_after[i]));
		json_array_append_new(runs, one);
	}
	for (int k = IBCC_FLOW_BACKGROUND; kinds && k <= IBCC_FLOW_VICTIM; k++) {
		struct ibcc_perf_change c =
			ibcc_perf_around_kind(a, hosts->s, (enum ibcc_flow_kind)k);

		if (isnan(c.percent))
			continue;
		json_object_set_new(
			kinds, ibcc_perf_kind_name((enum ibcc_flow_kind)k),
			json_pack("{sf sf sf so}", "before_mbps", c.before, "after_mbps", c.after,
				  "change_percent", c.percent, "half_width_percent",
				  isnan(c.half_width) ? json_null() : json_real(c.half_width)));
	}
	return json_pack("{si ss ss? sI ss so so}", "schema", 1, "around", a->command, "undo",
			 a->undo, "repeats", (json_int_t)a->repeats, "words", words, "change",
			 kinds, "runs", runs);
}

static int run_around(struct options *o, struct ibcc_perf_hosts *hosts, int signal_fd,
		      struct ibcc_perf_live *live, struct ibcc_why *e)
{
	struct ibcc_perf_around *a = &o->around;
	char words[WORDS_BYTES];
	int rc = ibcc_perf_around(a, hosts, signal_fd, o->json ? NULL : ibcc_perf_live, live,
				  o->json ? NULL : stdout, e);
	struct plot plot = { hosts->s, a->result, a->is_after, a->n };

	if (!rc) {
		ibcc_perf_around_words(a, hosts->s, words, sizeof(words));
		if (o->json)
			rc = ibcc_report_json(around_json(o, hosts, words), true, stdout);
		else
			printf("\n%s\n", words);
		for (uint32_t i = 0; i < a->n; i++)
			if (!is_good(hosts->s, &a->result[i]))
				rc = ibcc_perf_fail(
					e, 0, "measurement %u moved no data, or wrong data", i + 1);
	}
	if (o->plot && plot.n && ibcc_bench_write(o->plot, write_plot, &plot) && !rc)
		rc = -EIO;
	ibcc_perf_around_fini(a);
	return rc;
}

static int run_once(struct options *o, struct ibcc_perf_hosts *hosts, int signal_fd,
		    struct ibcc_perf_live *live, struct ibcc_why *e)
{
	struct ibcc_perf_result r;
	struct plot plot = { hosts->s, &r, NULL, 1 };
	int rc = ibcc_perf_run_once(hosts, signal_fd, o->json ? NULL : ibcc_perf_live, live, &r, e);

	if (!rc) {
		rc = o->json ? ibcc_report_json(ibcc_perf_report_json(hosts, &r), true, stdout)
			     : ibcc_perf_report_table(hosts, &r, stdout);
		if (!rc && !is_good(hosts->s, &r))
			rc = r.interrupted ? -EINTR
					   : ibcc_perf_fail(e, 0,
							    "the flows moved no data, or wrong "
							    "data: see the table");
		if (o->plot && ibcc_bench_write(o->plot, write_plot, &plot) && !rc)
			rc = -EIO;
	}
	ibcc_perf_result_fini(&r);
	return rc;
}

/* Prints which parts of a scenario only the engine can run. */
static void say_what_is_left_out(const struct ibcc_scenario *s)
{
	if (s->n_events)
		fputs("ibcc-perf: the events of the plan are left out: only the simulator has "
		      "them\n",
		      stderr);
	if (s->cc.enabled)
		fputs("ibcc-perf: congestion_control of the plan is left out: the fabric keeps its "
		      "own settings\n",
		      stderr);
}

static int catch_signals(void)
{
	sigset_t signals;

	sigemptyset(&signals);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	if (sigprocmask(SIG_BLOCK, &signals, NULL))
		return -1;
	return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int run_plan(struct options *o, const struct ibcc_scenario *s)
{
	struct ibcc_why e = { "" };
	struct ibcc_perf_hosts hosts;
	struct ibcc_perf_live live = { .s = s, .out = stdout, .tty = isatty(STDOUT_FILENO) };
	int rc = ibcc_perf_hosts_plan(&hosts, s, &e), signal_fd = -1;

	/* A script's shell makes background programs ignore SIGINT, so the signal would be lost
	 * until the program catches it below.
	 */
	signal(SIGINT, SIG_DFL);
	say_what_is_left_out(s);
	if (!rc)
		rc = ibcc_perf_hosts_connect(&hosts, o->token, &e);
	if (!rc) {
		/* Until here a signal just ends the program: the hosts free what they have. */
		signal_fd = catch_signals();
		rc = o->around.command ? run_around(o, &hosts, signal_fd, &live, &e)
				       : run_once(o, &hosts, signal_fd, &live, &e);
	}
	if (*e.text)
		fprintf(stderr, "ibcc-perf: %s\n", e.text);
	else if (rc && rc != -EINTR)
		fprintf(stderr, "ibcc-perf: %s\n", strerror(-rc));
	ibcc_perf_hosts_fini(&hosts);
	if (signal_fd >= 0)
		close(signal_fd);
	return rc || fflush(stdout) ? IBCC_EXIT_ERROR : IBCC_EXIT_OK;
}

static int run(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = { .repeats = 5, .settle_ms = 1000 };
	struct ibcc_yaml_errors e = { 0 };
	struct ibcc_scenario s;
	int rc, at, exit = IBCC_EXIT_ERROR;

	if (ibcc_command_read(c, argc, argv, &o, &at))
		goto out;
	if (o.around.undo && !o.around.command) {
		ibcc_command_say("%s: --undo needs --around", c->name);
		goto out;
	}
	o.around.repeats = (uint32_t)o.repeats;
	o.around.settle_ms = (uint32_t)o.settle_ms;
	rc = ibcc_scenario_load_set(argv[at], (const char *const *)o.set.w, o.set.n, &s, &e);
	if (rc) {
		exit = ibcc_bench_fail(argv[at], rc, &e);
	} else {
		exit = run_plan(&o, &s);
		ibcc_scenario_fini(&s);
	}
out:
	ibcc_words_fini(&o.set);
	free(o.token);
	return exit;
}

const struct ibcc_command ibcc_perf_run = {
	.name = "run",
	.arguments = "PLAN",
	.what = "run the traffic of a plan, and measure it",
	.want = "one plan",
	.least = 1,
	.most = 1,
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = run,
};
