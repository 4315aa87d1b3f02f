/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* VL arbitration by tables of high and low priority, as vlarb.c implements it. */
#ifndef IBCC_ENGINE_VLARB_H
#define IBCC_ENGINE_VLARB_H

#include "internal.h"

/* Whether a model's tables are valid: each VL has an entry with weight and all entries are of VLs
 * in use, or there are no tables.
 */
bool ibcc_vlarb_valid(const struct ibcc_model *m);
int ibcc_vlarb_build(struct ibcc_engine *e);
/* Sends the port's next packet by the tables, if one may be sent. */
void ibcc_vlarb_send(struct ibcc_engine *e, uint32_t port);

#endif
