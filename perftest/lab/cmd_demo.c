/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* make demo: runs the whole simulated system from a cold start to a report, then stops everything.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/grow.h>
#include <ibcc/now.h>

#include "perftest/bench/bench.h"
#include "perftest/lab/demo_report.h"
#include "perftest/lab/demo_system.h"
#include "perftest/lab/lab.h"

#define SAMPLE_MS 500

struct times {
	double off_s, tuned_s; /* wall time of the two phases */
	double settle_share;   /* last part of a phase that counts */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int sig)
{
	(void)sig;
	interrupted = 1;
}

/* Eighths of a bar, for a throughput that is at most `full`. */
static void bar(char *buf, size_t len, double v, double full)
{
	int n = (int)(v / full * 24 + 0.5);
	size_t used = 0;

	for (int i = 0; i < 24 && used + 4 < len; i++)
		used += (size_t)snprintf(buf + used, len - used, "%s", i < n ? "█" : "·");
}

static void show(const struct sample *s, const char *phase, bool tty, bool first)
{
	char hot[128], victim[128];

	if (!tty) {
		printf("%8.1f ms  %-5s  hot %6.0f MB/s  victim %6.0f MB/s  threshold %2.0f  "
		       "timer %6.1f us  increase %3.0f  last delay %6.1f\n",
		       s->t_ms, phase, s->hot_MBps, s->victim_MBps, s->threshold, s->ccti_timer_us,
		       s->ccti_increase, s->last_delay);
		fflush(stdout);
		return;
	}
	bar(hot, sizeof(hot), s->hot_MBps, 4000);
	bar(victim, sizeof(victim), s->victim_MBps, 4000);
	if (!first)
		printf("\033[6A");
	printf("\033[K  simulated time   %8.1f ms      congestion control: %s\n"
	       "\033[K  to slow receiver %s %6.0f MB/s\n"
	       "\033[K  victim           %s %6.0f MB/s\n"
	       "\033[K  together                                  %6.0f MB/s\n"
	       "\033[K  marking          threshold %-3.0f at %.0f port(s), %.0f FECN/ms\n"
	       "\033[K  sources          CCTI_Timer %.1f us, CCTI_Increase %.0f, last delay %.1f "
	       "packets\n",
	       s->t_ms, phase, hot, s->hot_MBps, victim, s->victim_MBps,
	       s->hot_MBps + s->victim_MBps, s->threshold, s->marking_ports, s->fecn_per_ms,
	       s->ccti_timer_us, s->ccti_increase, s->last_delay);
	fflush(stdout);
}

static int append(struct demo *d, const struct sample *s)
{
	struct sample *grown = ibcc_grow(d->sample, d->n, &d->cap, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	d->sample = grown;
	d->sample[d->n++] = *s;
	return 0;
}

/* Samples for `seconds`, then sums up the last part of the phase into *p. */
static int run_phase(struct demo_system *sys, struct demo *d, const char *name, double seconds,
		     double settle_share, struct phase *p)
{
	double begin = ibcc_now_s(), settled = seconds * (1 - settle_share);
	struct totals from = { 0 }, to = { 0 };
	bool tty = isatty(STDOUT_FILENO), marked = false;
	int ret;

	while (ibcc_now_s() - begin < seconds && !interrupted) {
		struct sample s;

		ret = ibcc_demo_sample(sys, &s, &to);
		if (ret)
			return ret;
		if (!marked && ibcc_now_s() - begin >= settled) {
			from = to;
			marked = true;
		}
		ret = append(d, &s);
		if (ret)
			return ret;
		show(&s, name, tty, d->n == 1);
		nanosleep(&(struct timespec){ 0, SAMPLE_MS * 1000000L }, NULL);
	}
	if (interrupted || !marked || to.t_ms <= from.t_ms)
		return -EINTR;
	ibcc_demo_rate(sys, &from, &to, p);
	return 0;
}

static void print_result(const struct demo *d)
{
	const struct phase *b = &d->before, *a = &d->after;

	printf("\n  %-18s %14s %14s\n", "", "off", "tuned");
	printf("  %-18s %9.0f MB/s %9.0f MB/s\n", "to slow receiver", b->congested_MBps,
	       a->congested_MBps);
	printf("  %-18s %9.0f MB/s %9.0f MB/s  (x %.2f)\n", "victim", b->victim_MBps,
	       a->victim_MBps, b->victim_MBps > 0 ? a->victim_MBps / b->victim_MBps : 0);
	printf("  %-18s %9.0f MB/s %9.0f MB/s  (%+.1f %%)\n", "together", b->aggregate_MBps,
	       a->aggregate_MBps, ibcc_demo_gain_percent(b->aggregate_MBps, a->aggregate_MBps));
	printf("  %-18s %9.1f %%    %9.1f %%\n\n", "slow receiver busy", 100 * b->sink_utilisation,
	       100 * a->sink_utilisation);
}

/* Tuning helped if the sum gained a fifth, the victim doubled, and the slow receiver stayed busy.
 */
static bool helped(const struct demo *d)
{
	return d->after.aggregate_MBps >= 1.2 * d->before.aggregate_MBps &&
	       d->after.victim_MBps >= 2 * d->before.victim_MBps &&
	       d->after.sink_utilisation >= 0.9;
}

static int run(struct demo_system *sys, struct demo *d, const struct times *t)
{
	int ret;

	ret = ibcc_demo_start(sys);
	if (!ret)
		ret = run_phase(sys, d, "off", t->off_s, t->settle_share, &d->before);
	if (!ret)
		ret = ibcc_demo_tune(sys, &d->tuned_from_ms);
	if (!ret)
		ret = run_phase(sys, d, "tuned", t->tuned_s, t->settle_share, &d->after);
	if (!ret)
		ret = ibcc_demo_words(sys, d);
	return ret;
}

struct options {
	struct demo_system sys;
	struct times times;
};

static int read_positive(void *place, const char *text)
{
	double *v = place;
	char *end;

	*v = strtod(text, &end);
	return *v > 0 && !*end ? 0 : -EINVAL;
}

#define POSITIVE(name, value, help, member)                                                        \
	{                                                                                          \
		name, 0, IBCC_OPTION_READ, value, help, .at = offsetof(struct options, member),    \
							.read = read_positive,                     \
							.want = "a number above 0"                 \
	}

static const struct ibcc_option options[] = {
	{ "build", 0, IBCC_OPTION_TEXT, "FOLDER", "folder of the programs (default build)",
	  .at = offsetof(struct options, sys.build) },
	{ "out", 0, IBCC_OPTION_TEXT, "FOLDER",
	  "folder for report, figures and logs (default\nbuild/demo)",
	  .at = offsetof(struct options, sys.out) },
	{ "scenario", 0, IBCC_OPTION_TEXT, "FILE",
	  "fabric and traffic (default\nperftest/scenarios/lustre.yaml)",
	  .at = offsetof(struct options, sys.scenario) },
	POSITIVE("speed", "RATIO", "simulated time in relation to real time", sys.speed),
	POSITIVE("off", "SECONDS", "seconds without congestion control", times.off_s),
	POSITIVE("tuned", "SECONDS", "seconds with the daemon", times.tuned_s),
};

static int demo(const struct ibcc_command *c, int argc, char **argv)
{
	struct options o = {
		.sys = { .build = "build",
			 .out = "build/demo",
			 .scenario = "perftest/scenarios/lustre.yaml",
			 .speed = 0.02 },
		.times = { .off_s = 8, .tuned_s = 30, .settle_share = 0.33 },
	};
	struct demo d = { .title = "ibcc-tune demo: a slow receiver and its victim" };
	struct demo_system *sys = &o.sys;
	double begin = ibcc_now_s();
	int first, ret, stop;

	if (ibcc_command_read(c, argc, argv, &o, &first))
		return IBCC_EXIT_ERROR;
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	if (mkdir(sys->out, 0777) < 0 && errno != EEXIST) {
		ibcc_command_say("%s: cannot make %s: %s", c->name, sys->out, strerror(errno));
		return 1;
	}
	ret = run(sys, &d, &o.times);
	stop = ibcc_demo_stop(sys);
	d.seconds = ibcc_now_s() - begin;
	d.ok = !ret && !stop && helped(&d);
	if (!ret) {
		print_result(&d);
		ret = ibcc_demo_summary(&d, sys->out);
		if (!ret)
			ret = ibcc_demo_html(&d, sys->out);
		if (!ret)
			printf("  %s/report.html has the plots, %s/summary.json the figures.\n",
			       sys->out, sys->out);
	}
	if (ret)
		ibcc_command_say("%s: %s; logs are in %s/", c->name, strerror(-ret), sys->out);
	else if (!d.ok)
		ibcc_command_say("%s: %s", c->name,
				 stop ? "the demo had to kill a process that did not stop"
				      : "tuning brought less than the demo requires: together x "
					"1.2, victim x 2, slow receiver busy 90 %");
	ibcc_demo_free(sys);
	free(d.sample);
	free(d.decisions);
	json_decref(d.report);
	return d.ok ? 0 : 1;
}

const struct ibcc_command ibcc_lab_demo = {
	.name = "demo",
	.what = "run the whole simulated system, and write a report",
	.option = options,
	.n_options = sizeof(options) / sizeof(*options),
	.run = demo,
};
