/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* How an apply comes to its end. */
#ifndef IBCC_TUNE_PROGRESS_H
#define IBCC_TUNE_PROGRESS_H

#include "daemon/tune/tune.h"

/* follow.c: waits, after an apply that has written, until the daemon has refined it, and shows
 * that; with -j "apply" and "effect" are put into the answer instead. Returns an exit code:
 * TUNE_ERROR if it has ended before its roots hold.
 */
int tune_follow(struct tune *t, json_t *answer, json_int_t set_mads);

/* The transaction of this number with its effect, a new reference; NULL if it cannot be had. */
json_t *tune_ask_transaction(struct tune *t, json_int_t id);

/* countdown.c: whether an answer to an apply begins a trial that a person at this terminal can end.
 */
bool tune_counts_down(const struct tune *t, const json_t *answer);
/* Counts down until the change is kept or reverted. TUNE_OK: it is kept; TUNE_ERROR after a
 * message: it was reverted, or the daemon does not answer.
 */
int tune_count_down(struct tune *t, const json_t *answer);

/* Of a status' "apply": is a further step to come? */
bool tune_is_refined(const json_t *apply);
/* A status' "apply" in words, "" if it has none. */
const char *tune_apply_text(const json_t *status, char *buf, size_t len);
/* Will the daemon make the writes of its last decision? Else they are recommended. */
bool tune_will_write(const json_t *status);
const char *tune_writes_text(const json_t *status, char *buf, size_t len);
/* A line for people, if there is something new. */
void tune_show_progress(const struct tune *t, const json_t *apply);

#endif
