/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
#ifndef IBCC_FABRIC_VLARB_H
#define IBCC_FABRIC_VLARB_H

#include "internal.h"

/* Each VL has an entry with weight, and all are VLs in use; or there are no tables. */
bool ibcc_vlarb_valid(const struct ibcc_model *m);
int ibcc_vlarb_build(struct ibcc_engine *e);
/* Sends the next packet, if there is any that may, by the tables. */
void ibcc_vlarb_send(struct ibcc_engine *e, uint32_t port);

#endif
