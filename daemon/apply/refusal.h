/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fabrics that are not written to, by whoever asks: NVIDIA's own congestion control is at work,
 * or packets do not go by the forwarding tables.
 */
#ifndef IBCC_DAEMON_REFUSAL_H
#define IBCC_DAEMON_REFUSAL_H

#include <ibcc/cycle.h>

/* A sentence about routes that are not the forwarding tables', and the roots that therefore are
 * only observed; empty if all are.
 */
void ibcc_refusal_routes(const struct ibcc_cycle *c, struct ibcc_why *text);

/* Why a fabric is not ours to write to, whoever asks; empty if it is. */
void ibcc_refusal_find(const struct ibcc_cycle *c, struct ibcc_why *text);

/* 0, or -EPERM with that sentence. */
int ibcc_refusal_check(const struct ibcc_cycle *c, struct ibcc_why *why);

#endif
