/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The results of the demo, as summary.json and as one HTML file. */
#ifndef PERFTEST_LAB_DEMO_REPORT_H
#define PERFTEST_LAB_DEMO_REPORT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

/* One look at the simulated fabric. Throughputs are payload over the interval before. */
struct sample {
	double t_ms; /* engine time */
	double hot_MBps, victim_MBps;
	/* settings: the strongest of all nodes, 0 while congestion control is off */
	double threshold, marking_ports;
	double ccti_timer_us, ccti_increase, last_delay; /* of the table, in packet times */
	double fecn_per_ms;
};

struct phase {
	double congested_MBps, victim_MBps, aggregate_MBps, sink_utilisation;
};

struct demo {
	const char *title;
	struct sample *sample;
	uint32_t n, cap;
	double tuned_from_ms; /* engine time at which the daemon started */
	struct phase before, after;
	uint64_t set_mads;
	double seconds;
	bool ok;
	char *decisions; /* the daemon's own words, a line each */
	json_t *report;  /* ibcc-tune report, at the end */
};

/* Writes DIR/summary.json; -errno. */
int ibcc_demo_summary(const struct demo *d, const char *dir);

/* Writes DIR/report.html, self-contained; -errno. */
int ibcc_demo_html(const struct demo *d, const char *dir);

/* What a value has gained, 0 for less than what a decimal shows: never "-0.0 %". */
double ibcc_demo_gain_percent(double before, double after);

#endif
