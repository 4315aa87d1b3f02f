/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A report of ibcc_service_report() as a page; what is missing in it is left out. */
#ifndef IBCC_TUNE_PAGE_H
#define IBCC_TUNE_PAGE_H

#include <stdio.h>

#include <jansson.h>

/* The whole page. */
void tune_page_write(FILE *out, const json_t *report);

/* What is between its head and its end, for pages that have more to say. */
void tune_page_sections(FILE *out, const json_t *report);

/* Parts: settings that are equal at many nodes as one row, and what happened over time. */
void tune_page_settings(FILE *out, const json_t *nodes);
void tune_page_history(FILE *out, const json_t *report);

#endif
