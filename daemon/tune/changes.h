/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The changes of a plan, as tables. changes.c prints them one by one, groups.c many equal ones as
 * one.
 */
#ifndef IBCC_TUNE_CHANGES_H
#define IBCC_TUNE_CHANGES_H

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

#include "daemon/tune/look.h"

/* Prints the "changes" of an answer as a table. Service levels with equal values share a row, and
 * the reasons follow below.
 */
void tune_print_changes(const json_t *changes, const char *heading);

/* The mark for a change: '+' sets a value where there was none (0, or no ports), '-' resets a value
 * to that, '~' replaces one value by another.
 */
char tune_change_mark(const char *old_value, const char *new_value);
/* Legend for the marks, after the heading of a table that has them. */
#define TUNE_MARKS_LEGEND "+ set, ~ changed, - reset"

/* The functions that get the groups. Each group is its mark, count, setting, service levels, old,
 * new, where and outcome. After the last group come the reasons.
 */
#define TUNE_GROUP_CELLS 8
struct tune_group_fn {
	void *arg;
	void (*row)(void *arg, const char *const *cell);
	void (*end)(void *arg);
	void (*reason)(void *arg, bool first, const char *field, const char *reason);
};
void tune_group_changes(const json_t *changes, const struct tune_group_fn *fn);

/* Prints the "changes" of an answer in a few lines: equal changes of many nodes as one line that
 * names the first nodes. If that is not short enough, it gives the range of values.
 */
void tune_print_groups(const json_t *changes, const char *heading);

/* The last object of the run of service levels that begins at index i. Marks all but the first
 * object as covered. Fields of one service level come together, so it looks for the next object of
 * this field, not just for the next object.
 */
const json_t *tune_end_of_run(const json_t *changes, size_t i, bool *covered);
/* "0-15" for such a run, "" for objects without service level. */
void tune_sl_text(const json_t *first, const json_t *last, char *buf, size_t len);

/* Green for verified changes, red for changes that were not made. */
enum tune_style tune_style_of_outcome(const char *outcome);

/* Puts "name 0xguid" into a buffer. */
const char *tune_node_text(const json_t *o, char *buf, size_t len);

#endif
