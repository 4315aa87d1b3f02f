/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The control socket of a running simulator: one JSON object a line, each answered by one. */
#ifndef SIM_CONTROL_H
#define SIM_CONTROL_H

#include <jansson.h>
#include <systemd/sd-event.h>

struct ibcc_control;
struct ibcc_control_conn;

/* Answers a request; the answer's reference passes on. NULL: the answer comes later, by
 * ibcc_control_reply().
 */
typedef json_t *ibcc_control_request(void *arg, struct ibcc_control_conn *c, const json_t *rq);
/* The connection is going; nothing may be answered to it any more. */
typedef void ibcc_control_gone(void *arg, struct ibcc_control_conn *c);

struct ibcc_control *ibcc_control_new(sd_event *ev, const char *name, ibcc_control_request *request,
				      ibcc_control_gone *gone, void *arg, int *err);
void ibcc_control_free(struct ibcc_control *c);
/* Sends an answer and drops the reference to it. */
void ibcc_control_reply(struct ibcc_control_conn *c, json_t *reply);

/* {"ok": false, "error": text} */
json_t *ibcc_control_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The client's half: sends a request (its reference passes on) to the simulator `name` and waits
 * for the answer. NULL on failure, with a sentence in why.
 */
json_t *ibcc_control_ask(const char *name, json_t *rq, char *why, size_t len);

/* Name of the one simulator that runs. 0, -ENOENT (none) or -ENOTUNIQ, with a sentence in why. */
int ibcc_control_find(char *name, size_t name_len, char *why, size_t len);

#endif
