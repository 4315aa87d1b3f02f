/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What is asked of the daemon on its control socket, and the form of its answers.
 *
 * A request is {"command": NAME, "args": {...}}, its answer {"ok": true, "result": {...}} or {"ok":
 * false, "error": SENTENCE, "errno": NUMBER, "result": ...}. Who may connect is for the mode of the
 * socket to say; who may change things is said here.
 */
#ifndef IBCC_DAEMON_REQUEST_H
#define IBCC_DAEMON_REQUEST_H

#include <stdbool.h>

#include <ibcc/jsonl.h>

#include "daemon/worker.h"

/* The status is the only thing that needs no job. */
bool ibcc_request_is_status(const struct ibcc_jsonl_request *r);

/* What a client wants as a job for the worker, which the caller owns. NULL: it is to be told
 * *refusal, a new reference, at once.
 */
struct ibcc_job *ibcc_request_job(const struct ibcc_jsonl_request *r, json_t **refusal);

/* An answer. Takes `result` over, which may be NULL; err is 0 or a negative errno with its
 * sentence. NULL without memory.
 */
json_t *ibcc_request_answer(int err, const char *error, json_t *result);

#endif
