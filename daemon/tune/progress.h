/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Follows an apply to its end. */
#ifndef IBCC_TUNE_PROGRESS_H
#define IBCC_TUNE_PROGRESS_H

#include "daemon/tune/tune.h"

/* follow.c: after an apply that has written, waits until the daemon has refined it, and shows that.
 * With -j it adds "apply" and "effect" to the answer instead. Returns an exit code: TUNE_ERROR if
 * the refinement ends before the roots hold.
 */
int tune_follow(struct tune *t, json_t *answer, json_int_t set_mads);

/* The transaction with this number and its effect, a new reference; NULL if it is not available. */
json_t *tune_ask_transaction(struct tune *t, json_int_t id);

/* countdown.c: does the answer to an apply begin a trial that a person at this terminal can end? */
bool tune_counts_down(const struct tune *t, const json_t *answer);
/* Counts down until the change is kept or reverted. TUNE_OK: it is kept; TUNE_ERROR after a
 * message: it was reverted, or the daemon does not answer.
 */
int tune_count_down(struct tune *t, const json_t *answer);

/* Does a status' "apply" have a further step to come? */
bool tune_is_refined(const json_t *apply);
/* A status' "apply" in words, "" if there is none. */
const char *tune_apply_text(const json_t *status, char *buf, size_t len);
/* Will the daemon make the writes of its last decision? Otherwise they are recommendations. */
bool tune_will_write(const json_t *status);
const char *tune_writes_text(const json_t *status, char *buf, size_t len);
/* Prints a line for people if there is something new. */
void tune_show_progress(const struct tune *t, const json_t *apply);

#endif
