/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands on a support bundle: without a daemon and without a fabric. */
#ifndef IBCC_TUNE_OFFLINE_H
#define IBCC_TUNE_OFFLINE_H

#include "daemon/tune/tune.h"

/* Is the input a bundle? */
bool tune_is_offline(const struct tune *t);

/* Runs "plan" and "what-if" as tune_do() does, from --load-cache and --counters; giving one option
 * implies the same file for the other. Sends nothing. *anonymous: the bundle has made-up names.
 */
int tune_do_offline(const struct tune *t, const char *command, const json_t *args, json_t **out,
		    bool *anonymous, struct ibcc_why *why);

#endif
