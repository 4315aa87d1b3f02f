/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Commands on a support bundle: without a daemon and without a fabric. */
#ifndef IBCC_TUNE_OFFLINE_H
#define IBCC_TUNE_OFFLINE_H

#include "daemon/tune/tune.h"

/* Is a bundle to be read? */
bool tune_is_offline(const struct tune *t);

/* "plan" and "what-if" as tune_do(), from --load-cache and --counters; who is given alone stands
 * for both. Nothing is sent. *anonymous: under made-up names.
 */
int tune_do_offline(const struct tune *t, const char *command, const json_t *args, json_t **out,
		    bool *anonymous, struct ibcc_why *why);

#endif
