/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_TUNE_CHANGES_H
#define IBCC_TUNE_CHANGES_H

#include <jansson.h>

/* Prints the "changes" of an answer as a table, service levels with equal values in one row, and
 * the reasons below.
 */
void tune_print_changes(const json_t *changes, const char *heading);

/* "name 0xguid" into a buffer. */
const char *tune_node_text(const json_t *o, char *buf, size_t len);

#endif
