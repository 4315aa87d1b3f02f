/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* make demo: the whole simulated system from a cold start to a report, then everything stopped. */
#include <errno.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <ibcc/grow.h>
#include <ibcc/now.h>

#include "perftest/demo/report.h"
#include "perftest/demo/system.h"

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
	       "\033[K  to the slow sink %s %6.0f MB/s\n"
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
static int run_phase(struct system *sys, struct demo *d, const char *name, double seconds,
		     double settle_share, struct phase *p)
{
	double begin = ibcc_now_s(), settled = seconds * (1 - settle_share);
	struct totals from = { 0 }, to = { 0 };
	bool tty = isatty(STDOUT_FILENO), marked = false;
	int ret;

	while (ibcc_now_s() - begin < seconds && !interrupted) {
		struct sample s;

		ret = system_sample(sys, &s, &to);
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
	totals_rate(sys, &from, &to, p);
	return 0;
}

static void print_result(const struct demo *d)
{
	const struct phase *b = &d->before, *a = &d->after;

	printf("\n  %-18s %14s %14s\n", "", "off", "tuned");
	printf("  %-18s %9.0f MB/s %9.0f MB/s\n", "to the slow sink", b->congested_MBps,
	       a->congested_MBps);
	printf("  %-18s %9.0f MB/s %9.0f MB/s  (x %.2f)\n", "victim", b->victim_MBps,
	       a->victim_MBps, b->victim_MBps > 0 ? a->victim_MBps / b->victim_MBps : 0);
	printf("  %-18s %9.0f MB/s %9.0f MB/s  (%+.1f %%)\n", "together", b->aggregate_MBps,
	       a->aggregate_MBps, gain_percent(b->aggregate_MBps, a->aggregate_MBps));
	printf("  %-18s %9.1f %%    %9.1f %%\n\n", "slow sink busy", 100 * b->sink_utilisation,
	       100 * a->sink_utilisation);
}

/* Tuning helped: the whole gained a fifth, the victim doubled, the slow sink stayed busy. */
static bool helped(const struct demo *d)
{
	return d->after.aggregate_MBps >= 1.2 * d->before.aggregate_MBps &&
	       d->after.victim_MBps >= 2 * d->before.victim_MBps &&
	       d->after.sink_utilisation >= 0.9;
}

static int run(struct system *sys, struct demo *d, const struct times *t)
{
	int ret;

	ret = system_start(sys);
	if (!ret)
		ret = run_phase(sys, d, "off", t->off_s, t->settle_share, &d->before);
	if (!ret)
		ret = system_tune(sys, &d->tuned_from_ms);
	if (!ret)
		ret = run_phase(sys, d, "tuned", t->tuned_s, t->settle_share, &d->after);
	if (!ret)
		ret = system_words(sys, d);
	return ret;
}

static void usage(FILE *f)
{
	fputs("usage: ibcc-demo [--build DIR] [--out DIR] [--scenario FILE] [--speed RATIO]\n"
	      "                 [--off SECONDS] [--tuned SECONDS]\n",
	      f);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "build", required_argument, NULL, 'b' },
		{ "out", required_argument, NULL, 'o' },
		{ "scenario", required_argument, NULL, 's' },
		{ "speed", required_argument, NULL, 'x' },
		{ "off", required_argument, NULL, 'f' },
		{ "tuned", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 },
	};
	struct times t = { .off_s = 8, .tuned_s = 30, .settle_share = 0.33 };
	struct demo d = { .title = "ibcc-tune demo: a slow sink and its victim" };
	struct system sys = { .build = "build",
			      .out = "build/demo",
			      .scenario = "perftest/scenarios/lustre.yaml",
			      .speed = 0.02 };
	double begin = ibcc_now_s();
	int c, ret, stop;

	while ((c = getopt_long(argc, argv, "h", options, NULL)) != -1) {
		switch (c) {
		case 'b': sys.build = optarg; break;
		case 'o': sys.out = optarg; break;
		case 's': sys.scenario = optarg; break;
		case 'x': sys.speed = strtod(optarg, NULL); break;
		case 'f': t.off_s = strtod(optarg, NULL); break;
		case 't': t.tuned_s = strtod(optarg, NULL); break;
		case 'h': usage(stdout); return 0;
		default: usage(stderr); return 1;
		}
	}
	if (optind < argc || !(sys.speed > 0) || !(t.off_s > 0) || !(t.tuned_s > 0)) {
		usage(stderr);
		return 1;
	}
	sigaction(SIGINT, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	sigaction(SIGTERM, &(struct sigaction){ .sa_handler = on_signal }, NULL);
	if (mkdir(sys.out, 0777) < 0 && errno != EEXIST) {
		fprintf(stderr, "ibcc-demo: cannot make %s: %s\n", sys.out, strerror(errno));
		return 1;
	}
	ret = run(&sys, &d, &t);
	stop = system_stop(&sys);
	d.seconds = ibcc_now_s() - begin;
	d.ok = !ret && !stop && helped(&d);
	if (!ret) {
		print_result(&d);
		ret = report_summary(&d, sys.out);
		if (!ret)
			ret = report_html(&d, sys.out);
		if (!ret)
			printf("  %s/report.html has the plots, %s/summary.json the figures.\n",
			       sys.out, sys.out);
	}
	if (ret)
		fprintf(stderr, "ibcc-demo: %s; logs are in %s/\n", strerror(-ret), sys.out);
	else if (!d.ok)
		fprintf(stderr, "ibcc-demo: %s\n",
			stop ? "a process did not stop by itself" : "tuning did not help enough");
	system_free(&sys);
	free(d.sample);
	free(d.decisions);
	json_decref(d.report);
	return d.ok ? 0 : 1;
}
