/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The expected effect of a plan, in words. */
#ifndef IBCC_TUNE_PREDICTION_H
#define IBCC_TUNE_PREDICTION_H

#include <jansson.h>

/* Prints a line or two; `p` as from ibcc_report_prediction(). */
void tune_print_prediction(const json_t *p);

#endif
