/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Cells of CSV files (RFC 4180). */
#ifndef IBCC_CSV_H
#define IBCC_CSV_H

#include <stdio.h>

/* Writes a cell, in quotes where it needs them. A text that a spreadsheet would run as a formula,
 * such as a node description that begins with "=", gets an apostrophe in front; numbers stay as
 * they are, also those with " %" behind them.
 */
void ibcc_csv_put(FILE *out, const char *text);

#endif
