/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The settings of a node as rows of a table. */
#ifndef IBCC_TUNE_SHOW_H
#define IBCC_TUNE_SHOW_H

#include <stdbool.h>

#include <jansson.h>

/* Port, Threshold, Marking_Rate, Packet_Size, Victim_Mask. */
#define TUNE_SWITCH_CELLS 5
/* Port, service levels, CCTI_Timer, CCTI_Increase, Trigger, CCTI_Min, CCTI_Limit, delay of the last
 * entry, what control is by.
 */
#define TUNE_CA_CELLS 9

typedef void (*tune_setting_fn)(void *arg, const json_t *node, const char *const *cell);

/* Tells the settings of a node row by row, none of one that has none; true if it is a switch. */
bool tune_setting_rows(const json_t *node, tune_setting_fn row, void *arg);

#endif
