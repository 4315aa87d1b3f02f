/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Sentences for people: broken between words at the terminal's edge, with rates in the unit of
 * --units.
 */
#ifndef IBCC_TUNE_PROSE_H
#define IBCC_TUNE_PROSE_H

#include <stddef.h>
#include <stdio.h>

/* Columns of the terminal on stdout, or behind the pager; 0 without one. */
int tune_columns(void);

/* Prints a label and the text behind it, in lines of `columns` (0: in one line). Further lines
 * start below the text. Prints at most `most` lines (0: all). Colours in the label take no room.
 */
void tune_prose(FILE *out, int columns, unsigned int most, const char *label, const char *text);
/* Prints to stdout, as wide as the terminal; `fmt` as for printf(). */
void tune_say(const char *label, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Copies a text and converts the daemon's rates in Mb/s, such as "15141 of 32000 Mb/s", to the unit
 * of --units.
 */
const char *tune_rates_in(const char *text, char *buf, size_t len);

/* Columns that a text takes on a terminal, by the locale; 1 for a byte that is no character. */
size_t tune_width(const char *text);
/* That of its first character, which takes *bytes of the text. */
size_t tune_char_width(const char *text, size_t *bytes);

/* Breaks a text into lines of at most `columns`, by '\n' in place of spaces. Longer words stay
 * whole. Returns the width of the widest line.
 */
size_t tune_fill(char *text, size_t columns);

#endif
