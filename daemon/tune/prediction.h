/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The expected effect of a plan or a marking profile, in words. */
#ifndef IBCC_TUNE_PREDICTION_H
#define IBCC_TUNE_PREDICTION_H

#include <jansson.h>

/* Prints a line or two; `p` as from ibcc_report_prediction(). It is of a "plan", which is
 * recommended or not by the configuration's prefer, or of a "profile", on which there is advice.
 */
void tune_print_prediction(const json_t *p, const char *what);

#endif
