/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Makes rows of a table from the settings of a node. */
#ifndef IBCC_TUNE_SHOW_H
#define IBCC_TUNE_SHOW_H

#include <jansson.h>

/* Port, Threshold, Marking_Rate, Packet_Size, Victim_Mask. */
#define TUNE_SWITCH_CELLS 5
/* Port, service levels, CCTI_Timer, CCTI_Increase, Trigger, CCTI_Min, CCTI_Limit, delay of the last
 * entry, mode of control.
 */
#define TUNE_CA_CELLS 9

typedef void (*tune_setting_fn)(void *arg, const json_t *node, const char *const *cell);

/* Passes the settings of a node to `row` row by row; a node without settings has no row. */
void tune_setting_rows(const json_t *node, tune_setting_fn row, void *arg);

#endif
