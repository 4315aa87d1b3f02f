/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a row of an experiment measures, as a formula in text, such as
 * "100 * (MBps(on, victim) / MBps(off, victim) - 1)".
 *
 * A formula has numbers, + - * / and parentheses, and functions of a variant V. The functions are
 * means over the seeds of V:
 *	MBps(V, WHO) Mbps(V, WHO)  payload throughput
 *	offered(V, WHO)            offered payload, Mb/s
 *	ideal(V, WHO)              the max-min ideal, Mb/s
 *	ideal_share(V)             share of the ideal that was delivered
 *	utilisation(V, to:NODE)    throughput over what link and sink could take
 *	fairness(V, WHO, MBPS)     root of the mean of (throughput / MBPS - 1)^2 over the flows
 *	settle(V, WHO, SHARE)      ms until throughput stays at SHARE of the offered for good
 *	latency(V, WHO)            mean, us
 *	ccti(V, WHO)               mean
 *	paused(V)                  share of the time that PAUSE stops a linked port, mean over all
 *	dropped(V)                 packets lost in the fabric
 *	percent(V)                 of packets that the first profile of DCQCN marks at most; 0: off
 *	sets(V)                    Set requests that the daemon's loop sent
 *	rounds(V) late_rounds(V)   passes in which it changed settings; in the measuring window
 *	crowded_rounds(V)          the most of them in 20 passes in a row, in the measuring window
 *	iwarp(V, SUBJECT, FIGURE)  of an experiment with `mpa`, see perftest/mpa/settings.h
 *	min(A, B) max(A, B)        of two expressions
 *	trend(SERIES, COLUMN)      Spearman's rank correlation of a column with the varied value
 *	spread(SERIES, COLUMN)     difference of its greatest and least value
 * WHO: all, hot, victim, background, others (victim and background), a flow's name, from:NODE; or,
 * of what nodes receive, nodes, to:NODE, not:NODE (several nodes joined by +).
 */
#ifndef PERFTEST_BENCH_FIGURE_H
#define PERFTEST_BENCH_FIGURE_H

#include "perftest/bench/experiment.h"

/* Checks a value's form and the variants, series and columns that it names, and marks those
 * variants and series as needed. -EINVAL with the reason in why[len].
 */
int ibcc_figure_check(struct ibcc_experiment *x, const char *value, char *why, size_t len);

/* Evaluates a value; -EINVAL (also: no such flow or node) with the reason in why[len]. */
int ibcc_figure_eval(struct ibcc_experiment *x, const struct ibcc_exp_result *r, const char *value,
		     double *out, char *why, size_t len);

/* Writes a template with {} replaced by a word; false if it does not fit. */
bool ibcc_figure_fill(char *out, size_t len, const char *template, const char *word);

#endif
