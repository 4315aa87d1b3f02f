/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans on the command line: printed, and kept in files. */
#ifndef IBCC_TUNE_PLAN_H
#define IBCC_TUNE_PLAN_H

#include <jansson.h>

#include "daemon/tune/tune.h"

/* Prints a plan, or what became of it. */
void tune_print_plan(const struct tune *t, const json_t *a, const char *heading);

/* Prints what a plan writes and why, without what it was made from. */
void tune_print_writes(const struct tune *t, const json_t *a, const char *heading);

/* Why an apply of this plan would be refused; false if it would not. */
bool tune_would_refuse(const struct tune *t, const json_t *a, struct ibcc_why *why);

/* Keeps a plan with its "data" in a file, all of it or nothing; an exit code. */
int tune_plan_save(const json_t *a, const char *file);
/* Reads such a file, which is not trusted: *a has "data", "control" and "made", and "changes" that
 * are what "data" writes, and is the caller's. An exit code, with what is wrong told.
 */
int tune_plan_load(const char *file, json_t **a);

#endif
