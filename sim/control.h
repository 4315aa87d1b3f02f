/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Asking a running simulator. */
#ifndef SIM_CONTROL_H
#define SIM_CONTROL_H

#include <stddef.h>

#include <jansson.h>

/* Where the simulator `name` listens, as ibcc_jsonl_listen() has it. */
void ibcc_control_address(const char *name, char *address, size_t len);

/* Sends a request (its reference passes on) to the simulator `name` and waits for the answer. NULL
 * on failure, with a sentence in why.
 */
json_t *ibcc_control_ask(const char *name, json_t *rq, char *why, size_t len);

/* Name of the one simulator that runs. 0, -ENOENT (none) or -ENOTUNIQ, with a sentence in why. */
int ibcc_control_find(char *name, size_t name_len, char *why, size_t len);

#endif
