/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* The estimator on synthetic counters. */
#ifndef TEST_ESTIMATORS_H
#define TEST_ESTIMATORS_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#include <ibcc/estimate.h>

static inline struct ibcc_estimate estimate(struct traffic *tr, const struct ibcc_settings *actual)
{
	struct ibcc_estimator_params p;
	struct ibcc_estimate e;

	ibcc_estimator_defaults(&p);
	assert_int_equal(ibcc_estimator_run(&p, tr->t, &tr->s, actual, &e), 0);
	return e;
}

static inline enum ibcc_role role(const struct ibcc_estimate *e, uint32_t root, uint32_t port)
{
	for (uint32_t i = 0; i < e->root[root].n_sources; i++)
		if (e->root[root].source[i].port == port)
			return e->root[root].source[i].role;
	return IBCC_ROLE_NONE;
}

struct fixture {
	struct ibcc_topo *t;
	struct ibcc_settings actual;
	struct traffic tr;
};

static inline int setup_for(void **state, struct ibcc_topo *t)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->t = t;
	assert_int_equal(ibcc_settings_init(&f->actual, t), 0);
	for (uint32_t i = 0; i < f->actual.n; i++)
		f->actual.ep[i].support = IBCC_CC_SUPPORTED;
	traffic_init(&f->tr, t);
	traffic_pass(&f->tr);
	*state = f;
	return 0;
}

static inline int setup(void **state)
{
	return setup_for(state, fabric_lustre());
}

static inline int setup_tree(void **state)
{
	return setup_for(state, fabric_tree2(4));
}

static inline int setup_tree8(void **state)
{
	return setup_for(state, fabric_tree2(8));
}

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_snapshot_fini(&f->tr.s);
	ibcc_settings_fini(&f->actual);
	ibcc_topo_free(f->t);
	free(f);
	return 0;
}

static inline struct ibcc_endport_cc *sw_cc(struct fixture *f, uint32_t node)
{
	return &f->actual.ep[f->t->port[fabric_port(f->t, node, 0)].endport];
}

/* Marking on at the port to the slow sink. */
static inline struct ibcc_endport_cc *mark_at_slow(struct fixture *f)
{
	struct ibcc_endport_cc *sw2 = sw_cc(f, LUSTRE_SW2);

	sw2->element = calloc(9, sizeof(*sw2->element));
	sw2->n_element = 9;
	sw2->element[1] = (struct ibcc_cc_sw_port_element){ .Valid = true, .Threshold = 9 };
	return sw2;
}

#endif
