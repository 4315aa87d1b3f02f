/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Requests to the daemon on its control socket, and the form of its answers.
 *
 * A request is {"command": NAME, "args": {...}}, its answer {"ok": true, "result": {...}} or {"ok":
 * false, "error": SENTENCE, "errno": NUMBER, "result": ...}. The mode of the socket decides which
 * users may connect; this module decides which users may change things.
 */
#ifndef IBCC_DAEMON_REQUEST_H
#define IBCC_DAEMON_REQUEST_H

#include <stdbool.h>

#include <ibcc/jsonl.h>

#include "daemon/worker.h"

/* Only the status needs no task. */
bool ibcc_request_is_status(const struct ibcc_jsonl_request *r);

/* Makes the task for the worker that a client's request needs, which the caller owns. NULL: answer
 * *refusal, a new reference, at once.
 */
struct ibcc_task *ibcc_request_task(const struct ibcc_jsonl_request *r, json_t **refusal);

/* Makes an answer and takes over `result`, which may be NULL. `err` is 0 or a negative errno with
 * its sentence. NULL without memory.
 */
json_t *ibcc_request_answer(int err, const char *error, json_t *result);

#endif
