/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* What sentences about roots, reasons and decisions share. Internal to words*.c. */
#ifndef IBCC_LAW_WORDS_IMPL_H
#define IBCC_LAW_WORDS_IMPL_H

#include <ibcc/estimate.h>
#include <ibcc/parameters.h>
#include <ibcc/text.h>
#include <ibcc/topo.h>

struct name {
	char text[IBCC_DESC_BYTES + 16];
};

static inline struct name name_of(const struct ibcc_topo *t, uint32_t port)
{
	struct name n = { .text = "" };

	ibcc_topo_port_name(t, port, n.text, sizeof(n.text));
	return n;
}

/* A sentence of any length: what `say` says with `arg`, in a text that the caller frees; NULL
 * without memory. It is called twice: for the length, and for the text.
 */
char *ibcc_words_all(void (*say)(struct ibcc_text *x, const void *arg), const void *arg);

/* words.c: where a root is, and the counters that say so. */
void ibcc_words_evidence(struct ibcc_text *x, const struct ibcc_topo *t,
			 const struct ibcc_root_parameters *r);

/* words_root.c. Where a root is: the adapter that a switch port leads to, with the port, as
 * "destination1 (leaf2 port 2)", or a link, as "leaf1 port 8 to leaf2 port 1".
 */
void ibcc_words_place(struct ibcc_text *x, const struct ibcc_topo *t, uint32_t port);
/* The first adapters of a role, between two pieces of text; nothing where the root has none. */
void ibcc_words_sources(struct ibcc_text *x, const struct ibcc_topo *t, const struct ibcc_root *r,
			enum ibcc_role role, const char *before, const char *after);

#endif
