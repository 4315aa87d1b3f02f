/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* Walks over fake fabrics. */
#ifndef TEST_WALKS_H
#define TEST_WALKS_H

#include "tests/unit/fake_fabric.h"

#include <ibcc/collect.h>
#include <ibcc/walk.h>

static inline struct ibcc_topo *walk(struct ibcc_transport *tr, char *why, size_t len)
{
	int err = -1;
	struct ibcc_topo *t = ibcc_discover_walk(tr, &err, why, len);

	assert_int_equal(t == NULL, err < 0);
	return t;
}

/* Carries out the Gets one by one, in any order that the caller likes. */
static inline struct ibcc_topo *walk_slowly(struct fake_fabric *f, struct ibcc_walk_options o)
{
	struct ibcc_walk *w = ibcc_walk_new(&o);
	struct ibcc_mad_op op = { .lid = IBCC_SMP_PERMISSIVE_LID };
	struct ibcc_walk_get g;
	struct ibcc_walk_gaps gaps;
	struct ibcc_topo *t;

	assert_non_null(w);
	while (ibcc_walk_next(w, &g) > 0) {
		ibcc_walk_request(&g, op.mad);
		assert_int_equal(ibcc_transport_run(&f->base, &op, 1), 0);
		assert_int_equal(ibcc_walk_answer(w, &g, op.err ? NULL : op.mad), 0);
	}
	t = ibcc_walk_topo(w);
	assert_non_null(t);
	ibcc_walk_gaps(w, &gaps);
	assert_int_equal(gaps.n + gaps.n_odd, 0);
	ibcc_walk_free(w);
	return t;
}

#endif
