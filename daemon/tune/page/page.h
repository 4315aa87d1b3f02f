/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parts of the page of fabric_page.h. */
#ifndef IBCC_TUNE_PAGE_H
#define IBCC_TUNE_PAGE_H

#include <stdio.h>

#include <jansson.h>

/* Settings that are equal at many nodes as one row, of the report's list. */
void tune_page_settings(FILE *out, const json_t *nodes);
/* What was changed, and what was measured meanwhile, of the report. */
void tune_page_history(FILE *out, const json_t *report);

#endif
