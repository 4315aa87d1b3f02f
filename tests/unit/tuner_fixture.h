/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A tuner on a tree of two levels of 4-port switches: adapters 0..7, links of 32000 Mb/s; roots and
 * estimates are made up by each test.
 */
#ifndef TEST_TUNER_FIXTURE_H
#define TEST_TUNER_FIXTURE_H

#include <stdlib.h>

#include "tests/unit/fabrics.h"

#include "lib/core/tuner_state.h"

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_tuner *tn;
	struct ibcc_tuner_params p;
	struct ibcc_tuner_root *r;
	struct ibcc_root root[8];
	struct ibcc_source source[8];
	struct ibcc_estimate e;
	char text[IBCC_REASON_BYTES];
};

static inline struct fixture *fixture_new(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	ibcc_tuner_defaults(&f->p);
	f->t = fabric_tree2(4);
	f->tn = ibcc_tuner_new(&f->p);
	assert_int_equal(ibcc_tuner_prepare(f->tn, f->t), 0);
	*state = f;
	return f;
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_tuner_free(f->tn);
	ibcc_topo_free(f->t);
	free(f);
	return 0;
}

#endif
