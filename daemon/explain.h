/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The daemon's log: each decision with its reason, once, not at every pass. */
#ifndef IBCC_DAEMON_EXPLAIN_H
#define IBCC_DAEMON_EXPLAIN_H

#include "daemon/service.h"

struct ibcc_explain; /* what has been said last */

struct ibcc_explain *ibcc_explain_new(void);
void ibcc_explain_free(struct ibcc_explain *x);

/* Logs what is new after a pass: trouble and its end, roots that came and went, settings that were
 * changed or, in mode observe, would be.
 */
void ibcc_explain_pass(struct ibcc_explain *x, const struct ibcc_service *s, int err,
		       const struct ibcc_why *why);

/* Logs what became of a request from the control socket. */
void ibcc_explain_request(struct ibcc_explain *x, const char *what, const struct ibcc_request *r,
			  int err, const struct ibcc_why *why, const json_t *result);

#endif
