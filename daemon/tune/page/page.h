/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Parts of the page of fabric_page.h. */
#ifndef IBCC_TUNE_PAGE_H
#define IBCC_TUNE_PAGE_H

#include <stdio.h>

#include <jansson.h>

/* Settings from the report's list: one row for the settings that many nodes share. */
void tune_page_settings(FILE *out, const json_t *nodes);
/* What was changed, and what was measured meanwhile, from the report. */
void tune_page_history(FILE *out, const json_t *report);

/* Jobs of the last 24 hours, from the report: those that did most harm, and those that suffered most.
 * Nothing where no batch system is known.
 */
void tune_page_jobs(FILE *out, const json_t *report);

#endif
