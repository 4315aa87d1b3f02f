/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_TUNE_HISTORY_H
#define IBCC_TUNE_HISTORY_H

#include "daemon/tune/tune.h"

/* Draws the series of an answer to "history", with its transactions, as SVG into a file; an exit
 * code.
 */
int tune_history_plot(const json_t *a, const char *file);

#endif
