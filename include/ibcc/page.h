/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A page of HTML that is one file: its own style, no script, nothing from elsewhere. It follows the
 * reader's choice of light or dark and fits a phone. These functions escape the text that they
 * write; errors are the stream's.
 */
#ifndef IBCC_PAGE_H
#define IBCC_PAGE_H

#include <stdio.h>

#include <ibcc/plot.h>

/* Head and title; `lead` is a line below it, NULL for none. */
void ibcc_page_begin(FILE *out, const char *title, const char *lead);
/* The last line, and the end of the page. */
void ibcc_page_end(FILE *out, const char *foot);

void ibcc_page_heading(FILE *out, const char *text);
void ibcc_page_paragraph(FILE *out, const char *text);
/* Text with its lines as they are, below a heading; nothing at all if there is none. */
void ibcc_page_listing(FILE *out, const char *heading, const char *text);

/* Figures in boxes: a number or a word with what it is about, and more in small print or NULL. All
 * between begin and end.
 */
void ibcc_page_figures_begin(FILE *out);
void ibcc_page_figure(FILE *out, const char *what, const char *value, const char *more);
void ibcc_page_figures_end(FILE *out);

/* A table: columns by name, one with a leading '>' is of numbers and one with '~' may be broken;
 * then cells row by row. It can be wider than the page, and is moved sideways then.
 */
struct ibcc_page_table {
	FILE *out;
	const char *const *column;
	size_t n, at;
};
void ibcc_page_table_begin(struct ibcc_page_table *t, FILE *out, const char *const *column,
			   size_t n);
void ibcc_page_cell(struct ibcc_page_table *t, const char *text);
/* A number with a bar for its share of a thousand behind it. */
void ibcc_page_bar(struct ibcc_page_table *t, const char *text, unsigned int permille);
void ibcc_page_table_end(struct ibcc_page_table *t);

/* Plots, which are made narrow, as many in a row as there is place for. */
void ibcc_page_plots(FILE *out, const struct ibcc_plot *p, size_t n);

#endif
