/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/* A tuner on synthetic counters; how the fabric answers is scripted by each test. */
#ifndef TEST_TUNERS_H
#define TEST_TUNERS_H

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "traffic.h"

#include <ibcc/plan.h>
#include <ibcc/tuner.h>

struct fixture {
	struct ibcc_topo *t;
	struct traffic tr;
	struct ibcc_settings actual;
	struct ibcc_tuner_params p;
	struct ibcc_tuner *tn;
	bool apply;         /* what is wanted is on the fabric in the next pass */
	uint32_t n_roots;   /* in the last estimate */
	uint32_t changes;   /* of the last step */
	uint32_t n_changed; /* steps that changed something */
	char summary[IBCC_REASON_BYTES];
	bool doubt;              /* of the last step */
	struct ibcc_target last; /* of the last step that wanted something */
};

static inline struct ibcc_endport_cc *sw_cc(struct fixture *f, uint32_t node)
{
	return &f->actual.ep[f->t->port[fabric_port(f->t, node, 0)].endport];
}

static inline struct ibcc_endport_cc *ca_cc(struct fixture *f, uint32_t node)
{
	return &f->actual.ep[f->t->port[fabric_port(f->t, node, 1)].endport];
}

static inline int setup_for(void **state, struct ibcc_topo *t)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->t = t;
	f->apply = true;
	assert_int_equal(ibcc_settings_init(&f->actual, f->t), 0);
	for (uint32_t i = 0; i < f->t->n_endports; i++) {
		uint32_t node = f->t->port[f->t->endport[i]].node;
		struct ibcc_endport_cc *ep = &f->actual.ep[i];

		ep->support = IBCC_CC_SUPPORTED;
		if (!ibcc_topo_is_switch(f->t, node)) {
			ep->info.ControlTableCap = 4;
			continue;
		}
		ep->sw_port_block = 32;
		ep->n_element = f->t->node[node].n_ports + 1u;
		ep->element = calloc(ep->n_element, sizeof(*ep->element));
	}
	traffic_init(&f->tr, f->t);
	traffic_pass(&f->tr);
	ibcc_tuner_defaults(&f->p);
	f->tn = ibcc_tuner_new(&f->p);
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

static inline int teardown(void **state)
{
	struct fixture *f = *state;

	ibcc_target_fini(&f->last);
	ibcc_tuner_free(f->tn);
	ibcc_settings_fini(&f->actual);
	ibcc_snapshot_fini(&f->tr.s);
	ibcc_topo_free(f->t);
	free(f);
	return 0;
}

/* The rest of a pass of the loop, without I/O, once counters were read. Returns the number of Sets
 * it would take.
 */
static inline uint32_t decide(struct fixture *f)
{
	struct ibcc_estimator_params ep;
	struct ibcc_estimate e;
	struct ibcc_target target;
	struct ibcc_plan plan;

	ibcc_estimator_defaults(&ep);
	assert_int_equal(ibcc_estimator_run(&ep, f->t, &f->tr.s, &f->actual, &e), 0);
	assert_int_equal(ibcc_tuner_step(f->tn, f->t, &f->tr.s, &e, &f->actual, &target), 0);
	assert_int_equal(ibcc_planner_run(f->t, &f->actual, &target, &plan), 0);
	f->n_roots = e.n_roots;
	f->changes = plan.n;
	f->doubt = target.doubt;
	f->n_changed += plan.n > 0;
	/* Each change has its reason, and reasons exist only for changes. */
	for (uint32_t i = 0; i < plan.n; i++)
		assert_in_range(strlen(plan.change[i].reason), 20, IBCC_REASON_BYTES - 2);
	assert_true(!plan.n == !target.n_reasons);
	assert_true(target.summary[0]);
	memcpy(f->summary, target.summary, sizeof(f->summary));
	if (plan.n && f->apply) {
		ibcc_settings_fini(&f->actual);
		assert_int_equal(ibcc_settings_copy(&f->actual, &target.wanted), 0);
	}
	if (plan.n) {
		ibcc_target_fini(&f->last);
		f->last = target;
	} else {
		ibcc_target_fini(&target);
	}
	ibcc_plan_fini(&plan);
	ibcc_estimate_fini(&e);
	return f->changes;
}

static inline uint32_t step(struct fixture *f)
{
	traffic_pass(&f->tr);
	return decide(f);
}

static inline void steps(struct fixture *f, unsigned int n)
{
	while (n--)
		step(f);
}

static inline const char *reason(const struct fixture *f, uint32_t endport, uint16_t attr_id)
{
	for (uint32_t i = 0; i < f->last.n_reasons; i++)
		if (f->last.reason[i].endport == endport && f->last.reason[i].attr_id == attr_id)
			return f->last.reason[i].text;
	fail_msg("no reason for endport %u attribute 0x%x", endport, attr_id);
	return NULL;
}

/* Up to the first settings being on the fabric, while sources still wait as before. */
static inline void switch_on(struct fixture *f)
{
	traffic_lustre_off(&f->tr);
	for (unsigned int i = 0; i < 5 && !f->n_changed; i++)
		step(f);
	assert_int_equal(f->n_changed, 1);
}

/* The ideal under control, settled and learned. */
static inline void under_control(struct fixture *f)
{
	switch_on(f);
	traffic_lustre_tuned(&f->tr);
	steps(f, 40);
	f->n_changed = 0;
}

/* 4-port 2-tree: adapters 0..7, leaves 8..11, roots 12, 13. Adapters of three
 * leaves send to adapter `dest`; their flows meet at the port of root switch dest % 2.
 */
static inline void tree_hotspot(struct fixture *f, uint32_t dest, bool slow)
{
	uint32_t leaf = 8 + dest / 2, root = 12 + dest % 2;
	uint32_t share = slow ? 2000 : 10600;

	struct traffic_port hot = { slow ? 6000 : 31900, slow ? 812 : 0, 0, 0, 0 };

	*traffic_at(&f->tr, leaf, dest % 2 + 1) = hot;
	*traffic_at(&f->tr, root, leaf - 8 + 1) = hot;
	for (uint32_t l = 8; l < 12; l++) {
		struct traffic_port p = { share, (uint16_t)(1000 - share / 32), 0, 0, 0 };

		if (l == leaf)
			continue;
		*traffic_at(&f->tr, l, 3 + dest % 2) = p;
		*traffic_at(&f->tr, 2 * (l - 8) + dest % 2, 1) = p;
	}
}

#endif
