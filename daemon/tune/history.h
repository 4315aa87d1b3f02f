/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Transactions in tables, and the history as plots; history.c has the command. */
#ifndef IBCC_TUNE_HISTORY_H
#define IBCC_TUNE_HISTORY_H

#include <stdio.h>

#include <ibcc/plot.h>

#include "daemon/tune/tune.h"

/* "2026-11-29 07:01", local time, of seconds since 1970; "?" where there is no such time. */
const char *tune_minute_text(json_int_t seconds, char *buf, size_t len);

/* "root" of a transaction's "root (uid 0, pid 21342)": the user or program alone. */
const char *tune_who_text(const json_t *transaction, char *buf, size_t len);

/* Writes plots to a stream: 0 or a negative errno. */
typedef int (*tune_plots_fn)(const struct ibcc_plot *plot, size_t n, FILE *out);

/* Passes the plots of a series and a list of transactions to a function that writes them. -ENODATA:
 * nothing was measured, and nothing is written.
 */
int tune_history_draw(const json_t *series, const json_t *transactions, tune_plots_fn plots_fn,
		      FILE *out);

/* Draws the series of an answer to "history", with its transactions, as an SVG file. Returns an
 * exit code.
 */
int tune_history_plot(const json_t *a, const char *file);

#endif
