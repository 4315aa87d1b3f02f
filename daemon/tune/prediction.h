/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What a plan will bring, in words. */
#ifndef IBCC_TUNE_PREDICTION_H
#define IBCC_TUNE_PREDICTION_H

#include <jansson.h>

/* A line or two; `p` as ibcc_report_prediction() has it. */
void tune_print_prediction(const json_t *p);

#endif
