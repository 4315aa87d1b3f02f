/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Fabrics that we never write to: NVIDIA's own congestion control is at work, or packets do not
 * follow the forwarding tables.
 */
#ifndef IBCC_REFUSAL_H
#define IBCC_REFUSAL_H

#include <ibcc/cycle.h>

/* A sentence about routes that are not the forwarding tables', and the roots that therefore are
 * only observed; empty if all are.
 */
void ibcc_refusal_routes(const struct ibcc_cycle *c, struct ibcc_why *text);

/* Why a fabric must not be written to. */
enum ibcc_refused ibcc_refusal_find(const struct ibcc_cycle *c);
/* That reason as a sentence; empty if the fabric may be written to. */
void ibcc_refusal_text(const struct ibcc_cycle *c, enum ibcc_refused why, struct ibcc_why *text);

/* What the operator of a fabric that must not be written to can do about the congestion seen, and
 * at which port. Its code is NONE if the fabric may be written to. ibcc_vendor_advice_text() has
 * words for it.
 */
struct ibcc_vendor_advice ibcc_refusal_advice(const struct ibcc_cycle *c);

/* 0, or -EPERM with that sentence. */
int ibcc_refusal_check(const struct ibcc_cycle *c, struct ibcc_why *why);

#endif
