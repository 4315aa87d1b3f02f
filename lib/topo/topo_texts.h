/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Hashes of the nodes' descriptions and ids. */
#ifndef IBCC_TOPO_TEXTS_H
#define IBCC_TOPO_TEXTS_H

#include <ibcc/topo.h>

/* Frees the slots. */
void ibcc_topo_texts_fini(struct ibcc_topo_texts *x);
/* A copy of the slots; -ENOMEM. */
int ibcc_topo_texts_copy(const struct ibcc_topo_texts *x, struct ibcc_topo_texts *out);

/* Makes room for one more description; -ENOMEM. */
int ibcc_topo_texts_reserve(struct ibcc_topo *t);
/* Enters the description of a node. There is room, and the node is the last one. */
void ibcc_topo_texts_add(struct ibcc_topo *t, uint32_t node);

/* The first node with a description, or with an id, and how many nodes have it. IBCC_NONE and 0:
 * none has.
 */
uint32_t ibcc_topo_by_desc(const struct ibcc_topo *t, const char *desc, uint32_t *n);
uint32_t ibcc_topo_by_id(const struct ibcc_topo *t, const char *id, uint32_t *n);

#endif
