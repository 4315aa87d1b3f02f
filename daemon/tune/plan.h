/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Plans on the command line: printed, and stored in files. */
#ifndef IBCC_TUNE_PLAN_H
#define IBCC_TUNE_PLAN_H

#include <jansson.h>

#include "daemon/tune/tune.h"

/* Prints a plan, or its outcome. */
void tune_print_plan(const struct tune *t, const json_t *a, const char *heading);

/* Prints what a plan writes and why, without the data that it was made from. */
void tune_print_writes(const struct tune *t, const json_t *a, const char *heading);

/* Would an apply of this plan be refused? If so, *why says the reason. */
bool tune_would_refuse(const struct tune *t, const json_t *a, struct ibcc_why *why);

/* Stores a plan with its "data" in a file, all of it or nothing; returns an exit code. */
int tune_plan_save(const json_t *a, const char *file);
/* Reads such a file, which is not trusted. *a, which the caller then owns, has "data", "control"
 * and "made". Its "changes" are checked: they are what "data" writes. Returns an exit code, after a
 * message on error.
 */
int tune_plan_load(const char *file, json_t **a);

#endif
