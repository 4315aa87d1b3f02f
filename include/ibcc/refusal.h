/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fabrics that are not written to, by whoever asks: NVIDIA's own congestion control is at work,
 * or packets do not go by the forwarding tables.
 */
#ifndef IBCC_REFUSAL_H
#define IBCC_REFUSAL_H

#include <ibcc/cycle.h>

/* A sentence about routes that are not the forwarding tables', and the roots that therefore are
 * only observed; empty if all are.
 */
void ibcc_refusal_routes(const struct ibcc_cycle *c, struct ibcc_why *text);

/* Is a fabric not ours to write to? */
enum ibcc_refused ibcc_refusal_find(const struct ibcc_cycle *c);
/* Such a reason in a sentence; empty where it is ours. */
void ibcc_refusal_text(const struct ibcc_cycle *c, enum ibcc_refused why, struct ibcc_why *text);

/* What the operator of a fabric that is not ours can do about the congestion seen, and at which
 * port; its code is NONE where the fabric is ours. ibcc_vendor_advice_text() has words for it.
 */
struct ibcc_vendor_advice ibcc_refusal_advice(const struct ibcc_cycle *c);

/* 0, or -EPERM with that sentence. */
int ibcc_refusal_check(const struct ibcc_cycle *c, struct ibcc_why *why);

#endif
