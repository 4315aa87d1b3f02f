/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A topology with a reference count: sessions may still send it when the next one is there. The
 * count is not atomic, because only the service thread holds references.
 */
#ifndef IBCC_PLUGIN_SHARED_TOPO_H
#define IBCC_PLUGIN_SHARED_TOPO_H

#include <stdlib.h>

#include <ibcc/topo.h>

struct ibcc_shared_topo {
	unsigned int refs;
	struct ibcc_topo *topo;
};

/* Takes `topo` over, also on failure; one reference. NULL without memory. */
static inline struct ibcc_shared_topo *ibcc_shared_topo_new(struct ibcc_topo *topo)
{
	struct ibcc_shared_topo *s = malloc(sizeof(*s));

	if (!s) {
		ibcc_topo_free(topo);
		return NULL;
	}
	s->refs = 1;
	s->topo = topo;
	return s;
}

static inline struct ibcc_shared_topo *ibcc_shared_topo_get(struct ibcc_shared_topo *s)
{
	if (s)
		s->refs++;
	return s;
}

static inline void ibcc_shared_topo_put(struct ibcc_shared_topo *s)
{
	if (!s || --s->refs)
		return;
	ibcc_topo_free(s->topo);
	free(s);
}

#endif
