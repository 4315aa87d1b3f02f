/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Blocked senders: what they send now, and what they sent before congestion control was on. */
#ifndef IBCC_TUNE_SENDERS_H
#define IBCC_TUNE_SENDERS_H

#include <stddef.h>

#include <jansson.h>

/* The most blocked senders of a status with what they send, as "source1 623.6 MB/s, ..."; "" if no
 * adapter is blocked.
 */
const char *tune_blocked_text(const json_t *status, char *buf, size_t len);

/* What the "gain" of a status says, as "since transaction 1: source4 623.6 -> 2079.0 MB/s (x 3.33),
 * ...", the largest gain first; "" if it is null.
 */
const char *tune_gain_text(const json_t *status, char *buf, size_t len);

/* The sender that gained most of the "senders" of an effect, as "source4 x 3.33"; "" if there is no
 * list, or nothing was measured afterwards.
 */
const char *tune_best_gain(const json_t *senders, char *buf, size_t len);
/* The same without the name, as "x 3.33". */
const char *tune_best_factor(const json_t *senders, char *buf, size_t len);

/* Prints such senders as a table, the largest gain first. */
void tune_print_senders(const json_t *senders);

#endif
