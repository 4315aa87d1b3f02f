/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's log: a line for each root and each decision with its reason, once. It does not
 * repeat in every polling cycle what comes and goes, or what has only other numbers. Single
 * settings are logged at LOG_DEBUG.
 */
#ifndef IBCC_DAEMON_EXPLAIN_H
#define IBCC_DAEMON_EXPLAIN_H

#include "daemon/service/service.h"

struct ibcc_explain; /* what has been logged last */

struct ibcc_explain *ibcc_explain_new(void);
void ibcc_explain_free(struct ibcc_explain *x);

/* Logs what is new after a polling cycle: trouble and its end, roots that appeared and disappeared,
 * settings that were changed or, in mode observe, would be.
 */
void ibcc_explain_pass(struct ibcc_explain *x, struct ibcc_service *s, int err,
		       const struct ibcc_why *why);

/* Does the same from the parts: a cycle (NULL: it failed), and what is wrong: the cause, its error
 * (0 if it has none) and its words.
 */
void ibcc_explain_cycle(struct ibcc_explain *x, const struct ibcc_cycle *c, enum ibcc_trouble code,
			int err, const char *text);

/* Logs the outcome of a request from the control socket. */
void ibcc_explain_request(struct ibcc_explain *x, const char *what, const struct ibcc_request *r,
			  int err, const struct ibcc_why *why, const json_t *result);

#endif
