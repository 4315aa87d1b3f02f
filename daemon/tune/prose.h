/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences for people: broken between words where the terminal ends, with rates in the unit that
 * was asked for.
 */
#ifndef IBCC_TUNE_PROSE_H
#define IBCC_TUNE_PROSE_H

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal on stdout, or behind the pager; 0 where there is none. */
int tune_columns(void);

/* Prints a label and the text behind it, in lines of so many columns (0: in one), further ones
 * below the text; of more than `most` lines the first ones (0: all). Colours in the label take no
 * room.
 */
void tune_prose(FILE *out, int columns, unsigned int most, const char *label, const char *text);
/* All of it on stdout, as wide as the terminal is; the text as by printf(). */
void tune_say(const char *label, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Copies a text. What the daemon has said in Mb/s, as "15141 of 32000 Mb/s", is in --units there.
 */
const char *tune_rates_in(const char *text, char *buf, size_t len);

/* Breaks a text into lines of so many columns at most, by '\n' in place of spaces; words that are
 * longer stay whole. Returns the width of the widest line.
 */
size_t tune_fill(char *text, size_t columns);

#endif
